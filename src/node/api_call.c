/* api_call.c - see api_call.h. */
#include "node/api_call.h"

#include <ctype.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/assert.h"
#include "common/random.h"
#include "common/utf8.h"
#include "node/api_routes.h"
#include "json/canonical.h"

static const char content_json[] = "application/json";

enum { MESSAGE_MOST = 1024, MARK_DIGITS = 8 };

/* A text in an answer that stands for the n-th text of `raws`: this, the call's nonce in hexadecimal, n. */
static const char mark_start[] = "raw:";
enum { MARK_LEN = sizeof mark_start - 1 + 32 + MARK_DIGITS };

static const struct {
    uint32_t status;
    const char *code;
} errors[API_ERROR_COUNT] = {
#define API_ERROR_ROW(name, status, code) [API_##name] = {status, code},
    API_ERRORS(API_ERROR_ROW)
#undef API_ERROR_ROW
};

uint32_t api_error_status(ApiError error)
{
    SAP_ASSERT(error < API_ERROR_COUNT);
    return errors[error].status;
}

const char *api_error_code(ApiError error)
{
    SAP_ASSERT(error < API_ERROR_COUNT);
    return errors[error].code;
}

void call_init(Call *call, Api *api)
{
    memset(call, 0, sizeof *call);
    call->api = api;
}

void call_release(Call *call)
{
    buf_release(&call->queries_text);
    buf_release(&call->body);
    buf_release(&call->text);
    buf_release(&call->raws);
    json_decref(call->fields);
    call->fields = NULL;
}

/* ---- Answers --------------------------------------------------------------------------------- */

void call_park(Call *call, Waits *waits, uint64_t ms)
{
    SAP_ASSERT(call->status == 0 && call->park_in == NULL);
    call->park_in = waits;
    call->park_ms = ms;
}

/* Of an answer that finds no memory for its text: it needs none. */
static void answer_no_memory(Call *call)
{
    buf_release(&call->text);
    call->status = errors[API_BUSY].status;
    call->error = API_BUSY;
    call->content_type = content_json;
    call->retry_after_s = 1;
}

static int append_dumped(const char *text, size_t len, void *ctx)
{
    return buf_append((Buf *)ctx, text, len) == SAP_OK ? 0 : -1;
}

/* The n-th text of the payloads of the answer: each has its length before it. */
static Slice raw_at(const Call *call, uint32_t number)
{
    const uint8_t *at = call->raws.data;
    size_t len = 0;
    for (uint32_t i = 0;; i++) {
        memcpy(&len, at, sizeof len);
        at += sizeof len;
        if (i == number) {
            return (Slice){at, len};
        }
        at += len;
    }
}

static void write_mark(const Call *call, uint32_t number, char out[MARK_LEN + 1])
{
    char nonce[2 * sizeof call->raw_nonce + 1];
    (void)sodium_bin2hex(nonce, sizeof nonce, call->raw_nonce, sizeof call->raw_nonce);
    (void)snprintf(out, MARK_LEN + 1, "%s%s%0*u", mark_start, nonce, MARK_DIGITS, number);
}

/* Puts the texts of payloads in the place of their marks, which come in the order of the texts unless an
 * object has them in another. */
static int replace_marks(Call *call, const Buf *dumped, Buf *out)
{
    char mark[MARK_LEN + 1];
    SAP_ASSERT(dumped->data != NULL);
    const char *at = (const char *)dumped->data;
    const char *end = at + dumped->len;
    int rc = SAP_OK;
    write_mark(call, 0, mark);
    size_t fixed = MARK_LEN - MARK_DIGITS;
    while (rc == SAP_OK) {
        const char *found = (const char *)memmem(at, (size_t)(end - at), mark, fixed);
        if (found == NULL) {
            break;
        }
        SAP_ASSERT(found > at && found[-1] == '"' && found + MARK_LEN < end);
        uint32_t number = (uint32_t)strtoul(found + fixed, NULL, 10);
        SAP_ASSERT(number < call->raw_count);
        Slice raw = raw_at(call, number);
        rc = buf_append(out, at, (size_t)(found - 1 - at));
        rc = rc == SAP_OK ? buf_append(out, raw.data, raw.len) : rc;
        at = found + MARK_LEN + 1; /* and the quote */
    }
    return rc == SAP_OK ? buf_append(out, at, (size_t)(end - at)) : rc;
}

static int dump_answer(Call *call, const json_t *json, Buf *out)
{
    Buf dumped = {0};
    Buf *first = call->raw_count > 0 ? &dumped : out;
    int rc = json_dump_callback(json, append_dumped, first, JSON_COMPACT) == 0 ? SAP_OK : SAP_NOMEM;
    if (rc == SAP_OK && call->raw_count > 0) {
        rc = replace_marks(call, &dumped, out);
    }
    buf_release(&dumped);
    return rc == SAP_OK ? buf_append_u8(out, '\n') : rc;
}

void call_answer(Call *call, uint32_t status, json_t *json)
{
    if (call->status != 0) {
        json_decref(json);
        return;
    }
    call->status = status;
    call->content_type = content_json;
    if (json == NULL || dump_answer(call, json, &call->text) != SAP_OK) {
        answer_no_memory(call);
    }
    json_decref(json);
}

void call_answer_empty(Call *call, uint32_t status)
{
    if (call->status == 0) {
        call->status = status;
        call->content_type = NULL;
    }
}

void call_answer_text(Call *call, uint32_t status, const char *content_type, Buf *text)
{
    if (call->status == 0) {
        call->status = status;
        call->content_type = content_type;
        call->text = *text;
        *text = (Buf){0};
    }
    buf_release(text);
}

static bool fail_with(Call *call, ApiError error, json_t *detail, const char *format, va_list args)
{
    char message[MESSAGE_MOST];
    if (call->status != 0) {
        json_decref(detail);
        return false;
    }
    (void)vsnprintf(message, sizeof message, format, args);
    json_t *json =
        json_pack("{s:s, s:o, s:o}", "code", errors[error].code, "message", call_text_json(message),
                  "detail", detail == NULL ? json_object() : detail);
    call->retry_after_s = error == API_BUSY ? 1 : call->retry_after_s;
    call_answer(call, errors[error].status, json);
    call->error = json == NULL ? API_BUSY : error;
    return false;
}

bool call_fail(Call *call, ApiError error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fail_with(call, error, NULL, format, args);
    va_end(args);
    return false;
}

bool call_fail_detail(Call *call, ApiError error, json_t *detail, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fail_with(call, error, detail, format, args);
    va_end(args);
    return false;
}

/* What each code of the universe is to a caller. */
static const struct {
    ApiError error;
    const char *text;
} codes[] = {
    [SAP_NOTFOUND] = {API_NOT_FOUND, "there is no such %s: look at the list"},
    [SAP_ERROR] = {API_STORE_FAILED, "%s: the node made a mistake: see its log, and report it"},
    [SAP_FULL] = {API_DISK_FULL, "%s: no room on the disk: free some, and send it again"},
    [SAP_READONLY] = {API_STORE_FAILED, "%s: the store is read-only: open it for writing"},
    [SAP_BUSY] = {API_BUSY, "%s: others were in the way for too long: try again"},
    [SAP_EXISTS] = {API_CONFLICT, "%s: that has been done already: look at what became of it"},
    [SAP_CONFLICT] = {API_BUSY, "%s: others changed it meanwhile: try again"},
    [SAP_INVALID] = {API_BAD_REQUEST,
                     "%s: a name, text or payload is not valid: names are UTF-8 of 1 to 128 "
                     "bytes without control characters"},
    [SAP_CORRUPT] = {API_STORE_FAILED,
                     "%s: a row of the store is damaged: run sapling store check, or restore a "
                     "backup"},
    [SAP_IO] = {API_STORE_FAILED, "%s: the store failed: see the node's log, and try again"},
    [SAP_NOMEM] = {API_BUSY, "%s: the node is out of memory: try again"},
    [SAP_FENCED] = {API_CONFLICT, "%s: another worker has taken over: try again"},
};

bool call_fail_code(Call *call, int rc, const char *what)
{
    char text[MESSAGE_MOST];
    SAP_ASSERT(rc > SAP_OK && (size_t)rc < sizeof codes / sizeof codes[0]);
    const char *mark = strstr(codes[rc].text, "%s");
    SAP_ASSERT(mark != NULL);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(mark - codes[rc].text), codes[rc].text,
                   what, mark + 2);
    return call_fail(call, codes[rc].error, "%s", text);
}

bool call_fail_world(Call *call, int rc, const char *world)
{
    SapWorldInfo info;
    if (rc != SAP_NOTFOUND) {
        return call_fail_code(call, rc, "world");
    }
    int found = sap_world_info(call->api->universe, world, &info);
    if (found == SAP_OK && info.status == SAP_WORLD_DONE) {
        return call_fail(
            call, API_WORLD_DONE,
            "the world \"%s\" has finished and takes nothing: read its result with GET "
            "/v1/worlds/%s/result",
            world, world);
    }
    if (found == SAP_OK && info.status == SAP_WORLD_DELETED) {
        return call_fail(call, API_UNKNOWN_WORLD,
                         "the world \"%s\" was deleted: create it again with POST /v1/worlds",
                         world);
    }
    if (found == SAP_OK) {
        return call_fail(call, API_NOT_FOUND, "the world \"%s\" has nothing of that name", world);
    }
    return call_fail(
        call, API_UNKNOWN_WORLD,
        "there is no world \"%s\": create it with POST /v1/worlds, or send the message "
        "with a \"module\"",
        world);
}

/* ---- Payloads -------------------------------------------------------------------------------- */

json_t *call_text_json(const char *text)
{
    json_t *json = json_string(text);
    size_t len = strlen(text);
    /* Cut at the start of the last character; what is still not UTF-8 shows without its high bytes. */
    for (size_t cut = 0; json == NULL && cut < 4 && cut < len; cut++) {
        json = json_stringn(text, len - cut);
    }
    if (json == NULL) {
        char *plain = strdup(text);
        for (size_t i = 0; plain != NULL && plain[i] != 0; i++) {
            plain[i] = (char)((uint8_t)plain[i] < 0x80 ? plain[i] : '?');
        }
        json = plain == NULL ? NULL : json_string(plain);
        free(plain);
    }
    return json;
}

static json_t *base64_json(const void *data, size_t len)
{
    size_t size = sodium_base64_encoded_len(len, sodium_base64_VARIANT_ORIGINAL);
    char *text = (char *)malloc(size);
    if (text == NULL) {
        return NULL;
    }
    (void)sodium_bin2base64(text, size, (const unsigned char *)data, len,
                            sodium_base64_VARIANT_ORIGINAL);
    json_t *json = json_pack("{s:s}", "b64", text);
    free(text);
    return json;
}

/* A mark that dump_answer() replaces by the text: no reader of ours takes it apart, so that no digit of a
 * number is lost. */
static json_t *raw_json(Call *call, const void *data, size_t len)
{
    char mark[MARK_LEN + 1];
    if (call->raw_count == 0 &&
        random_fill(NULL, call->raw_nonce, sizeof call->raw_nonce) != SAP_OK) {
        return NULL;
    }
    size_t before = call->raws.len;
    int rc = buf_append(&call->raws, &len, sizeof len);
    rc = rc == SAP_OK ? buf_append(&call->raws, data, len) : rc;
    if (rc != SAP_OK) {
        buf_truncate(&call->raws, before);
        return NULL;
    }
    write_mark(call, call->raw_count++, mark);
    return json_string(mark);
}

bool call_set_payload(Call *call, json_t *object, const char *name, SapEncoding encoding,
                      const void *data, size_t len)
{
    if (encoding == SAP_ENCODING_JSON && len > 0) {
        return json_object_set_new(object, name, raw_json(call, data, len)) == 0;
    }
    const char *text = encoding == SAP_ENCODING_CBOR ? "cbor" : "raw";
    return json_object_set_new(object, name, base64_json(data == NULL ? "" : data, len)) == 0 &&
           json_object_set_new(object, "encoding", json_string(text)) == 0;
}

json_t *call_key_json(const void *key, size_t len)
{
    return utf8_valid(key, len) ? json_stringn((const char *)key, len) : base64_json(key, len);
}

json_t *call_hex_json(const uint8_t *bytes, size_t len)
{
    char text[129];
    SAP_ASSERT(2 * len < sizeof text);
    (void)sodium_bin2hex(text, sizeof text, bytes, len);
    return json_string(text);
}

bool call_hex_read(const char *text, uint8_t *out, size_t len)
{
    size_t read = 0;
    if (strlen(text) != 2 * len) {
        return false;
    }
    for (const char *at = text; *at != 0; at++) {
        if (!isdigit((unsigned char)*at) && (*at < 'a' || *at > 'f')) {
            return false;
        }
    }
    return sodium_hex2bin(out, len, text, 2 * len, NULL, &read, NULL) == 0 && read == len;
}

/* ---- What follows the question mark ---------------------------------------------------------- */

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

bool call_decode(const char *text, size_t len, bool plus, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++) {
        int byte = (uint8_t)text[i];
        if (text[i] == '%') {
            int high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
            int low = i + 2 < len ? hex_digit(text[i + 2]) : -1;
            if (high < 0 || low < 0) {
                return false;
            }
            byte = high * 16 + low;
            i += 2;
        } else if (plus && text[i] == '+') {
            byte = ' ';
        }
        if (byte == 0 || used + 1 >= size) {
            return false;
        }
        out[used++] = (char)byte;
    }
    out[used] = 0;
    return utf8_valid(out, used);
}

/* Adds one decoded text with its NUL; its place, not its address, since the buffer grows. */
static bool add_decoded(Call *call, const char *text, size_t len, size_t *at_out)
{
    *at_out = call->queries_text.len;
    if (buf_reserve(&call->queries_text, len + 1) != SAP_OK) {
        return call_fail_code(call, SAP_NOMEM, "query");
    }
    char *out = (char *)call->queries_text.data + *at_out;
    if (!call_decode(text, len, true, out, len + 1)) {
        return call_fail(call, API_BAD_REQUEST,
                         "what follows the question mark is not well-formed: use %%XX for special "
                         "characters, in UTF-8");
    }
    call->queries_text.len += strlen(out) + 1;
    return true;
}

static bool add_query(Call *call, size_t name_at, size_t value_at)
{
    const char *base = (const char *)call->queries_text.data;
    const char *name = base + name_at;
    if (!api_names_have(call->route->queries, name)) {
        return call_fail_detail(
            call, API_UNKNOWN_FIELD,
            json_pack("{s:s, s:s}", "field", name, "allowed", call->route->queries),
            "%s %s has no parameter \"%s\"%s%s", call->route->method, call->route->path, name,
            call->route->queries[0] == 0 ? "" : ": it takes ", call->route->queries);
    }
    for (uint32_t i = 0; i < call->query_count; i++) {
        if (strcmp(base + (size_t)(uintptr_t)call->queries[i].name, name) == 0) {
            return call_fail(call, API_BAD_REQUEST, "the parameter \"%s\" is given twice", name);
        }
    }
    if (call->query_count == API_QUERIES) {
        return call_fail(call, API_BAD_REQUEST, "more than %d parameters", API_QUERIES);
    }
    call->queries[call->query_count++] =
        (QueryValue){(const char *)(uintptr_t)name_at, (const char *)(uintptr_t)value_at};
    return true;
}

bool call_read_query(Call *call, const char *text)
{
    while (*text != 0) {
        size_t len = strcspn(text, "&");
        const char *equals = (const char *)memchr(text, '=', len);
        size_t name_len = equals == NULL ? len : (size_t)(equals - text);
        size_t name_at = 0;
        size_t value_at = 0;
        if (len > 0) {
            const char *value = equals == NULL ? text + len : equals + 1;
            if (!add_decoded(call, text, name_len, &name_at) ||
                !add_decoded(call, value, (size_t)(text + len - value), &value_at) ||
                !add_query(call, name_at, value_at)) {
                return false;
            }
        }
        text += len + (text[len] == '&');
    }
    /* The buffer stands still from here on. */
    for (uint32_t i = 0; i < call->query_count; i++) {
        const char *base = (const char *)call->queries_text.data;
        call->queries[i].name = base + (size_t)(uintptr_t)call->queries[i].name;
        call->queries[i].value = base + (size_t)(uintptr_t)call->queries[i].value;
    }
    return true;
}

const char *call_query(const Call *call, const char *name)
{
    for (uint32_t i = 0; i < call->query_count; i++) {
        if (strcmp(call->queries[i].name, name) == 0) {
            return call->queries[i].value;
        }
    }
    return NULL;
}

static bool read_digits(const char *text, uint64_t most, const char **end_out, uint64_t *out)
{
    uint64_t number = 0;
    const char *at = text;
    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (number > (most - digit) / 10) {
            return false;
        }
        number = number * 10 + digit;
    }
    *end_out = at;
    *out = number;
    return at > text && number <= most;
}

bool call_query_u64(Call *call, const char *name, uint64_t most, uint64_t otherwise, uint64_t *out)
{
    const char *text = call_query(call, name);
    const char *end = text;
    *out = otherwise;
    if (text == NULL || (read_digits(text, most, &end, out) && *end == 0)) {
        return true;
    }
    return call_fail(call, API_BAD_REQUEST, "%s=%s: give a number of 0 to %llu", name, text,
                     (unsigned long long)most);
}

bool call_query_wait(Call *call, bool *given_out, uint64_t *ms_out)
{
    static const struct {
        const char *unit;
        uint64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}};
    const char *text = call_query(call, "wait");
    const char *end = NULL;
    uint64_t number = 0;
    *given_out = text != NULL;
    *ms_out = 0;
    if (text == NULL) {
        return true;
    }
    if (read_digits(text, UINT32_MAX, &end, &number)) {
        for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
            if (strcmp(end, units[i].unit) == 0) {
                uint64_t ms = number * units[i].ms;
                *ms_out = ms < API_WAIT_MOST_MS ? ms : API_WAIT_MOST_MS;
                return true;
            }
        }
    }
    return call_fail(call, API_BAD_REQUEST,
                     "wait=%s: give a time such as 5s, 500ms or 1m, which is the most", text);
}

/* ---- The body -------------------------------------------------------------------------------- */

/* The end of the value that begins at `at` in canonical JSON, where a member or an array goes on. */
static size_t skip_value(const uint8_t *text, size_t len, size_t at)
{
    int depth = 0;
    for (; at < len; at++) {
        uint8_t c = text[at];
        if (c == '"') {
            for (at++; text[at] != '"'; at++) {
                at += text[at] == '\\';
            }
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (depth == 0 && (c == ',' || c == '}' || c == ']')) {
            return at;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return at;
}

/* Finds the value of the member "body" of an object in canonical form. */
static bool find_body(const Buf *text, size_t *from_out, size_t *to_out)
{
    static const char name[] = "\"body\":";
    size_t at = 1;
    while (at < text->len && text->data[at] == '"') {
        size_t value = skip_value(text->data, text->len, at); /* of the whole member */
        bool is_body =
            text->len - at > sizeof name - 1 && memcmp(text->data + at, name, sizeof name - 1) == 0;
        if (is_body) {
            *from_out = at + sizeof name - 1;
            *to_out = value;
            return true;
        }
        at = value + 1;
    }
    return false;
}

/* Parses the members but "body", whose text stays as it is: no digit of its numbers is lost. */
static bool parse_fields(Call *call)
{
    static const char null_text[] = "null";
    size_t from = 0;
    size_t to = 0;
    Buf rest = {0};
    json_error_t error;
    int rc = SAP_OK;
    if (find_body(&call->body, &from, &to)) {
        call->payload = (Slice){call->body.data + from, to - from};
        rc = buf_append(&rest, call->body.data, from);
        rc = rc == SAP_OK ? buf_append_str(&rest, null_text) : rc;
        rc = rc == SAP_OK ? buf_append(&rest, call->body.data + to, call->body.len - to) : rc;
    } else {
        rc = buf_append(&rest, call->body.data, call->body.len);
    }
    if (rc == SAP_OK) {
        call->fields = json_loadb((const char *)rest.data, rest.len, JSON_ALLOW_NUL, &error);
    }
    buf_release(&rest);
    if (rc != SAP_OK) {
        return call_fail_code(call, rc, "body");
    }
    return call->fields != NULL ||
           call_fail(call, API_BAD_REQUEST, "the body is not usable: %s", error.text);
}

static bool field_is_known(const Route *route, const char *name)
{
    return api_names_have(route->fields, name) ||
           ((route->flags & ROUTE_PAYLOAD) != 0 &&
            (strcmp(name, "body") == 0 || strcmp(name, "encoding") == 0));
}

static bool check_fields(Call *call)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach(call->fields, name, value)
    {
        if (!field_is_known(call->route, name)) {
            const char *more = (call->route->flags & ROUTE_PAYLOAD) != 0 ? "body encoding " : "";
            return call_fail_detail(
                call, API_UNKNOWN_FIELD, json_pack("{s:s}", "field", name),
                "%s %s has no field \"%s\"%s%s%s", call->route->method, call->route->path, name,
                more[0] == 0 && call->route->fields[0] == 0 ? "" : ": it takes ", more,
                call->route->fields);
        }
    }
    return true;
}

bool call_read_body(Call *call)
{
    Buf canonical = {0};
    CanonicalError error = {0, ""};
    if (call->body.len == 0) {
        call->fields = json_object();
        return call->fields != NULL || call_fail_code(call, SAP_NOMEM, "body");
    }
    int rc = json_canonical(call->body.data, call->body.len, &canonical, &error);
    if (rc != SAP_OK) {
        buf_release(&canonical);
    }
    if (rc == SAP_INVALID || rc == SAP_FULL) {
        return call_fail_detail(call, API_BAD_REQUEST,
                                json_pack("{s:I}", "at", (json_int_t)error.at),
                                "the body is not JSON: %s, at byte %zu", error.reason, error.at);
    }
    if (rc != SAP_OK) {
        return call_fail_code(call, rc, "body");
    }
    buf_release(&call->body);
    call->body = canonical;
    if (canonical.data[0] != '{') {
        return call_fail(call, API_BAD_REQUEST, "the body is not an object: send {...}");
    }
    return parse_fields(call) && check_fields(call);
}

bool call_field_text(Call *call, const char *name, size_t most, bool needed, const char **out)
{
    const json_t *value = json_object_get(call->fields, name);
    *out = NULL;
    if (value == NULL || json_is_null(value)) {
        return !needed || call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", name),
                                           "the field \"%s\" is missing", name);
    }
    const char *text = json_string_value(value);
    if (text == NULL || strlen(text) != json_string_length(value) || strlen(text) > most ||
        (needed && text[0] == 0)) {
        return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", name),
                                "the field \"%s\" is to be a text of %s%zu bytes, without NUL",
                                name, needed ? "1 to " : "up to ", most);
    }
    *out = text;
    return true;
}

bool call_field_u64(Call *call, const char *name, uint64_t most, uint64_t otherwise, uint64_t *out)
{
    const json_t *value = json_object_get(call->fields, name);
    *out = otherwise;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 0 || (uint64_t)number > most) {
        return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", name),
                                "the field \"%s\" is to be a whole number of 0 to %llu", name,
                                (unsigned long long)most);
    }
    *out = (uint64_t)number;
    return true;
}

bool call_field_bool(Call *call, const char *name, bool *out)
{
    const json_t *value = json_object_get(call->fields, name);
    *out = json_is_true(value);
    if (value == NULL || json_is_boolean(value)) {
        return true;
    }
    return call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", name),
                            "the field \"%s\" is to be true or false", name);
}

static bool decode_base64(Call *call, Payload *out)
{
    json_t *object = call->payload.data == NULL
                         ? NULL
                         : json_loadb((const char *)call->payload.data, call->payload.len, 0, NULL);
    const json_t *member = json_object_get(object, "b64");
    const char *text = json_string_value(member);
    size_t len = text == NULL ? 0 : json_string_length(member);
    size_t read = 0;
    bool good = text != NULL && json_object_size(object) == 1;
    if (good && buf_reserve(&out->bytes, len / 4 * 3 + 3) != SAP_OK) {
        json_decref(object);
        return call_fail_code(call, SAP_NOMEM, "body");
    }
    good = good && sodium_base642bin(out->bytes.data, out->bytes.cap, text, len, NULL, &read, NULL,
                                     sodium_base64_VARIANT_ORIGINAL) == 0;
    json_decref(object);
    out->bytes.len = read;
    out->data = out->bytes.data;
    out->len = read;
    return good || call_fail_detail(call, API_BAD_REQUEST, json_pack("{s:s}", "field", "body"),
                                    "with this \"encoding\" the field \"body\" is to be "
                                    "{\"b64\":\"...\"}, in base64 with padding");
}

bool call_field_payload(Call *call, Payload *out)
{
    const char *encoding = NULL;
    *out = (Payload){
        .encoding = SAP_ENCODING_JSON, .data = call->payload.data, .len = call->payload.len};
    if (!call_field_text(call, "encoding", 8, false, &encoding)) {
        return false;
    }
    if (encoding != NULL && strcmp(encoding, "json") != 0) {
        out->encoding = strcmp(encoding, "raw") == 0    ? SAP_ENCODING_RAW
                        : strcmp(encoding, "cbor") == 0 ? SAP_ENCODING_CBOR
                                                        : SAP_ENCODING_JSON;
        if (out->encoding == SAP_ENCODING_JSON) {
            return call_fail_detail(
                call, API_BAD_REQUEST, json_pack("{s:s}", "field", "encoding"),
                "the field \"encoding\" is to be \"json\", \"raw\" or \"cbor\"");
        }
        if (!decode_base64(call, out)) {
            return false;
        }
    }
    return out->len <= SAP_WORLD_MAX_PAYLOAD ||
           call_fail_detail(call, API_TOO_LARGE,
                            json_pack("{s:i}", "limit", (int)SAP_WORLD_MAX_PAYLOAD),
                            "the payload has %zu bytes, and may have %u: keep large data outside, "
                            "and send its name",
                            out->len, SAP_WORLD_MAX_PAYLOAD);
}
