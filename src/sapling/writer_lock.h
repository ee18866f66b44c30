/* writer_lock.h - one writer at a time, with waiters that are neither convoyed nor starved.
 *
 * A free lock may be taken by anyone: strict order of arrival would put a thread switch between any
 * two transactions. But the first waiter, once older than WRITER_LOCK_PATIENCE_NS, gets the lock
 * handed over by the one who releases it; at most one in that time, so that many old waiters are
 * not a strict order again. The others are called one at a time: while one is on its way, and where
 * nobody waits, taking and releasing are one atomic step each. Who comes to a held lock looks a few
 * times more before it sleeps: most transactions are shorter than falling asleep and waking up.
 *
 * The lock belongs to a transaction, not to a thread; the thread that took it is remembered only to
 * answer "busy" where it would wait for itself.
 *
 * The engine's own work between transactions holds it briefly. That is no writer: whoever would not
 * wait for one waits for that. */
#ifndef SAPLING_SAPLING_WRITER_LOCK_H
#define SAPLING_SAPLING_WRITER_LOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/sync.h"

#define WRITER_LOCK_PATIENCE_NS UINT64_C(1000000)

#if SAPLING_THREADED

typedef struct WriterWait {
    struct WriterWait *next;
    SAP_ATOMIC(uint32_t) look; /* 1: it is to look again; what it sleeps on */
    const void *thread;
    uint64_t since_ns;
    bool brief;     /* is the engine's own work */
    bool impatient; /* waits for nothing but that */
    bool called;    /* is on its way to a lock that was free; only the first */
    bool granted;   /* has the lock */
} WriterWait;

typedef struct WriterLock {
    SAP_ATOMIC(uint32_t) state;
    SAP_ATOMIC(const void *) owner; /* the thread that took it; NULL before each release */
    Mutex mutex;                    /* the queue, and all below */
    WriterWait *first;
    WriterWait *last;
    uint64_t handed_ns; /* when it was last handed over */
} WriterLock;

#else

typedef struct WriterLock {
    bool held;
    bool brief;
} WriterLock;

#endif

bool writer_lock_init(WriterLock *lock);
void writer_lock_destroy(WriterLock *lock);
/* False: a writer holds it, and is not to be waited for. */
bool writer_lock_take(WriterLock *lock, bool wait);
/* The same for the engine's own work, which calls nobody and ends soon. */
bool writer_lock_take_briefly(WriterLock *lock, bool wait);
void writer_lock_release(WriterLock *lock);
/* Whether this thread took it, and it is held still. */
bool writer_lock_is_mine(WriterLock *lock);
/* Whether a writer holds it; may be out of date at once. */
bool writer_lock_is_held(WriterLock *lock);

#endif
