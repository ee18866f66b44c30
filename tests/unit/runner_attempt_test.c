/* Running a block until it commits: conflicts are found and retried within bounds, nothing is done in
 * part, a reader never waits for a writer, and what is answered is as durable as a commit. */
#include "common/fault.h"
#include "common/mem.h"
#include "runner/scheduler_v0.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "support/tx.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300 };

/* A block that adds one to the number under `counter`, and what happens meanwhile. */
typedef struct Script {
    TxBed *bed;
    uint32_t runs;
    uint32_t interfere;  /* in so many runs another writer changes the counter */
    uint32_t answers[8]; /* of the runs, where not SAP_OK */
    uint32_t answer_count;
    bool leave_open;
    uint32_t sleeps;
    uint32_t slept_us[32];
    uint32_t dice;
    uint32_t finishes;
    int finish_rc[8]; /* of each finish; SAP_OK afterwards */
} Script;

static uint32_t number_in(const void *val, uint32_t len)
{
    char text[16] = {0};
    unsigned number = 0;

    memcpy(text, val, len < sizeof text ? len : sizeof text - 1);
    EXPECT(sscanf(text, "%u", &number) == 1, "not a number: %s", text);
    return number;
}

static int add_one(SapRunnerTxCtxV0 *ctx, const char *key)
{
    const void *val = NULL;
    uint32_t len = 0;
    char text[16];
    int rc = sap_runner_txctx_v0_get(ctx, 0, key, (uint32_t)strlen(key), &val, &len);

    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    snprintf(text, sizeof text, "%u", (rc == SAP_OK ? number_in(val, len) : 0) + 1);
    return tx_put(ctx, 0, key, text);
}

static int counter_block(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    uint32_t run = s->runs++;

    int rc = add_one(ctx, "counter");
    if (run < s->interfere) {
        char text[16];
        snprintf(text, sizeof text, "%u", 100 * (run + 1));
        tx_db_put(s->bed, 0, "counter", text);
    }
    if (s->leave_open) {
        EXPECT_RC(sap_runner_txstack_v0_push(ctx), SAP_OK);
    }
    return run < s->answer_count ? (int)s->answers[run] : rc;
}

static void note_sleep(uint32_t us, void *ctx)
{
    Script *s = (Script *)ctx;
    if (s->sleeps < 32) {
        s->slept_us[s->sleeps] = us;
    }
    s->sleeps++;
}

static void loaded_dice(void *out, uint32_t len, void *ctx)
{
    const Script *s = (const Script *)ctx;
    EXPECT(len == sizeof s->dice, "%u bytes", len);
    memcpy(out, &s->dice, len);
}

static SapRunnerAttemptV0 attempt_of(TxBed *bed, Script *s)
{
    s->bed = bed;
    return (SapRunnerAttemptV0){.db = bed->db,
                                .ctx = bed->ctx,
                                .max_retries = 3,
                                .random = loaded_dice,
                                .random_ctx = s,
                                .sleep_us = note_sleep,
                                .sleep_ctx = s,
                                .block = counter_block,
                                .block_ctx = s};
}

/* ---- Retries -------------------------------------------------------------------------------- */

START_TEST(a_block_without_conflict_runs_once)
{
    TxBed bed;
    Script s = {0};
    SapRunnerAttemptV0Stats stats;

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(s.runs, 1);
    ck_assert_uint_eq(stats.attempts, 1);
    ck_assert_uint_eq(stats.retries + stats.conflicts + stats.busy + s.sleeps, 0);
    ck_assert_uint_eq(stats.lsn, 0);
    tx_db_expect(&bed, 0, "counter", "1");
    /* The same with a context of the attempt's own, and without stats. */
    attempt.ctx = NULL;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    tx_db_expect(&bed, 0, "counter", "2");
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_block_whose_reads_changed_is_run_again_on_the_new_state)
{
    TxBed bed;
    Script s = {.interfere = 2};
    SapRunnerAttemptV0Stats stats;

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(s.runs, 3);
    ck_assert_uint_eq(stats.attempts, 3);
    ck_assert_uint_eq(stats.retries, 2);
    ck_assert_uint_eq(stats.conflicts, 2);
    ck_assert_uint_eq(stats.busy, 0);
    ck_assert_uint_eq(s.sleeps, 2);
    tx_db_expect(&bed, 0, "counter", "201");
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_conflict_that_stays_ends_after_the_last_retry_with_nothing_done)
{
    for (uint32_t max = 0; max < 5; max++) {
        TxBed bed;
        Script s = {.interfere = UINT32_MAX};
        SapRunnerAttemptV0Stats stats;
        char text[16];

        tx_bed_open(&bed, 4096);
        SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
        attempt.max_retries = max;
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_CONFLICT);
        ck_assert_uint_eq(s.runs, max + 1);
        ck_assert_uint_eq(stats.attempts, max + 1);
        ck_assert_uint_eq(stats.retries, max);
        ck_assert_uint_eq(stats.conflicts, max + 1);
        ck_assert_uint_eq(s.sleeps, max);
        snprintf(text, sizeof text, "%u", 100 * (max + 1));
        tx_db_expect(&bed, 0, "counter", text);
        tx_bed_close(&bed);
    }
}
END_TEST

START_TEST(busy_and_conflict_from_the_block_are_retried_and_nothing_else_is)
{
    TxBed bed;
    SapRunnerAttemptV0Stats stats;

    tx_bed_open(&bed, 4096);
    Script s = {.answers = {SAP_BUSY, SAP_CONFLICT}, .answer_count = 2};
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(stats.attempts, 3);
    ck_assert_uint_eq(stats.busy, 1);
    ck_assert_uint_eq(stats.conflicts, 1);
    tx_db_expect(&bed, 0, "counter", "1");
    static const int others[] = {SAP_ERROR, SAP_NOTFOUND, SAP_NOMEM,   SAP_FULL, SAP_READONLY,
                                 SAP_IO,    SAP_INVALID,  SAP_CORRUPT, -77,      4711};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        Script other = {.answers = {(uint32_t)others[i]}, .answer_count = 1};
        attempt = attempt_of(&bed, &other);
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), others[i]);
        ck_assert_uint_eq(other.runs, 1);
        ck_assert_uint_eq(stats.attempts, 1);
        tx_db_expect(&bed, 0, "counter", "1");
    }
    tx_bed_close(&bed);
}
END_TEST

static int scan_and_write(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    uint32_t rows = 0;
    char text[16];

    int rc = sap_runner_txctx_v0_scan(ctx, 0, "row", 3, tx_count_rows, &rows);
    if (s->runs++ == 0) {
        tx_db_put(s->bed, 0, "row5", "phantom");
    }
    snprintf(text, sizeof text, "%u", rows);
    return rc == SAP_OK ? tx_put(ctx, 0, "count", text) : rc;
}

START_TEST(a_phantom_is_a_conflict)
{
    TxBed bed;
    Script s = {0};
    SapRunnerAttemptV0Stats stats;

    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "row1", "x");
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.block = scan_and_write;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(stats.conflicts, 1);
    tx_db_expect(&bed, 0, "count", "2");
    tx_bed_close(&bed);
}
END_TEST

START_TEST(backoff_doubles_up_to_its_maximum_with_jitter_below)
{
    static const uint32_t dice[] = {0, 1, 2, 77, 4999, UINT32_MAX};
    uint32_t tried = 0;

    for (uint32_t n = 0; n < 100; n++) {
        uint64_t most = n < 30 ? UINT64_C(250) << n : UINT64_MAX;
        most = most > 10000 ? 10000 : most;
        for (size_t i = 0; i < sizeof dice / sizeof dice[0]; i++) {
            uint64_t us = scheduler_backoff(250, 10000, n, dice[i]);
            ck_assert_uint_le(us, most);
            ck_assert_uint_ge(us, most / 2);
            tried++;
        }
    }
    ck_assert_uint_ne(scheduler_backoff(250, 10000, 3, 1), scheduler_backoff(250, 10000, 3, 2));
    ck_assert_uint_eq(scheduler_backoff(0, 0, 5, 3), 0);
    ck_assert_uint_le(scheduler_backoff(UINT32_MAX, UINT32_MAX, UINT32_MAX, 1), UINT32_MAX);
    ck_assert_uint_eq(scheduler_backoff(500, 100, 0, 50), 100);

    TxBed bed;
    Script s = {.interfere = UINT32_MAX, .dice = 0};
    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.max_retries = 8;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_CONFLICT);
    static const uint32_t expected[] = {125, 250, 500, 1000, 2000, 4000, 5000, 5000};
    ck_assert_uint_eq(s.sleeps, 8);
    for (uint32_t i = 0; i < 8; i++) {
        ck_assert_uint_eq(s.slept_us[i], expected[i]);
    }
    tx_bed_close(&bed);
    printf("backoff: %u values\n", tried);
}
END_TEST

START_TEST(without_hooks_an_attempt_sleeps_and_draws_by_the_system)
{
    TxBed bed;
    Script s = {.interfere = 1};

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.random = NULL;
    attempt.sleep_us = NULL;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    tx_db_expect(&bed, 0, "counter", "101");
    tx_bed_close(&bed);
}
END_TEST

/* ---- Nested blocks, misuse ------------------------------------------------------------------ */

START_TEST(a_block_that_leaves_a_nested_one_open_is_an_error)
{
    TxBed bed;
    Script s = {.leave_open = true};
    SapRunnerAttemptV0Stats stats;

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_ERROR);
    ck_assert_uint_eq(stats.attempts, 1);
    tx_db_expect(&bed, 0, "counter", NULL);
    /* One that fails may leave what it likes. */
    Script failing = {.leave_open = true, .answers = {SAP_INVALID}, .answer_count = 1};
    attempt = attempt_of(&bed, &failing);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_INVALID);
    /* And the next begins afresh. */
    Script fine = {0};
    attempt = attempt_of(&bed, &fine);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    tx_db_expect(&bed, 0, "counter", "1");
    tx_bed_close(&bed);
}
END_TEST

static int attempt_within(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    SapRunnerAttemptV0 inner = attempt_of(s->bed, s);

    EXPECT_RC(sap_runner_attempt_v0_run(&inner, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_reset(ctx, NULL, 0), SAP_BUSY);
    inner.ctx = NULL;
    EXPECT_RC(sap_runner_attempt_v0_run(&inner, NULL), SAP_OK); /* one of its own */
    return tx_put(ctx, 0, "outer", "done");
}

START_TEST(misuse_is_an_error)
{
    TxBed bed;
    TxBed other;
    Script s = {0};
    SapRunnerAttemptV0Stats stats = {.attempts = 9};

    tx_bed_open(&bed, 4096);
    tx_bed_open(&other, 4096);
    SapRunnerAttemptV0 good = attempt_of(&bed, &s);
    SapRunnerAttemptV0 attempt = good;
    EXPECT_RC(sap_runner_attempt_v0_run(NULL, &stats), SAP_ERROR);
    ck_assert_uint_eq(stats.attempts, 0);
    attempt.db = NULL;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_ERROR);
    attempt = good;
    attempt.block = NULL;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_ERROR);
    attempt = good;
    attempt.flags = 4;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_ERROR);
    attempt = good;
    attempt.ctx = other.ctx;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_ERROR);
    ck_assert_uint_eq(s.runs, 0);
    attempt = good;
    attempt.block = attempt_within;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    tx_db_expect(&bed, 0, "outer", "done");
    tx_db_expect(&bed, 0, "counter", "1");
    tx_bed_close(&other);
    tx_bed_close(&bed);
}
END_TEST

/* ---- Finish hooks and intents --------------------------------------------------------------- */

static int note_finish(SapTxnCtx *txn, SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    const void *val = NULL;
    uint32_t len = 0;
    uint32_t n = s->finishes++;
    uint8_t frame[200];
    uint32_t frame_len = tx_intent(frame, sizeof frame, "late", -1);

    /* The block's writes are there, and the context takes no more. */
    EXPECT_RC(sap_txn_get(txn, "counter", 7, &val, &len), SAP_OK);
    EXPECT(sap_runner_txctx_v0_write_count(ctx) == 1, "writes");
    EXPECT_RC(sap_runner_txctx_v0_get(ctx, 0, "counter", 7, NULL, NULL), SAP_ERROR);
    EXPECT_RC(tx_put(ctx, 0, "late", "x"), SAP_ERROR);
    EXPECT_RC(sap_runner_txctx_v0_push_intent(ctx, frame, frame_len), SAP_ERROR);
    EXPECT_RC(sap_runner_txstack_v0_push(ctx), SAP_ERROR);
    EXPECT_RC(sap_txn_put_dbi(txn, 8, "finished", 8, val, len), SAP_OK);
    return n < 8 ? s->finish_rc[n] : SAP_OK;
}

START_TEST(what_finish_changes_is_part_of_the_same_commit)
{
    TxBed bed;
    Script s = {0};
    SapRunnerAttemptV0Stats stats;

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.finish = note_finish;
    attempt.finish_ctx = &s;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    tx_db_expect(&bed, 0, "counter", "1");
    tx_db_expect(&bed, 8, "finished", "1");

    Script failing = {.finish_rc = {SAP_FENCED}};
    attempt = attempt_of(&bed, &failing);
    attempt.finish = note_finish;
    attempt.finish_ctx = &failing;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_FENCED);
    ck_assert_uint_eq(failing.finishes, 1);
    tx_db_expect(&bed, 0, "counter", "1");
    tx_db_expect(&bed, 8, "finished", "1");

    Script retried = {.finish_rc = {SAP_CONFLICT, SAP_BUSY}};
    attempt = attempt_of(&bed, &retried);
    attempt.finish = note_finish;
    attempt.finish_ctx = &retried;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(retried.finishes, 3);
    ck_assert_uint_eq(stats.conflicts, 1);
    ck_assert_uint_eq(stats.busy, 1);
    tx_db_expect(&bed, 8, "finished", "2");
    tx_bed_close(&bed);
}
END_TEST

static int nothing_block(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    (void)ctx;
    s->runs++;
    return SAP_OK;
}

static int count_finish(SapTxnCtx *txn, SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    (void)ctx;
    s->finishes++;
    return sap_txn_put(txn, "finish", 6, "x", 1);
}

START_TEST(finish_is_called_for_a_block_that_wrote_nothing_but_never_for_one_that_only_reads)
{
    TxBed bed;
    Script s = {0};

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.block = nothing_block;
    attempt.finish = count_finish;
    attempt.finish_ctx = &s;
    attempt.flags = SAP_RUNNER_ATTEMPT_V0_READ_ONLY;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    ck_assert_uint_eq(s.finishes, 0);
    tx_db_expect(&bed, 0, "finish", NULL);
    attempt.flags = 0;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    ck_assert_uint_eq(s.finishes, 1);
    tx_db_expect(&bed, 0, "finish", "x");
    tx_bed_close(&bed);
}
END_TEST

static int intent_block(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    uint8_t frame[200];
    uint32_t len = tx_intent(frame, sizeof frame, "emit", -1);

    int rc = sap_runner_txctx_v0_push_intent(ctx, frame, len);
    if (rc == SAP_OK) {
        len = tx_intent(frame, sizeof frame, "timer", 5000);
        rc = sap_runner_txctx_v0_push_intent(ctx, frame, len);
    }
    return rc == SAP_OK ? counter_block(ctx, s) : rc;
}

START_TEST(intents_reach_outbox_and_timers_exactly_when_the_block_commits)
{
    TxBed bed;
    Script s = {.interfere = 2};
    int64_t due = 0;
    SapTxnCtx *txn;

    tx_bed_open(&bed, 4096);
    tx_open_runner_tables(bed.db);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.block = intent_block;
    attempt.max_retries = 1;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_CONFLICT);
    ck_assert_uint_eq(tx_db_rows(bed.db, 2), 0);
    ck_assert_uint_eq(tx_db_rows(bed.db, 4), 0);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
    ck_assert_uint_eq(tx_db_rows(bed.db, 2), 1);
    ck_assert_uint_eq(tx_db_rows(bed.db, 4), 1);
    EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_scheduler_v0_next_due(txn, &due), SAP_OK);
    sap_txn_abort(txn);
    ck_assert_int_eq(due, 5000);
    tx_bed_close(&bed);
}
END_TEST

/* ---- Readers and the writer lock ------------------------------------------------------------ */

static int read_block(SapRunnerTxCtxV0 *ctx, void *fn_ctx)
{
    Script *s = (Script *)fn_ctx;
    s->runs++;
    tx_expect_get(ctx, 0, "counter", "7");
    return SAP_OK;
}

START_TEST(a_block_that_only_reads_never_waits_for_a_writer)
{
    TxBed bed;
    Script s = {0};
    SapRunnerAttemptV0Stats stats;
    SapTxnCtx *writer;

    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "counter", "7");
    EXPECT_RC(sap_txn_begin_rc(bed.db, NULL, 0, &writer), SAP_OK);
    EXPECT_RC(sap_txn_put(writer, "counter", 7, "8", 1), SAP_OK);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.block = read_block;
    attempt.flags = SAP_RUNNER_ATTEMPT_V0_READ_ONLY;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    /* Nor does one that was not declared so and turns out to write nothing. */
    attempt.flags = 0;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(s.runs, 2);
    /* This thread holds the lock: waiting for it would be forever. */
    attempt.block = counter_block;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_BUSY);
    ck_assert_uint_eq(stats.busy, 4);
    ck_assert_uint_eq(stats.retries, 3);
    EXPECT_RC(sap_txn_commit(writer), SAP_OK);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    tx_db_expect(&bed, 0, "counter", "9");
    tx_bed_close(&bed);
}
END_TEST

START_TEST(a_read_only_block_cannot_write)
{
    TxBed bed;
    Script s = {0};

    tx_bed_open(&bed, 4096);
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    attempt.flags = SAP_RUNNER_ATTEMPT_V0_READ_ONLY;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_READONLY);
    tx_db_expect(&bed, 0, "counter", NULL);
    tx_bed_close(&bed);
}
END_TEST

/* ---- In files ------------------------------------------------------------------------------- */

static SapRunnerAttemptV0 file_attempt(SapEnv *db, Script *s)
{
    static TxBed bed;
    bed = (TxBed){.db = db};
    return attempt_of(&bed, s);
}

START_TEST(in_a_file_a_commit_is_durable_when_it_is_answered)
{
    FileBed files;
    Script s = {.interfere = 1};
    SapRunnerAttemptV0Stats stats;

    file_bed_start(&files);
    SapEnv *db = file_bed_open(&files);
    SapRunnerAttemptV0 attempt = file_attempt(db, &s);
    uint64_t before = sap_db_durable_lsn(db);
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_eq(stats.conflicts, 1);
    uint64_t durable = sap_db_durable_lsn(db);
    ck_assert_uint_gt(durable, before);
    SapTxnCtx *txn;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_OK);
    ck_assert_uint_eq(sap_txn_base_lsn(txn), durable);
    sap_txn_abort(txn);

    attempt.flags = SAP_RUNNER_ATTEMPT_V0_NO_WAIT;
    EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
    ck_assert_uint_gt(stats.lsn, durable);
    EXPECT_RC(sap_db_wait_durable(db, stats.lsn), SAP_OK);
    ck_assert_uint_ge(sap_db_durable_lsn(db), stats.lsn);
    tx_db_expect_row(db, 0, "counter", "102");
    file_bed_close(db);
    file_bed_end(&files);
}
END_TEST

static uint64_t commit_async(SapEnv *db, const char *val)
{
    SapTxnCtx *txn;
    uint64_t lsn = 0;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "counter", 7, val, (uint32_t)strlen(val)), SAP_OK);
    EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
    return lsn;
}

START_TEST(a_block_that_wrote_nothing_waits_for_what_it_has_read)
{
    FileBed files;
    SapRunnerAttemptV0Stats stats;

    file_bed_start(&files);
    SapEnv *db = file_bed_open(&files);
    for (int i = 0; i < 50; i++) {
        Script s = {0};
        SapRunnerAttemptV0 attempt = file_attempt(db, &s);
        attempt.block = read_block;
        attempt.flags = i % 2 == 0 ? SAP_RUNNER_ATTEMPT_V0_READ_ONLY : 0;
        uint64_t lsn = commit_async(db, "7");
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
        EXPECT(sap_db_durable_lsn(db) >= lsn, "answered before it was durable");
        ck_assert_uint_eq(stats.lsn, 0);
        attempt.flags |= SAP_RUNNER_ATTEMPT_V0_NO_WAIT;
        lsn = commit_async(db, "7");
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, &stats), SAP_OK);
        ck_assert_uint_eq(stats.lsn, lsn);
    }
    file_bed_close(db);
    file_bed_end(&files);
}
END_TEST

START_TEST(where_commits_are_acknowledged_at_once_a_reader_does_not_wait_either)
{
    static const SapSyncMode modes[] = {SAP_SYNC_PERIODIC, SAP_SYNC_NONE};

    for (size_t i = 0; i < 2; i++) {
        FileBed files;
        Script s = {0};

        file_bed_start(&files);
        files.options.sync_mode = modes[i];
        files.options.sync_period_ms = 3600 * 1000;
        SapEnv *db = file_bed_open(&files);
        SapRunnerAttemptV0 attempt = file_attempt(db, &s);
        attempt.block = read_block;
        uint64_t lsn = commit_async(db, "7");
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
        EXPECT(sap_db_durable_lsn(db) < lsn, "mode %zu: it was made durable", i);
        file_bed_close(db);
        file_bed_end(&files);
    }
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

START_TEST(every_allocation_that_fails_ends_the_attempt_with_nothing_done)
{
    uint64_t failed = 0;

    for (uint64_t nth = 1;; nth++) {
        TxBed bed;
        Script s = {0};
        SapRunnerAttemptV0Stats stats;
        size_t before = mem_live_total();

        expect_context("allocation %llu", (unsigned long long)nth);
        tx_bed_open(&bed, 256);
        tx_open_runner_tables(bed.db);
        SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
        attempt.ctx = NULL;
        attempt.block = intent_block;
        fault_reset();
        fault_arm_alloc(nth);
        int rc = sap_runner_attempt_v0_run(&attempt, &stats);
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT(rc == (fired ? SAP_NOMEM : SAP_OK), "answered %d", rc);
        tx_db_expect(&bed, 0, "counter", fired ? NULL : "1");
        EXPECT(tx_db_rows(bed.db, 2) == (fired ? 0 : 1), "outbox");
        EXPECT(tx_db_rows(bed.db, 4) == (fired ? 0 : 1), "timers");
        tx_bed_close(&bed);
        EXPECT(mem_live_total() == before, "%zu bytes leaked", mem_live_total() - before);
        if (!fired) {
            break;
        }
        failed++;
    }
    printf("attempt: %llu allocations failed once each\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 5);
}
END_TEST

START_TEST(attempts_with_one_context_allocate_nothing_after_the_first_few)
{
    TxBed bed;
    Script s = {0};

    tx_bed_open(&bed, 4096);
    tx_db_put(&bed, 0, "counter", "0");
    SapRunnerAttemptV0 attempt = attempt_of(&bed, &s);
    for (int round = 0; round < 200; round++) {
        fault_reset();
        EXPECT_RC(sap_runner_attempt_v0_run(&attempt, NULL), SAP_OK);
        EXPECT(round < 100 || fault_alloc_count() == 0, "round %d: %llu allocations", round,
               (unsigned long long)fault_alloc_count());
    }
    tx_db_expect(&bed, 0, "counter", "200");
    tx_bed_close(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner_attempt");
    TCase *tcase = tcase_create("attempt");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_block_without_conflict_runs_once);
    tcase_add_test(tcase, a_block_whose_reads_changed_is_run_again_on_the_new_state);
    tcase_add_test(tcase, a_conflict_that_stays_ends_after_the_last_retry_with_nothing_done);
    tcase_add_test(tcase, busy_and_conflict_from_the_block_are_retried_and_nothing_else_is);
    tcase_add_test(tcase, a_phantom_is_a_conflict);
    tcase_add_test(tcase, backoff_doubles_up_to_its_maximum_with_jitter_below);
    tcase_add_test(tcase, without_hooks_an_attempt_sleeps_and_draws_by_the_system);
    tcase_add_test(tcase, a_block_that_leaves_a_nested_one_open_is_an_error);
    tcase_add_test(tcase, misuse_is_an_error);
    tcase_add_test(tcase, what_finish_changes_is_part_of_the_same_commit);
    tcase_add_test(
        tcase, finish_is_called_for_a_block_that_wrote_nothing_but_never_for_one_that_only_reads);
    tcase_add_test(tcase, intents_reach_outbox_and_timers_exactly_when_the_block_commits);
    tcase_add_test(tcase, a_block_that_only_reads_never_waits_for_a_writer);
    tcase_add_test(tcase, a_read_only_block_cannot_write);
    tcase_add_test(tcase, in_a_file_a_commit_is_durable_when_it_is_answered);
    tcase_add_test(tcase, a_block_that_wrote_nothing_waits_for_what_it_has_read);
    tcase_add_test(tcase, where_commits_are_acknowledged_at_once_a_reader_does_not_wait_either);
    tcase_add_test(tcase, every_allocation_that_fails_ends_the_attempt_with_nothing_done);
    tcase_add_test(tcase, attempts_with_one_context_allocate_nothing_after_the_first_few);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
