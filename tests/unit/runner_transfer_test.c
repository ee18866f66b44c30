/* Buffers that pass from one owner to another by ticket. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/runner_v0.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t freed; /* by free_counted() */

static void free_counted(void *buf, size_t len)
{
    EXPECT(len == *(size_t *)buf, "a length of %zu that was %zu", len, *(size_t *)buf);
    free(buf);
    freed++;
}

/* Says its own length. */
static void *make(size_t len)
{
    size_t *buf = malloc(len);

    EXPECT(buf != NULL && len >= sizeof *buf, "no buffer of %zu bytes", len);
    *buf = len;
    return buf;
}

static SapTransferTicket give(SapEnv *db, size_t len)
{
    SapTransferTicket ticket = 0;

    EXPECT_RC(sap_transfer_give(db, make(len), len, free_counted, &ticket), SAP_OK);
    EXPECT(ticket != 0, "ticket 0");
    return ticket;
}

START_TEST(a_buffer_given_is_taken_once_as_it_is)
{
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    void *buf = make(100);
    void *taken = NULL;
    size_t len = 0;
    SapTransferTicket ticket = 0;

    ck_assert_int_eq(sap_transfer_give(db, buf, 100, free_counted, &ticket), SAP_OK);
    ck_assert_int_eq(sap_transfer_take(ticket, &taken, &len), SAP_OK);
    ck_assert_ptr_eq(taken, buf);
    ck_assert_uint_eq(len, 100);
    taken = NULL;
    ck_assert_int_eq(sap_transfer_take(ticket, &taken, &len), SAP_NOTFOUND);
    ck_assert_ptr_null(taken);
    ck_assert_uint_eq(freed, 0);
    free(buf);
    sap_db_close(db);
}
END_TEST

START_TEST(misuse_changes_nothing)
{
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    uint8_t byte = 0;
    void *taken = NULL;
    size_t len = 0;
    SapTransferTicket ticket = 7;

    ck_assert_int_eq(sap_transfer_give(NULL, &byte, 1, free_counted, &ticket), SAP_ERROR);
    ck_assert_int_eq(sap_transfer_give(db, NULL, 1, free_counted, &ticket), SAP_ERROR);
    ck_assert_int_eq(sap_transfer_give(db, &byte, 1, NULL, &ticket), SAP_ERROR);
    ck_assert_int_eq(sap_transfer_give(db, &byte, 1, free_counted, NULL), SAP_ERROR);
    ck_assert_uint_eq(ticket, 7);
    ticket = give(db, 50);
    ck_assert_int_eq(sap_transfer_take(ticket, NULL, &len), SAP_ERROR);
    ck_assert_int_eq(sap_transfer_take(ticket, &taken, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_transfer_take(ticket, &taken, &len), SAP_OK);
    free(taken);
    ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
    sap_db_close(db);
}
END_TEST

START_TEST(guesses_and_neighbours_of_tickets_are_not_found)
{
    enum { GIVEN = 100 };
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    SapTransferTicket tickets[GIVEN];
    void *taken = NULL;
    size_t len = 0;

    for (size_t i = 0; i < GIVEN; i++) {
        tickets[i] = give(db, 64);
    }
    for (uint64_t i = 0; i < 1000; i++) {
        ck_assert_int_eq(sap_transfer_take(i, &taken, &len), SAP_NOTFOUND);
    }
    for (size_t i = 0; i < GIVEN; i++) {
        for (uint64_t by = 1; by <= GIVEN; by++) {
            ck_assert_int_eq(sap_transfer_take(tickets[i] + by, &taken, &len), SAP_NOTFOUND);
            ck_assert_int_eq(sap_transfer_take(tickets[i] - by, &taken, &len), SAP_NOTFOUND);
        }
        for (uint32_t bit = 0; bit < 64; bit++) {
            ck_assert_int_eq(sap_transfer_take(tickets[i] ^ UINT64_C(1) << bit, &taken, &len),
                             SAP_NOTFOUND);
        }
    }
    uint32_t count = 0;
    sap_transfer_reclaim(db, &count);
    ck_assert_uint_eq(count, GIVEN);
    ck_assert_uint_eq(freed, GIVEN);
    sap_db_close(db);
}
END_TEST

START_TEST(reclaim_frees_what_was_given_with_this_db_and_nothing_else)
{
    SapEnv *a = sap_db_open(NULL, 0, NULL, NULL);
    SapEnv *b = sap_db_open(NULL, 0, NULL, NULL);
    SapTransferTicket of_a[100];
    SapTransferTicket of_b[100];
    void *taken = NULL;
    size_t len = 0;
    uint32_t count = 77;

    sap_transfer_reclaim(a, &count);
    ck_assert_uint_eq(count, 0);
    for (size_t i = 0; i < 100; i++) {
        of_a[i] = give(a, 100 + i);
        of_b[i] = give(b, 300 + i);
    }
    for (size_t i = 0; i < 30; i++) {
        ck_assert_int_eq(sap_transfer_take(of_a[i], &taken, &len), SAP_OK);
        free(taken);
    }
    sap_transfer_reclaim(a, &count);
    ck_assert_uint_eq(count, 70);
    ck_assert_uint_eq(freed, 70);
    sap_transfer_reclaim(a, NULL);
    ck_assert_uint_eq(freed, 70);
    for (size_t i = 0; i < 100; i++) {
        ck_assert_int_eq(sap_transfer_take(of_a[i], &taken, &len), SAP_NOTFOUND);
        ck_assert_int_eq(sap_transfer_take(of_b[i], &taken, &len), SAP_OK);
        ck_assert_uint_eq(len, 300 + i);
        free(taken);
    }
    ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
    sap_db_close(a);
    sap_db_close(b);
}
END_TEST

static SapEnv *db_of_callback;

static void free_and_give_again(void *buf, size_t len)
{
    free_counted(buf, len);
    give(db_of_callback, len);
}

START_TEST(a_function_that_frees_may_give_again)
{
    SapTransferTicket ticket = 0;
    uint32_t count = 0;

    db_of_callback = sap_db_open(NULL, 0, NULL, NULL);
    ck_assert_int_eq(sap_transfer_give(db_of_callback, make(40), 40, free_and_give_again, &ticket),
                     SAP_OK);
    sap_transfer_reclaim(db_of_callback, &count);
    ck_assert_uint_eq(count, 1);
    sap_transfer_reclaim(db_of_callback, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(freed, 2);
    sap_db_close(db_of_callback);
}
END_TEST

START_TEST(a_give_without_memory_leaves_the_buffer_with_its_giver)
{
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    uint64_t refused = 0;
    uint64_t faults = 0;

    /* So many that the table has to grow; that it cannot is no failure. */
    for (uint64_t nth = 1;; nth++) {
        SapTransferTicket tickets[200];
        uint32_t given = 0;
        uint32_t count = 0;

        fault_reset();
        fault_arm_alloc(nth);
        for (size_t i = 0; i < 200; i++) {
            void *buf = make(64);
            tickets[given] = 1;
            int rc = sap_transfer_give(db, buf, 64, free_counted, &tickets[given]);
            if (rc == SAP_OK) {
                given++;
                continue;
            }
            ck_assert_int_eq(rc, SAP_NOMEM);
            ck_assert_uint_eq(tickets[given], 1);
            refused++;
            free(buf);
        }
        bool fired = fault_fired() > 0;
        fault_reset();
        void *taken = NULL;
        size_t len = 0;
        for (uint32_t i = 0; i < given; i += 2) {
            ck_assert_int_eq(sap_transfer_take(tickets[i], &taken, &len), SAP_OK);
            free(taken);
        }
        sap_transfer_reclaim(db, &count);
        ck_assert_uint_eq(count, given / 2);
        ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
        if (!fired) {
            break;
        }
        faults++;
    }
    printf("%" PRIu64 " allocations failed, %" PRIu64 " of them a give\n", faults, refused);
    ck_assert_uint_eq(refused, 200);
    ck_assert_uint_gt(faults, refused);
    sap_db_close(db);
}
END_TEST

START_TEST(random_gives_and_takes_never_mix_up_buffers)
{
    enum { LIVE = 3000, STEPS = 60000 };
    static SapTransferTicket tickets[LIVE];
    static size_t lens[LIVE];
    uint64_t seed = choice_first_seed();
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    uint32_t given = 0;
    uint32_t taken_count = 0;
    Rng rng;

    rng_seed(&rng, seed);
    for (uint32_t step = 0; step < STEPS; step++) {
        size_t i = rng_below(&rng, LIVE);
        if (tickets[i] == 0) {
            lens[i] = rng_range(&rng, sizeof(size_t), 200);
            tickets[i] = give(db, lens[i]);
            given++;
            continue;
        }
        void *taken = NULL;
        size_t len = 0;
        ck_assert_int_eq(sap_transfer_take(tickets[i], &taken, &len), SAP_OK);
        ck_assert_uint_eq(len, lens[i]);
        ck_assert_uint_eq(*(size_t *)taken, len);
        free(taken);
        tickets[i] = 0;
        taken_count++;
    }
    uint32_t count = 0;
    sap_transfer_reclaim(db, &count);
    ck_assert_uint_eq(count, given - taken_count);
    ck_assert_uint_eq(freed, count);
    ck_assert_uint_gt(count, 500);
    ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
    printf("seed %" PRIu64 ": %u given, %u taken, %u reclaimed\n", seed, given, taken_count, count);
    sap_db_close(db);
}
END_TEST

START_TEST(the_last_runner_of_a_db_frees_what_nobody_took)
{
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    SapEnv *other_db = sap_db_open(NULL, 0, NULL, NULL);
    SapRunnerV0 first;
    SapRunnerV0 second;
    SapRunnerV0 other;
    SapRunnerV0Config config = {.db = db, .worker_id = 1, .bootstrap_schema_if_missing = 1};

    ck_assert_int_eq(sap_runner_v0_init(&first, &config), SAP_OK);
    ck_assert_int_eq(sap_runner_v0_init(&second, &config), SAP_OK);
    config.db = other_db;
    ck_assert_int_eq(sap_runner_v0_init(&other, &config), SAP_OK);
    (void)give(db, 100);
    SapTransferTicket elsewhere = give(other_db, 100);

    ck_assert_int_eq(sap_runner_v0_shutdown(&first), SAP_OK);
    ck_assert_uint_eq(freed, 0);
    ck_assert_int_eq(sap_runner_v0_shutdown(&second), SAP_OK);
    ck_assert_uint_eq(freed, 1);

    void *taken = NULL;
    size_t len = 0;
    ck_assert_int_eq(sap_transfer_take(elsewhere, &taken, &len), SAP_OK);
    free(taken);
    ck_assert_int_eq(sap_runner_v0_shutdown(&other), SAP_OK);
    ck_assert_uint_eq(freed, 1);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    ck_assert_int_eq(sap_db_close(other_db), SAP_OK);
    ck_assert_uint_eq(mem_live_blocks(MEM_RUNNER), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/transfer");
    TCase *tcase = tcase_create("transfer");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_buffer_given_is_taken_once_as_it_is);
    tcase_add_test(tcase, misuse_changes_nothing);
    tcase_add_test(tcase, guesses_and_neighbours_of_tickets_are_not_found);
    tcase_add_test(tcase, reclaim_frees_what_was_given_with_this_db_and_nothing_else);
    tcase_add_test(tcase, the_last_runner_of_a_db_frees_what_nobody_took);
    tcase_add_test(tcase, a_function_that_frees_may_give_again);
    tcase_add_test(tcase, a_give_without_memory_leaves_the_buffer_with_its_giver);
    tcase_add_test(tcase, random_gives_and_takes_never_mix_up_buffers);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
