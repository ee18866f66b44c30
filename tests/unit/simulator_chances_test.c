/* What the simulator lets happen, one class of fault at a time, to a role that notes what it sees;
 * and what it says of roles and options that break its rules. */
#include "simulator/simulator.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "support/expect.h"
#include "support/suite.h"

enum { TABLE = 16, TIMEOUT_S = 60, NODES = 2, ROLES = 2, CODES = 16, STEPS = 400 };

static const uint32_t tables[] = {TABLE};

typedef struct Probe Probe;

/* One role of one process. */
typedef struct ProbeRole {
    Probe *probe;
    SimulatorProcess process;
    uint32_t role;
    bool stepping;
    uint64_t last_boot_ns;
    int64_t last_wall_ms;
} ProbeRole;

typedef struct ProbeProcess {
    ProbeRole roles[ROLES];
} ProbeProcess;

/* What all of them have seen, outside. */
struct Probe {
    int (*work)(ProbeRole *self);
    uint64_t value; /* that is put */
    uint64_t codes[CODES];
    uint64_t unknown;
    uint64_t deepest, depth;
    uint64_t starts, stops;
    uint64_t after_death; /* calls with an answer other than SAP_IO */
    uint64_t wall_steps, boot_starts;
    uint64_t found; /* rows, by a durable reader */
    bool there;     /* the row, at the last check */
    uint64_t gone;
};

static int note_code(ProbeRole *self, int rc)
{
    bool dead = !simulator_alive(self->process.simulator);
    self->probe->codes[rc]++;
    self->probe->after_death += dead && rc != SAP_IO;
    return rc;
}

/* Reads and puts the one row that all want, in one transaction. */
static int put_row(ProbeRole *self)
{
    SapStoreTxn *txn = NULL;
    SapStoreGuard guard = {TABLE, "k", 1, true};
    const void *val = NULL;
    uint32_t len = 0;
    bool unknown = false;
    int rc = note_code(self, sap_store_begin(self->process.store, SAP_STORE_GUARDED, &txn));
    if (rc != SAP_OK) {
        return rc;
    }
    rc = note_code(self, sap_store_guard(txn, &guard, 1));
    if (rc == SAP_OK) {
        rc = note_code(self, sap_store_get(txn, TABLE, "k", 1, &val, &len));
    }
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        (void)note_code(self, sap_store_put(txn, TABLE, "k", 1, &self->probe->value,
                                            sizeof self->probe->value));
        rc = note_code(self, sap_store_commit(txn, &unknown));
        self->probe->unknown += unknown;
    } else {
        sap_store_abort(txn);
    }
    return rc;
}

static int put_row_and_go_on(ProbeRole *self)
{
    (void)put_row(self);
    return SAP_OK;
}

static void watch_clock(ProbeRole *self, uint64_t now_ns)
{
    int64_t wall_ms = clock_wall_ms(self->process.clock);
    EXPECT(now_ns == clock_boot_ns(self->process.clock), "now is boot time");
    EXPECT(now_ns >= self->last_boot_ns, "boot time went back under a process");
    int64_t passed_ms = (int64_t)((now_ns - self->last_boot_ns) / 1000000);
    int64_t off_ms = wall_ms - self->last_wall_ms - passed_ms;
    bool known = self->last_boot_ns > 0;
    self->probe->wall_steps += known && (off_ms > 1 || off_ms < -1);
    self->probe->boot_starts += !known && now_ns < MANUAL_CLOCK_BOOT_START_NS + 60000000000;
    self->last_boot_ns = now_ns;
    self->last_wall_ms = wall_ms;
}

static int step_probe(void *ctx, uint64_t now_ns)
{
    ProbeRole *self = (ProbeRole *)ctx;
    Probe *probe = self->probe;
    EXPECT(!self->stepping, "a role is stepped inside itself");
    watch_clock(self, now_ns);
    self->stepping = true;
    probe->depth++;
    probe->deepest = probe->depth > probe->deepest ? probe->depth : probe->deepest;
    int rc = probe->work(self);
    probe->depth--;
    self->stepping = false;
    return rc;
}

static int start_probe(void *ctx, const SimulatorProcess *process, SimulatorRoles *roles_out)
{
    ProbeProcess *made = (ProbeProcess *)mem_zalloc(MEM_TEST, sizeof *made);
    EXPECT(made != NULL, "no memory");
    ((Probe *)ctx)->starts++;
    roles_out->state = made;
    roles_out->count = ROLES;
    for (uint32_t i = 0; i < ROLES; i++) {
        made->roles[i] = (ProbeRole){.probe = (Probe *)ctx, .process = *process, .role = i};
        roles_out->roles[i] = (SimulatorRole){"probe", step_probe, &made->roles[i]};
    }
    return SAP_OK;
}

static void stop_probe(void *ctx, void *state)
{
    const ProbeProcess *made = (const ProbeProcess *)state;
    ((Probe *)ctx)->stops++;
    for (uint32_t i = 0; i < ROLES; i++) {
        EXPECT(!made->roles[i].stepping, "a process is stopped while its step is under way");
    }
    mem_free(MEM_TEST, state, sizeof *made);
}

/* Without any chance but `chance`. */
static SimulatorOptions options_of(Probe *probe, SimulatorChance chance, uint32_t per_million)
{
    SimulatorOptions options;
    simulator_options_init(&options);
    memset(options.per_million, 0, sizeof options.per_million);
    if (chance < SIMULATOR_CHANCES) {
        options.per_million[chance] = per_million;
    }
    options.ctx = probe;
    options.tables = tables;
    options.table_count = 1;
    options.node_count = NODES;
    options.start = start_probe;
    options.stop = stop_probe;
    options.steps = STEPS;
    options.settle_steps = 0;
    return options;
}

static void expect_only(const SimulatorReport *report, SimulatorChance chance)
{
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        const char *name = simulator_chance_name((SimulatorChance)i);
        if ((SimulatorChance)i == chance) {
            EXPECT(report->happened[i] > 0, "%s never happened", name);
        } else if (i != SIMULATOR_NEST || chance != SIMULATOR_STALL) {
            EXPECT(report->happened[i] == 0, "%s happened", name);
        }
    }
}

static void expect_clean(const Probe *probe)
{
    EXPECT(probe->starts == probe->stops, "%" PRIu64 " starts, %" PRIu64 " stops", probe->starts,
           probe->stops);
    EXPECT(probe->after_death == 0, "%" PRIu64 " calls of the dead had an answer",
           probe->after_death);
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes of the store", mem_live_bytes(MEM_STORE));
    EXPECT(mem_live_bytes(MEM_SIMULATOR) == 0, "the simulator leaks");
    EXPECT(mem_live_bytes(MEM_TEST) == 0, "a process was not stopped");
}

/* A run with one class of fault at that rate. */
static SimulatorReport run_probe(Probe *probe, SimulatorChance chance, uint32_t per_million)
{
    SimulatorReport report = {0};
    SimulatorOptions options = options_of(probe, chance, per_million);
    if (probe->work == NULL) {
        probe->work = put_row_and_go_on;
    }
    EXPECT_RC(simulator_run(&options, 1, &report), SAP_OK);
    expect_only(&report, chance);
    expect_clean(probe);
    return report;
}

/* ---- One class at a time --------------------------------------------------------------------- */

START_TEST(without_chances_steps_run_one_after_the_other_and_succeed)
{
    Probe probe = {0};
    SimulatorReport report = run_probe(&probe, SIMULATOR_CHANCES, 0);
    EXPECT(report.steps == STEPS && probe.starts == NODES, "each node started once");
    EXPECT(probe.deepest == 1 && report.nested_in_txn == 0, "nothing is nested");
    EXPECT(probe.codes[SAP_IO] + probe.codes[SAP_BUSY] + probe.codes[SAP_CONFLICT] == 0,
           "nothing fails");
    EXPECT(report.commits == STEPS - NODES, "%" PRIu64 " commits", report.commits);
    EXPECT(report.passed_ns > 0 && probe.wall_steps == 0, "time passes alike on all clocks");
}
END_TEST

START_TEST(nested_steps_meet_the_locks_of_those_below_and_are_bounded)
{
    Probe probe = {0};
    SimulatorReport report = run_probe(&probe, SIMULATOR_NEST, 200000);
    EXPECT(report.nested_in_txn > 0 && report.nested_in_txn < report.happened[SIMULATOR_NEST],
           "steps inside transactions, and inside other calls");
    EXPECT(report.commits_in_txn > 0, "a step inside a transaction can commit before its guard");
    EXPECT(probe.codes[SAP_BUSY] > 0, "a step inside a guarded transaction is busy");
    EXPECT(probe.codes[SAP_IO] == 0, "nothing is lost");
    EXPECT(probe.deepest == NODES * ROLES, "%" PRIu64 " deep: each role once", probe.deepest);
    for (uint32_t nesting = 0; nesting < 3; nesting++) {
        Probe shallow = {.work = put_row_and_go_on};
        SimulatorOptions options = options_of(&shallow, SIMULATOR_NEST, 200000);
        options.nesting = nesting;
        EXPECT_RC(simulator_run(&options, 1, &report), SAP_OK);
        EXPECT(shallow.deepest == nesting + 1, "%" PRIu64 " steps inside one another",
               shallow.deepest);
    }
}
END_TEST

START_TEST(who_crashes_gets_nothing_but_SAP_IO_holds_no_lock_and_is_started_again)
{
    Probe probe = {0};
    SimulatorReport report = run_probe(&probe, SIMULATOR_CRASH, 20000);
    EXPECT(probe.starts > NODES && probe.starts == report.starts, "%" PRIu64 " starts",
           probe.starts);
    EXPECT(probe.codes[SAP_IO] > 0, "the dead get SAP_IO");
    EXPECT(probe.codes[SAP_BUSY] == 0, "nobody meets a lock of the dead");
    EXPECT(probe.boot_starts == 0, "the machine runs on");
}
END_TEST

START_TEST(crashes_inside_nested_steps_free_the_locks_of_the_whole_process)
{
    Probe probe = {.work = put_row_and_go_on};
    SimulatorOptions options = options_of(&probe, SIMULATOR_CRASH, 20000);
    SimulatorReport report = {0};
    options.per_million[SIMULATOR_NEST] = 200000;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        EXPECT_RC(simulator_run(&options, seed, &report), SAP_OK);
    }
    EXPECT(probe.starts > 50 * NODES && probe.codes[SAP_BUSY] > 0, "both happened");
    expect_clean(&probe);
}
END_TEST

START_TEST(a_reboot_starts_boot_time_again_and_wall_time_goes_on)
{
    Probe probe = {0};
    SimulatorReport report = run_probe(&probe, SIMULATOR_REBOOT, 20000);
    EXPECT(probe.boot_starts > 0, "boot time started again");
    EXPECT(probe.wall_steps == 0, "wall time is what it was");
    EXPECT(report.commits_lost == 0, "the store lost nothing");
}
END_TEST

/* A commit that nobody waits for. */
static int put_async(ProbeRole *self)
{
    SapStoreTxn *txn = NULL;
    uint64_t mark = 0;
    if (sap_store_begin(self->process.store, SAP_STORE_GUARDED, &txn) == SAP_OK) {
        (void)sap_store_put(txn, TABLE, "k", 1, &self->probe->value, sizeof self->probe->value);
        (void)sap_store_commit_async(txn, &mark, NULL);
    }
    return SAP_OK;
}

/* Counts how often the row that was there is no longer. */
static void watch_row(void *ctx, Simulator *simulator, SapStoreTxn *newest)
{
    Probe *probe = (Probe *)ctx;
    const void *val = NULL;
    uint32_t len = 0;
    (void)simulator;
    bool there = sap_store_get(newest, TABLE, "k", 1, &val, &len) == SAP_OK;
    probe->gone += probe->there && !there;
    probe->there = there;
}

START_TEST(a_power_cut_takes_what_nobody_waited_for_and_nothing_else)
{
    Probe async = {.work = put_async};
    SimulatorOptions options = options_of(&async, SIMULATOR_POWER_CUT, 20000);
    SimulatorReport report = {0};
    options.check = watch_row;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        async.there = false;
        EXPECT_RC(simulator_run(&options, seed, &report), SAP_OK);
        expect_only(&report, SIMULATOR_POWER_CUT);
        EXPECT(report.commits_lost > 0, "commits were lost");
    }
    EXPECT(async.gone > 0, "and their row with them");
    EXPECT(async.boot_starts > 0, "the machines started again");
    expect_clean(&async);

    Probe waiting = {.work = put_row_and_go_on};
    options.ctx = &waiting;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        waiting.there = false;
        EXPECT_RC(simulator_run(&options, seed, &report), SAP_OK);
        EXPECT(report.commits_lost <= report.happened[SIMULATOR_POWER_CUT],
               "only commits that had not returned");
    }
}
END_TEST

/* Looks for what others have committed and nobody has waited for. */
static int put_async_or_look(ProbeRole *self)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    if (self->role == 0) {
        return put_async(self);
    }
    if (sap_store_begin(self->process.store, SAP_STORE_READ_DURABLE, &txn) == SAP_OK) {
        self->probe->found += sap_store_get(txn, TABLE, "k", 1, &val, &len) == SAP_OK;
        sap_store_abort(txn);
    }
    return SAP_OK;
}

START_TEST(what_nobody_waits_for_becomes_durable_by_a_flush_alone)
{
    Probe never = {.work = put_async_or_look};
    (void)run_probe(&never, SIMULATOR_CHANCES, 0);
    EXPECT(never.found == 0, "a durable reader found what is not durable");
    Probe flushed = {.work = put_async_or_look};
    (void)run_probe(&flushed, SIMULATOR_FLUSH, 50000);
    EXPECT(flushed.found > 0, "a durable reader found nothing");
}
END_TEST

START_TEST(a_stalled_caller_loses_its_transaction_when_the_server_loses_patience)
{
    Probe probe = {0};
    SimulatorReport report = run_probe(&probe, SIMULATOR_STALL, 20000);
    EXPECT(report.dropped > 0, "no transaction was dropped");
    EXPECT(probe.codes[SAP_IO] > 0 && probe.unknown > 0,
           "calls on it are SAP_IO, a commit of it has an unknown outcome");
    EXPECT(report.passed_ns / 1000000000 > report.happened[SIMULATOR_STALL], "time has passed");
    EXPECT(report.happened[SIMULATOR_NEST] > report.happened[SIMULATOR_STALL],
           "others went on meanwhile");

    Probe patient = {.work = put_row_and_go_on};
    SimulatorOptions options = options_of(&patient, SIMULATOR_STALL, 20000);
    options.nesting = 0;
    options.patience_ms = 5000;
    EXPECT_RC(simulator_run(&options, 1, &report), SAP_OK);
    EXPECT(report.dropped > 0 && report.happened[SIMULATOR_NEST] == 0,
           "it is dropped also when nobody else can run");
}
END_TEST

START_TEST(a_node_that_is_cut_off_gets_SAP_IO_until_it_is_not)
{
    Probe probe = {0};
    (void)run_probe(&probe, SIMULATOR_PARTITION, 2000);
    EXPECT(probe.codes[SAP_IO] > 0, "no call failed");
    EXPECT(probe.codes[SAP_OK] > probe.codes[SAP_IO], "it does not last for ever");
    EXPECT(probe.starts == NODES, "nobody dies of it");
}
END_TEST

START_TEST(busy_conflict_and_failure_are_answers_of_single_calls)
{
    static const SimulatorChance chances[] = {SIMULATOR_BUSY, SIMULATOR_CONFLICT, SIMULATOR_FAIL};
    static const int codes[] = {SAP_BUSY, SAP_CONFLICT, SAP_IO};
    for (int i = 0; i < 3; i++) {
        Probe probe = {0};
        SimulatorReport report = run_probe(&probe, chances[i], 20000);
        EXPECT(probe.codes[codes[i]] >= report.happened[chances[i]], "%d was not returned",
               codes[i]);
        EXPECT(probe.codes[SAP_OK] > 0 && probe.starts == NODES, "the process goes on");
    }
}
END_TEST

START_TEST(an_outcome_is_lost_both_ways)
{
    static const SimulatorChance chances[] = {SIMULATOR_LOST_BEFORE, SIMULATOR_LOST_AFTER};
    for (int i = 0; i < 2; i++) {
        Probe probe = {0};
        SimulatorReport report = run_probe(&probe, chances[i], 100000);
        uint64_t lost = report.happened[chances[i]];
        EXPECT(probe.unknown == lost && probe.codes[SAP_IO] == lost,
               "%" PRIu64 " of %" PRIu64 " lost outcomes are unknown", probe.unknown, lost);
        uint64_t tried = STEPS - NODES;
        EXPECT(report.commits == (chances[i] == SIMULATOR_LOST_BEFORE ? tried - lost : tried),
               "%" PRIu64 " commits of %" PRIu64 ", %" PRIu64 " lost", report.commits, tried, lost);
    }
}
END_TEST

START_TEST(a_clock_step_moves_wall_time_of_one_node_alone)
{
    Probe probe = {0};
    SimulatorReport report = run_probe(&probe, SIMULATOR_CLOCK_STEP, 5000);
    EXPECT(probe.wall_steps > 0 &&
               probe.wall_steps <= ROLES * report.happened[SIMULATOR_CLOCK_STEP],
           "%" PRIu64 " steps seen of %" PRIu64, probe.wall_steps,
           report.happened[SIMULATOR_CLOCK_STEP]);
    EXPECT(probe.codes[SAP_IO] == 0, "the store does not care");
}
END_TEST

/* ---- The trace ------------------------------------------------------------------------------- */

START_TEST(the_trace_hash_covers_the_rows)
{
    uint64_t hashes[2] = {0};
    for (uint64_t value = 0; value < 2; value++) {
        Probe probe = {.value = value};
        hashes[value] = run_probe(&probe, SIMULATOR_NEST, 100000).trace_hash;
    }
    EXPECT(hashes[0] != hashes[1], "another value, the same trace");
}
END_TEST

static int read_row(ProbeRole *self)
{
    SapStoreTxn *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;
    if (sap_store_begin(self->process.store, SAP_STORE_READ_NEWEST, &txn) == SAP_OK) {
        (void)sap_store_get(txn, TABLE, self->probe->value == 0 ? "k" : "l", 1, &val, &len);
        sap_store_abort(txn);
    }
    return SAP_OK;
}

START_TEST(the_trace_hash_covers_what_is_asked)
{
    uint64_t hashes[2] = {0};
    for (uint64_t value = 0; value < 2; value++) {
        Probe probe = {.value = value, .work = read_row};
        hashes[value] = run_probe(&probe, SIMULATOR_CHANCES, 0).trace_hash;
    }
    EXPECT(hashes[0] != hashes[1], "another key, the same trace");
}
END_TEST

/* ---- Rules ----------------------------------------------------------------------------------- */

static SimulatorReport expect_violation(Probe *probe, SimulatorOptions *options, const char *text)
{
    SimulatorReport report = {0};
    EXPECT_RC(simulator_run(options, 1, &report), SAP_INVALID);
    EXPECT(report.violated && strstr(report.violation, text) != NULL, "it says: %s",
           report.violation);
    expect_clean(probe);
    return report;
}

static int leave_open(ProbeRole *self)
{
    SapStoreTxn *txn = NULL;
    (void)sap_store_begin(self->process.store, SAP_STORE_GUARDED, &txn);
    return SAP_OK;
}

static int begin_twice(ProbeRole *self)
{
    SapStoreTxn *outer = NULL;
    SapStoreTxn *inner = NULL;
    (void)sap_store_begin(self->process.store, SAP_STORE_GUARDED, &outer);
    EXPECT_RC(sap_store_begin(self->process.store, SAP_STORE_READ_NEWEST, &inner), SAP_IO);
    sap_store_abort(outer);
    return SAP_OK;
}

START_TEST(a_role_that_breaks_the_rules_is_reported)
{
    Probe probe = {.work = leave_open};
    SimulatorOptions options = options_of(&probe, SIMULATOR_CHANCES, 0);
    (void)expect_violation(&probe, &options, "probe returned with an open transaction");
    probe = (Probe){.work = begin_twice};
    (void)expect_violation(&probe, &options, "probe began a second transaction");
}
END_TEST

static int give_up(ProbeRole *self)
{
    (void)put_row(self);
    return SAP_IO;
}

START_TEST(a_role_that_gives_up_stops_its_node_which_is_started_again)
{
    Probe probe = {.work = give_up};
    SimulatorReport report = run_probe(&probe, SIMULATOR_CHANCES, 0);
    EXPECT(report.starts >= STEPS / 2 && report.starts <= STEPS / 2 + NODES,
           "%" PRIu64 " starts in %d steps", report.starts, STEPS);
}
END_TEST

static void refuse_all(void *ctx, Simulator *simulator, SapStoreTxn *newest)
{
    const void *val = NULL;
    uint32_t len = 0;
    Probe *probe = (Probe *)ctx;
    if (sap_store_get(newest, TABLE, "k", 1, &val, &len) == SAP_OK) {
        simulator_violation(simulator, "there is a row at depth %" PRIu64, probe->depth);
        simulator_violation(simulator, "and another violation");
    }
}

START_TEST(a_violation_ends_the_run_where_it_was_found)
{
    Probe probe = {.work = put_row_and_go_on};
    SimulatorOptions options = options_of(&probe, SIMULATOR_CHANCES, 0);
    options.check = refuse_all;
    SimulatorReport report = expect_violation(&probe, &options, "there is a row at depth 0");
    EXPECT(report.commits == 1 && report.steps == report.violation_step + 1,
           "after the step that put it");
    probe = (Probe){.work = put_row_and_go_on};
    options.check_commits = true;
    report = expect_violation(&probe, &options, "there is a row at depth 1");
    EXPECT(probe.codes[SAP_IO] == 1, "inside the step: its wait for the disk is not answered");
}
END_TEST

static void refuse_end(void *ctx, Simulator *simulator, SapStoreTxn *newest)
{
    (void)ctx;
    (void)newest;
    simulator_violation(simulator, "the end");
}

START_TEST(the_end_is_checked_once_when_all_is_quiet)
{
    Probe probe = {.work = put_row_and_go_on};
    SimulatorOptions options = options_of(&probe, SIMULATOR_CRASH, 50000);
    SimulatorReport report = {0};
    options.check_end = refuse_end;
    EXPECT_RC(simulator_run(&options, 1, &report), SAP_OK); /* no steps to become quiet */
    options.settle_steps = 10;
    report = expect_violation(&probe, &options, "the end");
    EXPECT(report.steps == STEPS + 10, "after all steps");
}
END_TEST

static int run_out(ProbeRole *self)
{
    (void)self;
    return SAP_NOMEM;
}

START_TEST(misuse_is_refused_and_lack_of_memory_ends_the_run)
{
    Probe probe = {.work = run_out};
    SimulatorReport report = {0};
    SimulatorOptions good = options_of(&probe, SIMULATOR_CHANCES, 0);
    EXPECT_RC(simulator_run(&good, 1, &report), SAP_NOMEM);
    expect_clean(&probe);
    EXPECT_RC(simulator_run(NULL, 1, &report), SAP_ERROR);
    EXPECT_RC(simulator_run(&good, 1, NULL), SAP_ERROR);
    SimulatorOptions bad = good;
    bad.start = NULL;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad = good;
    bad.node_count = 0;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad.node_count = SIMULATOR_MAX_NODES + 1;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad = good;
    bad.nesting = SIMULATOR_MAX_NESTING + 1;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad = good;
    bad.per_million[SIMULATOR_NEST] = SIMULATOR_MILLION; /* a step would never end */
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad = good;
    bad.per_million[SIMULATOR_BUSY] = SIMULATOR_MILLION;
    bad.per_million[SIMULATOR_FAIL] = 1;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad = good;
    bad.table_count = 0;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
    bad = good;
    bad.patience_ms = 0;
    EXPECT_RC(simulator_run(&bad, 1, &report), SAP_ERROR);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("simulator_chances");
    TCase *test_case = tcase_create("simulator");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, without_chances_steps_run_one_after_the_other_and_succeed);
    tcase_add_test(test_case, nested_steps_meet_the_locks_of_those_below_and_are_bounded);
    tcase_add_test(test_case,
                   who_crashes_gets_nothing_but_SAP_IO_holds_no_lock_and_is_started_again);
    tcase_add_test(test_case, crashes_inside_nested_steps_free_the_locks_of_the_whole_process);
    tcase_add_test(test_case, a_reboot_starts_boot_time_again_and_wall_time_goes_on);
    tcase_add_test(test_case, a_power_cut_takes_what_nobody_waited_for_and_nothing_else);
    tcase_add_test(test_case, what_nobody_waits_for_becomes_durable_by_a_flush_alone);
    tcase_add_test(test_case,
                   a_stalled_caller_loses_its_transaction_when_the_server_loses_patience);
    tcase_add_test(test_case, a_node_that_is_cut_off_gets_SAP_IO_until_it_is_not);
    tcase_add_test(test_case, busy_conflict_and_failure_are_answers_of_single_calls);
    tcase_add_test(test_case, an_outcome_is_lost_both_ways);
    tcase_add_test(test_case, a_clock_step_moves_wall_time_of_one_node_alone);
    tcase_add_test(test_case, the_trace_hash_covers_the_rows);
    tcase_add_test(test_case, the_trace_hash_covers_what_is_asked);
    tcase_add_test(test_case, a_role_that_breaks_the_rules_is_reported);
    tcase_add_test(test_case, a_role_that_gives_up_stops_its_node_which_is_started_again);
    tcase_add_test(test_case, a_violation_ends_the_run_where_it_was_found);
    tcase_add_test(test_case, the_end_is_checked_once_when_all_is_quiet);
    tcase_add_test(test_case, misuse_is_refused_and_lack_of_memory_ends_the_run);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
