/* Two transactions of one thread on a PostgreSQL server: what is locked, who is refused, what is
 * skipped. A call that would wait for the other one gets SAP_BUSY after the lock timeout. */
#include "common/mem.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/store_pg_server.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_S = 120, TABLE = 16, MOVED = 17 };

static const uint32_t tables[] = {TABLE, MOVED};
static PgServer server;
static bool is_there;
static SapStore *store;

static void start_server(void)
{
    is_there = pg_server_start(&server, NULL);
}

static void end_server(void)
{
    pg_server_end(&server);
}

static SapStoreOptions store_options(void)
{
    return (SapStoreOptions){.size = sizeof(SapStoreOptions), .tables = tables, .table_count = 2};
}

static void open_store(void)
{
    static unsigned number;
    char url[PG_SERVER_URL_MAX];
    char params[64];
    SapStoreOptions options = store_options();
    if (!is_there) {
        return;
    }
    (void)snprintf(params, sizeof params, "schema=rows%d_%u&lock_timeout_ms=100", (int)getpid(),
                   ++number);
    pg_server_url(&server, params, url, sizeof url);
    EXPECT(sap_store_init(url, &options) == SAP_OK, "%s", sap_open_error());
    EXPECT(sap_store_open(url, &options, &store) == SAP_OK, "%s", sap_open_error());
}

static void close_store(void)
{
    if (is_there) {
        EXPECT_RC(sap_store_close(store), SAP_OK);
        EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    }
}

static SapStoreTxn *begin_txn(SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, kind, &txn), SAP_OK);
    return txn;
}

static int guard_key(SapStoreTxn *txn, const char *key, bool exclusive)
{
    SapStoreGuard guard = {TABLE, key, (uint32_t)strlen(key), exclusive};
    return sap_store_guard(txn, &guard, 1);
}

static void put_letters(const char *letters)
{
    SapStoreTxn *txn = begin_txn(SAP_STORE_GUARDED);
    for (const char *at = letters; *at != 0; at++) {
        EXPECT_RC(sap_store_put(txn, TABLE, at, 1, at, 1), SAP_OK);
    }
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

START_TEST(a_guard_on_a_row_that_is_absent_keeps_others_away)
{
    if (!is_there) {
        return;
    }
    SapStoreTxn *first = begin_txn(SAP_STORE_GUARDED);
    SapStoreTxn *second = begin_txn(SAP_STORE_GUARDED);
    SapStoreTxn *third = begin_txn(SAP_STORE_GUARDED);
    EXPECT_RC(guard_key(first, "absent", true), SAP_OK);
    EXPECT_RC(guard_key(second, "absent", true), SAP_BUSY);
    EXPECT_RC(guard_key(third, "another", true), SAP_OK);
    sap_store_abort(second);
    sap_store_abort(third);
    second = begin_txn(SAP_STORE_GUARDED);
    EXPECT_RC(guard_key(second, "absent", false), SAP_BUSY);
    sap_store_abort(second);
    sap_store_abort(first);
    second = begin_txn(SAP_STORE_GUARDED);
    EXPECT_RC(guard_key(second, "absent", true), SAP_OK);
    sap_store_abort(second);
}
END_TEST

START_TEST(shared_guards_go_together_and_not_with_an_exclusive_one)
{
    if (!is_there) {
        return;
    }
    SapStoreTxn *first = begin_txn(SAP_STORE_GUARDED);
    SapStoreTxn *second = begin_txn(SAP_STORE_GUARDED);
    SapStoreTxn *third = begin_txn(SAP_STORE_GUARDED);
    EXPECT_RC(guard_key(first, "k", false), SAP_OK);
    EXPECT_RC(guard_key(second, "k", false), SAP_OK);
    EXPECT_RC(guard_key(third, "k", true), SAP_BUSY);
    sap_store_abort(third);
    sap_store_abort(second);
    sap_store_abort(first);
}
END_TEST

static int take_row(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    char *taken = ctx;
    (void)txn;
    taken[strlen(taken)] = *(const char *)row->key;
    *target = (SapStoreTarget){MOVED, *row};
    return SAP_OK;
}

static uint32_t claim_rows(SapStoreTxn *txn, const char *to, uint32_t limit, char taken[16])
{
    SapStoreRange range = {.table = TABLE, .to = to, .to_len = to == NULL ? 0 : 1};
    uint32_t count = 0;
    memset(taken, 0, 16);
    EXPECT_RC(sap_store_claim(txn, &range, limit, take_row, taken, &count), SAP_OK);
    return count;
}

/* None of the second one's calls may wait: its rows would be free only after the first has ended. */
START_TEST(a_claim_skips_what_others_have_locked_and_does_not_wait)
{
    static const char *const ends[] = {NULL, "z"};
    char taken[16];
    if (!is_there) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        put_letters("abcdefg");
        SapStoreTxn *first = begin_txn(SAP_STORE_CLAIM);
        SapStoreTxn *guard = begin_txn(SAP_STORE_GUARDED);
        SapStoreTxn *second = begin_txn(SAP_STORE_CLAIM);
        EXPECT(claim_rows(first, ends[i], 2, taken) == 2 && strcmp(taken, "ab") == 0, "%s", taken);
        EXPECT_RC(guard_key(guard, "d", true), SAP_OK);
        EXPECT(claim_rows(second, ends[i], 3, taken) == 3 && strcmp(taken, "cef") == 0, "%s",
               taken);
        EXPECT_RC(sap_store_commit(second, NULL), SAP_OK);
        sap_store_abort(first);
        sap_store_abort(guard);
        SapStoreTxn *rest = begin_txn(SAP_STORE_CLAIM);
        EXPECT(claim_rows(rest, ends[i], 9, taken) == 4 && strcmp(taken, "abdg") == 0, "%s", taken);
        EXPECT_RC(sap_store_commit(rest, NULL), SAP_OK);
    }
}
END_TEST

START_TEST(a_put_that_met_a_lock_fails_the_transaction_at_its_next_answer)
{
    if (!is_there) {
        return;
    }
    put_letters("k");
    SapStoreTxn *first = begin_txn(SAP_STORE_GUARDED);
    SapStoreTxn *second = begin_txn(SAP_STORE_GUARDED);
    bool unknown = true;
    EXPECT_RC(guard_key(first, "k", true), SAP_OK);
    EXPECT_RC(sap_store_put(second, TABLE, "k", 1, "2", 1), SAP_OK);
    EXPECT_RC(sap_store_commit(second, &unknown), SAP_BUSY);
    EXPECT(!unknown, "a lock that was waited for in vain is a definite abort");
    sap_store_abort(first);
}
END_TEST

START_TEST(a_child_of_fork_uses_nothing_of_its_parent)
{
    int status = -1;
    if (!is_there) {
        return;
    }
    put_letters("a");
    pid_t child = fork();
    if (child == 0) {
        SapStoreTxn *txn = NULL;
        int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
        int closed = sap_store_close(store);
        _exit(rc == SAP_ERROR && closed == SAP_OK ? 0 : 1);
    }
    EXPECT(waitpid(child, &status, 0) == child && status == 0, "status %d", status);
    put_letters("b"); /* the parent's connections are as they were */
}
END_TEST

START_TEST(a_table_that_a_crash_would_empty_is_refused)
{
    char url[PG_SERVER_URL_MAX];
    SapStoreOptions options = store_options();
    SapStore *refused = NULL;
    if (!is_there) {
        return;
    }
    pg_server_url(&server, "schema=unlogged", url, sizeof url);
    EXPECT_RC(sap_store_init(url, &options), SAP_OK);
    pg_server_sql(&server, "ALTER TABLE unlogged.t16 SET UNLOGGED");
    EXPECT_RC(sap_store_open(url, &options, &refused), SAP_INVALID);
    EXPECT(strstr(sap_open_error(), "UNLOGGED") != NULL, "%s", sap_open_error());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_postgres_rows");
    TCase *test_case = tcase_create("rows");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_unchecked_fixture(test_case, start_server, end_server);
    tcase_add_checked_fixture(test_case, open_store, close_store);
    tcase_add_test(test_case, a_guard_on_a_row_that_is_absent_keeps_others_away);
    tcase_add_test(test_case, shared_guards_go_together_and_not_with_an_exclusive_one);
    tcase_add_test(test_case, a_claim_skips_what_others_have_locked_and_does_not_wait);
    tcase_add_test(test_case, a_put_that_met_a_lock_fails_the_transaction_at_its_next_answer);
    tcase_add_test(test_case, a_child_of_fork_uses_nothing_of_its_parent);
    tcase_add_test(test_case, a_table_that_a_crash_would_empty_is_refused);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
