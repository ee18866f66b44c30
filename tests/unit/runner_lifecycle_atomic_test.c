/* Atomic handlers under the runner: state, messages, timers and the acknowledgement are one commit,
 * whatever fails on the way. */
#include "common/bytes.h"
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 600, NOW = 1000000, ME = 1, NEXT = 2, OTHER_OWNER = 4242 };

typedef struct Bed {
    Post post;
    PostClock clock;
    SapRunnerV0WorkerConfig config;
    SapRunnerV0Worker worker;
    uint32_t calls;
    uint32_t successes; /* runs that answered SAP_OK */
    int fail_rc;        /* answered fail_times times */
    uint32_t fail_times;
    bool disturb; /* another writer changes what the block has read, once */
    bool steal;   /* another worker takes the message, once */
} Bed;

static Bed bed;

/* ---- The block: counts in DBI 0, sends to NEXT, arms a timer there -------------------------- */

static int count_up(SapRunnerHostV0 *host, const char *key)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint8_t bytes[8];
    uint64_t n = 0;
    int rc = sap_runner_host_v0_get(host, 0, key, (uint32_t)strlen(key), &val, &len);

    if (rc == SAP_OK) {
        n = load_u64le(val);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    store_u64le(bytes, n + 1);
    return sap_runner_host_v0_put(host, 0, key, (uint32_t)strlen(key), bytes, sizeof bytes);
}

static uint64_t counter(const char *key)
{
    SapTxnCtx *txn = post_begin(bed.post.db);
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t n = 0;

    if (sap_txn_get(txn, key, (uint32_t)strlen(key), &val, &len) == SAP_OK) {
        n = load_u64le(val);
    }
    sap_txn_abort(txn);
    return n;
}

static int block(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Bed *b = ctx;
    char id[POST_ID_MAX] = "of ";
    SapRunnerV0Message out;

    b->calls++;
    memcpy(id + 3, msg->message_id, msg->message_id_len);
    id[3 + msg->message_id_len] = 0;
    int rc = count_up(host, "count");
    if (rc == SAP_OK) {
        rc = count_up(host, id); /* one for each message */
    }
    post_message(&out, NEXT, POST_NORMAL, id);
    if (rc == SAP_OK) {
        rc = sap_runner_host_v0_emit(host, &out);
    }
    if (rc == SAP_OK) {
        rc = sap_runner_host_v0_arm(host, sap_runner_host_v0_now_ms(host) + 10, &out);
    }
    if (b->disturb) {
        uint8_t bytes[8];
        b->disturb = false;
        store_u64le(bytes, 100);
        post_put(b->post.db, 0, "count", 5, bytes, 8);
    }
    if (b->steal) {
        SapRunnerV0Claim claim;
        b->steal = false;
        b->clock.now_ms += 1000;
        EXPECT(post_claim(b->post.db, ME, OTHER_OWNER, b->clock.now_ms, &claim) == 1, "held");
        sap_runner_v0_claim_release(&claim);
    }
    if (rc == SAP_OK && b->fail_times > 0) {
        b->fail_times--;
        rc = b->fail_rc;
    }
    b->successes += rc == SAP_OK;
    return rc;
}

/* Four attempts, one right after the other: how they wait is tested in runner_retry_test. */
static const SapRunnerV0Policy at_once = {.retry_budget_max = 4, .retry_backoff_ms = -1};

static void setup(void)
{
    memset(&bed, 0, sizeof bed);
    post_open(&bed.post);
    bed.clock.now_ms = NOW;
    bed.config.runner.db = bed.post.db;
    bed.config.runner.worker_id = ME;
    bed.config.runner.bootstrap_schema_if_missing = 1;
    bed.config.runner.policy = &at_once;
    bed.config.runner.time = post_clock_hooks(&bed.clock);
    bed.config.handler.atomic = block;
    bed.config.handler.ctx = &bed;
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &bed.config), SAP_OK);
}

static void teardown(void)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    post_close(&bed.post);
}

static void tick(int rc, uint32_t expected)
{
    uint32_t handled = 99;
    int got = sap_runner_v0_worker_tick(&bed.worker, &handled);

    EXPECT(got == rc, "tick answered %d instead of %d", got, rc);
    EXPECT(handled == expected, "%u handled instead of %u", handled, expected);
}

static SapRunnerV0Metrics metrics(void)
{
    SapRunnerV0Metrics m;

    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &m);
    return m;
}

static uint64_t inbox_of(int64_t worker)
{
    SapTxnCtx *txn = post_begin(bed.post.db);
    uint64_t count = 0;

    EXPECT_RC(sap_runner_mailbox_v0_stat(txn, worker, &count, NULL, NULL), SAP_OK);
    sap_txn_abort(txn);
    return count;
}

/* What of the block's effects there is, for a message handled `times` times. */
static void expect_effects(uint64_t times)
{
    uint64_t sent = inbox_of(NEXT) + post_rows(bed.post.db, POST_OUTBOX);

    EXPECT(counter("count") == times, "counted %llu instead of %llu",
           (unsigned long long)counter("count"), (unsigned long long)times);
    EXPECT(sent == times, "%llu messages sent instead of %llu", (unsigned long long)sent,
           (unsigned long long)times);
    EXPECT(post_rows(bed.post.db, POST_TIMERS) == times, "%llu timers instead of %llu",
           (unsigned long long)post_rows(bed.post.db, POST_TIMERS), (unsigned long long)times);
}

START_TEST(state_messages_timers_and_acknowledgement_come_together)
{
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    tick(SAP_OK, 1);
    EXPECT(inbox_of(ME) == 0 && post_rows(bed.post.db, POST_LEASES) == 0, "not acknowledged");
    expect_effects(1);
    EXPECT(sap_runner_v0_steps_completed(&bed.worker.runner) == 1, "steps");
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_OK); /* routes */
    tick(SAP_BUSY, 0);
    EXPECT(inbox_of(NEXT) == 1, "it was not routed");
    bed.clock.now_ms += 10;
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_OK);
    EXPECT(inbox_of(NEXT) == 2, "the timer did not fire");
    EXPECT(bed.calls == 1, "%u calls", bed.calls);
}
END_TEST

START_TEST(a_block_that_fails_leaves_nothing_but_its_count_of_attempts)
{
    static const int codes[] = {SAP_IO, SAP_EXISTS, SAP_FENCED, SAP_NOTFOUND, -5, 4711};

    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        expect_context("code %d", codes[i]);
        bed.fail_rc = codes[i];
        bed.fail_times = 4;
        post_send(bed.post.db, ME, POST_NORMAL, "a");
        for (int k = 0; k < 4; k++) {
            tick(codes[i], 1);
        }
        tick(SAP_BUSY, 0);
        EXPECT(post_rows(bed.post.db, POST_DEAD) == i + 1, "it is not a dead letter");
        EXPECT(inbox_of(ME) == 0, "it is in the inbox");
        expect_effects(0);
        EXPECT(metrics().step_successes == 0 && metrics().duplicates_skipped == 0 &&
                   metrics().lease_losses == 0,
               "counters");
    }
    EXPECT(metrics().non_retryable_failures == 4 * sizeof codes / sizeof codes[0], "counters");
}
END_TEST

START_TEST(a_conflict_runs_the_block_again_on_the_new_state)
{
    bed.disturb = true;
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    tick(SAP_OK, 1);
    EXPECT(bed.calls == 2, "%u runs", bed.calls);
    EXPECT(counter("count") == 101, "counted %llu", (unsigned long long)counter("count"));
    EXPECT(metrics().attempt_retries == 1 && metrics().requeues == 0, "counters");
    EXPECT(post_rows(bed.post.db, POST_TIMERS) == 1, "the first run left its timer");
}
END_TEST

START_TEST(a_worker_with_a_sleep_of_its_own_waits_by_it_between_runs_of_a_block)
{
    SapRunnerV0Policy policy = {.attempt_backoff_us = 60000, .attempt_backoff_max_us = 60000};

    EXPECT_RC(sap_runner_v0_worker_set_policy(&bed.worker, &policy), SAP_OK);
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    bed.fail_rc = SAP_CONFLICT;
    bed.fail_times = 3;
    uint64_t start_ns = clock_mono_ns(NULL);
    tick(SAP_OK, 1);
    ck_assert_uint_eq(bed.calls, 4);
    ck_assert_uint_eq(bed.clock.sleeps, 3);
    ck_assert_uint_ge(bed.clock.slept_ms, 90); /* half of 60 ms, three times */
    ck_assert_uint_le(bed.clock.slept_ms, 180);
    ck_assert_uint_lt(clock_mono_ns(NULL) - start_ns, UINT64_C(80000000));
}
END_TEST

START_TEST(a_block_that_meets_conflicts_for_too_long_is_put_back)
{
    SapRunnerV0Policy p;

    sap_runner_v0_policy_default(&p);
    p.attempt_max_retries = 2;
    p.retry_backoff_ms = -1;
    p.attempt_backoff_us = 1;
    p.attempt_backoff_max_us = 2;
    EXPECT_RC(sap_runner_v0_worker_set_policy(&bed.worker, &p), SAP_OK);
    bed.fail_rc = SAP_CONFLICT;
    bed.fail_times = 4;
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    tick(SAP_OK, 1); /* 3 runs, put back */
    EXPECT(bed.calls == 3 && metrics().requeues == 1 && metrics().retryable_conflicts == 1,
           "%u runs", bed.calls);
    expect_effects(0);
    tick(SAP_OK, 1); /* one more fails, then it goes through */
    EXPECT(bed.calls == 5, "%u runs", bed.calls);
    expect_effects(1);
    EXPECT(post_retry_rows(bed.post.db) == 0, "the count is left");
}
END_TEST

START_TEST(a_block_whose_lease_was_lost_changes_nothing)
{
    bed.steal = true;
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    tick(SAP_OK, 1);
    expect_effects(0);
    EXPECT(metrics().lease_losses == 1 && metrics().step_successes == 0 && metrics().requeues == 0,
           "counters");
    EXPECT(inbox_of(ME) == 1, "the other's message is gone");
    tick(SAP_BUSY, 0);
    bed.clock.now_ms += 1000;
    tick(SAP_OK, 1);
    expect_effects(1);
}
END_TEST

START_TEST(duplicates_change_state_once_also_in_one_batch)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    bed.config.max_batch = 5;
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &bed.config), SAP_OK);
    post_send(bed.post.db, ME, POST_ONCE, "a");
    post_send(bed.post.db, ME, POST_ONCE, "a");
    post_send(bed.post.db, ME, POST_ONCE, "a");
    while (sap_runner_v0_worker_tick(&bed.worker, NULL) != SAP_BUSY) {
    }
    expect_effects(1);
    EXPECT(metrics().duplicates_skipped == 2 && metrics().step_successes == 1, "counters");
    post_send(bed.post.db, ME, POST_ONCE, "a");
    while (sap_runner_v0_worker_tick(&bed.worker, NULL) != SAP_BUSY) {
    }
    expect_effects(1);
    EXPECT(inbox_of(ME) == 0, "duplicates are left");
}
END_TEST

START_TEST(a_step_without_an_inbox_commits_too)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "a");

    EXPECT_RC(sap_runner_v0_run_step(&bed.worker.runner, frame, len, &bed.config.handler), SAP_OK);
    expect_effects(1);
    bed.fail_rc = SAP_EXISTS;
    bed.fail_times = 1;
    EXPECT_RC(sap_runner_v0_run_step(&bed.worker.runner, frame, len, &bed.config.handler),
              SAP_EXISTS);
    expect_effects(1);
}
END_TEST

static int only_reads(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    const void *val = NULL;
    uint32_t len = 0;

    (void)msg;
    ((Bed *)ctx)->calls++;
    EXPECT_RC(sap_runner_host_v0_put(host, 0, "k", 1, "v", 1), SAP_READONLY);
    return sap_runner_host_v0_get(host, 0, "there", 5, &val, &len);
}

START_TEST(a_read_only_block_cannot_write_and_its_message_is_done)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    bed.config.handler.atomic = only_reads;
    bed.config.handler.read_only = 1;
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &bed.config), SAP_OK);
    post_put(bed.post.db, 0, "there", 5, "", 0);
    post_send(bed.post.db, ME, POST_NORMAL, "a");
    tick(SAP_OK, 1);
    tick(SAP_BUSY, 0);
    EXPECT(bed.calls == 1 && inbox_of(ME) == 0, "%u calls", bed.calls);
}
END_TEST

/* ---- Every allocation failed once ----------------------------------------------------------- */

static int plain(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    Bed *b = ctx;

    (void)runner;
    (void)msg;
    b->calls++;
    b->successes++;
    return SAP_OK;
}

/* Makes the inbox what a tick meets at its worst: messages of both kinds, one that another left, one
 * that is no frame, a duplicate, a due timer for each worker, a frame to route, an expired id. */
static void fill(void)
{
    SapRunnerV0Claim claim;
    uint8_t key[16];
    uint8_t frame[POST_FRAME_MAX];
    SapTxnCtx *txn = NULL;

    post_send(bed.post.db, ME, POST_NORMAL, "left");
    post_expect_claim(bed.post.db, ME, OTHER_OWNER, NOW - 1000, "left", &claim);
    sap_runner_v0_claim_release(&claim);
    post_send(bed.post.db, ME, POST_NORMAL, "n");
    post_send(bed.post.db, ME, POST_HIGH, "h");
    post_key(key, ME, 1);
    post_put(bed.post.db, POST_INBOX, key, 16, "junk", 4);
    txn = post_begin(bed.post.db);
    EXPECT_RC(sap_runner_dedupe_v0_accept(txn, ME, "dup", 3, "dup", 3, NOW - 50, 1000000), SAP_OK);
    EXPECT_RC(sap_runner_dedupe_v0_accept(txn, ME, "old", 3, "old", 3, NOW - 50, 10), SAP_OK);
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "timer");
    EXPECT_RC(sap_runner_timer_v0_append(txn, NOW, frame, len, NULL), SAP_OK);
    len = post_frame(frame, 3, POST_NORMAL, "moved");
    EXPECT_RC(sap_runner_timer_v0_append(txn, NOW, frame, len, NULL), SAP_OK);
    len = post_frame(frame, 3, POST_NORMAL, "routed");
    EXPECT_RC(sap_runner_outbox_v0_append(txn, frame, len, NULL), SAP_OK);
    post_commit(txn);
    post_send(bed.post.db, ME, POST_ONCE, "dup");
    post_send(bed.post.db, ME, POST_ONCE, "once");
}

enum { MESSAGES = 5 }; /* left, n, h, timer, once */

static uint64_t every_allocation(bool atomic)
{
    uint64_t n = 0;
    uint64_t fired = 1;
    uint64_t failures = 0;

    while (fired > 0) {
        n++;
        expect_context("allocation %llu", (unsigned long long)n);
        setup();
        EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
        bed.config.max_batch = 10;
        if (!atomic) {
            bed.config.handler.atomic = NULL;
            bed.config.handler.plain = plain;
        }
        fill();
        EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &bed.config), SAP_OK);
        fault_reset();
        fault_arm_alloc(n);
        uint32_t ticks = 0;
        int rc = SAP_OK;
        /* The fault strikes in the first ticks; whatever it left is put right by the others. */
        for (; ticks < 3; ticks++) {
            rc = sap_runner_v0_worker_tick(&bed.worker, NULL);
            EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_NOMEM, "tick answered %d", rc);
            failures += rc == SAP_NOMEM;
        }
        fired = fault_fired();
        fault_reset();
        for (; ticks < 20; ticks++) {
            bed.clock.now_ms += 1; /* timers of blocks are not due yet */
            rc = sap_runner_v0_worker_tick(&bed.worker, NULL);
            EXPECT(rc == SAP_OK || rc == SAP_BUSY, "tick answered %d", rc);
            if (rc == SAP_BUSY && inbox_of(ME) > 0) {
                bed.clock.now_ms += 1000; /* leases of the tick that failed */
            }
        }
        EXPECT(inbox_of(ME) == 0, "%llu messages are left", (unsigned long long)inbox_of(ME));
        EXPECT(inbox_of(3) == 2, "%llu moved instead of 2", (unsigned long long)inbox_of(3));
        EXPECT(post_rows(bed.post.db, POST_DEAD) == 1, "dead letters");
        EXPECT(post_rows(bed.post.db, POST_LEASES) == 0, "leases");
        EXPECT(post_retry_rows(bed.post.db) == 0, "counts of attempts");
        if (atomic) {
            uint64_t sent = inbox_of(NEXT) + post_rows(bed.post.db, POST_OUTBOX) +
                            post_rows(bed.post.db, POST_TIMERS);
            static const char *ids[] = {"of left", "of n", "of h", "of timer", "of once"};
            EXPECT(counter("count") == MESSAGES, "counted %llu",
                   (unsigned long long)counter("count"));
            for (int i = 0; i < MESSAGES; i++) {
                EXPECT(counter(ids[i]) == 1, "'%s': %llu", ids[i],
                       (unsigned long long)counter(ids[i]));
            }
            EXPECT(sent == (uint64_t)2 * MESSAGES, "%llu sent", (unsigned long long)sent);
        } else {
            EXPECT(bed.successes >= MESSAGES, "only %u handled", bed.successes);
        }
        teardown();
    }
    printf("%s: %llu allocations failed, %llu ticks said so\n", atomic ? "atomic" : "plain",
           (unsigned long long)(n - 1), (unsigned long long)failures);
    return n;
}

START_TEST(a_tick_without_memory_loses_nothing_and_does_nothing_twice)
{
    EXPECT(every_allocation(true) > 20, "hardly an allocation");
}
END_TEST

START_TEST(a_tick_of_a_plain_handler_without_memory_loses_nothing)
{
    EXPECT(every_allocation(false) > 20, "hardly an allocation");
}
END_TEST

START_TEST(a_worker_without_memory_is_not_made_and_keeps_nothing)
{
    uint64_t n = 0;
    uint64_t fired = 1;

    while (fired > 0) {
        Post post;
        SapRunnerV0Worker worker;
        SapRunnerV0WorkerConfig config = {
            .runner = {.worker_id = ME, .bootstrap_schema_if_missing = 1},
            .handler = {.plain = plain, .ctx = &bed}};

        n++;
        post.memory = mem_live_total();
        post.db = sap_db_open(NULL, 4096, NULL, NULL);
        EXPECT(post.db != NULL, "no DB");
        config.runner.db = post.db;
        size_t before = mem_live_bytes(MEM_RUNNER);
        fault_reset();
        fault_arm_alloc(n);
        int rc = sap_runner_v0_worker_init(&worker, &config);
        fired = fault_fired();
        fault_reset();
        if (fired > 0) {
            EXPECT(rc == SAP_NOMEM || rc == SAP_OK, "init answered %d", rc);
        } else {
            EXPECT_RC(rc, SAP_OK);
        }
        if (rc != SAP_OK) {
            EXPECT(mem_live_bytes(MEM_RUNNER) == before, "memory is left");
            EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
            EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
        }
        EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
        post_close(&post);
    }
    printf("%llu allocations failed\n", (unsigned long long)(n - 1));
    EXPECT(n > 3, "hardly an allocation");
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_lifecycle_atomic");
    TCase *tc = tcase_create("atomic");
    TCase *faults = tcase_create("faults");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, state_messages_timers_and_acknowledgement_come_together);
    tcase_add_test(tc, a_block_that_fails_leaves_nothing_but_its_count_of_attempts);
    tcase_add_test(tc, a_conflict_runs_the_block_again_on_the_new_state);
    tcase_add_test(tc, a_worker_with_a_sleep_of_its_own_waits_by_it_between_runs_of_a_block);
    tcase_add_test(tc, a_block_that_meets_conflicts_for_too_long_is_put_back);
    tcase_add_test(tc, a_block_whose_lease_was_lost_changes_nothing);
    tcase_add_test(tc, duplicates_change_state_once_also_in_one_batch);
    tcase_add_test(tc, a_step_without_an_inbox_commits_too);
    tcase_add_test(tc, a_read_only_block_cannot_write_and_its_message_is_done);
    suite_add_tcase(suite, tc);
    tcase_set_timeout(faults, TIMEOUT_S);
    tcase_add_test(faults, a_tick_without_memory_loses_nothing_and_does_nothing_twice);
    tcase_add_test(faults, a_tick_of_a_plain_handler_without_memory_loses_nothing);
    tcase_add_test(faults, a_worker_without_memory_is_not_made_and_keeps_nothing);
    suite_add_tcase(suite, faults);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
