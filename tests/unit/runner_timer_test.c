/* Timers: durable, earliest first, fired when due and then gone. */
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { NOW = 1000000, MAX_FIRED = 1024 };

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

static uint64_t arm(SapEnv *db, int64_t due, int64_t to, unsigned flags, const char *id)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, to, flags, id);
    SapTxnCtx *txn = post_begin(db);
    uint64_t seq = 0;

    EXPECT_RC(sap_runner_timer_v0_append(txn, due, frame, len, &seq), SAP_OK);
    post_commit(txn);
    return seq;
}

static int cancel(int64_t due, uint64_t seq)
{
    SapTxnCtx *txn = post_begin(post.db);
    int rc = sap_runner_timer_v0_cancel(txn, due, seq);

    post_commit(txn);
    return rc;
}

typedef struct Fired {
    char ids[MAX_FIRED][POST_ID_MAX];
    int64_t dues[MAX_FIRED];
    uint64_t seqs[MAX_FIRED];
    uint32_t count;
    const char *fail_id;
    int fail_rc;
    const char *cancel_id; /* is cancelled while it fires */
} Fired;

static int fire(int64_t due, uint64_t seq, const void *frame, uint32_t len, void *ctx)
{
    Fired *fired = ctx;
    uint32_t i = fired->count++;

    EXPECT(i < MAX_FIRED, "too many");
    post_id(frame, len, fired->ids[i]);
    fired->dues[i] = due;
    fired->seqs[i] = seq;
    if (fired->cancel_id != NULL && strcmp(fired->cancel_id, fired->ids[i]) == 0) {
        EXPECT_RC(cancel(due, seq), SAP_OK);
    }
    if (fired->fail_id != NULL && strcmp(fired->fail_id, fired->ids[i]) == 0) {
        return fired->fail_rc;
    }
    return SAP_OK;
}

static Fired fired;

static uint32_t drain(int64_t now, uint32_t max)
{
    uint32_t count = 99;

    EXPECT_RC(sap_runner_timer_v0_drain_due(post.db, now, max, fire, &fired, &count), SAP_OK);
    return count;
}

START_TEST(only_frames_are_armed)
{
    SapTxnCtx *txn = post_begin(post.db);
    uint64_t seq = 7;

    EXPECT_RC(sap_runner_timer_v0_append(txn, NOW, "junk", 4, &seq), SAP_INVALID);
    EXPECT(seq == 7, "seq was written");
    post_commit(txn);
    EXPECT(post_rows(post.db, POST_TIMERS) == 0, "a row");
}
END_TEST

START_TEST(timers_fire_when_due_earliest_first_and_are_gone)
{
    static const int64_t dues[] = {500, 0, INT64_MIN, -1, 1, INT64_MAX, -500, 500};
    static const char *expected[] = {"2", "6", "3", "1", "4", "0", "7", "5"};
    char id[8];

    for (int i = 0; i < 8; i++) {
        snprintf(id, sizeof id, "%d", i);
        arm(post.db, dues[i], 1, POST_NORMAL, id);
    }
    EXPECT(drain(INT64_MIN, 100) == 1, "one is due at the beginning of time");
    EXPECT(drain(-1, 100) == 2, "two more before 1970");
    EXPECT(drain(499, 100) == 2, "two more before 500");
    EXPECT(drain(500, 1) == 1, "at most one was asked for");
    EXPECT(drain(500, 100) == 1, "one more at 500");
    EXPECT(drain(INT64_MAX - 1, 100) == 0, "too early");
    EXPECT(drain(INT64_MAX, 100) == 1, "the last");
    EXPECT(fired.count == 8, "%u fired", fired.count);
    for (int i = 0; i < 8; i++) {
        EXPECT(strcmp(fired.ids[i], expected[i]) == 0, "timer %s instead of %s", fired.ids[i],
               expected[i]);
        EXPECT(fired.dues[i] == dues[atoi(fired.ids[i])], "another time");
    }
    EXPECT(post_rows(post.db, POST_TIMERS) == 0, "rows");
}
END_TEST

START_TEST(a_timer_that_cannot_fire_now_stays_and_does_not_hold_up_others)
{
    fired.fail_id = "b";
    fired.fail_rc = SAP_BUSY;
    arm(post.db, 1, 1, POST_NORMAL, "a");
    uint64_t seq = arm(post.db, 2, 1, POST_NORMAL, "b");
    arm(post.db, 3, 1, POST_NORMAL, "c");
    EXPECT(drain(NOW, 10) == 2 && fired.count == 3, "%u offered", fired.count);
    EXPECT(post_rows(post.db, POST_TIMERS) == 1, "rows");
    fired.fail_id = NULL;
    EXPECT(drain(NOW, 10) == 1 && fired.seqs[3] == seq, "it was not offered again");
}
END_TEST

START_TEST(another_code_ends_the_drain)
{
    uint32_t count = 99;

    fired.fail_id = "b";
    fired.fail_rc = SAP_IO;
    arm(post.db, 1, 1, POST_NORMAL, "a");
    arm(post.db, 2, 1, POST_NORMAL, "b");
    arm(post.db, 3, 1, POST_NORMAL, "c");
    EXPECT_RC(sap_runner_timer_v0_drain_due(post.db, NOW, 10, fire, &fired, &count), SAP_IO);
    EXPECT(fired.count == 2, "%u offered", fired.count);
    EXPECT(post_rows(post.db, POST_TIMERS) == 2, "what fired is still there");
}
END_TEST

START_TEST(a_timer_is_cancelled_once_and_by_both_parts_of_its_key)
{
    uint64_t seq = arm(post.db, 5, 1, POST_NORMAL, "a");

    EXPECT_RC(cancel(6, seq), SAP_NOTFOUND);
    EXPECT_RC(cancel(5, seq + 1), SAP_NOTFOUND);
    EXPECT_RC(cancel(5, seq), SAP_OK);
    EXPECT_RC(cancel(5, seq), SAP_NOTFOUND);
    EXPECT(drain(NOW, 10) == 0, "it fired");
    seq = arm(post.db, 5, 1, POST_NORMAL, "a");
    EXPECT(drain(NOW, 10) == 1, "it did not fire");
    EXPECT_RC(cancel(5, seq), SAP_NOTFOUND);
}
END_TEST

START_TEST(a_timer_cancelled_while_it_fires_is_gone)
{
    fired.cancel_id = "a";
    arm(post.db, 5, 1, POST_NORMAL, "a");
    arm(post.db, 6, 1, POST_NORMAL, "b");
    drain(NOW, 10);
    EXPECT(fired.count == 2, "%u fired", fired.count);
    EXPECT(post_rows(post.db, POST_TIMERS) == 0, "rows");
}
END_TEST

START_TEST(due_timers_move_to_inboxes_in_order)
{
    SapRunnerV0Claim claim;
    uint64_t seq_b = arm(post.db, 20, 1, POST_NORMAL, "b");
    uint64_t seq_a = arm(post.db, 10, 1, POST_NORMAL, "a");
    const char *expected[] = {"h", "a", "b"};

    arm(post.db, 30, 1, POST_HIGH, "h");
    arm(post.db, 15, 2, POST_NORMAL, "other");
    arm(post.db, 31, 1, POST_NORMAL, "later");
    SapTxnCtx *txn = post_begin(post.db);
    uint32_t moved = 0;
    EXPECT_RC(sap_runner_timer_v0_move_due(txn, 30, 2, &moved), SAP_OK);
    EXPECT(moved == 2, "%u moved", moved);
    EXPECT_RC(sap_runner_timer_v0_move_due(txn, 30, 10, NULL), SAP_OK);
    post_commit(txn);
    EXPECT(post_rows(post.db, POST_TIMERS) == 1 && post_rows(post.db, POST_INBOX) == 4, "rows");
    EXPECT(seq_a != seq_b, "a number again");
    for (int i = 0; i < 3; i++) {
        post_expect_claim(post.db, 1, 7, NOW, expected[i], &claim);
        sap_runner_v0_claim_release(&claim);
    }
    post_expect_claim(post.db, 2, 7, NOW, "other", &claim);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(timers_survive_a_reopen_and_their_numbers_never_repeat)
{
    FileBed bed;
    uint64_t last = 0;

    file_bed_start(&bed);
    for (int round = 0; round < 3; round++) {
        SapEnv *db = file_bed_open(&bed);
        EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
        EXPECT(post_rows(db, POST_TIMERS) == (round > 0), "the timer is not there");
        EXPECT(post_move_due(db, NOW) == (uint32_t)(round > 0), "it does not fire");
        uint64_t seq = arm(db, 5, 1, POST_NORMAL, "a");
        EXPECT(seq > last, "a number again");
        last = seq;
        file_bed_close(db);
    }
    file_bed_end(&bed);
}
END_TEST

START_TEST(any_order_of_arming_fires_in_order_of_time)
{
    enum { TIMERS = 1000 };
    Choice choice;
    uint64_t seed = choice_first_seed();
    char id[16];
    uint32_t count = 0;

    expect_context("seed %llu", (unsigned long long)seed);
    choice_from_seed(&choice, seed);
    for (int i = 0; i < TIMERS; i++) {
        snprintf(id, sizeof id, "%d", i);
        arm(post.db, (int64_t)choice_below(&choice, 300) - 150, 1, POST_NORMAL, id);
    }
    for (int64_t now = -150; now <= 150; now += 10) {
        count += drain(now, 1 + choice_below(&choice, 100));
        EXPECT(count == 0 || fired.dues[fired.count - 1] <= now, "too early");
    }
    count += drain(NOW, TIMERS);
    EXPECT(count == TIMERS && fired.count == TIMERS, "%u fired", count);
    for (int i = 1; i < TIMERS; i++) {
        EXPECT(fired.dues[i] > fired.dues[i - 1] ||
                   (fired.dues[i] == fired.dues[i - 1] && fired.seqs[i] > fired.seqs[i - 1]),
               "timer %s fired after %s", fired.ids[i], fired.ids[i - 1]);
    }
    printf("seed %llu: %u timers\n", (unsigned long long)seed, count);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_timer");
    TCase *tc = tcase_create("timer");

    tcase_set_timeout(tc, 300);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, only_frames_are_armed);
    tcase_add_test(tc, timers_fire_when_due_earliest_first_and_are_gone);
    tcase_add_test(tc, a_timer_that_cannot_fire_now_stays_and_does_not_hold_up_others);
    tcase_add_test(tc, another_code_ends_the_drain);
    tcase_add_test(tc, a_timer_is_cancelled_once_and_by_both_parts_of_its_key);
    tcase_add_test(tc, a_timer_cancelled_while_it_fires_is_gone);
    tcase_add_test(tc, due_timers_move_to_inboxes_in_order);
    tcase_add_test(tc, timers_survive_a_reopen_and_their_numbers_never_repeat);
    tcase_add_test(tc, any_order_of_arming_fires_in_order_of_time);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
