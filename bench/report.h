/* report.h - the figures of a run, and the forms they are shown in.
 *
 * Absolute figures differ between machines and from hour to hour; ratios between engines measured
 * in turn by one run do not. So everything is also given as a ratio to the reference engine, and
 * the bars are ratios. */
#ifndef BENCH_REPORT_H
#define BENCH_REPORT_H

#include "adapter.h"
#include "util.h"
#include "workloads.h"

#include <stdio.h>

typedef struct BenchReport {
    uint64_t rows;
    unsigned rounds;
    size_t engine_count;
    const BenchAdapter *engines[BENCH_MAX_ENGINES];
    /* The best round; ops is 0 where nothing was measured. */
    BenchFigure best[BENCH_MAX_ENGINES][BENCH_MAX_WORKLOADS];
} BenchReport;

/* Keeps the figure if it is the best so far. */
void bench_report_add(BenchReport *report, size_t engine, size_t workload,
                      const BenchFigure *figure);

/* A table for people: rates, ratios, and each bar as met or MISSED. Bars whose engines were not
 * all measured are left out. */
void bench_report_text(const BenchReport *report, FILE *out);
void bench_report_json(const BenchReport *report, FILE *out);
/* A bar chart of the ratios; needs the reference engine among the measured ones. */
void bench_report_svg(const BenchReport *report, FILE *out);

#endif
