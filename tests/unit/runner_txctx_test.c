/* What one block reads and stages: reads see its own writes, conflicts are found, nothing reaches
 * the DB before apply. */
#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/orders.h"
#include "support/suite.h"
#include "support/tx.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300 };

/* ---- Reads and writes ----------------------------------------------------------------------- */

START_TEST(a_block_reads_its_own_writes_and_the_db_sees_them_only_after_apply)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "a", "1");
    tx_db_put(&bed, 0, "b", "2");
    tx_bed_begin(&bed, 0);

    tx_expect_get(bed.ctx, 0, "a", "1");
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "own"), SAP_OK);
    EXPECT_RC(tx_del(bed.ctx, 0, "b"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 8, "a", "of 8"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "", ""), SAP_OK);
    tx_expect_get(bed.ctx, 0, "a", "own");
    tx_expect_get(bed.ctx, 0, "b", NULL);
    tx_expect_get(bed.ctx, 8, "a", "of 8");
    tx_expect_get(bed.ctx, 8, "b", NULL);
    tx_expect_get(bed.ctx, 0, "", "");
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(bed.ctx), 4);
    ck_assert_uint_eq(sap_runner_txctx_v0_read_count(bed.ctx), 2); /* a, and b of 8 */
    tx_db_expect(&bed, 0, "a", "1");
    tx_db_expect(&bed, 8, "a", NULL);

    tx_bed_apply(&bed);
    tx_db_expect(&bed, 0, "a", "own");
    tx_db_expect(&bed, 0, "b", NULL);
    tx_db_expect(&bed, 0, "", "");
    tx_db_expect(&bed, 8, "a", "of 8");
    tx_bed_close(&bed);
}
END_TEST

static int see_row(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    (void)ctx;
    return 0;
}

START_TEST(what_is_read_again_and_again_is_kept_once)
{
    enum { TIMES = 1000000, KEYS = 3000 };
    char key[16];
    TxBed bed;

    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "a", "1");
    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        tx_db_put(&bed, 8, key, i % 2 == 0 ? "even" : "odd");
    }
    tx_bed_begin(&bed, 0);
    tx_expect_get(bed.ctx, 0, "a", "1");
    tx_expect_get(bed.ctx, 0, "none", NULL);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 8, "k1", 2, see_row, NULL), 0);
    size_t memory = mem_live_total();
    for (int i = 0; i < TIMES; i++) {
        ck_assert_int_eq(sap_runner_txctx_v0_get(bed.ctx, 0, "a", 1, NULL, NULL), SAP_OK);
        ck_assert_int_eq(sap_runner_txctx_v0_get(bed.ctx, 0, "none", 4, NULL, NULL), SAP_NOTFOUND);
    }
    for (int i = 0; i < 100; i++) {
        EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 8, "k1", 2, see_row, NULL), 0);
    }
    ck_assert_uint_eq(sap_runner_txctx_v0_read_count(bed.ctx), 3);
    ck_assert_uint_eq(mem_live_total(), memory);
    /* Each of many keys, twice; none is taken for another. */
    for (int i = 0; i < 2 * KEYS; i++) {
        (void)snprintf(key, sizeof key, "k%d", i % KEYS);
        tx_expect_get(bed.ctx, 8, key, i % 2 == 0 ? "even" : "odd");
    }
    ck_assert_uint_eq(sap_runner_txctx_v0_read_count(bed.ctx), 3 + KEYS);
    tx_bed_apply(&bed);
    /* The same key of another table, and a prefix that is also a key, are reads of their own. */
    tx_bed_begin(&bed, 0);
    tx_expect_get(bed.ctx, 0, "k1", NULL);
    tx_expect_get(bed.ctx, 8, "k1", "odd");
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 8, "k1", 2, see_row, NULL), 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_read_count(bed.ctx), 3);
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_delete_of_no_row_is_done_and_undone_like_any_other)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_bed_begin(&bed, 0);
    EXPECT_RC(tx_del(bed.ctx, 0, "none"), SAP_OK);
    EXPECT_RC(tx_del(bed.ctx, 0, "later"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "later", "x"), SAP_OK);
    tx_expect_get(bed.ctx, 0, "later", "x");
    tx_bed_apply(&bed);
    tx_db_expect(&bed, 0, "none", NULL);
    tx_db_expect(&bed, 0, "later", "x");
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_value_that_the_block_was_shown_can_be_put_elsewhere)
{
    TxBed bed;
    const void *val;
    uint32_t len;
    static char big[40000];

    memset(big, 'x', sizeof big - 1);
    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "snapshot", big);
    tx_bed_begin(&bed, 0);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 0, "snapshot", 8, &val, &len), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, "one", 3, val, len), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 0, "one", 3, &val, &len), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, "one", 3, val, len - 5), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 0, "one", 3, &val, &len), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 8, "two", 3, val, len), SAP_OK);
    tx_bed_apply(&bed);
    big[sizeof big - 6] = 0;
    tx_db_expect(&bed, 0, "one", big);
    tx_db_expect(&bed, 8, "two", big);
    tx_bed_close(&bed);
}
END_TEST

/* Every page size, and the longest key that the DB takes there. */
START_TEST(every_key_that_fits_the_db_can_be_staged)
{
    static const uint32_t sizes[] = {256, 512, 4096, 8192, 32768, 60000, 65535};
    static uint8_t key[SAP_MAX_KEY_LEN];
    uint32_t tried = 0;

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        TxBed bed;
        uint32_t longest = 0;
        SapTxnCtx *txn;

        tx_bed_open(&bed, sizes[i]);
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        for (uint32_t step = 1u << 15; step > 0; step /= 2) {
            if (longest + step <= SAP_MAX_KEY_LEN &&
                sap_txn_put(txn, key, longest + step, "v", 1) == SAP_OK) {
                longest += step;
            }
        }
        sap_txn_abort(txn);
        /* Pages cannot be larger than the largest: there a few bytes are missing. */
        uint32_t fits = sizes[i] == 65535 ? longest - 4 : longest;
        tx_bed_begin(&bed, 0);
        EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, key, fits, "v", 1), SAP_OK);
        if (fits < longest) {
            EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, key, longest, "v", 1), SAP_FULL);
        }
        tx_bed_apply(&bed);
        /* And one that is too long for the DB alone is found when it is applied. */
        tx_bed_begin(&bed, 0);
        if (fits == longest) {
            EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, key, longest + 1, "v", 1), SAP_OK);
            EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
            EXPECT_RC(sap_runner_txctx_v0_apply(bed.ctx, txn), SAP_FULL);
            sap_txn_abort(txn);
        }
        tried++;
        tx_bed_close(&bed);
    }
    printf("longest keys: %u page sizes\n", tried);
    ck_assert_uint_eq(tried, 7);
}
END_TEST

START_TEST(misuse_is_an_error_and_changes_nothing)
{
    TxBed bed;
    TxBed other;
    SapRunnerTxCtxV0 *ctx = NULL;
    SapTxnCtx *txn;
    const void *p;
    uint32_t len;
    static char byte;

    tx_bed_open(&bed, 4096);
    tx_bed_open(&other, 4096);
    EXPECT_RC(sap_runner_txctx_v0_create(NULL, &ctx), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_create(bed.db, NULL), SAP_ERROR);
    sap_runner_txctx_v0_dispose(NULL);
    EXPECT_RC(sap_runner_txctx_v0_reset(NULL, NULL, 0), SAP_ERROR);
    /* without a snapshot */
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 0, "a", 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 0, "", 0, tx_count_rows, &len), SAP_ERROR);
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "staged"), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 0, "a", 1, NULL, NULL), SAP_ERROR);

    tx_bed_begin(&bed, 0);
    EXPECT_RC(sap_runner_txctx_v0_reset(other.ctx, bed.snapshot, 0), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_get(NULL, 0, "a", 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 0, NULL, 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 9, "a", 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_get(bed.ctx, 5000, "a", 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(NULL, 0, "a", 1, "b", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, NULL, 1, "b", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, "a", 1, NULL, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 9, "a", 1, "b", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 1024, "a", 1, "b", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, TX_DUPSORT, "a", 1, "b", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_del(bed.ctx, TX_DUPSORT, "a", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, TX_TTL_META, "a", 1, "b", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, &byte, SAP_MAX_KEY_LEN + 1, "b", 1), SAP_FULL);
    EXPECT_RC(sap_runner_txctx_v0_put(bed.ctx, 0, "a", 1, &byte, SAP_MAX_VAL_LEN), SAP_FULL);
    EXPECT_RC(sap_runner_txctx_v0_del(NULL, 0, "a", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_scan(NULL, 0, "", 0, tx_count_rows, &len), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 0, NULL, 1, tx_count_rows, &len), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 0, "", 0, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 9, "", 0, tx_count_rows, &len), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, TX_REVERSE, "", 0, tx_count_rows, &len), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_push_intent(NULL, "x", 1), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_push_intent(bed.ctx, "not a frame", 11), SAP_INVALID);
    EXPECT_RC(sap_runner_txctx_v0_push_intent(bed.ctx, NULL, 0), SAP_INVALID);
    EXPECT_RC(sap_runner_txctx_v0_intent(bed.ctx, 0, &p, &len), SAP_NOTFOUND);
    EXPECT_RC(sap_runner_txctx_v0_intent(bed.ctx, 0, NULL, &len), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_intent(NULL, 0, &p, &len), SAP_ERROR);
    EXPECT_RC(sap_txn_begin_rc(other.db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, txn), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_apply(bed.ctx, txn), SAP_ERROR);
    sap_txn_abort(txn);
    EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_apply(NULL, NULL), SAP_ERROR);
    ck_assert_uint_eq(sap_runner_txctx_v0_read_count(NULL), 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(NULL), 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(NULL), 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_read_count(bed.ctx), 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(bed.ctx), 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), 0);
    tx_bed_close(&other);
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_context_that_only_reads_refuses_writes_and_intents)
{
    TxBed bed;
    uint8_t frame[200];
    uint32_t len = tx_intent(frame, sizeof frame, "m", -1);

    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "a", "1");
    tx_bed_begin(&bed, 1);
    tx_expect_get(bed.ctx, 0, "a", "1");
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "2"), SAP_READONLY);
    EXPECT_RC(tx_del(bed.ctx, 0, "a"), SAP_READONLY);
    EXPECT_RC(sap_runner_txctx_v0_push_intent(bed.ctx, frame, len), SAP_READONLY);
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    tx_expect_get(bed.ctx, 0, "a", "1");
    EXPECT_RC(tx_put(bed.ctx, 0, "a", "2"), SAP_READONLY);
    EXPECT_RC(sap_runner_txstack_v0_commit(bed.ctx), SAP_OK);
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    EXPECT_RC(sap_runner_txstack_v0_abort(bed.ctx), SAP_OK);
    tx_expect_scan(bed.ctx, 0, "", "a=1 ");
    ck_assert_uint_eq(sap_runner_txctx_v0_write_count(bed.ctx), 0);
    tx_bed_apply(&bed);
    tx_db_expect(&bed, 0, "a", "1");
    tx_bed_close(&bed);
}
END_TEST

/* ---- Scans ---------------------------------------------------------------------------------- */

START_TEST(a_scan_merges_own_writes_in_key_order)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "k1", "db");
    tx_db_put(&bed, 0, "k3", "db");
    tx_db_put(&bed, 0, "k5", "db");
    tx_db_put(&bed, 0, "l", "db");
    tx_db_put(&bed, 0, "j", "db");
    tx_db_put(&bed, 8, "k2", "8");
    tx_bed_begin(&bed, 0);
    tx_expect_scan(bed.ctx, 0, "k", "k1=db k3=db k5=db ");
    EXPECT_RC(tx_put(bed.ctx, 0, "k0", "own"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "k3", "own"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "k4", "own"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "k9", "own"), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 8, "k6", "own"), SAP_OK);
    EXPECT_RC(tx_del(bed.ctx, 0, "k5"), SAP_OK);
    EXPECT_RC(tx_del(bed.ctx, 0, "k7"), SAP_OK);
    tx_expect_scan(bed.ctx, 0, "k", "k0=own k1=db k3=own k4=own k9=own ");
    tx_expect_scan(bed.ctx, 0, "", "j=db k0=own k1=db k3=own k4=own k9=own l=db ");
    tx_expect_scan(bed.ctx, 8, "k", "k2=8 k6=own ");
    tx_expect_scan(bed.ctx, 0, "k5", "");
    tx_expect_scan(bed.ctx, 0, "nothing", "");
    tx_bed_apply(&bed);
    tx_bed_begin(&bed, 1);
    tx_expect_scan(bed.ctx, 0, "", "j=db k0=own k1=db k3=own k4=own k9=own l=db ");
    tx_bed_close(&bed);
}
END_TEST

typedef struct WithinScan {
    SapRunnerTxCtxV0 *ctx;
    uint32_t rows;
    uint8_t frame[200];
    uint32_t frame_len;
} WithinScan;

static int use_context(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *fn_ctx)
{
    WithinScan *w = (WithinScan *)fn_ctx;
    uint32_t rows = 0;

    (void)val;
    (void)val_len;
    w->rows++;
    EXPECT_RC(tx_put(w->ctx, 0, "new", "x"), SAP_BUSY);
    EXPECT_RC(tx_del(w->ctx, 0, "new"), SAP_BUSY);
    EXPECT_RC(sap_runner_txstack_v0_push(w->ctx), SAP_BUSY);
    EXPECT_RC(sap_runner_txstack_v0_abort(w->ctx), SAP_BUSY);
    EXPECT_RC(sap_runner_txstack_v0_commit(w->ctx), SAP_BUSY);
    EXPECT_RC(sap_runner_txctx_v0_reset(w->ctx, NULL, 0), SAP_BUSY);
    EXPECT_RC(sap_runner_txctx_v0_get(w->ctx, 0, key, key_len, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_scan(w->ctx, 0, "", 0, tx_count_rows, &rows), SAP_OK);
    EXPECT(rows == 3, "%u rows within", rows);
    EXPECT_RC(sap_runner_txctx_v0_push_intent(w->ctx, w->frame, w->frame_len), SAP_OK);
    return 0;
}

START_TEST(a_scan_lets_its_callback_read_and_send_and_refuses_writes)
{
    TxBed bed;
    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "a", "1");
    tx_db_put(&bed, 0, "c", "1");
    tx_bed_begin(&bed, 0);
    EXPECT_RC(sap_runner_txstack_v0_push(bed.ctx), SAP_OK);
    EXPECT_RC(tx_put(bed.ctx, 0, "b", "2"), SAP_OK);
    WithinScan w = {.ctx = bed.ctx};
    w.frame_len = tx_intent(w.frame, sizeof w.frame, "m", -1);
    EXPECT_RC(sap_runner_txctx_v0_scan(bed.ctx, 0, "", 0, use_context, &w), SAP_OK);
    ck_assert_uint_eq(w.rows, 3);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), 3);
    EXPECT_RC(tx_put(bed.ctx, 0, "new", "x"), SAP_OK);
    EXPECT_RC(sap_runner_txstack_v0_commit(bed.ctx), SAP_OK);
    tx_bed_apply(&bed);
    tx_db_expect(&bed, 0, "new", "x");
    tx_bed_close(&bed);
}
END_TEST

/* ---- Validation ----------------------------------------------------------------------------- */

typedef struct ConflictCase {
    const char *name;
    void (*block)(TxBed *bed);
    void (*other)(TxBed *bed);
    int expected;
} ConflictCase;

static void read_a(TxBed *bed)
{
    tx_expect_get(bed->ctx, 0, "k1", "1");
}

static void read_none(TxBed *bed)
{
    tx_expect_get(bed->ctx, 0, "k2", NULL);
}

static void read_own(TxBed *bed)
{
    EXPECT_RC(tx_put(bed->ctx, 0, "k1", "own"), SAP_OK);
    tx_expect_get(bed->ctx, 0, "k1", "own");
}

static void read_in_aborted_child(TxBed *bed)
{
    EXPECT_RC(sap_runner_txstack_v0_push(bed->ctx), SAP_OK);
    tx_expect_get(bed->ctx, 0, "k1", "1");
    EXPECT_RC(sap_runner_txstack_v0_abort(bed->ctx), SAP_OK);
}

static void scan_k(TxBed *bed)
{
    tx_expect_scan(bed->ctx, 0, "k", "k1=1 k3=3 k5=5 ");
}

static void scan_to_k3(TxBed *bed)
{
    tx_expect_scan_to(bed->ctx, 0, "k", "k3", "k1=1 k3=3 ");
}

static void scan_to_own(TxBed *bed)
{
    EXPECT_RC(tx_put(bed->ctx, 0, "k4", "own"), SAP_OK);
    tx_expect_scan_to(bed->ctx, 0, "k", "k4", "k1=1 k3=3 k4=own ");
}

static void scan_to_own_over_row(TxBed *bed)
{
    EXPECT_RC(tx_put(bed->ctx, 0, "k3", "own"), SAP_OK);
    tx_expect_scan_to(bed->ctx, 0, "k", "k3", "k1=1 k3=own ");
}

static void scan_nothing(TxBed *bed)
{
    tx_expect_scan(bed->ctx, 0, "x", "");
}

static void scan_dup(TxBed *bed)
{
    tx_expect_scan_to(bed->ctx, TX_DUPSORT, "", "d1", "d1=a ");
}

static void get_dup(TxBed *bed)
{
    tx_expect_get(bed->ctx, TX_DUPSORT, "d1", "a");
}

static void read_reverse(TxBed *bed)
{
    tx_expect_get(bed->ctx, TX_REVERSE, "r", "1");
}

static void nothing(TxBed *bed)
{
    (void)bed;
}

static void change_a(TxBed *bed)
{
    tx_db_put(bed, 0, "k1", "2");
}

static void same_a(TxBed *bed)
{
    tx_db_put(bed, 0, "k1", "1");
}

static void lengthen_a(TxBed *bed)
{
    tx_db_put(bed, 0, "k1", "1\n");
}

static void remove_a(TxBed *bed)
{
    tx_db_put(bed, 0, "k1", NULL);
}

static void add_k2(TxBed *bed)
{
    tx_db_put(bed, 0, "k2", "phantom");
}

static void add_k35(TxBed *bed)
{
    tx_db_put(bed, 0, "k35", "phantom");
}

static void add_k9(TxBed *bed)
{
    tx_db_put(bed, 0, "k9", "phantom");
}

static void add_x(TxBed *bed)
{
    tx_db_put(bed, 0, "x1", "phantom");
}

static void remove_k5(TxBed *bed)
{
    tx_db_put(bed, 0, "k5", NULL);
}

static void change_k3(TxBed *bed)
{
    tx_db_put(bed, 0, "k3", "?");
}

static void move_k3(TxBed *bed)
{
    tx_db_put(bed, 0, "k3", NULL);
    tx_db_put(bed, 0, "k31", "3");
}

static void add_dup_d1(TxBed *bed)
{
    tx_db_put(bed, TX_DUPSORT, "d1", "z");
}

static void add_dup_d2(TxBed *bed)
{
    tx_db_put(bed, TX_DUPSORT, "d2", "z");
}

static void change_reverse(TxBed *bed)
{
    tx_db_put(bed, TX_REVERSE, "r", "2");
}

static void elsewhere(TxBed *bed)
{
    tx_db_put(bed, 8, "k1", "2");
    tx_db_put(bed, 0, "j", "2");
}

static const ConflictCase conflict_cases[] = {
    {"a row, changed", read_a, change_a, SAP_CONFLICT},
    {"a row, longer by a byte", read_a, lengthen_a, SAP_CONFLICT},
    {"a row, gone", read_a, remove_a, SAP_CONFLICT},
    {"a row, put again as it was", read_a, same_a, SAP_OK},
    {"a row, others changed", read_a, elsewhere, SAP_OK},
    {"a row, one beside it came", read_a, add_k2, SAP_OK},
    {"no row, and it came", read_none, add_k2, SAP_CONFLICT},
    {"no row, others changed", read_none, change_a, SAP_OK},
    {"a row that the block wrote before", read_own, change_a, SAP_OK},
    {"a row read in a child that aborted", read_in_aborted_child, change_a, SAP_CONFLICT},
    {"a scan, a row changed", scan_k, change_k3, SAP_CONFLICT},
    {"a scan, a row gone", scan_k, remove_k5, SAP_CONFLICT},
    {"a scan, a phantom within", scan_k, add_k2, SAP_CONFLICT},
    {"a scan, a phantom behind the last", scan_k, add_k9, SAP_CONFLICT},
    {"a scan, a row under another key", scan_k, move_k3, SAP_CONFLICT},
    {"a scan, rows elsewhere", scan_k, elsewhere, SAP_OK},
    {"a scan, a row outside of its prefix", scan_k, add_x, SAP_OK},
    {"a scan that stopped, a phantom before", scan_to_k3, add_k2, SAP_CONFLICT},
    {"a scan that stopped, its last row changed", scan_to_k3, change_k3, SAP_CONFLICT},
    {"a scan that stopped, a row right behind", scan_to_k3, add_k35, SAP_OK},
    {"a scan that stopped, a row behind gone", scan_to_k3, remove_k5, SAP_OK},
    {"a scan that stopped at an own row, a phantom before", scan_to_own, add_k35, SAP_CONFLICT},
    {"a scan that stopped at an own row, a row behind", scan_to_own, remove_k5, SAP_OK},
    {"a scan that stopped over a row, a phantom before", scan_to_own_over_row, add_k2,
     SAP_CONFLICT},
    {"a scan that stopped over a row, a row behind", scan_to_own_over_row, add_k35, SAP_OK},
    {"a scan of nothing, and something came", scan_nothing, add_x, SAP_CONFLICT},
    {"a scan of nothing, rows elsewhere", scan_nothing, elsewhere, SAP_OK},
    {"a scan of pairs, one more of the key where it stopped", scan_dup, add_dup_d1, SAP_CONFLICT},
    {"a scan of pairs, one behind", scan_dup, add_dup_d2, SAP_OK},
    {"the first pair, one more behind it", get_dup, add_dup_d1, SAP_OK},
    {"a table with a comparator", read_reverse, change_reverse, SAP_CONFLICT},
    {"a table with a comparator, others changed", read_reverse, elsewhere, SAP_OK},
    {"nothing", nothing, change_a, SAP_OK},
};
enum { CONFLICT_CASES = sizeof conflict_cases / sizeof conflict_cases[0] };

START_TEST(what_was_read_conflicts_exactly_when_it_changed)
{
    uint32_t conflicts = 0;

    for (size_t i = 0; i < CONFLICT_CASES; i++) {
        const ConflictCase *c = &conflict_cases[i];
        TxBed bed;
        SapTxnCtx *txn;

        expect_context("%s", c->name);
        tx_bed_open(&bed, 4096);
        tx_db_put(&bed, 0, "k1", "1");
        tx_db_put(&bed, 0, "k3", "3");
        tx_db_put(&bed, 0, "k5", "5");
        tx_db_put(&bed, TX_DUPSORT, "d1", "a");
        tx_db_put(&bed, TX_DUPSORT, "d1", "b");
        tx_db_put(&bed, TX_REVERSE, "r", "1");
        tx_bed_begin(&bed, 0);
        c->block(&bed);
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, txn), SAP_OK);
        sap_txn_abort(txn);
        c->other(&bed);
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        int rc = sap_runner_txctx_v0_validate(bed.ctx, txn);
        EXPECT(rc == c->expected, "answered %d", rc);
        conflicts += rc == SAP_CONFLICT;
        sap_txn_abort(txn);
        tx_bed_close(&bed);
    }
    printf("validation: %d cases, %u conflicts\n", (int)CONFLICT_CASES, conflicts);
}
END_TEST

/* ---- Intents -------------------------------------------------------------------------------- */

START_TEST(intents_are_kept_in_order_as_they_were_pushed)
{
    enum { COUNT = 300 };
    TxBed bed;
    uint8_t frame[200];
    char name[16];

    tx_bed_open(&bed, 4096);
    tx_bed_begin(&bed, 0);
    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "m%d", i);
        uint32_t len = tx_intent(frame, sizeof frame, name, i % 3 == 0 ? i : -1);
        EXPECT_RC(sap_runner_txctx_v0_push_intent(bed.ctx, frame, len), SAP_OK);
    }
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), COUNT);
    for (int i = 0; i < COUNT; i++) {
        const void *got;
        uint32_t got_len;
        snprintf(name, sizeof name, "m%d", i);
        uint32_t len = tx_intent(frame, sizeof frame, name, i % 3 == 0 ? i : -1);
        EXPECT_RC(sap_runner_txctx_v0_intent(bed.ctx, (uint32_t)i, &got, &got_len), SAP_OK);
        ck_assert_uint_eq(got_len, len);
        ck_assert_mem_eq(got, frame, len);
    }
    tx_bed_begin(&bed, 0);
    ck_assert_uint_eq(sap_runner_txctx_v0_intent_count(bed.ctx), 0);
    tx_bed_close(&bed);
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

/* All that a block can do, until the first thing that fails. */
static int one_block(TxBed *bed)
{
    uint8_t frame[200];
    uint32_t frame_len = tx_intent(frame, sizeof frame, "m", 5);
    uint32_t rows = 0;
    char key[16];
    int rc = SAP_OK;

    for (int i = 0; i < 40 && rc == SAP_OK; i++) {
        snprintf(key, sizeof key, "row%d", i);
        rc = tx_put(bed->ctx, i % 2 == 0 ? 0 : 8, key, "a value of some length");
        if (rc == SAP_OK && i % 8 == 0) {
            rc = sap_runner_txstack_v0_push(bed->ctx);
        }
        if (rc == SAP_OK) {
            rc = tx_del(bed->ctx, 8, key);
        }
        if (rc == SAP_OK) {
            rc = sap_runner_txctx_v0_push_intent(bed->ctx, frame, frame_len);
        }
        if (rc == SAP_OK) {
            rc = sap_runner_txctx_v0_get(bed->ctx, 8, "committed", 9, NULL, NULL);
        }
    }
    if (rc == SAP_OK) {
        rc = sap_runner_txctx_v0_scan(bed->ctx, 0, "r", 1, tx_count_rows, &rows);
    }
    if (rc == SAP_OK) {
        rc = sap_runner_txctx_v0_scan(bed->ctx, 8, "", 0, tx_count_rows, &rows);
    }
    for (int i = 0; rc == SAP_OK && sap_runner_txstack_v0_depth(bed->ctx) > 0; i++) {
        rc = i % 2 == 0 ? sap_runner_txstack_v0_commit(bed->ctx)
                        : sap_runner_txstack_v0_abort(bed->ctx);
    }
    if (rc == SAP_OK) {
        EXPECT(rows == 21, "%u rows", rows);
    }
    return rc;
}

START_TEST(every_allocation_that_fails_is_said_and_the_context_goes_on)
{
    uint64_t failed = 0;

    for (uint64_t nth = 1;; nth++) {
        TxBed bed;
        size_t before = mem_live_total();

        expect_context("allocation %llu", (unsigned long long)nth);
        tx_bed_open(&bed, 256);
        tx_db_put(&bed, 8, "committed", "x");
        sap_runner_txctx_v0_dispose(bed.ctx);
        bed.ctx = NULL;
        SapTxnCtx *snapshot;
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, SAP_TXN_RDONLY, &snapshot), SAP_OK);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = sap_runner_txctx_v0_create(bed.db, &bed.ctx);
        if (rc == SAP_OK) {
            rc = sap_runner_txctx_v0_reset(bed.ctx, snapshot, 0);
            EXPECT_RC(rc, SAP_OK);
            rc = one_block(&bed);
        }
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT_RC(rc, fired ? SAP_NOMEM : SAP_OK);
        if (fired && bed.ctx != NULL) {
            /* It serves the next block. */
            EXPECT_RC(sap_runner_txctx_v0_reset(bed.ctx, snapshot, 0), SAP_OK);
            EXPECT_RC(one_block(&bed), SAP_OK);
        }
        sap_txn_abort(snapshot);
        tx_bed_close(&bed);
        EXPECT(mem_live_total() == before, "%zu bytes leaked", mem_live_total() - before);
        if (!fired) {
            break;
        }
        failed++;
    }
    printf("txctx: %llu allocations failed once each\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 10);
}
END_TEST

/* A scan whose record finds no memory has shown rows that validation would not know of. */
START_TEST(rows_that_were_shown_and_not_recorded_make_validation_fail)
{
    uint64_t shown = 0;

    for (uint64_t nth = 1;; nth++) {
        TxBed bed;
        SapTxnCtx *txn;
        uint32_t rows = 0;

        tx_bed_open(&bed, 4096);
        tx_db_put(&bed, 0, "a", "1");
        tx_bed_begin(&bed, 0);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = sap_runner_txctx_v0_scan(bed.ctx, 0, "", 0, tx_count_rows, &rows);
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT_RC(rc, fired ? SAP_NOMEM : SAP_OK);
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, txn),
                  fired && rows > 0 ? SAP_NOMEM : SAP_OK);
        sap_txn_abort(txn);
        shown += fired && rows > 0;
        tx_bed_close(&bed);
        if (!fired) {
            break;
        }
    }
    printf("scans that failed after rows were shown: %llu\n", (unsigned long long)shown);
    ck_assert_uint_gt(shown, 0);
}
END_TEST

START_TEST(validation_and_apply_that_run_out_of_memory_can_be_tried_again)
{
    uint64_t failed = 0;

    for (uint64_t nth = 1;; nth++) {
        TxBed bed;
        SapTxnCtx *txn;

        tx_bed_open(&bed, 256);
        tx_db_put(&bed, 8, "committed", "x");
        tx_bed_begin(&bed, 0);
        EXPECT_RC(one_block(&bed), SAP_OK);
        for (int i = 0; i < 300; i++) {
            char key[16];
            snprintf(key, sizeof key, "more%d", i);
            EXPECT_RC(tx_put(bed.ctx, 8, key, "so that the DB needs more pages"), SAP_OK);
        }
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = sap_runner_txctx_v0_validate(bed.ctx, txn);
        if (rc == SAP_OK) {
            rc = sap_runner_txctx_v0_apply(bed.ctx, txn);
        }
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT_RC(rc, fired ? SAP_NOMEM : SAP_OK);
        sap_txn_abort(txn);
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, txn), SAP_OK);
        EXPECT_RC(sap_runner_txctx_v0_apply(bed.ctx, txn), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        tx_db_expect(&bed, 0, "row0", "a value of some length");
        tx_bed_close(&bed);
        if (!fired) {
            break;
        }
        failed++;
    }
    printf("validate and apply: %llu allocations failed once each\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 0);
}
END_TEST

START_TEST(a_context_that_is_used_again_allocates_nothing)
{
    TxBed bed;
    SapTxnCtx *txn;

    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 8, "committed", "x");
    for (int round = 0; round < 20; round++) {
        uint64_t before;

        tx_bed_begin(&bed, 0);
        fault_reset();
        before = fault_alloc_count();
        EXPECT_RC(sap_runner_txctx_v0_reset(bed.ctx, bed.snapshot, 0), SAP_OK);
        EXPECT_RC(one_block(&bed), SAP_OK);
        uint64_t allocated = fault_alloc_count() - before;
        EXPECT(round < 2 || allocated == 0, "round %d: %llu allocations", round,
               (unsigned long long)allocated);
        EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &txn), SAP_OK);
        before = fault_alloc_count();
        EXPECT_RC(sap_runner_txctx_v0_validate(bed.ctx, txn), SAP_OK);
        allocated = fault_alloc_count() - before;
        EXPECT(round < 2 || allocated == 0, "round %d: %llu allocations of validation", round,
               (unsigned long long)allocated);
        sap_txn_abort(txn);
    }
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_large_block_leaves_no_large_buffers_behind)
{
    static char big[3 << 20];
    TxBed bed;

    memset(big, 'x', sizeof big - 1);
    tx_bed_open(&bed, 4096);
    size_t before = mem_live_bytes(MEM_COMMON);
    tx_bed_begin(&bed, 0);
    EXPECT_RC(tx_put(bed.ctx, 0, "big", big), SAP_OK);
    ck_assert_uint_gt(mem_live_bytes(MEM_COMMON), before + sizeof big - 1);
    tx_bed_begin(&bed, 0);
    ck_assert_uint_lt(mem_live_bytes(MEM_COMMON), before + (1 << 20));
    tx_bed_close(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_txctx");
    TCase *tcase = tcase_create("txctx");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_block_reads_its_own_writes_and_the_db_sees_them_only_after_apply);
    tcase_add_test(tcase, a_delete_of_no_row_is_done_and_undone_like_any_other);
    tcase_add_test(tcase, what_is_read_again_and_again_is_kept_once);
    tcase_add_test(tcase, a_value_that_the_block_was_shown_can_be_put_elsewhere);
    tcase_add_test(tcase, every_key_that_fits_the_db_can_be_staged);
    tcase_add_test(tcase, misuse_is_an_error_and_changes_nothing);
    tcase_add_test(tcase, a_context_that_only_reads_refuses_writes_and_intents);
    tcase_add_test(tcase, a_scan_merges_own_writes_in_key_order);
    tcase_add_test(tcase, a_scan_lets_its_callback_read_and_send_and_refuses_writes);
    tcase_add_test(tcase, what_was_read_conflicts_exactly_when_it_changed);
    tcase_add_test(tcase, intents_are_kept_in_order_as_they_were_pushed);
    tcase_add_test(tcase, every_allocation_that_fails_is_said_and_the_context_goes_on);
    tcase_add_test(tcase, rows_that_were_shown_and_not_recorded_make_validation_fail);
    tcase_add_test(tcase, validation_and_apply_that_run_out_of_memory_can_be_tried_again);
    tcase_add_test(tcase, a_context_that_is_used_again_allocates_nothing);
    tcase_add_test(tcase, a_large_block_leaves_no_large_buffers_behind);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
