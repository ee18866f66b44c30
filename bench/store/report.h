/* report.h - the figures of a run, its bars, and the forms they are shown in. */
#ifndef STORE_REPORT_H
#define STORE_REPORT_H

#include "measure.h"

#include <stdio.h>

enum { STORE_STEPS = 2, STORE_CLAIM_SIZES = 2, STORE_WAKES = 4, STORE_PG_STEPS = 4 };

extern const uint32_t store_threads[STORE_STEPS];
extern const uint32_t store_pg_threads[STORE_PG_STEPS];
extern const uint32_t store_claim_limits[STORE_CLAIM_SIZES];

/* What a waiter waits for, and beside how many others. */
typedef struct StoreWakeCase {
    const char *name;
    int durable;
    uint32_t others;
} StoreWakeCase;

extern const StoreWakeCase store_wake_cases[STORE_WAKES];

typedef struct StoreReport {
    uint64_t rows;
    uint64_t rounds;
    uint64_t ms;
    StoreCommits durable[STORE_STEPS];
    StoreCommits async[STORE_STEPS];
    StoreClaims claims[STORE_STEPS][STORE_CLAIM_SIZES];
    StoreWake wakes[STORE_WAKES];
    /* On a PostgreSQL server. */
    StoreCycles guarded[STORE_PG_STEPS];
    StoreCycles serializable[STORE_PG_STEPS];
    StoreClaims pg_claims[STORE_PG_STEPS][STORE_CLAIM_SIZES];
    StoreWake pg_wake;
} StoreReport;

/* Tables for people, and each bar as met or MISSED. */
void store_report_text(const StoreReport *report, FILE *out);
/* `report` is a StoreReport; see bench_output_write(). */
void store_report_json(const void *report, FILE *out);

#endif
