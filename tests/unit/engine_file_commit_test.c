/* When a commit in a file is durable, who sees it before, and who is told of it. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/mem.h"
#include "sapling/dbfile.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMEOUT_S = 120, TRIES = 400, PATIENCE_MS = 20000 };

static FileBed bed;
static SapEnv *db;
static size_t live_before;

static void set_up(void)
{
    live_before = mem_live_total();
    file_bed_start(&bed);
}

static void tear_down(void)
{
    if (db != NULL) {
        model_expect_verified(db);
        file_bed_close(db);
        db = NULL;
    }
    file_bed_end(&bed);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static void open_with(SapSyncMode mode, uint32_t period_ms)
{
    bed.options.sync_mode = mode;
    bed.options.sync_period_ms = period_ms;
    db = file_bed_open(&bed);
}

static SapTxnCtx *begin(unsigned flags)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, flags, &txn);

    EXPECT(rc == SAP_OK, "begin answered %d", rc);
    return txn;
}

static SapTxnCtx *begin_put(uint64_t value)
{
    SapTxnCtx *txn = begin(0);
    uint8_t bytes[8];

    store_u64le(bytes, value);
    EXPECT_RC(sap_txn_put(txn, "value", 5, bytes, sizeof bytes), SAP_OK);
    return txn;
}

static uint64_t put_async(uint64_t value)
{
    uint64_t lsn = 0;

    EXPECT_RC(sap_txn_commit_async(begin_put(value), &lsn), SAP_OK);
    EXPECT(lsn != 0, "a commit without a number");
    return lsn;
}

static void put_durable(uint64_t value)
{
    EXPECT_RC(sap_txn_commit(begin_put(value)), SAP_OK);
}

/* 0: no row. */
static uint64_t value_in(SapTxnCtx *txn)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_txn_get(txn, "value", 5, &val, &len);

    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    return rc == SAP_OK ? load_u64le(val) : 0;
}

static uint64_t value_seen(unsigned flags)
{
    SapTxnCtx *txn = begin(flags);
    uint64_t value = value_in(txn);

    sap_txn_abort(txn);
    return value;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* ---- Durability ----------------------------------------------------------------------------- */

START_TEST(commit_returns_when_it_is_durable)
{
    open_with(SAP_SYNC_COMMIT, 0);
    for (uint64_t i = 1; i <= TRIES; i++) {
        uint64_t before = sap_db_durable_lsn(db);
        put_durable(i);
        EXPECT(sap_db_durable_lsn(db) > before, "not durable");
        EXPECT(value_seen(SAP_TXN_RDONLY) == i, "not visible");
    }
}
END_TEST

/* Whether a commit is durable can change at any time, so what is seen counts only if it was not
 * durable afterwards either. */
START_TEST(commit_that_is_not_durable_is_seen_by_the_newest_readers_and_writers_only)
{
    unsigned hidden = 0;

    open_with(SAP_SYNC_COMMIT, 0);
    put_durable(1);
    for (uint64_t i = 2; i < TRIES; i++) {
        uint64_t lsn = put_async(i);
        SapTxnCtx *reader = begin(SAP_TXN_RDONLY);
        uint64_t seen = value_in(reader);
        uint64_t base = sap_txn_base_lsn(reader);
        bool durable = sap_db_durable_lsn(db) >= lsn;
        EXPECT(durable || seen < i, "seen before it was durable");
        EXPECT(seen == i ? base >= lsn : base < lsn, "the base is not that of the state");
        hidden += seen < i;
        sap_txn_abort(reader);
        EXPECT(value_seen(SAP_TXN_RDONLY | SAP_TXN_NEWEST) == i, "not the newest");
        SapTxnCtx *writer = begin(0);
        EXPECT(value_in(writer) == i, "a writer builds on something older");
        EXPECT(sap_txn_base_lsn(writer) == lsn, "the base of the writer is another");
        sap_txn_abort(writer);
        if (i % 3 == 0) {
            EXPECT_RC(sap_db_wait_durable(db, lsn), SAP_OK);
            EXPECT(sap_db_durable_lsn(db) >= lsn, "not durable");
            EXPECT(value_seen(SAP_TXN_RDONLY) == i, "durable and not visible");
        }
    }
    printf("%u of %d asynchronous commits were not durable at once\n", hidden, TRIES - 2);
    ck_assert_uint_gt(hidden, 0);
}
END_TEST

START_TEST(reader_keeps_its_snapshot_when_a_newer_commit_becomes_durable)
{
    open_with(SAP_SYNC_COMMIT, 0);
    put_durable(1);
    uint64_t lsn = put_async(2);
    SapTxnCtx *reader = begin(SAP_TXN_RDONLY);
    uint64_t seen = value_in(reader);
    SapTxnCtx *newest = begin(SAP_TXN_RDONLY | SAP_TXN_NEWEST);
    ck_assert_uint_eq(sap_txn_base_lsn(newest), lsn);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    put_durable(3);
    ck_assert_int_eq(sap_db_sync(db), SAP_OK);
    ck_assert_uint_eq(value_in(reader), seen);
    ck_assert_uint_eq(value_in(newest), 2);
    sap_txn_abort(reader);
    sap_txn_abort(newest);
}
END_TEST

START_TEST(commit_without_effects_waits_for_what_it_read)
{
    open_with(SAP_SYNC_COMMIT, 0);
    for (uint64_t i = 1; i < TRIES; i++) {
        uint64_t lsn = put_async(i);
        SapTxnCtx *txn = begin(0);
        EXPECT(value_in(txn) == i, "not the newest");
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT(sap_db_durable_lsn(db) >= lsn, "it did not wait");
        EXPECT(value_seen(SAP_TXN_RDONLY) == i, "durable and not visible");
    }
}
END_TEST

START_TEST(commit_that_never_was_cannot_be_waited_for)
{
    open_with(SAP_SYNC_COMMIT, 0);
    put_durable(1);
    uint64_t lsn = put_async(2);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn + 1), SAP_ERROR);
    ck_assert_int_eq(sap_db_wait_durable(db, UINT64_MAX), SAP_ERROR);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    ck_assert_int_eq(sap_db_wait_durable(db, 0), SAP_OK);
    ck_assert_int_eq(sap_db_wait_durable(NULL, 1), SAP_ERROR);
}
END_TEST

START_TEST(numbers_of_commits_go_on_after_opening_again)
{
    open_with(SAP_SYNC_COMMIT, 0);
    uint64_t lsn = put_async(1);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&bed);
    ck_assert_uint_ge(sap_db_durable_lsn(db), lsn);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    ck_assert_uint_gt(put_async(2), lsn);
}
END_TEST

#if SAPLING_THREADED
START_TEST(asynchronous_commits_become_durable_by_themselves)
{
    open_with(SAP_SYNC_COMMIT, 0);
    uint64_t lsn = put_async(1);
    for (int ms = 0; sap_db_durable_lsn(db) < lsn; ms++) {
        EXPECT(ms < PATIENCE_MS, "nobody led the group");
        sleep_ms(1);
    }
    ck_assert_uint_eq(value_seen(SAP_TXN_RDONLY), 1);
}
END_TEST
#endif

START_TEST(periodic_commits_are_visible_at_once_and_durable_soon)
{
    open_with(SAP_SYNC_PERIODIC, 20);
    for (uint64_t i = 1; i <= 5; i++) {
        SapTxnCtx *txn = begin_put(i);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT(value_seen(SAP_TXN_RDONLY) == i, "not visible");
        uint64_t lsn = put_async(i + 100);
        EXPECT(value_seen(SAP_TXN_RDONLY) == i + 100, "not visible");
#if SAPLING_THREADED
        for (int ms = 0; sap_db_durable_lsn(db) < lsn; ms++) {
            EXPECT(ms < PATIENCE_MS, "the period passed without a sync");
            sleep_ms(1);
        }
#endif
        EXPECT_RC(sap_db_wait_durable(db, lsn), SAP_OK);
        EXPECT(sap_db_durable_lsn(db) >= lsn, "not durable");
    }
}
END_TEST

START_TEST(unsynced_commits_are_visible_at_once_and_durable_by_sync)
{
    open_with(SAP_SYNC_NONE, 0);
    uint64_t before = sap_db_durable_lsn(db);
    uint64_t lsn = 0;
    for (uint64_t i = 1; i <= 5; i++) {
        lsn = put_async(i);
        EXPECT(value_seen(SAP_TXN_RDONLY) == i, "not visible");
        put_durable(i + 10);
        EXPECT(value_seen(SAP_TXN_RDONLY) == i + 10, "not visible");
    }
    sleep_ms(300); /* longer than any period of the other modes */
    ck_assert_uint_eq(sap_db_durable_lsn(db), before);
    ck_assert_int_eq(sap_db_sync(db), SAP_OK);
    ck_assert_uint_ge(sap_db_durable_lsn(db), lsn);
    lsn = put_async(100);
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    ck_assert_uint_ge(sap_db_durable_lsn(db), lsn);
}
END_TEST

START_TEST(bulk_commits_are_durable_when_they_return_and_in_order)
{
    open_with(SAP_SYNC_COMMIT, 0);
    for (uint64_t i = 1; i <= 10; i++) {
        uint64_t lsn = put_async(i);
        SapTxnCtx *txn = begin(SAP_TXN_BULK);
        uint8_t bytes[8];
        store_u64le(bytes, i + 100);
        EXPECT_RC(sap_txn_put(txn, "value", 5, bytes, sizeof bytes), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT(sap_db_durable_lsn(db) > lsn, "not durable");
        EXPECT(value_seen(SAP_TXN_RDONLY) == i + 100, "not visible");
        put_durable(i);
    }
}
END_TEST

/* A commit behind a bulk one is durable only when that is. */
START_TEST(commits_behind_a_bulk_commit_wait_for_it)
{
    open_with(SAP_SYNC_COMMIT, 0);
    for (uint64_t i = 1; i <= 10; i++) {
        SapTxnCtx *txn = begin(SAP_TXN_BULK);
        uint64_t bulk = 0;
        EXPECT_RC(sap_txn_put(txn, "bulk", 4, "x", 1), SAP_OK);
        EXPECT_RC(sap_txn_commit_async(txn, &bulk), SAP_OK);
        uint64_t lsn = put_async(i);
        EXPECT(lsn > bulk, "out of order");
        EXPECT_RC(sap_db_wait_durable(db, lsn), SAP_OK);
        EXPECT(sap_db_durable_lsn(db) >= lsn, "not durable");
        EXPECT(value_seen(SAP_TXN_RDONLY) == i, "not visible");
    }
}
END_TEST

/* ---- Checkpoints ---------------------------------------------------------------------------- */

#if SAPLING_THREADED
/* The number of the newest checkpoint in the file, as another process would find it. */
static uint64_t checkpoint_on_disk(void)
{
    size_t size = 0;
    uint8_t *bytes = files_read(bed.path, &size);
    uint64_t newest = 0;

    for (uint32_t i = 0; i < 2; i++) {
        Meta meta;
        uint32_t version = 0;
        if (meta_decode(bytes + meta_offset(i, 1), &meta, &version) == META_VALID) {
            newest = meta.number > newest ? meta.number : newest;
        }
    }
    free(bytes);
    return newest;
}

static void expect_checkpoint_after(uint64_t before)
{
    for (int ms = 0; checkpoint_on_disk() <= before; ms++) {
        EXPECT(ms < PATIENCE_MS, "no checkpoint");
        sleep_ms(1);
    }
}

START_TEST(so_many_bytes_of_log_start_a_checkpoint)
{
    bed.options.checkpoint_bytes = 256 * 1024;
    open_with(SAP_SYNC_COMMIT, 0);
    put_durable(1); /* the first one writes a header too */
    uint64_t before = checkpoint_on_disk();
    for (uint64_t i = 2; i <= 20; i++) {
        put_durable(i); /* 4 KiB of log each */
    }
    sleep_ms(100);
    ck_assert_uint_eq(checkpoint_on_disk(), before);
    for (uint64_t i = 21; i <= 70; i++) {
        put_durable(i);
    }
    expect_checkpoint_after(before);
}
END_TEST

START_TEST(log_that_waited_for_the_period_starts_a_checkpoint)
{
    bed.options.checkpoint_period_ms = 50;
    open_with(SAP_SYNC_COMMIT, 0);
    uint64_t before = checkpoint_on_disk();
    sleep_ms(200);
    ck_assert_uint_eq(checkpoint_on_disk(), before); /* there is no log */
    put_durable(1);
    expect_checkpoint_after(before);
}
END_TEST

/* Without a log only the pages count. */
START_TEST(so_many_bytes_of_changed_pages_start_a_checkpoint)
{
    enum { BYTES = 64 * 1024, FACTOR = 4 };
    static uint8_t value[FACTOR * BYTES];

    bed.options.checkpoint_bytes = BYTES;
    open_with(SAP_SYNC_NONE, 0);
    uint64_t before = checkpoint_on_disk();
    put_durable(1);
    sleep_ms(100);
    ck_assert_uint_eq(checkpoint_on_disk(), before);
    SapTxnCtx *txn = begin(0);
    EXPECT_RC(sap_txn_put(txn, "large", 5, value, sizeof value), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    expect_checkpoint_after(before);
}
END_TEST

static _Atomic(uint64_t) time_ns;

static uint64_t tell_time(void *ctx)
{
    (void)ctx;
    return time_ns;
}

START_TEST(period_is_by_the_clock_of_the_options)
{
    time_ns = UINT64_C(1000000000);
    bed.options.clock_ns = tell_time;
    bed.options.checkpoint_period_ms = 50;
    open_with(SAP_SYNC_COMMIT, 0);
    put_durable(1);
    uint64_t before = checkpoint_on_disk(); /* the first commit writes a header too */
    sleep_ms(200);
    ck_assert_uint_eq(checkpoint_on_disk(), before);
    time_ns += UINT64_C(50000000);
    expect_checkpoint_after(before);
}
END_TEST

START_TEST(a_period_is_not_prolonged_by_those_who_wait)
{
    time_ns = UINT64_C(1000000000);
    bed.options.clock_ns = tell_time;
    open_with(SAP_SYNC_PERIODIC, 100);
    uint64_t first = put_async(1);
    sleep_ms(100); /* the background thread has seen it; the clock stands still */
    EXPECT_RC(sap_db_wait_durable(db, first), SAP_OK);
    uint64_t second = put_async(2);
    time_ns += UINT64_C(100000000);
    for (int ms = 0; sap_db_durable_lsn(db) < second; ms++) {
        EXPECT(ms < PATIENCE_MS, "the period passed without a sync");
        sleep_ms(1);
    }
}
END_TEST

START_TEST(commits_wait_where_the_log_is_four_times_as_long)
{
    enum { BYTES = 64 * 1024 };
    static uint8_t value[20000];

    bed.options.checkpoint_bytes = BYTES;
    open_with(SAP_SYNC_COMMIT, 0);
    for (uint32_t i = 0; i < 300; i++) {
        SapTxnCtx *txn = begin(0);
        value[0]++;
        EXPECT_RC(sap_txn_put(txn, "value", 5, value, sizeof value), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        uint64_t bytes = wal_bytes(db->file->wal);
        EXPECT(bytes < 4 * BYTES, "%" PRIu64 " bytes of log", bytes);
    }
}
END_TEST
#endif

/* ---- Watches -------------------------------------------------------------------------------- */

typedef struct Told {
    pthread_mutex_t lock; /* any thread may deliver */
    unsigned calls;
    uint64_t last;      /* value */
    unsigned not_seen;  /* calls in which a plain reader did not see the commit yet */
    unsigned disorders; /* values that went back */
} Told;

static void note(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *ctx)
{
    Told *told = ctx;
    uint64_t value = val_len == 8 ? load_u64le(val) : 0;
    uint64_t seen = value_seen(SAP_TXN_RDONLY);

    (void)key;
    (void)key_len;
    pthread_mutex_lock(&told->lock);
    told->calls++;
    told->not_seen += seen < value;
    told->disorders += value <= told->last;
    told->last = value;
    pthread_mutex_unlock(&told->lock);
}

static unsigned calls_of(Told *told)
{
    pthread_mutex_lock(&told->lock);
    unsigned calls = told->calls;
    pthread_mutex_unlock(&told->lock);
    return calls;
}

static void expect_told(Told *told, unsigned calls)
{
    for (int ms = 0; calls_of(told) < calls; ms++) {
        EXPECT(ms < PATIENCE_MS, "%u calls instead of %u", calls_of(told), calls);
        sleep_ms(1);
    }
    EXPECT(told->calls == calls && told->not_seen == 0 && told->disorders == 0,
           "%u calls, %u before the commit was visible, %u out of order", told->calls,
           told->not_seen, told->disorders);
}

static void watch(Told *told)
{
    memset(told, 0, sizeof *told);
    EXPECT(pthread_mutex_init(&told->lock, NULL) == 0, "no mutex");
    EXPECT_RC(sap_db_watch(db, "v", 1, note, told), SAP_OK);
}

static void unwatch(Told *told)
{
    EXPECT_RC(sap_db_unwatch(db, "v", 1, note, told), SAP_OK);
    pthread_mutex_destroy(&told->lock);
}

START_TEST(watches_are_told_of_durable_commits_before_the_commit_returns)
{
    Told told;

    open_with(SAP_SYNC_COMMIT, 0);
    watch(&told);
    for (uint64_t i = 1; i <= 50; i++) {
        put_durable(i);
        EXPECT(calls_of(&told) == i, "not told");
    }
    expect_told(&told, 50);
    unwatch(&told);
}
END_TEST

START_TEST(watches_are_told_of_asynchronous_commits_when_they_are_durable)
{
    Told told;
    uint64_t lsn = 0;

    open_with(SAP_SYNC_COMMIT, 0);
    watch(&told);
    for (uint64_t i = 1; i <= 50; i++) {
        lsn = put_async(i);
    }
    ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
    expect_told(&told, 50);
    for (uint64_t i = 51; i <= 100; i++) {
        lsn = put_async(i);
        if (i % 10 == 0) {
            EXPECT_RC(sap_db_sync(db), SAP_OK);
        }
    }
    expect_told(&told, 100);
    unwatch(&told);
}
END_TEST

START_TEST(watches_of_unsynced_commits_are_told_at_once)
{
    Told told;

    open_with(SAP_SYNC_NONE, 0);
    watch(&told);
    for (uint64_t i = 1; i <= 20; i++) {
        put_durable(i);
        EXPECT(calls_of(&told) == i, "not told");
    }
    unwatch(&told);
}
END_TEST

/* ---- Slow readers --------------------------------------------------------------------------- */

#if SAPLING_THREADED
typedef struct Slow {
    pthread_mutex_t lock;
    unsigned calls;
    uint64_t age_ns;
} Slow;

static void note_slow(const SapReaderInfo *info, void *ctx)
{
    Slow *slow = ctx;

    pthread_mutex_lock(&slow->lock);
    slow->calls++;
    slow->age_ns = info->age_ns;
    pthread_mutex_unlock(&slow->lock);
}

static unsigned slow_calls(Slow *slow)
{
    pthread_mutex_lock(&slow->lock);
    unsigned calls = slow->calls;
    pthread_mutex_unlock(&slow->lock);
    return calls;
}

START_TEST(slow_reader_is_reported_once)
{
    Slow slow = {.calls = 0};

    ck_assert_int_eq(pthread_mutex_init(&slow.lock, NULL), 0);
    bed.options.on_slow_reader = note_slow;
    bed.options.slow_reader_ms = 20;
    bed.options.callback_ctx = &slow;
    bed.options.on_message = NULL;
    open_with(SAP_SYNC_COMMIT, 0);
    SapTxnCtx *txn = begin(SAP_TXN_RDONLY);
    for (int ms = 0; slow_calls(&slow) == 0; ms++) {
        EXPECT(ms < PATIENCE_MS, "nobody was told");
        sleep_ms(1);
    }
    sleep_ms(200);
    sap_txn_abort(txn);
    file_bed_close(db);
    db = NULL;
    ck_assert_uint_eq(slow.calls, 1);
    ck_assert_uint_ge(slow.age_ns, UINT64_C(20000000));
    pthread_mutex_destroy(&slow.lock);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("engine_file_commit");
    TCase *tcase = tcase_create("commit");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, commit_returns_when_it_is_durable);
    tcase_add_test(tcase,
                   commit_that_is_not_durable_is_seen_by_the_newest_readers_and_writers_only);
    tcase_add_test(tcase, reader_keeps_its_snapshot_when_a_newer_commit_becomes_durable);
    tcase_add_test(tcase, commit_without_effects_waits_for_what_it_read);
    tcase_add_test(tcase, commit_that_never_was_cannot_be_waited_for);
    tcase_add_test(tcase, numbers_of_commits_go_on_after_opening_again);
#if SAPLING_THREADED
    tcase_add_test(tcase, asynchronous_commits_become_durable_by_themselves);
#endif
    tcase_add_test(tcase, periodic_commits_are_visible_at_once_and_durable_soon);
    tcase_add_test(tcase, unsynced_commits_are_visible_at_once_and_durable_by_sync);
    tcase_add_test(tcase, bulk_commits_are_durable_when_they_return_and_in_order);
    tcase_add_test(tcase, commits_behind_a_bulk_commit_wait_for_it);
#if SAPLING_THREADED
    tcase_add_test(tcase, so_many_bytes_of_log_start_a_checkpoint);
    tcase_add_test(tcase, log_that_waited_for_the_period_starts_a_checkpoint);
    tcase_add_test(tcase, so_many_bytes_of_changed_pages_start_a_checkpoint);
    tcase_add_test(tcase, period_is_by_the_clock_of_the_options);
    tcase_add_test(tcase, a_period_is_not_prolonged_by_those_who_wait);
    tcase_add_test(tcase, commits_wait_where_the_log_is_four_times_as_long);
#endif
    tcase_add_test(tcase, watches_are_told_of_durable_commits_before_the_commit_returns);
    tcase_add_test(tcase, watches_are_told_of_asynchronous_commits_when_they_are_durable);
    tcase_add_test(tcase, watches_of_unsynced_commits_are_told_at_once);
#if SAPLING_THREADED
    tcase_add_test(tcase, slow_reader_is_reported_once);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
