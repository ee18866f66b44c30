/* pg_conn.c - see pg_conn.h. */
#include "store/pg_conn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/mem.h"

enum {
    LEAST_VERSION = 120000, /* 12.0 */
    ANSWER_SLACK_MS = 5000, /* how much later than its own time-out a server may answer */
    PARAMS_MAX = 8,
    SQL_MAX = 512,
    IDLE_TIMEOUT_MS = 5000, /* of a transaction whose client does nothing */
    COLLECT_AT = PG_PENDING_MAX - 32,
};

/* ---- Errors ---------------------------------------------------------------------------------- */

int pg_code_of_state(const char *state)
{
    static const struct {
        const char *state; /* how it begins */
        int rc;
    } codes[] = {
        {"40001", SAP_CONFLICT}, /* serialization failure */
        {"40P01", SAP_CONFLICT}, /* deadlock */
        {"55P03", SAP_BUSY},     /* lock not available in time */
        {"57014", SAP_BUSY},     /* statement took too long */
        {"53300", SAP_BUSY},     /* too many connections */
        {"53100", SAP_FULL},     /* disk full */
        {"53200", SAP_NOMEM},    /* out of memory */
        {"54", SAP_FULL},        /* program limit exceeded */
        {"28", SAP_INVALID},     /* not allowed to connect */
        {"3D000", SAP_INVALID},  /* no such database */
        {"42", SAP_INVALID},     /* no such table, no right to use it */
        {"3F000", SAP_INVALID},  /* no such schema */
        {"XX001", SAP_CORRUPT},  /* damaged data */
        {"XX002", SAP_CORRUPT},  /* damaged index */
    };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (strncmp(state, codes[i].state, strlen(codes[i].state)) == 0) {
            return codes[i].rc;
        }
    }
    return SAP_IO;
}

/* libpq ends its texts with a newline, and some have several lines. */
static void copy_on_one_line(char *to, size_t size, const char *from)
{
    size_t len = 0;
    for (; *from != '\0' && len + 1 < size; from++) {
        to[len++] = (char)(*from == '\n' || *from == '\t' ? ' ' : *from);
    }
    while (len > 0 && to[len - 1] == ' ') {
        len--;
    }
    to[len] = '\0';
}

static int lose_conn(PgConn *conn, const char *text)
{
    if (!conn->lost) {
        conn->lost = true;
        copy_on_one_line(conn->text, sizeof conn->text, text);
    }
    return SAP_IO;
}

/* The server answers, but takes no writes any more: it has become a standby. The next connection may
 * lead to the new primary. */
static bool is_demoted(const char *state)
{
    return strcmp(state, "25006") == 0 || strcmp(state, "0A000") == 0;
}

/* Where libpq guesses that the server has crashed, but has said why it ended the session. */
static const char *text_of_end(const char *state)
{
    if (strcmp(state, "25P03") == 0) {
        return "the transaction made no call for 5 s, and the server ended it: make it shorter";
    }
    if (strcmp(state, "57P01") == 0) {
        return "the server is being shut down, or its administrator has ended the connection";
    }
    return NULL;
}

static int note_error(PgConn *conn, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *text = state == NULL ? NULL : text_of_end(state);
    text = text == NULL ? PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY) : text;
    (void)snprintf(conn->sqlstate, sizeof conn->sqlstate, "%s", state == NULL ? "" : state);
    copy_on_one_line(conn->text, sizeof conn->text,
                     text == NULL ? PQresultErrorMessage(result) : text);
    if (PQstatus(conn->pg) == CONNECTION_BAD || is_demoted(conn->sqlstate)) {
        conn->lost = true;
        return SAP_IO;
    }
    return pg_code_of_state(conn->sqlstate);
}

static void receive_notice(void *ctx, const PGresult *result)
{
    PgConn *conn = (PgConn *)ctx;
    const char *severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    conn->warned = conn->warned || severity == NULL || strcmp(severity, "WARNING") == 0;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Until the socket is ready, or the time has come. */
static int wait_socket(PgConn *conn, short events, uint64_t until_ns)
{
    struct pollfd fd = {PQsocket(conn->pg), events, 0};
    for (;;) {
        uint64_t now_ns = clock_mono_ns(NULL);
        if (now_ns >= until_ns) {
            return lose_conn(conn, "the server does not answer");
        }
        uint64_t left_ms = (until_ns - now_ns) / 1000000 + 1;
        int ready = poll(&fd, 1, left_ms < 60000 ? (int)left_ms : 60000);
        if (ready > 0) {
            return SAP_OK;
        }
        if (ready < 0 && errno != EINTR) {
            return lose_conn(conn, strerror(errno));
        }
    }
}

static uint64_t answer_deadline(const PgConn *conn)
{
    uint64_t ms = (uint64_t)conn->url->statement_timeout_ms + ANSWER_SLACK_MS;
    return clock_mono_ns(NULL) + ms * 1000000;
}

static int consume_input(PgConn *conn)
{
    return PQconsumeInput(conn->pg) == 1 ? SAP_OK : lose_conn(conn, PQerrorMessage(conn->pg));
}

/* Everything to the system. The server may have to be read from first, if it waits for us to. */
static int flush_output(PgConn *conn)
{
    uint64_t until_ns = 0;
    for (;;) {
        int left = PQflush(conn->pg);
        if (left == 0) {
            return SAP_OK;
        }
        if (left < 0) {
            return lose_conn(conn, PQerrorMessage(conn->pg));
        }
        until_ns = until_ns == 0 ? answer_deadline(conn) : until_ns;
        int rc = wait_socket(conn, POLLIN | POLLOUT, until_ns);
        rc = rc == SAP_OK ? consume_input(conn) : rc;
        if (rc != SAP_OK) {
            return rc;
        }
    }
}

/* *result_out is NULL where a statement's answers end. */
static int next_result(PgConn *conn, uint64_t until_ns, PGresult **result_out)
{
    while (PQisBusy(conn->pg)) {
        int rc = wait_socket(conn, POLLIN, until_ns);
        rc = rc == SAP_OK ? consume_input(conn) : rc;
        if (rc != SAP_OK) {
            return rc;
        }
    }
    *result_out = PQgetResult(conn->pg);
    return SAP_OK;
}

/* ---- Sending --------------------------------------------------------------------------------- */

static void push_pending(PgConn *conn, PgAnswer answer, uint32_t table, PgStatement statement)
{
    SAP_ASSERT(conn->pending_count < PG_PENDING_MAX);
    conn->pending[conn->pending_count++] =
        (PgPending){(uint8_t)answer, (uint8_t)statement, (uint16_t)table};
}

int pg_conn_flush(PgConn *conn)
{
    if (conn->lost) {
        return SAP_IO;
    }
    if (conn->pending_count > 0 &&
        conn->pending[conn->pending_count - 1].answer != PG_ANSWER_SYNC) {
        if (PQpipelineSync(conn->pg) != 1) {
            return lose_conn(conn, PQerrorMessage(conn->pg));
        }
        push_pending(conn, PG_ANSWER_SYNC, 0, PG_GET);
    }
    return flush_output(conn);
}

/* Leaves room for what one call sends. */
static int make_room(PgConn *conn)
{
    if (conn->lost) {
        return SAP_IO;
    }
    return conn->pending_count < COLLECT_AT ? SAP_OK : pg_conn_finish(conn, NULL);
}

static int send_prepared(PgConn *conn, const char *name, const Slice *params, int count)
{
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX];
    int formats[PARAMS_MAX];
    SAP_ASSERT(count <= PARAMS_MAX);
    for (int i = 0; i < count; i++) {
        values[i] = params[i].data == NULL ? "" : (const char *)params[i].data; /* NULL is null */
        lengths[i] = (int)params[i].len;
        formats[i] = 1;
    }
    if (PQsendQueryPrepared(conn->pg, name, count, values, lengths, formats, 1) != 1) {
        return lose_conn(conn, PQerrorMessage(conn->pg));
    }
    return SAP_OK;
}

static int prepare_text(PgConn *conn, const char *name, const char *sql, uint32_t table,
                        PgStatement statement)
{
    if (PQsendPrepare(conn->pg, name, sql, 0, NULL) != 1) {
        return lose_conn(conn, PQerrorMessage(conn->pg));
    }
    push_pending(conn, PG_ANSWER_PREPARED, table, statement);
    return SAP_OK;
}

/* The first %s is the schema, %u the table. */
static const char *const table_texts[PG_STATEMENT_COUNT] = {
    [PG_GET] = "SELECT v FROM \"%s\".t%u WHERE k = $1",
    [PG_PUT] = "INSERT INTO \"%s\".t%u (k, v) VALUES ($1, $2) "
               "ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
    [PG_PUT_ABSENT] = "INSERT INTO \"%s\".t%u (k, v) VALUES ($1, $2) ON CONFLICT (k) DO NOTHING",
    [PG_DEL] = "DELETE FROM \"%s\".t%u WHERE k = $1",
    [PG_SCAN_UP] = "SELECT k, v FROM \"%s\".t%u WHERE k >= $1 ORDER BY k LIMIT $2::bigint",
    [PG_SCAN_UP_TO] = "SELECT k, v FROM \"%s\".t%u WHERE k >= $1 AND k < $3 ORDER BY k "
                      "LIMIT $2::bigint",
    [PG_SCAN_DOWN] = "SELECT k, v FROM \"%s\".t%u WHERE k >= $1 ORDER BY k DESC LIMIT $2::bigint",
    [PG_SCAN_DOWN_TO] = "SELECT k, v FROM \"%s\".t%u WHERE k >= $1 AND k < $3 ORDER BY k DESC "
                        "LIMIT $2::bigint",
    [PG_LOCK] = "SELECT k, v FROM \"%s\".t%u WHERE k >= $1 ORDER BY k LIMIT $2::bigint "
                "FOR UPDATE SKIP LOCKED",
    [PG_LOCK_TO] = "SELECT k, v FROM \"%s\".t%u WHERE k >= $1 AND k < $3 ORDER BY k "
                   "LIMIT $2::bigint FOR UPDATE SKIP LOCKED",
    [PG_GUARD_ROW] = "SELECT 1 FROM \"%s\".t%u WHERE k = $1 FOR UPDATE",
};

static void statement_name(char name[16], uint32_t table, PgStatement statement)
{
    (void)snprintf(name, 16, "s%u_%u", table, (unsigned)statement);
}

static int ensure_prepared(PgConn *conn, uint32_t table, PgStatement statement, const char *name)
{
    char sql[SQL_MAX];
    uint16_t bit = (uint16_t)(1u << statement);
    SAP_ASSERT(table < PG_TABLES);
    if ((conn->prepared[table] & bit) != 0) {
        return SAP_OK;
    }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    int len = snprintf(sql, sizeof sql, table_texts[statement], conn->url->schema, table);
#pragma GCC diagnostic pop
    SAP_ASSERT(len > 0 && (size_t)len < sizeof sql);
    int rc = prepare_text(conn, name, sql, table, statement);
    if (rc == SAP_OK) {
        conn->prepared[table] |= bit;
    }
    return rc;
}

int pg_conn_send(PgConn *conn, uint32_t table, PgStatement statement, const Slice *params,
                 int count, PgAnswer answer)
{
    char name[16];
    int rc = make_room(conn);
    statement_name(name, table, statement);
    rc = rc == SAP_OK ? ensure_prepared(conn, table, statement, name) : rc;
    rc = rc == SAP_OK ? send_prepared(conn, name, params, count) : rc;
    if (rc == SAP_OK) {
        push_pending(conn, answer, table, statement);
    }
    return rc;
}

/* clock_timestamp() is not qualified, so that a test can put another one before it. */
static const char *const command_texts[PG_COMMAND_COUNT] = {
    [PG_BEGIN_READ] = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    [PG_BEGIN_WRITE] = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
    [PG_COMMIT] = "COMMIT",
    [PG_ROLLBACK] = "ROLLBACK",
    [PG_GUARD_SHARED] = "SELECT pg_catalog.pg_advisory_xact_lock_shared($1)",
    [PG_GUARD_EXCLUSIVE] = "SELECT pg_catalog.pg_advisory_xact_lock($1)",
    [PG_WALL_NS] = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint",
};

static void command_name(char name[16], PgCommand command)
{
    (void)snprintf(name, 16, "c%u", (unsigned)command);
}

int pg_conn_command(PgConn *conn, PgCommand command, const Slice *params, int count,
                    PgAnswer answer)
{
    char name[16];
    int rc = make_room(conn);
    command_name(name, command);
    rc = rc == SAP_OK ? send_prepared(conn, name, params, count) : rc;
    if (rc == SAP_OK) {
        push_pending(conn, answer, 0, PG_GET);
    }
    return rc;
}

int pg_conn_sql(PgConn *conn, const char *sql, const char *const *params, int count,
                PgAnswer answer)
{
    int rc = make_room(conn);
    if (rc == SAP_OK && PQsendQueryParams(conn->pg, sql, count, NULL, params, NULL, NULL, 0) != 1) {
        rc = lose_conn(conn, PQerrorMessage(conn->pg));
    }
    if (rc == SAP_OK) {
        push_pending(conn, answer, 0, PG_GET);
    }
    return rc;
}

/* ---- Answers --------------------------------------------------------------------------------- */

/* What the answer says; its statement ended before it if an error came earlier in the group. */
static int judge_result(PgConn *conn, PgPending pending, PGresult *result)
{
    switch (PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
        if (pending.answer == PG_ANSWER_ONE_ROW && strcmp(PQcmdTuples(result), "1") != 0) {
            copy_on_one_line(conn->text, sizeof conn->text, "a row that was locked is gone");
            return SAP_CONFLICT;
        }
        return SAP_OK;
    case PGRES_PIPELINE_SYNC:
        return pending.answer == PG_ANSWER_SYNC ? SAP_OK
                                                : lose_conn(conn, "answers are out of order");
    case PGRES_PIPELINE_ABORTED:
        return SAP_IO;
    default:
        return note_error(conn, result);
    }
}

/* Reads all of one answer; the last pending one may be kept. */
static int read_answer(PgConn *conn, PgPending pending, uint64_t until_ns, PGresult **kept)
{
    PGresult *result = NULL;
    int rc = next_result(conn, until_ns, &result);
    if (rc == SAP_OK && result == NULL) {
        rc = lose_conn(conn, "an answer is missing");
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = judge_result(conn, pending, result);
    if (pending.answer == PG_ANSWER_KEPT && rc == SAP_OK && *kept == NULL) {
        *kept = result;
    } else {
        PQclear(result);
    }
    if (pending.answer == PG_ANSWER_SYNC || conn->lost) {
        return rc;
    }
    result = NULL;
    int end_rc = next_result(conn, until_ns, &result);
    if (end_rc == SAP_OK && result != NULL) {
        PQclear(result);
        end_rc = lose_conn(conn, "an answer has two parts");
    }
    return end_rc == SAP_OK ? rc : end_rc;
}

static void forget_prepared(PgConn *conn, PgPending pending)
{
    conn->prepared[pending.table] &= (uint16_t) ~(1u << pending.statement);
}

int pg_conn_finish(PgConn *conn, PGresult **kept_out)
{
    PGresult *kept = NULL;
    int first = pg_conn_flush(conn);
    uint64_t until_ns = answer_deadline(conn);
    uint32_t count = conn->pending_count;
    for (uint32_t i = 0; i < count && !conn->lost; i++) {
        PgPending pending = conn->pending[i];
        int rc = read_answer(conn, pending, until_ns, &kept);
        if (rc != SAP_OK && pending.answer == PG_ANSWER_PREPARED) {
            forget_prepared(conn, pending);
        }
        if (rc != SAP_OK && first == SAP_OK && pending.answer != PG_ANSWER_IGNORED) {
            first = rc;
        }
    }
    conn->pending_count = 0;
    first = conn->lost ? SAP_IO : first;
    if (first != SAP_OK || kept_out == NULL) {
        PQclear(kept);
        kept = NULL;
    }
    if (kept_out != NULL) {
        *kept_out = kept;
    }
    return first;
}

int pg_conn_query(PgConn *conn, const char *sql, const char *const *params, int count,
                  PGresult **result_out)
{
    int rc = pg_conn_sql(conn, sql, params, count, PG_ANSWER_KEPT);
    return rc == SAP_OK ? pg_conn_finish(conn, result_out) : rc;
}

bool pg_conn_is_alive(PgConn *conn)
{
    /* A server that ends a connection writes why and then closes it, which two reads show. */
    for (int reads = 0; reads < 3 && !conn->lost; reads++) {
        struct pollfd fd = {PQsocket(conn->pg), POLLIN, 0};
        if (poll(&fd, 1, 0) <= 0) {
            break;
        }
        (void)consume_input(conn);
    }
    return !conn->lost && PQstatus(conn->pg) == CONNECTION_OK;
}

/* ---- Opening --------------------------------------------------------------------------------- */

static int refuse_server(const PgConn *conn, char *why, int rc, const char *text)
{
    (void)snprintf(why, PG_WHY_MAX, "%.120s: %.500s", conn->url->shown, text);
    return rc;
}

/* What to do about a connection that the server refused. */
static const char *advice_for(const char *text)
{
    static const struct {
        const char *part;
        const char *advice;
    } known[] = {
        {"no password supplied", "give a password, in the url or by PGPASSWORD or ~/.pgpass"},
        {"password authentication failed", "check user and password"},
        {"no encryption",
         "the server may want TLS (use sslmode=require), or its pg_hba.conf does not "
         "admit this user from this host"},
        {"does not support SSL", "the server speaks no TLS: use another sslmode"},
        {"pg_hba.conf", "let the server's pg_hba.conf admit this user from this host"},
        {"does not exist", "create it, or correct the url"},
        {"invalid response", "host and port may name another server than PostgreSQL"},
        {"invalid ", "correct this parameter of the url"},
        {"too many clients", "raise max_connections, or lower `pool`"},
        {"remaining connection slots", "raise max_connections, or lower `pool`"},
        {"too many connections for", "raise the limit, or lower `pool`"},
        {"permission denied for database", "GRANT CONNECT ON DATABASE to this user"},
        {"starting up", "wait until the server is ready"},
        {"not yet accepting connections", "wait until the server is ready"},
        {"shutting down", "wait until the server is ready"},
        {"session is read-only", "connect to the primary"},
        {"server is in hot standby", "connect to the primary"},
        {"Is the server running", "start it, or correct the url"},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strstr(text, known[i].part) != NULL) {
            return known[i].advice;
        }
    }
    return "check the url, and that the server runs";
}

/* libpq gives no SQLSTATE for a connection that was refused: the words decide. */
static int code_of_refusal(const char *text)
{
    static const struct {
        const char *part;
        int rc;
    } known[] = {
        {"too many clients", SAP_BUSY},
        {"remaining connection slots", SAP_BUSY},
        {"too many connections for", SAP_BUSY},
        {"session is read-only", SAP_READONLY},
        {"hot standby", SAP_READONLY},
        {"starting up", SAP_IO},
        {"shutting down", SAP_IO},
        {"recovery mode", SAP_IO},
        {"not yet accepting connections", SAP_IO},
        {"FATAL:", SAP_INVALID},
        {"no password supplied", SAP_INVALID},
        {"does not support SSL", SAP_INVALID},
        {"certificate", SAP_INVALID},
        {"invalid response", SAP_IO},
        {"invalid ", SAP_INVALID},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strstr(text, known[i].part) != NULL) {
            return known[i].rc;
        }
    }
    return SAP_IO;
}

static int refuse_connect(const PgConn *conn, char *why)
{
    char text[PG_TEXT_MAX];
    char both[PG_TEXT_MAX];
    copy_on_one_line(text, sizeof text, PQerrorMessage(conn->pg));
    (void)snprintf(both, sizeof both, "%.250s: %s", text, advice_for(text));
    return refuse_server(conn, why, code_of_refusal(text), both);
}

/* Adds a default unless the url has the parameter. */
typedef struct Keywords {
    const char *names[64];
    const char *values[64];
    int count;
} Keywords;

static bool has_keyword(const Keywords *words, const char *name)
{
    for (int i = 0; i < words->count; i++) {
        if (strcmp(words->names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static void add_keyword(Keywords *words, const char *name, const char *value)
{
    if (!has_keyword(words, name) && words->count < 63) {
        words->names[words->count] = name;
        words->values[words->count] = value;
        words->count++;
    }
}

static void add_defaults(Keywords *words)
{
    const char *hosts = "";
    for (int i = 0; i < words->count; i++) {
        if (strcmp(words->names[i], "host") == 0) {
            hosts = words->values[i];
        }
    }
    if (strchr(hosts, ',') != NULL) {
        add_keyword(words, "target_session_attrs", "read-write");
    }
    add_keyword(words, "connect_timeout", "5");
    add_keyword(words, "tcp_user_timeout", "10000");
    add_keyword(words, "keepalives_idle", "5");
    add_keyword(words, "keepalives_interval", "2");
    add_keyword(words, "keepalives_count", "3");
    add_keyword(words, "fallback_application_name", "sapling");
    add_keyword(words, "client_encoding", "UTF8");
}

static int connect_server(PgConn *conn, char *why)
{
    Keywords words = {.count = 0};
    PQconninfoOption *parts = PQconninfoParse(conn->url->conninfo, NULL);
    if (parts == NULL) {
        return SAP_NOMEM; /* the url was parsed before */
    }
    for (const PQconninfoOption *part = parts; part->keyword != NULL; part++) {
        if (part->val != NULL) {
            add_keyword(&words, part->keyword, part->val);
        }
    }
    add_defaults(&words);
    words.names[words.count] = NULL;
    words.values[words.count] = NULL;
    conn->pg = PQconnectdbParams(words.names, words.values, 0);
    if (conn->pg != NULL && PQsocket(conn->pg) >= 0 && PQsocket(conn->pg) < FD_FIRST) {
        /* Standard descriptors are closed: what the program prints would go to the server. */
        PQfinish(conn->pg);
        conn->pg = fd_fill_standard() ? PQconnectdbParams(words.names, words.values, 0) : NULL;
    }
    PQconninfoFree(parts);
    if (conn->pg == NULL) {
        return SAP_NOMEM;
    }
    if (PQstatus(conn->pg) != CONNECTION_OK) {
        return refuse_connect(conn, why);
    }
    (void)PQsetNoticeReceiver(conn->pg, receive_notice, conn);
    if (PQsetnonblocking(conn->pg, 1) != 0 || PQenterPipelineMode(conn->pg) != 1) {
        return refuse_connect(conn, why);
    }
    return SAP_OK;
}

enum { ROW_RECOVERY, ROW_READ_ONLY, ROW_SYNC, ROW_FSYNC };

static const struct {
    int rc;
    const char *text;
} fault_texts[PG_FAULT_COUNT] = {
    [PG_FAULT_OLD] = {SAP_INVALID, "a store needs PostgreSQL 12 or later"},
    [PG_FAULT_STANDBY] = {SAP_READONLY, "the server is a standby: connect to the primary"},
    [PG_FAULT_READ_ONLY] = {SAP_READONLY, "the server or this user is set to read-only "
                                          "(default_transaction_read_only): set it to off"},
    [PG_FAULT_ASYNC] = {SAP_INVALID,
                        "the server commits asynchronously, so that a crash would lose commits: "
                        "set synchronous_commit to on for this user, database and server"},
    [PG_FAULT_NO_FSYNC] = {SAP_INVALID,
                           "the server runs with fsync off, so that a crash would lose commits: "
                           "set fsync to on"},
};

int pg_conn_explain_fault(const PgConn *conn, PgFault fault, char why[PG_WHY_MAX])
{
    char text[PG_TEXT_MAX];
    (void)snprintf(text, sizeof text, "%s", fault_texts[fault].text);
    if (fault == PG_FAULT_OLD) {
        (void)snprintf(text, sizeof text, "the server is PostgreSQL %d: %s",
                       PQserverVersion(conn->pg) / 10000, fault_texts[fault].text);
    }
    return refuse_server(conn, why, fault_texts[fault].rc, text);
}

/* A standby is read-only too, and is not reported as both. */
static uint32_t find_faults(const PgConn *conn, const PGresult *row)
{
    bool standby = strcmp(PQgetvalue(row, 0, ROW_RECOVERY), "t") == 0;
    bool read_only = strcmp(PQgetvalue(row, 0, ROW_READ_ONLY), "on") == 0;
    uint32_t faults = 0;
    faults |= (uint32_t)(PQserverVersion(conn->pg) < LEAST_VERSION) << PG_FAULT_OLD;
    faults |= (uint32_t)standby << PG_FAULT_STANDBY;
    faults |= (uint32_t)(read_only && !standby) << PG_FAULT_READ_ONLY;
    faults |= (uint32_t)(strcmp(PQgetvalue(row, 0, ROW_SYNC), "off") == 0) << PG_FAULT_ASYNC;
    faults |= (uint32_t)(strcmp(PQgetvalue(row, 0, ROW_FSYNC), "off") == 0) << PG_FAULT_NO_FSYNC;
    return faults;
}

/* The session keeps the settings that were checked, whatever is changed on the server later. Rows are
 * always found through the primary key: tables that grow and shrink like queues never have the
 * statistics that would make another plan a good one. */
static int setup_session(PgConn *conn, const char *sync)
{
    char lock_ms[16];
    char statement_ms[16];
    char idle_ms[16];
    const char *params[] = {sync, lock_ms, statement_ms, idle_ms};
    (void)snprintf(lock_ms, sizeof lock_ms, "%u", conn->url->lock_timeout_ms);
    (void)snprintf(statement_ms, sizeof statement_ms, "%u", conn->url->statement_timeout_ms);
    (void)snprintf(idle_ms, sizeof idle_ms, "%u", (unsigned)IDLE_TIMEOUT_MS);
    int rc = pg_conn_sql(conn,
                         "SELECT set_config('synchronous_commit', $1, false), "
                         "set_config('lock_timeout', $2, false), "
                         "set_config('statement_timeout', $3, false), "
                         "set_config('idle_in_transaction_session_timeout', $4, false), "
                         "set_config('enable_seqscan', 'off', false), "
                         "set_config('enable_bitmapscan', 'off', false), "
                         "set_config('enable_sort', 'off', false), "
                         "set_config('plan_cache_mode', 'force_generic_plan', false), "
                         "set_config('jit', 'off', false)",
                         params, 4, PG_ANSWER_OK);
    for (unsigned i = 0; i < PG_COMMAND_COUNT && rc == SAP_OK; i++) {
        char name[16];
        command_name(name, (PgCommand)i);
        if (PQsendPrepare(conn->pg, name, command_texts[i], 0, NULL) != 1) {
            rc = lose_conn(conn, PQerrorMessage(conn->pg));
        } else {
            push_pending(conn, PG_ANSWER_OK, 0, PG_GET);
        }
    }
    return rc == SAP_OK ? pg_conn_finish(conn, NULL) : rc;
}

/* Looks for faults, and sets up the session where there are none. */
static int check_server(PgConn *conn, uint32_t *faults_out, char *why)
{
    PGresult *row = NULL;
    int rc = pg_conn_query(conn,
                           "SELECT pg_is_in_recovery(), current_setting('transaction_read_only'), "
                           "current_setting('synchronous_commit'), "
                           "coalesce(current_setting('fsync', true), 'on')",
                           NULL, 0, &row);
    if (rc == SAP_OK) {
        *faults_out = find_faults(conn, row);
        rc = *faults_out == 0 ? setup_session(conn, PQgetvalue(row, 0, ROW_SYNC)) : SAP_OK;
        PQclear(row);
    }
    return rc == SAP_OK ? SAP_OK : refuse_server(conn, why, rc, conn->text);
}

int pg_conn_open_to_look(const PgUrl *url, PgConn **conn_out, uint32_t *faults_out,
                         char why[PG_WHY_MAX])
{
    why[0] = '\0';
    PgConn *conn = (PgConn *)mem_zalloc(MEM_STORE, sizeof *conn);
    if (conn == NULL) {
        return SAP_NOMEM;
    }
    conn->url = url;
    conn->pid = (int)getpid();
    int rc = connect_server(conn, why);
    rc = rc == SAP_OK ? check_server(conn, faults_out, why) : rc;
    if (rc != SAP_OK) {
        pg_conn_close(conn);
        return rc;
    }
    *conn_out = conn;
    return SAP_OK;
}

int pg_conn_open(const PgUrl *url, PgConn **conn_out, char why[PG_WHY_MAX])
{
    PgConn *conn = NULL;
    uint32_t faults = 0;
    int rc = pg_conn_open_to_look(url, &conn, &faults, why);
    if (rc == SAP_OK && faults != 0) {
        rc = pg_conn_explain_fault(conn, (PgFault)__builtin_ctz(faults), why);
        pg_conn_close(conn);
    }
    if (rc == SAP_OK) {
        *conn_out = conn;
    }
    return rc;
}

/* In a child of the process that connected: libpq ends a connection with a message to the server,
 * which would end the parent's. It goes to /dev/null instead. */
static void detach_socket(const PGconn *pg)
{
    int null_fd = fd_open("/dev/null", O_RDWR, 0);
    if (null_fd >= 0) {
        (void)dup2(null_fd, PQsocket(pg));
        (void)close(null_fd);
    }
}

void pg_conn_close(PgConn *conn)
{
    if (conn == NULL) {
        return;
    }
    if (conn->pg != NULL && conn->pid != (int)getpid()) {
        detach_socket(conn->pg);
    }
    PQfinish(conn->pg);
    mem_free(MEM_STORE, conn, sizeof *conn);
}
