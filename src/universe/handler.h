/* handler.h - one call of a world's handler, and the journal entry that it makes.
 *
 * A SapWorld is the world as its handler sees it during one call. It writes to the state's innermost
 * transaction and keeps what it wrote as the delta of the entry; whoever called ends that transaction.
 *
 * The state has two kinds of rows, told apart by the first byte of their keys:
 *
 *   1 <key>         the handler's
 *   0 h <hash>      an intent that is outstanding: its type, and its ref
 *   0 r <ref>       the hash of the outstanding intent that the handler calls so
 *
 * so that what is outstanding is in the delta, the digest and the sum like everything else, and a state
 * that is restored knows it. It alone decides whether a receipt is awaited, and what a cancel cancels. */
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

typedef enum IntentType {
    INTENT_REPLY, /* to a caller outside */
    INTENT_EFFECT,
    INTENT_TIMER,
    INTENT_CANCEL,
    INTENT_DONE,    /* the world finishes; of_failure: without having reached what it was for */
    INTENT_TAG,     /* ref: the name, params: the value */
    INTENT_UNTAG,   /* the same: what it had */
    INTENT_ASK,     /* another world: params are those of the message */
    INTENT_PROMISE, /* somebody outside: params are its id */
} IntentType;

/* One thing that a call has asked for. Borrowed until the next call. */
typedef struct IntentView {
    IntentType type;
    Slice kind;
    Slice ref;
    SapEncoding encoding;
    Slice params;
    uint8_t hash[UNIVERSE_DIGEST]; /* of a cancel: of the intent that is cancelled */
    IntentType of;                 /* of a cancel: what is cancelled */
    bool cancelled;                /* by the same call: journaled, and never put */
    bool of_failure;               /* of a done world */
    WitUniverseRetry retry;
    WitUniverseTimerClock clock;
    uint64_t time_ns;
} IntentView;

enum {
    CANCELS_MAX =
        16, /* of one call: each needs guards in the transaction, those of two rows count twice */
    ANSWER_CANCELS = 1, /* rows that go with what an item answers, beside those of the item */
};

typedef enum HandlerOutcome {
    HANDLER_DONE,
    HANDLER_REJECTED, /* by the handler, for good */
    HANDLER_FAILED,   /* to be tried again, and counted */
    HANDLER_WAITS,    /* the machine's fault: to be tried again, not counted */
    HANDLER_HALTED, /* the world is paused with the message, whatever its module does after failures */
} HandlerOutcome;

enum { HANDLER_MESSAGE = 1024 };

/* The ask or promise that an item has answered: what is left of its rows goes with the entry. */
typedef struct EndedIntent {
    IntentType type; /* INTENT_ASK or INTENT_PROMISE; anything else: there is none */
    uint8_t hash[UNIVERSE_DIGEST];
} EndedIntent;

struct SapWorld {
    /* Of the world; borrowed. */
    uint32_t universe;
    const UniverseName *name;
    const WorldBirth *birth;
    const SapWorldModule *module; /* NULL: nobody said */
    WorldState *state;
    uint64_t height; /* of the entry that this call makes */
    uint64_t time_ns;

    /* What the call has done. */
    Buf bytes;   /* of keys, values and params */
    Buf changes; /* ChangeAt */
    Buf intents; /* IntentAt */
    uint32_t cancels;
    EndedIntent ended;                  /* by the item */
    size_t weight;                      /* of all of it, against SAP_WORLD_MAX_ENTRY */
    const SAP_ATOMIC(bool) * cancelled; /* borrowed: nobody waits for the result; NULL: never */
    uint64_t drawn;                     /* random bytes */
    bool read_only;                     /* a query: it may reply, and nothing else */
    bool done;                          /* by sap_world_done() */
    bool failed;                        /* by sap_world_fail() */
    bool retry;
    bool waits;       /* by handler_wait() */
    bool halted;      /* by handler_halt() */
    uint32_t attempt; /* of the item, this call included; 1: the first */
    char message[HANDLER_MESSAGE + 1];
};

void handler_init(SapWorld *world, uint32_t universe, const UniverseName *name,
                  const WorldBirth *birth, WorldState *state);

/* For hosts that run handlers elsewhere, in place of sap_world_fail(); the handler returns what they return.
 * handler_wait(): something that the handler needs is missing, which is not its fault: it is called again
 * as after SAP_BUSY, and the message is the reason that people see. handler_halt(): calling it again can
 * do nothing: the world is paused with the message, and this item. */
int handler_wait(SapWorld *world, const char *message);
int handler_halt(SapWorld *world, const char *message);
/* Which attempt of the item this call is; 1: the first. */
uint32_t handler_attempt(const SapWorld *world);

/* In place of a call, after handler_begin(): the item is rejected with this message. */
void handler_refuse(SapWorld *world, const char *message);
void handler_release(SapWorld *world);

/* What was done is forgotten, not the message. */
void handler_forget(SapWorld *world);

/* Begins a call: what the one before has done is forgotten, and its message. */
void handler_begin(SapWorld *world, uint64_t height, uint64_t time_ns);

/* What an item of the kind is to its handler. */
SapEventKind handler_event_kind(WitUniverseItemKind kind);

/* Calls the handler with the item, after handler_begin(). On anything but HANDLER_DONE world->message says why, and the caller
 * aborts the state's innermost transaction. */
HandlerOutcome handler_call(SapWorld *world, SapWorldHandler handler, const InboxItem *item);

/* All that becomes of an item, after handler_begin(): what it answers is over, then the handler is called;
 * not for a receipt that nobody waits for. *kind_out: of the entry, if the outcome is HANDLER_DONE. */
HandlerOutcome handler_perform(SapWorld *world, SapWorldHandler handler, const InboxItem *item,
                               WitUniverseEntryKind *kind_out);

/* After HANDLER_REJECTED, in another transaction of the state: nothing of it happened, but that what the
 * item answers is over. */
int handler_reject(SapWorld *world, const InboxItem *item);

/* The bytes of the entry of what was done since handler_begin(). */
int handler_entry(const SapWorld *world, const InboxItem *item, WitUniverseEntryKind kind,
                  Buf *content_out);

/* How many intents the call before has made. */
size_t handler_intent_count(const SapWorld *world);

/* Calls `intent` for each of them. */
typedef int (*HandlerIntent)(void *ctx, const IntentView *intent);
int handler_intents(const SapWorld *world, HandlerIntent intent, void *ctx);

/* ---- For intents.c: changes and intents of the call under way -------------------------------- */

/* Puts or deletes a row of the state, with its first byte, and keeps the change. SAP_FULL: above the limit
 * of an entry. */
int handler_put_row(SapWorld *world, Slice key, Slice row);
int handler_del_row(SapWorld *world, Slice key);

/* Adds an intent; sets its hash, but that of a cancel. Its slices are copied. SAP_FULL: above a limit. */
int handler_add_intent(SapWorld *world, IntentView *intent);
/* If this call of the handler made the intent of that hash, marks the intent as cancelled, so that its rows
 * are never put. Returns whether it did. */
bool handler_cancel_own(SapWorld *world, const uint8_t hash[UNIVERSE_DIGEST]);
bool handler_is_cancelled(const SapWorld *world);

/* What a handler asks for: the ref is free, or that of a timer which this one replaces, and is outstanding from
 * now on. SAP_EXISTS: it is in use. */
int intent_ask(SapWorld *world, IntentView *intent);
/* Whether a ref is a text that is not too long; NULL is none. */
bool intent_ref_valid(const char *ref);

/* ---- intents.c: what is outstanding ---------------------------------------------------------- */

/* An intent that is outstanding. */
typedef struct Outstanding {
    IntentType type;
    char ref[SAP_WORLD_MAX_NAME + 1];
} Outstanding;

/* SAP_NOTFOUND: it is not. */
int outstanding_get(WorldState *state, const uint8_t hash[UNIVERSE_DIGEST], Outstanding *out);
/* How many are. */
int outstanding_count(WorldState *state, uint64_t *count_out);
/* Calls `visitor` for all. */
typedef int (*OutstandingVisitor)(void *ctx, const uint8_t hash[UNIVERSE_DIGEST],
                                  const Outstanding *outstanding);
int outstanding_each(WorldState *state, OutstandingVisitor visitor, void *ctx);

/* ---- ends.c and tags.c: a world that finishes, and what it is found by ------------------------- */

/* Adds what is put for a world whose last step this is, which has that height. */
int done_write(WriteSet *writes, uint32_t universe, const UniverseName *world, uint64_t height,
               const IntentView *intent);
/* Adds the rows of a tag that is given or taken. */
int tag_write(WriteSet *writes, uint32_t universe, const UniverseName *world,
              const IntentView *intent);

/* Under which id a caller outside waits. Empty: nobody outside does. */
Slice handler_reply_id(Slice reply_to);

#endif
