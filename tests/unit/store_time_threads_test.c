/* Lease time and due time asked for by many threads at once, while the clock is set and the time is
 * stored. */
#include "common/clock.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define SECOND   UINT64_C(1000000000)
#define START_NS (UINT64_C(1700000000) * SECOND)

enum { TABLE = 16, TIMEOUT_S = 300, ASKERS = 4, STORED = 200, STEP_MS = 60000 };

static FileBed bed;
static ManualClock manual;
static SapStore *store;
static atomic_bool stop;

/* What any thread has been given. */
static struct {
    pthread_mutex_t lock;
    uint64_t lease, due, asked;
} seen = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *ask(void *ctx)
{
    uint64_t lease = 0;
    uint64_t due = 0;
    (void)ctx;
    while (!atomic_load(&stop)) {
        uint64_t next = sap_store_lease_ns(store);
        EXPECT(next >= lease, "lease time went back by %" PRIu64, lease - next);
        lease = next;
        next = sap_store_due_ns(store);
        EXPECT(next >= due, "due time went back by %" PRIu64, due - next);
        due = next;
        pthread_mutex_lock(&seen.lock);
        lease = sap_store_lease_ns(store);
        due = sap_store_due_ns(store);
        EXPECT(lease >= seen.lease && due >= seen.due, "another thread was given more before");
        seen.lease = lease;
        seen.due = due;
        seen.asked++;
        pthread_mutex_unlock(&seen.lock);
    }
    return NULL;
}

static void *turn_clock(void *ctx)
{
    (void)ctx;
    for (int i = 0; !atomic_load(&stop); i++) {
        manual_clock_advance_ns(&manual, 1000);
        manual_clock_step_wall_ms(&manual, i % 2 == 0 ? STEP_MS : -STEP_MS);
    }
    return NULL;
}

static int store_time_body(SapStoreTxn *txn, void *ctx)
{
    (void)ctx;
    return sap_store_put_time(txn);
}

static void *put_times(void *ctx)
{
    (void)ctx;
    for (int i = 0; i < STORED; i++) {
        EXPECT_RC(sap_store_run(store, SAP_STORE_GUARDED, store_time_body, NULL, NULL), SAP_OK);
    }
    return NULL;
}

START_TEST(no_thread_sees_a_time_go_back)
{
    static const uint32_t tables[] = {TABLE};
    char url[FILES_PATH_MAX + 16];
    pthread_t threads[ASKERS + 2];
    Clock by = manual_clock(&manual);
    SapStoreOptions options = {.tables = tables,
                               .table_count = 1,
                               .wall_ns = by.wall_ns,
                               .boot_ns = by.boot_ns,
                               .clock_ctx = by.ctx};
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    manual_clock_init(&manual, START_NS);
    EXPECT_RC(sap_store_open(url, &options, &store), SAP_OK);
    for (int i = 0; i < ASKERS; i++) {
        EXPECT(pthread_create(&threads[i], NULL, ask, NULL) == 0, "no thread");
    }
    EXPECT(pthread_create(&threads[ASKERS], NULL, turn_clock, NULL) == 0, "no thread");
    EXPECT(pthread_create(&threads[ASKERS + 1], NULL, put_times, NULL) == 0, "no thread");
    pthread_join(threads[ASKERS + 1], NULL);
    atomic_store(&stop, true);
    for (int i = 0; i <= ASKERS; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("asked %" PRIu64 " times, stored %d times\n", seen.asked, STORED);
    EXPECT(seen.asked > 0, "nobody asked");
    EXPECT_RC(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    file_bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store time, threads");
    TCase *test_case = tcase_create("threads");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, no_thread_sees_a_time_go_back);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
