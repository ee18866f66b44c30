/* drain.h - handing rows of a table to a function outside of transactions, and removing those it
 * took: what outbox, timers and dead letters share.
 *
 * A row is offered as it was in a durable snapshot, so that nobody acts on what a crash could take
 * back, and removed only if it is still that row. A crash in between offers it again: at least once
 * each. */
#ifndef SAPLING_RUNNER_DRAIN_H
#define SAPLING_RUNNER_DRAIN_H

#include "sapling/sapling.h"

/* SAP_OK: taken. SAP_BUSY: it stays, and the next is offered. Other codes end the drain. Key and
 * value are borrowed for the call. */
typedef int (*drain_fn)(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                        void *ctx);

/* Rows with keys above `after` and below `end`; NULL is no bound. `removed` (may be NULL) removes
 * what belongs to a row in the transaction that removes the row. */
typedef struct DrainRange {
    const void *after;
    uint32_t after_len;
    const void *end;
    uint32_t end_len;
    int (*removed)(Txn *txn, const void *key, uint32_t key_len);
} DrainRange;

/* Offers up to `max` rows of the range from the first on. *taken_out (may be NULL) counts those
 * removed, in any case. */
int drain_rows(DB *db, uint32_t dbi, const DrainRange *range, uint32_t max, drain_fn fn, void *ctx,
               uint32_t *taken_out);

#endif
