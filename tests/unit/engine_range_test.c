/* Deleting a range removes exactly the rows between its bounds and gives their pages back. */
#include "common/bytes.h"
#include "support/choice.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 600, PAGE = 256, LONG_KEY = 70, BIG = 3000, DUP = 3 };

static uint8_t filler[BIG + 8];

/* Rows have even numbers, so that every bound on and between rows has a number too. */
static uint32_t key_of(uint32_t n, uint32_t pad, uint8_t key[LONG_KEY])
{
    memset(key, 'x', pad);
    store_u32be(key + pad, n);
    return pad + 4;
}

static void put_rows(Mirror *m, size_t t, uint32_t count, uint32_t pad, uint32_t val_len)
{
    uint8_t key[LONG_KEY];

    for (uint32_t i = 0; i < count; i++) {
        uint32_t len = key_of(i * 2 + 1, pad, key);
        mirror_put(m, t, key, len, filler + i % 7, val_len);
    }
}

/* Deletes from number `lo` up to below number `hi`; UINT32_MAX is no bound. */
static void del_numbers(Mirror *m, size_t t, uint32_t pad, uint32_t lo, uint32_t hi)
{
    uint8_t lo_key[LONG_KEY];
    uint8_t hi_key[LONG_KEY];
    uint32_t lo_len = key_of(lo, pad, lo_key);
    uint32_t hi_len = key_of(hi, pad, hi_key);

    mirror_del_range(m, t, lo == UINT32_MAX ? NULL : lo_key, lo == UINT32_MAX ? 0 : lo_len,
                     hi == UINT32_MAX ? NULL : hi_key, hi == UINT32_MAX ? 0 : hi_len);
}

static uint32_t bound_of(uint32_t i, uint32_t rows)
{
    return i > rows * 2 ? UINT32_MAX : i;
}

/* ---- Every pair of bounds ------------------------------------------------------------------- */

static uint64_t each_pair_committed(uint32_t page_size, uint32_t rows, uint32_t val_len)
{
    uint32_t bounds = rows * 2 + 2;

    for (uint32_t i = 0; i < bounds * bounds; i++) {
        Mirror m;
        uint32_t lo = bound_of(i / bounds, rows);
        uint32_t hi = bound_of(i % bounds, rows);
        expect_context("page size %u, %u rows with %u bytes, from %u to %u", page_size, rows,
                       val_len, lo, hi);
        mirror_open(&m, NULL, page_size, ORDER_BYTES);
        mirror_begin(&m);
        put_rows(&m, 0, rows, 0, val_len);
        mirror_commit(&m);
        mirror_begin(&m);
        del_numbers(&m, 0, 0, lo, hi);
        model_expect_same(m.models[0], m.txns[0]);
        mirror_commit(&m);
        mirror_close(&m);
    }
    return (uint64_t)bounds * bounds;
}

START_TEST(every_pair_of_bounds_of_a_small_tree_deletes_what_lies_between)
{
    static const uint32_t rows[] = {0, 1, 2, 5, 12};
    uint64_t pairs = 0;

    for (uint32_t size = 0; size < driver_page_size_count; size++) {
        uint32_t page_size = driver_page_sizes[size];
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            uint32_t val_len = page_size / 4 < BIG - 8 ? page_size / 4 : BIG - 8;
            pairs += each_pair_committed(page_size, rows[i], val_len);
        }
    }
    printf("committed ranges: %llu pairs of bounds\n", (unsigned long long)pairs);
}
END_TEST

/* In a child that is aborted, so that one tree serves all pairs. */
static uint64_t each_pair_aborted(OrderKind order, uint32_t rows, uint32_t pad, uint32_t val_len)
{
    Mirror m;
    uint32_t bounds = rows * 2 + 2;

    mirror_open(&m, NULL, PAGE, order);
    mirror_begin(&m);
    put_rows(&m, 0, rows, pad, val_len);
    mirror_commit(&m);
    mirror_begin(&m);
    for (uint32_t i = 0; i < bounds * bounds; i++) {
        uint32_t lo = bound_of(i / bounds, rows);
        uint32_t hi = bound_of(i % bounds, rows);
        expect_context("order %d, %u rows behind %u bytes, %u bytes each, from %u to %u",
                       (int)order, rows, pad, val_len, lo, hi);
        mirror_begin(&m);
        del_numbers(&m, 0, pad, lo, hi);
        model_expect_same(m.models[1], m.txns[1]);
        mirror_abort(&m);
    }
    mirror_compare(&m);
    mirror_close(&m);
    return (uint64_t)bounds * bounds;
}

START_TEST(every_pair_of_bounds_of_a_deep_tree_deletes_what_lies_between)
{
    uint64_t pairs = 0;

    for (int order = 0; order < ORDER_COUNT; order++) {
        pairs += each_pair_aborted((OrderKind)order, 30, 0, 60);
        pairs += each_pair_aborted((OrderKind)order, 30, 60, 2);
    }
    pairs += each_pair_aborted(ORDER_BYTES, 20, 0, 400);
    printf("aborted ranges: %llu pairs of bounds\n", (unsigned long long)pairs);
}
END_TEST

/* ---- Bounds --------------------------------------------------------------------------------- */

START_TEST(a_range_without_rows_is_no_error)
{
    Mirror m;
    uint64_t deleted = 7;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_del_range(mirror_txn(&m), 0, NULL, 0, NULL, 0, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 0);
    put_rows(&m, 0, 20, 0, 10);
    del_numbers(&m, 0, 0, 9, 9);
    del_numbers(&m, 0, 0, 9, 3);
    del_numbers(&m, 0, 0, 8, 9);
    del_numbers(&m, 0, 0, 1000, UINT32_MAX);
    del_numbers(&m, 0, 0, UINT32_MAX, 0);
    ck_assert_uint_eq(mirror_table(&m, 0)->count, 20);
    ck_assert_int_eq(sap_txn_del_range(mirror_txn(&m), 0, "", 0, "", 0, NULL), SAP_OK);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

START_TEST(an_empty_key_is_a_bound_and_a_null_one_is_none)
{
    Mirror m;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    mirror_put(&m, 0, NULL, 0, "e", 1);
    mirror_put_text(&m, 0, "a", "1");
    mirror_del_range(&m, 0, NULL, 0, "", 0);
    ck_assert_uint_eq(mirror_table(&m, 0)->count, 2);
    mirror_del_range(&m, 0, "", 0, "a", 1);
    ck_assert_uint_eq(mirror_table(&m, 0)->count, 1);
    mirror_del_range(&m, 0, "", 0, NULL, 0);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

START_TEST(a_bound_longer_than_any_key_is_a_bound)
{
    Mirror m;
    static uint8_t bound[60000];

    memset(bound, 'x', sizeof bound);
    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    put_rows(&m, 0, 50, 1, 10);
    mirror_put_text(&m, 0, "xxxx", "inside");
    mirror_put_text(&m, 0, "y", "behind");
    mirror_del_range(&m, 0, bound, sizeof bound, NULL, 0);
    mirror_del_range(&m, 0, NULL, 0, bound, sizeof bound);
    ck_assert_uint_eq(mirror_table(&m, 0)->count, 0);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

START_TEST(misuse_is_refused_and_deletes_nothing)
{
    Mirror m;
    SapTxnCtx *reader = NULL;
    uint64_t deleted = 7;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    put_rows(&m, 0, 20, 0, 10);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_del_range(NULL, 0, NULL, 0, NULL, 0, &deleted), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_del_range(reader, 0, NULL, 0, NULL, 0, &deleted), SAP_READONLY);
    sap_txn_abort(reader);
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_del_range(mirror_txn(&m), 77, NULL, 0, NULL, 0, &deleted), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_range(mirror_txn(&m), 0, NULL, 1, NULL, 0, &deleted), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_range(mirror_txn(&m), 0, NULL, 0, NULL, 1, &deleted), SAP_ERROR);
    SapTxnCtx *parent = mirror_txn(&m);
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_del_range(parent, 0, NULL, 0, NULL, 0, &deleted), SAP_BUSY);
    mirror_abort(&m);
    ck_assert_uint_eq(deleted, 7);
    mirror_compare(&m);
    mirror_close(&m);
}
END_TEST

/* ---- Pages ---------------------------------------------------------------------------------- */

/* Pages of a DB that never had other rows than `rows` from `from` on. */
static uint64_t pages_of_fresh(uint32_t page_size, uint32_t from, uint32_t to, uint32_t gap_from,
                               uint32_t gap_to, uint32_t val_len)
{
    uint8_t key[LONG_KEY];
    SapEnv *db = sap_db_open(NULL, page_size, NULL, NULL);
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = from; i < to; i++) {
        if (i >= gap_from && i < gap_to) {
            continue;
        }
        uint32_t len = key_of(i * 2 + 1, 0, key);
        EXPECT_RC(sap_txn_put(txn, key, len, filler, val_len), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    uint64_t pages = sap_db_num_pages(db);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    return pages;
}

START_TEST(the_pages_of_a_deleted_range_come_back)
{
    enum { ROWS = 2000, FROM = 301, TO = 1702 };
    static const uint32_t page_sizes[] = {256, 512, 4096};
    static const uint32_t val_lens[] = {10, 90, BIG};

    for (size_t i = 0; i < 9; i++) {
        Mirror m;
        uint32_t page_size = page_sizes[i / 3];
        uint32_t val_len = val_lens[i % 3];
        expect_context("page size %u, values of %u bytes", page_size, val_len);
        mirror_open(&m, NULL, page_size, ORDER_BYTES);
        mirror_begin(&m);
        mirror_put_text(&m, 0, "k", "v");
        mirror_commit(&m);
        mirror_begin(&m);
        mirror_del(&m, 0, "k", 1);
        mirror_commit(&m);
        uint64_t empty = sap_db_num_pages(m.db);
        mirror_begin(&m);
        put_rows(&m, 0, ROWS, 0, val_len);
        mirror_commit(&m);
        mirror_begin(&m);
        del_numbers(&m, 0, 0, FROM * 2, TO * 2);
        mirror_commit(&m);
        uint64_t pages = sap_db_num_pages(m.db);
        uint64_t fresh = pages_of_fresh(page_size, 0, ROWS, FROM, TO, val_len);
        EXPECT(pages <= fresh + 16, "%llu pages instead of %llu", (unsigned long long)pages,
               (unsigned long long)fresh);
        mirror_begin(&m);
        del_numbers(&m, 0, 0, UINT32_MAX, UINT32_MAX);
        mirror_commit(&m);
        EXPECT(sap_db_num_pages(m.db) == empty, "%llu pages in an empty DB that had %llu",
               (unsigned long long)sap_db_num_pages(m.db), (unsigned long long)empty);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(rows_made_and_deleted_in_one_transaction_leave_no_pages)
{
    Mirror m;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    mirror_put_text(&m, 0, "a", "kept");
    mirror_commit(&m);
    uint64_t before = sap_db_num_pages(m.db);
    mirror_begin(&m);
    put_rows(&m, 0, 300, 0, 400);
    del_numbers(&m, 0, 0, UINT32_MAX, UINT32_MAX);
    mirror_put_text(&m, 0, "a", "kept");
    mirror_commit(&m);
    ck_assert_uint_eq(sap_db_num_pages(m.db), before);
    mirror_begin(&m);
    mirror_begin(&m);
    put_rows(&m, 0, 300, 0, 400);
    mirror_commit(&m);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 0, 1000);
    mirror_commit(&m);
    mirror_commit(&m);
    ck_assert_uint_eq(sap_db_num_pages(m.db), before);
    mirror_close(&m);
}
END_TEST

START_TEST(an_aborted_range_keeps_its_pages)
{
    Mirror m;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    put_rows(&m, 0, 500, 0, 400);
    mirror_commit(&m);
    uint64_t before = sap_db_num_pages(m.db);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 100, 700);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, UINT32_MAX, UINT32_MAX);
    mirror_compare(&m);
    mirror_abort(&m);
    mirror_compare(&m);
    mirror_abort(&m);
    ck_assert_uint_eq(sap_db_num_pages(m.db), before);
    mirror_close(&m);
}
END_TEST

/* ---- Snapshots, nesting, cursors ------------------------------------------------------------ */

START_TEST(an_old_snapshot_still_sees_the_whole_range)
{
    Mirror m;
    SapTxnCtx *reader = NULL;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    put_rows(&m, 0, 400, 0, 300);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    Model *then = model_copy(m.committed);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 50, 700);
    mirror_commit(&m);
    uint64_t held = sap_db_num_pages(m.db);
    for (uint32_t round = 0; round < 5; round++) {
        mirror_begin(&m);
        put_rows(&m, 0, 400, 0, 20 + round);
        mirror_commit(&m);
        mirror_begin(&m);
        del_numbers(&m, 0, 0, 20, 790);
        mirror_commit(&m);
    }
    model_expect_same(then, reader);
    sap_txn_abort(reader);
    mirror_begin(&m);
    mirror_put_text(&m, 0, "one more commit", "so that what the reader held is given back");
    mirror_commit(&m);
    ck_assert_uint_lt(sap_db_num_pages(m.db), held / 2);
    model_free(then);
    mirror_close(&m);
}
END_TEST

START_TEST(ranges_in_children_belong_to_them)
{
    Mirror m;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    put_rows(&m, 0, 300, 0, 50);
    mirror_commit(&m);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 0, 40);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 100, 200);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 30, 150);
    put_rows(&m, 0, 20, 0, 60);
    mirror_compare(&m);
    mirror_commit(&m);
    mirror_compare(&m);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, UINT32_MAX, 500);
    mirror_abort(&m);
    mirror_compare(&m);
    mirror_commit(&m);
    mirror_compare(&m);
    mirror_begin(&m);
    del_numbers(&m, 0, 0, 250, UINT32_MAX);
    mirror_abort(&m);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

static SapCursor *cursor_on(Mirror *m, uint32_t n)
{
    uint8_t key[LONG_KEY];
    uint32_t len = key_of(n, 0, key);
    SapCursor *cur = sap_cursor_open(mirror_txn(m));

    EXPECT(cur != NULL, "no cursor");
    EXPECT_RC(sap_cursor_seek(cur, key, len), SAP_OK);
    return cur;
}

static void expect_number(SapCursor *cur, uint32_t n)
{
    const void *key = NULL;
    uint32_t len = 0;

    EXPECT_RC(sap_cursor_get_key(cur, &key, &len), SAP_OK);
    EXPECT(len == 4 && load_u32be(key) == n, "the cursor is at %u and not at %u", load_u32be(key),
           n);
}

START_TEST(cursors_on_kept_rows_stay_and_those_on_deleted_ones_go_on)
{
    Mirror m;
    uint64_t rank = 0;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    put_rows(&m, 0, 200, 0, 30);
    SapCursor *below = cursor_on(&m, 99);
    SapCursor *first = cursor_on(&m, 101);
    SapCursor *inside = cursor_on(&m, 201);
    SapCursor *inside_back = cursor_on(&m, 203);
    SapCursor *last = cursor_on(&m, 299);
    SapCursor *above = cursor_on(&m, 301);
    del_numbers(&m, 0, 0, 100, 300);
    expect_number(below, 99);
    expect_number(above, 301);
    ck_assert_int_eq(sap_cursor_rank(above, &rank), SAP_OK);
    ck_assert_uint_eq(rank, 50);
    ck_assert_int_eq(sap_cursor_get_key(inside, NULL, NULL), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_rank(inside, &rank), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_del(inside), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_next(inside), SAP_OK);
    expect_number(inside, 301);
    ck_assert_int_eq(sap_cursor_prev(inside_back), SAP_OK);
    expect_number(inside_back, 99);
    ck_assert_int_eq(sap_cursor_next(first), SAP_OK);
    expect_number(first, 301);
    ck_assert_int_eq(sap_cursor_prev(last), SAP_OK);
    expect_number(last, 99);
    ck_assert_int_eq(sap_cursor_next(below), SAP_OK);
    expect_number(below, 301);
    ck_assert_int_eq(sap_cursor_prev(above), SAP_OK);
    expect_number(above, 99);
    del_numbers(&m, 0, 0, UINT32_MAX, UINT32_MAX);
    ck_assert_int_eq(sap_cursor_next(below), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_prev(above), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_first(last), SAP_NOTFOUND);
    sap_cursor_close(below);
    sap_cursor_close(first);
    sap_cursor_close(inside);
    sap_cursor_close(inside_back);
    sap_cursor_close(last);
    sap_cursor_close(above);
    mirror_commit(&m);
    mirror_close(&m);
}
END_TEST

START_TEST(a_range_of_one_table_leaves_the_others)
{
    Mirror m;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    size_t other = mirror_add(&m, 9, ORDER_REVERSE, 0);
    mirror_begin(&m);
    put_rows(&m, 0, 300, 0, 30);
    put_rows(&m, other, 300, 0, 300);
    mirror_commit(&m);
    mirror_begin(&m);
    del_numbers(&m, other, 0, 400, 100);
    del_numbers(&m, other, 0, 90, 110);
    mirror_commit(&m);
    ck_assert_uint_eq(m.committed->tables[0].count, 300);
    ck_assert_uint_eq(m.committed->tables[other].count, 150);
    mirror_close(&m);
}
END_TEST

/* ---- Pairs ---------------------------------------------------------------------------------- */

START_TEST(ranges_of_a_dupsort_table_are_ranges_of_keys)
{
    for (int order = 0; order < ORDER_COUNT; order++) {
        Mirror m;
        uint8_t key[LONG_KEY];
        uint8_t val[4];
        expect_context("order %d", order);
        mirror_open(&m, NULL, PAGE, ORDER_BYTES);
        size_t t = mirror_add_dupsort(&m, DUP, (OrderKind)order, (OrderKind)((order + 1) % 4));
        mirror_begin(&m);
        for (uint32_t i = 0; i < 2000; i++) {
            uint32_t len = key_of(i * 17 % 40 * 2 + 1, 0, key);
            store_u32be(val, i * 7);
            mirror_put(&m, t, key, len, val, i % 5);
        }
        mirror_commit(&m);
        for (uint32_t i = 0; i < 82 * 82; i += 11) {
            mirror_begin(&m);
            del_numbers(&m, t, 0, bound_of(i / 82, 40), bound_of(i % 82, 40));
            model_expect_same(m.models[0], m.txns[0]);
            mirror_abort(&m);
        }
        mirror_begin(&m);
        del_numbers(&m, t, 0, 21, 33);
        del_numbers(&m, t, 0, 33, 21);
        mirror_commit(&m);
        mirror_close(&m);
    }
}
END_TEST

/* ---- Chance --------------------------------------------------------------------------------- */

static void round_by_chance(Mirror *m, size_t t, Choice *choice, uint32_t space)
{
    uint8_t key[LONG_KEY];
    uint32_t puts = choice_below(choice, 400);
    uint32_t ranges = choice_below(choice, 5);

    mirror_begin(m);
    for (uint32_t i = 0; i < puts; i++) {
        uint32_t len = key_of(choice_below(choice, space), 0, key);
        uint32_t val_len =
            choice_one_in(choice, 20) ? choice_below(choice, BIG) : choice_below(choice, 40);
        mirror_put(m, t, key, len, filler, val_len);
    }
    for (uint32_t i = 0; i < ranges; i++) {
        uint32_t lo = choice_below(choice, space);
        uint32_t width = choice_one_in(choice, 4) ? space : choice_below(choice, space / 8);
        bool nested = choice_one_in(choice, 3);
        if (nested) {
            mirror_begin(m);
        }
        del_numbers(m, t, 0, choice_one_in(choice, 10) ? UINT32_MAX : lo,
                    choice_one_in(choice, 10) ? UINT32_MAX : lo + width);
        model_expect_same(m->models[m->depth - 1], mirror_txn(m));
        if (nested) {
            (choice_one_in(choice, 2) ? mirror_abort : mirror_commit)(m);
        }
    }
    if (choice_one_in(choice, 6)) {
        mirror_abort(m);
        mirror_compare(m);
    } else {
        mirror_commit(m);
    }
}

START_TEST(ranges_among_puts_agree_with_the_model)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(22);

    for (uint64_t seed = first; seed < first + count; seed++) {
        Mirror m;
        Choice choice;
        uint32_t page_size = driver_page_sizes[seed % driver_page_size_count];
        OrderKind order = (OrderKind)(seed % ORDER_COUNT);
        choice_from_seed(&choice, seed);
        expect_context("ranges, SAP_TEST_SEED=%llu: page size %u, order %d",
                       (unsigned long long)seed, page_size, (int)order);
        mirror_open(&m, NULL, page_size, order);
        for (uint32_t round = 0; round < 30; round++) {
            round_by_chance(&m, 0, &choice, 3000);
        }
        mirror_close(&m);
    }
    printf("ranges: seeds %llu to %llu\n", (unsigned long long)first,
           (unsigned long long)(first + count - 1));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_range");
    TCase *tcase = tcase_create("range");

    for (uint32_t i = 0; i < sizeof filler; i++) {
        filler[i] = (uint8_t)(i * 13 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, every_pair_of_bounds_of_a_small_tree_deletes_what_lies_between);
    tcase_add_test(tcase, every_pair_of_bounds_of_a_deep_tree_deletes_what_lies_between);
    tcase_add_test(tcase, a_range_without_rows_is_no_error);
    tcase_add_test(tcase, an_empty_key_is_a_bound_and_a_null_one_is_none);
    tcase_add_test(tcase, a_bound_longer_than_any_key_is_a_bound);
    tcase_add_test(tcase, misuse_is_refused_and_deletes_nothing);
    tcase_add_test(tcase, the_pages_of_a_deleted_range_come_back);
    tcase_add_test(tcase, rows_made_and_deleted_in_one_transaction_leave_no_pages);
    tcase_add_test(tcase, an_aborted_range_keeps_its_pages);
    tcase_add_test(tcase, an_old_snapshot_still_sees_the_whole_range);
    tcase_add_test(tcase, ranges_in_children_belong_to_them);
    tcase_add_test(tcase, cursors_on_kept_rows_stay_and_those_on_deleted_ones_go_on);
    tcase_add_test(tcase, a_range_of_one_table_leaves_the_others);
    tcase_add_test(tcase, ranges_of_a_dupsort_table_are_ranges_of_keys);
    tcase_add_test(tcase, ranges_among_puts_agree_with_the_model);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
