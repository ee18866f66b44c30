/* engine_lmdb.c - LMDB as it is by default: every commit writes its pages and syncs. */
#include "engine.h"

#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>

#define MAP_BYTES ((size_t)4 << 30)

struct DurStore {
    MDB_env *env;
    uint32_t tables;
    MDB_dbi dbis[DUR_MAX_TABLES];
};

/* Nothing is left for later: a cycle only has to be long enough to be typical. */
static uint64_t engine_cycle_commits(uint64_t checkpoint_bytes)
{
    (void)checkpoint_bytes;
    return 2000;
}

static int engine_close(DurStore *store)
{
    mdb_env_close(store->env);
    free(store);
    return 0;
}

/* A single table is the unnamed one, which saves LMDB the page with the names at each commit. */
static int open_tables(DurStore *store)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (rc)
        return rc;
    for (uint32_t t = 0; t < store->tables && !rc; t++) {
        char name[16];
        snprintf(name, sizeof name, "t%u", t);
        rc = mdb_dbi_open(txn, store->tables > 1 ? name : NULL, MDB_CREATE, &store->dbis[t]);
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

static int engine_open(const DurOpen *options, DurStore **store_out)
{
    DurStore *store = malloc(sizeof *store);
    if (!store)
        return ENOMEM;
    store->tables = options->tables;
    int rc = mdb_env_create(&store->env);
    if (rc) {
        free(store);
        return rc;
    }
    rc = mdb_env_set_mapsize(store->env, MAP_BYTES);
    if (!rc)
        rc = mdb_env_set_maxdbs(store->env, DUR_MAX_TABLES);
    if (!rc)
        rc = mdb_env_open(store->env, options->dir, 0, 0600);
    if (!rc)
        rc = open_tables(store);
    if (rc) {
        engine_close(store);
        return rc;
    }
    *store_out = store;
    return 0;
}

static int put_rows(DurStore *store, const DurRow *rows, uint64_t count)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (rc)
        return rc;
    for (uint64_t i = 0; i < count && !rc; i++) {
        for (uint32_t t = 0; t < store->tables && !rc; t++) {
            MDB_val k = {BENCH_KEY_LEN, (void *)(uintptr_t)rows[i].key};
            MDB_val v = {BENCH_VAL_LEN, (void *)(uintptr_t)rows[i].val};
            rc = mdb_put(txn, store->dbis[t], &k, &v, 0);
        }
    }
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

static int engine_fill(DurStore *store, const DurRow *rows, uint64_t count)
{
    return put_rows(store, rows, count);
}

static int engine_commit(DurStore *store, DurSession *session, const DurRow *row)
{
    (void)session;
    return put_rows(store, row, 1);
}

static int engine_count(DurStore *store, uint32_t table, uint64_t *rows_out)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env, NULL, MDB_RDONLY, &txn);
    if (rc)
        return rc;
    MDB_cursor *cur;
    rc = mdb_cursor_open(txn, store->dbis[table], &cur);
    if (!rc) {
        MDB_val k, v;
        uint64_t rows = 0;
        while ((rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) == 0)
            rows++;
        mdb_cursor_close(cur);
        *rows_out = rows;
    }
    mdb_txn_abort(txn);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static const char *engine_error_text(int rc)
{
    return mdb_strerror(rc);
}

const DurEngine dur_lmdb = {
    .name = "lmdb",
    .what = "the defaults: synced",
    .cycle_commits = engine_cycle_commits,
    .open = engine_open,
    .close = engine_close,
    .fill = engine_fill,
    .commit = engine_commit,
    .count = engine_count,
    .error_text = engine_error_text,
};
