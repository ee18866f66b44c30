/* main.c - the store in a file: what it costs beside the engine itself, claims and wake-ups. And the same
 * interface on a PostgreSQL server.
 *
 * Every measurement is a child process with a fresh heap and directory. The exit status is 0 also when a
 * bar is missed; 1 when a call failed, 2 on bad usage. */
#include "report.h"
#include "store/pg_server.h"

#include <getopt.h>

typedef struct Options {
    uint64_t rows;
    uint64_t rounds;
    uint64_t ms;
    uint64_t samples;
    const char *workloads; /* NULL: all */
    const char *dir;
    const char *json; /* NULL: none */
} Options;

static const char *const workloads[] = {"commits", "async", "claims", "wakes", "postgres"};
enum { WORKLOADS = sizeof workloads / sizeof *workloads };

static int chosen(const Options *options, const char *workload)
{
    return !options->workloads || bench_listed(options->workloads, workload);
}

/* ---- One measurement in a process of its own ------------------------------------------------- */

typedef struct Task {
    enum { TASK_COMMITS, TASK_CLAIMS, TASK_WAKE, TASK_CYCLES } kind;
    StoreCommitsRun commits;
    StoreClaimsRun claims;
    StoreWakeRun wake;
    StoreCyclesRun cycles;
} Task;

static int do_task(const void *arg, void *out)
{
    const Task *task = arg;
    switch (task->kind) {
    case TASK_COMMITS:
        return store_measure_commits(&task->commits, out);
    case TASK_CLAIMS:
        return store_measure_claims(&task->claims, out);
    case TASK_CYCLES:
        return store_measure_cycles(&task->cycles, out);
    default:
        return store_measure_wake(&task->wake, out);
    }
}

static int run_task(Task *task, const Options *options, void *result, size_t size)
{
    char dir[4096];
    if (bench_make_store(options->dir, dir, sizeof dir) != 0)
        return -1;
    task->commits.dir = task->claims.dir = task->wake.dir = dir;
    int rc = bench_in_child(do_task, task, result, size);
    bench_remove_store(dir);
    return rc;
}

/* ---- All of them ---------------------------------------------------------------------------- */

static int run_commits(StoreCommits *out, const Options *options, int waits)
{
    for (size_t s = 0; s < STORE_STEPS; s++) {
        fprintf(stderr, "%s commits, %u threads\n", waits ? "durable" : "asynchronous",
                store_threads[s]);
        Task task = {.kind = TASK_COMMITS,
                     .commits = {.rows = options->rows,
                                 .ms = options->ms,
                                 .rounds = options->rounds,
                                 .threads = store_threads[s],
                                 .waits = waits}};
        if (run_task(&task, options, &out[s], sizeof out[s]) != 0)
            return -1;
    }
    return 0;
}

static int run_claims(StoreReport *report, const Options *options)
{
    fprintf(stderr, "claims\n");
    for (size_t s = 0; s < STORE_STEPS; s++) {
        for (size_t l = 0; l < STORE_CLAIM_SIZES; l++) {
            Task task = {.kind = TASK_CLAIMS,
                         .claims = {.ms = 1000,
                                    .rows = 400000,
                                    .threads = store_threads[s],
                                    .limit = store_claim_limits[l]}};
            StoreClaims *out = &report->claims[s][l];
            if (run_task(&task, options, out, sizeof *out) != 0)
                return -1;
        }
    }
    return 0;
}

static int run_wakes(StoreReport *report, const Options *options)
{
    fprintf(stderr, "wake-ups\n");
    for (size_t w = 0; w < STORE_WAKES; w++) {
        Task task = {.kind = TASK_WAKE,
                     .wake = {.samples = options->samples,
                              .others = store_wake_cases[w].others,
                              .durable = store_wake_cases[w].durable}};
        StoreWake *out = &report->wakes[w];
        if (run_task(&task, options, out, sizeof *out) != 0)
            return -1;
    }
    return 0;
}

/* ---- On a server ---------------------------------------------------------------------------- */

static int run_pg_cycles(PgServer *server, StoreReport *report, const Options *options)
{
    for (size_t s = 0; s < STORE_PG_STEPS; s++) {
        char url[4400];
        fprintf(stderr, "PostgreSQL: cycles, %u threads\n", store_pg_threads[s]);
        pg_server_url(server, "bench", url, sizeof url);
        Task task = {.kind = TASK_CYCLES,
                     .cycles = {.url = url, .ms = 4000, .threads = store_pg_threads[s]}};
        if (run_task(&task, options, &report->guarded[s], sizeof report->guarded[s]) != 0)
            return -1;
        task.cycles.conninfo = server->conninfo;
        if (run_task(&task, options, &report->serializable[s], sizeof report->serializable[s]) != 0)
            return -1;
    }
    return 0;
}

static int run_pg_own(PgServer *server, StoreReport *report, const Options *options)
{
    char url[4400];
    fprintf(stderr, "PostgreSQL: claims and wake-ups\n");
    for (size_t s = 0; s < STORE_PG_STEPS; s++) {
        for (size_t l = 0; l < STORE_CLAIM_SIZES; l++) {
            pg_server_url(server, NULL, url, sizeof url);
            Task task = {.kind = TASK_CLAIMS,
                         .claims = {.url = url,
                                    .ms = 2000,
                                    .threads = store_pg_threads[s],
                                    .limit = store_claim_limits[l],
                                    .rows = 100000}};
            StoreClaims *out = &report->pg_claims[s][l];
            if (run_task(&task, options, out, sizeof *out) != 0)
                return -1;
        }
    }
    pg_server_url(server, NULL, url, sizeof url);
    Task task = {.kind = TASK_WAKE, .wake = {.url = url, .samples = 300, .durable = 1}};
    return run_task(&task, options, &report->pg_wake, sizeof report->pg_wake);
}

static int run_postgres(StoreReport *report, const Options *options)
{
    PgServer server;
    int rc = pg_server_start(options->dir, &server);
    if (rc == PG_SERVER_MISSING) {
        fprintf(stderr, "bench: SKIPPED: there is no PostgreSQL server here\n");
        return 0;
    }
    if (rc != 0)
        return -1;
    rc = run_pg_cycles(&server, report, options);
    rc = !rc ? run_pg_own(&server, report, options) : rc;
    return pg_server_stop(&server) | rc;
}

static int run_all(StoreReport *report, const Options *options)
{
    int rc = chosen(options, "commits") ? run_commits(report->durable, options, 1) : 0;
    rc = !rc && chosen(options, "async") ? run_commits(report->async, options, 0) : rc;
    rc = !rc && chosen(options, "claims") ? run_claims(report, options) : rc;
    rc = !rc && chosen(options, "wakes") ? run_wakes(report, options) : rc;
    return !rc && chosen(options, "postgres") ? run_postgres(report, options) : rc;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr, "usage: store [--workloads NAME,...] [--rounds N] [--ms N] [--rows N]\n"
                    "             [--samples N] [--dir DIR] [--json FILE]\nworkloads:");
    for (size_t w = 0; w < WORKLOADS; w++)
        fprintf(stderr, " %s", workloads[w]);
    fputc('\n', stderr);
    return 2;
}

/* Fails on names that no workload has. */
static int check_workloads(const Options *options)
{
    size_t known = 0;
    for (size_t w = 0; w < WORKLOADS; w++)
        known += (size_t)chosen(options, workloads[w]);
    return !options->workloads || known == bench_list_length(options->workloads) ? 0 : -1;
}

static int parse_options(int argc, char **argv, Options *options)
{
    static const struct option names[] = {
        {"workloads", required_argument, NULL, 'w'},
        {"rounds", required_argument, NULL, 'n'},
        {"ms", required_argument, NULL, 'm'},
        {"rows", required_argument, NULL, 'r'},
        {"samples", required_argument, NULL, 's'},
        {"dir", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'},
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
            bad |= bench_parse_number(optarg, 1, 1000, &options->rounds);
            break;
        case 'm':
            bad |= bench_parse_number(optarg, 10, 100000, &options->ms);
            break;
        case 'r':
            bad |= bench_parse_number(optarg, 0, 10000000, &options->rows);
            break;
        case 's':
            bad |= bench_parse_number(optarg, 20, 1000000, &options->samples);
            break;
        case 'd':
            options->dir = optarg;
            break;
        case 'j':
            options->json = optarg;
            break;
        default:
            return -1;
        }
    }
    return bad || optind != argc || check_workloads(options) ? -1 : 0;
}

int main(int argc, char **argv)
{
    Options options = {.rows = 100000, .rounds = 15, .ms = 100, .samples = 1000, .dir = "."};
    static StoreReport report;
    if (parse_options(argc, argv, &options) != 0)
        return usage();
    if (bench_check_disk(options.dir) != 0)
        return 2;
    report.rows = options.rows;
    report.rounds = options.rounds;
    report.ms = options.ms;
    if (run_all(&report, &options) != 0)
        return 1;
    store_report_text(&report, stdout);
    return options.json && bench_output_write(options.json, store_report_json, &report) ? 1 : 0;
}
