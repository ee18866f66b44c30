/* Interleavings of worlds, one by one: at each call of the store that one party makes, another one acts.
 * Nothing is lost, doubled or left behind, wherever it was. The clock moves when the test says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/journal.h"
#include "universe/worker_impl.h"

enum { TIMEOUT_S = 120, SECOND_MS = 1000, MOST_CALLS = 500 };

static Scene scene;
static SapWorker *worker;
static uint32_t calls;
static void (*meanwhile)(void); /* while the handler "others" runs, once */
static bool refuses;            /* "refuse" is refused */
static size_t payload_seen;
static char correlation_seen[64];

static int keep(SapWorld *world, const SapEvent *event)
{
    void (*others)(void) = meanwhile;
    calls++;
    payload_seen = event->payload_len;
    (void)snprintf(correlation_seen, sizeof correlation_seen, "%s", event->correlation_id);
    if (strcmp(event->name, "others") == 0 && others != NULL) {
        meanwhile = NULL;
        others();
    }
    if (strcmp(event->name, "refuse") == 0 && refuses) {
        return sap_world_fail(world, false, "not yet");
    }
    int rc = sap_world_put(world, "height", 6, SAP_ENCODING_JSON, "1", 1);
    return rc == SAP_OK && event->reply_to[0] != 0
               ? sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, "1", 1)
               : rc;
}

SAP_WORLD_MODULE("keep", keep);

static void set_up(void)
{
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

/* ---- At the n-th call of the store -------------------------------------------------------------- */

static uint32_t acts_at; /* which call; 0: nobody acts any more */
static uint32_t calls_made;
static void (*act)(void);

static void act_at_call(SapStoreCall call)
{
    (void)call;
    if (act != NULL && ++calls_made == acts_at) {
        void (*now)(void) = act;
        act = NULL; /* what it calls is not counted */
        now();
    }
}

static void act_from(uint32_t nth, void (*what)(void))
{
    acts_at = nth;
    calls_made = 0;
    act = what;
    scene.on_call = act_at_call;
}

/* Whether it did: else the party made fewer calls than that. */
static bool has_acted(void)
{
    bool acted = act == NULL;
    act = NULL;
    scene.on_call = NULL;
    return acted;
}

/* Runs a scene with the act at its first call, its second, and so on until there is none. */
static void run_everywhere(bool (*run)(uint32_t nth))
{
    uint32_t nth = 1;
    for (;; nth++) {
        expect_context("call %" PRIu32, nth);
        set_up();
        bool acted = run(nth);
        tear_down();
        if (!acted) {
            break;
        }
        EXPECT(nth < MOST_CALLS, "there is no end of calls");
    }
    EXPECT(nth > 3, "nobody acted");
    printf("universe_interleavings: %" PRIu32 " places\n", nth - 1);
}

/* ---- Resume against a worker that reads hints ----------------------------------------------------- */

static void resume_world(void)
{
    int rc = sap_world_resume(scene.universe, "w");
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "resume returned %d", rc);
}

static bool resume_at(uint32_t nth)
{
    bool busy = false;
    worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "keep");
    scene_run(worker);
    EXPECT_RC(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    scene_send(&scene, "w", "add", "one");
    act_from(nth, resume_world);
    EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
    bool acted = has_acted();
    if (scene_info(&scene, "w").status == SAP_WORLD_PAUSED) {
        resume_world();
    }
    for (int i = 0; i < 3; i++) {
        scene_pass_ms(&scene, SECOND_MS);
        scene_run(worker);
    }
    EXPECT(scene_info(&scene, "w").height == 2, "the item was forgotten");
    EXPECT(scene_rows(&scene, WIT_DBI_READY) == 0, "a hint is left");
    return acted;
}

START_TEST(resume_against_a_worker_that_reads_hints)
{
    run_everywhere(resume_at);
}
END_TEST

/* ---- Delete against enqueue ----------------------------------------------------------------------- */

static bool deleted;

static void delete_world(void)
{
    bool done = false;
    int rc = sap_world_delete(scene.universe, "w", "");
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "delete returned %d", rc);
    deleted = rc == SAP_OK;
    while (deleted && !done && rc == SAP_OK) {
        rc = sap_world_drain(scene.universe, "w", 1, &done);
    }
}

static bool delete_at(uint32_t nth)
{
    SceneLetter letters[SCENE_LETTERS];
    SapIngress item = {.size = sizeof item, .name = "add", .id = "one"};
    bool done = false;
    worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "keep");
    scene_run(worker);
    deleted = false;
    act_from(nth, delete_world);
    int rc = sap_enqueue_ingress(scene.universe, "w", &item, NULL);
    bool acted = has_acted();
    EXPECT(rc == SAP_OK || (deleted && rc == SAP_NOTFOUND), "enqueue returned %d", rc);
    if (!deleted) {
        delete_world();
    }
    while (!done) {
        EXPECT_RC(sap_world_drain(scene.universe, "w", 1, &done), SAP_OK);
    }
    EXPECT(scene_letters(&scene, "w", letters) == (rc == SAP_OK), "lost, or doubled");
    EXPECT(scene_rows(&scene, WIT_DBI_WORLD_INBOX) == 0, "an item is left");
    return acted;
}

START_TEST(delete_against_enqueue)
{
    run_everywhere(delete_at);
}
END_TEST

/* ---- Creation again, during the drain -------------------------------------------------------------- */

static bool created;

static void create_again(void)
{
    int rc = sap_world_create(scene.universe, "w", "keep", SAP_ENCODING_JSON, NULL, 0);
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "create returned %d", rc);
    created = rc == SAP_OK;
    if (created) {
        scene_send(&scene, "w", "add", "new");
    }
}

static bool create_at(uint32_t nth)
{
    enum { ITEMS = 3 };
    SceneLetter letters[SCENE_LETTERS];
    worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "keep");
    scene_run(worker);
    for (int i = 0; i < ITEMS; i++) {
        scene_send(&scene, "w", "add", NULL);
    }
    EXPECT_RC(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    uint64_t epoch = scene_info(&scene, "w").epoch;
    created = false;
    act_from(nth, create_again);
    bool done = false;
    int rc = SAP_OK;
    for (int i = 0; rc == SAP_OK && !done; i++) {
        EXPECT(i < MOST_CALLS, "there is no end of the drain");
        rc = sap_world_drain(scene.universe, "w", 1, &done);
    }
    bool acted = has_acted();
    EXPECT(rc == SAP_OK || (created && rc == SAP_ERROR), "the drain returned %d", rc);
    if (!created) {
        create_again();
    }
    EXPECT(created, "the name is not free");
    scene_run(worker);
    SapWorldInfo info = scene_info(&scene, "w");
    EXPECT(info.status == SAP_WORLD_ACTIVE && info.height == 3 && info.epoch > epoch,
           "height %" PRIu64, info.height);
    EXPECT(scene_letters(&scene, "w", letters) == ITEMS, "another number of letters");
    return acted;
}

START_TEST(creation_again_during_the_drain)
{
    run_everywhere(create_at);
}
END_TEST

/* ---- A blob that is collected while an enqueue refers to it ------------------------------------------ */

static void collect_blobs(void)
{
    scene_pass_ms(&scene, 60 * SECOND_MS);
    manual_clock_advance_ms(&scene.manual, UINT64_C(3) * 24 * 3600 * SECOND_MS);
    SapWorker *reaper = scene_worker(&scene, "reaper");
    for (int i = 0; i < 10; i++) {
        bool busy = false;
        (void)sap_worker_step_role(reaper, SAP_ROLE_REAPER, &busy); /* it may meet the other one */
        scene_pass_ms(&scene, SECOND_MS);
    }
    (void)sap_worker_close(reaper);
    for (int i = 0; i < SCENE_WORKERS; i++) {
        scene.workers[i] = scene.workers[i] == reaper ? NULL : scene.workers[i];
    }
}

static bool collect_at(uint32_t nth)
{
    enum { SIZE = 200000 };
    static char payload[SIZE];
    SapIngress item = {.size = sizeof item, .name = "add", .encoding = SAP_ENCODING_RAW};
    item.payload = payload;
    item.payload_len = SIZE;
    scene_create(&scene, "w", "keep");
    act_from(nth, collect_blobs);
    int rc = sap_enqueue_ingress(scene.universe, "w", &item, NULL);
    bool acted = has_acted();
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "enqueue returned %d", rc);
    if (rc != SAP_OK) {
        EXPECT_RC(sap_enqueue_ingress(scene.universe, "w", &item, NULL), SAP_OK);
    }
    collect_blobs(); /* while it waits */
    worker = scene_worker(&scene, "a");
    scene_run(worker);
    EXPECT(scene_info(&scene, "w").height == 2, "the item was not handled");
    EXPECT(payload_seen == SIZE, "its payload has %zu bytes", payload_seen);
    scene_leave(&scene, worker);
    collect_blobs(); /* while the journal has it: another worker restores the world */
    scene_send(&scene, "w", "add", "small");
    scene_run(scene_worker(&scene, "b"));
    EXPECT(scene_info(&scene, "w").height == 3, "the world cannot be restored");
    return acted;
}

START_TEST(a_blob_that_is_collected_while_an_enqueue_refers_to_it)
{
    run_everywhere(collect_at);
}
END_TEST

/* ---- Enqueue with unknown outcome -------------------------------------------------------------------- */

/* The commit that nobody hears of, with an id and without, before it happened and after. */
START_TEST(enqueue_with_unknown_outcome)
{
    bool happened = _i % 2 == 1;
    bool with_id = _i / 2 == 1;
    SapIngress item = {.size = sizeof item, .name = "add", .id = with_id ? "one" : NULL};
    SapIngressResult result = {.outcome_unknown = false};
    set_up();
    worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "keep");
    scene_run(worker);
    scene.fault_call = SAP_STORE_CALL_COMMIT;
    scene.fault = happened ? SAP_STORE_FAULT_LOST_AFTER : SAP_STORE_FAULT_LOST_BEFORE;
    scene.fault_times = 1;
    int rc = sap_enqueue_ingress(scene.universe, "w", &item, &result);
    if (with_id) { /* the row of the id has decided */
        EXPECT_RC(rc, SAP_OK);
        EXPECT(!result.duplicate && !result.outcome_unknown, "it is the first");
    } else {
        EXPECT_RC(rc, SAP_IO);
        EXPECT(result.outcome_unknown, "nobody can know");
    }
    scene_run(worker);
    EXPECT(scene_info(&scene, "w").height == (with_id || happened ? 2 : 1), "lost, or doubled");
    if (with_id) {
        EXPECT_RC(sap_enqueue_ingress(scene.universe, "w", &item, &result), SAP_OK);
        EXPECT(result.duplicate, "sent twice");
    }
    tear_down();
}
END_TEST

/* ---- Several worlds in one transaction ---------------------------------------------------------------- */

static void pause_third(void)
{
    EXPECT_RC(sap_world_pause(scene.universe, "w2", "by me"), SAP_OK);
}

/* It leaves the transaction; the others commit in the same step, and no handler runs again. */
START_TEST(one_world_of_a_batch_that_is_fenced_leaves_it_and_the_others_commit)
{
    enum { WORLDS = 8 };
    char name[8];
    bool busy = false;
    set_up();
    worker = scene_worker(&scene, "a");
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "w%d", i);
        scene_create(&scene, name, "keep");
    }
    scene_run(worker);
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "w%d", i);
        scene_send(&scene, name, i == WORLDS - 1 ? "others" : "add", NULL);
    }
    SapWorkerStats before = scene_stats(worker);
    calls = 0;
    meanwhile = pause_third; /* when the handlers of the others have run */
    EXPECT_RC(sap_worker_step(worker, &busy), SAP_OK);
    scene_run(worker);
    EXPECT(calls == WORLDS, "%" PRIu32 " calls of handlers", calls);
    SapWorkerStats after = scene_stats(worker);
    EXPECT(after.cycles == before.cycles + 1, "more than one transaction");
    EXPECT(after.steps == before.steps + WORLDS - 1, "another number of steps");
    EXPECT(after.fenced == before.fenced + 1, "another number was fenced");
    for (int i = 0; i < WORLDS; i++) {
        (void)snprintf(name, sizeof name, "w%d", i);
        EXPECT(scene_info(&scene, name).height == (i == 2 ? 1 : 2), "height of %s", name);
    }
    EXPECT(scene_world_rows(&scene, WIT_DBI_WORLD_INBOX, "w2") == 1, "its item is gone");
    EXPECT_RC(sap_world_resume(scene.universe, "w2"), SAP_OK);
    scene_run(worker);
    EXPECT(scene_info(&scene, "w2").height == 2, "its item is lost");
    tear_down();
}
END_TEST

/* ---- Replying to what was replayed ------------------------------------------------------------------- */

static void expect_reply(bool failed)
{
    SapReply *reply = NULL;
    EXPECT_RC(sap_world_reply_wait(scene.universe, "w", "one", 0, &reply), SAP_OK);
    EXPECT(reply->failed == failed, "'%s'", reply->payload);
    sap_reply_free(reply);
}

START_TEST(replaying_a_letter_takes_back_that_nobody_will_reply)
{
    SceneLetter letters[SCENE_LETTERS];
    SapReply *reply = NULL;
    set_up();
    worker = scene_worker(&scene, "a");
    refuses = true;
    scene_create(&scene, "w", "keep");
    scene_send(&scene, "w", "refuse", "one");
    scene_run(worker);
    expect_reply(true);
    EXPECT(scene_letters(&scene, "w", letters) == 1, "no letter");
    EXPECT_RC(sap_dead_letter_replay(scene.universe, "w", letters[0].height, letters[0].seq),
              SAP_OK);
    EXPECT_RC(sap_world_reply_wait(scene.universe, "w", "one", 0, &reply), SAP_NOTFOUND);
    refuses = false;
    scene_run(worker);
    expect_reply(false);
    tear_down();
}
END_TEST

/* ---- What a sender says of an item --------------------------------------------------------------------- */

typedef struct SeenEntry {
    char correlation[64];
    char trace[64];
    bool hash_right;
} SeenEntry;

static int see_entry(void *ctx, uint64_t height, uint64_t epoch, Slice content,
                     const WitUniverseEntry *entry)
{
    SeenEntry *seen = (SeenEntry *)ctx;
    const WitUniverseInboxItem *item = &entry->item.value;
    uint8_t encoding = SAP_ENCODING_JSON;
    Digest hash;
    DigestState state;
    (void)height;
    (void)epoch;
    (void)content;
    digest_init(&state);
    digest_update(&state, &encoding, 1);
    digest_update(&state, item->payload.data, item->payload.len);
    digest_final(&state, &hash);
    seen->hash_right = memcmp(hash.bytes, item->hash.data, sizeof hash.bytes) == 0;
    (void)snprintf(seen->correlation, sizeof seen->correlation, "%.*s",
                   (int)item->correlation_id.len, (const char *)item->correlation_id.data);
    (void)snprintf(seen->trace, sizeof seen->trace, "%.*s", (int)item->trace_parent.len,
                   (const char *)item->trace_parent.data);
    return SAP_OK;
}

START_TEST(what_a_sender_says_of_an_item_is_in_the_event_and_in_the_journal)
{
    static const char trace[] = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    SapIngress item = {.size = sizeof item, .name = "add", .trace_parent = trace};
    SeenEntry seen = {.hash_right = false};
    UniverseName name;
    item.correlation_id = "web-9f2";
    item.payload = " [ 1 ] ";
    item.payload_len = 7;
    set_up();
    worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "keep");
    EXPECT_RC(sap_enqueue_ingress(scene.universe, "w", &item, NULL), SAP_OK);
    scene_run(worker);
    ck_assert_str_eq(correlation_seen, "web-9f2");
    EXPECT_RC(universe_name_set(&name, "w"), SAP_OK);
    EXPECT_RC(journal_read(scene.store, SCENE_UNIVERSE, &name, 2, 2, see_entry, &seen), SAP_OK);
    ck_assert_str_eq(seen.correlation, "web-9f2");
    ck_assert_str_eq(seen.trace, trace);
    ck_assert(seen.hash_right); /* of the canonical payload */
    tear_down();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_interleavings");
    TCase *test_case = tcase_create("interleavings");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, resume_against_a_worker_that_reads_hints);
    tcase_add_test(test_case, delete_against_enqueue);
    tcase_add_test(test_case, creation_again_during_the_drain);
    tcase_add_test(test_case, a_blob_that_is_collected_while_an_enqueue_refers_to_it);
    tcase_add_loop_test(test_case, enqueue_with_unknown_outcome, 0, 4);
    tcase_add_test(test_case, one_world_of_a_batch_that_is_fenced_leaves_it_and_the_others_commit);
    tcase_add_test(test_case, replaying_a_letter_takes_back_that_nobody_will_reply);
    tcase_add_test(test_case, what_a_sender_says_of_an_item_is_in_the_event_and_in_the_journal);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
