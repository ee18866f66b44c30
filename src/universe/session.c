/* session.c - see session.h. */
#include "universe/session.h"

#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "universe/modules.h"

int session_init(Session *session, SapStore *store, const Clock *clock, const Random *random,
                 uint32_t universe, const char *worker)
{
    Session made = {
        .store = store,
        .clock = clock,
        .universe = universe,
        .ttl_ns = SESSION_TTL_NS,
        .renewal_ns = SESSION_RENEWAL_NS,
        .margin_ns = SESSION_MARGIN_NS,
    };
    int rc = universe_name_set(&made.worker, worker);
    rc = rc == SAP_OK ? random_fill(random, made.nonce, sizeof made.nonce) : rc;
    rc = rc == SAP_OK ? module_refs(&made.modules.items, &made.modules.count) : rc;
    if (rc == SAP_OK) {
        *session = made;
    }
    return rc;
}

void session_release(Session *session)
{
    mem_free(MEM_UNIVERSE, session->modules.items,
             session->modules.count * sizeof *session->modules.items);
    session->modules = (WitUniverseListModuleRef){0};
}

/* What one run of the transaction works on. */
typedef struct Renewal {
    const Session *session;
    bool first; /* replaces whatever is there */
} Renewal;

/* SAP_FENCED: the row is another session's by now. On SAP_OK the caller owns *row_out. */
static int check_own_row(const Session *session, SapStoreTxn *txn, const RowKey *key,
                         WitUniverseDbi17SessionsValue *row_out)
{
    Slice val = {0};
    int rc = universe_get(txn, key, &val);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_FENCED : rc;
    }
    rc = wit_universe_dbi17_sessions_value_decode(val.data, val.len, row_out, NULL);
    if (rc == SAP_INVALID) {
        return SAP_FENCED; /* damaged: nobody takes it for alive */
    }
    if (rc == SAP_OK && memcmp(row_out->nonce.data, session->nonce, UNIVERSE_NONCE) != 0) {
        wit_universe_dbi17_sessions_value_free(row_out);
        return SAP_FENCED;
    }
    return rc;
}

static int renew_body(SapStoreTxn *store_txn, void *ctx)
{
    const Renewal *renewal = (const Renewal *)ctx;
    const Session *session = renewal->session;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true};
    WitUniverseDbi17SessionsValue old = {0};
    SessionRow row;
    row_key_session(&guard.key, session->universe, &session->worker);
    int rc = universe_txn_start(&txn, store_txn, PARTY_SESSION, &guard, 1, NULL, 0);
    rc = rc == SAP_OK && !renewal->first ? check_own_row(session, store_txn, &guard.key, &old) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_store_put_time(store_txn);
    memcpy(row.nonce, session->nonce, sizeof row.nonce);
    row.expires_ns = sap_store_lease_ns(session->store) + session->ttl_ns;
    rc = rc == SAP_OK ? session_row_put(&txn, &guard.key, &row,
                                        renewal->first ? &session->modules : &old.modules)
                      : rc;
    wit_universe_dbi17_sessions_value_free(&old);
    return rc;
}

static int write_session(Session *session, bool first)
{
    Renewal renewal = {session, first};
    uint64_t before_ns = clock_boot_ns(session->clock);
    SAP_ASSERT(session->margin_ns < session->ttl_ns);
    int rc = sap_store_run(session->store, SAP_STORE_GUARDED, renew_body, &renewal, NULL);
    if (rc == SAP_OK) {
        relaxed_store(&session->deadline_ns, before_ns + session->ttl_ns - session->margin_ns);
        relaxed_store(&session->renew_at_ns, before_ns + session->renewal_ns);
    } else if (rc == SAP_FENCED) {
        relaxed_store(&session->deadline_ns, 0);
    }
    return rc;
}

int session_start(Session *session)
{
    return write_session(session, true);
}

int session_renew(Session *session)
{
    return write_session(session, false);
}

typedef struct ModuleListing {
    const Session *session;
    const WitUniverseListModuleRef *modules;
} ModuleListing;

static int set_modules_body(SapStoreTxn *store_txn, void *ctx)
{
    const ModuleListing *listing = (const ModuleListing *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true};
    WitUniverseDbi17SessionsValue old = {0};
    SessionRow row;
    row_key_session(&guard.key, listing->session->universe, &listing->session->worker);
    int rc = universe_txn_start(&txn, store_txn, PARTY_SESSION, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? check_own_row(listing->session, store_txn, &guard.key, &old) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(row.nonce, listing->session->nonce, sizeof row.nonce);
    row.expires_ns = old.expires_ns;
    rc = session_row_put(&txn, &guard.key, &row, listing->modules);
    wit_universe_dbi17_sessions_value_free(&old);
    return rc;
}

int session_set_modules(Session *session, const WitUniverseListModuleRef *modules)
{
    ModuleListing listing = {session, modules};
    return sap_store_run(session->store, SAP_STORE_GUARDED, set_modules_body, &listing, NULL);
}

bool session_may_work(const Session *session)
{
    return clock_boot_ns(session->clock) < relaxed_load(&session->deadline_ns);
}

bool session_has_time(const Session *asking, uint64_t expires_ns)
{
    return sap_store_lease_ns(asking->store) < expires_ns + asking->renewal_ns;
}

int session_is_alive(const Session *asking, SapStoreTxn *txn, const UniverseName *worker,
                     const uint8_t nonce[UNIVERSE_NONCE], bool *alive_out)
{
    RowKey key;
    SessionRow row;
    row_key_session(&key, asking->universe, worker);
    int rc = session_row_get(txn, &key, &row);
    if (rc != SAP_OK && rc != SAP_NOTFOUND && rc != SAP_CORRUPT) {
        return rc;
    }
    *alive_out = rc == SAP_OK && memcmp(row.nonce, nonce, UNIVERSE_NONCE) == 0 &&
                 session_has_time(asking, row.expires_ns);
    return SAP_OK;
}

/* Whether one of the modules has the name, and the version if that is not 0. */
static bool has_module(const WitUniverseListModuleRef *modules, const UniverseName *name,
                       uint64_t version)
{
    for (uint32_t i = 0; i < modules->count; i++) {
        const CodecBytes *other = &modules->items[i].name;
        if (other->len == name->len && memcmp(other->data, name->text, name->len) == 0 &&
            (version == 0 || version == modules->items[i].version)) {
            return true;
        }
    }
    return false;
}

int session_find(const Session *asking, SapStoreTxn *txn, const UniverseName *worker,
                 const UniverseName *module, uint64_t version, uint8_t nonce_out[UNIVERSE_NONCE],
                 bool *has_module_out)
{
    RowKey key;
    Slice val = {0};
    WitUniverseDbi17SessionsValue row;
    row_key_session(&key, asking->universe, worker);
    int rc = universe_get(txn, &key, &val);
    rc =
        rc == SAP_OK ? wit_universe_dbi17_sessions_value_decode(val.data, val.len, &row, NULL) : rc;
    if (rc != SAP_OK) {
        return rc == SAP_INVALID ? SAP_NOTFOUND : rc;
    }
    bool alive = session_has_time(asking, row.expires_ns);
    memcpy(nonce_out, row.nonce.data, UNIVERSE_NONCE);
    *has_module_out = module != NULL && has_module(&row.modules, module, version);
    wit_universe_dbi17_sessions_value_free(&row);
    return alive ? SAP_OK : SAP_NOTFOUND;
}

/* Whether one of the rows is that of a worker that is alive and has the module. */
static int any_row_has(const Session *asking, const SapStoreRow *rows, uint32_t count,
                       const UniverseName *module, uint64_t version, bool *has_out)
{
    for (uint32_t i = 0; i < count && !*has_out; i++) {
        WitUniverseDbi17SessionsValue row;
        int rc = wit_universe_dbi17_sessions_value_decode(rows[i].val, rows[i].val_len, &row, NULL);
        if (rc == SAP_INVALID) { /* damaged: nobody takes it for alive */
            continue;
        }
        if (rc != SAP_OK) {
            return rc;
        }
        *has_out =
            session_has_time(asking, row.expires_ns) && has_module(&row.modules, module, version);
        wit_universe_dbi17_sessions_value_free(&row);
    }
    return SAP_OK;
}

int session_any_has(const Session *asking, SapStoreTxn *txn, const UniverseName *module,
                    uint64_t version, bool *has_out)
{
    enum { SESSIONS_AT_ONCE = 64 };
    RowKey from;
    RowKey to;
    SapStoreRange range;
    uint32_t count = SESSIONS_AT_ONCE;
    int rc = SAP_OK;
    *has_out = false;
    row_key_universe(&from, WIT_DBI_SESSIONS, asking->universe);
    row_range(&from, &to, &range);
    while (rc == SAP_OK && !*has_out && count == SESSIONS_AT_ONCE) {
        const SapStoreRow *rows = NULL;
        rc = sap_store_scan(txn, &range, false, SESSIONS_AT_ONCE, &rows, &count);
        rc = rc == SAP_OK ? any_row_has(asking, rows, count, module, version, has_out) : rc;
        if (rc == SAP_OK && count > 0) {
            row_key_after(&from, &rows[count - 1]);
            range.from = from.bytes;
            range.from_len = from.len;
        }
    }
    return rc;
}

/* ---- Ending ---------------------------------------------------------------------------------- */

typedef struct SessionEnd {
    uint32_t universe;
    UniverseName worker;
    const uint8_t *nonce; /* NULL: whatever it is */
} SessionEnd;

static int end_body(SapStoreTxn *store_txn, void *ctx)
{
    const SessionEnd *end = (const SessionEnd *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {.exclusive = true};
    SessionRow row;
    row_key_session(&guard.key, end->universe, &end->worker);
    int rc = universe_txn_start(&txn, store_txn, PARTY_SESSION, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? session_row_get(store_txn, &guard.key, &row) : rc;
    bool other =
        rc == SAP_OK && end->nonce != NULL && memcmp(row.nonce, end->nonce, sizeof row.nonce) != 0;
    if (rc == SAP_NOTFOUND || other) {
        return SAP_OK;
    }
    bool damaged = rc == SAP_CORRUPT && end->nonce == NULL;
    return rc == SAP_OK || damaged ? universe_del(&txn, &guard.key) : rc;
}

int session_end(Session *session)
{
    SessionEnd end = {session->universe, session->worker, session->nonce};
    relaxed_store(&session->deadline_ns, 0);
    return sap_store_run(session->store, SAP_STORE_GUARDED, end_body, &end, NULL);
}

/* The first session in the store. SAP_NOTFOUND: there is none. */
static int first_session(SapStore *store, uint32_t universe, UniverseName *worker_out)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    SapStoreTxn *txn = NULL;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    WitUniverseDbi17SessionsKey key;
    row_key_universe(&from, WIT_DBI_SESSIONS, universe);
    row_range(&from, &to, &range);
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &range, false, 1, &rows, &count) : rc;
    rc = rc == SAP_OK && count == 0 ? SAP_NOTFOUND : rc;
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi17_sessions_key_decode(
                            rows[0].key, rows[0].key_len, &key, NULL))
                      : rc;
    if (rc == SAP_OK) {
        universe_name_copy(worker_out, &key.worker);
        wit_universe_dbi17_sessions_key_free(&key);
    }
    sap_store_abort(txn);
    return rc;
}

int session_void_all(SapStore *store, uint32_t universe)
{
    SessionEnd end = {.universe = universe};
    int rc = first_session(store, universe, &end.worker);
    while (rc == SAP_OK) {
        rc = sap_store_run(store, SAP_STORE_GUARDED, end_body, &end, NULL);
        rc = rc == SAP_OK ? first_session(store, universe, &end.worker) : rc;
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
