/* server.c - fork and exec, a socket in the file system, and its bytes. */
#include "server.h"

#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { START_MS = 10000, STOP_MS = 10000, POLL_MS = 5 };

static int try_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SERVER_SOCKET};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* ---- The server ----------------------------------------------------------------------------- */

static void run_server(const char *const *argv, pid_t parent)
{
    int log = open("server.log", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 ||
        dup2(log, 2) < 0)
        _exit(126);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    fprintf(stderr, "%s: %s\n", argv[0], strerror(errno));
    _exit(127);
}

/* What the server said, for whoever wonders why it does not run. */
static void print_log(void)
{
    char line[256];
    FILE *log = fopen("server.log", "r");
    while (log && fgets(line, sizeof line, log))
        fprintf(stderr, "  %s", line);
    if (log)
        fclose(log);
}

int server_start(const char *const *argv, pid_t *pid_out)
{
    unlink(SERVER_SOCKET); /* of a server before it */
    pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
        perror("bench: fork");
        return -1;
    }
    if (pid == 0)
        run_server(argv, parent);
    for (int ms = 0; ms < START_MS && waitpid(pid, NULL, WNOHANG) == 0; ms += POLL_MS) {
        int fd = try_connect();
        if (fd >= 0) {
            close(fd);
            *pid_out = pid;
            return 0;
        }
        bench_sleep_us(POLL_MS * 1000);
    }
    fprintf(stderr, "bench: %s does not run; it said:\n", argv[0]);
    print_log();
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -1;
}

int server_stop(pid_t pid)
{
    kill(pid, SIGTERM);
    for (int ms = 0; ms < STOP_MS; ms += POLL_MS) {
        if (waitpid(pid, NULL, WNOHANG) != 0)
            return 0;
        bench_sleep_us(POLL_MS * 1000);
    }
    fprintf(stderr, "bench: the server does not end\n");
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return -1;
}

/* ---- Connections ---------------------------------------------------------------------------- */

int link_open(Link *link)
{
    link->out_len = link->in_at = link->in_len = 0;
    link->fd = try_connect();
    if (link->fd < 0)
        perror("bench: connect");
    return link->fd < 0 ? -1 : 0;
}

void link_close(Link *link)
{
    close(link->fd);
}

int link_flush(Link *link)
{
    for (size_t at = 0; at < link->out_len;) {
        ssize_t n = send(link->fd, link->out + at, link->out_len - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR) {
            perror("bench: send");
            return -1;
        }
        at += n > 0 ? (size_t)n : 0;
    }
    link->out_len = 0;
    return 0;
}

int link_add(Link *link, const void *bytes, size_t len)
{
    if (len > sizeof link->out - link->out_len) {
        fprintf(stderr, "bench: a request of more than %d bytes\n", LINK_BUFFER);
        return -1;
    }
    memcpy(link->out + link->out_len, bytes, len);
    link->out_len += len;
    return 0;
}

int link_addf(Link *link, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return len < 0 || (size_t)len >= sizeof text ? -1 : link_add(link, text, (size_t)len);
}

/* Reads more, when all before is used. */
static int fill(Link *link)
{
    ssize_t n;
    do
        n = recv(link->fd, link->in, sizeof link->in, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        fprintf(stderr, "bench: the server closed the connection\n");
        return -1;
    }
    link->in_at = 0;
    link->in_len = (size_t)n;
    return 0;
}

int link_line(Link *link, char *line, size_t size)
{
    for (size_t len = 0; len < size;) {
        if (link->in_at == link->in_len && fill(link) != 0)
            return -1;
        char c = link->in[link->in_at++];
        if (c == '\n') {
            line[len] = '\0';
            return 0;
        }
        if (c != '\r')
            line[len++] = c;
    }
    fprintf(stderr, "bench: the server answers with a long line\n");
    return -1;
}

int link_bytes(Link *link, void *bytes, size_t len)
{
    for (size_t at = 0; at < len;) {
        if (link->in_at == link->in_len && fill(link) != 0)
            return -1;
        size_t n = link->in_len - link->in_at < len - at ? link->in_len - link->in_at : len - at;
        if (bytes)
            memcpy((char *)bytes + at, link->in + link->in_at, n);
        link->in_at += n;
        at += n;
    }
    return 0;
}

int link_unexpected(const char *command, const char *answer)
{
    fprintf(stderr, "bench: the server answers to %s: %s\n", command, answer);
    return -1;
}
