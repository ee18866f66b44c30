/* digest.h - SHA-256: the name of bytes.
 *
 * The same bytes have the same digest everywhere, in one piece or in many, and nobody can make other
 * bytes with the same one: bytes that were read under a digest are checked by computing it again.
 * hash.h is for accidents and much faster; this is for names. All calls may come from any thread. */
#ifndef SAPLING_STORE_DIGEST_H
#define SAPLING_STORE_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DIGEST_SIZE = 32, DIGEST_HEX_SIZE = 2 * DIGEST_SIZE + 1 };

/* Compared and ordered as bytes. Has no padding: it may stand in a row's key. */
typedef struct Digest {
    uint8_t bytes[DIGEST_SIZE];
} Digest;

/* `data` is borrowed for the call and may be NULL when len is 0. */
void digest_bytes(const void *data, size_t len, Digest *out);

/* A digest under way. Needs no release; may be abandoned, or copied to fork it. Room for the state of
 * libsodium, whose header stays out of this one; digest.c checks that it fits. */
enum { DIGEST_STATE_SIZE = 104, DIGEST_STATE_ALIGN = 8 };

typedef struct DigestState {
    _Alignas(DIGEST_STATE_ALIGN) unsigned char opaque[DIGEST_STATE_SIZE];
} DigestState;

void digest_init(DigestState *state);
void digest_update(DigestState *state, const void *data, size_t len);

/* The digest of everything so far. Leaves the state as it was: more may be added. */
void digest_final(const DigestState *state, Digest *out);

bool digest_equal(const Digest *a, const Digest *b);

/* 64 hexadecimal digits in lower case and a NUL, for messages. */
void digest_hex(const Digest *digest, char out[DIGEST_HEX_SIZE]);

#endif
