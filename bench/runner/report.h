/* report.h - the figures of a run, and the forms they are shown in. Bars are ratios between peers
 * that were measured in turn. */
#ifndef RUNNER_REPORT_H
#define RUNNER_REPORT_H

#include "measure.h"
#include "own.h"
#include "util.h"

#include <stdio.h>

enum { RUN_WORKLOADS = 3, RUN_MAX_STEPS = 3 };

typedef struct RunWorkload {
    const char *name;
    const char *title;
    const char *thread; /* what one is called */
    RunShape shape;
    uint32_t batch;
    uint32_t threads[RUN_MAX_STEPS]; /* ends with 0, if it is shorter */
} RunWorkload;

extern const RunWorkload run_workloads[RUN_WORKLOADS];

/* Of Sapling alone. */
enum { RUN_PLAIN, RUN_ATOMIC, RUN_HANDLERS };
enum { RUN_IN_MEMORY, RUN_IN_FILE, RUN_PLACES };
typedef struct RunOwn {
    OwnStart start[RUN_HANDLERS];
    OwnIdle idle;
    OwnTimers timers;
    OwnMemory memory[RUN_PLACES];
} RunOwn;

extern const char *const run_handlers[RUN_HANDLERS];
extern const char *const run_places[RUN_PLACES];

typedef struct RunReport {
    uint32_t ms;
    unsigned rounds;
    size_t peer_count;
    const RunPeer *peers[BENCH_MAX_ENGINES];
    /* Where nothing was measured, per_s is 0. */
    RunFigure best[BENCH_MAX_ENGINES][RUN_WORKLOADS][RUN_MAX_STEPS];
    RunOwn own;
} RunReport;

/* Keeps the figure if its rate is the best so far. */
void run_report_add(RunReport *report, size_t peer, size_t workload, size_t step,
                    const RunFigure *figure);

/* The lowest 95th percentile, the least work, the quickest dispatch of each number. */
void run_report_add_start(RunReport *report, size_t handler, const OwnStart *start);
void run_report_add_idle(RunReport *report, const OwnIdle *idle);
void run_report_add_timers(RunReport *report, const OwnTimers *timers);

/* Messages per second; 0 where nothing was measured. */
double run_rate(const RunReport *report, size_t peer, size_t workload, size_t step);
/* Of a core, in percent; for a message beyond its frame, in bytes. */
double run_idle_percent(const OwnIdle *idle);
double run_overhead(const OwnMemory *memory);
/* BENCH_MAX_ENGINES where there is none. */
size_t run_find_peer(const RunReport *report, const char *name);

/* Tables for people, and each bar as met or MISSED. Bars whose peers were not all measured are left
 * out. */
void run_report_text(const RunReport *report, FILE *out);
/* `report` is a RunReport; see bench_output_write(). */
void run_report_json(const void *report, FILE *out);
void run_report_svg(const void *report, FILE *out);

#endif
