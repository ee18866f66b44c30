/* lists_workers.c - lists of leases, workers and assignments: see lists.h. */
#include <string.h>

#include "common/mem.h"
#include "universe/lists.h"
#include "universe/session.h"

/* The session of a worker, as others see it. */
static int read_session(const Listing *listing, SapStoreTxn *txn, const UniverseName *worker,
                        SessionRow *row_out)
{
    RowKey key;
    row_key_session(&key, listing->universe->number, worker);
    return session_row_get(txn, &key, row_out);
}

/* ---- Leases ---------------------------------------------------------------------------------- */

typedef int (*LeaseVisitor)(void *ctx, const SapLeaseInfo *lease);

static int show_lease(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row, bool *shown_out)
{
    const LeaseVisitor *each = (const LeaseVisitor *)listing->each;
    WitUniverseDbi16LeaseKey key;
    LeaseRow lease;
    Session asking;
    SessionRow session;
    ListText world;
    RowKey at = {.table = WIT_DBI_LEASE, .len = row->key_len};
    memcpy(at.bytes, row->key, row->key_len);
    int rc = lease_row_get(txn, &at, &lease);
    rc = rc == SAP_OK ? row_decode_code(
                            wit_universe_dbi16_lease_key_decode(row->key, row->key_len, &key, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    SapLeaseInfo info = {.world = list_text(&world, &key.world),
                         .holder = lease.holder.text,
                         .epoch = lease.epoch,
                         .unclean = lease.unclean};
    wit_universe_dbi16_lease_key_free(&key);
    if (lease.holder.len == 0) {
        return SAP_OK;
    }
    universe_asking(listing->universe, &asking);
    rc = read_session(listing, txn, &lease.holder, &session);
    if (rc == SAP_OK && memcmp(session.nonce, lease.nonce, sizeof session.nonce) == 0) {
        info.left_ns = list_left(sap_store_lease_ns(asking.store), session.expires_ns);
        info.alive = session_has_time(&asking, session.expires_ns);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND && rc != SAP_CORRUPT) {
        return rc;
    }
    *shown_out = true;
    return (*each)(listing->ctx, &info);
}

int sap_leases_list(SapUniverse *universe, const SapListQuery *query, LeaseVisitor each, void *ctx,
                    SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc = listing_begin(&listing, universe, query, LIST_PREFIX, end_out);
    listing.each = &each;
    listing.ctx = ctx;
    rc = rc == SAP_OK ? list_prefix(&listing, WIT_DBI_LEASE, &prefix) : rc;
    rc = rc == SAP_OK ? listing_walk(&listing, &prefix, 0, show_lease) : rc;
    return listing_end(&listing, rc);
}

/* ---- Workers --------------------------------------------------------------------------------- */

typedef int (*WorkerVisitor)(void *ctx, const SapWorkerInfo *worker);

enum { KINDS_SHOWN = 256, SCANNED = 256 };

/* What is shown of one worker. */
typedef struct WorkerView {
    const Listing *listing;
    SapStoreTxn *txn;
    const UniverseName *name;
    const uint8_t *nonce;
    Buf modules; /* SapModuleRef */
    Buf names;   /* of kinds, with a NUL each */
    const char *kinds[KINDS_SHOWN];
    SapWorkerInfo info;
} WorkerView;

static int view_modules(WorkerView *view, const WitUniverseListModuleRef *modules)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < modules->count; i++) {
        const WitUniverseModuleRef *from = &modules->items[i];
        SapModuleRef ref = {.version = from->version};
        if (from->name.len > 0) {
            memcpy(ref.name, from->name.data, from->name.len);
        }
        rc = buf_append(&view->modules, &ref, sizeof ref);
    }
    view->info.module_count = (uint32_t)(view->modules.len / sizeof(SapModuleRef));
    view->info.modules = (const SapModuleRef *)(void *)view->modules.data;
    return rc;
}

/* The name of the kind, if the row is of this worker's session. */
static int view_kind(WorkerView *view, const SapStoreRow *row)
{
    WitUniverseDbi45KindsKey key;
    WitUniverseDbi45KindsValue val;
    int rc =
        row_decode_code(wit_universe_dbi45_kinds_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = row_decode_code(wit_universe_dbi45_kinds_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        bool own = key.node.len == view->name->len &&
                   memcmp(key.node.data, view->name->text, view->name->len) == 0 &&
                   memcmp(val.nonce.data, view->nonce, UNIVERSE_NONCE) == 0;
        if (own && view->info.kind_count < KINDS_SHOWN) {
            rc = buf_append(&view->names, key.kind.data, key.kind.len);
            rc = rc == SAP_OK ? buf_append_u8(&view->names, 0) : rc;
            view->info.kind_count += rc == SAP_OK;
        }
        wit_universe_dbi45_kinds_value_free(&val);
    }
    wit_universe_dbi45_kinds_key_free(&key);
    return rc;
}

static int view_kinds(WorkerView *view)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = SCANNED;
    int rc = SAP_OK;
    row_key_universe(&from, WIT_DBI_KINDS, view->listing->universe->number);
    row_range(&from, &to, &range);
    for (uint32_t looked = 0; rc == SAP_OK && count == SCANNED && looked < SAP_COUNT_MOST;
         looked += count) {
        range.from = from.bytes;
        range.from_len = from.len;
        rc = sap_store_scan(view->txn, &range, false, SCANNED, &rows, &count);
        for (uint32_t i = 0; rc == SAP_OK && i < count; i++) {
            rc = view_kind(view, &rows[i]);
            row_key_after(&from, &rows[i]);
        }
    }
    const char *at = (const char *)view->names.data;
    for (uint32_t i = 0; i < view->info.kind_count; i++) {
        view->kinds[i] = at;
        at += strlen(at) + 1;
    }
    view->info.kinds = view->kinds;
    return rc;
}

static int view_held(WorkerView *view)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t count = SCANNED;
    uint32_t held = 0;
    int rc = SAP_OK;
    row_key_held_all(&from, view->listing->universe->number, view->nonce);
    row_range(&from, &to, &range);
    while (rc == SAP_OK && count == SCANNED && held <= SAP_COUNT_MOST) {
        range.from = from.bytes;
        range.from_len = from.len;
        rc = sap_store_scan(view->txn, &range, false, SCANNED, &rows, &count);
        held += rc == SAP_OK ? count : 0;
        if (rc == SAP_OK && count > 0) {
            row_key_after(&from, &rows[count - 1]);
        }
    }
    view->info.worlds_capped = held > SAP_COUNT_MOST;
    view->info.worlds = view->info.worlds_capped ? SAP_COUNT_MOST : held;
    return rc;
}

static int show_view(WorkerView *view, const WitUniverseDbi17SessionsValue *session)
{
    const WorkerVisitor *each = (const WorkerVisitor *)view->listing->each;
    Session asking;
    universe_asking(view->listing->universe, &asking);
    view->info.name = view->name->text;
    view->info.left_ns = list_left(sap_store_lease_ns(asking.store), session->expires_ns);
    view->info.alive = session_has_time(&asking, session->expires_ns);
    int rc = view_modules(view, &session->modules);
    rc = rc == SAP_OK ? view_kinds(view) : rc;
    rc = rc == SAP_OK ? view_held(view) : rc;
    rc = rc == SAP_OK ? (*each)(view->listing->ctx, &view->info) : rc;
    buf_release(&view->modules);
    buf_release(&view->names);
    return rc;
}

static int show_worker(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row, bool *shown_out)
{
    WitUniverseDbi17SessionsKey key;
    WitUniverseDbi17SessionsValue val;
    UniverseName name;
    int rc =
        row_decode_code(wit_universe_dbi17_sessions_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(&name, &key.worker);
    wit_universe_dbi17_sessions_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi17_sessions_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        WorkerView view = {.listing = listing, .txn = txn, .name = &name, .nonce = val.nonce.data};
        *shown_out = true;
        rc = show_view(&view, &val);
        wit_universe_dbi17_sessions_value_free(&val);
    }
    return rc == SAP_CORRUPT ? SAP_OK : rc; /* nobody takes a damaged session for alive */
}

int sap_workers_list(SapUniverse *universe, const SapListQuery *query, WorkerVisitor each,
                     void *ctx, SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc = listing_begin(&listing, universe, query, LIST_PREFIX, end_out);
    listing.each = &each;
    listing.ctx = ctx;
    rc = rc == SAP_OK ? list_prefix(&listing, WIT_DBI_SESSIONS, &prefix) : rc;
    rc = rc == SAP_OK ? listing_walk(&listing, &prefix, 0, show_worker) : rc;
    return listing_end(&listing, rc);
}

/* ---- Assignments ----------------------------------------------------------------------------- */

typedef int (*AssignmentVisitor)(void *ctx, const SapAssignmentInfo *assignment);

static int show_assignment(Listing *listing, SapStoreTxn *txn, const SapStoreRow *row,
                           bool *shown_out)
{
    const AssignmentVisitor *each = (const AssignmentVisitor *)listing->each;
    WitUniverseDbi22AssignmentKey key;
    WitUniverseDbi22AssignmentValue val;
    ListText rooms[3];
    SapAssignmentInfo info = {.priority = 0};
    (void)txn;
    int rc = row_decode_code(
        wit_universe_dbi22_assignment_key_decode(row->key, row->key_len, &key, NULL));
    if (rc != SAP_OK) {
        return rc;
    }
    info.world = list_text(&rooms[0], &key.world);
    wit_universe_dbi22_assignment_key_free(&key);
    rc = row_decode_code(
        wit_universe_dbi22_assignment_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        info.worker = list_text(&rooms[1], &val.worker);
        info.reason = list_text(&rooms[2], &val.reason);
        info.priority = val.priority;
        wit_universe_dbi22_assignment_value_free(&val);
        *shown_out = true;
        rc = (*each)(listing->ctx, &info);
    }
    return rc;
}

int sap_assignments_list(SapUniverse *universe, const SapListQuery *query, AssignmentVisitor each,
                         void *ctx, SapListEnd *end_out)
{
    Listing listing;
    RowKey prefix;
    if (each == NULL) {
        return SAP_ERROR;
    }
    int rc = listing_begin(&listing, universe, query, LIST_PREFIX, end_out);
    listing.each = &each;
    listing.ctx = ctx;
    rc = rc == SAP_OK ? list_prefix(&listing, WIT_DBI_ASSIGNMENT, &prefix) : rc;
    rc = rc == SAP_OK ? listing_walk(&listing, &prefix, 0, show_assignment) : rc;
    return listing_end(&listing, rc);
}
