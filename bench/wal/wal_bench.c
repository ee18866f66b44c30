/* wal_bench.c - durable commits over a tree that does nothing, beside what they are measured by.
 *
 *   wal   writer lock, wal_reserve, wal_append, unlock, wal_wait; a checkpoint every half second
 *   bare  one write into a preallocated file and one fdatasync for each commit, under a mutex
 *   lmdb  one put in a synced transaction for each commit
 *
 * Each (engine, number of threads) runs for a while in a fresh directory; the engines take turns,
 * the best round counts. Usage: wal_bench DIR [ROUNDS [MILLISECONDS]]. The exit status is 0 also
 * when a bar is missed. */
#include "common/clock.h"
#include "sapling/error.h"
#include "sapling/wal.h"
#include "sapling/writer_lock.h"

#include <fcntl.h>
#include <inttypes.h>
#include <lmdb.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_THREADS = 64,
    RECORD_LEN = 150,
    BLOCK = 4096,
    BARE_BYTES = 16 << 20,
    MAX_SAMPLES = 1 << 16, /* of each thread */
    CHECKPOINT_US = 500000,
    WARMUP_NS = 50000000,
};

static const uint32_t thread_counts[] = {1, 2, 8, 32, 64};
enum { THREAD_COUNTS = sizeof thread_counts / sizeof *thread_counts };

typedef struct Store Store;

typedef struct Engine {
    const char *name;
    void (*open)(Store *store, const char *dir);
    void (*commit)(Store *store, const uint8_t *record);
    void (*close)(Store *store);
} Engine;

struct Store {
    char path[512];
    WriterLock writer;
    Wal *wal;
    uint64_t lsn; /* under the writer lock */
    pthread_t checkpoints;
    atomic_bool stop;

    pthread_mutex_t mutex;
    int fd;
    uint64_t offset;

    MDB_env *env;
    MDB_dbi dbi;
    atomic_ullong next_key;
};

static void must(bool ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "wal_bench: %s failed\n", what);
        exit(1);
    }
}

/* ---- The engines ---------------------------------------------------------------------------- */

static void *checkpoint_now_and_then(void *arg)
{
    Store *store = arg;

    for (uint32_t ticks = 1; !atomic_load(&store->stop); ticks++) {
        WalPoint point;
        usleep(CHECKPOINT_US / 50);
        if (wal_wants_prepare(store->wal)) {
            must(wal_prepare(store->wal) == SAP_OK, "prepare");
        }
        if (ticks % 50 != 0) {
            continue;
        }
        must(writer_lock_take(&store->writer, true), "the lock");
        must(wal_rotate(store->wal, &point) == SAP_OK, "rotate");
        writer_lock_release(&store->writer);
        must(wal_release(store->wal, point.segment) == SAP_OK, "release");
    }
    return NULL;
}

static void open_wal(Store *store, const char *dir)
{
    static const WalOptions options = {.spare_max = 4};

    snprintf(store->path, sizeof store->path, "%s/db", dir);
    must(writer_lock_init(&store->writer), "the lock");
    must(wal_open(&store->wal, store->path, 1, &WAL_POINT_FIRST, 0, &options) == SAP_OK, "open");
    must(pthread_create(&store->checkpoints, NULL, checkpoint_now_and_then, store) == 0,
         "a thread");
}

static void commit_wal(Store *store, const uint8_t *record)
{
    must(writer_lock_take(&store->writer, true), "the lock");
    must(wal_reserve(store->wal, RECORD_LEN) == SAP_OK, "reserve");
    uint64_t lsn = ++store->lsn;
    must(wal_append(store->wal, lsn, record, RECORD_LEN, NULL, NULL) == SAP_OK, "append");
    writer_lock_release(&store->writer);
    must(wal_wait(store->wal, lsn) == SAP_OK, "wait");
}

static void close_wal(Store *store)
{
    atomic_store(&store->stop, true);
    pthread_join(store->checkpoints, NULL);
    wal_close(store->wal);
    writer_lock_destroy(&store->writer);
}

static void open_bare(Store *store, const char *dir)
{
    static const uint8_t zeros[1 << 16];

    snprintf(store->path, sizeof store->path, "%s/log", dir);
    pthread_mutex_init(&store->mutex, NULL);
    store->fd = open(store->path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    must(store->fd >= 0, "open");
    for (off_t at = 0; at < BARE_BYTES; at += (off_t)sizeof zeros) {
        must(pwrite(store->fd, zeros, sizeof zeros, at) == (ssize_t)sizeof zeros, "write");
    }
    must(fsync(store->fd) == 0, "sync");
}

static void commit_bare(Store *store, const uint8_t *record)
{
    uint8_t block[BLOCK] = {0};

    memcpy(block, record, RECORD_LEN);
    pthread_mutex_lock(&store->mutex);
    must(pwrite(store->fd, block, sizeof block, (off_t)store->offset) == BLOCK, "write");
    store->offset = (store->offset + BLOCK) % BARE_BYTES;
    must(fdatasync(store->fd) == 0, "sync");
    pthread_mutex_unlock(&store->mutex);
}

static void close_bare(Store *store)
{
    close(store->fd);
    pthread_mutex_destroy(&store->mutex);
}

static void open_lmdb(Store *store, const char *dir)
{
    MDB_txn *txn;

    must(mdb_env_create(&store->env) == 0, "lmdb create");
    must(mdb_env_set_mapsize(store->env, (size_t)1 << 30) == 0, "lmdb mapsize");
    must(mdb_env_open(store->env, dir, 0, 0644) == 0, "lmdb open");
    must(mdb_txn_begin(store->env, NULL, 0, &txn) == 0, "lmdb begin");
    must(mdb_dbi_open(txn, NULL, MDB_CREATE, &store->dbi) == 0, "lmdb dbi");
    must(mdb_txn_commit(txn) == 0, "lmdb commit");
}

static void commit_lmdb(Store *store, const uint8_t *record)
{
    uint64_t number = atomic_fetch_add(&store->next_key, 1);
    uint8_t bytes[16] = {0};
    MDB_val key = {sizeof bytes, bytes};
    MDB_val value = {RECORD_LEN - sizeof bytes, (void *)(uintptr_t)record};
    MDB_txn *txn;

    number *= UINT64_C(0x9e3779b97f4a7c15); /* keys in random order */
    memcpy(bytes, &number, sizeof number);
    must(mdb_txn_begin(store->env, NULL, 0, &txn) == 0, "lmdb begin");
    must(mdb_put(txn, store->dbi, &key, &value, 0) == 0, "lmdb put");
    must(mdb_txn_commit(txn) == 0, "lmdb commit");
}

static void close_lmdb(Store *store)
{
    mdb_env_close(store->env);
}

static const Engine engines[] = {
    {"wal", open_wal, commit_wal, close_wal},
    {"bare", open_bare, commit_bare, close_bare},
    {"lmdb", open_lmdb, commit_lmdb, close_lmdb},
};
enum { WAL, BARE, LMDB, ENGINE_COUNT };

/* ---- Measuring ------------------------------------------------------------------------------ */

typedef struct Worker {
    const Engine *engine;
    Store *store;
    pthread_t thread;
    uint64_t from_ns; /* commits that begin before it do not count */
    uint64_t until_ns;
    uint64_t commits;
    uint32_t *samples; /* microseconds */
} Worker;

typedef struct Figure {
    double per_second;
    uint32_t p50_us;
    uint32_t p99_us;
} Figure;

static void *work(void *arg)
{
    Worker *worker = arg;
    uint8_t record[RECORD_LEN];

    memset(record, 'r', sizeof record);
    for (;;) {
        uint64_t begin = clock_mono_ns(NULL);
        if (begin >= worker->until_ns) {
            return NULL;
        }
        worker->engine->commit(worker->store, record);
        if (begin >= worker->from_ns) {
            uint64_t us = (clock_mono_ns(NULL) - begin) / 1000;
            worker->samples[worker->commits++ % MAX_SAMPLES] = (uint32_t)us;
        }
    }
}

static int compare_samples(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static Figure summarise(const Worker *workers, uint32_t threads, double seconds)
{
    uint32_t *all = malloc((size_t)threads * MAX_SAMPLES * sizeof *all);
    size_t count = 0;
    uint64_t commits = 0;

    must(all != NULL, "memory");
    for (uint32_t i = 0; i < threads; i++) {
        size_t kept = workers[i].commits < MAX_SAMPLES ? workers[i].commits : MAX_SAMPLES;
        memcpy(all + count, workers[i].samples, kept * sizeof *all);
        count += kept;
        commits += workers[i].commits;
    }
    must(count > 0, "every commit");
    qsort(all, count, sizeof *all, compare_samples);
    Figure figure = {(double)commits / seconds, all[count / 2], all[count - 1 - count / 100]};
    free(all);
    return figure;
}

static Figure measure(const Engine *engine, const char *dir, uint32_t threads, uint64_t run_ns)
{
    static Worker workers[MAX_THREADS];
    Store *store = calloc(1, sizeof *store);
    char command[600];

    must(store != NULL, "memory");
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", dir, dir);
    must(system(command) == 0, "a fresh directory");
    engine->open(store, dir);
    uint64_t from = clock_mono_ns(NULL) + WARMUP_NS;
    for (uint32_t i = 0; i < threads; i++) {
        workers[i] = (Worker){.engine = engine,
                              .store = store,
                              .from_ns = from,
                              .until_ns = from + run_ns,
                              .samples = malloc(MAX_SAMPLES * sizeof(uint32_t))};
        must(workers[i].samples != NULL, "memory");
        must(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0, "a thread");
    }
    for (uint32_t i = 0; i < threads; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    double seconds = (double)(clock_mono_ns(NULL) - from) / 1e9;
    engine->close(store);
    Figure figure = summarise(workers, threads, seconds);
    for (uint32_t i = 0; i < threads; i++) {
        free(workers[i].samples);
    }
    free(store);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    must(system(command) == 0, "cleaning up");
    return figure;
}

/* ---- Report --------------------------------------------------------------------------------- */

static void print_bar(const char *text, double ratio, double bar)
{
    printf("  %-34s %6.2f x   bar %5.2f   %s\n", text, ratio, bar,
           ratio >= bar ? "holds" : "MISSED");
}

static void report(Figure best[THREAD_COUNTS][ENGINE_COUNT])
{
    printf("%8s", "threads");
    for (int e = 0; e < ENGINE_COUNT; e++) {
        printf(" | %5s/s    p50 us  p99 us", engines[e].name);
    }
    printf("\n");
    for (int t = 0; t < THREAD_COUNTS; t++) {
        printf("%8u", thread_counts[t]);
        for (int e = 0; e < ENGINE_COUNT; e++) {
            const Figure *f = &best[t][e];
            printf(" | %8.0f %8u %7u", f->per_second, f->p50_us, f->p99_us);
        }
        printf("\n");
    }
    print_bar("1 thread to lmdb", best[0][WAL].per_second / best[0][LMDB].per_second, 2);
    print_bar("1 thread to bare log", best[0][WAL].per_second / best[0][BARE].per_second, 0.8);
    print_bar("8 threads to lmdb", best[2][WAL].per_second / best[2][LMDB].per_second, 8);
    print_bar("32 threads to lmdb", best[3][WAL].per_second / best[3][LMDB].per_second, 15);
}

int main(int argc, char **argv)
{
    static Figure best[THREAD_COUNTS][ENGINE_COUNT];
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 3;
    uint64_t run_ns = (argc > 3 ? (uint64_t)atoi(argv[3]) : 700) * 1000000;

    if (argc < 2 || rounds == 0 || run_ns == 0) {
        fprintf(stderr, "usage: wal_bench DIR [ROUNDS [MILLISECONDS]]\n");
        return 2;
    }
    for (unsigned round = 0; round < rounds; round++) {
        for (int t = 0; t < THREAD_COUNTS; t++) {
            for (unsigned i = 0; i < ENGINE_COUNT; i++) {
                unsigned e = (i + round) % ENGINE_COUNT;
                Figure figure = measure(&engines[e], argv[1], thread_counts[t], run_ns);
                if (figure.per_second > best[t][e].per_second) {
                    best[t][e] = figure;
                }
            }
        }
    }
    report(best);
    return 0;
}
