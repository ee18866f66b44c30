/* http.h - the HTTP server of a node: the routes of docs/reference/http-api.md, over TCP on loopback and over
 * the unix socket DATA/node.sock.
 *
 * Threads, at most HTTP_THREADS however many callers there are: one for each listener, which reads requests and
 * writes answers; some that run routes; two that put messages into inboxes, many in one commit; two that watch
 * for replies and results; one that cuts off who is slow. A caller that waits takes a connection and no thread.
 *
 * A request goes: headers are there -> Host, Origin, route, credential, scope and length are checked
 * (http_guard.h), in this order -> the body is read -> the connection is suspended, and the call is given to a
 * thread -> the route answers it, or parks it with those that wait (http_wait.h) -> the connection is resumed,
 * and the answer is written.
 *
 * Invariant: from its suspension until it is finished a call belongs to one thread, or to the list of those that
 * wait, and it is finished once. */
#ifndef SAPLING_NODE_HTTP_H
#define SAPLING_NODE_HTTP_H

#include "common/log.h"
#include "common/metrics.h"
#include "sapling/universe.h"

typedef struct Http Http;

enum { HTTP_THREADS = 16 };

/* How long somebody may take, in milliseconds. 0: the default. */
typedef struct HttpDeadlines {
    uint32_t headers_ms; /* from the connection until the headers of its first request: 10 s */
    uint32_t idle_ms;    /* from an answer until the headers of the next request: 75 s */
    uint32_t body_ms;    /* for a body: 30 s, and as much again for each 4 MiB */
    uint32_t answer_ms; /* until an answer has been taken: 60 s, and as much again for each 4 MiB */
} HttpDeadlines;

/* Everything is borrowed until http_stop(). Zero bytes are the defaults, but for universe and data. */
typedef struct HttpOptions {
    SapUniverse *universe;
    const char *data;   /* data directory: DATA/node.sock, DATA/token, DATA/tokens */
    const char *listen; /* ADDRESS:PORT on loopback, such as 127.0.0.1:7227; port 0: any; NULL: the
                                 socket only */
    const char *const *names; /* further Host names that are accepted */
    size_t name_count;
    const char *socket_group; /* its members may use the socket too; NULL: the same user only */
    const char *const
        *modules_allow; /* runners that may be registered over TCP: lines of modules.allow */
    size_t modules_allow_count;
    const Log *log; /* NULL: none */
    MetricsRegistry
        *metrics; /* of the process: /metrics shows these and sap_universe_metrics(); NULL: the
                                 universe's alone */
    uint64_t started_ms;   /* since 1970 */
    const char *store_url; /* shown by GET /v1/status, so without a password; NULL: "" */
    /* Whether the node can do its work; otherwise why not. NULL: it always can. */
    bool (*ready)(void *ctx, char *why, size_t why_size);
    void *ready_ctx;
    /* Handlers of queries, by the name of their module. NULL: those that this process has registered. */
    int (*query_handler)(void *ctx, const char *module, SapWorldHandler *handler_out,
                         void **module_ctx_out);
    void (*query_release)(void *ctx, void *module_ctx);
    void *query_ctx;
    /* Checks runner and settings before a module is registered: SAP_OK and the SHA-256 of its code, or another code and a
     * text for the user. NULL: nothing is checked, and the code is not known. */
    int (*module_check)(void *ctx, const SapModule *module, uint8_t code_out[32], char *message,
                        size_t message_size);
    void *module_check_ctx;
    HttpDeadlines deadlines;
    uint32_t max_connections; /* over TCP; 0: what the limit of descriptors allows */
    uint32_t max_per_s;       /* requests of a token in a second; 0: any number */
} HttpOptions;

/* Listens, and answers until http_stop(). The caller owns *http_out. On failure `message` says why, for a
 * person. SAP_BUSY: the address is in use. SAP_INVALID: an option is invalid. SAP_IO, SAP_NOMEM. */
int http_start(const HttpOptions *options, Http **http_out, char *message, size_t message_size);

/* ADDRESS:PORT where it listens; "" for the socket only. Borrowed until http_stop(). */
const char *http_address(const Http *http);

/* Ends waiting callers with 503, takes no new requests, and frees everything: within 2 s, unless a handler of a
 * query runs for longer. NULL is accepted. */
void http_stop(Http *http);

#endif
