/* Promises of files that are kept only if two parts of the engine agree: a commit and the checkpoint
 * it needs, a watch and the thread that syncs, a header and the pages it frees. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/fault.h"
#include "sapling/disk.h"
#include "sapling/file_format.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { TIMEOUT_S = 30, ROWS = 200, WAIT_MS = 3000 };

static FileBed bed;
static SapEnv *db;

static void set_up(void)
{
    file_bed_start(&bed);
}

static void tear_down(void)
{
#if SAP_FAULTS
    fault_reset();
    disk_trace_set(NULL, NULL);
#endif
    if (db != NULL) {
        (void)sap_db_close(db);
        db = NULL;
    }
    file_bed_end(&bed);
}

static SapTxnCtx *begin(unsigned flags)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, flags, &txn), SAP_OK);
    return txn;
}

static void put_in(SapTxnCtx *txn, const char *key, uint64_t value)
{
    uint8_t bytes[8];

    store_u64le(bytes, value);
    EXPECT_RC(sap_txn_put(txn, key, (uint32_t)strlen(key), bytes, sizeof bytes), SAP_OK);
}

/* 0: no row. */
static uint64_t value_of(unsigned flags, uint32_t dbi, const char *key)
{
    SapTxnCtx *txn = begin(flags | SAP_TXN_RDONLY);
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_txn_get_dbi(txn, dbi, key, (uint32_t)strlen(key), &val, &len);

    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    uint64_t value = rc == SAP_OK ? load_u64le(val) : 0;
    sap_txn_abort(txn);
    return value;
}

#if SAPLING_THREADED

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static bool is_durable_soon(uint64_t lsn)
{
    for (int ms = 0; ms < WAIT_MS && sap_db_durable_lsn(db) < lsn; ms++) {
        sleep_ms(1);
    }
    return sap_db_durable_lsn(db) >= lsn;
}

START_TEST(periodic_commits_behind_a_bulk_commit_are_durable_soon)
{
    bed.options.sync_mode = SAP_SYNC_PERIODIC;
    bed.options.sync_period_ms = 10;
    db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(SAP_TXN_BULK);
    put_in(txn, "bulk", 1);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    txn = begin(0);
    put_in(txn, "plain", 1);
    uint64_t lsn = 0;
    EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
    EXPECT(is_durable_soon(lsn), "a crash loses what was committed %d ms ago", WAIT_MS);
}
END_TEST

static void count_call(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                       void *ctx)
{
    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    __atomic_add_fetch((unsigned *)ctx, 1, __ATOMIC_SEQ_CST);
}

/* The group of the second commit brings the first to disk, before the background thread looks. */
START_TEST(watch_is_told_of_an_asynchronous_commit_that_another_one_made_durable)
{
    unsigned calls = 0;

    db = file_bed_open(&bed);
    EXPECT_RC(sap_db_watch(db, "w", 1, count_call, &calls), SAP_OK);
    SapTxnCtx *txn = begin(0);
    put_in(txn, "watched", 1);
    EXPECT_RC(sap_txn_commit_async(txn, NULL), SAP_OK);
    txn = begin(0);
    put_in(txn, "other", 1);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    for (int ms = 0; ms < WAIT_MS && __atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 0; ms++) {
        sleep_ms(1);
    }
    EXPECT(__atomic_load_n(&calls, __ATOMIC_SEQ_CST) == 1, "not told");
}
END_TEST

static void fill_log(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                     void *ctx)
{
    static uint8_t value[60000];
    unsigned *calls = ctx;

    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    if ((*calls)++ > 0) {
        return;
    }
    /* The thread in the background will want to deliver this, and wait for this call to return. */
    SapTxnCtx *txn = begin(0);
    put_in(txn, "watched too", 1);
    EXPECT_RC(sap_txn_commit_async(txn, NULL), SAP_OK);
    sleep_ms(100);
    for (int i = 0; i < 40; i++) {
        txn = begin(0);
        EXPECT_RC(sap_txn_put(txn, "large", 5, value, sizeof value), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
}

START_TEST(watch_may_commit_more_than_the_log_has_room_for)
{
    unsigned calls = 0;

    bed.options.checkpoint_bytes = 100000;
    db = file_bed_open(&bed);
    EXPECT_RC(sap_db_watch(db, "w", 1, fill_log, &calls), SAP_OK);
    SapTxnCtx *txn = begin(0);
    put_in(txn, "watched", 1);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT(calls == 2, "%u calls", calls);
}
END_TEST

#endif

#if SAP_FAULTS

START_TEST(commits_that_wait_for_their_sync_survive_a_close_without_a_checkpoint)
{
    bed.options.sync_mode = SAP_SYNC_PERIODIC;
    bed.options.sync_period_ms = 600000;
    db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(0);
    put_in(txn, "key", 7);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    fault_reset();
    fault_arm_alloc_from(1);
    int rc = sap_db_close(db);
    fault_reset();
    db = NULL;
    EXPECT(rc == SAP_NOMEM, "closing answered %d", rc);
    db = file_bed_open(&bed);
    EXPECT(value_of(0, 0, "key") == 7, "lost, although the log had room for it");
}
END_TEST

/* The deletion is not durable, and the change of the table fails: the durable rows are as they were. */
START_TEST(table_that_is_empty_in_the_newest_state_only_keeps_its_durable_rows)
{
    uint8_t bytes[8];

    store_u64le(bytes, 7);
    db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, 5, NULL, NULL, 0), SAP_OK);
    SapTxnCtx *txn = begin(0);
    EXPECT_RC(sap_txn_put_dbi(txn, 5, "key", 3, bytes, sizeof bytes), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    txn = begin(SAP_TXN_BULK);
    EXPECT_RC(sap_txn_del_dbi(txn, 5, "key", 3), SAP_OK);
    EXPECT_RC(sap_txn_commit_async(txn, NULL), SAP_OK);
    EXPECT(value_of(0, 5, "key") == 7, "the deletion is durable");
    fault_reset();
    fault_arm_io_from(1, EIO);
    int rc = sap_dbi_set_dupsort(db, 5, NULL, NULL);
    fault_reset();
    EXPECT(rc != SAP_OK, "it could not be made durable");
    EXPECT(value_of(0, 5, "key") == 7, "a durable row is gone");
}
END_TEST

typedef struct Bytes {
    uint8_t data[4096];
    uint32_t len;
    uint32_t at;
} Bytes;

static int take_bytes(const void *buf, uint32_t len, void *ctx)
{
    Bytes *bytes = ctx;

    memcpy(bytes->data + bytes->len, buf, len);
    bytes->len += len;
    return SAP_OK;
}

static int give_bytes(void *buf, uint32_t len, void *ctx)
{
    Bytes *bytes = ctx;

    if (len > bytes->len - bytes->at) {
        return SAP_NOTFOUND;
    }
    memcpy(buf, bytes->data + bytes->at, len);
    bytes->at += len;
    return SAP_OK;
}

START_TEST(restore_that_fails_for_want_of_memory_changes_nothing)
{
    Bytes stream = {.len = 0};

    db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(0);
    put_in(txn, "key", 1);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_db_checkpoint(db, take_bytes, &stream), SAP_OK);
    for (uint64_t n = 1;; n++) {
        txn = begin(0);
        put_in(txn, "key", 2);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        stream.at = 0;
        fault_reset();
        fault_arm_alloc(n);
        int rc = sap_db_restore(db, give_bytes, &stream);
        bool fired = fault_fired() != 0;
        fault_reset();
        if (rc == SAP_IO) { /* not known: a commit like any other */
            (void)sap_db_close(db);
            db = file_bed_open(&bed);
            continue;
        }
        uint64_t now = value_of(SAP_TXN_NEWEST, 0, "key");
        EXPECT(rc == SAP_OK ? now == 1 : now == 2,
               "with allocation %" PRIu64 " failing it answered %d, and the row is %" PRIu64, n, rc,
               now);
        if (!fired) {
            break;
        }
    }
}
END_TEST

/* ---- A header that is not on disk ----------------------------------------------------------- */

static void put_all(uint64_t value)
{
    static const char *const format = "row %03d";
    SapTxnCtx *txn = begin(0);

    for (int i = 0; i < ROWS; i++) {
        char key[16];
        uint8_t bytes[200] = {0};
        (void)snprintf(key, sizeof key, format, i);
        store_u64le(bytes, value);
        EXPECT_RC(sap_txn_put(txn, key, (uint32_t)strlen(key), bytes, sizeof bytes), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void die_behind_a_header(void *arg)
{
    (void)arg;
    db = file_bed_open(&bed);
    put_all(2);
    fault_reset();
    fault_arm_crash(3); /* pages written, pages synced, meta written */
    (void)sap_db_sync(db);
}

typedef struct Syncs {
    uint64_t data; /* the data file's number in the trace */
    unsigned count;
} Syncs;

static void count_syncs(void *ctx, const DiskEvent *event)
{
    Syncs *syncs = ctx;

    if (event->op == DISK_OPEN && strcmp(event->path, bed.path) == 0) {
        syncs->data = event->file;
    }
    syncs->count += event->op == DISK_SYNC && event->file == syncs->data;
}

/* A process dies between writing a header and syncing it; the next one opens the file by that
 * header, and may use again what only the header before needs. Then the power goes: a header that
 * nobody synced need not be there, and all stores through the mapping may be. */
START_TEST(header_is_on_disk_before_what_the_one_before_it_needs_is_used_again)
{
    Syncs syncs = {0};
    size_t size = 0;

    db = file_bed_open(&bed);
    put_all(1);
    file_bed_close(db);
    db = NULL;
    uint8_t *older = files_read(bed.path, &size);
    int status = files_run_child(die_behind_a_header, NULL);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == FAULT_CRASH_STATUS, "it lived");
    disk_trace_set(count_syncs, &syncs);
    db = file_bed_open(&bed);
    put_all(3);
    put_all(4);
    disk_trace_set(NULL, NULL);
    Image *image = image_take(bed.dir);
    file_bed_close(db);
    db = NULL;
    image_restore(image, bed.dir);
    image_free(image);
    if (syncs.count == 0) {
        files_write_at(bed.path, 0, older, FILE_HEADER);
    }
    free(older);
    db = file_bed_open(&bed);
    EXPECT(value_of(0, 0, "row 000") == 4, "an acknowledged commit is gone");
    model_expect_verified(db);
}
END_TEST

#endif

#if SAPLING_THREADED

START_TEST(sync_within_a_write_transaction_is_busy_also_beside_a_checkpoint)
{
    bed.options.checkpoint_bytes = 1; /* one is always due */
    db = file_bed_open(&bed);
    for (unsigned i = 0; i < 20; i++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
        EXPECT_RC(sap_txn_put(txn, "k", 1, &i, sizeof i), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
        usleep(2000); /* the checkpoint waits for this transaction by now */
        EXPECT_RC(sap_txn_put(txn, "l", 1, &i, sizeof i), SAP_OK);
        EXPECT_RC(sap_db_sync(db), SAP_BUSY);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    EXPECT_RC(sap_db_sync(db), SAP_OK);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("engine_file_promises");
    TCase *tcase = tcase_create("promises");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
#if SAPLING_THREADED
    tcase_add_test(tcase, periodic_commits_behind_a_bulk_commit_are_durable_soon);
    tcase_add_test(tcase, watch_is_told_of_an_asynchronous_commit_that_another_one_made_durable);
    tcase_add_test(tcase, watch_may_commit_more_than_the_log_has_room_for);
    tcase_add_test(tcase, sync_within_a_write_transaction_is_busy_also_beside_a_checkpoint);
#endif
#if SAP_FAULTS
    tcase_add_test(tcase, commits_that_wait_for_their_sync_survive_a_close_without_a_checkpoint);
    tcase_add_test(tcase, table_that_is_empty_in_the_newest_state_only_keeps_its_durable_rows);
    tcase_add_test(tcase, restore_that_fails_for_want_of_memory_changes_nothing);
    tcase_add_test(tcase, header_is_on_disk_before_what_the_one_before_it_needs_is_used_again);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
