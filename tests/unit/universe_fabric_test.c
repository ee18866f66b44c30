/* Messages between worlds: delivered once, with one receipt; destinations that are not there, end, are created or
 * are full; too much that is outstanding. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_talk.h"
#include "universe/callers.h"

enum { TIMEOUT_S = 300, SECOND_MS = 1000, HOUR_MS = 3600 * 1000 };

static Scene scene;
static StoreBeds beds;
static SapWorker *worker;

/* Worlds a and b on a store of the bed. */
static bool begin(int bed)
{
    talk_bells = 0;
    if (!scene_open_bed(&scene, &beds, bed)) {
        return false;
    }
    worker = talk_worker(&scene, "worker");
    scene_create(&scene, "a", "talk");
    scene_create(&scene, "b", "talk");
    return true;
}

static void finish(void)
{
    talk_expect_nothing_left(&scene);
    scene_close(&scene);
}

static uint32_t count_letters(const char *world, const char *error)
{
    SceneLetter letters[SCENE_LETTERS];
    uint32_t count = scene_letters(&scene, world, letters);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(strstr(letters[i].error, error) != NULL, "'%s'", letters[i].error);
    }
    return count;
}

/* ---- Delivery -------------------------------------------------------------------------------- */

START_TEST(a_message_is_delivered_once_and_has_one_receipt)
{
    if (!begin(_i)) {
        return;
    }
    talk_do(&scene, "a", "send b hello ref=r body=hi header");
    talk_expect(&scene, worker, "b", "hello from a: hi;");
    talk_expect(&scene, worker, "a", "r ok ;");
    ck_assert_uint_eq(talk_outstanding(&scene, "a"), 0);
    talk_do(&scene, "a", "send b state.changed ref=r typed body=1\nsend a self ref=s");
    talk_expect(&scene, worker, "b", "hello from a: hi;state.changed from a: 1;");
    talk_settle(worker);
    const char *text = talk_row(&scene, "a", "text");
    EXPECT(strstr(text, "self from a: ;") != NULL && strstr(text, "s ok ;") != NULL, "'%s'", text);
    finish();
}
END_TEST

/* Sixteen deliveries in a transaction take all the guards that there are. */
START_TEST(forty_messages_of_one_step_are_each_delivered)
{
    enum { MESSAGES = 40 };
    char lines[MESSAGES * 16] = "";
    char heard[MESSAGES * 24] = "";
    begin(STORE_BED_MEMORY);
    talk_settle(worker);
    for (int i = 0; i < MESSAGES; i++) {
        (void)snprintf(lines + strlen(lines), sizeof lines - strlen(lines), "%ssend b hello",
                       i > 0 ? "\n" : "");
        (void)snprintf(heard + strlen(heard), sizeof heard - strlen(heard), "hello from a: ;");
    }
    talk_do(&scene, "a", lines);
    talk_expect(&scene, worker, "b", heard);
    finish();
}
END_TEST

START_TEST(what_is_said_of_a_message_travels_along)
{
    if (!begin(_i)) {
        return;
    }
    talk_do(&scene, "a", "send b hello header");
    talk_expect(&scene, worker, "b", "hello from a: ;");
    talk_settle(worker);
    talk_do(&scene, "b", "send b mine corr=other header");
    while (strstr(talk_row(&scene, "b", "text"), "mine") == NULL) {
        talk_step(worker);
    }
    ck_assert_str_eq(talk_seen.correlation_id, "other");
    ck_assert_str_eq(talk_seen.trace_parent, "00-trace-01");
    ck_assert_str_eq(talk_seen.header, "color=red");
    ck_assert_str_eq(talk_seen.from_world, "b");
    ck_assert_uint_eq(talk_seen.from_height, 3); /* create, hello, this */
    talk_settle(worker);
    finish();
}
END_TEST

/* The seed's deterministic test 4; universe_intents_test has the crashes in between. */
START_TEST(seed_deterministic_4_fabric_dedupe)
{
    if (!begin(_i)) {
        return;
    }
    talk_do(&scene, "a", "send b hello ref=r id=m1 body=1");
    talk_expect(&scene, worker, "a", "r ok ;");
    talk_do(&scene, "a", "send b hello ref=r id=m1 body=2\nsend b hello ref=s id=m1 body=3");
    talk_expect(&scene, worker, "a", "r ok ;r ok +;s ok +;");
    talk_do(&scene, "b", "send b hello id=m1 body=4"); /* another sender's id is another */
    talk_expect(&scene, worker, "b", "hello from a: 1;hello from b: 4;");
    ck_assert_uint_eq(scene_world_rows(&scene, WIT_DBI_FABRIC_DEDUPE, "b"), 2);
    if (_i != STORE_BED_MEMORY) { /* the others have clocks of their own */
        talk_settle(worker);
        finish();
        return;
    }
    scene_pass_ms(&scene, 23 * HOUR_MS);
    talk_settle(worker);
    talk_do(&scene, "a", "send b hello ref=r id=m1 body=5");
    talk_expect(&scene, worker, "a", "r ok ;r ok +;s ok +;r ok +;");
    scene_pass_ms(&scene, 2 * HOUR_MS);
    talk_settle(worker);
    ck_assert_uint_eq(scene_world_rows(&scene, WIT_DBI_FABRIC_DEDUPE, "b"), 0);
    talk_do(&scene, "a", "send b hello ref=r id=m1 body=6");
    talk_expect(&scene, worker, "b", "hello from a: 1;hello from b: 4;hello from a: 6;");
    scene_pass_ms(&scene, 25 * HOUR_MS);
    talk_settle(worker);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_FABRIC_DEDUPE), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), 0);
    finish();
}
END_TEST

START_TEST(a_message_may_be_delayed_and_cancelled_until_then)
{
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "send b hello ref=r delay_ms=5000\nsend b never ref=s delay_ms=5000");
    talk_settle(worker);
    scene_pass_ms(&scene, 4 * SECOND_MS);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "");
    talk_do(&scene, "a", "cancel s");
    talk_settle(worker);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    talk_expect(&scene, worker, "b", "hello from a: ;");
    talk_expect(&scene, worker, "a", "r ok ;");
    finish();
}
END_TEST

/* ---- Destinations ---------------------------------------------------------------------------- */

START_TEST(a_destination_that_takes_nothing_is_a_receipt_that_says_why)
{
    bool done = false;
    if (!begin(_i)) {
        return;
    }
    scene_create(&scene, "c", "talk");
    talk_settle(worker);
    EXPECT_RC(sap_world_delete(scene.universe, "b", "gone"), SAP_OK);
    talk_do(&scene, "c", "done");
    while (scene_info(&scene, "c").status != SAP_WORLD_DONE) {
        talk_step(worker);
    }
    talk_do(&scene, "a", "send nobody hello ref=n\nsend b hello ref=b\nsend c hello ref=c");
    while (talk_outstanding(&scene, "a") > 0 || talk_row(&scene, "a", "text")[0] == 0) {
        talk_step(worker);
    }
    const char *text = talk_row(&scene, "a", "text");
    EXPECT(strstr(text, "n error no_such_world;") != NULL &&
               strstr(text, "b error destination_deleted;") != NULL &&
               strstr(text, "c error destination_done;") != NULL,
           "'%s'", text);
    /* Nobody waits for this one. */
    talk_do(&scene, "a", "send nobody hello");
    while (count_letters("a", "no_such_world") == 0) {
        talk_step(worker);
    }
    ck_assert_uint_eq(count_letters("a", "no_such_world"), 1);
    for (int i = 0; i < 100 && !done; i++) {
        EXPECT_RC(sap_world_drain(scene.universe, "b", 0, &done), SAP_OK);
    }
    ck_assert(done);
    finish();
}
END_TEST

START_TEST(a_paused_world_takes_messages)
{
    if (!begin(_i)) {
        return;
    }
    talk_settle(worker);
    EXPECT_RC(sap_world_pause(scene.universe, "b", "a while"), SAP_OK);
    talk_do(&scene, "a", "send b hello ref=r");
    talk_expect(&scene, worker, "a", "r ok ;");
    EXPECT_RC(sap_world_resume(scene.universe, "b"), SAP_OK);
    talk_expect(&scene, worker, "b", "hello from a: ;");
    finish();
}
END_TEST

START_TEST(a_message_creates_its_destination_where_that_is_asked_for)
{
    bool drained = false;
    if (!begin(_i)) {
        return;
    }
    talk_do(&scene, "a", "send new hello ref=r create=talk body=1");
    talk_do(&scene, "b", "send new hello ref=r create=talk body=2"); /* two that create one world */
    talk_expect(&scene, worker, "a", "r ok ;");
    talk_expect(&scene, worker, "b", "r ok ;");
    talk_settle(worker);
    const char *text = talk_row(&scene, "new", "text");
    EXPECT(strcmp(text, "hello from a: 1;hello from b: 2;") == 0 ||
               strcmp(text, "hello from b: 2;hello from a: 1;") == 0,
           "'%s'", text);
    ck_assert_str_eq(scene_info(&scene, "new").module, "talk");
    EXPECT_RC(sap_world_delete(scene.universe, "new", "again"), SAP_OK);
    for (int i = 0; i < 100 && !drained; i++) {
        EXPECT_RC(sap_world_drain(scene.universe, "new", 0, &drained), SAP_OK);
    }
    talk_do(&scene, "a", "send new hello ref=s create=talk body=3");
    talk_expect(&scene, worker, "a", "r ok ;s ok ;");
    talk_expect(&scene, worker, "new", "hello from a: 3;");
    talk_do(&scene, "a", "send newer hello ref=n"); /* not asked for */
    talk_expect(&scene, worker, "a", "r ok ;s ok ;n error no_such_world;");
    finish();
}
END_TEST

START_TEST(a_destination_that_is_not_yet_emptied_is_waited_for)
{
    begin(STORE_BED_MEMORY);
    talk_settle(worker);
    EXPECT_RC(sap_world_delete(scene.universe, "b", "again"), SAP_OK);
    talk_do(&scene, "a", "send b hello ref=r create=talk");
    for (int i = 0; i < 10; i++) { /* nobody steps the reaper */
        scene_run_role(worker, SAP_ROLE_WORLDS);
        scene_run_role(worker, SAP_ROLE_EFFECTS);
    }
    ck_assert_uint_eq(talk_outstanding(&scene, "a"), 1);
    talk_settle(worker);
    scene_pass_ms(&scene, SECOND_MS);
    talk_expect(&scene, worker, "b", "hello from a: ;");
    talk_expect(&scene, worker, "a", "r ok ;");
    finish();
}
END_TEST

START_TEST(messages_of_a_world_that_has_finished_are_delivered_and_those_of_a_deleted_one_are_not)
{
    bool drained = false;
    begin(STORE_BED_MEMORY);
    scene_create(&scene, "c", "talk");
    talk_settle(worker);
    talk_do(&scene, "a", "send b bye ref=r delay_ms=1000\nsend nobody bye delay_ms=1000\ndone");
    talk_do(&scene, "c", "send b never ref=r delay_ms=1000");
    talk_settle(worker);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_PENDING), 3);
    EXPECT_RC(sap_world_delete(scene.universe, "c", "gone"), SAP_OK);
    for (int i = 0; i < 100 && !drained; i++) {
        EXPECT_RC(sap_world_drain(scene.universe, "c", 0, &drained), SAP_OK);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_PENDING), 2);
    scene_create(&scene, "c", "talk"); /* which has said nothing */
    talk_settle(worker);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    talk_expect(&scene, worker, "b", "bye from a: ;");
    finish();
}
END_TEST

/* As many as one transaction delivers, which needs more guards when it is built again. */
START_TEST(many_destinations_are_created_though_a_commit_conflicts)
{
    enum { WORLDS = 16 };
    char script[TALK_TEXT] = "";
    char name[16];
    bool busy = false;
    begin(STORE_BED_MEMORY);
    talk_settle(worker);
    for (int i = 0; i < WORLDS; i++) {
        size_t len = strlen(script);
        (void)snprintf(script + len, sizeof script - len, "%ssend new-%d hello create=talk",
                       i > 0 ? "\n" : "", i);
    }
    talk_do(&scene, "a", script);
    scene_run(worker);
    EXPECT_RC(sap_worker_step_role(worker, SAP_ROLE_EFFECTS, &busy), SAP_OK); /* claimed */
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_INFLIGHT), WORLDS);
    scene.fault_call = SAP_STORE_CALL_COMMIT;
    scene.fault = SAP_STORE_FAULT_CONFLICT;
    scene.fault_times = 1;
    EXPECT_RC(sap_worker_step_role(worker, SAP_ROLE_EFFECTS, &busy), SAP_OK);
    ck_assert_uint_eq(scene.fault_times, 0);
    talk_settle(worker);
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "new-%d", i);
        ck_assert_str_eq(talk_row(&scene, name, "text"), "hello from a: ;");
    }
    finish();
}
END_TEST

/* ---- When attempts fail ---------------------------------------------------------------------- */

/* Another worker claims what is due, and dies before it has delivered anything. */
static void lose_claims(uint32_t claims)
{
    bool busy = false;
    SapWorker *other = talk_worker(&scene, "other");
    EXPECT_RC(sap_worker_step_role(other, SAP_ROLE_EFFECTS, &busy), SAP_OK);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_INFLIGHT), claims);
    scene_kill(&scene, other);
}

static void pass_claims(void)
{
    for (int i = 0; i < 120; i++) {
        scene_pass_ms(&scene, SECOND_MS);
        talk_step(worker);
    }
}

START_TEST(what_a_world_has_sent_before_it_finished_outlives_who_delivers_it)
{
    begin(STORE_BED_MEMORY);
    talk_settle(worker);
    talk_do(&scene, "a", "send b bye ref=r\nsend b bye\ndone");
    scene_run(worker);
    lose_claims(2);
    pass_claims();
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "bye from a: ;bye from a: ;");
    finish();
}
END_TEST

START_TEST(what_a_world_has_sent_before_it_finished_waits_for_a_full_world)
{
    begin(STORE_BED_MEMORY);
    scene_leave(&scene, worker);
    scene.universe->max_inbox = 1;
    worker = talk_worker(&scene, "worker");
    talk_settle(worker);
    EXPECT_RC(sap_world_pause(scene.universe, "b", "it fills up"), SAP_OK);
    talk_say(&scene, "b", "one", "");
    talk_do(&scene, "a", "send b bye ref=r\ndone");
    talk_settle(worker);
    EXPECT_RC(sap_world_resume(scene.universe, "b"), SAP_OK);
    pass_claims();
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "one from : ;bye from a: ;");
    finish();
}
END_TEST

START_TEST(what_a_world_has_sent_goes_with_it_when_it_is_deleted_and_nobody_has_delivered_it)
{
    begin(STORE_BED_MEMORY);
    talk_settle(worker);
    talk_do(&scene, "a", "send b never ref=r");
    scene_run(worker);
    lose_claims(1);
    EXPECT_RC(sap_world_delete(scene.universe, "a", "gone"), SAP_OK);
    pass_claims();
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "");
    finish();
}
END_TEST

/* ---- Backpressure ---------------------------------------------------------------------------- */

START_TEST(a_full_inbox_refuses_messages_and_nothing_else)
{
    SapIngress item = {.size = sizeof item, .name = "hello", .id = "first"};
    SapIngressResult result;
    begin(STORE_BED_MEMORY);
    talk_settle(worker);
    scene.universe->max_inbox = 3;
    EXPECT_RC(sap_world_pause(scene.universe, "b", "it fills up"), SAP_OK);
    EXPECT_RC(sap_enqueue_ingress(scene.universe, "b", &item, NULL), SAP_OK);
    for (int i = 0; i < 2; i++) {
        talk_say(&scene, "b", "hello", "");
    }
    EXPECT_RC(sap_enqueue_ingress(scene.universe, "b", &item, &result), SAP_OK);
    ck_assert(result.duplicate); /* it is in the inbox: that is what is said */
    item.id = "another";
    EXPECT_RC(sap_enqueue_ingress(scene.universe, "b", &item, NULL), SAP_BUSY);
    item.id = NULL;
    EXPECT_RC(sap_enqueue_ingress(scene.universe, "b", &item, NULL), SAP_BUSY);
    CallerSend sends[2] = {{.world = "b", .item = item}, {.world = "b", .item = item}};
    sends[1].item.id = "first";
    callers_send(scene.universe, sends, 2);
    EXPECT_RC(sends[0].rc, SAP_BUSY);
    EXPECT_RC(sends[1].rc, SAP_OK);
    ck_assert(sends[1].result.duplicate);
    EXPECT_RC(sap_world_cancel_request(scene.universe, "b", NULL, NULL), SAP_OK);
    EXPECT_RC(sap_world_resume(scene.universe, "b"), SAP_OK);
    talk_settle(worker);
    scene_pass_ms(&scene, SECOND_MS);
    EXPECT_RC(sap_enqueue_ingress(scene.universe, "b", &item, NULL), SAP_OK);
    talk_settle(worker);
    finish();
}
END_TEST

START_TEST(a_message_to_a_full_world_is_tried_again_and_finally_refused)
{
    begin(STORE_BED_MEMORY);
    scene_leave(&scene, worker);
    scene.universe->max_inbox = 2;
    worker = talk_worker(&scene, "worker");
    talk_settle(worker);
    EXPECT_RC(sap_world_pause(scene.universe, "b", "it fills up"), SAP_OK);
    talk_say(&scene, "b", "one", "");
    talk_say(&scene, "b", "two", "");
    talk_do(&scene, "a", "send b hello ref=r\nsend b hello ref=s tries=2\nsend a self ref=t");
    talk_settle(worker);
    scene_pass_ms(&scene, SECOND_MS);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "a", "text"),
                     "self from a: ;t ok ;s error destination_full;");
    EXPECT_RC(sap_world_resume(scene.universe, "b"), SAP_OK);
    talk_settle(worker);
    scene_pass_ms(&scene, SECOND_MS);
    talk_expect(&scene, worker, "b", "one from : ;two from : ;hello from a: ;");
    EXPECT_RC(sap_world_pause(scene.universe, "b", "for ever"), SAP_OK);
    talk_say(&scene, "b", "one", "");
    talk_say(&scene, "b", "two", "");
    talk_do(&scene, "a", "send b hello ref=u\nsend b hello");
    talk_settle(worker);
    for (int i = 0; i < 600 && talk_outstanding(&scene, "a") > 0; i++) {
        talk_settle(worker);
        scene_pass_ms(&scene, SECOND_MS);
    }
    talk_settle(worker);
    ck_assert_str_eq(
        talk_row(&scene, "a", "text"),
        "self from a: ;t ok ;s error destination_full;r ok ;u error destination_full;");
    ck_assert_uint_eq(count_letters("a", "destination_full"), 1);
    EXPECT_RC(sap_world_resume(scene.universe, "b"), SAP_OK);
    talk_settle(worker);
    finish();
}
END_TEST

START_TEST(two_worlds_that_fill_each_other_get_receipts_and_nothing_is_stuck)
{
    enum { MESSAGES = 24 };
    uint32_t waiting = 1;
    begin(STORE_BED_MEMORY);
    scene_leave(&scene, worker);
    scene.universe->max_inbox = 4;
    scene.universe->max_outstanding = 3;
    worker = talk_worker(&scene, "worker");
    talk_settle(worker);
    for (int i = 0; i < MESSAGES; i++) {
        scene.universe->max_inbox = UINT32_MAX;
        talk_do(&scene, "a", "send b ignore tries=3\nsend b back tries=3");
        talk_do(&scene, "b", "send a ignore tries=3\nsend a back tries=3");
        scene.universe->max_inbox = 4;
    }
    for (int i = 0; i < 2000 && waiting > 0; i++) {
        /* They send messages back for ever: when all that was told is done, that is ended. */
        if (i == 1000) {
            EXPECT_RC(sap_world_pause(scene.universe, "a", "enough"), SAP_OK);
            EXPECT_RC(sap_world_delete(scene.universe, "a", "enough"), SAP_OK);
        }
        talk_step(worker);
        manual_clock_advance_ms(&scene.manual, 100);
        EXPECT_RC(sap_worker_renew(worker), SAP_OK);
        waiting = i > 1000 ? talk_outstanding(&scene, "b") +
                                 scene_world_rows(&scene, WIT_DBI_WORLD_INBOX, "b") +
                                 scene_world_rows(&scene, WIT_DBI_WORLD_INBOX, "a")
                           : 1;
    }
    ck_assert_uint_eq(waiting, 0);
    printf("universe_fabric: %" PRIu64 " steps of two worlds that fill each other\n",
           scene_info(&scene, "a").height + scene_info(&scene, "b").height);
    talk_settle(worker);
    finish();
}
END_TEST

START_TEST(messages_wait_while_too_much_is_outstanding_and_answers_do_not)
{
    begin(STORE_BED_MEMORY);
    scene_leave(&scene, worker);
    scene.universe->max_outstanding = 2;
    worker = talk_worker(&scene, "worker");
    talk_do(&scene, "a", "timer t1 ms=1000\ntimer t2 ms=2000");
    talk_say(&scene, "a", "hello", "1");
    talk_say(&scene, "a", "hello", "2");
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "a", "text"), "");
    EXPECT_RC(sap_world_cancel_request(scene.universe, "a", NULL, "control is never held back"),
              SAP_OK);
    uint64_t height = scene_info(&scene, "a").height;
    scene_pass_ms(&scene, 100);
    talk_settle(worker);
    ck_assert_uint_eq(scene_info(&scene, "a").height, height + 1);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run_role(worker, SAP_ROLE_TIMERS);
    talk_expect(&scene, worker, "a", "t1 fired;hello from : 1;hello from : 2;");
    scene_pass_ms(&scene, SECOND_MS);
    talk_expect(&scene, worker, "a", "t1 fired;hello from : 1;hello from : 2;t2 fired;");
    finish();
}
END_TEST

/* ---- Bad input ------------------------------------------------------------------------------- */

static const char long_name[] =
    "ref=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

START_TEST(a_message_that_is_none_is_refused_and_nothing_is_sent)
{
    char script[512];
    static const struct {
        const char *script;
        int rc;
    } cases[] = {
        {"send b hello ref=r\nsend b hello ref=r", SAP_EXISTS},
        {"send b hello typed body={", SAP_INVALID},
        {"ask b hello", SAP_INVALID}, /* a question needs a ref */
        {"send b hello tries=101", SAP_INVALID},
        {"send b hello create=\x01", SAP_INVALID},
    };
    begin(STORE_BED_MEMORY);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        talk_do(&scene, "a", cases[i].script);
        scene_run(worker);
        EXPECT(talk_seen.rc == cases[i].rc, "'%s': %d", cases[i].script, talk_seen.rc);
    }
    (void)snprintf(script, sizeof script, "send b hello %s", long_name);
    talk_do(&scene, "a", script);
    scene_run(worker);
    ck_assert_int_eq(talk_seen.rc, SAP_INVALID);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "a", "text"), "r ok ;");
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "hello from a: ;");
    finish();
}
END_TEST

static int send_nonsense(SapWorld *world, const SapEvent *event)
{
    SapEffect effect = {.size = sizeof effect, .kind = "fabric.send", .ref = "r"};
    SapSend none = {.size = sizeof none};
    SapSendReceipt receipt;
    if (event->kind == SAP_EVENT_RECEIPT) {
        ck_assert_str_eq(event->code, "bad_params");
        ck_assert_int_eq(sap_send_receipt_read(event, &receipt), SAP_INVALID);
        return sap_world_put(world, "code", 4, SAP_ENCODING_RAW, event->code, strlen(event->code));
    }
    ck_assert_int_eq(sap_world_send(world, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_world_send(NULL, &none), SAP_ERROR);
    ck_assert_int_eq(sap_world_send(world, &none), SAP_INVALID);
    ck_assert_int_eq(sap_world_ask(world, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_send_receipt_read(event, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_send_receipt_read(event, &receipt), SAP_INVALID);
    effect.params = "17";
    effect.params_len = 2;
    return sap_world_effect(world, &effect);
}

SAP_WORLD_MODULE("nonsense", send_nonsense);

START_TEST(params_that_do_not_decode_are_a_receipt_that_says_so)
{
    SapEffectKind kind = {.size = sizeof kind, .kind = "fabric.send"};
    begin(STORE_BED_MEMORY);
    kind.function = (SapEffectFunction)1;
    SapWorker *other = scene_worker(&scene, "other");
    EXPECT_RC(sap_worker_serve(other, &kind), SAP_EXISTS); /* it is the box's own */
    scene_create(&scene, "n", "nonsense");
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "n", "code"), "bad_params");
    finish();
}
END_TEST

static void set_up(void)
{
    store_beds_start(&beds);
}

static void tear_down(void)
{
    store_beds_end(&beds);
}

int main(void)
{
    Suite *suite = suite_create("universe_fabric");
    TCase *tcase = tcase_create("on every store");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, a_message_is_delivered_once_and_has_one_receipt, 0, STORE_BED_MAX);
    tcase_add_test(tcase, forty_messages_of_one_step_are_each_delivered);
    tcase_add_loop_test(tcase, what_is_said_of_a_message_travels_along, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, seed_deterministic_4_fabric_dedupe, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, a_destination_that_takes_nothing_is_a_receipt_that_says_why, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, a_paused_world_takes_messages, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, a_message_creates_its_destination_where_that_is_asked_for, 0,
                        STORE_BED_MAX);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("in memory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_message_may_be_delayed_and_cancelled_until_then);
    tcase_add_test(tcase, a_destination_that_is_not_yet_emptied_is_waited_for);
    tcase_add_test(
        tcase,
        messages_of_a_world_that_has_finished_are_delivered_and_those_of_a_deleted_one_are_not);
    tcase_add_test(tcase, many_destinations_are_created_though_a_commit_conflicts);
    tcase_add_test(tcase, what_a_world_has_sent_before_it_finished_outlives_who_delivers_it);
    tcase_add_test(tcase, what_a_world_has_sent_before_it_finished_waits_for_a_full_world);
    tcase_add_test(
        tcase, what_a_world_has_sent_goes_with_it_when_it_is_deleted_and_nobody_has_delivered_it);
    tcase_add_test(tcase, a_full_inbox_refuses_messages_and_nothing_else);
    tcase_add_test(tcase, a_message_to_a_full_world_is_tried_again_and_finally_refused);
    tcase_add_test(tcase, two_worlds_that_fill_each_other_get_receipts_and_nothing_is_stuck);
    tcase_add_test(tcase, messages_wait_while_too_much_is_outstanding_and_answers_do_not);
    tcase_add_test(tcase, a_message_that_is_none_is_refused_and_nothing_is_sent);
    tcase_add_test(tcase, params_that_do_not_decode_are_a_receipt_that_says_so);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
