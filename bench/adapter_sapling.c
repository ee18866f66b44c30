/* adapter_sapling.c - Sapling in memory, a private heap arena, and in a file that is not synced; pages
 * of 4096 bytes. In a file, bulk loads are bulk transactions. */
#include "adapter.h"

#include "sapling/sapling.h"

#include <stdio.h>

enum { PAGE_SIZE = 4096 };

static DB *db_of(BenchDb *db)
{
    return (DB *)db;
}

static Txn *txn_of(BenchTxn *txn)
{
    return (Txn *)txn;
}

static int finish_open(DB *db, const BenchOpen *options, BenchDb **db_out)
{
    int rc = options->dupsort ? dbi_set_dupsort(db, 0, NULL, NULL) : SAP_OK;
    if (rc != SAP_OK) {
        db_close(db);
        return rc;
    }
    *db_out = (BenchDb *)db;
    return SAP_OK;
}

static int open_memory(const BenchOpen *options, BenchDb **db_out)
{
    DB *db = db_open(NULL, PAGE_SIZE, NULL, NULL);
    return db ? finish_open(db, options, db_out) : SAP_NOMEM;
}

static int open_file(const BenchOpen *options, BenchDb **db_out)
{
    SapOpenOptions open = {
        .flags = SAP_OPEN_CREATE, .page_size = PAGE_SIZE, .sync_mode = SAP_SYNC_NONE};
    char path[4200];
    DB *db;
    snprintf(path, sizeof path, "%s/db", options->dir);
    int rc = db_open_path(path, &open, &db);
    return rc == SAP_OK ? finish_open(db, options, db_out) : rc;
}

static void engine_close(BenchDb *db)
{
    db_close(db_of(db));
}

static int engine_begin_read(BenchDb *db, BenchTxn **txn_out)
{
    Txn *txn;
    int rc = txn_begin_rc(db_of(db), NULL, TXN_RDONLY, &txn);
    if (rc == SAP_OK)
        *txn_out = (BenchTxn *)txn;
    return rc;
}

static int engine_begin_write(BenchDb *db, BenchTxn *parent, BenchTxn **txn_out)
{
    Txn *txn;
    int rc = txn_begin_rc(db_of(db), txn_of(parent), 0, &txn);
    if (rc == SAP_OK)
        *txn_out = (BenchTxn *)txn;
    return rc;
}

static int engine_begin_load(BenchDb *db, BenchTxn **txn_out)
{
    Txn *txn;
    int rc = txn_begin_rc(db_of(db), NULL, TXN_BULK, &txn);
    if (rc == SAP_OK)
        *txn_out = (BenchTxn *)txn;
    return rc;
}

static int engine_commit(BenchDb *db, BenchTxn *txn)
{
    (void)db;
    return txn_commit(txn_of(txn));
}

static void engine_abort(BenchDb *db, BenchTxn *txn)
{
    (void)db;
    txn_abort(txn_of(txn));
}

static int engine_put(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, const void *val,
                      size_t val_len)
{
    (void)db;
    return txn_put(txn_of(txn), key, (uint32_t)key_len, val, (uint32_t)val_len);
}

static int engine_get(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len,
                      const void **val_out, size_t *val_len_out)
{
    (void)db;
    uint32_t len;
    int rc = txn_get(txn_of(txn), key, (uint32_t)key_len, val_out, &len);
    if (rc == SAP_OK)
        *val_len_out = len;
    return rc;
}

static int engine_scan(BenchDb *db, BenchTxn *txn, BenchScan *scan)
{
    (void)db;
    Cursor *cur = cursor_open(txn_of(txn));
    if (!cur)
        return SAP_NOMEM;
    int rc;
    while ((rc = cursor_next(cur)) == SAP_OK) {
        const void *key, *val;
        uint32_t key_len, val_len;
        rc = cursor_get(cur, &key, &key_len, &val, &val_len);
        if (rc != SAP_OK)
            break;
        bench_scan_row(scan, key, val);
    }
    cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int engine_load_sorted(BenchDb *db, BenchTxn *txn, const BenchRows *rows)
{
    (void)db;
    return txn_load_sorted(txn_of(txn), 0, rows->keys, rows->key_lens, rows->vals, rows->val_lens,
                           rows->count);
}

static int engine_walk_range(BenchDb *db, BenchTxn *txn, const BenchRange *range,
                             uint64_t *count_out)
{
    (void)db;
    Cursor *cur = cursor_open(txn_of(txn));
    if (!cur)
        return SAP_NOMEM;
    uint64_t count = 0;
    int rc = cursor_seek(cur, range->lo, range->lo_len);
    for (; rc == SAP_OK; rc = cursor_next(cur)) {
        const void *key;
        uint32_t key_len;
        rc = cursor_get_key(cur, &key, &key_len);
        if (rc != SAP_OK || !bench_in_range(range, key, key_len))
            break;
        count++;
    }
    cursor_close(cur);
    *count_out = count;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int engine_count_range(BenchDb *db, BenchTxn *txn, const BenchRange *range,
                              uint64_t *count_out)
{
    (void)db;
    return txn_count_range(txn_of(txn), 0, range->lo, range->lo_len, range->hi, range->hi_len,
                           count_out);
}

static int engine_del_range(BenchDb *db, BenchTxn *txn, const BenchRange *range,
                            uint64_t *count_out)
{
    (void)db;
    return txn_del_range(txn_of(txn), 0, range->lo, range->lo_len, range->hi, range->hi_len,
                         count_out);
}

static int engine_walk_dup(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len,
                           unsigned times, uint64_t *count_out)
{
    (void)db;
    Cursor *cur = cursor_open(txn_of(txn));
    if (!cur)
        return SAP_NOMEM;
    int rc = SAP_OK;
    for (unsigned i = 0; i < times && rc == SAP_OK; i++) {
        rc = cursor_seek(cur, key, (uint32_t)key_len);
        if (rc != SAP_OK)
            break;
        uint64_t count = 1;
        while ((rc = cursor_next_dup(cur)) == SAP_OK)
            count++;
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
        *count_out = count;
    }
    cursor_close(cur);
    return rc;
}

static int engine_count_dup(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len,
                            unsigned times, uint64_t *count_out)
{
    (void)db;
    Cursor *cur = cursor_open(txn_of(txn));
    if (!cur)
        return SAP_NOMEM;
    int rc = SAP_OK;
    for (unsigned i = 0; i < times && rc == SAP_OK; i++) {
        rc = cursor_seek(cur, key, (uint32_t)key_len);
        if (rc == SAP_OK)
            rc = cursor_count_dup(cur, count_out);
    }
    cursor_close(cur);
    return rc;
}

/* What the two have in common. */
#define ENGINE_CALLS                                                                               \
    .can = BENCH_CAN_NEST, .close = engine_close, .begin_read = engine_begin_read,                 \
    .begin_write = engine_begin_write, .commit = engine_commit, .abort = engine_abort,             \
    .put = engine_put, .get = engine_get, .scan = engine_scan, .begin_load = engine_begin_load,    \
    .load_sorted = engine_load_sorted, .walk_range = engine_walk_range,                            \
    .count_range = engine_count_range, .del_range = engine_del_range, .walk_dup = engine_walk_dup, \
    .count_dup = engine_count_dup, .error_text = sap_strerror

const BenchAdapter bench_sapling = {
    .name = "sapling",
    .what = "in memory, heap arena, 4096-byte pages",
    .open = open_memory,
    ENGINE_CALLS,
};

const BenchAdapter bench_sapling_file = {
    .name = "sapling-file",
    .what = "in a file, not synced, 4096-byte pages",
    .open = open_file,
    ENGINE_CALLS,
};
