/* fabric.h - messages between worlds: how one is described, and how it comes into an inbox (protocol F).
 *
 * A message is an effect of the kind `fabric.send`, whose params are a FabricSendParams record. Who performs
 * it is in the box (adapter.h): the claim is that of every effect, and then one transaction takes the effect
 * out of its queue (effect_end.h), puts the item into the inbox of the destination, and the receipt into that
 * of the sender. So a message is delivered once however often it is attempted: the row of the queue decides.
 *
 * Where the handler chose a message_id, a row of the destination remembers it for 24 hours, and is put before
 * the item: two intents with the same id deliver one message. Without, there is no such row.
 *
 *   a message  sender's meta shared, queue row, dedupe row; the destination's meta shared
 *   ... that creates its destination: the destination's lease and meta exclusive
 *
 * An ask is a message whose delivery puts no receipt: its receipt is the reply, or the end of its time. A reply
 * goes the same way back, into the class of receipts, and has no receipt itself: what is outstanding in the
 * state of the world that asked decides whether it is awaited.
 *
 * Who may reply is whoever has the text of reply_to: `world:HASH:LEN:WORLD:REF`, of the ask's intent. */
#ifndef SAPLING_UNIVERSE_FABRIC_H
#define SAPLING_UNIVERSE_FABRIC_H

#include "common/random.h"
#include "universe/effects.h"
#include "universe/ingress.h"

#define FABRIC_KIND   "fabric.send"
#define FABRIC_ASK    "ask"                 /* the name of what answers an ask, to its handler */
#define FABRIC_ASK_NS UINT64_C(30000000000) /* that an ask waits, unless it says otherwise */

enum { FABRIC_REPLY_TO_MAX = 400, FABRIC_GUARDS = 2 };

/* ---- Whom a reply goes to -------------------------------------------------------------------- */

typedef struct FabricAsker {
    UniverseName world;
    uint8_t hash[UNIVERSE_DIGEST]; /* of the ask's intent */
    Slice ref;                     /* borrowed from the text that was read */
} FabricAsker;

int fabric_asker_write(const FabricAsker *asker, Buf *out);
/* False: the text names no world's ask. */
bool fabric_asker_read(Slice reply_to, FabricAsker *asker_out);

/* What goes back to a world that has asked. All is borrowed for the call. */
typedef struct FabricReply {
    const UniverseName *world; /* that replies */
    uint64_t height;           /* of its entry */
    const uint8_t *hash;       /* of the reply's own intent: no other effect has it */
    const uint8_t *seq;
    const FabricAsker *asker;
    WitUniverseReceiptStatus status; /* ok, or error */
    const char *code;
    WitUniverseEncoding encoding;
    Slice payload; /* canonical, up to UNIVERSE_INLINE_MAX */
    CodecBytes correlation_id;
    CodecBytes trace_parent;
} FabricReply;

/* Adds the rows of the effect that delivers it. */
int fabric_reply_publish(WriteSet *writes, SapStore *store, uint32_t universe,
                         const FabricReply *reply);

/* ---- Delivery -------------------------------------------------------------------------------- */

typedef enum FabricFate {
    FABRIC_OPEN, /* nothing was written: it is for a transaction of its own, with `creates` */
    FABRIC_DELIVERED,
    FABRIC_ALREADY, /* an earlier message has its id */
    FABRIC_REFUSED, /* for good; `code` says why */
    FABRIC_LATER,   /* nothing was written, and it may be tried again */
} FabricFate;

typedef struct FabricDelivery {
    WitUniverseFabricSendParams params; /* owned */
    UniverseName to;
    bool creates;                        /* the guards are those of a creation */
    uint8_t message_id[UNIVERSE_DIGEST]; /* of the intent, or of the id that the handler chose */
    uint8_t seed[16];                    /* of a world that is created */
    uint8_t seq[UNIVERSE_SEQ];           /* of the item */
    uint8_t create_seq[UNIVERSE_SEQ];
    uint8_t expiry_seq[UNIVERSE_SEQ];

    FabricFate fate; /* out, with what follows */
    const char *code;
    Buf receipt; /* bytes of a FabricSendReceipt */
} FabricDelivery;

/* Of the params of an effect. The caller owns *delivery_out: fabric_delivery_free(). SAP_INVALID: they are no
 * such params. `producer` makes the seqs. */
int fabric_delivery_make(const WitUniverseEffect *effect, SapStore *store, Producer *producer,
                         const Random *random, FabricDelivery **delivery_out);
/* NULL is accepted. */
void fabric_delivery_free(FabricDelivery *delivery);

/* Whether it is a reply. */
bool fabric_is_reply(const FabricDelivery *delivery);
/* The same of an effect as it is in a queue; one whose params do not decode is none. */
int fabric_effect_is_reply(const WitUniverseEffect *effect, bool *reply_out);

/* The guards that it needs beside those of its effect: 1 or 2. */
uint32_t fabric_guards(uint32_t universe, const FabricDelivery *delivery,
                       UniverseGuard guards_out[FABRIC_GUARDS]);

/* In the transaction, under these guards: delivery->fate says what became of it. `effect` is that of the row
 * that was read under its guard. */
int fabric_deliver(UniverseTxn *txn, SapStore *store, uint32_t universe,
                   const WitUniverseEffect *effect, FabricDelivery *delivery);

/* The receipt of a message that nobody has delivered. */
int fabric_receipt_of_error(FabricDelivery *delivery);

#endif
