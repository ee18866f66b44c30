/* http_server.h - an HTTP server for tests, as good or as bad as its script says.
 *
 * Each connection has a thread, which reads requests and calls the script for each. The script
 * writes what it likes to the socket. It must return soon after http_server_pause() has returned
 * false. */
#ifndef SAPLING_TESTS_HTTP_SERVER_H
#define SAPLING_TESTS_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct HttpServer HttpServer;

enum { HTTP_HEAD_MAX = 16384, HTTP_BODY_MAX = 65536 };

typedef struct HttpRequest {
    char head[HTTP_HEAD_MAX]; /* with a NUL */
    char method[16];
    char path[1024];
    char body[HTTP_BODY_MAX + 1];
    size_t body_len;
} HttpRequest;

/* False: the connection is closed. */
typedef bool (*HttpScript)(HttpServer *server, int fd, const HttpRequest *request, void *ctx);

/* Listens on a free port of `address`, such as 127.0.0.1 or ::1. NULL: the machine does not have
 * it. */
HttpServer *http_server_start(const char *address, HttpScript script, void *ctx);
/* Ends all connections. */
void http_server_stop(HttpServer *server);

uint16_t http_server_port(const HttpServer *server);
/* Requests that the script was called for, and connections. */
uint32_t http_server_requests(HttpServer *server);
uint32_t http_server_connections(HttpServer *server);

/* False: the other side is gone. */
bool http_send(int fd, const void *bytes, size_t len);
bool http_send_text(int fd, const char *text);
/* A whole answer with its length; `headers` are lines with line ends. */
bool http_answer(int fd, int status, const char *headers, const char *body);
/* The connection ends with a reset. */
void http_reset(int fd);
/* Waits; false: the server is to stop. */
bool http_server_pause(HttpServer *server, uint32_t ms);

/* The value of a header of the request, cut at the size; false: it has none. */
bool http_header(const HttpRequest *request, const char *name, char *out, size_t size);

#endif
