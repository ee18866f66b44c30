/* world.c - creating, pausing, resuming, deleting and draining worlds: what operators do.
 *
 * Each guards lease and meta of the world exclusively. Whatever stops a world raises the epoch of its
 * lease, so that its holder changes nothing any more. Each may be run again after an unknown outcome. */
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "store/blob.h"
#include "store/store_impl.h"
#include "universe/births.h"
#include "universe/effects.h"
#include "universe/handler.h"
#include "universe/letters.h"
#include "universe/once.h"
#include "universe/payload.h"
#include "universe/promises.h"

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
    const OnceRow *once; /* the key of the call; NULL: it has none */
    bool reused;         /* it was used with another request */
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
    UniverseGuard guards[OPERATOR_GUARDS + 1];
    uint32_t guard_count = OPERATOR_GUARDS;
    bool mine = false;
    Digest blob;
    uint32_t blobs = creation->first.item.blob.len > 0;
    operator_guards(universe, &creation->first.world, guards);
    if (blobs > 0) {
        memcpy(blob.bytes, creation->first.item.blob.data, sizeof blob.bytes);
    }
    if (creation->once != NULL) {
        guards[guard_count++] = (UniverseGuard){creation->once->key, true};
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, guard_count, &blob, blobs);
    if (rc == SAP_OK && creation->once != NULL) {
        rc = once_row_get(store_txn, creation->once, NULL);
        creation->reused = rc == SAP_EXISTS;
        if (rc != SAP_NOTFOUND) {
            return rc; /* this call has done it, or another one has the key */
        }
        rc = once_row_put(&txn, universe, creation->once);
    }
    rc = rc == SAP_OK ? check_absent(store_txn, &guards[1].key, creation, &mine) : rc;
    if (rc == SAP_EXISTS && mine) {
        return SAP_OK; /* an earlier run, whose outcome was unknown */
    }
    if (rc != SAP_OK) {
        return rc;
    }
    return world_birth_put(&txn, universe, &creation->meta, &creation->first);
}

static int create_world(SapUniverse *universe, const char *world, const char *module,
                        SapIngress *item, const OnceRow *once, bool *reused_out)
{
    enum { TRIES = 4 };
    Creation creation = {.universe = universe, .once = once};
    UniverseName module_name;
    IngressItem made = {.module = &module_name, .declared = true};
    int rc = universe_name_set(&module_name, module);
    rc = rc == SAP_OK ? random_fill(universe->random, creation.seed, sizeof creation.seed) : rc;
    rc = rc == SAP_OK ? ingress_item_make(universe, world, true, item, &made, &creation.first) : rc;
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
    *reused_out = creation.reused;
    return rc;
}

int sap_world_create(SapUniverse *universe, const char *world, const char *module,
                     SapEncoding encoding, const void *payload, size_t len)
{
    SapIngress item = {
        .size = sizeof item, .encoding = encoding, .payload = payload, .payload_len = len};
    bool reused = false;
    if (universe == NULL) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    int rc = create_world(universe, world, module, &item, NULL, &reused);
    universe_leave(universe);
    return rc;
}

int sap_world_create_once(SapUniverse *universe, const char *world, const char *module,
                          SapEncoding encoding, const void *payload, size_t len,
                          const SapOnce *once, bool *reused_out)
{
    SapIngress item = {
        .size = sizeof item, .encoding = encoding, .payload = payload, .payload_len = len};
    OnceRow row;
    bool reused = false;
    if (universe == NULL) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    int rc = once_row_make(universe, once, &row);
    rc = rc == SAP_OK ? create_world(universe, world, module, &item, &row, &reused) : rc;
    universe_leave(universe);
    if (reused_out != NULL) {
        *reused_out = reused;
    }
    return rc;
}

/* ---- Changing its meta row ------------------------------------------------------------------- */

/* What is to become of a world. */
typedef enum MetaAct {
    ACT_PAUSE,
    ACT_RESUME,
    ACT_SKIP,       /* resume, and the item that failed becomes a dead letter */
    ACT_RESUME_FOR, /* resume if an older version of the module had failed */
    ACT_DELETE,
    ACT_PIN,
    ACT_HOLDER, /* what its holder says */
    ACT_NOTE,   /* why it does not run, if nobody holds it */
} MetaAct;

typedef struct MetaChange {
    SapUniverse *universe;
    MetaAct act;
    UniverseName world;
    const char *reason;
    const Lease *lease;            /* of ACT_HOLDER */
    const HeldChange *held;        /* of ACT_HOLDER */
    uint64_t version;              /* of ACT_PIN and ACT_RESUME_FOR */
    const UniverseName *module;    /* of ACT_RESUME_FOR */
    uint8_t seqs[2][UNIVERSE_SEQ]; /* of a hint, and of an expiry row */
    bool done;                     /* something was to be changed */
} MetaChange;

static CodecBytes lend_reason(const char *reason)
{
    return lend_bytes(reason, utf8_prefix(reason, strlen(reason), REASON_MAX));
}

static void forget_failure(WitUniverseDbi21WorldMetaValue *meta)
{
    meta->failed_seq = lend_bytes("", 0);
    meta->failed_class = WIT_UNIVERSE_ITEM_CLASS_CONTROL;
    meta->failed_version = 0;
}

/* The holder changes status and reason, and may say what failed. */
static void apply_held(const MetaChange *change, WitUniverseDbi21WorldMetaValue *meta)
{
    const HeldChange *held = change->held;
    meta->status = held->status;
    meta->reason = lend_reason(held->reason);
    forget_failure(meta);
    if (held->failed_seq != NULL) {
        meta->failed_class = (WitUniverseItemClass)held->failed_class;
        meta->failed_seq = lend_bytes(held->failed_seq, UNIVERSE_SEQ);
        meta->failed_version = held->failed_version;
    }
}

/* Changes `meta`, whose texts it may only replace. SAP_EXISTS: there is nothing to change. */
static int apply_change(const MetaChange *change, WitUniverseDbi21WorldMetaValue *meta)
{
    bool done = meta->status == WIT_UNIVERSE_WORLD_STATUS_DONE;
    if (meta->status == WIT_UNIVERSE_WORLD_STATUS_DELETED) {
        return change->act == ACT_DELETE ? SAP_EXISTS : SAP_NOTFOUND;
    }
    if (done && change->act != ACT_DELETE) {
        return SAP_NOTFOUND;
    }
    switch (change->act) {
    case ACT_PAUSE:
    case ACT_DELETE:
        meta->status = change->act == ACT_PAUSE ? WIT_UNIVERSE_WORLD_STATUS_PAUSED
                                                : WIT_UNIVERSE_WORLD_STATUS_DELETED;
        meta->reason = lend_reason(change->reason);
        meta->drained = false;    /* a done world may be, and more is to be removed */
        meta->failed_version = 0; /* an operator decides, no newer module */
        return SAP_OK;
    case ACT_SKIP:
        if (meta->failed_seq.len == 0) {
            return SAP_NOTFOUND;
        }
        break;
    case ACT_RESUME:
        if (meta->status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE) {
            return SAP_EXISTS;
        }
        break;
    case ACT_RESUME_FOR:
        if (meta->status != WIT_UNIVERSE_WORLD_STATUS_PAUSED || meta->failed_version == 0 ||
            meta->failed_version >= change->version || meta->pin != 0 ||
            meta->module.len != change->module->len ||
            memcmp(meta->module.data, change->module->text, meta->module.len) != 0) {
            return SAP_EXISTS;
        }
        break;
    case ACT_PIN:
        if (meta->pin == change->version) {
            return SAP_EXISTS;
        }
        meta->pin = change->version;
        return SAP_OK;
    case ACT_HOLDER:
        apply_held(change, meta);
        return SAP_OK;
    case ACT_NOTE: {
        CodecBytes reason = lend_reason(change->reason);
        if (!world_status_runs(meta->status)) {
            return SAP_EXISTS; /* whoever stopped it has said why */
        }
        if (meta->reason.len == reason.len &&
            memcmp(meta->reason.data, reason.data, reason.len) == 0) {
            return SAP_EXISTS;
        }
        meta->reason = reason;
        return SAP_OK;
    }
    }
    meta->status = WIT_UNIVERSE_WORLD_STATUS_ACTIVE;
    meta->reason = lend_bytes("", 0);
    forget_failure(meta);
    return SAP_OK;
}

/* The item that the world failed with becomes a dead letter, without an entry. */
static int skip_item(const MetaChange *change, UniverseTxn *txn, uint8_t item_class,
                     const uint8_t seq[UNIVERSE_SEQ])
{
    SapUniverse *universe = change->universe;
    WriteSet writes = {{0}, {0}};
    WriteSet *sets[1] = {&writes};
    RowKey inbox;
    RowKey head_key;
    HeadRow head = {0};
    Slice val = {0};
    WitUniverseDbi24WorldInboxValue item;
    row_key_world(&head_key, WIT_DBI_HEAD, universe->number, &change->world);
    int rc = head_row_get(txn->txn, &head_key, &head);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    row_key_inbox(&inbox, universe->number, &change->world, item_class, seq);
    rc = universe_get(txn->txn, &inbox, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi24_world_inbox_value_decode(
                            val.data, val.len, &item, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    Letter letter = {
        .world = &change->world,
        .height = head.height,
        .item_class = item_class,
        .seq = seq,
        .item = &item.item,
        .error = "an operator skipped it",
        .code = "rejected",
        .expiry_seq = change->seqs[1],
    };
    rc = letter_write(&writes, universe, &letter);
    rc = rc == SAP_OK ? writes_add(&writes, ROW_DEL_MUST, &inbox, (Slice){"", 0}) : rc;
    rc = rc == SAP_OK ? writes_apply(sets, 1, txn) : rc;
    writes_release(&writes);
    wit_universe_dbi24_world_inbox_value_free(&item);
    return rc;
}

int drain_put(UniverseTxn *txn, uint32_t universe, const RowKey *meta_key,
              const uint8_t seq[UNIVERSE_SEQ])
{
    return expiry_row_put(txn, universe, 0, seq, meta_key);
}

static int delete_attempt(const MetaChange *change, UniverseTxn *txn)
{
    RowKey key;
    row_key_world(&key, WIT_DBI_ATTEMPT, change->universe->number, &change->world);
    int rc = universe_del(txn, &key);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* What else follows from the new status. `was`: the status before. */
static int apply_consequences(const MetaChange *change, UniverseTxn *txn, const RowKey *meta_key,
                              WitUniverseWorldStatus was, WitUniverseWorldStatus is)
{
    RowKey hint;
    int rc = SAP_OK;
    bool stays = change->act == ACT_NOTE || (change->act == ACT_HOLDER && world_status_runs(is)) ||
                 (change->act == ACT_PAUSE && was == WIT_UNIVERSE_WORLD_STATUS_PAUSED);
    if (stays) {
        return SAP_OK;
    }
    rc = delete_attempt(change, txn);
    if (rc == SAP_OK && !world_status_runs(is)) {
        rc = lease_revoke(txn, change->universe->number, &change->world);
    } else if (rc == SAP_OK) {
        if (change->act == ACT_PIN || was == WIT_UNIVERSE_WORLD_STATUS_STUCK) {
            rc = lease_revoke(txn, change->universe->number, &change->world);
        }
        row_key_ready(&hint, change->universe->number, 0, change->seqs[0], &change->world);
        rc = rc == SAP_OK ? universe_put(txn, &hint, (Slice){"", 0}) : rc;
    }
    return rc == SAP_OK && is == WIT_UNIVERSE_WORLD_STATUS_DELETED
               ? drain_put(txn, change->universe->number, meta_key, change->seqs[1])
               : rc;
}

/* SAP_FENCED unless the caller may still change it. */
static int check_lease(const MetaChange *change, SapStoreTxn *txn, const RowKey *lease_key)
{
    LeaseRow lease;
    if (change->act == ACT_HOLDER) {
        return lease_stands(change->lease, txn);
    }
    if (change->act != ACT_NOTE) {
        return SAP_OK;
    }
    int rc = lease_row_get(txn, lease_key, &lease);
    if (rc == SAP_NOTFOUND) {
        return SAP_OK;
    }
    return rc == SAP_OK && lease.holder.len > 0 ? SAP_FENCED : rc;
}

static int change_body(SapStoreTxn *store_txn, void *ctx)
{
    MetaChange *change = (MetaChange *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[OPERATOR_GUARDS];
    WitUniverseDbi21WorldMetaValue old;
    change->done = false;
    operator_guards(change->universe->number, &change->world, guards);
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, guards, OPERATOR_GUARDS, NULL, 0);
    rc = rc == SAP_OK ? check_lease(change, store_txn, &guards[0].key) : rc;
    rc = rc == SAP_OK ? meta_row_get(store_txn, &guards[1].key, &old) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    WitUniverseDbi21WorldMetaValue meta = old; /* borrows what it does not replace */
    rc = apply_change(change, &meta);
    if (rc == SAP_OK && change->act == ACT_SKIP) {
        rc = skip_item(change, &txn, (uint8_t)old.failed_class, old.failed_seq.data);
    }
    rc = rc == SAP_OK ? meta_row_put(&txn, &guards[1].key, &meta) : rc;
    rc = rc == SAP_OK ? apply_consequences(change, &txn, &guards[1].key, old.status, meta.status)
                      : rc;
    change->done = rc == SAP_OK;
    wit_universe_dbi21_world_meta_value_free(&old);
    return rc == SAP_EXISTS ? SAP_OK : rc;
}

/* Each of these changes may be made twice: the second time it finds itself done. */
static int run_change(MetaChange *change)
{
    enum { TRIES = 4 };
    SapUniverse *universe = change->universe;
    bool unknown = true;
    bool was_unknown = false;
    for (int i = 0; i < 2; i++) {
        producer_next(&universe->producer, universe->store, change->seqs[i]);
    }
    int rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && unknown; i++) {
        was_unknown = i > 0;
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, change_body, change, &unknown);
    }
    /* An item that was skipped is not there to be skipped again. */
    return rc == SAP_NOTFOUND && change->act == ACT_SKIP && was_unknown ? SAP_OK : rc;
}

static int change_by_operator(SapUniverse *universe, MetaAct act, const char *world,
                              const char *reason, uint64_t version)
{
    MetaChange change = {.universe = universe,
                         .act = act,
                         .reason = reason == NULL ? "" : reason,
                         .version = version};
    if (universe == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&change.world, world);
    if (rc != SAP_OK || !payload_text_valid(change.reason, SIZE_MAX)) {
        return SAP_INVALID;
    }
    if (change.reason[0] == 0 && (act == ACT_PAUSE || act == ACT_DELETE)) {
        change.reason = act == ACT_PAUSE ? "an operator paused it" : "an operator deleted it";
    }
    universe_enter(universe);
    rc = run_change(&change);
    if (rc == SAP_OK && change.done) {
        static const char *const names[] = {"pause", "resume", "skip", "resume", "delete", "pin"};
        LOG_EVENT(universe->meters.log, LOG_LEVEL_INFO, "universe.operator",
                  LOG_STR("act", names[act]), LOG_STR("world", change.world.text),
                  LOG_STR("reason", change.reason));
    }
    universe_leave(universe);
    return rc;
}

int sap_world_pause(SapUniverse *universe, const char *world, const char *reason)
{
    return change_by_operator(universe, ACT_PAUSE, world, reason, 0);
}

int sap_world_resume(SapUniverse *universe, const char *world)
{
    return change_by_operator(universe, ACT_RESUME, world, NULL, 0);
}

int sap_world_resume_skip(SapUniverse *universe, const char *world)
{
    return change_by_operator(universe, ACT_SKIP, world, NULL, 0);
}

int sap_world_pin(SapUniverse *universe, const char *world, uint64_t version)
{
    return change_by_operator(universe, ACT_PIN, world, NULL, version);
}

int sap_world_delete(SapUniverse *universe, const char *world, const char *reason)
{
    return change_by_operator(universe, ACT_DELETE, world, reason, 0);
}

int world_change_held(SapUniverse *universe, const Lease *lease, const HeldChange *held)
{
    MetaChange change = {.universe = universe,
                         .act = ACT_HOLDER,
                         .world = lease->name,
                         .reason = held->reason,
                         .lease = lease,
                         .held = held};
    return run_change(&change);
}

int world_note_free(SapUniverse *universe, const UniverseName *world, const char *reason)
{
    MetaChange change = {.universe = universe, .act = ACT_NOTE, .world = *world, .reason = reason};
    int rc = run_change(&change);
    return rc == SAP_FENCED || rc == SAP_NOTFOUND ? SAP_OK : rc;
}

int world_resume_for(SapUniverse *universe, const UniverseName *world, const UniverseName *module,
                     uint64_t version, bool *resumed_out)
{
    MetaChange change = {.universe = universe,
                         .act = ACT_RESUME_FOR,
                         .world = *world,
                         .reason = "",
                         .version = version,
                         .module = module};
    int rc = run_change(&change);
    *resumed_out = rc == SAP_OK && change.done;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- Draining -------------------------------------------------------------------------------- */

typedef struct Drain {
    SapUniverse *universe;
    UniverseName world;
    uint32_t limit;
    const uint8_t (*expiry_seqs)[UNIVERSE_SEQ]; /* one for each item */
    bool last;                                  /* finds the inbox empty, and says so in meta */
    bool empty;
    bool deleted;     /* and not done */
    bool was_deleted; /* in the transactions before the last */
    uint32_t drained;
} Drain;

/* One item of a deleted or done world becomes a dead letter. */
static int drain_item(const Drain *drain, WriteSet *writes, const SapStoreRow *row, uint64_t height,
                      const uint8_t expiry_seq[UNIVERSE_SEQ])
{
    WitUniverseDbi24WorldInboxKey key;
    WitUniverseDbi24WorldInboxValue val;
    RowKey inbox = {.table = WIT_DBI_WORLD_INBOX, .len = row->key_len};
    int rc = row_decode_code(
        wit_universe_dbi24_world_inbox_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = row_decode_code(
        wit_universe_dbi24_world_inbox_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        Letter letter = {
            .world = &drain->world,
            .height = height,
            .item_class = (uint8_t)key.class,
            .seq = key.seq.data,
            .item = &val.item,
            .error = drain->deleted ? "the world was deleted" : "the world is done",
            .code = drain->deleted ? "destination_deleted" : "destination_done",
            .expiry_seq = expiry_seq,
        };
        memcpy(inbox.bytes, row->key, row->key_len);
        rc = letter_write(writes, drain->universe, &letter);
        rc = rc == SAP_OK ? writes_add(writes, ROW_DEL, &inbox, (Slice){"", 0}) : rc;
        wit_universe_dbi24_world_inbox_value_free(&val);
    }
    wit_universe_dbi24_world_inbox_key_free(&key);
    return rc;
}

static int drain_items(Drain *drain, UniverseTxn *txn)
{
    uint32_t universe = drain->universe->number;
    WriteSet writes = {{0}, {0}};
    WriteSet *sets[1] = {&writes};
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
        rc = drain_item(drain, &writes, &rows[i], head.height, drain->expiry_seqs[i]);
    }
    rc = rc == SAP_OK && writes.list.len > 0 ? writes_apply(sets, 1, txn) : rc;
    drain->drained = rc == SAP_OK && !drain->last ? count : 0;
    writes_release(&writes);
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
    drain->deleted = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED;
    bool ends = drain->deleted || meta.status == WIT_UNIVERSE_WORLD_STATUS_DONE;
    rc = ends ? drain_items(drain, &txn) : SAP_ERROR;
    /* A done world that was deleted since has more to lose than was looked for. */
    drain->empty = drain->empty && (!drain->last || drain->deleted == drain->was_deleted);
    if (rc == SAP_OK && drain->last && drain->empty && !meta.drained) {
        meta.drained = true;
        rc = meta_row_put(&txn, &guards[1].key, &meta);
    }
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

/* What a world leaves behind. */
typedef struct LeftIntents {
    bool effects;             /* its effects go too */
    uint8_t seed[WORLD_SEED]; /* of the world: of the ids of its promises */
    Buf cancels;              /* IntentCancel */
} LeftIntents;

static int add_left(Buf *cancels, CancelOf of, const uint8_t hash[UNIVERSE_DIGEST])
{
    IntentCancel cancel = {.of = of};
    memcpy(cancel.hash, hash, sizeof cancel.hash);
    return buf_append(cancels, &cancel, sizeof cancel);
}

/* An ask has a message and a timer, a promise a row and perhaps a timer. */
static int note_intent(void *ctx, const uint8_t hash[UNIVERSE_DIGEST],
                       const Outstanding *outstanding)
{
    LeftIntents *left = (LeftIntents *)ctx;
    uint8_t id[UNIVERSE_DIGEST];
    bool effect = outstanding->type == INTENT_EFFECT || outstanding->type == INTENT_ASK;
    int rc = SAP_OK;
    if (effect && left->effects) {
        rc = add_left(&left->cancels, CANCEL_EFFECT, hash);
    }
    if (rc == SAP_OK && outstanding->type == INTENT_PROMISE) {
        promise_id(left->seed, hash, id);
        rc = add_left(&left->cancels, CANCEL_PROMISE, id);
    }
    return rc == SAP_OK && outstanding->type != INTENT_EFFECT
               ? add_left(&left->cancels, CANCEL_TIMER, hash)
               : rc;
}

static int drop_all(SapUniverse *universe, const UniverseName *world, const Buf *cancels)
{
    IntentCancel *all = (IntentCancel *)(void *)cancels->data;
    uint32_t count = (uint32_t)(cancels->len / sizeof *all);
    int rc = SAP_OK;
    for (uint32_t at = 0; rc == SAP_OK && at < count; at += INTENTS_DROPPED) {
        uint32_t some = count - at < INTENTS_DROPPED ? count - at : INTENTS_DROPPED;
        rc = intents_drop(universe->store, universe->number, world, all + at, some);
    }
    return rc;
}

/* The first receipts in the inbox of a deleted world, appended as IntentCancel. */
static int list_receipts(SapUniverse *universe, const UniverseName *world, uint32_t limit,
                         Buf *cancels)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&from, WIT_DBI_WORLD_INBOX, universe->number, world);
    row_range(&from, &to, &range);
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, limit, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi24WorldInboxValue val;
        rc = row_decode_code(
            wit_universe_dbi24_world_inbox_value_decode(rows[i].val, rows[i].val_len, &val, NULL));
        if (rc == SAP_OK) {
            rc = val.item.kind == WIT_UNIVERSE_ITEM_KIND_RECEIPT
                     ? add_left(cancels, CANCEL_EFFECT, val.item.hash.data)
                     : SAP_OK;
            wit_universe_dbi24_world_inbox_value_free(&val);
        }
    }
    sap_store_abort(txn);
    return rc;
}

/* Before receipts are drained: the dedupe rows of their effects go, also of those that the world had
 * cancelled too late, which its state does not list. */
static int drop_answered(SapUniverse *universe, const UniverseName *world, uint32_t limit)
{
    Buf cancels = {0};
    int rc = list_receipts(universe, world, limit, &cancels);
    rc = rc == SAP_OK ? drop_all(universe, world, &cancels) : rc;
    buf_release(&cancels);
    return rc;
}

static int read_seed(SapUniverse *universe, const UniverseName *world, uint8_t seed[WORLD_SEED])
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, universe->number, world);
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? meta_row_get(txn, &key, &meta) : rc;
    if (rc == SAP_OK) {
        memcpy(seed, meta.seed.data, WORLD_SEED);
        wit_universe_dbi21_world_meta_value_free(&meta);
    }
    sap_store_abort(txn);
    return rc;
}

/* Effects, timers and promises of a deleted world go too: what they are is in its state. Effects of a done one
 * are still performed, as it has asked for. */
static int drop_intents(SapUniverse *universe, const UniverseName *world, bool deleted)
{
    WorldState *state = NULL;
    LeftIntents left = {.effects = deleted};
    int rc = read_seed(universe, world, left.seed);
    rc = rc == SAP_OK ? journal_look(universe->store, universe->number, world, &state) : rc;
    rc = rc == SAP_OK ? state_begin(state) : rc;
    rc = rc == SAP_OK ? outstanding_each(state, note_intent, &left) : rc;
    rc = rc == SAP_OK ? drop_all(universe, world, &left.cancels) : rc;
    buf_release(&left.cancels);
    state_close(state);
    return rc;
}

int world_drain_some(SapUniverse *universe, const UniverseName *world, uint32_t limit,
                     uint32_t *drained_out, bool *done_out)
{
    Drain drain = {.universe = universe, .world = *world, .limit = limit};
    size_t seqs_size = (size_t)limit * UNIVERSE_SEQ;
    uint8_t *seqs = (uint8_t *)mem_alloc(MEM_UNIVERSE, seqs_size);
    if (seqs == NULL) {
        return SAP_NOMEM;
    }
    for (uint32_t i = 0; i < limit; i++) {
        producer_next(&universe->producer, universe->store, seqs + (size_t)i * UNIVERSE_SEQ);
    }
    drain.expiry_seqs = (const uint8_t(*)[UNIVERSE_SEQ])seqs;
    int rc = drop_answered(universe, world, limit);
    rc = rc != SAP_OK ? rc
                      : sap_store_run(universe->store, SAP_STORE_GUARDED, drain_body, &drain, NULL);
    *drained_out = rc == SAP_OK ? drain.drained : 0;
    bool unmarked = !drain.deleted;
    if (rc == SAP_OK && drain.empty) {
        rc = drop_intents(universe, world, drain.deleted);
    }
    if (rc == SAP_OK && drain.empty && drain.deleted) {
        rc = world_drop_marks(universe, world, &unmarked);
    }
    if (rc == SAP_OK && drain.empty && unmarked) {
        drain.last = true;
        drain.was_deleted = drain.deleted;
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, drain_body, &drain, NULL);
    }
    mem_free(MEM_UNIVERSE, seqs, seqs_size);
    if (rc == SAP_OK) {
        counter_add(universe->meters.drained, *drained_out);
        *done_out = drain.last && drain.empty;
    }
    return rc;
}

int sap_world_drain(SapUniverse *universe, const char *world, uint32_t limit, bool *done_out)
{
    UniverseName name;
    uint32_t drained = 0;
    if (universe == NULL || done_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK) {
        return rc;
    }
    limit = limit == 0 || limit > DRAIN_AT_ONCE ? DRAIN_AT_ONCE : limit;
    universe_enter(universe);
    rc = world_drain_some(universe, &name, limit, &drained, done_out);
    universe_leave(universe);
    return rc;
}
