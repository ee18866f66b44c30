/* pg_schema.c - see pg_schema.h. */
#include "store/pg_schema.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "store/store_impl.h"

enum { SQL_MAX = 512, NAME_MAX_BYTES = 16 };

static int explain(const PgConn *conn, char *why, int rc, const char *text, const char *advice)
{
    (void)snprintf(why, PG_WHY_MAX, "%.120s: %.200s: %.300s", conn->url->shown, text, advice);
    return rc;
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* Every relation of the schema; none at all where the schema has none or is missing. */
static const char tables_sql[] =
    "SELECT c.relname, c.relkind IN ('r', 'p'), c.relpersistence = 'p', "
    "coalesce((SELECT string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod), ',' "
    "ORDER BY a.attnum) FROM pg_catalog.pg_attribute a "
    "WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped), ''), "
    "has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT') AND "
    "has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND "
    "has_table_privilege(c.oid, 'DELETE'), "
    "EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary AND "
    "i.indisvalid) "
    "FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "
    "WHERE n.nspname = $1 AND c.relkind NOT IN ('i', 'I', 't')";

enum { ROW_NAME, ROW_IS_TABLE, ROW_LOGGED, ROW_COLUMNS, ROW_ALLOWED, ROW_KEYED };

static bool is_true(const PGresult *rows, int row, int column)
{
    return PQgetvalue(rows, row, column)[0] == 't';
}

static int find_table(const PGresult *rows, const char *name)
{
    for (int i = 0; i < PQntuples(rows); i++) {
        if (strcmp(PQgetvalue(rows, i, ROW_NAME), name) == 0) {
            return i;
        }
    }
    return -1;
}

static int check_one(const PgConn *conn, const PGresult *rows, uint32_t table, char *why)
{
    char name[NAME_MAX_BYTES];
    char text[PG_TEXT_MAX];
    (void)snprintf(name, sizeof name, "t%u", table);
    int row = find_table(rows, name);
    if (row < 0) {
        (void)snprintf(text, sizeof text, "there is no table \"%s\".%s", conn->url->schema, name);
        return explain(conn, why, SAP_NOTFOUND, text,
                       "make the store, or the tables that it lacks, with `sapling store init`");
    }
    (void)snprintf(text, sizeof text, "table \"%s\".%s", conn->url->schema, name);
    if (!is_true(rows, row, ROW_IS_TABLE) || !is_true(rows, row, ROW_KEYED) ||
        strcmp(PQgetvalue(rows, row, ROW_COLUMNS), "k bytea,v bytea") != 0) {
        return explain(conn, why, SAP_INVALID, text,
                       "was not made by a store: choose another `schema`");
    }
    if (!is_true(rows, row, ROW_LOGGED)) {
        return explain(conn, why, SAP_INVALID, text,
                       "is UNLOGGED, so that a crash would empty it: ALTER TABLE ... SET LOGGED");
    }
    if (!is_true(rows, row, ROW_ALLOWED)) {
        return explain(
            conn, why, SAP_INVALID, text,
            "this user may not use it: GRANT USAGE ON SCHEMA, and SELECT, INSERT, UPDATE "
            "and DELETE ON ALL TABLES IN SCHEMA, to the user");
    }
    return SAP_OK;
}

static int read_catalog(PgConn *conn, PGresult **rows_out, char *why)
{
    const char *params[] = {conn->url->schema};
    int rc = pg_conn_query(conn, tables_sql, params, 1, rows_out);
    return rc == SAP_OK ? SAP_OK
                        : explain(conn, why, rc, "its catalog could not be read", conn->text);
}

/* The store's own tables, then the others. */
static uint32_t nth_table(const uint32_t *tables, uint32_t i)
{
    return i < STORE_OWN_TABLES ? STORE_FIRST_OWN_TABLE + i : tables[i - STORE_OWN_TABLES];
}

int pg_schema_check(PgConn *conn, const uint32_t *tables, uint32_t count, char why[PG_WHY_MAX])
{
    PGresult *rows = NULL;
    int rc = read_catalog(conn, &rows, why);
    for (uint32_t i = 0; i < STORE_OWN_TABLES + count && rc == SAP_OK; i++) {
        rc = check_one(conn, rows, nth_table(tables, i), why);
    }
    PQclear(rows);
    return rc;
}

int pg_schema_judge(PgConn *conn, const uint32_t *tables, uint32_t count, PgSchemaFn fn, void *ctx,
                    char why[PG_WHY_MAX])
{
    PGresult *rows = NULL;
    int rc = read_catalog(conn, &rows, why);
    for (uint32_t i = 0; i < STORE_OWN_TABLES + count && rc == SAP_OK; i++) {
        char text[PG_WHY_MAX];
        int table_rc = check_one(conn, rows, nth_table(tables, i), text);
        if (table_rc != SAP_OK) {
            fn(ctx, nth_table(tables, i), table_rc, text);
        }
    }
    PQclear(rows);
    return rc;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static int run_sql(PgConn *conn, const char *sql)
{
    PGresult *result = NULL;
    int rc = pg_conn_query(conn, sql, NULL, 0, &result);
    PQclear(result);
    return rc;
}

static int make_schema(PgConn *conn)
{
    const char *params[] = {conn->url->schema};
    char sql[SQL_MAX];
    PGresult *result = NULL;
    int rc = pg_conn_query(conn, "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1", params,
                           1, &result);
    bool exists = rc == SAP_OK && PQntuples(result) > 0;
    PQclear(result);
    if (rc != SAP_OK || exists) {
        return rc; /* CREATE ... IF NOT EXISTS needs the right to create even then */
    }
    (void)snprintf(sql, sizeof sql, "CREATE SCHEMA \"%s\"", conn->url->schema);
    return run_sql(conn, sql);
}

/* Tables of a store change like queues: their dead rows are to be removed early. */
static int make_table(PgConn *conn, uint32_t table)
{
    char sql[SQL_MAX];
    (void)snprintf(sql, sizeof sql,
                   "CREATE TABLE IF NOT EXISTS \"%s\".t%u (k bytea PRIMARY KEY, v bytea NOT NULL) "
                   "WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, "
                   "autovacuum_vacuum_threshold = 1000)",
                   conn->url->schema, table);
    return run_sql(conn, sql);
}

static int make_all(PgConn *conn, const uint32_t *tables, uint32_t count)
{
    int rc = run_sql(conn, "BEGIN");
    /* One at a time: two that make the same table at once would meet in the catalog. */
    rc = rc == SAP_OK ? run_sql(conn, "SELECT pg_catalog.pg_advisory_xact_lock(7308332182)") : rc;
    rc = rc == SAP_OK ? make_schema(conn) : rc;
    for (uint32_t i = 0; i < STORE_OWN_TABLES && rc == SAP_OK; i++) {
        rc = make_table(conn, STORE_FIRST_OWN_TABLE + i);
    }
    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = make_table(conn, tables[i]);
    }
    return rc == SAP_OK ? run_sql(conn, "COMMIT") : rc;
}

int pg_schema_make(PgConn *conn, const uint32_t *tables, uint32_t count, char why[PG_WHY_MAX])
{
    int rc = make_all(conn, tables, count);
    if (rc == SAP_OK) {
        return pg_schema_check(conn, tables, count, why);
    }
    /* The connection may have been lost in the COMMIT. */
    const char *advice = conn->lost ? "run it again to see what was made" : "nothing was made";
    if (strcmp(conn->sqlstate, "42501") == 0) {
        advice = "run it as the owner of the database, or GRANT CREATE ON DATABASE to the user";
    }
    (void)explain(conn, why, rc, conn->text, advice);
    if (!conn->lost) {
        (void)run_sql(conn, "ROLLBACK");
    }
    return rc;
}
