/* The budgets of a cycle and of a transaction, entries of many parts, and values with their encodings. The
 * clock moves when the test says so. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/worker_impl.h"

enum { TIMEOUT_S = 60, ITEMS = 10, MIB = 1 << 20 };

static Scene scene;

static void set_up(void)
{
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

/* "ask" arms two timers, "slow" takes 6 ms, "much" changes 1.2 MB in many rows. */
static int work(SapWorld *world, const SapEvent *event)
{
    static const char value[60000];
    char ref[32];
    int rc = SAP_OK;
    for (int i = 0; i < 2 && rc == SAP_OK && strcmp(event->name, "ask") == 0; i++) {
        (void)snprintf(ref, sizeof ref, "%" PRIu64 "-%d", sap_world_height(world), i);
        SapTimer timer = {.size = sizeof timer, .ref = ref, .after_ns = UINT64_C(3600000000000)};
        rc = sap_world_timer(world, &timer);
    }
    if (strcmp(event->name, "slow") == 0) {
        manual_clock_advance_ms(&scene.manual, 6);
    }
    for (int i = 0; i < 20 && rc == SAP_OK && strcmp(event->name, "much") == 0; i++) {
        rc = sap_world_put(world, &i, sizeof i, SAP_ENCODING_RAW, value, sizeof value);
    }
    return rc;
}

SAP_WORLD_MODULE("work", work);

/* Durable or not. */
static uint64_t steps_of(const SapWorker *worker)
{
    return worker->stats.steps + worker->steps_unsure;
}

/* How many of ITEMS items each step of a worker handles. */
static void expect_each_step(const SapWorkerOptions *options, const char *name, uint64_t expected)
{
    SapWorker *worker = scene_worker_with(&scene, options);
    bool busy = false;
    scene_create(&scene, "w", "work");
    scene_run(worker);
    for (int i = 0; i < ITEMS; i++) {
        scene_send(&scene, "w", name, NULL);
    }
    for (uint64_t done = 0; done < ITEMS;) {
        EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
        uint64_t left = ITEMS - done;
        done += left < expected ? left : expected;
        uint64_t steps = steps_of(worker);
        EXPECT(steps == 1 + done, "%s: %" PRIu64 " steps, not %" PRIu64, name, steps, 1 + done);
    }
}

START_TEST(a_cycle_reads_max_inbox_batch_items)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_inbox_batch = 3};
    expect_each_step(&options, "add", 3);
}
END_TEST

START_TEST(a_cycle_runs_max_tick_steps_per_cycle_items)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_tick_steps_per_cycle = 4};
    expect_each_step(&options, "add", 4);
}
END_TEST

/* It ends after the item that reaches the budget. */
START_TEST(a_cycle_ends_when_max_effects_per_cycle_are_asked_for)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_effects_per_cycle = 5};
    expect_each_step(&options, "ask", 3);
}
END_TEST

START_TEST(a_cycle_ends_after_max_cycle_wall_ms)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_cycle_wall_ms = 10};
    expect_each_step(&options, "slow", 2);
}
END_TEST

/* And one of a single item always does something. */
START_TEST(a_cycle_reads_at_most_8_mib)
{
    static const char payload[MIB];
    SapWorker *worker = scene_worker(&scene, "a");
    SapIngress item = {.size = sizeof item, .encoding = SAP_ENCODING_RAW, .payload = payload};
    bool busy = false;
    scene_create(&scene, "w", "work");
    scene_run(worker);
    item.payload_len = sizeof payload;
    for (int i = 0; i < ITEMS; i++) {
        EXPECT_RC(sap_enqueue_ingress(scene.universe, "w", &item, NULL), SAP_OK);
    }
    EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
    EXPECT(steps_of(worker) == 1 + 8, "%" PRIu64 " steps", steps_of(worker));
    scene_run(worker);
    EXPECT(scene_info(&scene, "w").height == 1 + ITEMS, "an item is left");
}
END_TEST

START_TEST(a_transaction_has_max_worlds_per_commit_worlds)
{
    enum { WORLDS = 7 };
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_worlds_per_commit = 25};
    SapWorker *worker = NULL;
    char name[8];
    EXPECT_RC(sap_worker_open(scene.universe, &options, &worker), SAP_ERROR);
    options.max_worlds_per_commit = 3;
    worker = scene_worker_with(&scene, &options);
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "w%d", i);
        scene_create(&scene, name, "work");
    }
    scene_run(worker);
    EXPECT(scene_stats(worker).steps == WORLDS, "a world is left");
    EXPECT(scene_stats(worker).cycles == 3, "%" PRIu64 " transactions", scene_stats(worker).cycles);
}
END_TEST

START_TEST(an_entry_of_many_parts_is_restored)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "work");
    scene_send(&scene, "w", "much", NULL);
    scene_run(worker);
    SapWorldInfo before = scene_info(&scene, "w");
    EXPECT(before.height == 2, "it was not handled");
    uint32_t rows = scene_world_rows(&scene, WIT_DBI_JOURNAL, "w");
    EXPECT(rows == 1 + 5, "%" PRIu32 " rows of the journal", rows);
    scene_leave(&scene, worker);
    worker = scene_worker(&scene, "b");
    scene_send(&scene, "w", "add", NULL);
    scene_run(worker);
    SapWorldInfo after = scene_info(&scene, "w");
    EXPECT(scene_stats(worker).restored == 2, "not restored");
    EXPECT(after.height == 3 && after.status == SAP_WORLD_ACTIVE, "'%s'", after.reason);
    ck_assert_mem_eq(before.state_sum, after.state_sum, sizeof after.state_sum);
}
END_TEST

/* ---- Values -------------------------------------------------------------------------------------- */

static int codes[4];
static char seen[4][32];
static SapEncoding encodings[4];

static int put_and_get(SapWorld *world, int i, SapEncoding encoding, const void *val, size_t len)
{
    const void *got = NULL;
    size_t got_len = 0;
    codes[i] = sap_world_put(world, "k", 1, encoding, val, len);
    if (codes[i] == SAP_OK &&
        sap_world_get(world, "k", 1, &got, &got_len, &encodings[i]) == SAP_OK) {
        (void)snprintf(seen[i], sizeof seen[i], "%.*s", (int)got_len, (const char *)got);
    }
    return SAP_OK;
}

static int write_values(SapWorld *world, const SapEvent *event)
{
    (void)event;
    (void)put_and_get(world, 0, SAP_ENCODING_JSON, " {\"b\":1.0, \"a\":[ ]} ", 20);
    (void)put_and_get(world, 1, SAP_ENCODING_CBOR, "\x78\x02hi", 4); /* a head longer than needed */
    (void)put_and_get(world, 2, SAP_ENCODING_RAW, " {\"b\":", 6);
    (void)put_and_get(world, 3, SAP_ENCODING_JSON, "{\"b\":", 5);
    return SAP_OK;
}

SAP_WORLD_MODULE("values", write_values);

START_TEST(values_have_their_encoding_and_its_canonical_form)
{
    scene_create(&scene, "v", "values");
    scene_run(scene_worker(&scene, "a"));
    ck_assert_int_eq(scene_info(&scene, "v").height, 1);
    ck_assert_str_eq(seen[0], "{\"a\":[],\"b\":1}");
    ck_assert_int_eq(encodings[0], SAP_ENCODING_JSON);
    ck_assert_str_eq(seen[1], "\x62hi");
    ck_assert_int_eq(encodings[1], SAP_ENCODING_CBOR);
    ck_assert_str_eq(seen[2], " {\"b\":");
    ck_assert_int_eq(encodings[2], SAP_ENCODING_RAW);
    ck_assert_int_eq(codes[3], SAP_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_budgets");
    TCase *test_case = tcase_create("budgets");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_cycle_reads_max_inbox_batch_items);
    tcase_add_test(test_case, a_cycle_runs_max_tick_steps_per_cycle_items);
    tcase_add_test(test_case, a_cycle_ends_when_max_effects_per_cycle_are_asked_for);
    tcase_add_test(test_case, a_cycle_ends_after_max_cycle_wall_ms);
    tcase_add_test(test_case, a_cycle_reads_at_most_8_mib);
    tcase_add_test(test_case, a_transaction_has_max_worlds_per_commit_worlds);
    tcase_add_test(test_case, an_entry_of_many_parts_is_restored);
    tcase_add_test(test_case, values_have_their_encoding_and_its_canonical_form);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
