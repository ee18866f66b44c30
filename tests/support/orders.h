/* orders.h - key orders for tests, one of them the engine's own. */
#ifndef SAPLING_TESTS_ORDERS_H
#define SAPLING_TESTS_ORDERS_H

#include "sapling/sapling.h"

typedef enum OrderKind {
    ORDER_BYTES,   /* no comparator */
    ORDER_REVERSE, /* bytes backwards: the empty key is the last */
    ORDER_FOLDED,  /* upper and lower case together, then by bytes: a total order */
    ORDER_LENGTH,  /* short keys first, then by bytes */
    ORDER_COUNT
} OrderKind;

/* NULL for ORDER_BYTES. The comparators abort when they are not called with their own context. */
sap_keycmp_fn order_cmp(OrderKind kind);
void *order_ctx(OrderKind kind);

#endif
