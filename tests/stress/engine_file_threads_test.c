/* A file with everything at work at once: writers, readers of the durable and of the newest state,
 * checkpoints all the time, tables opened, syncs, verification, watches. Clean under the thread
 * sanitizer; bounded by counts of operations. SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend. */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/arena_impl.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/numbers.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    TIMEOUT_S = 300,
    TABLES = 3,
    ACCOUNTS = 60, /* per table */
    TOTAL = TABLES * ACCOUNTS * 1000,
    WRITERS = 3,
    READERS = 2,
    WRITER_ROUNDS = 800,
    READER_ROUNDS = 400,
    OTHER_ROUNDS = 100,
    MAX_PAD = 6000,
    COUNTERS = 9, /* table: writer -> commits made */
};

typedef struct Bank {
    FileBed bed;
    SapEnv *db;
    uint64_t seed;
    SapSyncMode mode;
    atomic_uint next_writer;
    atomic_uint next_reader;
    atomic_ullong acked[WRITERS]; /* commits of each writer that were acknowledged */
    atomic_ullong commits;
    atomic_ullong snapshots;
    atomic_ullong syncs;
    atomic_ullong opened;
    atomic_ullong told;
    atomic_bool stop;
} Bank;

static SapTxnCtx *begin(Bank *bank, unsigned flags)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(bank->db, NULL, flags, &txn);

    EXPECT(rc == SAP_OK, "begin with flags %u answered %d", flags, rc);
    return txn;
}

static void transfer(SapTxnCtx *txn, Choice *choice)
{
    uint32_t from = choice_below(choice, TABLES * ACCOUNTS);
    uint32_t to = choice_below(choice, TABLES * ACCOUNTS);
    uint32_t pad = choice_one_in(choice, 6) ? choice_below(choice, MAX_PAD) : 16;

    if (from == to) {
        return;
    }
    uint64_t amount = numbers_read(txn, from % TABLES, from / TABLES) / 3;
    numbers_write(txn, from % TABLES, from / TABLES,
                  numbers_read(txn, from % TABLES, from / TABLES) - amount, pad);
    numbers_write(txn, to % TABLES, to / TABLES,
                  numbers_read(txn, to % TABLES, to / TABLES) + amount, pad);
}

static void writer_round(Bank *bank, uint32_t self, Choice *choice)
{
    bool bulk = choice_one_in(choice, 40);
    SapTxnCtx *txn = begin(bank, SAP_TXN_WAIT | (bulk ? SAP_TXN_BULK : 0));
    uint32_t transfers = 1 + choice_below(choice, 4);

    for (uint32_t i = 0; i < transfers; i++) {
        transfer(txn, choice);
    }
    uint64_t n = numbers_read(txn, COUNTERS, self) + 1;
    numbers_write(txn, COUNTERS, self, n, 0);
    if (choice_one_in(choice, 8)) {
        sap_txn_abort(txn);
        return;
    }
    if (choice_one_in(choice, 3)) {
        uint64_t lsn = 0;
        EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
        if (choice_one_in(choice, 2)) {
            EXPECT_RC(sap_db_wait_durable(bank->db, lsn), SAP_OK);
            EXPECT(sap_db_durable_lsn(bank->db) >= lsn, "not durable");
            atomic_store(&bank->acked[self], n);
        }
    } else {
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        atomic_store(&bank->acked[self], n);
    }
    atomic_fetch_add(&bank->commits, 1);
}

static void *run_writer(void *arg)
{
    Bank *bank = arg;
    uint32_t self = atomic_fetch_add(&bank->next_writer, 1);
    Choice choice;

    choice_from_seed(&choice, bank->seed * 1000 + self);
    expect_context("writer, SAP_TEST_SEED=%" PRIu64, bank->seed);
    for (uint32_t i = 0; i < WRITER_ROUNDS; i++) {
        writer_round(bank, self, &choice);
    }
    return NULL;
}

static void expect_sum(SapTxnCtx *txn)
{
    uint64_t sum = 0;

    for (uint32_t dbi = 0; dbi < TABLES; dbi++) {
        SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
        EXPECT(cur != NULL, "no cursor");
        for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur)) {
            const void *val = NULL;
            uint32_t len = 0;
            EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &val, &len), SAP_OK);
            const uint8_t *bytes = val;
            uint64_t amount = load_u64le(bytes);
            EXPECT(len == 8 || (bytes[8] == amount % 251 && bytes[len - 1] == amount % 251),
                   "a torn row");
            sum += amount;
        }
        sap_cursor_close(cur);
    }
    EXPECT(sum == TOTAL, "the sum is %" PRIu64, sum);
}

/* What was acknowledged before a reader began is in what it sees, and counters never go back. */
static void *run_reader(void *arg)
{
    Bank *bank = arg;
    Choice choice;
    uint64_t seen[WRITERS] = {0};

    choice_from_seed(&choice, bank->seed * 1000 + 500 + atomic_fetch_add(&bank->next_reader, 1));
    expect_context("reader, SAP_TEST_SEED=%" PRIu64, bank->seed);
    for (uint32_t i = 0; i < READER_ROUNDS; i++) {
        uint64_t acked[WRITERS];
        for (uint32_t w = 0; w < WRITERS; w++) {
            acked[w] = atomic_load(&bank->acked[w]);
        }
        bool newest = choice_one_in(&choice, 3);
        SapTxnCtx *txn = begin(bank, SAP_TXN_RDONLY | (newest ? SAP_TXN_NEWEST : 0));
        expect_sum(txn);
        for (uint32_t w = 0; w < WRITERS; w++) {
            uint64_t count = numbers_read(txn, COUNTERS, w);
            EXPECT(count >= acked[w], "%" PRIu64 " commits seen, %" PRIu64 " acknowledged", count,
                   acked[w]);
            EXPECT(newest || count >= seen[w], "a counter went back");
            seen[w] = newest ? seen[w] : count;
        }
        if (choice_one_in(&choice, 4)) {
            expect_sum(txn);
        }
        EXPECT(!newest || sap_db_wait_durable(bank->db, sap_txn_base_lsn(txn)) == SAP_OK,
               "the base of a reader never becomes durable");
        sap_txn_abort(txn);
        atomic_fetch_add(&bank->snapshots, 1);
    }
    return NULL;
}

static void *run_syncs(void *arg)
{
    Bank *bank = arg;

    expect_context("syncs, SAP_TEST_SEED=%" PRIu64, bank->seed);
    for (uint32_t i = 0; i < OTHER_ROUNDS; i++) {
        uint64_t durable = sap_db_durable_lsn(bank->db);
        EXPECT_RC(sap_db_sync(bank->db), SAP_OK);
        EXPECT(sap_db_durable_lsn(bank->db) >= durable, "the durable commit went back");
        atomic_fetch_add(&bank->syncs, 1);
        if (i % 8 == 0) {
            model_expect_verified(bank->db);
        }
    }
    return NULL;
}

static void *run_opener(void *arg)
{
    Bank *bank = arg;
    uint32_t dbi = 20;

    expect_context("opener, SAP_TEST_SEED=%" PRIu64, bank->seed);
    for (uint32_t i = 0; i < OTHER_ROUNDS * 4; i++) {
        int rc = sap_dbi_open(bank->db, dbi, NULL, NULL, SAP_DBI_DUPSORT);
        EXPECT(rc == SAP_OK || rc == SAP_BUSY, "dbi_open answered %d", rc);
        if (rc == SAP_OK) {
            dbi++;
            atomic_fetch_add(&bank->opened, 1);
        }
        EXPECT_RC(sap_dbi_open(bank->db, COUNTERS, NULL, NULL, 0), SAP_OK);
        SapStat stat;
        EXPECT_RC(sap_db_stat(bank->db, &stat), SAP_OK);
        EXPECT(sap_db_num_pages(bank->db) > 0, "no pages");
    }
    return NULL;
}

static void count_change(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                         void *ctx)
{
    Bank *bank = ctx;

    EXPECT(key != NULL && key_len == 4 && val != NULL && val_len == 8, "a strange change");
    atomic_fetch_add(&bank->told, 1);
}

static void bank_open(Bank *bank)
{
    bank->bed.options.checkpoint_bytes = 16 * 1024;
    bank->bed.options.checkpoint_period_ms = 5;
    bank->bed.options.sync_mode = bank->mode;
    bank->bed.options.sync_period_ms = 2;
    bank->db = file_bed_open(&bank->bed);
}

static void bank_fill(Bank *bank)
{
    for (uint32_t dbi = 1; dbi < TABLES; dbi++) {
        EXPECT_RC(sap_dbi_open(bank->db, dbi, NULL, NULL, 0), SAP_OK);
    }
    EXPECT_RC(sap_dbi_open(bank->db, COUNTERS, NULL, NULL, 0), SAP_OK);
    SapTxnCtx *txn = begin(bank, 0);
    for (uint32_t i = 0; i < TABLES * ACCOUNTS; i++) {
        numbers_write(txn, i % TABLES, i / TABLES, TOTAL / (TABLES * ACCOUNTS), 16);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_db_watch_dbi(bank->db, COUNTERS, "", 0, count_change, bank), SAP_OK);
}

static void bank_run(Bank *bank)
{
    static void *(*const others[])(void *) = {run_syncs, run_opener};
    pthread_t threads[WRITERS + READERS + 2];
    uint32_t count = 0;

    for (; count < WRITERS + READERS + 2; count++) {
        void *(*run)(void *) = count < WRITERS             ? run_writer
                               : count < WRITERS + READERS ? run_reader
                                                           : others[count - WRITERS - READERS];
        EXPECT(pthread_create(&threads[count], NULL, run, bank) == 0, "no thread");
    }
    while (count > 0) {
        EXPECT(pthread_join(threads[--count], NULL) == 0, "no join");
    }
}

static void run_bank(SapSyncMode mode, uint64_t default_seeds)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(default_seeds);

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        size_t live = mem_live_total();
        Bank bank;
        memset(&bank, 0, sizeof bank);
        bank.seed = seed;
        bank.mode = mode;
        expect_context("bank, SAP_TEST_SEED=%" PRIu64, seed);
        file_bed_start(&bank.bed);
        bank.bed.options.page_size = files_page_sizes[seed % files_page_size_count];
        bank_open(&bank);
        bank_fill(&bank);
        bank_run(&bank);
        EXPECT_RC(sap_db_sync(bank.db), SAP_OK);
        model_expect_verified(bank.db);
        EXPECT_RC(sap_db_unwatch_dbi(bank.db, COUNTERS, "", 0, count_change, &bank), SAP_OK);
        uint64_t commits = atomic_load(&bank.commits);
        EXPECT(atomic_load(&bank.told) == commits, "%" PRIu64 " commits told", commits);
        file_bed_close(bank.db);
        bank_open(&bank);
        SapTxnCtx *txn = begin(&bank, SAP_TXN_RDONLY);
        uint64_t counted = 0;
        expect_sum(txn);
        for (uint32_t w = 0; w < WRITERS; w++) {
            counted += numbers_read(txn, COUNTERS, w);
        }
        EXPECT(counted == commits, "%" PRIu64 " commits are there of %" PRIu64, counted, commits);
        sap_txn_abort(txn);
        model_expect_verified(bank.db);
        file_bed_close(bank.db);
        printf("mode %d: %" PRIu64 " commits, %llu snapshots, %llu syncs, %llu tables opened, seed "
               "%" PRIu64 "\n",
               (int)mode, commits, (unsigned long long)atomic_load(&bank.snapshots),
               (unsigned long long)atomic_load(&bank.syncs),
               (unsigned long long)atomic_load(&bank.opened), seed);
        EXPECT(commits > 0 && atomic_load(&bank.syncs) > 0, "nothing happened");
        file_bed_end(&bank.bed);
        EXPECT(mem_live_total() == live, "memory is left");
    }
}

START_TEST(snapshots_are_whole_beside_durable_commits_and_checkpoints)
{
    run_bank(SAP_SYNC_COMMIT, 4);
}
END_TEST

/* Bulk commits claim their room, and wait for the checkpoint that runs beside them. */
START_TEST(snapshots_are_whole_where_files_share_blocks)
{
    arena_file_never_shared = true;
    run_bank(SAP_SYNC_COMMIT, 4);
    arena_file_never_shared = false;
}
END_TEST

START_TEST(snapshots_are_whole_beside_periodic_syncs_and_checkpoints)
{
    run_bank(SAP_SYNC_PERIODIC, 2);
}
END_TEST

START_TEST(snapshots_are_whole_beside_unsynced_commits_and_checkpoints)
{
    run_bank(SAP_SYNC_NONE, 2);
}
END_TEST

/* ---- A disk that fails ---------------------------------------------------------------------- */

#if SAP_FAULTS

/* Commits until the disk fails. What was acknowledged before is noted. */
static void *run_until_failure(void *arg)
{
    Bank *bank = arg;
    uint32_t self = atomic_fetch_add(&bank->next_writer, 1);
    Choice choice;

    choice_from_seed(&choice, bank->seed * 1000 + self);
    expect_context("writer on a failing disk, I/O %" PRIu64, bank->seed);
    for (;;) {
        SapTxnCtx *txn = NULL;
        int rc = sap_txn_begin_rc(bank->db, NULL, SAP_TXN_WAIT, &txn);
        if (rc == SAP_IO) {
            return NULL;
        }
        EXPECT_RC(rc, SAP_OK);
        transfer(txn, &choice);
        uint64_t n = numbers_read(txn, COUNTERS, self) + 1;
        numbers_write(txn, COUNTERS, self, n, 0);
        rc = sap_txn_commit(txn);
        if (rc == SAP_IO || rc == SAP_FULL) {
            return NULL;
        }
        EXPECT_RC(rc, SAP_OK);
        atomic_store(&bank->acked[self], n);
        atomic_fetch_add(&bank->commits, 1);
    }
}

static void *read_until_told(void *arg)
{
    Bank *bank = arg;

    expect_context("reader on a failing disk, I/O %" PRIu64, bank->seed);
    while (!atomic_load(&bank->stop)) {
        SapTxnCtx *txn = begin(bank, SAP_TXN_RDONLY);
        expect_sum(txn);
        sap_txn_abort(txn);
        atomic_fetch_add(&bank->snapshots, 1);
    }
    return NULL;
}

/* Free pages in the file: what fails is a commit, and not a put that makes the file grow. */
static void make_room(SapEnv *db)
{
    enum { ROOM = 1 << 20 };
    uint8_t *value = calloc(1, ROOM);

    EXPECT(value != NULL, "no memory");
    EXPECT_RC(sap_dbi_open(db, COUNTERS + 1, NULL, NULL, 0), SAP_OK);
    for (int put = 1; put >= 0; put--) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
        EXPECT_RC(put ? sap_txn_put_dbi(txn, COUNTERS + 1, "room", 4, value, ROOM)
                      : sap_txn_del_dbi(txn, COUNTERS + 1, "room", 4),
                  SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT_RC(sap_db_sync(db), SAP_OK);
    }
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    free(value);
}

static uint64_t fail_bank(uint64_t nth, int err)
{
    pthread_t threads[WRITERS + 1];
    Bank bank;

    memset(&bank, 0, sizeof bank);
    bank.seed = nth;
    file_bed_start(&bank.bed);
    bank_open(&bank);
    bank_fill(&bank);
    make_room(bank.db);
    fault_reset();
    fault_arm_io_from(nth, err);
    for (uint32_t i = 0; i <= WRITERS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, i < WRITERS ? run_until_failure : read_until_told,
                              &bank) == 0,
               "no thread");
    }
    for (uint32_t i = 0; i <= WRITERS; i++) {
        if (i == WRITERS) {
            atomic_store(&bank.stop, true);
        }
        EXPECT(pthread_join(threads[i], NULL) == 0, "no join");
    }
    int rc = sap_db_close(bank.db);
    EXPECT(rc == SAP_IO || rc == SAP_FULL || rc == SAP_OK, "close answered %d", rc);
    fault_reset();
    bank_open(&bank);
    SapTxnCtx *txn = begin(&bank, SAP_TXN_RDONLY);
    expect_sum(txn);
    for (uint32_t w = 0; w < WRITERS; w++) {
        uint64_t count = numbers_read(txn, COUNTERS, w);
        uint64_t acked = atomic_load(&bank.acked[w]);
        EXPECT(count == acked || count == acked + 1,
               "%" PRIu64 " commits are there, %" PRIu64 " were acknowledged", count, acked);
    }
    sap_txn_abort(txn);
    model_expect_verified(bank.db);
    file_bed_close(bank.db);
    file_bed_end(&bank.bed);
    return atomic_load(&bank.commits);
}

START_TEST(failing_disk_is_told_to_every_thread)
{
    uint64_t commits = 0;
    uint64_t trials = 0;

    for (uint64_t nth = 1; nth <= 120; nth += 3, trials++) {
        commits += fail_bank(nth, nth % 2 == 0 ? EIO : ENOSPC);
    }
    printf("%" PRIu64 " failing disks, %" PRIu64 " commits before\n", trials, commits);
    ck_assert_uint_gt(commits, 0);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("engine_file_threads");
    TCase *tcase = tcase_create("file threads");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, snapshots_are_whole_beside_durable_commits_and_checkpoints);
    tcase_add_test(tcase, snapshots_are_whole_where_files_share_blocks);
    tcase_add_test(tcase, snapshots_are_whole_beside_periodic_syncs_and_checkpoints);
    tcase_add_test(tcase, snapshots_are_whole_beside_unsynced_commits_and_checkpoints);
#if SAP_FAULTS
    tcase_add_test(tcase, failing_disk_is_told_to_every_thread);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
