/* session.h - a worker's session: the one row that says that the worker is alive.
 *
 * A session has a nonce, drawn when the worker starts: a worker that starts again under the same name
 * has another session, and holds nothing of the one before. Its row is renewed every renewal_ns and
 * expires ttl_ns after the last renewal, by lease time.
 *
 * The worker itself stops margin_ns before that by its own boot clock, counted from before the renewal
 * was sent: so it has stopped before anybody can see its session expired, whatever the store answers.
 * Lease times of two machines may differ by one renewal, so others wait one renewal longer. Neither is
 * what makes writes safe: that is the epoch (lease.h). */
#ifndef SAPLING_UNIVERSE_SESSION_H
#define SAPLING_UNIVERSE_SESSION_H

#include "common/clock.h"
#include "common/random.h"
#include "common/relaxed.h"
#include "universe/rows.h"

#define SESSION_TTL_NS     UINT64_C(20000000000)
#define SESSION_RENEWAL_NS UINT64_C(5000000000)
#define SESSION_MARGIN_NS  UINT64_C(5000000000)

typedef struct Session {
    SapStore *store;
    const Clock *clock;
    uint32_t universe;
    UniverseName worker;
    uint8_t nonce[UNIVERSE_NONCE];
    uint64_t ttl_ns;
    uint64_t renewal_ns;
    uint64_t margin_ns;
    WitUniverseListModuleRef modules; /* what the worker can run; owned */
    /* Boot times. One thread renews while another works. */
    RelaxedU64 deadline_ns; /* from which on it does nothing; 0: it has not started, or is over */
    RelaxedU64 renew_at_ns;
} Session;

/* Store and clock (NULL: the system's) are borrowed as long as the session is used. Zero durations are
 * the defaults above. The modules that are registered now are what its row lists. SAP_INVALID: the name
 * is invalid. SAP_IO: no randomness. SAP_NOMEM. The caller owns *session: session_release(). */
int session_init(Session *session, SapStore *store, const Clock *clock, const Random *random,
                 uint32_t universe, const char *worker);
/* Frees what it holds in memory. All zero bytes are accepted. */
void session_release(Session *session);

/* Writes the session's row, in place of one that the worker had before. An unknown outcome is SAP_IO:
 * call it again. */
int session_start(Session *session);

/* SAP_FENCED: the worker has another session by now, this one is over. Any other code: call it again,
 * also when its outcome is unknown. */
int session_renew(Session *session);

/* What its row lists as what the worker can run, from now on; its expiry stays. SAP_FENCED as above; any
 * other code: call it again. */
int session_set_modules(Session *session, const WitUniverseListModuleRef *modules);

/* The worker has ended and holds nothing: its row goes. SAP_OK also if it is another session's by now. */
int session_end(Session *session);

/* Deletes the rows of all sessions: for a store that nobody else can have open. */
int session_void_all(SapStore *store, uint32_t universe);

/* Whether it may begin something now. */
bool session_may_work(const Session *session);

/* The nonce of the worker's session if it is alive, and, with a name of a module, whether it has that
 * module (version 0: any). SAP_NOTFOUND: no such worker is alive. A session whose row is damaged is not:
 * it cannot be renewed. */
int session_find(const Session *asking, SapStoreTxn *txn, const UniverseName *worker,
                 const UniverseName *module, uint64_t version, uint8_t nonce_out[UNIVERSE_NONCE],
                 bool *has_module_out);
/* Whether any worker that is alive has the module, in that version if it is not 0. */
int session_any_has(const Session *asking, SapStoreTxn *txn, const UniverseName *module,
                    uint64_t version, bool *has_out);

/* Whether a session that expires then is alive, with the renewal that others wait in addition. */
bool session_has_time(const Session *asking, uint64_t expires_ns);

/* Whether the worker's row has this nonce and has not expired, with the renewal that others wait in
 * addition. Reads without a lock: who takes over rewrites the lease. */
int session_is_alive(const Session *asking, SapStoreTxn *txn, const UniverseName *worker,
                     const uint8_t nonce[UNIVERSE_NONCE], bool *alive_out);

#endif
