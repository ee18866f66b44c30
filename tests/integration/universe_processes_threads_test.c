/* Two processes that run worlds of one PostgreSQL, and one that sends to them. One of the two is killed,
 * stopped until its session is over and continued, or cut off from the server and healed. The other takes
 * its worlds over; what comes late from the first changes nothing; and in the end each acknowledged message
 * is in the journal of its world exactly once, in order.
 *
 * Sessions are short here. SAP_UNIVERSE_FAULTS=N is for `make soak-universe`: N faults of all kinds, also
 * of the server, with the sessions that programs have. SAP_TEST_SEED decides them and the load. */
#include "common/random.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/store_far.h"
#include "support/store_pg_server.h"
#include "support/suite.h"
#include "support/universe_program.h"
#include "universe/universe_impl.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum {
    TIMEOUT_S = 240,
    FAULT_S = 120, /* of a soak, at most */
    SHORT_TTL_MS = 2000,
    LONG_TTL_MS = 20000,
    NODES = 2,
    FAR_NODE = 0, /* it lives in the network that can be cut */
    SENDER = NODES,
    PROCESSES = NODES + 1,
    LEAST_WORLDS = 4,
    LEAST_HELD = 2, /* by each node before a fault */
    LEAST_PAUSE_US = 2000,
    MOST_PAUSE_US = 30000,
    POLL_MS = 5,
    TOLD_MS = 200,   /* until a process has told what it had counted */
    LANDED_MS = 200, /* until what was under way at a fault is committed */
    READY_MS = 60000,
    TAKEOVER_TTLS = 4, /* and TAKEOVER_MS: how long a takeover may take */
    TAKEOVER_MS = 20000,
    FENCED_MS = 60000,
    BALANCE_MS = 60000,
    DRAIN_MS = 120000,
    STOPS = 3, /* until one has hit the moment before a commit */
    MOST_HELD_BACK_MS = 3000,
};

#define MS UINT64_C(1000000)

typedef enum Fault {
    KILLED,
    STOPPED,         /* at any moment */
    STOPPED_BEFORE,  /* after handlers have run, before the transaction of what they did */
    STOPPED_INSIDE,  /* in that transaction */
    STOPPED_BRIEFLY, /* its session goes on */
    CUT_OFF,
    SERVER_KILLED,
    FAULTS,
} Fault;

static const char *const fault_names[FAULTS] = {
    [KILLED] = "killed",
    [STOPPED] = "stopped",
    [STOPPED_BEFORE] = "stopped before a commit",
    [STOPPED_INSIDE] = "stopped in a transaction",
    [STOPPED_BRIEFLY] = "stopped briefly",
    [CUT_OFF] = "cut off",
    [SERVER_KILLED] = "server killed",
};

static const char *const node_names[NODES] = {"node-0", "node-1"};

typedef struct Field {
    PgServer server;
    Far far; /* net_fd 0: there is none */
    Ledger ledger;
    Rng rng;
    uint64_t ttl_ms;
    uint32_t pause_us;
    char url[PG_SERVER_URL_MAX];
    char far_url[PG_SERVER_URL_MAX];
    SapUniverse *watch; /* the test's own */
    UniverseProcess all[PROCESSES];
    UniverseProcess *parties[PROCESSES];
    uint64_t faults[FAULTS];
    uint64_t fenced; /* by processes that have ended */
    uint64_t steps;
} Field;

static Field field;

static void hear_ms(uint64_t ms)
{
    universe_processes_hear(field.parties, PROCESSES, ms * MS);
}

/* ---- Starting and ending --------------------------------------------------------------------- */

static void start_process(uint32_t number)
{
    UniverseProgram program = {.url = field.url, .seed = rng_next(&field.rng)};
    UniverseProcess *process = &field.all[number];
    uint64_t end_ns = universe_test_now_ns() + READY_MS * MS;
    if (number == SENDER) {
        program.sends = true;
        program.pause_us = field.pause_us;
    } else {
        program.worker = node_names[number];
        program.ttl_ms = field.ttl_ms;
    }
    if (number == FAR_NODE && field.far.net_fd != 0) {
        program.url = field.far_url;
        program.net_fd = field.far.net_fd;
    }
    universe_process_start(process, &program, &field.ledger);
    while (!process->ready) {
        hear_ms(5);
        EXPECT(universe_test_now_ns() < end_ns, "process %u is not ready", number);
    }
}

static bool start_server(bool with_far)
{
    PgServerOptions options = {.access = "host all all 198.18.0.0/15 trust"};
    if (with_far) {
        if (!pg_server_is_installed() || !far_start(&field.far)) {
            return false;
        }
        options.address = field.far.near;
    }
    if (!pg_server_start(&field.server, &options)) {
        return false;
    }
    pg_server_url(&field.server, "schema=worlds", field.url, sizeof field.url);
    if (with_far) {
        pg_server_address_url(&field.server, field.far.near, "postgres", "schema=worlds",
                              field.far_url, sizeof field.far_url);
    }
    return true;
}

/* False: it cannot be done here. */
static bool start_field(uint64_t seed, uint64_t ttl_ms, bool with_far)
{
    memset(&field, 0, sizeof field);
    if (!start_server(with_far)) {
        return false;
    }
    rng_seed(&field.rng, seed);
    expect_context("SAP_TEST_SEED=%" PRIu64, seed);
    field.ttl_ms = ttl_ms;
    field.ledger.producers = 1 + (uint32_t)rng_below(&field.rng, LEDGER_PRODUCERS);
    field.ledger.worlds = (uint32_t)rng_range(&field.rng, LEAST_WORLDS, LEDGER_WORLDS);
    field.pause_us = (uint32_t)rng_range(&field.rng, LEAST_PAUSE_US, MOST_PAUSE_US);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        field.parties[i] = &field.all[i];
    }
    int rc = sap_universe_init(field.url);
    EXPECT(rc == SAP_OK, "init: %d: %s", rc, sap_open_error());
    rc = sap_universe_open(field.url, NULL, &field.watch);
    EXPECT(rc == SAP_OK, "open: %d: %s", rc, sap_open_error());
    for (uint32_t i = 0; i < PROCESSES; i++) {
        start_process(i);
    }
    return true;
}

static void note_end(const UniverseProcess *process)
{
    field.fenced += process->stats.fenced;
    field.steps += process->stats.steps;
}

static void end_process(uint32_t number)
{
    universe_process_end(&field.all[number]);
    note_end(&field.all[number]);
}

static void end_field(const char *what)
{
    uint64_t acknowledged = 0;
    uint64_t end_ns = universe_test_now_ns() + DRAIN_MS * MS;
    end_process(SENDER);
    while (ledger_waiting(field.watch, field.ledger.worlds) > 0) {
        EXPECT(universe_test_now_ns() < end_ns, "%" PRIu64 " items wait for ever",
               ledger_waiting(field.watch, field.ledger.worlds));
        hear_ms(20);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        end_process(i);
    }
    LedgerCounts counts = ledger_audit(field.watch, &field.ledger);
    for (uint32_t i = 0; i < field.ledger.producers; i++) {
        acknowledged += field.ledger.acknowledged[i];
    }
    EXPECT(counts.waiting == 0 && counts.unknown == 0, "%" PRIu64 " items wait", counts.waiting);
    EXPECT(counts.entries == acknowledged + field.ledger.worlds,
           "%" PRIu64 " entries of %" PRIu64 " messages", counts.entries, acknowledged);
    EXPECT_RC(sap_universe_close(field.watch), SAP_OK);
    pg_server_end(&field.server);
    far_end(&field.far);
    printf("universe_processes: %s: %" PRIu64 " acknowledged, %" PRIu64 " entries, %" PRIu64
           " rejected, %" PRIu64 " epochs, %" PRIu64 " commits fenced\n",
           what, acknowledged, counts.entries, counts.rejected, counts.epochs, field.fenced);
}

/* ---- Who holds what -------------------------------------------------------------------------- */

static SapWorldInfo read_info(uint32_t world)
{
    SapWorldInfo info;
    char name[LEDGER_NAME_MAX];
    ledger_world_name(world, name);
    int rc = sap_world_info(field.watch, name, &info);
    EXPECT(rc == SAP_OK, "info of %s: %d", name, rc);
    return info;
}

static uint32_t count_held(uint32_t node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < field.ledger.worlds; i++) {
        count += strcmp(read_info(i).holder, node_names[node]) == 0;
    }
    return count;
}

/* Takes a world from its holder: whoever sees its hint first has it next. */
static void shuffle_world(uint32_t world)
{
    char name[LEDGER_NAME_MAX];
    ledger_world_name(world, name);
    int rc = sap_world_pause(field.watch, name, "to change hands");
    EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "pausing %s: %d", name, rc);
    do {
        rc = sap_world_resume(field.watch, name);
        EXPECT(rc == SAP_OK || rc == SAP_BUSY || rc == SAP_CONFLICT, "resuming %s: %d", name, rc);
    } while (rc != SAP_OK);
}

/* Takes a world from the node that holds more of them. */
static void shuffle_richer(const uint32_t held[NODES])
{
    uint32_t richer = held[0] > held[1] ? 0 : 1;
    uint32_t world = (uint32_t)rng_below(&field.rng, field.ledger.worlds);
    while (strcmp(read_info(world).holder, node_names[richer]) != 0) {
        if (count_held(richer) == 0) {
            return;
        }
        world = (uint32_t)rng_below(&field.rng, field.ledger.worlds);
    }
    shuffle_world(world);
}

/* Returns when each node runs some of the worlds, and so can take worlds. A world changes hands only while
 * all are held: a worker leaves a world alone for a while when it finds it paused, so whoever shuffles
 * without waiting keeps everybody from taking any. */
static void balance_worlds(void)
{
    uint64_t end_ns = universe_test_now_ns() + BALANCE_MS * MS;
    uint32_t held[NODES] = {count_held(0), count_held(1)};
    while (held[0] < LEAST_HELD || held[1] < LEAST_HELD) {
        EXPECT(universe_test_now_ns() < end_ns,
               "of %" PRIu32 " worlds %s holds %" PRIu32 ", %s %" PRIu32 ": one of them takes none",
               field.ledger.worlds, node_names[0], held[0], node_names[1], held[1]);
        if (held[0] + held[1] == field.ledger.worlds) {
            shuffle_richer(held);
        }
        hear_ms(20);
        held[0] = count_held(0);
        held[1] = count_held(1);
    }
}

/* ---- Takeovers ------------------------------------------------------------------------------- */

/* The worlds that a lost node held, as it left them. */
typedef struct Lost {
    uint32_t count;
    uint32_t worlds[LEDGER_WORLDS];
    SapWorldInfo infos[LEDGER_WORLDS];
    bool was_held[LEDGER_WORLDS];
    uint64_t from_ns;    /* of the fault */
    uint64_t expires_ns; /* the end of the node's session */
} Lost;

/* When the session that a node has now is over. */
static uint64_t session_end_ns(uint32_t node)
{
    SapStoreTxn *txn = NULL;
    UniverseName name;
    RowKey key;
    SessionRow row;
    EXPECT_RC(universe_name_set(&name, node_names[node]), SAP_OK);
    row_key_session(&key, field.watch->number, &name);
    EXPECT_RC(sap_store_begin(field.watch->store, SAP_STORE_READ_DURABLE, &txn), SAP_OK);
    EXPECT_RC(session_row_get(txn, &key, &row), SAP_OK);
    sap_store_abort(txn);
    uint64_t now_ns = sap_store_lease_ns(field.watch->store);
    EXPECT(row.expires_ns > now_ns, "the session of %s is over already", node_names[node]);
    return universe_test_now_ns() + row.expires_ns - now_ns;
}

static void note_lost(uint32_t node, uint64_t from_ns, Lost *lost_out)
{
    *lost_out = (Lost){.from_ns = from_ns};
    hear_ms(LANDED_MS);
    lost_out->expires_ns = session_end_ns(node);
    for (uint32_t i = 0; i < field.ledger.worlds; i++) {
        SapWorldInfo info = read_info(i);
        if (strcmp(info.holder, node_names[node]) == 0) {
            lost_out->was_held[i] = true;
            lost_out->infos[lost_out->count] = info;
            lost_out->worlds[lost_out->count++] = i;
        }
    }
    EXPECT(lost_out->count > 0, "%s held no world", node_names[node]);
}

/* Another worker has made a step of it. */
static bool goes_on(const SapWorldInfo *before, uint32_t world, uint32_t lost_node)
{
    SapWorldInfo now = read_info(world);
    return now.epoch > before->epoch && now.height > before->height &&
           strcmp(now.holder, node_names[lost_node]) != 0;
}

/* How long the worlds of the other node have made no step at most. */
typedef struct Standstill {
    uint64_t heights[LEDGER_WORLDS];
    uint64_t since_ns[LEDGER_WORLDS];
    uint64_t longest_ns;
} Standstill;

static void note_progress(const Lost *lost, Standstill *still)
{
    for (uint32_t i = 0; i < field.ledger.worlds; i++) {
        if (lost->was_held[i]) {
            continue;
        }
        uint64_t now_ns = universe_test_now_ns();
        uint64_t height = read_info(i).height;
        if (height > still->heights[i]) {
            still->heights[i] = height;
            still->since_ns[i] = now_ns;
        }
        uint64_t ns = now_ns - still->since_ns[i];
        still->longest_ns = ns > still->longest_ns ? ns : still->longest_ns;
    }
}

static void drop_those_that_go_on(Lost *lost, uint32_t node)
{
    for (uint32_t i = 0; i < lost->count;) {
        if (goes_on(&lost->infos[i], lost->worlds[i], node)) {
            lost->count--;
            lost->worlds[i] = lost->worlds[lost->count];
            lost->infos[i] = lost->infos[lost->count];
        } else {
            i++;
        }
    }
}

/* Returns when all worlds go on; prints how long it took since the fault. */
static void await_takeover(uint32_t node, Fault fault, Lost *lost)
{
    uint64_t end_ns = lost->from_ns + (TAKEOVER_TTLS * field.ttl_ms + TAKEOVER_MS) * MS;
    uint64_t first_ns = 0;
    uint32_t count = lost->count;
    Standstill still = {.longest_ns = 0};
    while (lost->count > 0) {
        note_progress(lost, &still);
        uint32_t before = lost->count;
        drop_those_that_go_on(lost, node);
        if (first_ns == 0 && lost->count < before) {
            first_ns = universe_test_now_ns();
        }
        EXPECT(universe_test_now_ns() < end_ns, "%" PRIu32 " worlds do not go on", lost->count);
        hear_ms(POLL_MS);
    }
    uint64_t all_ms = (universe_test_now_ns() - lost->from_ns) / MS;
    printf("universe_processes: %s: first step by the other worker after %" PRIu64
           " ms, of all %" PRIu32 " lost worlds after %" PRIu64
           " ms; its own worlds stood still for up to %" PRIu64 " ms\n",
           fault_names[fault], (first_ns - lost->from_ns) / MS, count, all_ms,
           still.longest_ns / MS);
    (void)fflush(stdout);
    /* Others wait for a renewal longer than that, which is how much their lease times may differ. */
    EXPECT(first_ns >= lost->expires_ns, "taken over %" PRIu64 " ms before its session is over",
           (lost->expires_ns - first_ns) / MS);
}

/* A node that is back finds out that its worlds are others' by now, or that its session is over. */
static void await_fenced(const UniverseProcess *process, const UniverseProgramStats *before)
{
    uint64_t end_ns = universe_test_now_ns() + FENCED_MS * MS;
    const UniverseProgramStats *now = &process->stats;
    while (now->fenced == before->fenced && now->sessions == before->sessions) {
        EXPECT(universe_test_now_ns() < end_ns, "it does not learn that it has lost its worlds");
        hear_ms(10);
    }
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void kill_node(uint32_t node)
{
    UniverseProcess *process = &field.all[node];
    Lost lost;
    uint64_t now_ns = universe_test_now_ns();
    universe_process_kill(process);
    note_end(process);
    note_lost(node, now_ns, &lost);
    await_takeover(node, KILLED, &lost);
    start_process(node);
}

static void stop_node(uint32_t node, Fault fault)
{
    UniverseProcess *process = &field.all[node];
    UniverseProgramStats before = process->stats;
    Lost lost;
    if (fault == STOPPED) {
        EXPECT(kill(process->pid, SIGSTOP) == 0, "no process");
    } else {
        universe_process_order_stop(process, fault == STOPPED_BEFORE ? UNIVERSE_STOP_BEFORE
                                                                     : UNIVERSE_STOP_INSIDE);
    }
    universe_process_await_stop(process);
    note_lost(node, universe_test_now_ns(), &lost);
    await_takeover(node, fault, &lost);
    EXPECT(kill(process->pid, SIGCONT) == 0, "no process");
    await_fenced(process, &before);
}

static void stop_node_briefly(uint32_t node)
{
    pid_t pid = field.all[node].pid;
    EXPECT(kill(pid, SIGSTOP) == 0, "no process");
    hear_ms(rng_below(&field.rng, field.ttl_ms / 2));
    EXPECT(kill(pid, SIGCONT) == 0, "no process");
}

static void cut_node(uint32_t node)
{
    UniverseProgramStats before = field.all[node].stats;
    Lost lost;
    uint64_t now_ns = universe_test_now_ns();
    EXPECT(node == FAR_NODE, "%s cannot be cut off", node_names[node]);
    far_cut(&field.far);
    note_lost(node, now_ns, &lost);
    await_takeover(node, CUT_OFF, &lost);
    hear_ms(rng_below(&field.rng, MOST_HELD_BACK_MS));
    far_heal(&field.far);
    await_fenced(&field.all[node], &before);
}

/* No session ends of this: the store connects again. */
static void kill_server(void)
{
    pg_server_kill(&field.server);
    hear_ms(rng_below(&field.rng, 300));
    pg_server_run(&field.server);
}

static void strike_node(Fault fault, uint32_t node)
{
    field.faults[fault]++;
    balance_worlds();
    hear_ms(TOLD_MS);
    if (fault == KILLED) {
        kill_node(node);
    } else if (fault == CUT_OFF) {
        cut_node(node);
    } else if (fault == SERVER_KILLED) {
        kill_server();
    } else if (fault == STOPPED_BRIEFLY) {
        stop_node_briefly(node);
    } else {
        stop_node(node, fault);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

START_TEST(worlds_of_a_killed_worker_go_on_elsewhere_and_nothing_is_lost)
{
    if (!start_field(choice_first_seed(), SHORT_TTL_MS, false)) {
        return;
    }
    strike_node(KILLED, 0);
    balance_worlds();
    end_field("killed");
}
END_TEST

START_TEST(a_worker_that_was_stopped_commits_nothing_late)
{
    if (!start_field(choice_first_seed(), SHORT_TTL_MS, false)) {
        return;
    }
    for (int i = 0; i < STOPS && field.all[0].stats.late == 0; i++) {
        strike_node(STOPPED_BEFORE, 0);
        hear_ms(TOLD_MS);
    }
    EXPECT(field.all[0].stats.late > 0, "it never tried to commit late");
    balance_worlds();
    end_field("stopped");
}
END_TEST

START_TEST(a_worker_that_was_stopped_in_a_transaction_commits_nothing_late)
{
    if (!start_field(choice_first_seed(), SHORT_TTL_MS, false)) {
        return;
    }
    strike_node(STOPPED_INSIDE, 0);
    balance_worlds();
    end_field("stopped in a transaction");
}
END_TEST

START_TEST(a_worker_that_was_cut_off_is_replaced_and_takes_worlds_again_when_it_is_back)
{
    if (!start_field(choice_first_seed(), SHORT_TTL_MS, true)) {
        return;
    }
    strike_node(CUT_OFF, FAR_NODE);
    balance_worlds();
    end_field("cut off");
}
END_TEST

/* With the sessions that programs have. */
START_TEST(faults_of_all_kinds_lose_and_double_nothing)
{
    uint64_t seed = choice_first_seed();
    uint64_t count = choice_setting("SAP_UNIVERSE_FAULTS", 1);
    uint64_t done = 0;
    if (!start_field(seed, LONG_TTL_MS, true) && !start_field(seed, LONG_TTL_MS, false)) {
        return;
    }
    for (; done < count; done++) {
        Fault fault = (Fault)rng_below(&field.rng, FAULTS);
        uint32_t node = (uint32_t)rng_below(&field.rng, NODES);
        expect_context("SAP_TEST_SEED=%" PRIu64 ", fault %" PRIu64, seed, done + 1);
        fault = fault == CUT_OFF && field.far.net_fd == 0 ? KILLED : fault;
        strike_node(fault, fault == CUT_OFF ? FAR_NODE : node);
    }
    balance_worlds();
    end_field("soak");
    printf("universe_processes: seed %" PRIu64 ": %" PRIu64 " faults", seed, done);
    for (int i = 0; i < FAULTS; i++) {
        printf(", %" PRIu64 " %s", field.faults[i], fault_names[i]);
    }
    printf("\n");
}
END_TEST

int main(int argc, char **argv)
{
    if (universe_program_is(argc, argv)) {
        return universe_program_main(argc, argv);
    }
    Suite *suite = suite_create("universe_processes");
    TCase *tc = tcase_create("universe_processes");
    uint64_t faults = choice_setting("SAP_UNIVERSE_FAULTS", 0);
    tcase_set_timeout(tc, (double)(TIMEOUT_S + FAULT_S * faults));
    if (faults > 0) {
        tcase_add_test(tc, faults_of_all_kinds_lose_and_double_nothing);
    } else {
        tcase_add_test(tc, worlds_of_a_killed_worker_go_on_elsewhere_and_nothing_is_lost);
        tcase_add_test(tc, a_worker_that_was_stopped_commits_nothing_late);
        tcase_add_test(tc, a_worker_that_was_stopped_in_a_transaction_commits_nothing_late);
        tcase_add_test(
            tc, a_worker_that_was_cut_off_is_replaced_and_takes_worlds_again_when_it_is_back);
    }
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}
