/* Databases and the process around them: standard descriptors that are closed, and fork(). */
#include "common/config.h"
#include "common/fd.h"
#include "sapling/queue.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "support/tx.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_S = 60 };

static FileBed bed;

static void set_up(void)
{
    file_bed_start_small(&bed);
}

static void tear_down(void)
{
    file_bed_end_clean(&bed);
}

/* ---- Standard descriptors ------------------------------------------------------------------- */

/* What a careless program does that knows nothing of its closed descriptors. */
static void print_garbage(void)
{
    static const char garbage[] = "garbage garbage garbage garbage";
    for (int fd = 0; fd < FD_FIRST; fd++) {
        if (pwrite(fd, garbage, sizeof garbage, 0) != -1 || errno != EBADF) {
            abort();
        }
    }
}

static void use_without_standard_descriptors(void *unused)
{
    char copy[FILES_PATH_MAX + 8];

    (void)unused;
    for (int fd = 0; fd < FD_FIRST; fd++) {
        close(fd);
    }
    SapEnv *db = file_bed_open(&bed);
    print_garbage();
    tx_db_set(db, 0, "a", "1");
    print_garbage();
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    tx_db_set(db, 0, "b", "2");
    (void)snprintf(copy, sizeof copy, "%s.copy", bed.path);
    EXPECT_RC(sap_db_compact(db, copy), SAP_OK);
    print_garbage();
    file_bed_close(db);
    print_garbage();
}

START_TEST(no_file_of_a_database_is_on_a_standard_descriptor)
{
    files_in_child(use_without_standard_descriptors, NULL);
    SapEnv *db = file_bed_open(&bed);
    tx_db_expect_row(db, 0, "a", "1");
    tx_db_expect_row(db, 0, "b", "2");
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    file_bed_close(db);
}
END_TEST

/* ---- fork() --------------------------------------------------------------------------------- */

static void ignore_change(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                          void *ctx)
{
    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    (void)ctx;
}

static int ignore_reader(const SapReaderInfo *info, void *ctx)
{
    (void)info;
    (void)ctx;
    return SAP_OK;
}

static int ignore_bytes(const void *bytes, uint32_t len, void *ctx)
{
    (void)bytes;
    (void)len;
    (void)ctx;
    return SAP_OK;
}

static int no_bytes(void *bytes, uint32_t len, void *ctx)
{
    (void)bytes;
    (void)len;
    (void)ctx;
    return SAP_ERROR;
}

/* What a child inherits. */
typedef struct Inherited {
    SapEnv *db;
    SapTxnCtx *writer; /* NULL: none is open */
    SapTxnCtx *reader;
    SapCursor *cursor; /* of the reader, on a row */
} Inherited;

static void expect_db_refused(SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    SapStat stat;
    SapDbiInfo info;
    char copy[FILES_PATH_MAX + 8];

    (void)snprintf(copy, sizeof copy, "%s.copy", bed.path);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_ERROR);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_ERROR);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_ERROR);
    EXPECT(sap_txn_begin(db, NULL, SAP_TXN_RDONLY) == NULL, "a reader began");
    EXPECT_RC(sap_db_stat(db, &stat), SAP_ERROR);
    EXPECT_RC(sap_db_sync(db), SAP_ERROR);
    EXPECT_RC(sap_db_wait_durable(db, 1), SAP_ERROR);
    EXPECT(sap_db_durable_lsn(db) == 0, "it knows what is durable");
    EXPECT(sap_db_num_pages(db) == 0, "it counts pages");
    EXPECT_RC(sap_db_readers(db, ignore_reader, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_checkpoint(db, ignore_bytes, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_restore(db, no_bytes, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_backup(db, ignore_bytes, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_compact(db, copy), SAP_ERROR);
    EXPECT(access(copy, F_OK) != 0, "there is a copy");
    EXPECT_RC(sap_db_watch(db, "x", 1, ignore_change, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_unwatch(db, "a", 1, ignore_change, NULL), SAP_ERROR);
    EXPECT_RC(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_ERROR);
    EXPECT_RC(sap_dbi_open(db, 7, NULL, NULL, 0), SAP_ERROR);
    EXPECT_RC(sap_dbi_open_named(db, 8, NULL, 0), SAP_ERROR);
    EXPECT_RC(sap_dbi_set_dupsort(db, 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_dbi_info(db, 1, &info), SAP_ERROR);
    EXPECT(sap_env_get_arena(db) == NULL && sap_env_get_page_size(db) == 0, "it has pages");
}

static void expect_txn_refused(SapEnv *db, SapTxnCtx *txn)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint64_t count = 0;
    SapTxnCtx *child = NULL;

    EXPECT_RC(sap_txn_get(txn, "a", 1, &val, &len), SAP_ERROR);
    EXPECT_RC(sap_txn_put(txn, "c", 1, "3", 1), SAP_ERROR);
    EXPECT_RC(sap_txn_del(txn, "a", 1), SAP_ERROR);
    EXPECT_RC(sap_txn_count_range(txn, 0, NULL, 0, NULL, 0, &count), SAP_ERROR);
    EXPECT_RC(sap_txn_begin_rc(db, txn, SAP_TXN_RDONLY, &child), SAP_ERROR);
    EXPECT_RC(sap_txn_checkpoint(txn, ignore_bytes, NULL), SAP_ERROR);
    EXPECT(sap_cursor_open(txn) == NULL, "a cursor was opened");
    EXPECT(sap_txn_scratch_alloc(txn, 8) == NULL, "there was memory");
    EXPECT(sap_txn_env(txn) == NULL && sap_txn_arena(txn) == NULL, "it has an environment");
    EXPECT_RC(sap_txn_commit(txn), SAP_ERROR);
    EXPECT_RC(sap_txn_commit_async(txn, NULL), SAP_ERROR);
    sap_txn_abort(txn);
}

static void use_inherited(void *arg)
{
    const Inherited *has = (const Inherited *)arg;
    const void *key = NULL;
    uint32_t len = 0;

    expect_db_refused(has->db);
    expect_txn_refused(has->db, has->reader);
    if (has->writer != NULL) {
        expect_txn_refused(has->db, has->writer);
    }
    EXPECT_RC(sap_cursor_next(has->cursor), SAP_ERROR);
    EXPECT_RC(sap_cursor_get(has->cursor, &key, &len, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_cursor_del(has->cursor), SAP_ERROR);
    EXPECT_RC(sap_cursor_renew(has->cursor, has->reader), SAP_ERROR);
    sap_cursor_close(has->cursor);
    /* Whatever is open. */
    EXPECT_RC(sap_db_close(has->db), SAP_OK);
    EXPECT_RC(sap_txn_commit(has->reader), SAP_ERROR);
    EXPECT_RC(sap_db_close(has->db), SAP_OK);
}

START_TEST(in_another_process_every_call_is_an_error_and_changes_nothing)
{
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_db_watch(db, "a", 1, ignore_change, NULL), SAP_OK);
    tx_db_set(db, 0, "a", "1");
    Inherited has = {.db = db};
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &has.reader), SAP_OK);
    has.cursor = sap_cursor_open(has.reader);
    EXPECT_RC(sap_cursor_first(has.cursor), SAP_OK);
    for (int writing = 0; writing < 2; writing++) {
        if (writing != 0) {
            EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &has.writer), SAP_OK);
            EXPECT_RC(sap_txn_put(has.writer, "b", 1, "2", 1), SAP_OK);
        }
        Image *before = image_take(bed.dir);
        files_in_child(use_inherited, &has);
        image_expect_same(before, bed.dir);
        image_free(before);
    }
    /* Here everything goes on. */
    EXPECT_RC(sap_txn_commit(has.writer), SAP_OK);
    EXPECT_RC(sap_cursor_next(has.cursor), SAP_NOTFOUND);
    sap_cursor_close(has.cursor);
    sap_txn_abort(has.reader);
    tx_db_expect_row(db, 0, "b", "2");
    file_bed_close(db);
    db = file_bed_open(&bed);
    tx_db_expect_row(db, 0, "a", "1");
    tx_db_expect_row(db, 0, "b", "2");
    tx_db_expect_row(db, 0, "c", NULL);
    file_bed_close(db);
}
END_TEST

static void close_inherited(void *arg)
{
    EXPECT_RC(sap_db_close((SapEnv *)arg), SAP_OK);
}

static void expect_busy(void *unused)
{
    SapEnv *db = NULL;

    (void)unused;
    EXPECT_RC(file_bed_try(&bed, &db), SAP_BUSY);
    file_bed_expect_message(&bed, "open already, by process");
}

/* Descriptors of this process that are open on a file whose path begins with `path`. */
static unsigned descriptors_of(const char *path)
{
    DIR *dir = opendir("/proc/self/fd");
    unsigned count = 0;

    EXPECT(dir != NULL, "no /proc/self/fd");
    for (const struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir)) {
        char target[FILES_PATH_MAX + 64] = "";
        if (readlinkat(dirfd(dir), entry->d_name, target, sizeof target - 1) > 0 &&
            strncmp(target, path, strlen(path)) == 0) {
            count++;
        }
    }
    closedir(dir);
    return count;
}

static void close_inherited_db(void *db)
{
    EXPECT(descriptors_of(bed.path) >= 3, "data, lock and log were open");
    EXPECT_RC(sap_db_close((SapEnv *)db), SAP_OK);
    EXPECT(descriptors_of(bed.path) == 0, "%u are open", descriptors_of(bed.path));
}

static void close_inherited_queue(void *queue)
{
    EXPECT(descriptors_of(bed.path) >= 3, "data, lock and log were open");
    EXPECT_RC(sap_queue_close((SapQueue *)queue), SAP_OK);
    EXPECT(descriptors_of(bed.path) == 0, "%u are open", descriptors_of(bed.path));
}

START_TEST(closing_in_another_process_leaves_no_descriptor_open_there)
{
    SapEnv *db = file_bed_open(&bed);
    tx_db_set(db, 0, "a", "1");
    files_in_child(close_inherited_db, db);
    EXPECT_RC(sap_db_sync(db), SAP_OK); /* another segment, and one that is made ready */
    tx_db_set(db, 0, "b", "2");
    files_in_child(close_inherited_db, db);
    tx_db_set(db, 0, "c", "3");
    file_bed_close(db);
    SapQueueOptions options = {.size = sizeof options, .file = &bed.options};
    SapQueue *queue = NULL;
    EXPECT_RC(sap_queue_open(bed.path, &options, &queue), SAP_OK);
    EXPECT_RC(sap_queue_push(queue, "x", 1, NULL, NULL), SAP_OK);
    files_in_child(close_inherited_queue, queue);
    EXPECT_RC(sap_queue_push(queue, "y", 1, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
}
END_TEST

START_TEST(closing_in_another_process_leaves_the_file_locked)
{
    SapEnv *db = file_bed_open(&bed);
    files_in_child(close_inherited, db);
    files_in_child(expect_busy, NULL);
    tx_db_set(db, 0, "a", "1");
    file_bed_close(db);
}
END_TEST

/* For a fork() after an open. Under a sanitizer a thread that begins allocates: a child that is made at
 * that instant has the sanitizer's allocator locked for ever. */
static void let_thread_begin(void)
{
    if (SAP_SANITIZED) {
        (void)nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
}

/* What a child does when the parent has closed the file and opened it again. */
static int pipes[2];

static void open_when_told(void *arg)
{
    char byte;

    (void)arg;
    EXPECT(read(pipes[0], &byte, 1) == 1, "nobody said so");
    /* The handle of the parent is still here, with its descriptors. */
    SapEnv *db = file_bed_open(&bed);
    tx_db_expect_row(db, 0, "a", "1");
    tx_db_set(db, 0, "b", "2");
    file_bed_close(db);
}

START_TEST(a_child_keeps_nobody_from_opening_a_file_that_its_parent_closed)
{
    SapEnv *db = file_bed_open(&bed);
    EXPECT(pipe(pipes) == 0, "no pipe");
    fflush(NULL);
    let_thread_begin();
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        open_when_told(NULL);
        _exit(0);
    }
    tx_db_set(db, 0, "a", "1");
    file_bed_close(db);
    db = file_bed_open(&bed);
    file_bed_close(db);
    EXPECT(write(pipes[1], "x", 1) == 1, "it cannot be told");
    int status = 0;
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0, "the child failed: %d", status);
    close(pipes[0]);
    close(pipes[1]);
    db = file_bed_open(&bed);
    tx_db_expect_row(db, 0, "b", "2");
    file_bed_close(db);
}
END_TEST

static void use_copy(void *arg)
{
    SapEnv *db = (SapEnv *)arg;

    tx_db_expect_row(db, 0, "a", "1");
    tx_db_set(db, 0, "a", "2");
    tx_db_expect_row(db, 0, "a", "2");
    EXPECT_RC(sap_db_close(db), SAP_OK);
}

START_TEST(a_db_in_memory_is_copied_and_both_copies_go_on)
{
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    tx_db_set(db, 0, "a", "1");
    files_in_child(use_copy, db);
    tx_db_expect_row(db, 0, "a", "1");
    EXPECT_RC(sap_db_close(db), SAP_OK);
}
END_TEST

static void refuse_shared(void *arg)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc((SapEnv *)arg, NULL, 0, &txn), SAP_ERROR);
    EXPECT_RC(sap_db_close((SapEnv *)arg), SAP_OK);
}

START_TEST(a_db_in_an_arena_over_a_file_stays_its_openers)
{
    int fd = open(bed.path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    SapArenaOptions options = {
        .type = SAP_ARENA_BACKING_MMAP, .page_size = 4096, .cfg.mmap = {fd, 1 << 20}};
    SapMemArena *arena = NULL;
    EXPECT_RC(sap_arena_init(&arena, &options), SAP_OK);
    SapEnv *db = sap_db_open(arena, 0, NULL, NULL);
    tx_db_set(db, 0, "a", "1");
    files_in_child(refuse_shared, db);
    tx_db_set(db, 0, "b", "2");
    tx_db_expect_row(db, 0, "a", "1");
    EXPECT_RC(sap_db_close(db), SAP_OK);
    sap_arena_destroy(arena);
    close(fd);
}
END_TEST

static void use_own(void *arg)
{
    (void)arg;
    SapEnv *db = file_bed_open(&bed);
    tx_db_set(db, 0, "a", "1");
    file_bed_close(db);
}

START_TEST(a_child_has_files_of_its_own)
{
    char path[FILES_PATH_MAX + 8];
    SapEnv *other = NULL;

    (void)snprintf(path, sizeof path, "%s.other", bed.path);
    EXPECT_RC(sap_db_open_path(path, NULL, &other), SAP_OK);
    let_thread_begin();
    files_in_child(use_own, NULL);
    EXPECT_RC(sap_db_close(other), SAP_OK);
    SapEnv *db = file_bed_open(&bed);
    tx_db_expect_row(db, 0, "a", "1");
    file_bed_close(db);
}
END_TEST

/* ---- Who may use the files ------------------------------------------------------------------ */

enum { NOBODY = 65534 };

static void expect_like(const char *name, mode_t mode, uid_t uid)
{
    char path[FILES_PATH_MAX + 64];
    struct stat st;

    (void)snprintf(path, sizeof path, "%s/%s", bed.dir, name);
    EXPECT(stat(path, &st) == 0, "there is no %s", name);
    EXPECT((st.st_mode & 0777) == mode, "%s has mode %o", name, (unsigned)st.st_mode & 0777);
    EXPECT(st.st_uid == uid, "%s is of user %u", name, (unsigned)st.st_uid);
}

/* All files whose name begins so, of which there are at least so many. */
static void expect_all_like(const char *prefix, mode_t mode, uid_t uid, int least)
{
    DIR *dir = opendir(bed.dir);
    int seen = 0;

    EXPECT(dir != NULL, "no directory");
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            expect_like(entry->d_name, mode, uid);
            seen++;
        }
    }
    closedir(dir);
    EXPECT(seen >= least, "only %d files", seen);
}

START_TEST(a_new_database_has_the_permissions_that_the_umask_leaves)
{
    mode_t before = umask(007);
    SapEnv *db = file_bed_open(&bed);
    tx_db_set(db, 0, "a", "1");
    expect_all_like("db", 0660, geteuid(), 3);
    file_bed_close(db);
    umask(before);
}
END_TEST

START_TEST(what_lies_beside_a_data_file_has_its_owner_and_permissions)
{
    char copy[FILES_PATH_MAX + 8];
    uid_t uid = geteuid() == 0 ? NOBODY : geteuid();
    SapEnv *db = file_bed_open(&bed);
    (void)snprintf(copy, sizeof copy, "%s.copy", bed.path);
    EXPECT(chmod(bed.path, 0640) == 0 && (geteuid() != 0 || chown(bed.path, uid, uid) == 0),
           "it cannot be given away");
    EXPECT_RC(sap_db_compact(db, copy), SAP_OK);
    file_bed_close(db);
    expect_like("db.copy", 0640, uid);
    SapEnv *copied = NULL;
    SapOpenOptions options = {.checkpoint_bytes = 4 << 20};
    EXPECT_RC(sap_db_open_path(copy, &options, &copied), SAP_OK);
    tx_db_set(copied, 0, "b", "2");
    expect_all_like("db.copy", 0640, uid, 3);
    EXPECT_RC(sap_db_close(copied), SAP_OK);
}
END_TEST

static void become_nobody(void)
{
    EXPECT(geteuid() != 0 || seteuid(NOBODY) == 0, "cannot become another user");
}

static void open_without_a_directory(void *arg)
{
    SapEnv *db = NULL;

    (void)arg;
    become_nobody();
    EXPECT_RC(file_bed_try(&bed, &db), SAP_IO);
    file_bed_expect_message(&bed, "db-wal.*: Permission denied");
    bed.options.flags = SAP_OPEN_RDONLY;
    db = file_bed_open(&bed);
    tx_db_expect_row(db, 0, "a", "1");
    file_bed_close(db);
}

START_TEST(a_directory_that_cannot_be_written_is_refused_before_anything_is_done)
{
    char lock[FILES_PATH_MAX + 8];
    SapEnv *db = file_bed_open(&bed);

    tx_db_set(db, 0, "a", "1");
    file_bed_close(db);
    /* Left by somebody: without it, nobody gets so far. */
    (void)snprintf(lock, sizeof lock, "%s-lock", bed.path);
    FILE *file = fopen(lock, "w");
    EXPECT(file != NULL && fclose(file) == 0, "no lock file");
    EXPECT(chmod(lock, 0666) == 0 && chmod(bed.path, 0666) == 0 && chmod(bed.dir, 0555) == 0,
           "no permissions");
    Image *before = image_take(bed.dir);
    files_in_child(open_without_a_directory, NULL);
    image_expect_same(before, bed.dir);
    image_free(before);
    EXPECT(chmod(bed.dir, 0755) == 0, "no permissions");
}
END_TEST

static void leave_a_log(void *arg)
{
    (void)arg;
    tx_db_set(file_bed_open(&bed), 0, "a", "1"); /* and no close */
}

static void open_with_a_log_of_others(void *arg)
{
    SapEnv *db = NULL;

    (void)arg;
    become_nobody();
    EXPECT_RC(file_bed_try(&bed, &db), SAP_IO);
    file_bed_expect_message(&bed, "db-wal.0000000000000001: Permission denied");
}

static void commit_without_a_directory(void *arg)
{
    SapTxnCtx *txn = NULL;

    (void)arg;
    EXPECT(geteuid() != 0 || chown(bed.dir, NOBODY, NOBODY) == 0, "it cannot be given away");
    become_nobody();
    SapEnv *db = file_bed_open(&bed);
    EXPECT(chmod(bed.dir, 0555) == 0, "no permissions");
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "b", 1, "2", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_FULL);
    file_bed_expect_message(&bed, "db-wal.0000000000000001: Permission denied");
    EXPECT(chmod(bed.dir, 0777) == 0, "no permissions");
    tx_db_set(db, 0, "b", "2"); /* nothing was written: the DB goes on */
    tx_db_expect_row(db, 0, "b", "2");
    file_bed_close(db);
}

static void for_each_segment(int (*change)(const char *path))
{
    char path[FILES_PATH_MAX + 300];
    DIR *dir = opendir(bed.dir);
    int seen = 0;

    EXPECT(dir != NULL, "no directory");
    for (const struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        if (strncmp(entry->d_name, "db-wal.", 7) == 0) {
            (void)snprintf(path, sizeof path, "%s/%s", bed.dir, entry->d_name);
            EXPECT(change(path) == 0, "%s cannot be changed", path);
            seen++;
        }
    }
    closedir(dir);
    EXPECT(seen > 0, "there is no log");
}

static int forbid(const char *path)
{
    return chmod(path, 0);
}

START_TEST(a_log_that_cannot_be_used_is_named)
{
    char lock[FILES_PATH_MAX + 8];

    files_in_child(leave_a_log, NULL);
    for_each_segment(forbid);
    (void)snprintf(lock, sizeof lock, "%s-lock", bed.path);
    EXPECT(chmod(lock, 0666) == 0 && chmod(bed.path, 0666) == 0 && chmod(bed.dir, 0777) == 0,
           "no permissions");
    files_in_child(open_with_a_log_of_others, NULL);
    for_each_segment(unlink);
    EXPECT(unlink(bed.path) == 0, "it cannot be removed");
    files_in_child(commit_without_a_directory, NULL);
}
END_TEST

/* ---- What is not a database, and why it did not open ---------------------------------------- */

START_TEST(nothing_is_left_beside_a_file_that_is_not_a_database)
{
    static const char text[] = "root:x:0:0:root:/root:/bin/sh\n";
    SapEnv *db = NULL;
    FILE *file = fopen(bed.path, "w");

    for (int i = 0; i < 2000; i++) {
        fputs(text, file);
    }
    fclose(file);
    Image *before = image_take(bed.dir);
    EXPECT_RC(file_bed_try(&bed, &db), SAP_INVALID);
    file_bed_expect_message(&bed, "not a Sapling database");
    bed.options.flags = SAP_OPEN_RDONLY;
    EXPECT_RC(file_bed_try(&bed, &db), SAP_INVALID);
    image_expect_same(before, bed.dir);
    image_free(before);
    char lock[FILES_PATH_MAX + 8];
    (void)snprintf(lock, sizeof lock, "%s-lock", bed.path);
    EXPECT(access(lock, F_OK) != 0, "there is a lock file");
}
END_TEST

START_TEST(a_failed_open_says_why_to_its_thread_without_a_callback)
{
    SapOpenOptions options = {.flags = 0};
    SapEnv *db = NULL;
    SapEnv *second = NULL;

    EXPECT_RC(sap_db_open_path(bed.path, &options, &db), SAP_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(sap_open_error(), bed.path));
    ck_assert_ptr_nonnull(strstr(sap_open_error(), "no such database"));
    EXPECT_RC(sap_db_open_path(bed.path, NULL, &db), SAP_OK);
    ck_assert_str_eq(sap_open_error(), "");
    EXPECT_RC(sap_db_open_path(bed.path, NULL, &second), SAP_BUSY);
    ck_assert_ptr_nonnull(strstr(sap_open_error(), "open already"));
    EXPECT_RC(sap_db_open_path(NULL, NULL, &second), SAP_ERROR);
    ck_assert_ptr_nonnull(strstr(sap_open_error(), "path"));
    EXPECT_RC(sap_db_close(db), SAP_OK);
    SapQueue *queue = NULL;
    EXPECT_RC(sap_queue_open("/nowhere/at/all", NULL, &queue), SAP_NOTFOUND);
    ck_assert_ptr_nonnull(strstr(sap_open_error(), "/nowhere/at/all"));
    EXPECT_RC(sap_queue_open_db(NULL, NULL, &queue), SAP_ERROR);
    ck_assert_str_ne(sap_open_error(), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/process");
    TCase *tcase = tcase_create("process");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, no_file_of_a_database_is_on_a_standard_descriptor);
    tcase_add_test(tcase, in_another_process_every_call_is_an_error_and_changes_nothing);
    tcase_add_test(tcase, closing_in_another_process_leaves_the_file_locked);
    tcase_add_test(tcase, closing_in_another_process_leaves_no_descriptor_open_there);
    tcase_add_test(tcase, a_child_keeps_nobody_from_opening_a_file_that_its_parent_closed);
    tcase_add_test(tcase, a_db_in_memory_is_copied_and_both_copies_go_on);
    tcase_add_test(tcase, a_db_in_an_arena_over_a_file_stays_its_openers);
    tcase_add_test(tcase, a_child_has_files_of_its_own);
    tcase_add_test(tcase, a_new_database_has_the_permissions_that_the_umask_leaves);
    tcase_add_test(tcase, what_lies_beside_a_data_file_has_its_owner_and_permissions);
    tcase_add_test(tcase, a_directory_that_cannot_be_written_is_refused_before_anything_is_done);
    tcase_add_test(tcase, a_log_that_cannot_be_used_is_named);
    tcase_add_test(tcase, nothing_is_left_beside_a_file_that_is_not_a_database);
    tcase_add_test(tcase, a_failed_open_says_why_to_its_thread_without_a_callback);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
