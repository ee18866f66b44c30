/* producer.h - the places in time of what one producer makes: seqs.
 *
 * A seq is 32 bytes: lease time, the producer's nonce, its count. The seqs of one producer rise, and no
 * two producers make the same. Nobody has to agree with anybody on the next number. */
#ifndef SAPLING_UNIVERSE_PRODUCER_H
#define SAPLING_UNIVERSE_PRODUCER_H

#include "common/sync.h"
#include "universe/rows.h"

typedef struct Producer {
    Mutex lock; /* of time and count */
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t last_ns;
    uint64_t count;
} Producer;

/* `nonce` is copied. SAP_NOMEM. */
int producer_init(Producer *producer, const uint8_t nonce[UNIVERSE_NONCE]);
void producer_release(Producer *producer);

/* May be called by any thread. */
void producer_next(Producer *producer, SapStore *store, uint8_t seq_out[UNIVERSE_SEQ]);

#endif
