/* bars.c - the figures against what is asked of them. */
#include "bars.h"

#include <string.h>

const RunWorkload run_workloads[RUN_WORKLOADS] = {
    {"clients", "put, take and acknowledge", "client", RUN_CLIENTS, 1, {1, 8, 64}},
    {"producers", "put, beside one consumer", "producer", RUN_PRODUCERS, 1, {1, 8, 64}},
    {"batch", "put, take and acknowledge 100 at once", "client", RUN_CLIENTS, RUN_BATCH, {1}},
};

const char *const run_handlers[RUN_HANDLERS] = {"plain callback", "atomic block"};
const char *const run_places[RUN_PLACES] = {"memory", "a file"};

double run_rate(const RunReport *report, size_t peer, size_t workload, size_t step)
{
    return report->best[peer][workload][step].per_s;
}

void run_report_add(RunReport *report, size_t peer, size_t workload, size_t step,
                    const RunFigure *figure)
{
    if (figure->per_s > run_rate(report, peer, workload, step))
        report->best[peer][workload][step] = *figure;
}

void run_report_add_start(RunReport *report, size_t handler, const OwnStart *start)
{
    OwnStart *best = &report->own.start[handler];
    if (!best->messages || start->p95_ns < best->p95_ns)
        *best = *start;
}

double run_idle_percent(const OwnIdle *idle)
{
    return 100 * idle->cpu_seconds / idle->seconds;
}

void run_report_add_idle(RunReport *report, const OwnIdle *idle)
{
    OwnIdle *best = &report->own.idle;
    if (best->seconds <= 0 || run_idle_percent(idle) < run_idle_percent(best))
        *best = *idle;
}

void run_report_add_timers(RunReport *report, const OwnTimers *timers)
{
    OwnTimers *best = &report->own.timers;
    for (int i = 0; i < OWN_TIMER_SIZES; i++) {
        if (!best->armed[i] || timers->ns[i] < best->ns[i])
            best->ns[i] = timers->ns[i];
        best->armed[i] = timers->armed[i];
    }
}

double run_overhead(const OwnMemory *memory)
{
    return ((double)memory->page_bytes - (double)memory->frame_bytes) / (double)memory->messages;
}

size_t run_find_peer(const RunReport *report, const char *name)
{
    for (size_t p = 0; p < report->peer_count; p++)
        if (strcmp(report->peers[p]->name, name) == 0)
            return p;
    return BENCH_MAX_ENGINES;
}

/* ---- Against peers -------------------------------------------------------------------------- */

/* The rate is at least factor times the peer's. */
typedef struct Bar {
    const char *workload;
    uint32_t threads;
    double factor;
    const char *peer;
    const char *peer_workload; /* NULL: the same */
} Bar;

/* Of the bare log two commits a message are asked, which it does where clients take one by one. */
static const Bar bars[] = {
    {"clients", 1, 1.5, "beanstalkd", NULL},   {"clients", 1, 1.5, "redis", NULL},
    {"clients", 8, 3, "beanstalkd", NULL},     {"clients", 8, 1.5, "redis", NULL},
    {"clients", 8, 0.7, "bare", NULL},         {"clients", 64, 0.7, "bare", NULL},
    {"producers", 1, 1.5, "beanstalkd", NULL}, {"producers", 1, 1.5, "redis", NULL},
    {"producers", 8, 3, "beanstalkd", NULL},   {"producers", 8, 1.5, "redis", NULL},
    {"producers", 8, 0.7, "bare", "clients"},  {"producers", 64, 0.7, "bare", "clients"},
    {"batch", 1, 1, "sqlite", NULL},
};
enum { PEER_BARS = sizeof bars / sizeof *bars };

/* 0 where it was not measured. */
static double rate_of(const RunReport *report, const char *peer, const char *workload,
                      uint32_t threads)
{
    size_t p = run_find_peer(report, peer);
    if (p == BENCH_MAX_ENGINES)
        return 0;
    for (size_t w = 0; w < RUN_WORKLOADS; w++)
        for (size_t s = 0; s < RUN_MAX_STEPS; s++)
            if (strcmp(run_workloads[w].name, workload) == 0 &&
                run_workloads[w].threads[s] == threads)
                return run_rate(report, p, w, s);
    return 0;
}

static int judge_peer(const RunReport *report, const Bar *bar, RunJudgement *out)
{
    const char *other = bar->peer_workload ? bar->peer_workload : bar->workload;
    double own = rate_of(report, BENCH_SUBJECT, bar->workload, bar->threads);
    double peer = rate_of(report, bar->peer, other, bar->threads);
    if (own <= 0 || peer <= 0)
        return 0;
    out->workload = bar->workload;
    snprintf(out->title, sizeof out->title, "%s, %u", bar->workload, bar->threads);
    snprintf(out->must, sizeof out->must, "at least %g x %s%s%s", bar->factor, bar->peer,
             bar->peer_workload ? " with " : "", bar->peer_workload ? bar->peer_workload : "");
    out->figure = own / peer;
    out->unit = "x";
    out->met = out->figure >= bar->factor;
    return 1;
}

/* ---- Of Sapling alone ----------------------------------------------------------------------- */

static void judge_below(RunJudgement *out, const char *workload, double figure, double limit,
                        const char *unit)
{
    out->workload = workload;
    snprintf(out->must, sizeof out->must, "below %g %s", limit, unit);
    out->figure = figure;
    out->unit = unit;
    out->met = figure < limit;
}

static int judge_start(const OwnStart *start, const char *handler, RunJudgement *out)
{
    if (!start->messages)
        return 0;
    snprintf(out->title, sizeof out->title, "start, %s, p95", handler);
    judge_below(out, "start", (double)start->p95_ns / 1e6, 1, "ms");
    return 1;
}

/* A worker looks around once a second, so that none is not 0. */
static int judge_idle(const OwnIdle *idle, RunJudgement *out)
{
    if (idle->seconds <= 0)
        return 0;
    snprintf(out->title, sizeof out->title, "idle, of a core");
    judge_below(out, "idle", run_idle_percent(idle), 0.1, "%");
    return 1;
}

static int judge_timers(const OwnTimers *timers, RunJudgement *out)
{
    if (!timers->armed[0])
        return 0;
    snprintf(out->title, sizeof out->title, "timers, %llu to %llu armed",
             (unsigned long long)timers->armed[1], (unsigned long long)timers->armed[0]);
    judge_below(out, "timers", timers->ns[1] / timers->ns[0], 1.5, "x");
    return 1;
}

static int judge_memory(const OwnMemory *memory, const char *place, RunJudgement *out)
{
    if (!memory->messages)
        return 0;
    snprintf(out->title, sizeof out->title, "memory, beyond a frame, in %s", place);
    judge_below(out, "memory", run_overhead(memory), 64, "bytes");
    return 1;
}

int run_judge(const RunReport *report, size_t i, RunJudgement *out)
{
    const RunOwn *own = &report->own;
    if (i < PEER_BARS)
        return judge_peer(report, &bars[i], out);
    i -= PEER_BARS;
    if (i < RUN_HANDLERS)
        return judge_start(&own->start[i], run_handlers[i], out);
    i -= RUN_HANDLERS;
    if (i < RUN_PLACES)
        return judge_memory(&own->memory[i], run_places[i], out);
    i -= RUN_PLACES;
    return i == 0 ? judge_idle(&own->idle, out) : i == 1 ? judge_timers(&own->timers, out) : -1;
}
