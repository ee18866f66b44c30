/* Effects and timers that nobody performs or fires are seen in the metrics, and those that are given up in
 * the log; damaged rows of what waits do not fill it. The clock moves when the test says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "support/universe_scene.h"

enum { TIMEOUT_S = 60, SECOND_MS = 1000, LINES = 64, LINE = 1024 };

#define SECOND_NS UINT64_C(1000000000)

static Scene scene;
static char lines[LINES][LINE];
static uint32_t line_count;
static char last_code[65];

/* Asks for the effect that the message names, with two attempts, or for a timer. */
static int ask(SapWorld *world, const SapEvent *event)
{
    if (event->kind == SAP_EVENT_RECEIPT) {
        (void)snprintf(last_code, sizeof last_code, "%s", event->code);
    }
    if (event->kind != SAP_EVENT_MESSAGE) {
        return SAP_OK;
    }
    if (strcmp(event->name, "timer") == 0) {
        return sap_world_timer(
            world, &(SapTimer){.size = sizeof(SapTimer), .ref = "t", .after_ns = SECOND_NS});
    }
    SapEffect effect = {.size = sizeof effect, .kind = event->name, .ref = "e"};
    effect.retry.attempts = 2;
    return sap_world_effect(world, &effect);
}

SAP_WORLD_MODULE("ask", ask);

static void keep_line(const char *line, void *ctx)
{
    (void)ctx;
    if (line_count < LINES) {
        (void)snprintf(lines[line_count++], LINE, "%s", line);
    }
}

static void expect_lines(const char *event, uint32_t expected, const char *part)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < line_count; i++) {
        if (strstr(lines[i], event) != NULL) {
            ck_assert_msg(strstr(lines[i], part) != NULL, "no %s in %s", part, lines[i]);
            found++;
        }
    }
    ck_assert_msg(found == expected, "%u lines of %s", (unsigned)found, event);
}

static uint64_t metric(const char *name)
{
    char *text = NULL;
    char begin[96];
    ck_assert_int_eq(sap_universe_metrics(scene.universe, &text), SAP_OK);
    int len = snprintf(begin, sizeof begin, "\nsapling_universe_%s ", name);
    const char *at = strstr(text, begin);
    ck_assert_msg(at != NULL, "there is no %s", name);
    uint64_t value = strtoull(at + len, NULL, 10);
    sap_universe_text_free(text);
    return value;
}

static void set_up(void)
{
    scene_open(&scene, "memory:", false);
    meters_release(&scene.universe->meters); /* this one logs */
    ck_assert_int_eq(meters_init(&scene.universe->meters, keep_line, NULL, &scene.clock), SAP_OK);
}

static void tear_down(void)
{
    scene_close(&scene);
}

/* Worlds and the reaper alone, for so many seconds. */
static void reap_for(SapWorker *worker, int seconds)
{
    for (int i = 0; i < seconds; i++) {
        scene_run(worker);
        scene_run_role(worker, SAP_ROLE_REAPER);
        scene_pass_ms(&scene, SECOND_MS);
    }
}

START_TEST(an_effect_that_nobody_serves_grows_old_and_is_given_up)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ask");
    scene_run(worker);
    reap_for(worker, 2);
    ck_assert_uint_eq(metric("due_effect_age_ns"), 0);
    scene_send(&scene, "w", "nobody", NULL);
    reap_for(worker, 31);
    ck_assert_uint_ge(metric("due_effect_age_ns"), 28 * SECOND_NS);
    ck_assert_uint_le(metric("due_effect_age_ns"), 31 * SECOND_NS);
    ck_assert_uint_eq(metric("effects_unserved_total"), 0);
    reap_for(worker, 35);
    ck_assert_uint_eq(metric("effects_unserved_total"), 1);
    ck_assert_uint_eq(metric("due_effect_age_ns"), 0);
    expect_lines("universe.effect_given_up", 1, "\"code\":\"no_adapter\"");
    ck_assert_str_eq(last_code, "no_adapter");
}
END_TEST

static int start_slow(void *ctx, const SapEffectCall *call, void **handle_out)
{
    (void)call;
    *handle_out = ctx;
    return SAP_OK;
}

static int poll_slow(void *ctx, void *handle, SapEffectResult *result, bool *done_out)
{
    (void)ctx;
    (void)handle;
    (void)result;
    *done_out = false;
    return SAP_OK;
}

static void cancel_slow(void *ctx, void *handle)
{
    (void)ctx;
    (void)handle;
}

/* A worker that begins a call, and dies. */
static void begin_and_die(const char *name)
{
    SapEffectAdapter slow = {.size = sizeof slow,
                             .kind = "slow",
                             .start = start_slow,
                             .poll = poll_slow,
                             .cancel = cancel_slow,
                             .ctx = lines};
    SapWorker *worker = scene_worker(&scene, name);
    ck_assert_int_eq(sap_worker_serve_adapter(worker, &slow), SAP_OK);
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    scene_kill(&scene, worker);
}

START_TEST(effects_whose_claims_are_lost_are_counted_and_logged)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ask");
    scene_send(&scene, "w", "slow", NULL);
    scene_run(worker);
    begin_and_die("b");
    reap_for(worker, 40);
    ck_assert_uint_eq(metric("effects_returned_total"), 1);
    ck_assert_uint_eq(metric("effects_lost_total"), 0);
    expect_lines("universe.effect_returned", 1, "\"world\":\"w\"");
    begin_and_die("c"); /* its second attempt is its last */
    reap_for(worker, 40);
    ck_assert_uint_eq(metric("effects_returned_total"), 1);
    ck_assert_uint_eq(metric("effects_lost_total"), 1);
    expect_lines("universe.effect_given_up", 1, "\"code\":\"lost\"");
    ck_assert_str_eq(last_code, "lost");
}
END_TEST

static int fail_always(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)ctx;
    (void)call;
    (void)sap_effect_result(result, SAP_RECEIPT_ERROR, "no_such_card", SAP_ENCODING_JSON, NULL, 0);
    return SAP_INVALID;
}

START_TEST(an_effect_that_has_failed_for_good_is_logged_once)
{
    SapEffectKind kind = {.size = sizeof kind, .kind = "charge", .function = fail_always};
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_worker_serve(worker, &kind), SAP_OK);
    scene_create(&scene, "w", "ask");
    scene_send(&scene, "w", "charge", NULL);
    scene_run(worker);
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    expect_lines("universe.effect_failed", 0, "");
    scene_pass_ms(&scene, 2 * SECOND_MS);
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    expect_lines("universe.effect_failed", 1,
                 "\"world\":\"w\",\"height\":2,\"kind\":\"charge\",\"ref\":\"e\",\"attempts\":2,"
                 "\"code\":\"no_such_card\"");
}
END_TEST

START_TEST(a_timer_that_nobody_fires_grows_old)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ask");
    scene_send(&scene, "w", "timer", NULL);
    scene_run(worker);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(metric("due_timer_age_ns"), 0); /* it is not due */
    reap_for(worker, 20);
    ck_assert_uint_eq(metric("due_timer_age_ns"), 18 * SECOND_NS);
    scene_run_role(worker, SAP_ROLE_TIMERS);
    reap_for(worker, 1);
    ck_assert_uint_eq(metric("due_timer_age_ns"), 0);
}
END_TEST

static uint32_t count_lines(const char *event)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < line_count; i++) {
        found += strstr(lines[i], event) != NULL;
    }
    return found;
}

/* A worker that is busy looks at the hints thousands of times a second. */
START_TEST(damaged_rows_do_not_fill_the_log)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ask");
    scene_create(&scene, "bad", "ask");
    scene_damage(&scene, WIT_DBI_WORLD_META, "bad");
    scene_put_row(&scene, WIT_DBI_READY, "\0\0\0\7\0", 5, "", 0); /* a hint of nobody */
    for (int i = 0; i < 600; i++) {
        scene_run(worker);
        scene_pass_ms(&scene, 100);
    }
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    ck_assert_uint_ge(count_lines("a row of ready"), 1);
    ck_assert_uint_ge(count_lines("\"world\":\"bad\""), 1);
    ck_assert_uint_le(count_lines("universe.damaged"), 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_queues");
    TCase *test_case = tcase_create("queues");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, an_effect_that_nobody_serves_grows_old_and_is_given_up);
    tcase_add_test(test_case, effects_whose_claims_are_lost_are_counted_and_logged);
    tcase_add_test(test_case, an_effect_that_has_failed_for_good_is_logged_once);
    tcase_add_test(test_case, a_timer_that_nobody_fires_grows_old);
    tcase_add_test(test_case, damaged_rows_do_not_fill_the_log);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
