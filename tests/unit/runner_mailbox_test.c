/* The inbox: what is sent is claimed in order, by one at a time, and is gone when it is done. */
#include "common/bytes.h"
#include "common/config.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 600, ME = 7, OTHER = 8, NOW = 1000000, TTL = 1000 };

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

static uint32_t claim_many(SapEnv *db, const SapRunnerV0ClaimOptions *options,
                           SapRunnerV0Claim *claims, uint32_t max, SapRunnerV0ClaimReport *report)
{
    SapTxnCtx *txn = post_begin(db);
    uint32_t count = 0;

    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, options, claims, max, &count, report), SAP_OK);
    post_commit(txn);
    return count;
}

static void stat_of(int64_t worker, uint64_t *count, uint64_t *leased, int64_t *oldest)
{
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(sap_runner_mailbox_v0_stat(txn, worker, count, leased, oldest), SAP_OK);
    sap_txn_abort(txn);
}

/* ---- Sending -------------------------------------------------------------------------------- */

START_TEST(what_is_not_a_frame_is_not_sent)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, 1, POST_NORMAL, "a");
    uint64_t before = post_digest(post.db);
    uint64_t seq = 12345;
    SapTxnCtx *txn = post_begin(post.db);

    for (uint32_t n = 0; n < len; n++) {
        EXPECT_RC(sap_runner_mailbox_v0_send(txn, frame, n, &seq), SAP_INVALID);
    }
    EXPECT_RC(sap_runner_mailbox_v0_send(txn, "not a frame at all", 18, &seq), SAP_INVALID);
    frame[0] ^= 1;
    EXPECT_RC(sap_runner_mailbox_v0_send(txn, frame, len, &seq), SAP_INVALID);
    EXPECT(seq == 12345, "seq was written");
    post_commit(txn);
    EXPECT(post_digest(post.db) == before, "something has changed");
}
END_TEST

START_TEST(misuse_is_an_error_and_changes_nothing)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, 1, POST_NORMAL, "a");
    SapRunnerV0ClaimOptions options = {.worker_id = 1, .owner = ME, .now_ms = NOW};
    SapRunnerV0ClaimOptions nobody = {.worker_id = 1, .owner = 0, .now_ms = NOW};
    SapRunnerV0ClaimOptions negative = {.worker_id = -1, .owner = ME, .now_ms = NOW};
    SapRunnerV0Claim claim;
    SapTxnCtx *txn = NULL;
    uint32_t count = 0;

    post_send(post.db, 1, POST_NORMAL, "a");
    uint64_t before = post_digest(post.db);

    txn = post_begin(post.db);
    EXPECT_RC(sap_runner_mailbox_v0_send(NULL, frame, len, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_send(txn, NULL, len, NULL), SAP_INVALID);
    EXPECT_RC(sap_runner_mailbox_v0_claim(NULL, &options, &claim, 1, &count, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, NULL, &claim, 1, &count, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, NULL, 1, &count, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, &claim, 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &nobody, &claim, 1, &count, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &negative, &claim, 1, &count, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_ack(txn, NULL, NOW, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_touch(txn, NULL, NOW, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, NULL, 4, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_requeue_at(txn, NULL, NOW), SAP_ERROR);
    EXPECT_RC(sap_runner_mailbox_v0_stat(NULL, 1, NULL, NULL, NULL), SAP_ERROR);
    post_commit(txn);

    EXPECT_RC(sap_txn_begin_rc(post.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_mailbox_v0_send(txn, frame, len, NULL), SAP_READONLY);
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, &claim, 1, &count, NULL), SAP_READONLY);
    sap_txn_abort(txn);
    EXPECT(post_digest(post.db) == before, "something has changed");
    sap_runner_v0_claim_release(NULL);
}
END_TEST

START_TEST(rows_lie_where_the_layout_says)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, 5, POST_NORMAL, "layout");
    uint8_t key[16];
    const void *val = NULL;
    uint32_t val_len = 0;
    uint64_t seq = post_send(post.db, 5, POST_NORMAL, "layout");
    uint64_t high = post_send(post.db, 5, POST_HIGH, "high");
    SapRunnerV0Claim claim;
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT(seq >> 63 == 1, "a normal message has bit 63 of its number");
    EXPECT(high >> 63 == 0, "one of high priority has not");
    post_key(key, 5, seq);
    EXPECT_RC(sap_txn_get_dbi(txn, POST_INBOX, key, 16, &val, &val_len), SAP_OK);
    EXPECT(val_len == len && memcmp(val, frame, len) == 0, "another frame");
    EXPECT_RC(sap_txn_get(txn, "runner.seq.inbox", 16, &val, &val_len), SAP_OK);
    EXPECT(val_len == 8, "a mark of %u bytes", val_len);
    sap_txn_abort(txn);

    post_expect_claim(post.db, 5, ME, NOW, "high", &claim);
    post_key(key, 5, high);
    txn = post_begin(post.db);
    EXPECT_RC(sap_txn_get_dbi(txn, POST_LEASES, key, 16, &val, &val_len), SAP_OK);
    const uint8_t *row = val;
    EXPECT(val_len == 32 && memcmp(row, "LSE0", 4) == 0, "not a lease");
    EXPECT(load_u64le(row + 4) == ME, "owner");
    EXPECT((int64_t)load_u64le(row + 12) == NOW + TTL, "deadline");
    EXPECT(load_u32le(row + 20) == 1, "attempts");
    EXPECT(load_u64le(row + 24) == claim.token, "token");
    sap_txn_abort(txn);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(numbers_never_repeat_after_a_drain_or_a_reopen)
{
    FileBed bed;
    uint64_t last = 0;
    uint64_t last_high = 0;
    uint64_t last_token = 0;

    file_bed_start(&bed);
    for (int round = 0; round < 4; round++) {
        SapEnv *db = file_bed_open(&bed);
        EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
        for (int i = 0; i < 5; i++) {
            uint64_t seq = post_send(db, 1, POST_NORMAL, "n");
            uint64_t high = post_send(db, 1, POST_HIGH, "h");
            EXPECT(seq > last, "number %llu after %llu", (unsigned long long)seq,
                   (unsigned long long)last);
            EXPECT(high > last_high, "number %llu after %llu", (unsigned long long)high,
                   (unsigned long long)last_high);
            last = seq;
            last_high = high;
            for (int k = 0; k < 2; k++) {
                SapRunnerV0Claim claim;
                EXPECT(post_claim(db, 1, ME, NOW, &claim) == 1, "nothing to claim");
                EXPECT(claim.token > last_token, "token %llu after %llu",
                       (unsigned long long)claim.token, (unsigned long long)last_token);
                last_token = claim.token;
                EXPECT_RC(post_ack(db, &claim, NOW), SAP_OK);
                sap_runner_v0_claim_release(&claim);
            }
            EXPECT(post_rows(db, POST_INBOX) == 0, "the inbox is not empty");
        }
        file_bed_close(db);
    }
    file_bed_end(&bed);
}
END_TEST

/* ---- Order ---------------------------------------------------------------------------------- */

START_TEST(messages_are_claimed_first_in_first_out)
{
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_send(post.db, 1, POST_NORMAL, "b");
    post_send(post.db, 1, POST_NORMAL, "c");
    for (int i = 0; i < 3; i++) {
        const char *ids[] = {"a", "b", "c"};
        post_expect_claim(post.db, 1, ME, NOW, ids[i], &claim);
        sap_runner_v0_claim_release(&claim);
    }
    post_expect_no_claim(post.db, 1, NOW);
}
END_TEST

START_TEST(high_priority_goes_before_the_rest_and_each_kind_is_in_order)
{
    SapRunnerV0Claim claims[8];
    SapRunnerV0ClaimOptions options = {.worker_id = 1, .owner = ME, .now_ms = NOW};
    const char *expected[] = {"h1", "h2", "n1", "n2", "n3"};

    post_send(post.db, 1, POST_NORMAL, "n1");
    post_send(post.db, 1, POST_HIGH, "h1");
    post_send(post.db, 1, POST_NORMAL, "n2");
    post_send(post.db, 1, POST_HIGH, "h2");
    post_send(post.db, 1, POST_NORMAL, "n3");
    uint32_t count = claim_many(post.db, &options, claims, 8, NULL);
    EXPECT(count == 5, "%u claims", count);
    for (uint32_t i = 0; i < count; i++) {
        post_expect_id(claims[i].frame, claims[i].frame_len, expected[i]);
        EXPECT(claims[i].deadline_ms == NOW + 1000, "the default lease is a second");
        sap_runner_v0_claim_release(&claims[i]);
    }
}
END_TEST

START_TEST(workers_have_inboxes_of_their_own)
{
    SapRunnerV0Claim claim;

    post_send(post.db, INT64_MAX, POST_NORMAL, "last");
    post_send(post.db, 0, POST_NORMAL, "zero");
    post_send(post.db, 1, POST_NORMAL, "one");
    post_send(post.db, 1, POST_HIGH, "one first");
    post_send(post.db, 256, POST_NORMAL, "many");
    post_expect_no_claim(post.db, 2, NOW);
    post_expect_no_claim(post.db, 255, NOW);
    post_expect_claim(post.db, 0, ME, NOW, "zero", &claim);
    sap_runner_v0_claim_release(&claim);
    post_expect_no_claim(post.db, 0, NOW);
    post_expect_claim(post.db, INT64_MAX, ME, NOW, "last", &claim);
    EXPECT(claim.worker == (uint64_t)INT64_MAX, "another worker");
    EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    post_expect_no_claim(post.db, INT64_MAX, NOW);
    post_expect_claim(post.db, 1, ME, NOW, "one first", &claim);
    sap_runner_v0_claim_release(&claim);
    post_expect_claim(post.db, 256, ME, NOW, "many", &claim);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

/* ---- Leases --------------------------------------------------------------------------------- */

START_TEST(a_claim_tells_whose_it_is_until_when_and_which_attempt)
{
    SapRunnerV0Claim claim;
    uint64_t seq = post_send(post.db, 3, POST_NORMAL, "a");

    post_expect_claim(post.db, 3, ME, NOW, "a", &claim);
    EXPECT(claim.worker == 3 && claim.seq == seq && claim.owner == ME, "another key or owner");
    EXPECT(claim.deadline_ms == NOW + TTL, "deadline %lld", (long long)claim.deadline_ms);
    EXPECT(claim.attempts == 1 && claim.timer_seq == 0, "attempts %u", claim.attempts);
    EXPECT(claim.token != 0, "no token");
    sap_runner_v0_claim_release(&claim);
    EXPECT(claim.frame == NULL, "a released claim has no frame");
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(a_lease_is_respected_until_its_deadline_and_no_longer)
{
    SapRunnerV0Claim first;
    SapRunnerV0Claim second;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &first);
    post_expect_no_claim(post.db, 1, NOW);
    post_expect_no_claim(post.db, 1, first.deadline_ms - 1);
    post_expect_claim(post.db, 1, OTHER, first.deadline_ms, "a", &second);
    EXPECT(second.seq == first.seq, "a takeover keeps the number");
    EXPECT(second.owner == OTHER && second.token > first.token, "a token again");
    EXPECT(second.attempts == 2, "attempt %u", second.attempts);
    sap_runner_v0_claim_release(&first);
    sap_runner_v0_claim_release(&second);
}
END_TEST

START_TEST(an_ack_removes_message_lease_and_retry_count)
{
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
    EXPECT(post_retry_rows(post.db) == 1, "a failure is counted");
    EXPECT(post_rows(post.db, POST_LEASES) == 0, "what is put back is not leased");
    sap_runner_v0_claim_release(&claim);
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK);
    EXPECT(post_rows(post.db, POST_INBOX) == 0, "the message is there");
    EXPECT(post_rows(post.db, POST_LEASES) == 0, "the lease is there");
    EXPECT(post_rows(post.db, POST_DEDUPE) == 0, "the count is there");
    EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_CONFLICT);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(post.db, POST_DEAD) == 0, "a dead letter");
}
END_TEST

START_TEST(who_lost_the_lease_can_change_nothing)
{
    SapRunnerV0Claim late;
    SapRunnerV0Claim taker;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &late);
    /* The same owner again: the token decides, not the name. */
    post_expect_claim(post.db, 1, ME, NOW + TTL, "a", &taker);
    uint64_t before = post_digest(post.db);
    EXPECT_RC(post_ack(post.db, &late, NOW + TTL), SAP_CONFLICT);
    EXPECT_RC(post_touch(post.db, &late, NOW + TTL, TTL), SAP_CONFLICT);
    EXPECT(late.deadline_ms == NOW + TTL, "the claim was changed");
    EXPECT_RC(post_requeue(post.db, &late), SAP_CONFLICT);
    EXPECT_RC(post_requeue_at(post.db, &late, NOW + 5), SAP_CONFLICT);
    EXPECT_RC(post_dead(post.db, &late, SAP_BUSY), SAP_CONFLICT);
    EXPECT(post_digest(post.db) == before, "something has changed");
    EXPECT_RC(post_ack(post.db, &taker, NOW + TTL), SAP_OK);
    before = post_digest(post.db);
    EXPECT_RC(post_ack(post.db, &late, NOW + TTL), SAP_CONFLICT);
    EXPECT_RC(post_touch(post.db, &taker, NOW + TTL, TTL), SAP_CONFLICT);
    EXPECT_RC(post_requeue(post.db, &taker), SAP_CONFLICT);
    EXPECT_RC(post_requeue_at(post.db, &taker, NOW + 5), SAP_CONFLICT);
    EXPECT_RC(post_dead(post.db, &taker, SAP_BUSY), SAP_CONFLICT);
    EXPECT(post_digest(post.db) == before, "something has changed");
    sap_runner_v0_claim_release(&late);
    sap_runner_v0_claim_release(&taker);
}
END_TEST

START_TEST(a_conflict_leaves_the_rest_of_the_transaction_as_it_was)
{
    SapRunnerV0Claim late;
    SapRunnerV0Claim taker;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &late);
    post_expect_claim(post.db, 1, OTHER, NOW + TTL, "a", &taker);
    uint64_t before = post_digest(post.db);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_mailbox_v0_ack(txn, &late, NOW, 1000), SAP_CONFLICT);
    EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, &late, 4, NULL), SAP_CONFLICT);
    EXPECT_RC(sap_runner_mailbox_v0_requeue_at(txn, &late, NOW), SAP_CONFLICT);
    EXPECT_RC(sap_runner_dead_letter_v0_move(txn, &late, SAP_BUSY), SAP_CONFLICT);
    post_commit(txn);
    EXPECT(post_digest(post.db) == before, "something has changed");
    sap_runner_v0_claim_release(&late);
    sap_runner_v0_claim_release(&taker);
}
END_TEST

START_TEST(an_expired_lease_that_nobody_took_still_counts)
{
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_touch(post.db, &claim, NOW + 5 * TTL, TTL), SAP_OK);
    post_expect_no_claim(post.db, 1, NOW + 6 * TTL - 1);
    EXPECT_RC(post_ack(post.db, &claim, NOW + 9 * TTL), SAP_OK);
    EXPECT(post_rows(post.db, POST_INBOX) == 0, "the message is there");
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(a_touched_lease_lasts_longer)
{
    SapRunnerV0Claim claim;
    SapRunnerV0Claim taker;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_touch(post.db, &claim, NOW + 900, 5000), SAP_OK);
    EXPECT(claim.deadline_ms == NOW + 5900, "deadline %lld", (long long)claim.deadline_ms);
    post_expect_no_claim(post.db, 1, NOW + TTL);
    post_expect_no_claim(post.db, 1, NOW + 5899);
    post_expect_claim(post.db, 1, OTHER, NOW + 5900, "a", &taker);
    EXPECT(taker.attempts == 2, "a touch is no attempt: %u", taker.attempts);
    sap_runner_v0_claim_release(&claim);
    sap_runner_v0_claim_release(&taker);
}
END_TEST

START_TEST(tokens_are_never_given_out_twice)
{
    enum { ROUNDS = 300 };
    uint64_t last = 0;
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_NORMAL, "a");
    for (int i = 0; i < ROUNDS; i++) {
        SapRunnerV0ClaimOptions options = {.worker_id = 1,
                                           .owner = ME,
                                           .now_ms = NOW + (int64_t)i * TTL,
                                           .lease_ttl_ms = TTL,
                                           .retry_budget_max = UINT32_MAX};
        EXPECT(claim_many(post.db, &options, &claim, 1, NULL) == 1, "nothing to claim");
        EXPECT(claim.token > last, "token %llu after %llu", (unsigned long long)claim.token,
               (unsigned long long)last);
        last = claim.token;
        SapTxnCtx *txn = post_begin(post.db);
        SapRunnerV0Lease lease;
        EXPECT_RC(sap_runner_lease_v0_acquire(txn, "x", 1, ME, NOW + (int64_t)i * TTL, 1, &lease),
                  SAP_OK);
        post_commit(txn);
        EXPECT(lease.token > last, "token %llu after %llu", (unsigned long long)lease.token,
               (unsigned long long)last);
        last = lease.token;
        if (i % 3 == 0) {
            EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
        }
        sap_runner_v0_claim_release(&claim);
    }
}
END_TEST

/* ---- Putting back --------------------------------------------------------------------------- */

START_TEST(what_is_put_back_goes_to_the_tail_of_its_kind)
{
    SapRunnerV0Claim claim;
    const char *expected[] = {"h2", "h1", "b", "a"};
    uint64_t first = post_send(post.db, 1, POST_NORMAL, "a");
    uint64_t seq = 0;

    post_send(post.db, 1, POST_NORMAL, "b");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, &claim, 1, &seq), SAP_OK);
    post_commit(txn);
    EXPECT(seq > first && seq >> 63 == 1, "number %llu", (unsigned long long)seq);
    sap_runner_v0_claim_release(&claim);

    post_send(post.db, 1, POST_HIGH, "h1");
    post_send(post.db, 1, POST_HIGH, "h2");
    post_expect_claim(post.db, 1, ME, NOW, "h1", &claim);
    EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
    sap_runner_v0_claim_release(&claim);

    for (int i = 0; i < 4; i++) {
        post_expect_claim(post.db, 1, ME, NOW, expected[i], &claim);
        if (i == 3) {
            EXPECT(claim.seq == seq, "another number");
        }
        EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK);
        sap_runner_v0_claim_release(&claim);
    }
}
END_TEST

START_TEST(a_tail_whose_slots_are_taken_is_exists_and_nothing_has_changed)
{
    SapRunnerV0Claim claim;
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, 1, POST_NORMAL, "in the way");
    uint64_t first = post_send(post.db, 1, POST_NORMAL, "a");
    uint8_t key[16];
    uint64_t seq = 0;

    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    for (uint64_t i = 1; i <= 3; i++) {
        post_key(key, 1, first + i);
        post_put(post.db, POST_INBOX, key, 16, frame, len);
    }
    uint64_t before = post_digest_from(post.db, POST_INBOX);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, &claim, 3, &seq), SAP_EXISTS);
    post_commit(txn);
    EXPECT(post_digest_from(post.db, POST_INBOX) == before, "something has changed");
    /* The numbers that were tried are used up, so the next try goes on behind them. */
    txn = post_begin(post.db);
    EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, &claim, 1, &seq), SAP_OK);
    post_commit(txn);
    EXPECT(seq > first + 3, "number %llu", (unsigned long long)(seq - first));
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(what_is_put_back_for_later_comes_back_then)
{
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_requeue_at(post.db, &claim, NOW + 500), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(post.db, POST_LEASES) == 0, "it is leased");
    EXPECT(post_retry_rows(post.db) == 1, "the failure is not counted");
    EXPECT(post_move_due(post.db, NOW + 499) == 0, "it came back too early");
    post_expect_no_claim(post.db, 1, NOW + 499);
    EXPECT(post_move_due(post.db, NOW + 500) == 1, "it did not come back");
    post_expect_claim(post.db, 1, ME, NOW + 500, "a", &claim);
    EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
    EXPECT_RC(post_ack(post.db, &claim, NOW + 500), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    for (uint32_t dbi = POST_INBOX; dbi < POST_TABLES; dbi++) {
        EXPECT(post_rows(post.db, dbi) == 0, "table %u has rows", dbi);
    }
}
END_TEST

START_TEST(attempts_survive_being_put_back_and_taken_over_until_the_budget_is_used_up)
{
    SapRunnerV0Claim claim;
    int64_t now = NOW;
    SapRunnerV0ClaimReport report = {0};
    SapRunnerV0ClaimOptions options = {
        .worker_id = 1, .owner = ME, .lease_ttl_ms = TTL, .retry_budget_max = 4};

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, now, "a", &claim); /* 1: expires */
    sap_runner_v0_claim_release(&claim);
    now += TTL;
    post_expect_claim(post.db, 1, ME, now, "a", &claim); /* 2: put back */
    EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
    EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    post_expect_claim(post.db, 1, OTHER, now, "a", &claim); /* 3: put back for later */
    EXPECT(claim.attempts == 3, "attempt %u", claim.attempts);
    EXPECT_RC(post_requeue_at(post.db, &claim, now + 1), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    now += 1;
    post_move_due(post.db, now);
    post_expect_claim(post.db, 1, ME, now, "a", &claim); /* 4: expires */
    EXPECT(claim.attempts == 4, "attempt %u", claim.attempts);
    uint64_t seq = claim.seq;
    sap_runner_v0_claim_release(&claim);
    now += TTL;
    options.now_ms = now;
    uint32_t count = claim_many(post.db, &options, &claim, 1, &report);
    EXPECT(count == 0, "a fifth attempt");
    EXPECT(report.dead == 1 && report.expired == 1, "%llu dead, %llu expired",
           (unsigned long long)report.dead, (unsigned long long)report.expired);
    SapRunnerV0DeadLetter letter;
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, seq, &letter), SAP_OK);
    EXPECT(letter.attempts == 4, "%u attempts", letter.attempts);
    post_expect_id(letter.frame, letter.frame_len, "a");
    sap_txn_abort(txn);
    EXPECT(post_rows(post.db, POST_INBOX) == 0 && post_rows(post.db, POST_LEASES) == 0 &&
               post_retry_rows(post.db) == 0,
           "something is left");
}
END_TEST

/* ---- What cannot be claimed ----------------------------------------------------------------- */

START_TEST(rows_that_are_no_frame_or_for_another_worker_become_dead_letters)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, 2, POST_NORMAL, "lost");
    uint8_t key[16];
    SapRunnerV0Claim claim;
    SapRunnerV0ClaimReport report = {0};
    SapRunnerV0ClaimOptions options = {.worker_id = 1, .owner = ME, .now_ms = NOW};
    SapRunnerV0DeadLetter letter;
    uint64_t first = UINT64_C(1) << 63;

    post_key(key, 1, 5);
    post_put(post.db, POST_INBOX, key, 16, "junk", 4);
    post_key(key, 1, 6);
    post_put(post.db, POST_INBOX, key, 16, "", 0);
    post_key(key, 1, 7);
    post_put(post.db, POST_INBOX, key, 16, frame, len);
    EXPECT(post_send(post.db, 1, POST_NORMAL, "good") > first, "number");
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    post_expect_id(claim.frame, claim.frame_len, "good");
    EXPECT(report.dead == 3, "%llu dead", (unsigned long long)report.dead);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(post.db, POST_INBOX) == 1, "they are still there");
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 5, &letter), SAP_OK);
    EXPECT(letter.rc == SAP_INVALID && letter.frame_len == 4 &&
               memcmp(letter.frame, "junk", 4) == 0,
           "another letter, rc %d", letter.rc);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 6, &letter), SAP_OK);
    EXPECT(letter.rc == SAP_INVALID && letter.frame_len == 0, "another letter, rc %d", letter.rc);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 7, &letter), SAP_OK);
    EXPECT(letter.rc != SAP_OK && letter.frame_len == len && memcmp(letter.frame, frame, len) == 0,
           "another letter, rc %d", letter.rc);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_duplicate_is_skipped_and_gone)
{
    SapRunnerV0Claim claim;
    SapRunnerV0ClaimReport report = {0};
    SapRunnerV0ClaimOptions options = {.worker_id = 1, .owner = ME, .now_ms = NOW};

    post_send(post.db, 1, POST_ONCE, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK); /* remembered for a minute */
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_seen_rows(post.db) == 1, "it is not remembered");
    post_send(post.db, 1, POST_ONCE, "a");
    post_send(post.db, 1, POST_ONCE, "a");
    post_send(post.db, 1, POST_NORMAL, "a");
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    EXPECT(report.duplicates == 2, "%llu duplicates", (unsigned long long)report.duplicates);
    EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK); /* without the flag it is no duplicate */
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(post.db, POST_INBOX) == 0, "duplicates are there");
    EXPECT(post_rows(post.db, POST_LEASES) == 0, "leases are there");

    post_send(post.db, 1, POST_ONCE, "a");
    post_expect_no_claim(post.db, 1, NOW + 59999);
    post_send(post.db, 1, POST_ONCE, "a");
    post_expect_claim(post.db, 1, ME, NOW + 60000, "a", &claim);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(messages_of_one_id_in_two_inboxes_do_not_share_attempts)
{
    SapRunnerV0Claim poison;
    SapRunnerV0Claim claim;

    post_send(post.db, 1, POST_NORMAL, "a");
    for (uint32_t attempt = 1; attempt <= 4; attempt++) {
        post_expect_claim(post.db, 1, ME, NOW, "a", &poison);
        EXPECT(poison.attempts == attempt, "attempt %u instead of %u", poison.attempts, attempt);
        /* Meanwhile, elsewhere: one fails and then succeeds, one expires, one is given up. */
        post_send(post.db, 2, POST_NORMAL, "a");
        post_expect_claim(post.db, 2, ME, NOW, "a", &claim);
        EXPECT(claim.attempts == 1, "the failures of another count: %u", claim.attempts);
        EXPECT_RC(post_requeue_at(post.db, &claim, NOW), SAP_OK);
        sap_runner_v0_claim_release(&claim);
        EXPECT(post_move_due(post.db, NOW) == 1, "no timer");
        post_expect_claim(post.db, 2, ME, NOW, "a", &claim);
        EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
        EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK);
        sap_runner_v0_claim_release(&claim);
        post_send(post.db, 3, POST_NORMAL, "a");
        post_expect_claim(post.db, 3, ME, NOW - TTL, "a", &claim);
        sap_runner_v0_claim_release(&claim);
        post_expect_claim(post.db, 3, ME, NOW, "a", &claim);
        EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
        EXPECT_RC(post_dead(post.db, &claim, SAP_ERROR), SAP_OK);
        sap_runner_v0_claim_release(&claim);
        EXPECT_RC(attempt < 4 ? post_requeue(post.db, &poison)
                              : post_dead(post.db, &poison, SAP_ERROR),
                  SAP_OK);
        sap_runner_v0_claim_release(&poison);
    }
    EXPECT(post_retry_rows(post.db) == 0, "a count is left");
}
END_TEST

static int take_timer(int64_t due_ms, uint64_t seq, const void *frame, uint32_t frame_len,
                      void *ctx)
{
    (void)due_ms;
    (void)seq;
    (void)frame;
    (void)frame_len;
    (void)ctx;
    return SAP_OK;
}

/* Fails the one that is claimable: put back at once, for later, or by leaving its lease to expire. */
static void fail_claim(uint32_t way, int64_t *now_ms, uint32_t attempt)
{
    SapRunnerV0Claim claim;

    post_expect_claim(post.db, 1, ME, *now_ms, "a", &claim);
    EXPECT(claim.attempts == attempt, "attempt %u instead of %u", claim.attempts, attempt);
    if (way == 0) {
        EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
    } else if (way == 1) {
        EXPECT_RC(post_requeue_at(post.db, &claim, *now_ms), SAP_OK);
        EXPECT(post_move_due(post.db, *now_ms) == 1, "no timer");
    } else {
        *now_ms += TTL;
    }
    sap_runner_v0_claim_release(&claim);
}

START_TEST(messages_of_one_id_in_one_inbox_do_not_share_attempts)
{
    SapRunnerV0Claim poison;
    SapRunnerV0Claim claim;
    uint32_t way = (uint32_t)_i;
    int64_t now = NOW;

    post_send(post.db, 1, POST_NORMAL, "a");
    fail_claim(way, &now, 1);
    fail_claim(way, &now, 2);
    post_expect_claim(post.db, 1, ME, now, "a", &poison);
    EXPECT(poison.attempts == 3, "attempt %u", poison.attempts);
    /* Others of its id begin with their first attempt, and end, while it is being tried. */
    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, now, "a", &claim);
    EXPECT(claim.attempts == 1, "the failures of another count: %u", claim.attempts);
    EXPECT_RC(post_requeue_at(post.db, &claim, now), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_move_due(post.db, now) == 1, "no timer");
    post_expect_claim(post.db, 1, ME, now, "a", &claim);
    EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
    EXPECT_RC(post_ack(post.db, &claim, now), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, now, "a", &claim);
    EXPECT_RC(post_dead(post.db, &claim, SAP_ERROR), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    /* That took nothing from the first one's count. */
    EXPECT_RC(post_requeue(post.db, &poison), SAP_OK);
    sap_runner_v0_claim_release(&poison);
    post_expect_claim(post.db, 1, ME, now, "a", &poison);
    EXPECT(poison.attempts == 4, "attempt %u", poison.attempts);
    EXPECT_RC(post_dead(post.db, &poison, SAP_ERROR), SAP_OK);
    sap_runner_v0_claim_release(&poison);
    EXPECT(post_retry_rows(post.db) == 0, "a count is left");
}
END_TEST

START_TEST(the_count_of_a_message_goes_when_its_timer_is_cancelled_or_drained)
{
    SapRunnerV0Claim claim;
    uint32_t fired = 0;

    post_send(post.db, 1, POST_NORMAL, "a");
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT_RC(post_requeue_at(post.db, &claim, NOW + 5), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_retry_rows(post.db) == 1, "the failure is not counted");
    if (_i == 0) {
        SapTxnCtx *txn = post_begin(post.db);
        EXPECT_RC(sap_runner_timer_v0_cancel(txn, NOW + 5, 1), SAP_OK);
        post_commit(txn);
    } else {
        EXPECT_RC(sap_runner_timer_v0_drain_due(post.db, NOW + 5, 9, take_timer, NULL, &fired),
                  SAP_OK);
        EXPECT(fired == 1, "%u fired", fired);
    }
    EXPECT(post_rows(post.db, POST_TIMERS) == 0, "a timer is left");
    EXPECT(post_retry_rows(post.db) == 0, "a count is left");
}
END_TEST

START_TEST(a_count_by_id_of_an_earlier_layout_counts_for_nobody)
{
    static const uint8_t key[] = {'r', 'e', 't', 'r', 'y', ':', 0, 0, 0, 0, 0, 0, 0, 1, 'a'};
    static const uint8_t count[] = {200, 0, 0, 0};
    SapRunnerV0Claim claim;
    int64_t now = NOW;

    post_put(post.db, POST_DEDUPE, key, sizeof key, count, sizeof count);
    post_send(post.db, 1, POST_NORMAL, "a");
    for (uint32_t attempt = 1; attempt <= 3; attempt++) {
        fail_claim(2, &now, attempt);
    }
    post_expect_claim(post.db, 1, ME, now, "a", &claim);
    EXPECT_RC(post_ack(post.db, &claim, now), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(post.db, POST_INBOX) == 0 && post_rows(post.db, POST_DEAD) == 0,
           "it is not done");
}
END_TEST

START_TEST(what_one_inbox_has_handled_is_no_duplicate_in_another)
{
    SapRunnerV0Claim claim;

    for (int64_t worker = 1; worker <= 3; worker++) {
        post_send(post.db, worker, POST_ONCE, "a");
        post_expect_claim(post.db, worker, ME, NOW, "a", &claim);
        EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK);
        sap_runner_v0_claim_release(&claim);
        post_send(post.db, worker, POST_ONCE, "a");
        post_expect_no_claim(post.db, worker, NOW);
    }
    EXPECT(post_seen_rows(post.db) == 3, "%llu ids are remembered",
           (unsigned long long)post_seen_rows(post.db));
}
END_TEST

START_TEST(a_report_adds_to_its_counts_and_tells_the_next_expiry)
{
    SapRunnerV0Claim claim;
    SapRunnerV0ClaimReport report = {.duplicates = 5, .expired = 6, .dead = 7};
    SapRunnerV0ClaimOptions options = {
        .worker_id = 1, .owner = ME, .now_ms = NOW, .lease_ttl_ms = TTL};

    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 0, "a claim of nothing");
    EXPECT(report.next_expiry_ms == INT64_MAX, "a lease out of nowhere");
    post_send(post.db, 1, POST_NORMAL, "a");
    post_send(post.db, 1, POST_NORMAL, "b");
    post_send(post.db, 2, POST_NORMAL, "c");
    options.worker_id = 2;
    options.lease_ttl_ms = 1;
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    EXPECT(report.next_expiry_ms == NOW + 1, "next expiry");
    sap_runner_v0_claim_release(&claim);
    options.worker_id = 1;
    options.lease_ttl_ms = TTL;
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    EXPECT(report.next_expiry_ms == NOW + TTL, "that of another worker's lease?");
    sap_runner_v0_claim_release(&claim);
    options.now_ms = NOW + 10;
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    EXPECT(report.next_expiry_ms == NOW + TTL, "the earliest counts");
    sap_runner_v0_claim_release(&claim);
    options.now_ms = NOW + TTL;
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    EXPECT(report.duplicates == 5 && report.expired == 7 && report.dead == 7, "counts");
    EXPECT(report.next_expiry_ms == NOW + 10 + TTL, "the earliest counts");
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(stat_tells_messages_leases_and_the_age_of_the_first)
{
    SapRunnerV0Claim claim;
    SapRunnerV0Message msg;
    uint64_t count = 9;
    uint64_t leased = 9;
    int64_t oldest = 9;

    stat_of(1, &count, &leased, &oldest);
    EXPECT(count == 0 && leased == 0 && oldest == 0, "an empty inbox");
    for (int i = 0; i < 3; i++) {
        post_message(&msg, 1, POST_NORMAL, "x");
        msg.route_timestamp = 5000 + i;
        EXPECT_RC(sap_runner_v0_send(post.db, &msg, NULL), SAP_OK);
    }
    post_send(post.db, 2, POST_NORMAL, "other");
    EXPECT(post_claim(post.db, 1, ME, NOW, &claim) == 1, "nothing to claim");
    stat_of(1, &count, &leased, &oldest);
    EXPECT(count == 3 && leased == 1 && oldest == 5000, "%llu messages, %llu leased, oldest %lld",
           (unsigned long long)count, (unsigned long long)leased, (long long)oldest);
    EXPECT_RC(post_ack(post.db, &claim, NOW), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    stat_of(1, &count, &leased, &oldest);
    EXPECT(count == 2 && leased == 0 && oldest == 5001, "%llu messages, %llu leased, oldest %lld",
           (unsigned long long)count, (unsigned long long)leased, (long long)oldest);
    stat_of(1, NULL, NULL, NULL);
}
END_TEST

/* ---- Many ----------------------------------------------------------------------------------- */

START_TEST(the_first_free_one_behind_ten_thousand_leases_is_found)
{
    enum { MANY = 10000 };
    SapRunnerV0Claim *claims = calloc(MANY, sizeof *claims);
    SapRunnerV0Claim claim;
    SapRunnerV0ClaimReport report = {0};
    SapRunnerV0ClaimOptions options = {
        .worker_id = 1, .owner = ME, .now_ms = NOW, .lease_ttl_ms = TTL};
    char id[16];

    EXPECT(claims != NULL, "no memory");
    SapTxnCtx *txn = post_begin(post.db);
    for (int i = 0; i < MANY; i++) {
        snprintf(id, sizeof id, "m%05d", i);
        post_send_in(txn, 1, POST_NORMAL, id);
    }
    post_commit(txn);
    EXPECT(claim_many(post.db, &options, claims, MANY, &report) == MANY, "not all were claimed");
    post_expect_no_claim(post.db, 1, NOW);
    post_send(post.db, 1, POST_NORMAL, "behind");
    options.quiet_until_ms = report.next_expiry_ms;
    EXPECT(claim_many(post.db, &options, &claim, 1, &report) == 1, "nothing to claim");
    post_expect_id(claim.frame, claim.frame_len, "behind");
    sap_runner_v0_claim_release(&claim);
    post_send(post.db, 1, POST_NORMAL, "behind too");
    post_expect_claim(post.db, 1, ME, NOW, "behind too", &claim);
    sap_runner_v0_claim_release(&claim);
    /* One in the middle comes free by its deadline alone. */
    EXPECT_RC(post_touch(post.db, &claims[MANY / 2], NOW, 10), SAP_OK);
    post_expect_claim(post.db, 1, OTHER, NOW + 10, "m05000", &claim);
    sap_runner_v0_claim_release(&claim);
    post_expect_no_claim(post.db, 1, NOW + 10);
    for (int i = 0; i < MANY; i++) {
        sap_runner_v0_claim_release(&claims[i]);
    }
    free(claims);
}
END_TEST

/* ---- Against a model ------------------------------------------------------------------------ */

/* The model: an array of messages, looked through from end to end by every call. */
enum { MODEL_MAX = 400, MODEL_WORKERS = 3, MODEL_HELD = 64, MODEL_BUDGET = 3 };

typedef enum { GONE, WAITING, LATER, DEAD } ModelState;

typedef struct ModelMsg {
    ModelState state;
    uint32_t number; /* makes its id */
    int64_t worker;
    bool high;
    uint64_t seq;
    int64_t due_ms;      /* LATER */
    uint64_t later_rank; /* LATER: order among those of one due time */
    uint32_t attempts;   /* failed ones */
    bool leased;
    uint64_t token;
    int64_t deadline_ms;
} ModelMsg;

typedef struct Held {
    bool used;
    SapRunnerV0Claim claim;
    uint32_t number;
} Held;

typedef struct Sim {
    Post post;
    Choice choice;
    ModelMsg msgs[MODEL_MAX];
    Held held[MODEL_HELD];
    uint32_t next_number;
    uint64_t next_rank;
    int64_t now_ms;
    uint64_t last_token;
    uint64_t last_seq[2];
    uint64_t steps, claimed, acked, conflicts, expired, dead;
} Sim;

static ModelMsg *sim_slot(Sim *sim)
{
    for (int i = 0; i < MODEL_MAX; i++) {
        if (sim->msgs[i].state == GONE) {
            return &sim->msgs[i];
        }
    }
    return NULL;
}

static ModelMsg *sim_by_number(Sim *sim, uint32_t number)
{
    for (int i = 0; i < MODEL_MAX; i++) {
        if (sim->msgs[i].state != GONE && sim->msgs[i].number == number) {
            return &sim->msgs[i];
        }
    }
    return NULL;
}

static void sim_new_seq(Sim *sim, ModelMsg *m, uint64_t seq)
{
    EXPECT(seq > sim->last_seq[m->high], "a number again");
    EXPECT((seq >> 63 == 0) == m->high, "a number of the other kind");
    sim->last_seq[m->high] = seq;
    m->seq = seq;
}

static void sim_send(Sim *sim)
{
    ModelMsg *m = sim_slot(sim);
    char id[POST_ID_MAX];

    if (m == NULL) {
        return;
    }
    memset(m, 0, sizeof *m);
    m->state = WAITING;
    m->number = sim->next_number++;
    m->worker = choice_below(&sim->choice, MODEL_WORKERS);
    m->high = choice_one_in(&sim->choice, 4);
    snprintf(id, sizeof id, "%u", m->number);
    sim_new_seq(sim, m, post_send(sim->post.db, m->worker, m->high ? POST_HIGH : POST_NORMAL, id));
}

/* A claim ends all leases of the worker that have expired: an attempt has failed. */
static void sim_expire(Sim *sim, int64_t worker, uint64_t *expired, uint64_t *dead)
{
    for (int i = 0; i < MODEL_MAX; i++) {
        ModelMsg *m = &sim->msgs[i];
        if (m->state != WAITING || m->worker != worker || !m->leased ||
            m->deadline_ms > sim->now_ms) {
            continue;
        }
        m->leased = false;
        m->attempts++;
        (*expired)++;
        sim->expired++;
        if (m->attempts >= MODEL_BUDGET) {
            m->state = DEAD;
            (*dead)++;
            sim->dead++;
        }
    }
}

/* The first of the worker that nobody holds. */
static ModelMsg *sim_first_free(Sim *sim, int64_t worker)
{
    ModelMsg *first = NULL;

    for (int i = 0; i < MODEL_MAX; i++) {
        ModelMsg *m = &sim->msgs[i];
        if (m->state == WAITING && m->worker == worker && !m->leased &&
            (first == NULL || m->seq < first->seq)) {
            first = m;
        }
    }
    return first;
}

static int64_t sim_next_expiry(const Sim *sim, int64_t worker)
{
    int64_t next = INT64_MAX;

    for (int i = 0; i < MODEL_MAX; i++) {
        const ModelMsg *m = &sim->msgs[i];
        if (m->state == WAITING && m->worker == worker && m->leased && m->deadline_ms < next) {
            next = m->deadline_ms;
        }
    }
    return next;
}

static Held *sim_hold(Sim *sim)
{
    Held *held = &sim->held[choice_below(&sim->choice, MODEL_HELD)];

    if (held->used) {
        sap_runner_v0_claim_release(&held->claim);
    }
    held->used = true;
    return held;
}

static void sim_claim(Sim *sim)
{
    enum { MOST = 5 };
    SapRunnerV0Claim claims[MOST];
    SapRunnerV0ClaimReport report = {0};
    uint32_t max = 1 + choice_below(&sim->choice, MOST);
    uint32_t count = 0;
    SapRunnerV0ClaimOptions options = {.worker_id = choice_below(&sim->choice, MODEL_WORKERS),
                                       .owner = 1 + choice_below(&sim->choice, 3),
                                       .now_ms = sim->now_ms,
                                       .lease_ttl_ms = 1 + choice_below(&sim->choice, 200),
                                       .retry_budget_max = MODEL_BUDGET};
    bool quiet = choice_one_in(&sim->choice, 2);
    uint64_t expired = 0;
    uint64_t dead = 0;
    SapTxnCtx *txn = post_begin(sim->post.db);

    if (quiet) {
        options.quiet_until_ms = sim_next_expiry(sim, options.worker_id);
    }
    EXPECT_RC(sap_runner_mailbox_v0_claim(txn, &options, claims, max, &count, &report), SAP_OK);
    if (choice_one_in(&sim->choice, 10)) {
        sap_txn_abort(txn);
        for (uint32_t i = 0; i < count; i++) {
            sap_runner_v0_claim_release(&claims[i]);
        }
        return;
    }
    post_commit(txn);
    sim_expire(sim, options.worker_id, &expired, &dead);
    for (uint32_t i = 0; i <= count && i < max; i++) {
        ModelMsg *m = sim_first_free(sim, options.worker_id);
        if (m == NULL) {
            EXPECT(i == count, "a claim too many");
            break;
        }
        EXPECT(i < count, "message %u was not claimed", m->number);
        char id[POST_ID_MAX];
        EXPECT((uint32_t)atoi(post_id(claims[i].frame, claims[i].frame_len, id)) == m->number,
               "message %s instead of %u", id, m->number);
        EXPECT(claims[i].seq == m->seq && claims[i].worker == (uint64_t)m->worker &&
                   claims[i].owner == options.owner &&
                   claims[i].deadline_ms == sim->now_ms + options.lease_ttl_ms,
               "another claim of message %u", m->number);
        EXPECT(claims[i].attempts == m->attempts + 1, "attempt %u instead of %u of message %u",
               claims[i].attempts, m->attempts + 1, m->number);
        EXPECT(claims[i].token > sim->last_token, "a token again");
        sim->last_token = claims[i].token;
        m->leased = true;
        m->token = claims[i].token;
        m->deadline_ms = claims[i].deadline_ms;
        Held *held = sim_hold(sim);
        held->claim = claims[i];
        held->number = m->number;
        sim->claimed++;
    }
    EXPECT(report.expired == expired && report.dead == dead && report.duplicates == 0,
           "%llu expired instead of %llu, %llu dead instead of %llu",
           (unsigned long long)report.expired, (unsigned long long)expired,
           (unsigned long long)report.dead, (unsigned long long)dead);
    int64_t next = sim_next_expiry(sim, options.worker_id);
    EXPECT(report.next_expiry_ms <= next, "a lease expires before the report says");
    if (!quiet) {
        EXPECT(report.next_expiry_ms == next, "next expiry %lld instead of %lld",
               (long long)report.next_expiry_ms, (long long)next);
    }
}

/* Ends or renews a claim, which may have been lost. */
static void sim_use(Sim *sim)
{
    Held *held = &sim->held[choice_below(&sim->choice, MODEL_HELD)];

    if (!held->used) {
        return;
    }
    SapEnv *db = sim->post.db;
    SapRunnerV0Claim *claim = &held->claim;
    ModelMsg *m = sim_by_number(sim, held->number);
    bool mine = m != NULL && m->state == WAITING && m->leased && m->token == claim->token;
    int expected = mine ? SAP_OK : SAP_CONFLICT;
    uint32_t what = choice_below(&sim->choice, 8);

    sim->conflicts += !mine;
    if (what == 0) {
        int64_t ttl = 1 + choice_below(&sim->choice, 200);
        EXPECT_RC(post_touch(db, claim, sim->now_ms, ttl), expected);
        if (mine) {
            m->deadline_ms = sim->now_ms + ttl;
            EXPECT(claim->deadline_ms == m->deadline_ms, "another deadline");
        }
    } else if (what == 1) {
        SapTxnCtx *txn = post_begin(db);
        uint64_t seq = 0;
        EXPECT_RC(sap_runner_mailbox_v0_requeue(txn, claim, 4, &seq), expected);
        post_commit(txn);
        if (mine) {
            m->attempts++;
            m->leased = false;
            sim_new_seq(sim, m, seq);
        }
    } else if (what == 2) {
        int64_t due = sim->now_ms + choice_below(&sim->choice, 300);
        EXPECT_RC(post_requeue_at(db, claim, due), expected);
        if (mine) {
            m->attempts++;
            m->leased = false;
            m->state = LATER;
            m->due_ms = due;
            m->later_rank = sim->next_rank++;
        }
    } else if (what == 3) {
        EXPECT_RC(post_dead(db, claim, SAP_BUSY), expected);
        if (mine) {
            m->state = DEAD;
            sim->dead++;
        }
    } else {
        EXPECT_RC(post_ack(db, claim, sim->now_ms), expected);
        if (mine) {
            m->state = GONE;
            sim->acked++;
        }
    }
}

static void sim_move_due(Sim *sim)
{
    SapTxnCtx *txn = post_begin(sim->post.db);
    uint32_t max = 1 + choice_below(&sim->choice, 4);
    uint32_t moved = 0;
    uint32_t expected = 0;

    EXPECT_RC(sap_runner_timer_v0_move_due(txn, sim->now_ms, max, &moved), SAP_OK);
    post_commit(txn);
    while (expected < max) {
        ModelMsg *first = NULL;
        for (int i = 0; i < MODEL_MAX; i++) {
            ModelMsg *m = &sim->msgs[i];
            if (m->state == LATER && m->due_ms <= sim->now_ms &&
                (first == NULL || m->due_ms < first->due_ms ||
                 (m->due_ms == first->due_ms && m->later_rank < first->later_rank))) {
                first = m;
            }
        }
        if (first == NULL) {
            break;
        }
        first->state = WAITING;
        /* Its number is not told: the inbox has it, as the next of its kind. */
        SapTxnCtx *reader = post_begin(sim->post.db);
        SapCursor *cur = sap_cursor_open_dbi(reader, POST_INBOX);
        uint8_t from[16];
        const void *key = NULL;
        uint32_t key_len = 0;
        post_key(from, (uint64_t)first->worker, sim->last_seq[first->high] + 1);
        EXPECT_RC(sap_cursor_seek(cur, from, 16), SAP_OK);
        EXPECT_RC(sap_cursor_get_key(cur, &key, &key_len), SAP_OK);
        uint64_t seq = load_u64be((const uint8_t *)key + 8);
        sap_cursor_close(cur);
        sap_txn_abort(reader);
        sim_new_seq(sim, first, seq);
        expected++;
    }
    EXPECT(moved == expected, "%u moved instead of %u", moved, expected);
}

static void sim_compare(Sim *sim)
{
    uint64_t later = 0;
    uint64_t dead = 0;

    for (int64_t worker = 0; worker < MODEL_WORKERS; worker++) {
        uint64_t count = 0;
        uint64_t leased = 0;
        uint64_t expected = 0;
        uint64_t expected_leased = 0;
        SapTxnCtx *txn = post_begin(sim->post.db);
        EXPECT_RC(sap_runner_mailbox_v0_stat(txn, worker, &count, &leased, NULL), SAP_OK);
        sap_txn_abort(txn);
        for (int i = 0; i < MODEL_MAX; i++) {
            if (sim->msgs[i].state == WAITING && sim->msgs[i].worker == worker) {
                expected++;
                expected_leased += sim->msgs[i].leased;
            }
        }
        EXPECT(count == expected && leased == expected_leased,
               "worker %d: %llu messages instead of %llu, %llu leased instead of %llu", (int)worker,
               (unsigned long long)count, (unsigned long long)expected, (unsigned long long)leased,
               (unsigned long long)expected_leased);
    }
    for (int i = 0; i < MODEL_MAX; i++) {
        later += sim->msgs[i].state == LATER;
        dead += sim->msgs[i].state == DEAD;
    }
    EXPECT(post_rows(sim->post.db, POST_TIMERS) == later, "other timers");
    EXPECT(post_rows(sim->post.db, POST_DEAD) == dead, "other dead letters");
}

START_TEST(histories_agree_with_the_model)
{
    enum { STEPS = 4000, COMPARE = 50 };
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(SAP_SANITIZED ? 2 : 8);
    uint64_t claimed = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        Sim *sim = calloc(1, sizeof *sim);
        EXPECT(sim != NULL, "no memory");
        post_open(&sim->post);
        choice_from_seed(&sim->choice, seed);
        sim->now_ms = NOW;
        for (int step = 0; step < STEPS; step++) {
            expect_context("seed %llu, step %d", (unsigned long long)seed, step);
            uint32_t what = choice_below(&sim->choice, 100);
            if (what < 30) {
                sim_send(sim);
            } else if (what < 50) {
                sim_claim(sim);
            } else if (what < 85) {
                sim_use(sim);
            } else if (what < 90) {
                sim_move_due(sim);
            } else {
                sim->now_ms += choice_below(&sim->choice, 60);
            }
            if (step % COMPARE == 0) {
                sim_compare(sim);
            }
        }
        sim_compare(sim);
        printf(
            "seed %llu: %llu claims, %llu acknowledged, %llu conflicts, %llu expired, %llu dead\n",
            (unsigned long long)seed, (unsigned long long)sim->claimed,
            (unsigned long long)sim->acked, (unsigned long long)sim->conflicts,
            (unsigned long long)sim->expired, (unsigned long long)sim->dead);
        EXPECT(sim->acked > 0 && sim->conflicts > 0 && sim->expired > 0 && sim->dead > 0,
               "too tame a history");
        claimed += sim->claimed;
        for (int i = 0; i < MODEL_HELD; i++) {
            if (sim->held[i].used) {
                sap_runner_v0_claim_release(&sim->held[i].claim);
            }
        }
        post_close(&sim->post);
        free(sim);
    }
    EXPECT(claimed > 100 * count, "only %llu claims", (unsigned long long)claimed);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_mailbox");
    TCase *tc = tcase_create("mailbox");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_not_a_frame_is_not_sent);
    tcase_add_test(tc, misuse_is_an_error_and_changes_nothing);
    tcase_add_test(tc, rows_lie_where_the_layout_says);
    tcase_add_test(tc, numbers_never_repeat_after_a_drain_or_a_reopen);
    tcase_add_test(tc, messages_are_claimed_first_in_first_out);
    tcase_add_test(tc, high_priority_goes_before_the_rest_and_each_kind_is_in_order);
    tcase_add_test(tc, workers_have_inboxes_of_their_own);
    tcase_add_test(tc, a_claim_tells_whose_it_is_until_when_and_which_attempt);
    tcase_add_test(tc, a_lease_is_respected_until_its_deadline_and_no_longer);
    tcase_add_test(tc, an_ack_removes_message_lease_and_retry_count);
    tcase_add_test(tc, who_lost_the_lease_can_change_nothing);
    tcase_add_test(tc, a_conflict_leaves_the_rest_of_the_transaction_as_it_was);
    tcase_add_test(tc, an_expired_lease_that_nobody_took_still_counts);
    tcase_add_test(tc, a_touched_lease_lasts_longer);
    tcase_add_test(tc, tokens_are_never_given_out_twice);
    tcase_add_test(tc, what_is_put_back_goes_to_the_tail_of_its_kind);
    tcase_add_test(tc, a_tail_whose_slots_are_taken_is_exists_and_nothing_has_changed);
    tcase_add_test(tc, what_is_put_back_for_later_comes_back_then);
    tcase_add_test(tc, attempts_survive_being_put_back_and_taken_over_until_the_budget_is_used_up);
    tcase_add_test(tc, rows_that_are_no_frame_or_for_another_worker_become_dead_letters);
    tcase_add_test(tc, a_duplicate_is_skipped_and_gone);
    tcase_add_test(tc, messages_of_one_id_in_two_inboxes_do_not_share_attempts);
    tcase_add_loop_test(tc, messages_of_one_id_in_one_inbox_do_not_share_attempts, 0, 3);
    tcase_add_loop_test(tc, the_count_of_a_message_goes_when_its_timer_is_cancelled_or_drained, 0,
                        2);
    tcase_add_test(tc, a_count_by_id_of_an_earlier_layout_counts_for_nobody);
    tcase_add_test(tc, what_one_inbox_has_handled_is_no_duplicate_in_another);
    tcase_add_test(tc, a_report_adds_to_its_counts_and_tells_the_next_expiry);
    tcase_add_test(tc, stat_tells_messages_leases_and_the_age_of_the_first);
    tcase_add_test(tc, the_first_free_one_behind_ten_thousand_leases_is_found);
    tcase_add_test(tc, histories_agree_with_the_model);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
