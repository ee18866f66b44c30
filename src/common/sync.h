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

#endif

#endif
