/* http_meters.h - what the server counts: requests and times by route, answers by status, callers that wait. */
#ifndef SAPLING_NODE_HTTP_METERS_H
#define SAPLING_NODE_HTTP_METERS_H

#include "common/metrics.h"
#include "node/api_routes.h"

enum { HTTP_ROUTES_MOST = 64, HTTP_STATUS_CLASSES = 6 };

typedef struct HttpMeters {
    Counter *requests[HTTP_ROUTES_MOST]; /* by number of the route; NULL: nothing is counted */
    Histogram *ns[HTTP_ROUTES_MOST];
    Counter *answers[HTTP_STATUS_CLASSES]; /* by the first digit of the status */
    Gauge *connections;
    Gauge *active;    /* requests that have no answer, or one that was not taken yet */
    Counter *cut;     /* connections that were too slow */
    Counter *refused; /* no route was found, or nobody may know whether there is one */
} HttpMeters;

/* registry NULL: nothing is counted. SAP_NOMEM. SAP_EXISTS: there is a server already. */
int http_meters_init(HttpMeters *meters, MetricsRegistry *registry);

/* An answer was set for the call, whose route may be NULL. */
void http_meters_count(const HttpMeters *meters, const Route *route, uint32_t status,
                       uint64_t took_ns);
void http_meters_connections(const HttpMeters *meters, int64_t change);
void http_meters_active(const HttpMeters *meters, int64_t change);

#endif
