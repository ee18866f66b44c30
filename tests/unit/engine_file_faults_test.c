/* Every allocation and every operation on files failed once, and all from one on, in everything that
 * a file database does: nothing acknowledged is lost, nothing is there in part, and a failed disk is
 * final. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/arena_impl.h"
#include "sapling/dbfile.h"
#include "sapling/disk.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/history.h"
#include "support/model.h"
#include "support/suite.h"
#include "support/tally.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 600,
    SETUP_STEPS = 12,
    STEPS = 5,
    ALL_STEPS = SETUP_STEPS + STEPS + 2,
    CHECKPOINT_BYTES = 1 << 20, /* none by itself, and small segments */
    PATIENCE_MS = 20000,
};

#if SAP_FAULTS

typedef enum Failing {
    FAIL_ALLOC,
    FAIL_ALLOC_FROM,
    FAIL_EIO,
    FAIL_ENOSPC,
    FAIL_EIO_FROM,
    FAIL_ENOSPC_FROM,
    FAILINGS
} Failing;

static const char *const failing_names[FAILINGS] = {
    "an allocation",   "all allocations from one on", "an EIO", "an ENOSPC",
    "EIO from one on", "ENOSPC from one on",
};

typedef struct Trial Trial;

typedef struct Scenario {
    const char *name;
    History history;
    bool with_log; /* the file was not closed before */
    bool new_file;
    bool copies; /* pages are stored to copies, as on file systems that share blocks */
    uint64_t checkpoint_bytes; /* 0: CHECKPOINT_BYTES */
    uint64_t max_trials; /* 0: until nothing fires; else that many, for work in the background */
    /* Does what is to fail; armed by trial_arm(). Ends with the DB closed or trial->db open. */
    void (*run)(Trial *trial);
} Scenario;

struct Trial {
    const Scenario *scenario;
    FileBed bed;
    Image *before; /* NULL: an empty directory */
    uint64_t *truth;
    Failing failing;
    uint64_t nth;
    SapEnv *db;
    uint64_t acked; /* step */
    bool unknown;   /* the step behind it answered SAP_IO */
    bool opened;    /* faults were armed after the DB was open */
    uint64_t fired;
    uint64_t refused_opens;
    uint64_t failed_handles;
};

static void trial_arm(const Trial *trial)
{
    fault_reset();
    switch (trial->failing) {
    case FAIL_ALLOC:
        fault_arm_alloc(trial->nth);
        break;
    case FAIL_ALLOC_FROM:
        fault_arm_alloc_from(trial->nth);
        break;
    case FAIL_EIO:
        fault_arm_io(trial->nth, EIO);
        break;
    case FAIL_ENOSPC:
        fault_arm_io(trial->nth, ENOSPC);
        break;
    case FAIL_EIO_FROM:
        fault_arm_io_from(trial->nth, EIO);
        break;
    default:
        fault_arm_io_from(trial->nth, ENOSPC);
        break;
    }
}

static bool is_alloc(Failing failing)
{
    return failing == FAIL_ALLOC || failing == FAIL_ALLOC_FROM;
}

/* A full disk can also make a write fail that had its room, which is final; so is a bulk commit that
 * gets no checkpoint, whatever the reason. */
static void expect_code(const Trial *trial, const char *call, int rc)
{
    bool fits = is_alloc(trial->failing)
                    ? rc == SAP_NOMEM || (rc == SAP_IO && trial->scenario->history.bulk_one_in != 0)
                : trial->failing == FAIL_EIO || trial->failing == FAIL_EIO_FROM
                    ? rc == SAP_IO
                    : rc == SAP_FULL || rc == SAP_IO;

    EXPECT(rc == SAP_OK || fits, "%s answered %d", call, rc);
}

/* ---- What fails ----------------------------------------------------------------------------- */

static void run_open(Trial *trial)
{
    trial_arm(trial);
    int rc = file_bed_try(&trial->bed, &trial->db);
    trial->fired = fault_fired();
    fault_reset();
    expect_code(trial, "open", rc);
    if (rc == SAP_OK) {
        return;
    }
    EXPECT(trial->fired != 0, "open failed by itself");
    EXPECT(trial->db == NULL, "a failed open has a result");
    trial->refused_opens++;
    EXPECT(is_alloc(trial->failing) || file_bed_messages(&trial->bed) != 0, "nothing was said");
    /* When all that follows fails too, there is no cleaning up. */
    if (trial->scenario->new_file && trial->fired == 1) {
        image_expect_same(trial->before, trial->bed.dir);
    }
}

/* Steps that had no room or no memory are made again, as a user would. */
static void make_steps(Trial *trial)
{
    for (uint64_t n = trial->acked + 1, tries = 0; n <= SETUP_STEPS + STEPS; tries++) {
        int rc = history_step(&trial->scenario->history, trial->db, n);
        expect_code(trial, "a step", rc);
        if (rc == SAP_OK) {
            trial->acked = n++;
        } else if (rc == SAP_IO) {
            trial->unknown = true;
            return;
        } else if (tries > STEPS) {
            return;
        }
    }
}

static void run_steps(Trial *trial)
{
    trial->db = file_bed_open(&trial->bed);
    trial->opened = true;
    trial_arm(trial);
    make_steps(trial);
}

static void run_sync(Trial *trial)
{
    trial->db = file_bed_open(&trial->bed);
    trial->opened = true;
    make_steps(trial);
    trial_arm(trial);
    int rc = sap_db_sync(trial->db);
    expect_code(trial, "sync", rc);
    trial->unknown = rc == SAP_IO;
}

static void run_close(Trial *trial)
{
    trial->db = file_bed_open(&trial->bed);
    make_steps(trial);
    trial_arm(trial);
    int rc = sap_db_close(trial->db);
    trial->db = NULL;
    expect_code(trial, "close", rc);
}

static void run_everything(Trial *trial)
{
    trial->db = file_bed_open(&trial->bed);
    trial->opened = true;
    trial_arm(trial);
    make_steps(trial);
    for (int i = 0; i < 2 && !trial->unknown; i++) {
        int rc = sap_db_sync(trial->db);
        expect_code(trial, "sync", rc);
        trial->unknown = rc == SAP_IO;
    }
}

/* ---- What must hold then -------------------------------------------------------------------- */

static atomic_ullong disk_events;

static void count_event(void *ctx, const DiskEvent *event)
{
    (void)ctx;
    if (event->op != DISK_OPEN) {
        atomic_fetch_add(&disk_events, 1);
    }
}

/* What the background thread was at when the handle failed has come to its end: it takes the nudge when
 * it begins its next round, in which it finds the handle failed. */
static void finish_background(SapEnv *db)
{
#if SAPLING_THREADED
    DbFile *file = db->file;

    mutex_lock(&file->lock);
    EXPECT(atomic_load(&file->failed) && file->running, "the handle has not failed");
    atomic_store(&file->nudged, true);
    cond_broadcast(&file->changed);
    mutex_unlock(&file->lock);
    for (int ms = 0; atomic_load(&file->nudged); ms++) {
        EXPECT(ms < PATIENCE_MS, "the background thread does not come to an end");
        usleep(1000);
    }
#else
    (void)db;
#endif
}

static void expect_dead_handle(Trial *trial)
{
    SapEnv *db = trial->db;
    SapTxnCtx *txn = NULL;

    finish_background(db);
    atomic_store(&disk_events, 0);
    disk_trace_set(count_event, NULL);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_IO);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_IO);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_IO);
    EXPECT_RC(sap_db_sync(db), SAP_IO);
    EXPECT_RC(sap_dbi_open(db, 900, NULL, NULL, 0), SAP_IO);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    uint64_t seen =
        history_find(trial->truth, trial->acked, trial->acked + 1, history_digest(db, txn));
    EXPECT(seen >= trial->acked, "readers lost something");
    sap_txn_abort(txn);
    int rc = sap_db_close(db);
    disk_trace_set(NULL, NULL);
    EXPECT(rc == SAP_IO || rc == SAP_OK, "close answered %d", rc);
    EXPECT(atomic_load(&disk_events) == 0, "a dead handle wrote");
    trial->db = NULL;
    /* In the background a checkpoint that found no room may have been told before. */
    uint32_t messages = file_bed_messages(&trial->bed);
    EXPECT(messages == 1 || (messages > 1 && trial->scenario->max_trials != 0),
           "the failure was reported %u times", messages);
    trial->failed_handles++;
}

/* The handle lives: it can go on. */
static void expect_live_handle(Trial *trial)
{
    int rc = SAP_OK;

    fault_reset();
    if (trial->opened && trial->fired != 0) {
        rc = history_step(&trial->scenario->history, trial->db, trial->acked + 1);
        /* The background may have met the fault since. */
        EXPECT(rc == SAP_OK || rc == SAP_IO, "the next step answered %d", rc);
        trial->acked += rc == SAP_OK;
        trial->unknown = rc == SAP_IO;
    }
    if (rc == SAP_IO) {
        expect_dead_handle(trial);
        return;
    }
    if (trial->opened) {
        EXPECT(history_digest(trial->db, NULL) == trial->truth[trial->acked],
               "the handle shows another content");
        model_expect_verified(trial->db);
    }
    file_bed_close(trial->db);
    trial->db = NULL;
}

static void expect_content(Trial *trial)
{
    SapEnv *db = file_bed_open(&trial->bed);

    if (trial->scenario->new_file) {
        SapStat stat;
        EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
        EXPECT(stat.num_entries == 0, "rows in a new file");
        EXPECT_RC(history_open_tables(db), SAP_OK);
    }
    uint64_t step = history_find(trial->truth, trial->acked,
                                 trial->acked + (trial->unknown ? 1 : 0), history_digest(db, NULL));
    model_expect_verified(db);
    EXPECT_RC(history_step(&trial->scenario->history, db, step + 1), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&trial->bed);
    EXPECT(history_digest(db, NULL) == trial->truth[step + 1], "the next step is not there");
    file_bed_close(db);
}

/* Returns whether the fault fired. */
static bool try_one(Trial *trial)
{
    size_t live = mem_live_total();

    trial->db = NULL;
    trial->acked = trial->scenario->new_file ? 0 : SETUP_STEPS;
    trial->unknown = false;
    trial->opened = false;
    trial->fired = 0;
    image_restore(trial->before, trial->bed.dir);
    (void)file_bed_messages(&trial->bed);
    trial->scenario->run(trial);
    trial->fired += fault_fired();
    if (trial->db != NULL && trial->unknown) {
        fault_reset();
        expect_dead_handle(trial);
    } else if (trial->db != NULL) {
        expect_live_handle(trial);
    }
    fault_reset();
    expect_content(trial);
    EXPECT(mem_live_total() == live, "memory is left");
    (void)tally_release();
    return trial->fired != 0;
}

/* ---- Trials --------------------------------------------------------------------------------- */

static void prepare_steps(void *arg)
{
    Trial *trial = arg;
    SapEnv *db = file_bed_open(&trial->bed);

    EXPECT_RC(history_open_tables(db), SAP_OK);
    for (uint64_t n = 1; n <= SETUP_STEPS; n++) {
        if (n == SETUP_STEPS / 2) {
            EXPECT_RC(sap_db_sync(db), SAP_OK);
        }
        EXPECT_RC(history_step(&trial->scenario->history, db, n), SAP_OK);
    }
    if (!trial->scenario->with_log) {
        file_bed_close(db);
    }
}

static void prepare(Trial *trial, const Scenario *scenario)
{
    memset(trial, 0, sizeof *trial);
    trial->scenario = scenario;
    trial->truth = history_truth(&scenario->history, ALL_STEPS + 1);
    file_bed_start(&trial->bed);
    trial->bed.options.checkpoint_bytes =
        scenario->checkpoint_bytes != 0 ? scenario->checkpoint_bytes : CHECKPOINT_BYTES;
    if (scenario->history.tally) {
        trial->bed.options.subsystems = tally_subsystem();
        trial->bed.options.subsystem_count = 1;
    }
    if (!scenario->new_file) {
        files_in_child(prepare_steps, trial);
    }
    trial->before = image_take(trial->bed.dir);
    arena_file_never_shared = scenario->copies;
}

static void fail_everywhere(const Scenario *scenario)
{
    Trial *trial = malloc(sizeof *trial);
    uint64_t all = 0;

    ck_assert_ptr_nonnull(trial);
    prepare(trial, scenario);
    for (Failing failing = FAIL_ALLOC; failing < FAILINGS; failing++) {
        uint64_t fired = 0;
        bool again = true;
        trial->failing = failing;
        trial->refused_opens = 0;
        trial->failed_handles = 0;
        for (trial->nth = 1; again; trial->nth++) {
            expect_context("%s, %s, number %" PRIu64, scenario->name, failing_names[failing],
                           trial->nth);
            bool hit = try_one(trial);
            fired += hit;
            again = scenario->max_trials == 0 ? hit : trial->nth < scenario->max_trials;
        }
        printf("%s, %s: %" PRIu64 " failed, %" PRIu64 " opens refused, %" PRIu64
               " handles refused\n",
               scenario->name, failing_names[failing], fired, trial->refused_opens,
               trial->failed_handles);
        all += fired;
        EXPECT(fired != 0, "nothing failed");
    }
    ck_assert_uint_gt(all, 0);
    arena_file_never_shared = false;
    image_free(trial->before);
    file_bed_end(&trial->bed);
    free(trial->truth);
    free(trial);
}

START_TEST(creating_a_file)
{
    fail_everywhere(&(Scenario){.name = "create",
                                .history = {.seed = 1, .max_value = 100},
                                .new_file = true,
                                .run = run_open});
}
END_TEST

START_TEST(opening_a_closed_file)
{
    fail_everywhere(
        &(Scenario){.name = "open", .history = {.seed = 2, .max_value = 9000}, .run = run_open});
}
END_TEST

START_TEST(opening_a_file_with_a_log)
{
    fail_everywhere(&(Scenario){.name = "recover",
                                .history = {.seed = 3, .max_value = 9000, .open_one_in = 6},
                                .with_log = true,
                                .run = run_open});
}
END_TEST

START_TEST(committing)
{
    fail_everywhere(&(Scenario){.name = "commit",
                                .history = {.seed = 4, .max_value = 9000, .changes = 4},
                                .run = run_steps});
}
END_TEST

START_TEST(opening_tables)
{
    fail_everywhere(
        &(Scenario){.name = "tables",
                    .history = {.seed = 5, .max_value = 100, .changes = 2, .open_one_in = 2},
                    .run = run_steps});
}
END_TEST

START_TEST(committing_in_bulk)
{
    fail_everywhere(
        &(Scenario){.name = "bulk",
                    .history = {.seed = 6, .max_value = 9000, .changes = 4, .bulk_one_in = 2},
                    .run = run_steps});
}
END_TEST

START_TEST(committing_what_drains)
{
    fail_everywhere(
        &(Scenario){.name = "drain",
                    .history = {.seed = 14, .max_value = 9000, .changes = 4, .drain = true},
                    .run = run_steps});
}
END_TEST

START_TEST(syncing)
{
    fail_everywhere(
        &(Scenario){.name = "sync", .history = {.seed = 7, .max_value = 9000}, .run = run_sync});
}
END_TEST

START_TEST(closing)
{
    fail_everywhere(
        &(Scenario){.name = "close", .history = {.seed = 8, .max_value = 9000}, .run = run_close});
}
END_TEST

START_TEST(checkpoints_in_the_background)
{
    fail_everywhere(&(Scenario){.name = "background",
                                .history = {.seed = 9, .max_value = 9000},
                                .checkpoint_bytes = 16 * 1024,
                                .max_trials = 40,
                                .run = run_everything});
}
END_TEST

START_TEST(syncing_copies_of_pages)
{
    fail_everywhere(&(Scenario){.name = "copies, sync",
                                .history = {.seed = 11, .max_value = 9000},
                                .copies = true,
                                .run = run_sync});
}
END_TEST

START_TEST(committing_copies_of_pages_in_bulk)
{
    fail_everywhere(
        &(Scenario){.name = "copies, bulk",
                    .history = {.seed = 12, .max_value = 9000, .changes = 4, .bulk_one_in = 2},
                    .copies = true,
                    .run = run_steps});
}
END_TEST

START_TEST(checkpoints_of_copies_in_the_background)
{
    fail_everywhere(&(Scenario){.name = "copies, background",
                                .history = {.seed = 13, .max_value = 9000},
                                .checkpoint_bytes = 16 * 1024,
                                .copies = true,
                                .max_trials = 40,
                                .run = run_everything});
}
END_TEST

static const History with_subsystem = {
    .seed = 10, .max_value = 3000, .changes = 3, .bulk_one_in = 4, .tally = true};

START_TEST(opening_a_file_with_a_subsystem)
{
    fail_everywhere(&(Scenario){
        .name = "subsystem, open", .history = with_subsystem, .with_log = true, .run = run_open});
}
END_TEST

START_TEST(committing_with_a_subsystem)
{
    fail_everywhere(
        &(Scenario){.name = "subsystem, commit", .history = with_subsystem, .run = run_steps});
}
END_TEST

START_TEST(closing_with_a_subsystem)
{
    fail_everywhere(
        &(Scenario){.name = "subsystem, close", .history = with_subsystem, .run = run_close});
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("engine_file_faults");
#if SAP_FAULTS
    TCase *tcase = tcase_create("failing");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, creating_a_file);
    tcase_add_test(tcase, opening_a_closed_file);
    tcase_add_test(tcase, opening_a_file_with_a_log);
    tcase_add_test(tcase, committing);
    tcase_add_test(tcase, opening_tables);
    tcase_add_test(tcase, committing_in_bulk);
    tcase_add_test(tcase, committing_what_drains);
    tcase_add_test(tcase, syncing);
    tcase_add_test(tcase, closing);
    tcase_add_test(tcase, checkpoints_in_the_background);
    tcase_add_test(tcase, syncing_copies_of_pages);
    tcase_add_test(tcase, committing_copies_of_pages_in_bulk);
    tcase_add_test(tcase, checkpoints_of_copies_in_the_background);
    tcase_add_test(tcase, opening_a_file_with_a_subsystem);
    tcase_add_test(tcase, committing_with_a_subsystem);
    tcase_add_test(tcase, closing_with_a_subsystem);
    suite_add_tcase(suite, tcase);
#endif
    return suite_run(suite);
}
