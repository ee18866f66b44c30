/* A full disk under a file whose blocks are not its own: it has holes, it is a copy or was copied where
 * copies share blocks, or its file system writes every block to a new place. Nothing can be overwritten
 * there without room. Every call returns SAP_OK or SAP_FULL, with a text that has the system's words and
 * says what to do; reading goes on; and when there is room again, so does the same handle. */
#include "common/bytes.h"
#include "common/config.h"
#include "sapling/queue.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/loop_disk.h"
#include "support/model.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { TIMEOUT_S = 120, MESSAGES = 24, TRIES = 6, ROW_TABLE = 20, ROWS = 200 };

/* `copy` makes the directory %2$s of %1$s, in which the queue lies. */
typedef struct Case {
    const char *name;
    LoopKind kind;
    const char *copy;
    bool original; /* the test goes on with the file that was copied */
} Case;

#define COPY_BY(options) "cp -r " options " %1$s %2$s"

static const Case cases[] = {
    {"ext4, a sparse copy", LOOP_EXT4, COPY_BY("--sparse=always"), false},
    {"ext4, a plain copy", LOOP_EXT4, COPY_BY("--sparse=never"), false},
    {"ext4, holes in the file itself", LOOP_EXT4, "fallocate -d %1$s/db; mkdir %2$s", true},
    {"xfs, a copy", LOOP_XFS, COPY_BY("--reflink=always"), false},
    {"xfs, the original of a copy", LOOP_XFS, COPY_BY("--reflink=always"), true},
    {"btrfs, a copy", LOOP_BTRFS, COPY_BY("--reflink=never"), false},
    {"btrfs, the original in a snapshot", LOOP_BTRFS,
     "btrfs subvolume snapshot $(dirname %1$s) %2$s >/dev/null", true},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* What outlives the children. */
typedef struct Shared {
    atomic_uint full;    /* calls that found no room, opening included */
    atomic_uint acked;   /* messages, the first ones */
    atomic_uint pushed;  /* beyond MESSAGES */
    atomic_uint loaded;  /* rows, by bulk transactions */
    atomic_uint deleted; /* of them, the first ones */
} Shared;

typedef struct Run {
    const Case *of;
    bool killed; /* the file was not closed before it was copied */
    LoopDisk disk;
    FileBed bed;
    Shared *shared;
} Run;

static void expect_says_what_to_do(const char *text)
{
    EXPECT(strstr(text, "No space left on device") != NULL, "no words of the system: %s", text);
    EXPECT(strstr(text, "free some disk space") != NULL, "nothing to do: %s", text);
}

/* Whether there was room. */
static bool had_room(Run *run, int rc, const char *what)
{
    EXPECT(rc == SAP_OK || rc == SAP_FULL, "%s: %s returned %d: %s", run->of->name, what, rc,
           run->bed.message);
    if (rc == SAP_FULL) {
        atomic_fetch_add(&run->shared->full, 1);
    }
    return rc == SAP_OK;
}

static int push_one(SapQueue *queue, uint32_t number)
{
    uint8_t payload[4];

    store_u32be(payload, number);
    return sap_queue_push(queue, payload, sizeof payload, NULL, NULL);
}

static int load_rows(Run *run, SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    uint32_t first = atomic_load(&run->shared->loaded);
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT | SAP_TXN_BULK, &txn);

    for (uint32_t row = first; rc == SAP_OK && row < first + ROWS; row++) {
        uint8_t key[4];
        uint8_t val[100] = {1};
        store_u32be(key, row);
        rc = sap_txn_put_dbi(txn, ROW_TABLE, key, sizeof key, val, sizeof val);
    }
    if (rc == SAP_OK) {
        rc = sap_txn_commit(txn);
    } else {
        sap_txn_abort(txn);
    }
    if (rc == SAP_OK) {
        atomic_fetch_add(&run->shared->loaded, ROWS);
    }
    return rc;
}

static int delete_row(Run *run, SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    uint8_t key[4];
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn);

    store_u32be(key, atomic_load(&run->shared->deleted));
    rc = rc == SAP_OK ? sap_txn_del_dbi(txn, ROW_TABLE, key, sizeof key) : rc;
    if (rc == SAP_OK) {
        rc = sap_txn_commit(txn);
    } else {
        sap_txn_abort(txn);
    }
    if (rc == SAP_OK) {
        atomic_fetch_add(&run->shared->deleted, 1);
    }
    return rc;
}

static void make_queue(void *arg)
{
    Run *run = arg;
    SapEnv *db = file_bed_open(&run->bed);
    SapQueue *queue = NULL;

    EXPECT_RC(sap_queue_open_db(db, NULL, &queue), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, ROW_TABLE, NULL, NULL, 0), SAP_OK);
    for (uint32_t i = 0; i < MESSAGES; i++) {
        EXPECT_RC(push_one(queue, i), SAP_OK);
    }
    EXPECT_RC(load_rows(run, db), SAP_OK);
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
    if (!run->killed) {
        file_bed_close(db);
    }
}

static int take_one(Run *run, SapQueue *queue)
{
    SapQueueMessage *message = NULL;
    int rc = sap_queue_claim(queue, 0, 0, &message);

    if (rc != SAP_OK) {
        return rc;
    }
    EXPECT(load_u32be(message->payload) == atomic_load(&run->shared->acked), "not the first one");
    rc = sap_queue_ack(queue, message);
    if (rc == SAP_OK) {
        atomic_fetch_add(&run->shared->acked, 1);
    } else {
        EXPECT_RC(rc, SAP_FULL); /* it is claimed still: gives it back when there is room */
        sap_queue_release(queue, message);
    }
    return rc;
}

static void expect_content(Run *run, SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    uint64_t rows = 0;
    uint64_t there = atomic_load(&run->shared->loaded) - atomic_load(&run->shared->deleted);

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_txn_count_range(txn, ROW_TABLE, NULL, 0, NULL, 0, &rows), SAP_OK);
    sap_txn_abort(txn);
    EXPECT(rows == there, "%s: %u rows instead of %u", run->of->name, (unsigned)rows,
           (unsigned)there);
}

/* Deletes, pops and acknowledgements may find room that is kept for them; the rest finds none. */
static void use_rows(Run *run, SapEnv *db)
{
    (void)file_bed_messages(&run->bed);
    if (!had_room(run, delete_row(run, db), "a delete")) {
        file_bed_expect_message(&run->bed, "");
        expect_says_what_to_do(run->bed.message);
    }
    for (uint32_t i = 0; i < TRIES; i++) {
        (void)had_room(run, load_rows(run, db), "a bulk transaction");
        (void)had_room(run, delete_row(run, db), "a delete");
        (void)had_room(run, sap_db_sync(db), "sync");
        expect_content(run, db);
    }
}

static void use_queue(Run *run, SapEnv *db)
{
    SapQueue *queue = NULL;

    if (!had_room(run, sap_queue_open_db(db, NULL, &queue), "opening a queue")) {
        expect_says_what_to_do(sap_open_error());
        return;
    }
    for (uint32_t i = 0; i < TRIES; i++) {
        (void)had_room(run, take_one(run, queue), "taking a message");
        if (had_room(run, push_one(queue, MESSAGES + atomic_load(&run->shared->pushed)), "push")) {
            atomic_fetch_add(&run->shared->pushed, 1);
        }
    }
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
}

/* The file is closed, or left open, while the disk is full. */
static void leave_on_full_disk(void *arg)
{
    Run *run = arg;
    SapEnv *db = NULL;

    if (!had_room(run, file_bed_try(&run->bed, &db), "open")) {
        expect_says_what_to_do(sap_open_error());
        return;
    }
    use_rows(run, db);
    use_queue(run, db);
    if (!run->killed) {
        (void)had_room(run, sap_db_close(db), "close");
    }
}

/* The same handle goes on when there is room. */
static void use_until_room(void *arg)
{
    Run *run = arg;
    SapEnv *db = NULL;
    SapQueue *queue = NULL;

    if (!had_room(run, file_bed_try(&run->bed, &db), "open")) {
        expect_says_what_to_do(sap_open_error());
        return;
    }
    use_rows(run, db);
    use_queue(run, db);
    loop_disk_unfill(&run->disk);
    EXPECT_RC(delete_row(run, db), SAP_OK);
    EXPECT_RC(load_rows(run, db), SAP_OK);
    expect_content(run, db);
    EXPECT_RC(sap_queue_open_db(db, NULL, &queue), SAP_OK);
    EXPECT_RC(take_one(run, queue), SAP_OK);
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
    file_bed_close(db);
}

static void expect_all_there(Run *run)
{
    SapEnv *db = file_bed_open(&run->bed);
    SapQueue *queue = NULL;
    SapQueueStat stat = {0};
    uint64_t left = MESSAGES + atomic_load(&run->shared->pushed) - atomic_load(&run->shared->acked);

    expect_content(run, db);
    EXPECT_RC(sap_queue_open_db(db, NULL, &queue), SAP_OK);
    EXPECT_RC(sap_queue_stat(queue, &stat), SAP_OK);
    EXPECT(stat.ready + stat.leased == left, "%s: %u messages instead of %u", run->of->name,
           (unsigned)(stat.ready + stat.leased), (unsigned)left);
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
    model_expect_verified(db);
    file_bed_close(db);
}

static bool child_lives(Run *run, void (*fn)(void *arg))
{
    int status = files_run_child(fn, run);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(file_whose_blocks_are_not_its_own_is_full_and_not_broken)
{
    Run run = {.of = &cases[_i / 2], .killed = _i % 2 != 0};
    char copy[FILES_DIR_MAX + 8];
    char command[4 * FILES_PATH_MAX];

    if (!loop_disk_start(&run.disk, run.of->kind)) {
        return;
    }
    file_bed_start(&run.bed);
    run.shared =
        mmap(NULL, sizeof *run.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(run.shared != MAP_FAILED, "no memory");
    files_in_child(make_queue, &run);
    snprintf(copy, sizeof copy, "%s-copy", run.bed.dir);
    snprintf(command, sizeof command, run.of->copy, run.bed.dir, copy); // NOLINT: one of `cases`
    loop_disk_run("%s && sync -f %s", command, run.disk.mount);
    if (!run.of->original) {
        snprintf(run.bed.path, sizeof run.bed.path, "%s/db", copy);
    }
    loop_disk_fill(&run.disk);
    bool lives = child_lives(&run, leave_on_full_disk);
    if (lives) {
        loop_disk_fill(&run.disk);
        lives = child_lives(&run, use_until_room);
    }
    loop_disk_unfill(&run.disk);
    if (lives) {
        expect_all_there(&run);
    }
    printf("%s%s: %u times full, %u rows deleted, %u acknowledged, %u pushed\n", run.of->name,
           run.killed ? ", not closed" : "", atomic_load(&run.shared->full),
           atomic_load(&run.shared->deleted), atomic_load(&run.shared->acked),
           atomic_load(&run.shared->pushed));
    uint32_t full = atomic_load(&run.shared->full);
    file_bed_end(&run.bed);
    loop_disk_end(&run.disk);
    ck_assert_msg(lives, "%s", run.of->name);
    ck_assert_uint_gt(full, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_full_copy");
    TCase *tcase = tcase_create("full disk");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, file_whose_blocks_are_not_its_own_is_full_and_not_broken, 0,
                        2 * CASES);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
