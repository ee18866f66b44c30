/* run.c - fills a store, commits from many threads, checks what is there afterwards. */
#include "run.h"

#include "util.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

void dur_make_row(uint64_t seed, uint64_t n, DurRow *row)
{
    BenchData data = {.seed = seed};
    bench_make_key(&data, n, row->key);
    bench_make_value(row->key, row->val);
}

static int failed(const DurRun *run, const char *what, int rc)
{
    fprintf(stderr, "bench: %s: %s: %s\n", run->engine->name, what, run->engine->error_text(rc));
    return -1;
}

/* ---- Opening, filling, checking ------------------------------------------------------------- */

static int open_store(const DurRun *run, DurStore **store_out)
{
    DurOpen open = {
        .dir = run->dir, .tables = run->tables, .checkpoint_bytes = run->checkpoint_bytes};
    int rc = run->engine->open(&open, store_out);
    return rc ? failed(run, "open", rc) : 0;
}

static int close_store(const DurRun *run, DurStore *store)
{
    int rc = run->engine->close(store);
    return rc ? failed(run, "close", rc) : 0;
}

static int sync_dir(const DurRun *run)
{
    int fd = open(run->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int bad = fd < 0 || syncfs(fd) != 0;
    if (bad)
        perror("bench: syncfs");
    if (fd >= 0)
        close(fd);
    return bad ? -1 : 0;
}

/* A store with its rows, all of it on disk: what filling left behind is not written while commits
 * are measured. */
static int open_filled(const DurRun *run, DurStore **store_out)
{
    if (open_store(run, store_out) != 0)
        return -1;
    int rc = run->engine->fill(*store_out, run->rows, run->row_count);
    rc = rc ? failed(run, "fill", rc) : sync_dir(run);
    if (rc)
        run->engine->close(*store_out);
    return rc;
}

/* Opens the store again; every table must have the rows it began with and one for each commit. */
static int check_rows(const DurRun *run, uint64_t commits)
{
    DurStore *store;
    if (open_store(run, &store) != 0)
        return -1;
    int rc = 0;
    for (uint32_t t = 0; t < run->tables && !rc; t++) {
        uint64_t rows = 0, expected = run->row_count + commits;
        rc = run->engine->count(store, t, &rows);
        if (rc) {
            failed(run, "count", rc);
        } else if (rows != expected) {
            fprintf(stderr, "bench: %s: table %u has %llu rows after %llu were acknowledged\n",
                    run->engine->name, t, (unsigned long long)rows, (unsigned long long)expected);
            rc = -1;
        }
    }
    return close_store(run, store) == 0 && !rc ? 0 : -1;
}

/* ---- Threads -------------------------------------------------------------------------------- */

typedef struct Worker {
    const DurRun *run;
    DurStore *store;
    DurSession *session;
    uint64_t first_key;        /* no other worker has numbers like these */
    uint64_t begin_ns, end_ns; /* commits that return between them are measured */
    uint64_t commits;          /* all that were acknowledged */
    BenchSamples samples;      /* what the measured ones took */
    int rc;                    /* -1 after a message */
} Worker;

static int commit_next(Worker *worker)
{
    DurRow row;
    dur_make_row(worker->run->seed, worker->first_key + worker->commits, &row);
    int rc = worker->run->engine->commit(worker->store, worker->session, &row);
    if (rc)
        return failed(worker->run, "commit", rc);
    worker->commits++;
    return 0;
}

static void *work(void *arg)
{
    Worker *worker = arg;
    uint64_t before = bench_now_ns();
    while (before < worker->end_ns && !worker->rc) {
        worker->rc = commit_next(worker);
        uint64_t after = bench_now_ns();
        if (!worker->rc && after >= worker->begin_ns && after < worker->end_ns)
            worker->rc = bench_samples_add(&worker->samples, after - before);
        before = after;
    }
    return NULL;
}

static int open_worker(Worker *worker, const DurRun *run, DurStore *store, uint32_t index)
{
    *worker = (Worker){.run = run, .store = store};
    worker->first_key = run->row_count + ((uint64_t)(index + 1) << 40);
    int rc = run->engine->session_open ? run->engine->session_open(store, &worker->session) : 0;
    return rc ? failed(run, "session", rc) : 0;
}

static void close_worker(Worker *worker)
{
    if (worker->session)
        worker->run->engine->session_close(worker->session);
    bench_samples_release(&worker->samples);
}

/* Starts the workers, whose sessions are open, and waits for their end. */
static int run_workers(const DurRun *run, Worker *workers)
{
    pthread_t threads[DUR_MAX_THREADS];
    uint64_t begin_ns = bench_now_ns() + (uint64_t)DUR_WARM_UP_MS * 1000000u;
    uint32_t started = 0;
    int rc = 0;
    for (; started < run->threads && !rc; started++) {
        workers[started].begin_ns = begin_ns;
        workers[started].end_ns = begin_ns + (uint64_t)run->ms * 1000000u;
        rc = pthread_create(&threads[started], NULL, work, &workers[started]);
        if (rc) {
            fprintf(stderr, "bench: no thread: %s\n", strerror(rc));
            break;
        }
    }
    for (uint32_t i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (workers[i].rc)
            rc = -1;
    }
    return rc ? -1 : 0;
}

/* ---- Commits -------------------------------------------------------------------------------- */

/* Of all workers together. */
static int summarize(const DurRun *run, const Worker *workers, DurFigure *out)
{
    BenchSamples all = {0};
    int rc = 0;
    for (uint32_t i = 0; i < run->threads && !rc; i++)
        rc = bench_samples_append(&all, &workers[i].samples);
    if (!rc && all.count == 0) {
        fprintf(stderr, "bench: %s: no commit in %u ms\n", run->engine->name, run->ms);
        rc = -1;
    }
    if (!rc) {
        bench_samples_sort(&all);
        *out = (DurFigure){.commits = all.count,
                           .seconds = run->ms / 1e3,
                           .p50_ns = all.ns[all.count / 2],
                           .p99_ns = all.ns[all.count - 1 - all.count / 100],
                           .max_ns = all.ns[all.count - 1]};
    }
    bench_samples_release(&all);
    return rc;
}

int dur_run_commits(const DurRun *run, DurFigure *out)
{
    static Worker workers[DUR_MAX_THREADS];
    DurStore *store;
    if (open_filled(run, &store) != 0)
        return -1;
    uint32_t open = 0;
    int rc = 0;
    while (open < run->threads && !rc) {
        rc = open_worker(&workers[open], run, store, open);
        open += !rc;
    }
    if (!rc)
        rc = run_workers(run, workers);
    if (!rc)
        rc = summarize(run, workers, out);
    uint64_t commits = 0;
    for (uint32_t i = 0; i < open; i++) {
        commits += workers[i].commits;
        close_worker(&workers[i]);
    }
    if (close_store(run, store) != 0)
        rc = -1;
    return rc ? rc : check_rows(run, commits);
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* What this process, all its threads, has had written to disk. */
static int process_bytes(uint64_t *out)
{
    FILE *io = fopen("/proc/self/io", "r");
    if (!io) {
        perror("bench: /proc/self/io");
        return -1;
    }
    char line[128];
    unsigned long long n;
    int found = 0;
    while (!found && fgets(line, sizeof line, io))
        found = sscanf(line, "write_bytes: %llu", &n) == 1;
    fclose(io);
    if (!found) {
        fprintf(stderr, "bench: /proc/self/io has no write_bytes\n");
        return -1;
    }
    *out = n;
    return 0;
}

/* What the disk that `dir` is on was sent by anybody; 0 where nobody counts it. */
static uint64_t disk_bytes(const char *dir)
{
    struct stat st;
    char path[64];
    if (stat(dir, &st) != 0)
        return 0;
    snprintf(path, sizeof path, "/sys/dev/block/%u:%u/stat", major(st.st_dev), minor(st.st_dev));
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    unsigned long long sectors = 0;
    if (fscanf(file, "%*u %*u %*u %*u %*u %*u %llu", &sectors) != 1)
        sectors = 0;
    fclose(file);
    return sectors * 512;
}

static int read_counters(const DurRun *run, DurBytes *out)
{
    out->disk_bytes = disk_bytes(run->dir);
    return process_bytes(&out->process_bytes);
}

static int commit_many(Worker *worker, uint64_t count)
{
    int rc = 0;
    for (uint64_t i = 0; i < count && !rc; i++)
        rc = commit_next(worker);
    return rc;
}

/* All of the store is on disk, and no work is left that would come later. */
static int settle(const DurRun *run, DurStore **store)
{
    if (run->engine->settle != NULL) {
        int rc = run->engine->settle(*store);
        return rc == 0 ? sync_dir(run) : failed(run, "settle", rc);
    }
    if (close_store(run, *store) != 0)
        return -1;
    *store = NULL;
    return sync_dir(run) == 0 ? open_store(run, store) : -1;
}

int dur_run_bytes(const DurRun *run, DurBytes *out)
{
    uint64_t cycle = run->engine->cycle_commits(run->checkpoint_bytes);
    uint64_t commits = 0;
    DurStore *store;
    if (open_filled(run, &store) != 0)
        return -1;
    DurBytes before = {0}, after = {0};
    int rc = 0;
    for (int cycles = 1; cycles <= 3 && !rc; cycles += 2) {
        Worker worker;
        rc = settle(run, &store);
        if (!rc)
            rc = read_counters(run, &before);
        if (!rc)
            rc = open_worker(&worker, run, store, (uint32_t)cycles);
        if (!rc) {
            rc = commit_many(&worker, (uint64_t)cycles * cycle);
            commits += worker.commits;
            close_worker(&worker);
        }
    }
    if (store && close_store(run, store) != 0)
        rc = -1;
    if (!rc)
        rc = sync_dir(run);
    if (!rc)
        rc = read_counters(run, &after);
    if (rc)
        return -1;
    *out = (DurBytes){.commits = 3 * cycle,
                      .process_bytes = after.process_bytes - before.process_bytes,
                      .disk_bytes = after.disk_bytes - before.disk_bytes};
    return check_rows(run, commits);
}
