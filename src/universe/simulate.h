/* simulate.h - the universe in the simulator: workers, producers and operators at their worst.
 *
 * Each node is a process with a worker and what goes with it. Producers send numbered messages to a few
 * worlds; operators pause, resume, delete, drain and create them again. What must hold:
 *
 *   after every commit   epochs never fall, and no entry is of a greater epoch than the lease's; an active
 *                        world whose inbox is not empty has a hint
 *   when all is quiet    every message that was acknowledged is in the journal, in the inbox or a dead
 *                        letter, once; one of unknown outcome at most once; one that was refused nowhere;
 *                        nothing waits for an active world; heights have no gap and the digest is that of
 *                        the entries; running the handlers again gives the same entries, byte for byte;
 *                        every world has made progress */
#ifndef SAPLING_UNIVERSE_SIMULATE_H
#define SAPLING_UNIVERSE_SIMULATE_H

#include "simulator/simulator.h"

/* What happened in a run, beside what the simulator counts. */
typedef struct UniverseCounts {
    uint64_t sent, duplicates, refused, unknown; /* messages */
    uint64_t entries, rejected;                  /* in the journals at the end */
    uint64_t steps, fenced, resolved, acquired, restored, released, paused; /* of workers */
    uint64_t operations, dead_letters;
} UniverseCounts;

/* Runs a seed: *report_out and *counts_out are written on any code but SAP_NOMEM. SAP_INVALID: something
 * did not hold, the report says what. steps 0: the default. print NULL: nothing is printed. */
int universe_simulate(uint64_t seed, uint32_t steps, void (*print)(void *ctx, const char *line),
                      void *print_ctx, SimulatorReport *report_out, UniverseCounts *counts_out);

#endif
