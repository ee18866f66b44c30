/* exec_try.c - see exec_try.h. */
#include "node/exec_try.h"

#include <string.h>

#include "common/assert.h"
#include "node/exec_module.h"
#include "node/exec_program.h"
#include "node/exec_protocol.h"
#include "universe/handler.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

enum { PIECE = 65536 };

#define MS_NS          UINT64_C(1000000)
#define TRIED_REPLY_TO UNIVERSE_REPLY_OUTSIDE "try"

/* All of one trial. */
typedef struct Trial {
    const ExecTry *options;
    json_t *event;
    Buf body; /* canonical */
    Digest hash;
    ExecRunner *runner;
    WorldState *state;
    UniverseName name;
    WorldBirth birth;
    SapWorldModule module;
    SapWorld world;
    InboxItem item;
    ExecError error;
} Trial;

/* ---- The event
 * --------------------------------------------------------------------------------- */

static int read_all(FILE *in, Buf *text)
{
    size_t got = 0;
    do {
        int rc = buf_reserve(text, PIECE);
        if (rc != SAP_OK) {
            return rc;
        }
        got = fread(text->data + text->len, 1, PIECE, in);
        text->len += got;
    } while (got > 0 && text->len <= SAP_WORLD_MAX_PAYLOAD);
    return ferror(in) != 0 ? SAP_IO : SAP_OK;
}

static int read_event(Trial *trial, FILE *in)
{
    static const char *const names[] = {
        "type", "world",    "name",   "body",  "ref",        "status",         "code",
        "from", "reply_to", "now",    "state", "message_id", "correlation_id", "attempt",
        "v",    "id",       "random", "key",   "timeout_ms"};
    Buf text = {0};
    json_error_t why;
    int rc = read_all(in, &text);
    if (rc == SAP_OK && text.len > SAP_WORLD_MAX_PAYLOAD) {
        rc = exec_refuse(&trial->error, "the event is too large");
    }
    if (rc == SAP_OK) {
        trial->event = json_loadb((const char *)text.data, text.len,
                                  JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
        if (trial->event == NULL) {
            rc = exec_refuse(&trial->error, "the event is not JSON: line %d, column %d", why.line,
                             why.column);
        } else if (!json_is_object(trial->event)) {
            rc = exec_refuse(
                &trial->error,
                "the event must be an object, such as {\"type\":\"message\",\"name\":\"hi\"}");
        } else {
            rc = exec_read_members(trial->event, "the event", names, sizeof names / sizeof names[0],
                                   &trial->error);
        }
    }
    buf_release(&text);
    return rc;
}

static int read_field(const Trial *trial, const char *name, const char **text_out, ExecError *error)
{
    *text_out = "";
    return exec_read_text(json_object_get(trial->event, name), (ExecField){"", name},
                          SAP_WORLD_MAX_ID, text_out, error);
}

static int read_type(Trial *trial, SapEventKind *kind_out)
{
    static const SapEventKind kinds[] = {SAP_EVENT_MESSAGE, SAP_EVENT_CREATE, SAP_EVENT_RECEIPT,
                                         SAP_EVENT_TIMER,   SAP_EVENT_CANCEL, SAP_EVENT_QUERY};
    const char *type = NULL;
    int rc = read_field(trial, "type", &type, &trial->error);
    if (rc != SAP_OK) {
        return rc;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (type[0] == 0 || strcmp(type, exec_event_type(kinds[i])) == 0) {
            *kind_out = kinds[i];
            return SAP_OK;
        }
    }
    return exec_refuse(&trial->error,
                       "\"type\" must be one of message, create, receipt, timer, cancel, query");
}

static int read_status(Trial *trial, WitUniverseReceiptStatus *status_out)
{
    static const char *const names[] = {"", "ok", "error", "timeout"};
    const char *status = NULL;
    int rc = read_field(trial, "status", &status, &trial->error);
    for (size_t i = 0; rc == SAP_OK && i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(status, names[i]) == 0) {
            *status_out = (WitUniverseReceiptStatus)i;
            return SAP_OK;
        }
    }
    return rc != SAP_OK ? rc
                        : exec_refuse(&trial->error, "\"status\" must be ok, error or timeout");
}

/* The item, as if it had been read from an inbox. Its texts are borrowed from the event. */
static int make_item(Trial *trial, SapEventKind *kind_out)
{
    WitUniverseInboxItem *item = &trial->item.item;
    const struct {
        const char *name;
        CodecBytes *field;
    } texts[] = {{"name", &item->name},        {"ref", &item->ref},
                 {"code", &item->code},        {"from", &item->from_world},
                 {"message_id", &item->id},    {"correlation_id", &item->correlation_id},
                 {"reply_to", &item->reply_to}};
    SapEncoding encoding = SAP_ENCODING_JSON;
    const json_t *body = json_object_get(trial->event, "body");
    int rc = read_type(trial, kind_out);
    rc = rc == SAP_OK ? read_status(trial, &item->status) : rc;
    for (size_t i = 0; rc == SAP_OK && i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = NULL;
        rc = read_field(trial, texts[i].name, &text, &trial->error);
        if (rc == SAP_OK) {
            *texts[i].field = lend_bytes(text, strlen(text));
        }
    }
    if (rc == SAP_OK && item->reply_to.len == 0) {
        item->reply_to = lend_bytes(TRIED_REPLY_TO, sizeof TRIED_REPLY_TO - 1);
    }
    Buf bytes = {0};
    rc = rc == SAP_OK && body != NULL
             ? exec_read_payload(body, (ExecField){"", "body"}, &bytes, &encoding, &trial->error)
             : rc;
    rc = rc == SAP_OK ? payload_append_or_null(encoding, bytes.data, bytes.len, &trial->body) : rc;
    buf_release(&bytes);
    if (rc == SAP_OK) {
        Slice canonical = {trial->body.data, trial->body.len};
        payload_hash(encoding, canonical, &trial->hash);
    }
    item->hash = lend_bytes(trial->hash.bytes, sizeof trial->hash.bytes);
    item->kind = *kind_out == SAP_EVENT_QUERY ? WIT_UNIVERSE_ITEM_KIND_MESSAGE
                                              : (WitUniverseItemKind)*kind_out;
    item->encoding = (WitUniverseEncoding)encoding;
    item->payload = lend_bytes(trial->body.data, trial->body.len);
    return rc;
}

/* ---- The world
 * --------------------------------------------------------------------------------- */

static int fill_state(Trial *trial)
{
    const json_t *state = json_object_get(trial->event, "state");
    const char *key = NULL;
    json_t *value = NULL;
    if (state != NULL && !json_is_object(state)) {
        return exec_refuse(&trial->error, "\"state\" must be an object, and is %s",
                           exec_type_name(state));
    }
    json_object_foreach((json_t *)(uintptr_t)state, key, value)
    {
        Buf bytes = {0};
        SapEncoding encoding = SAP_ENCODING_JSON;
        char excerpt[4 * EXEC_EXCERPT + 4];
        exec_excerpt(key, strlen(key), excerpt);
        int rc = exec_read_payload(value, (ExecField){"state ", excerpt}, &bytes, &encoding,
                                   &trial->error);
        rc = rc == SAP_OK
                 ? sap_world_put(&trial->world, key, strlen(key), encoding, bytes.data, bytes.len)
                 : rc;
        buf_release(&bytes);
        if (rc != SAP_OK && trial->error.text[0] == 0) {
            return exec_refuse(&trial->error,
                               "\"state\": a key has 1 to %u bytes, and a value up to %u",
                               SAP_WORLD_MAX_KEY, SAP_WORLD_MAX_VALUE);
        }
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

/* A world in memory with the state of the event, at the time of the event. */
static int make_world(Trial *trial)
{
    const char *name = NULL;
    const json_t *now = json_object_get(trial->event, "now");
    uint64_t now_ns = clock_wall_ns(NULL);
    int rc = read_field(trial, "world", &name, &trial->error);
    if (rc == SAP_OK && universe_name_set(&trial->name, name[0] != 0 ? name : "try") != SAP_OK) {
        rc = exec_refuse(&trial->error, "\"world\" must have 1 to %u bytes", SAP_WORLD_MAX_NAME);
    }
    rc = rc == SAP_OK ? exec_read_time(now, (ExecField){"", "now"}, &now_ns, &trial->error) : rc;
    rc = rc == SAP_OK ? state_open(&trial->state) : rc;
    rc = rc == SAP_OK ? state_begin(trial->state) : rc;
    if (rc == SAP_OK) {
        handler_init(&trial->world, 0, &trial->name, &trial->birth, trial->state);
        trial->world.module = &trial->module;
        handler_begin(&trial->world, 1, now_ns);
        rc = fill_state(trial);
        handler_begin(&trial->world, 1, now_ns); /* that was no change of the handler's */
        const json_t *attempt = json_object_get(trial->event, "attempt");
        trial->world.attempt = json_is_integer(attempt) ? (uint32_t)json_integer_value(attempt) : 1;
    }
    return rc;
}

/* ---- The program
 * ------------------------------------------------------------------------------- */

static void show_record(void *ctx, const LogRecord *record)
{
    FILE *err = (FILE *)ctx;
    if (strcmp(record->event, "world.log") != 0) {
        return;
    }
    for (size_t i = 0; i < record->field_count; i++) {
        const LogField *field = &record->fields[i];
        if (strcmp(field->key, "text") == 0) {
            (void)fprintf(err, "%.*s\n", (int)field->as.bytes.len,
                          (const char *)field->as.bytes.data);
        }
    }
}

static int resolve_runner(Trial *trial, const Log *log)
{
    uint8_t code[32];
    ExecRunnerOptions options = {.log = log, .python_path = trial->options->python_path};
    SapModule module = {
        .size = sizeof module,
        .name = "try",
        .runner = trial->options->runner,
        .timeout_ns = trial->options->timeout_ns,
        .state = trial->options->asks ? SAP_MODULE_STATE_ASK : SAP_MODULE_STATE_WHOLE,
        .version = 1,
    };
    int rc = exec_check(module.runner, code, trial->error.text, sizeof trial->error.text);
    rc = rc == SAP_OK ? exec_runner_open(&options, &trial->runner) : rc;
    return rc == SAP_OK ? exec_runner_resolve(trial->runner, &module, &trial->module.handler,
                                              &trial->module.ctx)
                        : rc;
}

/* ---- What it would do
 * -------------------------------------------------------------------------- */

static json_t *payload_json(WitUniverseEncoding encoding, const CodecBytes *bytes)
{
    Buf text = {0};
    json_t *value = NULL;
    if (exec_append_payload(&text, (SapEncoding)encoding, bytes->data, bytes->len) == SAP_OK) {
        value = exec_parse_kept(text.data, text.len);
    }
    buf_release(&text);
    return value;
}

static json_t *text_json(const CodecBytes *text)
{
    return json_stringn((const char *)text->data, text->len);
}

static bool is_kind(const WitUniverseIntent *intent, const char *kind)
{
    return intent->kind.len == strlen(kind) &&
           memcmp(intent->kind.data, kind, intent->kind.len) == 0;
}

/* Both take the reference `value`. */
static bool set_value(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0;
}

static bool set_in(json_t *object, const char *name, const CodecBytes *key, json_t *value)
{
    json_t *inner = json_object_get(object, name);
    if (inner == NULL) {
        inner = json_object();
        if (!set_value(object, name, inner)) {
            json_decref(value);
            return false;
        }
    }
    return json_object_setn_new(inner, (const char *)key->data, key->len, value) == 0;
}

static bool append_to(json_t *object, const char *name, json_t *value)
{
    json_t *list = json_object_get(object, name);
    if (list == NULL) {
        list = json_array();
        if (!set_value(object, name, list)) {
            json_decref(value);
            return false;
        }
    }
    return json_array_append_new(list, value) == 0;
}

/* The handler's own rows begin with a byte 1. */
static bool add_change(json_t *shown, const WitUniverseChange *change)
{
    const uint8_t *bytes = (const uint8_t *)change->key.data;
    if (change->key.len < 2 || bytes[0] != 1) {
        return true;
    }
    CodecBytes key = lend_bytes(bytes + 1, change->key.len - 1);
    if (!change->value.some) {
        return append_to(shown, "del", text_json(&key));
    }
    const uint8_t *row = (const uint8_t *)change->value.value.data;
    CodecBytes value = lend_bytes(row + 1, change->value.value.len - 1);
    return set_in(shown, "put", &key, payload_json(row[0], &value));
}

/* Only what the handler has said. */
static bool add_number(json_t *object, const char *name, uint64_t number)
{
    return number == 0 || set_value(object, name, json_integer((json_int_t)number));
}

static bool add_retry(json_t *deed, const WitUniverseRetry *retry)
{
    json_t *shown = json_object();
    bool good = shown != NULL && add_number(shown, "attempts", retry->attempts) &&
                add_number(shown, "first", retry->first_ns / MS_NS) &&
                (retry->factor == 0 ||
                 set_value(shown, "factor", json_real((double)retry->factor / 100))) &&
                add_number(shown, "cap", retry->cap_ns / MS_NS) &&
                add_number(shown, "timeout", retry->timeout_ns / MS_NS);
    if (!good || json_object_size(shown) == 0) {
        json_decref(shown);
        return good;
    }
    return set_value(deed, "retry", shown);
}

/* An effect, in the form of an answer. */
static bool add_effect(json_t *shown, const WitUniverseIntent *intent)
{
    json_t *deed = json_object();
    bool good = deed != NULL && set_value(deed, "effect", text_json(&intent->kind)) &&
                set_value(deed, "params", payload_json(intent->encoding, &intent->params));
    good = good && (intent->ref.len == 0 || set_value(deed, "ref", text_json(&intent->ref)));
    good = good && add_retry(deed, &intent->retry);
    if (!good) {
        json_decref(deed);
        return false;
    }
    return append_to(shown, "do", deed);
}

static bool add_timer(json_t *shown, const WitUniverseIntent *intent)
{
    const char *when = intent->clock == WIT_UNIVERSE_TIMER_CLOCK_DUE ? "at" : "after";
    json_t *deed = json_object();
    bool good = deed != NULL && set_value(deed, "timer", text_json(&intent->ref)) &&
                set_value(deed, when, json_integer((json_int_t)(intent->time_ns / MS_NS))) &&
                set_value(deed, "body", payload_json(intent->encoding, &intent->params));
    if (!good) {
        json_decref(deed);
        return false;
    }
    return append_to(shown, "do", deed);
}

static bool add_reply(const Trial *trial, json_t *shown, const WitUniverseIntent *intent)
{
    const CodecBytes *own = &trial->item.item.reply_to;
    json_t *body = payload_json(intent->encoding, &intent->params);
    if (own->len == intent->ref.len && memcmp(own->data, intent->ref.data, own->len) == 0) {
        return json_object_get(shown, "reply") != NULL ? (json_decref(body), true)
                                                       : set_value(shown, "reply", body);
    }
    return append_to(shown, "do",
                     json_pack("{s:o,s:o}", "reply", text_json(&intent->ref), "body", body));
}

static bool add_intent(const Trial *trial, json_t *shown, const WitUniverseIntent *intent)
{
    if (is_kind(intent, "reply")) {
        return add_reply(trial, shown, intent);
    }
    if (is_kind(intent, "timer")) {
        return add_timer(shown, intent);
    }
    if (is_kind(intent, "cancel")) {
        return append_to(shown, "do", json_pack("{s:o}", "cancel", text_json(&intent->ref)));
    }
    if (is_kind(intent, "tag") || is_kind(intent, "untag")) {
        return set_in(shown, "tags", &intent->ref,
                      is_kind(intent, "tag") ? text_json(&intent->params) : json_null());
    }
    if (is_kind(intent, "done")) {
        return set_value(shown, "done", payload_json(intent->encoding, &intent->params)) &&
               (intent->ref.len == 0 || set_value(shown, "failed", json_true()));
    }
    return add_effect(shown, intent);
}

static int show_step(const Trial *trial, FILE *out)
{
    WitUniverseEntry entry;
    Buf content = {0};
    json_t *shown = json_object();
    int rc = handler_entry(&trial->world, &trial->item, WIT_UNIVERSE_ENTRY_KIND_ITEM, &content);
    if (rc == SAP_OK) {
        rc = wit_universe_entry_decode(content.data, content.len, &entry, NULL);
    }
    if (rc == SAP_OK) {
        bool good = shown != NULL;
        for (uint32_t i = 0; good && i < entry.delta.count; i++) {
            good = add_change(shown, &entry.delta.items[i]);
        }
        for (uint32_t i = 0; good && i < entry.intents.count; i++) {
            good = add_intent(trial, shown, &entry.intents.items[i]);
        }
        wit_universe_entry_free(&entry);
        rc = good ? SAP_OK : SAP_NOMEM;
    }
    if (rc == SAP_OK && (json_dumpf(shown, out, JSON_INDENT(2)) != 0 || fputc('\n', out) == EOF ||
                         fflush(out) != 0)) {
        rc = SAP_IO;
    }
    json_decref(shown);
    buf_release(&content);
    return rc;
}

/* ---- The trial
 * --------------------------------------------------------------------------------- */

static int run_trial(Trial *trial, FILE *in, FILE *out, const Log *log)
{
    SapEventKind kind = SAP_EVENT_MESSAGE;
    int rc = resolve_runner(trial, log);
    rc = rc == SAP_OK ? read_event(trial, in) : rc;
    rc = rc == SAP_OK ? make_item(trial, &kind) : rc;
    rc = rc == SAP_OK ? make_world(trial) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    trial->world.read_only = kind == SAP_EVENT_QUERY;
    HandlerOutcome outcome = handler_call(&trial->world, trial->module.handler, &trial->item);
    if (outcome != HANDLER_DONE) {
        (void)exec_refuse(&trial->error, "%s", trial->world.message);
        return outcome == HANDLER_WAITS ? SAP_NOTFOUND : SAP_ERROR;
    }
    return show_step(trial, out);
}

int exec_try(const ExecTry *options, FILE *in, FILE *out, FILE *err, char *message,
             size_t message_size)
{
    Trial trial = {.options = options};
    Log log;
    log_init(&log, show_record, err, LOG_LEVEL_INFO, NULL);
    int rc = run_trial(&trial, in, out, &log);
    if (trial.runner != NULL) {
        exec_runner_release(trial.runner, trial.module.ctx);
        exec_runner_close(trial.runner);
    }
    if (trial.state != NULL) {
        handler_release(&trial.world);
        state_close(trial.state);
    }
    buf_release(&trial.body);
    json_decref(trial.event);
    if (message_size > 0) {
        const char *text = rc == SAP_OK               ? ""
                           : trial.error.text[0] != 0 ? trial.error.text
                                                      : sap_strerror(rc);
        (void)snprintf(message, message_size, "%s", text);
    }
    return rc;
}
