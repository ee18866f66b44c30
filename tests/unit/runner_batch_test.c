/* Batches: leases of what waits and of what is done outlive the handlers of the others, and no id is
 * handled twice in one. */
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { ME = 1, MAX_MESSAGES = 16, LEASE_MS = 1000 };

typedef struct Bed {
    Post post;
    PostClock clock;
    SapRunnerV0Worker worker;
    SapRunnerV0Worker
        rival; /* on the same inbox, and looks whenever a handler of the worker ends */
    uint32_t handled[MAX_MESSAGES];
    uint32_t begun; /* handlers of the worker */
    /* What those of the worker do. */
    const int64_t *takes_ms; /* the n-th; the last is 0, and then from the start again */
    int64_t touch_every_ms;  /* 0: never */
} Bed;

static Bed bed;

static void setup(void)
{
    bed = (Bed){.clock = {.now_ms = 1000000}};
    post_open(&bed.post);
}

static void teardown(void)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.rival), SAP_OK);
    post_close(&bed.post);
}

static void note(const SapRunnerV0Message *msg)
{
    char text[8] = {0};
    unsigned n = 0;

    EXPECT(msg->payload_len < sizeof text, "a payload of %u bytes", msg->payload_len);
    memcpy(text, msg->payload, msg->payload_len);
    EXPECT(sscanf(text, "%u", &n) == 1, "payload %s", text);
    EXPECT(n < MAX_MESSAGES, "message %u", n);
    bed.handled[n]++;
}

static int rival_handles(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)ctx;
    note(msg);
    return SAP_OK;
}

static void rival_looks(void)
{
    int rc = sap_runner_v0_worker_tick(&bed.rival, NULL);

    EXPECT(rc == SAP_OK || rc == SAP_BUSY, "tick of the rival: %d", rc);
}

static int64_t next_duration(void)
{
    uint32_t count = 0;

    while (bed.takes_ms[count] != 0) {
        count++;
    }
    return bed.takes_ms[bed.begun++ % count];
}

static int worker_handles(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    int64_t left_ms = next_duration();

    (void)ctx;
    note(msg);
    while (bed.touch_every_ms > 0 && left_ms > bed.touch_every_ms) {
        bed.clock.now_ms += bed.touch_every_ms;
        left_ms -= bed.touch_every_ms;
        EXPECT_RC(sap_runner_v0_touch(runner), SAP_OK);
        rival_looks();
    }
    bed.clock.now_ms += left_ms;
    rival_looks();
    return SAP_OK;
}

static int block_handles(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    (void)host;
    (void)ctx;
    note(msg);
    return SAP_OK;
}

static void make(SapRunnerV0Worker *worker, SapRunnerV0Handler handler, uint32_t batch)
{
    SapRunnerV0WorkerConfig config = {.runner = {.db = bed.post.db,
                                                 .worker_id = ME,
                                                 .bootstrap_schema_if_missing = 1,
                                                 .time = post_clock_hooks(&bed.clock)},
                                      .handler = handler,
                                      .max_batch = batch};

    EXPECT_RC(sap_runner_v0_worker_init(worker, &config), SAP_OK);
}

static void send_many(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char id[12];

        snprintf(id, sizeof id, "%u", i);
        post_send(bed.post.db, ME, POST_NORMAL, id);
    }
}

static void expect_each_once(uint32_t count)
{
    SapRunnerV0Metrics metrics;

    while (sap_runner_v0_worker_tick(&bed.worker, NULL) == SAP_OK) {
    }
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(bed.handled[i] == 1, "message %u was handled %u times", i, bed.handled[i]);
    }
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0 && post_rows(bed.post.db, POST_DEAD) == 0,
           "%llu wait, %llu are dead", (unsigned long long)post_rows(bed.post.db, POST_INBOX),
           (unsigned long long)post_rows(bed.post.db, POST_DEAD));
    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &metrics);
    EXPECT(metrics.lease_losses == 0, "%llu leases lost", (unsigned long long)metrics.lease_losses);
}

/* A batch of `count` by handlers that take so long, and touch so often: the rival gets none of it. */
static void expect_kept(uint32_t count, const int64_t *takes_ms, int64_t touch_every_ms)
{
    bed.takes_ms = takes_ms;
    bed.touch_every_ms = touch_every_ms;
    make(&bed.worker, (SapRunnerV0Handler){.plain = worker_handles}, count);
    make(&bed.rival, (SapRunnerV0Handler){.plain = rival_handles}, count);
    send_many(count);
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_OK);
    expect_each_once(count);
    EXPECT(bed.begun == count, "the rival had some");
}

START_TEST(handlers_of_a_batch_may_each_take_most_of_a_lease)
{
    static const int64_t takes_ms[] = {LEASE_MS * 2 / 5, LEASE_MS * 6 / 7, 0};

    expect_kept(6, takes_ms, 0);
}
END_TEST

START_TEST(short_handlers_before_a_long_one_lose_nothing)
{
    static const int64_t takes_ms[] = {LEASE_MS / 9, LEASE_MS * 6 / 7, 0};

    expect_kept(8, takes_ms, 0);
}
END_TEST

START_TEST(a_handler_that_touches_keeps_the_leases_of_its_batch)
{
    static const int64_t takes_ms[] = {1, LEASE_MS * 4, 0};

    expect_kept(8, takes_ms, LEASE_MS / 2);
}
END_TEST

/* As if another had acknowledged it. */
static void take_away(uint64_t seq)
{
    uint8_t key[16];
    SapTxnCtx *txn = post_begin(bed.post.db);

    post_key(key, ME, seq);
    EXPECT_RC(txn_del_dbi(txn, POST_INBOX, key, sizeof key), SAP_OK);
    EXPECT_RC(txn_del_dbi(txn, POST_LEASES, key, sizeof key), SAP_OK);
    post_commit(txn);
}

static int first_loses_the_last(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    note(msg);
    if (bed.begun++ == 0) {
        take_away(*(const uint64_t *)ctx);
    }
    bed.clock.now_ms += LEASE_MS / 4;
    return SAP_OK;
}

START_TEST(a_lease_of_a_batch_that_was_lost_is_told_once_however_often_the_others_are_renewed)
{
    enum { COUNT = 6 };
    SapRunnerV0Metrics metrics;
    uint64_t last = 0;

    make(&bed.worker, (SapRunnerV0Handler){.plain = first_loses_the_last, .ctx = &last}, COUNT);
    send_many(COUNT - 1);
    last = post_send(bed.post.db, ME, POST_NORMAL, "5");
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_OK);
    EXPECT(bed.begun == COUNT - 1 && bed.handled[COUNT - 1] == 0, "%u handlers", bed.begun);
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "some are left");
    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &metrics);
    EXPECT(metrics.lease_losses == 1, "%llu losses", (unsigned long long)metrics.lease_losses);
}
END_TEST

static uint32_t claim_batch(bool retried_alone, SapRunnerV0Claim claims[MAX_MESSAGES])
{
    SapRunnerV0ClaimOptions options = {.worker_id = ME,
                                       .owner = 7,
                                       .now_ms = bed.clock.now_ms,
                                       .lease_ttl_ms = LEASE_MS,
                                       .retried_alone = retried_alone};
    SapTxnCtx *txn = post_begin(bed.post.db);
    uint32_t count = 0;

    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, claims, MAX_MESSAGES, &count, NULL),
              SAP_OK);
    post_commit(txn);
    return count;
}

/* ---- Ids ------------------------------------------------------------------------------------ */

/* As timers that are due at once they are one batch, which messages of one id are not. */
static void expect_one_of_three(SapRunnerV0Handler handler)
{
    SapRunnerV0Metrics metrics;
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_ONCE, "7");

    make(&bed.worker, handler, 10);
    make(&bed.rival, (SapRunnerV0Handler){.plain = rival_handles}, 1);
    SapTxnCtx *txn = post_begin(bed.post.db);
    for (int i = 0; i < 3; i++) {
        EXPECT_RC(sap_runner_timer_v0_append(txn, bed.clock.now_ms, frame, len, NULL), SAP_OK);
    }
    post_commit(txn);
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_OK);
    EXPECT(bed.handled[7] == 1, "handled %u times", bed.handled[7]);
    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &metrics);
    EXPECT(metrics.duplicates_skipped == 2, "%llu skipped",
           (unsigned long long)metrics.duplicates_skipped);
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "messages are left");
}

START_TEST(one_id_is_handled_once_in_a_batch_of_plain_handlers)
{
    expect_one_of_three((SapRunnerV0Handler){.plain = rival_handles});
}
END_TEST

START_TEST(one_id_is_handled_once_in_a_batch_of_blocks_that_read)
{
    expect_one_of_three((SapRunnerV0Handler){.atomic = block_handles, .read_only = 1});
}
END_TEST

START_TEST(one_claim_has_each_id_once)
{
    SapRunnerV0Claim claims[MAX_MESSAGES];
    char id[POST_ID_MAX];
    const char *sent[] = {"1", "2", "1", "3", "2"};

    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        post_send(bed.post.db, ME, POST_ONCE, sent[i]);
    }
    post_send(bed.post.db, ME, POST_NORMAL, "3"); /* this one is not flagged */
    uint32_t count = claim_batch(false, claims);
    EXPECT(count == 2, "%u were claimed", count);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(strcmp(post_id(claims[i].frame, claims[i].frame_len, id), sent[i]) == 0, "order");
        EXPECT_RC(post_ack(bed.post.db, &claims[i], bed.clock.now_ms), SAP_OK);
        sap_runner_v0_claim_release(&claims[i]);
    }
    count = claim_batch(false, claims);
    EXPECT(count == 2, "%u were claimed", count);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(strcmp(post_id(claims[i].frame, claims[i].frame_len, id), "3") == 0, "order");
        EXPECT_RC(post_ack(bed.post.db, &claims[i], bed.clock.now_ms), SAP_OK);
        sap_runner_v0_claim_release(&claims[i]);
    }
    EXPECT(claim_batch(false, claims) == 0 && post_rows(bed.post.db, POST_INBOX) == 0, "left");
}
END_TEST

/* ---- Timers --------------------------------------------------------------------------------- */

static int fails_but_timers(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)ctx;
    note(msg);
    return bed.handled[9] > 0 ? SAP_OK : SAP_ERROR;
}

START_TEST(a_due_timer_has_its_turn_between_messages_that_fail)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "9");
    uint32_t ticks = 0;

    make(&bed.worker, (SapRunnerV0Handler){.plain = fails_but_timers}, 4);
    make(&bed.rival, (SapRunnerV0Handler){.plain = rival_handles}, 1);
    send_many(8);
    while (bed.handled[7] == 0) {
        (void)sap_runner_v0_worker_tick(&bed.worker, NULL);
    }
    SapTxnCtx *txn = post_begin(bed.post.db);
    EXPECT_RC(sap_runner_timer_v0_append(txn, bed.clock.now_ms, frame, len, NULL), SAP_OK);
    post_commit(txn);
    for (; bed.handled[9] == 0; ticks++) {
        EXPECT(ticks < 3, "the timer waits");
        (void)sap_runner_v0_worker_tick(&bed.worker, NULL);
    }
}
END_TEST

/* ---- A message that ends its process -------------------------------------------------------- */

/* A process after the other, each of which ends when it comes to message 3, with what it handled before
 * not acknowledged. Another message comes before each, ahead of all that wait. Returns how many messages
 * are given up. */
static uint64_t dead_when_three_kills(bool retried_alone)
{
    SapRunnerV0Claim claims[MAX_MESSAGES];
    uint32_t next = 8;

    send_many(next);
    while (post_rows(bed.post.db, POST_INBOX) > 0) {
        uint32_t count = claim_batch(retried_alone, claims);
        bool lives = true;

        for (uint32_t i = 0; i < count && lives; i++) {
            char id[POST_ID_MAX];
            unsigned n = 0;

            EXPECT(sscanf(post_id(claims[i].frame, claims[i].frame_len, id), "%u", &n) == 1, "id");
            bed.handled[n]++;
            lives = n != 3;
        }
        for (uint32_t i = 0; i < count; i++) {
            if (lives) {
                EXPECT_RC(post_ack(bed.post.db, &claims[i], bed.clock.now_ms), SAP_OK);
            }
            sap_runner_v0_claim_release(&claims[i]);
        }
        if (next < MAX_MESSAGES) {
            char id[12];
            snprintf(id, sizeof id, "%u", next++);
            post_send(bed.post.db, ME, POST_HIGH, id);
        }
        bed.clock.now_ms += LEASE_MS;
    }
    return post_rows(bed.post.db, POST_DEAD);
}

START_TEST(a_message_that_ends_its_process_takes_no_other_with_it)
{
    EXPECT(dead_when_three_kills(true) == 1, "innocent messages were given up");
    for (uint32_t i = 8; i < MAX_MESSAGES; i++) {
        EXPECT(bed.handled[i] == 1, "message %u was handled %u times", i, bed.handled[i]);
    }
}
END_TEST

START_TEST(claimed_with_others_it_takes_them_along)
{
    EXPECT(dead_when_three_kills(false) > 5, "they were not claimed together");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/batch");
    TCase *tc = tcase_create("batch");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, handlers_of_a_batch_may_each_take_most_of_a_lease);
    tcase_add_test(tc, short_handlers_before_a_long_one_lose_nothing);
    tcase_add_test(tc, a_handler_that_touches_keeps_the_leases_of_its_batch);
    tcase_add_test(
        tc, a_lease_of_a_batch_that_was_lost_is_told_once_however_often_the_others_are_renewed);
    tcase_add_test(tc, one_id_is_handled_once_in_a_batch_of_plain_handlers);
    tcase_add_test(tc, one_id_is_handled_once_in_a_batch_of_blocks_that_read);
    tcase_add_test(tc, one_claim_has_each_id_once);
    tcase_add_test(tc, a_due_timer_has_its_turn_between_messages_that_fail);
    tcase_add_test(tc, a_message_that_ends_its_process_takes_no_other_with_it);
    tcase_add_test(tc, claimed_with_others_it_takes_them_along);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
