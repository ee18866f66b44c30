/* The callback on_durable: every path that moves the durable mark ends with a call, made without a
 * lock; calls come one at a time, in order. */
#include "common/bytes.h"
#include "common/fault.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    TIMEOUT_S = 300,
    PATIENCE_MS = 10000,
    THREADS = 4,
    COMMITS = 300,
    SMALL_LOG = 256 << 10, /* bytes before a checkpoint; a segment has a quarter of it */
    LARGE = 100 << 10,     /* more than a segment */
};

/* What the calls were. */
typedef struct Calls {
    pthread_mutex_t lock; /* all below */
    pthread_cond_t changed;
    uint64_t last;
    uint32_t count;
    bool inside;
    bool probing; /* the next call asks another thread to use the DB, and waits for it */
    bool asked;
    bool answered;
    bool stop;
} Calls;

static FileBed bed;
static SapEnv *db;
static atomic_bool closing;
static Calls calls = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void nap_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* The lock is held. */
static void await(const bool *flag, const char *what)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_MS / 1000;
    while (!*flag) {
        int rc = pthread_cond_timedwait(&calls.changed, &calls.lock, &until);
        EXPECT(rc == 0 || *flag, "%s", what);
    }
}

static void on_durable(void *ctx, uint64_t lsn)
{
    Calls *c = (Calls *)ctx;

    EXPECT(atomic_load(&closing) || sap_db_durable_lsn(db) >= lsn, "the mark is not there yet");
    pthread_mutex_lock(&c->lock);
    EXPECT(!c->inside, "two calls at once");
    EXPECT(lsn > c->last, "%llu after %llu", (unsigned long long)lsn, (unsigned long long)c->last);
    c->inside = true;
    c->last = lsn;
    c->count++;
    if (c->probing) {
        c->probing = false;
        c->asked = true;
        pthread_cond_broadcast(&c->changed);
        await(&c->answered, "the call holds a lock of the DB");
    }
    c->inside = false;
    pthread_mutex_unlock(&c->lock);
}

static SapTxnCtx *begin_put(unsigned flags, uint64_t key, uint32_t len)
{
    static const uint8_t zeros[LARGE];
    SapTxnCtx *txn = sap_txn_begin(db, NULL, flags | SAP_TXN_WAIT);
    uint8_t bytes[8];

    EXPECT(txn != NULL, "no transaction");
    store_u64be(bytes, key);
    EXPECT_RC(sap_txn_put(txn, bytes, sizeof bytes, zeros, len), SAP_OK);
    return txn;
}

static void put(unsigned flags, uint64_t key)
{
    EXPECT_RC(sap_txn_commit(begin_put(flags, key, 8)), SAP_OK);
}

static uint64_t put_async(uint64_t key)
{
    uint64_t lsn = 0;

    EXPECT_RC(sap_txn_commit_async(begin_put(0, key, 8), &lsn), SAP_OK);
    return lsn;
}

/* Needs each lock that the DB has. */
static void use_all_locks(void)
{
    static uint32_t dbi = 100;

    put(0, 1);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    int rc = sap_dbi_open(db, dbi++, NULL, NULL, 0);
    EXPECT(rc == SAP_OK || rc == SAP_BUSY, "dbi_open answered %d", rc);
}

/* Answers the call that asks. */
static void *run_prober(void *arg)
{
    Calls *c = (Calls *)arg;

    pthread_mutex_lock(&c->lock);
    while (!c->stop) {
        if (c->asked) {
            c->asked = false;
            pthread_mutex_unlock(&c->lock);
            use_all_locks();
            pthread_mutex_lock(&c->lock);
            c->answered = true;
            pthread_cond_broadcast(&c->changed);
        } else {
            pthread_cond_wait(&c->changed, &c->lock);
        }
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static uint64_t last_call(void)
{
    pthread_mutex_lock(&calls.lock);
    uint64_t last = calls.last;
    pthread_mutex_unlock(&calls.lock);
    return last;
}

/* A call has the mark as it is, or comes to have it. */
static void expect_called(uint64_t lsn, const char *what)
{
    for (int ms = 0; last_call() < lsn; ms++) {
        EXPECT(ms < PATIENCE_MS, "%s: no call with %llu, the last had %llu", what,
               (unsigned long long)lsn, (unsigned long long)last_call());
        nap_ms(1);
    }
}

static void open_db(SapSyncMode mode)
{
    file_bed_start(&bed);
    bed.options.size = sizeof bed.options;
    bed.options.sync_mode = mode;
    bed.options.sync_period_ms = 5;
    bed.options.checkpoint_bytes = SMALL_LOG;
    bed.options.on_durable = on_durable;
    bed.options.durable_ctx = &calls;
    calls.last = calls.count = 0;
    calls.stop = calls.probing = calls.asked = calls.answered = false;
    atomic_store(&closing, false);
    db = file_bed_open(&bed);
    EXPECT(calls.count == 0, "called before there is a handle");
}

static void close_db(void)
{
    atomic_store(&closing, true);
    file_bed_close(db);
    file_bed_end(&bed);
}

/* ---- Every path ----------------------------------------------------------------------------- */

static void move_by_commit(void)
{
    put(0, 2);
}

static void move_in_background(void)
{
    uint64_t lsn = put_async(2);

    expect_called(lsn, "nobody waits");
}

static void move_by_waiting(void)
{
    EXPECT_RC(sap_db_wait_durable(db, put_async(2)), SAP_OK);
}

static void move_by_sync(void)
{
    (void)put_async(2);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
}

static void move_by_bulk(void)
{
    put(SAP_TXN_BULK, 2);
}

static void move_by_definition(void)
{
    static uint32_t dbi = 1;

    EXPECT_RC(sap_dbi_open(db, dbi++, NULL, NULL, 0), SAP_OK);
}

/* Larger than a segment: what is in the open group is written first, under the writer lock. */
static void move_by_a_large_record(void)
{
    uint64_t lsn = put_async(2);
    uint64_t large = 0;

    EXPECT_RC(sap_txn_commit_async(begin_put(0, 3, LARGE), &large), SAP_OK);
    expect_called(lsn, "room was made");
}

/* The log of a few commits is what starts a checkpoint. */
static void move_by_log_bytes(void)
{
    for (uint64_t i = 0; i < 2 * SMALL_LOG / LARGE; i++) {
        EXPECT_RC(sap_txn_commit(begin_put(0, i, LARGE)), SAP_OK);
    }
}

/* Pages that changed are what starts one where there is no log. */
static void move_by_changed_pages(void)
{
    uint64_t before = sap_db_durable_lsn(db);

    for (uint64_t i = 0; sap_db_durable_lsn(db) == before; i++) {
        EXPECT_RC(sap_txn_commit(begin_put(0, i, LARGE)), SAP_OK);
    }
}

typedef struct Path {
    const char *name;
    void (*move)(void);
    SapSyncMode mode;
} Path;

static const Path paths[] = {
    {"commit", move_by_commit, SAP_SYNC_COMMIT},
    {"background thread", move_in_background, SAP_SYNC_COMMIT},
    {"db_wait_durable", move_by_waiting, SAP_SYNC_COMMIT},
    {"db_sync", move_by_sync, SAP_SYNC_COMMIT},
    {"bulk commit", move_by_bulk, SAP_SYNC_COMMIT},
    {"dbi_open", move_by_definition, SAP_SYNC_COMMIT},
    {"a large record", move_by_a_large_record, SAP_SYNC_COMMIT},
    {"log bytes", move_by_log_bytes, SAP_SYNC_COMMIT},
    {"period", move_in_background, SAP_SYNC_PERIODIC},
    {"db_sync, periodic", move_by_sync, SAP_SYNC_PERIODIC},
    {"db_sync, none", move_by_sync, SAP_SYNC_NONE},
    {"changed pages", move_by_changed_pages, SAP_SYNC_NONE},
    {"dbi_open, none", move_by_definition, SAP_SYNC_NONE},
};
enum { PATHS = sizeof paths / sizeof paths[0] };

START_TEST(every_path_that_moves_the_mark_calls_without_a_lock)
{
    const Path *path = &paths[_i];
    pthread_t prober;

    open_db(path->mode);
    EXPECT(pthread_create(&prober, NULL, run_prober, &calls) == 0, "no thread");
    path->move();
    expect_called(sap_db_durable_lsn(db), path->name);
    EXPECT(calls.count > 0, "%s: no call", path->name);

    pthread_mutex_lock(&calls.lock);
    calls.probing = true;
    pthread_mutex_unlock(&calls.lock);
    path->move();
    pthread_mutex_lock(&calls.lock);
    await(&calls.answered, path->name);
    pthread_mutex_unlock(&calls.lock);
    expect_called(sap_db_durable_lsn(db), path->name);

    pthread_mutex_lock(&calls.lock);
    calls.stop = true;
    pthread_cond_broadcast(&calls.changed);
    pthread_mutex_unlock(&calls.lock);
    pthread_join(prober, NULL);
    close_db();
}
END_TEST

START_TEST(closing_reports_what_it_made_durable)
{
    open_db(SAP_SYNC_NONE);
    uint64_t lsn = put_async(1);
    EXPECT(last_call() < lsn, "durable already");
    close_db();
    ck_assert_uint_ge(calls.last, lsn);
}
END_TEST

/* A commit that needs a new segment writes the open group first, and then finds no room. */
START_TEST(a_commit_that_is_taken_back_reports_what_it_made_durable)
{
    uint32_t refused = 0;

    for (uint64_t n = 1;; n++) {
        open_db(SAP_SYNC_COMMIT);
        put(0, 1);
        uint64_t lsn = put_async(2);
        fault_reset();
        fault_arm_io(n, ENOSPC);
        int rc = sap_txn_commit(begin_put(0, 3, LARGE));
        bool fired = fault_fired() > 0;
        fault_reset();
        if (rc == SAP_FULL) {
            refused++;
            expect_called(lsn, "taken back");
        } else if (rc == SAP_OK) {
            expect_called(sap_db_durable_lsn(db), "committed");
        }
        atomic_store(&closing, true);
        (void)sap_db_close(db);
        file_bed_end(&bed);
        if (!fired) {
            break;
        }
    }
    EXPECT(refused > 0, "no commit was taken back");
}
END_TEST

/* ---- Many threads --------------------------------------------------------------------------- */

static void *run_committer(void *arg)
{
    uint64_t id = *(const uint64_t *)arg;

    for (uint64_t i = 0; i < COMMITS; i++) {
        uint64_t key = id << 32 | i;
        if (i % 3 == 0) {
            (void)put_async(key);
        } else {
            put(i % 50 == 1 ? SAP_TXN_BULK : 0, key);
        }
        if (i % 40 == 7) {
            EXPECT_RC(sap_db_sync(db), SAP_OK);
        }
    }
    return NULL;
}

START_TEST(calls_of_many_threads_come_one_at_a_time_and_in_order)
{
    static const SapSyncMode modes[] = {SAP_SYNC_COMMIT, SAP_SYNC_PERIODIC, SAP_SYNC_NONE};
    pthread_t threads[THREADS];
    uint64_t ids[THREADS];

    open_db(modes[_i]);
    for (uint64_t i = 0; i < THREADS; i++) {
        ids[i] = i;
        EXPECT(pthread_create(&threads[i], NULL, run_committer, &ids[i]) == 0, "no thread");
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    expect_called(sap_db_durable_lsn(db), "all");
    pthread_mutex_lock(&calls.lock);
    printf("mode %d: %u calls for %d commits\n", (int)modes[_i], calls.count, THREADS * COMMITS);
    EXPECT(calls.count > 10, "only %u calls", calls.count);
    pthread_mutex_unlock(&calls.lock);
    close_db();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine/durable");
    TCase *tcase = tcase_create("durable");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_loop_test(tcase, every_path_that_moves_the_mark_calls_without_a_lock, 0, PATHS);
    tcase_add_test(tcase, closing_reports_what_it_made_durable);
    tcase_add_test(tcase, a_commit_that_is_taken_back_reports_what_it_made_durable);
    tcase_add_loop_test(tcase, calls_of_many_threads_come_one_at_a_time_and_in_order, 0, 3);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
