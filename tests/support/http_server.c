/* http_server.c - see http_server.h. */
#include "support/http_server.h"

#include "common/clock.h"
#include "support/expect.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HTTP_CONNECTIONS_MAX = 1024, HTTP_BACKLOG = 256 };

typedef struct HttpConnection {
    HttpServer *server;
    pthread_t thread;
    int fd;
} HttpConnection;

struct HttpServer {
    HttpScript script;
    void *ctx;
    int listener;
    uint16_t port;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t stop;
    bool stopping;
    uint32_t requests;
    uint32_t count;
    HttpConnection *connections[HTTP_CONNECTIONS_MAX];
};

bool http_send(int fd, const void *bytes, size_t len)
{
    const char *at = (const char *)bytes;
    while (len > 0) {
        ssize_t sent = send(fd, at, len, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
        at += sent;
        len -= (size_t)sent;
    }
    return true;
}

bool http_send_text(int fd, const char *text)
{
    return http_send(fd, text, strlen(text));
}

bool http_answer(int fd, int status, const char *headers, const char *body)
{
    char head[4096];
    int len = snprintf(head, sizeof head, "HTTP/1.1 %d Test\r\nContent-Length: %zu\r\n%s\r\n",
                       status, strlen(body), headers);
    EXPECT(len < (int)sizeof head, "too many headers");
    return http_send(fd, head, (size_t)len) && http_send_text(fd, body);
}

void http_reset(int fd)
{
    struct linger linger = {1, 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger);
}

bool http_header(const HttpRequest *request, const char *name, char *out, size_t size)
{
    size_t len = strlen(name);
    for (const char *at = strstr(request->head, "\r\n"); at != NULL; at = strstr(at, "\r\n")) {
        at += 2;
        if (strncasecmp(at, name, len) == 0 && at[len] == ':') {
            const char *value = at + len + 1;
            value += strspn(value, " ");
            (void)snprintf(out, size, "%.*s", (int)strcspn(value, "\r"), value);
            return true;
        }
    }
    return false;
}

bool http_server_pause(HttpServer *server, uint32_t ms)
{
    uint64_t until_ns = clock_mono_ns(NULL) + ms * UINT64_C(1000000);
    const struct timespec until = {(time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000)};
    pthread_mutex_lock(&server->lock);
    while (!server->stopping && clock_mono_ns(NULL) < until_ns) {
        (void)pthread_cond_timedwait(&server->stop, &server->lock, &until);
    }
    bool stopping = server->stopping;
    pthread_mutex_unlock(&server->lock);
    return !stopping;
}

/* ---- Connections ----------------------------------------------------------------------------- */

/* False: there is no further request. */
static bool read_request(int fd, HttpRequest *request)
{
    size_t len = 0;
    char *end = NULL;
    char length[32];
    while (end == NULL) {
        ssize_t got = recv(fd, request->head + len, 1, 0);
        if (got <= 0 || len + 2 > sizeof request->head) {
            return false;
        }
        request->head[++len] = '\0';
        end =
            len >= 4 && memcmp(request->head + len - 4, "\r\n\r\n", 4) == 0 ? request->head : NULL;
    }
    if (sscanf(request->head, "%15s %1023s", request->method, request->path) != 2) {
        return false;
    }
    request->body_len = 0;
    size_t wanted = http_header(request, "Content-Length", length, sizeof length)
                        ? (size_t)strtoul(length, NULL, 10)
                        : 0;
    EXPECT(wanted <= HTTP_BODY_MAX, "a request of %zu bytes", wanted);
    while (request->body_len < wanted) {
        ssize_t got = recv(fd, request->body + request->body_len, wanted - request->body_len, 0);
        if (got <= 0) {
            return false;
        }
        request->body_len += (size_t)got;
    }
    request->body[request->body_len] = '\0';
    return true;
}

static void *serve_connection(void *arg)
{
    HttpConnection *connection = (HttpConnection *)arg;
    HttpServer *server = connection->server;
    HttpRequest *request = (HttpRequest *)malloc(sizeof *request);
    EXPECT(request != NULL, "no memory");
    bool open = true;
    while (open && read_request(connection->fd, request)) {
        pthread_mutex_lock(&server->lock);
        server->requests++;
        pthread_mutex_unlock(&server->lock);
        open = server->script(server, connection->fd, request, server->ctx);
    }
    free(request);
    pthread_mutex_lock(&server->lock);
    (void)close(connection->fd);
    connection->fd = -1;
    pthread_mutex_unlock(&server->lock);
    return NULL;
}

static void *accept_connections(void *arg)
{
    HttpServer *server = (HttpServer *)arg;
    int fd;
    while ((fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        HttpConnection *connection = (HttpConnection *)malloc(sizeof *connection);
        EXPECT(connection != NULL && server->count < HTTP_CONNECTIONS_MAX, "too many connections");
        *connection = (HttpConnection){.server = server, .fd = fd};
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        pthread_mutex_lock(&server->lock);
        server->connections[server->count++] = connection;
        EXPECT(pthread_create(&connection->thread, NULL, serve_connection, connection) == 0,
               "no thread");
        pthread_mutex_unlock(&server->lock);
    }
    return NULL;
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

static bool listen_on(HttpServer *server, const char *address)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
    bool known = is_v4 || inet_pton(AF_INET6, address, &v6.sin6_addr) == 1;
    struct sockaddr *at = is_v4 ? (struct sockaddr *)&v4 : (struct sockaddr *)&v6;
    socklen_t len = is_v4 ? sizeof v4 : sizeof v6;
    EXPECT(known, "not an address: %s", address);
    server->listener = socket(at->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (server->listener < 0 || bind(server->listener, at, len) != 0 ||
        listen(server->listener, HTTP_BACKLOG) != 0 ||
        getsockname(server->listener, at, &len) != 0) {
        return false;
    }
    server->port = ntohs(is_v4 ? v4.sin_port : v6.sin6_port);
    return true;
}

HttpServer *http_server_start(const char *address, HttpScript script, void *ctx)
{
    HttpServer *server = (HttpServer *)calloc(1, sizeof *server);
    EXPECT(server != NULL, "no memory");
    server->script = script;
    server->ctx = ctx;
    if (!listen_on(server, address)) {
        if (server->listener >= 0) {
            (void)close(server->listener);
        }
        free(server);
        return NULL;
    }
    pthread_condattr_t monotonic;
    EXPECT(pthread_mutex_init(&server->lock, NULL) == 0 && pthread_condattr_init(&monotonic) == 0 &&
               pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&server->stop, &monotonic) == 0,
           "no lock");
    (void)pthread_condattr_destroy(&monotonic);
    EXPECT(pthread_create(&server->thread, NULL, accept_connections, server) == 0, "no thread");
    return server;
}

void http_server_stop(HttpServer *server)
{
    if (server == NULL) {
        return;
    }
    (void)shutdown(server->listener, SHUT_RDWR);
    (void)pthread_join(server->thread, NULL);
    pthread_mutex_lock(&server->lock);
    server->stopping = true;
    pthread_cond_broadcast(&server->stop);
    for (uint32_t i = 0; i < server->count; i++) {
        if (server->connections[i]->fd >= 0) {
            (void)shutdown(server->connections[i]->fd, SHUT_RDWR);
        }
    }
    pthread_mutex_unlock(&server->lock);
    for (uint32_t i = 0; i < server->count; i++) {
        (void)pthread_join(server->connections[i]->thread, NULL);
        free(server->connections[i]);
    }
    (void)close(server->listener);
    pthread_cond_destroy(&server->stop);
    pthread_mutex_destroy(&server->lock);
    free(server);
}

uint16_t http_server_port(const HttpServer *server)
{
    return server->port;
}

uint32_t http_server_requests(HttpServer *server)
{
    pthread_mutex_lock(&server->lock);
    uint32_t requests = server->requests;
    pthread_mutex_unlock(&server->lock);
    return requests;
}

uint32_t http_server_connections(HttpServer *server)
{
    pthread_mutex_lock(&server->lock);
    uint32_t count = server->count;
    pthread_mutex_unlock(&server->lock);
    return count;
}
