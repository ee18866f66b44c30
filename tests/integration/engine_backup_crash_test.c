/* Power cuts while a file is compacted, and while a copy is opened for the first time: in every
 * state that one could leave, the source is as it was, the target is not there or complete, and it
 * is there once the call has returned. SAP_TEST_SEED and SAP_TEST_SEEDS repeat and extend. */
#include "common/config.h"
#include "support/choice.h"
#include "support/copies.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/history.h"
#include "support/model.h"
#include "support/reach.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TIMEOUT_S = 300, SEEDS = 3, STEPS = 20, RANDOM_STATES = 6 };

#if SAP_FAULTS

typedef struct Cuts {
    History history;
    uint64_t *truth;
    FileBed run;
    FileBed state;
    char run_copy[FILES_PATH_MAX + 8];
    char state_copy[FILES_PATH_MAX + 8];
    Rng rng;
    size_t begin; /* of the trace, behind what was there before */
    uint64_t states;
    uint64_t absent;
    uint64_t complete;
} Cuts;

static void cuts_start(Cuts *cuts, uint64_t seed)
{
    cuts->history = (History){.seed = seed, .max_value = 30000};
    cuts->truth = history_truth(&cuts->history, STEPS + 3);
    rng_seed(&cuts->rng, seed);
    file_bed_start(&cuts->run);
    file_bed_start(&cuts->state);
    cuts->run.options.page_size = files_page_sizes[seed % files_page_size_count];
    cuts->run.options.checkpoint_bytes = 1 << 20;
    cuts->state.options.checkpoint_bytes = 1 << 20;
    snprintf(cuts->run_copy, sizeof cuts->run_copy, "%s/copy", cuts->run.dir);
    snprintf(cuts->state_copy, sizeof cuts->state_copy, "%s/copy", cuts->state.dir);
    SapEnv *db = file_bed_open(&cuts->run);
    EXPECT_RC(history_open_tables(db), SAP_OK);
    for (uint64_t n = 1; n <= STEPS; n++) {
        EXPECT_RC(history_step(&cuts->history, db, n), SAP_OK);
    }
    file_bed_close(db);
}

static void cuts_end(Cuts *cuts)
{
    file_bed_end(&cuts->run);
    file_bed_end(&cuts->state);
    free(cuts->truth);
}

/* Calls `expect` with the mark for every state of every cut. */
static void cut_everywhere(Cuts *cuts, CrashTrace *trace, void (*expect)(Cuts *cuts, uint64_t mark))
{
    for (size_t length = cuts->begin + 1; length <= crash_length(trace); length++) {
        for (int i = 0; crash_is_cut(trace, length) && i < 2 + RANDOM_STATES; i++) {
            CrashFate fate = i == 0 ? CRASH_DROP : i == 1 ? CRASH_KEEP : CRASH_RANDOM;
            expect_context("SAP_TEST_SEED=%" PRIu64 ", cut after %zu of %zu, state %d",
                           cuts->history.seed, length, crash_length(trace), i);
            crash_build(trace, length, fate, &cuts->rng, cuts->state.dir);
            expect(cuts, crash_mark_at(trace, length));
            crash_dir_empty(cuts->state.dir);
            cuts->states++;
        }
    }
}

/* Opens, is behind one of these steps, makes the next, and has it when it is opened again. */
static void expect_goes_on(Cuts *cuts, const char *path, uint64_t first, uint64_t last)
{
    SapEnv *db = copies_open(&cuts->state, path);
    uint64_t step = history_find(cuts->truth, first, last, history_digest(db, NULL));

    model_expect_verified(db);
    EXPECT_RC(history_step(&cuts->history, db, step + 1), SAP_OK);
    file_bed_close(db);
    db = copies_open(&cuts->state, path);
    EXPECT(history_digest(db, NULL) == cuts->truth[step + 1], "the next step is not there");
    file_bed_close(db);
}

static void expect_source_and_target(Cuts *cuts, uint64_t mark)
{
    bool there = copies_exist(cuts->state_copy);

    EXPECT(there || mark == 0, "a target that was made is gone");
    cuts->absent += !there;
    cuts->complete += there;
    if (there) {
        expect_goes_on(cuts, cuts->state_copy, STEPS, STEPS);
    }
    (void)reach_spoil(cuts->state.path, &cuts->rng);
    expect_goes_on(cuts, cuts->state.path, STEPS, STEPS + mark);
    if (!there) {
        SapEnv *db = copies_open(&cuts->state, cuts->state.path);
        EXPECT_RC(sap_db_compact(db, cuts->state_copy),
                  SAP_OK); /* over what is left of the first */
        file_bed_close(db);
        expect_goes_on(cuts, cuts->state_copy, STEPS + 1, STEPS + 1);
    }
}

START_TEST(power_cut_during_a_compaction)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SEEDS);
    uint64_t states = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Cuts cuts = {0};
        cuts_start(&cuts, seed);
        CrashTrace *trace = crash_trace_start_in(cuts.run.dir);
        cuts.begin = crash_length(trace);
        SapEnv *db = file_bed_open(&cuts.run);
        EXPECT_RC(sap_db_compact(db, cuts.run_copy), SAP_OK);
        crash_mark(trace, 1);
        EXPECT_RC(history_step(&cuts.history, db, STEPS + 1), SAP_OK);
        file_bed_close(db);
        crash_trace_stop(trace);
        cut_everywhere(&cuts, trace, expect_source_and_target);
        printf("%" PRIu64 " states, %" PRIu64 " without and %" PRIu64
               " with a target, seed %" PRIu64 "\n",
               cuts.states, cuts.absent, cuts.complete, seed);
        ck_assert_uint_gt(cuts.absent, 0);
        ck_assert_uint_gt(cuts.complete, 0);
        states += cuts.states;
        crash_trace_free(trace);
        cuts_end(&cuts);
    }
    ck_assert_uint_gt(states, 100);
}
END_TEST

static void expect_copy(Cuts *cuts, uint64_t mark)
{
    uint64_t acked = mark == 0 ? STEPS : mark;

    (void)reach_spoil(cuts->state_copy, &cuts->rng);
    expect_goes_on(cuts, cuts->state_copy, acked, acked < STEPS + 2 ? acked + 1 : acked);
}

START_TEST(power_cut_during_the_first_opening_of_a_copy)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SEEDS);
    uint64_t states = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Cuts cuts = {0};
        cuts_start(&cuts, seed);
        SapEnv *db = file_bed_open(&cuts.run);
        EXPECT_RC(seed % 2 == 0 ? copies_backup(db, cuts.run_copy)
                                : sap_db_compact(db, cuts.run_copy),
                  SAP_OK);
        file_bed_close(db);
        copies_remove(cuts.run.path);
        CrashTrace *trace = crash_trace_start_in(cuts.run.dir);
        cuts.begin = crash_length(trace);
        db = copies_open(&cuts.run, cuts.run_copy);
        for (uint64_t n = STEPS + 1; n <= STEPS + 2; n++) {
            EXPECT_RC(history_step(&cuts.history, db, n), SAP_OK);
            crash_mark(trace, n);
        }
        file_bed_close(db);
        crash_trace_stop(trace);
        cut_everywhere(&cuts, trace, expect_copy);
        states += cuts.states;
        crash_trace_free(trace);
        cuts_end(&cuts);
    }
    printf("%" PRIu64 " states, seeds %" PRIu64 " to %" PRIu64 "\n", states, first,
           first + seeds - 1);
    ck_assert_uint_gt(states, 100);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("engine_backup_crash");
#if SAP_FAULTS
    TCase *tcase = tcase_create("power cuts");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, power_cut_during_a_compaction);
    tcase_add_test(tcase, power_cut_during_the_first_opening_of_a_copy);
    suite_add_tcase(suite, tcase);
#endif
    return suite_run(suite);
}
