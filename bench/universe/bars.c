/* bars.c - the figures against what is asked of them. */
#include "universe/bars.h"

#include <math.h>
#include <stdio.h>

typedef enum BarKind { AT_LEAST, AT_MOST, BELOW, TIMES_QUEUE } BarKind;

typedef struct Bar {
    UniWorkloadId workload;
    int value;
    BarKind kind;
    double limit;
    const char *title;
} Bar;

static const Bar bars[] = {
    {UNI_ACKNOWLEDGED, STEPS_PER_S, AT_LEAST, 15000, "steps, clients wait until sent"},
    {UNI_ACKNOWLEDGED, STEPS_PER_S, TIMES_QUEUE, 4, "steps, clients wait until sent"},
    {UNI_REPLIES, STEPS_PER_S, AT_LEAST, 15000, "steps, clients wait for the reply"},
    {UNI_REPLIES, STEPS_PER_S, TIMES_QUEUE, 4, "steps, clients wait for the reply"},
    {UNI_RENEWAL, RENEWAL_P95_MS, BELOW, 5, "renewal of a session, p95"},
    {UNI_NOMINAL, NOMINAL_P95_MS, BELOW, 3, "inbox to journal, p95"},
    {UNI_STUCK, STUCK_RATIO, AT_MOST, 1.5, "p95 beside a stuck handler"},
    {UNI_BACKLOG, STEPS_PER_S, AT_LEAST, 100000, "steps from a backlog"},
    {UNI_RESTORE, RESTORE_PER_S, AT_LEAST, 200000, "restore, entries"},
    {UNI_RESTART, RESTART_CLEAN_MS, BELOW, 1000, "restart to the first step"},
    {UNI_RESTART, RESTART_KILLED_MS, BELOW, 1000, "restart after a kill to the first step"},
    {UNI_ACTIVATION, ACTIVATION_P95_MS, BELOW, 5, "activation, p95"},
    {UNI_ACTIVATION, ACTIVATION_FULL_P95_MS, BELOW, 5, "activation by a full worker, p95"},
    {UNI_EFFECTS, EFFECTS_P95_MS, BELOW, 5, "effect, dispatch to receipt, p95"},
    {UNI_WORKFLOW, WORKFLOW_P50_MS, BELOW, 3, "workflow of three steps, p50"},
    {UNI_TIMERS, TIMERS_CPU_PERCENT, BELOW, 0.1, "a million timers that wait, of a core"},
    {UNI_TIMERS, TIMERS_RATIO, AT_MOST, 1.5, "a timer beside a million, by alone"},
    /* A host looks around ten times a second, and its measurement has noise. */
    {UNI_DORMANT, DORMANT_CPU_PERCENT, BELOW, 0.1, "dormant worlds, of a core"},
    {UNI_DORMANT, DORMANT_BYTES, BELOW, 10, "a dormant world, memory"},
    {UNI_TAKEOVER, TAKEOVER_SECONDS, BELOW, 5, "takeover"},
};
enum { BARS = sizeof bars / sizeof *bars };

static const char *const kind_texts[] = {"at least %g %s", "at most %g %s", "below %g %s",
                                         "at least %g %s SKIP LOCKED"};

/* Of the two in the same round. */
static double median_ratio(const UniReport *report, const Bar *bar)
{
    double ratios[UNI_MAX_ROUNDS];
    for (unsigned r = 0; r < report->rounds; r++)
        ratios[r] = report->values[bar->workload][bar->value][r] /
                    report->values[UNI_PG_QUEUE][PG_QUEUE_BEST_PER_S][r];
    return uni_median_of(ratios, report->rounds);
}

static int meets(const Bar *bar, double figure)
{
    switch (bar->kind) {
    case AT_MOST:
        return figure <= bar->limit;
    case BELOW:
        return figure < bar->limit;
    default:
        return figure >= bar->limit;
    }
}

int uni_judge(const UniReport *report, size_t i, UniJudgement *out)
{
    if (i >= BARS)
        return -1;
    const Bar *bar = &bars[i];
    const UniWorkload *workload = &uni_workloads[bar->workload];
    int is_ratio = bar->kind == TIMES_QUEUE;
    out->workload = workload->name;
    out->title = bar->title;
    out->unit = is_ratio ? "x" : workload->values[bar->value].unit;
    out->figure = is_ratio ? median_ratio(report, bar)
                           : uni_median(report, bar->workload, (size_t)bar->value);
    snprintf(out->must, sizeof out->must, kind_texts[bar->kind], bar->limit, out->unit);
    out->met = meets(bar, out->figure);
    return !isnan(out->figure);
}
