/* What a table with many sorted values per key promises, one claim per test. */
#include "common/bytes.h"
#include "support/choice.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 300, PAGE = 512, DUP = 3 };

static Mirror m;
static size_t plain; /* DBI 0 */
static size_t dup;   /* DBI 3, byte order */

static void set_up(void)
{
    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    plain = 0;
    dup = mirror_add(&m, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
}

static void tear_down(void)
{
    mirror_close(&m);
}

static SapCursor *cursor(void)
{
    SapCursor *cur = sap_cursor_open_dbi(mirror_txn(&m), DUP);

    ck_assert_ptr_nonnull(cur);
    return cur;
}

static void expect_at(SapCursor *cur, const char *key, const char *val)
{
    const void *k = NULL;
    const void *v = NULL;
    uint32_t k_len = 0;
    uint32_t v_len = 0;

    EXPECT_RC(sap_cursor_get(cur, &k, &k_len, &v, &v_len), SAP_OK);
    EXPECT(k_len == strlen(key) && memcmp(k, key, k_len) == 0, "the cursor is at %.*s, not at %s",
           (int)k_len, (const char *)k, key);
    EXPECT(v_len == strlen(val) && (v_len == 0 || memcmp(v, val, v_len) == 0),
           "the cursor is at %s %.*s, not at %s", key, (int)v_len, (const char *)v, val);
}

static void seek_pair(SapCursor *cur, const char *key, const char *val)
{
    EXPECT_RC(sap_cursor_seek(cur, key, (uint32_t)strlen(key)), SAP_OK);
    for (;;) {
        const void *v = NULL;
        uint32_t v_len = 0;
        EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &v, &v_len), SAP_OK);
        if (v_len == strlen(val) && (v_len == 0 || memcmp(v, val, v_len) == 0)) {
            return;
        }
        EXPECT_RC(sap_cursor_next_dup(cur), SAP_OK);
    }
}

static void expect_rows(const char *const *pairs, size_t count)
{
    SapCursor *cur = cursor();

    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
        expect_at(cur, pairs[i * 2], pairs[i * 2 + 1]);
    }
    ck_assert_int_eq(sap_cursor_next(cur), SAP_NOTFOUND);
    sap_cursor_close(cur);
}

static void put_fruit(void)
{
    mirror_put_text(&m, dup, "pear", "ripe");
    mirror_put_text(&m, dup, "apple", "red");
    mirror_put_text(&m, dup, "apple", "green");
    mirror_put_text(&m, dup, "fig", "blue");
    mirror_put_text(&m, dup, "apple", "yellow");
    mirror_put_text(&m, dup, "pear", "green");
}

/* ---- Rows ----------------------------------------------------------------------------------- */

START_TEST(pairs_are_sorted_by_key_and_then_by_value)
{
    static const char *const pairs[] = {"apple", "green", "apple", "red",   "apple", "yellow",
                                        "fig",   "blue",  "pear",  "green", "pear",  "ripe"};

    mirror_begin(&m);
    put_fruit();
    expect_rows(pairs, 6);
    mirror_commit(&m);
}
END_TEST

START_TEST(putting_a_pair_that_is_there_succeeds)
{
    mirror_begin(&m);
    put_fruit();
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), DUP, "apple", 5, "red", 3), SAP_OK);
    ck_assert_int_eq(sap_txn_put_flags_dbi(mirror_txn(&m), DUP, "apple", 5, "red", 3, 0, NULL),
                     SAP_OK);
    mirror_compare(&m);
    ck_assert_int_eq(
        sap_txn_put_flags_dbi(mirror_txn(&m), DUP, "apple", 5, "red", 3, SAP_NOOVERWRITE, NULL),
        SAP_EXISTS);
    mirror_compare(&m);
    mirror_commit(&m);
}
END_TEST

START_TEST(putting_a_pair_that_is_there_changes_nothing)
{
    const void *before = NULL;
    const void *after = NULL;
    uint32_t len = 0;
    SapStat was;
    SapStat is;

    mirror_begin(&m);
    put_fruit();
    mirror_commit(&m);
    ck_assert_int_eq(sap_db_stat(m.db, &was), SAP_OK);

    mirror_begin(&m);
    SapCursor *cur = cursor();
    seek_pair(cur, "apple", "red");
    ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, &before, &len), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), DUP, "apple", 5, "red", 3), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), DUP, "apple", 5, "green", 5), SAP_OK);
    /* No page was copied: the value lies where it lay. */
    ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, &after, &len), SAP_OK);
    ck_assert_ptr_eq(before, after);
    ck_assert_uint_eq(sap_db_num_pages(m.db), was.num_pages);
    sap_cursor_close(cur);
    mirror_commit(&m);
    /* And there was nothing to commit. */
    ck_assert_int_eq(sap_db_stat(m.db, &is), SAP_OK);
    ck_assert_uint_eq(is.txnid, was.txnid);
}
END_TEST

START_TEST(get_gives_the_first_value_of_a_key)
{
    const void *val = NULL;
    uint32_t val_len = 0;

    mirror_begin(&m);
    put_fruit();
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DUP, "apple", 5, &val, &val_len), SAP_OK);
    ck_assert_uint_eq(val_len, 5);
    ck_assert_mem_eq(val, "green", 5);
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DUP, "appl", 4, &val, &val_len), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DUP, "applex", 6, &val, &val_len),
                     SAP_NOTFOUND);
    mirror_put_text(&m, dup, "apple", "azure");
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DUP, "apple", 5, &val, &val_len), SAP_OK);
    ck_assert_mem_eq(val, "azure", 5);
}
END_TEST

START_TEST(nooverwrite_asks_for_the_key_and_not_for_the_pair)
{
    mirror_begin(&m);
    put_fruit();
    ck_assert_int_eq(
        sap_txn_put_flags_dbi(mirror_txn(&m), DUP, "apple", 5, "brown", 5, SAP_NOOVERWRITE, NULL),
        SAP_EXISTS);
    mirror_compare(&m);
    ck_assert_int_eq(
        sap_txn_put_flags_dbi(mirror_txn(&m), DUP, "kiwi", 4, "green", 5, SAP_NOOVERWRITE, NULL),
        SAP_OK);
    model_put(mirror_table(&m, dup), "kiwi", 4, "green", 5);
    mirror_commit(&m);
}
END_TEST

START_TEST(what_has_no_meaning_for_pairs_is_refused)
{
    void *room = NULL;

    mirror_begin(&m);
    put_fruit();
    SapCursor *cur = cursor();
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(
        sap_txn_put_flags_dbi(mirror_txn(&m), DUP, "kiwi", 4, NULL, 5, SAP_RESERVE, &room),
        SAP_ERROR);
    ck_assert_ptr_null(room);
    ck_assert_int_eq(sap_cursor_put(cur, "grey", 4, 0), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(mirror_txn(&m), DUP, "fig", 3, "x", 1, "blue", 4), SAP_ERROR);
    expect_at(cur, "apple", "green");
    sap_cursor_close(cur);
    mirror_compare(&m);
}
END_TEST

START_TEST(calls_for_pairs_are_refused_in_a_plain_table)
{
    uint64_t count = 7;

    mirror_begin(&m);
    mirror_put_text(&m, plain, "k", "v");
    SapCursor *cur = sap_cursor_open(mirror_txn(&m));
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_prev_dup(cur), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_first_dup(cur), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_last_dup(cur), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_count_dup(cur, &count), SAP_ERROR);
    ck_assert_uint_eq(count, 7);
    expect_at(cur, "k", "v");
    ck_assert_int_eq(sap_txn_del_dup_dbi(mirror_txn(&m), 0, "k", 1, "v", 1), SAP_ERROR);
    sap_cursor_close(cur);
    mirror_compare(&m);
}
END_TEST

START_TEST(del_removes_all_values_of_a_key)
{
    static const char *const pairs[] = {"fig", "blue", "pear", "green", "pear", "ripe"};

    mirror_begin(&m);
    put_fruit();
    mirror_del(&m, dup, "apple", 5);
    expect_rows(pairs, 3);
    ck_assert_int_eq(sap_txn_del_dbi(mirror_txn(&m), DUP, "apple", 5), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_del_dbi(mirror_txn(&m), DUP, "pea", 3), SAP_NOTFOUND);
    mirror_commit(&m);
}
END_TEST

START_TEST(del_dup_removes_one_pair)
{
    static const char *const pairs[] = {"apple", "green", "apple", "yellow",
                                        "pear",  "green", "pear",  "ripe"};

    mirror_begin(&m);
    put_fruit();
    SapTxnCtx *txn = mirror_txn(&m);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "apple", 5, "red", 3), SAP_OK);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "apple", 5, "red", 3), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "apple", 5, "re", 2), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "appler", 6, "ed", 2), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "plum", 4, "red", 3), SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "fig", 3, "blue", 4), SAP_OK);
    ck_assert_int_eq(sap_txn_get_dbi(txn, DUP, "fig", 3, NULL, NULL), SAP_NOTFOUND);
    expect_rows(pairs, 4);
    model_del(mirror_table(&m, dup), "fig", 3);
    model_del_at(mirror_table(&m, dup), 1);
    mirror_commit(&m);
}
END_TEST

START_TEST(a_reader_changes_no_pair)
{
    SapTxnCtx *reader = NULL;

    mirror_begin(&m);
    put_fruit();
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(reader, DUP, "fig", 3, "new", 3), SAP_READONLY);
    ck_assert_int_eq(sap_txn_del_dup_dbi(reader, DUP, "fig", 3, "blue", 4), SAP_READONLY);
    ck_assert_int_eq(sap_txn_del_dbi(reader, DUP, "fig", 3), SAP_READONLY);
    sap_txn_abort(reader);
}
END_TEST

/* ---- Moving among values -------------------------------------------------------------------- */

START_TEST(moves_among_values_stay_at_the_ends)
{
    mirror_begin(&m);
    put_fruit();
    SapCursor *cur = cursor();
    ck_assert_int_eq(sap_cursor_seek(cur, "apple", 5), SAP_OK);
    expect_at(cur, "apple", "green");
    ck_assert_int_eq(sap_cursor_prev_dup(cur), SAP_NOTFOUND);
    expect_at(cur, "apple", "green");
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_OK);
    expect_at(cur, "apple", "red");
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_OK);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_NOTFOUND);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_prev_dup(cur), SAP_OK);
    expect_at(cur, "apple", "red");
    ck_assert_int_eq(sap_cursor_last_dup(cur), SAP_OK);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_last_dup(cur), SAP_OK);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_at(cur, "fig", "blue");
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_prev_dup(cur), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_first_dup(cur), SAP_OK);
    expect_at(cur, "fig", "blue");
    ck_assert_int_eq(sap_cursor_last(cur), SAP_OK);
    expect_at(cur, "pear", "ripe");
    ck_assert_int_eq(sap_cursor_first_dup(cur), SAP_OK);
    expect_at(cur, "pear", "green");
    sap_cursor_close(cur);
}
END_TEST

START_TEST(a_cursor_on_no_row_has_no_values_to_move_among)
{
    uint64_t count = 7;

    mirror_begin(&m);
    SapCursor *cur = cursor();
    for (int round = 0; round < 2; round++) {
        ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_prev_dup(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_first_dup(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_last_dup(cur), SAP_NOTFOUND);
        ck_assert_int_eq(sap_cursor_count_dup(cur, &count), SAP_NOTFOUND);
        ck_assert_uint_eq(count, 7);
        mirror_put_text(&m, dup, "k", "v");
    }
    ck_assert_int_eq(sap_cursor_seek(cur, "z", 1), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_count_dup(cur, &count), SAP_NOTFOUND);
    sap_cursor_close(cur);
}
END_TEST

START_TEST(count_dup_counts_the_values_of_the_key_under_the_cursor)
{
    static const struct {
        const char *key;
        uint64_t count;
    } expected[] = {{"apple", 3}, {"fig", 1}, {"pear", 2}};
    uint64_t count = 0;

    mirror_begin(&m);
    put_fruit();
    SapCursor *cur = cursor();
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_cursor_seek(cur, expected[i].key, (uint32_t)strlen(expected[i].key)),
                         SAP_OK);
        ck_assert_int_eq(sap_cursor_last_dup(cur), SAP_OK);
        ck_assert_int_eq(sap_cursor_count_dup(cur, &count), SAP_OK);
        ck_assert_uint_eq(count, expected[i].count);
    }
    ck_assert_int_eq(sap_cursor_count_dup(cur, NULL), SAP_ERROR);
    sap_cursor_close(cur);
}
END_TEST

START_TEST(ranks_positions_and_ranges_count_rows)
{
    uint64_t n = 0;
    SapStat stat;

    mirror_begin(&m);
    put_fruit();
    SapTxnCtx *txn = mirror_txn(&m);
    SapCursor *cur = cursor();
    ck_assert_int_eq(sap_cursor_seek(cur, "pear", 4), SAP_OK);
    ck_assert_int_eq(sap_cursor_rank(cur, &n), SAP_OK);
    ck_assert_uint_eq(n, 4);
    ck_assert_int_eq(sap_cursor_seek_nth(cur, 2), SAP_OK);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_seek_nth(cur, 6), SAP_NOTFOUND);
    sap_cursor_close(cur);
    ck_assert_int_eq(sap_dbi_stat(txn, DUP, &stat), SAP_OK);
    ck_assert_uint_eq(stat.num_entries, 6);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, NULL, 0, NULL, 0, &n), SAP_OK);
    ck_assert_uint_eq(n, 6);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, "apple", 5, "pear", 4, &n), SAP_OK);
    ck_assert_uint_eq(n, 4);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, "apples", 6, NULL, 0, &n), SAP_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, "pear", 4, "apple", 5, &n), SAP_OK);
    ck_assert_uint_eq(n, 0);
}
END_TEST

START_TEST(seek_finds_the_first_value_of_the_first_key_not_below)
{
    mirror_begin(&m);
    put_fruit();
    SapCursor *cur = cursor();
    ck_assert_int_eq(sap_cursor_seek(cur, "b", 1), SAP_OK);
    expect_at(cur, "fig", "blue");
    ck_assert_int_eq(sap_cursor_seek(cur, "", 0), SAP_OK);
    expect_at(cur, "apple", "green");
    ck_assert_int_eq(sap_cursor_seek_prefix(cur, "pe", 2), SAP_OK);
    expect_at(cur, "pear", "green");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "pe", 2), 1);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "pearr", 5), 0);
    ck_assert_int_eq(sap_cursor_seek_prefix(cur, "pearr", 5), SAP_NOTFOUND);
    sap_cursor_close(cur);
}
END_TEST

/* ---- Key and value side by side ------------------------------------------------------------- */

START_TEST(key_and_value_are_not_confused)
{
    static const char *const pairs[] = {"",  "",   "", "abc", "a", "",    "a", "bc", "a",
                                        "c", "ab", "", "ab",  "c", "abc", "",  "b",  ""};
    uint64_t n = 0;

    mirror_begin(&m);
    for (size_t i = sizeof pairs / sizeof pairs[0]; i != 0; i -= 2) {
        mirror_put_text(&m, dup, pairs[i - 2], pairs[i - 1]);
    }
    expect_rows(pairs, 9);
    SapTxnCtx *txn = mirror_txn(&m);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, "a", 1, "ab", 2, &n), SAP_OK);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, NULL, 0, "a", 1, &n), SAP_OK);
    ck_assert_uint_eq(n, 2);
    mirror_compare(&m);
    mirror_del(&m, dup, "a", 1);
    mirror_del(&m, dup, "", 0);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "ab", 2, "", 0), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(txn, DUP, "ab", 2, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(txn, DUP, NULL, 0, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, NULL, 0, NULL, 0), SAP_OK);
    mirror_commit(&m);
}
END_TEST

/* Every pair of strings of up to three bytes 0, 1 and 255, put in a scrambled order. */
START_TEST(zeros_in_keys_and_values_do_not_change_the_order)
{
    static const uint8_t digits[] = {0x00, 0x01, 0xff};
    uint8_t words[40][3];
    uint32_t lens[40];
    uint32_t count = 0;

    for (uint32_t len = 0; len <= 3; len++) {
        uint32_t combinations = len == 0 ? 1 : len == 1 ? 3 : len == 2 ? 9 : 27;
        for (uint32_t i = 0; i < combinations; i++) {
            uint32_t rest = i;
            for (uint32_t j = 0; j < len; j++, rest /= 3) {
                words[count][j] = digits[rest % 3];
            }
            lens[count++] = len;
        }
    }
    mirror_begin(&m);
    for (uint32_t i = 0; i < count * count; i++) {
        uint32_t pick = i * 911 % (count * count);
        mirror_put(&m, dup, words[pick / count], lens[pick / count], words[pick % count],
                   lens[pick % count]);
    }
    mirror_compare(&m);
    for (uint32_t i = 0; i < count; i += 2) {
        mirror_del(&m, dup, words[i], lens[i]);
    }
    mirror_commit(&m);
}
END_TEST

START_TEST(key_and_value_together_keep_to_the_limit_of_a_key)
{
    uint8_t bytes[PAGE];
    uint32_t longest = 0;
    uint32_t pair = 0;

    memset(bytes, 'x', sizeof bytes);
    mirror_begin(&m);
    SapTxnCtx *txn = mirror_txn(&m);
    while (sap_txn_put(txn, bytes, longest + 1, NULL, 0) == SAP_OK) {
        longest++;
    }
    while (sap_txn_put_dbi(txn, DUP, bytes, pair + 1, NULL, 0) == SAP_OK) {
        pair++;
    }
    ck_assert_int_eq(sap_txn_put_dbi(txn, DUP, bytes, pair + 1, NULL, 0), SAP_FULL);
    ck_assert_uint_le(pair, longest);
    ck_assert_uint_ge(pair + 8, longest);
    mirror_abort(&m);
    for (uint32_t key_len = 0; key_len <= pair; key_len++) {
        mirror_begin(&m);
        EXPECT_RC(sap_txn_put_dbi(mirror_txn(&m), DUP, bytes, key_len, bytes, pair + 1 - key_len),
                  SAP_FULL);
        EXPECT_RC(sap_txn_put_flags_dbi(mirror_txn(&m), DUP, bytes, key_len, bytes,
                                        pair + 1 - key_len, SAP_NOOVERWRITE, NULL),
                  SAP_FULL);
        mirror_put(&m, dup, bytes, key_len, bytes, pair - key_len);
        mirror_commit(&m);
    }
    /* Too long to be there. */
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DUP, bytes, PAGE, NULL, NULL), SAP_NOTFOUND);
    ck_assert_int_ne(sap_txn_del_dup_dbi(mirror_txn(&m), DUP, bytes, pair, bytes, PAGE), SAP_OK);
    ck_assert_int_ne(sap_txn_put_dbi(mirror_txn(&m), DUP, bytes, 1, bytes, SAP_MAX_VAL_LEN),
                     SAP_OK);
    mirror_compare(&m);
}
END_TEST

/* ---- Orders --------------------------------------------------------------------------------- */

START_TEST(values_can_have_an_order_of_their_own)
{
    char text[16];

    for (int order = 0; order < ORDER_COUNT; order++) {
        for (int value_order = 0; value_order < ORDER_COUNT; value_order++) {
            Mirror other;
            expect_context("order %d, values in order %d", order, value_order);
            mirror_open(&other, NULL, 256, ORDER_BYTES);
            size_t t = mirror_add_dupsort(&other, 9, (OrderKind)order, (OrderKind)value_order);
            mirror_begin(&other);
            for (uint32_t i = 0; i < 600; i++) {
                uint32_t n = i * 7919 % 600;
                char key[4] = {"aAbBcC"[n % 6], "xX"[n % 5 % 2], 0, 0};
                snprintf(text, sizeof text, "%c%u", "zZyY"[n % 4], n);
                mirror_put(&other, t, key, 1 + n % 3, text + n % 2, (uint32_t)strlen(text) - n % 2);
            }
            mirror_compare(&other);
            mirror_commit(&other);
            mirror_begin(&other);
            mirror_del(&other, t, "a", 1);
            mirror_del_range(&other, t, "b", 1, "cX", 2);
            mirror_del_range(&other, t, "cX", 2, "b", 1);
            mirror_commit(&other);
            mirror_close(&other);
        }
    }
}
END_TEST

START_TEST(numbers_as_text_can_be_sorted_as_numbers)
{
    static const char *const pairs[] = {"n", "", "n", "2", "n", "10", "n", "33", "n", "100"};

    dup = mirror_add_dupsort(&m, 40, ORDER_BYTES, ORDER_LENGTH);
    mirror_begin(&m);
    for (size_t i = 0; i < 5; i++) {
        mirror_put_text(&m, dup, "n", pairs[(i * 3 + 1) % 5 * 2 + 1]);
    }
    SapCursor *cur = sap_cursor_open_dbi(mirror_txn(&m), 40);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
        expect_at(cur, "n", pairs[i * 2 + 1]);
    }
    sap_cursor_close(cur);
    mirror_commit(&m);
}
END_TEST

/* ---- dbi_set_dupsort ------------------------------------------------------------------------ */

static int set_reverse(uint32_t dbi)
{
    return sap_dbi_set_dupsort(m.db, dbi, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE));
}

START_TEST(set_dupsort_makes_an_empty_plain_table_a_dupsort_one)
{
    ck_assert_int_eq(sap_dbi_open(m.db, 50, NULL, NULL, 0), SAP_OK);
    ck_assert_int_eq(set_reverse(50), SAP_OK);
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), 50, "k", 1, "1", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), 50, "k", 1, "2", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), 50, "k", 1, "2", 1), SAP_OK);
    SapCursor *cur = sap_cursor_open_dbi(mirror_txn(&m), 50);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    expect_at(cur, "k", "2");
    ck_assert_int_eq(sap_cursor_next_dup(cur), SAP_OK);
    expect_at(cur, "k", "1");
    sap_cursor_close(cur);
}
END_TEST

START_TEST(set_dupsort_works_for_dbi_0)
{
    ck_assert_int_eq(sap_dbi_set_dupsort(m.db, 0, NULL, NULL), SAP_OK);
    mirror_begin(&m);
    ck_assert_int_eq(sap_txn_put(mirror_txn(&m), "k", 1, "1", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put(mirror_txn(&m), "k", 1, "1", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put(mirror_txn(&m), "k", 1, "2", 1), SAP_OK);
}
END_TEST

START_TEST(set_dupsort_needs_an_open_and_empty_table)
{
    ck_assert_int_eq(set_reverse(77), SAP_ERROR);
    ck_assert_int_eq(set_reverse(SAP_MAX_DBI + 1), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_set_dupsort(NULL, DUP, NULL, NULL), SAP_ERROR);
    mirror_begin(&m);
    put_fruit();
    mirror_put_text(&m, plain, "k", "v");
    mirror_commit(&m);
    ck_assert_int_eq(set_reverse(DUP), SAP_ERROR);
    ck_assert_int_eq(set_reverse(0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_set_dupsort(m.db, 0, NULL, NULL), SAP_ERROR);
    mirror_compare(&m);
    mirror_begin(&m);
    mirror_del_range(&m, dup, NULL, 0, NULL, 0);
    mirror_commit(&m);
    ck_assert_int_eq(set_reverse(DUP), SAP_OK);
    m.committed->tables[dup].vcmp = order_cmp(ORDER_REVERSE);
    m.committed->tables[dup].vcmp_ctx = order_ctx(ORDER_REVERSE);
    mirror_begin(&m);
    put_fruit();
    mirror_commit(&m);
}
END_TEST

START_TEST(setting_what_is_set_is_allowed_at_any_time)
{
    SapTxnCtx *reader = NULL;

    ck_assert_int_eq(sap_dbi_open(m.db, 51, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(set_reverse(51), SAP_OK);
    mirror_begin(&m);
    put_fruit();
    ck_assert_int_eq(sap_txn_put_dbi(mirror_txn(&m), 51, "k", 1, "v", 1), SAP_OK);
    ck_assert_int_eq(set_reverse(51), SAP_OK);
    ck_assert_int_eq(sap_dbi_set_dupsort(m.db, DUP, NULL, NULL), SAP_OK);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(set_reverse(51), SAP_OK);
    ck_assert_int_eq(sap_dbi_set_dupsort(m.db, DUP, NULL, NULL), SAP_OK);
    sap_txn_abort(reader);
    ck_assert_int_eq(set_reverse(51), SAP_OK);
}
END_TEST

START_TEST(set_dupsort_is_busy_while_a_transaction_is_open)
{
    SapTxnCtx *txn = NULL;

    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    ck_assert_int_eq(set_reverse(DUP), SAP_BUSY);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(set_reverse(DUP), SAP_BUSY);
    sap_txn_abort(txn);
    mirror_begin(&m);
    put_fruit();
    mirror_commit(&m);
}
END_TEST

START_TEST(set_dupsort_refuses_a_table_of_expiry_times)
{
    ck_assert_int_eq(sap_dbi_open(m.db, 52, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    ck_assert_int_eq(sap_dbi_set_dupsort(m.db, 52, NULL, NULL), SAP_ERROR);
}
END_TEST

START_TEST(opening_again_asks_for_the_same_flags)
{
    ck_assert_int_eq(sap_dbi_open(m.db, DUP, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(m.db, DUP, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(m.db, DUP, NULL, NULL, SAP_DBI_TTL_META), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(m.db, 60, NULL, NULL, SAP_DBI_DUPSORT | SAP_DBI_TTL_META),
                     SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(m.db, 60, NULL, NULL, 4), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(m.db, 60, NULL, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(m.db, 60, NULL, NULL, SAP_DBI_DUPSORT), SAP_ERROR);
    ck_assert_int_eq(set_reverse(60), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(m.db, 60, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(m.db, 60, NULL, NULL, 0), SAP_ERROR);
}
END_TEST

/* ---- Many values ---------------------------------------------------------------------------- */

START_TEST(one_key_has_a_hundred_thousand_values)
{
    enum { VALUES = 100000, EACH = 1009 };
    uint8_t val[8];
    uint64_t n = 0;

    mirror_begin(&m);
    SapTxnCtx *txn = mirror_txn(&m);
    EXPECT_RC(sap_txn_put_dbi(txn, DUP, "a", 1, "before", 6), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(txn, DUP, "c", 1, "behind", 6), SAP_OK);
    for (uint64_t i = 0; i < VALUES; i++) {
        store_u64be(val, i * 7919 % VALUES);
        EXPECT_RC(sap_txn_put_dbi(txn, DUP, "b", 1, val, 8), SAP_OK);
    }
    SapCursor *cur = cursor();
    EXPECT_RC(sap_cursor_seek(cur, "b", 1), SAP_OK);
    for (uint64_t i = 0; i < VALUES; i++) {
        const void *found = NULL;
        EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &found, NULL), SAP_OK);
        EXPECT(load_u64be(found) == i, "value %llu is %llu", (unsigned long long)i,
               (unsigned long long)load_u64be(found));
        if (i % EACH == 0) {
            EXPECT_RC(sap_cursor_count_dup(cur, &n), SAP_OK);
            EXPECT(n == VALUES, "%llu values", (unsigned long long)n);
            EXPECT_RC(sap_cursor_rank(cur, &n), SAP_OK);
            EXPECT(n == i + 1, "rank %llu", (unsigned long long)n);
        }
        EXPECT(sap_cursor_next_dup(cur) == (i + 1 < VALUES ? SAP_OK : SAP_NOTFOUND),
               "the values end at %llu", (unsigned long long)i);
    }
    ck_assert_int_eq(sap_cursor_first_dup(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_prev(cur), SAP_OK);
    expect_at(cur, "a", "before");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_last_dup(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_at(cur, "c", "behind");
    sap_cursor_close(cur);
    for (uint64_t i = 0; i < VALUES; i += 2) {
        store_u64be(val, i);
        EXPECT_RC(sap_txn_del_dup_dbi(txn, DUP, "b", 1, val, 8), SAP_OK);
        EXPECT_RC(sap_txn_del_dup_dbi(txn, DUP, "b", 1, val, 8), SAP_NOTFOUND);
    }
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, "b", 1, "c", 1, &n), SAP_OK);
    ck_assert_uint_eq(n, VALUES / 2);
    ck_assert_int_eq(sap_txn_del_dbi(txn, DUP, "b", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_count_range(txn, DUP, NULL, 0, NULL, 0, &n), SAP_OK);
    ck_assert_uint_eq(n, 2);
    ck_assert_int_eq(sap_txn_del_dbi(txn, DUP, "a", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_del_dbi(txn, DUP, "c", 1), SAP_OK);
    mirror_commit(&m);
}
END_TEST

/* ---- Cursors and nesting -------------------------------------------------------------------- */

START_TEST(a_cursor_stays_on_its_pair_while_others_come_and_go)
{
    char val[16];

    mirror_begin(&m);
    put_fruit();
    SapCursor *cur = cursor();
    seek_pair(cur, "apple", "red");
    for (int i = 0; i < 300; i++) {
        snprintf(val, sizeof val, "%c%d", i % 2 == 0 ? 'a' : 'z', i);
        mirror_put_text(&m, dup, "apple", val);
    }
    expect_at(cur, "apple", "red");
    mirror_del(&m, dup, "fig", 3);
    mirror_del(&m, dup, "pear", 4);
    expect_at(cur, "apple", "red");
    ck_assert_int_eq(sap_cursor_prev_dup(cur), SAP_OK);
    expect_at(cur, "apple", "green");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_at(cur, "apple", "red");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_at(cur, "apple", "yellow");
    sap_cursor_close(cur);
    mirror_commit(&m);
}
END_TEST

START_TEST(a_cursor_whose_pair_is_gone_goes_on_to_its_neighbours)
{
    mirror_begin(&m);
    put_fruit();
    SapTxnCtx *txn = mirror_txn(&m);
    SapCursor *cur = cursor();
    SapCursor *back = cursor();
    seek_pair(cur, "apple", "red");
    seek_pair(back, "apple", "red");
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, DUP, "apple", 5, "red", 3), SAP_OK);
    ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, NULL, NULL), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_prev(back), SAP_OK);
    expect_at(back, "apple", "green");
    ck_assert_int_eq(sap_txn_del_dbi(txn, DUP, "apple", 5), SAP_OK);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_at(cur, "fig", "blue");
    ck_assert_int_eq(sap_cursor_next(back), SAP_OK);
    expect_at(back, "fig", "blue");
    sap_cursor_close(cur);
    sap_cursor_close(back);
}
END_TEST

START_TEST(cursor_del_removes_one_pair_and_stands_on_the_next)
{
    mirror_begin(&m);
    put_fruit();
    SapCursor *cur = cursor();
    seek_pair(cur, "apple", "red");
    ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
    expect_at(cur, "apple", "yellow");
    ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
    expect_at(cur, "fig", "blue");
    ck_assert_int_eq(sap_cursor_prev(cur), SAP_OK);
    expect_at(cur, "apple", "green");
    for (int left = 4; left > 0; left--) {
        ck_assert_int_eq(sap_cursor_del(cur), SAP_OK);
    }
    ck_assert_int_eq(sap_cursor_del(cur), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_NOTFOUND);
    sap_cursor_close(cur);
    model_del_range(mirror_table(&m, dup), NULL, 0, NULL, 0);
    mirror_commit(&m);
}
END_TEST

START_TEST(an_aborted_child_leaves_the_pairs_of_its_parent)
{
    mirror_begin(&m);
    put_fruit();
    mirror_commit(&m);
    mirror_begin(&m);
    mirror_put_text(&m, dup, "apple", "outer");
    mirror_begin(&m);
    mirror_put_text(&m, dup, "apple", "inner");
    mirror_del(&m, dup, "pear", 4);
    mirror_begin(&m);
    mirror_del(&m, dup, "apple", 5);
    mirror_compare(&m);
    mirror_abort(&m);
    mirror_compare(&m);
    mirror_begin(&m);
    mirror_put_text(&m, dup, "apple", "kept");
    mirror_commit(&m);
    mirror_compare(&m);
    mirror_abort(&m);
    mirror_compare(&m);
    mirror_begin(&m);
    mirror_put_text(&m, dup, "pear", "last");
    mirror_commit(&m);
    mirror_commit(&m);
}
END_TEST

START_TEST(an_old_snapshot_keeps_its_pairs)
{
    SapTxnCtx *reader = NULL;

    mirror_begin(&m);
    put_fruit();
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    Model *then = model_copy(m.committed);
    for (int round = 0; round < 3; round++) {
        mirror_begin(&m);
        mirror_del(&m, dup, "apple", 5);
        mirror_put_text(&m, dup, "apple", round % 2 == 0 ? "even" : "odd");
        mirror_del(&m, dup, "fig", 3);
        mirror_commit(&m);
    }
    model_expect_same(then, reader);
    sap_txn_abort(reader);
    model_free(then);
}
END_TEST

/* ---- Chance --------------------------------------------------------------------------------- */

static void change_by_chance(Mirror *other, size_t t, Choice *choice, uint32_t max)
{
    uint8_t key[64];
    uint8_t val[64];
    uint32_t key_len = choice_below(choice, 3) == 0 ? choice_below(choice, max) : 1;
    uint32_t val_len = choice_below(choice, max + 1 - key_len);
    ModelTable *rows = mirror_table(other, t);

    memset(key, 'a' + (int)choice_below(choice, 3), sizeof key);
    memset(val, 'a' + (int)choice_below(choice, 26), sizeof val);
    if (rows->count != 0 && choice_one_in(choice, 3)) {
        size_t at = choice_below(choice, (uint32_t)rows->count);
        const ModelRow *row = rows->rows[at];
        EXPECT_RC(sap_txn_del_dup_dbi(mirror_txn(other), rows->dbi, row->bytes, row->key_len,
                                      model_row_val(row), row->val_len),
                  SAP_OK);
        model_del_at(rows, at);
    } else if (choice_one_in(choice, 40)) {
        mirror_del(other, t, key, key_len);
    } else {
        mirror_put(other, t, key, key_len, val, val_len);
    }
}

START_TEST(pairs_of_all_lengths_agree_with_the_model_in_all_page_sizes)
{
    for (uint32_t size = 0; size < driver_page_size_count; size++) {
        Mirror other;
        Choice choice;
        choice_from_seed(&choice, choice_first_seed() + size);
        expect_context("page size %u", driver_page_sizes[size]);
        mirror_open(&other, NULL, driver_page_sizes[size], ORDER_BYTES);
        size_t t = mirror_add(&other, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
        for (uint32_t round = 0; round < 20; round++) {
            mirror_begin(&other);
            for (uint32_t i = 0; i < 120; i++) {
                change_by_chance(&other, t, &choice, 60);
            }
            mirror_commit(&other);
        }
        mirror_close(&other);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_dupsort");
    TCase *tcase = tcase_create("dupsort");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, pairs_are_sorted_by_key_and_then_by_value);
    tcase_add_test(tcase, putting_a_pair_that_is_there_succeeds);
    tcase_add_test(tcase, putting_a_pair_that_is_there_changes_nothing);
    tcase_add_test(tcase, get_gives_the_first_value_of_a_key);
    tcase_add_test(tcase, nooverwrite_asks_for_the_key_and_not_for_the_pair);
    tcase_add_test(tcase, what_has_no_meaning_for_pairs_is_refused);
    tcase_add_test(tcase, calls_for_pairs_are_refused_in_a_plain_table);
    tcase_add_test(tcase, del_removes_all_values_of_a_key);
    tcase_add_test(tcase, del_dup_removes_one_pair);
    tcase_add_test(tcase, a_reader_changes_no_pair);
    tcase_add_test(tcase, moves_among_values_stay_at_the_ends);
    tcase_add_test(tcase, a_cursor_on_no_row_has_no_values_to_move_among);
    tcase_add_test(tcase, count_dup_counts_the_values_of_the_key_under_the_cursor);
    tcase_add_test(tcase, ranks_positions_and_ranges_count_rows);
    tcase_add_test(tcase, seek_finds_the_first_value_of_the_first_key_not_below);
    tcase_add_test(tcase, key_and_value_are_not_confused);
    tcase_add_test(tcase, zeros_in_keys_and_values_do_not_change_the_order);
    tcase_add_test(tcase, key_and_value_together_keep_to_the_limit_of_a_key);
    tcase_add_test(tcase, values_can_have_an_order_of_their_own);
    tcase_add_test(tcase, numbers_as_text_can_be_sorted_as_numbers);
    tcase_add_test(tcase, set_dupsort_makes_an_empty_plain_table_a_dupsort_one);
    tcase_add_test(tcase, set_dupsort_works_for_dbi_0);
    tcase_add_test(tcase, set_dupsort_needs_an_open_and_empty_table);
    tcase_add_test(tcase, setting_what_is_set_is_allowed_at_any_time);
    tcase_add_test(tcase, set_dupsort_is_busy_while_a_transaction_is_open);
    tcase_add_test(tcase, set_dupsort_refuses_a_table_of_expiry_times);
    tcase_add_test(tcase, opening_again_asks_for_the_same_flags);
    tcase_add_test(tcase, one_key_has_a_hundred_thousand_values);
    tcase_add_test(tcase, a_cursor_stays_on_its_pair_while_others_come_and_go);
    tcase_add_test(tcase, a_cursor_whose_pair_is_gone_goes_on_to_its_neighbours);
    tcase_add_test(tcase, cursor_del_removes_one_pair_and_stands_on_the_next);
    tcase_add_test(tcase, an_aborted_child_leaves_the_pairs_of_its_parent);
    tcase_add_test(tcase, an_old_snapshot_keeps_its_pairs);
    tcase_add_test(tcase, pairs_of_all_lengths_agree_with_the_model_in_all_page_sizes);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
