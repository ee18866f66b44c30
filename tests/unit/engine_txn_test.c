/* What transactions, snapshots, subsystems and cursors promise, one claim per test. */
#include "common/mem.h"
#include "support/backing.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, PAGE = 512 };

static size_t live_before;
static SapEnv *db;

static void set_up(void)
{
    live_before = mem_live_total();
    db = sap_db_open(NULL, PAGE, NULL, NULL);
    ck_assert_ptr_nonnull(db);
    ck_assert_int_eq(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_OK);
}

static void tear_down(void)
{
    model_expect_verified(db);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static SapTxnCtx *begin(SapTxnCtx *parent, unsigned flags)
{
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(db, parent, flags, &txn), SAP_OK);
    ck_assert_ptr_nonnull(txn);
    return txn;
}

static void put(SapTxnCtx *txn, const char *key, const char *val)
{
    ck_assert_int_eq(sap_txn_put(txn, key, (uint32_t)strlen(key), val, (uint32_t)strlen(val)),
                     SAP_OK);
}

static void del(SapTxnCtx *txn, const char *key)
{
    ck_assert_int_eq(sap_txn_del(txn, key, (uint32_t)strlen(key)), SAP_OK);
}

static void commit(SapTxnCtx *txn)
{
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
}

/* A NULL value: no such row. */
static void expect_value(SapTxnCtx *txn, const char *key, const char *expected)
{
    const void *val = NULL;
    uint32_t val_len = 0;
    int rc = sap_txn_get(txn, key, (uint32_t)strlen(key), &val, &val_len);

    if (expected == NULL) {
        ck_assert_int_eq(rc, SAP_NOTFOUND);
        return;
    }
    ck_assert_int_eq(rc, SAP_OK);
    ck_assert_uint_eq(val_len, strlen(expected));
    ck_assert(val_len == 0 || memcmp(val, expected, val_len) == 0);
}

static void expect_committed(const char *key, const char *expected)
{
    SapTxnCtx *txn = begin(NULL, SAP_TXN_RDONLY);

    expect_value(txn, key, expected);
    sap_txn_abort(txn);
}

static void put_committed(const char *key, const char *val)
{
    SapTxnCtx *txn = begin(NULL, 0);

    put(txn, key, val);
    commit(txn);
}

/* ---- Snapshots ------------------------------------------------------------------------------ */

START_TEST(a_reader_sees_nothing_of_an_open_writer)
{
    put_committed("k", "old");
    SapTxnCtx *writer = begin(NULL, 0);
    put(writer, "k", "new");
    put(writer, "l", "more");
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);
    expect_value(reader, "k", "old");
    expect_value(reader, "l", NULL);
    put(writer, "k", "newer");
    expect_value(reader, "k", "old");
    expect_value(writer, "k", "newer");
    sap_txn_abort(reader);
    sap_txn_abort(writer);
    expect_committed("k", "old");
}
END_TEST

START_TEST(a_reader_keeps_the_snapshot_it_began_with)
{
    put_committed("k", "1");
    SapTxnCtx *first = begin(NULL, SAP_TXN_RDONLY);
    put_committed("k", "2");
    SapTxnCtx *second = begin(NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST);
    SapTxnCtx *writer = begin(NULL, 0);
    del(writer, "k");
    commit(writer);
    SapTxnCtx *third = begin(NULL, SAP_TXN_RDONLY);
    expect_value(first, "k", "1");
    expect_value(second, "k", "2");
    expect_value(third, "k", NULL);
    sap_txn_abort(second);
    put_committed("k", "4");
    expect_value(first, "k", "1");
    expect_value(third, "k", NULL);
    commit(first);
    sap_txn_abort(third);
    expect_committed("k", "4");
}
END_TEST

START_TEST(tables_commit_together)
{
    SapTxnCtx *writer = begin(NULL, 0);
    ck_assert_int_eq(sap_txn_put_dbi(writer, 0, "k", 1, "a", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(writer, 1, "k", 1, "b", 1), SAP_OK);
    SapTxnCtx *before = begin(NULL, SAP_TXN_RDONLY);
    commit(writer);
    SapTxnCtx *after = begin(NULL, SAP_TXN_RDONLY);
    const void *val = NULL;
    uint32_t val_len = 0;
    ck_assert_int_eq(sap_txn_get_dbi(before, 0, "k", 1, &val, &val_len), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_get_dbi(before, 1, "k", 1, &val, &val_len), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_get_dbi(after, 0, "k", 1, &val, &val_len), SAP_OK);
    ck_assert_mem_eq(val, "a", 1);
    ck_assert_int_eq(sap_txn_get_dbi(after, 1, "k", 1, &val, &val_len), SAP_OK);
    ck_assert_mem_eq(val, "b", 1);
    sap_txn_abort(before);
    sap_txn_abort(after);
}
END_TEST

START_TEST(what_a_reader_got_stays_in_place_until_it_ends)
{
    static const char old_value[] = "the value of long ago";
    char key[16];

    put_committed("k050", old_value);
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);
    const void *val = NULL;
    uint32_t val_len = 0;
    ck_assert_int_eq(sap_txn_get(reader, "k050", 4, &val, &val_len), SAP_OK);
    for (int round = 0; round < 20; round++) {
        SapTxnCtx *writer = begin(NULL, 0);
        for (int i = 0; i < 100; i++) {
            snprintf(key, sizeof key, "k%03d", i);
            put(writer, key, round % 2 == 0 ? "short" : "somewhat longer than before");
        }
        commit(writer);
    }
    ck_assert_uint_eq(val_len, sizeof old_value - 1);
    ck_assert_mem_eq(val, old_value, val_len);
    sap_txn_abort(reader);
}
END_TEST

START_TEST(an_aborted_writer_leaves_no_trace)
{
    put_committed("k", "old");
    uint64_t pages = sap_db_num_pages(db);
    SapStat before;
    SapStat after;
    ck_assert_int_eq(sap_db_stat(db, &before), SAP_OK);
    SapTxnCtx *writer = begin(NULL, 0);
    char key[16];
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "k%d", i);
        put(writer, key, "some value");
    }
    del(writer, "k");
    sap_txn_abort(writer);
    ck_assert_int_eq(sap_db_stat(db, &after), SAP_OK);
    ck_assert_uint_eq(after.num_entries, before.num_entries);
    ck_assert_uint_eq(after.txnid, before.txnid);
    ck_assert_uint_eq(sap_db_num_pages(db), pages);
    expect_committed("k", "old");
    expect_committed("k7", NULL);
}
END_TEST

/* ---- Nesting -------------------------------------------------------------------------------- */

START_TEST(an_aborted_child_leaves_the_parent_as_it_was)
{
    SapTxnCtx *parent = begin(NULL, 0);
    put(parent, "a", "parent");
    put(parent, "b", "parent");
    SapTxnCtx *child = begin(parent, 0);
    put(child, "a", "child");
    del(child, "b");
    put(child, "c", "child");
    expect_value(child, "a", "child");
    sap_txn_abort(child);
    expect_value(parent, "a", "parent");
    expect_value(parent, "b", "parent");
    expect_value(parent, "c", NULL);
    commit(parent);
    expect_committed("a", "parent");
    expect_committed("c", NULL);
}
END_TEST

START_TEST(only_the_outermost_commit_publishes)
{
    SapTxnCtx *parent = begin(NULL, 0);
    put(parent, "a", "parent");
    SapTxnCtx *child = begin(parent, 0);
    put(child, "b", "child");
    SapTxnCtx *grandchild = begin(child, 0);
    put(grandchild, "c", "grandchild");
    commit(grandchild);
    expect_committed("c", NULL);
    expect_value(child, "c", "grandchild");
    commit(child);
    expect_committed("b", NULL);
    expect_value(parent, "b", "child");
    expect_value(parent, "c", "grandchild");
    commit(parent);
    expect_committed("a", "parent");
    expect_committed("b", "child");
    expect_committed("c", "grandchild");
}
END_TEST

START_TEST(a_committed_child_goes_with_its_aborted_parent)
{
    put_committed("a", "old");
    SapTxnCtx *parent = begin(NULL, 0);
    SapTxnCtx *child = begin(parent, 0);
    put(child, "a", "child");
    commit(child);
    expect_value(parent, "a", "child");
    sap_txn_abort(parent);
    expect_committed("a", "old");
}
END_TEST

START_TEST(a_read_only_child_sees_what_its_parent_has_not_committed)
{
    put_committed("a", "old");
    SapTxnCtx *parent = begin(NULL, 0);
    put(parent, "a", "parent");
    SapTxnCtx *child = begin(parent, SAP_TXN_RDONLY);
    ck_assert_uint_eq(sap_txn_flags(child) & SAP_TXN_RDONLY, SAP_TXN_RDONLY);
    expect_value(child, "a", "parent");
    SapTxnCtx *grandchild = begin(child, SAP_TXN_RDONLY);
    expect_value(grandchild, "a", "parent");
    commit(grandchild);
    commit(child);
    put(parent, "a", "later");
    commit(parent);
    expect_committed("a", "later");
}
END_TEST

START_TEST(a_child_of_a_reader_sees_its_snapshot)
{
    put_committed("a", "old");
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);
    put_committed("a", "new");
    SapTxnCtx *child = begin(reader, SAP_TXN_RDONLY);
    expect_value(child, "a", "old");
    commit(child);
    expect_value(reader, "a", "old");
    child = begin(reader, SAP_TXN_RDONLY);
    sap_txn_abort(reader);
}
END_TEST

START_TEST(aborting_a_parent_aborts_its_children)
{
    put_committed("a", "old");
    SapTxnCtx *parent = begin(NULL, 0);
    put(parent, "a", "parent");
    SapTxnCtx *child = begin(parent, 0);
    put(child, "a", "child");
    SapTxnCtx *grandchild = begin(child, 0);
    put(grandchild, "a", "grandchild");
    SapCursor *cur = sap_cursor_open(grandchild);
    begin(grandchild, SAP_TXN_RDONLY);
    sap_txn_abort(child);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_ERROR);
    sap_cursor_close(cur);
    expect_value(parent, "a", "parent");
    child = begin(parent, 0);
    put(child, "a", "child");
    begin(child, 0);
    sap_txn_abort(parent);
    expect_committed("a", "old");
    /* The writer lock is free again. */
    sap_txn_abort(begin(NULL, 0));
}
END_TEST

START_TEST(transactions_nest_to_any_depth)
{
    enum { DEPTH = 300 };
    SapTxnCtx *txns[DEPTH];
    char key[16];

    for (int i = 0; i < DEPTH; i++) {
        txns[i] = begin(i == 0 ? NULL : txns[i - 1], 0);
        snprintf(key, sizeof key, "k%03d", i);
        put(txns[i], key, "v");
        put(txns[i], "shared", key);
    }
    /* Some are aborted, and with each what its descendants had committed into it. */
    int kept_below = DEPTH;
    for (int i = DEPTH - 1; i > 0; i--) {
        if (i % 100 == 50) {
            sap_txn_abort(txns[i]);
            kept_below = i;
        } else {
            commit(txns[i]);
        }
        if (i % 60 == 0) {
            snprintf(key, sizeof key, "k%03d", kept_below - 1);
            expect_value(txns[i - 1], "shared", key);
        }
    }
    commit(txns[0]);
    expect_committed("k049", "v");
    expect_committed("k050", NULL);
    expect_committed("k299", NULL);
    expect_committed("shared", "k049");
}
END_TEST

START_TEST(many_children_of_one_parent_add_up)
{
    SapTxnCtx *parent = begin(NULL, 0);
    char key[16];

    for (int i = 0; i < 1000; i++) {
        SapTxnCtx *child = begin(parent, 0);
        snprintf(key, sizeof key, "k%04d", i);
        put(child, key, "v");
        if (i % 3 == 0) {
            sap_txn_abort(child);
        } else {
            commit(child);
        }
    }
    SapStat stat;
    ck_assert_int_eq(sap_txn_stat(parent, &stat), SAP_OK);
    ck_assert_uint_eq(stat.num_entries, 666);
    commit(parent);
    expect_committed("k0000", NULL);
    expect_committed("k0001", "v");
}
END_TEST

START_TEST(waiting_for_oneself_is_busy)
{
    SapTxnCtx *writer = begin(NULL, SAP_TXN_WAIT);
    SapTxnCtx *second = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &second), SAP_BUSY);
    ck_assert_ptr_null(second);
    ck_assert_ptr_null(sap_txn_begin(db, NULL, SAP_TXN_WAIT));
    SapTxnCtx *child = begin(writer, 0);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &second), SAP_BUSY);
    commit(child);
    commit(writer);
    second = begin(NULL, SAP_TXN_WAIT);
    commit(second);
}
END_TEST

START_TEST(a_transaction_knows_its_environment)
{
    SapTxnCtx *writer = begin(NULL, SAP_TXN_BULK);
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);

    ck_assert_ptr_eq(sap_txn_env(writer), db);
    ck_assert_ptr_eq(sap_txn_env(reader), db);
    ck_assert_ptr_eq(sap_txn_arena(writer), sap_env_get_arena(db));
    ck_assert_ptr_nonnull(sap_txn_arena(reader));
    ck_assert_uint_eq(sap_env_get_page_size(db), PAGE);
    ck_assert_uint_eq(sap_txn_flags(writer) & SAP_TXN_RDONLY, 0);
    ck_assert_uint_eq(sap_txn_flags(reader) & SAP_TXN_RDONLY, SAP_TXN_RDONLY);
    sap_txn_abort(reader);
    sap_txn_abort(writer);
}
END_TEST

/* ---- Commit positions ----------------------------------------------------------------------- */

START_TEST(in_memory_every_commit_is_durable_at_once)
{
    uint64_t first = 0;
    uint64_t second = 0;

    SapTxnCtx *txn = begin(NULL, 0);
    put(txn, "a", "1");
    ck_assert_int_eq(sap_txn_commit_async(txn, &first), SAP_OK);
    ck_assert_uint_ge(sap_db_durable_lsn(db), first);
    ck_assert_int_eq(sap_db_wait_durable(db, first), SAP_OK);
    txn = begin(NULL, 0);
    ck_assert_uint_eq(sap_txn_base_lsn(txn), first);
    put(txn, "a", "2");
    ck_assert_int_eq(sap_txn_commit_async(txn, &second), SAP_OK);
    ck_assert_uint_gt(second, first);
    ck_assert_uint_eq(sap_db_durable_lsn(db), second);
    ck_assert_int_eq(sap_db_wait_durable(db, first), SAP_OK);
    ck_assert_int_eq(sap_db_wait_durable(db, second), SAP_OK);
    ck_assert_int_eq(sap_db_wait_durable(db, second + 1000), SAP_ERROR);
    ck_assert_int_eq(sap_db_wait_durable(db, UINT64_MAX), SAP_ERROR);
    ck_assert_int_eq(sap_db_sync(db), SAP_OK);

    txn = begin(NULL, SAP_TXN_RDONLY);
    ck_assert_uint_eq(sap_txn_base_lsn(txn), second);
    put_committed("a", "3");
    ck_assert_uint_eq(sap_txn_base_lsn(txn), second);
    SapTxnCtx *child = begin(txn, SAP_TXN_RDONLY);
    ck_assert_uint_eq(sap_txn_base_lsn(child), second);
    sap_txn_abort(txn);
    ck_assert_uint_gt(sap_db_durable_lsn(db), second);
    txn = begin(NULL, 0);
    put(txn, "a", "4");
    ck_assert_int_eq(sap_txn_commit_async(txn, NULL), SAP_OK);
    expect_committed("a", "4");
}
END_TEST

/* ---- Scratch memory ------------------------------------------------------------------------- */

START_TEST(scratch_memory_lives_as_long_as_its_transaction)
{
    static const uint32_t sizes[] = {1, 15, 16, 17, 100, 4000, 4096, 5000, 70000, 1 << 20};
    enum { COUNT = sizeof sizes / sizeof sizes[0] };
    size_t before = mem_live_total();

    for (int kind = 0; kind < 3; kind++) {
        SapTxnCtx *txn = begin(NULL, kind == 0 ? SAP_TXN_RDONLY : 0);
        uint8_t *blocks[COUNT * 3];
        for (uint32_t i = 0; i < COUNT * 3; i++) {
            blocks[i] = sap_txn_scratch_alloc(txn, sizes[i % COUNT]);
            ck_assert_ptr_nonnull(blocks[i]);
            ck_assert_uint_eq((uintptr_t)blocks[i] % 16, 0);
            memset(blocks[i], (int)i + 1, sizes[i % COUNT]);
        }
        if (kind != 0) {
            SapTxnCtx *child = begin(txn, 0);
            uint8_t *block = sap_txn_scratch_alloc(child, 300);
            ck_assert_ptr_nonnull(block);
            memset(block, 0xee, 300);
            commit(child);
            put(txn, "k", "v");
        }
        for (uint32_t i = 0; i < COUNT * 3; i++) {
            for (uint32_t j = 0; j < sizes[i % COUNT]; j++) {
                EXPECT(blocks[i][j] == i + 1, "byte %u of block %u has changed", j, i);
            }
        }
        if (kind == 1) {
            commit(txn);
        } else {
            sap_txn_abort(txn);
        }
    }
    ck_assert_uint_lt(mem_live_total(), before + (1 << 18));
}
END_TEST

/* ---- Readers and counts --------------------------------------------------------------------- */

typedef struct ReaderList {
    uint32_t count;
    uint32_t stop_after; /* 0: never */
    uint64_t txnids[64];
} ReaderList;

static int list_reader(const SapReaderInfo *info, void *ctx)
{
    ReaderList *list = ctx;

    ck_assert_uint_lt(list->count, 64);
    ck_assert_uint_lt(info->age_ns, UINT64_C(3600) * 1000 * 1000 * 1000);
    list->txnids[list->count++] = info->txnid;
    return list->count == list->stop_after ? 4711 : 0;
}

static bool list_has(const ReaderList *list, uint64_t txnid)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->txnids[i] == txnid) {
            return true;
        }
    }
    return false;
}

START_TEST(db_readers_lists_the_outermost_readers)
{
    ReaderList list = {0, 0, {0}};
    ReaderList stopped = {0, 2, {0}};
    SapTxnCtx *readers[5];
    uint64_t txnids[5];

    ck_assert_int_eq(sap_db_readers(db, list_reader, &list), SAP_OK);
    ck_assert_uint_eq(list.count, 0);
    for (int i = 0; i < 5; i++) {
        SapStat stat;
        put_committed("k", i % 2 == 0 ? "even" : "odd");
        readers[i] = begin(NULL, SAP_TXN_RDONLY);
        ck_assert_int_eq(sap_txn_stat(readers[i], &stat), SAP_OK);
        txnids[i] = stat.txnid;
    }
    begin(readers[0], SAP_TXN_RDONLY);
    SapTxnCtx *writer = begin(NULL, 0);
    begin(writer, SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_db_readers(db, list_reader, &list), SAP_OK);
    ck_assert_uint_eq(list.count, 5);
    for (int i = 0; i < 5; i++) {
        ck_assert(list_has(&list, txnids[i]));
    }
    ck_assert_int_eq(sap_db_readers(db, list_reader, &stopped), 4711);
    ck_assert_uint_eq(stopped.count, 2);
    sap_txn_abort(writer);
    for (int i = 0; i < 5; i++) {
        sap_txn_abort(readers[i]);
    }
    list.count = 0;
    ck_assert_int_eq(sap_db_readers(db, list_reader, &list), SAP_OK);
    ck_assert_uint_eq(list.count, 0);
}
END_TEST

START_TEST(a_thousand_readers_are_open_at_once)
{
    enum { COUNT = 1000 };
    static SapTxnCtx *readers[COUNT];
    char text[16];

    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "%d", i);
        put_committed("k", text);
        readers[i] = begin(NULL, SAP_TXN_RDONLY);
    }
    for (int i = 0; i < COUNT; i++) {
        snprintf(text, sizeof text, "%d", i);
        expect_value(readers[i], "k", text);
        sap_txn_abort(readers[i]);
    }
}
END_TEST

START_TEST(db_stat_tells_what_the_last_commit_left)
{
    SapStat first;
    SapStat open;
    SapStat last;
    char key[16];

    ck_assert_int_eq(sap_db_stat(db, &first), SAP_OK);
    ck_assert_uint_eq(first.num_entries, 0);
    ck_assert_uint_eq(first.tree_depth, 0);
    ck_assert_uint_eq(first.page_size, PAGE);
    ck_assert_uint_eq(first.has_write_txn, 0);
    SapTxnCtx *txn = begin(NULL, 0);
    for (int i = 0; i < 2000; i++) {
        snprintf(key, sizeof key, "k%05d", i);
        put(txn, key, "v");
    }
    ck_assert_int_eq(sap_db_stat(db, &open), SAP_OK);
    ck_assert_uint_eq(open.num_entries, 0);
    ck_assert_uint_eq(open.txnid, first.txnid);
    ck_assert_uint_eq(open.has_write_txn, 1);
    ck_assert_int_eq(sap_txn_stat(txn, &open), SAP_OK);
    ck_assert_uint_eq(open.num_entries, 2000);
    ck_assert_int_eq(sap_dbi_stat(txn, 1, &open), SAP_OK);
    ck_assert_uint_eq(open.num_entries, 0);
    ck_assert_uint_eq(open.tree_depth, 0);
    commit(txn);
    ck_assert_int_eq(sap_db_stat(db, &last), SAP_OK);
    ck_assert_uint_eq(last.num_entries, 2000);
    ck_assert_uint_gt(last.txnid, first.txnid);
    ck_assert_uint_ge(last.tree_depth, 2);
    ck_assert_uint_le(last.tree_depth, 8);
    ck_assert_uint_eq(last.has_write_txn, 0);
    ck_assert_uint_eq(last.num_pages, sap_db_num_pages(db));
    ck_assert_uint_gt(last.num_pages, 20);
}
END_TEST

START_TEST(an_emptied_table_gives_back_its_pages)
{
    char key[16];
    uint64_t pages_of_none = sap_db_num_pages(db);

    for (int round = 0; round < 3; round++) {
        SapTxnCtx *txn = begin(NULL, 0);
        for (int i = 0; i < 1500; i++) {
            snprintf(key, sizeof key, "k%05d", i * 7919 % 1500);
            put(txn, key, i % 100 == 0 ? "a value" : "");
        }
        commit(txn);
        ck_assert_uint_gt(sap_db_num_pages(db), pages_of_none + 10);
        txn = begin(NULL, 0);
        SapCursor *cur = sap_cursor_open(txn);
        ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
        for (int i = 0; i < 1500; i++) {
            ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
        }
        ck_assert_int_eq(sap_cursor_del(cur), SAP_NOTFOUND);
        sap_cursor_close(cur);
        commit(txn);
        ck_assert_uint_le(sap_db_num_pages(db), pages_of_none + 4);
    }
}
END_TEST

/* ---- What it costs -------------------------------------------------------------------------- */

/* What a directory of the system lists; 0: there is no such. */
static uint32_t entries_of(const char *path)
{
    DIR *dir = opendir(path);
    uint32_t count = 0;

    if (dir == NULL) {
        return 0;
    }
    while (readdir(dir) != NULL) {
        count++;
    }
    closedir(dir);
    return count;
}

START_TEST(a_thousand_empty_engines_cost_at_most_4_kib_each)
{
    enum { COUNT = 1000 };
    static SapEnv *engines[COUNT];
    size_t before = mem_live_total();
    uint32_t descriptors = entries_of("/proc/self/fd");
    uint32_t threads = entries_of("/proc/self/task");

    for (int i = 0; i < COUNT; i++) {
        size_t live = mem_live_total();
        engines[i] = sap_db_open(NULL, 4096, NULL, NULL);
        ck_assert_ptr_nonnull(engines[i]);
        ck_assert_uint_le(mem_live_total() - live, 4096);
    }
    printf("empty engine: %zu bytes\n", (mem_live_total() - before) / COUNT);
    ck_assert_uint_eq(entries_of("/proc/self/fd"), descriptors);
    ck_assert_uint_eq(entries_of("/proc/self/task"), threads);
    for (int i = 0; i < COUNT; i++) {
        SapTxnCtx *txn = NULL;
        ck_assert_int_eq(sap_txn_begin_rc(engines[i], NULL, 0, &txn), SAP_OK);
        ck_assert_int_eq(sap_txn_put(txn, &i, sizeof i, "v", 1), SAP_OK);
        ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    }
    for (int i = 0; i < COUNT; i++) {
        SapTxnCtx *txn = NULL;
        ck_assert_int_eq(sap_txn_begin_rc(engines[i], NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
        ck_assert_int_eq(sap_txn_get(txn, &i, sizeof i, NULL, NULL), SAP_OK);
        sap_txn_abort(txn);
        ck_assert_int_eq(sap_db_close(engines[i]), SAP_OK);
    }
    ck_assert_uint_eq(mem_live_total(), before);
}
END_TEST

START_TEST(an_old_reader_holds_no_more_than_its_own_snapshot)
{
    enum { COMMITS = 10000, BOUND = 64 };
    char val[16];
    uint64_t most = 0;

    put_committed("k", "first");
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);
    for (int i = 0; i < COMMITS; i++) {
        snprintf(val, sizeof val, "%d", i);
        put_committed("k", val);
        most = sap_db_num_pages(db) > most ? sap_db_num_pages(db) : most;
    }
    printf("old reader: at most %llu pages in %d commits\n", (unsigned long long)most, COMMITS);
    ck_assert_uint_lt(most, BOUND);
    expect_value(reader, "k", "first");
    sap_txn_abort(reader);
}
END_TEST

START_TEST(readers_of_different_ages_hold_their_own_snapshots_only)
{
    enum { COMMITS = 3000, READERS = 8, BOUND = 128 };
    SapTxnCtx *readers[READERS] = {NULL};
    char val[16];
    char began[READERS][16];
    uint64_t most = 0;

    put_committed("k", "first");
    for (int i = 0; i < COMMITS; i++) {
        int slot = i % 100 % READERS;
        if (i % 100 < READERS) {
            if (readers[slot] != NULL) {
                expect_value(readers[slot], "k", began[slot]);
                sap_txn_abort(readers[slot]);
            }
            snprintf(began[slot], sizeof began[slot], "%d", i);
            put_committed("k", began[slot]);
            readers[slot] = begin(NULL, SAP_TXN_RDONLY);
        }
        snprintf(val, sizeof val, "v%d", i);
        put_committed("k", val);
        most = sap_db_num_pages(db) > most ? sap_db_num_pages(db) : most;
    }
    for (int i = 0; i < READERS; i++) {
        expect_value(readers[i], "k", began[i]);
        sap_txn_abort(readers[i]);
    }
    printf("%d readers: at most %llu pages in %d commits\n", READERS, (unsigned long long)most,
           COMMITS);
    ck_assert_uint_lt(most, BOUND);
}
END_TEST

START_TEST(freed_pages_are_used_again)
{
    enum { COMMITS = 10000, BOUND = 64 };
    char key[16];
    static char big[3000];
    uint64_t most = 0;

    memset(big, 'b', sizeof big);
    for (int i = 0; i < COMMITS; i++) {
        SapTxnCtx *txn = begin(NULL, 0);
        snprintf(key, sizeof key, "k%06d", i);
        ck_assert_int_eq(sap_txn_put(txn, key, 7, big, i % 5 == 0 ? sizeof big : 10), SAP_OK);
        if (i >= 10) {
            snprintf(key, sizeof key, "k%06d", i - 10);
            del(txn, key);
        }
        commit(txn);
        most = sap_db_num_pages(db) > most ? sap_db_num_pages(db) : most;
    }
    printf("queue: at most %llu pages in %d commits\n", (unsigned long long)most, COMMITS);
    ck_assert_uint_lt(most, BOUND);
}
END_TEST

START_TEST(two_environments_can_share_an_arena)
{
    Backing backing;
    SapEnv *envs[2];
    char key[16];

    backing_open(&backing, BACKING_CUSTOM, PAGE, 0);
    for (int i = 0; i < 2; i++) {
        envs[i] = sap_db_open(backing.arena, 0, NULL, NULL);
        ck_assert_ptr_nonnull(envs[i]);
        ck_assert_ptr_eq(sap_env_get_arena(envs[i]), backing.arena);
        ck_assert_uint_eq(sap_env_get_page_size(envs[i]), PAGE);
    }
    for (int i = 0; i < 300; i++) {
        SapTxnCtx *txns[2];
        snprintf(key, sizeof key, "k%03d", i);
        for (int j = 0; j < 2; j++) {
            ck_assert_int_eq(sap_txn_begin_rc(envs[j], NULL, 0, &txns[j]), SAP_OK);
        }
        for (int j = 0; j < 2; j++) {
            ck_assert_int_eq(sap_txn_put(txns[j], key, 4, j == 0 ? "zero" : "one", 3), SAP_OK);
            commit(txns[j]);
        }
    }
    for (int j = 0; j < 2; j++) {
        SapTxnCtx *txn = NULL;
        model_expect_verified(envs[j]);
        ck_assert_int_eq(sap_txn_begin_rc(envs[j], NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
        expect_value(txn, "k150", j == 0 ? "zer" : "one");
        sap_txn_abort(txn);
        ck_assert_int_eq(sap_db_close(envs[j]), SAP_OK);
    }
    backing_close(&backing);
}
END_TEST

/* ---- Subsystems ----------------------------------------------------------------------------- */

/* A subsystem whose state is a number: the pointer itself. Callbacks find their record by the
 * order of registration. */
typedef struct Probe {
    uint32_t id;
    int begins;
    int commits;
    int aborts;
    int destroys;
    uintptr_t last_parent;
    uintptr_t last_ended;
    int fail_begin;  /* a code */
    int fail_commit; /* a code */
    uintptr_t commit_adds;
} Probe;

static Probe probes[2];
static int tick;
static int commit_tick[2];
static int abort_tick[2];

static int probe_begin(Probe *probe, void *parent_state, void **state_out)
{
    ck_assert_ptr_eq(*state_out, parent_state);
    probe->begins++;
    probe->last_parent = (uintptr_t)parent_state;
    return probe->fail_begin;
}

static int probe_commit(Probe *probe, void **state)
{
    probe->commits++;
    probe->last_ended = (uintptr_t)*state;
    if (probe->fail_commit == SAP_OK) {
        *state = (void *)((uintptr_t)*state + probe->commit_adds);
    }
    return probe->fail_commit;
}

static int begin_0(SapTxnCtx *txn, void *parent_state, void **state_out)
{
    ck_assert_ptr_nonnull(txn);
    return probe_begin(&probes[0], parent_state, state_out);
}

static int begin_1(SapTxnCtx *txn, void *parent_state, void **state_out)
{
    ck_assert_ptr_nonnull(txn);
    return probe_begin(&probes[1], parent_state, state_out);
}

static int commit_0(SapTxnCtx *txn, void **state)
{
    ck_assert_ptr_nonnull(txn);
    commit_tick[0] = ++tick;
    return probe_commit(&probes[0], state);
}

static int commit_1(SapTxnCtx *txn, void **state)
{
    ck_assert_ptr_nonnull(txn);
    commit_tick[1] = ++tick;
    return probe_commit(&probes[1], state);
}

static void abort_0(SapTxnCtx *txn, void *state)
{
    ck_assert_ptr_nonnull(txn);
    abort_tick[0] = ++tick;
    probes[0].aborts++;
    probes[0].last_ended = (uintptr_t)state;
}

static void abort_1(SapTxnCtx *txn, void *state)
{
    ck_assert_ptr_nonnull(txn);
    abort_tick[1] = ++tick;
    probes[1].aborts++;
    probes[1].last_ended = (uintptr_t)state;
}

static void destroy_0(SapEnv *env, void *state)
{
    ck_assert_ptr_nonnull(env);
    probes[0].destroys++;
    probes[0].last_ended = (uintptr_t)state;
}

static void destroy_1(SapEnv *env, void *state)
{
    ck_assert_ptr_nonnull(env);
    probes[1].destroys++;
    probes[1].last_ended = (uintptr_t)state;
}

static void register_probes(SapEnv *env)
{
    static const SapSubsystemCallbacks callbacks[2] = {{.on_begin = begin_0,
                                                        .on_commit = commit_0,
                                                        .on_abort = abort_0,
                                                        .on_env_destroy = destroy_0},
                                                       {.on_begin = begin_1,
                                                        .on_commit = commit_1,
                                                        .on_abort = abort_1,
                                                        .on_env_destroy = destroy_1}};
    uint32_t id = 0;

    memset(probes, 0, sizeof probes);
    tick = 0;
    for (int i = 0; i < 2; i++) {
        while (sap_env_register_subsystem(env, id, &callbacks[i]) != SAP_OK) {
            id++;
            ck_assert_uint_lt(id, SAP_MAX_SUBSYSTEMS);
        }
        probes[i].id = id;
    }
}

static uintptr_t committed_state(SapEnv *env, int probe)
{
    void *state = NULL;

    ck_assert_int_eq(sap_env_subsystem_state(env, probes[probe].id, &state), SAP_OK);
    return (uintptr_t)state;
}

static uintptr_t state_of(SapTxnCtx *txn, int probe)
{
    void *state = NULL;

    ck_assert_int_eq(sap_txn_subsystem_state(txn, probes[probe].id, &state), SAP_OK);
    return (uintptr_t)state;
}

static void set_state(SapTxnCtx *txn, int probe, uintptr_t state)
{
    ck_assert_int_eq(sap_txn_set_subsystem_state(txn, probes[probe].id, (void *)state), SAP_OK);
}

START_TEST(a_subsystem_state_commits_and_aborts_with_its_transaction)
{
    register_probes(db);
    ck_assert_int_eq(sap_env_set_subsystem_state(db, probes[0].id, (void *)(uintptr_t)100), SAP_OK);
    ck_assert_uint_eq(committed_state(db, 0), 100);

    SapTxnCtx *txn = begin(NULL, 0);
    ck_assert_int_eq(probes[0].begins, 1);
    ck_assert_int_eq(probes[1].begins, 1);
    ck_assert_uint_eq(probes[0].last_parent, 100);
    ck_assert_uint_eq(probes[1].last_parent, 0);
    ck_assert_uint_eq(state_of(txn, 0), 100);
    set_state(txn, 0, 101);
    ck_assert_uint_eq(state_of(txn, 0), 101);
    ck_assert_uint_eq(committed_state(db, 0), 100);
    sap_txn_abort(txn);
    ck_assert_int_eq(probes[0].aborts, 1);
    ck_assert_int_eq(probes[1].aborts, 1);
    ck_assert_uint_eq(probes[0].last_ended, 101);
    ck_assert_uint_eq(committed_state(db, 0), 100);

    txn = begin(NULL, 0);
    ck_assert_uint_eq(state_of(txn, 0), 100);
    set_state(txn, 0, 102);
    probes[0].commit_adds = 1000;
    commit(txn);
    ck_assert_int_eq(probes[0].commits, 1);
    ck_assert_int_eq(probes[1].commits, 1);
    ck_assert_int_eq(probes[0].aborts, 1);
    ck_assert_uint_eq(probes[0].last_ended, 102);
    ck_assert_uint_eq(committed_state(db, 0), 1102);
    ck_assert_uint_eq(committed_state(db, 1), 0);
}
END_TEST

START_TEST(a_reader_has_the_subsystem_state_of_its_snapshot)
{
    register_probes(db);
    SapTxnCtx *txn = begin(NULL, 0);
    set_state(txn, 0, 1);
    put(txn, "k", "1");
    commit(txn);
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);
    ck_assert_uint_eq(probes[0].last_parent, 1);
    txn = begin(NULL, 0);
    set_state(txn, 0, 2);
    put(txn, "k", "2");
    SapTxnCtx *child = begin(txn, SAP_TXN_RDONLY);
    ck_assert_uint_eq(probes[0].last_parent, 2);
    ck_assert_uint_eq(state_of(child, 0), 2);
    sap_txn_abort(child);
    commit(txn);
    ck_assert_uint_eq(state_of(reader, 0), 1);
    expect_value(reader, "k", "1");
    int aborts = probes[0].aborts;
    int commits = probes[0].commits;
    commit(reader);
    ck_assert_int_eq(probes[0].aborts, aborts + 1);
    ck_assert_int_eq(probes[0].commits, commits);
    ck_assert_uint_eq(committed_state(db, 0), 2);
}
END_TEST

START_TEST(a_nested_subsystem_state_passes_to_the_parent_on_commit_only)
{
    register_probes(db);
    SapTxnCtx *parent = begin(NULL, 0);
    set_state(parent, 0, 10);
    SapTxnCtx *child = begin(parent, 0);
    ck_assert_uint_eq(probes[0].last_parent, 10);
    set_state(child, 0, 11);
    sap_txn_abort(child);
    ck_assert_uint_eq(probes[0].last_ended, 11);
    ck_assert_uint_eq(state_of(parent, 0), 10);
    child = begin(parent, 0);
    set_state(child, 0, 12);
    commit(child);
    ck_assert_uint_eq(state_of(parent, 0), 12);
    ck_assert_uint_eq(committed_state(db, 0), 0);
    commit(parent);
    ck_assert_uint_eq(committed_state(db, 0), 12);
    ck_assert_int_eq(probes[0].begins, 3);
    ck_assert_int_eq(probes[0].commits, 2);
    ck_assert_int_eq(probes[0].aborts, 1);
}
END_TEST

START_TEST(one_subsystem_that_refuses_to_commit_aborts_all)
{
    put_committed("k", "old");
    register_probes(db);
    for (int refusing = 0; refusing < 2; refusing++) {
        int aborts[2] = {probes[0].aborts, probes[1].aborts};
        SapTxnCtx *txn = begin(NULL, 0);
        put(txn, "k", "new");
        put(txn, "l", "more");
        set_state(txn, 0, 5);
        set_state(txn, 1, 6);
        probes[refusing].fail_commit = SAP_CONFLICT;
        ck_assert_int_eq(sap_txn_commit(txn), SAP_CONFLICT);
        probes[refusing].fail_commit = SAP_OK;
        ck_assert_int_eq(probes[0].aborts, aborts[0] + 1);
        ck_assert_int_eq(probes[1].aborts, aborts[1] + 1);
        ck_assert_int_gt(abort_tick[0], commit_tick[refusing]);
        ck_assert_int_gt(abort_tick[1], commit_tick[refusing]);
        ck_assert_uint_eq(committed_state(db, 0), 0);
        ck_assert_uint_eq(committed_state(db, 1), 0);
        expect_committed("k", "old");
        expect_committed("l", NULL);
    }
    put_committed("k", "later");
    expect_committed("k", "later");
}
END_TEST

/* Of a commit, the first says that nothing was done and the second that the outcome is not known. */
START_TEST(a_subsystem_that_refuses_as_busy_or_with_the_code_of_the_disk_is_an_error)
{
    static const int codes[] = {SAP_BUSY, SAP_IO};

    register_probes(db);
    for (size_t i = 0; i < 2; i++) {
        SapTxnCtx *txn = begin(NULL, 0);
        int aborts = probes[0].aborts;
        put(txn, "k", "new");
        probes[0].fail_commit = codes[i];
        ck_assert_int_eq(sap_txn_commit(txn), SAP_ERROR);
        probes[0].fail_commit = SAP_OK;
        ck_assert_int_eq(probes[0].aborts, aborts + 1);
        expect_committed("k", NULL);
    }
}
END_TEST

START_TEST(a_refused_nested_commit_aborts_the_child_only)
{
    register_probes(db);
    SapTxnCtx *parent = begin(NULL, 0);
    put(parent, "k", "parent");
    set_state(parent, 1, 3);
    SapTxnCtx *child = begin(parent, 0);
    put(child, "k", "child");
    set_state(child, 1, 4);
    probes[1].fail_commit = SAP_INVALID;
    ck_assert_int_eq(sap_txn_commit(child), SAP_INVALID);
    probes[1].fail_commit = SAP_OK;
    expect_value(parent, "k", "parent");
    ck_assert_uint_eq(state_of(parent, 1), 3);
    commit(parent);
    expect_committed("k", "parent");
    ck_assert_uint_eq(committed_state(db, 1), 3);
}
END_TEST

START_TEST(a_subsystem_that_refuses_to_begin_makes_the_begin_fail)
{
    static const unsigned kinds[] = {0, SAP_TXN_RDONLY};

    register_probes(db);
    for (int i = 0; i < 4; i++) {
        SapTxnCtx *txn = NULL;
        probes[i / 2].fail_begin = SAP_FENCED;
        ck_assert_int_eq(sap_txn_begin_rc(db, NULL, kinds[i % 2], &txn), SAP_FENCED);
        ck_assert_ptr_null(txn);
        ck_assert_ptr_null(sap_txn_begin(db, NULL, kinds[i % 2]));
        probes[i / 2].fail_begin = SAP_OK;
        /* Nothing is left open. */
        SapTxnCtx *parent = begin(NULL, 0);
        probes[i / 2].fail_begin = SAP_FENCED;
        ck_assert_int_eq(sap_txn_begin_rc(db, parent, kinds[i % 2], &txn), SAP_FENCED);
        probes[i / 2].fail_begin = SAP_OK;
        put(parent, "k", "v");
        commit(parent);
    }
    expect_committed("k", "v");
}
END_TEST

START_TEST(a_subsystem_is_told_when_its_environment_goes)
{
    SapEnv *env = sap_env_create(NULL, 0);
    SapTxnCtx *txn = NULL;

    ck_assert_ptr_nonnull(env);
    ck_assert_uint_eq(sap_env_get_page_size(env), 4096);
    register_probes(env);
    ck_assert_int_eq(sap_txn_begin_rc(env, NULL, 0, &txn), SAP_OK);
    set_state(txn, 1, 77);
    commit(txn);
    ck_assert_int_eq(sap_txn_begin_rc(env, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_env_destroy(env), SAP_BUSY);
    ck_assert_int_eq(probes[1].destroys, 0);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_env_destroy(env), SAP_OK);
    ck_assert_int_eq(probes[0].destroys, 1);
    ck_assert_int_eq(probes[1].destroys, 1);
    ck_assert_uint_eq(probes[1].last_ended, 77);
}
END_TEST

START_TEST(callbacks_may_all_be_missing)
{
    SapSubsystemCallbacks none;
    uint32_t id = 0;
    void *state = NULL;

    memset(&none, 0, sizeof none);
    while (sap_env_register_subsystem(db, id, &none) != SAP_OK) {
        id++;
        ck_assert_uint_lt(id, SAP_MAX_SUBSYSTEMS);
    }
    SapTxnCtx *txn = begin(NULL, 0);
    ck_assert_int_eq(sap_txn_set_subsystem_state(txn, id, &none), SAP_OK);
    SapTxnCtx *child = begin(txn, 0);
    ck_assert_int_eq(sap_txn_subsystem_state(child, id, &state), SAP_OK);
    ck_assert_ptr_eq(state, &none);
    sap_txn_abort(child);
    commit(txn);
    ck_assert_int_eq(sap_env_subsystem_state(db, id, &state), SAP_OK);
    ck_assert_ptr_eq(state, &none);
}
END_TEST

/* ---- Cursors -------------------------------------------------------------------------------- */

static void expect_key(SapCursor *cur, const char *expected)
{
    const void *key = NULL;
    uint32_t key_len = 0;

    ck_assert_int_eq(sap_cursor_get_key(cur, &key, &key_len), SAP_OK);
    ck_assert_uint_eq(key_len, strlen(expected));
    ck_assert_mem_eq(key, expected, key_len);
}

static SapTxnCtx *begin_with_abc(void)
{
    SapTxnCtx *txn = begin(NULL, 0);

    put(txn, "a", "1");
    put(txn, "c", "3");
    put(txn, "e", "5");
    return txn;
}

START_TEST(a_cursor_that_was_never_placed_goes_to_either_end)
{
    SapTxnCtx *txn = begin_with_abc();
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_key(cur, "a");
    ck_assert_int_eq(sap_cursor_renew(cur, txn), SAP_OK);
    ck_assert_int_eq(sap_cursor_prev(cur), SAP_OK);
    expect_key(cur, "e");
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(past_either_end_there_is_no_row)
{
    SapTxnCtx *txn = begin_with_abc();
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_cursor_last(cur), SAP_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_cursor_next(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_get_key(cur, NULL, NULL), SAP_NOTFOUND);
    }
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_cursor_prev(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_get_key(cur, NULL, NULL), SAP_NOTFOUND);
    }
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_cursor_stays_on_its_row_while_others_change_the_table)
{
    SapTxnCtx *txn = begin_with_abc();
    SapCursor *cur = sap_cursor_open(txn);
    char key[16];
    uint64_t rank = 0;
    const void *val = NULL;
    uint32_t val_len = 0;

    ck_assert_int_eq(sap_cursor_seek(cur, "b", 1), SAP_OK);
    expect_key(cur, "c");
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "%c%03d", i % 2 == 0 ? 'b' : 'd', i);
        put(txn, key, "filling");
        expect_key(cur, "c");
    }
    ck_assert_int_eq(sap_cursor_rank(cur, &rank), SAP_OK);
    ck_assert_uint_eq(rank, 251);
    put(txn, "c", "replaced");
    ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, &val, &val_len), SAP_OK);
    ck_assert_uint_eq(val_len, 8);
    ck_assert_mem_eq(val, "replaced", 8);
    for (int i = 0; i < 500; i++) {
        snprintf(key, sizeof key, "%c%03d", i % 2 == 0 ? 'b' : 'd', i);
        del(txn, key);
        expect_key(cur, "c");
    }
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_key(cur, "e");
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_cursor_whose_row_vanished_goes_on_to_its_neighbours)
{
    for (int forward = 0; forward < 2; forward++) {
        for (int through = 0; through < 3; through++) {
            SapTxnCtx *txn = begin_with_abc();
            SapCursor *cur = sap_cursor_open(txn);
            SapCursor *other = sap_cursor_open(txn);
            ck_assert_int_eq(sap_cursor_seek(cur, "c", 1), SAP_OK);
            if (through == 0) {
                del(txn, "c");
            } else if (through == 1) {
                ck_assert_int_eq(sap_cursor_seek(other, "c", 1), SAP_OK);
                ck_assert_int_eq(sap_cursor_del(other), SAP_OK);
                expect_key(other, "e");
            } else {
                SapTxnCtx *child = begin(txn, 0);
                del(child, "c");
                commit(child);
            }
            if (forward == 0) {
                ck_assert_int_eq(sap_cursor_get_key(cur, NULL, NULL), SAP_NOTFOUND);
                ck_assert_int_eq(sap_cursor_put(cur, "v", 1, 0), SAP_NOTFOUND);
                ck_assert_int_eq(sap_cursor_del(cur), SAP_NOTFOUND);
            }
            put(txn, "b", "2");
            put(txn, "d", "4");
            ck_assert_int_eq(forward != 0 ? sap_cursor_next(cur) : sap_cursor_prev(cur), SAP_OK);
            expect_key(cur, forward != 0 ? "d" : "b");
            sap_cursor_close(cur);
            sap_cursor_close(other);
            sap_txn_abort(txn);
        }
    }
}
END_TEST

START_TEST(a_row_that_a_child_removed_and_gave_back_by_abort_is_still_under_the_cursor)
{
    SapTxnCtx *txn = begin_with_abc();
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_cursor_seek(cur, "c", 1), SAP_OK);
    SapTxnCtx *child = begin(txn, 0);
    del(child, "c");
    put(child, "d", "4");
    sap_txn_abort(child);
    expect_key(cur, "c");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_key(cur, "e");
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(cursor_del_lands_on_the_next_row)
{
    SapTxnCtx *txn = begin_with_abc();
    SapCursor *cur = sap_cursor_open(txn);

    ck_assert_int_eq(sap_cursor_seek(cur, "c", 1), SAP_OK);
    ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
    expect_key(cur, "e");
    ck_assert_int_eq(sap_cursor_prev(cur), SAP_OK);
    expect_key(cur, "a");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_key(cur, "e");
    ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_get_key(cur, NULL, NULL), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_del(cur), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_NOTFOUND);
    expect_value(txn, "a", "1");
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(cursor_put_replaces_the_value_and_stays)
{
    SapTxnCtx *txn = begin_with_abc();
    SapCursor *cur = sap_cursor_open(txn);
    static char big[20000];

    memset(big, 'g', sizeof big);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    for (int rc = SAP_OK; rc == SAP_OK; rc = sap_cursor_next(cur)) {
        ck_assert_int_eq(sap_cursor_put(cur, big, sizeof big, 0), SAP_OK);
        ck_assert_int_eq(sap_cursor_put(cur, "x", 1, 0), SAP_OK);
    }
    expect_value(txn, "a", "x");
    expect_value(txn, "c", "x");
    expect_value(txn, "e", "x");
    sap_cursor_close(cur);
    commit(txn);
}
END_TEST

START_TEST(a_reserved_value_is_what_the_caller_wrote)
{
    SapTxnCtx *txn = begin_with_abc();
    void *room = NULL;

    ck_assert_int_eq(sap_txn_put_flags(txn, "b", 1, NULL, 4, SAP_RESERVE, &room), SAP_OK);
    memcpy(room, "room", 4);
    expect_value(txn, "b", "room");
    ck_assert_int_eq(sap_txn_put_flags(txn, "a", 1, NULL, 6, SAP_RESERVE, &room), SAP_OK);
    memcpy(room, "larger", 6);
    ck_assert_int_eq(sap_txn_put_flags(txn, "d", 1, NULL, 3, SAP_RESERVE | SAP_NOOVERWRITE, &room),
                     SAP_OK);
    memcpy(room, "new", 3);
    expect_value(txn, "a", "larger");
    commit(txn);
    expect_committed("a", "larger");
    expect_committed("b", "room");
    expect_committed("d", "new");
}
END_TEST

/* A program may have very many of them. */
START_TEST(an_engine_in_memory_costs_little_beside_its_pages_between_transactions)
{
    enum { ROWS = 2000, MOST_BYTES = 16 * 1024 };
    SapArenaOptions options = {
        .size = sizeof options, .type = SAP_ARENA_BACKING_MALLOC, .page_size = 2048};
    SapMemArena *arena = NULL;
    size_t before = mem_live_total() - mem_live_bytes(MEM_ARENA);
    ck_assert_int_eq(sap_arena_init(&arena, &options), SAP_OK);
    DB *small = db_open(arena, 2048, NULL, NULL);
    ck_assert_ptr_nonnull(small);
    for (uint32_t i = 0; i < ROWS; i++) {
        Txn *txn = txn_begin(small, NULL, 0);
        ck_assert_ptr_nonnull(txn);
        Txn *nested = txn_begin(small, txn, 0);
        ck_assert_ptr_nonnull(nested);
        ck_assert_int_eq(txn_put(nested, &i, sizeof i, "value", 5), SAP_OK);
        ck_assert_int_eq(txn_commit(nested), SAP_OK);
        ck_assert_int_eq(txn_commit(txn), SAP_OK);
    }
    size_t held = mem_live_total() - mem_live_bytes(MEM_ARENA) - before;
    printf("engine_txn: an engine in memory holds %zu bytes beside its pages\n", held);
    ck_assert_uint_eq(mem_live_bytes(MEM_SCRATCH), 0);
    ck_assert_uint_le(held, MOST_BYTES);
    db_close(small);
    sap_arena_destroy(arena);
}
END_TEST

START_TEST(a_large_value_is_one_piece)
{
    enum { SIZE = 3 * 1000 * 1000 };
    static uint8_t big[SIZE];
    const void *val = NULL;
    uint32_t val_len = 0;

    for (uint32_t i = 0; i < SIZE; i++) {
        big[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    SapTxnCtx *txn = begin(NULL, 0);
    ck_assert_int_eq(sap_txn_put(txn, "big", 3, big, SIZE), SAP_OK);
    put(txn, "small", "s");
    ck_assert_int_eq(sap_txn_get(txn, "big", 3, &val, &val_len), SAP_OK);
    ck_assert_uint_eq(val_len, SIZE);
    ck_assert_mem_eq(val, big, SIZE);
    commit(txn);
    uint64_t pages = sap_db_num_pages(db);
    SapTxnCtx *reader = begin(NULL, SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_txn_get(reader, "big", 3, &val, &val_len), SAP_OK);
    put_committed("big", "replaced");
    ck_assert_uint_eq(val_len, SIZE);
    ck_assert_mem_eq(val, big, SIZE);
    sap_txn_abort(reader);
    put_committed("other", "commit");
    ck_assert_uint_lt(sap_db_num_pages(db), pages / 100);
}
END_TEST

/* The leaf has to split although the row that grew got shorter in it. Found by chance. */
START_TEST(a_value_that_leaves_a_crowded_leaf_for_pages_of_its_own_keeps_the_tree_sound)
{
    static const struct {
        uint8_t letter;
        uint8_t prefix;
        uint8_t number;
        uint16_t val_len;
    } rows[] = {{'P', 40, 0, 0},  {'P', 27, 5, 10}, {'p', 77, 0, 0}, {'p', 77, 3, 0},
                {'p', 40, 5, 10}, {'P', 40, 3, 0},  {'P', 77, 4, 0}, {'p', 40, 2, 10},
                {'P', 77, 1, 0},  {'p', 77, 0, 257}};
    static uint8_t val[300];
    SapEnv *small = sap_db_open(NULL, 256, NULL, NULL);
    SapTxnCtx *txn = NULL;
    Model *model = model_new();

    expect_context("ten rows in pages of 256 bytes");
    model_add_table(model, 0, NULL, NULL);
    ck_assert_int_eq(sap_txn_begin_rc(small, NULL, 0, &txn), SAP_OK);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t key[81];
        memset(key, rows[i].letter, rows[i].prefix);
        memset(key + rows[i].prefix, 0, 3);
        key[rows[i].prefix + 3] = rows[i].number;
        memset(val, (int)i, sizeof val);
        ck_assert_int_eq(sap_txn_put(txn, key, rows[i].prefix + 4u, val, rows[i].val_len), SAP_OK);
        model_put(&model->tables[0], key, rows[i].prefix + 4u, val, rows[i].val_len);
    }
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    model_expect_committed(model, small);
    model_free(model);
    ck_assert_int_eq(sap_db_close(small), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_txn");
    TCase *tcase = tcase_create("txn");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_reader_sees_nothing_of_an_open_writer);
    tcase_add_test(tcase, a_reader_keeps_the_snapshot_it_began_with);
    tcase_add_test(tcase, tables_commit_together);
    tcase_add_test(tcase, what_a_reader_got_stays_in_place_until_it_ends);
    tcase_add_test(tcase, an_aborted_writer_leaves_no_trace);
    tcase_add_test(tcase, an_aborted_child_leaves_the_parent_as_it_was);
    tcase_add_test(tcase, only_the_outermost_commit_publishes);
    tcase_add_test(tcase, a_committed_child_goes_with_its_aborted_parent);
    tcase_add_test(tcase, a_read_only_child_sees_what_its_parent_has_not_committed);
    tcase_add_test(tcase, a_child_of_a_reader_sees_its_snapshot);
    tcase_add_test(tcase, aborting_a_parent_aborts_its_children);
    tcase_add_test(tcase, transactions_nest_to_any_depth);
    tcase_add_test(tcase, many_children_of_one_parent_add_up);
    tcase_add_test(tcase, waiting_for_oneself_is_busy);
    tcase_add_test(tcase, a_transaction_knows_its_environment);
    tcase_add_test(tcase, in_memory_every_commit_is_durable_at_once);
    tcase_add_test(tcase, scratch_memory_lives_as_long_as_its_transaction);
    tcase_add_test(tcase, db_readers_lists_the_outermost_readers);
    tcase_add_test(tcase, a_thousand_readers_are_open_at_once);
    tcase_add_test(tcase, db_stat_tells_what_the_last_commit_left);
    tcase_add_test(tcase, an_emptied_table_gives_back_its_pages);
    tcase_add_test(tcase, a_thousand_empty_engines_cost_at_most_4_kib_each);
    tcase_add_test(tcase, an_old_reader_holds_no_more_than_its_own_snapshot);
    tcase_add_test(tcase, readers_of_different_ages_hold_their_own_snapshots_only);
    tcase_add_test(tcase, freed_pages_are_used_again);
    tcase_add_test(tcase, two_environments_can_share_an_arena);
    tcase_add_test(tcase, a_subsystem_state_commits_and_aborts_with_its_transaction);
    tcase_add_test(tcase, a_reader_has_the_subsystem_state_of_its_snapshot);
    tcase_add_test(tcase, a_nested_subsystem_state_passes_to_the_parent_on_commit_only);
    tcase_add_test(tcase, one_subsystem_that_refuses_to_commit_aborts_all);
    tcase_add_test(tcase,
                   a_subsystem_that_refuses_as_busy_or_with_the_code_of_the_disk_is_an_error);
    tcase_add_test(tcase, a_refused_nested_commit_aborts_the_child_only);
    tcase_add_test(tcase, a_subsystem_that_refuses_to_begin_makes_the_begin_fail);
    tcase_add_test(tcase, a_subsystem_is_told_when_its_environment_goes);
    tcase_add_test(tcase, callbacks_may_all_be_missing);
    tcase_add_test(tcase, a_cursor_that_was_never_placed_goes_to_either_end);
    tcase_add_test(tcase, past_either_end_there_is_no_row);
    tcase_add_test(tcase, a_cursor_stays_on_its_row_while_others_change_the_table);
    tcase_add_test(tcase, a_cursor_whose_row_vanished_goes_on_to_its_neighbours);
    tcase_add_test(tcase,
                   a_row_that_a_child_removed_and_gave_back_by_abort_is_still_under_the_cursor);
    tcase_add_test(tcase, cursor_del_lands_on_the_next_row);
    tcase_add_test(tcase, cursor_put_replaces_the_value_and_stays);
    tcase_add_test(tcase, a_reserved_value_is_what_the_caller_wrote);
    tcase_add_test(tcase, an_engine_in_memory_costs_little_beside_its_pages_between_transactions);
    tcase_add_test(tcase, a_large_value_is_one_piece);
    tcase_add_test(tcase,
                   a_value_that_leaves_a_crowded_leaf_for_pages_of_its_own_keeps_the_tree_sound);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
