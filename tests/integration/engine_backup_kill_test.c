/* A process that compacts its database again and again, while it commits, is killed at any moment:
 * the target is not there or complete, what was acknowledged is in the source, and the next try
 * works whatever lies there.
 *
 * SAP_KILLS says how many deaths; SAP_TEST_SEED decides the moments. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/random.h"
#include "support/choice.h"
#include "support/copies.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/numbers.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 300,
    KILLS = 40,
    STILL = 10,         /* table of rows that nobody changes */
    STILL_ROWS = 30000, /* so that a compaction takes its time */
    SLOTS = 50,
    LAST = 0,  /* table: one row, the number of the last commit */
    FIRST = 1, /* two tables: slot -> the last commit that wrote it */
    SECOND = 2,
};

typedef struct Shared {
    atomic_ullong acked;
    atomic_uint compacted; /* completed by the present child */
} Shared;

static FileBed bed;
static char target[FILES_PATH_MAX + 8];
static Shared *shared;

/* Now and then a large value. */
static void put_number(SapTxnCtx *txn, uint32_t dbi, uint32_t number, uint64_t value)
{
    numbers_write(txn, dbi, number, value, value % 9 == 0 ? 6000 : 0);
}

/* ---- The child ------------------------------------------------------------------------------ */

static void commit_once(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    uint64_t n = numbers_read(txn, LAST, 0) + 1;
    put_number(txn, LAST, 0, n);
    put_number(txn, FIRST, (uint32_t)(n % SLOTS), n);
    put_number(txn, SECOND, (uint32_t)(n % SLOTS), n);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    atomic_store(&shared->acked, n);
}

static void *compact_forever(void *arg)
{
    SapEnv *db = arg;

    for (;;) {
        int rc = sap_db_compact(db, target);
        EXPECT(rc == SAP_OK, "compact answered %d: %s", rc, bed.message);
        atomic_fetch_add(&shared->compacted, 1);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        EXPECT_RC(unlink(target), 0);
    }
    return NULL;
}

static _Noreturn void live(void)
{
    SapEnv *db = file_bed_open(&bed);

#if SAPLING_THREADED
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, compact_forever, db) == 0, "no thread");
    for (;;) {
        commit_once(db);
    }
#else
    commit_once(db);
    (void)compact_forever(db);
    abort();
#endif
}

/* ---- The parent ----------------------------------------------------------------------------- */

static void fill(SapEnv *db)
{
    static const uint32_t dbis[] = {FIRST, SECOND, STILL};
    SapTxnCtx *txn = NULL;

    for (size_t i = 0; i < sizeof dbis / sizeof dbis[0]; i++) {
        EXPECT_RC(sap_dbi_open(db, dbis[i], NULL, NULL, 0), SAP_OK);
    }
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_BULK, &txn), SAP_OK);
    for (uint32_t i = 0; i < STILL_ROWS; i++) {
        put_number(txn, STILL, i * 7919 % STILL_ROWS, 9 * (uint64_t)i + (i % 100 != 0));
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

/* The state behind commit n, which is returned. */
static uint64_t expect_whole(SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    SapStat stat;

    model_expect_verified(db);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    uint64_t last = numbers_read(txn, LAST, 0);
    for (uint64_t slot = 0; slot < SLOTS; slot++) {
        uint64_t back = (last + SLOTS - slot) % SLOTS;
        uint64_t expected = last > back ? last - back : 0;
        for (uint32_t dbi = FIRST; dbi <= SECOND; dbi++) {
            uint64_t n = numbers_read(txn, dbi, (uint32_t)slot);
            EXPECT(n == expected,
                   "behind commit %" PRIu64 " slot %" PRIu64 " of table %u has %" PRIu64, last,
                   slot, dbi, n);
        }
    }
    EXPECT_RC(sap_dbi_stat(txn, STILL, &stat), SAP_OK);
    EXPECT(stat.num_entries == STILL_ROWS, "%" PRIu64 " rows that stay", stat.num_entries);
    sap_txn_abort(txn);
    return last;
}

static void live_and_be_killed(Rng *rng)
{
    int status = 0;

    fflush(NULL);
    atomic_store(&shared->compacted, 0);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        live();
    }
    nanosleep(&(struct timespec){.tv_nsec = (long)rng_below(rng, 60000000)}, NULL);
    EXPECT(kill(pid, SIGKILL) == 0, "no kill");
    EXPECT(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
           "the child failed with status %d", status);
}

START_TEST(killed_compaction_leaves_no_part_of_its_target)
{
    const char *text = getenv("SAP_KILLS");
    uint64_t kills = text == NULL || *text == '\0' ? KILLS : strtoull(text, NULL, 10);
    uint64_t seed = choice_first_seed();
    uint64_t complete = 0;
    uint64_t parts = 0;
    uint64_t made = 0;
    char unfinished[FILES_PATH_MAX + 16];
    Rng rng;

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
    rng_seed(&rng, seed);
    file_bed_start(&bed);
    bed.options.checkpoint_bytes = 256 * 1024;
    snprintf(target, sizeof target, "%s/target", bed.dir);
    snprintf(unfinished, sizeof unfinished, "%s-new", target);
    SapEnv *db = file_bed_open(&bed);
    fill(db);
    file_bed_close(db);
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64, seed, i + 1);
        live_and_be_killed(&rng);
        made += atomic_load(&shared->compacted);
        uint64_t acked = atomic_load(&shared->acked);
        uint64_t copied = 0;
        if (copies_exist(target)) {
            SapEnv *copy = copies_open(&bed, target);
            copied = expect_whole(copy);
            file_bed_close(copy);
            copies_remove(target);
            complete++;
        }
        parts += copies_exist(unfinished);
        db = file_bed_open(&bed);
        uint64_t last = expect_whole(db);
        EXPECT(last >= acked && last <= acked + 1 && copied <= last,
               "commit %" PRIu64 " is last, %" PRIu64 " was acknowledged, %" PRIu64 " copied", last,
               acked, copied);
        atomic_store(&shared->acked, last);
        EXPECT_RC(sap_db_compact(db, target), SAP_OK);
        EXPECT(!copies_exist(unfinished), "something is left");
        SapEnv *copy = copies_open(&bed, target);
        EXPECT(expect_whole(copy) == last, "the copy is another");
        file_bed_close(copy);
        copies_remove(target);
        file_bed_close(db);
    }
    printf("%" PRIu64 " deaths, %" PRIu64 " with a part, %" PRIu64
           " with a complete target, %" PRIu64 " compacted before, seed %" PRIu64 "\n",
           kills, parts, complete, made, seed);
    ck_assert_uint_gt(kills, 0);
    ck_assert_uint_gt(parts, 0);
    file_bed_end(&bed);
    munmap(shared, sizeof *shared);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_backup_kill");
    TCase *tcase = tcase_create("kill");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, killed_compaction_leaves_no_part_of_its_target);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
