/* order.h - the order of a table's keys. */
#ifndef SAPLING_SAPLING_ORDER_H
#define SAPLING_SAPLING_ORDER_H

#include <stdint.h>

#include "common/bytes.h"
#include "sapling/sapling.h"

/* A comparator, or NULL for bytes. */
typedef struct KeyOrder {
    sap_keycmp_fn cmp;
    void *ctx;
} KeyOrder;

/* A key from a caller, who may pass NULL for one of length 0; inside no pointer is NULL. */
static inline const uint8_t *key_bytes(const void *key)
{
    static const uint8_t none[1] = {0};
    return key != NULL ? (const uint8_t *)key : none;
}

/* Below 0, 0 or above 0. A pointer may be NULL when its length is 0. */
static inline int key_compare(KeyOrder order, const void *a, uint32_t a_len, const void *b,
                              uint32_t b_len)
{
    return order.cmp != NULL ? order.cmp(key_bytes(a), a_len, key_bytes(b), b_len, order.ctx)
                             : bytes_compare(a, a_len, b, b_len);
}

#endif
