/* peer_sapling.c - a queue in a file, every put and acknowledgement synced, otherwise the defaults;
 * beside producers a worker whose handler is an atomic block. */
#include "peer.h"

#include "sapling/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct RunStore {
    SapQueue *queue;
    SapRunnerV0Worker worker; /* while it serves */
    run_handle_fn handle;
    void *handle_ctx;
};

struct RunSession {
    SapQueue *queue;
    SapQueueMessage *taken[RUN_BATCH];
    uint32_t count;
};

static int failed(const char *what, int rc)
{
    fprintf(stderr, "bench: sapling: %s: %s\n", what, sap_strerror(rc));
    return -1;
}

static int peer_close(RunStore *store)
{
    int rc = sap_queue_close(store->queue);
    free(store);
    return rc == SAP_OK ? 0 : failed("close", rc);
}

static int peer_open(RunStore **store_out)
{
    RunStore *store = calloc(1, sizeof *store);
    int rc = store ? sap_queue_open("data", NULL, &store->queue) : SAP_NOMEM;
    if (rc != SAP_OK) {
        free(store);
        return failed("open", rc);
    }
    *store_out = store;
    return 0;
}

static int peer_session_open(RunStore *store, RunSession **session_out)
{
    RunSession *session = calloc(1, sizeof *session);
    if (!session)
        return failed("session", SAP_NOMEM);
    session->queue = store->queue;
    *session_out = session;
    return 0;
}

static void peer_session_close(RunSession *session)
{
    free(session);
}

static int peer_put(RunSession *session, const RunMessage *messages, uint32_t count)
{
    const void *payloads[RUN_BATCH];
    uint32_t lens[RUN_BATCH];
    for (uint32_t i = 0; i < count; i++) {
        payloads[i] = messages[i].payload;
        lens[i] = RUN_PAYLOAD;
    }
    int rc = count == 1 ? sap_queue_push(session->queue, payloads[0], lens[0], NULL, NULL)
                        : sap_queue_push_many(session->queue, payloads, lens, count, NULL);
    return rc == SAP_OK ? 0 : failed("push", rc);
}

static int peer_take(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out)
{
    SapQueueMessage **taken = session->taken + session->count;
    uint32_t count = 1;
    int rc = max == 1
                 ? sap_queue_claim(session->queue, 0, RUN_TAKE_WAIT_MS, taken)
                 : sap_queue_claim_many(session->queue, 0, RUN_TAKE_WAIT_MS, taken, max, &count);
    *count_out = 0;
    if (rc == SAP_NOTFOUND)
        return 0;
    if (rc != SAP_OK)
        return failed("claim", rc);
    session->count += count;
    for (uint32_t i = 0; i < count; i++) {
        if (taken[i]->payload_len != RUN_PAYLOAD)
            return failed("claim", SAP_CORRUPT);
        memcpy(messages[i].payload, taken[i]->payload, RUN_PAYLOAD);
    }
    *count_out = count;
    return 0;
}

static int peer_ack(RunSession *session)
{
    int rc = session->count == 1
                 ? sap_queue_ack(session->queue, session->taken[0])
                 : sap_queue_ack_many(session->queue, session->taken, session->count);
    session->count = 0;
    return rc == SAP_OK ? 0 : failed("ack", rc);
}

static int handle_message(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    const RunStore *store = ctx;
    (void)host;
    store->handle(msg->payload, msg->payload_len, store->handle_ctx);
    return SAP_OK;
}

static int peer_serve_start(RunStore *store, run_handle_fn handle, void *ctx)
{
    SapRunnerV0Policy policy;
    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = 30000; /* as that of a queue: a slow disk must not cause a second run */
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = sap_queue_db(store->queue),
                   .worker_id = sap_queue_worker(store->queue),
                   .bootstrap_schema_if_missing = 1,
                   .policy = &policy},
        .handler = {.atomic = handle_message, .ctx = store},
        .max_batch = RUN_BATCH,
    };
    store->handle = handle;
    store->handle_ctx = ctx;
    int rc = sap_runner_v0_worker_init(&store->worker, &config);
    if (rc == SAP_OK) {
        rc = sap_runner_v0_worker_start(&store->worker);
        if (rc != SAP_OK)
            sap_runner_v0_worker_shutdown(&store->worker);
    }
    return rc == SAP_OK ? 0 : failed("worker", rc);
}

static int peer_serve_stop(RunStore *store)
{
    int rc = sap_runner_v0_worker_shutdown(&store->worker);
    return rc == SAP_OK ? 0 : failed("worker", rc);
}

static int peer_left(RunStore *store, uint64_t *count_out)
{
    SapQueueStat stat;
    int rc = sap_queue_stat(store->queue, &stat);
    if (rc != SAP_OK)
        return failed("stat", rc);
    *count_out = stat.ready + stat.leased + stat.delayed + stat.dead_letters;
    return 0;
}

const RunPeer run_sapling = {
    .name = "sapling",
    .what = "sapling/queue.h in a file; beside producers a worker, batches of 100, atomic blocks",
    .open = peer_open,
    .close = peer_close,
    .session_open = peer_session_open,
    .session_close = peer_session_close,
    .put = peer_put,
    .take = peer_take,
    .ack = peer_ack,
    .serve_start = peer_serve_start,
    .serve_stop = peer_serve_stop,
    .left = peer_left,
};
