/* Kinds of effects that a program serves, by universe.h: functions, and calls that go on beside the step. */
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "universe/journal.h"
#include "universe/state.h"
#include "universe/universe_impl.h"

enum { TIMEOUT_S = 120, MOST_STEPS = 1000, TEXT = 256, LONG_WAIT_S = 60, SHORT_WAIT_S = 20 };

#define SECOND_NS UINT64_C(1000000000)

/* ---- The world ------------------------------------------------------------------------------- */

/* Asks for an effect of the kind that the message names, cancels it, or notes what has come back. */
static int on_event(SapWorld *world, const SapEvent *event)
{
    char line[TEXT];
    SapEffect effect = {.size = sizeof effect, .kind = event->name, .ref = "e", .params = "7"};
    effect.params_len = 1;
    if (event->kind == SAP_EVENT_RECEIPT) {
        int len = snprintf(line, sizeof line, "%s %d %s %.*s %u", event->ref, (int)event->status,
                           event->code, (int)event->payload_len, (const char *)event->payload,
                           event->attempts);
        return sap_world_put(world, "said", 4, SAP_ENCODING_RAW, line, (size_t)len);
    }
    if (event->kind != SAP_EVENT_MESSAGE) {
        return SAP_OK;
    }
    return strcmp(event->name, "cancel") == 0 ? sap_world_cancel(world, "e")
                                              : sap_world_effect(world, &effect);
}

SAP_WORLD_MODULE("asks", on_event);

/* ---- A process ------------------------------------------------------------------------------- */

typedef struct Process {
    ManualClock manual;
    Clock clock;
    SapStore *store;
    SapUniverse *universe;
    SapWorker *worker;
} Process;

static void start_worker(Process *process)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "worker"};
    EXPECT_RC(sap_worker_open(process->universe, &options, &process->worker), SAP_OK);
    EXPECT_RC(sap_world_create(process->universe, "w", "asks", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
}

/* In memory, on a clock that stands still unless it is moved. */
static void start_process(Process *process)
{
    SapStoreOptions options = {.size = sizeof options};
    memset(process, 0, sizeof *process);
    manual_clock_init(&process->manual, UINT64_C(1700000000) * SECOND_NS);
    process->clock = manual_clock(&process->manual);
    options.tables = universe_tables(&options.table_count);
    options.wall_ns = process->clock.wall_ns;
    options.boot_ns = process->clock.boot_ns;
    options.clock_ctx = process->clock.ctx;
    EXPECT_RC(sap_store_open("memory:", &options, &process->store), SAP_OK);
    EXPECT_RC(universe_open_on(process->store, &process->clock, NULL, 1, &process->universe),
              SAP_OK);
    start_worker(process);
}

static void end_process(Process *process)
{
    EXPECT_RC(sap_worker_close(process->worker), SAP_OK);
    EXPECT_RC(sap_universe_close(process->universe), SAP_OK);
    if (process->store != NULL) {
        EXPECT_RC(sap_store_close(process->store), SAP_OK);
    }
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0, "memory leaked");
}

static void step_role(const Process *process, SapRole role)
{
    bool busy = true;
    for (int i = 0; busy; i++) {
        EXPECT_RC(sap_worker_step_role(process->worker, role, &busy), SAP_OK);
        EXPECT(i < MOST_STEPS, "role %d has no end of work", (int)role);
    }
}

static void step_both(const Process *process)
{
    step_role(process, SAP_ROLE_WORLDS);
    step_role(process, SAP_ROLE_EFFECTS);
    step_role(process, SAP_ROLE_WORLDS);
}

static void pass_time(Process *process, uint64_t ms)
{
    while (ms > 0) {
        uint64_t part_ms = ms < 4000 ? ms : 4000;
        manual_clock_advance_ms(&process->manual, part_ms);
        EXPECT_RC(sap_worker_renew(process->worker), SAP_OK);
        ms -= part_ms;
    }
}

static void send_message(const Process *process, const char *name)
{
    SapIngress item = {.size = sizeof item, .name = name};
    EXPECT_RC(sap_enqueue_ingress(process->universe, "w", &item, NULL), SAP_OK);
}

static void expect_said(const Process *process, const char *want)
{
    UniverseName name;
    WorldState *state = NULL;
    char said[TEXT] = "";
    Slice row = {0};
    EXPECT_RC(universe_name_set(&name, "w"), SAP_OK);
    EXPECT_RC(journal_look(process->universe->store, process->universe->number, &name, &state),
              SAP_OK);
    EXPECT_RC(state_begin(state), SAP_OK);
    int rc = state_get(state, (Slice){"\1said", 5}, &row);
    if (rc == SAP_OK) {
        (void)snprintf(said, sizeof said, "%.*s", (int)row.len - 1, (const char *)row.data + 1);
    }
    state_close(state);
    EXPECT(strcmp(said, want) == 0, "the receipt is '%s', not '%s'", said, want);
}

/* ---- Calls that go on ------------------------------------------------------------------------ */

typedef struct LongWork {
    const SapEffectCall *call; /* NULL: none is under way */
    uint32_t started;
    uint32_t cancelled;
    bool done;
    int start_rc;
    int poll_rc;
    const char *code;        /* with an error; NULL: it says nothing */
    uint64_t retry_after_ns; /* 0: it does not say */
} LongWork;

static int start_long(void *ctx, const SapEffectCall *call, void **handle_out)
{
    LongWork *work = (LongWork *)ctx;
    if (work->start_rc != SAP_OK) {
        return work->start_rc;
    }
    EXPECT(work->call == NULL, "two calls at once");
    work->call = call;
    work->started++;
    *handle_out = work;
    return SAP_OK;
}

static int poll_long(void *ctx, void *handle, SapEffectResult *result, bool *done_out)
{
    LongWork *work = (LongWork *)handle;
    (void)ctx;
    /* It is borrowed until now. */
    EXPECT(strcmp(work->call->world, "w") == 0 && strcmp(work->call->ref, "e") == 0 &&
               strcmp(work->call->kind, "long") == 0 && work->call->params_len == 1 &&
               memcmp(work->call->params, "7", 1) == 0 && strlen(work->call->idempotency_key) == 64,
           "another call");
    if (!work->done && work->poll_rc == SAP_OK) {
        return SAP_OK;
    }
    work->call = NULL;
    *done_out = true;
    if (work->code != NULL) {
        EXPECT_RC(
            sap_effect_result(result, SAP_RECEIPT_ERROR, work->code, SAP_ENCODING_JSON, "1", 1),
            SAP_OK);
    }
    if (work->retry_after_ns > 0) {
        EXPECT_RC(sap_effect_retry_after(result, work->retry_after_ns), SAP_OK);
    }
    return work->poll_rc;
}

static void cancel_long(void *ctx, void *handle)
{
    LongWork *work = (LongWork *)handle;
    (void)ctx;
    work->call = NULL;
    work->cancelled++;
}

static SapEffectAdapter long_adapter(LongWork *work)
{
    return (SapEffectAdapter){.size = sizeof(SapEffectAdapter),
                              .kind = "long",
                              .start = start_long,
                              .poll = poll_long,
                              .cancel = cancel_long,
                              .ctx = work,
                              .retry = {.timeout_ns = 3600 * SECOND_NS}};
}

static void start_with(Process *process, LongWork *work)
{
    SapEffectAdapter adapter = long_adapter(work);
    start_process(process);
    EXPECT_RC(sap_worker_serve_adapter(process->worker, &adapter), SAP_OK);
    EXPECT_RC(sap_worker_serve_adapter(process->worker, &adapter), SAP_EXISTS);
}

START_TEST(a_call_goes_on_for_as_long_as_it_takes_and_has_one_receipt)
{
    Process process;
    LongWork work = {.started = 0};
    start_with(&process, &work);
    send_message(&process, "long");
    for (int i = 0; i < 100; i++) { /* ten minutes, twenty times a claim */
        step_both(&process);
        step_role(&process, SAP_ROLE_REAPER);
        pass_time(&process, 6000);
    }
    ck_assert_uint_eq(work.started, 1);
    expect_said(&process, "");
    work.done = true;
    step_both(&process);
    expect_said(&process, "e 1  null 1");
    end_process(&process);
}
END_TEST

START_TEST(a_call_whose_effect_is_cancelled_is_told_within_ten_seconds)
{
    Process process;
    LongWork work = {.started = 0};
    start_with(&process, &work);
    send_message(&process, "long");
    step_both(&process);
    send_message(&process, "cancel");
    step_both(&process);
    pass_time(&process, 10000);
    step_both(&process);
    ck_assert_uint_eq(work.cancelled, 1);
    work.done = true;
    send_message(&process, "long"); /* its ref is free */
    step_both(&process);
    ck_assert_uint_eq(work.started, 2);
    expect_said(&process, "e 1  null 1");
    end_process(&process);
}
END_TEST

START_TEST(a_call_that_takes_too_long_is_ended_and_one_that_fails_is_made_again)
{
    Process process;
    LongWork work = {.start_rc = SAP_BUSY};
    SapEffectAdapter adapter = long_adapter(&work);
    adapter.at_most_once = true;
    adapter.retry.timeout_ns = 5 * SECOND_NS;
    start_process(&process);
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &adapter), SAP_OK);
    send_message(&process, "long"); /* what was not begun may be begun */
    step_both(&process);
    work.start_rc = SAP_OK;
    pass_time(&process, 1000);
    step_both(&process);
    ck_assert_uint_eq(work.started, 1);
    pass_time(&process, 5000);
    step_both(&process);
    ck_assert_uint_eq(work.cancelled, 1);
    expect_said(&process, "e 3 timeout  2");
    end_process(&process);

    work = (LongWork){.poll_rc = SAP_IO, .code = "down"};
    start_with(&process, &work);
    send_message(&process, "long");
    for (int i = 0; i < 20; i++) { /* 1, 2, 4 and 8 s */
        step_both(&process);
        pass_time(&process, 1000);
    }
    ck_assert_uint_eq(work.started, 5);
    expect_said(&process, "e 2 down 1 5");
    end_process(&process);
}
END_TEST

/* Expects how many calls were begun after so many seconds, when each fails and asks for a pause. */
static void expect_starts(uint64_t retry_after_ns, const char *code, uint32_t seconds,
                          uint32_t starts)
{
    Process process;
    LongWork work = {.poll_rc = SAP_BUSY, .code = code, .retry_after_ns = retry_after_ns};
    expect_context("a pause of %llu ns, %u s", (unsigned long long)retry_after_ns, seconds);
    start_with(&process, &work);
    send_message(&process, "long");
    for (uint32_t i = 0; i <= seconds; i++) {
        step_both(&process);
        pass_time(&process, i < seconds ? 1000 : 0);
    }
    EXPECT(work.started == starts, "%u starts, not %u", work.started, starts);
    end_process(&process);
}

START_TEST(an_attempt_that_asks_for_a_pause_is_not_made_again_before_it_is_over)
{
    static const char *const codes[] = {"busy", NULL};
    for (int i = 0; i < 2; i++) {
        expect_starts(0, codes[i], 1, 2); /* as the policy says: 1, 2, 4 s */
        expect_starts(7 * SECOND_NS, codes[i], 6, 1);
        expect_starts(7 * SECOND_NS, codes[i], 7, 2);
        expect_starts(7 * SECOND_NS, codes[i], 14, 3);
        expect_starts(1, codes[i], 7, 4); /* less than the policy's says nothing */
    }
    ck_assert_int_eq(sap_effect_retry_after(NULL, 1), SAP_ERROR);
}
END_TEST

START_TEST(calls_under_way_end_with_their_worker)
{
    Process process;
    LongWork work = {.started = 0};
    start_with(&process, &work);
    send_message(&process, "long");
    step_both(&process);
    ck_assert_uint_eq(work.started, 1);
    end_process(&process);
    ck_assert_uint_eq(work.cancelled, 1);
}
END_TEST

static int count_call(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)call;
    (void)result;
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

/* The process ends in order between the call and the step that would have put its receipt. */
START_TEST(what_was_performed_has_its_receipt_when_the_worker_is_closed)
{
    Process process;
    uint32_t calls = 0;
    SapEffectKind kind = {.size = sizeof kind,
                          .kind = "count",
                          .function = count_call,
                          .ctx = &calls,
                          .at_most_once = true};
    bool busy = false;
    start_process(&process);
    EXPECT_RC(sap_worker_serve(process.worker, &kind), SAP_OK);
    send_message(&process, "count");
    step_role(&process, SAP_ROLE_WORLDS);
    EXPECT_RC(sap_worker_step_role(process.worker, SAP_ROLE_EFFECTS, &busy), SAP_OK);
    ck_assert_uint_eq(calls, 1);
    step_role(&process, SAP_ROLE_WORLDS);
    expect_said(&process, "");
    EXPECT_RC(sap_worker_close(process.worker), SAP_OK);
    SapWorkerOptions options = {.size = sizeof options, .name = "another"};
    EXPECT_RC(sap_worker_open(process.universe, &options, &process.worker), SAP_OK);
    step_role(&process, SAP_ROLE_WORLDS);
    expect_said(&process, "e 1  null 1");
    ck_assert_uint_eq(calls, 1);
    end_process(&process);
}
END_TEST

START_TEST(adapters_that_lack_something_are_refused)
{
    Process process;
    LongWork work = {.started = 0};
    SapEffectAdapter good = long_adapter(&work);
    start_process(&process);
    EXPECT_RC(sap_worker_serve_adapter(NULL, &good), SAP_ERROR);
    EXPECT_RC(sap_worker_serve_adapter(process.worker, NULL), SAP_ERROR);
    EXPECT_RC(sap_worker_wake(NULL), SAP_ERROR);
    SapEffectAdapter bad = good;
    bad.start = NULL;
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &bad), SAP_ERROR);
    bad = good;
    bad.poll = NULL;
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &bad), SAP_ERROR);
    bad = good;
    bad.cancel = NULL;
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &bad), SAP_ERROR);
    bad = good;
    bad.reserved[1] = 1;
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &bad), SAP_ERROR);
    bad = good;
    bad.retry.attempts = SAP_EFFECT_MAX_ATTEMPTS + 1;
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &bad), SAP_ERROR);
    bad = good;
    bad.kind = "";
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &bad), SAP_INVALID);
    step_role(&process, SAP_ROLE_EFFECTS);
    EXPECT_RC(sap_worker_serve_adapter(process.worker, &good), SAP_BUSY);
    end_process(&process);
}
END_TEST

/* ---- Functions ------------------------------------------------------------------------------- */

static int refuse_for_now(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)ctx;
    if (call->attempt > 1) {
        EXPECT_RC(
            sap_effect_result(result, SAP_RECEIPT_OK, "no_answer", SAP_ENCODING_RAW, "late", 4),
            SAP_OK);
    }
    return SAP_IO;
}

START_TEST(what_the_last_failed_attempt_said_is_in_the_receipt)
{
    Process process;
    SapEffectKind kind = {
        .size = sizeof kind, .kind = "fails", .function = refuse_for_now, .retry = {.attempts = 2}};
    SapEffectKind once = {
        .size = sizeof once, .kind = "once", .function = refuse_for_now, .at_most_once = true};
    start_process(&process);
    EXPECT_RC(sap_worker_serve(process.worker, &kind), SAP_OK);
    EXPECT_RC(sap_worker_serve(process.worker, &once), SAP_OK);
    send_message(&process, "fails");
    step_both(&process);
    expect_said(&process, "");
    pass_time(&process, 1000);
    step_both(&process);
    expect_said(&process, "e 2 no_answer late 2"); /* an error, whatever status it said */
    send_message(&process, "once");
    step_both(&process);
    expect_said(&process, "e 2 failed  1"); /* it was begun, and is not begun again */
    end_process(&process);
}
END_TEST

/* ---- Waiting --------------------------------------------------------------------------------- */

static int fail_always(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)call;
    (void)result;
    ++*(uint32_t *)ctx;
    return SAP_IO;
}

/* In a file and on the system's clock: in memory nobody waits. */
START_TEST(a_wait_ends_when_an_attempt_is_due_and_when_it_is_woken)
{
    Process process = {.store = NULL};
    FileBed bed;
    char url[FILES_PATH_MAX + 16];
    uint32_t calls = 0;
    SapEffectKind kind = {.size = sizeof kind,
                          .kind = "fails",
                          .function = fail_always,
                          .ctx = &calls,
                          .retry = {.attempts = 2, .first_ns = SECOND_NS / 5}};
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    EXPECT_RC(sap_universe_open(url, NULL, &process.universe), SAP_OK);
    start_worker(&process);
    EXPECT_RC(sap_worker_serve(process.worker, &kind), SAP_OK);
    send_message(&process, "fails");
    step_both(&process);
    ck_assert_uint_eq(calls, 1);
    uint64_t begin_ns = clock_mono_ns(NULL);
    EXPECT_RC(sap_worker_wait_role(process.worker, SAP_ROLE_EFFECTS, LONG_WAIT_S * SECOND_NS),
              SAP_OK);
    step_both(&process);
    ck_assert_uint_eq(calls, 2);
    EXPECT_RC(sap_worker_wake(process.worker), SAP_OK);
    EXPECT_RC(sap_worker_wait_role(process.worker, SAP_ROLE_EFFECTS, LONG_WAIT_S * SECOND_NS),
              SAP_OK);
    EXPECT(clock_mono_ns(NULL) - begin_ns < SHORT_WAIT_S * SECOND_NS, "a wait did not end");
    end_process(&process);
    file_bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_serve");
    TCase *test_case = tcase_create("kinds");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_call_goes_on_for_as_long_as_it_takes_and_has_one_receipt);
    tcase_add_test(test_case, a_call_whose_effect_is_cancelled_is_told_within_ten_seconds);
    tcase_add_test(test_case, a_call_that_takes_too_long_is_ended_and_one_that_fails_is_made_again);
    tcase_add_test(test_case, an_attempt_that_asks_for_a_pause_is_not_made_again_before_it_is_over);
    tcase_add_test(test_case, calls_under_way_end_with_their_worker);
    tcase_add_test(test_case, what_was_performed_has_its_receipt_when_the_worker_is_closed);
    tcase_add_test(test_case, adapters_that_lack_something_are_refused);
    tcase_add_test(test_case, what_the_last_failed_attempt_said_is_in_the_receipt);
    tcase_add_test(test_case, a_wait_ends_when_an_attempt_is_due_and_when_it_is_woken);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
