/* lists_intents.c - lists of effects, timers and dead letters: see lists.h. */
#include <string.h>

#include "universe/effect_rows.h"
#include "universe/letters.h"
#include "universe/lists.h"

/* ---- Effects --------------------------------------------------------------------------------- */

typedef int (*EffectVisitor)(void *ctx, const SapEffectInfo *effect);

static bool effect_passes(const Listing *listing, const WitUniverseEffect *effect,
                          SapEffectState state)
{
    const SapListQuery *query = &listing->query;
    return list_matches(query->world, &effect->world) && list_matches(query->kind, &effect->kind) &&
           (query->states == 0 || (query->states & (unsigned)state) != 0);
}

/* Fills in what both queues have, and shows it. */
static int show_effect(Listing *listing, const WitUniverseEffect *effect, SapEffectInfo *info)
{
    const EffectVisitor *each = (const EffectVisitor *)listing->each;
    uint64_t now_ns = sap_store_lease_ns(listing->universe->store);
    ListText rooms[4];
    static const CodecBytes none = {0};
    uint32_t tried = effect->attempts.count;
    info->world = list_text(&rooms[0], &effect->world);
    info->kind = list_text(&rooms[1], &effect->kind);
    info->ref = list_text(&rooms[2], &effect->origin_name);
    info->code = list_text(&rooms[3], tried > 0 ? &effect->attempts.items[tried - 1].code : &none);
    info->height = effect->height;
    memcpy(info->intent_hash, effect->intent_hash.data, sizeof info->intent_hash);
    info->encoding = (SapEncoding)effect->encoding;
    info->params = effect->params.data;
    info->params_len = effect->params.len;
    info->attempts = effect->attempt;
    info->age_ns = list_left(effect->enqueued_at_ns, now_ns);
    return (*each)(listing->ctx, info);
}

static int show_pending(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row, bool *shown_out)
{
    WitUniverseDbi34EffectsPendingKey key;
    WitUniverseDbi34EffectsPendingValue val;
    uint64_t now_ns = sap_store_lease_ns(listing->universe->store);
    (void)txn;
    int rc = row_decode_code(
        wit_universe_dbi34_effects_pending_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    SapEffectInfo info = {
        .state = SAP_EFFECT_PENDING, .worker = "", .due_in_ns = list_left(now_ns, key.due_ns)};
    wit_universe_dbi34_effects_pending_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi34_effects_pending_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        *shown_out = effect_passes(listing, &val.effect, info.state);
        rc = *shown_out ? show_effect(listing, &val.effect, &info) : SAP_OK;
        wit_universe_dbi34_effects_pending_value_free(&val);
    }
    return rc;
}

/* What its dedupe row says: whether somebody still wants the receipt. */
static int read_state(const Listing *listing, SapStoreTxn *txn, const WitUniverseEffect *effect,
                      SapEffectState *state_out)
{
    RowKey key;
    DispatchRow dispatch;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, listing->universe->number,
                   effect->intent_hash.data);
    int rc = dispatch_row_get(txn, &key, &dispatch);
    bool cancelled = rc == SAP_OK && dispatch.status == WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED;
    *state_out = cancelled ? SAP_EFFECT_CANCELLED : SAP_EFFECT_INFLIGHT;
    return rc;
}

static int show_inflight(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row,
                         bool *shown_out)
{
    WitUniverseDbi35EffectsInflightValue val;
    uint64_t now_ns = sap_store_lease_ns(listing->universe->store);
    ListText worker;
    SapEffectInfo info = {.due_in_ns = 0};
    int rc = row_decode_code(
        wit_universe_dbi35_effects_inflight_value_decode(row->val, row->val_len, &val, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = read_state(listing, txn, &val.effect, &info.state);
    if (rc == SAP_OK && effect_passes(listing, &val.effect, info.state)) {
        info.worker = list_text(&worker, &val.worker);
        info.running_ns = list_left(val.claimed_ns, now_ns);
        info.claim_left_ns = list_left(now_ns, val.deadline_ns);
        *shown_out = true;
        rc = show_effect(listing, &val.effect, &info);
    }
    wit_universe_dbi35_effects_inflight_value_free(&val);
    return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
}

int sap_effects_list(SapUniverse *universe, const SapListQuery *query, EffectVisitor each,
                     void *ctx, SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc =
        listing_begin(&listing, universe, query, LIST_WORLD | LIST_KIND | LIST_STATES, end_out);
    listing.each = &each;
    listing.ctx = ctx;
    if (rc == SAP_OK) {
        row_key_universe(&prefix, WIT_DBI_EFFECTS_PENDING, universe->number);
        rc = listing_walk(&listing, &prefix, WIT_DBI_EFFECTS_INFLIGHT, show_pending);
    }
    if (rc == SAP_OK && !listing.full) {
        row_key_universe(&prefix, WIT_DBI_EFFECTS_INFLIGHT, universe->number);
        rc = listing_walk(&listing, &prefix, 0, show_inflight);
    }
    return listing_end(&listing, rc);
}

/* ---- Timers ---------------------------------------------------------------------------------- */

typedef int (*TimerVisitor)(void *ctx, const SapTimerInfo *timer);

static int show_timer(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row, bool *shown_out)
{
    const TimerVisitor *each = (const TimerVisitor *)listing->each;
    SapStore *store = listing->universe->store;
    WitUniverseDbi37TimersDueKey key;
    WitUniverseDbi37TimersDueValue val;
    ListText world;
    ListText ref;
    SapTimerInfo info = {.at_ns = 0};
    (void)txn;
    int rc = row_decode_code(
        wit_universe_dbi37_timers_due_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    bool of_day = key.clock == WIT_UNIVERSE_TIMER_CLOCK_DUE;
    info.at_ns = of_day ? key.deliver_at_ns : 0;
    info.in_ns =
        list_left(of_day ? sap_store_due_ns(store) : sap_store_lease_ns(store), key.deliver_at_ns);
    memcpy(info.intent_hash, key.intent_hash.data, sizeof info.intent_hash);
    wit_universe_dbi37_timers_due_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi37_timers_due_value_decode(row->val, row->val_len, &val, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    if (list_matches(listing->query.world, &val.world)) {
        info.world = list_text(&world, &val.world);
        info.ref = list_text(&ref, &val.ref);
        info.height = val.height;
        info.encoding = (SapEncoding)val.encoding;
        info.ask = val.use == WIT_UNIVERSE_TIMER_USE_ASK;
        info.promise = val.use == WIT_UNIVERSE_TIMER_USE_PROMISE;
        info.payload = val.payload.data;
        /* Whoever has the id of a promise may resolve it. */
        info.payload_len = info.promise ? 0 : val.payload.len;
        *shown_out = true;
        rc = (*each)(listing->ctx, &info);
    }
    wit_universe_dbi37_timers_due_value_free(&val);
    return rc;
}

int sap_timers_list(SapUniverse *universe, const SapListQuery *query, TimerVisitor each, void *ctx,
                    SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc = listing_begin(&listing, universe, query, LIST_WORLD, end_out);
    listing.each = &each;
    listing.ctx = ctx;
    if (rc == SAP_OK) {
        row_key_universe(&prefix, WIT_DBI_TIMERS_DUE, universe->number);
        rc = listing_walk(&listing, &prefix, 0, show_timer);
    }
    return listing_end(&listing, rc);
}

/* ---- Dead letters ---------------------------------------------------------------------------- */

typedef int (*LettersVisitor)(void *ctx, const char *world, const SapDeadLetter *letter);

typedef struct NamedLetter {
    const Listing *listing;
    const char *world;
} NamedLetter;

static int show_named(void *ctx, const SapDeadLetter *letter)
{
    const NamedLetter *named = (const NamedLetter *)ctx;
    const LettersVisitor *each = (const LettersVisitor *)named->listing->each;
    return (*each)(named->listing->ctx, named->world, letter);
}

static int show_letter_row(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row,
                           bool *shown_out)
{
    WitUniverseDbi28WorldDlqKey key;
    ListText world;
    NamedLetter named = {.listing = listing};
    (void)txn;
    int rc = row_decode_code(
        wit_universe_dbi28_world_dlq_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    named.world = list_text(&world, &key.world);
    wit_universe_dbi28_world_dlq_key_free(&key);
    *shown_out = true;
    return letter_show(row, show_named, &named);
}

int sap_dead_letters_list(SapUniverse *universe, const SapListQuery *query, LettersVisitor each,
                          void *ctx, SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    UniverseName world;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc = listing_begin(&listing, universe, query, LIST_WORLD, end_out);
    listing.each = &each;
    listing.ctx = ctx;
    if (rc == SAP_OK && listing.query.world != NULL) {
        rc = universe_name_set(&world, listing.query.world);
        if (rc == SAP_OK) {
            row_key_world(&prefix, WIT_DBI_WORLD_DLQ, universe->number, &world);
        }
    } else if (rc == SAP_OK) {
        row_key_universe(&prefix, WIT_DBI_WORLD_DLQ, universe->number);
    }
    rc = rc == SAP_OK ? listing_walk(&listing, &prefix, 0, show_letter_row) : rc;
    return listing_end(&listing, rc);
}
