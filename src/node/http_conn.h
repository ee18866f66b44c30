/* http_conn.h - listeners: connections of libmicrohttpd, whose requests become calls.
 *
 * A listener has one thread, which reads requests and writes answers. A request whose route does more than that
 * suspends its connection, and the thread that finishes the call resumes it. */
#ifndef SAPLING_NODE_HTTP_CONN_H
#define SAPLING_NODE_HTTP_CONN_H

#include "common/sync.h"
#include "node/api_call.h"
#include "node/http_meters.h"
#include "node/http_peers.h"
#include "node/http_rate.h"

typedef struct Listener Listener;

/* What all listeners share. */
typedef struct HttpShared {
    Api api;
    Peers *peers;
    HttpMeters meters;
    HttpDeadlines deadlines; /* without zeros */
    Rates rates;
    long socket_group; /* -1: none */
    SAP_ATOMIC(bool) stopping;
    SAP_ATOMIC(uint32_t) active; /* requests whose answer has not been taken */
} HttpShared;

/* Answers on a socket that listens; takes ownership of `fd` in any case. `is_socket`: it is a unix socket, whose
 * callers are known by the other end. The caller owns *listener_out: listener_stop(). SAP_IO, SAP_NOMEM. */
int listener_start(HttpShared *shared, int fd, bool is_socket, uint32_t max_connections,
                   Listener **listener_out);

/* Takes no more connections. */
void listener_quiesce(Listener *listener);

/* Ends all connections; none is suspended. NULL is accepted. */
void listener_stop(Listener *listener);

#endif
