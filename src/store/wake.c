/* wake.c - see wake.h. */
#include "store/wake.h"

#include <string.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/sync.h"

#define HOUR_NS UINT64_C(3600000000000)

typedef struct Note {
    uint64_t version;
    WakeKey key;
} Note;

typedef struct Waiter {
    struct Waiter *next;
    const WakeKey *prefix;
    uint64_t seen;
    bool durable;
    const WakePokes *pokes; /* NULL: none ends it */
    bool rung;
    Cond cond;
} Waiter;

struct Wake {
    Mutex lock;
    uint64_t noted;     /* notes ever made; the last WAKE_NOTES of them are in `notes` */
    uint64_t forgotten; /* the greatest version of a note that was overwritten */
    uint64_t durable;
    uint64_t pokes[WAKE_SORTS];
    Waiter *waiters;
    Note notes[WAKE_NOTES]; /* the n-th at n % WAKE_NOTES */
};

void wake_key_set(WakeKey *key, uint32_t table, const void *bytes, uint32_t len)
{
    key->table = table;
    key->len = len < WAKE_KEY_BYTES ? len : WAKE_KEY_BYTES;
    if (key->len > 0) {
        memcpy(key->bytes, bytes, key->len);
    }
}

Wake *wake_new(void)
{
    Wake *wake = (Wake *)mem_zalloc(MEM_STORE, sizeof *wake);
    if (wake != NULL && !mutex_init(&wake->lock)) {
        mem_free(MEM_STORE, wake, sizeof *wake);
        return NULL;
    }
    return wake;
}

void wake_free(Wake *wake)
{
    if (wake != NULL) {
        SAP_ASSERT(wake->waiters == NULL);
        mutex_destroy(&wake->lock);
        mem_free(MEM_STORE, wake, sizeof *wake);
    }
}

/* A key that was cut short matches every longer prefix that it agrees with. */
static bool key_matches(const WakeKey *prefix, const WakeKey *key)
{
    return prefix->table == key->table && prefix->len <= key->len &&
           memcmp(prefix->bytes, key->bytes, prefix->len) == 0;
}

static bool ends_wait(const Wake *wake, const Waiter *waiter, const Note *note)
{
    return note->version > waiter->seen && (!waiter->durable || note->version <= wake->durable) &&
           key_matches(waiter->prefix, &note->key);
}

static void ring_waiter(Waiter *waiter)
{
    waiter->rung = true;
    cond_signal(&waiter->cond);
}

static uint64_t oldest_note(const Wake *wake)
{
    return wake->noted < WAKE_NOTES ? 0 : wake->noted - WAKE_NOTES;
}

/* A note that would end the wait may have been overwritten. */
static bool may_be_forgotten(const Wake *wake, const Waiter *waiter)
{
    return waiter->seen < wake->forgotten && (!waiter->durable || waiter->seen < wake->durable);
}

/* Looks at all notes that are kept. */
static bool was_touched(const Wake *wake, const Waiter *waiter)
{
    if (may_be_forgotten(wake, waiter)) {
        return true;
    }
    for (uint64_t i = oldest_note(wake); i < wake->noted; i++) {
        if (ends_wait(wake, waiter, &wake->notes[i % WAKE_NOTES])) {
            return true;
        }
    }
    return false;
}

static void add_note(Wake *wake, uint64_t version, const WakeKey *key)
{
    Note *note = &wake->notes[wake->noted % WAKE_NOTES];
    if (wake->noted >= WAKE_NOTES && note->version > wake->forgotten) {
        wake->forgotten = note->version;
    }
    note->version = version;
    note->key = *key;
    wake->noted++;
    for (Waiter *waiter = wake->waiters; waiter != NULL; waiter = waiter->next) {
        if (!waiter->rung && (ends_wait(wake, waiter, note) || may_be_forgotten(wake, waiter))) {
            ring_waiter(waiter);
        }
    }
}

void wake_note(Wake *wake, uint64_t version, const WakeKey *keys, uint32_t count)
{
    mutex_lock(&wake->lock);
    for (uint32_t i = 0; i < count; i++) {
        add_note(wake, version, &keys[i]);
    }
    mutex_unlock(&wake->lock);
}

void wake_all(Wake *wake, uint64_t version)
{
    mutex_lock(&wake->lock);
    if (version > wake->forgotten) {
        wake->forgotten = version;
    }
    for (Waiter *waiter = wake->waiters; waiter != NULL; waiter = waiter->next) {
        if (!waiter->rung && may_be_forgotten(wake, waiter)) {
            ring_waiter(waiter);
        }
    }
    mutex_unlock(&wake->lock);
}

void wake_durable(Wake *wake, uint64_t version)
{
    mutex_lock(&wake->lock);
    if (version > wake->durable) {
        wake->durable = version;
        for (Waiter *waiter = wake->waiters; waiter != NULL; waiter = waiter->next) {
            if (waiter->durable && !waiter->rung && was_touched(wake, waiter)) {
                ring_waiter(waiter);
            }
        }
    }
    mutex_unlock(&wake->lock);
}

static void remove_waiter(Wake *wake, const Waiter *waiter)
{
    Waiter **at = &wake->waiters;
    while (*at != waiter) {
        SAP_ASSERT(*at != NULL);
        at = &(*at)->next;
    }
    *at = waiter->next;
}

/* Until the waiter is rung, or the time has passed. */
static void await_ring(Wake *wake, Waiter *waiter, uint64_t timeout_ns)
{
    uint64_t start_ns = clock_mono_ns(NULL);
    for (uint64_t passed_ns = 0; !waiter->rung && passed_ns < timeout_ns;) {
        uint64_t left_ns = timeout_ns - passed_ns;
        cond_wait_ns(&waiter->cond, &wake->lock, left_ns < HOUR_NS ? left_ns : HOUR_NS);
        passed_ns = clock_mono_ns(NULL) - start_ns;
    }
}

uint64_t wake_pokes(Wake *wake, uint32_t sort)
{
    SAP_ASSERT(sort < WAKE_SORTS);
    mutex_lock(&wake->lock);
    uint64_t pokes = wake->pokes[sort];
    mutex_unlock(&wake->lock);
    return pokes;
}

void wake_poke(Wake *wake, uint32_t sort)
{
    SAP_ASSERT(sort < WAKE_SORTS);
    mutex_lock(&wake->lock);
    wake->pokes[sort]++;
    for (Waiter *waiter = wake->waiters; waiter != NULL; waiter = waiter->next) {
        if (waiter->pokes != NULL && waiter->pokes->sort == sort && !waiter->rung) {
            ring_waiter(waiter);
        }
    }
    mutex_unlock(&wake->lock);
}

static bool wait_for_ring(Wake *wake, Waiter *waiter, uint64_t timeout_ns)
{
    const WakePokes *pokes = waiter->pokes;
    mutex_lock(&wake->lock);
    waiter->rung =
        was_touched(wake, waiter) || (pokes != NULL && wake->pokes[pokes->sort] != pokes->seen);
    if (!waiter->rung && timeout_ns > 0 && cond_init(&waiter->cond)) {
        waiter->next = wake->waiters;
        wake->waiters = waiter;
        await_ring(wake, waiter, timeout_ns);
        remove_waiter(wake, waiter);
        cond_destroy(&waiter->cond);
    }
    mutex_unlock(&wake->lock);
    return waiter->rung;
}

bool wake_wait(Wake *wake, const WakeKey *prefix, bool durable, uint64_t seen, uint64_t timeout_ns)
{
    Waiter waiter = {.prefix = prefix, .seen = seen, .durable = durable};
    return wait_for_ring(wake, &waiter, timeout_ns);
}

bool wake_wait_poked(Wake *wake, const WakeKey *prefix, bool durable, uint64_t seen,
                     const WakePokes *pokes, uint64_t timeout_ns)
{
    Waiter waiter = {.prefix = prefix, .seen = seen, .durable = durable, .pokes = pokes};
    SAP_ASSERT(pokes->sort < WAKE_SORTS);
    return wait_for_ring(wake, &waiter, timeout_ns);
}
