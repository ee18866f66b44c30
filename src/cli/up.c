/* up.c - `sapling up`: a node in this process, until a signal ends it. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "cli/node.h"
#include "common/fd.h"
#include "node/node.h"
#include "sapling/error.h"
#include "sapling/version.h"

enum { CHECK_NS = 1000000000, TIME_TEXT = 32, TOLD_FD = 3 };

/* In the environment of a node that `up --detach` has started, which tells it by TOLD_FD that it is up. */
#define DETACHED "SAPLING_DETACHED"

#define EXAMPLE "examples/worlds/hello.py" /* in the source tree */

/* What a call of the command runs. */
typedef struct Up {
    const Call *call;
    Config *config;
    DataDir *dir;
    Node *node;
    LogFile file;
    Log log;
    FILE *opened; /* node.log, where it runs detached; NULL otherwise */
} Up;

/* ---- Errors ---------------------------------------------------------------------------------- */

static int exit_of(int rc)
{
    switch (rc) {
    case SAP_OK:
        return EXIT_DONE;
    case SAP_BUSY:
    case SAP_CONFLICT:
    case SAP_EXISTS:
        return EXIT_CONFLICT;
    case SAP_CORRUPT:
        return EXIT_CORRUPT;
    case SAP_NOTFOUND:
        return EXIT_NOT_FOUND;
    case SAP_INVALID:
        return EXIT_USAGE;
    default:
        return EXIT_FAILED;
    }
}

static int fail_start(const Up *up, int rc, const NodeError *error)
{
    return ui_fail(up->call->ui, exit_of(rc), error->hint[0] != '\0' ? error->hint : NULL, "%s",
                   error->message);
}

/* ---- The log --------------------------------------------------------------------------------- */

static LogLevel level_of(const Config *config)
{
    const char *name = config_text(config, CONFIG_LOG_LEVEL);
    LogLevel level = LOG_LEVEL_DEBUG;
    while (level < LOG_LEVEL_ERROR && strcmp(log_level_name(level), name) != 0) {
        level = (LogLevel)(level + 1);
    }
    return level;
}

/* Text for people at a terminal, otherwise one object of JSON a line. */
static int open_log(Up *up, bool detached)
{
    const char *format = config_text(up->config, CONFIG_LOG_FORMAT);
    bool terminal = !detached && isatty(STDERR_FILENO) == 1;
    up->file.file = stderr;
    up->file.json = strcmp(format, "json") == 0 || (strcmp(format, "auto") == 0 && !terminal);
    if (detached) {
        char path[DATA_PATH_MAX];
        data_dir_file(up->dir, "node.log", path);
        int fd = fd_open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
        up->opened = fd >= 0 ? fdopen(fd, "a") : NULL;
        if (up->opened == NULL) {
            return ui_fail(up->call->ui, EXIT_FAILED, NULL, "cannot open %s: %s", path,
                           strerror(errno));
        }
        up->file.file = up->opened;
    }
    log_init(&up->log, log_file_sink, &up->file, level_of(up->config), NULL);
    return EXIT_DONE;
}

/* ---- What is printed ------------------------------------------------------------------------- */

static const char *time_text(uint64_t ms, char text[TIME_TEXT])
{
    time_t seconds = (time_t)(ms / 1000);
    struct tm parts;
    if (localtime_r(&seconds, &parts) == NULL ||
        strftime(text, TIME_TEXT, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
        text[0] = '\0';
    }
    return text;
}

/* How this program was called, so that what is printed can be typed. */
static const char *own_name(void)
{
    return strchr(program_invocation_name, '/') != NULL ? program_invocation_name : "sapling";
}

static void print_recovery(const NodeInfo *info)
{
    char when[TIME_TEXT];
    const Recovery *found = &info->recovery;
    if (!info->left.unclean) {
        return;
    }
    (void)printf("\nThe node before (pid %" PRId64
                 ", started %s) did not stop cleanly. Nothing that was "
                 "acknowledged is lost:\n",
                 info->left.pid, time_text(info->left.started_ms, when));
    (void)printf("  worlds that it held go on    %" PRIu32 "\n", found->worlds);
    (void)printf("  calls that it made, again    %" PRIu32 "\n", found->calls);
    (void)printf("  timers that came due         %" PRIu32 "\n", found->timers);
}

static void print_started(const NodeInfo *info)
{
    (void)printf("sapling %s is up (pid %d)\n", SAPLING_VERSION, (int)getpid());
    if (info->address != NULL) {
        (void)printf("  address  http://%s\n", info->address);
    }
    (void)printf("  socket   %s\n", info->socket);
    (void)printf("  data     %s\n", info->data);
    (void)printf("  worlds   %s\n", info->store);
    print_recovery(info);
    const char *own = own_name();
    (void)puts("\nTry:");
    if (access(EXAMPLE, X_OK) == 0) {
        (void)printf("  %s world send hello '{\"n\":1}' --module ./" EXAMPLE " --wait\n", own);
    } else {
        (void)printf("  %s status\n", own);
    }
    (void)printf("  curl --unix-socket %s http://localhost/v1/status\n", info->socket);
}

static int print_json(const Call *call, const NodeInfo *info)
{
    json_t *left = info->left.unclean
                       ? json_pack("{s:I, s:I, s:I, s:I, s:I}", "pid", (json_int_t)info->left.pid,
                                   "started_ms", (json_int_t)info->left.started_ms, "worlds",
                                   (json_int_t)info->recovery.worlds, "calls",
                                   (json_int_t)info->recovery.calls, "timers",
                                   (json_int_t)info->recovery.timers)
                       : json_null();
    return ui_object(call->ui, json_pack("{s:s, s:i, s:s?, s:s, s:s, s:s, s:o}", "version",
                                         SAPLING_VERSION, "pid", (int)getpid(), "address",
                                         info->address, "socket", info->socket, "data", info->data,
                                         "store", info->store, "recovered", left));
}

/* ---- Running --------------------------------------------------------------------------------- */

static int start_up(Up *up, bool detached)
{
    NodeError error = {.message = ""};
    int rc = data_dir_open(config_text(up->config, CONFIG_DATA), &up->dir, &error);
    if (rc != SAP_OK) {
        return fail_start(up, rc, &error);
    }
    int code = open_log(up, detached);
    if (code != EXIT_DONE) {
        return code;
    }
    rc = node_start(up->config, up->dir, &up->log, &up->node, &error);
    if (rc != SAP_OK) {
        return fail_start(up, rc, &error);
    }
    NodeInfo info = node_info(up->node);
    if (up->call->ui->json) {
        code = print_json(up->call, &info);
    } else {
        print_started(&info);
        if (!detached) {
            (void)puts("\nCtrl-C stops it.");
        }
    }
    int written = ui_finish(up->call->ui);
    return code != EXIT_DONE ? code : written == EXIT_READER_GONE ? EXIT_DONE : written;
}

/* Until a signal comes. */
static int stay_up(Up *up)
{
    while (!interrupt_wait(CHECK_NS)) {
        node_check(up->node);
    }
    int rc = node_stop(up->node);
    if (rc == SAP_BUSY) { /* threads are in handlers: nothing may be freed under them */
        (void)fflush(NULL);
        _exit(EXIT_FAILED);
    }
    up->node = NULL;
    return rc == SAP_OK ? EXIT_DONE : EXIT_FAILED;
}

static void end_up(Up *up, bool clean)
{
    (void)node_stop(up->node);
    data_dir_close(up->dir, clean);
    if (up->opened != NULL) {
        (void)fclose(up->opened);
    }
    config_free(up->config);
}

/* ---- Detached -------------------------------------------------------------------------------- */

/* Standard streams that are those of nobody. */
static void leave_terminal(const Up *up)
{
    int none = fd_open("/dev/null", O_RDWR, 0);
    if (none >= 0) {
        (void)dup2(none, STDIN_FILENO);
        (void)dup2(none, STDOUT_FILENO);
        (void)close(none);
    }
    (void)dup2(fileno(up->opened), STDERR_FILENO);
}

/* In the child: tells the parent that the node is up, by a byte. */
static int run_detached(Up *up, int told)
{
    int code = start_up(up, true);
    if (code != EXIT_DONE) {
        end_up(up, true);
        return code;
    }
    char byte = 1;
    ssize_t written = write(told, &byte, 1);
    (void)written;
    leave_terminal(up);
    (void)close(told);
    code = stay_up(up);
    end_up(up, code == EXIT_DONE);
    return code;
}

static int await_child(const Up *up, pid_t pid, int told)
{
    char byte = 0;
    int status = 0;
    ssize_t len = 0;
    do {
        len = read(told, &byte, 1);
    } while (len < 0 && errno == EINTR);
    if (len == 1) {
        return EXIT_DONE;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status)
               ? WEXITSTATUS(status)
               : ui_fail(up->call->ui, EXIT_FAILED, NULL,
                         "the node ended by signal %d while it started", WTERMSIG(status));
}

/* The words of this call, as texts that follow one another. */
static int read_own_words(Buf *text, Buf *words)
{
    char part[4096];
    size_t len = 0;
    char *end = NULL;
    FILE *file = fd_open_stream("/proc/self/cmdline");
    int rc = file != NULL ? SAP_OK : SAP_IO;
    while (rc == SAP_OK && (len = fread(part, 1, sizeof part, file)) > 0) {
        rc = buf_append(text, part, len);
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    for (size_t at = 0; rc == SAP_OK && at < text->len; at += strlen((char *)text->data + at) + 1) {
        char *word = (char *)text->data + at;
        rc = buf_append(words, &word, sizeof word);
    }
    return rc == SAP_OK ? buf_append(words, &end, sizeof end) : rc;
}

/* This program again, in a session of its own: a copy by fork() would not have the thread that waits for
 * signals, and the locks that it holds. */
static int spawn_self(int told, pid_t *pid_out)
{
    Buf text = {0};
    Buf words = {0};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int rc = read_own_words(&text, &words);
    if (rc == SAP_OK && setenv(DETACHED, "1", 1) == 0 &&
        posix_spawn_file_actions_init(&actions) == 0) {
        (void)posix_spawnattr_init(&attributes);
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
        (void)posix_spawn_file_actions_adddup2(&actions, told, TOLD_FD);
        errno = posix_spawn(pid_out, "/proc/self/exe", &actions, &attributes,
                            (char **)(void *)words.data, environ);
        rc = errno == 0 ? SAP_OK : SAP_IO;
        (void)posix_spawnattr_destroy(&attributes);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    buf_release(&text);
    buf_release(&words);
    return rc;
}

static int detach(const Up *up)
{
    int told[2];
    pid_t pid = 0;
    if (!fd_pipe(told)) {
        return ui_fail(up->call->ui, EXIT_FAILED, NULL, "cannot make a pipe: %s", strerror(errno));
    }
    int rc = spawn_self(told[1], &pid);
    (void)close(told[1]);
    int code = rc == SAP_OK ? await_child(up, pid, told[0])
                            : ui_fail(up->call->ui, EXIT_FAILED, NULL, "cannot start a process: %s",
                                      strerror(errno));
    (void)close(told[0]);
    return code;
}

int up_verb(const Call *call)
{
    Up up = {.call = call};
    int code = node_config(call, &up.config);
    if (code != EXIT_DONE) {
        return code;
    }
    interrupt_hold();
    if (call_has(call, OPTION_DETACH)) {
        bool detached = getenv(DETACHED) != NULL;
        (void)unsetenv(DETACHED);
        code = detached ? run_detached(&up, TOLD_FD) : detach(&up);
        if (!detached) {
            config_free(up.config);
        }
        return code;
    }
    code = start_up(&up, false);
    if (code != EXIT_DONE) {
        end_up(&up, true);
        return code;
    }
    code = stay_up(&up);
    end_up(&up, code == EXIT_DONE);
    return code;
}
