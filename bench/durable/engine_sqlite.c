/* engine_sqlite.c - SQLite in WAL mode with synchronous=FULL, so that a commit is durable when it
 * returns. One connection per thread, prepared statements. */
#include "engine.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { BUSY_TIMEOUT_MS = 60000 };

/* A connection with its statements. */
struct DurSession {
    sqlite3 *db;
    uint32_t tables;
    sqlite3_stmt *begin, *commit, *rollback;
    sqlite3_stmt *put[DUR_MAX_TABLES];
};

struct DurStore {
    char path[4200];
    uint32_t tables;
    DurSession *own; /* stays open, so that the last one to close is the store */
};

/* Every 1000 pages of its log are a checkpoint: some 100 commits over five tables. */
static uint64_t engine_cycle_commits(uint64_t checkpoint_bytes)
{
    (void)checkpoint_bytes;
    return 2000;
}

static void engine_session_close(DurSession *session)
{
    sqlite3_finalize(session->begin);
    sqlite3_finalize(session->commit);
    sqlite3_finalize(session->rollback);
    for (uint32_t t = 0; t < session->tables; t++)
        sqlite3_finalize(session->put[t]);
    sqlite3_close(session->db);
    free(session);
}

static int run_text(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static int make_tables(DurSession *session)
{
    int rc = SQLITE_OK;
    for (uint32_t t = 0; t < session->tables && rc == SQLITE_OK; t++) {
        char sql[128];
        snprintf(sql, sizeof sql,
                 "CREATE TABLE IF NOT EXISTS t%u (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID", t);
        rc = run_text(session->db, sql);
    }
    return rc;
}

static int prepare(DurSession *session)
{
    int rc = sqlite3_prepare_v2(session->db, "BEGIN IMMEDIATE", -1, &session->begin, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(session->db, "COMMIT", -1, &session->commit, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_prepare_v2(session->db, "ROLLBACK", -1, &session->rollback, NULL);
    for (uint32_t t = 0; t < session->tables && rc == SQLITE_OK; t++) {
        char sql[64];
        snprintf(sql, sizeof sql, "REPLACE INTO t%u VALUES (?, ?)", t);
        rc = sqlite3_prepare_v2(session->db, sql, -1, &session->put[t], NULL);
    }
    return rc;
}

static int engine_session_open(DurStore *store, DurSession **session_out)
{
    DurSession *session = calloc(1, sizeof *session);
    if (!session)
        return SQLITE_NOMEM;
    session->tables = store->tables;
    int rc =
        sqlite3_open_v2(store->path, &session->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(session->db, BUSY_TIMEOUT_MS);
    if (rc == SQLITE_OK)
        rc = run_text(session->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
    if (rc == SQLITE_OK)
        rc = make_tables(session);
    if (rc == SQLITE_OK)
        rc = prepare(session);
    if (rc != SQLITE_OK) {
        engine_session_close(session);
        return rc;
    }
    *session_out = session;
    return SQLITE_OK;
}

static int engine_close(DurStore *store)
{
    engine_session_close(store->own);
    free(store);
    return SQLITE_OK;
}

static int engine_open(const DurOpen *options, DurStore **store_out)
{
    DurStore *store = calloc(1, sizeof *store);
    if (!store)
        return SQLITE_NOMEM;
    snprintf(store->path, sizeof store->path, "%s/data", options->dir);
    store->tables = options->tables;
    int rc = engine_session_open(store, &store->own);
    if (rc != SQLITE_OK) {
        free(store);
        return rc;
    }
    *store_out = store;
    return SQLITE_OK;
}

/* Runs a statement that has no rows, and makes it ready for the next time. */
static int step(sqlite3_stmt *stmt)
{
    int rc = sqlite3_step(stmt);
    int reset = sqlite3_reset(stmt);
    return rc == SQLITE_DONE ? reset : rc;
}

static int put(sqlite3_stmt *stmt, const DurRow *row)
{
    int rc = sqlite3_bind_blob(stmt, 1, row->key, BENCH_KEY_LEN, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_blob(stmt, 2, row->val, BENCH_VAL_LEN, SQLITE_STATIC);
    return rc == SQLITE_OK ? step(stmt) : rc;
}

static int put_rows(DurSession *session, const DurRow *rows, uint64_t count)
{
    int rc = step(session->begin);
    if (rc != SQLITE_OK)
        return rc;
    for (uint64_t i = 0; i < count && rc == SQLITE_OK; i++)
        for (uint32_t t = 0; t < session->tables && rc == SQLITE_OK; t++)
            rc = put(session->put[t], &rows[i]);
    if (rc == SQLITE_OK)
        rc = step(session->commit);
    if (rc != SQLITE_OK)
        (void)step(session->rollback);
    return rc;
}

static int engine_fill(DurStore *store, const DurRow *rows, uint64_t count)
{
    DurSession *session = store->own;
    int rc = run_text(session->db, "PRAGMA synchronous=OFF");
    if (rc == SQLITE_OK)
        rc = put_rows(session, rows, count);
    if (rc == SQLITE_OK)
        rc = run_text(session->db, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous=FULL");
    return rc;
}

static int engine_commit(DurStore *store, DurSession *session, const DurRow *row)
{
    (void)store;
    return put_rows(session, row, 1);
}

static int engine_count(DurStore *store, uint32_t table, uint64_t *rows_out)
{
    char sql[64];
    snprintf(sql, sizeof sql, "SELECT count(*) FROM t%u", table);
    sqlite3_stmt *stmt;
    int rc = sqlite3_prepare_v2(store->own->db, sql, -1, &stmt, NULL);
    if (rc != SQLITE_OK)
        return rc;
    rc = sqlite3_step(stmt);
    if (rc == SQLITE_ROW) {
        *rows_out = (uint64_t)sqlite3_column_int64(stmt, 0);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(stmt);
    return rc;
}

const DurEngine dur_sqlite = {
    .name = "sqlite",
    .what = "WAL, synchronous=FULL, WITHOUT ROWID, a connection per thread",
    .cycle_commits = engine_cycle_commits,
    .open = engine_open,
    .close = engine_close,
    .fill = engine_fill,
    .session_open = engine_session_open,
    .session_close = engine_session_close,
    .commit = engine_commit,
    .count = engine_count,
    .error_text = sqlite3_errstr,
};
