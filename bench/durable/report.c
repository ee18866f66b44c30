/* report.c - figures as tables and as JSON. */
#include "report.h"

#include "bars.h"

/* `value` against the reference's; 0 where one of them was not measured. */
static double ratio(double value, double reference)
{
    return reference > 0 ? value / reference : 0;
}

static double reference_rate(const DurReport *report, size_t w, size_t s)
{
    size_t e = dur_find_engine(report, BENCH_REFERENCE);
    return e < BENCH_MAX_ENGINES ? dur_rate(report, e, w, s) : 0;
}

static double reference_bytes(const DurReport *report)
{
    size_t e = dur_find_engine(report, BENCH_REFERENCE);
    return e < BENCH_MAX_ENGINES ? dur_bytes_per_commit(report, e) : 0;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_step(const DurReport *report, size_t w, size_t s, FILE *out)
{
    char buf[32];
    for (size_t e = 0; e < report->engine_count; e++) {
        const DurFigure *figure = &report->best[e][w][s];
        double rate = dur_rate(report, e, w, s);
        if (rate <= 0)
            continue;
        fprintf(out, "%7u  %-10s %10s %10.0f %10.0f", dur_workloads[w].threads[s],
                report->engines[e]->name, bench_format_rate(rate, buf),
                (double)figure->p50_ns / 1e3, (double)figure->p99_ns / 1e3);
        double r = ratio(rate, reference_rate(report, w, s));
        if (r > 0)
            fprintf(out, " %8.2f x", r);
        fputc('\n', out);
    }
}

static int measured(const DurReport *report, size_t w, size_t s)
{
    for (size_t e = 0; e < report->engine_count; e++)
        if (dur_rate(report, e, w, s) > 0)
            return 1;
    return 0;
}

static void print_workload(const DurReport *report, size_t w, FILE *out)
{
    int first = 1;
    for (size_t s = 0; s < DUR_MAX_STEPS; s++) {
        if (!measured(report, w, s))
            continue;
        if (first)
            fprintf(out, "\n%s: %s\n%7s  %-10s %10s %10s %10s %10s\n", dur_workloads[w].name,
                    dur_workloads[w].title, "threads", "engine", "commits/s", "p50 us", "p99 us",
                    "to " BENCH_REFERENCE);
        first = 0;
        print_step(report, w, s, out);
    }
}

static void print_bytes(const DurReport *report, FILE *out)
{
    int first = 1;
    for (size_t e = 0; e < report->engine_count; e++) {
        double bytes = dur_bytes_per_commit(report, e);
        if (bytes <= 0)
            continue;
        if (first)
            fprintf(out,
                    "\nbytes: written to disk per commit of commit5, 1 thread, checkpoints and "
                    "close included\n%7s  %-10s %10s %10s %10s\n",
                    "", "engine", "commits", "KB/commit", "to " BENCH_REFERENCE);
        first = 0;
        fprintf(out, "%7s  %-10s %10llu %10.1f", "", report->engines[e]->name,
                (unsigned long long)report->bytes[e].commits, bytes / 1e3);
        double r = ratio(bytes, reference_bytes(report));
        if (r > 0)
            fprintf(out, " %8.2f x", r);
        fputc('\n', out);
    }
}

static void print_queue(const DurQueue *queue, FILE *out)
{
    if (!queue->messages)
        return;
    char first[32], last[32];
    fprintf(out,
            "\nqueue: %llu messages through %d live ones\n         data file %.1f MiB; messages/s: "
            "first tenth %s, last tenth %s\n",
            (unsigned long long)queue->messages, DUR_QUEUE_LIVE,
            (double)queue->file_bytes / (1 << 20), bench_format_rate(queue->rates[0], first),
            bench_format_rate(queue->rates[DUR_QUEUE_PARTS - 1], last));
}

static void print_bars(const DurReport *report, FILE *out)
{
    DurJudgement j;
    int known, first = 1;
    for (size_t i = 0; (known = dur_judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        if (first)
            fprintf(out, "\n%-34s %-28s %10s\n", "bar", BENCH_SUBJECT " must be", "is at");
        first = 0;
        fprintf(out, "%-34s %-28s %8.2f %-3s  %s\n", j.title, j.must, j.figure, j.unit,
                j.met ? "met" : "MISSED");
    }
}

void dur_report_text(const DurReport *report, FILE *out)
{
    fprintf(
        out, "durable commits: %llu rows of %d + %d bytes to begin with, %u ms each, best of %u\n",
        (unsigned long long)report->rows, BENCH_KEY_LEN, BENCH_VAL_LEN, report->ms, report->rounds);
    for (size_t e = 0; e < report->engine_count; e++)
        fprintf(out, "  %-10s %s\n", report->engines[e]->name, report->engines[e]->what);
    for (size_t w = 0; w < DUR_WORKLOADS; w++)
        print_workload(report, w, out);
    print_bytes(report, out);
    print_queue(&report->queue, out);
    print_bars(report, out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Names and titles are ours and hold nothing that would have to be escaped. */

static void json_workload(const DurReport *report, size_t w, FILE *out)
{
    const char *comma = "";
    fprintf(out, "    {\"name\": \"%s\", \"title\": \"%s\", \"tables\": %u, \"results\": [",
            dur_workloads[w].name, dur_workloads[w].title, dur_workloads[w].tables);
    for (size_t s = 0; s < DUR_MAX_STEPS; s++) {
        for (size_t e = 0; e < report->engine_count; e++) {
            const DurFigure *figure = &report->best[e][w][s];
            double rate = dur_rate(report, e, w, s), r = ratio(rate, reference_rate(report, w, s));
            if (rate <= 0)
                continue;
            fprintf(out,
                    "%s\n      {\"threads\": %u, \"engine\": \"%s\", \"commits_per_s\": %.1f, "
                    "\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f",
                    comma, dur_workloads[w].threads[s], report->engines[e]->name, rate,
                    (double)figure->p50_ns / 1e3, (double)figure->p99_ns / 1e3,
                    (double)figure->max_ns / 1e3);
            if (r > 0)
                fprintf(out, ", \"to_" BENCH_REFERENCE "\": %.4f", r);
            fputc('}', out);
            comma = ",";
        }
    }
    fprintf(out, "\n    ]}");
}

static void json_bytes(const DurReport *report, FILE *out)
{
    const char *comma = "";
    for (size_t e = 0; e < report->engine_count; e++) {
        double bytes = dur_bytes_per_commit(report, e), r = ratio(bytes, reference_bytes(report));
        if (bytes <= 0)
            continue;
        fprintf(out,
                "%s\n    {\"engine\": \"%s\", \"commits\": %llu, \"process_bytes\": %llu, "
                "\"disk_bytes\": %llu, \"bytes_per_commit\": %.1f",
                comma, report->engines[e]->name, (unsigned long long)report->bytes[e].commits,
                (unsigned long long)report->bytes[e].process_bytes,
                (unsigned long long)report->bytes[e].disk_bytes, bytes);
        if (r > 0)
            fprintf(out, ", \"to_" BENCH_REFERENCE "\": %.4f", r);
        fputc('}', out);
        comma = ",";
    }
}

static void json_queue(const DurQueue *queue, FILE *out)
{
    if (!queue->messages)
        return;
    fprintf(out,
            "  \"queue\": {\"messages\": %llu, \"live\": %d, \"file_bytes\": %llu, "
            "\"messages_per_s\": [",
            (unsigned long long)queue->messages, DUR_QUEUE_LIVE,
            (unsigned long long)queue->file_bytes);
    for (int i = 0; i < DUR_QUEUE_PARTS; i++)
        fprintf(out, "%s%.0f", i ? ", " : "", queue->rates[i]);
    fprintf(out, "]},\n");
}

static void json_bars(const DurReport *report, FILE *out)
{
    DurJudgement j;
    const char *comma = "";
    int known;
    for (size_t i = 0; (known = dur_judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        fprintf(out,
                "%s\n    {\"workload\": \"%s\", \"title\": \"%s\", \"bar\": \"%s\", "
                "\"figure\": %.4f, \"unit\": \"%s\", \"met\": %s}",
                comma, j.workload, j.title, j.must, j.figure, j.unit, j.met ? "true" : "false");
        comma = ",";
    }
}

void dur_report_json(const void *arg, FILE *out)
{
    const DurReport *report = arg;
    fprintf(out,
            "{\n  \"rows\": %llu,\n  \"rounds\": %u,\n  \"ms\": %u,\n  \"key_len\": %d,\n"
            "  \"val_len\": %d,\n  \"checkpoint_bytes\": %llu,\n  \"engines\": [",
            (unsigned long long)report->rows, report->rounds, report->ms, BENCH_KEY_LEN,
            BENCH_VAL_LEN, (unsigned long long)report->checkpoint_bytes);
    for (size_t e = 0; e < report->engine_count; e++)
        fprintf(out, "%s\n    {\"name\": \"%s\", \"what\": \"%s\"}", e ? "," : "",
                report->engines[e]->name, report->engines[e]->what);
    fprintf(out, "\n  ],\n  \"workloads\": [\n");
    for (size_t w = 0; w < DUR_WORKLOADS; w++) {
        json_workload(report, w, out);
        fprintf(out, "%s\n", w + 1 < DUR_WORKLOADS ? "," : "");
    }
    fprintf(out, "  ],\n  \"bytes\": [");
    json_bytes(report, out);
    fprintf(out, "\n  ],\n");
    json_queue(&report->queue, out);
    fprintf(out, "  \"bars\": [");
    json_bars(report, out);
    fprintf(out, "\n  ]\n}\n");
}
