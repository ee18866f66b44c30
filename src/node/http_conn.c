/* http_conn.c - see http_conn.h.
 *
 * The life of a request:
 *
 *   start_request()   its first line is there
 *   begin_request()   its headers are there: the guard decides
 *   take_body()       each piece of the body
 *   run_request()     all is there: the call is given to a thread, and the connection suspended
 *   finish_request()  by that thread: resumed
 *   send_answer()     the answer is queued
 *   end_request()     it has been taken, or the connection has ended
 *
 * A request that was refused by its headers is answered when its body has come, if that is short; a client that is
 * still sending does not read. Otherwise it is answered at once, and the connection ends. */
#include "node/http_conn.h"

#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/random.h"
#include "node/api_messages.h"
#include "node/api_once.h"
#include "node/api_routes.h"
#include "node/http_guard.h"
#include "node/http_pool.h"
#include "node/http_wait.h"

enum {
    HEADERS_MOST = 32 << 10, /* bytes of a connection's buffer: first line and headers */
    BODY_IGNORED_MOST = 64 << 10,
    BYTES_PER_PERIOD = 4 << 20, /* for which a deadline is extended by itself */
};

struct Listener {
    HttpShared *shared;
    struct MHD_Daemon *daemon;
    bool is_socket;
    int quiet_fd; /* the socket that listened; -1: it still does */
};

typedef struct Request {
    Call call; /* first: a call is its request */
    Listener *listener;
    struct MHD_Connection *connection;
    Peer *peer; /* NULL: no memory for it */
    char *path; /* then the query, each with a NUL */
    const char *query;
    uint64_t ignored; /* bytes of the body of a request that was refused */
    bool begun;
    bool answered; /* the answer is queued */
} Request;

static Peer *peer_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : (Peer *)info->socket_context;
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
    return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

/* ---- Start and end --------------------------------------------------------------------------- */

static bool make_request_id(Call *call)
{
    uint64_t id = 0;
    if (random_fill(NULL, &id, sizeof id) != SAP_OK) {
        return false;
    }
    (void)snprintf(call->request_id, sizeof call->request_id, "%016llx", (unsigned long long)id);
    return true;
}

/* NULL: no memory, and the connection ends. */
static void *start_request(void *cls, const char *uri, struct MHD_Connection *connection)
{
    Listener *listener = (Listener *)cls;
    Request *request = (Request *)mem_zalloc(MEM_COMMON, sizeof *request);
    if (request == NULL) {
        return NULL;
    }
    call_init(&request->call, &listener->shared->api);
    request->listener = listener;
    request->connection = connection;
    request->peer = peer_of(connection);
    request->path = strdup(uri);
    if (request->path == NULL || request->peer == NULL || !make_request_id(&request->call)) {
        free(request->path);
        mem_free(MEM_COMMON, request, sizeof *request);
        return NULL;
    }
    size_t len = strcspn(request->path, "?");
    request->query = request->path + len + (request->path[len] == '?');
    request->path[len] = 0;
    (void)atomic_add_full(&listener->shared->active, 1);
    http_meters_active(&listener->shared->meters, 1);
    return request;
}

static void log_request(const Request *request, uint64_t took_ns)
{
    const Call *call = &request->call;
    LogLevel level = call->status >= 500                 ? LOG_LEVEL_WARN
                     : call->status == 0                 ? LOG_LEVEL_DEBUG
                     : call->route == NULL               ? LOG_LEVEL_DEBUG
                     : call->route->scope == SCOPE_ADMIN ? LOG_LEVEL_INFO
                                                         : LOG_LEVEL_DEBUG;
    LOG_EVENT(call->api->options.log, level, "http.request", LOG_STR("id", call->request_id),
              LOG_STR("method", call->route == NULL ? "" : call->route->method),
              LOG_STR("route", call->route == NULL ? "" : call->route->path),
              LOG_STR("name", call->arg), LOG_STR("caller", call->caller.id),
              LOG_U64("status", call->status),
              LOG_STR("code", call->status >= 400 && call->content_type != NULL
                                  ? api_error_code(call->error)
                                  : ""),
              LOG_U64("us", took_ns / 1000));
}

static void end_request(void *cls, struct MHD_Connection *connection, void **con_cls,
                        enum MHD_RequestTerminationCode why)
{
    Listener *listener = (Listener *)cls;
    Request *request = (Request *)*con_cls;
    (void)connection;
    (void)why;
    if (request == NULL) {
        return;
    }
    *con_cls = NULL;
    peers_allow(request->peer, listener->shared->deadlines.idle_ms);
    free(request->path);
    call_release(&request->call);
    mem_free(MEM_COMMON, request, sizeof *request);
    http_meters_active(&listener->shared->meters, -1);
    (void)atomic_add_full(&listener->shared->active, UINT32_MAX); /* less 1 */
}

/* ---- The answer ------------------------------------------------------------------------------ */

static bool add_headers(struct MHD_Response *response, const Call *call, bool stopping)
{
    char number[16];
    bool added = MHD_add_response_header(response, "X-Request-Id", call->request_id) == MHD_YES &&
                 MHD_add_response_header(response, "Cache-Control", "no-store") == MHD_YES &&
                 MHD_add_response_header(response, "X-Content-Type-Options", "nosniff") == MHD_YES;
    if (added && call->content_type != NULL) {
        added = MHD_add_response_header(response, "Content-Type", call->content_type) == MHD_YES;
    }
    if (added && call->retry_after_s > 0) {
        (void)snprintf(number, sizeof number, "%u", call->retry_after_s);
        added = MHD_add_response_header(response, "Retry-After", number) == MHD_YES;
    }
    if (added && call->allow != NULL) {
        added = MHD_add_response_header(response, "Allow", call->allow) == MHD_YES;
    }
    if (added && call->status == api_error_status(API_NEEDS_TOKEN)) {
        added = MHD_add_response_header(response, "WWW-Authenticate", "Bearer") == MHD_YES;
    }
    if (added && (call->close || stopping)) {
        added = MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    }
    return added;
}

static enum MHD_Result send_answer(Request *request)
{
    Call *call = &request->call;
    HttpShared *shared = request->listener->shared;
    SAP_ASSERT(call->status != 0 && !request->answered);
    request->answered = true;
    uint64_t took_ns = clock_mono_ns(NULL) - call->start_ns;
    http_meters_count(&shared->meters, call->route, call->status, took_ns);
    log_request(request, took_ns);
    uint64_t periods = 1 + call->text.len / BYTES_PER_PERIOD;
    peers_allow(request->peer, shared->deadlines.answer_ms * periods);
    struct MHD_Response *response = MHD_create_response_from_buffer(
        call->text.len, call->text.data == NULL ? (void *)"" : (void *)call->text.data,
        MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        return MHD_NO;
    }
    enum MHD_Result queued = MHD_NO;
    if (add_headers(response, call, atomic_load_full(&shared->stopping))) {
        queued = MHD_queue_response(request->connection, call->status, response);
    }
    MHD_destroy_response(response);
    return queued;
}

/* ---- Running --------------------------------------------------------------------------------- */

static void finish_request(Call *call)
{
    Request *request = (Request *)call;
    SAP_ASSERT(call->status != 0);
    MHD_resume_connection(request->connection); /* the request may be gone from here on */
}

static bool body_is_allowed(Request *request)
{
    Call *call = &request->call;
    GuardHeaders headers = {.content_type = header_of(request->connection, "Content-Type")};
    return call->body.len == 0 || guard_content_type(call, &headers);
}

static enum MHD_Result run_request(Request *request)
{
    Call *call = &request->call;
    HttpShared *shared = request->listener->shared;
    if (call->status == 0 && body_is_allowed(request) && (call->route->flags & ROUTE_INLINE) != 0) {
        call->route->run(call);
    }
    if (call->status != 0) {
        return send_answer(request);
    }
    bool once = (call->route->flags & ROUTE_ONCE) != 0;
    bool send = (call->route->flags & ROUTE_SEND) != 0 && call->body.len <= API_SEND_LONG;
    bool query = (call->route->flags & ROUTE_QUERY) != 0;
    call->run = once ? api_run_once : call->route->run;
    call->finish = finish_request;
    peers_allow(request->peer, 0);
    MHD_suspend_connection(request->connection);
    PoolQueue queue = send ? POOL_SENDS : query ? POOL_QUERIES : POOL_CALLS;
    if (!pool_give(shared->api.pool, queue, call)) {
        finish_request(call);
    }
    return MHD_YES;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static size_t body_most(const Call *call)
{
    return call->route != NULL && (call->route->flags & ROUTE_PAYLOAD) != 0
               ? (size_t)API_BODY_MOST
               : (size_t)API_PLAIN_BODY_MOST;
}

static bool fail_too_large(Call *call, size_t most)
{
    call->close = true;
    return call_fail_detail(
        call, API_TOO_LARGE, json_pack("{s:I}", "limit", (json_int_t)most),
        "the body is longer than %zu bytes: keep large data outside, and send its "
        "name",
        most);
}

/* The length that the headers announce; UINT64_MAX: it comes in pieces. */
static uint64_t announced_length(struct MHD_Connection *connection)
{
    const char *length = header_of(connection, "Content-Length");
    if (header_of(connection, "Transfer-Encoding") != NULL) {
        return UINT64_MAX;
    }
    return length == NULL ? 0 : strtoull(length, NULL, 10);
}

static bool check_rate(Request *request)
{
    Call *call = &request->call;
    return call->caller.socket || !call->caller.known ||
           rates_take(&request->listener->shared->rates, call->caller.id, call->start_ns) ||
           call_fail(
               call, API_BUSY,
               "this token makes more than %u requests a second: wait a second, or send fewer",
               call->api->options.max_per_s);
}

/* Decides by the headers. */
static void check_request(Request *request, const char *method, uint64_t length)
{
    Call *call = &request->call;
    struct MHD_Connection *connection = request->connection;
    GuardHeaders headers = {
        .host = header_of(connection, "Host"),
        .origin = header_of(connection, "Origin"),
        .authorization = header_of(connection, "Authorization"),
        .key = header_of(connection, "Idempotency-Key"),
        .trace_parent = header_of(connection, "traceparent"),
    };
    if (!guard_request(call, &request->peer->caller, method, request->path, &headers)) {
        return;
    }
    if (atomic_load_full(&request->listener->shared->stopping)) {
        (void)call_fail(call, API_STOPPING, "the node is stopping: try again when it is back");
        return;
    }
    if (!check_rate(request) || !call_read_query(call, request->query)) {
        return;
    }
    size_t most = body_most(call);
    if (length != UINT64_MAX && length > most) {
        (void)fail_too_large(call, most);
    }
}

static enum MHD_Result begin_request(Request *request, const char *method)
{
    Call *call = &request->call;
    const HttpDeadlines *deadlines = &request->listener->shared->deadlines;
    uint64_t length = announced_length(request->connection);
    request->begun = true;
    call->start_ns = clock_mono_ns(NULL);
    check_request(request, method, length);
    if (call->status != 0 &&
        (length > BODY_IGNORED_MOST || header_of(request->connection, "Expect") != NULL)) {
        call->close = true;
        return send_answer(request);
    }
    uint64_t periods = length == UINT64_MAX ? 1 : 1 + length / BYTES_PER_PERIOD;
    peers_allow(request->peer, deadlines->body_ms * periods);
    return MHD_YES;
}

/* MHD_NO: the client sends more than it announced to nobody's use; the connection ends. */
static enum MHD_Result take_body(Request *request, const char *data, size_t *size)
{
    Call *call = &request->call;
    size_t len = *size;
    size_t most = body_most(call);
    *size = 0;
    if (call->status == 0 && call->body.len + len > most) {
        (void)fail_too_large(call, most);
        buf_release(&call->body);
    } else if (call->status == 0 && buf_append(&call->body, data, len) != SAP_OK) {
        (void)call_fail_code(call, SAP_NOMEM, "body");
    }
    request->ignored += call->status != 0 ? len : 0;
    return request->ignored > BODY_IGNORED_MOST + most ? MHD_NO : MHD_YES;
}

static enum MHD_Result handle_request(void *cls, struct MHD_Connection *connection, const char *url,
                                      const char *method, const char *version, const char *data,
                                      size_t *size, void **con_cls)
{
    Request *request = (Request *)*con_cls;
    (void)cls;
    (void)connection;
    (void)url;
    (void)version;
    if (request == NULL || request->answered) {
        return MHD_NO;
    }
    if (!request->begun) {
        return begin_request(request, method);
    }
    if (*size > 0) {
        return take_body(request, data, size);
    }
    return request->call.finish != NULL ? send_answer(request) : run_request(request);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static void note_connection(void *cls, struct MHD_Connection *connection, void **context,
                            enum MHD_ConnectionNotificationCode what)
{
    Listener *listener = (Listener *)cls;
    HttpShared *shared = listener->shared;
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        if (*context != NULL) {
            peers_remove((Peer *)*context);
            *context = NULL;
            http_meters_connections(&shared->meters, -1);
        }
        return;
    }
    Caller caller = {.known = false};
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    Peer *peer = NULL;
    *context = NULL;
    if (info == NULL) {
        return;
    }
    if (listener->is_socket) {
        guard_peer(info->connect_fd, shared->socket_group, &caller);
    }
    if (peers_add(shared->peers, info->connect_fd, &caller, shared->deadlines.headers_ms, &peer) ==
        SAP_OK) {
        *context = peer;
        http_meters_connections(&shared->meters, 1);
    }
}

/* What follows is decoded by the call itself, which knows what is malformed. */
static size_t leave_escapes(void *cls, struct MHD_Connection *connection, char *text)
{
    (void)cls;
    (void)connection;
    return strlen(text);
}

static void log_daemon(void *cls, const char *format, va_list args)
{
    const Listener *listener = (const Listener *)cls;
    char text[256];
    (void)vsnprintf(text, sizeof text, format, args);
    LOG_EVENT(listener->shared->api.options.log, LOG_LEVEL_DEBUG, "http.daemon",
              LOG_STR("text", text));
}

int listener_start(HttpShared *shared, int fd, bool is_socket, uint32_t max_connections,
                   Listener **listener_out)
{
    Listener *listener = (Listener *)mem_zalloc(MEM_COMMON, sizeof *listener);
    if (listener == NULL) {
        (void)close(fd);
        return SAP_NOMEM;
    }
    listener->shared = shared;
    listener->is_socket = is_socket;
    listener->quiet_fd = -1;
    listener->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG, 0, NULL, NULL,
        handle_request, listener, MHD_OPTION_EXTERNAL_LOGGER, log_daemon, listener,
        MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, max_connections,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADERS_MOST, MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, listener, MHD_OPTION_NOTIFY_COMPLETED, end_request, listener,
        MHD_OPTION_URI_LOG_CALLBACK, start_request, listener, MHD_OPTION_UNESCAPE_CALLBACK,
        leave_escapes, listener, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
    if (listener->daemon == NULL) {
        (void)close(fd);
        mem_free(MEM_COMMON, listener, sizeof *listener);
        return SAP_IO;
    }
    *listener_out = listener;
    return SAP_OK;
}

void listener_quiesce(Listener *listener)
{
    if (listener != NULL) {
        /* Its thread may still look at the descriptor: it is closed when that has ended. */
        listener->quiet_fd = MHD_quiesce_daemon(listener->daemon);
        if (listener->quiet_fd >= 0) {
            (void)shutdown(listener->quiet_fd, SHUT_RDWR);
        }
    }
}

void listener_stop(Listener *listener)
{
    if (listener != NULL) {
        MHD_stop_daemon(listener->daemon);
        if (listener->quiet_fd >= 0) {
            (void)close(listener->quiet_fd);
        }
        mem_free(MEM_COMMON, listener, sizeof *listener);
    }
}
