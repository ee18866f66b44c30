/* When the next timer is due, and how long one may sleep until then. */
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

static void expect_next(int64_t due)
{
    SapTxnCtx *txn = NULL;
    int64_t got = 12345;

    EXPECT_RC(sap_txn_begin_rc(post.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_scheduler_v0_next_due(txn, &got), SAP_OK);
    sap_txn_abort(txn);
    EXPECT(got == due, "due at %lld instead of %lld", (long long)got, (long long)due);
}

static uint64_t arm(int64_t due)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, 1, POST_NORMAL, "t");
    SapTxnCtx *txn = post_begin(post.db);
    uint64_t seq = 0;

    EXPECT_RC(sap_runner_timer_v0_append(txn, due, frame, len, &seq), SAP_OK);
    post_commit(txn);
    return seq;
}

START_TEST(the_next_timer_is_the_earliest_of_all)
{
    int64_t got = 12345;
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(sap_runner_scheduler_v0_next_due(txn, &got), SAP_NOTFOUND);
    EXPECT_RC(sap_runner_scheduler_v0_next_due(NULL, &got), SAP_ERROR);
    EXPECT_RC(sap_runner_scheduler_v0_next_due(txn, NULL), SAP_ERROR);
    EXPECT(got == 12345, "the time was written");
    sap_txn_abort(txn);
    arm(INT64_MAX);
    expect_next(INT64_MAX);
    arm(500);
    expect_next(500);
    arm(1000);
    expect_next(500);
    arm(0);
    expect_next(0);
    arm(-1);
    expect_next(-1);
    uint64_t seq = arm(INT64_MIN);
    expect_next(INT64_MIN);
    txn = post_begin(post.db);
    EXPECT_RC(sap_runner_timer_v0_cancel(txn, INT64_MIN, seq), SAP_OK);
    post_commit(txn);
    expect_next(-1);
}
END_TEST

START_TEST(sleep_lasts_until_the_timer_and_no_longer_than_allowed)
{
    static const struct {
        int64_t now, due;
        uint32_t max, expected;
    } cases[] = {
        {1000, 1500, 2000, 500},
        {1000, 1500, 400, 400},
        {1000, 1500, 500, 500},
        {1000, 1000, 2000, 0},
        {1000, 999, 2000, 0},
        {1000, 1001, 2000, 1},
        {1000, 5000, 0, 0},
        {-1000, 1000, 5000, 2000},
        {INT64_MIN, INT64_MAX, 7, 7},
        {INT64_MIN, INT64_MAX, UINT32_MAX, UINT32_MAX},
        {INT64_MAX, INT64_MIN, 7, 0},
        {0, INT64_MAX, UINT32_MAX, UINT32_MAX},
        {0, (int64_t)UINT32_MAX + 5, UINT32_MAX, UINT32_MAX},
        {INT64_MAX - 1, INT64_MAX, 9, 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t got =
            sap_runner_scheduler_v0_sleep_budget(cases[i].now, cases[i].due, cases[i].max);
        EXPECT(got == cases[i].expected, "case %zu: %u instead of %u", i, got, cases[i].expected);
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_scheduler");
    TCase *tc = tcase_create("scheduler");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, the_next_timer_is_the_earliest_of_all);
    tcase_add_test(tc, sleep_lasts_until_the_timer_and_no_longer_than_allowed);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
