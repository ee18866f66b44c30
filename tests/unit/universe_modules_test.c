/* Modules in the store: registered by operators, run by whichever worker's host can make a handler of them;
 * newer versions, pinned ones, and those that nobody has. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fault.h"
#include "common/mem.h"
#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/module_rows.h"

enum { TIMEOUT_S = 120, SECOND_MS = 1000, MOST_FAULTS = 20000, HANDLERS = 32 };

static Scene scene;
static StoreBeds beds;

/* ---- A host -------------------------------------------------------------------------------------- */

/* What a host has made of a version of a module. */
typedef struct Made {
    char name[64];
    uint64_t version;
    uint64_t calls;
    bool released;
} Made;

/* It runs what begins with `prefix`. */
typedef struct Host {
    const char *prefix;
    int code; /* what it returns in place of a handler; SAP_OK: a handler */
    uint32_t asked;
    uint32_t count;
    Made made[HANDLERS];
} Host;

static uint64_t last_version; /* of the module that ran last */

static int on_event(SapWorld *world, const SapEvent *event)
{
    Made *made = (Made *)sap_world_module_ctx(world);
    EXPECT(made != NULL && !made->released, "a handler runs whose module was released");
    made->calls++;
    last_version = made->version;
    return strcmp(event->name, "fail") == 0 ? sap_world_fail(world, true, "not now") : SAP_OK;
}

static int resolve(void *ctx, const SapModule *module, SapWorldHandler *handler_out,
                   void **module_ctx_out)
{
    Host *host = (Host *)ctx;
    host->asked++;
    if (strncmp(module->runner, host->prefix, strlen(host->prefix)) != 0) {
        return SAP_NOTFOUND;
    }
    if (host->code != SAP_OK) {
        return host->code;
    }
    EXPECT(host->count < HANDLERS, "too many handlers");
    Made *made = &host->made[host->count++];
    (void)snprintf(made->name, sizeof made->name, "%s", module->name);
    made->version = module->version;
    *handler_out = on_event;
    *module_ctx_out = made;
    return SAP_OK;
}

static void release(void *ctx, void *module_ctx)
{
    Host *host = (Host *)ctx;
    Made *made = (Made *)module_ctx;
    EXPECT(made >= host->made && made < host->made + host->count, "released, and never made");
    EXPECT(!made->released, "released twice");
    made->released = true;
}

static uint32_t host_live(const Host *host)
{
    uint32_t live = 0;
    for (uint32_t i = 0; i < host->count; i++) {
        live += !host->made[i].released;
    }
    return live;
}

static SapWorker *host_worker(Host *host, const char *prefix, const char *name)
{
    SapWorkerOptions options = {.size = sizeof options,
                                .name = name,
                                .resolve = resolve,
                                .release = release,
                                .resolve_ctx = host};
    *host = (Host){.prefix = prefix};
    return scene_worker_with(&scene, &options);
}

static uint64_t put_module(const char *name, const char *runner)
{
    SapModule module = {.size = sizeof module, .name = name, .runner = runner};
    uint64_t version = 0;
    ck_assert_int_eq(sap_module_put(scene.universe, &module, &version), SAP_OK);
    return version;
}

/* ---- Native ones --------------------------------------------------------------------------------- */

static int native_answer = 42;
static int native_calls;

static int on_native(SapWorld *world, const SapEvent *event)
{
    (void)event;
    ck_assert_ptr_eq(sap_world_module_ctx(world), &native_answer);
    native_calls++;
    return SAP_OK;
}

static SapWorldModule native = {.name = "native", .handler = on_native, .ctx = &native_answer};

static void set_up(void)
{
    scene_open(&scene, "memory:", false);
    native_calls = 0;
    last_version = 0;
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void set_up_beds(void)
{
    store_beds_start(&beds);
}

static void tear_down_beds(void)
{
    store_beds_end(&beds);
}

START_TEST(a_native_handler_gets_the_context_of_its_module)
{
    ck_assert_int_eq(sap_world_module_register(&native), SAP_OK);
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "native");
    scene_run(worker);
    ck_assert_int_eq(native_calls, 1);
    ck_assert_ptr_null(sap_world_module_ctx(NULL));
}
END_TEST

START_TEST(a_module_is_unregistered_when_no_worker_is_open)
{
    ck_assert_int_eq(sap_world_module_unregister(&native), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_module_unregister(NULL), SAP_ERROR);
    ck_assert_int_eq(sap_world_module_register(&native), SAP_OK);
    SapWorker *worker = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_world_module_unregister(&native), SAP_BUSY);
    scene_leave(&scene, worker);
    ck_assert_int_eq(sap_world_module_unregister(&native), SAP_OK);
    ck_assert_int_eq(sap_world_module_unregister(&native), SAP_NOTFOUND);
    worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "native");
    scene_run(worker);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "no worker has module native");
}
END_TEST

/* ---- Registering --------------------------------------------------------------------------------- */

typedef struct Listed {
    uint32_t count;
    char names[8][16];
    uint64_t versions[8];
    int code; /* of the callback */
} Listed;

static int note_module(void *ctx, const SapModule *module)
{
    Listed *listed = (Listed *)ctx;
    (void)snprintf(listed->names[listed->count], sizeof listed->names[0], "%s", module->name);
    listed->versions[listed->count++] = module->version;
    return listed->code;
}

START_TEST(a_module_that_says_something_else_is_a_new_version)
{
    uint8_t code[32] = {1, 2, 3};
    uint64_t version = 0;
    SapModule *read = NULL;
    SapModule module = {.size = sizeof module,
                        .name = "hello",
                        .runner = "exec:/srv/hello.py",
                        .settings = "{\"pool\":4}",
                        .code = code,
                        .timeout_ns = 7,
                        .max_attempts = 3,
                        .on_failure = SAP_ON_FAILURE_SKIP,
                        .state = SAP_MODULE_STATE_ASK};
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    ck_assert_int_eq(sap_module_get(scene.universe, "hello", 0, &read), SAP_NOTFOUND);
    for (uint64_t i = 1; i <= 8; i++) {
        for (int again = 0; again < 2; again++) { /* the second time it is there already */
            ck_assert_int_eq(sap_module_put(scene.universe, &module, &version), SAP_OK);
            ck_assert_uint_eq(version, i);
        }
        ck_assert_int_eq(sap_module_get(scene.universe, "hello", 0, &read), SAP_OK);
        ck_assert_uint_eq(read->version, i);
        ck_assert_str_eq(read->name, "hello");
        ck_assert_str_eq(read->runner, module.runner);
        ck_assert_str_eq(read->settings, module.settings == NULL ? "" : module.settings);
        ck_assert(module.code == NULL ? read->code == NULL : memcmp(read->code, code, 32) == 0);
        ck_assert_uint_eq(read->timeout_ns, module.timeout_ns);
        ck_assert_uint_eq(read->max_attempts, module.max_attempts);
        ck_assert_int_eq(read->on_failure, module.on_failure);
        ck_assert_int_eq(read->state, module.state);
        ck_assert_uint_gt(read->registered_ns, 0);
        sap_module_free(read);
        switch (i) { /* each thing alone */
        case 1:
            module.runner = "exec:/srv/hello2.py";
            break;
        case 2:
            module.settings = NULL;
            break;
        case 3:
            code[31] = 1;
            break;
        case 4:
            module.timeout_ns++;
            break;
        case 5:
            module.max_attempts++;
            break;
        case 6:
            module.on_failure = SAP_ON_FAILURE_HALT;
            break;
        default:
            module.state = SAP_MODULE_STATE_WHOLE;
            break;
        }
    }
    ck_assert_int_eq(sap_module_get(scene.universe, "hello", 3, &read), SAP_OK);
    ck_assert_uint_eq(read->version, 3);
    ck_assert_str_eq(read->runner, "exec:/srv/hello2.py");
    sap_module_free(read);
    ck_assert_int_eq(sap_module_get(scene.universe, "hello", 9, &read), SAP_NOTFOUND);
    /* The newest of each name, page by page. */
    ck_assert_uint_eq(put_module("a", "exec:a"), 1);
    ck_assert_uint_eq(put_module("hell", "exec:h"), 1);
    ck_assert_uint_eq(put_module("z", "exec:z"), 1);
    Listed listed = {.count = 0};
    ck_assert_int_eq(sap_modules_list(scene.universe, NULL, 3, note_module, &listed), SAP_OK);
    ck_assert_uint_eq(listed.count, 3);
    ck_assert_str_eq(listed.names[0], "a");
    ck_assert_str_eq(listed.names[1], "hell");
    ck_assert_str_eq(listed.names[2], "hello");
    ck_assert_uint_eq(listed.versions[2], 8);
    ck_assert_int_eq(sap_modules_list(scene.universe, listed.names[2], 0, note_module, &listed),
                     SAP_OK);
    ck_assert_uint_eq(listed.count, 4);
    ck_assert_str_eq(listed.names[3], "z");
    listed = (Listed){.code = 77};
    ck_assert_int_eq(sap_modules_list(scene.universe, "", 0, note_module, &listed), 77);
    ck_assert_uint_eq(listed.count, 1);
    scene_close(&scene);
}
END_TEST

START_TEST(a_module_that_is_none_is_refused_and_nothing_changes)
{
    static char long_text[SAP_MODULE_MAX_SETTINGS + 2];
    SapModule good = {.size = sizeof good, .name = "m", .runner = "exec:m"};
    SapModule *read = NULL;
    SapModule bad[] = {good, good, good, good, good, good, good};
    memset(long_text, 'x', sizeof long_text - 1);
    bad[0].name = "";
    bad[1].runner = NULL;
    bad[2].runner = "";
    bad[3].runner = "exec:\xff";
    bad[4].settings = long_text;
    bad[5].runner = long_text;
    bad[6].state = (SapModuleState)2;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ck_assert_int_eq(sap_module_put(scene.universe, &bad[i], NULL), SAP_INVALID);
    }
    ck_assert_int_eq(sap_module_put(NULL, &good, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_module_put(scene.universe, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_module_get(scene.universe, "m", 0, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_module_get(scene.universe, "", 0, &read), SAP_INVALID);
    ck_assert_int_eq(sap_modules_list(scene.universe, NULL, 0, NULL, NULL), SAP_ERROR);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_MODULES), 0);
    ck_assert_int_eq(sap_module_put(scene.universe, &good, NULL), SAP_OK);
    sap_module_free(NULL);
}
END_TEST

/* ---- Resolving ----------------------------------------------------------------------------------- */

START_TEST(a_worker_runs_what_its_host_makes_of_a_module)
{
    static Host host;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapWorker *worker = host_worker(&host, "exec:", "a");
    scene_create(&scene, "w", "hello");
    scene_run(worker);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "no worker has module hello");
    ck_assert_uint_eq(put_module("hello", "exec:one"), 1);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "");
    scene_send(&scene, "w", "x", "1");
    scene_run(worker);
    scene_create(&scene, "v", "hello");
    scene_run(worker);
    ck_assert_uint_eq(host.asked, 1); /* once for each version */
    ck_assert_uint_eq(host.made[0].calls, 3);
    ck_assert_uint_eq(host.made[0].version, 1);
    /* A new version runs the world that is in memory too, and the old one is released. */
    ck_assert_uint_eq(put_module("hello", "exec:two"), 2);
    scene_send(&scene, "w", "x", "2");
    scene_run(worker);
    ck_assert_uint_eq(last_version, 2);
    ck_assert_uint_eq(host_live(&host), 2); /* the other world has it still */
    scene_send(&scene, "v", "x", "3");
    scene_run(worker);
    ck_assert_uint_eq(host_live(&host), 1);
    ck_assert(host.made[0].released);
    scene_leave(&scene, worker);
    ck_assert_uint_eq(host_live(&host), 0);
    scene_close(&scene);
}
END_TEST

START_TEST(a_new_version_waits_for_the_cycle_under_way_and_the_old_one_lives_as_long)
{
    static SceneExecutor executor;
    static Host host;
    SapWorker *worker = host_worker(&host, "exec:", "a");
    executor = (SceneExecutor){.held = "w"};
    scene_executor_use(&executor, worker);
    (void)put_module("hello", "exec:one");
    scene_create(&scene, "w", "hello");
    scene_create(&scene, "v", "hello");
    scene_run(worker);
    ck_assert_uint_eq(scene_held(&executor, "w"), 1);
    (void)put_module("hello", "exec:two");
    scene_send(&scene, "v", "x", "1");
    scene_send(&scene, "w", "x", "2");
    scene_run(worker);
    ck_assert_uint_eq(last_version, 2);
    ck_assert(!host.made[0].released); /* its handler runs */
    scene_release(&executor, "w");
    ck_assert_uint_eq(last_version, 1);
    executor.held = NULL;
    scene_run(worker);
    ck_assert_uint_eq(last_version, 2);
    ck_assert(host.made[0].released);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
}
END_TEST

/* Its world was taken away while the handler ran: the context lives until the handler has returned. */
START_TEST(a_module_is_not_released_while_the_handler_of_a_lost_world_runs)
{
    static SceneExecutor executor;
    static Host host;
    SapWorker *worker = host_worker(&host, "exec:", "a");
    executor = (SceneExecutor){.held = "w", .deaf = true};
    scene_executor_use(&executor, worker);
    (void)put_module("hello", "exec:one");
    scene_create(&scene, "w", "hello");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    (void)put_module("hello", "exec:two");
    scene_pass_ms(&scene, 15 * (uint64_t)SECOND_MS);
    scene_run(worker);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(host.count, 2);
    ck_assert(!host.made[0].released);
    scene_release(&executor, "w");
    scene_run(worker);
    ck_assert(host.made[0].released);
}
END_TEST

START_TEST(no_world_is_run_by_an_older_version_than_the_newest)
{
    static Host shell; /* used until the scene is closed */
    static Host web;
    SapWorker *a = host_worker(&shell, "exec:", "a");
    SapWorker *b = host_worker(&web, "http:", "b");
    (void)put_module("hello", "exec:one");
    scene_create(&scene, "w", "hello");
    scene_run(b);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 0);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "no worker has module hello");
    scene_run(a);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    (void)put_module("hello", "http:two");
    scene_send(&scene, "w", "x", "1");
    scene_run(a); /* it has version 1 still, and gives the world back */
    ck_assert_str_eq(scene_info(&scene, "w").holder, "");
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(a);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "no worker has module hello");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(b);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "b");
    ck_assert_uint_eq(last_version, 2);
    ck_assert_uint_eq(host_live(&shell), 0);
}
END_TEST

/* A module of the process and one of the store may have the same name: the newest version decides. */
START_TEST(the_newest_of_native_and_registered_versions_runs)
{
    static SapWorldModule third = {.name = "native", .handler = on_native, .version = 3};
    static Host host;
    third.ctx = &native_answer;
    ck_assert_int_eq(sap_world_module_register(&native), SAP_OK);
    SapWorker *worker = host_worker(&host, "exec:", "a");
    scene_create(&scene, "w", "native");
    scene_run(worker);
    ck_assert_int_eq(native_calls, 1);
    ck_assert_uint_eq(put_module("native", "exec:two"), 2);
    scene_send(&scene, "w", "x", "1");
    scene_run(worker);
    ck_assert_int_eq(native_calls, 1);
    ck_assert_uint_eq(last_version, 2);
    ck_assert_int_eq(sap_world_module_register(&third), SAP_OK);
    scene_send(&scene, "w", "x", "2");
    scene_run(worker);
    ck_assert_int_eq(native_calls, 2);
    ck_assert_uint_eq(host.asked, 1); /* and never for what the process has */
}
END_TEST

START_TEST(a_host_that_cannot_say_is_asked_again_and_holds_up_no_other_world)
{
    static Host host;
    SapWorker *worker = host_worker(&host, "exec:", "a");
    (void)put_module("hello", "exec:one");
    host.code = SAP_IO;
    scene_create(&scene, "w", "hello");
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 0);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "no worker has module hello");
    ck_assert_uint_ge(host.asked, 1);
    host.code = SAP_OK;
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
}
END_TEST

START_TEST(worlds_are_assigned_to_workers_whose_host_runs_their_module)
{
    static Host shell; /* used until the scene is closed */
    static Host web;
    SapWorker *a = host_worker(&shell, "exec:", "a");
    SapWorker *b = host_worker(&web, "http:", "b");
    (void)put_module("hello", "exec:one");
    scene_create(&scene, "w", "hello");
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_INVALID);
    scene_run(a);
    scene_run(b);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "b", 0, ""), SAP_INVALID);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_OK);
    /* Renewals keep the list, and a version that the host does not run goes from it. */
    scene_pass_ms(&scene, 30 * (uint64_t)SECOND_MS);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_OK);
    (void)put_module("hello", "http:two");
    scene_run(a);
    scene_run(b);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_INVALID);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "b", 0, ""), SAP_OK);
}
END_TEST

START_TEST(a_pinned_world_stays_with_its_version)
{
    static Host host;
    SapWorker *worker = host_worker(&host, "exec:", "a");
    (void)put_module("hello", "exec:one");
    (void)put_module("hello", "exec:two");
    scene_create(&scene, "w", "hello");
    scene_run(worker);
    ck_assert_uint_eq(last_version, 2);
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 1), SAP_OK);
    scene_send(&scene, "w", "x", "1");
    scene_run(worker);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(last_version, 1);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_OK);
    (void)put_module("hello", "exec:three");
    scene_send(&scene, "w", "x", "2");
    scene_run(worker);
    ck_assert_uint_eq(last_version, 1);
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 9), SAP_OK);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_str_eq(scene_info(&scene, "w").reason,
                     "assigned to worker a, which has no version 9 of module hello");
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 3), SAP_OK);
    scene_send(&scene, "w", "x", "3");
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_uint_eq(last_version, 3);
    ck_assert_uint_eq(host.asked, 3); /* versions 3 and the newest are one */
}
END_TEST

START_TEST(a_world_whose_handler_failed_goes_on_with_the_next_version)
{
    static Host host;
    SapModule module = {
        .size = sizeof module, .name = "hello", .runner = "exec:one", .max_attempts = 1};
    SapWorker *worker = host_worker(&host, "exec:", "a");
    ck_assert_int_eq(sap_module_put(scene.universe, &module, NULL), SAP_OK);
    scene_create(&scene, "w", "hello");
    scene_send(&scene, "w", "fail", "1");
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED); /* of one attempt */
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    scene_pass_ms(&scene, 2 * (uint64_t)SECOND_MS);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED);
    module.on_failure = SAP_ON_FAILURE_SKIP;
    ck_assert_int_eq(sap_module_put(scene.universe, &module, NULL), SAP_OK);
    scene_pass_ms(&scene, 2 * (uint64_t)SECOND_MS);
    scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2); /* skipped */
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_DLQ), 1);
}
END_TEST

/* The time of its module, not the worker's, says when a handler runs for too long. */
START_TEST(a_module_with_more_time_is_not_stuck_before)
{
    static SceneExecutor executor;
    static Host host;
    SapModule module = {.size = sizeof module, .name = "slow", .runner = "exec:slow"};
    SapWorker *worker = host_worker(&host, "exec:", "a");
    module.timeout_ns = UINT64_C(60000000000);
    executor = (SceneExecutor){.held = ""};
    scene_executor_use(&executor, worker);
    ck_assert_int_eq(sap_module_put(scene.universe, &module, NULL), SAP_OK);
    scene_create(&scene, "w", "slow");
    scene_run(worker);
    scene_pass_ms(&scene, 50 * (uint64_t)SECOND_MS);
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
    scene_pass_ms(&scene, 15 * (uint64_t)SECOND_MS);
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_STUCK);
    ck_assert_str_eq(scene_info(&scene, "w").reason, "its handler has run for 60 s");
    executor.held = NULL;
    scene_release(&executor, "w");
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_ACTIVE);
}
END_TEST

/* ---- Without memory ------------------------------------------------------------------------------ */

static void expect_memory_code(int rc, const char *call)
{
    EXPECT(rc == SAP_OK || rc == SAP_NOMEM, "%s returned %d", call, rc);
}

#define TRY(call)                          \
    do {                                   \
        int try_rc = (call);               \
        expect_memory_code(try_rc, #call); \
        if (try_rc != SAP_OK) {            \
            try_rc = (call);               \
        }                                  \
        EXPECT(try_rc == SAP_OK, #call);   \
    } while (0)

static void run_until_idle(SapWorker *worker)
{
    int idle = 0;
    for (int i = 0; i < 100 && idle < 2; i++) {
        bool busy = false;
        int rc = sap_worker_step(worker, &busy);
        expect_memory_code(rc, "step");
        idle = busy || rc != SAP_OK ? 0 : idle + 1;
        manual_clock_advance_ms(&scene.manual, 300);
        (void)sap_worker_renew(worker);
    }
    EXPECT(idle == 2, "there is no end of work");
}

/* False: there is no such allocation. */
static bool fail_nth(uint64_t nth)
{
    static Host host;
    SapModule module = {.size = sizeof module, .name = "hello", .runner = "exec:one"};
    SapModule *read = NULL;
    Listed listed = {.count = 0};
    uint64_t version = 0;
    expect_context("allocation %" PRIu64, nth);
    scene_open(&scene, "memory:", false);
    SapWorker *worker = host_worker(&host, "exec:", "a");
    scene_create(&scene, "w", "hello");
    fault_reset();
    fault_arm_alloc(nth);
    TRY(sap_module_put(scene.universe, &module, &version));
    EXPECT(version == 1, "version %" PRIu64, version);
    run_until_idle(worker);
    module.runner = "exec:two";
    TRY(sap_module_put(scene.universe, &module, &version));
    EXPECT(version == 2, "version %" PRIu64, version);
    TRY(sap_module_get(scene.universe, "hello", 0, &read));
    sap_module_free(read);
    int rc = sap_modules_list(scene.universe, NULL, 0, note_module, &listed);
    expect_memory_code(rc, "list");
    EXPECT(rc != SAP_OK || strcmp(listed.names[0], "hello") == 0, "%u are listed", listed.count);
    bool fired = fault_fired() > 0;
    fault_reset();
    scene_send(&scene, "w", "x", "1");
    run_until_idle(worker);
    EXPECT(last_version == 2 && scene_info(&scene, "w").height == 2, "the world does not go on");
    EXPECT(sap_assign_world(scene.universe, "w", "a", 0, "") == SAP_OK, "its list is wrong");
    scene_close(&scene);
    EXPECT(host_live(&host) == 0, "a module was not released");
    return fired;
}

START_TEST(every_allocation_that_fails_is_said_and_nothing_is_lost)
{
    uint64_t n = 1;
    while (n < MOST_FAULTS && fail_nth(n)) {
        n++;
    }
    ck_assert_uint_lt(n, MOST_FAULTS);
    ck_assert_uint_gt(n, 30);
    (void)printf("%" PRIu64 " allocations failed\n", n - 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_modules");
    TCase *every = tcase_create("on every store");
    TCase *memory = tcase_create("in memory");
    TCase *faults = tcase_create("without memory");
    tcase_add_checked_fixture(every, set_up_beds, tear_down_beds);
    tcase_set_timeout(every, TIMEOUT_S);
    tcase_add_loop_test(every, a_module_that_says_something_else_is_a_new_version, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, a_worker_runs_what_its_host_makes_of_a_module, 0, STORE_BED_MAX);
    suite_add_tcase(suite, every);
    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_set_timeout(memory, TIMEOUT_S);
    tcase_add_test(memory, a_native_handler_gets_the_context_of_its_module);
    tcase_add_test(memory, a_module_is_unregistered_when_no_worker_is_open);
    tcase_add_test(memory, a_module_that_is_none_is_refused_and_nothing_changes);
    tcase_add_test(memory,
                   a_new_version_waits_for_the_cycle_under_way_and_the_old_one_lives_as_long);
    tcase_add_test(memory, a_module_is_not_released_while_the_handler_of_a_lost_world_runs);
    tcase_add_test(memory, no_world_is_run_by_an_older_version_than_the_newest);
    tcase_add_test(memory, the_newest_of_native_and_registered_versions_runs);
    tcase_add_test(memory, a_host_that_cannot_say_is_asked_again_and_holds_up_no_other_world);
    tcase_add_test(memory, worlds_are_assigned_to_workers_whose_host_runs_their_module);
    tcase_add_test(memory, a_pinned_world_stays_with_its_version);
    tcase_add_test(memory, a_world_whose_handler_failed_goes_on_with_the_next_version);
    tcase_add_test(memory, a_module_with_more_time_is_not_stuck_before);
    suite_add_tcase(suite, memory);
    tcase_set_timeout(faults, TIMEOUT_S);
    tcase_add_test(faults, every_allocation_that_fails_is_said_and_nothing_is_lost);
    suite_add_tcase(suite, faults);
    return suite_run(suite);
}
