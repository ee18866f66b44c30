/* The universe in the simulator (src/universe/simulate.h): 2,000 seeds, every class of fault. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"
#include "universe/simulate.h"

enum { TIMEOUT_S = 600, SEEDS = 2000, ANY_SEEDS = 100 };

START_TEST(nothing_is_lost_doubled_or_written_by_the_stale)
{
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(SEEDS);
    uint64_t happened[SIMULATOR_CHANCES] = {0};
    uint64_t lately[SIMULATOR_CHANCES] = {0}; /* in the last ANY_SEEDS */
    uint64_t commits = 0;
    uint64_t nested = 0;
    UniverseCounts sum = {0};
    for (uint64_t seed = first; seed < first + count; seed++) {
        SimulatorReport report = {0};
        UniverseCounts counts = {0};
        int rc = universe_simulate(seed, 0, NULL, NULL, &report, &counts);
        EXPECT(rc == SAP_OK, "seed %" PRIu64 ", step %" PRIu64 ", trace %016" PRIx64 ": %d: %s",
               seed, report.violation_step, report.trace_hash, rc, report.violation);
        for (int i = 0; i < SIMULATOR_CHANCES; i++) {
            happened[i] += report.happened[i];
            lately[i] += report.happened[i];
        }
        commits += report.commits;
        nested += report.commits_in_txn;
        universe_counts_add(&sum, &counts);
        if (count >= ANY_SEEDS && (seed - first + 1) % ANY_SEEDS == 0) {
            for (int i = 0; i < SIMULATOR_CHANCES; i++) {
                EXPECT(lately[i] > 0, "no %s in %d seeds",
                       simulator_chance_name((SimulatorChance)i), ANY_SEEDS);
                lately[i] = 0;
            }
        }
    }
    printf("universe_simulation: %" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " commits, %" PRIu64
           " of them inside other transactions\n",
           count, first, commits, nested);
#define PRINT_COUNT(name, what) printf("  " #name " %" PRIu64, sum.name);
    UNIVERSE_COUNTS(PRINT_COUNT)
#undef PRINT_COUNT
    printf("\n");
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        printf("  %s %" PRIu64, simulator_chance_name((SimulatorChance)i), happened[i]);
    }
    printf("\n");
#define EXPECT_COUNT(name, what) EXPECT(sum.name > 0, "none of: " what);
    UNIVERSE_COUNTS(EXPECT_COUNT)
#undef EXPECT_COUNT
    EXPECT(sum.dead_letters > sum.rejected, "no dead letter of a deleted world");
    ck_assert_uint_eq(mem_live_bytes(MEM_UNIVERSE), 0);
    ck_assert_uint_eq(mem_live_bytes(MEM_STORE), 0);
}
END_TEST

START_TEST(a_seed_runs_again_exactly)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        SimulatorReport report[2] = {{0}, {0}};
        UniverseCounts counts[2];
        for (int i = 0; i < 2; i++) {
            ck_assert_int_eq(universe_simulate(seed, 0, NULL, NULL, &report[i], &counts[i]),
                             SAP_OK);
        }
        ck_assert_uint_eq(report[0].trace_hash, report[1].trace_hash);
        ck_assert_mem_eq(&counts[0], &counts[1], sizeof counts[0]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_simulation");
    TCase *test_case = tcase_create("simulator");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, nothing_is_lost_doubled_or_written_by_the_stale);
    tcase_add_test(test_case, a_seed_runs_again_exactly);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
