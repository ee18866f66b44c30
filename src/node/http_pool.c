/* http_pool.c - see http_pool.h. */
#include "node/http_pool.h"

#include <pthread.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/sync.h"
#include "node/api_messages.h"
#include "node/http_wait.h"

typedef struct CallQueue {
    Pool *pool;
    Cond work;
    Call *first;
    Call *last;
    uint32_t count;
    uint32_t most;
} CallQueue;

struct Pool {
    Mutex lock; /* of everything below */
    CallQueue queues[POOL_QUEUES];
    uint32_t queue_count; /* of them, that have been made */
    bool stopping;
    pthread_t threads[POOL_THREADS + POOL_ASKERS + POOL_SENDERS];
    uint32_t thread_count;
};

/* Up to `most` calls, in a list; NULL: there are none. Under the lock. */
static Call *take_calls(CallQueue *queue, uint32_t most)
{
    Call *first = queue->first;
    Call *last = first;
    if (first == NULL) {
        return NULL;
    }
    uint32_t taken = 1;
    while (taken < most && last->next != NULL) {
        last = last->next;
        taken++;
    }
    queue->first = last->next;
    queue->last = queue->first == NULL ? NULL : queue->last;
    SAP_ASSERT(queue->count >= taken);
    queue->count -= taken;
    last->next = NULL;
    return first;
}

/* Of a call that nobody has begun to run. */
static bool fail_stopping(Call *call)
{
    return call_fail(call, API_STOPPING, "the node is stopping: try again when it is back");
}

/* Answers calls that nobody has begun to run. */
static void refuse_calls(Call *calls)
{
    while (calls != NULL) {
        Call *next = calls->next;
        (void)fail_stopping(calls);
        call_end(calls);
        calls = next;
    }
}

static void run_one(Call *call)
{
    call->run(call);
    call_end(call);
}

/* Runs up to `most` calls of the queue at a time, until the pool stops. */
static void run_queue(CallQueue *queue, uint32_t most, void (*run)(Call *calls))
{
    Pool *pool = queue->pool;
    mutex_lock(&pool->lock);
    for (;;) {
        Call *calls = take_calls(queue, most);
        bool stopping = pool->stopping;
        if (calls == NULL && stopping) {
            break;
        }
        if (calls == NULL) {
            cond_wait(&queue->work, &pool->lock);
            continue;
        }
        mutex_unlock(&pool->lock);
        if (stopping) {
            refuse_calls(calls);
        } else {
            run(calls);
        }
        mutex_lock(&pool->lock);
    }
    mutex_unlock(&pool->lock);
}

static void *run_calls(void *arg)
{
    run_queue((CallQueue *)arg, 1, run_one);
    return NULL;
}

static void *run_sends(void *arg)
{
    run_queue((CallQueue *)arg, API_SENDS_AT_ONCE, api_messages_send);
    return NULL;
}

bool pool_give(Pool *pool, PoolQueue number, Call *call)
{
    CallQueue *queue = &pool->queues[number];
    SAP_ASSERT(call->status == 0);
    call->next = NULL;
    mutex_lock(&pool->lock);
    bool stopping = pool->stopping;
    bool taken = !stopping && queue->count < queue->most;
    if (taken) {
        *(queue->last == NULL ? &queue->first : &queue->last->next) = call;
        queue->last = call;
        queue->count++;
        cond_signal(&queue->work);
    }
    mutex_unlock(&pool->lock);
    if (taken) {
        return true;
    }
    return stopping ? fail_stopping(call)
                    : call_fail(call, API_BUSY, "too many requests wait: try again in a second");
}

static int start_threads(CallQueue *queue, void *(*run)(void *), uint32_t count, const char *name)
{
    Pool *pool = queue->pool;
    for (uint32_t i = 0; i < count; i++) {
        if (pthread_create(&pool->threads[pool->thread_count], NULL, run, queue) != 0) {
            return SAP_NOMEM;
        }
        (void)pthread_setname_np(pool->threads[pool->thread_count], name);
        pool->thread_count++;
    }
    return SAP_OK;
}

static int start_queue(Pool *pool, uint32_t most, void *(*run)(void *), uint32_t threads,
                       const char *name)
{
    CallQueue *queue = &pool->queues[pool->queue_count];
    queue->pool = pool;
    queue->most = most;
    if (!cond_init(&queue->work)) {
        return SAP_NOMEM;
    }
    pool->queue_count++;
    return start_threads(queue, run, threads, name);
}

int pool_start(Pool **pool_out)
{
    Pool *pool = (Pool *)mem_zalloc(MEM_COMMON, sizeof *pool);
    if (pool == NULL) {
        return SAP_NOMEM;
    }
    if (!mutex_init(&pool->lock)) {
        mem_free(MEM_COMMON, pool, sizeof *pool);
        return SAP_NOMEM;
    }
    int rc = start_queue(pool, POOL_CALLS_MOST, run_calls, POOL_THREADS, "http-call");
    rc = rc == SAP_OK ? start_queue(pool, POOL_CALLS_MOST, run_calls, POOL_ASKERS, "http-query")
                      : rc;
    rc = rc == SAP_OK ? start_queue(pool, POOL_SENDS_MOST, run_sends, POOL_SENDERS, "http-send")
                      : rc;
    if (rc != SAP_OK) {
        pool_stop(pool);
        pool_free(pool);
        return rc;
    }
    SAP_ASSERT(pool->queue_count == POOL_QUEUES);
    *pool_out = pool;
    return SAP_OK;
}

void pool_stop(Pool *pool)
{
    if (pool == NULL) {
        return;
    }
    mutex_lock(&pool->lock);
    pool->stopping = true;
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        cond_broadcast(&pool->queues[i].work);
    }
    mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pool->thread_count = 0;
}

void pool_free(Pool *pool)
{
    if (pool == NULL) {
        return;
    }
    SAP_ASSERT(pool->thread_count == 0);
    for (uint32_t i = 0; i < pool->queue_count; i++) {
        SAP_ASSERT(pool->queues[i].count == 0);
        cond_destroy(&pool->queues[i].work);
    }
    mutex_destroy(&pool->lock);
    mem_free(MEM_COMMON, pool, sizeof *pool);
}
