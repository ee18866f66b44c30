/* Real deaths of a process that pushes, claims, fails and acknowledges from several threads, at any
 * moment. After each: what was acknowledged as pushed is there unless its ack had begun, what was
 * handed to a consumer too, what was acknowledged as done is gone, and nothing is there twice.
 *
 * SAP_KILLS says how many deaths; SAP_TEST_SEED decides the options and the moments. */
#include "common/bytes.h"
#include "common/clock.h"
#include "common/config.h"
#include "common/random.h"
#include "sapling/queue.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    KILLS = 24,
    KILLS_PER_FILE = 8,
    MAX_PAIRS = 3, /* producers, and as many consumers */
    MESSAGES = 1 << 20,
    INBOX = 1,
    TIMERS = 4,
    LEASE_MS = 40,

    /* What is known of a message. */
    PUSH_BEGUN = 1,
    PUSHED = 2,    /* and acknowledged */
    DELIVERED = 4, /* at least once */
    ACK_BEGUN = 8,
    ACKED = 16,
};

/* What outlives the child. */
typedef struct Shared {
    atomic_uint opened;
    atomic_uint next; /* number of the next message */
    atomic_uchar state[MESSAGES];
} Shared;

typedef struct Life {
    FileBed bed;
    Shared *shared;
    uint64_t seed;
    uint32_t pairs;
    SapQueue *queue;
} Life;

typedef struct Member {
    Life *life;
    Rng rng;
} Member;

static SapQueueOptions options_of(Life *life)
{
    return (SapQueueOptions){.size = sizeof(SapQueueOptions),
                             .lease_ms = LEASE_MS,
                             .retry_budget_max = UINT32_MAX,
                             .retry_backoff_ms = 1,
                             .retry_backoff_max_ms = 4,
                             .file = &life->bed.options};
}

/* ---- The child ------------------------------------------------------------------------------ */

static void push_one(Life *life, Rng *rng)
{
    uint8_t bytes[300];
    uint32_t n = atomic_fetch_add(&life->shared->next, 1);
    uint32_t len = 4 + (uint32_t)rng_below(rng, sizeof bytes - 4);
    uint64_t kind = rng_below(rng, 8);
    SapQueuePushOptions options = {.no_wait = kind == 0,
                                   .high_priority = kind == 1,
                                   .delay_ms = kind == 2 ? 1 + (int64_t)rng_below(rng, 30) : 0};

    EXPECT(n < MESSAGES, "too many messages");
    memset(bytes, (int)n, sizeof bytes);
    store_u32le(bytes, n);
    atomic_fetch_or(&life->shared->state[n], PUSH_BEGUN);
    EXPECT_RC(sap_queue_push(life->queue, bytes, len, &options, NULL), SAP_OK);
    if (!options.no_wait) {
        atomic_fetch_or(&life->shared->state[n], PUSHED);
    }
}

static void handle(Life *life, Rng *rng, SapQueueMessage *message)
{
    uint32_t n = load_u32le(message->payload);
    atomic_uchar *state = &life->shared->state[n];
    uint64_t kind = rng_below(rng, 10);

    /* Whoever lost the lease in the meantime may meet a message that another has done. */
    bool acked = (atomic_load(state) & ACKED) != 0;
    EXPECT(!acked || message->deadline_ms <= clock_wall_ms(NULL),
           "message %u came back after its ack", n);
    atomic_fetch_or(state, DELIVERED);
    if (kind == 0) {
        sap_queue_release(life->queue, message);
        return;
    }
    if (kind == 1) {
        int rc = sap_queue_fail(life->queue, message, SAP_BUSY, (int64_t)rng_below(rng, 3) - 1);
        EXPECT(rc == SAP_OK || rc == SAP_CONFLICT, "fail answered %d", rc);
        return;
    }
    atomic_fetch_or(state, ACK_BEGUN);
    int rc = sap_queue_ack(life->queue, message);
    EXPECT(rc == SAP_OK || rc == SAP_CONFLICT, "ack answered %d", rc);
    if (rc == SAP_OK) {
        atomic_fetch_or(state, ACKED);
    }
}

static void consume_some(Life *life, Rng *rng, uint32_t timeout_ms)
{
    SapQueueMessage *messages[4];
    uint32_t count = 0;
    int rc = sap_queue_claim_many(life->queue, 0, timeout_ms, messages,
                                  (uint32_t)rng_range(rng, 1, 4), &count);

    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "claim answered %d", rc);
    for (uint32_t i = 0; i < count; i++) {
        handle(life, rng, messages[i]);
    }
}

static void *produce(void *arg)
{
    Member *member = arg;

    for (;;) {
        push_one(member->life, &member->rng);
    }
    return NULL;
}

static void *consume(void *arg)
{
    Member *member = arg;

    for (;;) {
        consume_some(member->life, &member->rng, 10);
    }
    return NULL;
}

static _Noreturn void live(Life *life)
{
    static Member members[2 * MAX_PAIRS];
    SapQueueOptions options = options_of(life);
    pthread_t thread;

    EXPECT_RC(sap_queue_open(life->bed.path, &options, &life->queue), SAP_OK);
    atomic_store(&life->shared->opened, 1);
    for (uint32_t i = 0; i < 2 * MAX_PAIRS; i++) {
        members[i].life = life;
        rng_seed(&members[i].rng, life->seed * 1000 + i + atomic_load(&life->shared->next));
    }
    for (uint32_t i = 0; SAPLING_THREADED && i < 2 * life->pairs; i++) {
        EXPECT(pthread_create(&thread, NULL, i % 2 == 0 ? produce : consume, &members[i]) == 0,
               "no thread");
    }
    for (;;) {
        if (SAPLING_THREADED) {
            pause();
        } else {
            push_one(life, &members[0].rng);
            consume_some(life, &members[0].rng, 0);
        }
    }
}

/* ---- The parent ----------------------------------------------------------------------------- */

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_nsec = (long)(us * 1000)}, NULL);
}

/* Notes how often each message is in the table. */
static void note_rows(SapEnv *db, uint32_t dbi, uint8_t *present)
{
    SapTxnCtx *txn = sap_txn_begin(db, NULL, SAP_TXN_RDONLY);
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);

    for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
        const void *val = NULL;
        uint32_t len = 0;
        SapRunnerV0Message msg;
        EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &val, &len), SAP_OK);
        EXPECT_RC(sap_runner_wire_v0_decode_message(val, len, &msg), 0);
        uint32_t n = load_u32le(msg.payload);
        EXPECT(n < MESSAGES, "message %u", n);
        present[n]++;
    }
    sap_cursor_close(cur);
    sap_txn_abort(txn);
}

typedef struct Counts {
    uint64_t deaths, pushed, acked, present, delivered;
} Counts;

static void expect_everything(Life *life, Counts *counts)
{
    uint8_t *present = calloc(MESSAGES, 1);
    SapQueueOptions options = options_of(life);
    uint32_t end = atomic_load(&life->shared->next);

    EXPECT_RC(sap_queue_open(life->bed.path, &options, &life->queue), SAP_OK);
    note_rows(sap_queue_db(life->queue), INBOX, present);
    note_rows(sap_queue_db(life->queue), TIMERS, present);
    for (uint32_t n = 0; n < end; n++) {
        unsigned state = atomic_load(&life->shared->state[n]);
        EXPECT(present[n] <= 1, "message %u is there %u times", n, present[n]);
        EXPECT(present[n] == 0 || (state & PUSH_BEGUN) != 0, "message %u was never pushed", n);
        EXPECT((state & ACKED) == 0 || present[n] == 0, "message %u is back after its ack", n);
        EXPECT((state & (PUSHED | ACK_BEGUN)) != PUSHED || present[n] == 1,
               "message %u was pushed and is lost", n);
        EXPECT((state & (DELIVERED | ACK_BEGUN)) != DELIVERED || present[n] == 1,
               "message %u was handed out and is lost", n);
        counts->present += present[n];
        /* What the crash has decided stays decided. */
        if (present[n] == 1) {
            atomic_store(&life->shared->state[n], PUSH_BEGUN | PUSHED);
        } else if ((state & (PUSH_BEGUN | PUSHED)) == PUSH_BEGUN && (state & ACKED) == 0) {
            atomic_store(&life->shared->state[n], 0);
        } else if ((state & ACK_BEGUN) != 0) {
            atomic_fetch_or(&life->shared->state[n], ACKED);
        }
    }
    model_expect_verified(sap_queue_db(life->queue));
    EXPECT_RC(sap_queue_close(life->queue), SAP_OK);
    free(present);
}

static void live_and_be_killed(Life *life, Rng *rng)
{
    bool any_time = rng_chance(rng, 1, 3);
    int status = 0;

    atomic_store(&life->shared->opened, 0);
    fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        live(life);
    }
    while (!any_time && atomic_load(&life->shared->opened) == 0) {
        EXPECT(waitpid(pid, &status, WNOHANG) == 0, "the child failed with status %d", status);
        sleep_us(200);
    }
    sleep_us(rng_below(rng, any_time ? 40000 : 200000));
    EXPECT(kill(pid, SIGKILL) == 0, "no kill");
    EXPECT(waitpid(pid, &status, 0) == pid, "no child");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child failed with status %d",
           status);
}

/* Everything that is left comes, once each. */
static void drain(Life *life)
{
    SapQueueOptions options = options_of(life);
    SapQueueStat stat;

    EXPECT_RC(sap_queue_open(life->bed.path, &options, &life->queue), SAP_OK);
    for (;;) {
        SapQueueMessage *message = NULL;
        if (sap_queue_claim(life->queue, 60000, 200, &message) == SAP_NOTFOUND) {
            break;
        }
        uint32_t n = load_u32le(message->payload);
        EXPECT(atomic_fetch_or(&life->shared->state[n], ACKED) == (PUSH_BEGUN | PUSHED),
               "message %u should not be there", n);
        EXPECT_RC(sap_queue_ack(life->queue, message), SAP_OK);
    }
    EXPECT_RC(sap_queue_stat(life->queue, &stat), SAP_OK);
    EXPECT(stat.ready + stat.leased + stat.delayed + stat.dead_letters == 0, "something is left");
    for (uint32_t n = 0; n < atomic_load(&life->shared->next); n++) {
        unsigned state = atomic_load(&life->shared->state[n]);
        EXPECT((state & PUSHED) == 0 || (state & ACKED) != 0, "message %u never came", n);
    }
    EXPECT_RC(sap_queue_close(life->queue), SAP_OK);
}

static void kill_file(uint64_t seed, uint64_t kills, Shared *shared, Counts *counts)
{
    static const uint64_t thresholds[] = {16 * 1024, 256 * 1024, 4 << 20};
    Life *life = calloc(1, sizeof *life);
    Rng rng;

    EXPECT(life != NULL, "no memory");
    memset(shared, 0, sizeof *shared);
    life->shared = shared;
    life->seed = seed;
    rng_seed(&rng, seed);
    file_bed_start(&life->bed);
    life->bed.options.checkpoint_bytes = thresholds[rng_below(&rng, 3)];
    life->pairs = 1 + (uint32_t)rng_below(&rng, MAX_PAIRS);
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64
                       ": %u pairs, checkpoints each %" PRIu64 " bytes",
                       seed, i + 1, life->pairs, life->bed.options.checkpoint_bytes);
        live_and_be_killed(life, &rng);
        counts->deaths++;
        expect_everything(life, counts);
    }
    for (uint32_t n = 0; n < atomic_load(&shared->next); n++) {
        unsigned state = atomic_load(&shared->state[n]);
        counts->pushed += (state & PUSHED) != 0;
        counts->acked += (state & ACKED) != 0;
        counts->delivered += (state & DELIVERED) != 0;
    }
    drain(life);
    file_bed_end(&life->bed);
    free(life);
}

START_TEST(a_killed_process_loses_no_pushed_message_and_brings_none_back)
{
    uint64_t seed = choice_first_seed();
    const char *text = getenv("SAP_KILLS");
    uint64_t kills = text == NULL ? KILLS : strtoull(text, NULL, 10);
    Counts counts = {0};
    Shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (; counts.deaths < kills; seed++) {
        uint64_t part = kills - counts.deaths;
        kill_file(seed, part < KILLS_PER_FILE ? part : KILLS_PER_FILE, shared, &counts);
    }
    munmap(shared, sizeof *shared);
    printf("%" PRIu64 " deaths, %" PRIu64 " pushed, %" PRIu64 " handed out, %" PRIu64
           " acknowledged, %" PRIu64 " found again, seeds %" PRIu64 " to %" PRIu64 "\n",
           counts.deaths, counts.pushed, counts.delivered, counts.acked, counts.present,
           choice_first_seed(), seed - 1);
    ck_assert_uint_gt(counts.deaths, 0);
    ck_assert_uint_gt(counts.acked, 0);
    ck_assert_uint_gt(counts.present, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_queue_kill");
    TCase *tcase = tcase_create("kill");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, a_killed_process_loses_no_pushed_message_and_brings_none_back);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
