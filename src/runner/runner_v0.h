/* runner_v0.h - the runner's state behind sapling/runner_v0.h, and what its parts share: time,
 * counters, reports, the gate.
 *
 *   runner_v0.c   lifecycle, tables and schema marker, sending, counters and reports
 *   poll.c        messages from claim to end: the loop that all ways of running share
 *   attempt_handler_v0.c  one atomic block for one message
 *   worker.c      ticks, threads, sleep and wake-up
 *   group.c       several workers of one kind
 *
 * A runner is used by one thread, except for its counters, which any thread may read. */
#ifndef SAPLING_RUNNER_RUNNER_V0_H
#define SAPLING_RUNNER_RUNNER_V0_H

#include "common/sync.h"
#include "runner/outbox_v0.h"
#include "runner/transfer.h"
#include "sapling/runner_v0.h"

#include <stdbool.h>

struct SapRunnerV0Core {
    SapRunnerV0Policy policy;
    SapRunnerV0TimeHooks time;
    sap_runner_v0_random_fn random;
    void *random_ctx;
    sap_runner_v0_metrics_sink metrics_sink;
    void *metrics_ctx;
    sap_runner_v0_log_sink log_sink;
    void *log_ctx;
    sap_runner_v0_replay_hook replay_hook;
    void *replay_ctx;
    SapRunnerV0DbGate *gate; /* NULL: none */
    LocalWorkers local;
    TransferUser transfers;

    Mutex lock; /* of the two below */
    SapRunnerV0Metrics metrics;
    uint64_t steps_completed;

    uint64_t owner;        /* of leases: this runner, and no other */
    SapRunnerTxCtxV0 *ctx; /* of atomic blocks; NULL until the first */
    SapRunnerV0Claim *claims;
    int *results; /* of the claims, in the same order */
    uint32_t claim_room;
    uint32_t batch;            /* claims of the present batch */
    int64_t leases_from_ms;    /* when those not handled yet were leased or renewed */
    SapRunnerV0Claim *current; /* what the plain handler is at; NULL: none */
    int64_t quiet_until_ms;    /* no lease of the worker expires before */
    int64_t next_sweep_ms;
    bool timers_waited; /* the last batch had no room for timers that were due */
    bool timers_turn;   /* the last batch was one message, which had failed before, without them */
    uint64_t outbox_seen; /* frames up to this number are for workers elsewhere, or gone */
    uint64_t last_lsn;    /* of the runner's commits; 0: none */
};

int64_t runner_now_ms(const SapRunnerV0 *runner);

/* The lock of the counters; the second form also tells the sink. */
SapRunnerV0Metrics *runner_metrics_lock(SapRunnerV0 *runner);
void runner_metrics_unlock(SapRunnerV0 *runner);

/* Tells the log sink, if there is one. Fields that the claim knows are filled in from it (NULL: no
 * message is meant). */
void runner_log(SapRunnerV0 *runner, SapRunnerV0LogKind kind, const SapRunnerV0Claim *claim, int rc,
                uint32_t detail, uint64_t commit_latency_us);
void runner_replay(SapRunnerV0 *runner, SapRunnerV0ReplayKind kind, const SapRunnerV0Claim *claim,
                   int rc);

/* A write transaction of the runner's own, within the gate. End with one of the next two. */
int runner_begin(SapRunnerV0 *runner, Txn **txn_out);
/* Does not wait for the disk: last_lsn names the commit. */
int runner_commit(SapRunnerV0 *runner, Txn *txn, uint64_t started_ns, uint64_t *latency_us_out);
void runner_abort(SapRunnerV0 *runner, Txn *txn);

void runner_gate_enter(SapRunnerV0 *runner);
void runner_gate_leave(SapRunnerV0 *runner);

/* Counts a commit of the runner's. */
void runner_committed(SapRunnerV0 *runner, uint64_t lsn, uint64_t latency_us);

static inline bool runner_retryable(int rc)
{
    return rc == SAP_BUSY || rc == SAP_CONFLICT;
}

#endif
