/* worker.h - ticks of a worker, and the thread that makes them.
 *
 * The thread sleeps while there is nothing to do. What wakes it is a bell: a number that grows with
 * every ring. The thread remembers the number before it looks for work, and sleeps only while it is
 * the same, so that no ring between looking and sleeping is missed. Commits to the worker's inbox
 * ring it (those through the runner at once, others when they are on disk), timers armed for
 * earlier than the sleep would end, and the request to stop. The bell is only a
 * hint: after each sleep the tables are looked at. */
#ifndef SAPLING_RUNNER_WORKER_H
#define SAPLING_RUNNER_WORKER_H

#include "runner/runner_v0.h"

struct SapRunnerV0WorkerCore {
    SapRunnerV0Handler handler;
    uint32_t max_batch;
    uint32_t max_idle_sleep_ms;
    sap_runner_outbox_v0_forward_fn forward;
    void *forward_ctx;
    uint64_t forward_resume; /* where in the outbox the next tick goes on */
    uint64_t forwarded_lsn;  /* the outbox was last drained after this commit */

    Mutex lock; /* of the five below */
    Cond cond;
    uint64_t bell;
    bool asleep;
    int64_t wake_at_ms; /* when the present sleep ends; INT64_MIN: awake */
    bool stop;
    bool started; /* until the thread has ended and its watches are gone */
    bool joined;  /* the thread has ended */
    bool watching_inbox;
    bool watching_timers;
    Bell own; /* registered while the thread runs */
#if SAPLING_THREADED
    pthread_t thread;
#endif
};

/* Returns whether the caller is the worker's thread: its handler, or a hook or sink that it
 * calls. */
bool worker_is_inside(const SapRunnerV0Worker *worker);

#endif
