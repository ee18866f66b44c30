/* http_pool.c - see http_pool.h. */
#include "node/http_pool.h"

#include <pthread.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/sync.h"
#include "node/api_messages.h"
#include "node/http_wait.h"

typedef struct CallQueue {
    Cond work;
    Call *first;
    Call *last;
    uint32_t count;
    uint32_t most;
} CallQueue;

struct Pool {
    Mutex lock; /* of everything below */
    CallQueue calls;
    CallQueue sends;
    bool stopping;
    pthread_t threads[POOL_THREADS + POOL_SENDERS];
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

static void *run_calls(void *arg)
{
    Pool *pool = (Pool *)arg;
    mutex_lock(&pool->lock);
    for (;;) {
        Call *call = take_calls(&pool->calls, 1);
        if (call == NULL && pool->stopping) {
            break;
        }
        if (call == NULL) {
            cond_wait(&pool->calls.work, &pool->lock);
            continue;
        }
        bool stopping = pool->stopping;
        mutex_unlock(&pool->lock);
        if (stopping) {
            (void)fail_stopping(call);
        } else {
            call->run(call);
        }
        call_end(call);
        mutex_lock(&pool->lock);
    }
    mutex_unlock(&pool->lock);
    return NULL;
}

static void *run_sends(void *arg)
{
    Pool *pool = (Pool *)arg;
    mutex_lock(&pool->lock);
    for (;;) {
        Call *calls = take_calls(&pool->sends, API_SENDS_AT_ONCE);
        if (calls == NULL && pool->stopping) {
            break;
        }
        if (calls == NULL) {
            cond_wait(&pool->sends.work, &pool->lock);
            continue;
        }
        bool stopping = pool->stopping;
        mutex_unlock(&pool->lock);
        while (stopping && calls != NULL) {
            Call *next = calls->next;
            (void)fail_stopping(calls);
            call_end(calls);
            calls = next;
        }
        if (calls != NULL) {
            api_messages_send(calls);
        }
        mutex_lock(&pool->lock);
    }
    mutex_unlock(&pool->lock);
    return NULL;
}

static bool give_call(Pool *pool, CallQueue *queue, Call *call)
{
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

bool pool_give(Pool *pool, Call *call)
{
    return give_call(pool, &pool->calls, call);
}

bool pool_give_send(Pool *pool, Call *call)
{
    return give_call(pool, &pool->sends, call);
}

static int start_threads(Pool *pool, void *(*run)(void *), uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (pthread_create(&pool->threads[pool->thread_count], NULL, run, pool) != 0) {
            return SAP_NOMEM;
        }
        pool->thread_count++;
    }
    return SAP_OK;
}

int pool_start(Pool **pool_out)
{
    Pool *pool = (Pool *)mem_zalloc(MEM_COMMON, sizeof *pool);
    if (pool == NULL) {
        return SAP_NOMEM;
    }
    pool->calls.most = POOL_CALLS_MOST;
    pool->sends.most = POOL_SENDS_MOST;
    if (!mutex_init(&pool->lock)) {
        goto free_pool;
    }
    if (!cond_init(&pool->calls.work)) {
        goto destroy_lock;
    }
    if (!cond_init(&pool->sends.work)) {
        goto destroy_calls;
    }
    if (start_threads(pool, run_calls, POOL_THREADS) != SAP_OK ||
        start_threads(pool, run_sends, POOL_SENDERS) != SAP_OK) {
        pool_stop(pool);
        pool_free(pool);
        return SAP_NOMEM;
    }
    *pool_out = pool;
    return SAP_OK;

destroy_calls:
    cond_destroy(&pool->calls.work);
destroy_lock:
    mutex_destroy(&pool->lock);
free_pool:
    mem_free(MEM_COMMON, pool, sizeof *pool);
    return SAP_NOMEM;
}

void pool_stop(Pool *pool)
{
    if (pool == NULL) {
        return;
    }
    mutex_lock(&pool->lock);
    pool->stopping = true;
    cond_broadcast(&pool->calls.work);
    cond_broadcast(&pool->sends.work);
    mutex_unlock(&pool->lock);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        pthread_join(pool->threads[i], NULL);
    }
    pool->thread_count = 0;
    SAP_ASSERT(pool->calls.count == 0 && pool->sends.count == 0);
}

void pool_free(Pool *pool)
{
    if (pool != NULL) {
        SAP_ASSERT(pool->thread_count == 0);
        cond_destroy(&pool->calls.work);
        cond_destroy(&pool->sends.work);
        mutex_destroy(&pool->lock);
        mem_free(MEM_COMMON, pool, sizeof *pool);
    }
}
