/* universe_queue.h - one world, whose holder asks for effects and timers.
 *
 * Calls that the tests do not expect to fail are checked here; those that return a code are those that a
 * failing allocation may end. */
#ifndef SAPLING_TESTS_UNIVERSE_QUEUE_H
#define SAPLING_TESTS_UNIVERSE_QUEUE_H

#include "common/clock.h"
#include "universe/adapter.h"
#include "universe/effect_reaper.h"
#include "universe/lease.h"
#include "universe/timers.h"
#include "universe/universe_impl.h"

#define QUEUE_SECOND_NS UINT64_C(1000000000)

typedef struct Queue {
    ManualClock manual;
    Clock clock;
    SapStore *store;
    SapUniverse *universe;
    Session session;
    UniverseName world;
    Lease lease;
} Queue;

/* On memory: and a clock of its own; or on a store of the caller's, by the system's clock. */
void queue_open(Queue *queue);
void queue_open_on(Queue *queue, SapStore *store);
/* Closes the store too. */
void queue_close(Queue *queue);

/* On a clock of its own: time passes, and the session is renewed. */
void queue_pass(Queue *queue, uint64_t ms);

void queue_hash(uint8_t number, uint8_t hash_out[UNIVERSE_DIGEST]);

/* One cycle of the holder's; the first releases the writes. */
int queue_submit(Queue *queue, WriteSet *writes);
int queue_publish(Queue *queue, uint8_t number, const char *kind, const WitUniverseRetry *retry);
int queue_arm(Queue *queue, uint8_t number, WitUniverseTimerClock clock, uint64_t at_ns);
int queue_cancel(Queue *queue, uint8_t number, bool timer);
/* Consumes the receipt or firing of the intent. SAP_NOTFOUND: it has none. *item_out, unless NULL, is owned:
 * wit_universe_inbox_item_free(). */
int queue_consume(Queue *queue, uint8_t number, WitUniverseInboxItem *item_out);

/* How many rows there are in the tables of effects and timers, and in one table. */
uint32_t queue_rows(Queue *queue);
uint32_t queue_rows_of(Queue *queue, uint32_t table);

/* Status and row of an effect; false: it has no dedupe row. */
bool queue_find(Queue *queue, uint8_t number, DispatchRow *row_out);

#endif
