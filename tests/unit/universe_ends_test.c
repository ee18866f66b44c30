/* Worlds that finish, what they are found by, asking them to finish, and asking them anything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/rows.h"

enum { TIMEOUT_S = 120, SECOND_MS = 1000, MOST_FAULTS = 50000 };

static Scene scene;
static StoreBeds beds;
static char last_payload[64];
static uint32_t rings;

/* ---- A module ------------------------------------------------------------------------------------ */

static int ask_effect(SapWorld *world, const char *ref)
{
    SapEffect effect = {.size = sizeof effect, .kind = "ring", .ref = ref};
    return sap_world_effect(world, &effect);
}

static int ask_timer(SapWorld *world, const char *ref)
{
    SapTimer timer = {.size = sizeof timer, .ref = ref, .after_ns = UINT64_C(60000000000)};
    return sap_world_timer(world, &timer);
}

static int count_item(SapWorld *world)
{
    const void *val = NULL;
    size_t len = 0;
    char text[24] = "0";
    int rc = sap_world_get(world, "n", 1, &val, &len, NULL);
    if (rc == SAP_OK) {
        (void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)val);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    int text_len = snprintf(text, sizeof text, "%ld", strtol(text, NULL, 10) + 1);
    return sap_world_put(world, "n", 1, SAP_ENCODING_JSON, text, (size_t)text_len);
}

/* Replies with the row n; tries to change what it must not. */
static int answer_query(SapWorld *world, const SapEvent *event)
{
    const void *val = "0";
    size_t len = 1;
    if (strcmp(event->name, "fail") == 0) {
        return sap_world_fail(world, false, "no answer");
    }
    if (strcmp(event->name, "silent") == 0) {
        return SAP_OK;
    }
    ck_assert_int_eq(sap_world_put(world, "n", 1, SAP_ENCODING_JSON, "9", 1), SAP_READONLY);
    ck_assert_int_eq(sap_world_del(world, "n", 1), SAP_READONLY);
    ck_assert_int_eq(ask_effect(world, "e"), SAP_READONLY);
    ck_assert_int_eq(ask_timer(world, "t"), SAP_READONLY);
    ck_assert_int_eq(sap_world_done(world, false, SAP_ENCODING_JSON, NULL, 0), SAP_READONLY);
    ck_assert_int_eq(sap_world_tag(world, "a", NULL), SAP_READONLY);
    ck_assert_int_eq(sap_world_untag(world, "a"), SAP_READONLY);
    int rc = sap_world_get(world, "n", 1, &val, &len, NULL);
    if (rc == SAP_NOMEM) {
        return rc;
    }
    return sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, val, len);
}

/* The name of a message says what it does. */
static int on_event(SapWorld *world, const SapEvent *event)
{
    int rc = SAP_OK;
    if (event->kind == SAP_EVENT_QUERY) {
        return answer_query(world, event);
    }
    if (event->kind == SAP_EVENT_CANCEL) {
        (void)snprintf(last_payload, sizeof last_payload, "%.*s", (int)event->payload_len,
                       (const char *)event->payload);
        return sap_world_done(world, true, SAP_ENCODING_JSON, "\"stopped\"", 9);
    }
    if (strcmp(event->name, "effect") == 0) {
        return ask_effect(world, "e");
    }
    if (strcmp(event->name, "timer") == 0) {
        return ask_timer(world, "t");
    }
    if (strcmp(event->name, "tag") == 0) {
        rc = sap_world_tag(world, "urgent", NULL);
        return rc == SAP_OK ? sap_world_tag(world, "customer", event->id) : rc;
    }
    if (strcmp(event->name, "untag") == 0) {
        return sap_world_untag(world, event->id);
    }
    if (strcmp(event->name, "fail") == 0) { /* nothing of it happens */
        (void)sap_world_tag(world, "never", NULL);
        (void)sap_world_done(world, false, SAP_ENCODING_JSON, NULL, 0);
        return sap_world_fail(world, false, "no");
    }
    if (strcmp(event->name, "done") == 0) {
        rc = ask_effect(world, "last"); /* performed all the same */
        rc = rc == SAP_OK ? sap_world_done(world, false, SAP_ENCODING_JSON, "{\"b\":1,\"a\":2}", 13)
                          : rc;
        if (rc == SAP_OK) {
            ck_assert_int_eq(sap_world_done(world, true, SAP_ENCODING_JSON, NULL, 0), SAP_EXISTS);
        }
        return rc;
    }
    return count_item(world);
}

static SapWorldModule module = {.name = "ends", .handler = on_event, .max_attempts = 1};

static int ring(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)ctx;
    (void)call;
    (void)result;
    rings++;
    return SAP_OK;
}

static SapWorker *ringing_worker(const char *name)
{
    SapEffectKind kind = {.size = sizeof kind, .kind = "ring", .function = ring};
    SapWorker *worker = scene_worker(&scene, name);
    ck_assert_int_eq(sap_worker_serve(worker, &kind), SAP_OK);
    return worker;
}

static void register_module(void)
{
    rings = 0;
    last_payload[0] = 0;
    ck_assert_int_eq(sap_world_module_register(&module), SAP_OK);
}

static void set_up(void)
{
    register_module();
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void set_up_beds(void)
{
    register_module();
    store_beds_start(&beds);
}

static void tear_down_beds(void)
{
    store_beds_end(&beds);
}

/* The reaper looks twice a second. */
static void reap(SapWorker *worker)
{
    scene_pass_ms(&scene, SECOND_MS);
    scene_run_role(worker, SAP_ROLE_REAPER);
}

static int try_send(const char *world, const char *name)
{
    SapIngress item = {.size = sizeof item, .name = name};
    return sap_enqueue_ingress(scene.universe, world, &item, NULL);
}

static void expect_result(const char *world, bool failed, const char *text, uint64_t height)
{
    SapReply *result = NULL;
    ck_assert_int_eq(sap_world_result_wait(scene.universe, world, 0, &result), SAP_OK);
    ck_assert_int_eq(result->failed, failed);
    ck_assert_str_eq(result->payload, text);
    ck_assert_uint_eq(result->payload_len, strlen(text));
    ck_assert_uint_eq(result->height, height);
    sap_reply_free(result);
}

/* ---- Done ---------------------------------------------------------------------------------------- */

START_TEST(a_world_that_is_done_has_a_result_and_takes_nothing_more)
{
    SapReply *result = NULL;
    SceneLetter letters[SCENE_LETTERS];
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *worker = ringing_worker("a");
    ck_assert_int_eq(sap_world_result_wait(universe, "w", 0, &result), SAP_CONFLICT);
    scene_create(&scene, "w", "ends");
    scene_send(&scene, "w", "effect", "one");
    scene_send(&scene, "w", "timer", "two");
    scene_send(&scene, "w", "x", "three");
    scene_run(worker);
    ck_assert_int_eq(sap_world_result_wait(universe, "w", 0, &result), SAP_NOTFOUND);
    ck_assert_ptr_null(result);
    scene_send(&scene, "w", "done", "four");
    scene_send(&scene, "w", "x", "five"); /* it comes too late */
    scene_run(worker);
    expect_result("w", false, "{\"a\":2,\"b\":1}", 5);
    SapWorldInfo info = scene_info(&scene, "w");
    ck_assert_int_eq(info.status, SAP_WORLD_DONE);
    ck_assert_str_eq(info.holder, "");
    ck_assert_uint_eq(info.height, 5);
    ck_assert(!info.drained);
    ck_assert_uint_eq(scene_stats(worker).held, 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), 0);
    ck_assert_int_eq(try_send("w", "x"), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_resume(universe, "w"), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_pause(universe, "w", ""), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_create(universe, "w", "ends", SAP_ENCODING_JSON, NULL, 0),
                     SAP_EXISTS);
    ck_assert_int_eq(sap_world_cancel_request(universe, "w", NULL, NULL), SAP_NOTFOUND);
    reap(worker);
    ck_assert(scene_info(&scene, "w").drained);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_str_eq(letters[0].id, "five");
    ck_assert_str_eq(letters[0].error, "the world is done");
    ck_assert_int_eq(sap_world_reply_wait(universe, "w", "five", 0, &result), SAP_OK);
    ck_assert(result->failed);
    sap_reply_free(result);
    /* Its timer is gone, and what it asked for is done, without a receipt. */
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TIMERS_DUE), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TIMERS_DEDUPE), 0);
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    ck_assert_uint_eq(rings, 2);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_DEDUPE), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_INFLIGHT), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 0);
    scene_run(worker);
    expect_result("w", false, "{\"a\":2,\"b\":1}", 5);
    /* Deleted, it has none any more, and can be made again. */
    ck_assert_int_eq(sap_world_delete(universe, "w", ""), SAP_OK);
    ck_assert(!scene_info(&scene, "w").drained);
    reap(worker);
    ck_assert(scene_info(&scene, "w").drained);
    ck_assert_int_eq(sap_world_result_wait(universe, "w", 0, &result), SAP_CONFLICT);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_RESULTS), 0);
    scene_create(&scene, "w", "ends");
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 6);
    ck_assert_int_eq(sap_world_result_wait(universe, "w", 0, &result), SAP_NOTFOUND);
    scene_close(&scene);
}
END_TEST

/* The transaction of the drain before which somebody deletes the world. */
static uint32_t delete_at;

static void delete_at_begin(SapStoreCall call)
{
    if (call == SAP_STORE_CALL_BEGIN && delete_at > 0 && --delete_at == 0) {
        ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    }
}

static void send_numbered(const char *name, uint32_t number)
{
    char id[16];
    (void)snprintf(id, sizeof id, "%" PRIu32, number);
    scene_send(&scene, "w", name, id);
}

START_TEST(a_world_that_is_deleted_while_it_is_emptied_as_a_done_one_keeps_nothing)
{
    enum { MOST_BEGINS = 100 };
    SapWorker *worker = ringing_worker("a");
    uint32_t begins = 0;
    for (bool deleted = true; deleted; begins++) {
        bool drained = false;
        ck_assert_uint_lt(begins, MOST_BEGINS);
        scene_create(&scene, "w", "ends");
        send_numbered("effect", 3 * begins);
        send_numbered("done", 3 * begins + 1);
        send_numbered("x", 3 * begins + 2);
        scene_run(worker);
        ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_DONE);
        delete_at = begins + 1;
        scene.on_call = delete_at_begin;
        for (int i = 0; i < MOST_BEGINS && !drained; i++) {
            ck_assert_int_eq(sap_world_drain(scene.universe, "w", 0, &drained), SAP_OK);
        }
        scene.on_call = NULL;
        deleted = delete_at == 0;
        ck_assert(drained && scene_info(&scene, "w").drained);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_RESULTS), !deleted);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_PENDING), deleted ? 0 : 2);
    }
    printf("universe_ends: deleted before each of %" PRIu32 " transactions of a drain\n",
           begins - 1);
    ck_assert_uint_gt(begins, 3);
}
END_TEST

START_TEST(a_step_that_is_rejected_finishes_nothing)
{
    SapReply *result = NULL;
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ends");
    scene_send(&scene, "w", "fail", "one");
    scene_send(&scene, "w", "x", "two");
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 3);
    ck_assert_int_eq(sap_world_result_wait(scene.universe, "w", 0, &result), SAP_NOTFOUND);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TAGS), 0);
}
END_TEST

/* Whatever becomes of the last commit, the world is done once, and what was sent is not lost. */
START_TEST(a_last_step_of_unknown_outcome_happens_once)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_LOST_BEFORE, SAP_STORE_FAULT_LOST_AFTER};
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "v", "ends");
    scene_create(&scene, "w", "ends");
    scene_run(worker);
    scene_send(&scene, "w", "done", "one");
    scene_send(&scene, "v", "x", "two"); /* in the same batch */
    scene.fault_call = SAP_STORE_CALL_COMMIT;
    scene.fault = faults[_i];
    scene.fault_times = 1;
    for (int i = 0; i < 4; i++) {
        bool busy = false;
        (void)sap_worker_step(worker, &busy);
        scene_pass_ms(&scene, SECOND_MS);
    }
    scene_run(worker);
    ck_assert_uint_eq(scene.fault_times, 0);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_DONE);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    ck_assert_uint_eq(scene_info(&scene, "v").height, 2);
    expect_result("w", false, "{\"a\":2,\"b\":1}", 2);
    scene_send(&scene, "v", "x", "three");
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "v").height, 3);
}
END_TEST

/* A worker whose world was taken away says nothing of its end. */
START_TEST(a_stale_worker_finishes_nothing)
{
    static SceneExecutor executor;
    SapReply *result = NULL;
    SapWorker *worker = scene_worker(&scene, "a");
    executor = (SceneExecutor){.held = NULL};
    scene_executor_use(&executor, worker);
    scene_create(&scene, "w", "ends");
    scene_run(worker);
    executor.held = "w";
    scene_send(&scene, "w", "done", "one");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", "wait"), SAP_OK);
    executor.held = NULL;
    scene_release(&executor, "w");
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED);
    ck_assert_int_eq(sap_world_result_wait(scene.universe, "w", 0, &result), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    expect_result("w", false, "{\"a\":2,\"b\":1}", 2);
}
END_TEST

START_TEST(many_worlds_finish_at_once)
{
    enum { WORLDS = 100 };
    SapWorkerOptions options = {.size = sizeof options, .name = "a", .max_worlds_per_commit = 24};
    SapWorker *worker = scene_worker_with(&scene, &options);
    char name[16];
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "w%03d", i);
        scene_create(&scene, name, "ends");
    }
    scene_run(worker);
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "w%03d", i);
        scene_send(&scene, name, "done", "one");
    }
    scene_run(worker);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_RESULTS), WORLDS);
    ck_assert_uint_eq(scene_stats(worker).fenced, 0);
    reap(worker);
    ck_assert(scene_info(&scene, "w099").drained);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), WORLDS); /* of the ids */
}
END_TEST

/* ---- Tags ---------------------------------------------------------------------------------------- */

typedef struct Found {
    uint32_t count;
    char text[256];
} Found;

static int note_found(void *ctx, const char *name, const SapWorldInfo *info)
{
    Found *found = (Found *)ctx;
    (void)info;
    size_t len = strlen(found->text);
    (void)snprintf(found->text + len, sizeof found->text - len, "%s ", name);
    found->count++;
    return SAP_OK;
}

static int note_tag(void *ctx, const char *name, const char *value)
{
    Found *found = (Found *)ctx;
    size_t len = strlen(found->text);
    (void)snprintf(found->text + len, sizeof found->text - len, "%s=%s ", name, value);
    found->count++;
    return SAP_OK;
}

static const char *find_tagged(const char *tag, const char *prefix, uint32_t statuses)
{
    static Found found;
    static SapListEnd end;
    SapListQuery query = {
        .size = sizeof query, .tag = tag, .prefix = prefix, .statuses = statuses, .limit = 1};
    found = (Found){.count = 0};
    do {
        ck_assert_int_eq(sap_worlds_list(scene.universe, &query, note_found, &found, &end), SAP_OK);
        query.after = end.next;
    } while (end.more);
    return found.text;
}

static const char *tags_of(const char *world)
{
    static Found found;
    found = (Found){.count = 0};
    ck_assert_int_eq(sap_world_tags(scene.universe, world, note_tag, &found), SAP_OK);
    return found.text;
}

START_TEST(worlds_are_found_by_their_tags)
{
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapWorker *worker = scene_worker(&scene, "a");
    static const char *const names[] = {"va", "wa", "wb"};
    for (size_t i = 0; i < 3; i++) {
        scene_create(&scene, names[i], "ends");
        scene_send(&scene, names[i], "tag", i == 2 ? "bob" : "ann");
    }
    scene_run(worker);
    ck_assert_str_eq(find_tagged("urgent", NULL, 0), "va wa wb ");
    ck_assert_str_eq(find_tagged("customer=ann", NULL, 0), "va wa ");
    ck_assert_str_eq(find_tagged("customer=ann", "w", 0), "wa ");
    ck_assert_str_eq(find_tagged("customer", NULL, 0), "");
    ck_assert_str_eq(find_tagged("customer=an", NULL, 0), "");
    ck_assert_str_eq(tags_of("wb"), "customer=bob urgent= ");
    /* Another value takes the place of the one before, also in the same cycle; the same one is no change. */
    scene_send(&scene, "wb", "tag", "cid");
    scene_send(&scene, "wb", "tag", "ann");
    scene_send(&scene, "wb", "tag", "cid");
    scene_send(&scene, "wb", "tag", "dan");
    scene_send(&scene, "wa", "untag", "urgent");
    scene_send(&scene, "wa", "untag", "nothing");
    scene_run(worker);
    ck_assert_str_eq(find_tagged("customer=bob", NULL, 0), "");
    ck_assert_str_eq(find_tagged("customer=cid", NULL, 0), "");
    ck_assert_str_eq(find_tagged("customer=ann", NULL, 0), "va wa ");
    ck_assert_str_eq(find_tagged("customer=dan", NULL, 0), "wb ");
    ck_assert_str_eq(find_tagged("urgent", NULL, 0), "va wb ");
    ck_assert_str_eq(tags_of("wa"), "customer=ann ");
    ck_assert_int_eq(scene_info(&scene, "wa").status, SAP_WORLD_PAUSED); /* SAP_NOTFOUND */
    ck_assert_int_eq(sap_world_resume_skip(scene.universe, "wa"), SAP_OK);
    /* A done world has its tags; one that is deleted loses them. */
    scene_send(&scene, "wb", "done", "z");
    scene_run(worker);
    reap(worker);
    ck_assert_str_eq(find_tagged("urgent", NULL, 1u << SAP_WORLD_DONE), "wb ");
    ck_assert_int_eq(sap_world_delete(scene.universe, "wb", ""), SAP_OK);
    reap(worker);
    ck_assert_str_eq(find_tagged("urgent", NULL, 0), "va ");
    ck_assert_str_eq(tags_of("wb"), "");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_TAGS), 3);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TAGS), 3);
    scene_close(&scene);
}
END_TEST

static int tag_codes[8];

static int on_limits(SapWorld *world, const SapEvent *event)
{
    char name[200];
    (void)event;
    memset(name, 'x', sizeof name);
    name[129] = 0;
    tag_codes[0] = sap_world_tag(world, name, NULL);
    name[127] = 0;
    tag_codes[1] = sap_world_tag(world, name, "y");
    tag_codes[2] = sap_world_tag(world, "a=b", NULL);
    tag_codes[3] = sap_world_tag(world, "", NULL);
    tag_codes[4] = sap_world_tag(world, "a", "\xff");
    tag_codes[5] = sap_world_tag(NULL, "a", NULL);
    for (int i = 0; i < 64; i++) {
        (void)snprintf(name, sizeof name, "t%d", i);
        ck_assert_int_eq(sap_world_tag(world, name, NULL), SAP_OK);
    }
    tag_codes[6] = sap_world_tag(world, "more", NULL);
    tag_codes[7] = sap_world_tag(world, "t1", "new");
    return SAP_OK;
}

START_TEST(a_tag_that_is_none_is_refused)
{
    static const int expected[8] = {SAP_INVALID, SAP_INVALID, SAP_INVALID, SAP_INVALID,
                                    SAP_INVALID, SAP_ERROR,   SAP_FULL,    SAP_OK};
    static SapWorldModule limits = {.name = "limits", .handler = on_limits};
    ck_assert_int_eq(sap_world_module_register(&limits), SAP_OK);
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "limits");
    scene_run(worker);
    for (int i = 0; i < 8; i++) {
        ck_assert_int_eq(tag_codes[i], expected[i]);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_TAGS), 64);
    ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    reap(worker);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_TAGS), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TAGS), 0);
    ck_assert(scene_info(&scene, "w").drained);
}
END_TEST

/* ---- Cancelling ---------------------------------------------------------------------------------- */

START_TEST(a_world_that_is_asked_to_end_decides_how)
{
    SapReply *result = NULL;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_world_cancel_request(scene.universe, "w", NULL, "x"), SAP_NOTFOUND);
    scene_create(&scene, "w", "ends");
    ck_assert_int_eq(sap_world_cancel_request(scene.universe, "w", "c", "no \"more\"\n\\"), SAP_OK);
    ck_assert_int_eq(sap_world_cancel_request(scene.universe, "w", "c", "no \"more\"\n\\"), SAP_OK);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 2); /* the creation, and one */
    scene_run(worker);
    ck_assert_str_eq(last_payload, "\"no \\\"more\\\"\\n\\\\\"");
    expect_result("w", true, "\"stopped\"", 2);
    ck_assert_int_eq(sap_world_cancel_request(scene.universe, "w", NULL, "\xff"), SAP_INVALID);
    ck_assert_int_eq(sap_world_cancel_request(NULL, "w", NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_world_result_wait(scene.universe, "", 0, &result), SAP_INVALID);
    ck_assert_int_eq(sap_world_result_wait(scene.universe, "w", 0, NULL), SAP_ERROR);
    scene_close(&scene);
}
END_TEST

/* ---- Queries ------------------------------------------------------------------------------------- */

static int native_ctx;

static int on_given(SapWorld *world, const SapEvent *event)
{
    ck_assert_ptr_eq(sap_world_module_ctx(world), &native_ctx);
    ck_assert_int_eq(event->kind, SAP_EVENT_QUERY);
    return sap_world_reply(world, event->reply_to, SAP_ENCODING_RAW, event->payload,
                           event->payload_len);
}

START_TEST(a_query_reads_the_newest_state_and_changes_nothing)
{
    SapReply *reply = NULL;
    SapQuery query = {.size = sizeof query, .name = "n"};
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_NOTFOUND);
    scene_create(&scene, "w", "ends");
    for (int i = 0; i < 3; i++) {
        scene_run(worker);
        for (int strong = 0; strong < 2; strong++) {
            char text[8];
            query.strong = strong != 0;
            (void)snprintf(text, sizeof text, "%d", i + 1); /* the creation counts too */
            ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_OK);
            ck_assert_str_eq(reply->payload, text);
            ck_assert_uint_eq(reply->height, (uint64_t)i + 1);
            ck_assert(!reply->failed);
            sap_reply_free(reply);
        }
        scene_send(&scene, "w", "x", i == 0 ? "a" : i == 1 ? "b" : "c");
    }
    scene_run(worker);
    SapWorldInfo info = scene_info(&scene, "w");
    ck_assert_uint_eq(info.height, 4);
    query.name = "fail";
    ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_OK);
    ck_assert(reply->failed);
    ck_assert_str_eq(reply->payload, "no answer");
    sap_reply_free(reply);
    query.name = "silent";
    ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_NOTFOUND);
    query = (SapQuery){.size = sizeof query,
                       .handler = on_given,
                       .module_ctx = &native_ctx,
                       .payload = "{\"b\":1, \"a\":0}",
                       .payload_len = 14};
    ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_OK);
    ck_assert_str_eq(reply->payload, "{\"a\":0,\"b\":1}");
    sap_reply_free(reply);
    query.payload = "{";
    query.payload_len = 1;
    ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_INVALID);
    scene_create(&scene, "v", "nobody");
    ck_assert_int_eq(sap_world_query(universe, "v", NULL, &reply), SAP_CONFLICT);
    ck_assert_int_eq(sap_world_query(universe, "v", NULL, NULL), SAP_ERROR);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_REPLY), 0); /* nothing was written */
    /* Of a done world too, and of one that nobody runs. */
    scene_send(&scene, "w", "done", "z");
    scene_run(worker);
    query = (SapQuery){.size = sizeof query, .strong = true};
    ck_assert_int_eq(sap_world_query(universe, "w", &query, &reply), SAP_OK);
    ck_assert_str_eq(reply->payload, "4");
    ck_assert_uint_eq(reply->height, 5);
    sap_reply_free(reply);
    scene_close(&scene);
}
END_TEST

static uint32_t scans;

static void count_scan(SapStoreCall call)
{
    scans += call == SAP_STORE_CALL_SCAN;
}

/* Asks for n, which must be that, and counts the scans of the store that it takes. */
static uint32_t scans_of_query(const char *n)
{
    SapReply *reply = NULL;
    SapQuery query = {.size = sizeof query, .name = "n"};
    scans = 0;
    scene.on_call = count_scan;
    ck_assert_int_eq(sap_world_query(scene.universe, "w", &query, &reply), SAP_OK);
    scene.on_call = NULL;
    ck_assert_str_eq(reply->payload, n);
    sap_reply_free(reply);
    return scans;
}

START_TEST(a_second_query_reads_only_what_is_new)
{
    enum { STEPS = 300 };
    SapWorker *worker = scene_worker(&scene, "a");
    bool done = false;
    char name[16];
    scene_create(&scene, "w", "ends");
    for (int i = 1; i < STEPS; i++) {
        scene_send(&scene, "w", "x", NULL);
    }
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, STEPS);
    ck_assert_uint_ge(scans_of_query("300"), 4); /* of 64 entries each */
    ck_assert_uint_eq(scans_of_query("300"), 0);
    scene_send(&scene, "w", "x", NULL);
    scene_run(worker);
    ck_assert_uint_eq(scans_of_query("301"), 1);
    /* One that was created again is another world. */
    ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    while (!done) {
        ck_assert_int_eq(sap_world_drain(scene.universe, "w", 0, &done), SAP_OK);
    }
    scene_create(&scene, "w", "ends");
    ck_assert_uint_eq(scans_of_query("0"), 0);
    scene_run(worker);
    ck_assert_uint_eq(scans_of_query("1"), 1);
    /* Copies of more worlds than are kept. */
    for (int i = 0; i < 40; i++) {
        SapReply *reply = NULL;
        (void)snprintf(name, sizeof name, "v%d", i);
        scene_create(&scene, name, "ends");
        scene_run(worker);
        ck_assert_int_eq(sap_world_query(scene.universe, name, NULL, &reply), SAP_OK);
        sap_reply_free(reply);
    }
    ck_assert_uint_eq(scans_of_query("1"), 1);
    ck_assert_uint_eq(scans_of_query("1"), 0);
}
END_TEST

static SapWorker *stepping;
static uint32_t moves; /* that are left */

/* While it is asked the world goes on. */
static int on_moving(SapWorld *world, const SapEvent *event)
{
    if (moves > 0) {
        moves--;
        scene_send(&scene, "w", "x", NULL);
        scene_run(stepping);
    }
    uint64_t height = sap_world_height(world);
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRIu64, height);
    return sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, (size_t)len);
}

START_TEST(a_strong_query_is_of_the_newest_step_when_it_returns)
{
    SapReply *reply = NULL;
    SapQuery query = {.size = sizeof query, .handler = on_moving};
    stepping = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ends");
    scene_run(stepping);
    moves = 1;
    ck_assert_int_eq(sap_world_query(scene.universe, "w", &query, &reply), SAP_OK);
    ck_assert_uint_eq(reply->height, 1); /* of when it began */
    sap_reply_free(reply);
    moves = 3;
    query.strong = true;
    ck_assert_int_eq(sap_world_query(scene.universe, "w", &query, &reply), SAP_OK);
    ck_assert_uint_eq(reply->height, 5);
    ck_assert_str_eq(reply->payload, "5");
    sap_reply_free(reply);
    moves = 100;
    ck_assert_int_eq(sap_world_query(scene.universe, "w", &query, &reply), SAP_BUSY);
}
END_TEST

/* ---- Calls that are made once ------------------------------------------------------------------- */

static SapOnce once_of(const char *key, const char *request)
{
    return (SapOnce){.size = sizeof(SapOnce),
                     .scope = "POST /worlds of ann",
                     .key = key,
                     .request = request,
                     .request_len = strlen(request)};
}

START_TEST(a_creation_with_a_key_happens_once)
{
    bool reused = true;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *worker = scene_worker(&scene, "a");
    SapOnce once = once_of("k", "w");
    SapOnce other = once_of("k", "v");
    SapOnce late = once_of("l", "w");
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_world_create_once(universe, "w", "ends", SAP_ENCODING_JSON, NULL, 0,
                                               &once, &reused),
                         SAP_OK);
        ck_assert(!reused);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 1);
    ck_assert_int_eq(
        sap_world_create_once(universe, "v", "ends", SAP_ENCODING_JSON, NULL, 0, &other, &reused),
        SAP_EXISTS);
    ck_assert(reused);
    /* The world is there by another call, which leaves nothing of this one. */
    ck_assert_int_eq(
        sap_world_create_once(universe, "w", "ends", SAP_ENCODING_JSON, NULL, 0, &late, &reused),
        SAP_EXISTS);
    ck_assert(!reused);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEMPOTENCY), 1);
    scene_run(worker);
    ck_assert_int_eq(sap_world_delete(universe, "w", ""), SAP_OK);
    reap(worker);
    ck_assert_int_eq(
        sap_world_create_once(universe, "w", "ends", SAP_ENCODING_JSON, NULL, 0, &once, NULL),
        SAP_OK);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_DELETED); /* not again */
    ck_assert_int_eq(
        sap_world_create_once(universe, "v", "ends", SAP_ENCODING_JSON, NULL, 0, NULL, NULL),
        SAP_ERROR);
    once.scope = "";
    ck_assert_int_eq(
        sap_world_create_once(universe, "v", "ends", SAP_ENCODING_JSON, NULL, 0, &once, NULL),
        SAP_INVALID);
    if (_i == STORE_BED_MEMORY) {
        scene_pass_ms(&scene, UINT64_C(25) * 3600 * SECOND_MS);
        reap(worker);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEMPOTENCY), 0);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), 0);
    }
    scene_close(&scene);
}
END_TEST

START_TEST(a_creation_of_unknown_outcome_happens_once)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_LOST_BEFORE, SAP_STORE_FAULT_LOST_AFTER};
    SapOnce once = once_of("k", "w");
    scene.fault_call = SAP_STORE_CALL_COMMIT;
    scene.fault = faults[_i];
    scene.fault_times = 1;
    ck_assert_int_eq(
        sap_world_create_once(scene.universe, "w", "ends", SAP_ENCODING_JSON, NULL, 0, &once, NULL),
        SAP_OK);
    ck_assert_uint_eq(scene.fault_times, 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 1);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEMPOTENCY), 1);
}
END_TEST

START_TEST(the_first_answer_to_a_key_stays)
{
    SapReply *answer = NULL;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapOnce once = once_of("k", "one");
    SapOnce other = once_of("k", "two");
    ck_assert_int_eq(sap_once_get(universe, &once, &answer), SAP_NOTFOUND);
    ck_assert_int_eq(sap_once_put(universe, &once, "first", 5, &answer), SAP_OK);
    ck_assert_ptr_null(answer);
    ck_assert_int_eq(sap_once_put(universe, &once, "second", 6, &answer), SAP_OK);
    ck_assert_str_eq(answer->payload, "first");
    sap_reply_free(answer);
    ck_assert_int_eq(sap_once_put(universe, &once, "third", 5, NULL), SAP_OK);
    ck_assert_int_eq(sap_once_get(universe, &once, &answer), SAP_OK);
    ck_assert_str_eq(answer->payload, "first");
    sap_reply_free(answer);
    ck_assert_int_eq(sap_once_get(universe, &other, &answer), SAP_EXISTS);
    ck_assert_int_eq(sap_once_put(universe, &other, "x", 1, NULL), SAP_EXISTS);
    other.scope = "another";
    ck_assert_int_eq(sap_once_get(universe, &other, &answer), SAP_NOTFOUND);
    ck_assert_int_eq(sap_once_put(universe, &other, "x", SAP_WORLD_MAX_VALUE + 1, NULL), SAP_FULL);
    ck_assert_int_eq(sap_once_put(universe, NULL, "x", 1, NULL), SAP_ERROR);
    other.key = NULL;
    ck_assert_int_eq(sap_once_put(universe, &other, "x", 1, NULL), SAP_INVALID);
    scene_close(&scene);
}
END_TEST

/* ---- Without memory ------------------------------------------------------------------------------ */

#define TRY(call)                                                                         \
    do {                                                                                  \
        int try_rc = (call);                                                              \
        EXPECT(try_rc == SAP_OK || try_rc == SAP_NOMEM, "%s returned %d", #call, try_rc); \
        if (try_rc != SAP_OK) {                                                           \
            try_rc = (call);                                                              \
        }                                                                                 \
        EXPECT(try_rc == SAP_OK, #call);                                                  \
    } while (0)

static void run_until_idle(SapWorker *worker)
{
    int idle = 0;
    for (int i = 0; i < 100 && idle < 2; i++) {
        bool busy = false;
        int rc = sap_worker_step(worker, &busy);
        EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "step returned %d", rc);
        idle = busy || rc != SAP_OK ? 0 : idle + 1;
        manual_clock_advance_ms(&scene.manual, 2 * SECOND_MS);
        rc = sap_worker_renew(worker);
        EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "renew returned %d", rc);
    }
    EXPECT(idle == 2, "there is no end of work");
}

static bool fail_nth(uint64_t nth)
{
    SapReply *reply = NULL;
    SapQuery query = {.size = sizeof query, .handler = on_given, .module_ctx = &native_ctx};
    bool done = false;
    expect_context("allocation %" PRIu64, nth);
    SapOnce once = once_of("k", "u");
    scene_open(&scene, "memory:", false);
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "ends");
    scene_send(&scene, "w", "timer", "t");
    scene_send(&scene, "w", "tag", "ann");
    fault_reset();
    fault_arm_alloc(nth);
    TRY(sap_world_create_once(scene.universe, "u", "ends", SAP_ENCODING_JSON, NULL, 0, &once,
                              NULL));
    once.key = "l";
    TRY(sap_once_put(scene.universe, &once, "x", 1, NULL));
    TRY(sap_once_get(scene.universe, &once, &reply));
    sap_reply_free(reply);
    run_until_idle(worker);
    TRY(sap_world_query(scene.universe, "w", &query, &reply));
    EXPECT(reply->height == 3, "height %" PRIu64, reply->height);
    sap_reply_free(reply);
    TRY(sap_world_cancel_request(scene.universe, "w", "id", "why"));
    run_until_idle(worker);
    TRY(sap_world_result_wait(scene.universe, "w", 0, &reply));
    EXPECT(reply->failed && reply->height == 4, "height %" PRIu64, reply->height);
    sap_reply_free(reply);
    while (!done) {
        TRY(sap_world_drain(scene.universe, "w", 0, &done));
    }
    EXPECT(scene_rows(&scene, WIT_DBI_TIMERS_DUE) == 0, "a timer is left");
    TRY(sap_world_delete(scene.universe, "w", ""));
    for (done = false; !done;) {
        TRY(sap_world_drain(scene.universe, "w", 0, &done));
    }
    bool fired = fault_fired() > 0;
    fault_reset();
    EXPECT(scene_rows(&scene, WIT_DBI_TAGS) == 0 && scene_rows(&scene, WIT_DBI_RESULTS) == 0,
           "marks are left");
    scene_close(&scene);
    return fired;
}

START_TEST(every_allocation_that_fails_is_said_and_a_world_ends_once)
{
    uint64_t n = 1;
    register_module();
    while (n < MOST_FAULTS && fail_nth(n)) {
        n++;
    }
    ck_assert_uint_lt(n, MOST_FAULTS);
    ck_assert_uint_gt(n, 100);
    (void)printf("universe_ends: %" PRIu64 " allocations failed\n", n - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_ends");
    TCase *every = tcase_create("on every store");
    TCase *memory = tcase_create("in memory");
    TCase *faults = tcase_create("without memory");
    tcase_add_checked_fixture(every, set_up_beds, tear_down_beds);
    tcase_set_timeout(every, TIMEOUT_S);
    tcase_add_loop_test(every, a_world_that_is_done_has_a_result_and_takes_nothing_more, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, worlds_are_found_by_their_tags, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, a_world_that_is_asked_to_end_decides_how, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, a_creation_with_a_key_happens_once, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, the_first_answer_to_a_key_stays, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, a_query_reads_the_newest_state_and_changes_nothing, 0,
                        STORE_BED_MAX);
    suite_add_tcase(suite, every);
    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_set_timeout(memory, TIMEOUT_S);
    tcase_add_test(memory, a_world_that_is_deleted_while_it_is_emptied_as_a_done_one_keeps_nothing);
    tcase_add_test(memory, a_step_that_is_rejected_finishes_nothing);
    tcase_add_loop_test(memory, a_last_step_of_unknown_outcome_happens_once, 0, 2);
    tcase_add_loop_test(memory, a_creation_of_unknown_outcome_happens_once, 0, 2);
    tcase_add_test(memory, a_stale_worker_finishes_nothing);
    tcase_add_test(memory, many_worlds_finish_at_once);
    tcase_add_test(memory, a_tag_that_is_none_is_refused);
    tcase_add_test(memory, a_second_query_reads_only_what_is_new);
    tcase_add_test(memory, a_strong_query_is_of_the_newest_step_when_it_returns);
    suite_add_tcase(suite, memory);
    tcase_set_timeout(faults, TIMEOUT_S);
    tcase_add_test(faults, every_allocation_that_fails_is_said_and_a_world_ends_once);
    suite_add_tcase(suite, faults);
    return suite_run(suite);
}
