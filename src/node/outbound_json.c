/* outbound_json.c - see outbound_json.h. */
#include "node/outbound_json.h"

#include "json/canonical.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int refuse_json(char *reason, const char *what, size_t at)
{
    (void)snprintf(reason, JSON_REASON_MAX, "%s at byte %zu", what, at);
    return SAP_INVALID;
}

static void wipe_text(Buf *text)
{
    if (text->data != NULL) {
        explicit_bzero(text->data, text->cap);
    }
    buf_release(text);
}

/* Why jansson could not read it: asks another reader, which is exact about memory. */
static int explain_failure(const void *bytes, size_t len, const json_error_t *error, char *reason)
{
    CanonicalError where = {0};
    Buf whole = {0};
    int rc = json_canonical(bytes, len, &whole, &where);
    wipe_text(&whole);
    if (rc == SAP_INVALID || rc == SAP_FULL) {
        return refuse_json(reason, where.reason, where.at);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    switch (json_error_code(error)) {
    case json_error_numeric_overflow:
        return refuse_json(reason, "a number that is too large", (size_t)error->position);
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return refuse_json(reason, "a character U+0000", (size_t)error->position);
    default:
        return SAP_NOMEM;
    }
}

/* Whether the value is all of the text. jansson drops a character of a string when there is no
 * memory for a longer one, and goes on: a URL would be another one. SAP_NOMEM: it is not.
 * SAP_INVALID: it is nested too deep. */
static int check_loaded(const void *bytes, size_t len, const json_t *value, char *reason)
{
    CanonicalError where = {0};
    Buf given = {0};
    Buf text = {0};
    Buf loaded = {0};
    int rc = json_canonical(bytes, len, &given, &where);
    if (rc == SAP_INVALID || rc == SAP_FULL) {
        rc = refuse_json(reason, where.reason, where.at);
    } else {
        bool same = rc == SAP_OK && outbound_json_dump(value, &text) == SAP_OK &&
                    json_canonical(text.data, text.len, &loaded, NULL) == SAP_OK &&
                    given.len == loaded.len && memcmp(given.data, loaded.data, given.len) == 0;
        rc = same ? SAP_OK : SAP_NOMEM;
    }
    wipe_text(&given); /* secrets are read here too */
    wipe_text(&text);
    wipe_text(&loaded);
    return rc;
}

int outbound_json_load(const void *bytes, size_t len, json_t **out, char reason[JSON_REASON_MAX])
{
    json_error_t error;
    json_t *value =
        json_loadb((const char *)bytes, len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (value == NULL) {
        return explain_failure(bytes, len, &error, reason);
    }
    int rc = check_loaded(bytes, len, value, reason);
    if (rc != SAP_OK) {
        json_decref(value);
        return rc;
    }
    *out = value;
    return SAP_OK;
}

int outbound_json_dump(const json_t *value, Buf *out)
{
    /* Into room of its own size: json_dumps() leaves out the name of a member that it finds no
     * room for. */
    size_t flags = JSON_COMPACT | JSON_ENCODE_ANY;
    size_t len = json_dumpb(value, NULL, 0, flags);
    int rc = len == 0 ? SAP_NOMEM : buf_reserve(out, len);
    if (rc != SAP_OK) {
        return rc;
    }
    if (json_dumpb(value, (char *)out->data + out->len, len, flags) != len) {
        return SAP_NOMEM;
    }
    out->len += len;
    return SAP_OK;
}
