/* producer.c - see producer.h. */
#include "universe/producer.h"

#include <string.h>

#include "common/bytes.h"

int producer_init(Producer *producer, const uint8_t nonce[UNIVERSE_NONCE])
{
    memset(producer, 0, sizeof *producer);
    memcpy(producer->nonce, nonce, UNIVERSE_NONCE);
    return mutex_init(&producer->lock) ? SAP_OK : SAP_NOMEM;
}

void producer_release(Producer *producer)
{
    mutex_destroy(&producer->lock);
}

void producer_next(Producer *producer, SapStore *store, uint8_t seq_out[UNIVERSE_SEQ])
{
    uint64_t now_ns = sap_store_lease_ns(store);
    mutex_lock(&producer->lock);
    /* Two threads may have asked for the time in another order than they come here. */
    producer->last_ns = now_ns > producer->last_ns ? now_ns : producer->last_ns;
    store_u64be(seq_out, producer->last_ns);
    memcpy(seq_out + 8, producer->nonce, UNIVERSE_NONCE);
    store_u64be(seq_out + 8 + UNIVERSE_NONCE, producer->count++);
    mutex_unlock(&producer->lock);
}
