/* sap_store_run: what runs again, how often, and what does not. */
#include "common/mem.h"
#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <string.h>

enum { TIMEOUT_S = 120, CALLS = 6, FOREVER = 1000 };

static StoreBeds beds;
static StoreSuite suite;

/* What the body does, and how often it was called. */
typedef struct Work {
    uint32_t runs;
    int own_code;     /* returned after all calls, unless SAP_OK */
    bool hides_codes; /* returns SAP_OK, or own_code, whatever the store said */
} Work;

/* Five calls that each ask the hook: with the begin and the commit all kinds but claim. */
static int add_one_row(SapStoreTxn *txn, void *ctx)
{
    Work *work = ctx;
    SapStoreGuard guard = {SUITE_TABLE, "k", 1, true};
    SapStoreRange range = {.table = SUITE_TABLE};
    const SapStoreRow *rows = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    work->runs++;
    int rc = sap_store_guard(txn, &guard, 1);
    if (rc == SAP_OK || work->hides_codes) {
        rc = sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len);
    }
    if (rc == SAP_OK || rc == SAP_NOTFOUND || work->hides_codes) {
        rc = sap_store_scan(txn, &range, false, 10, &rows, &len);
    }
    if (rc == SAP_OK || work->hides_codes) {
        rc = sap_store_put(txn, SUITE_TABLE, "k", 1, "1", 1);
    }
    return rc == SAP_OK || work->hides_codes ? work->own_code : rc;
}

static int run_work(Work *work, bool *unknown_out)
{
    *unknown_out = true;
    work->runs = 0;
    return sap_store_run(suite.store, SAP_STORE_GUARDED, add_one_row, work, unknown_out);
}

static SapStoreStats stats_now(void)
{
    SapStoreStats stats;
    EXPECT_RC(sap_store_stats(suite.store, &stats), SAP_OK);
    return stats;
}

/* Every test runs on every store. */
static void on_every_store(void (*test)(void))
{
    store_beds_start(&beds);
    for (int i = 0; i < beds.count; i++) {
        expect_context("%s", beds.all[i].name);
        store_suite_open(&suite, &beds.all[i]);
        test();
        store_suite_close(&suite);
    }
    store_beds_end(&beds);
}

static void expect_row_and_remove_it(const char *val)
{
    suite_expect_row(&suite, "k", val);
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(suite.store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_del(txn, SUITE_TABLE, "k", 1), *val == '-' ? SAP_NOTFOUND : SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

static void check_again(void)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_BUSY, SAP_STORE_FAULT_CONFLICT};
    for (int f = 0; f < 2; f++) {
        for (uint32_t call = 1; call <= CALLS; call++) {
            Work work = {0};
            bool unknown = true;
            uint64_t again = stats_now().run_again;
            store_suite_arm_any(&suite, faults[f], call);
            EXPECT_RC(run_work(&work, &unknown), SAP_OK);
            EXPECT(suite.fault_fired == 1, "call %u did not ask the hook", call);
            EXPECT(!unknown, "it is known");
            /* A begin that is refused calls no body. */
            EXPECT(work.runs == (call == 1 ? 1 : 2), "%u runs with call %u refused", work.runs,
                   call);
            EXPECT(stats_now().run_again == again + 1, "the numbers");
            expect_row_and_remove_it("1");
        }
    }
}

START_TEST(a_refused_transaction_runs_again_whichever_call_was_refused)
{
    on_every_store(check_again);
}
END_TEST

static void check_bound(void)
{
    static const SapStoreCall calls[] = {SAP_STORE_CALL_BEGIN, SAP_STORE_CALL_GUARD,
                                         SAP_STORE_CALL_COMMIT};
    for (int c = 0; c < 3; c++) {
        Work work = {0};
        bool unknown = true;
        uint64_t again = stats_now().run_again;
        store_suite_arm(&suite, calls[c], SAP_STORE_FAULT_CONFLICT, 1);
        suite.fault_times = FOREVER;
        EXPECT_RC(run_work(&work, &unknown), SAP_CONFLICT);
        EXPECT(suite.fault_fired == SAP_STORE_RUN_ATTEMPTS, "%u attempts", suite.fault_fired);
        EXPECT(work.runs == (c == 0 ? 0 : SAP_STORE_RUN_ATTEMPTS), "%u runs", work.runs);
        EXPECT(stats_now().run_again == again + SAP_STORE_RUN_ATTEMPTS - 1, "the numbers");
        EXPECT(!unknown, "it is known: nothing");
        store_suite_disarm(&suite);
        expect_row_and_remove_it("-");
    }
    /* The last attempt counts. */
    Work work = {0};
    bool unknown = true;
    store_suite_arm(&suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_BUSY, 1);
    suite.fault_times = SAP_STORE_RUN_ATTEMPTS - 1;
    EXPECT_RC(run_work(&work, &unknown), SAP_OK);
    EXPECT(work.runs == SAP_STORE_RUN_ATTEMPTS, "%u runs", work.runs);
    expect_row_and_remove_it("1");
}

START_TEST(it_runs_sixteen_times_and_no_more_and_returns_the_last_code)
{
    on_every_store(check_bound);
}
END_TEST

static void check_unknown(void)
{
    static const struct {
        SapStoreCall call;
        SapStoreFault fault;
        const char *val; /* of the row then */
    } cases[] = {{SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_LOST_BEFORE, "-"},
                 {SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_LOST_AFTER, "1"},
                 {SAP_STORE_CALL_WAIT_DURABLE, SAP_STORE_FAULT_FAIL, "1"},
                 {SAP_STORE_CALL_WAIT_DURABLE, SAP_STORE_FAULT_BUSY, "1"},
                 {SAP_STORE_CALL_WAIT_DURABLE, SAP_STORE_FAULT_CONFLICT, "1"}};
    for (int i = 0; i < 5; i++) {
        Work work = {0};
        bool unknown = false;
        uint64_t counted = stats_now().outcome_unknown;
        store_suite_arm(&suite, cases[i].call, cases[i].fault, 1);
        EXPECT_RC(run_work(&work, &unknown), SAP_IO);
        EXPECT(unknown && work.runs == 1, "case %d: %u runs, outcome %s", i, work.runs,
               unknown ? "unknown" : "known");
        EXPECT(stats_now().outcome_unknown == counted + 1, "the numbers");
        expect_row_and_remove_it(cases[i].val);
    }
    /* However often the connection would be lost: there is one attempt. */
    Work work = {0};
    bool unknown = false;
    store_suite_arm(&suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_LOST_AFTER, 1);
    suite.fault_times = FOREVER;
    EXPECT_RC(run_work(&work, &unknown), SAP_IO);
    EXPECT(unknown && work.runs == 1, "%u runs", work.runs);
    store_suite_disarm(&suite);
    expect_row_and_remove_it("1");
}

START_TEST(an_unknown_outcome_is_not_tried_again)
{
    on_every_store(check_unknown);
}
END_TEST

static void check_codes(void)
{
    static const int codes[] = {SAP_BUSY, SAP_CONFLICT, SAP_INVALID, SAP_NOTFOUND, SAP_IO};
    for (int i = 0; i < 5; i++) {
        Work work = {.own_code = codes[i]};
        bool unknown = true;
        SapStoreStats before = stats_now();
        EXPECT_RC(run_work(&work, &unknown), codes[i]);
        EXPECT(work.runs == 1, "code %d of the body's own: %u runs", codes[i], work.runs);
        EXPECT(!unknown, "it was undone");
        SapStoreStats after = stats_now();
        EXPECT(after.aborted == before.aborted + 1 && after.committed == before.committed &&
                   after.run_again == before.run_again,
               "the numbers");
        expect_row_and_remove_it("-");
    }
}

START_TEST(a_code_of_the_bodys_own_ends_it_even_if_it_is_busy)
{
    on_every_store(check_codes);
}
END_TEST

static void check_hidden(void)
{
    static const int codes[] = {SAP_OK, SAP_INVALID};
    for (uint32_t call = 2; call < CALLS; call++) {
        for (int i = 0; i < 2; i++) {
            Work work = {.own_code = codes[i], .hides_codes = true};
            bool unknown = true;
            store_suite_arm_any(&suite, SAP_STORE_FAULT_BUSY, call);
            EXPECT_RC(run_work(&work, &unknown), codes[i]);
            EXPECT(work.runs == 2, "what the store said counts: %u runs, call %u", work.runs, call);
            expect_row_and_remove_it(codes[i] == SAP_OK ? "1" : "-");
        }
    }
}

START_TEST(a_refusal_counts_even_if_the_body_does_not_return_it)
{
    on_every_store(check_hidden);
}
END_TEST

static void check_failures(void)
{
    for (uint32_t call = 1; call <= CALLS; call++) {
        Work work = {0};
        bool unknown = true;
        store_suite_arm_any(&suite, SAP_STORE_FAULT_FAIL, call);
        EXPECT_RC(run_work(&work, &unknown), SAP_IO);
        EXPECT(!unknown && work.runs <= 1, "call %u: %u runs", call, work.runs);
        expect_row_and_remove_it("-");
    }
    Work work = {0};
    bool unknown = true;
    store_suite_arm(&suite, SAP_STORE_CALL_GET, SAP_STORE_FAULT_CRASH, 1);
    EXPECT_RC(run_work(&work, &unknown), SAP_IO);
    EXPECT(!unknown && work.runs == 1, "%u runs", work.runs);
    EXPECT_RC(run_work(&work, &unknown), SAP_IO);
    EXPECT(work.runs == 0, "nothing runs after a crash");
    store_suite_reopen(&suite);
    expect_row_and_remove_it("-");
}

START_TEST(other_failures_end_it)
{
    on_every_store(check_failures);
}
END_TEST

/* One who holds a guard in this thread cannot let go of it: the other gives up in the end. */
static void check_nested(void)
{
    SapStoreGuard guard = {SUITE_TABLE, "k", 1, true};
    SapStoreTxn *outer = NULL;
    Work work = {0};
    bool unknown = true;
    EXPECT_RC(sap_store_begin(suite.store, SAP_STORE_GUARDED, &outer), SAP_OK);
    EXPECT_RC(sap_store_guard(outer, &guard, 1), SAP_OK);
    uint64_t again = stats_now().run_again;
    EXPECT_RC(run_work(&work, &unknown), SAP_BUSY);
    /* Where there is one writer the begin is refused, and would be again. */
    uint64_t more = work.runs == 0 ? 0 : SAP_STORE_RUN_ATTEMPTS - 1;
    EXPECT(stats_now().run_again == again + more, "the numbers");
    EXPECT((work.runs == 0) == (suite.bed == &beds.all[STORE_BED_FILE]), "%u runs", work.runs);
    EXPECT(!unknown, "it is known");
    EXPECT_RC(sap_store_commit(outer, NULL), SAP_OK);
    EXPECT_RC(run_work(&work, &unknown), SAP_OK);
    expect_row_and_remove_it("1");
}

START_TEST(a_guard_that_is_never_free_is_busy_in_the_end)
{
    on_every_store(check_nested);
}
END_TEST

static int read_row(SapStoreTxn *txn, void *ctx)
{
    Work *work = ctx;
    const void *val = NULL;
    uint32_t len = 0;
    work->runs++;
    return sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len);
}

static void check_kinds(void)
{
    suite_put_row(&suite, "k", "1");
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_CLAIM; kind++) {
        Work work = {0};
        SapStoreStats before = stats_now();
        store_suite_arm(&suite, SAP_STORE_CALL_GET, SAP_STORE_FAULT_CONFLICT, 1);
        EXPECT_RC(sap_store_run(suite.store, (SapStoreKind)kind, read_row, &work, NULL), SAP_OK);
        EXPECT(work.runs == 2, "%u runs", work.runs);
        SapStoreStats after = stats_now();
        EXPECT(after.begun[kind] == before.begun[kind] + 2, "one transaction a run");
        EXPECT(after.conflicts == before.conflicts + 1 && after.faults == before.faults + 1 &&
                   after.aborted == before.aborted + 1 && after.committed == before.committed,
               "the numbers");
    }
}

START_TEST(transactions_of_every_kind_can_be_run)
{
    on_every_store(check_kinds);
}
END_TEST

int main(void)
{
    Suite *tests = suite_create("store_run");
    TCase *test_case = tcase_create("run");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_refused_transaction_runs_again_whichever_call_was_refused);
    tcase_add_test(test_case, it_runs_sixteen_times_and_no_more_and_returns_the_last_code);
    tcase_add_test(test_case, an_unknown_outcome_is_not_tried_again);
    tcase_add_test(test_case, a_code_of_the_bodys_own_ends_it_even_if_it_is_busy);
    tcase_add_test(test_case, a_refusal_counts_even_if_the_body_does_not_return_it);
    tcase_add_test(test_case, other_failures_end_it);
    tcase_add_test(test_case, a_guard_that_is_never_free_is_busy_in_the_end);
    tcase_add_test(test_case, transactions_of_every_kind_can_be_run);
    suite_add_tcase(tests, test_case);
    return suite_run(tests);
}
