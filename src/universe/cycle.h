/* cycle.h - one world in a worker's memory, and one cycle of it.
 *
 *   cycle_load    reads what waits for the world
 *   cycle_run     calls the handler for each item, and makes all rows that this changes
 *   (the worker writes the rows of several worlds in one fenced transaction)
 *   cycle_end     the outcome is known: the private state commits, or is as it was before
 *
 * Between cycle_run and cycle_end the transaction of the private state is open. An item whose handler
 * fails ends the cycle before it; what waits behind it waits until it is tried again. */
#ifndef SAPLING_UNIVERSE_CYCLE_H
#define SAPLING_UNIVERSE_CYCLE_H

#include "universe/handler.h"
#include "universe/universe_impl.h"

/* The budgets of SapWorkerOptions. */
typedef struct CycleLimits {
    uint32_t items;
    uint32_t steps;
    uint32_t effects;
    uint64_t wall_ns;
    uint32_t attempts;
} CycleLimits;

enum { CYCLE_BYTES = 8 << 20, CYCLE_REASON = HANDLER_MESSAGE };

typedef struct HotWorld {
    struct HotWorld *next; /* of the worker's */
    Lease lease;
    WorldBirth birth;
    const SapWorldModule *module;
    WorldState *state; /* NULL: to be restored */
    HeadRow head;      /* as committed */
    uint64_t used_ns;  /* boot time of its last cycle */

    /* An item that failed. */
    uint8_t failed_seq[UNIVERSE_SEQ];
    uint32_t failures;    /* of that item so far; 0: there is none */
    uint64_t retry_at_ns; /* boot time */

    /* The cycle under way. */
    bool running;
    HeadRow after; /* the head when it is committed */
    Buf items;     /* InboxItem */
    bool more;     /* in the inbox than was read */
    WriteSet writes;
    uint64_t steps;
    uint64_t rejected;
    uint64_t failed; /* calls */
    bool pause;      /* it cannot go on: `reason` says why */
    char reason[CYCLE_REASON + 1];
} HotWorld;

int cycle_world_make(const Lease *lease, HotWorld **world_out);
/* Whatever is under way is aborted. NULL is accepted. */
void cycle_world_free(HotWorld *world);

/* A hint of this world that was read before cycle_load() goes with the cycle. */
int cycle_add_hint(HotWorld *world, const RowKey *hint);

/* Reads items in the order of their seqs, across the classes. */
int cycle_load(HotWorld *world, SapStore *store, SapStoreTxn *newest, const CycleLimits *limits);

/* Whether it has made anything to write is seen in world->writes. SAP_NOMEM: nothing has happened. */
int cycle_run(HotWorld *world, SapUniverse *universe, const CycleLimits *limits);

/* `committed`: the rows of the cycle are in the store. Otherwise the state is as it was. SAP_NOMEM: they
 * are, but the private state could not follow: it is gone, and will be restored. */
int cycle_end(HotWorld *world, bool committed);

#endif
