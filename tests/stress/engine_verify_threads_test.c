/* What one thread may ask of a DB while others write, read or leave. Clean under the thread
 * sanitizer; bounded by counts of operations, never by time. */
#include "common/bytes.h"
#include "common/mem.h"
#include "support/backing.h"
#include "support/expect.h"
#include "support/model.h"
#include "support/suite.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 600, BIG = 3000 };

static uint8_t big_value[BIG];

static SapTxnCtx *begin(SapEnv *db, unsigned flags)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, flags, &txn), SAP_OK);
    return txn;
}

static void start(pthread_t *thread, void *(*run)(void *), void *arg)
{
    EXPECT(pthread_create(thread, NULL, run, arg) == 0, "no thread");
}

static void join(pthread_t thread)
{
    EXPECT(pthread_join(thread, NULL) == 0, "no join");
}

/* ---- Looking at a DB that grows ------------------------------------------------------------- */

typedef struct Growth {
    SapEnv *db;
    atomic_bool done;
    atomic_ullong commits;
} Growth;

/* Every commit adds the same number of rows to both tables, until a last one removes them: the
 * arena's table of pages and the DB's bookkeeping grow all the time. */
enum { ROUNDS = 120, ROWS = 60, GROWTHS = 3 };

static void *run_growth(void *arg)
{
    Growth *growth = arg;
    uint8_t key[8];

    for (uint32_t round = 0; round < ROUNDS; round++) {
        SapTxnCtx *txn = begin(growth->db, SAP_TXN_WAIT);
        for (uint32_t i = 0; i < ROWS; i++) {
            store_u64be(key, (uint64_t)i * ROUNDS + round);
            uint32_t len = i % 10 == 0 ? BIG : i;
            EXPECT_RC(sap_txn_put_dbi(txn, 0, key, 8, big_value, len), SAP_OK);
            EXPECT_RC(sap_txn_put_dbi(txn, 1, key, 8, big_value, len), SAP_OK);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        atomic_fetch_add(&growth->commits, 1);
    }
    SapTxnCtx *txn = begin(growth->db, SAP_TXN_WAIT);
    for (uint32_t dbi = 0; dbi < 2; dbi++) {
        SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
        EXPECT(cur != NULL, "no cursor");
        EXPECT_RC(sap_cursor_first(cur), SAP_OK);
        while (sap_cursor_del(cur) == SAP_OK) {
        }
        sap_cursor_close(cur);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    atomic_store(&growth->done, true);
    return NULL;
}

static void watch_growth(BackingKind kind, uint64_t *verified)
{
    Backing backing;
    Growth growth = {0};
    pthread_t writer;
    uint64_t last_txnid = 0;

    backing_open(&backing, kind, 256, UINT64_C(256) << 20);
    growth.db = sap_db_open(backing.arena, 0, NULL, NULL);
    EXPECT(growth.db != NULL, "no DB");
    EXPECT_RC(sap_dbi_open(growth.db, 1, NULL, NULL, 0), SAP_OK);
    start(&writer, run_growth, &growth);
    bool done = false;
    while (!done) {
        SapStat stat;
        done = atomic_load(&growth.done); /* a last look after the end */
        model_expect_verified(growth.db);
        EXPECT_RC(sap_db_stat(growth.db, &stat), SAP_OK);
        EXPECT(stat.num_entries % ROWS == 0, "%llu rows are no commit",
               (unsigned long long)stat.num_entries);
        EXPECT(stat.txnid >= last_txnid, "the DB went back");
        EXPECT(stat.page_size == 256 && stat.tree_depth < 20, "a torn stat");
        last_txnid = stat.txnid;
        *verified += stat.num_entries > 0 ? 1 : 0;
        EXPECT((sap_db_num_pages(growth.db) > 0) || stat.num_entries == 0, "rows without pages");
    }
    join(writer);
    EXPECT_RC(sap_db_close(growth.db), SAP_OK);
    backing_close(&backing);
}

START_TEST(verify_and_stat_see_whole_commits_beside_a_writer_that_allocates)
{
    uint64_t verified = 0;

    for (int kind = 0; kind < BACKING_KIND_COUNT; kind++) {
        for (int i = 0; i < GROWTHS; i++) {
            expect_context("%s arena", backing_name((BackingKind)kind));
            watch_growth((BackingKind)kind, &verified);
        }
    }
    printf("growing: %llu times rows were verified beside %d commits\n",
           (unsigned long long)verified, BACKING_KIND_COUNT * GROWTHS * (ROUNDS + 1));
    ck_assert_uint_gt(verified, 0);
}
END_TEST

/* ---- The state of a subsystem replaced beside readers --------------------------------------- */

typedef struct Replacing {
    SapEnv *db;
    atomic_uintptr_t in_force; /* stored after the call that set it has returned */
    atomic_bool done;
    atomic_ullong readers;
} Replacing;

/* While a reader is open nothing can be replaced, so what is in force is never newer than what the
 * reader got. */
static void *run_state_reader(void *arg)
{
    Replacing *replacing = arg;

    while (!atomic_load(&replacing->done)) {
        SapTxnCtx *txn = begin(replacing->db, SAP_TXN_RDONLY);
        void *state = NULL;
        EXPECT_RC(sap_txn_subsystem_state(txn, 3, &state), SAP_OK);
        for (uint32_t i = 0; i < 3; i++) {
            uintptr_t in_force = atomic_load(&replacing->in_force);
            EXPECT((uintptr_t)state >= in_force, "a reader has state %llu, replaced by %llu",
                   (unsigned long long)(uintptr_t)state, (unsigned long long)in_force);
        }
        sap_txn_abort(txn);
        atomic_fetch_add(&replacing->readers, 1);
    }
    return NULL;
}

START_TEST(a_subsystem_state_that_was_replaced_is_never_seen_again)
{
    enum { READERS = 2, TIMES = 10000 };
    static const SapSubsystemCallbacks callbacks = {.on_begin = NULL};
    pthread_t threads[READERS];
    Replacing replacing = {0};
    uint64_t busy = 0;

    replacing.db = sap_db_open(NULL, 512, NULL, NULL);
    EXPECT(replacing.db != NULL, "no DB");
    EXPECT_RC(sap_env_register_subsystem(replacing.db, 3, &callbacks), SAP_OK);
    for (uint32_t i = 0; i < READERS; i++) {
        start(&threads[i], run_state_reader, &replacing);
    }
    for (uintptr_t state = 1; state <= TIMES;) {
        void *seen = NULL;
        int rc = sap_env_set_subsystem_state(replacing.db, 3, (void *)state);
        EXPECT(rc == SAP_OK || rc == SAP_BUSY, "set answered %d", rc);
        if (rc == SAP_BUSY) {
            busy++;
            sched_yield();
            continue;
        }
        atomic_store(&replacing.in_force, state);
        EXPECT_RC(sap_env_subsystem_state(replacing.db, 3, &seen), SAP_OK);
        EXPECT((uintptr_t)seen == state, "another state is in force");
        state++;
        while (atomic_load(&replacing.readers) < state) {
            sched_yield(); /* neither side runs ahead of the other */
        }
    }
    atomic_store(&replacing.done, true);
    for (uint32_t i = 0; i < READERS; i++) {
        join(threads[i]);
    }
    printf("states: %d replaced, %llu times busy, beside %llu readers\n", TIMES,
           (unsigned long long)busy, (unsigned long long)atomic_load(&replacing.readers));
    EXPECT_RC(sap_db_close(replacing.db), SAP_OK);
}
END_TEST

/* ---- Closing behind the last one ------------------------------------------------------------ */

typedef struct Leaving {
    SapTxnCtx *txn;
    atomic_uint *ready; /* threads about to leave */
    uint32_t everyone;
    bool commits;
} Leaving;

static void *run_leaving(void *arg)
{
    Leaving *leaving = arg;

    atomic_fetch_add(leaving->ready, 1);
    while (atomic_load(leaving->ready) < leaving->everyone) {
        sched_yield();
    }
    EXPECT_RC(sap_txn_get(leaving->txn, "k", 1, NULL, NULL), SAP_OK);
    if (leaving->commits) {
        EXPECT_RC(sap_txn_commit(leaving->txn), SAP_OK);
    } else {
        sap_txn_abort(leaving->txn);
    }
    return NULL;
}

/* `readers` threads end their readers, and one more the writer if asked for, while this one tries
 * to close; how often it was refused. */
static uint64_t close_behind(uint32_t readers, bool with_writer)
{
    enum { MOST = 4 };
    pthread_t threads[MOST + 1];
    Leaving leaving[MOST + 1];
    atomic_uint ready = 0;
    uint32_t count = readers + (with_writer ? 1 : 0);
    uint64_t refused = 0;
    size_t live = mem_live_total();

    SapEnv *db = sap_db_open(NULL, 512, NULL, NULL);
    EXPECT(db != NULL, "no DB");
    SapTxnCtx *txn = begin(db, 0);
    EXPECT_RC(sap_txn_put(txn, "k", 1, "v", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    for (uint32_t i = 0; i < count; i++) {
        bool writes = i == readers;
        leaving[i] = (Leaving){begin(db, writes ? 0 : SAP_TXN_RDONLY), &ready, count + 1, writes};
        if (writes) {
            EXPECT_RC(sap_txn_put(leaving[i].txn, "l", 1, big_value, BIG), SAP_OK);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        start(&threads[i], run_leaving, &leaving[i]);
    }
    EXPECT_RC(sap_db_close(db), SAP_BUSY);
    atomic_fetch_add(&ready, 1);
    int rc = SAP_BUSY;
    while ((rc = sap_db_close(db)) == SAP_BUSY) {
        refused++;
        sched_yield();
    }
    EXPECT(rc == SAP_OK, "close answered %d", rc);
    for (uint32_t i = 0; i < count; i++) {
        join(threads[i]);
    }
    EXPECT(mem_live_total() == live, "%zu bytes live instead of %zu", mem_live_total(), live);
    return refused;
}

START_TEST(a_db_can_be_closed_as_soon_as_its_last_transaction_has_ended)
{
    enum { TIMES = 150 };
    uint64_t refused = 0;

    for (uint32_t i = 0; i < TIMES; i++) {
        expect_context("close number %u", i);
        refused += close_behind(1, false);
        refused += close_behind(4, false);
        refused += close_behind(0, true);
        refused += close_behind(2, true);
    }
    printf("closing: %d times, %llu times refused before\n", TIMES * 4,
           (unsigned long long)refused);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_verify_threads");
    TCase *tcase = tcase_create("threads");

    memset(big_value, 'b', sizeof big_value);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, verify_and_stat_see_whole_commits_beside_a_writer_that_allocates);
    tcase_add_test(tcase, a_subsystem_state_that_was_replaced_is_never_seen_again);
    tcase_add_test(tcase, a_db_can_be_closed_as_soon_as_its_last_transaction_has_ended);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
