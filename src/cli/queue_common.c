/* queue_common.c - what the verbs of `sapling queue` share. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/db.h"
#include "cli/queue.h"
#include "common/clock.h"

enum { NAME_MOST = 255 };
#define NORMAL_BIT (UINT64_C(1) << 63)

uint64_t queue_number(uint64_t seq)
{
    return seq & ~NORMAL_BIT;
}

bool queue_is_high(uint64_t seq)
{
    return (seq & NORMAL_BIT) == 0;
}

int queue_name(const Call *call, const char **name_out)
{
    const char *name = call_value(call, OPTION_QUEUE);

    *name_out = name != NULL ? name : "default";
    if (name != NULL && (name[0] == '\0' || strlen(name) > NAME_MOST)) {
        return call_usage(call, "--queue '%s': a name has 1 to %d bytes", name, NAME_MOST);
    }
    return EXIT_DONE;
}

typedef struct Search {
    const char *name;
    bool found;
    char others[300];
} Search;

static int look(const char *name, void *ctx)
{
    Search *search = (Search *)ctx;
    size_t len = strlen(search->others);

    search->found = search->found || strcmp(name, search->name) == 0;
    (void)snprintf(search->others + len, sizeof search->others - len, "%s%.60s",
                   len == 0 ? "its queues: " : ", ", name);
    return 0;
}

int queue_find(const Call *call, const char *path, Access *access, const char *name)
{
    Search search = {.name = name};
    int rc = access_queues(access, look, &search);

    if (rc != SAP_OK) {
        return db_failed(call, path, access, rc);
    }
    if (!search.found) {
        return ui_fail(call->ui, EXIT_NOT_FOUND,
                       search.others[0] != '\0' ? search.others : "it has no queues",
                       "there is no queue '%s' in %s", name, path);
    }
    return EXIT_DONE;
}

/* ---- Texts ------------------------------------------------------------------------------------- */

int queue_id_text(Buf *out, Slice id)
{
    size_t start = out->len;
    int rc = format_shown(out, id, false);

    if (rc != SAP_OK || out->len - start == id.len) {
        return rc;
    }
    buf_truncate(out, start);
    return format_hex(out, id);
}

const char *queue_shown(Slice name, char text[QUEUE_SHOWN])
{
    Buf shown = {0};

    if (format_shown(&shown, name, false) == SAP_OK) {
        (void)snprintf(text, QUEUE_SHOWN, "%.*s", (int)shown.len, (const char *)shown.data);
    } else {
        (void)snprintf(text, QUEUE_SHOWN, "?");
    }
    buf_release(&shown);
    return text;
}

int queue_preview(Buf *out, Slice payload)
{
    size_t start = out->len;
    int rc = format_text(
        out, (Slice){payload.data, payload.len < QUEUE_PREVIEW ? payload.len : QUEUE_PREVIEW});

    if (rc == SAP_OK && (payload.len > QUEUE_PREVIEW || out->len - start > QUEUE_PREVIEW)) {
        /* Never within a character: those above ASCII go as a whole. */
        size_t end = out->len - start > QUEUE_PREVIEW ? start + QUEUE_PREVIEW : out->len;
        while (end > start && end < out->len && (out->data[end] & 0xc0) == 0x80) {
            end--;
        }
        buf_truncate(out, end);
        rc = buf_append_str(out, "...");
    }
    return rc;
}

int queue_pad(Buf *out, size_t start, size_t width)
{
    size_t len = out->len - start;

    return buf_printf(out, "%*s  ", len < width ? (int)(width - len) : 0, "");
}

const char *queue_error(int32_t rc, char text[UI_TEXT])
{
    /* The runner notes it of a lease that expired; a handler may return it too. */
    if (rc == SAP_BUSY) {
        return "lease expired, or handler busy";
    }
    if (rc < QUEUE_EXIT || rc >= QUEUE_CODES_END) {
        return sap_strerror(rc);
    }
    (void)snprintf(text, UI_TEXT, rc < QUEUE_SIGNAL ? "exit code %d" : "killed by signal %d",
                   rc % 1000);
    return text;
}

const char *queue_age(int64_t then_ms, char text[UI_TEXT])
{
    int64_t age_ms = clock_wall_ms(NULL) - then_ms;

    if (then_ms <= 0) {
        (void)snprintf(text, UI_TEXT, "-");
        return text;
    }
    return ui_seconds(age_ms < 0 ? 0 : (double)age_ms / 1000, text);
}

const char *queue_due(int64_t due_ms, char text[UI_TEXT])
{
    int64_t left_ms = due_ms - clock_wall_ms(NULL);

    if (due_ms <= 0) {
        (void)snprintf(text, UI_TEXT, "-");
        return text;
    }
    return ui_seconds(left_ms < 0 ? 0 : (double)left_ms / 1000, text);
}

/* ---- JSON -------------------------------------------------------------------------------------- */

int json_set_int(json_t *object, const char *name, int64_t number)
{
    return json_object_set_new(object, name, json_integer(number));
}

json_t *queue_message_json(const char *queue, const AccessMessage *message)
{
    json_t *object = json_object();
    bool ok =
        object != NULL && json_set_bytes(object, "queue", slice_from_str(queue)) == 0 &&
        json_set_int(object, "seq", (int64_t)queue_number(message->seq)) == 0 &&
        json_object_set_new(object, "priority",
                            json_string(queue_is_high(message->seq) ? "high" : "normal")) == 0 &&
        json_set_bytes(object, "id", message->id) == 0 &&
        (message->trace.data == NULL || json_set_bytes(object, "trace_id", message->trace) == 0) &&
        json_set_int(object, "attempts", message->attempts) == 0 &&
        json_set_int(object, "sent_ms", message->sent_ms) == 0;

    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}
