/* time.c - see time.h.
 *
 * Lease time is lead_ns plus the boot time since the open. lead_ns begins with what is stored plus the
 * wall time since it was stored: wall time counts here and nowhere else. Later it only grows, when
 * another store has stored more.
 *
 * On a server that several processes share, the wall time since the last put_time is added only if
 * nobody else is alive: while others go on by their own boot time, adding it would carry a step of the
 * server's clock into lease time, and expire every lease. Whoever is alive stores the time once a
 * renewal, so a value that does not move for two renewals belongs to nobody.
 *
 * Invariants:
 * - What was given out is never undercut: lease_ns and due_ns are the greatest so far. Boot time does
 *   not go back; if it did, lease time would stand still.
 * - Neither is below what is stored, once this store has read it.
 * - What is stored only grows: it is read under the lock of its row, followed, and then replaced.
 * - Both times are at most MOST_NS, so that whoever adds a duration to one does not overflow. */
#include "store/time.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "common/assert.h"

/* 0 often means "never" in rows of the layers above. */
#define FIRST_LEASE_NS UINT64_C(1000000000)
#define MOST_NS        ((uint64_t)INT64_MAX)
#define RENEWAL_NS     UINT64_C(5000000000)
#define LEAST_LOOK_NS  UINT64_C(10000000)

static uint64_t cap_ns(uint64_t ns)
{
    return ns < MOST_NS ? ns : MOST_NS;
}

/* Two capped numbers cannot overflow. */
static uint64_t add_ns(uint64_t a, uint64_t b)
{
    return cap_ns(cap_ns(a) + cap_ns(b));
}

/* 0 where `from` is later. */
static uint64_t elapsed_ns(uint64_t from, uint64_t to)
{
    return to > from ? to - from : 0;
}

/* Raises the time to `now`, and returns what it is then. */
static uint64_t raise_time(RelaxedU64 *time, uint64_t now)
{
    relaxed_max(time, now);
    return relaxed_load(time);
}

static uint64_t boot_since_open(const StoreTime *time)
{
    return elapsed_ns(time->boot_start_ns, clock_boot_ns(&time->clock));
}

void store_time_init(SapStore *store, const SapStoreOptions *options, WitStoreTime *time_out)
{
    Clock *clock = &store->time.clock;
    *clock = *clock_system();
    if (options->wall_ns != NULL) {
        clock->wall_ns = options->wall_ns;
    }
    if (options->boot_ns != NULL) {
        clock->boot_ns = options->boot_ns;
    }
    clock->ctx = options->clock_ctx;
    store->time.renewal_ns = options->renewal_ns == 0 ? RENEWAL_NS : options->renewal_ns;
    uint64_t wall_ns = clock_wall_ns(clock);
    *time_out = (WitStoreTime){FIRST_LEASE_NS, cap_ns(wall_ns), wall_ns};
}

int store_time_wall(SapStoreTxn *txn, uint64_t *wall_out)
{
    SapStore *store = txn->store;
    if (store->ops->wall_ns != NULL) {
        return store->ops->wall_ns(txn, wall_out);
    }
    *wall_out = clock_wall_ns(&store->time.clock);
    return SAP_OK;
}

/* What is stored now, and the wall time. */
static int look_at_time(SapStore *store, WitStoreTime *stored_out, uint64_t *wall_out)
{
    SapStoreTxn *txn = NULL;
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    if (rc == SAP_OK) {
        rc = meta_get_time(txn, stored_out);
        rc = rc == SAP_OK ? store_time_wall(txn, wall_out) : rc;
        sap_store_abort(txn);
    }
    return rc;
}

static void pause_ns(uint64_t ns)
{
    struct timespec pause = {.tv_sec = (time_t)(ns / 1000000000),
                             .tv_nsec = (long)(ns % 1000000000)};
    (void)nanosleep(&pause, NULL);
}

static void report_watch(const SapStore *store)
{
    char text[200];
    if (store->on_message != NULL) {
        (void)snprintf(text, sizeof text,
                       "opening waits up to %" PRIu64 " ms, to see whether other processes use the "
                       "store: nobody has called sap_store_put_time() lately",
                       2 * store->time.renewal_ns / 1000000);
        store->on_message(text, store->message_ctx);
    }
}

/* Waits until somebody stores a greater time (*stored is that, and *off_ns is 0), or two renewals have
 * passed (*off_ns is the wall time since the last renewal). */
static int watch_stored(SapStore *store, WitStoreTime *stored, uint64_t *off_ns)
{
    uint64_t renewal_ns = store->time.renewal_ns;
    uint64_t look_ns = renewal_ns / 20 > LEAST_LOOK_NS ? renewal_ns / 20 : LEAST_LOOK_NS;
    uint64_t until_ns = clock_mono_ns(NULL) + 2 * renewal_ns;
    uint64_t first_ns = stored->lease_ns;
    uint64_t wall_ns = 0;
    int rc = look_at_time(store, stored, &wall_ns);
    if (rc != SAP_OK || elapsed_ns(stored->wall_ns, wall_ns) <= renewal_ns) {
        *off_ns = 0; /* as good as now: it is at most one renewal behind */
        return rc;
    }
    report_watch(store);
    while (rc == SAP_OK && stored->lease_ns == first_ns && clock_mono_ns(NULL) < until_ns) {
        pause_ns(look_ns);
        rc = look_at_time(store, stored, &wall_ns);
    }
    *off_ns = stored->lease_ns == first_ns ? elapsed_ns(stored->wall_ns, wall_ns) : 0;
    return rc;
}

int store_time_start(SapStore *store, const WitStoreTime *stored)
{
    StoreTime *time = &store->time;
    WitStoreTime from = *stored;
    uint64_t off_ns = 0;
    if (store->ops->wall_ns == NULL) {
        off_ns = elapsed_ns(from.wall_ns, clock_wall_ns(&time->clock));
    } else {
        int rc = watch_stored(store, &from, &off_ns);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    SAP_ASSERT(from.lease_ns <= MOST_NS && from.due_ns <= MOST_NS);
    time->boot_start_ns = clock_boot_ns(&time->clock);
    relaxed_store(&time->lead_ns, add_ns(from.lease_ns, off_ns));
    relaxed_store(&time->due_ns, from.due_ns);
    return SAP_OK;
}

uint64_t sap_store_lease_ns(SapStore *store)
{
    if (!store_is_usable(store)) {
        return 0;
    }
    StoreTime *time = &store->time;
    uint64_t now = add_ns(relaxed_load(&time->lead_ns), boot_since_open(time));
    return raise_time(&time->lease_ns, now);
}

uint64_t sap_store_due_ns(SapStore *store)
{
    if (!store_is_usable(store)) {
        return 0;
    }
    StoreTime *time = &store->time;
    return raise_time(&time->due_ns, cap_ns(clock_wall_ns(&time->clock)));
}

/* Another store may have stored more than this one has seen. */
static void follow_stored(StoreTime *time, const WitStoreTime *stored)
{
    relaxed_max(&time->lead_ns, elapsed_ns(boot_since_open(time), stored->lease_ns));
    relaxed_max(&time->lease_ns, stored->lease_ns);
    relaxed_max(&time->due_ns, stored->due_ns);
}

int store_put_time(SapStoreTxn *txn)
{
    SapStore *store = txn->store;
    WitStoreTime stored;
    int rc = meta_get_time_locked(txn, &stored);
    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t wall_ns = 0;
    rc = store_time_wall(txn, &wall_ns);
    if (rc != SAP_OK) {
        return store_fail(txn, rc);
    }
    follow_stored(&store->time, &stored);
    WitStoreTime time = {
        .lease_ns = sap_store_lease_ns(store),
        .due_ns = sap_store_due_ns(store),
        .wall_ns = wall_ns,
    };
    SAP_ASSERT(time.lease_ns >= stored.lease_ns && time.due_ns >= stored.due_ns);
    return meta_put_time(txn, &time);
}
