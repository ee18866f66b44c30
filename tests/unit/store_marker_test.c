/* The marker: a store is opened only by programs of the format and schema that it was made with. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "store/meta.h"
#include "support/expect.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TABLE = 16, TIMEOUT_S = 60 };

static const uint32_t tables[] = {TABLE};
static const char url[] = "memory:marker";

static int open_as(const char *schema, SapStore **store_out)
{
    SapStoreOptions options = {.tables = tables, .table_count = 1, .schema = schema};
    return sap_store_open(url, &options, store_out);
}

static SapStore *open_schema(const char *schema)
{
    SapStore *store = NULL;
    EXPECT_RC(open_as(schema, &store), SAP_OK);
    return store;
}

/* Refused, with a text that contains these. */
static void expect_refused(const char *schema, int code, const char *first, const char *second)
{
    SapStore *store = NULL;
    EXPECT_RC(open_as(schema, &store), code);
    EXPECT(store == NULL, "a refused open gave a store");
    EXPECT(strstr(sap_open_error(), first) != NULL && strstr(sap_open_error(), second) != NULL,
           "the text '%s' lacks '%s' or '%s'", sap_open_error(), first, second);
}

static void no_bytes_are_left(void)
{
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes of the store are left",
           mem_live_bytes(MEM_STORE));
    EXPECT(mem_live_bytes(MEM_COMMON) == 0, "%zu bytes of codecs are left",
           mem_live_bytes(MEM_COMMON));
}

static void close_store(SapStore *store)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
}

/* Replaces a row of the meta table by these bytes; NULL: deletes it. */
static void set_meta(SapStore *store, uint8_t row, const void *bytes, size_t len)
{
    StoreKey key = {STORE_TABLE_META, {&row, sizeof row}};
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(bytes == NULL ? store_del(txn, key)
                            : store_put(txn, key, (Slice){bytes, len}, STORE_PUT_ANY),
              SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
}

static void set_marker(SapStore *store, const void *bytes, size_t len)
{
    set_meta(store, WIT_STORE_META_ROW_MARKER, bytes, len);
}

START_TEST(a_store_is_opened_again_with_the_schema_it_was_made_with)
{
    const char *const schemas[] = {
        "orders@2", "", NULL, "0123456789012345678901234567890123456789012345678901234567890123"};
    for (size_t i = 0; i < sizeof schemas / sizeof schemas[0]; i++) {
        SapStore *first = open_schema(schemas[i]);
        SapStore *second = open_schema(schemas[i]);
        close_store(first);
        close_store(open_schema(schemas[i])); /* the first that is left keeps it */
        close_store(second);
    }
}
END_TEST

START_TEST(no_schema_and_an_empty_one_are_the_same)
{
    SapStore *store = open_schema(NULL);
    close_store(open_schema(""));
    close_store(store);
}
END_TEST

START_TEST(a_store_of_another_schema_is_refused_and_unchanged)
{
    SapStore *store = open_schema("orders@2");
    expect_refused("orders@1", SAP_INVALID, "holds schema \"orders@2\"", "asks for \"orders@1\"");
    expect_refused("orders@20", SAP_INVALID, "\"orders@2\"", "\"orders@20\"");
    expect_refused("orders@", SAP_INVALID, "\"orders@2\"", "\"orders@\"");
    expect_refused(NULL, SAP_INVALID, "\"orders@2\"", "\"\"");
    expect_refused("orders@1", SAP_INVALID, url, "choose another store");
    close_store(open_schema("orders@2"));
    close_store(store);
}
END_TEST

START_TEST(a_store_of_a_later_format_is_refused)
{
    static const uint8_t later[] = {'S', 'A', 'P', 'S', 'T', 'O', 'R', 'E', 2,
                                    0,   0,   0,   0,   0,   0,   0,   7};
    SapStore *store = open_schema("");
    set_marker(store, later, sizeof later);
    expect_refused("", SAP_INVALID, "has format 2", "reads format 1");
    close_store(store);
}
END_TEST

START_TEST(a_marker_that_has_grown_is_accepted)
{
    static const uint8_t grown[] = {'S', 'A', 'P', 'S', 'T', 'O', 'R', 'E', 1,
                                    0,   0,   0,   0,   0,   0,   0,   7};
    SapStore *store = open_schema("");
    set_marker(store, grown, sizeof grown);
    close_store(open_schema(""));
    close_store(store);
}
END_TEST

START_TEST(a_damaged_marker_is_corrupt)
{
    static const uint8_t good[] = {'S', 'A', 'P', 'S', 'T', 'O', 'R', 'E', 1,
                                   0,   0,   0,   1,   0,   0,   0,   'x'};
    SapStore *store = open_schema("x");
    for (size_t len = 0; len < sizeof good; len++) {
        set_marker(store, good, len);
        expect_refused("x", SAP_CORRUPT, "marker is damaged", url);
    }
    for (size_t i = 0; i < 8; i++) {
        uint8_t bad[sizeof good];
        memcpy(bad, good, sizeof good);
        bad[i] ^= 1;
        set_marker(store, bad, sizeof bad);
        expect_refused("x", SAP_CORRUPT, "marker is damaged", "restore a backup");
    }
    set_marker(store, good, sizeof good);
    close_store(open_schema("x"));
    close_store(store);
}
END_TEST

START_TEST(rows_without_a_marker_are_not_a_store)
{
    SapStore *store = open_schema("x");
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_put(txn, TABLE, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    set_marker(store, NULL, 0);
    expect_refused("x", SAP_INVALID, "rows in table 8", "no marker");
    set_meta(store, WIT_STORE_META_ROW_TIME, NULL, 0);
    expect_refused("x", SAP_INVALID, "rows in table 16", "no marker");
    close_store(store);
}
END_TEST

START_TEST(a_schema_name_that_cannot_be_stored_is_misuse)
{
    expect_refused("01234567890123456789012345678901234567890123456789012345678901234", SAP_ERROR,
                   "at most 64 bytes", "");
    expect_refused("\xff", SAP_ERROR, "not UTF-8", "");
}
END_TEST

/* ---- What the caller notices of it ----------------------------------------------------------- */

static SapStoreFault fail_every_call(void *ctx, SapStoreCall call)
{
    (void)call;
    (*(int *)ctx)++;
    return SAP_STORE_FAULT_FAIL;
}

START_TEST(an_open_is_neither_counted_nor_seen_by_the_hook)
{
    int calls = 0;
    SapStore *store = NULL;
    SapStoreStats stats;
    SapStoreStats none = {.begun = {0}};
    SapStoreOptions options = {
        .tables = tables, .table_count = 1, .hook = fail_every_call, .hook_ctx = &calls};
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    EXPECT(calls == 0, "the hook saw %d calls", calls);
    EXPECT_RC(sap_store_stats(store, &stats), SAP_OK);
    EXPECT(memcmp(&stats, &none, sizeof stats) == 0, "the open was counted");
    close_store(store);
}
END_TEST

START_TEST(an_open_makes_nothing_durable_that_others_have_committed)
{
    SapStore *first = open_schema("x");
    SapStoreTxn *txn = NULL;
    uint64_t mark = 0;
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_begin(first, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_put(txn, TABLE, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
    SapStore *second = open_schema("x");
    EXPECT_RC(sap_store_begin(second, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    EXPECT_RC(sap_store_get(txn, TABLE, "k", 1, &val, &len), SAP_NOTFOUND);
    sap_store_abort(txn);
    close_store(second);
    close_store(first);
}
END_TEST

/* Every allocation of an open fails once. `first`: of the open that makes the store. */
static void fail_open_everywhere(bool first)
{
    SapStore *keep = first ? NULL : open_schema("x");
    uint64_t nth = 0;
    bool fired = true;
    while (fired) {
        SapStore *store = NULL;
        fault_reset();
        fault_arm_alloc(++nth);
        int rc = open_as("x", &store);
        fired = fault_fired() > 0;
        fault_reset();
        EXPECT_RC(rc, fired ? SAP_NOMEM : SAP_OK);
        EXPECT(fired == (store == NULL), "the open gave a store and a code");
        EXPECT(!fired || sap_open_error()[0] != '\0', "a failed open has a text");
        close_store(store);
        close_store(open_schema("x")); /* another try succeeds */
        if (first) {
            no_bytes_are_left();
        }
    }
    EXPECT(nth > 3, "only %llu allocations", (unsigned long long)nth);
    close_store(keep);
}

START_TEST(an_open_that_runs_out_of_memory_changes_nothing)
{
    fail_open_everywhere(true);
    fail_open_everywhere(false);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store marker");
    TCase *test_case = tcase_create("marker");
    tcase_add_checked_fixture(test_case, NULL, no_bytes_are_left);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_store_is_opened_again_with_the_schema_it_was_made_with);
    tcase_add_test(test_case, no_schema_and_an_empty_one_are_the_same);
    tcase_add_test(test_case, a_store_of_another_schema_is_refused_and_unchanged);
    tcase_add_test(test_case, a_store_of_a_later_format_is_refused);
    tcase_add_test(test_case, a_marker_that_has_grown_is_accepted);
    tcase_add_test(test_case, a_damaged_marker_is_corrupt);
    tcase_add_test(test_case, rows_without_a_marker_are_not_a_store);
    tcase_add_test(test_case, a_schema_name_that_cannot_be_stored_is_misuse);
    tcase_add_test(test_case, an_open_is_neither_counted_nor_seen_by_the_hook);
    tcase_add_test(test_case, an_open_makes_nothing_durable_that_others_have_committed);
    tcase_add_test(test_case, an_open_that_runs_out_of_memory_changes_nothing);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
