/* hash.h - 64-bit hashes, and one of 128 bits.
 *
 * hash_bytes and the streaming form are XXH3-64: the same bytes and seed give the same value on
 * every machine, in one piece or in many, so the value may be stored. They find accidents, not
 * attackers. hash_u64 is for tables in memory only: its values are never stored. */
#ifndef SAPLING_COMMON_HASH_H
#define SAPLING_COMMON_HASH_H

#include <stddef.h>
#include <stdint.h>

/* `data` is borrowed for the call and may be NULL when len is 0. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

/* XXH3-128 in its canonical form, most significant byte first: the same on every machine. */
enum { HASH128_SIZE = 16 };
void hash_bytes128(const void *data, size_t len, uint8_t out[HASH128_SIZE]);

/* A hash under way. Needs no release; may be abandoned, or copied to fork it. Room for the state
 * of xxHash, whose header stays out of this one; hash.c checks that it fits. */
enum { HASH_STATE_SIZE = 576, HASH_STATE_ALIGN = 64 };

typedef struct HashState {
    _Alignas(HASH_STATE_ALIGN) unsigned char opaque[HASH_STATE_SIZE];
} HashState;

void hash_init(HashState *state, uint64_t seed);
void hash_update(HashState *state, const void *data, size_t len);

/* The hash of everything so far. Leaves the state as it was: more may be added. */
uint64_t hash_final(const HashState *state);
/* The same in 128 bits: of a state begun with seed 0, what hash_bytes128() says of it all. */
void hash_final128(const HashState *state, uint8_t out[HASH128_SIZE]);

/* Spreads an integer over all 64 bits. A bijection: different inputs never collide, and 0 gives
 * 0. */
static inline uint64_t hash_u64(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xe9846af9b1a615d);
    x ^= x >> 32;
    x *= UINT64_C(0xe9846af9b1a615d);
    x ^= x >> 28;
    return x;
}

#endif
