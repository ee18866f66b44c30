/* universe_effects.h - effects and timers in the simulator, with a stand-in for the worlds.
 *
 * Each node has a holder, which publishes and cancels intents of a few worlds under their leases and
 * consumes what comes into their inboxes; an adapter, a reaper and a timer worker, which are the real ones;
 * and an operator, who deletes and makes worlds and resolves effects by hand. What must hold:
 *
 *   after every commit   the rows of an intent name each other; an intent that is outstanding is in one
 *                        queue, or its receipt is in the inbox; it has one receipt at most, and none if it
 *                        was cancelled before it had one; attempts are those that were claimed; no claim is
 *                        taken that is not lost; a timer has not fired early; nothing comes into a world
 *                        that is gone; an inbox with items has a hint
 *   at every call        the claim is durable; no attempt is begun twice; an effect that may be begun once
 *                        is not begun again; all attempts have the same key
 *   when all is quiet    every intent was cancelled or has its receipt; no row is left */
#ifndef SAPLING_TESTS_UNIVERSE_EFFECTS_H
#define SAPLING_TESTS_UNIVERSE_EFFECTS_H

#include "simulator/simulator.h"

/* What happened in a run: X(name, what it counts). */
#define EFFECTS_COUNTS(X)                                              \
    X(published, "effects published")                                  \
    X(armed, "timers armed")                                           \
    X(cancelled, "intents cancelled")                                  \
    X(cancelled_late, "of them those that had their receipts already") \
    X(cancelled_inflight, "of them those that were claimed")           \
    X(consumed, "receipts and firings consumed")                       \
    X(duplicates, "of them those that nobody waited for")              \
    X(begun, "calls begun")                                            \
    X(cancels_heard, "calls ended because nobody wanted them")         \
    X(retries, "attempts that failed and were tried again")            \
    X(returned, "lost claims whose effects were tried again")          \
    X(timeouts, "receipts of lost claims")                             \
    X(unserved, "receipts of kinds that nobody serves")                \
    X(by_hand, "receipts put by hand")                                 \
    X(fired, "timers fired")                                           \
    X(deleted, "worlds deleted")                                       \
    X(dropped, "effects and timers ended without a receipt")

typedef struct EffectsCounts {
#define COUNT_FIELD(name, what) uint64_t name;
    EFFECTS_COUNTS(COUNT_FIELD)
#undef COUNT_FIELD
} EffectsCounts;

void effects_counts_add(EffectsCounts *sum, const EffectsCounts *counts);

typedef struct EffectsPlan {
    bool one_intent; /* every choice is about one intent: the races among all that can end it */
} EffectsPlan;

/* Runs a seed: as universe_simulate(). */
int effects_simulate(uint64_t seed, const EffectsPlan *plan,
                     void (*print)(void *ctx, const char *line), void *print_ctx,
                     SimulatorReport *report_out, EffectsCounts *counts_out);

#endif
