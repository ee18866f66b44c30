/* writer_lock.c - see writer_lock.h. */
#include "sapling/writer_lock.h"

#include "common/assert.h"

#if SAPLING_THREADED

/* Bits of the state. WRITER_WAITED is set exactly while the queue is not empty, by those who hold
 * the mutex. Who holds the lock changes the state alone, but for that bit. WRITER_BRIEF is set only
 * together with WRITER_HELD. */
enum { WRITER_HELD = 1, WRITER_WAITED = 2, WRITER_BRIEF = 4 };

/* Its address is the name of the thread. */
static _Thread_local char self;

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

bool writer_lock_is_held(WriterLock *lock)
{
    return (atomic_load_relaxed(&lock->state) & (WRITER_HELD | WRITER_BRIEF)) == WRITER_HELD;
}

bool writer_lock_is_mine(WriterLock *lock)
{
    /* NULL from before a release until after the next take: never this thread by mistake. */
    return atomic_load_relaxed(&lock->owner) == &self;
}

static uint32_t held_bits(bool brief)
{
    return brief ? WRITER_HELD | WRITER_BRIEF : WRITER_HELD;
}

static bool try_take(WriterLock *lock, bool brief)
{
    uint32_t seen = atomic_load_acquire(&lock->state);

    while ((seen & WRITER_HELD) == 0) {
        if (atomic_cas_full(&lock->state, &seen, seen | held_bits(brief))) {
            atomic_store_relaxed(&lock->owner, &self);
            return true;
        }
    }
    return false;
}

/* Takes the lock, or makes whoever has it look at the queue. The mutex is held. */
static bool try_take_or_announce(WriterLock *lock, bool brief)
{
    while (!try_take(lock, brief)) {
        uint32_t seen = atomic_load_relaxed(&lock->state);
        if ((seen & WRITER_HELD) != 0 &&
            atomic_cas_full(&lock->state, &seen, seen | WRITER_WAITED)) {
            return false;
        }
    }
    return true;
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

/* Sets WRITER_WAITED to what the queue says. The mutex is held. */
static void update_waited(WriterLock *lock)
{
    uint32_t seen = atomic_load_relaxed(&lock->state);
    uint32_t waited = lock->first != NULL ? WRITER_WAITED : 0;

    while (!atomic_cas_full(&lock->state, &seen, (seen & ~(uint32_t)WRITER_WAITED) | waited)) {
    }
}

static bool is_brief(WriterLock *lock)
{
    return (atomic_load_relaxed(&lock->state) & WRITER_BRIEF) != 0;
}

/* Waits in the queue until the lock is handed over or found free. False: impatient, and a writer
 * has it. */
static bool wait_for_turn(WriterLock *lock, bool brief, bool impatient)
{
    WriterWait wait = {
        .thread = &self, .since_ns = clock_mono_ns(NULL), .brief = brief, .impatient = impatient};
    bool taken = false;
    bool given_up = false;

    pthread_cond_init(&wait.wake, NULL);
    mutex_lock(&lock->mutex);
    enqueue(lock, &wait);
    for (;;) {
        taken = wait.granted || try_take_or_announce(lock, brief);
        given_up = !taken && impatient && !is_brief(lock);
        if (taken || given_up) {
            break;
        }
        pthread_cond_wait(&wait.wake, &lock->mutex);
    }
    dequeue(lock, &wait);
    update_waited(lock);
    mutex_unlock(&lock->mutex);
    pthread_cond_destroy(&wait.wake);
    return taken;
}

static bool take(WriterLock *lock, bool wait, bool brief)
{
    if (try_take(lock, brief)) {
        return true;
    }
    if ((!wait && !is_brief(lock)) || writer_lock_is_mine(lock)) {
        return false;
    }
    return wait_for_turn(lock, brief, !wait);
}

/* Those who wait for the engine's own work look again when it is done. */
static void wake_impatient(const WriterLock *lock)
{
    for (WriterWait *wait = lock->first; wait != NULL; wait = wait->next) {
        if (wait->impatient) {
            pthread_cond_signal(&wait->wake);
        }
    }
}

void writer_lock_release(WriterLock *lock)
{
    bool brief = is_brief(lock);
    uint32_t seen = held_bits(brief);

    SAP_ASSERT((atomic_load_relaxed(&lock->state) & WRITER_HELD) != 0);
    atomic_store_relaxed(&lock->owner, NULL);
    if (atomic_cas_full(&lock->state, &seen, 0)) {
        return;
    }
    mutex_lock(&lock->mutex);
    WriterWait *next = lock->first;
    if (next == NULL) { /* the last one gave up meanwhile */
        atomic_store_release(&lock->state, 0);
    } else if (clock_mono_ns(NULL) - next->since_ns > WRITER_LOCK_PATIENCE_NS) {
        next->granted = true; /* stays held: nobody can come between */
        atomic_store_relaxed(&lock->owner, next->thread);
        atomic_store_relaxed(&lock->state, held_bits(next->brief) | WRITER_WAITED);
    } else {
        atomic_store_release(&lock->state, WRITER_WAITED);
    }
    if (brief) {
        wake_impatient(lock);
    }
    if (next != NULL) {
        pthread_cond_signal(&next->wake);
    }
    mutex_unlock(&lock->mutex);
}

#else

bool writer_lock_is_held(WriterLock *lock)
{
    return lock->held && !lock->brief;
}

bool writer_lock_is_mine(WriterLock *lock)
{
    return lock->held;
}

bool writer_lock_init(WriterLock *lock)
{
    lock->held = false;
    return true;
}

void writer_lock_destroy(WriterLock *lock)
{
    SAP_ASSERT(!lock->held);
}

static bool take(WriterLock *lock, bool wait, bool brief)
{
    (void)wait; /* there is nobody else to wait for */
    if (lock->held) {
        return false;
    }
    lock->held = true;
    lock->brief = brief;
    return true;
}

void writer_lock_release(WriterLock *lock)
{
    SAP_ASSERT(lock->held);
    lock->held = false;
}

#endif

bool writer_lock_take(WriterLock *lock, bool wait)
{
    return take(lock, wait, false);
}

bool writer_lock_take_briefly(WriterLock *lock, bool wait)
{
    return take(lock, wait, true);
}
