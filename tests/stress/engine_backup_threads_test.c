/* Copies made while four writers commit and checkpoints run all the time: each copy is the state
 * between two commits, never a part of one. Clean under the thread sanitizer; bounded by counts of
 * copies. SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend. */
#include "common/bytes.h"
#include "common/mem.h"
#include "support/choice.h"
#include "support/copies.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/numbers.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    TIMEOUT_S = 300,
    TABLES = 3,
    ACCOUNTS = 200, /* per table */
    EACH = 1000,
    WRITERS = 4,
    COPIES = 25,  /* of each kind */
    COUNTERS = 8, /* table: writer -> commits made */
    ALL = 9,      /* table: one row, commits made by all of them */
};

typedef struct Bank {
    FileBed bed;
    SapEnv *db;
    uint64_t seed;
    atomic_uint next_writer;
    atomic_uint copying;          /* threads that make copies */
    atomic_ullong begun[WRITERS]; /* commits that were begun, and acknowledged */
    atomic_ullong acked[WRITERS];
    atomic_ullong checkpoints;
    atomic_ullong rows;
} Bank;

/* Moves an amount from one table to another; some rows are in runs of their own. */
static void transfer(SapTxnCtx *txn, Choice *choice)
{
    uint32_t from = choice_below(choice, TABLES * ACCOUNTS);
    uint32_t to = choice_below(choice, TABLES * ACCOUNTS);
    uint32_t pad = choice_one_in(choice, 5) ? choice_below(choice, NUMBERS_MAX_PAD) : 16;
    uint64_t has = numbers_read(txn, from % TABLES, from / TABLES);

    numbers_write(txn, from % TABLES, from / TABLES, has - has / 3, pad);
    numbers_write(txn, to % TABLES, to / TABLES,
                  numbers_read(txn, to % TABLES, to / TABLES) + has / 3, pad);
}

static void *run_writer(void *arg)
{
    Bank *bank = arg;
    uint32_t self = atomic_fetch_add(&bank->next_writer, 1);
    Choice choice;

    choice_from_seed(&choice, bank->seed * 1000 + self);
    expect_context("writer, SAP_TEST_SEED=%" PRIu64, bank->seed);
    while (atomic_load(&bank->copying) > 0) {
        SapTxnCtx *txn = NULL;
        unsigned bulk = choice_one_in(&choice, 50) ? SAP_TXN_BULK : 0;
        EXPECT_RC(sap_txn_begin_rc(bank->db, NULL, SAP_TXN_WAIT | bulk, &txn), SAP_OK);
        for (uint32_t i = 0; i <= choice_below(&choice, 4); i++) {
            transfer(txn, &choice);
        }
        uint64_t n = numbers_read(txn, COUNTERS, self) + 1;
        numbers_write(txn, COUNTERS, self, n, 0);
        numbers_write(txn, ALL, 0, numbers_read(txn, ALL, 0) + 1, 0);
        atomic_store(&bank->begun[self], n);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        atomic_store(&bank->acked[self], n);
    }
    return NULL;
}

static void *run_checkpoints(void *arg)
{
    Bank *bank = arg;

    expect_context("checkpoints, SAP_TEST_SEED=%" PRIu64, bank->seed);
    while (atomic_load(&bank->copying) > 0) {
        EXPECT_RC(sap_db_sync(bank->db), SAP_OK);
        atomic_fetch_add(&bank->checkpoints, 1);
        nanosleep(&(struct timespec){.tv_nsec = 500000}, NULL); /* something to write next time */
    }
    return NULL;
}

/* All the money is there, and as many commits as the writers made together. */
static uint64_t expect_boundary(SapEnv *db, const uint64_t acked[WRITERS],
                                const uint64_t begun[WRITERS])
{
    SapTxnCtx *txn = NULL;
    uint64_t sum = 0;
    uint64_t commits = 0;
    uint64_t rows = 0;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (uint32_t dbi = 0; dbi < TABLES; dbi++) {
        SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
        for (int rc = sap_cursor_first(cur); rc == SAP_OK; rc = sap_cursor_next(cur), rows++) {
            const void *val = NULL;
            uint32_t len = 0;
            EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &val, &len), SAP_OK);
            uint64_t amount = load_u64le(val);
            EXPECT(len == 8 || ((const uint8_t *)val)[len - 1] == amount % 251, "a torn row");
            sum += amount;
        }
        sap_cursor_close(cur);
    }
    for (uint32_t w = 0; w < WRITERS; w++) {
        uint64_t n = numbers_read(txn, COUNTERS, w);
        EXPECT(n >= acked[w] && n <= begun[w],
               "writer %u: %" PRIu64 " commits, between %" PRIu64 " and %" PRIu64 " were made", w,
               n, acked[w], begun[w]);
        commits += n;
    }
    EXPECT(sum == (uint64_t)TABLES * ACCOUNTS * EACH, "the sum is %" PRIu64, sum);
    EXPECT(numbers_read(txn, ALL, 0) == commits, "%" PRIu64 " commits, %" PRIu64 " counted",
           commits, numbers_read(txn, ALL, 0));
    sap_txn_abort(txn);
    return rows;
}

static void make_copies(Bank *bank, const char *name, int (*make)(SapEnv *db, const char *path))
{
    char path[FILES_PATH_MAX + 16];

    expect_context("%s, SAP_TEST_SEED=%" PRIu64, name, bank->seed);
    snprintf(path, sizeof path, "%s/%s", bank->bed.dir, name);
    for (uint32_t i = 0; i < COPIES; i++) {
        uint64_t acked[WRITERS];
        uint64_t begun[WRITERS];
        for (uint32_t w = 0; w < WRITERS; w++) {
            acked[w] = atomic_load(&bank->acked[w]);
        }
        EXPECT_RC(make(bank->db, path), SAP_OK);
        for (uint32_t w = 0; w < WRITERS; w++) {
            begun[w] = atomic_load(&bank->begun[w]);
        }
        SapEnv *copy = copies_open(&bank->bed, path);
        atomic_fetch_add(&bank->rows, expect_boundary(copy, acked, begun));
        model_expect_verified(copy);
        file_bed_close(copy);
        copies_remove(path);
    }
    atomic_fetch_sub(&bank->copying, 1);
}

static void *run_backups(void *arg)
{
    make_copies(arg, "backup", copies_backup);
    return NULL;
}

static void *run_compactions(void *arg)
{
    make_copies(arg, "compact", sap_db_compact);
    return NULL;
}

static void bank_fill(Bank *bank)
{
    static const uint32_t dbis[] = {1, 2, COUNTERS, ALL};
    SapTxnCtx *txn = NULL;

    for (size_t i = 0; i < sizeof dbis / sizeof dbis[0]; i++) {
        EXPECT_RC(sap_dbi_open(bank->db, dbis[i], NULL, NULL, 0), SAP_OK);
    }
    EXPECT_RC(sap_txn_begin_rc(bank->db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = 0; i < TABLES * ACCOUNTS; i++) {
        numbers_write(txn, i % TABLES, i / TABLES, EACH, 16);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void run_bank(SapSyncMode mode, uint64_t default_seeds)
{
    static void *(*const runs[])(void *) = {run_backups, run_compactions, run_checkpoints,
                                            run_writer,  run_writer,      run_writer,
                                            run_writer};
    enum { THREADS = sizeof runs / sizeof runs[0] };
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(default_seeds);

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        size_t live = mem_live_total();
        pthread_t threads[THREADS];
        Bank bank;
        memset(&bank, 0, sizeof bank);
        bank.seed = seed;
        atomic_store(&bank.copying, 2);
        expect_context("bank, SAP_TEST_SEED=%" PRIu64, seed);
        file_bed_start(&bank.bed);
        bank.bed.options.page_size = files_page_sizes[seed % files_page_size_count];
        bank.bed.options.checkpoint_bytes = 64 * 1024;
        bank.bed.options.sync_mode = mode;
        bank.db = file_bed_open(&bank.bed);
        bank_fill(&bank);
        for (size_t i = 0; i < THREADS; i++) {
            EXPECT(pthread_create(&threads[i], NULL, runs[i], &bank) == 0, "no thread");
        }
        for (size_t i = 0; i < THREADS; i++) {
            EXPECT(pthread_join(threads[i], NULL) == 0, "no join");
        }
        uint64_t acked[WRITERS];
        uint64_t commits = 0;
        for (uint32_t w = 0; w < WRITERS; w++) {
            acked[w] = atomic_load(&bank.acked[w]);
            commits += acked[w];
        }
        (void)expect_boundary(bank.db, acked, acked);
        model_expect_verified(bank.db);
        file_bed_close(bank.db);
        printf("mode %d: %u copies with %llu rows beside %" PRIu64 " commits and %llu checkpoints, "
               "seed %" PRIu64 "\n",
               (int)mode, 2 * COPIES, (unsigned long long)atomic_load(&bank.rows), commits,
               (unsigned long long)atomic_load(&bank.checkpoints), seed);
        EXPECT(commits > 0 && atomic_load(&bank.checkpoints) > 0, "nothing happened meanwhile");
        file_bed_end(&bank.bed);
        EXPECT(mem_live_total() == live, "memory is left");
    }
}

START_TEST(copies_beside_durable_commits_are_whole)
{
    run_bank(SAP_SYNC_COMMIT, 4);
}
END_TEST

START_TEST(copies_beside_unsynced_commits_are_whole)
{
    run_bank(SAP_SYNC_NONE, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_backup_threads");
    TCase *tcase = tcase_create("backup threads");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, copies_beside_durable_commits_are_whole);
    tcase_add_test(tcase, copies_beside_unsynced_commits_are_whole);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
