/* cycles.c - what a cycle of a world does, through the store and in SERIALIZABLE transactions. */
#include "measure.h"

#include "sapling/store.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { HEADS = STORE_FIRST_TABLE, JOURNAL, INBOX, WORLDS = 64, VALUE = 100 };

typedef struct Cycles {
    const StoreCyclesRun *run;
    SapStore *store;
    atomic_int stop;
    atomic_int failed;
    atomic_uint next_thread;
    atomic_uint_least64_t done, retried;
} Cycles;

/* What one cycle works on: a re-run does the same again. */
typedef struct Cycle {
    char world[16];
    char journal[48];
    char value[VALUE];
} Cycle;

static void choose_cycle(Cycle *cycle, uint32_t thread, uint64_t number, uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    unsigned world = (unsigned)(*random >> 33) % WORLDS;
    memset(cycle, 'v', sizeof *cycle);
    snprintf(cycle->world, sizeof cycle->world, "world%02u", world);
    snprintf(cycle->journal, sizeof cycle->journal, "%s/%02u/%012llu", cycle->world, thread,
             (unsigned long long)number);
}

/* ---- Through the store ---------------------------------------------------------------------- */

static int store_cycle(SapStoreTxn *txn, void *arg)
{
    const Cycle *cycle = arg;
    uint32_t world_len = (uint32_t)strlen(cycle->world);
    uint32_t journal_len = (uint32_t)strlen(cycle->journal);
    SapStoreGuard guard = {HEADS, cycle->world, world_len, true};
    const void *val;
    uint32_t len;
    int rc = sap_store_guard(txn, &guard, 1);
    rc = rc == SAP_OK ? sap_store_get(txn, HEADS, cycle->world, world_len, &val, &len) : rc;
    if (rc != SAP_OK && rc != SAP_NOTFOUND)
        return rc;
    rc = sap_store_put(txn, HEADS, cycle->world, world_len, cycle->value, VALUE);
    rc = rc == SAP_OK
             ? sap_store_put(txn, JOURNAL, cycle->journal, journal_len, cycle->value, VALUE)
             : rc;
    return rc == SAP_OK ? sap_store_put(txn, INBOX, cycle->world, world_len, "", 0) : rc;
}

static int run_store_cycle(Cycles *cycles, Cycle *cycle)
{
    return sap_store_run(cycles->store, SAP_STORE_GUARDED, store_cycle, cycle, NULL);
}

/* ---- SERIALIZABLE --------------------------------------------------------------------------- */

static const char *const serial_texts[] = {
    "SELECT v FROM bench.t16 WHERE k = $1",
    "INSERT INTO bench.t16 (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
    "INSERT INTO bench.t17 (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
    "INSERT INTO bench.t18 (k, v) VALUES ($1, $2) ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
};

/* A ROLLBACK after a COMMIT that failed warns. */
static void ignore_notice(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

static int connect_serial(const char *conninfo, PGconn **pg)
{
    *pg = PQconnectdb(conninfo);
    PQsetNoticeProcessor(*pg, ignore_notice, NULL);
    int ok = PQstatus(*pg) == CONNECTION_OK;
    for (int i = 0; i < 4 && ok; i++) {
        char name[8];
        snprintf(name, sizeof name, "s%d", i);
        PGresult *result = PQprepare(*pg, name, serial_texts[i], 0, NULL);
        ok = PQresultStatus(result) == PGRES_COMMAND_OK;
        PQclear(result);
    }
    if (!ok)
        fprintf(stderr, "bench: %s", PQerrorMessage(*pg));
    return ok ? 0 : -1;
}

/* 0; 1: it must run again; -1: it failed. */
static int judge_result(PGconn *pg, PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    int again = state && (!strcmp(state, "40001") || !strcmp(state, "40P01"));
    int ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
    if (!ok && !again)
        fprintf(stderr, "bench: %s", PQerrorMessage(pg));
    PQclear(result);
    return ok ? 0 : again ? 1 : -1;
}

static int exec_prepared(PGconn *pg, int statement, const char *key, const char *value, int len)
{
    const char *values[] = {key, value};
    int lengths[] = {(int)strlen(key), len};
    int formats[] = {1, 1};
    char name[8];
    snprintf(name, sizeof name, "s%d", statement);
    int count = statement == 0 ? 1 : 2;
    return judge_result(pg, PQexecPrepared(pg, name, count, values, lengths, formats, 1));
}

static int attempt_serial(PGconn *pg, const Cycle *cycle)
{
    int rc = judge_result(pg, PQexec(pg, "BEGIN ISOLATION LEVEL SERIALIZABLE"));
    rc = rc ? rc : exec_prepared(pg, 0, cycle->world, NULL, 0);
    rc = rc ? rc : exec_prepared(pg, 1, cycle->world, cycle->value, VALUE);
    rc = rc ? rc : exec_prepared(pg, 2, cycle->journal, cycle->value, VALUE);
    rc = rc ? rc : exec_prepared(pg, 3, cycle->world, "", 0);
    rc = rc ? rc : judge_result(pg, PQexec(pg, "COMMIT"));
    if (rc)
        PQclear(PQexec(pg, "ROLLBACK"));
    return rc;
}

static int run_serial_cycle(Cycles *cycles, PGconn *pg, const Cycle *cycle)
{
    int rc;
    while ((rc = attempt_serial(pg, cycle)) == 1)
        atomic_fetch_add(&cycles->retried, 1);
    return rc;
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void *run_cycles(void *arg)
{
    Cycles *cycles = arg;
    uint32_t thread = atomic_fetch_add(&cycles->next_thread, 1);
    uint64_t random = thread + 1;
    PGconn *pg = NULL;
    int rc = cycles->run->conninfo ? connect_serial(cycles->run->conninfo, &pg) : 0;
    for (uint64_t i = 0; !rc && !atomic_load_explicit(&cycles->stop, memory_order_relaxed); i++) {
        Cycle cycle;
        choose_cycle(&cycle, thread, i, &random);
        rc = pg ? run_serial_cycle(cycles, pg, &cycle) : run_store_cycle(cycles, &cycle);
        atomic_fetch_add(&cycles->done, rc == 0);
    }
    if (rc) {
        fprintf(stderr, "bench: a cycle failed: %d\n", rc);
        atomic_store(&cycles->failed, 1);
    }
    PQfinish(pg);
    return NULL;
}

static SapStore *open_store(const char *url)
{
    static const uint32_t tables[] = {HEADS, JOURNAL, INBOX};
    SapStore *store = NULL;
    SapStoreOptions options = {.size = sizeof options, .tables = tables, .table_count = 3};
    if (sap_store_init(url, &options) != SAP_OK || sap_store_open(url, &options, &store) != SAP_OK)
        fprintf(stderr, "bench: %s\n", sap_open_error());
    return store;
}

int store_measure_cycles(const StoreCyclesRun *run, StoreCycles *out)
{
    Cycles cycles = {.run = run, .store = open_store(run->url)};
    pthread_t threads[STORE_MAX_THREADS];
    SapStoreStats stats;
    if (!cycles.store)
        return -1;
    uint64_t start = bench_now_ns();
    for (uint32_t i = 0; i < run->threads; i++)
        if (pthread_create(&threads[i], NULL, run_cycles, &cycles) != 0)
            return -1;
    bench_sleep_us(run->ms * 1000);
    atomic_store(&cycles.stop, 1);
    for (uint32_t i = 0; i < run->threads; i++)
        pthread_join(threads[i], NULL);
    double done = (double)atomic_load(&cycles.done);
    out->per_s = done / ((double)(bench_now_ns() - start) / 1e9);
    sap_store_stats(cycles.store, &stats);
    double retried = (double)atomic_load(&cycles.retried) + (double)stats.run_again;
    out->retried = retried / (done + retried);
    return sap_store_close(cycles.store) == SAP_OK && !atomic_load(&cycles.failed) ? 0 : -1;
}
