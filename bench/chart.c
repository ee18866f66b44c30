/* chart.c - lines, bars and the page they are on. */
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 860,
    LEFT = 84,   /* the scale */
    PLOT = 590,  /* its width */
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

static int is_subject(const char *name)
{
    return strcmp(name, BENCH_SUBJECT) == 0;
}

typedef struct Scale {
    double low, high; /* powers of ten, as exponents */
} Scale;

/* 1 with *scale written, or 0: nothing was measured. */
static int scale_of(const BenchLines *lines, Scale *scale)
{
    double low = 0, high = 0;
    for (size_t e = 0; e < lines->engines; e++) {
        for (size_t s = 0; s < lines->columns; s++) {
            double rate = lines->rates[e][s];
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

static double x_of(const BenchLines *lines, size_t s)
{
    return LEFT + PLOT * ((double)s + 0.5) / (double)lines->columns;
}

static double y_of(const Scale *scale, double top, double rate)
{
    return top + PANEL * (scale->high - log10(rate)) / (scale->high - scale->low);
}

static void draw_grid(const BenchLines *lines, const Scale *scale, double top, FILE *out)
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
    for (size_t s = 0; s < lines->columns; s++)
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"#666\">%u "
                "%s%s</text>\n",
                x_of(lines, s), top + PANEL + 18, lines->at[s], lines->column,
                lines->at[s] == 1 ? "" : "s");
}

/* Answers the last step that was measured, or -1. */
static int draw_line(const BenchLines *lines, size_t e, const Scale *scale, double top, FILE *out)
{
    int last = -1;
    for (size_t s = 0; s < lines->columns; s++) {
        double rate = lines->rates[e][s];
        if (rate <= 0)
            continue;
        double x = x_of(lines, s), y = y_of(scale, top, rate);
        if (last >= 0)
            fprintf(out,
                    "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                    "stroke-width=\"%.1f\"/>\n",
                    x_of(lines, (size_t)last), y_of(scale, top, lines->rates[e][last]), x, y,
                    colour_of(e), is_subject(lines->names[e]) ? 3.5 : 2.0);
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

static void draw_labels(const BenchLines *lines, Label *labels, size_t count, FILE *out)
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
                LEFT + PLOT + 14, labels[i].y + 4, colour_of(e), lines->names[e],
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

double bench_draw_lines(const BenchLines *lines, double y, FILE *out)
{
    Scale scale;
    if (!scale_of(lines, &scale))
        return y;
    Label labels[BENCH_MAX_ENGINES];
    size_t count = 0;
    double top = y + TITLE;
    draw_title(y, lines->title, lines->unit, out);
    draw_grid(lines, &scale, top, out);
    for (size_t e = 0; e < lines->engines; e++) {
        int last = draw_line(lines, e, &scale, top, out);
        if (last < 0)
            continue;
        double rate = lines->rates[e][last];
        labels[count++] = (Label){.engine = e, .rate = rate, .y = y_of(&scale, top, rate)};
    }
    draw_labels(lines, labels, count, out);
    return top + PANEL + GAP;
}

double bench_draw_bars(const BenchBars *bars, double y, FILE *out)
{
    double most = 0;
    for (size_t e = 0; e < bars->engines; e++)
        most = fmax(most, bars->values[e]);
    if (most <= 0)
        return y;
    draw_title(y, bars->title, bars->unit, out);
    y += TITLE;
    for (size_t e = 0; e < bars->engines; e++) {
        char buf[32];
        double width = PLOT * bars->values[e] / most;
        if (bars->values[e] <= 0)
            continue;
        fprintf(out,
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n"
                "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n"
                "<text x=\"%.1f\" y=\"%.1f\" font-weight=\"bold\">%s</text>\n",
                LEFT - 8, y + 13, bars->names[e], LEFT, y, width, BAR, colour_of(e),
                LEFT + width + 8, y + 13, bars->format(bars->values[e], buf));
        y += ROW;
    }
    return y + 16;
}

/* The first line says how high the drawing is, which is known when it is drawn. */
void bench_draw_page(const char *heading, const char *below,
                     double (*draw)(const void *report, FILE *out), const void *report, FILE *out)
{
    char *drawing = NULL;
    size_t len;
    FILE *body = open_memstream(&drawing, &len);
    if (!body) {
        perror("bench: chart");
        return;
    }
    double height = draw(report, body);
    fclose(body);
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            WIDTH, height, WIDTH, height);
    fprintf(out, "<text x=\"16\" y=\"26\" font-size=\"17\" font-weight=\"bold\">%s</text>\n",
            heading);
    fprintf(out, "<text x=\"16\" y=\"46\" fill=\"#666\">%s</text>\n", below);
    fprintf(out, "%s</svg>\n", drawing);
    free(drawing);
}
