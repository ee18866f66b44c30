/* Cases: misuse, transactions that have ended or failed, opening and closing, outcomes that are
 * unknown, and the numbers. */
#include "support/expect.h"
#include "support/store_suite.h"

#include <stdio.h>
#include <string.h>

enum { VALUE_MAX = 64, KINDS = 4 };

static const char ROWS_AS_AT_START[] = "rows of 16: k=1\nrows of 17:\n";

/* The call returns this code, and says so on the tape. */
#define REFUSED(call, code)                                                  \
    do {                                                                     \
        int refused_rc = (call);                                             \
        tape_printf(&suite->tape, #call ": %s\n", code_name(refused_rc));    \
        EXPECT(refused_rc == (code), #call " returned %s instead of " #code, \
               code_name(refused_rc));                                       \
    } while (0)

static int move_nothing(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    (void)ctx, (void)txn;
    *target = (SapStoreTarget){SUITE_OTHER_TABLE, *row};
    return SAP_OK;
}

static void expect_only_first_row(StoreSuite *suite)
{
    suite_say_rows(suite);
    const char *last = suite->tape.text + suite->tape.len - strlen(ROWS_AS_AT_START);
    EXPECT(strcmp(last, ROWS_AS_AT_START) == 0, "something has changed: %s", suite->tape.text);
}

/* ---- Misuse --------------------------------------------------------------------------------- */

static void calls_on_nothing_are_misuse(StoreSuite *suite)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t mark = 0;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = {.table = SUITE_TABLE};
    SapStorePrefix prefix = {.table = SUITE_TABLE};
    SapStoreGuard guard = {SUITE_TABLE, "k", 1, true};
    SapStoreStats stats;
    bool unknown = true;
    REFUSED(sap_store_begin(NULL, SAP_STORE_GUARDED, &txn), SAP_ERROR);
    REFUSED(sap_store_begin(suite->store, SAP_STORE_GUARDED, NULL), SAP_ERROR);
    REFUSED(sap_store_begin(suite->store, (SapStoreKind)KINDS, &txn), SAP_ERROR);
    REFUSED(sap_store_guard(NULL, &guard, 1), SAP_ERROR);
    REFUSED(sap_store_get(NULL, SUITE_TABLE, "k", 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_put(NULL, SUITE_TABLE, "k", 1, "1", 1), SAP_ERROR);
    REFUSED(sap_store_put_if_absent(NULL, SUITE_TABLE, "k", 1, "1", 1), SAP_ERROR);
    REFUSED(sap_store_del(NULL, SUITE_TABLE, "k", 1), SAP_ERROR);
    REFUSED(sap_store_scan(NULL, &range, false, 1, &rows, &len), SAP_ERROR);
    REFUSED(sap_store_claim(NULL, &range, 1, move_nothing, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_commit(NULL, &unknown), SAP_ERROR);
    EXPECT(!unknown, "there is nothing unknown about no transaction");
    unknown = true;
    REFUSED(sap_store_commit_async(NULL, &mark, &unknown), SAP_ERROR);
    EXPECT(!unknown, "there is nothing unknown about no transaction");
    REFUSED(sap_store_wait_durable(NULL, 0), SAP_ERROR);
    unknown = true;
    REFUSED(sap_store_run(NULL, SAP_STORE_GUARDED, NULL, NULL, &unknown), SAP_ERROR);
    EXPECT(!unknown, "there is nothing unknown about no store");
    REFUSED(sap_store_run(suite->store, SAP_STORE_GUARDED, NULL, NULL, NULL), SAP_ERROR);
    REFUSED(sap_store_wait(NULL, SAP_STORE_READ_NEWEST, &prefix, 0, 0), SAP_ERROR);
    REFUSED(sap_store_wait(suite->store, SAP_STORE_READ_NEWEST, NULL, 0, 0), SAP_ERROR);
    REFUSED(sap_store_wait(suite->store, (SapStoreKind)KINDS, &prefix, 0, 0), SAP_ERROR);
    prefix.prefix_len = 1;
    REFUSED(sap_store_wait(suite->store, SAP_STORE_READ_NEWEST, &prefix, 0, 0), SAP_ERROR);
    prefix = (SapStorePrefix){.table = SUITE_ABSENT_TABLE};
    REFUSED(sap_store_wait(suite->store, SAP_STORE_READ_NEWEST, &prefix, 0, 0), SAP_ERROR);
    REFUSED(sap_store_stats(NULL, &stats), SAP_ERROR);
    REFUSED(sap_store_stats(suite->store, NULL), SAP_ERROR);
    EXPECT(sap_store_version(NULL) == 0, "no transaction has version 0");
    EXPECT_RC(sap_store_close(NULL), SAP_OK);
    sap_store_abort(NULL);
}

/* The calls below with bad arguments leave a transaction that can be used and committed. */
static void bad_arguments_are_misuse_and_the_transaction_goes_on(StoreSuite *suite)
{
    const void *val = "unchanged";
    uint32_t len = 77;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = {.table = SUITE_TABLE};
    SapStoreRange bad_table = {.table = SUITE_ABSENT_TABLE};
    SapStoreRange bad_from = {.table = SUITE_TABLE, .from_len = 1};
    SapStoreGuard no_key = {SUITE_TABLE, NULL, 1, true};
    SapStoreGuard no_table = {SUITE_ABSENT_TABLE, "k", 1, true};
    static const char long_key[SAP_STORE_MAX_KEY + 1];
    SapStoreGuard too_long = {SUITE_TABLE, long_key, sizeof long_key, true};
    Seat seat = suite_seat(suite);
    suite_put_row(suite, "k", "1");
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    SapStoreTxn *txn = seat.txn;
    REFUSED(sap_store_guard(txn, NULL, 1), SAP_ERROR);
    REFUSED(sap_store_guard(txn, &too_long, 0), SAP_ERROR);
    REFUSED(sap_store_guard(txn, &no_key, 1), SAP_ERROR);
    REFUSED(sap_store_guard(txn, &no_table, 1), SAP_ERROR);
    REFUSED(sap_store_guard(txn, &too_long, 1), SAP_FULL);
    EXPECT_RC(seat_guard(&seat, "k", true), SAP_OK); /* a refused one does not count */
    REFUSED(sap_store_get(txn, SUITE_ABSENT_TABLE, "k", 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_get(txn, 9, "k", 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_get(txn, 5000, "k", 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_get(txn, SUITE_TABLE, NULL, 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_get(txn, SUITE_TABLE, "k", 1, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, NULL), SAP_ERROR);
    REFUSED(sap_store_get(txn, SUITE_TABLE, "absent", 6, &val, &len), SAP_NOTFOUND);
    EXPECT(strcmp(val, "unchanged") == 0 && len == 77, "written only on SAP_OK");
    REFUSED(sap_store_put(txn, SUITE_ABSENT_TABLE, "k", 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_put(txn, 10, "k", 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_put(txn, SUITE_TABLE, NULL, 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_put(txn, SUITE_TABLE, "k", 1, NULL, 1), SAP_ERROR);
    REFUSED(sap_store_put_if_absent(txn, SUITE_ABSENT_TABLE, "n", 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_put_if_absent(txn, SUITE_TABLE, NULL, 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_put_if_absent(txn, SUITE_TABLE, "n", 1, NULL, 1), SAP_ERROR);
    REFUSED(sap_store_del(txn, SUITE_ABSENT_TABLE, "k", 1), SAP_ERROR);
    REFUSED(sap_store_del(txn, SUITE_TABLE, NULL, 1), SAP_ERROR);
    REFUSED(sap_store_scan(txn, NULL, false, 1, &rows, &len), SAP_ERROR);
    REFUSED(sap_store_scan(txn, &bad_table, false, 1, &rows, &len), SAP_ERROR);
    REFUSED(sap_store_scan(txn, &bad_from, false, 1, &rows, &len), SAP_ERROR);
    REFUSED(sap_store_scan(txn, &range, false, 1, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_scan(txn, &range, false, 1, &rows, NULL), SAP_ERROR);
    REFUSED(sap_store_claim(txn, &range, 1, move_nothing, NULL, &len), SAP_ERROR);
    EXPECT(rows == NULL && len == 77, "written only on SAP_OK");
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    expect_only_first_row(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
    txn = seat.txn;
    REFUSED(sap_store_claim(txn, NULL, 1, move_nothing, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_claim(txn, &bad_table, 1, move_nothing, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_claim(txn, &bad_from, 1, move_nothing, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_claim(txn, &range, 1, NULL, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_claim(txn, &range, 1, move_nothing, NULL, NULL), SAP_ERROR);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    expect_only_first_row(suite);
}

static void a_write_in_a_read_transaction_is_readonly(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    for (int kind = SAP_STORE_READ_DURABLE; kind <= SAP_STORE_READ_NEWEST; kind++) {
        Seat seat = suite_seat(suite);
        EXPECT_RC(seat_begin(&seat, (SapStoreKind)kind), SAP_OK);
        EXPECT_RC(seat_put(&seat, "k", "2"), SAP_READONLY);
        EXPECT_RC(seat_put_if_absent(&seat, "n", "2"), SAP_READONLY);
        EXPECT_RC(seat_put_if_absent(&seat, "k", "2"), SAP_READONLY);
        EXPECT_RC(seat_del(&seat, "k"), SAP_READONLY);
        EXPECT_RC(seat_del(&seat, "n"), SAP_READONLY);
        SapStoreRange range = {.table = SUITE_TABLE};
        uint32_t count = 0;
        int rc = sap_store_claim(seat.txn, &range, 1, move_nothing, NULL, &count);
        tape_printf(&suite->tape, "claim in a read transaction: %s\n", code_name(rc));
        EXPECT(rc == SAP_ERROR || rc == SAP_READONLY, "claim returned %s", code_name(rc));
        seat_expect(&seat, "k", "1");
        EXPECT_RC(seat_commit(&seat), SAP_OK);
    }
    expect_only_first_row(suite);
}

/* ---- Transactions that have ended or failed -------------------------------------------------- */

static void expect_ended(StoreSuite *suite, SapStoreTxn *txn)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t mark = 0;
    const SapStoreRow *rows = NULL;
    SapStoreRange range = {.table = SUITE_TABLE};
    SapStoreGuard guard = {SUITE_TABLE, "k", 1, true};
    bool unknown = true;
    REFUSED(sap_store_guard(txn, &guard, 1), SAP_ERROR);
    REFUSED(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_put(txn, SUITE_TABLE, "k", 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_put_if_absent(txn, SUITE_TABLE, "n", 1, "2", 1), SAP_ERROR);
    REFUSED(sap_store_del(txn, SUITE_TABLE, "k", 1), SAP_ERROR);
    REFUSED(sap_store_scan(txn, &range, false, 1, &rows, &len), SAP_ERROR);
    REFUSED(sap_store_claim(txn, &range, 1, move_nothing, NULL, &len), SAP_ERROR);
    REFUSED(sap_store_commit(txn, &unknown), SAP_ERROR);
    EXPECT(!unknown, "nothing is unknown");
    REFUSED(sap_store_commit_async(txn, &mark, NULL), SAP_ERROR);
    EXPECT(sap_store_version(txn) == 0, "the version of one that has ended is 0");
    sap_store_abort(txn);
}

static void calls_on_a_transaction_that_has_ended_are_misuse(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    for (int kind = 0; kind < KINDS; kind++) {
        for (int way = 0; way < 3; way++) {
            SapStoreTxn *txn = NULL;
            uint64_t mark = 0;
            EXPECT_RC(sap_store_begin(suite->store, (SapStoreKind)kind, &txn), SAP_OK);
            if (way == 0) {
                EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
            } else if (way == 1) {
                EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
            } else {
                sap_store_abort(txn);
            }
            expect_ended(suite, txn);
        }
    }
    expect_only_first_row(suite);
}

static void a_transaction_that_has_failed_stays_failed_and_commits_nothing(StoreSuite *suite)
{
    static const struct {
        SapStoreFault fault;
        int rc;
    } faults[] = {{SAP_STORE_FAULT_BUSY, SAP_BUSY},
                  {SAP_STORE_FAULT_CONFLICT, SAP_CONFLICT},
                  {SAP_STORE_FAULT_FAIL, SAP_IO},
                  {SAP_STORE_FAULT_LOST_BEFORE, SAP_IO},
                  {SAP_STORE_FAULT_LOST_AFTER, SAP_IO}};
    char val[VALUE_MAX];
    suite_put_row(suite, "k", "1");
    for (int i = 0; i < 5; i++) {
        for (int way = 0; way < 3; way++) {
            uint64_t mark = 0;
            Seat seat = suite_seat(suite);
            EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK);
            EXPECT_RC(seat_put(&seat, "before", "1"), SAP_OK);
            store_suite_arm(suite, SAP_STORE_CALL_GET, faults[i].fault, 1);
            EXPECT_RC(seat_get(&seat, "k", val, sizeof val), faults[i].rc);
            EXPECT(suite->fault_fired == 1, "the hook was not asked");
            EXPECT_RC(seat_get(&seat, "k", val, sizeof val), faults[i].rc);
            EXPECT_RC(seat_put(&seat, "after", "1"), faults[i].rc);
            EXPECT_RC(seat_put_if_absent(&seat, "after", "1"), faults[i].rc);
            EXPECT_RC(seat_del(&seat, "k"), faults[i].rc);
            EXPECT_RC(seat_scan(&seat, NULL, NULL, false, 1), faults[i].rc);
            EXPECT_RC(seat_claim(&seat, 1), faults[i].rc);
            if (way == 0) {
                EXPECT_RC(seat_commit(&seat), faults[i].rc);
                EXPECT(strstr(suite->tape.text, "unknown") == NULL, "it is known: nothing");
            } else if (way == 1) {
                EXPECT_RC(seat_commit_async(&seat, &mark), faults[i].rc);
                EXPECT(strstr(suite->tape.text, "unknown") == NULL, "it is known: nothing");
            } else {
                seat_abort(&seat);
            }
            expect_only_first_row(suite);
        }
    }
}

/* ---- Opening and closing -------------------------------------------------------------------- */

static void a_store_with_an_open_transaction_is_not_closed(StoreSuite *suite)
{
    suite_put_row(suite, "k", "1");
    for (int kind = 0; kind < KINDS; kind++) {
        Seat seat = suite_seat(suite);
        EXPECT_RC(seat_begin(&seat, (SapStoreKind)kind), SAP_OK);
        REFUSED(sap_store_close(suite->store), SAP_BUSY);
        seat_expect(&seat, "k", "1");
        EXPECT_RC(seat_commit(&seat), SAP_OK);
    }
}

/* Refuses to open; *store_out stays as it was. */
static void expect_no_open(StoreSuite *suite, const char *url, const SapStoreOptions *options,
                           int code)
{
    SapStore *store = (SapStore *)suite;
    int rc = sap_store_open(url, options, &store);
    tape_printf(&suite->tape, "open: %s\n", code_name(rc));
    EXPECT(rc == code, "open of %s returned %s: %s", url == NULL ? "nothing" : url, code_name(rc),
           sap_open_error());
    EXPECT((void *)store == (void *)suite, "the out-parameter was written");
    EXPECT(sap_open_error()[0] != 0, "there is no text");
}

static void a_url_that_is_none_is_invalid(StoreSuite *suite)
{
    static const char *const urls[] = {"",
                                       "memory",
                                       ":",
                                       "suite",
                                       "/tmp/suite",
                                       "sapling",
                                       "sapling:",
                                       "mem:suite",
                                       "memoryx:suite",
                                       "http://example.org/suite",
                                       "file:/tmp/suite",
                                       " memory:suite"};
    SapStoreOptions options = store_suite_options(suite);
    for (size_t i = 0; i < sizeof urls / sizeof urls[0]; i++) {
        expect_no_open(suite, urls[i], &options, SAP_INVALID);
    }
    expect_no_open(suite, NULL, &options, SAP_ERROR);
}

static void bad_options_are_misuse(StoreSuite *suite)
{
    static const uint32_t bad[][2] = {{SUITE_TABLE, SUITE_TABLE},
                                      {SUITE_TABLE, SAP_STORE_FIRST_TABLE - 1},
                                      {SUITE_TABLE, 0},
                                      {8, SUITE_TABLE},
                                      {SUITE_TABLE, SAP_STORE_LAST_TABLE + 1}};
    char url[SUITE_URL_MAX];
    char schema[SAP_STORE_MAX_SCHEMA + 2];
    store_suite_next_url(suite->bed, url, sizeof url);
    for (int i = 0; i < 5; i++) {
        SapStoreOptions options = store_suite_options(suite);
        options.tables = bad[i];
        options.table_count = 2;
        expect_no_open(suite, url, &options, SAP_ERROR);
    }
    SapStoreOptions options = store_suite_options(suite);
    options.table_count = 0;
    expect_no_open(suite, url, &options, SAP_ERROR);
    options = store_suite_options(suite);
    options.tables = NULL;
    expect_no_open(suite, url, &options, SAP_ERROR);
    options = store_suite_options(suite);
    memset(schema, 's', sizeof schema - 1);
    schema[sizeof schema - 1] = 0;
    options.schema = schema;
    expect_no_open(suite, url, &options, SAP_ERROR);
    options.schema = schema + 1; /* the longest */
    SapStore *store = NULL;
    store_suite_make(suite->bed, url, &options);
    REFUSED(sap_store_open(url, &options, &store), SAP_OK);
    EXPECT_RC(sap_store_close(store), SAP_OK);
    expect_no_open(suite, url, NULL, SAP_ERROR);
    REFUSED(sap_store_open(url, &options, NULL), SAP_ERROR);
}

static void expect_text(StoreSuite *suite, int rc, const char *part)
{
    tape_printf(&suite->tape, "open: %s %s\n", code_name(rc), sap_open_error());
    EXPECT(rc == SAP_ERROR && strstr(sap_open_error(), part) != NULL, "%s: %s", code_name(rc),
           sap_open_error());
}

static void a_refused_open_says_which_argument_is_wrong(StoreSuite *suite)
{
    static const char *const schemas[] = {"a\nb", "\x1b[2J", "del\x7f", "c1\xc2\x9b"};
    static const uint32_t twice[] = {SUITE_TABLE, SUITE_TABLE};
    static const uint32_t own[] = {9};
    SapStoreOptions options = store_suite_options(suite);
    SapStore *store = NULL;
    char url[SUITE_URL_MAX];
    store_suite_next_url(suite->bed, url, sizeof url);
    expect_text(suite, sap_store_open(NULL, &options, &store), "url is NULL");
    expect_text(suite, sap_store_open(url, NULL, &store), "options are NULL");
    expect_text(suite, sap_store_open(url, &options, NULL), "store_out is NULL");
    options.size = 3;
    expect_text(suite, sap_store_open(url, &options, &store), "SapStoreOptions.size");
    expect_text(suite, sap_store_init(url, &options), "SapStoreOptions.size");
    options = store_suite_options(suite);
    options.tables = twice;
    options.table_count = 2;
    expect_text(suite, sap_store_open(url, &options, &store), "table 16 is named twice");
    options.tables = own;
    options.table_count = 1;
    expect_text(suite, sap_store_open(url, &options, &store), "table 9 is out of range");
    for (int i = 0; i < 4; i++) {
        options = store_suite_options(suite);
        options.schema = schemas[i];
        expect_text(suite, sap_store_open(url, &options, &store), "control character");
        expect_text(suite, sap_store_init(url, &options), "control character");
    }
    EXPECT(store == NULL, "nothing was opened");
}

static void keep_message(const char *text, void *ctx)
{
    tape_printf(ctx, "message: %s\n", text);
}

static void a_table_that_was_not_opened_is_reported_once(StoreSuite *suite)
{
    static const char said[] = "message: table 18 is not among";
    SapStoreOptions options = store_suite_options(suite);
    SapStorePrefix prefix = {.table = SUITE_ABSENT_TABLE};
    SapStore *store = NULL;
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    char url[SUITE_URL_MAX];
    options.on_message = keep_message;
    options.message_ctx = &suite->tape;
    store_suite_next_url(suite->bed, url, sizeof url);
    store_suite_make(suite->bed, url, &options);
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
    REFUSED(sap_store_get(txn, SUITE_ABSENT_TABLE, "k", 1, &val, &len), SAP_ERROR);
    REFUSED(sap_store_put(txn, SUITE_ABSENT_TABLE, "k", 1, "v", 1), SAP_ERROR);
    REFUSED(sap_store_wait(store, SAP_STORE_READ_NEWEST, &prefix, 0, 0), SAP_ERROR);
    EXPECT_RC(sap_store_put(txn, SUITE_TABLE, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    EXPECT_RC(sap_store_close(store), SAP_OK);
    const char *first = strstr(suite->tape.text, said);
    EXPECT(first != NULL && strstr(first + 1, said) == NULL, "not said once: %s", suite->tape.text);
}

/* Opens the suite's store once more with these options. Where it is not shared, it is closed before
 * and opened again with its own options by the caller: store_suite_reopen(). */
static int open_again(StoreSuite *suite, const SapStoreOptions *options, SapStore **store_out)
{
    if (!suite->bed->is_shared) {
        EXPECT_RC(sap_store_close(suite->store), SAP_OK);
        suite->store = NULL;
    }
    return sap_store_open(suite->url, options, store_out);
}

static void a_store_of_another_schema_is_invalid_and_stays_as_it_is(StoreSuite *suite)
{
    static const char *const others[] = {"suite@2", "suite@", "suite@11", "Suite@1", "", NULL};
    suite_put_row(suite, "k", "1");
    for (int i = 0; i < 6; i++) {
        SapStoreOptions options = store_suite_options(suite);
        SapStore *other = NULL;
        options.schema = others[i];
        int rc = open_again(suite, &options, &other);
        tape_printf(&suite->tape, "open as %s: %s\n", others[i] == NULL ? "none" : others[i],
                    code_name(rc));
        EXPECT(rc == SAP_INVALID && other == NULL, "open as %s returned %s",
               others[i] == NULL ? "none" : others[i], code_name(rc));
        EXPECT(strstr(sap_open_error(), "suite@1") != NULL, "the text does not name the schema: %s",
               sap_open_error());
        store_suite_reopen(suite);
        expect_only_first_row(suite);
    }
}

static void other_tables_may_be_named_at_the_next_open(StoreSuite *suite)
{
    static const uint32_t more[] = {SUITE_TABLE, SUITE_ABSENT_TABLE};
    SapStoreOptions options = store_suite_options(suite);
    SapStore *other = NULL;
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    suite_put_row(suite, "k", "1");
    options.tables = more;
    options.table_count = 2;
    store_suite_make(suite->bed, suite->url, &options);
    REFUSED(open_again(suite, &options, &other), SAP_OK);
    EXPECT_RC(sap_store_begin(other, SAP_STORE_GUARDED, &txn), SAP_OK);
    REFUSED(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len), SAP_OK);
    REFUSED(sap_store_put(txn, SUITE_ABSENT_TABLE, "k", 1, "2", 1), SAP_OK);
    REFUSED(sap_store_get(txn, SUITE_OTHER_TABLE, "k", 1, &val, &len), SAP_ERROR);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    EXPECT_RC(sap_store_close(other), SAP_OK);
    store_suite_reopen(suite);
    expect_only_first_row(suite);
}

/* ---- Outcomes ------------------------------------------------------------------------------- */

/* A transaction of two rows whose commit meets this fault. */
static int commit_with_fault(StoreSuite *suite, SapStoreCall call, SapStoreFault fault,
                             bool *unknown_out)
{
    Seat seat = suite_seat(suite);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "a", "1"), SAP_OK);
    EXPECT_RC(seat_put(&seat, "b", "1"), SAP_OK);
    store_suite_arm(suite, call, fault, 1);
    int rc = sap_store_commit(seat.txn, unknown_out);
    tape_printf(seat.tape, "commit: %s %s\n", code_name(rc), *unknown_out ? "unknown" : "known");
    EXPECT(suite->fault_fired == 1, "the hook was not asked");
    return rc;
}

static void a_commit_that_fails_for_certain_commits_nothing(StoreSuite *suite)
{
    static const struct {
        SapStoreFault fault;
        int rc;
    } faults[] = {{SAP_STORE_FAULT_FAIL, SAP_IO},
                  {SAP_STORE_FAULT_BUSY, SAP_BUSY},
                  {SAP_STORE_FAULT_CONFLICT, SAP_CONFLICT}};
    for (int i = 0; i < 3; i++) {
        bool unknown = true;
        EXPECT_RC(commit_with_fault(suite, SAP_STORE_CALL_COMMIT, faults[i].fault, &unknown),
                  faults[i].rc);
        EXPECT(!unknown, "it is known");
        suite_expect_row(suite, "a", "-");
        suite_expect_row(suite, "b", "-");
    }
}

static void a_connection_lost_before_the_commit_leaves_the_outcome_open(StoreSuite *suite)
{
    bool unknown = false;
    EXPECT_RC(
        commit_with_fault(suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_LOST_BEFORE, &unknown),
        SAP_IO);
    EXPECT(unknown, "nobody can know");
    suite_expect_row(suite, "a", "-");
    suite_expect_row(suite, "b", "-");
}

static void a_connection_lost_after_the_commit_leaves_the_outcome_open(StoreSuite *suite)
{
    bool unknown = false;
    EXPECT_RC(commit_with_fault(suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_LOST_AFTER, &unknown),
              SAP_IO);
    EXPECT(unknown, "nobody can know");
    suite_expect_row(suite, "a", "1");
    suite_expect_row(suite, "b", "1");
}

/* It has been committed: no code may say that it was not. */
static void a_fault_in_the_wait_for_the_disk_leaves_the_outcome_open(StoreSuite *suite)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_FAIL, SAP_STORE_FAULT_LOST_BEFORE,
                                           SAP_STORE_FAULT_LOST_AFTER};
    for (int i = 0; i < 3; i++) {
        bool unknown = false;
        EXPECT_RC(commit_with_fault(suite, SAP_STORE_CALL_WAIT_DURABLE, faults[i], &unknown),
                  SAP_IO);
        EXPECT(unknown, "nobody can know");
    }
    suite_expect_row(suite, "a", "1");
}

static void a_commit_of_nothing_has_no_outcome_that_matters_but_says_what_it_said(StoreSuite *suite)
{
    bool unknown = true;
    Seat seat = suite_seat(suite);
    suite_put_row(suite, "k", "1");
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK);
    seat_expect(&seat, "k", "1");
    store_suite_arm(suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_FAIL, 1);
    int rc = sap_store_commit(seat.txn, &unknown);
    tape_printf(seat.tape, "commit of a reader: %s\n", code_name(rc));
    EXPECT_RC(rc, SAP_IO); /* what it read may not be acknowledged */
    expect_only_first_row(suite);
}

/* The incarnation that crashed is dead; what was durable is there for the next. */
static void after_a_crash_every_call_fails_and_the_next_open_finds_what_was_durable(
    StoreSuite *suite)
{
    SapStoreTxn *txn = NULL;
    SapStorePrefix prefix = {.table = SUITE_TABLE};
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t mark = 0;
    Seat seat = suite_seat(suite);
    suite_put_row(suite, "k", "1");
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    EXPECT_RC(seat_put(&seat, "l", "1"), SAP_OK);
    EXPECT_RC(seat_commit_async(&seat, &mark), SAP_OK);
    EXPECT_RC(sap_store_wait_durable(suite->store, mark), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    txn = seat.txn;
    EXPECT_RC(seat_guard(&seat, "k", true), SAP_OK);
    EXPECT_RC(seat_put(&seat, "k", "2"), SAP_OK);
    store_suite_arm(suite, SAP_STORE_CALL_GET, SAP_STORE_FAULT_CRASH, 1);
    REFUSED(sap_store_get(txn, SUITE_TABLE, "k", 1, &val, &len), SAP_IO);
    REFUSED(sap_store_put(txn, SUITE_TABLE, "k", 1, "3", 1), SAP_IO);
    REFUSED(sap_store_commit(txn, NULL), SAP_IO);
    REFUSED(sap_store_begin(suite->store, SAP_STORE_GUARDED, &txn), SAP_IO);
    REFUSED(sap_store_begin(suite->store, SAP_STORE_READ_NEWEST, &txn), SAP_IO);
    REFUSED(sap_store_wait_durable(suite->store, mark), SAP_IO);
    REFUSED(sap_store_wait(suite->store, SAP_STORE_READ_NEWEST, &prefix, 0, 0), SAP_IO);
    store_suite_reopen(suite);
    suite_say_rows(suite);
    suite_expect_row(suite, "k", "1");
    suite_expect_row(suite, "l", "1");
    suite_put_row(suite, "k", "3"); /* nothing stays guarded or locked */
    suite_expect_row(suite, "k", "3");
}

/* ---- Numbers -------------------------------------------------------------------------------- */

static void the_numbers_add_up(StoreSuite *suite)
{
    SapStoreStats stats;
    SapStorePrefix prefix = {.table = SUITE_TABLE, .prefix = "k", .prefix_len = 1};
    bool unknown = false;
    char val[VALUE_MAX];
    Seat seat = suite_seat(suite);
    EXPECT_RC(sap_store_stats(suite->store, &stats), SAP_OK);
    for (int kind = 0; kind < KINDS; kind++) {
        EXPECT(stats.begun[kind] == 0, "nothing has begun");
    }
    suite_put_row(suite, "k", "1");                          /* one that wrote one row */
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK); /* one that was given up */
    EXPECT_RC(seat_put(&seat, "l", "1"), SAP_OK);
    seat_abort(&seat);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_NEWEST), SAP_OK); /* two that read */
    EXPECT_RC(seat_get(&seat, "k", val, sizeof val), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_READ_DURABLE), SAP_OK);
    EXPECT_RC(seat_scan(&seat, NULL, NULL, false, 10), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_CLAIM), SAP_OK); /* one that claimed */
    EXPECT_RC(seat_claim(&seat, 10), SAP_OK);
    EXPECT_RC(seat_commit(&seat), SAP_OK);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK); /* one refused, one in conflict */
    store_suite_arm(suite, SAP_STORE_CALL_PUT, SAP_STORE_FAULT_BUSY, 1);
    EXPECT_RC(seat_put(&seat, "l", "1"), SAP_BUSY);
    EXPECT_RC(seat_commit(&seat), SAP_BUSY);
    EXPECT_RC(seat_begin(&seat, SAP_STORE_GUARDED), SAP_OK);
    store_suite_arm(suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_CONFLICT, 1);
    EXPECT_RC(seat_commit(&seat), SAP_CONFLICT);
    EXPECT_RC(
        commit_with_fault(suite, SAP_STORE_CALL_COMMIT, SAP_STORE_FAULT_LOST_BEFORE, &unknown),
        SAP_IO); /* one that nobody knows */
    EXPECT_RC(sap_store_wait(suite->store, SAP_STORE_READ_NEWEST, &prefix, 0, 0), SAP_OK);
    EXPECT_RC(sap_store_stats(suite->store, &stats), SAP_OK);
    tape_printf(&suite->tape,
                "begun %llu %llu %llu %llu, committed %llu, aborted %llu, busy %llu, conflicts "
                "%llu, again %llu, unknown %llu, faults %llu, read %llu, written %llu, claimed "
                "%llu, waits %llu\n",
                (unsigned long long)stats.begun[0], (unsigned long long)stats.begun[1],
                (unsigned long long)stats.begun[2], (unsigned long long)stats.begun[3],
                (unsigned long long)stats.committed, (unsigned long long)stats.aborted,
                (unsigned long long)stats.busy, (unsigned long long)stats.conflicts,
                (unsigned long long)stats.run_again, (unsigned long long)stats.outcome_unknown,
                (unsigned long long)stats.faults, (unsigned long long)stats.rows_read,
                (unsigned long long)stats.rows_written, (unsigned long long)stats.rows_claimed,
                (unsigned long long)stats.waits);
    EXPECT(stats.begun[0] == 1 && stats.begun[1] == 1 && stats.begun[2] == 5 && stats.begun[3] == 1,
           "begun by kind");
    EXPECT(stats.committed == 2, "two that wrote, not %llu", (unsigned long long)stats.committed);
    EXPECT(stats.aborted == 3, "given up, refused and in conflict, not %llu",
           (unsigned long long)stats.aborted);
    EXPECT(stats.busy == 1 && stats.conflicts == 1 && stats.outcome_unknown == 1, "codes");
    EXPECT(stats.faults == 3, "faults of the hook");
    EXPECT(stats.rows_claimed == 1, "rows claimed");
    EXPECT(stats.waits == 1 && stats.wakes == 1, "waits");
}

const StoreCase store_error_cases[] = {
    STORE_CASE(calls_on_nothing_are_misuse),
    STORE_CASE(bad_arguments_are_misuse_and_the_transaction_goes_on),
    STORE_CASE(a_write_in_a_read_transaction_is_readonly),
    STORE_CASE(calls_on_a_transaction_that_has_ended_are_misuse),
    STORE_CASE(a_transaction_that_has_failed_stays_failed_and_commits_nothing),
    STORE_CASE(a_store_with_an_open_transaction_is_not_closed),
    STORE_CASE(a_url_that_is_none_is_invalid),
    STORE_CASE(bad_options_are_misuse),
    STORE_CASE(a_refused_open_says_which_argument_is_wrong),
    STORE_CASE(a_table_that_was_not_opened_is_reported_once),
    STORE_CASE(a_store_of_another_schema_is_invalid_and_stays_as_it_is),
    STORE_CASE(other_tables_may_be_named_at_the_next_open),
    STORE_CASE(a_commit_that_fails_for_certain_commits_nothing),
    STORE_CASE(a_connection_lost_before_the_commit_leaves_the_outcome_open),
    STORE_CASE(a_connection_lost_after_the_commit_leaves_the_outcome_open),
    STORE_CASE(a_fault_in_the_wait_for_the_disk_leaves_the_outcome_open),
    STORE_CASE(a_commit_of_nothing_has_no_outcome_that_matters_but_says_what_it_said),
    STORE_CASE(after_a_crash_every_call_fails_and_the_next_open_finds_what_was_durable),
    STORE_CASE(the_numbers_add_up),
    {NULL, NULL},
};
