/* report.h - the figures of a run, and the forms they are shown in. As in the other program, bars
 * are ratios between engines that were measured in turn. */
#ifndef DURABLE_REPORT_H
#define DURABLE_REPORT_H

#include "queue.h"
#include "run.h"
#include "util.h"

#include <stdio.h>

enum { DUR_WORKLOADS = 2, DUR_MAX_STEPS = 5 };

/* Commits from a growing number of threads. */
typedef struct DurWorkload {
    const char *name;
    const char *title;
    uint32_t tables;
    uint32_t threads[DUR_MAX_STEPS]; /* ends with 0, if it is shorter */
} DurWorkload;

extern const DurWorkload dur_workloads[DUR_WORKLOADS];

typedef struct DurReport {
    uint64_t rows;
    uint32_t ms;
    unsigned rounds;
    uint64_t checkpoint_bytes; /* for `bytes` */
    size_t engine_count;
    const DurEngine *engines[BENCH_MAX_ENGINES];
    /* Where nothing was measured, commits and messages are 0. */
    DurFigure best[BENCH_MAX_ENGINES][DUR_WORKLOADS][DUR_MAX_STEPS];
    DurBytes bytes[BENCH_MAX_ENGINES];
    DurQueue queue;
} DurReport;

/* Keeps the figure if its rate is the best so far. */
void dur_report_add(DurReport *report, size_t engine, size_t workload, size_t step,
                    const DurFigure *figure);
/* Keeps the bytes if they are the fewest so far: what others write only adds. */
void dur_report_add_bytes(DurReport *report, size_t engine, const DurBytes *bytes);

/* Tables for people, and each bar as met or MISSED. Bars whose engines were not all measured are
 * left out. */
void dur_report_text(const DurReport *report, FILE *out);
/* `report` is a DurReport; see bench_output_write(). */
void dur_report_json(const void *report, FILE *out);
/* Rates over threads, and bytes. */
void dur_report_svg(const void *report, FILE *out);

#endif
