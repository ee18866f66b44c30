/* http_guard.h - who may ask: what is checked of a request before its body is read.
 *
 * In this order: Host is this machine, or one of the node's names, so that no page of a web browser reaches the node
 * under a name of its own; Origin is absent or the same host, so that no page of another site does; the route is
 * there; the caller is known and has the route's scope. */
#ifndef SAPLING_NODE_HTTP_GUARD_H
#define SAPLING_NODE_HTTP_GUARD_H

#include "node/api_call.h"

/* The headers of a request that decide; NULL: it has no such header. */
typedef struct GuardHeaders {
    const char *host;
    const char *origin;
    const char *authorization;
    const char *content_type;
    const char *key;          /* Idempotency-Key */
    const char *trace_parent; /* traceparent, as the W3C says */
} GuardHeaders;

/* Who is at the other end of a unix socket: known if it is this user, root, or of the group; gid -1: none. */
void guard_peer(int fd, long group, Caller *caller_out);

/* Sets call->route, call->arg, call->caller, call->key and call->trace_parent. `peer` is what the socket says of the caller. False: the
 * call has its answer. */
bool guard_request(Call *call, const Caller *peer, const char *method, const char *path,
                   const GuardHeaders *headers);

/* A body may only be JSON. */
bool guard_content_type(Call *call, const GuardHeaders *headers);

#endif
