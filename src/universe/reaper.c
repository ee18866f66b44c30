/* reaper.c - the one worker that deletes what has expired, empties deleted worlds, and collects blobs.
 *
 * A row that goes at a time has a row in `expiry` under that time, which names it. The reaper guards the
 * row that is named and reads under the guard when that expires: a row that was put anew has an expiry
 * row of its own. The expiry row of a deleted world names its meta row, and stays until it is drained. */
#include <string.h>

#include "common/assert.h"
#include "common/bytes.h"
#include "universe/worker_impl.h"

enum { EXPIRED_AT_ONCE = 32, DRAINED_AT_ONCE = 64, BLOBS_AT_ONCE = 16 };

#define PASS_NS    UINT64_C(500000000)
#define COLLECT_NS UINT64_C(3600000000000)
#define DAMAGED_NS UINT64_C(3600000000000)

/* ---- Rows that have expired ------------------------------------------------------------------ */

typedef struct ExpiredRow {
    RowKey expiry;
    RowKey named; /* table 0: the expiry row is damaged, and only that goes */
} ExpiredRow;

typedef struct Expired {
    uint32_t universe;
    uint64_t now_ns;
    RoleHolder *role;
    uint32_t count;
    ExpiredRow rows[EXPIRED_AT_ONCE];
    uint32_t deleted; /* of the last run */
} Expired;

static int decode_expiry(const SapStoreRow *row, ExpiredRow *out)
{
    WitUniverseDbi41ExpiryValue val;
    out->named = (RowKey){.table = 0};
    out->expiry = (RowKey){.table = WIT_DBI_EXPIRY, .len = row->key_len};
    memcpy(out->expiry.bytes, row->key, row->key_len);
    int rc =
        row_decode_code(wit_universe_dbi41_expiry_value_decode(row->val, row->val_len, &val, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = val.key.len <= sizeof out->named.bytes ? SAP_OK : SAP_CORRUPT;
    if (rc == SAP_OK) {
        out->named = (RowKey){.table = val.table, .len = val.key.len};
        memcpy(out->named.bytes, val.key.data, val.key.len);
    }
    wit_universe_dbi41_expiry_value_free(&val);
    return rc;
}

/* The first rows whose time has passed. */
static int read_expired(SapStoreTxn *txn, Expired *expired, uint64_t *oldest_out, bool *more_out)
{
    uint32_t kept = 0;
    enum { TIME_AT = 4 }; /* in the key, after the universe */
    RowKey from;
    RowKey to;
    const SapStoreRow *rows = NULL;
    uint8_t first[UNIVERSE_SEQ] = {0};
    row_key_universe(&from, WIT_DBI_EXPIRY, expired->universe);
    row_key_expiry(&to, expired->universe, expired->now_ns + 1, first);
    SapStoreRange range = {from.table, from.bytes, from.len, to.bytes, to.len};
    int rc = sap_store_scan(txn, &range, false, EXPIRED_AT_ONCE, &rows, &expired->count);
    *oldest_out = expired->now_ns;
    for (uint32_t i = 0; rc == SAP_OK && i < expired->count; i++) {
        uint64_t at_ns = load_u64be((const uint8_t *)rows[i].key + TIME_AT);
        *oldest_out = at_ns != 0 && at_ns < *oldest_out ? at_ns : *oldest_out;
        rc = decode_expiry(&rows[i], &expired->rows[kept]);
        kept += rc == SAP_OK;
        rc = rc == SAP_CORRUPT ? SAP_OK : rc; /* it stays, and stops nothing */
    }
    *more_out = rc == SAP_OK && expired->count == EXPIRED_AT_ONCE;
    expired->count = kept;
    return rc;
}

/* Whether rows of the table expire by themselves. */
static bool expires(const RowKey *key)
{
    return key->table == WIT_DBI_IDEM || key->table == WIT_DBI_REPLY ||
           key->table == WIT_DBI_IDEMPOTENCY || key->table == WIT_DBI_FABRIC_DEDUPE;
}

/* When the row that is named expires; one that is damaged at once. */
static int read_expiry(SapStoreTxn *txn, const RowKey *key, uint64_t *expires_out)
{
    Slice val = {0};
    int rc = universe_get(txn, key, &val);
    if (rc != SAP_OK) {
        return rc;
    }
    if (key->table == WIT_DBI_IDEM) {
        WitUniverseDbi25IdemValue row;
        rc = wit_universe_dbi25_idem_value_decode(val.data, val.len, &row, NULL);
        if (rc == SAP_OK) {
            *expires_out = row.expires_ns;
            wit_universe_dbi25_idem_value_free(&row);
        }
    } else if (key->table == WIT_DBI_FABRIC_DEDUPE) {
        WitUniverseDbi29FabricDedupeValue row;
        rc = wit_universe_dbi29_fabric_dedupe_value_decode(val.data, val.len, &row, NULL);
        if (rc == SAP_OK) {
            *expires_out = row.expires_ns;
            wit_universe_dbi29_fabric_dedupe_value_free(&row);
        }
    } else if (key->table == WIT_DBI_IDEMPOTENCY) {
        WitUniverseDbi47IdempotencyValue row;
        rc = wit_universe_dbi47_idempotency_value_decode(val.data, val.len, &row, NULL);
        if (rc == SAP_OK) {
            *expires_out = row.expires_ns;
            wit_universe_dbi47_idempotency_value_free(&row);
        }
    } else {
        WitUniverseDbi26ReplyValue row;
        rc = wit_universe_dbi26_reply_value_decode(val.data, val.len, &row, NULL);
        if (rc == SAP_OK) {
            *expires_out = row.expires_ns;
            wit_universe_dbi26_reply_value_free(&row);
        }
    }
    if (rc == SAP_INVALID) {
        *expires_out = 0;
        rc = SAP_OK;
    }
    return rc;
}

static int expire_row(Expired *expired, UniverseTxn *txn, const ExpiredRow *row)
{
    uint64_t expires_ns = 0;
    int rc = expires(&row->named) ? read_expiry(txn->txn, &row->named, &expires_ns) : SAP_NOTFOUND;
    if (rc == SAP_OK && expires_ns <= expired->now_ns) {
        rc = universe_del(txn, &row->named);
        expired->deleted += rc == SAP_OK;
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    rc = universe_del(txn, &row->expiry);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static bool is_drain(const ExpiredRow *row)
{
    return row->named.table == WIT_DBI_WORLD_META;
}

static int expire_body(SapStoreTxn *store_txn, void *ctx)
{
    Expired *expired = (Expired *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[EXPIRED_AT_ONCE + 1];
    uint32_t count = 0;
    role_guard(expired->role, &guards[count++]);
    for (uint32_t i = 0; i < expired->count; i++) {
        if (expires(&expired->rows[i].named)) {
            guards[count++] = (UniverseGuard){expired->rows[i].named, true};
        }
    }
    expired->deleted = 0;
    int rc = universe_txn_start(&txn, store_txn, PARTY_REAPER, guards, count, NULL, 0);
    rc = rc == SAP_OK ? role_check(expired->role, store_txn) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < expired->count; i++) {
        if (!is_drain(&expired->rows[i])) {
            rc = expire_row(expired, &txn, &expired->rows[i]);
        }
    }
    return rc;
}

/* ---- Deleted worlds -------------------------------------------------------------------------- */

/* A world that cannot be emptied, because a row of it is damaged, is tried again later. */
typedef struct Postponed {
    uint32_t universe;
    const ExpiredRow *row;
    uint64_t later_ns;
    uint8_t seq[UNIVERSE_SEQ];
} Postponed;

static int postpone_drain_body(SapStoreTxn *store_txn, void *ctx)
{
    const Postponed *postponed = (const Postponed *)ctx;
    const RowKey *named = &postponed->row->named;
    UniverseTxn txn;
    UniverseGuard guard = {*named, false};
    int rc = universe_txn_start(&txn, store_txn, PARTY_REAPER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? universe_del(&txn, &postponed->row->expiry) : rc;
    rc = rc == SAP_OK
             ? expiry_row_put(&txn, postponed->universe, postponed->later_ns, postponed->seq, named)
             : rc;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int postpone_drain(SapWorker *worker, const ExpiredRow *row, const UniverseName *world)
{
    SapUniverse *universe = worker->universe;
    Postponed postponed = {.universe = universe->number, .row = row};
    worker_note_damage(worker, "a row of a deleted world", world);
    producer_next(&universe->producer, universe->store, postponed.seq);
    postponed.later_ns = sap_store_lease_ns(universe->store) + DAMAGED_NS;
    return sap_store_run(universe->store, SAP_STORE_GUARDED, postpone_drain_body, &postponed, NULL);
}

static int forget_drain_body(SapStoreTxn *store_txn, void *ctx)
{
    const ExpiredRow *row = (const ExpiredRow *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {row->named, false};
    int rc = universe_txn_start(&txn, store_txn, PARTY_REAPER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? universe_del(&txn, &row->expiry) : rc;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* The next part of a deleted world, named by its meta row. */
static int drain_world(SapWorker *worker, ExpiredRow *row, bool *busy_out)
{
    WitUniverseDbi21WorldMetaKey key;
    UniverseName world;
    uint32_t drained = 0;
    bool done = false;
    int rc = row_decode_code(
        wit_universe_dbi21_world_meta_key_decode(row->named.bytes, row->named.len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(&world, &key.world);
    wit_universe_dbi21_world_meta_key_free(&key);
    rc = world_drain_some(worker->universe, &world, DRAINED_AT_ONCE, &drained, &done);
    *busy_out = *busy_out || (rc == SAP_OK && !done);
    if (rc == SAP_CORRUPT) {
        return postpone_drain(worker, row, &world);
    }
    if (rc == SAP_ERROR || rc == SAP_NOTFOUND) { /* it is not deleted any more */
        done = true;
        rc = SAP_OK;
    }
    return rc == SAP_OK && done ? sap_store_run(worker->universe->store, SAP_STORE_GUARDED,
                                                forget_drain_body, row, NULL)
                                : rc;
}

static int expire(SapWorker *worker, bool *busy_out)
{
    SapStore *store = worker->universe->store;
    Expired expired = {.universe = worker->universe->number,
                       .now_ns = sap_store_lease_ns(store),
                       .role = &worker->reaper.role};
    SapStoreTxn *txn = NULL;
    uint64_t oldest_ns = 0;
    bool more = false;
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? read_expired(txn, &expired, &oldest_ns, &more) : rc;
    sap_store_abort(txn);
    if (rc != SAP_OK || expired.count == 0) {
        gauge_set(meters_of(worker)->expiry_lag, 0);
        return rc;
    }
    gauge_set(meters_of(worker)->expiry_lag, (int64_t)(expired.now_ns - oldest_ns));
    rc = sap_store_run(store, SAP_STORE_GUARDED, expire_body, &expired, NULL);
    counter_add(meters_of(worker)->expired, rc == SAP_OK ? expired.deleted : 0);
    *busy_out = *busy_out || more;
    for (uint32_t i = 0; rc == SAP_OK && i < expired.count; i++) {
        if (is_drain(&expired.rows[i])) {
            rc = drain_world(worker, &expired.rows[i], busy_out);
        }
    }
    return rc;
}

/* ---- Blobs ----------------------------------------------------------------------------------- */

/* Looks at all blobs once an hour, some in a step. */
static int collect_blobs(SapWorker *worker, uint64_t now_ns, bool *busy_out)
{
    Reaper *reaper = &worker->reaper;
    SapStore *store = worker->universe->store;
    bool end = false;
    if (now_ns < reaper->collect_at_ns) {
        return SAP_OK;
    }
    int rc = blob_collect_step(store, &reaper->collector, sap_store_lease_ns(store), BLOBS_AT_ONCE,
                               &end);
    if (rc == SAP_OK && end) {
        reaper->collect_at_ns = now_ns + COLLECT_NS;
    }
    *busy_out = *busy_out || !end;
    return rc;
}

/* ---- Effects and timers ---------------------------------------------------------------------- */

static int reap_effects(SapWorker *worker, bool *busy_out)
{
    EffectReaper *effects = &worker->reaper.effects;
    Meters *meters = meters_of(worker);
    EffectReaperStats before = effects->stats;
    int rc = effect_reaper_step(effects, busy_out);
    counter_add(meters->effects_returned, effects->stats.returned - before.returned);
    counter_add(meters->effects_lost, effects->stats.timeouts - before.timeouts);
    counter_add(meters->effects_unserved, effects->stats.unserved - before.unserved);
    gauge_set(meters->due_effect_age, (int64_t)effects->due_age_ns);
    if (effects->stats.damaged > before.damaged) {
        worker_note_damage_hourly(worker, "a row of effects", &worker->reaper.damage_told_ns);
    }
    return rc;
}

/* By the reaper, since it says so also where nobody steps the timers. */
static int measure_timers(SapWorker *worker)
{
    uint64_t age_ns = 0;
    int rc = timers_due_age(worker->universe->store, worker->universe->number, &age_ns);
    gauge_set(meters_of(worker)->due_timer_age, (int64_t)age_ns);
    return rc;
}

/* ---- The step -------------------------------------------------------------------------------- */

int reaper_step(SapWorker *worker, bool *busy_out)
{
    Reaper *reaper = &worker->reaper;
    uint64_t now_ns = clock_boot_ns(worker->universe->clock);
    bool held = false;
    if (now_ns < reaper->next_ns) {
        return SAP_OK;
    }
    int rc = role_hold(worker, &reaper->role, "reaper", &held);
    gauge_set(meters_of(worker)->reaps, held);
    if (rc != SAP_OK || !held) {
        return rc;
    }
    rc = reap_effects(worker, busy_out);
    rc = rc == SAP_OK ? measure_timers(worker) : rc;
    rc = rc == SAP_OK ? expire(worker, busy_out) : rc;
    rc = rc == SAP_OK ? collect_blobs(worker, now_ns, busy_out) : rc;
    reaper->next_ns = *busy_out || rc != SAP_OK ? 0 : now_ns + PASS_NS;
    if (rc == SAP_FENCED) { /* another worker has the role by now */
        reaper->role.lease.epoch = 0;
        rc = SAP_OK;
    }
    return rc;
}
