/* attempt_v0.c - see attempt_v0.h. */
#include "runner/attempt_v0.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/options.h"
#include "common/random.h"
#include "runner/durable.h"
#include "runner/scheduler_v0.h"
#include "runner/txctx_v0.h"

#include <time.h>

enum { KNOWN_FLAGS = SAP_RUNNER_ATTEMPT_V0_READ_ONLY | SAP_RUNNER_ATTEMPT_V0_NO_WAIT };

/* ---- Waiting -------------------------------------------------------------------------------- */

static void back_off(const SapRunnerAttemptV0 *attempt, uint32_t n)
{
    uint32_t backoff_us = attempt->backoff_us != 0 ? attempt->backoff_us : ATTEMPT_BACKOFF_US;
    uint32_t max_us =
        attempt->backoff_max_us != 0 ? attempt->backoff_max_us : ATTEMPT_BACKOFF_MAX_US;
    uint32_t dice = 0;

    if (attempt->random != NULL) {
        attempt->random(&dice, sizeof dice, attempt->random_ctx);
    } else if (random_fill(NULL, &dice, sizeof dice) != SAP_OK) {
        dice = 0; /* jitter is a courtesy: without it attempts are only less fair */
    }
    uint32_t us = (uint32_t)scheduler_backoff(backoff_us, max_us, n, dice);
    if (attempt->sleep_us != NULL) {
        attempt->sleep_us(us, attempt->sleep_ctx);
        return;
    }
    struct timespec moment = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};
    (void)nanosleep(&moment, NULL);
}

/* ---- One run -------------------------------------------------------------------------------- */

/* Runs the block on the newest state; *base_out is which that was. */
static int run_block(const SapRunnerAttemptV0 *attempt, SapRunnerTxCtxV0 *ctx, uint64_t *base_out)
{
    SapTxnCtx *snapshot = NULL;
    int rc = sap_txn_begin_rc(attempt->db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &snapshot);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = txctx_start(ctx, snapshot, (attempt->flags & SAP_RUNNER_ATTEMPT_V0_READ_ONLY) != 0);
    if (rc == SAP_OK) {
        rc = attempt->block(ctx, attempt->block_ctx);
    }
    if (rc == SAP_OK && sap_runner_txstack_v0_depth(ctx) > 0) {
        rc = SAP_ERROR; /* who forgot the end of a nested block, may have forgotten an abort */
    }
    *base_out = sap_txn_base_lsn(snapshot);
    txctx_seal(ctx);
    sap_txn_abort(snapshot);
    return rc;
}

static int fill_transaction(const SapRunnerAttemptV0 *attempt, SapRunnerTxCtxV0 *ctx,
                            SapTxnCtx *txn, uint64_t base)
{
    int rc = sap_txn_base_lsn(txn) == base ? SAP_OK : sap_runner_txctx_v0_validate(ctx, txn);
    if (rc == SAP_OK) {
        rc = sap_runner_txctx_v0_apply(ctx, txn);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    return attempt->finish != NULL ? attempt->finish(txn, ctx, attempt->finish_ctx)
                                   : sap_runner_intent_sink_v0_store(txn, ctx);
}

static int commit_block(const SapRunnerAttemptV0 *attempt, SapRunnerTxCtxV0 *ctx, uint64_t base,
                        SapRunnerAttemptV0Stats *stats)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(attempt->db, NULL, SAP_TXN_WAIT, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = fill_transaction(attempt, ctx, txn, base);
    if (rc != SAP_OK) {
        sap_txn_abort(txn);
        return rc;
    }
    return (attempt->flags & SAP_RUNNER_ATTEMPT_V0_NO_WAIT) != 0
               ? sap_txn_commit_async(txn, &stats->lsn)
               : sap_txn_commit(txn);
}

static int commit_in_gate(const SapRunnerAttemptV0 *attempt, SapRunnerTxCtxV0 *ctx, uint64_t base,
                          SapRunnerAttemptV0Stats *stats)
{
    uint64_t started_ns = clock_mono_ns(NULL);

    if (attempt->gate != NULL) {
        attempt->gate(1, attempt->gate_ctx);
    }
    int rc = commit_block(attempt, ctx, base, stats);
    if (rc == SAP_OK) {
        stats->commit_latency_us = (clock_mono_ns(NULL) - started_ns) / 1000;
    }
    if (attempt->gate != NULL) {
        attempt->gate(0, attempt->gate_ctx);
    }
    return rc;
}

static int run_once(const SapRunnerAttemptV0 *attempt, SapRunnerTxCtxV0 *ctx,
                    SapRunnerAttemptV0Stats *stats)
{
    uint64_t base = 0;
    int rc = run_block(attempt, ctx, &base);
    if (rc != SAP_OK) {
        return rc;
    }
    bool has_finish =
        attempt->finish != NULL && (attempt->flags & SAP_RUNNER_ATTEMPT_V0_READ_ONLY) == 0;
    if (has_finish || sap_runner_txctx_v0_write_count(ctx) > 0 ||
        sap_runner_txctx_v0_intent_count(ctx) > 0) {
        return commit_in_gate(attempt, ctx, base, stats);
    }
    if ((attempt->flags & SAP_RUNNER_ATTEMPT_V0_NO_WAIT) != 0) {
        stats->lsn = base;
        return SAP_OK;
    }
    return durable_wait(attempt->db, base);
}

/* ---- The attempt ---------------------------------------------------------------------------- */

static int run_until_done(const SapRunnerAttemptV0 *attempt, SapRunnerTxCtxV0 *ctx,
                          SapRunnerAttemptV0Stats *stats)
{
    for (;;) {
        stats->attempts++;
        int rc = run_once(attempt, ctx, stats);
        if (rc == SAP_CONFLICT) {
            stats->conflicts++;
        } else if (rc == SAP_BUSY) {
            stats->busy++;
        } else {
            return rc;
        }
        if (stats->retries == attempt->max_retries) {
            return rc;
        }
        back_off(attempt, stats->retries);
        stats->retries++;
    }
}

OPTIONS_LAYOUT(SapRunnerAttemptV0, gate_ctx, gate_ctx);

int sap_runner_attempt_v0_run(const SapRunnerAttemptV0 *given, SapRunnerAttemptV0Stats *stats_out)
{
    SapRunnerAttemptV0 known;
    const SapRunnerAttemptV0 *attempt = &known;
    SapRunnerAttemptV0Stats stats = {0};
    SapRunnerTxCtxV0 *made = NULL;
    int rc = SAP_ERROR;

    if (OPTIONS_READ(SapRunnerAttemptV0, &known, given) == SAP_OK && attempt->db != NULL &&
        attempt->block != NULL && (attempt->flags & ~(unsigned)KNOWN_FLAGS) == 0 &&
        (attempt->ctx == NULL || (attempt->ctx->db == attempt->db && !attempt->ctx->running))) {
        rc = attempt->ctx != NULL ? SAP_OK : sap_runner_txctx_v0_create(attempt->db, &made);
    }
    if (rc == SAP_OK) {
        SapRunnerTxCtxV0 *ctx = made != NULL ? made : attempt->ctx;
        SAP_ASSERT(ctx != NULL);
        ctx->running = true;
        rc = run_until_done(attempt, ctx, &stats);
        ctx->running = false;
    }
    sap_runner_txctx_v0_dispose(made);
    if (stats_out != NULL) {
        *stats_out = stats;
    }
    return rc;
}
