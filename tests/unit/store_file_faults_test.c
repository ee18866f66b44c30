/* Every allocation and every operation on files failed once, and all from one on, in what a store in a
 * file does: what was acknowledged is there, what was refused for certain is not, and of what is unknown
 * there is all or nothing. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TABLE = 16, OTHER_TABLE = 17, TIMEOUT_S = 600, MOST_TRIALS = 3000 };

#if SAP_FAULTS

typedef enum {
    FAIL_ALLOC,
    FAIL_ALLOC_FROM,
    FAIL_EIO,
    FAIL_EIO_FROM,
    FAIL_ENOSPC,
    FAIL_ENOSPC_FROM,
    FAILINGS
} Failing;

static const uint32_t tables[] = {TABLE, OTHER_TABLE};
static FileBed bed;
static char url[FILES_PATH_MAX + 16];

static void arm(Failing failing, uint64_t nth)
{
    fault_reset();
    switch (failing) {
    case FAIL_ALLOC:
        fault_arm_alloc(nth);
        break;
    case FAIL_ALLOC_FROM:
        fault_arm_alloc_from(nth);
        break;
    case FAIL_EIO:
        fault_arm_io(nth, EIO);
        break;
    case FAIL_EIO_FROM:
        fault_arm_io_from(nth, EIO);
        break;
    case FAIL_ENOSPC:
        fault_arm_io(nth, ENOSPC);
        break;
    default:
        fault_arm_io_from(nth, ENOSPC);
        break;
    }
}

/* SAP_IO also follows where a commit that was published cannot become durable. */
static void expect_code(Failing failing, const char *call, int rc)
{
    bool fits = failing <= FAIL_ALLOC_FROM ? rc == SAP_NOMEM || rc == SAP_IO
                : failing <= FAIL_EIO_FROM ? rc == SAP_IO
                                           : rc == SAP_FULL || rc == SAP_IO;
    EXPECT(rc == SAP_OK || fits, "%s returned %d", call, rc);
}

static int open_store(SapStore **store_out)
{
    SapStoreOptions options = {.tables = tables, .table_count = 2};
    return sap_store_open(url, &options, store_out);
}

static SapStore *open_sound(void)
{
    SapStore *store = NULL;
    fault_reset();
    EXPECT_RC(open_store(&store), SAP_OK);
    return store;
}

static void expect_no_memory_left(void)
{
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* Returns whether the fault fired. */
static bool try_open(Failing failing, uint64_t nth, bool made)
{
    SapStore *store = NULL;
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    expect_context("failing %d, nth %" PRIu64 ", made %d", (int)failing, nth, (int)made);
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    if (made) {
        store = open_sound();
        EXPECT_RC(sap_store_begin(store, SAP_STORE_GUARDED, &txn), SAP_OK);
        EXPECT_RC(sap_store_put(txn, TABLE, "k", 1, "v", 1), SAP_OK);
        EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
        EXPECT_RC(sap_store_close(store), SAP_OK);
        store = NULL;
    }
    arm(failing, nth);
    int rc = open_store(&store);
    uint64_t fired = fault_fired();
    fault_reset();
    expect_code(failing, "open", rc);
    if (rc != SAP_OK) {
        EXPECT(fired > 0 && store == NULL && sap_open_error()[0] != '\0', "a failed open says why");
    } else {
        (void)sap_store_close(store);
    }
    expect_no_memory_left();
    store = open_sound();
    EXPECT_RC(sap_store_begin(store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    EXPECT_RC(sap_store_get(txn, TABLE, "k", 1, &val, &len), made ? SAP_OK : SAP_NOTFOUND);
    sap_store_abort(txn);
    EXPECT_RC(sap_store_close(store), SAP_OK);
    expect_no_memory_left();
    file_bed_end(&bed);
    return fired > 0;
}

START_TEST(an_open_that_fails_can_be_tried_again)
{
    uint64_t trials = 0;
    for (int failing = 0; failing < FAILINGS; failing++) {
        for (int made = 0; made < 2; made++) {
            for (uint64_t nth = 1; try_open((Failing)failing, nth, made != 0); nth++) {
                trials++;
                EXPECT(nth < MOST_TRIALS, "there is no end");
            }
        }
    }
    (void)printf("store_file_faults: %" PRIu64 " opens failed\n", trials);
    EXPECT(trials > 100, "%" PRIu64 " trials", trials);
}
END_TEST

/* ---- Transactions ---------------------------------------------------------------------------- */

enum { STEPS = 6, LONG_VALUE = 20000 };

typedef enum { NOT_TRIED, ABSENT, PRESENT, UNKNOWN } Fate;

typedef struct Trial {
    SapStore *store;
    Failing failing;
    Fate fates[STEPS];
    bool failed; /* the store has said SAP_IO */
} Trial;

/* A step writes these two, in both tables, so that a part would be seen. */
static void step_key(int step, char key[8])
{
    (void)snprintf(key, 8, "step%d", step);
}

static int write_step(SapStoreTxn *txn, int step)
{
    static const char value[LONG_VALUE];
    char key[8];
    SapStoreGuard guard = {TABLE, key, 5, true};
    const SapStoreRange all = {.table = TABLE};
    const SapStoreRow *rows = NULL;
    const void *val = NULL;
    uint32_t count = 0;
    uint32_t len = 0;
    step_key(step, key);
    int rc = sap_store_guard(txn, &guard, 1);
    rc = rc == SAP_OK ? sap_store_put_if_absent(txn, TABLE, key, 5, value, LONG_VALUE) : rc;
    rc = rc == SAP_OK ? sap_store_put(txn, OTHER_TABLE, key, 5, "x", 1) : rc;
    rc = rc == SAP_OK ? sap_store_get(txn, TABLE, key, 5, &val, &len) : rc;
    return rc == SAP_OK ? sap_store_scan(txn, &all, step % 2 == 0, 100, &rows, &count) : rc;
}

static int move_row(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    (void)txn;
    *target = (SapStoreTarget){TABLE, {ctx, row->val, 5, row->val_len}};
    return SAP_OK;
}

/* Moves "seed" of OTHER_TABLE to the step's row. */
static int claim_step(SapStoreTxn *txn, int step)
{
    char key[8];
    uint32_t count = 0;
    const SapStoreRange range = {OTHER_TABLE, "seed", 4, "seee", 4};
    step_key(step, key);
    int rc = sap_store_claim(txn, &range, 1, move_row, key, &count);
    rc = rc == SAP_OK && count != 1 ? SAP_NOTFOUND : rc;
    return rc == SAP_OK ? sap_store_put(txn, OTHER_TABLE, key, 5, "x", 1) : rc;
}

static void note_fate(Trial *trial, int step, const char *call, int rc, bool unknown)
{
    expect_code(trial->failing, call, rc);
    EXPECT(!unknown || rc == SAP_IO, "only SAP_IO leaves an outcome unknown");
    trial->failed |= rc == SAP_IO;
    trial->fates[step] = rc == SAP_OK ? PRESENT : unknown ? UNKNOWN : ABSENT;
}

static void end_step(Trial *trial, SapStoreTxn *txn, int step)
{
    bool unknown = false;
    uint64_t mark = 0;
    if (step % 2 == 0) {
        int rc = sap_store_commit(txn, &unknown);
        note_fate(trial, step, "commit", rc, unknown);
        return;
    }
    int rc = sap_store_commit_async(txn, &mark, &unknown);
    if (rc == SAP_OK) {
        rc = sap_store_wait_durable(trial->store, mark);
        unknown = rc != SAP_OK;
    }
    note_fate(trial, step, "commit_async", rc, unknown);
}

static void run_step(Trial *trial, int step)
{
    SapStoreTxn *txn = NULL;
    bool claims = step == STEPS - 1;
    int rc = sap_store_begin(trial->store, claims ? SAP_STORE_CLAIM : SAP_STORE_GUARDED, &txn);
    EXPECT(!trial->failed || rc == SAP_IO, "after SAP_IO, begin returned %d", rc);
    if (rc != SAP_OK) {
        note_fate(trial, step, "begin", rc, false);
        return;
    }
    rc = claims ? claim_step(txn, step) : write_step(txn, step);
    if (rc == SAP_OK) {
        end_step(trial, txn, step);
        return;
    }
    if (step % 2 == 0) {
        bool unknown = true;
        EXPECT_RC(sap_store_commit(txn, &unknown), rc);
        note_fate(trial, step, "a call", rc, unknown);
    } else {
        sap_store_abort(txn);
        note_fate(trial, step, "a call", rc, false);
    }
}

static bool has_row(SapStoreTxn *txn, uint32_t table, const char *key)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, table, key, (uint32_t)strlen(key), &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %d", rc);
    return rc == SAP_OK;
}

static void expect_fates(Trial *trial)
{
    SapStoreTxn *txn = NULL;
    trial->store = open_sound();
    EXPECT_RC(sap_store_begin(trial->store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    for (int step = 0; step < STEPS; step++) {
        char key[8];
        step_key(step, key);
        bool there = has_row(txn, TABLE, key);
        EXPECT(there == has_row(txn, OTHER_TABLE, key), "step %d is there in part", step);
        EXPECT(there || trial->fates[step] != PRESENT, "step %d was acknowledged", step);
        EXPECT(!there || trial->fates[step] != ABSENT, "step %d was refused", step);
        if (step == STEPS - 1) {
            EXPECT(there != has_row(txn, OTHER_TABLE, "seed"),
                   "the claimed row is not in one place");
        }
    }
    sap_store_abort(txn);
    EXPECT_RC(sap_store_close(trial->store), SAP_OK);
}

/* Returns whether the fault fired. */
static bool try_steps(Failing failing, uint64_t nth)
{
    Trial trial = {.failing = failing};
    SapStoreTxn *txn = NULL;
    expect_context("failing %d, nth %" PRIu64, (int)failing, nth);
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    trial.store = open_sound();
    EXPECT_RC(sap_store_begin(trial.store, SAP_STORE_GUARDED, &txn), SAP_OK);
    EXPECT_RC(sap_store_put(txn, OTHER_TABLE, "seed", 4, "s", 1), SAP_OK);
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    arm(failing, nth);
    for (int step = 0; step < STEPS; step++) {
        run_step(&trial, step);
    }
    int rc = sap_store_close(trial.store);
    bool fired = fault_fired() > 0;
    fault_reset();
    expect_code(failing, "close", rc);
    expect_no_memory_left();
    expect_fates(&trial);
    expect_no_memory_left();
    file_bed_end(&bed);
    return fired;
}

START_TEST(what_is_acknowledged_is_there_and_what_is_refused_is_not)
{
    uint64_t trials = 0;
    for (int failing = 0; failing < FAILINGS; failing++) {
        for (uint64_t nth = 1; try_steps((Failing)failing, nth); nth++) {
            trials++;
            EXPECT(nth < MOST_TRIALS, "there is no end");
        }
    }
    (void)printf("store_file_faults: %" PRIu64 " runs failed\n", trials);
    EXPECT(trials > 100, "%" PRIu64 " trials", trials);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("store_file_faults");
#if SAP_FAULTS
    TCase *tc = tcase_create("store_file_faults");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, an_open_that_fails_can_be_tried_again);
    tcase_add_test(tc, what_is_acknowledged_is_there_and_what_is_refused_is_not);
    suite_add_tcase(suite, tc);
#endif
    return suite_run(suite);
}
