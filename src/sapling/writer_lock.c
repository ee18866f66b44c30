/* writer_lock.c - see writer_lock.h. */
#include "sapling/writer_lock.h"

#include "common/assert.h"

#if SAPLING_THREADED

/* Bits of the state. WRITER_WAITED is set exactly while the queue is not empty, WRITER_CALLED while
 * its first was called, both by those who hold the mutex. Who holds the lock changes the state
 * alone, but for these bits. WRITER_BRIEF is set only together with WRITER_HELD. */
enum { WRITER_HELD = 1, WRITER_WAITED = 2, WRITER_BRIEF = 4, WRITER_CALLED = 8 };

enum { LOOKS = 400 }; /* before falling asleep */

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

static uint32_t queue_bits(const WriterLock *lock)
{
    if (lock->first == NULL) {
        return 0;
    }
    return lock->first->called ? WRITER_WAITED | WRITER_CALLED : WRITER_WAITED;
}

/* Sets the bits of the queue to what it says. The mutex is held. */
static void update_queue_bits(WriterLock *lock)
{
    uint32_t seen = atomic_load_relaxed(&lock->state);
    uint32_t bits = queue_bits(lock);

    while (!atomic_cas_full(&lock->state, &seen,
                            (seen & (uint32_t)(WRITER_HELD | WRITER_BRIEF)) | bits)) {
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

    mutex_lock(&lock->mutex);
    enqueue(lock, &wait);
    for (;;) {
        taken = wait.granted || try_take_or_announce(lock, brief);
        given_up = !taken && impatient && !is_brief(lock);
        if (taken || given_up) {
            break;
        }
        mutex_unlock(&lock->mutex);
        word_wait(&wait.look, 0);
        mutex_lock(&lock->mutex);
        atomic_store_relaxed(&wait.look, 0);
        wait.called = false; /* from here on a release calls the first again */
        update_queue_bits(lock);
    }
    dequeue(lock, &wait);
    update_queue_bits(lock);
    mutex_unlock(&lock->mutex);
    return taken;
}

/* Takes the lock if it becomes free within a moment. */
static bool take_soon(WriterLock *lock, bool brief)
{
    for (int i = 0; i < LOOKS; i++) {
        if ((atomic_load_relaxed(&lock->state) & WRITER_HELD) == 0 && try_take(lock, brief)) {
            return true;
        }
        cpu_relax();
    }
    return false;
}

static bool take(WriterLock *lock, bool wait, bool brief)
{
    if (try_take(lock, brief)) {
        return true;
    }
    if ((!wait && !is_brief(lock)) || writer_lock_is_mine(lock)) {
        return false;
    }
    return take_soon(lock, brief) || wait_for_turn(lock, brief, !wait);
}

/* Those who wait for the engine's own work look again when it is done. The mutex is held. */
static void wake_impatient(const WriterLock *lock)
{
    for (WriterWait *wait = lock->first; wait != NULL; wait = wait->next) {
        if (wait->impatient) {
            atomic_store_relaxed(&wait->look, 1);
            word_wake_one(&wait->look);
        }
    }
}

static bool is_due(const WriterLock *lock, const WriterWait *wait)
{
    uint64_t now_ns = clock_mono_ns(NULL);

    return now_ns - wait->since_ns > WRITER_LOCK_PATIENCE_NS &&
           now_ns - lock->handed_ns > WRITER_LOCK_PATIENCE_NS;
}

/* Gives up the lock in favour of the queue, or only for it to take. Answers what to wake. The mutex
 * is held. */
static SAP_ATOMIC(uint32_t) * release_to_queue(WriterLock *lock)
{
    WriterWait *next = lock->first;

    if (next == NULL) { /* the last one gave up meanwhile */
        atomic_store_release(&lock->state, 0);
        return NULL;
    }
    next->granted = is_due(lock, next);
    next->called = !next->granted;
    if (next->granted) { /* stays held: nobody can come between */
        lock->handed_ns = clock_mono_ns(NULL);
        atomic_store_relaxed(&lock->owner, next->thread);
    }
    uint32_t held = next->granted ? held_bits(next->brief) : 0;
    atomic_store_release(&lock->state, held | queue_bits(lock));
    atomic_store_relaxed(&next->look, 1);
    return &next->look;
}

void writer_lock_release(WriterLock *lock)
{
    uint32_t seen = atomic_load_relaxed(&lock->state);
    bool brief = (seen & WRITER_BRIEF) != 0;

    SAP_ASSERT((seen & WRITER_HELD) != 0);
    atomic_store_relaxed(&lock->owner, NULL);
    while ((seen & WRITER_WAITED) == 0 || ((seen & WRITER_CALLED) != 0 && !brief)) {
        if (atomic_cas_full(&lock->state, &seen,
                            seen & (uint32_t)(WRITER_WAITED | WRITER_CALLED))) {
            return;
        }
    }
    mutex_lock(&lock->mutex);
    SAP_ATOMIC(uint32_t) *look = release_to_queue(lock);
    if (brief) {
        wake_impatient(lock);
    }
    mutex_unlock(&lock->mutex);
    if (look != NULL) {
        word_wake_one(look); /* who waited there may be gone: then this wakes nobody, or in vain */
    }
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
