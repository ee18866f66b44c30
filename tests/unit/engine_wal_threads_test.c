/* Many commits by few syncs: threads append in turn and wait together, while segments are made,
 * rotated and recycled. Counts decide; time only makes the groups larger or smaller. */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/random.h"
#include "sapling/wal.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, MAX_THREADS = 16, COMMITS = 400, SEGMENT = 64 * 1024, MAX_DATA = 2000 };

static const uint64_t db_id = 77;

typedef struct Shared {
    char dir[100];
    char path[150];
    Wal *wal;
    pthread_mutex_t writer; /* stands for the engine's writer lock */
    uint64_t last_lsn;      /* under it */
    WalPoint from;          /* the checkpoint thread's */
    uint64_t from_lsn;
    uint64_t publishing;   /* under the writer lock: what publish_root is to publish */
    uint64_t newest_root;  /* this and the next: inside the log's mutex, where the hooks run */
    uint64_t syncing_root; /* 0: no group is closed */
    atomic_ullong synced_root;
    atomic_ullong acked_lsn; /* the greatest */
    atomic_ullong acked;
    atomic_ullong refused;
    atomic_ullong prepared;
    atomic_bool stop;
} Shared;

typedef struct Worker {
    Shared *shared;
    pthread_t thread;
    Rng rng;
    uint32_t commits;
} Worker;

/* The data of a record is its own check: its lsn, then bytes made of it. */
static size_t make_data(uint8_t *data, uint64_t lsn, size_t more)
{
    store_u64le(data, lsn);
    memset(data + sizeof lsn, (int)(lsn % 251), more);
    return sizeof lsn + more;
}

static void raise_acked(Shared *shared, uint64_t lsn)
{
    unsigned long long seen = atomic_load(&shared->acked_lsn);

    while (seen < lsn && !atomic_compare_exchange_weak(&shared->acked_lsn, &seen, lsn)) {
    }
    atomic_fetch_add(&shared->acked, 1);
}

static void publish_root(void *ctx)
{
    Shared *shared = ctx;

    EXPECT(shared->newest_root < shared->publishing, "a root is published twice");
    shared->newest_root = shared->publishing;
}

static void note_closed(void *ctx)
{
    Shared *shared = ctx;

    EXPECT(shared->syncing_root == 0, "a group is closed while another is synced");
    EXPECT(shared->newest_root > atomic_load(&shared->synced_root), "a group without a root");
    shared->syncing_root = shared->newest_root;
}

static void note_synced(void *ctx)
{
    Shared *shared = ctx;

    EXPECT(shared->syncing_root != 0, "a group is synced that was not closed");
    EXPECT(wal_synced(shared->wal) < shared->syncing_root, "told before the hook was");
    atomic_store(&shared->synced_root, shared->syncing_root);
    shared->syncing_root = 0;
}

static void *commit_many(void *arg)
{
    Worker *worker = arg;
    Shared *shared = worker->shared;
    uint8_t data[MAX_DATA + sizeof(uint64_t)];

    for (uint32_t i = 0; i < worker->commits; i++) {
        size_t more =
            (size_t)rng_below(&worker->rng, rng_chance(&worker->rng, 1, 8) ? MAX_DATA : 99);
        pthread_mutex_lock(&shared->writer);
        int rc = wal_reserve(shared->wal, sizeof(uint64_t) + more);
        uint64_t lsn = 0;
        if (rc == SAP_OK) {
            lsn = shared->publishing = ++shared->last_lsn;
            rc = wal_append(shared->wal, lsn, data, make_data(data, lsn, more), publish_root,
                            shared);
        }
        pthread_mutex_unlock(&shared->writer);
        if (rc == SAP_OK) {
            rc = wal_wait(shared->wal, lsn);
        }
        if (rc == SAP_OK) {
            EXPECT(wal_synced(shared->wal) >= lsn, "acknowledged before the sync");
            EXPECT(atomic_load(&shared->synced_root) >= lsn, "acknowledged before the hook");
            raise_acked(shared, lsn);
        } else {
            EXPECT(rc == SAP_IO, "commit answers %d", rc);
            atomic_fetch_add(&shared->refused, 1);
        }
    }
    return NULL;
}

static void *checkpoint_often(void *arg)
{
    Shared *shared = arg;

    while (!atomic_load(&shared->stop)) {
        WalPoint point;
        pthread_mutex_lock(&shared->writer);
        int rc = wal_rotate(shared->wal, &point);
        uint64_t lsn = shared->last_lsn;
        pthread_mutex_unlock(&shared->writer);
        EXPECT_RC(rc, SAP_OK);
        shared->from = point;
        shared->from_lsn = lsn;
        EXPECT_RC(wal_release(shared->wal, point.segment), SAP_OK);
    }
    return NULL;
}

static void *prepare_often(void *arg)
{
    Shared *shared = arg;

    while (!atomic_load(&shared->stop)) {
        EXPECT_RC(wal_prepare(shared->wal), SAP_OK);
        atomic_fetch_add(&shared->prepared, 1);
        sched_yield();
    }
    return NULL;
}

static void shared_start(Shared *shared)
{
    WalOptions options = {
        .segment_bytes = SEGMENT,
        .spare_max = 2,
        .on_closed = note_closed,
        .on_synced = note_synced,
        .hook_ctx = shared,
    };

    memset(shared, 0, sizeof *shared);
    crash_dir_make(shared->dir, sizeof shared->dir, false);
    snprintf(shared->path, sizeof shared->path, "%s/db", shared->dir);
    shared->from = WAL_POINT_FIRST;
    EXPECT(pthread_mutex_init(&shared->writer, NULL) == 0, "no mutex");
    EXPECT_RC(wal_open(&shared->wal, shared->path, db_id, &shared->from, 0, &options), SAP_OK);
}

static void shared_end(Shared *shared)
{
    wal_close(shared->wal);
    pthread_mutex_destroy(&shared->writer);
    crash_dir_remove(shared->dir);
}

static void run_workers(Shared *shared, uint32_t threads, uint64_t seed)
{
    Worker workers[MAX_THREADS];

    for (uint32_t i = 0; i < threads; i++) {
        workers[i] = (Worker){.shared = shared, .commits = COMMITS};
        rng_seed(&workers[i].rng, seed + i);
        EXPECT(pthread_create(&workers[i].thread, NULL, commit_many, &workers[i]) == 0,
               "no thread");
    }
    for (uint32_t i = 0; i < threads; i++) {
        EXPECT(pthread_join(workers[i].thread, NULL) == 0, "no join");
    }
}

static int check_record(void *ctx, uint64_t lsn, Slice data)
{
    uint64_t *last = ctx;
    uint8_t expected[MAX_DATA + sizeof lsn];

    EXPECT(lsn == *last + 1, "record %" PRIu64 " follows %" PRIu64, lsn, *last);
    EXPECT(data.len >= sizeof lsn && data.len <= sizeof expected, "record of %zu bytes", data.len);
    make_data(expected, lsn, data.len - sizeof lsn);
    EXPECT(memcmp(expected, data.data, data.len) == 0, "record %" PRIu64 " has other bytes", lsn);
    *last = lsn;
    return SAP_OK;
}

static WalRecovery recover_all(const Shared *shared)
{
    WalRecovery report;
    uint64_t last = shared->from_lsn;

    EXPECT_RC(wal_recover(shared->path, db_id, &shared->from, shared->from_lsn, check_record, &last,
                          &report),
              SAP_OK);
    EXPECT(last >= atomic_load(&shared->acked_lsn), "an acknowledged record is not there");
    return report;
}

START_TEST(every_thread_is_acknowledged_and_every_record_is_there)
{
    static const uint32_t counts[] = {1, 2, 8, MAX_THREADS};
    uint64_t seed = choice_first_seed();

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        Shared shared;
        expect_context("%u threads, seed %" PRIu64, counts[i], seed);
        shared_start(&shared);
        run_workers(&shared, counts[i], seed);
        EXPECT(atomic_load(&shared.acked) == counts[i] * COMMITS, "a commit is not acknowledged");
        WalRecovery report = recover_all(&shared);
        EXPECT(report.records == counts[i] * COMMITS, "a record is missing");
        printf("%u threads: %" PRIu64 " commits in %" PRIu64 " groups, seed %" PRIu64 "\n",
               counts[i], report.records, report.groups, seed);
        EXPECT(counts[i] > 1 || report.groups == COMMITS, "one thread shares no group");
        EXPECT(counts[i] < 8 || report.groups < report.records, "no group was ever shared");
        shared_end(&shared);
    }
}
END_TEST

START_TEST(checkpoints_beside_commits_lose_nothing)
{
    Shared shared;
    pthread_t checkpoints;
    pthread_t preparation;
    uint64_t seed = choice_first_seed() + 100;

    expect_context("seed %" PRIu64, seed);
    shared_start(&shared);
    EXPECT(pthread_create(&checkpoints, NULL, checkpoint_often, &shared) == 0, "no thread");
    EXPECT(pthread_create(&preparation, NULL, prepare_often, &shared) == 0, "no thread");
    run_workers(&shared, 6, seed);
    atomic_store(&shared.stop, true);
    EXPECT(pthread_join(checkpoints, NULL) == 0, "no join");
    EXPECT(pthread_join(preparation, NULL) == 0, "no join");
    ck_assert_uint_eq(atomic_load(&shared.acked), 6 * COMMITS);
    (void)recover_all(&shared);
    printf("%" PRIu64 " segments, %llu prepared, seed %" PRIu64 "\n", shared.from.segment,
           atomic_load(&shared.prepared), seed);
    ck_assert_uint_gt(atomic_load(&shared.prepared), 0);
    ck_assert_uint_gt(shared.from.segment, 2);
    shared_end(&shared);
}
END_TEST

#if SAP_FAULTS
START_TEST(failed_sync_is_told_to_every_waiter)
{
    for (uint64_t nth = 40; nth < 60; nth++) {
        Shared shared;
        expect_context("I/O %" PRIu64, nth);
        shared_start(&shared);
        fault_reset();
        fault_arm_io(nth, EIO);
        run_workers(&shared, 6, nth);
        EXPECT(fault_fired() == 1, "nothing failed");
        fault_reset();
        EXPECT(atomic_load(&shared.refused) > 0, "nobody was told");
        EXPECT(atomic_load(&shared.acked) + atomic_load(&shared.refused) == 6 * COMMITS, "lost");
        (void)recover_all(&shared);
        shared_end(&shared);
    }
}
END_TEST
#endif

static Suite *threads_suite(void)
{
    Suite *suite = suite_create("engine_wal_threads");
    TCase *tc = tcase_create("wal_threads");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, every_thread_is_acknowledged_and_every_record_is_there);
    tcase_add_test(tc, checkpoints_beside_commits_lose_nothing);
#if SAP_FAULTS
    tcase_add_test(tc, failed_sync_is_told_to_every_waiter);
#endif
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(threads_suite());
}
