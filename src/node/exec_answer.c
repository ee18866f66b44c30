/* exec_answer.c - see exec_answer.h. */
#include "node/exec_answer.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/utf8.h"

/* ---- Lines
 * ------------------------------------------------------------------------------------- */

static int refuse_stray(ExecAnswer *answer, ExecError *error, const char *line, size_t len,
                        const char *what)
{
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(line, len, excerpt);
    answer->stray = true;
    return exec_refuse(error, "wrote \"%s\", not %s: print to standard error", excerpt, what);
}

/* A line that begins like an answer, and is none. */
static int refuse_broken(ExecAnswer *answer, ExecError *error, const json_error_t *why)
{
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(why->text, strlen(why->text), excerpt);
    answer->stray = true;
    if (json_error_code(why) == json_error_numeric_overflow) {
        return exec_refuse(
            error,
            "answered with a number that is too large (byte %d of the line): write it as a string",
            why->position);
    }
    return exec_refuse(error, "answered with what is not JSON, at byte %d of the line: %s",
                       why->position, excerpt);
}

/* The object of a line that has the id. The caller owns *object_out. */
static int read_line(const char *id, const char *line, size_t len, json_t **object_out,
                     ExecAnswer *answer, ExecError *error)
{
    json_error_t why;
    size_t blank = 0;
    while (blank < len && (line[blank] == ' ' || line[blank] == '\t' || line[blank] == '\r')) {
        blank++;
    }
    json_t *object =
        json_loadb(line, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY, &why);
    if (object == NULL && json_error_code(&why) == json_error_out_of_memory) {
        return SAP_NOMEM;
    }
    if (object == NULL) {
        return blank < len && line[blank] == '{' ? refuse_broken(answer, error, &why)
                                                 : refuse_stray(answer, error, line, len, "JSON");
    }
    const json_t *own = json_object_get(object, "id");
    if (!json_is_object(object)) {
        (void)refuse_stray(answer, error, line, len, "a JSON object");
    } else if (own == NULL) {
        answer->stray = true;
        (void)exec_refuse(error, "answered without \"id\": repeat the id of the event, \"%s\"", id);
    } else if (!json_is_string(own) || strlen(json_string_value(own)) != json_string_length(own) ||
               strcmp(json_string_value(own), id) != 0) {
        char excerpt[4 * EXEC_EXCERPT + 4] = "";
        if (json_is_string(own)) {
            exec_excerpt(json_string_value(own), json_string_length(own), excerpt);
        }
        answer->stray = true;
        (void)exec_refuse(
            error, "answered another id, \"%s\" in place of \"%s\": write one line for each event",
            excerpt, id);
    } else {
        *object_out = object;
        return SAP_OK;
    }
    json_decref(object);
    return SAP_INVALID;
}

/* ---- Refusals of the world
 * --------------------------------------------------------------------- */

/* A code that says nothing about the answer. */
static bool is_machine_code(int rc)
{
    return rc == SAP_NOMEM || rc == SAP_IO || rc == SAP_BUSY || rc == SAP_FENCED ||
           rc == SAP_CORRUPT;
}

/* After a call of the world: `what` is such as "put \"k\"", `full` what its limit is. */
static int judge_code(int rc, const char *what, const char *full, ExecError *error)
{
    if (rc == SAP_OK || is_machine_code(rc)) {
        return rc;
    }
    if (rc == SAP_FULL) {
        return exec_refuse(error, "%s: %s", what, full);
    }
    return exec_refuse(error, "%s: %s", what, sap_strerror(rc));
}

static const char step_limit[] =
    "one step may change and ask for 4 MiB and 1024 things, and values be nested 64 deep";

/* ---- Rows, tags, ends
 * -------------------------------------------------------------------------- */

static void name_key(char *what, size_t size, const char *field, const char *key)
{
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(key, strlen(key), excerpt);
    (void)snprintf(what, size, "%s \"%s\"", field, excerpt);
}

static int check_key(const char *what, size_t len, ExecError *error)
{
    if (len == 0 || len > SAP_WORLD_MAX_KEY) {
        return exec_refuse(error, "%s: a key has 1 to %u bytes", what, SAP_WORLD_MAX_KEY);
    }
    return SAP_OK;
}

static int put_row(SapWorld *world, const char *key, const json_t *value, ExecError *error)
{
    char what[4 * EXEC_EXCERPT + 16];
    Buf bytes = {0};
    SapEncoding encoding = SAP_ENCODING_JSON;
    char excerpt[4 * EXEC_EXCERPT + 4];
    exec_excerpt(key, strlen(key), excerpt);
    name_key(what, sizeof what, "put", key);
    int rc = check_key(what, strlen(key), error);
    rc = rc == SAP_OK
             ? exec_read_payload(value, (ExecField){"put ", excerpt}, &bytes, &encoding, error)
             : rc;
    if (rc == SAP_OK && bytes.len > SAP_WORLD_MAX_VALUE) {
        rc = exec_refuse(error,
                         "%s: the value has %zu bytes, more than %u: divide it among several keys",
                         what, bytes.len, SAP_WORLD_MAX_VALUE);
    }
    if (rc == SAP_OK) {
        rc = sap_world_put(world, key, strlen(key), encoding, bytes.data, bytes.len);
        rc = rc == SAP_INVALID ? exec_refuse(error, "%s: the bytes are not CBOR", what)
                               : judge_code(rc, what, step_limit, error);
    }
    buf_release(&bytes);
    return rc;
}

static int put_rows(SapWorld *world, const json_t *put, ExecError *error)
{
    const char *key = NULL;
    json_t *value = NULL;
    int rc = SAP_OK;
    json_object_foreach((json_t *)(uintptr_t)put, key, value)
    {
        rc = put_row(world, key, value, error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static int del_rows(SapWorld *world, const json_t *put, const json_t *del, ExecError *error)
{
    for (size_t i = 0; i < json_array_size(del); i++) {
        char what[4 * EXEC_EXCERPT + 16];
        const json_t *key = json_array_get(del, i);
        if (!json_is_string(key)) {
            return exec_refuse(error, "\"del\" must be an array of strings");
        }
        const char *text = json_string_value(key);
        size_t len = json_string_length(key);
        name_key(what, sizeof what, "del", text);
        int rc = check_key(what, len, error);
        if (rc == SAP_OK && len == strlen(text) && json_object_get(put, text) != NULL) {
            rc = exec_refuse(error, "%s: the same key is in \"put\"", what);
        }
        if (rc == SAP_OK) {
            rc = sap_world_del(world, text, len);
            rc = rc == SAP_NOTFOUND ? SAP_OK : judge_code(rc, what, step_limit, error);
        }
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static int set_tags(SapWorld *world, const json_t *tags, ExecError *error)
{
    static const char limit[] = "a world has 64 tags at most";
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)tags, name, value)
    {
        char what[4 * EXEC_EXCERPT + 16];
        int rc = SAP_OK;
        name_key(what, sizeof what, "tags", name);
        if (json_is_null(value)) {
            rc = sap_world_untag(world, name);
            rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
        } else if (!json_is_string(value)) {
            return exec_refuse(
                error, "%s: a tag's value is a string, \"\" for none, or null to remove the tag",
                what);
        } else if (strlen(json_string_value(value)) != json_string_length(value)) {
            rc = SAP_INVALID;
        } else {
            rc = sap_world_tag(world, name, json_string_value(value));
        }
        rc = rc == SAP_INVALID
                 ? exec_refuse(error, "%s: name and value have up to %u bytes together, and no '='",
                               what, SAP_WORLD_MAX_NAME)
                 : judge_code(rc, what, limit, error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static int reply_to(SapWorld *world, const char *token, const char *what, const json_t *value,
                    ExecError *error)
{
    Buf bytes = {0};
    SapEncoding encoding = SAP_ENCODING_JSON;
    int rc = exec_read_payload(value, (ExecField){"", what}, &bytes, &encoding, error);
    rc = rc == SAP_OK ? sap_world_reply(world, token, encoding, bytes.data, bytes.len) : rc;
    buf_release(&bytes);
    if (rc == SAP_INVALID && error->text[0] == 0) {
        return exec_refuse(
            error, "\"%s\": this is no reply_to of an event, or the bytes are not CBOR", what);
    }
    return rc == SAP_INVALID
               ? rc
               : judge_code(rc, what, "a reply has 512 KiB at most, and is nested 64 deep", error);
}

static int end_world(SapWorld *world, const json_t *object, const json_t *result, ExecError *error)
{
    Buf bytes = {0};
    SapEncoding encoding = SAP_ENCODING_JSON;
    const json_t *failed = json_object_get(object, "failed");
    if (result == NULL) {
        return failed == NULL
                   ? SAP_OK
                   : exec_refuse(error, "\"failed\" says how a world ends, and needs \"done\"");
    }
    if (failed != NULL && !json_is_boolean(failed)) {
        return exec_refuse(error, "\"failed\" must be true or false, and is %s",
                           exec_type_name(failed));
    }
    int rc = exec_read_payload(result, (ExecField){"", "done"}, &bytes, &encoding, error);
    if (rc == SAP_OK) {
        rc = sap_world_done(world, json_is_true(failed), encoding, bytes.data, bytes.len);
        rc = rc == SAP_INVALID
                 ? exec_refuse(error, "\"done\": the bytes are not CBOR")
                 : judge_code(rc, "\"done\"", "a result has 512 KiB at most, and is nested 64 deep",
                              error);
    }
    buf_release(&bytes);
    return rc;
}

/* ---- What is to be done
 * ------------------------------------------------------------------------ */

/* One element of "do". */
typedef struct Deed {
    SapWorld *world;
    const json_t *object;
    const json_t *subject; /* the value of the field that says what it is */
    char where[16];        /* "do[2]: " */
    const char *name;      /* of that field */
    ExecError *error;
} Deed;

enum { DEED_FIELDS = 8 };

typedef struct DeedKind {
    const char *name;
    const char *fields[DEED_FIELDS]; /* besides the name; NULL after the last */
    int (*perform)(const Deed *deed);
} DeedKind;

static int read_deed_text(const Deed *deed, const char *name, size_t most, const char **text_out)
{
    ExecField field = {deed->where, name};
    return exec_read_text(json_object_get(deed->object, name), field, most, text_out, deed->error);
}

static int judge_deed(const Deed *deed, int rc, const char *ref)
{
    char what[64];
    (void)snprintf(what, sizeof what, "%s%s", deed->where, deed->name);
    if (rc == SAP_EXISTS) {
        char excerpt[4 * EXEC_EXCERPT + 4];
        exec_excerpt(ref, strlen(ref), excerpt);
        return exec_refuse(
            deed->error,
            "%s: the ref \"%s\" is in use (ref_in_use): wait for its receipt, or cancel it", what,
            excerpt);
    }
    return judge_code(rc, what, step_limit, deed->error);
}

/* An effect whose params are the JSON of `params`, or bytes. */
static int ask_effect(const Deed *deed, const char *kind, const json_t *params)
{
    SapEffect effect = {.size = sizeof effect, .kind = kind};
    Buf bytes = {0};
    int rc = read_deed_text(deed, "ref", SAP_WORLD_MAX_NAME, &effect.ref);
    rc = rc == SAP_OK ? exec_read_retry(json_object_get(deed->object, "retry"), deed->where,
                                        &effect.retry, deed->error)
                      : rc;
    if (rc == SAP_OK && params != NULL) {
        ExecField field = {deed->where, "params"};
        rc = exec_read_payload(params, field, &bytes, &effect.encoding, deed->error);
    }
    if (rc == SAP_OK && bytes.len > SAP_WORLD_MAX_VALUE) {
        rc = exec_refuse(deed->error, "%s%s: what it is given has %zu bytes, more than %u",
                         deed->where, deed->name, bytes.len, SAP_WORLD_MAX_VALUE);
    }
    if (rc == SAP_OK) {
        effect.params = bytes.data;
        effect.params_len = bytes.len;
        rc = judge_deed(deed, sap_world_effect(deed->world, &effect),
                        effect.ref == NULL ? "" : effect.ref);
    }
    buf_release(&bytes);
    return rc;
}

static int do_effect(const Deed *deed)
{
    const char *kind = NULL;
    int rc = read_deed_text(deed, deed->name, SAP_WORLD_MAX_NAME, &kind);
    return rc == SAP_OK ? ask_effect(deed, kind, json_object_get(deed->object, "params")) : rc;
}

/* Takes the reference `made`. */
static int ask_made(const Deed *deed, const char *kind, json_t *made)
{
    int rc = made == NULL ? SAP_NOMEM : ask_effect(deed, kind, made);
    json_decref(made);
    return rc;
}

static int do_task(const Deed *deed)
{
    const char *name = NULL;
    json_t *args = json_object_get(deed->object, "args");
    int rc = read_deed_text(deed, deed->name, SAP_WORLD_MAX_NAME, &name);
    if (rc != SAP_OK) {
        return rc;
    }
    return ask_made(deed, "task",
                    args == NULL ? json_pack("{s:s, s:n}", "task", name, "args")
                                 : json_pack("{s:s, s:O}", "task", name, "args", args));
}

static int do_job(const Deed *deed)
{
    if (!json_is_array(deed->subject) || json_array_size(deed->subject) == 0) {
        return exec_refuse(deed->error, "%s\"job\" must be an array of strings, the program first",
                           deed->where);
    }
    for (size_t i = 0; i < json_array_size(deed->subject); i++) {
        const json_t *word = json_array_get(deed->subject, i);
        if (!json_is_string(word) || strlen(json_string_value(word)) != json_string_length(word)) {
            return exec_refuse(deed->error,
                               "%s\"job\" must be an array of strings, the program first",
                               deed->where);
        }
    }
    return ask_made(deed, "job.run",
                    json_pack("{s:O}", "argv", (json_t *)(uintptr_t)deed->subject));
}

static int do_timer(const Deed *deed)
{
    SapTimer timer = {.size = sizeof timer};
    Buf bytes = {0};
    const json_t *after = json_object_get(deed->object, "after");
    const json_t *at = json_object_get(deed->object, "at");
    const json_t *body = json_object_get(deed->object, "body");
    int rc = read_deed_text(deed, deed->name, SAP_WORLD_MAX_NAME, &timer.ref);
    if (rc == SAP_OK && (after == NULL) == (at == NULL)) {
        rc = exec_refuse(deed->error, "%sa timer needs \"after\" or \"at\", one of them",
                         deed->where);
    }
    rc = rc == SAP_OK ? exec_read_duration(after, (ExecField){deed->where, "after"},
                                           &timer.after_ns, deed->error)
                      : rc;
    rc = rc == SAP_OK
             ? exec_read_time(at, (ExecField){deed->where, "at"}, &timer.at_ns, deed->error)
             : rc;
    if (rc == SAP_OK && body != NULL) {
        rc = exec_read_payload(body, (ExecField){deed->where, "body"}, &bytes, &timer.encoding,
                               deed->error);
    }
    if (rc == SAP_OK) {
        timer.payload = bytes.data;
        timer.payload_len = bytes.len;
        rc = judge_deed(deed, sap_world_timer(deed->world, &timer), timer.ref);
    }
    buf_release(&bytes);
    return rc;
}

static int do_cancel(const Deed *deed)
{
    const char *ref = NULL;
    int rc = read_deed_text(deed, deed->name, SAP_WORLD_MAX_NAME, &ref);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_world_cancel(deed->world, ref);
    if (rc == SAP_FULL) {
        return exec_refuse(deed->error, "%scancel: one step may cancel 16 things", deed->where);
    }
    /* What has ended meanwhile cannot be cancelled any more, and the program could not know. */
    return rc == SAP_NOTFOUND ? SAP_OK : judge_deed(deed, rc, ref);
}

static int do_reply(const Deed *deed)
{
    const char *token = NULL;
    const json_t *body = json_object_get(deed->object, "body");
    int rc = read_deed_text(deed, deed->name, SIZE_MAX, &token);
    if (rc == SAP_OK && body == NULL) {
        rc = exec_refuse(deed->error, "%sa reply needs \"body\"", deed->where);
    }
    return rc == SAP_OK ? reply_to(deed->world, token, "reply", body, deed->error) : rc;
}

/* Headers of a message: {"name":"value"}. The texts are borrowed from the object. */
static int read_headers(const Deed *deed, SapHeader headers[SAP_WORLD_MAX_HEADERS],
                        uint32_t *count_out)
{
    const json_t *object = json_object_get(deed->object, "headers");
    const char *name = NULL;
    json_t *value = NULL;
    *count_out = 0;
    if (object != NULL &&
        (!json_is_object(object) || json_object_size(object) > SAP_WORLD_MAX_HEADERS)) {
        return exec_refuse(deed->error, "%s\"headers\" must be an object of at most %u strings",
                           deed->where, SAP_WORLD_MAX_HEADERS);
    }
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        ExecField field = {deed->where, "headers"};
        SapHeader *header = &headers[(*count_out)++];
        header->name = name;
        int rc = exec_read_text(value, field, SAP_WORLD_MAX_HEADER, &header->value, deed->error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

/* What a message and a question have in common. The bytes of the payload are the caller's. */
typedef struct Words {
    SapSend send;
    Buf payload;
    SapHeader headers[SAP_WORLD_MAX_HEADERS];
} Words;

static int read_words(const Deed *deed, Words *words)
{
    SapSend *send = &words->send;
    const json_t *body = json_object_get(deed->object, "body");
    int rc = read_deed_text(deed, deed->name, SAP_WORLD_MAX_NAME, &send->world);
    rc = rc == SAP_OK ? read_deed_text(deed, "name", SAP_WORLD_MAX_NAME, &send->name) : rc;
    rc = rc == SAP_OK ? read_deed_text(deed, "ref", SAP_WORLD_MAX_NAME, &send->ref) : rc;
    rc = rc == SAP_OK ? read_deed_text(deed, "create", SAP_WORLD_MAX_NAME, &send->create) : rc;
    rc = rc == SAP_OK ? read_headers(deed, words->headers, &send->header_count) : rc;
    rc = rc == SAP_OK ? exec_read_retry(json_object_get(deed->object, "retry"), deed->where,
                                        &send->retry, deed->error)
                      : rc;
    if (rc == SAP_OK && body != NULL) {
        rc = exec_read_payload(body, (ExecField){deed->where, "body"}, &words->payload,
                               &send->encoding, deed->error);
    }
    send->headers = words->headers;
    send->payload = words->payload.data;
    send->payload_len = words->payload.len;
    return rc;
}

static int do_send(const Deed *deed)
{
    Words words = {.send = {.size = sizeof words.send}};
    int rc = read_words(deed, &words);
    rc = rc == SAP_OK ? read_deed_text(deed, "id", SAP_WORLD_MAX_ID, &words.send.message_id) : rc;
    rc = rc == SAP_OK ? exec_read_duration(json_object_get(deed->object, "after"),
                                           (ExecField){deed->where, "after"}, &words.send.delay_ns,
                                           deed->error)
                      : rc;
    if (rc == SAP_OK) {
        const char *ref = words.send.ref == NULL ? "" : words.send.ref;
        rc = judge_deed(deed, sap_world_send(deed->world, &words.send), ref);
    }
    buf_release(&words.payload);
    return rc;
}

static int do_ask(const Deed *deed)
{
    Words words = {.send = {.size = sizeof words.send}};
    const SapSend *send = &words.send;
    uint64_t timeout_ns = 0;
    int rc = read_words(deed, &words);
    if (rc == SAP_OK && send->ref == NULL) {
        rc = exec_refuse(deed->error, "%san ask needs \"ref\", by which its reply comes",
                         deed->where);
    }
    rc = rc == SAP_OK
             ? exec_read_duration(json_object_get(deed->object, "timeout"),
                                  (ExecField){deed->where, "timeout"}, &timeout_ns, deed->error)
             : rc;
    if (rc == SAP_OK) {
        SapAsk ask = {
            .size = sizeof ask,
            .encoding = send->encoding,
            .world = send->world,
            .name = send->name,
            .ref = send->ref,
            .payload = send->payload,
            .payload_len = send->payload_len,
            .headers = send->headers,
            .header_count = send->header_count,
            .create = send->create,
            .timeout_ns = timeout_ns,
            .retry = send->retry,
        };
        rc = judge_deed(deed, sap_world_ask(deed->world, &ask), send->ref);
    }
    buf_release(&words.payload);
    return rc;
}

static const DeedKind deed_kinds[] = {
    {"task", {"args", "ref", "retry"}, do_task},
    {"effect", {"params", "ref", "retry"}, do_effect},
    {"timer", {"after", "at", "body"}, do_timer},
    {"cancel", {NULL}, do_cancel},
    {"send", {"name", "body", "ref", "id", "create", "after", "headers", "retry"}, do_send},
    {"ask", {"name", "body", "ref", "create", "timeout", "headers", "retry"}, do_ask},
    {"reply", {"body"}, do_reply},
    {"job", {"ref", "retry"}, do_job},
};

/* The kind that an object names, and it alone. */
static int find_deed(const json_t *object, const char *where, const DeedKind **kind_out,
                     ExecError *error)
{
    const DeedKind *found = NULL;
    for (size_t i = 0; i < sizeof deed_kinds / sizeof deed_kinds[0]; i++) {
        if (json_object_get(object, deed_kinds[i].name) == NULL) {
            continue;
        }
        if (found != NULL) {
            return exec_refuse(error,
                               "%s\"%s\" and \"%s\" are two things: write them as two objects",
                               where, found->name, deed_kinds[i].name);
        }
        found = &deed_kinds[i];
    }
    if (found == NULL) {
        return exec_refuse(
            error,
            "%ssays none of what can be done: task, effect, timer, cancel, send, ask, reply, job",
            where);
    }
    *kind_out = found;
    return SAP_OK;
}

static int do_one(SapWorld *world, const json_t *object, size_t index, ExecError *error)
{
    Deed deed = {.world = world, .object = object, .error = error};
    const DeedKind *kind = NULL;
    const char *names[DEED_FIELDS + 1];
    size_t count = 1;
    (void)snprintf(deed.where, sizeof deed.where, "do[%zu]: ", index);
    if (!json_is_object(object)) {
        return exec_refuse(error, "%smust be an object, and is %s", deed.where,
                           exec_type_name(object));
    }
    int rc = find_deed(object, deed.where, &kind, error);
    if (rc != SAP_OK) {
        return rc;
    }
    SAP_ASSERT(kind != NULL);
    names[0] = kind->name;
    while (count <= DEED_FIELDS && kind->fields[count - 1] != NULL) {
        names[count] = kind->fields[count - 1];
        count++;
    }
    char what[64];
    (void)snprintf(what, sizeof what, "%sa %s", deed.where, kind->name);
    rc = exec_read_members(object, what, names, count, error);
    if (rc != SAP_OK) {
        return rc;
    }
    deed.name = kind->name;
    deed.subject = json_object_get(object, kind->name);
    return kind->perform(&deed);
}

static int do_all(SapWorld *world, const json_t *deeds, ExecError *error)
{
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < json_array_size(deeds); i++) {
        if (i >= SAP_WORLD_MAX_INTENTS) {
            return exec_refuse(error, "\"do\" has %zu elements, more than %u",
                               json_array_size(deeds), SAP_WORLD_MAX_INTENTS);
        }
        rc = do_one(world, json_array_get(deeds, i), i, error);
    }
    return rc;
}

/* ---- Failing
 * ----------------------------------------------------------------------------------- */

/* error->text is the program's message. */
static int read_fail(const json_t *object, const json_t *fail, ExecAnswer *answer, ExecError *error)
{
    static const char *const alone[] = {"id", "fail"};
    static const char *const names[] = {"message", "retry"};
    const json_t *message = json_object_get(fail, "message");
    const json_t *retry = json_object_get(fail, "retry");
    int rc = exec_read_members(object, "an answer with \"fail\"", alone, 2, error);
    if (rc == SAP_OK && !json_is_object(fail)) {
        rc = exec_refuse(
            error, "\"fail\" must be an object, {\"message\":\"...\",\"retry\":false}, and is %s",
            exec_type_name(fail));
    }
    rc = rc == SAP_OK ? exec_read_members(fail, "\"fail\"", names, 2, error) : rc;
    if (rc == SAP_OK && !json_is_string(message)) {
        rc = exec_refuse(error, "\"fail\" needs \"message\", a string");
    }
    if (rc == SAP_OK && retry != NULL && !json_is_boolean(retry)) {
        rc =
            exec_refuse(error, "\"retry\" must be true or false, and is %s", exec_type_name(retry));
    }
    if (rc == SAP_OK) {
        size_t len = json_string_length(message);
        size_t kept = utf8_prefix(json_string_value(message), len, sizeof error->text - 1);
        (void)exec_refuse(error, "%.*s", (int)kept, json_string_value(message));
        answer->verdict = EXEC_FAILED;
        answer->retry = json_is_true(retry);
    }
    return rc;
}

/* ---- Asking for rows
 * --------------------------------------------------------------------------- */

static int append_asked(SapWorld *world, const json_t *get, const json_t *scan, Buf *more,
                        ExecError *error)
{
    size_t most = more->len + EXEC_LINE_MOST;
    int rc = SAP_OK;
    for (size_t i = 0; rc == SAP_OK && i < json_array_size(get); i++) {
        const json_t *key = json_array_get(get, i);
        if (!json_is_string(key)) {
            return exec_refuse(error, "\"get\" must be an array of strings");
        }
        bool again = false;
        for (size_t k = 0; k < i && !again; k++) {
            again = json_equal(key, json_array_get(get, k)) != 0;
        }
        Slice text = {json_string_value(key), json_string_length(key)};
        bool scanned = scan != NULL && text.len >= json_string_length(scan) &&
                       memcmp(text.data, json_string_value(scan), json_string_length(scan)) == 0;
        rc = again || scanned ? SAP_OK : exec_state_member(world, text, most, more, error);
    }
    if (rc == SAP_OK && scan != NULL) {
        Slice prefix = {json_string_value(scan), json_string_length(scan)};
        rc = exec_state_members(world, prefix, most, more, error);
    }
    if (rc == SAP_FULL) {
        return exec_refuse(error,
                           "asked for more than 8 MiB of its state at once: scan a longer prefix");
    }
    return rc;
}

/* {"id":...,"got":{...}} */
static int answer_question(SapWorld *world, const ExecAsked *asked, const json_t *object, Buf *more,
                           ExecError *error)
{
    enum { GET_MOST = 1000 };
    static const char *const names[] = {"id", "get", "scan"};
    const json_t *get = json_object_get(object, "get");
    const json_t *scan = json_object_get(object, "scan");
    if (!asked->may_ask) {
        return exec_refuse(
            error,
            "asked for its state with \"%s\", and was given it whole: its module says "
            "state \"whole\", not \"ask\"",
            get != NULL ? "get" : "scan");
    }
    int rc = exec_read_members(object, "a question with \"get\" or \"scan\"", names, 3, error);
    if (rc == SAP_OK && get != NULL && (!json_is_array(get) || json_array_size(get) > GET_MOST)) {
        rc = exec_refuse(error, "\"get\" must be an array of at most %d strings", GET_MOST);
    }
    if (rc == SAP_OK && scan != NULL && !json_is_string(scan)) {
        rc = exec_refuse(error, "\"scan\" must be a string, the beginning of the keys, and is %s",
                         exec_type_name(scan));
    }
    rc = rc == SAP_OK ? buf_append_str(more, "{\"id\":") : rc;
    rc = rc == SAP_OK ? exec_append_string(more, asked->id, strlen(asked->id)) : rc;
    rc = rc == SAP_OK ? buf_append_str(more, ",\"got\":{") : rc;
    rc = rc == SAP_OK ? append_asked(world, get, scan, more, error) : rc;
    return rc == SAP_OK ? buf_append_str(more, "}}\n") : rc;
}

/* ---- Answers
 * ----------------------------------------------------------------------------------- */

static int check_object(const json_t *value, const char *name, bool array, ExecError *error)
{
    if (value == NULL || (array ? json_is_array(value) : json_is_object(value))) {
        return SAP_OK;
    }
    return exec_refuse(error, "\"%s\" must be %s, and is %s", name,
                       array ? "an array" : "an object", exec_type_name(value));
}

static int apply_changes(SapWorld *world, const ExecAsked *asked, const json_t *object,
                         ExecError *error)
{
    static const char *const names[] = {"id",   "put", "del",  "reply", "done", "failed",
                                        "tags", "do",  "fail", "get",   "scan"};
    const json_t *put = json_object_get(object, "put");
    const json_t *del = json_object_get(object, "del");
    const json_t *tags = json_object_get(object, "tags");
    const json_t *deeds = json_object_get(object, "do");
    const json_t *reply = json_object_get(object, "reply");
    int rc = exec_read_members(object, "the answer", names, sizeof names / sizeof names[0], error);
    rc = rc == SAP_OK ? check_object(put, "put", false, error) : rc;
    rc = rc == SAP_OK ? check_object(del, "del", true, error) : rc;
    rc = rc == SAP_OK ? check_object(tags, "tags", false, error) : rc;
    rc = rc == SAP_OK ? check_object(deeds, "do", true, error) : rc;
    if (rc == SAP_OK && asked->query) {
        static const char *const allowed[] = {"id", "reply"};
        rc = exec_read_members(object, "the answer to a query, which may only reply or fail,",
                               allowed, 2, error);
    }
    rc = rc == SAP_OK ? put_rows(world, put, error) : rc;
    rc = rc == SAP_OK ? del_rows(world, put, del, error) : rc;
    rc = rc == SAP_OK ? set_tags(world, tags, error) : rc;
    rc = rc == SAP_OK ? do_all(world, deeds, error) : rc;
    if (rc == SAP_OK && reply != NULL && asked->reply_to[0] != 0) {
        rc = reply_to(world, asked->reply_to, "reply", reply, error);
    }
    return rc == SAP_OK ? end_world(world, object, json_object_get(object, "done"), error) : rc;
}

int exec_answer_apply(SapWorld *world, const ExecAsked *asked, const char *line, size_t len,
                      Buf *more, ExecAnswer *answer_out, ExecError *error)
{
    json_t *object = NULL;
    *answer_out = (ExecAnswer){.verdict = EXEC_DONE};
    error->text[0] = 0;
    int rc = read_line(asked->id, line, len, &object, answer_out, error);
    if (rc != SAP_OK) {
        return rc;
    }
    const json_t *fail = json_object_get(object, "fail");
    if (fail != NULL) {
        rc = read_fail(object, fail, answer_out, error);
    } else if (json_object_get(object, "get") != NULL || json_object_get(object, "scan") != NULL) {
        answer_out->verdict = EXEC_ASKED;
        rc = answer_question(world, asked, object, more, error);
    } else {
        rc = apply_changes(world, asked, object, error);
    }
    json_decref(object);
    return rc;
}

/* ---- Tasks
 * ------------------------------------------------------------------------------------- */

/* {"code","message","retry"}, whatever else it has: all of it is the payload of the receipt. */
static int read_task_error(const json_t *failure, ExecTaskAnswer *out, ExecError *error)
{
    const json_t *retry = json_object_get(failure, "retry");
    const json_t *message = json_object_get(failure, "message");
    const char *code = "task_failed";
    if (!json_is_object(failure)) {
        return exec_refuse(
            error,
            "\"error\" must be an object, {\"message\":\"...\",\"code\":\"...\",\"retry\":true}, and is %s",
            exec_type_name(failure));
    }
    if (retry != NULL && !json_is_boolean(retry)) {
        return exec_refuse(error, "error: \"retry\" must be true or false, and is %s",
                           exec_type_name(retry));
    }
    if (message != NULL && !json_is_string(message)) {
        return exec_refuse(error, "error: \"message\" must be a string, and is %s",
                           exec_type_name(message));
    }
    int rc = exec_read_text(json_object_get(failure, "code"), (ExecField){"error: ", "code"},
                            sizeof out->code - 1, &code, error);
    if (rc == SAP_OK) {
        (void)snprintf(out->code, sizeof out->code, "%s", code);
        out->answer.verdict = EXEC_FAILED;
        out->answer.retry = retry == NULL || json_is_true(retry);
        rc = exec_read_payload(failure, (ExecField){"", "error"}, &out->payload, &out->encoding,
                               error);
    }
    return rc;
}

static int read_task_object(const json_t *object, ExecTaskAnswer *out, ExecError *error)
{
    static const char *const names[] = {"id", "ok", "error", "beat"};
    const json_t *ok = json_object_get(object, "ok");
    const json_t *failure = json_object_get(object, "error");
    bool beat = json_object_get(object, "beat") != NULL;
    int rc = exec_read_members(object, "the answer to a task", names, 4, error);
    if (rc != SAP_OK) {
        return rc;
    }
    if ((ok != NULL) + (failure != NULL) + beat != 1) {
        return exec_refuse(error,
                           "the answer to a task needs one of \"ok\", \"error\" and \"beat\"");
    }
    if (beat) {
        out->answer.verdict = EXEC_BEAT;
        return SAP_OK;
    }
    return failure != NULL
               ? read_task_error(failure, out, error)
               : exec_read_payload(ok, (ExecField){"", "ok"}, &out->payload, &out->encoding, error);
}

int exec_task_answer_read(const char *id, const char *line, size_t len, ExecTaskAnswer *out,
                          ExecError *error)
{
    json_t *object = NULL;
    out->answer = (ExecAnswer){.verdict = EXEC_DONE};
    out->code[0] = 0;
    out->encoding = SAP_ENCODING_JSON;
    buf_clear(&out->payload);
    error->text[0] = 0;
    int rc = read_line(id, line, len, &object, &out->answer, error);
    if (rc == SAP_OK) {
        rc = read_task_object(object, out, error);
        json_decref(object);
    }
    return rc;
}
