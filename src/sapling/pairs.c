/* pairs.c - see pairs.h. */
#include "sapling/pairs.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"

#define PLACE_BIT UINT16_C(0x8000)

PairView pair_view(const uint8_t *bytes, uint32_t len)
{
    uint32_t key_len = load_u16le(bytes) & ~(uint32_t)PLACE_BIT;
    SAP_ASSERT(PAIR_HEADER + key_len <= len);
    return (PairView){.key = bytes + PAIR_HEADER,
                      .key_len = key_len,
                      .val = bytes + PAIR_HEADER + key_len,
                      .val_len = len - PAIR_HEADER - key_len};
}

bool pair_is_valid(const uint8_t *bytes, uint32_t len, bool place)
{
    if (len < PAIR_HEADER) {
        return false;
    }
    uint32_t word = load_u16le(bytes);
    uint32_t most = len - PAIR_HEADER;
    if ((word & PLACE_BIT) == 0) {
        return word <= most;
    }
    return place && (word & ~(uint32_t)PLACE_BIT) + 1 == most && bytes[len - 1] <= 1;
}

/* -1: a place before the values, 1: after them, 0: a pair. */
static int side_of(const uint8_t *bytes, PairView view)
{
    if ((load_u16le(bytes) & PLACE_BIT) == 0) {
        return 0;
    }
    return view.val[0] == 0 ? -1 : 1;
}

int pair_compare(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    const PairOrder *order = (const PairOrder *)ctx;
    PairView x = pair_view((const uint8_t *)a, a_len);
    PairView y = pair_view((const uint8_t *)b, b_len);
    int c = key_compare(order->keys, x.key, x.key_len, y.key, y.key_len);
    if (c != 0) {
        return c;
    }
    int x_side = side_of((const uint8_t *)a, x);
    int y_side = side_of((const uint8_t *)b, y);
    if (x_side != 0 || y_side != 0) {
        return x_side - y_side;
    }
    return key_compare(order->values, x.val, x.val_len, y.val, y.val_len);
}

int pair_make(PairKey *pair, PairPlace place, const void *key, uint32_t key_len, const void *val,
              uint32_t val_len)
{
    uint8_t side = place == PAIR_AFTER ? 1 : 0;
    if (place != PAIR_EXACT) {
        val = &side;
        val_len = 1;
    }
    pair->len = PAIR_HEADER + key_len + val_len;
    pair->allocated = 0;
    pair->bytes = pair->in_place;
    if (pair->len > PAIR_INLINE) {
        pair->bytes = (uint8_t *)mem_alloc(MEM_TXN, pair->len);
        if (pair->bytes == NULL) {
            return SAP_NOMEM;
        }
        pair->allocated = pair->len;
    }
    store_u16le(pair->bytes, (uint16_t)(key_len | (place != PAIR_EXACT ? PLACE_BIT : 0)));
    if (key_len > 0) {
        memcpy(pair->bytes + PAIR_HEADER, key, key_len);
    }
    if (val_len > 0) {
        memcpy(pair->bytes + PAIR_HEADER + key_len, val, val_len);
    }
    return SAP_OK;
}

void pair_release(PairKey *pair)
{
    if (pair->allocated > 0) {
        mem_free(MEM_TXN, pair->bytes, pair->allocated);
    }
}
