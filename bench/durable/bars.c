/* bars.c - the figures against what is asked of them. */
#include "bars.h"

#include <string.h>

const DurWorkload dur_workloads[DUR_WORKLOADS] = {
    {"commit1", "one put a commit", 1, {1, 2, 8, 32, 64}},
    {"commit5", "a put into each of 5 tables a commit", 5, {1, 32}},
};

double dur_rate(const DurReport *report, size_t engine, size_t workload, size_t step)
{
    const DurFigure *figure = &report->best[engine][workload][step];
    return figure->commits ? (double)figure->commits / figure->seconds : 0;
}

void dur_report_add(DurReport *report, size_t engine, size_t workload, size_t step,
                    const DurFigure *figure)
{
    if ((double)figure->commits / figure->seconds > dur_rate(report, engine, workload, step))
        report->best[engine][workload][step] = *figure;
}

/* The lesser of the two counters; see DurBytes. */
static double per_commit(const DurBytes *bytes)
{
    uint64_t n = bytes->process_bytes;
    if (bytes->disk_bytes && bytes->disk_bytes < n)
        n = bytes->disk_bytes;
    return bytes->commits ? (double)n / (double)bytes->commits : 0;
}

double dur_bytes_per_commit(const DurReport *report, size_t engine)
{
    return per_commit(&report->bytes[engine]);
}

void dur_report_add_bytes(DurReport *report, size_t engine, const DurBytes *bytes)
{
    double best = dur_bytes_per_commit(report, engine);
    if (best <= 0 || per_commit(bytes) < best)
        report->bytes[engine] = *bytes;
}

size_t dur_find_engine(const DurReport *report, const char *name)
{
    for (size_t e = 0; e < report->engine_count; e++)
        if (strcmp(report->engines[e]->name, name) == 0)
            return e;
    return BENCH_MAX_ENGINES;
}

/* ---- Against peers -------------------------------------------------------------------------- */

typedef enum Measure {
    AT_LEAST_RATE, /* the rate is at least factor times the peer's */
    BELOW_P99,     /* the 99th percentile is below factor times the peer's */
    AT_MOST_BYTES  /* bytes per commit are at most factor times the peer's */
} Measure;

typedef struct Bar {
    Measure measure;
    const char *workload;
    uint32_t threads;
    double factor;
    const char *peer;
} Bar;

static const Bar bars[] = {
    {AT_LEAST_RATE, "commit1", 1, 2, "lmdb"},      {AT_LEAST_RATE, "commit1", 1, 1.2, "rocksdb"},
    {AT_LEAST_RATE, "commit1", 1, 0.8, "bare"},    {AT_LEAST_RATE, "commit1", 8, 8, "lmdb"},
    {AT_LEAST_RATE, "commit1", 8, 1.5, "rocksdb"}, {AT_LEAST_RATE, "commit1", 32, 15, "lmdb"},
    {AT_LEAST_RATE, "commit1", 32, 2, "rocksdb"},  {BELOW_P99, "commit1", 32, 1, "rocksdb"},
    {AT_LEAST_RATE, "commit5", 32, 12, "lmdb"},    {AT_LEAST_RATE, "commit5", 32, 1.5, "rocksdb"},
    {AT_MOST_BYTES, "bytes", 1, 0.2, "lmdb"},
};
enum { PEER_BARS = sizeof bars / sizeof *bars };

/* What the bar compares; 0 where it was not measured. */
static double figure_of(const DurReport *report, const Bar *bar, const char *engine)
{
    size_t e = dur_find_engine(report, engine);
    if (e == BENCH_MAX_ENGINES)
        return 0;
    if (bar->measure == AT_MOST_BYTES)
        return dur_bytes_per_commit(report, e);
    for (size_t w = 0; w < DUR_WORKLOADS; w++) {
        for (size_t s = 0; s < DUR_MAX_STEPS; s++) {
            if (strcmp(dur_workloads[w].name, bar->workload) != 0 ||
                dur_workloads[w].threads[s] != bar->threads)
                continue;
            return bar->measure == BELOW_P99 ? (double)report->best[e][w][s].p99_ns
                                             : dur_rate(report, e, w, s);
        }
    }
    return 0;
}

static int judge_peer(const DurReport *report, const Bar *bar, DurJudgement *out)
{
    static const char *const what[] = {"rate", "p99", "bytes"};
    static const char *const how[] = {"at least", "below", "at most"};
    double own = figure_of(report, bar, BENCH_SUBJECT), peer = figure_of(report, bar, bar->peer);
    if (own <= 0 || peer <= 0)
        return 0;
    out->workload = bar->workload;
    snprintf(out->title, sizeof out->title, "%s, %u thread%s, %s",
             bar->measure == AT_MOST_BYTES ? "commit5" : bar->workload, bar->threads,
             bar->threads == 1 ? "" : "s", what[bar->measure]);
    snprintf(out->must, sizeof out->must, "%s %g x %s", how[bar->measure], bar->factor, bar->peer);
    out->figure = own / peer;
    out->unit = "x";
    out->met = bar->measure == AT_LEAST_RATE   ? out->figure >= bar->factor
               : bar->measure == AT_MOST_BYTES ? out->figure <= bar->factor
                                               : out->figure < bar->factor;
    return 1;
}

/* ---- The queue ------------------------------------------------------------------------------ */

static int judge_queue_file(const DurQueue *queue, DurJudgement *out)
{
    snprintf(out->title, sizeof out->title, "queue, data file");
    snprintf(out->must, sizeof out->must, "below 64 MiB");
    out->figure = (double)queue->file_bytes / (1 << 20);
    out->unit = "MiB";
    out->met = out->figure < 64;
    return 1;
}

static int judge_queue_rate(const DurQueue *queue, DurJudgement *out)
{
    snprintf(out->title, sizeof out->title, "queue, rate of the last tenth");
    snprintf(out->must, sizeof out->must, "at least 0.8 x the first");
    out->figure = queue->rates[DUR_QUEUE_PARTS - 1] / queue->rates[0];
    out->unit = "x";
    out->met = out->figure >= 0.8;
    return 1;
}

int dur_judge(const DurReport *report, size_t i, DurJudgement *out)
{
    if (i < PEER_BARS)
        return judge_peer(report, &bars[i], out);
    if (i >= PEER_BARS + 2)
        return -1;
    if (!report->queue.messages)
        return 0;
    out->workload = "queue";
    return i == PEER_BARS ? judge_queue_file(&report->queue, out)
                          : judge_queue_rate(&report->queue, out);
}
