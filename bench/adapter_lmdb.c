/* adapter_lmdb.c - LMDB, plain and with MDB_WRITEMAP.
 *
 * Without sync nothing waits for the disk: both modes then work in the page cache, which is the
 * nearest LMDB comes to an engine in memory. WRITEMAP stores straight into the mapping, plain LMDB
 * writes its dirty pages at commit; WRITEMAP cannot nest transactions. */
#include "adapter.h"

#include <errno.h>
#include <lmdb.h>
#include <stdlib.h>

#define MAP_BYTES ((size_t)4 << 30)

struct BenchDb {
    MDB_env *env;
    MDB_dbi dbi;
    unsigned append; /* the put flag for rows that come in order */
};

static MDB_txn *txn_of(BenchTxn *txn)
{
    return (MDB_txn *)txn;
}

static void engine_close(BenchDb *db)
{
    mdb_env_close(db->env);
    free(db);
}

static int open_dbi(BenchDb *db, int dupsort)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(db->env, NULL, 0, &txn);
    if (rc)
        return rc;
    db->append = dupsort ? MDB_APPENDDUP : MDB_APPEND;
    rc = mdb_dbi_open(txn, NULL, dupsort ? MDB_DUPSORT : 0, &db->dbi);
    if (rc) {
        mdb_txn_abort(txn);
        return rc;
    }
    return mdb_txn_commit(txn);
}

static int open_with(const BenchOpen *options, unsigned mode, BenchDb **db_out)
{
    unsigned flags = mode | MDB_NOSYNC | MDB_NOMETASYNC;
    BenchDb *db = malloc(sizeof *db);
    if (!db)
        return ENOMEM;
    int rc = mdb_env_create(&db->env);
    if (rc) {
        free(db);
        return rc;
    }
    rc = mdb_env_set_mapsize(db->env, MAP_BYTES);
    if (!rc)
        rc = mdb_env_open(db->env, options->dir, flags, 0600);
    if (!rc)
        rc = open_dbi(db, options->dupsort);
    if (rc) {
        engine_close(db);
        return rc;
    }
    *db_out = db;
    return 0;
}

static int engine_open(const BenchOpen *options, BenchDb **db_out)
{
    return open_with(options, 0, db_out);
}

static int engine_open_writemap(const BenchOpen *options, BenchDb **db_out)
{
    return open_with(options, MDB_WRITEMAP, db_out);
}

static int engine_begin_read(BenchDb *db, BenchTxn **txn_out)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(db->env, NULL, MDB_RDONLY, &txn);
    if (!rc)
        *txn_out = (BenchTxn *)txn;
    return rc;
}

static int engine_begin_write(BenchDb *db, BenchTxn *parent, BenchTxn **txn_out)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(db->env, txn_of(parent), 0, &txn);
    if (!rc)
        *txn_out = (BenchTxn *)txn;
    return rc;
}

static int engine_commit(BenchDb *db, BenchTxn *txn)
{
    (void)db;
    return mdb_txn_commit(txn_of(txn));
}

static void engine_abort(BenchDb *db, BenchTxn *txn)
{
    (void)db;
    mdb_txn_abort(txn_of(txn));
}

static int engine_put(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len, const void *val,
                      size_t val_len)
{
    MDB_val k = {key_len, (void *)(uintptr_t)key};
    MDB_val v = {val_len, (void *)(uintptr_t)val};
    return mdb_put(txn_of(txn), db->dbi, &k, &v, 0);
}

static int engine_get(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len,
                      const void **val_out, size_t *val_len_out)
{
    MDB_val k = {key_len, (void *)(uintptr_t)key};
    MDB_val v;
    int rc = mdb_get(txn_of(txn), db->dbi, &k, &v);
    if (!rc) {
        *val_out = v.mv_data;
        *val_len_out = v.mv_size;
    }
    return rc;
}

static int engine_scan(BenchDb *db, BenchTxn *txn, BenchScan *scan)
{
    MDB_cursor *cur;
    int rc = mdb_cursor_open(txn_of(txn), db->dbi, &cur);
    if (rc)
        return rc;
    MDB_val k, v;
    while ((rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) == 0)
        bench_scan_row(scan, k.mv_data, v.mv_data);
    mdb_cursor_close(cur);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* One cursor for all puts: it stays at the end, where a put without would look for it again. */
static int engine_load_sorted(BenchDb *db, BenchTxn *txn, const BenchRows *rows)
{
    MDB_cursor *cur;
    int rc = mdb_cursor_open(txn_of(txn), db->dbi, &cur);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < rows->count && !rc; i++) {
        MDB_val k = {rows->key_lens[i], (void *)(uintptr_t)rows->keys[i]};
        MDB_val v = {rows->val_lens[i], (void *)(uintptr_t)rows->vals[i]};
        rc = mdb_cursor_put(cur, &k, &v, db->append);
    }
    mdb_cursor_close(cur);
    return rc;
}

/* Visits the rows of the range, and removes each if asked to. */
static int visit_range(BenchDb *db, BenchTxn *txn, const BenchRange *range, int remove,
                       uint64_t *count_out)
{
    MDB_cursor *cur;
    int rc = mdb_cursor_open(txn_of(txn), db->dbi, &cur);
    if (rc)
        return rc;
    uint64_t count = 0;
    MDB_val k = {range->lo_len, (void *)(uintptr_t)range->lo}, v;
    rc = mdb_cursor_get(cur, &k, &v, MDB_SET_RANGE);
    for (; !rc; rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT)) {
        if (!bench_in_range(range, k.mv_data, k.mv_size))
            break;
        count++;
        if (remove)
            rc = mdb_cursor_del(cur, 0);
        if (rc)
            break;
    }
    mdb_cursor_close(cur);
    *count_out = count;
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int engine_walk_range(BenchDb *db, BenchTxn *txn, const BenchRange *range,
                             uint64_t *count_out)
{
    return visit_range(db, txn, range, 0, count_out);
}

static int engine_del_range(BenchDb *db, BenchTxn *txn, const BenchRange *range,
                            uint64_t *count_out)
{
    return visit_range(db, txn, range, 1, count_out);
}

static int engine_walk_dup(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len,
                           unsigned times, uint64_t *count_out)
{
    MDB_cursor *cur;
    int rc = mdb_cursor_open(txn_of(txn), db->dbi, &cur);
    if (rc)
        return rc;
    for (unsigned i = 0; i < times && !rc; i++) {
        MDB_val k = {key_len, (void *)(uintptr_t)key}, v;
        rc = mdb_cursor_get(cur, &k, &v, MDB_SET);
        if (rc)
            break;
        uint64_t count = 1;
        while ((rc = mdb_cursor_get(cur, &k, &v, MDB_NEXT_DUP)) == 0)
            count++;
        rc = rc == MDB_NOTFOUND ? 0 : rc;
        *count_out = count;
    }
    mdb_cursor_close(cur);
    return rc;
}

static int engine_count_dup(BenchDb *db, BenchTxn *txn, const void *key, size_t key_len,
                            unsigned times, uint64_t *count_out)
{
    MDB_cursor *cur;
    int rc = mdb_cursor_open(txn_of(txn), db->dbi, &cur);
    if (rc)
        return rc;
    for (unsigned i = 0; i < times && !rc; i++) {
        MDB_val k = {key_len, (void *)(uintptr_t)key}, v;
        size_t count;
        rc = mdb_cursor_get(cur, &k, &v, MDB_SET);
        if (!rc)
            rc = mdb_cursor_count(cur, &count);
        if (!rc)
            *count_out = count;
    }
    mdb_cursor_close(cur);
    return rc;
}

static const char *engine_error_text(int rc)
{
    return mdb_strerror(rc);
}

const BenchAdapter bench_lmdb = {
    .name = "lmdb",
    .what = "plain, no sync",
    .can = BENCH_CAN_NEST,
    .open = engine_open,
    .close = engine_close,
    .begin_read = engine_begin_read,
    .begin_write = engine_begin_write,
    .commit = engine_commit,
    .abort = engine_abort,
    .put = engine_put,
    .get = engine_get,
    .scan = engine_scan,
    .load_sorted = engine_load_sorted,
    .walk_range = engine_walk_range,
    .del_range = engine_del_range,
    .walk_dup = engine_walk_dup,
    .count_dup = engine_count_dup,
    .error_text = engine_error_text,
};

const BenchAdapter bench_lmdb_writemap = {
    .name = "lmdb-writemap",
    .what = "MDB_WRITEMAP, no sync",
    .open = engine_open_writemap,
    .close = engine_close,
    .begin_read = engine_begin_read,
    .begin_write = engine_begin_write,
    .commit = engine_commit,
    .abort = engine_abort,
    .put = engine_put,
    .get = engine_get,
    .scan = engine_scan,
    .load_sorted = engine_load_sorted,
    .walk_range = engine_walk_range,
    .del_range = engine_del_range,
    .walk_dup = engine_walk_dup,
    .count_dup = engine_count_dup,
    .error_text = engine_error_text,
};
