/* simulate_talk.h - what must hold of messages, questions and promises, in the simulator.
 *
 * Worlds send to each other, ask, and make promises; a third world is created by those who send to it, and somebody
 * outside resolves promises now and then. When all is quiet the journals, inboxes and dead letters say:
 *
 *   of a message    it was delivered once at most; exactly once if its receipt says so, and not at all if the
 *                   receipt says otherwise, or that another message had its id
 *   of a question   it was delivered once at most; once if there was a reply to it, never if it was refused
 *   of both         one answer at most was handled, and none after a cancel
 *   of a reply      it came to whoever had asked, in time or too late, if both worlds have lived all the time
 *   of a promise    it was resolved or has timed out, once, and whoever was told that it is resolved has resolved it */
#ifndef SAPLING_UNIVERSE_SIMULATE_TALK_H
#define SAPLING_UNIVERSE_SIMULATE_TALK_H

#include "simulator/simulator.h"
#include "universe/handler.h"
#include "universe/simulate.h"

enum {
    TALK_KEPT = 1024, /* promises of which somebody was told that they are resolved */
    TALK_WORLDS = 3,
};

/* Outside of all processes. */
typedef struct TalkOutside {
    UniverseCounts *counts;                   /* borrowed */
    uint8_t kept[TALK_KEPT][UNIVERSE_DIGEST]; /* hashes of their intents */
    uint32_t kept_count;
} TalkOutside;

/* In addition to a message's own work: also asks for effects and timers, replaces and cancels some. */
int talk_act(SapWorld *world, uint32_t number);
/* Whether the event is from another world; then talk_take() handles it. */
bool talk_is_from_world(const SapEvent *event);
int talk_take(SapWorld *world, const SapEvent *event);

/* Somebody outside resolves the first promise that it finds after a place that `draw` chooses. */
int talk_resolve(TalkOutside *outside, SapUniverse *universe, const Simulator *simulator,
                 uint64_t draw);

/* When all is quiet. */
void talk_check_end(TalkOutside *outside, Simulator *simulator, SapStoreTxn *txn, uint32_t universe,
                    const char *const *worlds, uint32_t world_count);

#endif
