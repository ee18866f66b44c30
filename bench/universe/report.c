/* report.c - figures as tables, as JSON and as a chart. */
#include "universe/report.h"

#include "chart.h"
#include "universe/bars.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_VALUES                                                                     \
    {"steps_per_s", "durable steps", "/s"}, {"wait_p50_ms", "client's wait, p50", "ms"}, \
        {"wait_p95_ms", "client's wait, p95", "ms"},                                     \
        {"steps_per_commit", "steps per commit of the store", ""},                       \
        {"steps_per_cycle", "steps per commit of the worker", ""},                       \
        {"cpu_us_per_step", "CPU time of a step", "us"}, {"cores", "cores in use", ""},  \
    {                                                                                    \
        "file_bytes_per_step", "file, per step", "bytes"                                 \
    }

const UniWorkload uni_workloads[UNI_WORKLOADS] = {
    [UNI_ACKNOWLEDGED] = {"acknowledged",
                          "64 clients, 1000 worlds; a client waits until its message is durable",
                          measure_acknowledged,
                          0,
                          0,
                          {STEPS_VALUES}},
    [UNI_REPLIES] = {"replies",
                     "64 clients, 1000 worlds; a client waits for the reply of the durable step",
                     measure_replies,
                     0,
                     0,
                     {STEPS_VALUES}},
    [UNI_PG_QUEUE] = {"pg-queue",
                      "PostgreSQL: a SKIP LOCKED queue, 64 producers, a transaction a message",
                      measure_pg_queue,
                      1,
                      0,
                      {{"per_s_64_workers", "messages, 64 workers", "/s"},
                       {"per_s_16_workers", "messages, 16 workers", "/s"},
                       {"per_s", "messages, the better of both", "/s"}}},
    [UNI_PG_ACKNOWLEDGED] = {"pg-acknowledged",
                             "acknowledged, with the worlds on PostgreSQL",
                             measure_acknowledged_pg,
                             1,
                             0,
                             {STEPS_VALUES}},
    [UNI_PG_REPLIES] = {"pg-replies",
                        "replies, with the worlds on PostgreSQL",
                        measure_replies_pg,
                        1,
                        0,
                        {STEPS_VALUES}},
    [UNI_RENEWAL] = {"renewal",
                     "renewal of a session every 5 ms beside the load of acknowledged",
                     measure_renewal,
                     0,
                     0,
                     {{"p50_ms", "renewal, p50", "ms"},
                      {"p95_ms", "renewal, p95", "ms"},
                      {"max_ms", "renewal, longest", "ms"},
                      {"steps_per_s", "durable steps meanwhile", "/s"}}},
    [UNI_NOMINAL] = {"nominal",
                     "1000 messages/s to 100 worlds, from the call of the send to the reply",
                     measure_nominal,
                     0,
                     0,
                     {{"p50_ms", "inbox to journal, p50", "ms"},
                      {"p95_ms", "inbox to journal, p95", "ms"},
                      {"p99_ms", "inbox to journal, p99", "ms"},
                      {"after_p95_ms", "after the return of the send, p95", "ms"},
                      {"send_p95_ms", "the send itself, p95", "ms"},
                      {"cpu_percent", "CPU time, of a core", "%"}}},
    [UNI_STUCK] =
        {"stuck",
         "the same from the time a send is due, while another world's handler sleeps for 10 s",
         measure_stuck,
         0,
         0,
         {{"without_p95_ms", "without it, p95", "ms"},
          {"with_p95_ms", "with it, p95", "ms"},
          {"ratio", "with it by without it", "x"}}},
    [UNI_BACKLOG] = {"backlog",
                     "1000 worlds, 300 messages each in their inboxes when the worker starts",
                     measure_backlog,
                     0,
                     0,
                     {STEPS_VALUES, {"durable_per_s", "until the last step is durable", "/s"}}},
    [UNI_RESTORE] = {"restore",
                     "a world of 200,000 entries comes into memory, and makes a step",
                     measure_restore,
                     0,
                     1,
                     {{"entries_per_s", "entries", "/s"}, {"seconds", "in all", "s"}}},
    [UNI_RESTART] =
        {"restart",
         "opening of a file with 1000 worlds, 20 messages each, until a step is durable",
         measure_restart,
         0,
         0,
         {{"clean_ms", "after a clean end", "ms"},
          {"killed_ms", "after a kill", "ms"},
          {"clean_all_ms", "after a clean end, all 20,000", "ms"},
          {"killed_all_ms", "after a kill, all 20,000", "ms"}}},
    [UNI_ACTIVATION] = {"activation",
                        "a message to a world of 10 entries that is not in memory",
                        measure_activation,
                        0,
                        0,
                        {{"p50_ms", "the worker has room, p50", "ms"},
                         {"p95_ms", "the worker has room, p95", "ms"},
                         {"full_p50_ms", "the worker is full, p50", "ms"},
                         {"full_p95_ms", "the worker is full, p95", "ms"},
                         {"churn_per_s", "1000 at once, the worker is full", "/s"}}},
    [UNI_EFFECTS] =
        {"effects",
         "500 effects/s of 100 worlds, from the handler that asks to that of the receipt",
         measure_effects,
         0,
         0,
         {{"p50_ms", "dispatch to receipt, p50", "ms"},
          {"p95_ms", "dispatch to receipt, p95", "ms"},
          {"p99_ms", "dispatch to receipt, p99", "ms"},
          {"cpu_us_per_effect", "CPU time of an effect", "us"},
          {"most_per_s", "effects, 64 senders", "/s"}}},
    [UNI_WORKFLOW] = {"workflow",
                      "message, effect, timer of 0, reply: one after the other",
                      measure_workflow,
                      0,
                      0,
                      {{"p50_ms", "three steps, p50", "ms"}, {"p95_ms", "three steps, p95", "ms"}}},
    [UNI_TIMERS] = {"timers",
                    "a million armed timers, and a timer of 0 beside them",
                    measure_timers,
                    0,
                    1,
                    {{"none_cpu_percent", "CPU time without them, of a core", "%"},
                     {"cpu_percent", "more while they wait, of a core", "%"},
                     {"few_p50_ms", "timer of 0 without them, p50", "ms"},
                     {"few_p95_ms", "timer of 0 without them, p95", "ms"},
                     {"p50_ms", "timer of 0 beside them, p50", "ms"},
                     {"p95_ms", "timer of 0 beside them, p95", "ms"},
                     {"ratio", "with them by without them, p50", "x"},
                     {"armed_per_s", "timers armed", "/s"}}},
    [UNI_FIRING] = {"firing",
                    "100,000 timers of 100 worlds that are due at once",
                    measure_firing,
                    0,
                    1,
                    {{"per_s", "timers fired", "/s"},
                     {"handled_per_s", "timers fired and handled", "/s"},
                     {"cpu_us", "CPU time of a timer", "us"}}},
    [UNI_DORMANT] = {"dormant",
                     "a node with very many worlds that have nothing to do",
                     measure_dormant,
                     0,
                     1,
                     {{"cpu_percent", "CPU time, of a core", "%"},
                      {"empty_cpu_percent", "CPU time without worlds, of a core", "%"},
                      {"bytes_per_world", "memory beyond the file, for a world", "bytes"},
                      {"open_ms", "opening, until the worker runs", "ms"},
                      {"created_per_s", "worlds created, 64 threads", "/s"},
                      {"first_steps_per_s", "first steps of dormant worlds", "/s"}}},
    [UNI_TAKEOVER] = {"takeover",
                      "the worlds of a session that has expired, each with an item, are freed",
                      measure_takeover,
                      0,
                      1,
                      {{"seconds", "in all", "s"}, {"worlds_per_s", "worlds", "/s"}}},
};

/* ---- Medians -------------------------------------------------------------------------------- */

void uni_report_init(UniReport *report)
{
    for (size_t w = 0; w < UNI_WORKLOADS; w++)
        for (size_t v = 0; v < UNI_VALUES; v++)
            for (size_t r = 0; r < UNI_MAX_ROUNDS; r++)
                report->values[w][v][r] = NAN;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Those that were measured, in order. */
static size_t sort_numbers(const double *numbers, size_t count, double sorted[UNI_MAX_ROUNDS])
{
    size_t known = 0;
    for (size_t i = 0; i < count; i++)
        if (!isnan(numbers[i]))
            sorted[known++] = numbers[i];
    qsort(sorted, known, sizeof *sorted, compare_numbers);
    return known;
}

double uni_median_of(const double *numbers, size_t count)
{
    double sorted[UNI_MAX_ROUNDS];
    size_t known = sort_numbers(numbers, count, sorted);
    if (known == 0)
        return NAN;
    return (sorted[known / 2] + sorted[(known - 1) / 2]) / 2;
}

double uni_median(const UniReport *report, size_t workload, size_t value)
{
    return uni_median_of(report->values[workload][value], report->rounds);
}

/* ---- Text ----------------------------------------------------------------------------------- */

static const char *format_value(double value, const char *unit, char buf[32])
{
    if (strcmp(unit, "/s") == 0)
        return bench_format_rate(value, buf);
    snprintf(buf, 32, fabs(value) >= 100 ? "%.0f" : fabs(value) >= 1 ? "%.2f" : "%.3f", value);
    return buf;
}

static void print_value(const UniReport *report, size_t w, size_t v, FILE *out)
{
    const UniValue *value = &uni_workloads[w].values[v];
    double sorted[UNI_MAX_ROUNDS];
    char middle[32], least[32], most[32];
    size_t known = sort_numbers(report->values[w][v], report->rounds, sorted);
    if (known == 0)
        return;
    fprintf(out, "  %-36s %10s %-5s", value->title,
            format_value(uni_median(report, w, v), value->unit, middle), value->unit);
    if (known > 1)
        fprintf(out, "   %s to %s", format_value(sorted[0], value->unit, least),
                format_value(sorted[known - 1], value->unit, most));
    fputc('\n', out);
}

static int is_measured(const UniReport *report, size_t w)
{
    for (size_t v = 0; v < UNI_VALUES; v++)
        if (!isnan(uni_median(report, w, v)))
            return 1;
    return 0;
}

static void print_bars(const UniReport *report, FILE *out)
{
    UniJudgement j;
    int known, judged = 0, missed = 0;
    char buf[32];
    for (size_t i = 0; (known = uni_judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        if (!judged)
            fprintf(out, "\n%-40s %-28s %10s\n", "bar", BENCH_SUBJECT " must be", "is at");
        judged++;
        missed += !j.met;
        fprintf(out, "%-40s %-28s %10s %-6s %s\n", j.title, j.must,
                format_value(j.figure, j.unit, buf), j.unit, j.met ? "met" : "MISSED");
    }
    if (judged && !missed)
        fprintf(out, "\nALL BARS MET\n");
    else if (judged)
        fprintf(out, "\nBARS MISSED: %d of %d\n", missed, judged);
}

void uni_report_text(const UniReport *report, FILE *out)
{
    fprintf(out,
            "worlds in a file, every commit on disk: clients send for %llu ms; median of %u "
            "rounds, least to most\n",
            (unsigned long long)report->ms, report->rounds);
    fprintf(out, "load of the machine before each round:");
    for (unsigned r = 0; r < report->rounds; r++)
        fprintf(out, " %.1f", report->load[r]);
    fputc('\n', out);
    for (size_t w = 0; w < UNI_WORKLOADS; w++) {
        if (!is_measured(report, w))
            continue;
        fprintf(out, "\n%s: %s\n", uni_workloads[w].name, uni_workloads[w].title);
        for (size_t v = 0; v < UNI_VALUES; v++)
            print_value(report, w, v, out);
    }
    print_bars(report, out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Names and titles are ours and hold nothing that would have to be escaped. */

static void json_value(const UniReport *report, size_t w, size_t v, const char *comma, FILE *out)
{
    const UniValue *value = &uni_workloads[w].values[v];
    const char *next = "";
    fprintf(out, "%s\n      {\"name\": \"%s\", \"unit\": \"%s\", \"median\": %.4f, \"rounds\": [",
            comma, value->name, value->unit, uni_median(report, w, v));
    for (unsigned r = 0; r < report->rounds; r++) {
        if (isnan(report->values[w][v][r]))
            continue;
        fprintf(out, "%s%.4f", next, report->values[w][v][r]);
        next = ", ";
    }
    fprintf(out, "]}");
}

static void json_workload(const UniReport *report, size_t w, const char *comma, FILE *out)
{
    const char *next = "";
    fprintf(out, "%s\n    {\"name\": \"%s\", \"title\": \"%s\", \"values\": [", comma,
            uni_workloads[w].name, uni_workloads[w].title);
    for (size_t v = 0; v < UNI_VALUES; v++) {
        if (isnan(uni_median(report, w, v)))
            continue;
        json_value(report, w, v, next, out);
        next = ",";
    }
    fprintf(out, "\n    ]}");
}

static void json_bars(const UniReport *report, FILE *out)
{
    UniJudgement j;
    const char *comma = "";
    int known;
    for (size_t i = 0; (known = uni_judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        fprintf(out,
                "%s\n    {\"workload\": \"%s\", \"title\": \"%s\", \"bar\": \"%s\", "
                "\"figure\": %.4f, \"unit\": \"%s\", \"met\": %s}",
                comma, j.workload, j.title, j.must, j.figure, j.unit, j.met ? "true" : "false");
        comma = ",";
    }
}

void uni_report_json(const void *arg, FILE *out)
{
    const UniReport *report = arg;
    const char *comma = "";
    fprintf(out, "{\n  \"rounds\": %u,\n  \"ms\": %llu,\n  \"many\": %u,\n  \"load\": [",
            report->rounds, (unsigned long long)report->ms, report->many);
    for (unsigned r = 0; r < report->rounds; r++)
        fprintf(out, "%s%.2f", r ? ", " : "", report->load[r]);
    fprintf(out, "],\n  \"workloads\": [");
    for (size_t w = 0; w < UNI_WORKLOADS; w++) {
        if (!is_measured(report, w))
            continue;
        json_workload(report, w, comma, out);
        comma = ",";
    }
    fprintf(out, "\n  ],\n  \"bars\": [");
    json_bars(report, out);
    fprintf(out, "\n  ]\n}\n");
}

/* ---- Chart ---------------------------------------------------------------------------------- */

typedef struct Panel {
    const char *title;
    const char *unit;
    const char *(*format)(double value, char buf[32]);
    struct {
        const char *name; /* NULL: no more */
        UniWorkloadId workload;
        int value;
    } bars[BENCH_MAX_ENGINES];
} Panel;

static const char *format_ms(double ms, char buf[32])
{
    snprintf(buf, 32, "%.2f ms", ms);
    return buf;
}

static const Panel panels[] = {
    {"durable steps from end to end",
     "per second; 64 clients, 1000 worlds; pg: worlds on PostgreSQL, and a SKIP LOCKED queue there",
     bench_format_rate,
     {{"sent", UNI_ACKNOWLEDGED, STEPS_PER_S},
      {"replied", UNI_REPLIES, STEPS_PER_S},
      {"pg sent", UNI_PG_ACKNOWLEDGED, STEPS_PER_S},
      {"pg replied", UNI_PG_REPLIES, STEPS_PER_S},
      {"pg queue", UNI_PG_QUEUE, PG_QUEUE_BEST_PER_S}}},
    {"without senders",
     "per second; steps of a backlog, entries of a journal that are restored",
     bench_format_rate,
     {{"backlog", UNI_BACKLOG, STEPS_PER_S}, {"restore", UNI_RESTORE, RESTORE_PER_S}}},
    {"95th percentiles",
     "shorter is better",
     format_ms,
     {{"renewal", UNI_RENEWAL, RENEWAL_P95_MS},
      {"send", UNI_NOMINAL, NOMINAL_SEND_P95_MS},
      {"journal", UNI_NOMINAL, NOMINAL_P95_MS},
      {"activation", UNI_ACTIVATION, ACTIVATION_P95_MS},
      {"if full", UNI_ACTIVATION, ACTIVATION_FULL_P95_MS}}},
};
enum { PANELS = sizeof panels / sizeof *panels };

static double draw_all(const void *arg, FILE *out)
{
    const UniReport *report = arg;
    double y = BENCH_CHART_TOP;
    for (size_t p = 0; p < PANELS; p++) {
        BenchBars bars = {
            .title = panels[p].title, .unit = panels[p].unit, .format = panels[p].format};
        for (size_t b = 0; b < BENCH_MAX_ENGINES && panels[p].bars[b].name; b++) {
            double value =
                uni_median(report, panels[p].bars[b].workload, (size_t)panels[p].bars[b].value);
            bars.names[bars.engines] = panels[p].bars[b].name;
            bars.values[bars.engines++] = isnan(value) ? 0 : value;
        }
        y = bench_draw_bars(&bars, y, out);
    }
    return y;
}

void uni_report_svg(const void *arg, FILE *out)
{
    const UniReport *report = arg;
    char below[128];
    snprintf(below, sizeof below,
             "messages of 100 bytes, every commit on disk, in turn, median of %u rounds",
             report->rounds);
    bench_draw_page("Worlds", below, draw_all, report, out);
}
