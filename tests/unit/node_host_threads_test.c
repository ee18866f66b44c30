/* The threads of a node around a worker: handlers that do not return, a session that is over, a store that
 * has failed, stopping. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/mem.h"
#include "common/sync.h"
#include "node/host.h"
#include "store/store_impl.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"
#include "universe/universe_impl.h"

enum { TIMEOUT_S = 120, HANGING = 40, HANDLERS = 64, PATIENCE_MS = 50 };

#define REPLY_NS UINT64_C(8000000000) /* below the time after which a handler counts as stuck */
#define MS_NS    UINT64_C(1000000)

static FileBed bed;
static SapUniverse *universe;
static SAP_ATOMIC(bool) let_go;   /* handlers that hang return */
static SAP_ATOMIC(uint32_t) hang; /* so many do */
static SAP_ATOMIC(bool) store_fails;

static void nap_ms(long ms)
{
    struct timespec some = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    (void)nanosleep(&some, NULL);
}

static int hang_or_reply(SapWorld *world, const SapEvent *event)
{
    if (event->kind != SAP_EVENT_MESSAGE) {
        return SAP_OK;
    }
    if (strcmp(event->name, "hang") == 0) {
        (void)atomic_add_full(&hang, 1);
        while (!atomic_load_full(&let_go)) {
            nap_ms(2);
        }
        return SAP_OK;
    }
    return sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, "1", 1);
}

SAP_WORLD_MODULE("host_test", hang_or_reply);

/* From a moment on the file has failed, as after a sync that returned EIO. */
static SapStoreFault fail_calls(void *ctx, SapStoreCall call)
{
    (void)ctx;
    (void)call;
    return atomic_load_full(&store_fails) ? SAP_STORE_FAULT_FAIL : SAP_STORE_FAULT_NONE;
}

static void set_up(void)
{
    char url[FILES_PATH_MAX + 16];
    file_bed_start(&bed);
    (void)snprintf(url, sizeof url, "sapling:%s", bed.path);
    EXPECT_RC(sap_universe_open(url, NULL, &universe), SAP_OK);
}

static void tear_down(void)
{
    EXPECT_RC(sap_universe_close(universe), SAP_OK);
    EXPECT(mem_live_bytes(MEM_UNIVERSE) == 0 && mem_live_bytes(MEM_STORE) == 0, "memory leaked");
    file_bed_end(&bed);
}

static Host *start_host(const HostOptions *given)
{
    HostOptions options = *given;
    Host *host = NULL;
    options.worker.name = "w1";
    options.roles = HOST_ALL_ROLES;
    options.handlers = HANDLERS;
    EXPECT_RC(host_start(universe, &options, &host), SAP_OK);
    return host;
}

static void create_world(const char *world)
{
    EXPECT_RC(sap_world_create(universe, world, "host_test", SAP_ENCODING_JSON, NULL, 0), SAP_OK);
}

static void send_to(const char *world, const char *name, const char *id)
{
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .want_reply = true};
    EXPECT_RC(sap_enqueue_ingress(universe, world, &item, NULL), SAP_OK);
}

static void expect_reply(const char *world, const char *id)
{
    SapReply *reply = NULL;
    EXPECT_RC(sap_world_reply_wait(universe, world, id, REPLY_NS, &reply), SAP_OK);
    EXPECT(!reply->failed && strcmp(reply->payload, "1") == 0, "it replied %s", reply->payload);
    sap_reply_free(reply);
}

static void hang_worlds(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "h%02u", i);
        create_world(name);
        send_to(name, "hang", "h");
    }
    for (int i = 0; atomic_load_full(&hang) < count; i++) {
        EXPECT(i < 10000, "only %u of %u handlers run", atomic_load_full(&hang), count);
        nap_ms(1);
    }
}

START_TEST(more_handlers_that_do_not_return_than_have_places_hold_up_no_other)
{
    HostStats stats;
    Host *host = start_host(&(HostOptions){.reopens = true});
    hang_worlds(HANGING);
    create_world("quick");
    send_to("quick", "ask", "q");
    expect_reply("quick", "q");
    host_stats(host, &stats);
    EXPECT(stats.handlers == HANGING, "%u handlers run", stats.handlers);
    atomic_store_full(&let_go, true);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
}
END_TEST

/* Another worker of its name takes its session. */
static void take_session(void)
{
    SapWorkerOptions options = {.size = sizeof options, .name = "w1"};
    SapWorker *rival = NULL;
    EXPECT_RC(sap_worker_open(universe, &options, &rival), SAP_OK);
    EXPECT_RC(sap_worker_close(rival), SAP_OK);
}

START_TEST(a_worker_that_was_fenced_is_replaced_also_while_its_handler_does_not_return)
{
    HostStats stats = {.reopened = 0};
    universe->session_ttl_ns = 2000 * MS_NS; /* so that it renews soon */
    Host *host = start_host(&(HostOptions){.reopens = true});
    hang_worlds(1);
    create_world("quick");
    send_to("quick", "ask", "q1");
    expect_reply("quick", "q1");
    take_session();
    for (int i = 0; stats.reopened == 0; i++) {
        EXPECT(i < 10000, "no worker took its place");
        nap_ms(1);
        host_stats(host, &stats);
    }
    send_to("quick", "ask", "q2");
    expect_reply("quick", "q2");
    EXPECT_RC(host_code(host), SAP_OK);
    host_stats(host, &stats);
    EXPECT(stats.worker.steps >= 3, "%llu steps", (unsigned long long)stats.worker.steps);
    atomic_store_full(&let_go, true);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
}
END_TEST

START_TEST(without_leave_to_reopen_a_host_that_was_fenced_ends_and_says_so)
{
    universe->session_ttl_ns = 2000 * MS_NS;
    Host *host = start_host(&(HostOptions){.reopens = false});
    take_session();
    for (int i = 0; host_code(host) == SAP_OK; i++) {
        EXPECT(i < 10000, "it goes on");
        nap_ms(1);
    }
    EXPECT_RC(host_code(host), SAP_FENCED);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_FENCED);
}
END_TEST

START_TEST(a_file_that_has_failed_ends_the_host_with_the_code)
{
    universe->store->hook = fail_calls;
    Host *host = start_host(&(HostOptions){.reopens = true, .io_is_final = true});
    create_world("quick");
    send_to("quick", "ask", "q");
    expect_reply("quick", "q");
    EXPECT_RC(host_code(host), SAP_OK);
    atomic_store_full(&store_fails, true);
    for (int i = 0; host_code(host) == SAP_OK; i++) {
        EXPECT(i < 10000, "it goes on");
        nap_ms(1);
    }
    EXPECT_RC(host_code(host), SAP_IO);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_IO);
    atomic_store_full(&store_fails, false);
}
END_TEST

START_TEST(stopping_waits_no_longer_than_its_patience_for_a_handler)
{
    Host *host = start_host(&(HostOptions){.reopens = true});
    hang_worlds(1);
    EXPECT_RC(host_stop(host, PATIENCE_MS * MS_NS), SAP_BUSY);
    EXPECT_RC(host_stop(host, 0), SAP_BUSY);
    atomic_store_full(&let_go, true);
    EXPECT_RC(host_stop(host, UINT64_MAX), SAP_OK);
    EXPECT_RC(host_stop(NULL, 0), SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("node_host_threads");
    TCase *test_case = tcase_create("threads");
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, more_handlers_that_do_not_return_than_have_places_hold_up_no_other);
    tcase_add_test(test_case,
                   a_worker_that_was_fenced_is_replaced_also_while_its_handler_does_not_return);
    tcase_add_test(test_case, without_leave_to_reopen_a_host_that_was_fenced_ends_and_says_so);
    tcase_add_test(test_case, a_file_that_has_failed_ends_the_host_with_the_code);
    tcase_add_test(test_case, stopping_waits_no_longer_than_its_patience_for_a_handler);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
