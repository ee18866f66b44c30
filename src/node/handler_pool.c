/* handler_pool.c - see handler_pool.h. */
#include "node/handler_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/assert.h"
#include "common/sync.h"
#include "universe/universe_impl.h"

/* Of a job, in ExecutorJob.state. */
typedef enum JobState { JOB_QUEUED, JOB_RUNS, JOB_ENDED } JobState;

/* Invariant, under the lock: idle + running <= count <= most; first is NULL exactly if last is. */
struct HandlerPool {
    SapUniverse *universe;
    Mutex lock; /* of all that follows */
    Cond work;
    ExecutorJob *first; /* queued, first in, first out */
    ExecutorJob *last;
    uint32_t queued;
    uint32_t idle; /* threads that wait for work */
    uint32_t running;
    uint32_t count;
    uint32_t most;
    bool stopping;
    pthread_t threads[];
};

static ExecutorJob *take_job(HandlerPool *pool)
{
    ExecutorJob *job = pool->first;
    if (job != NULL) {
        pool->first = job->next;
        pool->last = pool->first == NULL ? NULL : pool->last;
        pool->queued--;
        pool->running++;
        job->state = JOB_RUNS;
    }
    return job;
}

static void *run_jobs(void *arg)
{
    HandlerPool *pool = (HandlerPool *)arg;
    mutex_lock(&pool->lock);
    while (!pool->stopping || pool->first != NULL) {
        ExecutorJob *job = take_job(pool);
        if (job == NULL) {
            pool->idle++;
            cond_wait(&pool->work, &pool->lock);
            pool->idle--;
            continue;
        }
        mutex_unlock(&pool->lock);
        job->run(job);
        mutex_lock(&pool->lock);
        job->state = JOB_ENDED; /* the worker's from here on */
        SAP_ASSERT(pool->running > 0);
        pool->running--;
        mutex_unlock(&pool->lock);
        universe_poke(pool->universe);
        mutex_lock(&pool->lock);
    }
    mutex_unlock(&pool->lock);
    return NULL;
}

/* Without the thread the job waits for one that is there. */
static int add_thread(HandlerPool *pool)
{
    SAP_ASSERT(pool->count < pool->most);
    if (pthread_create(&pool->threads[pool->count], NULL, run_jobs, pool) != 0) {
        return SAP_NOMEM;
    }
    pool->count++;
    return SAP_OK;
}

static void start_pooled(void *ctx, ExecutorJob *job)
{
    HandlerPool *pool = (HandlerPool *)ctx;
    job->next = NULL;
    job->state = JOB_QUEUED;
    mutex_lock(&pool->lock);
    *(pool->last != NULL ? &pool->last->next : &pool->first) = job;
    pool->last = job;
    pool->queued++;
    if (pool->queued > pool->idle && pool->count < pool->most) {
        (void)add_thread(pool);
    }
    cond_signal(&pool->work);
    mutex_unlock(&pool->lock);
}

static bool has_ended(void *ctx, ExecutorJob *job)
{
    HandlerPool *pool = (HandlerPool *)ctx;
    mutex_lock(&pool->lock);
    bool ended = job->state == JOB_ENDED;
    mutex_unlock(&pool->lock);
    return ended;
}

/* A job that waits still runs, and sees at once that nobody wants it; so does a handler that asks
 * sap_world_cancelled(). */
static void cancel_pooled(void *ctx, ExecutorJob *job)
{
    (void)ctx;
    (void)job;
}

int handler_pool_new(SapUniverse *universe, uint32_t most, HandlerPool **pool_out)
{
    SAP_ASSERT(most > 0 && most <= HANDLER_POOL_MOST);
    HandlerPool *pool = (HandlerPool *)calloc(1, sizeof *pool + most * sizeof pool->threads[0]);
    if (pool == NULL) {
        return SAP_NOMEM;
    }
    pool->universe = universe;
    pool->most = most;
    if (!mutex_init(&pool->lock)) {
        goto free_pool;
    }
    if (!cond_init(&pool->work)) {
        goto destroy_lock;
    }
    mutex_lock(&pool->lock);
    int rc = add_thread(pool);
    mutex_unlock(&pool->lock);
    if (rc != SAP_OK) {
        goto destroy_cond;
    }
    *pool_out = pool;
    return SAP_OK;

destroy_cond:
    cond_destroy(&pool->work);
destroy_lock:
    mutex_destroy(&pool->lock);
free_pool:
    free(pool);
    return SAP_NOMEM;
}

Executor handler_pool_executor(HandlerPool *pool)
{
    return (Executor){.start = start_pooled,
                      .poll = has_ended,
                      .cancel = cancel_pooled,
                      .ctx = pool,
                      .capacity = pool->most};
}

uint32_t handler_pool_running(HandlerPool *pool)
{
    mutex_lock(&pool->lock);
    uint32_t running = pool->running;
    mutex_unlock(&pool->lock);
    return running;
}

void handler_pool_free(HandlerPool *pool)
{
    if (pool == NULL) {
        return;
    }
    mutex_lock(&pool->lock);
    pool->stopping = true;
    cond_broadcast(&pool->work);
    mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    SAP_ASSERT(pool->first == NULL && pool->running == 0);
    cond_destroy(&pool->work);
    mutex_destroy(&pool->lock);
    free(pool);
}
