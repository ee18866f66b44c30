/* digest.c - SHA-256 of libsodium. */
#include "store/digest.h"

#include <sodium.h>
#include <string.h>

#include "common/sync.h"

_Static_assert(DIGEST_SIZE == crypto_hash_sha256_BYTES, "size of a digest");
_Static_assert(DIGEST_STATE_SIZE >= sizeof(crypto_hash_sha256_state), "room for the state");
_Static_assert(DIGEST_STATE_ALIGN % _Alignof(crypto_hash_sha256_state) == 0,
               "aligned for the state");

/* libsodium asks for sodium_init() before any other call. Threads may call it at the same time and again;
 * it takes a lock each time, which `ready` avoids. Where it fails, a part of libsodium is missing that
 * SHA-256, plain arithmetic, does not use: the digests are right all the same. */
static void prepare_sodium(void)
{
    static SAP_ATOMIC(bool) ready;
    if (!atomic_load_acquire(&ready)) {
        atomic_store_release(&ready, sodium_init() >= 0);
    }
}

static crypto_hash_sha256_state *sodium_state(DigestState *state)
{
    return (crypto_hash_sha256_state *)(void *)state->opaque;
}

void digest_init(DigestState *state)
{
    prepare_sodium();
    memset(state, 0, sizeof *state);
    (void)crypto_hash_sha256_init(sodium_state(state));
}

void digest_update(DigestState *state, const void *data, size_t len)
{
    if (len > 0) {
        (void)crypto_hash_sha256_update(sodium_state(state), (const unsigned char *)data, len);
    }
}

void digest_final(const DigestState *state, Digest *out)
{
    DigestState copy = *state;
    (void)crypto_hash_sha256_final(sodium_state(&copy), out->bytes);
}

void digest_bytes(const void *data, size_t len, Digest *out)
{
    DigestState state;
    digest_init(&state);
    digest_update(&state, data, len);
    digest_final(&state, out);
}

bool digest_equal(const Digest *a, const Digest *b)
{
    return memcmp(a->bytes, b->bytes, DIGEST_SIZE) == 0;
}

void digest_hex(const Digest *digest, char out[DIGEST_HEX_SIZE])
{
    (void)sodium_bin2hex(out, DIGEST_HEX_SIZE, digest->bytes, DIGEST_SIZE);
}
