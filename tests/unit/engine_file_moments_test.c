/* What must hold at single moments of a commit's and a checkpoint's way to disk. The engine is
 * stopped at such a moment, much is changed there, and then a reader looks, or the files as they lie
 * there are opened elsewhere: as if the power had failed right then and every store through the
 * mapping had reached the disk. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/fault.h"
#include "common/random.h"
#include "sapling/dbfile.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if SAP_FAULTS

enum {
    TIMEOUT_S = 120,
    KEYS = 300,
    VALUE = 120,
    PUTS = 12, /* a commit */
    COMMITS = 60,
    MAX_COMMITS = 2000,
};

/* Every commit with what the table holds behind it. */
typedef struct Commit {
    uint64_t lsn;
    uint32_t numbers[KEYS]; /* of the commit that put the row last; 0: no row */
} Commit;

typedef struct Moments {
    FileBed bed;
    FileBed elsewhere;
    SapEnv *db;
    Rng rng;
    Commit *commits;
    uint32_t count; /* commits[0] is the empty table */
    const char *step;
    void (*act)(void);
    uint32_t acted;
    uint32_t opened_elsewhere;
    bool acting;
    uint64_t bulk_lsn;
    pthread_t second;
    atomic_int second_state;
} Moments;

enum { SECOND_NONE, SECOND_RUNS, SECOND_STOPS, SECOND_GOES_ON };

static Moments m;

static void on_step(const char *name, void *ctx)
{
    (void)ctx;
    if (atomic_load(&m.second_state) == SECOND_RUNS && strcmp(name, "commit published") == 0) {
        atomic_store(&m.second_state, SECOND_STOPS);
        while (atomic_load(&m.second_state) != SECOND_GOES_ON) {
            sched_yield();
        }
    }
    if (m.step != NULL && !m.acting && strcmp(name, m.step) == 0) {
        m.acting = true;
        m.act();
        m.acted++;
        m.acting = false;
    }
}

/* Time stands still, so that the background thread has nothing to do. */
static uint64_t no_time(void *ctx)
{
    (void)ctx;
    return 1;
}

static void set_up(void)
{
    memset(&m, 0, sizeof m);
    file_bed_start(&m.bed);
    file_bed_start(&m.elsewhere);
    rng_seed(&m.rng, choice_first_seed());
    expect_context("SAP_TEST_SEED=%" PRIu64, choice_first_seed());
    m.commits = calloc(MAX_COMMITS, sizeof *m.commits);
    EXPECT(m.commits != NULL, "no memory");
    m.count = 1;
    m.bed.options.clock_ns = no_time;
    fault_on_step(on_step, NULL);
}

static void tear_down(void)
{
    m.step = NULL;
    file_bed_close(m.db);
    fault_on_step(NULL, NULL);
    file_bed_end(&m.bed);
    file_bed_end(&m.elsewhere);
    free(m.commits);
}

/* ---- Commits -------------------------------------------------------------------------------- */

static void make_row(uint32_t key, uint32_t number, uint8_t key_out[4], uint8_t val_out[VALUE])
{
    store_u32be(key_out, key);
    memset(val_out, (int)(number % 251), VALUE);
    store_u32le(val_out, number);
}

static void put_row(SapTxnCtx *txn, uint32_t key, uint32_t number)
{
    uint8_t bytes[4];
    uint8_t val[VALUE];

    make_row(key, number, bytes, val);
    EXPECT_RC(sap_txn_put(txn, bytes, sizeof bytes, val, VALUE), SAP_OK);
}

/* A commit that nobody waited for yet. */
static uint64_t commit_some(unsigned flags)
{
    SapTxnCtx *txn = NULL;
    uint32_t number = m.count;

    EXPECT(number < MAX_COMMITS, "too many commits");
    EXPECT_RC(sap_txn_begin_rc(m.db, NULL, SAP_TXN_WAIT | flags, &txn), SAP_OK);
    Commit *commit = &m.commits[number];
    *commit = m.commits[number - 1];
    for (uint32_t i = 0; i < PUTS; i++) {
        uint32_t key = (uint32_t)rng_below(&m.rng, KEYS);
        put_row(txn, key, number);
        commit->numbers[key] = number;
    }
    EXPECT_RC(sap_txn_commit_async(txn, &commit->lsn), SAP_OK);
    m.count++;
    return commit->lsn;
}

static void commit_many(void)
{
    for (uint32_t i = 0; i < COMMITS; i++) {
        (void)commit_some(0);
    }
}

static void commit_durably(void)
{
    commit_many();
    EXPECT_RC(sap_db_wait_durable(m.db, m.commits[m.count - 1].lsn), SAP_OK);
}

/* Every page of the table is written anew, and then all of it is dropped. */
static void change_and_abort(void)
{
    for (uint32_t i = 0; i < 20; i++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(m.db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
        for (uint32_t key = 0; key < KEYS; key++) {
            put_row(txn, key, UINT32_MAX);
        }
        sap_txn_abort(txn);
    }
}

static const Commit *commit_of(uint64_t lsn)
{
    for (uint32_t i = m.count; i-- > 1;) {
        if (m.commits[i].lsn == lsn) {
            return &m.commits[i];
        }
    }
    expect_fail(__FILE__, __LINE__, "there was no commit %" PRIu64, lsn);
}

static void expect_content(SapTxnCtx *txn, const Commit *commit)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        uint8_t bytes[4];
        uint8_t val[VALUE];
        const void *got = NULL;
        uint32_t len = 0;
        make_row(key, commit->numbers[key], bytes, val);
        int rc = sap_txn_get(txn, bytes, sizeof bytes, &got, &len);
        EXPECT(rc == (commit->numbers[key] == 0 ? SAP_NOTFOUND : SAP_OK), "row %u: %d", key, rc);
        EXPECT(rc != SAP_OK || (len == VALUE && memcmp(got, val, VALUE) == 0),
               "row %u of commit %" PRIu64 " is another's", key, commit->lsn);
    }
}

/* What a reader that begins now sees is one commit, whole. Returns its number. */
static uint64_t look(void)
{
    SapTxnCtx *txn = NULL;
    SapStat stat;

    EXPECT_RC(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    EXPECT_RC(sap_txn_stat(txn, &stat), SAP_OK);
    expect_content(txn, commit_of(stat.txnid));
    sap_txn_abort(txn);
    return stat.txnid;
}

static void start(void)
{
    m.db = file_bed_open(&m.bed);
    commit_durably();
    EXPECT_RC(sap_db_sync(m.db), SAP_OK);
    commit_durably();
    EXPECT_RC(sap_db_sync(m.db), SAP_OK);
    commit_durably();
}

/* ---- The files as they lie there ------------------------------------------------------------ */

static void damage_newest_meta(const char *path)
{
    static const uint8_t noise[META_SIZE] = {0x5a};
    uint64_t newest = 0;

    for (uint64_t number = 0; number < 2; number++) {
        for (uint32_t copy = 0; copy < 2; copy++) {
            size_t size = 0;
            uint8_t *bytes = files_read(path, &size);
            Meta meta;
            uint32_t version;
            if (meta_decode(bytes + meta_offset(number, copy), &meta, &version) == META_VALID &&
                meta.number > newest) {
                newest = meta.number;
            }
            free(bytes);
        }
    }
    EXPECT(newest > 0, "no meta");
    files_write_at(path, meta_offset(newest, 0), noise, sizeof noise);
    files_write_at(path, meta_offset(newest, 1), noise, sizeof noise);
}

/* All that was acknowledged so far is in the files. */
static void open_elsewhere(bool without_newest_meta)
{
    SapEnv *db = NULL;
    SapTxnCtx *txn = NULL;
    Image *image = image_take(m.bed.dir);

    image_restore(image, m.elsewhere.dir);
    image_free(image);
    if (without_newest_meta) {
        damage_newest_meta(m.elsewhere.path);
    }
    db = file_bed_open(&m.elsewhere);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    expect_content(txn, &m.commits[m.count - 1]);
    sap_txn_abort(txn);
    model_expect_verified(db);
    file_bed_close(db);
    m.opened_elsewhere++;
}

static void commit_and_open_elsewhere(void)
{
    commit_durably();
    commit_durably(); /* from here on only the checkpoint holds what was captured */
    open_elsewhere(false);
}

static void commit_and_open_by_older_meta(void)
{
    commit_durably();
    commit_durably();
    open_elsewhere(true);
}

static const char *const checkpoint_steps[] = {"version captured", "pages written",
                                               "pages synced",     "meta written",
                                               "meta synced",      "log not released"};

START_TEST(files_hold_everything_acknowledged_at_every_step_of_a_checkpoint)
{
    start();
    for (size_t i = 0; i < sizeof checkpoint_steps / sizeof *checkpoint_steps; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", at '%s'", choice_first_seed(),
                       checkpoint_steps[i]);
        m.step = checkpoint_steps[i];
        m.act = commit_and_open_elsewhere;
        EXPECT_RC(sap_db_sync(m.db), SAP_OK);
        EXPECT(m.acted == i + 1, "the step was come to %u times", m.acted);
        m.step = NULL;         /* opening makes a checkpoint too */
        open_elsewhere(false); /* the checkpoint has nothing of what was committed beside it */
    }
    printf("moments: %u states opened\n", m.opened_elsewhere);
}
END_TEST

START_TEST(until_the_log_is_released_the_older_checkpoint_is_whole)
{
    start();
    for (size_t i = 4; i < sizeof checkpoint_steps / sizeof *checkpoint_steps; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", at '%s'", choice_first_seed(),
                       checkpoint_steps[i]);
        m.step = checkpoint_steps[i];
        m.act = commit_and_open_by_older_meta;
        EXPECT_RC(sap_db_sync(m.db), SAP_OK);
        EXPECT(m.acted == i - 3, "the step was come to %u times", m.acted);
    }
    printf("moments: %u states opened\n", m.opened_elsewhere);
}
END_TEST

/* ---- Readers -------------------------------------------------------------------------------- */

static void look_and_change(void)
{
    uint64_t before = look();

    commit_many();
    EXPECT(look() == before, "a reader sees what is not durable");
    change_and_abort();
    EXPECT(look() == before, "a reader sees what is not durable");
}

START_TEST(version_that_is_being_synced_is_not_written_over)
{
    static const char *const steps[] = {"log group written", "log group synced"};

    start();
    for (size_t i = 0; i < 2; i++) {
        m.step = steps[i];
        m.act = look_and_change;
        uint64_t lsn = commit_some(0);
        EXPECT_RC(sap_db_wait_durable(m.db, lsn), SAP_OK);
        EXPECT(m.acted > i, "the step was not come to");
        (void)look();
        m.step = NULL;
        commit_durably();
    }
}
END_TEST

#if SAPLING_THREADED

/* A second writer, which is published and has not looked for free pages yet. */
static void *commit_with_a_stop(void *arg)
{
    (void)commit_some(0);
    return arg;
}

static void end_second_and_look(void);

static void start_second(void)
{
    commit_many();
    atomic_store(&m.second_state, SECOND_RUNS);
    EXPECT(pthread_create(&m.second, NULL, commit_with_a_stop, NULL) == 0, "no thread");
    while (atomic_load(&m.second_state) != SECOND_STOPS) {
        sched_yield();
    }
    m.step = "durable version moving";
    m.act = end_second_and_look;
    m.acting = false; /* the next step is one of the same group */
}

/* The log's lock is held there: no other commit. */
static void end_second_and_look(void)
{
    atomic_store(&m.second_state, SECOND_GOES_ON);
    pthread_join(m.second, NULL);
    atomic_store(&m.second_state, SECOND_NONE);
    change_and_abort();
    (void)look();
}

START_TEST(version_that_readers_find_is_pinned_while_another_takes_its_place)
{
    start();
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t acted = m.acted;
        m.step = "log group written";
        m.act = start_second;
        uint64_t lsn = commit_some(0);
        EXPECT_RC(sap_db_wait_durable(m.db, lsn), SAP_OK);
        EXPECT(m.acted > acted + 1, "the steps were not come to");
        m.step = NULL;
        commit_durably();
    }
}
END_TEST

#endif

/* ---- Bulk commits --------------------------------------------------------------------------- */

static void sync_log(uint64_t lsn)
{
    EXPECT_RC(wal_wait(m.db->file->wal, lsn), SAP_OK);
}

/* The checkpoint that a bulk commit waits for is being made: what is synced meanwhile is not durable
 * yet, and what is durable stays. */
static void look_behind_the_barrier(void)
{
    uint64_t durable = sap_db_durable_lsn(m.db);

    EXPECT(durable < m.bulk_lsn, "a bulk commit is durable without a checkpoint");
    for (uint32_t i = 0; i < 5; i++) {
        commit_many();
        sync_log(m.commits[m.count - 1].lsn);
        EXPECT(look() == durable, "what is durable moved past a bulk commit");
    }
    change_and_abort();
    EXPECT(look() == durable, "what is durable moved past a bulk commit");
}

START_TEST(durable_version_before_a_bulk_commit_is_not_written_over)
{
    start();
    m.step = "pages written";
    m.act = look_behind_the_barrier;
    m.bulk_lsn = commit_some(SAP_TXN_BULK);
    EXPECT_RC(sap_db_wait_durable(m.db, m.bulk_lsn), SAP_OK);
    EXPECT(m.acted == 1, "the step was come to %u times", m.acted);
}
END_TEST

static void expect_still_behind(void)
{
    EXPECT(sap_db_durable_lsn(m.db) < m.bulk_lsn, "a later bulk commit is durable by an earlier "
                                                  "checkpoint");
}

static void commit_in_bulk(void)
{
    m.bulk_lsn = commit_some(SAP_TXN_BULK);
    sync_log(commit_some(0));
    m.step = "log not released";
    m.act = expect_still_behind;
    m.acting = false; /* the next step is one of the same checkpoint */
}

START_TEST(checkpoint_makes_no_later_bulk_commit_durable)
{
    start();
    m.step = "pages written";
    m.act = commit_in_bulk;
    EXPECT_RC(sap_db_sync(m.db), SAP_OK);
    EXPECT(m.acted == 2, "the steps were come to %u times", m.acted);
    m.step = NULL;
    EXPECT_RC(sap_db_wait_durable(m.db, m.bulk_lsn), SAP_OK);
    (void)look();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_file_moments");
    TCase *tcase = tcase_create("moments");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, files_hold_everything_acknowledged_at_every_step_of_a_checkpoint);
    tcase_add_test(tcase, until_the_log_is_released_the_older_checkpoint_is_whole);
    tcase_add_test(tcase, version_that_is_being_synced_is_not_written_over);
#if SAPLING_THREADED
    tcase_add_test(tcase, version_that_readers_find_is_pinned_while_another_takes_its_place);
#endif
    tcase_add_test(tcase, durable_version_before_a_bulk_commit_is_not_written_over);
    tcase_add_test(tcase, checkpoint_makes_no_later_bulk_commit_durable);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}

#endif
