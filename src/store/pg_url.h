/* pg_url.h - the url of a store on a PostgreSQL server, and urls without their secrets.
 *
 *   postgres://USER:PASSWORD@HOST:PORT/DATABASE?NAME=VALUE&...
 *
 * All of it is libpq's, except the parameters named below, which libpq never sees. A text that a
 * person may read has the url only as store_url_show() writes it. */
#ifndef SAPLING_STORE_PG_URL_H
#define SAPLING_STORE_PG_URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PG_SCHEMA_MAX = 48,
    PG_SHOWN_MAX = 200,
    PG_WHY_MAX = 640,
    PG_POOL_DEFAULT = 32,
    PG_POOL_MOST = 1000,
    PG_LOCK_TIMEOUT_MS = 2000,
    PG_STATEMENT_TIMEOUT_MS = 30000,
    PG_TIMEOUT_MOST_MS = 3600000,
};

typedef struct PgUrl {
    char *conninfo; /* the url as libpq takes it; conninfo_size bytes of MEM_STORE */
    size_t conninfo_size;
    char schema[PG_SCHEMA_MAX + 1]; /* `schema`: letters, digits and _; by default "sapling" */
    uint32_t pool;                  /* `pool`: most connections for transactions */
    uint32_t lock_timeout_ms;       /* `lock_timeout_ms`: then a lock is SAP_BUSY */
    uint32_t statement_timeout_ms;  /* `statement_timeout_ms`: then a statement is SAP_BUSY */
    char shown[PG_SHOWN_MAX];       /* the url without password */
} PgUrl;

/* SAP_INVALID: `why` says what is wrong with the url, without its password. Caller owns *parsed_out on
 * SAP_OK, release with pg_url_release. */
int pg_url_parse(const char *url, PgUrl *parsed_out, char why[PG_WHY_MAX]);
void pg_url_release(PgUrl *url);

bool pg_url_is(const char *url);

/* Writes the url, cut to `size`, without what may be a password: neither that of the user nor any
 * parameter that is not known to be harmless. */
void store_url_show(const char *url, char *shown, size_t size);

#endif
