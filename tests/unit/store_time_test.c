/* Lease time and due time of the store, by clocks that are set, suspended and restarted. */
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "store/memory.h"
#include "store/meta.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND   UINT64_C(1000000000)
#define HOUR     (3600 * SECOND)
#define HOUR_MS  INT64_C(3600000)
#define START_NS (UINT64_C(1700000000) * SECOND)
#define MOST_NS  ((uint64_t)INT64_MAX)

enum { TABLE = 16, TIMEOUT_S = 60, STORES = 2 };

static const uint32_t tables[] = {TABLE};
static FileBed bed;
static char url[FILES_PATH_MAX + 16];
static ManualClock clock_of_machine;
static SapStore *keeper; /* keeps the rows in memory while no other store is open */

static int open_by(ManualClock *manual, SapStoreHook hook, void *hook_ctx, SapStore **store_out)
{
    Clock by = manual_clock(manual);
    SapStoreOptions options = {.tables = tables,
                               .table_count = 1,
                               .hook = hook,
                               .hook_ctx = hook_ctx,
                               .wall_ns = by.wall_ns,
                               .boot_ns = by.boot_ns,
                               .clock_ctx = by.ctx};
    return sap_store_open(url, &options, store_out);
}

static SapStore *open_node(ManualClock *manual)
{
    SapStore *store = NULL;
    EXPECT_RC(open_by(manual, NULL, NULL, &store), SAP_OK);
    return store;
}

static SapStore *open_store(void)
{
    return open_node(&clock_of_machine);
}

static void close_store(SapStore *store)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

/* Makes a store in memory (0) or in a file (1). */
static SapStore *make_store(int where)
{
    (void)snprintf(url, sizeof url, where == 0 ? "memory:time" : "sapling:%s", bed.path);
    SapStore *store = open_store();
    keeper = where == 0 ? open_store() : NULL;
    return store;
}

static void setup(void)
{
    file_bed_start(&bed);
    manual_clock_init(&clock_of_machine, START_NS);
    keeper = NULL;
}

static void teardown(void)
{
    close_store(keeper);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    file_bed_end(&bed);
}

static void pass(uint64_t ns)
{
    manual_clock_advance_ns(&clock_of_machine, ns);
}

static void expect_ns(uint64_t got, uint64_t wanted, const char *what)
{
    EXPECT(got == wanted, "%s is %" PRIu64 ", not %" PRIu64 ": %" PRId64 " more", what, got, wanted,
           (int64_t)(got - wanted));
}

static void expect_lease(SapStore *store, uint64_t wanted)
{
    expect_ns(sap_store_lease_ns(store), wanted, "lease time");
}

static void expect_due(SapStore *store, uint64_t wanted)
{
    expect_ns(sap_store_due_ns(store), wanted, "due time");
}

static SapStoreTxn *begin(SapStore *store, SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, kind, &txn), SAP_OK);
    return txn;
}

static void put_time(SapStore *store)
{
    SapStoreTxn *txn = begin(store, SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_put_time(txn), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

static StoreKey time_key(void)
{
    static const uint8_t key[] = {WIT_STORE_META_ROW_TIME};
    return (StoreKey){STORE_TABLE_META, {key, sizeof key}};
}

static WitStoreTime stored_time(SapStore *store)
{
    WitStoreTime time = {0};
    Slice bytes = {0};
    SapStoreTxn *txn = begin(store, SAP_STORE_READ_NEWEST);
    EXPECT_RC(store_get(txn, time_key(), &bytes), SAP_OK);
    EXPECT_RC(wit_store_time_decode(bytes.data, bytes.len, &time, NULL), SAP_OK);
    sap_store_abort(txn);
    return time;
}

/* Replaces the row by these bytes; NULL: deletes it. */
static void set_stored(SapStore *store, const void *bytes, size_t len)
{
    SapStoreTxn *txn = begin(store, SAP_STORE_GUARDED);
    EXPECT_RC(bytes == NULL ? store_del(txn, time_key())
                            : store_put(txn, time_key(), (Slice){bytes, len}, STORE_PUT_ANY),
              SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

/* ---- While the store is open ------------------------------------------------------------------ */

START_TEST(lease_time_goes_on_by_itself_whatever_is_done_to_the_wall_clock)
{
    SapStore *store = make_store(_i);
    uint64_t start = sap_store_lease_ns(store);
    EXPECT(start > 0, "0 would mean never");
    pass(SECOND);
    expect_lease(store, start + SECOND);
    manual_clock_step_wall_ms(&clock_of_machine, HOUR_MS);
    expect_lease(store, start + SECOND);
    pass(SECOND);
    manual_clock_step_wall_ms(&clock_of_machine, -2 * HOUR_MS);
    pass(SECOND);
    expect_lease(store, start + 3 * SECOND);
    put_time(store);
    expect_lease(store, start + 3 * SECOND);
    close_store(store);
}
END_TEST

START_TEST(lease_time_and_due_time_go_on_while_the_machine_is_suspended)
{
    SapStore *store = make_store(_i);
    uint64_t start = sap_store_lease_ns(store);
    manual_clock_suspend_ns(&clock_of_machine, HOUR);
    expect_lease(store, start + HOUR);
    expect_due(store, START_NS + HOUR);
    close_store(store);
}
END_TEST

START_TEST(due_time_follows_the_wall_clock_forward_and_never_back)
{
    SapStore *store = make_store(_i);
    expect_due(store, START_NS);
    pass(SECOND);
    expect_due(store, START_NS + SECOND);
    manual_clock_step_wall_ms(&clock_of_machine, HOUR_MS);
    expect_due(store, START_NS + HOUR + SECOND);
    manual_clock_step_wall_ms(&clock_of_machine, -HOUR_MS);
    expect_due(store, START_NS + HOUR + SECOND);
    pass(HOUR);
    expect_due(store, START_NS + HOUR + SECOND);
    pass(SECOND);
    expect_due(store, START_NS + HOUR + 2 * SECOND);
    close_store(store);
}
END_TEST

START_TEST(a_boot_clock_that_goes_back_takes_back_nothing)
{
    SapStore *store = make_store(0);
    pass(HOUR);
    uint64_t before = sap_store_lease_ns(store);
    relaxed_store(&clock_of_machine.boot_ns, 1);
    expect_lease(store, before);
    put_time(store);
    expect_ns(stored_time(store).lease_ns, before, "what is stored");
    close_store(store);
}
END_TEST

START_TEST(without_clocks_of_its_own_a_store_uses_the_systems)
{
    SapStoreOptions options = {.tables = tables, .table_count = 1};
    SapStore *store = NULL;
    EXPECT_RC(sap_store_open("memory:", &options, &store), SAP_OK);
    uint64_t wall = clock_wall_ns(NULL);
    uint64_t boot = clock_boot_ns(NULL);
    uint64_t lease = sap_store_lease_ns(store);
    uint64_t due = sap_store_due_ns(store);
    EXPECT(due >= wall - HOUR && due <= wall + HOUR, "due time is %" PRIu64, due);
    while (clock_boot_ns(NULL) < boot + SECOND / 1000) {
    }
    uint64_t passed = sap_store_lease_ns(store) - lease;
    EXPECT(passed > 0 && passed < HOUR, "a millisecond is %" PRIu64 " ns", passed);
    close_store(store);
}
END_TEST

/* ---- Across restarts --------------------------------------------------------------------------- */

START_TEST(a_restart_of_the_process_counts_the_time_until_then_and_meanwhile)
{
    SapStore *store = make_store(_i);
    uint64_t start = sap_store_lease_ns(store);
    pass(10 * SECOND); /* nothing but the making of the store is stored */
    close_store(store);
    pass(HOUR);
    store = open_store();
    expect_lease(store, start + HOUR + 10 * SECOND);
    put_time(store);
    pass(SECOND);
    close_store(store);
    pass(HOUR);
    store = open_store();
    expect_lease(store, start + 2 * HOUR + 11 * SECOND);
    expect_due(store, START_NS + 2 * HOUR + 11 * SECOND);
    close_store(store);
}
END_TEST

START_TEST(a_reboot_with_the_machine_off_for_an_hour_is_an_hour)
{
    SapStore *store = make_store(_i);
    uint64_t start = sap_store_lease_ns(store);
    pass(1000 * HOUR); /* boot time is far ahead of what it starts with again */
    put_time(store);
    pass(SECOND);
    close_store(store);
    manual_clock_reboot(&clock_of_machine, HOUR);
    store = open_store();
    expect_lease(store, start + 1001 * HOUR + SECOND);
    pass(SECOND);
    expect_lease(store, start + 1001 * HOUR + 2 * SECOND);
    expect_due(store, START_NS + 1001 * HOUR + 2 * SECOND);
    close_store(store);
}
END_TEST

/* Puts the time, lets three seconds pass, and opens the store again after the wall clock was stepped:
 * after a reboot, or in a machine that has run on. */
static SapStore *restart_with_step(int where, bool reboot, int64_t step_ms, uint64_t *lease_out)
{
    SapStore *store = make_store(where);
    pass(2 * HOUR);
    put_time(store);
    *lease_out = sap_store_lease_ns(store);
    pass(3 * SECOND);
    close_store(store);
    if (reboot) {
        manual_clock_reboot(&clock_of_machine, 60 * SECOND);
    } else {
        pass(60 * SECOND);
    }
    manual_clock_step_wall_ms(&clock_of_machine, step_ms);
    return open_store();
}

static void expect_repeats(int where, bool reboot)
{
    uint64_t lease = 0;
    SapStore *store = restart_with_step(where, reboot, -HOUR_MS, &lease);
    expect_lease(store, lease); /* repeats the three seconds since put_time, and no more */
    expect_due(store, START_NS + 2 * HOUR);
    pass(HOUR - 63 * SECOND);
    expect_lease(store, lease + HOUR - 63 * SECOND);
    expect_due(store, START_NS + 2 * HOUR);
    pass(SECOND);
    expect_due(store, START_NS + 2 * HOUR + SECOND);
    close_store(store);
}

START_TEST(a_wall_clock_set_back_across_a_reopen_repeats_what_was_not_stored)
{
    expect_repeats(_i, false);
}
END_TEST

START_TEST(a_wall_clock_set_back_across_a_reboot_repeats_what_was_not_stored)
{
    expect_repeats(_i, true);
}
END_TEST

static void expect_ahead(int where, bool reboot)
{
    uint64_t lease = 0;
    SapStore *store = restart_with_step(where, reboot, HOUR_MS, &lease);
    expect_lease(store, lease + HOUR + 63 * SECOND);
    expect_due(store, START_NS + 3 * HOUR + 63 * SECOND);
    close_store(store);
}

START_TEST(a_wall_clock_set_forward_across_a_reopen_counts_as_time_that_has_passed)
{
    expect_ahead(_i, false);
}
END_TEST

START_TEST(a_wall_clock_set_forward_across_a_reboot_counts_as_time_that_has_passed)
{
    expect_ahead(_i, true);
}
END_TEST

START_TEST(a_step_of_the_wall_clock_while_the_store_was_open_is_not_counted_by_the_next_open)
{
    SapStore *store = make_store(_i);
    uint64_t start = sap_store_lease_ns(store);
    for (int sign = -1; sign <= 1; sign += 2) {
        manual_clock_step_wall_ms(&clock_of_machine, sign * HOUR_MS);
        put_time(store);
        close_store(store);
        pass(SECOND);
        store = open_store();
    }
    expect_lease(store, start + 2 * SECOND);
    close_store(store);
}
END_TEST

START_TEST(a_power_cut_takes_back_a_time_that_was_not_durable)
{
    SapStore *store = make_store(0);
    uint64_t start = sap_store_lease_ns(store);
    uint64_t mark = 0;
    pass(SECOND);
    SapStoreTxn *txn = begin(store, SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_put_time(txn), SAP_OK);
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
    close_store(store);
    memory_store_cut_power(keeper);
    manual_clock_step_wall_ms(&clock_of_machine, -HOUR_MS);
    store = open_store();
    expect_lease(store, start);
    close_store(store);
}
END_TEST

/* ---- Storing ----------------------------------------------------------------------------------- */

START_TEST(put_time_stores_both_times_and_the_wall_clock)
{
    SapStore *store = make_store(_i);
    manual_clock_step_wall_ms(&clock_of_machine, HOUR_MS);
    expect_due(store, START_NS + HOUR);
    manual_clock_step_wall_ms(&clock_of_machine, -HOUR_MS);
    pass(SECOND);
    put_time(store);
    WitStoreTime time = stored_time(store);
    expect_ns(time.lease_ns, sap_store_lease_ns(store), "the stored lease time");
    expect_ns(time.due_ns, START_NS + HOUR, "the stored due time");
    expect_ns(time.wall_ns, START_NS + SECOND, "the stored wall time");
    close_store(store);
}
END_TEST

START_TEST(an_aborted_put_time_stores_nothing)
{
    SapStore *store = make_store(_i);
    WitStoreTime before = stored_time(store);
    pass(SECOND);
    SapStoreTxn *txn = begin(store, SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_put_time(txn), SAP_OK);
    EXPECT_RC(sap_store_put_time(txn), SAP_OK);
    sap_store_abort(txn);
    WitStoreTime after = stored_time(store);
    EXPECT(wit_store_time_equal(&before, &after), "something was stored");
    put_time(store);
    after = stored_time(store);
    EXPECT(!wit_store_time_equal(&before, &after), "nothing was stored");
    close_store(store);
}
END_TEST

START_TEST(put_time_is_for_guarded_transactions)
{
    SapStore *store = make_store(_i);
    SapStoreTxn *txn = begin(store, SAP_STORE_READ_NEWEST);
    EXPECT_RC(sap_store_put_time(txn), SAP_READONLY);
    sap_store_abort(txn);
    EXPECT_RC(sap_store_put_time(txn), SAP_ERROR);
    txn = begin(store, SAP_STORE_CLAIM);
    EXPECT_RC(sap_store_put_time(txn), SAP_ERROR);
    EXPECT_RC(sap_store_put(txn, TABLE, "k", 1, "v", 1), SAP_OK); /* it goes on */
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    EXPECT_RC(sap_store_put_time(NULL), SAP_ERROR);
    expect_ns(sap_store_lease_ns(NULL), 0, "lease time of no store");
    expect_ns(sap_store_due_ns(NULL), 0, "due time of no store");
    close_store(store);
}
END_TEST

/* ---- Two nodes --------------------------------------------------------------------------------- */

START_TEST(nodes_whose_clocks_differ_agree_on_the_greater_time_by_storing_it)
{
    ManualClock other;
    SapStore *a = make_store(0);
    manual_clock_init(&other, START_NS + 10 * SECOND); /* its wall clock is ahead at its open */
    SapStore *b = open_node(&other);
    uint64_t start = sap_store_lease_ns(a);
    expect_lease(b, start + 10 * SECOND);
    manual_clock_step_wall_ms(&other, HOUR_MS);
    put_time(b);
    expect_lease(a, start); /* until it stores its own */
    expect_due(a, START_NS);
    put_time(a);
    expect_lease(a, start + 10 * SECOND);
    expect_due(a, START_NS + HOUR + 10 * SECOND);
    expect_ns(stored_time(a).lease_ns, start + 10 * SECOND, "the stored lease time");
    expect_ns(stored_time(a).due_ns, START_NS + HOUR + 10 * SECOND, "the stored due time");
    pass(SECOND);
    expect_lease(a, start + 11 * SECOND); /* from there on by its own boot time */
    put_time(a);
    put_time(b);
    expect_lease(b, start + 11 * SECOND);
    close_store(b);
    close_store(a);
}
END_TEST

START_TEST(what_is_stored_never_falls)
{
    ManualClock other;
    SapStore *a = make_store(0);
    manual_clock_init(&other, START_NS);
    SapStore *b = open_node(&other);
    WitStoreTime last = stored_time(a);
    for (int i = 0; i < 100; i++) {
        pass((uint64_t)(i % 7) * SECOND);
        manual_clock_advance_ns(&other, (uint64_t)(i % 5) * SECOND);
        manual_clock_step_wall_ms(&other, i % 2 == 0 ? HOUR_MS : -HOUR_MS);
        put_time(i % 3 == 0 ? a : b);
        WitStoreTime now = stored_time(a);
        EXPECT(now.lease_ns >= last.lease_ns && now.due_ns >= last.due_ns, "it fell at %d", i);
        last = now;
    }
    close_store(b);
    close_store(a);
}
END_TEST

/* Another node that is ahead stores its time while a call of the first is under way. */
typedef struct Meddler {
    SapStore *store;
    SapStoreCall at;
    int result;
} Meddler;

static int store_time_body(SapStoreTxn *txn, void *ctx)
{
    (void)ctx;
    return sap_store_put_time(txn);
}

static SapStoreFault meddle(void *ctx, SapStoreCall call)
{
    Meddler *meddler = (Meddler *)ctx;
    if (meddler->store != NULL && call == meddler->at) {
        SapStore *store = meddler->store;
        meddler->store = NULL;
        meddler->result = sap_store_run(store, SAP_STORE_GUARDED, store_time_body, NULL, NULL);
    }
    return SAP_STORE_FAULT_NONE;
}

START_TEST(a_greater_time_that_is_stored_meanwhile_is_not_overwritten)
{
    SapStore *first = make_store(0);
    static const struct {
        SapStoreCall at;
        int result;
    } moments[] = {{SAP_STORE_CALL_BEGIN, SAP_OK},
                   {SAP_STORE_CALL_GET, SAP_OK},
                   {SAP_STORE_CALL_PUT, SAP_BUSY},
                   {SAP_STORE_CALL_COMMIT, SAP_BUSY}};
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; i++) {
        ManualClock ahead;
        Meddler meddler = {NULL, moments[i].at, -1};
        SapStore *store = NULL;
        EXPECT_RC(open_by(&clock_of_machine, meddle, &meddler, &store), SAP_OK);
        manual_clock_init(&ahead, relaxed_load(&clock_of_machine.wall_ns));
        SapStore *other = open_node(&ahead);
        manual_clock_advance_ns(&ahead, HOUR);
        meddler.store = other;
        put_time(store);
        EXPECT_RC(meddler.result, moments[i].result);
        WitStoreTime time = stored_time(store);
        uint64_t greater = sap_store_lease_ns(moments[i].result == SAP_OK ? other : store);
        expect_ns(time.lease_ns, greater, "the stored lease time");
        close_store(other);
        close_store(store);
    }
    close_store(first);
}
END_TEST

/* ---- Failures ---------------------------------------------------------------------------------- */

static void expect_damaged(void)
{
    SapStore *store = NULL;
    EXPECT_RC(open_by(&clock_of_machine, NULL, NULL, &store), SAP_CORRUPT);
    EXPECT(store == NULL, "a refused open gave a store");
    EXPECT(strstr(sap_open_error(), "the store's time is damaged") != NULL &&
               strstr(sap_open_error(), "restore a backup") != NULL,
           "the text is '%s'", sap_open_error());
    SapStoreTxn *txn = begin(keeper, SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_put_time(txn), SAP_CORRUPT);
    EXPECT_RC(sap_store_put(txn, TABLE, "k", 1, "v", 1), SAP_CORRUPT);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_CORRUPT);
}

START_TEST(a_damaged_time_is_corrupt_and_stays_as_it_is)
{
    SapStore *store = make_store(0);
    WitStoreTime time = stored_time(store);
    Buf good = {0};
    EXPECT_RC(wit_store_time_encode(&time, &good, NULL), SAP_OK);
    for (size_t len = 0; len < good.len; len++) {
        set_stored(store, good.data, len);
        expect_damaged();
    }
    uint8_t bad[32];
    memcpy(bad, good.data, good.len);
    bad[0] ^= 1; /* its version */
    set_stored(store, bad, good.len);
    expect_damaged();
    bad[0] ^= 1;
    bad[8] |= 0x80; /* a lease time of 2^63 and more */
    set_stored(store, bad, good.len);
    expect_damaged();
    set_stored(store, NULL, 0);
    expect_damaged();
    EXPECT(strstr(sap_open_error(), "missing") != NULL, "the text is '%s'", sap_open_error());
    set_stored(store, good.data, good.len);
    close_store(open_store());
    buf_release(&good);
    close_store(store);
}
END_TEST

START_TEST(times_stop_below_two_to_the_63)
{
    SapStore *store = make_store(_i);
    manual_clock_set_wall_ns(&clock_of_machine, UINT64_MAX);
    expect_due(store, MOST_NS);
    put_time(store);
    manual_clock_set_wall_ns(&clock_of_machine, START_NS);
    close_store(store);
    store = open_store();
    put_time(store);
    close_store(store);
    manual_clock_set_wall_ns(&clock_of_machine, UINT64_MAX); /* 530 years have passed */
    store = open_store();
    expect_lease(store, MOST_NS);
    pass(HOUR);
    expect_lease(store, MOST_NS);
    put_time(store);
    expect_ns(stored_time(store).lease_ns, MOST_NS, "the stored lease time");
    close_store(store);
    store = open_store();
    expect_lease(store, MOST_NS);
    expect_due(store, MOST_NS);
    close_store(store);
}
END_TEST

START_TEST(a_put_time_that_runs_out_of_memory_stores_nothing)
{
    SapStore *store = make_store(0);
    uint64_t nth = 0;
    bool fired = true;
    while (fired) {
        SapStore *fresh = open_store(); /* nothing is left over from an earlier transaction */
        WitStoreTime before = stored_time(store);
        pass(SECOND);
        SapStoreTxn *txn = begin(fresh, SAP_STORE_GUARDED);
        fault_reset();
        fault_arm_alloc(++nth);
        int rc = sap_store_put_time(txn);
        fired = fault_fired() > 0;
        fault_reset();
        EXPECT_RC(rc, fired ? SAP_NOMEM : SAP_OK);
        EXPECT_RC(sap_store_commit(txn, NULL), rc);
        WitStoreTime after = stored_time(store);
        EXPECT(wit_store_time_equal(&before, &after) == fired, "stored and failed");
        close_store(fresh);
    }
    EXPECT(nth > 1, "no allocation was failed");
    close_store(store);
}
END_TEST

static SapStoreFault fail_nth(void *ctx, SapStoreCall call)
{
    (void)call;
    return --*(int *)ctx == 0 ? SAP_STORE_FAULT_CONFLICT : SAP_STORE_FAULT_NONE;
}

START_TEST(a_put_time_that_the_hook_fails_stores_nothing)
{
    SapStore *store = make_store(0);
    for (int nth = 1; nth <= 2; nth++) { /* the get and the put */
        int left = 0;
        SapStore *failing = NULL;
        WitStoreTime before = stored_time(store);
        EXPECT_RC(open_by(&clock_of_machine, fail_nth, &left, &failing), SAP_OK);
        pass(SECOND);
        SapStoreTxn *txn = begin(failing, SAP_STORE_GUARDED);
        left = nth;
        EXPECT_RC(sap_store_put_time(txn), SAP_CONFLICT);
        EXPECT_RC(sap_store_commit(txn, NULL), SAP_CONFLICT);
        WitStoreTime after = stored_time(store);
        EXPECT(wit_store_time_equal(&before, &after), "stored and failed");
        put_time(failing);
        close_store(failing);
    }
    close_store(store);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store time");
    TCase *test_case = tcase_create("time");
    tcase_add_checked_fixture(test_case, setup, teardown);
    tcase_set_timeout(test_case, TIMEOUT_S);
#define BOTH(test) tcase_add_loop_test(test_case, test, 0, STORES)
    BOTH(lease_time_goes_on_by_itself_whatever_is_done_to_the_wall_clock);
    BOTH(lease_time_and_due_time_go_on_while_the_machine_is_suspended);
    BOTH(due_time_follows_the_wall_clock_forward_and_never_back);
    tcase_add_test(test_case, a_boot_clock_that_goes_back_takes_back_nothing);
    tcase_add_test(test_case, without_clocks_of_its_own_a_store_uses_the_systems);
    BOTH(a_restart_of_the_process_counts_the_time_until_then_and_meanwhile);
    BOTH(a_reboot_with_the_machine_off_for_an_hour_is_an_hour);
    BOTH(a_wall_clock_set_back_across_a_reopen_repeats_what_was_not_stored);
    BOTH(a_wall_clock_set_back_across_a_reboot_repeats_what_was_not_stored);
    BOTH(a_wall_clock_set_forward_across_a_reopen_counts_as_time_that_has_passed);
    BOTH(a_wall_clock_set_forward_across_a_reboot_counts_as_time_that_has_passed);
    BOTH(a_step_of_the_wall_clock_while_the_store_was_open_is_not_counted_by_the_next_open);
    tcase_add_test(test_case, a_power_cut_takes_back_a_time_that_was_not_durable);
    BOTH(put_time_stores_both_times_and_the_wall_clock);
    BOTH(an_aborted_put_time_stores_nothing);
    BOTH(put_time_is_for_guarded_transactions);
    tcase_add_test(test_case, nodes_whose_clocks_differ_agree_on_the_greater_time_by_storing_it);
    tcase_add_test(test_case, what_is_stored_never_falls);
    tcase_add_test(test_case, a_greater_time_that_is_stored_meanwhile_is_not_overwritten);
    tcase_add_test(test_case, a_damaged_time_is_corrupt_and_stays_as_it_is);
    BOTH(times_stop_below_two_to_the_63);
    tcase_add_test(test_case, a_put_time_that_runs_out_of_memory_stores_nothing);
    tcase_add_test(test_case, a_put_time_that_the_hook_fails_stores_nothing);
#undef BOTH
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
