/* A store and fork(): in the child every call is refused, whatever the parent's threads held. */
#include "sapling/store.h"
#include "store/store_impl.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <string.h>
#include <unistd.h>

enum { TIMEOUT_S = 120, CHILD_S = 30 };

/* What a child inherits. */
typedef struct Inherited {
    SapStore *store;
    SapStoreTxn *writer; /* NULL: nothing is open */
    SapStoreTxn *reader;
} Inherited;

static int count_runs(SapStoreTxn *txn, void *ctx)
{
    (void)txn;
    ++*(int *)ctx;
    return SAP_OK;
}

static int move_nowhere(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    (void)ctx;
    (void)txn;
    (void)row;
    (void)target;
    return SAP_ERROR;
}

static void expect_txn_refused(SapStoreTxn *txn)
{
    SapStoreGuard guard = {SUITE_TABLE, "k", 1, true};
    SapStoreRange range = {.table = SUITE_TABLE};
    const SapStoreRow *rows = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t mark = 0;
    bool unknown = true;

    EXPECT(sap_store_version(txn) == 0, "it has a version");
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_ERROR);
    EXPECT_RC(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len), SAP_ERROR);
    EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "k", 1, "w", 1), SAP_ERROR);
    EXPECT_RC(sap_store_put_if_absent(txn, SUITE_TABLE, "n", 1, "w", 1), SAP_ERROR);
    EXPECT_RC(sap_store_del(txn, SUITE_TABLE, "k", 1), SAP_ERROR);
    EXPECT_RC(sap_store_scan(txn, &range, false, 1, &rows, &len), SAP_ERROR);
    EXPECT_RC(sap_store_claim(txn, &range, 1, move_nowhere, NULL, &len), SAP_ERROR);
    EXPECT_RC(sap_store_put_time(txn), SAP_ERROR);
    EXPECT_RC(sap_store_commit_async(txn, &mark, &unknown), SAP_ERROR);
    EXPECT(!unknown, "nothing was committed");
    EXPECT_RC(sap_store_commit(txn, &unknown), SAP_ERROR);
    sap_store_abort(txn);
}

static void use_inherited(void *arg)
{
    Inherited *inherited = (Inherited *)arg;
    SapStore *store = inherited->store;
    SapStorePrefix prefix = {.table = SUITE_TABLE};
    SapStoreTxn *txn = NULL;
    SapStoreStats stats;
    int runs = 0;

    (void)alarm(CHILD_S);
    for (unsigned kind = 0; kind <= SAP_STORE_CLAIM; kind++) {
        EXPECT_RC(sap_store_begin(store, (SapStoreKind)kind, &txn), SAP_ERROR);
        EXPECT_RC(sap_store_run(store, (SapStoreKind)kind, count_runs, &runs, NULL), SAP_ERROR);
    }
    EXPECT(runs == 0, "a body ran");
    EXPECT_RC(sap_store_wait(store, SAP_STORE_READ_NEWEST, &prefix, 0, 1000), SAP_ERROR);
    EXPECT_RC(sap_store_wait_durable(store, 0), SAP_ERROR);
    EXPECT_RC(sap_store_stats(store, &stats), SAP_ERROR);
    EXPECT(sap_store_lease_ns(store) == 0 && sap_store_due_ns(store) == 0, "it knows the time");
    if (inherited->writer != NULL) {
        expect_txn_refused(inherited->writer);
        expect_txn_refused(inherited->reader);
    }
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

/* The child does not go on with the parent's rows, in memory either. */
static void use_own(void *arg)
{
    StoreSuite *suite = (StoreSuite *)arg;
    StoreSuite own;

    (void)alarm(CHILD_S);
    EXPECT_RC(sap_store_close(suite->store), SAP_OK);
    own = (StoreSuite){.bed = suite->bed};
    SapStoreOptions options = store_suite_options(&own);
    SapStore *store = NULL;
    EXPECT_RC(sap_store_open("memory:own", &options, &store), SAP_OK);
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

static void fork_beside_transactions(StoreSuite *suite)
{
    Inherited inherited = {.store = suite->store};
    EXPECT_RC(sap_store_begin(suite->store, SAP_STORE_GUARDED, &inherited.writer), SAP_OK);
    EXPECT_RC(sap_store_begin(suite->store, SAP_STORE_READ_NEWEST, &inherited.reader), SAP_OK);
    EXPECT_RC(sap_store_put(inherited.writer, SUITE_TABLE, "k", 1, "new", 3), SAP_OK);
    files_in_child(use_inherited, &inherited);
    sap_store_abort(inherited.reader);
    EXPECT_RC(sap_store_commit(inherited.writer, NULL), SAP_OK);
    suite_expect_row(suite, "k", "new");
}

/* As when a thread of the parent was within a call. */
static void fork_beside_a_lock(StoreSuite *suite)
{
    Inherited inherited = {.store = suite->store};
    mutex_lock(&suite->store->lock);
    files_in_child(use_inherited, &inherited);
    mutex_unlock(&suite->store->lock);
    suite_put_row(suite, "k", "later");
    suite_expect_row(suite, "k", "later");
}

START_TEST(in_another_process_every_call_is_an_error_and_the_store_goes_on)
{
    StoreBeds beds;
    store_beds_start(&beds);
    for (int i = 0; i < beds.count; i++) {
        StoreSuite suite;
        expect_context("%s", beds.all[i].name);
        store_suite_open(&suite, &beds.all[i]);
        suite_put_row(&suite, "k", "old");
        fork_beside_transactions(&suite);
        fork_beside_a_lock(&suite);
        files_in_child(use_own, &suite);
        store_suite_close(&suite);
    }
    store_beds_end(&beds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_process");
    TCase *test_case = tcase_create("fork");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, in_another_process_every_call_is_an_error_and_the_store_goes_on);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
