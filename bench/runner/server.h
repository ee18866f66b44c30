/* server.h - a server that a benchmark starts and stops, and a connection to it.
 *
 * The server runs in the working directory, listens on a socket in it, and ends with whoever
 * started it, however that ends. Calls answer 0, or -1 after a message on stderr. */
#ifndef RUNNER_SERVER_H
#define RUNNER_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SERVER_SOCKET "socket" /* in the working directory */

/* What it prints goes to the file server.log. Returns when it accepts connections. The thread that
 * calls must outlive the server. */
int server_start(const char *const *argv, pid_t *pid_out);
int server_stop(pid_t pid);

enum { LINK_BUFFER = 1 << 16 };

/* One connection: requests are collected until flush, answers are read as they come. */
typedef struct Link {
    int fd;
    char out[LINK_BUFFER];
    size_t out_len;
    char in[LINK_BUFFER];
    size_t in_at, in_len; /* what is read and not yet used */
} Link;

int link_open(Link *link);
void link_close(Link *link);
/* Adds to the request. */
int link_add(Link *link, const void *bytes, size_t len);
int link_addf(Link *link, const char *format, ...) __attribute__((format(printf, 2, 3)));
int link_flush(Link *link);
/* A line of the answer, without its end, as a string. */
int link_line(Link *link, char *line, size_t size);
/* Exactly len bytes; into NULL: nowhere. */
int link_bytes(Link *link, void *bytes, size_t len);
/* Says that the server answered something else than expected. -1. */
int link_unexpected(const char *command, const char *answer);

#endif
