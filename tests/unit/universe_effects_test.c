/* Effects and timers of one world: limits, retries, results, people, clocks; and every allocation that
 * fails once. What races is in universe_effects_simulation_test. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_queue.h"
#include "universe/kinds.h"

enum { TIMEOUT_S = 300, MOST_FAULTS = 20000, MANY_TIMERS = 20000 };

/* ---- An outside that does what it is told ---------------------------------------------------- */

typedef struct Script {
    EffectVerdict verdict;
    int start_rc;
    bool hangs;
    uint32_t started;
    uint32_t running;
    uint32_t cancelled;
    uint64_t started_at_ns[64];
    const Clock *clock;
    SapEncoding encoding;
    const char *payload;
    size_t payload_len; /* 0: the text's */
    char key[ADAPTER_KEY_MAX + 1];
} Script;

static int script_start(void *ctx, const EffectCall *call, void **handle_out)
{
    Script *script = (Script *)ctx;
    if (script->start_rc != SAP_OK) {
        return script->start_rc;
    }
    EXPECT(script->key[0] == 0 || strcmp(script->key, call->idempotency_key) == 0 ||
               call->attempt == 1,
           "attempt %u has another key", call->attempt);
    memcpy(script->key, call->idempotency_key, sizeof script->key);
    script->started_at_ns[script->started++ % 64] = clock_boot_ns(script->clock);
    script->running++;
    *handle_out = script;
    return SAP_OK;
}

static int script_poll(void *ctx, void *handle, EffectResult *result, bool *done_out)
{
    Script *script = (Script *)handle;
    const char *payload = script->payload == NULL ? "" : script->payload;
    size_t len = script->payload_len == 0 ? strlen(payload) : script->payload_len;
    (void)ctx;
    if (script->hangs) {
        return SAP_OK;
    }
    script->running--;
    *done_out = true;
    result->verdict = script->verdict;
    result->encoding = script->encoding;
    memcpy(result->code, "said_so", sizeof "said_so");
    return buf_append(&result->payload, payload, len);
}

static void script_cancel(void *ctx, void *handle)
{
    Script *script = (Script *)handle;
    (void)ctx;
    script->running--;
    script->cancelled++;
}

static AdapterKind script_kind(const char *name, Script *script, const Queue *queue)
{
    script->clock = &queue->clock;
    return (AdapterKind){.kind = name,
                         .ctx = script,
                         .start = script_start,
                         .poll = script_poll,
                         .cancel = script_cancel};
}

static Adapter *open_adapter(Queue *queue, const AdapterKind *kinds, uint32_t count)
{
    Adapter *adapter = NULL;
    EXPECT_RC(
        adapter_open(&queue->session, &queue->universe->producer, NULL, kinds, count, &adapter),
        SAP_OK);
    return adapter;
}

static void run_adapter(Adapter *adapter)
{
    bool busy = true;
    for (int i = 0; busy; i++) {
        EXPECT_RC(adapter_step(adapter, &busy), SAP_OK);
        EXPECT(i < 1000, "the adapter has no end of work");
    }
}

static void expect_receipt(Queue *queue, uint8_t number, WitUniverseReceiptStatus status,
                           const char *code, uint32_t attempts)
{
    WitUniverseInboxItem item;
    EXPECT_RC(queue_consume(queue, number, &item), SAP_OK);
    EXPECT(item.status == status && item.code.len == strlen(code) &&
               (item.code.len == 0 || memcmp(item.code.data, code, item.code.len) == 0),
           "status %d, code %.*s", (int)item.status, (int)item.code.len,
           (const char *)item.code.data);
    EXPECT(item.attempts.count == attempts, "%u attempts", item.attempts.count);
    EXPECT(item.ref.len == 3 && memcmp(item.ref.data, "ref", 3) == 0, "another ref");
    wit_universe_inbox_item_free(&item);
}

/* ---- Policies -------------------------------------------------------------------------------- */

START_TEST(pauses_grow_by_the_factor_up_to_the_cap)
{
    static const WitUniverseRetry none = {0};
    WitUniverseRetry policy = {0};
    static const uint64_t seconds[] = {1, 2, 4, 8, 16, 32, 60, 60};
    effect_policy_fill(&policy, &none);
    for (uint32_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        ck_assert_uint_eq(effect_pause_ns(&policy, i + 1), seconds[i] * QUEUE_SECOND_NS);
    }
    policy = (WitUniverseRetry){3, 1000, 150, 5000, 1};
    ck_assert_uint_eq(effect_pause_ns(&policy, 2), 1500);
    ck_assert_uint_eq(effect_pause_ns(&policy, 4), 3375);
    ck_assert_uint_eq(effect_pause_ns(&policy, 5), 5000);
    policy = (WitUniverseRetry){3, 1, UINT32_MAX, UINT64_MAX, 1};
    ck_assert_uint_eq(effect_pause_ns(&policy, 100), UINT64_C(1) << 62);
    policy = (WitUniverseRetry){3, 10, 1, 100, 1};
    ck_assert_uint_eq(effect_pause_ns(&policy, 100), 1); /* never at once */
}
END_TEST

START_TEST(an_intents_own_policy_comes_before_that_of_its_kind)
{
    WitUniverseRetry kind = {7, 20, 300, 4000, 50};
    WitUniverseRetry own = {.attempts = 2, .timeout_ns = 9};
    effect_policy_fill(&own, &kind);
    ck_assert_uint_eq(own.attempts, 2);
    ck_assert_uint_eq(own.first_ns, 20);
    ck_assert_uint_eq(own.factor, 300);
    ck_assert_uint_eq(own.cap_ns, 4000);
    ck_assert_uint_eq(own.timeout_ns, 9);
}
END_TEST

START_TEST(retries_keep_to_their_policy_though_the_wall_clock_is_set)
{
    Queue queue;
    Script script = {.verdict = EFFECT_RETRY, .encoding = SAP_ENCODING_RAW};
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    kind.policy = (WitUniverseRetry){.attempts = 5, .first_ns = 2 * QUEUE_SECOND_NS};
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    for (int i = 0; i < 2000 && script.started < 5; i++) {
        run_adapter(adapter);
        queue_pass(&queue, 100);
        if (i % 50 == 7) {
            manual_clock_step_wall_ms(&queue.manual, i % 100 == 7 ? 3600000 : -3600000);
        }
    }
    ck_assert_uint_eq(script.started, 5);
    for (uint32_t i = 1; i < 5; i++) {
        uint64_t pause_ms = (script.started_at_ns[i] - script.started_at_ns[i - 1]) / 1000000;
        uint64_t policy_ms = 1000 << i;
        ck_assert_uint_ge(pause_ms, policy_ms);
        ck_assert_uint_le(pause_ms, policy_ms + 200);
    }
    run_adapter(adapter);
    expect_receipt(&queue, 1, WIT_UNIVERSE_RECEIPT_STATUS_ERROR, "said_so", 5);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

/* ---- Limits ---------------------------------------------------------------------------------- */

START_TEST(a_kind_at_its_limit_holds_up_no_other)
{
    Queue queue;
    Script slow = {.hangs = true};
    Script fast = {.encoding = SAP_ENCODING_RAW};
    queue_open(&queue);
    AdapterKind kinds[] = {script_kind("a-slow", &slow, &queue),
                           script_kind("b-fast", &fast, &queue)};
    kinds[0].max_running = 2;
    Adapter *adapter = open_adapter(&queue, kinds, 2);
    for (uint8_t i = 1; i <= 60; i++) {
        EXPECT_RC(queue_publish(&queue, i, i <= 30 ? "a-slow" : "b-fast", NULL), SAP_OK);
    }
    run_adapter(adapter);
    ck_assert_uint_eq(slow.running, 2);
    ck_assert_uint_eq(fast.started, 30);
    ck_assert_uint_eq(adapter_running(adapter), 2);
    adapter_close(adapter);
    ck_assert_uint_eq(slow.running, 0);
    queue_close(&queue);
}
END_TEST

START_TEST(a_kind_with_a_rate_starts_so_many_a_second)
{
    Queue queue;
    Script script = {.encoding = SAP_ENCODING_RAW};
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    kind.max_per_s = 4;
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    for (uint8_t i = 1; i <= 40; i++) {
        EXPECT_RC(queue_publish(&queue, i, "k", NULL), SAP_OK);
    }
    run_adapter(adapter);
    ck_assert_uint_eq(script.started, 4); /* a second's worth is saved up */
    for (int i = 0; i < 30; i++) {
        queue_pass(&queue, 100);
        run_adapter(adapter);
    }
    ck_assert_uint_eq(script.started, 4 + 3 * 4);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

/* ---- Claims ---------------------------------------------------------------------------------- */

START_TEST(an_attempt_that_takes_too_long_is_ended_and_the_last_one_is_a_timeout)
{
    Queue queue;
    Script script = {.hangs = true};
    WitUniverseRetry retry = {.attempts = 2, .timeout_ns = 3 * QUEUE_SECOND_NS};
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    EXPECT_RC(queue_publish(&queue, 1, "k", &retry), SAP_OK);
    for (int i = 0; i < 100; i++) {
        run_adapter(adapter);
        queue_pass(&queue, 100);
    }
    ck_assert_uint_eq(script.started, 2);
    ck_assert_uint_eq(script.cancelled, 2);
    expect_receipt(&queue, 1, WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT, "timeout", 2);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

START_TEST(a_long_call_keeps_its_claim_by_renewing_it)
{
    Queue queue;
    EffectReaper reaper;
    Script script = {.hangs = true, .encoding = SAP_ENCODING_RAW};
    bool busy = false;
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    kind.policy.timeout_ns = 1000 * QUEUE_SECOND_NS;
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    effect_reaper_init(&reaper, &queue.session, &queue.universe->producer);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    for (int i = 0; i < 300; i++) {
        run_adapter(adapter);
        EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
        queue_pass(&queue, 1000);
    }
    ck_assert_uint_eq(script.started, 1);
    ck_assert_uint_eq(script.running, 1);
    script.hangs = false;
    run_adapter(adapter);
    expect_receipt(&queue, 1, WIT_UNIVERSE_RECEIPT_STATUS_OK, "said_so", 1);
    ck_assert_uint_eq(reaper.stats.returned, 0);
    effect_reaper_release(&reaper);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

/* An adapter of a machine that starts again while it holds a claim. */
static void reboot_with_claim(bool at_most_once, WitUniverseReceiptStatus status, uint32_t started)
{
    Queue queue;
    EffectReaper reaper;
    Script script = {.hangs = true, .encoding = SAP_ENCODING_RAW};
    Session before;
    bool busy = false;
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    kind.at_most_once = at_most_once;
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    run_adapter(adapter);
    ck_assert_uint_eq(script.started, 1);
    adapter_close(adapter);
    before = queue.session;
    session_release(&before);
    EXPECT_RC(
        session_init(&queue.session, queue.store, &queue.clock, NULL, before.universe, "node"),
        SAP_OK);
    EXPECT_RC(session_start(&queue.session), SAP_OK);
    EXPECT_RC(lease_acquire_world(&queue.session, &queue.world, NULL, &queue.lease), SAP_OK);
    effect_reaper_init(&reaper, &queue.session, &queue.universe->producer);
    EXPECT_RC(effect_reaper_step(&reaper, &busy),
              SAP_OK); /* the session is over: it need not wait */
    script.hangs = false;
    adapter = open_adapter(&queue, &kind, 1);
    run_adapter(adapter);
    ck_assert_uint_eq(script.started, started);
    expect_receipt(&queue, 1, status, started == 2 ? "said_so" : "lost", started);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    effect_reaper_release(&reaper);
    adapter_close(adapter);
    queue_close(&queue);
}

START_TEST(a_claim_of_a_machine_that_starts_again_is_returned_at_once)
{
    reboot_with_claim(false, WIT_UNIVERSE_RECEIPT_STATUS_OK, 2);
}
END_TEST

START_TEST(what_may_be_begun_once_ends_as_a_timeout_when_its_claim_is_lost)
{
    reboot_with_claim(true, WIT_UNIVERSE_RECEIPT_STATUS_TIMEOUT, 1);
}
END_TEST

START_TEST(a_call_that_never_began_is_tried_again_even_if_it_may_begin_once)
{
    Queue queue;
    Script script = {.start_rc = SAP_BUSY, .encoding = SAP_ENCODING_RAW};
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    kind.at_most_once = true;
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    run_adapter(adapter);
    script.start_rc = SAP_OK;
    script.verdict = EFFECT_RETRY;
    queue_pass(&queue, 2000);
    run_adapter(adapter);
    ck_assert_uint_eq(script.started, 1);
    expect_receipt(&queue, 1, WIT_UNIVERSE_RECEIPT_STATUS_ERROR, "said_so", 2);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

START_TEST(a_cancelled_call_is_ended_at_its_next_heartbeat_and_leaves_nothing)
{
    Queue queue;
    Script script = {.hangs = true};
    DispatchRow row;
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    run_adapter(adapter);
    EXPECT_RC(queue_cancel(&queue, 1, false), SAP_OK);
    EXPECT(queue_find(&queue, 1, &row) && row.status == WIT_UNIVERSE_DISPATCH_STATUS_CANCELLED,
           "it is not cancelled");
    queue_pass(&queue, 11000);
    run_adapter(adapter);
    ck_assert_uint_eq(script.cancelled, 1);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_NOTFOUND);
    /* One that waits goes at once. */
    EXPECT_RC(queue_publish(&queue, 2, "other", NULL), SAP_OK);
    EXPECT_RC(queue_cancel(&queue, 2, false), SAP_OK);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

START_TEST(an_effect_cancelled_while_its_claim_runs_out_leaves_nothing)
{
    Queue queue;
    EffectReaper reaper;
    Script script = {.hangs = true};
    bool busy = false;
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    effect_reaper_init(&reaper, &queue.session, &queue.universe->producer);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    run_adapter(adapter);
    queue_pass(&queue, 36000); /* nobody has renewed it */
    EXPECT_RC(queue_cancel(&queue, 1, false), SAP_OK);
    EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    run_adapter(adapter); /* stops the call */
    ck_assert_uint_eq(script.running, 0);
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_NOTFOUND);
    effect_reaper_release(&reaper);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

START_TEST(an_intent_is_published_once)
{
    Queue queue;
    queue_open(&queue);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_CORRUPT);
    EXPECT_RC(queue_arm(&queue, 2, WIT_UNIVERSE_TIMER_CLOCK_LEASE, 1), SAP_OK);
    EXPECT_RC(queue_arm(&queue, 2, WIT_UNIVERSE_TIMER_CLOCK_LEASE, 1), SAP_CORRUPT);
    ck_assert_uint_eq(queue_rows(&queue), 4);
    queue_close(&queue);
}
END_TEST

/* ---- Kinds without a node -------------------------------------------------------------------- */

START_TEST(a_kind_that_nobody_serves_for_a_minute_is_an_error)
{
    Queue queue;
    EffectReaper reaper;
    bool busy = false;
    queue_open(&queue);
    effect_reaper_init(&reaper, &queue.session, &queue.universe->producer);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    EXPECT_RC(queue_publish(&queue, 2, "kk", NULL), SAP_OK);
    for (int i = 0; i < 59; i++) {
        EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
        queue_pass(&queue, 1000);
    }
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_NOTFOUND);
    /* One that stood still begins to count again. */
    queue_pass(&queue, 20000);
    EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_NOTFOUND);
    EXPECT_RC(kind_register(&queue.session, slice_from_str("kk"), false,
                            &(WitUniverseRetry){.attempts = 1}),
              SAP_OK);
    for (int i = 0; i < 61; i++) {
        EXPECT_RC(effect_reaper_step(&reaper, &busy), SAP_OK);
        queue_pass(&queue, 1000);
    }
    expect_receipt(&queue, 1, WIT_UNIVERSE_RECEIPT_STATUS_ERROR, "no_adapter", 0);
    EXPECT_RC(queue_consume(&queue, 2, NULL), SAP_NOTFOUND);
    ck_assert_uint_eq(reaper.stats.unserved, 1);
    effect_reaper_release(&reaper);
    queue_close(&queue);
}
END_TEST

START_TEST(rows_of_kinds_go_with_their_sessions)
{
    Queue queue;
    Session other;
    bool served = false;
    SapStoreTxn *txn = NULL;
    WitUniverseRetry policy = {.attempts = 1};
    queue_open(&queue);
    EXPECT_RC(
        session_init(&other, queue.store, &queue.clock, NULL, queue.session.universe, "other"),
        SAP_OK);
    EXPECT_RC(session_start(&other), SAP_OK);
    EXPECT_RC(kind_register(&other, slice_from_str("k"), false, &policy), SAP_OK);
    EXPECT_RC(kind_register(&queue.session, slice_from_str("kk"), false, &policy), SAP_OK);
    queue_pass(&queue, 30000); /* the other has expired, and may be renewed yet */
    EXPECT_RC(kinds_clear_dead(&queue.session, 10), SAP_OK);
    ck_assert_uint_eq(queue_rows_of(&queue, WIT_DBI_KINDS), 2);
    EXPECT_RC(sap_store_begin(queue.store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    EXPECT_RC(kind_is_served(&queue.session, txn, slice_from_str("k"), &served), SAP_OK);
    ck_assert(!served);
    EXPECT_RC(kind_is_served(&queue.session, txn, slice_from_str("kk"), &served), SAP_OK);
    ck_assert(served);
    sap_store_abort(txn);
    EXPECT_RC(session_end(&other), SAP_OK);
    session_release(&other);
    EXPECT_RC(kinds_clear_dead(&queue.session, 10), SAP_OK);
    ck_assert_uint_eq(queue_rows_of(&queue, WIT_DBI_KINDS), 1);
    queue_close(&queue);
}
END_TEST

/* ---- Results --------------------------------------------------------------------------------- */

START_TEST(results_are_canonical_large_ones_are_blobs_and_bad_ones_are_errors)
{
    Queue queue;
    static char large[100000];
    Script script = {.payload = "{\"b\":1,\"a\":2}"};
    WitUniverseInboxItem item;
    queue_open(&queue);
    AdapterKind kind = script_kind("k", &script, &queue);
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    run_adapter(adapter);
    EXPECT_RC(queue_consume(&queue, 1, &item), SAP_OK);
    EXPECT(item.payload.len == 13 && memcmp(item.payload.data, "{\"a\":2,\"b\":1}", 13) == 0,
           "%.*s", (int)item.payload.len, (const char *)item.payload.data);
    wit_universe_inbox_item_free(&item);
    script.payload = "{";
    EXPECT_RC(queue_publish(&queue, 2, "k", NULL), SAP_OK);
    run_adapter(adapter);
    expect_receipt(&queue, 2, WIT_UNIVERSE_RECEIPT_STATUS_ERROR, "bad_result", 1);
    script.payload = large;
    script.payload_len = sizeof large;
    script.encoding = SAP_ENCODING_RAW;
    EXPECT_RC(queue_publish(&queue, 3, "k", NULL), SAP_OK);
    run_adapter(adapter);
    EXPECT_RC(queue_consume(&queue, 3, &item), SAP_OK);
    ck_assert_uint_eq(item.payload.len, 0);
    ck_assert_uint_eq(item.blob.len, DIGEST_SIZE);
    wit_universe_inbox_item_free(&item);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

static void note_record(void *ctx, const LogRecord *record)
{
    Buf *text = (Buf *)ctx;
    EXPECT_RC(log_format_text(record, text), SAP_OK);
}

static int refuse_twice(void *ctx, const EffectCall *call, EffectResult *result)
{
    uint32_t *calls = (uint32_t *)ctx;
    (void)call;
    result->encoding = SAP_ENCODING_RAW;
    return ++*calls <= 2 ? SAP_IO : buf_append(&result->payload, "done", 4);
}

START_TEST(functions_of_the_program_and_the_log_are_kinds)
{
    Queue queue;
    Buf text = {0};
    Log log;
    uint32_t calls = 0;
    EffectFunction room;
    EffectFunction function = {refuse_twice, &calls};
    AdapterKind kinds[2];
    queue_open(&queue);
    log_init(&log, note_record, &text, LOG_LEVEL_INFO, &queue.clock);
    adapter_kind_log(&kinds[0], &log, &room);
    adapter_kind_function(&kinds[1], "mine", &function);
    Adapter *adapter = open_adapter(&queue, kinds, 2);
    EXPECT_RC(queue_publish(&queue, 'x', "log", NULL), SAP_OK);
    EXPECT_RC(queue_publish(&queue, 2, "mine", NULL), SAP_OK);
    for (int i = 0; i < 5; i++) {
        run_adapter(adapter);
        queue_pass(&queue, 1000);
    }
    expect_receipt(&queue, 'x', WIT_UNIVERSE_RECEIPT_STATUS_OK, "", 1);
    expect_receipt(&queue, 2, WIT_UNIVERSE_RECEIPT_STATUS_OK, "", 3);
    EXPECT_RC(buf_append(&text, "", 1), SAP_OK);
    EXPECT(strstr((const char *)text.data, "effect.log") != NULL &&
               strstr((const char *)text.data, "text=x") != NULL,
           "%s", (const char *)text.data);
    AdapterStats stats = adapter_stats(adapter);
    ck_assert_uint_eq(stats.claimed, 4);
    ck_assert_uint_eq(stats.receipts, 2);
    ck_assert_uint_eq(stats.retries, 2);
    EXPECT_RC(adapter_wait(adapter, 1000), SAP_OK);
    /* A call that is not polled any more is ended with the adapter. */
    EXPECT_RC(queue_publish(&queue, 3, "mine", NULL), SAP_OK);
    bool busy = false;
    EXPECT_RC(adapter_step(adapter, &busy), SAP_OK);
    ck_assert_uint_eq(adapter_running(adapter), 1);
    adapter_close(adapter);
    buf_release(&text);
    EXPECT_RC(adapter_open(&queue.session, &queue.universe->producer, NULL, kinds, 0, &adapter),
              SAP_INVALID);
    kinds[1].policy.attempts = EFFECT_MOST_ATTEMPTS + 1;
    EXPECT_RC(adapter_open(&queue.session, &queue.universe->producer, NULL, kinds, 2, &adapter),
              SAP_INVALID);
    kinds[1].policy.attempts = 0;
    kinds[1].kind = "log";
    EXPECT_RC(adapter_open(&queue.session, &queue.universe->producer, NULL, kinds, 2, &adapter),
              SAP_INVALID);
    queue_close(&queue);
}
END_TEST

START_TEST(a_person_resolves_what_is_outstanding_and_nothing_else)
{
    Queue queue;
    Script script = {.hangs = true};
    UniverseName nobody;
    ReceiptByHand receipt = {.status = WIT_UNIVERSE_RECEIPT_STATUS_OK,
                             .encoding = WIT_UNIVERSE_ENCODING_RAW,
                             .payload = {"yes", 3}};
    queue_open(&queue);
    Producer *producer = &queue.universe->producer;
    EXPECT_RC(universe_name_set(&nobody, "nobody"), SAP_OK);
    AdapterKind kind = script_kind("k", &script, &queue);
    Adapter *adapter = open_adapter(&queue, &kind, 1);
    queue_hash(1, receipt.hash);
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_NOTFOUND);
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    EXPECT_RC(queue_publish(&queue, 2, "later", NULL), SAP_OK);
    EXPECT_RC(receipt_inject(&queue.session, producer, &nobody, &receipt), SAP_NOTFOUND);
    run_adapter(adapter);
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_OK);
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_EXISTS);
    queue_pass(&queue, 11000);
    run_adapter(adapter);
    ck_assert_uint_eq(script.cancelled, 1); /* its claim is gone */
    expect_receipt(&queue, 1, WIT_UNIVERSE_RECEIPT_STATUS_OK, "", 1);
    queue_hash(2, receipt.hash);
    receipt.code = "checked";
    receipt.status = WIT_UNIVERSE_RECEIPT_STATUS_ERROR;
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_OK);
    expect_receipt(&queue, 2, WIT_UNIVERSE_RECEIPT_STATUS_ERROR, "checked", 0);
    EXPECT_RC(queue_publish(&queue, 3, "later", NULL), SAP_OK);
    EXPECT_RC(sap_world_delete(queue.universe, "w", "a test"), SAP_OK);
    queue_hash(3, receipt.hash);
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_NOTFOUND);
    receipt.status = WIT_UNIVERSE_RECEIPT_STATUS_NONE;
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_INVALID);
    receipt.status = WIT_UNIVERSE_RECEIPT_STATUS_OK;
    receipt.code = "\xff";
    EXPECT_RC(receipt_inject(&queue.session, producer, &queue.world, &receipt), SAP_INVALID);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    adapter_close(adapter);
    queue_close(&queue);
}
END_TEST

START_TEST(intents_of_a_world_that_is_gone_are_dropped_and_of_no_other)
{
    Queue queue;
    IntentCancel cancels[4] = {
        {.of = CANCEL_EFFECT}, {.of = CANCEL_TIMER}, {.of = CANCEL_EFFECT}, {.of = CANCEL_TIMER}};
    UniverseName other;
    queue_open(&queue);
    EXPECT_RC(universe_name_set(&other, "other"), SAP_OK);
    for (uint8_t i = 0; i < 4; i++) {
        queue_hash((uint8_t)(i + 1), cancels[i].hash);
    }
    EXPECT_RC(queue_publish(&queue, 1, "k", NULL), SAP_OK);
    EXPECT_RC(queue_arm(&queue, 2, WIT_UNIVERSE_TIMER_CLOCK_DUE, UINT64_C(1) << 60), SAP_OK);
    EXPECT_RC(intents_drop(queue.store, 1, &queue.world, cancels, 4), SAP_ERROR);
    EXPECT_RC(sap_world_create(queue.universe, "other", "m", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    EXPECT_RC(sap_world_delete(queue.universe, "other", "a test"), SAP_OK);
    EXPECT_RC(intents_drop(queue.store, 1, &other, cancels, 4), SAP_OK);
    ck_assert_uint_eq(queue_rows(&queue), 4);
    EXPECT_RC(sap_world_delete(queue.universe, "w", "a test"), SAP_OK);
    EXPECT_RC(intents_drop(queue.store, 1, &queue.world, cancels, 4), SAP_OK);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    queue_close(&queue);
}
END_TEST

/* ---- Timers ---------------------------------------------------------------------------------- */

static void run_timers(TimerWorker *worker)
{
    bool busy = true;
    while (busy) {
        EXPECT_RC(timer_worker_step(worker, &busy), SAP_OK);
    }
}

START_TEST(timers_fire_by_their_own_clock_and_never_early)
{
    Queue queue;
    TimerWorker worker;
    queue_open(&queue);
    timer_worker_init(&worker, queue.store, 1, &queue.universe->producer);
    EXPECT_RC(queue_arm(&queue, 1, WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                        timer_after(queue.store, 10 * QUEUE_SECOND_NS)),
              SAP_OK);
    EXPECT_RC(queue_arm(&queue, 2, WIT_UNIVERSE_TIMER_CLOCK_DUE,
                        sap_store_due_ns(queue.store) + 1800 * QUEUE_SECOND_NS),
              SAP_OK);
    run_timers(&worker);
    ck_assert_uint_eq(worker.stats.fired, 0);
    ck_assert_uint_eq(worker.wait_ns, 10 * QUEUE_SECOND_NS);
    EXPECT_RC(timer_worker_wait(&worker, 1000), SAP_OK);
    manual_clock_step_wall_ms(&queue.manual, 3600000); /* only what is due by the time of day */
    run_timers(&worker);
    ck_assert_uint_eq(worker.stats.fired, 1);
    EXPECT_RC(queue_consume(&queue, 2, NULL), SAP_OK);
    manual_clock_step_wall_ms(&queue.manual, -7200000);
    queue_pass(&queue, 9999);
    run_timers(&worker);
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_NOTFOUND);
    queue_pass(&queue, 1);
    run_timers(&worker);
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_OK);
    ck_assert_uint_eq(worker.wait_ns, UINT64_MAX);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    /* A delay beyond all time is as long as there is time. */
    ck_assert_uint_lt(timer_after(queue.store, UINT64_MAX), UINT64_C(1) << 63);
    queue_close(&queue);
}
END_TEST

START_TEST(a_cancelled_timer_does_not_fire_and_one_that_fired_is_left_alone)
{
    Queue queue;
    TimerWorker worker;
    queue_open(&queue);
    timer_worker_init(&worker, queue.store, 1, &queue.universe->producer);
    EXPECT_RC(queue_arm(&queue, 1, WIT_UNIVERSE_TIMER_CLOCK_LEASE, 1), SAP_OK);
    EXPECT_RC(queue_arm(&queue, 2, WIT_UNIVERSE_TIMER_CLOCK_LEASE, 1), SAP_OK);
    EXPECT_RC(queue_cancel(&queue, 1, true), SAP_OK);
    run_timers(&worker);
    EXPECT_RC(queue_cancel(&queue, 2, true), SAP_OK);
    EXPECT_RC(queue_consume(&queue, 1, NULL), SAP_NOTFOUND);
    EXPECT_RC(queue_consume(&queue, 2, NULL), SAP_OK);
    ck_assert_uint_eq(queue_rows(&queue), 0);
    queue_close(&queue);
}
END_TEST

/* What a step reads does not depend on how many timers wait. */
START_TEST(timers_that_wait_cost_nothing)
{
    Queue queue;
    TimerWorker worker;
    SapStoreStats before;
    SapStoreStats after;
    bool busy = false;
    uint64_t read[2];
    queue_open(&queue);
    timer_worker_init(&worker, queue.store, 1, &queue.universe->producer);
    for (int round = 0; round < 2; round++) {
        uint32_t count = round == 0 ? 1 : MANY_TIMERS;
        WriteSet writes = {0};
        for (uint32_t i = 0; i < count; i++) {
            TimerIntent timer = {.world = queue.world,
                                 .clock = WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                                 .at_ns = (UINT64_C(1) << 50) + i};
            memset(timer.hash, round + 1, sizeof timer.hash);
            memcpy(timer.hash, &i, sizeof i);
            EXPECT_RC(timers_arm(&writes, 1, &timer), SAP_OK);
        }
        EXPECT_RC(queue_submit(&queue, &writes), SAP_OK);
        EXPECT_RC(sap_store_stats(queue.store, &before), SAP_OK);
        EXPECT_RC(timer_worker_step(&worker, &busy), SAP_OK);
        EXPECT_RC(sap_store_stats(queue.store, &after), SAP_OK);
        read[round] = after.rows_read - before.rows_read;
    }
    ck_assert_uint_eq(queue_rows_of(&queue, WIT_DBI_TIMERS_DUE), MANY_TIMERS + 1);
    ck_assert_uint_eq(read[0], read[1]);
    queue_close(&queue);
}
END_TEST

/* ---- Memory ---------------------------------------------------------------------------------- */

static void expect_code(int rc, const char *call)
{
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "%s returned %d", call, rc);
}

/* Until it succeeds: one allocation fails at most. */
#define TRY(call)                    \
    do {                             \
        int try_rc = (call);         \
        expect_code(try_rc, #call);  \
        if (try_rc != SAP_OK) {      \
            EXPECT_RC(call, SAP_OK); \
        }                            \
    } while (0)

static void step_all(Adapter *adapter, EffectReaper *reaper, TimerWorker *timers)
{
    bool busy = false;
    TRY(adapter_step(adapter, &busy));
    TRY(effect_reaper_step(reaper, &busy));
    TRY(timer_worker_step(timers, &busy));
}

/* All that there is, with the n-th allocation failing. False: there is no such one. */
static bool fail_nth(uint64_t nth)
{
    Queue queue;
    EffectReaper reaper;
    TimerWorker timers;
    uint32_t calls = 0;
    EffectFunction function = {refuse_twice, &calls};
    AdapterKind kind;
    Adapter *adapter = NULL;
    ReceiptByHand receipt = {.status = WIT_UNIVERSE_RECEIPT_STATUS_OK,
                             .encoding = WIT_UNIVERSE_ENCODING_RAW};
    IntentCancel drop = {.of = CANCEL_EFFECT};
    expect_context("allocation %" PRIu64, nth);
    queue_open(&queue);
    adapter_kind_function(&kind, "k", &function);
    effect_reaper_init(&reaper, &queue.session, &queue.universe->producer);
    timer_worker_init(&timers, queue.store, 1, &queue.universe->producer);
    fault_reset();
    fault_arm_alloc(nth);
    TRY(adapter_open(&queue.session, &queue.universe->producer, NULL, &kind, 1, &adapter));
    TRY(queue_publish(&queue, 1, "k", NULL));
    TRY(queue_publish(&queue, 2, "nobody", NULL));
    TRY(queue_publish(&queue, 3, "by-hand", NULL));
    TRY(queue_publish(&queue, 4, "never", NULL));
    TRY(queue_arm(&queue, 5, WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                  timer_after(queue.store, QUEUE_SECOND_NS)));
    TRY(queue_arm(&queue, 6, WIT_UNIVERSE_TIMER_CLOCK_LEASE,
                  timer_after(queue.store, QUEUE_SECOND_NS)));
    TRY(queue_cancel(&queue, 4, false));
    TRY(queue_cancel(&queue, 6, true));
    queue_hash(3, receipt.hash);
    TRY(receipt_inject(&queue.session, &queue.universe->producer, &queue.world, &receipt));
    for (int i = 0; i < 75; i++) {
        step_all(adapter, &reaper, &timers);
        manual_clock_advance_ms(&queue.manual, 1000);
        TRY(session_renew(&queue.session));
    }
    TRY(queue_consume(&queue, 1, NULL));
    TRY(queue_consume(&queue, 2, NULL));
    TRY(queue_consume(&queue, 3, NULL));
    TRY(queue_consume(&queue, 5, NULL));
    /* A start that found no memory is an attempt too. */
    EXPECT(calls == 3 || (fault_fired() > 0 && calls < 5), "%u calls", calls);
    TRY(queue_publish(&queue, 7, "never", NULL));
    TRY(sap_world_delete(queue.universe, "w", "a test"));
    queue_hash(7, drop.hash);
    TRY(intents_drop(queue.store, 1, &queue.world, &drop, 1));
    bool fired = fault_fired() > 0;
    fault_reset();
    EXPECT(queue_rows(&queue) == 0, "%u rows are left", queue_rows(&queue));
    adapter_close(adapter);
    effect_reaper_release(&reaper);
    queue_close(&queue);
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0 &&
               mem_live_bytes(MEM_COMMON) == 0,
           "memory leaked");
    return fired;
}

START_TEST(every_allocation_that_fails_is_reported_and_nothing_is_lost)
{
    uint64_t nth = 1;
    while (fail_nth(nth)) {
        EXPECT(nth++ < MOST_FAULTS, "there is no end of allocations");
    }
    EXPECT(nth > 100, "only %" PRIu64 " allocations", nth - 1);
    printf("universe_effects: %" PRIu64 " allocations failed\n", nth - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_effects");
    TCase *test_case = tcase_create("queue");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, pauses_grow_by_the_factor_up_to_the_cap);
    tcase_add_test(test_case, an_intents_own_policy_comes_before_that_of_its_kind);
    tcase_add_test(test_case, retries_keep_to_their_policy_though_the_wall_clock_is_set);
    tcase_add_test(test_case, a_kind_at_its_limit_holds_up_no_other);
    tcase_add_test(test_case, a_kind_with_a_rate_starts_so_many_a_second);
    tcase_add_test(test_case,
                   an_attempt_that_takes_too_long_is_ended_and_the_last_one_is_a_timeout);
    tcase_add_test(test_case, a_long_call_keeps_its_claim_by_renewing_it);
    tcase_add_test(test_case, a_claim_of_a_machine_that_starts_again_is_returned_at_once);
    tcase_add_test(test_case, what_may_be_begun_once_ends_as_a_timeout_when_its_claim_is_lost);
    tcase_add_test(test_case, a_call_that_never_began_is_tried_again_even_if_it_may_begin_once);
    tcase_add_test(test_case, a_cancelled_call_is_ended_at_its_next_heartbeat_and_leaves_nothing);
    tcase_add_test(test_case, an_effect_cancelled_while_its_claim_runs_out_leaves_nothing);
    tcase_add_test(test_case, an_intent_is_published_once);
    tcase_add_test(test_case, a_kind_that_nobody_serves_for_a_minute_is_an_error);
    tcase_add_test(test_case, rows_of_kinds_go_with_their_sessions);
    tcase_add_test(test_case, results_are_canonical_large_ones_are_blobs_and_bad_ones_are_errors);
    tcase_add_test(test_case, functions_of_the_program_and_the_log_are_kinds);
    tcase_add_test(test_case, a_person_resolves_what_is_outstanding_and_nothing_else);
    tcase_add_test(test_case, intents_of_a_world_that_is_gone_are_dropped_and_of_no_other);
    tcase_add_test(test_case, timers_fire_by_their_own_clock_and_never_early);
    tcase_add_test(test_case, a_cancelled_timer_does_not_fire_and_one_that_fired_is_left_alone);
    tcase_add_test(test_case, timers_that_wait_cost_nothing);
    tcase_add_test(test_case, every_allocation_that_fails_is_reported_and_nothing_is_lost);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
