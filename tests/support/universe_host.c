/* universe_host.c - see universe_host.h. */
#include "support/universe_host.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/assert.h"
#include "common/sync.h"
#include "universe/universe_impl.h"

enum { ROLE_THREADS = 6, RENEW_EVERY_MS = 250, ROLE_EVERY_MS = 100 };

#define MS_NS    UINT64_C(1000000)
#define WAIT_NS  (100 * MS_NS)
#define PAUSE_NS (20 * MS_NS)

/* Of a job, in ExecutorJob.state. */
typedef enum JobState { JOB_QUEUED, JOB_RUNS, JOB_ENDED } JobState;

/* Threads that run jobs, first in, first out. */
typedef struct Pool {
    Mutex lock;
    Cond work;
    ExecutorJob *first;
    ExecutorJob *last;
    bool stopping;
    pthread_t threads[UNIVERSE_HOST_MAX_HANDLERS];
    uint32_t count;
    SapUniverse *universe; /* borrowed: it outlives the worker */
} Pool;

struct UniverseHost {
    SapWorker *worker;
    SAP_ATOMIC(bool) stopping;
    SAP_ATOMIC(int) code;
    Mutex lock; /* of the field below */
    SapWorkerStats stats;
    pthread_t threads[ROLE_THREADS];
    int thread_count;
    Pool pool;
};

/* ---- Handlers -------------------------------------------------------------------------------- */

static void pool_start(void *ctx, ExecutorJob *job)
{
    Pool *pool = (Pool *)ctx;
    job->next = NULL;
    job->state = JOB_QUEUED;
    mutex_lock(&pool->lock);
    *(pool->last != NULL ? &pool->last->next : &pool->first) = job;
    pool->last = job;
    cond_signal(&pool->work);
    mutex_unlock(&pool->lock);
}

static bool pool_poll(void *ctx, ExecutorJob *job)
{
    Pool *pool = (Pool *)ctx;
    mutex_lock(&pool->lock);
    bool ended = job->state == JOB_ENDED;
    mutex_unlock(&pool->lock);
    return ended;
}

/* One that waits still runs, and sees at once that nobody wants it. */
static void pool_cancel(void *ctx, ExecutorJob *job)
{
    (void)ctx;
    (void)job;
}

static ExecutorJob *take_job(Pool *pool)
{
    ExecutorJob *job = pool->first;
    if (job != NULL) {
        pool->first = job->next;
        pool->last = pool->first == NULL ? NULL : pool->last;
        job->state = JOB_RUNS;
    }
    return job;
}

static void *run_jobs(void *arg)
{
    Pool *pool = (Pool *)arg;
    mutex_lock(&pool->lock);
    while (!pool->stopping || pool->first != NULL) {
        ExecutorJob *job = take_job(pool);
        if (job == NULL) {
            cond_wait(&pool->work, &pool->lock);
            continue;
        }
        mutex_unlock(&pool->lock);
        job->run(job);
        mutex_lock(&pool->lock);
        job->state = JOB_ENDED; /* the worker's from here on */
        mutex_unlock(&pool->lock);
        universe_poke(pool->universe);
        mutex_lock(&pool->lock);
    }
    mutex_unlock(&pool->lock);
    return NULL;
}

static int open_pool(Pool *pool, SapUniverse *universe, SapWorker *worker, uint32_t threads)
{
    pool->universe = universe;
    if (!mutex_init(&pool->lock) || !cond_init(&pool->work)) {
        return SAP_NOMEM;
    }
    while (pool->count < threads && pool->count < UNIVERSE_HOST_MAX_HANDLERS) {
        if (pthread_create(&pool->threads[pool->count], NULL, run_jobs, pool) != 0) {
            return SAP_NOMEM;
        }
        pool->count++;
    }
    if (threads > 0) {
        worker_set_executor(worker, &(Executor){.start = pool_start,
                                                .poll = pool_poll,
                                                .cancel = pool_cancel,
                                                .ctx = pool});
    }
    return SAP_OK;
}

static void stop_pool(Pool *pool)
{
    mutex_lock(&pool->lock);
    pool->stopping = true;
    cond_broadcast(&pool->work);
    mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    cond_destroy(&pool->work);
    mutex_destroy(&pool->lock);
}

/* ---- Roles ----------------------------------------------------------------------------------- */

static void pause_ns(uint64_t ns)
{
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    (void)nanosleep(&pause, NULL);
}

/* Whether the thread may call again after this code. */
static bool goes_on(UniverseHost *host, int rc)
{
    int none = SAP_OK;
    if (rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT || rc == SAP_NOMEM || rc == SAP_FULL ||
        rc == SAP_IO) {
        return !atomic_load_full(&host->stopping);
    }
    (void)atomic_cas_full(&host->code, &none, rc);
    return false;
}

static void *renew(void *arg)
{
    UniverseHost *host = (UniverseHost *)arg;
    int rc = SAP_OK;
    while (goes_on(host, rc)) {
        rc = sap_worker_renew(host->worker);
        pause_ns(MS_NS * RENEW_EVERY_MS);
    }
    return NULL;
}

/* A worker's stats are those of the thread that steps it. */
static void note_stats(UniverseHost *host)
{
    SapWorkerStats stats = {0};
    (void)sap_worker_stats(host->worker, &stats);
    mutex_lock(&host->lock);
    host->stats = stats;
    mutex_unlock(&host->lock);
}

static void *run_worlds(void *arg)
{
    UniverseHost *host = (UniverseHost *)arg;
    int rc = SAP_OK;
    while (goes_on(host, rc)) {
        bool busy = false;
        rc = sap_worker_step(host->worker, &busy);
        note_stats(host);
        if (rc == SAP_OK && !busy) {
            rc = sap_worker_wait(host->worker, WAIT_NS);
        }
        if (rc != SAP_OK) {
            pause_ns(PAUSE_NS);
        }
    }
    return NULL;
}

static void *run_role(UniverseHost *host, SapRole role)
{
    int rc = SAP_OK;
    while (goes_on(host, rc)) {
        bool busy = false;
        rc = sap_worker_step_role(host->worker, role, &busy);
        if (rc == SAP_OK && !busy &&
            sap_worker_wait_role(host->worker, role, MS_NS * ROLE_EVERY_MS) == SAP_OK) {
            continue;
        }
        if (rc != SAP_OK || !busy) {
            pause_ns(MS_NS * ROLE_EVERY_MS);
        }
    }
    return NULL;
}

static void *orchestrate(void *arg)
{
    return run_role((UniverseHost *)arg, SAP_ROLE_ORCHESTRATOR);
}

static void *reap(void *arg)
{
    return run_role((UniverseHost *)arg, SAP_ROLE_REAPER);
}

static void *fire_timers(void *arg)
{
    return run_role((UniverseHost *)arg, SAP_ROLE_TIMERS);
}

static void *perform_effects(void *arg)
{
    return run_role((UniverseHost *)arg, SAP_ROLE_EFFECTS);
}

static int start_thread(UniverseHost *host, void *(*run)(void *))
{
    if (pthread_create(&host->threads[host->thread_count], NULL, run, host) != 0) {
        return SAP_NOMEM;
    }
    host->thread_count++;
    return SAP_OK;
}

int universe_host_start(SapUniverse *universe, const UniverseHostOptions *options,
                        UniverseHost **host_out)
{
    UniverseHost *host = (UniverseHost *)calloc(1, sizeof *host);
    SapWorkerOptions worker_options = options->worker;
    if (host == NULL) {
        return SAP_NOMEM;
    }
    worker_options.size = sizeof worker_options;
    int rc = mutex_init(&host->lock) ? SAP_OK : SAP_NOMEM;
    if (rc != SAP_OK) {
        goto free_host;
    }
    rc = sap_worker_open(universe, &worker_options, &host->worker);
    if (rc != SAP_OK) {
        goto destroy_lock;
    }
    rc = open_pool(&host->pool, universe, host->worker, options->handlers);
    if (rc == SAP_OK && options->prepare != NULL) {
        rc = options->prepare(host->worker, options->prepare_ctx);
    }
    rc = rc == SAP_OK ? start_thread(host, renew) : rc;
    rc = rc == SAP_OK ? start_thread(host, run_worlds) : rc;
    rc = rc == SAP_OK && options->keeps_house ? start_thread(host, orchestrate) : rc;
    rc = rc == SAP_OK && options->keeps_house ? start_thread(host, reap) : rc;
    rc = rc == SAP_OK && options->keeps_house ? start_thread(host, fire_timers) : rc;
    rc = rc == SAP_OK && options->keeps_house ? start_thread(host, perform_effects) : rc;
    if (rc != SAP_OK) {
        (void)universe_host_stop(host);
        return rc;
    }
    *host_out = host;
    return SAP_OK;

destroy_lock:
    mutex_destroy(&host->lock);
free_host:
    free(host);
    return rc;
}

SapWorker *universe_host_worker(UniverseHost *host)
{
    return host->worker;
}

void universe_host_stats(UniverseHost *host, SapWorkerStats *stats_out)
{
    mutex_lock(&host->lock);
    *stats_out = host->stats;
    mutex_unlock(&host->lock);
}

int universe_host_code(UniverseHost *host)
{
    return atomic_load_full(&host->code);
}

int universe_host_stop(UniverseHost *host)
{
    if (host == NULL) {
        return SAP_OK;
    }
    atomic_store_full(&host->stopping, true);
    for (int i = 0; i < host->thread_count; i++) {
        pthread_join(host->threads[i], NULL);
    }
    int code = universe_host_code(host);
    int rc = sap_worker_close(host->worker);
    while (rc == SAP_BUSY) { /* a handler runs */
        pause_ns(PAUSE_NS);
        rc = sap_worker_close(host->worker);
    }
    stop_pool(&host->pool);
    mutex_destroy(&host->lock);
    free(host);
    return code == SAP_OK ? rc : code;
}
