/* Histories of four threads on one file, with and without faults of the hook. */
#include "support/choice.h"
#include "support/expect.h"
#include "support/store_history.h"
#include "support/suite.h"

#include <stdio.h>

enum { TIMEOUT_S = 300, HISTORIES = 25, OPS_EACH = 60, PLANTED_SEEDS = 200 };

START_TEST(transactions_of_four_threads_on_a_file_are_linearizable)
{
    StoreBeds beds;
    store_beds_start(&beds);
    for (int faults = 0; faults < 2; faults++) {
        HistoryCounts counts = {0};
        uint64_t first = choice_first_seed();
        uint64_t seeds = choice_seed_count(HISTORIES);
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            HistoryPlan plan = {&beds.all[1], seed, OPS_EACH, HISTORY_NO_BUG, faults != 0};
            expect_context("seed %llu, faults %d", (unsigned long long)seed, faults);
            EXPECT(history_run(&plan, &counts), "the history is not linearizable");
        }
        history_print(faults ? "sapling, with faults" : "sapling", first, &counts);
    }
    store_beds_end(&beds);
}
END_TEST

START_TEST(planted_bugs_on_a_file_are_not_linearizable)
{
    static const HistoryBug bugs[] = {HISTORY_SPLIT_ADD, HISTORY_CLAIM_BY_SCAN,
                                      HISTORY_BLIND_RETRY};
    StoreBeds beds;
    store_beds_start(&beds);
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        HistoryCounts counts = {0};
        uint64_t seed = 1;
        expect_context("planted bug %d", (int)bugs[i]);
        for (;; seed++) {
            HistoryPlan plan = {&beds.all[1], seed, OPS_EACH, bugs[i],
                                bugs[i] == HISTORY_BLIND_RETRY};
            if (!history_run(&plan, &counts)) {
                break;
            }
            EXPECT(seed < PLANTED_SEEDS, "not found in %d histories", PLANTED_SEEDS);
        }
        printf("store_linear: sapling: planted bug %d rejected at seed %llu\n", (int)bugs[i],
               (unsigned long long)seed);
    }
    store_beds_end(&beds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_linear_threads");
    TCase *test_case = tcase_create("linear");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, transactions_of_four_threads_on_a_file_are_linearizable);
    tcase_add_test(test_case, planted_bugs_on_a_file_are_not_linearizable);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
