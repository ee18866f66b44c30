/* Ids of handled messages are remembered, for a time. */
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { NOW = 1000000, TTL = 5000, ME = 1 };

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

static void accept_id(const void *id, uint32_t len, const char *payload, int64_t now)
{
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(
        sap_runner_dedupe_v0_accept(txn, ME, id, len, payload, (uint32_t)strlen(payload), now, TTL),
        SAP_OK);
    post_commit(txn);
}

static int seen_by(int64_t worker, const void *id, uint32_t len, const char *payload, int64_t now,
                   int *differs)
{
    SapTxnCtx *txn = post_begin(post.db);
    int seen = 99;

    EXPECT_RC(sap_runner_dedupe_v0_seen(txn, worker, id, len, payload, (uint32_t)strlen(payload),
                                        now, &seen, differs),
              SAP_OK);
    sap_txn_abort(txn);
    EXPECT(seen == 0 || seen == 1, "neither 0 nor 1: %d", seen);
    return seen;
}

static int seen_id(const void *id, uint32_t len, const char *payload, int64_t now, int *differs)
{
    return seen_by(ME, id, len, payload, now, differs);
}

static uint64_t sweep(int64_t now, uint32_t max)
{
    SapTxnCtx *txn = post_begin(post.db);
    uint64_t removed = 99;

    EXPECT_RC(sap_runner_dedupe_v0_sweep(txn, now, max, &removed), SAP_OK);
    post_commit(txn);
    return removed;
}

START_TEST(an_accepted_id_is_seen_until_it_expires)
{
    int differs = 9;

    EXPECT(seen_id("a", 1, "p", NOW, &differs) == 0, "seen before");
    accept_id("a", 1, "p", NOW);
    EXPECT(seen_id("a", 1, "p", NOW, &differs) == 1 && differs == 0, "not seen, or differs");
    EXPECT(seen_id("a", 1, "q", NOW, &differs) == 1 && differs == 1, "not seen, or the same");
    EXPECT(seen_id("a", 1, "", NOW, NULL) == 1, "not seen");
    EXPECT(seen_id("ab", 2, "p", NOW, NULL) == 0, "another id");
    EXPECT(seen_id("a", 1, "p", NOW + TTL - 1, NULL) == 1, "expired early");
    EXPECT(seen_id("a", 1, "p", NOW + TTL, NULL) == 0, "expired late");
    accept_id("a", 1, "q", NOW + TTL);
    EXPECT(seen_id("a", 1, "q", NOW + TTL, &differs) == 1 && differs == 0, "not seen again");
}
END_TEST

START_TEST(an_id_is_remembered_for_each_inbox_by_itself)
{
    static uint8_t id[300];
    static const uint32_t lengths[] = {1, 256, 257, 300};

    memset(id, 'x', sizeof id);
    for (uint32_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        accept_id(id, lengths[i], "p", NOW);
        EXPECT(seen_by(ME, id, lengths[i], "p", NOW, NULL) == 1, "length %u not seen", lengths[i]);
        EXPECT(seen_by(0, id, lengths[i], "p", NOW, NULL) == 0, "length %u seen by 0", lengths[i]);
        EXPECT(seen_by(ME + 1, id, lengths[i], "p", NOW, NULL) == 0, "length %u seen by the next",
               lengths[i]);
        EXPECT(seen_by(INT64_MAX, id, lengths[i], "p", NOW, NULL) == 0,
               "length %u seen by the last", lengths[i]);
    }
}
END_TEST

START_TEST(ids_of_every_length_are_told_apart)
{
    static uint8_t id[70000];
    static const uint32_t lengths[] = {1, 2, 16, 255, 256, 257, 258, 1000, 65535, 65536, 70000};
    uint32_t count = sizeof lengths / sizeof lengths[0];

    memset(id, 'x', sizeof id);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(seen_id(id, lengths[i], "p", NOW, NULL) == 0, "length %u seen before", lengths[i]);
        accept_id(id, lengths[i], "p", NOW);
        EXPECT(seen_id(id, lengths[i], "p", NOW, NULL) == 1, "length %u not seen", lengths[i]);
        id[lengths[i] - 1] = 'y';
        EXPECT(seen_id(id, lengths[i], "p", NOW, NULL) == 0, "the last byte does not count");
        id[lengths[i] - 1] = 'x';
    }
    EXPECT(post_seen_rows(post.db) == count, "%llu rows",
           (unsigned long long)post_seen_rows(post.db));
    EXPECT(sweep(NOW + TTL, 1000) == count, "not all expired");
    EXPECT(post_rows(post.db, POST_DEDUPE) == 0 && post_rows(post.db, POST_DEDUPE_TTL) == 0,
           "rows are left");
}
END_TEST

START_TEST(an_id_of_zero_bytes_is_no_id_and_zeros_are_bytes)
{
    int seen = 0;
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(sap_runner_dedupe_v0_seen(NULL, ME, "a", 1, "", 0, NOW, &seen, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dedupe_v0_seen(txn, -1, "a", 1, "", 0, NOW, &seen, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dedupe_v0_seen(txn, ME, NULL, 1, "", 0, NOW, &seen, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dedupe_v0_seen(txn, ME, "a", 1, "", 0, NOW, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dedupe_v0_accept(txn, -1, "a", 1, "", 0, NOW, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_dedupe_v0_accept(txn, ME, NULL, 1, "", 0, NOW, 1), SAP_ERROR);
    sap_txn_abort(txn);
    accept_id("a\0b", 3, "p", NOW);
    EXPECT(seen_id("a", 1, "p", NOW, NULL) == 0, "cut at the zero");
    EXPECT(seen_id("a\0b", 3, "p", NOW, NULL) == 1, "not seen");
}
END_TEST

START_TEST(a_sweep_removes_what_has_expired_and_no_more_than_asked)
{
    char id[16];

    for (int i = 0; i < 10; i++) {
        int len = snprintf(id, sizeof id, "id%d", i);
        accept_id(id, (uint32_t)len, "p", NOW + i);
    }
    EXPECT(sweep(NOW + TTL - 1, 100) == 0, "swept too early");
    EXPECT(sweep(NOW + TTL + 4, 3) == 3, "not the number asked for");
    EXPECT(sweep(NOW + TTL + 4, 100) == 2, "not the rest");
    EXPECT(post_seen_rows(post.db) == 5, "%llu left", (unsigned long long)post_seen_rows(post.db));
    EXPECT(seen_id("id5", 3, "p", NOW, NULL) == 1, "one too many");
    EXPECT(sweep(INT64_MAX, 100) == 5, "not the rest");
    EXPECT(post_rows(post.db, POST_DEDUPE_TTL) == 0, "rows are left");
}
END_TEST

START_TEST(counts_of_failures_do_not_expire)
{
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_ONCE, "a");
    post_expect_claim(post.db, 1, 7, NOW, "a", &claim);
    EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    EXPECT(seen_id("a", 1, "a", NOW, NULL) == 0, "a failure counts as handled");
    EXPECT(sweep(INT64_MAX, 100) == 0, "a count was swept");
    post_expect_claim(post.db, 1, 7, NOW, "a", &claim);
    EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(a_time_to_live_for_ever_does_not_wrap)
{
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(sap_runner_dedupe_v0_accept(txn, ME, "a", 1, "p", 1, NOW, UINT64_MAX), SAP_OK);
    post_commit(txn);
    EXPECT(seen_id("a", 1, "p", INT64_MAX - 1, NULL) == 1, "expired");
    EXPECT(sweep(INT64_MAX - 1, 100) == 0, "swept");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_dedupe");
    TCase *tc = tcase_create("dedupe");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, an_accepted_id_is_seen_until_it_expires);
    tcase_add_test(tc, an_id_is_remembered_for_each_inbox_by_itself);
    tcase_add_test(tc, ids_of_every_length_are_told_apart);
    tcase_add_test(tc, an_id_of_zero_bytes_is_no_id_and_zeros_are_bytes);
    tcase_add_test(tc, a_sweep_removes_what_has_expired_and_no_more_than_asked);
    tcase_add_test(tc, counts_of_failures_do_not_expire);
    tcase_add_test(tc, a_time_to_live_for_ever_does_not_wrap);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
