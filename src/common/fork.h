/* fork.h - locks of the whole process while fork() copies it.
 *
 * A child has only the thread that called fork(). A lock that another thread held at that instant
 * would be held in the child for ever. So each lock that lives as long as the process has a guard:
 * fork() waits for the lock, and gives it back on both sides. Such locks are held for a moment only,
 * none while another one is taken, and nobody forks with one of them. */
#ifndef SAPLING_COMMON_FORK_H
#define SAPLING_COMMON_FORK_H

#include "common/sync.h"

#include <stdbool.h>

typedef struct ForkGuard {
    struct ForkGuard *next;
    Mutex *lock;
    void (*in_child)(void); /* corrects what the lock protects, with the lock held; NULL: nothing */
    SAP_ATOMIC(bool) listed;
} ForkGuard;

/* From here on the lock is guarded. Called before the lock is first taken, as often as one likes; the
 * guard is borrowed for ever. SAP_NOMEM: it is not guarded. */
int fork_guard(ForkGuard *guard);

static inline bool fork_is_guarded(ForkGuard *guard)
{
    return atomic_load_acquire(&guard->listed);
}

#endif
