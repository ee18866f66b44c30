/* Histories of four threads on one file and on one PostgreSQL server, with and without faults of the
 * hook. On the server each client has a store of its own, as nodes have. */
#include "support/choice.h"
#include "support/expect.h"
#include "support/store_history.h"
#include "support/suite.h"

#include <stdio.h>

enum { TIMEOUT_S = 300, HISTORIES = 25, OPS_EACH = 60, PLANTED_SEEDS = 200 };

/* Each runs on a bed that exists. */
static void expect_linearizable(const StoreBed *bed)
{
    for (int faults = 0; faults < 2; faults++) {
        HistoryCounts counts = {0};
        char name[64];
        uint64_t first = choice_first_seed();
        uint64_t seeds = choice_seed_count(HISTORIES);
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            HistoryPlan plan = {bed, seed, OPS_EACH, HISTORY_NO_BUG, faults != 0};
            expect_context("%s, seed %llu, faults %d", bed->name, (unsigned long long)seed, faults);
            EXPECT(history_run(&plan, &counts), "the history is not linearizable");
        }
        (void)snprintf(name, sizeof name, "%s%s", bed->name, faults ? ", with faults" : "");
        history_print(name, first, &counts);
    }
}

static void expect_bug_found(const StoreBed *bed, HistoryBug bug)
{
    HistoryCounts counts = {0};
    uint64_t seed = 1;
    expect_context("%s: planted bug %d", bed->name, (int)bug);
    for (;; seed++) {
        HistoryPlan plan = {bed, seed, OPS_EACH, bug, bug == HISTORY_BLIND_RETRY};
        if (!history_run(&plan, &counts)) {
            break;
        }
        EXPECT(seed < PLANTED_SEEDS, "not found in %d histories", PLANTED_SEEDS);
    }
    printf("store_linear: %s: planted bug %d rejected at seed %llu\n", bed->name, (int)bug,
           (unsigned long long)seed);
}

START_TEST(transactions_of_four_threads_on_a_file_are_linearizable)
{
    StoreBeds beds;
    store_beds_start(&beds);
    expect_linearizable(&beds.all[STORE_BED_FILE]);
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
        expect_bug_found(&beds.all[STORE_BED_FILE], bugs[i]);
    }
    store_beds_end(&beds);
}
END_TEST

START_TEST(transactions_of_four_nodes_on_a_server_are_linearizable)
{
    StoreBeds beds;
    store_beds_start(&beds);
    if (beds.count > STORE_BED_POSTGRES) {
        expect_linearizable(&beds.all[STORE_BED_POSTGRES]);
    }
    store_beds_end(&beds);
}
END_TEST

/* Without guards a server lets two transactions read the same value, which a file with its one writer
 * does not. */
START_TEST(planted_bugs_on_a_server_are_not_linearizable)
{
    static const HistoryBug bugs[] = {HISTORY_SPLIT_ADD, HISTORY_NO_GUARD, HISTORY_CLAIM_BY_SCAN,
                                      HISTORY_BLIND_RETRY};
    StoreBeds beds;
    store_beds_start(&beds);
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0] && beds.count > STORE_BED_POSTGRES; i++) {
        expect_bug_found(&beds.all[STORE_BED_POSTGRES], bugs[i]);
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
    tcase_add_test(test_case, transactions_of_four_nodes_on_a_server_are_linearizable);
    tcase_add_test(test_case, planted_bugs_on_a_server_are_not_linearizable);
    suite_add_tcase(suite, test_case);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
