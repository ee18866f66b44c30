/* Workers and the disk: one that fails (what was acknowledged is handled once, whatever fails when),
 * one without room, one that is slow. */
#include "common/bytes.h"
#include "common/fault.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/post.h"
#include "support/suite.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMEOUT_S = 600, ME = 1, MESSAGES = 6, TICKS = 2000, CLOCK_STEP_MS = 5 };

static FileBed bed;

/* Counts each message in a row of its own. */
static int count(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    const void *val = NULL;
    uint32_t len = 0;
    uint8_t bytes[4];
    uint32_t times = 0;
    int rc = sap_runner_host_v0_get(host, 0, msg->message_id, msg->message_id_len, &val, &len);

    (void)ctx;
    if (rc == SAP_OK) {
        times = load_u32le(val);
    } else if (rc != SAP_NOTFOUND) {
        return rc;
    }
    store_u32le(bytes, times + 1);
    return sap_runner_host_v0_put(host, 0, msg->message_id, msg->message_id_len, bytes,
                                  sizeof bytes);
}

static uint32_t times_handled(SapEnv *db, const char *id)
{
    SapTxnCtx *txn = post_begin(db);
    const void *val = NULL;
    uint32_t len = 0;
    uint32_t times = 0;

    if (sap_txn_get(txn, id, (uint32_t)strlen(id), &val, &len) == SAP_OK) {
        times = load_u32le(val);
    }
    sap_txn_abort(txn);
    return times;
}

/* A worker whose time moves at each look, so that leases expire without waiting. */
static int make_worker(SapEnv *db, SapRunnerV0Worker *worker, PostClock *clock)
{
    SapRunnerV0WorkerConfig config = {.runner = {.db = db,
                                                 .worker_id = ME,
                                                 .bootstrap_schema_if_missing = 1,
                                                 .time = post_clock_hooks(clock)},
                                      .handler = {.atomic = count},
                                      .max_batch = 3};

    clock->step_ms = CLOCK_STEP_MS;
    return sap_runner_v0_worker_init(worker, &config);
}

static void nap(void)
{
    struct timespec ms = {0, 1000000};

    nanosleep(&ms, NULL);
}

static void name_of(int i, char id[16])
{
    snprintf(id, 16, "message-%d", i);
}

typedef struct Outcome {
    bool acknowledged[MESSAGES];
    bool full; /* some call answered SAP_FULL */
    bool dead; /* some call answered SAP_IO, after which the handle writes nothing more */
} Outcome;

static void note(Outcome *outcome, int rc, const char *what)
{
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_FULL || rc == SAP_IO, "%s answered %d", what,
           rc);
    outcome->full = outcome->full || rc == SAP_FULL;
    outcome->dead = outcome->dead || rc == SAP_IO;
}

/* Sends and handles; every now and then a checkpoint, which needs the disk for more than the log. */
static void work(SapEnv *db, SapRunnerV0Worker *worker, Outcome *outcome)
{
    for (int i = 0; i < MESSAGES; i++) {
        SapRunnerV0Message msg;
        char id[16];

        name_of(i, id);
        post_message(&msg, ME, SAP_RUNNER_V0_DURABLE, id);
        int rc = sap_runner_v0_send(db, &msg, NULL);
        note(outcome, rc, "send");
        outcome->acknowledged[i] = rc == SAP_OK;
        note(outcome, sap_runner_v0_worker_tick(worker, NULL), "tick");
        if (i == MESSAGES / 2) {
            note(outcome, sap_db_sync(db), "sync");
        }
    }
}

static void tick_out(SapRunnerV0Worker *worker)
{
    int rc = SAP_OK;

    for (int i = 0; i < TICKS && rc == SAP_OK; i++) {
        rc = sap_runner_v0_worker_tick(worker, NULL);
    }
    EXPECT(rc == SAP_BUSY, "tick answered %d", rc);
}

static void expect_each_once(SapEnv *db, const Outcome *outcome)
{
    for (int i = 0; i < MESSAGES; i++) {
        char id[16];

        name_of(i, id);
        uint32_t times = times_handled(db, id);
        EXPECT(times == 1 || (times == 0 && !outcome->acknowledged[i]), "%s was handled %u times",
               id, times);
    }
    EXPECT(post_rows(db, POST_INBOX) == 0 && post_rows(db, POST_LEASES) == 0 &&
               post_rows(db, POST_DEAD) == 0,
           "rows are left");
}

/* Fails the n-th question of the disk (and all later ones), for n = 1, 2, ... until none is left. */
static void fail_each(int err, bool from)
{
    uint64_t fired = 0;
    uint32_t full = 0;
    uint32_t dead = 0;

    for (uint64_t n = 1;; n++) {
        Outcome outcome = {0};
        SapRunnerV0Worker worker;
        PostClock clock = {.now_ms = 1000};

        file_bed_start(&bed);
        SapEnv *db = file_bed_open(&bed);
        EXPECT_RC(make_worker(db, &worker, &clock), SAP_OK);
        EXPECT_RC(sap_db_sync(db), SAP_OK); /* the next finds a segment of the log to use again */
        EXPECT_RC(sap_db_sync(db), SAP_OK);
        fault_reset();
        if (from) {
            fault_arm_io_from(n, err);
        } else {
            fault_arm_io(n, err);
        }
        work(db, &worker, &outcome);
        bool done = fault_fired() == 0;
        fault_reset();
        if (!outcome.dead) {
            /* There is room again: the same worker goes on. Claims that could not be ended end when
             * their leases do; nothing of a commit without room is there. */
            tick_out(&worker);
        }
        (void)sap_runner_v0_worker_shutdown(&worker);
        int closed = sap_db_close(db);
        EXPECT(closed == SAP_OK || closed == SAP_IO, "close answered %d", closed);

        db = file_bed_open(&bed);
        EXPECT_RC(make_worker(db, &worker, &clock), SAP_OK);
        for (int wait = 0; post_rows(db, POST_INBOX) > 0; wait++) {
            EXPECT(wait < 20000, "messages are stuck");
            (void)sap_runner_v0_worker_tick(&worker, NULL);
        }
        expect_each_once(db, &outcome);
        EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
        EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
        file_bed_close(db);
        file_bed_end(&bed);
        if (done) {
            break;
        }
        fired++;
        full += outcome.full;
        dead += outcome.dead;
    }
    printf("%s, %s: %llu failures, %u of them full, %u final\n", err == EIO ? "EIO" : "ENOSPC",
           from ? "from one on" : "once", (unsigned long long)fired, full, dead);
    EXPECT(fired > 5, "only %llu failures", (unsigned long long)fired);
}

START_TEST(a_disk_that_fails_once_loses_nothing_acknowledged)
{
    fail_each(EIO, false);
}
END_TEST

START_TEST(a_disk_that_fails_for_good_loses_nothing_acknowledged)
{
    fail_each(EIO, true);
}
END_TEST

START_TEST(a_disk_that_is_full_once_loses_nothing_acknowledged)
{
    fail_each(ENOSPC, false);
}
END_TEST

START_TEST(a_disk_that_stays_full_loses_nothing_acknowledged)
{
    fail_each(ENOSPC, true);
}
END_TEST

/* ---- No room below the size that was set ---------------------------------------------------- */

enum { ROOM = 2 << 20, FILL_MAX = 4000, WAIT_MS = 60000 };

static void fill_key(uint32_t i, uint8_t key[8])
{
    memcpy(key, "fill", 4);
    store_u32be(key + 4, i);
}

/* Rows of one page and then of one byte each, until not even those fit; how many there are. */
static uint32_t fill(SapEnv *db)
{
    static const uint8_t zeros[3000];
    uint32_t i = 0;

    for (uint32_t len = sizeof zeros; len > 0; len = len > 1 ? 1 : 0) {
        for (int rc = SAP_OK; rc == SAP_OK; i++) {
            SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
            uint8_t key[8];

            EXPECT(txn != NULL && i < FILL_MAX, "row %u", i);
            fill_key(i, key);
            rc = sap_txn_put(txn, key, sizeof key, zeros, len);
            if (rc == SAP_OK) {
                rc = sap_txn_commit(txn);
            } else {
                sap_txn_abort(txn);
            }
            EXPECT(rc == SAP_OK || rc == SAP_FULL, "row %u: %d", i, rc);
        }
        i--; /* the one that did not fit */
    }
    return i;
}

static void make_room(SapEnv *db, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        SapTxnCtx *txn = post_begin(db);
        uint8_t key[8];

        fill_key(i, key);
        EXPECT_RC(sap_txn_del(txn, key, sizeof key), SAP_OK);
        post_commit(txn);
    }
}

static void send_all(SapEnv *db)
{
    for (int i = 0; i < MESSAGES; i++) {
        char id[16];

        name_of(i, id);
        post_send(db, ME, POST_NORMAL, id);
    }
}

static const Outcome all_acknowledged = {.acknowledged = {true, true, true, true, true, true}};

START_TEST(without_room_ticks_and_sends_are_refused_and_with_room_they_go_on)
{
    SapRunnerV0Worker worker;
    PostClock clock = {.now_ms = 1000};
    SapRunnerV0Message msg;

    file_bed_start(&bed);
    bed.options.max_size = ROOM;
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(make_worker(db, &worker, &clock), SAP_OK);
    send_all(db);
    uint32_t rows = fill(db);
    uint64_t before = post_digest(db);
    for (int i = 0; i < 10; i++) {
        EXPECT_RC(sap_runner_v0_worker_tick(&worker, NULL), SAP_FULL);
        post_message(&msg, ME, SAP_RUNNER_V0_DURABLE, "one too many");
        EXPECT_RC(sap_runner_v0_send(db, &msg, NULL), SAP_FULL);
    }
    EXPECT(post_digest(db) == before, "something was half done");
    make_room(db, rows);
    tick_out(&worker);
    expect_each_once(db, &all_acknowledged);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&bed);
    printf("%u rows filled the file\n", rows);
}
END_TEST

START_TEST(a_thread_without_room_goes_on_by_itself_when_there_is_room)
{
    SapRunnerV0Worker worker;
    SapRunnerV0WorkerConfig config = {.runner = {.worker_id = ME, .bootstrap_schema_if_missing = 1},
                                      .handler = {.atomic = count}};

    file_bed_start(&bed);
    bed.options.max_size = ROOM;
    SapEnv *db = file_bed_open(&bed);
    config.runner.db = db;
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    send_all(db);
    uint32_t rows = fill(db);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    for (int i = 0; i < 100; i++) {
        nap();
    }
    EXPECT(post_rows(db, POST_INBOX) == MESSAGES, "handled without room");
    make_room(db, rows);
    for (int i = 0; post_rows(db, POST_INBOX) > 0; i++) {
        EXPECT(i < WAIT_MS, "the worker does not go on");
        nap();
    }
    sap_runner_v0_worker_request_stop(&worker);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
    expect_each_once(db, &all_acknowledged);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&bed);
}
END_TEST

/* ---- A disk that takes its time ------------------------------------------------------------- */

static atomic_uint begun;
static atomic_bool slow;

static int count_begun(SapRunnerHostV0 *host, const SapRunnerV0Message *msg, void *ctx)
{
    atomic_fetch_add(&begun, 1);
    return count(host, msg, ctx);
}

/* The group with the message is not synced before the block has begun, or after ten seconds. */
static void sync_late(const char *step, void *ctx)
{
    (void)ctx;
    if (strcmp(step, "log group written") != 0 || !atomic_exchange(&slow, false)) {
        return;
    }
    for (int i = 0; i < 10000 && atomic_load(&begun) == 0; i++) {
        nap();
    }
    EXPECT(atomic_load(&begun) > 0, "the block waits for the disk");
}

START_TEST(an_idle_worker_begins_a_block_before_its_message_is_on_disk)
{
    SapRunnerV0Worker worker;
    SapRunnerV0WorkerConfig config = {.runner = {.worker_id = ME, .bootstrap_schema_if_missing = 1},
                                      .handler = {.atomic = count_begun},
                                      .max_idle_sleep_ms = 3600 * 1000};

    file_bed_start(&bed);
    SapEnv *db = file_bed_open(&bed);
    config.runner.db = db;
    EXPECT_RC(sap_runner_v0_worker_init(&worker, &config), SAP_OK);
    fault_on_step(sync_late, NULL);
    EXPECT_RC(sap_runner_v0_worker_start(&worker), SAP_OK);
    for (int i = 0; i < MESSAGES; i++) {
        SapRunnerV0Message msg;
        char id[16];

        for (int k = 0; k < 20; k++) {
            nap(); /* it sleeps by now */
        }
        atomic_store(&begun, 0);
        atomic_store(&slow, true);
        name_of(i, id);
        post_message(&msg, ME, SAP_RUNNER_V0_DURABLE, id);
        EXPECT_RC(sap_runner_v0_send(db, &msg, NULL), SAP_OK);
        EXPECT(!atomic_load(&slow), "nothing was written before the answer");
    }
    for (int i = 0; post_rows(db, POST_INBOX) > 0; i++) {
        EXPECT(i < WAIT_MS, "messages are left");
        nap();
    }
    sap_runner_v0_worker_request_stop(&worker);
    EXPECT_RC(sap_runner_v0_worker_join(&worker), SAP_OK);
    fault_on_step(NULL, NULL);
    expect_each_once(db, &all_acknowledged);
    EXPECT_RC(sap_runner_v0_worker_shutdown(&worker), SAP_OK);
    file_bed_close(db);
    file_bed_end(&bed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("runner/disk");
    TCase *tcase = tcase_create("disk");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_disk_that_fails_once_loses_nothing_acknowledged);
    tcase_add_test(tcase, a_disk_that_fails_for_good_loses_nothing_acknowledged);
    tcase_add_test(tcase, a_disk_that_is_full_once_loses_nothing_acknowledged);
    tcase_add_test(tcase, a_disk_that_stays_full_loses_nothing_acknowledged);
    tcase_add_test(tcase, without_room_ticks_and_sends_are_refused_and_with_room_they_go_on);
    tcase_add_test(tcase, a_thread_without_room_goes_on_by_itself_when_there_is_room);
    tcase_add_test(tcase, an_idle_worker_begins_a_block_before_its_message_is_on_disk);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
