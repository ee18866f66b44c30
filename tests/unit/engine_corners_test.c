/* Corners of the calls that change several rows, and of streams and watches. */
#include "sapling/sapling.h"
#include "support/backing.h"
#include "support/expect.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 2000, PAGE = 512, DATA = 0, META = 7 };

static int folded(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    const uint8_t *x = (const uint8_t *)a;
    const uint8_t *y = (const uint8_t *)b;

    (void)ctx;
    for (uint32_t i = 0; i < a_len && i < b_len; i++) {
        int c = (x[i] | 0x20) - (y[i] | 0x20);
        if (c != 0) {
            return c;
        }
    }
    return (a_len > b_len) - (a_len < b_len);
}

static void put_rows(DB *db, uint32_t dbi)
{
    Txn *txn = txn_begin(db, NULL, 0);
    char key[16];

    for (uint32_t i = 0; i < ROWS; i++) {
        uint32_t len = (uint32_t)snprintf(key, sizeof key, "k%06u", i);
        EXPECT_RC(txn_put_dbi(txn, dbi, key, len, key, len), SAP_OK);
    }
    EXPECT_RC(txn_commit(txn), SAP_OK);
}

START_TEST(bounds_of_a_range_delete_may_lie_in_the_rows_it_removes)
{
    Backing backing;

    backing_open(&backing, BACKING_CUSTOM, PAGE, 0);
    DB *db = db_open(backing.arena, PAGE, NULL, NULL);
    put_rows(db, 0);
    Txn *txn = txn_begin(db, NULL, 0);
    /* Pages of the transaction's own are given back while the call still runs. */
    EXPECT_RC(txn_put(txn, "k000100", 7, "changed", 7), SAP_OK);
    EXPECT_RC(txn_put(txn, "k001900", 7, "changed", 7), SAP_OK);
    Cursor *from = cursor_open(txn);
    Cursor *to = cursor_open(txn);
    const void *lo = NULL;
    const void *hi = NULL;
    uint32_t lo_len = 0;
    uint32_t hi_len = 0;
    EXPECT_RC(cursor_seek(from, "k000100", 7), SAP_OK);
    EXPECT_RC(cursor_seek(to, "k001900", 7), SAP_OK);
    EXPECT_RC(cursor_get_key(from, &lo, &lo_len), SAP_OK);
    EXPECT_RC(cursor_get_key(to, &hi, &hi_len), SAP_OK);
    uint64_t deleted = 0;
    EXPECT_RC(txn_del_range(txn, 0, lo, lo_len, hi, hi_len, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 1800);
    cursor_close(from);
    cursor_close(to);
    EXPECT_RC(txn_commit(txn), SAP_OK);
    EXPECT_RC(db_verify(db, NULL, NULL), SAP_OK);
    EXPECT_RC(db_close(db), SAP_OK);
    backing_close(&backing);
}
END_TEST

START_TEST(an_empty_range_writes_nothing)
{
    DB *db = db_open(NULL, PAGE, NULL, NULL);

    put_rows(db, 0);
    uint64_t pages = db_num_pages(db);
    Txn *txn = txn_begin(db, NULL, 0);
    uint64_t deleted = 1;
    EXPECT_RC(txn_del_range(txn, 0, "k0005001", 8, "k0005002", 8, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 0);
    ck_assert_uint_eq(db_num_pages(db), pages);
    txn_abort(txn);
    EXPECT_RC(db_close(db), SAP_OK);
}
END_TEST

START_TEST(an_expiry_belongs_to_the_row_however_its_key_is_spelt)
{
    DB *db = db_open(NULL, 0, folded, NULL);

    EXPECT_RC(dbi_open(db, META, NULL, NULL, DBI_TTL_META), SAP_OK);
    Txn *txn = txn_begin(db, NULL, 0);
    EXPECT_RC(txn_put_ttl_dbi(txn, DATA, META, "Key", 3, "a", 1, 10), SAP_OK);
    EXPECT_RC(txn_put_ttl_dbi(txn, DATA, META, "KEY", 3, "b", 1, 1000), SAP_OK);
    uint64_t deleted = 1;
    EXPECT_RC(txn_sweep_ttl_dbi(txn, DATA, META, 20, &deleted), SAP_OK);
    ck_assert_uint_eq(deleted, 0);
    EXPECT_RC(txn_get_ttl_dbi(txn, DATA, META, "key", 3, 20, NULL, NULL), SAP_OK);
    EXPECT_RC(txn_get_ttl_dbi(txn, DATA, META, "key", 3, 1000, NULL, NULL), SAP_NOTFOUND);
    txn_abort(txn);
    EXPECT_RC(db_close(db), SAP_OK);
}
END_TEST

START_TEST(an_expiry_is_not_found_for_a_key_longer_than_any)
{
    DB *db = db_open(NULL, 0, NULL, NULL);

    EXPECT_RC(dbi_open(db, META, NULL, NULL, DBI_TTL_META), SAP_OK);
    Txn *txn = txn_begin(db, NULL, TXN_RDONLY);
    EXPECT_RC(txn_get_ttl_dbi(txn, DATA, META, "k", UINT32_MAX, 0, NULL, NULL), SAP_NOTFOUND);
    txn_abort(txn);
    EXPECT_RC(db_close(db), SAP_OK);
}
END_TEST

static int refuse_commit(SapTxnCtx *txn, void **state)
{
    (void)txn;
    (void)state;
    return SAP_CONFLICT;
}

START_TEST(a_restore_whose_commit_is_refused_leaves_no_table_open)
{
    const SapSubsystemCallbacks calls = {.on_commit = refuse_commit};
    Stream stream;

    stream_init(&stream);
    DB *from = db_open(NULL, PAGE, NULL, NULL);
    EXPECT_RC(dbi_open(from, 5, NULL, NULL, DBI_DUPSORT), SAP_OK);
    put_rows(from, 5);
    EXPECT_RC(db_checkpoint(from, stream_write, &stream), SAP_OK);
    DB *to = db_open(NULL, PAGE, NULL, NULL);
    EXPECT_RC(sap_env_register_subsystem(to, 1, &calls), SAP_OK);
    stream_rewind(&stream);
    EXPECT_RC(db_restore(to, stream_read, &stream), SAP_CONFLICT);
    EXPECT_RC(dbi_open(to, 5, NULL, NULL, 0), SAP_OK);
    ck_assert_uint_eq(db_num_pages(to), 0);
    EXPECT_RC(db_close(from), SAP_OK);
    EXPECT_RC(db_close(to), SAP_OK);
    stream_free(&stream);
}
END_TEST

static int write_and_leave_a_child(const void *buf, uint32_t len, void *ctx)
{
    (void)buf;
    (void)len;
    (void)txn_begin(txn_env((Txn *)ctx), (Txn *)ctx, TXN_RDONLY);
    return SAP_OK;
}

START_TEST(a_checkpoint_that_cannot_go_on_does_not_answer_ok)
{
    DB *db = db_open(NULL, PAGE, NULL, NULL);
    static uint8_t val[70000]; /* more than one piece of the stream */

    Txn *txn = txn_begin(db, NULL, 0);
    EXPECT_RC(txn_put(txn, "a", 1, val, sizeof val), SAP_OK);
    EXPECT_RC(txn_put(txn, "b", 1, val, sizeof val), SAP_OK);
    EXPECT_RC(txn_commit(txn), SAP_OK);
    txn = txn_begin(db, NULL, TXN_RDONLY);
    EXPECT_RC(txn_checkpoint(txn, write_and_leave_a_child, txn), SAP_BUSY);
    txn_abort(txn);
    EXPECT_RC(db_close(db), SAP_OK);
}
END_TEST

typedef struct Seen {
    uint32_t calls;
    char key[8];
} Seen;

static void see(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    Seen *seen = (Seen *)ctx;

    (void)val;
    (void)val_len;
    seen->calls++;
    memcpy(seen->key, key, key_len < sizeof seen->key ? key_len : sizeof seen->key);
}

START_TEST(a_watcher_is_told_the_key_that_the_row_has)
{
    DB *db = db_open(NULL, 0, folded, NULL);
    Seen seen = {0};

    EXPECT_RC(db_watch(db, "K", 1, see, &seen), SAP_OK);
    Txn *txn = txn_begin(db, NULL, 0);
    EXPECT_RC(txn_put(txn, "Key", 3, "v", 1), SAP_OK);
    EXPECT_RC(txn_commit(txn), SAP_OK);
    txn = txn_begin(db, NULL, 0);
    EXPECT_RC(txn_del(txn, "kEY", 3), SAP_OK);
    EXPECT_RC(txn_commit(txn), SAP_OK);
    ck_assert_uint_eq(seen.calls, 2);
    ck_assert_int_eq(memcmp(seen.key, "Key", 3), 0);
    EXPECT_RC(db_unwatch(db, "K", 1, see, &seen), SAP_OK);
    EXPECT_RC(db_close(db), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_corners");
    TCase *corners = tcase_create("corners");

    tcase_set_timeout(corners, 120);
    tcase_add_test(corners, bounds_of_a_range_delete_may_lie_in_the_rows_it_removes);
    tcase_add_test(corners, an_empty_range_writes_nothing);
    tcase_add_test(corners, an_expiry_belongs_to_the_row_however_its_key_is_spelt);
    tcase_add_test(corners, an_expiry_is_not_found_for_a_key_longer_than_any);
    tcase_add_test(corners, a_restore_whose_commit_is_refused_leaves_no_table_open);
    tcase_add_test(corners, a_checkpoint_that_cannot_go_on_does_not_answer_ok);
    tcase_add_test(corners, a_watcher_is_told_the_key_that_the_row_has);
    suite_add_tcase(suite, corners);
    return suite_run(suite);
}
