/* pairs.h - the rows of a DUPSORT table as keys of an ordinary tree.
 *
 * A (key, value) pair is one tree key with an empty value:
 *   u16 little-endian key length, key, value
 * ordered by key, then by value. Places before and after all values of a key are written
 *   u16 key length with the top bit set, key, u8 0 (before) or 1 (after)
 * and are only ever sought, never stored. Key and value of a stored pair are each one pointer into
 * the page. Key lengths stay below 2^15 because two keys fit a page. */
#ifndef SAPLING_SAPLING_PAIRS_H
#define SAPLING_SAPLING_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

#include "sapling/order.h"

enum { PAIR_HEADER = 2, PAIR_INLINE = 256 };

typedef struct PairOrder {
    KeyOrder keys;
    KeyOrder values;
} PairOrder;

typedef enum PairPlace {
    PAIR_BEFORE, /* all values of the key */
    PAIR_AFTER,
    PAIR_EXACT
} PairPlace;

/* A pair put together for a search or an insert; release with pair_release(). */
typedef struct PairKey {
    uint8_t *bytes;
    uint32_t len;
    uint32_t allocated; /* 0: in place */
    uint8_t in_place[PAIR_INLINE];
} PairKey;

typedef struct PairView {
    const uint8_t *key;
    uint32_t key_len;
    const uint8_t *val;
    uint32_t val_len;
} PairView;

/* A comparator of tree keys; ctx is the PairOrder. */
int pair_compare(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx);

/* The value is used with PAIR_EXACT only. SAP_NOMEM. */
int pair_make(PairKey *pair, PairPlace place, const void *key, uint32_t key_len, const void *val,
              uint32_t val_len);
void pair_release(PairKey *pair);
PairView pair_view(const uint8_t *bytes, uint32_t len);
/* Whether the bytes are a pair, or with `place` also a place. */
bool pair_is_valid(const uint8_t *bytes, uint32_t len, bool place);

#endif
