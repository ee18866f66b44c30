/* depth.h - how many messages wait for a world: backpressure for those who send more.
 *
 * Nobody counts the messages of an inbox in its transactions: a counter row would make all producers of a
 * world wait for each other. Who sends looks before, outside the transaction, so that an inbox may grow
 * beyond its limit by what is on its way then. A look is remembered: while the inbox was far from full, as
 * many messages as a quarter of the room that was left go in without another one, for a second. A full
 * inbox is looked at again after 50 ms. */
#ifndef SAPLING_UNIVERSE_DEPTH_H
#define SAPLING_UNIVERSE_DEPTH_H

#include "common/clock.h"
#include "common/sync.h"
#include "universe/rows.h"

enum {
    DEPTH_LIMIT = 10000, /* messages that wait for a world, unless the universe says otherwise */
    DEPTH_PLACES = 1024,
};

/* The last look at a world. Two worlds may share a place: each then looks for itself. */
typedef struct DepthPlace {
    uint64_t hash;     /* of the name; 0: none */
    uint64_t until_ns; /* boot time; after it somebody looks again */
    uint32_t room;     /* messages that go in until then */
} DepthPlace;

typedef struct DepthGate {
    Mutex lock; /* of the places */
    DepthPlace places[DEPTH_PLACES];
} DepthGate;

/* SAP_NOMEM. */
int depth_init(DepthGate *gate);
void depth_release(DepthGate *gate);

/* SAP_OK: another message may go in. SAP_BUSY: `limit` messages or more wait. Other codes are the
 * store's. Any thread may call it. */
int depth_check(DepthGate *gate, SapStore *store, const Clock *clock, uint32_t universe,
                const UniverseName *world, uint32_t limit);

#endif
