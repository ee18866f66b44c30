/* by_hand.c - what a person does to an effect or a timer: by the protocols of those who end them otherwise.
 *
 * What is outstanding belongs to the world's state, which only its holder writes. So a person never takes an
 * intent away: the world gets a receipt that says that it was cancelled, and its entry ends the intent. */
#include <string.h>

#include "common/assert.h"
#include "universe/effect_end.h"
#include "universe/payload.h"
#include "universe/timers.h"
#include "universe/universe_impl.h"

enum { TRIES = 16 };

static const char cancelled_code[] = "cancelled";

typedef struct HandAct {
    SapUniverse *universe;
    UniverseName world;
    uint8_t hash[UNIVERSE_DIGEST];
    RowKey at;                 /* its row, as it was read before */
    RowKey promise;            /* whose time the timer is; len 0: none's */
    uint8_t seq[UNIVERSE_SEQ]; /* of a receipt */
    bool moved;                /* the row is not there any more: look again */
} HandAct;

static int begin_act(HandAct *act, SapUniverse *universe, const char *world,
                     const uint8_t hash[UNIVERSE_DIGEST])
{
    *act = (HandAct){.universe = universe};
    if (universe == NULL || hash == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&act->world, world);
    if (rc == SAP_OK) {
        memcpy(act->hash, hash, sizeof act->hash);
        universe_enter(universe);
    }
    return rc;
}

/* ---- Another attempt now --------------------------------------------------------------------- */

/* Where the effect is. SAP_NOTFOUND, SAP_BUSY, SAP_EXISTS: as of sap_effect_retry(). */
static int find_pending(HandAct *act)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    DispatchRow dispatch;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, act->universe->number, act->hash);
    int rc = sap_store_begin(act->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? dispatch_row_get(txn, &key, &dispatch) : rc;
    sap_store_abort(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    act->at = dispatch.at;
    if (!universe_name_equal(&dispatch.world, &act->world)) {
        return SAP_NOTFOUND;
    }
    switch (dispatch.status) {
    case WIT_UNIVERSE_DISPATCH_STATUS_PENDING:
        return SAP_OK;
    case WIT_UNIVERSE_DISPATCH_STATUS_INFLIGHT:
        return SAP_BUSY;
    case WIT_UNIVERSE_DISPATCH_STATUS_COMPLETE:
        return SAP_EXISTS;
    case WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED:
        break;
    }
    return SAP_NOTFOUND;
}

/* The row gets a key that is due now; its seq stays. */
static int move_pending(const HandAct *act, UniverseTxn *txn, const RowKey *dedupe,
                        DispatchRow *dispatch)
{
    uint64_t now_ns = sap_store_lease_ns(act->universe->store);
    WitUniverseDbi34EffectsPendingKey key;
    Slice val = {0};
    uint8_t seq[UNIVERSE_SEQ];
    int rc = row_decode_code(
        wit_universe_dbi34_effects_pending_key_decode(act->at.bytes, act->at.len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    bool is_due = key.due_ns <= now_ns;
    memcpy(seq, key.seq.data, sizeof seq);
    row_key_pending(&dispatch->at, act->universe->number, (Slice){key.kind.data, key.kind.len},
                    now_ns, seq);
    wit_universe_dbi34_effects_pending_key_free(&key);
    if (is_due) {
        return SAP_OK;
    }
    rc = universe_get(txn->txn, &act->at, &val);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_CORRUPT : rc; /* its dedupe row names it */
    }
    rc = universe_put_if_absent(txn, &dispatch->at, val);
    SAP_ASSERT(rc != SAP_EXISTS); /* no seq is used twice */
    rc = rc == SAP_OK ? universe_del(txn, &act->at) : rc;
    return rc == SAP_OK ? dispatch_row_put(txn, dedupe, dispatch) : rc;
}

static int retry_body(SapStoreTxn *store_txn, void *ctx)
{
    HandAct *act = (HandAct *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[2];
    DispatchRow dispatch;
    guards[0] = (UniverseGuard){act->at, true};
    row_key_dedupe(&guards[1].key, WIT_DBI_EFFECTS_DEDUPE, act->universe->number, act->hash);
    guards[1].exclusive = true;
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, 2, NULL, 0);
    rc = rc == SAP_OK ? dispatch_row_get(store_txn, &guards[1].key, &dispatch) : rc;
    act->moved = rc == SAP_NOTFOUND || (rc == SAP_OK && !row_key_equal(&dispatch.at, &act->at));
    if (rc != SAP_OK || act->moved) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    return move_pending(act, &txn, &guards[1].key, &dispatch);
}

int sap_effect_retry(SapUniverse *universe, const char *world, const uint8_t intent_hash[32])
{
    HandAct act;
    int rc = begin_act(&act, universe, world, intent_hash);
    if (rc != SAP_OK) {
        return rc;
    }
    for (int i = 0; i < TRIES; i++) {
        rc = find_pending(&act);
        rc = rc == SAP_OK
                 ? sap_store_run(universe->store, SAP_STORE_GUARDED, retry_body, &act, NULL)
                 : rc;
        if (rc != SAP_OK || !act.moved) {
            break;
        }
        rc = SAP_BUSY; /* it moves faster than we read */
    }
    universe_leave(universe);
    return rc;
}

/* ---- Cancelling effects ---------------------------------------------------------------------- */

/* Whether the receipt that waits for the world is one of a cancel: a cancel that is made again. */
static int check_cancelled(const HandAct *act)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    DispatchRow dispatch;
    WitUniverseDbi24WorldInboxValue val;
    Slice row = {0};
    bool same = false;
    row_key_dedupe(&key, WIT_DBI_EFFECTS_DEDUPE, act->universe->number, act->hash);
    int rc = sap_store_begin(act->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? dispatch_row_get(txn, &key, &dispatch) : rc;
    rc = rc == SAP_OK ? universe_get(txn, &dispatch.at, &row) : rc;
    if (rc == SAP_OK && dispatch.at.table == WIT_DBI_WORLD_INBOX) {
        rc = row_decode_code(
            wit_universe_dbi24_world_inbox_value_decode(row.data, row.len, &val, NULL));
        if (rc == SAP_OK) {
            same = val.item.code.len == sizeof cancelled_code - 1 &&
                   memcmp(val.item.code.data, cancelled_code, val.item.code.len) == 0;
            wit_universe_dbi24_world_inbox_value_free(&val);
        }
    }
    sap_store_abort(txn);
    return rc == SAP_OK && !same ? SAP_EXISTS : rc;
}

int sap_effect_cancel(SapUniverse *universe, const char *world, const uint8_t intent_hash[32])
{
    HandAct act;
    int rc = begin_act(&act, universe, world, intent_hash);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_receipt_inject(universe, world, intent_hash, SAP_RECEIPT_ERROR, cancelled_code,
                            SAP_ENCODING_JSON, NULL, 0);
    rc = rc == SAP_EXISTS ? check_cancelled(&act) : rc;
    universe_leave(universe);
    return rc;
}

/* ---- Cancelling timers ----------------------------------------------------------------------- */

/* A person ends a promise with its time, as its firing does. */
static int find_promise_of(HandAct *act, SapStoreTxn *txn)
{
    WitUniverseDbi37TimersDueValue due;
    Slice val = {0};
    act->promise.len = 0;
    int rc = universe_get(txn, &act->at, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi37_timers_due_value_decode(
                            val.data, val.len, &due, NULL))
                      : rc;
    if (rc == SAP_OK) {
        timer_promise(&due, act->universe->number, &act->promise);
        wit_universe_dbi37_timers_due_value_free(&due);
    }
    return rc;
}

static int find_armed(HandAct *act)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    row_key_dedupe(&key, WIT_DBI_TIMERS_DEDUPE, act->universe->number, act->hash);
    int rc = sap_store_begin(act->universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? timer_dedupe_get(txn, &key, &act->at) : rc;
    rc = rc == SAP_OK ? find_promise_of(act, txn) : rc;
    sap_store_abort(txn);
    return rc;
}

static int put_cancelled(const HandAct *act, UniverseTxn *txn,
                         const WitUniverseDbi37TimersDueValue *due)
{
    static const char nothing[] = "null";
    IngressRequest request = {.world = act->world, .item_class = WIT_UNIVERSE_ITEM_CLASS_RECEIPT};
    timer_item(due, act->hash, sap_store_due_ns(act->universe->store), &request.item);
    if (due->use == WIT_UNIVERSE_TIMER_USE_TIMER) {
        request.item.kind = WIT_UNIVERSE_ITEM_KIND_RECEIPT;
        request.item.name = lend_bytes("timer", 5);
    }
    request.item.status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
    request.item.code = lend_bytes(cancelled_code, sizeof cancelled_code - 1);
    request.item.encoding = WIT_UNIVERSE_ENCODING_JSON;
    request.item.payload = lend_bytes(nothing, sizeof nothing - 1);
    memcpy(request.seq, act->seq, UNIVERSE_SEQ);
    return ingress_put_rows(txn, act->universe->number, &request);
}

/* The same rows and guards as of a firing: whoever finds the due row decides, and of a promise,
 * whoever finds its row. */
static int disarm_body(SapStoreTxn *store_txn, void *ctx)
{
    HandAct *act = (HandAct *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[3];
    uint32_t guard_count = 2;
    WitUniverseDbi37TimersDueValue due;
    RowKey key;
    Slice val = {0};
    bool takes = false;
    row_key_world(&guards[0].key, WIT_DBI_WORLD_META, act->universe->number, &act->world);
    guards[0].exclusive = false;
    guards[1] = (UniverseGuard){act->at, true};
    if (act->promise.len > 0) {
        guards[guard_count++] = (UniverseGuard){act->promise, true};
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_TIMER, guards, guard_count, NULL, 0);
    rc = rc == SAP_OK ? universe_get(store_txn, &act->at, &val) : rc;
    rc = rc == SAP_OK ? world_takes(store_txn, &guards[0].key, &takes) : rc;
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi37_timers_due_value_decode(
                            val.data, val.len, &due, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    bool own = due.world.len == act->world.len &&
               memcmp(due.world.data, act->world.text, due.world.len) == 0;
    rc = own && takes ? SAP_OK : SAP_NOTFOUND;
    rc = rc == SAP_OK && act->promise.len > 0 ? universe_del(&txn, &act->promise) : rc;
    rc = rc == SAP_OK ? put_cancelled(act, &txn, &due) : rc;
    wit_universe_dbi37_timers_due_value_free(&due);
    rc = rc == SAP_OK ? universe_del(&txn, &act->at) : rc;
    row_key_dedupe(&key, WIT_DBI_TIMERS_DEDUPE, act->universe->number, act->hash);
    return rc == SAP_OK ? universe_del(&txn, &key) : rc;
}

int sap_timer_cancel(SapUniverse *universe, const char *world, const uint8_t intent_hash[32])
{
    HandAct act;
    bool unknown = false;
    bool was_unknown = false;
    int rc = begin_act(&act, universe, world, intent_hash);
    if (rc != SAP_OK) {
        return rc;
    }
    producer_next(&universe->producer, universe->store, act.seq);
    rc = find_armed(&act);
    if (rc == SAP_OK) {
        do {
            was_unknown = was_unknown || unknown;
            unknown = false;
            rc = sap_store_run(universe->store, SAP_STORE_GUARDED, disarm_body, &act, &unknown);
        } while (rc == SAP_IO && unknown && !was_unknown);
    }
    universe_leave(universe);
    /* The run of unknown outcome has done it, or the timer fired. */
    return rc == SAP_NOTFOUND && was_unknown ? SAP_OK : rc;
}
