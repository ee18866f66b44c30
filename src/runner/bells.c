/* bells.c - see bells.h. */
#include "runner/bells.h"

#include "common/fork.h"

#include <stddef.h>

typedef struct BellList {
    Mutex lock;
    /* Looked at without the lock: where there are no workers, senders take none. */
    SAP_ATOMIC(uint32_t) count;
    Bell *first;
} BellList;

static BellList bells = {.lock = MUTEX_STATIC};

/* A child has none of the workers that the bells would wake. */
static void forget_bells(void)
{
    bells.first = NULL;
    atomic_store_full(&bells.count, 0);
}

static ForkGuard bells_guard = {.lock = &bells.lock, .in_child = forget_bells};

int bells_add(Bell *bell)
{
    int rc = fork_guard(&bells_guard);

    if (rc != SAP_OK) {
        return rc;
    }
    mutex_lock(&bells.lock);
    bell->next = bells.first;
    bells.first = bell;
    atomic_store_full(&bells.count, atomic_load_relaxed(&bells.count) + 1);
    mutex_unlock(&bells.lock);
    return SAP_OK;
}

void bells_remove(Bell *bell)
{
    mutex_lock(&bells.lock);
    for (Bell **at = &bells.first; *at != NULL; at = &(*at)->next) {
        if (*at == bell) {
            *at = bell->next;
            atomic_store_full(&bells.count, atomic_load_relaxed(&bells.count) - 1);
            break;
        }
    }
    mutex_unlock(&bells.lock);
}

static bool noted(const BellNotes *notes, int64_t worker_id)
{
    if (notes->count > BELLS_NOTED) {
        return true;
    }
    for (uint32_t i = 0; i < notes->count; i++) {
        if (notes->workers[i] == worker_id) {
            return true;
        }
    }
    return false;
}

void bells_note(BellNotes *notes, int64_t worker_id)
{
    if (noted(notes, worker_id)) {
        return;
    }
    if (notes->count < BELLS_NOTED) {
        notes->workers[notes->count] = worker_id;
    }
    notes->count++;
}

bool bells_hang(void)
{
    return atomic_load_full(&bells.count) > 0;
}

void bells_ring(DB *db, const BellNotes *notes)
{
    if (notes->count == 0 || !bells_hang()) {
        return;
    }
    mutex_lock(&bells.lock);
    for (Bell *bell = bells.first; bell != NULL; bell = bell->next) {
        if (bell->db == db && noted(notes, bell->worker_id)) {
            bell->ring(bell->ctx);
        }
    }
    mutex_unlock(&bells.lock);
}
