/* Leases: at most one unexpired per key, freed by time or by token. */
#include "common/config.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, ME = 7, OTHER = 8, NOW = 1000000 };

static Post post;

static void setup(void)
{
    post_open(&post);
}

static void teardown(void)
{
    post_close(&post);
}

static int acquire(const char *key, uint64_t owner, int64_t now_ms, int64_t ttl_ms,
                   SapRunnerV0Lease *lease)
{
    SapTxnCtx *txn = post_begin(post.db);
    int rc =
        sap_runner_lease_v0_acquire(txn, key, (uint32_t)strlen(key), owner, now_ms, ttl_ms, lease);

    post_commit(txn);
    return rc;
}

static int get(const char *key, SapRunnerV0Lease *lease)
{
    SapTxnCtx *txn = post_begin(post.db);
    int rc = sap_runner_lease_v0_get(txn, key, (uint32_t)strlen(key), lease);

    post_commit(txn);
    return rc;
}

static int renew(const char *key, uint64_t token, int64_t now_ms, int64_t ttl_ms,
                 SapRunnerV0Lease *lease)
{
    SapTxnCtx *txn = post_begin(post.db);
    int rc =
        sap_runner_lease_v0_renew(txn, key, (uint32_t)strlen(key), token, now_ms, ttl_ms, lease);

    post_commit(txn);
    return rc;
}

static int release(const char *key, uint64_t token)
{
    SapTxnCtx *txn = post_begin(post.db);
    int rc = sap_runner_lease_v0_release(txn, key, (uint32_t)strlen(key), token);

    post_commit(txn);
    return rc;
}

static void expect_same(const SapRunnerV0Lease *a, const SapRunnerV0Lease *b)
{
    EXPECT(a->owner == b->owner && a->deadline_ms == b->deadline_ms && a->attempts == b->attempts &&
               a->token == b->token,
           "another lease");
}

START_TEST(a_lease_is_held_until_its_deadline_by_whoever)
{
    SapRunnerV0Lease lease;
    SapRunnerV0Lease got;

    EXPECT_RC(get("k", &got), SAP_NOTFOUND);
    EXPECT_RC(acquire("k", ME, NOW, 500, &lease), SAP_OK);
    EXPECT(lease.owner == ME && lease.deadline_ms == NOW + 500 && lease.attempts == 1 &&
               lease.token != 0,
           "another lease");
    EXPECT_RC(get("k", &got), SAP_OK);
    expect_same(&lease, &got);
    uint64_t before = post_digest(post.db);
    got.token = 99;
    EXPECT_RC(acquire("k", OTHER, NOW + 499, 500, &got), SAP_BUSY);
    EXPECT_RC(acquire("k", ME, NOW, 500, &got), SAP_BUSY);
    EXPECT(got.token == 99, "the lease was written");
    EXPECT(post_digest(post.db) == before, "something has changed");
    EXPECT_RC(acquire("l", OTHER, NOW, 500, &got), SAP_OK);
}
END_TEST

START_TEST(an_expired_lease_passes_on_and_counts_attempts)
{
    SapRunnerV0Lease first;
    SapRunnerV0Lease second;
    SapRunnerV0Lease got;

    EXPECT_RC(acquire("k", ME, NOW, 500, &first), SAP_OK);
    EXPECT_RC(get("k", &got), SAP_OK);
    EXPECT_RC(acquire("k", OTHER, NOW + 500, 100, &second), SAP_OK);
    EXPECT(second.owner == OTHER && second.deadline_ms == NOW + 600 && second.attempts == 2,
           "another lease");
    EXPECT(second.token > first.token, "a token again");
    EXPECT_RC(renew("k", first.token, NOW + 500, 500, &got), SAP_CONFLICT);
    EXPECT_RC(release("k", first.token), SAP_CONFLICT);
    EXPECT_RC(get("k", &got), SAP_OK);
    expect_same(&second, &got);
}
END_TEST

START_TEST(a_lease_is_renewed_and_released_by_its_token)
{
    SapRunnerV0Lease lease;
    SapRunnerV0Lease got;

    EXPECT_RC(acquire("k", ME, NOW, 500, &lease), SAP_OK);
    EXPECT_RC(renew("k", lease.token + 1, NOW, 500, &got), SAP_CONFLICT);
    EXPECT_RC(release("k", lease.token + 1), SAP_CONFLICT);
    EXPECT_RC(renew("k", lease.token, NOW + 400, 500, &got), SAP_OK);
    EXPECT(got.deadline_ms == NOW + 900 && got.token == lease.token && got.owner == ME &&
               got.attempts == 1,
           "another lease");
    EXPECT_RC(acquire("k", OTHER, NOW + 899, 500, &got), SAP_BUSY);
    EXPECT_RC(release("k", lease.token), SAP_OK);
    EXPECT_RC(get("k", &got), SAP_NOTFOUND);
    EXPECT_RC(release("k", lease.token), SAP_CONFLICT);
    EXPECT_RC(renew("k", lease.token, NOW, 500, &got), SAP_CONFLICT);
    EXPECT_RC(acquire("k", OTHER, NOW, 500, &got), SAP_OK);
    EXPECT(got.attempts == 1 && got.token > lease.token, "a released lease begins anew");
}
END_TEST

START_TEST(a_row_that_does_not_decode_is_corrupt)
{
    SapRunnerV0Lease lease;
    uint8_t row[64];
    const void *val = NULL;
    uint32_t len = 0;
    uint32_t tried = 0;

    EXPECT_RC(acquire("k", ME, NOW, 500, &lease), SAP_OK);
    SapTxnCtx *txn = post_begin(post.db);
    EXPECT_RC(sap_txn_get_dbi(txn, POST_LEASES, "k", 1, &val, &len), SAP_OK);
    EXPECT(len < sizeof row, "a long row");
    memcpy(row, val, len);
    sap_txn_abort(txn);
    for (uint32_t cut = 0; cut <= len + 1; cut++) {
        if (cut == len) {
            continue;
        }
        row[len] = 0;
        post_put(post.db, POST_LEASES, "k", 1, row, cut);
        EXPECT_RC(get("k", &lease), SAP_CORRUPT);
        EXPECT_RC(acquire("k", ME, NOW + 900, 500, &lease), SAP_CORRUPT);
        EXPECT_RC(renew("k", 1, NOW, 500, &lease), SAP_CORRUPT);
        EXPECT_RC(release("k", 1), SAP_CORRUPT);
        tried++;
    }
    for (uint32_t i = 0; i < 4; i++) {
        row[i] ^= 0x20;
        post_put(post.db, POST_LEASES, "k", 1, row, len);
        EXPECT_RC(get("k", &lease), SAP_CORRUPT);
        row[i] ^= 0x20;
        tried++;
    }
    printf("%u damaged rows\n", tried);
    post_put(post.db, POST_LEASES, "k", 1, row, len);
    EXPECT_RC(get("k", &lease), SAP_OK);
}
END_TEST

START_TEST(misuse_is_an_error)
{
    SapRunnerV0Lease lease;
    SapTxnCtx *txn = post_begin(post.db);

    EXPECT_RC(sap_runner_lease_v0_acquire(NULL, "k", 1, ME, NOW, 1, &lease), SAP_ERROR);
    EXPECT_RC(sap_runner_lease_v0_acquire(txn, NULL, 1, ME, NOW, 1, &lease), SAP_ERROR);
    EXPECT_RC(sap_runner_lease_v0_acquire(txn, "k", 1, 0, NOW, 1, &lease), SAP_ERROR);
    EXPECT_RC(sap_runner_lease_v0_acquire(txn, "k", 1, ME, NOW, 0, &lease), SAP_ERROR);
    EXPECT_RC(sap_runner_lease_v0_acquire(txn, "k", 1, ME, NOW, -1, &lease), SAP_ERROR);
    EXPECT_RC(sap_runner_lease_v0_get(txn, NULL, 1, &lease), SAP_ERROR);
    EXPECT_RC(sap_runner_lease_v0_release(NULL, "k", 1, 1), SAP_ERROR);
    post_commit(txn);
    EXPECT(post_rows(post.db, POST_LEASES) == 0, "a lease");
    EXPECT_RC(sap_txn_begin_rc(post.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_runner_lease_v0_acquire(txn, "k", 1, ME, NOW, 1, &lease), SAP_READONLY);
    EXPECT_RC(sap_runner_lease_v0_get(txn, "k", 1, &lease), SAP_NOTFOUND);
    sap_txn_abort(txn);
}
END_TEST

START_TEST(a_lease_for_ever_does_not_wrap)
{
    SapRunnerV0Lease lease;
    SapRunnerV0Lease got;

    EXPECT_RC(acquire("k", ME, NOW, INT64_MAX, &lease), SAP_OK);
    EXPECT(lease.deadline_ms == INT64_MAX, "deadline %lld", (long long)lease.deadline_ms);
    EXPECT_RC(acquire("k", OTHER, INT64_MAX - 1, 1, &got), SAP_BUSY);
    EXPECT_RC(renew("k", lease.token, INT64_MAX - 1, INT64_MAX, &got), SAP_OK);
    EXPECT(got.deadline_ms == INT64_MAX, "deadline %lld", (long long)got.deadline_ms);
}
END_TEST

START_TEST(a_lease_on_a_name_does_not_touch_messages)
{
    SapRunnerV0Lease lease;
    SapRunnerV0Claim claim;
    uint8_t key[24] = {0};
    SapTxnCtx *txn = NULL;

    /* As the keys of worker 1, but for the first byte, which no worker's number has. */
    key[0] = 0x80;
    key[7] = 1;
    post_send(post.db, 1, POST_NORMAL, "a");
    for (uint32_t len = 1; len <= sizeof key; len++) {
        txn = post_begin(post.db);
        EXPECT_RC(sap_runner_lease_v0_acquire(txn, key, len, ME, NOW, 10, &lease), SAP_OK);
        post_commit(txn);
    }
    post_expect_claim(post.db, 1, ME, NOW, "a", &claim);
    sap_runner_v0_claim_release(&claim);
    post_expect_claim(post.db, 1, ME, NOW + 1000, "a", &claim);
    EXPECT(claim.attempts == 2, "attempt %u", claim.attempts);
    EXPECT_RC(post_ack(post.db, &claim, NOW + 1000), SAP_OK);
    sap_runner_v0_claim_release(&claim);
    for (uint32_t len = 1; len <= sizeof key; len++) {
        txn = post_begin(post.db);
        EXPECT_RC(sap_runner_lease_v0_get(txn, key, len, &lease), SAP_OK);
        EXPECT(lease.deadline_ms == NOW + 10 && lease.owner == ME, "another lease");
        sap_txn_abort(txn);
    }
}
END_TEST

START_TEST(histories_agree_with_a_table_of_owners)
{
    enum { KEYS = 5, STEPS = 3000 };
    static const char *keys[KEYS] = {"", "a", "b", "bb", "a longer name of a lease"};
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(SAP_SANITIZED ? 2 : 5);

    for (uint64_t seed = first; seed < first + count; seed++) {
        SapRunnerV0Lease model[KEYS] = {{0}}; /* token 0: none */
        SapRunnerV0Lease lease = {0};
        uint64_t tokens[KEYS] = {0}; /* some token of that key, perhaps lost */
        uint64_t last = 0;
        uint64_t acquired = 0;
        int64_t now = NOW;
        Choice choice;
        Post own;
        Post saved = post;
        post_open(&own);
        post = own;
        choice_from_seed(&choice, seed);
        for (int step = 0; step < STEPS; step++) {
            expect_context("seed %llu, step %d", (unsigned long long)seed, step);
            uint32_t k = choice_below(&choice, KEYS);
            uint32_t what = choice_below(&choice, 4);
            int64_t ttl = 1 + choice_below(&choice, 50);
            if (what == 0) {
                bool held = model[k].token != 0 && model[k].deadline_ms > now;
                uint64_t owner = 1 + choice_below(&choice, 3);
                EXPECT_RC(acquire(keys[k], owner, now, ttl, &lease), held ? SAP_BUSY : SAP_OK);
                if (!held) {
                    EXPECT(lease.token > last, "a token again");
                    EXPECT(lease.attempts == (model[k].token != 0 ? model[k].attempts + 1 : 1) &&
                               lease.owner == owner && lease.deadline_ms == now + ttl,
                           "another lease");
                    last = lease.token;
                    model[k] = lease;
                    acquired++;
                }
            } else if (what == 1) {
                bool mine = model[k].token != 0 && model[k].token == tokens[k];
                EXPECT_RC(renew(keys[k], tokens[k] != 0 ? tokens[k] : UINT64_MAX, now, ttl, &lease),
                          mine ? SAP_OK : SAP_CONFLICT);
                if (mine) {
                    model[k].deadline_ms = now + ttl;
                    expect_same(&model[k], &lease);
                }
            } else if (what == 2) {
                bool mine = model[k].token != 0 && model[k].token == tokens[k];
                EXPECT_RC(release(keys[k], tokens[k] != 0 ? tokens[k] : UINT64_MAX),
                          mine ? SAP_OK : SAP_CONFLICT);
                if (mine) {
                    model[k].token = 0;
                }
            } else {
                EXPECT_RC(get(keys[k], &lease), model[k].token != 0 ? SAP_OK : SAP_NOTFOUND);
                if (model[k].token != 0) {
                    expect_same(&model[k], &lease);
                    if (choice_one_in(&choice, 2)) {
                        tokens[k] = lease.token;
                    }
                }
                now += choice_below(&choice, 20);
            }
        }
        EXPECT(acquired > 100, "only %llu leases", (unsigned long long)acquired);
        printf("seed %llu: %llu leases\n", (unsigned long long)seed, (unsigned long long)acquired);
        post_close(&own);
        post = saved;
    }
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("runner_lease");
    TCase *tc = tcase_create("lease");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_lease_is_held_until_its_deadline_by_whoever);
    tcase_add_test(tc, an_expired_lease_passes_on_and_counts_attempts);
    tcase_add_test(tc, a_lease_is_renewed_and_released_by_its_token);
    tcase_add_test(tc, a_row_that_does_not_decode_is_corrupt);
    tcase_add_test(tc, misuse_is_an_error);
    tcase_add_test(tc, a_lease_for_ever_does_not_wrap);
    tcase_add_test(tc, a_lease_on_a_name_does_not_touch_messages);
    tcase_add_test(tc, histories_agree_with_a_table_of_owners);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(make_suite());
}
