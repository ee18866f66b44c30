/* world.c - creating, pausing, resuming, deleting and draining worlds: what operators do.
 *
 * Each guards lease and meta of the world exclusively. Whatever stops a world raises the epoch of its
 * lease, so that its holder changes nothing any more. Each may be run again after an unknown outcome. */
#include <string.h>

#include "common/assert.h"
#include "store/blob.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

enum { OPERATOR_GUARDS = 2, DRAIN_AT_ONCE = 64, REASON_MAX = 1024 };

static void operator_guards(uint32_t universe, const UniverseName *world,
                            UniverseGuard guards_out[OPERATOR_GUARDS])
{
    row_key_world(&guards_out[0].key, WIT_DBI_LEASE, universe, world);
    row_key_world(&guards_out[1].key, WIT_DBI_WORLD_META, universe, world);
    guards_out[0].exclusive = true;
    guards_out[1].exclusive = true;
}

/* ---- Creating -------------------------------------------------------------------------------- */

typedef struct Creation {
    SapUniverse *universe;
    WitUniverseDbi21WorldMetaValue meta; /* borrows what it names */
    IngressRequest first;                /* the create event */
    uint8_t seed[16];
} Creation;

/* Whether the world is there: SAP_OK if not, or if it is drained. *mine_out: this very request made it. */
static int check_absent(SapStoreTxn *txn, const RowKey *key, const Creation *creation,
                        bool *mine_out)
{
    WitUniverseDbi21WorldMetaValue old;
    int rc = meta_row_get(txn, key, &old);
    *mine_out = false;
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    *mine_out = memcmp(old.seed.data, creation->seed, sizeof creation->seed) == 0;
    if (old.status != WIT_UNIVERSE_WORLD_STATUS_DELETED) {
        rc = SAP_EXISTS;
    } else if (!old.drained) {
        rc = SAP_BUSY;
    }
    wit_universe_dbi21_world_meta_value_free(&old);
    return rc;
}

static int create_body(SapStoreTxn *store_txn, void *ctx)
{
    Creation *creation = (Creation *)ctx;
    uint32_t universe = creation->universe->number;
    UniverseTxn txn;
    UniverseGuard guards[OPERATOR_GUARDS];
    RowKey head_key;
    HeadRow head = {0};
    bool mine = false;
    Digest blob;
    uint32_t blobs = creation->first.item.blob.len > 0;
    operator_guards(universe, &creation->first.world, guards);
    if (blobs > 0) {
        memcpy(blob.bytes, creation->first.item.blob.data, sizeof blob.bytes);
    }
    int rc =
        universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, OPERATOR_GUARDS, &blob, blobs);
    rc = rc == SAP_OK ? check_absent(store_txn, &guards[1].key, creation, &mine) : rc;
    if (rc == SAP_EXISTS && mine) {
        return SAP_OK; /* an earlier run, whose outcome was unknown */
    }
    if (rc != SAP_OK) {
        return rc;
    }
    /* Whoever moves the head guards the lease, so it stands still. */
    row_key_world(&head_key, WIT_DBI_HEAD, universe, &creation->first.world);
    rc = head_row_get(store_txn, &head_key, &head);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    creation->meta.born_height = head.height;
    creation->meta.born_digest = lend_bytes(head.digest, sizeof head.digest);
    rc = meta_row_put(&txn, &guards[1].key, &creation->meta);
    return rc == SAP_OK ? ingress_put_rows(&txn, universe, &creation->first) : rc;
}

int sap_world_create(SapUniverse *universe, const char *world, const char *module,
                     SapEncoding encoding, const void *payload, size_t len)
{
    enum { TRIES = 4 };
    Creation creation = {.universe = universe};
    UniverseName module_name;
    SapIngress item = {
        .size = sizeof item, .encoding = encoding, .payload = payload, .payload_len = len};
    IngressItem made = {0};
    if (universe == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&module_name, module);
    rc = rc == SAP_OK ? random_fill(universe->random, creation.seed, sizeof creation.seed) : rc;
    rc = rc == SAP_OK ? ingress_item_make(universe, world, &item, &made, &creation.first) : rc;
    if (rc != SAP_OK) {
        ingress_item_release(&made);
        return rc;
    }
    creation.first.item.kind = WIT_UNIVERSE_ITEM_KIND_CREATE;
    creation.first.item_class = WIT_UNIVERSE_ITEM_CLASS_CONTROL;
    creation.meta.module = lend_name(&module_name);
    creation.meta.seed = lend_bytes(creation.seed, sizeof creation.seed);
    creation.meta.created_ns = creation.first.item.time_ns;
    bool unknown = true;
    rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && unknown; i++) {
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, create_body, &creation, &unknown);
    }
    ingress_item_release(&made);
    return rc;
}

/* ---- Changing its status --------------------------------------------------------------------- */

typedef struct StatusChange {
    SapUniverse *universe;
    const Lease *holder; /* NULL: an operator asks */
    UniverseName world;
    WitUniverseWorldStatus status;
    const char *reason;
    uint8_t hint_seq[UNIVERSE_SEQ];
} StatusChange;

/* SAP_EXISTS: it is so already. */
static int check_change(const StatusChange *change, const WitUniverseDbi21WorldMetaValue *meta)
{
    bool deleted = meta->status == WIT_UNIVERSE_WORLD_STATUS_DELETED;
    bool done = meta->status == WIT_UNIVERSE_WORLD_STATUS_DONE;
    if (change->status == meta->status && change->status != WIT_UNIVERSE_WORLD_STATUS_PAUSED) {
        return SAP_EXISTS;
    }
    return deleted || (done && change->status != WIT_UNIVERSE_WORLD_STATUS_DELETED) ? SAP_NOTFOUND
                                                                                    : SAP_OK;
}

static int put_status(const StatusChange *change, UniverseTxn *txn, const RowKey *key)
{
    WitUniverseDbi21WorldMetaValue meta;
    int rc = meta_row_get(txn->txn, key, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = check_change(change, &meta);
    if (rc == SAP_OK) {
        CodecBytes old = meta.reason;
        size_t len = strlen(change->reason);
        meta.status = change->status;
        meta.reason = lend_bytes(change->reason, len < REASON_MAX ? len : REASON_MAX);
        rc = meta_row_put(txn, key, &meta);
        meta.reason = old;
    }
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

static int status_body(SapStoreTxn *store_txn, void *ctx)
{
    const StatusChange *change = (const StatusChange *)ctx;
    uint32_t universe = change->universe->number;
    UniverseTxn txn;
    UniverseGuard guards[OPERATOR_GUARDS];
    RowKey hint;
    operator_guards(universe, &change->world, guards);
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, OPERATOR_GUARDS, NULL, 0);
    rc = rc == SAP_OK && change->holder != NULL ? lease_stands(change->holder, store_txn) : rc;
    rc = rc == SAP_OK ? put_status(change, &txn, &guards[1].key) : rc;
    if (rc != SAP_OK) {
        return rc == SAP_EXISTS ? SAP_OK : rc;
    }
    if (change->status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE) {
        row_key_ready(&hint, universe, 0, change->hint_seq, &change->world);
        return universe_put(&txn, &hint, (Slice){"", 0});
    }
    return lease_revoke(&txn, universe, &change->world);
}

static int change_status(SapUniverse *universe, const Lease *holder, const char *world,
                         WitUniverseWorldStatus status, const char *reason)
{
    enum { TRIES = 4 };
    StatusChange change = {universe, holder, {0}, status, reason == NULL ? "" : reason, {0}};
    bool unknown = true;
    if (universe == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&change.world, world);
    if (rc != SAP_OK || !payload_text_valid(change.reason, SIZE_MAX)) {
        return SAP_INVALID;
    }
    producer_next(&universe->producer, universe->store, change.hint_seq);
    rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && unknown; i++) {
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, status_body, &change, &unknown);
    }
    return rc;
}

int sap_world_pause(SapUniverse *universe, const char *world, const char *reason)
{
    return change_status(universe, NULL, world, WIT_UNIVERSE_WORLD_STATUS_PAUSED, reason);
}

int sap_world_resume(SapUniverse *universe, const char *world)
{
    return change_status(universe, NULL, world, WIT_UNIVERSE_WORLD_STATUS_ACTIVE, "");
}

int sap_world_delete(SapUniverse *universe, const char *world, const char *reason)
{
    return change_status(universe, NULL, world, WIT_UNIVERSE_WORLD_STATUS_DELETED, reason);
}

int world_pause_held(SapUniverse *universe, const Lease *lease, const char *reason)
{
    return change_status(universe, lease, lease->name.text, WIT_UNIVERSE_WORLD_STATUS_PAUSED,
                         reason);
}

/* ---- Draining -------------------------------------------------------------------------------- */

typedef struct Drain {
    SapUniverse *universe;
    UniverseName world;
    uint32_t limit;
    bool last; /* finds the inbox empty, and says so in meta */
    bool empty;
} Drain;

/* One item of a deleted world becomes a dead letter. */
static int drain_item(const Drain *drain, UniverseTxn *txn, const SapStoreRow *row, uint64_t height)
{
    WitUniverseDbi24WorldInboxKey key;
    WitUniverseDbi24WorldInboxValue val;
    RowKey inbox = {.table = WIT_DBI_WORLD_INBOX, .len = row->key_len};
    RowKey dlq;
    Buf buf = {0};
    int rc = row_decode_code(
        wit_universe_dbi24_world_inbox_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_dlq(&dlq, drain->universe->number, &drain->world, height, key.seq.data);
    wit_universe_dbi24_world_inbox_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &val, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    static const char why[] = "the world was deleted";
    WitUniverseDbi28WorldDlqValue letter = {val.item, lend_bytes(why, sizeof why - 1), 0,
                                            sap_store_due_ns(drain->universe->store)};
    rc = wit_universe_dbi28_world_dlq_value_encode(&letter, &buf, NULL);
    rc = rc == SAP_OK ? universe_put(txn, &dlq, (Slice){buf.data, buf.len}) : rc;
    memcpy(inbox.bytes, row->key, row->key_len);
    rc = rc == SAP_OK ? universe_del(txn, &inbox) : rc;
    wit_universe_dbi24_world_inbox_value_free(&val);
    buf_release(&buf);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int drain_items(Drain *drain, UniverseTxn *txn)
{
    uint32_t universe = drain->universe->number;
    RowKey from;
    RowKey to;
    RowKey head_key;
    HeadRow head = {0};
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&head_key, WIT_DBI_HEAD, universe, &drain->world);
    int rc = head_row_get(txn->txn, &head_key, &head);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    row_key_world(&from, WIT_DBI_WORLD_INBOX, universe, &drain->world);
    row_range(&from, &to, &range);
    rc = sap_store_scan(txn->txn, &range, false, drain->limit, &rows, &count);
    drain->empty = count == 0;
    for (uint32_t i = 0; rc == SAP_OK && !drain->last && i < count; i++) {
        rc = drain_item(drain, txn, &rows[i], head.height);
    }
    return rc;
}

static int drain_body(SapStoreTxn *store_txn, void *ctx)
{
    Drain *drain = (Drain *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[OPERATOR_GUARDS];
    WitUniverseDbi21WorldMetaValue meta;
    operator_guards(drain->universe->number, &drain->world, guards);
    guards[1].exclusive = drain->last;
    int rc = universe_txn_start(&txn, store_txn, PARTY_DRAIN, drain->last ? guards : &guards[1],
                                drain->last ? OPERATOR_GUARDS : 1, NULL, 0);
    rc = rc == SAP_OK ? meta_row_get(store_txn, &guards[1].key, &meta) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED ? drain_items(drain, &txn) : SAP_ERROR;
    if (rc == SAP_OK && drain->last && drain->empty && !meta.drained) {
        meta.drained = true;
        rc = meta_row_put(&txn, &guards[1].key, &meta);
    }
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

int sap_world_drain(SapUniverse *universe, const char *world, uint32_t limit, bool *done_out)
{
    Drain drain = {.universe = universe, .limit = limit == 0 ? DRAIN_AT_ONCE : limit};
    if (universe == NULL || done_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&drain.world, world);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_store_run(universe->store, SAP_STORE_GUARDED, drain_body, &drain, NULL);
    if (rc == SAP_OK && drain.empty) {
        drain.last = true;
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, drain_body, &drain, NULL);
    }
    if (rc == SAP_OK) {
        *done_out = drain.last && drain.empty;
    }
    return rc;
}
