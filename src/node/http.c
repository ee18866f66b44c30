/* http.c - see http.h. */
#include "node/http.h"

#include <errno.h>
#include <grp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fd.h"
#include "common/mem.h"
#include "node/api_messages.h"
#include "node/http_conn.h"
#include "node/http_pool.h"
#include "node/http_wait.h"
#include "universe/callers.h"

#define MS_NS UINT64_C(1000000)

enum {
    BACKLOG = 1024,
    STOP_GRACE_MS = 1000,
    STOP_LOOK_MS = 2,
    DESCRIPTORS_MOST = 1 << 16, /* that the limit is raised to */
    CONNECTIONS_FEWEST = 16,
    SOCKET_CONNECTIONS_MOST = 1024, /* reserved for the unix socket */
};

struct Http {
    HttpShared shared;
    Listener *tcp; /* NULL: the socket only */
    Listener *local;
    char *socket_path;
    bool has_rates;
};

/* ---- Addresses ------------------------------------------------------------------------------- */

/* Splits ADDRESS:PORT, where an IPv6 address stands in brackets. */
static bool split_address(const char *listen, char host[64], char port[8])
{
    const char *colon = strrchr(listen, ':');
    size_t len = colon == NULL ? 0 : (size_t)(colon - listen);
    if (colon == NULL || len == 0 || len >= 64 || strlen(colon + 1) == 0 ||
        strlen(colon + 1) >= 8 || strspn(colon + 1, "0123456789") != strlen(colon + 1) ||
        strtoul(colon + 1, NULL, 10) > UINT16_MAX) {
        return false;
    }
    bool bracket = listen[0] == '[' && colon[-1] == ']';
    (void)snprintf(host, 64, "%.*s", (int)(bracket ? len - 2 : len), listen + bracket);
    (void)snprintf(port, 8, "%s", colon + 1);
    return true;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)address;
        return *(const uint8_t *)&in->sin_addr ==
               127; /* 127.0.0.0/8, most significant byte first */
    }
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)address;
    return address->sa_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
}

/* What it is bound to, as text. */
static void name_address(int fd, char *out, size_t size)
{
    struct sockaddr_storage address;
    char host[64] = "";
    char port[8] = "";
    socklen_t len = sizeof address;
    out[0] = 0;
    if (getsockname(fd, (struct sockaddr *)(void *)&address, &len) == 0 &&
        getnameinfo((struct sockaddr *)(void *)&address, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0) {
        (void)snprintf(out, size, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
    }
}

static int bind_tcp(const struct addrinfo *info, const char *listen_text, int *fd_out,
                    char *message, size_t size)
{
    int on = 1;
    int fd = fd_raise(socket(info->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0) {
        (void)snprintf(message, size, "%s: no socket: %s", listen_text, strerror(errno));
        return SAP_IO;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, info->ai_addr, info->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0) {
        *fd_out = fd;
        return SAP_OK;
    }
    int error = errno;
    (void)close(fd);
    if (error == EADDRINUSE) {
        (void)snprintf(message, size,
                       "%s is in use by another program: stop that, or choose another port with "
                       "--listen",
                       listen_text);
        return SAP_BUSY;
    }
    (void)snprintf(message, size, "%s: cannot listen: %s", listen_text, strerror(error));
    return SAP_IO;
}

static int listen_tcp(const char *text, int *fd_out, char *message, size_t size)
{
    char host[64];
    char port[8];
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *info = NULL;
    if (!split_address(text, host, port) || getaddrinfo(host, port, &hints, &info) != 0) {
        (void)snprintf(message, size,
                       "%s is no address to listen on: give ADDRESS:PORT, such as "
                       "127.0.0.1:7227",
                       text);
        return SAP_INVALID;
    }
    int rc = SAP_INVALID;
    if (is_loopback(info->ai_addr)) {
        rc = bind_tcp(info, text, fd_out, message, size);
    } else {
        (void)snprintf(message, size,
                       "%s can be reached by others, and nothing would be encrypted: listen on "
                       "127.0.0.1, and put a proxy with TLS before it",
                       text);
    }
    freeaddrinfo(info);
    return rc;
}

/* ---- The socket ------------------------------------------------------------------------------ */

static int find_group(const char *name, long *group_out, char *message, size_t size)
{
    *group_out = -1;
    if (name == NULL) {
        return SAP_OK;
    }
    struct group group;
    struct group *found = NULL;
    char room[16384];
    if (getgrnam_r(name, &group, room, sizeof room, &found) != 0 || found == NULL) {
        (void)snprintf(message, size, "there is no group \"%s\" on this machine", name);
        return SAP_INVALID;
    }
    *group_out = (long)found->gr_gid;
    return SAP_OK;
}

/* Its permissions are set before anybody can connect. */
static bool open_socket(int fd, const struct sockaddr_un *address, long group)
{
    const char *path = address->sun_path;
    (void)unlink(path); /* of a node that is dead: the directory belongs to one node at a time */
    return bind(fd, (const struct sockaddr *)(const void *)address, sizeof *address) == 0 &&
           (group < 0 || chown(path, (uid_t)-1, (gid_t)group) == 0) &&
           chmod(path, group < 0 ? 0600 : 0660) == 0 && listen(fd, BACKLOG) == 0;
}

static int listen_local(const char *path, long group, int *fd_out, char *message, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        (void)snprintf(message, size,
                       "%s is too long for a socket: %zu bytes at most; choose a shorter data "
                       "directory with --data",
                       path, sizeof address.sun_path - 1);
        return SAP_INVALID;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    int fd = fd_raise(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (fd < 0 || !open_socket(fd, &address, group)) {
        (void)snprintf(message, size, "%s: cannot listen: %s", path, strerror(errno));
        if (fd >= 0) {
            (void)close(fd);
        }
        return SAP_IO;
    }
    *fd_out = fd;
    return SAP_OK;
}

/* ---- Starting -------------------------------------------------------------------------------- */

static void set_deadlines(HttpDeadlines *out, const HttpDeadlines *given)
{
    *out = *given;
    out->headers_ms = out->headers_ms == 0 ? 10000 : out->headers_ms;
    out->idle_ms = out->idle_ms == 0 ? 75000 : out->idle_ms;
    out->body_ms = out->body_ms == 0 ? 30000 : out->body_ms;
    out->answer_ms = out->answer_ms == 0 ? 60000 : out->answer_ms;
}

/* How many connections the limit of descriptors allows: half of them, over TCP and the socket. */
static void share_connections(uint32_t wanted, uint32_t *tcp_out, uint32_t *local_out)
{
    struct rlimit limit;
    uint32_t all = 1024;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        rlim_t most = limit.rlim_max < DESCRIPTORS_MOST ? limit.rlim_max : DESCRIPTORS_MOST;
        if (limit.rlim_cur < most) {
            limit.rlim_cur = most;
            (void)setrlimit(RLIMIT_NOFILE, &limit);
            (void)getrlimit(RLIMIT_NOFILE, &limit);
        }
        all = limit.rlim_cur < DESCRIPTORS_MOST ? (uint32_t)limit.rlim_cur : DESCRIPTORS_MOST;
    }
    uint32_t share = all / 2 < CONNECTIONS_FEWEST ? CONNECTIONS_FEWEST : all / 2;
    *local_out = share / 4 < SOCKET_CONNECTIONS_MOST ? share / 4 : SOCKET_CONNECTIONS_MOST;
    *tcp_out = share - *local_out;
    *tcp_out = wanted != 0 && wanted < *tcp_out ? wanted : *tcp_out;
}

static int start_rates(Http *http, uint32_t per_s)
{
    int rc = rates_init(&http->shared.rates, per_s);
    http->has_rates = rc == SAP_OK;
    return rc;
}

static int start_parts(Http *http)
{
    Api *api = &http->shared.api;
    RowKey replies;
    RowKey results;
    callers_replies(api->universe, &replies);
    callers_results(api->universe, &results);
    int rc = http_meters_init(&http->shared.meters, api->options.metrics);
    rc = rc == SAP_OK ? pool_start(&api->pool) : rc;
    rc = rc == SAP_OK ? waits_start(api->universe, &replies, api_message_look, &api->replies) : rc;
    rc = rc == SAP_OK ? waits_start(api->universe, &results, api_result_look, &api->results) : rc;
    return rc == SAP_OK ? peers_start(http->shared.meters.cut, &http->shared.peers) : rc;
}

static int start_listeners(Http *http, char *message, size_t size)
{
    const HttpOptions *options = &http->shared.api.options;
    uint32_t tcp_most = 0;
    uint32_t local_most = 0;
    int fd = -1;
    share_connections(options->max_connections, &tcp_most, &local_most);
    int rc = listen_local(http->socket_path, http->shared.socket_group, &fd, message, size);
    rc = rc == SAP_OK ? listener_start(&http->shared, fd, true, local_most, &http->local) : rc;
    if (rc != SAP_OK || options->listen == NULL) {
        return rc;
    }
    rc = listen_tcp(options->listen, &fd, message, size);
    if (rc != SAP_OK) {
        return rc;
    }
    name_address(fd, http->shared.api.address, sizeof http->shared.api.address);
    return listener_start(&http->shared, fd, false, tcp_most, &http->tcp);
}

int http_start(const HttpOptions *options, Http **http_out, char *message, size_t message_size)
{
    Http *http = (Http *)mem_zalloc(MEM_COMMON, sizeof *http);
    size_t path_size = strlen(options->data) + sizeof "/node.sock";
    message[0] = 0;
    if (http == NULL) {
        (void)snprintf(message, message_size, "out of memory");
        return SAP_NOMEM;
    }
    http->shared.api.options = *options;
    http->shared.api.universe = options->universe;
    set_deadlines(&http->shared.deadlines, &options->deadlines);
    http->socket_path = (char *)malloc(path_size);
    int rc = http->socket_path == NULL ? SAP_NOMEM : SAP_OK;
    if (rc == SAP_OK) {
        (void)snprintf(http->socket_path, path_size, "%s/node.sock", options->data);
        rc = find_group(options->socket_group, &http->shared.socket_group, message, message_size);
    }
    rc = rc == SAP_OK ? start_rates(http, options->max_per_s) : rc;
    rc = rc == SAP_OK ? tokens_open(options->data, &http->shared.api.tokens, message, message_size)
                      : rc;
    rc = rc == SAP_OK ? start_parts(http) : rc;
    rc = rc == SAP_OK ? start_listeners(http, message, message_size) : rc;
    if (rc != SAP_OK) {
        if (message[0] == 0) {
            (void)snprintf(message, message_size, "the HTTP server cannot start: %s",
                           sap_strerror(rc));
        }
        http_stop(http);
        return rc;
    }
    *http_out = http;
    return SAP_OK;
}

const char *http_address(const Http *http)
{
    return http->shared.api.address;
}

/* ---- Stopping -------------------------------------------------------------------------------- */

/* Until the answers have been taken, or for a second. */
static void await_answers(const Http *http)
{
    uint64_t start_ns = clock_mono_ns(NULL);
    const struct timespec pause = {.tv_nsec = (long)(STOP_LOOK_MS * MS_NS)};
    while (atomic_load_full(&http->shared.active) > 0 &&
           clock_mono_ns(NULL) - start_ns < STOP_GRACE_MS * MS_NS) {
        (void)nanosleep(&pause, NULL);
    }
}

void http_stop(Http *http)
{
    if (http == NULL) {
        return;
    }
    Api *api = &http->shared.api;
    atomic_store_full(&http->shared.stopping, true);
    listener_quiesce(http->tcp);
    listener_quiesce(http->local);
    if (http->local != NULL) {
        (void)unlink(http->socket_path);
    }
    waits_stop(api->replies);
    waits_stop(api->results);
    pool_stop(api->pool); /* nothing is suspended from here on */
    await_answers(http);
    listener_stop(http->tcp);
    listener_stop(http->local);
    SAP_ASSERT(atomic_load_full(&http->shared.active) == 0);
    peers_stop(http->shared.peers);
    waits_free(api->replies);
    waits_free(api->results);
    pool_free(api->pool);
    tokens_close(api->tokens);
    if (http->has_rates) {
        rates_release(&http->shared.rates);
    }
    free(http->socket_path);
    mem_free(MEM_COMMON, http, sizeof *http);
}
