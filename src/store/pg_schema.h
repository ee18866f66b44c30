/* pg_schema.h - the tables of a store on a PostgreSQL server: making them, and checking them.
 *
 * Table N of the store is "SCHEMA".tN, with a key k and a value v, both bytea. A store's owner makes
 * them once (sap_store_init); a program that opens the store needs only the right to use them, and
 * never makes one: a wrong url must not look like an empty store. */
#ifndef SAPLING_STORE_PG_SCHEMA_H
#define SAPLING_STORE_PG_SCHEMA_H

#include "sapling/store.h"
#include "store/pg_conn.h"

/* Makes the schema and those of the tables that are missing, the store's own included, in one
 * transaction. SAP_INVALID: no right to, or something else has one of the names; see `why`. */
int pg_schema_make(PgConn *conn, const uint32_t *tables, uint32_t count, char why[PG_WHY_MAX]);

/* SAP_NOTFOUND: the schema or a table is missing. SAP_INVALID: a table is not a store's, is not
 * logged, or this user may not use it. `why` says which, and what to do. */
int pg_schema_check(PgConn *conn, const uint32_t *tables, uint32_t count, char why[PG_WHY_MAX]);

/* The same for each table by itself: calls fn where pg_schema_check() would refuse one. `why` is
 * borrowed for the call. */
typedef void (*PgSchemaFn)(void *ctx, uint32_t table, int rc, const char *why);
int pg_schema_judge(PgConn *conn, const uint32_t *tables, uint32_t count, PgSchemaFn fn, void *ctx,
                    char why[PG_WHY_MAX]);

#endif
