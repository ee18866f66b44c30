/* universe_ledger.h - numbered messages to worlds, and what must become of them.
 *
 * Each producer sends messages 1, 2, 3 and so on, one after the other. Message n goes to world
 * n % worlds, and is sent again under the same id until it is acknowledged. So a world gets from each
 * producer every worlds-th number, in this order. The handler keeps for each producer how many numbers
 * came, their sum and the last one; it refuses some numbers for good, which become dead letters.
 *
 * The ledger is what was acknowledged. A test keeps it outside the store, so that an audit can compare:
 *
 *   every acknowledged number is in the journal or in the inbox of its world, once and in order;
 *   of numbers beyond those, there is at most the one whose outcome its producer did not know;
 *   epochs never fall along a journal, and its digests lead to the world's head;
 *   the state that the journal makes is what the handler keeps of the journal's messages;
 *   the dead letters are the messages that the handler refuses. */
#ifndef SAPLING_TESTS_UNIVERSE_LEDGER_H
#define SAPLING_TESTS_UNIVERSE_LEDGER_H

#include "sapling/universe.h"

#include <stdbool.h>
#include <stdint.h>

enum { LEDGER_PRODUCERS = 8, LEDGER_WORLDS = 16, LEDGER_NAME_MAX = 16 };

typedef struct Ledger {
    uint32_t producers;
    uint32_t worlds;
    uint64_t acknowledged[LEDGER_PRODUCERS]; /* the last number; all before it are, too */
    uint64_t found[LEDGER_PRODUCERS];        /* the last number that an audit found */
} Ledger;

/* `number` is acknowledged: the one after the last. */
void ledger_acknowledge(Ledger *ledger, uint32_t producer, uint64_t number);

void ledger_world_name(uint32_t world, char name_out[LEDGER_NAME_MAX]);

/* Makes the worlds that are missing. */
void ledger_make_worlds(SapUniverse *universe, uint32_t worlds, const char *module);

/* Sends it once. Codes are those of sap_enqueue_ingress(). */
int ledger_send(SapUniverse *universe, uint32_t worlds, uint32_t producer, uint64_t number,
                bool *duplicate_out);

/* The handler. */
int ledger_handle(SapWorld *world, const SapEvent *event);

typedef struct LedgerCounts {
    uint64_t entries; /* of all journals */
    uint64_t rejected;
    uint64_t waiting; /* in inboxes */
    uint64_t unknown; /* numbers beyond the acknowledged ones that are there all the same */
    uint64_t epochs;  /* that have entries */
} LedgerCounts;

/* How many items wait in all inboxes. */
uint64_t ledger_waiting(SapUniverse *universe, uint32_t worlds);

/* Aborts where something above does not hold. Nobody else may use the store. */
LedgerCounts ledger_audit(SapUniverse *universe, Ledger *ledger);

#endif
