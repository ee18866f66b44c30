/* effects.c - see effects.h. */
#include "universe/effects.h"

#include "common/assert.h"
#include "common/bytes.h"

#define SECOND_NS UINT64_C(1000000000)
#define MOST_NS   (UINT64_C(1) << 62) /* of a pause: it is added to a time below 2^63 */

enum { DEFAULT_ATTEMPTS = 5, DEFAULT_FACTOR = 200, DEFAULT_CAP_S = 60, DEFAULT_TIMEOUT_S = 30 };

/* ---- Policies -------------------------------------------------------------------------------- */

static uint64_t first_set(uint64_t own, uint64_t kind, uint64_t otherwise)
{
    return own != 0 ? own : kind != 0 ? kind : otherwise;
}

void effect_policy_fill(WitUniverseRetry *policy, const WitUniverseRetry *kind)
{
    *policy = (WitUniverseRetry){
        .attempts = (uint32_t)first_set(policy->attempts, kind->attempts, DEFAULT_ATTEMPTS),
        .first_ns = first_set(policy->first_ns, kind->first_ns, SECOND_NS),
        .factor = (uint32_t)first_set(policy->factor, kind->factor, DEFAULT_FACTOR),
        .cap_ns = first_set(policy->cap_ns, kind->cap_ns, DEFAULT_CAP_S * SECOND_NS),
        .timeout_ns =
            first_set(policy->timeout_ns, kind->timeout_ns, DEFAULT_TIMEOUT_S * SECOND_NS),
    };
}

void effect_policy_hash(const WitUniverseRetry *policy, Digest *out)
{
    uint8_t bytes[36];
    DigestState state;
    store_u32be(bytes, policy->attempts);
    store_u64be(bytes + 4, policy->first_ns);
    store_u64be(bytes + 12, policy->factor);
    store_u64be(bytes + 20, policy->cap_ns);
    store_u64be(bytes + 28, policy->timeout_ns);
    digest_init(&state);
    digest_update(&state, bytes, sizeof bytes);
    digest_final(&state, out);
}

uint64_t effect_pause_ns(const WitUniverseRetry *policy, uint32_t attempt)
{
    uint64_t cap_ns = policy->cap_ns < MOST_NS ? policy->cap_ns : MOST_NS;
    uint64_t pause_ns = policy->first_ns;
    SAP_ASSERT(attempt > 0 && policy->first_ns > 0 && policy->factor > 0 && policy->cap_ns > 0);
    for (uint32_t i = 1; i < attempt && pause_ns < cap_ns; i++) {
        bool above = pause_ns / 100 >= cap_ns / policy->factor;
        pause_ns = above ? cap_ns
                         : pause_ns / 100 * policy->factor + pause_ns % 100 * policy->factor / 100;
    }
    pause_ns = pause_ns < cap_ns ? pause_ns : cap_ns;
    return pause_ns > 0 ? pause_ns : 1;
}

/* ---- In a cycle ------------------------------------------------------------------------------ */

int effects_publish(WriteSet *writes, uint32_t universe, const WitUniverseEffect *effect,
                    uint64_t due_ns, const uint8_t seq[UNIVERSE_SEQ])
{
    RowKey key;
    DispatchRow dispatch = {.status = WIT_UNIVERSE_DISPATCH_STATUS_PENDING};
    WitUniverseDbi34EffectsPendingValue fields = {*effect};
    Buf val = {0};
    SAP_ASSERT(effect->attempt == 0 && effect->attempts.count == 0);
    row_key_pending(&dispatch.at, universe, (Slice){effect->kind.data, effect->kind.len}, due_ns,
                    seq);
    universe_name_copy(&dispatch.world, &effect->world);
    int rc = wit_universe_dbi34_effects_pending_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &dispatch.at, (Slice){val.data, val.len}) : rc;
    buf_clear(&val);
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, universe, effect->intent_hash.data);
    rc = rc == SAP_OK ? dispatch_row_encode(&dispatch, &val) : rc;
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT_NEW, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

int effects_consume(WriteSet *writes, uint32_t universe, const uint8_t hash[UNIVERSE_DIGEST])
{
    RowKey key;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, universe, hash);
    return writes_add(writes, ROW_DEL, &key, (Slice){"", 0});
}

/* ---- Cancelling ------------------------------------------------------------------------------ */

static void key_of_cancel(RowKey *key, uint32_t universe, const IntentCancel *cancel)
{
    if (cancel->of == CANCEL_PROMISE) {
        row_key_promise(key, universe, cancel->hash);
        return;
    }
    row_key_dedupe(key, cancel->of == CANCEL_TIMER ? WIT_DBI_TIMERS_DEDUPE : WIT_DBI_EFFECTS_DEDUPE,
                   universe, cancel->hash);
}

/* Where the intent is now. */
static int find_intent(SapStoreTxn *txn, uint32_t universe, IntentCancel *cancel)
{
    RowKey key;
    DispatchRow dispatch;
    Slice val = {0};
    int rc = SAP_OK;
    key_of_cancel(&key, universe, cancel);
    switch (cancel->of) {
    case CANCEL_TIMER:
        rc = timer_dedupe_get(txn, &key, &cancel->named);
        break;
    case CANCEL_PROMISE:
        rc = universe_get(txn, &key, &val);
        cancel->named = key;
        break;
    case CANCEL_EFFECT:
        rc = dispatch_row_get(txn, &key, &dispatch);
        cancel->named = rc == SAP_OK ? dispatch.at : cancel->named;
        break;
    }
    if (rc == SAP_NOTFOUND) {
        cancel->named.len = 0;
        rc = SAP_OK;
    }
    return rc;
}

int intents_cancel_find(SapStore *store, uint32_t universe, IntentCancel *cancels, uint32_t count)
{
    SapStoreTxn *txn = NULL;
    int rc = count > 0 ? sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn) : SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = find_intent(txn, universe, &cancels[i]);
    }
    sap_store_abort(txn);
    return rc;
}

uint32_t intents_cancel_guards(uint32_t universe, const IntentCancel *cancels, uint32_t count,
                               UniverseGuard *guards_out)
{
    uint32_t guards = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (cancels[i].named.len == 0) {
            continue;
        }
        guards_out[guards++] = (UniverseGuard){cancels[i].named, true};
        if (cancels[i].of == CANCEL_EFFECT) {
            key_of_cancel(&guards_out[guards].key, universe, &cancels[i]);
            guards_out[guards++].exclusive = true;
        }
    }
    return guards;
}

uint32_t intents_cancel_most_guards(const IntentCancel *cancels, uint32_t count)
{
    uint32_t guards = 0;
    for (uint32_t i = 0; i < count; i++) {
        guards += cancels[i].of == CANCEL_EFFECT ? INTENT_CANCEL_GUARDS : 1;
    }
    return guards;
}

/* A row of a queue that must be there, since its dedupe row names it. */
static int delete_named(UniverseTxn *txn, const RowKey *key)
{
    int rc = universe_del(txn, key);
    return rc == SAP_NOTFOUND ? SAP_CONFLICT : rc;
}

/* SAP_OK: the timer is not armed any more; it may have fired. */
static int cancel_timer(UniverseTxn *txn, const RowKey *key, const RowKey *due)
{
    int rc = universe_del(txn, due);
    if (rc == SAP_NOTFOUND) {
        return SAP_OK;
    }
    return rc == SAP_OK ? delete_named(txn, key) : rc;
}

/* `drops`: of a world whose receipts nobody consumes. */
static int cancel_effect(UniverseTxn *txn, const RowKey *key, const RowKey *named, bool drops)
{
    DispatchRow dispatch;
    int rc = dispatch_row_get(txn->txn, key, &dispatch);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (!row_key_equal(&dispatch.at, named)) {
        return SAP_CONFLICT;
    }
    SAP_ASSERT(universe_guards(txn, named) && universe_guards(txn, key));
    switch (dispatch.status) {
    case WIT_UNIVERSE_DISPATCH_STATUS_PENDING:
        rc = delete_named(txn, named);
        return rc == SAP_OK ? universe_del(txn, key) : rc;
    case WIT_UNIVERSE_DISPATCH_STATUS_INFLIGHT:
        dispatch.status = WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED;
        return dispatch_row_put(txn, key, &dispatch);
    case WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE:
        return drops ? universe_del(txn, key) : SAP_OK;
    default:
        return SAP_OK;
    }
}

static int cancel_intent(UniverseTxn *txn, uint32_t universe, const IntentCancel *cancel,
                         bool drops)
{
    RowKey key;
    int rc = SAP_OK;
    if (cancel->named.len == 0) {
        return SAP_OK;
    }
    key_of_cancel(&key, universe, cancel);
    switch (cancel->of) {
    case CANCEL_TIMER:
        return cancel_timer(txn, &key, &cancel->named);
    case CANCEL_EFFECT:
        return cancel_effect(txn, &key, &cancel->named, drops);
    case CANCEL_PROMISE:
        rc = universe_del(txn, &key);
        break;
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc; /* somebody has resolved it */
}

int intents_cancel_apply(UniverseTxn *txn, uint32_t universe, const IntentCancel *cancels,
                         uint32_t count)
{
    int rc = SAP_OK;
    SAP_ASSERT(txn->party == PARTY_HOLDER);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        rc = cancel_intent(txn, universe, &cancels[i], false);
    }
    return rc;
}

/* ---- Dropping the intents of a world that is gone -------------------------------------------- */

typedef struct IntentDrop {
    uint32_t universe;
    const UniverseName *world;
    IntentCancel *cancels;
    uint32_t count;
} IntentDrop;

static bool names_world(const CodecBytes *field, const UniverseName *world)
{
    return field->len == world->len && memcmp(field->data, world->text, world->len) == 0;
}

/* Of another world's intent: a fork's state lists those of its parent. */
static int check_owner(SapStoreTxn *txn, uint32_t universe, const IntentDrop *drop,
                       const IntentCancel *cancel, bool *own_out)
{
    RowKey key;
    Slice val = {0};
    DispatchRow dispatch;
    WitUniverseDbi37TimersDueValue due;
    WitUniverseDbi42PromisesValue promise;
    int rc = cancel->of != CANCEL_EFFECT ? universe_get(txn, &cancel->named, &val) : SAP_OK;
    *own_out = false;
    if (cancel->of == CANCEL_TIMER && rc == SAP_OK) {
        rc = row_decode_code(
            wit_universe_dbi37_timers_due_value_decode(val.data, val.len, &due, NULL));
        if (rc == SAP_OK) {
            *own_out = names_world(&due.world, drop->world);
            wit_universe_dbi37_timers_due_value_free(&due);
        }
    } else if (cancel->of == CANCEL_PROMISE && rc == SAP_OK) {
        rc = row_decode_code(
            wit_universe_dbi42_promises_value_decode(val.data, val.len, &promise, NULL));
        if (rc == SAP_OK) {
            *own_out = names_world(&promise.world, drop->world);
            wit_universe_dbi42_promises_value_free(&promise);
        }
    } else if (rc == SAP_OK) {
        key_of_cancel(&key, universe, cancel);
        rc = dispatch_row_get(txn, &key, &dispatch);
        CodecBytes owner = lend_name(&dispatch.world);
        *own_out = rc == SAP_OK && names_world(&owner, drop->world);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int drop_body(SapStoreTxn *store_txn, void *ctx)
{
    const IntentDrop *drop = (const IntentDrop *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[1 + INTENT_CANCEL_GUARDS * INTENTS_DROPPED];
    bool takes = false;
    row_key_world(&guards[0].key, WIT_DBI_WORLD_META, drop->universe, drop->world);
    guards[0].exclusive = false;
    uint32_t count =
        1 + intents_cancel_guards(drop->universe, drop->cancels, drop->count, &guards[1]);
    int rc = universe_txn_start(&txn, store_txn, PARTY_DRAIN, guards, count, NULL, 0);
    rc = rc == SAP_OK ? world_takes(store_txn, &guards[0].key, &takes) : rc;
    rc = rc == SAP_OK && takes ? SAP_ERROR : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < drop->count; i++) {
        bool own = false;
        rc = drop->cancels[i].named.len == 0
                 ? SAP_OK
                 : check_owner(store_txn, drop->universe, drop, &drop->cancels[i], &own);
        rc =
            rc == SAP_OK && own ? cancel_intent(&txn, drop->universe, &drop->cancels[i], true) : rc;
    }
    return rc;
}

int intents_drop(SapStore *store, uint32_t universe, const UniverseName *world,
                 IntentCancel *cancels, uint32_t count)
{
    enum { TRIES = 16 };
    IntentDrop drop = {universe, world, cancels, count};
    int rc = SAP_CONFLICT;
    SAP_ASSERT(count <= INTENTS_DROPPED);
    for (int i = 0; i < TRIES && rc == SAP_CONFLICT; i++) {
        rc = intents_cancel_find(store, universe, cancels, count);
        rc = rc == SAP_OK ? sap_store_run(store, SAP_STORE_GUARDED, drop_body, &drop, NULL) : rc;
    }
    return rc;
}
