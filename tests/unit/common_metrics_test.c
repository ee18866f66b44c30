#include "common/fault.h"
#include "common/mem.h"
#include "common/metrics.h"
#include "common/random.h"
#include "support/choice.h"

#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

START_TEST(counters_add_up)
{
    Counter counter = {0};

    ck_assert_uint_eq(counter_value(&counter), 0);
    counter_add(&counter, 1);
    counter_add(&counter, 41);
    ck_assert_uint_eq(counter_value(&counter), 42);
}
END_TEST

START_TEST(gauges_go_up_and_down_below_zero)
{
    Gauge gauge = {0};

    gauge_add(&gauge, 5);
    gauge_add(&gauge, -8);
    ck_assert_int_eq(gauge_value(&gauge), -3);
    gauge_set(&gauge, INT64_MIN);
    ck_assert_int_eq(gauge_value(&gauge), INT64_MIN);
    gauge_set(&gauge, INT64_MAX);
    ck_assert_int_eq(gauge_value(&gauge), INT64_MAX);
}
END_TEST

START_TEST(an_empty_histogram_is_all_zero)
{
    Histogram h;

    histogram_init(&h);
    ck_assert_uint_eq(histogram_count(&h), 0);
    ck_assert_uint_eq(histogram_sum(&h), 0);
    ck_assert_uint_eq(histogram_min(&h), 0);
    ck_assert_uint_eq(histogram_max(&h), 0);
    ck_assert_uint_eq(histogram_quantile(&h, 0.5), 0);
}
END_TEST

START_TEST(a_histogram_of_one_value_answers_with_it)
{
    static const uint64_t values[] = {0, 1, 3, 4, 5, 1000, UINT64_MAX - 1, UINT64_MAX};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        Histogram h;
        histogram_init(&h);
        histogram_record(&h, values[i]);
        ck_assert_uint_eq(histogram_count(&h), 1);
        ck_assert_uint_eq(histogram_sum(&h), values[i]);
        ck_assert_uint_eq(histogram_min(&h), values[i]);
        ck_assert_uint_eq(histogram_max(&h), values[i]);
        for (int tenth = 0; tenth <= 10; tenth++) {
            ck_assert_uint_eq(histogram_quantile(&h, tenth / 10.0), values[i]);
        }
    }
}
END_TEST

/* The bucket that a value falls into; SIZE_MAX if not exactly one. */
static size_t bucket_hit(uint64_t value)
{
    size_t hit = SIZE_MAX;
    Histogram h;

    histogram_init(&h);
    histogram_record(&h, value);
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        if (relaxed_load(&h.buckets[i]) != 0) {
            ck_assert_uint_eq(hit, SIZE_MAX);
            hit = i;
        }
    }
    return hit;
}

START_TEST(buckets_are_in_order_without_gaps_and_a_quarter_wide)
{
    uint64_t lower = 0;

    for (size_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
        /* The width that the drawing in the header gives. */
        uint64_t width = bucket < 4 ? 1 : UINT64_C(1) << (bucket / 4 - 1);
        ck_assert_uint_eq(bucket_hit(lower), bucket);
        ck_assert_uint_eq(bucket_hit(lower + (width - 1)), bucket);
        ck_assert(lower < 4 || width <= lower / 4);
        lower += width;
    }
    /* The last bucket ends with the last value. */
    ck_assert_uint_eq(lower, 0);
}
END_TEST

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

START_TEST(quantiles_are_at_most_a_quarter_above_the_true_ones)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(50);

    printf("quantiles: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        enum { MAX_VALUES = 500 };
        static const double shares[] = {0.001, 0.25, 0.5, 0.9, 0.99, 0.999};
        uint64_t values[MAX_VALUES], sum = 0;
        Histogram h;
        Rng rng;

        rng_seed(&rng, seed);
        histogram_init(&h);
        size_t count = (size_t)rng_range(&rng, 1, MAX_VALUES);
        for (size_t i = 0; i < count; i++) {
            values[i] = rng_next(&rng) >> rng_below(&rng, 64);
            sum += values[i];
            histogram_record(&h, values[i]);
        }
        qsort(values, count, sizeof values[0], compare_u64);
        ck_assert_uint_eq(histogram_count(&h), count);
        ck_assert_uint_eq(histogram_sum(&h), sum);
        ck_assert_uint_eq(histogram_min(&h), values[0]);
        ck_assert_uint_eq(histogram_max(&h), values[count - 1]);
        ck_assert_uint_eq(histogram_quantile(&h, 0), values[0]);
        ck_assert_uint_eq(histogram_quantile(&h, 1), values[count - 1]);
        for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
            uint64_t truth = values[(size_t)ceil(shares[i] * (double)count) - 1];
            uint64_t got = histogram_quantile(&h, shares[i]);
            ck_assert_msg(got >= truth && got - truth <= truth / 4,
                          "seed %" PRIu64 ": %" PRIu64 " for %" PRIu64, seed, got, truth);
        }
    }
}
END_TEST

START_TEST(shares_outside_zero_to_one_count_as_the_nearest)
{
    Histogram h;

    histogram_init(&h);
    histogram_record(&h, 10);
    histogram_record(&h, 1000);
    ck_assert_uint_eq(histogram_quantile(&h, -1), 10);
    ck_assert_uint_eq(histogram_quantile(&h, 2), 1000);
    ck_assert_uint_eq(histogram_quantile(&h, (double)NAN), 10);
}
END_TEST

START_TEST(merged_histograms_are_as_if_recorded_in_one)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("merge: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Histogram parts[2], whole, merged;
        Rng rng;

        rng_seed(&rng, seed);
        histogram_init(&parts[0]);
        histogram_init(&parts[1]);
        histogram_init(&whole);
        histogram_init(&merged);
        for (int i = 0; i < 300; i++) {
            uint64_t v = rng_next(&rng) >> rng_below(&rng, 64);
            histogram_record(&parts[rng_below(&rng, 2)], v);
            histogram_record(&whole, v);
        }
        histogram_merge(&merged, &parts[0]);
        histogram_merge(&merged, &parts[1]);
        for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
            ck_assert_uint_eq(relaxed_load(&merged.buckets[i]), relaxed_load(&whole.buckets[i]));
        }
        ck_assert_uint_eq(histogram_sum(&merged), histogram_sum(&whole));
        ck_assert_uint_eq(histogram_min(&merged), histogram_min(&whole));
        ck_assert_uint_eq(histogram_max(&merged), histogram_max(&whole));
        histogram_init(&parts[0]);
        histogram_merge(&merged, &parts[0]);
        ck_assert_uint_eq(histogram_min(&merged), histogram_min(&whole));
    }
}
END_TEST

/* ---- registry ---- */

static const MetricDesc PLAIN = {"requests_total", "Requests.", NULL, NULL};

START_TEST(a_name_is_taken_once)
{
    MetricsRegistry registry;
    Counter *counter, *second = NULL;
    Gauge *gauge = NULL;
    Histogram *histogram = NULL;

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    ck_assert_int_eq(metrics_add_counter(&registry, &PLAIN, &counter), SAP_OK);
    ck_assert_int_eq(metrics_add_counter(&registry, &PLAIN, &second), SAP_EXISTS);
    ck_assert_int_eq(metrics_add_gauge(&registry, &PLAIN, &gauge), SAP_EXISTS);
    ck_assert_int_eq(metrics_add_histogram(&registry, &PLAIN, &histogram), SAP_EXISTS);
    MetricDesc labelled = {"requests_total", "Requests.", "queue", "a"};
    ck_assert_int_eq(metrics_add_counter(&registry, &labelled, &second), SAP_EXISTS);
    ck_assert(second == NULL && gauge == NULL && histogram == NULL);
    metrics_release(&registry);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

START_TEST(a_family_has_one_metric_per_label_value_of_one_label_and_type)
{
    MetricsRegistry registry;
    Counter *a, *b, *none = NULL;
    Gauge *gauge = NULL;
    MetricDesc desc = {"sent_total", "Sent.", "queue", "a"};

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    ck_assert_int_eq(metrics_add_counter(&registry, &desc, &a), SAP_OK);
    ck_assert_int_eq(metrics_add_counter(&registry, &desc, &none), SAP_EXISTS);
    desc.label_value = "b";
    ck_assert_int_eq(metrics_add_counter(&registry, &desc, &b), SAP_OK);
    ck_assert_ptr_ne(a, b);
    desc.label_value = "c";
    ck_assert_int_eq(metrics_add_gauge(&registry, &desc, &gauge), SAP_EXISTS);
    desc.label_key = "other";
    ck_assert_int_eq(metrics_add_counter(&registry, &desc, &none), SAP_EXISTS);
    ck_assert(none == NULL && gauge == NULL);
    metrics_release(&registry);
}
END_TEST

START_TEST(the_parts_of_a_histogram_take_their_names_too)
{
    static const char *const parts[] = {"wait_bucket", "wait_sum", "wait_count"};
    MetricDesc wait = {"wait", "Waiting.", NULL, NULL};

    for (size_t i = 0; i < 3; i++) {
        MetricDesc part = {parts[i], "A part.", NULL, NULL};
        MetricsRegistry registry;
        Histogram *histogram;
        Counter *counter;

        ck_assert_int_eq(metrics_init(&registry), SAP_OK);
        ck_assert_int_eq(metrics_add_histogram(&registry, &wait, &histogram), SAP_OK);
        ck_assert_int_eq(metrics_add_counter(&registry, &part, &counter), SAP_EXISTS);
        metrics_release(&registry);

        ck_assert_int_eq(metrics_init(&registry), SAP_OK);
        ck_assert_int_eq(metrics_add_counter(&registry, &part, &counter), SAP_OK);
        ck_assert_int_eq(metrics_add_histogram(&registry, &wait, &histogram), SAP_EXISTS);
        ck_assert_int_eq(metrics_add_counter(&registry, &wait, &counter), SAP_OK);
        metrics_release(&registry);
    }
}
END_TEST

START_TEST(malformed_descriptions_are_refused)
{
    static const MetricDesc bad[] = {
        {NULL, "h", NULL, NULL},         {"", "h", NULL, NULL},    {"1st", "h", NULL, NULL},
        {"a b", "h", NULL, NULL},        {"a-b", "h", NULL, NULL}, {"a\n", "h", NULL, NULL},
        {"gr\xc3\xbc", "h", NULL, NULL}, {"a", NULL, NULL, NULL},  {"a", "\xff", NULL, NULL},
        {"a", "h", "k", NULL},           {"a", "h", NULL, "v"},    {"a", "h", "", "v"},
        {"a", "h", "1k", "v"},           {"a", "h", "k:k", "v"},   {"a", "h", "__k", "v"},
        {"a", "h", "le", "v"},           {"a", "h", "k", "\xc3"},
    };
    static const MetricDesc good[] = {
        {"a", "", NULL, NULL},
        {"_", "h", NULL, NULL},
        {":a:B9", "h", NULL, NULL},
        {"b", "h", "_k9", ""},
    };
    MetricsRegistry registry;
    Counter *counter = NULL;

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_msg(metrics_add_counter(&registry, &bad[i], &counter) == SAP_ERROR, "%zu", i);
    }
    ck_assert_ptr_null(counter);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        ck_assert_msg(metrics_add_counter(&registry, &good[i], &counter) == SAP_OK, "%zu", i);
    }
    metrics_release(&registry);
}
END_TEST

/* Collects "name/value " in the order of the visit; ends it at the name in `stop`. */
typedef struct Visited {
    char text[500];
    const char *stop;
} Visited;

static int collect(void *ctx, const MetricView *view)
{
    Visited *visited = ctx;
    size_t len = strlen(visited->text);

    if (visited->stop != NULL && strcmp(view->desc.name, visited->stop) == 0) {
        return SAP_BUSY;
    }
    switch (view->type) {
    case METRIC_COUNTER:
        snprintf(visited->text + len, sizeof visited->text - len, "%s/%s=c%" PRIu64 " ",
                 view->desc.name, view->desc.label_value == NULL ? "" : view->desc.label_value,
                 counter_value(view->as.counter));
        break;
    case METRIC_GAUGE:
        snprintf(visited->text + len, sizeof visited->text - len, "%s=g%" PRId64 " ",
                 view->desc.name, gauge_value(view->as.gauge));
        break;
    case METRIC_HISTOGRAM:
        snprintf(visited->text + len, sizeof visited->text - len, "%s=h%" PRIu64 " ",
                 view->desc.name, histogram_count(view->as.histogram));
        break;
    }
    return SAP_OK;
}

START_TEST(a_visit_is_in_order_of_name_and_label_and_ends_when_told)
{
    MetricsRegistry registry;
    Visited visited = {"", NULL};
    Counter *counter;
    Gauge *gauge;
    Histogram *histogram;
    MetricDesc z = {"z", "", NULL, NULL}, a = {"a", "", NULL, NULL}, h = {"h", "", NULL, NULL};
    char value[] = "2";
    MetricDesc m = {"m", "", "k", value};

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    ck_assert_int_eq(metrics_visit(&registry, collect, &visited), SAP_OK);
    ck_assert_str_eq(visited.text, "");
    ck_assert_int_eq(metrics_add_counter(&registry, &z, &counter), SAP_OK);
    counter_add(counter, 26);
    ck_assert_int_eq(metrics_add_counter(&registry, &m, &counter), SAP_OK);
    counter_add(counter, 2);
    value[0] = '1'; /* The registry has its own copy. */
    ck_assert_int_eq(metrics_add_counter(&registry, &m, &counter), SAP_OK);
    counter_add(counter, 1);
    ck_assert_int_eq(metrics_add_gauge(&registry, &a, &gauge), SAP_OK);
    gauge_set(gauge, -1);
    ck_assert_int_eq(metrics_add_histogram(&registry, &h, &histogram), SAP_OK);
    histogram_record(histogram, 5);
    ck_assert_int_eq(metrics_visit(&registry, collect, &visited), SAP_OK);
    ck_assert_str_eq(visited.text, "a=g-1 h=h1 m/1=c1 m/2=c2 z/=c26 ");

    visited = (Visited){"", "m"};
    ck_assert_int_eq(metrics_visit(&registry, collect, &visited), SAP_BUSY);
    ck_assert_str_eq(visited.text, "a=g-1 h=h1 ");
    metrics_release(&registry);
}
END_TEST

START_TEST(metrics_keep_their_place_while_the_registry_grows)
{
    enum { COUNT = 200 };
    MetricsRegistry registry;
    Counter *counters[COUNT];

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    for (int i = 0; i < COUNT; i++) {
        char name[20];
        /* Neither ascending nor descending. */
        snprintf(name, sizeof name, "m%03d", i * 77 % COUNT);
        MetricDesc desc = {name, "", NULL, NULL};
        ck_assert_int_eq(metrics_add_counter(&registry, &desc, &counters[i]), SAP_OK);
        counter_add(counters[i], (uint64_t)i);
    }
    for (int i = 0; i < COUNT; i++) {
        ck_assert_uint_eq(counter_value(counters[i]), (uint64_t)i);
    }
    metrics_release(&registry);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

static void check_exposition(MetricsRegistry *registry, const char *expected)
{
    Buf buf;

    buf_init(&buf);
    ck_assert_int_eq(metrics_format_prometheus(registry, &buf), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&buf, 0), SAP_OK);
    ck_assert_str_eq((const char *)buf.data, expected);
    buf_release(&buf);
}

START_TEST(an_exposition_announces_each_family_once)
{
    MetricsRegistry registry;
    Counter *counter;
    Gauge *gauge;
    MetricDesc sent = {"sent_total", "Messages sent.", "queue", "b"};
    MetricDesc depth = {"depth", "Messages waiting.", NULL, NULL};

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    check_exposition(&registry, "");
    ck_assert_int_eq(metrics_add_counter(&registry, &sent, &counter), SAP_OK);
    counter_add(counter, 2);
    sent.label_value = "a";
    ck_assert_int_eq(metrics_add_counter(&registry, &sent, &counter), SAP_OK);
    counter_add(counter, UINT64_MAX);
    ck_assert_int_eq(metrics_add_gauge(&registry, &depth, &gauge), SAP_OK);
    gauge_set(gauge, -7);
    check_exposition(&registry, "# HELP depth Messages waiting.\n"
                                "# TYPE depth gauge\n"
                                "depth -7\n"
                                "# HELP sent_total Messages sent.\n"
                                "# TYPE sent_total counter\n"
                                "sent_total{queue=\"a\"} 18446744073709551615\n"
                                "sent_total{queue=\"b\"} 2\n");
    metrics_release(&registry);
}
END_TEST

START_TEST(help_and_label_values_are_escaped)
{
    MetricsRegistry registry;
    Counter *counter;
    MetricDesc desc = {"m", "a \"b\" \\ c\nd", "k", "a \"b\" \\ c\nd"};

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    ck_assert_int_eq(metrics_add_counter(&registry, &desc, &counter), SAP_OK);
    check_exposition(&registry, "# HELP m a \"b\" \\\\ c\\nd\n"
                                "# TYPE m counter\n"
                                "m{k=\"a \\\"b\\\" \\\\ c\\nd\"} 0\n");
    metrics_release(&registry);
}
END_TEST

/* The value on the line that starts with `series` and a space; aborts without one. */
static uint64_t sample(const Buf *buf, const char *series)
{
    char key[100];
    snprintf(key, sizeof key, "\n%s ", series);
    const char *found = strstr((const char *)buf->data, key);

    ck_assert_msg(found != NULL, "no %s", series);
    return strtoull(found + strlen(key), NULL, 10);
}

START_TEST(a_histogram_shows_the_same_cumulative_buckets_whatever_it_holds)
{
    static const uint64_t values[] = {0, 1, 2, 3, 4, 7, 8, 1000, 1023, 1024, UINT64_MAX};
    enum { VALUES = sizeof values / sizeof values[0] };
    MetricsRegistry registry;
    Histogram *histogram;
    MetricDesc desc = {"wait_ns", "Waiting.", "queue", "a"};
    uint64_t sum = 0;
    Buf buf;

    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    ck_assert_int_eq(metrics_add_histogram(&registry, &desc, &histogram), SAP_OK);
    for (size_t recorded = 0; recorded <= VALUES; recorded++) {
        size_t lines = 0;

        buf_init(&buf);
        ck_assert_int_eq(metrics_format_prometheus(&registry, &buf), SAP_OK);
        ck_assert_int_eq(buf_append_u8(&buf, 0), SAP_OK);
        for (size_t i = 0; i < buf.len; i++) {
            lines += buf.data[i] == '\n';
        }
        ck_assert_uint_eq(lines, 2 + 64 + 1 + 2);
        for (unsigned bits = 0; bits < 64; bits++) {
            uint64_t bound = (UINT64_C(1) << bits) - 1;
            uint64_t at_most = 0;
            char series[80];

            for (size_t i = 0; i < recorded; i++) {
                at_most += values[i] <= bound;
            }
            snprintf(series, sizeof series, "wait_ns_bucket{queue=\"a\",le=\"%" PRIu64 "\"}",
                     bound);
            ck_assert_uint_eq(sample(&buf, series), at_most);
        }
        ck_assert_uint_eq(sample(&buf, "wait_ns_bucket{queue=\"a\",le=\"+Inf\"}"), recorded);
        ck_assert_uint_eq(sample(&buf, "wait_ns_count{queue=\"a\"}"), recorded);
        ck_assert_uint_eq(sample(&buf, "wait_ns_sum{queue=\"a\"}"), sum);
        buf_release(&buf);
        if (recorded < VALUES) {
            histogram_record(histogram, values[recorded]);
            sum += values[recorded];
        }
    }
    metrics_release(&registry);

    /* Without a label of its own the bound stands alone. */
    desc.label_key = NULL;
    desc.label_value = NULL;
    ck_assert_int_eq(metrics_init(&registry), SAP_OK);
    ck_assert_int_eq(metrics_add_histogram(&registry, &desc, &histogram), SAP_OK);
    buf_init(&buf);
    ck_assert_int_eq(metrics_format_prometheus(&registry, &buf), SAP_OK);
    ck_assert_int_eq(buf_append_u8(&buf, 0), SAP_OK);
    ck_assert_uint_eq(sample(&buf, "wait_ns_bucket{le=\"+Inf\"}"), 0);
    ck_assert_uint_eq(sample(&buf, "wait_ns_sum"), 0);
    buf_release(&buf);
    metrics_release(&registry);
}
END_TEST

/* One metric of each type, then the exposition of all. The number of calls that succeeded. */
static int use_everything(MetricsRegistry *registry, Buf *buf)
{
    MetricDesc c = {"c", "Count.", "k", "v"}, g = {"g", "Level.", NULL, NULL};
    MetricDesc h = {"h", "Spread.", "k", "v"};
    Counter *counter;
    Gauge *gauge;
    Histogram *histogram;

    int rcs[4] = {
        metrics_add_counter(registry, &c, &counter),
        metrics_add_gauge(registry, &g, &gauge),
        metrics_add_histogram(registry, &h, &histogram),
        SAP_OK,
    };
    size_t count = registry->count;
    rcs[3] = metrics_format_prometheus(registry, buf);
    ck_assert_uint_eq(registry->count, count);

    int succeeded = 0;
    for (int i = 0; i < 4; i++) {
        ck_assert(rcs[i] == SAP_OK || rcs[i] == SAP_NOMEM);
        succeeded += rcs[i] == SAP_OK;
    }
    ck_assert_int_eq(rcs[3] == SAP_OK, buf->len > 4);
    return succeeded;
}

START_TEST(a_call_that_runs_out_of_memory_changes_nothing_and_can_be_made_again)
{
    uint64_t nth = 1;

    for (;; nth++) {
        MetricsRegistry registry;
        Buf buf;

        ck_assert_int_eq(metrics_init(&registry), SAP_OK);
        buf_init(&buf);
        ck_assert_int_eq(buf_append_str(&buf, "kept"), SAP_OK);
        fault_reset();
        fault_arm_alloc(nth);
        int succeeded = use_everything(&registry, &buf);
        uint64_t fired = fault_fired();
        fault_reset();
        ck_assert_int_eq(succeeded, fired == 0 ? 4 : 3);
        ck_assert_mem_eq(buf.data, "kept", 4);
        buf_clear(&buf);
        ck_assert_int_eq(buf_append_str(&buf, "kept"), SAP_OK);
        if (fired != 0) {
            /* What failed is not there, what succeeded is. */
            size_t count = registry.count;
            MetricDesc descs[3] = {{"c", "", "k", "v"}, {"g", "", NULL, NULL}, {"h", "", "k", "v"}};
            Counter *counter;
            Gauge *gauge;
            Histogram *histogram;
            int again = (metrics_add_counter(&registry, &descs[0], &counter) == SAP_OK) +
                        (metrics_add_gauge(&registry, &descs[1], &gauge) == SAP_OK) +
                        (metrics_add_histogram(&registry, &descs[2], &histogram) == SAP_OK);
            ck_assert_uint_eq(count + (size_t)again, 3);
        }
        metrics_release(&registry);
        buf_release(&buf);
        ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
        if (fired == 0) {
            break;
        }
    }
    ck_assert_uint_gt(nth, 13);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/metrics");
    TCase *tcase = tcase_create("metrics");

    tcase_add_test(tcase, counters_add_up);
    tcase_add_test(tcase, gauges_go_up_and_down_below_zero);
    tcase_add_test(tcase, an_empty_histogram_is_all_zero);
    tcase_add_test(tcase, a_histogram_of_one_value_answers_with_it);
    tcase_add_test(tcase, buckets_are_in_order_without_gaps_and_a_quarter_wide);
    tcase_add_test(tcase, quantiles_are_at_most_a_quarter_above_the_true_ones);
    tcase_add_test(tcase, shares_outside_zero_to_one_count_as_the_nearest);
    tcase_add_test(tcase, merged_histograms_are_as_if_recorded_in_one);
    tcase_add_test(tcase, a_name_is_taken_once);
    tcase_add_test(tcase, a_family_has_one_metric_per_label_value_of_one_label_and_type);
    tcase_add_test(tcase, the_parts_of_a_histogram_take_their_names_too);
    tcase_add_test(tcase, malformed_descriptions_are_refused);
    tcase_add_test(tcase, a_visit_is_in_order_of_name_and_label_and_ends_when_told);
    tcase_add_test(tcase, metrics_keep_their_place_while_the_registry_grows);
    tcase_add_test(tcase, an_exposition_announces_each_family_once);
    tcase_add_test(tcase, help_and_label_values_are_escaped);
    tcase_add_test(tcase, a_histogram_shows_the_same_cumulative_buckets_whatever_it_holds);
    tcase_add_test(tcase, a_call_that_runs_out_of_memory_changes_nothing_and_can_be_made_again);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
