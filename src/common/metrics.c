#include "common/metrics.h"

#include "common/mem.h"
#include "common/utf8.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* ---- histogram ---- */

enum { SUB_BITS = 2, SUB_COUNT = 1 << SUB_BITS };

_Static_assert(HISTOGRAM_BUCKETS == (64 - SUB_BITS + 1) * SUB_COUNT,
               "one group of sub-buckets per leading bit, and one for the values below them");

static size_t bucket_of(uint64_t value)
{
    if (value < SUB_COUNT) {
        return (size_t)value;
    }
    unsigned leading_bit = 63 - (unsigned)__builtin_clzll(value);
    unsigned shift = leading_bit - SUB_BITS;

    /* value >> shift is SUB_COUNT plus the sub-bucket, which is why the group counts from 0. */
    return shift * SUB_COUNT + (size_t)(value >> shift);
}

/* The largest value in the bucket. */
static uint64_t bucket_upper(size_t bucket)
{
    if (bucket < SUB_COUNT) {
        return bucket;
    }
    size_t shift = bucket / SUB_COUNT - 1;
    uint64_t lower = (uint64_t)(SUB_COUNT + bucket % SUB_COUNT) << shift;
    return lower + ((UINT64_C(1) << shift) - 1);
}

void histogram_init(Histogram *histogram)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        relaxed_store(&histogram->buckets[i], 0);
    }
    relaxed_store(&histogram->sum, 0);
    relaxed_store(&histogram->min, UINT64_MAX);
    relaxed_store(&histogram->max, 0);
}

void histogram_record(Histogram *histogram, uint64_t value)
{
    relaxed_add(&histogram->buckets[bucket_of(value)], 1);
    relaxed_add(&histogram->sum, value);
    relaxed_min(&histogram->min, value);
    relaxed_max(&histogram->max, value);
}

void histogram_merge(Histogram *into, const Histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        uint64_t count = relaxed_load(&from->buckets[i]);
        if (count > 0) {
            relaxed_add(&into->buckets[i], count);
        }
    }
    relaxed_add(&into->sum, relaxed_load(&from->sum));
    relaxed_min(&into->min, relaxed_load(&from->min));
    relaxed_max(&into->max, relaxed_load(&from->max));
}

/* Copies the buckets, so that what is computed from them fits together; returns their sum. */
static uint64_t read_buckets(const Histogram *histogram, uint64_t counts[HISTOGRAM_BUCKETS])
{
    uint64_t total = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        counts[i] = relaxed_load(&histogram->buckets[i]);
        total += counts[i];
    }
    return total;
}

uint64_t histogram_count(const Histogram *histogram)
{
    uint64_t counts[HISTOGRAM_BUCKETS];
    return read_buckets(histogram, counts);
}

uint64_t histogram_sum(const Histogram *histogram)
{
    return relaxed_load(&histogram->sum);
}

uint64_t histogram_min(const Histogram *histogram)
{
    uint64_t min = relaxed_load(&histogram->min);
    return min == UINT64_MAX && histogram_count(histogram) == 0 ? 0 : min;
}

uint64_t histogram_max(const Histogram *histogram)
{
    return relaxed_load(&histogram->max);
}

uint64_t histogram_quantile(const Histogram *histogram, double q)
{
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t total = read_buckets(histogram, counts);
    uint64_t min = histogram_min(histogram);
    uint64_t max = histogram_max(histogram);

    /* Written so that not-a-number goes the way of 0. */
    if (total == 0 || !(q > 0)) {
        return min;
    }
    if (q >= 1) {
        return max;
    }
    /* q < 1 keeps the product below 2^64 even when (double)total was rounded up to it. */
    double exact = q * (double)total;
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact) {
        rank++;
    }
    uint64_t seen = counts[0];
    size_t bucket = 0;
    while (seen < rank && bucket < HISTOGRAM_BUCKETS - 1) {
        bucket++;
        seen += counts[bucket];
    }
    uint64_t upper = bucket_upper(bucket);
    return upper > max ? max : upper < min ? min : upper;
}

/* ---- registry ---- */

struct Metric {
    MetricType type;
    /* Owned copies; label_key and label_value are both NULL or both not. */
    char *name;
    char *help;
    char *label_key;
    char *label_value;
    union {
        Counter counter;
        Gauge gauge;
        Histogram histogram;
    } as;
};

static void text_free(char *text)
{
    if (text != NULL) {
        mem_free(MEM_COMMON, text, strlen(text) + 1);
    }
}

/* NULL copies to NULL. */
static int text_copy(const char *text, char **out)
{
    if (text == NULL) {
        *out = NULL;
        return SAP_OK;
    }
    size_t size = strlen(text) + 1;
    char *copy = mem_copy(MEM_COMMON, text, size);
    if (copy == NULL) {
        return SAP_NOMEM;
    }
    *out = copy;
    return SAP_OK;
}

static void metric_free(Metric *metric)
{
    if (metric == NULL) {
        return;
    }
    text_free(metric->name);
    text_free(metric->help);
    text_free(metric->label_key);
    text_free(metric->label_value);
    mem_free(MEM_COMMON, metric, sizeof *metric);
}

static int metric_new(MetricType type, const MetricDesc *desc, Metric **out)
{
    Metric *metric = mem_zalloc(MEM_COMMON, sizeof *metric);
    if (metric == NULL) {
        return SAP_NOMEM;
    }
    metric->type = type;
    int rc = text_copy(desc->name, &metric->name);
    if (rc == SAP_OK) {
        rc = text_copy(desc->help, &metric->help);
    }
    if (rc == SAP_OK) {
        rc = text_copy(desc->label_key, &metric->label_key);
    }
    if (rc == SAP_OK) {
        rc = text_copy(desc->label_value, &metric->label_value);
    }
    if (rc != SAP_OK) {
        metric_free(metric);
        return rc;
    }
    if (type == METRIC_HISTOGRAM) {
        histogram_init(&metric->as.histogram);
    }
    *out = metric;
    return SAP_OK;
}

static bool is_name(const char *text, bool colons)
{
    if (text == NULL || *text == '\0' || (*text >= '0' && *text <= '9')) {
        return false;
    }
    for (; *text != '\0'; text++) {
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
        bool digit = *text >= '0' && *text <= '9';
        if (!letter && !digit && *text != '_' && !(colons && *text == ':')) {
            return false;
        }
    }
    return true;
}

static bool is_text(const char *text)
{
    return text != NULL && utf8_valid(text, strlen(text));
}

static bool desc_valid(const MetricDesc *desc)
{
    if (!is_name(desc->name, true) || !is_text(desc->help)) {
        return false;
    }
    if (desc->label_key == NULL || desc->label_value == NULL) {
        return desc->label_key == NULL && desc->label_value == NULL;
    }
    return is_name(desc->label_key, false) && strncmp(desc->label_key, "__", 2) != 0 &&
           strcmp(desc->label_key, "le") != 0 && is_text(desc->label_value);
}

/* Whether `name` is that of a part of the histogram `base`. */
static bool is_part_of(const char *name, const char *base)
{
    size_t len = strlen(base);
    if (strncmp(name, base, len) != 0) {
        return false;
    }
    const char *rest = name + len;
    return strcmp(rest, "_bucket") == 0 || strcmp(rest, "_sum") == 0 || strcmp(rest, "_count") == 0;
}

/* Whether the two can stand in one exposition. */
static bool compatible(const Metric *a, MetricType type, const MetricDesc *desc)
{
    if (strcmp(a->name, desc->name) == 0) {
        return a->type == type && a->label_key != NULL && desc->label_key != NULL &&
               strcmp(a->label_key, desc->label_key) == 0 &&
               strcmp(a->label_value, desc->label_value) != 0;
    }
    return !(type == METRIC_HISTOGRAM && is_part_of(a->name, desc->name)) &&
           !(a->type == METRIC_HISTOGRAM && is_part_of(desc->name, a->name));
}

/* Only of metrics that are compatible: equal names have labels. */
static bool sorts_before(const Metric *a, const MetricDesc *desc)
{
    int order = strcmp(a->name, desc->name);
    return order != 0 ? order < 0 : strcmp(a->label_value, desc->label_value) < 0;
}

static int make_room(MetricsRegistry *registry)
{
    if (registry->count < registry->cap) {
        return SAP_OK;
    }
    size_t cap = registry->cap == 0 ? 16 : registry->cap * 2;
    Metric **metrics = mem_resize(MEM_COMMON, registry->metrics, registry->cap * sizeof(Metric *),
                                  cap * sizeof(Metric *));
    if (metrics == NULL) {
        return SAP_NOMEM;
    }
    registry->metrics = metrics;
    registry->cap = cap;
    return SAP_OK;
}

static int add_locked(MetricsRegistry *registry, MetricType type, const MetricDesc *desc,
                      Metric **out)
{
    size_t place = 0;

    for (size_t i = 0; i < registry->count; i++) {
        if (!compatible(registry->metrics[i], type, desc)) {
            return SAP_EXISTS;
        }
    }
    while (place < registry->count && sorts_before(registry->metrics[place], desc)) {
        place++;
    }
    int rc = make_room(registry);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = metric_new(type, desc, out);
    if (rc != SAP_OK) {
        return rc;
    }
    memmove(registry->metrics + place + 1, registry->metrics + place,
            (registry->count - place) * sizeof(Metric *));
    registry->metrics[place] = *out;
    registry->count++;
    return SAP_OK;
}

static int add(MetricsRegistry *registry, MetricType type, const MetricDesc *desc, Metric **out)
{
    if (!desc_valid(desc)) {
        return SAP_ERROR;
    }
    mutex_lock(&registry->lock);
    int rc = add_locked(registry, type, desc, out);
    mutex_unlock(&registry->lock);
    return rc;
}

int metrics_init(MetricsRegistry *registry)
{
    if (!mutex_init(&registry->lock)) {
        return SAP_NOMEM;
    }
    registry->metrics = NULL;
    registry->count = 0;
    registry->cap = 0;
    return SAP_OK;
}

void metrics_release(MetricsRegistry *registry)
{
    for (size_t i = 0; i < registry->count; i++) {
        metric_free(registry->metrics[i]);
    }
    mem_free(MEM_COMMON, registry->metrics, registry->cap * sizeof(Metric *));
    registry->metrics = NULL;
    registry->count = 0;
    registry->cap = 0;
    mutex_destroy(&registry->lock);
}

int metrics_add_counter(MetricsRegistry *registry, const MetricDesc *desc, Counter **out)
{
    Metric *metric;
    int rc = add(registry, METRIC_COUNTER, desc, &metric);
    if (rc == SAP_OK) {
        *out = &metric->as.counter;
    }
    return rc;
}

int metrics_add_gauge(MetricsRegistry *registry, const MetricDesc *desc, Gauge **out)
{
    Metric *metric;
    int rc = add(registry, METRIC_GAUGE, desc, &metric);
    if (rc == SAP_OK) {
        *out = &metric->as.gauge;
    }
    return rc;
}

int metrics_add_histogram(MetricsRegistry *registry, const MetricDesc *desc, Histogram **out)
{
    Metric *metric;
    int rc = add(registry, METRIC_HISTOGRAM, desc, &metric);
    if (rc == SAP_OK) {
        *out = &metric->as.histogram;
    }
    return rc;
}

static MetricView view_of(const Metric *metric)
{
    MetricView view = {
        .desc = {metric->name, metric->help, metric->label_key, metric->label_value},
        .type = metric->type,
    };
    switch (metric->type) {
    case METRIC_COUNTER:
        view.as.counter = &metric->as.counter;
        break;
    case METRIC_GAUGE:
        view.as.gauge = &metric->as.gauge;
        break;
    case METRIC_HISTOGRAM:
        view.as.histogram = &metric->as.histogram;
        break;
    }
    return view;
}

int metrics_visit(MetricsRegistry *registry, MetricVisitor visitor, void *ctx)
{
    int rc = SAP_OK;

    mutex_lock(&registry->lock);
    for (size_t i = 0; i < registry->count && rc == SAP_OK; i++) {
        MetricView view = view_of(registry->metrics[i]);
        rc = visitor(ctx, &view);
    }
    mutex_unlock(&registry->lock);
    return rc;
}

/* ---- exposition ---- */

typedef struct Exposition {
    Buf *buf;
    const char *family; /* the name last announced; NULL before the first */
} Exposition;

/* Backslashes and line feeds are escaped everywhere, quotes only where they would end a value. */
static int append_escaped(Buf *buf, const char *text, bool quotes)
{
    int rc = SAP_OK;

    for (; *text != '\0' && rc == SAP_OK; text++) {
        if (*text == '\\') {
            rc = buf_append_str(buf, "\\\\");
        } else if (*text == '\n') {
            rc = buf_append_str(buf, "\\n");
        } else if (*text == '"' && quotes) {
            rc = buf_append_str(buf, "\\\"");
        } else {
            rc = buf_append(buf, text, 1);
        }
    }
    return rc;
}

static int append_head(Buf *buf, const MetricView *view)
{
    static const char *const types[] = {
        [METRIC_COUNTER] = "counter",
        [METRIC_GAUGE] = "gauge",
        [METRIC_HISTOGRAM] = "histogram",
    };
    int rc = buf_printf(buf, "# HELP %s ", view->desc.name);

    if (rc == SAP_OK) {
        rc = append_escaped(buf, view->desc.help, false);
    }
    if (rc == SAP_OK) {
        rc = buf_printf(buf, "\n# TYPE %s %s\n", view->desc.name, types[view->type]);
    }
    return rc;
}

/* name, suffix, and the labels in braces if there are any. `le` is NULL for none. */
static int append_series(Buf *buf, const MetricDesc *desc, const char *suffix, const char *le)
{
    int rc = buf_printf(buf, "%s%s", desc->name, suffix);

    if (desc->label_key != NULL) {
        if (rc == SAP_OK) {
            rc = buf_printf(buf, "{%s=\"", desc->label_key);
        }
        if (rc == SAP_OK) {
            rc = append_escaped(buf, desc->label_value, true);
        }
        if (rc == SAP_OK) {
            rc = buf_append_str(buf, "\"");
        }
    }
    if (rc == SAP_OK && le != NULL) {
        rc = buf_printf(buf, "%cle=\"%s\"", desc->label_key != NULL ? ',' : '{', le);
    }
    if (rc == SAP_OK && (desc->label_key != NULL || le != NULL)) {
        rc = buf_append_str(buf, "}");
    }
    return rc;
}

static int append_sample(Buf *buf, const MetricDesc *desc, const char *suffix, const char *le,
                         uint64_t value)
{
    int rc = append_series(buf, desc, suffix, le);
    return rc == SAP_OK ? buf_printf(buf, " %" PRIu64 "\n", value) : rc;
}

/* The bounds are 0, 1, 3, 7 and so on: values are integers, so "at most 2^n - 1" and "less than
 * 2^n" are the same, and 2^64 - 1 is infinity. */
static int append_histogram(Buf *buf, const MetricDesc *desc, const Histogram *histogram)
{
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t total = read_buckets(histogram, counts);
    uint64_t seen = 0;
    size_t bucket = 0;
    int rc = SAP_OK;

    for (unsigned bits = 0; bits < 64 && rc == SAP_OK; bits++) {
        uint64_t bound = (UINT64_C(1) << bits) - 1;
        char le[24];

        for (; bucket <= bucket_of(bound); bucket++) {
            seen += counts[bucket];
        }
        snprintf(le, sizeof le, "%" PRIu64, bound);
        rc = append_sample(buf, desc, "_bucket", le, seen);
    }
    if (rc == SAP_OK) {
        rc = append_sample(buf, desc, "_bucket", "+Inf", total);
    }
    if (rc == SAP_OK) {
        rc = append_sample(buf, desc, "_sum", NULL, histogram_sum(histogram));
    }
    if (rc == SAP_OK) {
        rc = append_sample(buf, desc, "_count", NULL, total);
    }
    return rc;
}

static int append_metric(void *ctx, const MetricView *view)
{
    Exposition *exposition = ctx;
    Buf *buf = exposition->buf;
    int rc = SAP_OK;

    if (exposition->family == NULL || strcmp(exposition->family, view->desc.name) != 0) {
        exposition->family = view->desc.name;
        rc = append_head(buf, view);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    switch (view->type) {
    case METRIC_COUNTER:
        return append_sample(buf, &view->desc, "", NULL, counter_value(view->as.counter));
    case METRIC_GAUGE:
        rc = append_series(buf, &view->desc, "", NULL);
        return rc == SAP_OK ? buf_printf(buf, " %" PRId64 "\n", gauge_value(view->as.gauge)) : rc;
    case METRIC_HISTOGRAM:
        return append_histogram(buf, &view->desc, view->as.histogram);
    }
    return SAP_ERROR;
}

int metrics_format_prometheus(MetricsRegistry *registry, Buf *buf)
{
    Exposition exposition = {buf, NULL};
    size_t len = buf->len;
    int rc = metrics_visit(registry, append_metric, &exposition);

    if (rc != SAP_OK) {
        buf->len = len;
    }
    return rc;
}
