/* Workers go on where others were ended: by a checkpoint that is restored elsewhere, by a process
 * that ends without a word, and by kill -9 at any moment, again and again. Every acknowledged send is
 * handled exactly once by blocks.
 *
 * SAP_KILLS says how many deaths, SAP_KILL_SECONDS how long to go on instead; SAP_TEST_SEED decides
 * the plans and the moments. */
#include "common/clock.h"
#include "common/config.h"
#include "common/random.h"
#include "support/choice.h"
#include "support/errands.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/stream.h"
#include "support/suite.h"
#include "wit_schema_dbis.h"

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
    TIMEOUT_S = 300,
    WORKERS = 3,
    BUDGET = 4,
    KILLS = 24,
    KILLS_PER_FILE = 8,
    PRODUCERS = 2,
    SERVERS = 4, /* the last serves the inbox of worker 0, too */
    LEASE_MS = 60,
    CROWD = 300, /* rows on their way at which producers wait */
    PATIENCE_S = 60,
    NOW_MS = 5000000,
};

static ErrandPlan plan_of(uint64_t seed)
{
    return (ErrandPlan){.seed = seed,
                        .workers = WORKERS,
                        .generations = 2,
                        .poison_one_in = 17,
                        .flaky_one_in = 5,
                        .max_delay_ms = 40};
}

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000),
                                 .tv_nsec = (long)(us % 1000000 * 1000)},
              NULL);
}

/* ---- A checkpoint restored ------------------------------------------------------------------ */

typedef struct Shop {
    ErrandPlan plan;
    SapEnv *db;
    int64_t now_ms;
    Choice choice;
    SapRunnerV0Worker workers[WORKERS];
} Shop;

static int64_t shop_now(void *ctx)
{
    return ((Shop *)ctx)->now_ms;
}

static int shop_handle(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Shop *shop = ctx;
    Errand errand = errand_of(&shop->plan, msg);
    bool failing = errand.temper == ERRAND_POISON ||
                   (errand.temper == ERRAND_FLAKY && choice_one_in(&shop->choice, 2));

    return failing ? errand_failure(choice_below(&shop->choice, 100))
                   : errand_apply(&shop->plan, host, &errand, false);
}

static SapRunnerV0WorkerConfig shop_config(Shop *shop, int64_t worker_id)
{
    static const SapRunnerV0Policy policy = {.retry_budget_max = 4, .retry_backoff_ms = 20};

    return (SapRunnerV0WorkerConfig){
        .runner = {.db = shop->db,
                   .worker_id = worker_id,
                   .bootstrap_schema_if_missing = 1,
                   .policy = &policy,
                   .time = {.now_ms = shop_now, .ctx = shop}},
        .handler = {.atomic = shop_handle, .ctx = shop},
        .max_batch = 2,
    };
}

static void shop_open(Shop *shop, SapEnv *db, uint64_t seed)
{
    *shop = (Shop){.plan = plan_of(seed), .db = db, .now_ms = NOW_MS};
    choice_from_seed(&shop->choice, seed);
    for (uint32_t i = 0; i < WORKERS; i++) {
        SapRunnerV0WorkerConfig config = shop_config(shop, i);
        EXPECT_RC(sap_runner_v0_worker_init(&shop->workers[i], &config), SAP_OK);
    }
    errands_open(db);
}

static void shop_round(Shop *shop)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        (void)sap_runner_v0_worker_tick(&shop->workers[i], NULL);
    }
    shop->now_ms += 10;
}

static void shop_finish(Shop *shop)
{
    for (uint32_t round = 0; errands_on_the_way(shop->db) > 0; round++) {
        EXPECT(round < 20000, "messages are on their way for ever");
        shop_round(shop);
    }
}

static void shop_close(Shop *shop)
{
    for (uint32_t i = 0; i < WORKERS; i++) {
        EXPECT_RC(sap_runner_v0_worker_shutdown(&shop->workers[i]), SAP_OK);
    }
}

/* Leaves two messages claimed by someone who is never seen again, one by one: they may be of one id. */
static void claim_and_vanish(SapEnv *db, int64_t worker, int64_t now_ms)
{
    SapRunnerV0ClaimOptions options = {.worker_id = worker, .owner = 99, .now_ms = now_ms};
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (int i = 0; i < 2; i++) {
        SapRunnerV0Claim claim;
        uint32_t count = 0;

        EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, &claim, 1, &count, NULL), SAP_OK);
        EXPECT(count == 1, "nothing to claim");
        sap_runner_v0_claim_release(&claim);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static ErrandCounts expect_finished(Shop *shop, uint64_t last)
{
    shop_finish(shop);
    ErrandCounts counts = errands_expect_done(&shop->plan, shop->db, &last, 1, BUDGET, NULL, NULL);
    shop_close(shop);
    return counts;
}

START_TEST(restored_checkpoint_goes_on_with_inbox_timers_and_dead_letters)
{
    enum { ROOTS = 120 };
    Shop shop;
    Shop copy;
    Stream stream;
    FileBed bed;
    uint64_t seed = choice_first_seed();

    expect_context("checkpoint, SAP_TEST_SEED=%" PRIu64, seed);
    shop_open(&shop, sap_db_open(NULL, 4096, NULL, NULL), seed);
    for (uint64_t n = 1; n <= ROOTS; n++) {
        errands_send(&shop.plan, shop.db, 0, n, shop.now_ms, true);
    }
    while (errands_rows(shop.db, WIT_DBI_DEAD_LETTER) == 0 ||
           errands_rows(shop.db, WIT_DBI_TIMERS) == 0 ||
           errands_rows(shop.db, WIT_DBI_OUTBOX) == 0) {
        EXPECT(errands_on_the_way(shop.db) > 0, "everything is done");
        shop_round(&shop);
    }
    claim_and_vanish(shop.db, 0, shop.now_ms);
    uint64_t inbox = errands_rows(shop.db, WIT_DBI_INBOX);
    uint64_t dead = errands_rows(shop.db, WIT_DBI_DEAD_LETTER);
    stream_init(&stream);
    EXPECT_RC(sap_db_checkpoint(shop.db, stream_write, &stream), SAP_OK);

    file_bed_start(&bed);
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_db_restore(db, stream_read, &stream), SAP_OK);
    shop_open(&copy, db, seed);
    copy.now_ms = shop.now_ms;
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_INBOX), inbox);
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_DEAD_LETTER), dead);
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_LEASES), 2);
    ErrandCounts of_copy = expect_finished(&copy, ROOTS);
    file_bed_close(db);
    file_bed_end(&bed);
    ErrandCounts of_first = expect_finished(&shop, ROOTS);
    EXPECT_RC(sap_db_close(shop.db), SAP_OK);
    stream_free(&stream);
    printf("checkpoint with %" PRIu64 " in inboxes and %" PRIu64 " dead; then %" PRIu64
           " applied and %" PRIu64 " dead here, %" PRIu64 " and %" PRIu64 " there, seed %" PRIu64
           "\n",
           inbox, dead, of_first.applied, of_first.dead, of_copy.applied, of_copy.dead, seed);
    ck_assert_uint_ge(of_copy.dead, dead);
    ck_assert_uint_gt(of_copy.applied, 0);
}
END_TEST

/* Numbers come from high-water marks: what is sent to a drained inbox after a restore cannot meet the
 * dead letters of before. */
START_TEST(dead_letters_of_a_restored_checkpoint_are_replayed_beside_new_messages)
{
    Shop shop;
    Shop copy;
    Stream stream;
    uint64_t last = 60;
    uint64_t seed = choice_first_seed();

    expect_context("replay, SAP_TEST_SEED=%" PRIu64, seed);
    shop_open(&shop, sap_db_open(NULL, 4096, NULL, NULL), seed);
    for (uint64_t n = 1; n <= last; n++) {
        errands_send(&shop.plan, shop.db, 0, n, shop.now_ms, true);
    }
    shop_finish(&shop);
    uint64_t dead = errands_rows(shop.db, WIT_DBI_DEAD_LETTER);
    ck_assert_uint_gt(dead, 0);
    stream_init(&stream);
    EXPECT_RC(sap_db_checkpoint(shop.db, stream_write, &stream), SAP_OK);
    shop_close(&shop);
    EXPECT_RC(sap_db_close(shop.db), SAP_OK);

    SapEnv *db = sap_db_open(NULL, 8192, NULL, NULL);
    EXPECT_RC(sap_db_restore(db, stream_read, &stream), SAP_OK);
    shop_open(&copy, db, seed);
    uint64_t replayed = 0;
    for (uint64_t worker = 0; worker < WORKERS; worker++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        SapCursor *cur = sap_cursor_open_dbi(txn, WIT_DBI_DEAD_LETTER);
        uint8_t prefix[8] = {0, 0, 0, 0, 0, 0, 0, (uint8_t)worker};
        const void *key = NULL;
        uint32_t key_len = 0;
        uint64_t seq = 0;
        bool found = sap_cursor_seek(cur, prefix, sizeof prefix) == SAP_OK &&
                     sap_cursor_in_prefix(cur, prefix, sizeof prefix);
        if (found) {
            EXPECT_RC(sap_cursor_get(cur, &key, &key_len, NULL, NULL), SAP_OK);
            for (uint32_t i = 8; i < key_len; i++) {
                seq = seq << 8 | ((const uint8_t *)key)[i];
            }
        }
        sap_cursor_close(cur);
        if (found) {
            EXPECT_RC(sap_runner_dead_letter_v0_replay(txn, worker, seq, NULL), SAP_OK);
            replayed++;
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    ck_assert_uint_gt(replayed, 0);
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_DEAD_LETTER), dead - replayed);
    for (uint64_t n = last + 1; n <= last + 60; n++) {
        errands_send(&copy.plan, db, 0, n, copy.now_ms, true);
    }
    last += 60;
    ErrandCounts counts = expect_finished(&copy, last);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    stream_free(&stream);
    printf("%" PRIu64 " dead letters, %" PRIu64 " replayed, in the end %" PRIu64
           " dead and %" PRIu64 " applied, seed %" PRIu64 "\n",
           dead, replayed, counts.dead, counts.applied, seed);
}
END_TEST

/* A DB whose rows are of another version is not worked on. */
START_TEST(restored_checkpoint_of_another_schema_is_refused)
{
    Shop shop;
    Stream stream;
    SapRunnerV0Worker worker;

    shop_open(&shop, sap_db_open(NULL, 4096, NULL, NULL), 1);
    SapRunnerV0WorkerConfig config = shop_config(&shop, 0);
    shop_close(&shop);
    SapTxnCtx *txn = NULL;
    EXPECT_RC(sap_txn_begin_rc(shop.db, NULL, 0, &txn), SAP_OK);
    const char *name = SAP_RUNNER_V0_SCHEMA_KEY;
    const void *val = NULL;
    uint32_t len = 0;
    uint8_t marker[8];
    EXPECT_RC(sap_txn_get(txn, name, (uint32_t)strlen(name), &val, &len), SAP_OK);
    EXPECT(len == sizeof marker, "a marker of %u bytes", len);
    memcpy(marker, val, sizeof marker);
    marker[6]++; /* the minor version */
    EXPECT_RC(sap_txn_put(txn, name, (uint32_t)strlen(name), marker, sizeof marker), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    stream_init(&stream);
    EXPECT_RC(sap_db_checkpoint(shop.db, stream_write, &stream), SAP_OK);
    EXPECT_RC(sap_db_close(shop.db), SAP_OK);

    SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);
    EXPECT_RC(sap_db_restore(db, stream_read, &stream), SAP_OK);
    config.runner.db = db;
    ck_assert_int_eq(sap_runner_v0_worker_init(&worker, &config), SAP_CONFLICT);
    ck_assert_int_eq(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    EXPECT_RC(sap_db_close(db), SAP_OK);
    stream_free(&stream);
}
END_TEST

/* ---- A process that ends without a word ------------------------------------------------------ */

typedef struct Ending {
    FileBed bed;
    int64_t now_ms;
    uint64_t forwarded;
    uint64_t handled;
} Ending;

static int64_t ending_now(void *ctx)
{
    return ((Ending *)ctx)->now_ms;
}

static SapRunnerV0Message note(int64_t worker, const char *id)
{
    return (SapRunnerV0Message){.flags = SAP_RUNNER_V0_DURABLE,
                                .to_worker = worker,
                                .route_timestamp = NOW_MS,
                                .message_id = id,
                                .message_id_len = (uint32_t)strlen(id),
                                .payload = "hello",
                                .payload_len = 5};
}

/* Worker 1 sends one message to worker 2 and one elsewhere, each with a row of its own. */
static int send_two(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Ending *ending = ctx;
    int rc = sap_runner_host_v0_put(host, 0, msg->message_id, msg->message_id_len, "done", 4);

    ending->handled++;
    if (sap_runner_host_v0_worker_id(host) != 1) {
        return rc;
    }
    SapRunnerV0Message near = note(2, "near");
    SapRunnerV0Message far = note(7, "far");
    rc = rc == SAP_OK ? sap_runner_host_v0_emit(host, &near) : rc;
    return rc == SAP_OK ? sap_runner_host_v0_emit(host, &far) : rc;
}

static int below_seven(int64_t worker, void *ctx)
{
    (void)ctx;
    return worker < 7;
}

static int count_forwarded(const void *frame, uint32_t frame_len, uint64_t seq, void *ctx)
{
    SapRunnerV0Message msg;

    (void)seq;
    EXPECT_RC(sap_runner_wire_v0_decode_message(frame, frame_len, &msg), SAP_OK);
    EXPECT(msg.to_worker == 7, "a message for worker %" PRId64 " is forwarded", msg.to_worker);
    ((Ending *)ctx)->forwarded++;
    return SAP_OK;
}

static void ending_worker(Ending *ending, SapEnv *db, int64_t worker_id, bool forwards,
                          SapRunnerV0Worker *worker)
{
    static const SapRunnerV0Policy policy = {.retry_budget_max = BUDGET};
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = db,
                   .worker_id = worker_id,
                   .bootstrap_schema_if_missing = 1,
                   .policy = &policy,
                   .time = {.now_ms = ending_now, .ctx = ending}},
        .handler = {.atomic = send_two, .ctx = ending},
        .max_idle_sleep_ms = 60000,
        .is_local = below_seven,
        .forward = forwards ? count_forwarded : NULL,
        .forward_ctx = ending,
    };
    EXPECT_RC(sap_runner_v0_worker_init(worker, &config), SAP_OK);
}

static void handle_one_and_end(void *arg)
{
    Ending *ending = arg;
    SapEnv *db = file_bed_open(&ending->bed);
    SapRunnerV0Worker worker;
    uint32_t handled = 0;

    ending_worker(ending, db, 1, false, &worker);
    SapRunnerV0Message msg = note(1, "first");
    EXPECT_RC(sap_runner_v0_send(db, &msg, NULL), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_tick(&worker, &handled), SAP_OK);
    EXPECT(handled == 1, "%u handled", handled);
}

START_TEST(outbox_is_replayed_after_a_crash)
{
    Ending ending = {.now_ms = NOW_MS};
    SapRunnerV0Worker one;
    SapRunnerV0Worker two;

    file_bed_start(&ending.bed);
    files_in_child(handle_one_and_end, &ending);
    SapEnv *db = file_bed_open(&ending.bed);
    ending_worker(&ending, db, 1, true, &one);
    ending_worker(&ending, db, 2, false, &two);
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_OUTBOX), 2);
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_INBOX), 0);
    for (int i = 0; i < 4; i++) {
        int rc = sap_runner_v0_worker_tick(&one, NULL);
        ck_assert(rc == SAP_OK || rc == SAP_BUSY);
        rc = sap_runner_v0_worker_tick(&two, NULL);
        ck_assert(rc == SAP_OK || rc == SAP_BUSY);
    }
    ck_assert_uint_eq(ending.forwarded, 1);
    ck_assert_uint_eq(ending.handled, 1); /* the one for worker 2; that of the child is done */
    ck_assert_uint_eq(errands_on_the_way(db), 0);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&one), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&two), SAP_OK);
    file_bed_close(db);
    file_bed_end(&ending.bed);
}
END_TEST

static void claim_two_and_end(void *arg)
{
    Ending *ending = arg;
    SapEnv *db = file_bed_open(&ending->bed);
    SapRunnerV0Message msgs[] = {note(2, "a"), note(2, "b"), note(2, "c")};

    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    EXPECT_RC(sap_runner_v0_send_many(db, msgs, 3, NULL), SAP_OK);
    claim_and_vanish(db, 2, ending->now_ms);
}

/* What the dead process has claimed waits until its leases expire, and no longer; then it comes
 * before what is newer, and its first attempt counts. */
START_TEST(leases_of_a_dead_process_are_taken_over)
{
    Ending ending = {.now_ms = NOW_MS};
    SapRunnerV0Worker worker;
    SapRunnerV0Metrics metrics;
    uint32_t handled = 0;
    uint32_t sleep_ms = 0;

    file_bed_start(&ending.bed);
    files_in_child(claim_two_and_end, &ending);
    SapEnv *db = file_bed_open(&ending.bed);
    ending_worker(&ending, db, 2, false, &worker);
    ending.now_ms += 400;
    ck_assert_int_eq(sap_runner_v0_worker_tick(&worker, &handled), SAP_OK);
    ck_assert_uint_eq(handled, 1); /* c, which nobody holds */
    ck_assert_int_eq(sap_runner_v0_worker_tick(&worker, &handled), SAP_BUSY);
    ck_assert_int_eq(sap_runner_v0_worker_compute_idle_sleep_ms(&worker, &sleep_ms), SAP_OK);
    ck_assert_uint_eq(sleep_ms, 600);
    ending.now_ms += 599;
    ck_assert_int_eq(sap_runner_v0_worker_tick(&worker, &handled), SAP_BUSY);
    ending.now_ms += 1;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(sap_runner_v0_worker_tick(&worker, &handled), SAP_OK);
        ck_assert_uint_eq(handled, 1);
    }
    ck_assert_int_eq(sap_runner_v0_worker_tick(&worker, &handled), SAP_BUSY);
    sap_runner_v0_metrics_snapshot(&worker.runner, &metrics);
    ck_assert_uint_eq(metrics.lease_timeouts, 2);
    ck_assert_uint_eq(metrics.step_successes, 3);
    ck_assert_uint_eq(errands_on_the_way(db), 0);
    ck_assert_uint_eq(errands_rows(db, WIT_DBI_DEDUPE), 0); /* counts of retries went with them */
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&ending.bed);
}
END_TEST

static void claim_once_more_and_end(void *arg)
{
    Ending *ending = arg;
    SapEnv *db = file_bed_open(&ending->bed);
    SapRunnerV0ClaimOptions options = {
        .worker_id = 2, .owner = 98, .now_ms = ending->now_ms, .retry_budget_max = BUDGET};
    SapRunnerV0Claim claim;
    SapTxnCtx *txn = NULL;
    uint32_t count = 0;

    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, &claim, 1, &count, NULL), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    ending->handled += count;
    EXPECT(count == 0 || claim.attempts <= BUDGET, "attempt %u", claim.attempts);
    if (count == 0) {
        _exit(1);
    }
}

/* A message that ends every process that claims it is given up when its budget is used: the count
 * survives all of them. */
START_TEST(message_that_kills_its_workers_becomes_a_dead_letter)
{
    Ending ending = {.now_ms = NOW_MS};
    SapRunnerV0Message msg = note(2, "deadly");
    SapRunnerV0DeadLetter letter;
    SapTxnCtx *txn = NULL;
    uint64_t seq = 0;
    uint32_t lives = 0;

    file_bed_start(&ending.bed);
    SapEnv *db = file_bed_open(&ending.bed);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
    EXPECT_RC(sap_runner_v0_send(db, &msg, &seq), SAP_OK);
    file_bed_close(db);
    while (files_run_child(claim_once_more_and_end, &ending) == 0) {
        ck_assert_uint_lt(++lives, 100);
        ending.now_ms += 1000;
    }
    ck_assert_uint_eq(lives, BUDGET);
    db = file_bed_open(&ending.bed);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 2, seq, &letter), SAP_OK);
    ck_assert_uint_eq(letter.attempts, BUDGET);
    sap_txn_abort(txn);
    ck_assert_uint_eq(errands_on_the_way(db), 0);
    file_bed_close(db);
    file_bed_end(&ending.bed);
}
END_TEST

/* ---- kill -9 -------------------------------------------------------------------------------- */

/* What outlives the child. */
typedef struct Shared {
    atomic_ullong acked[PRODUCERS];
    atomic_uint opened;
} Shared;

typedef struct Killing {
    FileBed bed;
    ErrandPlan plan;
    Shared *shared;
    uint64_t seed;
    uint64_t life;
    SapEnv *db;
    SapRunnerV0Worker servers[SERVERS];
    Rng rngs[SERVERS];
    SapRunnerV0DbGate gate;
    bool gated;
} Killing;

typedef struct Producer {
    Killing *killing;
    uint32_t number;
} Producer;

typedef struct Server {
    Killing *killing;
    uint32_t number;
} Server;

static int kill_handle(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Server *server = ctx;
    Killing *killing = server->killing;
    Rng *rng = &killing->rngs[server->number];
    Errand errand = errand_of(&killing->plan, msg);
    bool failing =
        errand.temper == ERRAND_POISON || (errand.temper == ERRAND_FLAKY && rng_chance(rng, 1, 2));
    int rc = errand_apply(&killing->plan, host, &errand, rng_chance(rng, 1, 50));

    if (rng_chance(rng, 1, 100)) {
        sleep_us(1000 * (LEASE_MS + rng_below(rng, LEASE_MS)));
    }
    return failing ? errand_failure((uint32_t)rng_below(rng, 100)) : rc;
}

static uint64_t resume_at(const Killing *killing, uint32_t producer)
{
    uint64_t noted = errands_noted(killing->db, producer);
    uint64_t acked = atomic_load(&killing->shared->acked[producer]);

    return (noted > acked ? noted : acked) + 1;
}

static void produce(Killing *killing, uint32_t producer, uint64_t number, Rng *rng)
{
    bool durable = rng_chance(rng, 1, 2);

    errands_send(&killing->plan, killing->db, producer, number, clock_wall_ms(NULL), durable);
    if (durable) {
        atomic_store(&killing->shared->acked[producer], number);
    }
}

static void open_shop(Killing *killing)
{
    static Server servers[SERVERS];
    SapRunnerV0Policy policy;

    killing->db = file_bed_open(&killing->bed);
    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = LEASE_MS;
    policy.retry_budget_max = 4;
    policy.retry_backoff_ms = 1;
    if (killing->gated) {
        EXPECT_RC(sap_runner_v0_db_gate_init(&killing->gate), SAP_OK);
    }
    for (uint32_t i = 0; i < SERVERS; i++) {
        servers[i] = (Server){killing, i};
        rng_seed(&killing->rngs[i], killing->seed * 1000 + killing->life * 10 + i);
        SapRunnerV0WorkerConfig config = {
            .runner = {.db = killing->db,
                       .worker_id = i % WORKERS,
                       .bootstrap_schema_if_missing = 1,
                       .policy = &policy},
            .handler = {.atomic = kill_handle, .ctx = &servers[i]},
            .max_batch = 1 + i * 3,
        };
        EXPECT_RC(sap_runner_v0_worker_init(&killing->servers[i], &config), SAP_OK);
        if (killing->gated) {
            sap_runner_v0_worker_set_db_gate(&killing->servers[i], &killing->gate);
        }
    }
    errands_open(killing->db);
}

static void close_shop(Killing *killing)
{
    for (uint32_t i = 0; i < SERVERS; i++) {
        EXPECT_RC(sap_runner_v0_worker_shutdown(&killing->servers[i]), SAP_OK);
    }
    if (killing->gated) {
        sap_runner_v0_db_gate_shutdown(&killing->gate);
    }
    file_bed_close(killing->db);
}

#if SAPLING_THREADED

static void serve(Killing *killing)
{
    for (uint32_t i = 0; i < SERVERS; i++) {
        EXPECT_RC(sap_runner_v0_worker_start(&killing->servers[i]), SAP_OK);
    }
}

static void wait_a_moment(Killing *killing)
{
    (void)killing;
    sleep_us(1000);
}

static void *produce_forever(void *arg)
{
    Producer *producer = arg;
    Killing *killing = producer->killing;
    uint64_t next = resume_at(killing, producer->number);
    Rng rng;

    rng_seed(&rng, killing->seed * 100 + producer->number + killing->life * 7);
    for (;; next++) {
        produce(killing, producer->number, next, &rng);
        while (errands_on_the_way(killing->db) > CROWD) {
            sleep_us(500);
        }
    }
    return NULL;
}

static void produce_all(Killing *killing)
{
    static Producer producers[PRODUCERS];
    static pthread_t threads[PRODUCERS];

    for (uint32_t i = 0; i < PRODUCERS; i++) {
        producers[i] = (Producer){killing, i};
        EXPECT(pthread_create(&threads[i], NULL, produce_forever, &producers[i]) == 0, "no thread");
    }
    pause();
}

#else

static void serve(Killing *killing)
{
    (void)killing;
}

static void wait_a_moment(Killing *killing)
{
    for (uint32_t i = 0; i < SERVERS; i++) {
        (void)sap_runner_v0_worker_tick(&killing->servers[i], NULL);
    }
}

static void produce_all(Killing *killing)
{
    uint64_t next[PRODUCERS];
    Rng rng;

    rng_seed(&rng, killing->seed * 100 + killing->life * 7);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        next[i] = resume_at(killing, i);
    }
    for (;;) {
        for (uint32_t i = 0; i < PRODUCERS; i++) {
            produce(killing, i, next[i]++, &rng);
        }
        do {
            wait_a_moment(killing);
        } while (errands_on_the_way(killing->db) > CROWD);
    }
}

#endif

static _Noreturn void live(Killing *killing)
{
    open_shop(killing);
    atomic_store(&killing->shared->opened, 1);
    serve(killing);
    produce_all(killing);
    abort();
}

/* Half of the children have been working for a while when they die, the others may die in recovery. */
static void live_and_be_killed(Killing *killing, Rng *rng)
{
    bool any_time = rng_chance(rng, 1, 3);
    int status = 0;

    atomic_store(&killing->shared->opened, 0);
    killing->life++;
    fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        live(killing);
    }
    while (!any_time && atomic_load(&killing->shared->opened) == 0) {
        EXPECT(waitpid(pid, &status, WNOHANG) == 0, "the child failed with status %d", status);
        sleep_us(200);
    }
    sleep_us(rng_below(rng, any_time ? 30000 : 250000));
    EXPECT(kill(pid, SIGKILL) == 0, "no kill");
    EXPECT(waitpid(pid, &status, 0) == pid, "no child");
    EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the child failed with status %d",
           status);
}

typedef struct KillCounts {
    uint64_t deaths;
    uint64_t applied;
    uint64_t dead;
    uint64_t found; /* leases of the dead */
} KillCounts;

/* The last life is not cut off: it sends one more of each producer, so that none is left of which
 * nobody knows whether it was sent, and ends when all is done. */
static void live_to_the_end(Killing *killing, KillCounts *counts)
{
    uint64_t last[PRODUCERS];
    Rng rng;

    rng_seed(&rng, killing->seed);
    killing->life++;
    open_shop(killing);
    counts->found += errands_rows(killing->db, WIT_DBI_LEASES);
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        last[i] = resume_at(killing, i);
        produce(killing, i, last[i], &rng);
    }
    serve(killing);
    uint64_t end_ns = clock_mono_ns(NULL) + PATIENCE_S * UINT64_C(1000000000);
    while (errands_on_the_way(killing->db) > 0) {
        EXPECT(clock_mono_ns(NULL) < end_ns, "%" PRIu64 " rows are on their way for ever",
               errands_on_the_way(killing->db));
        wait_a_moment(killing);
    }
    for (uint32_t i = 0; i < SERVERS; i++) {
        sap_runner_v0_worker_request_stop(&killing->servers[i]);
    }
    close_shop(killing);
    killing->db = file_bed_open(&killing->bed);
    ErrandCounts ended =
        errands_expect_done(&killing->plan, killing->db, last, PRODUCERS, BUDGET, NULL, NULL);
    file_bed_close(killing->db);
    counts->applied += ended.applied;
    counts->dead += ended.dead;
}

static void kill_file(uint64_t seed, uint64_t kills, Shared *shared, KillCounts *counts)
{
    Killing *killing = calloc(1, sizeof *killing);
    Rng rng;

    EXPECT(killing != NULL, "no memory");
    memset(shared, 0, sizeof *shared);
    killing->shared = shared;
    killing->seed = seed;
    killing->plan = plan_of(seed);
    killing->gated = seed % 2 == 0;
    rng_seed(&rng, seed);
    file_bed_start(&killing->bed);
    killing->bed.options.page_size = files_page_sizes[rng_below(&rng, files_page_size_count)];
    killing->bed.options.checkpoint_bytes = rng_chance(&rng, 1, 2) ? 64 * 1024 : 1024 * 1024;
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64, seed, i + 1);
        live_and_be_killed(killing, &rng);
        counts->deaths++;
    }
    expect_context("SAP_TEST_SEED=%" PRIu64 ", after %" PRIu64 " deaths", seed, kills);
    live_to_the_end(killing, counts);
    file_bed_end(&killing->bed);
    free(killing);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 10);
}

START_TEST(killed_workers_lose_nothing_acknowledged_and_repeat_nothing)
{
    uint64_t seed = choice_first_seed();
    uint64_t seconds = number_from("SAP_KILL_SECONDS", 0);
    uint64_t kills = seconds != 0 ? UINT64_MAX : number_from("SAP_KILLS", KILLS);
    uint64_t end_ns = clock_mono_ns(NULL) + seconds * UINT64_C(1000000000);
    KillCounts counts = {0};
    Shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (; counts.deaths < kills && (seconds == 0 || clock_mono_ns(NULL) < end_ns); seed++) {
        uint64_t left = kills - counts.deaths;
        kill_file(seed, left < KILLS_PER_FILE ? left : KILLS_PER_FILE, shared, &counts);
        if (seconds != 0) {
            printf("%" PRIu64 " deaths, %" PRIu64 " messages, seed %" PRIu64 "\n", counts.deaths,
                   counts.applied + counts.dead, seed);
            fflush(stdout);
        }
    }
    printf("%" PRIu64 " deaths, %" PRIu64 " messages applied, %" PRIu64 " dead, %" PRIu64
           " leases found of the dead, seeds %" PRIu64 " to %" PRIu64 "\n",
           counts.deaths, counts.applied, counts.dead, counts.found, choice_first_seed(), seed - 1);
    munmap(shared, sizeof *shared);
    ck_assert_uint_gt(counts.deaths, 0);
    ck_assert_uint_gt(counts.applied, 0);
    ck_assert_uint_gt(counts.dead, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_recovery_integration");
    TCase *tcase = tcase_create("recovery");

    tcase_set_timeout(tcase, (double)(TIMEOUT_S + 2 * number_from("SAP_KILL_SECONDS", 0)));
    tcase_add_test(tcase, restored_checkpoint_goes_on_with_inbox_timers_and_dead_letters);
    tcase_add_test(tcase, dead_letters_of_a_restored_checkpoint_are_replayed_beside_new_messages);
    tcase_add_test(tcase, restored_checkpoint_of_another_schema_is_refused);
    tcase_add_test(tcase, outbox_is_replayed_after_a_crash);
    tcase_add_test(tcase, leases_of_a_dead_process_are_taken_over);
    tcase_add_test(tcase, message_that_kills_its_workers_becomes_a_dead_letter);
    tcase_add_test(tcase, killed_workers_lose_nothing_acknowledged_and_repeat_nothing);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
