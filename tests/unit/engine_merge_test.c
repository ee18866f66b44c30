/* Conditional puts and merges, and what every way to write makes of values that are in a leaf, in
 * overflow pages or too long. */
#include "common/bytes.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 300, PAGE = 512, BIG = 20000, DUP = 3, REVERSE = 4, META = 5 };

static Mirror m;
static size_t dup;
static uint8_t filler[BIG];

static void set_up(void)
{
    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    dup = mirror_add(&m, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add(&m, REVERSE, ORDER_REVERSE, 0);
    mirror_begin(&m);
}

static void tear_down(void)
{
    if (m.depth == 1) {
        mirror_compare(&m);
        mirror_commit(&m);
    }
    mirror_close(&m);
}

/* ---- put_if --------------------------------------------------------------------------------- */

static int put_if(const char *key, const void *val, uint32_t val_len, const void *expected,
                  uint32_t expected_len)
{
    return sap_txn_put_if(mirror_txn(&m), 0, key, (uint32_t)strlen(key), val, val_len, expected,
                          expected_len);
}

START_TEST(put_if_replaces_the_expected_value)
{
    mirror_put_text(&m, 0, "k", "old");
    ck_assert_int_eq(put_if("k", "new", 3, "old", 3), SAP_OK);
    model_put(mirror_table(&m, 0), "k", 1, "new", 3);
    mirror_compare(&m);
    ck_assert_int_eq(put_if("k", "newer", 5, "old", 3), SAP_CONFLICT);
    ck_assert_int_eq(put_if("k", "newer", 5, "ne", 2), SAP_CONFLICT);
    ck_assert_int_eq(put_if("k", "newer", 5, "news", 4), SAP_CONFLICT);
    ck_assert_int_eq(put_if("k", "newer", 5, NULL, 0), SAP_CONFLICT);
    ck_assert_int_eq(put_if("l", "new", 3, NULL, 0), SAP_NOTFOUND);
    ck_assert_int_eq(put_if("", "new", 3, "new", 3), SAP_NOTFOUND);
    mirror_compare(&m);
    ck_assert_int_eq(put_if("k", "new", 3, "new", 3), SAP_OK);
}
END_TEST

START_TEST(put_if_knows_empty_values)
{
    mirror_put(&m, 0, "k", 1, NULL, 0);
    ck_assert_int_eq(put_if("k", "v", 1, "x", 1), SAP_CONFLICT);
    ck_assert_int_eq(put_if("k", "v", 1, NULL, 0), SAP_OK);
    ck_assert_int_eq(put_if("k", NULL, 0, "v", 1), SAP_OK);
    ck_assert_int_eq(put_if("k", NULL, 0, "", 0), SAP_OK);
}
END_TEST

START_TEST(put_if_compares_whole_overflow_values)
{
    static const uint32_t lens[] = {0, 5, PAGE, PAGE * 3 + 7, BIG};
    uint8_t *changed = malloc(BIG);

    ck_assert_ptr_nonnull(changed);
    for (uint32_t i = 0; i < 25; i++) {
        uint32_t have = lens[i / 5];
        uint32_t next = lens[i % 5];
        expect_context("from %u to %u bytes", have, next);
        mirror_put(&m, 0, "k", 1, filler, have);
        memcpy(changed, filler, BIG);
        if (have != 0) {
            changed[have - 1] ^= 1;
            EXPECT_RC(put_if("k", filler, next, changed, have), SAP_CONFLICT);
            EXPECT_RC(put_if("k", filler, next, filler, have - 1), SAP_CONFLICT);
        }
        if (have < BIG) {
            EXPECT_RC(put_if("k", filler, next, filler, have + 1), SAP_CONFLICT);
        }
        model_expect_same(m.models[0], m.txns[0]);
        EXPECT_RC(put_if("k", filler, next, filler, have), SAP_OK);
        model_put(mirror_table(&m, 0), "k", 1, filler, next);
        model_expect_same(m.models[0], m.txns[0]);
    }
    free(changed);
}
END_TEST

START_TEST(put_if_may_take_the_present_value_as_the_expected_one)
{
    const void *val = NULL;
    uint32_t len = 0;

    for (uint32_t size = 5; size <= BIG; size += BIG - 5) {
        mirror_put(&m, 0, "k", 1, filler, size);
        ck_assert_int_eq(sap_txn_get(mirror_txn(&m), "k", 1, &val, &len), SAP_OK);
        ck_assert_int_eq(put_if("k", filler + 1, 3, val, len), SAP_OK);
        model_put(mirror_table(&m, 0), "k", 1, filler + 1, 3);
        mirror_compare(&m);
    }
}
END_TEST

START_TEST(put_if_is_for_writers_and_plain_tables)
{
    SapTxnCtx *reader = NULL;

    mirror_put_text(&m, 0, "k", "old");
    mirror_put_text(&m, dup, "k", "old");
    SapTxnCtx *txn = mirror_txn(&m);
    ck_assert_int_eq(sap_txn_put_if(txn, DUP, "k", 1, "new", 3, "old", 3), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(txn, 99, "k", 1, "new", 3, "old", 3), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(NULL, 0, "k", 1, "new", 3, "old", 3), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(txn, 0, NULL, 1, "new", 3, "old", 3), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(txn, 0, "k", 1, NULL, 3, "old", 3), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(txn, 0, "k", 1, "new", 3, NULL, 3), SAP_ERROR);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_put_if(reader, 0, "k", 1, "new", 3, "old", 3), SAP_READONLY);
    sap_txn_abort(reader);
}
END_TEST

START_TEST(a_cursor_stays_where_put_if_replaces_its_value)
{
    const void *val = NULL;

    mirror_put_text(&m, 0, "k", "old");
    SapCursor *cur = sap_cursor_open(mirror_txn(&m));
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(put_if("k", "new", 3, "old", 3), SAP_OK);
    ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, &val, NULL), SAP_OK);
    ck_assert_mem_eq(val, "new", 3);
    sap_cursor_close(cur);
    model_put(mirror_table(&m, 0), "k", 1, "new", 3);
}
END_TEST

/* ---- merge ---------------------------------------------------------------------------------- */

/* What a merge function was given, and what it is to ask for. */
typedef struct Merge {
    uint32_t calls;
    uint32_t rooms[4];
    uint32_t old_lens[4];
    uint32_t ask[4]; /* lengths to produce, call by call */
} Merge;

static void merge_add(const void *old_val, uint32_t old_len, const void *operand, uint32_t op_len,
                      void *new_val, uint32_t *new_len, void *ctx)
{
    uint64_t sum = old_len == 8 ? load_u64le(old_val) : 0;

    EXPECT(ctx == &m, "another context");
    EXPECT(op_len == 8, "another operand");
    EXPECT(*new_len >= 8, "no room for 8 bytes");
    store_u64le(new_val, sum + load_u64le(operand));
    *new_len = 8;
}

static void merge_append(const void *old_val, uint32_t old_len, const void *operand,
                         uint32_t op_len, void *new_val, uint32_t *new_len, void *ctx)
{
    uint32_t room = *new_len;
    uint32_t *calls = ctx;

    (*calls)++;
    *new_len = old_len + op_len;
    if (room < *new_len) {
        return;
    }
    if (old_len != 0) {
        memcpy(new_val, old_val, old_len);
    }
    if (op_len != 0) {
        memcpy((uint8_t *)new_val + old_len, operand, op_len);
    }
}

/* Writes all of its room each time, as it may, and asks for what it was told to. */
static void merge_asking(const void *old_val, uint32_t old_len, const void *operand,
                         uint32_t op_len, void *new_val, uint32_t *new_len, void *ctx)
{
    Merge *merge = ctx;
    uint32_t call = merge->calls++;

    (void)old_val;
    (void)operand;
    (void)op_len;
    EXPECT(call < 4, "called a fifth time");
    merge->rooms[call] = *new_len;
    merge->old_lens[call] = old_len;
    for (uint32_t i = 0; i < *new_len; i++) {
        ((uint8_t *)new_val)[i] = filler[i % BIG];
    }
    *new_len = merge->ask[call];
}

static int merge_text(const char *key, const char *operand, sap_merge_fn merge, void *ctx)
{
    return sap_txn_merge(mirror_txn(&m), 0, key, (uint32_t)strlen(key), operand,
                         (uint32_t)strlen(operand), merge, ctx);
}

START_TEST(merge_counts)
{
    uint8_t one[8];
    uint8_t sum[8];

    store_u64le(one, 1);
    for (uint32_t i = 0; i < 1000; i++) {
        char key[8];
        int len = snprintf(key, sizeof key, "c%u", i % 7);
        EXPECT_RC(sap_txn_merge(mirror_txn(&m), 0, key, (uint32_t)len, one, 8, merge_add, &m),
                  SAP_OK);
        store_u64le(sum, i / 7 + 1);
        model_put(mirror_table(&m, 0), key, (uint32_t)len, sum, 8);
    }
}
END_TEST

START_TEST(merge_grows_a_value_from_nothing_into_overflow_pages)
{
    uint32_t len = 0;

    for (uint32_t i = 0; len + 37 < BIG; i++) {
        uint32_t more = i % 37;
        uint32_t calls = 0;
        EXPECT_RC(
            sap_txn_merge(mirror_txn(&m), 0, "log", 3, filler + len, more, merge_append, &calls),
            SAP_OK);
        EXPECT(calls == 1 || calls == 2, "%u calls", calls);
        len += more;
        model_put(mirror_table(&m, 0), "log", 3, filler, len);
        if (i % 16 == 0) {
            model_expect_same(m.models[0], m.txns[0]);
        }
    }
}
END_TEST

START_TEST(merge_shrinks_a_value_out_of_overflow_pages)
{
    mirror_put(&m, 0, "k", 1, filler, BIG);
    mirror_commit(&m);
    uint64_t pages = sap_db_num_pages(m.db);
    mirror_begin(&m);
    Merge merge = {.ask = {3}};
    ck_assert_int_eq(merge_text("k", "x", merge_asking, &merge), SAP_OK);
    ck_assert_uint_eq(merge.calls, 1);
    ck_assert_uint_eq(merge.old_lens[0], BIG);
    model_put(mirror_table(&m, 0), "k", 1, filler, 3);
    mirror_commit(&m);
    ck_assert_uint_lt(sap_db_num_pages(m.db), pages);
    mirror_begin(&m);
}
END_TEST

START_TEST(merge_sees_no_old_value_where_there_is_none)
{
    Merge merge = {.ask = {2}};

    ck_assert_int_eq(merge_text("new", "x", merge_asking, &merge), SAP_OK);
    ck_assert_uint_eq(merge.calls, 1);
    ck_assert_uint_eq(merge.old_lens[0], 0);
    ck_assert_uint_ge(merge.rooms[0], 2);
    model_put(mirror_table(&m, 0), "new", 3, filler, 2);
    mirror_compare(&m);
    Merge empty = {.ask = {0}};
    ck_assert_int_eq(merge_text("empty", "", merge_asking, &empty), SAP_OK);
    model_put(mirror_table(&m, 0), "empty", 5, NULL, 0);
}
END_TEST

START_TEST(merge_that_asks_for_more_is_called_exactly_once_more_with_that_much)
{
    static const uint32_t wishes[] = {PAGE * 2, 5000, BIG};

    for (size_t i = 0; i < 3; i++) {
        Merge first = {.ask = {1}};
        ck_assert_int_eq(merge_text("k", "x", merge_asking, &first), SAP_OK);
        uint32_t wish = wishes[i] > first.rooms[0] ? wishes[i] : first.rooms[0] + 1;
        mirror_put(&m, 0, "k", 1, "old", 3);
        Merge merge = {.ask = {wish, wish, 1}};
        ck_assert_int_eq(merge_text("k", "x", merge_asking, &merge), SAP_OK);
        ck_assert_uint_eq(merge.calls, 2);
        ck_assert_uint_ge(merge.rooms[1], wish);
        ck_assert_uint_eq(merge.old_lens[1], 3);
        uint8_t *made = malloc(wish);
        for (uint32_t j = 0; j < wish; j++) {
            made[j] = filler[j % BIG];
        }
        model_put(mirror_table(&m, 0), "k", 1, made, wish);
        free(made);
        mirror_compare(&m);
        mirror_put(&m, 0, "k", 1, "old", 3);
        /* It may need less than it asked for. */
        Merge less = {.ask = {wish, 2, 1}};
        ck_assert_int_eq(merge_text("k", "x", merge_asking, &less), SAP_OK);
        ck_assert_uint_eq(less.calls, 2);
        model_put(mirror_table(&m, 0), "k", 1, filler, 2);
        mirror_compare(&m);
    }
}
END_TEST

START_TEST(merge_that_asks_twice_for_more_is_full)
{
    mirror_put(&m, 0, "k", 1, "old", 3);
    Merge merge = {.ask = {60000, 200000, 1}};
    ck_assert_int_eq(merge_text("k", "x", merge_asking, &merge), SAP_FULL);
    ck_assert_uint_eq(merge.calls, 2);
    ck_assert_uint_lt(merge.rooms[1], 200000);
    mirror_compare(&m);
    Merge missing = {.ask = {60000, 200000, 1}};
    ck_assert_int_eq(merge_text("missing", "x", merge_asking, &missing), SAP_FULL);
    mirror_compare(&m);
}
END_TEST

START_TEST(merge_that_asks_for_more_than_a_value_can_be_is_full)
{
    static const uint32_t wishes[] = {SAP_MAX_VAL_LEN + 1, UINT32_MAX};

    mirror_put(&m, 0, "k", 1, "old", 3);
    for (size_t i = 0; i < 2; i++) {
        Merge merge = {.ask = {wishes[i], 1, 1}};
        ck_assert_int_eq(merge_text("k", "x", merge_asking, &merge), SAP_FULL);
        ck_assert_uint_eq(merge.calls, 1);
        mirror_compare(&m);
    }
}
END_TEST

START_TEST(merge_on_a_key_that_is_too_long_is_full)
{
    Merge merge = {.ask = {1, 1, 1}};

    ck_assert_int_eq(sap_txn_merge(mirror_txn(&m), 0, filler, PAGE, "x", 1, merge_asking, &merge),
                     SAP_FULL);
    mirror_compare(&m);
}
END_TEST

START_TEST(merge_works_where_the_order_is_not_that_of_bytes)
{
    uint32_t calls = 0;
    char key[8];

    for (uint32_t i = 0; i < 300; i++) {
        int len = snprintf(key, sizeof key, "k%u", i % 100);
        EXPECT_RC(sap_txn_merge(mirror_txn(&m), REVERSE, key, (uint32_t)len, "ab", 2, merge_append,
                                &calls),
                  SAP_OK);
        model_put(mirror_table(&m, 2), key, (uint32_t)len, "ababab", 2 + i / 100 * 2);
    }
}
END_TEST

START_TEST(merge_in_an_aborted_child_has_not_been)
{
    uint32_t calls = 0;

    mirror_put(&m, 0, "k", 1, filler, 400);
    mirror_begin(&m);
    ck_assert_int_eq(
        sap_txn_merge(mirror_txn(&m), 0, "k", 1, filler + 400, 3000, merge_append, &calls), SAP_OK);
    model_put(mirror_table(&m, 0), "k", 1, filler, 3400);
    mirror_compare(&m);
    mirror_abort(&m);
    mirror_compare(&m);
}
END_TEST

START_TEST(merge_is_for_writers_and_plain_tables)
{
    SapTxnCtx *reader = NULL;
    uint32_t calls = 0;

    mirror_put_text(&m, 0, "k", "old");
    SapTxnCtx *txn = mirror_txn(&m);
    ck_assert_int_eq(sap_txn_merge(txn, DUP, "k", 1, "x", 1, merge_append, &calls), SAP_ERROR);
    ck_assert_int_eq(sap_txn_merge(txn, 99, "k", 1, "x", 1, merge_append, &calls), SAP_ERROR);
    ck_assert_int_eq(sap_txn_merge(NULL, 0, "k", 1, "x", 1, merge_append, &calls), SAP_ERROR);
    ck_assert_int_eq(sap_txn_merge(txn, 0, "k", 1, "x", 1, NULL, &calls), SAP_ERROR);
    ck_assert_int_eq(sap_txn_merge(txn, 0, NULL, 1, "x", 1, merge_append, &calls), SAP_ERROR);
    ck_assert_int_eq(sap_txn_merge(txn, 0, "k", 1, NULL, 1, merge_append, &calls), SAP_ERROR);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_merge(reader, 0, "k", 1, "x", 1, merge_append, &calls), SAP_READONLY);
    sap_txn_abort(reader);
    ck_assert_uint_eq(calls, 0);
}
END_TEST

START_TEST(the_operand_may_be_the_present_value)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint32_t calls = 0;
    uint8_t twice[600];

    memcpy(twice, filler, 300);
    memcpy(twice + 300, filler, 300);
    mirror_put(&m, 0, "k", 1, filler, 300);
    ck_assert_int_eq(sap_txn_get(mirror_txn(&m), "k", 1, &val, &len), SAP_OK);
    ck_assert_int_eq(sap_txn_merge(mirror_txn(&m), 0, "k", 1, val, len, merge_append, &calls),
                     SAP_OK);
    model_put(mirror_table(&m, 0), "k", 1, twice, 600);
}
END_TEST

/* ---- Each way to write, each kind of value -------------------------------------------------- */

typedef enum Way {
    WAY_PUT,
    WAY_PUT_FLAGS,
    WAY_RESERVE,
    WAY_LOAD,
    WAY_CURSOR_PUT,
    WAY_MERGE,
    WAY_PUT_IF,
    WAY_PUT_TTL,
    WAYS
} Way;

static const char *const way_names[WAYS] = {"put",        "put_flags", "reserve", "load_sorted",
                                            "cursor_put", "merge",     "put_if",  "put_ttl"};

typedef enum Kind { KIND_INLINE, KIND_OVERFLOW, KIND_TOO_LONG, KINDS } Kind;

static void merge_replace(const void *old_val, uint32_t old_len, const void *operand,
                          uint32_t op_len, void *new_val, uint32_t *new_len, void *ctx)
{
    uint32_t want = *(uint32_t *)ctx;

    (void)old_val;
    (void)old_len;
    (void)op_len;
    if (want <= BIG && *new_len >= want) {
        memcpy(new_val, operand, want);
    }
    *new_len = want;
}

/* Writes key "k", which is there with the value "old", in one way. */
static int write_in(Way way, uint32_t dbi, uint32_t len)
{
    SapTxnCtx *txn = mirror_txn(&m);
    const void *keys[] = {"k"};
    const void *vals[] = {filler};
    uint32_t one = 1;
    void *room = NULL;
    int rc;

    switch (way) {
    case WAY_PUT:
        return sap_txn_put_dbi(txn, dbi, "k", 1, filler, len);
    case WAY_PUT_FLAGS:
        return sap_txn_put_flags_dbi(txn, dbi, "k", 1, filler, len, 0, NULL);
    case WAY_RESERVE:
        rc = sap_txn_put_flags_dbi(txn, dbi, "k", 1, NULL, len, SAP_RESERVE, &room);
        if (rc == SAP_OK) {
            memcpy(room, filler, len);
        }
        return rc;
    case WAY_LOAD:
        return sap_txn_load_sorted(txn, dbi, keys, &one, vals, &len, 1);
    case WAY_CURSOR_PUT: {
        SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
        EXPECT_RC(sap_cursor_seek(cur, "k", 1), SAP_OK);
        rc = sap_cursor_put(cur, filler, len, 0);
        sap_cursor_close(cur);
        return rc;
    }
    case WAY_MERGE:
        return sap_txn_merge(txn, dbi, "k", 1, filler, len < BIG ? len : BIG, merge_replace, &len);
    case WAY_PUT_IF:
        return sap_txn_put_if(txn, dbi, "k", 1, filler, len, "old", 3);
    default:
        return sap_txn_put_ttl_dbi(txn, dbi, META, "k", 1, filler, len, 50);
    }
}

static int expected_of(Way way, bool dupsort, Kind kind)
{
    bool for_plain = way == WAY_RESERVE || way == WAY_CURSOR_PUT || way == WAY_MERGE ||
                     way == WAY_PUT_IF || way == WAY_PUT_TTL;

    if (dupsort) {
        return for_plain ? SAP_ERROR : kind == KIND_INLINE ? SAP_OK : SAP_FULL;
    }
    if (kind == KIND_TOO_LONG) {
        /* Room that no leaf has is refused for that reason already. */
        return way == WAY_RESERVE ? SAP_ERROR : SAP_FULL;
    }
    return way == WAY_RESERVE && kind == KIND_OVERFLOW ? SAP_ERROR : SAP_OK;
}

START_TEST(every_way_to_write_treats_every_kind_of_value_as_documented)
{
    static const uint32_t lens[KINDS] = {20, 7000, SAP_MAX_VAL_LEN + 1};

    mirror_abort(&m);
    size_t meta = mirror_add(&m, META, ORDER_BYTES, SAP_DBI_TTL_META);
    mirror_begin(&m);
    for (uint32_t i = 0; i < WAYS * 2 * KINDS; i++) {
        Way way = (Way)(i / (2 * KINDS));
        bool dupsort = i / KINDS % 2 != 0;
        Kind kind = (Kind)(i % KINDS);
        size_t table = dupsort ? dup : 0;
        uint32_t dbi = dupsort ? DUP : 0;
        expect_context("%s into a %s table, %u bytes", way_names[way],
                       dupsort ? "DUPSORT" : "plain", lens[kind]);
        mirror_begin(&m);
        mirror_put_text(&m, table, "j", "before");
        mirror_put_text(&m, table, "k", "old");
        mirror_put_text(&m, table, "l", "behind");
        int expected = expected_of(way, dupsort, kind);
        int rc = write_in(way, dbi, lens[kind]);
        EXPECT(rc == expected || (rc == SAP_FULL && kind == KIND_TOO_LONG),
               "answered %d instead of %d", rc, expected);
        if (rc == SAP_OK && way == WAY_PUT_TTL) {
            model_put_ttl(mirror_table(&m, table), mirror_table(&m, meta), "k", 1, filler,
                          lens[kind], 50);
        } else if (rc == SAP_OK) {
            model_put(mirror_table(&m, table), "k", 1, filler, lens[kind]);
        }
        mirror_compare(&m);
        (i % 2 == 0 ? mirror_abort : mirror_commit)(&m);
        mirror_compare(&m);
        mirror_begin(&m);
        mirror_del_range(&m, table, NULL, 0, NULL, 0);
        mirror_commit(&m);
    }
}
END_TEST

/* Every length around the longest that lies in a leaf, in every way, in every page size. */
START_TEST(the_limit_of_a_leaf_is_no_limit_of_a_value)
{
    for (uint32_t i = 0; i < driver_page_size_count * WAYS; i++) {
        uint32_t page_size = driver_page_sizes[i / WAYS];
        Way way = (Way)(i % WAYS);
        uint32_t around = page_size / 2 < BIG ? page_size / 2 : BIG - 20;
        if (way == WAY_PUT_TTL) {
            continue;
        }
        mirror_abort(&m);
        mirror_close(&m);
        mirror_open(&m, NULL, page_size, ORDER_BYTES);
        mirror_begin(&m);
        for (uint32_t len = around - (around < 60 ? around : 60); len < around + 20; len++) {
            expect_context("page size %u, %s of %u bytes", page_size, way_names[way], len);
            mirror_put_text(&m, 0, "k", "old");
            int rc = write_in(way, 0, len);
            EXPECT(rc == SAP_OK || (rc == SAP_ERROR && way == WAY_RESERVE), "answered %d", rc);
            if (rc == SAP_OK) {
                model_put(mirror_table(&m, 0), "k", 1, filler, len);
            }
            model_expect_same(m.models[0], m.txns[0]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_merge");
    TCase *tcase = tcase_create("merge");

    for (uint32_t i = 0; i < BIG; i++) {
        filler[i] = (uint8_t)(i * 19 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, put_if_replaces_the_expected_value);
    tcase_add_test(tcase, put_if_knows_empty_values);
    tcase_add_test(tcase, put_if_compares_whole_overflow_values);
    tcase_add_test(tcase, put_if_may_take_the_present_value_as_the_expected_one);
    tcase_add_test(tcase, put_if_is_for_writers_and_plain_tables);
    tcase_add_test(tcase, a_cursor_stays_where_put_if_replaces_its_value);
    tcase_add_test(tcase, merge_counts);
    tcase_add_test(tcase, merge_grows_a_value_from_nothing_into_overflow_pages);
    tcase_add_test(tcase, merge_shrinks_a_value_out_of_overflow_pages);
    tcase_add_test(tcase, merge_sees_no_old_value_where_there_is_none);
    tcase_add_test(tcase, merge_that_asks_for_more_is_called_exactly_once_more_with_that_much);
    tcase_add_test(tcase, merge_that_asks_twice_for_more_is_full);
    tcase_add_test(tcase, merge_that_asks_for_more_than_a_value_can_be_is_full);
    tcase_add_test(tcase, merge_on_a_key_that_is_too_long_is_full);
    tcase_add_test(tcase, merge_works_where_the_order_is_not_that_of_bytes);
    tcase_add_test(tcase, merge_in_an_aborted_child_has_not_been);
    tcase_add_test(tcase, merge_is_for_writers_and_plain_tables);
    tcase_add_test(tcase, the_operand_may_be_the_present_value);
    tcase_add_test(tcase, every_way_to_write_treats_every_kind_of_value_as_documented);
    tcase_add_test(tcase, the_limit_of_a_leaf_is_no_limit_of_a_value);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
