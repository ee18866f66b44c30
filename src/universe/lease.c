/* lease.c - see lease.h. */
#include "universe/lease.h"

#include <string.h>

#include "common/assert.h"
#include "store/store_impl.h"

static bool names_session(const LeaseRow *row, const UniverseName *worker,
                          const uint8_t nonce[UNIVERSE_NONCE])
{
    return universe_name_equal(&row->holder, worker) &&
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

/* The session's own row must still be its own: a worker that was replaced takes nothing. One that has
 * only expired may be renewed yet: SAP_BUSY. */
static int check_own_session(const Session *session, SapStoreTxn *txn)
{
    RowKey key;
    SessionRow row;
    row_key_session(&key, session->universe, &session->worker);
    int rc = session_row_get(txn, &key, &row);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_FENCED : rc;
    }
    if (memcmp(row.nonce, session->nonce, sizeof row.nonce) != 0) {
        return SAP_FENCED;
    }
    return session_has_time(session, row.expires_ns) ? SAP_OK : SAP_BUSY;
}

/* Whoever changes meta guards the lease too, so what is read here stands until the commit. A stuck world
 * whose worker is gone may be tried again. */
static int check_runs(const Lease *lease, SapStoreTxn *txn)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, lease->session->universe, &lease->name);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = world_status_runs(meta.status) ? SAP_OK : SAP_NOTFOUND;
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

/* Read without a lock: an assignment that comes at the same time is found by the holder's next cycle. */
static int check_assigned(const Lease *lease, SapStoreTxn *txn)
{
    UniverseName worker;
    int rc = assignment_get(txn, lease->session->universe, &lease->name, &worker);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    return universe_name_equal(&worker, &lease->session->worker) ? SAP_OK : SAP_CONFLICT;
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
    LeaseRow row = {.holder = session->worker, .epoch = lease->epoch, .unclean = lease->unclean};
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
    rc = rc == SAP_OK && is_of_world(lease) ? check_runs(lease, store_txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = lease_row_get(store_txn, &lease->key, &row);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    lease->unclean = row.unclean;
    if (rc == SAP_OK && names_session(&row, &lease->session->worker, lease->session->nonce)) {
        lease->epoch = row.epoch;
        return SAP_OK;
    }
    rc = is_of_world(lease) ? check_assigned(lease, store_txn) : SAP_OK;
    if (rc == SAP_OK && row.holder.len > 0) {
        rc = evict_holder(lease, &txn, &row);
        lease->unclean = true;
    }
    lease->epoch = row.epoch + 1;
    return rc == SAP_OK ? take_lease(lease, &txn) : rc;
}

/* mark_out NULL: waits until it is durable. */
static int run_guarded(SapStore *store, SapStoreBody body, void *ctx, uint64_t *mark_out)
{
    return mark_out == NULL ? sap_store_run(store, SAP_STORE_GUARDED, body, ctx, NULL)
                            : store_run_async(store, SAP_STORE_GUARDED, body, ctx, mark_out, NULL);
}

static int acquire(Lease *lease, uint64_t *mark_out, Lease *lease_out)
{
    if (!session_may_work(lease->session)) {
        return relaxed_load(&lease->session->deadline_ns) == 0 ? SAP_FENCED : SAP_BUSY;
    }
    int rc = run_guarded(lease->session->store, acquire_body, lease, mark_out);
    if (rc == SAP_OK) {
        *lease_out = *lease;
    }
    return rc;
}

int lease_acquire_world(const Session *session, const UniverseName *world, uint64_t *mark_out,
                        Lease *lease_out)
{
    Lease lease = {.session = session, .name = *world};
    row_key_world(&lease.key, WIT_DBI_LEASE, session->universe, world);
    return acquire(&lease, mark_out, lease_out);
}

int lease_acquire_role(const Session *session, const char *role, uint8_t shard, Lease *lease_out)
{
    Lease lease = {.session = session};
    int rc = universe_name_set(&lease.name, role);
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_role(&lease.key, session->universe, &lease.name, shard);
    return acquire(&lease, NULL, lease_out);
}

/* ---- Giving it back -------------------------------------------------------------------------- */

static int release_body(SapStoreTxn *store_txn, void *ctx)
{
    const Lease *lease = (const Lease *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {lease->key, true};
    LeaseRow row = {.epoch = lease->epoch, .unclean = lease->unclean};
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? lease_stands(lease, store_txn) : rc;
    rc = rc == SAP_OK ? lease_row_put(&txn, &lease->key, &row) : rc;
    if (rc != SAP_OK || !is_of_world(lease)) {
        return rc;
    }
    return delete_held(&txn, lease->session->universe, lease->session->nonce, &lease->name);
}

int lease_release(Lease *lease, uint64_t *mark_out)
{
    SAP_ASSERT(lease->epoch != 0);
    int rc = run_guarded(lease->session->store, release_body, lease, mark_out);
    if (rc == SAP_OK || rc == SAP_FENCED) {
        lease->epoch = 0;
    }
    return rc;
}

/* ---- Taking it away -------------------------------------------------------------------------- */

/* The lease has nobody after this; a world that never had one has nothing to take away. `dead`: its
 * holder did not give it back. */
static int free_lease(UniverseTxn *txn, uint32_t universe, const UniverseName *world,
                      const RowKey *key, const LeaseRow *row, bool dead)
{
    LeaseRow free_row = {.epoch = row->epoch + 1, .unclean = row->unclean || dead};
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
    return rc == SAP_OK ? free_lease(txn, universe, world, &key, &row, false) : rc;
}

/* ---- Clearing up after the dead -------------------------------------------------------------- */

enum { CLEAR_AT_ONCE = 32 };

/* A session that was seen dead, and worlds that it holds. */
typedef struct DeadSession {
    const Session *asking;
    UniverseName worker; /* empty: its row is gone */
    uint8_t nonce[UNIVERSE_NONCE];
    const UniverseName *worlds; /* of the transaction under way */
    uint32_t world_count;
    const uint8_t (*hint_seqs)[UNIVERSE_SEQ];
    uint32_t freed; /* by the transaction under way */
} DeadSession;

/* Something waits for the world: whoever looks at the hints is woken. */
static int put_hint_if_items(UniverseTxn *txn, uint32_t universe, const UniverseName *world,
                             const uint8_t seq[UNIVERSE_SEQ])
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    row_key_world(&from, WIT_DBI_WORLD_INBOX, universe, world);
    row_range(&from, &to, &range);
    int rc = sap_store_scan(txn->txn, &range, false, 1, &rows, &count);
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    row_key_ready(&from, universe, 0, seq, world);
    return universe_put(txn, &from, (Slice){"", 0});
}

/* Frees a world if the dead session still holds it; its `held` row goes unless that session is alive. A
 * session writes lease and `held` row in one transaction, under the guard that this one has. */
static int clear_world(DeadSession *dead, UniverseTxn *txn, const RowKey *key, uint32_t index)
{
    const UniverseName *world = &dead->worlds[index];
    uint32_t universe = dead->asking->universe;
    LeaseRow row;
    bool alive = false;
    int rc = lease_row_get(txn->txn, key, &row);
    bool holds =
        rc == SAP_OK && row.holder.len > 0 && memcmp(row.nonce, dead->nonce, sizeof row.nonce) == 0;
    if (!holds) { /* a lease that is damaged stays as it is, and stops nobody */
        return rc == SAP_OK || rc == SAP_NOTFOUND || rc == SAP_CORRUPT
                   ? delete_held(txn, universe, dead->nonce, world)
                   : rc;
    }
    rc = session_is_alive(dead->asking, txn->txn, &row.holder, row.nonce, &alive);
    if (rc != SAP_OK || alive) {
        return rc;
    }
    rc = free_lease(txn, universe, world, key, &row, true);
    dead->freed += rc == SAP_OK;
    return rc == SAP_OK ? put_hint_if_items(txn, universe, world, dead->hint_seqs[index]) : rc;
}

static int clear_worlds_body(SapStoreTxn *store_txn, void *ctx)
{
    DeadSession *dead = (DeadSession *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[CLEAR_AT_ONCE];
    dead->freed = 0;
    for (uint32_t i = 0; i < dead->world_count; i++) {
        guards[i].exclusive = true;
        row_key_world(&guards[i].key, WIT_DBI_LEASE, dead->asking->universe, &dead->worlds[i]);
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, guards, dead->world_count, NULL, 0);
    for (uint32_t i = 0; rc == SAP_OK && i < dead->world_count; i++) {
        rc = clear_world(dead, &txn, &guards[i].key, i);
    }
    return rc;
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
    if (rc == SAP_CORRUPT) {
        return universe_del(&txn, &guard.key); /* of nobody who could say that it is alive */
    }
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

/* A session's row, as it was found. */
typedef struct SessionSeen {
    UniverseName worker;
    uint8_t nonce[UNIVERSE_NONCE];
    bool alive;
} SessionSeen;

static int see_session(const Session *asking, const SapStoreRow *row, Buf *seen)
{
    WitUniverseDbi17SessionsKey key;
    WitUniverseDbi17SessionsValue val;
    SessionSeen session = {.alive = false};
    int rc =
        row_decode_code(wit_universe_dbi17_sessions_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(&session.worker, &key.worker);
    wit_universe_dbi17_sessions_key_free(&key);
    rc = wit_universe_dbi17_sessions_value_decode(row->val, row->val_len, &val, NULL);
    if (rc == SAP_OK) {
        memcpy(session.nonce, val.nonce.data, UNIVERSE_NONCE);
        session.alive = session_has_time(asking, val.expires_ns);
        wit_universe_dbi17_sessions_value_free(&val);
    }
    /* One that is damaged is not alive. */
    return rc == SAP_OK || rc == SAP_INVALID ? buf_append(seen, &session, sizeof session) : rc;
}

/* All sessions, appended as SessionSeen. */
static int see_sessions(SapStoreTxn *txn, const Session *asking, Buf *seen)
{
    enum { SESSIONS_AT_ONCE = 256 };
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint32_t count = SESSIONS_AT_ONCE;
    int rc = SAP_OK;
    row_key_universe(&from, WIT_DBI_SESSIONS, asking->universe);
    row_range(&from, &to, &range);
    while (rc == SAP_OK && count == SESSIONS_AT_ONCE) {
        const SapStoreRow *rows = NULL;
        rc = sap_store_scan(txn, &range, false, SESSIONS_AT_ONCE, &rows, &count);
        for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
            rc = see_session(asking, &rows[i], seen);
        }
        if (rc == SAP_OK && count > 0) {
            row_key_after(&from, &rows[count - 1]);
            range.from = from.bytes;
            range.from_len = from.len;
        }
    }
    return rc;
}

static bool is_alive_in(const Buf *seen, const uint8_t nonce[UNIVERSE_NONCE])
{
    const SessionSeen *all = (const SessionSeen *)(void *)seen->data;
    for (size_t i = 0; i < seen->len / sizeof *all; i++) {
        if (memcmp(all[i].nonce, nonce, UNIVERSE_NONCE) == 0) {
            return all[i].alive;
        }
    }
    return false; /* its row is gone: another session of the worker has taken its place, or it ended */
}

/* The first nonce that holds something and is not that of a session that is alive. SAP_NOTFOUND. */
static int find_dead_holder(SapStoreTxn *txn, uint32_t universe, const Buf *seen,
                            uint8_t nonce_out[UNIVERSE_NONCE])
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    row_key_universe(&from, WIT_DBI_HELD, universe);
    row_range(&from, &to, &range);
    for (;;) {
        const SapStoreRow *rows = NULL;
        uint32_t count = 0;
        WitUniverseDbi18HeldKey key;
        RowKey next;
        SapStoreRange all;
        int rc = sap_store_scan(txn, &range, false, 1, &rows, &count);
        if (rc != SAP_OK || count == 0) {
            return rc == SAP_OK ? SAP_NOTFOUND : rc;
        }
        rc = row_decode_code(
            wit_universe_dbi18_held_key_decode(rows[0].key, rows[0].key_len, &key, NULL));
        if (rc != SAP_OK) {
            return rc;
        }
        memcpy(nonce_out, key.nonce.data, UNIVERSE_NONCE);
        wit_universe_dbi18_held_key_free(&key);
        if (!is_alive_in(seen, nonce_out)) {
            return SAP_OK;
        }
        row_key_held_all(&from, universe, nonce_out); /* on behind all that it holds */
        row_range(&from, &next, &all);
        from = next;
        range.from = from.bytes;
        range.from_len = from.len;
    }
}

/* A session that has expired and holds nothing. SAP_NOTFOUND. */
static int find_dead_session(const Buf *seen, DeadSession *dead_out)
{
    const SessionSeen *all = (const SessionSeen *)(void *)seen->data;
    for (size_t i = 0; i < seen->len / sizeof *all; i++) {
        if (!all[i].alive) {
            dead_out->worker = all[i].worker;
            memcpy(dead_out->nonce, all[i].nonce, UNIVERSE_NONCE);
            return SAP_OK;
        }
    }
    return SAP_NOTFOUND;
}

/* The worlds that were listed, some in each transaction. */
static int clear_worlds(DeadSession *dead, Producer *producer, const Buf *worlds,
                        uint32_t *cleared_out)
{
    const UniverseName *all = (const UniverseName *)(void *)worlds->data;
    uint32_t count = (uint32_t)(worlds->len / sizeof *all);
    uint8_t seqs[CLEAR_AT_ONCE][UNIVERSE_SEQ];
    uint64_t mark = 0;
    int rc = SAP_OK;
    for (uint32_t at = 0; rc == SAP_OK && at < count; at += dead->world_count) {
        dead->worlds = all + at;
        dead->world_count = count - at < CLEAR_AT_ONCE ? count - at : CLEAR_AT_ONCE;
        dead->hint_seqs = (const uint8_t(*)[UNIVERSE_SEQ])seqs;
        for (uint32_t i = 0; i < dead->world_count; i++) {
            producer_next(producer, dead->asking->store, seqs[i]);
        }
        rc = store_run_async(dead->asking->store, SAP_STORE_GUARDED, clear_worlds_body, dead, &mark,
                             NULL);
        *cleared_out += rc == SAP_OK ? dead->freed : 0;
    }
    return rc;
}

int lease_clear_dead(const Session *session, Producer *producer, uint32_t limit,
                     uint32_t *cleared_out, bool *more_out)
{
    SapStoreTxn *txn = NULL;
    DeadSession dead = {.asking = session};
    Buf worlds = {0};
    Buf seen = {0};
    *more_out = false;
    *cleared_out = 0;
    int rc = sap_store_begin(session->store, SAP_STORE_READ_NEWEST, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = see_sessions(txn, session, &seen);
    rc = rc == SAP_OK ? find_dead_holder(txn, session->universe, &seen, dead.nonce) : rc;
    rc = rc == SAP_OK ? list_held(txn, session->universe, dead.nonce, limit, &worlds) : rc;
    sap_store_abort(txn);
    if (rc == SAP_OK) {
        rc = clear_worlds(&dead, producer, &worlds, cleared_out);
        *more_out = rc == SAP_OK;
    } else if (rc == SAP_NOTFOUND) {
        rc = find_dead_session(&seen, &dead);
        rc = rc == SAP_OK
                 ? sap_store_run(session->store, SAP_STORE_GUARDED, clear_session_body, &dead, NULL)
                 : rc;
        *more_out = rc == SAP_OK;
    }
    buf_release(&seen);
    buf_release(&worlds);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
