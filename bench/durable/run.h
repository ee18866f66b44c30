/* run.h - one measurement: one engine, one workload, one number of threads, in a fresh directory.
 *
 * Each run ends with closing the store, opening it again and counting: a table that does not have
 * exactly the rows that were filled in and acknowledged fails the run. */
#ifndef DURABLE_RUN_H
#define DURABLE_RUN_H

#include "engine.h"

enum { DUR_MAX_THREADS = 64, DUR_WARM_UP_MS = 200 };

typedef struct DurRun {
    const DurEngine *engine;
    const char *dir;
    uint32_t tables;
    uint32_t threads;
    uint32_t ms;               /* measured, after the warm-up */
    uint64_t checkpoint_bytes; /* as in DurOpen; of dur_run_bytes(), not 0 */
    const DurRow *rows;        /* in every table to begin with; borrowed */
    uint64_t row_count;
    uint64_t seed; /* of the keys that are put */
} DurRun;

/* Commits that returned durable within the time measured, and what they took. */
typedef struct DurFigure {
    uint64_t commits;
    double seconds;
    uint64_t p50_ns, p99_ns, max_ns;
} DurFigure;

/* Bytes that went to disk for `commits` commits of one thread, and the close. Two counters, neither
 * of them exact: what this process had written does not count the filesystem's own writes, and
 * counts a page that is part of a large folio as the whole folio (Linux 6.16 and later), up to 250
 * times too much; what the disk was sent counts everybody's. Both are too high rather than too
 * low, so the lesser is believed. */
typedef struct DurBytes {
    uint64_t commits;
    uint64_t process_bytes;
    uint64_t disk_bytes; /* 0: the directory's disk has no counter */
} DurBytes;

/* Both 0, or -1 after a message. */
int dur_run_commits(const DurRun *run, DurFigure *out);
/* Three cycles (see DurEngine) from an opened store to a closed one, after one that is not measured;
 * threads and ms do not matter. */
int dur_run_bytes(const DurRun *run, DurBytes *out);

void dur_make_row(uint64_t seed, uint64_t n, DurRow *row);

#endif
