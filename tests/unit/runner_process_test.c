/* Queues, runners and workers in a process that fork() made: nothing works there, nothing changes,
 * nothing waits. */
#include "common/config.h"
#include "sapling/queue.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMEOUT_S = 60, WORKER = 5 };

static FileBed bed;

static void set_up(void)
{
    file_bed_start_small(&bed);
}

static void tear_down(void)
{
    file_bed_end_clean(&bed);
}

static void nap(void)
{
    (void)nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

/* ---- Queues --------------------------------------------------------------------------------- */

typedef struct InheritedQueue {
    SapQueue *queue;
    SapQueueMessage *messages[3];
} InheritedQueue;

static int ignore_message(const SapQueueMessage *message, int leased, void *ctx)
{
    (void)message;
    (void)leased;
    (void)ctx;
    return 0;
}

static int ignore_name(const char *name, int64_t worker, void *ctx)
{
    (void)name;
    (void)worker;
    (void)ctx;
    return 0;
}

static void use_inherited_queue(void *arg)
{
    InheritedQueue *has = (InheritedQueue *)arg;
    SapQueue *queue = has->queue;
    SapQueue *other = NULL;
    SapQueueMessage *message = NULL;
    SapQueueStat stat;
    const void *payload = "x";
    const uint32_t len = 1;

    EXPECT_RC(sap_queue_push(queue, "x", 1, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_queue_push_many(queue, &payload, &len, 1, NULL), SAP_ERROR);
    EXPECT_RC(sap_queue_claim(queue, 0, 0, &message), SAP_ERROR);
    EXPECT_RC(sap_queue_claim(queue, 0, UINT32_MAX, &message), SAP_ERROR);
    EXPECT_RC(
        sap_queue_resume(queue, has->messages[0]->seq, has->messages[0]->claim.token, &message),
        SAP_ERROR);
    EXPECT_RC(sap_queue_stat(queue, &stat), SAP_ERROR);
    EXPECT_RC(sap_queue_peek(queue, ignore_message, NULL), SAP_ERROR);
    EXPECT_RC(sap_queue_list(sap_queue_db(queue), ignore_name, NULL), SAP_ERROR);
    EXPECT_RC(sap_queue_open_db(sap_queue_db(queue), NULL, &other), SAP_ERROR);
    EXPECT_RC(sap_queue_touch(queue, has->messages[0], 0), SAP_ERROR);
    EXPECT_RC(sap_queue_ack(queue, has->messages[0]), SAP_ERROR);
    EXPECT_RC(sap_queue_fail(queue, has->messages[1], 1, 0), SAP_ERROR);
    EXPECT_RC(sap_queue_put_back(queue, has->messages[2]), SAP_ERROR);
    sap_queue_interrupt(queue);
    EXPECT_RC(sap_queue_close(queue), SAP_OK);
}

static void *claim_for_ever(void *arg)
{
    SapQueueMessage *message = NULL;
    EXPECT_RC(sap_queue_claim((SapQueue *)arg, 0, UINT32_MAX, &message), SAP_NOTFOUND);
    return NULL;
}

START_TEST(in_another_process_a_queue_is_an_error_while_its_own_goes_on)
{
    SapQueueOptions options = {.file = &bed.options};
    InheritedQueue has;
    pthread_t waiter;

    EXPECT_RC(sap_queue_open(bed.path, &options, &has.queue), SAP_OK);
    for (int i = 0; i < 3; i++) {
        EXPECT_RC(sap_queue_push(has.queue, "m", 1, NULL, NULL), SAP_OK);
        EXPECT_RC(sap_queue_claim(has.queue, 0, 0, &has.messages[i]), SAP_OK);
    }
    EXPECT_RC(sap_db_sync(sap_queue_db(has.queue)), SAP_OK); /* claims reach the disk later */
    /* A thread that the child does not have waits in the queue. */
    EXPECT(pthread_create(&waiter, NULL, claim_for_ever, has.queue) == 0, "no thread");
    for (int i = 0; i < 10; i++) {
        nap();
        Image *before = image_take(bed.dir);
        files_in_child(use_inherited_queue, &has);
        image_expect_same(before, bed.dir);
        image_free(before);
    }
    sap_queue_interrupt(has.queue);
    pthread_join(waiter, NULL);
    for (int i = 0; i < 3; i++) {
        EXPECT_RC(sap_queue_ack(has.queue, has.messages[i]), SAP_OK);
    }
    EXPECT_RC(sap_queue_close(has.queue), SAP_OK);
}
END_TEST

/* ---- Runners -------------------------------------------------------------------------------- */

static int in_child; /* set there, before anything is called */

static int handle(SapRunnerV0 *runner, const SapRunnerV0Message *msg, void *ctx)
{
    (void)runner;
    (void)msg;
    EXPECT(in_child == 0, "a handler was called in the child");
    __atomic_fetch_add((uint32_t *)ctx, 1, __ATOMIC_SEQ_CST);
    return SAP_OK;
}

typedef struct InheritedRunner {
    SapRunnerV0 *runner;
    SapRunnerV0Worker *started;
    SapRunnerV0Handler handler;
} InheritedRunner;

static const SapRunnerV0Message message = {.kind = SAP_RUNNER_V0_COMMAND,
                                           .flags = SAP_RUNNER_V0_DURABLE,
                                           .to_worker = WORKER,
                                           .route_worker = WORKER,
                                           .message_id = "id",
                                           .message_id_len = 2,
                                           .payload = "x",
                                           .payload_len = 1};

static void free_nothing(void *buf, size_t len)
{
    (void)buf;
    (void)len;
}

static void use_inherited_runner(void *arg)
{
    InheritedRunner *has = (InheritedRunner *)arg;
    SapRunnerV0Worker *started = has->started;
    SapEnv *db = started->runner.db;
    SapRunnerV0Policy policy;
    SapRunnerV0Metrics metrics;
    SapTransferTicket ticket;
    SapRunnerTxCtxV0 *ctx = NULL;
    uint8_t frame[256];
    uint32_t len = 0;
    uint32_t ms = 0;

    in_child = 1;
    EXPECT_RC(sap_runner_v0_send(db, &message, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_wire_v0_encode_message(&message, frame, sizeof frame, &len), 0);
    EXPECT_RC(sap_runner_v0_run_step(has->runner, frame, len, &has->handler), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_poll_inbox(has->runner, &has->handler, 1, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_touch(has->runner), SAP_ERROR);
    sap_runner_v0_policy_default(&policy);
    EXPECT_RC(sap_runner_v0_set_policy(has->runner, &policy), SAP_ERROR);
    sap_runner_v0_metrics_snapshot(has->runner, &metrics);
    sap_runner_v0_metrics_reset(has->runner);
    EXPECT(sap_runner_v0_steps_completed(&started->runner) == 0, "it counts steps");
    EXPECT_RC(sap_runner_v0_worker_tick(started, NULL), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_compute_idle_sleep_ms(started, &ms), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_start(started), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_worker_join(started), SAP_ERROR);
    sap_runner_v0_worker_request_stop(started);
    EXPECT_RC(sap_runner_txctx_v0_create(db, &ctx), SAP_ERROR);
    EXPECT_RC(sap_transfer_give(db, frame, 1, free_nothing, &ticket), SAP_ERROR);
    sap_transfer_reclaim(db, NULL);
    EXPECT_RC(sap_runner_v0_bootstrap_dbis(db), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_ensure_schema_version(db, 0, 0, 1), SAP_ERROR);
    EXPECT_RC(sap_runner_v0_shutdown(has->runner), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_shutdown(started), SAP_OK);
    EXPECT_RC(sap_db_close(db), SAP_OK);
}

START_TEST(in_another_process_runners_and_workers_are_errors_while_their_own_go_on)
{
    SapEnv *db = file_bed_open(&bed);
    uint32_t handled = 0;
    SapRunnerV0Handler handler = {.plain = handle, .ctx = &handled};
    SapRunnerV0Config config = {
        .db = db, .worker_id = WORKER + 1, .bootstrap_schema_if_missing = 1};
    SapRunnerV0WorkerConfig worker_config = {.runner = {.db = db, .worker_id = WORKER},
                                             .handler = handler};
    SapRunnerV0 runner;
    SapRunnerV0Worker worker;
    InheritedRunner has = {.runner = &runner, .started = &worker, .handler = handler};

    EXPECT_RC(sap_runner_v0_init(&runner, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &worker_config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT_RC(sap_runner_v0_send(db, &message, NULL), SAP_OK);
        files_in_child(use_inherited_runner, &has); /* at any moment of the thread */
        while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) <= i) {
            nap();
        }
    }
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    EXPECT_RC(sap_runner_v0_shutdown(&runner), SAP_OK);
    EXPECT(handled == 10, "%u messages were handled", handled);
    file_bed_close(db);
}
END_TEST

/* ---- Locks of the process ------------------------------------------------------------------- */

static SapEnv *memory;

/* Not under a sanitizer, whose allocator has locks of its own: threads of the parent that allocate leave
 * them locked in the child. */
#if !SAP_SANITIZED

enum { FORKS = 30, STUCK_S = 20, BUFFERS = 20000 };

static int stop_busy; /* atomic */

/* Is nearly always inside the lock of buffers on their way: it looks for some that are not there among
 * many that are. */
static void *keep_buffers_busy(void *arg)
{
    while (__atomic_load_n(&stop_busy, __ATOMIC_SEQ_CST) == 0) {
        sap_transfer_reclaim((SapEnv *)arg, NULL);
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
    return NULL;
}

/* Rings the worker's bell again and again. */
static void *keep_bells_busy(void *arg)
{
    (void)arg;
    while (__atomic_load_n(&stop_busy, __ATOMIC_SEQ_CST) == 0) {
        EXPECT_RC(sap_runner_v0_send(memory, &message, NULL), SAP_OK);
    }
    return NULL;
}

/* A file of its own, with a worker and a buffer. */
static void use_own_file(void *arg)
{
    uint32_t handled = 0;
    SapTransferTicket ticket = 0;
    SapRunnerV0Worker worker;
    void *taken = NULL;
    size_t len = 0;

    (void)arg;
    (void)alarm(STUCK_S);
    SapEnv *db = file_bed_open(&bed);
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = db, .worker_id = WORKER, .bootstrap_schema_if_missing = 1},
        .handler = {.plain = handle, .ctx = &handled}};
    EXPECT_RC(sap_transfer_give(db, &handled, 1, free_nothing, &ticket), SAP_OK);
    EXPECT_RC(sap_transfer_take(ticket, &taken, &len), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    EXPECT_RC(sap_runner_v0_send(db, &message, NULL), SAP_OK);
    while (__atomic_load_n(&handled, __ATOMIC_SEQ_CST) == 0) {
        nap();
    }
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
}

START_TEST(a_child_works_on_its_own_whatever_threads_of_its_parent_were_doing)
{
    uint32_t handled = 0;
    pthread_t buffers;
    pthread_t bells;
    SapRunnerV0Worker worker;
    SapEnv *another = sap_db_open(NULL, 4096, NULL, NULL);

    memory = sap_db_open(NULL, 4096, NULL, NULL);
    ck_assert_ptr_nonnull(memory);
    SapRunnerV0WorkerConfig config = {
        .runner = {.db = memory, .worker_id = WORKER, .bootstrap_schema_if_missing = 1},
        .handler = {.plain = handle, .ctx = &handled}};
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    stop_busy = 0;
    for (int i = 0; i < BUFFERS; i++) {
        SapTransferTicket ticket = 0;
        EXPECT_RC(sap_transfer_give(memory, &handled, 1, free_nothing, &ticket), SAP_OK);
    }
    EXPECT(pthread_create(&buffers, NULL, keep_buffers_busy, another) == 0, "no thread");
    EXPECT(pthread_create(&bells, NULL, keep_bells_busy, NULL) == 0, "no thread");
    for (int i = 0; i < FORKS; i++) {
        files_in_child(use_own_file, NULL);
    }
    __atomic_store_n(&stop_busy, 1, __ATOMIC_SEQ_CST);
    pthread_join(buffers, NULL);
    pthread_join(bells, NULL);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    EXPECT_RC(sap_db_close(another), SAP_OK);
    EXPECT_RC(sap_db_close(memory), SAP_OK);
}
END_TEST

#endif

static SapTransferTicket give_one(SapEnv *db)
{
    SapTransferTicket ticket = 0;
    void *taken = NULL;
    size_t len = 0;

    EXPECT_RC(sap_transfer_give(db, &in_child, 1, free_nothing, &ticket), SAP_OK);
    EXPECT_RC(sap_transfer_take(ticket, &taken, &len), SAP_OK);
    return ticket;
}

START_TEST(tickets_of_a_child_are_not_those_of_its_parent)
{
    int ends[2];
    SapTransferTicket of_child = 0;

    memory = sap_db_open(NULL, 4096, NULL, NULL);
    ck_assert_ptr_nonnull(memory);
    (void)give_one(memory);
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        of_child = give_one(memory);
        ssize_t put = write(ends[1], &of_child, sizeof of_child);
        _exit(put == (ssize_t)sizeof of_child ? 0 : 1);
    }
    ck_assert_int_eq(read(ends[0], &of_child, sizeof of_child), (ssize_t)sizeof of_child);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    ck_assert_uint_ne(of_child, give_one(memory));
    close(ends[0]);
    close(ends[1]);
    EXPECT_RC(sap_db_close(memory), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/process");
    TCase *tcase = tcase_create("process");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, in_another_process_a_queue_is_an_error_while_its_own_goes_on);
    tcase_add_test(tcase, in_another_process_runners_and_workers_are_errors_while_their_own_go_on);
#if !SAP_SANITIZED
    tcase_add_test(tcase, a_child_works_on_its_own_whatever_threads_of_its_parent_were_doing);
#endif
    tcase_add_test(tcase, tickets_of_a_child_are_not_those_of_its_parent);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
