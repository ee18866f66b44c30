/* pg_conn.h - one connection to a PostgreSQL server, and the statements a store runs on it.
 *
 * Statements are sent ahead (libpq's pipeline): a call that needs no answer sends its statement and
 * goes on; pg_conn_finish() reads the answers of all that was sent. Invariants:
 *
 * 1. Every sent statement has an entry in `pending`, in the order of the answers, until its answer
 *    is read.
 * 2. Between two calls everything sent is followed by a Sync, so that the server counts the time
 *    until the next statement as idle, and ends a transaction whose client has stopped.
 * 3. A connection that is `lost` is only closed.
 * 4. The answer of at most one pending statement is kept; it is the last of them.
 *
 * One thread at a time uses a connection. */
#ifndef SAPLING_STORE_PG_CONN_H
#define SAPLING_STORE_PG_CONN_H

#include <libpq-fe.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "store/pg_url.h"

/* The statements of one table, prepared when first used. */
typedef enum PgStatement {
    PG_GET,
    PG_PUT,
    PG_PUT_ABSENT,
    PG_DEL,
    PG_SCAN_UP,      /* from $1, at most $2 rows */
    PG_SCAN_UP_TO,   /* from $1, at most $2 rows, below $3 */
    PG_SCAN_DOWN,    /* as PG_SCAN_UP, backward */
    PG_SCAN_DOWN_TO, /* as PG_SCAN_UP_TO, backward */
    PG_LOCK,         /* as PG_SCAN_UP, of rows that are not locked; locks them */
    PG_LOCK_TO,
    PG_GUARD_ROW, /* locks the row if it exists, and waits for it */
    PG_STATEMENT_COUNT
} PgStatement;

/* The statements of every connection. */
typedef enum PgCommand {
    PG_BEGIN_READ,
    PG_BEGIN_WRITE,
    PG_COMMIT,
    PG_ROLLBACK,
    PG_GUARD_SHARED,
    PG_GUARD_EXCLUSIVE,
    PG_WALL_NS,
    PG_COMMAND_COUNT
} PgCommand;

/* What becomes of an answer. */
typedef enum PgAnswer {
    PG_ANSWER_OK,      /* only success counts */
    PG_ANSWER_ONE_ROW, /* one row was written */
    PG_ANSWER_KEPT,    /* pg_conn_finish() returns it */
    PG_ANSWER_IGNORED, /* even an error is of no interest */
    PG_ANSWER_PREPARED,
    PG_ANSWER_SYNC
} PgAnswer;

enum { PG_PENDING_MAX = 512, PG_TABLES = 1024, PG_TEXT_MAX = 400 };

typedef struct PgPending {
    uint8_t answer; /* PgAnswer */
    uint8_t statement;
    uint16_t table;
} PgPending;

typedef struct PgConn {
    struct PgConn *next; /* in the pool */
    PGconn *pg;
    const PgUrl *url; /* borrowed as long as the connection is open */
    uint64_t generation;
    int pid; /* of the process that opened it */
    bool lost;
    bool warned; /* the server has sent a warning since this was cleared */
    uint32_t pending_count;
    PgPending pending[PG_PENDING_MAX];
    uint16_t prepared[PG_TABLES]; /* bits by PgStatement: prepared, or sent to be */
    char sqlstate[6];             /* of the last error; "" where the server gave none */
    char text[PG_TEXT_MAX];       /* of the last error, on one line */
} PgConn;

/* Connects, checks that the server is one that a store can rely on, and sets up the session. On
 * failure `why` has the text: what is wrong, and what to do. SAP_IO: no server, or it does not answer.
 * SAP_INVALID: it refuses us, or is one that a store cannot use. SAP_READONLY: a standby, or set to
 * read-only. SAP_BUSY: no connection is free. The caller owns *conn_out, release with pg_conn_close,
 * which accepts NULL. `url` is borrowed until then. */
int pg_conn_open(const PgUrl *url, PgConn **conn_out, char why[PG_WHY_MAX]);
void pg_conn_close(PgConn *conn);

/* What keeps a store from relying on a server. */
typedef enum PgFault {
    PG_FAULT_OLD,
    PG_FAULT_STANDBY,
    PG_FAULT_READ_ONLY,
    PG_FAULT_ASYNC,
    PG_FAULT_NO_FSYNC,
    PG_FAULT_COUNT
} PgFault;

/* As pg_conn_open(), but connects to a server with faults too, for whoever only looks: *faults_out has
 * a bit for each. pg_conn_command() does not work on a connection with faults. */
int pg_conn_open_to_look(const PgUrl *url, PgConn **conn_out, uint32_t *faults_out,
                         char why[PG_WHY_MAX]);
/* The code and the text of pg_conn_open() for a fault. */
int pg_conn_explain_fault(const PgConn *conn, PgFault fault, char why[PG_WHY_MAX]);

/* Looks at an idle connection without waiting: false if the server has ended it. */
bool pg_conn_is_alive(PgConn *conn);

/* Sends a statement of the table. Parameters are bytes, or numbers of 8 bytes in network order. */
int pg_conn_send(PgConn *conn, uint32_t table, PgStatement statement, const Slice *params,
                 int count, PgAnswer answer);
int pg_conn_command(PgConn *conn, PgCommand command, const Slice *params, int count,
                    PgAnswer answer);
/* An SQL text with parameters that are texts; its kept answer is in text too. */
int pg_conn_sql(PgConn *conn, const char *sql, const char *const *params, int count,
                PgAnswer answer);
/* Ends what was sent with a Sync, and hands it to the system. */
int pg_conn_flush(PgConn *conn);

/* Reads all answers. Returns the code of the first statement that failed. *kept_out (NULL: not
 * wanted) is the kept answer or NULL; the caller owns it: PQclear. */
int pg_conn_finish(PgConn *conn, PGresult **kept_out);

/* pg_conn_sql() and pg_conn_finish(). */
int pg_conn_query(PgConn *conn, const char *sql, const char *const *params, int count,
                  PGresult **result_out);

/* What an error of the server means to a store; `state` is its SQLSTATE. */
int pg_code_of_state(const char *state);

#endif
