/* report.c - figures as a table, as JSON and as a chart. */
#include "report.h"

#include <string.h>

/* ---- Figures and ratios --------------------------------------------------------------------- */

static const size_t NO_ENGINE = (size_t)-1;

/* Operations per second; 0 where nothing was measured. */
static double rate_of(const BenchFigure *figure)
{
    return figure->ops && figure->seconds > 0 ? (double)figure->ops / figure->seconds : 0;
}

static double rate(const BenchReport *report, size_t engine, size_t workload)
{
    return engine == NO_ENGINE ? 0 : rate_of(&report->best[engine][workload]);
}

void bench_report_add(BenchReport *report, size_t engine, size_t workload,
                      const BenchFigure *figure)
{
    if (rate_of(figure) > rate(report, engine, workload))
        report->best[engine][workload] = *figure;
}

static size_t find_engine(const BenchReport *report, const char *name)
{
    for (size_t e = 0; e < report->engine_count; e++)
        if (strcmp(report->engines[e]->name, name) == 0)
            return e;
    return NO_ENGINE;
}

/* bench_workload_count where there is none. */
static size_t find_workload(const char *name)
{
    size_t w = 0;
    while (w < bench_workload_count && strcmp(bench_workloads[w].name, name) != 0)
        w++;
    return w;
}

/* The rate of another engine that the rates of workload w are compared with. */
static double peer_rate(const BenchReport *report, const char *engine, size_t w)
{
    const char *against = bench_workloads[w].against;
    return rate(report, find_engine(report, engine), against ? find_workload(against) : w);
}

/* Against the reference engine; 0 where either was not measured. */
static double ratio(const BenchReport *report, size_t engine, size_t workload)
{
    double reference = peer_rate(report, BENCH_REFERENCE, workload);
    return reference > 0 ? rate(report, engine, workload) / reference : 0;
}

/* ---- Bars ----------------------------------------------------------------------------------- */

typedef struct Bar {
    const char *workload;
    double factor;
    const char *peers[3]; /* the best of them counts */
    const char *text;
} Bar;

static const Bar bars[] = {
    {"random_insert", 1.0, {"lmdb-writemap"}, "at least LMDB with WRITEMAP"},
    {"random_insert", 2.0, {"lmdb"}, "at least 2 x plain LMDB"},
    {"random_get", 1.2, {"lmdb", "lmdb-writemap"}, "at least 1.2 x LMDB, the better mode"},
    {"scan", 1.0, {"lmdb", "lmdb-writemap"}, "at least LMDB, the better mode"},
    {"nested_abort", 1.0, {"lmdb"}, "at least LMDB"},
    {"sorted_load", 1.0, {"lmdb", "lmdb-writemap"}, "at least LMDB's append, the better mode"},
    {"count_range", 1000, {"sapling", "lmdb", "lmdb-writemap"}, "at least 1000 x the fastest scan"},
    {"del_range", 20, {"lmdb", "lmdb-writemap"}, "at least 20 x LMDB's cursor loop"},
};
enum { BAR_COUNT = sizeof bars / sizeof *bars };

typedef struct Judgement {
    size_t workload;
    double peer_rate; /* of the best peer */
    double ratio;     /* the subject's against that */
    int met;
} Judgement;

/* 1 with *out written, or 0: the subject or one of the peers was not measured. */
static int judge(const BenchReport *report, const char *subject, const Bar *bar, Judgement *out)
{
    size_t w = find_workload(bar->workload);
    if (w == bench_workload_count)
        return 0;
    double best = 0;
    for (size_t i = 0; i < sizeof bar->peers / sizeof *bar->peers && bar->peers[i]; i++) {
        double peer = peer_rate(report, bar->peers[i], w);
        if (peer <= 0)
            return 0;
        if (peer > best)
            best = peer;
    }
    double own = rate(report, find_engine(report, subject), w);
    if (own <= 0)
        return 0;
    out->workload = w;
    out->peer_rate = best;
    out->ratio = own / best;
    out->met = out->ratio >= bar->factor;
    return 1;
}

/* What the subject needs in workload w to meet all its bars, as a ratio to the reference. */
static double needed_ratio(const BenchReport *report, size_t w)
{
    double reference = peer_rate(report, BENCH_REFERENCE, w);
    double needed = 0;
    for (size_t i = 0; i < BAR_COUNT; i++) {
        Judgement j;
        if (!judge(report, BENCH_SUBJECT, &bars[i], &j) || j.workload != w || reference <= 0)
            continue;
        double r = bars[i].factor * j.peer_rate / reference;
        if (r > needed)
            needed = r;
    }
    return needed;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_workload(const BenchReport *report, size_t w, FILE *out)
{
    const char *title = bench_workloads[w].title;
    char buf[32];
    for (size_t e = 0; e < report->engine_count; e++) {
        double r = rate(report, e, w);
        fprintf(out, "%-44s %-14s ", title, report->engines[e]->name);
        if (r > 0)
            fprintf(out, "%9s %10.1f", bench_format_rate(r, buf), 1e9 / r);
        else
            fprintf(out, "%9s %10s", "-", "-");
        if (ratio(report, e, w) > 0)
            fprintf(out, " %8.2f x", ratio(report, e, w));
        fputc('\n', out);
        title = "";
    }
}

static void print_bars(const BenchReport *report, const char *subject, FILE *out)
{
    int first = 1;
    for (size_t i = 0; i < BAR_COUNT; i++) {
        Judgement j;
        if (!judge(report, subject, &bars[i], &j))
            continue;
        if (first)
            fprintf(out, "\n%-44s %-12s %-27s %9s\n", "bar", subject, "must reach", "is at");
        first = 0;
        fprintf(out, "%-44s %-40s %7.2f x  %s\n", bench_workloads[j.workload].title, bars[i].text,
                j.ratio, j.met ? "met" : "MISSED");
    }
}

void bench_report_text(const BenchReport *report, FILE *out)
{
    fprintf(out, "%llu rows of %d + %d bytes, best of %u\n", (unsigned long long)report->rows,
            BENCH_KEY_LEN, BENCH_VAL_LEN, report->rounds);
    for (size_t e = 0; e < report->engine_count; e++)
        fprintf(out, "  %-14s %s\n", report->engines[e]->name, report->engines[e]->what);
    fprintf(out, "\n%-44s %-14s %9s %10s", "workload", "engine", "ops/s", "ns/op");
    if (find_engine(report, BENCH_REFERENCE) != NO_ENGINE)
        fprintf(out, " %10s", "to " BENCH_REFERENCE);
    fputc('\n', out);
    for (size_t w = 0; w < bench_workload_count; w++)
        print_workload(report, w, out);
    print_bars(report, BENCH_SUBJECT, out);
    print_bars(report, BENCH_SUBJECT "-file", out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

/* Names and titles are ours and hold nothing that JSON or SVG would have to escape. */

static void json_workload(const BenchReport *report, size_t w, FILE *out)
{
    const BenchWorkload *load = &bench_workloads[w];
    fprintf(out, "    {\"name\": \"%s\", \"title\": \"%s\", \"op\": \"%s\", ", load->name,
            load->title, load->op);
    if (load->against)
        fprintf(out, "\"against\": \"%s\", ", load->against);
    fprintf(out, "\"results\": [");
    const char *comma = "";
    for (size_t e = 0; e < report->engine_count; e++) {
        double r = rate(report, e, w);
        if (r <= 0)
            continue;
        fprintf(out, "%s\n      {\"engine\": \"%s\", \"ops_per_s\": %.1f, \"ns_per_op\": %.2f",
                comma, report->engines[e]->name, r, 1e9 / r);
        if (ratio(report, e, w) > 0)
            fprintf(out, ", \"to_" BENCH_REFERENCE "\": %.4f", ratio(report, e, w));
        fputc('}', out);
        comma = ",";
    }
    fprintf(out, "\n    ]}");
}

static void json_bars(const BenchReport *report, FILE *out)
{
    const char *comma = "";
    for (size_t i = 0; i < BAR_COUNT; i++) {
        Judgement j;
        if (!judge(report, BENCH_SUBJECT, &bars[i], &j))
            continue;
        fprintf(out,
                "%s\n    {\"workload\": \"%s\", \"bar\": \"%s\", \"factor\": %.2f, "
                "\"ratio\": %.4f, \"met\": %s}",
                comma, bars[i].workload, bars[i].text, bars[i].factor, j.ratio,
                j.met ? "true" : "false");
        comma = ",";
    }
}

void bench_report_json(const BenchReport *report, FILE *out)
{
    fprintf(out,
            "{\n  \"rows\": %llu,\n  \"rounds\": %u,\n  \"key_len\": %d,\n  \"val_len\": %d,\n",
            (unsigned long long)report->rows, report->rounds, BENCH_KEY_LEN, BENCH_VAL_LEN);
    fprintf(out, "  \"engines\": [");
    for (size_t e = 0; e < report->engine_count; e++)
        fprintf(out, "%s\n    {\"name\": \"%s\", \"what\": \"%s\"}", e ? "," : "",
                report->engines[e]->name, report->engines[e]->what);
    fprintf(out, "\n  ],\n  \"workloads\": [\n");
    for (size_t w = 0; w < bench_workload_count; w++) {
        json_workload(report, w, out);
        fprintf(out, "%s\n", w + 1 < bench_workload_count ? "," : "");
    }
    fprintf(out, "  ],\n  \"bars\": [");
    json_bars(report, out);
    fprintf(out, "\n  ]\n}\n");
}

/* ---- SVG ------------------------------------------------------------------------------------ */

/* One group of horizontal bars per workload, one bar per engine, all on one linear scale of
 * ratios. A line marks the reference, a tick on the subject's bar what it must reach. Bars that
 * leave the scale are cut, with a gap to show it; a tick that does is given in words. */
enum {
    SVG_WIDTH = 860,
    SVG_LEFT = 130, /* engine names */
    SVG_PLOT = 540, /* the longest bar */
    SVG_TOP = 64,   /* heading */
    SVG_BAR = 18,   /* bar height */
    SVG_ROW = 23,   /* from bar to bar */
    SVG_TITLE = 26, /* a group's title above its bars */
    SVG_GROUP_GAP = 14,
    SVG_BOTTOM = 44,
    SVG_MAX_RATIO = 4 /* the longest scale */
};

static size_t measured_engines(const BenchReport *report, size_t w)
{
    size_t n = 0;
    for (size_t e = 0; e < report->engine_count; e++)
        n += ratio(report, e, w) > 0;
    return n;
}

/* The end of the scale: a round number of steps that holds every bar and tick that can be held. */
static double svg_scale(const BenchReport *report, double *step_out)
{
    double max = 1;
    for (size_t w = 0; w < bench_workload_count; w++) {
        if (needed_ratio(report, w) > max)
            max = needed_ratio(report, w);
        for (size_t e = 0; e < report->engine_count; e++)
            if (ratio(report, e, w) > max)
                max = ratio(report, e, w);
    }
    if (max > SVG_MAX_RATIO)
        max = SVG_MAX_RATIO;
    double step = 0.5, end = step;
    while (end < max)
        end += step;
    *step_out = step;
    return end;
}

static void svg_group_title(const BenchReport *report, size_t w, double y, double end, FILE *out)
{
    fprintf(out,
            "<text x=\"%d\" y=\"%.0f\" font-size=\"14\" font-weight=\"bold\" " BENCH_SVG_HALO ">%s "
            "<tspan font-weight=\"normal\" fill=\"#666\">(%s per second)</tspan>",
            SVG_LEFT, y + 16, bench_workloads[w].title, bench_workloads[w].op);
    if (needed_ratio(report, w) > end)
        fprintf(out, " <tspan font-weight=\"normal\" fill=\"#d32f2f\">must reach %.1f x</tspan>",
                needed_ratio(report, w));
    fprintf(out, "</text>\n");
}

/* A gap across a bar that is `width` long. */
static void svg_cut(double y, double width, FILE *out)
{
    double x = SVG_LEFT + width - 24;
    fprintf(out,
            "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" stroke=\"#fff\" "
            "stroke-width=\"5\"/>\n",
            x, y + SVG_BAR + 2, x + 10, y - 2);
}

/* Draws the group with its top at y and answers where the next begins. `end` is of the scale. */
static double svg_group(const BenchReport *report, size_t w, double y, double end, FILE *out)
{
    double per_ratio = SVG_PLOT / end, needed = needed_ratio(report, w);
    svg_group_title(report, w, y, end, out);
    y += SVG_TITLE;
    char buf[32];
    for (size_t e = 0; e < report->engine_count; e++) {
        double r = ratio(report, e, w);
        if (r <= 0)
            continue;
        const char *name = report->engines[e]->name;
        int subject = strcmp(name, BENCH_SUBJECT) == 0;
        double shown = r < end ? r : end, label = shown;
        fprintf(out, "<text x=\"%d\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n", SVG_LEFT - 8,
                y + 13, name);
        fprintf(out, "<rect x=\"%d\" y=\"%.0f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n",
                SVG_LEFT, y, shown * per_ratio, SVG_BAR, bench_colours[e]);
        if (r > end)
            svg_cut(y, shown * per_ratio, out);
        if (subject && needed > 0 && needed <= end) {
            double x = SVG_LEFT + needed * per_ratio;
            fprintf(out,
                    "<line x1=\"%.1f\" y1=\"%.0f\" x2=\"%.1f\" y2=\"%.0f\" stroke=\"#d32f2f\" "
                    "stroke-width=\"3\"/>\n",
                    x, y - 3, x, y + SVG_BAR + 3);
            if (needed > label)
                label = needed;
        }
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.0f\" " BENCH_SVG_HALO
                "><tspan font-weight=\"bold\">%.2f x</tspan> "
                "<tspan fill=\"#666\">%s/s</tspan></text>\n",
                SVG_LEFT + label * per_ratio + 8, y + 13, r,
                bench_format_rate(rate(report, e, w), buf));
        y += SVG_ROW;
    }
    return y + SVG_GROUP_GAP;
}

static void svg_axis(double end, double step, double bottom, FILE *out)
{
    double per_ratio = SVG_PLOT / end;
    for (double v = 0; v <= end + step / 2; v += step) {
        double x = SVG_LEFT + v * per_ratio;
        int reference = v > 0.99 && v < 1.01;
        fprintf(out, "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%.0f\" stroke=\"%s\"/>\n", x,
                SVG_TOP, x, bottom, reference ? "#333" : "#e4e4e4");
        fprintf(out,
                "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\" fill=\"#666\">%g x</text>\n", x,
                bottom + 16, v);
    }
}

void bench_report_svg(const BenchReport *report, FILE *out)
{
    double step, end = svg_scale(report, &step);
    double bottom = SVG_TOP;
    for (size_t w = 0; w < bench_workload_count; w++)
        if (measured_engines(report, w))
            bottom += SVG_TITLE + SVG_GROUP_GAP + (double)(SVG_ROW * measured_engines(report, w));
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" "
            "viewBox=\"0 0 %d %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
            SVG_WIDTH, bottom + SVG_BOTTOM, SVG_WIDTH, bottom + SVG_BOTTOM);
    fprintf(out, "<text x=\"16\" y=\"26\" font-size=\"17\" font-weight=\"bold\">Speed as a ratio "
                 "to " BENCH_REFERENCE " (longer is faster)</text>\n");
    fprintf(out,
            "<text x=\"16\" y=\"46\" fill=\"#666\">%llu rows of %d + %d bytes, engines in turn, "
            "best of %u; red: what " BENCH_SUBJECT " must reach</text>\n",
            (unsigned long long)report->rows, BENCH_KEY_LEN, BENCH_VAL_LEN, report->rounds);
    svg_axis(end, step, bottom, out);
    double y = SVG_TOP;
    for (size_t w = 0; w < bench_workload_count; w++)
        if (measured_engines(report, w))
            y = svg_group(report, w, y, end, out);
    fprintf(out, "</svg>\n");
}
