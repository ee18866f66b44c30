/* executor.h - where handlers run: in the thread that steps the worker, or elsewhere.
 *
 * A worker must not wait for a handler: another world's would wait with it. So it gives a job to its
 * executor and asks later whether it has ended. Between start() and the poll() that says so, everything
 * that the job names belongs to the executor. Threads are the business of whoever makes the executor;
 * without one a job runs inside start(). */
#ifndef SAPLING_UNIVERSE_EXECUTOR_H
#define SAPLING_UNIVERSE_EXECUTOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/sync.h"

typedef struct ExecutorJob {
    void (*run)(struct ExecutorJob *job); /* calls handlers; may take as long as they do */
    SAP_ATOMIC(bool) begun;               /* run() was called */
    /* The executor's. */
    struct ExecutorJob *next;
    uint32_t state;
} ExecutorJob;

typedef struct Executor {
    void (*start)(void *ctx, ExecutorJob *job);
    /* Whether it has ended; not asked again after that. */
    bool (*poll)(void *ctx, ExecutorJob *job);
    /* Nobody waits for its result any more; poll() is asked all the same. */
    void (*cancel)(void *ctx, ExecutorJob *job);
    void *ctx;
    /* Jobs that it runs at once: a worker starts no more, and one whose handlers take long leaves its place
     * to another. 0: any number. */
    uint32_t capacity;
} Executor;

#endif
