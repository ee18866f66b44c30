/* fork.c - see fork.h. */
#include "common/fork.h"

#include <stddef.h>
#ifndef __wasi__
#include <pthread.h>
#endif

#include "sapling/error.h"

static Mutex guards_lock = MUTEX_STATIC;
static ForkGuard *guards;

#ifdef __wasi__

static bool watch_forks(void)
{
    return true; /* there are none */
}

#else

static void lock_all(void)
{
    mutex_lock(&guards_lock);
    for (const ForkGuard *guard = guards; guard != NULL; guard = guard->next) {
        mutex_lock(guard->lock);
    }
}

static void unlock_all(void)
{
    for (const ForkGuard *guard = guards; guard != NULL; guard = guard->next) {
        mutex_unlock(guard->lock);
    }
    mutex_unlock(&guards_lock);
}

static void unlock_all_in_child(void)
{
    for (const ForkGuard *guard = guards; guard != NULL; guard = guard->next) {
        if (guard->in_child != NULL) {
            guard->in_child();
        }
    }
    unlock_all();
}

static bool watch_forks(void)
{
    static bool watched;
    watched = watched || pthread_atfork(lock_all, unlock_all, unlock_all_in_child) == 0;
    return watched;
}

#endif

int fork_guard(ForkGuard *guard)
{
    if (fork_is_guarded(guard)) {
        return SAP_OK;
    }
    mutex_lock(&guards_lock);
    bool watched = watch_forks();
    if (watched && !atomic_load_relaxed(&guard->listed)) {
        guard->next = guards;
        guards = guard;
        atomic_store_release(&guard->listed, true);
    }
    mutex_unlock(&guards_lock);
    return watched ? SAP_OK : SAP_NOMEM;
}
