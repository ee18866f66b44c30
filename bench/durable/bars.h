/* bars.h - what Sapling must reach. */
#ifndef DURABLE_BARS_H
#define DURABLE_BARS_H

#include "report.h"

typedef struct DurJudgement {
    const char *workload; /* its name */
    char title[64];       /* for people */
    char must[64];
    double figure;
    const char *unit;
    int met;
} DurJudgement;

/* Bar number i: 1 with *out written; 0: what it needs was not measured; -1: there is none. */
int dur_judge(const DurReport *report, size_t i, DurJudgement *out);

/* Both 0 where nothing was measured. */
double dur_rate(const DurReport *report, size_t engine, size_t workload, size_t step);
double dur_bytes_per_commit(const DurReport *report, size_t engine);

/* BENCH_MAX_ENGINES where there is none. */
size_t dur_find_engine(const DurReport *report, const char *name);

#endif
