/* universe_effects_operator.c - who makes, deletes and drains the worlds, and resolves effects by hand: see
 * universe_effects.h. */
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "support/universe_effects_impl.h"

enum { MOST_DELETIONS = 2 };

typedef struct Operation {
    UniverseName name;
    WitUniverseWorldStatus status; /* that it gets */
    uint8_t seed[16];
} Operation;

enum { OPERATION_GUARDS = 2 };

static void operation_guards(const Operation *operation, UniverseGuard guards[OPERATION_GUARDS])
{
    row_key_world(&guards[0].key, WIT_DBI_LEASE, EFFECT_UNIVERSE, &operation->name);
    row_key_world(&guards[1].key, WIT_DBI_WORLD_META, EFFECT_UNIVERSE, &operation->name);
    guards[0].exclusive = true;
    guards[1].exclusive = true;
}

/* Creates it, also on its tombstone, or deletes it. */
static int change_body(SapStoreTxn *store_txn, void *ctx)
{
    Operation *operation = (Operation *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[OPERATION_GUARDS];
    RowKey head_key;
    HeadRow head = {0};
    WitUniverseDbi21WorldMetaValue meta = {0};
    bool active = operation->status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
    operation_guards(operation, guards);
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, OPERATION_GUARDS, NULL, 0);
    rc = rc == SAP_OK ? meta_row_get(store_txn, &guards[1].key, &meta) : rc;
    if (rc != SAP_OK && (rc != SAP_NOTFOUND || !active)) {
        return rc;
    }
    bool deleted = rc == SAP_NOTFOUND || meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED;
    bool may = active ? rc == SAP_NOTFOUND || (deleted && meta.drained) : !deleted;
    uint64_t born = meta.born_height;
    wit_universe_dbi21_world_meta_value_free(&meta);
    row_key_world(&head_key, WIT_DBI_HEAD, EFFECT_UNIVERSE, &operation->name);
    rc = may ? head_row_get(store_txn, &head_key, &head) : SAP_NOTFOUND;
    if (!may || (rc != SAP_OK && rc != SAP_NOTFOUND)) {
        return may ? rc : SAP_OK;
    }
    meta = (WitUniverseDbi21WorldMetaValue){
        .module = lend_bytes("m", 1),
        .status = operation->status,
        .seed = lend_bytes(operation->seed, sizeof operation->seed),
        .born_height = active ? head.height : born,
        .born_digest = lend_bytes(head.digest, sizeof head.digest),
    };
    rc = meta_row_put(&txn, &guards[1].key, &meta);
    return rc == SAP_OK ? lease_revoke(&txn, EFFECT_UNIVERSE, &operation->name) : rc;
}

/* The inbox of a deleted world goes, with the last of it `drained` is set. */
static int drained_body(SapStoreTxn *store_txn, void *ctx)
{
    const Operation *operation = (const Operation *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[OPERATION_GUARDS];
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    WitUniverseDbi21WorldMetaValue meta;
    operation_guards(operation, guards);
    int rc = universe_txn_start(&txn, store_txn, PARTY_DRAIN, guards, OPERATION_GUARDS, NULL, 0);
    rc = rc == SAP_OK ? meta_row_get(store_txn, &guards[1].key, &meta) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_world(&prefix, WIT_DBI_WORLD_INBOX, EFFECT_UNIVERSE, &operation->name);
    row_range(&prefix, &to, &range);
    bool deleted = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED;
    rc = deleted ? sap_store_scan(store_txn, &range, false, MOST_ROWS, &rows, &count) : SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        RowKey item;
        rc = row_key_copy(&item, WIT_DBI_WORLD_INBOX, rows[i].key, rows[i].key_len);
        rc = rc == SAP_OK ? universe_del(&txn, &item) : rc;
    }
    meta.drained = deleted;
    rc = rc == SAP_OK && deleted ? meta_row_put(&txn, &guards[1].key, &meta) : rc;
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

/* Receipts that nobody will consume have dedupe rows too, whether or not they are outstanding. */
static int list_inbox(SapStoreTxn *txn, const UniverseName *name, Held *held)
{
    RowKey prefix;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&prefix, WIT_DBI_WORLD_INBOX, EFFECT_UNIVERSE, name);
    row_range(&prefix, &to, &range);
    int rc = sap_store_scan(txn, &range, false, MOST_ROWS, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi24WorldInboxValue val;
        rc = wit_universe_dbi24_world_inbox_value_decode(rows[i].val, rows[i].val_len, &val, NULL);
        if (rc == SAP_OK) {
            uint32_t number = load_u32be(val.item.hash.data);
            if (!effects_is_open(held, number)) {
                held->open[held->open_count++] = number;
            }
            wit_universe_dbi24_world_inbox_value_free(&val);
        }
    }
    return rc;
}

static int drain_world(Party *self, uint32_t world, Operation *operation)
{
    SapStore *store = self->process.store;
    SapStoreTxn *txn = NULL;
    Held held = {0};
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? effects_load_world(txn, world, &held) : rc;
    rc = rc == SAP_OK ? list_inbox(txn, &operation->name, &held) : rc;
    sap_store_abort(txn);
    for (uint32_t at = 0; rc == SAP_OK && at < held.open_count;) {
        IntentCancel cancels[INTENTS_DROPPED];
        uint32_t count = 0;
        while (count < INTENTS_DROPPED && at < held.open_count) {
            uint32_t number = held.open[at++];
            cancels[count] = (IntentCancel){
                .of = self->outside->intents[number].timer ? CANCEL_TIMER : CANCEL_EFFECT};
            intent_hash(number, cancels[count++].hash);
        }
        rc = intents_drop(store, EFFECT_UNIVERSE, &operation->name, cancels, count);
    }
    if (rc == SAP_ERROR) {
        return SAP_OK; /* others have drained it, and it is there again */
    }
    return rc == SAP_OK ? sap_store_run(store, SAP_STORE_GUARDED, drained_body, operation, NULL)
                        : rc;
}

/* A person who knows what has become of an effect. */
static int resolve_by_hand(Party *self)
{
    Outside *outside = self->outside;
    ReceiptByHand receipt = {.status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR,
                             .code = "by_hand",
                             .encoding = WIT_UNIVERSE_ENCODING_RAW};
    if (outside->intent_count == 0) {
        return SAP_OK;
    }
    uint32_t number = (uint32_t)effects_draw(self, outside->intent_count);
    UniverseName name = effects_world_name(outside->intents[number].world);
    intent_hash(number, receipt.hash);
    int rc = receipt_inject(&self->session, &self->producer, &name, &receipt);
    outside->counts.by_hand += rc == SAP_OK;
    return rc;
}

static int read_status(const Party *self, const UniverseName *name, bool *deleted_out,
                       bool *drained_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, EFFECT_UNIVERSE, name);
    int rc = sap_store_begin(self->process.store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? meta_row_get(txn, &key, &meta) : rc;
    if (rc == SAP_OK) {
        *deleted_out = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED;
        *drained_out = meta.drained;
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    sap_store_abort(txn);
    return rc;
}

int effects_step_operator(void *ctx, uint64_t now_ns)
{
    Party *self = (Party *)ctx;
    Outside *outside = self->outside;
    uint32_t world = (uint32_t)effects_draw(self, EFFECT_WORLDS);
    Operation operation = {.name = effects_world_name(world),
                           .status = WIT_UNIVERSE_WORLD_STATUS_ACTIVE};
    bool deleted = false;
    bool drained = false;
    (void)now_ns;
    if (effects_draw(self, outside->plan.one_intent ? 4 : 8) == 0) {
        return effects_step_code(resolve_by_hand(self));
    }
    int rc = read_status(self, &operation.name, &deleted, &drained);
    if (rc == SAP_OK && deleted && !drained) {
        return effects_step_code(drain_world(self, world, &operation));
    }
    bool create = rc == SAP_NOTFOUND || (rc == SAP_OK && deleted);
    bool end = rc == SAP_OK && !deleted && outside->deletions < MOST_DELETIONS &&
               outside->intent_count > MOST_ALONE / 2 && effects_draw(self, 50) == 0;
    if (create || end) {
        operation.status =
            end ? WIT_UNIVERSE_WORLD_STATUS_DELETED : WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
        outside->deletions += end;
        rc = sap_store_run(self->process.store, SAP_STORE_GUARDED, change_body, &operation, NULL);
        outside->counts.deleted += rc == SAP_OK && end;
    }
    return effects_step_code(rc);
}
