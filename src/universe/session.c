/* session.c - see session.h. */
#include "universe/session.h"

#include <string.h>

#include "common/assert.h"

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
    if (rc == SAP_OK) {
        *session = made;
    }
    return rc;
}

/* What one run of the transaction works on. */
typedef struct Renewal {
    const Session *session;
    bool first; /* replaces whatever is there */
} Renewal;

static int renew_body(SapStoreTxn *store_txn, void *ctx)
{
    const Renewal *renewal = (const Renewal *)ctx;
    const Session *session = renewal->session;
    UniverseTxn txn;
    RowKey key;
    SessionRow row;
    row_key_session(&key, session->universe, &session->worker);
    int rc = universe_txn_start(&txn, store_txn, PARTY_SESSION, &key, 1);
    if (rc == SAP_OK && !renewal->first) {
        rc = session_row_get(store_txn, &key, &row);
        bool mine = rc == SAP_OK && memcmp(row.nonce, session->nonce, sizeof row.nonce) == 0;
        if (rc == SAP_NOTFOUND || (rc == SAP_OK && !mine)) {
            rc = SAP_FENCED;
        }
    }
    rc = rc == SAP_OK ? sap_store_put_time(store_txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(row.nonce, session->nonce, sizeof row.nonce);
    row.expires_ns = sap_store_lease_ns(session->store) + session->ttl_ns;
    return session_row_put(&txn, &key, &row);
}

static int write_session(Session *session, bool first)
{
    Renewal renewal = {session, first};
    uint64_t before_ns = clock_boot_ns(session->clock);
    SAP_ASSERT(session->margin_ns < session->ttl_ns);
    int rc = sap_store_run(session->store, SAP_STORE_GUARDED, renew_body, &renewal, NULL);
    if (rc == SAP_OK) {
        session->deadline_ns = before_ns + session->ttl_ns - session->margin_ns;
        session->renew_at_ns = before_ns + session->renewal_ns;
    } else if (rc == SAP_FENCED) {
        session->deadline_ns = 0;
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

bool session_may_work(const Session *session)
{
    return clock_boot_ns(session->clock) < session->deadline_ns;
}

int session_is_alive(const Session *asking, SapStoreTxn *txn, const UniverseName *worker,
                     const uint8_t nonce[UNIVERSE_NONCE], bool *alive_out)
{
    RowKey key;
    SessionRow row;
    row_key_session(&key, asking->universe, worker);
    int rc = session_row_get(txn, &key, &row);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    *alive_out = rc == SAP_OK && memcmp(row.nonce, nonce, UNIVERSE_NONCE) == 0 &&
                 sap_store_lease_ns(asking->store) < row.expires_ns + asking->renewal_ns;
    return SAP_OK;
}
