/* life.c - worlds that come into memory: after a restart, and one by one. */
#include "universe/measure.h"

#include "universe/worlds.h"
#include "util.h"

#include <stdio.h>

/* ---- Restore -------------------------------------------------------------------------------- */

enum { ENTRIES = 200000, RESTORES = 5 };

/* A new worker has the world in memory when its first step there is done. */
static int restore_once(Worlds *worlds, uint32_t number, uint64_t *ns_out)
{
    Host *host = NULL;
    char id[16];
    snprintf(id, sizeof id, "restore-%u", number);
    if (worlds_send(worlds, 0, NULL, id) != 0)
        return -1;
    uint64_t begin_ns = bench_now_ns();
    if (worlds_host(worlds, 0, &host) != 0 || worlds_await(worlds, 0, id) != 0)
        return -1;
    *ns_out = bench_now_ns() - begin_ns;
    return worlds_host_stop(host);
}

static int send_entries(void *ctx, uint32_t thread)
{
    Worlds *worlds = ctx;
    int rc = 0;
    for (uint32_t i = thread; i < ENTRIES && !rc; i += WORLDS_CLIENTS)
        rc = worlds_send(worlds, 0, NULL, NULL);
    return rc;
}

int measure_restore(const UniRun *run, double *values)
{
    Worlds worlds;
    Host *host = NULL;
    BenchSamples times = {0};
    if (worlds_make(run->url, &worlds) != 0 || worlds_create(&worlds, 1) != 0 ||
        worlds_host(&worlds, 0, &host) != 0 ||
        worlds_threads(WORLDS_CLIENTS, send_entries, &worlds) != 0 || worlds_rest(&worlds) != 0 ||
        worlds_host_stop(host) != 0)
        return -1;
    for (uint32_t i = 0; i < RESTORES; i++) {
        uint64_t ns = 0;
        if (restore_once(&worlds, i, &ns) != 0 || bench_samples_add(&times, ns) != 0)
            return -1;
    }
    bench_samples_sort(&times);
    values[RESTORE_SECONDS] = (double)times.ns[RESTORES / 2] / 1e9;
    values[RESTORE_PER_S] = ENTRIES / values[RESTORE_SECONDS];
    bench_samples_release(&times);
    return worlds_close(&worlds);
}

/* ---- Restart -------------------------------------------------------------------------------- */

enum { RESTART_WORLDS = 1000, RESTART_BACKLOG = 20, LOOK_US = 100 };

typedef struct Before {
    const char *url;
    int killed;
} Before;

/* The process before. If it is killed, its worker holds all worlds and is in the middle of a handler:
 * bench_in_child() ends it without giving anything back. */
static int fill_worlds(const void *arg, void *result)
{
    const Before *before = arg;
    Worlds worlds;
    Host *host = NULL;
    (void)result;
    if (worlds_make(before->url, &worlds) != 0 || worlds_create(&worlds, RESTART_WORLDS) != 0 ||
        worlds_host(&worlds, 0, &host) != 0 || worlds_settle(&worlds) != 0)
        return -1;
    if (before->killed) {
        worlds_hold_handlers(1);
        return worlds_send_each(&worlds, RESTART_BACKLOG);
    }
    if (worlds_host_stop(host) != 0 || worlds_send_each(&worlds, RESTART_BACKLOG) != 0)
        return -1;
    return worlds_close(&worlds);
}

/* Until the world whose handler was the first has a durable step more. */
static int await_first_step(Worlds *worlds)
{
    uint32_t world = 0;
    uint64_t height = 0;
    int rc = worlds_await_first(&world);
    rc = rc ? rc : worlds_height(worlds, world, &height);
    while (!rc && height <= 1) {
        bench_sleep_us(LOOK_US);
        rc = worlds_height(worlds, world, &height);
    }
    return rc;
}

typedef struct Restart {
    Before before;
    double first_ms;
    double all_ms;
} Restart;

static int restart_worlds(const void *arg, void *result)
{
    const Before *before = arg;
    Restart *restart = result;
    Worlds worlds;
    Host *host = NULL;
    uint64_t begin_ns = bench_now_ns();
    if (worlds_open(before->url, RESTART_WORLDS, 1 + RESTART_BACKLOG, &worlds) != 0 ||
        worlds_host(&worlds, 0, &host) != 0 || await_first_step(&worlds) != 0)
        return -1;
    restart->first_ms = (double)(bench_now_ns() - begin_ns) / 1e6;
    if (worlds_settle(&worlds) != 0)
        return -1;
    restart->all_ms = (double)(bench_now_ns() - begin_ns) / 1e6;
    return worlds_host_stop(host) == 0 ? worlds_close(&worlds) : -1;
}

static int measure_one_restart(const UniRun *run, int killed, double *first_ms, double *all_ms)
{
    char url[UNI_URL + 8], none;
    Restart restart;
    snprintf(url, sizeof url, "%s%s", run->url, killed ? "-killed" : "");
    Before before = {url, killed};
    if (bench_in_child(fill_worlds, &before, &none, sizeof none) != 0 ||
        bench_in_child(restart_worlds, &before, &restart, sizeof restart) != 0)
        return -1;
    *first_ms = restart.first_ms;
    *all_ms = restart.all_ms;
    return 0;
}

int measure_restart(const UniRun *run, double *values)
{
    return measure_one_restart(run, 0, &values[RESTART_CLEAN_MS], &values[RESTART_CLEAN_ALL_MS]) |
           measure_one_restart(run, 1, &values[RESTART_KILLED_MS], &values[RESTART_KILLED_ALL_MS]);
}

/* ---- Activation ----------------------------------------------------------------------------- */

enum { DORMANT_WORLDS = 1000, DORMANT_ENTRIES = 10, SMALL_WORKER = 64 };

static int check_dormant(Worlds *worlds, uint32_t world)
{
    char name[16];
    SapWorldInfo info;
    worlds_name(worlds, world, name);
    if (worlds_check("info", sap_world_info(worlds->universe, name, &info)) != 0)
        return -1;
    if (info.holder[0])
        fprintf(stderr, "bench: %s is not dormant\n", name);
    return info.holder[0] ? -1 : 0;
}

/* Messages to worlds from `first` on, one after the other; none of these is in memory. */
static int activate_worlds(Worlds *worlds, uint32_t first, const char *name, double *p50_ms,
                           double *p95_ms)
{
    BenchSamples times = {0};
    int rc = 0;
    for (uint32_t i = first; i < DORMANT_WORLDS && !rc; i++) {
        rc = check_dormant(worlds, i);
        uint64_t begin_ns = bench_now_ns();
        rc = rc ? rc : worlds_send(worlds, i, NULL, name);
        rc = rc ? rc : worlds_await(worlds, i, name);
        rc = rc ? rc : bench_samples_add(&times, bench_now_ns() - begin_ns);
    }
    if (!rc) {
        bench_samples_sort(&times);
        *p50_ms = (double)times.ns[times.count / 2] / 1e6;
        *p95_ms = (double)times.ns[times.count * 95 / 100] / 1e6;
    }
    bench_samples_release(&times);
    return rc;
}

/* The first worlds fill the worker up. */
static int fill_worker(Worlds *worlds)
{
    int rc = 0;
    for (uint32_t i = 0; i < SMALL_WORKER && !rc; i++)
        rc = worlds_send(worlds, i, NULL, NULL);
    return rc ? rc : worlds_rest(worlds);
}

/* A message waits in each world, and the worker has room for few of them. */
static int churn_worlds(Worlds *worlds, double *per_s)
{
    Host *host = NULL;
    if (worlds_send_each(worlds, 1) != 0)
        return -1;
    uint64_t begin_ns = bench_now_ns();
    if (worlds_host(worlds, SMALL_WORKER, &host) != 0 || worlds_rest(worlds) != 0)
        return -1;
    *per_s = DORMANT_WORLDS / ((double)(bench_now_ns() - begin_ns) / 1e9);
    return worlds_host_stop(host);
}

int measure_activation(const UniRun *run, double *values)
{
    Worlds worlds;
    Host *host = NULL;
    if (worlds_make(run->url, &worlds) != 0 || worlds_create(&worlds, DORMANT_WORLDS) != 0 ||
        worlds_host(&worlds, 0, &host) != 0 ||
        worlds_send_each(&worlds, DORMANT_ENTRIES - 1) != 0 || worlds_rest(&worlds) != 0 ||
        worlds_host_stop(host) != 0)
        return -1;
    if (worlds_host(&worlds, 0, &host) != 0 ||
        activate_worlds(&worlds, 0, "room", &values[ACTIVATION_P50_MS],
                        &values[ACTIVATION_P95_MS]) != 0 ||
        worlds_rest(&worlds) != 0 || worlds_host_stop(host) != 0)
        return -1;
    if (worlds_host(&worlds, SMALL_WORKER, &host) != 0 || fill_worker(&worlds) != 0 ||
        activate_worlds(&worlds, SMALL_WORKER, "full", &values[ACTIVATION_FULL_P50_MS],
                        &values[ACTIVATION_FULL_P95_MS]) != 0 ||
        worlds_rest(&worlds) != 0 || worlds_host_stop(host) != 0 ||
        churn_worlds(&worlds, &values[ACTIVATION_CHURN_PER_S]) != 0)
        return -1;
    return worlds_close(&worlds);
}
