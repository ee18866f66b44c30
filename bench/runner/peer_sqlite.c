/* peer_sqlite.c - a table of SQLite in WAL mode, a connection per session.
 *
 * Put and acknowledgement are transactions with synchronous=FULL, so that they are on disk when they
 * return. Taking marks rows, with synchronous=NORMAL, which does not wait for the disk: what a crash
 * loses of it makes messages available again. */
#include "peer.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUSY_TIMEOUT_MS = 60000 };

struct RunStore {
    RunSession *own; /* stays open, so that the last one to close is the store */
};

struct RunSession {
    sqlite3 *db;
    sqlite3_stmt *begin, *commit, *put, *take, *ack, *count;
    int64_t ids[RUN_BATCH]; /* taken */
    uint32_t taken;
};

static int failed(const RunSession *session, const char *what)
{
    fprintf(stderr, "bench: sqlite: %s: %s\n", what,
            session->db ? sqlite3_errmsg(session->db) : "out of memory");
    return -1;
}

static void peer_session_close(RunSession *session)
{
    sqlite3_stmt *const statements[] = {session->begin, session->commit, session->put,
                                        session->take,  session->ack,    session->count};
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        sqlite3_finalize(statements[i]);
    sqlite3_close(session->db);
    free(session);
}

static int prepare(RunSession *session)
{
    const struct {
        const char *sql;
        sqlite3_stmt **statement;
    } all[] = {
        {"BEGIN IMMEDIATE", &session->begin},
        {"COMMIT", &session->commit},
        {"INSERT INTO q (taken, body) VALUES (0, ?)", &session->put},
        {"UPDATE q SET taken = 1 WHERE id IN (SELECT id FROM q WHERE taken = 0 ORDER BY id LIMIT ?) "
         "RETURNING id, body",
         &session->take},
        {"DELETE FROM q WHERE id = ?", &session->ack},
        {"SELECT count(*) FROM q", &session->count},
    };
    int rc = SQLITE_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && rc == SQLITE_OK; i++)
        rc = sqlite3_prepare_v2(session->db, all[i].sql, -1, all[i].statement, NULL);
    return rc;
}

static int run_text(const RunSession *session, const char *sql)
{
    return sqlite3_exec(session->db, sql, NULL, NULL, NULL);
}

static int peer_session_open(RunStore *store, RunSession **session_out)
{
    (void)store;
    RunSession *session = calloc(1, sizeof *session);
    if (!session) {
        fprintf(stderr, "bench: out of memory\n");
        return -1;
    }
    int rc =
        sqlite3_open_v2("data", &session->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_busy_timeout(session->db, BUSY_TIMEOUT_MS);
    if (rc == SQLITE_OK)
        rc = run_text(session, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                               "CREATE TABLE IF NOT EXISTS q "
                               "(id INTEGER PRIMARY KEY, taken INTEGER, body BLOB)");
    if (rc == SQLITE_OK)
        rc = prepare(session);
    if (rc != SQLITE_OK) {
        failed(session, "open");
        peer_session_close(session);
        return -1;
    }
    *session_out = session;
    return 0;
}

static int peer_open(RunStore **store_out)
{
    RunStore *store = malloc(sizeof *store);
    if (!store || peer_session_open(store, &store->own) != 0) {
        free(store);
        return -1;
    }
    *store_out = store;
    return 0;
}

static int peer_close(RunStore *store)
{
    peer_session_close(store->own);
    free(store);
    return 0;
}

/* Runs a statement that has no rows, and makes it ready for the next time. */
static int step(sqlite3_stmt *statement)
{
    int rc = sqlite3_step(statement);
    int reset = sqlite3_reset(statement);
    return rc == SQLITE_DONE ? reset : rc;
}

static int peer_put(RunSession *session, const RunMessage *messages, uint32_t count)
{
    int rc = step(session->begin);
    for (uint32_t i = 0; i < count && rc == SQLITE_OK; i++) {
        rc = sqlite3_bind_blob(session->put, 1, messages[i].payload, RUN_PAYLOAD, SQLITE_STATIC);
        if (rc == SQLITE_OK)
            rc = step(session->put);
    }
    if (rc == SQLITE_OK)
        rc = step(session->commit);
    return rc == SQLITE_OK ? 0 : failed(session, "put");
}

/* All rows of one statement. */
static int take_rows(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out)
{
    uint32_t count = 0;
    int rc = sqlite3_bind_int64(session->take, 1, max);
    while (rc == SQLITE_OK && (rc = sqlite3_step(session->take)) == SQLITE_ROW) {
        const void *body = sqlite3_column_blob(session->take, 1);
        rc = SQLITE_OK;
        if (!body || sqlite3_column_bytes(session->take, 1) != RUN_PAYLOAD)
            rc = SQLITE_CORRUPT;
        else
            memcpy(messages[count++].payload, body, RUN_PAYLOAD);
        session->ids[session->taken++] = sqlite3_column_int64(session->take, 0);
    }
    int reset = sqlite3_reset(session->take);
    *count_out = count;
    return rc == SQLITE_DONE ? reset : rc;
}

static int peer_take(RunSession *session, RunMessage *messages, uint32_t max, uint32_t *count_out)
{
    *count_out = 0;
    int rc = run_text(session, "PRAGMA synchronous=NORMAL");
    for (int ms = 0; ms < RUN_TAKE_WAIT_MS && rc == SQLITE_OK && *count_out == 0; ms++) {
        rc = take_rows(session, messages, max, count_out);
        if (rc == SQLITE_OK && *count_out == 0)
            sqlite3_sleep(1);
    }
    if (rc == SQLITE_OK)
        rc = run_text(session, "PRAGMA synchronous=FULL");
    return rc == SQLITE_OK ? 0 : failed(session, "take");
}

static int peer_ack(RunSession *session)
{
    int rc = step(session->begin);
    for (uint32_t i = 0; i < session->taken && rc == SQLITE_OK; i++) {
        rc = sqlite3_bind_int64(session->ack, 1, session->ids[i]);
        if (rc == SQLITE_OK)
            rc = step(session->ack);
    }
    if (rc == SQLITE_OK)
        rc = step(session->commit);
    session->taken = 0;
    return rc == SQLITE_OK ? 0 : failed(session, "acknowledge");
}

static int peer_left(RunStore *store, uint64_t *count_out)
{
    sqlite3_stmt *statement = store->own->count;
    int rc = sqlite3_step(statement);
    if (rc == SQLITE_ROW)
        *count_out = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_reset(statement);
    return rc == SQLITE_ROW ? 0 : failed(store->own, "count");
}

const RunPeer run_sqlite = {
    .name = "sqlite",
    .what = "WAL, synchronous=FULL, but taking is not synced; a connection per thread",
    .open = peer_open,
    .close = peer_close,
    .session_open = peer_session_open,
    .session_close = peer_session_close,
    .put = peer_put,
    .take = peer_take,
    .ack = peer_ack,
    .left = peer_left,
};
