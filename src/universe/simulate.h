/* simulate.h - the universe in the simulator: workers, producers and operators at their worst.
 *
 * Each node is a process with a worker and what goes with it. Producers send numbered messages to a few
 * worlds; operators pause, resume, delete, drain and create them again.
 * Worlds finish now and then, and have tags (simulate_marks.h). What must hold beside that:
 *
 *   after every commit   epochs never fall, and no epoch has two holders; an active world whose inbox is
 *                        not empty has a hint; the inbox of a drained world is empty
 *   when all is quiet    every message that was acknowledged is in the journal, in the inbox or a dead
 *                        letter, once; one of unknown outcome at most once; one that was refused nowhere;
 *                        nothing waits for an active world; heights have no gap and the digest is that of
 *                        the entries; no effect and no timer is left, and no active world waits for
 *                        one; running the handlers again gives the same entries, byte for byte;
 *                        every step that a worker reported is there; what worlds said to each other is as
 *                        simulate_talk.h says; something has happened */
#ifndef SAPLING_UNIVERSE_SIMULATE_H
#define SAPLING_UNIVERSE_SIMULATE_H

#include "simulator/simulator.h"

/* What happened in a run, beside what the simulator counts: X(name, what it counts). */
#define UNIVERSE_COUNTS(X)                                          \
    X(sent, "messages that were acknowledged")                      \
    X(duplicates, "messages whose id was there before")             \
    X(refused, "messages that were refused")                        \
    X(unknown, "messages of unknown outcome")                       \
    X(operations, "operations on worlds, such as pause and delete") \
    X(modules, "modules registered")                                \
    X(acquired, "leases taken")                                     \
    X(released, "leases given back")                                \
    X(fenced, "worlds lost to others")                              \
    X(resolved, "cycles of unknown outcome, read back")             \
    X(paused, "worlds paused by their workers")                     \
    X(effects, "attempts of effects")                               \
    X(answers, "receipts and firings at the end, handled or not")   \
    X(restored, "entries applied to restore worlds")                \
    X(reported, "steps that workers reported")                      \
    X(entries, "entries in the journals at the end")                \
    X(rejected, "of them those of rejected items")                  \
    X(done, "of them those with which worlds finished")             \
    X(dead_letters, "dead letters at the end")                      \
    X(said, "messages sent by worlds")                              \
    X(heard, "of them those that were delivered")                   \
    X(repeated, "of them those whose id another message had")       \
    X(unheard, "of them those that were refused")                   \
    X(asked, "questions asked by worlds")                           \
    X(replied, "of them those that had a reply")                    \
    X(unasked, "of them those that were refused")                   \
    X(came_back, "replies that had to come to whoever had asked")   \
    X(timed_out, "of them those that timed out")                    \
    X(taken_back, "messages and questions that were cancelled")     \
    X(founded, "worlds created by messages")                        \
    X(promised, "promises made")                                    \
    X(kept, "of them those that were resolved")                     \
    X(broken, "of them those that timed out")

typedef struct UniverseCounts {
#define COUNT_FIELD(name, what) uint64_t name;
    UNIVERSE_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
} UniverseCounts;

void universe_counts_add(UniverseCounts *sum, const UniverseCounts *counts);

/* Runs a seed: *report_out and *counts_out are written on any code but SAP_NOMEM. SAP_INVALID: something
 * did not hold, the report says what. steps 0: the default. print NULL: nothing is printed. */
int universe_simulate(uint64_t seed, uint32_t steps, void (*print)(void *ctx, const char *line),
                      void *print_ctx, SimulatorReport *report_out, UniverseCounts *counts_out);

#endif
