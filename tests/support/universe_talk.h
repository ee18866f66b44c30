/* universe_talk.h - worlds that talk to each other as a test tells them.
 *
 * The module `talk` has a script of lines in each message of the name `do`, which it performs in one step:
 *
 *   send WORLD NAME [OPTION...]       sap_world_send(); options: ref=, id=, create=, delay_ms=, corr=, tries=,
 *                                     typed, header, body=
 *   ask WORLD NAME ref=R [OPTION...]  sap_world_ask(); options also: ms=
 *   promise R [ms=]                   sap_world_promise(); the id goes to the row `promise`
 *   effect R, timer R ms=, cancel R   what they say
 *   answer                            replies to the question that the row `asked` has
 *   done, fail                        ends the world; refuses the item
 *
 * Other messages are noted: "NAME from WORLD: PAYLOAD;" in the row `text`. One of the name `question` is answered
 * at once with its payload, `later` is kept in the row `asked`, `refuse` is refused, `ignore` is only noted,
 * `back` is sent back to its sender. Receipts are noted as "REF STATUS CODE [PAYLOAD];", those of messages without
 * payload, with `+` in place of the code if another message had the id. Timers: "REF fired;". */
#ifndef SAPLING_TESTS_UNIVERSE_TALK_H
#define SAPLING_TESTS_UNIVERSE_TALK_H

#include "support/universe_scene.h"

enum { TALK_TEXT = 2048 };

/* What the module has seen besides: of the last event. */
typedef struct TalkSeen {
    char correlation_id[SAP_WORLD_MAX_ID + 1];
    char trace_parent[SAP_WORLD_MAX_NAME + 1];
    char header[64]; /* NAME=VALUE of the first */
    char from_world[SAP_WORLD_MAX_NAME + 1];
    uint64_t from_height;
    int rc; /* of the last line of a script */
} TalkSeen;
extern TalkSeen talk_seen;

/* The calls of the effect `bell`, which every worker of talk_worker() serves. */
extern uint32_t talk_bells;

SapWorker *talk_worker(Scene *scene, const char *name);
/* A message `do`, or another one. */
void talk_do(Scene *scene, const char *world, const char *script);
void talk_say(Scene *scene, const char *world, const char *name, const char *payload);
/* Steps all roles of the worker once. */
void talk_step(SapWorker *worker);
/* Steps them for a while: on memory until nothing happens any more. */
void talk_settle(SapWorker *worker);
/* A row of a world's state; "" without one. */
const char *talk_row(Scene *scene, const char *world, const char *key);
/* Steps all roles until the world has noted this, and a little longer. */
void talk_expect(Scene *scene, SapWorker *worker, const char *world, const char *text);
/* How many intents a world has outstanding. */
uint32_t talk_outstanding(Scene *scene, const char *world);
/* Nothing is left in the queues of effects and timers, nor of promises and inboxes. */
void talk_expect_nothing_left(Scene *scene);

#endif
