/* The latency of commits in the metrics includes what one waits for: the writer lock, and the disk. */
#include "common/fault.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

/* A little less than the wait is asked for: clocks differ. */
enum { TIMEOUT_S = 60, ME = 1, WAIT_MS = 60, WAIT_US = 50000 };

static void nap(long ms)
{
    struct timespec time = {.tv_nsec = ms * 1000000};

    nanosleep(&time, NULL);
}

static SapRunnerV0Metrics metrics_of(SapRunnerV0Worker *worker)
{
    SapRunnerV0Metrics m;

    sap_runner_v0_metrics_snapshot(&worker->runner, &m);
    return m;
}

static void make_worker(SapEnv *db, sap_runner_v0_atomic_handler block, SapRunnerV0Worker *worker)
{
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = db, .worker_id = ME, .bootstrap_schema_if_missing = 1},
        .handler = {.atomic = block}};

    EXPECT_RC(sap_runner_v0_worker_init(worker, &config), SAP_OK);
}

/* ---- The writer lock ------------------------------------------------------------------------ */

static Post post;
static pthread_t writer;
static atomic_bool writing;

static void *write_for_a_while(void *unused)
{
    SapTxnCtx *txn = post_begin(post.db);

    (void)unused;
    atomic_store(&writing, true);
    nap(WAIT_MS * 6); /* the commit may begin late: the machine has other work */
    sap_txn_abort(txn);
    return NULL;
}

static int begins_a_writer(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    (void)host;
    (void)msg;
    (void)ctx;
    EXPECT(pthread_create(&writer, NULL, write_for_a_while, NULL) == 0, "no thread");
    while (!atomic_load(&writing)) {
        nap(1);
    }
    return SAP_OK;
}

START_TEST(the_latency_of_a_commit_includes_the_wait_for_the_writer)
{
    SapRunnerV0Worker worker;

    post_open(&post);
    make_worker(post.db, begins_a_writer, &worker);
    post_send(post.db, ME, POST_NORMAL, "a");
    EXPECT_RC(sap_runner_v0_worker_tick(&worker, NULL), SAP_OK);
    EXPECT(pthread_join(writer, NULL) == 0, "the thread is gone");
    SapRunnerV0Metrics m = metrics_of(&worker);
    EXPECT(m.commit_latency_max_us >= WAIT_US && m.commit_latency_total_us >= WAIT_US,
           "the longest took %llu us", (unsigned long long)m.commit_latency_max_us);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    post_close(&post);
}
END_TEST

/* ---- The disk ------------------------------------------------------------------------------- */

static FileBed bed;
static atomic_bool slow;
static atomic_uint handled;

static void sync_slowly(const char *step, void *ctx)
{
    (void)ctx;
    if (strcmp(step, "log group written") == 0 && atomic_load(&slow)) {
        nap(WAIT_MS);
    }
}

static int counts(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    (void)host;
    (void)msg;
    (void)ctx;
    atomic_fetch_add(&handled, 1);
    return SAP_OK;
}

static void expect_slow(SapRunnerV0Worker *worker)
{
    SapRunnerV0Metrics m = metrics_of(worker);

    EXPECT(m.commit_latency_max_us >= WAIT_US && m.commit_latency_total_us >= WAIT_US,
           "the longest took %llu us", (unsigned long long)m.commit_latency_max_us);
}

START_TEST(the_latency_of_a_commit_includes_the_wait_for_the_disk)
{
    bool by_thread = _i == 1;
    SapRunnerV0Worker worker;

    file_bed_start(&bed);
    SapEnv *db = file_bed_open(&bed);
    make_worker(db, counts, &worker);
    post_send(db, ME, POST_NORMAL, "a");
    fault_on_step(sync_slowly, NULL);
    atomic_store(&slow, true);
    if (by_thread) {
        EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
        while (atomic_load(&handled) == 0) {
            nap(1);
        }
        sap_runner_v0_worker_request_stop(&worker);
        EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
    } else {
        EXPECT_RC(sap_runner_v0_worker_tick(&worker, NULL), SAP_OK);
    }
    atomic_store(&slow, false);
    fault_on_step(NULL, NULL);
    expect_slow(&worker);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/reports of threads");
    TCase *tc = tcase_create("reports");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, the_latency_of_a_commit_includes_the_wait_for_the_writer);
    tcase_add_loop_test(tc, the_latency_of_a_commit_includes_the_wait_for_the_disk, 0, 2);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
