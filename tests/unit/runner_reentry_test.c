/* Calls back into a runner that is in use: from its handler, its hooks and its sinks. They return
 * SAP_BUSY and change nothing. Also what a poll of very many messages needs and returns. */
#include "common/mem.h"
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { NOW = 1000000, ME = 1, MANY = 2500, BATCH = 1024 };

typedef enum Place { FROM_HANDLER, FROM_LOG, FROM_METRICS, FROM_REPLAY, FROM_IS_LOCAL } Place;

typedef struct Bed {
    Post post;
    PostClock clock;
    SapRunnerV0WorkerConfig config;
    SapRunnerV0Worker worker;
    Place place;
    uint32_t calls;    /* of the handler */
    uint32_t nested;   /* rounds of calls back */
    bool inside;       /* one is under way */
    bool in_poll;      /* whatever calls back does so within a poll or tick */
    bool leaves_a_txn; /* the handler leaves a write transaction open */
    SapTxnCtx *left;
    size_t most_memory; /* in use while handlers ran */
    int touched;
} Bed;

static Bed bed;

/* Everything that would use the batch, or free it. */
static void call_back(void)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t handled = 99;
    SapRunnerV0 *runner = &bed.worker.runner;

    if (bed.inside || !bed.in_poll) {
        return;
    }
    bed.inside = true;
    bed.nested++;
    uint32_t calls = bed.calls;
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "step");
    ck_assert_int_eq(sap_runner_v0_poll_inbox(runner, &bed.config.handler, 1, &handled), SAP_BUSY);
    ck_assert_uint_eq(handled, 0);
    handled = 99;
    ck_assert_int_eq(sap_runner_v0_worker_tick(&bed.worker, &handled), SAP_BUSY);
    ck_assert_uint_eq(handled, 0);
    ck_assert_int_eq(sap_runner_v0_run_step(runner, frame, len, &bed.config.handler), SAP_BUSY);
    ck_assert_int_eq(sap_runner_v0_worker_shutdown(&bed.worker), SAP_BUSY);
    ck_assert_int_eq(sap_runner_v0_shutdown(runner), SAP_BUSY);
#if SAPLING_THREADED
    ck_assert_int_eq(sap_runner_v0_worker_start(&bed.worker), SAP_BUSY);
#endif
    ck_assert_uint_eq(bed.calls, calls);
    ck_assert_int_eq(runner->state, SAP_RUNNER_V0_RUNNING);
    bed.inside = false;
}

static int plain(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    size_t memory = mem_live_bytes(MEM_RUNNER);

    (void)msg;
    (void)ctx;
    EXPECT(runner == &bed.worker.runner, "the runner of another");
    bed.calls++;
    bed.most_memory = memory > bed.most_memory ? memory : bed.most_memory;
    if (bed.place == FROM_HANDLER) {
        call_back();
    }
    if (bed.leaves_a_txn) {
        bed.left = post_begin(bed.post.db);
    }
    return SAP_OK;
}

static void on_log(const SapRunnerV0LogEvent *event, void *ctx)
{
    (void)event;
    (void)ctx;
    if (bed.place == FROM_LOG) {
        call_back();
    }
}

static void on_metrics(const SapRunnerV0Metrics *metrics, void *ctx)
{
    (void)metrics;
    (void)ctx;
    if (bed.place == FROM_METRICS) {
        call_back();
    }
}

static void on_replay(const SapRunnerV0ReplayEvent *event, void *ctx)
{
    (void)event;
    (void)ctx;
    if (bed.place == FROM_REPLAY) {
        call_back();
    }
}

static int is_local(int64_t worker, void *ctx)
{
    (void)worker;
    (void)ctx;
    if (bed.place == FROM_IS_LOCAL) {
        call_back();
    }
    return 1;
}

static void setup(void)
{
    bed = (Bed){.clock = {.now_ms = NOW}};
    post_open(&bed.post);
    bed.config = (SapRunnerV0WorkerConfig){
        .runner = {.db = bed.post.db,
                   .worker_id = ME,
                   .bootstrap_schema_if_missing = 1,
                   .time = post_clock_hooks(&bed.clock)},
        .handler = {.plain = plain},
        .max_batch = 4,
        .is_local = is_local,
    };
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &bed.config), SAP_OK);
    sap_runner_v0_set_log_sink(&bed.worker.runner, on_log, NULL);
    sap_runner_v0_set_metrics_sink(&bed.worker.runner, on_metrics, NULL);
    sap_runner_v0_set_replay_hook(&bed.worker.runner, on_replay, NULL);
}

static void teardown(void)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    post_close(&bed.post);
}

static void send_three(void)
{
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    post_send(bed.post.db, ME, POST_NORMAL, "b");
    post_send(bed.post.db, ME, POST_NORMAL, "c");
}

/* Something for every place to report: a row that is not a frame, and one of the outbox. */
static void send_what_is_logged(void)
{
    uint8_t frame[POST_FRAME_MAX];
    uint8_t key[16];
    uint32_t len = post_frame(frame, 7, POST_NORMAL, "out");
    SapTxnCtx *txn = post_begin(bed.post.db);

    EXPECT_RC(sap_runner_outbox_v0_append(txn, frame, len, NULL), SAP_OK);
    post_commit(txn);
    post_key(key, ME, 1);
    post_put(bed.post.db, POST_INBOX, key, sizeof key, "garbage", 7);
}

START_TEST(a_call_back_into_the_runner_is_busy_and_changes_nothing)
{
    bed.place = (Place)_i;
    uint32_t handled = 0;
    send_three();
    send_what_is_logged();
    bed.in_poll = true;
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, &handled), SAP_OK);
    bed.in_poll = false;
    ck_assert_uint_gt(bed.nested, 0);
    /* Each message was handled once and is gone. */
    ck_assert_uint_eq(handled, 3);
    ck_assert_uint_eq(bed.calls, 3);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 1); /* the one routed to worker 7 */
    ck_assert_uint_eq(post_rows(bed.post.db, POST_LEASES), 0);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_DEAD), 1);
    /* And afterwards the runner is as it was. */
    post_send(bed.post.db, ME, POST_NORMAL, "d");
    EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, 5, &handled),
              SAP_OK);
    ck_assert_uint_eq(handled, 1);
}
END_TEST

START_TEST(a_call_back_from_a_step_is_busy_too)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "step");

    bed.in_poll = true;
    EXPECT_RC(sap_runner_v0_run_step(&bed.worker.runner, frame, len, &bed.config.handler), SAP_OK);
    ck_assert_uint_eq(bed.nested, 1);
    ck_assert_uint_eq(bed.calls, 1);
}
END_TEST

static int block_that_calls_back(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    (void)host;
    (void)msg;
    (void)ctx;
    call_back();
    return SAP_OK;
}

START_TEST(a_call_back_from_an_atomic_block_is_busy_too)
{
    SapRunnerV0Handler handler = {.atomic = block_that_calls_back};
    uint32_t handled = 0;

    send_three();
    bed.in_poll = true;
    EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &handler, 9, &handled), SAP_OK);
    ck_assert_uint_eq(handled, 3);
    ck_assert_uint_eq(bed.nested, 3);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 0);
}
END_TEST

/* ---- Touch, from a sink that a touch calls -------------------------------------------------- */

static void touch_from_log(const SapRunnerV0LogEvent *event, void *ctx)
{
    (void)ctx;
    if (event->kind == SAP_RUNNER_V0_LOG_LEASE_LOST) {
        bed.touched = sap_runner_v0_touch(&bed.worker.runner);
    }
}

/* The lease of the second is gone: the touch by the first finds out, and logs it. */
static int loses_the_second(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    uint8_t key[16];

    (void)msg;
    if (bed.calls++ > 0) {
        return SAP_OK;
    }
    post_key(key, ME, *(const uint64_t *)ctx);
    SapTxnCtx *txn = post_begin(bed.post.db);
    EXPECT_RC(sap_txn_del_dbi(txn, POST_LEASES, key, sizeof key), SAP_OK);
    post_commit(txn);
    bed.clock.now_ms += 500;
    EXPECT_RC(sap_runner_v0_touch(runner), SAP_OK);
    return SAP_OK;
}

START_TEST(a_touch_by_a_sink_of_a_touch_is_refused)
{
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    uint64_t second = post_send(bed.post.db, ME, POST_NORMAL, "b");
    SapRunnerV0Handler handler = {.plain = loses_the_second, .ctx = &second};
    uint32_t handled = 0;

    bed.touched = 77;
    sap_runner_v0_set_log_sink(&bed.worker.runner, touch_from_log, NULL);
    EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &handler, 2, &handled), SAP_OK);
    ck_assert_uint_eq(handled, 2);
    ck_assert_uint_eq(bed.calls, 1);
    ck_assert_int_eq(bed.touched, SAP_BUSY);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 1);
}
END_TEST

/* ---- Large polls ---------------------------------------------------------------------------- */

static void send_many(uint32_t count)
{
    SapTxnCtx *txn = post_begin(bed.post.db);
    char id[POST_ID_MAX];

    for (uint32_t i = 0; i < count; i++) {
        snprintf(id, sizeof id, "m%u", i);
        post_send_in(txn, ME, POST_NORMAL, id);
    }
    post_commit(txn);
}

START_TEST(a_poll_of_all_there_is_takes_memory_for_one_batch)
{
    uint32_t handled = 0;

    bed.place = FROM_LOG;
    send_many(MANY);
    size_t before = mem_live_bytes(MEM_RUNNER);
    EXPECT_RC(
        sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, UINT32_MAX, &handled),
        SAP_OK);
    ck_assert_uint_eq(handled, MANY);
    ck_assert_uint_eq(bed.calls, MANY);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 0);
    /* A frame is below 128 bytes, what is kept of a claim too. */
    ck_assert_uint_lt(bed.most_memory - before, (size_t)BATCH * 300);
    EXPECT_RC(
        sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, UINT32_MAX, &handled),
        SAP_BUSY);
    ck_assert_uint_eq(handled, 0);
}
END_TEST

START_TEST(a_poll_that_ends_with_a_full_batch_is_ok)
{
    uint32_t handled = 0;

    bed.place = FROM_LOG;
    send_many(2 * BATCH);
    EXPECT_RC(
        sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, UINT32_MAX, &handled),
        SAP_OK);
    ck_assert_uint_eq(handled, 2 * BATCH);
    send_many(BATCH + 10);
    EXPECT_RC(
        sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, BATCH + 3, &handled),
        SAP_OK);
    ck_assert_uint_eq(handled, BATCH + 3);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 7);
}
END_TEST

START_TEST(a_poll_that_claimed_something_is_never_busy)
{
    uint32_t handled = 0;

    bed.place = FROM_LOG;
    bed.leaves_a_txn = true;
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    int rc = sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, 1, &handled);
    ck_assert_uint_eq(handled, 1);
    ck_assert_int_eq(rc, SAP_ERROR);
    sap_txn_abort(bed.left);
    /* It was not acknowledged: it comes again when its lease is over. */
    bed.leaves_a_txn = false;
    bed.clock.now_ms += 1000;
    EXPECT_RC(sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, 1, &handled),
              SAP_OK);
    ck_assert_uint_eq(bed.calls, 2);
    ck_assert_uint_eq(post_rows(bed.post.db, POST_INBOX), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/reentry");
    TCase *tc = tcase_create("reentry");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_call_back_into_the_runner_is_busy_and_changes_nothing, FROM_HANDLER,
                        FROM_IS_LOCAL + 1);
    tcase_add_test(tc, a_call_back_from_a_step_is_busy_too);
    tcase_add_test(tc, a_call_back_from_an_atomic_block_is_busy_too);
    tcase_add_test(tc, a_touch_by_a_sink_of_a_touch_is_refused);
    tcase_add_test(tc, a_poll_of_all_there_is_takes_memory_for_one_batch);
    tcase_add_test(tc, a_poll_that_ends_with_a_full_batch_is_ok);
    tcase_add_test(tc, a_poll_that_claimed_something_is_never_busy);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
