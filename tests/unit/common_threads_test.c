/* What src/common promises to threads. Run under the thread sanitizer, which sees the races that
 * do not happen to show in the numbers. */
#include "common/clock.h"
#include "common/fault.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/metrics.h"
#include "common/random.h"
#include "common/relaxed.h"

#include <check.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 5000 };

typedef struct Worker {
    pthread_t thread;
    unsigned index;
    void (*work)(struct Worker *worker);
    void *shared;
    uint64_t count; /* of whatever `work` counts */
} Worker;

static void *start(void *arg)
{
    Worker *worker = arg;
    worker->work(worker);
    return NULL;
}

/* Runs `work` in all threads at once. Returns the sum of their counts. */
static uint64_t run(void (*work)(Worker *worker), void *shared)
{
    Worker workers[THREADS];
    uint64_t total = 0;

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (Worker){.index = i, .work = work, .shared = shared};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, start, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        total += workers[i].count;
    }
    return total;
}

typedef struct Relaxed {
    RelaxedU64 sum, low, high;
} Relaxed;

static void count_relaxed(Worker *worker)
{
    Relaxed *shared = worker->shared;

    for (uint64_t i = 1; i <= ROUNDS; i++) {
        relaxed_add(&shared->sum, 3);
        relaxed_sub(&shared->sum, 1);
        relaxed_max(&shared->high, i * THREADS + worker->index);
        relaxed_min(&shared->low, UINT64_MAX - (i * THREADS + worker->index));
    }
}

START_TEST(relaxed_counters_lose_nothing)
{
    Relaxed shared;

    relaxed_store(&shared.sum, 0);
    relaxed_store(&shared.high, 0);
    relaxed_store(&shared.low, UINT64_MAX);
    run(count_relaxed, &shared);
    ck_assert_uint_eq(relaxed_load(&shared.sum), (uint64_t)THREADS * ROUNDS * 2);
    uint64_t highest = (uint64_t)ROUNDS * THREADS + THREADS - 1;
    ck_assert_uint_eq(relaxed_load(&shared.high), highest);
    ck_assert_uint_eq(relaxed_load(&shared.low), UINT64_MAX - highest);
    ck_assert_uint_eq(relaxed_add(&shared.high, 1), highest);
    ck_assert_uint_eq(relaxed_sub(&shared.high, 1), highest + 1);
}
END_TEST

static void allocate(Worker *worker)
{
    Rng rng;

    rng_seed(&rng, worker->index);
    for (int i = 0; i < ROUNDS; i++) {
        size_t size = (size_t)rng_below(&rng, 200);
        void *p = mem_alloc(MEM_TEST, size);
        if (p == NULL) {
            worker->count++;
            continue;
        }
        void *moved = mem_resize(MEM_TEST, p, size, size + 50);
        if (moved == NULL) {
            worker->count++;
            mem_free(MEM_TEST, p, size);
        } else {
            mem_free(MEM_TEST, moved, size + 50);
        }
        p = mem_alloc_aligned(MEM_TEST, 64, size);
        worker->count += p == NULL;
        mem_free_aligned(MEM_TEST, p, size);
    }
}

START_TEST(memory_accounts_balance_when_threads_share_an_owner)
{
    fault_reset();
    ck_assert_uint_eq(run(allocate, NULL), 0);
    ck_assert_uint_eq(mem_live_bytes(MEM_TEST), 0);
    ck_assert_uint_eq(mem_live_blocks(MEM_TEST), 0);
    ck_assert_uint_eq(fault_alloc_count(), (uint64_t)THREADS * ROUNDS * 3);
}
END_TEST

START_TEST(a_fault_armed_once_hits_exactly_one_thread)
{
    for (uint64_t nth = 1; nth < 2000; nth += 333) {
        fault_reset();
        fault_arm_alloc(nth);
        ck_assert_uint_eq(run(allocate, NULL), 1);
        ck_assert_uint_eq(fault_fired(), 1);
    }
    fault_reset();
    ck_assert_uint_eq(mem_live_bytes(MEM_TEST), 0);
}
END_TEST

START_TEST(faults_armed_from_a_call_on_hit_every_later_one_of_any_thread)
{
    fault_reset();
    fault_arm_alloc_from(1001);
    uint64_t failed = run(allocate, NULL);
    ck_assert_uint_eq(failed, fault_fired());
    ck_assert_uint_eq(failed, fault_alloc_count() - 1000);
    fault_reset();
    ck_assert_uint_eq(mem_live_bytes(MEM_TEST), 0);
}
END_TEST

typedef struct Shared {
    MetricsRegistry registry;
    Counter *counter;
    Gauge *gauge;
    Histogram *histogram;
} Shared;

static void record(Worker *worker)
{
    Shared *shared = worker->shared;

    for (uint64_t i = 0; i < ROUNDS; i++) {
        counter_add(shared->counter, 2);
        gauge_add(shared->gauge, i % 2 == 0 ? 3 : -3);
        histogram_record(shared->histogram, i);
        if (i % 1000 == 0) {
            char value[32];
            Counter *mine;
            Buf buf;

            snprintf(value, sizeof value, "%u-%" PRIu64, worker->index, i);
            MetricDesc desc = {"made_total", "Made on the way.", "by", value};
            worker->count += metrics_add_counter(&shared->registry, &desc, &mine) == SAP_OK;
            buf_init(&buf);
            worker->count += metrics_format_prometheus(&shared->registry, &buf) == SAP_OK;
            buf_release(&buf);
        }
    }
}

START_TEST(metrics_are_recorded_added_and_read_at_once)
{
    MetricDesc c = {"c_total", "", NULL, NULL}, g = {"g", "", NULL, NULL};
    MetricDesc h = {"h", "", NULL, NULL};
    uint64_t count = (uint64_t)THREADS * ROUNDS;
    Shared shared;

    ck_assert_int_eq(metrics_init(&shared.registry), SAP_OK);
    ck_assert_int_eq(metrics_add_counter(&shared.registry, &c, &shared.counter), SAP_OK);
    ck_assert_int_eq(metrics_add_gauge(&shared.registry, &g, &shared.gauge), SAP_OK);
    ck_assert_int_eq(metrics_add_histogram(&shared.registry, &h, &shared.histogram), SAP_OK);
    ck_assert_uint_eq(run(record, &shared), (uint64_t)THREADS * (ROUNDS / 1000) * 2);
    ck_assert_uint_eq(counter_value(shared.counter), count * 2);
    ck_assert_int_eq(gauge_value(shared.gauge), 0);
    ck_assert_uint_eq(histogram_count(shared.histogram), count);
    ck_assert_uint_eq(histogram_sum(shared.histogram), count * (ROUNDS - 1) / 2);
    ck_assert_uint_eq(histogram_min(shared.histogram), 0);
    ck_assert_uint_eq(histogram_max(shared.histogram), ROUNDS - 1);
    ck_assert_uint_eq(shared.registry.count, 3 + THREADS * (ROUNDS / 1000));
    metrics_release(&shared.registry);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

static void move_clock(Worker *worker)
{
    ManualClock *manual = worker->shared;
    Clock clock = manual_clock(manual);
    uint64_t last = 0;

    for (int i = 0; i < ROUNDS; i++) {
        manual_clock_advance_ns(manual, 1);
        uint64_t now = clock_mono_ns(&clock);
        worker->count += now <= last;
        last = now;
    }
}

START_TEST(a_manual_clock_moved_by_many_never_goes_back)
{
    ManualClock manual;

    manual_clock_init(&manual, 0);
    Clock clock = manual_clock(&manual);
    ck_assert_uint_eq(run(move_clock, &manual), 0);
    ck_assert_uint_eq(clock_wall_ns(&clock), (uint64_t)THREADS * ROUNDS);
}
END_TEST

static void write_log(Worker *worker)
{
    const Log *log = worker->shared;

    for (int i = 0; i < ROUNDS / 10; i++) {
        LOG_EVENT(log, LOG_LEVEL_INFO, "tick", LOG_U64("worker", worker->index), LOG_I64("i", i));
    }
}

START_TEST(lines_of_many_threads_do_not_mix)
{
    LogFile out = {.file = tmpfile()};
    char line[200];
    size_t lines = 0;
    Log log;

    ck_assert_ptr_nonnull(out.file);
    log_init(&log, log_file_sink, &out, LOG_LEVEL_INFO, NULL);
    run(write_log, &log);
    ck_assert_uint_eq(relaxed_load(&out.lost), 0);
    rewind(out.file);
    while (fgets(line, sizeof line, out.file) != NULL) {
        unsigned worker;
        int i, len = 0;
        ck_assert_int_eq(sscanf(line, "%*s info tick worker=%u i=%d\n%n", &worker, &i, &len), 2);
        ck_assert_uint_eq((size_t)len, strlen(line));
        lines++;
    }
    ck_assert_uint_eq(lines, THREADS * (ROUNDS / 10));
    fclose(out.file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/threads");
    TCase *tcase = tcase_create("threads");

    tcase_add_test(tcase, relaxed_counters_lose_nothing);
    tcase_add_test(tcase, memory_accounts_balance_when_threads_share_an_owner);
    tcase_add_test(tcase, a_fault_armed_once_hits_exactly_one_thread);
    tcase_add_test(tcase, faults_armed_from_a_call_on_hit_every_later_one_of_any_thread);
    tcase_add_test(tcase, metrics_are_recorded_added_and_read_at_once);
    tcase_add_test(tcase, a_manual_clock_moved_by_many_never_goes_back);
    tcase_add_test(tcase, lines_of_many_threads_do_not_mix);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
