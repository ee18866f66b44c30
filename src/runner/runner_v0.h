/* runner_v0.h - the runner's state behind sapling/runner_v0.h, and what its parts share: time,
 * counters, reports, the gate.
 *
 *   runner_v0.c   lifecycle, tables and schema marker, sending, counters and reports
 *   poll.c        messages from claim to end: the loop that all ways of running share
 *   attempt_handler_v0.c  one atomic block for one message
 *   worker.c      ticks, threads, sleep and wake-up
 *   group.c       several workers of one kind
 *
 * A runner is used by one thread, except for its counters, which any thread may read. Whatever
 * claims, handles or frees takes the runner first (runner_take) and gives it back at its end, so
 * that a handler, a sink or another thread that calls back into it finds it taken and changes
 * nothing. */
#ifndef SAPLING_RUNNER_RUNNER_V0_H
#define SAPLING_RUNNER_RUNNER_V0_H

#include "common/sync.h"
#include "runner/outbox_v0.h"
#include "runner/reports.h"
#include "runner/rows.h"
#include "runner/transfer.h"
#include "sapling/env.h"
#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

#include <stdbool.h>

/* Commits of which nobody knows yet that they are on disk. */
typedef struct RunnerCommits {
    uint64_t count;
    uint64_t longest_us;
} RunnerCommits;

struct SapRunnerV0Core {
    SAP_ATOMIC(uint32_t) taken; /* 1: a call, or the worker's thread, uses what follows */
    SapRunnerV0Policy policy;
    SapRunnerV0TimeHooks time;
    sap_runner_v0_random_fn random;
    void *random_ctx;
    sap_runner_v0_metrics_sink metrics_sink;
    void *metrics_ctx;
    Reports reports;
    SapRunnerV0DbGate *gate; /* NULL: none */
    LocalWorkers local;
    TransferUser transfers;

    Mutex lock; /* of the four below */
    SapRunnerV0Metrics metrics;
    uint64_t steps_completed;
    RunnerCommits fresh;   /* since the last wait for the disk */
    RunnerCommits lagging; /* up to lagging_lsn, which the thread's next wait is for */

    uint64_t owner;        /* of leases: this runner, and no other */
    SapRunnerTxCtxV0 *ctx; /* of atomic blocks; NULL until the first */
    SapRunnerV0Claim *claims;
    int *results; /* of the claims, in the same order */
    uint32_t claim_room;
    uint32_t batch;            /* claims of the present batch */
    int64_t leases_from_ms;    /* when those not handled yet were leased or renewed */
    SapRunnerV0Claim *current; /* what the plain handler is at; NULL: none */
    bool touching;             /* the handler renews its lease */
    int64_t quiet_until_ms;    /* no lease of the worker expires before */
    int64_t next_sweep_ms;
    RowKey
        retries_from; /* where a poll goes on to look for retries among due timers; 0: the first */
    bool timers_waited; /* the last batch had no room for timers that were due */
    bool timers_turn;   /* the last batch was one message, which had failed before, without them */
    uint64_t outbox_seen; /* frames up to this number are for workers elsewhere, or gone */
    uint64_t last_lsn;    /* of the runner's commits and of what its blocks have read; 0: none */
    uint64_t lagging_lsn; /* what last_lsn was at the thread's last wait; 0: that was for all */
};

/* False: somebody has it, perhaps the caller further up the stack. */
bool runner_take(SapRunnerV0 *runner);
void runner_give(SapRunnerV0 *runner);

/* Returns whether public calls may use it: it runs, and in the process that made it. */
static inline bool runner_usable(const SapRunnerV0 *runner)
{
    return runner != NULL && runner->core != NULL && !env_is_foreign(runner->db);
}

int64_t runner_now_ms(const SapRunnerV0 *runner);

/* The lock of the counters. Whoever changes them ends with the second, which calls the sink. */
SapRunnerV0Metrics *runner_metrics_lock(SapRunnerV0 *runner);
void runner_metrics_unlock(SapRunnerV0 *runner);
/* Notes depth and age of the inbox. The sink is called if they changed. */
void runner_queue_seen(SapRunnerV0 *runner, uint64_t depth, uint64_t age_ms);

/* As reports_log() and reports_replay(), to the runner's sink and hook. */
void runner_log(SapRunnerV0 *runner, SapRunnerV0LogKind kind, const SapRunnerV0Claim *claim, int rc,
                uint32_t detail, uint64_t commit_latency_us);
void runner_replay(SapRunnerV0 *runner, SapRunnerV0ReplayKind kind, const SapRunnerV0Claim *claim,
                   int rc);

/* A write transaction of the runner's own, within the gate. End with one of the next two. */
int runner_begin(SapRunnerV0 *runner, Txn **txn_out);
/* Does not wait for the disk: last_lsn names the commit. The latency is from started_ns, before the
 * lock was asked for. */
int runner_commit(SapRunnerV0 *runner, Txn *txn, uint64_t started_ns, uint64_t *latency_us_out);
void runner_abort(SapRunnerV0 *runner, Txn *txn);

void runner_gate_enter(SapRunnerV0 *runner);
void runner_gate_leave(SapRunnerV0 *runner);

/* Counts a commit of the runner's. */
void runner_committed(SapRunnerV0 *runner, uint64_t lsn, uint64_t latency_us);
/* The runner has read this commit: whoever waits for its commits waits for this one too. */
void runner_relies_on(SapRunnerV0 *runner, uint64_t lsn);

/* Waits for the disk, which is then part of the latency of each commit that was waited for. */
int runner_wait_last(SapRunnerV0 *runner);
/* The same, for commits before the last call of this or the other. */
int runner_wait_lagging(SapRunnerV0 *runner);

static inline bool runner_retryable(int rc)
{
    return rc == SAP_BUSY || rc == SAP_CONFLICT;
}

#endif
