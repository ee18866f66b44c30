/* effects.h - effects from the cycle that asks for them to the entry that consumes their receipt.
 *
 * An effect moves through the queues of effect_rows.h:
 *
 *   cycle     effects_publish     nothing  -> pending     in the cycle's fenced transaction
 *   adapter   effects_claim       pending  -> inflight    a fresh token, attempt + 1; durable before the call
 *   adapter   effects_renew       inflight                while the call runs; reports a cancel
 *   anybody   effect_end.h        inflight -> complete    with a receipt in the inbox
 *                                 inflight -> pending     for another attempt
 *   cycle     effects_consume     complete -> nothing     in the cycle that consumes the receipt
 *   cycle     intents_cancel_*    pending  -> nothing; inflight -> cancelled; complete stays
 *
 * Invariants, at every commit:
 * - A dedupe row that says pending, inflight or complete names a row that is there, and every row of a
 *   queue is named by the dedupe row of its intent. A cancelled one names an inflight row.
 * - The receipt of an intent is put into the inbox once, in the transaction that takes the effect out of
 *   its queue. After a cancel that found it in a queue, none is put.
 * - attempt counts the claims; what became of those that have ended is in `attempts`.
 *
 * Whoever moves a row guards it, then the dedupe row; a claim locks it instead, and others skip it. */
#ifndef SAPLING_UNIVERSE_EFFECTS_H
#define SAPLING_UNIVERSE_EFFECTS_H

#include "universe/effect_rows.h"
#include "universe/session.h"
#include "universe/writes.h"

#define EFFECT_CLAIM_NS UINT64_C(30000000000) /* that a claim lasts without renewal */

enum {
    EFFECT_CLAIMS_AT_ONCE = 16, /* in a transaction */
    EFFECT_MOST_ATTEMPTS = 100, /* that a policy may allow */
};

/* ---- Policies -------------------------------------------------------------------------------- */

/* Fills the fields that are 0: from `kind`, then with 5 attempts, pauses of 1 s doubling up to 60 s, and
 * 30 s an attempt. */
void effect_policy_fill(WitUniverseRetry *policy, const WitUniverseRetry *kind);

/* SHA-256 over the fields of a policy. */
void effect_policy_hash(const WitUniverseRetry *policy, Digest *out);

/* Between attempt `attempt` (1 is the first) and the next; 1 to 2^62. */
uint64_t effect_pause_ns(const WitUniverseRetry *policy, uint32_t attempt);

/* ---- In a cycle ------------------------------------------------------------------------------ */

/* Adds the rows of a new effect: due from due_ns on, in the order of `seq` among those of the time. They
 * are written by the holder under lease and head; if the intent was published before, which the fence
 * makes impossible, the transaction fails with SAP_CORRUPT. `effect` has no attempts, and is valid as its
 * schema says: whoever makes it of what a handler asked for has checked that. */
int effects_publish(WriteSet *writes, uint32_t universe, const WitUniverseEffect *effect,
                    uint64_t due_ns, const uint8_t seq[UNIVERSE_SEQ]);

/* Adds what is deleted with the item of a receipt, whether or not it is outstanding. */
int effects_consume(WriteSet *writes, uint32_t universe, const uint8_t hash[UNIVERSE_DIGEST]);

/* Cancelling intents of cycles before this one; those of the same cycle are not published instead. Before
 * each submission of the transaction intents_cancel_find() reads where they are; the transaction takes
 * their guards, and intents_cancel_apply() writes. */
typedef enum CancelOf { CANCEL_EFFECT, CANCEL_TIMER, CANCEL_PROMISE } CancelOf;

typedef struct IntentCancel {
    CancelOf of;
    uint8_t hash[UNIVERSE_DIGEST]; /* of the intent; of a promise its id */
    /* By its dedupe row, or that of the promise; len 0: it has none, and there is nothing to do. */
    RowKey named;
} IntentCancel;

enum { INTENT_CANCEL_GUARDS = 2 }; /* that one needs at most */
/* That these need at most, wherever they are. */
uint32_t intents_cancel_most_guards(const IntentCancel *cancels, uint32_t count);

int intents_cancel_find(SapStore *store, uint32_t universe, IntentCancel *cancels, uint32_t count);
/* Writes the guards of all, and how many they are. */
uint32_t intents_cancel_guards(uint32_t universe, const IntentCancel *cancels, uint32_t count,
                               UniverseGuard *guards_out);
/* By the holder, under its lease and these guards. SAP_CONFLICT: one of them has moved; find them again,
 * and submit the transaction again. */
int intents_cancel_apply(UniverseTxn *txn, uint32_t universe, const IntentCancel *cancels,
                         uint32_t count);

/* Drops intents of a world that is deleted or done, up to INTENTS_DROPPED a call, and only those of this
 * world. Besides what is outstanding, the drain lists the intents of receipts that it takes out of the
 * inbox, before it does: a cancelled one is not outstanding, and its dedupe row would stay for ever.
 * SAP_ERROR: the world is neither. Run it again after any other code. */
enum { INTENTS_DROPPED = 24 };
int intents_drop(SapStore *store, uint32_t universe, const UniverseName *world,
                 IntentCancel *cancels, uint32_t count);

/* ---- Claiming (protocol D) ------------------------------------------------------------------- */

typedef struct EffectClaim {
    RowKey key;                               /* of the row in effects-inflight */
    WitUniverseDbi35EffectsInflightValue row; /* owned */
} EffectClaim;

/* All zero is accepted. */
void effect_claim_release(EffectClaim *claim);
/* Of a Buf of EffectClaim: releases each, and empties it. */
void effect_claims_clear(Buf *claims);

/* What an adapter has room for. */
typedef struct ClaimRequest {
    Slice kind;              /* borrowed */
    uint32_t limit;          /* 0: none of this kind now */
    WitUniverseRetry policy; /* of the kind, without zeros */
    bool at_most_once;
} ClaimRequest;

/* *wait_ns_out: how long until some effect of one of the kinds that has room is due, as a reader of what is
 * durable sees it; 0: one is, UINT64_MAX: there is none. *version_out is for a wait for more. */
int effects_due(const Session *session, const ClaimRequest *requests, uint32_t count,
                uint64_t *wait_ns_out, uint64_t *version_out);

/* Claims what is due, EFFECT_CLAIMS_AT_ONCE at most, the first kinds first. SAP_OK: *claims_out has an
 * EffectClaim for each, and they are durable: the calls may begin. Any other code: begin nothing. If the
 * outcome was unknown, the rows come back when their claims run out. */
int effects_claim(const Session *session, const Random *random, const ClaimRequest *requests,
                  uint32_t count, Buf *claims_out);

typedef enum ClaimState {
    CLAIM_STANDS,
    CLAIM_CANCELLED, /* nobody wants the result: end the call, then the claim */
    CLAIM_GONE, /* it ran out, or was resolved by hand: end the call, its result counts no more */
} ClaimState;

typedef struct ClaimRenewal {
    const EffectClaim *claim;
    ClaimState state; /* out */
} ClaimRenewal;

enum { CLAIM_RENEWALS = 24 }; /* in a call */

/* Moves the deadline of each claim that stands to EFFECT_CLAIM_NS from now. After any code but SAP_OK the
 * states say nothing; run it again. */
int effects_renew(const Session *session, ClaimRenewal *renewals, uint32_t count);

/* In a transaction: whether the claim ran out, or its session is over. */
int effect_claim_is_lost(const Session *asking, SapStoreTxn *txn,
                         const WitUniverseDbi35EffectsInflightValue *row, bool *lost_out);

#endif
