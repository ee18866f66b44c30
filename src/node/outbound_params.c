/* outbound_params.c - see outbound_params.h. */
#include "node/outbound_params.h"

#include "common/assert.h"
#include "common/mem.h"
#include "node/outbound_json.h"
#include "json/canonical.h"

#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { HEADER_NAME_MAX = 256, HEADER_VALUE_MAX = 16384, TIMEOUT_MOST_MS = 24 * 3600 * 1000 };

__attribute__((format(printf, 2, 3))) static int refuse_params(char *reason, const char *format,
                                                               ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, PARAMS_REASON_MAX, format, args);
    va_end(args);
    return SAP_INVALID;
}

/* Text of the params as it may stand in a message: its beginning, printable. */
static const char *show_text(const char *text, char room[64])
{
    size_t i = 0;
    for (; i < 60 && text[i] != '\0'; i++) {
        room[i] = text[i] >= ' ' && text[i] < 127 ? text[i] : '?';
    }
    memcpy(room + i, text[i] == '\0' ? "" : "...", text[i] == '\0' ? 1 : 4);
    return room;
}

/* ---- Simple fields --------------------------------------------------------------------------- */

static int read_bool(const json_t *value, const char *field, bool *out, char *reason)
{
    if (!json_is_boolean(value)) {
        return refuse_params(reason, "%s: must be true or false", field);
    }
    *out = json_is_true(value);
    return SAP_OK;
}

static int read_number(const json_t *value, const char *field, uint64_t most, uint64_t *out,
                       char *reason)
{
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < 1 || (uint64_t)number > most) {
        return refuse_params(reason, "%s: must be a whole number from 1 to %llu", field,
                             (unsigned long long)most);
    }
    *out = (uint64_t)number;
    return SAP_OK;
}

static int read_url(const json_t *value, Request *out, char *reason)
{
    size_t len = json_string_length(value);
    if (!json_is_string(value) || len == 0) {
        return refuse_params(reason, "url: must be a text such as \"https://example.com/path\"");
    }
    if (len > PARAMS_URL_MAX) {
        return refuse_params(reason, "url: has %zu bytes; at most %d are possible", len,
                             (int)PARAMS_URL_MAX);
    }
    out->url = json_string_value(value);
    return SAP_OK;
}

static int read_method(const json_t *value, Request *out, char *reason)
{
    static const char *const known[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
    const char *text = json_string_value(value);
    char room[64];
    for (size_t i = 0; text != NULL && i < sizeof known / sizeof known[0]; i++) {
        if (strcmp(text, known[i]) == 0) {
            out->method = known[i];
            return SAP_OK;
        }
    }
    return refuse_params(
        reason, "method: must be GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS, not \"%s\"",
        text == NULL ? "" : show_text(text, room));
}

/* {"secret":"NAME"} */
static const char *secret_name(const json_t *value)
{
    const char *name = json_string_value(json_object_get(value, "secret"));
    return json_object_size(value) == 1 && name != NULL && name[0] != '\0' ? name : NULL;
}

static int read_signing(const json_t *value, Request *out, char *reason)
{
    out->signing_secret = secret_name(value);
    return out->signing_secret != NULL
               ? SAP_OK
               : refuse_params(reason,
                               "secret: must be {\"secret\":\"NAME\"}, where NAME is in the "
                               "node's file secrets.json");
}

/* ---- Headers --------------------------------------------------------------------------------- */

static bool header_name_valid(const char *name)
{
    static const char other[] = "!#$%&'*+-.^_`|~";
    size_t len = strlen(name);
    for (size_t i = 0; i < len; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && strchr(other, c) == NULL) {
            return false;
        }
    }
    return len > 0 && len <= HEADER_NAME_MAX;
}

bool request_value_valid(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)value[i];
        if ((c < ' ' && c != '\t') || c == 127) {
            return false;
        }
    }
    return len <= HEADER_VALUE_MAX;
}

/* Headers that the node decides: those that frame the message, name the host, or are its
 * promise. */
static const char *reserved_header(const char *name)
{
    static const char *const reserved[] = {
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "upgrade",
        "te",
        "trailer",
        "expect",
        "proxy-authorization",
        "cookie2",
        "accept-encoding",
        "idempotency-key",
        "proxy-connection",
        "sapling-signature",
    };
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcasecmp(name, reserved[i]) == 0) {
            return reserved[i];
        }
    }
    return NULL;
}

static int read_header(const char *name, const json_t *value, Request *out, char *reason)
{
    RequestHeader *header = &out->headers[out->header_count];
    char room[64];
    show_text(name, room);
    if (!header_name_valid(name)) {
        return refuse_params(reason, "headers: \"%s\" is not the name of a header", room);
    }
    if (reserved_header(name) != NULL) {
        return refuse_params(reason, "headers.%s: is set by the node; leave it out", room);
    }
    for (size_t i = 0; i < out->header_count; i++) {
        if (strcasecmp(out->headers[i].name, name) == 0) {
            return refuse_params(reason, "headers.%s: is given twice", room);
        }
    }
    *header = (RequestHeader){name, json_string_value(value), secret_name(value)};
    if (header->value == NULL && header->secret == NULL) {
        return refuse_params(reason, "headers.%s: must be a text or {\"secret\":\"NAME\"}", room);
    }
    if (header->value != NULL && !request_value_valid(header->value, json_string_length(value))) {
        return refuse_params(reason, "headers.%s: has a control character, or more than %d bytes",
                             room, (int)HEADER_VALUE_MAX);
    }
    out->header_count++;
    return SAP_OK;
}

static int read_headers(json_t *value, Request *out, char *reason)
{
    const char *name;
    json_t *each;
    int rc = SAP_OK;
    if (!json_is_object(value) || json_object_size(value) > PARAMS_HEADERS_MAX) {
        return refuse_params(reason, "headers: must be an object of at most %d texts",
                             (int)PARAMS_HEADERS_MAX);
    }
    out->headers =
        (RequestHeader *)mem_zalloc(MEM_COMMON, PARAMS_HEADERS_MAX * sizeof *out->headers);
    if (out->headers == NULL) {
        return SAP_NOMEM;
    }
    json_object_foreach(value, name, each)
    {
        rc = rc == SAP_OK ? read_header(name, each, out, reason) : rc;
    }
    return rc;
}

/* ---- The body -------------------------------------------------------------------------------- */

/* One of the fields body, text, b64. */
static int begin_body(Request *out, const char *type, char *reason)
{
    if (out->has_body) {
        return refuse_params(reason, "body: give one of body, text and b64");
    }
    out->has_body = true;
    out->content_type = type;
    return SAP_OK;
}

/* In canonical form, so that numbers look as they were written. */
static int read_json_body(const json_t *value, Request *out, char *reason)
{
    Buf text = {0};
    int rc = begin_body(out, "application/json", reason);
    rc = rc == SAP_OK ? outbound_json_dump(value, &text) : rc;
    if (rc == SAP_OK) {
        rc = json_canonical(text.data, text.len, &out->body, NULL);
        SAP_ASSERT(rc == SAP_OK || rc == SAP_NOMEM); /* it is a part of a value that was */
    }
    buf_release(&text);
    return rc;
}

static int read_text_body(const json_t *value, Request *out, char *reason)
{
    int rc = begin_body(out, "text/plain; charset=utf-8", reason);
    if (rc == SAP_OK && !json_is_string(value)) {
        rc = refuse_params(reason, "text: must be a text; for JSON use body");
    }
    return rc == SAP_OK
               ? buf_append(&out->body, json_string_value(value), json_string_length(value))
               : rc;
}

static int read_bytes_body(const json_t *value, Request *out, char *reason)
{
    const char *text = json_string_value(value);
    size_t len = json_string_length(value);
    int rc = begin_body(out, "application/octet-stream", reason);
    if (rc == SAP_OK && text == NULL) {
        rc = refuse_params(reason, "b64: must be a text of base64");
    }
    rc = rc == SAP_OK ? buf_reserve(&out->body, len + 1) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    if (sodium_base642bin(out->body.data, len, text, len, NULL, &out->body.len, NULL,
                          sodium_base64_VARIANT_ORIGINAL) != 0) {
        out->body.len = 0;
        return refuse_params(reason, "b64: is not base64 (RFC 4648, with padding)");
    }
    return SAP_OK;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static int read_field(const char *name, json_t *value, Request *out, char *reason)
{
    char room[64];
    if (strcmp(name, "url") == 0) {
        return read_url(value, out, reason);
    }
    if (strcmp(name, "headers") == 0) {
        return read_headers(value, out, reason);
    }
    if (strcmp(name, "body") == 0) {
        return read_json_body(value, out, reason);
    }
    if (strcmp(name, "text") == 0) {
        return read_text_body(value, out, reason);
    }
    if (strcmp(name, "b64") == 0) {
        return read_bytes_body(value, out, reason);
    }
    if (strcmp(name, "timeout_ms") == 0) {
        return read_number(value, "timeout_ms", TIMEOUT_MOST_MS, &out->timeout_ms, reason);
    }
    if (out->webhook && strcmp(name, "secret") == 0) {
        return read_signing(value, out, reason);
    }
    if (!out->webhook && strcmp(name, "method") == 0) {
        return read_method(value, out, reason);
    }
    if (!out->webhook && strcmp(name, "follow") == 0) {
        return read_bool(value, "follow", &out->follow, reason);
    }
    if (!out->webhook && strcmp(name, "max_bytes") == 0) {
        return read_number(value, "max_bytes", PARAMS_BODY_MOST, &out->max_bytes, reason);
    }
    return refuse_params(reason, "%s: there is no such field; %s has %s", show_text(name, room),
                         out->webhook ? "webhook" : "http.request",
                         out->webhook ? "url, headers, body, text, b64, secret and timeout_ms"
                                      : "url, method, headers, body, text, b64, timeout_ms, follow "
                                        "and max_bytes");
}

static int finish_request(Request *out, char *reason)
{
    if (out->url == NULL) {
        return refuse_params(reason, "url: is missing");
    }
    if (out->webhook) {
        out->method = "POST";
    } else if (out->method == NULL) {
        out->method = out->has_body ? "POST" : "GET";
    }
    if (out->has_body && (strcmp(out->method, "GET") == 0 || strcmp(out->method, "HEAD") == 0)) {
        return refuse_params(reason, "body: a %s request has none; set method to POST or PUT",
                             out->method);
    }
    for (size_t i = 0; i < out->header_count; i++) {
        if (strcasecmp(out->headers[i].name, "content-type") == 0) {
            out->content_type = NULL;
        }
    }
    return SAP_OK;
}

static int read_all(const void *params, size_t len, Request *out, char *reason)
{
    char why[JSON_REASON_MAX];
    const char *name;
    json_t *value;
    int rc = outbound_json_load(params, len, &out->root, why);
    if (rc == SAP_INVALID) {
        return refuse_params(reason, "params: must be a JSON object: %s", why);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (!json_is_object(out->root)) {
        return refuse_params(reason, "params: must be a JSON object");
    }
    json_object_foreach(out->root, name, value)
    {
        rc = rc == SAP_OK ? read_field(name, value, out, reason) : rc;
    }
    return rc == SAP_OK ? finish_request(out, reason) : rc;
}

int request_read(bool webhook, SapEncoding encoding, const void *params, size_t len, Request *out,
                 char reason[PARAMS_REASON_MAX])
{
    *out = (Request){.webhook = webhook,
                     .max_bytes = webhook ? PARAMS_WEBHOOK_KEPT : PARAMS_BODY_DEFAULT};
    int rc = encoding == SAP_ENCODING_JSON
                 ? read_all(params, len, out, reason)
                 : refuse_params(reason, "params: must be JSON, not another encoding");
    if (rc != SAP_OK) {
        request_release(out);
    }
    return rc;
}

void request_release(Request *request)
{
    json_decref(request->root);
    mem_free(MEM_COMMON, request->headers, PARAMS_HEADERS_MAX * sizeof *request->headers);
    buf_release(&request->body);
    *request = (Request){0};
}
