/* Power cuts of the whole engine: every state that one could leave opens, holds everything that was
 * acknowledged and nothing in part, verifies, and goes on. SAP_TEST_SEED and SAP_TEST_SEEDS repeat
 * and extend. */
#include "common/config.h"
#include "sapling/arena_impl.h"
#include "sapling/disk.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/history.h"
#include "support/model.h"
#include "support/reach.h"
#include "support/suite.h"
#include "support/tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_S = 900,
    RANDOM_STATES = 4, /* for each prefix of a trace, beside all dropped and all kept */
    SECOND_RUNS = 10,
    MIN_STATES = 500,
};

#if SAP_FAULTS

typedef struct Scenario {
    const char *name;
    History history;
    uint64_t steps;
    uint64_t checkpoint_bytes;
    uint32_t page_size;
    uint32_t sync_every; /* steps between calls of db_sync(); 0: none */
    uint32_t full_for;   /* so many steps without room for a log, then as many with it; 0: never */
} Scenario;

typedef struct Counts {
    uint64_t states;
    uint64_t fresh;   /* cut before anything was acknowledged */
    uint64_t beyond;  /* states that hold more than was acknowledged */
    uint64_t spoiled; /* pages */
    uint64_t messages;
    uint64_t second; /* states of recoveries and what followed them */
} Counts;

typedef struct Crashing {
    const Scenario *scenario;
    uint64_t *truth; /* two steps more than are made */
    FileBed run;
    FileBed state;
    Rng rng;
    Counts *counts;
    uint64_t early; /* acknowledged before the trace began, as a mark */
} Crashing;

/* A mark is 1 more than the last acknowledged step; 0: the tables are not all open yet. */
static uint64_t mark_of(uint64_t step)
{
    return step + 1;
}

static void choose_options(const Scenario *scenario, FileBed *bed)
{
    bed->options.page_size = scenario->page_size;
    bed->options.checkpoint_bytes = scenario->checkpoint_bytes;
    if (scenario->history.tally) {
        bed->options.subsystems = tally_subsystem();
        bed->options.subsystem_count = 1;
    }
}

/* Which step a DB is behind. */
static uint64_t expect_state(const Crashing *c, SapEnv *db, uint64_t first, uint64_t last)
{
    uint64_t step = history_find(c->truth, first, last, history_digest(db, NULL));

    model_expect_verified(db);
    return step;
}

/* One more step, and it is there after closing. */
static void go_on(Crashing *c, SapEnv *db, uint64_t step)
{
    int rc = history_step(&c->scenario->history, db, step);

    EXPECT(rc == SAP_OK, "the next step answered %d", rc);
    file_bed_close(db);
    db = file_bed_open(&c->state);
    expect_state(c, db, step, step);
    file_bed_close(db);
}

/* A cut during creation: there is a DB without rows. */
static void expect_fresh(Crashing *c, SapEnv *db)
{
    SapStat stat;

    EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
    EXPECT(stat.num_entries == 0, "rows in a new file");
    EXPECT_RC(history_open_tables(db), SAP_OK);
    expect_state(c, db, 0, 0);
    c->counts->fresh++;
    go_on(c, db, 1);
}

static void try_state(Crashing *c, CrashTrace *trace, size_t length, CrashFate fate)
{
    uint64_t mark = crash_mark_at(trace, length);
    uint64_t acked = (mark == 0 ? c->early : mark) - 1; /* unused while there is none */

    crash_build(trace, length, fate, &c->rng, c->state.dir);
    c->counts->spoiled += reach_spoil(c->state.path, &c->rng);
    /* Also where there is still no room. */
    disk_is_full =
        c->scenario->full_for != 0 && (mark != 0 || c->early != 0) && rng_chance(&c->rng, 1, 2);
    SapEnv *db = file_bed_open(&c->state);
    disk_is_full = false;
    c->counts->states++;
    c->counts->messages += file_bed_messages(&c->state) != 0;
    if (mark == 0 && c->early == 0) {
        expect_fresh(c, db);
    } else {
        uint64_t slack = c->scenario->history.async ? c->scenario->steps - acked : 1;
        uint64_t step = expect_state(c, db, acked, acked + slack);
        c->counts->beyond += step > acked;
        go_on(c, db, step + 1);
    }
    crash_dir_empty(c->state.dir);
    (void)tally_release();
}

static void cut_everywhere(Crashing *c, CrashTrace *trace, size_t first, const char *what)
{
    for (size_t length = first; length <= crash_length(trace); length++) {
        if (length == 0 || !crash_is_cut(trace, length)) {
            continue;
        }
        for (int i = 0; i < 2 + RANDOM_STATES; i++) {
            CrashFate fate = i == 0 ? CRASH_DROP : i == 1 ? CRASH_KEEP : CRASH_RANDOM;
            expect_context("%s, %s, SAP_TEST_SEED=%" PRIu64 ", cut after %zu of %zu, state %d",
                           c->scenario->name, what, c->scenario->history.seed, length,
                           crash_length(trace), i);
            try_state(c, trace, length, fate);
        }
    }
}

static void run_steps(const Scenario *scenario, SapEnv *db, CrashTrace *trace, uint64_t first,
                      uint64_t last)
{
    for (uint64_t n = first; n <= last; n++) {
        disk_is_full = scenario->full_for != 0 && n / scenario->full_for % 2 == 1;
        int rc = history_step(&scenario->history, db, n);
        EXPECT(rc == SAP_OK, "step %" PRIu64 " answered %d", n, rc);
        if (!scenario->history.async) {
            crash_mark(trace, mark_of(n));
        }
        if (scenario->sync_every != 0 && n % scenario->sync_every == 0) {
            EXPECT_RC(sap_db_sync(db), SAP_OK);
            crash_mark(trace, mark_of(n));
        }
    }
    disk_is_full = false;
}

static CrashTrace *trace_first_run(Crashing *c)
{
    CrashTrace *trace = crash_trace_start();
    SapEnv *db = file_bed_open(&c->run);

    EXPECT_RC(history_open_tables(db), SAP_OK);
    crash_mark(trace, mark_of(0));
    run_steps(c->scenario, db, trace, 1, c->scenario->steps);
    file_bed_close(db);
    crash_mark(trace, mark_of(c->scenario->steps));
    crash_trace_stop(trace);
    crash_dir_empty(c->run.dir);
    return trace;
}

/* A state of the first run is recovered and gone on with; that is cut again. The first end may be
 * that of the process alone: then its last writes are there but not on disk. */
static void cut_again(Crashing *c, CrashTrace *first, size_t length, bool process_died)
{
    uint64_t mark = crash_mark_at(first, length);
    CrashTrace *trace;

    if (mark == 0) {
        return;
    }
    if (process_died) {
        trace = crash_trace_go_on(first, length, c->run.dir);
    } else {
        crash_build(first, length, CRASH_RANDOM, &c->rng, c->run.dir);
        (void)reach_spoil(c->run.path, &c->rng);
        trace = crash_trace_start_in(c->run.dir);
    }
    size_t start = crash_length(trace);
    SapEnv *db = file_bed_open(&c->run);
    uint64_t step = expect_state(c, db, mark - 1, c->scenario->steps);
    crash_mark(trace, mark_of(step));
    uint64_t last = step + 6 < c->scenario->steps ? step + 6 : c->scenario->steps;
    run_steps(c->scenario, db, trace, step + 1, last);
    file_bed_close(db);
    crash_trace_stop(trace);
    crash_dir_empty(c->run.dir);
    c->early = process_died ? 0 : mark;
    uint64_t before = c->counts->states;
    cut_everywhere(c, trace, start, process_died ? "after a death" : "after a cut");
    c->counts->second += c->counts->states - before;
    c->early = 0;
    crash_trace_free(trace);
}

static void run_scenario(Scenario scenario, uint64_t default_seeds, bool twice)
{
    uint64_t first_seed = choice_first_seed();
    uint64_t seeds = choice_seed_count(default_seeds);
    Counts counts = {0};

    for (uint64_t seed = first_seed; seed < first_seed + seeds; seed++) {
        Crashing c = {.scenario = &scenario, .counts = &counts};
        scenario.history.seed = seed;
        c.truth = history_truth(&scenario.history, scenario.steps + 2);
        rng_seed(&c.rng, seed);
        file_bed_start(&c.run);
        file_bed_start(&c.state);
        choose_options(&scenario, &c.run);
        choose_options(&scenario, &c.state);
        arena_file_never_shared = seed % 2 == 0; /* as on file systems that share blocks */
        expect_context("%s, SAP_TEST_SEED=%" PRIu64, scenario.name, seed);
        CrashTrace *trace = trace_first_run(&c);
        if (twice) {
            for (int i = 0; i < SECOND_RUNS; i++) {
                cut_again(&c, trace, 1 + (size_t)rng_below(&c.rng, crash_length(trace)),
                          i % 2 == 0);
            }
        } else {
            cut_everywhere(&c, trace, 0, "first run");
        }
        crash_trace_free(trace);
        file_bed_end(&c.run);
        file_bed_end(&c.state);
        free(c.truth);
    }
    printf("%s: %" PRIu64 " crash states (%" PRIu64 " of new files, %" PRIu64
           " beyond the last acknowledged, %" PRIu64 " with a message, %" PRIu64
           " of second runs), %" PRIu64 " pages spoiled, seeds %" PRIu64 " to %" PRIu64 "\n",
           scenario.name, counts.states, counts.fresh, counts.beyond, counts.messages,
           counts.second, counts.spoiled, first_seed, first_seed + seeds - 1);
    ck_assert_uint_gt(counts.states, MIN_STATES);
    ck_assert_uint_gt(counts.beyond, 0);
    ck_assert_uint_gt(counts.spoiled, 0);
}

START_TEST(power_cut_during_plain_commits)
{
    run_scenario((Scenario){.name = "plain commits",
                            .history = {.max_value = 9000, .changes = 4},
                            .steps = 40,
                            .checkpoint_bytes = 32 * 1024,
                            .sync_every = 9},
                 1, false);
}
END_TEST

START_TEST(power_cut_during_commits_with_large_pages)
{
    run_scenario((Scenario){.name = "large pages",
                            .history = {.max_value = 70000},
                            .steps = 24,
                            .checkpoint_bytes = 100 * 1024,
                            .page_size = 16384,
                            .sync_every = 11},
                 1, false);
}
END_TEST

START_TEST(power_cut_during_bulk_commits)
{
    run_scenario((Scenario){.name = "bulk commits",
                            .history = {.max_value = 9000, .bulk_one_in = 4, .restore_one_in = 12},
                            .steps = 30,
                            .checkpoint_bytes = 64 * 1024},
                 1, false);
}
END_TEST

START_TEST(power_cut_while_tables_are_opened)
{
    run_scenario((Scenario){.name = "tables opened",
                            .history = {.max_value = 5000, .open_one_in = 3},
                            .steps = 40,
                            .checkpoint_bytes = 32 * 1024},
                 1, false);
}
END_TEST

START_TEST(power_cut_during_asynchronous_commits)
{
    run_scenario((Scenario){.name = "asynchronous commits",
                            .history = {.max_value = 5000, .changes = 3, .async = true},
                            .steps = 80,
                            .checkpoint_bytes = 32 * 1024,
                            .sync_every = 8},
                 1, false);
}
END_TEST

START_TEST(power_cut_during_and_after_recovery)
{
    run_scenario((Scenario){.name = "two power cuts",
                            .history = {.max_value = 9000, .bulk_one_in = 8, .open_one_in = 10},
                            .steps = 30,
                            .checkpoint_bytes = 32 * 1024,
                            .sync_every = 9},
                 1, true);
}
END_TEST

/* A bulk commit that a recovery cut off must not cut off what came behind it. */
START_TEST(power_cut_during_and_after_recovery_from_bulk_commits)
{
    run_scenario((Scenario){.name = "two power cuts, bulk commits",
                            .history = {.max_value = 5000, .changes = 4, .bulk_one_in = 2},
                            .steps = 20,
                            .checkpoint_bytes = 64 * 1024},
                 1, true);
}
END_TEST

START_TEST(power_cut_on_a_full_disk)
{
    run_scenario((Scenario){.name = "full disk",
                            .history = {.max_value = 5000, .changes = 4, .drain = true},
                            .steps = 40,
                            .checkpoint_bytes = 32 * 1024,
                            .sync_every = 9,
                            .full_for = 5},
                 1, false);
}
END_TEST

START_TEST(power_cut_on_a_full_disk_during_asynchronous_commits)
{
    run_scenario(
        (Scenario){.name = "full disk, asynchronous commits",
                   .history = {.max_value = 3000, .changes = 3, .drain = true, .async = true},
                   .steps = 60,
                   .checkpoint_bytes = 32 * 1024,
                   .sync_every = 7,
                   .full_for = 4},
        1, false);
}
END_TEST

START_TEST(power_cut_on_a_full_disk_during_and_after_recovery)
{
    run_scenario((Scenario){.name = "full disk, two power cuts",
                            .history = {.max_value = 5000, .changes = 4, .drain = true},
                            .steps = 30,
                            .checkpoint_bytes = 32 * 1024,
                            .full_for = 3},
                 1, true);
}
END_TEST

START_TEST(power_cut_with_a_subsystem)
{
    run_scenario((Scenario){.name = "subsystem",
                            .history = {.max_value = 5000,
                                        .changes = 4,
                                        .bulk_one_in = 6,
                                        .open_one_in = 12,
                                        .tally = true},
                            .steps = 36,
                            .checkpoint_bytes = 32 * 1024,
                            .sync_every = 7},
                 1, false);
}
END_TEST

START_TEST(power_cut_with_a_subsystem_during_and_after_recovery)
{
    run_scenario((Scenario){.name = "subsystem, two power cuts",
                            .history = {.max_value = 3000, .bulk_one_in = 8, .tally = true},
                            .steps = 24,
                            .checkpoint_bytes = 32 * 1024,
                            .sync_every = 9},
                 1, true);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("engine_crash");
#if SAP_FAULTS
    TCase *tcase = tcase_create("power cuts");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, power_cut_during_plain_commits);
    tcase_add_test(tcase, power_cut_during_commits_with_large_pages);
    tcase_add_test(tcase, power_cut_during_bulk_commits);
    tcase_add_test(tcase, power_cut_while_tables_are_opened);
    tcase_add_test(tcase, power_cut_during_asynchronous_commits);
    tcase_add_test(tcase, power_cut_during_and_after_recovery);
    tcase_add_test(tcase, power_cut_during_and_after_recovery_from_bulk_commits);
    tcase_add_test(tcase, power_cut_on_a_full_disk);
    tcase_add_test(tcase, power_cut_on_a_full_disk_during_asynchronous_commits);
    tcase_add_test(tcase, power_cut_on_a_full_disk_during_and_after_recovery);
    tcase_add_test(tcase, power_cut_with_a_subsystem);
    tcase_add_test(tcase, power_cut_with_a_subsystem_during_and_after_recovery);
    suite_add_tcase(suite, tcase);
#endif
    return suite_run(suite);
}
