/* What operators see: lists page by page, the history and the state of a world at any step; and what they do
 * to effects and timers. The clock moves when the test says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/rows.h"

enum { TIMEOUT_S = 120, SECOND_MS = 1000, MOST = 64, MOST_FAULTS = 50000 };

static Scene scene;
static StoreBeds beds;

/* ---- A module ------------------------------------------------------------------------------------ */

static char answered[8][64]; /* what receipts and timers have said */
static uint32_t answers;

static void note_answer(const SapEvent *event)
{
    ck_assert_uint_lt(answers, 8);
    (void)snprintf(answered[answers++], sizeof answered[0], "%s %s %s",
                   event->kind == SAP_EVENT_TIMER ? "timer" : "receipt", event->ref, event->code);
}

/* The name of a message says what it does: effect, timer, day, refuse; anything else is a row. */
static int on_event(SapWorld *world, const SapEvent *event)
{
    char key[32];
    if (event->kind == SAP_EVENT_RECEIPT || event->kind == SAP_EVENT_TIMER) {
        note_answer(event);
        return SAP_OK;
    }
    if (event->kind == SAP_EVENT_CREATE) {
        return SAP_OK;
    }
    if (strcmp(event->name, "refuse") == 0) {
        return sap_world_fail(world, false, "never");
    }
    if (strcmp(event->name, "effect") == 0) {
        SapEffect effect = {.size = sizeof effect,
                            .kind = "ring",
                            .ref = event->id,
                            .encoding = SAP_ENCODING_JSON,
                            .params = "{\"n\":1}",
                            .params_len = 7};
        effect.retry.first_ns = UINT64_C(30000000000);
        return sap_world_effect(world, &effect);
    }
    if (strcmp(event->name, "timer") == 0 || strcmp(event->name, "day") == 0) {
        SapTimer timer = {.size = sizeof timer, .ref = event->id};
        bool day = event->name[0] == 'd';
        timer.after_ns = day ? 0 : UINT64_C(60000000000);
        timer.at_ns = day ? UINT64_C(4000000000000000000) : 0;
        return sap_world_timer(world, &timer);
    }
    (void)snprintf(key, sizeof key, "k/%s", event->name);
    int rc = sap_world_put(world, key, strlen(key), SAP_ENCODING_RAW, event->payload,
                           event->payload_len);
    if (rc == SAP_OK && strcmp(event->name, "last") == 0) {
        rc = sap_world_del(world, "k/a", 3);
    }
    return rc;
}

SAP_WORLD_MODULE("acts", on_event);

static void set_up(void)
{
    answers = 0;
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void set_up_beds(void)
{
    answers = 0;
    store_beds_start(&beds);
}

static void tear_down_beds(void)
{
    store_beds_end(&beds);
}

/* ---- What was shown ------------------------------------------------------------------------------ */

typedef struct Shown {
    uint32_t count;
    char lines[MOST][512];
    uint8_t hashes[MOST][32];
    int code; /* of the callback, for the entry that it shows */
} Shown;

static char *next_line(Shown *shown)
{
    EXPECT(shown->count < MOST, "too many entries");
    return shown->lines[shown->count++];
}

static int note_world(void *ctx, const char *name, const SapWorldInfo *info)
{
    Shown *shown = (Shown *)ctx;
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %s %d %" PRIu64 " %s", name,
                   info->module, (int)info->status, info->height, info->holder);
    return shown->code;
}

static int note_effect(void *ctx, const SapEffectInfo *effect)
{
    Shown *shown = (Shown *)ctx;
    memcpy(shown->hashes[shown->count], effect->intent_hash, 32);
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %s %s %d %u %s %d", effect->world,
                   effect->kind, effect->ref, (int)effect->state, effect->attempts, effect->worker,
                   effect->due_in_ns > 0);
    return shown->code;
}

static int note_timer(void *ctx, const SapTimerInfo *timer)
{
    Shown *shown = (Shown *)ctx;
    memcpy(shown->hashes[shown->count], timer->intent_hash, 32);
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %s %" PRIu64 " %d", timer->world,
                   timer->ref, timer->in_ns > 0 ? UINT64_C(1) : 0, timer->at_ns != 0);
    return shown->code;
}

static int note_lease(void *ctx, const SapLeaseInfo *lease)
{
    Shown *shown = (Shown *)ctx;
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %s %" PRIu64 " %d %d",
                   lease->world, lease->holder, lease->epoch, lease->alive, lease->left_ns > 0);
    return shown->code;
}

static int note_worker(void *ctx, const SapWorkerInfo *worker)
{
    Shown *shown = (Shown *)ctx;
    bool acts = false;
    bool rings = false;
    for (uint32_t i = 0; i < worker->module_count; i++) {
        acts = acts ||
               (strcmp(worker->modules[i].name, "acts") == 0 && worker->modules[i].version == 1);
    }
    for (uint32_t i = 0; i < worker->kind_count; i++) {
        rings = rings || strcmp(worker->kinds[i], "ring") == 0;
    }
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %d %u%s%s%s", worker->name,
                   worker->alive, worker->worlds, worker->worlds_capped ? "+" : "",
                   acts ? " acts" : "", rings ? " ring" : "");
    return shown->code;
}

static int note_assignment(void *ctx, const SapAssignmentInfo *assignment)
{
    Shown *shown = (Shown *)ctx;
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %s %u %s", assignment->world,
                   assignment->worker, assignment->priority, assignment->reason);
    return shown->code;
}

static int note_letter(void *ctx, const char *world, const SapDeadLetter *letter)
{
    Shown *shown = (Shown *)ctx;
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%s %s %s", world, letter->id,
                   letter->error);
    return shown->code;
}

static Shown list_worlds(SapListQuery *query, SapListEnd *end_out)
{
    Shown shown = {.count = 0};
    query->size = sizeof *query;
    ck_assert_int_eq(sap_worlds_list(scene.universe, query, note_world, &shown, end_out), SAP_OK);
    return shown;
}

static Shown list_effects(SapListQuery *query)
{
    static SapListEnd end;
    Shown shown = {.count = 0};
    query->size = sizeof *query;
    query->after = NULL;
    do {
        ck_assert_int_eq(sap_effects_list(scene.universe, query, note_effect, &shown, &end),
                         SAP_OK);
        query->after = end.next;
    } while (end.more);
    return shown;
}

static Shown list_timers(SapListQuery *query)
{
    Shown shown = {.count = 0};
    query->size = sizeof *query;
    ck_assert_int_eq(sap_timers_list(scene.universe, query, note_timer, &shown, NULL), SAP_OK);
    return shown;
}

/* ---- Worlds -------------------------------------------------------------------------------------- */

START_TEST(worlds_are_listed_page_by_page_and_by_what_they_are)
{
    SapListEnd end;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapWorker *worker = scene_worker(&scene, "a");
    char name[16];
    for (int i = 0; i < 30; i++) {
        (void)snprintf(name, sizeof name, "w%02d", i);
        scene_create(&scene, name, i % 3 == 0 ? "acts" : "other");
    }
    scene_create(&scene, "x", "acts");
    ck_assert_int_eq(sap_world_pause(scene.universe, "w07", ""), SAP_OK);
    ck_assert_int_eq(sap_world_delete(scene.universe, "w08", ""), SAP_OK);
    scene_run(worker);
    SapListQuery query = {.limit = 7};
    uint32_t total = 0;
    for (bool more = true; more; more = end.more) {
        Shown page = list_worlds(&query, &end);
        ck_assert_uint_le(page.count, 7);
        for (uint32_t i = 0; i < page.count; i++, total++) {
            (void)snprintf(name, sizeof name, "w%02u ", total);
            ck_assert(total == 30 || strncmp(page.lines[i], name, 4) == 0);
        }
        query.after = end.next;
    }
    ck_assert_uint_eq(total, 31);
    query = (SapListQuery){.prefix = "w1", .module = "acts"};
    Shown some = list_worlds(&query, &end);
    ck_assert(!end.more);
    ck_assert_str_eq(end.next, "");
    ck_assert_uint_eq(some.count, 3); /* w12, w15, w18 */
    ck_assert_str_eq(some.lines[0], "w12 acts 0 1 a");
    query = (SapListQuery){.statuses = (1u << SAP_WORLD_PAUSED) | (1u << SAP_WORLD_DELETED)};
    some = list_worlds(&query, NULL);
    ck_assert_uint_eq(some.count, 2);
    ck_assert_str_eq(some.lines[0], "w07 other 1 0 ");
    ck_assert_str_eq(some.lines[1], "w08 other 4 0 ");
    query = (SapListQuery){.prefix = "nothing"};
    ck_assert_uint_eq(list_worlds(&query, &end).count, 0);
    /* The callback ends it. */
    Shown stopped = {.code = 77};
    query = (SapListQuery){.size = sizeof query};
    ck_assert_int_eq(sap_worlds_list(scene.universe, &query, note_world, &stopped, &end), 77);
    ck_assert_uint_eq(stopped.count, 1);
    ck_assert(!end.more);
    scene_close(&scene);
}
END_TEST

START_TEST(a_query_that_is_none_is_refused)
{
    Shown shown = {.count = 0};
    SapUniverse *universe = scene.universe;
    SapListQuery query = {.size = sizeof query, .limit = 1001};
    ck_assert_int_eq(sap_worlds_list(universe, &query, note_world, &shown, NULL), SAP_ERROR);
    query = (SapListQuery){.size = sizeof query, .kind = "ring"};
    ck_assert_int_eq(sap_worlds_list(universe, &query, note_world, &shown, NULL), SAP_ERROR);
    query = (SapListQuery){.size = sizeof query, .prefix = "w"};
    ck_assert_int_eq(sap_effects_list(universe, &query, note_effect, &shown, NULL), SAP_ERROR);
    static const char *const bad[] = {"1", "zz", "AB12", "ff00", "15", "1500000000", "10aa"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        query = (SapListQuery){.size = sizeof query, .prefix = "w", .after = bad[i]};
        ck_assert_int_eq(sap_worlds_list(universe, &query, note_world, &shown, NULL), SAP_INVALID);
    }
    ck_assert_int_eq(sap_worlds_list(universe, NULL, NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_worlds_list(NULL, NULL, note_world, &shown, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_worlds_list(universe, NULL, note_world, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 0);
}
END_TEST

START_TEST(the_inbox_is_counted_by_class_and_age)
{
    SapInboxInfo info;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_world_inbox(scene.universe, "w", &info), SAP_NOTFOUND);
    scene_create(&scene, "w", "acts");
    scene_pass_ms(&scene, 2 * (uint64_t)SECOND_MS);
    for (int i = 0; i < 130; i++) {
        scene_send(&scene, "w", "x", NULL);
    }
    ck_assert_int_eq(sap_world_inbox(scene.universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.control, 1);
    ck_assert_uint_eq(info.messages, 130);
    ck_assert_uint_eq(info.receipts, 0);
    ck_assert(!info.capped);
    if (_i == STORE_BED_MEMORY) { /* the others have clocks of their own beside it */
        ck_assert_uint_ge(info.age_ns, UINT64_C(2000000000));
    }
    scene_run(worker);
    ck_assert_int_eq(sap_world_inbox(scene.universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.control + info.messages + info.receipts, 0);
    ck_assert_uint_eq(info.age_ns, 0);
    scene_close(&scene);
}
END_TEST

START_TEST(a_count_of_very_many_items_says_that_it_ends)
{
    SapInboxInfo info;
    SapIngress item = {.size = sizeof item, .encoding = SAP_ENCODING_RAW};
    scene_create(&scene, "w", "acts");
    scene.universe->max_inbox = UINT32_MAX;
    for (uint32_t i = 0; i < SAP_COUNT_MOST; i++) {
        ck_assert_int_eq(sap_enqueue_ingress(scene.universe, "w", &item, NULL), SAP_OK);
    }
    ck_assert_int_eq(sap_world_inbox(scene.universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.messages, SAP_COUNT_MOST);
    ck_assert(!info.capped);
    ck_assert_int_eq(sap_enqueue_ingress(scene.universe, "w", &item, NULL), SAP_OK);
    ck_assert_int_eq(sap_world_inbox(scene.universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.messages, SAP_COUNT_MOST);
    ck_assert(info.capped);
}
END_TEST

/* ---- Workers ------------------------------------------------------------------------------------- */

static int ring(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    int (*act)(const SapEffectCall *call) = *(int (**)(const SapEffectCall *))ctx;
    (void)result;
    return act(call);
}

static int ring_fails(const SapEffectCall *call)
{
    (void)call;
    return SAP_IO;
}

static int (*ring_act)(const SapEffectCall *call) = ring_fails;

static SapWorker *ringing_worker(const char *name)
{
    SapEffectKind kind = {.size = sizeof kind, .kind = "ring", .function = ring, .ctx = &ring_act};
    SapWorker *worker = scene_worker(&scene, name);
    ck_assert_int_eq(sap_worker_serve(worker, &kind), SAP_OK);
    return worker;
}

START_TEST(leases_workers_and_assignments_are_listed)
{
    Shown shown = {.count = 0};
    SapListQuery query = {.size = sizeof query};
    SapUniverse *universe = NULL;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    universe = scene.universe;
    SapWorker *a = ringing_worker("a");
    SapWorker *b = scene_worker(&scene, "b");
    scene_create(&scene, "v", "acts");
    scene_create(&scene, "w", "acts");
    scene_create(&scene, "z", "acts");
    ck_assert_int_eq(sap_assign_world(universe, "w", "b", 3, "near"), SAP_OK);
    scene_run_role(a, SAP_ROLE_EFFECTS);
    scene_run(a);
    scene_run(b);
    ck_assert_int_eq(sap_world_pause(universe, "z", ""), SAP_OK);
    ck_assert_int_eq(sap_leases_list(universe, &query, note_lease, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 2); /* the paused one is nobody's */
    ck_assert_str_eq(shown.lines[0], "v a 1 1 1");
    ck_assert_str_eq(shown.lines[1], "w b 1 1 1");
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_workers_list(universe, &query, note_worker, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.lines[0], "a 1 1 acts ring");
    ck_assert_str_eq(shown.lines[1], "b 1 1 acts");
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_assignments_list(universe, &query, note_assignment, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 1);
    ck_assert_str_eq(shown.lines[0], "w b 3 near");
    query.prefix = "b";
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_workers_list(universe, &query, note_worker, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 1);
    ck_assert_int_eq(sap_assignments_list(universe, &query, note_assignment, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 1);
    if (_i == STORE_BED_MEMORY) {
        scene_kill(&scene, b);
        scene_pass_ms(&scene, 30 * (uint64_t)SECOND_MS);
        shown = (Shown){.count = 0};
        ck_assert_int_eq(sap_workers_list(universe, &query, note_worker, &shown, NULL), SAP_OK);
        ck_assert_str_eq(shown.lines[0], "b 0 1 acts");
        query.prefix = "w";
        ck_assert_int_eq(sap_leases_list(universe, &query, note_lease, &shown, NULL), SAP_OK);
        ck_assert_str_eq(shown.lines[1], "w b 1 0 0");
    }
    scene_close(&scene);
}
END_TEST

START_TEST(dead_letters_of_all_worlds_are_listed)
{
    static SapListEnd end;
    Shown shown = {.count = 0};
    SapListQuery query = {.size = sizeof query, .limit = 2};
    SapWorker *worker = scene_worker(&scene, "a");
    for (int i = 0; i < 3; i++) {
        char name[2] = {(char)('u' + i), 0};
        scene_create(&scene, name, "acts");
        scene_send(&scene, name, "refuse", "1");
        scene_send(&scene, name, "refuse", "2");
    }
    scene_run(worker);
    do {
        ck_assert_int_eq(sap_dead_letters_list(scene.universe, &query, note_letter, &shown, &end),
                         SAP_OK);
        query.after = end.next;
    } while (end.more);
    ck_assert_uint_eq(shown.count, 6);
    ck_assert_str_eq(shown.lines[0], "u 1 never");
    ck_assert_str_eq(shown.lines[5], "w 2 never");
    query = (SapListQuery){.size = sizeof query, .world = "v"};
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_dead_letters_list(scene.universe, &query, note_letter, &shown, &end),
                     SAP_OK);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.lines[0], "v 1 never");
}
END_TEST

/* ---- History and state --------------------------------------------------------------------------- */

static int note_entry(void *ctx, const SapJournalEntry *entry)
{
    Shown *shown = (Shown *)ctx;
    char *line = next_line(shown);
    int n = snprintf(line, sizeof shown->lines[0], "%" PRIu64 " %d %s %s %s", entry->height,
                     (int)entry->kind, entry->item.name, entry->item.id, entry->error);
    for (uint32_t i = 0; i < entry->change_count; i++) {
        const SapChange *change = &entry->changes[i];
        n += snprintf(line + n, sizeof shown->lines[0] - (size_t)n, " %c%.*s=%.*s",
                      change->put ? '+' : '-', (int)change->key_len, (const char *)change->key,
                      (int)change->val_len, change->put ? (const char *)change->val : "");
    }
    for (uint32_t i = 0; i < entry->intent_count; i++) {
        const SapIntent *intent = &entry->intents[i];
        n += snprintf(line + n, sizeof shown->lines[0] - (size_t)n, " %s:%s:%.*s", intent->kind,
                      intent->ref, (int)intent->params_len, (const char *)intent->params);
    }
    return shown->code;
}

static int note_row(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                    const void *val, size_t val_len)
{
    Shown *shown = (Shown *)ctx;
    (void)snprintf(next_line(shown), sizeof shown->lines[0], "%.*s=%d:%.*s", (int)key_len,
                   (const char *)key, (int)encoding, (int)val_len, (const char *)val);
    return shown->code;
}

START_TEST(every_step_of_a_world_can_be_read)
{
    Shown shown = {.count = 0};
    uint64_t height = 0;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_journal_read(universe, "w", 0, 0, note_entry, &shown, NULL), SAP_NOTFOUND);
    scene_create(&scene, "w", "acts");
    scene_send(&scene, "w", "a", "1");
    scene_send(&scene, "w", "effect", "2");
    scene_send(&scene, "w", "refuse", "3");
    scene_send(&scene, "w", "last", "4");
    scene_run(worker);
    ck_assert_int_eq(sap_journal_read(universe, "w", 0, 0, note_entry, &shown, &height), SAP_OK);
    ck_assert_uint_eq(height, 5);
    ck_assert_uint_eq(shown.count, 5);
    ck_assert_str_eq(shown.lines[0], "1 0   ");
    ck_assert_str_eq(shown.lines[1], "2 0 a 1  +k/a=1");
    ck_assert_str_eq(shown.lines[2], "3 0 effect 2  ring:2:{\"n\":1}");
    ck_assert_str_eq(shown.lines[3], "4 1 refuse 3 never");
    ck_assert_str_eq(shown.lines[4], "5 0 last 4  +k/last=4 -k/a=");
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_journal_read(universe, "w", 1, 2, note_entry, &shown, &height), SAP_OK);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.lines[0], "2 0 a 1  +k/a=1");
    ck_assert_int_eq(sap_journal_read(universe, "w", 5, 0, note_entry, &shown, &height), SAP_OK);
    ck_assert_int_eq(sap_journal_read(universe, "w", 99, 0, note_entry, &shown, &height), SAP_OK);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_int_eq(sap_journal_read(universe, "w", 0, 1001, note_entry, &shown, NULL), SAP_ERROR);
    shown = (Shown){.code = 77};
    ck_assert_int_eq(sap_journal_read(universe, "w", 0, 0, note_entry, &shown, NULL), 77);
    ck_assert_uint_eq(shown.count, 1);
    scene_close(&scene);
}
END_TEST

START_TEST(the_state_at_any_step_can_be_read)
{
    Shown shown = {.count = 0};
    uint64_t height = 0;
    SapStateQuery query = {.size = sizeof query};
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_world_state_read(universe, "w", NULL, note_row, &shown, NULL),
                     SAP_NOTFOUND);
    scene_create(&scene, "w", "acts");
    scene_send(&scene, "w", "a", "1");
    scene_send(&scene, "w", "b", "2");
    scene_send(&scene, "w", "effect", "e"); /* the host's rows are not shown */
    scene_send(&scene, "w", "last", "4");
    scene_run(worker);
    ck_assert_int_eq(sap_world_state_read(universe, "w", NULL, note_row, &shown, &height), SAP_OK);
    ck_assert_uint_eq(height, 5);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.lines[0], "k/b=2:2");
    ck_assert_str_eq(shown.lines[1], "k/last=2:4");
    query.height = 3;
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_world_state_read(universe, "w", &query, note_row, &shown, &height),
                     SAP_OK);
    ck_assert_uint_eq(height, 3);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.lines[0], "k/a=2:1");
    query.limit = 1;
    query.after = "k/a";
    query.after_len = 3;
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_world_state_read(universe, "w", &query, note_row, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 1);
    ck_assert_str_eq(shown.lines[0], "k/b=2:2");
    query = (SapStateQuery){.size = sizeof query, .prefix = "k/l", .prefix_len = 3};
    shown = (Shown){.count = 0};
    ck_assert_int_eq(sap_world_state_read(universe, "w", &query, note_row, &shown, NULL), SAP_OK);
    ck_assert_uint_eq(shown.count, 1);
    query.height = 6;
    ck_assert_int_eq(sap_world_state_read(universe, "w", &query, note_row, &shown, NULL),
                     SAP_NOTFOUND);
    query = (SapStateQuery){.size = sizeof query, .prefix_len = 1};
    ck_assert_int_eq(sap_world_state_read(universe, "w", &query, note_row, &shown, NULL),
                     SAP_ERROR);
    shown = (Shown){.code = SAP_BUSY}; /* a code of the program's, also where it is one of ours */
    ck_assert_int_eq(sap_world_state_read(universe, "w", NULL, note_row, &shown, NULL), SAP_BUSY);
    /* Deleted and made again: what was before is another world's. */
    ck_assert_int_eq(sap_world_delete(universe, "w", ""), SAP_OK);
    for (bool done = false; !done;) {
        ck_assert_int_eq(sap_world_drain(universe, "w", 0, &done), SAP_OK);
    }
    scene_create(&scene, "w", "acts");
    scene_run(worker);
    query = (SapStateQuery){.size = sizeof query, .height = 3};
    ck_assert_int_eq(sap_world_state_read(universe, "w", &query, note_row, &shown, NULL),
                     SAP_NOTFOUND);
    scene_close(&scene);
}
END_TEST

/* ---- Effects and timers -------------------------------------------------------------------------- */

START_TEST(effects_are_listed_retried_and_cancelled_by_hand)
{
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapListQuery all = {.limit = 1}; /* each page has one */
    ring_act = ring_fails;
    SapWorker *worker = ringing_worker("a");
    scene_create(&scene, "v", "acts");
    scene_create(&scene, "w", "acts");
    scene_send(&scene, "w", "effect", "one");
    scene_send(&scene, "w", "effect", "two");
    scene_send(&scene, "v", "effect", "three");
    scene_run(worker);
    Shown shown = list_effects(&all);
    ck_assert_uint_eq(shown.count, 3);
    SapListQuery of_world = {.world = "v", .kind = "ring", .states = SAP_EFFECT_PENDING};
    shown = list_effects(&of_world);
    ck_assert_uint_eq(shown.count, 1);
    ck_assert_str_eq(shown.lines[0], "v ring three 1 0  0");
    scene_run_role(worker, SAP_ROLE_EFFECTS); /* each fails once, and waits for 30 s */
    shown = list_effects(&of_world);
    ck_assert_str_eq(shown.lines[0], "v ring three 1 1  1");
    uint8_t hash[32];
    memcpy(hash, shown.hashes[0], sizeof hash);
    ck_assert_int_eq(sap_effect_retry(universe, "w", hash), SAP_NOTFOUND); /* another's */
    ck_assert_int_eq(sap_effect_retry(universe, "v", hash), SAP_OK);
    ck_assert_int_eq(sap_effect_retry(universe, "v", hash), SAP_OK);
    shown = list_effects(&of_world);
    ck_assert_str_eq(shown.lines[0], "v ring three 1 1  0");
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    shown = list_effects(&of_world);
    ck_assert_str_eq(shown.lines[0], "v ring three 1 2  1");
    ck_assert_int_eq(sap_effect_cancel(universe, "v", hash), SAP_OK);
    ck_assert_int_eq(sap_effect_cancel(universe, "v", hash), SAP_OK); /* that has been done */
    ck_assert_int_eq(sap_effect_retry(universe, "v", hash), SAP_EXISTS);
    ck_assert_uint_eq(list_effects(&of_world).count, 0);
    scene_run(worker);
    ck_assert_uint_eq(answers, 1);
    ck_assert_str_eq(answered[0], "receipt three cancelled");
    ck_assert_int_eq(sap_effect_cancel(universe, "v", hash), SAP_NOTFOUND);
    ck_assert_int_eq(sap_effect_retry(universe, "v", hash), SAP_NOTFOUND);
    /* Another receipt is no cancel. */
    SapListQuery rest = {.world = "w"};
    shown = list_effects(&rest);
    memcpy(hash, shown.hashes[0], sizeof hash);
    ck_assert_int_eq(
        sap_receipt_inject(universe, "w", hash, SAP_RECEIPT_OK, NULL, SAP_ENCODING_JSON, NULL, 0),
        SAP_OK);
    ck_assert_int_eq(sap_effect_cancel(universe, "w", hash), SAP_EXISTS);
    scene_close(&scene);
}
END_TEST

static bool seen_inflight;

/* While the call is under way. */
static int ring_watched(const SapEffectCall *call)
{
    SapListQuery query = {.states = SAP_EFFECT_INFLIGHT};
    Shown shown = list_effects(&query);
    ck_assert_uint_eq(shown.count, 1);
    ck_assert_str_eq(shown.lines[0], "w ring one 2 1 a 0");
    ck_assert_str_eq(call->ref, "one");
    ck_assert_int_eq(sap_effect_retry(scene.universe, "w", shown.hashes[0]), SAP_BUSY);
    ck_assert_int_eq(sap_effect_cancel(scene.universe, "w", shown.hashes[0]), SAP_OK);
    ck_assert_uint_eq(list_effects(&query).count, 0);
    seen_inflight = true;
    return SAP_OK;
}

START_TEST(an_effect_that_is_cancelled_while_it_is_performed_has_one_receipt)
{
    ring_act = ring_watched;
    SapWorker *worker = ringing_worker("a");
    scene_create(&scene, "w", "acts");
    scene_send(&scene, "w", "effect", "one");
    scene_run(worker);
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    ck_assert(seen_inflight);
    scene_run(worker);
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    scene_run(worker);
    ck_assert_uint_eq(answers, 1);
    ck_assert_str_eq(answered[0], "receipt one cancelled");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_DEDUPE), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EFFECTS_INFLIGHT), 0);
}
END_TEST

START_TEST(timers_are_listed_and_cancelled_by_hand)
{
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapListQuery all = {.limit = 0};
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "acts");
    scene_create(&scene, "v", "acts");
    scene_send(&scene, "w", "timer", "soon");
    scene_send(&scene, "v", "day", "late");
    scene_run(worker);
    Shown shown = list_timers(&all);
    ck_assert_uint_eq(shown.count, 2);
    ck_assert_str_eq(shown.lines[0], "w soon 1 0");
    ck_assert_str_eq(shown.lines[1], "v late 1 1");
    SapListQuery of_world = {.world = "v"};
    ck_assert_uint_eq(list_timers(&of_world).count, 1);
    ck_assert_int_eq(sap_timer_cancel(universe, "v", shown.hashes[0]), SAP_NOTFOUND);
    ck_assert_int_eq(sap_timer_cancel(universe, "w", shown.hashes[0]), SAP_OK);
    ck_assert_int_eq(sap_timer_cancel(universe, "w", shown.hashes[0]), SAP_NOTFOUND);
    ck_assert_uint_eq(list_timers(&all).count, 1);
    scene_run(worker);
    ck_assert_uint_eq(answers, 1);
    ck_assert_str_eq(answered[0], "receipt soon cancelled");
    /* Its ref is free again, and nothing fires any more. */
    scene_send(&scene, "w", "timer", "soon-2");
    scene_run(worker);
    ck_assert_uint_eq(list_timers(&all).count, 2);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_TIMERS_DEDUPE), 2);
    ck_assert_int_eq(sap_timer_cancel(universe, "", shown.hashes[0]), SAP_INVALID);
    ck_assert_int_eq(sap_timer_cancel(universe, "w", NULL), SAP_ERROR);
    ck_assert_int_eq(sap_effect_retry(NULL, "w", shown.hashes[0]), SAP_ERROR);
    scene_close(&scene);
}
END_TEST

/* ---- Without memory ------------------------------------------------------------------------------ */

static void expect_list(int rc, uint32_t got, uint32_t all)
{
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "a list returned %d", rc);
    EXPECT(rc != SAP_OK || got == all, "%u entries in place of %u", got, all);
}

#define TRY_LIST(call, all)                     \
    do {                                        \
        shown = (Shown){.count = 0};            \
        int list_rc = (call);                   \
        expect_list(list_rc, shown.count, all); \
    } while (0)

static bool fail_nth(uint64_t nth)
{
    static Shown shown;
    uint8_t hash[32];
    SapUniverse *universe = NULL;
    SapListQuery query = {.size = sizeof query};
    SapInboxInfo inbox;
    expect_context("allocation %" PRIu64, nth);
    answers = 0;
    scene_open(&scene, "memory:", false);
    universe = scene.universe;
    SapWorker *worker = ringing_worker("a");
    scene_run_role(worker, SAP_ROLE_EFFECTS);
    scene_create(&scene, "w", "acts");
    scene_send(&scene, "w", "effect", "one");
    scene_send(&scene, "w", "timer", "two");
    scene_send(&scene, "w", "refuse", "three");
    scene_run(worker);
    ck_assert_int_eq(sap_assign_world(universe, "w", "a", 0, ""), SAP_OK);
    SapListQuery of_effects = {.limit = 0};
    SapListQuery of_timers = {.limit = 0};
    uint8_t timer[32];
    Shown found = list_effects(&of_effects);
    memcpy(hash, found.hashes[0], sizeof hash);
    found = list_timers(&of_timers);
    memcpy(timer, found.hashes[0], sizeof timer);
    fault_reset();
    fault_arm_alloc(nth);
    TRY_LIST(sap_worlds_list(universe, &query, note_world, &shown, NULL), 1);
    TRY_LIST(sap_effects_list(universe, &query, note_effect, &shown, NULL), 1);
    TRY_LIST(sap_timers_list(universe, &query, note_timer, &shown, NULL), 1);
    TRY_LIST(sap_leases_list(universe, &query, note_lease, &shown, NULL), 1);
    TRY_LIST(sap_workers_list(universe, &query, note_worker, &shown, NULL), 1);
    TRY_LIST(sap_assignments_list(universe, &query, note_assignment, &shown, NULL), 1);
    TRY_LIST(sap_dead_letters_list(universe, &query, note_letter, &shown, NULL), 1);
    TRY_LIST(sap_journal_read(universe, "w", 0, 0, note_entry, &shown, NULL), 4);
    TRY_LIST(sap_world_state_read(universe, "w", NULL, note_row, &shown, NULL), 0);
    int rc = sap_world_inbox(universe, "w", &inbox);
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "inbox returned %d", rc);
    rc = sap_effect_retry(universe, "w", hash);
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "retry returned %d", rc);
    rc = sap_effect_cancel(universe, "w", hash);
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "cancel returned %d", rc);
    rc = sap_effect_cancel(universe, "w", hash);
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "the second cancel returned %d", rc);
    rc = sap_timer_cancel(universe, "w", timer);
    rc = rc == SAP_NOMEM ? sap_timer_cancel(universe, "w", timer) : rc;
    EXPECT(rc == SAP_OK, "the cancel of a timer returned %d", rc);
    bool fired = fault_fired() > 0;
    fault_reset();
    scene_run(worker);
    EXPECT(answers == 2, "%u answers", answers);
    scene_close(&scene);
    return fired;
}

START_TEST(every_allocation_that_fails_is_said_and_changes_nothing)
{
    uint64_t n = 1;
    ring_act = ring_fails;
    while (n < MOST_FAULTS && fail_nth(n)) {
        n++;
    }
    ck_assert_uint_lt(n, MOST_FAULTS);
    ck_assert_uint_gt(n, 50);
    (void)printf("universe_lists: %" PRIu64 " allocations failed\n", n - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_lists");
    TCase *every = tcase_create("on every store");
    TCase *memory = tcase_create("in memory");
    TCase *faults = tcase_create("without memory");
    tcase_add_checked_fixture(every, set_up_beds, tear_down_beds);
    tcase_set_timeout(every, TIMEOUT_S);
    tcase_add_loop_test(every, worlds_are_listed_page_by_page_and_by_what_they_are, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, the_inbox_is_counted_by_class_and_age, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, leases_workers_and_assignments_are_listed, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, every_step_of_a_world_can_be_read, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, the_state_at_any_step_can_be_read, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, effects_are_listed_retried_and_cancelled_by_hand, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, timers_are_listed_and_cancelled_by_hand, 0, STORE_BED_MAX);
    suite_add_tcase(suite, every);
    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_set_timeout(memory, TIMEOUT_S);
    tcase_add_test(memory, a_query_that_is_none_is_refused);
    tcase_add_test(memory, a_count_of_very_many_items_says_that_it_ends);
    tcase_add_test(memory, dead_letters_of_all_worlds_are_listed);
    tcase_add_test(memory, an_effect_that_is_cancelled_while_it_is_performed_has_one_receipt);
    suite_add_tcase(suite, memory);
    tcase_set_timeout(faults, TIMEOUT_S);
    tcase_add_test(faults, every_allocation_that_fails_is_said_and_changes_nothing);
    suite_add_tcase(suite, faults);
    return suite_run(suite);
}
