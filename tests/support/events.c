#include "support/events.h"

#include "support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *copy_of(const void *bytes, uint32_t len)
{
    uint8_t *copy = malloc((size_t)len + 1);

    EXPECT(copy != NULL, "no memory for an event");
    if (len != 0) {
        memcpy(copy, bytes, len);
    }
    copy[len] = 0;
    return copy;
}

void events_note(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    Events *events = ctx;

    EXPECT(val != NULL || val_len == 0, "a row that is gone has a value of %u bytes", val_len);
    if (events->count == events->cap) {
        events->cap = events->cap * 2 + 16;
        events->list = realloc(events->list, events->cap * sizeof *events->list);
        EXPECT(events->list != NULL, "no memory for events");
    }
    Event *event = &events->list[events->count++];
    event->key = copy_of(key, key_len);
    event->key_len = key_len;
    event->val = val == NULL ? NULL : copy_of(val, val_len);
    event->val_len = val_len;
}

void events_clear(Events *events)
{
    for (size_t i = 0; i < events->count; i++) {
        free(events->list[i].key);
        free(events->list[i].val);
    }
    free(events->list);
    memset(events, 0, sizeof *events);
}

void events_expect(Events *events, const char *expected)
{
    char text[4096];
    size_t at = 0;

    text[0] = 0;
    for (size_t i = 0; i < events->count && at < sizeof text - 1; i++) {
        const Event *event = &events->list[i];
        int len = snprintf(text + at, sizeof text - at, "%s%s%s%s", i == 0 ? "" : " ",
                           (const char *)event->key, event->val == NULL ? "-" : "=",
                           event->val == NULL ? "" : (const char *)event->val);
        at += (size_t)len;
    }
    EXPECT(strcmp(text, expected) == 0, "events \"%s\" instead of \"%s\"", text, expected);
    events_clear(events);
}
