/* api_messages.h - sending messages, and waiting for their replies.
 *
 * Calls are sent in groups, each in one commit. What takes longer is given to the pool: long bodies, and worlds
 * that are yet to be created.
 *
 * The Idempotency-Key becomes the item's id, "key:CALLER:KEY", so that the inbox's own rows decide what is a
 * repetition, and nobody can ask for the reply to another caller's message. */
#ifndef SAPLING_NODE_API_MESSAGES_H
#define SAPLING_NODE_API_MESSAGES_H

#include "node/api_call.h"
#include "sapling/store.h"

enum {
    API_SENDS_AT_ONCE = 24,
    API_SEND_LONG = 64 << 10, /* bytes of a body that is sent alone */
};

/* Sends one message: for the pool. */
void api_message_send(Call *call);

/* Sends up to API_SENDS_AT_ONCE, which are linked by `next`, and finishes or parks each. */
void api_messages_send(Call *calls);

/* Looks for the reply to a message: a WaitLook. */
bool api_message_look(SapStoreTxn *txn, Call *call, bool over);

/* The same for the result of a world. */
bool api_result_look(SapStoreTxn *txn, Call *call, bool over);

#endif
