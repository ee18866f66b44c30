/* random.h - randomness as an object.
 *
 * Random is where unpredictable bytes come from; NULL is the system's. Only random.c asks the
 * system. Rng is a generator for tests and simulations: the seed decides every value, on every
 * machine. Its output is predictable and guards nothing. */
#ifndef SAPLING_COMMON_RANDOM_H
#define SAPLING_COMMON_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Random {
    /* Writes all of out[0..len) and returns SAP_OK, or SAP_IO with `out` undefined. */
    int (*fill)(void *ctx, void *out, size_t len);
    void *ctx;
} Random;

/* The operating system's generator. Static storage; may be used from any thread. */
const Random *random_system(void);

/* NULL is the system's source. SAP_IO: no randomness; `out` is undefined. */
int random_fill(const Random *random, void *out, size_t len);

/* Not all of `state` is zero. One thread at a time. */
typedef struct Rng {
    uint64_t state[4];
} Rng;

void rng_seed(Rng *rng, uint64_t seed);
uint64_t rng_next(Rng *rng);

/* Uniform in [0, n); n > 0. */
uint64_t rng_below(Rng *rng, uint64_t n);

/* Uniform in [low, high], both included; low <= high. */
uint64_t rng_range(Rng *rng, uint64_t low, uint64_t high);

/* True num times out of den; den > 0. */
bool rng_chance(Rng *rng, uint64_t num, uint64_t den);

void rng_bytes(Rng *rng, void *out, size_t len);

/* A source that draws from `rng`, which is borrowed as long as the source is used. */
Random rng_source(Rng *rng);

#endif
