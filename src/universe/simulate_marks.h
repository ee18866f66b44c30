/* simulate_marks.h - what must hold of worlds that finish, and of tags, in the simulator.
 *
 *   after every commit   a world has a result exactly if it is done (or deleted, and not emptied yet); a done
 *                        world has no holder
 *   when all is quiet    the rows of a world's tags are those that its state says
 *
 * And of modules that are registered while their worlds run: no handler runs with a context that was
 * released, and every world goes on, though not every node runs every version. */
#ifndef SAPLING_UNIVERSE_SIMULATE_MARKS_H
#define SAPLING_UNIVERSE_SIMULATE_MARKS_H

#include "simulator/simulator.h"
#include "universe/handler.h"

/* Registers the next version of a module, or the newest again: one of `kinds` that differ. */
int marks_put_module(SapUniverse *universe, const char *name, SapOnFailure on_failure,
                     uint32_t kind);
/* Lets a worker run them all with that handler; a picky one leaves some kinds to others. Before it is opened. */
void marks_host(SapWorkerOptions *options, SapWorldHandler handler, bool picky);

/* In addition to a message's own work: some give the world another tag, few end it. */
int marks_act(SapWorld *world, uint32_t number);

void marks_check(Simulator *simulator, SapStoreTxn *txn, uint32_t universe,
                 const UniverseName *world);
void marks_check_state(Simulator *simulator, SapStoreTxn *txn, uint32_t universe,
                       const UniverseName *world, WorldState *state);

/* Whether the entry is the last of a world. */
bool marks_ends(const WitUniverseEntry *entry);

#endif
