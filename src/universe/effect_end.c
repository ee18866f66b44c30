/* effect_end.c - see effect_end.h. */
#include "universe/effect_end.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/utf8.h"
#include "universe/ingress.h"
#include "universe/kinds.h"

enum { ENDING_GUARDS = 3, GUARD_META = 0, GUARD_QUEUE, GUARD_DEDUPE };

typedef struct Endings {
    const Session *session;
    EffectEnding *list;
    uint32_t count;
    UniverseParty party;
} Endings;

/* An effect as the transaction finds it, and lease time then. */
typedef struct FoundEffect {
    const Endings *endings;
    UniverseTxn *txn;
    EffectEnding *ending;
    const UniverseGuard *guards; /* of this one */
    uint64_t now_ns;
    bool inflight;                            /* else it is pending */
    WitUniverseDbi35EffectsInflightValue row; /* of a pending one, only its effect */
    DispatchRow dispatch;
} FoundEffect;

static UniverseParty party_of(EndingCause cause)
{
    return cause == ENDING_ACK       ? PARTY_ADAPTER
           : cause == ENDING_BY_HAND ? PARTY_OPERATOR
                                     : PARTY_REAPER;
}

void effect_ending_init(EffectEnding *ending, EndingCause cause, const RowKey *at,
                        const WitUniverseEffect *effect, Producer *producer, SapStore *store)
{
    *ending = (EffectEnding){.cause = cause, .at = *at};
    memcpy(ending->hash, effect->intent_hash.data, UNIVERSE_DIGEST);
    universe_name_copy(&ending->world, &effect->world);
    producer_next(producer, store, ending->seq);
}

/* ---- What is there --------------------------------------------------------------------------- */

/* SAP_NOTFOUND: the row is gone. On SAP_OK found->row is owned. */
static int read_queued(FoundEffect *found)
{
    const RowKey *at = &found->ending->at;
    Slice val = {0};
    WitUniverseDbi34EffectsPendingValue pending;
    found->inflight = at->table == WIT_DBI_EFFECTS_INFLIGHT;
    int rc = universe_get(found->txn->txn, at, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    if (found->inflight) {
        return row_decode_code(
            wit_universe_dbi35_effects_inflight_value_decode(val.data, val.len, &found->row, NULL));
    }
    rc = row_decode_code(
        wit_universe_dbi34_effects_pending_value_decode(val.data, val.len, &pending, NULL));
    if (rc == SAP_OK) {
        found->row = (WitUniverseDbi35EffectsInflightValue){.effect = pending.effect};
    }
    return rc;
}

/* Whether the cause still holds, under the guards. */
static int check_cause(FoundEffect *found, bool *holds_out)
{
    const EffectEnding *ending = found->ending;
    const Session *session = found->endings->session;
    SapStoreTxn *txn = found->txn->txn;
    bool served = true;
    int rc = SAP_OK;
    *holds_out = true;
    switch (ending->cause) {
    case ENDING_ACK:
        *holds_out = memcmp(found->row.token.data, ending->token, EFFECT_TOKEN) == 0;
        break;
    case ENDING_LOST:
        rc = effect_claim_is_lost(session, txn, &found->row, holds_out);
        break;
    case ENDING_UNSERVED:
        rc = kind_is_served(session, txn,
                            (Slice){found->row.effect.kind.data, found->row.effect.kind.len},
                            &served);
        *holds_out = !served;
        break;
    case ENDING_BY_HAND:
        break;
    }
    return rc;
}

/* ---- Leaving the queue ----------------------------------------------------------------------- */

/* The row was read under its guard, so it must be there. */
static int delete_queued(FoundEffect *found)
{
    int rc = universe_del(found->txn, &found->ending->at);
    SAP_ASSERT(rc != SAP_NOTFOUND);
    return rc;
}

static int drop_effect(FoundEffect *found)
{
    int rc = delete_queued(found);
    found->ending->fate = FATE_DROPPED;
    return rc == SAP_OK ? universe_del(found->txn, &found->guards[GUARD_DEDUPE].key) : rc;
}

/* How the attempt that ends now ended: the receipts of cases are those of attempts. */
static WitUniverseAttemptOutcome outcome_of(const EffectEnding *ending)
{
    if (ending->cause != ENDING_ACK) {
        return WIT_UNIVERSE_ATTEMPT_OUTCOME_LOST;
    }
    return ending->status == WIT_UNIVERSE_RECEIPT_STATUS_OK ? WIT_UNIVERSE_ATTEMPT_OUTCOME_OK
           : ending->status == WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT
               ? WIT_UNIVERSE_ATTEMPT_OUTCOME_TIMEOUT
               : WIT_UNIVERSE_ATTEMPT_OUTCOME_ERROR;
}

/* The attempts with the one that ends now: a list that owns its array and borrows what that names. */
static int list_attempts(const FoundEffect *found, WitUniverseListEffectAttempt *list_out)
{
    const EffectEnding *ending = found->ending;
    const WitUniverseListEffectAttempt *old = &found->row.effect.attempts;
    uint32_t count = old->count + found->inflight;
    WitUniverseEffectAttempt *items = NULL;
    *list_out = (WitUniverseListEffectAttempt){0};
    if (count == 0) {
        return SAP_OK;
    }
    items = (WitUniverseEffectAttempt *)codec_items_new(count, sizeof *items);
    if (items == NULL) {
        return SAP_NOMEM;
    }
    if (old->count > 0) {
        memcpy(items, old->items, old->count * sizeof *items);
    }
    if (found->inflight) {
        items[old->count] =
            (WitUniverseEffectAttempt){found->row.claimed_ns, found->now_ns, outcome_of(ending),
                                       lend_bytes(ending->code, strlen(ending->code))};
    }
    *list_out = (WitUniverseListEffectAttempt){items, count};
    return SAP_OK;
}

static void free_attempts(const WitUniverseListEffectAttempt *list)
{
    codec_items_free(list->items, list->count, sizeof *list->items);
}

/* Whether there is another attempt: the policy has one left, and the last one cannot have been the only
 * one that was allowed. */
static bool may_try_again(const FoundEffect *found)
{
    const WitUniverseDbi35EffectsInflightValue *row = &found->row;
    bool left = found->inflight && row->effect.attempt < row->policy.attempts;
    return left && (found->ending->cause == ENDING_LOST
                        ? !row->at_most_once
                        : found->ending->cause == ENDING_ACK && found->ending->again);
}

static int try_again(FoundEffect *found, const WitUniverseListEffectAttempt *attempts)
{
    EffectEnding *ending = found->ending;
    WitUniverseDbi34EffectsPendingValue fields = {found->row.effect};
    CodecBytes kind = fields.effect.kind;
    uint64_t due_ns = found->now_ns;
    uint8_t seq[UNIVERSE_SEQ];
    Buf val = {0};
    /* A lost claim has waited long enough. */
    if (ending->cause == ENDING_ACK) {
        uint64_t pause_ns = effect_pause_ns(&found->row.policy, fields.effect.attempt);
        due_ns += ending->pause_ns > pause_ns ? ending->pause_ns : pause_ns;
    }
    fields.effect.attempts = *attempts;
    int rc = row_key_seq(&ending->at, seq);
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_pending(&found->dispatch.at, found->endings->session->universe,
                    (Slice){kind.data, kind.len}, due_ns, seq);
    found->dispatch.status = WIT_UNIVERSE_DISPATCH_STATUS_PENDING;
    rc = wit_universe_dbi34_effects_pending_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK
             ? universe_put_if_absent(found->txn, &found->dispatch.at, (Slice){val.data, val.len})
             : rc;
    buf_release(&val);
    SAP_ASSERT(rc != SAP_EXISTS); /* no seq is used twice */
    rc = rc == SAP_OK ? delete_queued(found) : rc;
    ending->fate = FATE_AGAIN;
    return rc == SAP_OK
               ? dispatch_row_put(found->txn, &found->guards[GUARD_DEDUPE].key, &found->dispatch)
               : rc;
}

static int put_receipt(FoundEffect *found, const WitUniverseListEffectAttempt *attempts)
{
    EffectEnding *ending = found->ending;
    const WitUniverseEffect *effect = &found->row.effect;
    uint32_t universe = found->endings->session->universe;
    bool lost = ending->cause == ENDING_LOST;
    IngressRequest request = {
        .world = ending->world,
        .item_class = WIT_UNIVERSE_ITEM_CLASS_RECEIPT,
        .item =
            {
                .kind = WIT_UNIVERSE_ITEM_KIND_RECEIPT,
                .name = effect->kind,
                .hash = effect->intent_hash,
                .ref = effect->origin_name,
                .status = lost ? WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT : ending->status,
                .encoding = ending->encoding,
                .payload = lend_bytes(ending->payload.data, ending->payload.len),
                .time_ns = sap_store_due_ns(found->endings->session->store),
                .code = lend_bytes(ending->code, strlen(ending->code)),
                .attempts = *attempts,
                .correlation_id = effect->correlation_id,
                .trace_parent = effect->trace_parent,
            },
    };
    if (ending->has_blob) {
        request.item.payload.len = 0;
        request.item.blob = lend_bytes(ending->blob.bytes, sizeof ending->blob.bytes);
    }
    memcpy(request.seq, ending->seq, UNIVERSE_SEQ);
    int rc = ingress_put_rows(found->txn, universe, &request);
    rc = rc == SAP_OK ? delete_queued(found) : rc;
    row_key_inbox(&found->dispatch.at, universe, &ending->world, request.item_class, request.seq);
    found->dispatch.status = WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE;
    ending->fate = FATE_RECEIPT;
    return rc == SAP_OK
               ? dispatch_row_put(found->txn, &found->guards[GUARD_DEDUPE].key, &found->dispatch)
               : rc;
}

/* Whether the effect is performed though its world takes no receipts: one that has finished wanted
 * all that it had asked for; of one that was deleted, only those who asked it want something. */
static int check_outlives(const FoundEffect *found, bool *outlives_out)
{
    WitUniverseDbi21WorldMetaValue meta;
    *outlives_out = false;
    int rc = meta_row_get(found->txn->txn, &found->guards[GUARD_META].key, &meta);
    if (rc == SAP_OK) {
        *outlives_out = meta.status == WIT_UNIVERSE_WORLD_STATUS_DONE;
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    return *outlives_out ? SAP_OK : fabric_effect_is_reply(&found->row.effect, outlives_out);
}

/* Another attempt, or the receipt; without either it is dropped. */
static int retire_effect(FoundEffect *found, bool takes)
{
    WitUniverseListEffectAttempt attempts;
    bool again = may_try_again(found);
    if (!again && !takes) {
        return drop_effect(found);
    }
    found->now_ns = sap_store_lease_ns(found->endings->session->store);
    int rc = list_attempts(found, &attempts);
    if (rc == SAP_OK) {
        rc = again ? try_again(found, &attempts) : put_receipt(found, &attempts);
        free_attempts(&attempts);
    }
    return rc;
}

/* ---- Messages to other worlds ---------------------------------------------------------------- */

/* What the receipt says of the delivery, should there be one. */
static void note_delivery(EffectEnding *ending)
{
    const FabricDelivery *delivery = ending->delivery;
    bool delivered = delivery->fate == FABRIC_DELIVERED || delivery->fate == FABRIC_ALREADY;
    ending->again = delivery->fate == FABRIC_LATER;
    ending->status = delivered ? WIT_UNIVERSE_RECEIPT_STATUS_OK : WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
    ending->encoding = WIT_UNIVERSE_ENCODING_RAW;
    ending->payload = (Slice){delivery->receipt.data, delivery->receipt.len};
    (void)snprintf(ending->code, sizeof ending->code, "%s", delivery->code);
}

/* `takes`: the sender takes receipts. */
static int end_delivery(FoundEffect *found, bool takes)
{
    EffectEnding *ending = found->ending;
    FabricDelivery *delivery = ending->delivery;
    const Session *session = found->endings->session;
    bool reply = fabric_is_reply(delivery);
    int rc =
        fabric_deliver(found->txn, session->store, session->universe, &found->row.effect, delivery);
    if (rc != SAP_OK || delivery->fate == FABRIC_OPEN) {
        ending->fate = FATE_OPEN;
        return rc;
    }
    note_delivery(ending);
    bool waits = delivery->params.ask && delivery->fate == FABRIC_DELIVERED;
    if (reply || waits) {
        rc = drop_effect(found);
        ending->fate = delivery->fate == FABRIC_DELIVERED ? FATE_DELIVERED : FATE_DROPPED;
        return rc;
    }
    return retire_effect(found, takes);
}

/* ---- Ending ---------------------------------------------------------------------------------- */

static int end_found(FoundEffect *found)
{
    bool takes = false;
    bool holds = false;
    int rc = check_cause(found, &holds);
    if (rc != SAP_OK || !holds) {
        return rc;
    }
    rc = dispatch_row_get(found->txn->txn, &found->guards[GUARD_DEDUPE].key, &found->dispatch);
    rc = rc == SAP_OK ? world_takes(found->txn->txn, &found->guards[GUARD_META].key, &takes) : rc;
    if (rc == SAP_NOTFOUND ||
        (rc == SAP_OK && !row_key_equal(&found->dispatch.at, &found->ending->at))) {
        return SAP_CORRUPT;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    bool goes = takes;
    rc = goes ? SAP_OK : check_outlives(found, &goes);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!goes || found->dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED) {
        return drop_effect(found);
    }
    return found->ending->delivery != NULL ? end_delivery(found, takes)
                                           : retire_effect(found, takes);
}

static int end_one(const Endings *endings, UniverseTxn *txn, EffectEnding *ending,
                   const UniverseGuard *guards)
{
    FoundEffect found = {.endings = endings, .txn = txn, .ending = ending, .guards = guards};
    ending->fate = FATE_NOTHING;
    int rc = read_queued(&found);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    SAP_ASSERT(found.inflight ? ending->cause != ENDING_UNSERVED
                              : ending->cause != ENDING_ACK && ending->cause != ENDING_LOST);
    rc = end_found(&found);
    wit_universe_dbi35_effects_inflight_value_free(&found.row);
    return rc;
}

uint32_t effect_ending_guards(const EffectEnding *ending)
{
    uint32_t fabric = ending->delivery == NULL ? 0 : ending->delivery->creates ? 2 : 1;
    return ENDING_GUARDS + ending->has_blob + fabric;
}

/* The guards of one ending, without that of its blob. */
static uint32_t take_guards_of(const EffectEnding *ending, uint32_t universe, UniverseGuard *own)
{
    row_key_world(&own[GUARD_META].key, WIT_DBI_WORLD_META, universe, &ending->world);
    own[GUARD_META].exclusive = false;
    own[GUARD_QUEUE] = (UniverseGuard){ending->at, true};
    row_key_dedupe(&own[GUARD_DEDUPE].key, WIT_DBI_EFFECTS_DEDUPE, universe, ending->hash);
    own[GUARD_DEDUPE].exclusive = true;
    return ENDING_GUARDS + (ending->delivery == NULL
                                ? 0
                                : fabric_guards(universe, ending->delivery, &own[ENDING_GUARDS]));
}

static int end_body(SapStoreTxn *store_txn, void *ctx)
{
    const Endings *endings = (const Endings *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[SAP_STORE_MAX_GUARDS];
    uint32_t first[ENDINGS_AT_ONCE] = {0}; /* guard of each */
    uint32_t guard_count = 0;
    Digest blobs[ENDINGS_AT_ONCE];
    uint32_t blob_count = 0;
    for (uint32_t i = 0; i < endings->count; i++) {
        const EffectEnding *ending = &endings->list[i];
        first[i] = guard_count;
        SAP_ASSERT(guard_count + effect_ending_guards(ending) <= SAP_STORE_MAX_GUARDS);
        guard_count += take_guards_of(ending, endings->session->universe, &guards[guard_count]);
        if (ending->has_blob) {
            blobs[blob_count++] = ending->blob;
        }
    }
    int rc =
        universe_txn_start(&txn, store_txn, endings->party, guards, guard_count, blobs, blob_count);
    for (uint32_t i = 0; rc == SAP_OK && i < endings->count; i++) {
        rc = end_one(endings, &txn, &endings->list[i], &guards[first[i]]);
    }
    return rc;
}

int effects_end(const Session *session, EffectEnding *endings, uint32_t count)
{
    Endings all = {session, endings, count, PARTY_REAPER};
    uint32_t guards = 0;
    SAP_ASSERT(count > 0 && count <= ENDINGS_AT_ONCE);
    all.party = party_of(endings[0].cause);
    for (uint32_t i = 0; i < count; i++) {
        guards += effect_ending_guards(&endings[i]);
        SAP_ASSERT(party_of(endings[i].cause) == all.party);
        SAP_ASSERT(endings[i].has_blob || endings[i].payload.len <= UNIVERSE_INLINE_MAX);
        SAP_ASSERT(endings[i].delivery == NULL || endings[i].cause == ENDING_ACK);
    }
    SAP_ASSERT(guards <= SAP_STORE_MAX_GUARDS);
    int rc = sap_store_run(session->store, SAP_STORE_GUARDED, end_body, &all, NULL);
    /* Not before: the body may run several times, and its guards were counted once. */
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        if (endings[i].fate == FATE_OPEN) {
            endings[i].delivery->creates = true;
        }
    }
    return rc;
}

/* ---- By hand --------------------------------------------------------------------------------- */

/* Where the effect is. SAP_NOTFOUND, SAP_EXISTS: as of receipt_inject(). */
static int find_open(const Session *session, const UniverseName *world,
                     const uint8_t hash[UNIVERSE_DIGEST], RowKey *at_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    DispatchRow dispatch;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, session->universe, hash);
    int rc = sap_store_begin(session->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? dispatch_row_get(txn, &key, &dispatch) : rc;
    sap_store_abort(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    bool own = dispatch.world.len == world->len &&
               memcmp(dispatch.world.text, world->text, world->len) == 0;
    *at_out = dispatch.at;
    return !own || dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED ? SAP_NOTFOUND
           : dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE        ? SAP_EXISTS
                                                                             : SAP_OK;
}

static bool receipt_is_valid(const ReceiptByHand *receipt)
{
    size_t code_len = receipt->code == NULL ? 0 : strlen(receipt->code);
    return receipt->status >= WIT_UNIVERSE_RECEIPT_STATUS_OK &&
           receipt->status <= WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT &&
           receipt->encoding <= WIT_UNIVERSE_ENCODING_RAW && code_len <= EFFECT_CODE_MAX &&
           (code_len == 0 || utf8_valid(receipt->code, code_len)) &&
           receipt->payload.len <= UNIVERSE_INLINE_MAX;
}

int receipt_inject(const Session *session, Producer *producer, const UniverseName *world,
                   const ReceiptByHand *receipt)
{
    enum { TRIES = 16 };
    EffectEnding ending = {.cause = ENDING_BY_HAND, .world = *world};
    int rc = receipt_is_valid(receipt) ? SAP_OK : SAP_INVALID;
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(ending.hash, receipt->hash, UNIVERSE_DIGEST);
    ending.status = receipt->status;
    ending.encoding = receipt->encoding;
    ending.payload = receipt->payload;
    if (receipt->code != NULL) {
        memcpy(ending.code, receipt->code, strlen(receipt->code) + 1);
    }
    producer_next(producer, session->store, ending.seq);
    for (int i = 0; i < TRIES; i++) {
        rc = find_open(session, world, receipt->hash, &ending.at);
        rc = rc == SAP_OK ? effects_end(session, &ending, 1) : rc;
        if (rc != SAP_OK || ending.fate != FATE_NOTHING) {
            break;
        }
        rc = SAP_BUSY; /* it moves faster than we read */
    }
    return rc == SAP_OK && ending.fate == FATE_DROPPED ? SAP_NOTFOUND : rc;
}
