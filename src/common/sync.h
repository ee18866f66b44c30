/* sync.h - atomics and locks that vanish in a build without threads.
 *
 * Shared words are declared SAP_ATOMIC(T) and touched only through the calls below, which name the
 * ordering they give. With SAPLING_THREADED 0 they are plain accesses and the locks are nothing.
 *
 * The "full" calls are sequentially consistent: where one thread stores A then loads B while
 * another stores B then loads A, at least one of them sees the other's store. Pins rely on it. */
#ifndef SAPLING_COMMON_SYNC_H
#define SAPLING_COMMON_SYNC_H

#include "common/config.h"

#include <stdbool.h>

#if SAPLING_THREADED

#include <pthread.h>
#include <stdatomic.h>

#define SAP_ATOMIC(T) _Atomic(T)

#define atomic_load_relaxed(p)          atomic_load_explicit((p), memory_order_relaxed)
#define atomic_load_acquire(p)          atomic_load_explicit((p), memory_order_acquire)
#define atomic_load_full(p)             atomic_load_explicit((p), memory_order_seq_cst)
#define atomic_store_relaxed(p, v)      atomic_store_explicit((p), (v), memory_order_relaxed)
#define atomic_store_release(p, v)      atomic_store_explicit((p), (v), memory_order_release)
#define atomic_store_full(p, v)         atomic_store_explicit((p), (v), memory_order_seq_cst)
#define atomic_cas_full(p, expected, v) atomic_compare_exchange_strong((p), (expected), (v))

typedef pthread_mutex_t Mutex;
typedef pthread_cond_t Cond;

static inline bool mutex_init(Mutex *m)
{
    return pthread_mutex_init(m, NULL) == 0;
}

static inline void mutex_destroy(Mutex *m)
{
    pthread_mutex_destroy(m);
}

static inline void mutex_lock(Mutex *m)
{
    pthread_mutex_lock(m);
}

static inline void mutex_unlock(Mutex *m)
{
    pthread_mutex_unlock(m);
}

static inline bool cond_init(Cond *c)
{
    return pthread_cond_init(c, NULL) == 0;
}

static inline void cond_destroy(Cond *c)
{
    pthread_cond_destroy(c);
}

static inline void cond_wait(Cond *c, Mutex *m)
{
    pthread_cond_wait(c, m);
}

static inline void cond_broadcast(Cond *c)
{
    pthread_cond_broadcast(c);
}

typedef pthread_t ThreadId;

static inline ThreadId thread_self(void)
{
    return pthread_self();
}

static inline bool thread_is_self(ThreadId id)
{
    return pthread_equal(id, pthread_self()) != 0;
}

#else

#define SAP_ATOMIC(T) T

#define atomic_load_relaxed(p)     (*(p))
#define atomic_load_acquire(p)     (*(p))
#define atomic_load_full(p)        (*(p))
#define atomic_store_relaxed(p, v) ((void)(*(p) = (v)))
#define atomic_store_release(p, v) ((void)(*(p) = (v)))
#define atomic_store_full(p, v)    ((void)(*(p) = (v)))
#define atomic_cas_full(p, expected, v) \
    (*(p) == *(expected) ? (*(p) = (v), true) : (*(expected) = *(p), false))

typedef struct {
    char unused;
} Mutex;

static inline bool mutex_init(Mutex *m)
{
    m->unused = 0;
    return true;
}

static inline void mutex_destroy(Mutex *m)
{
    (void)m;
}

static inline void mutex_lock(Mutex *m)
{
    (void)m;
}

static inline void mutex_unlock(Mutex *m)
{
    (void)m;
}

typedef Mutex Cond;

static inline bool cond_init(Cond *c)
{
    return mutex_init(c);
}

static inline void cond_destroy(Cond *c)
{
    (void)c;
}

/* Nobody else could change what is waited for: there is nothing to wait for. */
static inline void cond_wait(Cond *c, Mutex *m)
{
    (void)c;
    (void)m;
}

static inline void cond_broadcast(Cond *c)
{
    (void)c;
}

typedef int ThreadId;

static inline ThreadId thread_self(void)
{
    return 0;
}

static inline bool thread_is_self(ThreadId id)
{
    return id == 0;
}

#endif

#endif
