/* Worlds from outside, by universe.h alone, on every store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "sapling/universe.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "universe/universe_impl.h"

enum { TIMEOUT_S = 120 };

static StoreBeds beds;
static char url[SUITE_URL_MAX]; /* of the last universe that was made */
static bool handler_down;       /* the outside that the handler needs */

/* "add" adds, "bad" is refused for good, "down" fails while handler_down, "size" replies the size of the
 * payload, "big" changes too much. */
static int count(SapWorld *world, const SapEvent *event)
{
    char text[32];
    const void *old = NULL;
    size_t len = 0;
    long total = 0;
    if (event->kind == SAP_EVENT_CREATE) {
        return SAP_OK;
    }
    if (strcmp(event->name, "bad") == 0) {
        (void)sap_world_put(world, "total", 5, SAP_ENCODING_JSON, "666", 3);
        return sap_world_fail(world, false, "no such thing");
    }
    if (strcmp(event->name, "down") == 0 && handler_down) {
        return sap_world_fail(world, true, "the outside is down");
    }
    if (strcmp(event->name, "big") == 0) {
        static char much[SAP_WORLD_MAX_VALUE];
        int rc = SAP_OK;
        for (int i = 0; rc == SAP_OK && i < 100; i++) {
            rc = sap_world_put(world, &i, sizeof i, SAP_ENCODING_RAW, much, sizeof much);
        }
        return rc == SAP_FULL ? sap_world_fail(world, false, "too much") : SAP_ERROR;
    }
    if (strcmp(event->name, "size") == 0) {
        total = (long)event->payload_len;
    } else {
        if (sap_world_get(world, "total", 5, &old, &len, NULL) == SAP_OK) {
            (void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)old);
            total = atol(text);
        }
        (void)snprintf(text, sizeof text, "%.*s", (int)event->payload_len,
                       (const char *)event->payload);
        total += atol(text);
    }
    int wrote = snprintf(text, sizeof text, "%ld", total);
    int rc = sap_world_put(world, "total", 5, SAP_ENCODING_JSON, text, (size_t)wrote);
    if (rc == SAP_OK && event->reply_to[0] != 0) {
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, (size_t)wrote);
    }
    return rc;
}

SAP_WORLD_MODULE("count", count);

static SapUniverse *open_again(void)
{
    SapUniverse *universe = NULL;
    ck_assert_int_eq(sap_universe_open(url, NULL, &universe), SAP_OK);
    return universe;
}

/* A new one on that store. NULL: there is no such store here, which has been printed. */
static SapUniverse *open_universe(int bed)
{
    if (bed >= beds.count) {
        return NULL;
    }
    store_suite_next_url(&beds.all[bed], url, sizeof url);
    if (beds.all[bed].needs_init) {
        ck_assert_int_eq(sap_universe_init(url), SAP_OK);
    }
    return open_again();
}

static SapWorker *open_worker(SapUniverse *universe, const char *name)
{
    SapWorkerOptions options = {.size = sizeof options, .name = name, .max_attempts = 1};
    SapWorker *worker = NULL;
    ck_assert_int_eq(sap_worker_open(universe, &options, &worker), SAP_OK);
    return worker;
}

static int send_item(SapUniverse *universe, const char *name, const char *id, const char *payload)
{
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .payload = payload};
    item.payload_len = strlen(payload);
    item.want_reply = id != NULL;
    return sap_enqueue_ingress(universe, "w", &item, NULL);
}

static void run_all(SapWorker *worker)
{
    bool busy = true;
    while (busy) {
        ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_OK);
    }
}

static void expect_reply(SapUniverse *universe, const char *id, bool failed, const char *text)
{
    SapReply *reply = NULL;
    ck_assert_int_eq(sap_world_reply_wait(universe, "w", id, 0, &reply), SAP_OK);
    ck_assert_int_eq(reply->failed, failed);
    ck_assert_str_eq(reply->payload, text);
    sap_reply_free(reply);
}

START_TEST(a_world_counts_replies_and_rejects)
{
    SapUniverse *universe = open_universe(_i);
    if (universe == NULL) {
        return;
    }
    SapWorker *worker = open_worker(universe, "a");
    SapIngressResult result = {0};
    SapWorldInfo info;
    SapReply *reply = NULL;
    ck_assert_int_eq(send_item(universe, "add", NULL, "1"), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0),
                     SAP_EXISTS);
    ck_assert_int_eq(send_item(universe, "add", "one", " 3 "), SAP_OK);
    ck_assert_int_eq(send_item(universe, "bad", "two", "1"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", "three", "4"), SAP_OK);
    ck_assert_int_eq(sap_world_reply_wait(universe, "w", "one", 0, &reply), SAP_NOTFOUND);
    run_all(worker);
    expect_reply(universe, "one", false, "3");
    expect_reply(universe, "two", true, "no such thing");
    expect_reply(universe, "three", false, "7");
    /* The same id again: not enqueued; with another payload an error. */
    SapIngress same = {
        .size = sizeof same, .name = "add", .id = "one", .payload = "3", .payload_len = 1};
    ck_assert_int_eq(sap_enqueue_ingress(universe, "w", &same, &result), SAP_OK);
    ck_assert(result.duplicate);
    ck_assert_int_eq(send_item(universe, "add", "one", "5"), SAP_EXISTS);
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.height, 4); /* create and three */
    ck_assert_str_eq(info.holder, "a");
    ck_assert_int_eq(sap_universe_close(universe), SAP_BUSY);
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_str_eq(info.holder, "");
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
    ck_assert_uint_eq(mem_live_bytes(MEM_UNIVERSE), 0);
}
END_TEST

START_TEST(bad_input_is_refused_and_changes_nothing)
{
    SapUniverse *universe = open_universe(_i);
    if (universe == NULL) {
        return;
    }
    char name[SAP_WORLD_MAX_NAME + 2];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    ck_assert_int_eq(sap_world_create(universe, "", "count", SAP_ENCODING_JSON, NULL, 0),
                     SAP_INVALID);
    ck_assert_int_eq(sap_world_create(universe, name, "count", SAP_ENCODING_JSON, NULL, 0),
                     SAP_INVALID);
    ck_assert_int_eq(sap_world_create(universe, "w", "\xff", SAP_ENCODING_JSON, NULL, 0),
                     SAP_INVALID);
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, "{", 1),
                     SAP_INVALID);
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, "1", 1), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", NULL, "{\"a\":1,\"a\":2}"), SAP_INVALID);
    ck_assert_int_eq(send_item(universe, name, NULL, "1"), SAP_INVALID);
    SapIngress item = {.size = sizeof item, .want_reply = true, .payload = "1", .payload_len = 1};
    ck_assert_int_eq(sap_enqueue_ingress(universe, "w", &item, NULL), SAP_INVALID); /* no id */
    item =
        (SapIngress){.size = sizeof item, .payload = "1", .payload_len = SAP_WORLD_MAX_PAYLOAD + 1};
    ck_assert_int_eq(sap_enqueue_ingress(universe, "w", &item, NULL), SAP_FULL);
    ck_assert_int_eq(sap_enqueue_ingress(NULL, "w", &item, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_world_resume(universe, "none"), SAP_NOTFOUND);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

/* The seed's deterministic test 1: worker A loses the lease, worker B resumes from the journal with
 * byte-identical end state. */
START_TEST(seed_deterministic_1_lease_failover)
{
    SapUniverse *universe = open_universe(_i);
    if (universe == NULL) {
        return;
    }
    SapWorker *a = open_worker(universe, "a");
    SapWorldInfo before;
    SapWorldInfo after;
    SapWorkerStats stats;
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(send_item(universe, "add", NULL, "2"), SAP_OK);
    }
    run_all(a);
    ck_assert_int_eq(sap_world_info(universe, "w", &before), SAP_OK);
    ck_assert_uint_eq(before.height, 201);
    ck_assert_int_eq(send_item(universe, "add", "last", "1"), SAP_OK);
    SapWorker *again = open_worker(universe, "a"); /* the name's new session: a is over */
    run_all(a); /* it knows nothing of that yet, and has the lease until somebody takes it */
    run_all(again);
    ck_assert_int_eq(sap_worker_stats(again, &stats), SAP_OK);
    ck_assert_int_eq(sap_world_info(universe, "w", &after), SAP_OK);
    ck_assert_uint_eq(after.height, 202);
    expect_reply(universe, "last", false, "401");
    worker_abandon(a);
    ck_assert_int_eq(sap_worker_close(again), SAP_OK);
    /* Another worker finds the state that the journal says, or it would not open the world. */
    SapWorker *b = open_worker(universe, "b");
    ck_assert_int_eq(send_item(universe, "add", "b", "0"), SAP_OK);
    run_all(b);
    ck_assert_int_eq(sap_worker_stats(b, &stats), SAP_OK);
    ck_assert_uint_eq(stats.restored, 202);
    expect_reply(universe, "b", false, "401");
    ck_assert_int_eq(sap_world_info(universe, "w", &before), SAP_OK);
    ck_assert_mem_eq(before.state_sum, after.state_sum, sizeof after.state_sum);
    ck_assert_int_eq(sap_worker_close(b), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

START_TEST(a_failing_handler_pauses_its_world_and_resuming_tries_again)
{
    SapUniverse *universe = open_universe(_i);
    if (universe == NULL) {
        return;
    }
    SapWorker *worker = open_worker(universe, "a");
    SapWorldInfo info;
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    handler_down = true;
    ck_assert_int_eq(send_item(universe, "down", "d", "5"), SAP_OK);
    run_all(worker);
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_int_eq(info.status, SAP_WORLD_PAUSED);
    ck_assert_str_eq(info.reason, "the outside is down");
    ck_assert_uint_eq(info.height, 1);
    ck_assert_int_eq(send_item(universe, "add", "later", "1"),
                     SAP_OK); /* a paused one takes them */
    run_all(worker);
    handler_down = false;
    ck_assert_int_eq(sap_world_resume(universe, "w"), SAP_OK);
    run_all(worker);
    expect_reply(universe, "d", false, "5");
    expect_reply(universe, "later", false, "6");
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

START_TEST(a_deleted_world_is_drained_and_created_again_on_its_tombstone)
{
    SapUniverse *universe = open_universe(_i);
    if (universe == NULL) {
        return;
    }
    SapWorker *worker = open_worker(universe, "a");
    SapWorldInfo info;
    bool done = false;
    uint64_t epoch = 0;
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", "before", "5"), SAP_OK);
    run_all(worker);
    ck_assert_int_eq(send_item(universe, "add", NULL, "6"), SAP_OK);
    ck_assert_int_eq(sap_world_drain(universe, "w", 0, &done), SAP_ERROR);
    ck_assert_int_eq(sap_world_delete(universe, "w", "no longer needed"), SAP_OK);
    ck_assert_int_eq(sap_world_delete(universe, "w", "again"), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", NULL, "7"), SAP_NOTFOUND);
    ck_assert_int_eq(send_item(universe, "add", "never", "7"), SAP_NOTFOUND);
    ck_assert_int_eq(send_item(universe, "add", "before", "5"), SAP_OK); /* it is in already */
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0),
                     SAP_BUSY);
    run_all(worker);
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.height, 2); /* the worker was stopped */
    epoch = info.epoch;
    while (!done) {
        ck_assert_int_eq(sap_world_drain(universe, "w", 1, &done), SAP_OK);
    }
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", "new", "1"), SAP_OK);
    run_all(worker);
    expect_reply(universe, "new", false, "1"); /* the state began empty */
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(info.height, 4);
    ck_assert(info.epoch > epoch);
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

START_TEST(large_payloads_are_blobs_and_large_changes_are_refused)
{
    SapUniverse *universe = open_universe(_i);
    if (universe == NULL) {
        return;
    }
    SapWorker *worker = open_worker(universe, "a");
    size_t len = 300000;
    char *payload = malloc(len);
    ck_assert_ptr_nonnull(payload);
    memset(payload, 'x', len);
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    SapIngress item = {.size = sizeof item, .name = "size", .id = "s", .want_reply = true};
    item.encoding = SAP_ENCODING_RAW;
    item.payload = payload;
    item.payload_len = len;
    ck_assert_int_eq(sap_enqueue_ingress(universe, "w", &item, NULL), SAP_OK);
    ck_assert_int_eq(send_item(universe, "big", "b", "1"), SAP_OK);
    run_all(worker);
    expect_reply(universe, "s", false, "300000");
    expect_reply(universe, "b", true, "too much");
    free(payload);
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

START_TEST(a_file_that_was_left_by_a_dead_process_goes_on_at_once)
{
    SapWorldInfo info;
    SapUniverse *universe = open_universe(STORE_BED_FILE);
    SapWorker *worker = open_worker(universe, "a");
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    ck_assert_int_eq(send_item(universe, "add", NULL, "5"), SAP_OK);
    run_all(worker);
    worker_abandon(worker); /* its session and its lease stay in the file */
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
    universe = open_again();
    worker = open_worker(universe, "b");
    ck_assert_int_eq(send_item(universe, "add", "x", "1"), SAP_OK);
    run_all(worker);
    expect_reply(universe, "x", false, "6");
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_str_eq(info.holder, "b");
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
}
END_TEST

/* A store that loses the outcome of the commit after `skip` others. */
typedef struct LostCommit {
    SapStoreFault fault;
    int skip; /* below 0: none is lost */
} LostCommit;

static SapStoreFault lose_commit(void *ctx, SapStoreCall call)
{
    LostCommit *lost = (LostCommit *)ctx;
    if (call != SAP_STORE_CALL_COMMIT || lost->skip < 0) {
        return SAP_STORE_FAULT_NONE;
    }
    return lost->skip-- == 0 ? lost->fault : SAP_STORE_FAULT_NONE;
}

/* Whether it happened or not, the next step knows, and neither loses nor repeats anything. */
START_TEST(a_cycle_of_unknown_outcome_is_read_back)
{
    static const SapStoreFault faults[] = {SAP_STORE_FAULT_LOST_BEFORE, SAP_STORE_FAULT_LOST_AFTER};
    LostCommit lost = {.fault = faults[_i], .skip = -1};
    SapStoreOptions options = {.size = sizeof options, .hook = lose_commit, .hook_ctx = &lost};
    SapStore *store = NULL;
    SapUniverse *universe = NULL;
    SapWorkerStats stats;
    SapWorldInfo info;
    bool busy = false;
    options.tables = universe_tables(&options.table_count);
    ck_assert_int_eq(sap_store_open("memory:", &options, &store), SAP_OK);
    ck_assert_int_eq(universe_open_on(store, NULL, NULL, 1, &universe), SAP_OK);
    SapWorker *worker = open_worker(universe, "a");
    ck_assert_int_eq(sap_world_create(universe, "w", "count", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
    run_all(worker);
    ck_assert_int_eq(send_item(universe, "add", "x", "4"), SAP_OK);
    lost.skip = 0;
    ck_assert_int_eq(sap_worker_step(worker, &busy), SAP_IO);
    ck_assert_int_eq(lost.skip, -1);
    run_all(worker);
    ck_assert_int_eq(sap_worker_stats(worker, &stats), SAP_OK);
    ck_assert_int_eq(sap_world_info(universe, "w", &info), SAP_OK);
    ck_assert_uint_eq(stats.unknown, 1);
    ck_assert_uint_eq(stats.steps, 2);
    ck_assert_uint_eq(stats.fenced, 0);
    ck_assert_uint_eq(info.height, 2);
    expect_reply(universe, "x", false, "4");
    ck_assert_int_eq(sap_worker_close(worker), SAP_OK);
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
    ck_assert_int_eq(sap_store_close(store), SAP_OK);
}
END_TEST

static void set_up(void)
{
    store_beds_start(&beds);
}

static void tear_down(void)
{
    store_beds_end(&beds);
}

int main(void)
{
    Suite *suite = suite_create("universe_world");
    TCase *every = tcase_create("on every store");
    TCase *file = tcase_create("in a file");
    tcase_add_checked_fixture(every, set_up, tear_down);
    tcase_set_timeout(every, TIMEOUT_S);
    tcase_add_loop_test(every, a_world_counts_replies_and_rejects, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, bad_input_is_refused_and_changes_nothing, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, seed_deterministic_1_lease_failover, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, a_failing_handler_pauses_its_world_and_resuming_tries_again, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, a_deleted_world_is_drained_and_created_again_on_its_tombstone, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, large_payloads_are_blobs_and_large_changes_are_refused, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, a_cycle_of_unknown_outcome_is_read_back, 0, 2);
    suite_add_tcase(suite, every);
    tcase_add_checked_fixture(file, set_up, tear_down);
    tcase_add_test(file, a_file_that_was_left_by_a_dead_process_goes_on_at_once);
    suite_add_tcase(suite, file);
    return suite_run(suite);
}
