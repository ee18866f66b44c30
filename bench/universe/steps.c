/* steps.c - steps from end to end, from a backlog, and renewals beside them. */
#include "universe/measure.h"

#include "universe/session.h"
#include "universe/worlds.h"
#include "util.h"

#include <stdio.h>
#include <sys/stat.h>

enum { WORLDS = 1000, BACKLOG = 300, RENEW_EVERY_MS = 5 };

typedef struct Clients {
    Worlds *worlds;
    int replies;
    int renews; /* one more thread renews a session */
    uint64_t end_ns;
    BenchSamples waits[WORLDS_CLIENTS];
    BenchSamples renewals;
} Clients;

static int send_messages(Clients *clients, uint32_t client)
{
    uint64_t random = client + 1;
    int rc = 0;
    for (uint64_t i = 0; !rc && bench_now_ns() < clients->end_ns; i++) {
        char id[40];
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint32_t world = (uint32_t)(random >> 33) % clients->worlds->count;
        uint64_t begin_ns = bench_now_ns();
        snprintf(id, sizeof id, "%u-%llu", client, (unsigned long long)i);
        rc = worlds_send(clients->worlds, world, NULL, clients->replies ? id : NULL);
        if (!rc && clients->replies)
            rc = worlds_await(clients->worlds, world, id);
        rc = rc ? rc : bench_samples_add(&clients->waits[client], bench_now_ns() - begin_ns);
    }
    return rc;
}

/* By the very calls of a worker, but more often. */
static int renew_session(Clients *clients)
{
    Session session;
    SapStore *store = sap_universe_store(clients->worlds->universe);
    int rc = session_init(&session, store, NULL, NULL, 0, "renewals");
    rc = rc == SAP_OK ? session_start(&session) : rc;
    while (rc == SAP_OK && bench_now_ns() < clients->end_ns) {
        uint64_t begin_ns = bench_now_ns();
        rc = session_renew(&session);
        if (bench_samples_add(&clients->renewals, bench_now_ns() - begin_ns) != 0)
            return -1;
        bench_sleep_us(RENEW_EVERY_MS * 1000);
    }
    rc = rc == SAP_OK ? session_end(&session) : rc;
    return worlds_check("renewal", rc);
}

static int run_client(void *ctx, uint32_t thread)
{
    Clients *clients = ctx;
    return thread < WORLDS_CLIENTS ? send_messages(clients, thread) : renew_session(clients);
}

/* ---- Counting ------------------------------------------------------------------------------- */

typedef struct Usage {
    uint64_t ns;
    uint64_t steps;
    uint64_t commits;
    uint64_t cycles;
    double cpu_seconds;
} Usage;

/* While the worker has nothing to do. */
static int take_usage(Worlds *worlds, Host *host, Usage *usage)
{
    SapStoreStats store;
    SapWorkerStats worker;
    int rc = sap_store_stats(sap_universe_store(worlds->universe), &store);
    rc = rc == SAP_OK ? sap_worker_stats(host_worker(host), &worker) : rc;
    *usage = (Usage){.ns = bench_now_ns(),
                     .steps = worlds_steps(worlds),
                     .commits = store.committed,
                     .cycles = worker.cycles,
                     .cpu_seconds = worlds_cpu_seconds()};
    return worlds_check("stats", rc);
}

static void write_usage(const Usage *from, const Usage *to, double *values)
{
    double steps = (double)(to->steps - from->steps);
    double seconds = (double)(to->ns - from->ns) / 1e9;
    double cpu = to->cpu_seconds - from->cpu_seconds;
    values[STEPS_PER_S] = steps / seconds;
    values[STEPS_PER_COMMIT] = steps / (double)(to->commits - from->commits);
    values[STEPS_PER_CYCLE] = steps / (double)(to->cycles - from->cycles);
    values[STEPS_CPU_US] = cpu * 1e6 / steps;
    values[STEPS_CORES] = cpu / seconds;
}

/* The closed store is one file. */
static void write_file_bytes(const UniRun *run, uint64_t steps, double *values)
{
    struct stat st;
    if (stat(run->path, &st) == 0)
        values[STEPS_FILE_BYTES] = (double)st.st_size / (double)steps;
}

static int write_waits(Clients *clients, double *values)
{
    BenchSamples all = {0};
    int rc = 0;
    for (uint32_t i = 0; i < WORLDS_CLIENTS; i++) {
        rc |= bench_samples_append(&all, &clients->waits[i]);
        bench_samples_release(&clients->waits[i]);
    }
    if (!rc && all.count) {
        bench_samples_sort(&all);
        values[STEPS_P50_MS] = (double)all.ns[all.count / 2] / 1e6;
        values[STEPS_P95_MS] = (double)all.ns[all.count * 95 / 100] / 1e6;
    }
    bench_samples_release(&all);
    return rc;
}

/* ---- End to end ----------------------------------------------------------------------------- */

/* All worlds are in memory when the clients begin. */
static int measure_clients(const UniRun *run, const char *url, Clients *clients, double *values)
{
    Worlds worlds;
    Host *host = NULL;
    Usage from, to;
    clients->worlds = &worlds;
    if (worlds_make(url, &worlds) != 0 || worlds_create(&worlds, WORLDS) != 0 ||
        worlds_host(&worlds, 0, &host) != 0 || worlds_rest(&worlds) != 0 ||
        take_usage(&worlds, host, &from) != 0)
        return -1;
    clients->end_ns = bench_now_ns() + run->ms * 1000000;
    if (worlds_threads(WORLDS_CLIENTS + (uint32_t)clients->renews, run_client, clients) != 0 ||
        worlds_rest(&worlds) != 0 || take_usage(&worlds, host, &to) != 0)
        return -1;
    write_usage(&from, &to, values);
    if (write_waits(clients, values) != 0 || worlds_host_stop(host) != 0 ||
        worlds_close(&worlds) != 0)
        return -1;
    write_file_bytes(run, to.steps, values);
    return 0;
}

int measure_acknowledged(const UniRun *run, double *values)
{
    Clients clients = {.replies = 0};
    return measure_clients(run, run->url, &clients, values);
}

int measure_replies(const UniRun *run, double *values)
{
    Clients clients = {.replies = 1};
    return measure_clients(run, run->url, &clients, values);
}

int measure_acknowledged_pg(const UniRun *run, double *values)
{
    Clients clients = {.replies = 0};
    return measure_clients(run, run->pg_url, &clients, values);
}

int measure_replies_pg(const UniRun *run, double *values)
{
    Clients clients = {.replies = 1};
    return measure_clients(run, run->pg_url, &clients, values);
}

int measure_renewal(const UniRun *run, double *values)
{
    Clients clients = {.renews = 1};
    double steps[UNI_VALUES];
    if (measure_clients(run, run->url, &clients, steps) != 0)
        return -1;
    BenchSamples *samples = &clients.renewals;
    bench_samples_sort(samples);
    values[RENEWAL_P50_MS] = (double)samples->ns[samples->count / 2] / 1e6;
    values[RENEWAL_P95_MS] = (double)samples->ns[samples->count * 95 / 100] / 1e6;
    values[RENEWAL_MAX_MS] = (double)samples->ns[samples->count - 1] / 1e6;
    values[RENEWAL_STEPS_PER_S] = steps[STEPS_PER_S];
    bench_samples_release(samples);
    return 0;
}

/* ---- From a backlog ------------------------------------------------------------------------- */

int measure_backlog(const UniRun *run, double *values)
{
    Worlds worlds;
    Host *host = NULL;
    Usage from = {0}, to;
    if (worlds_make(run->url, &worlds) != 0 || worlds_create(&worlds, WORLDS) != 0 ||
        worlds_send_each(&worlds, BACKLOG) != 0)
        return -1;
    double cpu_seconds = worlds_cpu_seconds();
    uint64_t begin_ns = bench_now_ns();
    if (worlds_host(&worlds, 0, &host) != 0 || take_usage(&worlds, host, &from) != 0)
        return -1;
    from = (Usage){.ns = begin_ns, .cpu_seconds = cpu_seconds, .commits = from.commits};
    if (worlds_settle(&worlds) != 0)
        return -1;
    uint64_t durable_ns = bench_now_ns();
    if (worlds_rest(&worlds) != 0 || take_usage(&worlds, host, &to) != 0)
        return -1;
    write_usage(&from, &to, values);
    values[BACKLOG_DURABLE_PER_S] = (double)to.steps / ((double)(durable_ns - begin_ns) / 1e9);
    if (worlds_host_stop(host) != 0 || worlds_close(&worlds) != 0)
        return -1;
    write_file_bytes(run, to.steps, values);
    return 0;
}
