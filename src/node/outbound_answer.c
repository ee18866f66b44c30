/* outbound_answer.c - see outbound_answer.h. */
#include "node/outbound_answer.h"

#include "common/mem.h"
#include "common/utf8.h"
#include "node/outbound_json.h"
#include "sapling/error.h"
#include "json/canonical.h"

#include <jansson.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

void answer_release(Answer *answer)
{
    buf_release(&answer->headers);
    buf_release(&answer->body);
    answer->header_count = 0;
}

void answer_clear(Answer *answer)
{
    buf_clear(&answer->headers);
    buf_clear(&answer->body);
    answer->header_count = 0;
}

/* ---- Headers --------------------------------------------------------------------------------- */

int answer_add_header(Answer *answer, const char *line, size_t len)
{
    if (len >= 5 && memcmp(line, "HTTP/", 5) == 0) {
        buf_clear(&answer->headers);
        answer->header_count = 0;
        return SAP_OK;
    }
    while (len > 0 && strchr("\r\n \t", line[len - 1]) != NULL) {
        len--;
    }
    if (len == 0 || memchr(line, ':', len) == NULL) {
        return SAP_OK;
    }
    if (answer->headers.len + len + 1 > ANSWER_HEADERS_MAX ||
        answer->header_count == ANSWER_HEADER_COUNT_MAX) {
        return SAP_FULL;
    }
    int rc = buf_reserve(&answer->headers, len + 1);
    if (rc == SAP_OK) {
        (void)buf_append(&answer->headers, line, len);
        (void)buf_append_u8(&answer->headers, '\n');
        answer->header_count++;
    }
    return rc;
}

/* Appends bytes as UTF-8; those that are not are taken for ISO 8859-1. Control characters are
 * dropped. */
static int append_text(Buf *out, const uint8_t *bytes, size_t len)
{
    bool well_formed = utf8_valid(bytes, len);
    int rc = SAP_OK;
    for (size_t i = 0; i < len && rc == SAP_OK; i++) {
        uint8_t code[4];
        if (bytes[i] >= 0x80 && !well_formed) {
            rc = buf_append(out, code, utf8_encode(bytes[i], code));
        } else if (bytes[i] >= ' ' && bytes[i] != 127) {
            rc = buf_append_u8(out, bytes[i]);
        }
    }
    return rc;
}

/* The next header of *rest, whose parts are borrowed. */
static bool next_header(Slice *rest, Slice *name_out, Slice *value_out)
{
    const char *at = (const char *)rest->data;
    const char *end = rest->len == 0 ? NULL : (const char *)memchr(at, '\n', rest->len);
    if (end == NULL) {
        return false;
    }
    const char *colon = (const char *)memchr(at, ':', (size_t)(end - at));
    const char *value = colon + 1;
    while (value < end && (*value == ' ' || *value == '\t')) {
        value++;
    }
    *name_out = (Slice){at, (size_t)(colon - at)};
    *value_out = (Slice){value, (size_t)(end - value)};
    *rest = (Slice){end + 1, rest->len - (size_t)(end + 1 - at)};
    return true;
}

static bool slice_is(Slice slice, const char *text)
{
    return slice.len == strlen(text) && strncasecmp((const char *)slice.data, text, slice.len) == 0;
}

/* Puts a header into the object, after what is there of that name. */
static int put_header(json_t *object, Slice name, Slice value)
{
    Buf text = {0};
    Buf key = {0};
    int rc = append_text(&key, (const uint8_t *)name.data, name.len);
    rc = rc == SAP_OK ? buf_append_u8(&key, '\0') : rc;
    for (size_t i = 0; rc == SAP_OK && i < key.len; i++) {
        key.data[i] = key.data[i] >= 'A' && key.data[i] <= 'Z' ? (uint8_t)(key.data[i] - 'A' + 'a')
                                                               : key.data[i];
    }
    const char *before =
        rc == SAP_OK ? json_string_value(json_object_get(object, (const char *)key.data)) : NULL;
    rc = rc == SAP_OK && before != NULL ? buf_printf(&text, "%s, ", before) : rc;
    rc = rc == SAP_OK ? append_text(&text, (const uint8_t *)value.data, value.len) : rc;
    rc = rc == SAP_OK ? buf_append_u8(&text, '\0') : rc;
    if (rc == SAP_OK && json_object_set_new(object, (const char *)key.data,
                                            json_string((const char *)text.data)) != 0) {
        rc = SAP_NOMEM;
    }
    buf_release(&text);
    buf_release(&key);
    return rc;
}

static int put_headers(const Answer *answer, json_t *receipt)
{
    Slice rest = {answer->headers.data, answer->headers.len};
    Slice name;
    Slice value;
    json_t *fields = json_object();
    int rc = fields == NULL ? SAP_NOMEM : SAP_OK;
    while (rc == SAP_OK && next_header(&rest, &name, &value)) {
        if (!slice_is(name, "set-cookie") && !slice_is(name, "set-cookie2")) {
            rc = put_header(fields, name, value);
        }
    }
    if (rc == SAP_OK) {
        return json_object_set_new(receipt, "headers", fields) == 0 ? SAP_OK : SAP_NOMEM;
    }
    json_decref(fields);
    return rc;
}

/* ---- The body -------------------------------------------------------------------------------- */

/* application/json, and types that end in +json. */
static bool says_json(const Answer *answer)
{
    Slice rest = {answer->headers.data, answer->headers.len};
    Slice name;
    Slice value;
    bool json = false;
    while (next_header(&rest, &name, &value)) {
        if (slice_is(name, "content-type")) {
            const char *text = (const char *)value.data;
            const char *end = (const char *)memchr(text, ';', value.len);
            size_t len = end == NULL ? value.len : (size_t)(end - text);
            while (len > 0 && (text[len - 1] == ' ' || text[len - 1] == '\t')) {
                len--;
            }
            json = slice_is((Slice){text, len}, "application/json") ||
                   (len > 5 && slice_is((Slice){text + len - 5, 5}, "+json"));
        }
    }
    return json;
}

/* As text or base64. */
static int put_bytes(const Answer *answer, json_t *root)
{
    const Buf *body = &answer->body;
    if (utf8_valid(body->data, body->len)) {
        json_t *text = json_stringn((const char *)body->data, body->len);
        return json_object_set_new(root, "text", text) == 0 ? SAP_OK : SAP_NOMEM;
    }
    size_t size = sodium_base64_encoded_len(body->len, sodium_base64_VARIANT_ORIGINAL);
    char *text = (char *)mem_alloc(MEM_COMMON, size);
    if (text == NULL) {
        return SAP_NOMEM;
    }
    (void)sodium_bin2base64(text, size, body->data, body->len, sodium_base64_VARIANT_ORIGINAL);
    int rc = json_object_set_new(root, "b64", json_string(text)) == 0 ? SAP_OK : SAP_NOMEM;
    mem_free(MEM_COMMON, text, size);
    return rc;
}

/* The object's text, with `body`, which is canonical JSON, as a further member: a tree of a body
 * of many small values would take some fifty times the memory of its text. */
static int write_object(const json_t *root, const Buf *body, Buf *out)
{
    size_t start = out->len;
    int rc = outbound_json_dump(root, out);
    if (rc != SAP_OK || body->len == 0) {
        return rc;
    }
    buf_truncate(out, out->len - 1); /* its closing brace */
    rc = buf_append_str(out, out->len - start > 1 ? ",\"body\":" : "\"body\":");
    rc = rc == SAP_OK ? buf_append(out, body->data, body->len) : rc;
    return rc == SAP_OK ? buf_append_u8(out, '}') : rc;
}

/* Whether the text is a canonical value at its depth within a receipt. */
static int check_whole(const Buf *out, size_t start)
{
    Buf whole = {0};
    int rc = json_canonical(out->data + start, out->len - start, &whole, NULL);
    buf_release(&whole);
    return rc;
}

/* The body as JSON. SAP_INVALID: it is none. */
static int write_json(const Answer *answer, const json_t *root, Buf *out)
{
    Buf body = {0};
    size_t start = out->len;
    int rc = answer->body.len > 0 && says_json(answer)
                 ? json_canonical(answer->body.data, answer->body.len, &body, NULL)
                 : SAP_INVALID;
    rc = rc == SAP_OK ? write_object(root, &body, out) : rc;
    rc = rc == SAP_OK ? check_whole(out, start) : rc;
    buf_release(&body);
    if (rc != SAP_OK) {
        buf_truncate(out, start);
    }
    return rc == SAP_FULL ? SAP_INVALID : rc;
}

static int put_message(json_t *root, const char *message)
{
    Buf text = {0};
    int rc = append_text(&text, (const uint8_t *)message, strlen(message));
    if (rc == SAP_OK && json_object_set_new(root, "message",
                                            json_stringn((const char *)text.data, text.len)) != 0) {
        rc = SAP_NOMEM;
    }
    buf_release(&text);
    return rc;
}

static int write_parts(const Answer *answer, long status, bool bare, const char *message,
                       json_t *root, Buf *out)
{
    const Buf none = {0};
    int rc = message != NULL ? put_message(root, message) : SAP_OK;
    if (rc != SAP_OK || status == 0) {
        return rc == SAP_OK ? write_object(root, &none, out) : rc;
    }
    rc = json_object_set_new(root, "status", json_integer(status)) == 0 ? SAP_OK : SAP_NOMEM;
    rc = rc == SAP_OK && !bare ? put_headers(answer, root) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = write_json(answer, root, out);
    if (rc != SAP_INVALID) {
        return rc;
    }
    rc = answer->body.len > 0 ? put_bytes(answer, root) : SAP_OK;
    return rc == SAP_OK ? write_object(root, &none, out) : rc;
}

int answer_write(const Answer *answer, long status, bool bare, const char *message, Buf *out)
{
    json_t *root = json_object();
    if (root == NULL) {
        return SAP_NOMEM;
    }
    int rc = write_parts(answer, status, bare, message, root, out);
    json_decref(root);
    return rc;
}
