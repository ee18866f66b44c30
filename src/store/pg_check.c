/* pg_check.c - see pg_check.h. */
#include "store/pg_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "sapling/store.h"
#include "store/meta.h"
#include "store/pg_conn.h"
#include "store/pg_schema.h"

enum {
    TEXT_MAX = 64,
    MANY_DEAD_ROWS = 10000,
    NS_PER_SECOND = 1000000000,
    TABLE_COUNT = SAP_STORE_LAST_TABLE + 1,
};

typedef struct Check {
    const PgReport *report;
    PgConn *conn;
    uint32_t faults; /* bits by PgFault */
    bool has_schema;
    bool may_use;  /* the schema */
    bool unusable; /* a table that this user has no rights on was found */
    bool unsound;  /* the tables are not those of a store, or are missing */
    uint32_t tables[TABLE_COUNT];
    uint32_t table_count; /* those of programs */
    bool allowed[TABLE_COUNT];
    int64_t dead_rows;
    char last_vacuum[TEXT_MAX];
} Check;

/* ---- Reporting ------------------------------------------------------------------------------- */

static PgField text_field(const char *name, const char *text)
{
    return (PgField){name, PG_FIELD_TEXT, text, 0};
}

static PgField number_field(const char *name, PgFieldKind kind, int64_t number)
{
    return (PgField){name, kind, NULL, number};
}

static void report_line(const Check *check, const char *name, const PgField *fields, uint32_t count)
{
    PgCheckLine line = {name, fields, count};
    check->report->on_line(check->report->ctx, &line);
}

/* `text` has the url already. */
static void report_finding(const Check *check, const char *line, int rc, const char *text)
{
    PgFinding finding = {line, rc, text};
    check->report->on_finding(check->report->ctx, &finding);
}

static void report_about(const Check *check, const char *line, int rc, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void report_about(const Check *check, const char *line, int rc, const char *format, ...)
{
    char text[PG_WHY_MAX];
    char both[PG_WHY_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    (void)snprintf(both, sizeof both, "%.120s: %.500s", check->conn->url->shown, text);
    report_finding(check, line, rc, both);
}

static void report_fault(const Check *check, const char *line, PgFault fault)
{
    if ((check->faults >> fault & 1) != 0) {
        char why[PG_WHY_MAX];
        int rc = pg_conn_explain_fault(check->conn, fault, why);
        report_finding(check, line, rc, why);
    }
}

/* For the caller's `why`; returns `rc`. */
static int explain_failed(const Check *check, char *why, int rc, const char *what)
{
    (void)snprintf(why, PG_WHY_MAX, "%.120s: %s could not be read: %.300s", check->conn->url->shown,
                   what, check->conn->text);
    return rc;
}

static int64_t number_of(const PGresult *rows, int row, int column)
{
    return strtoll(PQgetvalue(rows, row, column), NULL, 10);
}

static bool is_set(const PGresult *rows, int row, int column)
{
    return PQgetvalue(rows, row, column)[0] == 't';
}

/* A time in UTC, to the second. */
static void show_utc(uint64_t ns, char text[TEXT_MAX])
{
    time_t seconds = (time_t)(ns / NS_PER_SECOND);
    struct tm parts;
    (void)snprintf(text, TEXT_MAX, "?");
    if (gmtime_r(&seconds, &parts) != NULL) {
        (void)strftime(text, TEXT_MAX, "%Y-%m-%dT%H:%M:%SZ", &parts);
    }
}

/* ---- The server ------------------------------------------------------------------------------ */

static const char server_sql[] =
    "SELECT current_setting('server_version'), pg_is_in_recovery(), "
    "current_setting('transaction_read_only'), current_user, current_database(), "
    "current_setting('synchronous_commit'), coalesce(current_setting('fsync', true), 'unknown'), "
    "coalesce(current_setting('synchronous_standby_names', true), ''), "
    "current_setting('max_connections'), "
    "coalesce(current_setting('superuser_reserved_connections', true), '0'), "
    "(SELECT coalesce(sum(numbackends), 0) FROM pg_catalog.pg_stat_database), "
    "coalesce(current_setting('autovacuum', true), 'unknown')";

enum {
    SERVER_VERSION,
    SERVER_RECOVERY,
    SERVER_READ_ONLY,
    SERVER_USER,
    SERVER_DATABASE,
    SERVER_SYNC,
    SERVER_FSYNC,
    SERVER_STANDBYS,
    SERVER_MAX,
    SERVER_RESERVED,
    SERVER_USED,
    SERVER_AUTOVACUUM,
};

static void report_server(const Check *check, const PGresult *row)
{
    PGconn *pg = check->conn->pg;
    const char *tls = PQsslInUse(pg) ? PQsslAttribute(pg, "protocol") : "no";
    PgField server[] = {
        text_field("version", PQgetvalue(row, 0, SERVER_VERSION)),
        text_field("role", is_set(row, 0, SERVER_RECOVERY) ? "standby" : "primary"),
        text_field("read_only", PQgetvalue(row, 0, SERVER_READ_ONLY)),
    };
    PgField session[] = {
        text_field("user", PQgetvalue(row, 0, SERVER_USER)),
        text_field("database", PQgetvalue(row, 0, SERVER_DATABASE)),
        text_field("tls", tls == NULL ? "yes" : tls),
    };
    report_line(check, "server", server, 3);
    report_fault(check, "server", PG_FAULT_OLD);
    report_fault(check, "server", PG_FAULT_STANDBY);
    report_fault(check, "server", PG_FAULT_READ_ONLY);
    report_line(check, "session", session, 3);
}

static void report_durability(const Check *check, const PGresult *row)
{
    const char *sync = PQgetvalue(row, 0, SERVER_SYNC);
    const char *standbys = PQgetvalue(row, 0, SERVER_STANDBYS);
    PgField fields[] = {
        text_field("synchronous_commit", sync),
        text_field("fsync", PQgetvalue(row, 0, SERVER_FSYNC)),
        text_field("synchronous_standby_names", standbys),
    };
    report_line(check, "durability", fields, 3);
    report_fault(check, "durability", PG_FAULT_ASYNC);
    report_fault(check, "durability", PG_FAULT_NO_FSYNC);
    if (standbys[0] != '\0' && strcmp(sync, "local") == 0) {
        report_about(check, "durability", SAP_OK,
                     "synchronous_commit is local: commits do not wait for the synchronous "
                     "standby, and a failover may lose them: set it to on");
    }
}

static void report_connections(const Check *check, const PGresult *row)
{
    int64_t used = number_of(row, 0, SERVER_USED);
    int64_t most = number_of(row, 0, SERVER_MAX);
    int64_t reserved = number_of(row, 0, SERVER_RESERVED);
    int64_t pool = check->conn->url->pool;
    PgField fields[] = {
        number_field("used", PG_FIELD_NUMBER, used),
        number_field("max", PG_FIELD_NUMBER, most),
        number_field("reserved", PG_FIELD_NUMBER, reserved),
        number_field("pool", PG_FIELD_NUMBER, pool),
    };
    report_line(check, "connections", fields, 4);
    if (used + pool + 1 > most - reserved) {
        report_about(check, "connections", SAP_OK,
                     "%" PRId64 " of %" PRId64 " connections are in use, and a process may open "
                     "%" PRId64 " more: raise max_connections, or lower `pool`",
                     used, most - reserved, pool + 1);
    }
}

/* ---- The tables ------------------------------------------------------------------------------ */

static const char schema_sql[] =
    "SELECT has_schema_privilege(oid, 'USAGE'), has_schema_privilege(oid, 'CREATE') "
    "FROM pg_catalog.pg_namespace WHERE nspname = $1";

static const char tables_sql[] =
    "SELECT substr(c.relname, 2)::int, c.reltuples::bigint, "
    "pg_catalog.pg_total_relation_size(c.oid), coalesce(s.n_dead_tup, 0), "
    "coalesce(s.n_live_tup, 0), "
    "coalesce(to_char(greatest(s.last_autovacuum, s.last_vacuum) AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'), ''), "
    "has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND "
    "has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE') "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "LEFT JOIN pg_catalog.pg_stat_all_tables s ON s.relid = c.oid "
    "WHERE n.nspname = $1 AND c.relkind NOT IN ('i', 'I', 't') "
    "AND c.relname ~ '^t[1-9][0-9]{0,3}$' ORDER BY 1";

enum { ROW_NUMBER, ROW_ROWS, ROW_BYTES, ROW_DEAD, ROW_LIVE, ROW_VACUUM, ROW_ALLOWED };

static int ask_schema(const Check *check, const char *sql, PGresult **rows_out, char *why)
{
    const char *params[] = {check->conn->url->schema};
    int rc = pg_conn_query(check->conn, sql, params, 1, rows_out);
    return rc == SAP_OK ? SAP_OK : explain_failed(check, why, rc, "its catalog");
}

static int look_at_schema(Check *check, bool *may_create_out, char *why)
{
    PGresult *row = NULL;
    int rc = ask_schema(check, schema_sql, &row, why);
    if (rc != SAP_OK) {
        return rc;
    }
    check->has_schema = PQntuples(row) > 0;
    check->may_use = check->has_schema && is_set(row, 0, 0);
    *may_create_out = check->has_schema && is_set(row, 0, 1);
    PQclear(row);
    const char *name = check->conn->url->schema;
    PgField fields[] = {
        text_field("name", name),
        number_field("present", PG_FIELD_BOOL, check->has_schema),
    };
    report_line(check, "schema", fields, 2);
    if (!check->has_schema) {
        report_about(check, "schema", SAP_NOTFOUND,
                     "there is no schema \"%s\": make the store with `sapling store init`", name);
    }
    return SAP_OK;
}

static void report_table(Check *check, const PGresult *rows, int row)
{
    int64_t number = number_of(rows, row, ROW_NUMBER);
    int64_t dead = number_of(rows, row, ROW_DEAD);
    int64_t estimate = number_of(rows, row, ROW_ROWS);
    PgField fields[4] = {number_field("number", PG_FIELD_NUMBER, number)};
    uint32_t count = 1;
    if (number < STORE_FIRST_OWN_TABLE || number >= TABLE_COUNT) {
        return; /* not a store's */
    }
    if (estimate >= 0) {
        fields[count++] = number_field("rows", PG_FIELD_NUMBER, estimate);
    }
    fields[count++] = number_field("bytes", PG_FIELD_BYTES, number_of(rows, row, ROW_BYTES));
    fields[count++] = number_field("dead_rows", PG_FIELD_NUMBER, dead);
    report_line(check, "table", fields, count);
    if (number >= SAP_STORE_FIRST_TABLE) {
        check->tables[check->table_count++] = (uint32_t)number;
    }
    check->allowed[number] = is_set(rows, row, ROW_ALLOWED);
    check->dead_rows += dead;
    if (strcmp(PQgetvalue(rows, row, ROW_VACUUM), check->last_vacuum) > 0) {
        (void)snprintf(check->last_vacuum, sizeof check->last_vacuum, "%s",
                       PQgetvalue(rows, row, ROW_VACUUM));
    }
    if (dead > MANY_DEAD_ROWS && dead > number_of(rows, row, ROW_LIVE)) {
        report_about(check, "vacuum", SAP_OK,
                     "table %" PRId64 " has %" PRId64 " dead rows: autovacuum does not keep up. "
                     "Look for transactions that stay open, replication slots that nobody reads, "
                     "and autovacuum_max_workers",
                     number, dead);
    }
}

static int look_at_tables(Check *check, char *why)
{
    PGresult *rows = NULL;
    int rc = ask_schema(check, tables_sql, &rows, why);
    for (int row = 0; rc == SAP_OK && row < PQntuples(rows); row++) {
        report_table(check, rows, row);
    }
    PQclear(rows);
    return rc;
}

static void report_vacuum(const Check *check, const char *autovacuum)
{
    PgField fields[] = {
        text_field("autovacuum", autovacuum),
        number_field("dead_rows", PG_FIELD_NUMBER, check->dead_rows),
        text_field("last", check->last_vacuum[0] == '\0' ? "never" : check->last_vacuum),
    };
    report_line(check, "vacuum", fields, 3);
    if (strcmp(autovacuum, "off") == 0) {
        report_about(check, "vacuum", SAP_OK,
                     "autovacuum is off, and rows that were replaced or deleted stay: set it to "
                     "on");
    }
}

/* One missing right is mostly many: the first table stands for all. */
static void on_table_refused(void *ctx, uint32_t table, int rc, const char *why)
{
    Check *check = (Check *)ctx;
    bool forbidden = rc == SAP_INVALID && (!check->may_use || !check->allowed[table]);
    check->unsound = check->unsound || !forbidden;
    if (!forbidden) {
        report_finding(check, "table", rc, why);
    } else if (!check->unusable) {
        check->unusable = true;
        report_finding(check, "rights", rc, why);
    }
}

static int look_at_rights(Check *check, bool may_create, char *why)
{
    int rc = pg_schema_judge(check->conn, check->tables, check->table_count, on_table_refused,
                             check, why);
    PgField fields[] = {
        number_field("usage", PG_FIELD_BOOL, check->may_use),
        number_field("read_write", PG_FIELD_BOOL, !check->unusable),
        number_field("create", PG_FIELD_BOOL, may_create),
    };
    report_line(check, "rights", fields, 3);
    return rc;
}

/* ---- The store's own rows -------------------------------------------------------------------- */

/* The caller owns *row_out. */
static int ask_row(const Check *check, WitStoreMetaRow row, PGresult **row_out, char *why)
{
    MetaKey key = meta_key(row);
    Slice param = {key.bytes, sizeof key.bytes};
    int rc = pg_conn_send(check->conn, STORE_TABLE_META, PG_GET, &param, 1, PG_ANSWER_KEPT);
    rc = rc == SAP_OK ? pg_conn_finish(check->conn, row_out) : rc;
    return rc == SAP_OK ? SAP_OK : explain_failed(check, why, rc, "its rows");
}

static void report_damage_of(const Check *check, const char *line, const char *what)
{
    report_about(check, line, SAP_CORRUPT, "the store's %s is damaged (%s): restore a backup", line,
                 what);
}

/* A store without a marker must be empty. */
static int look_for_rows(const Check *check, char *why)
{
    uint8_t number[8];
    int rc = SAP_OK;
    store_u64be(number, 1);
    for (uint32_t i = 0; i < STORE_OWN_TABLES + check->table_count && rc == SAP_OK; i++) {
        uint32_t table =
            i < STORE_OWN_TABLES ? STORE_FIRST_OWN_TABLE + i : check->tables[i - STORE_OWN_TABLES];
        Slice params[] = {{"", 0}, {number, sizeof number}};
        PGresult *rows = NULL;
        rc = pg_conn_send(check->conn, table, PG_SCAN_UP, params, 2, PG_ANSWER_KEPT);
        rc = rc == SAP_OK ? pg_conn_finish(check->conn, &rows) : rc;
        if (rc != SAP_OK) {
            rc = explain_failed(check, why, rc, "its rows");
        } else if (PQntuples(rows) > 0) {
            report_about(check, "marker", SAP_INVALID,
                         "there are rows in table %" PRIu32
                         ", but no marker of a store: choose another `schema`",
                         table);
        }
        PQclear(rows);
    }
    return rc;
}

static void report_marker(const Check *check, const PGresult *row, bool *good_out)
{
    WitStoreMarker marker;
    CodecError error;
    char schema[SAP_STORE_MAX_SCHEMA + 1];
    int rc = wit_store_marker_decode(PQgetvalue(row, 0, 0), (size_t)PQgetlength(row, 0, 0), &marker,
                                     &error);
    *good_out = rc == SAP_OK;
    if (rc != SAP_OK) {
        report_damage_of(check, "marker", rc == SAP_INVALID ? error.text : sap_strerror(rc));
        return;
    }
    SAP_ASSERT(marker.schema.len <= SAP_STORE_MAX_SCHEMA);
    (void)snprintf(schema, sizeof schema, "%.*s", (int)marker.schema.len,
                   (const char *)marker.schema.data);
    PgField fields[] = {
        number_field("present", PG_FIELD_BOOL, true),
        number_field("format", PG_FIELD_NUMBER, marker.format),
        text_field("schema", schema),
    };
    report_line(check, "marker", fields, 3);
    if (marker.format != META_FORMAT) {
        report_about(check, "marker", SAP_INVALID,
                     "the store has format %" PRIu32 ", this library reads format %d: use the "
                     "version of the library that made it",
                     marker.format, META_FORMAT);
    }
    wit_store_marker_free(&marker);
}

static int report_time(const Check *check, const PGresult *row, char *why)
{
    WitStoreTime stored;
    CodecError error;
    PGresult *now = NULL;
    char due[TEXT_MAX];
    int rc = wit_store_time_decode(PQgetvalue(row, 0, 0), (size_t)PQgetlength(row, 0, 0), &stored,
                                   &error);
    if (rc != SAP_OK) {
        report_damage_of(check, "time", rc == SAP_INVALID ? error.text : sap_strerror(rc));
        return SAP_OK;
    }
    rc = ask_schema(check, "SELECT extract(epoch FROM clock_timestamp())::bigint, $1::text", &now,
                    why);
    if (rc != SAP_OK) {
        return rc;
    }
    int64_t ago = number_of(now, 0, 0) - (int64_t)(stored.wall_ns / NS_PER_SECOND);
    PQclear(now);
    show_utc(stored.due_ns, due);
    PgField fields[] = {
        number_field("lease_s", PG_FIELD_SECONDS, (int64_t)(stored.lease_ns / NS_PER_SECOND)),
        text_field("due", due),
        number_field("stored_s", PG_FIELD_SECONDS, ago > 0 ? ago : 0),
    };
    report_line(check, "time", fields, 3);
    if (ago < -1) {
        report_about(check, "time", SAP_OK,
                     "the time was stored %" PRId64 " s after now by the server's clock, which was "
                     "set back: check the clock of the server",
                     -ago);
    }
    return SAP_OK;
}

static int look_at_rows(const Check *check, char *why)
{
    PGresult *row = NULL;
    bool good = false;
    int rc = ask_row(check, WIT_STORE_META_ROW_MARKER, &row, why);
    if (rc != SAP_OK) {
        return rc;
    }
    if (PQntuples(row) == 0) {
        PgField none = number_field("present", PG_FIELD_BOOL, false);
        report_line(check, "marker", &none, 1);
        PQclear(row);
        return look_for_rows(check, why);
    }
    report_marker(check, row, &good);
    PQclear(row);
    row = NULL;
    rc = good ? ask_row(check, WIT_STORE_META_ROW_TIME, &row, why) : SAP_OK;
    if (rc == SAP_OK && good && PQntuples(row) == 0) {
        report_damage_of(check, "time", "it is missing");
    } else if (rc == SAP_OK && good) {
        rc = report_time(check, row, why);
    }
    PQclear(row);
    return rc;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int look_at_store(Check *check, const char *autovacuum, char *why)
{
    bool may_create = false;
    int rc = look_at_schema(check, &may_create, why);
    if (rc != SAP_OK || !check->has_schema) {
        return rc;
    }
    rc = look_at_tables(check, why);
    if (rc == SAP_OK) {
        report_vacuum(check, autovacuum);
        rc = look_at_rights(check, may_create, why);
    }
    bool readable = check->may_use && !check->unusable && !check->unsound;
    return rc == SAP_OK && readable ? look_at_rows(check, why) : rc;
}

static int look_at_all(Check *check, char *why)
{
    PGresult *row = NULL;
    int rc = pg_conn_query(check->conn, server_sql, NULL, 0, &row);
    if (rc != SAP_OK) {
        return explain_failed(check, why, rc, "its settings");
    }
    report_server(check, row);
    report_durability(check, row);
    report_connections(check, row);
    rc = look_at_store(check, PQgetvalue(row, 0, SERVER_AUTOVACUUM), why);
    PQclear(row);
    return rc;
}

int pg_check(const char *url, const PgReport *report, char why[PG_WHY_MAX])
{
    PgUrl parsed;
    Check check = {.report = report};
    int rc = pg_url_parse(url, &parsed, why);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = pg_conn_open_to_look(&parsed, &check.conn, &check.faults, why);
    if (rc == SAP_OK) {
        rc = look_at_all(&check, why);
        pg_conn_close(check.conn);
    }
    pg_url_release(&parsed);
    return rc;
}
