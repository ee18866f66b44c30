/* Real deaths: a process that commits from several threads is killed at any moment, again and again,
 * also while it recovers from the last time. Every commit that it was told of is there, each thread's
 * commits are there without a hole, and none is there in part.
 *
 * SAP_KILLS says how many deaths, SAP_KILL_SECONDS how long to go on instead; SAP_TEST_SEED decides
 * the options and the moments. With SAP_POWER_CUT, a command, the power fails instead: the command
 * makes the file system lose what it has not on disk, and answers when the child is to be killed;
 * called with the argument "back" it brings the file system back (tools/power_cuts.sh). */
#include "common/bytes.h"
#include "common/config.h"
#include "common/random.h"
#include "sapling/arena_impl.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
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
    KILLS = 30,
    KILLS_PER_FILE = 10,
    MAX_THREADS = 4,
    SLOTS = 40,   /* keys of a thread, used in turn */
    EXTRA = 3000, /* bytes of some values */
    NUMBERS = 0,  /* table: thread -> number of its last commit */
    ROWS = 1,     /* thread and slot -> that number, in every commit for a few slots */
    BIRTH_DBI = 100,
};

/* What outlives the child: the last acknowledged commit of each thread, and whether the DB had been
 * opened. */
typedef struct Shared {
    atomic_ullong acked[MAX_THREADS];
    atomic_uint opened;
    atomic_uint tables; /* opened by the child and acknowledged */
} Shared;

typedef struct Killing {
    FileBed bed;
    Shared *shared;
    uint64_t seed;
    uint32_t threads;
    uint32_t bulk_one_in;
    const char *power_cut; /* NULL: only the process dies */
    SapEnv *db;
} Killing;

typedef struct Worker {
    Killing *killing;
    uint32_t thread;
} Worker;

/* ---- The child ------------------------------------------------------------------------------ */

static uint64_t number_of(SapTxnCtx *txn, uint32_t thread)
{
    uint8_t key[4];
    const void *val = NULL;
    uint32_t len = 0;

    store_u32be(key, thread);
    int rc = sap_txn_get_dbi(txn, NUMBERS, key, sizeof key, &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get answered %d", rc);
    EXPECT(rc == SAP_NOTFOUND || len == 8, "a number of %u bytes", len);
    return rc == SAP_OK ? load_u64le(val) : 0;
}

/* The slots that commit n of a thread writes: how many depends on n alone. */
static uint32_t slots_of(uint64_t n)
{
    return 1 + (uint32_t)(n % 4);
}

static uint32_t length_of(uint64_t n, uint32_t slot)
{
    return 8 + (uint32_t)((n * 31 + slot) % (n % 16 == 0 ? EXTRA : 60));
}

static void fill_value(uint8_t *out, uint64_t n, uint32_t len)
{
    store_u64le(out, n);
    memset(out + 8, (int)(n % 251), len - 8);
}

static void write_commit(SapTxnCtx *txn, uint32_t thread, uint64_t n)
{
    uint8_t key[8];
    uint8_t val[8 + EXTRA];

    for (uint32_t i = 0; i < slots_of(n); i++) {
        uint32_t slot = (uint32_t)((n + i) % SLOTS);
        uint32_t len = length_of(n, slot);
        store_u32be(key, thread);
        store_u32be(key + 4, slot);
        fill_value(val, n, len);
        EXPECT_RC(sap_txn_put_dbi(txn, ROWS, key, sizeof key, val, len), SAP_OK);
    }
    store_u32be(key, thread);
    store_u64le(val, n);
    EXPECT_RC(sap_txn_put_dbi(txn, NUMBERS, key, 4, val, 8), SAP_OK);
}

static void commit_once(Killing *killing, uint32_t thread, Rng *rng)
{
    SapTxnCtx *txn = NULL;
    bool bulk = killing->bulk_one_in != 0 && rng_chance(rng, 1, killing->bulk_one_in);
    int rc = sap_txn_begin_rc(killing->db, NULL, SAP_TXN_WAIT | (bulk ? SAP_TXN_BULK : 0), &txn);

    EXPECT(rc == SAP_OK, "begin answered %d", rc);
    uint64_t n = number_of(txn, thread) + 1;
    write_commit(txn, thread, n);
    if (rng_chance(rng, 1, 4)) {
        uint64_t lsn = 0;
        EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
        EXPECT_RC(sap_db_wait_durable(killing->db, lsn), SAP_OK);
    } else {
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    atomic_store(&killing->shared->acked[thread], n);
}

static void *commit_forever(void *arg)
{
    Worker *worker = arg;
    Rng rng;

    rng_seed(&rng, worker->killing->seed * 100 + worker->thread);
    for (;;) {
        commit_once(worker->killing, worker->thread, &rng);
        if (worker->thread == 0 && rng_chance(&rng, 1, 200)) {
            EXPECT_RC(sap_db_sync(worker->killing->db), SAP_OK);
        }
    }
    return NULL;
}

/* Tables are opened one by one; a busy answer is none. */
static void open_one_table(Killing *killing)
{
    unsigned tables = atomic_load(&killing->shared->tables);
    uint32_t dbi = BIRTH_DBI + tables;

    if (dbi <= SAP_MAX_DBI &&
        sap_dbi_open(killing->db, dbi, NULL, NULL, SAP_DBI_DUPSORT) == SAP_OK) {
        atomic_store(&killing->shared->tables, tables + 1);
    }
}

static _Noreturn void live(Killing *killing)
{
    static Worker workers[MAX_THREADS];
    static pthread_t threads[MAX_THREADS];

    killing->db = file_bed_open(&killing->bed);
    EXPECT_RC(sap_dbi_open(killing->db, ROWS, NULL, NULL, 0), SAP_OK);
    open_one_table(killing);
    atomic_store(&killing->shared->opened, 1);
    for (uint32_t i = 0; i < killing->threads; i++) {
        workers[i] = (Worker){killing, i};
    }
    for (uint32_t i = 1; i < killing->threads; i++) {
        EXPECT(pthread_create(&threads[i], NULL, commit_forever, &workers[i]) == 0, "no thread");
    }
    commit_forever(&workers[0]);
    abort();
}

/* ---- The parent ----------------------------------------------------------------------------- */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000),
                                 .tv_nsec = (long)(us % 1000000 * 1000)},
              NULL);
}

/* Each row of a thread is from the last commit that wrote its slot. */
static uint64_t expect_rows(SapTxnCtx *txn, uint32_t thread, uint64_t last)
{
    uint64_t rows = 0;

    for (uint32_t slot = 0; slot < SLOTS; slot++) {
        uint64_t writer = 0;
        uint8_t key[8];
        uint8_t expected[8 + EXTRA];
        const void *val = NULL;
        uint32_t len = 0;
        for (uint64_t n = last; writer == 0 && n > 0 && n + SLOTS + 4 > last; n--) {
            uint32_t behind = (slot + SLOTS - (uint32_t)(n % SLOTS)) % SLOTS;
            writer = behind < slots_of(n) ? n : 0;
        }
        store_u32be(key, thread);
        store_u32be(key + 4, slot);
        int rc = sap_txn_get_dbi(txn, ROWS, key, sizeof key, &val, &len);
        EXPECT(rc == (writer == 0 ? SAP_NOTFOUND : SAP_OK), "thread %u, slot %u answered %d",
               thread, slot, rc);
        if (writer != 0) {
            EXPECT(len == length_of(writer, slot), "thread %u, slot %u has %u bytes", thread, slot,
                   len);
            fill_value(expected, writer, len);
            EXPECT(memcmp(val, expected, len) == 0,
                   "thread %u, slot %u is of commit %" PRIu64 " instead of %" PRIu64, thread, slot,
                   load_u64le(val), writer);
            rows++;
        }
    }
    return rows;
}

static uint64_t expect_everything(Killing *killing)
{
    SapEnv *db = file_bed_open(&killing->bed);
    SapTxnCtx *txn = NULL;
    SapStat stat;
    uint64_t commits = 0;
    uint64_t rows = 0;

    EXPECT_RC(sap_dbi_open(db, ROWS, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (uint32_t i = 0; i < killing->threads; i++) {
        uint64_t acked = atomic_load(&killing->shared->acked[i]);
        uint64_t last = number_of(txn, i);
        EXPECT(last >= acked, "thread %u: commit %" PRIu64 " was acknowledged, %" PRIu64 " is last",
               i, acked, last);
        EXPECT(last <= acked + 1,
               "thread %u: commit %" PRIu64 " came before %" PRIu64 " was acknowledged", i, last,
               acked + 1);
        rows += expect_rows(txn, i, last);
        atomic_store(&killing->shared->acked[i], last); /* from now on it must stay */
        commits += last;
    }
    EXPECT_RC(sap_dbi_stat(txn, ROWS, &stat), SAP_OK);
    EXPECT(stat.num_entries == rows, "%" PRIu64 " rows more", stat.num_entries - rows);
    for (unsigned i = 0; i < atomic_load(&killing->shared->tables); i++) {
        EXPECT_RC(sap_dbi_stat(txn, BIRTH_DBI + i, &stat), SAP_OK);
    }
    sap_txn_abort(txn);
    model_expect_verified(db);
    file_bed_close(db);
    return commits;
}

static void call_power(const Killing *killing, const char *what)
{
    char command[300];

    EXPECT(snprintf(command, sizeof command, "%s %s", killing->power_cut, what) <
               (int)sizeof command,
           "a long command");
    EXPECT(system(command) == 0, "'%s' failed", command);
}

/* The end of a child, which may notice that its disk is gone before it is killed. */
static void end_child(const Killing *killing, pid_t pid)
{
    int status = 0;

    if (killing->power_cut != NULL) {
        call_power(killing, "cut");
    }
    EXPECT(kill(pid, SIGKILL) == 0, "no kill");
    EXPECT(waitpid(pid, &status, 0) == pid, "no child");
    EXPECT(killing->power_cut != NULL || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL),
           "the child failed with status %d", status);
    if (killing->power_cut != NULL) {
        call_power(killing, "back");
    }
}

/* Half of the children live until they have been committing for a while, the others may die in
 * recovery. */
static void live_and_be_killed(Killing *killing, Rng *rng)
{
    bool any_time = rng_chance(rng, 1, 2);
    int status = 0;

    atomic_store(&killing->shared->opened, 0);
    fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        if (killing->power_cut != NULL && freopen("/dev/null", "w", stderr) == NULL) {
            abort(); /* that the disk went away is no news */
        }
        live(killing);
    }
    while (!any_time && atomic_load(&killing->shared->opened) == 0) {
        EXPECT(waitpid(pid, &status, WNOHANG) == 0, "the child failed with status %d", status);
        sleep_us(200);
    }
    sleep_us(rng_below(rng, any_time ? 40000 : 120000));
    end_child(killing, pid);
}

static void choose_options(Killing *killing, Rng *rng)
{
    static const uint64_t thresholds[] = {16 * 1024, 64 * 1024, 512 * 1024, 4 << 20};
    SapOpenOptions *options = &killing->bed.options;

    options->page_size = files_page_sizes[rng_below(rng, files_page_size_count)];
    options->checkpoint_bytes = thresholds[rng_below(rng, 4)];
    options->checkpoint_period_ms = rng_chance(rng, 1, 3) ? 10 : 0;
    killing->threads = SAPLING_THREADED ? 1 + (uint32_t)rng_below(rng, MAX_THREADS) : 1;
    killing->bulk_one_in = rng_chance(rng, 1, 2) ? 30 : 0;
#if SAP_FAULTS
    arena_file_never_shared = rng_chance(rng, 1, 2); /* as on file systems that share blocks */
#endif
}

/* A file of its own, through some deaths. Returns the commits it holds in the end. */
static uint64_t kill_file(uint64_t seed, uint64_t kills, Shared *shared)
{
    Killing *killing = calloc(1, sizeof *killing);
    Rng rng;
    uint64_t commits = 0;

    EXPECT(killing != NULL, "no memory");
    memset(shared, 0, sizeof *shared);
    killing->shared = shared;
    killing->seed = seed;
    killing->power_cut = getenv("SAP_POWER_CUT");
    rng_seed(&rng, seed);
    file_bed_start(&killing->bed);
    if (killing->power_cut != NULL) {
        sync(); /* the directory is the test's, not the engine's */
    }
    choose_options(killing, &rng);
    for (uint64_t i = 0; i < kills; i++) {
        expect_context("SAP_TEST_SEED=%" PRIu64 ", death %" PRIu64 ": %u threads, pages of %u, "
                       "checkpoints each %" PRIu64 " bytes",
                       seed, i + 1, killing->threads, killing->bed.options.page_size,
                       killing->bed.options.checkpoint_bytes);
        live_and_be_killed(killing, &rng);
        commits = expect_everything(killing);
    }
    file_bed_end(&killing->bed);
    free(killing);
    return commits;
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL || *text == '\0' ? otherwise : strtoull(text, NULL, 10);
}

START_TEST(killed_process_loses_nothing_acknowledged)
{
    uint64_t seed = choice_first_seed();
    uint64_t seconds = number_from("SAP_KILL_SECONDS", 0);
    uint64_t kills = seconds != 0 ? UINT64_MAX : number_from("SAP_KILLS", KILLS);
    uint64_t end_ns = now_ns() + seconds * UINT64_C(1000000000);
    uint64_t done = 0;
    uint64_t commits = 0;
    Shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(shared, MAP_FAILED);
    for (; done < kills && (seconds == 0 || now_ns() < end_ns); seed++) {
        uint64_t part = kills - done < KILLS_PER_FILE ? kills - done : KILLS_PER_FILE;
        commits += kill_file(seed, part, shared);
        done += part;
        if (seconds != 0) {
            printf("%" PRIu64 " deaths, %" PRIu64 " commits, seed %" PRIu64 "\n", done, commits,
                   seed);
            fflush(stdout);
        }
    }
    printf("%" PRIu64 " deaths, %" PRIu64 " commits, seeds %" PRIu64 " to %" PRIu64 "\n", done,
           commits, choice_first_seed(), seed - 1);
    munmap(shared, sizeof *shared);
    ck_assert_uint_gt(done, 0);
    ck_assert_uint_gt(commits, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_kill");
    TCase *tcase = tcase_create("kill");

    tcase_set_timeout(tcase, (double)(TIMEOUT_S + 2 * number_from("SAP_KILL_SECONDS", 0)));
    tcase_add_test(tcase, killed_process_loses_nothing_acknowledged);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
