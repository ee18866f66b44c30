/* pg_server.c - see pg_server.h. */
#include "store/pg_server.h"

#include "util.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

enum { SCRIPT_MISSING = 3 }; /* exit status of the script: no PostgreSQL here */

static int run_script(const char *what, const char *dir)
{
    char command[4400];
    snprintf(command, sizeof command, "sh bench/store/pg_server.sh %s '%s'", what, dir);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int pg_server_start(const char *parent, PgServer *server)
{
    char path[4096];
    *server = (PgServer){.schemas = 0};
    if (bench_make_store(parent, server->made, sizeof server->made) != 0)
        return -1;
    if (!realpath(server->made, path)) {
        bench_remove_store(server->made);
        return -1;
    }
    snprintf(server->dir, sizeof server->dir, "%s", path);
    snprintf(server->conninfo, sizeof server->conninfo, "host=%s dbname=postgres user=postgres",
             server->dir);
    int status = run_script("start", server->dir);
    if (status == 0)
        return 0;
    if (status != SCRIPT_MISSING)
        fprintf(stderr, "bench: the PostgreSQL server does not start\n");
    bench_remove_store(server->made);
    return status == SCRIPT_MISSING ? PG_SERVER_MISSING : -1;
}

int pg_server_stop(PgServer *server)
{
    int status = run_script("stop", server->dir);
    if (status != 0)
        fprintf(stderr, "bench: the PostgreSQL server does not stop\n");
    bench_remove_store(server->made);
    return status == 0 ? 0 : -1;
}

void pg_server_url(PgServer *server, const char *schema, char *url, size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "bench%d", ++server->schemas);
    snprintf(url, size, "postgres://postgres@/postgres?host=%s&schema=%s", server->dir,
             schema ? schema : name);
}
