/* A world that does not run says why, for every reason there is; and a handler that nobody waits for any
 * more changes nothing. The clock moves when the test says so. */
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/handler.h"
#include "universe/session.h"
#include "universe/worker_impl.h"

enum { TIMEOUT_S = 60, SECOND_MS = 1000 };

static Scene scene;
static SapWorker *own_worker;   /* of the handler "long" */
static void (*meanwhile)(void); /* what others do while the handler "long" runs, once */
static bool saw_cancel;
static int way;
static uint32_t calls;
static uint32_t attempt;

/* Its calls may return SAP_FENCED: then it refuses the item, fails, or takes no notice. */
static int take_long(SapWorld *world)
{
    void (*others)(void) = meanwhile;
    meanwhile = NULL;
    int rc = sap_world_put(world, "begun", 5, SAP_ENCODING_JSON, "1", 1);
    if (others != NULL) {
        others();
    }
    saw_cancel = saw_cancel || sap_world_cancelled(world);
    rc = rc == SAP_OK ? sap_world_put(world, "ended", 5, SAP_ENCODING_JSON, "1", 1) : rc;
    return rc == SAP_OK || way == 2 ? SAP_OK : sap_world_fail(world, way == 1, "could not write");
}

static int work(SapWorld *world, const SapEvent *event)
{
    calls++;
    if (strcmp(event->name, "long") == 0) {
        return take_long(world);
    }
    if (strcmp(event->name, "wait") == 0) {
        return SAP_BUSY;
    }
    if (strcmp(event->name, "missing") == 0) {
        attempt = handler_attempt(world);
        return calls < 3 ? handler_wait(world, "its program is not there") : SAP_OK;
    }
    if (strcmp(event->name, "halt") == 0) {
        return calls < 2 ? handler_halt(world, "it is too large") : SAP_OK;
    }
    if (strcmp(event->name, "twice") == 0) {
        attempt = handler_attempt(world);
        return attempt < 3 ? sap_world_fail(world, true, "cannot") : SAP_OK;
    }
    return strcmp(event->name, "fail") == 0 ? sap_world_fail(world, true, "cannot") : SAP_OK;
}

SAP_WORLD_MODULE("work", work);

static void set_up(void)
{
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void expect_world(const char *world, SapWorldStatus status, const char *reason)
{
    SapWorldInfo info = scene_info(&scene, world);
    ck_assert_int_eq(info.status, status);
    ck_assert_str_eq(info.reason, reason);
}

/* ---- Handlers that do not return ----------------------------------------------------------------- */

static void see_stuck(void)
{
    scene_pass_ms(&scene, 9999);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    scene_pass_ms(&scene, SECOND_MS);
    expect_world("w", SAP_WORLD_STUCK, "its handler has run for 10 s");
    scene_pass_ms(&scene, 60 * SECOND_MS); /* it keeps its lease */
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
}

/* The thread that steps is in the handler: the one that renews says so. */
START_TEST(a_handler_that_holds_up_its_worker_is_said_to_be_stuck_and_its_result_counts)
{
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    scene_send(&scene, "w", "long", "one");
    meanwhile = see_stuck;
    scene_run(own_worker);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert(!saw_cancel);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    ck_assert_uint_eq(scene_stats(own_worker).stuck, 1);
    scene_pass_ms(&scene, 60 * SECOND_MS); /* nothing runs */
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_stats(own_worker).stuck, 1);
}
END_TEST

static void take_away(void)
{
    scene_pass_ms(&scene, 10 * SECOND_MS);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", "by me"), SAP_OK);
    scene_pass_ms(&scene, SECOND_MS);
}

START_TEST(a_handler_that_holds_up_its_worker_hears_that_its_world_was_taken_away)
{
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    scene_send(&scene, "w", "long", "one");
    meanwhile = take_away;
    scene_run(own_worker);
    ck_assert(saw_cancel);
    expect_world("w", SAP_WORLD_PAUSED, "by me");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    scene_run(own_worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

/* The renewals fail until others might take over, and then succeed: nobody has. */
static void miss_renewals(void)
{
    scene.fault_call = SAP_STORE_CALL_BEGIN;
    scene.fault = SAP_STORE_FAULT_FAIL;
    scene.fault_times = UINT32_MAX;
    scene_pass_ms(&scene, 16 * SECOND_MS);
    scene.fault_times = 0;
}

/* What it makes of calls that return SAP_FENCED is no dead letter, no failure and no step. */
START_TEST(a_handler_whose_session_may_be_over_is_told_so_and_counts_for_nothing)
{
    SceneLetter letters[SCENE_LETTERS];
    way = _i;
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    scene_send(&scene, "w", "long", "one");
    meanwhile = miss_renewals;
    bool busy = false;
    calls = 0;
    (void)sap_worker_step(own_worker, &busy);
    ck_assert(saw_cancel);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(own_worker);
    ck_assert_uint_eq(calls, 2);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_stats(own_worker).failures, 0);
}
END_TEST

static void miss_renewals_of_a_step(void)
{
    bool busy = false;
    manual_clock_advance_ms(&scene.manual, 16 * SECOND_MS);
    ck_assert_int_eq(sap_worker_step(own_worker, &busy), SAP_BUSY);
    ck_assert_int_eq(sap_worker_renew(own_worker), SAP_OK);
}

/* The same in a thread of its own. */
START_TEST(a_handler_elsewhere_whose_session_may_be_over_counts_for_nothing)
{
    static SceneExecutor executor = {.held = "", .deaf = true};
    SceneLetter letters[SCENE_LETTERS];
    way = _i;
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    scene_executor_use(&executor, own_worker);
    executor.held = "";
    scene_send(&scene, "w", "long", "one");
    scene_run(own_worker);
    meanwhile = miss_renewals_of_a_step;
    scene_release(&executor, "w");
    ck_assert(saw_cancel);
    executor.held = NULL;
    scene_run(own_worker);
    ck_assert_int_eq(sap_worker_wait(own_worker, SECOND_MS), SAP_OK);
    scene_run(own_worker); /* it was called stuck meanwhile: that goes first */
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_stats(own_worker).failures, 0);
}
END_TEST

static void run_for(SapWorker *worker, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, SECOND_MS);
    }
}

/* Of worlds that may end the process one runs at a time. One that does not return is not waited for. */
START_TEST(a_suspect_that_does_not_return_holds_up_no_other_suspect)
{
    static SceneExecutor executor = {.held = "u"};
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "u1", "work");
    scene_create(&scene, "u2", "work");
    scene_run(worker);
    scene_executor_use(&executor, worker);
    scene_send(&scene, "u1", "add", "one");
    scene_send(&scene, "u2", "add", "one");
    scene_run(worker);
    ck_assert_uint_eq(executor.count, 2);
    scene_kill(&scene, worker); /* both are suspects now */
    executor = (SceneExecutor){.held = "u"};
    worker = scene_worker(&scene, "a");
    scene_executor_use(&executor, worker);
    scene_run(worker);
    ck_assert_uint_eq(executor.count, 1);
    const char *other = scene_held(&executor, "u1") > 0 ? "u2" : "u1";
    const char *stuck = scene_held(&executor, "u1") > 0 ? "u1" : "u2";
    run_for(worker, 9);
    ck_assert_uint_eq(executor.count, 1);
    run_for(worker, 3);
    ck_assert_uint_eq(executor.count, 2);
    expect_world(stuck, SAP_WORLD_STUCK, "its handler has run for 10 s");
    scene_release(&executor, other);
    run_for(worker, 1);
    expect_world(other, SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, other).height, 2);
    scene_release(&executor, stuck); /* what it did counts after all */
    run_for(worker, 2);
    expect_world(stuck, SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, stuck).height, 2);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
}
END_TEST

/* However many they are: a worker runs so many worlds at once, and these are not among them. */
START_TEST(handlers_that_do_not_return_take_no_others_place)
{
    enum { STUCK = 6 };
    static SceneExecutor executor = {.held = "s"};
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_worlds_per_commit = 2};
    SapWorker *worker = scene_worker_with(&scene, &options);
    char name[] = "s0";
    scene_executor_use(&executor, worker);
    for (int i = 0; i < STUCK; i++) {
        name[1] = (char)('0' + i);
        scene_create(&scene, name, "work");
    }
    scene_run(worker);
    scene_create(&scene, "w", "work");
    scene_run(worker);
    ck_assert_uint_lt(executor.count, STUCK); /* as many as run at once */
    ck_assert_uint_eq(scene_info(&scene, "w").height, 0);
    run_for(worker, 30);
    ck_assert_uint_eq(executor.count, STUCK);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    for (int i = 0; i < STUCK; i++) {
        name[1] = (char)('0' + i);
        expect_world(name, SAP_WORLD_STUCK, "its handler has run for 10 s");
    }
    while (executor.count > 0) {
        scene_release(&executor, "s");
    }
    run_for(worker, 2);
    ck_assert_uint_eq(scene_info(&scene, "s0").height, 1);
}
END_TEST

/* A handler that has not begun because others run is not one that does not return. */
START_TEST(a_handler_that_waits_for_a_thread_is_not_stuck_and_its_world_says_so)
{
    static SceneExecutor executor = {.held = "q", .queues = true};
    SapWorker *worker = scene_worker(&scene, "a");
    scene_executor_use(&executor, worker);
    scene_create(&scene, "q", "work");
    run_for(worker, 9);
    expect_world("q", SAP_WORLD_ACTIVE, "");
    run_for(worker, 60);
    expect_world("q", SAP_WORLD_ACTIVE, "its handler waits for those of other worlds");
    ck_assert_uint_eq(scene_stats(worker).stuck, 0);
    scene_release(&executor, "q");
    run_for(worker, 2);
    expect_world("q", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "q").height, 1);
}
END_TEST

/* ---- Handlers of hosts --------------------------------------------------------------------------- */

START_TEST(a_handler_that_waits_for_something_says_what_and_counts_no_attempt)
{
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    calls = 0;
    scene_send(&scene, "w", "missing", "one");
    scene_run(own_worker);
    expect_world("w", SAP_WORLD_ACTIVE, "waiting to try again: its program is not there");
    scene_pass_ms(&scene, 3 * SECOND_MS);
    scene_run(own_worker);
    scene_pass_ms(&scene, 3 * SECOND_MS);
    scene_run(own_worker);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(calls, 3);
    ck_assert_uint_eq(attempt, 1);
    ck_assert_uint_eq(scene_stats(own_worker).failures, 0);
}
END_TEST

START_TEST(a_handler_that_can_do_nothing_any_more_halts_its_world)
{
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    calls = 0;
    scene_send(&scene, "w", "halt", "one");
    scene_run(own_worker);
    expect_world("w", SAP_WORLD_PAUSED, "it is too large");
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    scene_run(own_worker);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

START_TEST(a_handler_hears_which_attempt_it_is)
{
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(own_worker);
    scene_send(&scene, "w", "twice", "one");
    for (uint32_t i = 1; i <= 3; i++) {
        scene_run(own_worker);
        ck_assert_uint_eq(attempt, i);
        scene_pass_ms(&scene, 5 * SECOND_MS);
    }
    expect_world("w", SAP_WORLD_ACTIVE, "");
}
END_TEST

/* ---- Worlds that no worker can run --------------------------------------------------------------- */

static uint32_t puts_seen;

static void count_puts(SapStoreCall call)
{
    puts_seen += call == SAP_STORE_CALL_PUT;
}

/* However many workers look at it. */
START_TEST(a_world_whose_module_no_worker_has_says_so_once)
{
    SapWorker *workers[3];
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) {
        workers[i] = scene_worker(&scene, names[i]);
    }
    scene_create(&scene, "w", "none");
    for (int second = 0; second < 10; second++) {
        for (int i = 0; i < 3; i++) {
            scene_run(workers[i]);
        }
        expect_world("w", SAP_WORLD_ACTIVE, "no worker has module none");
        scene.on_call = count_puts;
        manual_clock_advance_ms(&scene.manual, SECOND_MS);
    }
    ck_assert_uint_eq(puts_seen, 0);
    scene.on_call = NULL;
}
END_TEST

/* A session as another program's worker has it. */
static void put_session(const char *worker, const char *module, uint64_t version)
{
    WitUniverseModuleRef ref = {lend_bytes(module, strlen(module)), version};
    uint8_t nonce[UNIVERSE_NONCE] = {9};
    UniverseName name;
    RowKey key;
    Buf val = {0};
    WitUniverseDbi17SessionsValue row = {
        .nonce = lend_bytes(nonce, sizeof nonce),
        .expires_ns = sap_store_lease_ns(scene.store) + SESSION_TTL_NS,
        .modules = {&ref, 1},
    };
    ck_assert_int_eq(universe_name_set(&name, worker), SAP_OK);
    row_key_session(&key, SCENE_UNIVERSE, &name);
    ck_assert_int_eq(wit_universe_dbi17_sessions_value_encode(&row, &val, NULL), SAP_OK);
    scene_put_row(&scene, key.table, key.bytes, key.len, val.data, (uint32_t)val.len);
    buf_release(&val);
}

START_TEST(a_world_whose_module_another_worker_has_is_left_to_that_one)
{
    SapWorker *worker = scene_worker(&scene, "a");
    put_session("other", "none", 2);
    scene_create(&scene, "w", "none");
    scene_create(&scene, "pinned", "none");
    ck_assert_int_eq(sap_world_pin(scene.universe, "pinned", 3), SAP_OK);
    scene_run(worker);
    expect_world("w", SAP_WORLD_ACTIVE, "");
    expect_world("pinned", SAP_WORLD_ACTIVE, "no worker has version 3 of module none");
    scene_pass_ms(&scene, 30 * SECOND_MS); /* the other one is dead by now */
    scene_run(worker);
    expect_world("w", SAP_WORLD_ACTIVE, "no worker has module none");
}
END_TEST

START_TEST(a_world_assigned_to_a_worker_that_lost_its_module_says_so)
{
    put_session("a", "none", 1);
    scene_create(&scene, "w", "none");
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_OK);
    SapWorker *worker = scene_worker(&scene, "a"); /* another program under its name */
    put_session("other", "none", 1);
    scene_run(worker);
    expect_world("w", SAP_WORLD_ACTIVE, "assigned to worker a, which has no module none");
}
END_TEST

/* ---- Worlds that find no room -------------------------------------------------------------------- */

static SapWorker *small_worker(void)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_worlds = 1};
    return scene_worker_with(&scene, &options);
}

START_TEST(a_world_that_waits_for_the_machine_takes_no_others_room)
{
    SapWorker *worker = small_worker();
    scene_create(&scene, "w", "work");
    run_for(worker, 1);
    scene_send(&scene, "w", "wait", NULL);
    scene_run(worker);
    expect_world("w", SAP_WORLD_ACTIVE, scene_info(&scene, "w").reason);
    scene_create(&scene, "x", "work");
    run_for(worker, 3);
    ck_assert_uint_eq(scene_info(&scene, "x").height, 1);
    calls = 0;
    run_for(worker, 10); /* and it is tried again */
    ck_assert_uint_ge(calls, 9);
    scene_send(&scene, "x", "add", NULL);
    run_for(worker, 3);
    ck_assert_uint_eq(scene_info(&scene, "x").height, 2);
}
END_TEST

START_TEST(a_world_that_finds_no_room_says_so_until_it_runs)
{
    SapWorker *worker = small_worker();
    scene_create(&scene, "w", "work");
    run_for(worker, 1);
    scene_send(&scene, "w", "fail", NULL); /* its count would be lost */
    scene_run(worker);
    scene_create(&scene, "x", "work");
    run_for(worker, 9);
    expect_world("x", SAP_WORLD_ACTIVE, "");
    run_for(worker, 3);
    expect_world("x", SAP_WORLD_ACTIVE, "no worker has room: max_worlds or max_memory is reached");
    run_for(worker, 200); /* the attempts of the other one are used up */
    expect_world("w", SAP_WORLD_PAUSED, "cannot");
    expect_world("x", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "x").height, 1);
}
END_TEST

/* Another worker took the hint of a world that was stopped while it waited here. */
START_TEST(a_world_that_waits_for_nothing_any_more_is_given_up)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SapWorker *other = scene_worker(&scene, "b");
    scene_create(&scene, "w", "work");
    scene_run(worker);
    scene_send(&scene, "w", "fail", NULL);
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", "by me"), SAP_OK);
    scene_run(other);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_READY), 0);
    run_for(worker, 30);
    ck_assert_uint_eq(scene_stats(worker).held, 1);
    run_for(worker, 40);
    ck_assert_uint_eq(scene_stats(worker).held, 0);
}
END_TEST

/* ---- Worlds that were stopped -------------------------------------------------------------------- */

START_TEST(a_world_that_was_stopped_without_a_reason_has_one)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", NULL), SAP_OK);
    expect_world("w", SAP_WORLD_PAUSED, "an operator paused it");
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", "for lunch"), SAP_OK);
    expect_world("w", SAP_WORLD_PAUSED, "for lunch");
    ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    expect_world("w", SAP_WORLD_DELETED, "an operator deleted it");
}
END_TEST

/* A worker that is gone, until somebody takes the assignment back; and while it is emptied. */
START_TEST(a_world_that_waits_for_somebody_says_for_whom)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SapWorker *gone = scene_worker(&scene, "gone");
    scene_create(&scene, "w", "work");
    scene_run(worker);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "gone", 0, ""), SAP_OK);
    scene_run(worker);
    scene_kill(&scene, gone);
    scene_pass_ms(&scene, 30 * SECOND_MS);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    scene_run(worker);
    expect_world("w", SAP_WORLD_ACTIVE, "assigned to worker gone, which is not there");
    scene_pass_ms(&scene, 61 * SECOND_MS);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    run_for(worker, 2);
    expect_world("w", SAP_WORLD_ACTIVE, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_reasons");
    TCase *test_case = tcase_create("reasons");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_add_test(test_case, a_handler_that_waits_for_something_says_what_and_counts_no_attempt);
    tcase_add_test(test_case, a_handler_that_can_do_nothing_any_more_halts_its_world);
    tcase_add_test(test_case, a_handler_hears_which_attempt_it_is);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case,
                   a_handler_that_holds_up_its_worker_is_said_to_be_stuck_and_its_result_counts);
    tcase_add_test(test_case,
                   a_handler_that_holds_up_its_worker_hears_that_its_world_was_taken_away);
    tcase_add_loop_test(
        test_case, a_handler_whose_session_may_be_over_is_told_so_and_counts_for_nothing, 0, 3);
    tcase_add_loop_test(test_case, a_handler_elsewhere_whose_session_may_be_over_counts_for_nothing,
                        0, 3);
    tcase_add_test(test_case, a_suspect_that_does_not_return_holds_up_no_other_suspect);
    tcase_add_test(test_case, handlers_that_do_not_return_take_no_others_place);
    tcase_add_test(test_case, a_handler_that_waits_for_a_thread_is_not_stuck_and_its_world_says_so);
    tcase_add_test(test_case, a_world_whose_module_no_worker_has_says_so_once);
    tcase_add_test(test_case, a_world_whose_module_another_worker_has_is_left_to_that_one);
    tcase_add_test(test_case, a_world_assigned_to_a_worker_that_lost_its_module_says_so);
    tcase_add_test(test_case, a_world_that_waits_for_the_machine_takes_no_others_room);
    tcase_add_test(test_case, a_world_that_finds_no_room_says_so_until_it_runs);
    tcase_add_test(test_case, a_world_that_waits_for_nothing_any_more_is_given_up);
    tcase_add_test(test_case, a_world_that_was_stopped_without_a_reason_has_one);
    tcase_add_test(test_case, a_world_that_waits_for_somebody_says_for_whom);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
