/* What becomes of an item whose handler fails, or ends its process: it is tried again, later and later, and
 * then its world halts or skips it. The machine's faults are nobody's failure. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "support/universe_scene.h"

enum { TIMEOUT_S = 60, SECOND_MS = 1000 };

static uint32_t calls;        /* of the handler, for items that are no creation */
static uint32_t newest_calls; /* of the newer version of the module */
static bool is_down;          /* what "fail" needs */
static uint32_t gives_up_at;  /* the call of "fail" that refuses for good */
static int answer;            /* of "code" */
static char order[64];        /* the first letters of the ids of what was handled */
static const char *complaint = "the outside is down";

/* "fail" fails while is_down, "code" returns `answer`, "refuse" is refused for good. */
static int script(SapWorld *world, const SapEvent *event)
{
    if (event->kind == SAP_EVENT_CREATE) {
        return SAP_OK;
    }
    calls++;
    int rc = sap_world_put(world, event->id, strlen(event->id), SAP_ENCODING_RAW, "seen", 4);
    if (rc != SAP_OK) {
        return rc;
    }
    if (strcmp(event->name, "fail") == 0 && is_down) {
        return sap_world_fail(world, calls != gives_up_at, complaint);
    }
    if (strcmp(event->name, "refuse") == 0) {
        return sap_world_fail(world, false, "never");
    }
    if (strcmp(event->name, "code") == 0 && answer != SAP_OK) {
        return answer;
    }
    size_t len = strlen(order);
    if (len + 1 < sizeof order) {
        order[len] = event->id[0];
        order[len + 1] = 0;
    }
    return SAP_OK;
}

static int newest(SapWorld *world, const SapEvent *event)
{
    (void)world;
    newest_calls += event->kind != SAP_EVENT_CREATE;
    return SAP_OK;
}

static SapWorldModule halting = {.name = "halting", .handler = script};
static SapWorldModule brittle = {.name = "brittle", .handler = script, .max_attempts = 3};
static SapWorldModule skipping = {
    .name = "skipping", .handler = script, .max_attempts = 3, .on_failure = SAP_ON_FAILURE_SKIP};
static SapWorldModule newer = {.name = "halting", .handler = newest, .version = 2};

static Scene scene;

static void set_up(void)
{
    ck_assert_int_eq(sap_world_module_register(&halting), SAP_OK);
    ck_assert_int_eq(sap_world_module_register(&brittle), SAP_OK);
    ck_assert_int_eq(sap_world_module_register(&skipping), SAP_OK);
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void expect_status(const char *world, SapWorldStatus status, const char *reason)
{
    SapWorldInfo info = scene_info(&scene, world);
    ck_assert_int_eq(info.status, status);
    ck_assert_str_eq(info.reason, reason);
}

static void expect_failed_reply(const char *world, const char *id, const char *text)
{
    SapReply *reply = NULL;
    ck_assert_int_eq(sap_world_reply_wait(scene.universe, world, id, 0, &reply), SAP_OK);
    ck_assert(reply->failed);
    ck_assert_ptr_nonnull(strstr(reply->payload, text));
    sap_reply_free(reply);
}

/* Runs the worker until its attempts are used up, and compares every pause with what it must be. */
static void expect_backoff(SapWorker *worker, uint32_t attempts)
{
    uint64_t pause_ms = SECOND_MS;
    uint32_t before = calls;
    for (uint32_t i = 1; i <= attempts; i++) {
        char reason[128];
        scene_run(worker);
        ck_assert_uint_eq(calls, before + i);
        if (i == attempts) {
            return;
        }
        (void)snprintf(reason, sizeof reason, "attempt %" PRIu32 " of %" PRIu32 " failed: %s", i,
                       attempts, complaint);
        expect_status("w", SAP_WORLD_ACTIVE, reason);
        scene_pass_ms(&scene, pause_ms - 1);
        scene_run(worker);
        ck_assert_uint_eq(calls, before + i); /* not a millisecond early */
        scene_pass_ms(&scene, 1);
        pause_ms = pause_ms < 32 * SECOND_MS ? pause_ms * 2 : 60 * SECOND_MS;
    }
}

START_TEST(a_failing_handler_is_called_again_after_1_s_doubling_to_60_and_then_its_world_halts)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "halting");
    scene_run(worker);
    is_down = true;
    scene_send(&scene, "w", "fail", "one");
    scene_send(&scene, "w", "add", "two");
    expect_backoff(worker, 8);
    expect_status("w", SAP_WORLD_PAUSED, complaint);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    scene_pass_ms(&scene, 600 * (uint64_t)SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(calls, 8);
    /* Resuming tries again, with a fresh count. */
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    expect_backoff(worker, 8);
    expect_status("w", SAP_WORLD_PAUSED, complaint);
    is_down = false;
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    scene_run(worker);
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_str_eq(order, "ot"); /* in the order in which they were sent */
    ck_assert_uint_eq(scene_info(&scene, "w").height, 3);
    ck_assert_uint_eq(scene_stats(worker).failures, 16);
}
END_TEST

START_TEST(a_failure_that_is_over_leaves_no_reason_and_no_count)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "halting");
    is_down = true;
    scene_send(&scene, "w", "fail", "one");
    for (int i = 0; i < 7; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    }
    is_down = false;
    scene_run(worker);
    expect_status("w", SAP_WORLD_ACTIVE, "");
    is_down = true;
    scene_send(&scene, "w", "fail", "two");
    expect_backoff(worker, 8);
}
END_TEST

START_TEST(a_module_that_skips_makes_dead_letters_and_goes_on)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "skipping");
    is_down = true;
    scene_send(&scene, "w", "add", "one");
    scene_send(&scene, "w", "fail", "two");
    scene_send(&scene, "w", "add", "three");
    scene_run(worker);
    expect_status("w", SAP_WORLD_ACTIVE, "attempt 1 of 3 failed: the outside is down");
    ck_assert_str_eq(order, "o"); /* what follows waits */
    for (int i = 0; i < 2; i++) {
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
        scene_run(worker);
    }
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_str_eq(order, "ot");
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_str_eq(letters[0].id, "two");
    ck_assert_str_eq(letters[0].error, complaint);
    ck_assert_uint_eq(letters[0].attempts, 3);
    ck_assert_uint_eq(letters[0].height, 3);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 4); /* the rejected item is an entry */
    expect_failed_reply("w", "two", complaint);
    ck_assert_uint_eq(scene_stats(worker).rejected, 1);
    ck_assert_uint_eq(scene_stats(worker).paused, 0);
}
END_TEST

/* Two calls fail, and the third refuses the item for good. */
START_TEST(a_letter_counts_every_call_of_the_handler)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "halting");
    is_down = true;
    gives_up_at = 3;
    scene_send(&scene, "w", "fail", "one");
    for (int i = 0; i < 3; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, 10 * (uint64_t)SECOND_MS);
    }
    ck_assert_uint_eq(calls, 3);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_uint_eq(letters[0].attempts, 3);
}
END_TEST

/* Machine faults: SAP_NOMEM, SAP_IO, SAP_BUSY, SAP_FENCED of the handler. */
static const int faults[] = {SAP_NOMEM, SAP_IO, SAP_BUSY, SAP_FENCED};

START_TEST(faults_of_the_machine_are_never_counted)
{
    static const char *const modules[] = {"brittle", "skipping"};
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", modules[_i / 4]);
    answer = faults[_i % 4];
    scene_send(&scene, "w", "code", "one");
    scene_run(worker);
    for (uint32_t i = 1; i < 20; i++) {
        SapWorldInfo info = scene_info(&scene, "w");
        ck_assert_uint_eq(calls, i);
        ck_assert_int_eq(info.status, SAP_WORLD_ACTIVE);
        ck_assert_ptr_nonnull(strstr(info.reason, sap_strerror(answer)));
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
        scene_run(worker);
    }
    answer = SAP_OK;
    scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    scene_run(worker);
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_str_eq(order, "o");
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_stats(worker).failures, 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
}
END_TEST

START_TEST(a_fault_of_the_machine_between_two_failures_changes_no_count)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "brittle");
    answer = SAP_ERROR;
    scene_send(&scene, "w", "code", "one");
    scene_run(worker);
    scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    scene_run(worker); /* two failures */
    answer = SAP_BUSY;
    for (int i = 0; i < 5; i++) {
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
        scene_run(worker);
    }
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
    answer = SAP_ERROR;
    scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED);
}
END_TEST

START_TEST(a_store_that_refuses_commits_is_nobodys_failure)
{
    static const SapStoreFault lost[] = {SAP_STORE_FAULT_FAIL, SAP_STORE_FAULT_LOST_BEFORE,
                                         SAP_STORE_FAULT_LOST_AFTER, SAP_STORE_FAULT_CONFLICT};
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "skipping");
    scene_run(worker);
    scene_send(&scene, "w", "add", "one");
    for (int i = 0; i < 20; i++) {
        bool busy = false;
        scene.fault_call = SAP_STORE_CALL_COMMIT;
        scene.fault = lost[_i];
        scene.fault_times = 1;
        (void)sap_worker_step(worker, &busy);
        scene.fault_times = 0;
        scene_pass_ms(&scene, SECOND_MS);
    }
    scene_run(worker);
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_stats(worker).failures, 0);
}
END_TEST

START_TEST(a_halted_world_forgets_exactly_the_item_that_failed)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "brittle");
    scene_create(&scene, "other", "brittle");
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "w"), SAP_NOTFOUND); /* it is active */
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "none"), SAP_NOTFOUND);
    is_down = true;
    scene_send(&scene, "w", "fail", "bad");
    scene_send(&scene, "w", "fail", "next");
    scene_send(&scene, "w", "add", "good");
    for (int i = 0; i < 3; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    }
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED);
    is_down = false;
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "w"), SAP_OK);
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "w"), SAP_NOTFOUND);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_str_eq(letters[0].id, "bad");
    expect_failed_reply("w", "bad", "");
    scene_run(worker);
    ck_assert_str_eq(order, "ng");
    expect_status("w", SAP_WORLD_ACTIVE, "");
    /* One that an operator paused has no such item. */
    ck_assert_int_eq(sap_world_pause(scene.universe, "other", "for a while"), SAP_OK);
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "other"), SAP_NOTFOUND);
    expect_status("other", SAP_WORLD_PAUSED, "for a while");
}
END_TEST

START_TEST(a_newer_module_resumes_what_an_older_one_halted_and_nothing_else)
{
    SapWorker *worker = scene_worker(&scene, "a");
    static const char *const worlds[] = {"halted", "paused", "pinned"};
    is_down = true;
    for (int i = 0; i < 3; i++) {
        scene_create(&scene, worlds[i], "halting");
        scene_run(worker);
        scene_send(&scene, worlds[i], "fail", "one");
    }
    ck_assert_int_eq(sap_world_pause(scene.universe, "paused", "by me"), SAP_OK);
    ck_assert_int_eq(sap_world_pin(scene.universe, "pinned", 1), SAP_OK);
    for (int i = 0; i < 8; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    }
    expect_status("halted", SAP_WORLD_PAUSED, complaint);
    expect_status("pinned", SAP_WORLD_PAUSED, complaint);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    expect_status("halted", SAP_WORLD_PAUSED, complaint); /* there is no newer version */
    ck_assert_int_eq(sap_world_module_register(&newer), SAP_OK);
    SapWorker *second = scene_worker(&scene, "b");
    scene_pass_ms(&scene, SECOND_MS);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    expect_status("halted", SAP_WORLD_ACTIVE, "");
    expect_status("paused", SAP_WORLD_PAUSED, "by me");
    expect_status("pinned", SAP_WORLD_PAUSED, complaint);
    scene_run(second);
    ck_assert_uint_eq(newest_calls, 1);
    /* Every world has been looked at: one that the new version halts stays as it is. */
    scene_pass_ms(&scene, SECOND_MS);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    ck_assert_int_eq(sap_world_pin(scene.universe, "pinned", 0), SAP_OK);
    ck_assert_int_eq(sap_world_resume(scene.universe, "pinned"), SAP_OK);
    scene_run(second);
    ck_assert_uint_eq(newest_calls, 2);
}
END_TEST

START_TEST(a_pinned_world_waits_for_its_version_and_says_so)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "halting");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 3), SAP_OK);
    ck_assert_uint_eq(scene_info(&scene, "w").pin, 3);
    scene_send(&scene, "w", "add", "one");
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    expect_status("w", SAP_WORLD_ACTIVE, "no worker has version 3 of module halting");
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 1), SAP_OK);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    expect_status("w", SAP_WORLD_ACTIVE, "");
}
END_TEST

/* ---- Processes that end while a handler runs ---------------------------------------------------- */

/* A worker of that name takes the world, and its process ends in the handler. False: no handler ran. */
static bool die_in_handler(const char *name)
{
    SceneExecutor executor = {.held = ""};
    SapWorker *worker = scene_worker(&scene, name);
    scene_executor_use(&executor, worker);
    scene_run(worker);
    bool ran = executor.count > 0;
    scene_kill(&scene, worker);
    return ran;
}

START_TEST(four_deaths_during_a_long_item_are_not_poison)
{
    SceneLetter letters[SCENE_LETTERS];
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "halting");
    scene_run(worker);
    scene_send(&scene, "w", "add", "long");
    scene_leave(&scene, worker);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(die_in_handler("a"));
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), i > 0);
    }
    worker = scene_worker(&scene, "a");
    scene_run(worker);
    ck_assert_str_eq(order, "l");
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

/* The first death is not counted: in normal running nobody writes down what is about to run. */
START_TEST(an_item_that_ends_process_after_process_halts_its_world)
{
    SapWorldInfo info;
    scene_create(&scene, "w", "brittle");
    SapWorker *worker = scene_worker(&scene, "a");
    scene_run(worker);
    scene_leave(&scene, worker);
    scene_send(&scene, "w", "add", "killer");
    scene_send(&scene, "w", "add", "next");
    for (int i = 0; i < 1 + 3; i++) {
        ck_assert(die_in_handler("a"));
        ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
    }
    worker = scene_worker(&scene, "a");
    scene_run(worker);
    info = scene_info(&scene, "w");
    ck_assert_int_eq(info.status, SAP_WORLD_PAUSED);
    ck_assert_ptr_nonnull(strstr(info.reason, "3 processes ended"));
    ck_assert_uint_eq(calls, 0);
    /* A fresh count, and the world is still watched. */
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    scene_leave(&scene, worker);
    for (int i = 0; i < 3; i++) {
        ck_assert(die_in_handler("a"));
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 1);
    }
    worker = scene_worker(&scene, "a");
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED);
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "w"), SAP_OK);
    scene_run(worker);
    ck_assert_str_eq(order, "n");
    ck_assert_uint_eq(calls, 1);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
}
END_TEST

START_TEST(fewer_deaths_than_attempts_are_not_poison)
{
    scene_create(&scene, "w", "brittle");
    scene_send(&scene, "w", "add", "long");
    for (int i = 0; i < _i; i++) {
        ck_assert(die_in_handler("a"));
    }
    SapWorker *worker = scene_worker(&scene, "a");
    scene_run(worker);
    ck_assert_str_eq(order, "l");
    expect_status("w", SAP_WORLD_ACTIVE, "");
}
END_TEST

START_TEST(an_item_that_ends_process_after_process_is_skipped_where_its_module_says_so)
{
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "skipping");
    SapWorker *worker = scene_worker(&scene, "a");
    scene_run(worker);
    scene_leave(&scene, worker);
    scene_send(&scene, "w", "add", "killer");
    scene_send(&scene, "w", "add", "next");
    for (int i = 0; i < 4; i++) {
        ck_assert(die_in_handler("a"));
    }
    worker = scene_worker(&scene, "a");
    scene_run(worker);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_str_eq(letters[0].id, "killer");
    ck_assert_uint_eq(letters[0].attempts, 3);
    ck_assert_ptr_nonnull(strstr(letters[0].error, "3 processes ended"));
    expect_failed_reply("w", "killer", "3 processes ended");
    ck_assert_str_eq(order, "n");
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
}
END_TEST

/* Only a process that ends is counted, not a handler that returns, whatever it returns. */
START_TEST(a_world_of_a_dead_worker_that_waits_for_the_machine_is_not_poisoned)
{
    SceneLetter letters[SCENE_LETTERS];
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "skipping");
    scene_run(worker);
    scene_send(&scene, "w", "code", "one");
    scene_leave(&scene, worker);
    ck_assert(die_in_handler("a"));
    answer = faults[_i];
    worker = scene_worker(&scene, "a");
    for (uint32_t i = 1; i <= 20; i++) {
        scene_run(worker);
        ck_assert_uint_eq(calls, i);
        ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
        if (i % 5 == 0) { /* nor is one that is closed */
            scene_leave(&scene, worker);
            worker = scene_worker(&scene, "a");
        }
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    }
    answer = SAP_OK;
    scene_run(worker);
    ck_assert_str_eq(order, "o");
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
}
END_TEST

START_TEST(commits_that_fail_are_no_deaths)
{
    SceneLetter letters[SCENE_LETTERS];
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "skipping");
    scene_run(worker);
    scene_send(&scene, "w", "add", "one");
    scene_leave(&scene, worker);
    ck_assert(die_in_handler("a"));
    worker = scene_worker(&scene, "a");
    static SceneExecutor executor = {.held = ""};
    scene_executor_use(&executor, worker);
    for (int i = 0; i < 10; i++) {
        bool busy = false;
        scene_run(worker);
        ck_assert_uint_eq(executor.count, 1);
        scene_release(&executor, "w");
        scene.fault_call = SAP_STORE_CALL_COMMIT;
        scene.fault = SAP_STORE_FAULT_FAIL;
        scene.fault_times = 1;
        (void)sap_worker_step(worker, &busy);
        ck_assert_uint_eq(scene.fault_times, 0);
        scene_pass_ms(&scene, SECOND_MS);
    }
    executor.held = NULL;
    scene_run(worker);
    if (executor.count > 0) {
        scene_release(&executor, "w");
        scene_run(worker);
    }
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

START_TEST(worlds_of_a_dead_worker_run_one_at_a_time_one_item_each)
{
    enum { WATCHED = 3, ITEMS = 3 };
    static SceneExecutor executor = {.held = ""};
    SapWorker *worker = scene_worker(&scene, "a");
    char name[] = "u0";
    for (int i = 0; i < WATCHED; i++) {
        name[1] = (char)('0' + i);
        scene_create(&scene, name, "halting");
    }
    scene_create(&scene, "clean", "halting");
    scene_run(worker);
    scene_leave(&scene, worker);
    for (int i = 0; i < WATCHED * ITEMS; i++) {
        char id[] = "x0";
        name[1] = (char)('0' + i % WATCHED);
        id[1] = (char)('0' + i / WATCHED);
        scene_send(&scene, name, "add", id);
    }
    worker = scene_worker(&scene, "a");
    scene_executor_use(&executor, worker);
    scene_run(worker);
    ck_assert_uint_eq(executor.count, WATCHED); /* nothing is wrong: all at once */
    scene_kill(&scene, worker);
    scene_send(&scene, "clean", "add", "y");
    worker = scene_worker(&scene, "a");
    executor = (SceneExecutor){.held = ""};
    scene_executor_use(&executor, worker);
    for (uint32_t i = 0; i < WATCHED; i++) {
        scene_run(worker);
        uint32_t rows = scene_rows(&scene, WIT_DBI_ATTEMPT);
        ck_assert_uint_eq(scene_held(&executor, "clean"), i == 0);
        if (i == 0) {
            scene_release(&executor, "clean");
        }
        /* Those that have had their cycle run as all do; of the others one is tried. */
        ck_assert_uint_eq(rows, 1);
        uint32_t before = calls;
        while (scene_held(&executor, "u") > 0) {
            scene_release(&executor, "u");
        }
        ck_assert_uint_ge(calls, before + 1);
        if (i == 0) {
            ck_assert_uint_eq(calls, before + 1);
        }
    }
    for (int i = 0; i < 10; i++) {
        scene_pass_ms(&scene, SECOND_MS);
        scene_run(worker);
        while (executor.count > 0) {
            scene_release(&executor, "u");
        }
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 0);
}
END_TEST

START_TEST(only_one_suspect_runs_in_the_process_whichever_worker_has_it)
{
    static SceneExecutor one = {.held = ""};
    static SceneExecutor two = {.held = ""};
    SapWorker *first = scene_worker(&scene, "a");
    scene_create(&scene, "u1", "halting");
    scene_create(&scene, "u2", "halting");
    scene_run(first);
    scene_send(&scene, "u1", "add", "x");
    scene_send(&scene, "u2", "add", "x");
    scene_leave(&scene, first);
    first = scene_worker(&scene, "a");
    scene_executor_use(&one, first);
    scene_run(first);
    ck_assert_uint_eq(one.count, 2);
    scene_kill(&scene, first);
    one = (SceneExecutor){.held = ""};
    first = scene_worker(&scene, "a");
    SapWorker *second = scene_worker(&scene, "b");
    scene_executor_use(&one, first);
    scene_executor_use(&two, second);
    for (int i = 0; i < 5; i++) {
        scene_run(first);
        scene_run(second);
        ck_assert_uint_eq(one.count + two.count, 1);
        scene_pass_ms(&scene, SECOND_MS);
    }
    if (one.count > 0) {
        scene_release(&one, "u");
    } else {
        scene_release(&two, "u");
    }
    for (int i = 0; i < 3; i++) {
        scene_run(first);
        scene_run(second);
        scene_pass_ms(&scene, SECOND_MS);
    }
    ck_assert_uint_eq(one.count + two.count, 1);
    ck_assert_uint_eq(calls, 1);
}
END_TEST

START_TEST(workers_that_run_and_close_write_no_attempts)
{
    static SceneExecutor executor = {.held = ""};
    scene_create(&scene, "w", "halting");
    for (int i = 0; i < 3; i++) {
        SapWorker *worker = scene_worker(&scene, "a");
        char id[] = "x0";
        id[1] = (char)('0' + i);
        scene_run(worker);
        scene_send(&scene, "w", "add", id);
        scene_executor_use(&executor, worker);
        scene_run(worker);
        ck_assert_uint_eq(executor.count, 1);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
        scene_leave(&scene, worker); /* while a handler runs */
        ck_assert_str_eq(scene_info(&scene, "w").holder, "");
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), 0);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_SESSIONS), 0);
    }
    SapWorker *worker = scene_worker(&scene, "a");
    scene_send(&scene, "w", "add", "last");
    scene_executor_use(&executor, worker);
    scene_run(worker);
    ck_assert_uint_eq(executor.count, 1);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0); /* its worlds are above suspicion */
    scene_kill(&scene, worker);
    /* A suspect whose worker is closed while its handler runs: nobody died once more. */
    for (int i = 0; i < 10; i++) {
        worker = scene_worker(&scene, "a");
        executor = (SceneExecutor){.held = ""};
        scene_executor_use(&executor, worker);
        scene_run(worker);
        ck_assert_uint_eq(executor.count, 1);
        scene_leave(&scene, worker);
    }
    worker = scene_worker(&scene, "a");
    scene_run(worker);
    expect_status("w", SAP_WORLD_ACTIVE, "");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 0);
}
END_TEST

/* Between two words of more than one byte a message is cut, never inside one. */
START_TEST(a_reason_is_cut_between_characters)
{
    static char text[1100];
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "brittle");
    for (size_t shift = 0; shift < 4; shift++) {
        SapWorldInfo info;
        memset(text, 'x', shift);
        text[shift] = 0;
        while (strlen(text) + 3 < sizeof text) {
            memcpy(text + strlen(text), "\xE2\x82\xAC", 4);
        }
        ck_assert_int_eq(sap_world_pause(scene.universe, "w", text), SAP_OK);
        info = scene_info(&scene, "w");
        size_t len = strlen(info.reason);
        ck_assert_uint_ge(len, 1022);
        ck_assert_uint_eq((len - shift) % 3, 0);
        ck_assert_mem_eq(info.reason, text, len);
    }
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    memset(text + 1023, 0, sizeof text - 1023); /* as long as a handler's message may be */
    text[0] = 'x';
    text[1] = 'x';
    text[2] = 'x';
    ck_assert_uint_eq(strlen(text), 1023);
    complaint = text;
    is_down = true;
    scene_send(&scene, "w", "fail", "one");
    for (int i = 0; i < 3; i++) {
        scene_run(worker);
        SapWorldInfo info = scene_info(&scene, "w");
        const char *at = strstr(info.reason, "xxx");
        ck_assert_ptr_nonnull(at);
        ck_assert_uint_eq((strlen(at) - 3) % 3, 0);
        scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    }
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_poison");
    TCase *fails = tcase_create("handlers that fail");
    TCase *dies = tcase_create("processes that end");
    tcase_add_checked_fixture(fails, set_up, tear_down);
    tcase_set_timeout(fails, TIMEOUT_S);
    tcase_add_test(
        fails, a_failing_handler_is_called_again_after_1_s_doubling_to_60_and_then_its_world_halts);
    tcase_add_test(fails, a_failure_that_is_over_leaves_no_reason_and_no_count);
    tcase_add_test(fails, a_module_that_skips_makes_dead_letters_and_goes_on);
    tcase_add_test(fails, a_letter_counts_every_call_of_the_handler);
    tcase_add_loop_test(fails, faults_of_the_machine_are_never_counted, 0, 8);
    tcase_add_test(fails, a_fault_of_the_machine_between_two_failures_changes_no_count);
    tcase_add_loop_test(fails, a_store_that_refuses_commits_is_nobodys_failure, 0, 4);
    tcase_add_test(fails, a_halted_world_forgets_exactly_the_item_that_failed);
    tcase_add_test(fails, a_newer_module_resumes_what_an_older_one_halted_and_nothing_else);
    tcase_add_test(fails, a_pinned_world_waits_for_its_version_and_says_so);
    tcase_add_test(fails, a_reason_is_cut_between_characters);
    suite_add_tcase(suite, fails);
    tcase_add_checked_fixture(dies, set_up, tear_down);
    tcase_set_timeout(dies, TIMEOUT_S);
    tcase_add_test(dies, four_deaths_during_a_long_item_are_not_poison);
    tcase_add_test(dies, an_item_that_ends_process_after_process_halts_its_world);
    tcase_add_loop_test(dies, fewer_deaths_than_attempts_are_not_poison, 0, 3);
    tcase_add_test(dies,
                   an_item_that_ends_process_after_process_is_skipped_where_its_module_says_so);
    tcase_add_loop_test(dies, a_world_of_a_dead_worker_that_waits_for_the_machine_is_not_poisoned,
                        0, 4);
    tcase_add_test(dies, commits_that_fail_are_no_deaths);
    tcase_add_test(dies, worlds_of_a_dead_worker_run_one_at_a_time_one_item_each);
    tcase_add_test(dies, only_one_suspect_runs_in_the_process_whichever_worker_has_it);
    tcase_add_test(dies, workers_that_run_and_close_write_no_attempts);
    suite_add_tcase(suite, dies);
    return suite_run(suite);
}
