/* Every allocation that a universe makes fails once: the call says so, the next one succeeds, and nothing
 * is lost, done twice or leaked. And what a world in memory costs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/suite.h"
#include "universe/state.h"
#include "universe/universe_impl.h"

enum {
    TIMEOUT_S = 300,
    MOST_FAULTS = 20000,
    LARGE = 100000, /* bytes of a payload that becomes a blob */
    HOT_WORLDS = 256,
    HOT_WORLD_MOST = 16 * 1024,
};

static int sum(SapWorld *world, const SapEvent *event)
{
    const void *old = NULL;
    size_t len = 0;
    uint64_t total = 0;
    char text[24];
    int rc = sap_world_get(world, "sum", 3, &old, &len, NULL);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (rc == SAP_OK) {
        (void)snprintf(text, sizeof text, "%.*s", (int)len, (const char *)old);
        total = strtoull(text, NULL, 10);
    }
    if (strcmp(event->name, "bad") == 0) {
        (void)sap_world_put(world, "sum", 3, SAP_ENCODING_JSON, "0", 1);
        return sap_world_fail(world, false, "bad");
    }
    int n = snprintf(text, sizeof text, "%" PRIu64, total + event->payload_len);
    rc = sap_world_put(world, "sum", 3, SAP_ENCODING_JSON, text, (size_t)n);
    if (rc == SAP_OK && event->reply_to[0] != 0) {
        rc = sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, text, (size_t)n);
    }
    return rc;
}

SAP_WORLD_MODULE("sum", sum);

static void expect_code(int rc, const char *call)
{
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "%s returned %d", call, rc);
}

/* Until it succeeds: one allocation fails at most. */
#define TRY(call)                        \
    do {                                 \
        int try_rc = (call);             \
        expect_code(try_rc, #call);      \
        if (try_rc != SAP_OK) {          \
            try_rc = (call);             \
        }                                \
        EXPECT(try_rc == SAP_OK, #call); \
    } while (0)

/* The second try of a creation may find that the first one happened. */
static void create(SapUniverse *universe)
{
    int rc =
        sap_world_create(universe, "w", "sum", SAP_ENCODING_JSON, "{\"b\":[1,2],\"a\":1.50}", 20);
    if (rc == SAP_NOMEM) {
        rc = sap_world_create(universe, "w", "sum", SAP_ENCODING_JSON, "{\"b\":[1,2],\"a\":1.50}",
                              20);
    }
    EXPECT(rc == SAP_OK, "create returned %d", rc);
}

static void send_item(SapUniverse *universe, const char *name, const char *id, size_t len)
{
    static char payload[LARGE];
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .payload = payload};
    SapIngressResult result;
    item.payload_len = len;
    item.encoding = SAP_ENCODING_RAW;
    item.want_reply = true;
    TRY(sap_enqueue_ingress(universe, "w", &item, &result));
}

static void run_all(SapWorker *worker, ManualClock *clock)
{
    int idle = 0;
    for (int i = 0; i < 100 && idle < 2; i++) {
        bool busy = false;
        int rc = sap_worker_step(worker, &busy);
        expect_code(rc, "step");
        rc = rc == SAP_OK ? sap_worker_renew(worker) : rc;
        expect_code(rc, "renew");
        /* A handler without memory is called again after a second. */
        idle = busy || rc != SAP_OK ? 0 : idle + 1;
        manual_clock_advance_ms(clock, 2000);
    }
    EXPECT(idle == 2, "there is no end of work");
}

static void expect_reply(SapUniverse *universe, const char *id, bool failed, const char *text)
{
    SapReply *reply = NULL;
    TRY(sap_world_reply_wait(universe, "w", id, 0, &reply));
    EXPECT(reply->failed == failed && strcmp(reply->payload, text) == 0, "%s: %s", id,
           reply->payload);
    sap_reply_free(reply);
}

/* All that a universe does, with the n-th allocation failing. False: there is no such one. */
static bool fail_nth(uint64_t nth)
{
    ManualClock manual;
    Clock clock;
    SapStoreOptions options = {.size = sizeof options};
    SapWorkerOptions worker_options = {.size = sizeof worker_options, .name = "a"};
    SapStore *store = NULL;
    SapUniverse *universe = NULL;
    SapWorker *worker = NULL;
    SapWorldInfo info;
    bool done = false;
    expect_context("allocation %" PRIu64, nth);
    manual_clock_init(&manual, UINT64_C(1700000000000000000));
    clock = manual_clock(&manual);
    options.tables = universe_tables(&options.table_count);
    options.wall_ns = clock.wall_ns;
    options.boot_ns = clock.boot_ns;
    options.clock_ctx = clock.ctx;
    ck_assert_int_eq(sap_store_open("memory:", &options, &store), SAP_OK);
    fault_reset();
    fault_arm_alloc(nth);
    TRY(universe_open_on(store, &clock, NULL, 1, &universe));
    TRY(sap_worker_open(universe, &worker_options, &worker));
    create(universe);
    send_item(universe, "add", "one", 7);
    send_item(universe, "add", "large", LARGE);
    send_item(universe, "bad", "bad", 1);
    run_all(worker, &manual);
    TRY(sap_world_pause(universe, "w", "for a while"));
    send_item(universe, "add", "two", 3);
    run_all(worker, &manual);
    TRY(sap_world_resume(universe, "w"));
    run_all(worker, &manual);
    /* The creation's payload in canonical form is {"a":1.5,"b":[1,2]}, of 19 bytes. */
    expect_reply(universe, "one", false, "26");
    expect_reply(universe, "large", false, "100026");
    expect_reply(universe, "bad", true, "bad");
    expect_reply(universe, "two", false, "100029");
    send_item(universe, "add", "late", 3);
    TRY(sap_world_info(universe, "w", &info));
    EXPECT(info.height == 5, "height %" PRIu64, info.height);
    TRY(sap_world_delete(universe, "w", "done with it"));
    while (!done) {
        TRY(sap_world_drain(universe, "w", 0, &done));
    }
    create(universe);
    send_item(universe, "add", "again", 1);
    run_all(worker, &manual);
    expect_reply(universe, "again", false, "20");
    expect_code(sap_worker_close(worker), "close");
    bool fired = fault_fired() > 0;
    fault_reset();
    ck_assert_int_eq(sap_universe_close(universe), SAP_OK);
    ck_assert_int_eq(sap_store_close(store), SAP_OK);
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0, "memory leaked");
    return fired;
}

START_TEST(every_allocation_that_fails_is_reported_and_nothing_is_lost)
{
    uint64_t nth = 1;
    while (fail_nth(nth)) {
        EXPECT(nth++ < MOST_FAULTS, "there is no end of allocations");
    }
    EXPECT(nth > 100, "only %" PRIu64 " allocations", nth - 1);
    printf("universe_faults: %" PRIu64 " allocations failed\n", nth - 1);
}
END_TEST

static size_t live_bytes(void)
{
    size_t bytes = 0;
    for (int i = 0; i < MEM_OWNER_COUNT; i++) {
        bytes += mem_live_bytes((MemOwner)i);
    }
    return bytes;
}

/* Beyond its data, a world that has run once costs 16 KiB at most. */
START_TEST(a_hot_world_costs_little_beyond_its_data)
{
    static const size_t rows[] = {0, 1, 10, 100};
    WorldState *states[HOT_WORLDS];
    char val[100] = {0};
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        size_t before = live_bytes();
        size_t data = rows[r] * (8 + sizeof val);
        for (int i = 0; i < HOT_WORLDS; i++) {
            ck_assert_int_eq(state_open(&states[i]), SAP_OK);
            ck_assert_int_eq(state_begin(states[i]), SAP_OK);
            for (size_t k = 0; k < rows[r]; k++) {
                char key[24];
                (void)snprintf(key, sizeof key, "%08zu", k);
                ck_assert_int_eq(state_put(states[i], (Slice){key, 8}, (Slice){val, sizeof val}),
                                 SAP_OK);
            }
            ck_assert_int_eq(state_commit(states[i]), SAP_OK);
        }
        size_t each = (live_bytes() - before) / HOT_WORLDS;
        printf("universe_faults: a world with %zu rows, %zu bytes of data: %zu bytes of memory\n",
               rows[r], data, each);
        EXPECT(each <= HOT_WORLD_MOST + 2 * data, "%zu bytes a world, %zu of data", each, data);
        for (int i = 0; i < HOT_WORLDS; i++) {
            state_close(states[i]);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_faults");
    TCase *test_case = tcase_create("memory");
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, every_allocation_that_fails_is_reported_and_nothing_is_lost);
    tcase_add_test(test_case, a_hot_world_costs_little_beyond_its_data);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
