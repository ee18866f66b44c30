/* main.c - runs engines in turn and reports.
 *
 * In each round every engine has a child process per kind of store, with a fresh heap and
 * directory. The children wait on a socket each; the driver asks one at a time for one part of one workload, and
 * goes around the engines part by part. The order of the engines turns with every part and round.
 *
 * The exit status is 0 also when a bar is missed; 1 when an engine failed or answered wrongly, 2 on
 * bad usage. */
#include "adapter.h"
#include "report.h"
#include "util.h"
#include "workloads.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const BenchAdapter *const all_engines[] = {&bench_sapling, &bench_sapling_file, &bench_lmdb,
                                                  &bench_lmdb_writemap};
enum { ENGINE_COUNT = sizeof all_engines / sizeof *all_engines };
_Static_assert((int)ENGINE_COUNT <= (int)BENCH_MAX_ENGINES,
               "reports have a fixed number of engines");

typedef struct Options {
    uint64_t rows;
    uint64_t seed;
    unsigned rounds;
    const char *dir;  /* stores are made in it */
    const char *json; /* NULL: none */
    const char *svg;  /* NULL: none */
} Options;

/* ---- The child: one engine, one round ------------------------------------------------------- */

/* What the driver asks for; a BenchFigure comes back. One comes unasked, when the store is open and
 * filled. The end of the stream ends the child. */
typedef struct Request {
    size_t workload;
    unsigned part;
} Request;

/* 0, or -1 after a message. */
static int serve(const BenchAdapter *engine, const BenchOpen *options, const BenchStore *store,
                 const BenchData *data, int fd)
{
    BenchDb *db;
    int rc = engine->open(options, &db);
    if (rc) {
        fprintf(stderr, "bench: %s: open: %s\n", engine->name, engine->error_text(rc));
        return -1;
    }
    if (store->fill)
        rc = store->fill(engine, db, data);
    BenchFigure figure = {0, 0};
    if (!rc && write(fd, &figure, sizeof figure) != (ssize_t)sizeof figure)
        rc = -1;
    Request request;
    while (!rc && read(fd, &request, sizeof request) == (ssize_t)sizeof request) {
        rc = bench_workloads[request.workload].run(engine, db, data, request.part, &figure);
        if (!rc && write(fd, &figure, sizeof figure) != (ssize_t)sizeof figure)
            rc = -1;
    }
    engine->close(db);
    return rc;
}

/* ---- The driver ----------------------------------------------------------------------------- */

typedef struct Child {
    pid_t pid; /* 0: not running */
    int fd;
    char dir[4096];
} Child;

/* children[0 .. which - 1] are the ones started before: their sockets are closed in the new one,
 * which would otherwise keep them from ending. */
static int start_child(Child *children, size_t which, const BenchAdapter *engine,
                       const BenchStore *store, const Options *options, const BenchData *data)
{
    Child *child = &children[which];
    int fds[2];
    if (bench_make_store(options->dir, child->dir, sizeof child->dir) != 0)
        return -1;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) != 0) {
        perror("bench: socketpair");
        goto fail_dir;
    }
    fflush(NULL); /* or the child would print it again */
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        for (size_t i = 0; i < which; i++)
            if (children[i].pid)
                close(children[i].fd);
        BenchOpen open = {.dir = child->dir, .dupsort = store->dupsort};
        _exit(serve(engine, &open, store, data, fds[1]) == 0 ? 0 : 1);
    }
    close(fds[1]);
    if (pid < 0) {
        perror("bench: fork");
        close(fds[0]);
        goto fail_dir;
    }
    child->pid = pid;
    child->fd = fds[0];
    /* Nothing is measured while a store is being filled. */
    BenchFigure ready;
    return recv(child->fd, &ready, sizeof ready, 0) == (ssize_t)sizeof ready ? 0 : -1;
fail_dir:
    bench_remove_store(child->dir);
    return -1;
}

/* Accepts one that is not running. 0 if it ended well. */
static int end_child(Child *child, const BenchAdapter *engine)
{
    if (!child->pid)
        return 0;
    close(child->fd);
    int status = 0;
    int waited = waitpid(child->pid, &status, 0) == child->pid;
    if (waited && WIFSIGNALED(status))
        fprintf(stderr, "bench: %s: ended by signal %d\n", engine->name, WTERMSIG(status));
    bench_remove_store(child->dir);
    child->pid = 0;
    return waited && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

/* Has one part run and adds it to *sum. */
static int run_part(const Child *child, size_t workload, unsigned part, BenchFigure *sum)
{
    Request request = {.workload = workload, .part = part};
    BenchFigure figure;
    if (send(child->fd, &request, sizeof request, MSG_NOSIGNAL) != (ssize_t)sizeof request ||
        recv(child->fd, &figure, sizeof figure, 0) != (ssize_t)sizeof figure)
        return -1;
    sum->ops += figure.ops;
    sum->seconds += figure.seconds;
    return 0;
}

static int run_workload(BenchReport *report, const Child *children, size_t workload, unsigned round)
{
    BenchFigure sums[BENCH_MAX_ENGINES] = {{0, 0}};
    const BenchWorkload *load = &bench_workloads[workload];
    for (unsigned part = 0; part < load->parts; part++) {
        for (size_t i = 0; i < report->engine_count; i++) {
            size_t e = (i + part + round) % report->engine_count;
            if (bench_can_run(report->engines[e], load) &&
                run_part(&children[e], workload, part, &sums[e]) != 0)
                return -1;
        }
    }
    for (size_t e = 0; e < report->engine_count; e++)
        bench_report_add(report, e, workload, &sums[e]);
    return 0;
}

static int any_workload(const BenchAdapter *engine, BenchStoreKind kind)
{
    for (size_t w = 0; w < bench_workload_count; w++)
        if (bench_workloads[w].store == kind && bench_can_run(engine, &bench_workloads[w]))
            return 1;
    return 0;
}

/* Every workload on one kind of store. */
static int run_store(BenchReport *report, BenchStoreKind kind, unsigned round,
                     const Options *options, const BenchData *data)
{
    static Child children[BENCH_MAX_ENGINES];
    int rc = 0;
    for (size_t e = 0; e < report->engine_count && !rc; e++)
        if (any_workload(report->engines[e], kind))
            rc = start_child(children, e, report->engines[e], &bench_stores[kind], options, data);
    for (size_t w = 0; w < bench_workload_count && !rc; w++)
        if (bench_workloads[w].store == kind)
            rc = run_workload(report, children, w, round);
    for (size_t e = 0; e < report->engine_count; e++)
        if (end_child(&children[e], report->engines[e]) != 0)
            rc = -1;
    return rc;
}

static int run_rounds(BenchReport *report, const Options *options, const BenchData *data)
{
    for (unsigned round = 0; round < options->rounds; round++) {
        fprintf(stderr, "round %u of %u\n", round + 1, options->rounds);
        for (int kind = 0; kind < BENCH_STORE_KINDS; kind++)
            if (run_store(report, (BenchStoreKind)kind, round, options, data) != 0)
                return -1;
    }
    return 0;
}

/* ---- Output --------------------------------------------------------------------------------- */

static int write_file(const char *path, const BenchReport *report,
                      void (*print)(const BenchReport *, FILE *))
{
    FILE *out = bench_output_open(path);
    if (!out)
        return -1;
    print(report, out);
    return bench_output_close(out, path);
}

static int write_report(const BenchReport *report, const Options *options)
{
    bench_report_text(report, stdout);
    if (options->json && write_file(options->json, report, bench_report_json) != 0)
        return -1;
    if (options->svg && write_file(options->svg, report, bench_report_svg) != 0)
        return -1;
    return 0;
}

/* ---- Options -------------------------------------------------------------------------------- */

static int usage(void)
{
    fprintf(stderr, "usage: bench [--rows N] [--rounds N] [--seed N] [--engines NAME,...]\n"
                    "             [--dir DIR] [--json FILE] [--svg FILE]\n"
                    "engines:");
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        fprintf(stderr, " %s", all_engines[i]->name);
    fprintf(stderr, "\n");
    return 2;
}

/* NULL: all. Fails on names that no engine has. */
static int choose_engines(BenchReport *report, const char *list)
{
    for (size_t i = 0; i < ENGINE_COUNT; i++)
        if (!list || bench_listed(list, all_engines[i]->name))
            report->engines[report->engine_count++] = all_engines[i];
    return list && bench_list_length(list) != report->engine_count ? -1 : 0;
}

static int parse_options(int argc, char **argv, Options *options, BenchReport *report)
{
    static const struct option names[] = {
        {"rows", required_argument, NULL, 'r'}, {"rounds", required_argument, NULL, 'n'},
        {"seed", required_argument, NULL, 's'}, {"engines", required_argument, NULL, 'e'},
        {"dir", required_argument, NULL, 'd'},  {"json", required_argument, NULL, 'j'},
        {"svg", required_argument, NULL, 'v'},  {NULL, 0, NULL, 0},
    };
    const char *engines = NULL;
    uint64_t rounds = options->rounds;
    int c, bad = 0;
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'r':
            bad |= bench_parse_number(optarg, 1, 1u << 30, &options->rows);
            break;
        case 'n':
            bad |= bench_parse_number(optarg, 1, 1000, &rounds);
            break;
        case 's':
            bad |= bench_parse_number(optarg, 0, UINT64_MAX, &options->seed);
            break;
        case 'e':
            engines = optarg;
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
    options->rounds = (unsigned)rounds;
    return bad || optind != argc ? -1 : choose_engines(report, engines);
}

int main(int argc, char **argv)
{
    const char *tmp = getenv("TMPDIR");
    Options options = {.rows = 1000000, .seed = 1, .rounds = 3, .dir = tmp ? tmp : "."};
    static BenchReport report;
    if (parse_options(argc, argv, &options, &report) != 0)
        return usage();
    report.rows = options.rows;
    report.rounds = options.rounds;

    BenchData data;
    int rc = bench_data_init(&data, options.rows, options.seed);
    if (rc)
        fprintf(stderr, "bench: out of memory\n");
    if (!rc)
        rc = run_rounds(&report, &options, &data);
    if (!rc)
        rc = write_report(&report, &options);
    bench_data_release(&data);
    return rc ? 1 : 0;
}
