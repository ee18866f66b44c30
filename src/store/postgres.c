/* postgres.c - the store on a PostgreSQL server: one table is one table there.
 *
 * A transaction has a connection of its own from its first call to its end. BEGIN goes with its first
 * statement. Reads are REPEATABLE READ, so that they see one snapshot; the others are READ COMMITTED.
 *
 * A guard is a transaction-level advisory lock on the hash of its key, which works whether or not
 * there is such a row; an exclusive guard then locks the row too, so that claims skip it. Two keys of
 * one hash wait for each other without need, and nothing else.
 *
 * Puts are sent without waiting for the answer: an error of one shows in the next call that waits, at
 * the latest in the commit. The server executes them as they come, so that their locks are taken in
 * the order of the calls.
 *
 * What is committed is durable here, and nothing else is visible, so a durable read is a newest read.
 *
 * Outcomes: a commit is unknown if COMMIT was sent and its answer did not come, or came with a
 * warning: a server that gives up waiting for its synchronous standby warns and answers all the
 * same. It is a definite abort if a statement before COMMIT failed, or if the server has ended the
 * session for being idle, which it never does in the middle of a COMMIT.
 *
 * Versions count the commits that this process knows of. A transaction's version is read before its
 * snapshot is taken, and a commit is counted after it has happened, so no change is missed. */
#include "store/store_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "common/hash.h"
#include "common/mem.h"
#include "sapling/open_error.h"
#include "store/pg_listen.h"
#include "store/pg_pool.h"
#include "store/pg_schema.h"

typedef struct PgStore {
    SapStore base;
    PgUrl url;
    PgPool pool;
    bool has_pool;
    PgListener *listener;
    SAP_ATOMIC(uint64_t) version;
    SAP_ATOMIC(bool) out_of_reach; /* the last transaction that began found no server */
    uint64_t guard_seed;           /* other stores of the database have other advisory locks */
    int pid;
    void (*on_message)(const char *text, void *ctx);
    void *message_ctx;
} PgStore;

typedef struct PgTxn {
    SapStoreTxn base;
    PgConn *conn; /* NULL: ended */
    bool begun;   /* BEGIN was sent */
    /* The rows of the last claim, sorted by key, and which of them are still to be deleted. */
    const SapStoreRow *locked;
    uint8_t *locked_left;
    uint32_t locked_count;
    uint32_t locked_table;
} PgTxn;

static PgStore *pg_store_of(const SapStoreTxn *txn)
{
    return (PgStore *)txn->store;
}

static bool is_read_kind(const SapStoreTxn *txn)
{
    return txn->kind == SAP_STORE_READ_DURABLE || txn->kind == SAP_STORE_READ_NEWEST;
}

static void report_message(const PgStore *store, const char *text)
{
    if (store->on_message != NULL && text[0] != '\0') {
        store->on_message(text, store->message_ctx);
    }
}

/* Reports what a code does not say. Contention is no news. */
static int report_failure(const PgTxn *txn, int rc)
{
    const PgConn *conn = txn->conn;
    if (rc != SAP_OK && rc != SAP_BUSY && rc != SAP_CONFLICT) {
        char text[PG_WHY_MAX + PG_TEXT_MAX];
        (void)snprintf(text, sizeof text, "%s: %s%s%s%s", conn->url->shown, conn->text,
                       conn->sqlstate[0] != '\0' ? " (" : "", conn->sqlstate,
                       conn->sqlstate[0] != '\0' ? ")" : "");
        report_message(pg_store_of(&txn->base), text);
    }
    return rc;
}

/* ---- Transactions ---------------------------------------------------------------------------- */

static int pg_begin(SapStoreTxn *base)
{
    PgTxn *txn = (PgTxn *)base;
    PgStore *store = pg_store_of(base);
    char why[PG_WHY_MAX] = "";
    if (store->pid != (int)getpid()) {
        return SAP_ERROR; /* a child must not write to its parent's connections */
    }
    base->version = atomic_load_full(&store->version);
    int rc = pg_pool_take(&store->pool, &txn->conn, why);
    /* An outage is reported once, not by every transaction in it. */
    bool was_out = atomic_load_relaxed(&store->out_of_reach);
    if (rc != SAP_OK && rc != SAP_BUSY && !was_out) {
        atomic_store_relaxed(&store->out_of_reach, true);
        report_message(store, why);
    } else if (rc == SAP_OK && was_out) {
        atomic_store_relaxed(&store->out_of_reach, false);
    }
    return rc;
}

/* Before the first statement. */
static int start_work(PgTxn *txn)
{
    if (txn->begun) {
        return SAP_OK;
    }
    txn->begun = true;
    txn->conn->sqlstate[0] = '\0';
    return pg_conn_command(txn->conn, is_read_kind(&txn->base) ? PG_BEGIN_READ : PG_BEGIN_WRITE,
                           NULL, 0, PG_ANSWER_OK);
}

/* Sends a statement and goes on. */
static int send_statement(PgTxn *txn, uint32_t table, PgStatement statement, const Slice *params,
                          int count, PgAnswer answer)
{
    int rc = start_work(txn);
    rc = rc == SAP_OK ? pg_conn_send(txn->conn, table, statement, params, count, answer) : rc;
    rc = rc == SAP_OK ? pg_conn_flush(txn->conn) : rc;
    return report_failure(txn, rc);
}

/* Sends a statement and waits for its answer, which the caller owns. */
static int ask_statement(PgTxn *txn, uint32_t table, PgStatement statement, const Slice *params,
                         int count, PGresult **result_out)
{
    int rc = start_work(txn);
    rc = rc == SAP_OK ? pg_conn_send(txn->conn, table, statement, params, count, PG_ANSWER_KEPT)
                      : rc;
    rc = rc == SAP_OK ? pg_conn_finish(txn->conn, result_out) : rc;
    return report_failure(txn, rc);
}

static void pg_rollback(SapStoreTxn *base)
{
    PgTxn *txn = (PgTxn *)base;
    PgConn *conn = txn->conn;
    if (conn == NULL) {
        return;
    }
    txn->conn = NULL;
    if (txn->begun && !conn->lost) {
        /* A reader has no locks that others could meet: nobody waits for its end. */
        int rc = pg_conn_command(conn, PG_ROLLBACK, NULL, 0,
                                 is_read_kind(base) ? PG_ANSWER_IGNORED : PG_ANSWER_KEPT);
        PGresult *result = NULL;
        if (rc == SAP_OK && is_read_kind(base)) {
            (void)pg_conn_flush(conn);
        } else if (rc == SAP_OK) {
            /* Errors of puts before it are of the transaction that is undone here. */
            (void)pg_conn_finish(conn, &result);
            conn->lost = conn->lost || PQtransactionStatus(conn->pg) != PQTRANS_IDLE;
        }
        PQclear(result);
    }
    pg_pool_give(&pg_store_of(base)->pool, conn);
}

/* The server has ended the session while it waited for the client, so before COMMIT came. */
static bool was_idle_too_long(const PgConn *conn)
{
    return strcmp(conn->sqlstate, "25P03") == 0;
}

/* The commit has happened on the server, but its standby may not have it: a failover may undo it. */
static int doubt_commit(PgConn *conn, bool *unknown_out)
{
    (void)snprintf(conn->text, sizeof conn->text,
                   "the server committed with a warning: its synchronous standby may not have the "
                   "commit");
    *unknown_out = true;
    return SAP_IO;
}

/* All statements before COMMIT have been sent, most of them not answered. */
static int commit_writes(PgTxn *txn, bool *unknown_out)
{
    PgConn *conn = txn->conn;
    PGresult *result = NULL;
    /* An error that is known already ends here, definitely. */
    int rc = conn->lost ? SAP_IO : SAP_OK;
    if (rc == SAP_OK) {
        conn->warned = false;
        rc = pg_conn_command(conn, PG_COMMIT, NULL, 0, PG_ANSWER_KEPT);
        rc = rc == SAP_OK ? pg_conn_finish(conn, &result) : rc;
        *unknown_out = conn->lost && !was_idle_too_long(conn);
    }
    if (rc == SAP_OK && strcmp(PQcmdStatus(result), "COMMIT") != 0) {
        rc = SAP_CONFLICT; /* it was rolled back instead */
    } else if (rc == SAP_OK && conn->warned) {
        rc = doubt_commit(conn, unknown_out);
    }
    PQclear(result);
    txn->begun = rc != SAP_OK && !*unknown_out;
    return report_failure(txn, rc);
}

static int pg_commit(SapStoreTxn *base, uint64_t *mark_out, bool *unknown_out)
{
    PgTxn *txn = (PgTxn *)base;
    PgStore *store = pg_store_of(base);
    *unknown_out = false;
    if (!base->wrote) {
        *mark_out = base->version;
        return SAP_OK; /* pg_rollback() ends it */
    }
    int rc = commit_writes(txn, unknown_out);
    if (rc == SAP_OK) {
        *mark_out = atomic_add_full(&store->version, 1) + 1;
        pg_listener_tell(store->listener, (const WakeKey *)(const void *)base->touched.data,
                         (uint32_t)(base->touched.len / sizeof(WakeKey)));
    }
    return rc;
}

/* What is committed is durable. */
static int pg_wait_durable(SapStore *base, uint64_t mark)
{
    PgStore *store = (PgStore *)base;
    return mark <= atomic_load_full(&store->version) ? SAP_OK : SAP_ERROR;
}

/* ---- Guards ---------------------------------------------------------------------------------- */

static int send_guard(PgTxn *txn, const SapStoreGuard *guard)
{
    uint8_t number[8];
    uint64_t seed = pg_store_of(&txn->base)->guard_seed + guard->table;
    store_u64be(number, hash_bytes(guard->key, guard->key_len, seed));
    Slice hash = {number, sizeof number};
    Slice key = {guard->key, guard->key_len};
    int rc = pg_conn_command(txn->conn, guard->exclusive ? PG_GUARD_EXCLUSIVE : PG_GUARD_SHARED,
                             &hash, 1, PG_ANSWER_OK);
    if (rc == SAP_OK && guard->exclusive) {
        rc = pg_conn_send(txn->conn, guard->table, PG_GUARD_ROW, &key, 1, PG_ANSWER_OK);
    }
    return rc;
}

static int pg_guard(SapStoreTxn *base, const SapStoreGuard *guards, uint32_t count)
{
    PgTxn *txn = (PgTxn *)base;
    int rc = start_work(txn);
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = send_guard(txn, &guards[i]);
    }
    rc = rc == SAP_OK ? pg_conn_finish(txn->conn, NULL) : rc;
    return report_failure(txn, rc);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

static int pg_get(SapStoreTxn *base, StoreKey key, Slice *val_out)
{
    PgTxn *txn = (PgTxn *)base;
    PGresult *result = NULL;
    int rc = ask_statement(txn, key.table, PG_GET, &key.bytes, 1, &result);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = SAP_NOTFOUND;
    if (PQntuples(result) > 0) {
        Slice val = {PQgetvalue(result, 0, 0), (size_t)PQgetlength(result, 0, 0)};
        rc = store_txn_copy(base, val, val_out);
    }
    PQclear(result);
    return rc;
}

/* Asks for a change of one row; `none_rc` if no row was changed. */
static int ask_change(PgTxn *txn, uint32_t table, PgStatement statement, const Slice *params,
                      int count, int none_rc)
{
    PGresult *result = NULL;
    int rc = ask_statement(txn, table, statement, params, count, &result);
    if (rc == SAP_OK && strcmp(PQcmdTuples(result), "0") == 0) {
        rc = none_rc;
    }
    PQclear(result);
    return rc;
}

static int pg_put(SapStoreTxn *base, StoreKey key, Slice val, StorePutMode mode)
{
    PgTxn *txn = (PgTxn *)base;
    Slice params[] = {key.bytes, val};
    if (mode == STORE_PUT_ABSENT) {
        return ask_change(txn, key.table, PG_PUT_ABSENT, params, 2, SAP_EXISTS);
    }
    return send_statement(txn, key.table, PG_PUT, params, 2, PG_ANSWER_ONE_ROW);
}

static int compare_rows(const void *a, const void *b)
{
    const SapStoreRow *x = (const SapStoreRow *)a;
    const SapStoreRow *y = (const SapStoreRow *)b;
    return bytes_compare(x->key, x->key_len, y->key, y->key_len);
}

/* Whether this transaction has locked the row by its claim, and has not deleted it yet; from now on it
 * has. Such a row is there, so its deletion needs no answer. */
static bool take_locked_row(PgTxn *txn, StoreKey key)
{
    if (txn->locked_count == 0 || txn->locked_table != key.table) {
        return false;
    }
    SapStoreRow wanted = {.key = key.bytes.data, .key_len = (uint32_t)key.bytes.len};
    const SapStoreRow *row = (const SapStoreRow *)bsearch(&wanted, txn->locked, txn->locked_count,
                                                          sizeof *row, compare_rows);
    if (row == NULL || !txn->locked_left[row - txn->locked]) {
        return false;
    }
    txn->locked_left[row - txn->locked] = 0;
    return true;
}

static int pg_del(SapStoreTxn *base, StoreKey key)
{
    PgTxn *txn = (PgTxn *)base;
    if (take_locked_row(txn, key)) {
        return send_statement(txn, key.table, PG_DEL, &key.bytes, 1, PG_ANSWER_ONE_ROW);
    }
    return ask_change(txn, key.table, PG_DEL, &key.bytes, 1, SAP_NOTFOUND);
}

/* Copies the rows to where they stay until the transaction ends. */
static int keep_rows(SapStoreTxn *txn, const PGresult *result, const SapStoreRow **rows_out,
                     uint32_t *count_out)
{
    uint32_t count = (uint32_t)PQntuples(result);
    SapStoreRow *rows = (SapStoreRow *)store_txn_room(txn, count * sizeof *rows);
    int rc = rows == NULL ? SAP_NOMEM : SAP_OK;
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        Slice key = {PQgetvalue(result, (int)i, 0), (size_t)PQgetlength(result, (int)i, 0)};
        Slice val = {PQgetvalue(result, (int)i, 1), (size_t)PQgetlength(result, (int)i, 1)};
        rc = store_txn_copy(txn, key, &key);
        rc = rc == SAP_OK ? store_txn_copy(txn, val, &val) : rc;
        rows[i] = (SapStoreRow){key.data, val.data, (uint32_t)key.len, (uint32_t)val.len};
    }
    if (rc == SAP_OK) {
        *rows_out = rows;
        *count_out = count;
    }
    return rc;
}

static int ask_rows(SapStoreTxn *base, const SapStoreRange *range, PgStatement open_end,
                    PgStatement with_end, uint32_t limit, const SapStoreRow **rows_out,
                    uint32_t *count_out)
{
    uint8_t number[8];
    PGresult *result = NULL;
    store_u64be(number, limit);
    Slice params[] = {
        {range->from, range->from_len}, {number, sizeof number}, {range->to, range->to_len}};
    bool ends = range->to != NULL;
    int rc = ask_statement((PgTxn *)base, range->table, ends ? with_end : open_end, params,
                           ends ? 3 : 2, &result);
    if (rc == SAP_OK) {
        rc = keep_rows(base, result, rows_out, count_out);
        PQclear(result);
    }
    return rc;
}

static int pg_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                   const SapStoreRow **rows_out, uint32_t *count_out)
{
    return ask_rows(txn, range, backward ? PG_SCAN_DOWN : PG_SCAN_UP,
                    backward ? PG_SCAN_DOWN_TO : PG_SCAN_UP_TO, limit, rows_out, count_out);
}

static int pg_lock_rows(SapStoreTxn *base, const SapStoreRange *range, uint32_t limit,
                        const SapStoreRow **rows_out, uint32_t *count_out)
{
    PgTxn *txn = (PgTxn *)base;
    int rc = ask_rows(base, range, PG_LOCK, PG_LOCK_TO, limit, rows_out, count_out);
    txn->locked_count = 0;
    if (rc == SAP_OK && *count_out > 0) {
        txn->locked_left = (uint8_t *)store_txn_room(base, *count_out);
        if (txn->locked_left == NULL) {
            return SAP_NOMEM;
        }
        memset(txn->locked_left, 1, *count_out);
        txn->locked = *rows_out;
        txn->locked_count = *count_out;
        txn->locked_table = range->table;
    }
    return rc;
}

static int pg_wall_ns(SapStoreTxn *base, uint64_t *wall_out)
{
    PgTxn *txn = (PgTxn *)base;
    PGresult *result = NULL;
    int rc = start_work(txn);
    rc = rc == SAP_OK ? pg_conn_command(txn->conn, PG_WALL_NS, NULL, 0, PG_ANSWER_KEPT) : rc;
    rc = rc == SAP_OK ? pg_conn_finish(txn->conn, &result) : rc;
    if (rc != SAP_OK) {
        return report_failure(txn, rc);
    }
    SAP_ASSERT(PQntuples(result) == 1 && PQgetlength(result, 0, 0) == 8);
    *wall_out = load_u64be(PQgetvalue(result, 0, 0)) * 1000; /* microseconds */
    PQclear(result);
    return SAP_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int refuse_open_of(const PgStore *store, int rc, const char *why)
{
    if (why[0] != '\0') {
        open_error_set(why);
        report_message(store, why);
    }
    return rc;
}

static int pg_close(SapStore *base)
{
    PgStore *store = (PgStore *)base;
    if (store->pid == (int)getpid()) {
        pg_listener_stop(store->listener);
    }
    if (store->has_pool) {
        pg_pool_release(&store->pool);
    }
    pg_url_release(&store->url);
    wake_free(store->base.wake);
    mem_free(MEM_STORE, store, sizeof *store);
    return SAP_OK;
}

static const StoreOps *pg_ops(void)
{
    static const StoreOps ops = {
        .txn_size = sizeof(PgTxn),
        .close = pg_close,
        .begin = pg_begin,
        .guard = pg_guard,
        .get = pg_get,
        .put = pg_put,
        .del = pg_del,
        .scan = pg_scan,
        .lock_rows = pg_lock_rows,
        .commit = pg_commit,
        .rollback = pg_rollback,
        .wait_durable = pg_wait_durable,
        .wall_ns = pg_wall_ns,
        .poll_ns = PG_POLL_NS,
        .blocks = true,
    };
    return &ops;
}

/* A store that is not connected yet. */
static int new_store(const char *url, const SapStoreOptions *options, PgStore **store_out)
{
    char why[PG_WHY_MAX] = "";
    PgStore *store = (PgStore *)mem_zalloc(MEM_STORE, sizeof *store);
    if (store == NULL) {
        return SAP_NOMEM;
    }
    store->base.ops = pg_ops();
    store->pid = (int)getpid();
    store->on_message = options->on_message;
    store->message_ctx = options->message_ctx;
    store->base.wake = wake_new();
    int rc = store->base.wake == NULL ? SAP_NOMEM : pg_url_parse(url, &store->url, why);
    if (rc == SAP_OK) {
        rc = pg_pool_init(&store->pool, &store->url, &store->base.counts.connects,
                          &store->base.counts.connections_lost);
        store->has_pool = rc == SAP_OK;
    }
    if (rc != SAP_OK) {
        rc = refuse_open_of(store, rc, why);
        (void)pg_close(&store->base);
        return rc;
    }
    store->guard_seed = hash_bytes(store->url.schema, strlen(store->url.schema), 0);
    wake_durable(store->base.wake, UINT64_MAX); /* what is committed is durable */
    *store_out = store;
    return SAP_OK;
}

/* The tables are made, or only checked. */
static int open_schema(PgStore *store, const uint32_t *tables, uint32_t count, bool make)
{
    PgConn *conn = NULL;
    char why[PG_WHY_MAX] = "";
    int rc = pg_pool_take(&store->pool, &conn, why);
    if (rc == SAP_OK) {
        rc = make ? pg_schema_make(conn, tables, count, why)
                  : pg_schema_check(conn, tables, count, why);
        pg_pool_give(&store->pool, conn);
    }
    return rc == SAP_OK ? SAP_OK : refuse_open_of(store, rc, why);
}

int postgres_store_open(const char *url, const SapStoreOptions *options, SapStore **store_out)
{
    PgStore *store = NULL;
    int rc = new_store(url, options, &store);
    if (rc != SAP_OK) {
        return rc;
    }
    char why[PG_WHY_MAX] = "";
    rc = open_schema(store, options->tables, options->table_count, false);
    if (rc == SAP_OK) {
        rc = pg_listener_start(&store->url, store->base.wake, &store->version, &store->listener,
                               why);
        rc = rc == SAP_OK ? SAP_OK : refuse_open_of(store, rc, why);
    }
    if (rc != SAP_OK) {
        (void)pg_close(&store->base);
        return rc;
    }
    *store_out = &store->base;
    return SAP_OK;
}

int postgres_store_init(const char *url, const SapStoreOptions *options)
{
    PgStore *store = NULL;
    int rc = new_store(url, options, &store);
    if (rc == SAP_OK) {
        rc = open_schema(store, options->tables, options->table_count, true);
        (void)pg_close(&store->base);
    }
    return rc;
}
