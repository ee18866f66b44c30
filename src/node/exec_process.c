/* exec_process.c - see exec_process.h. */
#include "node/exec_process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/mem.h"
#include "common/utf8.h"

enum {
    PIECE = 65536,
    SLICE_MS = 50,           /* between looks whether anybody waits */
    LINES_PER_SECOND = 200,  /* of standard error that are logged */
    END_WAIT_MS = 300,       /* for a program that has closed its output */
    KEPT_BYTES = 256 * 1024, /* of the buffer, between calls */
    ERROR_PIECES = 16,       /* of PIECE bytes read of standard error in one look */
    DESCRIPTORS = 1024,      /* that a program may have open */
};

/* ---- Starting
 * ---------------------------------------------------------------------------------- */

/* Where a child failed. */
typedef enum Stage { STAGE_DESCRIPTORS, STAGE_LIMITS, STAGE_USER, STAGE_EXEC } Stage;

typedef struct Failure {
    Stage stage;
    int error;
} Failure;

typedef struct Pipes {
    int in[2];
    int out[2];
    int err[2];
    int report[2];
} Pipes;

static void close_pair(int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0) {
            (void)close(ends[i]);
            ends[i] = -1;
        }
    }
}

static void close_pipes(Pipes *pipes)
{
    close_pair(pipes->in);
    close_pair(pipes->out);
    close_pair(pipes->err);
    close_pair(pipes->report);
}

static bool open_pipes(Pipes *pipes)
{
    *pipes = (Pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
    if (fd_pipe(pipes->in) && fd_pipe(pipes->out) && fd_pipe(pipes->err) &&
        fd_pipe(pipes->report)) {
        return true;
    }
    close_pipes(pipes);
    return false;
}

static _Noreturn void report_failure(int fd, Stage stage)
{
    Failure failure = {stage, errno};
    while (write(fd, &failure, sizeof failure) < 0 && errno == EINTR) {
    }
    _exit(127);
}

static void limit_resource(int fd, int resource, uint64_t most)
{
    struct rlimit limit;
    if (syscall(SYS_prlimit64, 0, resource, NULL, &limit) != 0) {
        report_failure(fd, STAGE_LIMITS);
    }
    rlim_t wanted = (rlim_t)most;
    limit.rlim_max = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    limit.rlim_cur = limit.rlim_max;
    if (syscall(SYS_prlimit64, 0, resource, &limit, NULL) != 0) {
        report_failure(fd, STAGE_LIMITS);
    }
}

/* The system's own calls: those of the C library would change all threads of the process that this
 * is a copy of. */
static void switch_user(int fd, const ExecSpawn *spawn)
{
    if (!spawn->switches_user) {
        return;
    }
    if (syscall(SYS_setgroups, spawn->group_count, spawn->groups) != 0 ||
        syscall(SYS_setresgid, spawn->gid, spawn->gid, spawn->gid) != 0 ||
        syscall(SYS_setresuid, spawn->uid, spawn->uid, spawn->uid) != 0) {
        report_failure(fd, STAGE_USER);
    }
}

/* The child of vfork(): it has the memory of its parent, which waits, and changes nothing there but
 * its stack. */
static _Noreturn void become_program(const ExecSpawn *spawn, const Pipes *pipes, pid_t parent)
{
    int report = pipes->report[1];
    sigset_t none;
    /* The kernel's form of SIG_DFL: the C library keeps two signals to itself, which may be ignored
     * too. */
    const unsigned long usual[8] = {0};
    (void)setpgid(0, 0);
    exec_guard_note_begin(spawn->guard->fd, getpid());
    for (int i = 1; i < NSIG; i++) {
        (void)syscall(SYS_rt_sigaction, i, usual, NULL, _NSIG / 8);
    }
    if (dup2(pipes->in[0], STDIN_FILENO) < 0 || dup2(pipes->out[1], STDOUT_FILENO) < 0 ||
        dup2(pipes->err[1], STDERR_FILENO) < 0 || syscall(SYS_close_range, FD_FIRST, ~0U, 4) != 0) {
        report_failure(report, STAGE_DESCRIPTORS); /* 4: closed when the program begins */
    }
    limit_resource(report, RLIMIT_CORE, 0);
    limit_resource(report, RLIMIT_NOFILE, DESCRIPTORS);
    limit_resource(report, RLIMIT_AS, spawn->max_memory);
    switch_user(report, spawn);
    if (chdir(spawn->directory) != 0 && chdir("/") != 0) {
        report_failure(report, STAGE_EXEC);
    }
    /* After the user, since a change of user takes it back. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) {
        report_failure(report, STAGE_USER);
    }
    if (getppid() != parent) {
        _exit(127); /* it died before it could be said that this must end with it */
    }
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execve(spawn->argv[0], spawn->argv, spawn->envp);
    report_failure(report, STAGE_EXEC);
}

/* -1: errno is set. */
static pid_t fork_program(const ExecSpawn *spawn, const Pipes *pipes)
{
    sigset_t all;
    sigset_t before;
    pid_t parent = getpid();
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    /* A copy of a large process takes long, and posix_spawn() can neither limit nor bind the
     * child. */
    pid_t pid = vfork(); // NOLINT: see above
    if (pid == 0) {
        become_program(spawn, pipes, parent); // NOLINT: it makes calls of the system, no others
    }
    int error = errno;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return pid;
}

static bool is_shortage(int error)
{
    return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE ||
           error == ETXTBSY || error == EINTR;
}

static int refuse_start(const ExecSpawn *spawn, const Failure *failure, ExecError *error)
{
    static const char *const stages[] = {"its descriptors", "its limits", "its user",
                                         "the program"};
    if (is_shortage(failure->error)) {
        (void)exec_refuse(error, "%s cannot be started now: %s", spawn->name,
                          strerror(failure->error));
        return SAP_NOMEM;
    }
    if (failure->stage == STAGE_EXEC && failure->error == EACCES) {
        (void)exec_refuse(
            error,
            "%s is not executable for the user that runs it: chmod +x %s, and +x on its directories",
            spawn->name, spawn->name);
    } else if (failure->stage == STAGE_EXEC && failure->error == ENOENT) {
        (void)exec_refuse(error, "%s: it, or the interpreter in its first line, is not there",
                          spawn->name);
    } else {
        (void)exec_refuse(error, "%s cannot be started (%s): %s", spawn->name,
                          stages[failure->stage], strerror(failure->error));
    }
    return SAP_NOTFOUND;
}

static bool set_nonblocking(int fd)
{
    return fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

/* The parent's ends; the process owns them. */
static ExecProcess *make_process(Pipes *pipes, pid_t pid)
{
    ExecProcess *process = (ExecProcess *)mem_zalloc(MEM_COMMON, sizeof *process);
    int pidfd = process == NULL ? -1 : fd_raise(pidfd_open(pid, 0));
    if (pidfd < 0 || !set_nonblocking(pipes->in[1]) || !set_nonblocking(pipes->out[0]) ||
        !set_nonblocking(pipes->err[0])) {
        if (pidfd >= 0) {
            (void)close(pidfd);
        }
        mem_free(MEM_COMMON, process, process == NULL ? 0 : sizeof *process);
        return NULL;
    }
    *process = (ExecProcess){
        .pid = pid, .pidfd = pidfd, .in = pipes->in[1], .out = pipes->out[0], .err = pipes->err[0]};
    pipes->in[1] = pipes->out[0] = pipes->err[0] = -1;
    return process;
}

static void wait_for_end(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
    }
}

int exec_process_start(const ExecSpawn *spawn, ExecProcess **process_out, ExecError *error)
{
    Pipes pipes;
    Failure failure = {STAGE_EXEC, 0};
    if (!open_pipes(&pipes)) {
        failure.error = errno;
        return refuse_start(spawn, &failure, error);
    }
    pid_t pid = fork_program(spawn, &pipes);
    if (pid < 0) {
        failure.error = errno;
        close_pipes(&pipes);
        return refuse_start(spawn, &failure, error);
    }
    (void)close(pipes.report[1]);
    pipes.report[1] = -1;
    ssize_t got = 0;
    do {
        got = read(pipes.report[0], &failure, sizeof failure);
    } while (got < 0 && errno == EINTR);
    ExecProcess *process = got == 0 ? make_process(&pipes, pid) : NULL;
    if (process == NULL) {
        if (got == 0) {
            failure = (Failure){STAGE_EXEC, EMFILE};
        }
        (void)kill(-pid, SIGKILL);
        exec_guard_note_end(spawn->guard, pid);
        wait_for_end(pid);
        close_pipes(&pipes);
        return refuse_start(spawn, &failure, error);
    }
    close_pipes(&pipes);
    *process_out = process;
    return SAP_OK;
}

/* ---- Ending
 * ------------------------------------------------------------------------------------ */

void exec_process_kill(ExecProcess *process)
{
    SAP_ASSERT(process->pid > 1);
    (void)kill(-process->pid, SIGKILL); /* the number is its own until it is waited for */
    process->killed = true;
}

void exec_process_ask_to_end(ExecProcess *process, uint64_t kill_at_ns)
{
    if (process->in >= 0) {
        (void)close(process->in);
        process->in = -1;
    }
    process->kill_at_ns = kill_at_ns;
}

bool exec_process_has_ended(const ExecProcess *process)
{
    siginfo_t info = {0};
    return waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid != 0;
}

void exec_process_free(ExecProcess *process, const ExecGuard *guard)
{
    exec_process_kill(process);
    exec_guard_note_end(guard, process->pid);
    wait_for_end(process->pid);
    if (process->in >= 0) {
        (void)close(process->in);
    }
    if (process->err >= 0) {
        (void)close(process->err);
    }
    (void)close(process->out);
    (void)close(process->pidfd);
    buf_release(&process->read);
    mem_free(MEM_COMMON, process, sizeof *process);
}

/* ---- Standard error
 * ---------------------------------------------------------------------------- */

static void log_line(const ExecVoice *voice, const char *text, size_t len)
{
    LOG_EVENT(voice->log, LOG_LEVEL_INFO, "world.log", LOG_STR("world", voice->world),
              LOG_STR("module", voice->module), LOG_TEXT("text", text, len));
}

/* A new second: what was dropped in the one before is reported. */
static void begin_second(ExecStderr *errors, const ExecVoice *voice, uint64_t second)
{
    if (second == errors->second) {
        return;
    }
    if (errors->dropped > 0) {
        char text[80];
        int len = snprintf(text, sizeof text, "(%u more lines in one second were dropped)",
                           errors->dropped);
        log_line(voice, text, (size_t)len);
    }
    errors->second = second;
    errors->lines = 0;
    errors->dropped = 0;
}

static void end_error_line(ExecStderr *errors, const ExecVoice *voice)
{
    size_t len = errors->len;
    if (len > 0 && errors->line[len - 1] == '\r') {
        len--;
    }
    errors->len = 0;
    errors->cut = false;
    if (strspn(errors->line, " \t") < len) {
        char excerpt[EXEC_LAST_LINE + 1];
        size_t kept = len < EXEC_LAST_LINE ? len : EXEC_LAST_LINE;
        for (size_t i = 0; i < kept; i++) {
            unsigned char c = (unsigned char)errors->line[i];
            excerpt[i] = c < ' ' || c == 0x7f ? ' ' : (char)c;
        }
        while (kept > 0 && !utf8_valid(excerpt, kept)) {
            kept--; /* what is no text is left out from there on */
        }
        memcpy(errors->last, excerpt, kept);
        errors->last[kept] = 0;
    }
    if (errors->lines >= LINES_PER_SECOND) {
        errors->dropped++;
        return;
    }
    errors->lines++;
    log_line(voice, errors->line, len);
}

static void take_errors(ExecStderr *errors, const ExecVoice *voice, const char *bytes, size_t len)
{
    begin_second(errors, voice, clock_mono_ns(NULL) / 1000000000);
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] == '\n') {
            errors->line[errors->len] = 0;
            end_error_line(errors, voice);
        } else if (errors->len < sizeof errors->line - 1) {
            errors->line[errors->len++] = bytes[i];
        } else {
            errors->cut = true;
        }
    }
}

static void read_errors(ExecProcess *process, const ExecVoice *voice)
{
    char piece[PIECE];
    for (int i = 0; process->err >= 0 && i < ERROR_PIECES; i++) {
        ssize_t got = read(process->err, piece, sizeof piece);
        if (got > 0) {
            take_errors(&process->errors, voice, piece, (size_t)got);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            (void)close(process->err);
            process->err = -1;
        } else {
            return;
        }
    }
    process->errors.read_from_ns = clock_mono_ns(NULL) + SLICE_MS * UINT64_C(1000000);
}

int exec_process_error_fd(const ExecProcess *process, uint64_t now_ns)
{
    return now_ns >= process->errors.read_from_ns ? process->err : -1;
}

void exec_process_drain_errors(ExecProcess *process, const ExecVoice *voice)
{
    read_errors(process, voice);
    begin_second(&process->errors, voice, clock_mono_ns(NULL) / 1000000000);
}

/* ---- Talking
 * ----------------------------------------------------------------------------------- */

/* write() to a pipe whose reader may be gone, without the signal. */
static ssize_t write_quietly(int fd, const void *data, size_t len)
{
    sigset_t pipe_only;
    sigset_t before;
    sigset_t pending;
    const struct timespec now = {0, 0};
    (void)sigemptyset(&pipe_only);
    (void)sigaddset(&pipe_only, SIGPIPE);
    (void)sigpending(&pending);
    (void)pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    ssize_t put = write(fd, data, len);
    int error = errno;
    if (put < 0 && error == EPIPE && sigismember(&pending, SIGPIPE) == 0) {
        while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return put;
}

/* What is to be written, and how much of it was. */
typedef struct Request {
    const uint8_t *data;
    size_t len;
    size_t put;
    bool refused; /* the program does not read */
} Request;

static void write_request(const ExecProcess *process, Request *request)
{
    while (request->put < request->len && !request->refused) {
        ssize_t put =
            write_quietly(process->in, request->data + request->put, request->len - request->put);
        if (put > 0) {
            request->put += (size_t)put;
        } else if (errno == EAGAIN) {
            return;
        } else if (errno != EINTR) {
            request->refused = true;
        }
    }
}

/* A line that has been read. */
static bool find_line(ExecProcess *process, Slice *line_out)
{
    Buf *read = &process->read;
    const uint8_t *newline = read->len > process->scanned
                                 ? (const uint8_t *)memchr(read->data + process->scanned, '\n',
                                                           read->len - process->scanned)
                                 : NULL;
    if (newline == NULL) {
        process->scanned = read->len;
        return false;
    }
    *line_out = (Slice){read->data, (size_t)(newline - read->data)};
    return true;
}

/* The line that was returned last is gone. */
static void forget_line(ExecProcess *process)
{
    Buf *read = &process->read;
    Slice line;
    process->scanned = 0;
    if (find_line(process, &line)) {
        size_t taken = line.len + 1;
        memmove(read->data, read->data + taken, read->len - taken);
        buf_truncate(read, read->len - taken);
    }
    process->scanned = 0;
    if (read->len == 0 && read->cap > KEPT_BYTES) {
        buf_release(read);
    }
}

/* What is there to be read, up to the first line. SAP_FULL: a line is too long. SAP_NOTFOUND: it is
 * at its end. */
static int read_output(ExecProcess *process, Slice *line_out, bool *found_out)
{
    *found_out = find_line(process, line_out);
    while (!*found_out) {
        int rc = buf_reserve(&process->read, PIECE);
        if (rc != SAP_OK) {
            return rc;
        }
        ssize_t got = read(process->out, process->read.data + process->read.len, PIECE);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return got < 0 && errno == EAGAIN ? SAP_OK : SAP_NOTFOUND;
        }
        process->read.len += (size_t)got;
        *found_out = find_line(process, line_out);
        size_t len = *found_out ? line_out->len : process->read.len;
        if (len > EXEC_LINE_MOST) {
            *found_out = false;
            return SAP_FULL;
        }
    }
    return SAP_OK;
}

/* The bytes of the request that nobody has read are still in the pipe. */
static bool is_unread(const ExecProcess *process, const Request *request)
{
    int left = 0;
    return process->read.len == 0 && request->len > 0 && ioctl(process->in, FIONREAD, &left) == 0 &&
           (size_t)left == request->put;
}

/* Waits until something happens, and looks at the process's end last: what it wrote before
 * counts. */
static bool wait_for_news(ExecProcess *process, const Request *request, const ExecVoice *voice,
                          uint64_t left_ns)
{
    uint64_t left_ms = left_ns / 1000000 + 1;
    struct pollfd fds[4] = {
        {.fd = process->pidfd, .events = POLLIN},
        {.fd = process->out, .events = POLLIN},
        {.fd = exec_process_error_fd(process, clock_mono_ns(NULL)), .events = POLLIN},
        {.fd = request->put < request->len && !request->refused ? process->in : -1,
         .events = POLLOUT},
    };
    (void)poll(fds, 4, (int)(left_ms < SLICE_MS ? left_ms : SLICE_MS));
    if (fds[2].revents != 0) {
        read_errors(process, voice);
    }
    return (fds[0].revents & POLLIN) != 0;
}

ExecTalk exec_process_talk(ExecProcess *process, Slice request, const ExecWait *wait,
                           const ExecVoice *voice, Slice *line_out, bool *unread_out)
{
    Request sent = {(const uint8_t *)request.data, request.len, 0, false};
    bool ended = false;
    forget_line(process);
    for (;;) {
        bool found = false;
        uint64_t now_ns = clock_mono_ns(NULL);
        if (wait->cancelled(wait->ctx)) {
            return EXEC_TALK_CANCELLED;
        }
        write_request(process, &sent);
        int rc = read_output(process, line_out, &found);
        if (found) {
            return EXEC_TALK_LINE;
        }
        if (rc == SAP_FULL || rc == SAP_NOMEM) {
            return rc == SAP_FULL ? EXEC_TALK_TOO_LONG : EXEC_TALK_FAILED;
        }
        if (rc == SAP_NOTFOUND || ended) {
            if (unread_out != NULL) {
                *unread_out = is_unread(process, &sent);
            }
            return EXEC_TALK_ENDED;
        }
        if (now_ns >= wait->deadline_ns) {
            return EXEC_TALK_TIMEOUT;
        }
        ended = wait_for_news(process, &sent, voice, wait->deadline_ns - now_ns);
    }
}

bool exec_process_is_quiet(ExecProcess *process)
{
    struct pollfd fds[2] = {{.fd = process->pidfd, .events = POLLIN},
                            {.fd = process->out, .events = POLLIN}};
    forget_line(process);
    return process->in >= 0 && process->read.len == 0 && poll(fds, 2, 0) == 0;
}

/* ---- How it ended
 * ------------------------------------------------------------------------------ */

static bool says_memory(const char *line)
{
    return strstr(line, "MemoryError") != NULL || strstr(line, "bad_alloc") != NULL ||
           strstr(line, "Cannot allocate memory") != NULL ||
           strcasestr(line, "out of memory") != NULL;
}

void exec_process_explain_end(ExecProcess *process, const ExecVoice *voice, uint64_t max_memory,
                              ExecError *error)
{
    siginfo_t info = {0};
    struct pollfd fd = {.fd = process->pidfd, .events = POLLIN};
    (void)poll(&fd, 1, END_WAIT_MS);
    exec_process_drain_errors(process, voice);
    if (process->errors.len > 0) { /* a last line without its newline */
        take_errors(&process->errors, voice, "\n", 1);
    }
    const char *last = process->errors.last;
    if (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid == 0) {
        (void)exec_refuse(error, "closed its standard output and did not answer");
    } else if (info.si_code == CLD_EXITED && says_memory(last)) {
        (void)exec_refuse(error, "ran out of memory, of which it may have %llu MiB: %s",
                          (unsigned long long)(max_memory >> 20), last);
    } else if (info.si_code == CLD_EXITED) {
        (void)exec_refuse(error, "exited with status %d%s%s", info.si_status,
                          last[0] != 0 ? ": " : " and did not answer", last);
    } else {
        (void)exec_refuse(
            error, "was killed by signal %d (%s)%s%s%s", info.si_status, strsignal(info.si_status),
            info.si_status == SIGKILL ? ", perhaps since the machine ran out of memory" : "",
            last[0] != 0 ? ": " : "", last);
    }
}
