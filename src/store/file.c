/* file.c - the store in a file of the engine: one table is one DBI.
 *
 * The engine has one writer at a time. A guarded or claim transaction is that writer from its begin
 * to its end, so nothing runs beside it that a guard or a row's lock would have to keep away.
 *
 * Marks and versions are the engine's commit numbers (LSN). A commit is asynchronous here; store.c
 * waits for it. The wait covers what the transaction has read too, since that lies before it in the
 * log; a transaction that wrote nothing waits for the commit that it read.
 *
 * What a writer reads is copied, since its next change may move it. What a reader reads stays where
 * it is until the snapshot ends.
 *
 * The codes of a commit: SAP_IO, its outcome is unknown. Any other code, such as SAP_FULL and
 * SAP_NOMEM, is a definite abort (txn.h). Once it is committed it cannot be taken back: whatever
 * keeps it from becoming durable is SAP_IO, and final. */
#include "store/meta.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/dbfile.h"
#include "sapling/env.h"
#include "sapling/open_error.h"
#include "sapling/sapling.h"

typedef struct FileStore {
    SapStore base;
    SapEnv *db;
    /* For the engine's threads, some of which run before store.c has filled in `base`. */
    void (*on_message)(const char *text, void *ctx);
    void *message_ctx;
    SAP_ATOMIC(bool) failed; /* a commit may never become durable */
} FileStore;

typedef struct FileTxn {
    SapStoreTxn base;
    SapTxnCtx *txn; /* NULL: ended */
} FileTxn;

static FileStore *file_store_of(SapStore *store)
{
    return (FileStore *)store;
}

static SapTxnCtx *engine_txn_of(SapStoreTxn *txn)
{
    return ((FileTxn *)txn)->txn;
}

static bool is_reader(const SapStoreTxn *txn)
{
    return txn->kind == SAP_STORE_READ_DURABLE || txn->kind == SAP_STORE_READ_NEWEST;
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static int file_begin(SapStoreTxn *base)
{
    static const unsigned flags[] = {
        [SAP_STORE_READ_DURABLE] = SAP_TXN_RDONLY,
        [SAP_STORE_READ_NEWEST] = SAP_TXN_RDONLY | SAP_TXN_NEWEST,
        [SAP_STORE_GUARDED] = SAP_TXN_WAIT,
        [SAP_STORE_CLAIM] = SAP_TXN_WAIT,
    };
    FileTxn *txn = (FileTxn *)base;
    FileStore *store = file_store_of(base->store);
    if (base->kind != SAP_STORE_READ_DURABLE && atomic_load_relaxed(&store->failed)) {
        return SAP_IO;
    }
    int rc = sap_txn_begin_rc(store->db, NULL, flags[base->kind], &txn->txn);
    if (rc == SAP_OK) {
        base->version = sap_txn_base_lsn(txn->txn);
    }
    return rc;
}

static int file_guard(SapStoreTxn *txn, const SapStoreGuard *guards, uint32_t count)
{
    (void)guards;
    (void)count;
    SAP_ASSERT(!is_reader(txn)); /* it is the writer: nobody else holds a guard */
    return SAP_OK;
}

static int file_commit(SapStoreTxn *base, uint64_t *mark_out, bool *unknown_out)
{
    FileTxn *txn = (FileTxn *)base;
    SapTxnCtx *ending = txn->txn;
    SAP_ASSERT(ending != NULL && !(is_reader(base) && base->wrote));
    txn->txn = NULL;
    *unknown_out = false;
    if (!base->wrote) {
        sap_txn_abort(ending);
        *mark_out = base->version;
        return SAP_OK;
    }
    int rc = sap_txn_commit_async(ending, mark_out);
    *unknown_out = rc == SAP_IO;
    return rc;
}

static void file_rollback(SapStoreTxn *base)
{
    FileTxn *txn = (FileTxn *)base;
    sap_txn_abort(txn->txn);
    txn->txn = NULL;
}

static int file_wait_durable(SapStore *base, uint64_t mark)
{
    FileStore *store = file_store_of(base);
    int rc = sap_db_wait_durable(store->db, mark);
    if (rc == SAP_OK || rc == SAP_ERROR) {
        return rc;
    }
    /* Of a full disk, too: others have built on the commit, and it can neither be taken back nor
     * acknowledged. */
    atomic_store_relaxed(&store->failed, true);
    return SAP_IO;
}

static bool file_is_crowded(SapStore *store)
{
    return dbfile_is_crowded(file_store_of(store)->db->file);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Bytes of the engine that stay as long as the transaction. */
static int keep_bytes(SapStoreTxn *txn, Slice found, Slice *kept_out)
{
    if (!is_reader(txn)) {
        return store_txn_copy(txn, found, kept_out);
    }
    *kept_out = found;
    return SAP_OK;
}

static int file_get(SapStoreTxn *txn, StoreKey key, Slice *val_out)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_txn_get_dbi(engine_txn_of(txn), key.table, key.bytes.data, (uint32_t)key.bytes.len,
                             &val, &len);
    return rc == SAP_OK ? keep_bytes(txn, (Slice){val, len}, val_out) : rc;
}

static int file_put(SapStoreTxn *txn, StoreKey key, Slice val, StorePutMode mode)
{
    unsigned flags = mode == STORE_PUT_ABSENT ? SAP_NOOVERWRITE : 0;
    return sap_txn_put_flags_dbi(engine_txn_of(txn), key.table, key.bytes.data,
                                 (uint32_t)key.bytes.len, val.data, (uint32_t)val.len, flags, NULL);
}

static int file_del(SapStoreTxn *txn, StoreKey key)
{
    return sap_txn_del_dbi(engine_txn_of(txn), key.table, key.bytes.data, (uint32_t)key.bytes.len);
}

/* A bound as the engine takes it. One that is longer than any key orders all keys as its first
 * SAP_STORE_MAX_KEY + 1 bytes do. */
static uint32_t bound_len(uint32_t len)
{
    return len <= SAP_STORE_MAX_KEY ? len : SAP_STORE_MAX_KEY + 1;
}

/* To the first row of the walk. SAP_NOTFOUND: there is none. */
static int place_cursor(SapCursor *cursor, const SapStoreRange *range, bool backward)
{
    if (!backward) {
        return sap_cursor_seek(cursor, range->from, bound_len(range->from_len));
    }
    if (range->to == NULL) {
        return sap_cursor_last(cursor);
    }
    int rc = sap_cursor_seek(cursor, range->to, bound_len(range->to_len));
    if (rc == SAP_NOTFOUND) {
        return sap_cursor_last(cursor);
    }
    return rc == SAP_OK ? sap_cursor_prev(cursor) : rc;
}

/* Whether a row that the walk has reached is not beyond the range's other end. */
static bool is_before_end(const SapStoreRange *range, bool backward, Slice key)
{
    StoreKey at = {range->table, key};
    if (backward) {
        return store_key_compare(at, (StoreKey){range->table, {range->from, range->from_len}}) >= 0;
    }
    return range->to == NULL ||
           store_key_compare(at, (StoreKey){range->table, {range->to, range->to_len}}) < 0;
}

/* SAP_NOTFOUND: the range ends before this row. */
static int append_current(SapStoreTxn *txn, SapCursor *cursor, const SapStoreRange *range,
                          bool backward, Buf *rows)
{
    SapStoreRow row = {0};
    int rc = sap_cursor_get(cursor, &row.key, &row.key_len, &row.val, &row.val_len);
    Slice key = {row.key, row.key_len};
    Slice val = {row.val, row.val_len};
    if (rc != SAP_OK || !is_before_end(range, backward, key)) {
        return rc == SAP_OK ? SAP_NOTFOUND : rc;
    }
    rc = keep_bytes(txn, key, &key);
    rc = rc == SAP_OK ? keep_bytes(txn, val, &val) : rc;
    row.key = key.data;
    row.val = val.data;
    return rc == SAP_OK ? buf_append(rows, &row, sizeof row) : rc;
}

/* Appends SapStoreRow. */
static int walk_range(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                      Buf *rows)
{
    SapCursor *cursor = sap_cursor_open_dbi(engine_txn_of(txn), range->table);
    int rc = cursor == NULL ? SAP_NOMEM : place_cursor(cursor, range, backward);
    for (uint32_t left = limit; rc == SAP_OK; left--) {
        rc = append_current(txn, cursor, range, backward, rows);
        if (rc == SAP_OK && left > 1) {
            rc = backward ? sap_cursor_prev(cursor) : sap_cursor_next(cursor);
        } else if (rc == SAP_OK) {
            break;
        }
    }
    sap_cursor_close(cursor);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int file_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                     const SapStoreRow **rows_out, uint32_t *count_out)
{
    Buf rows = {0};
    Slice copy = {0};
    int rc = walk_range(txn, range, backward, limit, &rows);
    rc = rc == SAP_OK ? store_txn_copy(txn, (Slice){rows.data, rows.len}, &copy) : rc;
    if (rc == SAP_OK) {
        *rows_out = (const SapStoreRow *)copy.data;
        *count_out = (uint32_t)(rows.len / sizeof(SapStoreRow));
    }
    buf_release(&rows);
    return rc;
}

static int file_lock_rows(SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit,
                          const SapStoreRow **rows_out, uint32_t *count_out)
{
    return file_scan(txn, range, false, limit, rows_out, count_out); /* nobody else has locks */
}

/* ---- What the engine calls ------------------------------------------------------------------- */

static void report_text(const FileStore *store, const char *text)
{
    if (store->on_message != NULL) {
        store->on_message(text, store->message_ctx);
    }
}

static void on_engine_message(const char *text, void *ctx)
{
    report_text((const FileStore *)ctx, text);
}

static void on_engine_durable(void *ctx, uint64_t lsn)
{
    wake_durable(((FileStore *)ctx)->base.wake, lsn);
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Reports why the file was refused; returns SAP_INVALID. */
static int refuse_file(const FileStore *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static int refuse_file(const FileStore *store, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    open_error_set(text);
    report_text(store, text);
    return SAP_INVALID;
}

/* 0 where there is no such table. */
static int count_rows(const FileStore *store, SapTxnCtx *txn, uint32_t dbi, uint64_t *count_out)
{
    SapStat stat = {0};
    SapDbiInfo info;
    int rc = SAP_OK;
    if (sap_dbi_info(store->db, dbi, &info) == SAP_OK) {
        rc = sap_dbi_stat(txn, dbi, &stat);
    }
    *count_out = stat.num_entries;
    return rc;
}

/* The marker is the first of the store's own rows. */
static bool has_marker(SapTxnCtx *txn)
{
    SapCursor *cursor = sap_cursor_open_dbi(txn, STORE_TABLE_META);
    SapStoreRow row = {0};
    bool found = cursor != NULL && sap_cursor_first(cursor) == SAP_OK &&
                 sap_cursor_get(cursor, &row.key, &row.key_len, &row.val, &row.val_len) == SAP_OK &&
                 meta_is_marker((Slice){row.key, row.key_len}, (Slice){row.val, row.val_len});
    sap_cursor_close(cursor);
    return found;
}

static int refuse_rows(const FileStore *store, const char *path, uint32_t dbi, bool marked)
{
    if (marked) {
        return refuse_file(store,
                           "%s: table %" PRIu32
                           " has rows, and the file is a store's: another program has written to "
                           "it. Restore a backup of the store, and give that program a file of "
                           "its own",
                           path, dbi);
    }
    if (dbi < STORE_FIRST_OWN_TABLE) {
        return refuse_file(store,
                           "%s: table %" PRIu32
                           " has rows: this is the file of a runner, a queue or "
                           "another program, not of a store. Give the store a file of its own",
                           path, dbi);
    }
    return refuse_file(store,
                       "%s: table %" PRIu32
                       " has rows, but the file has no marker of a store: another "
                       "program made it. Give the store a file of its own",
                       path, dbi);
}

/* A store has no rows below its own tables: runners and queues have theirs there, and `sapling db`
 * begins with table 0. It has a marker before it has any other row. */
static int check_rows(const FileStore *store, const char *path, SapTxnCtx *txn)
{
    uint64_t marked = 0;
    int rc = count_rows(store, txn, STORE_TABLE_META, &marked);
    uint32_t count = marked > 0 ? (uint32_t)STORE_FIRST_OWN_TABLE : SAP_MAX_DBI + 1;
    for (uint32_t dbi = 0; dbi < count && rc == SAP_OK; dbi++) {
        uint64_t rows = 0;
        rc = count_rows(store, txn, dbi, &rows);
        rc = rc == SAP_OK && rows > 0 ? refuse_rows(store, path, dbi, marked > 0 && has_marker(txn))
                                      : rc;
    }
    return rc;
}

/* SAP_INVALID: there is such a table already, and it is not in byte order or has flags. */
static int check_table(const FileStore *store, const char *path, uint32_t table)
{
    SapDbiInfo info;
    if (sap_dbi_info(store->db, table, &info) != SAP_OK ||
        (info.flags == 0 && info.comparator == NULL)) {
        return SAP_OK;
    }
    return refuse_file(store,
                       "%s: table %" PRIu32
                       " was made by another program, with an order or flags that "
                       "tables of a store do not have. Give the store a file of its own",
                       path, table);
}

/* Looks before anything is written to the file. *made_out: it is not new. */
static int check_file(const FileStore *store, const char *path, const SapStoreOptions *options,
                      bool *made_out)
{
    SapTxnCtx *txn = NULL;
    uint64_t marked = 0;
    int rc = sap_txn_begin_rc(store->db, NULL, SAP_TXN_RDONLY, &txn);
    rc = rc == SAP_OK ? check_rows(store, path, txn) : rc;
    rc = rc == SAP_OK ? count_rows(store, txn, STORE_TABLE_META, &marked) : rc;
    sap_txn_abort(txn);
    for (uint32_t i = 0; i < STORE_OWN_TABLES && rc == SAP_OK; i++) {
        rc = check_table(store, path, STORE_FIRST_OWN_TABLE + i);
    }
    for (uint32_t i = 0; i < options->table_count && rc == SAP_OK; i++) {
        rc = check_table(store, path, options->tables[i]);
    }
    *made_out = marked > 0;
    return rc;
}

static int open_tables(SapEnv *db, const uint32_t *tables, uint32_t count)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = sap_dbi_open(db, tables[i], NULL, NULL, 0);
    }
    return rc;
}

static int file_open_tables(SapStore *store)
{
    return open_tables(file_store_of(store)->db, store->tables, store->table_count);
}

static int open_own_tables(SapEnv *db)
{
    static const uint32_t own[] = {STORE_TABLE_META, STORE_TABLE_BLOBS, STORE_TABLE_BLOBREFS};
    _Static_assert(sizeof own / sizeof own[0] == STORE_OWN_TABLES, "one is missing");
    return open_tables(db, own, STORE_OWN_TABLES);
}

static int open_file(FileStore *store, const char *path, const SapStoreOptions *options)
{
    SapOpenOptions engine_options = {
        .size = sizeof engine_options,
        .flags = SAP_OPEN_CREATE,
        .on_message = on_engine_message,
        .callback_ctx = store,
        .on_durable = on_engine_durable,
        .durable_ctx = store,
    };
    bool made = false;
    if (path[0] == '\0') {
        return refuse_file(store, "sapling: names no file: use sapling:PATH");
    }
    int rc = sap_db_open_path(path, &engine_options, &store->db);
    rc = rc == SAP_OK ? check_file(store, path, options, &made) : rc;
    rc = rc == SAP_OK ? open_own_tables(store->db) : rc;
    if (rc == SAP_OK && !made) {
        rc = open_tables(store->db, options->tables, options->table_count);
    }
    if (rc == SAP_OK) {
        wake_durable(store->base.wake, sap_db_durable_lsn(store->db));
    }
    return rc;
}

static void free_store(FileStore *store)
{
    wake_free(store->base.wake);
    mem_free(MEM_STORE, store, sizeof *store);
}

static int file_close(SapStore *base)
{
    FileStore *store = file_store_of(base);
    int rc = sap_db_close(store->db); /* may call on_engine_durable() */
    SAP_ASSERT(rc != SAP_BUSY);
    free_store(store);
    return rc;
}

/* The engine closes its descriptors and leaves the parent's lock alone. */
static void file_abandon(SapStore *base)
{
    (void)sap_db_close(file_store_of(base)->db);
}

int file_store_open(const char *path, const SapStoreOptions *options, SapStore **store_out)
{
    static const StoreOps ops = {
        .txn_size = sizeof(FileTxn),
        .close = file_close,
        .abandon = file_abandon,
        .open_tables = file_open_tables,
        .begin = file_begin,
        .guard = file_guard,
        .get = file_get,
        .put = file_put,
        .del = file_del,
        .scan = file_scan,
        .lock_rows = file_lock_rows,
        .commit = file_commit,
        .rollback = file_rollback,
        .wait_durable = file_wait_durable,
        .is_crowded = file_is_crowded,
        .blocks = true,
        .busy_is_own = true,
    };
    FileStore *store = (FileStore *)mem_zalloc(MEM_STORE, sizeof *store);
    if (store == NULL) {
        return SAP_NOMEM;
    }
    store->base.ops = &ops;
    store->base.wake = wake_new();
    store->on_message = options->on_message;
    store->message_ctx = options->message_ctx;
    int rc = store->base.wake != NULL ? open_file(store, path, options) : SAP_NOMEM;
    if (rc != SAP_OK) {
        if (store->db != NULL) {
            (void)env_discard(store->db); /* a file that was made just now goes again */
        }
        free_store(store);
        return rc;
    }
    *store_out = &store->base;
    return SAP_OK;
}
