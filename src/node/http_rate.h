/* http_rate.h - how many requests a second each caller over TCP may make.
 *
 * A caller has a bucket that fills with so many requests a second and holds twice as many; a request takes one.
 * Buckets are found by a hash of the caller: two callers may share one, and then its rate, which is rare while there
 * are few. */
#ifndef SAPLING_NODE_HTTP_RATE_H
#define SAPLING_NODE_HTTP_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/sync.h"

enum { RATE_BUCKETS = 512 };

typedef struct RateBucket {
    uint64_t filled_ns; /* monotonic time up to which it was filled; 0: never, so it is full */
    uint64_t left;      /* requests, in millionths */
} RateBucket;

typedef struct Rates {
    Mutex lock;
    uint32_t per_s; /* 0: nothing is limited */
    RateBucket buckets[RATE_BUCKETS];
} Rates;

/* SAP_NOMEM. rates_release() frees it. */
int rates_init(Rates *rates, uint32_t per_s);
void rates_release(Rates *rates);

/* Whether the caller may make a request now. */
bool rates_take(Rates *rates, const char *caller, uint64_t now_ns);

#endif
