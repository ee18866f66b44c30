/* One writer at a time: who gets the lock, who is refused, and that nobody waits for ever. What
 * must hold is counted in turns; time only decides how often the interesting turns come. */
#include "sapling/writer_lock.h"
#include "support/expect.h"
#include "support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TIMEOUT_S = 300, MAX_THREADS = 8 };

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    EXPECT(pthread_create(thread, NULL, run, arg) == 0, "no thread");
}

static void join(pthread_t thread)
{
    EXPECT(pthread_join(thread, NULL) == 0, "no join");
}

/* Whether somebody waits, and whether the one who waits longest is to get the lock next. */
static bool peek(WriterLock *lock, bool *overdue_out)
{
    mutex_lock(&lock->mutex);
    const WriterWait *first = lock->first;
    uint64_t now_ns = clock_mono_ns(NULL);
    *overdue_out = first != NULL && !first->called &&
                   now_ns - first->since_ns > WRITER_LOCK_PATIENCE_NS &&
                   now_ns - lock->handed_ns > WRITER_LOCK_PATIENCE_NS;
    mutex_unlock(&lock->mutex);
    return first != NULL;
}

static void wait_until_overdue(WriterLock *lock)
{
    bool overdue = false;

    while (!overdue) {
        sched_yield();
        (void)peek(lock, &overdue);
    }
}

/* ---- One at a time -------------------------------------------------------------------------- */

typedef struct Counter {
    WriterLock lock;
    uint64_t value; /* only under the lock, and not atomic */
    uint32_t inside;
    uint32_t rounds;
    atomic_ullong refused;
} Counter;

static void count_up(Counter *counter)
{
    EXPECT(counter->inside == 0, "two threads hold the lock");
    EXPECT(writer_lock_is_held(&counter->lock), "a lock that is held says it is not");
    counter->inside = 1;
    uint64_t value = counter->value;
    if (value % 64 == 0) {
        sched_yield();
    }
    counter->value = value + 1;
    counter->inside = 0;
}

static void *count_waiting(void *arg)
{
    Counter *counter = arg;

    for (uint32_t i = 0; i < counter->rounds; i++) {
        EXPECT(writer_lock_take(&counter->lock, true), "one who waits for others is refused");
        count_up(counter);
        writer_lock_release(&counter->lock);
    }
    return NULL;
}

static void *count_trying(void *arg)
{
    Counter *counter = arg;

    for (uint32_t i = 0; i < counter->rounds;) {
        if (!writer_lock_take(&counter->lock, false)) {
            atomic_fetch_add(&counter->refused, 1);
            sched_yield();
            continue;
        }
        count_up(counter);
        writer_lock_release(&counter->lock);
        i++;
    }
    return NULL;
}

static void check_counting(uint32_t waiting, uint32_t trying, uint32_t rounds)
{
    Counter counter = {.rounds = rounds};
    pthread_t threads[MAX_THREADS];

    expect_context("%u waiting, %u trying", waiting, trying);
    EXPECT(writer_lock_init(&counter.lock), "no lock");
    for (uint32_t i = 0; i < waiting + trying; i++) {
        start(&threads[i], i < waiting ? count_waiting : count_trying, &counter);
    }
    for (uint32_t i = 0; i < waiting + trying; i++) {
        join(threads[i]);
    }
    EXPECT(counter.value == (uint64_t)rounds * (waiting + trying), "%llu of %llu counts",
           (unsigned long long)counter.value, (unsigned long long)rounds * (waiting + trying));
    EXPECT(!writer_lock_is_held(&counter.lock), "the lock is left held");
    printf("writer lock: %u waiting, %u trying, %llu turns, %llu refused\n", waiting, trying,
           (unsigned long long)counter.value, (unsigned long long)counter.refused);
    writer_lock_destroy(&counter.lock);
}

START_TEST(only_one_thread_holds_the_lock)
{
    check_counting(2, 0, 10000);
    check_counting(8, 0, 2000);
    check_counting(0, 4, 5000);
    check_counting(4, 2, 3000);
}
END_TEST

/* ---- Refusal -------------------------------------------------------------------------------- */

START_TEST(the_owner_is_refused_instead_of_waiting_for_itself)
{
    WriterLock lock;

    ck_assert(writer_lock_init(&lock));
    ck_assert(!writer_lock_is_held(&lock));
    for (int i = 0; i < 3; i++) {
        ck_assert(writer_lock_take(&lock, i % 2 == 0));
        ck_assert(writer_lock_is_held(&lock));
        ck_assert(!writer_lock_take(&lock, true));
        ck_assert(!writer_lock_take(&lock, false));
        ck_assert(writer_lock_is_held(&lock));
        writer_lock_release(&lock);
        ck_assert(!writer_lock_is_held(&lock));
    }
    writer_lock_destroy(&lock);
}
END_TEST

static void *try_and_expect_refusal(void *arg)
{
    WriterLock *lock = arg;

    EXPECT(writer_lock_is_held(lock), "a lock that is held says it is not");
    EXPECT(!writer_lock_take(lock, false), "taken while held");
    return NULL;
}

static void *take_and_leave(void *arg)
{
    EXPECT(writer_lock_take(arg, false), "a free lock is refused");
    return NULL;
}

static void *release_what_others_took(void *arg)
{
    writer_lock_release(arg);
    return NULL;
}

START_TEST(a_held_lock_refuses_those_who_do_not_wait)
{
    WriterLock lock;
    pthread_t thread;

    ck_assert(writer_lock_init(&lock));
    ck_assert(writer_lock_take(&lock, false));
    start(&thread, try_and_expect_refusal, &lock);
    join(thread);
    writer_lock_release(&lock);
    start(&thread, take_and_leave, &lock);
    join(thread);
    ck_assert(!writer_lock_take(&lock, false));
    writer_lock_release(&lock);
    writer_lock_destroy(&lock);
}
END_TEST

START_TEST(a_lock_may_be_released_by_another_thread_than_took_it)
{
    WriterLock lock;
    pthread_t thread;

    ck_assert(writer_lock_init(&lock));
    for (int i = 0; i < 100; i++) {
        EXPECT(writer_lock_take(&lock, true), "a free lock is refused");
        start(&thread, release_what_others_took, &lock);
        join(thread);
        EXPECT(!writer_lock_is_held(&lock), "held after its release elsewhere");
        start(&thread, take_and_leave, &lock);
        join(thread);
        EXPECT(writer_lock_is_held(&lock), "not held after it was taken elsewhere");
        writer_lock_release(&lock);
    }
    writer_lock_destroy(&lock);
}
END_TEST

static void *wait_for_it(void *arg)
{
    EXPECT(writer_lock_take(arg, true), "one who waits for others is refused");
    writer_lock_release(arg);
    return NULL;
}

START_TEST(a_release_by_another_thread_wakes_the_waiting)
{
    WriterLock lock;
    pthread_t waiter;
    pthread_t releaser;

    ck_assert(writer_lock_init(&lock));
    for (int i = 0; i < 50; i++) {
        bool overdue = false;
        EXPECT(writer_lock_take(&lock, true), "a free lock is refused");
        start(&waiter, wait_for_it, &lock);
        while (!peek(&lock, &overdue)) {
            sched_yield();
        }
        if (i % 2 == 0) {
            wait_until_overdue(&lock);
        }
        start(&releaser, release_what_others_took, &lock);
        join(releaser);
        join(waiter);
        EXPECT(!writer_lock_is_held(&lock), "the lock is left held");
    }
    writer_lock_destroy(&lock);
}
END_TEST

/* The new owner may not have woken yet: to the old one the lock is somebody else's already. */
START_TEST(one_who_handed_the_lock_over_can_wait_for_it_again)
{
    WriterLock lock;
    pthread_t waiter;

    ck_assert(writer_lock_init(&lock));
    for (int i = 0; i < 200; i++) {
        EXPECT(writer_lock_take(&lock, true), "a lock that will be free is refused");
        start(&waiter, wait_for_it, &lock);
        wait_until_overdue(&lock);
        writer_lock_release(&lock);
        EXPECT(writer_lock_take(&lock, true), "one who handed the lock over is refused");
        writer_lock_release(&lock);
        join(waiter);
    }
    writer_lock_destroy(&lock);
}
END_TEST

/* ---- Patience ------------------------------------------------------------------------------- */

/* Hammers take and release as fast as they can, and hold on to some turns until somebody has
 * waited too long. When a lock is let go for which somebody has waited too long, the next turn is a
 * waiter's; but not more often than once in that time. */
typedef struct Fair {
    WriterLock lock;
    bool handed_over; /* under the lock: the next turn must be a waiter's */
    uint64_t turns;   /* under the lock: of hammers */
    uint64_t handed;  /* under the lock: how often it was handed over */
    uint32_t rounds;
    atomic_uint waiters_left;
} Fair;

static void end_turn(Fair *fair)
{
    bool overdue = false;

    (void)peek(&fair->lock, &overdue);
    fair->handed_over = overdue;
    fair->handed += overdue ? 1 : 0;
    writer_lock_release(&fair->lock);
}

static void *hammer(void *arg)
{
    Fair *fair = arg;

    while (atomic_load(&fair->waiters_left) > 0) {
        bool overdue = false;
        if (!writer_lock_take(&fair->lock, false)) {
            continue;
        }
        EXPECT(!fair->handed_over, "a turn between the hand-over and the one who waited");
        bool long_turn = fair->turns++ % 4 == 0;
        while (long_turn && !overdue && atomic_load(&fair->waiters_left) > 0) {
            sched_yield();
            (void)peek(&fair->lock, &overdue);
        }
        end_turn(fair);
    }
    return NULL;
}

static void *wait_among_hammers(void *arg)
{
    Fair *fair = arg;

    for (uint32_t i = 0; i < fair->rounds; i++) {
        /* Worth a wait only while somebody else has it. */
        while (!writer_lock_is_held(&fair->lock)) {
            sched_yield();
        }
        EXPECT(writer_lock_take(&fair->lock, true), "one who waits for others is refused");
        end_turn(fair);
    }
    atomic_fetch_sub(&fair->waiters_left, 1);
    return NULL;
}

static void check_fair(uint32_t hammers, uint32_t waiters, uint32_t rounds)
{
    Fair fair = {.rounds = rounds};
    pthread_t threads[MAX_THREADS];
    uint64_t begin_ns = clock_mono_ns(NULL);

    expect_context("%u hammers, %u waiters", hammers, waiters);
    EXPECT(writer_lock_init(&fair.lock), "no lock");
    atomic_store(&fair.waiters_left, waiters);
    for (uint32_t i = 0; i < hammers + waiters; i++) {
        start(&threads[i], i < hammers ? hammer : wait_among_hammers, &fair);
    }
    for (uint32_t i = 0; i < hammers + waiters; i++) {
        join(threads[i]);
    }
    EXPECT(!writer_lock_is_held(&fair.lock), "the lock is left held");
    printf("writer lock: %u hammers took %llu turns, %u waiters %llu, %llu handed over\n", hammers,
           (unsigned long long)fair.turns, waiters, (unsigned long long)rounds * waiters,
           (unsigned long long)fair.handed);
    EXPECT(fair.handed > 0, "nobody ever waited too long");
    EXPECT(fair.handed - 1 <= (clock_mono_ns(NULL) - begin_ns) / WRITER_LOCK_PATIENCE_NS,
           "the lock is handed over more often than patience ends");
    writer_lock_destroy(&fair.lock);
}

START_TEST(one_who_waited_too_long_has_the_next_turn)
{
    check_fair(1, 1, 100);
    check_fair(3, 1, 100);
    check_fair(2, 4, 50);
    check_fair(1, MAX_THREADS - 1, 20);
}
END_TEST

/* ---- All of them ---------------------------------------------------------------------------- */

START_TEST(all_who_wait_get_the_lock)
{
    for (int i = 0; i < 20; i++) {
        WriterLock lock;
        pthread_t threads[MAX_THREADS];
        ck_assert(writer_lock_init(&lock));
        ck_assert(writer_lock_take(&lock, false));
        for (uint32_t t = 0; t < MAX_THREADS; t++) {
            start(&threads[t], wait_for_it, &lock);
        }
        if (i % 2 == 0) {
            wait_until_overdue(&lock);
        }
        writer_lock_release(&lock);
        for (uint32_t t = 0; t < MAX_THREADS; t++) {
            join(threads[t]);
        }
        ck_assert(!writer_lock_is_held(&lock));
        writer_lock_destroy(&lock);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_writer_lock");
    TCase *tcase = tcase_create("writer lock");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, only_one_thread_holds_the_lock);
    tcase_add_test(tcase, the_owner_is_refused_instead_of_waiting_for_itself);
    tcase_add_test(tcase, a_held_lock_refuses_those_who_do_not_wait);
    tcase_add_test(tcase, a_lock_may_be_released_by_another_thread_than_took_it);
    tcase_add_test(tcase, a_release_by_another_thread_wakes_the_waiting);
    tcase_add_test(tcase, one_who_handed_the_lock_over_can_wait_for_it_again);
    tcase_add_test(tcase, one_who_waited_too_long_has_the_next_turn);
    tcase_add_test(tcase, all_who_wait_get_the_lock);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
