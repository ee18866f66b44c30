/* Many producers and workers on one DB at once, with and without the gate: errands (errands.h) that
 * conflict on shared accounts, fail, time out and follow from each other. Each is applied once.
 * Bounded by counts of messages; SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend, SAP_STRESS
 * multiplies the messages. */
#include "common/clock.h"
#include "common/config.h"
#include "common/mem.h"
#include "support/choice.h"
#include "support/errands.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "wit_schema_dbis.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    TIMEOUT_S = 300,
    WORKERS = 3,
    SERVERS = 6, /* two for each inbox */
    PRODUCERS = 6,
    ROOTS = SAP_SANITIZED ? 40 : 120, /* of each producer */
    CROWD = 400,
    BUDGET = 4,
    LEASE_MS = 200,
    PATIENCE_S = 120,
};

typedef struct Stress {
    FileBed bed;
    SapEnv *db;
    ErrandPlan plan;
    uint64_t roots;
    bool plain;
    SapRunnerV0DbGate gate;
    SapRunnerV0Worker workers[SERVERS];
    atomic_uint next_producer;
    atomic_ullong calls;
    atomic_ullong successes;
    atomic_bool stop;
    atomic_ullong looks;
} Stress;

typedef struct Server {
    Stress *stress;
    Rng rng;
} Server;

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000),
                                 .tv_nsec = (long)(us % 1000000 * 1000)},
              NULL);
}

/* ---- Handlers ------------------------------------------------------------------------------- */

static bool fails(Server *server, const Errand *errand)
{
    return errand->temper == ERRAND_POISON ||
           (errand->temper == ERRAND_FLAKY && rng_chance(&server->rng, 1, 2));
}

/* Now and then longer than a lease lasts: then another takes the message over. */
static void dawdle(Server *server)
{
    if (rng_chance(&server->rng, 1, 400)) {
        sleep_us(1000 * (LEASE_MS + rng_below(&server->rng, LEASE_MS)));
    } else if (rng_chance(&server->rng, 1, 8)) {
        sleep_us(rng_below(&server->rng, 300));
    }
}

static int handle_block(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    Server *server = ctx;
    Stress *stress = server->stress;
    Errand errand = errand_of(&stress->plan, msg);
    bool failing = fails(server, &errand);
    int rc = errand_apply(&stress->plan, host, &errand, rng_chance(&server->rng, 1, 20));

    atomic_fetch_add(&stress->calls, 1);
    dawdle(server);
    return failing ? errand_failure((uint32_t)rng_below(&server->rng, 100)) : rc;
}

static int handle_plainly(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    Server *server = ctx;
    Errand errand = errand_of(&server->stress->plan, msg);
    bool failing = fails(server, &errand);

    atomic_fetch_add(&server->stress->calls, 1);
    if (rng_chance(&server->rng, 1, 10)) {
        int rc = sap_runner_v0_touch(runner);
        EXPECT(rc == SAP_OK || rc == SAP_CONFLICT, "touch answered %d", rc);
    }
    dawdle(server);
    if (failing) {
        return errand_failure((uint32_t)rng_below(&server->rng, 100));
    }
    atomic_fetch_add(&server->stress->successes, 1);
    return SAP_OK;
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void *run_producer(void *arg)
{
    Stress *stress = arg;
    uint32_t self = atomic_fetch_add(&stress->next_producer, 1);
    Rng rng;

    rng_seed(&rng, stress->plan.seed * 100 + self);
    expect_context("producer %u, SAP_TEST_SEED=%" PRIu64, self, stress->plan.seed);
    for (uint64_t n = 1; n <= stress->roots; n++) {
        errands_send(&stress->plan, stress->db, self, n, clock_wall_ms(NULL),
                     rng_chance(&rng, 1, 2));
        while (errands_on_the_way(stress->db) > CROWD) {
            sleep_us(500);
        }
    }
    return NULL;
}

/* Counters and tables are looked at while everything moves. */
static void *run_looker(void *arg)
{
    Stress *stress = arg;

    expect_context("looker, SAP_TEST_SEED=%" PRIu64, stress->plan.seed);
    while (!atomic_load(&stress->stop)) {
        for (uint32_t i = 0; i < SERVERS; i++) {
            SapRunnerV0Metrics metrics;
            sap_runner_v0_metrics_snapshot(&stress->workers[i].runner, &metrics);
            EXPECT(metrics.step_successes <= metrics.step_attempts, "more successes than attempts");
            (void)sap_runner_v0_steps_completed(&stress->workers[i].runner);
        }
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(stress->db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
        for (int64_t worker = 0; worker < WORKERS; worker++) {
            uint64_t count = 0;
            uint64_t leased = 0;
            EXPECT_RC(sap_runner_mailbox_v0_stat(txn, worker, &count, &leased, NULL), SAP_OK);
            EXPECT(leased <= count, "%" PRIu64 " leases on %" PRIu64 " messages", leased, count);
        }
        sap_txn_abort(txn);
        atomic_fetch_add(&stress->looks, 1);
        sleep_us(2000);
    }
    return NULL;
}

static void start_workers(Stress *stress, Server *servers, bool gated)
{
    SapRunnerV0Policy policy;

    sap_runner_v0_policy_default(&policy);
    policy.lease_ttl_ms = LEASE_MS;
    policy.attempt_max_retries = 20;
    policy.retry_budget_max = 4;
    policy.retry_backoff_ms = -1;
    if (gated) {
        EXPECT_RC(sap_runner_v0_db_gate_init(&stress->gate), SAP_OK);
    }
    for (uint32_t i = 0; i < SERVERS; i++) {
        servers[i].stress = stress;
        rng_seed(&servers[i].rng, stress->plan.seed * 1000 + i);
        SapRunnerV0WorkerConfig config = {
            .runner = {.db = stress->db,
                       .worker_id = i % WORKERS,
                       .bootstrap_schema_if_missing = 1,
                       .policy = &policy},
            .handler = {.plain = stress->plain ? handle_plainly : NULL,
                        .atomic = stress->plain ? NULL : handle_block,
                        .ctx = &servers[i]},
            .max_batch = 1 + i * 2,
        };
        EXPECT_RC(sap_runner_v0_worker_init(&stress->workers[i], &config), SAP_OK);
        if (gated) {
            sap_runner_v0_worker_set_db_gate(&stress->workers[i], &stress->gate);
        }
    }
    errands_open(stress->db);
    for (uint32_t i = 0; i < SERVERS; i++) {
        EXPECT_RC(sap_runner_v0_worker_start(&stress->workers[i]), SAP_OK);
    }
}

static SapRunnerV0Metrics stop_workers(Stress *stress)
{
    SapRunnerV0Metrics all = {0};

    for (uint32_t i = 0; i < SERVERS; i++) {
        sap_runner_v0_worker_request_stop(&stress->workers[i]);
    }
    for (uint32_t i = 0; i < SERVERS; i++) {
        SapRunnerV0Metrics one;
        EXPECT_RC(sap_runner_v0_worker_join(&stress->workers[i]), SAP_OK);
        sap_runner_v0_metrics_snapshot(&stress->workers[i].runner, &one);
        all.step_successes += one.step_successes;
        all.attempt_retries += one.attempt_retries;
        all.requeues += one.requeues;
        all.lease_timeouts += one.lease_timeouts;
        all.dead_letter_moves += one.dead_letter_moves;
        EXPECT_RC(sap_runner_v0_worker_shutdown(&stress->workers[i]), SAP_OK);
    }
    return all;
}

/* ---- Runs ----------------------------------------------------------------------------------- */

static void run_threads(Stress *stress)
{
    pthread_t producers[PRODUCERS];
    pthread_t looker;

    EXPECT(pthread_create(&looker, NULL, run_looker, stress) == 0, "no thread");
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        EXPECT(pthread_create(&producers[i], NULL, run_producer, stress) == 0, "no thread");
    }
    for (uint32_t i = 0; i < PRODUCERS; i++) {
        EXPECT(pthread_join(producers[i], NULL) == 0, "no join");
    }
    int64_t end_ms = clock_wall_ms(NULL) + PATIENCE_S * 1000;
    while (errands_on_the_way(stress->db) > 0) {
        EXPECT(clock_wall_ms(NULL) < end_ms, "%" PRIu64 " rows are on their way for ever",
               errands_on_the_way(stress->db));
        sleep_us(1000);
    }
    atomic_store(&stress->stop, true);
    EXPECT(pthread_join(looker, NULL) == 0, "no join");
}

static void run_once(const char *what, uint64_t seed, bool gated, bool in_file, bool plain)
{
    const char *factor = getenv("SAP_STRESS");
    Stress *stress = calloc(1, sizeof *stress);
    Server *servers = calloc(SERVERS, sizeof *servers);
    uint64_t last[PRODUCERS];
    ErrandCounts ended = {0};
    size_t live = mem_live_total();

    EXPECT(stress != NULL && servers != NULL, "no memory");
    expect_context("%s, SAP_TEST_SEED=%" PRIu64, what, seed);
    stress->plain = plain;
    stress->roots = ROOTS * (factor != NULL ? strtoull(factor, NULL, 10) : 1);
    stress->plan = (ErrandPlan){.seed = seed,
                                .workers = WORKERS,
                                .generations = plain ? 0 : 2,
                                .poison_one_in = 23,
                                .flaky_one_in = 9,
                                .max_delay_ms = 60};
    file_bed_start(&stress->bed);
    stress->bed.options.checkpoint_bytes = 256 * 1024;
    stress->db = in_file ? file_bed_open(&stress->bed) : sap_db_open(NULL, 4096, NULL, NULL);
    EXPECT(stress->db != NULL, "no DB");
    start_workers(stress, servers, gated);
    run_threads(stress);
    SapRunnerV0Metrics metrics = stop_workers(stress);
    if (!plain) {
        for (uint32_t i = 0; i < PRODUCERS; i++) {
            last[i] = stress->roots;
        }
        ended = errands_expect_done(&stress->plan, stress->db, last, PRODUCERS, BUDGET, NULL, NULL);
        EXPECT(ended.applied == metrics.step_successes,
               "%" PRIu64 " successes for %" PRIu64 " applied", metrics.step_successes,
               ended.applied);
    } else {
        EXPECT(atomic_load(&stress->successes) >= metrics.step_successes,
               "more acknowledged than handled");
        EXPECT(metrics.step_successes > 0, "nothing happened");
    }
    EXPECT_RC(sap_db_close(stress->db), SAP_OK);
    file_bed_end(&stress->bed);
    if (gated) {
        sap_runner_v0_db_gate_shutdown(&stress->gate);
    }
    printf("%s: %" PRIu64 " handled of %llu calls, %" PRIu64 " blocks run again, %" PRIu64
           " requeued, %" PRIu64 " leases expired, %" PRIu64 " dead, %llu looks, seed %" PRIu64
           "\n",
           what, metrics.step_successes, (unsigned long long)atomic_load(&stress->calls),
           metrics.attempt_retries, metrics.requeues, metrics.lease_timeouts,
           metrics.dead_letter_moves, (unsigned long long)atomic_load(&stress->looks), seed);
    EXPECT(plain || (ended.applied > 0 && metrics.attempt_retries > 0), "nothing happened");
    EXPECT(mem_live_total() == live, "memory is left");
    free(servers);
    free(stress);
}

static void run_many(const char *what, bool gated, bool in_file, bool plain)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(1);

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        run_once(what, seed, gated, in_file, plain);
    }
}

START_TEST(blocks_of_many_workers_are_applied_once)
{
    run_many("blocks in memory", false, false, false);
}
END_TEST

START_TEST(blocks_behind_a_gate_are_applied_once)
{
    run_many("blocks in memory, gated", true, false, false);
}
END_TEST

START_TEST(blocks_on_a_file_are_applied_once)
{
    run_many("blocks on a file", false, true, false);
}
END_TEST

START_TEST(blocks_on_a_file_behind_a_gate_are_applied_once)
{
    run_many("blocks on a file, gated", true, true, false);
}
END_TEST

START_TEST(plain_handlers_of_many_workers_share_the_work)
{
    run_many("plain handlers on a file", false, true, true);
    run_many("plain handlers on a file, gated", true, true, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_multiwriter_threads");
    TCase *tcase = tcase_create("multiwriter");
    const char *factor = getenv("SAP_STRESS");

    tcase_set_timeout(tcase, TIMEOUT_S * (factor != NULL ? strtod(factor, NULL) : 1));
    tcase_add_test(tcase, blocks_of_many_workers_are_applied_once);
    tcase_add_test(tcase, blocks_behind_a_gate_are_applied_once);
    tcase_add_test(tcase, blocks_on_a_file_are_applied_once);
    tcase_add_test(tcase, blocks_on_a_file_behind_a_gate_are_applied_once);
    tcase_add_test(tcase, plain_handlers_of_many_workers_share_the_work);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
