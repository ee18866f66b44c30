/* http_meters.c - see http_meters.h. */
#include "node/http_meters.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"

static int add_route_meters(HttpMeters *meters, MetricsRegistry *registry, const Route *routes,
                            size_t number)
{
    char label[128];
    (void)snprintf(label, sizeof label, "%s %s", routes[number].method, routes[number].path);
    MetricDesc requests = {"sapling_http_requests_total", "requests, by route", "route", label};
    MetricDesc ns = {"sapling_http_request_ns",
                     "from the headers of a request until its answer, waits included", "route",
                     label};
    int rc = metrics_add_counter(registry, &requests, &meters->requests[number]);
    return rc == SAP_OK ? metrics_add_histogram(registry, &ns, &meters->ns[number]) : rc;
}

int http_meters_init(HttpMeters *meters, MetricsRegistry *registry)
{
    static const char *const classes[HTTP_STATUS_CLASSES] = {NULL,  NULL,  "2xx",
                                                             "3xx", "4xx", "5xx"};
    size_t count = 0;
    const Route *routes = api_routes(&count);
    SAP_ASSERT(count <= HTTP_ROUTES_MOST);
    memset(meters, 0, sizeof *meters);
    if (registry == NULL) {
        return SAP_OK;
    }
    MetricDesc connections = {.name = "sapling_http_connections", .help = "open connections"};
    MetricDesc refused = {.name = "sapling_http_refused_total", .help = "requests without a route"};
    MetricDesc active = {.name = "sapling_http_active",
                         .help = "requests that have no answer, or one that was not taken yet"};
    MetricDesc cut = {.name = "sapling_http_cut_total",
                      .help = "connections that were too slow, and were ended"};
    int rc = metrics_add_gauge(registry, &connections, &meters->connections);
    rc = rc == SAP_OK ? metrics_add_gauge(registry, &active, &meters->active) : rc;
    rc = rc == SAP_OK ? metrics_add_counter(registry, &cut, &meters->cut) : rc;
    rc = rc == SAP_OK ? metrics_add_counter(registry, &refused, &meters->refused) : rc;
    for (size_t i = 0; rc == SAP_OK && i < HTTP_STATUS_CLASSES; i++) {
        MetricDesc answers = {"sapling_http_answers_total", "answers, by class of status", "status",
                              classes[i]};
        rc = classes[i] == NULL ? SAP_OK
                                : metrics_add_counter(registry, &answers, &meters->answers[i]);
    }
    for (size_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = add_route_meters(meters, registry, routes, i);
    }
    return rc;
}

void http_meters_count(const HttpMeters *meters, const Route *route, uint32_t status,
                       uint64_t took_ns)
{
    size_t count = 0;
    if (meters->connections == NULL) {
        return;
    }
    SAP_ASSERT(status >= 200 && status < 600);
    counter_add(meters->answers[status / 100], 1);
    if (route == NULL) {
        counter_add(meters->refused, 1);
        return;
    }
    size_t number = (size_t)(route - api_routes(&count));
    SAP_ASSERT(number < count);
    counter_add(meters->requests[number], 1);
    histogram_record(meters->ns[number], took_ns);
}

void http_meters_active(const HttpMeters *meters, int64_t change)
{
    if (meters->active != NULL) {
        gauge_add(meters->active, change);
    }
}

void http_meters_connections(const HttpMeters *meters, int64_t change)
{
    if (meters->connections != NULL) {
        gauge_add(meters->connections, change);
    }
}
