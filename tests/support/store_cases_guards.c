/* Cases: guards, locks of rows, and what two transactions can do to each other. */
#include "support/expect.h"
#include "support/store_suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_MAX = 32 };

/* ---- Guards and the order of calls ---------------------------------------------------------- */

static void guards_come_first_and_once(StoreSuite *suite)
{
    Seat seat = suite_seat(suite);
    char val[VALUE_MAX];
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "x", "1"), SAP_OK);
    EXPECT_RC(seat_guard(&seat, "k", true), SAP_ERROR);
    EXPECT_RC(seat_put(&seat, "y", "1"), SAP_OK); /* the transaction goes on */
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_get(&seat, "x", val, sizeof val), SAP_OK);
    EXPECT_RC(seat_guard(&seat, "k", true), SAP_ERROR);
    seat_abort(&seat);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_scan(&seat, NULL, NULL, false, 1), SAP_OK);
    EXPECT_RC(seat_guard(&seat, "k", true), SAP_ERROR);
    seat_abort(&seat);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_guard(&seat, "k", false), SAP_OK);
    EXPECT_RC(seat_guard(&seat, "l", true), SAP_ERROR);
    EXPECT_RC(seat_put(&seat, "z", "1"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
}

static void only_guarded_transactions_have_guards(StoreSuite *suite)
{
    static const SapStoreKind others[] = {SAP_STORE_READ_DURABLE, SAP_STORE_READ_NEWEST,
                                          SAP_STORE_CLAIM};
    for (int i = 0; i < 3; i++) {
        Seat seat = suite_seat(suite);
        EXPECT_RC(seat_begin(&seat, others[i]), SAP_OK);
        EXPECT_RC(seat_guard(&seat, "k", true), SAP_ERROR);
        EXPECT_RC(seat_guard(&seat, "k", false), SAP_ERROR);
        EXPECT_RC(seat_commit(&seat), SAP_OK);
    }
}

static void a_guarded_transaction_needs_no_guard(StoreSuite *suite)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "k", "1"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_guard(&seat, "absent", true), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK); /* and need not write */
    suite_say_rows(suite);
}

static void guards_may_come_in_any_order_and_twice(StoreSuite *suite)
{
    static const char *const orders[] = {"ABC", "CBA", "BCA", "aBcAbC", "AAAA", "cCc", "a"};
    Seat seat = suite_seat(suite);
    suite_put_row(suite, "b", "1");
    for (int i = 0; i < 7; i++) {
        EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
        EXPECT_RC(seat_guard_all(&seat, orders[i]), SAP_OK);
        EXPECT_RC(seat_put(&seat, "b", orders[i]), SAP_OK);
        EXPECT_RC(seat_commit(&seat), SAP_OK);
    }
    suite_say_rows(suite);
}

static void sixty_four_guards_are_the_most(StoreSuite *suite)
{
    SapStoreGuard guards[SAP_STORE_MAX_GUARDS + 1];
    uint32_t numbers[SAP_STORE_MAX_GUARDS + 1];
    for (uint32_t i = 0; i <= SAP_STORE_MAX_GUARDS; i++) {
        numbers[i] = i * 7 % (SAP_STORE_MAX_GUARDS + 1);
        guards[i] = (SapStoreGuard){i % 2 == 0 ? SUITE_TABLE : SUITE_OTHER_TABLE, &numbers[i],
                                    sizeof numbers[i], i % 3 == 0};
    }
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(sap_store_guard(seat.txn, guards, SAP_STORE_MAX_GUARDS + 1), SAP_FULL);
    EXPECT_RC(sap_store_guard(seat.txn, guards, SAP_STORE_MAX_GUARDS), SAP_OK);
    EXPECT_RC(seat_put(&seat, "k", "1"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
}

/* ---- Two parties ---------------------------------------------------------------------------- */

/* Guards as `arg` says, reads k, lets the other run, and writes one more than it read. */
static int add_under_guard(Party *party, Seat *seat)
{
    char val[VALUE_MAX];
    char sum[VALUE_MAX];
    int rc = seat_guard_all(seat, party->arg);
    if (rc == SAP_OK) {
        rc = seat_get(seat, "k", val, sizeof val);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    party_let_try(party);
    (void)snprintf(sum, sizeof sum, "%ld", strtol(val, NULL, 10) + 1);
    return seat_put(seat, "k", sum);
}

static void an_exclusive_guard_prevents_a_lost_update(StoreSuite *suite)
{
    for (int is_there = 0; is_there < 2; is_there++) {
        if (is_there) {
            suite_put_row(suite, "k", "10");
        }
        Party first = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = "K"};
        Party second = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = "K"};
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        suite_expect_row(suite, "k", is_there ? "12" : "2");
    }
}

static void a_shared_guard_keeps_an_exclusive_one_away_and_the_reverse(StoreSuite *suite)
{
    static const char *const pairs[][2] = {
        {"k", "K"}, {"K", "k"}, {"ak", "bKc"}, {"Kk", "k"}, {"k", "Kk"}};
    for (int i = 0; i < 5; i++) {
        Party first = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = pairs[i][0]};
        Party second = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = pairs[i][1]};
        suite_put_row(suite, "k", "0");
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        suite_expect_row(suite, "k", "2");
    }
}

/* Guards as `arg` says and writes a row of its own. */
static int put_own_under_guard(Party *party, Seat *seat)
{
    int rc = seat_guard_all(seat, party->arg);
    if (rc == SAP_OK) {
        party_let_try(party);
    }
    /* Its name is by the guards: a body that runs again must write the same row. */
    return rc == SAP_OK ? seat_put(seat, party->arg, "1") : rc;
}

static void shared_guards_and_guards_of_other_keys_let_both_commit(StoreSuite *suite)
{
    static const char *const pairs[][2] = {{"ak", "bk"}, {"A", "B"}, {"Ab", "bC"}, {"abc", "cba"}};
    suite_put_row(suite, "k", "0");
    for (int i = 0; i < 4; i++) {
        Party first = {.body = put_own_under_guard, .kind = SAP_STORE_GUARDED, .arg = pairs[i][0]};
        Party second = {.body = put_own_under_guard, .kind = SAP_STORE_GUARDED, .arg = pairs[i][1]};
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    }
}

/* Several guards at once, in opposite orders: taken in key order, nobody waits for ever. */
static void guards_in_opposite_orders_never_block_each_other_for_ever(StoreSuite *suite)
{
    static const char *const pairs[][2] = {{"ABK", "KBA"}, {"KA", "AK"}, {"bAK", "KaB"}};
    for (int i = 0; i < 3; i++) {
        Party first = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = pairs[i][0]};
        Party second = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = pairs[i][1]};
        suite_put_row(suite, "k", "0");
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        suite_expect_row(suite, "k", "2");
    }
}

/* Holds the guards, lets the other try, and gives up. */
static int hold_and_give_up(Party *party, Seat *seat)
{
    int rc = seat_guard_all(seat, party->arg);
    if (rc == SAP_OK) {
        rc = seat_put(seat, "k", "lost");
    }
    if (rc == SAP_OK) {
        party_let_try(party);
        rc = SAP_INVALID;
    }
    return rc;
}

static void a_transaction_that_gives_up_leaves_guards_and_rows_free(StoreSuite *suite)
{
    Party first = {.body = hold_and_give_up, .kind = SAP_STORE_GUARDED, .arg = "K"};
    Party second = {.body = add_under_guard, .kind = SAP_STORE_GUARDED, .arg = "K"};
    suite_put_row(suite, "k", "5");
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_INVALID && second.rc == SAP_OK, "one gives up, one commits");
    suite_expect_row(suite, "k", "6");
}

/* Writes k, then lets the other run. A put may be under way to a server when it returns; what the
 * transaction reads of it has been there. */
static int put_then_let(Party *party, Seat *seat)
{
    char val[VALUE_MAX];
    int rc = seat_put(seat, "k", party->arg);
    if (rc == SAP_OK) {
        rc = seat_get(seat, "k", val, sizeof val);
    }
    if (rc == SAP_OK) {
        party_let_try(party);
    }
    return rc;
}

static void of_two_writers_of_one_row_the_second_waits_for_the_first(StoreSuite *suite)
{
    for (int is_there = 0; is_there < 2; is_there++) {
        if (is_there) {
            suite_put_row(suite, "k", "0");
        }
        Party first = {.body = put_then_let, .kind = SAP_STORE_GUARDED, .arg = "first"};
        Party second = {.body = put_then_let, .kind = SAP_STORE_GUARDED, .arg = "second"};
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        suite_expect_row(suite, "k", "second");
        Seat seat = suite_seat(suite);
        EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
        EXPECT_RC(seat_del(&seat, "k"), SAP_OK);
        EXPECT_RC(seat_commit(&seat), SAP_OK);
    }
}

static int put_if_absent_then_let(Party *party, Seat *seat)
{
    int rc = seat_put_if_absent(seat, "k", party->arg);
    if (rc == SAP_OK) {
        party_let_try(party);
    }
    return rc == SAP_EXISTS ? SAP_OK : rc; /* a duplicate is acknowledged by its commit */
}

static void of_two_that_put_if_absent_one_finds_the_row_of_the_other(StoreSuite *suite)
{
    Party first = {.body = put_if_absent_then_let, .kind = SAP_STORE_GUARDED, .arg = "first"};
    Party second = {.body = put_if_absent_then_let, .kind = SAP_STORE_GUARDED, .arg = "second"};
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    EXPECT(strstr(suite->tape.text, "put if absent k=second: SAP_EXISTS") != NULL, "not twice");
    suite_expect_row(suite, "k", "first");
}

static int del_then_let(Party *party, Seat *seat)
{
    int rc = seat_del(seat, "k");
    if (rc == SAP_OK) {
        party_let_try(party);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static void of_two_that_delete_a_row_one_finds_none(StoreSuite *suite)
{
    Party first = {.body = del_then_let, .kind = SAP_STORE_GUARDED};
    Party second = {.body = del_then_let, .kind = SAP_STORE_GUARDED};
    suite_put_row(suite, "k", "1");
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    const char *found = strstr(suite->tape.text, "del k: SAP_OK");
    EXPECT(found != NULL && strstr(found + 1, "del k: SAP_OK") == NULL, "one deletes it");
    suite_expect_row(suite, "k", "-");
}

/* A guard of a row that is there, exclusive, also keeps away those who write without a guard. */
static int guard_then_let(Party *party, Seat *seat)
{
    char val[VALUE_MAX];
    int rc = seat_guard_all(seat, party->arg);
    if (rc == SAP_OK) {
        party_let_try(party);
        rc = seat_get(seat, "k", val, sizeof val);
    }
    return rc == SAP_OK ? seat_put(seat, "seen", val) : rc;
}

static void an_exclusive_guard_of_a_row_locks_it_against_writers_without_guards(StoreSuite *suite)
{
    Party first = {.body = guard_then_let, .kind = SAP_STORE_GUARDED, .arg = "K"};
    Party second = {.body = put_then_let, .kind = SAP_STORE_GUARDED, .arg = "second"};
    suite_put_row(suite, "k", "0");
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    suite_expect_row(suite, "seen", "0");
    suite_expect_row(suite, "k", "second");
}

/* ---- What is not prevented ------------------------------------------------------------------ */

/* Reads k twice, and lets the other write it in between. */
static int read_twice(Party *party, Seat *seat)
{
    SapStoreTxn *txn = seat->txn;
    const void *val[2] = {NULL, NULL};
    uint32_t len = 0;
    int rc = sap_store_get(txn, SUITE_TABLE, "k", 1, &val[0], &len);
    if (rc == SAP_OK) {
        party_let_try(party);
        rc = sap_store_get(txn, SUITE_TABLE, "k", 1, &val[1], &len);
    }
    if (rc == SAP_OK) {
        EXPECT(memcmp(val[0], "1", 1) == 0, "the first read sees what was committed before");
        EXPECT(memcmp(val[1], "1", 1) == 0 || memcmp(val[1], "2", 1) == 0, "another value");
        tape_printf(seat->tape, "two reads of an unguarded row: allowed\n");
    }
    return rc;
}

static void two_reads_of_a_row_without_a_guard_may_differ(StoreSuite *suite)
{
    Party first = {.body = read_twice, .kind = SAP_STORE_GUARDED};
    Party second = {.body = put_then_let, .kind = SAP_STORE_GUARDED, .arg = "2"};
    suite_put_row(suite, "k", "1");
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    suite_expect_row(suite, "k", "2");
}

/* An absent row is not locked by its guard: who does not guard it may write it meanwhile. */
static int guard_absent(Party *party, Seat *seat)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = seat_guard(seat, "k", true);
    if (rc != SAP_OK) {
        return rc;
    }
    party_let_try(party);
    rc = sap_store_get(seat->txn, SUITE_TABLE, "k", 1, &val, &len);
    EXPECT(rc == SAP_NOTFOUND || (rc == SAP_OK && len == 6 && memcmp(val, "second", 6) == 0),
           "get returned %s", code_name(rc));
    tape_printf(seat->tape, "a row put meanwhile without a guard: allowed\n");
    return SAP_OK;
}

static void the_guard_of_an_absent_row_need_not_keep_writers_without_guards_away(StoreSuite *suite)
{
    Party first = {.body = guard_absent, .kind = SAP_STORE_GUARDED};
    Party second = {.body = put_then_let, .kind = SAP_STORE_GUARDED, .arg = "second"};
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    suite_expect_row(suite, "k", "second");
}

/* Without a guard an update may be lost. */
static int add_without_guard(Party *party, Seat *seat)
{
    const void *val = NULL;
    uint32_t len = 0;
    char sum[VALUE_MAX];
    int rc = sap_store_get(seat->txn, SUITE_TABLE, "k", 1, &val, &len);
    if (rc != SAP_OK) {
        return rc;
    }
    party_let_try(party);
    (void)snprintf(sum, sizeof sum, "%c", *(const char *)val + 1);
    return sap_store_put(seat->txn, SUITE_TABLE, "k", 1, sum, 1);
}

static void an_update_without_a_guard_may_be_lost(StoreSuite *suite)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    Party first = {.body = add_without_guard, .kind = SAP_STORE_GUARDED, .may_differ = true};
    Party second = first;
    suite_put_row(suite, "k", "0");
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    EXPECT_RC(sap_store_begin(suite->store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    EXPECT_RC(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len), SAP_OK);
    EXPECT(len == 1 && (memcmp(val, "1", 1) == 0 || memcmp(val, "2", 1) == 0), "another value");
    sap_store_abort(txn);
    tape_printf(&suite->tape, "the sum of two unguarded updates: allowed\n");
}

/* ---- Reads wait for nobody ------------------------------------------------------------------ */

static int write_then_let_end(Party *party, Seat *seat)
{
    int rc = seat_guard_all(seat, "K");
    if (rc == SAP_OK) {
        rc = seat_put(seat, "k", "2");
    }
    if (rc == SAP_OK) {
        party_let_end(party);
    }
    return rc;
}

static int read_once(Party *party, Seat *seat)
{
    char val[VALUE_MAX];
    (void)party;
    return seat_get(seat, "k", val, sizeof val);
}

static void readers_wait_for_no_writer_and_see_the_old_row(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_READ_NEWEST; kind++) {
        Party first = {.body = write_then_let_end, .kind = SAP_STORE_GUARDED};
        Party second = {.body = read_once, .kind = (SapStoreKind)kind};
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        EXPECT(strstr(suite->tape.text, "get 16 k: SAP_OK 1\n") != NULL, "the old row");
        suite_put_row(suite, "k", "1");
    }
}

/* Reads k, lets the other party commit, and reads k again. */
static int read_let_end_read(Party *party, Seat *seat)
{
    char val[VALUE_MAX];
    int rc = seat_get(seat, "k", val, sizeof val);
    if (rc == SAP_OK) {
        party_let_end(party);
        rc = seat_get(seat, "k", val, sizeof val);
    }
    EXPECT(rc != SAP_OK || strcmp(val, "1") == 0, "the snapshot has changed to %s", val);
    return rc;
}

static void writers_wait_for_no_reader(StoreSuite *suite)
{
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_READ_NEWEST; kind++) {
        Party first = {.body = read_let_end_read, .kind = (SapStoreKind)kind};
        Party second = {.body = put_then_let, .kind = SAP_STORE_GUARDED, .arg = "2"};
        suite_put_row(suite, "k", "1");
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        suite_expect_row(suite, "k", "2");
    }
}

const StoreCase store_guard_cases[] = {
    STORE_CASE(guards_come_first_and_once),
    STORE_CASE(only_guarded_transactions_have_guards),
    STORE_CASE(a_guarded_transaction_needs_no_guard),
    STORE_CASE(guards_may_come_in_any_order_and_twice),
    STORE_CASE(sixty_four_guards_are_the_most),
    STORE_CASE(an_exclusive_guard_prevents_a_lost_update),
    STORE_CASE(a_shared_guard_keeps_an_exclusive_one_away_and_the_reverse),
    STORE_CASE(shared_guards_and_guards_of_other_keys_let_both_commit),
    STORE_CASE(guards_in_opposite_orders_never_block_each_other_for_ever),
    STORE_CASE(a_transaction_that_gives_up_leaves_guards_and_rows_free),
    STORE_CASE(of_two_writers_of_one_row_the_second_waits_for_the_first),
    STORE_CASE(of_two_that_put_if_absent_one_finds_the_row_of_the_other),
    STORE_CASE(of_two_that_delete_a_row_one_finds_none),
    STORE_CASE(an_exclusive_guard_of_a_row_locks_it_against_writers_without_guards),
    STORE_CASE(two_reads_of_a_row_without_a_guard_may_differ),
    STORE_CASE(the_guard_of_an_absent_row_need_not_keep_writers_without_guards_away),
    STORE_CASE(an_update_without_a_guard_may_be_lost),
    STORE_CASE(readers_wait_for_no_writer_and_see_the_old_row),
    STORE_CASE(writers_wait_for_no_reader),
    {NULL, NULL},
};
