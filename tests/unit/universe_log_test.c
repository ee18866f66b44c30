/* What the metrics and the log say is what happened. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/suite.h"
#include "universe/universe_impl.h"
#include "json/canonical.h"

enum { TIMEOUT_S = 60, LINES = 200, LINE = 1024 };

static char lines[LINES][LINE];
static uint32_t line_count;
static bool is_down;

static int act(SapWorld *world, const SapEvent *event)
{
    if (strcmp(event->name, "refuse") == 0) {
        return sap_world_fail(world, false, "never");
    }
    if (strcmp(event->name, "fail") == 0 && is_down) {
        return sap_world_fail(world, true, "a \"quoted\"\n\treason");
    }
    if (strcmp(event->name, "wait") == 0 && is_down) {
        return SAP_BUSY;
    }
    return SAP_OK;
}

static SapWorldModule module = {.name = "act", .handler = act, .max_attempts = 1};

static void keep_line(const char *line, void *ctx)
{
    (void)ctx;
    ck_assert_uint_lt(line_count, LINES);
    ck_assert_uint_lt(strlen(line), LINE);
    (void)snprintf(lines[line_count++], LINE, "%s", line);
}

/* The one line of that event; it is JSON, without a newline. */
static const char *line_of(const char *event)
{
    char text[64];
    const char *found = NULL;
    (void)snprintf(text, sizeof text, "\"%s\"", event);
    for (uint32_t i = 0; i < line_count; i++) {
        if (strstr(lines[i], text) != NULL) {
            ck_assert_msg(found == NULL, "%s twice", event);
            found = lines[i];
        }
    }
    ck_assert_msg(found != NULL, "no line of %s", event);
    return found;
}

static void expect_field(const char *line, const char *field)
{
    ck_assert_msg(strstr(line, field) != NULL, "no %s in %s", field, line);
}

static uint64_t metric(SapUniverse *universe, const char *name)
{
    char *text = NULL;
    char begin[96];
    ck_assert_int_eq(sap_universe_metrics(universe, &text), SAP_OK);
    int len = snprintf(begin, sizeof begin, "\nsapling_universe_%s ", name);
    const char *at = strstr(text, begin);
    ck_assert_msg(at != NULL, "there is no %s", name);
    uint64_t value = strtoull(at + len, NULL, 10);
    sap_universe_text_free(text);
    return value;
}

static void expect_metric(SapUniverse *universe, const char *name, uint64_t expected)
{
    uint64_t value = metric(universe, name);
    ck_assert_msg(value == expected, "%s is %" PRIu64 ", not %" PRIu64, name, value, expected);
}

static int send_item(SapUniverse *universe, const char *name, const char *id)
{
    SapIngress item = {.size = sizeof item, .name = name, .id = id};
    return sap_enqueue_ingress(universe, "w", &item, NULL);
}

static void run_role(SapWorker *worker, SapRole role)
{
    bool busy = true;
    while (busy) {
        ck_assert_int_eq(sap_worker_step_role(worker, role, &busy), SAP_OK);
    }
}

static int keep_letter(void *ctx, const SapDeadLetter *letter)
{
    SapDeadLetter *kept = (SapDeadLetter *)ctx;
    kept[1] = kept[0];
    kept[0] = *letter;
    return SAP_OK;
}

static SapUniverse *open_universe(void)
{
    SapUniverseOptions options = {.size = sizeof options, .on_log = keep_line};
    SapUniverse *universe = NULL;
    ck_assert_int_eq(sap_world_module_register(&module), SAP_OK);
    ck_assert_int_eq(sap_universe_open("memory:", &options, &universe), SAP_OK);
    return universe;
}

static SapWorker *open_worker(SapUniverse *universe, const char *name)
{
    SapWorkerOptions options = {.size = sizeof options, .name = name};
    SapWorker *worker = NULL;
    ck_assert_int_eq(sap_worker_open(universe, &options, &worker), SAP_OK);
    return worker;
}

START_TEST(the_counters_are_what_happened)
{
    SapUniverse *universe = open_universe();
    SapWorker *worker = open_worker(universe, "a");
    SapDeadLetter letters[3] = {{.height = 0}};
    ck_assert_int_eq(sap_world_create(universe, "w", "act", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", "one"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", "one"), SAP_OK); /* a duplicate */
    ck_assert_int_eq(send_item(universe, "refuse", "two"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "refuse", "three"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "\xff", NULL), SAP_INVALID);
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "enqueued_total", 3);
    expect_metric(universe, "enqueue_duplicates_total", 1);
    expect_metric(universe, "enqueue_refused_total", 1);
    expect_metric(universe, "steps_total", 4); /* the creation too */
    expect_metric(universe, "rejected_total", 2);
    expect_metric(universe, "cycles_total", 1);
    expect_metric(universe, "worlds_acquired_total", 1);
    expect_metric(universe, "worlds_hot", 1);
    expect_metric(universe, "handlers_running", 0);
    is_down = true;
    ck_assert_int_eq(send_item(universe, "fail", "four"), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "handler_failures_total", 1);
    expect_metric(universe, "worlds_paused_total", 1);
    ck_assert_int_eq(sap_world_resume_skip(universe, "w"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "wait", "five"), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "handler_waits_total", 1);
    expect_metric(universe, "handler_failures_total", 1);
    expect_metric(universe, "worlds_acquired_total", 2);
    expect_metric(universe, "entries_restored_total", 4);
    /* An operator takes it away, and the worker finds out when it commits. */
    is_down = false;
    ck_assert_int_eq(sap_world_pause(universe, "w", "for a while"), SAP_OK);
    expect_metric(universe, "fenced_total", 0);
    ck_assert_int_eq(sap_dead_letters(universe, "w", keep_letter, letters), SAP_OK);
    ck_assert_int_eq(sap_dead_letter_replay(universe, "w", letters[1].height, letters[1].seq),
                     SAP_OK);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", letters[0].height, letters[0].seq),
                     SAP_OK);
    expect_metric(universe, "dead_letters_replayed_total", 1);
    expect_metric(universe, "dead_letters_dropped_total", 1);
    ck_assert_int_eq(sap_world_delete(universe, "w", "old"), SAP_OK);
    expect_metric(universe, "reaper_held", 0);
    run_role(worker, SAP_ROLE_REAPER);
    run_role(worker, SAP_ROLE_ORCHESTRATOR);
    expect_metric(universe, "reaper_held", 1);
    expect_metric(universe, "orchestrator_held", 1);
    expect_metric(universe, "items_drained_total", 2);
    expect_metric(universe, "rows_expired_total", 0); /* the ids are kept for a day */
    expect_metric(universe, "commit_unknown_total", 0);
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

START_TEST(leases_that_change_hands_are_counted)
{
    SapUniverse *universe = open_universe();
    SapWorker *worker = open_worker(universe, "a");
    ck_assert_int_eq(sap_world_create(universe, "w", "act", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "worlds_released_total", 0);
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    expect_metric(universe, "worlds_released_total", 1);
    worker = open_worker(universe, "a");
    ck_assert_int_eq(send_item(universe, "add", NULL), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    worker_abandon(worker);
    worker = open_worker(universe, "a");
    run_role(worker, SAP_ROLE_ORCHESTRATOR);
    expect_metric(universe, "dead_worlds_total", 1);
    ck_assert_int_eq(send_item(universe, "add", NULL), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    ck_assert_int_eq(sap_world_pause(universe, "w", ""), SAP_OK);
    ck_assert_int_eq(sap_world_resume(universe, "w"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", NULL), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "fenced_total", 1);
    expect_metric(universe, "worlds_acquired_total", 4);
    expect_metric(universe, "steps_total", 4);
    expect_field(line_of("universe.fenced"), "\"world\":\"w\"");
    expect_field(line_of("universe.fenced"), "\"epoch\":");
    expect_field(line_of("universe.fenced"), "\"height\":3");
    expect_field(line_of("universe.dead_worlds_freed"), "\"worlds\":1");
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

START_TEST(the_log_is_json_and_names_world_epoch_and_height)
{
    SapUniverse *universe = open_universe();
    SapWorker *worker = open_worker(universe, "a");
    ck_assert_int_eq(sap_world_create(universe, "w", "act", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    is_down = true;
    ck_assert_int_eq(send_item(universe, "fail", "one"), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    const char *line = line_of("universe.paused");
    expect_field(line, "\"world\":\"w\"");
    expect_field(line, "\"epoch\":1");
    expect_field(line, "\"height\":1");
    expect_field(line, "a \\\"quoted\\\"\\n\\treason");
    expect_field(line_of("universe.worker_started"), "\"worker\":\"a\"");
    ck_assert_int_eq(sap_assign_world(universe, "w", "a", 0, "because"), SAP_OK);
    expect_field(line_of("universe.assigned"), "\"reason\":\"because\"");
    ck_assert_int_eq(sap_world_delete(universe, "w", "gone"), SAP_OK);
    expect_field(line_of("universe.operator"), "\"act\":\"delete\"");
    run_role(worker, SAP_ROLE_REAPER);
    expect_field(line_of("universe.role_taken"), "\"role\":\"reaper\"");
    SapDeadLetter letters[2] = {{.height = 0}};
    ck_assert_int_eq(sap_dead_letters(universe, "w", keep_letter, letters), SAP_OK);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", letters[0].height, letters[0].seq),
                     SAP_OK);
    expect_field(line_of("universe.letter_dropped"), "\"world\":\"w\"");
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    expect_field(line_of("universe.worker_closed"), "\"steps\":1");
    for (uint32_t i = 0; i < line_count; i++) {
        Buf canonical = {0};
        ck_assert_msg(json_canonical(lines[i], strlen(lines[i]), &canonical, NULL) == SAP_OK,
                      "not JSON: %s", lines[i]);
        ck_assert_ptr_null(strchr(lines[i], '\n'));
        buf_release(&canonical);
    }
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

static int send_correlated(SapUniverse *universe, const char *name, const char *correlation)
{
    SapIngress item = {.size = sizeof item, .name = name, .correlation_id = correlation};
    return sap_enqueue_ingress(universe, "w", &item, NULL);
}

/* Whatever a line says of an item names who sent it. */
START_TEST(lines_about_items_have_their_correlation_id)
{
    SapUniverse *universe = open_universe();
    SapWorker *worker = open_worker(universe, "a");
    ck_assert_int_eq(sap_world_create(universe, "w", "act", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    is_down = true;
    ck_assert_int_eq(send_correlated(universe, "refuse", "c-refused"), SAP_OK);
    ck_assert_int_eq(send_correlated(universe, "add", "c-added"), SAP_OK);
    ck_assert_int_eq(send_correlated(universe, "wait", "c-waits"), SAP_OK);
    run_role(worker, SAP_ROLE_WORLDS);
    const char *line = line_of("universe.rejected");
    expect_field(line, "\"world\":\"w\"");
    expect_field(line, "\"epoch\":1");
    expect_field(line, "\"height\":2");
    expect_field(line, "\"correlation_id\":\"c-refused\"");
    expect_field(line, "\"reason\":\"never\"");
    line = line_of("universe.waiting");
    expect_field(line, "\"height\":3");
    expect_field(line, "\"correlation_id\":\"c-waits\"");
    ck_assert_int_eq(sap_world_delete(universe, "w", "gone"), SAP_OK);
    run_role(worker, SAP_ROLE_REAPER);
    ck_assert_int_eq(sap_world_create(universe, "w", "act", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_int_eq(send_correlated(universe, "fail", "c-failed"), SAP_OK);
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    worker = open_worker(universe, "b");
    run_role(worker, SAP_ROLE_WORLDS);
    expect_field(line_of("universe.paused"), "\"correlation_id\":\"c-failed\"");
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

/* What waits for a module that nobody has is counted from when it was put. */
START_TEST(the_age_of_what_waits_is_measured)
{
    SapUniverse *universe = open_universe();
    SapWorker *worker = open_worker(universe, "a");
    struct timespec pause = {.tv_nsec = 20000000};
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "oldest_hint_age_ns", 0);
    ck_assert_int_eq(sap_world_create(universe, "w", "none", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    (void)nanosleep(&pause, NULL);
    run_role(worker, SAP_ROLE_WORLDS);
    expect_metric(universe, "hints_seen", 1);
    uint64_t age_ns = metric(universe, "oldest_hint_age_ns");
    ck_assert_uint_ge(age_ns, 20000000);
    ck_assert_uint_lt(age_ns, UINT64_C(60000000000));
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_log");
    TCase *test_case = tcase_create("metrics and log");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, the_counters_are_what_happened);
    tcase_add_test(test_case, lines_about_items_have_their_correlation_id);
    tcase_add_test(test_case, the_age_of_what_waits_is_measured);
    tcase_add_test(test_case, leases_that_change_hands_are_counted);
    tcase_add_test(test_case, the_log_is_json_and_names_world_epoch_and_height);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
