/* main.c - durable commits: runs engines in turn and reports.
 *
 * Every measurement is a child process with a fresh heap and directory. The engines take turns, in
 * an order that turns with every round, and the best round counts. The queue, which has no peer, is
 * measured once.
 *
 * The exit status is 0 also when a bar is missed; 1 when an engine failed or a row was missing, 2
 * on bad usage. */
#include "bars.h"
#include "report.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const DurEngine *const all_engines[] = {&dur_sapling, &dur_lmdb, &dur_rocksdb, &dur_sqlite,
                                               &dur_bare};
enum { ENGINE_COUNT = sizeof all_engines / sizeof *all_engines };
_Static_assert((int)ENGINE_COUNT <= (int)BENCH_MAX_ENGINES,
               "reports have a fixed number of engines");

typedef struct Options {
    uint64_t rows;
    uint64_t seed;
    uint64_t ms;
    uint64_t rounds;
    uint64_t messages;
    uint64_t checkpoint_mib;
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

/* ---- One measurement in a process of its own ------------------------------------------------- */

typedef struct Task {
    enum { TASK_COMMITS, TASK_BYTES, TASK_QUEUE } kind;
    DurRun run; /* of the queue only the directory; filled in by run_task() */
    uint64_t messages;
} Task;

typedef union Result {
    DurFigure figure;
    DurBytes bytes;
    DurQueue queue;
} Result;

static int do_task(const void *arg, void *out)
{
    const Task *task = arg;
    Result *result = out;
    switch (task->kind) {
    case TASK_COMMITS:
        return dur_run_commits(&task->run, &result->figure);
    case TASK_BYTES:
        return dur_run_bytes(&task->run, &result->bytes);
    default:
        return dur_run_queue(task->run.dir, task->messages, &result->queue);
    }
}

static int run_task(Task *task, const Options *options, const DurRow *rows, Result *result)
{
    char dir[4096];
    if (bench_make_store(options->dir, dir, sizeof dir) != 0)
        return -1;
    task->run.dir = dir;
    task->run.rows = rows;
    task->run.row_count = options->rows;
    task->run.seed = options->seed;
    int rc = bench_in_child(do_task, task, result, sizeof *result);
    bench_remove_store(dir);
    if (rc)
        fprintf(stderr, "bench: %s failed\n",
                task->kind == TASK_QUEUE ? "queue" : task->run.engine->name);
    return rc;
}

/* ---- All of them ---------------------------------------------------------------------------- */

/* Every engine once. */
static int run_step(DurReport *report, const Options *options, const DurRow *rows, size_t w,
                    size_t s, unsigned round)
{
    const DurWorkload *load = &dur_workloads[w];
    for (size_t i = 0; i < report->engine_count; i++) {
        size_t e = (i + round) % report->engine_count;
        Task task = {.kind = TASK_COMMITS,
                     .run = {.engine = report->engines[e],
                             .tables = load->tables,
                             .threads = load->threads[s],
                             .ms = report->ms}};
        Result result;
        if (run_task(&task, options, rows, &result) != 0)
            return -1;
        dur_report_add(report, e, w, s, &result.figure);
    }
    return 0;
}

static int run_bytes(DurReport *report, const Options *options, const DurRow *rows, unsigned round)
{
    for (size_t i = 0; i < report->engine_count; i++) {
        size_t e = (i + round) % report->engine_count;
        Task task = {.kind = TASK_BYTES,
                     .run = {.engine = report->engines[e],
                             .tables = DUR_MAX_TABLES,
                             .checkpoint_bytes = report->checkpoint_bytes}};
        Result result;
        if (run_task(&task, options, rows, &result) != 0)
            return -1;
        dur_report_add_bytes(report, e, &result.bytes);
    }
    return 0;
}

static int run_rounds(DurReport *report, const Options *options, const DurRow *rows)
{
    for (unsigned round = 0; round < report->rounds; round++) {
        fprintf(stderr, "durable commits: round %u of %u\n", round + 1, report->rounds);
        for (size_t w = 0; w < DUR_WORKLOADS; w++)
            for (size_t s = 0; s < DUR_MAX_STEPS; s++)
                if (chosen(options, dur_workloads[w].name) &&
                    chosen_threads(options, dur_workloads[w].threads[s]) &&
                    run_step(report, options, rows, w, s, round) != 0)
                    return -1;
        if (chosen(options, "bytes") && run_bytes(report, options, rows, round) != 0)
            return -1;
    }
    return 0;
}

static int run_queue(DurReport *report, const Options *options)
{
    fprintf(stderr, "queue\n");
    Task task = {.kind = TASK_QUEUE, .messages = options->messages};
    Result result;
    if (run_task(&task, options, NULL, &result) != 0)
        return -1;
    report->queue = result.queue;
    return 0;
}

static int run_all(DurReport *report, const Options *options)
{
    DurRow *rows = malloc(options->rows * sizeof *rows);
    if (!rows) {
        fprintf(stderr, "bench: out of memory\n");
        return -1;
    }
    for (uint64_t i = 0; i < options->rows; i++)
        dur_make_row(options->seed, i, &rows[i]);
    int rc = run_rounds(report, options, rows);
    if (!rc && chosen(options, "queue") &&
        dur_find_engine(report, BENCH_SUBJECT) < BENCH_MAX_ENGINES)
        rc = run_queue(report, options);
    free(rows);
    return rc;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr, "usage: durable [--engines NAME,...] [--workloads NAME,...] [--threads N,...]\n"
                    "               [--rounds N] [--ms N] [--rows N] [--messages N] [--seed N]\n"
                    "               [--checkpoint-mib N] [--dir DIR] [--json FILE] [--svg FILE]\n"
                    "engines:");
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        fprintf(stderr, " %s", all_engines[i]->name);
    fprintf(stderr, "\nworkloads:");
    for (size_t w = 0; w < DUR_WORKLOADS; w++)
        fprintf(stderr, " %s", dur_workloads[w].name);
    fprintf(stderr, " bytes queue\n");
    return 2;
}

/* NULL: all. Fails on names that no engine has. */
static int choose_engines(DurReport *report, const char *list)
{
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        if (!list || bench_listed(list, all_engines[i]->name))
            report->engines[report->engine_count++] = all_engines[i];
    return list && bench_list_length(list) != report->engine_count ? -1 : 0;
}

/* Fails on names that no workload has. */
static int check_workloads(const Options *options)
{
    size_t known = 0;
    if (!options->workloads)
        return 0;
    for (size_t w = 0; w < DUR_WORKLOADS; w++)
        known += (size_t)chosen(options, dur_workloads[w].name);
    known += (size_t)chosen(options, "bytes") + (size_t)chosen(options, "queue");
    return known == bench_list_length(options->workloads) ? 0 : -1;
}

static int parse_options(int argc, char **argv, Options *options, DurReport *report)
{
    static const struct option names[] = {
        {"engines", required_argument, NULL, 'e'},
        {"workloads", required_argument, NULL, 'w'},
        {"threads", required_argument, NULL, 't'},
        {"rounds", required_argument, NULL, 'n'},
        {"ms", required_argument, NULL, 'm'},
        {"rows", required_argument, NULL, 'r'},
        {"messages", required_argument, NULL, 'q'},
        {"seed", required_argument, NULL, 's'},
        {"checkpoint-mib", required_argument, NULL, 'c'},
        {"dir", required_argument, NULL, 'd'},
        {"json", required_argument, NULL, 'j'},
        {"svg", required_argument, NULL, 'v'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *engines = NULL;
    int c, bad = 0;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'e':
            engines = optarg;
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
        case 'r':
            bad |= bench_parse_number(optarg, 1, 10000000, &options->rows);
            break;
        case 'q':
            bad |= bench_parse_number(optarg, (uint64_t)DUR_QUEUE_PARTS * DUR_QUEUE_LIVE,
                                      UINT64_MAX / DUR_QUEUE_PARTS, &options->messages);
            break;
        case 's':
            bad |= bench_parse_number(optarg, 0, UINT64_MAX, &options->seed);
            break;
        case 'c':
            bad |= bench_parse_number(optarg, 1, 4096, &options->checkpoint_mib);
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
    return bad || optind != argc || check_workloads(options) ? -1 : choose_engines(report, engines);
}

int main(int argc, char **argv)
{
    Options options = {.rows = 100000,
                       .seed = 1,
                       .ms = 1000,
                       .rounds = 3,
                       .messages = 200000,
                       .checkpoint_mib = 64,
                       .dir = "."};
    static DurReport report;
    if (parse_options(argc, argv, &options, &report) != 0)
        return usage();
    if (bench_check_disk(options.dir) != 0)
        return 2;
    report.rows = options.rows;
    report.ms = (uint32_t)options.ms;
    report.rounds = (unsigned)options.rounds;
    report.checkpoint_bytes = options.checkpoint_mib << 20;
    if (run_all(&report, &options) != 0)
        return 1;
    dur_report_text(&report, stdout);
    int rc = 0;
    if (options.json)
        rc |= bench_output_write(options.json, dur_report_json, &report);
    if (options.svg)
        rc |= bench_output_write(options.svg, dur_report_svg, &report);
    return rc ? 1 : 0;
}
