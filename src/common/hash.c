#include "common/hash.h"

#include "common/assert.h"

#include <string.h>

/* Compiled in here, so that nothing is left to link against. */
#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(sizeof(XXH3_state_t) <= HASH_STATE_SIZE, "HashState has room for xxHash's state");
_Static_assert(_Alignof(XXH3_state_t) <= HASH_STATE_ALIGN, "HashState is aligned for xxHash");

uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, len, seed);
}

static void store_hash128(XXH128_hash_t hash, uint8_t out[HASH128_SIZE])
{
    XXH128_canonical_t canonical;

    XXH128_canonicalFromHash(&canonical, hash);
    _Static_assert(sizeof canonical.digest == HASH128_SIZE, "16 bytes");
    memcpy(out, canonical.digest, HASH128_SIZE);
}

void hash_bytes128(const void *data, size_t len, uint8_t out[HASH128_SIZE])
{
    store_hash128(XXH3_128bits(data, len), out);
}

void hash_init(HashState *state, uint64_t seed)
{
    XXH3_state_t *xxh = (XXH3_state_t *)(void *)state->opaque;

    /* Reset trusts the seed of an earlier use to skip work; in fresh memory it is garbage. */
    XXH3_INITSTATE(xxh);
    XXH_errorcode rc = XXH3_64bits_reset_withSeed(xxh, seed);
    SAP_ASSERT(rc == XXH_OK);
}

void hash_update(HashState *state, const void *data, size_t len)
{
    if (len == 0) {
        return;
    }
    XXH_errorcode rc = XXH3_64bits_update((XXH3_state_t *)(void *)state->opaque, data, len);
    SAP_ASSERT(rc == XXH_OK);
}

uint64_t hash_final(const HashState *state)
{
    return XXH3_64bits_digest((const XXH3_state_t *)(const void *)state->opaque);
}

void hash_final128(const HashState *state, uint8_t out[HASH128_SIZE])
{
    store_hash128(XXH3_128bits_digest((const XXH3_state_t *)(const void *)state->opaque), out);
}
