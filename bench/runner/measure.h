/* measure.h - one measurement: one peer, one workload, one number of threads.
 *
 * Every message is counted and recognised, when it is put and when it is taken: a run fails if one
 * comes twice, changed, or not at all, and if the peer, opened again, has one left. */
#ifndef RUNNER_MEASURE_H
#define RUNNER_MEASURE_H

#include "peer.h"

enum { RUN_MAX_THREADS = 64, RUN_WARM_UP_MS = 200 };

typedef enum RunShape {
    /* Each thread puts, takes and acknowledges, each call after the other. */
    RUN_CLIENTS,
    /* Each thread puts, one after the other; one consumer takes and acknowledges what there is, up
     * to RUN_BATCH at once, or is the peer's own. */
    RUN_PRODUCERS
} RunShape;

typedef struct RunTask {
    const RunPeer *peer;
    RunShape shape;
    uint32_t threads;
    uint32_t batch; /* messages of a put, at most RUN_BATCH */
    uint32_t ms;    /* measured, after the warm-up; what is begun by then is ended */
} RunTask;

typedef struct RunFigure {
    uint64_t messages; /* put, taken and acknowledged on disk */
    double per_s;      /* of all threads together; of producers until the last is acknowledged */
    /* Of RUN_CLIENTS from the begin of the put to the end of the acknowledgement, of RUN_PRODUCERS
     * the put alone. */
    uint64_t p50_ns, p99_ns, max_ns;
} RunFigure;

/* In the working directory, which is empty. 0, or -1 after a message. */
int run_measure(const RunTask *task, RunFigure *out);

#endif
