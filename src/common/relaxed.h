/* relaxed.h - counters that any thread may touch.
 *
 * Each operation is atomic on its own and orders nothing else: a value read here says nothing
 * about other memory. Good for counting, wrong for handing data over. All-zero bytes are a valid
 * counter of value 0. Without threads these are plain integers. */
#ifndef SAPLING_COMMON_RELAXED_H
#define SAPLING_COMMON_RELAXED_H

#include "common/config.h"

#include <stdint.h>

#if SAPLING_THREADED

#include <stdatomic.h>

typedef struct RelaxedU64 {
    _Atomic uint64_t value;
} RelaxedU64;

static inline uint64_t relaxed_load(const RelaxedU64 *c)
{
    return atomic_load_explicit(&c->value, memory_order_relaxed);
}

static inline void relaxed_store(RelaxedU64 *c, uint64_t v)
{
    atomic_store_explicit(&c->value, v, memory_order_relaxed);
}

/* Wraps around; returns the value before. */
static inline uint64_t relaxed_add(RelaxedU64 *c, uint64_t v)
{
    return atomic_fetch_add_explicit(&c->value, v, memory_order_relaxed);
}

/* Raises (lowers) the counter to v unless it is there already. */
static inline void relaxed_max(RelaxedU64 *c, uint64_t v)
{
    uint64_t seen = relaxed_load(c);
    while (seen < v && !atomic_compare_exchange_weak_explicit(
                           &c->value, &seen, v, memory_order_relaxed, memory_order_relaxed)) {
    }
}

static inline void relaxed_min(RelaxedU64 *c, uint64_t v)
{
    uint64_t seen = relaxed_load(c);
    while (seen > v && !atomic_compare_exchange_weak_explicit(
                           &c->value, &seen, v, memory_order_relaxed, memory_order_relaxed)) {
    }
}

#else

typedef struct RelaxedU64 {
    uint64_t value;
} RelaxedU64;

static inline uint64_t relaxed_load(const RelaxedU64 *c)
{
    return c->value;
}

static inline void relaxed_store(RelaxedU64 *c, uint64_t v)
{
    c->value = v;
}

static inline uint64_t relaxed_add(RelaxedU64 *c, uint64_t v)
{
    uint64_t before = c->value;
    c->value += v;
    return before;
}

static inline void relaxed_max(RelaxedU64 *c, uint64_t v)
{
    c->value = c->value < v ? v : c->value;
}

static inline void relaxed_min(RelaxedU64 *c, uint64_t v)
{
    c->value = c->value > v ? v : c->value;
}

#endif

/* Wraps around; returns the value before. */
static inline uint64_t relaxed_sub(RelaxedU64 *c, uint64_t v)
{
    return relaxed_add(c, 0 - v);
}

#endif
