/* report.c - figures as tables and as JSON, and what is asked of them. */
#include "report.h"

const uint32_t store_threads[STORE_STEPS] = {1, 8};
const uint32_t store_pg_threads[STORE_PG_STEPS] = {1, 8, 16, 32};
const uint32_t store_claim_limits[STORE_CLAIM_SIZES] = {1, 16};
const StoreWakeCase store_wake_cases[STORE_WAKES] = {
    {"newest", 0, 0},
    {"durable", 1, 0},
    {"newest", 0, 100},
    {"durable", 1, 100},
};

/* ---- Bars ----------------------------------------------------------------------------------- */

typedef struct Judgement {
    char title[64];
    char must[64];
    double figure;
    const char *unit;
    int met;
} Judgement;

enum { PG_BAR_STEP = 2 }; /* 16 connections */

static int judge_guarded(const StoreReport *report, Judgement *out)
{
    double guarded = report->guarded[PG_BAR_STEP].per_s;
    double serial = report->serializable[PG_BAR_STEP].per_s;
    snprintf(out->title, sizeof out->title, "guarded commits, 16 connections");
    snprintf(out->must, sizeof out->must, "3000/s, or 10 x SERIALIZABLE");
    out->figure = guarded;
    out->unit = "/s";
    out->met = guarded >= 3000 || (serial > 0 && guarded >= 10 * serial);
    return guarded > 0;
}

/* Bar number i: 1 with *out written; 0: it was not measured; -1: there is none. */
static int judge(const StoreReport *report, size_t i, Judgement *out)
{
    if (i < STORE_STEPS) {
        const StoreCommits *commits = &report->durable[i];
        snprintf(out->title, sizeof out->title, "commit of 5 rows, %u thread%s", store_threads[i],
                 store_threads[i] == 1 ? "" : "s");
        snprintf(out->must, sizeof out->must, "at most 1.15 x the engine's");
        out->figure = commits->cost;
        out->unit = "x";
        out->met = commits->cost <= 1.15;
        return commits->rounds != 0;
    }
    i -= STORE_STEPS;
    if (i == STORE_WAKES)
        return judge_guarded(report, out);
    if (i > STORE_WAKES)
        return -1;
    const StoreWake *wake = &report->wakes[i];
    snprintf(out->title, sizeof out->title, "wake-up, %s, %u others, p95", store_wake_cases[i].name,
             store_wake_cases[i].others);
    snprintf(out->must, sizeof out->must, "below 1 ms");
    out->figure = (double)wake->p95_ns / 1e6;
    out->unit = "ms";
    out->met = out->figure < 1;
    return wake->samples != 0;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_commits(const char *title, const StoreCommits *commits, FILE *out)
{
    char store[32], engine[32];
    for (size_t s = 0; s < STORE_STEPS; s++) {
        if (!commits[s].rounds)
            continue;
        if (s == 0)
            fprintf(out, "\n%s\n%7s %12s %12s %10s\n", title, "threads", "store /s", "engine /s",
                    "cost");
        fprintf(out, "%7u %12s %12s %8.2f x\n", store_threads[s],
                bench_format_rate(commits[s].store_per_s, store),
                bench_format_rate(commits[s].engine_per_s, engine), commits[s].cost);
    }
}

static void print_claims(const StoreReport *report, FILE *out)
{
    char rows[32], claims[32];
    int first = 1;
    for (size_t s = 0; s < STORE_STEPS; s++) {
        for (size_t l = 0; l < STORE_CLAIM_SIZES; l++) {
            const StoreClaims *figure = &report->claims[s][l];
            if (figure->rows_per_s <= 0)
                continue;
            if (first)
                fprintf(out, "\nclaims, each durable\n%7s %12s %12s %12s\n", "threads", "rows each",
                        "claims/s", "rows/s");
            first = 0;
            fprintf(out, "%7u %12u %12s %12s\n", store_threads[s], store_claim_limits[l],
                    bench_format_rate(figure->claims_per_s, claims),
                    bench_format_rate(figure->rows_per_s, rows));
        }
    }
}

static void print_wakes(const StoreReport *report, FILE *out)
{
    int first = 1;
    for (size_t w = 0; w < STORE_WAKES; w++) {
        const StoreWake *wake = &report->wakes[w];
        if (!wake->samples)
            continue;
        if (first)
            fprintf(out, "\nwake-ups\n%8s %8s %10s %10s %10s\n", "read", "others", "p50 us",
                    "p95 us", "max us");
        first = 0;
        fprintf(out, "%8s %8u %10.0f %10.0f %10.0f\n", store_wake_cases[w].name,
                store_wake_cases[w].others, (double)wake->p50_ns / 1e3, (double)wake->p95_ns / 1e3,
                (double)wake->max_ns / 1e3);
    }
}

static void print_cycles(const StoreReport *report, FILE *out)
{
    char guarded[32], serial[32];
    for (size_t s = 0; s < STORE_PG_STEPS; s++) {
        const StoreCycles *ours = &report->guarded[s], *theirs = &report->serializable[s];
        if (ours->per_s <= 0)
            continue;
        if (s == 0)
            fprintf(out,
                    "\nPostgreSQL: cycles of 64 worlds (1 guard, 1 read, 3 writes), each durable\n"
                    "%7s %12s %10s %16s %10s\n",
                    "threads", "guarded /s", "again", "SERIALIZABLE /s", "again");
        fprintf(out, "%7u %12s %8.1f %% %16s %8.1f %%\n", store_pg_threads[s],
                bench_format_rate(ours->per_s, guarded), ours->retried * 100,
                bench_format_rate(theirs->per_s, serial), theirs->retried * 100);
    }
}

static void print_pg_claims(const StoreReport *report, FILE *out)
{
    char rows[32], claims[32];
    for (size_t s = 0; s < STORE_PG_STEPS; s++) {
        for (size_t l = 0; l < STORE_CLAIM_SIZES; l++) {
            const StoreClaims *figure = &report->pg_claims[s][l];
            if (figure->rows_per_s <= 0)
                continue;
            if (s == 0 && l == 0)
                fprintf(out, "\nPostgreSQL: claims\n%7s %12s %12s %12s\n", "threads", "rows each",
                        "claims/s", "rows/s");
            fprintf(out, "%7u %12u %12s %12s\n", store_pg_threads[s], store_claim_limits[l],
                    bench_format_rate(figure->claims_per_s, claims),
                    bench_format_rate(figure->rows_per_s, rows));
        }
    }
    if (report->pg_wake.samples)
        fprintf(out,
                "\nPostgreSQL: wake-up of another process's store after a commit: p50 %.0f us, p95 "
                "%.0f us, max %.0f us\n",
                (double)report->pg_wake.p50_ns / 1e3, (double)report->pg_wake.p95_ns / 1e3,
                (double)report->pg_wake.max_ns / 1e3);
}

static void print_bars(const StoreReport *report, FILE *out)
{
    Judgement j;
    int known, first = 1;
    for (size_t i = 0; (known = judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        if (first)
            fprintf(out, "\n%-34s %-28s %10s\n", "bar", "the store must be", "is at");
        first = 0;
        fprintf(out, "%-34s %-28s %8.2f %-3s  %s\n", j.title, j.must, j.figure, j.unit,
                j.met ? "met" : "MISSED");
    }
}

void store_report_text(const StoreReport *report, FILE *out)
{
    fprintf(out, "the store in a file: %llu rows in each table, %llu rounds of %llu ms\n",
            (unsigned long long)report->rows, (unsigned long long)report->rounds,
            (unsigned long long)report->ms);
    print_commits("commits of 5 rows, each durable", report->durable, out);
    print_commits("commits of 5 rows, asynchronous: nobody waits for the disk", report->async, out);
    print_claims(report, out);
    print_wakes(report, out);
    print_cycles(report, out);
    print_pg_claims(report, out);
    print_bars(report, out);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void json_commits(const char *name, const StoreCommits *commits, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"%s\": [", name);
    for (size_t s = 0; s < STORE_STEPS; s++) {
        if (!commits[s].rounds)
            continue;
        fprintf(out,
                "%s\n    {\"threads\": %u, \"store_per_s\": %.1f, \"engine_per_s\": %.1f, "
                "\"cost\": %.4f}",
                comma, store_threads[s], commits[s].store_per_s, commits[s].engine_per_s,
                commits[s].cost);
        comma = ",";
    }
    fprintf(out, "\n  ],\n");
}

static void json_claims(const StoreReport *report, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"claims\": [");
    for (size_t s = 0; s < STORE_STEPS; s++) {
        for (size_t l = 0; l < STORE_CLAIM_SIZES; l++) {
            const StoreClaims *figure = &report->claims[s][l];
            if (figure->rows_per_s <= 0)
                continue;
            fprintf(out,
                    "%s\n    {\"threads\": %u, \"limit\": %u, \"claims_per_s\": %.1f, "
                    "\"rows_per_s\": %.1f}",
                    comma, store_threads[s], store_claim_limits[l], figure->claims_per_s,
                    figure->rows_per_s);
            comma = ",";
        }
    }
    fprintf(out, "\n  ],\n");
}

static void json_wakes(const StoreReport *report, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"wake_ups\": [");
    for (size_t w = 0; w < STORE_WAKES; w++) {
        const StoreWake *wake = &report->wakes[w];
        if (!wake->samples)
            continue;
        fprintf(out,
                "%s\n    {\"read\": \"%s\", \"others\": %u, \"samples\": %llu, \"p50_us\": %.1f, "
                "\"p95_us\": %.1f, \"max_us\": %.1f}",
                comma, store_wake_cases[w].name, store_wake_cases[w].others,
                (unsigned long long)wake->samples, (double)wake->p50_ns / 1e3,
                (double)wake->p95_ns / 1e3, (double)wake->max_ns / 1e3);
        comma = ",";
    }
    fprintf(out, "\n  ],\n");
}

static void json_postgres(const StoreReport *report, FILE *out)
{
    const char *comma = "";
    fprintf(out, "  \"postgres\": [");
    for (size_t s = 0; s < STORE_PG_STEPS; s++) {
        if (report->guarded[s].per_s <= 0)
            continue;
        fprintf(out,
                "%s\n    {\"threads\": %u, \"guarded_per_s\": %.1f, \"guarded_retried\": %.4f, "
                "\"serializable_per_s\": %.1f, \"serializable_retried\": %.4f, "
                "\"claims_of_1_per_s\": %.1f, \"rows_by_claims_of_16_per_s\": %.1f}",
                comma, store_pg_threads[s], report->guarded[s].per_s, report->guarded[s].retried,
                report->serializable[s].per_s, report->serializable[s].retried,
                report->pg_claims[s][0].claims_per_s, report->pg_claims[s][1].rows_per_s);
        comma = ",";
    }
    fprintf(out, "\n  ],\n  \"postgres_wake_p95_us\": %.1f,\n",
            (double)report->pg_wake.p95_ns / 1e3);
}

static void json_bars(const StoreReport *report, FILE *out)
{
    Judgement j;
    const char *comma = "";
    int known;
    fprintf(out, "  \"bars\": [");
    for (size_t i = 0; (known = judge(report, i, &j)) >= 0; i++) {
        if (!known)
            continue;
        fprintf(out,
                "%s\n    {\"title\": \"%s\", \"bar\": \"%s\", \"figure\": %.4f, \"unit\": \"%s\", "
                "\"met\": %s}",
                comma, j.title, j.must, j.figure, j.unit, j.met ? "true" : "false");
        comma = ",";
    }
    fprintf(out, "\n  ]\n");
}

void store_report_json(const void *arg, FILE *out)
{
    const StoreReport *report = arg;
    fprintf(out, "{\n  \"rows\": %llu,\n  \"rounds\": %llu,\n  \"ms\": %llu,\n",
            (unsigned long long)report->rows, (unsigned long long)report->rounds,
            (unsigned long long)report->ms);
    json_commits("commits_durable", report->durable, out);
    json_commits("commits_async", report->async, out);
    json_claims(report, out);
    json_wakes(report, out);
    json_postgres(report, out);
    json_bars(report, out);
    fprintf(out, "}\n");
}
