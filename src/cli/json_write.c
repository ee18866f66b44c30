#include "cli/json_write.h"

#include <stdlib.h>
#include <string.h>

#include "json/canonical.h"

/* A text, a number, or a word. */
static int write_scalar(Buf *out, const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    int rc = text != NULL ? json_canonical(text, strlen(text), out, NULL) : SAP_NOMEM;

    if (text != NULL && rc != SAP_OK && rc != SAP_NOMEM) {
        rc = buf_append_str(out, text); /* not of the strict form, and still what came */
    }
    free(text);
    return rc;
}

static int write_name(Buf *out, void *member)
{
    json_t *name = json_stringn(json_object_iter_key(member), json_object_iter_key_len(member));
    int rc = name != NULL ? write_scalar(out, name) : SAP_NOMEM;

    json_decref(name);
    return rc == SAP_OK ? buf_append_u8(out, ':') : rc;
}

/* As deep as jansson reads: 2048 values inside each other. */
int json_write(Buf *out, const json_t *value)
{
    json_t *any = (json_t *)(uintptr_t)value; /* iterators take no const; nothing is changed */
    int rc = SAP_OK;

    if (json_is_object(value)) {
        const char *before = "{";
        for (void *at = json_object_iter(any); at != NULL && rc == SAP_OK;
             at = json_object_iter_next(any, at)) {
            rc = buf_append_str(out, before);
            rc = rc == SAP_OK ? write_name(out, at) : rc;
            rc = rc == SAP_OK ? json_write(out, json_object_iter_value(at)) : rc;
            before = ",";
        }
        return rc == SAP_OK ? buf_append_str(out, before[0] == '{' ? "{}" : "}") : rc;
    }
    if (json_is_array(value)) {
        rc = buf_append_u8(out, '[');
        for (size_t i = 0; i < json_array_size(value) && rc == SAP_OK; i++) {
            rc = buf_append_str(out, i > 0 ? "," : "");
            rc = rc == SAP_OK ? json_write(out, json_array_get(value, i)) : rc;
        }
        return rc == SAP_OK ? buf_append_u8(out, ']') : rc;
    }
    return write_scalar(out, value);
}
