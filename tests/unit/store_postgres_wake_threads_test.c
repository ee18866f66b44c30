/* Wake-ups between stores on one PostgreSQL server, which are nodes to each other: by notification, by
 * the poll where a notification was lost, and again after the server was restarted. */
#include "common/bytes.h"
#include "common/mem.h"
#include "sapling/store.h"
#include "support/expect.h"
#include "support/store_pg_server.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)

enum {
    TABLE = 16,
    TIMEOUT_S = 120,
    ROUNDS = 21,
    LOST_ROUNDS = 5,
    MEDIAN_MS = 100, /* well below the poll */
    POLL_MS = 500,
    SLACK_MS = 200,
    WAIT_S = 20,
    RESUME_MS = 10000, /* for wake-ups after a restart */
};

static PgServer server;
static SapStore *node[2];

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void nap_ms(long ms)
{
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* ---- Rows ------------------------------------------------------------------------------------- */

static int read_number(SapStore *store, SapStoreKind kind, const char *key, uint64_t *number_out,
                       uint64_t *version_out)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    int rc = sap_store_begin(store, kind, &txn);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = sap_store_get(txn, TABLE, key, 3, &val, &len);
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        *number_out = rc == SAP_OK ? load_u64be(val) : 0;
        *version_out = sap_store_version(txn);
        rc = SAP_OK;
    }
    sap_store_abort(txn);
    return rc;
}

typedef struct Put {
    const char *key;
    uint64_t number;
} Put;

static int put_number(SapStoreTxn *txn, void *ctx)
{
    const Put *put = ctx;
    uint8_t bytes[8];
    store_u64be(bytes, put->number);
    return sap_store_put(txn, TABLE, put->key, 3, bytes, sizeof bytes);
}

/* A connection that was lost is made again: the row has the same value after a second run. */
static void commit_number(SapStore *store, const char *key, uint64_t number)
{
    Put put = {key, number};
    int rc = SAP_IO;
    uint64_t end = now_us() + RESUME_MS * UINT64_C(1000);
    while (rc != SAP_OK) {
        rc = sap_store_run(store, SAP_STORE_GUARDED, put_number, &put, NULL);
        EXPECT(rc == SAP_OK || rc == SAP_IO, "commit: %s", code_name(rc));
        EXPECT(now_us() < end, "no commit any more");
    }
}

/* ---- Waiters ---------------------------------------------------------------------------------- */

/* Waits until the row has the number, and notes when. */
typedef struct Waiter {
    SapStore *store;
    SapStoreKind kind;
    const char *key;
    uint64_t number;
    uint64_t woken_us;
    uint32_t waits;
    atomic_bool is_waiting;
} Waiter;

static void *wait_for_number(void *arg)
{
    Waiter *waiter = arg;
    const SapStorePrefix prefix = {TABLE, waiter->key, 3};
    uint64_t end = now_us() + WAIT_S * UINT64_C(1000000);
    for (;;) {
        uint64_t number = 0;
        uint64_t version = 0;
        int rc = read_number(waiter->store, waiter->kind, waiter->key, &number, &version);
        EXPECT(rc == SAP_OK || rc == SAP_IO || rc == SAP_BUSY, "read: %s", code_name(rc));
        EXPECT(now_us() < end, "never woken for %" PRIu64, waiter->number);
        if (rc != SAP_OK) {
            nap_ms(5);
            continue;
        }
        if (number == waiter->number) {
            waiter->woken_us = now_us();
            return NULL;
        }
        atomic_store(&waiter->is_waiting, true);
        waiter->waits++;
        rc = sap_store_wait(waiter->store, waiter->kind, &prefix, version, WAIT_S * SECOND_NS);
        EXPECT(rc == SAP_OK || rc == SAP_IO || rc == SAP_NOTFOUND, "wait: %s", code_name(rc));
    }
}

/* What is done between the moment that the waiter waits and the commit. */
typedef void (*Mishap)(void);

/* How long after the start of the commit, in microseconds, the waiter has seen the row. */
static uint64_t time_wake(SapStore *waits, SapStore *commits, SapStoreKind kind, uint64_t number,
                          Mishap mishap)
{
    Waiter waiter = {.store = waits, .kind = kind, .key = "row", .number = number};
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, wait_for_number, &waiter) == 0, "no thread");
    while (!atomic_load(&waiter.is_waiting)) {
        nap_ms(1);
    }
    nap_ms(20); /* it is in its wait by now */
    if (mishap != NULL) {
        mishap();
    }
    commit_number(commits, "row", number);
    uint64_t start = now_us();
    EXPECT(pthread_join(thread, NULL) == 0, "no join");
    return waiter.woken_us > start ? waiter.woken_us - start : 0;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t first = *(const uint64_t *)a;
    uint64_t second = *(const uint64_t *)b;
    return (first > second) - (first < second);
}

static uint64_t next_number = 1;

/* The median of some rounds. */
static uint64_t median_wake_us(const char *what, SapStore *waits, SapStore *commits,
                               SapStoreKind kind)
{
    uint64_t times[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        times[i] = time_wake(waits, commits, kind, next_number++, NULL);
    }
    qsort(times, ROUNDS, sizeof times[0], compare_times);
    printf("store_postgres_wake: %s: %d wake-ups, median %" PRIu64 " us, greatest %" PRIu64 " us\n",
           what, ROUNDS, times[ROUNDS / 2], times[ROUNDS - 1]);
    return times[ROUNDS / 2];
}

/* ---- Nodes ------------------------------------------------------------------------------------ */

static bool start_nodes(void)
{
    static const uint32_t tables[] = {TABLE};
    SapStoreOptions options = {.size = sizeof options, .tables = tables, .table_count = 1};
    char url[PG_SERVER_URL_MAX];
    if (!pg_server_start(&server, NULL)) {
        return false;
    }
    pg_server_url(&server, "schema=wake", url, sizeof url);
    int rc = sap_store_init(url, &options);
    EXPECT(rc == SAP_OK, "init: %s: %s", code_name(rc), sap_open_error());
    for (int i = 0; i < 2; i++) {
        EXPECT_RC(sap_store_open(url, &options, &node[i]), SAP_OK);
    }
    return true;
}

static void end_nodes(void)
{
    EXPECT_RC(sap_store_close(node[0]), SAP_OK);
    EXPECT_RC(sap_store_close(node[1]), SAP_OK);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes are left", mem_live_bytes(MEM_STORE));
    pg_server_end(&server);
}

static void expect_quick(uint64_t median_us)
{
    EXPECT(median_us < MEDIAN_MS * UINT64_C(1000), "a median of %" PRIu64 " us", median_us);
}

START_TEST(a_commit_of_one_node_wakes_waiters_of_another)
{
    if (!start_nodes()) {
        return;
    }
    expect_quick(median_wake_us("newest, other node", node[0], node[1], SAP_STORE_READ_NEWEST));
    expect_quick(median_wake_us("durable, other node", node[1], node[0], SAP_STORE_READ_DURABLE));
    end_nodes();
}
END_TEST

START_TEST(a_commit_wakes_waiters_of_its_own_node)
{
    if (!start_nodes()) {
        return;
    }
    expect_quick(median_wake_us("newest, same node", node[0], node[0], SAP_STORE_READ_NEWEST));
    expect_quick(median_wake_us("durable, same node", node[0], node[0], SAP_STORE_READ_DURABLE));
    end_nodes();
}
END_TEST

/* Other prefixes do not wake: the wait runs into its timeout, or is woken by a poll without a change. */
START_TEST(a_commit_elsewhere_lets_the_wait_time_out)
{
    const SapStorePrefix prefix = {TABLE, "row", 3};
    uint64_t number = 0;
    uint64_t version = 0;
    if (!start_nodes()) {
        return;
    }
    EXPECT_RC(read_number(node[0], SAP_STORE_READ_NEWEST, "row", &number, &version), SAP_OK);
    uint64_t start = now_us();
    int rc = sap_store_wait(node[0], SAP_STORE_READ_NEWEST, &prefix, version, SECOND_NS / 5);
    uint64_t took_us = now_us() - start;
    EXPECT(rc == SAP_NOTFOUND || rc == SAP_OK, "wait: %s", code_name(rc));
    EXPECT(rc == SAP_OK || took_us >= 190000, "a timeout after %" PRIu64 " us", took_us);
    EXPECT(took_us < 600000, "a wait of 200 ms took %" PRIu64 " us", took_us);
    /* What was committed before is seen at once. */
    commit_number(node[1], "row", 77);
    start = now_us();
    EXPECT_RC(sap_store_wait(node[0], SAP_STORE_READ_NEWEST, &prefix, version, WAIT_S * SECOND_NS),
              SAP_OK);
    EXPECT(now_us() - start < (POLL_MS + SLACK_MS) * UINT64_C(1000), "it took %" PRIu64 " us",
           now_us() - start);
    end_nodes();
}
END_TEST

/* Ends every connection of the stores; whoever listens learns nothing of what is committed then. */
static void end_connections(void)
{
    pg_server_sql(&server,
                  "SELECT pg_terminate_backend(pid, 1000) FROM pg_stat_activity WHERE pid <> "
                  "pg_backend_pid() AND backend_type = 'client backend'");
}

START_TEST(a_lost_notification_delays_a_wake_up_by_one_poll)
{
    uint64_t greatest = 0;
    if (!start_nodes()) {
        return;
    }
    for (int i = 0; i < LOST_ROUNDS; i++) {
        uint64_t took_us =
            time_wake(node[0], node[1], SAP_STORE_READ_NEWEST, next_number++, end_connections);
        greatest = took_us > greatest ? took_us : greatest;
        EXPECT(took_us < (POLL_MS + SLACK_MS) * UINT64_C(1000), "woken after %" PRIu64 " us",
               took_us);
    }
    printf("store_postgres_wake: notification lost: %d wake-ups, greatest %" PRIu64 " us\n",
           LOST_ROUNDS, greatest);
    nap_ms(2 * POLL_MS);
    expect_quick(median_wake_us("after that", node[0], node[1], SAP_STORE_READ_NEWEST));
    end_nodes();
}
END_TEST

/* What somebody writes without a store is never notified. */
START_TEST(a_row_that_no_notification_announces_is_found_by_the_poll)
{
    uint64_t greatest = 0;
    if (!start_nodes()) {
        return;
    }
    for (int i = 0; i < LOST_ROUNDS; i++) {
        Waiter waiter = {.store = node[i % 2],
                         .kind = SAP_STORE_READ_NEWEST,
                         .key = "row",
                         .number = next_number++};
        pthread_t thread;
        EXPECT(pthread_create(&thread, NULL, wait_for_number, &waiter) == 0, "no thread");
        while (!atomic_load(&waiter.is_waiting)) {
            nap_ms(1);
        }
        nap_ms(20 + i * POLL_MS / LOST_ROUNDS);
        pg_server_sql(&server,
                      "INSERT INTO wake.t%d VALUES ('row', '\\x%016" PRIx64
                      "') ON CONFLICT (k) DO UPDATE SET v = EXCLUDED.v",
                      TABLE, waiter.number);
        uint64_t start = now_us();
        EXPECT(pthread_join(thread, NULL) == 0, "no join");
        uint64_t took_us = waiter.woken_us > start ? waiter.woken_us - start : 0;
        greatest = took_us > greatest ? took_us : greatest;
        EXPECT(took_us < (POLL_MS + SLACK_MS) * UINT64_C(1000), "woken after %" PRIu64 " us",
               took_us);
    }
    printf("store_postgres_wake: by the poll: %d wake-ups, greatest %" PRIu64 " us\n", LOST_ROUNDS,
           greatest);
    end_nodes();
}
END_TEST

static void restart_server(void)
{
    pg_server_stop(&server);
    pg_server_run(&server);
}

static void kill_server(void)
{
    pg_server_kill(&server);
    pg_server_run(&server);
}

START_TEST(wake_ups_resume_after_the_server_was_restarted)
{
    static const Mishap mishaps[] = {restart_server, kill_server};
    if (!start_nodes()) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        uint64_t took_us =
            time_wake(node[0], node[1], SAP_STORE_READ_NEWEST, next_number++, mishaps[i]);
        printf("store_postgres_wake: %s: woken %" PRIu64 " us after the first commit\n",
               i == 0 ? "restarted" : "killed", took_us);
        EXPECT(took_us < RESUME_MS * UINT64_C(1000), "woken after %" PRIu64 " us", took_us);
        nap_ms(2 * POLL_MS);
        expect_quick(median_wake_us("after that", node[0], node[1], SAP_STORE_READ_NEWEST));
    }
    end_nodes();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_postgres_wake");
    TCase *tc = tcase_create("wake");
    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, a_commit_of_one_node_wakes_waiters_of_another);
    tcase_add_test(tc, a_commit_wakes_waiters_of_its_own_node);
    tcase_add_test(tc, a_commit_elsewhere_lets_the_wait_time_out);
    tcase_add_test(tc, a_lost_notification_delays_a_wake_up_by_one_poll);
    tcase_add_test(tc, a_row_that_no_notification_announces_is_found_by_the_poll);
    tcase_add_test(tc, wake_ups_resume_after_the_server_was_restarted);
    suite_add_tcase(suite, tc);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
