/* host.c - see host.h.
 *
 *   the keeper   starts the threads of the roles, renews the session until `round_ends`, joins them,
 *                and closes the worker or sets it aside; then another round, or the end
 *   a role       steps until `round_ends`; a code that it cannot go on after ends the round
 *
 * The worker is changed by the keeper, while no thread of a role is there. */
#include "node/host.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/assert.h"
#include "common/sync.h"
#include "node/handler_pool.h"
#include "universe/universe_impl.h"

enum { ROLES = 5 };

#define MS_NS       UINT64_C(1000000)
#define RENEW_NS    (1000 * MS_NS)
#define LOOK_NS     (500 * MS_NS) /* between steps of a role; commits and what is due end it earlier */
#define PAUSE_NS    (100 * MS_NS)  /* after a code that says to try again */
#define CLOSE_NS    (5 * MS_NS)    /* between attempts to close a worker whose handlers run */
#define REOPEN_NS   (1000 * MS_NS) /* between attempts to open one */
#define RENEWALS_OF 16 /* looks at the clock in the life of a session, where tests set that */

/* A worker whose session is over and whose handlers have not all returned. */
typedef struct Leaving {
    SapWorker *worker;
    struct Leaving *next;
} Leaving;

typedef struct RoleThread {
    struct Host *host;
    SapRole role;
    pthread_t thread;
} RoleThread;

struct Host {
    SapUniverse *universe;
    HostOptions options;
    uint64_t renew_ns;
    HandlerPool *pool; /* NULL: handlers run in the thread that steps */
    SapWorker *worker; /* the keeper's to change; NULL: it could not be opened again yet */
    RoleThread roles[ROLES];
    int role_count;
    Leaving *leaving; /* the keeper's, then host_stop()'s */
    pthread_t keeper;
    SAP_ATOMIC(bool) stopping;   /* host_stop() */
    SAP_ATOMIC(bool) round_ends; /* threads of roles end */
    SAP_ATOMIC(int) round_code;  /* why; SAP_OK: the host stops */
    SAP_ATOMIC(int) code;
    Mutex lock;   /* of what follows */
    Cond changed; /* stopping or round_ends */
    HostStats stats;
    SapWorkerStats before; /* of workers that are gone */
    bool kept;             /* the keeper has been started and not joined */
};

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void end_round(Host *host, int code)
{
    int none = SAP_OK;
    (void)atomic_cas_full(&host->round_code, &none, code);
    mutex_lock(&host->lock);
    atomic_store_full(&host->round_ends, true);
    cond_broadcast(&host->changed);
    mutex_unlock(&host->lock);
    universe_poke_all(host->universe);
}

/* Sleeps, but not beyond the end of the round. */
static void pause_round(Host *host, uint64_t ns)
{
    mutex_lock(&host->lock);
    if (!atomic_load_full(&host->round_ends)) {
        cond_wait_ns(&host->changed, &host->lock, ns);
    }
    mutex_unlock(&host->lock);
}

/* Whether the thread may call again after this code. */
static bool goes_on(Host *host, int rc)
{
    bool again = rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT || rc == SAP_NOMEM ||
                 rc == SAP_FULL || (rc == SAP_IO && !host->options.io_is_final);
    if (!again) {
        end_round(host, rc);
    }
    return !atomic_load_full(&host->round_ends);
}

/* A worker's stats are those of the thread that steps it. */
static void note_stats(Host *host)
{
    SapWorkerStats now = {0};
    (void)sap_worker_stats(host->worker, &now);
    mutex_lock(&host->lock);
    SapWorkerStats sum = host->before;
    sum.cycles += now.cycles;
    sum.steps += now.steps;
    sum.rejected += now.rejected;
    sum.failures += now.failures;
    sum.acquired += now.acquired;
    sum.restored += now.restored;
    sum.released += now.released;
    sum.fenced += now.fenced;
    sum.unknown += now.unknown;
    sum.paused += now.paused;
    sum.stuck += now.stuck;
    sum.held = now.held;
    host->stats.worker = sum;
    mutex_unlock(&host->lock);
}

static void *run_role(void *arg)
{
    const RoleThread *self = (const RoleThread *)arg;
    Host *host = self->host;
    bool worlds = self->role == SAP_ROLE_WORLDS;
    bool waits = worlds || self->role == SAP_ROLE_TIMERS || self->role == SAP_ROLE_EFFECTS;
    int rc = SAP_OK;
    while (goes_on(host, rc)) {
        bool busy = false;
        rc = sap_worker_step_role(host->worker, self->role, &busy);
        if (worlds) {
            note_stats(host);
        }
        if (rc != SAP_OK) {
            pause_round(host, PAUSE_NS);
        } else if (!busy && waits) {
            rc = sap_worker_wait_role(host->worker, self->role, LOOK_NS);
        } else if (!busy) {
            pause_round(host, LOOK_NS);
        }
    }
    return NULL;
}

static int start_roles(Host *host)
{
    static const SapRole all[ROLES] = {SAP_ROLE_WORLDS, SAP_ROLE_ORCHESTRATOR, SAP_ROLE_REAPER,
                                       SAP_ROLE_TIMERS, SAP_ROLE_EFFECTS};
    for (int i = 0; i < ROLES; i++) {
        RoleThread *role = &host->roles[host->role_count];
        if ((host->options.roles & HOST_ROLE(all[i])) == 0) {
            continue;
        }
        *role = (RoleThread){.host = host, .role = all[i]};
        if (pthread_create(&role->thread, NULL, run_role, role) != 0) {
            return SAP_NOMEM;
        }
        host->role_count++;
    }
    return SAP_OK;
}

static void join_roles(Host *host)
{
    while (host->role_count > 0) {
        pthread_join(host->roles[--host->role_count].thread, NULL);
    }
}

/* ---- The worker ------------------------------------------------------------------------------ */

static int open_worker(Host *host)
{
    SapWorkerOptions options = host->options.worker;
    SapWorker *worker = NULL;
    options.size = sizeof options;
    int rc = sap_worker_open(host->universe, &options, &worker);
    if (rc != SAP_OK) {
        return rc;
    }
    if (host->pool != NULL) {
        Executor executor = handler_pool_executor(host->pool);
        worker_set_executor(worker, &executor);
    }
    rc = host->options.prepare != NULL ? host->options.prepare(worker, host->options.prepare_ctx)
                                       : SAP_OK;
    if (rc != SAP_OK) {
        (void)sap_worker_close(worker); /* no handler has run */
        return rc;
    }
    host->worker = worker;
    return SAP_OK;
}

/* Closes workers that were set aside, as far as their handlers have returned. */
static int close_leaving(Host *host)
{
    Leaving **at = &host->leaving;
    int first = SAP_OK;
    while (*at != NULL) {
        Leaving *leaving = *at;
        int rc = sap_worker_close(leaving->worker);
        first = first == SAP_OK ? rc : first;
        if (rc == SAP_BUSY) {
            at = &leaving->next;
        } else {
            *at = leaving->next;
            free(leaving);
        }
    }
    return first;
}

/* Takes the worker out of use: closed, or closed later when its handlers have returned. SAP_NOMEM: it
 * still is in use. */
static int set_aside(Host *host)
{
    Leaving *leaving = (Leaving *)malloc(sizeof *leaving);
    if (leaving == NULL) {
        return SAP_NOMEM;
    }
    *leaving = (Leaving){host->worker, host->leaving};
    host->leaving = leaving;
    host->worker = NULL;
    mutex_lock(&host->lock);
    host->before = host->stats.worker;
    mutex_unlock(&host->lock);
    return SAP_OK;
}

/* ---- The keeper ------------------------------------------------------------------------------ */

static void renew_until_round_ends(Host *host)
{
    int rc = SAP_OK;
    while (goes_on(host, rc)) {
        rc = sap_worker_renew(host->worker);
        (void)close_leaving(host);
        if (rc == SAP_OK || rc == SAP_BUSY) {
            pause_round(host, host->renew_ns);
        } else {
            pause_round(host, PAUSE_NS);
        }
    }
}

/* The next worker, or the end of the host: then host->worker is the one that ended it. */
static void reopen_worker(Host *host)
{
    int rc = set_aside(host);
    if (rc != SAP_OK) {
        atomic_store_full(&host->code, rc);
        return;
    }
    (void)close_leaving(host);
    atomic_store_full(&host->round_code, SAP_OK);
    atomic_store_full(&host->round_ends, atomic_load_full(&host->stopping));
    while (host->worker == NULL && !atomic_load_full(&host->stopping)) {
        rc = open_worker(host);
        if (rc == SAP_IO && host->options.io_is_final) {
            atomic_store_full(&host->code, rc);
            return;
        }
        if (rc != SAP_OK) {
            LOG_EVENT(host->options.log, LOG_LEVEL_WARN, "node.worker_not_opened",
                      LOG_I64("code", rc), LOG_STR("what", sap_strerror(rc)));
            pause_round(host, REOPEN_NS);
        }
    }
    if (host->worker != NULL) {
        mutex_lock(&host->lock);
        host->stats.reopened++;
        mutex_unlock(&host->lock);
        LOG_EVENT(host->options.log, LOG_LEVEL_WARN, "node.worker_reopened",
                  LOG_STR("why", "the session of the worker before was over; others may have "
                                 "its worlds now"));
    }
}

static void *keep(void *arg)
{
    Host *host = (Host *)arg;
    while (!atomic_load_full(&host->stopping) && host_code(host) == SAP_OK) {
        int rc = start_roles(host);
        if (rc != SAP_OK) {
            end_round(host, rc);
        }
        renew_until_round_ends(host);
        join_roles(host);
        int code = atomic_load_full(&host->round_code);
        if (code == SAP_FENCED && host->options.reopens) {
            reopen_worker(host);
        } else if (code != SAP_OK) {
            atomic_store_full(&host->code, code);
        }
    }
    return NULL;
}

/* ---- Starting and stopping ------------------------------------------------------------------- */

/* Also of one that was started half. */
static void free_host(Host *host)
{
    SAP_ASSERT(host->worker == NULL && host->leaving == NULL && host->role_count == 0);
    handler_pool_free(host->pool);
    cond_destroy(&host->changed);
    mutex_destroy(&host->lock);
    free(host);
}

int host_start(SapUniverse *universe, const HostOptions *options, Host **host_out)
{
    Host *host = (Host *)calloc(1, sizeof *host);
    if (host == NULL) {
        return SAP_NOMEM;
    }
    host->universe = universe;
    host->options = *options;
    host->options.roles = options->roles == 0 ? HOST_ROLE(SAP_ROLE_WORLDS) : options->roles;
    host->renew_ns =
        universe->session_ttl_ns == 0 ? RENEW_NS : universe->session_ttl_ns / RENEWALS_OF;
    if (!mutex_init(&host->lock)) {
        goto free_memory;
    }
    if (!cond_init(&host->changed)) {
        goto destroy_lock;
    }
    int rc = options->handlers == 0 ? SAP_OK
                                    : handler_pool_new(universe, options->handlers, &host->pool);
    rc = rc == SAP_OK ? open_worker(host) : rc;
    if (rc != SAP_OK) {
        free_host(host);
        return rc;
    }
    host->kept = pthread_create(&host->keeper, NULL, keep, host) == 0;
    if (!host->kept) {
        (void)host_stop(host, 0);
        return SAP_NOMEM;
    }
    *host_out = host;
    return SAP_OK;

destroy_lock:
    mutex_destroy(&host->lock);
free_memory:
    free(host);
    return SAP_NOMEM;
}

SapWorker *host_worker(Host *host)
{
    return host->worker;
}

void host_stats(Host *host, HostStats *stats_out)
{
    mutex_lock(&host->lock);
    *stats_out = host->stats;
    mutex_unlock(&host->lock);
    stats_out->handlers = host->pool != NULL ? handler_pool_running(host->pool) : 0;
}

int host_code(Host *host)
{
    return atomic_load_full(&host->code);
}

/* Closes the workers until all handlers have returned, or patience ends. */
static int close_workers(Host *host, uint64_t patience_ns)
{
    uint64_t begin_ns = clock_mono_ns(NULL);
    int rc = SAP_OK;
    for (;;) {
        if (host->worker != NULL) {
            rc = sap_worker_close(host->worker);
            host->worker = rc == SAP_BUSY ? host->worker : NULL;
        }
        int left = close_leaving(host);
        if (host->worker == NULL && left != SAP_BUSY) {
            return rc;
        }
        if (clock_mono_ns(NULL) - begin_ns >= patience_ns) {
            return SAP_BUSY;
        }
        mutex_lock(&host->lock);
        cond_wait_ns(&host->changed, &host->lock, CLOSE_NS);
        mutex_unlock(&host->lock);
    }
}

int host_stop(Host *host, uint64_t patience_ns)
{
    if (host == NULL) {
        return SAP_OK;
    }
    atomic_store_full(&host->stopping, true);
    if (host->kept) {
        end_round(host, SAP_OK);
        pthread_join(host->keeper, NULL);
        host->kept = false;
    }
    int rc = close_workers(host, patience_ns);
    if (rc == SAP_BUSY) {
        return rc;
    }
    int code = host_code(host);
    free_host(host);
    return code == SAP_OK ? rc : code;
}
