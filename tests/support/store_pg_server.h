/* store_pg_server.h - a PostgreSQL server of a test's own.
 *
 * It lives in a directory of its own, in memory where the system has such a place, with fsync on. It
 * listens on a unix socket there and on a free port of the loopback. The server never runs as root: a
 * test that does starts it as the user postgres.
 *
 * A keeper process holds the other end of a pipe. When the test ends, however that is, the keeper kills
 * every process whose working directory is within the server's directory (a postmaster and its children
 * work in their data directory, and nobody else does), and removes the directory. */
#ifndef SAPLING_TESTS_STORE_PG_SERVER_H
#define SAPLING_TESTS_STORE_PG_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { PG_SERVER_PATH_MAX = 96, PG_SERVER_URL_MAX = 512, PG_SERVER_LISTEN_MAX = 64 };

typedef struct PgServer {
    char dir[PG_SERVER_PATH_MAX];  /* the socket is here, and a log */
    char data[PG_SERVER_PATH_MAX]; /* within it, or where the options say */
    uint16_t port;                 /* of both the socket and the loopback */
    uint32_t max_connections;
    char listen[PG_SERVER_LISTEN_MAX]; /* the addresses that it listens on */
    pid_t postmaster;                  /* 0: not running */
    pid_t keeper;
    int keeper_fd;
} PgServer;

/* Zero bytes are the defaults. */
typedef struct PgServerOptions {
    uint32_t max_connections; /* 0: 100 */
    const char *settings;     /* lines of postgresql.conf, or NULL */
    const char *access;       /* lines of pg_hba.conf that come first, or NULL: trust everybody */
    const char *place;        /* a directory for the server's directory, or NULL */
    const char *address;      /* where it listens beside the loopback, or NULL */
} PgServerOptions;

/* Whether there is a PostgreSQL on this machine; if not, says once and loudly what to install. */
bool pg_server_is_installed(void);

/* Makes a server and starts it. False: there is no PostgreSQL here, and the test is to be skipped; that
 * has been printed. `options` may be NULL. End with pg_server_end(). */
bool pg_server_start(PgServer *server, const PgServerOptions *options);
/* Stops it if it runs, and removes everything. Accepts one that was never started, all zero. */
void pg_server_end(PgServer *server);

/* Fast: open transactions are aborted, and what is in memory is written. */
void pg_server_stop(PgServer *server);
/* kill -9 of the postmaster and of all its children. */
void pg_server_kill(PgServer *server);
/* Starts it again after either, on the same port. Returns when it accepts connections. */
void pg_server_run(PgServer *server);

/* Makes a copy of a running server that follows it, and waits until the first server's commits wait for
 * it. `standby` is a server like any other. */
void pg_server_start_standby(PgServer *standby, PgServer *primary);
/* Returns when it accepts writes. */
void pg_server_promote(PgServer *standby);

/* Runs statements as the superuser, which must succeed. */
void pg_server_sql(const PgServer *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same; the first value of the first row goes to `out`, "" where there is none. */
void pg_server_ask(const PgServer *server, char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* The same for a number. */
long long pg_server_count(const PgServer *server, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The url of the database postgres for the superuser, through the socket. `params` is "a=b&c=d". */
void pg_server_url(const PgServer *server, const char *params, char *url, size_t size);
/* The same through the loopback, for `user`, which is "name" or "name:password". */
void pg_server_tcp_url(const PgServer *server, const char *user, const char *params, char *url,
                       size_t size);
/* The same through another address that it listens on. */
void pg_server_address_url(const PgServer *server, const char *address, const char *user,
                           const char *params, char *url, size_t size);
/* The path of the socket itself. */
void pg_server_socket(const PgServer *server, char *path, size_t size);

#endif
