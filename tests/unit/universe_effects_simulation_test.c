/* Effects and timers in the simulator (tests/support/universe_effects.h): 2,000 seeds of many intents and
 * as many of one at a time; every class of fault. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"
#include "support/universe_effects.h"

enum { TIMEOUT_S = 600, SEEDS = 1000, ANY_SEEDS = 100 };

/* What has happened in the runs of a test. */
typedef struct Runs {
    uint64_t happened[SIMULATOR_CHANCES];
    uint64_t lately[SIMULATOR_CHANCES]; /* since the last ANY_SEEDS */
    uint64_t commits;
    uint64_t nested;
    EffectsCounts sum;
} Runs;

static void print_line(void *ctx, const char *line)
{
    (void)ctx;
    printf("%s\n", line);
}

static void run_seed(Runs *runs, uint64_t seed, const EffectsPlan *plan)
{
    SimulatorReport report = {0};
    EffectsCounts counts = {0};
    bool trace = getenv("SAP_TEST_TRACE") != NULL;
    int rc = effects_simulate(seed, plan, trace ? print_line : NULL, NULL, &report, &counts);
    EXPECT(rc == SAP_OK, "seed %" PRIu64 ", step %" PRIu64 ", trace %016" PRIx64 ": %d: %s", seed,
           report.violation_step, report.trace_hash, rc, report.violation);
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        runs->happened[i] += report.happened[i];
        runs->lately[i] += report.happened[i];
    }
    runs->commits += report.commits;
    runs->nested += report.commits_in_txn;
    effects_counts_add(&runs->sum, &counts);
}

static void expect_all_faults(Runs *runs)
{
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        EXPECT(runs->lately[i] > 0, "no %s in %d seeds", simulator_chance_name((SimulatorChance)i),
               ANY_SEEDS);
        runs->lately[i] = 0;
    }
}

static void run_seeds(const char *name, const EffectsPlan *plan)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(SEEDS);
    Runs runs = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        run_seed(&runs, seed, plan);
        if (count >= ANY_SEEDS && (seed - first + 1) % ANY_SEEDS == 0) {
            expect_all_faults(&runs);
        }
    }
    printf("%s: %" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " commits, %" PRIu64
           " of them inside other transactions\n",
           name, count, first, runs.commits, runs.nested);
#define PRINT_COUNT(name, what) printf("  " #name " %" PRIu64, runs.sum.name);
    EFFECTS_COUNTS(PRINT_COUNT)
#undef PRINT_COUNT
    printf("\n");
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        printf("  %s %" PRIu64, simulator_chance_name((SimulatorChance)i), runs.happened[i]);
    }
    printf("\n");
    if (count >= ANY_SEEDS) {
#define EXPECT_COUNT(name, what) EXPECT(runs.sum.name > 0, "none of: " what);
        EFFECTS_COUNTS(EXPECT_COUNT)
#undef EXPECT_COUNT
    }
    ck_assert_uint_eq(mem_live_bytes(MEM_UNIVERSE), 0);
    ck_assert_uint_eq(mem_live_bytes(MEM_STORE), 0);
}

START_TEST(one_intent_ends_once_whatever_races_for_it)
{
    run_seeds("one intent at a time", &(EffectsPlan){.one_intent = true});
}
END_TEST

START_TEST(every_intent_has_one_receipt_and_no_timer_fires_early_or_twice)
{
    run_seeds("many intents", &(EffectsPlan){.one_intent = false});
}
END_TEST

START_TEST(a_seed_runs_again_exactly)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        SimulatorReport report[2] = {{0}, {0}};
        EffectsCounts counts[2];
        for (int i = 0; i < 2; i++) {
            EffectsPlan plan = {.one_intent = false};
            ck_assert_int_eq(effects_simulate(seed, &plan, NULL, NULL, &report[i], &counts[i]),
                             SAP_OK);
        }
        ck_assert_uint_eq(report[0].trace_hash, report[1].trace_hash);
        ck_assert_mem_eq(&counts[0], &counts[1], sizeof counts[0]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_effects_simulation");
    TCase *test_case = tcase_create("simulator");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, one_intent_ends_once_whatever_races_for_it);
    tcase_add_test(test_case, every_intent_has_one_receipt_and_no_timer_fires_early_or_twice);
    tcase_add_test(test_case, a_seed_runs_again_exactly);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
