/* assign.c - who is to run which world, and the lease protocol by hand: the operators' calls. */
#include <string.h>

#include "common/assert.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

enum { TRIES = 4 };

/* Again as long as nobody knows whether it has happened. */
static int run_known(SapUniverse *universe, SapStoreBody body, void *ctx)
{
    bool unknown = true;
    int rc = SAP_IO;
    for (int i = 0; i < TRIES && rc == SAP_IO && unknown; i++) {
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, body, ctx, &unknown);
    }
    return rc;
}

/* ---- Assignments ----------------------------------------------------------------------------- */

typedef struct Assignment {
    SapUniverse *universe;
    UniverseName world;
    UniverseName worker; /* empty: to none */
    uint8_t priority;
    const char *reason;
    uint8_t hint_seq[UNIVERSE_SEQ];
} Assignment;

/* Whether the worker is alive and has the world's module. */
static int check_worker(const Assignment *assignment, SapStoreTxn *txn,
                        const WitUniverseDbi21WorldMetaValue *meta)
{
    Session asking;
    UniverseName module;
    uint8_t nonce[UNIVERSE_NONCE];
    bool has_module = false;
    if (assignment->worker.len == 0) {
        return SAP_OK;
    }
    universe_asking(assignment->universe, &asking);
    universe_name_copy(&module, &meta->module);
    int rc =
        session_find(&asking, txn, &assignment->worker, &module, meta->pin, nonce, &has_module);
    return rc == SAP_OK && !has_module ? SAP_INVALID : rc;
}

static int check_assignable(const Assignment *assignment, SapStoreTxn *txn)
{
    RowKey key;
    WitUniverseDbi21WorldMetaValue meta;
    row_key_world(&key, WIT_DBI_WORLD_META, assignment->universe->number, &assignment->world);
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED ||
                 meta.status == WIT_UNIVERSE_WORLD_STATUS_DONE
             ? SAP_NOTFOUND
             : check_worker(assignment, txn, &meta);
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

static int put_assignment(const Assignment *assignment, UniverseTxn *txn, const RowKey *key)
{
    RowKey assigned;
    Buf val = {0};
    WitUniverseDbi22AssignmentValue fields = {
        lend_name(&assignment->worker), assignment->priority,
        lend_bytes(assignment->reason, strlen(assignment->reason))};
    int rc = wit_universe_dbi22_assignment_value_encode(&fields, &val, NULL);
    rc = rc == SAP_OK ? universe_put(txn, key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    row_key_assigned(&assigned, assignment->universe->number, &assignment->worker,
                     &assignment->world);
    return rc == SAP_OK ? universe_put(txn, &assigned, (Slice){"", 0}) : rc;
}

/* The rows of the assignment before, if there is one. */
static int delete_assignment(const Assignment *assignment, UniverseTxn *txn, const RowKey *key)
{
    uint32_t universe = assignment->universe->number;
    UniverseName before;
    RowKey assigned;
    int rc = assignment_get(txn->txn, universe, &assignment->world, &before);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = universe_del(txn, key);
    row_key_assigned(&assigned, universe, &before, &assignment->world);
    rc = rc == SAP_OK ? universe_del(txn, &assigned) : rc;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* The hint tells the workers: the one that runs it now gives it back, the one that is to run it comes. */
static int assign_body(SapStoreTxn *store_txn, void *ctx)
{
    const Assignment *assignment = (const Assignment *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true};
    RowKey hint;
    row_key_world(&guard.key, WIT_DBI_ASSIGNMENT, assignment->universe->number, &assignment->world);
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? check_assignable(assignment, store_txn) : rc;
    rc = rc == SAP_OK ? delete_assignment(assignment, &txn, &guard.key) : rc;
    rc = rc == SAP_OK && assignment->worker.len > 0 ? put_assignment(assignment, &txn, &guard.key)
                                                    : rc;
    row_key_ready(&hint, assignment->universe->number, assignment->priority, assignment->hint_seq,
                  &assignment->world);
    return rc == SAP_OK ? universe_put(&txn, &hint, (Slice){"", 0}) : rc;
}

static int run_assignment(Assignment *assignment, const char *world)
{
    SapUniverse *universe = assignment->universe;
    int rc = universe_name_set(&assignment->world, world);
    if (rc != SAP_OK) {
        return rc;
    }
    universe_enter(universe);
    producer_next(&universe->producer, universe->store, assignment->hint_seq);
    rc = run_known(universe, assign_body, assignment);
    if (rc == SAP_OK) {
        LOG_EVENT(universe->meters.log, LOG_LEVEL_INFO, "universe.assigned",
                  LOG_STR("world", assignment->world.text),
                  LOG_STR("worker", assignment->worker.text),
                  LOG_STR("reason", assignment->reason));
    }
    universe_leave(universe);
    return rc;
}

int sap_assign_world(SapUniverse *universe, const char *world, const char *worker, uint8_t priority,
                     const char *reason)
{
    enum { REASON_MAX = 1024 };
    Assignment assignment = {
        .universe = universe, .priority = priority, .reason = reason == NULL ? "" : reason};
    if (universe == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&assignment.worker, worker);
    if (rc != SAP_OK || !payload_text_valid(assignment.reason, REASON_MAX)) {
        return SAP_INVALID;
    }
    return run_assignment(&assignment, world);
}

int sap_unassign_world(SapUniverse *universe, const char *world)
{
    Assignment assignment = {.universe = universe, .reason = ""};
    return universe == NULL ? SAP_ERROR : run_assignment(&assignment, world);
}

/* ---- Leases by hand -------------------------------------------------------------------------- */

/* The session of a worker that is alive, to act in its place. */
static int find_session(SapUniverse *universe, const UniverseName *worker, Session *session_out)
{
    SapStoreTxn *txn = NULL;
    bool has_module = false;
    universe_asking(universe, session_out);
    session_out->worker = *worker;
    relaxed_store(&session_out->deadline_ns,
                  UINT64_MAX); /* whether it may work is not ours to say */
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK
             ? session_find(session_out, txn, worker, NULL, 0, session_out->nonce, &has_module)
             : rc;
    sap_store_abort(txn);
    return rc;
}

int sap_acquire_lease(SapUniverse *universe, const char *world, const char *worker,
                      uint64_t *epoch_out)
{
    UniverseName world_name;
    UniverseName worker_name;
    Session session;
    Lease lease;
    if (universe == NULL || epoch_out == NULL) {
        return SAP_ERROR;
    }
    if (universe_name_set(&world_name, world) != SAP_OK ||
        universe_name_set(&worker_name, worker) != SAP_OK) {
        return SAP_INVALID;
    }
    universe_enter(universe);
    int rc = find_session(universe, &worker_name, &session);
    rc = rc == SAP_OK ? lease_acquire_world(&session, &world_name, NULL, &lease) : rc;
    if (rc == SAP_OK) {
        *epoch_out = lease.epoch;
    }
    universe_leave(universe);
    return rc == SAP_FENCED ? SAP_NOTFOUND : rc; /* the session ended meanwhile */
}

/* What is said of a world without a lease: it is nobody's, or not there. */
static int no_lease_code(SapUniverse *universe, SapStoreTxn *txn, const UniverseName *world)
{
    RowKey key;
    Slice val;
    row_key_world(&key, WIT_DBI_WORLD_META, universe->number, world);
    int rc = universe_get(txn, &key, &val);
    return rc == SAP_OK ? SAP_FENCED : rc;
}

/* SAP_FENCED: the worker has another session by now, or none. */
static int check_session(const Session *session, SapStoreTxn *txn)
{
    RowKey key;
    SessionRow row;
    row_key_session(&key, session->universe, &session->worker);
    int rc = session_row_get(txn, &key, &row);
    bool same = rc == SAP_OK && memcmp(row.nonce, session->nonce, sizeof row.nonce) == 0;
    return same ? SAP_OK : rc == SAP_OK || rc == SAP_NOTFOUND ? SAP_FENCED : rc;
}

/* The lease of that worker under that epoch, to act on it. *free_out: it was given back already. */
static int find_lease(SapUniverse *universe, const char *world, const char *worker, uint64_t epoch,
                      Session *session, Lease *lease_out, bool *free_out)
{
    SapStoreTxn *txn = NULL;
    LeaseRow row;
    universe_asking(universe, session);
    *lease_out = (Lease){.session = session, .epoch = epoch};
    if (universe_name_set(&lease_out->name, world) != SAP_OK ||
        universe_name_set(&session->worker, worker) != SAP_OK) {
        return SAP_INVALID;
    }
    row_key_world(&lease_out->key, WIT_DBI_LEASE, universe->number, &lease_out->name);
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? lease_row_get(txn, &lease_out->key, &row) : rc;
    if (rc == SAP_OK) {
        *free_out = row.holder.len == 0 && row.epoch == epoch;
        lease_out->unclean = row.unclean;
        memcpy(session->nonce, row.nonce, sizeof session->nonce);
        bool right = row.epoch == epoch && universe_name_equal(&row.holder, &session->worker);
        rc = right ? check_session(session, txn) : *free_out ? SAP_OK : SAP_FENCED;
    } else if (rc == SAP_NOTFOUND) {
        rc = no_lease_code(universe, txn, &lease_out->name);
    }
    sap_store_abort(txn);
    return rc;
}

int sap_renew_lease(SapUniverse *universe, const char *world, const char *worker, uint64_t epoch)
{
    Session session;
    Lease lease;
    bool is_free = false;
    if (universe == NULL) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    int rc = find_lease(universe, world, worker, epoch, &session, &lease, &is_free);
    rc = rc == SAP_OK && is_free ? SAP_FENCED : rc;
    rc = rc == SAP_OK ? session_renew(&session) : rc;
    universe_leave(universe);
    return rc;
}

int sap_release_lease(SapUniverse *universe, const char *world, const char *worker, uint64_t epoch)
{
    Session session;
    Lease lease;
    bool is_free = false;
    if (universe == NULL) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    int rc = find_lease(universe, world, worker, epoch, &session, &lease, &is_free);
    rc = rc == SAP_OK && !is_free ? lease_release(&lease, NULL) : rc;
    universe_leave(universe);
    return rc;
}

/* ---- What a worker holds --------------------------------------------------------------------- */

typedef int (*NameVisitor)(void *ctx, const char *name);

static int show_held(SapUniverse *universe, RowKey *from, const RowKey *to, NameVisitor visitor,
                     void *ctx, uint32_t *count_out)
{
    enum { ROWS_AT_ONCE = 256 };
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = {from->table, from->bytes, from->len, to->bytes, to->len};
    int rc = sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, ROWS_AT_ONCE, &rows, count_out) : rc;
    for (uint32_t i = 0; rc == SAP_OK && i < *count_out; i++) {
        WitUniverseDbi18HeldKey key;
        UniverseName name;
        rc = row_decode_code(
            wit_universe_dbi18_held_key_decode(rows[i].key, rows[i].key_len, &key, NULL));
        if (rc == SAP_OK) {
            universe_name_copy(&name, &key.world);
            wit_universe_dbi18_held_key_free(&key);
            rc = visitor(ctx, name.text);
        }
    }
    if (rc == SAP_OK && *count_out > 0) {
        row_key_after(from, &rows[*count_out - 1]);
    }
    sap_store_abort(txn);
    return rc;
}

int sap_list_worker_worlds(SapUniverse *universe, const char *worker, NameVisitor world, void *ctx)
{
    UniverseName name;
    Session session;
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint32_t count = 1;
    if (universe == NULL || world == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, worker);
    if (rc != SAP_OK) {
        return rc;
    }
    universe_enter(universe);
    rc = find_session(universe, &name, &session);
    if (rc == SAP_OK) {
        row_key_held_all(&from, universe->number, session.nonce);
        row_range(&from, &to, &range);
    }
    while (rc == SAP_OK && count > 0) {
        rc = show_held(universe, &from, &to, world, ctx, &count);
    }
    universe_leave(universe);
    return rc;
}
