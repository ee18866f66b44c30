/* Dead letters: what was given up is kept, can be read, taken away, put back or dropped. */
#include "support/expect.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdbool.h>
#include <string.h>

enum { NOW = 1000000, ME = 7, MAX_TAKEN = 32 };

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

/* Sends a message and gives it up; returns its number. */
static uint64_t give_up(int64_t worker, const char *id, int rc)
{
    SapRunnerV0Claim claim;

    post_send(post.db, worker, POST_NORMAL, id);
    post_expect_claim(post.db, worker, ME, NOW, id, &claim);
    EXPECT_RC(post_dead(post.db, &claim, rc), SAP_OK);
    uint64_t seq = claim.seq;
    sap_runner_v0_claim_release(&claim);
    return seq;
}

typedef struct Taken {
    char ids[MAX_TAKEN][POST_ID_MAX];
    uint32_t count;
    const char *fail_id;
    int fail_rc;
    bool write; /* uses the DB in between */
} Taken;

static int take(const SapRunnerV0DeadLetter *letter, void *ctx)
{
    Taken *taken = ctx;
    uint32_t i = taken->count++;

    EXPECT(i < MAX_TAKEN, "too many");
    post_id(letter->frame, letter->frame_len, taken->ids[i]);
    if (taken->write) {
        post_put(post.db, POST_APP, "seen", 4, "", 0);
    }
    return taken->fail_id != NULL && strcmp(taken->fail_id, taken->ids[i]) == 0 ? taken->fail_rc
                                                                                : SAP_OK;
}

START_TEST(what_is_given_up_is_kept_whole_and_leaves_nothing_behind)
{
    SapRunnerV0Claim claim;
    SapRunnerV0DeadLetter letter;

    post_send(post.db, 3, POST_NORMAL, "a");
    post_expect_claim(post.db, 3, ME, NOW, "a", &claim);
    EXPECT_RC(post_requeue(post.db, &claim), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    post_expect_claim(post.db, 3, ME, NOW, "a", &claim);
    EXPECT_RC(post_dead(post.db, &claim, SAP_CONFLICT), SAP_OK);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 3, claim.seq, &letter), SAP_OK);
    EXPECT(letter.worker == 3 && letter.seq == claim.seq && letter.rc == SAP_CONFLICT &&
               letter.attempts == 2,
           "another letter: rc %d, attempts %u", letter.rc, letter.attempts);
    EXPECT(letter.frame_len == claim.frame_len &&
               memcmp(letter.frame, claim.frame, claim.frame_len) == 0,
           "another frame");
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 3, claim.seq + 1, &letter), SAP_NOTFOUND);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 4, claim.seq, &letter), SAP_NOTFOUND);
    sap_txn_abort(txn);
    EXPECT(post_rows(post.db, POST_INBOX) == 0 && post_rows(post.db, POST_LEASES) == 0 &&
               post_rows(post.db, POST_DEDUPE) == 0 && post_rows(post.db, POST_DEAD) == 1,
           "something is left");
    EXPECT_RC(post_dead(post.db, &claim, SAP_BUSY), SAP_CONFLICT);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

/* Neither is one behind it, which the letter would get next. */
START_TEST(a_slot_that_is_taken_is_not_overwritten_and_the_letter_gets_another)
{
    SapRunnerV0Claim claim;
    SapRunnerV0DeadLetter letter;
    uint8_t key[16];
    const void *val;
    uint32_t len;

    post_send(post.db, 3, POST_NORMAL, "a");
    post_expect_claim(post.db, 3, ME, NOW, "a", &claim);
    for (uint64_t i = 0; i < 2; i++) {
        post_key(key, 3, claim.seq + i);
        post_put(post.db, POST_DEAD, key, 16, "older", 5);
    }
    EXPECT_RC(post_dead(post.db, &claim, SAP_BUSY), SAP_OK);
    SapTxnCtx *txn = post_begin(post.db);
    for (uint64_t i = 0; i < 2; i++) {
        post_key(key, 3, claim.seq + i);
        EXPECT_RC(sap_txn_get_dbi(txn, POST_DEAD, key, 16, &val, &len), SAP_OK);
        EXPECT(len == 5 && memcmp(val, "older", 5) == 0, "overwritten");
    }
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 3, claim.seq + 2, &letter), SAP_OK);
    EXPECT(letter.rc == SAP_BUSY && letter.attempts == 1, "another letter");
    post_expect_id(letter.frame, letter.frame_len, "a");
    sap_txn_abort(txn);
    EXPECT(post_rows(post.db, POST_INBOX) == 0 && post_rows(post.db, POST_LEASES) == 0, "left");
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(the_list_is_in_order_from_a_key_on_and_ends_when_told)
{
    Taken taken = {0};
    uint64_t b = 0;

    give_up(2, "c", SAP_BUSY);
    give_up(1, "a", SAP_BUSY);
    b = give_up(1, "b", SAP_BUSY);
    give_up(5, "d", SAP_BUSY);
    SapTxnCtx *txn = NULL;
    EXPECT_RC(sap_txn_begin_rc(post.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 0, 0, take, &taken), SAP_OK);
    EXPECT(taken.count == 4 && strcmp(taken.ids[0], "a") == 0 && strcmp(taken.ids[3], "d") == 0,
           "%u listed", taken.count);
    taken.count = 0;
    EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 1, b, take, &taken), SAP_OK);
    EXPECT(taken.count == 3 && strcmp(taken.ids[0], "b") == 0, "%u listed", taken.count);
    taken.count = 0;
    EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 5, UINT64_MAX, take, &taken), SAP_OK);
    EXPECT(taken.count == 0, "%u listed", taken.count);
    taken.fail_id = "c";
    taken.fail_rc = 4711;
    EXPECT(sap_runner_dead_letter_v0_list(txn, 0, 0, take, &taken) == 4711, "another code");
    EXPECT(taken.count == 3, "%u listed", taken.count);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_drain_removes_what_was_taken_and_keeps_the_rest)
{
    Taken taken = {.fail_id = "b", .fail_rc = SAP_BUSY, .write = true};
    uint32_t drained = 99;

    give_up(1, "a", SAP_BUSY);
    give_up(1, "b", SAP_BUSY);
    give_up(1, "c", SAP_BUSY);
    give_up(1, "d", SAP_BUSY);
    EXPECT_RC(sap_runner_dead_letter_v0_drain(post.db, 3, take, &taken, &drained), SAP_OK);
    EXPECT(drained == 2 && taken.count == 3, "%u of %u", drained, taken.count);
    taken.count = 0;
    taken.fail_rc = SAP_IO;
    EXPECT_RC(sap_runner_dead_letter_v0_drain(post.db, 10, take, &taken, &drained), SAP_IO);
    EXPECT(taken.count == 1 && post_rows(post.db, POST_DEAD) == 2, "%u taken", taken.count);
    taken.fail_id = NULL;
    EXPECT_RC(sap_runner_dead_letter_v0_drain(post.db, 10, take, &taken, NULL), SAP_OK);
    EXPECT(taken.count == 3 && post_rows(post.db, POST_DEAD) == 0, "%u taken", taken.count);
}
END_TEST

START_TEST(a_replayed_letter_is_at_the_tail_with_a_full_budget)
{
    SapRunnerV0Claim claim;
    uint64_t new_seq = 0;

    post_send(post.db, 1, POST_NORMAL, "a");
    for (uint32_t attempt = 1; attempt <= 4; attempt++) {
        post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
        EXPECT(claim.attempts == attempt, "attempt %u", claim.attempts);
        EXPECT_RC(attempt < 4 ? post_requeue(post.db, &claim)
                              : post_dead(post.db, &claim, SAP_BUSY),
                  SAP_OK);
        if (attempt < 4) {
            sap_runner_v0_claim_release(&claim);
        }
    }
    post_send(post.db, 1, POST_NORMAL, "before it");
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_dead_letter_v0_replay(txn, 1, claim.seq, &new_seq), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_replay(txn, 1, claim.seq, NULL), SAP_NOTFOUND);
    post_commit(txn);
    EXPECT(new_seq > claim.seq, "an old number");
    sap_runner_v0_claim_release(&claim);
    EXPECT(post_rows(post.db, POST_DEAD) == 0, "the letter is still there");
    post_expect_claim(post.db, 1, ME, NOW, "before it", &claim);
    sap_runner_v0_claim_release(&claim);
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    EXPECT(claim.attempts == 1 && claim.seq == new_seq, "attempt %u", claim.attempts);
    sap_runner_v0_claim_release(&claim);
}
END_TEST

START_TEST(a_letter_that_is_no_frame_cannot_be_replayed_but_dropped)
{
    uint8_t key[16];
    SapRunnerV0DeadLetter letter;

    post_key(key, 1, 5);
    post_put(post.db, POST_INBOX, key, 16, "junk", 4);
    post_expect_no_claim(post.db, 1, NOW);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 5, &letter), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_replay(txn, 1, 5, NULL), SAP_INVALID);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 5, &letter), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_drop(txn, 1, 5), SAP_OK);
    EXPECT_RC(sap_runner_dead_letter_v0_drop(txn, 1, 5), SAP_NOTFOUND);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 5, &letter), SAP_NOTFOUND);
    post_commit(txn);
    EXPECT(post_rows(post.db, POST_INBOX) == 0 && post_rows(post.db, POST_DEAD) == 0, "rows");
}
END_TEST

START_TEST(rows_that_do_not_decode_are_corrupt_and_can_be_dropped)
{
    uint8_t row[POST_FRAME_MAX];
    uint8_t key[16];
    const void *val = NULL;
    uint32_t len = 0;
    SapRunnerV0DeadLetter letter;
    Taken taken = {0};
    uint64_t seq = give_up(1, "a", SAP_BUSY);
    SapTxnCtx *txn = post_begin(post.db);

    post_key(key, 1, seq);
    EXPECT_RC(sap_txn_get_dbi(txn, POST_DEAD, key, 16, &val, &len), SAP_OK);
    EXPECT(len < sizeof row, "a long row");
    memcpy(row, val, len);
    sap_txn_abort(txn);
    EXPECT(memcmp(row, "DLQ0", 4) == 0, "another layout");
    row[len] = 0;
    for (uint32_t cut = 0; cut <= len + 1; cut++) {
        if (cut == len) {
            continue;
        }
        post_put(post.db, POST_DEAD, key, 16, row, cut);
        txn = post_begin(post.db);
        EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, seq, &letter), SAP_CORRUPT);
        EXPECT_RC(sap_runner_dead_letter_v0_replay(txn, 1, seq, NULL), SAP_CORRUPT);
        EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 0, 0, take, &taken), SAP_CORRUPT);
        sap_txn_abort(txn);
        EXPECT_RC(sap_runner_dead_letter_v0_drain(post.db, 9, take, &taken, NULL), SAP_CORRUPT);
    }
    EXPECT(taken.count == 0, "something was shown");
    txn = post_begin(post.db);
    EXPECT_RC(sap_runner_dead_letter_v0_drop(txn, 1, seq), SAP_OK);
    post_commit(txn);
    EXPECT(post_rows(post.db, POST_DEAD) == 0, "the row is there");
}
END_TEST

START_TEST(misuse_is_an_error)
{
    SapRunnerV0DeadLetter letter;
    Taken taken = {0};
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(sap_runner_dead_letter_v0_move(txn, NULL, SAP_BUSY), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_get(NULL, 1, 1, &letter), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_get(txn, 1, 1, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_list(txn, 1, 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_list(NULL, 1, 1, take, &taken), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_replay(NULL, 1, 1, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_drop(NULL, 1, 1), SAP_ERROR);
    sap_txn_abort(txn);
    EXPECT_RC(sap_runner_dead_letter_v0_drain(NULL, 1, take, &taken, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_dead_letter_v0_drain(post.db, 1, NULL, NULL, NULL), SAP_ERROR);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_dead_letter");
    TCase *tc = tcase_create("dead_letter");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, what_is_given_up_is_kept_whole_and_leaves_nothing_behind);
    tcase_add_test(tc, a_slot_that_is_taken_is_not_overwritten_and_the_letter_gets_another);
    tcase_add_test(tc, the_list_is_in_order_from_a_key_on_and_ends_when_told);
    tcase_add_test(tc, a_drain_removes_what_was_taken_and_keeps_the_rest);
    tcase_add_test(tc, a_replayed_letter_is_at_the_tail_with_a_full_budget);
    tcase_add_test(tc, a_letter_that_is_no_frame_cannot_be_replayed_but_dropped);
    tcase_add_test(tc, rows_that_do_not_decode_are_corrupt_and_can_be_dropped);
    tcase_add_test(tc, misuse_is_an_error);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
