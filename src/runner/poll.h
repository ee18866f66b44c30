/* poll.h - messages from claim to end: the loop that all ways of running share.
 *
 *   look     a snapshot shows whether there is anything to do; an idle worker takes no lock
 *   claim    one write transaction leases a batch, moves due timers, routes the outbox; nobody
 *   waits
 *            for it: a claim that a crash takes back only makes the message claimable again
 *   handle   each in turn, outside of transactions; an atomic block commits with its
 *   acknowledgement settle   one write transaction ends the claims of plain handlers and of
 *   whatever failed
 *
 * Before a plain handler, which may act on the outside, what its claim was based on is on disk.
 * While a batch is being handled its leases are renewed, so that the last message of a batch is as
 * safe from takeover as the first. */
#ifndef SAPLING_RUNNER_POLL_H
#define SAPLING_RUNNER_POLL_H

#include "runner/runner_v0.h"

/* The kinds of work that a poll can do. */
enum {
    POLL_INBOX = 1u,
    POLL_TIMERS = 2u,
    POLL_OUTBOX = 4u,
    POLL_SWEEP = 8u,
    POLL_ALL = 15u,
    POLL_RETRIES = 16u, /* only those timers that are messages waiting for their next attempt */
};

typedef struct PollResult {
    uint32_t handled; /* messages and timers claimed, whatever became of them */
    bool full;        /* as many messages as were asked for, or as one batch can have */
    uint32_t moved;   /* frames routed and timers passed on */
    int handler_rc;   /* the first code of a handler that is not to be retried; SAP_OK: none */
} PollResult;

/* One batch, of `max` messages or as many as a batch can have. The caller has taken the runner.
 * SAP_BUSY: there was nothing to do. Other codes are the engine's; SAP_ERROR also: a handler left a
 * write transaction open. *result_out is written in any case. Does not wait for the disk. */
int poll_run(SapRunnerV0 *runner, unsigned what, const SapRunnerV0Handler *handler, uint32_t max,
             PollResult *result_out);

/* When there will be something to do: now or before (there is), INT64_MAX (not known). */
int poll_next_ms(SapRunnerV0 *runner, unsigned what, int64_t now_ms, int64_t *next_ms_out);

/* Depth and age of the queue into the metrics, at the end of a call that may have changed them. A
 * poll that found nothing to do, and one that is followed by another, need it not: a poll begins
 * with it. */
void poll_count_queue(SapRunnerV0 *runner);

bool poll_handler_valid(const SapRunnerV0Handler *handler);

#endif
