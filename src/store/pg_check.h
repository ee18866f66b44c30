/* pg_check.h - what a person wants to know of a store on a PostgreSQL server, and what keeps programs
 * from opening it.
 *
 * Nothing is changed: every statement is a SELECT, and the store's rows are read without locks. */
#ifndef SAPLING_STORE_PG_CHECK_H
#define SAPLING_STORE_PG_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "store/pg_url.h"

typedef enum PgFieldKind {
    PG_FIELD_TEXT,
    PG_FIELD_NUMBER,
    PG_FIELD_BOOL,
    PG_FIELD_BYTES,
    PG_FIELD_SECONDS,
} PgFieldKind;

typedef struct PgField {
    const char *name;
    PgFieldKind kind;
    const char *text; /* of PG_FIELD_TEXT */
    int64_t number;   /* of the others */
} PgField;

/* One line of the report. Names never change:
 *
 *   server       version, role (primary or standby), read_only (on or off)
 *   session      user, database, tls
 *   durability   synchronous_commit, fsync, synchronous_standby_names
 *   schema       name, present
 *   table        number, rows (an estimate; left out before the first ANALYZE), bytes, dead_rows;
 *                a line for each
 *   marker       present; then format, schema
 *   time         lease_s, due (in UTC), stored_s (ago, by the server's clock); if there is a marker
 *   connections  used, max, reserved, pool
 *   vacuum       autovacuum (on or off), dead_rows, last (of any table, in UTC, or never)
 *   rights       usage, read_write, create
 *
 * Without the schema only those that are not about it. */
typedef struct PgCheckLine {
    const char *name;
    const PgField *fields;
    uint32_t field_count;
} PgCheckLine;

/* Something that is not as it should be. */
typedef struct PgFinding {
    const char *line; /* its name */
    int rc;           /* what sap_store_open() would return for it. SAP_OK: it would open */
    const char *text; /* with the url without its secrets, what is wrong, and what to do */
} PgFinding;

/* What is passed to them is borrowed for the call. */
typedef struct PgReport {
    void (*on_line)(void *ctx, const PgCheckLine *line);
    void (*on_finding)(void *ctx, const PgFinding *finding);
    void *ctx;
} PgReport;

/* SAP_OK: all of it was reported, whatever was found. Other codes are those of pg_url_parse() and
 * pg_conn_open(), with their texts in `why`. */
int pg_check(const char *url, const PgReport *report, char why[PG_WHY_MAX]);

#endif
