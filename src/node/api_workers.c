/* api_workers.c - see api_workers.h. */
#include "node/api_workers.h"

#include "node/api_list.h"

enum { PRIORITY_DEFAULT = 100, ASSIGN_REASON_MOST = 1024 };

#define MS_NS UINT64_C(1000000)

static int add_lease(void *ctx, const SapLeaseInfo *lease)
{
    return page_add((Page *)ctx,
                    json_pack("{s:s, s:s, s:I, s:I, s:b, s:b}", "world", lease->world, "holder",
                              lease->holder, "epoch", (json_int_t)lease->epoch, "left_ms",
                              (json_int_t)(lease->left_ns / MS_NS), "alive", (int)lease->alive,
                              "unclean", (int)lease->unclean));
}

void api_leases_list(Call *call)
{
    Page page;
    if (page_begin(call, &page)) {
        int rc = sap_leases_list(call->api->universe, &page.query, add_lease, &page, &page.end);
        page_answer(&page, rc);
    }
}

static int add_worker(void *ctx, const SapWorkerInfo *worker)
{
    json_t *modules = json_array();
    json_t *kinds = json_array();
    bool failed = modules == NULL || kinds == NULL;
    for (uint32_t i = 0; !failed && i < worker->module_count; i++) {
        failed = json_array_append_new(
                     modules, json_pack("{s:s, s:I}", "name", worker->modules[i].name, "version",
                                        (json_int_t)worker->modules[i].version)) != 0;
    }
    for (uint32_t i = 0; !failed && i < worker->kind_count; i++) {
        failed = json_array_append_new(kinds, json_string(worker->kinds[i])) != 0;
    }
    if (failed) {
        json_decref(modules);
        json_decref(kinds);
        return SAP_NOMEM;
    }
    return page_add((Page *)ctx,
                    json_pack("{s:s, s:b, s:I, s:i, s:b, s:o, s:o}", "worker", worker->name,
                              "alive", (int)worker->alive, "left_ms",
                              (json_int_t)(worker->left_ns / MS_NS), "worlds", (int)worker->worlds,
                              "worlds_capped", (int)worker->worlds_capped, "modules", modules,
                              "kinds", kinds));
}

void api_workers_list(Call *call)
{
    Page page;
    if (page_begin(call, &page)) {
        int rc = sap_workers_list(call->api->universe, &page.query, add_worker, &page, &page.end);
        page_answer(&page, rc);
    }
}

static json_t *assignment_json(const char *world, const char *worker, uint8_t priority,
                               const char *reason)
{
    return json_pack("{s:s, s:s, s:i, s:o}", "world", world, "worker", worker, "priority",
                     (int)priority, "reason", call_text_json(reason));
}

static int add_assignment(void *ctx, const SapAssignmentInfo *assignment)
{
    return page_add((Page *)ctx, assignment_json(assignment->world, assignment->worker,
                                                 assignment->priority, assignment->reason));
}

void api_assignments_list(Call *call)
{
    Page page;
    if (page_begin(call, &page)) {
        int rc = sap_assignments_list(call->api->universe, &page.query, add_assignment, &page,
                                      &page.end);
        page_answer(&page, rc);
    }
}

void api_assignment_put(Call *call)
{
    const char *worker = NULL;
    const char *reason = NULL;
    uint64_t priority = 0;
    SapWorldInfo info;
    if (!call_read_body(call) ||
        !call_field_text(call, "worker", SAP_WORLD_MAX_NAME, true, &worker) ||
        !call_field_u64(call, "priority", UINT8_MAX, PRIORITY_DEFAULT, &priority) ||
        !call_field_text(call, "reason", ASSIGN_REASON_MOST, false, &reason)) {
        return;
    }
    reason = reason == NULL ? "" : reason;
    int rc = sap_assign_world(call->api->universe, call->arg, worker, (uint8_t)priority, reason);
    if (rc == SAP_OK) {
        call_answer(call, 200, assignment_json(call->arg, worker, (uint8_t)priority, reason));
    } else if (rc == SAP_NOTFOUND &&
               sap_world_info(call->api->universe, call->arg, &info) == SAP_OK) {
        (void)call_fail(call, API_NOT_FOUND,
                        "no worker \"%s\" is alive: GET /v1/workers lists them", worker);
    } else if (rc == SAP_INVALID) {
        (void)call_fail(
            call, API_CONFLICT,
            "the worker \"%s\" cannot run the module of the world \"%s\": GET /v1/workers "
            "lists what each has",
            worker, call->arg);
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
}

void api_assignment_delete(Call *call)
{
    int rc = sap_unassign_world(call->api->universe, call->arg);
    if (rc == SAP_OK) {
        call_answer(call, 200, json_pack("{s:s}", "world", call->arg));
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
}
