/* Attempts of several threads on the same rows: whatever they interleave, every block that was
 * answered SAP_OK counts once, and every reader sees a state that some order of blocks gives. */
#include "common/random.h"
#include "common/relaxed.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "support/tx.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, THREADS = 4, ACCOUNTS = 6, START = 1000, RETRIES = 1000000 };

typedef struct Bank {
    SapEnv *db;
    uint32_t rounds;
    uint64_t seed;
    RelaxedU64 done;      /* blocks answered SAP_OK */
    RelaxedU64 conflicts; /* that were retried */
    RelaxedU64 reads;
    RelaxedU64 working; /* writers under way */
} Bank;

typedef struct Teller {
    Bank *bank;
    uint32_t n;
    Rng rng;
    uint32_t from, to;
    int64_t amount;
} Teller;

static void account_key(uint32_t i, char key[16])
{
    snprintf(key, 16, "account%02u", i);
}

static int64_t number_of(const void *val, uint32_t len)
{
    char text[32] = {0};
    long long number = 0;

    EXPECT(len < sizeof text, "%u bytes", len);
    memcpy(text, val, len);
    EXPECT(sscanf(text, "%lld", &number) == 1, "not a number: %s", text);
    return number;
}

static int add_to(SapRunnerTxCtxV0 *ctx, const char *key, int64_t amount)
{
    const void *val = NULL;
    uint32_t len = 0;
    char text[32];
    int rc = sap_runner_txctx_v0_get(ctx, 0, key, (uint32_t)strlen(key), &val, &len);

    if (rc != SAP_OK) {
        return rc;
    }
    snprintf(text, sizeof text, "%lld", (long long)(number_of(val, len) + amount));
    return tx_put(ctx, 0, key, text);
}

/* Moves an amount between accounts, one half in a nested block, and counts itself. */
static int transfer(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    const Teller *t = (const Teller *)fn_ctx;
    char key[16];

    account_key(t->from, key);
    int rc = add_to(ctx, key, -t->amount);
    sched_yield(); /* so that others come in between */
    if (rc == SAP_OK) {
        rc = sap_runner_txstack_v0_push(ctx);
    }
    if (rc == SAP_OK) {
        account_key(t->to, key);
        rc = add_to(ctx, key, t->amount);
    }
    if (rc == SAP_OK) {
        rc = sap_runner_txstack_v0_commit(ctx);
    }
    return rc == SAP_OK ? add_to(ctx, "counter", 1) : rc;
}

static void *work(void *arg)
{
    Teller *t = (Teller *)arg;
    SapRunnerTxCtxV0 *ctx = NULL;

    EXPECT_RC(sap_runner_txctx_v0_create(t->bank->db, &ctx), SAP_OK);
    for (uint32_t i = 0; i < t->bank->rounds; i++) {
        SapRunnerAttemptV0Stats stats;
        SapRunnerAttemptV0 attempt = {.db = t->bank->db,
                                      .ctx = ctx,
                                      .flags = i % 4 == 0 ? 0 : SAP_RUNNER_ATTEMPT_V0_NO_WAIT,
                                      .max_retries = RETRIES,
                                      .backoff_us = 1,
                                      .backoff_max_us = 200,
                                      .block = transfer,
                                      .block_ctx = t};
        t->from = (uint32_t)rng_below(&t->rng, ACCOUNTS);
        t->to = (uint32_t)rng_below(&t->rng, ACCOUNTS);
        t->amount = (int64_t)rng_below(&t->rng, 100);
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
        EXPECT(stats.attempts == stats.retries + 1, "%u attempts", stats.attempts);
        relaxed_add(&t->bank->done, 1);
        relaxed_add(&t->bank->conflicts, stats.conflicts);
    }
    sap_runner_txctx_v0_dispose(ctx);
    relaxed_sub(&t->bank->working, 1);
    return NULL;
}

static int add_row(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                   void *fn_ctx)
{
    (void)key;
    (void)key_len;
    *(int64_t *)fn_ctx += number_of(val, val_len);
    return 0;
}

static int sum_up(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    int64_t *sum = (int64_t *)fn_ctx;

    *sum = 0;
    return sap_runner_txctx_v0_scan(ctx, 0, "account", 7, add_row, sum);
}

/* Money is neither made nor lost, at no time. */
static void *audit(void *arg)
{
    Teller *t = (Teller *)arg;
    SapRunnerTxCtxV0 *ctx = NULL;
    int64_t sum = 0;

    EXPECT_RC(sap_runner_txctx_v0_create(t->bank->db, &ctx), SAP_OK);
    do {
        SapRunnerAttemptV0 attempt = {.db = t->bank->db,
                                      .ctx = ctx,
                                      .flags = SAP_RUNNER_ATTEMPT_V0_READ_ONLY,
                                      .block = sum_up,
                                      .block_ctx = &sum};
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
        EXPECT(sum == ACCOUNTS * START, "the sum is %lld", (long long)sum);
        relaxed_add(&t->bank->reads, 1);
    } while (relaxed_load(&t->bank->working) > 0);
    sap_runner_txctx_v0_dispose(ctx);
    return NULL;
}

static void run_bank(SapEnv *db, const char *name, uint32_t rounds)
{
    Bank bank = {.db = db, .rounds = rounds, .seed = choice_first_seed()};
    Teller tellers[THREADS + 1];
    pthread_t threads[THREADS + 1];
    char key[16];
    char text[32];
    int64_t sum = 0;

    expect_context("%s, seed %" PRIu64, name, bank.seed);
    for (uint32_t i = 0; i < ACCOUNTS; i++) {
        account_key(i, key);
        snprintf(text, sizeof text, "%d", START);
        tx_db_set(db, 0, key, text);
    }
    tx_db_set(db, 0, "counter", "0");
    relaxed_store(&bank.working, THREADS);
    for (uint32_t i = 0; i <= THREADS; i++) {
        tellers[i] = (Teller){.bank = &bank, .n = i};
        rng_seed(&tellers[i].rng, bank.seed * 100 + i);
        EXPECT(pthread_create(&threads[i], NULL, i < THREADS ? work : audit, &tellers[i]) == 0,
               "no thread");
    }
    for (uint32_t i = 0; i <= THREADS; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0, "join");
    }
    EXPECT(relaxed_load(&bank.done) == (uint64_t)THREADS * rounds, "blocks");
    EXPECT(relaxed_load(&bank.conflicts) > 0, "nobody came in between: nothing was tested");
    snprintf(text, sizeof text, "%u", THREADS * rounds);
    tx_db_expect_row(db, 0, "counter", text);
    SapRunnerAttemptV0 attempt = {.db = db, .block = sum_up, .block_ctx = &sum};
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    EXPECT(sum == ACCOUNTS * START, "the sum is %lld", (long long)sum);
    printf("%s, seed %" PRIu64 ": %" PRIu64 " blocks of %d threads, %" PRIu64 " conflicts, %" PRIu64
           " audits\n",
           name, bank.seed, relaxed_load(&bank.done), (int)THREADS, relaxed_load(&bank.conflicts),
           relaxed_load(&bank.reads));
}

START_TEST(in_memory_every_block_counts_exactly_once)
{
    SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);

    EXPECT(db != NULL, "no DB");
    run_bank(db, "memory", 1500);
    EXPECT_RC(sap_db_close(db), SAP_OK);
}
END_TEST

START_TEST(in_a_file_every_block_counts_exactly_once_also_after_it_is_opened_again)
{
    FileBed files;
    char text[32];

    file_bed_start(&files);
    SapEnv *db = file_bed_open(&files);
    run_bank(db, "file", 400);
    file_bed_close(db);
    db = file_bed_open(&files);
    snprintf(text, sizeof text, "%d", THREADS * 400);
    tx_db_expect_row(db, 0, "counter", text);
    file_bed_close(db);
    file_bed_end(&files);
}
END_TEST

/* A writer in another thread holds the lock until the reader has answered. */
typedef struct Holder {
    SapEnv *db;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool held, release;
} Holder;

static void *hold_writer(void *arg)
{
    Holder *h = (Holder *)arg;
    SapTxnCtx *txn;

    EXPECT_RC(sap_txn_begin_rc(h->db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "account00", 9, "0", 1), SAP_OK);
    pthread_mutex_lock(&h->lock);
    h->held = true;
    pthread_cond_broadcast(&h->changed);
    while (!h->release) {
        pthread_cond_wait(&h->changed, &h->lock);
    }
    pthread_mutex_unlock(&h->lock);
    sap_txn_abort(txn);
    return NULL;
}

START_TEST(a_reader_is_answered_while_another_thread_holds_the_writer_lock)
{
    Holder h = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    pthread_t thread;
    int64_t sum = 0;

    h.db = sap_db_open(NULL, 4096, NULL, NULL);
    EXPECT(h.db != NULL, "no DB");
    tx_db_set(h.db, 0, "account00", "42");
    EXPECT(pthread_create(&thread, NULL, hold_writer, &h) == 0, "no thread");
    pthread_mutex_lock(&h.lock);
    while (!h.held) {
        pthread_cond_wait(&h.changed, &h.lock);
    }
    pthread_mutex_unlock(&h.lock);
    SapRunnerAttemptV0 attempt = {
        .db = h.db, .flags = SAP_RUNNER_ATTEMPT_V0_READ_ONLY, .block = sum_up, .block_ctx = &sum};
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    ck_assert_int_eq(sum, 42);
    pthread_mutex_lock(&h.lock);
    h.release = true;
    pthread_cond_broadcast(&h.changed);
    pthread_mutex_unlock(&h.lock);
    EXPECT(pthread_join(thread, NULL) == 0, "join");
    EXPECT_RC(sap_db_close(h.db), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_attempt_threads");
    TCase *tcase = tcase_create("threads");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, in_memory_every_block_counts_exactly_once);
    tcase_add_test(tcase, in_a_file_every_block_counts_exactly_once_also_after_it_is_opened_again);
    tcase_add_test(tcase, a_reader_is_answered_while_another_thread_holds_the_writer_lock);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
