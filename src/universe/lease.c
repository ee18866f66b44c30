/* lease.c - see lease.h. */
#include "universe/lease.h"

#include <string.h>

#include "common/assert.h"

static bool names_session(const LeaseRow *row, const UniverseName *worker,
                          const uint8_t nonce[UNIVERSE_NONCE])
{
    return row->holder.len == worker->len &&
           memcmp(row->holder.text, worker->text, row->holder.len) == 0 &&
           memcmp(row->nonce, nonce, sizeof row->nonce) == 0;
}

static bool is_of_world(const Lease *lease)
{
    return lease->key.table == WIT_DBI_LEASE;
}

int lease_stands(const Lease *lease, SapStoreTxn *txn)
{
    LeaseRow row;
    SAP_ASSERT(lease->epoch != 0);
    int rc = lease_row_get(txn, &lease->key, &row);
    if (rc == SAP_NOTFOUND) {
        return SAP_FENCED;
    }
    bool mine = rc == SAP_OK && row.epoch == lease->epoch &&
                names_session(&row, &lease->session->worker, lease->session->nonce);
    return rc == SAP_OK && !mine ? SAP_FENCED : rc;
}

static int delete_held(UniverseTxn *txn, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE],
                       const UniverseName *world)
{
    RowKey held;
    row_key_held(&held, universe, nonce, world);
    int rc = universe_del(txn, &held);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- Taking it (protocol A) ------------------------------------------------------------------ */

/* The session's own row must still be its own: a worker that was replaced takes nothing. */
static int check_own_session(const Session *session, SapStoreTxn *txn)
{
    bool alive = false;
    int rc = session_is_alive(session, txn, &session->worker, session->nonce, &alive);
    return rc == SAP_OK && !alive ? SAP_FENCED : rc;
}

/* Whoever changes meta guards the lease too, so what is read here stands until the commit. */
static int check_active(const Lease *lease, SapStoreTxn *txn)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, lease->session->universe, &lease->name);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = meta.status == WIT_UNIVERSE_WORLD_STATUS_ACTIVE ? SAP_OK : SAP_NOTFOUND;
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

/* What becomes of the holder before: SAP_BUSY if its session is alive, else it loses the lease. */
static int evict_holder(const Lease *lease, UniverseTxn *txn, const LeaseRow *row)
{
    bool alive = false;
    int rc = session_is_alive(lease->session, txn->txn, &row->holder, row->nonce, &alive);
    if (rc != SAP_OK || alive) {
        return rc == SAP_OK ? SAP_BUSY : rc;
    }
    return is_of_world(lease) ? delete_held(txn, lease->session->universe, row->nonce, &lease->name)
                              : SAP_OK;
}

static int take_lease(const Lease *lease, UniverseTxn *txn)
{
    const Session *session = lease->session;
    LeaseRow row = {.holder = session->worker, .epoch = lease->epoch};
    RowKey held;
    memcpy(row.nonce, session->nonce, sizeof row.nonce);
    int rc = lease_row_put(txn, &lease->key, &row);
    if (rc != SAP_OK || !is_of_world(lease)) {
        return rc;
    }
    row_key_held(&held, session->universe, session->nonce, &lease->name);
    return universe_put(txn, &held, (Slice){"", 0});
}

static int acquire_body(SapStoreTxn *store_txn, void *ctx)
{
    Lease *lease = (Lease *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {lease->key, true};
    LeaseRow row = {.epoch = 0};
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? check_own_session(lease->session, store_txn) : rc;
    rc = rc == SAP_OK && is_of_world(lease) ? check_active(lease, store_txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = lease_row_get(store_txn, &lease->key, &row);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (rc == SAP_OK && names_session(&row, &lease->session->worker, lease->session->nonce)) {
        lease->epoch = row.epoch;
        return SAP_OK;
    }
    rc = row.holder.len > 0 ? evict_holder(lease, &txn, &row) : SAP_OK;
    lease->epoch = row.epoch + 1;
    return rc == SAP_OK ? take_lease(lease, &txn) : rc;
}

static int acquire(Lease *lease, Lease *lease_out)
{
    if (!session_may_work(lease->session)) {
        return SAP_FENCED;
    }
    int rc = sap_store_run(lease->session->store, SAP_STORE_GUARDED, acquire_body, lease, NULL);
    if (rc == SAP_OK) {
        *lease_out = *lease;
    }
    return rc;
}

int lease_acquire_world(const Session *session, const UniverseName *world, Lease *lease_out)
{
    Lease lease = {.session = session, .name = *world};
    row_key_world(&lease.key, WIT_DBI_LEASE, session->universe, world);
    return acquire(&lease, lease_out);
}

int lease_acquire_role(const Session *session, const char *role, uint8_t shard, Lease *lease_out)
{
    Lease lease = {.session = session};
    int rc = universe_name_set(&lease.name, role);
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_role(&lease.key, session->universe, &lease.name, shard);
    return acquire(&lease, lease_out);
}

/* ---- Giving it back -------------------------------------------------------------------------- */

static int release_body(SapStoreTxn *store_txn, void *ctx)
{
    const Lease *lease = (const Lease *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {lease->key, true};
    LeaseRow row = {.epoch = lease->epoch};
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? lease_stands(lease, store_txn) : rc;
    rc = rc == SAP_OK ? lease_row_put(&txn, &lease->key, &row) : rc;
    if (rc != SAP_OK || !is_of_world(lease)) {
        return rc;
    }
    return delete_held(&txn, lease->session->universe, lease->session->nonce, &lease->name);
}

int lease_release(Lease *lease)
{
    SAP_ASSERT(lease->epoch != 0);
    int rc = sap_store_run(lease->session->store, SAP_STORE_GUARDED, release_body, lease, NULL);
    if (rc == SAP_OK || rc == SAP_FENCED) {
        lease->epoch = 0;
    }
    return rc;
}

/* ---- Taking it away -------------------------------------------------------------------------- */

/* The lease has nobody after this; a world that never had one has nothing to take away. */
static int free_lease(UniverseTxn *txn, uint32_t universe, const UniverseName *world,
                      const RowKey *key, const LeaseRow *row)
{
    LeaseRow free_row = {.epoch = row->epoch + 1};
    int rc = lease_row_put(txn, key, &free_row);
    return rc == SAP_OK && row->holder.len > 0 ? delete_held(txn, universe, row->nonce, world) : rc;
}

int lease_revoke(UniverseTxn *txn, uint32_t universe, const UniverseName *world)
{
    RowKey key;
    LeaseRow row;
    row_key_world(&key, WIT_DBI_LEASE, universe, world);
    int rc = lease_row_get(txn->txn, &key, &row);
    if (rc == SAP_NOTFOUND) {
        return SAP_OK;
    }
    return rc == SAP_OK ? free_lease(txn, universe, world, &key, &row) : rc;
}

/* ---- Clearing up after the dead -------------------------------------------------------------- */

/* A session that was seen dead, and a world that it holds. */
typedef struct DeadSession {
    const Session *asking;
    UniverseName worker;
    uint8_t nonce[UNIVERSE_NONCE];
    UniverseName world;
} DeadSession;

/* Frees the world if the dead session still holds it; its `held` row goes in any case. */
static int clear_world_body(SapStoreTxn *store_txn, void *ctx)
{
    const DeadSession *dead = (const DeadSession *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true};
    LeaseRow row;
    bool alive = false;
    row_key_world(&guard.key, WIT_DBI_LEASE, dead->asking->universe, &dead->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, &guard, 1, NULL, 0);
    rc = rc == SAP_OK
             ? session_is_alive(dead->asking, store_txn, &dead->worker, dead->nonce, &alive)
             : rc;
    if (rc != SAP_OK || alive) {
        return rc;
    }
    rc = lease_row_get(store_txn, &guard.key, &row);
    if (rc == SAP_OK && names_session(&row, &dead->worker, dead->nonce)) {
        return free_lease(&txn, dead->asking->universe, &dead->world, &guard.key, &row);
    }
    return rc == SAP_OK || rc == SAP_NOTFOUND
               ? delete_held(&txn, dead->asking->universe, dead->nonce, &dead->world)
               : rc;
}

static int clear_session_body(SapStoreTxn *store_txn, void *ctx)
{
    const DeadSession *dead = (const DeadSession *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true};
    bool alive = false;
    SessionRow row;
    row_key_session(&guard.key, dead->asking->universe, &dead->worker);
    int rc = universe_txn_start(&txn, store_txn, PARTY_SESSION, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? session_row_get(store_txn, &guard.key, &row) : rc;
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (memcmp(row.nonce, dead->nonce, sizeof row.nonce) != 0) {
        return SAP_OK; /* the worker has started again */
    }
    rc = session_is_alive(dead->asking, store_txn, &dead->worker, dead->nonce, &alive);
    return rc == SAP_OK && !alive ? universe_del(&txn, &guard.key) : rc;
}

/* The names of the worlds of a session, up to `limit`, appended to *worlds_out as UniverseName. */
static int list_held(SapStoreTxn *txn, uint32_t universe, const uint8_t nonce[UNIVERSE_NONCE],
                     uint32_t limit, Buf *worlds_out)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_held_all(&from, universe, nonce);
    row_range(&from, &to, &range);
    int rc = sap_store_scan(txn, &range, false, limit, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi18HeldKey key;
        UniverseName world;
        rc = row_decode_code(
            wit_universe_dbi18_held_key_decode(rows[i].key, rows[i].key_len, &key, NULL));
        if (rc == SAP_OK) {
            universe_name_copy(&world, &key.world);
            rc = buf_append(worlds_out, &world, sizeof world);
            wit_universe_dbi18_held_key_free(&key);
        }
    }
    return rc;
}

/* The first session that is dead. SAP_NOTFOUND: there is none. */
static int find_dead(SapStoreTxn *txn, const Session *asking, DeadSession *dead_out)
{
    enum { SESSIONS_AT_ONCE = 256 };
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_universe(&from, WIT_DBI_SESSIONS, asking->universe);
    row_range(&from, &to, &range);
    int rc = sap_store_scan(txn, &range, false, SESSIONS_AT_ONCE, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
        WitUniverseDbi17SessionsKey key;
        WitUniverseDbi17SessionsValue val;
        bool alive = true;
        rc = row_decode_code(
            wit_universe_dbi17_sessions_key_decode(rows[i].key, rows[i].key_len, &key, NULL));
        if (rc != SAP_OK) {
            break;
        }
        rc = row_decode_code(
            wit_universe_dbi17_sessions_value_decode(rows[i].val, rows[i].val_len, &val, NULL));
        if (rc == SAP_OK) {
            universe_name_copy(&dead_out->worker, &key.worker);
            memcpy(dead_out->nonce, val.nonce.data, UNIVERSE_NONCE);
            rc = session_is_alive(asking, txn, &dead_out->worker, dead_out->nonce, &alive);
            wit_universe_dbi17_sessions_value_free(&val);
        }
        wit_universe_dbi17_sessions_key_free(&key);
        if (rc == SAP_OK && !alive) {
            return SAP_OK;
        }
    }
    return rc == SAP_OK ? SAP_NOTFOUND : rc;
}

int lease_clear_dead(const Session *session, uint32_t limit, bool *more_out)
{
    SapStoreTxn *txn = NULL;
    DeadSession dead = {.asking = session};
    Buf worlds = {0};
    int rc = sap_store_begin(session->store, SAP_STORE_READ_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = find_dead(txn, session, &dead);
    rc = rc == SAP_OK ? list_held(txn, session->universe, dead.nonce, limit, &worlds) : rc;
    sap_store_abort(txn);
    size_t count = worlds.len / sizeof dead.world;
    for (size_t i = 0; rc == SAP_OK && i < count; i++) {
        memcpy(&dead.world, worlds.data + i * sizeof dead.world, sizeof dead.world);
        rc = sap_store_run(session->store, SAP_STORE_GUARDED, clear_world_body, &dead, NULL);
    }
    if (rc == SAP_OK && count < limit) {
        rc = sap_store_run(session->store, SAP_STORE_GUARDED, clear_session_body, &dead, NULL);
    }
    *more_out = rc == SAP_OK;
    buf_release(&worlds);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
