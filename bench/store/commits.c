/* commits.c - a commit through the store beside the same on the engine. */
#include "measure.h"

#include "data.h"
#include "sapling/sapling.h"
#include "sapling/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_ROWS = 1000, MAX_ROUNDS = 1000 };

typedef struct Side Side;

struct Side {
    SapStore *store; /* NULL: the engine's */
    DB *db;
    /* Puts `count` rows from number `first` on into every table; with waits durably. */
    int (*commit)(Side *side, uint64_t first, uint64_t count, int waits);
    int (*wait)(Side *side);    /* for all commits so far */
    atomic_uint_least64_t next; /* row */
    uint64_t mark;              /* of the last commit of one thread */
    double commits;
    double seconds;
};

static void make_row(uint64_t number, uint8_t key[BENCH_KEY_LEN], uint8_t val[BENCH_VAL_LEN])
{
    uint64_t mixed = bench_mix(number);
    memcpy(key, &mixed, 8);
    mixed = bench_mix(mixed);
    memcpy(key + 8, &mixed, 8);
    memset(val, (int)(number % 251), BENCH_VAL_LEN);
}

/* ---- The two sides -------------------------------------------------------------------------- */

static int store_put_rows(SapStoreTxn *txn, uint64_t first, uint64_t count)
{
    uint8_t key[BENCH_KEY_LEN], val[BENCH_VAL_LEN];
    int rc = SAP_OK;
    for (uint64_t i = 0; i < count; i++) {
        make_row(first + i, key, val);
        for (uint32_t t = 0; t < STORE_TABLES && rc == SAP_OK; t++)
            rc = sap_store_put(txn, STORE_FIRST_TABLE + t, key, sizeof key, val, sizeof val);
    }
    return rc;
}

/* With a guard, as whoever uses it would. */
static int store_commit(Side *side, uint64_t first, uint64_t count, int waits)
{
    SapStoreTxn *txn;
    SapStoreGuard guard = {STORE_FIRST_TABLE, &first, sizeof first, true};
    uint64_t mark;
    int rc = sap_store_begin(side->store, SAP_STORE_GUARDED, &txn);
    if (rc != SAP_OK)
        return rc;
    rc = sap_store_guard(txn, &guard, 1);
    rc = rc == SAP_OK ? store_put_rows(txn, first, count) : rc;
    if (rc != SAP_OK) {
        sap_store_abort(txn);
        return rc;
    }
    return waits ? sap_store_commit(txn, NULL) : sap_store_commit_async(txn, &mark, NULL);
}

/* A commit that writes nothing waits for what it could have read. */
static int store_wait(Side *side)
{
    SapStoreTxn *txn;
    int rc = sap_store_begin(side->store, SAP_STORE_READ_NEWEST, &txn);
    return rc == SAP_OK ? sap_store_commit(txn, NULL) : rc;
}

static int engine_commit(Side *side, uint64_t first, uint64_t count, int waits)
{
    Txn *txn;
    uint8_t key[BENCH_KEY_LEN], val[BENCH_VAL_LEN];
    int rc = txn_begin_rc(side->db, NULL, TXN_WAIT, &txn);
    if (rc != SAP_OK)
        return rc;
    for (uint64_t i = 0; i < count; i++) {
        make_row(first + i, key, val);
        for (uint32_t t = 0; t < STORE_TABLES && rc == SAP_OK; t++)
            rc = txn_put_dbi(txn, STORE_FIRST_TABLE + t, key, sizeof key, val, sizeof val);
    }
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return waits ? txn_commit(txn) : txn_commit_async(txn, NULL);
}

static int engine_wait(Side *side)
{
    Txn *txn;
    int rc = txn_begin_rc(side->db, NULL, TXN_RDONLY | TXN_NEWEST, &txn);
    if (rc != SAP_OK)
        return rc;
    uint64_t lsn = txn_base_lsn(txn);
    txn_abort(txn);
    return db_wait_durable(side->db, lsn);
}

static int open_sides(const char *dir, Side *store, Side *engine)
{
    uint32_t tables[STORE_TABLES];
    char path[4200];
    SapStoreOptions options = {.tables = tables, .table_count = STORE_TABLES};
    for (uint32_t t = 0; t < STORE_TABLES; t++)
        tables[t] = STORE_FIRST_TABLE + t;
    snprintf(path, sizeof path, "sapling:%s/store", dir);
    int rc = sap_store_open(path, &options, &store->store);
    snprintf(path, sizeof path, "%s/engine", dir);
    rc = rc == SAP_OK ? db_open_path(path, NULL, &engine->db) : rc;
    for (uint32_t t = 0; t < STORE_TABLES && rc == SAP_OK; t++)
        rc = dbi_open(engine->db, tables[t], NULL, NULL, 0);
    store->commit = store_commit;
    store->wait = store_wait;
    engine->commit = engine_commit;
    engine->wait = engine_wait;
    return rc;
}

static int fill(Side *side, uint64_t rows)
{
    int rc = SAP_OK;
    for (uint64_t i = 0; i < rows && rc == SAP_OK; i += FILL_ROWS)
        rc = side->commit(side, i, FILL_ROWS, 0);
    atomic_store(&side->next, rows + FILL_ROWS);
    return rc == SAP_OK ? side->wait(side) : rc;
}

/* ---- One part ------------------------------------------------------------------------------- */

typedef struct Part {
    Side *side;
    int waits;
    atomic_int stop;
    atomic_int rc;
    atomic_uint_least64_t commits;
} Part;

static void *run_thread(void *arg)
{
    Part *part = arg;
    uint64_t commits = 0;
    while (!atomic_load_explicit(&part->stop, memory_order_relaxed)) {
        int rc =
            part->side->commit(part->side, atomic_fetch_add(&part->side->next, 1), 1, part->waits);
        if (rc != SAP_OK) {
            atomic_store(&part->rc, rc);
            break;
        }
        commits++;
    }
    atomic_fetch_add(&part->commits, commits);
    return NULL;
}

/* *per_s_out: commits per second. */
static int run_part(Side *side, const StoreCommitsRun *run, double *per_s_out)
{
    Part part = {.side = side, .waits = run->waits};
    pthread_t threads[STORE_MAX_THREADS];
    uint64_t start = bench_now_ns();
    for (uint32_t i = 0; i < run->threads; i++)
        if (pthread_create(&threads[i], NULL, run_thread, &part) != 0)
            return SAP_NOMEM;
    bench_sleep_us(run->ms * 1000);
    atomic_store(&part.stop, 1);
    for (uint32_t i = 0; i < run->threads; i++)
        pthread_join(threads[i], NULL);
    double seconds = (double)(bench_now_ns() - start) / 1e9;
    side->commits += (double)atomic_load(&part.commits);
    side->seconds += seconds;
    *per_s_out = (double)atomic_load(&part.commits) / seconds;
    int rc = atomic_load(&part.rc);
    return rc == SAP_OK ? side->wait(side) : rc; /* the disk is idle again for the other side */
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static int run_rounds(Side *store, Side *engine, const StoreCommitsRun *run, StoreCommits *out)
{
    double costs[MAX_ROUNDS], store_per_s = 0, engine_per_s = 0;
    uint64_t rounds = run->rounds < MAX_ROUNDS ? run->rounds : MAX_ROUNDS;
    for (uint64_t i = 0; i < rounds; i++) {
        int rc = i % 2 ? run_part(engine, run, &engine_per_s) : SAP_OK;
        rc = rc == SAP_OK ? run_part(store, run, &store_per_s) : rc;
        rc = rc == SAP_OK && i % 2 == 0 ? run_part(engine, run, &engine_per_s) : rc;
        if (rc != SAP_OK)
            return rc;
        costs[i] = engine_per_s / store_per_s;
    }
    qsort(costs, rounds, sizeof *costs, compare_doubles);
    *out = (StoreCommits){.rounds = rounds,
                          .store_per_s = store->commits / store->seconds,
                          .engine_per_s = engine->commits / engine->seconds,
                          .cost = costs[rounds / 2]};
    return SAP_OK;
}

int store_measure_commits(const StoreCommitsRun *run, StoreCommits *out)
{
    Side store = {0}, engine = {0};
    int rc = open_sides(run->dir, &store, &engine);
    rc = rc == SAP_OK ? fill(&store, run->rows) : rc;
    rc = rc == SAP_OK ? fill(&engine, run->rows) : rc;
    rc = rc == SAP_OK ? run_rounds(&store, &engine, run, out) : rc;
    sap_store_close(store.store);
    if (engine.db)
        db_close(engine.db);
    if (rc != SAP_OK)
        fprintf(stderr, "bench: commits: %s\n", sap_strerror(rc));
    return rc == SAP_OK ? 0 : -1;
}
