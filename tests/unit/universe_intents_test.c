/* Effects and timers of worlds by universe.h alone, on every store: what handlers ask for, what comes back,
 * and what a process that dies at any store call leaves to the next. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/mem.h"
#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "universe/universe_impl.h"

enum { TIMEOUT_S = 300, MOST_CALLS = 1000, MOST_ROUNDS = 2000, TEXT = 512 };

static StoreBeds beds;

/* ---- The handler ----------------------------------------------------------------------------- */

/* Adds a line to what has come back. */
static int note(SapWorld *world, const char *line)
{
    const void *old = "";
    size_t len = 0;
    char text[TEXT];
    int rc = sap_world_get(world, "text", 4, &old, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    int wrote = snprintf(text, sizeof text, "%.*s%s;", (int)len, (const char *)old, line);
    return sap_world_put(world, "text", 4, SAP_ENCODING_RAW, text, (size_t)wrote);
}

static int ask_effect(SapWorld *world, const char *ref, const char *params)
{
    SapEffect effect = {.size = sizeof effect, .kind = "echo", .ref = ref, .params = params};
    effect.params_len = strlen(params);
    return sap_world_effect(world, &effect);
}

static int arm(SapWorld *world, const char *ref, uint64_t after_ns, const char *payload)
{
    SapTimer timer = {.size = sizeof timer, .ref = ref, .after_ns = after_ns, .payload = payload};
    timer.payload_len = strlen(payload);
    return sap_world_timer(world, &timer);
}

/* Two messages that have one id, and a question. */
static int send_twice(SapWorld *world)
{
    SapSend send = {.size = sizeof send, .world = "v", .name = "hello", .message_id = "m1"};
    send.ref = "m";
    int rc = sap_world_send(world, &send);
    send.ref = "n";
    return rc == SAP_OK ? sap_world_send(world, &send) : rc;
}

static int ask_v(SapWorld *world, const char *name, uint64_t timeout_ns)
{
    SapAsk ask = {.size = sizeof ask, .world = "v", .name = name, .ref = "q", .create = "intents"};
    ask.timeout_ns = timeout_ns;
    return sap_world_ask(world, &ask);
}

static int note_message(SapWorld *world, const SapEvent *event)
{
    int rc = note(world, event->name);
    return rc == SAP_OK && event->reply_to[0] != 0 && strcmp(event->name, "silence") != 0
               ? sap_world_reply(world, event->reply_to, SAP_ENCODING_RAW, "yes", 3)
               : rc;
}

/* The name of an event says what to ask for; answers are noted. */
static int on_event(SapWorld *world, const SapEvent *event)
{
    char line[TEXT / 2];
    const void *text = "";
    size_t len = 0;
    if (event->kind == SAP_EVENT_RECEIPT || event->kind == SAP_EVENT_TIMER) {
        SapSendReceipt receipt;
        bool sent = sap_send_receipt_read(event, &receipt) == SAP_OK;
        (void)snprintf(line, sizeof line, "%s %d %s %.*s", event->ref, (int)event->status,
                       event->code, sent ? 0 : (int)event->payload_len,
                       (const char *)event->payload);
        return note(world, line);
    }
    if (event->from_world[0] != 0 && event->kind == SAP_EVENT_MESSAGE) {
        return note_message(world, event);
    }
    if (strcmp(event->name, "send twice") == 0) {
        return send_twice(world);
    }
    if (strcmp(event->name, "ask") == 0) {
        return ask_v(world, "question", 0);
    }
    if (strcmp(event->name, "ask in vain") == 0) {
        return ask_v(world, "silence", 1);
    }
    if (strcmp(event->name, "effect") == 0) {
        return ask_effect(world, "e", "1");
    }
    if (strcmp(event->name, "bad effect") == 0) {
        return ask_effect(world, "e", "\"no\"");
    }
    if (strcmp(event->name, "unnamed") == 0) {
        int rc = ask_effect(world, NULL, "1");
        return rc == SAP_OK ? ask_effect(world, NULL, "\"no\"") : rc;
    }
    if (strcmp(event->name, "twice") == 0) {
        int rc = ask_effect(world, "e", "1");
        return rc == SAP_OK && ask_effect(world, "e", "2") == SAP_EXISTS &&
                       arm(world, "e", 0, "1") == SAP_EXISTS
                   ? SAP_OK
                   : SAP_ERROR;
    }
    if (strcmp(event->name, "timer") == 0) {
        return arm(world, "t", 0, "1");
    }
    if (strcmp(event->name, "replaced timer") == 0) {
        int rc = arm(world, "t", UINT64_C(3600000000000), "1");
        return rc == SAP_OK ? arm(world, "t", 1, "2") : rc;
    }
    if (strcmp(event->name, "late timer") == 0) {
        return arm(world, "t", UINT64_C(3600000000000), "1");
    }
    if (strcmp(event->name, "cancel at once") == 0) {
        int rc = ask_effect(world, "e", "1");
        rc = rc == SAP_OK ? arm(world, "t", 0, "1") : rc;
        rc = rc == SAP_OK ? sap_world_cancel(world, "e") : rc;
        return rc == SAP_OK ? sap_world_cancel(world, "t") : rc;
    }
    if (strcmp(event->name, "cancel") == 0) {
        int rc = sap_world_cancel(world, "e");
        rc = rc == SAP_OK || rc == SAP_NOTFOUND ? sap_world_cancel(world, "t") : rc;
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    int rc = sap_world_get(world, "text", 4, &text, &len, NULL);
    if (rc == SAP_NOTFOUND) {
        rc = SAP_OK;
    }
    return rc == SAP_OK && event->reply_to[0] != 0
               ? sap_world_reply(world, event->reply_to, SAP_ENCODING_RAW, text, len)
               : rc;
}

SAP_WORLD_MODULE("intents", on_event);

/* ---- A process ------------------------------------------------------------------------------- */

/* The outside: what was called, with which keys. */
typedef struct Outside {
    uint32_t calls;
    char key[2 * UNIVERSE_DIGEST + 1]; /* of the first call */
    bool other_key;
} Outside;

/* Where the process is to die. */
typedef enum Moment {
    AFTER_CLAIM, /* effects are claimed, nothing was called */
    AFTER_CALL,  /* it was called, and there is no receipt */
    WHILE_FIRING,
    WHILE_DELIVERING,
} Moment;

typedef struct Death {
    Outside outside;
    bool watching;
    Moment moment;
    uint32_t nth; /* call of the moment; 0: nobody dies */
    uint32_t commits;
    uint32_t calls;
    bool died;
} Death;

typedef struct Process {
    SapStore *store;
    SapUniverse *universe;
    SapWorker *worker;
    Death *death;
} Process;

static bool in_moment(const Death *death)
{
    switch (death->moment) {
    case AFTER_CLAIM:
        return death->commits > 0 && death->outside.calls == 0;
    case AFTER_CALL:
        return death->outside.calls > 0;
    default:
        return true;
    }
}

static SapStoreFault hook(void *ctx, SapStoreCall call)
{
    Death *death = (Death *)ctx;
    if (!death->watching || death->died) {
        return SAP_STORE_FAULT_NONE;
    }
    if (in_moment(death) && ++death->calls == death->nth) {
        death->died = true;
        return SAP_STORE_FAULT_CRASH;
    }
    death->commits += call == SAP_STORE_CALL_COMMIT;
    return SAP_STORE_FAULT_NONE;
}

static int echo(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    Outside *outside = &((Death *)ctx)->outside;
    if (outside->calls++ == 0) {
        (void)snprintf(outside->key, sizeof outside->key, "%s", call->idempotency_key);
    }
    outside->other_key = outside->other_key || strcmp(outside->key, call->idempotency_key) != 0;
    if (call->params_len > 0 && ((const char *)call->params)[0] == '"') {
        return sap_effect_result(result, SAP_RECEIPT_ERROR, "refused", SAP_ENCODING_JSON, NULL, 0);
    }
    return sap_effect_result(result, SAP_RECEIPT_OK, NULL, call->encoding, call->params,
                             call->params_len);
}

static SapStoreOptions store_options(Death *death)
{
    SapStoreOptions options = {.size = sizeof options, .hook = hook, .hook_ctx = death};
    options.tables = universe_tables(&options.table_count);
    return options;
}

static Process start(const char *url, Death *death)
{
    Process process = {.death = death};
    SapStoreOptions options = store_options(death);
    SapWorkerOptions worker = {.size = sizeof worker, .name = "worker"};
    SapEffectKind kind = {.size = sizeof kind, .kind = "echo", .function = echo, .ctx = death};
    kind.retry.first_ns = 1000000;
    ck_assert_int_eq(sap_store_open(url, &options, &process.store), SAP_OK);
    ck_assert_int_eq(universe_open_on(process.store, NULL, NULL, 1, &process.universe), SAP_OK);
    ck_assert_int_eq(sap_worker_open(process.universe, &worker, &process.worker), SAP_OK);
    ck_assert_int_eq(sap_worker_serve(process.worker, &kind), SAP_OK);
    ck_assert_int_eq(sap_worker_serve(process.worker, &kind), SAP_EXISTS);
    return process;
}

static void end(Process *process)
{
    worker_abandon(process->worker);
    ck_assert_int_eq(sap_universe_close(process->universe), SAP_OK);
    (void)sap_store_close(process->store);
}

static void expect_step(const Process *process, SapRole role, bool *busy)
{
    int rc = sap_worker_step_role(process->worker, role, busy);
    EXPECT(rc == SAP_OK || process->death->died, "role %d: %d", (int)role, rc);
}

static void step_all(const Process *process)
{
    static const SapRole roles[] = {SAP_ROLE_WORLDS, SAP_ROLE_TIMERS, SAP_ROLE_EFFECTS,
                                    SAP_ROLE_REAPER, SAP_ROLE_ORCHESTRATOR};
    for (size_t i = 0; i < sizeof roles / sizeof *roles && !process->death->died; i++) {
        bool busy = false;
        expect_step(process, roles[i], &busy);
    }
}

static void send_to(const Process *process, const char *world, const char *name, const char *id)
{
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .want_reply = id != NULL};
    ck_assert_int_eq(sap_enqueue_ingress(process->universe, world, &item, NULL), SAP_OK);
}

static void send_item(const Process *process, const char *name, const char *id)
{
    send_to(process, "w", name, id);
}

/* What has come back so far, or what another world has got. */
static void read_text_of(const Process *process, const char *world, uint32_t number,
                         char text[TEXT])
{
    char id[16];
    SapReply *reply = NULL;
    (void)snprintf(id, sizeof id, "what %" PRIu32, number);
    send_to(process, world, "what", id);
    for (int i = 0; i < MOST_ROUNDS && reply == NULL; i++) {
        bool busy = false;
        expect_step(process, SAP_ROLE_WORLDS, &busy);
        (void)sap_world_reply_wait(process->universe, world, id, 0, &reply);
    }
    EXPECT(reply != NULL, "no reply");
    (void)snprintf(text, TEXT, "%s", reply->payload);
    sap_reply_free(reply);
}

static void read_text(const Process *process, uint32_t number, char text[TEXT])
{
    read_text_of(process, "w", number, text);
}

/* Steps everything until this has come back, and a little longer. */
static void expect_text(const Process *process, const char *want)
{
    static uint32_t number;
    char text[TEXT] = "";
    struct timespec pause = {.tv_nsec = 2000000};
    for (int i = 0; i < MOST_ROUNDS && strcmp(text, want) != 0; i++) {
        step_all(process);
        read_text(process, number++, text);
        (void)nanosleep(&pause, NULL);
    }
    for (int i = 0; i < 5; i++) {
        step_all(process);
    }
    read_text(process, number++, text);
    EXPECT(strcmp(text, want) == 0, "'%s' has come back, not '%s'", text, want);
}

static int count_one(void *ctx, const SapOutstanding *outstanding)
{
    (void)outstanding;
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

static void expect_outstanding(const Process *process, uint32_t want)
{
    uint32_t count = 0;
    bool busy = true;
    while (busy) {
        expect_step(process, SAP_ROLE_WORLDS, &busy);
    }
    ck_assert_int_eq(sap_world_outstanding(process->universe, "w", count_one, &count), SAP_OK);
    EXPECT(count == want, "%" PRIu32 " outstanding, not %" PRIu32, count, want);
}

static int count_letter(void *ctx, const SapDeadLetter *letter)
{
    EXPECT(strstr(letter->error, "refused") != NULL, "'%s'", letter->error);
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

/* ---- What comes back ------------------------------------------------------------------------- */

/* A process on a new store of the bed, with the world. False: there is no such store here. */
static bool begin(int bed, Death *death, Process *process)
{
    char url[SUITE_URL_MAX];
    if (bed >= beds.count) {
        return false;
    }
    store_suite_next_url(&beds.all[bed], url, sizeof url);
    SapStoreOptions options = store_options(death);
    store_suite_make(&beds.all[bed], url, &options);
    *process = start(url, death);
    ck_assert_int_eq(
        sap_world_create(process->universe, "w", "intents", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    return true;
}

/* What each name asks for, and all that comes back. */
typedef struct Case {
    const char *name;
    const char *text;
    uint32_t calls;
    uint32_t letters;
} Case;

static const Case cases[] = {
    {"effect", "e 1  1;", 1, 0},  {"bad effect", "e 2 refused null;", 1, 0},
    {"unnamed", "", 2, 1},        {"twice", "e 1  1;", 1, 0},
    {"timer", "t 0  1;", 0, 0},   {"replaced timer", "t 0  2;", 0, 0},
    {"cancel at once", "", 0, 0},
};
enum { CASES = sizeof cases / sizeof *cases };

START_TEST(what_a_handler_asks_for_comes_back_once)
{
    for (size_t i = 0; i < CASES; i++) {
        Death nobody = {.nth = 0};
        Process process;
        uint32_t letters = 0;
        if (!begin(_i, &nobody, &process)) {
            return;
        }
        expect_context("%s, %s", beds.all[_i].name, cases[i].name);
        send_item(&process, cases[i].name, NULL);
        for (int round = 0; round < MOST_ROUNDS && nobody.outside.calls < cases[i].calls; round++) {
            step_all(&process);
        }
        expect_text(&process, cases[i].text);
        EXPECT(nobody.outside.calls == cases[i].calls, "%" PRIu32 " calls", nobody.outside.calls);
        expect_outstanding(&process, 0);
        ck_assert_int_eq(sap_dead_letters(process.universe, "w", count_letter, &letters), SAP_OK);
        EXPECT(letters == cases[i].letters, "%" PRIu32 " dead letters", letters);
        end(&process);
    }
}
END_TEST

START_TEST(what_is_cancelled_in_a_later_step_does_not_come_back)
{
    Death nobody = {.nth = 0};
    Process process;
    if (!begin(_i, &nobody, &process)) {
        return;
    }
    bool busy = true;
    send_item(&process, "effect", NULL);
    send_item(&process, "late timer", NULL);
    while (busy) {
        expect_step(&process, SAP_ROLE_WORLDS, &busy);
    }
    expect_outstanding(&process, 2);
    send_item(&process, "cancel", NULL);
    expect_outstanding(&process, 0);
    expect_text(&process, "");
    EXPECT(nobody.outside.calls == 0, "it was called");
    send_item(&process, "effect", NULL); /* the ref is free again */
    expect_text(&process, "e 1  1;");
    end(&process);
}
END_TEST

static int take_hash(void *ctx, const SapOutstanding *outstanding)
{
    EXPECT(!outstanding->timer && strcmp(outstanding->ref, "e") == 0,
           "it waits for something else");
    memcpy(ctx, outstanding->intent_hash, UNIVERSE_DIGEST);
    return SAP_OK;
}

static int inject(const Process *process, const uint8_t hash[UNIVERSE_DIGEST],
                  SapReceiptStatus status)
{
    return sap_receipt_inject(process->universe, "w", hash, status, NULL, SAP_ENCODING_JSON, "7",
                              1);
}

START_TEST(a_person_resolves_what_a_world_waits_for)
{
    Death nobody = {.nth = 0};
    Process process;
    uint8_t hash[UNIVERSE_DIGEST] = {1};
    if (!begin(_i, &nobody, &process)) {
        return;
    }
    ck_assert_int_eq(inject(&process, hash, SAP_RECEIPT_OK), SAP_NOTFOUND);
    ck_assert_int_eq(inject(&process, hash, SAP_RECEIPT_NONE), SAP_INVALID);
    send_item(&process, "effect", NULL);
    expect_outstanding(&process, 1);
    ck_assert_int_eq(sap_world_outstanding(process.universe, "w", take_hash, hash), SAP_OK);
    ck_assert_int_eq(inject(&process, hash, SAP_RECEIPT_OK), SAP_OK);
    ck_assert_int_eq(inject(&process, hash, SAP_RECEIPT_OK), SAP_EXISTS);
    expect_text(&process, "e 1  7;");
    EXPECT(nobody.outside.calls == 0, "it was called all the same");
    ck_assert_int_eq(inject(&process, hash, SAP_RECEIPT_OK), SAP_NOTFOUND);
    expect_outstanding(&process, 0);
    end(&process);
}
END_TEST

/* ---- Deaths ---------------------------------------------------------------------------------- */

/* What the world asks for, the role in which its process dies, and what comes of it. */
typedef struct Deadly {
    const char *event;
    Moment moment;
    SapRole role;
    const char *text;
    const char *other; /* that the world v has got; NULL: there is no such world */
    const char *name;  /* for the report */
} Deadly;

/* One death while the world waits. False: the moment has no such call. */
static bool die_at(const StoreBed *bed, const Deadly *deadly, uint32_t nth)
{
    char url[SUITE_URL_MAX];
    char other[TEXT];
    Death death = {.moment = deadly->moment, .nth = nth};
    Death nobody = {.nth = 0};
    SapStore *anchor = NULL;
    store_suite_next_url(bed, url, sizeof url);
    SapStoreOptions options = store_options(&nobody);
    store_suite_make(bed, url, &options);
    if (bed->is_shared) { /* what is in memory stays while it is open */
        ck_assert_int_eq(sap_store_open(url, &options, &anchor), SAP_OK);
    }
    Process first = start(url, &death);
    bool busy = true;
    ck_assert_int_eq(sap_world_create(first.universe, "w", "intents", SAP_ENCODING_JSON, NULL, 0),
                     SAP_OK);
    if (deadly->other != NULL) {
        ck_assert_int_eq(
            sap_world_create(first.universe, "v", "intents", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    }
    send_item(&first, deadly->event, NULL);
    while (busy) {
        expect_step(&first, SAP_ROLE_WORLDS, &busy);
    }
    death.watching = true;
    for (int i = 0; i < 4 && !death.died; i++) {
        expect_step(&first, deadly->role, &busy);
    }
    end(&first);
    /* The same name: its new session ends the old one, and with it the claims. */
    nobody.outside = death.outside;
    Process second = start(url, &nobody);
    expect_text(&second, deadly->text);
    expect_outstanding(&second, 0);
    if (deadly->other != NULL) {
        read_text_of(&second, "v", UINT32_MAX, other);
        EXPECT(strcmp(other, deadly->other) == 0, "v has got '%s'", other);
    }
    EXPECT(strcmp(deadly->event, "effect") != 0 || nobody.outside.calls >= 1, "it was not called");
    EXPECT(nobody.outside.calls <= 2, "it was called %" PRIu32 " times", nobody.outside.calls);
    EXPECT(!nobody.outside.other_key, "attempts with two keys");
    end(&second);
    if (anchor != NULL) {
        ck_assert_int_eq(sap_store_close(anchor), SAP_OK);
    }
    return death.died;
}

static void die_everywhere(int bed, const Deadly *deadly)
{
    uint32_t nth = 1;
    if (bed >= beds.count) {
        return;
    }
    for (;; nth++) {
        expect_context("%s, %s, call %" PRIu32, beds.all[bed].name, deadly->name, nth);
        if (!die_at(&beds.all[bed], deadly, nth)) {
            break;
        }
        EXPECT(nth < MOST_CALLS, "there is no end of calls");
    }
    EXPECT(nth > 1, "the moment has no call");
    printf("universe_intents: %s: %" PRIu32 " deaths %s\n", beds.all[bed].name, nth - 1,
           deadly->name);
}

START_TEST(crash_matrix_4_after_effect_claim_before_external_call)
{
    static const Deadly deadly = {"effect",  AFTER_CLAIM, SAP_ROLE_EFFECTS,
                                  "e 1  1;", NULL,        "after the claim, before the call"};
    die_everywhere(_i, &deadly);
}
END_TEST

/* The seed's deterministic test 2 too: attempts are made again, and one receipt comes back. */
START_TEST(crash_matrix_5_after_external_call_before_receipt_enqueue)
{
    static const Deadly deadly = {"effect",  AFTER_CALL, SAP_ROLE_EFFECTS,
                                  "e 1  1;", NULL,       "after the call, before the receipt"};
    die_everywhere(_i, &deadly);
}
END_TEST

/* The seed's deterministic test 3 too: a timer that was armed before the crash fires after it. */
START_TEST(crash_matrix_6_after_timer_claim_before_fire_enqueue)
{
    static const Deadly deadly = {"timer",   WHILE_FIRING, SAP_ROLE_TIMERS,
                                  "t 0  1;", NULL,         "while a timer fires"};
    die_everywhere(_i, &deadly);
}
END_TEST

/* The seed's deterministic test 4: whoever dies while messages with one id are claimed and delivered, the
 * destination gets one of them, and each has its receipt. */
START_TEST(seed_deterministic_4_fabric_dedupe_after_crashes)
{
    static const Deadly deadly = {"send twice",     WHILE_DELIVERING,
                                  SAP_ROLE_EFFECTS, "m 1  ;n 1  ;",
                                  "hello;",         "while messages with one id are delivered"};
    die_everywhere(_i, &deadly);
}
END_TEST

START_TEST(crash_matrix_4_and_5_of_a_question_and_its_reply)
{
    static const Deadly deadly = {"ask",       WHILE_DELIVERING, SAP_ROLE_EFFECTS,
                                  "q 1  yes;", "question;",      "while a question is delivered"};
    die_everywhere(_i, &deadly);
}
END_TEST

START_TEST(crash_matrix_6_of_a_question_that_times_out)
{
    static const Deadly deadly = {
        "ask in vain",       WHILE_FIRING, SAP_ROLE_TIMERS,
        "q 3 timeout null;", NULL,         "while the time of a question ends"};
    die_everywhere(_i, &deadly);
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
    Suite *suite = suite_create("universe_intents");
    TCase *tcase = tcase_create("on every store");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, what_a_handler_asks_for_comes_back_once, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, what_is_cancelled_in_a_later_step_does_not_come_back, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, a_person_resolves_what_a_world_waits_for, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, crash_matrix_4_after_effect_claim_before_external_call, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, crash_matrix_5_after_external_call_before_receipt_enqueue, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, crash_matrix_6_after_timer_claim_before_fire_enqueue, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(tcase, seed_deterministic_4_fabric_dedupe_after_crashes, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, crash_matrix_4_and_5_of_a_question_and_its_reply, 0, STORE_BED_MAX);
    tcase_add_loop_test(tcase, crash_matrix_6_of_a_question_that_times_out, 0, STORE_BED_MAX);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
