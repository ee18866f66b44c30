/* pg_server.h - a PostgreSQL server of the benchmark's own, on a unix socket (pg_server.sh). */
#ifndef STORE_PG_SERVER_H
#define STORE_PG_SERVER_H

#include <stddef.h>

enum { PG_SERVER_MISSING = 1 }; /* no PostgreSQL is installed */

typedef struct PgServer {
    char made[4096]; /* the directory, as bench_make_store() named it */
    char dir[4200];  /* its absolute path */
    char conninfo[4300];
    int schemas; /* that were named so far */
} PgServer;

/* Makes a directory in `parent` and starts a server there. 0, PG_SERVER_MISSING, or -1 after a message;
 * on 0 the caller owns it: pg_server_stop(). */
int pg_server_start(const char *parent, PgServer *server);
/* Stops the server and removes its directory. 0, or -1 after a message. */
int pg_server_stop(PgServer *server);

/* Writes the URL of a store in `schema`; NULL: in a schema of its own. */
void pg_server_url(PgServer *server, const char *schema, char *url, size_t size);

#endif
