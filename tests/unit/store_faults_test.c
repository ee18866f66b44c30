/* Every fault at every call, on every store: a transaction has all of its effects or none, and the
 * code says which; only an outcome that is unknown may be either. Nothing leaks, and the store goes
 * on. */
#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, MOST_CALLS = 500, VALUE_MAX = 32 };

static const char BEFORE[] = "rows of 16: a=1 b=1 c=1 d=1\nrows of 17:\n";

/* How a transaction ended. */
typedef struct Ending {
    int rc;
    bool unknown;
} Ending;

/* One kind of transaction: its calls, in order, until one fails. */
typedef struct Body {
    const char *name;
    SapStoreKind kind;
    int (*calls)(Seat *seat);
    bool is_async;
    const char *after; /* the rows */
} Body;

static int call_guarded(Seat *seat)
{
    char val[VALUE_MAX];
    int rc = seat_guard_all(seat, "Ax bC");
    if (rc == SAP_OK) {
        rc = seat_get(seat, "a", val, sizeof val);
    }
    if (rc == SAP_OK) {
        rc = seat_put(seat, "a", "2");
    }
    if (rc == SAP_OK) {
        rc = seat_put_if_absent(seat, "e", "2");
    }
    if (rc == SAP_OK) {
        rc = seat_del(seat, "c");
    }
    if (rc == SAP_OK) {
        rc = seat_scan(seat, NULL, NULL, false, 10);
    }
    return rc == SAP_OK ? seat_put(seat, "f", "2") : rc;
}

static int move_with_extra_row(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                               SapStoreTarget *target)
{
    (void)ctx;
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    return sap_store_put(txn, SUITE_OTHER_TABLE, "extra", 5, row->key, row->key_len);
}

static int call_claim(Seat *seat)
{
    char val[VALUE_MAX];
    int rc = seat_put(seat, "d", "2");
    if (rc == SAP_OK) {
        rc = seat_claim_by(seat, NULL, NULL, 3, move_with_extra_row, NULL);
    }
    return rc == SAP_OK ? seat_get(seat, "d", val, sizeof val) : rc;
}

static int call_reads(Seat *seat)
{
    char val[VALUE_MAX];
    int rc = seat_get(seat, "a", val, sizeof val);
    if (rc == SAP_OK) {
        rc = seat_scan(seat, NULL, NULL, true, 2);
    }
    return rc == SAP_OK ? seat_get(seat, "b", val, sizeof val) : rc;
}

static const char AFTER_GUARDED[] = "rows of 16: a=2 b=1 d=1 e=2 f=2\nrows of 17:\n";
static const char AFTER_CLAIM[] = "rows of 16: d=2\nrows of 17: a=1 b=1 c=1 extra=c\n";

static const Body bodies[] = {
    {"guarded", SAP_STORE_GUARDED, call_guarded, false, AFTER_GUARDED},
    {"guarded, asynchronous", SAP_STORE_GUARDED, call_guarded, true, AFTER_GUARDED},
    {"claim", SAP_STORE_CLAIM, call_claim, false, AFTER_CLAIM},
    {"claim, asynchronous", SAP_STORE_CLAIM, call_claim, true, AFTER_CLAIM},
    {"newest", SAP_STORE_READ_NEWEST, call_reads, false, BEFORE},
    {"durable", SAP_STORE_READ_DURABLE, call_reads, false, BEFORE},
    {"newest, asynchronous", SAP_STORE_READ_NEWEST, call_reads, true, BEFORE},
};
enum { BODY_COUNT = sizeof bodies / sizeof bodies[0] };

/* The transaction from its begin to its end. Where a call fails, it is committed all the same, or
 * aborted. */
static Ending run_body(StoreSuite *suite, const Body *body, bool commits_failed)
{
    Seat seat = suite_seat(suite);
    Ending end = {0};
    uint64_t mark = 0;
    end.rc = seat_begin(&seat, body->kind);
    if (end.rc != SAP_OK) {
        return end;
    }
    end.rc = body->calls(&seat);
    if (end.rc != SAP_OK && !commits_failed) {
        seat_abort(&seat);
        return end;
    }
    int failed = end.rc;
    end.unknown = true; /* the call must say so either way */
    if (!body->is_async) {
        end.rc = sap_store_commit(seat.txn, &end.unknown);
    } else {
        end.rc = sap_store_commit_async(seat.txn, &mark, &end.unknown);
        if (end.rc == SAP_OK) {
            end.rc = sap_store_wait_durable(seat.store, mark);
            end.unknown = end.rc != SAP_OK;
        }
    }
    EXPECT(failed == SAP_OK || (end.rc == failed && !end.unknown),
           "a failed transaction was committed with %s", code_name(end.rc));
    tape_printf(seat.tape, "end: %s %s\n", code_name(end.rc), end.unknown ? "unknown" : "known");
    return end;
}

static void put_rows(StoreSuite *suite)
{
    static const char *const keys[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        suite_put_row(suite, keys[i], "1");
    }
}

static bool rows_are(StoreSuite *suite, SapStoreKind kind, const char *rows)
{
    Tape kept = suite->tape;
    suite->tape = (Tape){0};
    suite_say_rows_of(suite, kind);
    bool same = strcmp(suite->tape.text, rows) == 0;
    tape_release(&suite->tape);
    suite->tape = kept;
    return same;
}

static void expect_effects(StoreSuite *suite, const Body *body, const Ending *end)
{
    SapStoreKind kind = end->rc == SAP_OK ? SAP_STORE_READ_DURABLE : SAP_STORE_READ_NEWEST;
    bool none = rows_are(suite, kind, BEFORE);
    bool all = rows_are(suite, kind, body->after);
    EXPECT(none || all, "a part of the transaction was committed");
    EXPECT(end->rc != SAP_OK || (all && !end->unknown), "SAP_OK without its effects");
    EXPECT(end->rc == SAP_OK || end->unknown || none, "%s and nothing unknown, but committed",
           code_name(end->rc));
    EXPECT(!end->unknown || end->rc == SAP_IO, "%s with an unknown outcome", code_name(end->rc));
    tape_printf(&suite->tape, "rows: %s\n", none && all ? "read" : all ? "all" : "none");
}

static void expect_goes_on(StoreSuite *suite)
{
    suite_put_row(suite, "later", "1");
    suite_expect_row(suite, "later", "1");
}

/* ---- The hook ------------------------------------------------------------------------------- */

static int code_of(SapStoreFault fault)
{
    return fault == SAP_STORE_FAULT_BUSY       ? SAP_BUSY
           : fault == SAP_STORE_FAULT_CONFLICT ? SAP_CONFLICT
                                               : SAP_IO;
}

/* Which call it was that failed: the hook of the suite is asked first. */
static SapStoreCall last_call;

static SapStoreFault note_call(void *ctx, SapStoreCall call)
{
    StoreSuite *suite = ctx;
    SapStoreOptions options = store_suite_options(suite);
    SapStoreFault fault = options.hook(suite, call);
    if (fault != SAP_STORE_FAULT_NONE) {
        last_call = call;
    }
    return fault;
}

/* The suite's store, opened again with a hook that notes calls. */
static void open_noting(StoreSuite *suite)
{
    SapStoreOptions options = store_suite_options(suite);
    options.hook = note_call;
    if (!suite->bed->is_shared) {
        EXPECT_RC(sap_store_close(suite->store), SAP_OK);
    }
    SapStore *noting = NULL;
    EXPECT_RC(sap_store_open(suite->url, &options, &noting), SAP_OK);
    if (suite->bed->is_shared) {
        EXPECT_RC(sap_store_close(suite->store), SAP_OK);
    } else {
        suite->second = noting;
    }
    suite->store = noting;
}

static void check_fault_codes(const Body *body, SapStoreFault fault, const Ending *end)
{
    bool writes = strcmp(body->after, BEFORE) != 0;
    bool lost = fault == SAP_STORE_FAULT_LOST_BEFORE || fault == SAP_STORE_FAULT_LOST_AFTER;
    if (last_call == SAP_STORE_CALL_WAIT_DURABLE) { /* too late to refuse */
        EXPECT(end->rc == SAP_IO, "the wait for the disk returned %s", code_name(end->rc));
        EXPECT(end->unknown || !writes, "what was committed may never be durable");
        return;
    }
    EXPECT(end->rc == code_of(fault), "fault %d gave %s", (int)fault, code_name(end->rc));
    bool unknown = last_call == SAP_STORE_CALL_COMMIT && lost && writes;
    EXPECT(end->unknown == unknown, "fault %d at call %d: the outcome is %s", (int)fault,
           (int)last_call, end->unknown ? "unknown" : "known");
}

/* One run with the fault at the n-th call. False: there is no n-th call. */
static bool fail_nth_call(const StoreBed *bed, const Body *body, SapStoreFault fault, uint32_t nth,
                          bool commits_failed, Tape *tape)
{
    StoreSuite suite;
    expect_context("%s: %s, fault %d at call %u", bed->name, body->name, (int)fault, nth);
    store_suite_open(&suite, bed);
    open_noting(&suite);
    put_rows(&suite);
    suite.tape.len = 0;
    store_suite_arm_any(&suite, fault, nth);
    Ending end = run_body(&suite, body, commits_failed);
    bool fired = suite.fault_fired == 1;
    store_suite_disarm(&suite);
    if (fired) {
        check_fault_codes(body, fault, &end);
    } else {
        EXPECT(end.rc == SAP_OK, "nothing failed, but %s", code_name(end.rc));
    }
    if (fired && fault == SAP_STORE_FAULT_CRASH) {
        store_suite_reopen(&suite);
    }
    expect_effects(&suite, body, &end);
    if (fired && last_call == SAP_STORE_CALL_COMMIT && fault == SAP_STORE_FAULT_LOST_AFTER) {
        EXPECT(rows_are(&suite, SAP_STORE_READ_NEWEST, body->after), "the commit has happened");
    }
    if (fired && last_call == SAP_STORE_CALL_COMMIT && fault != SAP_STORE_FAULT_LOST_AFTER) {
        EXPECT(rows_are(&suite, SAP_STORE_READ_NEWEST, BEFORE), "the commit has not happened");
    }
    expect_goes_on(&suite);
    tape_printf(tape, "## %s, fault %d at call %u\n%s", body->name, (int)fault, nth,
                suite.tape.text);
    store_suite_close(&suite);
    return fired;
}

enum { FAULTS = SAP_STORE_FAULT_CRASH + 1, ENDS = 2 };

/* The answers to one fault, where the failed transaction is aborted or committed. Returns how many calls
 * it hit. */
static uint32_t fail_every_call(const StoreBed *bed, SapStoreFault fault, bool commits_failed,
                                Tape *tape)
{
    uint32_t faults = 0;
    for (int i = 0; i < BODY_COUNT; i++) {
        uint32_t nth = 1;
        while (fail_nth_call(bed, &bodies[i], fault, nth, commits_failed, tape)) {
            EXPECT(nth++ < MOST_CALLS, "there is no end of calls");
        }
        /* The end of the transaction at least, its begin and what is in between. */
        EXPECT(nth > 4, "only %u calls ask the hook", nth);
        faults += nth - 1;
    }
    return faults;
}

START_TEST(every_fault_of_the_hook_at_every_call_leaves_all_or_nothing)
{
    StoreBeds beds;
    Tape firsts[FAULTS][ENDS] = {{{0}}};
    store_beds_start(&beds);
    for (int b = 0; b < beds.count; b++) {
        uint32_t faults = 0;
        for (int f = SAP_STORE_FAULT_FAIL; f < FAULTS; f++) {
            for (int ends = 0; ends < ENDS; ends++) {
                Tape tape = {0};
                if (beds.all[b].is_slow && ends != f % ENDS) {
                    continue;
                }
                faults += fail_every_call(&beds.all[b], (SapStoreFault)f, ends != 0, &tape);
                if (b == 0) {
                    firsts[f][ends] = tape;
                    continue;
                }
                tape_expect_same(&firsts[f][ends], &tape);
                tape_release(&tape);
            }
        }
        printf("store_faults: %s: %u faults of the hook\n", beds.all[b].name, faults);
    }
    for (int i = 0; i < FAULTS * ENDS; i++) {
        tape_release(&firsts[i / ENDS][i % ENDS]);
    }
    store_beds_end(&beds);
}
END_TEST

/* ---- Memory --------------------------------------------------------------------------------- */

static bool fail_nth_allocation(const StoreBed *bed, const Body *body, uint64_t nth)
{
    StoreSuite suite;
    expect_context("%s: %s, allocation %llu fails", bed->name, body->name, (unsigned long long)nth);
    store_suite_open(&suite, bed);
    put_rows(&suite);
    fault_reset();
    fault_arm_alloc(nth);
    Ending end = run_body(&suite, body, nth % 2 == 0);
    bool fired = fault_fired() != 0;
    fault_reset();
    EXPECT(fired || end.rc == SAP_OK, "nothing failed, but %s", code_name(end.rc));
    EXPECT(end.rc == SAP_OK || end.rc == SAP_NOMEM || (end.rc == SAP_IO && end.unknown),
           "no memory gave %s", code_name(end.rc));
    if (end.rc == SAP_IO) {
        store_suite_reopen(&suite);
    }
    expect_effects(&suite, body, &end);
    expect_goes_on(&suite);
    store_suite_close(&suite);
    return fired;
}

START_TEST(every_allocation_that_fails_leaves_all_or_nothing)
{
    StoreBeds beds;
    store_beds_start(&beds);
    for (int b = 0; b < beds.count; b++) {
        uint64_t faults = 0;
        for (int i = 0; i < BODY_COUNT; i++) {
            uint64_t nth = 1;
            while (fail_nth_allocation(&beds.all[b], &bodies[i], nth)) {
                EXPECT(nth++ < MOST_CALLS, "there is no end of allocations");
            }
            faults += nth - 1;
        }
        EXPECT(faults > 0, "nothing was allocated");
        printf("store_faults: %s: %llu allocations failed\n", beds.all[b].name,
               (unsigned long long)faults);
    }
    store_beds_end(&beds);
}
END_TEST

/* ---- Opening -------------------------------------------------------------------------------- */

/* Opens and closes a store, one that is new or one that is there. */
static bool fail_nth_of_open(const StoreBed *bed, bool is_new, uint64_t nth, int err)
{
    StoreSuite suite;
    char url[SUITE_URL_MAX];
    SapStore *store = NULL;
    expect_context("%s: open of %s store, error %d at %llu", bed->name, is_new ? "a new" : "an old",
                   err, (unsigned long long)nth);
    store_suite_open(&suite, bed);
    suite_put_row(&suite, "k", "1");
    SapStoreOptions options = store_suite_options(&suite);
    if (is_new) {
        store_suite_next_url(bed, url, sizeof url);
        store_suite_make(bed, url, &options);
    } else {
        (void)snprintf(url, sizeof url, "%s", suite.url);
    }
    if (!bed->is_shared) {
        EXPECT_RC(sap_store_close(suite.store), SAP_OK);
        suite.store = NULL;
    }
    fault_reset();
    if (err == 0) {
        fault_arm_alloc(nth);
    } else {
        fault_arm_io(nth, err);
    }
    int rc = sap_store_open(url, &options, &store);
    bool fired = fault_fired() != 0;
    fault_reset();
    EXPECT(fired || rc == SAP_OK, "nothing failed, but %s", code_name(rc));
    EXPECT((rc == SAP_OK) == (store != NULL), "open gives a store or a code");
    EXPECT(rc == SAP_OK ||
               rc == (err == 0        ? SAP_NOMEM
                      : err == ENOSPC ? SAP_FULL
                                      : SAP_IO) ||
               (err != 0 && rc == SAP_IO),
           "open returned %s", code_name(rc));
    if (store != NULL) {
        rc = sap_store_close(store);
        EXPECT(rc == SAP_OK || fired, "close returned %s", code_name(rc));
    }
    if (is_new) { /* what failed to be made does not stand in the way */
        EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
        EXPECT_RC(sap_store_close(store), SAP_OK);
    }
    store_suite_reopen(&suite);
    suite_expect_row(&suite, "k", "1");
    store_suite_close(&suite);
    return fired;
}

START_TEST(every_failure_while_opening_leaves_no_store_open_and_the_old_one_as_it_was)
{
    static const int errors[] = {0, EIO, ENOSPC};
    StoreBeds beds;
    store_beds_start(&beds);
    for (int b = 0; b < beds.count; b++) {
        uint64_t faults = 0;
        for (int e = 0; e < 3; e++) {
            for (int is_new = 0; is_new < 2; is_new++) {
                uint64_t nth = 1;
                while (fail_nth_of_open(&beds.all[b], is_new != 0, nth, errors[e])) {
                    EXPECT(nth++ < MOST_CALLS, "there is no end of faults");
                }
                faults += nth - 1;
            }
        }
        printf("store_faults: %s: %llu faults while opening\n", beds.all[b].name,
               (unsigned long long)faults);
    }
    store_beds_end(&beds);
}
END_TEST

/* ---- The disk ------------------------------------------------------------------------------- */

/* The n-th question about the disk fails, and with `stays` all after it. The handle may be lost then;
 * what counts is what the next open finds. */
static bool fail_nth_of_disk(const StoreBed *bed, const Body *body, uint64_t nth, int err,
                             bool stays)
{
    StoreSuite suite;
    expect_context("%s: %s, disk error %d at %llu%s", bed->name, body->name, err,
                   (unsigned long long)nth, stays ? " and after" : "");
    store_suite_open(&suite, bed);
    put_rows(&suite);
    fault_reset();
    if (stays) {
        fault_arm_io_from(nth, err);
    } else {
        fault_arm_io(nth, err);
    }
    Ending end = run_body(&suite, body, nth % 2 == 0);
    bool fired = fault_fired() != 0;
    fault_reset();
    EXPECT(fired || end.rc == SAP_OK, "nothing failed, but %s", code_name(end.rc));
    EXPECT(end.rc == SAP_OK || end.rc == SAP_IO || (err == ENOSPC && end.rc == SAP_FULL),
           "disk error %d gave %s", err, code_name(end.rc));
    store_suite_reopen(&suite);
    expect_effects(&suite, body, &end);
    expect_goes_on(&suite);
    store_suite_close(&suite);
    return fired;
}

START_TEST(every_error_of_the_disk_leaves_all_or_nothing)
{
    static const int errors[] = {EIO, ENOSPC};
    StoreBeds beds;
    store_beds_start(&beds);
    for (int b = 0; b < beds.count; b++) {
        uint64_t faults = 0;
        for (int i = 0; i < BODY_COUNT * 4; i++) {
            const Body *body = &bodies[i / 4];
            uint64_t nth = 1;
            while (fail_nth_of_disk(&beds.all[b], body, nth, errors[i % 2], i / 2 % 2 != 0)) {
                EXPECT(nth++ < MOST_CALLS, "there is no end of questions");
            }
            faults += nth - 1;
        }
        printf("store_faults: %s: %llu errors of the disk\n", beds.all[b].name,
               (unsigned long long)faults);
    }
    store_beds_end(&beds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_faults");
    TCase *test_case = tcase_create("faults");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, every_fault_of_the_hook_at_every_call_leaves_all_or_nothing);
    tcase_add_test(test_case, every_allocation_that_fails_leaves_all_or_nothing);
    tcase_add_test(test_case,
                   every_failure_while_opening_leaves_no_store_open_and_the_old_one_as_it_was);
    tcase_add_test(test_case, every_error_of_the_disk_leaves_all_or_nothing);
    suite_add_tcase(suite, test_case);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
