/* main.c - durable messages: runs peers in turn and reports.
 *
 * Every measurement is a child process with a fresh heap and directory. The peers take turns, in an
 * order that turns with every round, and the best round counts. The memory of messages, which is the
 * same every time, is measured once.
 *
 * The exit status is 0 also when a bar is missed; 1 when a peer failed or a message was lost, 2 on
 * bad usage. */
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const RunPeer *const all_peers[] = {&run_sapling, &run_beanstalkd, &run_redis, &run_sqlite,
                                           &run_bare};
enum { PEER_COUNT = sizeof all_peers / sizeof *all_peers };
_Static_assert((int)PEER_COUNT <= (int)BENCH_MAX_ENGINES, "reports have a fixed number of peers");

/* What is measured of Sapling alone. */
static const char *const own_workloads[] = {"start", "idle", "timers", "memory"};
enum { OWN_START, OWN_IDLE, OWN_TIMERS, OWN_MEMORY, OWN_COUNT };

typedef struct Options {
    uint64_t ms;
    uint64_t rounds;
    uint64_t queued;       /* messages whose memory is measured */
    uint64_t armed;        /* timers, the more of the two numbers */
    const char *workloads; /* NULL: all */
    const char *threads;   /* NULL: all */
    const char *dir;       /* stores are made in it */
    const char *json;      /* NULL: none */
    const char *svg;       /* NULL: none */
} Options;

static int chosen(const Options *options, const char *workload)
{
    return !options->workloads || bench_listed(options->workloads, workload);
}

static int chosen_threads(const Options *options, uint32_t threads)
{
    char text[16];
    snprintf(text, sizeof text, "%u", threads);
    return threads && (!options->threads || bench_listed(options->threads, text));
}

/* ---- Measuring ------------------------------------------------------------------------------ */

enum { FEW_ARMED = 10000 };

typedef struct Job {
    enum { JOB_PEER, JOB_START, JOB_IDLE, JOB_TIMERS, JOB_MEMORY } kind;
    RunTask task;   /* of a peer */
    int which;      /* handler or place */
    uint64_t count; /* of timers or messages */
    const char *dir;
} Job;

typedef union Result {
    RunFigure figure;
    OwnStart start;
    OwnIdle idle;
    OwnTimers timers;
    OwnMemory memory;
} Result;

static int do_job(const void *arg, void *out)
{
    const Job *job = arg;
    Result *result = out;
    if (chdir(job->dir) != 0) {
        fprintf(stderr, "bench: %s: %s\n", job->dir, strerror(errno));
        return -1;
    }
    switch (job->kind) {
    case JOB_PEER:
        return run_measure(&job->task, &result->figure);
    case JOB_START:
        return own_start(job->which == RUN_ATOMIC, &result->start);
    case JOB_IDLE:
        return own_idle(&result->idle);
    case JOB_TIMERS:
        return own_timers(FEW_ARMED, job->count, &result->timers);
    default:
        return own_memory(job->count, job->which == RUN_IN_FILE, &result->memory);
    }
}

static int run_job(Job *job, const Options *options, Result *result)
{
    char dir[4096];
    if (bench_make_store(options->dir, dir, sizeof dir) != 0)
        return -1;
    job->dir = dir;
    int rc = bench_in_child(do_job, job, result, sizeof *result);
    bench_remove_store(dir);
    if (rc)
        fprintf(stderr, "bench: %s failed\n",
                job->task.peer ? job->task.peer->name : "a figure of " BENCH_SUBJECT);
    return rc;
}

/* Every peer once. */
static int run_step(RunReport *report, const Options *options, size_t w, size_t s, unsigned round)
{
    const RunWorkload *load = &run_workloads[w];
    for (size_t i = 0; i < report->peer_count; i++) {
        size_t p = (i + round) % report->peer_count;
        Job job = {.kind = JOB_PEER,
                   .task = {.peer = report->peers[p],
                            .shape = load->shape,
                            .threads = load->threads[s],
                            .batch = load->batch,
                            .ms = report->ms}};
        Result result;
        if (run_job(&job, options, &result) != 0)
            return -1;
        run_report_add(report, p, w, s, &result.figure);
    }
    return 0;
}

static int run_start(RunReport *report, const Options *options)
{
    Result result;
    for (int h = 0; h < RUN_HANDLERS; h++) {
        Job job = {.kind = JOB_START, .which = h};
        if (run_job(&job, options, &result) != 0)
            return -1;
        run_report_add_start(report, (size_t)h, &result.start);
    }
    return 0;
}

static int run_own(RunReport *report, const Options *options, unsigned round)
{
    Result result;
    Job idle = {.kind = JOB_IDLE}, timers = {.kind = JOB_TIMERS, .count = options->armed};
    if (chosen(options, own_workloads[OWN_START]) && run_start(report, options) != 0)
        return -1;
    if (chosen(options, own_workloads[OWN_IDLE])) {
        if (run_job(&idle, options, &result) != 0)
            return -1;
        run_report_add_idle(report, &result.idle);
    }
    if (chosen(options, own_workloads[OWN_TIMERS])) {
        if (run_job(&timers, options, &result) != 0)
            return -1;
        run_report_add_timers(report, &result.timers);
    }
    for (int i = 0; i < RUN_PLACES && round == 0 && chosen(options, own_workloads[OWN_MEMORY]);
         i++) {
        Job memory = {.kind = JOB_MEMORY, .which = i, .count = options->queued};
        if (run_job(&memory, options, &result) != 0)
            return -1;
        report->own.memory[i] = result.memory;
    }
    return 0;
}

static int run_rounds(RunReport *report, const Options *options)
{
    for (unsigned round = 0; round < report->rounds; round++) {
        fprintf(stderr, "messages: round %u of %u\n", round + 1, report->rounds);
        for (size_t w = 0; w < RUN_WORKLOADS; w++)
            for (size_t s = 0; s < RUN_MAX_STEPS; s++)
                if (chosen(options, run_workloads[w].name) &&
                    chosen_threads(options, run_workloads[w].threads[s]) &&
                    run_step(report, options, w, s, round) != 0)
                    return -1;
        if (run_find_peer(report, BENCH_SUBJECT) < BENCH_MAX_ENGINES &&
            run_own(report, options, round) != 0)
            return -1;
    }
    return 0;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr, "usage: runner [--peers NAME,...] [--workloads NAME,...] [--threads N,...]\n"
                    "              [--rounds N] [--ms N] [--queued N] [--armed N]\n"
                    "              [--dir DIR] [--json FILE] [--svg FILE]\n"
                    "peers:");
    for (size_t i = 0; i < PEER_COUNT; i++)
        fprintf(stderr, " %s", all_peers[i]->name);
    fprintf(stderr, "\nworkloads:");
    for (size_t w = 0; w < RUN_WORKLOADS; w++)
        fprintf(stderr, " %s", run_workloads[w].name);
    for (size_t i = 0; i < OWN_COUNT; i++)
        fprintf(stderr, " %s", own_workloads[i]);
    fprintf(stderr, "\n");
    return 2;
}

/* NULL: all. Fails on names that no peer has. */
static int choose_peers(RunReport *report, const char *list)
{
    for (size_t i = 0; i < PEER_COUNT; i++)
        if (!list || bench_listed(list, all_peers[i]->name))
            report->peers[report->peer_count++] = all_peers[i];
    return list && bench_list_length(list) != report->peer_count ? -1 : 0;
}

/* Fails on names that no workload has. */
static int check_workloads(const Options *options)
{
    size_t known = 0;
    if (!options->workloads)
        return 0;
    for (size_t w = 0; w < RUN_WORKLOADS; w++)
        known += (size_t)chosen(options, run_workloads[w].name);
    for (size_t i = 0; i < OWN_COUNT; i++)
        known += (size_t)chosen(options, own_workloads[i]);
    return known == bench_list_length(options->workloads) ? 0 : -1;
}

static int parse_options(int argc, char **argv, Options *options, RunReport *report)
{
    static const struct option names[] = {
        {"peers", required_argument, NULL, 'p'},   {"workloads", required_argument, NULL, 'w'},
        {"threads", required_argument, NULL, 't'}, {"rounds", required_argument, NULL, 'n'},
        {"ms", required_argument, NULL, 'm'},      {"queued", required_argument, NULL, 'q'},
        {"armed", required_argument, NULL, 'a'},   {"dir", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'},    {"svg", required_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0},
    };
    const char *peers = NULL;
    int c, bad = 0;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'p':
            peers = optarg;
            break;
        case 'w':
            options->workloads = optarg;
            break;
        case 't':
            options->threads = optarg;
            break;
        case 'n':
            bad |= bench_parse_number(optarg, 1, 1000, &options->rounds);
            break;
        case 'm':
            bad |= bench_parse_number(optarg, 10, 1000000, &options->ms);
            break;
        case 'q':
            bad |= bench_parse_number(optarg, RUN_BATCH, 100000000, &options->queued);
            break;
        case 'a':
            bad |= bench_parse_number(optarg, FEW_ARMED, 100000000, &options->armed);
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
    return bad || optind != argc || check_workloads(options) ? -1 : choose_peers(report, peers);
}

int main(int argc, char **argv)
{
    Options options = {.ms = 1000, .rounds = 3, .queued = 1000000, .armed = 1000000, .dir = "."};
    static RunReport report;
    if (parse_options(argc, argv, &options, &report) != 0)
        return usage();
    if (bench_check_disk(options.dir) != 0)
        return 2;
    report.ms = (uint32_t)options.ms;
    report.rounds = (unsigned)options.rounds;
    if (run_rounds(&report, &options) != 0)
        return 1;
    run_report_text(&report, stdout);
    int rc = 0;
    if (options.json)
        rc |= bench_output_write(options.json, run_report_json, &report);
    if (options.svg)
        rc |= bench_output_write(options.svg, run_report_svg, &report);
    return rc ? 1 : 0;
}
