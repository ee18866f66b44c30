/* api_worlds.c - see api_worlds.h. */
#include "node/api_worlds.h"

#include <stdio.h>
#include <string.h>

#include "node/api_list.h"
#include "node/api_once.h"

enum { REASON_MOST = 1024 };

static const char *const status_names[] = {
    [SAP_WORLD_ACTIVE] = "active", [SAP_WORLD_PAUSED] = "paused",   [SAP_WORLD_STUCK] = "stuck",
    [SAP_WORLD_DONE] = "done",     [SAP_WORLD_DELETED] = "deleted",
};

const char *api_world_status_name(SapWorldStatus status)
{
    return status_names[status];
}

int api_world_status_find(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof status_names / sizeof status_names[0]; i++) {
        if (strlen(status_names[i]) == len && memcmp(status_names[i], name, len) == 0) {
            return (int)i;
        }
    }
    return -1;
}

/* ---- Showing --------------------------------------------------------------------------------- */

static json_t *info_json(const char *name, const SapWorldInfo *info)
{
    return json_pack("{s:s, s:s, s:s, s:o, s:I, s:s, s:s, s:I, s:I}", "world", name, "module",
                     info->module, "status", api_world_status_name(info->status), "reason",
                     call_text_json(info->reason), "step", (json_int_t)info->height, "holder",
                     info->holder, "assigned", info->assigned, "pin", (json_int_t)info->pin,
                     "epoch", (json_int_t)info->epoch);
}

static int add_tag(void *ctx, const char *name, const char *value)
{
    return json_object_set_new((json_t *)ctx, name, json_string(value)) == 0 ? SAP_OK : SAP_NOMEM;
}

static json_t *inbox_json(const SapInboxInfo *inbox)
{
    return json_pack("{s:i, s:i, s:i, s:b, s:I}", "control", (int)inbox->control, "receipts",
                     (int)inbox->receipts, "messages", (int)inbox->messages, "capped",
                     (int)inbox->capped, "age_ms", (json_int_t)(inbox->age_ns / 1000000));
}

/* Tags and inbox, which are rows of their own. One of a world that goes meanwhile has neither. */
static int add_rows(SapUniverse *universe, const char *world, json_t *object)
{
    SapInboxInfo inbox = {0};
    json_t *tags = json_object();
    int rc = tags == NULL ? SAP_NOMEM : sap_world_tags(universe, world, add_tag, tags);
    rc = rc == SAP_OK || rc == SAP_NOTFOUND ? sap_world_inbox(universe, world, &inbox) : rc;
    rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    if (rc != SAP_OK) {
        json_decref(tags);
        return rc;
    }
    return json_object_set_new(object, "tags", tags) == 0 &&
                   json_object_set_new(object, "inbox", inbox_json(&inbox)) == 0
               ? SAP_OK
               : SAP_NOMEM;
}

static void answer_world(Call *call, uint32_t status, const char *world)
{
    SapWorldInfo info;
    int rc = sap_world_info(call->api->universe, world, &info);
    if (rc != SAP_OK) {
        (void)call_fail_world(call, rc, world);
        return;
    }
    json_t *object = info_json(world, &info);
    rc = object == NULL ? SAP_NOMEM : add_rows(call->api->universe, world, object);
    if (rc != SAP_OK) {
        json_decref(object);
        (void)call_fail_code(call, rc, "world");
        return;
    }
    call_answer(call, status, object);
}

void api_world_show(Call *call)
{
    answer_world(call, 200, call->arg);
}

static int add_world(void *ctx, const char *name, const SapWorldInfo *info)
{
    return page_add((Page *)ctx, info_json(name, info));
}

/* "paused" or "paused,stuck". */
static bool read_statuses(Call *call, uint32_t *statuses_out)
{
    const char *text = call_query(call, "status");
    *statuses_out = 0;
    for (const char *at = text; at != NULL && *at != 0;) {
        size_t len = strcspn(at, ",");
        int status = api_world_status_find(at, len);
        if (status < 0) {
            return call_fail(
                call, API_BAD_REQUEST,
                "status=%s: use active, paused, stuck, done or deleted, or several with "
                "commas between them",
                text);
        }
        *statuses_out |= 1u << status;
        at += len + (at[len] == ',');
    }
    return true;
}

void api_worlds_list(Call *call)
{
    Page page;
    if (!page_begin(call, &page)) {
        return;
    }
    if (!read_statuses(call, &page.query.statuses)) {
        page_release(&page);
        return;
    }
    int rc = sap_worlds_list(call->api->universe, &page.query, add_world, &page, &page.end);
    for (size_t i = 0; rc == SAP_OK && i < json_array_size(page.items); i++) {
        json_t *item = json_array_get(page.items, i);
        rc = add_rows(call->api->universe, json_string_value(json_object_get(item, "world")), item);
    }
    page_answer(&page, rc);
}

/* ---- Creating -------------------------------------------------------------------------------- */

bool api_module_exists(Call *call, const char *module)
{
    SapModule *found = NULL;
    int rc = sap_module_get(call->api->universe, module, 0, &found);
    sap_module_free(found);
    if (rc == SAP_NOTFOUND || rc == SAP_INVALID) {
        return call_fail(call, API_UNKNOWN_MODULE,
                         "there is no module \"%s\": register it with PUT /v1/modules/NAME "
                         "{\"runner\":\"exec:/path/to/program\"}",
                         module);
    }
    return rc == SAP_OK || call_fail_code(call, rc, "module");
}

static int create_world(Call *call, const char *world, const char *module, const Payload *payload,
                        bool *reused_out)
{
    char scope[SAP_WORLD_MAX_NAME + 1];
    SapUniverse *universe = call->api->universe;
    *reused_out = false;
    if (call->key[0] == 0) {
        return sap_world_create(universe, world, module, payload->encoding, payload->data,
                                payload->len);
    }
    api_once_scope(call, "create", scope);
    SapOnce once = {.size = sizeof once,
                    .scope = scope,
                    .key = call->key,
                    .request = call->body.data,
                    .request_len = call->body.len};
    return sap_world_create_once(universe, world, module, payload->encoding, payload->data,
                                 payload->len, &once, reused_out);
}

void api_world_create(Call *call)
{
    const char *world = NULL;
    const char *module = NULL;
    Payload payload = {0};
    bool reused = false;
    if (!call_read_body(call) ||
        !call_field_text(call, "world", SAP_WORLD_MAX_NAME, true, &world) ||
        !call_field_text(call, "module", SAP_WORLD_MAX_NAME, true, &module) ||
        !call_field_payload(call, &payload) || !api_module_exists(call, module)) {
        buf_release(&payload.bytes);
        return;
    }
    int rc = create_world(call, world, module, &payload, &reused);
    buf_release(&payload.bytes);
    if (rc == SAP_OK) {
        call_answer(call, 201, json_pack("{s:s, s:s}", "world", world, "module", module));
    } else if (rc == SAP_EXISTS && reused) {
        (void)call_fail(call, API_KEY_REUSED,
                        "the Idempotency-Key was used with another request: use a new one");
    } else if (rc == SAP_EXISTS) {
        (void)call_fail(call, API_WORLD_EXISTS,
                        "the world \"%s\" exists already: send to it, or choose another name",
                        world);
    } else if (rc == SAP_BUSY) {
        (void)call_fail(call, API_BUSY,
                        "the world \"%s\" was deleted and is being emptied: try again in a moment",
                        world);
    } else {
        (void)call_fail_code(call, rc, "world");
    }
}

/* ---- Operating ------------------------------------------------------------------------------- */

static void answer_changed(Call *call, int rc)
{
    if (rc == SAP_OK) {
        answer_world(call, 200, call->arg);
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
}

void api_world_pause(Call *call)
{
    const char *reason = NULL;
    if (call_read_body(call) && call_field_text(call, "reason", REASON_MOST, false, &reason)) {
        answer_changed(
            call, sap_world_pause(call->api->universe, call->arg, reason == NULL ? "" : reason));
    }
}

void api_world_resume(Call *call)
{
    bool skip = false;
    SapWorldInfo info;
    if (!call_read_body(call) || !call_field_bool(call, "skip", &skip)) {
        return;
    }
    if (!skip) {
        answer_changed(call, sap_world_resume(call->api->universe, call->arg));
        return;
    }
    int rc = sap_world_resume_skip(call->api->universe, call->arg);
    if (rc == SAP_NOTFOUND && sap_world_info(call->api->universe, call->arg, &info) == SAP_OK &&
        info.status != SAP_WORLD_DONE && info.status != SAP_WORLD_DELETED) {
        (void)call_fail(
            call, API_CONFLICT,
            "the world \"%s\" is not paused for an item that failed, so there is nothing "
            "to skip: resume it without \"skip\"",
            call->arg);
        return;
    }
    answer_changed(call, rc);
}

void api_world_cancel(Call *call)
{
    char id[SAP_WORLD_MAX_ID + 1];
    const char *reason = NULL;
    if (!call_read_body(call) || !call_field_text(call, "reason", REASON_MOST, false, &reason)) {
        return;
    }
    (void)snprintf(id, sizeof id, "key:%s:%s", call->caller.id, call->key);
    int rc = sap_world_cancel_request(call->api->universe, call->arg, call->key[0] == 0 ? NULL : id,
                                      reason);
    if (rc == SAP_EXISTS) {
        (void)call_fail(call, API_KEY_REUSED,
                        "the Idempotency-Key was used with another request: use a new one");
        return;
    }
    answer_changed(call, rc);
}

void api_world_pin(Call *call)
{
    uint64_t version = 0;
    if (call_read_body(call) && call_field_u64(call, "version", INT64_MAX, 0, &version)) {
        answer_changed(call, sap_world_pin(call->api->universe, call->arg, version));
    }
}

void api_world_delete(Call *call)
{
    const char *reason = call_query(call, "reason");
    int rc = sap_world_delete(call->api->universe, call->arg, reason == NULL ? "" : reason);
    if (rc == SAP_OK) {
        call_answer(call, 202,
                    json_pack("{s:s, s:s}", "world", call->arg, "status",
                              api_world_status_name(SAP_WORLD_DELETED)));
    } else {
        (void)call_fail_world(call, rc, call->arg);
    }
}
