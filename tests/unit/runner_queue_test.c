/* The queue: every call and every code of its header, by a clock that the test moves. */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/queue.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INBOX = 1, OUTBOX = 2, TIMERS = 4, DEAD = 6, START_MS = 1000000 };

/* Sleeping is moving the clock. */
static struct {
    int64_t now_ms;
    uint64_t slept_ms;
    uint32_t sleeps;
    void (*on_sleep)(void); /* NULL: nothing */
} test_time;

static int64_t test_now(void *ctx)
{
    (void)ctx;
    return test_time.now_ms;
}

static void test_sleep(uint32_t ms, void *ctx)
{
    (void)ctx;
    test_time.now_ms += ms;
    test_time.slept_ms += ms;
    test_time.sleeps++;
    if (test_time.on_sleep != NULL) {
        test_time.on_sleep();
    }
}

static SapEnv *db;
static SapQueue *queue;

static SapQueueOptions test_options(const char *name)
{
    return (SapQueueOptions){.size = sizeof(SapQueueOptions),
                             .name = name,
                             .time = {test_now, test_sleep, NULL},
                             .retry_budget_max = 4,
                             .retry_backoff_ms = -1};
}

static SapQueue *open_named(const char *name)
{
    SapQueueOptions options = test_options(name);
    SapQueue *opened = NULL;

    EXPECT_RC(sap_queue_open_db(db, &options, &opened), SAP_OK);
    return opened;
}

static void setup(void)
{
    test_time.now_ms = START_MS;
    db = sap_db_open(NULL, 0, NULL, NULL);
    queue = open_named(NULL);
}

static void teardown(void)
{
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    EXPECT(mem_live_blocks(MEM_RUNNER) == 0, "%zu blocks left", mem_live_blocks(MEM_RUNNER));
    EXPECT(mem_live_blocks(MEM_COMMON) == 0, "%zu buffers left", mem_live_blocks(MEM_COMMON));
}

static void push(SapQueue *to, const char *text)
{
    EXPECT_RC(sap_queue_push(to, text, (uint32_t)strlen(text), NULL, NULL), SAP_OK);
}

static bool says(const SapQueueMessage *message, const char *text)
{
    return bytes_compare(message->payload, message->payload_len, text, strlen(text)) == 0;
}

static SapQueueMessage *claim(SapQueue *from, const char *text)
{
    SapQueueMessage *message = NULL;

    EXPECT_RC(sap_queue_claim(from, 0, 0, &message), SAP_OK);
    EXPECT(says(message, text), "'%.*s' instead of '%s'", (int)message->payload_len,
           (const char *)message->payload, text);
    return message;
}

static void expect_none(SapQueue *from)
{
    SapQueueMessage *message = NULL;

    EXPECT_RC(sap_queue_claim(from, 0, 0, &message), SAP_NOTFOUND);
    EXPECT(message == NULL, "a message with SAP_NOTFOUND");
}

static SapQueueStat stat_of(SapQueue *of)
{
    SapQueueStat stat;

    EXPECT_RC(sap_queue_stat(of, &stat), SAP_OK);
    return stat;
}

static void expect_stat(uint64_t ready, uint64_t leased, uint64_t delayed, uint64_t dead)
{
    SapQueueStat stat = stat_of(queue);

    ck_assert_uint_eq(stat.ready, ready);
    ck_assert_uint_eq(stat.leased, leased);
    ck_assert_uint_eq(stat.delayed, delayed);
    ck_assert_uint_eq(stat.dead_letters, dead);
}

static uint64_t rows_of(uint32_t dbi)
{
    SapStat stat;
    SapTxnCtx *txn = sap_txn_begin(db, NULL, SAP_TXN_RDONLY);

    EXPECT_RC(sap_dbi_stat(txn, dbi, &stat), SAP_OK);
    sap_txn_abort(txn);
    return stat.num_entries;
}

/* ---- Push, claim, ack ----------------------------------------------------------------------- */

START_TEST(messages_come_in_the_order_of_their_push_and_are_gone_after_ack)
{
    expect_none(queue);
    push(queue, "a");
    push(queue, "b");
    push(queue, "");
    SapQueueMessage *a = claim(queue, "a");
    SapQueueMessage *b = claim(queue, "b");
    SapQueueMessage *c = claim(queue, "");
    expect_none(queue);
    expect_stat(0, 3, 0, 0);
    ck_assert_int_eq(sap_queue_ack(queue, b), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, a), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, c), SAP_OK);
    expect_none(queue);
    expect_stat(0, 0, 0, 0);
    ck_assert_uint_eq(rows_of(INBOX), 0);
    ck_assert_uint_eq(rows_of(3), 0);
}
END_TEST

START_TEST(a_claimed_message_has_all_that_was_pushed)
{
    SapQueuePushOptions options = {
        .id = "the id", .id_len = 6, .trace_id = "trace", .trace_id_len = 5};
    uint64_t seq = 0;
    SapQueueMessage *message = NULL;

    ck_assert_int_eq(sap_queue_push(queue, "x", 1, &options, &seq), SAP_OK);
    ck_assert_uint_ne(seq, 0);
    test_time.now_ms += 7;
    ck_assert_int_eq(sap_queue_claim(queue, 500, 0, &message), SAP_OK);
    ck_assert_mem_eq(message->id, "the id", 6);
    ck_assert_uint_eq(message->id_len, 6);
    ck_assert_mem_eq(message->trace_id, "trace", 5);
    ck_assert_uint_eq(message->trace_id_len, 5);
    ck_assert_uint_eq(message->seq, seq);
    ck_assert_uint_eq(message->attempts, 1);
    ck_assert_int_eq(message->sent_ms, START_MS);
    ck_assert_int_eq(message->deadline_ms, START_MS + 507);
    ck_assert_uint_eq(message->claim.token != 0, 1);
    ck_assert_int_eq(sap_queue_ack(queue, message), SAP_OK);

    /* The defaults: an id that is made, no trace, the queue's lease. */
    push(queue, "y");
    push(queue, "z");
    SapQueueMessage *y = claim(queue, "y");
    SapQueueMessage *z = claim(queue, "z");
    ck_assert_ptr_null(y->trace_id);
    ck_assert_uint_eq(y->id_len, 16);
    ck_assert_uint_ne((uint64_t)bytes_compare(y->id, 16, z->id, 16), 0);
    ck_assert_int_eq(y->deadline_ms, test_time.now_ms + 30000);
    sap_queue_release(queue, y);
    sap_queue_release(NULL, z);
    sap_queue_release(queue, NULL);
}
END_TEST

START_TEST(high_priority_comes_before_the_rest)
{
    SapQueuePushOptions high = {.high_priority = 1};

    push(queue, "1");
    ck_assert_int_eq(sap_queue_push(queue, "2", 1, &high, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_push(queue, "3", 1, &high, NULL), SAP_OK);
    const char *order[] = {"2", "3", "1"};
    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_queue_ack(queue, claim(queue, order[i])), SAP_OK);
    }
}
END_TEST

START_TEST(many_are_pushed_claimed_and_acknowledged_at_once)
{
    enum { MANY = 100 };
    const void *payloads[MANY];
    uint32_t lens[MANY];
    uint8_t bytes[MANY];
    SapQueueMessage *messages[MANY];
    uint32_t count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        bytes[i] = (uint8_t)i;
        payloads[i] = &bytes[i];
        lens[i] = 1;
    }
    ck_assert_int_eq(sap_queue_push_many(queue, payloads, lens, MANY, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_push_many(queue, NULL, NULL, 0, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, messages, 30, &count), SAP_OK);
    ck_assert_uint_eq(count, 30);
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, messages + 30, MANY - 30, &count), SAP_OK);
    ck_assert_uint_eq(count, 70);
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_uint_eq(*(const uint8_t *)messages[i]->payload, i);
    }
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, messages, 1, &count), SAP_NOTFOUND);
    ck_assert_uint_eq(count, 70);
    ck_assert_int_eq(sap_queue_ack_many(queue, messages, MANY), SAP_OK);
    ck_assert_int_eq(sap_queue_ack_many(queue, NULL, 0), SAP_OK);
    expect_stat(0, 0, 0, 0);
}
END_TEST

START_TEST(a_push_of_many_with_one_too_long_pushes_none)
{
    const void *payloads[] = {"a", "b", "c"};
    uint32_t lens[] = {1, UINT32_MAX, 1};

    ck_assert_int_eq(sap_queue_push_many(queue, payloads, lens, 3, NULL), SAP_FULL);
    ck_assert_int_eq(sap_queue_push(queue, "a", SAP_RUNNER_V0_MAX_FRAME - 75, NULL, NULL),
                     SAP_FULL);
    expect_none(queue);
}
END_TEST

START_TEST(misuse_is_an_error_and_changes_nothing)
{
    SapQueueMessage *message = NULL;
    SapQueueMessage *none[1] = {NULL};
    uint32_t count = 0;
    const void *payloads[] = {"a", NULL};
    uint32_t lens[] = {1, 1};
    SapQueuePushOptions bad_id = {.id = "x"};
    SapQueuePushOptions bad_len = {.id_len = 1};
    SapQueuePushOptions bad_trace = {.trace_id_len = 1};
    SapQueuePushOptions bad_delay = {.delay_ms = -1};
    SapQueuePushOptions one_id = {.id = "x", .id_len = 1};
    SapQueueStat stat;

    ck_assert_int_eq(sap_queue_push(NULL, "a", 1, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push(queue, NULL, 1, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push(queue, "a", 1, &bad_id, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push(queue, "a", 1, &bad_len, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push(queue, "a", 1, &bad_trace, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push(queue, "a", 1, &bad_delay, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push_many(queue, NULL, lens, 1, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push_many(queue, payloads, NULL, 1, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push_many(queue, payloads, lens, 2, NULL), SAP_ERROR);
    payloads[1] = "b";
    ck_assert_int_eq(sap_queue_push_many(queue, payloads, lens, 2, &one_id), SAP_ERROR);
    ck_assert_int_eq(sap_queue_claim(NULL, 0, 0, &message), SAP_ERROR);
    ck_assert_int_eq(sap_queue_claim(queue, 0, 0, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, NULL, 1, &count), SAP_ERROR);
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, none, 0, &count), SAP_ERROR);
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, none, 1, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_ack(queue, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_ack_many(queue, none, 1), SAP_ERROR);
    ck_assert_int_eq(sap_queue_ack_many(NULL, none, 0), SAP_ERROR);
    ck_assert_int_eq(sap_queue_ack_many(queue, NULL, 1), SAP_ERROR);
    ck_assert_int_eq(sap_queue_ack(NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_fail(NULL, NULL, 1, 0), SAP_ERROR);
    ck_assert_int_eq(sap_queue_put_back(NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_put_back(queue, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_resume(NULL, 1, 1, &message), SAP_ERROR);
    ck_assert_int_eq(sap_queue_resume(queue, 1, 1, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_claim_many(NULL, 0, 0, none, 1, &count), SAP_ERROR);
    ck_assert_int_eq(sap_queue_push_many(NULL, payloads, lens, 1, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_peek(NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_list(NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_list(db, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open(NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open("queue.db", NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open_db(NULL, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open_db(db, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_close(NULL), SAP_OK);
    sap_queue_interrupt(NULL);
    ck_assert_int_eq(sap_queue_touch(queue, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_queue_fail(queue, NULL, 1, 0), SAP_ERROR);
    ck_assert_int_eq(sap_queue_stat(queue, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_stat(NULL, &stat), SAP_ERROR);
    ck_assert_int_eq(sap_queue_peek(queue, NULL, NULL), SAP_ERROR);
    ck_assert_ptr_null(sap_queue_db(NULL));
    ck_assert_int_eq(sap_queue_worker(NULL), -1);
    ck_assert_ptr_eq(sap_queue_db(queue), db);
    expect_stat(0, 0, 0, 0);
    SapQueueOptions contrary = {
        .size = sizeof contrary, .retry_backoff_ms = 11, .retry_backoff_max_ms = 10};
    SapQueue *refused = NULL;
    ck_assert_int_eq(sap_queue_open_db(db, &contrary, &refused), SAP_ERROR);
    ck_assert_ptr_null(refused);
}
END_TEST

/* The end of the test counts what was not freed. */
START_TEST(a_message_is_freed_also_when_its_queue_is_missing)
{
    SapQueueMessage *two[2] = {NULL, NULL};
    uint32_t count = 0;

    push(queue, "a");
    push(queue, "b");
    push(queue, "c");
    push(queue, "d");
    push(queue, "e");
    ck_assert_int_eq(sap_queue_ack(NULL, claim(queue, "a")), SAP_ERROR);
    ck_assert_int_eq(sap_queue_fail(NULL, claim(queue, "b"), 1, 0), SAP_ERROR);
    ck_assert_int_eq(sap_queue_put_back(NULL, claim(queue, "c")), SAP_ERROR);
    two[1] = claim(queue, "d");
    ck_assert_int_eq(sap_queue_ack_many(queue, two, 2), SAP_ERROR);
    two[1] = NULL;
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, two, 2, &count), SAP_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(sap_queue_touch(NULL, two[0], 0), SAP_ERROR);
    ck_assert_int_eq(sap_queue_ack_many(NULL, two, 1), SAP_ERROR);
    expect_stat(0, 5, 0, 0);
}
END_TEST

START_TEST(a_look_at_an_empty_queue_needs_no_writer_lock)
{
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    SapQueueMessage *message = NULL;

    ck_assert_ptr_nonnull(txn);
    expect_none(queue);
    ck_assert_int_eq(sap_queue_claim(queue, 0, 100, &message), SAP_NOTFOUND);
    ck_assert_int_eq(sap_queue_push(queue, "a", 1, NULL, NULL), SAP_BUSY);
    sap_txn_abort(txn);
    push(queue, "a");
    txn = sap_txn_begin(db, NULL, 0);
    ck_assert_int_eq(sap_queue_claim(queue, 0, 0, &message), SAP_BUSY);
    sap_txn_abort(txn);
    message = claim(queue, "a");
    txn = sap_txn_begin(db, NULL, 0);
    expect_none(queue);
    ck_assert_int_eq(sap_queue_touch(queue, message, 0), SAP_BUSY);
    ck_assert_int_eq(sap_queue_fail(queue, message, 1, 0), SAP_BUSY);
    sap_txn_abort(txn);
}
END_TEST

/* ---- Leases --------------------------------------------------------------------------------- */

START_TEST(an_expired_lease_passes_to_the_next_and_its_holder_is_told)
{
    push(queue, "m");
    SapQueueMessage *first = claim(queue, "m");
    SapQueueMessage *copy = NULL;
    test_time.now_ms += 29999;
    expect_none(queue);
    test_time.now_ms += 1;
    expect_stat(1, 0, 0, 0);
    ck_assert_int_eq(sap_queue_claim(queue, 100, 0, &copy), SAP_OK);
    ck_assert_uint_eq(copy->attempts, 2);
    ck_assert_int_eq(sap_queue_touch(queue, first, 0), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_ack(queue, first), SAP_CONFLICT);
    expect_stat(0, 1, 0, 0);
    ck_assert_int_eq(sap_queue_ack(queue, copy), SAP_OK);
    expect_stat(0, 0, 0, 0);
}
END_TEST

START_TEST(touch_renews_the_lease)
{
    push(queue, "m");
    SapQueueMessage *message = claim(queue, "m");
    for (int i = 0; i < 5; i++) {
        test_time.now_ms += 29000;
        expect_none(queue);
        ck_assert_int_eq(sap_queue_touch(queue, message, 0), SAP_OK);
        ck_assert_int_eq(message->deadline_ms, test_time.now_ms + 30000);
    }
    ck_assert_int_eq(sap_queue_touch(queue, message, 10), SAP_OK);
    ck_assert_int_eq(message->deadline_ms, test_time.now_ms + 10);
    test_time.now_ms += 10;
    SapQueueMessage *second = claim(queue, "m");
    ck_assert_int_eq(sap_queue_fail(queue, message, 1, 0), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_ack(queue, second), SAP_OK);
}
END_TEST

START_TEST(ack_of_many_does_those_that_are_still_held)
{
    SapQueueMessage *messages[3];

    push(queue, "a");
    push(queue, "b");
    push(queue, "c");
    messages[0] = claim(queue, "a");
    ck_assert_int_eq(sap_queue_claim(queue, 5, 0, &messages[1]), SAP_OK);
    messages[2] = claim(queue, "c");
    test_time.now_ms += 5;
    SapQueueMessage *b = claim(queue, "b");
    ck_assert_int_eq(sap_queue_ack_many(queue, messages, 3), SAP_CONFLICT);
    expect_stat(0, 1, 0, 0);
    ck_assert_int_eq(sap_queue_ack(queue, b), SAP_OK);
    expect_stat(0, 0, 0, 0);
}
END_TEST

START_TEST(leases_of_another_handle_are_respected_and_taken_over)
{
    SapQueue *other = open_named(NULL);

    ck_assert_int_eq(sap_queue_worker(other), sap_queue_worker(queue));
    push(queue, "a");
    push(queue, "b");
    SapQueueMessage *a = claim(queue, "a");
    SapQueueMessage *b = NULL;
    ck_assert_int_eq(sap_queue_claim(other, 50, 0, &b), SAP_OK);
    ck_assert(says(b, "b"));
    expect_none(queue);
    test_time.now_ms += 49;
    expect_none(queue);
    test_time.now_ms += 1;
    expect_stat(1, 1, 0, 0);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "b")), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(other, b), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_ack(queue, a), SAP_OK);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
}
END_TEST

START_TEST(a_claim_that_waits_finds_what_expired_meanwhile_before_it_gives_up)
{
    SapQueue *other = open_named(NULL);
    SapQueueMessage *held = NULL;
    SapQueueMessage *message = NULL;

    push(queue, "a");
    SapQueueMessage *long_held = claim(queue, "a"); /* this handle has looked at all leases */
    push(queue, "b");
    ck_assert_int_eq(sap_queue_claim(other, 50, 0, &held), SAP_OK);
    ck_assert_int_eq(sap_queue_claim(queue, 0, 49, &message), SAP_NOTFOUND);
    ck_assert_int_eq(sap_queue_claim(queue, 0, 100, &message), SAP_OK);
    ck_assert(says(message, "b"));
    ck_assert_int_eq(sap_queue_ack(queue, message), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(other, held), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_ack(queue, long_held), SAP_OK);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
}
END_TEST

/* ---- Failures ------------------------------------------------------------------------------- */

static int letter_rc;
static uint32_t letter_attempts;

static int note_letter(const SapRunnerV0DeadLetter *letter, void *ctx)
{
    (void)ctx;
    letter_rc = letter->rc;
    letter_attempts = letter->attempts;
    return 0;
}

START_TEST(a_failed_message_goes_to_the_tail_and_at_last_to_the_dead_letters)
{
    push(queue, "bad");
    push(queue, "good");
    SapQueueMessage *message = claim(queue, "bad");
    ck_assert_int_eq(sap_queue_fail(queue, message, SAP_IO, 0), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "good")), SAP_OK);
    for (uint32_t attempt = 2; attempt <= 4; attempt++) {
        message = claim(queue, "bad");
        ck_assert_uint_eq(message->attempts, attempt);
        ck_assert_int_eq(sap_queue_fail(queue, message, 70 + (int)attempt, 0), SAP_OK);
    }
    expect_none(queue);
    expect_stat(0, 0, 0, 1);
    SapTxnCtx *txn = sap_txn_begin(db, NULL, SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_runner_dead_letter_v0_list(txn, 0, 0, note_letter, NULL), SAP_OK);
    sap_txn_abort(txn);
    ck_assert_int_eq(letter_rc, 74);
    ck_assert_uint_eq(letter_attempts, 4);
}
END_TEST

START_TEST(the_retry_budget_is_that_of_the_options)
{
    SapQueueOptions options = test_options("budget");
    SapQueue *strict = NULL;

    options.retry_budget_max = 1;
    options.lease_ms = 77;
    ck_assert_int_eq(sap_queue_open_db(db, &options, &strict), SAP_OK);
    push(strict, "m");
    SapQueueMessage *message = claim(strict, "m");
    ck_assert_int_eq(message->deadline_ms, test_time.now_ms + 77);
    ck_assert_int_eq(sap_queue_fail(strict, message, 5, 100), SAP_OK);
    ck_assert_uint_eq(stat_of(strict).dead_letters, 1);
    expect_stat(0, 0, 0, 0);

    /* An attempt whose lease expired has failed. */
    push(strict, "n");
    sap_queue_release(strict, claim(strict, "n"));
    test_time.now_ms += 77;
    expect_none(strict);
    ck_assert_uint_eq(stat_of(strict).dead_letters, 2);
    ck_assert_int_eq(sap_queue_close(strict), SAP_OK);
}
END_TEST

/* ---- Reports -------------------------------------------------------------------------------- */

/* What the hooks of a queue got. */
static struct {
    uint32_t logged[9];   /* by kind */
    uint32_t replayed[6]; /* by kind */
    SapRunnerV0LogEvent log;
    SapRunnerV0ReplayEvent replay;
    char id[8]; /* of the last log event */
    uint8_t frame[200];
    SapQueue *push_to; /* by the replay hook; NULL: nothing */
} reported;

static void on_log(const SapRunnerV0LogEvent *event, void *ctx)
{
    EXPECT(ctx == &reported, "another context");
    reported.logged[event->kind]++;
    reported.log = *event;
    (void)snprintf(reported.id, sizeof reported.id, "%.*s", (int)event->message_id_len,
                   event->message_id != NULL ? (const char *)event->message_id : "");
}

static void on_replay(const SapRunnerV0ReplayEvent *event, void *ctx)
{
    EXPECT(ctx == &reported, "another context");
    EXPECT(event->frame_len <= sizeof reported.frame, "a long frame");
    reported.replayed[event->kind]++;
    reported.replay = *event;
    memcpy(reported.frame, event->frame, event->frame_len);
    if (reported.push_to != NULL) {
        push(reported.push_to, "from the hook");
    }
}

static SapQueue *open_reporting(const char *name)
{
    SapQueueOptions options = test_options(name);
    SapQueue *opened = NULL;

    memset(&reported, 0, sizeof reported);
    options.log = on_log;
    options.log_ctx = &reported;
    options.replay = on_replay;
    options.replay_ctx = &reported;
    options.retry_budget_max = 2;
    EXPECT_RC(sap_queue_open_db(db, &options, &opened), SAP_OK);
    return opened;
}

static void expect_reports(uint32_t dead, uint32_t requeued, uint32_t timeouts)
{
    ck_assert_uint_eq(reported.logged[SAP_RUNNER_V0_LOG_DEAD_LETTERED], dead);
    ck_assert_uint_eq(reported.replayed[SAP_RUNNER_V0_REPLAY_DEAD_LETTER], dead);
    ck_assert_uint_eq(reported.logged[SAP_RUNNER_V0_LOG_REQUEUED], requeued);
    ck_assert_uint_eq(reported.replayed[SAP_RUNNER_V0_REPLAY_REQUEUE], requeued);
    ck_assert_uint_eq(reported.logged[SAP_RUNNER_V0_LOG_LEASE_TIMEOUT], timeouts);
}

static void push_id(SapQueue *to, const char *id)
{
    SapQueuePushOptions options = {.id = id, .id_len = (uint32_t)strlen(id)};

    EXPECT_RC(sap_queue_push(to, id, options.id_len, &options, NULL), SAP_OK);
}

START_TEST(a_message_that_failed_too_often_is_logged_and_in_the_replay_log)
{
    SapQueue *reporting = open_reporting("r");

    push_id(reporting, "m");
    ck_assert_int_eq(sap_queue_fail(reporting, claim(reporting, "m"), 5, 0), SAP_OK);
    expect_reports(0, 1, 0);
    ck_assert_int_eq(reported.log.rc, 5);
    ck_assert_uint_eq(reported.log.detail, 1);
    SapQueueMessage *message = claim(reporting, "m");
    uint64_t seq = message->seq;
    uint64_t token = message->claim.token;
    ck_assert_int_eq(sap_queue_fail(reporting, message, 74, 0), SAP_OK);
    expect_reports(1, 1, 0);
    ck_assert_int_eq(reported.log.rc, 74);
    ck_assert_uint_eq(reported.log.detail, 2);
    ck_assert_uint_eq(reported.log.seq, seq);
    ck_assert_uint_eq(reported.log.attempt_id, token);
    ck_assert_int_eq(reported.log.worker_id, sap_queue_worker(reporting));
    ck_assert_str_eq(reported.id, "m");
    ck_assert_int_eq(reported.replay.rc, 74);
    ck_assert_uint_eq(reported.replay.seq, seq);
    ck_assert_mem_eq(reported.frame, "LMSG", 4);
    /* One whose lease has passed to another changed nothing, and reports nothing. */
    push_id(reporting, "n");
    message = claim(reporting, "n");
    ck_assert_int_eq(sap_queue_touch(reporting, message, 1), SAP_OK);
    test_time.now_ms += 1;
    SapQueueMessage *again = claim(reporting, "n");
    expect_reports(1, 1, 1);
    ck_assert_int_eq(sap_queue_fail(reporting, message, 5, 0), SAP_CONFLICT);
    expect_reports(1, 1, 1);
    ck_assert_int_eq(sap_queue_ack(reporting, again), SAP_OK);
    expect_reports(1, 1, 1);
    ck_assert_int_eq(sap_queue_close(reporting), SAP_OK);
}
END_TEST

START_TEST(a_message_whose_lease_expired_too_often_is_logged_and_in_the_replay_log)
{
    SapQueue *reporting = open_reporting("r");

    push_id(reporting, "m");
    sap_queue_release(reporting, claim(reporting, "m"));
    test_time.now_ms += 30000;
    sap_queue_release(reporting, claim(reporting, "m"));
    expect_reports(0, 0, 1);
    test_time.now_ms += 30000;
    /* A hook may use the queue. */
    reported.push_to = reporting;
    ck_assert_int_eq(sap_queue_ack(reporting, claim(reporting, "from the hook")), SAP_OK);
    expect_reports(1, 0, 2);
    ck_assert_uint_eq(stat_of(reporting).dead_letters, 1);
    ck_assert_str_eq(reported.id, "m");
    ck_assert_int_eq(reported.log.rc, SAP_BUSY);
    ck_assert_int_eq(sap_queue_close(reporting), SAP_OK);
}
END_TEST

START_TEST(rows_that_are_no_message_are_logged_and_in_the_replay_log)
{
    SapQueue *reporting = open_reporting("r");
    uint8_t key[16];

    store_u64be(key, (uint64_t)sap_queue_worker(reporting));
    store_u64be(key + 8, UINT64_C(1) << 63);
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    ck_assert_int_eq(sap_txn_put_dbi(txn, INBOX, key, sizeof key, "garbage", 7), SAP_OK);
    store_u64be(key, UINT64_C(1) << 63); /* due at 0 */
    store_u64be(key + 8, 77);
    ck_assert_int_eq(sap_txn_put_dbi(txn, TIMERS, key, sizeof key, "rubbish", 7), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    expect_none(reporting);
    expect_reports(2, 0, 0);
    ck_assert_uint_eq(stat_of(reporting).dead_letters, 2);
    ck_assert_int_eq(reported.log.rc, SAP_INVALID);
    ck_assert_str_eq(reported.id, "");
    ck_assert_int_eq(sap_queue_close(reporting), SAP_OK);
}
END_TEST

START_TEST(a_dead_letter_that_no_memory_is_left_to_report_is_not_made)
{
    SapQueue *reporting = open_reporting("r");
    uint32_t refused = 0;

    push_id(reporting, "m");
    sap_queue_release(reporting, claim(reporting, "m"));
    test_time.now_ms += 30000;
    sap_queue_release(reporting, claim(reporting, "m"));
    test_time.now_ms += 30000;
    for (uint32_t n = 1; reported.replayed[SAP_RUNNER_V0_REPLAY_DEAD_LETTER] == 0; n++) {
        SapQueueMessage *message = NULL;
        fault_reset();
        fault_arm_alloc(n);
        int rc = sap_queue_claim(reporting, 0, 0, &message);
        bool fired = fault_fired() > 0;
        fault_reset();
        ck_assert_int_eq(rc, fired ? SAP_NOMEM : SAP_NOTFOUND);
        /* The claim may have gone on after the commit, and failed then. */
        expect_reports((uint32_t)stat_of(reporting).dead_letters, 0,
                       1 + (uint32_t)stat_of(reporting).dead_letters);
        refused += stat_of(reporting).dead_letters == 0;
    }
    ck_assert_uint_gt(refused, 2);
    ck_assert_uint_eq(stat_of(reporting).dead_letters, 1);
    ck_assert_int_eq(sap_queue_close(reporting), SAP_OK);
}
END_TEST

START_TEST(a_message_failed_with_a_delay_comes_back_after_it)
{
    push(queue, "m");
    ck_assert_int_eq(sap_queue_fail(queue, claim(queue, "m"), 5, 200), SAP_OK);
    expect_stat(0, 0, 1, 0);
    test_time.now_ms += 199;
    expect_none(queue);
    test_time.now_ms += 1;
    SapQueueMessage *message = claim(queue, "m");
    ck_assert_uint_eq(message->attempts, 2);
    ck_assert_int_eq(sap_queue_ack(queue, message), SAP_OK);
    expect_stat(0, 0, 0, 0);
}
END_TEST

/* ---- Delays, waiting ------------------------------------------------------------------------ */

static void push_delayed(SapQueue *to, const char *text, int64_t delay_ms)
{
    SapQueuePushOptions options = {.delay_ms = delay_ms};

    EXPECT_RC(sap_queue_push(to, text, (uint32_t)strlen(text), &options, NULL), SAP_OK);
}

START_TEST(a_delayed_message_comes_at_its_time_and_in_its_order)
{
    push_delayed(queue, "late", 500);
    push_delayed(queue, "soon", 100);
    push_delayed(queue, "never", INT64_MAX);
    push(queue, "now");
    expect_stat(1, 0, 3, 0);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "now")), SAP_OK);
    expect_none(queue);
    test_time.now_ms += 500;
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "soon")), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "late")), SAP_OK);
    expect_none(queue);
    expect_stat(0, 0, 1, 0);
}
END_TEST

START_TEST(more_timers_due_than_move_at_once_all_come)
{
    enum { MANY = 700 };
    SapQueueMessage *messages[MANY];
    uint32_t count = 0;

    for (uint32_t i = 0; i < MANY; i++) {
        push_delayed(queue, "m", 10);
    }
    test_time.now_ms += 10;
    ck_assert_int_eq(sap_queue_claim_many(queue, 0, 0, messages, MANY, &count), SAP_OK);
    ck_assert_uint_eq(count, MANY);
    ck_assert_int_eq(sap_queue_ack_many(queue, messages, MANY), SAP_OK);
    expect_stat(0, 0, 0, 0);
}
END_TEST

START_TEST(timers_of_other_queues_go_to_their_inbox_and_those_of_workers_to_the_outbox)
{
    SapQueue *other = open_named("other");
    uint8_t frame[100];
    uint32_t len = 0;
    SapRunnerV0Message msg = {.to_worker = 5, .message_id = "m", .message_id_len = 1};

    ck_assert_int_eq(sap_runner_wire_v0_encode_message(&msg, frame, sizeof frame, &len), 0);
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    ck_assert_int_eq(sap_runner_timer_v0_append(txn, START_MS + 1, frame, len, NULL), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    push_delayed(other, "theirs", 2);
    push_delayed(queue, "ours", 3);
    test_time.now_ms += 3;
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "ours")), SAP_OK);
    expect_none(queue);
    ck_assert_uint_eq(rows_of(TIMERS), 0);
    ck_assert_uint_eq(rows_of(OUTBOX), 1);
    ck_assert_int_eq(sap_queue_ack(other, claim(other, "theirs")), SAP_OK);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
}
END_TEST

START_TEST(a_message_of_a_worker_that_waits_for_its_next_attempt_goes_to_its_inbox_with_its_count)
{
    SapRunnerV0Message msg = {.to_worker = 5, .message_id = "m", .message_id_len = 1};
    SapRunnerV0ClaimOptions options = {
        .size = sizeof options, .worker_id = 5, .owner = 1, .now_ms = test_time.now_ms};
    SapRunnerV0Claim claimed;
    uint32_t count = 0;

    ck_assert_int_eq(sap_runner_v0_send(db, &msg, NULL), SAP_OK);
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    ck_assert_int_eq(sap_runner_mailbox_v0_claim(txn, &options, &claimed, 1, &count, NULL), SAP_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(sap_runner_mailbox_v0_requeue_at(txn, &claimed, START_MS + 1), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    sap_runner_v0_claim_release(&claimed);
    test_time.now_ms += 1;
    expect_none(queue); /* and moves all timers that are due */
    ck_assert_uint_eq(rows_of(TIMERS), 0);
    ck_assert_uint_eq(rows_of(OUTBOX), 0);
    ck_assert_uint_eq(rows_of(INBOX), 1);
    txn = sap_txn_begin(db, NULL, 0);
    options.now_ms = test_time.now_ms;
    ck_assert_int_eq(sap_runner_mailbox_v0_claim(txn, &options, &claimed, 1, &count, NULL), SAP_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(claimed.attempts, 2);
    ck_assert_int_eq(sap_runner_mailbox_v0_ack(txn, &claimed, test_time.now_ms, 0), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    sap_runner_v0_claim_release(&claimed);
    ck_assert_uint_eq(rows_of(5), 0);
}
END_TEST

START_TEST(a_claim_waits_as_long_as_it_was_told_and_no_longer)
{
    SapQueueMessage *message = NULL;

    ck_assert_int_eq(sap_queue_claim(queue, 0, 0, &message), SAP_NOTFOUND);
    ck_assert_uint_eq(test_time.sleeps, 0);
    ck_assert_int_eq(sap_queue_claim(queue, 0, 2505, &message), SAP_NOTFOUND);
    ck_assert_uint_eq(test_time.slept_ms, 2505);
}
END_TEST

START_TEST(a_waiting_claim_ends_when_a_timer_is_due_or_a_lease_expires)
{
    SapQueueMessage *message = NULL;

    push_delayed(queue, "timer", 1234);
    ck_assert_int_eq(sap_queue_claim(queue, 300, 60000, &message), SAP_OK);
    ck_assert(says(message, "timer"));
    ck_assert_uint_eq(test_time.slept_ms, 1234);

    SapQueueMessage *again = NULL;
    ck_assert_int_eq(sap_queue_claim(queue, 0, UINT32_MAX, &again), SAP_OK);
    ck_assert(says(again, "timer"));
    ck_assert_uint_eq(test_time.slept_ms, 1234 + 300);
    ck_assert_int_eq(sap_queue_ack(queue, message), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_ack(queue, again), SAP_OK);
}
END_TEST

static void push_in_sleep(void)
{
    if (test_time.sleeps == 3) {
        push(queue, "found");
    }
}

START_TEST(a_waiting_claim_ends_when_a_message_comes)
{
    SapQueueMessage *message = NULL;

    test_time.on_sleep = push_in_sleep;
    ck_assert_int_eq(sap_queue_claim(queue, 0, UINT32_MAX, &message), SAP_OK);
    ck_assert(says(message, "found"));
    ck_assert_uint_eq(test_time.sleeps, 3);
    ck_assert_int_eq(sap_queue_ack(queue, message), SAP_OK);
}
END_TEST

/* ---- Dedupe --------------------------------------------------------------------------------- */

START_TEST(a_message_of_an_id_that_was_handled_within_a_day_does_not_come)
{
    SapQueuePushOptions options = {.id = "order 1", .id_len = 7, .dedupe = 1};

    ck_assert_int_eq(sap_queue_push(queue, "1", 1, &options, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_push(queue, "2", 1, &options, NULL), SAP_OK);
    push(queue, "other");
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "1")), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "other")), SAP_OK);
    ck_assert_int_eq(sap_queue_push(queue, "3", 1, &options, NULL), SAP_OK);
    expect_none(queue);
    expect_stat(0, 0, 0, 0);
    test_time.now_ms += INT64_C(24) * 3600 * 1000;
    ck_assert_int_eq(sap_queue_push(queue, "4", 1, &options, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "4")), SAP_OK);
}
END_TEST

START_TEST(two_queues_know_nothing_of_each_others_ids)
{
    SapQueuePushOptions options = {.id = "job-1", .id_len = 5, .dedupe = 1};
    SapQueue *other = open_named("other");

    ck_assert_int_eq(sap_queue_push(queue, "one", 3, &options, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "one")), SAP_OK);
    ck_assert_int_eq(sap_queue_push(other, "two", 3, &options, NULL), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(other, claim(other, "two")), SAP_OK);
    ck_assert_int_eq(sap_queue_push(other, "three", 5, &options, NULL), SAP_OK);
    expect_none(other);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
}
END_TEST

static int attempts_are(const SapQueueMessage *message, int leased, void *ctx)
{
    ck_assert_int_eq(leased, 0);
    ck_assert_uint_eq(message->attempts, *(uint32_t *)ctx);
    return 0;
}

START_TEST(messages_of_one_id_in_two_queues_have_budgets_of_their_own)
{
    SapQueuePushOptions options = {.id = "job-1", .id_len = 5};
    SapQueue *other = open_named("other");
    uint32_t failed = 0;

    ck_assert_int_eq(sap_queue_push(queue, "poison", 6, &options, NULL), SAP_OK);
    for (uint32_t attempt = 1; attempt <= 4; attempt++) {
        SapQueueMessage *message = claim(queue, "poison");
        ck_assert_uint_eq(message->attempts, attempt);
        ck_assert_int_eq(sap_queue_fail(queue, message, 5, 0), SAP_OK);
        /* Neither do its failures count there, nor do successes there make it anew. */
        ck_assert_int_eq(sap_queue_push(other, "fine", 4, &options, NULL), SAP_OK);
        failed = 0;
        ck_assert_int_eq(sap_queue_peek(other, attempts_are, &failed), SAP_OK);
        ck_assert_int_eq(sap_queue_fail(other, claim(other, "fine"), 5, 0), SAP_OK);
        failed = 1;
        ck_assert_int_eq(sap_queue_peek(other, attempts_are, &failed), SAP_OK);
        ck_assert_int_eq(sap_queue_ack(other, claim(other, "fine")), SAP_OK);
    }
    expect_stat(0, 0, 0, 1);
    ck_assert_uint_eq(stat_of(other).dead_letters, 0);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
}
END_TEST

START_TEST(messages_of_one_id_in_one_queue_have_budgets_of_their_own)
{
    SapQueuePushOptions options = {.id = "job-1", .id_len = 5};
    int64_t delay_ms = _i == 0 ? -1 : 50;

    ck_assert_int_eq(sap_queue_push(queue, "poison", 6, &options, NULL), SAP_OK);
    for (uint32_t attempt = 1; attempt <= 4; attempt++) {
        SapQueueMessage *message = claim(queue, "poison");
        ck_assert_uint_eq(message->attempts, attempt);
        ck_assert_int_eq(sap_queue_push(queue, "fine", 4, &options, NULL), SAP_OK);
        SapQueueMessage *other = claim(queue, "fine");
        ck_assert_uint_eq(other->attempts, 1);
        ck_assert_int_eq(sap_queue_fail(queue, message, 5, delay_ms), SAP_OK);
        /* A success of the same id does not renew the budget of the one that fails. */
        ck_assert_int_eq(sap_queue_ack(queue, other), SAP_OK);
        test_time.now_ms += 50;
    }
    expect_stat(0, 0, 0, 1);
    ck_assert_uint_eq(rows_of(5), 0);
}
END_TEST

START_TEST(ids_that_are_remembered_do_not_pile_up)
{
    enum { DAY_MS = 24 * 3600 * 1000, EACH = 50 };
    uint64_t most = 0;

    for (uint32_t day = 0; day < 5; day++) {
        for (uint32_t i = 0; i < EACH; i++) {
            char id[20];
            int len = snprintf(id, sizeof id, "%u.%u", day, i);
            SapQueuePushOptions options = {.id = id, .id_len = (uint32_t)len, .dedupe = 1};
            ck_assert_int_eq(sap_queue_push(queue, "m", 1, &options, NULL), SAP_OK);
            ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "m")), SAP_OK);
            most = rows_of(5) > most ? rows_of(5) : most;
        }
        test_time.now_ms += 2 * (int64_t)DAY_MS;
    }
    printf("%d ids in each of 5 days, at most %" PRIu64 " remembered\n", EACH, most);
    ck_assert_uint_ge(most, EACH);
    ck_assert_uint_le(most, EACH + 2);
}
END_TEST

/* ---- Looking -------------------------------------------------------------------------------- */

typedef struct Seen {
    char text[100];
    int stop_after; /* 0: never */
    int count;
} Seen;

static int note_seen(const SapQueueMessage *message, int leased, void *ctx)
{
    Seen *seen = ctx;
    size_t at = strlen(seen->text);

    snprintf(seen->text + at, sizeof seen->text - at, "%.*s%s%u ", (int)message->payload_len,
             (const char *)message->payload, leased ? "+" : "-", message->attempts);
    return ++seen->count == seen->stop_after ? 42 : 0;
}

START_TEST(peek_and_stat_say_what_there_is_and_claim_nothing)
{
    SapQueue *other = open_named("other");
    Seen all = {.text = ""};
    Seen two = {.text = "", .stop_after = 2};
    Seen later = {.text = ""};
    SapQueueMessage *a = NULL;

    push(other, "theirs");
    push(queue, "a");
    push(queue, "b");
    test_time.now_ms += 10;
    push(queue, "c");
    ck_assert_int_eq(stat_of(queue).oldest_ms, START_MS);
    ck_assert_int_eq(sap_queue_claim(queue, 50, 0, &a), SAP_OK);
    ck_assert_int_eq(sap_queue_fail(queue, claim(queue, "b"), 1, 0), SAP_OK);
    ck_assert_int_eq(sap_queue_peek(queue, note_seen, &all), SAP_OK);
    ck_assert_str_eq(all.text, "a+1 c-0 b-1 ");
    ck_assert_int_eq(sap_queue_peek(queue, note_seen, &two), 42);
    ck_assert_str_eq(two.text, "a+1 c-0 ");
    ck_assert_int_eq(stat_of(queue).oldest_ms, START_MS + 10);
    expect_stat(2, 1, 0, 0);
    test_time.now_ms += 50;
    expect_stat(3, 0, 0, 0);
    ck_assert_int_eq(stat_of(queue).oldest_ms, START_MS);
    ck_assert_int_eq(sap_queue_peek(queue, note_seen, &later), SAP_OK);
    ck_assert_str_eq(later.text, "a-1 c-0 b-1 ");
    ck_assert_int_eq(sap_queue_ack(queue, a), SAP_OK);
    ck_assert_uint_eq(stat_of(other).ready, 1);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
}
END_TEST

START_TEST(a_row_that_is_no_frame_ends_among_the_dead_letters)
{
    uint8_t key[16];
    Seen seen = {.text = ""};

    store_u64be(key, (uint64_t)sap_queue_worker(queue));
    store_u64be(key + 8, 1);
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    ck_assert_int_eq(sap_txn_put_dbi(txn, INBOX, key, sizeof key, "junk", 4), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    push(queue, "m");
    ck_assert_int_eq(sap_queue_peek(queue, note_seen, &seen), SAP_OK);
    ck_assert_str_eq(seen.text, "-0 m-0 ");
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "m")), SAP_OK);
    expect_stat(0, 0, 0, 1);
}
END_TEST

/* ---- Names ---------------------------------------------------------------------------------- */

START_TEST(a_name_stands_for_one_worker_and_queues_do_not_mix)
{
    char longest[257];
    SapQueueOptions options;
    SapQueue *refused = NULL;

    memset(longest, 'n', sizeof longest);
    longest[255] = '\0';
    SapQueue *a = open_named("a");
    SapQueue *again = open_named("a");
    SapQueue *b = open_named(longest);
    SapQueue *plain = open_named("default");
    ck_assert_int_eq(sap_queue_worker(a), sap_queue_worker(again));
    ck_assert_int_eq(sap_queue_worker(plain), sap_queue_worker(queue));
    ck_assert_int_ne(sap_queue_worker(a), sap_queue_worker(b));
    ck_assert_int_ne(sap_queue_worker(a), sap_queue_worker(queue));
    ck_assert_int_gt(sap_queue_worker(a), INT64_C(1) << 32);
    push(a, "for a");
    push(b, "for b");
    expect_none(queue);
    ck_assert_int_eq(sap_queue_ack(again, claim(again, "for a")), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(b, claim(b, "for b")), SAP_OK);

    longest[255] = 'n';
    longest[256] = '\0';
    options = test_options(longest);
    ck_assert_int_eq(sap_queue_open_db(db, &options, &refused), SAP_ERROR);
    options = test_options("");
    ck_assert_int_eq(sap_queue_open_db(db, &options, &refused), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open_db(NULL, NULL, &refused), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open_db(db, NULL, NULL), SAP_ERROR);
    ck_assert_ptr_null(refused);
    ck_assert_int_eq(sap_queue_close(a), SAP_OK);
    ck_assert_int_eq(sap_queue_close(again), SAP_OK);
    ck_assert_int_eq(sap_queue_close(b), SAP_OK);
    ck_assert_int_eq(sap_queue_close(plain), SAP_OK);
    ck_assert_int_eq(sap_queue_close(NULL), SAP_OK);
}
END_TEST

START_TEST(close_with_a_transaction_open_in_its_file_closes_nothing)
{
    FileBed bed;
    SapQueue *in_file = NULL;

    file_bed_start(&bed);
    ck_assert_int_eq(sap_queue_open(bed.path, NULL, &in_file), SAP_OK);
    push(in_file, "m");
    SapTxnCtx *txn = sap_txn_begin(sap_queue_db(in_file), NULL, SAP_TXN_RDONLY);
    ck_assert_int_eq(sap_queue_close(in_file), SAP_BUSY);
    sap_txn_abort(txn);
    SapQueueMessage *message = claim(in_file, "m");
    ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);
    ck_assert(says(message, "m"));
    sap_queue_release(NULL, message);
    file_bed_end(&bed);
}
END_TEST

/* ---- Files ---------------------------------------------------------------------------------- */

START_TEST(a_queue_in_a_file_is_found_again_as_it_was)
{
    FileBed bed;
    SapQueueOptions options = test_options("jobs");
    SapQueue *in_file = NULL;

    file_bed_start(&bed);
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_OK);
    int64_t worker = sap_queue_worker(in_file);
    push(in_file, "acked");
    push(in_file, "leased");
    push(in_file, "waiting");
    push_delayed(in_file, "delayed", 100);
    ck_assert_int_eq(sap_queue_ack(in_file, claim(in_file, "acked")), SAP_OK);
    sap_queue_release(in_file, claim(in_file, "leased"));
    ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);

    options.file = &(SapOpenOptions){0};
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_OK);
    ck_assert_int_eq(sap_queue_worker(in_file), worker);
    ck_assert_int_eq(sap_queue_ack(in_file, claim(in_file, "waiting")), SAP_OK);
    expect_none(in_file);
    test_time.now_ms += 100;
    ck_assert_int_eq(sap_queue_ack(in_file, claim(in_file, "delayed")), SAP_OK);
    test_time.now_ms += 30000;
    ck_assert_int_eq(sap_queue_ack(in_file, claim(in_file, "leased")), SAP_OK);
    expect_none(in_file);
    ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

START_TEST(open_answers_as_the_file_does)
{
    FileBed bed;
    SapQueueOptions options = test_options(NULL);
    SapQueue *in_file = NULL;
    SapQueue *second = NULL;

    file_bed_start(&bed);
    options.file = &(SapOpenOptions){0};
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_NOTFOUND);
    ck_assert_int_eq(sap_queue_open(NULL, NULL, &in_file), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open(bed.path, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_open(bed.path, NULL, &in_file), SAP_OK);
    ck_assert_int_eq(sap_queue_open(bed.path, NULL, &second), SAP_BUSY);

    /* Tables of another version. */
    SapTxnCtx *txn = sap_txn_begin(sap_queue_db(in_file), NULL, 0);
    ck_assert_int_eq(sap_txn_put(txn, SAP_RUNNER_V0_SCHEMA_KEY, 21, "RSV0\7\0\0\0", 8), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);
    ck_assert_int_eq(sap_queue_open(bed.path, NULL, &second), SAP_CONFLICT);
    /* It is closed again: nothing keeps the file. */
    SapEnv *file = file_bed_open(&bed);
    file_bed_close(file);
    ck_assert_ptr_null(second);
    file_bed_end(&bed);
}
END_TEST

static bool ordinary_reader_sees(SapEnv *env, uint64_t worker, uint64_t seq)
{
    uint8_t key[16];
    SapTxnCtx *txn = sap_txn_begin(env, NULL, SAP_TXN_RDONLY);

    store_u64be(key, worker);
    store_u64be(key + 8, seq);
    int rc = sap_txn_get_dbi(txn, INBOX, key, sizeof key, NULL, NULL);
    sap_txn_abort(txn);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    return rc == SAP_OK;
}

START_TEST(no_message_is_handed_out_before_its_push_is_durable)
{
    FileBed bed;
    SapQueueOptions options = test_options(NULL);
    SapQueue *in_file = NULL;
    SapQueuePushOptions no_wait = {.no_wait = 1};
    uint32_t early = 0;

    file_bed_start(&bed);
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_OK);
    for (uint32_t i = 0; i < 300; i++) {
        uint64_t seq = 0;
        SapQueueMessage *message = NULL;
        ck_assert_int_eq(sap_queue_push(in_file, "m", 1, &no_wait, &seq), SAP_OK);
        early +=
            !ordinary_reader_sees(sap_queue_db(in_file), (uint64_t)sap_queue_worker(in_file), seq);
        ck_assert_int_eq(sap_queue_claim(in_file, 0, 0, &message), SAP_OK);
        ck_assert_uint_eq(message->seq, seq);
        ck_assert(
            ordinary_reader_sees(sap_queue_db(in_file), (uint64_t)sap_queue_worker(in_file), seq));
        ck_assert_int_eq(sap_queue_ack(in_file, message), SAP_OK);
    }
    printf("%u of 300 pushes were not durable when they returned\n", early);
    ck_assert_uint_gt(early, 0);
    ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

START_TEST(a_file_without_syncs_does_not_wait_for_the_disk)
{
    static const SapSyncMode modes[] = {SAP_SYNC_PERIODIC, SAP_SYNC_NONE};

    for (size_t i = 0; i < 2; i++) {
        FileBed bed;
        SapQueueOptions options = test_options(NULL);
        SapQueue *in_file = NULL;
        SapOpenOptions file = {
            .flags = SAP_OPEN_CREATE, .sync_mode = modes[i], .sync_period_ms = 3600000};

        options.file = &file;
        file_bed_start(&bed);
        ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_OK);
        uint64_t before = sap_db_durable_lsn(sap_queue_db(in_file));
        for (uint32_t n = 0; n < 200; n++) {
            push(in_file, "m");
            ck_assert_int_eq(sap_queue_ack(in_file, claim(in_file, "m")), SAP_OK);
        }
        ck_assert_uint_eq(sap_db_durable_lsn(sap_queue_db(in_file)), before);
        ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);
        file_bed_end(&bed);
    }
}
END_TEST

START_TEST(when_the_disk_fails_every_call_says_so)
{
    FileBed bed;
    SapQueueOptions options = test_options(NULL);
    SapQueue *in_file = NULL;
    SapQueueMessage *message = NULL;
    SapQueueMessage *none = NULL;

    file_bed_start(&bed);
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_OK);
    push(in_file, "a");
    push(in_file, "b");
    message = claim(in_file, "a");
    ck_assert_int_eq(sap_db_sync(sap_queue_db(in_file)), SAP_OK);
    fault_reset();
    fault_arm_io_from(1, 5);
    ck_assert_int_eq(sap_queue_push(in_file, "c", 1, NULL, NULL), SAP_IO);
    ck_assert_int_eq(sap_queue_claim(in_file, 0, 1000, &none), SAP_IO);
    ck_assert_int_eq(sap_queue_touch(in_file, message, 0), SAP_IO);
    ck_assert_int_eq(sap_queue_ack(in_file, message), SAP_IO);
    ck_assert_int_eq(sap_queue_close(in_file), SAP_IO);
    fault_reset();
    ck_assert_int_eq(sap_queue_open(bed.path, &options, &in_file), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(in_file, claim(in_file, "b")), SAP_OK);
    ck_assert_int_eq(sap_queue_close(in_file), SAP_OK);
    file_bed_end(&bed);
}
END_TEST

/* ---- No memory ------------------------------------------------------------------------------ */

/* What a round does; each answer but SAP_OK is SAP_NOMEM, and the state is then as before. */
static uint64_t with_each_allocation_failed(const char *what, int (*call)(void))
{
    uint64_t faults = 0;

    for (uint64_t nth = 1;; nth++) {
        SapQueueStat before = stat_of(queue);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = call();
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT(rc == SAP_OK || (fired && rc == SAP_NOMEM), "%s answered %d at fault %" PRIu64, what,
               rc, nth);
        SapQueueStat after = stat_of(queue);
        EXPECT(rc == SAP_OK || (before.ready == after.ready && before.leased == after.leased &&
                                before.delayed == after.delayed),
               "%s changed something at fault %" PRIu64, what, nth);
        if (!fired) {
            break;
        }
        faults++;
    }
    printf("%s: %" PRIu64 " allocations failed\n", what, faults);
    return faults;
}

static int call_push(void)
{
    return sap_queue_push(queue, "m", 1, NULL, NULL);
}

static int call_push_many(void)
{
    const void *payloads[] = {"a", "b", "c"};
    uint32_t lens[] = {1, 1, 1};

    return sap_queue_push_many(queue, payloads, lens, 3, NULL);
}

static int call_push_delayed(void)
{
    return sap_queue_push(queue, "m", 1, &(SapQueuePushOptions){.delay_ms = 5}, NULL);
}

static int call_claim(void)
{
    SapQueueMessage *message = NULL;
    int rc = sap_queue_claim(queue, 0, 0, &message);

    if (rc == SAP_OK) {
        sap_queue_release(queue, message);
    }
    return rc;
}

static int call_claim_many(void)
{
    SapQueueMessage *messages[40];
    uint32_t count = 0;
    int rc = sap_queue_claim_many(queue, 1, 0, messages, 40, &count);

    for (uint32_t i = 0; i < count; i++) {
        sap_queue_release(queue, messages[i]);
    }
    return rc;
}

static SapQueueMessage *held;

/* Fails to the end: the message is freed in any case, and claimed again by its expiry. */
static int call_ack(void)
{
    return sap_queue_ack(queue, held);
}

static int call_resume(void)
{
    SapQueueMessage *again = NULL;
    int rc = sap_queue_resume(queue, held->seq, held->claim.token, &again);

    sap_queue_release(queue, again);
    return rc;
}

static int call_touch(void)
{
    return sap_queue_touch(queue, held, 0);
}

START_TEST(every_call_survives_every_allocation_that_fails)
{
    uint64_t faults = with_each_allocation_failed("push", call_push);

    faults += with_each_allocation_failed("push_many", call_push_many);
    faults += with_each_allocation_failed("push delayed", call_push_delayed);
    faults += with_each_allocation_failed("claim", call_claim);
    for (uint32_t i = 0; i < 50; i++) {
        push(queue, "more");
    }
    faults += with_each_allocation_failed("claim_many", call_claim_many);
    test_time.now_ms += 100000; /* all leases have expired, the timer is due */
    faults += with_each_allocation_failed("claim_many after a while", call_claim_many);
    push(queue, "held");
    test_time.now_ms += 100000;
    EXPECT_RC(sap_queue_claim(queue, 0, 0, &held), SAP_OK);
    faults += with_each_allocation_failed("touch", call_touch);
    faults += with_each_allocation_failed("resume", call_resume);
    EXPECT_RC(sap_queue_ack(queue, held), SAP_OK);
    for (uint64_t nth = 1;; nth++) {
        push(queue, "to ack");
        EXPECT_RC(sap_queue_claim(queue, 0, 0, &held), SAP_OK);
        fault_reset();
        fault_arm_alloc(nth);
        int rc = call_ack();
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT(rc == SAP_OK || (fired && rc == SAP_NOMEM), "ack answered %d", rc);
        if (!fired) {
            break;
        }
        faults++;
    }
    ck_assert_uint_gt(faults, 40);
}
END_TEST

static int call_open(void)
{
    SapQueueOptions options = test_options("fresh");
    SapQueue *opened = NULL;
    SapEnv *fresh = sap_db_open(NULL, 0, NULL, NULL);

    if (fresh == NULL) {
        return SAP_NOMEM;
    }
    int rc = sap_queue_open_db(fresh, &options, &opened);
    if (rc == SAP_OK) {
        EXPECT_RC(sap_queue_close(opened), SAP_OK);
    }
    EXPECT_RC(sap_db_close(fresh), SAP_OK);
    return rc;
}

START_TEST(open_survives_every_allocation_that_fails)
{
    ck_assert_uint_gt(with_each_allocation_failed("open", call_open), 5);
}
END_TEST

/* ---- Claims that are taken up again --------------------------------------------------------- */

START_TEST(a_claim_is_taken_up_again_by_number_and_token)
{
    SapQueueMessage *again = NULL;
    SapQueue *other = open_named(NULL);

    push(queue, "a");
    SapQueueMessage *a = claim(queue, "a");
    uint64_t seq = a->seq;
    uint64_t token = a->claim.token;
    sap_queue_release(queue, a);
    ck_assert_int_eq(sap_queue_resume(other, seq, token + 1, &again), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_resume(other, seq + 1, token, &again), SAP_CONFLICT);
    ck_assert_ptr_null(again);

    ck_assert_int_eq(sap_queue_resume(other, seq, token, &again), SAP_OK);
    ck_assert(says(again, "a"));
    ck_assert_uint_eq(again->seq, seq);
    ck_assert_uint_eq(again->attempts, 1);
    ck_assert_int_eq(again->sent_ms, START_MS);
    ck_assert_int_eq(again->deadline_ms, START_MS + 30000);
    ck_assert_int_eq(sap_queue_touch(other, again, 60000), SAP_OK);
    sap_queue_release(other, again);
    test_time.now_ms += 31000;
    expect_none(queue);
    ck_assert_int_eq(sap_queue_resume(other, seq, token, &again), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(other, again), SAP_OK);
    expect_stat(0, 0, 0, 0);
    ck_assert_int_eq(sap_queue_resume(other, seq, token, &again), SAP_CONFLICT);

    /* One that has passed to another is not to be had. */
    push(queue, "b");
    SapQueueMessage *b = claim(queue, "b");
    test_time.now_ms += 30000;
    SapQueueMessage *taken = claim(other, "b");
    ck_assert_int_eq(sap_queue_resume(queue, b->seq, b->claim.token, &again), SAP_CONFLICT);
    ck_assert_int_eq(sap_queue_resume(queue, taken->seq, taken->claim.token, &again), SAP_OK);
    ck_assert_int_eq(sap_queue_fail(queue, again, SAP_BUSY, 0), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(other, taken), SAP_CONFLICT);
    sap_queue_release(queue, b);
    ck_assert_int_eq(sap_queue_close(other), SAP_OK);
    ck_assert_int_eq(sap_queue_resume(NULL, 1, 1, &again), SAP_ERROR);
    ck_assert_int_eq(sap_queue_resume(queue, 1, 1, NULL), SAP_ERROR);
}
END_TEST

START_TEST(a_message_that_is_put_back_is_first_again_and_was_not_tried)
{
    push(queue, "a");
    push(queue, "b");
    /* The failure before counts, however often it is put back. */
    ck_assert_int_eq(sap_queue_fail(queue, claim(queue, "a"), SAP_BUSY, 0), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, claim(queue, "b")), SAP_OK);
    push(queue, "c");
    for (int i = 0; i < 9; i++) {
        SapQueueMessage *a = claim(queue, "a");
        ck_assert_uint_eq(a->attempts, 2);
        ck_assert_int_eq(sap_queue_put_back(queue, a), SAP_OK);
        expect_stat(2, 0, 0, 0);
    }
    SapQueueMessage *late = claim(queue, "a");
    test_time.now_ms += 30000;
    SapQueueMessage *a = claim(queue, "a");
    ck_assert_uint_eq(a->attempts, 3);
    ck_assert_int_eq(sap_queue_put_back(queue, late), SAP_CONFLICT);
    expect_stat(1, 1, 0, 0);
    ck_assert_int_eq(sap_queue_ack(queue, a), SAP_OK);
    ck_assert_int_eq(sap_queue_put_back(queue, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_queue_put_back(NULL, claim(queue, "c")), SAP_ERROR);
}
END_TEST

START_TEST(a_push_of_many_tells_the_number_of_each)
{
    const void *payloads[] = {"a", "b", "c"};
    const uint32_t lens[] = {1, 1, 1};
    uint64_t seqs[3] = {0};
    SapQueuePushOptions options = {.seqs = seqs};

    ck_assert_int_eq(sap_queue_push_many(queue, payloads, lens, 3, &options), SAP_OK);
    for (uint32_t i = 0; i < 3; i++) {
        SapQueueMessage *message = claim(queue, payloads[i]);
        ck_assert_uint_eq(message->seq, seqs[i]);
        ck_assert_int_eq(sap_queue_ack(queue, message), SAP_OK);
    }
}
END_TEST

START_TEST(an_interrupted_queue_lets_nobody_wait_and_still_gives_what_there_is)
{
    SapQueueMessage *message = NULL;

    sap_queue_interrupt(queue);
    ck_assert_int_eq(sap_queue_claim(queue, 0, UINT32_MAX, &message), SAP_NOTFOUND);
    ck_assert_uint_eq(test_time.slept_ms, 0);
    push(queue, "a");
    ck_assert_int_eq(sap_queue_claim(queue, 0, UINT32_MAX, &message), SAP_OK);
    ck_assert_int_eq(sap_queue_ack(queue, message), SAP_OK);
}
END_TEST

typedef struct Names {
    char text[200];
    uint32_t count;
    uint32_t stop_at; /* 0: never */
} Names;

static int note_name(const char *name, int64_t worker, void *ctx)
{
    Names *names = ctx;
    size_t len = strlen(names->text);

    EXPECT(worker > UINT32_MAX, "worker %" PRId64, worker);
    (void)snprintf(names->text + len, sizeof names->text - len, "%s ", name);
    return ++names->count == names->stop_at ? SAP_NOTFOUND : 0;
}

START_TEST(the_queues_of_a_db_are_listed_by_name)
{
    Names names = {0};
    Names some = {.stop_at = 2};
    SapEnv *plain = sap_db_open(NULL, 0, NULL, NULL);
    static const char *const more[] = {"zebra", "apple", "mango"};

    for (size_t i = 0; i < 3; i++) {
        ck_assert_int_eq(sap_queue_close(open_named(more[i])), SAP_OK);
    }
    ck_assert_int_eq(sap_queue_list(db, note_name, &names), SAP_OK);
    ck_assert_str_eq(names.text, "apple default mango zebra ");
    ck_assert_int_eq(sap_queue_list(db, note_name, &some), SAP_NOTFOUND);
    ck_assert_str_eq(some.text, "apple default ");
    ck_assert_int_eq(sap_queue_list(plain, note_name, &names), SAP_OK);
    ck_assert_uint_eq(names.count, 4);
    ck_assert_int_eq(sap_queue_list(NULL, note_name, &names), SAP_ERROR);
    ck_assert_int_eq(sap_db_close(plain), SAP_OK);
}
END_TEST

START_TEST(a_row_that_no_queue_has_written_is_no_queue)
{
    SapQueueOptions options = test_options("x");
    SapQueue *refused = NULL;
    Names names = {0};
    char long_key[300];
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);

    memset(long_key, 'n', sizeof long_key);
    memcpy(long_key, "queue.name.", 11);
    ck_assert_int_eq(sap_txn_put(txn, "queue.name.x", 12, "\0\0\0\0\0\0\0\1", 8), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, "queue.name.y", 12, "text", 4), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, "queue.name.", 11, "\0\0\0\1\0\0\0\1", 8), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, long_key, sizeof long_key, "\0\0\0\1\0\0\0\1", 8), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_queue_open_db(db, &options, &refused), SAP_EXISTS);
    options = test_options("y");
    ck_assert_int_eq(sap_queue_open_db(db, &options, &refused), SAP_EXISTS);
    ck_assert_ptr_null(refused);
    ck_assert_int_eq(sap_queue_list(db, note_name, &names), SAP_OK);
    ck_assert_str_eq(names.text, "default ");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/queue");
    TCase *tcase = tcase_create("queue");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, messages_come_in_the_order_of_their_push_and_are_gone_after_ack);
    tcase_add_test(tcase, a_claimed_message_has_all_that_was_pushed);
    tcase_add_test(tcase, high_priority_comes_before_the_rest);
    tcase_add_test(tcase, many_are_pushed_claimed_and_acknowledged_at_once);
    tcase_add_test(tcase, a_push_of_many_with_one_too_long_pushes_none);
    tcase_add_test(tcase, misuse_is_an_error_and_changes_nothing);
    tcase_add_test(tcase, a_message_is_freed_also_when_its_queue_is_missing);
    tcase_add_test(tcase, a_look_at_an_empty_queue_needs_no_writer_lock);
    tcase_add_test(tcase, an_expired_lease_passes_to_the_next_and_its_holder_is_told);
    tcase_add_test(tcase, touch_renews_the_lease);
    tcase_add_test(tcase, a_claim_is_taken_up_again_by_number_and_token);
    tcase_add_test(tcase, a_message_that_is_put_back_is_first_again_and_was_not_tried);
    tcase_add_test(tcase, a_push_of_many_tells_the_number_of_each);
    tcase_add_test(tcase, an_interrupted_queue_lets_nobody_wait_and_still_gives_what_there_is);
    tcase_add_test(tcase, the_queues_of_a_db_are_listed_by_name);
    tcase_add_test(tcase, ack_of_many_does_those_that_are_still_held);
    tcase_add_test(tcase, leases_of_another_handle_are_respected_and_taken_over);
    tcase_add_test(tcase, a_claim_that_waits_finds_what_expired_meanwhile_before_it_gives_up);
    tcase_add_test(tcase, a_failed_message_goes_to_the_tail_and_at_last_to_the_dead_letters);
    tcase_add_test(tcase, the_retry_budget_is_that_of_the_options);
    tcase_add_test(tcase, a_message_failed_with_a_delay_comes_back_after_it);
    tcase_add_test(tcase, a_message_that_failed_too_often_is_logged_and_in_the_replay_log);
    tcase_add_test(tcase, a_message_whose_lease_expired_too_often_is_logged_and_in_the_replay_log);
    tcase_add_test(tcase, rows_that_are_no_message_are_logged_and_in_the_replay_log);
    tcase_add_test(tcase, a_dead_letter_that_no_memory_is_left_to_report_is_not_made);
    tcase_add_test(tcase, a_delayed_message_comes_at_its_time_and_in_its_order);
    tcase_add_test(tcase, more_timers_due_than_move_at_once_all_come);
    tcase_add_test(tcase,
                   timers_of_other_queues_go_to_their_inbox_and_those_of_workers_to_the_outbox);
    tcase_add_test(
        tcase,
        a_message_of_a_worker_that_waits_for_its_next_attempt_goes_to_its_inbox_with_its_count);
    tcase_add_test(tcase, a_claim_waits_as_long_as_it_was_told_and_no_longer);
    tcase_add_test(tcase, a_waiting_claim_ends_when_a_timer_is_due_or_a_lease_expires);
    tcase_add_test(tcase, a_waiting_claim_ends_when_a_message_comes);
    tcase_add_test(tcase, a_message_of_an_id_that_was_handled_within_a_day_does_not_come);
    tcase_add_test(tcase, two_queues_know_nothing_of_each_others_ids);
    tcase_add_test(tcase, messages_of_one_id_in_two_queues_have_budgets_of_their_own);
    tcase_add_loop_test(tcase, messages_of_one_id_in_one_queue_have_budgets_of_their_own, 0, 2);
    tcase_add_test(tcase, ids_that_are_remembered_do_not_pile_up);
    tcase_add_test(tcase, peek_and_stat_say_what_there_is_and_claim_nothing);
    tcase_add_test(tcase, a_row_that_is_no_frame_ends_among_the_dead_letters);
    tcase_add_test(tcase, a_name_stands_for_one_worker_and_queues_do_not_mix);
    tcase_add_test(tcase, a_row_that_no_queue_has_written_is_no_queue);
    tcase_add_test(tcase, close_with_a_transaction_open_in_its_file_closes_nothing);
    tcase_add_test(tcase, a_queue_in_a_file_is_found_again_as_it_was);
    tcase_add_test(tcase, open_answers_as_the_file_does);
    tcase_add_test(tcase, no_message_is_handed_out_before_its_push_is_durable);
    tcase_add_test(tcase, a_file_without_syncs_does_not_wait_for_the_disk);
    tcase_add_test(tcase, when_the_disk_fails_every_call_says_so);
    tcase_add_test(tcase, every_call_survives_every_allocation_that_fails);
    tcase_add_test(tcase, open_survives_every_allocation_that_fails);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
