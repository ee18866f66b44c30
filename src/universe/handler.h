/* handler.h - one call of a world's handler, and the journal entry that it makes.
 *
 * A SapWorld is the world as its handler sees it during one call. It writes to the state's innermost
 * transaction and keeps what it wrote as the delta of the entry; whoever called ends that transaction. */
#ifndef SAPLING_UNIVERSE_HANDLER_H
#define SAPLING_UNIVERSE_HANDLER_H

#include "common/sync.h"
#include "sapling/universe.h"
#include "universe/journal.h"

/* An item as it was read from the inbox. */
typedef struct InboxItem {
    uint8_t item_class;
    uint8_t seq[UNIVERSE_SEQ];
    WitUniverseInboxItem item; /* owned */
    Buf blob;                  /* the payload, where it is in a blob */
} InboxItem;

typedef enum HandlerOutcome {
    HANDLER_DONE,
    HANDLER_REJECTED, /* by the handler, for good */
    HANDLER_FAILED,   /* to be tried again, and counted */
    HANDLER_WAITS,    /* the machine's fault: to be tried again, not counted */
} HandlerOutcome;

enum { HANDLER_MESSAGE = 1024 };

struct SapWorld {
    /* Of the world; borrowed. */
    uint32_t universe;
    const UniverseName *name;
    const WorldBirth *birth;
    WorldState *state;
    uint64_t height; /* of the entry that this call makes */
    uint64_t time_ns;

    /* What the call has done. */
    Buf bytes;                          /* of keys, values and params */
    Buf changes;                        /* ChangeAt */
    Buf intents;                        /* IntentAt */
    size_t weight;                      /* of all of it, against SAP_WORLD_MAX_ENTRY */
    const SAP_ATOMIC(bool) * cancelled; /* borrowed: nobody waits for the result; NULL: never */
    uint64_t drawn;                     /* random bytes */
    bool failed;                        /* by sap_world_fail() */
    bool retry;
    char message[HANDLER_MESSAGE + 1];
};

void handler_init(SapWorld *world, uint32_t universe, const UniverseName *name,
                  const WorldBirth *birth, WorldState *state);

/* In place of a call: the item is rejected with this message, and no handler runs. */
void handler_refuse(SapWorld *world, uint64_t height, uint64_t time_ns, const char *message);
void handler_release(SapWorld *world);

/* Calls the handler with the item. On anything but HANDLER_DONE world->message says why, and the caller
 * aborts the state's innermost transaction. */
HandlerOutcome handler_call(SapWorld *world, SapWorldHandler handler, const InboxItem *item,
                            uint64_t height, uint64_t time_ns);

/* The bytes of the entry: of the call before, or with `rejected` of an item that changed nothing. */
int handler_entry(const SapWorld *world, const InboxItem *item, bool rejected, Buf *content_out);

/* How many intents the call before has made. */
size_t handler_intent_count(const SapWorld *world);

/* Calls `reply` for each reply of the call before. */
typedef int (*HandlerReply)(void *ctx, Slice reply_to, SapEncoding encoding, Slice payload);
int handler_replies(const SapWorld *world, HandlerReply reply, void *ctx);

/* Under which id a caller outside waits. Empty: nobody outside does. */
Slice handler_reply_id(Slice reply_to);

#endif
