/* Disks that are full for real: small file systems on loop devices, filled to the last block under a
 * database. Whatever the file system does with blocks that were written before, or that a copy of
 * the file shares, the engine answers SAP_FULL, never dies of a signal, and loses nothing. */
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
#include <unistd.h>

enum {
    TIMEOUT_S = 300,
    ROWS = 1500,
    VALUE_LEN = 700,
    STEPS = 400,       /* on the full disk */
    ROWS_PER_STEP = 8, /* spread over the whole file */
    CHECKPOINT_BYTES = 256 << 10,
};

/* Of a queue that is emptied. */
enum {
    MESSAGES_MAX = 4000,
    MESSAGES_FIRST = 30, /* while there is room */
    MESSAGE_LEN = 900,
    ROW_TABLE = 20,
    DRAIN_ROUNDS = 3,
    DRAIN_PUSHES = 3, /* tried at the beginning of each */
};

/* What is done to the file before the disk is filled: a command, with %1$s for the file. */
typedef struct Case {
    const char *name;
    LoopKind kind;
    const char *closed; /* while it is closed; it is opened on the full disk */
    const char *open;   /* while it is open */
} Case;

static const Case cases[] = {
    {"ext4", LOOP_EXT4, NULL, "true %1$s"},
    {"ext4 after a sparse copy", LOOP_EXT4, "cp --sparse=always %1$s %1$s-c && mv %1$s-c %1$s",
     "true %1$s"},
    {"ext4 after holes were dug", LOOP_EXT4, "fallocate -d %1$s", "true %1$s"},
    {"ext4 with holes and no room to fill them", LOOP_EXT4, "fallocate -d %1$s", NULL},
    {"xfs", LOOP_XFS, NULL, "true %1$s"},
    {"xfs after a copy", LOOP_XFS, "cp --reflink=always %1$s %1$s-copy", NULL},
    {"xfs after a copy of the open file", LOOP_XFS, NULL, "cp --reflink=always %1$s %1$s-copy"},
    {"btrfs", LOOP_BTRFS, NULL, "true %1$s"},
    {"btrfs, a file from elsewhere", LOOP_BTRFS, "cp --reflink=never %1$s %1$s-c && mv %1$s-c %1$s",
     "true %1$s"},
    {"btrfs after a snapshot", LOOP_BTRFS,
     "cd $(dirname %1$s) && btrfs subvolume snapshot .. ../snapshot >/dev/null", NULL},
};
enum { CASES = sizeof cases / sizeof cases[0] };

/* What outlives the child. */
typedef struct Shared {
    atomic_uint acked; /* steps */
    atomic_uint full;  /* steps that found no room */
} Shared;

typedef struct Run {
    const Case *of;
    LoopDisk disk;
    FileBed bed;
    Shared *shared;
} Run;

/* ---- Rows: row i has the number of the last step that wrote it -------------------------------- */

static bool step_writes(uint32_t step, uint32_t row)
{
    return step == 0 || row % (ROWS / ROWS_PER_STEP) == (step * 37) % (ROWS / ROWS_PER_STEP);
}

static int put_row(SapTxnCtx *txn, uint32_t row, uint32_t step)
{
    uint8_t key[4];
    uint8_t val[VALUE_LEN];

    store_u32be(key, row);
    memset(val, (int)(step % 251), sizeof val);
    store_u32be(val, step);
    return sap_txn_put(txn, key, sizeof key, val, sizeof val);
}

static int try_step(SapEnv *db, uint32_t step)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn);

    if (rc != SAP_OK) {
        return rc;
    }
    for (uint32_t row = 0; rc == SAP_OK && row < ROWS; row++) {
        rc = step_writes(step, row) ? put_row(txn, row, step) : SAP_OK;
    }
    if (rc == SAP_OK) {
        return sap_txn_commit(txn);
    }
    sap_txn_abort(txn);
    return rc;
}

/* Every row is that of the last step that wrote it, up to `last`. */
static bool rows_are(SapEnv *db, uint32_t last)
{
    SapTxnCtx *txn = NULL;
    uint32_t row = 0;
    bool same = true;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (row = 0; same && row < ROWS; row++) {
        uint8_t key[4];
        const void *val = NULL;
        uint32_t len = 0;
        uint32_t step = last;
        while (!step_writes(step, row)) {
            step--;
        }
        store_u32be(key, row);
        same = sap_txn_get(txn, key, sizeof key, &val, &len) == SAP_OK && len == VALUE_LEN &&
               load_u32be(val) == step;
    }
    sap_txn_abort(txn);
    return same;
}

/* ---- The full disk ---------------------------------------------------------------------------- */

static void make_rows(Run *run)
{
    SapEnv *db = file_bed_open(&run->bed);

    EXPECT_RC(try_step(db, 0), SAP_OK);
    file_bed_close(db);
}

static void run_command(const Run *run, const char *command)
{
    char text[4 * FILES_PATH_MAX + 128];

    if (command != NULL) {
        snprintf(text, sizeof text, command, run->bed.path); // NOLINT: one of `cases`
        loop_disk_run("%s && sync -f %s", text, run->disk.mount);
    }
}

static void step_on_full_disk(Run *run, SapEnv *db)
{
    for (uint32_t step = 1, tries = 0; tries < STEPS; tries++) {
        int rc = try_step(db, step);
        if (rc == SAP_OK) {
            atomic_store(&run->shared->acked, step++);
        } else {
            EXPECT(rc == SAP_FULL, "a step returned %d: %s", rc, run->bed.message);
            atomic_fetch_add(&run->shared->full, 1);
        }
    }
}

static void use_file(void *arg)
{
    Run *run = arg;
    SapEnv *db = NULL;

    if (run->of->open != NULL) {
        db = file_bed_open(&run->bed);
        run_command(run, run->of->open);
        loop_disk_fill(&run->disk);
    } else {
        loop_disk_fill(&run->disk);
        int rc = file_bed_try(&run->bed, &db);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "open answered %d: %s", rc, run->bed.message);
        if (rc == SAP_FULL) {
            file_bed_expect_message(&run->bed, "space");
            atomic_fetch_add(&run->shared->full, 1);
            return;
        }
    }
    step_on_full_disk(run, db);
    uint32_t acked = atomic_load(&run->shared->acked);
    EXPECT(rows_are(db, acked), "%s: rows are not those of step %u", run->of->name, acked);
    if (acked % 2 == 0) { /* otherwise it dies with the file open */
        int rc = sap_db_close(db);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "close returned %d: %s", rc, run->bed.message);
    }
}

/* The process died and the disk is still full: everything can be read. */
static void expect_readable(Run *run)
{
    uint32_t acked = atomic_load(&run->shared->acked);

    run->bed.options.flags = SAP_OPEN_RDONLY;
    SapEnv *db = file_bed_open(&run->bed);
    EXPECT(rows_are(db, acked), "%s: step %u was acknowledged and cannot be read", run->of->name,
           acked);
    file_bed_close(db);
    run->bed.options.flags = 0;
}

static void expect_all_there(Run *run)
{
    uint32_t acked = atomic_load(&run->shared->acked);

    loop_disk_unfill(&run->disk);
    SapEnv *db = file_bed_open(&run->bed);
    EXPECT(rows_are(db, acked), "%s: step %u was acknowledged and is not there", run->of->name,
           acked);
    model_expect_verified(db);
    EXPECT_RC(try_step(db, 0), SAP_OK);
    file_bed_close(db);
}

START_TEST(full_disk_is_an_answer_and_never_a_signal)
{
    Run run = {.of = &cases[_i]};

    if (!loop_disk_start(&run.disk, run.of->kind)) {
        return;
    }
    file_bed_start(&run.bed);
    run.bed.options.checkpoint_bytes = CHECKPOINT_BYTES;
    run.shared =
        mmap(NULL, sizeof *run.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(run.shared != MAP_FAILED, "no memory");
    make_rows(&run);
    run_command(&run, run.of->closed);
    int status = files_run_child(use_file, &run);
    bool lives = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (lives) {
        expect_readable(&run);
        expect_all_there(&run);
    }
    printf("%s: %u steps, %u times full\n", run.of->name, atomic_load(&run.shared->acked),
           atomic_load(&run.shared->full));
    file_bed_end(&run.bed);
    loop_disk_end(&run.disk);
    ck_assert_msg(lives, "%s: the process ended by signal %d", run.of->name,
                  WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}
END_TEST

/* ---- Emptying a queue on a full disk ------------------------------------------------------------ */

/* What outlives the children. */
typedef struct DrainShared {
    atomic_uint pushed; /* messages 0 .. pushed - 1 are in the queue, or were */
    atomic_uint full;   /* pushes that found no room */
    atomic_uint acked;
    atomic_uint deleted; /* rows from 0 on */
    atomic_bool is_acked[MESSAGES_MAX];
} DrainShared;

typedef enum { END_OPEN, END_CLOSED, END_KILLED, END_COUNT } DrainEnd;

typedef struct Drain {
    LoopDisk disk;
    FileBed bed;
    DrainShared *shared;
    DrainEnd end; /* how a process leaves the file to the next; END_OPEN: one does it all */
    uint32_t round;
} Drain;

static SapQueue *drain_open(Drain *drain)
{
    SapQueueOptions options = {.size = sizeof options, .file = &drain->bed.options};
    SapQueue *queue = NULL;
    int rc = sap_queue_open(drain->bed.path, &options, &queue);

    EXPECT(rc == SAP_OK, "a queue on a full disk: %d, %s", rc, sap_open_error());
    return queue;
}

static void drain_leave(const Drain *drain, SapQueue *queue)
{
    if (drain->end != END_KILLED) {
        EXPECT_RC(sap_queue_close(queue), SAP_OK);
    }
}

/* Whether there was room for it. */
static bool drain_push(Drain *drain, SapQueue *queue)
{
    uint8_t payload[MESSAGE_LEN] = {0};
    uint32_t number = atomic_load(&drain->shared->pushed);

    store_u32be(payload, number);
    int rc = sap_queue_push(queue, payload, sizeof payload, NULL, NULL);
    EXPECT(rc == SAP_OK || rc == SAP_FULL, "a push answered %d", rc);
    atomic_fetch_add(rc == SAP_OK ? &drain->shared->pushed : &drain->shared->full, 1);
    return rc == SAP_OK;
}

static void drain_put_rows(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_dbi_open(db, ROW_TABLE, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        uint8_t key[4];
        uint8_t val[100] = {1};
        store_u32be(key, row);
        EXPECT_RC(sap_txn_put_dbi(txn, ROW_TABLE, key, sizeof key, val, sizeof val), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void drain_delete_row(Drain *drain, SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    uint8_t key[4];

    store_u32be(key, atomic_load(&drain->shared->deleted));
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    EXPECT_RC(sap_txn_del_dbi(txn, ROW_TABLE, key, sizeof key), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    atomic_fetch_add(&drain->shared->deleted, 1);
}

static void drain_take_one(Drain *drain, SapQueue *queue)
{
    SapQueueMessage *message = NULL;

    EXPECT_RC(sap_queue_claim(queue, 0, 0, &message), SAP_OK);
    uint32_t number = load_u32be(message->payload);
    EXPECT(number < atomic_load(&drain->shared->pushed) &&
               !atomic_load(&drain->shared->is_acked[number]),
           "message %u was acknowledged, or never pushed", number);
    EXPECT_RC(sap_queue_touch(queue, message, 0), SAP_OK);
    EXPECT_RC(sap_queue_ack(queue, message), SAP_OK);
    atomic_store(&drain->shared->is_acked[number], true);
    atomic_fetch_add(&drain->shared->acked, 1);
}

/* A part of what there is; in the last round all of it. */
static void drain_round(Drain *drain, SapQueue *queue)
{
    DrainShared *shared = drain->shared;

    for (uint32_t i = 0; i < DRAIN_PUSHES; i++) {
        (void)drain_push(drain, queue);
    }
    uint32_t left = atomic_load(&shared->pushed) - atomic_load(&shared->acked);
    uint32_t rounds = DRAIN_ROUNDS - drain->round;
    for (uint32_t i = 0; i < (left + rounds - 1) / rounds; i++) {
        drain_take_one(drain, queue);
        if (i % 4 == 0) {
            drain_delete_row(drain, sap_queue_db(queue));
        }
    }
}

static void drain_fill(void *arg)
{
    Drain *drain = arg;
    SapQueue *queue = drain_open(drain);

    drain_put_rows(sap_queue_db(queue));
    for (uint32_t i = 0; i < MESSAGES_FIRST; i++) {
        EXPECT(drain_push(drain, queue), "there was room still");
    }
    loop_disk_fill(&drain->disk);
    while (drain_push(drain, queue)) {
        EXPECT(atomic_load(&drain->shared->pushed) < MESSAGES_MAX / 2, "the disk is never full");
    }
    if (drain->end == END_OPEN) {
        for (drain->round = 0; drain->round < DRAIN_ROUNDS; drain->round++) {
            loop_disk_fill(&drain->disk);
            drain_round(drain, queue);
        }
    }
    drain_leave(drain, queue);
}

static void drain_one_round(void *arg)
{
    Drain *drain = arg;
    SapQueue *queue = drain_open(drain);

    drain_round(drain, queue);
    drain_leave(drain, queue);
}

/* Nothing acknowledged came back, nothing else is gone. */
static void drain_expect_empty(Drain *drain)
{
    SapQueueMessage *message = NULL;
    SapTxnCtx *txn = NULL;
    uint64_t rows = 0;

    EXPECT(atomic_load(&drain->shared->acked) == atomic_load(&drain->shared->pushed),
           "%u of %u messages came out", atomic_load(&drain->shared->acked),
           atomic_load(&drain->shared->pushed));
    SapQueue *queue = drain_open(drain);
    SapEnv *db = sap_queue_db(queue);
    EXPECT_RC(sap_queue_claim(queue, 0, 0, &message), SAP_NOTFOUND);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_txn_count_range(txn, ROW_TABLE, NULL, 0, NULL, 0, &rows), SAP_OK);
    sap_txn_abort(txn);
    EXPECT(rows == ROWS - atomic_load(&drain->shared->deleted), "%u rows are left", (unsigned)rows);
    model_expect_verified(db);
    loop_disk_unfill(&drain->disk);
    EXPECT(drain_push(drain, queue), "a push found no room where there is some");
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
}

static bool drain_child(Drain *drain, void (*fn)(void *arg))
{
    int status = files_run_child(fn, drain);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

START_TEST(queue_on_a_full_disk_can_be_emptied)
{
    Drain drain = {.end = (DrainEnd)(_i % END_COUNT)};
    LoopKind kind = (LoopKind)(_i / END_COUNT);

    if (!loop_disk_start(&drain.disk, kind)) {
        return;
    }
    file_bed_start(&drain.bed);
    drain.shared =
        mmap(NULL, sizeof *drain.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    EXPECT(drain.shared != MAP_FAILED, "no memory");
    bool lives = drain_child(&drain, drain_fill);
    for (; lives && drain.end != END_OPEN && drain.round < DRAIN_ROUNDS; drain.round++) {
        loop_disk_fill(&drain.disk);
        lives = drain_child(&drain, drain_one_round);
    }
    printf("%s, end %d: %u pushed, %u times full, %u acknowledged, %u rows deleted\n",
           loop_disk_name(kind), (int)drain.end, atomic_load(&drain.shared->pushed),
           atomic_load(&drain.shared->full), atomic_load(&drain.shared->acked),
           atomic_load(&drain.shared->deleted));
    uint32_t full = atomic_load(&drain.shared->full);
    if (lives) {
        drain_expect_empty(&drain);
    }
    file_bed_end(&drain.bed);
    loop_disk_end(&drain.disk);
    ck_assert(lives);
    ck_assert_uint_gt(full, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_full_disk");
    TCase *tcase = tcase_create("full disk");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, full_disk_is_an_answer_and_never_a_signal, 0, CASES);
    if (SAP_FILE_MAPPED) { /* pages held in memory have no room kept in the file */
        tcase_add_loop_test(tcase, queue_on_a_full_disk_can_be_emptied, 0, LOOP_KINDS * END_COUNT);
    }
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
