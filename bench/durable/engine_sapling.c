/* engine_sapling.c - Sapling in a file, every commit synced, otherwise the defaults. */
#include "engine.h"

#include "sapling/sapling.h"

#include <stdio.h>
#include <stdlib.h>

enum { GROUP_BYTES = 4096 }; /* of log, for each commit that shares none with others */

struct DurStore {
    DB *db;
    uint32_t tables;
};

static uint64_t engine_cycle_commits(uint64_t checkpoint_bytes)
{
    return checkpoint_bytes / GROUP_BYTES;
}

static void print_message(const char *text, void *ctx)
{
    (void)ctx;
    fprintf(stderr, "bench: sapling: %s\n", text);
}

static int engine_close(DurStore *store)
{
    db_close(store->db);
    free(store);
    return SAP_OK;
}

/* Closing would remove the log, and the next open would measure a young one. */
static int engine_settle(DurStore *store)
{
    return db_sync(store->db);
}

static int engine_open(const DurOpen *options, DurStore **store_out)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/data", options->dir);
    SapOpenOptions open = {.flags = SAP_OPEN_CREATE,
                           .sync_mode = SAP_SYNC_COMMIT,
                           .checkpoint_bytes = options->checkpoint_bytes,
                           .on_message = print_message};
    DurStore *store = malloc(sizeof *store);
    if (!store)
        return SAP_NOMEM;
    store->tables = options->tables;
    int rc = db_open_path(path, &open, &store->db);
    if (rc != SAP_OK) {
        free(store);
        return rc;
    }
    for (uint32_t t = 0; t < store->tables && rc == SAP_OK; t++)
        rc = dbi_open(store->db, t, NULL, NULL, 0);
    if (rc != SAP_OK) {
        engine_close(store);
        return rc;
    }
    *store_out = store;
    return SAP_OK;
}

static int put_row(const DurStore *store, Txn *txn, const DurRow *row)
{
    int rc = SAP_OK;
    for (uint32_t t = 0; t < store->tables && rc == SAP_OK; t++)
        rc = txn_put_dbi(txn, t, row->key, BENCH_KEY_LEN, row->val, BENCH_VAL_LEN);
    return rc;
}

static int put_rows(const DurStore *store, unsigned flags, const DurRow *rows, uint64_t count)
{
    Txn *txn;
    int rc = txn_begin_rc(store->db, NULL, flags, &txn);
    if (rc != SAP_OK)
        return rc;
    for (uint64_t i = 0; i < count && rc == SAP_OK; i++)
        rc = put_row(store, txn, &rows[i]);
    if (rc != SAP_OK) {
        txn_abort(txn);
        return rc;
    }
    return txn_commit(txn);
}

static int engine_fill(DurStore *store, const DurRow *rows, uint64_t count)
{
    return put_rows(store, TXN_WAIT | TXN_BULK, rows, count);
}

static int engine_commit(DurStore *store, DurSession *session, const DurRow *row)
{
    (void)session;
    return put_rows(store, TXN_WAIT, row, 1);
}

static int engine_count(DurStore *store, uint32_t table, uint64_t *rows_out)
{
    Txn *txn;
    int rc = txn_begin_rc(store->db, NULL, TXN_RDONLY, &txn);
    if (rc != SAP_OK)
        return rc;
    Cursor *cur = cursor_open_dbi(txn, table);
    uint64_t rows = 0;
    rc = cur ? SAP_OK : SAP_NOMEM;
    while (rc == SAP_OK && (rc = cursor_next(cur)) == SAP_OK)
        rows++;
    cursor_close(cur);
    txn_abort(txn);
    *rows_out = rows;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

const DurEngine dur_sapling = {
    .name = "sapling",
    .what = "SAP_SYNC_COMMIT, 4096-byte pages",
    .cycle_commits = engine_cycle_commits,
    .open = engine_open,
    .close = engine_close,
    .settle = engine_settle,
    .fill = engine_fill,
    .commit = engine_commit,
    .count = engine_count,
    .error_text = sap_strerror,
};
