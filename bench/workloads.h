/* workloads.h - what is measured.
 *
 * A workload is a timed loop over a BenchAdapter. Workloads of the same kind of store share one
 * and run on it in the order of the table, each on what the one before left: the random insert
 * loads the rows that others read.
 *
 * Most are cut into BENCH_PARTS parts of some milliseconds. The driver lets the engines take turns
 * part by part and adds the parts up, so that whatever else the machine does meanwhile slows all
 * of them down alike. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "adapter.h"
#include "data.h"

enum {
    BENCH_BATCH = 1000,        /* puts per transaction of the random insert */
    BENCH_NESTED_PUTS = 10,    /* puts per nested transaction */
    BENCH_COUNT_ROWS = 100000, /* rows of a range that is counted; half the table if that is less */
    BENCH_PARTS = 20,
    BENCH_MAX_WORKLOADS = 16
};

/* Each kind is opened anew in every round, in a process of its own per engine. */
typedef enum BenchStoreKind {
    BENCH_STORE_RANDOM, /* begins empty */
    BENCH_STORE_SORTED, /* begins empty */
    BENCH_STORE_PAIRS,  /* begins with the BenchPairs, in a DUPSORT table */
    BENCH_STORE_KINDS
} BenchStoreKind;

typedef struct BenchStore {
    int dupsort;
    /* Untimed, before the first workload; NULL: nothing to do. As BenchWorkload.run. */
    int (*fill)(const BenchAdapter *engine, BenchDb *db, const BenchData *data);
} BenchStore;

extern const BenchStore bench_stores[BENCH_STORE_KINDS];

/* What a workload, or a part of it, took. */
typedef struct BenchFigure {
    uint64_t ops;
    double seconds;
} BenchFigure;

typedef struct BenchWorkload {
    const char *name;    /* in the JSON and the baseline */
    const char *title;   /* for people */
    const char *op;      /* what is counted, plural */
    const char *against; /* workload whose figures this one's are compared with; NULL: its own */
    BenchStoreKind store;
    unsigned needs; /* BENCH_CAN_... */
    unsigned parts;
    /* Whether the engine has the optional operations that it takes; NULL: it takes none. */
    int (*offered)(const BenchAdapter *engine);
    /* Runs part 0 .. parts - 1. 0 with *figure written, or -1 after a message on stderr: a call
     * failed, or an answer was wrong. */
    int (*run)(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
               BenchFigure *figure);
} BenchWorkload;

extern const BenchWorkload bench_workloads[];
extern const size_t bench_workload_count;

/* Engines that cannot are left out. */
int bench_can_run(const BenchAdapter *engine, const BenchWorkload *load);

#endif
