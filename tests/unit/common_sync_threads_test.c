/* Atomics and locks between real threads. */
#include "common/sync.h"
#include "support/expect.h"
#include "support/suite.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>

enum { TIMEOUT_S = 300, THREADS = 4, ROUNDS = 20000, CROSSINGS = 100000 };

typedef struct Worker {
    pthread_t thread;
    unsigned index;
    void (*work)(struct Worker *worker);
    void *shared;
    uint64_t count; /* of whatever `work` counts */
} Worker;

static void *run_worker(void *arg)
{
    Worker *worker = arg;

    worker->work(worker);
    return NULL;
}

/* Runs `work` in `threads` threads at once. Returns the sum of their counts. */
static uint64_t run(unsigned threads, void (*work)(Worker *worker), void *shared)
{
    Worker workers[THREADS];
    uint64_t total = 0;

    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (Worker){.index = i, .work = work, .shared = shared};
        ck_assert_int_eq(pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]), 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
        total += workers[i].count;
    }
    return total;
}

/* ---- Words to sleep on ---------------------------------------------------------------------- */

typedef struct Relay {
    SAP_ATOMIC(uint32_t) word; /* whose turn it is, counted up */
    unsigned threads;
} Relay;

static void wait_for_the_turn(Relay *relay, uint32_t turn)
{
    for (uint32_t seen; (seen = atomic_load_acquire(&relay->word)) != turn;) {
        word_wait(&relay->word, seen);
    }
}

static void take_turns(Worker *worker)
{
    Relay *relay = worker->shared;

    for (uint32_t turn = worker->index; turn < ROUNDS; turn += relay->threads) {
        wait_for_the_turn(relay, turn);
        worker->count++;
        atomic_store_release(&relay->word, turn + 1);
        if (relay->threads == 2) {
            word_wake_one(&relay->word);
        } else {
            word_wake_all(&relay->word);
        }
    }
}

START_TEST(nobody_sleeps_on_a_word_that_has_changed)
{
    for (unsigned threads = 2; threads <= THREADS; threads += THREADS - 2) {
        Relay relay = {.threads = threads};
        ck_assert_uint_eq(run(threads, take_turns, &relay), ROUNDS);
    }
    SAP_ATOMIC(uint32_t) word = 1;
    word_wait(&word, 0);
    word_wake_one(&word);
    thread_yield();
}
END_TEST

/* ---- One thread ----------------------------------------------------------------------------- */

START_TEST(what_is_stored_is_loaded)
{
    SAP_ATOMIC(uint64_t) word = 0;
    int there = 0;
    SAP_ATOMIC(int *) pointer = NULL;

    atomic_store_relaxed(&word, UINT64_MAX);
    ck_assert_uint_eq(atomic_load_relaxed(&word), UINT64_MAX);
    atomic_store_release(&word, 1);
    ck_assert_uint_eq(atomic_load_acquire(&word), 1);
    atomic_store_full(&word, UINT64_C(1) << 63);
    ck_assert_uint_eq(atomic_load_full(&word), UINT64_C(1) << 63);
    atomic_store_release(&pointer, &there);
    ck_assert_ptr_eq(atomic_load_acquire(&pointer), &there);
}
END_TEST

START_TEST(compare_and_swap_stores_only_over_what_was_expected)
{
    SAP_ATOMIC(uint32_t) word = 5;
    uint32_t expected = 4;

    ck_assert(!atomic_cas_full(&word, &expected, 9));
    ck_assert_uint_eq(atomic_load_relaxed(&word), 5);
    ck_assert_uint_eq(expected, 5); /* what is there instead */
    ck_assert(atomic_cas_full(&word, &expected, 9));
    ck_assert_uint_eq(atomic_load_relaxed(&word), 9);
    ck_assert_uint_eq(expected, 5);
}
END_TEST

/* ---- Many ----------------------------------------------------------------------------------- */

typedef struct Guarded {
    Mutex mutex;
    uint64_t value; /* only under the mutex, and not atomic */
    bool inside;
} Guarded;

static void count_under_mutex(Worker *worker)
{
    Guarded *guarded = worker->shared;

    for (int i = 0; i < ROUNDS; i++) {
        mutex_lock(&guarded->mutex);
        EXPECT(!guarded->inside, "two threads hold a mutex");
        guarded->inside = true;
        uint64_t value = guarded->value;
        if (i % 256 == 0) {
            sched_yield();
        }
        guarded->value = value + 1;
        guarded->inside = false;
        mutex_unlock(&guarded->mutex);
    }
}

START_TEST(a_mutex_excludes)
{
    Guarded guarded = {0};

    ck_assert(mutex_init(&guarded.mutex));
    run(THREADS, count_under_mutex, &guarded);
    ck_assert_uint_eq(guarded.value, (uint64_t)THREADS * ROUNDS);
    mutex_destroy(&guarded.mutex);
}
END_TEST

static void count_by_cas(Worker *worker)
{
    SAP_ATOMIC(uint64_t) *word = worker->shared;

    for (int i = 0; i < ROUNDS; i++) {
        uint64_t seen = atomic_load_relaxed(word);
        while (!atomic_cas_full(word, &seen, seen + 3)) {
            worker->count++;
        }
    }
}

START_TEST(no_compare_and_swap_is_lost)
{
    SAP_ATOMIC(uint64_t) word = 0;
    uint64_t retried = run(THREADS, count_by_cas, &word);

    printf("sync: %d swaps, %llu tried again\n", THREADS * ROUNDS, (unsigned long long)retried);
    ck_assert_uint_eq(atomic_load_relaxed(&word), (uint64_t)THREADS * ROUNDS * 3);
}
END_TEST

typedef struct Claims {
    SAP_ATOMIC(bool) taken[ROUNDS];
} Claims;

static void claim_all(Worker *worker)
{
    Claims *claims = worker->shared;

    for (int i = 0; i < ROUNDS; i++) {
        bool expected = false;
        worker->count += atomic_cas_full(&claims->taken[i], &expected, true) ? 1 : 0;
    }
}

START_TEST(of_many_who_claim_a_flag_one_gets_it)
{
    static Claims claims;

    ck_assert_uint_eq(run(THREADS, claim_all, &claims), ROUNDS);
}
END_TEST

/* Messages without a lock: whoever sees the number sees the plain bytes written before it. */
typedef struct Mail {
    uint64_t letters[ROUNDS];
    SAP_ATOMIC(uint32_t) posted;
    SAP_ATOMIC(uint64_t *) newest;
} Mail;

static void post_or_read(Worker *worker)
{
    Mail *mail = worker->shared;
    uint32_t read = 0;

    if (worker->index == 0) {
        for (uint32_t i = 0; i < ROUNDS; i++) {
            mail->letters[i] = (uint64_t)i * i + 7;
            atomic_store_release(&mail->newest, &mail->letters[i]);
            atomic_store_release(&mail->posted, i + 1);
        }
        return;
    }
    while (read < ROUNDS) {
        uint32_t posted = atomic_load_acquire(&mail->posted);
        for (; read < posted; read++) {
            EXPECT(mail->letters[read] == (uint64_t)read * read + 7, "letter %u is torn", read);
            worker->count++;
        }
        const uint64_t *newest = atomic_load_acquire(&mail->newest);
        EXPECT(newest == NULL || *newest != 0, "an address before what is there");
        sched_yield();
    }
}

START_TEST(what_was_written_before_a_release_is_seen_after_the_acquire)
{
    static Mail mail;

    ck_assert_uint_eq(run(THREADS, post_or_read, &mail), (uint64_t)(THREADS - 1) * ROUNDS);
}
END_TEST

/* Each of two threads stores its own word and loads the other's, both at the same time as nearly
 * as can be: they wait for each other before every round. */
typedef struct Crossing {
    SAP_ATOMIC(uint32_t) arrived;
    SAP_ATOMIC(uint32_t) words[2][CROSSINGS];
    uint8_t seen[2][CROSSINGS];
} Crossing;

static void meet(Crossing *crossing, uint32_t both)
{
    uint32_t arrived = atomic_load_relaxed(&crossing->arrived);
    uint32_t spins = 0;

    while (!atomic_cas_full(&crossing->arrived, &arrived, arrived + 1)) {
    }
    while (atomic_load_acquire(&crossing->arrived) < both) {
        if (++spins % 1000 == 0) {
            sched_yield();
        }
    }
}

static void cross(Worker *worker)
{
    Crossing *crossing = worker->shared;
    unsigned mine = worker->index;

    for (uint32_t i = 0; i < CROSSINGS; i++) {
        meet(crossing, 2 * (i + 1));
        atomic_store_full(&crossing->words[mine][i], 1);
        crossing->seen[mine][i] = atomic_load_full(&crossing->words[1 - mine][i]) != 0;
    }
}

START_TEST(of_two_full_stores_that_cross_one_is_seen)
{
    static Crossing crossing;
    uint32_t both = 0;

    run(2, cross, &crossing);
    for (int i = 0; i < CROSSINGS; i++) {
        EXPECT(crossing.seen[0][i] + crossing.seen[1][i] > 0, "neither saw the other in %d", i);
        both += crossing.seen[0][i] + crossing.seen[1][i] == 2 ? 1 : 0;
    }
    printf("sync: %d crossings, %u seen by both\n", CROSSINGS, both);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/sync");
    TCase *tcase = tcase_create("sync");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, what_is_stored_is_loaded);
    tcase_add_test(tcase, compare_and_swap_stores_only_over_what_was_expected);
    tcase_add_test(tcase, a_mutex_excludes);
    tcase_add_test(tcase, no_compare_and_swap_is_lost);
    tcase_add_test(tcase, of_many_who_claim_a_flag_one_gets_it);
    tcase_add_test(tcase, what_was_written_before_a_release_is_seen_after_the_acquire);
    tcase_add_test(tcase, of_two_full_stores_that_cross_one_is_seen);
    tcase_add_test(tcase, nobody_sleeps_on_a_word_that_has_changed);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
