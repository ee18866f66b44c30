/* The outbox: what is for elsewhere is offered until it is taken, what is local goes to inboxes. */
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { NOW = 1000000, MAX_SENT = 64 };

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

static uint64_t append(SapEnv *db, int64_t to, unsigned flags, const char *id)
{
    uint8_t frame[POST_FRAME_MAX];
    uint32_t len = post_frame(frame, to, flags, id);
    SapTxnCtx *txn = post_begin(db);
    uint64_t seq = 0;

    EXPECT_RC(sap_runner_outbox_v0_append(txn, frame, len, &seq), SAP_OK);
    post_commit(txn);
    return seq;
}

/* A forwarder that notes what it was given. */
typedef struct Sender {
    char ids[MAX_SENT][POST_ID_MAX];
    uint64_t seqs[MAX_SENT];
    uint32_t count;
    const char *fail_id; /* is answered with fail_rc */
    int fail_rc;
    bool write; /* uses the DB in between */
} Sender;

static int forward(const void *frame, uint32_t len, uint64_t seq, void *ctx)
{
    Sender *sender = ctx;

    EXPECT(sender->count < MAX_SENT, "too many");
    post_id(frame, len, sender->ids[sender->count]);
    sender->seqs[sender->count++] = seq;
    if (sender->write) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(post.db, NULL, 0, &txn), SAP_OK);
        EXPECT_RC(sap_txn_put(txn, "seen", 4, "", 0), SAP_OK);
        post_commit(txn);
    }
    if (sender->fail_id != NULL && strcmp(sender->fail_id, sender->ids[sender->count - 1]) == 0) {
        return sender->fail_rc;
    }
    return SAP_OK;
}

static int even(int64_t worker, void *ctx)
{
    (void)ctx;
    return worker % 2 == 0;
}

static uint32_t route(uint32_t max, uint64_t *resume)
{
    SapTxnCtx *txn = post_begin(post.db);
    uint32_t routed = 99;

    EXPECT_RC(sap_runner_outbox_v0_route(txn, max, even, NULL, resume, &routed), SAP_OK);
    post_commit(txn);
    return routed;
}

START_TEST(only_frames_are_appended)
{
    SapTxnCtx *txn = post_begin(post.db);
    uint64_t seq = 7;

    EXPECT_RC(sap_runner_outbox_v0_append(txn, "junk", 4, &seq), SAP_INVALID);
    EXPECT_RC(sap_runner_outbox_v0_append(txn, "", 0, &seq), SAP_INVALID);
    EXPECT(seq == 7, "seq was written");
    post_commit(txn);
    EXPECT(post_rows(post.db, POST_OUTBOX) == 0, "a row");
}
END_TEST

START_TEST(a_drain_offers_from_the_oldest_on_and_removes_what_was_taken)
{
    Sender sender = {.write = true};
    uint32_t sent = 99;

    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, forward, &sender, &sent), SAP_OK);
    EXPECT(sent == 0 && sender.count == 0, "something out of nothing");
    uint64_t first = append(post.db, 1, POST_NORMAL, "a");
    append(post.db, 2, POST_HIGH, "b");
    append(post.db, 3, POST_NORMAL, "c");
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 2, forward, &sender, &sent), SAP_OK);
    EXPECT(sent == 2 && sender.count == 2, "%u sent", sent);
    EXPECT(strcmp(sender.ids[0], "a") == 0 && strcmp(sender.ids[1], "b") == 0, "another order");
    EXPECT(sender.seqs[0] == first, "another number");
    EXPECT(post_rows(post.db, POST_OUTBOX) == 1, "rows");
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 2, forward, &sender, NULL), SAP_OK);
    EXPECT(sender.count == 3 && post_rows(post.db, POST_OUTBOX) == 0, "the rest");
}
END_TEST

START_TEST(frames_that_are_not_taken_now_stay_and_do_not_hold_up_others)
{
    Sender sender = {.fail_id = "b", .fail_rc = SAP_BUSY};
    uint32_t sent = 99;

    append(post.db, 1, POST_NORMAL, "a");
    append(post.db, 1, POST_NORMAL, "b");
    append(post.db, 1, POST_NORMAL, "c");
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, forward, &sender, &sent), SAP_OK);
    EXPECT(sent == 2 && sender.count == 3, "%u of %u sent", sent, sender.count);
    EXPECT(post_rows(post.db, POST_OUTBOX) == 1, "rows");
    sender.fail_id = NULL;
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, forward, &sender, &sent), SAP_OK);
    EXPECT(sent == 1 && strcmp(sender.ids[3], "b") == 0, "it was not offered again");
}
END_TEST

START_TEST(another_code_ends_the_drain_and_what_was_taken_is_gone)
{
    Sender sender = {.fail_id = "b", .fail_rc = SAP_IO};
    uint32_t sent = 99;

    append(post.db, 1, POST_NORMAL, "a");
    append(post.db, 1, POST_NORMAL, "b");
    append(post.db, 1, POST_NORMAL, "c");
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, forward, &sender, &sent), SAP_IO);
    EXPECT(sender.count == 2, "%u offered", sender.count);
    EXPECT(post_rows(post.db, POST_OUTBOX) == 2, "what was taken is still there");
    sender.fail_rc = SAP_NOTFOUND;
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, forward, &sender, &sent), SAP_NOTFOUND);
    sender.fail_id = NULL;
    sender.count = 0;
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, forward, &sender, &sent), SAP_OK);
    EXPECT(sent == 2 && strcmp(sender.ids[0], "b") == 0, "the rest");
}
END_TEST

START_TEST(a_drain_misused_is_an_error)
{
    Sender sender = {0};

    EXPECT_RC(sap_runner_outbox_v0_drain(NULL, 10, forward, &sender, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 10, NULL, &sender, NULL), SAP_ERROR);
    append(post.db, 1, POST_NORMAL, "a");
    EXPECT_RC(sap_runner_outbox_v0_drain(post.db, 0, forward, &sender, NULL), SAP_OK);
    EXPECT(sender.count == 0, "none were asked for");
}
END_TEST

START_TEST(local_frames_go_to_inboxes_in_order_and_others_stay)
{
    SapRunnerV0Claim claim;
    uint64_t resume = 0;
    const char *expected[] = {"high", "two", "two again"};

    append(post.db, 1, POST_NORMAL, "one");
    append(post.db, 2, POST_NORMAL, "two");
    append(post.db, 4, POST_NORMAL, "four");
    append(post.db, 2, POST_NORMAL, "two again");
    append(post.db, 2, POST_HIGH, "high");
    append(post.db, 3, POST_NORMAL, "three");
    EXPECT(route(100, &resume) == 4, "not all were routed");
    EXPECT(resume == 0, "the end was reached");
    EXPECT(post_rows(post.db, POST_OUTBOX) == 2 && post_rows(post.db, POST_INBOX) == 4, "rows");
    for (int i = 0; i < 3; i++) {
        post_expect_claim(post.db, 2, 7, NOW, expected[i], &claim);
        sap_runner_v0_claim_release(&claim);
    }
    post_expect_claim(post.db, 4, 7, NOW, "four", &claim);
    sap_runner_v0_claim_release(&claim);
    EXPECT(route(100, &resume) == 0, "nothing is left");
}
END_TEST

START_TEST(routing_goes_on_where_it_stopped_and_looks_at_a_bounded_number)
{
    uint64_t resume = 0;
    uint32_t routed = 0;
    uint32_t calls = 0;
    char id[16];

    /* 40 for elsewhere, then 10 local ones: with max 2 each call looks at 8 rows. */
    for (int i = 0; i < 50; i++) {
        snprintf(id, sizeof id, "m%d", i);
        append(post.db, i < 40 ? 1 : 2, POST_NORMAL, id);
    }
    EXPECT(route(2, &resume) == 0 && resume != 0, "it looked too far, or forgot");
    do {
        routed += route(2, &resume);
        calls++;
        EXPECT(calls < 100, "no end");
    } while (resume != 0);
    EXPECT(routed == 10, "%u routed", routed);
    EXPECT(calls >= 5, "more than 2 at once");
    EXPECT(post_rows(post.db, POST_OUTBOX) == 40 && post_rows(post.db, POST_INBOX) == 10, "rows");
}
END_TEST

START_TEST(routed_and_sent_frames_never_give_their_numbers_back)
{
    FileBed bed;
    uint64_t last = 0;
    Sender sender = {0};

    file_bed_start(&bed);
    for (int round = 0; round < 3; round++) {
        SapEnv *db = file_bed_open(&bed);
        EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_OK);
        for (int i = 0; i < 3; i++) {
            uint64_t seq = append(db, 1, POST_NORMAL, "n");
            EXPECT(seq > last, "a number again");
            last = seq;
            EXPECT_RC(sap_runner_outbox_v0_drain(db, 10, forward, &sender, NULL), SAP_OK);
            EXPECT(post_rows(db, POST_OUTBOX) == 0, "rows");
        }
        file_bed_close(db);
    }
    file_bed_end(&bed);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_outbox");
    TCase *tc = tcase_create("outbox");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, only_frames_are_appended);
    tcase_add_test(tc, a_drain_offers_from_the_oldest_on_and_removes_what_was_taken);
    tcase_add_test(tc, frames_that_are_not_taken_now_stay_and_do_not_hold_up_others);
    tcase_add_test(tc, another_code_ends_the_drain_and_what_was_taken_is_gone);
    tcase_add_test(tc, a_drain_misused_is_an_error);
    tcase_add_test(tc, local_frames_go_to_inboxes_in_order_and_others_stay);
    tcase_add_test(tc, routing_goes_on_where_it_stopped_and_looks_at_a_bounded_number);
    tcase_add_test(tc, routed_and_sent_frames_never_give_their_numbers_back);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
