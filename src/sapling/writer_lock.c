/* writer_lock.c - see writer_lock.h. */
#include "sapling/writer_lock.h"

#include "common/assert.h"

bool writer_lock_is_held(WriterLock *lock)
{
    return atomic_load_relaxed(&lock->held);
}

#if SAPLING_THREADED

bool writer_lock_init(WriterLock *lock)
{
    *lock = (WriterLock){0};
    return mutex_init(&lock->mutex);
}

void writer_lock_destroy(WriterLock *lock)
{
    SAP_ASSERT(lock->first == NULL);
    mutex_destroy(&lock->mutex);
}

static void take(WriterLock *lock)
{
    atomic_store_relaxed(&lock->held, true);
    lock->owner = pthread_self();
}

static void enqueue(WriterLock *lock, WriterWait *wait)
{
    if (lock->last != NULL) {
        lock->last->next = wait;
    } else {
        lock->first = wait;
    }
    lock->last = wait;
}

static void dequeue(WriterLock *lock, WriterWait *wait)
{
    WriterWait **link = &lock->first;
    WriterWait *before = NULL;
    while (*link != wait) {
        before = *link;
        link = &before->next;
    }
    *link = wait->next;
    if (lock->last == wait) {
        lock->last = before;
    }
}

/* Waits in the queue until the lock is handed over or found free. */
static void wait_for_turn(WriterLock *lock)
{
    WriterWait wait = {.thread = pthread_self(), .since_ns = clock_mono_ns(NULL)};
    pthread_cond_init(&wait.wake, NULL);
    enqueue(lock, &wait);
    while (!wait.granted && atomic_load_relaxed(&lock->held)) {
        pthread_cond_wait(&wait.wake, &lock->mutex);
    }
    dequeue(lock, &wait);
    pthread_cond_destroy(&wait.wake);
}

bool writer_lock_take(WriterLock *lock, bool wait)
{
    mutex_lock(&lock->mutex);
    if (atomic_load_relaxed(&lock->held)) {
        if (!wait || pthread_equal(lock->owner, pthread_self())) {
            mutex_unlock(&lock->mutex);
            return false;
        }
        wait_for_turn(lock);
    }
    take(lock);
    mutex_unlock(&lock->mutex);
    return true;
}

void writer_lock_release(WriterLock *lock)
{
    mutex_lock(&lock->mutex);
    SAP_ASSERT(atomic_load_relaxed(&lock->held));
    WriterWait *next = lock->first;
    if (next != NULL && clock_mono_ns(NULL) - next->since_ns > WRITER_LOCK_PATIENCE_NS) {
        next->granted = true; /* stays held: nobody can come between */
        lock->owner = next->thread;
    } else {
        atomic_store_relaxed(&lock->held, false);
    }
    if (next != NULL) {
        pthread_cond_signal(&next->wake);
    }
    mutex_unlock(&lock->mutex);
}

#else

bool writer_lock_init(WriterLock *lock)
{
    lock->held = false;
    return true;
}

void writer_lock_destroy(WriterLock *lock)
{
    SAP_ASSERT(!lock->held);
}

bool writer_lock_take(WriterLock *lock, bool wait)
{
    (void)wait; /* there is nobody else to wait for */
    if (lock->held) {
        return false;
    }
    lock->held = true;
    return true;
}

void writer_lock_release(WriterLock *lock)
{
    SAP_ASSERT(lock->held);
    lock->held = false;
}

#endif
