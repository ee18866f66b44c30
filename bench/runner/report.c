/* report.c - figures as tables, as JSON and as a chart. */
#include "report.h"

#include "bars.h"
#include "chart.h"

_Static_assert((int)RUN_MAX_STEPS <= (int)BENCH_MAX_STEPS, "a panel has as many columns");

#define REFERENCE "bare" /* whose figure is 1.00 */

/* To the reference's; 0 where one of them was not measured. */
static double ratio(const RunReport *report, size_t p, size_t w, size_t s)
{
    size_t reference = run_find_peer(report, REFERENCE);
    double rate = reference < BENCH_MAX_ENGINES ? run_rate(report, reference, w, s) : 0;
    return rate > 0 ? run_rate(report, p, w, s) / rate : 0;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_step(const RunReport *report, size_t w, size_t s, FILE *out)
{
    char buf[32];
    for (size_t p = 0; p < report->peer_count; p++) {
        const RunFigure *figure = &report->best[p][w][s];
        double rate = run_rate(report, p, w, s), r = ratio(report, p, w, s);
        if (rate <= 0)
            continue;
        fprintf(out, "%9u  %-10s %10s %10.0f %10.0f %10.0f", run_workloads[w].threads[s],
                report->peers[p]->name, bench_format_rate(rate, buf), (double)figure->p50_ns / 1e3,
                (double)figure->p99_ns / 1e3, (double)figure->max_ns / 1e3);
        if (r > 0)
            fprintf(out, " %8.2f x", r);
        fputc('\n', out);
    }
}

static int measured(const RunReport *report, size_t w, size_t s)
{
    for (size_t p = 0; p < report->peer_count; p++)
        if (run_rate(report, p, w, s) > 0)
            return 1;
    return 0;
}

static void print_workload(const RunReport *report, size_t w, FILE *out)
{
    int first = 1;
    for (size_t s = 0; s < RUN_MAX_STEPS; s++) {
        if (!measured(report, w, s))
            continue;
        if (first)
            fprintf(out, "\n%s: %s\n%8ss  %-10s %10s %10s %10s %10s %10s\n", run_workloads[w].name,
                    run_workloads[w].title, run_workloads[w].thread, "peer", "messages/s", "p50 us",
                    "p99 us", "max us", "to " REFERENCE);
        first = 0;
        print_step(report, w, s, out);
    }
}

static void print_start(const RunOwn *own, FILE *out)
{
    for (size_t h = 0; h < RUN_HANDLERS; h++) {
        const OwnStart *start = &own->start[h];
        if (start->messages)
            fprintf(
                out,
                "\nstart: from the call of send to the start of the handler (%s) of an idle worker\n"
                "         %llu messages: p50 %.0f us, p95 %.0f us, max %.0f us; send alone p50 %.0f "
                "us\n",
                run_handlers[h], (unsigned long long)start->messages, (double)start->p50_ns / 1e3,
                (double)start->p95_ns / 1e3, (double)start->max_ns / 1e3,
                (double)start->send_p50_ns / 1e3);
    }
    if (own->idle.seconds > 0)
        fprintf(out,
                "\nidle: CPU time of a process whose worker has nothing to do\n"
                "         %.3f ms in %.1f s\n",
                own->idle.cpu_seconds * 1e3, own->idle.seconds);
}

static void print_timers(const OwnTimers *timers, FILE *out)
{
    if (!timers->armed[0])
        return;
    fprintf(out, "\ntimers: dispatch of one that is due, in memory, while others are armed\n");
    for (int i = 0; i < OWN_TIMER_SIZES; i++)
        fprintf(out, "         %8llu armed: %.0f ns\n", (unsigned long long)timers->armed[i],
                timers->ns[i]);
}

static void print_memory(const OwnMemory *memories, FILE *out)
{
    for (size_t i = 0; i < RUN_PLACES; i++) {
        const OwnMemory *memory = &memories[i];
        double n = (double)memory->messages;
        if (!memory->messages)
            continue;
        fprintf(out,
                "\nmemory: %llu queued messages of %d bytes in %s: pages in use with them less "
                "those without\n         a message: %.1f bytes of pages, %.1f of them its frame, "
                "%.1f beyond it",
                (unsigned long long)memory->messages, RUN_PAYLOAD, run_places[i],
                (double)memory->page_bytes / n, (double)memory->frame_bytes / n,
                run_overhead(memory));
        if (memory->process_bytes)
            fprintf(out, "; the process grew by %.1f", (double)memory->process_bytes / n);
        fputc('\n', out);
    }
}

static void print_bars(const RunReport *report, FILE *out)
{
    RunJudgement j;
    int known, first = 1;
    for (size_t i = 0; (known = run_judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        if (first)
            fprintf(out, "\n%-34s %-32s %10s\n", "bar", BENCH_SUBJECT " must be", "is at");
        first = 0;
        fprintf(out, "%-34s %-32s %8.2f %-5s  %s\n", j.title, j.must, j.figure, j.unit,
                j.met ? "met" : "MISSED");
    }
}

void run_report_text(const RunReport *report, FILE *out)
{
    fprintf(out, "messages of %d bytes, all on disk: %u ms each, best of %u\n", RUN_PAYLOAD,
            report->ms, report->rounds);
    for (size_t p = 0; p < report->peer_count; p++)
        fprintf(out, "  %-10s %s\n", report->peers[p]->name, report->peers[p]->what);
    for (size_t w = 0; w < RUN_WORKLOADS; w++)
        print_workload(report, w, out);
    print_start(&report->own, out);
    print_timers(&report->own.timers, out);
    print_memory(report->own.memory, out);
    print_bars(report, out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Names and titles are ours and hold nothing that would have to be escaped. */

static void json_workload(const RunReport *report, size_t w, FILE *out)
{
    const char *comma = "";
    fprintf(out, "    {\"name\": \"%s\", \"title\": \"%s\", \"batch\": %u, \"results\": [",
            run_workloads[w].name, run_workloads[w].title, run_workloads[w].batch);
    for (size_t s = 0; s < RUN_MAX_STEPS; s++) {
        for (size_t p = 0; p < report->peer_count; p++) {
            const RunFigure *figure = &report->best[p][w][s];
            double rate = run_rate(report, p, w, s), r = ratio(report, p, w, s);
            if (rate <= 0)
                continue;
            fprintf(out,
                    "%s\n      {\"%ss\": %u, \"peer\": \"%s\", \"messages_per_s\": %.1f, "
                    "\"p50_us\": %.1f, \"p99_us\": %.1f, \"max_us\": %.1f",
                    comma, run_workloads[w].thread, run_workloads[w].threads[s],
                    report->peers[p]->name, rate, (double)figure->p50_ns / 1e3,
                    (double)figure->p99_ns / 1e3, (double)figure->max_ns / 1e3);
            if (r > 0)
                fprintf(out, ", \"to_" REFERENCE "\": %.4f", r);
            fputc('}', out);
            comma = ",";
        }
    }
    fprintf(out, "\n    ]}");
}

static void json_own(const RunOwn *own, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"start\": [");
    for (size_t h = 0; h < RUN_HANDLERS; h++) {
        const OwnStart *start = &own->start[h];
        if (!start->messages)
            continue;
        fprintf(out,
                "%s\n    {\"handler\": \"%s\", \"messages\": %llu, \"p50_us\": %.1f, "
                "\"p95_us\": %.1f, \"max_us\": %.1f, \"send_p50_us\": %.1f}",
                comma, run_handlers[h], (unsigned long long)start->messages,
                (double)start->p50_ns / 1e3, (double)start->p95_ns / 1e3,
                (double)start->max_ns / 1e3, (double)start->send_p50_ns / 1e3);
        comma = ",";
    }
    fprintf(out, "\n  ],\n");
    if (own->idle.seconds > 0)
        fprintf(out, "  \"idle\": {\"seconds\": %.3f, \"cpu_ms\": %.3f},\n", own->idle.seconds,
                own->idle.cpu_seconds * 1e3);
    fprintf(out, "  \"timers\": [");
    for (int i = 0; i < OWN_TIMER_SIZES && own->timers.armed[0]; i++)
        fprintf(out, "%s\n    {\"armed\": %llu, \"dispatch_ns\": %.1f}", i ? "," : "",
                (unsigned long long)own->timers.armed[i], own->timers.ns[i]);
    fprintf(out, "\n  ],\n  \"memory\": [");
    comma = "";
    for (size_t i = 0; i < RUN_PLACES; i++) {
        const OwnMemory *memory = &own->memory[i];
        if (!memory->messages)
            continue;
        fprintf(out,
                "%s\n    {\"in\": \"%s\", \"messages\": %llu, \"page_bytes\": %llu, "
                "\"frame_bytes\": %llu, \"process_bytes\": %llu}",
                comma, run_places[i], (unsigned long long)memory->messages,
                (unsigned long long)memory->page_bytes, (unsigned long long)memory->frame_bytes,
                (unsigned long long)memory->process_bytes);
        comma = ",";
    }
    fprintf(out, "\n  ],\n");
}

static void json_bars(const RunReport *report, FILE *out)
{
    RunJudgement j;
    const char *comma = "";
    int known;
    for (size_t i = 0; (known = run_judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        fprintf(out,
                "%s\n    {\"workload\": \"%s\", \"title\": \"%s\", \"bar\": \"%s\", "
                "\"figure\": %.4f, \"unit\": \"%s\", \"met\": %s}",
                comma, j.workload, j.title, j.must, j.figure, j.unit, j.met ? "true" : "false");
        comma = ",";
    }
}

void run_report_json(const void *arg, FILE *out)
{
    const RunReport *report = arg;
    fprintf(out, "{\n  \"rounds\": %u,\n  \"ms\": %u,\n  \"payload_len\": %d,\n  \"peers\": [",
            report->rounds, report->ms, RUN_PAYLOAD);
    for (size_t p = 0; p < report->peer_count; p++)
        fprintf(out, "%s\n    {\"name\": \"%s\", \"what\": \"%s\"}", p ? "," : "",
                report->peers[p]->name, report->peers[p]->what);
    fprintf(out, "\n  ],\n  \"workloads\": [\n");
    for (size_t w = 0; w < RUN_WORKLOADS; w++) {
        json_workload(report, w, out);
        fprintf(out, "%s\n", w + 1 < RUN_WORKLOADS ? "," : "");
    }
    fprintf(out, "  ],\n");
    json_own(&report->own, out);
    fprintf(out, "  \"bars\": [");
    json_bars(report, out);
    fprintf(out, "\n  ]\n}\n");
}

/* ---- Chart ---------------------------------------------------------------------------------- */

static double draw_steps(const RunReport *report, size_t w, double y, FILE *out)
{
    BenchLines lines = {.title = run_workloads[w].title,
                        .unit = "messages per second, logarithmic",
                        .column = run_workloads[w].thread,
                        .engines = report->peer_count};
    for (size_t s = 0; s < RUN_MAX_STEPS && run_workloads[w].threads[s]; s++) {
        lines.at[lines.columns++] = run_workloads[w].threads[s];
        for (size_t p = 0; p < report->peer_count; p++)
            lines.rates[p][s] = run_rate(report, p, w, s);
    }
    for (size_t p = 0; p < report->peer_count; p++)
        lines.names[p] = report->peers[p]->name;
    return bench_draw_lines(&lines, y, out);
}

static double draw_single(const RunReport *report, size_t w, double y, FILE *out)
{
    BenchBars bars = {.title = run_workloads[w].title,
                      .unit = "messages per second, 1 client",
                      .engines = report->peer_count,
                      .format = bench_format_rate};
    for (size_t p = 0; p < report->peer_count; p++) {
        bars.names[p] = report->peers[p]->name;
        bars.values[p] = run_rate(report, p, w, 0);
    }
    return bench_draw_bars(&bars, y, out);
}

static double draw_all(const void *arg, FILE *out)
{
    const RunReport *report = arg;
    double y = BENCH_CHART_TOP;
    for (size_t w = 0; w < RUN_WORKLOADS; w++)
        y = run_workloads[w].threads[1] ? draw_steps(report, w, y, out)
                                        : draw_single(report, w, y, out);
    return y;
}

void run_report_svg(const void *arg, FILE *out)
{
    const RunReport *report = arg;
    char below[128];
    snprintf(below, sizeof below, "%d-byte messages, all on disk, peers in turn, best of %u",
             RUN_PAYLOAD, report->rounds);
    bench_draw_page("Messages", below, draw_all, report, out);
}
