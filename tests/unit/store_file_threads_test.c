/* Several threads on a store in a file: no update is lost, no row is claimed twice, and no wake-up is
 * missed; readers of the newest commits are woken at the commit, durable ones when it is on disk. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    TABLE = 16,
    TAKEN = 17,
    TIMEOUT_S = 300,
    THREADS = 4,
    INCREMENTS = SAP_SANITIZED ? 300 : 1000,
    ROWS = SAP_SANITIZED ? 400 : 2000,
    ROUNDS = 100000,
    DURABLE_ROUNDS = SAP_SANITIZED ? 300 : 1000,
};

#define SECOND_NS UINT64_C(1000000000)

static FileBed bed;
static char url[FILES_PATH_MAX + 16];
static SapStore *store;

static void setup(void)
{
    static const uint32_t tables[] = {TABLE, TAKEN};
    SapStoreOptions options = {.tables = tables, .table_count = 2};
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
}

static void teardown(void)
{
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    file_bed_end(&bed);
}

static SapStoreTxn *begin(SapStoreKind kind)
{
    SapStoreTxn *txn = NULL;
    EXPECT_RC(sap_store_begin(store, kind, &txn), SAP_OK);
    return txn;
}

/* 0 where there is no row. */
static uint64_t get_number(SapStoreTxn *txn, const char *key)
{
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_get(txn, TABLE, key, (uint32_t)strlen(key), &val, &len);
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "get returned %d", rc);
    return rc == SAP_OK ? load_u64be(val) : 0;
}

static uint64_t read_number(SapStoreKind kind, const char *key, uint64_t *version_out)
{
    SapStoreTxn *txn = begin(kind);
    uint64_t number = get_number(txn, key);
    *version_out = sap_store_version(txn);
    sap_store_abort(txn);
    return number;
}

static int put_number(SapStoreTxn *txn, const char *key, uint64_t number)
{
    uint8_t bytes[8];
    store_u64be(bytes, number);
    return sap_store_put(txn, TABLE, key, (uint32_t)strlen(key), bytes, sizeof bytes);
}

static uint64_t commit_number(const char *key, uint64_t number)
{
    uint64_t mark = 0;
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    EXPECT_RC(put_number(txn, key, number), SAP_OK);
    EXPECT_RC(sap_store_commit_async(txn, &mark, NULL), SAP_OK);
    return mark;
}

static int wait_for(SapStoreKind kind, const char *key, uint64_t seen, uint64_t timeout_ns)
{
    const SapStorePrefix prefix = {TABLE, key, (uint32_t)strlen(key)};
    return sap_store_wait(store, kind, &prefix, seen, timeout_ns);
}

static void run_threads(void *(*fn)(void *arg), void *args, size_t arg_size, int count)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < count; i++) {
        EXPECT(pthread_create(&threads[i], NULL, fn, (char *)args + (size_t)i * arg_size) == 0,
               "no thread");
    }
    for (int i = 0; i < count; i++) {
        EXPECT(pthread_join(threads[i], NULL) == 0, "no end");
    }
}

/* ---- Updates and claims ---------------------------------------------------------------------- */

static int add_one(SapStoreTxn *txn, void *ctx)
{
    SapStoreGuard guard = {TABLE, "sum", 3, true};
    (void)ctx;
    int rc = sap_store_guard(txn, &guard, 1);
    return rc == SAP_OK ? put_number(txn, "sum", get_number(txn, "sum") + 1) : rc;
}

static void *add_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < INCREMENTS; i++) {
        bool unknown = true;
        EXPECT_RC(sap_store_run(store, SAP_STORE_GUARDED, add_one, NULL, &unknown), SAP_OK);
        EXPECT(!unknown, "a commit that succeeded is known");
    }
    return NULL;
}

START_TEST(guarded_increments_of_several_threads_are_all_there)
{
    uint64_t version = 0;
    char none[THREADS];
    run_threads(add_many, none, 1, THREADS);
    EXPECT(read_number(SAP_STORE_READ_DURABLE, "sum", &version) == (uint64_t)THREADS * INCREMENTS,
           "updates are lost");
}
END_TEST

typedef struct Claimer {
    uint64_t taken;
    uint8_t name;
} Claimer;

static int take_row(void *ctx, SapStoreTxn *txn, const SapStoreRow *row, SapStoreTarget *target)
{
    const Claimer *claimer = (const Claimer *)ctx;
    (void)txn;
    *target = (SapStoreTarget){TAKEN, {row->key, &claimer->name, row->key_len, 1}};
    return SAP_OK;
}

static void *claim_all(void *arg)
{
    Claimer *claimer = (Claimer *)arg;
    const SapStoreRange range = {.table = TABLE};
    for (uint32_t count = 1; count > 0;) {
        SapStoreTxn *txn = begin(SAP_STORE_CLAIM);
        EXPECT_RC(sap_store_claim(txn, &range, 7, take_row, claimer, &count), SAP_OK);
        EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
        claimer->taken += count;
    }
    return NULL;
}

static uint32_t count_rows(uint32_t table)
{
    SapStoreTxn *txn = begin(SAP_STORE_READ_DURABLE);
    const SapStoreRange range = {.table = table};
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    EXPECT_RC(sap_store_scan(txn, &range, false, UINT32_MAX, &rows, &count), SAP_OK);
    sap_store_abort(txn);
    return count;
}

START_TEST(each_row_is_claimed_by_one_thread)
{
    Claimer claimers[THREADS] = {{0}};
    uint64_t taken = 0;
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    for (uint64_t i = 0; i < ROWS; i++) {
        uint8_t key[8];
        store_u64be(key, i);
        EXPECT_RC(sap_store_put(txn, TABLE, key, sizeof key, "", 0), SAP_OK);
    }
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    run_threads(claim_all, claimers, sizeof claimers[0], THREADS);
    for (int i = 0; i < THREADS; i++) {
        taken += claimers[i].taken;
    }
    EXPECT(taken == ROWS && count_rows(TAKEN) == ROWS && count_rows(TABLE) == 0,
           "%llu of %d rows were taken", (unsigned long long)taken, ROWS);
}
END_TEST

/* ---- Wake-ups -------------------------------------------------------------------------------- */

/* Each player waits for the other's row to have the round's number, then raises its own. A missed
 * wake-up would let a wait run into its timeout. */
typedef struct Player {
    const char *mine;
    const char *theirs;
    uint64_t ahead; /* 1: begins */
    uint64_t rounds;
    SapStoreKind kind;
} Player;

static void *play(void *arg)
{
    const Player *player = (const Player *)arg;
    for (uint64_t round = 1; round <= player->rounds; round++) {
        uint64_t version = 0;
        uint64_t wanted = round - player->ahead;
        while (read_number(player->kind, player->theirs, &version) < wanted) {
            EXPECT_RC(wait_for(player->kind, player->theirs, version, 20 * SECOND_NS), SAP_OK);
        }
        uint64_t mark = commit_number(player->mine, round);
        if (player->kind == SAP_STORE_READ_DURABLE) {
            EXPECT_RC(sap_store_wait_durable(store, mark), SAP_OK);
        }
    }
    return NULL;
}

static void play_rounds(SapStoreKind kind, uint64_t rounds)
{
    Player players[] = {{"ping", "pong", 1, rounds, kind}, {"pong", "ping", 0, rounds, kind}};
    run_threads(play, players, sizeof players[0], 2);
}

START_TEST(no_wake_up_of_readers_of_the_newest_is_missed)
{
    play_rounds(SAP_STORE_READ_NEWEST, ROUNDS);
}
END_TEST

START_TEST(no_wake_up_of_durable_readers_is_missed)
{
    play_rounds(SAP_STORE_READ_DURABLE, DURABLE_ROUNDS);
}
END_TEST

typedef struct Waiting {
    SapStoreKind kind;
    uint64_t seen;
    int rc;
    atomic_bool done;
} Waiting;

static void *wait_once(void *arg)
{
    Waiting *waiting = (Waiting *)arg;
    waiting->rc = wait_for(waiting->kind, "row", waiting->seen, 20 * SECOND_NS);
    atomic_store(&waiting->done, true);
    return NULL;
}

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

START_TEST(a_store_with_a_waiting_thread_is_not_closed)
{
    pthread_t thread;
    SapStoreStats stats = {0};
    Waiting waiting = {.kind = SAP_STORE_READ_NEWEST};
    (void)read_number(SAP_STORE_READ_NEWEST, "row", &waiting.seen);
    EXPECT(pthread_create(&thread, NULL, wait_once, &waiting) == 0, "no thread");
    /* Until it waits it may be closed; so the test does not try before. */
    nap_ms(SAP_SANITIZED ? 500 : 200);
    EXPECT_RC(sap_store_close(store), SAP_BUSY);
    (void)commit_number("row", 1);
    EXPECT(pthread_join(thread, NULL) == 0, "no end");
    EXPECT_RC(waiting.rc, SAP_OK);
    EXPECT_RC(sap_store_stats(store, &stats), SAP_OK);
    EXPECT(stats.waits == 1 && stats.wakes == 1, "waits and wakes are not counted");
}
END_TEST

#if SAP_FAULTS

/* The disk is slow: a group of the log is not on it before the gate opens. */
static atomic_bool gate_closed;

static void wait_at_gate(const char *name, void *ctx)
{
    (void)ctx;
    while (strcmp(name, "log group written") == 0 && atomic_load(&gate_closed)) {
        nap_ms(1);
    }
}

START_TEST(waiters_are_woken_at_the_commit_and_durable_ones_when_it_is_on_disk)
{
    pthread_t durable_thread;
    pthread_t newest_thread;
    uint64_t version = 0;
    Waiting durable = {.kind = SAP_STORE_READ_DURABLE};
    Waiting newest = {.kind = SAP_STORE_READ_NEWEST};
    fault_on_step(wait_at_gate, NULL);
    setup();
    (void)read_number(SAP_STORE_READ_DURABLE, "row", &durable.seen);
    newest.seen = durable.seen;
    EXPECT(pthread_create(&durable_thread, NULL, wait_once, &durable) == 0, "no thread");
    EXPECT(pthread_create(&newest_thread, NULL, wait_once, &newest) == 0, "no thread");
    atomic_store(&gate_closed, true);
    uint64_t mark = commit_number("row", 1);
    EXPECT(pthread_join(newest_thread, NULL) == 0, "no end");
    EXPECT_RC(newest.rc, SAP_OK);
    EXPECT(read_number(SAP_STORE_READ_NEWEST, "row", &version) == 1, "woken before the commit");
    EXPECT_RC(wait_for(SAP_STORE_READ_DURABLE, "row", durable.seen, SECOND_NS / 20), SAP_NOTFOUND);
    EXPECT(!atomic_load(&durable.done), "woken before it was on disk");
    EXPECT(read_number(SAP_STORE_READ_DURABLE, "row", &version) == 0, "it is not on disk");
    atomic_store(&gate_closed, false);
    EXPECT(pthread_join(durable_thread, NULL) == 0, "no end");
    EXPECT_RC(durable.rc, SAP_OK);
    EXPECT(read_number(SAP_STORE_READ_DURABLE, "row", &version) == 1, "woken, and sees nothing");
    EXPECT_RC(sap_store_wait_durable(store, mark), SAP_OK);
    teardown();
    fault_on_step(NULL, NULL);
}
END_TEST

typedef struct Reading {
    uint64_t number;
    atomic_bool done;
} Reading;

static void *read_and_commit(void *arg)
{
    Reading *reading = (Reading *)arg;
    SapStoreTxn *txn = begin(SAP_STORE_GUARDED);
    reading->number = get_number(txn, "row");
    EXPECT_RC(sap_store_commit(txn, NULL), SAP_OK);
    atomic_store(&reading->done, true);
    return NULL;
}

START_TEST(a_commit_that_wrote_nothing_waits_for_the_disk)
{
    pthread_t thread;
    Reading reading = {0};
    fault_on_step(wait_at_gate, NULL);
    setup();
    atomic_store(&gate_closed, true);
    (void)commit_number("row", 1);
    EXPECT(pthread_create(&thread, NULL, read_and_commit, &reading) == 0, "no thread");
    nap_ms(50);
    EXPECT(!atomic_load(&reading.done), "it acknowledged what is not on disk");
    atomic_store(&gate_closed, false);
    EXPECT(pthread_join(thread, NULL) == 0, "no end");
    EXPECT(reading.number == 1, "it read the newest");
    teardown();
    fault_on_step(NULL, NULL);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("store_file_threads");
    TCase *tc = tcase_create("store_file_threads");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, guarded_increments_of_several_threads_are_all_there);
    tcase_add_test(tc, each_row_is_claimed_by_one_thread);
    tcase_add_test(tc, no_wake_up_of_readers_of_the_newest_is_missed);
    tcase_add_test(tc, no_wake_up_of_durable_readers_is_missed);
    tcase_add_test(tc, a_store_with_a_waiting_thread_is_not_closed);
    suite_add_tcase(suite, tc);
#if SAP_FAULTS
    tc = tcase_create("slow_disk");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, waiters_are_woken_at_the_commit_and_durable_ones_when_it_is_on_disk);
    tcase_add_test(tc, a_commit_that_wrote_nothing_waits_for_the_disk);
    suite_add_tcase(suite, tc);
#endif
    return suite_run(suite);
}
