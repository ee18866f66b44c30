/* promises.h - intents that somebody outside resolves.
 *
 * A promise has a row under an id that nobody can guess, and where it does not wait for ever, a timer with the
 * hash of its intent. Resolving and the end of the time delete the row and put the item in one transaction: of
 * the two, the first one finds the row, and the other one does nothing. The entry that consumes the item deletes
 * the timer. A cancel deletes both.
 *
 * The id is SHA-256 over the world's seed, which is drawn when the world is created and known to nobody outside,
 * and the hash of the intent: a handler that runs again makes the same, and whoever has the intent can find the
 * row. */
#ifndef SAPLING_UNIVERSE_PROMISES_H
#define SAPLING_UNIVERSE_PROMISES_H

#include "universe/producer.h"
#include "universe/writes.h"

#define PROMISE_NAME "promise" /* of its receipt, to its handler */

enum { WORLD_SEED = 16 };

void promise_id(const uint8_t seed[WORLD_SEED], const uint8_t hash[UNIVERSE_DIGEST],
                uint8_t id_out[UNIVERSE_DIGEST]);

/* Adds the row of a promise to what the holder's commit writes, under the guards of lease and head. */
int promise_write(WriteSet *writes, uint32_t universe, const uint8_t id[UNIVERSE_DIGEST],
                  const WitUniverseDbi42PromisesValue *promise);

/* SAP_NOTFOUND: it is over, or never was. The caller owns *promise_out. */
int promise_row_get(SapStoreTxn *txn, const RowKey *key,
                    WitUniverseDbi42PromisesValue *promise_out);

#endif
