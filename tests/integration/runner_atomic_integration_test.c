/* Atomic blocks through the whole of it: context, nesting, attempt, host, outbox and timers on one
 * DB in a file, with other writers between a block and its commit. */
#include "runner/host_v0.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "support/tx.h"

#include <stdio.h>
#include <string.h>

#include "wit_schema_dbis.h"

enum { TIMEOUT_S = 300, ORDERS = 40 };

/* A shop: a block takes what was ordered off the stock, writes the order, tells shipping and arms a
 * reminder. The gift is in a nested block that aborts when there is none left. */
typedef struct Shop {
    SapEnv *db;
    uint32_t runs;
    uint32_t meddle;       /* runs in which another writer takes from the stock meanwhile */
    uint32_t meddle_gifts; /* in which another writer adds a gift */
    char order[16];
    SapRunnerV0Message handled;
} Shop;

static int read_number(SapRunnerHostV0 *host, const char *key, uint32_t *number_out)
{
    const void *val = NULL;
    uint32_t len = 0;
    char text[16] = {0};
    unsigned number = 0;
    int rc = sap_runner_host_v0_get(host, 8, key, (uint32_t)strlen(key), &val, &len);

    if (rc == SAP_OK) {
        memcpy(text, val, len < sizeof text ? len : sizeof text - 1);
        EXPECT(sscanf(text, "%u", &number) == 1, "not a number: %s", text);
        *number_out = number;
    }
    return rc;
}

static int write_number(SapRunnerHostV0 *host, const char *key, uint32_t number)
{
    char text[16];
    int len = snprintf(text, sizeof text, "%u", number);

    return sap_runner_host_v0_put(host, 8, key, (uint32_t)strlen(key), text, (uint32_t)len);
}

static void db_add(Shop *shop, const char *key, int amount)
{
    SapTxnCtx *txn;
    const void *val;
    uint32_t len;
    char text[16] = {0};
    unsigned number;

    EXPECT_RC(sap_txn_begin_rc(shop->db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    EXPECT_RC(sap_txn_get_dbi(txn, 8, key, (uint32_t)strlen(key), &val, &len), SAP_OK);
    memcpy(text, val, len);
    EXPECT(sscanf(text, "%u", &number) == 1, "not a number");
    snprintf(text, sizeof text, "%u", number + (unsigned)amount);
    EXPECT_RC(sap_txn_put_dbi(txn, 8, key, (uint32_t)strlen(key), text, (uint32_t)strlen(text)),
              SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static int add_gift(SapRunnerHostV0 *host, Shop *shop)
{
    SapRunnerV0Message gift = {.to_worker = 6, .payload = "gift", .payload_len = 4};
    uint32_t gifts = 0;

    EXPECT_RC(sap_runner_host_v0_begin(host), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_emit(host, &gift), SAP_OK);
    EXPECT_RC(read_number(host, "gifts", &gifts), SAP_OK);
    if (shop->runs <= shop->meddle_gifts) {
        db_add(shop, "gifts", 1);
    }
    if (gifts == 0) {
        return sap_runner_host_v0_abort(host);
    }
    EXPECT_RC(write_number(host, "gifts", gifts - 1), SAP_OK);
    return sap_runner_host_v0_commit(host);
}

static int order_block(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Shop *shop = (Shop *)fn_ctx;
    SapRunnerHostV0 host = {
        .ctx = ctx, .worker_id = 1, .owner = 5, .now_ms = 1000, .msg = &shop->handled};
    SapRunnerV0Message ship = {.to_worker = 6, .payload = "ship", .payload_len = 4};
    SapRunnerV0Message remind = {.to_worker = 1, .payload = "paid?", .payload_len = 5};
    uint32_t stock = 0;

    shop->runs++;
    EXPECT_RC(read_number(&host, "stock", &stock), SAP_OK);
    if (shop->runs <= shop->meddle) {
        db_add(shop, "stock", -1);
    }
    if (stock == 0) {
        return SAP_NOTFOUND;
    }
    EXPECT_RC(write_number(&host, "stock", stock - 1), SAP_OK);
    EXPECT_RC(sap_runner_host_v0_put(&host, 8, shop->order, (uint32_t)strlen(shop->order), "x", 1),
              SAP_OK);
    EXPECT_RC(sap_runner_host_v0_emit(&host, &ship), SAP_OK);
    EXPECT_RC(add_gift(&host, shop), SAP_OK);
    return sap_runner_host_v0_arm(&host, 2000, &remind);
}

static int order(Shop *shop, const char *name, uint32_t max_retries,
                 SapRunnerAttemptV0Stats *stats_out)
{
    snprintf(shop->order, sizeof shop->order, "%s", name);
    shop->runs = 0;
    shop->handled = (SapRunnerV0Message){
        .to_worker = 1, .message_id = shop->order, .message_id_len = (uint32_t)strlen(shop->order)};
    SapRunnerAttemptV0 attempt = {.db = shop->db,
                                  .max_retries = max_retries,
                                  .backoff_us = 1,
                                  .block = order_block,
                                  .block_ctx = shop};
    return sap_runner_attempt_v0_run(&attempt, stats_out);
}

static void expect_sent(SapEnv *db, uint64_t emits, uint64_t timers)
{
    EXPECT(tx_db_rows(db, WIT_DBI_OUTBOX) == emits, "%llu in the outbox instead of %llu",
           (unsigned long long)tx_db_rows(db, WIT_DBI_OUTBOX), (unsigned long long)emits);
    EXPECT(tx_db_rows(db, WIT_DBI_TIMERS) == timers, "%llu timers instead of %llu",
           (unsigned long long)tx_db_rows(db, WIT_DBI_TIMERS), (unsigned long long)timers);
}

static void shop_open(FileBed *files, Shop *shop, const char *stock, const char *gifts)
{
    file_bed_start(files);
    *shop = (Shop){.db = file_bed_open(files)};
    tx_open_runner_tables(shop->db);
    EXPECT_RC(sap_dbi_open(shop->db, 8, NULL, NULL, 0), SAP_OK);
    tx_db_set(shop->db, 8, "stock", stock);
    tx_db_set(shop->db, 8, "gifts", gifts);
}

static void shop_close(FileBed *files, Shop *shop)
{
    file_bed_close(shop->db);
    file_bed_end(files);
}

START_TEST(a_writer_in_between_is_a_conflict_and_the_block_runs_on_what_it_left)
{
    FileBed files;
    Shop shop;
    SapRunnerAttemptV0Stats stats;

    shop_open(&files, &shop, "5", "0");
    shop.meddle = 2;
    EXPECT_RC(order(&shop, "order-1", 3, &stats), SAP_OK);
    ck_assert_uint_eq(stats.conflicts, 2);
    ck_assert_uint_eq(stats.attempts, 3);
    tx_db_expect_row(shop.db, 8, "stock", "2"); /* 5, two by the other, one by the block */
    tx_db_expect_row(shop.db, 8, "order-1", "x");
    expect_sent(shop.db, 1, 1); /* of one run, not of three */
    shop_close(&files, &shop);
}
END_TEST

START_TEST(when_retries_are_used_up_neither_rows_nor_messages_are_left)
{
    FileBed files;
    Shop shop;
    SapRunnerAttemptV0Stats stats;

    shop_open(&files, &shop, "50", "5");
    shop.meddle = UINT32_MAX;
    EXPECT_RC(order(&shop, "order-1", 4, &stats), SAP_CONFLICT);
    ck_assert_uint_eq(stats.attempts, 5);
    tx_db_expect_row(shop.db, 8, "stock", "45");
    tx_db_expect_row(shop.db, 8, "gifts", "5");
    tx_db_expect_row(shop.db, 8, "order-1", NULL);
    expect_sent(shop.db, 0, 0);
    shop_close(&files, &shop);
}
END_TEST

START_TEST(a_nested_block_commits_and_aborts_with_its_messages)
{
    FileBed files;
    Shop shop;
    SapRunnerAttemptV0Stats stats;

    shop_open(&files, &shop, "5", "1");
    EXPECT_RC(order(&shop, "order-1", 0, &stats), SAP_OK);
    tx_db_expect_row(shop.db, 8, "gifts", "0");
    expect_sent(shop.db, 2, 1);
    EXPECT_RC(order(&shop, "order-2", 0, &stats), SAP_OK); /* no gift is left */
    tx_db_expect_row(shop.db, 8, "gifts", "0");
    tx_db_expect_row(shop.db, 8, "stock", "3");
    expect_sent(shop.db, 3, 2);
    shop_close(&files, &shop);
}
END_TEST

START_TEST(what_an_aborted_nested_block_has_read_is_still_checked)
{
    FileBed files;
    Shop shop;
    SapRunnerAttemptV0Stats stats;

    shop_open(&files, &shop, "5", "0");
    /* A gift comes after the nested block saw none and aborted: it would have decided otherwise. */
    shop.meddle_gifts = 1;
    EXPECT_RC(order(&shop, "order-1", 3, &stats), SAP_OK);
    ck_assert_uint_eq(stats.conflicts, 1);
    tx_db_expect_row(shop.db, 8, "gifts", "0"); /* the second run found it */
    expect_sent(shop.db, 2, 1);
    shop_close(&files, &shop);
}
END_TEST

START_TEST(a_block_that_gives_up_leaves_nothing)
{
    FileBed files;
    Shop shop;
    SapRunnerAttemptV0Stats stats;

    shop_open(&files, &shop, "0", "9");
    EXPECT_RC(order(&shop, "order-1", 3, &stats), SAP_NOTFOUND);
    ck_assert_uint_eq(stats.attempts, 1);
    tx_db_expect_row(shop.db, 8, "gifts", "9");
    expect_sent(shop.db, 0, 0);
    shop_close(&files, &shop);
}
END_TEST

START_TEST(what_was_answered_is_there_after_the_file_is_opened_again)
{
    FileBed files;
    Shop shop;
    char name[16];
    uint32_t done = 0;

    shop_open(&files, &shop, "25", "10");
    for (uint32_t i = 0; i < ORDERS; i++) {
        SapRunnerAttemptV0Stats stats;

        snprintf(name, sizeof name, "order-%u", i);
        shop.meddle = i % 3 == 0 && i < 15 ? 1 : 0;
        int rc = order(&shop, name, 3, &stats);
        EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "answered %d", rc);
        done += rc == SAP_OK;
    }
    ck_assert_uint_eq(done, 20); /* 5 of 25 went to the other writer */
    file_bed_close(shop.db);
    shop.db = file_bed_open(&files);
    tx_db_expect_row(shop.db, 8, "stock", "0");
    tx_db_expect_row(shop.db, 8, "gifts", "0");
    ck_assert_uint_eq(tx_db_rows(shop.db, 8), 2 + done);
    expect_sent(shop.db, done + 10, done);
    printf("orders: %d, done %u\n", (int)ORDERS, done);
    shop_close(&files, &shop);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_atomic_integration");
    TCase *tcase = tcase_create("atomic");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_writer_in_between_is_a_conflict_and_the_block_runs_on_what_it_left);
    tcase_add_test(tcase, when_retries_are_used_up_neither_rows_nor_messages_are_left);
    tcase_add_test(tcase, a_nested_block_commits_and_aborts_with_its_messages);
    tcase_add_test(tcase, what_an_aborted_nested_block_has_read_is_still_checked);
    tcase_add_test(tcase, a_block_that_gives_up_leaves_nothing);
    tcase_add_test(tcase, what_was_answered_is_there_after_the_file_is_opened_again);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
