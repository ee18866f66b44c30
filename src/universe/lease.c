/* lease.c - see lease.h. */
#include "universe/lease.h"

#include <string.h>

#include "common/assert.h"

static bool names_session(const LeaseRow *row, const Session *session)
{
    return row->holder.len == session->worker.len &&
           memcmp(row->holder.text, session->worker.text, row->holder.len) == 0 &&
           memcmp(row->nonce, session->nonce, sizeof row->nonce) == 0;
}

void world_lease_key(const WorldLease *lease, RowKey *key_out)
{
    row_key_lease(key_out, lease->session->universe, &lease->world);
}

int world_lease_check(const WorldLease *lease, const UniverseTxn *txn)
{
    RowKey key;
    LeaseRow row;
    SAP_ASSERT(lease->epoch != 0);
    world_lease_key(lease, &key);
    int rc = lease_row_get(txn->txn, &key, &row);
    if (rc == SAP_NOTFOUND) {
        return SAP_FENCED;
    }
    if (rc == SAP_OK && (row.epoch != lease->epoch || !names_session(&row, lease->session))) {
        return SAP_FENCED;
    }
    return rc;
}

/* ---- Taking it (protocol A) ------------------------------------------------------------------ */

/* The session's own row must still be its own: a worker that was replaced takes nothing. */
static int check_own_session(const Session *session, SapStoreTxn *txn)
{
    bool alive = false;
    int rc = session_is_alive(session, txn, &session->worker, session->nonce, &alive);
    return rc == SAP_OK && !alive ? SAP_FENCED : rc;
}

/* What becomes of the holder before: SAP_BUSY if its session is alive, else it loses the world. */
static int evict_holder(const Session *session, UniverseTxn *txn, const UniverseName *world,
                        const LeaseRow *row)
{
    RowKey held;
    bool alive = false;
    int rc = session_is_alive(session, txn->txn, &row->holder, row->nonce, &alive);
    if (rc != SAP_OK || alive) {
        return rc == SAP_OK ? SAP_BUSY : rc;
    }
    row_key_held(&held, session->universe, row->nonce, world);
    return held_row_del(txn, &held);
}

static int take_lease(const Session *session, UniverseTxn *txn, const UniverseName *world,
                      const RowKey *key, uint64_t epoch)
{
    LeaseRow row = {.holder = session->worker, .epoch = epoch};
    RowKey held;
    memcpy(row.nonce, session->nonce, sizeof row.nonce);
    row_key_held(&held, session->universe, session->nonce, world);
    int rc = lease_row_put(txn, key, &row);
    return rc == SAP_OK ? held_row_put(txn, &held) : rc;
}

typedef struct Acquisition {
    const Session *session;
    UniverseName world;
    uint64_t epoch;
} Acquisition;

static int acquire_body(SapStoreTxn *store_txn, void *ctx)
{
    Acquisition *acquisition = (Acquisition *)ctx;
    const Session *session = acquisition->session;
    UniverseTxn txn;
    RowKey key;
    LeaseRow row = {.epoch = 0};
    row_key_lease(&key, session->universe, &acquisition->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, &key, 1);
    rc = rc == SAP_OK ? check_own_session(session, store_txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = lease_row_get(store_txn, &key, &row);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (rc == SAP_OK && names_session(&row, session)) {
        acquisition->epoch = row.epoch;
        return SAP_OK;
    }
    rc = row.holder.len > 0 ? evict_holder(session, &txn, &acquisition->world, &row) : SAP_OK;
    acquisition->epoch = row.epoch + 1;
    return rc == SAP_OK ? take_lease(session, &txn, &acquisition->world, &key, acquisition->epoch)
                        : rc;
}

int world_lease_acquire(const Session *session, const char *world, WorldLease *lease_out)
{
    Acquisition acquisition = {.session = session};
    int rc = universe_name_set(&acquisition.world, world);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!session_may_work(session)) {
        return SAP_FENCED;
    }
    rc = sap_store_run(session->store, SAP_STORE_GUARDED, acquire_body, &acquisition, NULL);
    if (rc == SAP_OK) {
        *lease_out = (WorldLease){session, acquisition.world, acquisition.epoch};
    }
    return rc;
}

/* ---- Giving it back -------------------------------------------------------------------------- */

static int release_body(SapStoreTxn *store_txn, void *ctx)
{
    const WorldLease *lease = (const WorldLease *)ctx;
    UniverseTxn txn;
    RowKey key;
    RowKey held;
    LeaseRow row = {.epoch = lease->epoch};
    world_lease_key(lease, &key);
    row_key_held(&held, lease->session->universe, lease->session->nonce, &lease->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_LEASE, &key, 1);
    rc = rc == SAP_OK ? world_lease_check(lease, &txn) : rc;
    rc = rc == SAP_OK ? lease_row_put(&txn, &key, &row) : rc;
    return rc == SAP_OK ? held_row_del(&txn, &held) : rc;
}

int world_lease_release(WorldLease *lease)
{
    SAP_ASSERT(lease->epoch != 0);
    int rc = sap_store_run(lease->session->store, SAP_STORE_GUARDED, release_body, lease, NULL);
    if (rc == SAP_OK || rc == SAP_FENCED) {
        lease->epoch = 0;
    }
    return rc;
}
