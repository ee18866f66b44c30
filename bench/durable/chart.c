/* chart.c - rates over threads as lines, bytes as bars. */
#include "chart.h"

#include "bars.h"

_Static_assert((int)DUR_MAX_STEPS <= (int)BENCH_MAX_STEPS, "a panel has as many columns");

static BenchLines lines_of(const DurReport *report, size_t w)
{
    BenchLines lines = {.title = dur_workloads[w].title,
                        .unit = "durable commits per second, logarithmic",
                        .column = "thread",
                        .engines = report->engine_count};
    for (size_t s = 0; s < DUR_MAX_STEPS && dur_workloads[w].threads[s]; s++) {
        lines.at[lines.columns++] = dur_workloads[w].threads[s];
        for (size_t e = 0; e < report->engine_count; e++)
            lines.rates[e][s] = dur_rate(report, e, w, s);
    }
    for (size_t e = 0; e < report->engine_count; e++)
        lines.names[e] = report->engines[e]->name;
    return lines;
}

static const char *format_kb(double bytes, char buf[32])
{
    snprintf(buf, 32, "%.1f KB", bytes / 1e3);
    return buf;
}

static BenchBars bytes_of(const DurReport *report)
{
    BenchBars bars = {.title = "written to disk for a commit into 5 tables",
                      .unit = "KB, 1 thread, shorter is better",
                      .engines = report->engine_count,
                      .format = format_kb};
    for (size_t e = 0; e < report->engine_count; e++) {
        bars.names[e] = report->engines[e]->name;
        bars.values[e] = dur_bytes_per_commit(report, e);
    }
    return bars;
}

static double draw_all(const void *arg, FILE *out)
{
    const DurReport *report = arg;
    double y = BENCH_CHART_TOP;
    for (size_t w = 0; w < DUR_WORKLOADS; w++) {
        BenchLines lines = lines_of(report, w);
        y = bench_draw_lines(&lines, y, out);
    }
    BenchBars bars = bytes_of(report);
    return bench_draw_bars(&bars, y, out);
}

void dur_report_svg(const void *arg, FILE *out)
{
    const DurReport *report = arg;
    char below[128];
    snprintf(below, sizeof below,
             "%llu rows of %d + %d bytes to begin with, engines in turn, best of %u",
             (unsigned long long)report->rows, BENCH_KEY_LEN, BENCH_VAL_LEN, report->rounds);
    bench_draw_page("Durable commits", below, draw_all, report, out);
}
