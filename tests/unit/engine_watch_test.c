/* What watches promise, one claim per test. */
#include "common/bytes.h"
#include "common/mem.h"
#include "support/events.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/orders.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 120, PAGE = 512, BIG = 5000, DATA = 4, META = 5, DUP = 6, REVERSE = 7 };

static size_t live_before;
static SapEnv *db;
static Events events;
static Events others;
static uint8_t big_value[BIG];

static void set_up(void)
{
    live_before = mem_live_total();
    db = sap_db_open(NULL, PAGE, NULL, NULL);
    ck_assert_ptr_nonnull(db);
    ck_assert_int_eq(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(db, DATA, NULL, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(db, META, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(db, DUP, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(
        sap_dbi_open(db, REVERSE, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE), 0), SAP_OK);
}

/* Watches that are left go with the DB. */
static void tear_down(void)
{
    events_clear(&events);
    events_clear(&others);
    model_expect_verified(db);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static SapTxnCtx *begin(SapTxnCtx *parent)
{
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(db, parent, 0, &txn), SAP_OK);
    return txn;
}

static void put_dbi(SapTxnCtx *txn, uint32_t dbi, const char *key, const char *val)
{
    ck_assert_int_eq(
        sap_txn_put_dbi(txn, dbi, key, (uint32_t)strlen(key), val, (uint32_t)strlen(val)), SAP_OK);
}

static void put(SapTxnCtx *txn, const char *key, const char *val)
{
    put_dbi(txn, 0, key, val);
}

static void del(SapTxnCtx *txn, const char *key)
{
    ck_assert_int_eq(sap_txn_del(txn, key, (uint32_t)strlen(key)), SAP_OK);
}

static void commit(SapTxnCtx *txn)
{
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
}

static void watch_dbi(uint32_t dbi, const char *prefix, Events *into)
{
    ck_assert_int_eq(sap_db_watch_dbi(db, dbi, prefix, (uint32_t)strlen(prefix), events_note, into),
                     SAP_OK);
}

static void watch(const char *prefix)
{
    ck_assert_int_eq(sap_db_watch(db, prefix, (uint32_t)strlen(prefix), events_note, &events),
                     SAP_OK);
}

static void unwatch(const char *prefix)
{
    ck_assert_int_eq(sap_db_unwatch(db, prefix, (uint32_t)strlen(prefix), events_note, &events),
                     SAP_OK);
}

static void put_committed(const char *key, const char *val)
{
    SapTxnCtx *txn = begin(NULL);

    put(txn, key, val);
    commit(txn);
}

/* ---- What is told --------------------------------------------------------------------------- */

START_TEST(a_commit_tells_of_new_replaced_and_removed_rows)
{
    put_committed("b", "old");
    put_committed("d", "old");
    put_committed("e", "untouched");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a", "new");
    put(txn, "b", "replaced");
    del(txn, "d");
    events_expect(&events, "");
    commit(txn);
    events_expect(&events, "a=new b=replaced d-");
}
END_TEST

START_TEST(keys_are_told_of_once_per_commit_in_their_order_with_their_last_value)
{
    watch("");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "c", "1");
    put(txn, "a", "1");
    put(txn, "b", "1");
    put(txn, "a", "2");
    put(txn, "c", "3");
    del(txn, "b");
    put(txn, "b", "4");
    put(txn, "a", "5");
    commit(txn);
    events_expect(&events, "a=5 b=4 c=3");
    txn = begin(NULL);
    put(txn, "b", "6");
    del(txn, "b");
    del(txn, "c");
    put(txn, "c", "7");
    commit(txn);
    events_expect(&events, "b- c=7");
}
END_TEST

START_TEST(a_key_that_was_in_no_commit_and_is_gone_again_is_not_told_of)
{
    watch("");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a", "1"); /* into an empty table */
    del(txn, "a");
    commit(txn);
    events_expect(&events, "");

    put_committed("old", "v");
    events_clear(&events);
    txn = begin(NULL);
    put(txn, "a", "1");
    del(txn, "a");
    put(txn, "b", "1");
    del(txn, "b");
    put(txn, "b", "2"); /* is there in the end */
    put(txn, "c", "1");
    put(txn, "c", "2");
    del(txn, "c");
    put(txn, "c", "3");
    ck_assert_int_eq(sap_txn_del_range(txn, 0, "c", 1, "d", 1, NULL), SAP_OK);
    put(txn, "old", "1");
    del(txn, "old"); /* was there before */
    commit(txn);
    events_expect(&events, "b=2 old-");
}
END_TEST

START_TEST(a_key_that_comes_and_goes_in_different_levels_is_not_told_of)
{
    put_committed("old", "v");
    watch("");
    SapTxnCtx *outer = begin(NULL);
    put(outer, "a", "outer");
    SapTxnCtx *child = begin(outer);
    put(child, "b", "child");
    del(child, "a");
    SapTxnCtx *grandchild = begin(child);
    put(grandchild, "c", "grandchild");
    put(grandchild, "old", "new");
    commit(grandchild);
    del(child, "c");
    del(child, "old");
    commit(child);
    del(outer, "b");
    /* What was deleted in a child that aborts is there. */
    put(outer, "d", "outer");
    child = begin(outer);
    del(child, "d");
    sap_txn_abort(child);
    /* What was put in one never was. */
    child = begin(outer);
    put(child, "e", "child");
    sap_txn_abort(child);
    commit(outer);
    events_expect(&events, "d=outer old-");
}
END_TEST

START_TEST(a_key_put_back_to_what_it_was_is_told_of)
{
    put_committed("a", "1");
    put_committed("b", "2");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a", "1");
    del(txn, "b");
    put(txn, "b", "2");
    commit(txn);
    events_expect(&events, "a=1 b=2");
}
END_TEST

START_TEST(key_order_is_that_of_the_table)
{
    watch_dbi(REVERSE, "", &events);
    SapTxnCtx *txn = begin(NULL);
    put_dbi(txn, REVERSE, "b", "2");
    put_dbi(txn, REVERSE, "a", "1");
    put_dbi(txn, REVERSE, "c", "3");
    commit(txn);
    events_expect(&events, "c=3 b=2 a=1");
}
END_TEST

START_TEST(only_keys_with_the_prefix_are_told_of)
{
    watch("ab");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "", "no");
    put(txn, "a", "no");
    put(txn, "aa", "no");
    put(txn, "ab", "yes");
    put(txn, "ab0", "yes");
    put(txn, "abzzzzzzzz", "yes");
    put(txn, "ac", "no");
    put(txn, "b", "no");
    commit(txn);
    events_expect(&events, "ab=yes ab0=yes abzzzzzzzz=yes");
    txn = begin(NULL);
    del(txn, "ab0");
    del(txn, "ac");
    commit(txn);
    events_expect(&events, "ab0-");
}
END_TEST

START_TEST(prefixes_are_bytes)
{
    static const uint8_t prefix[] = {0x00, 0xff};
    static const uint8_t key[] = {0x00, 0xff, 0x00};

    ck_assert_int_eq(sap_db_watch(db, prefix, 2, events_note, &events), SAP_OK);
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_put(txn, key, 3, "v", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, key, 2, "w", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, key, 1, "x", 1), SAP_OK);
    commit(txn);
    ck_assert_uint_eq(events.count, 2);
    ck_assert_uint_eq(events.list[0].key_len, 2);
    ck_assert_mem_eq(events.list[0].key, key, 2);
    ck_assert_uint_eq(events.list[1].key_len, 3);
    ck_assert_mem_eq(events.list[1].val, "v", 1);
}
END_TEST

START_TEST(an_empty_prefix_is_every_key_the_empty_one_included)
{
    ck_assert_int_eq(sap_db_watch(db, NULL, 0, events_note, &events), SAP_OK);
    SapTxnCtx *txn = begin(NULL);
    put(txn, "", "empty key");
    put(txn, "z", "");
    commit(txn);
    ck_assert_uint_eq(events.count, 2);
    ck_assert_uint_eq(events.list[0].key_len, 0);
    /* A row with an empty value is there. */
    ck_assert_ptr_nonnull(events.list[1].val);
    ck_assert_uint_eq(events.list[1].val_len, 0);
}
END_TEST

START_TEST(long_values_are_told_whole)
{
    watch("");
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_put(txn, "big", 3, big_value, BIG), SAP_OK);
    commit(txn);
    ck_assert_uint_eq(events.count, 1);
    ck_assert_uint_eq(events.list[0].val_len, BIG);
    ck_assert_mem_eq(events.list[0].val, big_value, BIG);
    events_clear(&events);
    txn = begin(NULL);
    del(txn, "big");
    commit(txn);
    events_expect(&events, "big-");
}
END_TEST

START_TEST(a_watch_is_for_one_table)
{
    watch("k");
    watch_dbi(1, "k", &others);
    SapTxnCtx *txn = begin(NULL);
    put_dbi(txn, 0, "k0", "zero");
    put_dbi(txn, 1, "k1", "one");
    put_dbi(txn, DATA, "k2", "two");
    commit(txn);
    events_expect(&events, "k0=zero");
    events_expect(&others, "k1=one");
}
END_TEST

START_TEST(every_watch_that_matches_is_told)
{
    watch("a");
    watch("ab");
    ck_assert_int_eq(sap_db_watch(db, "a", 1, events_note, &others), SAP_OK);
    put_committed("abc", "v");
    ck_assert_uint_eq(events.count, 2);
    events_expect(&others, "abc=v");
    events_clear(&events);
    put_committed("ac", "w");
    events_expect(&events, "ac=w");
    events_expect(&others, "ac=w");
}
END_TEST

START_TEST(commits_are_told_of_in_their_order)
{
    char key[16];
    char val[16];

    watch("");
    for (int i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "k%d", i * 7 % 10);
        snprintf(val, sizeof val, "%d", i);
        put_committed(key, val);
    }
    ck_assert_uint_eq(events.count, 200);
    for (int i = 0; i < 200; i++) {
        EXPECT(atoi((char *)events.list[i].val) == i, "commit %d came as number %s", i,
               (char *)events.list[i].val);
    }
}
END_TEST

START_TEST(a_commit_with_many_keys_is_told_of_in_order)
{
    char key[16];

    watch("k");
    SapTxnCtx *txn = begin(NULL);
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k%06u", i * 7919 % 5000);
        EXPECT_RC(sap_txn_put(txn, key, 7, key, 7), SAP_OK);
    }
    commit(txn);
    ck_assert_uint_eq(events.count, 5000);
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(key, sizeof key, "k%06u", i);
        EXPECT(memcmp(events.list[i].key, key, 7) == 0 && memcmp(events.list[i].val, key, 7) == 0,
               "event %u is out of order", i);
    }
}
END_TEST

/* ---- Which commits -------------------------------------------------------------------------- */

START_TEST(nothing_is_told_of_a_transaction_that_does_not_commit)
{
    put_committed("k", "v");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "k", "w");
    put(txn, "l", "w");
    sap_txn_abort(txn);
    events_expect(&events, "");
    txn = begin(NULL);
    commit(txn);
    SapTxnCtx *reader = NULL;
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_get(reader, "k", 1, NULL, NULL), SAP_OK);
    commit(reader);
    events_expect(&events, "");
}
END_TEST

START_TEST(children_are_told_of_at_the_outermost_commit)
{
    put_committed("gone", "v");
    watch("");
    SapTxnCtx *outer = begin(NULL);
    put(outer, "a", "outer");
    SapTxnCtx *child = begin(outer);
    put(child, "a", "child");
    put(child, "b", "child");
    SapTxnCtx *grandchild = begin(child);
    put(grandchild, "b", "grandchild");
    del(grandchild, "gone");
    commit(grandchild);
    events_expect(&events, "");
    commit(child);
    events_expect(&events, "");
    commit(outer);
    events_expect(&events, "a=child b=grandchild gone-");
}
END_TEST

START_TEST(an_aborted_child_is_not_told_of)
{
    put_committed("kept", "v");
    put_committed("a", "v");
    watch("");
    SapTxnCtx *outer = begin(NULL);
    put(outer, "a", "outer");
    SapTxnCtx *child = begin(outer);
    put(child, "a", "child");
    put(child, "b", "child");
    del(child, "kept");
    SapTxnCtx *grandchild = begin(child);
    put(grandchild, "c", "grandchild");
    commit(grandchild);
    sap_txn_abort(child);
    commit(outer);
    events_expect(&events, "a=outer");
}
END_TEST

START_TEST(a_commit_that_does_not_wait_is_told_of_too)
{
    uint64_t lsn = 0;

    watch("");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "k", "v");
    ck_assert_int_eq(sap_txn_commit_async(txn, &lsn), SAP_OK);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    events_expect(&events, "k=v");
}
END_TEST

START_TEST(earlier_commits_are_not_told_of)
{
    put_committed("k", "before");
    watch("");
    events_expect(&events, "");
    put_committed("k", "after");
    events_expect(&events, "k=after");
    unwatch("");
    put_committed("k", "later");
    events_expect(&events, "");
    watch("");
    put_committed("l", "again");
    events_expect(&events, "l=again");
}
END_TEST

/* ---- Every way to change a row -------------------------------------------------------------- */

static void append(const void *old_val, uint32_t old_len, const void *operand, uint32_t op_len,
                   void *new_val, uint32_t *new_len, void *ctx)
{
    (void)ctx;
    if (*new_len >= old_len + op_len) {
        memcpy(new_val, old_val, old_len);
        memcpy((uint8_t *)new_val + old_len, operand, op_len);
    }
    *new_len = old_len + op_len;
}

START_TEST(merge_put_if_and_reserve_are_told_of)
{
    void *room = NULL;

    put_committed("if", "old");
    put_committed("if not", "old");
    put_committed("merge", "a");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_merge(txn, 0, "merge", 5, "b", 1, append, NULL), SAP_OK);
    ck_assert_int_eq(sap_txn_put_if(txn, 0, "if", 2, "new", 3, "old", 3), SAP_OK);
    ck_assert_int_eq(sap_txn_put_if(txn, 0, "if not", 6, "new", 3, "other", 5), SAP_CONFLICT);
    ck_assert_int_eq(sap_txn_put_flags(txn, "kept", 4, NULL, 4, SAP_RESERVE, &room), SAP_OK);
    memcpy(room, "room", 4);
    commit(txn);
    events_expect(&events, "if=new kept=room merge=ab");
}
END_TEST

START_TEST(refused_puts_are_not_told_of)
{
    put_committed("k", "old");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_put_flags(txn, "k", 1, "n", 1, SAP_NOOVERWRITE, NULL), SAP_EXISTS);
    ck_assert_int_eq(sap_txn_del(txn, "l", 1), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_put(txn, big_value, PAGE, "n", 1), SAP_FULL);
    ck_assert_int_eq(sap_txn_put_if(txn, 0, "l", 1, "n", 1, "", 0), SAP_NOTFOUND);
    commit(txn);
    events_expect(&events, "");
}
END_TEST

START_TEST(changes_through_cursors_are_told_of)
{
    put_committed("a", "1");
    put_committed("b", "2");
    put_committed("c", "3");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    SapCursor *cur = sap_cursor_open(txn);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_put(cur, "new", 3, 0), SAP_OK);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
    sap_cursor_close(cur);
    commit(txn);
    events_expect(&events, "a=new b-");
}
END_TEST

START_TEST(a_deleted_range_is_told_of_key_by_key)
{
    char key[16];
    uint64_t deleted = 0;

    SapTxnCtx *txn = begin(NULL);
    for (int i = 0; i < 1000; i++) {
        snprintf(key, sizeof key, "k%03d", i);
        put(txn, key, "v");
    }
    commit(txn);
    watch("k1");
    watch("k20");
    txn = begin(NULL);
    ck_assert_int_eq(sap_txn_del_range(txn, 0, "k050", 4, "k205", 4, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 155);
    commit(txn);
    ck_assert_uint_eq(events.count, 105);
    size_t next = 100;
    for (size_t i = 0; i < events.count; i++) {
        /* The two watches may take turns, each is in order. */
        bool second = memcmp(events.list[i].key, "k20", 3) == 0;
        snprintf(key, sizeof key, "k%03d", (int)next);
        EXPECT(events.list[i].val == NULL, "a deleted row has a value");
        EXPECT(second || memcmp(events.list[i].key, key, 4) == 0, "key %zu is out of order", i);
        next += second ? 0 : 1;
    }
    ck_assert_uint_eq(next, 200);
}
END_TEST

START_TEST(a_range_deleted_in_an_aborted_child_is_not_told_of)
{
    put_committed("a", "1");
    put_committed("b", "2");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    SapTxnCtx *child = begin(txn);
    ck_assert_int_eq(sap_txn_del_range(child, 0, NULL, 0, NULL, 0, NULL), SAP_OK);
    sap_txn_abort(child);
    child = begin(txn);
    ck_assert_int_eq(sap_txn_del_range(child, 0, "b", 1, NULL, 0, NULL), SAP_OK);
    commit(child);
    commit(txn);
    events_expect(&events, "b-");
}
END_TEST

START_TEST(a_range_deleted_and_partly_put_again_is_told_as_it_ends)
{
    put_committed("a", "1");
    put_committed("b", "2");
    put_committed("c", "3");
    watch("");
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_del_range(txn, 0, NULL, 0, NULL, 0, NULL), SAP_OK);
    put(txn, "b", "new");
    commit(txn);
    events_expect(&events, "a- b=new c-");
}
END_TEST

START_TEST(a_load_is_told_of)
{
    const void *keys[] = {"a", "b", "c"};
    const void *vals[] = {"1", "2", "3"};
    uint32_t lens[] = {1, 1, 1};

    watch("");
    watch_dbi(1, "b", &others);
    put_committed("b", "old");
    events_clear(&events);
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 0, keys, lens, vals, lens, 3), SAP_OK);
    ck_assert_int_eq(sap_txn_load_sorted(txn, 1, keys, lens, vals, lens, 3), SAP_OK);
    commit(txn);
    events_expect(&events, "a=1 b=2 c=3");
    events_expect(&others, "b=2");
}
END_TEST

START_TEST(expiry_is_told_of)
{
    uint64_t deleted = 0;

    watch_dbi(DATA, "", &events);
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, "a", 1, "1", 1, 10), SAP_OK);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, "b", 1, "2", 1, 20), SAP_OK);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, "c", 1, "3", 1, 10), SAP_OK);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, "d", 1, "4", 1, 30), SAP_OK);
    commit(txn);
    events_expect(&events, "a=1 b=2 c=3 d=4");
    txn = begin(NULL);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(txn, DATA, META, 10, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 2);
    ck_assert_int_eq(
        sap_txn_get_ttl_flags_dbi(txn, DATA, META, "b", 1, 20, NULL, NULL, SAP_TTL_LAZY_DELETE),
        SAP_NOTFOUND);
    SapCursor *cur = sap_cursor_open_dbi(txn, DATA);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_get_ttl_dbi(cur, META, 30, NULL, NULL, SAP_TTL_LAZY_DELETE),
                     SAP_NOTFOUND);
    sap_cursor_close(cur);
    commit(txn);
    events_expect(&events, "a- b- c- d-");
}
END_TEST

START_TEST(a_restore_is_not_told_of)
{
    Stream stream;

    stream_init(&stream);
    put_committed("k", "stored");
    ck_assert_int_eq(sap_db_checkpoint(db, stream_write, &stream), SAP_OK);
    put_committed("k", "newer");
    put_committed("l", "newer");
    watch("");
    ck_assert_int_eq(sap_db_restore(db, stream_read, &stream), SAP_OK);
    events_expect(&events, "");
    /* The watch is still there. */
    put_committed("k", "after");
    events_expect(&events, "k=after");
    stream_free(&stream);
}
END_TEST

/* ---- Registration --------------------------------------------------------------------------- */

START_TEST(the_same_registration_exists_once)
{
    watch("a");
    ck_assert_int_eq(sap_db_watch(db, "a", 1, events_note, &events), SAP_EXISTS);
    ck_assert_int_eq(sap_db_watch_dbi(db, 0, "a", 1, events_note, &events), SAP_EXISTS);
    put_committed("a", "v");
    events_expect(&events, "a=v");
    ck_assert_int_eq(sap_db_watch_dbi(db, 1, "a", 1, events_note, &events), SAP_OK);
    ck_assert_int_eq(sap_db_watch(db, "ab", 2, events_note, &events), SAP_OK);
    ck_assert_int_eq(sap_db_watch(db, "", 0, events_note, &events), SAP_OK);
    ck_assert_int_eq(sap_db_watch(db, NULL, 0, events_note, &events), SAP_EXISTS);
}
END_TEST

START_TEST(only_what_is_registered_can_be_unregistered)
{
    ck_assert_int_eq(sap_db_unwatch(db, "a", 1, events_note, &events), SAP_NOTFOUND);
    watch("a");
    ck_assert_int_eq(sap_db_unwatch(db, "b", 1, events_note, &events), SAP_NOTFOUND);
    ck_assert_int_eq(sap_db_unwatch(db, "", 0, events_note, &events), SAP_NOTFOUND);
    ck_assert_int_eq(sap_db_unwatch(db, "ab", 2, events_note, &events), SAP_NOTFOUND);
    ck_assert_int_eq(sap_db_unwatch(db, "a", 1, events_note, &others), SAP_NOTFOUND);
    ck_assert_int_eq(sap_db_unwatch_dbi(db, 1, "a", 1, events_note, &events), SAP_NOTFOUND);
    ck_assert_int_eq(sap_db_unwatch_dbi(db, 0, "a", 1, events_note, &events), SAP_OK);
    ck_assert_int_eq(sap_db_unwatch(db, "a", 1, events_note, &events), SAP_NOTFOUND);
    put_committed("a", "v");
    events_expect(&events, "");
}
END_TEST

START_TEST(registrations_are_busy_while_a_writer_is_open)
{
    watch("a");
    SapTxnCtx *txn = begin(NULL);
    ck_assert_int_eq(sap_db_watch(db, "b", 1, events_note, &events), SAP_BUSY);
    ck_assert_int_eq(sap_db_watch_dbi(db, 1, "b", 1, events_note, &events), SAP_BUSY);
    ck_assert_int_eq(sap_db_unwatch(db, "a", 1, events_note, &events), SAP_BUSY);
    put(txn, "a", "v");
    put(txn, "b", "v");
    commit(txn);
    events_expect(&events, "a=v");
}
END_TEST

START_TEST(readers_do_not_hinder_registration)
{
    SapTxnCtx *reader = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    watch("a");
    put_committed("a", "v");
    events_expect(&events, "a=v");
    unwatch("a");
    sap_txn_abort(reader);
}
END_TEST

START_TEST(misuse_is_refused)
{
    ck_assert_int_eq(sap_db_watch(NULL, "a", 1, events_note, &events), SAP_ERROR);
    ck_assert_int_eq(sap_db_watch(db, "a", 1, NULL, &events), SAP_ERROR);
    ck_assert_int_eq(sap_db_watch(db, NULL, 1, events_note, &events), SAP_ERROR);
    ck_assert_int_eq(sap_db_watch_dbi(db, 99, "a", 1, events_note, &events), SAP_ERROR);
    ck_assert_int_eq(sap_db_watch_dbi(db, SAP_MAX_DBI + 1, "a", 1, events_note, &events),
                     SAP_ERROR);
    ck_assert_int_eq(sap_db_unwatch(NULL, "a", 1, events_note, &events), SAP_ERROR);
}
END_TEST

START_TEST(dupsort_tables_cannot_be_watched)
{
    ck_assert_int_eq(sap_db_watch_dbi(db, DUP, "a", 1, events_note, &events), SAP_ERROR);
    watch_dbi(1, "a", &events);
    ck_assert_int_eq(sap_dbi_set_dupsort(db, 1, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_db_unwatch_dbi(db, 1, "a", 1, events_note, &events), SAP_OK);
    ck_assert_int_eq(sap_dbi_set_dupsort(db, 1, NULL, NULL), SAP_OK);
    ck_assert_int_eq(sap_db_watch_dbi(db, 1, "a", 1, events_note, &events), SAP_ERROR);
}
END_TEST

START_TEST(the_prefix_is_copied)
{
    char prefix[] = "ab";

    ck_assert_int_eq(sap_db_watch(db, prefix, 2, events_note, &events), SAP_OK);
    memset(prefix, 'x', 2);
    put_committed("abc", "v");
    put_committed("xxc", "v");
    events_expect(&events, "abc=v");
    unwatch("ab");
}
END_TEST

START_TEST(many_watches_come_and_go)
{
    char prefix[16];

    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 200; i++) {
            snprintf(prefix, sizeof prefix, "p%03d", i);
            watch(prefix);
        }
        put_committed("p1", "none");
        put_committed("p123", "one");
        put_committed("p123x", "two");
        events_expect(&events, "p123=one p123x=two");
        for (int i = 0; i < 200; i++) {
            snprintf(prefix, sizeof prefix, "p%03d", i * 7 % 200);
            unwatch(prefix);
        }
        put_committed("p123", "none");
        events_expect(&events, "");
    }
}
END_TEST

/* ---- The DB inside a callback --------------------------------------------------------------- */

/* A callback that does one thing at its first call and takes notes at all. */
typedef struct Actor {
    Events seen;
    int depth; /* of calls on the stack */
    int calls;
    void (*act)(struct Actor *self);
} Actor;

static Actor actor;

static void act_once(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    Actor *self = ctx;

    self->depth++;
    EXPECT(self->depth == 1, "a call inside a call");
    events_note(key, key_len, val, val_len, &self->seen);
    if (self->calls++ == 0) {
        self->act(self);
    }
    self->depth--;
}

static void watch_acting(const char *prefix, void (*act)(Actor *self))
{
    memset(&actor, 0, sizeof actor);
    actor.act = act;
    ck_assert_int_eq(sap_db_watch(db, prefix, (uint32_t)strlen(prefix), act_once, &actor), SAP_OK);
}

static void act_read(Actor *self)
{
    SapTxnCtx *reader = NULL;
    const void *val = NULL;
    uint32_t val_len = 0;

    (void)self;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    EXPECT_RC(sap_txn_get(reader, "k", 1, &val, &val_len), SAP_OK);
    EXPECT(val_len == 3 && memcmp(val, "new", 3) == 0, "the commit is not visible");
    sap_txn_abort(reader);
}

START_TEST(what_is_told_of_is_visible)
{
    put_committed("k", "old");
    watch_acting("k", act_read);
    put_committed("k", "new");
    ck_assert_int_eq(actor.calls, 1);
    events_expect(&actor.seen, "k=new");
}
END_TEST

static void act_commit(Actor *self)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "a0", 2, "inner", 5), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "a2", 2, "inner", 5), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT(self->seen.count == 1, "the inner commit was told of inside the call");
}

START_TEST(a_commit_inside_a_call_is_told_of_after_it)
{
    watch_acting("a", act_commit);
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a1", "outer");
    put(txn, "a2", "outer");
    put(txn, "a3", "outer");
    commit(txn);
    /* In commit order: first all of the outer one, with its values. */
    events_expect(&actor.seen, "a1=outer a2=outer a3=outer a0=inner a2=inner");
}
END_TEST

static void act_commit_twice(Actor *self)
{
    for (int i = 0; i < 2; i++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
        EXPECT_RC(sap_txn_put(txn, "a", 1, i == 0 ? "one" : "two", 3), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    EXPECT(self->seen.count == 1, "an inner commit was told of inside the call");
}

START_TEST(several_commits_inside_a_call_are_told_of_one_by_one)
{
    watch_acting("a", act_commit_twice);
    put_committed("a", "zero");
    events_expect(&actor.seen, "a=zero a=one a=two");
}
END_TEST

static void act_unwatch(Actor *self)
{
    EXPECT_RC(sap_db_unwatch(db, "a", 1, act_once, self), SAP_OK);
    EXPECT_RC(sap_db_unwatch(db, "a", 1, act_once, self), SAP_NOTFOUND);
}

START_TEST(a_watch_that_unregisters_itself_is_not_called_again)
{
    watch_acting("a", act_unwatch);
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a1", "v");
    put(txn, "a2", "v");
    commit(txn);
    put_committed("a3", "v");
    events_expect(&actor.seen, "a1=v");
}
END_TEST

static void act_unwatch_other(Actor *self)
{
    (void)self;
    EXPECT_RC(sap_db_unwatch(db, "b", 1, events_note, &events), SAP_OK);
    events_clear(&events);
}

START_TEST(a_watch_unregistered_inside_a_call_of_another_is_not_called_again)
{
    watch_acting("", act_unwatch_other);
    watch("b");
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a", "v");
    put(txn, "b1", "v");
    put(txn, "b2", "v");
    commit(txn);
    put_committed("b3", "v");
    events_expect(&events, "");
    events_expect(&actor.seen, "a=v b1=v b2=v b3=v");
}
END_TEST

static void act_watch(Actor *self)
{
    (void)self;
    EXPECT_RC(sap_db_watch(db, "", 0, events_note, &events), SAP_OK);
}

START_TEST(a_watch_registered_inside_a_call_is_for_later_transactions)
{
    watch_acting("a", act_watch);
    SapTxnCtx *txn = begin(NULL);
    put(txn, "a", "v");
    put(txn, "b", "v");
    commit(txn);
    events_expect(&events, "");
    put_committed("c", "v");
    events_expect(&events, "c=v");
    events_clear(&actor.seen);
}
END_TEST

static void act_abort(Actor *self)
{
    SapTxnCtx *txn = NULL;

    (void)self;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "a", 1, "inner", 5), SAP_OK);
    sap_txn_abort(txn);
    model_expect_verified(db);
}

START_TEST(an_abort_inside_a_call_is_not_told_of)
{
    watch_acting("a", act_abort);
    put_committed("a", "outer");
    events_expect(&actor.seen, "a=outer");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_watch");
    TCase *tcase = tcase_create("watch");

    for (uint32_t i = 0; i < BIG; i++) {
        big_value[i] = (uint8_t)(i * 7 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_commit_tells_of_new_replaced_and_removed_rows);
    tcase_add_test(tcase, keys_are_told_of_once_per_commit_in_their_order_with_their_last_value);
    tcase_add_test(tcase, a_key_that_was_in_no_commit_and_is_gone_again_is_not_told_of);
    tcase_add_test(tcase, a_key_that_comes_and_goes_in_different_levels_is_not_told_of);
    tcase_add_test(tcase, a_key_put_back_to_what_it_was_is_told_of);
    tcase_add_test(tcase, key_order_is_that_of_the_table);
    tcase_add_test(tcase, only_keys_with_the_prefix_are_told_of);
    tcase_add_test(tcase, prefixes_are_bytes);
    tcase_add_test(tcase, an_empty_prefix_is_every_key_the_empty_one_included);
    tcase_add_test(tcase, long_values_are_told_whole);
    tcase_add_test(tcase, a_watch_is_for_one_table);
    tcase_add_test(tcase, every_watch_that_matches_is_told);
    tcase_add_test(tcase, commits_are_told_of_in_their_order);
    tcase_add_test(tcase, a_commit_with_many_keys_is_told_of_in_order);
    tcase_add_test(tcase, nothing_is_told_of_a_transaction_that_does_not_commit);
    tcase_add_test(tcase, children_are_told_of_at_the_outermost_commit);
    tcase_add_test(tcase, an_aborted_child_is_not_told_of);
    tcase_add_test(tcase, a_commit_that_does_not_wait_is_told_of_too);
    tcase_add_test(tcase, earlier_commits_are_not_told_of);
    tcase_add_test(tcase, merge_put_if_and_reserve_are_told_of);
    tcase_add_test(tcase, refused_puts_are_not_told_of);
    tcase_add_test(tcase, changes_through_cursors_are_told_of);
    tcase_add_test(tcase, a_deleted_range_is_told_of_key_by_key);
    tcase_add_test(tcase, a_range_deleted_in_an_aborted_child_is_not_told_of);
    tcase_add_test(tcase, a_range_deleted_and_partly_put_again_is_told_as_it_ends);
    tcase_add_test(tcase, a_load_is_told_of);
    tcase_add_test(tcase, expiry_is_told_of);
    tcase_add_test(tcase, a_restore_is_not_told_of);
    tcase_add_test(tcase, the_same_registration_exists_once);
    tcase_add_test(tcase, only_what_is_registered_can_be_unregistered);
    tcase_add_test(tcase, registrations_are_busy_while_a_writer_is_open);
    tcase_add_test(tcase, readers_do_not_hinder_registration);
    tcase_add_test(tcase, misuse_is_refused);
    tcase_add_test(tcase, dupsort_tables_cannot_be_watched);
    tcase_add_test(tcase, the_prefix_is_copied);
    tcase_add_test(tcase, many_watches_come_and_go);
    tcase_add_test(tcase, what_is_told_of_is_visible);
    tcase_add_test(tcase, a_commit_inside_a_call_is_told_of_after_it);
    tcase_add_test(tcase, several_commits_inside_a_call_are_told_of_one_by_one);
    tcase_add_test(tcase, a_watch_that_unregisters_itself_is_not_called_again);
    tcase_add_test(tcase, a_watch_unregistered_inside_a_call_of_another_is_not_called_again);
    tcase_add_test(tcase, a_watch_registered_inside_a_call_is_for_later_transactions);
    tcase_add_test(tcase, an_abort_inside_a_call_is_not_told_of);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
