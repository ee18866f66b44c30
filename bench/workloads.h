/* workloads.h - what is measured.
 *
 * A workload is a timed loop over a BenchAdapter. Workloads with the same `sync` share one store
 * and run on it in the order of the table, each on what the one before left: the random insert
 * loads the rows that the others read.
 *
 * Each is cut into BENCH_PARTS parts of some milliseconds. The driver lets the engines take turns
 * part by part and adds the parts up, so that whatever else the machine does meanwhile slows all
 * of them down alike. */
#ifndef BENCH_WORKLOADS_H
#define BENCH_WORKLOADS_H

#include "adapter.h"

enum {
    BENCH_KEY_LEN = 16,
    BENCH_VAL_LEN = 100,
    BENCH_BATCH = 1000,     /* puts per transaction of the random insert */
    BENCH_NESTED_PUTS = 10, /* puts per nested transaction */
    BENCH_PARTS = 20,
    BENCH_MAX_WORKLOADS = 16
};

/* The rows, the same for every engine and round; they follow from the seed. */
typedef struct BenchData {
    uint64_t rows;
    uint64_t seed;
    uint8_t *keys;      /* rows x BENCH_KEY_LEN, distinct, in order of insertion */
    uint8_t *get_keys;  /* the same keys in another random order */
    BenchScan expected; /* what a scan of the table must answer */
} BenchData;

/* 0, or -1 when out of memory. Release with bench_data_release(), also after failure. */
int bench_data_init(BenchData *data, uint64_t rows, uint64_t seed);
void bench_data_release(BenchData *data);

/* What a workload, or a part of it, took. */
typedef struct BenchFigure {
    uint64_t ops;
    double seconds;
} BenchFigure;

typedef struct BenchWorkload {
    const char *name;  /* in the JSON and the baseline */
    const char *title; /* for people */
    const char *op;    /* what is counted, plural */
    BenchSync sync;    /* the store it runs on */
    unsigned needs;    /* BENCH_CAN_...; engines that cannot are left out */
    /* Runs part 0 .. BENCH_PARTS - 1. 0 with *figure written, or -1 after a message on stderr: a
     * call failed, or an answer was wrong. */
    int (*run)(const BenchAdapter *engine, BenchDb *db, const BenchData *data, unsigned part,
               BenchFigure *figure);
} BenchWorkload;

extern const BenchWorkload bench_workloads[];
extern const size_t bench_workload_count;

#endif
