/* measure.h - what is measured of the stores. Each function runs in a process of its own and in an empty
 * directory, and answers 0, or -1 after a message. */
#ifndef STORE_MEASURE_H
#define STORE_MEASURE_H

#include "util.h"

#include <stdint.h>

enum { STORE_MAX_THREADS = 32, STORE_TABLES = 5, STORE_FIRST_TABLE = 16 };

/* ---- commits.c: commits of a row into each of 5 tables, through the store and on the engine itself */

typedef struct StoreCommitsRun {
    const char *dir;
    uint64_t rows; /* in every table to begin with */
    uint64_t ms;   /* of each part */
    uint64_t rounds;
    uint32_t threads;
    int waits; /* each commit is durable; otherwise it is asynchronous */
} StoreCommitsRun;

/* In each round the two run one after the other, each in turn first, on files that stay open. The cost is
 * that of the round in the middle: what the disk does to some rounds does not count. */
typedef struct StoreCommits {
    uint64_t rounds; /* 0: not measured */
    double store_per_s;
    double engine_per_s;
    double cost; /* time of a commit through the store by that on the engine */
} StoreCommits;

int store_measure_commits(const StoreCommitsRun *run, StoreCommits *out);

/* ---- own.c: of the store alone */

typedef struct StoreClaimsRun {
    const char *dir;
    const char *url; /* NULL: a file in dir */
    uint64_t ms;
    uint32_t threads;
    uint32_t limit; /* rows of a claim */
    uint64_t rows;  /* that there are to claim */
} StoreClaimsRun;

/* Rows that were moved, each claim committed durably. */
typedef struct StoreClaims {
    double rows_per_s; /* 0: not measured */
    double claims_per_s;
} StoreClaims;

int store_measure_claims(const StoreClaimsRun *run, StoreClaims *out);

typedef struct StoreWakeRun {
    const char *dir;
    const char *url; /* NULL: a file in dir. On a server another store than the waiter's commits */
    uint64_t samples;
    uint32_t others; /* threads that wait for other rows meanwhile */
    int durable;
} StoreWakeRun;

/* From the call of the commit to the return of a wait for its row, in a thread that slept; of a durable
 * wait from the moment at which the committer knows that the row is durable. */
typedef struct StoreWake {
    uint64_t samples; /* 0: not measured */
    uint64_t p50_ns;
    uint64_t p95_ns;
    uint64_t max_ns;
} StoreWake;

int store_measure_wake(const StoreWakeRun *run, StoreWake *out);

/* ---- cycles.c: what a cycle of a world does, on a server */

/* Each thread takes a random one of WORLDS rows, reads it, and writes it, a journal row and the end of an
 * inbox row: under a guard through the store, or in SERIALIZABLE transactions by libpq, run again until
 * they commit. */
typedef struct StoreCyclesRun {
    const char *dir;
    const char *url;      /* of the store */
    const char *conninfo; /* of libpq, for the SERIALIZABLE ones; NULL: through the store */
    uint64_t ms;
    uint32_t threads;
} StoreCyclesRun;

typedef struct StoreCycles {
    double per_s;   /* 0: not measured */
    double retried; /* share of the attempts that had to run again */
} StoreCycles;

int store_measure_cycles(const StoreCyclesRun *run, StoreCycles *out);

#endif
