/* report.h - the figures of a run, and the forms they are shown in. */
#ifndef UNIVERSE_BENCH_REPORT_H
#define UNIVERSE_BENCH_REPORT_H

#include "universe/measure.h"

#include <stddef.h>
#include <stdio.h>

enum { UNI_MAX_ROUNDS = 100 };

/* In the order in which they run. */
typedef enum UniWorkloadId {
    UNI_ACKNOWLEDGED,
    UNI_REPLIES,
    UNI_PG_QUEUE,
    UNI_PG_ACKNOWLEDGED,
    UNI_PG_REPLIES,
    UNI_RENEWAL,
    UNI_NOMINAL,
    UNI_STUCK,
    UNI_BACKLOG,
    UNI_RESTORE,
    UNI_RESTART,
    UNI_ACTIVATION,
    UNI_EFFECTS,
    UNI_WORKFLOW,
    UNI_TIMERS,
    UNI_FIRING,
    UNI_DORMANT,
    UNI_TAKEOVER,
    UNI_WORKLOADS,
} UniWorkloadId;

typedef struct UniValue {
    const char *name;  /* in JSON; NULL: the workload has no more */
    const char *title; /* for people */
    const char *unit;
} UniValue;

typedef struct UniWorkload {
    const char *name; /* as in --workloads */
    const char *title;
    int (*measure)(const UniRun *run, double *values);
    int server; /* needs PostgreSQL */
    int once;   /* is measured in the first round only */
    UniValue values[UNI_VALUES];
} UniWorkload;

extern const UniWorkload uni_workloads[UNI_WORKLOADS];

typedef struct UniReport {
    unsigned rounds;
    uint64_t ms;
    uint32_t many;
    double load[UNI_MAX_ROUNDS]; /* average of the machine in the minute before each round */
    /* NAN: not measured. */
    double values[UNI_WORKLOADS][UNI_VALUES][UNI_MAX_ROUNDS];
} UniReport;

void uni_report_init(UniReport *report);
/* Of the rounds in which it was measured; NAN: in none. */
double uni_median(const UniReport *report, size_t workload, size_t value);
/* The median of count <= UNI_MAX_ROUNDS numbers; NAN does not count, and of none is the result. */
double uni_median_of(const double *numbers, size_t count);

/* Tables for people, and each bar as met or MISSED. Bars that were not measured are left out. */
void uni_report_text(const UniReport *report, FILE *out);
/* `report` is a UniReport; see bench_output_write(). */
void uni_report_json(const void *report, FILE *out);
void uni_report_svg(const void *report, FILE *out);

#endif
