/* api_routes.h - the one table of routes: method, path, scope, what may be asked, and the function.
 *
 * Everything that is said of all routes is made from it: 404 and 405, the refusal of unknown fields, the counts
 * of /metrics, the test of credentials, and the list in docs/reference/http-api.md, which a test compares. */
#ifndef SAPLING_NODE_API_ROUTES_H
#define SAPLING_NODE_API_ROUTES_H

#include "node/api_call.h"

/* Flags of a route. */
enum {
    ROUTE_PAYLOAD = 1, /* takes "body" and "encoding", and so a long body */
    ROUTE_SEND = 2,    /* goes through the threads that put messages */
    ROUTE_ONCE = 4,    /* its answer is kept under the Idempotency-Key */
    ROUTE_INLINE = 8,  /* run by the thread that reads requests: it does not wait */
    ROUTE_QUERY = 16,  /* runs a handler, and so may take long */
};

struct Route {
    const char *method;
    const char *path; /* "{}" stands for one name */
    uint32_t scope;   /* one of SCOPE_* */
    uint32_t flags;   /* ROUTE_* */
    void (*run)(Call *call);
    const char *queries; /* names that may follow the question mark, separated by spaces */
    /* Members of the body, likewise; "body" and "encoding" come with ROUTE_PAYLOAD. */
    const char *fields;
};

/* All routes. */
const Route *api_routes(size_t *count_out);

/* NULL: there is none with this method and path. */
const Route *api_route_match(const char *method, const char *path);

/* Finds the route, and sets call->route and call->arg; false: the call has its answer, 404 or 405. `path` is as it
 * came, without what follows the question mark. HEAD is GET. */
bool api_route_find(Call *call, const char *method, const char *path);

/* Whether `names`, separated by spaces, has this one. */
bool api_names_have(const char *names, const char *name);

#endif
