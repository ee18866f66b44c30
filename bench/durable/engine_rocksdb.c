/* engine_rocksdb.c - RocksDB by its C interface: the defaults, every write synced. Tables are
 * column families, a commit is a batch over them. */
#include "engine.h"

#include <rocksdb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILL_ROWS = 1000 }; /* a batch */

struct DurStore {
    rocksdb_t *db;
    rocksdb_options_t *options;
    rocksdb_writeoptions_t *synced;
    rocksdb_readoptions_t *read;
    uint32_t tables;
    rocksdb_column_family_handle_t *families[DUR_MAX_TABLES];
};

/* Errors are texts: the code is 1, and the last text of the thread is kept. */
static _Thread_local char last_error[512];

static int code_of(char *error)
{
    if (!error)
        return 0;
    snprintf(last_error, sizeof last_error, "%s", error);
    rocksdb_free(error);
    return 1;
}

static const char *engine_error_text(int rc)
{
    (void)rc;
    return last_error;
}

/* Its compactions come around after some 100,000 commits, which is longer than anybody would wait:
 * what is measured is the log. */
static uint64_t engine_cycle_commits(uint64_t checkpoint_bytes)
{
    (void)checkpoint_bytes;
    return 2000;
}

static int engine_close(DurStore *store)
{
    if (store->db) {
        for (uint32_t t = 0; t < store->tables; t++)
            rocksdb_column_family_handle_destroy(store->families[t]);
        rocksdb_close(store->db);
    }
    rocksdb_readoptions_destroy(store->read);
    rocksdb_writeoptions_destroy(store->synced);
    rocksdb_options_destroy(store->options);
    free(store);
    return 0;
}

static int engine_open(const DurOpen *options, DurStore **store_out)
{
    static const char *const names[DUR_MAX_TABLES] = {"default", "t1", "t2", "t3", "t4"};
    DurStore *store = malloc(sizeof *store);
    if (!store) {
        snprintf(last_error, sizeof last_error, "out of memory");
        return 1;
    }
    store->tables = options->tables;
    store->options = rocksdb_options_create();
    rocksdb_options_set_create_if_missing(store->options, 1);
    rocksdb_options_set_create_missing_column_families(store->options, 1);
    store->synced = rocksdb_writeoptions_create();
    rocksdb_writeoptions_set_sync(store->synced, 1);
    store->read = rocksdb_readoptions_create();
    const rocksdb_options_t *each[DUR_MAX_TABLES];
    for (uint32_t t = 0; t < store->tables; t++)
        each[t] = store->options;
    char *error = NULL;
    store->db = rocksdb_open_column_families(store->options, options->dir, (int)store->tables,
                                             names, each, store->families, &error);
    int rc = code_of(error);
    if (rc) {
        engine_close(store);
        return rc;
    }
    *store_out = store;
    return 0;
}

/* Into an empty batch, which is empty again afterwards. */
static int write_rows(DurStore *store, rocksdb_writebatch_t *batch,
                      const rocksdb_writeoptions_t *how, const DurRow *rows, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        for (uint32_t t = 0; t < store->tables; t++)
            rocksdb_writebatch_put_cf(batch, store->families[t], (const char *)rows[i].key,
                                      BENCH_KEY_LEN, (const char *)rows[i].val, BENCH_VAL_LEN);
    char *error = NULL;
    rocksdb_write(store->db, how, batch, &error);
    rocksdb_writebatch_clear(batch);
    return code_of(error);
}

/* What is in memory goes to tables, so that the measured commits do not pay for it. */
static int flush_all(DurStore *store)
{
    rocksdb_flushoptions_t *flush = rocksdb_flushoptions_create();
    int rc = 0;
    for (uint32_t t = 0; t < store->tables && !rc; t++) {
        char *error = NULL;
        rocksdb_flush_cf(store->db, flush, store->families[t], &error);
        rc = code_of(error);
    }
    rocksdb_flushoptions_destroy(flush);
    return rc;
}

static int engine_fill(DurStore *store, const DurRow *rows, uint64_t count)
{
    rocksdb_writeoptions_t *unsynced = rocksdb_writeoptions_create();
    rocksdb_writebatch_t *batch = rocksdb_writebatch_create();
    int rc = 0;
    for (uint64_t i = 0; i < count && !rc; i += FILL_ROWS) {
        uint64_t left = count - i;
        rc = write_rows(store, batch, unsynced, rows + i, left < FILL_ROWS ? left : FILL_ROWS);
    }
    rocksdb_writebatch_destroy(batch);
    rocksdb_writeoptions_destroy(unsynced);
    return rc ? rc : flush_all(store);
}

static int engine_session_open(DurStore *store, DurSession **session_out)
{
    (void)store;
    *session_out = (DurSession *)rocksdb_writebatch_create();
    return 0;
}

static void engine_session_close(DurSession *session)
{
    rocksdb_writebatch_destroy((rocksdb_writebatch_t *)session);
}

static int engine_commit(DurStore *store, DurSession *session, const DurRow *row)
{
    return write_rows(store, (rocksdb_writebatch_t *)session, store->synced, row, 1);
}

static int engine_count(DurStore *store, uint32_t table, uint64_t *rows_out)
{
    rocksdb_iterator_t *it =
        rocksdb_create_iterator_cf(store->db, store->read, store->families[table]);
    uint64_t rows = 0;
    for (rocksdb_iter_seek_to_first(it); rocksdb_iter_valid(it); rocksdb_iter_next(it))
        rows++;
    char *error = NULL;
    rocksdb_iter_get_error(it, &error);
    rocksdb_iter_destroy(it);
    *rows_out = rows;
    return code_of(error);
}

const DurEngine dur_rocksdb = {
    .name = "rocksdb",
    .what = "WriteOptions sync, otherwise the defaults",
    .cycle_commits = engine_cycle_commits,
    .open = engine_open,
    .close = engine_close,
    .fill = engine_fill,
    .session_open = engine_session_open,
    .session_close = engine_session_close,
    .commit = engine_commit,
    .count = engine_count,
    .error_text = engine_error_text,
};
