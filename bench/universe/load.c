/* load.c - an even load: messages are sent at fixed times, whether or not earlier ones are answered.
 *
 * Each thread sends every THREADS-th message and waits for its reply. If replies are late, its next
 * messages are too; they are sent as soon as it can, and `whole` counts the delay: it begins when the
 * message was to be sent. */
#include "universe/measure.h"

#include "universe/worlds.h"
#include "util.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

enum { RATE = 1000, THREADS = 64, WORLDS = 100, WARM_UP_MS = 500, STUCK_LOAD_MS = 8000 };

typedef struct Times {
    BenchSamples send;  /* sap_enqueue_ingress() */
    BenchSamples after; /* from its return to the reply */
    BenchSamples both;
    BenchSamples whole; /* from the moment at which it was to be called to the reply */
} Times;

typedef struct Load {
    Worlds *worlds;
    const char *name; /* begins the ids */
    uint64_t begin_ns;
    uint64_t messages;
    Times times[THREADS];
} Load;

static void sleep_until(uint64_t ns)
{
    struct timespec until = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

static int send_message(Load *load, Times *times, uint64_t number)
{
    char id[40];
    uint32_t world = (uint32_t)(number % WORLDS);
    uint64_t due_ns = load->begin_ns + number * (1000000000 / RATE);
    snprintf(id, sizeof id, "%s-%llu", load->name, (unsigned long long)number);
    sleep_until(due_ns);
    uint64_t begin_ns = bench_now_ns();
    if (worlds_send(load->worlds, world, NULL, id) != 0)
        return -1;
    uint64_t sent_ns = bench_now_ns();
    if (worlds_await(load->worlds, world, id) != 0)
        return -1;
    uint64_t end_ns = bench_now_ns();
    return bench_samples_add(&times->send, sent_ns - begin_ns) |
           bench_samples_add(&times->after, end_ns - sent_ns) |
           bench_samples_add(&times->both, end_ns - begin_ns) |
           bench_samples_add(&times->whole, end_ns - due_ns);
}

static int send_some(void *ctx, uint32_t thread)
{
    Load *load = ctx;
    int rc = 0;
    for (uint64_t i = thread; i < load->messages && !rc; i += THREADS)
        rc = send_message(load, &load->times[thread], i);
    return rc;
}

static void release_times(Times *times)
{
    bench_samples_release(&times->send);
    bench_samples_release(&times->after);
    bench_samples_release(&times->both);
    bench_samples_release(&times->whole);
}

static int append_times(Times *all, const Times *more)
{
    return bench_samples_append(&all->send, &more->send) |
           bench_samples_append(&all->after, &more->after) |
           bench_samples_append(&all->both, &more->both) |
           bench_samples_append(&all->whole, &more->whole);
}

/* *all_out: sorted; the caller releases it. */
static int run_load(Worlds *worlds, const char *name, uint64_t ms, Times *all_out)
{
    Load load = {.worlds = worlds, .name = name, .messages = RATE * ms / 1000};
    *all_out = (Times){.send = {0}};
    load.begin_ns = bench_now_ns() + 10000000;
    int rc = worlds_threads(THREADS, send_some, &load);
    for (uint32_t i = 0; i < THREADS; i++) {
        rc |= append_times(all_out, &load.times[i]);
        release_times(&load.times[i]);
    }
    bench_samples_sort(&all_out->send);
    bench_samples_sort(&all_out->after);
    bench_samples_sort(&all_out->both);
    bench_samples_sort(&all_out->whole);
    return rc;
}

static double percentile_ms(const BenchSamples *samples, unsigned percent)
{
    return (double)samples->ns[samples->count * percent / 100] / 1e6;
}

/* With one world more than the load is for, and all in memory. */
static int start_worlds(const UniRun *run, Worlds *worlds, Host **host_out)
{
    Times warm_up;
    if (worlds_make(run->url, worlds) != 0 || worlds_create(worlds, WORLDS + 1) != 0 ||
        worlds_host(worlds, 0, host_out) != 0 || worlds_settle(worlds) != 0 ||
        run_load(worlds, "warm-up", WARM_UP_MS, &warm_up) != 0)
        return -1;
    release_times(&warm_up);
    return 0;
}

static int end_worlds(Worlds *worlds, Host *host)
{
    return worlds_settle(worlds) == 0 && worlds_host_stop(host) == 0 ? worlds_close(worlds) : -1;
}

int measure_nominal(const UniRun *run, double *values)
{
    Worlds worlds;
    Host *host = NULL;
    Times times;
    if (start_worlds(run, &worlds, &host) != 0)
        return -1;
    double cpu = worlds_cpu_seconds();
    uint64_t begin_ns = bench_now_ns();
    if (run_load(&worlds, "nominal", run->ms * 2, &times) != 0)
        return -1;
    cpu = worlds_cpu_seconds() - cpu;
    values[NOMINAL_P50_MS] = percentile_ms(&times.both, 50);
    values[NOMINAL_P95_MS] = percentile_ms(&times.both, 95);
    values[NOMINAL_P99_MS] = percentile_ms(&times.both, 99);
    values[NOMINAL_AFTER_P95_MS] = percentile_ms(&times.after, 95);
    values[NOMINAL_SEND_P95_MS] = percentile_ms(&times.send, 95);
    values[NOMINAL_CPU_PERCENT] = 100 * cpu / ((double)(bench_now_ns() - begin_ns) / 1e9);
    release_times(&times);
    return end_worlds(&worlds, host);
}

int measure_stuck(const UniRun *run, double *values)
{
    Worlds worlds;
    Host *host = NULL;
    Times without, with;
    if (start_worlds(run, &worlds, &host) != 0 ||
        run_load(&worlds, "without", STUCK_LOAD_MS / 2, &without) != 0 ||
        worlds_send(&worlds, WORLDS, WORLDS_STUCK, NULL) != 0 || worlds_await_stuck() != 0 ||
        run_load(&worlds, "with", STUCK_LOAD_MS, &with) != 0)
        return -1;
    values[STUCK_WITHOUT_P95_MS] = percentile_ms(&without.whole, 95);
    values[STUCK_WITH_P95_MS] = percentile_ms(&with.whole, 95);
    values[STUCK_RATIO] = values[STUCK_WITH_P95_MS] / values[STUCK_WITHOUT_P95_MS];
    release_times(&without);
    release_times(&with);
    worlds.count = WORLDS; /* what became of the other one is not asked here */
    return end_worlds(&worlds, host);
}
