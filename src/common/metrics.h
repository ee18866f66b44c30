/* metrics.h - how often, how much, how long.
 *
 * A Counter only grows. A Gauge is a level. A Histogram keeps the distribution of unsigned values
 * in fixed buckets:
 *
 *   values 0..3 have a bucket each; from there on every power of two is cut into four buckets of
 *   equal width, so a bucket's bounds are never more than a quarter of its lower bound apart.
 *
 *   [0] [1] [2] [3] [4] [5] [6] [7] [8-9] [10-11] [12-13] [14-15] [16-19] ...
 *
 * Recording is a relaxed atomic addition or two, from any thread. Reading while others record
 * gives values that were true at slightly different instants. All-zero bytes are a Counter or a
 * Gauge of 0; a Histogram needs its init.
 *
 * A MetricsRegistry owns named metrics, sorted by name and then label value, and hands out
 * pointers that stay good until its release. A name is one family: one type, one help text and
 * either one unlabelled metric or one per value of the same label. Its calls may come from any
 * thread. */
#ifndef SAPLING_COMMON_METRICS_H
#define SAPLING_COMMON_METRICS_H

#include "common/buf.h"
#include "common/relaxed.h"
#include "common/sync.h"

#include <stddef.h>
#include <stdint.h>

typedef struct Counter {
    RelaxedU64 total;
} Counter;

static inline void counter_add(Counter *counter, uint64_t delta)
{
    relaxed_add(&counter->total, delta);
}

static inline uint64_t counter_value(const Counter *counter)
{
    return relaxed_load(&counter->total);
}

typedef struct Gauge {
    RelaxedU64 level; /* two's complement */
} Gauge;

static inline void gauge_set(Gauge *gauge, int64_t level)
{
    relaxed_store(&gauge->level, (uint64_t)level);
}

static inline void gauge_add(Gauge *gauge, int64_t delta)
{
    relaxed_add(&gauge->level, (uint64_t)delta);
}

static inline int64_t gauge_value(const Gauge *gauge)
{
    return (int64_t)relaxed_load(&gauge->level);
}

enum { HISTOGRAM_BUCKETS = 252 };

/* The count is the sum of the buckets: never at odds with them. */
typedef struct Histogram {
    RelaxedU64 buckets[HISTOGRAM_BUCKETS];
    RelaxedU64 sum; /* wraps around */
    RelaxedU64 min; /* UINT64_MAX when empty */
    RelaxedU64 max; /* 0 when empty */
} Histogram;

void histogram_init(Histogram *histogram);
void histogram_record(Histogram *histogram, uint64_t value);

/* Adds what `from` holds to `into`, as if it had been recorded there. */
void histogram_merge(Histogram *into, const Histogram *from);

uint64_t histogram_count(const Histogram *histogram);
uint64_t histogram_sum(const Histogram *histogram);

/* 0 when empty. */
uint64_t histogram_min(const Histogram *histogram);
uint64_t histogram_max(const Histogram *histogram);

/* A value that at least the share q of the values does not exceed: the upper bound of the bucket
 * with the value of rank ceil(q * count), but within min and max. q below 0 counts as 0, above 1
 * as 1; 0 when empty. */
uint64_t histogram_quantile(const Histogram *histogram, double q);

typedef enum MetricType { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM } MetricType;

/* Copied at registration. Both label parts are NULL for a metric without a label. */
typedef struct MetricDesc {
    const char *name; /* [a-zA-Z_:][a-zA-Z0-9_:]* */
    const char *help;
    const char *label_key; /* [a-zA-Z_][a-zA-Z0-9_]*, no leading "__", not "le" */
    const char *label_value;
} MetricDesc;

typedef struct Metric Metric;

typedef struct MetricsRegistry {
    Mutex lock; /* guards all below, not the values of the metrics */
    Metric **metrics;
    size_t count;
    size_t cap;
} MetricsRegistry;

/* SAP_NOMEM: no lock to be had; then there is nothing to release. */
int metrics_init(MetricsRegistry *registry);

/* Every metric handed out ends with it. */
void metrics_release(MetricsRegistry *registry);

/* *out is borrowed until metrics_release. SAP_EXISTS: the name is taken, by this label value or by
 * a family of another type or label, or the names of a histogram's parts (_bucket, _sum, _count)
 * would meet another metric's. SAP_ERROR: a name, key or text that is missing or malformed, or not
 * UTF-8. SAP_NOMEM. The family's help text is that of its first metric. */
int metrics_add_counter(MetricsRegistry *registry, const MetricDesc *desc, Counter **out);
int metrics_add_gauge(MetricsRegistry *registry, const MetricDesc *desc, Gauge **out);
int metrics_add_histogram(MetricsRegistry *registry, const MetricDesc *desc, Histogram **out);

/* What a visitor sees, borrowed for the call. Only the member of the type is valid. */
typedef struct MetricView {
    MetricDesc desc;
    MetricType type;
    union {
        const Counter *counter;
        const Gauge *gauge;
        const Histogram *histogram;
    } as;
} MetricView;

/* Anything but SAP_OK ends the visit. Must not call the registry. */
typedef int (*MetricVisitor)(void *ctx, const MetricView *view);

/* Visits in order of name, then label value. Returns what ended the visit, or SAP_OK. */
int metrics_visit(MetricsRegistry *registry, MetricVisitor visitor, void *ctx);

/* Appends all metrics in Prometheus' text format (version 0.0.4). Histograms show a bucket per
 * power of two, always the same ones, so that series do not come and go. `buf` is as it was
 * unless it returns SAP_OK. SAP_NOMEM, SAP_FULL: as in buf.h. */
int metrics_format_prometheus(MetricsRegistry *registry, Buf *buf);

#endif
