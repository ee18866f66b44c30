/* chart.h - rates over a growing number of threads as lines, and figures as bars, on a page.
 *
 * A panel of lines has a column for each number of threads and a logarithmic scale, so that equal
 * ratios are equal distances. The name and the last rate of each engine stand beside the end of its
 * line, moved apart where lines end close to each other. */
#ifndef BENCH_CHART_H
#define BENCH_CHART_H

#include "util.h"

enum { BENCH_MAX_STEPS = 5, BENCH_CHART_TOP = 64 /* where the first panel begins */ };

typedef struct BenchLines {
    const char *title;
    const char *unit;
    const char *column; /* what there are several of in a column: "thread" */
    size_t columns;
    uint32_t at[BENCH_MAX_STEPS]; /* how many */
    size_t engines;
    const char *names[BENCH_MAX_ENGINES];
    double rates[BENCH_MAX_ENGINES][BENCH_MAX_STEPS]; /* 0: not measured */
} BenchLines;

typedef struct BenchBars {
    const char *title;
    const char *unit;
    size_t engines;
    const char *names[BENCH_MAX_ENGINES];
    double values[BENCH_MAX_ENGINES]; /* 0: not measured */
    const char *(*format)(double value, char buf[32]);
} BenchBars;

/* Draw a panel with its top at y, or nothing if nothing was measured, and answer where the next
 * begins. */
double bench_draw_lines(const BenchLines *lines, double y, FILE *out);
double bench_draw_bars(const BenchBars *bars, double y, FILE *out);

/* A whole file. `draw` draws the panels and answers where the last ends. */
void bench_draw_page(const char *heading, const char *below,
                     double (*draw)(const void *report, FILE *out), const void *report, FILE *out);

#endif
