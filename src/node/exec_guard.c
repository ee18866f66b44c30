/* exec_guard.c - see exec_guard.h. */
#include "node/exec_guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "sapling/error.h"

enum { GUARDED = 4096 };

/* What is written to the guard, in one piece: a group that begins, or minus one that is over. */
typedef struct GuardNote {
    pid_t group;
} GuardNote;

/* The groups, in the guard alone: it has no other memory to take. */
static pid_t guarded[GUARDED];

static void keep_note(pid_t group)
{
    pid_t find = group > 0 ? 0 : -group;
    for (int i = 0; i < GUARDED; i++) {
        if (guarded[i] == find) {
            guarded[i] = group > 0 ? group : 0;
            return;
        }
    }
}

static void close_others(int fd)
{
    (void)dup2(fd, 0);
    for (int i = 1; i < FD_FIRST; i++) {
        (void)close(i);
    }
    (void)syscall(SYS_close_range, FD_FIRST, ~0U, 0);
}

/* Only what may be called between fork() and exec() in a process with threads. */
static _Noreturn void run_guard(int fd)
{
    GuardNote note;
    ssize_t got = 0;
    (void)setsid();
    for (int i = 1; i < NSIG; i++) {
        (void)signal(i, SIG_IGN);
    }
    close_others(fd);
    (void)prctl(PR_SET_NAME, "sapling-guard");
    if (chdir("/") != 0) {
        /* it keeps the directory that it has, which cannot be unmounted then */
    }
    for (int i = 0; i < GUARDED; i++) {
        guarded[i] = 0;
    }
    while ((got = read(0, &note, sizeof note)) != 0) {
        if (got == (ssize_t)sizeof note) {
            keep_note(note.group);
        } else if (errno != EINTR) {
            break;
        }
    }
    for (int i = 0; i < GUARDED; i++) {
        if (guarded[i] > 1) {
            (void)kill(-guarded[i], SIGKILL);
        }
    }
    _exit(0);
}

int exec_guard_start(ExecGuard *guard)
{
    int ends[2];
    if (!fd_pipe(ends)) {
        return SAP_NOMEM;
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(ends[1]);
        run_guard(ends[0]);
    }
    (void)close(ends[0]);
    if (pid < 0) {
        (void)close(ends[1]);
        return SAP_NOMEM;
    }
    *guard = (ExecGuard){pid, ends[1]};
    return SAP_OK;
}

void exec_guard_stop(ExecGuard *guard)
{
    if (guard->pid == 0) {
        return;
    }
    (void)close(guard->fd);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR) {
    }
    guard->pid = 0;
}

void exec_guard_note_begin(int fd, pid_t group)
{
    GuardNote note = {group};
    while (write(fd, &note, sizeof note) < 0 && errno == EINTR) {
    }
}

void exec_guard_note_end(const ExecGuard *guard, pid_t group)
{
    SAP_ASSERT(group > 1);
    exec_guard_note_begin(guard->fd, -group);
}
