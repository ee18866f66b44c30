/* chart.c - rates over threads as lines, bytes as bars.
 *
 * One panel per workload: a column for each number of threads, a logarithmic scale of rates, so
 * that equal ratios are equal distances. The name and the last rate of each engine stand beside
 * the end of its line, moved apart where lines end close to each other. */
#include "bars.h"

#include <math.h>
#include <stdlib.h>

enum {
    WIDTH = 860,
    LEFT = 84,   /* the scale */
    PLOT = 590,  /* its width */
    TOP = 64,    /* heading */
    TITLE = 30,  /* above a panel */
    PANEL = 300, /* the height of a plot */
    GAP = 58,    /* below it: threads */
    LABEL = 16,  /* the least between two labels */
    ROW = 23,    /* from bar to bar */
    BAR = 18
};

/* The third colour is a paler second, for another mode of the same engine: there is none here. */
static const char *colour_of(size_t engine)
{
    return bench_colours[(engine < 2 ? engine : engine + 1) % BENCH_MAX_ENGINES];
}

typedef struct Scale {
    double low, high; /* powers of ten, as exponents */
} Scale;

static size_t step_count(size_t w)
{
    size_t n = 0;
    while (n < DUR_MAX_STEPS && dur_workloads[w].threads[n])
        n++;
    return n;
}

/* 1 with *scale written, or 0: nothing was measured. */
static int scale_of(const DurReport *report, size_t w, Scale *scale)
{
    double low = 0, high = 0;
    for (size_t e = 0; e < report->engine_count; e++) {
        for (size_t s = 0; s < step_count(w); s++) {
            double rate = dur_rate(report, e, w, s);
            if (rate <= 0)
                continue;
            low = low > 0 && low < rate ? low : rate;
            high = high > rate ? high : rate;
        }
    }
    if (high <= 0)
        return 0;
    scale->low = floor(log10(low));
    scale->high = ceil(log10(high));
    if (scale->high <= scale->low)
        scale->high = scale->low + 1;
    return 1;
}

static double x_of(size_t w, size_t s)
{
    return LEFT + PLOT * ((double)s + 0.5) / (double)step_count(w);
}

static double y_of(const Scale *scale, double top, double rate)
{
    return top + PANEL * (scale->high - log10(rate)) / (scale->high - scale->low);
}

static void draw_grid(size_t w, const Scale *scale, double top, FILE *out)
{
    for (double exponent = scale->low; exponent < scale->high + 0.5; exponent++) {
        for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
            double rate = pow(10, exponent) * digit, y = y_of(scale, top, rate);
            char buf[32];
            if (y < top - 0.5)
                continue;
            fprintf(out,
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"%s\"/>\n"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\" fill=\"#666\">%s</text>\n",
                    LEFT, y, LEFT + PLOT, y, digit == 1 ? "#bbb" : "#e8e8e8", LEFT - 8, y + 4,
                    bench_format_rate(rate, buf));
        }
    }
    for (size_t s = 0; s < step_count(w); s++)
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%u "
                "thread%s</text>\n",
                x_of(w, s), top + PANEL + 18, dur_workloads[w].threads[s],
                dur_workloads[w].threads[s] == 1 ? "" : "s");
}

/* Answers the last step that was measured, or -1. */
static int draw_line(const DurReport *report, size_t e, size_t w, const Scale *scale, double top,
                     FILE *out)
{
    int last = -1;
    for (size_t s = 0; s < step_count(w); s++) {
        double rate = dur_rate(report, e, w, s);
        if (rate <= 0)
            continue;
        double x = x_of(w, s), y = y_of(scale, top, rate);
        if (last >= 0)
            fprintf(out,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                    "stroke-width=\"%.1f\"/>\n",
                    x_of(w, (size_t)last), y_of(scale, top, dur_rate(report, e, w, (size_t)last)),
                    x, y, colour_of(e), e == dur_find_engine(report, BENCH_SUBJECT) ? 3.5 : 2.0);
        fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"%s\"/>\n", x, y, colour_of(e));
        last = (int)s;
    }
    return last;
}

typedef struct Label {
    size_t engine;
    double rate, y;
} Label;

/* From the highest to the lowest. */
static void sort_labels(Label *labels, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        Label label = labels[i];
        size_t at = i;
        for (; at > 0 && labels[at - 1].y > label.y; at--)
            labels[at] = labels[at - 1];
        labels[at] = label;
    }
}

static void draw_labels(const DurReport *report, Label *labels, size_t count, FILE *out)
{
    sort_labels(labels, count);
    for (size_t i = 0; i < count; i++) {
        char buf[32];
        size_t e = labels[i].engine;
        if (i > 0 && labels[i].y < labels[i - 1].y + LABEL)
            labels[i].y = labels[i - 1].y + LABEL;
        fprintf(out,
                "<text x=\"%d\" y=\"%.1f\" fill=\"%s\"><tspan font-weight=\"bold\">%s</tspan> "
                "<tspan fill=\"#666\">%s/s</tspan></text>\n",
                LEFT + PLOT + 14, labels[i].y + 4, colour_of(e), report->engines[e]->name,
                bench_format_rate(labels[i].rate, buf));
    }
}

static void draw_title(double y, const char *title, const char *unit, FILE *out)
{
    fprintf(out,
            "<text x=\"16\" y=\"%.1f\" font-size=\"14\" font-weight=\"bold\">%s <tspan "
            "font-weight=\"normal\" fill=\"#666\">(%s)</tspan></text>\n",
            y + 14, title, unit);
}

/* Draws the panel with its top at y, or nothing, and answers where the next begins. */
static double draw_panel(const DurReport *report, size_t w, double y, FILE *out)
{
    Scale scale;
    if (!scale_of(report, w, &scale))
        return y;
    Label labels[BENCH_MAX_ENGINES];
    size_t count = 0;
    double top = y + TITLE;
    draw_title(y, dur_workloads[w].title, "durable commits per second, logarithmic", out);
    draw_grid(w, &scale, top, out);
    for (size_t e = 0; e < report->engine_count; e++) {
        int last = draw_line(report, e, w, &scale, top, out);
        if (last < 0)
            continue;
        double rate = dur_rate(report, e, w, (size_t)last);
        labels[count++] = (Label){.engine = e, .rate = rate, .y = y_of(&scale, top, rate)};
    }
    draw_labels(report, labels, count, out);
    return top + PANEL + GAP;
}

static double draw_bytes(const DurReport *report, double y, FILE *out)
{
    double most = 0;
    for (size_t e = 0; e < report->engine_count; e++)
        most = fmax(most, dur_bytes_per_commit(report, e));
    if (most <= 0)
        return y;
    draw_title(y, "written to disk for a commit into 5 tables", "KB, 1 thread, shorter is better",
               out);
    y += TITLE;
    for (size_t e = 0; e < report->engine_count; e++) {
        double bytes = dur_bytes_per_commit(report, e), width = PLOT * bytes / most;
        if (bytes <= 0)
            continue;
        fprintf(out,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n"
                "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">%.1f KB</text>\n",
                LEFT - 8, y + 13, report->engines[e]->name, LEFT, y, width, BAR, colour_of(e),
                LEFT + width + 8, y + 13, bytes / 1e3);
        y += ROW;
    }
    return y + 16;
}

static double draw_all(const DurReport *report, FILE *out)
{
    double y = TOP;
    for (size_t w = 0; w < DUR_WORKLOADS; w++)
        y = draw_panel(report, w, y, out);
    return draw_bytes(report, y, out);
}

/* The first line says how high the drawing is, which is known when it is drawn. */
void dur_report_svg(const DurReport *report, FILE *out)
{
    char *drawing = NULL;
    size_t len;
    FILE *body = open_memstream(&drawing, &len);
    if (!body) {
        perror("bench: chart");
        return;
    }
    double height = draw_all(report, body);
    fclose(body);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height);
    fprintf(out, "<text x=\"16\" y=\"26\" font-size=\"17\" font-weight=\"bold\">Durable commits"
                 "</text>\n");
    fprintf(out,
            "<text x=\"16\" y=\"46\" fill=\"#666\">%llu rows of %d + %d bytes to begin with, "
            "engines in turn, best of %u</text>\n",
            (unsigned long long)report->rows, BENCH_KEY_LEN, BENCH_VAL_LEN, report->rounds);
    fprintf(out, "%s</svg>\n", drawing);
    free(drawing);
}
