/* What operators, the orchestrator and the reaper do: assignments, leases by hand, the worlds of the dead,
 * rows whose time has passed, dead letters. The clock moves when the test says so. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/blob.h"
#include "support/store_suite.h"
#include "support/suite.h"
#include "support/universe_scene.h"
#include "universe/worker_impl.h"

enum { TIMEOUT_S = 120, SECOND_MS = 1000, GONE_MS = 26 * SECOND_MS, LARGE = 100000 };

#define DAY_MS (UINT64_C(24) * 3600 * SECOND_MS)

static Scene scene;
static StoreBeds beds;
static char order[64]; /* the first letters of the names of what was handled */
static size_t last_len;

static int note(SapWorld *world, const SapEvent *event)
{
    size_t len = strlen(order);
    if (strcmp(event->name, "refuse") == 0) {
        return sap_world_fail(world, false, "never");
    }
    if (strcmp(event->name, "fail") == 0) {
        return sap_world_fail(world, true, "not now");
    }
    if (event->kind == SAP_EVENT_MESSAGE && len + 1 < sizeof order) {
        order[len] = event->name[0];
        order[len + 1] = 0;
    }
    last_len = event->payload_len;
    return event->reply_to[0] == 0
               ? SAP_OK
               : sap_world_reply(world, event->reply_to, SAP_ENCODING_JSON, "1", 1);
}

static SapWorldModule module = {.name = "note", .handler = note, .max_attempts = 1};
static SapWorldModule late = {.name = "late", .handler = note};

static void set_up(void)
{
    ck_assert_int_eq(sap_world_module_register(&module), SAP_OK);
    scene_open(&scene, "memory:", false);
}

static void tear_down(void)
{
    scene_close(&scene);
}

static void set_up_beds(void)
{
    ck_assert_int_eq(sap_world_module_register(&module), SAP_OK);
    store_beds_start(&beds);
}

static void tear_down_beds(void)
{
    store_beds_end(&beds);
}

static const char *numbered(char text[16], const char *begin, int number)
{
    (void)snprintf(text, 16, "%s%04d", begin, number);
    return text;
}

/* Both roles, as a host steps them, for so long. */
static void keep_house(SapWorker *worker, uint64_t ms)
{
    for (uint64_t at = 0; at <= ms; at += SECOND_MS) {
        scene_run_role(worker, SAP_ROLE_ORCHESTRATOR);
        scene_run_role(worker, SAP_ROLE_REAPER);
        scene_pass_ms(&scene, SECOND_MS);
    }
}

/* ---- Assignments --------------------------------------------------------------------------------- */

START_TEST(worlds_are_assigned_to_workers_that_are_alive_and_can_run_them)
{
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *a = scene_worker(&scene, "a");
    ck_assert_int_eq(sap_world_module_register(&late), SAP_OK);
    SapWorker *b = scene_worker(&scene, "b");
    scene_create(&scene, "w", "note");
    scene_create(&scene, "l", "late");
    ck_assert_int_eq(sap_assign_world(universe, "none", "a", 0, ""), SAP_NOTFOUND);
    ck_assert_int_eq(sap_assign_world(universe, "w", "nobody", 0, ""), SAP_NOTFOUND);
    ck_assert_int_eq(sap_assign_world(universe, "l", "a", 0, ""), SAP_INVALID);
    ck_assert_int_eq(sap_assign_world(universe, "l", "b", 0, ""), SAP_OK);
    ck_assert_int_eq(sap_unassign_world(universe, "none"), SAP_NOTFOUND);
    ck_assert_str_eq(scene_info(&scene, "w").assigned, "");
    ck_assert_int_eq(sap_assign_world(universe, "w", "a", 0, "it has the disk"), SAP_OK);
    ck_assert_int_eq(sap_assign_world(universe, "w", "a", 0, "it has the disk"), SAP_OK);
    ck_assert_str_eq(scene_info(&scene, "w").assigned, "a");
    scene_run(b);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "");
    scene_run(a);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    uint64_t epoch = scene_info(&scene, "w").epoch;
    /* It moves: its holder gives it back, and nothing is fenced. */
    ck_assert_int_eq(sap_assign_world(universe, "w", "b", 0, ""), SAP_OK);
    scene_send(&scene, "w", "x", "one");
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(a);
    scene_run(a);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "");
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(b);
    SapWorldInfo info = scene_info(&scene, "w");
    ck_assert_str_eq(info.holder, "b");
    ck_assert_uint_eq(info.epoch, epoch + 1);
    ck_assert_uint_eq(info.height, 2);
    ck_assert_uint_eq(scene_stats(a).fenced, 0);
    ck_assert_uint_eq(scene_stats(b).fenced, 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ATTEMPT), 0); /* it was given back */
    /* Anybody's again. */
    ck_assert_int_eq(sap_unassign_world(universe, "w"), SAP_OK);
    ck_assert_int_eq(sap_unassign_world(universe, "w"), SAP_OK);
    ck_assert_str_eq(scene_info(&scene, "w").assigned, "");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ASSIGNED), 1); /* of the other world */
    scene_leave(&scene, b);
    scene_send(&scene, "w", "x", "two");
    scene_run(a);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    scene_close(&scene);
}
END_TEST

/* The version counts where the world is pinned to one. */
START_TEST(a_pinned_world_is_assigned_to_who_has_its_version)
{
    (void)scene_worker(&scene, "a");
    scene_create(&scene, "w", "note");
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 2), SAP_OK);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_INVALID);
    ck_assert_int_eq(sap_world_pin(scene.universe, "w", 1), SAP_OK);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "a", 0, ""), SAP_OK);
}
END_TEST

START_TEST(a_world_that_is_run_when_it_is_assigned_ends_its_cycle_first)
{
    static SceneExecutor executor = {.held = "w"};
    SapWorker *a = scene_worker(&scene, "a");
    SapWorker *b = scene_worker(&scene, "b");
    scene_create(&scene, "w", "note");
    scene_run(a);
    scene_executor_use(&executor, a);
    scene_send(&scene, "w", "x", "one");
    scene_run(a);
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "b", 0, ""), SAP_OK);
    scene_run(a);
    scene_run(b);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    executor.held = NULL;
    scene_release(&executor, "w");
    scene_run(a);
    ck_assert_uint_eq(scene_info(&scene, "w").height, 2);
    for (int i = 0; i < 3; i++) {
        scene_pass_ms(&scene, SECOND_MS);
        scene_run(a);
        scene_run(b);
    }
    scene_send(&scene, "w", "x", "two");
    scene_run(b);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "b");
    ck_assert_uint_eq(scene_info(&scene, "w").height, 3);
    ck_assert_uint_eq(scene_stats(a).fenced, 0);
}
END_TEST

START_TEST(a_worker_that_is_gone_for_a_minute_loses_its_assignments)
{
    enum { WORLDS = 100 };
    SapWorker *keeper = scene_worker(&scene, "keeper");
    SapWorker *gone = scene_worker(&scene, "gone");
    char name[16];
    for (int i = 0; i < WORLDS; i++) {
        scene_create(&scene, numbered(name, "w", i), "note");
        ck_assert_int_eq(sap_assign_world(scene.universe, name, "gone", 0, ""), SAP_OK);
    }
    ck_assert_int_eq(sap_world_pause(scene.universe, "w0001", "by me"), SAP_OK);
    keep_house(keeper, 5 * (uint64_t)SECOND_MS);
    scene_kill(&scene, gone);
    keep_house(keeper, GONE_MS); /* its session has expired */
    scene_run(keeper);
    for (int i = 0; i < WORLDS; i++) {
        SapWorldInfo info = scene_info(&scene, numbered(name, "w", i));
        ck_assert_str_eq(info.assigned, "gone");
        ck_assert_str_eq(info.holder, "");
        ck_assert_str_eq(info.reason,
                         i == 1 ? "by me" : "assigned to worker gone, which is not there");
    }
    keep_house(keeper, 50 * (uint64_t)SECOND_MS);
    ck_assert_str_eq(scene_info(&scene, "w0000").assigned, "gone");
    keep_house(keeper, 15 * (uint64_t)SECOND_MS);
    for (int i = 0; i < 10; i++) {
        scene_run(keeper);
        scene_pass_ms(&scene, SECOND_MS);
    }
    for (int i = 0; i < WORLDS; i++) {
        SapWorldInfo info = scene_info(&scene, numbered(name, "w", i));
        ck_assert_str_eq(info.assigned, "");
        ck_assert_str_eq(info.holder, i == 1 ? "" : "keeper");
        ck_assert_str_eq(info.reason, i == 1 ? "by me" : "");
        ck_assert_uint_eq(info.height, i != 1);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ASSIGNMENT), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ASSIGNED), 0);
}
END_TEST

START_TEST(a_worker_that_comes_back_keeps_its_assignments)
{
    SapWorker *keeper = scene_worker(&scene, "keeper");
    SapWorker *gone = scene_worker(&scene, "gone");
    scene_create(&scene, "w", "note");
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "gone", 0, ""), SAP_OK);
    for (int i = 0; i < 4; i++) {
        scene_kill(&scene, gone);
        keep_house(keeper, GONE_MS + 40 * (uint64_t)SECOND_MS);
        ck_assert_str_eq(scene_info(&scene, "w").assigned, "gone");
        gone = scene_worker(&scene, "gone");
        keep_house(keeper, SECOND_MS);
    }
    scene_run(gone);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "gone");
    ck_assert_str_eq(scene_info(&scene, "w").reason, "");
}
END_TEST

/* Names of workers that are drawn come and go: each is forgotten when it has nothing any more. */
START_TEST(very_many_workers_that_are_gone_lose_their_assignments)
{
    enum { ROUNDS = 3, AT_ONCE = 70 };
    SapWorker *keeper = scene_worker(&scene, "keeper");
    char world[16];
    char name[16];
    for (int i = 0; i < AT_ONCE; i++) {
        scene_create(&scene, numbered(world, "w", i), "note");
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < AT_ONCE; i++) {
            SapWorker *gone = scene_worker(&scene, numbered(name, "g", round * AT_ONCE + i));
            ck_assert_int_eq(sap_assign_world(scene.universe, numbered(world, "w", i), name, 0, ""),
                             SAP_OK);
            scene_kill(&scene, gone);
        }
        keep_house(keeper, GONE_MS + 125 * (uint64_t)SECOND_MS);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ASSIGNED), 0);
    }
}
END_TEST

/* ---- Leases by hand ------------------------------------------------------------------------------ */

START_TEST(leases_by_hand_are_the_protocol)
{
    uint64_t epoch = 0;
    uint64_t again = 0;
    uint64_t other = 0;
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *a = scene_worker(&scene, "a");
    SapWorker *b = scene_worker(&scene, "b");
    scene_create(&scene, "w", "note");
    scene_create(&scene, "v", "note");
    ck_assert_int_eq(sap_acquire_lease(universe, "none", "a", &epoch), SAP_NOTFOUND);
    ck_assert_int_eq(sap_acquire_lease(universe, "w", "nobody", &epoch), SAP_NOTFOUND);
    ck_assert_int_eq(sap_renew_lease(universe, "none", "a", 1), SAP_NOTFOUND);
    ck_assert_int_eq(sap_release_lease(universe, "none", "a", 1), SAP_NOTFOUND);
    /* Nobody has had it yet. */
    ck_assert_int_eq(sap_renew_lease(universe, "w", "a", 1), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(universe, "w", "a", 1), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(universe, "w", "a", 0), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(universe, "none", "a", 0), SAP_NOTFOUND);
    ck_assert_int_eq(sap_acquire_lease(universe, "w", "a", &epoch), SAP_OK);
    ck_assert_int_eq(sap_acquire_lease(universe, "w", "a", &again), SAP_OK);
    ck_assert_uint_eq(epoch, 1);
    ck_assert_uint_eq(again, epoch); /* it has it */
    ck_assert_int_eq(sap_acquire_lease(universe, "w", "b", &other), SAP_BUSY);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    /* Another worker, another epoch. */
    ck_assert_int_eq(sap_renew_lease(universe, "w", "a", epoch), SAP_OK);
    ck_assert_int_eq(sap_renew_lease(universe, "w", "b", epoch), SAP_FENCED);
    ck_assert_int_eq(sap_renew_lease(universe, "w", "a", epoch + 1), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(universe, "w", "b", epoch), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(universe, "w", "a", epoch + 1), SAP_FENCED);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a");
    ck_assert_int_eq(sap_release_lease(universe, "w", "a", epoch), SAP_OK);
    ck_assert_int_eq(sap_release_lease(universe, "w", "a", epoch), SAP_OK); /* that has been done */
    ck_assert_int_eq(sap_renew_lease(universe, "w", "a", epoch), SAP_FENCED);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "");
    ck_assert_int_eq(sap_acquire_lease(universe, "w", "b", &other), SAP_OK);
    ck_assert_uint_eq(other, epoch + 1);
    /* The stale epoch. */
    ck_assert_int_eq(sap_release_lease(universe, "w", "a", epoch), SAP_FENCED);
    ck_assert_int_eq(sap_renew_lease(universe, "w", "a", epoch), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(universe, "w", "b", other), SAP_OK);
    ck_assert_int_eq(sap_assign_world(universe, "v", "b", 0, ""), SAP_OK);
    ck_assert_int_eq(sap_acquire_lease(universe, "v", "a", &epoch), SAP_CONFLICT);
    ck_assert_int_eq(sap_acquire_lease(universe, "v", "b", &epoch), SAP_OK);
    ck_assert_int_eq(sap_world_pause(universe, "v", ""), SAP_OK); /* it is not to run */
    ck_assert_int_eq(sap_renew_lease(universe, "v", "b", epoch), SAP_FENCED);
    ck_assert_int_eq(sap_acquire_lease(universe, "v", "b", &epoch), SAP_NOTFOUND);
    ck_assert_int_eq(sap_world_delete(universe, "v", ""), SAP_OK);
    ck_assert_int_eq(sap_acquire_lease(universe, "v", "b", &epoch), SAP_NOTFOUND);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), 0);
    scene_leave(&scene, a);
    scene_leave(&scene, b);
    scene_close(&scene);
}
END_TEST

START_TEST(a_lease_of_a_session_that_was_replaced_is_neither_renewed_nor_given_back)
{
    uint64_t epoch = 0;
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "note");
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "w", "a", &epoch), SAP_OK);
    scene_kill(&scene, worker);
    (void)scene_worker(&scene, "a");
    ck_assert_int_eq(sap_renew_lease(scene.universe, "w", "a", epoch), SAP_FENCED);
    ck_assert_int_eq(sap_release_lease(scene.universe, "w", "a", epoch), SAP_FENCED);
    ck_assert_str_eq(scene_info(&scene, "w").holder, "a"); /* nothing changed */
    uint64_t next = 0;
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "w", "a", &next), SAP_OK);
    ck_assert_uint_eq(next, epoch + 1);
}
END_TEST

START_TEST(renewing_a_lease_by_hand_extends_the_session)
{
    uint64_t epoch = 0;
    SapWorker *worker = scene_worker(&scene, "a");
    SapWorker *other = scene_worker(&scene, "b");
    scene_create(&scene, "w", "note");
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "w", "a", &epoch), SAP_OK);
    for (int i = 0; i < 10; i++) { /* nobody else renews it */
        manual_clock_advance_ms(&scene.manual, 10 * SECOND_MS);
        ck_assert_int_eq(sap_renew_lease(scene.universe, "w", "a", epoch), SAP_OK);
        ck_assert_int_eq(sap_worker_renew(other), SAP_OK);
    }
    uint64_t taken = 0;
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "w", "b", &taken), SAP_BUSY);
    manual_clock_advance_ms(&scene.manual, 10 * SECOND_MS);
    ck_assert_int_eq(sap_worker_renew(other), SAP_OK);
    manual_clock_advance_ms(&scene.manual, GONE_MS - 10 * SECOND_MS);
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "w", "b", &taken), SAP_OK);
    ck_assert_uint_eq(taken, epoch + 1);
    ck_assert_int_eq(sap_release_lease(scene.universe, "w", "b", taken), SAP_OK);
    ck_assert_int_eq(sap_worker_renew(worker), SAP_OK);
}
END_TEST

static int list_name(void *ctx, const char *name)
{
    char(*next)[4096] = (char(*)[4096])ctx;
    (void)snprintf(*next + strlen(*next), sizeof *next - strlen(*next), "%s ", name);
    return strcmp(name, "stop") == 0 ? SAP_EXISTS : SAP_OK;
}

START_TEST(the_worlds_of_a_worker_are_listed_in_order)
{
    static char names[4096];
    uint64_t epoch = 0;
    static const char *const worlds[] = {"b", "a", "c", "aa", "stop"};
    (void)scene_worker(&scene, "a");
    (void)scene_worker(&scene, "b");
    for (int i = 0; i < 5; i++) {
        scene_create(&scene, worlds[i], "note");
        ck_assert_int_eq(sap_acquire_lease(scene.universe, worlds[i], i == 2 ? "b" : "a", &epoch),
                         SAP_OK);
    }
    ck_assert_int_eq(sap_list_worker_worlds(scene.universe, "a", list_name, names), SAP_EXISTS);
    ck_assert_str_eq(names, "a aa b stop ");
    names[0] = 0;
    ck_assert_int_eq(sap_list_worker_worlds(scene.universe, "b", list_name, names), SAP_OK);
    ck_assert_str_eq(names, "c ");
    ck_assert_int_eq(sap_list_worker_worlds(scene.universe, "nobody", list_name, names),
                     SAP_NOTFOUND);
}
END_TEST

/* ---- Roles --------------------------------------------------------------------------------------- */

static bool holds(const SapWorker *worker, SapRole role)
{
    const RoleHolder *holder =
        role == SAP_ROLE_REAPER ? &worker->reaper.role : &worker->orchestrator.role;
    return holder->lease.epoch != 0;
}

/* Who holds the role by its row: "" nobody. */
static void role_owner(const char *role, UniverseName *owner_out)
{
    RowKey key;
    UniverseName name;
    LeaseRow row = {.epoch = 0};
    SapStoreTxn *txn = NULL;
    ck_assert_int_eq(universe_name_set(&name, role), SAP_OK);
    row_key_role(&key, SCENE_UNIVERSE, &name, 0);
    ck_assert_int_eq(sap_store_begin(scene.store, SAP_STORE_READ_NEWEST, &txn), SAP_OK);
    int rc = lease_row_get(txn, &key, &row);
    sap_store_abort(txn);
    ck_assert(rc == SAP_OK || rc == SAP_NOTFOUND);
    *owner_out = row.holder;
}

START_TEST(one_worker_has_a_role_and_another_takes_over)
{
    static const char *const names[] = {"", "orchestrator", "reaper"};
    SapRole role = _i / 2 == 0 ? SAP_ROLE_ORCHESTRATOR : SAP_ROLE_REAPER;
    bool dies = _i % 2 == 1;
    UniverseName owner;
    SapWorker *a = scene_worker(&scene, "a");
    SapWorker *b = scene_worker(&scene, "b");
    for (int i = 0; i < 60; i++) {
        scene_run_role(a, role);
        scene_run_role(b, role);
        ck_assert(holds(a, role) && !holds(b, role));
        scene_pass_ms(&scene, SECOND_MS);
    }
    if (dies) {
        scene_kill(&scene, a);
    } else {
        scene_leave(&scene, a);
    }
    int seconds = 0;
    while (!holds(b, role)) {
        ck_assert_int_lt(seconds++, dies ? 35 : 6); /* it tries every five */
        scene_pass_ms(&scene, SECOND_MS);
        scene_run_role(b, role);
    }
    ck_assert(!dies || seconds >= 15);
    role_owner(names[role], &owner);
    ck_assert_str_eq(owner.text, "b");
}
END_TEST

/* A worker whose clock stood still, and which believes that it has the role. */
START_TEST(a_stale_orchestrator_takes_no_assignment_back)
{
    SapWorker *stale = scene_worker(&scene, "stale");
    SapWorker *gone = scene_worker(&scene, "gone");
    scene_create(&scene, "w", "note");
    ck_assert_int_eq(sap_assign_world(scene.universe, "w", "gone", 0, ""), SAP_OK);
    scene_kill(&scene, gone);
    keep_house(stale, GONE_MS + 58 * (uint64_t)SECOND_MS);
    ck_assert_str_eq(scene_info(&scene, "w").assigned, "gone");
    /* An operator takes the role away, for another. */
    Lease lease = stale->orchestrator.role.lease;
    ck_assert_int_eq(lease_release(&lease, NULL), SAP_OK);
    SapWorker *fresh = scene_worker(&scene, "fresh");
    scene_run_role(fresh, SAP_ROLE_ORCHESTRATOR);
    ck_assert(holds(fresh, SAP_ROLE_ORCHESTRATOR) && holds(stale, SAP_ROLE_ORCHESTRATOR));
    bool busy = false;
    for (int i = 0; i < 10; i++) {
        scene_pass_ms(&scene, SECOND_MS);
        ck_assert_int_eq(sap_worker_step_role(stale, SAP_ROLE_ORCHESTRATOR, &busy), SAP_OK);
    }
    ck_assert(!holds(stale, SAP_ROLE_ORCHESTRATOR)); /* it has noticed */
    ck_assert_str_eq(scene_info(&scene, "w").assigned, "gone");
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ASSIGNED), 1);
}
END_TEST

START_TEST(a_stale_reaper_deletes_nothing)
{
    SapWorker *stale = scene_worker(&scene, "stale");
    scene_create(&scene, "w", "note");
    scene_send(&scene, "w", "x", "one");
    scene_run(stale);
    scene_run_role(stale, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 1);
    scene_pass_ms(&scene, DAY_MS - 10 * (uint64_t)SECOND_MS);
    Lease lease = stale->reaper.role.lease;
    ck_assert_int_eq(lease_release(&lease, NULL), SAP_OK);
    SapWorker *fresh = scene_worker(&scene, "fresh");
    scene_run_role(fresh, SAP_ROLE_REAPER);
    ck_assert(holds(fresh, SAP_ROLE_REAPER) && holds(stale, SAP_ROLE_REAPER));
    scene_pass_ms(&scene, 20 * (uint64_t)SECOND_MS);
    bool busy = false;
    ck_assert_int_eq(sap_worker_step_role(stale, SAP_ROLE_REAPER, &busy), SAP_OK);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 1);
    ck_assert(!holds(stale, SAP_ROLE_REAPER));
    scene_run_role(fresh, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 0);
}
END_TEST

/* ---- The worlds of the dead ---------------------------------------------------------------------- */

enum { DEAD_WORLDS = 5000 };

/* The worker holds all of them, and each has its creation to handle. */
static void hold_many(const char *worker)
{
    char name[16];
    for (int i = 0; i < DEAD_WORLDS; i++) {
        uint64_t epoch = 0;
        scene_create(&scene, numbered(name, "w", i), "note");
        ck_assert_int_eq(sap_acquire_lease(scene.universe, name, worker, &epoch), SAP_OK);
    }
}

static int delete_hints_body(SapStoreTxn *txn, void *ctx)
{
    RowKey from;
    RowKey to;
    SapStoreRange range;
    const SapStoreRow *rows = NULL;
    uint32_t *count = (uint32_t *)ctx;
    row_key_universe(&from, WIT_DBI_READY, SCENE_UNIVERSE);
    row_range(&from, &to, &range);
    SapStoreGuard guard = {from.table, from.bytes, from.len, true};
    ck_assert_int_eq(sap_store_guard(txn, &guard, 1), SAP_OK);
    ck_assert_int_eq(sap_store_scan(txn, &range, false, 500, &rows, count), SAP_OK);
    for (uint32_t i = 0; i < *count; i++) {
        RowKey key;
        row_key_after(&key, &rows[i]); /* a copy, one byte longer */
        ck_assert_int_eq(sap_store_del(txn, from.table, key.bytes, key.len - 1), SAP_OK);
    }
    return SAP_OK;
}

/* Nobody knows that there is something to do. */
static void lose_hints(void)
{
    uint32_t count = 1;
    while (count > 0) {
        ck_assert_int_eq(
            sap_store_run(scene.store, SAP_STORE_GUARDED, delete_hints_body, &count, NULL), SAP_OK);
    }
}

START_TEST(the_worlds_of_a_dead_worker_are_free_and_have_hints)
{
    /* 0: it expired. 1: a worker of the same name started. 2: its session's row is gone, as when a file
     * is opened. */
    SapWorker *keeper = scene_worker(&scene, "keeper");
    SapWorker *dead = scene_worker(&scene, "dead");
    char name[16];
    hold_many("dead");
    lose_hints();
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), DEAD_WORLDS);
    scene_kill(&scene, dead);
    uint32_t sessions = 1;
    if (_i == 0) {
        scene_pass_ms(&scene, 15 * (uint64_t)SECOND_MS);
        scene_run_role(keeper, SAP_ROLE_ORCHESTRATOR);
        ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), DEAD_WORLDS); /* it may live yet */
        scene_pass_ms(&scene, GONE_MS - 15 * (uint64_t)SECOND_MS);
    } else if (_i == 1) {
        (void)scene_worker(&scene, "dead");
        sessions = 2;
    } else {
        ck_assert_int_eq(session_void_all(scene.store, SCENE_UNIVERSE), SAP_OK);
        scene_kill(&scene, keeper);
        keeper = scene_worker(&scene, "keeper");
    }
    scene_run_role(keeper, SAP_ROLE_ORCHESTRATOR);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_SESSIONS), sessions);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_READY), DEAD_WORLDS); /* each has its creation */
    for (int i = 0; i < DEAD_WORLDS; i += 499) {
        SapWorldInfo info = scene_info(&scene, numbered(name, "w", i));
        ck_assert_str_eq(info.holder, "");
        ck_assert_uint_eq(info.epoch, 2);
        ck_assert_int_eq(info.status, SAP_WORLD_ACTIVE);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_LEASE), DEAD_WORLDS);
}
END_TEST

START_TEST(worlds_without_items_get_no_hint_and_worlds_of_the_living_stay)
{
    SapWorker *keeper = scene_worker(&scene, "keeper");
    SapWorker *dead = scene_worker(&scene, "dead");
    uint64_t epoch = 0;
    scene_create(&scene, "idle", "note");
    scene_create(&scene, "waits", "note");
    scene_create(&scene, "lives", "note");
    scene_run(dead);
    scene_send(&scene, "waits", "x", "one");
    scene_send(&scene, "lives", "x", "one");
    ck_assert_int_eq(sap_world_pause(scene.universe, "lives", ""), SAP_OK);
    ck_assert_int_eq(sap_world_resume(scene.universe, "lives"), SAP_OK);
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "lives", "keeper", &epoch), SAP_OK);
    lose_hints();
    scene_kill(&scene, dead);
    scene_pass_ms(&scene, GONE_MS);
    scene_run_role(keeper, SAP_ROLE_ORCHESTRATOR);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_READY), 1);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_HELD), 1);
    ck_assert_str_eq(scene_info(&scene, "lives").holder, "keeper");
    ck_assert_uint_eq(scene_info(&scene, "lives").epoch, epoch);
    scene_run(keeper);
    ck_assert_uint_eq(scene_info(&scene, "waits").height, 2);
}
END_TEST

/* ---- Rows whose time has passed ------------------------------------------------------------------ */

START_TEST(ids_and_replies_are_gone_after_a_day_and_not_before)
{
    enum { ITEMS = 100 };
    SapWorker *worker = scene_worker(&scene, "a");
    char id[16];
    scene_create(&scene, "w", "note");
    for (int i = 0; i < ITEMS; i++) {
        scene_send(&scene, "w", "x", numbered(id, "i", i));
    }
    scene_run(worker);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), ITEMS);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_REPLY), ITEMS);
    scene_pass_ms(&scene, DAY_MS - 1);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), ITEMS);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_REPLY), ITEMS);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_REPLY), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), 0);
    /* The id may be used again. */
    scene_send(&scene, "w", "y", numbered(id, "i", 0));
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w").height, ITEMS + 2);
}
END_TEST

/* A wall clock that jumps by days makes nothing older. */
START_TEST(only_lease_time_makes_rows_expire)
{
    SapWorker *worker = scene_worker(&scene, "a");
    scene_create(&scene, "w", "note");
    scene_send(&scene, "w", "x", "one");
    manual_clock_step_wall_ms(&scene.manual, (int64_t)(3 * DAY_MS));
    scene_pass_ms(&scene, 10 * (uint64_t)SECOND_MS);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 1);
    manual_clock_step_wall_ms(&scene.manual, -(int64_t)(6 * DAY_MS));
    scene_pass_ms(&scene, DAY_MS);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 0);
}
END_TEST

/* The id's row under a second, earlier time: what it says itself decides. */
START_TEST(a_row_that_was_put_anew_is_spared)
{
    SapWorker *worker = scene_worker(&scene, "a");
    WitUniverseDbi41ExpiryValue fields;
    UniverseName world;
    RowKey named;
    RowKey expiry;
    Buf val = {0};
    uint8_t seq[UNIVERSE_SEQ] = {1};
    scene_create(&scene, "w", "note");
    scene_send(&scene, "w", "x", "one");
    ck_assert_int_eq(universe_name_set(&world, "w"), SAP_OK);
    row_key_id(&named, WIT_DBI_IDEM, SCENE_UNIVERSE, &world, slice_from_str("one"));
    fields = (WitUniverseDbi41ExpiryValue){named.table, lend_bytes(named.bytes, named.len)};
    row_key_expiry(&expiry, SCENE_UNIVERSE, sap_store_lease_ns(scene.store), seq);
    ck_assert_int_eq(wit_universe_dbi41_expiry_value_encode(&fields, &val, NULL), SAP_OK);
    scene_put_row(&scene, expiry.table, expiry.bytes, expiry.len, val.data, (uint32_t)val.len);
    buf_release(&val);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), 2);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), 1);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 1);
    scene_pass_ms(&scene, DAY_MS);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_IDEM), 0);
}
END_TEST

START_TEST(deleted_worlds_are_emptied_by_the_reaper)
{
    enum { WORLDS = 50, ITEMS = 150 };
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    char name[16];
    char id[16];
    for (int i = 0; i < WORLDS; i++) {
        scene_create(&scene, numbered(name, "w", i), "note");
        for (int j = 0; j < (i == 0 ? ITEMS : 1); j++) {
            scene_send(&scene, name, "x", numbered(id, "i", j));
        }
        ck_assert_int_eq(sap_world_delete(scene.universe, name, "old"), SAP_OK);
    }
    scene_run_role(worker, SAP_ROLE_REAPER);
    for (int i = 0; i < WORLDS; i++) {
        SapReply *reply = NULL;
        SapWorldInfo info = scene_info(&scene, numbered(name, "w", i));
        ck_assert_int_eq(info.status, SAP_WORLD_DELETED);
        ck_assert(info.drained);
        ck_assert_int_eq(sap_world_reply_wait(scene.universe, name, "i0000", 0, &reply), SAP_OK);
        ck_assert(reply->failed);
        ck_assert_ptr_nonnull(strstr(reply->payload, "deleted"));
        sap_reply_free(reply);
    }
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_INBOX), 0);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_DLQ), WORLDS + ITEMS + WORLDS - 1);
    ck_assert_uint_eq(scene_letters(&scene, "w0001", letters), 2);
    scene_create(&scene, "w0000", "note"); /* at once */
    scene_run(worker);
    ck_assert_uint_eq(scene_info(&scene, "w0000").height, 1);
    /* Only the replies have a time at which they go. */
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_EXPIRY),
                      scene_rows(&scene, WIT_DBI_IDEM) + scene_rows(&scene, WIT_DBI_REPLY));
}
END_TEST

static void send_large(const char *world, const char *name, const char *id, char fill)
{
    char *payload = malloc(LARGE);
    SapIngress item = {.size = sizeof item, .name = name, .id = id, .encoding = SAP_ENCODING_RAW};
    ck_assert_ptr_nonnull(payload);
    memset(payload, fill, LARGE);
    item.payload = payload;
    item.payload_len = LARGE;
    int rc = sap_enqueue_ingress(scene.universe, world, &item, NULL);
    ck_assert_int_eq(rc, SAP_OK);
    free(payload);
}

START_TEST(blobs_that_nobody_needs_are_collected)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "note");
    send_large("w", "kept", NULL, 'k');
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    send_large("w", "dropped", NULL, 'd');
    ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_int_eq(sap_dead_letter_drop(scene.universe, "w", letters[0].height, letters[0].seq),
                     SAP_OK);
    keep_house(worker, 3600 * (uint64_t)SECOND_MS + SECOND_MS);
    ck_assert_uint_ge(worker->reaper.collector.young, 2);
    ck_assert_uint_eq(worker->reaper.collector.collected, 0); /* a day has not passed */
    scene_pass_ms(&scene, DAY_MS);
    keep_house(worker, 3600 * (uint64_t)SECOND_MS + SECOND_MS);
    ck_assert_uint_eq(worker->reaper.collector.collected, 1);
    ck_assert_uint_ge(worker->reaper.collector.needed, 1); /* the journal needs the other */
}
END_TEST

START_TEST(damaged_rows_stop_neither_orchestrator_nor_reaper)
{
    static const uint32_t tables[] = {WIT_DBI_LEASE,     WIT_DBI_WORLD_META,  WIT_DBI_IDEM,
                                      WIT_DBI_REPLY,     WIT_DBI_WORLD_INBOX, WIT_DBI_SESSIONS,
                                      WIT_DBI_ASSIGNMENT};
    SapWorker *keeper = scene_worker(&scene, "keeper");
    SapWorker *dead = scene_worker(&scene, "dead");
    scene_create(&scene, "bad", "note");
    scene_create(&scene, "good", "note");
    scene_create(&scene, "old", "note");
    scene_send(&scene, "bad", "x", "one");
    scene_send(&scene, "good", "x", "one");
    scene_run(dead);
    ck_assert_int_eq(sap_world_pause(scene.universe, "bad", ""), SAP_OK);
    ck_assert_int_eq(sap_world_resume(scene.universe, "bad"), SAP_OK);
    uint64_t epoch = 0;
    ck_assert_int_eq(sap_acquire_lease(scene.universe, "bad", "dead", &epoch), SAP_OK);
    scene_send(&scene, "bad", "x", "two");
    scene_send(&scene, "good", "x", "two");
    if (tables[_i] == WIT_DBI_WORLD_INBOX) {
        ck_assert_int_eq(sap_world_delete(scene.universe, "bad", ""), SAP_OK);
    }
    ck_assert_int_eq(sap_world_delete(scene.universe, "old", ""), SAP_OK);
    if (tables[_i] == WIT_DBI_ASSIGNMENT) {
        ck_assert_int_eq(sap_assign_world(scene.universe, "bad", "dead", 0, ""), SAP_OK);
    }
    scene_damage(&scene, tables[_i], tables[_i] == WIT_DBI_SESSIONS ? "dead" : "bad");
    scene_kill(&scene, dead);
    scene_pass_ms(&scene, GONE_MS);
    scene_run_role(keeper, SAP_ROLE_ORCHESTRATOR);
    ck_assert_str_eq(scene_info(&scene, "good").holder, "");
    scene_run(keeper);
    ck_assert_uint_eq(scene_info(&scene, "good").height, 3);
    scene_run_role(keeper, SAP_ROLE_REAPER);
    ck_assert(scene_info(&scene, "old").drained);
    scene_pass_ms(&scene, DAY_MS + SECOND_MS);
    scene_run_role(keeper, SAP_ROLE_ORCHESTRATOR);
    scene_run_role(keeper, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_ASSIGNED), 0);
    ck_assert_uint_eq(scene_world_rows(&scene, WIT_DBI_IDEM, "good"), 0);
    ck_assert_uint_eq(scene_world_rows(&scene, WIT_DBI_REPLY, "good"), 0);
}
END_TEST

/* ---- Dead letters -------------------------------------------------------------------------------- */

START_TEST(dead_letters_are_listed_replayed_and_dropped)
{
    if (!scene_open_bed(&scene, &beds, _i)) {
        return;
    }
    SapUniverse *universe = scene.universe;
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "note");
    scene_send(&scene, "w", "refuse", "one");
    scene_send(&scene, "w", "a", "between");
    scene_send(&scene, "w", "refuse", "two");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(universe, "w", ""), SAP_OK);
    send_large("w", "large", "blob", 'x');
    scene_send(&scene, "w", "small", "last");
    ck_assert_uint_eq(scene_letters(&scene, "none", letters), 0);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 2);
    ck_assert_str_eq(letters[0].id, "one");
    ck_assert_str_eq(letters[0].error, "never");
    ck_assert_uint_eq(letters[0].height, 2);
    ck_assert_str_eq(letters[1].id, "two");
    ck_assert_uint_eq(letters[1].height, 4);
    /* Dropped for good; another seq or height is another letter. */
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", 3, letters[0].seq), SAP_NOTFOUND);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", 2, letters[1].seq), SAP_NOTFOUND);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "v", 2, letters[0].seq), SAP_NOTFOUND);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", 2, letters[0].seq), SAP_OK);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", 2, letters[0].seq), SAP_NOTFOUND);
    ck_assert_int_eq(sap_dead_letter_replay(universe, "w", 2, letters[0].seq), SAP_NOTFOUND);
    /* Replayed: behind what waits, once. It is refused again, and is a letter again. */
    ck_assert_int_eq(sap_dead_letter_replay(universe, "w", 4, letters[1].seq), SAP_OK);
    ck_assert_int_eq(sap_dead_letter_replay(universe, "w", 4, letters[1].seq), SAP_NOTFOUND);
    ck_assert_int_eq(sap_dead_letter_drop(universe, "w", 4, letters[1].seq), SAP_NOTFOUND);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 0);
    ck_assert_uint_eq(scene_world_rows(&scene, WIT_DBI_WORLD_INBOX, "w"), 3);
    scene_leave(&scene, worker);
    worker = scene_worker(&scene, "b");
    ck_assert_int_eq(sap_world_resume(universe, "w"), SAP_OK);
    scene_pass_ms(&scene, SECOND_MS);
    scene_run(worker);
    ck_assert_str_eq(order, "als");
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_str_eq(letters[0].id, "two");
    ck_assert_str_eq(letters[0].name, "refuse");
    ck_assert_uint_eq(letters[0].payload_len, 3);
    ck_assert_uint_eq(letters[0].height, 7);
    scene_close(&scene);
}
END_TEST

/* It halted its world, was skipped, and is replayed: also the blob comes back, and is not lost meanwhile. */
START_TEST(a_replayed_letter_has_its_payload_also_if_that_is_a_blob)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "note");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    send_large("w", "large", "blob", 'x');
    ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    scene_run_role(worker, SAP_ROLE_REAPER);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_uint_eq(letters[0].payload_len, 0); /* above 64 KiB */
    /* A deleted world takes nothing. */
    ck_assert_int_eq(sap_dead_letter_replay(scene.universe, "w", letters[0].height, letters[0].seq),
                     SAP_NOTFOUND);
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    scene_pass_ms(&scene, DAY_MS);
    keep_house(worker, 3600 * (uint64_t)SECOND_MS + SECOND_MS);
    scene_create(&scene, "w", "note");
    scene_run(worker);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(
            sap_dead_letter_replay(scene.universe, "w", letters[0].height, letters[0].seq),
            i == 0 ? SAP_OK : SAP_NOTFOUND);
    }
    scene_pass_ms(&scene, DAY_MS);
    keep_house(worker, 3600 * (uint64_t)SECOND_MS + SECOND_MS);
    scene_run(worker);
    ck_assert_str_eq(order, "l");
    ck_assert_uint_eq(last_len, LARGE);
    ck_assert_uint_eq(scene_rows(&scene, WIT_DBI_WORLD_DLQ), 0);
}
END_TEST

/* Only the first creation of a world comes before everything else. */
START_TEST(a_creation_that_is_replayed_comes_after_what_waits)
{
    SapWorker *worker = scene_worker(&scene, "a");
    SceneLetter letters[SCENE_LETTERS];
    scene_create(&scene, "w", "note");
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    ck_assert_int_eq(sap_world_delete(scene.universe, "w", ""), SAP_OK);
    scene_run_role(worker, SAP_ROLE_REAPER);
    scene_create(&scene, "w", "note");
    scene_run(worker);
    ck_assert_int_eq(sap_world_pause(scene.universe, "w", ""), SAP_OK);
    scene_send(&scene, "w", "fail", "first");
    ck_assert_uint_eq(scene_letters(&scene, "w", letters), 1);
    ck_assert_int_eq(sap_dead_letter_replay(scene.universe, "w", letters[0].height, letters[0].seq),
                     SAP_OK);
    ck_assert_int_eq(sap_world_resume(scene.universe, "w"), SAP_OK);
    scene_run(worker);
    ck_assert_int_eq(scene_info(&scene, "w").status, SAP_WORLD_PAUSED); /* the message was first */
    ck_assert_uint_eq(scene_info(&scene, "w").height, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_roles");
    TCase *every = tcase_create("on every store");
    TCase *memory = tcase_create("in memory");
    tcase_add_checked_fixture(every, set_up_beds, tear_down_beds);
    tcase_set_timeout(every, TIMEOUT_S);
    tcase_add_loop_test(every, worlds_are_assigned_to_workers_that_are_alive_and_can_run_them, 0,
                        STORE_BED_MAX);
    tcase_add_loop_test(every, leases_by_hand_are_the_protocol, 0, STORE_BED_MAX);
    tcase_add_loop_test(every, dead_letters_are_listed_replayed_and_dropped, 0, STORE_BED_MAX);
    suite_add_tcase(suite, every);
    tcase_add_checked_fixture(memory, set_up, tear_down);
    tcase_set_timeout(memory, TIMEOUT_S);
    tcase_add_test(memory, a_pinned_world_is_assigned_to_who_has_its_version);
    tcase_add_test(memory, a_world_that_is_run_when_it_is_assigned_ends_its_cycle_first);
    tcase_add_test(memory, a_worker_that_is_gone_for_a_minute_loses_its_assignments);
    tcase_add_test(memory, a_worker_that_comes_back_keeps_its_assignments);
    tcase_add_test(memory, very_many_workers_that_are_gone_lose_their_assignments);
    tcase_add_test(memory,
                   a_lease_of_a_session_that_was_replaced_is_neither_renewed_nor_given_back);
    tcase_add_test(memory, renewing_a_lease_by_hand_extends_the_session);
    tcase_add_test(memory, the_worlds_of_a_worker_are_listed_in_order);
    tcase_add_loop_test(memory, one_worker_has_a_role_and_another_takes_over, 0, 4);
    tcase_add_test(memory, a_stale_orchestrator_takes_no_assignment_back);
    tcase_add_test(memory, a_stale_reaper_deletes_nothing);
    tcase_add_loop_test(memory, the_worlds_of_a_dead_worker_are_free_and_have_hints, 0, 3);
    tcase_add_test(memory, worlds_without_items_get_no_hint_and_worlds_of_the_living_stay);
    tcase_add_test(memory, ids_and_replies_are_gone_after_a_day_and_not_before);
    tcase_add_test(memory, only_lease_time_makes_rows_expire);
    tcase_add_test(memory, a_row_that_was_put_anew_is_spared);
    tcase_add_test(memory, deleted_worlds_are_emptied_by_the_reaper);
    tcase_add_test(memory, blobs_that_nobody_needs_are_collected);
    tcase_add_loop_test(memory, damaged_rows_stop_neither_orchestrator_nor_reaper, 0, 7);
    tcase_add_test(memory, a_replayed_letter_has_its_payload_also_if_that_is_a_blob);
    tcase_add_test(memory, a_creation_that_is_replayed_comes_after_what_waits);
    suite_add_tcase(suite, memory);
    return suite_run(suite);
}
