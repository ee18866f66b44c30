/* Workers in threads: started, woken, stopped in the middle of work, alone and in groups. */
#include "common/bytes.h"
#include "common/clock.h"
#include "common/config.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMEOUT_S = 300, WAIT_S = 60, FOREVER_MS = 3600 * 1000, ME = 1, OTHER_OWNER = 4242 };

static Post post;
static atomic_uint handled;
static atomic_uint at_once; /* handlers that run now */
static atomic_uint most_at_once;

static void setup(void)
{
    post_open(&post);
    atomic_store(&handled, 0);
    atomic_store(&at_once, 0);
    atomic_store(&most_at_once, 0);
}

static void teardown(void)
{
    post_close(&post);
}

static void nap(void)
{
    struct timespec ms = {0, 1000000};

    nanosleep(&ms, NULL);
}

/* Waits until `counter` is at least n; aborts if it takes far too long. */
static void wait_for(atomic_uint *counter, uint32_t n)
{
    uint64_t end = clock_mono_ns(NULL) + UINT64_C(1000000000) * WAIT_S;

    while (atomic_load(counter) < n) {
        EXPECT(clock_mono_ns(NULL) < end, "%u instead of %u after %d s", atomic_load(counter), n,
               WAIT_S);
        nap();
    }
}

static int count_plain(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)msg;
    (void)ctx;
    unsigned now = atomic_fetch_add(&at_once, 1) + 1;
    unsigned most = atomic_load(&most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&most_at_once, &most, now)) {
    }
    atomic_fetch_add(&handled, 1);
    atomic_fetch_sub(&at_once, 1);
    return SAP_OK;
}

static SapRunnerV0WorkerConfig config_of(sap_runner_v0_message_handler handler)
{
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = post.db, .worker_id = ME, .bootstrap_schema_if_missing = 1},
        .handler = {.plain = handler},
        .max_idle_sleep_ms = FOREVER_MS};

    return config;
}

static void send_many(int64_t worker, uint32_t count)
{
    char id[POST_ID_MAX];

    for (uint32_t i = 0; i < count; i++) {
        snprintf(id, sizeof id, "%lld-%u", (long long)worker, i);
        post_send(post.db, worker, POST_NORMAL, id);
    }
}

/* ---- One worker ----------------------------------------------------------------------------- */

static SapRunnerV0Worker called_back;
static SapRunnerV0Group *called_group;
static atomic_int back_rc[4];

static int calls_back(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    SapRunnerV0Handler handler = {.plain = count_plain};

    if (ctx != NULL) {
        atomic_store(&back_rc[0], sap_runner_v0_group_stop(called_group));
        return count_plain(runner, msg, ctx);
    }
    atomic_store(&back_rc[0], sap_runner_v0_worker_shutdown(&called_back));
    atomic_store(&back_rc[1], sap_runner_v0_worker_tick(&called_back, NULL));
    atomic_store(&back_rc[2], sap_runner_v0_poll_inbox(runner, &handler, 1, NULL));
    atomic_store(&back_rc[3], sap_runner_v0_shutdown(runner));
    return count_plain(runner, msg, ctx);
}

START_TEST(while_its_thread_runs_a_worker_is_busy_for_its_handler_and_for_others)
{
    SapRunnerV0WorkerConfig config = config_of(calls_back);
    SapRunnerV0Handler handler = {.plain = count_plain};

    EXPECT_RC(sap_runner_v0_worker_init(&called_back, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&called_back), SAP_OK);
    send_many(ME, 3);
    wait_for(&handled, 3);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(atomic_load(&back_rc[i]), SAP_BUSY);
    }
    /* Other threads, also while it sleeps. */
    ck_assert_int_eq(sap_runner_v0_worker_tick(&called_back, NULL), SAP_BUSY);
    ck_assert_int_eq(sap_runner_v0_poll_inbox(&called_back.runner, &handler, 1, NULL), SAP_BUSY);
    ck_assert_int_eq(sap_runner_v0_shutdown(&called_back.runner), SAP_BUSY);
    /* Nothing has stopped it. */
    send_many(ME, 1);
    wait_for(&handled, 4);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&called_back), SAP_OK);
    ck_assert_uint_eq(post_rows(post.db, POST_INBOX), 0);
    ck_assert_uint_eq(post_rows(post.db, POST_LEASES), 0);
}
END_TEST

START_TEST(a_group_cannot_be_stopped_by_a_worker_of_its_own)
{
    static int any;
    SapRunnerV0GroupConfig config = {.worker = config_of(calls_back), .worker_count = 3};

    config.worker.handler.ctx = &any;
    config.shared_inbox = 1;
    EXPECT_RC(sap_runner_v0_group_start(&config, &called_group), SAP_OK);
    send_many(ME, 5);
    wait_for(&handled, 5);
    ck_assert_int_eq(atomic_load(&back_rc[0]), SAP_BUSY);
    send_many(ME, 5);
    wait_for(&handled, 10);
    EXPECT_RC(sap_runner_v0_group_stop(called_group), SAP_OK);
}
END_TEST

START_TEST(a_worker_is_started_stopped_and_started_again)
{
    SapRunnerV0WorkerConfig config = config_of(count_plain);
    SapRunnerV0Worker worker;

    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_start(NULL), SAP_ERROR);
    for (uint32_t round = 1; round <= 3; round++) {
        EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
        EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_ERROR);
        send_many(ME, 10);
        wait_for(&handled, 10 * round);
        sap_runner_v0_worker_request_stop(&worker);
        EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
        EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_ERROR);
    }
    EXPECT(sap_runner_v0_steps_completed(&worker.runner) == 30, "steps");
    EXPECT(post_rows(post.db, POST_INBOX) == 0, "messages are left");
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK); /* stops and joins */
    sap_runner_v0_worker_request_stop(NULL);
}
END_TEST

START_TEST(a_worker_can_be_started_but_not_joined_beside_a_writer_of_the_same_thread)
{
    SapRunnerV0WorkerConfig config = config_of(count_plain);
    SapRunnerV0Worker worker;

    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    post_send_in(txn, ME, POST_NORMAL, "a");
    post_commit(txn);
    wait_for(&handled, 1);
    for (int i = 0; i < 50; i++) {
        nap(); /* it sleeps for an hour, and is woken by what it has asked for meanwhile */
    }
    post_send(post.db, ME, POST_NORMAL, "b");
    wait_for(&handled, 2);
    for (int i = 0; i < 50; i++) {
        nap();
    }
    txn = post_begin(post.db);
    sap_runner_v0_worker_request_stop(&worker);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_BUSY);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_ERROR);
    sap_txn_abort(txn);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
}
END_TEST

START_TEST(an_idle_worker_is_woken_by_a_message_and_by_a_timer)
{
    SapRunnerV0WorkerConfig config = config_of(count_plain);
    SapRunnerV0Worker worker;
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "t");

    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    for (uint32_t round = 0; round < 20; round++) {
        for (int i = 0; i < 5; i++) {
            nap(); /* it sleeps for an hour */
        }
        post_send(post.db, ME, POST_NORMAL, "a");
        wait_for(&handled, 2 * round + 1);
        SapTxnCtx *txn = post_begin(post.db);
        EXPECT_RC(sap_runner_timer_v0_append(txn, clock_wall_ms(NULL) + 5, frame, len, NULL),
                  SAP_OK);
        post_commit(txn);
        wait_for(&handled, 2 * round + 2);
    }
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    EXPECT(atomic_load(&handled) == 40, "%u handled", atomic_load(&handled));
}
END_TEST

START_TEST(a_timer_that_comes_before_the_one_it_sleeps_for_wakes_the_worker)
{
    SapRunnerV0WorkerConfig config = config_of(count_plain);
    SapRunnerV0Worker worker;
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "t");
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(
        sap_runner_timer_v0_append(txn, clock_wall_ms(NULL) + FOREVER_MS / 2, frame, len, NULL),
        SAP_OK);
    post_commit(txn);
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    for (int i = 0; i < 20; i++) {
        nap();
    }
    txn = post_begin(post.db);
    EXPECT_RC(sap_runner_timer_v0_append(txn, clock_wall_ms(NULL) + 20, frame, len, NULL), SAP_OK);
    post_commit(txn);
    wait_for(&handled, 1);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    EXPECT(post_rows(post.db, POST_TIMERS) == 1, "the later one is gone");
}
END_TEST

START_TEST(a_sleeping_worker_takes_over_when_the_lease_of_another_expires)
{
    SapRunnerV0WorkerConfig config = config_of(count_plain);
    SapRunnerV0Worker worker;
    SapRunnerV0Claim claim;
    uint32_t count = 0;

    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    for (int i = 0; i < 10; i++) {
        nap();
    }
    /* Sent and leased in one commit, by somebody who then dies. */
    SapTxnCtx *txn = post_begin(post.db);
    SapRunnerV0ClaimOptions options = {
        .worker_id = ME, .owner = OTHER_OWNER, .now_ms = clock_wall_ms(NULL), .lease_ttl_ms = 300};
    post_send_in(txn, ME, POST_NORMAL, "left");
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, &claim, 1, &count, NULL), SAP_OK);
    EXPECT(count == 1, "no claim");
    post_commit(txn);
    sap_runner_v0_claim_release(&claim);
    wait_for(&handled, 1);
    EXPECT(clock_wall_ms(NULL) >= claim.deadline_ms, "too early");
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
}
END_TEST

static int stop_myself(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)msg;
    sap_runner_v0_worker_request_stop(ctx);
    atomic_fetch_add(&handled, 1);
    return SAP_OK;
}

START_TEST(a_handler_can_stop_its_worker_which_ends_after_its_tick)
{
    SapRunnerV0WorkerConfig config = config_of(stop_myself);
    SapRunnerV0Worker worker;

    config.handler.ctx = &worker;
    send_many(ME, 10);
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
    EXPECT(atomic_load(&handled) == 1, "%u handled", atomic_load(&handled));
    EXPECT(post_rows(post.db, POST_INBOX) == 9, "the message that stopped it is not acknowledged");
    EXPECT(post_rows(post.db, POST_LEASES) == 0, "leases are left");
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
}
END_TEST

static int always_fails(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)msg;
    (void)ctx;
    atomic_fetch_add(&handled, 1);
    return SAP_IO;
}

static atomic_uint worker_errors;

static void count_errors(const SapRunnerV0LogEvent *event, void *ctx)
{
    (void)ctx;
    if (event->kind == SAP_RUNNER_V0_LOG_WORKER_ERROR) {
        atomic_fetch_add(&worker_errors, 1);
    }
}

START_TEST(a_worker_survives_handlers_that_fail)
{
    SapRunnerV0WorkerConfig config = config_of(always_fails);
    SapRunnerV0Policy policy = {.retry_budget_max = 4, .retry_backoff_ms = 1};
    SapRunnerV0Worker worker;

    config.runner.policy = &policy;

    atomic_store(&worker_errors, 0);
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    sap_runner_v0_set_log_sink(&worker.runner, count_errors, NULL);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    send_many(ME, 5);
    wait_for(&handled, 20);
    wait_for(&worker_errors, 20);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    EXPECT(atomic_load(&handled) == 20, "%u attempts", atomic_load(&handled));
    EXPECT(post_rows(post.db, POST_DEAD) == 5 && post_rows(post.db, POST_INBOX) == 0, "rows");
}
END_TEST

/* ---- Stop during load ----------------------------------------------------------------------- */

typedef struct Producer {
    pthread_t thread;
    uint32_t number;
    uint32_t sent;
} Producer;

static atomic_bool enough;

static void *produce(void *arg)
{
    Producer *p = arg;
    char id[POST_ID_MAX];

    while (!atomic_load(&enough)) {
        snprintf(id, sizeof id, "p%u-%u", p->number, p->sent);
        post_send(post.db, ME, POST_NORMAL, id);
        p->sent++;
    }
    return NULL;
}

START_TEST(a_worker_stopped_under_load_leaves_each_message_handled_or_waiting)
{
    enum { PRODUCERS = 2, STOPS = 5 };
    SapRunnerV0WorkerConfig config = config_of(count_plain);
    SapRunnerV0Worker worker;
    Producer producers[PRODUCERS] = {{0}};
    uint32_t sent = 0;

    config.max_batch = 4;
    atomic_store(&enough, false);
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producers[i].number = i;
        EXPECT(pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0, "thread");
    }
    for (uint32_t stop = 1; stop <= STOPS; stop++) {
        uint32_t before = atomic_load(&handled);
        EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
        wait_for(&handled, before + 50);
        SapRunnerV0Metrics m;
        sap_runner_v0_metrics_snapshot(&worker.runner, &m);
        EXPECT(m.step_successes <= sap_runner_v0_steps_completed(&worker.runner), "counters");
        sap_runner_v0_worker_request_stop(&worker);
        EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
        EXPECT(post_rows(post.db, POST_LEASES) == 0, "leases are left");
    }
    atomic_store(&enough, true);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        pthread_join(producers[i].thread, NULL);
        sent += producers[i].sent;
    }
    uint64_t waiting = post_rows(post.db, POST_INBOX);
    EXPECT(atomic_load(&handled) + waiting == sent, "%u handled, %llu waiting, %u sent",
           atomic_load(&handled), (unsigned long long)waiting, sent);
    printf("%u sent, %u handled\n", sent, atomic_load(&handled));
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
}
END_TEST

/* ---- Groups --------------------------------------------------------------------------------- */

static int count_atomic(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint8_t bytes[8];
    uint64_t n = 0;

    (void)ctx;
    int rc = sap_runner_host_v0_get(host, 0, msg->message_id, msg->message_id_len, &val, &len);
    if (rc == SAP_OK) {
        n = load_u64le(val);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    store_u64le(bytes, n + 1);
    rc = sap_runner_host_v0_put(host, 0, msg->message_id, msg->message_id_len, bytes, 8);
    /* One row that all of them change: conflicts. */
    if (rc == SAP_OK) {
        rc = sap_runner_host_v0_get(host, 0, "all", 3, &val, &len);
        n = rc == SAP_OK ? load_u64le(val) : 0;
        store_u64le(bytes, n + 1);
        rc = sap_runner_host_v0_put(host, 0, "all", 3, bytes, 8);
    }
    return rc;
}

static uint64_t counter(const char *key)
{
    SapTxnCtx *txn = post_begin(post.db);
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t n = 0;

    if (sap_txn_get(txn, key, (uint32_t)strlen(key), &val, &len) == SAP_OK) {
        n = load_u64le(val);
    }
    sap_txn_abort(txn);
    return n;
}

static void wait_until_empty(void)
{
    uint64_t end = clock_mono_ns(NULL) + UINT64_C(1000000000) * WAIT_S;

    while (post_rows(post.db, POST_INBOX) + post_rows(post.db, POST_TIMERS) > 0) {
        EXPECT(clock_mono_ns(NULL) < end, "%llu messages are left after %d s",
               (unsigned long long)post_rows(post.db, POST_INBOX), WAIT_S);
        nap();
    }
}

START_TEST(a_group_on_one_inbox_handles_each_message_once)
{
    enum { WORKERS = 4, MESSAGES = SAP_SANITIZED ? 300 : 1000 };
    SapRunnerV0GroupConfig config = {
        .worker = config_of(NULL), .worker_count = WORKERS, .shared_inbox = 1};
    SapRunnerV0Group *group = NULL;
    SapRunnerV0Policy policy;
    uint64_t successes = 0;
    char id[POST_ID_MAX];

    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = 60000; /* a slow machine is no dead worker */
    policy.retry_budget_max = 1000;
    config.worker.runner.policy = &policy;
    config.worker.handler.atomic = count_atomic;
    config.worker.max_batch = 3;
    send_many(ME, MESSAGES / 2);
    EXPECT_RC(sap_runner_v0_group_start(&config, &group), SAP_OK);
    EXPECT(sap_runner_v0_group_worker(group, WORKERS) == NULL, "a worker too many");
    for (uint32_t i = MESSAGES / 2; i < MESSAGES; i++) {
        snprintf(id, sizeof id, "%d-%u", ME, i);
        post_send(post.db, ME, POST_NORMAL, id);
    }
    wait_until_empty();
    for (uint32_t n = 0; n < WORKERS; n++) {
        SapRunnerV0Worker *worker = sap_runner_v0_group_worker(group, n);
        EXPECT(worker != NULL && worker->runner.worker_id == ME, "another worker");
        successes += sap_runner_v0_steps_completed(&worker->runner);
    }
    EXPECT_RC(sap_runner_v0_group_stop(group), SAP_OK);
    EXPECT(counter("all") == MESSAGES, "%llu changes", (unsigned long long)counter("all"));
    for (uint32_t i = 0; i < MESSAGES; i++) {
        snprintf(id, sizeof id, "%d-%u", ME, i);
        EXPECT(counter(id) == 1, "message %s: %llu times", id, (unsigned long long)counter(id));
    }
    EXPECT(successes <= MESSAGES, "%llu steps", (unsigned long long)successes);
    EXPECT(post_rows(post.db, POST_DEAD) == 0 && post_rows(post.db, POST_LEASES) == 0, "rows");
    EXPECT_RC(sap_runner_v0_group_stop(NULL), SAP_OK);
}
END_TEST

START_TEST(a_group_with_inboxes_of_their_own_serves_each)
{
    enum { WORKERS = 3, MESSAGES = 50 };
    SapRunnerV0GroupConfig config = {.worker = config_of(count_plain), .worker_count = WORKERS};
    SapRunnerV0Group *group = NULL;

    EXPECT_RC(sap_runner_v0_group_start(&config, &group), SAP_OK);
    for (int64_t w = 0; w < WORKERS; w++) {
        send_many(ME + w, MESSAGES);
    }
    send_many(ME + WORKERS, 1);
    wait_for(&handled, WORKERS * MESSAGES);
    for (uint32_t n = 0; n < WORKERS; n++) {
        SapRunnerV0Worker *worker = sap_runner_v0_group_worker(group, n);
        EXPECT(worker->runner.worker_id == ME + (int64_t)n, "another inbox");
        sap_runner_v0_worker_request_stop(worker);
        EXPECT_RC(sap_runner_v0_worker_join(worker), SAP_OK);
        EXPECT(sap_runner_v0_steps_completed(&worker->runner) == MESSAGES, "steps");
    }
    EXPECT_RC(sap_runner_v0_group_stop(group), SAP_OK);
    EXPECT(post_rows(post.db, POST_INBOX) == 1, "somebody served an inbox that nobody has");
}
END_TEST

START_TEST(a_group_that_cannot_start_leaves_nothing)
{
    SapRunnerV0GroupConfig config = {.worker = config_of(NULL), .worker_count = 3};
    SapRunnerV0Group *group = NULL;

    EXPECT_RC(sap_runner_v0_group_start(&config, &group), SAP_ERROR);
    config.worker.handler.plain = count_plain;
    config.worker.runner.worker_id = INT64_MAX; /* the second would have no number */
    EXPECT_RC(sap_runner_v0_group_start(&config, &group), SAP_ERROR);
    config.worker.runner.worker_id = ME;
    config.worker.runner.schema_major = 99;
    config.worker.runner.bootstrap_schema_if_missing = 0;
    int rc = sap_runner_v0_group_start(&config, &group);
    EXPECT(rc == SAP_CONFLICT || rc == SAP_NOTFOUND, "answered %d", rc);
    EXPECT(group == NULL, "a group");
    EXPECT_RC(sap_runner_v0_group_start(NULL, &group), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_group_start(&config, NULL), SAP_ERROR);
    EXPECT(sap_runner_v0_group_worker(NULL, 0) == NULL, "a worker");
}
END_TEST

/* ---- The gate ------------------------------------------------------------------------------- */

/* Returns when two of them are inside at once. */
static int meets_the_other(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)msg;
    (void)ctx;
    atomic_fetch_add(&at_once, 1);
    wait_for(&at_once, 2);
    atomic_fetch_add(&handled, 1);
    return SAP_OK;
}

START_TEST(the_gate_never_holds_a_handler)
{
    SapRunnerV0WorkerConfig config = config_of(meets_the_other);
    SapRunnerV0Worker workers[2];
    SapRunnerV0DbGate gate;
    SapRunnerV0Policy policy;

    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = 60000;
    config.runner.policy = &policy;
    EXPECT_RC(sap_runner_v0_db_gate_init(&gate), SAP_OK);
    for (int i = 0; i < 2; i++) {
        config.runner.worker_id = ME + i;
        EXPECT_RC(sap_runner_v0_worker_init(&workers[i], &config), SAP_OK);
        sap_runner_v0_worker_set_db_gate(&workers[i], &gate);
    }
    for (int i = 0; i < 2; i++) {
        EXPECT_RC(sap_runner_v0_worker_start(&workers[i]), SAP_OK);
    }
    post_send(post.db, ME, POST_NORMAL, "a");
    post_send(post.db, ME + 1, POST_NORMAL, "b");
    wait_for(&handled, 2);
    for (int i = 0; i < 2; i++) {
        EXPECT_RC(sap_runner_v0_worker_shutdown(&workers[i]), SAP_OK);
    }
    EXPECT(post_rows(post.db, POST_INBOX) == 0, "messages are left");
    sap_runner_v0_db_gate_shutdown(&gate);
}
END_TEST

/* ---- Conversations -------------------------------------------------------------------------- */

static int pass_on(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    uint8_t bytes[4];
    uint32_t left = load_u32le(msg->payload);
    SapRunnerV0Message out = {.to_worker = 3 - msg->to_worker, /* 1 to 2, 2 to 1 */
                              .payload = bytes,
                              .payload_len = sizeof bytes};

    (void)ctx;
    store_u32le(bytes, left - 1);
    if (left == 0) {
        return sap_runner_host_v0_put(host, 0, "done", 4, "\1\0\0\0\0\0\0\0", 8);
    }
    return sap_runner_host_v0_emit(host, &out);
}

START_TEST(workers_wake_each_other_through_the_outbox)
{
    enum { HOPS = SAP_SANITIZED ? 50 : 200 };
    SapRunnerV0GroupConfig config = {.worker = config_of(NULL), .worker_count = 2};
    SapRunnerV0Group *group = NULL;
    SapRunnerV0Message msg;
    uint8_t bytes[4];
    uint64_t end = clock_mono_ns(NULL) + UINT64_C(1000000000) * WAIT_S;

    config.worker.handler.atomic = pass_on;
    EXPECT_RC(sap_runner_v0_group_start(&config, &group), SAP_OK);
    post_message(&msg, ME, POST_NORMAL, "ball");
    store_u32le(bytes, HOPS);
    msg.payload = bytes;
    msg.payload_len = sizeof bytes;
    EXPECT_RC(sap_runner_v0_send(post.db, &msg, NULL), SAP_OK);
    while (counter("done") == 0) {
        EXPECT(clock_mono_ns(NULL) < end, "the ball was lost");
        nap();
    }
    EXPECT_RC(sap_runner_v0_group_stop(group), SAP_OK);
    EXPECT(post_rows(post.db, POST_INBOX) == 0 && post_rows(post.db, POST_OUTBOX) == 0, "rows");
}
END_TEST

static atomic_uint forwarded;

static int count_forwarded(const void *frame, uint32_t len, uint64_t seq, void *ctx)
{
    (void)frame;
    (void)len;
    (void)seq;
    (void)ctx;
    atomic_fetch_add(&forwarded, 1);
    return SAP_OK;
}

static int send_away(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    SapRunnerV0Message out = {
        .to_worker = 99, .payload = msg->payload, .payload_len = msg->payload_len};

    (void)ctx;
    return sap_runner_host_v0_emit(host, &out);
}

/* In a file, where what a block sends is on disk only later than it commits. */
START_TEST(what_is_for_elsewhere_is_forwarded_before_the_worker_sleeps)
{
    FileBed file;
    SapRunnerV0Worker worker;
    SapRunnerV0WorkerConfig config = config_of(NULL);

    file_bed_start(&file);
    SapEnv *db = file_bed_open(&file);
    config.runner.db = db;
    config.handler.atomic = send_away;
    config.forward = count_forwarded;
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    post_send(db, ME, POST_NORMAL, "before it started");
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    wait_for(&forwarded, 1);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&file);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_lifecycle_threads");
    TCase *tc = tcase_create("threads");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, while_its_thread_runs_a_worker_is_busy_for_its_handler_and_for_others);
    tcase_add_test(tc, a_group_cannot_be_stopped_by_a_worker_of_its_own);
    tcase_add_test(tc, what_is_for_elsewhere_is_forwarded_before_the_worker_sleeps);
    tcase_add_test(tc, a_worker_is_started_stopped_and_started_again);
    tcase_add_test(tc, a_worker_can_be_started_but_not_joined_beside_a_writer_of_the_same_thread);
    tcase_add_test(tc, an_idle_worker_is_woken_by_a_message_and_by_a_timer);
    tcase_add_test(tc, a_timer_that_comes_before_the_one_it_sleeps_for_wakes_the_worker);
    tcase_add_test(tc, a_sleeping_worker_takes_over_when_the_lease_of_another_expires);
    tcase_add_test(tc, a_handler_can_stop_its_worker_which_ends_after_its_tick);
    tcase_add_test(tc, a_worker_survives_handlers_that_fail);
    tcase_add_test(tc, a_worker_stopped_under_load_leaves_each_message_handled_or_waiting);
    tcase_add_test(tc, a_group_on_one_inbox_handles_each_message_once);
    tcase_add_test(tc, a_group_with_inboxes_of_their_own_serves_each);
    tcase_add_test(tc, a_group_that_cannot_start_leaves_nothing);
    tcase_add_test(tc, the_gate_never_holds_a_handler);
    tcase_add_test(tc, workers_wake_each_other_through_the_outbox);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
