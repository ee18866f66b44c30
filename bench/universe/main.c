/* main.c - worlds: steps, latencies, and what very many of them cost; a PostgreSQL queue beside them.
 *
 * Every measurement is a child process with a fresh heap and directory. In each round every workload
 * runs once, and medians count; what takes long and hardly varies is measured once.
 *
 * The exit status is 0 also when a bar is missed; 1 when a call failed or an item was lost, 2 on bad
 * usage. */
#include "universe/report.h"

#include "store/pg_server.h"
#include "util.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct Options {
    uint64_t rounds;
    uint64_t ms;
    uint64_t many;
    const char *workloads; /* NULL: all */
    const char *dir;       /* stores are made in it */
    const char *json;      /* NULL: none */
    const char *svg;       /* NULL: none */
} Options;

static int chosen(const Options *options, const UniWorkload *workload)
{
    return !options->workloads || bench_listed(options->workloads, workload->name);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

typedef struct Job {
    const UniWorkload *workload;
    UniRun run;
} Job;

typedef struct Values {
    double values[UNI_VALUES];
} Values;

static int do_job(const void *arg, void *out)
{
    const Job *job = arg;
    Values *result = out;
    for (size_t v = 0; v < UNI_VALUES; v++)
        result->values[v] = NAN;
    return job->workload->measure(&job->run, result->values);
}

static int run_job(Job *job, const Options *options, Values *result)
{
    char dir[4096];
    if (bench_make_store(options->dir, dir, sizeof dir) != 0)
        return -1;
    job->run.dir = dir;
    job->run.ms = options->ms;
    job->run.many = (uint32_t)options->many;
    snprintf(job->run.path, sizeof job->run.path, "%s/store", dir);
    snprintf(job->run.url, sizeof job->run.url, "sapling:%s/store", dir);
    int rc = bench_in_child(do_job, job, result, sizeof *result);
    bench_remove_store(dir);
    if (rc)
        fprintf(stderr, "bench: %s failed\n", job->workload->name);
    return rc;
}

/* `server` NULL: there is none. */
static int run_round(UniReport *report, const Options *options, PgServer *server, unsigned round)
{
    for (size_t w = 0; w < UNI_WORKLOADS; w++) {
        const UniWorkload *workload = &uni_workloads[w];
        Job job = {.workload = workload};
        Values result;
        if (!chosen(options, workload) || (workload->once && round > 0) ||
            (workload->server && !server))
            continue;
        fprintf(stderr, "round %u of %u: %s\n", round + 1, report->rounds, workload->name);
        if (server) {
            pg_server_url(server, NULL, job.run.pg_url, sizeof job.run.pg_url);
            snprintf(job.run.pg_conninfo, sizeof job.run.pg_conninfo, "%s", server->conninfo);
        }
        if (run_job(&job, options, &result) != 0)
            return -1;
        for (size_t v = 0; v < UNI_VALUES; v++)
            report->values[w][v][round] = result.values[v];
    }
    return 0;
}

static int needs_server(const Options *options)
{
    int needs = 0;
    for (size_t w = 0; w < UNI_WORKLOADS; w++)
        needs |= uni_workloads[w].server && chosen(options, &uni_workloads[w]);
    return needs;
}

static int run_rounds(UniReport *report, const Options *options)
{
    PgServer server;
    int started =
        needs_server(options) ? pg_server_start(options->dir, &server) : PG_SERVER_MISSING;
    int rc = started < 0 ? -1 : 0;
    if (needs_server(options) && started == PG_SERVER_MISSING)
        fprintf(stderr, "bench: SKIPPED beside PostgreSQL: there is no server here\n");
    for (unsigned round = 0; round < report->rounds && !rc; round++) {
        if (getloadavg(&report->load[round], 1) != 1)
            report->load[round] = 0; /* unknown */
        rc = run_round(report, options, started == 0 ? &server : NULL, round);
    }
    return started == 0 ? pg_server_stop(&server) | rc : rc;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr, "usage: universe [--workloads NAME,...] [--rounds N] [--ms N] [--many N]\n"
                    "                [--dir DIR] [--json FILE] [--svg FILE]\nworkloads:");
    for (size_t w = 0; w < UNI_WORKLOADS; w++)
        fprintf(stderr, " %s", uni_workloads[w].name);
    fputc('\n', stderr);
    return 2;
}

/* Fails on names that no workload has. */
static int check_workloads(const Options *options)
{
    size_t known = 0;
    for (size_t w = 0; w < UNI_WORKLOADS; w++)
        known += (size_t)chosen(options, &uni_workloads[w]);
    return !options->workloads || known == bench_list_length(options->workloads) ? 0 : -1;
}

static int parse_options(int argc, char **argv, Options *options)
{
    static const struct option names[] = {
        {"workloads", required_argument, NULL, 'w'},
        {"rounds", required_argument, NULL, 'n'},
        {"ms", required_argument, NULL, 'm'},
        {"many", required_argument, NULL, 'y'},
        {"dir", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'},
        {"svg", required_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    int c, bad = 0;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'w':
            options->workloads = optarg;
            break;
        case 'n':
            bad |= bench_parse_number(optarg, 1, UNI_MAX_ROUNDS, &options->rounds);
            break;
        case 'm':
            bad |= bench_parse_number(optarg, 100, 100000, &options->ms);
            break;
        case 'y':
            bad |= bench_parse_number(optarg, 100, 10000000, &options->many);
            break;
        case 'd':
            options->dir = optarg;
            break;
        case 'j':
            options->json = optarg;
            break;
        case 'v':
            options->svg = optarg;
            break;
        default:
            return -1;
        }
    }
    return bad || optind != argc || check_workloads(options) ? -1 : 0;
}

int main(int argc, char **argv)
{
    Options options = {.rounds = 3, .ms = 2000, .many = 100000, .dir = "."};
    static UniReport report;
    if (parse_options(argc, argv, &options) != 0)
        return usage();
    if (bench_check_disk(options.dir) != 0)
        return 2;
    uni_report_init(&report);
    report.rounds = (unsigned)options.rounds;
    report.ms = options.ms;
    report.many = (uint32_t)options.many;
    if (run_rounds(&report, &options) != 0)
        return 1;
    uni_report_text(&report, stdout);
    int rc = 0;
    if (options.json)
        rc |= bench_output_write(options.json, uni_report_json, &report);
    if (options.svg)
        rc |= bench_output_write(options.svg, uni_report_svg, &report);
    return rc ? 1 : 0;
}
