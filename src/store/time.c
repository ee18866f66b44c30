/* time.c - see time.h.
 *
 * Lease time is lead_ns plus the boot time since the open. lead_ns begins with what is stored plus the
 * wall time since it was stored: wall time counts here and nowhere else. Later it only grows, when
 * another store has stored more.
 *
 * Invariants:
 * - What was given out is never undercut: lease_ns and due_ns are the greatest so far. Boot time does
 *   not go back; if it did, lease time would stand still.
 * - Neither is below what is stored, once this store has read it.
 * - What is stored only grows: it is read under the lock of its row, followed, and then replaced.
 * - Both times are at most MOST_NS, so that whoever adds a duration to one does not overflow. */
#include "store/time.h"

#include "common/assert.h"

/* 0 often means "never" in rows of the layers above. */
#define FIRST_LEASE_NS UINT64_C(1000000000)
#define MOST_NS        ((uint64_t)INT64_MAX)

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
    uint64_t wall_ns = clock_wall_ns(clock);
    *time_out = (WitStoreTime){FIRST_LEASE_NS, cap_ns(wall_ns), wall_ns};
}

void store_time_start(SapStore *store, const WitStoreTime *stored)
{
    StoreTime *time = &store->time;
    SAP_ASSERT(stored->lease_ns <= MOST_NS && stored->due_ns <= MOST_NS);
    uint64_t off_ns = elapsed_ns(stored->wall_ns, clock_wall_ns(&time->clock));
    time->boot_start_ns = clock_boot_ns(&time->clock);
    relaxed_store(&time->lead_ns, add_ns(stored->lease_ns, off_ns));
    relaxed_store(&time->due_ns, stored->due_ns);
}

uint64_t sap_store_lease_ns(SapStore *store)
{
    if (store == NULL) {
        return 0;
    }
    StoreTime *time = &store->time;
    uint64_t now = add_ns(relaxed_load(&time->lead_ns), boot_since_open(time));
    return raise_time(&time->lease_ns, now);
}

uint64_t sap_store_due_ns(SapStore *store)
{
    if (store == NULL) {
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
    follow_stored(&store->time, &stored);
    WitStoreTime time = {
        .lease_ns = sap_store_lease_ns(store),
        .due_ns = sap_store_due_ns(store),
        .wall_ns = clock_wall_ns(&store->time.clock),
    };
    SAP_ASSERT(time.lease_ns >= stored.lease_ns && time.due_ns >= stored.due_ns);
    return meta_put_time(txn, &time);
}
