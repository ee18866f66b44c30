/* What rows that expire promise, one claim per test. */
#include "common/bytes.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 300, PAGE = 512, DATA = 10, META = 11, DUP = 12, OPEN_META = 13, BIG = 3000 };

static Mirror m;
static size_t data;
static size_t meta;
static uint8_t filler[BIG];

static void set_up(void)
{
    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    data = mirror_add(&m, DATA, ORDER_BYTES, 0);
    meta = mirror_add(&m, META, ORDER_BYTES, SAP_DBI_TTL_META);
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

static uint32_t len_of(const char *text)
{
    return (uint32_t)strlen(text);
}

static void put(const char *key, const char *val, uint64_t expires)
{
    EXPECT_RC(sap_txn_put_ttl_dbi(mirror_txn(&m), DATA, META, key, len_of(key), val, len_of(val),
                                  expires),
              SAP_OK);
    model_put_ttl(mirror_table(&m, data), mirror_table(&m, meta), key, len_of(key), val,
                  len_of(val), expires);
}

/* A NULL value: not to be found. */
static void expect_got(SapTxnCtx *txn, const char *key, uint64_t now, unsigned flags,
                       const char *expected)
{
    const void *val = &m;
    uint32_t val_len = 4711;
    int rc = flags == 0
                 ? sap_txn_get_ttl_dbi(txn, DATA, META, key, len_of(key), now, &val, &val_len)
                 : sap_txn_get_ttl_flags_dbi(txn, DATA, META, key, len_of(key), now, &val, &val_len,
                                             flags);

    if (expected == NULL) {
        EXPECT(rc == SAP_NOTFOUND, "%s at %llu answered %d", key, (unsigned long long)now, rc);
        EXPECT(val == &m && val_len == 4711, "the out-parameters were touched");
        return;
    }
    EXPECT(rc == SAP_OK, "%s at %llu answered %d", key, (unsigned long long)now, rc);
    EXPECT(val_len == len_of(expected) && (val_len == 0 || memcmp(val, expected, val_len) == 0),
           "%s has another value", key);
}

static void expect_live(const char *key, uint64_t now, const char *expected)
{
    expect_got(mirror_txn(&m), key, now, 0, expected);
}

/* Sweeps both sides; the model removes the oldest first. */
static void model_sweep(uint64_t now, uint64_t max, uint64_t *deleted)
{
    const uint8_t *key = NULL;
    uint32_t len = 0;
    uint64_t expires = 0;

    *deleted = 0;
    while (*deleted < max &&
           model_first_expired(mirror_table(&m, meta), now, &key, &len, &expires)) {
        uint8_t copy[64];
        memcpy(copy, key, len);
        model_del_ttl(mirror_table(&m, data), mirror_table(&m, meta), copy, len);
        (*deleted)++;
    }
}

static void sweep(uint64_t now, uint64_t max, uint64_t expected)
{
    uint64_t deleted = UINT64_MAX;
    uint64_t by_model = 0;
    SapTxnCtx *txn = mirror_txn(&m);

    EXPECT_RC(max == UINT64_MAX ? sap_txn_sweep_ttl_dbi(txn, DATA, META, now, &deleted)
                                : sap_txn_sweep_ttl_dbi_limit(txn, DATA, META, now, max, &deleted),
              SAP_OK);
    model_sweep(now, max, &by_model);
    EXPECT(deleted == by_model && deleted == expected, "%llu swept instead of %llu",
           (unsigned long long)deleted, (unsigned long long)expected);
    model_expect_same(m.models[m.depth - 1], txn);
}

/* No row of the index is left but those of the model. */
static void expect_no_stale_rows(void)
{
    SapStat stat;

    ck_assert_int_eq(sap_dbi_stat(mirror_txn(&m), META, &stat), SAP_OK);
    ck_assert_uint_eq(stat.num_entries, mirror_table(&m, meta)->count);
}

/* ---- Expiry --------------------------------------------------------------------------------- */

START_TEST(a_row_is_there_until_its_expiry_and_not_at_it)
{
    put("k", "v", 100);
    expect_live("k", 0, "v");
    expect_live("k", 99, "v");
    expect_live("k", 100, NULL);
    expect_live("k", 101, NULL);
    expect_live("k", UINT64_MAX, NULL);
    expect_live("other", 0, NULL);
}
END_TEST

START_TEST(expiry_times_may_be_the_smallest_and_the_largest)
{
    put("never there", "v", 0);
    put("for ever", "v", UINT64_MAX);
    expect_live("never there", 0, NULL);
    expect_live("for ever", UINT64_MAX - 1, "v");
    expect_live("for ever", UINT64_MAX, NULL);
    sweep(0, UINT64_MAX, 1);
    sweep(UINT64_MAX - 1, UINT64_MAX, 0);
    sweep(UINT64_MAX, UINT64_MAX, 1);
}
END_TEST

START_TEST(a_row_without_an_expiry_time_is_not_found)
{
    mirror_put_text(&m, data, "plain", "v");
    expect_live("plain", 0, NULL);
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DATA, "plain", 5, NULL, NULL), SAP_OK);
    sweep(UINT64_MAX, UINT64_MAX, 0);
}
END_TEST

START_TEST(an_expired_row_is_still_there_for_ordinary_calls)
{
    put("k", "v", 5);
    expect_live("k", 9, NULL);
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DATA, "k", 1, NULL, NULL), SAP_OK);
}
END_TEST

START_TEST(a_new_expiry_replaces_the_old_one)
{
    put("later", "v1", 10);
    put("later", "v2", 100);
    put("sooner", "v1", 100);
    put("sooner", "v2", 10);
    put("same", "v1", 50);
    put("same", "v2", 50);
    expect_live("later", 50, "v2");
    expect_live("sooner", 50, NULL);
    expect_live("sooner", 9, "v2");
    expect_live("same", 49, "v2");
    sweep(10, UINT64_MAX, 1);
    expect_live("later", 50, "v2");
    sweep(99, UINT64_MAX, 1);
    sweep(100, UINT64_MAX, 1);
    expect_no_stale_rows();
    ck_assert_uint_eq(mirror_table(&m, meta)->count, 0);
}
END_TEST

START_TEST(a_plain_put_keeps_the_expiry_time)
{
    put("k", "v", 50);
    mirror_put_text(&m, data, "k", "w");
    expect_live("k", 49, "w");
    sweep(50, UINT64_MAX, 1);
}
END_TEST

START_TEST(a_plain_delete_makes_the_row_not_found_and_the_sweep_forgets_its_expiry)
{
    uint64_t deleted = 7;

    put("a", "v", 40);
    put("k", "v", 50);
    mirror_del(&m, data, "k", 1);
    expect_live("k", 10, NULL);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(mirror_txn(&m), DATA, META, 60, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 1);
    model_sweep(60, UINT64_MAX, &deleted);
    expect_no_stale_rows();
}
END_TEST

START_TEST(expiry_rows_are_laid_out_as_documented)
{
    uint8_t by_key[] = {0x00, 'k', 'e', 'y'};
    uint8_t by_time[] = {0x01, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 'k', 'e', 'y'};
    const void *val = NULL;
    uint32_t val_len = 0;

    put("key", "v", UINT64_C(0x0102030405060708));
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), META, by_key, sizeof by_key, &val, &val_len),
                     SAP_OK);
    ck_assert_uint_eq(val_len, 8);
    ck_assert_uint_eq(load_u64be(val), UINT64_C(0x0102030405060708));
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), META, by_time, sizeof by_time, &val, &val_len),
                     SAP_OK);
    ck_assert_uint_eq(val_len, 0);
    expect_no_stale_rows();
}
END_TEST

START_TEST(keys_and_values_may_be_anything)
{
    static const char zeros[] = "a\0\0b";
    SapTxnCtx *txn = mirror_txn(&m);
    const void *val = NULL;
    uint32_t val_len = 0;

    for (uint32_t len = 0; len <= 4; len++) {
        EXPECT_RC(sap_txn_put_ttl_dbi(txn, DATA, META, zeros, len, filler, len * 700, 10 + len),
                  SAP_OK);
        model_put_ttl(mirror_table(&m, data), mirror_table(&m, meta), zeros, len, filler, len * 700,
                      10 + len);
    }
    for (uint32_t len = 0; len <= 4; len++) {
        ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, META, zeros, len, 9 + len, &val, &val_len),
                         SAP_OK);
        ck_assert_uint_eq(val_len, len * 700);
        ck_assert(val_len == 0 || memcmp(val, filler, val_len) == 0);
        ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, META, zeros, len, 10 + len, &val, &val_len),
                         SAP_NOTFOUND);
    }
    mirror_compare(&m);
    sweep(12, UINT64_MAX, 3);
    sweep(14, UINT64_MAX, 2);
}
END_TEST

START_TEST(a_null_key_and_value_of_no_length_are_allowed)
{
    SapTxnCtx *txn = mirror_txn(&m);

    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, NULL, 0, NULL, 0, 5), SAP_OK);
    model_put_ttl(mirror_table(&m, data), mirror_table(&m, meta), NULL, 0, NULL, 0, 5);
    ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, META, NULL, 0, 4, NULL, NULL), SAP_OK);
    ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, META, "x", 1, 4, NULL, NULL), SAP_NOTFOUND);
}
END_TEST

START_TEST(keys_may_be_nine_bytes_shorter_than_otherwise)
{
    uint8_t key[PAGE];
    uint32_t longest = 0;

    memset(key, 'k', sizeof key);
    mirror_begin(&m);
    while (sap_txn_put(mirror_txn(&m), key, longest + 1, NULL, 0) == SAP_OK) {
        longest++;
    }
    mirror_abort(&m);
    for (uint32_t len = longest - 8; len <= longest + 2; len++) {
        EXPECT_RC(sap_txn_put_ttl_dbi(mirror_txn(&m), DATA, META, key, len, "v", 1, 5), SAP_FULL);
    }
    ck_assert_int_eq(
        sap_txn_put_ttl_dbi(mirror_txn(&m), DATA, META, key, SAP_MAX_KEY_LEN - 8, "v", 1, 5),
        SAP_FULL);
    mirror_compare(&m);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(mirror_txn(&m), DATA, META, key, longest - 9, "v", 1, 5),
                     SAP_OK);
    model_put_ttl(mirror_table(&m, data), mirror_table(&m, meta), key, longest - 9, "v", 1, 5);
    ck_assert_int_eq(
        sap_txn_get_ttl_dbi(mirror_txn(&m), DATA, META, key, longest + 2, 4, NULL, NULL),
        SAP_NOTFOUND);
}
END_TEST

START_TEST(a_value_that_is_too_long_changes_neither_table)
{
    ck_assert_int_eq(
        sap_txn_put_ttl_dbi(mirror_txn(&m), DATA, META, "k", 1, filler, SAP_MAX_VAL_LEN + 1, 5),
        SAP_FULL);
    put("k", "v", 5);
    ck_assert_int_eq(
        sap_txn_put_ttl_dbi(mirror_txn(&m), DATA, META, "k", 1, filler, SAP_MAX_VAL_LEN + 1, 50),
        SAP_FULL);
    mirror_compare(&m);
    expect_live("k", 4, "v");
    expect_live("k", 5, NULL);
}
END_TEST

START_TEST(the_data_table_may_have_an_order_of_its_own)
{
    char key[16];
    uint64_t deleted = 0;

    mirror_abort(&m);
    size_t other = mirror_add(&m, 20, ORDER_REVERSE, 0);
    mirror_begin(&m);
    for (uint32_t i = 0; i < 200; i++) {
        uint32_t len = (uint32_t)snprintf(key, sizeof key, "k%u", i * 37 % 200);
        EXPECT_RC(sap_txn_put_ttl_dbi(mirror_txn(&m), 20, META, key, len, "v", 1, i % 10), SAP_OK);
        model_put_ttl(mirror_table(&m, other), mirror_table(&m, meta), key, len, "v", 1, i % 10);
    }
    mirror_compare(&m);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(mirror_txn(&m), 20, META, 4, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 100);
    data = other;
    model_sweep(4, UINT64_MAX, &deleted);
}
END_TEST

/* ---- Sweeping ------------------------------------------------------------------------------- */

static void put_many(uint32_t count)
{
    char key[16];

    for (uint32_t i = 0; i < count; i++) {
        snprintf(key, sizeof key, "key%u", i);
        put(key, "value", i * 7919 % count / 3);
    }
}

START_TEST(a_sweep_removes_what_has_expired_and_nothing_else)
{
    put_many(900);
    mirror_put_text(&m, data, "plain", "v");
    sweep(99, UINT64_MAX, 300);
    sweep(99, UINT64_MAX, 0);
    sweep(298, UINT64_MAX, 597);
    sweep(299, UINT64_MAX, 3);
    ck_assert_uint_eq(mirror_table(&m, data)->count, 1);
    expect_no_stale_rows();
}
END_TEST

START_TEST(a_limited_sweep_removes_the_oldest_first)
{
    put_many(300);
    sweep(50, 1, 1);
    sweep(50, 10, 10);
    sweep(50, 0, 0);
    sweep(50, 1000, 153 - 11);
    sweep(50, 1000, 0);
    sweep(UINT64_MAX, 40, 40);
    sweep(UINT64_MAX, UINT64_MAX - 1, 300 - 153 - 40);
}
END_TEST

START_TEST(the_count_of_a_sweep_is_optional)
{
    put_many(30);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi_limit(mirror_txn(&m), DATA, META, 99, 10, NULL), SAP_OK);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(mirror_txn(&m), DATA, META, 99, NULL), SAP_OK);
    uint64_t deleted = 0;
    model_sweep(99, UINT64_MAX, &deleted);
}
END_TEST

START_TEST(a_sweep_drops_index_rows_of_earlier_expiry_times)
{
    char key[16];

    put_many(60);
    for (uint32_t i = 0; i < 60; i++) {
        snprintf(key, sizeof key, "key%u", i);
        put(key, "later", 1000 + i);
    }
    sweep(999, UINT64_MAX, 0);
    expect_no_stale_rows();
    expect_live("key7", 999, "later");
    sweep(1009, UINT64_MAX, 10);
}
END_TEST

START_TEST(stale_index_rows_do_not_count_against_the_limit)
{
    char key[16];

    put_many(60);
    for (uint32_t i = 0; i < 50; i++) {
        snprintf(key, sizeof key, "key%u", i);
        put(key, "later", 1000);
    }
    sweep(999, 10, 10);
    expect_no_stale_rows();
}
END_TEST

START_TEST(an_index_row_that_disagrees_is_dropped_and_its_row_kept)
{
    uint8_t by_time[] = {0x01, 0, 0, 0, 0, 0, 0, 0, 5, 'k'};
    uint64_t deleted = 7;

    mirror_abort(&m);
    ck_assert_int_eq(sap_dbi_open(m.db, OPEN_META, NULL, NULL, 0), SAP_OK);
    mirror_begin(&m);
    SapTxnCtx *txn = mirror_txn(&m);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, OPEN_META, "k", 1, "v", 1, 100), SAP_OK);
    mirror_put_text(&m, data, "k", "v");
    ck_assert_int_eq(sap_txn_put_dbi(txn, OPEN_META, by_time, sizeof by_time, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(txn, DATA, OPEN_META, 50, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 0);
    ck_assert_int_eq(sap_txn_get_dbi(txn, OPEN_META, by_time, sizeof by_time, NULL, NULL),
                     SAP_NOTFOUND);
    ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, OPEN_META, "k", 1, 50, NULL, NULL), SAP_OK);
}
END_TEST

START_TEST(a_sweep_of_nothing_is_no_error)
{
    sweep(UINT64_MAX, UINT64_MAX, 0);
    sweep(0, 5, 0);
}
END_TEST

START_TEST(a_sweep_in_an_aborted_child_has_not_been)
{
    put_many(90);
    mirror_begin(&m);
    sweep(15, UINT64_MAX, 48);
    mirror_begin(&m);
    sweep(20, 5, 5);
    mirror_commit(&m);
    mirror_abort(&m);
    mirror_compare(&m);
    mirror_begin(&m);
    sweep(3, UINT64_MAX, 12);
    mirror_commit(&m);
    mirror_compare(&m);
}
END_TEST

/* ---- Sweeping in several calls -------------------------------------------------------------- */

static void sweep_on(uint64_t now, uint64_t max, SapSweepCheckpoint *checkpoint, uint64_t expected)
{
    uint64_t deleted = UINT64_MAX;
    uint64_t by_model = 0;
    uint64_t before = checkpoint->deleted;
    uint64_t left = 0;

    EXPECT_RC(sap_txn_sweep_ttl_dbi_checkpoint(mirror_txn(&m), DATA, META, now, max, checkpoint,
                                               &deleted),
              SAP_OK);
    model_sweep(now, max, &by_model);
    EXPECT(deleted == by_model && deleted == expected, "%llu swept instead of %llu",
           (unsigned long long)deleted, (unsigned long long)expected);
    EXPECT(checkpoint->deleted == before + deleted, "the checkpoint says %llu in total",
           (unsigned long long)checkpoint->deleted);
    model_expect_same(m.models[m.depth - 1], mirror_txn(&m));
    mirror_begin(&m);
    model_sweep(now, UINT64_MAX, &left);
    mirror_abort(&m);
    EXPECT(checkpoint->done == (left == 0), "done is %u with %llu rows left", checkpoint->done,
           (unsigned long long)left);
}

START_TEST(a_sweep_goes_on_where_it_stopped)
{
    SapSweepCheckpoint checkpoint = {0};

    put_many(300);
    sweep_on(50, 60, &checkpoint, 60);
    ck_assert_uint_eq(checkpoint.last_expiry, 19);
    sweep_on(50, 60, &checkpoint, 60);
    ck_assert_uint_eq(checkpoint.done, 0);
    sweep_on(50, 60, &checkpoint, 33);
    ck_assert_uint_eq(checkpoint.done, 1);
    ck_assert_uint_eq(checkpoint.deleted, 153);
    ck_assert_uint_eq(checkpoint.last_expiry, 50);
    sweep_on(50, 60, &checkpoint, 0);
    ck_assert_uint_eq(checkpoint.last_expiry, 50);
    sweep_on(60, 60, &checkpoint, 30);
    ck_assert_uint_eq(checkpoint.deleted, 183);
}
END_TEST

START_TEST(a_sweep_across_transactions_reaches_the_end)
{
    SapSweepCheckpoint checkpoint;
    uint32_t calls = 0;

    memset(&checkpoint, 0xff, sizeof checkpoint);
    sap_sweep_checkpoint_clear(&checkpoint);
    ck_assert_uint_eq(checkpoint.deleted, 0);
    ck_assert_uint_eq(checkpoint.done, 0);
    put_many(500);
    while (checkpoint.done == 0) {
        mirror_commit(&m);
        mirror_begin(&m);
        sweep_on(UINT64_MAX, 77, &checkpoint, calls < 6 ? 77 : 500 - 6 * 77);
        calls++;
        ck_assert_uint_le(calls, 8);
    }
    ck_assert_uint_eq(checkpoint.deleted, 500);
}
END_TEST

START_TEST(rows_inserted_behind_the_checkpoint_are_swept_too)
{
    SapSweepCheckpoint checkpoint = {0};

    put_many(300);
    sweep_on(80, 100, &checkpoint, 100);
    put("behind", "v", 1);
    put("at the front", "v", 0);
    put("key17", "again", 2);
    sweep_on(80, 3, &checkpoint, 3);
    expect_live("behind", 0, NULL);
    ck_assert_int_eq(sap_txn_get_dbi(mirror_txn(&m), DATA, "behind", 6, NULL, NULL), SAP_NOTFOUND);
    sweep_on(80, 1000, &checkpoint, (uint64_t)mirror_table(&m, data)->count - 57);
    ck_assert_uint_eq(checkpoint.done, 1);
    put("after the end", "v", 3);
    sweep_on(80, 1000, &checkpoint, 1);
}
END_TEST

START_TEST(a_checkpoint_from_an_aborted_sweep_still_finds_every_row)
{
    SapSweepCheckpoint checkpoint = {0};

    put_many(120);
    mirror_begin(&m);
    sweep_on(30, 50, &checkpoint, 50);
    mirror_abort(&m);
    sweep_on(30, UINT64_MAX, &checkpoint, 93);
    ck_assert_uint_eq(checkpoint.done, 1);
}
END_TEST

START_TEST(a_sweep_that_ends_at_its_limit_knows_whether_it_is_done)
{
    SapSweepCheckpoint checkpoint = {0};

    put_many(30);
    sweep_on(UINT64_MAX, 29, &checkpoint, 29);
    ck_assert_uint_eq(checkpoint.done, 0);
    sweep_on(UINT64_MAX, 1, &checkpoint, 1);
    ck_assert_uint_eq(checkpoint.done, 1);
    sweep_on(UINT64_MAX, 0, &checkpoint, 0);
}
END_TEST

/* ---- Removing on reading -------------------------------------------------------------------- */

START_TEST(a_lazy_get_removes_an_expired_row_from_both_tables)
{
    put("gone", "v", 10);
    put("kept", "v", 20);
    expect_got(mirror_txn(&m), "kept", 15, SAP_TTL_LAZY_DELETE, "v");
    mirror_compare(&m);
    expect_got(mirror_txn(&m), "gone", 10, SAP_TTL_LAZY_DELETE, NULL);
    model_del_ttl(mirror_table(&m, data), mirror_table(&m, meta), "gone", 4);
    mirror_compare(&m);
    expect_no_stale_rows();
    expect_got(mirror_txn(&m), "gone", 10, SAP_TTL_LAZY_DELETE, NULL);
    expect_got(mirror_txn(&m), "missing", 10, SAP_TTL_LAZY_DELETE, NULL);
}
END_TEST

START_TEST(a_lazy_get_leaves_rows_without_an_expiry_time)
{
    mirror_put_text(&m, data, "plain", "v");
    expect_got(mirror_txn(&m), "plain", UINT64_MAX, SAP_TTL_LAZY_DELETE, NULL);
    mirror_compare(&m);
}
END_TEST

START_TEST(a_reader_sees_expiry_and_removes_nothing)
{
    SapTxnCtx *reader = NULL;
    uint64_t deleted = 7;

    put("gone", "v", 10);
    put("kept", "v", 20);
    mirror_commit(&m);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    expect_got(reader, "kept", 15, SAP_TTL_LAZY_DELETE, "v");
    expect_got(reader, "gone", 15, SAP_TTL_LAZY_DELETE, NULL);
    expect_got(reader, "gone", 9, 0, "v");
    SapCursor *cur = sap_cursor_open_dbi(reader, DATA);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_get_ttl_dbi(cur, META, 15, NULL, NULL, SAP_TTL_LAZY_DELETE),
                     SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "gone", 4), 1);
    sap_cursor_close(cur);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(reader, DATA, META, "k", 1, "v", 1, 5), SAP_READONLY);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(reader, DATA, META, 15, &deleted), SAP_READONLY);
    ck_assert_uint_eq(deleted, 7);
    sap_txn_abort(reader);
    mirror_begin(&m);
}
END_TEST

static void expect_under(SapCursor *cur, uint64_t now, unsigned flags, int expected_rc,
                         const char *expected)
{
    const void *val = &m;
    uint32_t val_len = 4711;
    int rc = sap_cursor_get_ttl_dbi(cur, META, now, &val, &val_len, flags);

    ck_assert_int_eq(rc, expected_rc);
    if (rc == SAP_OK) {
        ck_assert_uint_eq(val_len, strlen(expected));
        ck_assert_mem_eq(val, expected, val_len);
    } else {
        ck_assert(val == &m && val_len == 4711);
    }
}

START_TEST(a_cursor_gives_values_that_have_not_expired)
{
    put("a", "first", 10);
    put("b", "second", 20);
    mirror_put_text(&m, data, "c", "plain");
    SapCursor *cur = sap_cursor_open_dbi(mirror_txn(&m), DATA);
    expect_under(cur, 5, 0, SAP_NOTFOUND, NULL);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    expect_under(cur, 9, 0, SAP_OK, "first");
    expect_under(cur, 9, SAP_TTL_LAZY_DELETE, SAP_OK, "first");
    expect_under(cur, 10, 0, SAP_NOTFOUND, NULL);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "a", 1), 1);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_under(cur, 10, 0, SAP_OK, "second");
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_under(cur, 0, 0, SAP_NOTFOUND, NULL);
    expect_under(cur, 0, SAP_TTL_LAZY_DELETE, SAP_NOTFOUND, NULL);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "c", 1), 1);
    ck_assert_int_eq(sap_cursor_get_ttl_dbi(cur, META, 0, NULL, NULL, 2), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_get_ttl_dbi(cur, DATA, 0, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_get_ttl_dbi(cur, 99, 0, NULL, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_get_ttl_dbi(NULL, META, 0, NULL, NULL, 0), SAP_ERROR);
    sap_cursor_close(cur);
}
END_TEST

START_TEST(a_lazy_cursor_removes_an_expired_row_and_stands_on_the_next)
{
    put("a", "first", 10);
    put("b", "second", 20);
    put("c", "third", 10);
    SapCursor *cur = sap_cursor_open_dbi(mirror_txn(&m), DATA);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    expect_under(cur, 15, SAP_TTL_LAZY_DELETE, SAP_NOTFOUND, NULL);
    model_del_ttl(mirror_table(&m, data), mirror_table(&m, meta), "a", 1);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "b", 1), 1);
    expect_under(cur, 15, SAP_TTL_LAZY_DELETE, SAP_OK, "second");
    mirror_compare(&m);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    expect_under(cur, 15, SAP_TTL_LAZY_DELETE, SAP_NOTFOUND, NULL);
    model_del_ttl(mirror_table(&m, data), mirror_table(&m, meta), "c", 1);
    ck_assert_int_eq(sap_cursor_get(cur, NULL, NULL, NULL, NULL), SAP_NOTFOUND);
    ck_assert_int_eq(sap_cursor_prev(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_in_prefix(cur, "b", 1), 1);
    sap_cursor_close(cur);
    expect_no_stale_rows();
}
END_TEST

START_TEST(a_walk_that_removes_on_reading_leaves_what_is_live)
{
    put_many(600);
    SapCursor *cur = sap_cursor_open_dbi(mirror_txn(&m), DATA);
    uint32_t live = 0;
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    while (sap_cursor_get_key(cur, NULL, NULL) == SAP_OK) {
        int rc = sap_cursor_get_ttl_dbi(cur, META, 99, NULL, NULL, SAP_TTL_LAZY_DELETE);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "cursor_get_ttl_dbi answered %d", rc);
        if (rc == SAP_OK) {
            live++;
            sap_cursor_next(cur);
        }
    }
    sap_cursor_close(cur);
    uint64_t deleted = 0;
    model_sweep(99, UINT64_MAX, &deleted);
    ck_assert_uint_eq(live, 600 - deleted);
    mirror_compare(&m);
}
END_TEST

/* ---- Protection and misuse ------------------------------------------------------------------ */

static void merge_nothing(const void *old_val, uint32_t old_len, const void *operand,
                          uint32_t op_len, void *new_val, uint32_t *new_len, void *ctx)
{
    (void)old_val;
    (void)old_len;
    (void)operand;
    (void)op_len;
    (void)new_val;
    (void)ctx;
    *new_len = 0;
}

START_TEST(nothing_but_the_ttl_calls_writes_to_a_protected_table)
{
    static const uint8_t row[] = {0x00, 'k'};
    const void *keys[] = {"a"};
    uint32_t lens[] = {1};
    void *room = NULL;
    uint64_t deleted = 7;

    put("k", "v", 50);
    SapTxnCtx *txn = mirror_txn(&m);
    SapCursor *cur = sap_cursor_open_dbi(txn, META);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(txn, META, "x", 1, "y", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_dbi(txn, META, row, 2, "12345678", 8), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags_dbi(txn, META, "x", 1, "y", 1, SAP_NOOVERWRITE, NULL),
                     SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_flags_dbi(txn, META, "x", 1, NULL, 1, SAP_RESERVE, &room),
                     SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_dbi(txn, META, row, 2), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_dbi(txn, META, "x", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_dup_dbi(txn, META, row, 2, "", 0), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_if(txn, META, row, 2, "y", 1, "z", 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_merge(txn, META, row, 2, "y", 1, merge_nothing, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_load_sorted(txn, META, keys, lens, keys, lens, 1), SAP_ERROR);
    ck_assert_int_eq(sap_txn_del_range(txn, META, NULL, 0, NULL, 0, &deleted), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_put(cur, "y", 1, 0), SAP_ERROR);
    ck_assert_int_eq(sap_cursor_del(cur), SAP_ERROR);
    ck_assert_uint_eq(deleted, 7);
    sap_cursor_close(cur);
    mirror_compare(&m);
    expect_no_stale_rows();
}
END_TEST

START_TEST(a_protected_table_can_be_read_by_all)
{
    uint64_t count = 0;

    put("k", "v", 50);
    SapTxnCtx *txn = mirror_txn(&m);
    SapCursor *cur = sap_cursor_open_dbi(txn, META);
    ck_assert_int_eq(sap_cursor_first(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_OK);
    ck_assert_int_eq(sap_cursor_next(cur), SAP_NOTFOUND);
    sap_cursor_close(cur);
    ck_assert_int_eq(sap_txn_count_range(txn, META, NULL, 0, NULL, 0, &count), SAP_OK);
    ck_assert_uint_eq(count, 2);
}
END_TEST

/* Each call on a pair of tables that does not fit. */
static void expect_unfit(uint32_t data_dbi, uint32_t ttl_dbi)
{
    SapTxnCtx *txn = mirror_txn(&m);
    SapSweepCheckpoint checkpoint = {0};
    uint64_t deleted = 7;
    const void *val = NULL;
    uint32_t val_len = 0;

    EXPECT_RC(sap_txn_put_ttl_dbi(txn, data_dbi, ttl_dbi, "k", 1, "v", 1, 5), SAP_ERROR);
    EXPECT_RC(sap_txn_get_ttl_dbi(txn, data_dbi, ttl_dbi, "k", 1, 5, &val, &val_len), SAP_ERROR);
    EXPECT_RC(sap_txn_get_ttl_flags_dbi(txn, data_dbi, ttl_dbi, "k", 1, 5, &val, &val_len,
                                        SAP_TTL_LAZY_DELETE),
              SAP_ERROR);
    EXPECT_RC(sap_txn_sweep_ttl_dbi(txn, data_dbi, ttl_dbi, 5, &deleted), SAP_ERROR);
    EXPECT_RC(sap_txn_sweep_ttl_dbi_limit(txn, data_dbi, ttl_dbi, 5, 5, &deleted), SAP_ERROR);
    EXPECT_RC(sap_txn_sweep_ttl_dbi_checkpoint(txn, data_dbi, ttl_dbi, 5, 5, &checkpoint, &deleted),
              SAP_ERROR);
    EXPECT(deleted == 7 && checkpoint.done == 0, "an out-parameter was touched");
}

START_TEST(tables_that_do_not_fit_are_refused)
{
    mirror_abort(&m);
    ck_assert_int_eq(sap_dbi_open(m.db, DUP, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(m.db, 30, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE), 0),
                     SAP_OK);
    mirror_begin(&m);
    expect_unfit(DATA, DATA);
    expect_unfit(META, META);
    expect_unfit(DATA, 99);
    expect_unfit(99, META);
    expect_unfit(DATA, SAP_MAX_DBI + 1);
    expect_unfit(DUP, META);
    expect_unfit(DATA, DUP);
    expect_unfit(DATA, 30);
    expect_unfit(META, DATA);
    mirror_compare(&m);
}
END_TEST

START_TEST(misuse_is_refused)
{
    SapTxnCtx *txn = mirror_txn(&m);
    SapSweepCheckpoint checkpoint = {0};

    put("k", "v", 50);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(NULL, DATA, META, "k", 1, "v", 1, 5), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, NULL, 1, "v", 1, 5), SAP_ERROR);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, "k", 1, NULL, 1, 5), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, META, NULL, 1, 5, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_txn_get_ttl_flags_dbi(txn, DATA, META, "k", 1, 5, NULL, NULL, 2),
                     SAP_ERROR);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi_checkpoint(txn, DATA, META, 5, 5, NULL, NULL),
                     SAP_ERROR);
    SapTxnCtx *child = NULL;
    ck_assert_int_eq(sap_txn_begin_rc(m.db, txn, 0, &child), SAP_OK);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(txn, DATA, META, "k", 1, "v", 1, 5), SAP_BUSY);
    ck_assert_int_eq(sap_txn_get_ttl_dbi(txn, DATA, META, "k", 1, 5, NULL, NULL), SAP_BUSY);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(txn, DATA, META, 5, NULL), SAP_BUSY);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi_checkpoint(txn, DATA, META, 5, 5, &checkpoint, NULL),
                     SAP_BUSY);
    sap_txn_abort(child);
}
END_TEST

START_TEST(two_data_tables_have_expiry_tables_of_their_own)
{
    uint64_t deleted = 0;

    mirror_abort(&m);
    size_t other = mirror_add(&m, 40, ORDER_BYTES, 0);
    size_t other_meta = mirror_add(&m, 41, ORDER_BYTES, SAP_DBI_TTL_META);
    mirror_begin(&m);
    put("k", "v", 50);
    ck_assert_int_eq(sap_txn_put_ttl_dbi(mirror_txn(&m), 40, 41, "k", 1, "w", 1, 10), SAP_OK);
    model_put_ttl(mirror_table(&m, other), mirror_table(&m, other_meta), "k", 1, "w", 1, 10);
    sweep(49, UINT64_MAX, 0);
    ck_assert_int_eq(sap_txn_sweep_ttl_dbi(mirror_txn(&m), 40, 41, 49, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 1);
    model_del_ttl(mirror_table(&m, other), mirror_table(&m, other_meta), "k", 1);
}
END_TEST

/* ---- Chance --------------------------------------------------------------------------------- */

START_TEST(expiry_by_chance_agrees_with_the_model)
{
    Choice choice;
    SapSweepCheckpoint checkpoint = {0};
    uint64_t seed = choice_first_seed();

    choice_from_seed(&choice, seed);
    expect_context("expiry, SAP_TEST_SEED=%llu", (unsigned long long)seed);
    for (uint64_t now = 1; now < 2000; now++) {
        char key[16];
        snprintf(key, sizeof key, "k%u", choice_below(&choice, 150));
        uint64_t expired = 0;
        mirror_begin(&m);
        model_sweep(now, UINT64_MAX, &expired);
        mirror_abort(&m);
        switch (choice_below(&choice, 6)) {
        case 0: {
            uint32_t max = choice_below(&choice, 6);
            sweep_on(now, max, &checkpoint, expired < max ? expired : max);
            break;
        }
        case 1:
            sweep(now, 3, expired < 3 ? expired : 3);
            break;
        case 2: {
            uint64_t expires = 0;
            bool known = model_expiry(mirror_table(&m, meta), key, len_of(key), &expires);
            expect_got(mirror_txn(&m), key, now, SAP_TTL_LAZY_DELETE,
                       known && expires > now ? "some value" : NULL);
            if (known && expires <= now) {
                model_del_ttl(mirror_table(&m, data), mirror_table(&m, meta), key, len_of(key));
            }
            break;
        }
        default:
            put(key, "some value", now + choice_below(&choice, 60));
            break;
        }
        if (choice_one_in(&choice, 40)) {
            mirror_commit(&m);
            mirror_begin(&m);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_ttl");
    TCase *tcase = tcase_create("ttl");

    for (uint32_t i = 0; i < BIG; i++) {
        filler[i] = (uint8_t)(i * 17 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_row_is_there_until_its_expiry_and_not_at_it);
    tcase_add_test(tcase, expiry_times_may_be_the_smallest_and_the_largest);
    tcase_add_test(tcase, a_row_without_an_expiry_time_is_not_found);
    tcase_add_test(tcase, an_expired_row_is_still_there_for_ordinary_calls);
    tcase_add_test(tcase, a_new_expiry_replaces_the_old_one);
    tcase_add_test(tcase, a_plain_put_keeps_the_expiry_time);
    tcase_add_test(tcase, a_plain_delete_makes_the_row_not_found_and_the_sweep_forgets_its_expiry);
    tcase_add_test(tcase, expiry_rows_are_laid_out_as_documented);
    tcase_add_test(tcase, keys_and_values_may_be_anything);
    tcase_add_test(tcase, a_null_key_and_value_of_no_length_are_allowed);
    tcase_add_test(tcase, keys_may_be_nine_bytes_shorter_than_otherwise);
    tcase_add_test(tcase, a_value_that_is_too_long_changes_neither_table);
    tcase_add_test(tcase, the_data_table_may_have_an_order_of_its_own);
    tcase_add_test(tcase, a_sweep_removes_what_has_expired_and_nothing_else);
    tcase_add_test(tcase, a_limited_sweep_removes_the_oldest_first);
    tcase_add_test(tcase, the_count_of_a_sweep_is_optional);
    tcase_add_test(tcase, a_sweep_drops_index_rows_of_earlier_expiry_times);
    tcase_add_test(tcase, stale_index_rows_do_not_count_against_the_limit);
    tcase_add_test(tcase, an_index_row_that_disagrees_is_dropped_and_its_row_kept);
    tcase_add_test(tcase, a_sweep_of_nothing_is_no_error);
    tcase_add_test(tcase, a_sweep_in_an_aborted_child_has_not_been);
    tcase_add_test(tcase, a_sweep_goes_on_where_it_stopped);
    tcase_add_test(tcase, a_sweep_across_transactions_reaches_the_end);
    tcase_add_test(tcase, rows_inserted_behind_the_checkpoint_are_swept_too);
    tcase_add_test(tcase, a_checkpoint_from_an_aborted_sweep_still_finds_every_row);
    tcase_add_test(tcase, a_sweep_that_ends_at_its_limit_knows_whether_it_is_done);
    tcase_add_test(tcase, a_lazy_get_removes_an_expired_row_from_both_tables);
    tcase_add_test(tcase, a_lazy_get_leaves_rows_without_an_expiry_time);
    tcase_add_test(tcase, a_reader_sees_expiry_and_removes_nothing);
    tcase_add_test(tcase, a_cursor_gives_values_that_have_not_expired);
    tcase_add_test(tcase, a_lazy_cursor_removes_an_expired_row_and_stands_on_the_next);
    tcase_add_test(tcase, a_walk_that_removes_on_reading_leaves_what_is_live);
    tcase_add_test(tcase, nothing_but_the_ttl_calls_writes_to_a_protected_table);
    tcase_add_test(tcase, a_protected_table_can_be_read_by_all);
    tcase_add_test(tcase, tables_that_do_not_fit_are_refused);
    tcase_add_test(tcase, misuse_is_refused);
    tcase_add_test(tcase, two_data_tables_have_expiry_tables_of_their_own);
    tcase_add_test(tcase, expiry_by_chance_agrees_with_the_model);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
