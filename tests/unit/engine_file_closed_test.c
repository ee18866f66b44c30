/* A closed database is one file: what is beside it while it is open and after that, how small that
 * is, and what the next opening makes of what is there. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/fault.h"
#include "sapling/disk.h"
#include "sapling/env.h"
#include "sapling/file_format.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { TIMEOUT_S = 300, SMALL = 1 << 20, SEGMENT = 16 << 20, DESCRIPTORS = 64 };

static FileBed bed;

static void set_up(void)
{
    file_bed_start(&bed);
}

static void tear_down(void)
{
    file_bed_end_clean(&bed);
}

static void put(SapEnv *db, const char *key)
{
    EXPECT_RC(file_bed_put(db, key, "value", 5), SAP_OK);
}

/* So many bytes of log, and hardly any rows. */
static void fill_log(SapEnv *db, uint64_t bytes)
{
    uint8_t *value = calloc(1, SMALL);

    EXPECT(value != NULL, "no memory");
    for (uint64_t done = 0; done < bytes; done += SMALL) {
        EXPECT_RC(file_bed_put(db, "large", value, SMALL), SAP_OK);
    }
    free(value);
}

static bool has(SapEnv *db, const char *key)
{
    SapTxnCtx *txn = NULL;
    const void *found = NULL;
    uint32_t len = 0;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    int rc = sap_txn_get(txn, key, (uint32_t)strlen(key), &found, &len);
    sap_txn_abort(txn);
    return rc == SAP_OK;
}

static void expect_keys(const char *first, const char *second)
{
    SapEnv *db = file_bed_open(&bed);

    EXPECT(has(db, first), "%s is missing", first);
    EXPECT(second == NULL || has(db, second), "%s is missing", second);
    model_expect_verified(db);
    file_bed_close(db);
}

static unsigned files_in(const char *dir)
{
    unsigned count = 0;
    DIR *stream = opendir(dir);

    EXPECT(stream != NULL, "cannot list %s", dir);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(stream);
    return count;
}

static void expect_alone(void)
{
    EXPECT(access(bed.path, F_OK) == 0 && files_in(bed.dir) == 1, "%u files are there",
           files_in(bed.dir));
}

static void beside(char out[FILES_PATH_MAX + 40], const char *ending)
{
    snprintf(out, FILES_PATH_MAX + 40, "%s%s", bed.path, ending);
}

static uint64_t log_size(void)
{
    return files_size(bed.dir, "db-wal.");
}

/* ---- Closing -------------------------------------------------------------------------------- */

START_TEST(closed_database_is_one_file)
{
    for (unsigned round = 0; round < 3; round++) {
        SapEnv *db = file_bed_open(&bed);
        put(db, "a");
        ck_assert_uint_gt(files_in(bed.dir), 1);
        file_bed_close(db);
        expect_alone();
    }
    SapEnv *db = file_bed_open(&bed);
    put(db, "b");
    EXPECT_RC(sap_db_sync(db), SAP_OK); /* closing finds nothing to move */
    file_bed_close(db);
    expect_alone();
    expect_keys("a", "b");
    expect_alone();
    ck_assert_uint_eq(file_bed_messages(&bed), 0);
}
END_TEST

START_TEST(closed_database_can_be_copied_and_moved)
{
    char copy[FILES_PATH_MAX + 40];
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    file_bed_close(db);
    beside(copy, ".copy");
    files_copy(bed.path, copy);
    db = file_bed_open(&bed);
    put(db, "b"); /* the copy is not of the same age any more */
    file_bed_close(db);
    expect_keys("a", "b");
    ck_assert_int_eq(rename(copy, bed.path), 0);
    expect_keys("a", NULL);
    db = file_bed_open(&bed);
    ck_assert(!has(db, "b"));
    put(db, "c");
    file_bed_close(db);
    expect_keys("a", "c");
    expect_alone();
}
END_TEST

#if SAP_FAULTS

static void count_change(void *ctx, const DiskEvent *event)
{
    *(unsigned *)ctx += event->op != DISK_OPEN;
}

START_TEST(opening_a_closed_file_and_reading_it_writes_nothing)
{
    unsigned changes = 0;
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    file_bed_close(db);
    disk_trace_set(count_change, &changes);
    db = file_bed_open(&bed);
    ck_assert(has(db, "a"));
    SapTxnCtx *txn = NULL;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    sap_txn_abort(txn);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    ck_assert_uint_eq(log_size(), 0);
    file_bed_close(db);
    disk_trace_set(NULL, NULL);
    ck_assert_uint_eq(changes, 0);
    expect_alone();
}
END_TEST

static void del(SapEnv *db, const char *key)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_del(txn, key, (uint32_t)strlen(key)), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

/* On a full disk a closed header follows another, without a log between them: it may be one that a dead
 * process had not synced. */
START_TEST(closed_header_that_follows_another_is_on_disk_before_it_is_read)
{
    unsigned changes = 0;
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    put(db, "b");
    put(db, "c");
    file_bed_close(db);
    atomic_store_relaxed(&disk_is_full, true);
    db = file_bed_open(&bed);
    del(db, "a");
    del(db, "b");
    file_bed_close(db);
    atomic_store_relaxed(&disk_is_full, false);
    disk_trace_set(count_change, &changes);
    db = file_bed_open(&bed);
    ck_assert_uint_eq(changes, 3); /* two copies of the header, and their sync */
    ck_assert(has(db, "c") && !has(db, "b"));
    file_bed_close(db);
    disk_trace_set(NULL, NULL);
}
END_TEST

#endif

/* ---- Lost and left logs --------------------------------------------------------------------- */

static void leave_open(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    put(db, arg);
}

/* A closed file has "a", and a process that died put `key` into it. */
static void close_and_die(const char *key)
{
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    file_bed_close(db);
    files_in_child(leave_open, (void *)(uintptr_t)key);
}

static void expect_refused(const char *part)
{
    SapEnv *db = NULL;

    (void)file_bed_messages(&bed);
    EXPECT_RC(file_bed_try(&bed, &db), SAP_CORRUPT);
    file_bed_expect_message(&bed, part);
}

static void remove_log(void)
{
    char name[FILES_PATH_MAX + 40];

    for (unsigned number = 0; number < 64; number++) {
        snprintf(name, sizeof name, "%s-wal.%016x", bed.path, number);
        (void)unlink(name);
    }
    ck_assert_uint_eq(log_size(), 0);
}

START_TEST(log_lost_after_the_file_was_closed_and_opened_again_is_noticed)
{
    close_and_die("b");
    remove_log();
    expect_refused("missing");
}
END_TEST

START_TEST(log_newer_than_the_newest_intact_header_is_refused)
{
    uint8_t zeros[META_SIZE] = {0};
    size_t size = 0;

    close_and_die("b");
    uint8_t *bytes = files_read(bed.path, &size);
    uint64_t newest = load_u64le(bytes + META_NUMBER);
    uint64_t other = load_u64le(bytes + (size_t)2 * FILE_BLOCK + META_NUMBER);
    newest = other > newest ? other : newest;
    free(bytes);
    files_write_at(bed.path, meta_offset(newest, 0), zeros, sizeof zeros);
    files_write_at(bed.path, meta_offset(newest, 1), zeros, sizeof zeros);
    expect_refused("newer than its header");
    expect_refused("-wal.0000000000000002"); /* and says what to remove */
    remove_log();
    expect_keys("a", NULL);
}
END_TEST

START_TEST(older_copy_beside_the_log_of_the_newer_file_is_refused)
{
    char copy[FILES_PATH_MAX + 40];
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    file_bed_close(db);
    beside(copy, ".copy");
    files_copy(bed.path, copy);
    close_and_die("b");
    ck_assert_int_eq(rename(copy, bed.path), 0);
    expect_refused("an older copy of the file was put in its place");
}
END_TEST

/* Segments that come back because their removal was not on disk. */
START_TEST(log_from_before_the_closing_is_removed_without_a_word)
{
    size_t size = 0;
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    Image *open_files = image_take(bed.dir);
    file_bed_close(db);
    uint8_t *closed = files_read(bed.path, &size);
    image_restore(open_files, bed.dir);
    files_write_at(bed.path, 0, closed, size);
    free(closed);
    ck_assert_uint_gt(log_size(), 0);
    Image *with_leftovers = image_take(bed.dir);
    bed.options.flags = SAP_OPEN_RDONLY;
    expect_keys("a", NULL);
    image_expect_same(with_leftovers, bed.dir);
    bed.options.flags = SAP_OPEN_CREATE;
    db = file_bed_open(&bed);
    put(db, "b");
    file_bed_close(db);
    ck_assert_uint_eq(file_bed_messages(&bed), 0);
    expect_keys("a", "b");
    expect_alone();
    image_free(open_files);
    image_free(with_leftovers);
}
END_TEST

START_TEST(log_without_its_data_file_is_named)
{
    close_and_die("b");
    ck_assert_int_eq(unlink(bed.path), 0);
    expect_refused("Restore the data file, or remove the log");
    expect_refused("-wal.0000000000000002");
    remove_log();
    file_bed_close(file_bed_open(&bed));
    expect_alone();
}
END_TEST

/* ---- Sizes ---------------------------------------------------------------------------------- */

START_TEST(small_database_takes_little_room)
{
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    put(db, "b");
    ck_assert_uint_lt(files_size(bed.dir, ""), SMALL);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    put(db, "c");
    ck_assert_uint_lt(files_size(bed.dir, ""), SMALL);
    file_bed_close(db);
    ck_assert_uint_lt(files_size(bed.dir, ""), SMALL);
}
END_TEST

static uint64_t largest_segment(void)
{
    uint64_t largest = 0;
    char name[40];

    for (unsigned number = 0; number < 200; number++) {
        snprintf(name, sizeof name, "db-wal.%016x", number);
        uint64_t size = files_size(bed.dir, name);
        largest = size > largest ? size : largest;
    }
    return largest;
}

START_TEST(log_grows_to_full_segments_and_shrinks_again)
{
    SapEnv *db = file_bed_open(&bed);

    fill_log(db, UINT64_C(60) << 20);
    ck_assert_uint_eq(largest_segment(), SEGMENT);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    /* Under load the free segments are kept for the log of the next checkpoint. */
    ck_assert_uint_ge(log_size(), UINT64_C(48) << 20);
    for (unsigned i = 0; i < 16; i++) {
        put(db, "a");
        EXPECT_RC(sap_db_sync(db), SAP_OK);
    }
    ck_assert_uint_lt(log_size(), SMALL);
    file_bed_close(db);
}
END_TEST

/* ---- Names ---------------------------------------------------------------------------------- */

START_TEST(lock_file_is_removed_by_the_last_one)
{
    char lock[FILES_PATH_MAX + 40];

    beside(lock, "-lock");
    SapEnv *db = file_bed_open(&bed);
    ck_assert_int_eq(access(lock, F_OK), 0);
    file_bed_close(db);
    ck_assert_int_ne(access(lock, F_OK), 0);
    bed.options.flags = SAP_OPEN_RDONLY;
    SapEnv *first = file_bed_open(&bed);
    SapEnv *second = file_bed_open(&bed);
    file_bed_close(first);
    ck_assert_int_eq(access(lock, F_OK), 0);
    file_bed_close(second);
    ck_assert_int_ne(access(lock, F_OK), 0);
}
END_TEST

#if SAP_FAULTS

static void close_meanwhile(const char *name, void *ctx)
{
    SapEnv **db = ctx;

    if (strcmp(name, "lock file opened") == 0 && *db != NULL) {
        file_bed_close(*db);
        *db = NULL;
    }
}

/* The lock file that was opened loses its name before it is locked. */
START_TEST(lock_counts_only_on_the_file_that_has_the_name)
{
    char lock[FILES_PATH_MAX + 40];
    SapEnv *before = file_bed_open(&bed);

    beside(lock, "-lock");
    fault_on_step(close_meanwhile, &before);
    SapEnv *db = file_bed_open(&bed);
    fault_on_step(NULL, NULL);
    ck_assert_ptr_null(before);
    ck_assert_int_eq(access(lock, F_OK), 0);
    file_bed_close(db);
    expect_alone();
}
END_TEST

#endif

static void make_another(void *arg)
{
    FileBed *other = arg;
    SapEnv *db = file_bed_open(other);

    put(db, "new");
    put(db, "newer");
}

/* Removes all files of the DB that is open, and another process makes one in their place. */
static void replace_files(void)
{
    char name[FILES_PATH_MAX + 40];

    remove_log();
    beside(name, "-lock");
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(unlink(bed.path), 0);
    files_in_child(make_another, &bed);
}

START_TEST(file_made_in_place_of_an_open_one_is_left_alone)
{
    SapEnv *db = file_bed_open(&bed);

    put(db, "old");
    replace_files();
    Image *others = image_take(bed.dir);
    EXPECT_RC(sap_db_sync(db), SAP_IO);
    file_bed_expect_message(&bed, "replaced while it was open");
    ck_assert_int_eq(file_bed_put(db, "more", "x", 1), SAP_IO);
    EXPECT_RC(sap_db_close(db), SAP_IO);
    image_expect_same(others, bed.dir);
    image_free(others);
    expect_keys("new", "newer");
}
END_TEST

START_TEST(closing_leaves_a_file_alone_that_has_the_name_now)
{
    char lock[FILES_PATH_MAX + 40];
    SapEnv *db = file_bed_open(&bed);

    put(db, "old");
    replace_files();
    Image *others = image_take(bed.dir);
    beside(lock, "-lock");
    ck_assert_int_eq(access(lock, F_OK), 0); /* the process died */
    EXPECT_RC(sap_db_close(db), SAP_IO);
    file_bed_expect_message(&bed, "replaced while it was open");
    image_expect_same(others, bed.dir);
    ck_assert_int_eq(access(lock, F_OK), 0);
    image_free(others);
    expect_keys("new", "newer");
}
END_TEST

START_TEST(commit_to_a_removed_file_is_not_acknowledged)
{
    SapEnv *db = file_bed_open(&bed);

    put(db, "before");
    ck_assert_int_eq(unlink(bed.path), 0);
    ck_assert_int_eq(file_bed_put(db, "after", "x", 1), SAP_IO);
    file_bed_expect_message(&bed, "was removed while it was open");
    ck_assert_int_eq(file_bed_put(db, "later", "x", 1), SAP_IO);
    EXPECT_RC(sap_db_sync(db), SAP_IO);
    EXPECT_RC(sap_db_close(db), SAP_IO);
    ck_assert_int_eq(access(bed.path, F_OK), -1);
    remove_log();
}
END_TEST

START_TEST(asynchronous_commit_to_a_removed_file_never_becomes_durable)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = NULL;
    uint64_t lsn = 0;

    put(db, "before");
    uint64_t durable = sap_db_durable_lsn(db);
    ck_assert_int_eq(unlink(bed.path), 0);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "after", 5, "x", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
    EXPECT_RC(sap_db_wait_durable(db, lsn), SAP_IO);
    ck_assert_uint_eq(sap_db_durable_lsn(db), durable);
    EXPECT_RC(sap_db_close(db), SAP_IO);
    remove_log();
}
END_TEST

#ifndef __wasi__
START_TEST(file_that_keeps_another_name_can_be_committed_to)
{
    char other[FILES_PATH_MAX + 40];
    SapEnv *db = file_bed_open(&bed);

    put(db, "before");
    beside(other, "-other");
    ck_assert_int_eq(link(bed.path, other), 0);
    ck_assert_int_eq(unlink(bed.path), 0);
    put(db, "after");
    ck_assert_int_eq(link(other, bed.path), 0);
    ck_assert_int_eq(unlink(other), 0);
    put(db, "back");
    file_bed_close(db);
    expect_keys("before", "after");
}
END_TEST
#endif

/* ---- What passes ---------------------------------------------------------------------------- */

#ifndef __wasi__

static unsigned take_descriptors(int *taken)
{
    unsigned count = 0;

    while (count < DESCRIPTORS && (taken[count] = open("/dev/null", O_RDONLY)) >= 0) {
        count++;
    }
    return count;
}

/* Commits until one needs a new file and gets no descriptor for it. */
START_TEST(want_of_descriptors_is_not_final)
{
    int taken[DESCRIPTORS];
    struct rlimit limit;
    struct rlimit few;
    uint8_t value[4000] = {0};

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    few = limit;
    few.rlim_cur = 48;
    SapEnv *db = file_bed_open(&bed);
    put(db, "a");
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
    unsigned count = take_descriptors(taken);
    int rc = SAP_OK;
    for (unsigned i = 0; i < 100 && rc == SAP_OK; i++) {
        rc = file_bed_put(db, "b", value, sizeof value);
    }
    int sync_rc = sap_db_sync(db);
    for (unsigned i = 0; i < count; i++) {
        close(taken[i]);
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(rc, SAP_NOMEM);
    ck_assert_int_eq(sync_rc, SAP_NOMEM);
    file_bed_expect_message(&bed, "Too many open files");
    put(db, "c");
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    file_bed_close(db);
    expect_keys("a", "c");
    expect_alone();
}
END_TEST

#endif

#if SAP_FAULTS
/* The n-th question of the disk is refused, whatever it is; where it was to make a segment, the commit
 * is taken back and the DB goes on. */
START_TEST(want_of_permission_for_a_segment_is_not_final)
{
    static uint8_t value[100 << 10]; /* more than the first segment takes */
    unsigned taken_back = 0;

    for (uint64_t n = 1;; n++) {
        file_bed_end(&bed);
        file_bed_start(&bed);
        SapEnv *db = file_bed_open(&bed);
        put(db, "a");
        fault_reset();
        fault_arm_io(n, EACCES);
        int rc = file_bed_put(db, "b", value, sizeof value);
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT(rc == SAP_OK || rc == SAP_FULL || rc == SAP_IO, "put answered %d", rc);
        if (rc == SAP_FULL) {
            taken_back++;
            file_bed_expect_message(&bed, "Permission denied");
            put(db, "c");
            EXPECT_RC(sap_db_sync(db), SAP_OK);
        }
        int closed = sap_db_close(db);
        EXPECT(closed == SAP_OK || rc == SAP_IO, "close answered %d", closed);
        if (rc == SAP_FULL) {
            expect_keys("a", "c");
            expect_alone();
        }
        if (!fired) {
            break;
        }
    }
    ck_assert_uint_gt(taken_back, 0);
}
END_TEST
#endif

static unsigned count_files(void)
{
    DIR *dir = opendir(bed.dir);
    unsigned count = 0;

    ck_assert_ptr_nonnull(dir);
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

START_TEST(discarded_database_that_was_made_and_never_used_leaves_nothing)
{
    SapTxnCtx *txn = NULL;
    SapEnv *db = file_bed_open(&bed);

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "k", 1, "v", 1), SAP_OK);
    ck_assert_int_eq(env_discard(db), SAP_BUSY); /* and it is as it was */
    sap_txn_abort(txn);
    ck_assert_int_eq(env_discard(db), SAP_OK);
    ck_assert_uint_eq(count_files(), 0);
}
END_TEST

START_TEST(discarding_removes_no_database_that_anybody_committed_to)
{
    SapEnv *db = file_bed_open(&bed);

    put(db, "a");
    ck_assert_int_eq(env_discard(db), SAP_OK);
    expect_keys("a", "a");
    expect_alone();
    ck_assert_int_eq(unlink(bed.path), 0);
    db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, 5, NULL, NULL, 0), SAP_OK); /* a table is something, too */
    ck_assert_int_eq(env_discard(db), SAP_OK);
    expect_alone();
    ck_assert_int_eq(unlink(bed.path), 0);
    /* Made and closed before: it is its maker's, though nothing is in it. */
    file_bed_close(file_bed_open(&bed));
    ck_assert_int_eq(env_discard(file_bed_open(&bed)), SAP_OK);
    expect_alone();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_file_closed");
    TCase *tcase = tcase_create("closed");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, closed_database_is_one_file);
    tcase_add_test(tcase, closed_database_can_be_copied_and_moved);
#if SAP_FAULTS
    tcase_add_test(tcase, opening_a_closed_file_and_reading_it_writes_nothing);
    tcase_add_test(tcase, closed_header_that_follows_another_is_on_disk_before_it_is_read);
    tcase_add_test(tcase, lock_counts_only_on_the_file_that_has_the_name);
#endif
    tcase_add_test(tcase, log_lost_after_the_file_was_closed_and_opened_again_is_noticed);
    tcase_add_test(tcase, log_newer_than_the_newest_intact_header_is_refused);
    tcase_add_test(tcase, older_copy_beside_the_log_of_the_newer_file_is_refused);
    tcase_add_test(tcase, log_from_before_the_closing_is_removed_without_a_word);
    tcase_add_test(tcase, log_without_its_data_file_is_named);
    tcase_add_test(tcase, small_database_takes_little_room);
    tcase_add_test(tcase, log_grows_to_full_segments_and_shrinks_again);
    tcase_add_test(tcase, lock_file_is_removed_by_the_last_one);
    tcase_add_test(tcase, discarded_database_that_was_made_and_never_used_leaves_nothing);
    tcase_add_test(tcase, discarding_removes_no_database_that_anybody_committed_to);
    tcase_add_test(tcase, file_made_in_place_of_an_open_one_is_left_alone);
    tcase_add_test(tcase, closing_leaves_a_file_alone_that_has_the_name_now);
    tcase_add_test(tcase, commit_to_a_removed_file_is_not_acknowledged);
    tcase_add_test(tcase, asynchronous_commit_to_a_removed_file_never_becomes_durable);
#ifndef __wasi__
    tcase_add_test(tcase, file_that_keeps_another_name_can_be_committed_to);
    tcase_add_test(tcase, want_of_descriptors_is_not_final);
#endif
#if SAP_FAULTS
    tcase_add_test(tcase, want_of_permission_for_a_segment_is_not_final);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
