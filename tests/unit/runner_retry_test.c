/* A message that failed waits as a timer for its next attempt, longer each time, and its worker goes on
 * with others meanwhile. */
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <string.h>

enum { NOW = 1000000, ME = 1, OUTAGE_MS = 1000, MESSAGES = 20 };

typedef struct Bed {
    Post post;
    PostClock clock;
    SapRunnerV0Worker worker;
    int64_t fails_until_ms; /* all messages whose id begins with 'f' */
    uint32_t attempts;      /* of those */
    uint32_t done;
    uint32_t dice;
    int64_t at_ms[64]; /* of each attempt */
} Bed;

static Bed bed;

static void dice(void *out, uint32_t len, void *ctx)
{
    (void)ctx;
    memset(out, 0, len);
    memcpy(out, &bed.dice, len < sizeof bed.dice ? len : sizeof bed.dice);
}

static int plain(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    bool flaky = ((const char *)msg->message_id)[0] == 'f';

    (void)runner;
    (void)ctx;
    if (flaky) {
        EXPECT(bed.attempts < 64 || bed.clock.now_ms >= bed.fails_until_ms, "too many attempts");
        bed.at_ms[bed.attempts % 64] = bed.clock.now_ms;
        bed.attempts++;
    }
    if (flaky && bed.clock.now_ms < bed.fails_until_ms) {
        return SAP_BUSY;
    }
    bed.done++;
    return SAP_OK;
}

static SapRunnerV0Handler handler = {.plain = plain};

static void start(const SapRunnerV0Policy *policy)
{
    SapRunnerV0WorkerConfig config = {.runner = {.db = bed.post.db,
                                                 .worker_id = ME,
                                                 .bootstrap_schema_if_missing = 1,
                                                 .policy = policy,
                                                 .time = post_clock_hooks(&bed.clock),
                                                 .random = dice},
                                      .handler = handler,
                                      .max_batch = 8,
                                      .max_idle_sleep_ms = 600000};

    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &config), SAP_OK);
}

static void setup(void)
{
    bed = (Bed){.clock = {.now_ms = NOW}, .fails_until_ms = INT64_MAX};
    post_open(&bed.post);
}

static void teardown(void)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    post_close(&bed.post);
}

static uint32_t sleep_ms(void)
{
    uint32_t ms = 0;

    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&bed.worker, &ms), SAP_OK);
    return ms;
}

/* Ticks until there is nothing to do. */
static void work(void)
{
    while (sap_runner_v0_worker_tick(&bed.worker, NULL) == SAP_OK) {
    }
}

START_TEST(a_failed_message_waits_as_a_timer_longer_each_time_while_others_are_handled)
{
    start(&(SapRunnerV0Policy){.retry_budget_max = 20});
    post_send(bed.post.db, ME, POST_NORMAL, "f");
    post_send(bed.post.db, ME, POST_NORMAL, "other");
    work();
    ck_assert_uint_eq(bed.attempts, 1);
    ck_assert_uint_eq(bed.done, 1);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 0);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_LEASES), 0);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_TIMERS), 1);
    ck_assert_uint_eq(post_retry_rows(bed.post.db), 1);
    /* With dice of 0 a wait is its half: 50 ms, 100 ms, ... 30 s. */
    for (uint32_t n = 1; n < 19; n++) {
        uint32_t wait = n > 10 ? 30000 : 50u << (n - 1);
        wait = wait > 30000 ? 30000 : wait;
        ck_assert_uint_eq(sleep_ms(), wait);
        bed.clock.now_ms += wait - 1;
        work();
        ck_assert_uint_eq(bed.attempts, n);
        bed.clock.now_ms += 1;
        work();
        ck_assert_uint_eq(bed.attempts, n + 1);
    }
    ck_assert_uint_eq(post_rows(bed.post.db, POST_DEAD), 0);
    bed.clock.now_ms += 30000;
    work();
    ck_assert_uint_eq(post_rows(bed.post.db, POST_DEAD), 1); /* the budget is what it was */
    ck_assert_uint_eq(post_retry_rows(bed.post.db), 0);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_TIMERS), 0);
}
END_TEST

START_TEST(an_outage_of_a_second_makes_no_dead_letters)
{
    char id[] = "f00";

    bed.dice = (uint32_t)_i * 0x9E3779B9u;
    start(NULL);
    bed.fails_until_ms = NOW + OUTAGE_MS;
    for (int i = 0; i < MESSAGES; i++) {
        id[1] = (char)('0' + i / 10);
        id[2] = (char)('0' + i % 10);
        post_send(bed.post.db, ME, POST_NORMAL, id);
    }
    for (work(); bed.done < MESSAGES; work()) {
        ck_assert_uint_eq(post_rows(bed.post.db, POST_DEAD), 0);
        uint32_t ms = sleep_ms();
        ck_assert_uint_gt(ms, 0);
        bed.clock.now_ms += ms;
        bed.attempts = 0;
        ck_assert_int_lt(bed.clock.now_ms, NOW + 10 * OUTAGE_MS);
    }
    ck_assert_uint_eq(bed.done, MESSAGES);
    ck_assert_uint_eq(post_retry_rows(bed.post.db), 0);
}
END_TEST

START_TEST(a_poll_takes_what_waited_and_no_other_timer)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t handled = 0;

    start(NULL);
    bed.fails_until_ms = NOW + 10;
    post_send(bed.post.db, ME, POST_NORMAL, "f");
    SapTxnCtx *txn = post_begin(bed.post.db);
    for (int i = 0; i < 600; i++) { /* more than one poll looks at */
        uint32_t len = post_frame(frame, i % 2 == 0 ? ME : 9, POST_NORMAL, "timer");
        EXPECT_RC(sap_runner_timer_v0_append(txn, NOW - 1000, frame, len, NULL), SAP_OK);
    }
    post_commit(txn);
    EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &handler, 4, &handled), SAP_OK);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_TIMERS), 601);
    bed.clock.now_ms += 100;
    int polls = 0;
    while (bed.done == 0 && polls++ < 5) {
        (void)sap_runner_v0_poll_inbox(&bed.worker.runner, &handler, 4, &handled);
    }
    ck_assert_uint_eq(bed.done, 1);
    ck_assert_uint_eq(bed.attempts, 2);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_TIMERS), 600);
}
END_TEST

START_TEST(a_backoff_below_0_is_none)
{
    start(&(SapRunnerV0Policy){.retry_backoff_ms = -1, .retry_budget_max = 3});
    post_send(bed.post.db, ME, POST_NORMAL, "f");
    work();
    ck_assert_uint_eq(bed.attempts, 3);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_DEAD), 1);
}
END_TEST

START_TEST(an_expired_lease_is_a_failed_attempt_that_waits_no_longer)
{
    SapRunnerV0Claim claim;

    start(NULL);
    bed.fails_until_ms = 0;
    post_send(bed.post.db, ME, POST_NORMAL, "f");
    post_expect_claim(bed.post.db, ME, 4242, NOW, "f", &claim);
    sap_runner_v0_claim_release(&claim);
    bed.clock.now_ms += 1000;
    work();
    ck_assert_uint_eq(bed.done, 1);
    ck_assert_int_eq(bed.at_ms[0], NOW + 1000);
}
END_TEST

START_TEST(a_message_that_waits_while_its_id_is_handled_is_a_duplicate)
{
    start(NULL);
    post_send(bed.post.db, ME, POST_ONCE, "f");
    work();
    bed.fails_until_ms = 0;
    post_send(bed.post.db, ME, POST_ONCE, "f");
    work();
    ck_assert_uint_eq(bed.done, 1);
    bed.clock.now_ms += 100;
    work();
    ck_assert_uint_eq(bed.done, 1);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX) + post_rows(bed.post.db, POST_TIMERS), 0);
    ck_assert_uint_eq(post_retry_rows(bed.post.db), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/retry");
    TCase *tc = tcase_create("retry");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_failed_message_waits_as_a_timer_longer_each_time_while_others_are_handled);
    tcase_add_loop_test(tc, an_outage_of_a_second_makes_no_dead_letters, 0, 8);
    tcase_add_test(tc, a_poll_takes_what_waited_and_no_other_timer);
    tcase_add_test(tc, a_backoff_below_0_is_none);
    tcase_add_test(tc, an_expired_lease_is_a_failed_attempt_that_waits_no_longer);
    tcase_add_test(tc, a_message_that_waits_while_its_id_is_handled_is_a_duplicate);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
