/* events.h - what a watch was told, kept for comparison. */
#ifndef SAPLING_TESTS_EVENTS_H
#define SAPLING_TESTS_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Event {
    uint8_t *key;
    uint32_t key_len;
    uint8_t *val; /* NULL: the row is gone */
    uint32_t val_len;
} Event;

typedef struct Events {
    Event *list;
    size_t count;
    size_t cap;
} Events;

/* A sap_watch_fn; ctx is the Events, zeroed before its first use. */
void events_note(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx);

/* Forgets all events and frees their memory. */
void events_clear(Events *events);

/* The events as text: "key=value" or "key-" each, with a space between. Expects that it is
 * `expected`, and forgets them. */
void events_expect(Events *events, const char *expected);

#endif
