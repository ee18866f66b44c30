/* group.c - several workers of one configuration, each in a thread of its own. */
#include "common/mem.h"
#include "common/options.h"
#include "runner/worker.h"

struct SapRunnerV0Group {
    uint32_t count; /* of those started */
    uint32_t room;
    int rc; /* the first code of an end that is neither SAP_OK nor SAP_BUSY */
    SapRunnerV0Worker workers[];
};

static size_t group_size(uint32_t room)
{
    return sizeof(SapRunnerV0Group) + room * sizeof(SapRunnerV0Worker);
}

OPTIONS_LAYOUT(SapRunnerV0GroupConfig, worker.runner.random_ctx, worker);

int sap_runner_v0_group_start(const SapRunnerV0GroupConfig *given, SapRunnerV0Group **group_out)
{
    SapRunnerV0GroupConfig known;
    const SapRunnerV0GroupConfig *config = &known;

    if (group_out == NULL || OPTIONS_READ(SapRunnerV0GroupConfig, &known, given) != SAP_OK) {
        return SAP_ERROR;
    }
    known.worker.size = sizeof known.worker; /* it was read as a part of the group's */
    uint32_t count = config->worker_count > 0 ? config->worker_count : 1;
    if (!config->shared_inbox && config->worker.runner.worker_id > INT64_MAX - count) {
        return SAP_ERROR;
    }
    SapRunnerV0Group *group = mem_zalloc(MEM_RUNNER, group_size(count));
    if (group == NULL) {
        return SAP_NOMEM;
    }
    group->room = count;
    int rc = SAP_OK;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        SapRunnerV0WorkerConfig one = config->worker;
        one.runner.worker_id += config->shared_inbox ? 0 : (int64_t)i;
        rc = sap_runner_v0_worker_init(&group->workers[i], &one);
        if (rc == SAP_OK) {
            group->count++;
        }
    }
    /* All tables are open and all workers made before the first runs: what init needs is refused
     * while others have transactions open. */
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = sap_runner_v0_worker_start(&group->workers[i]);
    }
    if (rc != SAP_OK) {
        while (sap_runner_v0_group_stop(group) == SAP_BUSY) {
        }
        return rc;
    }
    *group_out = group;
    return SAP_OK;
}

SapRunnerV0Worker *sap_runner_v0_group_worker(SapRunnerV0Group *group, uint32_t n)
{
    return group != NULL && n < group->count ? &group->workers[n] : NULL;
}

int sap_runner_v0_group_stop(SapRunnerV0Group *group)
{
    if (group == NULL) {
        return SAP_OK;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (worker_is_inside(&group->workers[i])) {
            return SAP_BUSY;
        }
    }
    for (uint32_t i = 0; i < group->count; i++) {
        sap_runner_v0_worker_request_stop(&group->workers[i]);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        int one = sap_runner_v0_worker_shutdown(&group->workers[i]);
        group->rc = group->rc == SAP_OK && one != SAP_BUSY ? one : group->rc;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        if (group->workers[i].core != NULL) {
            return SAP_BUSY;
        }
    }
    int rc = group->rc;
    mem_free(MEM_RUNNER, group, group_size(group->room));
    return rc;
}
