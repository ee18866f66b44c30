/* universe_talk.c - see universe_talk.h. */
#include "support/universe_talk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/expect.h"

enum { LINE = 256, ROUNDS = 2000, LONGER = 4 };

#define MS_NS UINT64_C(1000000)

TalkSeen talk_seen;
uint32_t talk_bells;

/* ---- Scripts --------------------------------------------------------------------------------- */

/* The value of an option of the line, or NULL. */
static const char *option(const char *line, const char *name, char room[LINE])
{
    char pattern[32];
    (void)snprintf(pattern, sizeof pattern, " %s=", name);
    const char *at = strstr(line, pattern);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(pattern);
    size_t len = strcspn(at, " ");
    memcpy(room, at, len);
    room[len] = 0;
    return room;
}

static uint64_t number_option(const char *line, const char *name)
{
    char room[LINE];
    const char *text = option(line, name, room);
    return text == NULL ? 0 : strtoull(text, NULL, 10);
}

/* The texts of a line. */
typedef struct Words {
    char world[LINE];
    char name[LINE];
    char ref[LINE];
    char id[LINE];
    char create[LINE];
    char correlation[LINE];
    char body[LINE];
} Words;

static int send_line(SapWorld *world, const char *line, bool ask)
{
    static const SapHeader header = {"color", "red"};
    Words words;
    bool typed = strstr(line, " typed") != NULL;
    bool with_header = strstr(line, " header") != NULL;
    EXPECT(sscanf(line, "%*s %255s %255s", words.world, words.name) == 2, "'%s'", line);
    const char *body = option(line, "body", words.body);
    SapSend send = {
        .size = sizeof send,
        .mode = typed ? SAP_SEND_TYPED : SAP_SEND_INBOX,
        .world = words.world,
        .name = words.name,
        .ref = option(line, "ref", words.ref),
        .encoding = typed ? SAP_ENCODING_JSON : SAP_ENCODING_RAW,
        .headers = &header,
        .header_count = with_header,
        .payload = body,
        .payload_len = body == NULL ? 0 : strlen(body),
        .message_id = option(line, "id", words.id),
        .create = option(line, "create", words.create),
        .correlation_id = option(line, "corr", words.correlation),
        .delay_ns = number_option(line, "delay_ms") * MS_NS,
        .retry = {.attempts = (uint32_t)number_option(line, "tries")},
    };
    if (!ask) {
        return sap_world_send(world, &send);
    }
    SapAsk asked = {
        .size = sizeof asked,
        .world = send.world,
        .name = send.name,
        .ref = send.ref,
        .encoding = send.encoding,
        .headers = send.headers,
        .header_count = send.header_count,
        .payload = send.payload,
        .payload_len = send.payload_len,
        .create = send.create,
        .correlation_id = send.correlation_id,
        .timeout_ns = number_option(line, "ms") * MS_NS,
        .retry = send.retry,
    };
    return sap_world_ask(world, &asked);
}

static int promise_line(SapWorld *world, const char *line)
{
    char ref[LINE];
    char id[SAP_PROMISE_ID_SIZE];
    SapPromise promise = {.size = sizeof promise, .ref = ref};
    EXPECT(sscanf(line, "%*s %255s", ref) == 1, "'%s'", line);
    promise.timeout_ns = number_option(line, "ms") * MS_NS;
    int rc = sap_world_promise(world, &promise, id);
    return rc == SAP_OK ? sap_world_put(world, "promise", 7, SAP_ENCODING_RAW, id, strlen(id)) : rc;
}

static int answer_line(SapWorld *world)
{
    const void *asked = NULL;
    size_t len = 0;
    char reply_to[512];
    int rc = sap_world_get(world, "asked", 5, &asked, &len, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    (void)snprintf(reply_to, sizeof reply_to, "%.*s", (int)len, (const char *)asked);
    return sap_world_reply(world, reply_to, SAP_ENCODING_RAW, "late", 4);
}

static int run_line(SapWorld *world, const char *line)
{
    char what[LINE] = "";
    char ref[LINE] = "";
    (void)sscanf(line, "%255s %255s", what, ref);
    if (strcmp(what, "send") == 0 || strcmp(what, "ask") == 0) {
        return send_line(world, line, what[0] == 'a');
    }
    if (strcmp(what, "promise") == 0) {
        return promise_line(world, line);
    }
    if (strcmp(what, "effect") == 0) {
        SapEffect effect = {.size = sizeof effect, .kind = "bell", .ref = ref};
        return sap_world_effect(world, &effect);
    }
    if (strcmp(what, "timer") == 0) {
        SapTimer timer = {.size = sizeof timer, .ref = ref};
        timer.after_ns = number_option(line, "ms") * MS_NS;
        return sap_world_timer(world, &timer);
    }
    if (strcmp(what, "cancel") == 0) {
        return sap_world_cancel(world, ref);
    }
    if (strcmp(what, "answer") == 0) {
        return answer_line(world);
    }
    if (strcmp(what, "done") == 0) {
        return sap_world_done(world, false, SAP_ENCODING_JSON, NULL, 0);
    }
    EXPECT(strcmp(what, "fail") == 0, "'%s'", line);
    return sap_world_fail(world, false, "told to");
}

static int run_script(SapWorld *world, const SapEvent *event)
{
    char script[TALK_TEXT];
    char *line = script;
    (void)snprintf(script, sizeof script, "%.*s", (int)event->payload_len,
                   (const char *)event->payload);
    talk_seen.rc = SAP_OK;
    while (line != NULL && talk_seen.rc == SAP_OK) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end++ = 0;
        }
        talk_seen.rc = run_line(world, line);
        line = end;
    }
    bool refused = talk_seen.rc == SAP_EXISTS || talk_seen.rc == SAP_INVALID ||
                   talk_seen.rc == SAP_FULL || talk_seen.rc == SAP_NOTFOUND;
    return refused ? SAP_OK : talk_seen.rc;
}

/* ---- The module ------------------------------------------------------------------------------ */

static int note(SapWorld *world, const char *line)
{
    const void *old = "";
    size_t len = 0;
    char text[TALK_TEXT];
    int rc = sap_world_get(world, "text", 4, &old, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    int wrote = snprintf(text, sizeof text, "%.*s%s;", (int)len, (const char *)old, line);
    EXPECT(wrote > 0 && (size_t)wrote < sizeof text, "too much to note");
    return sap_world_put(world, "text", 4, SAP_ENCODING_RAW, text, (size_t)wrote);
}

static void see_event(const SapEvent *event)
{
    TalkSeen *seen = &talk_seen;
    (void)snprintf(seen->correlation_id, sizeof seen->correlation_id, "%s", event->correlation_id);
    (void)snprintf(seen->trace_parent, sizeof seen->trace_parent, "%s", event->trace_parent);
    (void)snprintf(seen->from_world, sizeof seen->from_world, "%s", event->from_world);
    seen->from_height = event->from_height;
    seen->header[0] = 0;
    if (event->header_count > 0) {
        (void)snprintf(seen->header, sizeof seen->header, "%s=%s", event->headers[0].name,
                       event->headers[0].value);
    }
}

static int note_receipt(SapWorld *world, const SapEvent *event)
{
    static const char *const statuses[] = {"none", "ok", "error", "timeout"};
    char line[TALK_TEXT / 2];
    SapSendReceipt receipt;
    if (sap_send_receipt_read(event, &receipt) == SAP_OK) {
        (void)snprintf(line, sizeof line, "%s %s %s%s", event->ref, statuses[event->status],
                       event->code, receipt.already ? "+" : "");
        EXPECT(receipt.enqueued == (event->status == SAP_RECEIPT_OK), "'%s'", line);
    } else {
        (void)snprintf(line, sizeof line, "%s %s %s %.*s", event->ref, statuses[event->status],
                       event->code, (int)event->payload_len, (const char *)event->payload);
    }
    return note(world, line);
}

static int note_message(SapWorld *world, const SapEvent *event)
{
    char line[TALK_TEXT / 2];
    (void)snprintf(line, sizeof line, "%s from %s: %.*s", event->name, event->from_world,
                   (int)event->payload_len, (const char *)event->payload);
    int rc = note(world, line);
    if (rc == SAP_OK && strcmp(event->name, "question") == 0) {
        rc = sap_world_reply(world, event->reply_to, event->encoding, event->payload,
                             event->payload_len);
    }
    if (rc == SAP_OK && strcmp(event->name, "back") == 0) {
        SapSend send = {.size = sizeof send, .world = event->from_world, .name = "back"};
        rc = sap_world_send(world, &send);
    }
    return rc == SAP_OK && strcmp(event->name, "later") == 0
               ? sap_world_put(world, "asked", 5, SAP_ENCODING_RAW, event->reply_to,
                               strlen(event->reply_to))
               : rc;
}

static int on_event(SapWorld *world, const SapEvent *event)
{
    char line[LINE];
    see_event(event);
    switch (event->kind) {
    case SAP_EVENT_RECEIPT:
        return note_receipt(world, event);
    case SAP_EVENT_TIMER:
        (void)snprintf(line, sizeof line, "%s fired", event->ref);
        return note(world, line);
    case SAP_EVENT_MESSAGE:
        break;
    default:
        return SAP_OK;
    }
    if (strcmp(event->name, "do") == 0) {
        return run_script(world, event);
    }
    return strcmp(event->name, "refuse") == 0 ? sap_world_fail(world, false, "never")
                                              : note_message(world, event);
}

/* Of the tests that use it: a module that is registered is registered in every store. */
static SapWorldModule talk_module = {.name = "talk", .handler = on_event};

/* ---- Telling them ---------------------------------------------------------------------------- */

static int ring_bell(void *ctx, const SapEffectCall *call, SapEffectResult *result)
{
    (void)ctx;
    (void)result;
    talk_bells++;
    (void)snprintf(talk_seen.correlation_id, sizeof talk_seen.correlation_id, "%s",
                   call->correlation_id);
    (void)snprintf(talk_seen.trace_parent, sizeof talk_seen.trace_parent, "%s", call->trace_parent);
    return SAP_OK;
}

SapWorker *talk_worker(Scene *scene, const char *name)
{
    SapEffectKind bell = {.size = sizeof bell, .kind = "bell", .function = ring_bell};
    int rc = sap_world_module_register(&talk_module);
    EXPECT(rc == SAP_OK || rc == SAP_EXISTS, "%d", rc);
    SapWorker *worker = scene_worker(scene, name);
    EXPECT_RC(sap_worker_serve(worker, &bell), SAP_OK);
    return worker;
}

void talk_say(Scene *scene, const char *world, const char *name, const char *payload)
{
    SapIngress item = {.size = sizeof item,
                       .name = name,
                       .correlation_id = "order-7",
                       .trace_parent = "00-trace-01",
                       .encoding = SAP_ENCODING_RAW,
                       .payload = payload,
                       .payload_len = strlen(payload)};
    EXPECT_RC(sap_enqueue_ingress(scene->universe, world, &item, NULL), SAP_OK);
}

void talk_do(Scene *scene, const char *world, const char *script)
{
    talk_say(scene, world, "do", script);
}

static const SapRole roles[] = {SAP_ROLE_WORLDS, SAP_ROLE_EFFECTS, SAP_ROLE_TIMERS, SAP_ROLE_REAPER,
                                SAP_ROLE_ORCHESTRATOR};

void talk_step(SapWorker *worker)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        bool busy = false;
        EXPECT_RC(sap_worker_step_role(worker, roles[i], &busy), SAP_OK);
    }
}

void talk_settle(SapWorker *worker)
{
    enum { SOME = 40 };
    for (int i = 0; i < SOME; i++) {
        talk_step(worker);
    }
}

static char row_text[TALK_TEXT];

static int keep_row(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                    const void *val, size_t val_len)
{
    const char *wanted = (const char *)ctx;
    (void)encoding;
    if (key_len == strlen(wanted) && memcmp(key, wanted, key_len) == 0) {
        (void)snprintf(row_text, sizeof row_text, "%.*s", (int)val_len, (const char *)val);
    }
    return SAP_OK;
}

const char *talk_row(Scene *scene, const char *world, const char *key)
{
    SapStateQuery query = {.size = sizeof query};
    char wanted[32];
    (void)snprintf(wanted, sizeof wanted, "%s", key);
    row_text[0] = 0;
    int rc = sap_world_state_read(scene->universe, world, &query, keep_row, wanted, NULL);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "%d", rc);
    return row_text;
}

void talk_expect(Scene *scene, SapWorker *worker, const char *world, const char *text)
{
    struct timespec pause = {.tv_nsec = 1000000};
    for (int i = 0; i < ROUNDS && strcmp(talk_row(scene, world, "text"), text) != 0; i++) {
        talk_step(worker);
        (void)nanosleep(&pause, NULL);
    }
    for (int i = 0; i < LONGER; i++) {
        talk_step(worker);
    }
    const char *is = talk_row(scene, world, "text");
    EXPECT(strcmp(is, text) == 0, "%s has noted '%s', not '%s'", world, is, text);
}

static int count_outstanding(void *ctx, const SapOutstanding *outstanding)
{
    (void)outstanding;
    ++*(uint32_t *)ctx;
    return SAP_OK;
}

uint32_t talk_outstanding(Scene *scene, const char *world)
{
    uint32_t count = 0;
    EXPECT_RC(sap_world_outstanding(scene->universe, world, count_outstanding, &count), SAP_OK);
    return count;
}

void talk_expect_nothing_left(Scene *scene)
{
    static const uint32_t tables[] = {WIT_DBI_EFFECTS_PENDING, WIT_DBI_EFFECTS_INFLIGHT,
                                      WIT_DBI_EFFECTS_DEDUPE,  WIT_DBI_TIMERS_DUE,
                                      WIT_DBI_TIMERS_DEDUPE,   WIT_DBI_PROMISES,
                                      WIT_DBI_WORLD_INBOX};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        uint32_t count = scene_rows(scene, tables[i]);
        EXPECT(count == 0, "%" PRIu32 " rows are left in table %" PRIu32, count, tables[i]);
    }
}
