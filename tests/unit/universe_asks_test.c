/* Questions to other worlds and promises to callers outside: one receipt each, whatever comes first. */
#include <stdio.h>
#include <string.h>

#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_talk.h"

enum { TIMEOUT_S = 300, SECOND_MS = 1000 };

static Scene scene;
static StoreBeds beds;
static SapWorker *worker;

static bool begin(int bed)
{
    talk_bells = 0;
    if (!scene_open_bed(&scene, &beds, bed)) {
        return false;
    }
    worker = talk_worker(&scene, "worker");
    scene_create(&scene, "a", "talk");
    scene_create(&scene, "b", "talk");
    talk_settle(worker);
    return true;
}

static void finish(void)
{
    ck_assert_uint_eq(talk_outstanding(&scene, "a"), 0);
    talk_expect_nothing_left(&scene);
    scene_close(&scene);
}

/* ---- Questions ------------------------------------------------------------------------------- */

START_TEST(a_question_has_its_reply_at_once_or_in_a_later_step)
{
    if (!begin(_i)) {
        return;
    }
    talk_do(&scene, "a", "ask b question ref=q body=42\nask b later ref=l");
    while (strstr(talk_row(&scene, "a", "text"), "q ok  42;") == NULL ||
           talk_row(&scene, "b", "asked")[0] == 0) {
        talk_step(worker);
    }
    ck_assert_uint_eq(talk_outstanding(&scene, "a"), 1);
    talk_do(&scene, "b", "answer\nanswer"); /* the second one is ignored */
    talk_expect(&scene, worker, "a", "q ok  42;l ok  late;");
    ck_assert_str_eq(talk_seen.from_world, "b");
    ck_assert_str_eq(talk_seen.correlation_id, "order-7");
    talk_settle(worker);
    finish();
}
END_TEST

START_TEST(a_question_that_nobody_answers_is_a_receipt_that_says_why)
{
    bool done = false;
    if (!begin(_i)) {
        return;
    }
    scene_create(&scene, "c", "talk");
    talk_settle(worker);
    talk_do(&scene, "a",
            "ask nobody question ref=n\nask b refuse ref=r\nask b ignore ref=i ms=300");
    talk_do(&scene, "a", "ask b question ref=s create=talk"); /* it is there already */
    talk_do(&scene, "a", "ask new question ref=t create=talk body=7");
    for (int i = 0; i < 2000 && (i < 40 || talk_outstanding(&scene, "a") > 0); i++) {
        talk_step(worker);
        manual_clock_advance_ms(&scene.manual, 10);
    }
    const char *text = talk_row(&scene, "a", "text");
    EXPECT(strstr(text, "n error no_such_world;") != NULL &&
               strstr(text, "r error rejected never;") != NULL &&
               strstr(text, "i timeout timeout null;") != NULL && strstr(text, "s ok  ;") != NULL &&
               strstr(text, "t ok  7;") != NULL,
           "'%s'", text);
    /* What waits in a world that goes is answered when it is emptied. */
    EXPECT_RC(sap_world_pause(scene.universe, "c", "a while"), SAP_OK);
    talk_do(&scene, "a", "ask c question ref=c");
    while (scene_world_rows(&scene, WIT_DBI_WORLD_INBOX, "c") == 0) {
        talk_step(worker);
    }
    EXPECT_RC(sap_world_delete(scene.universe, "c", "gone"), SAP_OK);
    for (int i = 0; i < 100 && !done; i++) {
        EXPECT_RC(sap_world_drain(scene.universe, "c", 0, &done), SAP_OK);
    }
    while (strstr(talk_row(&scene, "a", "text"), "c error destination_deleted") == NULL) {
        talk_step(worker);
    }
    talk_settle(worker);
    finish();
}
END_TEST

START_TEST(the_first_answer_to_a_question_counts_and_the_reply_after_its_time_does_not)
{
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "ask b later ref=l ms=1000");
    talk_settle(worker);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    talk_expect(&scene, worker, "a", "l timeout timeout null;");
    uint64_t height = scene_info(&scene, "a").height;
    talk_do(&scene, "b", "answer");
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "a", "text"), "l timeout timeout null;");
    ck_assert_uint_eq(scene_info(&scene, "a").height, height + 1); /* consumed, as a duplicate */
    talk_do(&scene, "a", "ask b question ref=l");                  /* the default is 30 s */
    talk_settle(worker);
    scene_pass_ms(&scene, 60 * SECOND_MS);
    talk_expect(&scene, worker, "a", "l timeout timeout null;l ok  ;");
    talk_do(&scene, "a", "ask b ignore ref=l");
    talk_settle(worker);
    scene_pass_ms(&scene, 29 * SECOND_MS);
    talk_settle(worker);
    ck_assert_uint_eq(talk_outstanding(&scene, "a"), 1);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    talk_expect(&scene, worker, "a", "l timeout timeout null;l ok  ;l timeout timeout null;");
    finish();
}
END_TEST

START_TEST(a_question_that_is_cancelled_has_no_receipt)
{
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "ask b question ref=q\ncancel q"); /* never put */
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "");
    talk_do(&scene, "a", "ask b question ref=q"); /* pending */
    scene_run(worker);
    talk_do(&scene, "a", "cancel q");
    scene_run(worker);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "");
    talk_do(&scene, "a", "ask b later ref=q"); /* delivered */
    talk_settle(worker);
    talk_do(&scene, "a", "cancel q");
    talk_do(&scene, "b", "answer");
    talk_settle(worker);
    /* Its timer went with it, and does not wait for its time. */
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TIMERS_DUE), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TIMERS_DEDUPE), 0);
    scene_pass_ms(&scene, 60 * SECOND_MS);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "a", "text"), "");
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "later from a: ;");
    finish();
}
END_TEST

/* Both the message and the time are over before the world looks: the order of its inbox decides. */
START_TEST(a_question_refused_and_timed_out_at_once_has_one_receipt)
{
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "ask nobody question ref=q ms=1000");
    scene_run(worker);
    scene_run_role(worker, SAP_ROLE_EFFECTS); /* refused */
    scene_pass_ms(&scene, 2 * SECOND_MS);
    scene_run_role(worker, SAP_ROLE_TIMERS);
    talk_expect(&scene, worker, "a", "q error no_such_world;");
    talk_do(&scene, "a", "ask nobody question ref=q ms=1000");
    scene_run(worker);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    scene_run_role(worker, SAP_ROLE_TIMERS); /* timed out */
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    talk_expect(&scene, worker, "a", "q error no_such_world;q timeout timeout null;");
    finish();
}
END_TEST

/* The claim is durable, and the message not delivered. */
START_TEST(a_question_that_times_out_while_its_message_is_inflight)
{
    bool busy = false;
    begin(STORE_BED_MEMORY);
    SapWorker *other = talk_worker(&scene, "other");
    EXPECT_RC(sap_worker_step_role(other, SAP_ROLE_EFFECTS, &busy), SAP_OK); /* it is open */
    talk_do(&scene, "a", "ask b question ref=q ms=1000");
    scene_run(worker);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    /* The commit of the claim happens, and the next call of the store ends the process. */
    scene.fault_call = SAP_STORE_CALL_COMMIT;
    scene.fault = SAP_STORE_FAULT_LOST_AFTER;
    scene.fault_times = 1;
    (void)sap_worker_step_role(other, SAP_ROLE_EFFECTS, &busy);
    scene.fault_times = 0;
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_INFLIGHT), 1);
    scene_run_role(worker, SAP_ROLE_TIMERS);
    talk_expect(&scene, worker, "a", "q timeout timeout null;");
    scene_kill(&scene, other);
    for (int i = 0; i < 120; i++) { /* its claim runs out */
        scene_pass_ms(&scene, SECOND_MS);
        talk_step(worker);
    }
    ck_assert_str_eq(talk_row(&scene, "b", "text"), ""); /* it was cancelled in time */
    finish();
}
END_TEST

START_TEST(questions_of_worlds_that_end_leave_nothing_behind)
{
    bool done = false;
    begin(STORE_BED_MEMORY);
    scene_create(&scene, "c", "talk");
    talk_settle(worker);
    EXPECT_RC(sap_world_pause(scene.universe, "b", "it waits"), SAP_OK);
    talk_do(&scene, "c",
            "ask b question ref=q\npromise p\npromise r ms=99999\ntimer t ms=99999\n"
            "ask nobody question ref=n");
    scene_run(worker);
    EXPECT_RC(sap_world_delete(scene.universe, "c", "gone"), SAP_OK);
    for (int i = 0; i < 100 && !done; i++) {
        EXPECT_RC(sap_world_drain(scene.universe, "c", 0, &done), SAP_OK);
    }
    ck_assert(done);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_PROMISES), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_DEDUPE), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TIMERS_DUE), 0);
    /* One that finishes: its questions are delivered, and their replies nobody waits for. */
    talk_do(&scene, "a", "ask b question ref=q\npromise p\npromise r ms=99999\ndone");
    talk_settle(worker);
    EXPECT_RC(sap_world_resume(scene.universe, "b"), SAP_OK);
    scene_pass_ms(&scene, SECOND_MS);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "b", "text"), "question from a: ;");
    talk_expect_nothing_left(&scene);
    scene_close(&scene);
}
END_TEST

/* Another worker claims the replies, and dies before it has delivered them; the worlds that reply
 * are gone by then. */
START_TEST(replies_of_worlds_that_end_outlive_who_delivers_them)
{
    bool done = false;
    begin(STORE_BED_MEMORY);
    scene_create(&scene, "c", "talk");
    talk_do(&scene, "a", "ask b later ref=q ms=999000\nask c question ref=r ms=999000");
    EXPECT_RC(sap_world_pause(scene.universe, "c", "it takes nothing"), SAP_OK);
    talk_settle(worker);
    talk_do(&scene, "b", "answer");
    scene_run(worker);
    EXPECT_RC(sap_world_delete(scene.universe, "c", "gone"), SAP_OK);
    for (int i = 0; i < 100 && !done; i++) {
        EXPECT_RC(sap_world_drain(scene.universe, "c", 0, &done), SAP_OK);
    }
    ck_assert(done);
    SapWorker *other = talk_worker(&scene, "other");
    EXPECT_RC(sap_worker_step_role(other, SAP_ROLE_EFFECTS, &done), SAP_OK);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_INFLIGHT), 2);
    scene_kill(&scene, other);
    EXPECT_RC(sap_world_delete(scene.universe, "b", "gone"), SAP_OK);
    for (int i = 0; i < 120; i++) { /* the claims run out */
        scene_pass_ms(&scene, SECOND_MS);
        talk_step(worker);
    }
    const char *text = talk_row(&scene, "a", "text");
    EXPECT(strstr(text, "q ok  late;") != NULL &&
               strstr(text, "r error destination_deleted the world was deleted;") != NULL,
           "'%s'", text);
    finish();
}
END_TEST

/* The timers of a world, as a person sees them. */
typedef struct SeenTimers {
    uint8_t hashes[4][32];
    uint32_t count;
    uint32_t asks;
    uint32_t promises;
} SeenTimers;

static int see_timer(void *ctx, const SapTimerInfo *timer)
{
    SeenTimers *seen = (SeenTimers *)ctx;
    memcpy(seen->hashes[seen->count++], timer->intent_hash, 32);
    seen->asks += timer->ask;
    seen->promises += timer->promise;
    EXPECT(!timer->promise || timer->payload_len == 0, "the id of a promise is shown");
    return SAP_OK;
}

START_TEST(people_end_questions_and_promises_and_leave_nothing_behind)
{
    SapListQuery query = {.size = sizeof query};
    SeenTimers seen = {.count = 0};
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "ask nobody question ref=q\nask b later ref=r\npromise p ms=99999");
    scene_run(worker); /* nothing is delivered yet */
    EXPECT_RC(sap_timers_list(scene.universe, &query, see_timer, &seen, NULL), SAP_OK);
    ck_assert_uint_eq(seen.asks, 2);
    ck_assert_uint_eq(seen.promises, 1);
    for (uint32_t i = 0; i < seen.count; i++) {
        EXPECT_RC(sap_timer_cancel(scene.universe, "a", seen.hashes[i]), SAP_OK);
    }
    scene_run(worker);
    talk_settle(worker);
    const char *text = talk_row(&scene, "a", "text");
    EXPECT(strstr(text, "q error cancelled null;") != NULL &&
               strstr(text, "r error cancelled null;") != NULL &&
               strstr(text, "p error cancelled null;") != NULL,
           "'%s'", text);
    ck_assert_str_eq(talk_row(&scene, "b", "text"), ""); /* it was not delivered after that */
    finish();
}
END_TEST

/* ---- Promises -------------------------------------------------------------------------------- */

static int resolve(const char *id, SapReceiptStatus status, const char *value)
{
    return sap_promise_resolve(scene.universe, id, status, status == SAP_RECEIPT_OK ? NULL : "no",
                               SAP_ENCODING_RAW, value, strlen(value));
}

/* The id of the promise that a has made. */
static void read_id(char id[SAP_PROMISE_ID_SIZE])
{
    for (int i = 0; i < 2000 && talk_row(&scene, "a", "promise")[0] == 0; i++) {
        talk_step(worker);
    }
    (void)snprintf(id, SAP_PROMISE_ID_SIZE, "%s", talk_row(&scene, "a", "promise"));
    ck_assert_uint_eq(strlen(id), SAP_PROMISE_ID_SIZE - 1);
}

START_TEST(a_promise_is_what_somebody_outside_resolves_it_with)
{
    char id[SAP_PROMISE_ID_SIZE];
    char other[SAP_PROMISE_ID_SIZE];
    if (!begin(_i)) {
        return;
    }
    talk_do(&scene, "a", "promise p");
    read_id(id);
    memcpy(other, id, sizeof other);
    other[0] = other[0] == 'a' ? 'b' : 'a';
    ck_assert_int_eq(resolve(other, SAP_RECEIPT_OK, "1"), SAP_NOTFOUND);
    ck_assert_int_eq(resolve("short", SAP_RECEIPT_OK, "1"), SAP_INVALID);
    other[0] = 'x';
    ck_assert_int_eq(resolve(other, SAP_RECEIPT_OK, "1"), SAP_INVALID);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_NONE, "1"), SAP_INVALID);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_TIMEOUT, "1"), SAP_INVALID);
    ck_assert_int_eq(resolve(NULL, SAP_RECEIPT_OK, "1"), SAP_INVALID);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "yes"), SAP_OK);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "again"), SAP_NOTFOUND);
    talk_expect(&scene, worker, "a", "p ok  yes;");
    ck_assert_str_eq(talk_seen.correlation_id, "order-7");
    talk_do(&scene, "a", "promise p ms=100000");
    talk_settle(worker);
    memcpy(other, id, sizeof other);
    read_id(id);
    ck_assert_str_ne(id, other);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_ERROR, "why"), SAP_OK);
    talk_expect(&scene, worker, "a", "p ok  yes;p error no why;");
    finish();
}
END_TEST

static int keep_hash(void *ctx, const SapTimerInfo *timer)
{
    memcpy(ctx, timer->intent_hash, 32);
    return SAP_OK;
}

START_TEST(a_promise_whose_timer_a_person_ends_is_over_for_everybody)
{
    SapListQuery query = {.size = sizeof query};
    char id[SAP_PROMISE_ID_SIZE];
    uint8_t hash[32] = {0};
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "promise p ms=99000");
    read_id(id);
    EXPECT_RC(sap_timers_list(scene.universe, &query, keep_hash, hash, NULL), SAP_OK);
    EXPECT_RC(sap_timer_cancel(scene.universe, "a", hash), SAP_OK);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "late"),
                     SAP_NOTFOUND); /* the world has not looked */
    talk_expect(&scene, worker, "a", "p error cancelled null;");
    talk_do(&scene, "a", "promise p ms=99000");
    talk_settle(worker);
    read_id(id);
    EXPECT_RC(sap_timers_list(scene.universe, &query, keep_hash, hash, NULL), SAP_OK);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "early"), SAP_OK);
    EXPECT_RC(sap_timer_cancel(scene.universe, "a", hash), SAP_NOTFOUND);
    talk_expect(&scene, worker, "a", "p error cancelled null;p ok  early;");
    finish();
}
END_TEST

START_TEST(a_promise_times_out_or_is_cancelled_and_then_nobody_resolves_it)
{
    char id[SAP_PROMISE_ID_SIZE];
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "promise p ms=1000");
    read_id(id);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    scene_run_role(worker, SAP_ROLE_TIMERS);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "late"), SAP_NOTFOUND);
    talk_expect(&scene, worker, "a", "p timeout timeout null;");
    talk_do(&scene, "a", "promise p ms=1000");
    talk_settle(worker);
    read_id(id);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "early"), SAP_OK);
    scene_pass_ms(&scene, 2 * SECOND_MS); /* before the world has looked */
    scene_run_role(worker, SAP_ROLE_TIMERS);
    talk_expect(&scene, worker, "a", "p timeout timeout null;p ok  early;");
    talk_do(&scene, "a", "promise p ms=1000\npromise q");
    talk_settle(worker);
    read_id(id);
    talk_do(&scene, "a", "cancel p\ncancel q");
    talk_settle(worker);
    ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "never"), SAP_NOTFOUND);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    talk_settle(worker);
    ck_assert_str_eq(talk_row(&scene, "a", "text"), "p timeout timeout null;p ok  early;");
    finish();
}
END_TEST

/* Before the transaction runs again: its world takes what is there, or its time is over. */
static uint32_t pass_at_begin_ms;

static void pass_once(SapStoreCall call)
{
    if (call == SAP_STORE_CALL_BEGIN && scene.fault_times == 0 && pass_at_begin_ms > 0) {
        uint32_t ms = pass_at_begin_ms;
        pass_at_begin_ms = 0;
        scene_pass_ms(&scene, ms);
        scene_run_role(worker, SAP_ROLE_TIMERS);
        scene_run(worker);
    }
}

START_TEST(whoever_is_told_that_a_promise_is_resolved_has_resolved_it)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_LOST_BEFORE, SAP_STORE_FAULT_LOST_AFTER};
    char id[SAP_PROMISE_ID_SIZE];
    begin(STORE_BED_MEMORY);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bool happened = faults[i] == SAP_STORE_FAULT_LOST_AFTER;
        talk_do(&scene, "a", "promise p ms=1000");
        talk_settle(worker);
        read_id(id);
        scene.fault_call = SAP_STORE_CALL_COMMIT;
        scene.fault = faults[i];
        scene.fault_times = 1;
        pass_at_begin_ms = 2 * SECOND_MS;
        scene.on_call = pass_once;
        ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "yes"), happened ? SAP_OK : SAP_NOTFOUND);
        ck_assert_uint_eq(pass_at_begin_ms, 0);
        scene.on_call = NULL;
        talk_expect(&scene, worker, "a",
                    happened ? "p timeout timeout null;p ok  yes;" : "p timeout timeout null;");
    }
    finish();
}
END_TEST

START_TEST(a_promise_of_unknown_outcome_is_resolved_once)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_LOST_BEFORE, SAP_STORE_FAULT_LOST_AFTER};
    char id[SAP_PROMISE_ID_SIZE];
    char want[TALK_TEXT] = "";
    begin(STORE_BED_MEMORY);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        talk_do(&scene, "a", "promise p");
        talk_settle(worker);
        read_id(id);
        scene.fault_call = SAP_STORE_CALL_COMMIT;
        scene.fault = faults[i];
        scene.fault_times = 1;
        ck_assert_int_eq(resolve(id, SAP_RECEIPT_OK, "yes"), SAP_OK);
        (void)strncat(want, "p ok  yes;", sizeof want - strlen(want) - 1);
        talk_expect(&scene, worker, "a", want);
    }
    finish();
}
END_TEST

/* ---- What is said along ---------------------------------------------------------------------- */

START_TEST(a_correlation_goes_on_into_effects_timers_and_their_receipts)
{
    begin(STORE_BED_MEMORY);
    talk_do(&scene, "a", "effect e");
    scene_run(worker);
    memset(&talk_seen, 0, sizeof talk_seen);
    while (talk_bells == 0) {
        bool busy = false;
        EXPECT_RC(sap_worker_step_role(worker, SAP_ROLE_EFFECTS, &busy), SAP_OK);
    }
    ck_assert_str_eq(talk_seen.correlation_id, "order-7");
    ck_assert_str_eq(talk_seen.trace_parent, "00-trace-01");
    memset(&talk_seen, 0, sizeof talk_seen);
    talk_expect(&scene, worker, "a", "e ok  null;");
    ck_assert_str_eq(talk_seen.correlation_id, "order-7");
    ck_assert_str_eq(talk_seen.trace_parent, "00-trace-01");
    talk_do(&scene, "a", "timer t ms=1000\nask b ignore ref=q ms=1000");
    talk_settle(worker);
    memset(&talk_seen, 0, sizeof talk_seen);
    scene_pass_ms(&scene, 2 * SECOND_MS);
    talk_settle(worker);
    ck_assert_str_eq(talk_seen.correlation_id, "order-7");
    ck_assert_str_eq(talk_seen.trace_parent, "00-trace-01");
    /* What the question says to others is not what its receipt belongs to. */
    talk_do(&scene, "a", "ask b question ref=r corr=other");
    talk_expect(&scene, worker, "a", "e ok  null;t fired;q timeout timeout null;r ok  ;");
    ck_assert_str_eq(talk_seen.correlation_id, "order-7");
    ck_assert_str_eq(talk_seen.trace_parent, "00-trace-01");
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
    Suite *suite = suite_create("universe_asks");
    TCase *tcase = tcase_create("on every store");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, a_question_has_its_reply_at_once_or_in_a_later_step, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, a_question_that_nobody_answers_is_a_receipt_that_says_why, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, a_promise_is_what_somebody_outside_resolves_it_with, 0,
                        STORE_BED_MAX);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("in memory");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase,
                   the_first_answer_to_a_question_counts_and_the_reply_after_its_time_does_not);
    tcase_add_test(tcase, a_question_that_is_cancelled_has_no_receipt);
    tcase_add_test(tcase, a_question_refused_and_timed_out_at_once_has_one_receipt);
    tcase_add_test(tcase, a_question_that_times_out_while_its_message_is_inflight);
    tcase_add_test(tcase, questions_of_worlds_that_end_leave_nothing_behind);
    tcase_add_test(tcase, replies_of_worlds_that_end_outlive_who_delivers_them);
    tcase_add_test(tcase, people_end_questions_and_promises_and_leave_nothing_behind);
    tcase_add_test(tcase, a_promise_whose_timer_a_person_ends_is_over_for_everybody);
    tcase_add_test(tcase, a_promise_times_out_or_is_cancelled_and_then_nobody_resolves_it);
    tcase_add_test(tcase, a_promise_of_unknown_outcome_is_resolved_once);
    tcase_add_test(tcase, whoever_is_told_that_a_promise_is_resolved_has_resolved_it);
    tcase_add_test(tcase, a_correlation_goes_on_into_effects_timers_and_their_receipts);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
