/* What modules declare of the payloads of their worlds is looked at before an item is enqueued. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/schemas.h"

enum { TIMEOUT_S = 120, SECOND_MS = 1000, MOST_FAULTS = 2000 };

static Scene scene;
static StoreBeds beds;
static char told[512];

static const char schemas[] =
    "{ \"add\": {\"type\":\"object\",\"required\":[\"n\"],\"additionalProperties\":false,"
    "            \"properties\":{\"n\":{\"type\":\"integer\",\"minimum\":1},\"note\":{}}},"
    "  \"free\": true, \"a \\\"b\\\"\\n\": {\"const\":1}, \"*\": false,"
    "  \"$create\": {\"type\":\"object\"} }";

static int take_all(SapWorld *world, const SapEvent *event)
{
    (void)event;
    return sap_world_put(world, "last", 4, SAP_ENCODING_RAW, "x", 1);
}

static SapWorldModule native = {.name = "native", .handler = take_all};

static void set_up(void)
{
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void set_up_beds(void)
{
    store_beds_start(&beds);
}

static void tear_down_beds(void)
{
    store_beds_end(&beds);
}

static int put_schemas(const char *module, const char *text)
{
    SapModule row = {.size = sizeof row, .name = module, .runner = "exec:x", .schemas = text};
    return sap_module_put(scene.universe, &row, NULL);
}

static SapIngressResult result;

static int send_to(SapUniverse *universe, const char *world, const char *name, SapEncoding encoding,
                   const char *payload)
{
    SapIngress item = {.size = sizeof item,
                       .name = name,
                       .encoding = encoding,
                       .payload = payload,
                       .payload_len = strlen(payload)};
    memset(&result, 0, sizeof result);
    return sap_enqueue_ingress(universe, world, &item, &result);
}

static int send_json(const char *name, const char *payload)
{
    return send_to(scene.universe, "w", name, SAP_ENCODING_JSON, payload);
}

static void expect_refused(const char *name, const char *payload, const char *why)
{
    ck_assert_int_eq(send_json(name, payload), SAP_INVALID);
    ck_assert_str_eq(result.invalid, why);
}

static int create(const char *world, const char *payload)
{
    return sap_world_create(scene.universe, world, "m", SAP_ENCODING_JSON, payload,
                            strlen(payload));
}

static void expect_waiting(uint32_t messages)
{
    SapInboxInfo info;
    ck_assert_int_eq(sap_world_inbox(scene.universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.messages, messages);
}

START_TEST(a_payload_that_is_not_what_its_module_declares_is_refused_before_it_is_enqueued)
{
    SapModule *read = NULL;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    ck_assert_int_eq(put_schemas("m", schemas), SAP_OK);
    ck_assert_int_eq(sap_module_get(scene.universe, "m", 0, &read), SAP_OK);
    ck_assert_ptr_nonnull(strstr(read->schemas, "\"free\":true")); /* its canonical form */
    sap_module_free(read);
    ck_assert_int_eq(create("w", "[]"), SAP_INVALID);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_META), 0);
    ck_assert_int_eq(create("w", "{}"), SAP_OK);
    ck_assert_int_eq(send_json("add", "{\"n\":1,\"note\":[]}"), SAP_OK);
    ck_assert_int_eq(send_json("free", "[1,2]"), SAP_OK);
    ck_assert_int_eq(send_json("a \"b\"\n", "1.0"), SAP_OK);
    expect_refused("add", "{}", "it has no member \"n\"");
    expect_refused("add", "{\"n\":0}", "/n: it is below 1");
    expect_refused("add", "{\"n\":1,\"m\":1}", "/m: it may not be there");
    expect_refused("a \"b\"\n", "2", "it is not 1");
    expect_refused("other", "1", "it may not be there");
    expect_refused(NULL, "", "it may not be there");
    expect_refused("add", "{\"n\":1", ""); /* not JSON */
    ck_assert_int_eq(send_to(scene.universe, "w", "add", SAP_ENCODING_RAW, "{\"n\":1}"),
                     SAP_INVALID);
    ck_assert_str_eq(result.invalid,
                     "it is not JSON, and its module declares a JSON Schema for it");
    ck_assert_int_eq(sap_world_cancel_request(scene.universe, "w", NULL, "enough"), SAP_OK);
    expect_waiting(3);
    ck_assert_int_eq(send_to(scene.universe, "nobody", "add", SAP_ENCODING_JSON, "{}"),
                     SAP_NOTFOUND);
    scene_close(&scene);
}
END_TEST

START_TEST(a_large_payload_that_is_refused_leaves_no_blob)
{
    enum { LARGE = 100 * 1024 };
    char *payload = (char *)malloc(LARGE + 1);
    memset(payload, ' ', LARGE);
    memset(payload + 1, 'x', LARGE - 2);
    payload[0] = '"';
    payload[LARGE - 1] = '"';
    payload[LARGE] = 0;
    ck_assert_int_eq(put_schemas("m", "{\"add\":{\"maxLength\":10},\"free\":{}}"), SAP_OK);
    ck_assert_int_eq(create("w", "null"), SAP_OK);
    SapStoreStats before;
    SapStoreStats after;
    ck_assert_int_eq(sap_store_stats(scene.store, &before), SAP_OK);
    expect_refused("add", payload, "it has more characters than 10");
    ck_assert_int_eq(sap_store_stats(scene.store, &after), SAP_OK);
    ck_assert_uint_eq(after.rows_written, before.rows_written);
    ck_assert_int_eq(send_json("free", payload), SAP_OK);
    free(payload);
}
END_TEST

/* Another process hears of what was registered within 5 s, this one at once. */
START_TEST(what_counts_is_what_the_version_declares_that_runs_the_world)
{
    SapUniverse *other = NULL;
    ck_assert_int_eq(put_schemas("m", "{\"add\":{\"type\":\"string\"}}"), SAP_OK);
    ck_assert_int_eq(create("w", "null"), SAP_OK);
    ck_assert_int_eq(universe_open_on(scene.store, &scene.clock, NULL, SCENE_UNIVERSE, &other),
                     SAP_OK);
    ck_assert_int_eq(send_json("add", "\"\""), SAP_OK);
    ck_assert_int_eq(send_to(other, "w", "add", SAP_ENCODING_JSON, "1"), SAP_INVALID);
    ck_assert_int_eq(put_schemas("m", "{\"add\":{\"type\":\"integer\"}}"), SAP_OK);
    expect_refused("add", "\"\"", "it is not of type \"integer\"");
    ck_assert_int_eq(send_json("add", "1"), SAP_OK);
    scene_pass_ms(&scene, 5 * SECOND_MS);
    ck_assert_int_eq(send_to(other, "w", "add", SAP_ENCODING_JSON, "1"), SAP_OK);
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 1), SAP_OK);
    scene_pass_ms(&scene, 5 * SECOND_MS);
    expect_refused("add", "1", "it is not of type \"string\"");
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 0), SAP_OK);
    ck_assert_int_eq(put_schemas("m", NULL), SAP_OK); /* declares nothing any more */
    ck_assert_int_eq(send_to(scene.universe, "w", "add", SAP_ENCODING_RAW, "x"), SAP_OK);
    ck_assert_int_eq(sap_universe_close(other), SAP_OK);
}
END_TEST

/* The store is not asked again for what was read a moment ago. */
START_TEST(what_a_module_declares_is_read_once_in_five_seconds)
{
    SapStoreStats stats[4];
    ck_assert_int_eq(put_schemas("m", schemas), SAP_OK);
    ck_assert_int_eq(create("w", "{}"), SAP_OK);
    expect_refused("add", "1", "it is not of type \"object\"");
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(sap_store_stats(scene.store, &stats[i]), SAP_OK);
        expect_refused("add", "1", "it is not of type \"object\"");
        if (i == 1) {
            scene_pass_ms(&scene, 5 * SECOND_MS);
        }
    }
    ck_assert_uint_eq(stats[0].rows_read, stats[1].rows_read);
    ck_assert_uint_eq(stats[1].rows_read, stats[2].rows_read);
    ck_assert_uint_lt(stats[2].rows_read, stats[3].rows_read);
}
END_TEST

START_TEST(a_payload_can_be_checked_without_sending_it)
{
    char why[SAP_MODULE_WHY] = "";
    ck_assert_int_eq(put_schemas("m", schemas), SAP_OK);
    ck_assert_int_eq(put_schemas("m", NULL), SAP_OK);
    SapUniverse *universe = scene.universe;
    ck_assert_int_eq(sap_module_check(universe, "m", 0, "add", SAP_ENCODING_JSON, "1", 1, why),
                     SAP_OK);
    ck_assert_int_eq(sap_module_check(universe, "m", 1, "add", SAP_ENCODING_JSON, "1", 1, why),
                     SAP_INVALID);
    ck_assert_str_eq(why, "it is not of type \"object\"");
    ck_assert_int_eq(sap_module_check(universe, "m", 1, NULL, SAP_ENCODING_JSON, "1", 1, why),
                     SAP_INVALID);
    ck_assert_int_eq(sap_module_check(universe, "m", 1, NULL, SAP_ENCODING_JSON, "{}", 2, NULL),
                     SAP_OK);
    ck_assert_int_eq(sap_module_check(universe, "m", 1, "free", SAP_ENCODING_JSON, "{", 1, why),
                     SAP_INVALID);
    ck_assert_str_eq(why, "");
    ck_assert_int_eq(sap_module_check(universe, "none", 0, "x", SAP_ENCODING_RAW, "1", 1, why),
                     SAP_OK);
    ck_assert_int_eq(sap_module_check(universe, "", 0, "x", SAP_ENCODING_RAW, "1", 1, why),
                     SAP_INVALID);
    ck_assert_int_eq(sap_module_check(NULL, "m", 0, "x", SAP_ENCODING_RAW, "1", 1, why), SAP_ERROR);
}
END_TEST

static void note_message(const char *text, void *ctx)
{
    (void)ctx;
    (void)snprintf(told, sizeof told, "%s", text);
}

START_TEST(schemas_that_are_none_are_refused_and_say_why)
{
    static char long_text[SAP_MODULE_MAX_SCHEMAS + 64];
    static const char *const bad[][2] = {
        {"[]", "the schemas of module m are refused: schemas are not a JSON object, with a schema "
               "for each name of a message"},
        {"{\"add\":{\"type\":\"int\"}}",
         "the schemas of module m are refused: /type: it is not a type, or an array of types"},
        {"{\"add\":}", "the schemas of module m are refused: not a value"},
    };
    scene.universe->on_message = note_message;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(put_schemas("m", bad[i][0]), SAP_INVALID);
        ck_assert_str_eq(told, bad[i][1]);
        native.schemas = bad[i][0];
        ck_assert_int_eq(sap_world_module_register(&native), SAP_INVALID);
    }
    memset(long_text, 'x', sizeof long_text - 1);
    memcpy(long_text, "{\"a\":{\"title\":\"", 15);
    memcpy(long_text + sizeof long_text - 4, "\"}}", 4);
    ck_assert_int_eq(put_schemas("m", long_text), SAP_FULL);
    ck_assert_str_eq(told, "the schemas of module m are refused: schemas are longer than 64 KiB");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_MODULES), 0);
    native.schemas = NULL;
}
END_TEST

START_TEST(a_native_module_declares_too)
{
    native.schemas = "{\"add\":{\"type\":\"null\"}}";
    ck_assert_int_eq(sap_world_module_register(&native), SAP_OK);
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "native");
    scene_run(worker);
    expect_refused("add", "1", "it is not of type \"null\"");
    ck_assert_int_eq(send_json("add", "null"), SAP_OK);
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    scene_leave(&scene, worker);
    ck_assert_int_eq(sap_world_module_unregister(&native), SAP_OK);
}
END_TEST

/* ---- Without memory ------------------------------------------------------------------------------ */

static bool fail_nth(uint64_t nth)
{
    expect_context("allocation %" PRIu64, nth);
    scene_open(&scene, "memory:", false);
    EXPECT_RC(put_schemas("m", schemas), SAP_OK);
    EXPECT_RC(create("w", "{}"), SAP_OK);
    fault_reset();
    fault_arm_alloc(nth);
    int put = put_schemas("m", "{\"add\":{\"type\":\"string\"}}");
    int good = send_json("add", put == SAP_OK ? "\"\"" : "{\"n\":1}");
    int bad = send_json("add", put == SAP_OK ? "{\"n\":1}" : "\"\"");
    bool fired = fault_fired() > 0;
    fault_reset();
    EXPECT(put == SAP_OK || put == SAP_NOMEM, "put: %d", put);
    EXPECT(good == SAP_OK || good == SAP_NOMEM, "good: %d", good);
    EXPECT(bad == SAP_INVALID || bad == SAP_NOMEM, "bad: %d", bad);
    EXPECT((put == SAP_NOMEM) + (good == SAP_NOMEM) + (bad == SAP_NOMEM) <= 1, "more than one");
    scene_close(&scene);
    return fired;
}

START_TEST(every_allocation_that_fails_is_said_and_nothing_wrong_is_enqueued)
{
    uint64_t n = 1;
    while (n < MOST_FAULTS && fail_nth(n)) {
        n++;
    }
    ck_assert_uint_lt(n, MOST_FAULTS);
    ck_assert_uint_gt(n, 20);
    (void)printf("universe_declared: %" PRIu64 " allocations failed\n", n - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_declared");
    TCase *every = tcase_create("on every store");
    TCase *memory = tcase_create("in memory");
    TCase *faults = tcase_create("without memory");
    tcase_add_checked_fixture(every, set_up_beds, tear_down_beds);
    tcase_set_timeout(every, TIMEOUT_S);
    tcase_add_loop_test(
        every, a_payload_that_is_not_what_its_module_declares_is_refused_before_it_is_enqueued, 0,
        STORE_BED_MAX);
    suite_add_tcase(suite, every);
    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_set_timeout(memory, TIMEOUT_S);
    tcase_add_test(memory, a_large_payload_that_is_refused_leaves_no_blob);
    tcase_add_test(memory, what_counts_is_what_the_version_declares_that_runs_the_world);
    tcase_add_test(memory, what_a_module_declares_is_read_once_in_five_seconds);
    tcase_add_test(memory, a_payload_can_be_checked_without_sending_it);
    tcase_add_test(memory, schemas_that_are_none_are_refused_and_say_why);
    tcase_add_test(memory, a_native_module_declares_too);
    suite_add_tcase(suite, memory);
    tcase_set_timeout(faults, TIMEOUT_S);
    tcase_add_test(faults, every_allocation_that_fails_is_said_and_nothing_wrong_is_enqueued);
    suite_add_tcase(suite, faults);
    return suite_run(suite);
}
