/* attempt_handler_v0.c - see attempt_handler_v0.h. */
#include "runner/attempt_handler_v0.h"

#include "runner/host_v0.h"

typedef struct Block {
    SapRunnerV0 *runner;
    const SapRunnerV0Handler *handler;
    const SapRunnerV0Message *msg;
    const SapRunnerV0Claim *claim;
    int64_t now_ms;
    AttemptRefused refused;
} Block;

static int run_block(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    const Block *block = fn_ctx;
    struct SapRunnerV0Core *core = block->runner->core;
    SapRunnerHostV0 host = {.ctx = ctx,
                            .worker_id = block->runner->worker_id,
                            .owner = core->owner,
                            .now_ms = block->now_ms,
                            .msg = block->msg,
                            .seq = block->claim != NULL ? block->claim->seq : 0,
                            .attempt_id = block->claim != NULL ? block->claim->token : 0,
                            .random = core->random,
                            .random_ctx = core->random_ctx,
                            .log_sink = core->reports.log,
                            .log_ctx = core->reports.log_ctx};

    return block->handler->atomic(&host, block->msg, block->handler->ctx);
}

static int end_claim(SapTxnCtx *txn, SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Block *block = fn_ctx;
    const SapRunnerV0Message *msg = block->msg;
    int seen = 0;
    int differs = 0;
    int rc = SAP_OK;

    if (block->claim != NULL && (msg->flags & SAP_RUNNER_V0_DEDUPE) != 0) {
        rc = sap_runner_dedupe_v0_seen(txn, block->runner->worker_id, msg->message_id,
                                       msg->message_id_len, msg->payload, msg->payload_len,
                                       block->now_ms, &seen, &differs);
    }
    if (rc == SAP_OK && seen) {
        block->refused = (AttemptRefused){.duplicate = true, .differs = differs != 0};
        return SAP_EXISTS;
    }
    if (rc == SAP_OK && block->claim != NULL) {
        rc = sap_runner_mailbox_v0_ack(txn, block->claim, block->now_ms,
                                       block->runner->core->policy.dedupe_ttl_ms);
        /* Not a conflict of the block's: running it again would not bring the lease back. */
        if (rc == SAP_CONFLICT) {
            block->refused = (AttemptRefused){.lost = true};
            return SAP_FENCED;
        }
    }
    return rc == SAP_OK ? sap_runner_intent_sink_v0_store(txn, ctx) : rc;
}

static void gate(int enter, void *ctx)
{
    if (enter) {
        runner_gate_enter(ctx);
    } else {
        runner_gate_leave(ctx);
    }
}

/* Time hooks know milliseconds: a part of one is one. */
static void sleep_by_hook(uint32_t us, void *ctx)
{
    const SapRunnerV0TimeHooks *time = &((const SapRunnerV0 *)ctx)->core->time;

    time->sleep_ms(us / 1000 + (us % 1000 != 0), time->ctx);
}

int attempt_handler_run(SapRunnerV0 *runner, const SapRunnerV0Handler *handler,
                        const SapRunnerV0Message *msg, const SapRunnerV0Claim *claim,
                        AttemptRefused *refused_out)
{
    struct SapRunnerV0Core *core = runner->core;
    Block block = {.runner = runner,
                   .handler = handler,
                   .msg = msg,
                   .claim = claim,
                   .now_ms = runner_now_ms(runner)};
    SapRunnerAttemptV0Stats stats = {0};
    int rc = core->ctx != NULL ? SAP_OK : sap_runner_txctx_v0_create(runner->db, &core->ctx);

    *refused_out = (AttemptRefused){0};
    if (rc != SAP_OK) {
        return rc;
    }
    SapRunnerAttemptV0 attempt = {
        .db = runner->db,
        .ctx = core->ctx,
        .flags = SAP_RUNNER_ATTEMPT_V0_NO_WAIT |
                 (handler->read_only ? SAP_RUNNER_ATTEMPT_V0_READ_ONLY : 0),
        .max_retries = core->policy.attempt_max_retries,
        .backoff_us = core->policy.attempt_backoff_us,
        .backoff_max_us = core->policy.attempt_backoff_max_us,
        .random = core->random,
        .random_ctx = core->random_ctx,
        .sleep_us = core->time.sleep_ms != NULL ? sleep_by_hook : NULL,
        .sleep_ctx = runner,
        .gate = core->gate != NULL ? gate : NULL,
        .gate_ctx = runner,
        .block = run_block,
        .block_ctx = &block,
        .finish = end_claim,
        .finish_ctx = &block,
    };
    rc = sap_runner_attempt_v0_run(&attempt, &stats);
    *refused_out = block.refused;
    if (stats.lsn != 0 && handler->read_only) {
        runner_relies_on(runner, stats.lsn);
    } else if (stats.lsn != 0) {
        runner_committed(runner, stats.lsn, stats.commit_latency_us);
    }
    if (stats.retries > 0) {
        runner_metrics_lock(runner)->attempt_retries += stats.retries;
        runner_metrics_unlock(runner);
    }
    return rc;
}
