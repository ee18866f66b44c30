#include "support/store_pg_server.h"

#include "support/expect.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <postgresql/libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    ARGS_MAX = 48,
    SQL_MAX = 8192,
    CONNECTIONS = 100,
    START_MS = 60000, /* for a server to start or stop */
    STARTS = 5,       /* since another process may take the free port first */
    STEP_MS = 10,
};

static char bin_dir[PG_SERVER_PATH_MAX];

/* $1 is the server's directory. It ends when its input does: nobody ever writes to it. */
static const char keeper_script[] =
    "cat >/dev/null\n"
    "for i in 1 2 3 4 5 6 7 8 9; do\n"
    "  found=\n"
    "  for file in \"$1\"/data/postmaster.pid; do\n"
    "    [ -e \"$file\" ] && id=$(sed -n 7p \"$file\" | awk '{print $2}')\n"
    "  done\n"
    "  for process in /proc/[0-9]*; do\n"
    "    case $(readlink \"$process/cwd\" 2>/dev/null) in\n"
    "    \"$1\"/*) kill -9 \"${process#/proc/}\" && found=1 ;;\n"
    "    esac\n"
    "  done\n"
    "  [ -n \"$found\" ] || break\n"
    "  sleep 0.1\n"
    "done\n"
    "[ -z \"$id\" ] || ipcrm -m \"$id\"\n"
    "rm -rf \"$1\"\n";

/* ---- Programs ------------------------------------------------------------------------------- */

static void pause_briefly(void)
{
    struct timespec time = {.tv_nsec = STEP_MS * 1000000L};
    nanosleep(&time, NULL);
}

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

typedef struct Program {
    const char *args[ARGS_MAX];
    int count;
} Program;

static void program_add(Program *program, const char *arg)
{
    EXPECT(program->count < ARGS_MAX - 1, "too many arguments");
    program->args[program->count++] = arg;
}

/* A program of the server, as the user it is to run as. `path` is kept until it has been started. */
static Program server_program(const char *name, char *path, size_t size)
{
    static const char *const as_postgres[] = {"setpriv", "--reuid=postgres", "--regid=postgres",
                                              "--init-groups"};
    Program program = {{NULL}, 0};
    for (int i = 0; geteuid() == 0 && i < 4; i++) {
        program_add(&program, as_postgres[i]);
    }
    (void)snprintf(path, size, "%s/%s", bin_dir, name);
    program_add(&program, path);
    return program;
}

/* In a session of its own, so that no signal to the test's group reaches it. */
static pid_t spawn_program(const Program *program, const char *dir, int in_fd, const char *out_path)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    pid_t pid = 0;
    EXPECT(posix_spawn_file_actions_init(&actions) == 0 && posix_spawnattr_init(&attr) == 0,
           "no memory");
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID);
    posix_spawn_file_actions_addchdir_np(&actions, dir);
    if (in_fd >= 0) {
        posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out_path,
                                     O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    int err = posix_spawnp(&pid, program->args[0], &actions, &attr,
                           (char *const *)(uintptr_t)program->args, environ);
    EXPECT(err == 0, "cannot start %s: %s", program->args[0], strerror(err));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attr);
    return pid;
}

static void log_path_of(const PgServer *server, char *path, size_t size)
{
    (void)snprintf(path, size, "%s/log", server->dir);
}

/* The end of the server's log, to standard error: the test is about to fail. */
static void print_log(const PgServer *server)
{
    char command[PG_SERVER_PATH_MAX + 32];
    (void)snprintf(command, sizeof command, "tail -n 20 %s/log >&2", server->dir);
    (void)!system(command); // NOLINT: a test's own command
}

static void run_program(const PgServer *server, const Program *program)
{
    char log[PG_SERVER_PATH_MAX + 8];
    int status = 0;
    log_path_of(server, log, sizeof log);
    pid_t pid = spawn_program(program, server->dir, -1, log);
    while (waitpid(pid, &status, 0) < 0) {
        EXPECT(errno == EINTR, "no child");
    }
    if (status != 0) {
        print_log(server);
    }
    EXPECT(status == 0, "%s failed with status %d", program->args[program->count > 4 ? 4 : 0],
           status);
}

/* ---- Where PostgreSQL is -------------------------------------------------------------------- */

/* The highest version of the directory, by number. */
static bool find_debian_bin(void)
{
    const char *parent = "/usr/lib/postgresql";
    DIR *dir = opendir(parent);
    long best = 0;
    if (dir == NULL) {
        return false;
    }
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) { // NOLINT
        char path[PG_SERVER_PATH_MAX * 4];
        long version = strtol(entry->d_name, NULL, 10);
        (void)snprintf(path, sizeof path, "%s/%s/bin/initdb", parent, entry->d_name);
        if (version > best && access(path, X_OK) == 0) {
            best = version;
        }
    }
    (void)closedir(dir);
    (void)snprintf(bin_dir, sizeof bin_dir, "%s/%ld/bin", parent, best);
    return best > 0;
}

static bool find_configured_bin(void)
{
    char path[PG_SERVER_PATH_MAX + 8];
    FILE *pipe = popen("pg_config --bindir 2>/dev/null", "r"); // NOLINT
    bool found = pipe != NULL && fgets(bin_dir, sizeof bin_dir, pipe) != NULL;
    if (pipe != NULL) {
        (void)pclose(pipe);
    }
    bin_dir[strcspn(bin_dir, "\n")] = 0;
    (void)snprintf(path, sizeof path, "%s/initdb", bin_dir);
    return found && access(path, X_OK) == 0;
}

bool pg_server_is_installed(void)
{
    static bool was_said;
    if (bin_dir[0] != 0 || find_configured_bin() || find_debian_bin()) {
        if (geteuid() != 0 || getpwnam("postgres") != NULL) { // NOLINT
            return true;
        }
    }
    bin_dir[0] = 0;
    if (!was_said) {
        (void)printf("SKIPPED: no PostgreSQL server found (install postgresql-15)\n");
        (void)fflush(stdout);
    }
    was_said = true;
    return false;
}

/* ---- The directory and its keeper ------------------------------------------------------------- */

static void make_dir(PgServer *server, const char *place)
{
    const char *on_disk = getenv("TMPDIR");
    if (place == NULL) {
        place = getenv("SAP_TEST_ON_DISK") == NULL && access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                : on_disk != NULL                                                   ? on_disk
                                                                                    : "/tmp";
    }
    (void)snprintf(server->dir, sizeof server->dir, "%s/sappg-XXXXXX", place);
    EXPECT(mkdtemp(server->dir) != NULL, "cannot make a directory in %s", place);
    int len = snprintf(server->data, sizeof server->data, "%s/data", server->dir);
    EXPECT(len > 0 && (size_t)len < sizeof server->data, "too long a path: %s", server->dir);
    if (geteuid() == 0) {
        struct passwd *user = getpwnam("postgres"); // NOLINT
        EXPECT(user != NULL && chown(server->dir, user->pw_uid, user->pw_gid) == 0,
               "cannot give %s to postgres", server->dir);
    }
}

static void start_keeper(PgServer *server)
{
    Program program = {{"sh", "-c", keeper_script, "keeper", server->dir}, 5};
    int fds[2];
    EXPECT(pipe2(fds, O_CLOEXEC) == 0, "no pipe");
    server->keeper = spawn_program(&program, "/", fds[0], "/dev/null");
    server->keeper_fd = fds[1];
    (void)close(fds[0]);
}

static void end_keeper(PgServer *server)
{
    (void)close(server->keeper_fd);
    while (waitpid(server->keeper, NULL, 0) < 0 && errno == EINTR) {
    }
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

static uint16_t find_free_port(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT(fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
               getsockname(fd, (struct sockaddr *)&address, &len) == 0,
           "no port of the loopback");
    (void)close(fd);
    return ntohs(address.sin_port);
}

/* False: it ended by itself. */
static bool await_server(PgServer *server)
{
    char info[PG_SERVER_URL_MAX];
    uint64_t end = now_ms() + START_MS;
    (void)snprintf(info, sizeof info,
                   "host=%s port=%u user=postgres dbname=postgres connect_timeout=5", server->dir,
                   server->port);
    while (PQping(info) != PQPING_OK) {
        if (waitpid(server->postmaster, NULL, WNOHANG) == server->postmaster) {
            server->postmaster = 0;
            return false;
        }
        EXPECT(now_ms() < end, "the server does not accept connections");
        pause_briefly();
    }
    return true;
}

static bool try_start(PgServer *server)
{
    char path[PG_SERVER_PATH_MAX * 2];
    char log[PG_SERVER_PATH_MAX + 8];
    char port[16];
    char connections[48];
    char listen[PG_SERVER_LISTEN_MAX + 24];
    Program program = server_program("postgres", path, sizeof path);
    const char *const args[] = {"-D", server->data, "-k", server->dir, "-p", port, "-c",
                                connections, "-c", listen, "-c", "shared_buffers=32MB", "-c",
                                "dynamic_shared_memory_type=mmap", "-c", "wal_keep_size=64MB",
                                /* A promotion waits for it. */
                                "-c", "wal_retrieve_retry_interval=100ms"};
    (void)snprintf(port, sizeof port, "%u", server->port);
    (void)snprintf(listen, sizeof listen, "listen_addresses=%s", server->listen);
    (void)snprintf(connections, sizeof connections, "max_connections=%u", server->max_connections);
    /* These override what a test sets in its options. */
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        program_add(&program, args[i]);
    }
    log_path_of(server, log, sizeof log);
    server->postmaster = spawn_program(&program, server->dir, -1, log);
    return await_server(server);
}

void pg_server_run(PgServer *server)
{
    EXPECT(server->postmaster == 0, "the server runs");
    if (!try_start(server)) {
        print_log(server);
        EXPECT(false, "the server does not start");
    }
}

static void start_somewhere(PgServer *server)
{
    for (int i = 0; i < STARTS; i++) {
        server->port = find_free_port();
        if (try_start(server)) {
            return;
        }
    }
    print_log(server);
    EXPECT(false, "the server does not start");
}

static void append_lines(const PgServer *server, const char *name, const char *before,
                         const char *after)
{
    char path[PG_SERVER_PATH_MAX * 2];
    (void)snprintf(path, sizeof path, "%s/%s", server->data, name);
    FILE *file = fopen(path, before == NULL ? "ae" : "we");
    EXPECT(file != NULL, "cannot open %s", path);
    (void)fprintf(file, "%s\n%s\n", before == NULL ? "" : before, after == NULL ? "" : after);
    EXPECT(fclose(file) == 0, "cannot write %s", path);
}

static void set_listen(PgServer *server, const char *address)
{
    int len = snprintf(server->listen, sizeof server->listen, "127.0.0.1%s%s",
                       address == NULL ? "" : ",", address == NULL ? "" : address);
    EXPECT(len > 0 && (size_t)len < sizeof server->listen, "too long an address");
}

static void make_cluster(PgServer *server)
{
    char path[PG_SERVER_PATH_MAX * 2];
    Program program = server_program("initdb", path, sizeof path);
    const char *const args[] = {"-k",         "-N", "-A",   "trust", "-U",        "postgres",
                                "--locale=C", "-E", "UTF8", "-D",    server->data};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        program_add(&program, args[i]);
    }
    run_program(server, &program);
}

bool pg_server_start(PgServer *server, const PgServerOptions *options)
{
    static const PgServerOptions defaults;
    *server = (PgServer){.keeper_fd = -1};
    options = options == NULL ? &defaults : options;
    if (!pg_server_is_installed()) {
        return false;
    }
    server->max_connections =
        options->max_connections == 0 ? CONNECTIONS : options->max_connections;
    set_listen(server, options->address);
    make_dir(server, options->place);
    start_keeper(server);
    make_cluster(server);
    append_lines(server, "postgresql.conf", NULL, options->settings);
    append_lines(server, "pg_hba.conf", options->access == NULL ? "" : options->access,
                 "local all all trust\nhost all all 127.0.0.1/32 trust\n"
                 "local replication all trust\nhost replication all 127.0.0.1/32 trust");
    start_somewhere(server);
    return true;
}

static void await_end(PgServer *server)
{
    uint64_t end = now_ms() + START_MS;
    while (waitpid(server->postmaster, NULL, WNOHANG) == 0) {
        if (now_ms() > end) {
            print_log(server);
            EXPECT(false, "the server does not stop");
        }
        pause_briefly();
    }
    server->postmaster = 0;
}

void pg_server_stop(PgServer *server)
{
    if (server->postmaster != 0) {
        EXPECT(kill(server->postmaster, SIGINT) == 0, "no postmaster");
        await_end(server);
    }
}

/* Kills every process that works in the data directory; returns how many there were. */
static unsigned kill_workers(const PgServer *server)
{
    DIR *dir = opendir("/proc");
    unsigned found = 0;
    EXPECT(dir != NULL, "no /proc");
    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) { // NOLINT
        char path[PG_SERVER_PATH_MAX * 4];
        char cwd[PG_SERVER_PATH_MAX * 2];
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        (void)snprintf(path, sizeof path, "/proc/%s/cwd", entry->d_name);
        ssize_t len = pid <= 0 ? -1 : readlink(path, cwd, sizeof cwd - 1);
        if (len > 0) {
            cwd[len] = 0;
            if (strcmp(cwd, server->data) == 0 && kill(pid, SIGKILL) == 0) {
                found++;
            }
        }
    }
    (void)closedir(dir);
    return found;
}

void pg_server_kill(PgServer *server)
{
    uint64_t end = now_ms() + START_MS;
    EXPECT(server->postmaster != 0, "the server does not run");
    EXPECT(kill(server->postmaster, SIGKILL) == 0, "no postmaster");
    while (waitpid(server->postmaster, NULL, 0) < 0) {
        EXPECT(errno == EINTR, "no child");
    }
    while (kill_workers(server) > 0) {
        EXPECT(now_ms() < end, "the server's processes do not end");
    }
    server->postmaster = 0;
}

void pg_server_end(PgServer *server)
{
    if (server->keeper == 0) {
        return;
    }
    pg_server_stop(server);
    end_keeper(server);
    EXPECT(access(server->dir, F_OK) != 0, "%s was not removed", server->dir);
    *server = (PgServer){.keeper_fd = -1};
}

/* ---- Standbys -------------------------------------------------------------------------------- */

static void await_sync(const PgServer *primary)
{
    uint64_t end = now_ms() + START_MS;
    while (pg_server_count(primary, "SELECT count(*) FROM pg_stat_replication "
                                    "WHERE sync_state = 'sync'") != 1) {
        EXPECT(now_ms() < end, "the standby does not follow");
        pause_briefly();
    }
}

void pg_server_start_standby(PgServer *standby, PgServer *primary)
{
    char path[PG_SERVER_PATH_MAX * 2];
    char from[PG_SERVER_URL_MAX];
    Program program = server_program("pg_basebackup", path, sizeof path);
    *standby = (PgServer){.keeper_fd = -1, .max_connections = primary->max_connections};
    set_listen(standby, NULL);
    make_dir(standby, NULL);
    start_keeper(standby);
    (void)snprintf(from, sizeof from, "host=%s port=%u user=postgres application_name=standby",
                   primary->dir, primary->port);
    const char *const args[] = {"-d", from,     "-D",        standby->data,      "-R",
                                "-X", "stream", "--no-sync", "--checkpoint=fast"};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        program_add(&program, args[i]);
    }
    run_program(standby, &program);
    start_somewhere(standby);
    pg_server_sql(primary, "ALTER SYSTEM SET synchronous_standby_names = 'standby'");
    pg_server_sql(primary, "SELECT pg_reload_conf()");
    await_sync(primary);
}

void pg_server_promote(PgServer *standby)
{
    char path[PG_SERVER_PATH_MAX * 2];
    Program program = server_program("pg_ctl", path, sizeof path);
    const char *const args[] = {"promote", "-w", "-s", "-D", standby->data};
    for (size_t i = 0; i < sizeof args / sizeof args[0]; i++) {
        program_add(&program, args[i]);
    }
    run_program(standby, &program);
}

/* ---- Statements ------------------------------------------------------------------------------ */

static void run_sql(const PgServer *server, char *out, size_t size, const char *format,
                    va_list args)
{
    char sql[SQL_MAX];
    char info[PG_SERVER_URL_MAX];
    int len = vsnprintf(sql, sizeof sql, format, args);
    EXPECT(len >= 0 && (size_t)len < sizeof sql, "too long a statement");
    (void)snprintf(info, sizeof info, "host=%s port=%u user=postgres dbname=postgres", server->dir,
                   server->port);
    PGconn *conn = PQconnectdb(info);
    EXPECT(PQstatus(conn) == CONNECTION_OK, "no connection: %s", PQerrorMessage(conn));
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    EXPECT(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK, "%s: %s", sql,
           PQerrorMessage(conn));
    if (out != NULL) {
        bool has_value = PQntuples(result) > 0 && PQnfields(result) > 0;
        (void)snprintf(out, size, "%s", has_value ? PQgetvalue(result, 0, 0) : "");
    }
    PQclear(result);
    PQfinish(conn);
}

void pg_server_sql(const PgServer *server, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    run_sql(server, NULL, 0, format, args);
    va_end(args);
}

void pg_server_ask(const PgServer *server, char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    run_sql(server, out, size, format, args);
    va_end(args);
}

long long pg_server_count(const PgServer *server, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    run_sql(server, text, sizeof text, format, args);
    va_end(args);
    return strtoll(text, NULL, 10);
}

/* ---- Addresses ------------------------------------------------------------------------------- */

static void expect_fits(int len, size_t size)
{
    EXPECT(len >= 0 && (size_t)len < size, "too long an address");
}

void pg_server_url(const PgServer *server, const char *params, char *url, size_t size)
{
    expect_fits(snprintf(url, size, "postgres://postgres@/postgres?host=%s&port=%u%s%s",
                         server->dir, server->port, params[0] == 0 ? "" : "&", params),
                size);
}

void pg_server_tcp_url(const PgServer *server, const char *user, const char *params, char *url,
                       size_t size)
{
    pg_server_address_url(server, "127.0.0.1", user, params, url, size);
}

void pg_server_address_url(const PgServer *server, const char *address, const char *user,
                           const char *params, char *url, size_t size)
{
    expect_fits(snprintf(url, size, "postgres://%s@%s:%u/postgres%s%s", user, address, server->port,
                         params[0] == 0 ? "" : "?", params),
                size);
}

void pg_server_socket(const PgServer *server, char *path, size_t size)
{
    expect_fits(snprintf(path, size, "%s/.s.PGSQL.%u", server->dir, server->port), size);
}
