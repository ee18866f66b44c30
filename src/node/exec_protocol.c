/* exec_protocol.c - see exec_protocol.h. */
#include "node/exec_protocol.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/assert.h"
#include "common/mem.h"
#include "common/utf8.h"

#define MS_NS UINT64_C(1000000)

/* ---- Messages
 * ---------------------------------------------------------------------------------- */

int exec_refuse(ExecError *error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    SAP_ASSERT(len >= 0);
    if ((size_t)len >= sizeof error->text) {
        /* The cut may be inside a character; what is before it is well-formed. */
        size_t kept = sizeof error->text - 1;
        while (kept > 0 && !utf8_valid(error->text, kept)) {
            kept--;
        }
        error->text[kept] = 0;
    }
    SAP_ASSERT(utf8_valid(error->text, strlen(error->text)));
    return SAP_INVALID;
}

void exec_excerpt(const void *data, size_t len, char out[4 * EXEC_EXCERPT + 4])
{
    const uint8_t *bytes = (const uint8_t *)data;
    size_t at = 0;
    size_t to = 0;
    while (at < len && at < EXEC_EXCERPT) {
        uint32_t code = 0;
        size_t size = utf8_decode(bytes + at, len - at, &code);
        if (code == UTF8_BAD || code < ' ' || code == 0x7f) {
            (void)snprintf(out + to, 5, code == '\t' ? "\\t" : "\\x%02x", bytes[at]);
            to += strlen(out + to);
            at++;
        } else {
            memcpy(out + to, bytes + at, size);
            to += size;
            at += size;
        }
    }
    (void)snprintf(out + to, 4, "%s", at < len ? "..." : "");
}

const char *exec_type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "true or false";
    case JSON_NULL:
        return "null";
    }
    return "something else";
}

static int refuse_type(ExecError *error, ExecField field, const char *wanted, const json_t *value)
{
    return exec_refuse(error, "%s\"%s\" must be %s, and is %s", field.where, field.name, wanted,
                       exec_type_name(value));
}

/* ---- Writing
 * ----------------------------------------------------------------------------------- */

static int append_dumped(const char *bytes, size_t len, void *ctx)
{
    return buf_append((Buf *)ctx, bytes, len) == SAP_OK ? 0 : -1;
}

/* The text of a value. What jansson has read it can write: only memory can be missing. */
static int append_json(Buf *out, const json_t *value)
{
    size_t before = out->len;
    if (json_dump_callback(value, append_dumped, out, JSON_COMPACT | JSON_ENCODE_ANY) == 0) {
        return SAP_OK;
    }
    buf_truncate(out, before);
    return SAP_NOMEM;
}

int exec_append_string(Buf *out, const char *text, size_t len)
{
    if (!utf8_valid(text, len)) {
        return SAP_INVALID;
    }
    json_t *string = json_stringn_nocheck(text, len);
    int rc = string == NULL ? SAP_NOMEM : append_json(out, string);
    json_decref(string);
    return rc;
}

/* ,"name":"text", unless there is none */
static int append_text(Buf *line, const char *name, const char *text)
{
    if (text == NULL || text[0] == 0) {
        return SAP_OK;
    }
    int rc = buf_printf(line, ",\"%s\":", name);
    return rc == SAP_OK ? exec_append_string(line, text, strlen(text)) : rc;
}

static int append_base64(Buf *out, const void *data, size_t len)
{
    size_t size = sodium_base64_ENCODED_LEN(len, sodium_base64_VARIANT_ORIGINAL);
    int rc = buf_append_str(out, "{\"b64\":\"");
    rc = rc == SAP_OK ? buf_reserve(out, size + 32) : rc;
    if (rc == SAP_OK) {
        (void)sodium_bin2base64((char *)out->data + out->len, size, (const unsigned char *)data,
                                len, sodium_base64_VARIANT_ORIGINAL);
        out->len += size - 1; /* without the NUL */
        rc = buf_append_u8(out, '"');
    }
    return rc;
}

int exec_append_payload(Buf *out, SapEncoding encoding, const void *data, size_t len)
{
    if (encoding == SAP_ENCODING_JSON) {
        if (len > 0 && memchr(data, '\n', len) != NULL) {
            return SAP_CORRUPT;
        }
        return len > 0 ? buf_append(out, data, len) : buf_append_str(out, "null");
    }
    int rc = append_base64(out, data, len);
    if (rc == SAP_OK && encoding == SAP_ENCODING_CBOR) {
        rc = buf_append_str(out, ",\"encoding\":\"cbor\"");
    }
    return rc == SAP_OK ? buf_append_u8(out, '}') : rc;
}

json_t *exec_parse_kept(const void *text, size_t len)
{
    enum { FLAGS = JSON_DECODE_ANY | JSON_ALLOW_NUL };
    json_error_t why;
    json_t *value = json_loadb((const char *)text, len, FLAGS, &why);
    if (value == NULL && json_error_code(&why) == json_error_numeric_overflow) {
        value = json_loadb((const char *)text, len, FLAGS | JSON_DECODE_INT_AS_REAL, &why);
    }
    return value;
}

const char *exec_event_type(SapEventKind kind)
{
    switch (kind) {
    case SAP_EVENT_CREATE:
        return "create";
    case SAP_EVENT_MESSAGE:
        return "message";
    case SAP_EVENT_RECEIPT:
        return "receipt";
    case SAP_EVENT_TIMER:
        return "timer";
    case SAP_EVENT_CANCEL:
        return "cancel";
    case SAP_EVENT_QUERY:
        return "query";
    }
    return "event";
}

static const char *status_name(SapReceiptStatus status)
{
    switch (status) {
    case SAP_RECEIPT_OK:
        return "ok";
    case SAP_RECEIPT_ERROR:
        return "error";
    case SAP_RECEIPT_TIMEOUT:
        return "timeout";
    case SAP_RECEIPT_NONE:
        break;
    }
    return "";
}

void exec_event_of_world(SapWorld *world, const SapEvent *event, uint32_t attempt, char *id,
                         ExecEvent *out)
{
    *out = (ExecEvent){
        .id = id,
        .world = sap_world_name(world),
        .type = exec_event_type(event->kind),
        .name = event->name,
        .ref = event->ref,
        .status = status_name(event->status),
        .code = event->code,
        .from = event->from_world,
        .message_id = event->id,
        .correlation_id = event->correlation_id,
        .reply_to = event->reply_to,
        .encoding = event->encoding,
        .payload = event->payload,
        .payload_len = event->payload_len,
        .now_ms = (int64_t)(sap_world_time_ns(world) / MS_NS),
        .attempt = attempt,
        .header_count = event->header_count,
        .headers = event->headers,
    };
    out->has_delivery = sap_send_receipt_read(event, &out->delivery) == SAP_OK;
    int len = snprintf(id, EXEC_ID_MAX, "%s@%" PRIu64 "#%" PRIu32, out->world,
                       sap_world_height(world), attempt);
    SAP_ASSERT(len > 0 && len < EXEC_ID_MAX);
    sap_world_random(world, out->random, sizeof out->random);
}

static int append_numbers(const ExecEvent *event, Buf *line)
{
    char digits[2 * EXEC_RANDOM + 1];
    (void)sodium_bin2hex(digits, sizeof digits, event->random, sizeof event->random);
    int rc = buf_printf(line, ",\"now\":%" PRId64 ",\"random\":\"%s\",\"attempt\":%" PRIu32,
                        event->now_ms, digits, event->attempt);
    if (rc == SAP_OK && event->timeout_ms != 0) {
        rc = buf_printf(line, ",\"timeout_ms\":%" PRIu64, event->timeout_ms);
    }
    return rc;
}

/* "headers":{...}, if there are any. */
static int append_headers(const ExecEvent *event, Buf *line)
{
    int rc = event->header_count > 0 ? buf_append_str(line, ",\"headers\":{") : SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < event->header_count; i++) {
        const SapHeader *header = &event->headers[i];
        rc = i > 0 ? buf_append_u8(line, ',') : SAP_OK;
        rc = rc == SAP_OK ? exec_append_string(line, header->name, strlen(header->name)) : rc;
        rc = rc == SAP_OK ? buf_append_u8(line, ':') : rc;
        rc = rc == SAP_OK ? exec_append_string(line, header->value, strlen(header->value)) : rc;
    }
    return rc == SAP_OK && event->header_count > 0 ? buf_append_u8(line, '}') : rc;
}

/* What the receipt of a message says, in place of its record. */
static int append_delivery(const SapSendReceipt *delivery, Buf *line)
{
    int rc = buf_printf(
        line, "{\"enqueued\":%s,\"already\":%s,\"world\":", delivery->enqueued ? "true" : "false",
        delivery->already ? "true" : "false");
    rc = rc == SAP_OK ? exec_append_string(line, delivery->world, strlen(delivery->world)) : rc;
    return rc == SAP_OK ? buf_append_u8(line, '}') : rc;
}

int exec_event_line(const ExecEvent *event, Buf *line, ExecError *error)
{
    const struct {
        const char *name;
        const char *text;
    } texts[] = {
        {"world", event->world},
        {"type", event->type},
        {"name", event->name},
        {"ref", event->ref},
        {"status", event->status},
        {"code", event->code},
        {"from", event->from},
        {"message_id", event->message_id},
        {"correlation_id", event->correlation_id},
        {"reply_to", event->reply_to},
        {"key", event->key},
    };
    size_t before = line->len;
    int rc = buf_append_str(line, "{\"v\":1,\"id\":");
    rc = rc == SAP_OK ? exec_append_string(line, event->id, strlen(event->id)) : rc;
    for (size_t i = 0; rc == SAP_OK && i < sizeof texts / sizeof texts[0]; i++) {
        rc = append_text(line, texts[i].name, texts[i].text);
    }
    rc = rc == SAP_OK ? append_headers(event, line) : rc;
    if (rc == SAP_INVALID) {
        rc = exec_refuse(error, "a text of the event is not UTF-8");
    }
    rc = rc == SAP_OK ? buf_append_str(line, ",\"body\":") : rc;
    if (rc == SAP_OK && event->has_delivery) {
        rc = append_delivery(&event->delivery, line);
    } else if (rc == SAP_OK) {
        rc = exec_append_payload(line, event->encoding, event->payload, event->payload_len);
    }
    rc = rc == SAP_OK ? append_numbers(event, line) : rc;
    if (rc == SAP_OK && event->state.len > 0) {
        rc = buf_append_str(line, ",\"state\":");
        rc = rc == SAP_OK ? buf_append(line, event->state.data, event->state.len) : rc;
    }
    rc = rc == SAP_OK ? buf_append_str(line, "}\n") : rc;
    if (rc != SAP_OK) {
        buf_truncate(line, before);
    }
    return rc;
}

/* ---- The state
 * --------------------------------------------------------------------------------- */

typedef struct Members {
    Buf *out;
    size_t most;
    ExecError *error;
} Members;

static int append_member(void *ctx, const void *key, size_t key_len, SapEncoding encoding,
                         const void *val, size_t val_len)
{
    const Members *members = (const Members *)ctx;
    Buf *out = members->out;
    bool first = out->len == 0 || out->data[out->len - 1] == '{'; /* no value ends so */
    int rc = first ? SAP_OK : buf_append_u8(out, ',');
    rc = rc == SAP_OK ? exec_append_string(out, (const char *)key, key_len) : rc;
    if (rc == SAP_INVALID) {
        char excerpt[4 * EXEC_EXCERPT + 4];
        exec_excerpt(key, key_len, excerpt);
        return exec_refuse(
            members->error,
            "the state has the key \"%s\", which is not UTF-8: no program can be given it",
            excerpt);
    }
    rc = rc == SAP_OK ? buf_append_u8(out, ':') : rc;
    rc = rc == SAP_OK ? exec_append_payload(out, encoding, val, val_len) : rc;
    return rc == SAP_OK && out->len > members->most ? SAP_FULL : rc;
}

int exec_state_members(SapWorld *world, Slice prefix, size_t most, Buf *out, ExecError *error)
{
    Members members = {out, most, error};
    return sap_world_scan(world, prefix.data, prefix.len, append_member, &members);
}

int exec_state_member(SapWorld *world, Slice key, size_t most, Buf *out, ExecError *error)
{
    Members members = {out, most, error};
    const void *val = NULL;
    size_t len = 0;
    SapEncoding encoding = SAP_ENCODING_JSON;
    int rc = sap_world_get(world, key.data, key.len, &val, &len, &encoding);
    if (rc == SAP_OK) {
        return append_member(&members, key.data, key.len, encoding, val, len);
    }
    /* A key that no row can have is not there. */
    return rc == SAP_NOTFOUND || rc == SAP_INVALID || rc == SAP_FULL ? SAP_OK : rc;
}

/* ---- Reading
 * ----------------------------------------------------------------------------------- */

static bool is_bytes(const json_t *value)
{
    const json_t *text = json_object_get(value, "b64");
    size_t size = json_object_size(value);
    return json_is_string(text) &&
           (size == 1 || (size == 2 && json_object_get(value, "encoding") != NULL));
}

static int read_bytes(const json_t *value, ExecField field, Buf *bytes_out,
                      SapEncoding *encoding_out, ExecError *error)
{
    const json_t *text = json_object_get(value, "b64");
    const json_t *encoding = json_object_get(value, "encoding");
    size_t len = json_string_length(text);
    size_t got = 0;
    *encoding_out = SAP_ENCODING_RAW;
    if (encoding != NULL) {
        const char *name = json_is_string(encoding) ? json_string_value(encoding) : "";
        if (strcmp(name, "cbor") == 0) {
            *encoding_out = SAP_ENCODING_CBOR;
        } else if (strcmp(name, "raw") != 0) {
            return exec_refuse(error, "%s\"%s\": encoding must be \"raw\" or \"cbor\"", field.where,
                               field.name);
        }
    }
    int rc = buf_reserve(bytes_out, len + 1);
    if (rc != SAP_OK) {
        return rc;
    }
    if (sodium_base642bin(bytes_out->data + bytes_out->len, len + 1, json_string_value(text), len,
                          NULL, &got, NULL, sodium_base64_VARIANT_ORIGINAL) != 0) {
        return exec_refuse(error, "%s\"%s\": b64 is not base64 (A-Z a-z 0-9 + / and = at the end)",
                           field.where, field.name);
    }
    bytes_out->len += got;
    return SAP_OK;
}

int exec_read_payload(const json_t *value, ExecField field, Buf *bytes_out,
                      SapEncoding *encoding_out, ExecError *error)
{
    if (is_bytes(value)) {
        return read_bytes(value, field, bytes_out, encoding_out, error);
    }
    *encoding_out = SAP_ENCODING_JSON;
    return append_json(bytes_out, value);
}

/* "15m": digits and a unit. */
static bool parse_duration(const char *text, uint64_t *ns_out)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ms", MS_NS},
                 {"s", 1000 * MS_NS},
                 {"m", 60 * 1000 * MS_NS},
                 {"h", 3600 * 1000 * MS_NS},
                 {"d", 24 * 3600 * 1000 * MS_NS}};
    uint64_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 12) {
        return false;
    }
    for (size_t i = 0; i < digits; i++) {
        number = number * 10 + (uint64_t)(text[i] - '0');
    }
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(text + digits, units[i].name) == 0) {
            *ns_out = number * units[i].ns;
            return number <= (uint64_t)INT64_MAX / units[i].ns;
        }
    }
    return false;
}

/* Milliseconds as nanoseconds; false: negative, or more than 290 years. */
static bool read_ms(const json_t *value, uint64_t *ns_out)
{
    double ms = json_number_value(value);
    if (!(ms >= 0) || ms >= (double)(INT64_MAX / (int64_t)MS_NS)) {
        return false;
    }
    *ns_out = json_is_integer(value) ? (uint64_t)json_integer_value(value) * MS_NS
                                     : (uint64_t)(ms * (double)MS_NS);
    return true;
}

int exec_read_duration(const json_t *value, ExecField field, uint64_t *ns_out, ExecError *error)
{
    uint64_t ns = 0;
    if (value == NULL) {
        return SAP_OK;
    }
    bool good = json_is_number(value)   ? read_ms(value, &ns)
                : json_is_string(value) ? parse_duration(json_string_value(value), &ns)
                                        : false;
    if (!good) {
        return exec_refuse(
            error,
            "%s\"%s\" must be a duration: a number of milliseconds, or text such as \"500ms\", "
            "\"30s\", \"15m\", \"2h\", \"7d\"",
            field.where, field.name);
    }
    *ns_out = ns;
    return SAP_OK;
}

/* "2031-05-06T07:08:09Z", with or without thousandths. */
static bool parse_time(const char *text, uint64_t *ns_out)
{
    struct tm tm = {0};
    unsigned ms = 0;
    const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
    if (rest == NULL || rest - text != 19) {
        return false;
    }
    if (rest[0] == '.') {
        for (int i = 1; i <= 3; i++) {
            if (rest[i] < '0' || rest[i] > '9') {
                return false;
            }
            ms = ms * 10 + (unsigned)(rest[i] - '0');
        }
        rest += 4;
    }
    time_t seconds = timegm(&tm);
    *ns_out = ((uint64_t)seconds * 1000 + ms) * MS_NS;
    return strcmp(rest, "Z") == 0 && seconds > 0 && seconds < INT64_MAX / 1000000000 - 1;
}

int exec_read_time(const json_t *value, ExecField field, uint64_t *ns_out, ExecError *error)
{
    uint64_t ns = 0;
    if (value == NULL) {
        return SAP_OK;
    }
    bool good = json_is_number(value)   ? read_ms(value, &ns) && ns > 0
                : json_is_string(value) ? parse_time(json_string_value(value), &ns)
                                        : false;
    if (!good) {
        return exec_refuse(
            error,
            "%s\"%s\" must be a time of day: milliseconds since 1970, as in \"now\", or text such as "
            "\"2031-05-06T07:08:09Z\"",
            field.where, field.name);
    }
    *ns_out = ns;
    return SAP_OK;
}

int exec_read_text(const json_t *value, ExecField field, size_t most, const char **text_out,
                   ExecError *error)
{
    if (value == NULL) {
        return SAP_OK;
    }
    if (!json_is_string(value)) {
        return refuse_type(error, field, "a string", value);
    }
    size_t len = json_string_length(value);
    if (len == 0 || len > most || strlen(json_string_value(value)) != len) {
        return exec_refuse(error, "%s\"%s\" must have 1 to %zu bytes, none of them 0", field.where,
                           field.name, most);
    }
    *text_out = json_string_value(value);
    return SAP_OK;
}

int exec_read_members(const json_t *object, const char *what, const char *const *names,
                      size_t count, ExecError *error)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (i < count && strcmp(key, names[i]) != 0) {
            i++;
        }
        if (i == count) {
            char known[256] = "";
            char excerpt[4 * EXEC_EXCERPT + 4];
            for (size_t k = 0, at = 0; k < count && at < sizeof known; k++) {
                int len =
                    snprintf(known + at, sizeof known - at, "%s%s", k > 0 ? ", " : "", names[k]);
                at += (size_t)len;
            }
            exec_excerpt(key, strlen(key), excerpt);
            return exec_refuse(error, "%s has the unknown field \"%s\"; known are: %s", what,
                               excerpt, known);
        }
    }
    return SAP_OK;
}

int exec_read_retry(const json_t *value, const char *where, SapRetry *retry_out, ExecError *error)
{
    static const char *const names[] = {"attempts", "first", "factor", "cap", "timeout"};
    char what[64];
    char inner[64];
    if (value == NULL) {
        return SAP_OK;
    }
    if (!json_is_object(value)) {
        return refuse_type(error, (ExecField){where, "retry"}, "an object", value);
    }
    (void)snprintf(what, sizeof what, "%sretry", where);
    (void)snprintf(inner, sizeof inner, "%sretry.", where);
    int rc = exec_read_members(value, what, names, sizeof names / sizeof names[0], error);
    const json_t *attempts = json_object_get(value, "attempts");
    const json_t *factor = json_object_get(value, "factor");
    if (rc == SAP_OK && attempts != NULL) {
        json_int_t number = json_is_integer(attempts) ? json_integer_value(attempts) : 0;
        if (number < 1 || number > (json_int_t)SAP_EFFECT_MAX_ATTEMPTS) {
            return exec_refuse(error, "%s\"attempts\" must be a whole number from 1 to %u", inner,
                               SAP_EFFECT_MAX_ATTEMPTS);
        }
        retry_out->attempts = (uint32_t)number;
    }
    if (rc == SAP_OK && factor != NULL) {
        double number = json_is_number(factor) ? json_number_value(factor) : 0;
        if (!(number >= 1 && number <= 1000)) {
            return exec_refuse(error, "%s\"factor\" must be a number from 1 to 1000", inner);
        }
        retry_out->factor = (uint32_t)(number * 100 + 0.5);
    }
    rc = rc == SAP_OK ? exec_read_duration(json_object_get(value, "first"),
                                           (ExecField){inner, "first"}, &retry_out->first_ns, error)
                      : rc;
    rc = rc == SAP_OK ? exec_read_duration(json_object_get(value, "cap"), (ExecField){inner, "cap"},
                                           &retry_out->cap_ns, error)
                      : rc;
    return rc == SAP_OK
               ? exec_read_duration(json_object_get(value, "timeout"),
                                    (ExecField){inner, "timeout"}, &retry_out->timeout_ns, error)
               : rc;
}
