/* The simulator on a toy of two roles: correct, it violates nothing; with each of three races
 * planted, some seed finds it, and the seed runs again exactly. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/simulator_toy.h"
#include "support/suite.h"

enum { TIMEOUT_S = 300, SEEDS = 2000, RACE_SEEDS = 1000, ANY_SEEDS = 100 };

static void add_report(SimulatorReport *sum, const SimulatorReport *report)
{
    sum->steps += report->steps;
    sum->calls += report->calls;
    sum->starts += report->starts;
    sum->checks += report->checks;
    sum->commits += report->commits;
    sum->nested_in_txn += report->nested_in_txn;
    sum->commits_in_txn += report->commits_in_txn;
    sum->dropped += report->dropped;
    sum->commits_lost += report->commits_lost;
    sum->passed_ns += report->passed_ns;
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        sum->happened[i] += report->happened[i];
    }
}

static void print_report(const char *name, uint64_t seeds, const SimulatorReport *sum)
{
    printf("%s: %" PRIu64 " seeds, %" PRIu64 " steps, %" PRIu64 " calls, %" PRIu64
           " starts, %" PRIu64 " checks, %" PRIu64 " commits; inside transactions %" PRIu64
           " steps and %" PRIu64 " commits; %" PRIu64 " s simulated\n",
           name, seeds, sum->steps, sum->calls, sum->starts, sum->checks, sum->commits,
           sum->nested_in_txn, sum->commits_in_txn, sum->passed_ns / 1000000000);
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        printf("  %s %" PRIu64, simulator_chance_name((SimulatorChance)i), sum->happened[i]);
    }
    printf("  dropped %" PRIu64 "  commits lost %" PRIu64 "\n", sum->dropped, sum->commits_lost);
}

static void expect_no_memory_left(void)
{
    EXPECT(mem_live_bytes(MEM_STORE) == 0, "%zu bytes of the store", mem_live_bytes(MEM_STORE));
    EXPECT(mem_live_bytes(MEM_SIMULATOR) == 0, "%zu bytes of the simulator",
           mem_live_bytes(MEM_SIMULATOR));
    EXPECT(mem_live_bytes(MEM_TEST) == 0, "%zu bytes of the toy", mem_live_bytes(MEM_TEST));
}

START_TEST(the_correct_toy_violates_nothing)
{
    SimulatorOptions options;
    SimulatorReport sum = {0};
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(SEEDS);
    uint64_t start_ns = clock_mono_ns(NULL);
    simulator_options_init(&options);
    options.check_commits = true;
    for (uint64_t seed = first; seed < first + count; seed++) {
        SimulatorReport report = {0};
        int rc = toy_run(TOY_CORRECT, &options, seed, &report);
        EXPECT(rc == SAP_OK, "seed %" PRIu64 ", step %" PRIu64 ", trace %016" PRIx64 ": %d: %s",
               seed, report.violation_step, report.trace_hash, rc, report.violation);
        add_report(&sum, &report);
    }
    uint64_t ms = (clock_mono_ns(NULL) - start_ns) / 1000000 + 1;
    print_report("toy", count, &sum);
    printf("  %" PRIu64 " ms, %" PRIu64 " steps/s with the nested ones\n", ms,
           (sum.steps + sum.happened[SIMULATOR_NEST]) * 1000 / ms);
    expect_no_memory_left();
}
END_TEST

/* The first seed of the race; its report. */
static uint64_t find_race(ToyRace race, const SimulatorOptions *options, SimulatorReport *report)
{
    for (uint64_t seed = 1; seed <= RACE_SEEDS; seed++) {
        int rc = toy_run(race, options, seed, report);
        EXPECT(rc == SAP_OK || rc == SAP_INVALID, "seed %" PRIu64 " returned %d", seed, rc);
        if (rc == SAP_INVALID) {
            return seed;
        }
    }
    expect_fail(__FILE__, __LINE__, "%s was not found", toy_race_name(race));
}

START_TEST(each_planted_race_is_found_and_its_seed_runs_again_exactly)
{
    static const char *const violations[TOY_RACES] = {
        [TOY_NO_GUARD] = "where the transfers done make",
        [TOY_NEWEST_ACKED] = "was acknowledged and is lost",
        [TOY_BLIND_RETRY] = "where the transfers done make",
    };
    ToyRace race = (ToyRace)_i;
    SimulatorOptions options;
    SimulatorReport found = {0};
    SimulatorReport again = {0};
    simulator_options_init(&options);
    uint64_t seed = find_race(race, &options, &found);
    printf("%s: seed %" PRIu64 ", step %" PRIu64 ", trace %016" PRIx64 ": %s\n",
           toy_race_name(race), seed, found.violation_step, found.trace_hash, found.violation);
    EXPECT(strstr(found.violation, violations[race]) != NULL, "found something else");
    EXPECT_RC(toy_run(race, &options, seed, &again), SAP_INVALID);
    EXPECT(memcmp(&found, &again, sizeof found) == 0, "another run of seed %" PRIu64, seed);
    expect_no_memory_left();
}
END_TEST

/* ---- Any hundred seeds ----------------------------------------------------------------------- */

START_TEST(in_any_hundred_seeds_everything_happens_and_steps_are_inside_transactions)
{
    static const uint64_t first[] = {1, 5001, 1000000, UINT64_MAX / 2};
    SimulatorOptions options;
    SimulatorReport sum = {0};
    simulator_options_init(&options);
    for (uint64_t seed = first[_i]; seed < first[_i] + ANY_SEEDS; seed++) {
        SimulatorReport report = {0};
        EXPECT_RC(toy_run(TOY_CORRECT, &options, seed, &report), SAP_OK);
        add_report(&sum, &report);
    }
    for (int i = 0; i < SIMULATOR_CHANCES; i++) {
        EXPECT(sum.happened[i] > 0, "%s never happened", simulator_chance_name((SimulatorChance)i));
    }
    EXPECT(sum.nested_in_txn > ANY_SEEDS, "%" PRIu64 " steps inside transactions",
           sum.nested_in_txn);
    EXPECT(sum.commits_in_txn > ANY_SEEDS, "%" PRIu64 " commits inside transactions",
           sum.commits_in_txn);
    EXPECT(sum.dropped > 0, "the server never lost patience");
    EXPECT(sum.commits_lost > 0, "no power cut took a commit");
    EXPECT(sum.starts > sum.happened[SIMULATOR_CRASH], "who died was started again");
}
END_TEST

/* ---- The same run ---------------------------------------------------------------------------- */

static void count_line(void *ctx, const char *line)
{
    uint64_t *lines = (uint64_t *)ctx;
    *lines += line[0] != 0;
}

START_TEST(a_run_whose_text_is_read_is_the_same_run)
{
    SimulatorOptions options;
    SimulatorReport silent = {0};
    SimulatorReport read = {0};
    uint64_t lines = 0;
    simulator_options_init(&options);
    EXPECT_RC(toy_run(TOY_CORRECT, &options, 7, &silent), SAP_OK);
    options.print = count_line;
    options.print_ctx = &lines;
    EXPECT_RC(toy_run(TOY_CORRECT, &options, 7, &read), SAP_OK);
    EXPECT(memcmp(&silent, &read, sizeof silent) == 0, "reading changed the run");
    EXPECT(lines > silent.calls, "%" PRIu64 " lines of %" PRIu64 " calls", lines, silent.calls);
}
END_TEST

START_TEST(other_seeds_are_other_runs)
{
    SimulatorOptions options;
    SimulatorReport one = {0};
    SimulatorReport two = {0};
    simulator_options_init(&options);
    EXPECT_RC(toy_run(TOY_CORRECT, &options, 1, &one), SAP_OK);
    EXPECT_RC(toy_run(TOY_CORRECT, &options, 2, &two), SAP_OK);
    EXPECT(one.trace_hash != two.trace_hash && one.calls != two.calls, "the same run");
}
END_TEST

static uint64_t hash_of_seed(uint64_t seed)
{
    SimulatorOptions options;
    SimulatorReport report = {0};
    simulator_options_init(&options);
    EXPECT_RC(toy_run(TOY_CORRECT, &options, seed, &report), SAP_OK);
    return report.trace_hash;
}

START_TEST(a_seed_has_the_same_trace_in_another_process)
{
    char path[512] = {0};
    char command[600];
    char answer[64] = {0};
    EXPECT(readlink("/proc/self/exe", path, sizeof path - 1) > 0, "no name of this program");
    (void)snprintf(command, sizeof command, "exec '%s' 42", path);
    (void)hash_of_seed(41); /* this process has a past that the other has not */
    FILE *other = popen(command, "r");
    EXPECT(other != NULL && fgets(answer, sizeof answer, other) != NULL, "no answer");
    EXPECT(pclose(other) == 0, "the other process failed");
    EXPECT(strtoull(answer, NULL, 16) == hash_of_seed(42), "another trace: %s", answer);
}
END_TEST

START_TEST(a_run_without_memory_says_so_and_leaks_nothing)
{
    SimulatorOptions options;
    SimulatorReport report = {0};
    simulator_options_init(&options);
    options.steps = 40;
    options.settle_steps = 0;
    uint64_t ran_out = 0;
    for (uint64_t nth = 1;; nth += 1 + nth / 16) {
        fault_reset();
        fault_arm_alloc(nth);
        int rc = toy_run(TOY_CORRECT, &options, 3, &report);
        bool fired = fault_fired() > 0;
        fault_reset();
        EXPECT(rc == SAP_NOMEM || rc == SAP_OK, "allocation %" PRIu64 ": %d: %s", nth, rc,
               report.violation);
        ran_out += rc == SAP_NOMEM;
        expect_no_memory_left();
        if (!fired) {
            break;
        }
    }
    EXPECT(ran_out > 20, "%" PRIu64 " runs had no memory", ran_out);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc == 2) { /* for a_seed_has_the_same_trace_in_another_process */
        printf("%016" PRIx64 "\n", hash_of_seed(strtoull(argv[1], NULL, 10)));
        return EXIT_SUCCESS;
    }
    Suite *suite = suite_create("simulator_toy");
    TCase *test_case = tcase_create("toy");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, the_correct_toy_violates_nothing);
    tcase_add_loop_test(test_case, each_planted_race_is_found_and_its_seed_runs_again_exactly,
                        TOY_NO_GUARD, TOY_RACES);
    tcase_add_loop_test(
        test_case, in_any_hundred_seeds_everything_happens_and_steps_are_inside_transactions, 0, 4);
    tcase_add_test(test_case, a_run_whose_text_is_read_is_the_same_run);
    tcase_add_test(test_case, other_seeds_are_other_runs);
    tcase_add_test(test_case, a_seed_has_the_same_trace_in_another_process);
    tcase_add_test(test_case, a_run_without_memory_says_so_and_leaks_nothing);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
