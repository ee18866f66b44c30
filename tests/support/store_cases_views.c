/* Cases: what reads see, when it is durable, and who is woken by it. */
#include "support/expect.h"
#include "support/store_suite.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { VALUE_MAX = 32 };

static const uint64_t MS = 1000000;
static const uint64_t LONG_NS = 30000000000u; /* no case waits that long unless it fails */

/* ---- Snapshots ------------------------------------------------------------------------------ */

static void a_read_transaction_sees_one_state_while_others_commit(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    suite_put_row(suite, "gone", "1");
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_READ_NEWEST; kind++) {
        Seat reader = suite_seat(suite);
        Seat writer = suite_seat(suite);
        EXPECT_RC(seat_begin(&reader, (SapStoreKind)kind), SAP_OK);
        seat_expect(&reader, "k", "1");
        EXPECT_RC(seat_begin(&writer, SAP_STORE_GUARDED), SAP_OK);
        EXPECT_RC(seat_put(&writer, "k", "2"), SAP_OK);
        EXPECT_RC(seat_put(&writer, "new", "2"), SAP_OK);
        EXPECT_RC(seat_del(&writer, "gone"), SAP_OK);
        seat_expect(&reader, "k", "1"); /* reads wait for nobody */
        EXPECT_RC(seat_commit(&writer), SAP_OK);
        seat_expect(&reader, "k", "1");
        seat_expect(&reader, "gone", "1");
        seat_expect(&reader, "new", "-");
        EXPECT_RC(seat_scan(&reader, NULL, NULL, false, 10), SAP_OK);
        EXPECT_RC(seat_scan(&reader, NULL, NULL, true, 10), SAP_OK);
        EXPECT_RC(seat_commit(&reader), SAP_OK);
        suite_say_rows(suite);
        suite_put_row(suite, "k", "1");
        suite_put_row(suite, "gone", "1");
        EXPECT_RC(seat_begin(&writer, SAP_STORE_GUARDED), SAP_OK);
        EXPECT_RC(seat_del(&writer, "new"), SAP_OK);
        EXPECT_RC(seat_commit(&writer), SAP_OK);
    }
}

/* Whether the snapshot is of the begin or of the first read is open; no later one is allowed. */
static void a_snapshot_is_not_older_than_what_was_committed_before_it(StoreSuite *suite)
{
    char number[VALUE_MAX];
    Seat reader = suite_seat(suite);
    for (int i = 0; i < 10; i++) {
        (void)snprintf(number, sizeof number, "%d", i);
        suite_put_row(suite, "k", number);
        for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_CLAIM; kind++) {
            EXPECT_RC(seat_begin(&reader, (SapStoreKind)kind), SAP_OK);
            seat_expect(&reader, "k", number);
            EXPECT_RC(seat_commit(&reader), SAP_OK);
        }
    }
}

static void nobody_sees_what_is_not_committed(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    Seat writer = suite_seat(suite);
    Seat reader = {suite->second, NULL, &suite->tape};
    EXPECT_RC(seat_begin(&writer, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&writer, "k", "2"), SAP_OK);
    EXPECT_RC(seat_put(&writer, "new", "2"), SAP_OK);
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_READ_NEWEST; kind++) {
        EXPECT_RC(seat_begin(&reader, (SapStoreKind)kind), SAP_OK);
        seat_expect(&reader, "k", "1");
        seat_expect(&reader, "new", "-");
        EXPECT_RC(seat_commit(&reader), SAP_OK);
    }
    seat_expect(&writer, "k", "2");
    EXPECT_RC(seat_commit(&writer), SAP_OK);
    suite_say_rows(suite);
}

/* ---- Durable and newest --------------------------------------------------------------------- */

static void put_async(StoreSuite *suite, const char *key, const char *val, uint64_t *mark_out)
{
    Seat writer = suite_seat(suite);
    EXPECT_RC(seat_begin(&writer, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&writer, key, val), SAP_OK);
    EXPECT_RC(seat_commit_async(&writer, mark_out), SAP_OK);
}

static void expect_durable(StoreSuite *suite, const char *key, const char *val)
{
    Seat reader = {suite->second, NULL, &suite->tape};
    EXPECT_RC(seat_begin(&reader, SAP_STORE_READ_DURABLE), SAP_OK);
    seat_expect(&reader, key, val);
    EXPECT_RC(seat_commit(&reader), SAP_OK);
}

/* A durable read between the two: the old row, or the new one where the disk was quick. */
static void an_asynchronous_commit_is_newest_at_once_and_durable_after_the_wait(StoreSuite *suite)
{
    uint64_t mark = 0;
    suite_put_row(suite, "k", "1");
    put_async(suite, "k", "2", &mark);
    suite_expect_row(suite, "k", "2");
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_begin(suite->second, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    EXPECT_RC(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len), SAP_OK);
    EXPECT(len == 1 && (memcmp(val, "1", 1) == 0 || memcmp(val, "2", 1) == 0), "another value");
    sap_store_abort(txn);
    tape_printf(&suite->tape, "a durable read before the wait: allowed\n");
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK);
    expect_durable(suite, "k", "2");
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK); /* as often as one likes */
}

static void an_asynchronous_commit_that_nobody_waits_for_needs_no_mark(StoreSuite *suite)
{
    uint64_t mark = 0;
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "k", "1"), SAP_OK);
    EXPECT_RC(seat_commit_async(&seat, NULL), SAP_OK);
    EXPECT_RC(sap_store_wait_durable(suite->store, 0), SAP_OK); /* before every commit */
    suite_expect_row(suite, "k", "1");
    put_async(suite, "k", "2", &mark); /* the first one has ended: it holds no lock */
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK);
    expect_durable(suite, "k", "2");
}

static void transactions_of_one_thread_end_in_any_order(StoreSuite *suite)
{
    Seat old = suite_seat(suite);
    Seat writer = suite_seat(suite);
    Seat young = suite_seat(suite);
    suite_put_row(suite, "a", "1");
    EXPECT_RC(seat_begin(&old, SAP_STORE_READ_NEWEST), SAP_OK);
    EXPECT_RC(seat_begin(&writer, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_begin(&young, SAP_STORE_READ_NEWEST), SAP_OK);
    EXPECT_RC(seat_put(&writer, "a", "2"), SAP_OK);
    seat_expect(&old, "a", "1");
    seat_expect(&young, "a", "1");
    seat_abort(&old);
    EXPECT_RC(seat_commit(&writer), SAP_OK);
    seat_expect(&young, "a", "1");
    EXPECT_RC(seat_commit(&young), SAP_OK);
    suite_say_rows(suite);
    suite_expect_row(suite, "a", "2");
}

static void a_durable_mark_has_all_commits_before_it(StoreSuite *suite)
{
    uint64_t marks[3];
    put_async(suite, "a", "1", &marks[0]);
    put_async(suite, "b", "1", &marks[1]);
    put_async(suite, "c", "1", &marks[2]);
    EXPECT_RC(sap_store_wait_durable(suite->store, marks[2]), SAP_OK);
    expect_durable(suite, "a", "1");
    expect_durable(suite, "b", "1");
    expect_durable(suite, "c", "1");
    EXPECT_RC(sap_store_wait_durable(suite->store, marks[0]), SAP_OK);
    EXPECT_RC(sap_store_wait_durable(suite->store, marks[1]), SAP_OK);
}

/* A duplicate is never acknowledged before its original is on disk. */
static void a_commit_that_only_read_makes_what_it_read_durable(StoreSuite *suite)
{
    for (int kind = SAP_STORE_READ_NEWEST; kind <= SAP_STORE_CLAIM; kind++) {
        char key[] = {(char)('a' + kind), 0};
        uint64_t mark = 0;
        Seat seat = {suite->second, NULL, &suite->tape};
        put_async(suite, key, "1", &mark);
        EXPECT_RC(seat_begin(&seat, (SapStoreKind)kind), SAP_OK);
        seat_expect(&seat, key, "1");
        EXPECT_RC(seat_commit(&seat), SAP_OK);
        expect_durable(suite, key, "1");
    }
    uint64_t mark = 0;
    Seat seat = suite_seat(suite);
    put_async(suite, "dup", "1", &mark);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put_if_absent(&seat, "dup", "2"), SAP_EXISTS);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    expect_durable(suite, "dup", "1");
}

static void the_mark_of_an_asynchronous_reader_covers_what_it_read(StoreSuite *suite)
{
    uint64_t mark = 0;
    Seat seat = suite_seat(suite);
    put_async(suite, "k", "1", &mark);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    seat_expect(&seat, "k", "1");
    EXPECT_RC(seat_commit_async(&seat, &mark), SAP_OK);
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK);
    expect_durable(suite, "k", "1");
}

static void a_mark_of_no_commit_is_misuse(StoreSuite *suite)
{
    uint64_t mark = 0;
    put_async(suite, "k", "1", &mark);
    int rc = sap_store_wait_durable(suite->store, UINT64_MAX);
    tape_printf(&suite->tape, "wait for a mark of the far future: %s\n", code_name(rc));
    EXPECT_RC(rc, SAP_ERROR);
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK);
}

/* What is durable is there when the store is closed and opened again. */
static void rows_stay_when_the_store_is_opened_again(StoreSuite *suite)
{
    uint64_t mark = 0;
    suite_put_row(suite, "k", "1");
    put_async(suite, "l", "1", &mark);
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK);
    store_suite_reopen(suite);
    suite_say_rows(suite);
    suite_expect_row(suite, "k", "1");
    suite_expect_row(suite, "l", "1");
}

/* ---- Wake-ups ------------------------------------------------------------------------------- */

static uint64_t version_now(StoreSuite *suite, SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    EXPECT_RC(sap_store_begin(suite->store, kind, &txn), SAP_OK);
    int rc = sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %s", code_name(rc));
    uint64_t version = sap_store_version(txn);
    sap_store_abort(txn);
    return version;
}

static int wait_prefix(StoreSuite *suite, SapStoreKind kind, const char *prefix, uint64_t version,
                       uint64_t timeout_ns)
{
    SapStorePrefix rows = {SUITE_TABLE, prefix, (uint32_t)strlen(prefix)};
    int rc = sap_store_wait(suite->store, kind, &rows, version, timeout_ns);
    tape_printf(&suite->tape, "wait %s: %s\n", prefix, code_name(rc));
    return rc;
}

static void a_wait_returns_at_once_for_a_commit_after_the_version(StoreSuite *suite)
{
    static const char *const prefixes[] = {"", "w", "wo", "work"};
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_CLAIM; kind++) {
        uint64_t version = version_now(suite, (SapStoreKind)kind);
        suite_put_row(suite, "work", "1");
        for (int i = 0; i < 4; i++) {
            EXPECT_RC(wait_prefix(suite, (SapStoreKind)kind, prefixes[i], version, LONG_NS),
                      SAP_OK);
        }
    }
}

static void a_deleted_row_wakes_too(StoreSuite *suite)
{
    suite_put_row(suite, "work", "1");
    uint64_t version = version_now(suite, SAP_STORE_READ_NEWEST);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_del(&seat, "work"), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "work", version, LONG_NS), SAP_OK);
}

static void a_wait_times_out_where_nothing_of_the_prefix_was_committed(StoreSuite *suite)
{
    suite_put_row(suite, "work", "1"); /* before the version */
    uint64_t version = version_now(suite, SAP_STORE_READ_NEWEST);
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "work", version, 0), SAP_NOTFOUND);
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "", version, MS), SAP_NOTFOUND);
    suite_put_row(suite, "wor", "1");  /* a prefix of the prefix */
    suite_put_row(suite, "worl", "1"); /* before it */
    suite_put_row(suite, "worl\xff", "1");
    suite_put_row(suite, "wp", "1"); /* after it */
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "work", version, MS), SAP_NOTFOUND);
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_DURABLE, "work", version, MS), SAP_NOTFOUND);
    SapStorePrefix other = {SUITE_OTHER_TABLE, "wo", 2};
    EXPECT_RC(sap_store_wait(suite->store, SAP_STORE_READ_NEWEST, &other, version, MS),
              SAP_NOTFOUND);
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "work", "2"), SAP_OK);
    seat_abort(&seat); /* wakes nobody */
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "work", version, MS), SAP_NOTFOUND);
    suite_put_row(suite, "work", "3");
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "work", version, LONG_NS), SAP_OK);
}

/* However many rows of others were touched meanwhile: a wait may return early, never too late. */
static void no_wake_up_is_missed_among_many(StoreSuite *suite)
{
    enum { MANY = 5000 };
    uint64_t version = version_now(suite, SAP_STORE_READ_NEWEST);
    suite_put_row(suite, "work", "1");
    for (int i = 0; i < MANY; i += 100) {
        SapStoreTxn *txn = NULL;
        EXPECT_RC(sap_store_begin(suite->store, SAP_STORE_GUARDED, &txn), SAP_OK);
        for (int j = i; j < i + 100; j++) {
            char key[VALUE_MAX];
            (void)snprintf(key, sizeof key, "other%d", j);
            EXPECT_RC(sap_store_put(txn, SUITE_TABLE, key, (uint32_t)strlen(key), "1", 1), SAP_OK);
        }
        EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    }
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_NEWEST, "work", version, LONG_NS), SAP_OK);
    EXPECT_RC(wait_prefix(suite, SAP_STORE_READ_DURABLE, "work", version, LONG_NS), SAP_OK);
}

/* The loop of one who looks for work: read, and where there is none wait for a commit after what was
 * read. The other party commits in between, where there are threads at any moment of it. */
typedef struct Looker {
    StoreSuite *suite;
    pthread_t thread;
    uint64_t delay_ns;
    bool has_thread;
} Looker;

static void put_work(Looker *looker)
{
    SapStoreTxn *txn = NULL;
    uint64_t mark = 0;
    EXPECT_RC(sap_store_begin(looker->suite->second, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "work", 4, "1", 1), SAP_OK);
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
    EXPECT_RC(sap_store_wait_durable(looker->suite->second, mark), SAP_OK);
}

static void *put_work_later(void *arg)
{
    Looker *looker = arg;
    struct timespec delay = {.tv_nsec = (long)looker->delay_ns};
    nanosleep(&delay, NULL);
    put_work(looker);
    return NULL;
}

static void look_for_work(StoreSuite *suite, SapStoreKind kind, uint64_t delay_ns)
{
    Looker looker = {.suite = suite, .delay_ns = delay_ns};
    SapStorePrefix prefix = {SUITE_TABLE, "work", 4};
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    for (int rounds = 0;; rounds++) {
        EXPECT_RC(sap_store_begin(suite->store, kind, &txn), SAP_OK);
        int rc = sap_store_get(txn, SUITE_TABLE, "work", 4, &val, &len);
        uint64_t version = sap_store_version(txn);
        sap_store_abort(txn);
        if (rc == SAP_OK) {
            break;
        }
        EXPECT_RC(rc, SAP_NOTFOUND);
        if (rounds == 0) {
            if (suite->bed->one_thread) {
                put_work(&looker);
            } else {
                EXPECT(pthread_create(&looker.thread, NULL, put_work_later, &looker) == 0, "none");
                looker.has_thread = true;
            }
        }
        EXPECT_RC(sap_store_wait(suite->store, kind, &prefix, version, LONG_NS), SAP_OK);
    }
    if (looker.has_thread) {
        pthread_join(looker.thread, NULL);
    }
    EXPECT_RC(sap_store_begin(suite->store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_del(txn, SUITE_TABLE, "work", 4), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    tape_printf(&suite->tape, "found work\n");
}

static void one_who_waits_for_work_finds_it_whenever_it_comes(StoreSuite *suite)
{
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_READ_NEWEST; kind++) {
        for (uint64_t i = 0; i < 20; i++) {
            look_for_work(suite, (SapStoreKind)kind, i * i * 20000);
        }
    }
}

const StoreCase store_view_cases[] = {
    STORE_CASE(a_read_transaction_sees_one_state_while_others_commit),
    STORE_CASE(a_snapshot_is_not_older_than_what_was_committed_before_it),
    STORE_CASE(nobody_sees_what_is_not_committed),
    STORE_CASE(an_asynchronous_commit_is_newest_at_once_and_durable_after_the_wait),
    STORE_CASE(an_asynchronous_commit_that_nobody_waits_for_needs_no_mark),
    STORE_CASE(transactions_of_one_thread_end_in_any_order),
    STORE_CASE(a_durable_mark_has_all_commits_before_it),
    STORE_CASE(a_commit_that_only_read_makes_what_it_read_durable),
    STORE_CASE(the_mark_of_an_asynchronous_reader_covers_what_it_read),
    STORE_CASE(a_mark_of_no_commit_is_misuse),
    STORE_CASE(rows_stay_when_the_store_is_opened_again),
    STORE_CASE(a_wait_returns_at_once_for_a_commit_after_the_version),
    STORE_CASE(a_deleted_row_wakes_too),
    STORE_CASE(a_wait_times_out_where_nothing_of_the_prefix_was_committed),
    STORE_CASE(no_wake_up_is_missed_among_many),
    STORE_CASE(one_who_waits_for_work_finds_it_whenever_it_comes),
    {NULL, NULL},
};
