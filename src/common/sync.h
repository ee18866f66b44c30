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
#include <stdint.h>

#if SAPLING_THREADED

#include "common/clock.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SAP_ATOMIC(T) _Atomic(T)

#define atomic_load_relaxed(p)          atomic_load_explicit((p), memory_order_relaxed)
#define atomic_load_acquire(p)          atomic_load_explicit((p), memory_order_acquire)
#define atomic_load_full(p)             atomic_load_explicit((p), memory_order_seq_cst)
#define atomic_store_relaxed(p, v)      atomic_store_explicit((p), (v), memory_order_relaxed)
#define atomic_store_release(p, v)      atomic_store_explicit((p), (v), memory_order_release)
#define atomic_store_full(p, v)         atomic_store_explicit((p), (v), memory_order_seq_cst)
#define atomic_cas_full(p, expected, v) atomic_compare_exchange_strong((p), (expected), (v))
#define atomic_or_release(p, v)         atomic_fetch_or_explicit((p), (v), memory_order_release)
#define atomic_add_full(p, v)           atomic_fetch_add_explicit((p), (v), memory_order_seq_cst)

typedef pthread_mutex_t Mutex;
typedef pthread_cond_t Cond;

/* Of a lock that lives as long as the process. */
#define MUTEX_STATIC PTHREAD_MUTEX_INITIALIZER

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

/* Timed waits on it are by the monotonic clock. */
static inline bool cond_init(Cond *c)
{
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) {
        return false;
    }
    bool ok =
        pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0 && pthread_cond_init(c, &attr) == 0;
    pthread_condattr_destroy(&attr);
    return ok;
}

static inline void cond_destroy(Cond *c)
{
    pthread_cond_destroy(c);
}

static inline void cond_wait(Cond *c, Mutex *m)
{
    pthread_cond_wait(c, m);
}

/* Waits at most so long. */
static inline void cond_wait_ns(Cond *c, Mutex *m, uint64_t ns)
{
    uint64_t until_ns = clock_mono_ns(NULL) + ns;
    struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                             .tv_nsec = (long)(until_ns % 1000000000)};
    pthread_cond_timedwait(c, m, &until);
}

/* Wakes one that waits, if any does. */
static inline void cond_signal(Cond *c)
{
    pthread_cond_signal(c);
}

static inline void cond_broadcast(Cond *c)
{
    pthread_cond_broadcast(c);
}

/* Sleeps unless *word is no longer `seen`. May return for no reason, so look again. A waker changes
 * the word first. */
static inline void word_wait(SAP_ATOMIC(uint32_t) * word, uint32_t seen)
{
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

static inline void word_wake_one(SAP_ATOMIC(uint32_t) * word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static inline void word_wake_all(SAP_ATOMIC(uint32_t) * word)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* Lets others run that can. */
static inline void thread_yield(void)
{
    sched_yield();
}

/* Between two looks at a word that another thread will change soon. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
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

#define atomic_or_release(p, v) ((void)(*(p) |= (v)))
#define atomic_add_full(p, v)   ((void)(*(p) += (v)))

typedef struct {
    char unused;
} Mutex;

#define MUTEX_STATIC \
    {                \
        0            \
    }

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

static inline void cond_signal(Cond *c)
{
    (void)c;
}

static inline void cond_broadcast(Cond *c)
{
    (void)c;
}

static inline void word_wait(uint32_t *word, uint32_t seen)
{
    (void)word;
    (void)seen;
}

static inline void word_wake_one(uint32_t *word)
{
    (void)word;
}

static inline void word_wake_all(uint32_t *word)
{
    (void)word;
}

static inline void thread_yield(void)
{
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
