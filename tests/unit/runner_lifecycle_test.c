/* The runner from init to shutdown: guards, steps, polls, ticks, and what is reported of them. */
#include "common/config.h"
#include "common/mem.h"
#include "runner/runner_v0.h"
#include "sapling/queue.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, NOW = 1000000, ME = 1, OTHER_OWNER = 4242, MAX_EVENTS = 256 };

/* ---- A worker, what its handler does, and what it reports ----------------------------------- */

typedef struct Bed {
    Post post;
    PostClock clock;
    SapRunnerV0WorkerConfig config;
    SapRunnerV0Worker worker;
    char handled[1024]; /* ids, each with a space behind it */
    uint32_t calls;
    /* The handler answers fail_rc to messages whose id begins with 'f', fail_times times. */
    int fail_rc;
    uint32_t fail_times;
    int64_t takes_ms; /* on the clock */
    void (*inside)(struct Bed *bed, SapRunnerV0 *runner, const SapRunnerV0Message *msg);
    SapRunnerV0LogEvent logs[MAX_EVENTS];
    char log_ids[MAX_EVENTS][POST_ID_MAX];
    uint32_t log_count;
    SapRunnerV0ReplayEvent replays[MAX_EVENTS];
    char replay_ids[MAX_EVENTS][POST_ID_MAX];
    uint32_t replay_count;
    SapRunnerV0Metrics metrics; /* the last that the sink got */
    uint32_t metrics_count;
    char forwarded[256];
    int forward_rc;
} Bed;

static Bed bed;

static void note(char *list, size_t size, const void *id, uint32_t len)
{
    size_t used = strlen(list);

    EXPECT(used + len + 2 <= size, "too many notes");
    memcpy(list + used, id, len);
    memcpy(list + used + len, " ", 2);
}

static int plain(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    Bed *b = ctx;

    b->calls++;
    note(b->handled, sizeof b->handled, msg->message_id, msg->message_id_len);
    b->clock.now_ms += b->takes_ms;
    if (b->inside != NULL) {
        b->inside(b, runner, msg);
    }
    if (((const char *)msg->message_id)[0] == 'f' && b->fail_times > 0) {
        b->fail_times--;
        return b->fail_rc;
    }
    return SAP_OK;
}

static void on_log(const SapRunnerV0LogEvent *event, void *ctx)
{
    Bed *b = ctx;

    EXPECT(b->log_count < MAX_EVENTS, "too many log events");
    b->logs[b->log_count] = *event;
    if (event->message_id != NULL) {
        EXPECT(event->message_id_len < POST_ID_MAX, "a long id");
        memcpy(b->log_ids[b->log_count], event->message_id, event->message_id_len);
    }
    b->log_count++;
}

static void on_replay(const SapRunnerV0ReplayEvent *event, void *ctx)
{
    Bed *b = ctx;

    EXPECT(b->replay_count < MAX_EVENTS, "too many replay events");
    b->replays[b->replay_count] = *event;
    SapRunnerV0Message msg;
    if (sap_runner_wire_v0_decode_message(event->frame, event->frame_len, &msg) == SAP_OK) {
        post_id(event->frame, event->frame_len, b->replay_ids[b->replay_count]);
    }
    b->replay_count++;
}

static void on_metrics(const SapRunnerV0Metrics *metrics, void *ctx)
{
    Bed *b = ctx;

    b->metrics = *metrics;
    b->metrics_count++;
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
    bed.config.handler.plain = plain;
    bed.config.handler.ctx = &bed;
}

static void start(void)
{
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &bed.config), SAP_OK);
    sap_runner_v0_set_log_sink(&bed.worker.runner, on_log, &bed);
    sap_runner_v0_set_replay_hook(&bed.worker.runner, on_replay, &bed);
    sap_runner_v0_set_metrics_sink(&bed.worker.runner, on_metrics, &bed);
}

static void teardown(void)
{
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    post_close(&bed.post);
}

static void send_to(int64_t worker, unsigned flags, const char *id)
{
    post_send(bed.post.db, worker, flags, id);
}

static int poll_rc(uint32_t max, uint32_t *handled)
{
    return sap_runner_v0_poll_inbox(&bed.worker.runner, &bed.config.handler, max, handled);
}

/* Expects both the code and the number of messages. */
static void poll(uint32_t max, int rc, uint32_t expected)
{
    uint32_t handled = 99;

    int got = poll_rc(max, &handled);
    EXPECT(got == rc, "poll answered %d instead of %d", got, rc);
    EXPECT(handled == expected, "%u handled instead of %u", handled, expected);
}

static void tick(int rc, uint32_t expected)
{
    uint32_t handled = 99;
    int got = sap_runner_v0_worker_tick(&bed.worker, &handled);

    EXPECT(got == rc, "tick answered %d instead of %d", got, rc);
    EXPECT(handled == expected, "%u handled instead of %u", handled, expected);
}

static void expect_handled(const char *list)
{
    EXPECT(strcmp(bed.handled, list) == 0, "handled '%s' instead of '%s'", bed.handled, list);
}

static SapRunnerV0Metrics metrics(void)
{
    SapRunnerV0Metrics m;

    sap_runner_v0_metrics_snapshot(&bed.worker.runner, &m);
    return m;
}

static uint32_t logs_of(SapRunnerV0LogKind kind)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < bed.log_count; i++) {
        count += bed.logs[i].kind == kind;
    }
    return count;
}

static const SapRunnerV0LogEvent *log_of(SapRunnerV0LogKind kind)
{
    for (uint32_t i = 0; i < bed.log_count; i++) {
        if (bed.logs[i].kind == kind) {
            return &bed.logs[i];
        }
    }
    EXPECT(false, "no log event of kind %d", (int)kind);
    return NULL;
}

static uint64_t arm(int64_t due, int64_t to, const char *id)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, to, POST_NORMAL, id);
    SapTxnCtx *txn = post_begin(bed.post.db);
    uint64_t seq = 0;

    EXPECT_RC(sap_runner_timer_v0_append(txn, due, frame, len, &seq), SAP_OK);
    post_commit(txn);
    return seq;
}

static void put_out(int64_t to, const char *id)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, to, POST_NORMAL, id);
    SapTxnCtx *txn = post_begin(bed.post.db);

    EXPECT_RC(sap_runner_outbox_v0_append(txn, frame, len, NULL), SAP_OK);
    post_commit(txn);
}

/* ---- Tables and the schema guard ------------------------------------------------------------ */

START_TEST(bootstrap_opens_all_tables_as_the_schema_has_them)
{
    SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_runner_v0_bootstrap_dbis(NULL), SAP_ERROR);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_BUSY);
    sap_txn_abort(txn);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    for (uint32_t dbi = 0; dbi < POST_DEDUPE_TTL; dbi++) {
        EXPECT_RC(sap_txn_put_dbi(txn, dbi, "k", 1, "v", 1), SAP_OK);
    }
    EXPECT(sap_txn_put_dbi(txn, POST_DEDUPE_TTL, "k", 1, "v", 1) != SAP_OK,
           "the table of expiry times can be written to");
    EXPECT(sap_txn_put_dbi(txn, POST_TABLES, "k", 1, "v", 1) != SAP_OK, "a table too many");
    sap_txn_abort(txn);
    EXPECT_RC(sap_db_close(db), SAP_OK);

    for (uint32_t dbi = 1; dbi < POST_TABLES; dbi++) {
        db = sap_db_open(NULL, 4096, NULL, NULL);
        EXPECT_RC(sap_dbi_open(db, dbi, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
        EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_ERROR);
        EXPECT_RC(sap_db_close(db), SAP_OK);
    }
}
END_TEST

START_TEST(bootstrap_refuses_tables_that_hold_rows_of_somebody_else)
{
    SapRunnerV0Config config = bed.config.runner;
    SapDbiInfo info;

    for (uint32_t dbi = 0; dbi < POST_DEDUPE_TTL; dbi++) {
        SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);
        SapQueue *queue = NULL;
        SapRunnerV0 runner = {0};
        EXPECT_RC(dbi == 0 ? SAP_OK : sap_dbi_open(db, dbi, NULL, NULL, 0), SAP_OK);
        post_put(db, dbi, "apple", 5, "3", 1);
        if (dbi == 0) { /* the application's */
            EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
        } else {
            config.db = db;
            config.bootstrap_schema_if_missing = 1;
            EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_EXISTS);
            EXPECT_RC(sap_queue_open_db(db, NULL, &queue), SAP_EXISTS);
            EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_EXISTS);
            EXPECT_RC(sap_dbi_info(db, POST_DEDUPE_TTL, &info), SAP_NOTFOUND);
            EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 0, 1, 0), SAP_NOTFOUND);
            /* A key of the runner's says that they are its own. */
            post_put(db, 0, "runner.seq.inbox", 16, "\0\0\0\0\0\0\0\1", 8);
            EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
        }
        EXPECT_RC(sap_db_close(db), SAP_OK);
    }
}
END_TEST

START_TEST(the_schema_guard_accepts_its_version_and_nothing_else)
{
    static const struct {
        const char *bytes;
        uint32_t len;
    } wrong[] = {{"", 0},
                 {"RSV0\3\0\7", 7},
                 {"RSV0\3\0\7\0\0", 9},
                 {"RSV1\3\0\7\0", 8},
                 {"RSV0\4\0\7\0", 8},
                 {"RSV0\3\0\6\0", 8},
                 {"RSV0\3\0\10\0", 8},
                 {"RSV0\0\3\0\7", 8}};
    SapEnv *db = bed.post.db;
    const void *val = NULL;
    uint32_t len = 0;
    SapTxnCtx *txn = NULL;
    uint32_t key_len = (uint32_t)strlen(SAP_RUNNER_V0_SCHEMA_KEY);

    EXPECT_RC(sap_runner_v0_ensure_schema_version(NULL, 3, 7, 1), SAP_ERROR);
    uint64_t before = post_digest(db);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 7, 0), SAP_NOTFOUND);
    EXPECT(post_digest(db) == before, "something was written");
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 7, 1), SAP_OK);
    txn = post_begin(db);
    EXPECT_RC(sap_txn_get(txn, "runner.schema.version", 21, &val, &len), SAP_OK);
    EXPECT(len == 8 && memcmp(val, "RSV0\3\0\7\0", 8) == 0, "another marker");
    sap_txn_abort(txn);
    before = post_digest(db);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 7, 0), SAP_OK);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 7, 1), SAP_OK);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 4, 7, 1), SAP_CONFLICT);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 8, 0), SAP_CONFLICT);
    EXPECT(post_digest(db) == before, "the marker was changed");
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        post_put(db, 0, SAP_RUNNER_V0_SCHEMA_KEY, key_len, wrong[i].bytes, wrong[i].len);
        before = post_digest(db);
        EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 7, 0), SAP_CONFLICT);
        EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 3, 7, 1), SAP_CONFLICT);
        EXPECT(post_digest(db) == before, "case %zu was changed", i);
    }
}
END_TEST

START_TEST(a_runner_that_cannot_start_stays_stopped_and_says_why)
{
    SapRunnerV0 runner;
    SapRunnerV0Config config = bed.config.runner;
    size_t memory = mem_live_bytes(MEM_RUNNER);

    memset(&runner, 0x5A, sizeof runner);
    config.bootstrap_schema_if_missing = 0;
    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_NOTFOUND);
    EXPECT(runner.state == SAP_RUNNER_V0_STOPPED, "it runs");
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    EXPECT_RC(sap_runner_v0_init(NULL, &config), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_init(&runner, NULL), SAP_ERROR);
    config.bootstrap_schema_if_missing = 1;
    config.worker_id = -1;
    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_ERROR);
    EXPECT(runner.state == SAP_RUNNER_V0_STOPPED, "it runs");
    config.worker_id = 3;
    config.db = NULL;
    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_ERROR);
    config.db = bed.post.db;
    EXPECT(mem_live_bytes(MEM_RUNNER) == memory, "failed starts keep memory");

    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_OK);
    EXPECT(runner.state == SAP_RUNNER_V0_RUNNING && runner.worker_id == 3, "it does not run");
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    EXPECT(runner.state == SAP_RUNNER_V0_STOPPED, "it runs");
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    EXPECT_RC(sap_runner_v0_shutdown(NULL), SAP_OK);
    config.schema_major = 99;
    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_CONFLICT);
    EXPECT(runner.state == SAP_RUNNER_V0_STOPPED, "it runs");

    SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);
    EXPECT_RC(sap_dbi_open(db, 4, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    config.db = db;
    config.schema_major = 0;
    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_ERROR);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    EXPECT_RC(sap_runner_v0_poll_inbox(&runner, &bed.config.handler, 1, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_run_step(&runner, "", 0, &bed.config.handler), SAP_ERROR);
}
END_TEST

START_TEST(a_worker_needs_one_handler)
{
    SapRunnerV0WorkerConfig config = bed.config;

    config.handler.plain = NULL;
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &config), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    config = bed.config;
    config.handler.atomic = (sap_runner_v0_atomic_handler)(void (*)(void))plain;
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, &config), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_init(NULL, &config), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_init(&bed.worker, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_shutdown(NULL), SAP_OK);
}
END_TEST

/* ---- Steps ---------------------------------------------------------------------------------- */

static void look_at_fields(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    EXPECT(runner == &b->worker.runner, "another runner");
    EXPECT(msg->kind == SAP_RUNNER_V0_EVENT && msg->to_worker == ME && msg->from_worker == 77 &&
               msg->route_timestamp == 55,
           "other fields");
    EXPECT(msg->trace_id_len == 5 && memcmp(msg->trace_id, "trace", 5) == 0, "another trace");
    EXPECT(msg->payload_len == 4 && memcmp(msg->payload, "load", 4) == 0, "another payload");
}

START_TEST(a_step_decodes_checks_the_address_and_answers_as_the_handler)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = 0;
    SapRunnerV0Message msg;

    start();
    SapRunnerV0 *runner = &bed.worker.runner;
    EXPECT_RC(sap_runner_v0_run_step(runner, "junk", 4, &bed.config.handler), SAP_INVALID);
    len = post_frame(frame, ME, POST_NORMAL, "a");
    EXPECT_RC(sap_runner_v0_run_step(runner, frame, len - 1, &bed.config.handler), SAP_INVALID);
    len = post_frame(frame, ME + 1, POST_NORMAL, "a");
    EXPECT_RC(sap_runner_v0_run_step(runner, frame, len, &bed.config.handler), SAP_ERROR);
    EXPECT(bed.calls == 0, "the handler was called");
    EXPECT(sap_runner_v0_steps_completed(runner) == 0, "a step");

    bed.inside = look_at_fields;
    post_message(&msg, ME, SAP_RUNNER_V0_HAS_FROM | SAP_RUNNER_V0_HAS_TRACE, "a");
    msg.kind = SAP_RUNNER_V0_EVENT;
    msg.from_worker = 77;
    msg.route_timestamp = 55;
    msg.trace_id = "trace";
    msg.trace_id_len = 5;
    msg.payload = "load";
    msg.payload_len = 4;
    EXPECT_RC(sap_runner_wire_v0_encode_message(&msg, frame, sizeof frame, &len), 0);
    EXPECT_RC(sap_runner_v0_run_step(runner, frame, len, &bed.config.handler), SAP_OK);
    EXPECT(bed.calls == 1, "the handler was not called");
    EXPECT(sap_runner_v0_steps_completed(runner) == 1, "no step");

    bed.inside = NULL;
    len = post_frame(frame, ME, POST_NORMAL, "f");
    static const int codes[] = {SAP_BUSY, SAP_CONFLICT, SAP_NOTFOUND, SAP_IO, 4711};
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        bed.fail_rc = codes[i];
        bed.fail_times = 1;
        EXPECT_RC(sap_runner_v0_run_step(runner, frame, len, &bed.config.handler), codes[i]);
    }
    EXPECT(sap_runner_v0_steps_completed(runner) == 1, "a failed step was counted");
    EXPECT_RC(sap_runner_v0_run_step(NULL, frame, len, &bed.config.handler), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_run_step(runner, frame, len, NULL), SAP_ERROR);
}
END_TEST

/* ---- Polling -------------------------------------------------------------------------------- */

START_TEST(an_empty_inbox_is_busy)
{
    start();
    poll(1, SAP_BUSY, 0);
    send_to(ME + 1, POST_NORMAL, "other");
    poll(5, SAP_BUSY, 0);
    EXPECT_RC(poll_rc(5, NULL), SAP_BUSY);
    EXPECT(bed.calls == 0, "the handler was called");
}
END_TEST

static void is_leased_outside_of_transactions(Bed *b, SapRunnerV0 *runner,
                                              const SapRunnerV0Message *msg)
{
    SapTxnCtx *txn = NULL;
    SapCursor *cur = NULL;
    SapRunnerV0Lease lease;
    const void *key = NULL;
    uint32_t key_len = 0;

    (void)runner;
    (void)msg;
    EXPECT_RC(sap_txn_begin_rc(b->post.db, NULL, 0, &txn), SAP_OK);
    cur = sap_cursor_open_dbi(txn, POST_LEASES);
    EXPECT_RC(sap_cursor_first(cur), SAP_OK);
    EXPECT_RC(sap_cursor_get_key(cur, &key, &key_len), SAP_OK);
    EXPECT_RC(sap_runner_lease_v0_get(txn, key, key_len, &lease), SAP_OK);
    EXPECT(lease.deadline_ms == b->clock.now_ms - b->takes_ms + 1000, "deadline %lld",
           (long long)lease.deadline_ms);
    sap_cursor_close(cur);
    sap_txn_abort(txn);
    post_expect_no_claim(b->post.db, ME, b->clock.now_ms);
}

START_TEST(a_message_is_leased_handled_outside_of_transactions_and_gone)
{
    start();
    bed.inside = is_leased_outside_of_transactions;
    bed.takes_ms = 30;
    send_to(ME, POST_NORMAL, "a");
    poll(1, SAP_OK, 1);
    expect_handled("a ");
    for (uint32_t dbi = POST_INBOX; dbi < POST_TABLES; dbi++) {
        EXPECT(post_rows(bed.post.db, dbi) == 0, "table %u has rows", dbi);
    }
    EXPECT(sap_runner_v0_steps_completed(&bed.worker.runner) == 1, "steps");
    poll(1, SAP_BUSY, 0);
    SapRunnerV0Metrics m = metrics();
    EXPECT(m.step_attempts == 1 && m.step_successes == 1 && m.requeues == 0 &&
               m.dead_letter_moves == 0 && m.retryable_busy == 0 && m.retryable_conflicts == 0 &&
               m.non_retryable_failures == 0,
           "counters");
    EXPECT(m.step_latency_samples == 1 && m.step_latency_total_ms == 30 &&
               m.step_latency_max_ms == 30,
           "latency %llu, %llu", (unsigned long long)m.step_latency_total_ms,
           (unsigned long long)m.step_latency_max_ms);
    EXPECT(m.commits >= 2, "a claim and an acknowledgement are two commits");
}
END_TEST

START_TEST(latencies_are_measured_by_the_clock_that_was_given)
{
    start();
    static const int64_t takes[] = {10, 500, 20};
    for (int i = 0; i < 3; i++) {
        bed.takes_ms = takes[i];
        send_to(ME, POST_NORMAL, "a");
        poll(1, SAP_OK, 1);
    }
    SapRunnerV0Metrics m = metrics();
    EXPECT(m.step_latency_samples == 3 && m.step_latency_total_ms == 530 &&
               m.step_latency_max_ms == 500,
           "latencies");
}
END_TEST

START_TEST(a_poll_claims_at_most_what_it_is_asked_for_and_in_order)
{
    start();
    send_to(ME, POST_NORMAL, "a");
    send_to(ME, POST_NORMAL, "b");
    send_to(ME, POST_HIGH, "h");
    send_to(ME, POST_NORMAL, "c");
    poll(3, SAP_OK, 3);
    expect_handled("h a b ");
    poll(3, SAP_OK, 1);
    expect_handled("h a b c ");
    poll(3, SAP_BUSY, 0);
}
END_TEST

START_TEST(a_failure_that_may_pass_puts_the_message_back_at_the_tail)
{
    start();
    bed.fail_rc = SAP_BUSY;
    bed.fail_times = 1;
    send_to(ME, POST_NORMAL, "fail");
    send_to(ME, POST_NORMAL, "a");
    poll(1, SAP_OK, 1);
    EXPECT(post_rows(bed.post.db, POST_LEASES) == 0, "it is leased");
    EXPECT(post_retry_rows(bed.post.db) == 1, "it is not counted");
    poll(1, SAP_OK, 1);
    poll(1, SAP_OK, 1);
    poll(1, SAP_BUSY, 0);
    expect_handled("fail a fail ");
    SapRunnerV0Metrics m = metrics();
    EXPECT(m.step_attempts == 3 && m.step_successes == 2 && m.retryable_busy == 1 &&
               m.requeues == 1 && m.non_retryable_failures == 0,
           "counters");
    EXPECT(post_retry_rows(bed.post.db) == 0, "the count is left");
    const SapRunnerV0LogEvent *failure = log_of(SAP_RUNNER_V0_LOG_RETRYABLE_FAILURE);
    EXPECT(failure->rc == SAP_BUSY && failure->worker_id == ME && failure->seq != 0 &&
               failure->attempt_id != 0,
           "another failure");
    const SapRunnerV0LogEvent *requeued = log_of(SAP_RUNNER_V0_LOG_REQUEUED);
    EXPECT(requeued->rc == SAP_BUSY && requeued->detail == 1, "rc %d, detail %u", requeued->rc,
           requeued->detail);
    EXPECT(strcmp(bed.log_ids[requeued - bed.logs], "fail") == 0, "another id");
    EXPECT(logs_of(SAP_RUNNER_V0_LOG_DEAD_LETTERED) == 0, "a dead letter");
}
END_TEST

static void expect_dead(uint32_t attempts, int rc, const char *id)
{
    SapTxnCtx *txn = post_begin(bed.post.db);
    SapCursor *cur = sap_cursor_open_dbi(txn, POST_DEAD);
    SapRunnerV0DeadLetter letter;
    const uint8_t *key = NULL;
    const void *k = NULL;
    uint32_t key_len = 0;
    uint64_t worker = 0;
    uint64_t seq = 0;

    EXPECT_RC(sap_cursor_first(cur), SAP_OK);
    EXPECT_RC(sap_cursor_get_key(cur, &k, &key_len), SAP_OK);
    key = k;
    for (int i = 0; i < 8; i++) {
        worker = worker << 8 | key[i];
        seq = seq << 8 | key[8 + i];
    }
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, worker, seq, &letter), SAP_OK);
    EXPECT(letter.attempts == attempts && letter.rc == rc, "attempts %u, rc %d", letter.attempts,
           letter.rc);
    post_expect_id(letter.frame, letter.frame_len, id);
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}

START_TEST(a_message_that_fails_as_often_as_the_budget_allows_is_a_dead_letter)
{
    static const int codes[] = {SAP_BUSY,   SAP_CONFLICT, SAP_IO, SAP_NOTFOUND,
                                SAP_EXISTS, SAP_FENCED,   -1,     4711};

    start();
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        bool retryable = codes[i] == SAP_BUSY || codes[i] == SAP_CONFLICT;
        sap_runner_v0_metrics_reset(&bed.worker.runner);
        bed.log_count = 0;
        bed.handled[0] = 0;
        bed.fail_rc = codes[i];
        bed.fail_times = 100;
        send_to(ME, POST_NORMAL, "fail");
        for (int k = 0; k < 4; k++) {
            poll(1, retryable ? SAP_OK : codes[i], 1);
        }
        poll(1, SAP_BUSY, 0);
        expect_handled("fail fail fail fail ");
        expect_dead(4, codes[i], "fail");
        EXPECT(post_rows(bed.post.db, POST_DEAD) == 1, "dead letters");
        EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "it is in the inbox");
        EXPECT(post_rows(bed.post.db, POST_LEASES) == 0, "it is leased");
        EXPECT(post_rows(bed.post.db, POST_DEDUPE) == 0, "its count is left");
        SapRunnerV0Metrics m = metrics();
        EXPECT(m.step_attempts == 4 && m.step_successes == 0 && m.requeues == 3 &&
                   m.dead_letter_moves == 1,
               "%llu attempts, %llu requeues, %llu dead", (unsigned long long)m.step_attempts,
               (unsigned long long)m.requeues, (unsigned long long)m.dead_letter_moves);
        EXPECT(m.retryable_busy == (codes[i] == SAP_BUSY ? 4 : 0) &&
                   m.retryable_conflicts == (codes[i] == SAP_CONFLICT ? 4 : 0) &&
                   m.non_retryable_failures == (retryable ? 0 : 4),
               "counters");
        EXPECT(logs_of(retryable ? SAP_RUNNER_V0_LOG_RETRYABLE_FAILURE
                                 : SAP_RUNNER_V0_LOG_NON_RETRYABLE_FAILURE) == 4,
               "log events");
        EXPECT(logs_of(SAP_RUNNER_V0_LOG_REQUEUED) == 3, "log events");
        EXPECT(log_of(SAP_RUNNER_V0_LOG_DEAD_LETTERED)->detail == 4, "the count");
        SapTxnCtx *txn = post_begin(bed.post.db);
        uint64_t dropped = 0;
        EXPECT_RC(sap_txn_del_range(txn, POST_DEAD, NULL, 0, NULL, 0, &dropped), SAP_OK);
        post_commit(txn);
    }
}
END_TEST

START_TEST(the_first_other_code_is_the_answer_after_all_were_handled)
{
    start();
    bed.fail_rc = SAP_IO;
    bed.fail_times = 1;
    send_to(ME, POST_NORMAL, "a");
    send_to(ME, POST_NORMAL, "fail");
    send_to(ME, POST_NORMAL, "b");
    poll(5, SAP_IO, 3);
    expect_handled("a fail b ");
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 1, "it is lost");
    poll(5, SAP_OK, 1);
    expect_handled("a fail b fail ");
}
END_TEST

START_TEST(what_is_no_frame_or_misplaced_never_reaches_the_handler)
{
    uint8_t key[16];
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME + 1, POST_NORMAL, "lost");

    start();
    post_key(key, ME, 3);
    post_put(bed.post.db, POST_INBOX, key, 16, "junk", 4);
    post_key(key, ME, 4);
    post_put(bed.post.db, POST_INBOX, key, 16, frame, len);
    poll(5, SAP_BUSY, 0);
    EXPECT(bed.calls == 0, "the handler was called");
    EXPECT(post_rows(bed.post.db, POST_DEAD) == 2 && post_rows(bed.post.db, POST_INBOX) == 0,
           "rows");
    EXPECT(metrics().dead_letter_moves == 2, "counters");
    EXPECT(logs_of(SAP_RUNNER_V0_LOG_DEAD_LETTERED) == 2, "log events");
    EXPECT(log_of(SAP_RUNNER_V0_LOG_DEAD_LETTERED)->seq == 3, "another number");
    EXPECT(bed.replay_count == 2 && bed.replays[1].seq == 4 &&
               bed.replays[1].kind == SAP_RUNNER_V0_REPLAY_DEAD_LETTER,
           "replay events");
}
END_TEST

/* Another worker of the same inbox takes what this one is at, and is done with it. */
static void loses_its_lease(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    SapRunnerV0Claim claim;

    (void)msg;
    b->clock.now_ms += 1000;
    EXPECT(post_claim(b->post.db, ME, OTHER_OWNER, b->clock.now_ms, &claim) == 1, "still held");
    EXPECT_RC(sap_runner_v0_touch(runner), SAP_CONFLICT);
    EXPECT_RC(post_ack(b->post.db, &claim, b->clock.now_ms), SAP_OK);
    sap_runner_v0_claim_release(&claim);
}

START_TEST(who_lost_its_lease_in_the_handler_changes_nothing_more)
{
    static const int answers[] = {SAP_OK, SAP_BUSY, SAP_CONFLICT};

    start();
    bed.inside = loses_its_lease;
    for (size_t i = 0; i < 3; i++) {
        bed.log_count = 0;
        sap_runner_v0_metrics_reset(&bed.worker.runner);
        bed.fail_rc = answers[i];
        bed.fail_times = answers[i] == SAP_OK ? 0 : 1;
        send_to(ME, POST_NORMAL, "fail");
        poll(1, SAP_OK, 1);
        EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "it was put back");
        EXPECT(post_rows(bed.post.db, POST_DEAD) == 0, "it was given up");
        EXPECT(metrics().lease_losses == 1 && metrics().requeues == 0, "counters");
        EXPECT(logs_of(SAP_RUNNER_V0_LOG_LEASE_LOST) == 1, "log events");
    }
}
END_TEST

START_TEST(a_message_whose_worker_died_is_taken_over_when_its_lease_expires)
{
    SapRunnerV0Claim claim;

    start();
    poll(1, SAP_BUSY, 0); /* knows of no lease */
    send_to(ME, POST_NORMAL, "a");
    send_to(ME, POST_NORMAL, "b");
    post_expect_claim(bed.post.db, ME, OTHER_OWNER, bed.clock.now_ms, "a", &claim);
    sap_runner_v0_claim_release(&claim);
    poll(5, SAP_OK, 1);
    expect_handled("b ");
    bed.clock.now_ms += 999;
    poll(5, SAP_BUSY, 0);
    bed.clock.now_ms += 1;
    poll(5, SAP_OK, 1);
    expect_handled("b a ");
    EXPECT(metrics().lease_timeouts == 1, "counters");
    EXPECT(logs_of(SAP_RUNNER_V0_LOG_LEASE_TIMEOUT) == 1, "log events");
    const SapRunnerV0LogEvent *timeout = log_of(SAP_RUNNER_V0_LOG_LEASE_TIMEOUT);
    EXPECT(timeout->detail == 1 && timeout->attempt_id == claim.token &&
               timeout->seq == claim.seq && strcmp(bed.log_ids[timeout - bed.logs], "a") == 0,
           "another event");
}
END_TEST

static void touches(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    (void)msg;
    for (int i = 0; i < 10; i++) {
        b->clock.now_ms += 900;
        EXPECT_RC(sap_runner_v0_touch(runner), SAP_OK);
        post_expect_no_claim(b->post.db, ME, b->clock.now_ms + 999);
    }
}

START_TEST(leases_of_others_are_looked_for_also_after_a_claim_that_saw_none)
{
    SapRunnerV0Claim claim;
    uint8_t key[16];

    start();
    post_key(key, ME, 3);
    post_put(bed.post.db, POST_INBOX, key, 16, "junk", 4);
    poll(1, SAP_BUSY, 0); /* claims nothing, and sees that there is no lease */
    send_to(ME, POST_NORMAL, "a");
    post_expect_claim(bed.post.db, ME, OTHER_OWNER, bed.clock.now_ms, "a", &claim);
    sap_runner_v0_claim_release(&claim);
    poll(1, SAP_BUSY, 0);
    bed.clock.now_ms += 1000;
    poll(1, SAP_OK, 1);
    expect_handled("a ");
}
END_TEST

START_TEST(a_long_handler_keeps_its_message_by_touching_it)
{
    start();
    EXPECT_RC(sap_runner_v0_touch(&bed.worker.runner), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_touch(NULL), SAP_ERROR);
    bed.inside = touches;
    send_to(ME, POST_NORMAL, "a");
    poll(1, SAP_OK, 1);
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "it is still there");
    EXPECT(metrics().lease_losses == 0 && metrics().lease_timeouts == 0, "counters");
    EXPECT_RC(sap_runner_v0_touch(&bed.worker.runner), SAP_ERROR);
}
END_TEST

/* A batch takes longer than one lease: those at its end must not be handled by two. */
static void others_look_too(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    SapRunnerV0Claim claim;
    char id[POST_ID_MAX];

    (void)runner;
    (void)msg;
    while (post_claim(b->post.db, ME, OTHER_OWNER, b->clock.now_ms, &claim) == 1) {
        note(b->forwarded, sizeof b->forwarded, post_id(claim.frame, claim.frame_len, id), 1);
        EXPECT_RC(post_ack(b->post.db, &claim, b->clock.now_ms), SAP_OK);
        sap_runner_v0_claim_release(&claim);
    }
}

START_TEST(a_batch_that_outlasts_its_leases_handles_nothing_that_others_took)
{
    start();
    bed.inside = others_look_too;
    bed.takes_ms = 400;
    for (char c = 'a'; c <= 'e'; c++) {
        char id[2] = {c, 0};
        send_to(ME, POST_NORMAL, id);
    }
    while (poll_rc(5, NULL) != SAP_BUSY) {
    }
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "some are left");
    EXPECT(metrics().lease_losses == strlen(bed.forwarded) / 2, "%llu losses, others have '%s'",
           (unsigned long long)metrics().lease_losses, bed.forwarded);
    for (char c = 'a'; c <= 'e'; c++) {
        const char *mine = strchr(bed.handled, c);
        const char *other = strchr(bed.forwarded, c);
        EXPECT((mine != NULL) + (other != NULL) >= 1, "'%c' was lost", c);
        EXPECT(mine == NULL || strchr(mine + 1, c) == NULL, "'%c' was handled twice here", c);
        /* The one that was at work when its lease ran out may be with both. */
        EXPECT(mine == NULL || other == NULL || c == 'c', "'%c' was handled by both: %s/ %s", c,
               bed.handled, bed.forwarded);
    }
}
END_TEST

/* ---- Dedupe --------------------------------------------------------------------------------- */

START_TEST(a_message_flagged_so_is_handled_once_within_its_time)
{
    SapRunnerV0Message msg;

    start();
    send_to(ME, POST_ONCE, "a");
    poll(1, SAP_OK, 1);
    send_to(ME, POST_ONCE, "a");
    poll(1, SAP_BUSY, 0);
    expect_handled("a ");
    EXPECT(metrics().duplicates_skipped == 1, "counters");
    EXPECT(log_of(SAP_RUNNER_V0_LOG_DUPLICATE)->detail == 0, "the payload is the same");
    bed.log_count = 0;
    post_message(&msg, ME, POST_ONCE, "a");
    msg.payload = "other";
    msg.payload_len = 5;
    EXPECT_RC(sap_runner_v0_send(bed.post.db, &msg, NULL), SAP_OK);
    poll(1, SAP_BUSY, 0);
    EXPECT(log_of(SAP_RUNNER_V0_LOG_DUPLICATE)->detail == 1, "the payload differs");
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "duplicates are left");
    bed.clock.now_ms += (int64_t)24 * 60 * 60 * 1000;
    send_to(ME, POST_ONCE, "a");
    poll(1, SAP_OK, 1);
    expect_handled("a a ");
}
END_TEST

START_TEST(duplicates_in_one_batch_are_handled_once)
{
    start();
    send_to(ME, POST_ONCE, "a");
    send_to(ME, POST_ONCE, "b");
    send_to(ME, POST_ONCE, "a");
    send_to(ME, POST_ONCE, "a");
    uint32_t handled = 0;
    EXPECT_RC(poll_rc(5, &handled), SAP_OK);
    poll(5, SAP_BUSY, 0);
    expect_handled("a b ");
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 0, "duplicates are left");
    EXPECT(metrics().duplicates_skipped == 2, "counters");
}
END_TEST

static void pass_on(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    (void)msg;
    if (runner->worker_id < ME + 2) {
        post_send(b->post.db, runner->worker_id + 1, POST_ONCE, "order");
    }
}

START_TEST(an_id_that_travels_through_several_workers_is_handled_by_each)
{
    start();
    bed.inside = pass_on;
    send_to(ME, POST_ONCE, "order");
    send_to(ME, POST_ONCE, "order");
    for (int64_t stage = ME; stage <= ME + 2; stage++) {
        SapRunnerV0Config config = bed.config.runner;
        SapRunnerV0 runner;
        uint32_t handled = 0;

        config.worker_id = stage;
        EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_OK);
        EXPECT_RC(sap_runner_v0_poll_inbox(&runner, &bed.config.handler, 1, &handled), SAP_OK);
        EXPECT(handled == 1, "%u handled", handled);
        EXPECT_RC(sap_runner_v0_poll_inbox(&runner, &bed.config.handler, 1, NULL), SAP_BUSY);
        EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    }
    expect_handled("order order order ");
}
END_TEST

START_TEST(a_message_that_failed_is_no_duplicate_of_itself)
{
    start();
    bed.fail_rc = SAP_BUSY;
    bed.fail_times = 2;
    send_to(ME, POST_ONCE, "fail");
    poll(1, SAP_OK, 1);
    poll(1, SAP_OK, 1);
    poll(1, SAP_OK, 1);
    expect_handled("fail fail fail ");
    EXPECT(metrics().step_successes == 1 && metrics().duplicates_skipped == 0, "counters");
}
END_TEST

/* ---- Policy and reports --------------------------------------------------------------------- */

START_TEST(the_default_policy_is_the_documented_one)
{
    SapRunnerV0Policy p;

    memset(&p, 0x5A, sizeof p);
    sap_runner_v0_policy_default(&p);
    EXPECT(p.lease_ttl_ms == 1000 && p.requeue_max_attempts == 4 && p.retry_budget_max == 10 &&
               p.attempt_max_retries == 3 && p.attempt_backoff_us == 250 &&
               p.attempt_backoff_max_us == 10000 && p.dedupe_ttl_ms == UINT64_C(86400000) &&
               p.sweep_period_ms == 1000 && p.sweep_max == 1000 && p.retry_backoff_ms == 100 &&
               p.retry_backoff_max_ms == 60000,
           "another default");
}
END_TEST

static void leased_for_five_seconds(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    SapRunnerV0Claim claim;

    (void)runner;
    (void)msg;
    post_expect_no_claim(b->post.db, ME, b->clock.now_ms + 4999);
    EXPECT(post_claim(b->post.db, ME, OTHER_OWNER, b->clock.now_ms + 5000, &claim) == 1,
           "the lease is longer");
    sap_runner_v0_claim_release(&claim);
}

START_TEST(the_policy_decides_leases_budget_and_memory_of_ids)
{
    SapRunnerV0Policy p;

    start();
    sap_runner_v0_policy_default(&p);
    p.lease_ttl_ms = 5000;
    p.retry_budget_max = 2;
    p.retry_backoff_ms = -1;
    p.dedupe_ttl_ms = 100;
    EXPECT_RC(sap_runner_v0_worker_set_policy(&bed.worker, &p), SAP_OK);
    EXPECT_RC(sap_runner_v0_set_policy(&bed.worker.runner, &p), SAP_OK);
    EXPECT_RC(sap_runner_v0_set_policy(&bed.worker.runner, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_set_policy(NULL, &p), SAP_ERROR);
    bed.fail_rc = SAP_BUSY;
    bed.fail_times = 100;
    send_to(ME, POST_NORMAL, "fail");
    poll(1, SAP_OK, 1);
    poll(1, SAP_OK, 1);
    poll(1, SAP_BUSY, 0);
    expect_dead(2, SAP_BUSY, "fail");
    send_to(ME, POST_ONCE, "a");
    poll(1, SAP_OK, 1);
    bed.clock.now_ms += 100;
    send_to(ME, POST_ONCE, "a");
    poll(1, SAP_OK, 1);
    bed.inside = leased_for_five_seconds;
    send_to(ME, POST_NORMAL, "b");
    poll(1, SAP_OK, 1);
    expect_handled("fail fail a a b ");
}
END_TEST

static bool same_policy(const SapRunnerV0Policy *a, const SapRunnerV0Policy *b)
{
    return a->lease_ttl_ms == b->lease_ttl_ms &&
           a->requeue_max_attempts == b->requeue_max_attempts &&
           a->retry_budget_max == b->retry_budget_max &&
           a->attempt_max_retries == b->attempt_max_retries &&
           a->attempt_backoff_us == b->attempt_backoff_us &&
           a->attempt_backoff_max_us == b->attempt_backoff_max_us &&
           a->dedupe_ttl_ms == b->dedupe_ttl_ms && a->sweep_period_ms == b->sweep_period_ms &&
           a->sweep_max == b->sweep_max && a->retry_backoff_ms == b->retry_backoff_ms &&
           a->retry_backoff_max_ms == b->retry_backoff_max_ms;
}

/* The policy that a runner has when it was given this one. */
static SapRunnerV0Policy policy_from(SapRunnerV0Policy given)
{
    SapRunnerV0Config config = bed.config.runner;
    SapRunnerV0 runner;

    config.policy = &given;
    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_OK);
    SapRunnerV0Policy from_init = runner.core->policy;
    EXPECT_RC(sap_runner_v0_set_policy(&runner, &(SapRunnerV0Policy){.sweep_max = 77}), SAP_OK);
    EXPECT_RC(sap_runner_v0_set_policy(&runner, &given), SAP_OK);
    EXPECT(same_policy(&from_init, &runner.core->policy), "another by set_policy");
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    return from_init;
}

START_TEST(fields_of_a_policy_that_are_0_have_their_defaults)
{
    SapRunnerV0Policy all;

    sap_runner_v0_policy_default(&all);
    SapRunnerV0Policy got = policy_from((SapRunnerV0Policy){0});
    EXPECT(same_policy(&got, &all), "a zeroed policy is not the default");
#define ONE_SET(field, value)                                                  \
    do {                                                                       \
        SapRunnerV0Policy expected = all;                                      \
        expected.field = (value);                                              \
        got = policy_from((SapRunnerV0Policy){.field = (value)});              \
        EXPECT(same_policy(&got, &expected), "only " #field " was to be set"); \
    } while (0)
    ONE_SET(lease_ttl_ms, 5000);
    ONE_SET(requeue_max_attempts, 9);
    ONE_SET(retry_budget_max, 1);
    ONE_SET(attempt_max_retries, 1);
    ONE_SET(attempt_backoff_us, 10000);
    ONE_SET(attempt_backoff_max_us, 250);
    ONE_SET(dedupe_ttl_ms, 1);
    ONE_SET(sweep_period_ms, 1);
    ONE_SET(sweep_max, 1);
    ONE_SET(retry_backoff_ms, 60000);
    ONE_SET(retry_backoff_ms, -1);
    ONE_SET(retry_backoff_max_ms, 100);
#undef ONE_SET
    got = policy_from((SapRunnerV0Policy){.attempt_backoff_us = 20000});
    EXPECT(got.attempt_backoff_us == 20000 && got.attempt_backoff_max_us == 20000, "no room");
    got = policy_from((SapRunnerV0Policy){.attempt_backoff_max_us = 100});
    EXPECT(got.attempt_backoff_us == 100 && got.attempt_backoff_max_us == 100, "too long");

    bed.config.runner.policy = &(SapRunnerV0Policy){.lease_ttl_ms = 5000};
    start();
    bed.inside = leased_for_five_seconds;
    send_to(ME, POST_NORMAL, "b");
    poll(1, SAP_OK, 1);
    expect_handled("b ");
}
END_TEST

START_TEST(a_policy_that_contradicts_itself_is_refused_and_changes_nothing)
{
    const SapRunnerV0Policy bad[] = {
        {.lease_ttl_ms = -1},
        {.lease_ttl_ms = INT64_MIN},
        {.attempt_backoff_us = 11, .attempt_backoff_max_us = 10},
        {.retry_backoff_ms = 11, .retry_backoff_max_ms = 10},
        {.retry_backoff_max_ms = -1},
    };

    start();
    SapRunnerV0Policy before = bed.worker.runner.core->policy;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        SapRunnerV0Config config = bed.config.runner;
        SapRunnerV0 runner;
        EXPECT_RC(sap_runner_v0_set_policy(&bed.worker.runner, &bad[i]), SAP_ERROR);
        config.policy = &bad[i];
        EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_ERROR);
        EXPECT(runner.state == SAP_RUNNER_V0_STOPPED, "it runs");
    }
    EXPECT(same_policy(&before, &bed.worker.runner.core->policy), "it changed");
}
END_TEST

START_TEST(the_sink_gets_what_the_snapshot_says_and_a_reset_begins_anew)
{
    start();
    send_to(ME, POST_NORMAL, "a");
    poll(1, SAP_OK, 1);
    SapRunnerV0Metrics m = metrics();
    EXPECT(bed.metrics_count > 0, "the sink was not called");
    EXPECT(memcmp(&m, &bed.metrics, sizeof m) == 0, "the sink got something else");
    sap_runner_v0_metrics_reset(&bed.worker.runner);
    m = metrics();
    EXPECT(m.step_attempts == 0 && m.commits == 0 && m.step_latency_samples == 0, "counters");
    uint32_t before = bed.metrics_count;
    sap_runner_v0_set_metrics_sink(&bed.worker.runner, NULL, NULL);
    sap_runner_v0_set_log_sink(&bed.worker.runner, NULL, NULL);
    sap_runner_v0_set_replay_hook(&bed.worker.runner, NULL, NULL);
    uint32_t replays = bed.replay_count;
    send_to(ME, POST_NORMAL, "a");
    poll(1, SAP_OK, 1);
    EXPECT(bed.metrics_count == before && bed.replay_count == replays, "a sink was called");
    EXPECT(metrics().step_attempts == 1, "counters");
}
END_TEST

START_TEST(depth_and_age_of_the_queue_are_reported)
{
    SapRunnerV0Message msg;

    start();
    for (int i = 0; i < 5; i++) {
        post_message(&msg, ME, POST_NORMAL, "a");
        msg.route_timestamp = NOW - 300 + i;
        EXPECT_RC(sap_runner_v0_send(bed.post.db, &msg, NULL), SAP_OK);
    }
    tick(SAP_OK, 1);
    SapRunnerV0Metrics m = metrics();
    EXPECT(m.queue_depth >= 4 && m.queue_depth <= 5, "depth %llu",
           (unsigned long long)m.queue_depth);
    EXPECT(m.queue_age_ms >= 299 && m.queue_age_ms <= 300, "age %llu",
           (unsigned long long)m.queue_age_ms);
    for (int i = 0; i < 4; i++) {
        tick(SAP_OK, 1);
    }
    tick(SAP_BUSY, 0);
    m = metrics();
    EXPECT(m.queue_depth == 0 && m.queue_age_ms == 0, "depth %llu, age %llu",
           (unsigned long long)m.queue_depth, (unsigned long long)m.queue_age_ms);
}
END_TEST

static void expect_replay(uint32_t i, SapRunnerV0ReplayKind kind, uint64_t seq, int rc,
                          const char *id)
{
    EXPECT(i < bed.replay_count, "only %u events", bed.replay_count);
    const SapRunnerV0ReplayEvent *e = &bed.replays[i];
    EXPECT(e->kind == kind && e->rc == rc && e->worker_id == ME, "event %u: kind %d, rc %d", i,
           (int)e->kind, e->rc);
    EXPECT(e->seq == seq, "event %u: number %llx instead of %llx", i, (unsigned long long)e->seq,
           (unsigned long long)seq);
    EXPECT(strcmp(bed.replay_ids[i], id) == 0, "event %u: message '%s'", i, bed.replay_ids[i]);
}

START_TEST(the_replay_hook_tells_each_step_and_what_became_of_it)
{
    SapRunnerV0Policy p;

    start();
    sap_runner_v0_policy_default(&p);
    p.retry_budget_max = 2;
    p.retry_backoff_ms = -1;
    EXPECT_RC(sap_runner_v0_set_policy(&bed.worker.runner, &p), SAP_OK);
    uint64_t a = post_send(bed.post.db, ME, POST_NORMAL, "a");
    uint64_t f = post_send(bed.post.db, ME, POST_NORMAL, "fail");
    bed.fail_rc = SAP_CONFLICT;
    bed.fail_times = 2;
    poll(1, SAP_OK, 1);
    poll(1, SAP_OK, 1);
    poll(1, SAP_OK, 1);
    expect_replay(0, SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT, a, SAP_OK, "a");
    expect_replay(1, SAP_RUNNER_V0_REPLAY_INBOX_RESULT, a, SAP_OK, "a");
    expect_replay(2, SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT, f, SAP_OK, "fail");
    expect_replay(3, SAP_RUNNER_V0_REPLAY_INBOX_RESULT, f, SAP_CONFLICT, "fail");
    expect_replay(4, SAP_RUNNER_V0_REPLAY_REQUEUE, f, SAP_CONFLICT, "fail");
    uint64_t again = bed.replays[5].seq;
    EXPECT(again > f, "the number of a requeued message is new");
    expect_replay(5, SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT, again, SAP_OK, "fail");
    expect_replay(6, SAP_RUNNER_V0_REPLAY_INBOX_RESULT, again, SAP_CONFLICT, "fail");
    expect_replay(7, SAP_RUNNER_V0_REPLAY_DEAD_LETTER, again, SAP_CONFLICT, "fail");
    EXPECT(bed.replay_count == 8, "%u events", bed.replay_count);
}
END_TEST

START_TEST(replay_events_of_timers_have_the_numbers_of_the_timers)
{
    start();
    arm(NOW + 1, ME, "unrelated"); /* so that timer and inbox numbers differ */
    uint64_t one = arm(NOW - 5, ME, "one");
    uint64_t two = arm(NOW - 4, ME, "two");
    EXPECT(one != two, "a number twice");
    tick(SAP_OK, 1);
    tick(SAP_OK, 1);
    tick(SAP_BUSY, 0);
    expect_replay(0, SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT, one, SAP_OK, "one");
    expect_replay(1, SAP_RUNNER_V0_REPLAY_TIMER_RESULT, one, SAP_OK, "one");
    expect_replay(2, SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT, two, SAP_OK, "two");
    expect_replay(3, SAP_RUNNER_V0_REPLAY_TIMER_RESULT, two, SAP_OK, "two");
    EXPECT(bed.replay_count == 4, "%u events", bed.replay_count);
    EXPECT(metrics().timers_dispatched == 2, "counters");
}
END_TEST

/* ---- Sending -------------------------------------------------------------------------------- */

START_TEST(a_message_is_sent_whole_and_stamped)
{
    SapRunnerV0Message msg;
    SapRunnerV0Message got;
    SapRunnerV0Claim claim;
    uint64_t seq = 0;

    post_message(&msg, ME, POST_NORMAL, "a");
    msg.route_timestamp = 0;
    EXPECT_RC(sap_runner_v0_send(bed.post.db, &msg, &seq), SAP_OK);
    EXPECT(msg.route_timestamp == 0, "the caller's message was changed");
    post_expect_claim(bed.post.db, ME, OTHER_OWNER, NOW, "a", &claim);
    EXPECT(claim.seq == seq, "another number");
    EXPECT_RC(sap_runner_wire_v0_decode_message(claim.frame, claim.frame_len, &got), 0);
    EXPECT(got.route_timestamp > INT64_C(1600000000000), "not now: %lld",
           (long long)got.route_timestamp);
    sap_runner_v0_claim_release(&claim);
    EXPECT_RC(sap_runner_v0_send(NULL, &msg, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_send(bed.post.db, NULL, NULL), SAP_ERROR);
    msg.message_id_len = 0;
    EXPECT_RC(sap_runner_v0_send(bed.post.db, &msg, NULL), SAP_INVALID);
    post_message(&msg, -1, POST_NORMAL, "a");
    EXPECT_RC(sap_runner_v0_send(bed.post.db, &msg, NULL), SAP_INVALID);
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 1, "rows");
}
END_TEST

START_TEST(many_are_sent_together_or_not_at_all)
{
    enum { MANY = 5 };
    SapRunnerV0Message msgs[MANY];
    uint64_t first = 77;
    const char *ids[MANY] = {"a", "b", "c", "d", "e"};

    for (int i = 0; i < MANY; i++) {
        post_message(&msgs[i], ME, POST_NORMAL, ids[i]);
    }
    msgs[3].message_id_len = 0;
    EXPECT_RC(sap_runner_v0_send_many(bed.post.db, msgs, MANY, &first), SAP_INVALID);
    EXPECT(first == 77 && post_rows(bed.post.db, POST_INBOX) == 0, "some were sent");
    msgs[3].message_id_len = 1;
    EXPECT_RC(sap_runner_v0_send_many(bed.post.db, msgs, MANY, &first), SAP_OK);
    EXPECT(post_rows(bed.post.db, POST_INBOX) == MANY, "rows");
    EXPECT_RC(sap_runner_v0_send_many(bed.post.db, NULL, 1, NULL), SAP_ERROR);
    start();
    poll(MANY, SAP_OK, MANY);
    expect_handled("a b c d e ");
    EXPECT(bed.replays[0].seq == first, "another first number");
}
END_TEST

/* ---- Ticks ---------------------------------------------------------------------------------- */

START_TEST(a_tick_handles_messages_then_timers_up_to_its_batch)
{
    bed.config.max_batch = 3;
    start();
    tick(SAP_BUSY, 0);
    arm(NOW, ME, "t1");
    arm(NOW, ME, "t2");
    arm(NOW + 1, ME, "t3");
    send_to(ME, POST_NORMAL, "a");
    send_to(ME, POST_NORMAL, "b");
    tick(SAP_OK, 3);
    expect_handled("a b t1 ");
    tick(SAP_OK, 1);
    expect_handled("a b t1 t2 ");
    tick(SAP_BUSY, 0);
    bed.clock.now_ms++;
    tick(SAP_OK, 1);
    expect_handled("a b t1 t2 t3 ");
    EXPECT(metrics().timers_dispatched == 3, "counters");
    EXPECT(post_rows(bed.post.db, POST_TIMERS) == 0 && post_rows(bed.post.db, POST_INBOX) == 0,
           "rows");
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_BUSY);
    EXPECT_RC(sap_runner_v0_worker_tick(NULL, NULL), SAP_ERROR);
}
END_TEST

START_TEST(a_batch_is_one_unless_set)
{
    start();
    send_to(ME, POST_NORMAL, "a");
    send_to(ME, POST_NORMAL, "b");
    tick(SAP_OK, 1);
    expect_handled("a ");
    tick(SAP_OK, 1);
    tick(SAP_BUSY, 0);
}
END_TEST

START_TEST(a_timer_that_fails_is_tried_again_until_its_budget_is_used_up)
{
    start();
    bed.fail_rc = SAP_BUSY;
    bed.fail_times = 2;
    arm(NOW, ME, "fail");
    tick(SAP_OK, 1);
    tick(SAP_OK, 1);
    tick(SAP_OK, 1);
    tick(SAP_BUSY, 0);
    expect_handled("fail fail fail ");
    bed.fail_times = 100;
    arm(NOW, ME, "fail");
    for (int i = 0; i < 4; i++) {
        tick(SAP_OK, 1);
    }
    tick(SAP_BUSY, 0);
    EXPECT(post_rows(bed.post.db, POST_TIMERS) == 0 && post_rows(bed.post.db, POST_INBOX) == 0,
           "rows");
    expect_dead(4, SAP_BUSY, "fail");
}
END_TEST

START_TEST(a_tick_tells_what_a_handler_could_not_do)
{
    start();
    bed.fail_rc = SAP_IO;
    bed.fail_times = 1;
    send_to(ME, POST_NORMAL, "fail");
    tick(SAP_IO, 1);
    EXPECT(logs_of(SAP_RUNNER_V0_LOG_NON_RETRYABLE_FAILURE) == 1, "log events");
    EXPECT(logs_of(SAP_RUNNER_V0_LOG_WORKER_ERROR) == 1, "log events");
    EXPECT(log_of(SAP_RUNNER_V0_LOG_WORKER_ERROR)->rc == SAP_IO, "another code");
    tick(SAP_OK, 1);
    tick(SAP_BUSY, 0);
}
END_TEST

START_TEST(a_timer_for_another_local_worker_moves_to_its_inbox)
{
    SapRunnerV0Claim claim;

    bed.config.max_batch = 5;
    start();
    arm(NOW, ME + 1, "other");
    arm(NOW, ME, "mine");
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_OK);
    expect_handled("mine ");
    EXPECT(metrics().timers_moved == 1 && metrics().timers_dispatched == 1, "counters");
    post_expect_claim(bed.post.db, ME + 1, OTHER_OWNER, NOW, "other", &claim);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(bed.post.db, POST_TIMERS) == 0, "rows");
}
END_TEST

/* Ticks until nothing happens any more. */
static void tick_out(void)
{
    for (int i = 0; i < 100; i++) {
        if (sap_runner_v0_worker_tick(&bed.worker, NULL) == SAP_BUSY) {
            return;
        }
    }
    EXPECT(false, "no end");
}

static int forward(const void *frame, uint32_t len, uint64_t seq, void *ctx)
{
    Bed *b = ctx;
    char id[POST_ID_MAX];

    EXPECT(seq != 0, "no number");
    if (b->forward_rc != SAP_OK) {
        return b->forward_rc;
    }
    post_id(frame, len, id);
    note(b->forwarded, sizeof b->forwarded, id, (uint32_t)strlen(id));
    return SAP_OK;
}

static int below_ten(int64_t worker, void *ctx)
{
    EXPECT(ctx == &bed, "another context");
    return worker < 10;
}

START_TEST(without_a_forwarder_all_workers_are_local)
{
    SapRunnerV0Claim claim;

    bed.config.max_batch = 10;
    start();
    put_out(ME, "mine");
    put_out(99, "far");
    tick_out();
    expect_handled("mine ");
    post_expect_claim(bed.post.db, 99, OTHER_OWNER, NOW, "far", &claim);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(bed.post.db, POST_OUTBOX) == 0, "rows");
    EXPECT(metrics().outbox_routed == 2, "counters");
}
END_TEST

START_TEST(with_a_forwarder_only_this_worker_is_local)
{
    bed.config.max_batch = 10;
    bed.config.forward = forward;
    bed.config.forward_ctx = &bed;
    start();
    put_out(ME, "mine");
    put_out(ME + 1, "near");
    put_out(99, "far");
    tick_out();
    expect_handled("mine ");
    EXPECT(strcmp(bed.forwarded, "near far ") == 0, "forwarded '%s'", bed.forwarded);
    EXPECT(post_rows(bed.post.db, POST_OUTBOX) == 0, "rows");
}
END_TEST

/* Cannot reach worker 98. */
static int forward_around(const void *frame, uint32_t len, uint64_t seq, void *ctx)
{
    SapRunnerV0Message msg;

    EXPECT(sap_runner_wire_v0_decode_message(frame, len, &msg) == SAP_RUNNER_WIRE_OK, "no frame");
    return msg.to_worker == 98 ? SAP_BUSY : forward(frame, len, seq, ctx);
}

START_TEST(frames_that_cannot_be_forwarded_hold_up_no_others)
{
    enum { UNREACHABLE = 200 };

    bed.config.forward = forward_around;
    bed.config.forward_ctx = &bed;
    start();
    for (int i = 0; i < UNREACHABLE; i++) {
        put_out(98, "stuck");
    }
    put_out(99, "far");
    tick_out();
    EXPECT(strcmp(bed.forwarded, "far ") == 0, "forwarded '%s'", bed.forwarded);
    EXPECT(post_rows(bed.post.db, POST_OUTBOX) == UNREACHABLE, "rows");
}
END_TEST

START_TEST(a_full_inbox_does_not_keep_due_timers_waiting_for_ever)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, ME, POST_NORMAL, "timer");
    SapTxnCtx *txn;

    start(); /* a batch of one */
    txn = post_begin(bed.post.db);
    EXPECT_RC(sap_runner_timer_v0_append(txn, NOW - 1, frame, len, NULL), SAP_OK);
    post_commit(txn);
    for (int i = 0; i < 3; i++) {
        send_to(ME, POST_NORMAL, "a");
        send_to(ME, POST_NORMAL, "a");
        tick(SAP_OK, 1);
    }
    expect_handled("a timer a ");
}
END_TEST

START_TEST(tokens_that_a_crash_could_take_back_are_not_given_out_after_an_open)
{
    SapRunnerV0Claim before;
    SapRunnerV0Claim after;

    start();
    send_to(99, POST_NORMAL, "a");
    post_expect_claim(bed.post.db, 99, OTHER_OWNER, NOW, "a", &before);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    start();
    post_expect_claim(bed.post.db, 99, OTHER_OWNER, NOW + 5000, "a", &after);
    EXPECT(after.token - before.token > UINT32_MAX - 1u, "token %llu after %llu",
           (unsigned long long)after.token, (unsigned long long)before.token);
    sap_runner_v0_claim_release(&before);
    sap_runner_v0_claim_release(&after);
}
END_TEST

START_TEST(a_lease_for_ever_and_clocks_before_1970_are_fine)
{
    SapRunnerV0Policy policy;
    SapRunnerV0Claim claim;
    uint32_t ms = 0;

    /* A lease of another, left behind before the clock's zero, is found. */
    bed.clock.now_ms = -1000000;
    start();
    send_to(ME, POST_NORMAL, "a");
    post_expect_claim(bed.post.db, ME, OTHER_OWNER, -1000000, "a", &claim);
    sap_runner_v0_claim_release(&claim);
    bed.clock.now_ms += 5000;
    tick(SAP_OK, 1);
    expect_handled("a ");

    /* With leases that never end, one of another is no work. */
    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = INT64_MAX;
    EXPECT_RC(sap_runner_v0_worker_set_policy(&bed.worker, &policy), SAP_OK);
    bed.clock.now_ms = NOW;
    send_to(ME, POST_NORMAL, "b");
    post_expect_claim(bed.post.db, ME, OTHER_OWNER, NOW, "b", &claim);
    sap_runner_v0_claim_release(&claim);
    tick(SAP_BUSY, 0);
    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&bed.worker, &ms), SAP_OK);
    EXPECT(ms > 0, "no sleep");
}
END_TEST

START_TEST(a_forwarder_that_fails_does_not_spoil_the_tick_that_handled_messages)
{
    bed.config.forward = forward;
    bed.config.forward_ctx = &bed;
    bed.forward_rc = SAP_IO;
    start();
    put_out(99, "far");
    send_to(ME, POST_NORMAL, "a");
    tick(SAP_OK, 1);
    EXPECT(logs_of(SAP_RUNNER_V0_LOG_WORKER_ERROR) == 1, "nothing was said");
    tick(SAP_BUSY, 0); /* the frames behind it have their turn: there is none */
    tick(SAP_IO, 0);
    bed.forward_rc = SAP_OK;
    tick(SAP_BUSY, 0);
    tick(SAP_OK, 0);
    EXPECT(strcmp(bed.forwarded, "far ") == 0, "forwarded '%s'", bed.forwarded);
}
END_TEST

START_TEST(is_local_decides_and_the_rest_is_forwarded_or_stays)
{
    bed.config.max_batch = 10;
    bed.config.is_local = below_ten;
    bed.config.is_local_ctx = &bed;
    start();
    put_out(ME, "mine");
    put_out(99, "far");
    put_out(5, "near");
    tick_out();
    expect_handled("mine ");
    EXPECT(post_rows(bed.post.db, POST_OUTBOX) == 1, "what nobody forwards stays");
    EXPECT(post_rows(bed.post.db, POST_INBOX) == 1, "rows");
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    bed.config.forward = forward;
    bed.config.forward_ctx = &bed;
    start();
    bed.forward_rc = SAP_BUSY;
    tick_out();
    EXPECT(post_rows(bed.post.db, POST_OUTBOX) == 1, "what is not taken stays");
    bed.forward_rc = SAP_OK;
    tick_out();
    EXPECT(strcmp(bed.forwarded, "far ") == 0, "forwarded '%s'", bed.forwarded);
    EXPECT(post_rows(bed.post.db, POST_OUTBOX) == 0, "rows");
}
END_TEST

START_TEST(a_due_timer_for_a_worker_elsewhere_is_forwarded)
{
    bed.config.max_batch = 10;
    bed.config.forward = forward;
    bed.config.forward_ctx = &bed;
    start();
    arm(NOW, 99, "far");
    tick_out();
    EXPECT(strcmp(bed.forwarded, "far ") == 0, "forwarded '%s'", bed.forwarded);
    EXPECT(post_rows(bed.post.db, POST_TIMERS) == 0 && post_rows(bed.post.db, POST_OUTBOX) == 0 &&
               post_rows(bed.post.db, POST_INBOX) == 0,
           "rows");
}
END_TEST

START_TEST(expired_ids_are_swept_in_small_portions_and_not_too_often)
{
    SapRunnerV0Policy p;
    char id[4];

    bed.config.max_batch = 10;
    start();
    sap_runner_v0_policy_default(&p);
    p.dedupe_ttl_ms = 100;
    p.sweep_period_ms = 50;
    p.sweep_max = 2;
    EXPECT_RC(sap_runner_v0_worker_set_policy(&bed.worker, &p), SAP_OK);
    for (int i = 0; i < 5; i++) {
        snprintf(id, sizeof id, "%d", i);
        send_to(ME, POST_ONCE, id);
    }
    tick_out();
    EXPECT(post_seen_rows(bed.post.db) == 5, "rows");
    EXPECT(metrics().ttl_rows_swept == 0, "swept too early");
    sap_runner_v0_metrics_reset(&bed.worker.runner);
    bed.clock.now_ms += 100;
    tick_out();
    EXPECT(metrics().ttl_sweeps == 1 && metrics().ttl_rows_swept == 2, "%llu sweeps, %llu rows",
           (unsigned long long)metrics().ttl_sweeps, (unsigned long long)metrics().ttl_rows_swept);
    bed.clock.now_ms += 49;
    tick_out();
    EXPECT(metrics().ttl_sweeps == 1, "swept too soon");
    for (int i = 0; i < 3; i++) {
        bed.clock.now_ms += 50;
        tick_out();
    }
    EXPECT(metrics().ttl_rows_swept == 5, "%llu rows",
           (unsigned long long)metrics().ttl_rows_swept);
    EXPECT(post_rows(bed.post.db, POST_DEDUPE) == 0 && post_rows(bed.post.db, POST_DEDUPE_TTL) == 0,
           "rows");
}
END_TEST

/* ---- Idle sleep ----------------------------------------------------------------------------- */

static void expect_sleep(uint32_t expected)
{
    uint32_t ms = 12345;

    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&bed.worker, &ms), SAP_OK);
    EXPECT(ms == expected, "%u ms instead of %u", ms, expected);
}

START_TEST(a_worker_sleeps_until_the_next_timer_or_lease_and_no_longer_than_allowed)
{
    SapRunnerV0Claim claim;

    start();
    tick_out();
    expect_sleep(1000);
    sap_runner_v0_worker_set_idle_policy(&bed.worker, 5000);
    expect_sleep(5000);
    uint64_t seq = arm(NOW + 3000, ME, "t");
    expect_sleep(3000);
    bed.clock.now_ms += 2999;
    expect_sleep(1);
    bed.clock.now_ms += 1;
    expect_sleep(0);
    bed.clock.now_ms += 500;
    expect_sleep(0);
    SapTxnCtx *txn = post_begin(bed.post.db);
    EXPECT_RC(sap_runner_timer_v0_cancel(txn, NOW + 3000, seq), SAP_OK);
    post_commit(txn);
    expect_sleep(5000);
    send_to(ME, POST_NORMAL, "a");
    expect_sleep(0);
    EXPECT(post_claim(bed.post.db, ME, OTHER_OWNER, bed.clock.now_ms, &claim) == 1, "no claim");
    sap_runner_v0_claim_release(&claim);
    EXPECT_RC(sap_runner_v0_worker_tick(&bed.worker, NULL), SAP_BUSY);
    expect_sleep(1000);
    bed.clock.now_ms += 400;
    expect_sleep(600);
    bed.clock.now_ms += 600;
    expect_sleep(0);
    tick(SAP_OK, 1);
    expect_handled("a ");
    expect_sleep(5000);
    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(&bed.worker, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(NULL, NULL), SAP_ERROR);
}
END_TEST

START_TEST(the_clock_can_be_replaced)
{
    PostClock later = {.now_ms = NOW + 100000};
    SapRunnerV0TimeHooks hooks = post_clock_hooks(&later);

    start();
    arm(NOW + 100000, ME, "t");
    tick(SAP_BUSY, 0);
    sap_runner_v0_worker_set_time_hooks(&bed.worker, &hooks);
    tick(SAP_OK, 1);
    expect_handled("t ");
}
END_TEST

static void writes_something(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    (void)runner;
    (void)msg;
    post_put(b->post.db, POST_APP, "k", 1, "v", 1);
}

START_TEST(a_gate_is_not_in_the_way_of_one_worker)
{
    SapRunnerV0DbGate gate;

    EXPECT_RC(sap_runner_v0_db_gate_init(NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_db_gate_init(&gate), SAP_OK);
    start();
    sap_runner_v0_worker_set_db_gate(&bed.worker, &gate);
    bed.inside = writes_something;
    send_to(ME, POST_NORMAL, "a");
    put_out(ME, "b");
    tick(SAP_OK, 1);
    expect_sleep(0);
    tick(SAP_OK, 1);
    expect_handled("a b ");
    sap_runner_v0_worker_set_db_gate(&bed.worker, NULL);
    sap_runner_v0_db_gate_shutdown(&gate);
    sap_runner_v0_db_gate_shutdown(NULL);
    tick_out();
}
END_TEST

#if !SAPLING_THREADED
START_TEST(without_threads_start_and_groups_are_errors)
{
    SapRunnerV0GroupConfig config = {.worker = bed.config};
    SapRunnerV0Group *group = NULL;

    start();
    EXPECT_RC(sap_runner_v0_worker_start(&bed.worker), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_group_start(&config, &group), SAP_ERROR);
    EXPECT(group == NULL, "a group");
    send_to(ME, POST_NORMAL, "a");
    tick(SAP_OK, 1);
}
END_TEST
#endif

/* ---- Files ---------------------------------------------------------------------------------- */

static void message_is_on_disk(Bed *b, SapRunnerV0 *runner, const SapRunnerV0Message *msg)
{
    SapTxnCtx *txn = NULL;
    uint64_t count = 0;

    (void)b;
    (void)msg;
    /* Such a reader sees only what is on disk. */
    EXPECT_RC(sap_txn_begin_rc(runner->db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_txn_count_range(txn, POST_INBOX, NULL, 0, NULL, 0, &count), SAP_OK);
    sap_txn_abort(txn);
    EXPECT(count == 1, "the handler acts on what may be lost");
}

START_TEST(a_plain_handler_acts_only_on_what_is_on_disk_and_acks_are_too)
{
    enum { ROUNDS = 200 };
    FileBed files;

    file_bed_start(&files);
    SapEnv *db = file_bed_open(&files);
    bed.config.runner.db = db;
    start();
    sap_runner_v0_set_replay_hook(&bed.worker.runner, NULL, NULL);
    bed.inside = message_is_on_disk;
    for (int i = 0; i < ROUNDS; i++) {
        SapTxnCtx *txn = post_begin(db);
        uint64_t lsn = 0;
        post_send_in(txn, ME, POST_NORMAL, "a");
        EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
        bed.handled[0] = 0;
        tick(SAP_OK, 1);
        uint64_t count = 9;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
        EXPECT_RC(sap_txn_count_range(txn, POST_INBOX, NULL, 0, NULL, 0, &count), SAP_OK);
        sap_txn_abort(txn);
        EXPECT(count == 0, "the acknowledgement is not on disk");
    }
    EXPECT(bed.calls == ROUNDS, "%u calls", bed.calls);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&bed.worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&files);
}
END_TEST

START_TEST(the_marker_is_on_disk_when_init_returns)
{
    FileBed files;
    SapRunnerV0 runner;
    SapTxnCtx *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;

    file_bed_start(&files);
    SapEnv *db = file_bed_open(&files);
    bed.config.runner.db = db;
    EXPECT_RC(sap_runner_v0_init(&runner, &bed.config.runner), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_txn_get(txn, "runner.schema.version", 21, &val, &len), SAP_OK);
    sap_txn_abort(txn);
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&files);
    bed.config.runner.db = db;
    bed.config.runner.bootstrap_schema_if_missing = 0;
    EXPECT_RC(sap_runner_v0_init(&runner, &bed.config.runner), SAP_OK);
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    file_bed_close(db);
    file_bed_end(&files);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_lifecycle");
    TCase *tc = tcase_create("lifecycle");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, bootstrap_opens_all_tables_as_the_schema_has_them);
    tcase_add_test(tc, bootstrap_refuses_tables_that_hold_rows_of_somebody_else);
    tcase_add_test(tc, the_schema_guard_accepts_its_version_and_nothing_else);
    tcase_add_test(tc, a_runner_that_cannot_start_stays_stopped_and_says_why);
    tcase_add_test(tc, a_worker_needs_one_handler);
    tcase_add_test(tc, a_step_decodes_checks_the_address_and_answers_as_the_handler);
    tcase_add_test(tc, an_empty_inbox_is_busy);
    tcase_add_test(tc, a_message_is_leased_handled_outside_of_transactions_and_gone);
    tcase_add_test(tc, latencies_are_measured_by_the_clock_that_was_given);
    tcase_add_test(tc, a_poll_claims_at_most_what_it_is_asked_for_and_in_order);
    tcase_add_test(tc, a_failure_that_may_pass_puts_the_message_back_at_the_tail);
    tcase_add_test(tc, a_message_that_fails_as_often_as_the_budget_allows_is_a_dead_letter);
    tcase_add_test(tc, the_first_other_code_is_the_answer_after_all_were_handled);
    tcase_add_test(tc, what_is_no_frame_or_misplaced_never_reaches_the_handler);
    tcase_add_test(tc, who_lost_its_lease_in_the_handler_changes_nothing_more);
    tcase_add_test(tc, a_message_whose_worker_died_is_taken_over_when_its_lease_expires);
    tcase_add_test(tc, leases_of_others_are_looked_for_also_after_a_claim_that_saw_none);
    tcase_add_test(tc, a_long_handler_keeps_its_message_by_touching_it);
    tcase_add_test(tc, a_batch_that_outlasts_its_leases_handles_nothing_that_others_took);
    tcase_add_test(tc, a_message_flagged_so_is_handled_once_within_its_time);
    tcase_add_test(tc, duplicates_in_one_batch_are_handled_once);
    tcase_add_test(tc, an_id_that_travels_through_several_workers_is_handled_by_each);
    tcase_add_test(tc, a_message_that_failed_is_no_duplicate_of_itself);
    tcase_add_test(tc, the_default_policy_is_the_documented_one);
    tcase_add_test(tc, the_policy_decides_leases_budget_and_memory_of_ids);
    tcase_add_test(tc, fields_of_a_policy_that_are_0_have_their_defaults);
    tcase_add_test(tc, a_policy_that_contradicts_itself_is_refused_and_changes_nothing);
    tcase_add_test(tc, the_sink_gets_what_the_snapshot_says_and_a_reset_begins_anew);
    tcase_add_test(tc, depth_and_age_of_the_queue_are_reported);
    tcase_add_test(tc, the_replay_hook_tells_each_step_and_what_became_of_it);
    tcase_add_test(tc, replay_events_of_timers_have_the_numbers_of_the_timers);
    tcase_add_test(tc, a_message_is_sent_whole_and_stamped);
    tcase_add_test(tc, many_are_sent_together_or_not_at_all);
    tcase_add_test(tc, a_tick_handles_messages_then_timers_up_to_its_batch);
    tcase_add_test(tc, a_batch_is_one_unless_set);
    tcase_add_test(tc, a_timer_that_fails_is_tried_again_until_its_budget_is_used_up);
    tcase_add_test(tc, a_tick_tells_what_a_handler_could_not_do);
    tcase_add_test(tc, a_timer_for_another_local_worker_moves_to_its_inbox);
    tcase_add_test(tc, without_a_forwarder_all_workers_are_local);
    tcase_add_test(tc, with_a_forwarder_only_this_worker_is_local);
    tcase_add_test(tc, frames_that_cannot_be_forwarded_hold_up_no_others);
    tcase_add_test(tc, a_full_inbox_does_not_keep_due_timers_waiting_for_ever);
    tcase_add_test(tc, tokens_that_a_crash_could_take_back_are_not_given_out_after_an_open);
    tcase_add_test(tc, a_lease_for_ever_and_clocks_before_1970_are_fine);
    tcase_add_test(tc, a_forwarder_that_fails_does_not_spoil_the_tick_that_handled_messages);
    tcase_add_test(tc, is_local_decides_and_the_rest_is_forwarded_or_stays);
    tcase_add_test(tc, a_due_timer_for_a_worker_elsewhere_is_forwarded);
    tcase_add_test(tc, expired_ids_are_swept_in_small_portions_and_not_too_often);
    tcase_add_test(tc, a_worker_sleeps_until_the_next_timer_or_lease_and_no_longer_than_allowed);
    tcase_add_test(tc, the_clock_can_be_replaced);
    tcase_add_test(tc, a_gate_is_not_in_the_way_of_one_worker);
#if !SAPLING_THREADED
    tcase_add_test(tc, without_threads_start_and_groups_are_errors);
#endif
    tcase_add_test(tc, a_plain_handler_acts_only_on_what_is_on_disk_and_acks_are_too);
    tcase_add_test(tc, the_marker_is_on_disk_when_init_returns);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
