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
        const uint64_t *from = (const uint64_t *)(const void *)&counts;
        uint64_t *to = (uint64_t *)(void *)&sum;
        for (size_t i = 0; i < sizeof sum / sizeof *to; i++) {
            to[i] += from[i];
        }
        if (count >= ANY_SEEDS && (seed - first + 1) % ANY_SEEDS == 0) {
            for (int i = 0; i < SIMULATOR_CHANCES; i++) {
                EXPECT(lately[i] > 0, "no %s in %d seeds",
                       simulator_chance_name((SimulatorChance)i), ANY_SEEDS);
                lately[i] = 0;
            }
        }
    }
    printf("universe_simulation: %" PRIu64 " seeds from %" PRIu64 ": %" PRIu64 " commits, %" PRIu64
           " of them inside other transactions; messages: %" PRIu64 " sent, %" PRIu64
           " duplicates, %" PRIu64 " refused, %" PRIu64 " unknown; %" PRIu64 " entries, %" PRIu64
           " rejected, %" PRIu64 " dead letters; worlds: %" PRIu64 " acquired, %" PRIu64
           " fenced, %" PRIu64 " entries restored, %" PRIu64 " unknown commits, %" PRIu64
           " paused, %" PRIu64 " operations\n",
           count, first, commits, nested, sum.sent, sum.duplicates, sum.refused, sum.unknown,
           sum.entries, sum.rejected, sum.dead_letters, sum.acquired, sum.fenced, sum.restored,
           sum.resolved, sum.paused, sum.operations);
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        printf("  %s %" PRIu64, simulator_chance_name((SimulatorChance)i), happened[i]);
    }
    printf("\n");
    EXPECT(sum.sent > 0 && sum.duplicates > 0 && sum.refused > 0 && sum.unknown > 0 &&
               sum.rejected > 0 && sum.dead_letters > sum.rejected && sum.fenced > 0 &&
               sum.restored > 0 && sum.resolved > 0 && sum.operations > 0,
           "something never happened");
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
