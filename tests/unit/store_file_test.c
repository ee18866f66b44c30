/* The store in a file: what it keeps, what a durable read sees, what it refuses to open, and which codes
 * leave a transaction usable. */
#include "common/mem.h"
#include "runner/runner_v0.h"
#include "sapling/queue.h"
#include "sapling/sapling.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 16, OTHER_TABLE = 1023, TIMEOUT_S = 120, MANY = 200 };

static const uint32_t tables[] = {OTHER_TABLE, TABLE};
static FileBed bed;
static char url[FILES_PATH_MAX + 16];
static SapStore *store;

static SapStoreOptions default_options(void)
{
    return (SapStoreOptions){.size = sizeof(SapStoreOptions), .tables = tables, .table_count = 2};
}

static SapStore *open_store(void)
{
    SapStoreOptions options = default_options();
    SapStore *opened = NULL;
    EXPECT_RC(sap_store_open(url, &options, &opened), SAP_OK);
    return opened;
}

static void reopen(void)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    store = open_store();
}

static void setup_bed(void)
{
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
}

static void setup(void)
{
    setup_bed();
    store = open_store();
}

static void teardown(void)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    store = NULL;
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    file_bed_end(&bed);
}

static SapStoreTxn *begin(SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, kind, &txn), SAP_OK);
    return txn;
}

static int put(SapStoreTxn *txn, const char *key, const char *val)
{
    return sap_store_put(txn, TABLE, key, (uint32_t)strlen(key), val, (uint32_t)strlen(val));
}

static int del(SapStoreTxn *txn, const char *key)
{
    return sap_store_del(txn, TABLE, key, (uint32_t)strlen(key));
}

static bool has_value(SapStoreTxn *txn, const char *key, const char *val)
{
    const void *got = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, TABLE, key, (uint32_t)strlen(key), &got, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %d", rc);
    return rc == SAP_OK && len == strlen(val) && memcmp(got, val, len) == 0;
}

static bool sees(SapStoreKind kind, const char *key, const char *val)
{
    SapStoreTxn *txn = begin(kind);
    bool found = has_value(txn, key, val);
    sap_store_abort(txn);
    return found;
}

static void commit(SapStoreTxn *txn)
{
    bool unknown = true;
    EXPECT_RC(sap_store_commit(txn, &unknown), SAP_OK);
    EXPECT(!unknown, "a commit that succeeded is known");
}

static uint64_t commit_async(SapStoreTxn *txn)
{
    uint64_t mark = 0;
    bool unknown = true;
    EXPECT_RC(sap_store_commit_async(txn, &mark, &unknown), SAP_OK);
    EXPECT(!unknown, "a commit that succeeded is known");
    return mark;
}

static void store_row(const char *key, const char *val)
{
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, key, val), SAP_OK);
    commit(txn);
}

static uint64_t store_row_async(const char *key, const char *val)
{
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, key, val), SAP_OK);
    return commit_async(txn);
}

/* ---- What it keeps --------------------------------------------------------------------------- */

START_TEST(rows_are_there_when_the_file_is_opened_again)
{
    store_row("a", "1");
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "b", "2"), SAP_OK);
    EXPECT_RC(sap_store_put(txn, OTHER_TABLE, "b", 1, "3", 1), SAP_OK);
    EXPECT_RC(del(txn, "a"), SAP_OK);
    commit(txn);
    reopen();
    EXPECT(sees(SAP_STORE_READ_DURABLE, "b", "2"), "the row is lost");
    EXPECT(!sees(SAP_STORE_READ_DURABLE, "a", "1"), "a deleted row is back");
    txn = begin(SAP_STORE_READ_DURABLE);
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_get(txn, OTHER_TABLE, "b", 1, &val, &len), SAP_OK);
    EXPECT(len == 1 && memcmp(val, "3", 1) == 0, "tables share no rows");
    commit(txn);
}
END_TEST

START_TEST(what_is_aborted_or_failed_is_not_there)
{
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "a", "1"), SAP_OK);
    sap_store_abort(txn);
    EXPECT(!sees(SAP_STORE_READ_NEWEST, "a", "1"), "an abort has committed");
    reopen();
    EXPECT(!sees(SAP_STORE_READ_DURABLE, "a", "1"), "an abort has committed");
}
END_TEST

/* An asynchronous commit reaches the disk milliseconds later: of many, most are read before that. */
START_TEST(a_durable_read_does_not_see_what_a_crash_could_take_back)
{
    int unseen = 0;
    for (int i = 0; i < MANY; i++) {
        char val[16];
        (void)snprintf(val, sizeof val, "%d", i);
        uint64_t mark = store_row_async("k", val);
        unseen += !sees(SAP_STORE_READ_DURABLE, "k", val);
        EXPECT(sees(SAP_STORE_READ_NEWEST, "k", val), "a newest read sees every commit");
        EXPECT_RC(sap_store_wait_durable(store, mark), SAP_OK);
        EXPECT(sees(SAP_STORE_READ_DURABLE, "k", val), "it is durable");
    }
    EXPECT(unseen > 0, "%d durable reads saw commits that were not on disk", MANY);
}
END_TEST

static void expect_read_is_waited_for(SapStoreKind kind, bool async)
{
    for (int i = 0; i < MANY; i++) {
        char val[16];
        (void)snprintf(val, sizeof val, "%d-%d-%d", (int)kind, (int)async, i);
        (void)store_row_async("k", val);
        SapStoreTxn *txn = begin(kind);
        EXPECT(has_value(txn, "k", val), "it reads the newest");
        if (async) {
            EXPECT_RC(sap_store_wait_durable(store, commit_async(txn)), SAP_OK);
        } else {
            commit(txn);
        }
        EXPECT(sees(SAP_STORE_READ_DURABLE, "k", val), "what it read was not durable");
    }
}

START_TEST(a_commit_that_wrote_nothing_waits_until_what_it_read_is_durable)
{
    static const SapStoreKind kinds[] = {SAP_STORE_READ_NEWEST, SAP_STORE_GUARDED, SAP_STORE_CLAIM};
    for (size_t i = 0; i < 3; i++) {
        expect_read_is_waited_for(kinds[i], false);
        expect_read_is_waited_for(kinds[i], true);
    }
}
END_TEST

START_TEST(a_mark_that_no_commit_has_is_an_error)
{
    uint64_t mark = store_row_async("k", "v");
    EXPECT_RC(sap_store_wait_durable(store, mark + 1), SAP_ERROR);
    EXPECT_RC(sap_store_wait_durable(store, UINT64_MAX), SAP_ERROR);
    EXPECT_RC(sap_store_wait_durable(store, mark), SAP_OK);
}
END_TEST

START_TEST(a_read_sees_one_snapshot)
{
    store_row("k", "old");
    SapStoreTxn *durable = begin(SAP_STORE_READ_DURABLE);
    SapStoreTxn *newest = begin(SAP_STORE_READ_NEWEST);
    store_row("k", "new");
    EXPECT(has_value(durable, "k", "old") && has_value(newest, "k", "old"), "a snapshot changed");
    EXPECT_RC(put(newest, "k", "x"), SAP_READONLY);
    EXPECT_RC(del(durable, "k"), SAP_READONLY);
    EXPECT(has_value(durable, "k", "old"), "a refused write ended the transaction");
    commit(durable);
    commit(newest);
}
END_TEST

/* ---- Rows ------------------------------------------------------------------------------------ */

/* Keys in the order they come, such as "abc". */
static void expect_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                        const char *keys)
{
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    char got[32] = {0};
    EXPECT_RC(sap_store_scan(txn, range, backward, limit, &rows, &count), SAP_OK);
    EXPECT(count < sizeof got, "%u rows", count);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(rows[i].key_len == 1 && rows[i].val_len == 2, "the wrong lengths");
        got[i] = *(const char *)rows[i].key;
    }
    EXPECT(strcmp(got, keys) == 0, "the scan found %s, not %s", got, keys);
}

static void expect_scans(SapStoreTxn *txn)
{
    char longest[4096];
    memset(longest, 'c', sizeof longest);
    const SapStoreRange all = {.table = TABLE};
    const SapStoreRange some = {TABLE, "b", 1, "d", 1};
    const SapStoreRange reversed = {TABLE, "d", 1, "b", 1};
    const SapStoreRange nothing = {TABLE, NULL, 0, "", 0};
    const SapStoreRange after_c = {TABLE, longest, sizeof longest, NULL, 0};
    const SapStoreRange to_c = {TABLE, NULL, 0, longest, sizeof longest};
    const SapStoreRange far = {TABLE, "x", 1, "z", 1};
    const SapStoreRange empty = {.table = OTHER_TABLE};
    expect_scan(txn, &all, false, UINT32_MAX, "abcde");
    expect_scan(txn, &all, true, UINT32_MAX, "edcba");
    expect_scan(txn, &all, false, 2, "ab");
    expect_scan(txn, &all, true, 2, "ed");
    expect_scan(txn, &some, false, 5, "bc");
    expect_scan(txn, &some, true, 5, "cb");
    expect_scan(txn, &some, true, 1, "c");
    expect_scan(txn, &reversed, false, 5, "");
    expect_scan(txn, &reversed, true, 5, "");
    expect_scan(txn, &nothing, false, 5, "");
    expect_scan(txn, &nothing, true, 5, "");
    expect_scan(txn, &after_c, false, 5, "de");
    expect_scan(txn, &after_c, true, 5, "ed");
    expect_scan(txn, &to_c, false, 5, "abc");
    expect_scan(txn, &to_c, true, 5, "cba");
    expect_scan(txn, &far, false, 5, "");
    expect_scan(txn, &far, true, 5, "");
    expect_scan(txn, &empty, false, 5, "");
    expect_scan(txn, &empty, true, 5, "");
}

START_TEST(scans_take_half_open_ranges_both_ways)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    for (size_t i = 0; i < 5; i++) {
        EXPECT_RC(put(txn, keys[i], "12"), SAP_OK);
    }
    expect_scans(txn);
    commit(txn);
    txn = begin(SAP_STORE_READ_DURABLE);
    expect_scans(txn);
    commit(txn);
}
END_TEST

START_TEST(what_a_writer_has_read_stays_while_it_writes)
{
    char big[3000];
    memset(big, 'x', sizeof big);
    store_row("a", "first");
    store_row("b", "second");
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    const SapStoreRange all = {.table = TABLE};
    const SapStoreRow *rows = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    uint32_t count = 0;
    EXPECT_RC(put(txn, "b", "third!"), SAP_OK); /* what it wrote itself may change in place */
    EXPECT_RC(sap_store_get(txn, TABLE, "a", 1, &val, &len), SAP_OK);
    EXPECT_RC(sap_store_scan(txn, &all, false, 9, &rows, &count), SAP_OK);
    EXPECT_RC(put(txn, "a", "other"), SAP_OK);
    EXPECT_RC(del(txn, "b"), SAP_OK);
    for (int i = 0; i < MANY; i++) {
        char key[8];
        (void)snprintf(key, sizeof key, "%d", i);
        EXPECT_RC(sap_store_put(txn, TABLE, key, (uint32_t)strlen(key), big, sizeof big), SAP_OK);
    }
    EXPECT(len == 5 && memcmp(val, "first", 5) == 0, "a value read has changed");
    EXPECT(count == 2 && memcmp(rows[0].key, "a", 1) == 0 && memcmp(rows[0].val, "first", 5) == 0 &&
               memcmp(rows[1].key, "b", 1) == 0 && memcmp(rows[1].val, "third!", 6) == 0,
           "rows of a scan have changed");
    commit(txn);
}
END_TEST

START_TEST(put_if_absent_and_del_say_what_was_there)
{
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_put_if_absent(txn, TABLE, "a", 1, "1", 1), SAP_OK);
    EXPECT_RC(sap_store_put_if_absent(txn, TABLE, "a", 1, "2", 1), SAP_EXISTS);
    EXPECT(has_value(txn, "a", "1"), "a refused put changed the row");
    EXPECT_RC(del(txn, "b"), SAP_NOTFOUND);
    EXPECT_RC(del(txn, "a"), SAP_OK);
    EXPECT_RC(del(txn, "a"), SAP_NOTFOUND);
    EXPECT_RC(sap_store_put(txn, TABLE, NULL, 0, NULL, 0), SAP_OK);
    EXPECT(has_value(txn, "", ""), "the empty key is a key");
    commit(txn);
}
END_TEST

START_TEST(keys_values_and_guards_above_their_limits_are_full_and_change_nothing)
{
    uint32_t key_len = SAP_STORE_MAX_KEY;
    uint32_t val_len = SAP_STORE_MAX_VALUE;
    char *bytes = (char *)calloc(1, (size_t)val_len + 1);
    SapStoreGuard guards[SAP_STORE_MAX_GUARDS + 1];
    const void *val = NULL;
    uint32_t len = 0;
    for (uint32_t i = 0; i <= SAP_STORE_MAX_GUARDS; i++) {
        guards[i] = (SapStoreGuard){TABLE, bytes, i, i % 2 == 0};
    }
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_guard(txn, guards, SAP_STORE_MAX_GUARDS + 1), SAP_FULL);
    EXPECT_RC(sap_store_guard(txn, guards, SAP_STORE_MAX_GUARDS), SAP_OK);
    EXPECT_RC(sap_store_put(txn, TABLE, bytes, key_len + 1, "v", 1), SAP_FULL);
    EXPECT_RC(sap_store_put(txn, TABLE, "k", 1, bytes, val_len + 1), SAP_FULL);
    EXPECT_RC(sap_store_put_if_absent(txn, TABLE, "k", 1, bytes, val_len + 1), SAP_FULL);
    EXPECT_RC(sap_store_get(txn, TABLE, bytes, key_len + 1, &val, &len), SAP_FULL);
    EXPECT_RC(sap_store_del(txn, TABLE, bytes, key_len + 1), SAP_FULL);
    EXPECT_RC(sap_store_put(txn, TABLE, bytes, key_len, bytes, val_len), SAP_OK);
    commit(txn);
    reopen();
    txn = begin(SAP_STORE_READ_DURABLE);
    EXPECT_RC(sap_store_get(txn, TABLE, bytes, key_len, &val, &len), SAP_OK);
    EXPECT(len == val_len && memcmp(val, bytes, len) == 0, "the largest row has changed");
    EXPECT_RC(sap_store_get(txn, TABLE, "k", 1, &val, &len), SAP_NOTFOUND);
    commit(txn);
    free(bytes);
}
END_TEST

/* ---- Kinds ----------------------------------------------------------------------------------- */

START_TEST(a_second_writer_in_the_same_thread_is_busy_and_readers_are_not)
{
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    SapStoreTxn *second = NULL;
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &second), SAP_BUSY);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_CLAIM, &second), SAP_BUSY);
    EXPECT(second == NULL, "a begin that failed has a result");
    EXPECT_RC(put(txn, "k", "v"), SAP_OK);
    EXPECT(!sees(SAP_STORE_READ_NEWEST, "k", "v"), "a read saw what is not committed");
    commit(txn);
    store_row("k", "w");
}
END_TEST

static int run_nothing(SapStoreTxn *txn, void *ctx)
{
    (void)txn;
    (void)ctx;
    return SAP_OK;
}

START_TEST(a_run_beside_a_writer_of_the_same_thread_is_busy_at_once)
{
    SapStoreStats stats;
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_run(store, SAP_STORE_GUARDED, run_nothing, NULL, NULL), SAP_BUSY);
    EXPECT_RC(sap_store_run(store, SAP_STORE_CLAIM, run_nothing, NULL, NULL), SAP_BUSY);
    EXPECT_RC(sap_store_stats(store, &stats), SAP_OK);
    EXPECT(stats.run_again == 0 && stats.busy == 2, "it ran again %u times",
           (unsigned)stats.run_again);
    EXPECT_RC(sap_store_run(store, SAP_STORE_READ_NEWEST, run_nothing, NULL, NULL), SAP_OK);
    sap_store_abort(txn);
    EXPECT_RC(sap_store_run(store, SAP_STORE_GUARDED, run_nothing, NULL, NULL), SAP_OK);
}
END_TEST

START_TEST(guards_come_first_and_only_in_guarded_transactions)
{
    SapStoreGuard guard = {TABLE, "k", 1, true};
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_OK);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_ERROR);
    EXPECT_RC(put(txn, "k", "v"), SAP_OK);
    commit(txn);
    txn = begin(SAP_STORE_CLAIM);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_ERROR);
    commit(txn);
}
END_TEST

static int move_to_other(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                         SapStoreTarget *target)
{
    int *fail_at = (int *)ctx;
    if (--*fail_at == 0) {
        return SAP_CONFLICT;
    }
    *target = (SapStoreTarget){OTHER_TABLE, *row};
    return sap_store_put(txn, TABLE, "noted", 5, row->key, row->key_len);
}

static uint64_t count_other(void)
{
    SapStoreTxn *txn = begin(SAP_STORE_READ_NEWEST);
    const SapStoreRange range = {.table = OTHER_TABLE};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    EXPECT_RC(sap_store_scan(txn, &range, false, 100, &rows, &count), SAP_OK);
    sap_store_abort(txn);
    return count;
}

START_TEST(a_claim_moves_the_first_rows_of_its_range_and_all_or_none)
{
    const SapStoreRange range = {TABLE, "a", 1, "c", 1};
    int never = 0;
    int second = 2;
    uint32_t count = 99;
    store_row("a1", "1");
    store_row("a2", "2");
    store_row("b", "3");
    store_row("c", "4");
    SapStoreTxn *txn = begin(SAP_STORE_CLAIM);
    EXPECT_RC(sap_store_claim(txn, &range, 9, move_to_other, &second, &count), SAP_CONFLICT);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_CONFLICT);
    EXPECT(count == 99 && count_other() == 0, "a claim that failed has moved rows");
    txn = begin(SAP_STORE_CLAIM);
    EXPECT_RC(sap_store_claim(txn, &range, 2, move_to_other, &never, &count), SAP_OK);
    EXPECT(count == 2, "%u rows", count);
    commit(txn);
    EXPECT(count_other() == 2 && !sees(SAP_STORE_READ_NEWEST, "a1", "1") &&
               !sees(SAP_STORE_READ_NEWEST, "a2", "2") && sees(SAP_STORE_READ_NEWEST, "b", "3") &&
               sees(SAP_STORE_READ_NEWEST, "noted", "a2"),
           "the wrong rows moved");
    txn = begin(SAP_STORE_CLAIM);
    EXPECT_RC(sap_store_claim(txn, &range, 9, move_to_other, &never, &count), SAP_OK);
    EXPECT(count == 1, "%u rows", count);
    commit(txn);
    EXPECT(sees(SAP_STORE_READ_NEWEST, "c", "4"), "a row beyond the range moved");
}
END_TEST

START_TEST(calls_on_a_transaction_that_has_ended_are_errors)
{
    const SapStoreRange all = {.table = TABLE};
    SapStoreGuard guard = {TABLE, "k", 1, true};
    const SapStoreRow *rows = NULL;
    const void *val = NULL;
    uint64_t mark = 0;
    uint32_t len = 0;
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    commit(txn);
    EXPECT_RC(sap_store_get(txn, TABLE, "k", 1, &val, &len), SAP_ERROR);
    EXPECT_RC(put(txn, "k", "v"), SAP_ERROR);
    EXPECT_RC(del(txn, "k"), SAP_ERROR);
    EXPECT_RC(sap_store_scan(txn, &all, false, 1, &rows, &len), SAP_ERROR);
    EXPECT_RC(sap_store_guard(txn, &guard, 1), SAP_ERROR);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_ERROR);
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_ERROR);
    EXPECT(sap_store_version(txn) == 0, "an ended transaction has no version");
    sap_store_abort(txn);
}
END_TEST

/* ---- Waiting --------------------------------------------------------------------------------- */

static int wait_for(SapStoreKind kind, const char *prefix, uint64_t seen)
{
    const SapStorePrefix rows = {TABLE, prefix, (uint32_t)strlen(prefix)};
    return sap_store_wait(store, kind, &rows, seen, 1000000);
}

START_TEST(a_wait_ends_for_commits_after_the_version_it_saw)
{
    store_row("job/1", "x");
    SapStoreTxn *txn = begin(SAP_STORE_READ_NEWEST);
    uint64_t seen = sap_store_version(txn);
    sap_store_abort(txn);
    EXPECT_RC(wait_for(SAP_STORE_READ_NEWEST, "job/", seen), SAP_NOTFOUND);
    store_row("work/1", "x");
    EXPECT_RC(wait_for(SAP_STORE_READ_NEWEST, "job/", seen), SAP_NOTFOUND);
    store_row("job/2", "x");
    EXPECT_RC(wait_for(SAP_STORE_READ_NEWEST, "job/", seen), SAP_OK);
    EXPECT_RC(wait_for(SAP_STORE_READ_DURABLE, "job/", seen), SAP_OK);
    txn = begin(SAP_STORE_READ_DURABLE);
    EXPECT(sap_store_version(txn) > seen, "versions do not grow");
    EXPECT_RC(wait_for(SAP_STORE_READ_DURABLE, "job/", sap_store_version(txn)), SAP_NOTFOUND);
    commit(txn);
}
END_TEST

START_TEST(versions_go_on_when_the_file_is_opened_again)
{
    store_row("k", "1");
    SapStoreTxn *txn = begin(SAP_STORE_READ_DURABLE);
    uint64_t seen = sap_store_version(txn);
    sap_store_abort(txn);
    reopen();
    uint64_t mark = store_row_async("k", "2");
    EXPECT(mark > seen, "a mark was given twice");
    EXPECT_RC(wait_for(SAP_STORE_READ_NEWEST, "k", seen), SAP_OK);
    EXPECT_RC(sap_store_wait_durable(store, mark), SAP_OK);
}
END_TEST

/* ---- Closing, faults, numbers ---------------------------------------------------------------- */

typedef struct Hook {
    SapStoreCall call;
    SapStoreFault fault;
    int close_rc; /* of a close while the call runs */
    int calls;
} Hook;

static SapStoreFault hook_call(void *ctx, SapStoreCall call)
{
    Hook *hook = (Hook *)ctx;
    if (call != hook->call) {
        return SAP_STORE_FAULT_NONE;
    }
    hook->calls++;
    hook->close_rc = sap_store_close(store);
    return hook->fault;
}

static void reopen_with(Hook *hook)
{
    SapStoreOptions options = default_options();
    options.hook = hook_call;
    options.hook_ctx = hook;
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
}

START_TEST(a_store_in_use_is_not_closed)
{
    Hook hook = {.call = SAP_STORE_CALL_WAIT_DURABLE};
    SapStoreTxn *txn = begin(SAP_STORE_READ_DURABLE);
    EXPECT_RC(sap_store_close(store), SAP_BUSY);
    sap_store_abort(txn);
    reopen_with(&hook);
    store_row("k", "v"); /* its transaction has ended when it waits for the disk */
    EXPECT(hook.calls == 1, "%d waits", hook.calls);
    EXPECT_RC(hook.close_rc, SAP_BUSY);
    hook.close_rc = SAP_OK;
    EXPECT_RC(sap_store_wait_durable(store, store_row_async("k", "w")), SAP_OK);
    EXPECT_RC(hook.close_rc, SAP_BUSY);
}
END_TEST

static void expect_lost(SapStoreFault fault, bool unknown_expected, const char *left)
{
    Hook hook = {.call = SAP_STORE_CALL_COMMIT};
    bool unknown = false;
    reopen_with(&hook);
    store_row("k", "before");
    hook.fault = fault;
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "k", "after"), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, &unknown), SAP_IO);
    EXPECT(unknown == unknown_expected, "unknown is %d after fault %d", unknown, (int)fault);
    reopen();
    EXPECT(sees(SAP_STORE_READ_DURABLE, "k", left), "not what fault %d leaves", (int)fault);
}

START_TEST(an_outcome_is_unknown_only_where_the_commit_may_have_happened)
{
    expect_lost(SAP_STORE_FAULT_FAIL, false, "before");
    expect_lost(SAP_STORE_FAULT_LOST_BEFORE, true, "before");
    expect_lost(SAP_STORE_FAULT_LOST_AFTER, true, "after");
    expect_lost(SAP_STORE_FAULT_CRASH, false, "before");
}
END_TEST

START_TEST(a_crash_undoes_what_is_open_and_keeps_no_lock)
{
    Hook hook = {.call = SAP_STORE_CALL_PUT, .fault = SAP_STORE_FAULT_CRASH};
    reopen_with(&hook);
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    SapStoreTxn *next = NULL;
    EXPECT_RC(put(txn, "k", "v"), SAP_IO);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &next), SAP_IO);
    sap_store_abort(txn);
    reopen();
    store_row("k", "w");
}
END_TEST

START_TEST(numbers_count_what_happened)
{
    SapStoreStats stats;
    store_row("a", "1");
    store_row("b", "1");
    commit(begin(SAP_STORE_GUARDED));
    sap_store_abort(begin(SAP_STORE_GUARDED));
    EXPECT(sees(SAP_STORE_READ_DURABLE, "a", "1"), "the row is there");
    EXPECT_RC(sap_store_stats(store, &stats), SAP_OK);
    EXPECT(stats.begun[SAP_STORE_GUARDED] == 4 && stats.begun[SAP_STORE_READ_DURABLE] == 1 &&
               stats.committed == 2 && stats.aborted == 2 && stats.rows_written == 2 &&
               stats.rows_read == 1,
           "the numbers are wrong");
}
END_TEST

/* ---- What it does not open ------------------------------------------------------------------- */

typedef struct Said {
    char text[FILES_MESSAGE_MAX];
    int count;
} Said;

static void note_message(const char *text, void *ctx)
{
    Said *said = (Said *)ctx;
    (void)snprintf(said->text, sizeof said->text, "%s", text);
    said->count++;
}

/* The url is refused with that code and a text with `part` in it. */
static void expect_refused(const char *name, int rc, const char *part)
{
    Said said = {{0}, 0};
    SapStoreOptions options = default_options();
    SapStore *opened = NULL;
    options.on_message = note_message;
    options.message_ctx = &said;
    EXPECT_RC(sap_store_open(name, &options, &opened), rc);
    EXPECT(opened == NULL, "a refused open has a result");
    EXPECT(strstr(sap_open_error(), part) != NULL, "the text is: %s", sap_open_error());
    EXPECT(said.count == 1 && strcmp(said.text, sap_open_error()) == 0,
           "%d messages, the last is: %s", said.count, said.text);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
}

/* The same for the file of the bed, which stays as it is. */
static void expect_file_refused(int rc, const char *part)
{
    Image *image = image_take(bed.dir);
    expect_refused(url, rc, part);
    EXPECT(strstr(sap_open_error(), bed.path) != NULL, "the text does not name the file");
    image_expect_same(image, bed.dir);
    image_free(image);
}

static void write_row(SapEnv *db, uint32_t dbi)
{
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    EXPECT_RC(sap_txn_put_dbi(txn, dbi, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

START_TEST(what_is_no_url_of_a_store_is_invalid)
{
    setup_bed();
    expect_refused("", SAP_INVALID, "sapling:PATH");
    expect_refused("sapling", SAP_INVALID, "sapling:PATH");
    expect_refused("/tmp/file", SAP_INVALID, "sapling:PATH");
    expect_refused("mysql://host/db", SAP_INVALID, "sapling:PATH");
    expect_refused("sapling:", SAP_INVALID, "sapling:PATH");
    expect_refused("sapling:/no/such/directory/file", SAP_NOTFOUND, "/no/such/directory/file");
    SapStore *opened = NULL;
    SapStoreOptions options = default_options();
    EXPECT_RC(sap_store_open(NULL, &options, &opened), SAP_ERROR);
    EXPECT_RC(sap_store_open(url, NULL, &opened), SAP_ERROR);
    EXPECT_RC(sap_store_open(url, &options, NULL), SAP_ERROR);
    file_bed_end(&bed);
}
END_TEST

START_TEST(bad_tables_make_no_file)
{
    static const uint32_t bad[][2] = {{TABLE, TABLE}, {TABLE, 15}, {TABLE, 1024}, {0, TABLE}};
    setup_bed();
    Image *image = image_take(bed.dir);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        SapStoreOptions options = {.tables = bad[i], .table_count = 2};
        SapStore *opened = NULL;
        EXPECT_RC(sap_store_open(url, &options, &opened), SAP_ERROR);
        options.table_count = 0;
        EXPECT_RC(sap_store_open(url, &options, &opened), SAP_ERROR);
    }
    image_expect_same(image, bed.dir);
    image_free(image);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_file_of_another_program_is_refused_and_not_changed)
{
    setup_bed();
    SapEnv *db = file_bed_open(&bed);
    write_row(db, 0);
    file_bed_close(db);
    expect_file_refused(SAP_INVALID, "table 0 has rows");
    file_bed_end(&bed);

    setup_bed();
    db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, 7, NULL, NULL, 0), SAP_OK);
    write_row(db, 7);
    file_bed_close(db);
    expect_file_refused(SAP_INVALID, "table 7 has rows");
    file_bed_end(&bed);

    setup_bed();
    db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, 500, NULL, NULL, 0), SAP_OK);
    write_row(db, 500);
    file_bed_close(db);
    expect_file_refused(SAP_INVALID, "table 500 has rows, but the file has no marker");
    file_bed_end(&bed);

    setup_bed();
    FILE *text = fopen(bed.path, "w");
    EXPECT(text != NULL && fputs("no database", text) >= 0 && fclose(text) == 0, "no file");
    expect_file_refused(SAP_INVALID, "");
    file_bed_end(&bed);
}
END_TEST

START_TEST(an_empty_file_becomes_a_store)
{
    setup_bed();
    FILE *file = fopen(bed.path, "w");
    EXPECT(file != NULL && fclose(file) == 0, "no file");
    store = open_store();
    store_row("k", "v");
    reopen();
    EXPECT(sees(SAP_STORE_READ_DURABLE, "k", "v"), "the row is gone");
    teardown();
}
END_TEST

START_TEST(a_runners_file_is_refused_and_not_changed)
{
    setup_bed();
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 0, 0, 1), SAP_OK);
    file_bed_close(db);
    expect_file_refused(SAP_INVALID, "runner");
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_stores_file_is_refused_by_queues_and_not_changed)
{
    SapQueue *queue = NULL;
    setup_bed();
    store = open_store();
    store_row("k", "v");
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT_RC(sap_queue_open(bed.path, NULL, &queue), SAP_EXISTS);
    EXPECT(strstr(sap_open_error(), "store") != NULL, "%s", sap_open_error());
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_EXISTS);
    file_bed_close(db);
    store = open_store();
    EXPECT(sees(SAP_STORE_READ_DURABLE, "k", "v"), "the row is gone");
    teardown();
}
END_TEST

START_TEST(a_store_that_another_program_has_written_to_is_refused_and_says_so)
{
    setup_bed();
    EXPECT_RC(sap_store_close(open_store()), SAP_OK);
    SapEnv *db = file_bed_open(&bed);
    write_row(db, 0);
    file_bed_close(db);
    expect_file_refused(SAP_INVALID, "table 0 has rows, and the file is a store's");
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_table_of_another_nature_is_refused)
{
    setup_bed();
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, TABLE, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    file_bed_close(db);
    expect_file_refused(SAP_INVALID, "table 16");
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_file_of_another_schema_is_refused_and_not_changed)
{
    static const uint32_t other_tables[] = {TABLE, 77};
    setup_bed();
    store = open_store();
    store_row("k", "v");
    EXPECT_RC(sap_store_close(store), SAP_OK);
    SapStoreOptions options = default_options();
    options.tables = other_tables;
    options.schema = "orders@2";
    Image *image = image_take(bed.dir);
    SapStore *opened = NULL;
    EXPECT_RC(sap_store_open(url, &options, &opened), SAP_INVALID);
    EXPECT(strstr(sap_open_error(), "orders@2") != NULL, "the text is: %s", sap_open_error());
    image_expect_same(image, bed.dir);
    image_free(image);
    store = open_store();
    EXPECT(sees(SAP_STORE_READ_DURABLE, "k", "v"), "the row is lost");
    teardown();
}
END_TEST

START_TEST(tables_may_be_added)
{
    static const uint32_t more_tables[] = {TABLE, OTHER_TABLE, 77};
    setup();
    store_row("k", "v");
    EXPECT_RC(sap_store_close(store), SAP_OK);
    SapStoreOptions options = default_options();
    options.tables = more_tables;
    options.table_count = 3;
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_put(txn, 77, "k", 1, "v", 1), SAP_OK);
    EXPECT(has_value(txn, "k", "v"), "the row is lost");
    commit(txn);
    teardown();
}
END_TEST

START_TEST(a_file_that_is_open_is_busy)
{
    setup();
    SapStoreOptions options = default_options();
    SapStore *second = NULL;
    EXPECT_RC(sap_store_open(url, &options, &second), SAP_BUSY);
    EXPECT(second == NULL && strstr(sap_open_error(), bed.path) != NULL, "the text is: %s",
           sap_open_error());
    teardown();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_file");
    TCase *tc = tcase_create("store_file");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, rows_are_there_when_the_file_is_opened_again);
    tcase_add_test(tc, what_is_aborted_or_failed_is_not_there);
    tcase_add_test(tc, a_durable_read_does_not_see_what_a_crash_could_take_back);
    tcase_add_test(tc, a_commit_that_wrote_nothing_waits_until_what_it_read_is_durable);
    tcase_add_test(tc, a_mark_that_no_commit_has_is_an_error);
    tcase_add_test(tc, a_read_sees_one_snapshot);
    tcase_add_test(tc, scans_take_half_open_ranges_both_ways);
    tcase_add_test(tc, what_a_writer_has_read_stays_while_it_writes);
    tcase_add_test(tc, put_if_absent_and_del_say_what_was_there);
    tcase_add_test(tc, keys_values_and_guards_above_their_limits_are_full_and_change_nothing);
    tcase_add_test(tc, a_second_writer_in_the_same_thread_is_busy_and_readers_are_not);
    tcase_add_test(tc, a_run_beside_a_writer_of_the_same_thread_is_busy_at_once);
    tcase_add_test(tc, guards_come_first_and_only_in_guarded_transactions);
    tcase_add_test(tc, a_claim_moves_the_first_rows_of_its_range_and_all_or_none);
    tcase_add_test(tc, calls_on_a_transaction_that_has_ended_are_errors);
    tcase_add_test(tc, a_wait_ends_for_commits_after_the_version_it_saw);
    tcase_add_test(tc, versions_go_on_when_the_file_is_opened_again);
    tcase_add_test(tc, a_store_in_use_is_not_closed);
    tcase_add_test(tc, an_outcome_is_unknown_only_where_the_commit_may_have_happened);
    tcase_add_test(tc, a_crash_undoes_what_is_open_and_keeps_no_lock);
    tcase_add_test(tc, numbers_count_what_happened);
    suite_add_tcase(suite, tc);
    tc = tcase_create("refusals");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, what_is_no_url_of_a_store_is_invalid);
    tcase_add_test(tc, bad_tables_make_no_file);
    tcase_add_test(tc, a_file_of_another_program_is_refused_and_not_changed);
    tcase_add_test(tc, an_empty_file_becomes_a_store);
    tcase_add_test(tc, a_runners_file_is_refused_and_not_changed);
    tcase_add_test(tc, a_stores_file_is_refused_by_queues_and_not_changed);
    tcase_add_test(tc, a_store_that_another_program_has_written_to_is_refused_and_says_so);
    tcase_add_test(tc, a_table_of_another_nature_is_refused);
    tcase_add_test(tc, a_file_of_another_schema_is_refused_and_not_changed);
    tcase_add_test(tc, tables_may_be_added);
    tcase_add_test(tc, a_file_that_is_open_is_busy);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
