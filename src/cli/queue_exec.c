/* queue_exec.c - pop --exec: a command for a message.
 *
 * The file is closed while the command runs, so that others can have it. The claim stays: it is known
 * by number and token, with which the file is opened again, here or by its owner, to renew the lease
 * and to say what became of the message. The payload is the command's standard input.
 *
 * A signal goes to the command, and the message back into its place unless the command ended well all
 * the same. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/db.h"
#include "cli/interrupt.h"
#include "cli/queue.h"
#include "common/clock.h"
#include "common/fd.h"

/* A lease is renewed when a quarter of it is gone: the file may be busy once or twice. */
enum { LEASE_DEFAULT_MS = 30000, RENEWALS = 4, PATIENCE_LEAST_MS = 2000 };

typedef struct Run {
    Pop *pop;
    const AccessMessage *message;
    uint32_t lease_ms;
    pid_t pid;
    int pidfd;
    int status; /* of waitpid() */
    bool lost;  /* the lease has passed to another */
    uint64_t start_ns;
} Run;

/* ---- Starting ---------------------------------------------------------------------------------- */

/* The payload as a file to read; -1: errno tells. */
static int payload_file(Slice payload)
{
    const char *p = (const char *)payload.data;
    size_t left = payload.len;
    int fd = fd_raise(memfd_create("message", MFD_CLOEXEC));

    while (fd >= 0 && left > 0) {
        ssize_t put = write(fd, p, left);
        if (put < 0 && errno != EINTR) {
            int error = errno;
            (void)close(fd);
            errno = error;
            return -1;
        }
        p += put > 0 ? put : 0;
        left -= put > 0 ? (size_t)put : 0;
    }
    if (fd >= 0) {
        (void)lseek(fd, 0, SEEK_SET);
    }
    return fd;
}

static int set_text(const char *name, Slice bytes)
{
    Buf text = {0};
    int rc = queue_id_text(&text, bytes);

    rc = rc == SAP_OK ? buf_append_u8(&text, 0) : rc;
    rc = rc == SAP_OK ? setenv(name, (const char *)text.data, 1) : -1;
    buf_release(&text);
    return rc;
}

static int set_number(const char *name, uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof text, "%" PRIu64, number);
    return setenv(name, text, 1);
}

static int set_environment(const Run *run)
{
    const AccessMessage *m = run->message;

    if (set_text("SAPLING_MESSAGE_ID", m->id) != 0 ||
        set_number("SAPLING_SEQ", queue_number(m->seq)) != 0 ||
        set_number("SAPLING_ATTEMPT", m->attempts) != 0 ||
        setenv("SAPLING_QUEUE", run->pop->queue, 1) != 0) {
        return -1;
    }
    return m->trace.data != NULL ? set_text("SAPLING_TRACE_ID", m->trace)
                                 : unsetenv("SAPLING_TRACE_ID");
}

/* A group of its own gets signals as a whole, and each once: from here. */
static int spawn(Run *run, int input)
{
    char shell[] = "/bin/sh";
    char dash_c[] = "-c";
    char *command = strdup(run->pop->command);
    char *argv[] = {shell, dash_c, command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none;
    sigset_t usual;

    if (command == NULL) {
        return ENOMEM;
    }
    (void)sigemptyset(&none);
    (void)sigemptyset(&usual);
    (void)sigaddset(&usual, SIGPIPE);
    (void)sigaddset(&usual, SIGXFSZ);
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attributes);
    int error = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    /* With --json standard output has objects only. */
    if (error == 0 && run->pop->call->ui->json) {
        error = posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    }
    if (error == 0) {
        (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                        POSIX_SPAWN_SETSIGDEF);
        (void)posix_spawnattr_setpgroup(&attributes, 0);
        (void)posix_spawnattr_setsigmask(&attributes, &none);
        (void)posix_spawnattr_setsigdefault(&attributes, &usual);
        error = posix_spawn(&run->pid, shell, &actions, &attributes, argv, environ);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attributes);
    free(command);
    return error;
}

/* 0, or an error number. */
static int start(Run *run)
{
    int input = payload_file(run->message->payload);
    int error = input < 0 ? errno : 0;

    if (error == 0 && set_environment(run) != 0) {
        error = ENOMEM;
    }
    if (error == 0) {
        error = spawn(run, input);
    }
    if (error == 0) {
        interrupt_child(run->pid);
        run->pidfd = fd_raise(pidfd_open(run->pid, 0));
    }
    if (input >= 0) {
        (void)close(input);
    }
    return error;
}

/* ---- Meanwhile --------------------------------------------------------------------------------- */

static int settle(Run *run, const AccessEnd *end, uint64_t *dead_out)
{
    AccessLease lease = {run->message->seq, run->message->token};

    return access_queue_end(run->pop->access, run->pop->queue, end, &lease, 1, dead_out);
}

static void renew(Run *run)
{
    Pop *pop = run->pop;
    AccessEnd touch = {.op = ACCESS_TOUCH, .ms = run->lease_ms};
    uint64_t number = queue_number(run->message->seq);

    if (run->lost) {
        return;
    }
    if (pop_open(pop, run->lease_ms / RENEWALS) != EXIT_DONE) {
        ui_note(pop->call->ui, "the lease on message %" PRIu64 " could not be renewed", number);
        return;
    }
    int rc = settle(run, &touch, NULL);
    if (rc == SAP_CONFLICT && queue_claim_was_lost(pop, run->message)) {
        run->lost = true;
    } else if (rc == SAP_CONFLICT) {
        run->lost = true;
        ui_note(pop->call->ui, "the lease on message %" PRIu64 " has passed to another", number);
    } else if (rc != SAP_OK) {
        ui_note(pop->call->ui, "the lease on message %" PRIu64 " could not be renewed: %s", number,
                access_message(pop->access));
    }
    (void)pop_close(pop, EXIT_DONE);
}

static void wait_for_end(Run *run)
{
    uint32_t every_ms = run->lease_ms / RENEWALS;
    uint64_t next_ns = clock_mono_ns(NULL) + every_ms * UINT64_C(1000000);
    struct pollfd fd = {.fd = run->pidfd, .events = POLLIN};

    while (run->pidfd >= 0) {
        uint64_t now_ns = clock_mono_ns(NULL);
        int ms = now_ns >= next_ns ? 0 : (int)((next_ns - now_ns) / 1000000 + 1);
        if (poll(&fd, 1, ms) > 0) {
            break;
        }
        if (clock_mono_ns(NULL) >= next_ns) {
            renew(run);
            next_ns = clock_mono_ns(NULL) + every_ms * UINT64_C(1000000);
        }
    }
    /* Until it is waited for, the number of the process, and of its group, is no other's. */
    siginfo_t info;
    while (waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    interrupt_child(0);
    while (waitpid(run->pid, &run->status, 0) < 0 && errno == EINTR) {
    }
    if (run->pidfd >= 0) {
        (void)close(run->pidfd);
    }
}

/* ---- What becomes of it ------------------------------------------------------------------------ */

static int report_json(const Run *run, const char *outcome)
{
    json_t *object = queue_message_json(run->pop->queue, run->message);
    double seconds = (double)(clock_mono_ns(NULL) - run->start_ns) / 1e9;
    bool ok =
        object != NULL && json_object_set_new(object, "outcome", json_string(outcome)) == 0 &&
        json_object_set_new(object, "seconds", json_real(seconds)) == 0 &&
        (WIFSIGNALED(run->status) ? json_set_int(object, "signal", WTERMSIG(run->status))
                                  : json_set_int(object, "exit", WEXITSTATUS(run->status))) == 0;

    if (!ok) {
        json_decref(object);
        return ui_no_memory(run->pop->call->ui);
    }
    int code = ui_object(run->pop->call->ui, object);
    return code == EXIT_DONE ? ui_finish(run->pop->call->ui) : code;
}

static void say_failed(const Run *run, bool dead)
{
    const Ui *ui = run->pop->call->ui;
    char how[64];
    char hint[256];

    (void)snprintf(hint, sizeof hint, "look at it: sapling queue dlq list %.200s",
                   call_operand(run->pop->call, 0));
    if (WIFSIGNALED(run->status)) {
        (void)snprintf(how, sizeof how, "was killed by signal %d", WTERMSIG(run->status));
    } else {
        (void)snprintf(how, sizeof how, "failed with exit code %d", WEXITSTATUS(run->status));
    }
    (void)ui_fail(ui, EXIT_FAILED, dead ? hint : NULL,
                  "the command %s: message %" PRIu64 " is %s after attempt %" PRIu32, how,
                  queue_number(run->message->seq), dead ? "given up" : "put back",
                  run->message->attempts);
}

/* Ends the claim as the command ended. */
static int conclude(Run *run)
{
    Pop *pop = run->pop;
    bool good = WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0;
    bool interrupted = interrupt_pending();
    AccessEnd end = {.op = good          ? ACCESS_ACK
                           : interrupted ? ACCESS_PUT_BACK
                                         : ACCESS_FAIL,
                     .rc = WIFSIGNALED(run->status) ? QUEUE_SIGNAL + WTERMSIG(run->status)
                                                    : QUEUE_EXIT + WEXITSTATUS(run->status)};
    uint64_t dead = 0;

    if (end.op == ACCESS_FAIL) {
        end.ms = pop->retry_ms;
        end.attempts = pop->attempts;
    }
    int rc = settle(run, &end, &dead);
    if (rc == SAP_CONFLICT) {
        int code = pop->call->ui->json ? report_json(run, "lost") : EXIT_DONE;
        if (queue_claim_was_lost(pop, run->message)) {
            return code;
        }
        (void)ui_fail(pop->call->ui, EXIT_CONFLICT, "give it more time with --lease",
                      "message %" PRIu64 " took longer than its lease and has passed to another",
                      queue_number(run->message->seq));
        pop->failed++;
        return code;
    }
    if (rc != SAP_OK) {
        return db_failed(pop->call, pop->path, pop->access, rc);
    }
    pop->failed += good ? 0 : 1;
    if (!good && !interrupted) {
        say_failed(run, dead > 0);
    }
    return pop->call->ui->json ? report_json(run, good          ? "acknowledged"
                                                  : interrupted ? "put_back"
                                                  : dead > 0    ? "dead_letter"
                                                                : "failed")
                               : EXIT_DONE;
}

int exec_message(Pop *pop, const AccessMessage *message)
{
    Run run = {.pop = pop,
               .message = message,
               .lease_ms = pop->lease_ms != 0 ? pop->lease_ms : LEASE_DEFAULT_MS,
               .pidfd = -1,
               .start_ns = clock_mono_ns(NULL)};
    int code = pop_close(pop, EXIT_DONE);

    if (code != EXIT_DONE) {
        return code;
    }
    (void)fflush(stdout);
    int error = interrupt_pending() ? EINTR : start(&run);
    if (error == 0) {
        wait_for_end(&run);
    }
    uint32_t patience_ms = run.lease_ms > PATIENCE_LEAST_MS ? run.lease_ms : PATIENCE_LEAST_MS;
    code = pop_open(pop, patience_ms);
    if (code != EXIT_DONE) {
        ui_note(pop->call->ui, "message %" PRIu64 " comes again when its lease is over",
                queue_number(message->seq));
        return code;
    }
    if (error != 0) {
        (void)settle(&run, &(AccessEnd){.op = ACCESS_PUT_BACK}, NULL);
    }
    if (error != 0 && error != EINTR) {
        return ui_fail(pop->call->ui, EXIT_FAILED, NULL, "cannot run /bin/sh: %s", strerror(error));
    }
    code = error == 0 ? conclude(&run) : EXIT_DONE;
    if (code == EXIT_DONE && interrupt_pending()) {
        code = ui_fail(pop->call->ui, EXIT_INTERRUPTED, NULL, "interrupted");
    }
    return code;
}
