/* effect_end.h - how an effect leaves its queue: with a receipt, for another attempt, or dropped.
 *
 * Acknowledgements of adapters, lost claims, kinds that nobody serves, and people who resolve an effect by
 * hand all end here, in one transaction that guards the row of the queue, the dedupe row and, shared, the
 * world's meta:
 *
 *   the row is gone, or another's claim   nothing: it was decided before
 *   cancelled, or the world is deleted    the row and its dedupe row go; but a reply of a deleted world is
 *                                         delivered, as all is that a world asked for before it finished
 *   it is a message to another world      that is delivered, or refused (fabric.h); one whose sender waits for a
 *                                         reply, and a reply, go without a receipt
 *   it may be tried again                 pending again, at the time that its policy says
 *   the world takes receipts              the receipt into the inbox with a hint, dedupe complete, row gone
 *   else                                  the row and its dedupe row go
 *
 * Run again after an unknown outcome: the row gone means that it is done. */
#ifndef SAPLING_UNIVERSE_EFFECT_END_H
#define SAPLING_UNIVERSE_EFFECT_END_H

#include "universe/effects.h"
#include "universe/fabric.h"
#include "universe/producer.h"

#define EFFECT_UNSERVED_NS UINT64_C(60000000000) /* that a kind waits for a node that serves it */

/* Who ends it, and so what must still be the case under the guards. */
typedef enum EndingCause {
    ENDING_ACK,      /* the adapter: its token is that of the row */
    ENDING_LOST,     /* the reaper: the claim is lost */
    ENDING_UNSERVED, /* the reaper: it is pending, and no live node serves its kind */
    ENDING_BY_HAND,  /* an operator */
} EndingCause;

typedef enum EndingFate {
    FATE_NOTHING, /* it was decided before, or must not end now */
    FATE_RECEIPT,
    FATE_AGAIN,
    FATE_DROPPED,
    FATE_DELIVERED, /* a message that needs no receipt */
    FATE_OPEN,      /* nothing was done: end it again, since it needs other guards */
} EndingFate;

typedef struct EffectEnding {
    /* Which effect: from a row that was read before, or a claim. */
    EndingCause cause;
    RowKey at;
    uint8_t hash[UNIVERSE_DIGEST];
    UniverseName world;
    uint8_t token[EFFECT_TOKEN]; /* of an acknowledgement */

    /* What became of it. A lost claim decides by the row instead. */
    WitUniverseReceiptStatus status;
    bool again;        /* it may be tried again */
    uint64_t pause_ns; /* then: the least before the next attempt */
    char code[EFFECT_CODE_MAX + 1];
    WitUniverseEncoding encoding;
    Slice payload; /* borrowed, canonical; above UNIVERSE_INLINE_MAX it is `blob` instead */
    Digest blob;
    bool has_blob;
    FabricDelivery
        *delivery; /* borrowed; of a message that can be delivered: it decides what came of it */

    uint8_t seq[UNIVERSE_SEQ]; /* of the receipt */
    EndingFate fate;           /* out */
} EffectEnding;

/* In a transaction; and its guards are SAP_STORE_MAX_GUARDS at most. */
enum { ENDINGS_AT_ONCE = 16 };
uint32_t effect_ending_guards(const EffectEnding *ending);

/* Fills in which effect is to end, from its row in a queue: the key, the hash and the world are copied, and
 * a seq is drawn for the receipt. */
void effect_ending_init(EffectEnding *ending, EndingCause cause, const RowKey *at,
                        const WitUniverseEffect *effect, Producer *producer, SapStore *store);

/* Ends up to ENDINGS_AT_ONCE effects in one transaction. On SAP_OK each has its fate; any other code, also
 * of an unknown outcome: run it again. All are of one party: ENDING_ACK, ENDING_BY_HAND, or the reaper's. */
int effects_end(const Session *session, EffectEnding *endings, uint32_t count);

/* A receipt that an operator writes, because only a person knows what came of the effect. */
typedef struct ReceiptByHand {
    uint8_t hash[UNIVERSE_DIGEST];
    WitUniverseReceiptStatus status;
    const char *code; /* NULL: "" */
    WitUniverseEncoding encoding;
    Slice payload; /* canonical, up to UNIVERSE_INLINE_MAX */
} ReceiptByHand;

/* Puts the receipt of a pending or inflight effect of the world by hand. SAP_NOTFOUND: the world has no
 * such effect, or it was cancelled, or the world takes no receipts. SAP_EXISTS: it has its receipt.
 * SAP_INVALID: no receipt could look so. After SAP_IO and SAP_BUSY it may be called again. */
int receipt_inject(const Session *session, Producer *producer, const UniverseName *world,
                   const ReceiptByHand *receipt);

#endif
