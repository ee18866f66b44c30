/* Cases: claims. */
#include "support/expect.h"
#include "support/store_suite.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 64 };

static void put_letters(StoreSuite *suite, const char *letters)
{
    for (; *letters != 0; letters++) {
        char key[] = {*letters, 0};
        suite_put_row(suite, key, key);
    }
}

/* The last claim that was written to the tape moved these rows, in this order. */
static void expect_claimed(StoreSuite *suite, const char *rows)
{
    const char *last = NULL;
    char expected[VALUE_MAX];
    for (const char *at = suite->tape.text; (at = strstr(at, "claim ")) != NULL; at++) {
        if (strstr(at, "limit") != NULL && strstr(at, "limit") < strchr(at, '\n')) {
            last = at;
        }
    }
    EXPECT(last != NULL, "there was no claim");
    last = strchr(last, ':') + 1;
    (void)snprintf(expected, sizeof expected, "%s SAP_OK\n", rows);
    EXPECT(strncmp(last, expected, strlen(expected)) == 0, "claimed:%.*s, not%s",
           (int)strcspn(last, "\n"), last, rows);
}

static void claim_alone(StoreSuite *suite, uint32_t limit, const char *rows)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim(&seat, limit), SAP_OK);
    expect_claimed(suite, rows);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
}

static void a_claim_moves_the_first_rows_in_order_up_to_the_limit(StoreSuite *suite)
{
    put_letters(suite, "dbeac");
    claim_alone(suite, 2, " a b");
    suite_say_rows(suite);
    suite_expect_row(suite, "a", "-");
    suite_expect_moved(suite, "a", "a");
    claim_alone(suite, 2, " c d");
    claim_alone(suite, 2, " e");
    claim_alone(suite, 2, "");
    suite_say_rows(suite);
}

static void a_claim_takes_rows_of_its_range_only(StoreSuite *suite)
{
    put_letters(suite, "abcdef");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, "b", "d", 10, NULL, NULL), SAP_OK);
    expect_claimed(suite, " b c");
    EXPECT_RC(seat_claim_by(&seat, "d", "d", 10, NULL, NULL), SAP_OK);
    expect_claimed(suite, "");
    EXPECT_RC(seat_claim_by(&seat, "f", "e", 10, NULL, NULL), SAP_OK);
    expect_claimed(suite, "");
    EXPECT_RC(seat_claim_by(&seat, "e", NULL, 0, NULL, NULL), SAP_ERROR);
    EXPECT_RC(seat_claim_by(&seat, "e", NULL, 10, NULL, NULL), SAP_OK);
    expect_claimed(suite, " e f");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
}

static void a_claimed_row_is_in_one_place_at_every_moment(StoreSuite *suite)
{
    put_letters(suite, "a");
    char val[VALUE_MAX];
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim(&seat, 1), SAP_OK);
    seat_expect(&seat, "a", "-");
    EXPECT_RC(seat_get_table(&seat, SUITE_OTHER_TABLE, "a", val, sizeof val), SAP_OK);
    suite_expect_row(suite, "a", "a"); /* for the others nothing has happened yet */
    suite_expect_moved(suite, "a", "-");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_expect_row(suite, "a", "-");
    suite_expect_moved(suite, "a", "a");
}

static void an_aborted_claim_moves_nothing(StoreSuite *suite)
{
    put_letters(suite, "ab");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim(&seat, 10), SAP_OK);
    seat_abort(&seat);
    suite_say_rows(suite);
    claim_alone(suite, 10, " a b");
}

/* ---- Callbacks ------------------------------------------------------------------------------ */

/* A new key and value, further rows of both tables, and a look at the row and at one put before. */
static int move_with_token(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                           SapStoreTarget *target)
{
    static char key[VALUE_MAX];
    static char val[VALUE_MAX];
    uint32_t *token = ctx;
    const void *got = NULL;
    uint32_t len = 0;
    ++*token;
    (void)snprintf(key, sizeof key, "token%u", *token);
    (void)snprintf(val, sizeof val, "%.*s was claimed", (int)row->val_len, (const char *)row->val);
    EXPECT_RC(sap_store_put_if_absent(txn, SUITE_OTHER_TABLE, row->key, row->key_len, key,
                                      (uint32_t)strlen(key)),
              SAP_OK);
    EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "last", 4, key, (uint32_t)strlen(key)), SAP_OK);
    EXPECT_RC(sap_store_get(txn, SUITE_TABLE, "last", 4, &got, &len), SAP_OK);
    EXPECT_RC(sap_store_get(txn, SUITE_OTHER_TABLE, row->key, row->key_len, &got, &len), SAP_OK);
    *target = (SapStoreTarget){SUITE_OTHER_TABLE,
                               {key, val, (uint32_t)strlen(key), (uint32_t)strlen(val)}};
    return SAP_OK;
}

static void the_callback_makes_key_and_value_and_may_put_further_rows(StoreSuite *suite)
{
    uint32_t token = 0;
    put_letters(suite, "abc");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, "a", "c", 10, move_with_token, &token), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
    static const char end[] = "rows of 16: c=c last=token2\n"
                              "rows of 17: a=token1 b=token2 token1=a\\20was\\20claimed "
                              "token2=b\\20was\\20claimed\n";
    EXPECT(strstr(suite->tape.text, end) != NULL, "not these rows: %s", suite->tape.text);
}

/* At row a: replaces b, deletes c, deletes d and puts it again, tries to put f where there is one,
 * deletes what is not there, and puts bb, which no claim has seen; the target of a replaces e. */
static int change_later_rows(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                             SapStoreTarget *target)
{
    (void)ctx;
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    if (row->key_len == 1 && *(const char *)row->key == 'a') {
        EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "b", 1, "new", 3), SAP_OK);
        EXPECT_RC(sap_store_del(txn, SUITE_TABLE, "c", 1), SAP_OK);
        EXPECT_RC(sap_store_del(txn, SUITE_TABLE, "d", 1), SAP_OK);
        EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "d", 1, "again", 5), SAP_OK);
        EXPECT_RC(sap_store_put_if_absent(txn, SUITE_TABLE, "f", 1, "new", 3), SAP_EXISTS);
        EXPECT_RC(sap_store_del(txn, SUITE_TABLE, "ff", 2), SAP_NOTFOUND);
        EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "bb", 2, "new", 3), SAP_OK);
        EXPECT_RC(sap_store_put(txn, SUITE_OTHER_TABLE, "g", 1, "other", 5), SAP_OK);
        *target = (SapStoreTarget){SUITE_TABLE, {"e", row->val, 1, row->val_len}};
    }
    return SAP_OK;
}

static void a_later_row_that_the_callback_has_changed_is_not_moved(StoreSuite *suite)
{
    static const char end[] = "rows of 16: b=new bb=new d=again e=a h=h\n"
                              "rows of 17: f=f g=g\n";
    put_letters(suite, "abcdefgh");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, NULL, NULL, 7, change_later_rows, NULL), SAP_OK);
    expect_claimed(suite, " a f g");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
    EXPECT(strstr(suite->tape.text, end) != NULL, "not these rows: %s", suite->tape.text);
    claim_alone(suite, 10, " b bb d e h");
}

/* At row a: claims b and c within the claim. */
static int claim_within(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    SapStoreRange later = {SUITE_TABLE, "b", 1, "d", 1};
    uint32_t *calls = ctx;
    uint32_t count = 0;
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    if (++*calls == 1) {
        EXPECT_RC(sap_store_claim(txn, &later, 10, claim_within, ctx, &count), SAP_OK);
        EXPECT(count == 2, "%u rows claimed within", count);
    }
    return SAP_OK;
}

static void a_claim_within_a_claim_takes_its_rows_from_it(StoreSuite *suite)
{
    uint32_t calls = 0;
    put_letters(suite, "abcd");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, NULL, NULL, 10, claim_within, &calls), SAP_OK);
    expect_claimed(suite, " a d");
    EXPECT(calls == 4, "%u calls", calls);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
}

/* Moves two rows, puts one more each time, and fails at the third. */
static int fail_at_third(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                         SapStoreTarget *target)
{
    uint32_t *calls = ctx;
    EXPECT_RC(sap_store_put(txn, SUITE_OTHER_TABLE, "extra", 5, "1", 1), SAP_OK);
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    return ++*calls == 3 ? SAP_FENCED : SAP_OK;
}

static void a_callback_that_fails_undoes_the_whole_transaction(StoreSuite *suite)
{
    uint32_t calls = 0;
    char val[VALUE_MAX];
    put_letters(suite, "abcd");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_put(&seat, "before", "1"), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, NULL, NULL, 10, fail_at_third, &calls), SAP_FENCED);
    EXPECT_RC(seat_get(&seat, "a", val, sizeof val), SAP_FENCED); /* it has failed */
    EXPECT_RC(seat_put(&seat, "x", "1"), SAP_FENCED);
    EXPECT_RC(seat_claim(&seat, 1), SAP_FENCED);
    EXPECT_RC(seat_commit(&seat), SAP_FENCED);
    suite_say_rows(suite);
    EXPECT(strstr(suite->tape.text, "rows of 16: a=a b=b c=c d=d\nrows of 17:\n") != NULL,
           "something is left");
    claim_alone(suite, 2, " a b"); /* nothing stays locked */
}

/* Where there is a row already: it is replaced, as by a put. */
static void a_claim_replaces_the_row_where_it_puts_its_own(StoreSuite *suite)
{
    put_letters(suite, "a");
    claim_alone(suite, 1, " a");
    suite_put_row(suite, "a", "again");
    claim_alone(suite, 1, " a");
    suite_say_rows(suite);
    suite_expect_moved(suite, "a", "again");
}

static int move_within(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    static char key[VALUE_MAX];
    (void)ctx;
    (void)snprintf(key, sizeof key, "z%.*s", (int)row->key_len, (const char *)row->key);
    EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "y", 1, "1", 1), SAP_OK);
    *target = (SapStoreTarget){SUITE_TABLE, {key, row->val, (uint32_t)strlen(key), row->val_len}};
    return SAP_OK;
}

/* A claim takes rows that were there when it began; else one that moves within its range never ends. */
static void rows_that_a_claim_puts_into_its_own_range_are_for_the_next_one(StoreSuite *suite)
{
    put_letters(suite, "abc");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, NULL, NULL, 10, move_within, NULL), SAP_OK);
    expect_claimed(suite, " a b c");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
    claim_alone(suite, 10, " y za zb zc");
}

/* A row that it moves onto itself stays, with another value. */
static int move_in_place(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                         SapStoreTarget *target)
{
    (void)ctx, (void)txn;
    *target = (SapStoreTarget){SUITE_TABLE, {row->key, "new", row->key_len, 3}};
    return SAP_OK;
}

static void a_row_can_be_claimed_in_place(StoreSuite *suite)
{
    put_letters(suite, "ab");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim_by(&seat, NULL, NULL, 10, move_in_place, NULL), SAP_OK);
    expect_claimed(suite, " a b");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
    suite_expect_row(suite, "a", "new");
    suite_expect_row(suite, "b", "new");
}

static void one_transaction_may_claim_several_times(StoreSuite *suite)
{
    put_letters(suite, "abc");
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim(&seat, 1), SAP_OK);
    expect_claimed(suite, " a");
    EXPECT_RC(seat_put(&seat, "b", "changed"), SAP_OK);
    EXPECT_RC(seat_put(&seat, "aa", "own"), SAP_OK);
    EXPECT_RC(seat_del(&seat, "c"), SAP_OK);
    EXPECT_RC(seat_claim(&seat, 10), SAP_OK); /* of its own rows too */
    expect_claimed(suite, " aa b");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    suite_say_rows(suite);
    suite_expect_moved(suite, "b", "changed");
}

/* A target that is bad is the callback's mistake: the transaction fails with its code. */
static int move_badly(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    static char long_key[SAP_STORE_MAX_KEY + 1];
    (void)txn;
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    switch (*(const int *)ctx) {
    case 0:
        target->table = SUITE_ABSENT_TABLE;
        break;
    case 1:
        target->row.key = long_key;
        target->row.key_len = sizeof long_key;
        break;
    case 2:
        target->row.val_len = SAP_STORE_MAX_VALUE + 1;
        break;
    default:
        target->row.key = NULL;
        target->row.key_len = 1;
        break;
    }
    return SAP_OK;
}

static void a_bad_target_moves_nothing(StoreSuite *suite)
{
    static const int codes[] = {SAP_ERROR, SAP_FULL, SAP_FULL, SAP_ERROR};
    put_letters(suite, "ab");
    for (int bad = 0; bad < 4; bad++) {
        Seat seat = suite_seat(suite);
        EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
        int rc = seat_claim_by(&seat, NULL, NULL, 10, move_badly, &bad);
        EXPECT(rc == codes[bad], "target %d: %s", bad, code_name(rc));
        int end = seat_commit(&seat);
        EXPECT(end == codes[bad], "nothing may be committed of a claim that failed: %s",
               code_name(end));
        suite_say_rows(suite);
    }
    suite_expect_row(suite, "a", "a");
    suite_expect_row(suite, "b", "b");
}

/* ---- Two parties ---------------------------------------------------------------------------- */

static int claim_then_let(Party *party, Seat *seat)
{
    int rc = seat_claim(seat, 2);
    if (rc == SAP_OK) {
        party_let_try(party);
    }
    return rc;
}

static void two_claimers_never_get_one_row(StoreSuite *suite)
{
    put_letters(suite, "abcde");
    Party first = {.body = claim_then_let, .kind = SAP_STORE_CLAIM};
    Party second = first;
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    expect_claimed(suite, " c d");
    claim_alone(suite, 10, " e");
}

static int claim_let_and_give_up(Party *party, Seat *seat)
{
    int rc = claim_then_let(party, seat);
    return rc == SAP_OK ? SAP_INVALID : rc;
}

static int claim_all(Party *party, Seat *seat)
{
    (void)party;
    return seat_claim(seat, 10);
}

/* The second one skips them where it runs in the middle, and gets them where it had to wait. */
static void rows_of_a_claimer_that_gives_up_can_be_claimed(StoreSuite *suite)
{
    put_letters(suite, "abcd");
    Party first = {.body = claim_let_and_give_up, .kind = SAP_STORE_CLAIM};
    Party second = {.body = claim_all, .kind = SAP_STORE_CLAIM, .may_differ = true};
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_INVALID && second.rc == SAP_OK, "one gives up, one commits");
    Seat seat = {suite->store, NULL, &second.tape};
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    EXPECT_RC(seat_claim(&seat, 10), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    tape_release(&second.tape);
    suite_say_rows(suite);
    EXPECT(strstr(suite->tape.text, "rows of 16:\nrows of 17: a=a b=b c=c d=d\n") != NULL,
           "each row is moved once");
}

static int hold_row(Party *party, Seat *seat)
{
    int rc = *party->arg == 'G' ? seat_guard_all(seat, "B") : seat_put(seat, "b", "held");
    if (rc == SAP_OK) {
        party_let_try(party);
        seat_expect(seat, "b", *party->arg == 'G' ? "b" : "held");
        rc = seat_put(seat, "b", "kept");
    }
    return rc;
}

static void a_claim_takes_no_row_that_another_transaction_has_locked(StoreSuite *suite)
{
    static const char *const ways[] = {"Guarded", "written"};
    for (int i = 0; i < 2; i++) {
        Party first = {.body = hold_row, .kind = SAP_STORE_GUARDED, .arg = ways[i]};
        Party second = {.body = claim_all, .kind = SAP_STORE_CLAIM, .may_differ = true};
        put_letters(suite, "abc");
        parties_run(suite, &first, &second);
        EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
        Seat seat = {suite->store, NULL, &second.tape};
        EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
        EXPECT_RC(seat_claim(&seat, 10), SAP_OK); /* what was skipped */
        EXPECT_RC(seat_commit(&seat), SAP_OK);
        tape_release(&second.tape);
        suite_say_rows(suite);
        suite_expect_moved(suite, "b", "kept");
    }
}

/* Claims a row, and lets one that wants to write it try. */
static int put_b(Party *party, Seat *seat)
{
    (void)party;
    return seat_put(seat, "b", "late");
}

static void a_claimed_row_is_locked_against_writers(StoreSuite *suite)
{
    put_letters(suite, "ab");
    Party first = {.body = claim_then_let, .kind = SAP_STORE_CLAIM};
    Party second = {.body = put_b, .kind = SAP_STORE_GUARDED};
    parties_run(suite, &first, &second);
    EXPECT(first.rc == SAP_OK && second.rc == SAP_OK, "both commit");
    suite_expect_moved(suite, "b", "b");
    suite_expect_row(suite, "b", "late"); /* a new row */
}

const StoreCase store_claim_cases[] = {
    STORE_CASE(a_claim_moves_the_first_rows_in_order_up_to_the_limit),
    STORE_CASE(a_claim_takes_rows_of_its_range_only),
    STORE_CASE(a_claimed_row_is_in_one_place_at_every_moment),
    STORE_CASE(an_aborted_claim_moves_nothing),
    STORE_CASE(the_callback_makes_key_and_value_and_may_put_further_rows),
    STORE_CASE(a_later_row_that_the_callback_has_changed_is_not_moved),
    STORE_CASE(a_claim_within_a_claim_takes_its_rows_from_it),
    STORE_CASE(a_callback_that_fails_undoes_the_whole_transaction),
    STORE_CASE(a_claim_replaces_the_row_where_it_puts_its_own),
    STORE_CASE(rows_that_a_claim_puts_into_its_own_range_are_for_the_next_one),
    STORE_CASE(a_row_can_be_claimed_in_place),
    STORE_CASE(one_transaction_may_claim_several_times),
    STORE_CASE(a_bad_target_moves_nothing),
    STORE_CASE(two_claimers_never_get_one_row),
    STORE_CASE(rows_of_a_claimer_that_gives_up_can_be_claimed),
    STORE_CASE(a_claim_takes_no_row_that_another_transaction_has_locked),
    STORE_CASE(a_claimed_row_is_locked_against_writers),
    {NULL, NULL},
};
