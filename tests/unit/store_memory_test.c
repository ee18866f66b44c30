/* Guards, locks and claims of the store in memory, two transactions interleaved by hand: the second
 * runs to its end while the first is open, as the simulator will do it. */
#include "common/mem.h"
#include "sapling/store.h"
#include "store/memory.h"
#include "support/expect.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TABLE = 16, OTHER_TABLE = 17, TIMEOUT_S = 60 };

static const uint32_t tables[] = {TABLE, OTHER_TABLE};
static SapStore *a;
static SapStore *b;

static SapStore *open_store(const char *url)
{
    SapStore *store = NULL;
    SapStoreOptions options = {.tables = tables, .table_count = 2};
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    return store;
}

static void setup(void)
{
    a = open_store("memory:test");
    b = open_store("memory:test");
}

static void teardown(void)
{
    EXPECT_RC(sap_store_close(a), SAP_OK);
    EXPECT_RC(sap_store_close(b), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
}

static SapStoreTxn *begin(SapStore *store, SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, kind, &txn), SAP_OK);
    return txn;
}

static int guard(SapStoreTxn *txn, const char *key, bool exclusive)
{
    SapStoreGuard one = {TABLE, key, (uint32_t)strlen(key), exclusive};
    return sap_store_guard(txn, &one, 1);
}

static int put(SapStoreTxn *txn, const char *key, const char *val)
{
    return sap_store_put(txn, TABLE, key, (uint32_t)strlen(key), val, (uint32_t)strlen(val));
}

static int put_if_absent(SapStoreTxn *txn, const char *key, const char *val)
{
    return sap_store_put_if_absent(txn, TABLE, key, (uint32_t)strlen(key), val,
                                   (uint32_t)strlen(val));
}

static int del(SapStoreTxn *txn, const char *key)
{
    return sap_store_del(txn, TABLE, key, (uint32_t)strlen(key));
}

/* The value of `key`, or "-" where there is none. */
static const char *get(SapStoreTxn *txn, const char *key)
{
    static char text[64];
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, TABLE, key, (uint32_t)strlen(key), &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %d", rc);
    (void)snprintf(text, sizeof text, "%.*s", (int)len, rc == SAP_OK ? (const char *)val : "");
    return rc == SAP_OK ? text : "-";
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
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
    return mark;
}

/* One committed row. */
static void store_row(const char *key, const char *val)
{
    SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, key, val), SAP_OK);
    commit(txn);
}

static void expect_row(const char *key, const char *val)
{
    SapStoreTxn *txn = begin(a, SAP_STORE_READ_NEWEST);
    const char *got = get(txn, key);
    EXPECT(strcmp(got, val) == 0, "%s is %s, not %s", key, got, val);
    sap_store_abort(txn);
}

/* ---- Guards --------------------------------------------------------------------------------- */

static void expect_guards(const char *key, bool first, bool second, int expected)
{
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(outer, key, first), SAP_OK);
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(guard(inner, key, second), expected);
    sap_store_abort(inner);
    commit(outer);
    inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(guard(inner, key, second), SAP_OK);
    commit(inner);
}

START_TEST(a_guard_holds_whether_or_not_its_row_is_there)
{
    store_row("there", "1");
    const char *const keys[] = {"there", "absent"};
    for (int i = 0; i < 2; i++) {
        expect_guards(keys[i], true, true, SAP_BUSY);
        expect_guards(keys[i], true, false, SAP_BUSY);
        expect_guards(keys[i], false, true, SAP_BUSY);
        expect_guards(keys[i], false, false, SAP_OK);
    }
}
END_TEST

START_TEST(guards_of_the_same_bytes_in_another_table_are_others)
{
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(outer, "k", true), SAP_OK);
    SapStoreGuard other = {OTHER_TABLE, "k", 1, true};
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_guard(inner, &other, 1), SAP_OK);
    commit(inner);
    commit(outer);
}
END_TEST

START_TEST(guards_come_first_and_once_and_only_in_guarded_transactions)
{
    SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "x", "1"), SAP_OK);
    EXPECT_RC(guard(txn, "k", true), SAP_ERROR);
    sap_store_abort(txn);
    txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(txn, "k", true), SAP_OK);
    EXPECT_RC(guard(txn, "l", true), SAP_ERROR);
    EXPECT_RC(put(txn, "x", "1"), SAP_OK);
    commit(txn);
    static const SapStoreKind others[] = {SAP_STORE_READ_DURABLE, SAP_STORE_READ_NEWEST,
                                          SAP_STORE_CLAIM};
    for (int i = 0; i < 3; i++) {
        txn = begin(a, others[i]);
        EXPECT_RC(guard(txn, "k", true), SAP_ERROR);
        sap_store_abort(txn);
    }
}
END_TEST

START_TEST(of_one_key_guarded_twice_the_exclusive_guard_counts)
{
    SapStoreGuard both[] = {{TABLE, "k", 1, false}, {TABLE, "k", 1, true}, {TABLE, "a", 1, false}};
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(sap_store_guard(outer, both, 3), SAP_OK);
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(guard(inner, "k", false), SAP_BUSY);
    sap_store_abort(inner);
    inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(guard(inner, "a", false), SAP_OK);
    sap_store_abort(inner);
    commit(outer);
}
END_TEST

START_TEST(a_guard_locks_the_row_that_is_there_against_writers_only_when_exclusive)
{
    store_row("k", "1");
    for (int exclusive = 0; exclusive < 2; exclusive++) {
        SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
        EXPECT_RC(guard(outer, "k", exclusive), SAP_OK);
        SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
        EXPECT_RC(put(inner, "k", "2"), exclusive ? SAP_BUSY : SAP_OK);
        sap_store_abort(inner);
        commit(outer);
    }
    /* An absent row cannot be locked: one who does not guard it can write it. */
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(outer, "absent", true), SAP_OK);
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(put(inner, "absent", "2"), SAP_OK);
    commit(inner);
    EXPECT(strcmp(get(outer, "absent"), "2") == 0, "the outer transaction sees it at once");
    commit(outer);
}
END_TEST

/* ---- Locks and views ------------------------------------------------------------------------- */

START_TEST(a_written_row_is_busy_for_writers_and_old_for_readers_until_the_commit)
{
    store_row("k", "old");
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(outer, "k", "new"), SAP_OK);
    EXPECT_RC(put(outer, "fresh", "new"), SAP_OK);
    EXPECT(strcmp(get(outer, "k"), "new") == 0, "a transaction sees its own writes");

    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT(strcmp(get(inner, "k"), "old") == 0, "no other transaction does");
    EXPECT_RC(put_if_absent(inner, "k", "x"), SAP_BUSY);
    EXPECT_RC(put(inner, "other", "x"), SAP_BUSY); /* its work is over */
    EXPECT_RC(sap_store_commit(inner, NULL), SAP_BUSY);
    inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(put_if_absent(inner, "fresh", "x"), SAP_BUSY); /* whether there is one is open */
    sap_store_abort(inner);
    inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(del(inner, "k"), SAP_BUSY);
    sap_store_abort(inner);
    inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(del(inner, "fresh"), SAP_NOTFOUND); /* not committed: not there */
    commit(inner);
    commit(outer);
    expect_row("k", "new");
    expect_row("other", "-");
}
END_TEST

START_TEST(an_abort_changes_nothing_and_unlocks)
{
    store_row("k", "1");
    SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(txn, "k", true), SAP_OK);
    EXPECT_RC(put(txn, "k", "2"), SAP_OK);
    EXPECT_RC(del(txn, "k"), SAP_OK);
    EXPECT_RC(del(txn, "k"), SAP_NOTFOUND);
    sap_store_abort(txn);
    expect_row("k", "1");
    store_row("k", "3");
    expect_row("k", "3");
}
END_TEST

START_TEST(
    each_read_of_a_guarded_transaction_sees_the_newest_commit_and_a_read_transaction_one_state)
{
    store_row("k", "1");
    SapStoreTxn *snapshot = begin(a, SAP_STORE_READ_NEWEST);
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT(strcmp(get(outer, "k"), "1") == 0, "as it began");
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(put(inner, "k", "2"), SAP_OK);
    commit(inner);
    EXPECT(strcmp(get(outer, "k"), "2") == 0, "a second read sees the commit in between");
    EXPECT(strcmp(get(snapshot, "k"), "1") == 0, "a read transaction does not");
    commit(outer);
    commit(snapshot);
}
END_TEST

START_TEST(durable_readers_do_not_see_what_a_crash_would_take)
{
    store_row("k", "1");
    SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "k", "2"), SAP_OK);
    uint64_t mark = commit_async(txn);
    SapStoreTxn *durable = begin(b, SAP_STORE_READ_DURABLE);
    SapStoreTxn *newest = begin(b, SAP_STORE_READ_NEWEST);
    EXPECT(strcmp(get(durable, "k"), "1") == 0, "not durable yet");
    EXPECT(strcmp(get(newest, "k"), "2") == 0, "committed");
    sap_store_abort(newest);
    sap_store_abort(durable);
    EXPECT_RC(sap_store_wait_durable(a, mark + 1), SAP_ERROR);
    EXPECT_RC(sap_store_wait_durable(a, mark), SAP_OK);
    durable = begin(b, SAP_STORE_READ_DURABLE);
    EXPECT(strcmp(get(durable, "k"), "2") == 0, "durable now");
    commit(durable);
}
END_TEST

START_TEST(a_commit_that_only_read_makes_what_it_read_durable)
{
    SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "k", "1"), SAP_OK);
    (void)commit_async(txn);
    txn = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(put_if_absent(txn, "k", "2"), SAP_EXISTS);
    commit(txn); /* whoever is told "there already" may rely on it */
    memory_store_cut_power(a);
    expect_row("k", "1");
}
END_TEST

START_TEST(a_power_cut_takes_all_that_is_not_durable_and_nothing_else)
{
    store_row("kept", "1");
    store_row("changed", "1");
    store_row("deleted", "1");
    SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "changed", "2"), SAP_OK);
    EXPECT_RC(put(txn, "fresh", "2"), SAP_OK);
    EXPECT_RC(del(txn, "deleted"), SAP_OK);
    (void)commit_async(txn);
    expect_row("changed", "2");
    memory_store_cut_power(a);
    expect_row("kept", "1");
    expect_row("changed", "1");
    expect_row("deleted", "1");
    expect_row("fresh", "-");
}
END_TEST

/* ---- Claims ---------------------------------------------------------------------------------- */

typedef struct Claimed {
    char keys[64];
    uint32_t number;
} Claimed;

/* To the other table under the same key; notes the order. */
static int move_over(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    Claimed *claimed = (Claimed *)ctx;
    (void)txn;
    size_t len = strlen(claimed->keys);
    (void)snprintf(claimed->keys + len, sizeof claimed->keys - len, "%.*s", (int)row->key_len,
                   (const char *)row->key);
    claimed->number++;
    *target = (SapStoreTarget){OTHER_TABLE, *row};
    return SAP_OK;
}

static int claim(SapStoreTxn *txn, uint32_t limit, Claimed *claimed)
{
    SapStoreRange range = {.table = TABLE, .from = "a", .from_len = 1, .to = "e", .to_len = 1};
    uint32_t count = 0;
    *claimed = (Claimed){0};
    int rc = sap_store_claim(txn, &range, limit, move_over, claimed, &count);
    EXPECT(rc != SAP_OK || count == claimed->number, "the count is of the rows moved");
    return rc;
}

START_TEST(a_claim_skips_what_others_have_locked_and_takes_the_next)
{
    static const char *const keys[] = {"a", "b", "c", "d", "e"};
    for (int i = 0; i < 5; i++) {
        store_row(keys[i], "1");
    }
    Claimed claimed;
    SapStoreTxn *first = begin(a, SAP_STORE_CLAIM);
    EXPECT_RC(claim(first, 1, &claimed), SAP_OK);
    EXPECT(strcmp(claimed.keys, "a") == 0, "the first row is claimed, not %s", claimed.keys);

    SapStoreTxn *guards = begin(b, SAP_STORE_GUARDED);
    SapStoreGuard two[] = {{TABLE, "b", 1, true}, {TABLE, "c", 1, false}};
    EXPECT_RC(sap_store_guard(guards, two, 2), SAP_OK);
    SapStoreTxn *second = begin(b, SAP_STORE_CLAIM);
    EXPECT_RC(claim(second, 10, &claimed), SAP_OK);
    EXPECT(strcmp(claimed.keys, "cd") == 0, "a is claimed, b guarded exclusively, c shared: %s",
           claimed.keys);
    commit(second);
    commit(guards);
    sap_store_abort(first);

    second = begin(b, SAP_STORE_CLAIM);
    EXPECT_RC(claim(second, 10, &claimed), SAP_OK);
    EXPECT(strcmp(claimed.keys, "ab") == 0, "what was given up can be claimed: %s", claimed.keys);
    commit(second);
    second = begin(b, SAP_STORE_CLAIM);
    EXPECT_RC(claim(second, 10, &claimed), SAP_OK);
    EXPECT(claimed.number == 0, "nothing is left in the range");
    commit(second);
    expect_row("e", "1"); /* the range ends before it */
}
END_TEST

START_TEST(a_claimed_row_is_in_one_place_at_every_moment)
{
    store_row("a", "1");
    Claimed claimed;
    SapStoreTxn *txn = begin(a, SAP_STORE_CLAIM);
    EXPECT_RC(claim(txn, 1, &claimed), SAP_OK);
    expect_row("a", "1");
    commit(txn);
    expect_row("a", "-");
    txn = begin(a, SAP_STORE_READ_NEWEST);
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_get(txn, OTHER_TABLE, "a", 1, &val, &len), SAP_OK);
    EXPECT(len == 1 && memcmp(val, "1", 1) == 0, "with its value");
    sap_store_abort(txn);
}
END_TEST

static int refuse_move(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    (void)ctx, (void)txn, (void)row, (void)target;
    return SAP_INVALID;
}

START_TEST(a_claim_whose_callback_fails_moves_nothing)
{
    store_row("a", "1");
    SapStoreTxn *txn = begin(a, SAP_STORE_CLAIM);
    SapStoreRange range = {.table = TABLE};
    uint32_t count = 7;
    EXPECT_RC(sap_store_claim(txn, &range, 1, refuse_move, NULL, &count), SAP_INVALID);
    EXPECT(count == 7, "the count is written on success only");
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_INVALID);
    expect_row("a", "1");
}
END_TEST

/* ---- Dead and dropped ------------------------------------------------------------------------ */

START_TEST(a_read_transaction_keeps_its_snapshot_whatever_commits_inside_it)
{
    store_row("a", "1");
    store_row("b", "1");
    SapStoreTxn *snapshot = begin(a, SAP_STORE_READ_NEWEST);
    for (int i = 0; i < 600; i++) { /* more than the commits between two sweeps of old versions */
        SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
        EXPECT_RC(put(inner, "a", "2"), SAP_OK);
        EXPECT_RC(put(inner, "c", "2"), SAP_OK);
        commit(inner);
        inner = begin(b, SAP_STORE_GUARDED);
        EXPECT_RC(del(inner, "c"), SAP_OK);
        (void)del(inner, "b");
        commit(inner);
    }
    SapStoreRange all = {.table = TABLE};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    EXPECT(strcmp(get(snapshot, "a"), "1") == 0, "the value of its begin");
    EXPECT(strcmp(get(snapshot, "c"), "-") == 0, "a row made later is not there");
    EXPECT_RC(sap_store_scan(snapshot, &all, false, 9, &rows, &count), SAP_OK);
    EXPECT(count == 2 && memcmp(rows[1].key, "b", 1) == 0, "%u rows; a deleted one is still there",
           count);
    commit(snapshot);
    expect_row("b", "-");
}
END_TEST

/* Each holds what is its own until it ends, whichever began before it. */
START_TEST(transactions_end_in_any_order)
{
    SapStoreTxn *reader = begin(a, SAP_STORE_READ_NEWEST);
    SapStoreTxn *first = begin(a, SAP_STORE_GUARDED);
    SapStoreTxn *second = begin(b, SAP_STORE_GUARDED);
    SapStoreTxn *third = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(first, "x", true), SAP_OK);
    EXPECT_RC(put(first, "x", "1"), SAP_OK);
    EXPECT_RC(guard(second, "y", true), SAP_OK);
    EXPECT_RC(put(second, "y", "2"), SAP_OK);
    EXPECT_RC(put(third, "z", "3"), SAP_OK);
    EXPECT_RC(sap_store_commit(first, NULL), SAP_OK);
    SapStoreTxn *fourth = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(guard(fourth, "x", true), SAP_OK); /* free again */
    EXPECT(memory_store_depth(a) == 4, "%u are open", memory_store_depth(a));
    sap_store_abort(third);
    EXPECT_RC(put(fourth, "z", "4"), SAP_OK);
    EXPECT_RC(put(fourth, "y", "4"), SAP_BUSY); /* the second one's */
    sap_store_abort(fourth);
    EXPECT(strcmp(get(reader, "x"), "-") == 0, "the snapshot has changed");
    sap_store_abort(reader);
    EXPECT(strcmp(get(second, "x"), "1") == 0, "committed before");
    EXPECT_RC(sap_store_commit(second, NULL), SAP_OK);
    EXPECT(memory_store_depth(a) == 0, "%u are open", memory_store_depth(a));
    reader = begin(a, SAP_STORE_READ_DURABLE);
    EXPECT(strcmp(get(reader, "x"), "1") == 0 && strcmp(get(reader, "y"), "2") == 0, "lost");
    EXPECT(strcmp(get(reader, "z"), "-") == 0, "aborted");
    sap_store_abort(reader);
}
END_TEST

START_TEST(a_claim_inside_a_claim_takes_what_is_left)
{
    static const char *const keys[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        store_row(keys[i], "1");
    }
    Claimed claimed;
    SapStoreTxn *outer = begin(a, SAP_STORE_CLAIM);
    EXPECT_RC(claim(outer, 2, &claimed), SAP_OK);
    EXPECT(strcmp(claimed.keys, "ab") == 0, "the outer claim has %s", claimed.keys);
    SapStoreTxn *inner = begin(b, SAP_STORE_CLAIM);
    EXPECT_RC(claim(inner, 2, &claimed), SAP_OK);
    EXPECT(strcmp(claimed.keys, "c") == 0, "the inner claim has %s", claimed.keys);
    SapStoreTxn *innermost = begin(a, SAP_STORE_CLAIM);
    EXPECT_RC(claim(innermost, 2, &claimed), SAP_OK);
    EXPECT(claimed.number == 0, "nothing is left for a third, not even for the same store");
    commit(innermost);
    commit(inner);
    sap_store_abort(outer);
    expect_row("a", "1");
    expect_row("c", "-");
}
END_TEST

START_TEST(a_guard_on_an_absent_row_does_not_stop_one_who_puts_it_without_a_guard)
{
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(outer, "k", true), SAP_OK);
    EXPECT(strcmp(get(outer, "k"), "-") == 0, "there is no such row");
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(guard(inner, "another", true), SAP_OK);
    EXPECT_RC(put_if_absent(inner, "k", "inner"), SAP_OK);
    commit(inner);
    EXPECT_RC(put_if_absent(outer, "k", "outer"), SAP_EXISTS);
    commit(outer);
    expect_row("k", "inner");

    /* Put in the outer one first, the row is locked. */
    outer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(guard(outer, "l", true), SAP_OK);
    EXPECT_RC(put_if_absent(outer, "l", "outer"), SAP_OK);
    inner = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(put_if_absent(inner, "l", "inner"), SAP_BUSY);
    sap_store_abort(inner);
    commit(outer);
    expect_row("l", "outer");
}
END_TEST

static void expect_dead_calls(SapStoreTxn *txn)
{
    const void *val = NULL;
    uint32_t len = 0;
    SapStoreTxn *another = NULL;
    EXPECT_RC(sap_store_get(txn, TABLE, "k", 1, &val, &len), SAP_IO);
    EXPECT_RC(put(txn, "k", "x"), SAP_IO);
    EXPECT_RC(put_if_absent(txn, "x", "x"), SAP_IO);
    EXPECT_RC(del(txn, "k"), SAP_IO);
    if (txn->store == a) {
        EXPECT_RC(sap_store_begin(a, SAP_STORE_GUARDED, &another), SAP_IO);
        EXPECT_RC(sap_store_wait_durable(a, 0), SAP_IO);
    }
}

START_TEST(a_dead_process_holds_nothing_also_while_its_transactions_are_below_others)
{
    store_row("k", "1");
    store_row("l", "1");
    SapStoreTxn *outer = begin(a, SAP_STORE_GUARDED);
    SapStoreGuard guards[] = {{TABLE, "k", 1, true}, {TABLE, "absent", 6, true}};
    EXPECT_RC(sap_store_guard(outer, guards, 2), SAP_OK);
    EXPECT_RC(put(outer, "l", "2"), SAP_OK);
    SapStoreTxn *inner = begin(b, SAP_STORE_GUARDED);
    memory_store_crash(a);
    EXPECT_RC(sap_store_guard(inner, guards, 2), SAP_OK);
    EXPECT_RC(put(inner, "k", "inner"), SAP_OK);
    EXPECT_RC(put_if_absent(inner, "l", "inner"), SAP_EXISTS);
    EXPECT_RC(put(inner, "l", "inner"), SAP_OK);
    commit(inner);
    expect_dead_calls(outer);
    bool unknown = true;
    EXPECT_RC(sap_store_commit(outer, &unknown), SAP_IO);
    EXPECT(!unknown, "the dead ask nothing, and it did not happen");
    SapStore *again = open_store("memory:test");
    EXPECT_RC(sap_store_close(a), SAP_OK);
    a = again;
    expect_row("k", "inner");
    expect_row("l", "inner");
}
END_TEST

START_TEST(a_dropped_transaction_has_lost_its_locks_and_its_commit_is_unknown_but_did_not_happen)
{
    store_row("k", "1");
    for (int ended_by_commit = 0; ended_by_commit < 2; ended_by_commit++) {
        SapStoreTxn *outer = begin(b, SAP_STORE_GUARDED);
        EXPECT_RC(guard(outer, "k", true), SAP_OK);
        EXPECT_RC(put(outer, "k", "outer"), SAP_OK);
        EXPECT(memory_store_depth(a) == 1 && memory_store_txn(a, 0) == outer, "it is open");
        memory_txn_drop(outer);
        SapStoreTxn *inner = begin(a, SAP_STORE_GUARDED);
        EXPECT_RC(guard(inner, "k", true), SAP_OK);
        EXPECT_RC(put(inner, "k", "inner"), SAP_OK);
        commit(inner);
        if (ended_by_commit) {
            bool unknown = false;
            EXPECT_RC(sap_store_commit(outer, &unknown), SAP_IO);
            EXPECT(unknown, "the answer was lost with the connection");
        } else {
            expect_dead_calls(outer);
            sap_store_abort(outer);
        }
        expect_row("k", "inner");
        EXPECT(memory_store_depth(a) == 0, "no transaction is open");
    }
}
END_TEST

START_TEST(a_power_cut_while_dead_processes_have_transactions_open_takes_what_is_not_durable)
{
    store_row("k", "1");
    SapStoreTxn *txn = begin(b, SAP_STORE_GUARDED);
    EXPECT_RC(put(txn, "k", "2"), SAP_OK);
    (void)commit_async(txn);
    SapStoreTxn *dead = begin(a, SAP_STORE_GUARDED);
    EXPECT(strcmp(get(dead, "k"), "2") == 0, "it has seen what will be lost");
    EXPECT_RC(put(dead, "l", "2"), SAP_OK);
    memory_store_crash(a);
    EXPECT(memory_store_not_durable(b) == 1, "one commit is not durable");
    memory_store_cut_power(b);
    EXPECT(memory_store_not_durable(b) == 0, "it is gone");
    EXPECT_RC(sap_store_commit(dead, NULL), SAP_IO);
    SapStore *again = open_store("memory:test");
    EXPECT_RC(sap_store_close(a), SAP_OK);
    a = again;
    expect_row("k", "1");
    expect_row("l", "-");
}
END_TEST

START_TEST(a_commit_makes_durable_what_it_has_read_and_no_later_commit)
{
    store_row("k", "1");
    SapStoreTxn *durable = begin(b, SAP_STORE_READ_DURABLE);
    SapStoreTxn *newest = begin(b, SAP_STORE_READ_NEWEST);
    SapStoreTxn *guarded = begin(b, SAP_STORE_GUARDED);
    EXPECT(strcmp(get(guarded, "k"), "1") == 0, "as it is");
    SapStoreTxn *writer = begin(a, SAP_STORE_GUARDED);
    EXPECT_RC(put(writer, "k", "2"), SAP_OK);
    (void)commit_async(writer);
    commit(guarded);
    commit(newest);
    commit(durable);
    EXPECT(memory_store_not_durable(a) == 1, "nobody has read the write");
    guarded = begin(b, SAP_STORE_GUARDED);
    EXPECT(strcmp(get(guarded, "k"), "2") == 0, "now somebody has");
    commit(guarded);
    EXPECT(memory_store_not_durable(a) == 0, "and may acknowledge it");
}
END_TEST

START_TEST(a_flush_makes_the_first_commits_durable)
{
    static const char *const vals[] = {"1", "2", "3"};
    for (int i = 0; i < 3; i++) {
        SapStoreTxn *txn = begin(a, SAP_STORE_GUARDED);
        EXPECT_RC(put(txn, "k", vals[i]), SAP_OK);
        (void)commit_async(txn);
    }
    memory_store_flush(a, 2);
    EXPECT(memory_store_not_durable(a) == 1, "one is left");
    memory_store_cut_power(a);
    expect_row("k", "2");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_memory");
    TCase *test_case = tcase_create("memory");

    tcase_add_checked_fixture(test_case, setup, teardown);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_guard_holds_whether_or_not_its_row_is_there);
    tcase_add_test(test_case, guards_of_the_same_bytes_in_another_table_are_others);
    tcase_add_test(test_case, guards_come_first_and_once_and_only_in_guarded_transactions);
    tcase_add_test(test_case, of_one_key_guarded_twice_the_exclusive_guard_counts);
    tcase_add_test(test_case,
                   a_guard_locks_the_row_that_is_there_against_writers_only_when_exclusive);
    tcase_add_test(test_case,
                   a_written_row_is_busy_for_writers_and_old_for_readers_until_the_commit);
    tcase_add_test(test_case, an_abort_changes_nothing_and_unlocks);
    tcase_add_test(
        test_case,
        each_read_of_a_guarded_transaction_sees_the_newest_commit_and_a_read_transaction_one_state);
    tcase_add_test(test_case, durable_readers_do_not_see_what_a_crash_would_take);
    tcase_add_test(test_case, a_commit_that_only_read_makes_what_it_read_durable);
    tcase_add_test(test_case, a_power_cut_takes_all_that_is_not_durable_and_nothing_else);
    tcase_add_test(test_case, a_claim_skips_what_others_have_locked_and_takes_the_next);
    tcase_add_test(test_case, a_claimed_row_is_in_one_place_at_every_moment);
    tcase_add_test(test_case, a_claim_whose_callback_fails_moves_nothing);
    tcase_add_test(test_case, a_read_transaction_keeps_its_snapshot_whatever_commits_inside_it);
    tcase_add_test(test_case, transactions_end_in_any_order);
    tcase_add_test(test_case, a_claim_inside_a_claim_takes_what_is_left);
    tcase_add_test(test_case,
                   a_guard_on_an_absent_row_does_not_stop_one_who_puts_it_without_a_guard);
    tcase_add_test(test_case,
                   a_dead_process_holds_nothing_also_while_its_transactions_are_below_others);
    tcase_add_test(
        test_case,
        a_dropped_transaction_has_lost_its_locks_and_its_commit_is_unknown_but_did_not_happen);
    tcase_add_test(
        test_case,
        a_power_cut_while_dead_processes_have_transactions_open_takes_what_is_not_durable);
    tcase_add_test(test_case, a_commit_makes_durable_what_it_has_read_and_no_later_commit);
    tcase_add_test(test_case, a_flush_makes_the_first_commits_durable);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
