#include "common/random.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/fault.h"
#include "sapling/error.h"

#include <errno.h>
#include <string.h>
#ifdef __wasi__
#include <unistd.h>
#else
#include <sys/random.h>
#endif

/* Writes at most `len` bytes of `out`; returns how many, or -1 and errno. */
static ptrdiff_t read_system(uint8_t *out, size_t len)
{
    int err = fault_io();
    if (err != 0) {
        errno = err;
        return -1;
    }
#ifdef __wasi__
    /* getentropy refuses more than 256 bytes at a time. */
    size_t part = len < 256 ? len : 256;
    return getentropy(out, part) == 0 ? (ptrdiff_t)part : -1;
#else
    return getrandom(out, len, 0);
#endif
}

static int fill_from_system(void *ctx, void *out, size_t len)
{
    uint8_t *p = out;

    (void)ctx;
    while (len > 0) {
        ptrdiff_t got = read_system(p, len);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return SAP_IO;
        }
        p += got;
        len -= (size_t)got;
    }
    return SAP_OK;
}

const Random *random_system(void)
{
    static const Random random = {fill_from_system, NULL};
    return &random;
}

int random_fill(const Random *random, void *out, size_t len)
{
    const Random *r = random == NULL ? random_system() : random;
    return r->fill(r->ctx, out, len);
}

/* splitmix64: turns any seed, 0 included, into well mixed state. */
static uint64_t seed_step(uint64_t *x)
{
    *x += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *x;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void rng_seed(Rng *rng, uint64_t seed)
{
    for (size_t i = 0; i < 4; i++) {
        rng->state[i] = seed_step(&seed);
    }
}

static uint64_t rotate_left(uint64_t v, unsigned bits)
{
    return (v << bits) | (v >> (64 - bits));
}

/* xoshiro256**: period 2^256 - 1; all-zero state would repeat 0 forever. */
uint64_t rng_next(Rng *rng)
{
    uint64_t *s = rng->state;
    SAP_ASSERT_SLOW((s[0] | s[1] | s[2] | s[3]) != 0);

    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t shifted = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t rng_below(Rng *rng, uint64_t n)
{
    SAP_ASSERT(n > 0);
    /* 2^64 mod n values at the bottom would make the low results more likely: drawn again. */
    uint64_t unfair = (0 - n) % n;
    uint64_t v;

    do {
        v = rng_next(rng);
    } while (v < unfair);
    return v % n;
}

uint64_t rng_range(Rng *rng, uint64_t low, uint64_t high)
{
    SAP_ASSERT(low <= high);
    uint64_t count = high - low + 1;
    /* 0 is all 2^64 values. */
    return count == 0 ? rng_next(rng) : low + rng_below(rng, count);
}

bool rng_chance(Rng *rng, uint64_t num, uint64_t den)
{
    return rng_below(rng, den) < num;
}

void rng_bytes(Rng *rng, void *out, size_t len)
{
    uint8_t *p = out;

    while (len > 0) {
        uint8_t word[8];
        size_t part = len < sizeof word ? len : sizeof word;

        store_u64le(word, rng_next(rng));
        memcpy(p, word, part);
        p += part;
        len -= part;
    }
}

static int fill_from_rng(void *ctx, void *out, size_t len)
{
    rng_bytes(ctx, out, len);
    return SAP_OK;
}

Random rng_source(Rng *rng)
{
    return (Random){fill_from_rng, rng};
}
