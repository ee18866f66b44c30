/* A queue between threads: every message once where nobody fails, at least once and acknowledged
 * once where leases expire; whoever waits is woken in time. Run under the thread sanitizer. */
#include "common/bytes.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/mem.h"
#include "common/random.h"
#include "sapling/queue.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    PRODUCERS = 6,
    CONSUMERS = 6,
    EACH = SAP_SANITIZED ? 150 : 800,
    MESSAGES = PRODUCERS * EACH,
    STOP = UINT32_MAX, /* a message that ends its consumer */
    SOON_MS = 700,     /* a sleeper that nobody woke would look again after 1000 */
};

typedef struct Crowd {
    FileBed bed;
    SapQueue *queue;
    SapQueue *second; /* another handle of the same name */
    uint64_t seed;
    bool drop; /* consumers lose some of their claims */
    atomic_uint delivered[MESSAGES];
    atomic_uint acked[MESSAGES];
    atomic_uint acked_count;
    atomic_uint conflicts;
    atomic_uint dropped;
} Crowd;

typedef struct Member {
    Crowd *crowd;
    uint32_t number;
    pthread_t thread;
} Member;

static uint64_t ms_since(uint64_t start_ns)
{
    return (clock_mono_ns(NULL) - start_ns) / 1000000;
}

static void nap_ms(uint32_t ms)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)ms * 1000000}, NULL);
}

static void push_number(SapQueue *queue, uint32_t n, const SapQueuePushOptions *options)
{
    uint8_t bytes[4];

    store_u32le(bytes, n);
    EXPECT_RC(sap_queue_push(queue, bytes, sizeof bytes, options, NULL), SAP_OK);
}

static void push_three(SapQueue *queue, uint32_t n)
{
    uint8_t bytes[3][4];
    const void *payloads[3];
    uint32_t lens[3] = {4, 4, 4};

    for (uint32_t i = 0; i < 3; i++) {
        store_u32le(bytes[i], n + i);
        payloads[i] = bytes[i];
    }
    EXPECT_RC(sap_queue_push_many(queue, payloads, lens, 3, NULL), SAP_OK);
}

static void *produce(void *arg)
{
    Member *member = arg;
    Crowd *crowd = member->crowd;
    SapQueue *queue = member->number % 2 == 0 ? crowd->queue : crowd->second;
    uint32_t n = member->number * EACH;
    uint32_t end = n + EACH;
    Rng rng;

    rng_seed(&rng, crowd->seed * 100 + member->number);
    while (n < end) {
        uint64_t kind = rng_below(&rng, 8);
        if (kind == 0 && end - n >= 3) {
            push_three(queue, n);
            n += 3;
            continue;
        }
        SapQueuePushOptions options = {.no_wait = kind == 1,
                                       .high_priority = kind == 2,
                                       .delay_ms = kind == 3 ? (int64_t)rng_below(&rng, 20) : 0};
        push_number(queue, n++, &options);
    }
    return NULL;
}

/* True: go on. */
static bool consume_one(Crowd *crowd, SapQueue *queue, SapQueueMessage *message, Rng *rng)
{
    uint32_t n = load_u32le(message->payload);

    if (n == (uint32_t)STOP) {
        EXPECT_RC(sap_queue_ack(queue, message), SAP_OK);
        return false;
    }
    EXPECT(n < MESSAGES, "message %u", n);
    atomic_fetch_add(&crowd->delivered[n], 1);
    if (crowd->drop && rng_chance(rng, 1, 6)) {
        sap_queue_release(queue, message);
        atomic_fetch_add(&crowd->dropped, 1);
        return true;
    }
    if (crowd->drop && rng_chance(rng, 1, 20)) {
        nap_ms(30); /* beyond the lease */
    }
    int rc = sap_queue_ack(queue, message);
    if (rc == SAP_CONFLICT && crowd->drop) {
        atomic_fetch_add(&crowd->conflicts, 1);
        return true;
    }
    EXPECT(rc == SAP_OK, "ack answered %d", rc);
    atomic_fetch_add(&crowd->acked[n], 1);
    atomic_fetch_add(&crowd->acked_count, 1);
    return true;
}

static void *consume(void *arg)
{
    Member *member = arg;
    Crowd *crowd = member->crowd;
    SapQueue *queue = member->number % 2 == 0 ? crowd->queue : crowd->second;
    bool more = true;
    Rng rng;

    rng_seed(&rng, crowd->seed * 100 + 50 + member->number);
    while (more) {
        SapQueueMessage *messages[5];
        uint32_t count = 0;
        uint32_t max = crowd->drop ? 1 : (uint32_t)rng_range(&rng, 1, 5);
        EXPECT_RC(sap_queue_claim_many(queue, 0, UINT32_MAX, messages, max, &count), SAP_OK);
        EXPECT(count > 0 && count <= max, "%u messages", count);
        for (uint32_t i = 0; i < count; i++) {
            if (!more) {
                /* Taken too much: another's end, or a message that others have to do. */
                EXPECT_RC(sap_queue_fail(queue, messages[i], SAP_BUSY, 0), SAP_OK);
                continue;
            }
            more = consume_one(crowd, queue, messages[i], &rng);
        }
    }
    return NULL;
}

static void run_crowd(bool drop, uint32_t lease_ms, uint64_t seed)
{
    Crowd *crowd = calloc(1, sizeof *crowd);
    Member producers[PRODUCERS];
    Member consumers[CONSUMERS];
    SapQueueOptions options = {.lease_ms = lease_ms, .retry_budget_max = UINT32_MAX};

    crowd->seed = seed;
    crowd->drop = drop;
    file_bed_start(&crowd->bed);
    EXPECT_RC(sap_queue_open(crowd->bed.path, &options, &crowd->queue), SAP_OK);
    EXPECT_RC(sap_queue_open_db(sap_queue_db(crowd->queue), &options, &crowd->second), SAP_OK);
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        consumers[i] = (Member){.crowd = crowd, .number = i};
        EXPECT(pthread_create(&consumers[i].thread, NULL, consume, &consumers[i]) == 0, "thread");
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (Member){.crowd = crowd, .number = i};
        EXPECT(pthread_create(&producers[i].thread, NULL, produce, &producers[i]) == 0, "thread");
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        pthread_join(producers[i].thread, NULL);
    }
    while (atomic_load(&crowd->acked_count) < MESSAGES) {
        nap_ms(1);
    }
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        push_number(crowd->queue, STOP, NULL);
    }
    for (uint32_t i = 0; i < CONSUMERS; i++) {
        pthread_join(consumers[i].thread, NULL);
    }

    SapQueueStat stat;
    uint32_t twice = 0;
    EXPECT_RC(sap_queue_stat(crowd->queue, &stat), SAP_OK);
    EXPECT(stat.ready + stat.leased + stat.delayed + stat.dead_letters == 0, "something is left");
    for (uint32_t i = 0; i < MESSAGES; i++) {
        EXPECT(atomic_load(&crowd->acked[i]) == 1, "message %u acknowledged %u times", i,
               atomic_load(&crowd->acked[i]));
        twice += atomic_load(&crowd->delivered[i]) > 1;
    }
    EXPECT(drop || twice == 0, "%u messages came more than once", twice);
    EXPECT(!drop || (twice > 0 && atomic_load(&crowd->dropped) > 0), "nothing was dropped");
    printf("seed %" PRIu64 ": %d messages, %u claims dropped, %u acks too late, %u came again\n",
           seed, MESSAGES, atomic_load(&crowd->dropped), atomic_load(&crowd->conflicts), twice);
    EXPECT_RC(sap_queue_close(crowd->second), SAP_OK);
    EXPECT_RC(sap_queue_close(crowd->queue), SAP_OK);
    file_bed_end(&crowd->bed);
    free(crowd);
    EXPECT(mem_live_blocks(MEM_RUNNER) == 0, "memory is left");
}

START_TEST(every_message_comes_once_when_nobody_fails)
{
    run_crowd(false, 600000, choice_first_seed());
}
END_TEST

START_TEST(claims_that_are_lost_are_taken_over_and_each_message_is_acknowledged_once)
{
    run_crowd(true, 20, choice_first_seed());
}
END_TEST

/* ---- Waking --------------------------------------------------------------------------------- */

typedef struct Sleeper {
    SapQueue *queue;
    uint32_t lease_ms;
    pthread_t thread;
    int rc;
    uint64_t woken_ns;
    SapQueueMessage *message;
} Sleeper;

static void *sleep_for_one(void *arg)
{
    Sleeper *sleeper = arg;

    sleeper->rc = sap_queue_claim(sleeper->queue, sleeper->lease_ms, UINT32_MAX, &sleeper->message);
    sleeper->woken_ns = clock_mono_ns(NULL);
    return NULL;
}

static void go_to_sleep(Sleeper *sleeper, SapQueue *queue)
{
    *sleeper = (Sleeper){.queue = queue};
    EXPECT(pthread_create(&sleeper->thread, NULL, sleep_for_one, sleeper) == 0, "thread");
    nap_ms(20);
}

/* How long after `start_ns` it was woken. */
static uint64_t wake_ms(Sleeper *sleeper, uint64_t start_ns)
{
    pthread_join(sleeper->thread, NULL);
    EXPECT_RC(sleeper->rc, SAP_OK);
    EXPECT_RC(sap_queue_ack(sleeper->queue, sleeper->message), SAP_OK);
    return (sleeper->woken_ns - start_ns) / 1000000;
}

typedef struct Pair {
    FileBed bed;
    SapQueue *queue;
    SapQueue *second;
} Pair;

static void pair_open(Pair *pair)
{
    file_bed_start(&pair->bed);
    EXPECT_RC(sap_queue_open(pair->bed.path, NULL, &pair->queue), SAP_OK);
    EXPECT_RC(sap_queue_open_db(sap_queue_db(pair->queue), NULL, &pair->second), SAP_OK);
}

static void pair_close(Pair *pair)
{
    EXPECT_RC(sap_queue_close(pair->second), SAP_OK);
    EXPECT_RC(sap_queue_close(pair->queue), SAP_OK);
    file_bed_end(&pair->bed);
}

START_TEST(a_sleeper_is_woken_by_a_push_through_any_handle)
{
    enum { ROUNDS = 10 };
    Pair pair;
    uint64_t most = 0;

    pair_open(&pair);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        Sleeper sleeper;
        go_to_sleep(&sleeper, pair.queue);
        uint64_t start_ns = clock_mono_ns(NULL);
        if (i % 3 == 2) {
            SapRunnerV0Message msg = {
                .to_worker = sap_queue_worker(pair.queue), .message_id = "m", .message_id_len = 1};
            EXPECT_RC(sap_runner_v0_send(sap_queue_db(pair.queue), &msg, NULL), SAP_OK);
        } else {
            push_number(i % 3 == 0 ? pair.queue : pair.second, i, NULL);
        }
        uint64_t ms = wake_ms(&sleeper, start_ns);
        most = ms > most ? ms : most;
    }
    printf("%d wakes, the slowest after %" PRIu64 " ms\n", ROUNDS, most);
    ck_assert_uint_lt(most, SOON_MS);
    pair_close(&pair);
}
END_TEST

START_TEST(a_sleeper_is_woken_for_a_delayed_message_that_comes_after_it_slept)
{
    Pair pair;
    Sleeper sleeper;

    pair_open(&pair);
    for (uint32_t i = 0; i < 2; i++) {
        go_to_sleep(&sleeper, pair.queue);
        uint64_t start_ns = clock_mono_ns(NULL);
        push_number(i == 0 ? pair.queue : pair.second, 1, &(SapQueuePushOptions){.delay_ms = 100});
        uint64_t ms = wake_ms(&sleeper, start_ns);
        printf("due after 100 ms, there after %" PRIu64 " ms\n", ms);
        ck_assert_uint_ge(ms, 98);
        ck_assert_uint_lt(ms, SOON_MS);
    }
    pair_close(&pair);
}
END_TEST

START_TEST(a_sleeper_is_woken_when_a_lease_expires_that_was_shortened_while_it_slept)
{
    Pair pair;
    Sleeper sleeper;
    SapQueueMessage *message = NULL;

    pair_open(&pair);
    push_number(pair.queue, 1, NULL);
    EXPECT_RC(sap_queue_claim(pair.queue, 5000, 0, &message), SAP_OK);
    go_to_sleep(&sleeper, pair.queue);
    uint64_t start_ns = clock_mono_ns(NULL);
    EXPECT_RC(sap_queue_touch(pair.queue, message, 100), SAP_OK);
    uint64_t ms = wake_ms(&sleeper, start_ns);
    printf("expired after 100 ms, taken over after %" PRIu64 " ms\n", ms);
    ck_assert_uint_ge(ms, 98);
    ck_assert_uint_lt(ms, SOON_MS);
    ck_assert_int_eq(sap_queue_ack(pair.queue, message), SAP_CONFLICT);
    pair_close(&pair);
}
END_TEST

START_TEST(one_push_of_many_wakes_as_many_sleepers)
{
    enum { SLEEPERS = 9 };
    Pair pair;
    Sleeper sleepers[SLEEPERS];
    uint64_t most = 0;

    pair_open(&pair);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        go_to_sleep(&sleepers[i], pair.queue);
    }
    uint64_t start_ns = clock_mono_ns(NULL);
    for (uint32_t i = 0; i < SLEEPERS / 3; i++) {
        push_three(pair.queue, 3 * i);
    }
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        uint64_t ms = wake_ms(&sleepers[i], start_ns);
        most = ms > most ? ms : most;
    }
    printf("%d sleepers, the last woken after %" PRIu64 " ms\n", SLEEPERS, most);
    ck_assert_uint_lt(most, SOON_MS);
    pair_close(&pair);
}
END_TEST

START_TEST(a_claim_in_real_time_ends_when_its_time_is_over)
{
    Pair pair;
    SapQueueMessage *message = NULL;
    uint64_t start_ns = clock_mono_ns(NULL);

    pair_open(&pair);
    ck_assert_int_eq(sap_queue_claim(pair.queue, 0, 60, &message), SAP_NOTFOUND);
    ck_assert_uint_ge(ms_since(start_ns), 60);
    ck_assert_uint_lt(ms_since(start_ns), 60 + SOON_MS);
    pair_close(&pair);
}
END_TEST

START_TEST(close_ends_the_claims_that_wait)
{
    enum { SLEEPERS = 4 };
    Pair pair;
    Sleeper sleepers[SLEEPERS];

    pair_open(&pair);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        go_to_sleep(&sleepers[i], pair.second);
    }
    push_number(pair.queue, 1, &(SapQueuePushOptions){.delay_ms = 60000});
    uint64_t start_ns = clock_mono_ns(NULL);
    ck_assert_int_eq(sap_queue_close(pair.second), SAP_OK);
    ck_assert_uint_lt(ms_since(start_ns), SOON_MS);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        pthread_join(sleepers[i].thread, NULL);
        ck_assert_int_eq(sleepers[i].rc, SAP_NOTFOUND);
        ck_assert_ptr_null(sleepers[i].message);
    }
    /* Nobody is told any more. */
    push_number(pair.queue, 2, NULL);
    pair.second = NULL;
    pair_close(&pair);
}
END_TEST

START_TEST(an_interruption_ends_the_claims_that_wait)
{
    enum { SLEEPERS = 4 };
    Pair pair;
    Sleeper sleepers[SLEEPERS];

    pair_open(&pair);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        go_to_sleep(&sleepers[i], pair.queue);
    }
    uint64_t start_ns = clock_mono_ns(NULL);
    sap_queue_interrupt(pair.queue);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        pthread_join(sleepers[i].thread, NULL);
        ck_assert_int_eq(sleepers[i].rc, SAP_NOTFOUND);
    }
    ck_assert_uint_lt(ms_since(start_ns), SOON_MS);
    pair_close(&pair);
}
END_TEST

/* A clock that interrupts its queue at the n-th look, and otherwise stands still. */
typedef struct Interrupter {
    SapQueue *queue; /* NULL: not yet */
    uint32_t looks;
    uint32_t at;
} Interrupter;

static int64_t interrupting_now(void *ctx)
{
    Interrupter *interrupter = ctx;

    if (interrupter->queue != NULL && ++interrupter->looks == interrupter->at) {
        sap_queue_interrupt(interrupter->queue);
    }
    return 1000000;
}

/* A claim looks at the clock at its beginning, before its first look at the queue and before the
 * second, after which it sleeps. */
enum { LOOKS_BEFORE_SLEEP = 3 };

START_TEST(an_interruption_before_the_wait_begins_is_not_lost)
{
    Interrupter interrupter = {.at = (uint32_t)_i};
    SapQueueOptions options = {.time = {.now_ms = interrupting_now, .ctx = &interrupter}};
    SapQueueMessage *message = NULL;
    SapQueue *queue = NULL;
    FileBed bed;

    file_bed_start(&bed);
    EXPECT_RC(sap_queue_open(bed.path, &options, &queue), SAP_OK);
    interrupter.queue = queue;
    if (interrupter.at == 0) {
        sap_queue_interrupt(queue);
    }
    uint64_t start_ns = clock_mono_ns(NULL);
    ck_assert_int_eq(sap_queue_claim(queue, 0, UINT32_MAX, &message), SAP_NOTFOUND);
    ck_assert_uint_lt(ms_since(start_ns), SOON_MS);
    ck_assert_uint_ge(interrupter.looks, interrupter.at);
    interrupter.queue = NULL;
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_sleeper_is_woken_when_a_message_is_put_back)
{
    Pair pair;
    Sleeper sleeper;
    SapQueueMessage *message = NULL;

    pair_open(&pair);
    push_number(pair.queue, 1, NULL);
    EXPECT_RC(sap_queue_claim(pair.queue, 0, 0, &message), SAP_OK);
    go_to_sleep(&sleeper, pair.queue);
    uint64_t start_ns = clock_mono_ns(NULL);
    ck_assert_int_eq(sap_queue_put_back(pair.queue, message), SAP_OK);
    ck_assert_uint_lt(wake_ms(&sleeper, start_ns), SOON_MS);
    pair_close(&pair);
}
END_TEST

static void *write_now_and_then(void *arg)
{
    SapQueue *queue = arg;

    for (uint32_t i = 0; i < 200; i++) {
        push_number(queue, i, &(SapQueuePushOptions){.no_wait = 1});
    }
    return NULL;
}

START_TEST(a_queue_can_be_opened_waited_for_and_closed_while_others_write)
{
    enum { ROUNDS = 30 };
    Pair pair;
    pthread_t writer;
    uint32_t claimed = 0;

    pair_open(&pair);
    EXPECT(pthread_create(&writer, NULL, write_now_and_then, pair.queue) == 0, "thread");
    for (uint32_t i = 0; i < ROUNDS; i++) {
        SapQueue *third = NULL;
        SapQueueMessage *message = NULL;
        EXPECT_RC(sap_queue_open_db(sap_queue_db(pair.queue), &(SapQueueOptions){.name = "third"},
                                    &third),
                  SAP_OK);
        EXPECT_RC(sap_queue_claim(third, 0, 2, &message), SAP_NOTFOUND);
        push_number(third, i, NULL);
        EXPECT_RC(sap_queue_claim(third, 0, 1000, &message), SAP_OK);
        EXPECT_RC(sap_queue_ack(third, message), SAP_OK);
        EXPECT_RC(sap_queue_close(third), SAP_OK);
        claimed++;
    }
    pthread_join(writer, NULL);
    ck_assert_uint_eq(claimed, ROUNDS);
    pair_close(&pair);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/queue threads");
    TCase *tcase = tcase_create("queue");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, every_message_comes_once_when_nobody_fails);
    tcase_add_test(tcase,
                   claims_that_are_lost_are_taken_over_and_each_message_is_acknowledged_once);
    tcase_add_test(tcase, a_sleeper_is_woken_by_a_push_through_any_handle);
    tcase_add_test(tcase, a_sleeper_is_woken_for_a_delayed_message_that_comes_after_it_slept);
    tcase_add_test(tcase,
                   a_sleeper_is_woken_when_a_lease_expires_that_was_shortened_while_it_slept);
    tcase_add_test(tcase, one_push_of_many_wakes_as_many_sleepers);
    tcase_add_test(tcase, a_claim_in_real_time_ends_when_its_time_is_over);
    tcase_add_test(tcase, close_ends_the_claims_that_wait);
    tcase_add_test(tcase, an_interruption_ends_the_claims_that_wait);
    tcase_add_loop_test(tcase, an_interruption_before_the_wait_begins_is_not_lost, 0,
                        LOOKS_BEFORE_SLEEP + 1);
    tcase_add_test(tcase, a_sleeper_is_woken_when_a_message_is_put_back);
    tcase_add_test(tcase, a_queue_can_be_opened_waited_for_and_closed_while_others_write);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
