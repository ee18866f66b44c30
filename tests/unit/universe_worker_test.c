/* One worker: handlers that do not return, worlds that come and go, hints that do not help, rows that are
 * damaged. The clock moves when the test says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/worker_impl.h"

enum { TIMEOUT_S = 60, SECOND_MS = 1000 };

static Scene scene;
static SapWorker *own_worker; /* of the handler "again" */
static int step_code;
static int close_code;
static bool saw_cancel;
static int put_code;
static uint32_t calls;
static uint32_t failing;        /* calls of "fail" that fail */
static void (*meanwhile)(void); /* what others do while the handler "long" runs, once */
static char first_kinds[8];

static int add_one(SapWorld *world)
{
    const void *old = NULL;
    size_t len = 0;
    char text[24];
    int rc = sap_world_get(world, "count", 5, &old, &len, NULL);
    (void)snprintf(text, sizeof text, "%.*s", rc == SAP_OK ? (int)len : 0, (const char *)old);
    int n = snprintf(text, sizeof text, "%ld", atol(text) + 1);
    return sap_world_put(world, "count", 5, SAP_ENCODING_JSON, text, (size_t)n);
}

static int reply_count(SapWorld *world, const SapEvent *event)
{
    const void *val = NULL;
    size_t len = 0;
    int rc = add_one(world);
    rc = rc == SAP_OK ? sap_world_get(world, "count", 5, &val, &len, NULL) : rc;
    return rc == SAP_OK ? sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, val, len) : rc;
}

/* The value of the first row is the key of another, and of one that is deleted. */
static int borrow(SapWorld *world)
{
    static char filler[600];
    const void *val = NULL;
    size_t len = 0;
    int rc = sap_world_put(world, "a", 1, SAP_ENCODING_RAW, "zz-borrowed", 11);
    for (char i = 'b'; rc == SAP_OK && i < 'm'; i++) {
        rc = sap_world_put(world, &i, 1, SAP_ENCODING_RAW, filler, sizeof filler);
    }
    rc = rc == SAP_OK ? sap_world_get(world, "a", 1, &val, &len, NULL) : rc;
    rc = rc == SAP_OK ? sap_world_put(world, val, len, SAP_ENCODING_RAW, val, len) : rc;
    rc = rc == SAP_OK ? sap_world_get(world, "zz-borrowed", 11, &val, &len, NULL) : rc;
    rc = rc == SAP_OK ? sap_world_put(world, "aa", 2, SAP_ENCODING_RAW, val, len) : rc;
    rc = rc == SAP_OK ? sap_world_get(world, "a", 1, &val, &len, NULL) : rc;
    return rc == SAP_OK ? sap_world_del(world, val, len) : rc;
}

static int fill(SapWorld *world)
{
    static char much[20000];
    return sap_world_put(world, "much", 4, SAP_ENCODING_RAW, much, sizeof much);
}

static int work(SapWorld *world, const SapEvent *event)
{
    bool creates = event->kind == SAP_EVENT_CREATE;
    size_t seen = strlen(first_kinds);
    if (seen + 1 < sizeof first_kinds) {
        first_kinds[seen] = creates ? 'c' : 'm';
    }
    calls += !creates;
    if (strcmp(event->name, "again") == 0) {
        bool busy = false;
        step_code = sap_worker_step(own_worker, &busy);
        close_code = sap_worker_close(own_worker);
    }
    if (strcmp(event->name, "long") == 0) {
        void (*others)(void) = meanwhile;
        meanwhile = NULL;
        if (others != NULL) {
            others();
        }
        saw_cancel = sap_world_cancelled(world);
        put_code = sap_world_put(world, "long", 4, SAP_ENCODING_JSON, "1", 1);
        return put_code;
    }
    if (strcmp(event->name, "fail") == 0 && failing > 0) {
        failing--;
        return SAP_ERROR;
    }
    if (strcmp(event->name, "borrow") == 0) {
        return borrow(world);
    }
    if (strcmp(event->name, "fill") == 0) {
        return fill(world);
    }
    return event->reply_to[0] != 0 ? reply_count(world, event) : add_one(world);
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

static const char *numbered(char text[16], const char *begin, int number)
{
    (void)snprintf(text, 16, "%s%03d", begin, number);
    return text;
}

static void create_many(const char *begin, int count, const char *module)
{
    char name[16];
    for (int i = 0; i < count; i++) {
        scene_create(&scene, numbered(name, begin, i), module);
    }
}

/* ---- Handlers that do not return --------------------------------------------------------------- */

START_TEST(a_handler_that_runs_for_too_long_is_said_to_be_stuck_and_its_result_counts)
{
    static SceneExecutor executor = {.held = "long"};
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "long", "work");
    scene_create(&scene, "other", "work");
    scene_run(worker);
    scene_executor_use(&executor, worker);
    scene_send(&scene, "long", "long", "one");
    scene_run(worker);
    scene_pass_ms(&scene, 9999);
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "long").status, SAP_WORLD_ACTIVE);
    scene_pass_ms(&scene, 1);
    scene_run(worker);
    SapWorldInfo info = scene_info(&scene, "long");
    ck_assert_int_eq(info.status, SAP_WORLD_STUCK);
    ck_assert_ptr_nonnull(strstr(info.reason, "10 s"));
    ck_assert_str_eq(info.holder, "a");
    uint64_t epoch = info.epoch;
    for (int i = 0; i < 60; i++) { /* it keeps its lease, and the others go on */
        char id[16];
        scene_send(&scene, "other", "add", numbered(id, "i", i));
        scene_run(worker);
        scene_pass_ms(&scene, SECOND_MS);
        ck_assert_uint_eq(scene_info(&scene, "other").height, 2 + (uint64_t)i);
    }
    ck_assert_uint_eq(executor.count, 1);
    scene_release(&executor, "long");
    scene_run(worker);
    info = scene_info(&scene, "long");
    ck_assert_int_eq(info.status, SAP_WORLD_ACTIVE);
    ck_assert_str_eq(info.reason, "");
    ck_assert_uint_eq(info.height, 2);
    ck_assert_uint_eq(info.epoch, epoch);
    ck_assert(!saw_cancel);
    ck_assert_uint_eq(scene_stats(worker).stuck, 1);
    ck_assert_uint_eq(scene_stats(worker).fenced, 0);
}
END_TEST

static int way; /* in which it is taken away */

static void take_away(void)
{
    SapUniverse *universe = scene.universe;
    uint64_t epoch = scene_info(&scene, "long").epoch;
    int rc = way == 0   ? sap_world_pause(universe, "long", "by me")
             : way == 1 ? sap_world_delete(universe, "long", "by me")
                        : sap_world_resume(universe, "long");
    ck_assert_int_eq(rc, SAP_OK); /* whoever does it does not wait for the handler */
    ck_assert_uint_gt(scene_info(&scene, "long").epoch, epoch);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(own_worker);
}

/* Pause, delete, resume of a stuck world. */
START_TEST(a_late_result_of_a_stuck_world_that_was_taken_away_changes_nothing)
{
    static SceneExecutor executor = {.held = "long", .deaf = true};
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "long", "work");
    scene_run(own_worker);
    scene_executor_use(&executor, own_worker);
    scene_send(&scene, "long", "long", "one");
    scene_run(own_worker);
    scene_pass_ms(&scene, 10000);
    scene_run(own_worker);
    ck_assert_int_eq(scene_info(&scene, "long").status, SAP_WORLD_STUCK);
    way = _i;
    meanwhile = take_away;
    executor.held = NULL;
    scene_release(&executor, "long");
    ck_assert(saw_cancel);
    ck_assert_int_eq(put_code, SAP_FENCED);
    ck_assert_uint_ge(executor.cancels, 1);
    scene_run(own_worker);
    SapWorldInfo info = scene_info(&scene, "long");
    static const SapWorldStatus statuses[] = {SAP_WORLD_PAUSED, SAP_WORLD_DELETED,
                                              SAP_WORLD_ACTIVE};
    ck_assert_int_eq(info.status, statuses[_i]);
    ck_assert_str_eq(info.reason, _i < 2 ? "by me" : "");
    ck_assert_uint_eq(info.height, _i < 2 ? 1 : 2);
    ck_assert_uint_eq(scene_stats(own_worker).fenced, 1);
    if (_i == 0) {
        ck_assert_int_eq(sap_world_resume(scene.universe, "long"), SAP_OK);
        scene_run(own_worker);
        ck_assert_uint_eq(scene_info(&scene, "long").height, 2);
    }
}
END_TEST

static void close_meanwhile(void)
{
    ck_assert_int_eq(sap_worker_close(own_worker), SAP_BUSY);
    ck_assert_int_eq(sap_worker_close(own_worker), SAP_BUSY);
}

START_TEST(a_worker_is_not_closed_under_its_handler)
{
    static SceneExecutor executor = {.held = "", .deaf = true};
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_create(&scene, "other", "work");
    scene_run(own_worker);
    scene_executor_use(&executor, own_worker);
    while (executor.count > 0) {
        scene_release(&executor, "");
    }
    scene_run(own_worker);
    scene_send(&scene, "w", "long", "one");
    scene_run(own_worker);
    ck_assert_uint_eq(executor.count, 1);
    meanwhile = close_meanwhile;
    scene_release(&executor, "w");
    ck_assert(saw_cancel); /* it was told to end */
    scene_leave(&scene, own_worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "");
    ck_assert_str_eq(scene_info(&scene, "other").holder, "");
    SapWorker *next = scene_worker(&scene, "b");
    scene_run(next);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

START_TEST(a_handler_that_steps_or_closes_its_own_worker_is_refused)
{
    own_worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_send(&scene, "w", "again", "one");
    scene_run(own_worker);
    ck_assert_int_eq(step_code, SAP_BUSY);
    ck_assert_int_eq(close_code, SAP_BUSY);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

/* A session that is not renewed in time: nothing of what runs is committed, and nothing is lost. */
START_TEST(a_worker_that_missed_its_renewals_commits_nothing_and_goes_on_after_the_next)
{
    static SceneExecutor executor = {.held = "", .deaf = true};
    SapWorker *worker = scene_worker(&scene, "a");
    bool busy = false;
    scene_create(&scene, "w", "work");
    scene_run(worker);
    scene_executor_use(&executor, worker);
    scene_send(&scene, "w", "add", "one");
    scene_run(worker);
    manual_clock_advance_ms(&scene.manual, 16 * SECOND_MS);
    executor.held = NULL;
    scene_release(&executor, "w");
    ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_BUSY);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    ck_assert_int_eq(sap_worker_renew(worker), SAP_OK); /* nobody has taken its place */
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

/* ---- Worlds that come and go ------------------------------------------------------------------- */

static void expect_count(const char *world, const char *id, const char *text)
{
    SapReply *reply = NULL;
    ck_assert_int_eq(sap_world_reply_wait(scene.universe, world, id, 0, &reply), SAP_OK);
    ck_assert_str_eq(reply->payload, text);
    sap_reply_free(reply);
}

START_TEST(worlds_beyond_max_worlds_are_given_back_and_restored_with_the_same_state)
{
    enum { WORLDS = 9, MOST = 2, ROUNDS = 3 };
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_worlds = MOST};
    SapWorker *worker = scene_worker_with(&scene, &options);
    char name[16];
    create_many("w", WORLDS, "work");
    for (int round = 0; round < ROUNDS; round++) {
        char id[16];
        char count[16];
        for (int i = 0; i < WORLDS; i++) {
            scene_send(&scene, numbered(name, "w", i), "add", numbered(id, "id", round));
        }
        for (int i = 0; i < 4 * WORLDS; i++) { /* a world that found no room is left for a while */
            scene_run(worker);
            ck_assert_uint_le(scene_stats(worker).held, MOST);
            scene_pass_ms(&scene, SECOND_MS);
        }
        (void)snprintf(count, sizeof count, "%d", round + 2); /* the creation counts too */
        for (int i = 0; i < WORLDS; i++) {
            expect_count(numbered(name, "w", i), id, count);
        }
    }
    SapWorkerStats stats = scene_stats(worker);
    ck_assert_uint_ge(stats.released, (uint64_t)ROUNDS * WORLDS - MOST);
    ck_assert_uint_gt(stats.restored, WORLDS);
    ck_assert_uint_eq(stats.fenced, 0);
}
END_TEST

START_TEST(states_beyond_max_memory_are_given_back)
{
    enum { WORLDS = 20 };
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_memory = 150000};
    SapWorker *worker = scene_worker_with(&scene, &options);
    char name[16];
    create_many("w", WORLDS, "work");
    for (int i = 0; i < WORLDS; i++) {
        scene_send(&scene, numbered(name, "w", i), "fill", "one");
    }
    for (int i = 0; i < WORLDS; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, SECOND_MS);
    }
    ck_assert_uint_ge(scene_stats(worker).held, 1);
    ck_assert_uint_le(scene_stats(worker).held, 7); /* of 20 KiB each */
    for (int i = 0; i < WORLDS; i++) {
        ck_assert_uint_eq(scene_info(&scene, numbered(name, "w", i)).height, 2);
    }
}
END_TEST

/* All that the process has, but what it keeps in place of a disk. */
static size_t memory_in_use(void)
{
    size_t bytes = 0;
    for (int i = 0; i < MEM_OWNER_COUNT; i++) {
        bytes += i == MEM_STORE || i == MEM_TEST ? 0 : mem_live_bytes((MemOwner)i);
    }
    return bytes;
}

static void send_payload(const char *world, const char *payload, size_t len)
{
    SapIngress item = {.size = sizeof item,
                       .name = "add",
                       .encoding = SAP_ENCODING_RAW,
                       .payload = payload,
                       .payload_len = len};
    ck_assert_int_eq(sap_enqueue_ingress(scene.universe, world, &item, NULL), SAP_OK);
}

/* Whatever a world has done: between its cycles it costs 16 KiB beyond its data, which is one small row, and
 * that is what max_memory counts. */
START_TEST(a_world_that_was_busy_costs_little_when_it_is_idle)
{
    enum { WORLDS = 20, ITEMS = 80, LARGE = 50 * 1024, MOST = 16 * 1024 };
    static char payload[LARGE];
    SapWorker *worker = scene_worker(&scene, "a");
    char name[16];
    create_many("w", WORLDS, "work");
    for (int i = 0; i < WORLDS; i++) {
        for (int k = 0; k < ITEMS; k++) {
            send_payload(numbered(name, "w", i), payload, k == 0 ? sizeof payload : 100);
        }
    }
    scene_run(worker);
    scene_run(worker); /* what was written is durable */
    ck_assert_uint_eq(scene_info(&scene, "w000").height, ITEMS + 1);
    ck_assert_uint_eq(scene_stats(worker).held, WORLDS);
    size_t hot = memory_in_use();
    size_t counted = worker->hot.memory / WORLDS;
    scene_pass_ms(&scene, 61 * SECOND_MS);
    while (scene_stats(worker).held > 0) {
        scene_run(worker);
    }
    size_t each = (hot - memory_in_use()) / WORLDS;
    (void)printf("universe_worker: an idle world costs %zu bytes, %zu are counted\n", each,
                 counted);
    ck_assert_uint_le(each, MOST);
    ck_assert_uint_ge(counted, each - each / 8);
    ck_assert_uint_le(counted, MOST);
}
END_TEST

START_TEST(an_idle_world_is_given_back_after_max_idle_ms)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_idle_ms = 5000};
    SapWorker *worker = scene_worker_with(&scene, &options);
    scene_create(&scene, "w", "work");
    scene_run(worker);
    scene_pass_ms(&scene, 4999);
    scene_run(worker);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    scene_pass_ms(&scene, 1);
    scene_run(worker);
    scene_run(worker); /* what the first has written is durable now */
    ck_assert_str_eq(scene_info(&scene, "w").holder, "");
    ck_assert_uint_eq(scene_stats(worker).held, 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), 0);
    scene_send(&scene, "w", "add", "one");
    scene_run(worker);
    expect_count("w", "one", "2");
}
END_TEST

START_TEST(a_world_that_waits_keeps_its_count_and_its_time_while_others_come_and_go)
{
    SapWorkerOptions options = {
        .size = sizeof options, .name = "a", .max_worlds = 2, .max_idle_ms = 1500};
    SapWorker *worker = scene_worker_with(&scene, &options);
    char name[16];
    scene_create(&scene, "waits", "work");
    create_many("w", 6, "work");
    failing = 100;
    scene_send(&scene, "waits", "fail", "one");
    uint32_t expected[] = {0, 1, 3, 7, 15, 31}; /* seconds after the first */
    for (uint32_t second = 0; second < 40; second++) {
        uint32_t failed = 0;
        for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
            failed += second >= expected[i];
        }
        char id[16];
        scene_send(&scene, numbered(name, "w", (int)second % 6), "add",
                   numbered(id, "s", (int)second));
        scene_run(worker);
        ck_assert_uint_eq(100 - failing, failed);
        scene_pass_ms(&scene, SECOND_MS);
    }
    ck_assert_ptr_nonnull(strstr(scene_info(&scene, "waits").reason, "attempt 6 of 8"));
    failing = 0;
    scene_pass_ms(&scene, 60 * (uint64_t)SECOND_MS);
    scene_run(worker);
    ck_assert_str_eq(scene_info(&scene, "waits").reason, "");
}
END_TEST

/* ---- Whose turn it is -------------------------------------------------------------------------- */

START_TEST(a_flooded_world_starves_no_other)
{
    enum { FLOOD = 5000, OTHERS = 200, STEPS_ENOUGH = 60 };
    SapWorker *worker = scene_worker(&scene, "a");
    char name[16];
    bool busy = true;
    uint32_t steps = 0;
    scene_create(&scene, "flood", "work");
    create_many("w", OTHERS, "work");
    scene_run(worker);
    calls = 0;
    for (int i = 0; i < FLOOD; i++) {
        SapIngress item = {.size = sizeof item, .name = "add"};
        ck_assert_int_eq(sap_enqueue_ingress(scene.universe, "flood", &item, NULL), SAP_OK);
    }
    for (int i = 0; i < OTHERS; i++) {
        scene_send(&scene, numbered(name, "w", i), "add", "one");
    }
    uint64_t done = 0;
    while (done < OTHERS) {
        ck_assert_uint_lt(steps++, STEPS_ENOUGH);
        ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_OK);
        done = 0;
        for (int i = 0; i < OTHERS; i++) {
            done += scene_info(&scene, numbered(name, "w", i)).height == 2;
        }
    }
    ck_assert_uint_lt(calls, FLOOD); /* most of the flood still waits */
    scene_run(worker);
    ck_assert_uint_eq(calls, FLOOD + OTHERS);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_READY), 0);
}
END_TEST

START_TEST(worlds_of_lower_priority_run_too)
{
    enum { BUSY = 40, LOW = 3, STEPS_ENOUGH = 30 };
    SapWorker *worker = scene_worker(&scene, "a");
    SapIngress item = {.size = sizeof item, .name = "add"};
    char name[16];
    uint32_t done = 0;
    create_many("busy", BUSY, "work");
    create_many("low", LOW, "work");
    scene_run(worker);
    item.priority = 9;
    for (int i = 0; i < LOW; i++) {
        ck_assert_int_eq(sap_enqueue_ingress(scene.universe, numbered(name, "low", i), &item, NULL),
                         SAP_OK);
    }
    item.priority = 0;
    for (int step = 0; done < LOW; step++) {
        bool busy = false;
        ck_assert_int_lt(step, STEPS_ENOUGH);
        for (int i = 0; i < BUSY; i++) {
            ck_assert_int_eq(
                sap_enqueue_ingress(scene.universe, numbered(name, "busy", i), &item, NULL),
                SAP_OK);
        }
        ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_OK);
        done = 0;
        for (int i = 0; i < LOW; i++) {
            done += scene_info(&scene, numbered(name, "low", i)).height == 2;
        }
    }
}
END_TEST

START_TEST(hints_that_cannot_run_hold_up_none_that_can)
{
    enum { EACH = 150 };
    SapWorker *worker = scene_worker(&scene, "a");
    SapWorker *other = scene_worker(&scene, "b"); /* alive, and does nothing */
    char name[16];
    for (int i = 0; i < EACH; i++) {
        scene_create(&scene, numbered(name, "none", i), "no-such-module");
        scene_create(&scene, numbered(name, "b", i), "work");
        ck_assert_int_eq(sap_assign_world(scene.universe, name, "b", 0, ""), SAP_OK);
    }
    scene_create(&scene, "good", "work");
    for (int round = 1; round < 5; round++) {
        for (int i = 0; i < 4; i++) { /* a second */
            scene_run(worker);
            scene_pass_ms(&scene, 250);
        }
        ck_assert_uint_eq(scene_info(&scene, "good").height, (uint64_t)round);
        char id[16];
        scene_send(&scene, "good", "add", numbered(id, "i", round));
    }
    ck_assert_str_eq(scene_info(&scene, "none000").reason, "no worker has module no-such-module");
    ck_assert_uint_eq(scene_info(&scene, "b000").height, 0);
    scene_run(other);
    ck_assert_uint_eq(scene_info(&scene, "b000").height, 1);
    ck_assert_uint_eq(scene_info(&scene, "b149").height, 1);
}
END_TEST

/* It is looked at again after a while, however often the worker looks at others. */
START_TEST(a_world_that_was_left_alone_runs_on_a_worker_that_is_busy_with_others)
{
    SapWorker *first = scene_worker(&scene, "a");
    SapWorker *second = scene_worker(&scene, "b");
    scene_create(&scene, "w", "work");
    scene_create(&scene, "other", "work");
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_OK);
    ck_assert_int_eq(sap_assign_world(scene.universe, "other", "b", 0, ""), SAP_OK);
    scene_run(first);
    scene_send(&scene, "w", "add", "one");
    for (int i = 0; i < 100; i++) { /* five seconds */
        char id[16];
        if (i == 20) {
            ck_assert_int_eq(sap_assign_world(scene.universe, "w", "b", 0, ""), SAP_OK);
            scene_run(first);
            ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
        }
        if (i == 40) {
            ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
        }
        scene_send(&scene, "other", "add", numbered(id, "i", i));
        scene_run(second);
        scene_pass_ms(&scene, 50);
    }
}
END_TEST

/* Priorities from 0 to 9, each with more than one step takes. */
START_TEST(worlds_of_every_priority_run_while_there_is_too_much_to_do)
{
    enum { EACH = 20, PRIORITIES = 10, STEPS_ENOUGH = 60 };
    SapWorker *worker = scene_worker(&scene, "a");
    SapIngress item = {.size = sizeof item, .name = "add"};
    char begin[4] = "p0-";
    char name[16];
    for (int priority = 0; priority < PRIORITIES; priority++) {
        begin[1] = (char)('0' + priority);
        create_many(begin, EACH, "work");
    }
    scene_run(worker);
    for (int step = 0; step < STEPS_ENOUGH; step++) {
        bool busy = false;
        for (int i = 0; i < EACH * PRIORITIES; i++) {
            begin[1] = (char)('0' + i / EACH);
            item.priority = (uint8_t)(i / EACH);
            ck_assert_int_eq(
                sap_enqueue_ingress(scene.universe, numbered(name, begin, i % EACH), &item, NULL),
                SAP_OK);
        }
        ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_OK);
        ck_assert(busy);
    }
    for (int priority = 0; priority < PRIORITIES; priority++) {
        uint64_t done = 0;
        begin[1] = (char)('0' + priority);
        for (int i = 0; i < EACH; i++) {
            done += scene_info(&scene, numbered(name, begin, i)).height - 1;
        }
        ck_assert_uint_gt(done, 0);
    }
}
END_TEST

static Scene sender; /* another process with the same store */
static uint32_t begun;

/* While the worker reads the pages of hints, one comes in front of those that it has read. */
static void send_between_pages(SapStoreCall call)
{
    if (call == SAP_STORE_CALL_BEGIN && ++begun == 2) {
        scene_send(&sender, "good", "add", "one");
    }
}

START_TEST(a_hint_that_comes_in_front_of_those_that_were_read_ends_the_wait)
{
    enum { HINTS = 1000, LOW = 200 };
    bool busy = false;
    RowKey key;
    UniverseName world;
    scene_close(&scene);
    scene_open(&scene, "memory:pages", false);
    scene_open(&sender, "memory:pages", false);
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "none", "no-such-module");
    scene_create(&scene, "good", "work");
    scene_run(worker);
    ck_assert_int_eq(universe_name_set(&world, "none"), SAP_OK);
    for (int i = 0; i < HINTS; i++) {
        uint8_t seq[UNIVERSE_SEQ] = {0x10, (uint8_t)(i / 256), (uint8_t)(i % 256)};
        row_key_ready(&key, SCENE_UNIVERSE, LOW, seq, &world);
        scene_put_row(&scene, key.table, key.bytes, key.len, "", 0);
    }
    scene_pass_ms(&scene, SECOND_MS);
    scene.on_call = send_between_pages;
    ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_OK);
    scene.on_call = NULL;
    ck_assert_uint_ge(begun, HINTS / 128);
    ck_assert_uint_eq(scene_info(&scene, "good").height, 1);
    row_key_universe(&key, WIT_DBI_READY, SCENE_UNIVERSE);
    SapStorePrefix prefix = {key.table, key.bytes, key.len};
    ck_assert_int_eq(
        sap_store_wait(scene.store, SAP_STORE_READ_NEWEST, &prefix, worker->hints_version, 0),
        SAP_OK);
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "good").height, 2);
    ck_assert_int_eq(sap_universe_close(sender.universe), SAP_OK);
    ck_assert_int_eq(sap_store_close(sender.store), SAP_OK);
}
END_TEST

/* ---- Rows that are damaged ---------------------------------------------------------------------- */

static const uint32_t damaged_tables[] = {
    WIT_DBI_WORLD_INBOX, WIT_DBI_LEASE,      WIT_DBI_HEAD,   WIT_DBI_JOURNAL,
    WIT_DBI_WORLD_META,  WIT_DBI_ASSIGNMENT, WIT_DBI_ATTEMPT};

enum { DAMAGED_TABLES = sizeof damaged_tables / sizeof *damaged_tables };

/* In memory when it happens, or not. */
START_TEST(a_damaged_row_costs_its_world_and_no_other)
{
    uint32_t table = damaged_tables[_i / 2];
    bool is_hot = _i % 2 == 1;
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "bad", "work");
    scene_create(&scene, "good", "work");
    scene_run(worker);
    if (table == WIT_DBI_ASSIGNMENT) {
        ck_assert_int_eq(sap_assign_world(scene.universe, "bad", "a", 0, ""), SAP_OK);
    }
    if (table == WIT_DBI_ATTEMPT) { /* of a world whose worker died twice */
        SceneExecutor executor = {.held = "bad"};
        scene_send(&scene, "bad", "add", "killer");
        for (int i = 0; i < 2; i++) {
            scene_executor_use(&executor, worker);
            scene_run(worker);
            scene_kill(&scene, worker);
            worker = scene_worker(&scene, "a");
        }
    } else if (!is_hot) {
        scene_leave(&scene, worker);
        worker = scene_worker(&scene, "a");
    }
    scene_send(&scene, "bad", "add", "before");
    scene_damage(&scene, table, "bad");
    for (int i = 0; i < 5; i++) {
        char id[16];
        scene_send(&scene, "good", "add", numbered(id, "i", i));
        scene_run(worker);
        scene_pass_ms(&scene, SECOND_MS); /* a suspect may have to wait for another */
        scene_run(worker);
        ck_assert_uint_eq(scene_info(&scene, "good").height, 2 + (uint64_t)i);
    }
    if (table == WIT_DBI_WORLD_INBOX || table == WIT_DBI_ATTEMPT ||
        (table == WIT_DBI_JOURNAL && !is_hot)) {
        ck_assert_int_eq(scene_info(&scene, "bad").status, SAP_WORLD_PAUSED);
        ck_assert_ptr_nonnull(strstr(scene_info(&scene, "bad").reason, "damaged"));
    }
}
END_TEST

/* ---- What a review found ------------------------------------------------------------------------ */

START_TEST(a_value_of_the_state_may_be_the_key_of_a_put)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_send(&scene, "w", "borrow", "one");
    scene_run(worker);
    SapWorldInfo before = scene_info(&scene, "w");
    ck_assert_uint_eq(before.height, 2);
    scene_leave(&scene, worker);
    worker = scene_worker(&scene, "b"); /* restores it from the journal */
    scene_send(&scene, "w", "add", "two");
    scene_run(worker);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 3);
}
END_TEST

START_TEST(a_payload_that_grows_above_its_limit_is_refused_and_stops_nobody)
{
    static const char number[] = "1e20,"; /* 21 digits in canonical form */
    size_t count = (10u << 20) / (sizeof number - 1);
    size_t len = count * (sizeof number - 1) + 1;
    char *json = malloc(len + 1);
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_ptr_nonnull(json);
    json[0] = '[';
    for (size_t i = 0; i < count; i++) {
        memcpy(json + 1 + i * (sizeof number - 1), number, sizeof number - 1);
    }
    json[len - 1] = ']';
    scene_create(&scene, "w", "work");
    SapIngress item = {.size = sizeof item, .name = "add", .payload = json, .payload_len = len};
    ck_assert_int_eq(sap_enqueue_ingress(scene.universe, "w", &item, NULL), SAP_FULL);
    ck_assert_int_eq(sap_world_create(scene.universe, "x", "work", SAP_ENCODING_JSON, json, len),
                     SAP_FULL);
    free(json);
    scene_send(&scene, "w", "add", "one");
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_META), 1);
}
END_TEST

/* The clock of whoever created the world was ahead of the senders'. */
static int move_creation_body(SapStoreTxn *txn, void *ctx)
{
    RowKey from;
    RowKey to;
    RowKey late;
    SapStoreRange range;
    UniverseName world;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    uint8_t seq[UNIVERSE_SEQ];
    (void)ctx;
    ck_assert_int_eq(universe_name_set(&world, "w"), SAP_OK);
    memset(seq, 0xEE, sizeof seq);
    row_key_world(&from, WIT_DBI_WORLD_INBOX, SCENE_UNIVERSE, &world);
    row_range(&from, &to, &range);
    SapStoreGuard guard = {WIT_DBI_WORLD_INBOX, from.bytes, from.len, true};
    ck_assert_int_eq(sap_store_guard(txn, &guard, 1), SAP_OK);
    ck_assert_int_eq(sap_store_scan(txn, &range, false, 1, &rows, &count), SAP_OK);
    ck_assert_uint_eq(count, 1); /* its class is the first */
    row_key_inbox(&late, SCENE_UNIVERSE, &world, WIT_UNIVERSE_ITEM_CLASS_CONTROL, seq);
    ck_assert_int_eq(
        sap_store_put(txn, late.table, late.bytes, late.len, rows[0].val, rows[0].val_len), SAP_OK);
    return sap_store_del(txn, late.table, rows[0].key, rows[0].key_len);
}

START_TEST(the_creation_of_a_world_is_its_first_item_whatever_its_seq)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    for (int i = 0; i < (_i == 0 ? 3 : 150); i++) {
        char id[16];
        scene_send(&scene, "w", "add", numbered(id, "i", i));
    }
    ck_assert_int_eq(sap_store_run(scene.store, SAP_STORE_GUARDED, move_creation_body, NULL, NULL),
                     SAP_OK);
    scene_run(worker);
    first_kinds[3] = 0;
    ck_assert_str_eq(first_kinds, "cmm");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 0);
}
END_TEST

START_TEST(names_with_control_characters_are_refused)
{
    static const char *const names[] = {"a\nb", "\x01", "a\x7f", "a\tb", "\x1f", "", "\xC3"};
    SapWorker *worker = NULL;
    uint64_t epoch = 0;
    scene_create(&scene, "w", "work");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SapWorkerOptions options = {.size = sizeof options, .name = names[i]};
        SapWorldModule module = {.name = names[i], .handler = work};
        SapUniverse *universe = scene.universe;
        SapWorldInfo info;
        ck_assert_int_eq(sap_world_create(universe, names[i], "work", SAP_ENCODING_JSON, NULL, 0),
                         SAP_INVALID);
        ck_assert_int_eq(sap_world_create(universe, "v", names[i], SAP_ENCODING_JSON, NULL, 0),
                         SAP_INVALID);
        ck_assert_int_eq(sap_worker_open(universe, &options, &worker), SAP_INVALID);
        ck_assert_int_eq(sap_world_module_register(&module), SAP_INVALID);
        ck_assert_int_eq(sap_world_info(universe, names[i], &info), SAP_INVALID);
        ck_assert_int_eq(sap_assign_world(universe, "w", names[i], 0, ""), SAP_INVALID);
        ck_assert_int_eq(sap_assign_world(universe, names[i], "a", 0, ""), SAP_INVALID);
        ck_assert_int_eq(sap_acquire_lease(universe, "w", names[i], &epoch), SAP_INVALID);
        ck_assert_int_eq(sap_release_lease(universe, names[i], "a", 1), SAP_INVALID);
        ck_assert_int_eq(sap_world_pause(universe, names[i], ""), SAP_INVALID);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_META), 1);
}
END_TEST

START_TEST(a_wait_without_end_finds_a_reply_that_is_there)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SapReply *reply = NULL;
    scene_create(&scene, "w", "work");
    scene_send(&scene, "w", "add", "one");
    scene_run(worker);
    ck_assert_int_eq(sap_world_reply_wait(scene.universe, "w", "one", UINT64_MAX, &reply), SAP_OK);
    sap_reply_free(reply);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_worker");
    TCase *test_case = tcase_create("a worker");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case,
                   a_handler_that_runs_for_too_long_is_said_to_be_stuck_and_its_result_counts);
    tcase_add_loop_test(test_case,
                        a_late_result_of_a_stuck_world_that_was_taken_away_changes_nothing, 0, 3);
    tcase_add_test(test_case, a_worker_is_not_closed_under_its_handler);
    tcase_add_test(test_case, a_handler_that_steps_or_closes_its_own_worker_is_refused);
    tcase_add_test(test_case,
                   a_worker_that_missed_its_renewals_commits_nothing_and_goes_on_after_the_next);
    tcase_add_test(test_case,
                   worlds_beyond_max_worlds_are_given_back_and_restored_with_the_same_state);
    tcase_add_test(test_case, states_beyond_max_memory_are_given_back);
    tcase_add_test(test_case, a_world_that_was_busy_costs_little_when_it_is_idle);
    tcase_add_test(test_case, an_idle_world_is_given_back_after_max_idle_ms);
    tcase_add_test(test_case,
                   a_world_that_waits_keeps_its_count_and_its_time_while_others_come_and_go);
    tcase_add_test(test_case, a_flooded_world_starves_no_other);
    tcase_add_test(test_case, worlds_of_lower_priority_run_too);
    tcase_add_test(test_case, hints_that_cannot_run_hold_up_none_that_can);
    tcase_add_test(test_case,
                   a_world_that_was_left_alone_runs_on_a_worker_that_is_busy_with_others);
    tcase_add_test(test_case, worlds_of_every_priority_run_while_there_is_too_much_to_do);
    tcase_add_test(test_case, a_hint_that_comes_in_front_of_those_that_were_read_ends_the_wait);
    tcase_add_loop_test(test_case, a_damaged_row_costs_its_world_and_no_other, 0,
                        2 * DAMAGED_TABLES);
    tcase_add_test(test_case, a_value_of_the_state_may_be_the_key_of_a_put);
    tcase_add_test(test_case, a_payload_that_grows_above_its_limit_is_refused_and_stops_nobody);
    tcase_add_loop_test(test_case, the_creation_of_a_world_is_its_first_item_whatever_its_seq, 0,
                        2);
    tcase_add_test(test_case, names_with_control_characters_are_refused);
    tcase_add_test(test_case, a_wait_without_end_finds_a_reply_that_is_there);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
