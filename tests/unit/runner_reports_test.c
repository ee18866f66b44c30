/* What operators read is true: the sink of the metrics knows every change, depth and age of the queue
 * included, and log and replay log know every dead letter. */
#include "common/bytes.h"
#include "runner/runner_v0.h"
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NOW = 1000000, ME = 1, EIGHTH_MS = 125, OTHER_OWNER = 4242, MANY = 100, DEAD_MAX = 256 };

/* A dead letter as the replay hook told it. */
typedef struct Told {
    int64_t worker;
    uint64_t seq;
    int rc;
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len;
} Told;

typedef struct Bed {
    Post post;
    PostClock clock;
    SapRunnerV0Worker worker;
    uint32_t calls;
    void (*inside)(SapRunnerV0 *runner);
    SapRunnerV0Metrics told; /* the last that the sink got */
    uint32_t told_count;
    int answer; /* of the handler */
    uint32_t dead_logged;
    Told dead[DEAD_MAX];
    uint32_t dead_count;
} Bed;

static Bed bed;

static int plain(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)msg;
    (void)ctx;
    bed.calls++;
    if (bed.inside != NULL) {
        bed.inside(runner);
    }
    return bed.answer;
}

static const SapRunnerV0Handler handler = {.plain = plain};

static void on_metrics(const SapRunnerV0Metrics *metrics, void *ctx)
{
    (void)ctx;
    bed.told = *metrics;
    bed.told_count++;
}

static void on_log(const SapRunnerV0LogEvent *event, void *ctx)
{
    (void)ctx;
    bed.dead_logged += event->kind == SAP_RUNNER_V0_LOG_DEAD_LETTERED;
}

static void on_replay(const SapRunnerV0ReplayEvent *event, void *ctx)
{
    (void)ctx;
    if (event->kind != SAP_RUNNER_V0_REPLAY_DEAD_LETTER) {
        return;
    }
    EXPECT(bed.dead_count < DEAD_MAX && event->frame_len <= POST_FRAME_MAX, "too much");
    Told *told = &bed.dead[bed.dead_count++];
    *told = (Told){
        .worker = event->worker_id, .seq = event->seq, .rc = event->rc, .len = event->frame_len};
    memcpy(told->frame, event->frame, event->frame_len);
}

static void setup(void)
{
    memset(&bed, 0, sizeof bed);
    post_open(&bed.post);
    bed.clock.now_ms = NOW;
}

static void start(uint32_t max_batch)
{
    static const SapRunnerV0Policy policy = {.retry_budget_max = 1};
    SapRunnerV0WorkerConfig config = {.runner = {.db = bed.post.db,
                                                 .worker_id = ME,
                                                 .bootstrap_schema_if_missing = 1,
                                                 .policy = &policy,
                                                 .time = post_clock_hooks(&bed.clock)},
                                      .handler = handler,
                                      .max_batch = max_batch};

    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &config), SAP_OK);
    sap_runner_v0_set_metrics_sink(&bed.worker.runner, on_metrics, NULL);
    sap_runner_v0_set_log_sink(&bed.worker.runner, on_log, NULL);
    sap_runner_v0_set_replay_hook(&bed.worker.runner, on_replay, NULL);
}

static void teardown(void)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    post_close(&bed.post);
}

/* Waiting since NOW - 300. */
static void send_old(void)
{
    SapRunnerV0Message msg;

    post_message(&msg, ME, POST_NORMAL, "a");
    msg.route_timestamp = NOW - 300;
    EXPECT_RC(sap_runner_v0_send(bed.post.db, &msg, NULL), SAP_OK);
}

static void tick(int rc)
{
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), rc);
}

static void expect_told(uint64_t depth, uint64_t age_ms)
{
    SapRunnerV0Metrics m;

    EXPECT(bed.told.queue_depth == depth && bed.told.queue_age_ms == age_ms,
           "the sink knows of %llu messages for %llu ms", (unsigned long long)bed.told.queue_depth,
           (unsigned long long)bed.told.queue_age_ms);
    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &m);
    EXPECT(memcmp(&m, &bed.told, sizeof m) == 0, "the snapshot says something else");
}

/* ---- Metrics -------------------------------------------------------------------------------- */

START_TEST(the_sink_learns_that_a_queue_drained)
{
    bool by_poll = _i == 1;
    uint32_t handled;

    start(1);
    send_old();
    send_old();
    for (uint64_t left = 2; left-- > 0;) {
        if (by_poll) {
            EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &handler, 1, &handled), SAP_OK);
        } else {
            tick(SAP_OK);
        }
        expect_told(left, left > 0 ? 300 : 0);
    }
    uint32_t count = bed.told_count;
    tick(SAP_BUSY);
    ck_assert_uint_eq(bed.told_count, count); /* nothing changed */
}
END_TEST

static void sends_another(SapRunnerV0 *runner)
{
    SapRunnerV0Message msg;

    post_message(&msg, ME, POST_NORMAL, "b");
    msg.route_timestamp = NOW - 7;
    EXPECT_RC(sap_runner_v0_send(runner->db, &msg, NULL), SAP_OK);
}

START_TEST(the_sink_learns_of_what_came_meanwhile)
{
    start(1);
    send_old();
    bed.inside = sends_another;
    tick(SAP_OK);
    expect_told(1, 7);
}
END_TEST

static void expects_those_before_gone(SapRunnerV0 *runner)
{
    (void)runner;
    EXPECT(bed.told.queue_depth == 4 - bed.calls, "at message %u the sink knows of %llu", bed.calls,
           (unsigned long long)bed.told.queue_depth);
    bed.clock.now_ms += EIGHTH_MS; /* what is handled is acknowledged before the next one begins */
}

START_TEST(the_sink_learns_of_each_acknowledgement_of_a_long_batch)
{
    start(3);
    for (int i = 0; i < 3; i++) {
        send_old();
    }
    bed.inside = expects_those_before_gone;
    tick(SAP_OK);
    ck_assert_uint_eq(bed.calls, 3);
    expect_told(0, 0);
}
END_TEST

static void touches(SapRunnerV0 *runner)
{
    uint32_t count = bed.told_count;

    EXPECT_RC(sap_runner_v0_touch(runner), SAP_OK);
    EXPECT(bed.told_count > count, "nobody was told of the commit");
    expect_told(1, 300);
}

START_TEST(the_sink_learns_of_each_commit)
{
    start(1);
    send_old();
    bed.inside = touches;
    tick(SAP_OK);
    ck_assert_uint_eq(bed.calls, 1);
}
END_TEST

START_TEST(the_sink_learns_what_a_look_for_the_next_work_saw)
{
    uint32_t ms;

    start(1);
    send_old();
    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&bed.worker, &ms), SAP_OK);
    expect_told(1, 300);
    bed.clock.now_ms += 5;
    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&bed.worker, &ms), SAP_OK);
    expect_told(1, 305);
}
END_TEST

START_TEST(a_reset_forgets_counts_and_not_the_queue)
{
    SapRunnerV0Metrics m;

    start(1);
    send_old();
    send_old();
    tick(SAP_OK);
    sap_runner_v0_metrics_reset(&bed.worker.runner);
    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &m);
    EXPECT(m.commits == 0 && m.step_attempts == 0, "counters");
    EXPECT(m.queue_depth == 1 && m.queue_age_ms == 300, "depth %llu",
           (unsigned long long)m.queue_depth);
}
END_TEST

static int looks(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    const void *val;
    uint32_t len;

    (void)ctx;
    EXPECT_RC(sap_runner_host_v0_get(host, 0, msg->message_id, msg->message_id_len, &val, &len),
              SAP_NOTFOUND);
    return SAP_OK;
}

START_TEST(blocks_that_only_read_are_no_commits)
{
    static const SapRunnerV0Handler reader = {.atomic = looks, .read_only = 1};
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "a");
    uint32_t handled;

    start(1);
    EXPECT_RC(sap_runner_v0_run_step(&bed.worker.runner, frame, len, &reader), SAP_OK);
    ck_assert_uint_eq(bed.told.step_successes, 1);
    ck_assert_uint_eq(bed.told.commits, 0);
    for (int i = 0; i < 3; i++) {
        send_old();
    }
    EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &reader, 3, &handled), SAP_OK);
    ck_assert_uint_eq(handled, 3);
    ck_assert_uint_eq(bed.told.commits, 2); /* the claim and the acknowledgements */
}
END_TEST

/* ---- Dead letters --------------------------------------------------------------------------- */

/* There are `count`, all of them counted and logged, and the replay log leads to each. */
static void expect_dead(uint64_t count, int64_t worker, int rc)
{
    SapTxnCtx *txn;

    ck_assert_uint_eq(post_rows(bed.post.db, POST_DEAD), count);
    ck_assert_uint_eq(bed.told.dead_letter_moves, count);
    ck_assert_uint_eq(bed.dead_logged, count);
    ck_assert_uint_eq(bed.dead_count, count);
    txn = post_begin(bed.post.db);
    for (uint32_t i = 0; i < bed.dead_count; i++) {
        const Told *told = &bed.dead[i];
        SapRunnerV0DeadLetter letter;

        EXPECT(told->worker == worker && told->rc == rc, "worker %lld, code %d",
               (long long)told->worker, told->rc);
        EXPECT_RC(sap_runner_dead_letter_v0_get(txn, (uint64_t)worker, told->seq, &letter), SAP_OK);
        EXPECT(letter.frame_len == told->len && memcmp(letter.frame, told->frame, told->len) == 0,
               "another letter");
        EXPECT_RC(sap_runner_dead_letter_v0_drop(txn, (uint64_t)worker, told->seq), SAP_OK);
    }
    sap_txn_abort(txn);
}

START_TEST(a_message_that_failed_too_often_is_told)
{
    start(1);
    send_old();
    bed.answer = SAP_BUSY;
    tick(SAP_OK);
    expect_dead(1, ME, SAP_BUSY);
}
END_TEST

START_TEST(rows_of_the_inbox_that_are_no_message_are_told_however_many)
{
    uint8_t key[16];
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME + 1, POST_NORMAL, "lost");

    start(8);
    for (uint32_t i = 0; i < MANY; i++) {
        post_key(key, ME, 1 + i);
        if (i % 2 == 0) {
            post_put(bed.post.db, POST_INBOX, key, sizeof key, "junk", 4);
        } else {
            post_put(bed.post.db, POST_INBOX, key, sizeof key, frame, len);
        }
    }
    tick(SAP_OK);
    ck_assert_uint_eq(bed.calls, 0);
    expect_dead(MANY, ME, SAP_INVALID);
    ck_assert_uint_eq(bed.told.queue_depth, 0);
}
END_TEST

START_TEST(messages_whose_leases_expired_too_often_are_told_however_many)
{
    start(8);
    for (uint32_t i = 0; i < MANY; i++) {
        SapRunnerV0Claim claim;

        send_old();
        EXPECT(post_claim(bed.post.db, ME, OTHER_OWNER, NOW, &claim) == 1, "not claimed");
        sap_runner_v0_claim_release(&claim);
    }
    bed.clock.now_ms += 1000;
    tick(SAP_OK);
    ck_assert_uint_eq(bed.calls, 0);
    ck_assert_uint_eq(bed.told.lease_timeouts, MANY);
    expect_dead(MANY, ME, SAP_BUSY);
}
END_TEST

START_TEST(timers_that_are_no_message_are_told)
{
    start(8);
    for (uint32_t i = 0; i < 3; i++) {
        RowKey key = row_timer_key(NOW - 1, 1 + i);
        post_put(bed.post.db, POST_TIMERS, key.bytes, sizeof key.bytes, "junk", i);
    }
    tick(SAP_OK);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_TIMERS), 0);
    ck_assert_uint_eq(bed.told.timers_moved, 0);
    expect_dead(3, ME, SAP_INVALID);
}
END_TEST

START_TEST(rows_of_the_outbox_that_are_no_message_are_told)
{
    uint8_t key[8];

    start(8);
    for (uint32_t i = 0; i < MANY; i++) {
        store_u64be(key, 1 + i);
        post_put(bed.post.db, POST_OUTBOX, key, sizeof key, "junk", 4);
    }
    tick(SAP_OK);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_OUTBOX), 0);
    ck_assert_uint_eq(bed.told.outbox_routed, 0);
    expect_dead(MANY, 0, SAP_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/reports");
    TCase *tc = tcase_create("reports");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, the_sink_learns_that_a_queue_drained, 0, 2);
    tcase_add_test(tc, the_sink_learns_of_what_came_meanwhile);
    tcase_add_test(tc, the_sink_learns_of_each_acknowledgement_of_a_long_batch);
    tcase_add_test(tc, the_sink_learns_of_each_commit);
    tcase_add_test(tc, the_sink_learns_what_a_look_for_the_next_work_saw);
    tcase_add_test(tc, a_reset_forgets_counts_and_not_the_queue);
    tcase_add_test(tc, blocks_that_only_read_are_no_commits);
    tcase_add_test(tc, a_message_that_failed_too_often_is_told);
    tcase_add_test(tc, rows_of_the_inbox_that_are_no_message_are_told_however_many);
    tcase_add_test(tc, messages_whose_leases_expired_too_often_are_told_however_many);
    tcase_add_test(tc, timers_that_are_no_message_are_told);
    tcase_add_test(tc, rows_of_the_outbox_that_are_no_message_are_told);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
