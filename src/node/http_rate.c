/* http_rate.c - see http_rate.h. */
#include "node/http_rate.h"

#include <string.h>

#include "common/assert.h"
#include "common/hash.h"
#include "sapling/error.h"

#define ONE_REQUEST UINT64_C(1000000)
#define SECOND_NS   UINT64_C(1000000000)

enum { BURST_S = 2 };

int rates_init(Rates *rates, uint32_t per_s)
{
    memset(rates, 0, sizeof *rates);
    rates->per_s = per_s;
    return mutex_init(&rates->lock) ? SAP_OK : SAP_NOMEM;
}

void rates_release(Rates *rates)
{
    mutex_destroy(&rates->lock);
}

/* Adds what has come in since the last time. */
static void fill_bucket(RateBucket *bucket, uint32_t per_s, uint64_t now_ns)
{
    uint64_t most = BURST_S * per_s * ONE_REQUEST;
    uint64_t passed_ns = now_ns - bucket->filled_ns;
    if (bucket->filled_ns == 0 || passed_ns >= BURST_S * SECOND_NS) {
        bucket->left = most;
        bucket->filled_ns = now_ns;
    } else {
        uint64_t passed_us = passed_ns / 1000; /* a microsecond brings per_s millionths */
        uint64_t more = passed_us * per_s;
        bucket->left = bucket->left + more < most ? bucket->left + more : most;
        bucket->filled_ns += passed_us * 1000;
    }
    SAP_ASSERT(bucket->left <= most);
}

bool rates_take(Rates *rates, const char *caller, uint64_t now_ns)
{
    if (rates->per_s == 0) {
        return true;
    }
    RateBucket *bucket = &rates->buckets[hash_bytes(caller, strlen(caller), 0) % RATE_BUCKETS];
    mutex_lock(&rates->lock);
    fill_bucket(bucket, rates->per_s, now_ns);
    bool may = bucket->left >= ONE_REQUEST;
    bucket->left -= may ? ONE_REQUEST : 0;
    mutex_unlock(&rates->lock);
    return may;
}
