/* The checker of histories, and histories of clients that are nested in each other in one thread. */
#include "support/choice.h"
#include "support/expect.h"
#include "support/linear.h"
#include "support/store_history.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 300, HISTORIES = 150, OPS_EACH = 40, PLANTED_SEEDS = 1000 };

/* ---- The checker ---------------------------------------------------------------------------- */

/* One register: w writes val, r has read it, a adds one and has read val before. */
typedef struct Act {
    LinearCall call;
    char kind;
    int val;
} Act;

static bool apply_act(const void *before_bytes, const void *op_bytes, void *after_bytes)
{
    const int *before = before_bytes;
    const Act *act = op_bytes;
    int *after = after_bytes;
    *after = act->kind == 'w' ? act->val : act->kind == 'a' ? *before + 1 : *before;
    return act->kind == 'w' || *before == act->val;
}

static const LinearModel act_model = {sizeof(Act), sizeof(int), apply_act};

static void expect_linear(const Act *acts, uint32_t count, bool expected)
{
    bool got = linear_check(&act_model, acts, count, NULL);
    EXPECT(got == expected, "a history of %u is %slinearizable", count, got ? "" : "not ");
}

#define NEVER LINEAR_NEVER
#define EXPECT_LINEAR(expected, ...)                                 \
    do {                                                             \
        static const Act acts[] = {__VA_ARGS__};                     \
        expect_linear(acts, sizeof acts / sizeof acts[0], expected); \
    } while (0)

START_TEST(a_history_without_overlap_is_linearizable_in_its_own_order_only)
{
    expect_linear(NULL, 0, true);
    EXPECT_LINEAR(true, {{1, 2}, 'r', 0});
    EXPECT_LINEAR(false, {{1, 2}, 'r', 1});
    EXPECT_LINEAR(true, {{1, 2}, 'w', 5}, {{3, 4}, 'r', 5});
    EXPECT_LINEAR(false, {{1, 2}, 'w', 5}, {{3, 4}, 'r', 0});
    EXPECT_LINEAR(false, {{3, 4}, 'w', 5}, {{1, 2}, 'r', 5});
    EXPECT_LINEAR(true, {{5, 6}, 'r', 7}, {{3, 4}, 'w', 7}, {{1, 2}, 'w', 5}); /* in any order */
    EXPECT_LINEAR(false, {{5, 6}, 'r', 5}, {{3, 4}, 'w', 7}, {{1, 2}, 'w', 5});
}
END_TEST

START_TEST(calls_that_overlap_may_have_happened_in_either_order)
{
    EXPECT_LINEAR(true, {{1, 4}, 'w', 5}, {{2, 3}, 'r', 0});
    EXPECT_LINEAR(true, {{1, 4}, 'w', 5}, {{2, 3}, 'r', 5});
    EXPECT_LINEAR(false, {{1, 4}, 'w', 5}, {{2, 3}, 'r', 6});
    /* What one has seen, one who asks later has not lost again. */
    EXPECT_LINEAR(true, {{1, 8}, 'w', 5}, {{2, 3}, 'r', 0}, {{4, 5}, 'r', 5});
    EXPECT_LINEAR(false, {{1, 8}, 'w', 5}, {{2, 3}, 'r', 5}, {{4, 5}, 'r', 0});
    /* Two that read cannot see two writes in different orders. */
    EXPECT_LINEAR(false, {{1, 20}, 'w', 1}, {{2, 21}, 'w', 2}, {{3, 4}, 'r', 1}, {{5, 6}, 'r', 2},
                  {{7, 8}, 'r', 1});
    EXPECT_LINEAR(true, {{1, 20}, 'w', 1}, {{2, 21}, 'w', 2}, {{3, 10}, 'r', 1}, {{5, 6}, 'r', 2},
                  {{7, 8}, 'r', 1});
    /* Moments that are the same overlap. */
    EXPECT_LINEAR(true, {{1, 2}, 'w', 5}, {{2, 3}, 'r', 0});
}
END_TEST

START_TEST(a_lost_update_is_not_linearizable)
{
    EXPECT_LINEAR(true, {{1, 4}, 'a', 0}, {{2, 3}, 'a', 1});
    EXPECT_LINEAR(true, {{1, 4}, 'a', 1}, {{2, 3}, 'a', 0});
    EXPECT_LINEAR(false, {{1, 4}, 'a', 0}, {{2, 3}, 'a', 0});
    EXPECT_LINEAR(false, {{1, 4}, 'a', 0}, {{2, 3}, 'a', 1}, {{5, 6}, 'r', 1});
    EXPECT_LINEAR(true, {{1, 9}, 'a', 2}, {{2, 8}, 'a', 1}, {{3, 7}, 'a', 0}, {{10, 11}, 'r', 3});
}
END_TEST

START_TEST(an_unknown_outcome_may_happen_later_or_never_but_not_before_and_not_twice)
{
    EXPECT_LINEAR(true, {{1, NEVER}, 'w', 5}, {{2, 3}, 'r', 0});
    EXPECT_LINEAR(true, {{1, NEVER}, 'w', 5}, {{2, 3}, 'r', 5});
    EXPECT_LINEAR(true, {{1, NEVER}, 'w', 5}, {{2, 3}, 'r', 0}, {{8, 9}, 'r', 5});
    EXPECT_LINEAR(false, {{1, NEVER}, 'w', 5}, {{2, 3}, 'r', 5}, {{8, 9}, 'r', 0});
    EXPECT_LINEAR(false, {{4, NEVER}, 'w', 5}, {{2, 3}, 'r', 5});
    EXPECT_LINEAR(true, {{1, NEVER}, 'a', 0}, {{2, 3}, 'r', 1}, {{4, 5}, 'r', 1});
    EXPECT_LINEAR(false, {{1, NEVER}, 'a', 0}, {{2, 3}, 'r', 1}, {{4, 5}, 'r', 2});
    EXPECT_LINEAR(true, {{1, NEVER}, 'a', 7}); /* its result is never seen */
}
END_TEST

/* A history made from an order is linearizable, and one with a result changed mostly is not; what the
 * checker says of small ones is compared with trying all orders. */
static bool try_all_orders(const Act *acts, uint32_t count, uint32_t taken, int state)
{
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        if ((taken >> i & 1) != 0) {
            continue;
        }
        all = all && acts[i].call.end == LINEAR_NEVER;
        bool is_next = true;
        for (uint32_t j = 0; j < count; j++) {
            is_next = is_next && ((taken >> j & 1) != 0 || acts[j].call.end >= acts[i].call.start);
        }
        int after = 0;
        if (is_next && apply_act(&state, &acts[i], &after) &&
            try_all_orders(acts, count, taken | 1u << i, after)) {
            return true;
        }
    }
    return all;
}

START_TEST(the_checker_agrees_with_trying_all_orders)
{
    enum { MOST = 7, TRIES = 4000 };
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(TRIES);
    uint32_t linear = 0;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Act acts[MOST];
        Rng rng;
        rng_seed(&rng, seed);
        uint32_t count = 1 + (uint32_t)rng_below(&rng, MOST);
        for (uint32_t i = 0; i < count; i++) {
            uint64_t start = rng_below(&rng, 20);
            acts[i] = (Act){{start, start + 1 + rng_below(&rng, 8)},
                            "wra"[rng_below(&rng, 3)],
                            (int)rng_below(&rng, 3)};
            if (rng_chance(&rng, 1, 8)) {
                acts[i].call.end = LINEAR_NEVER;
            }
        }
        bool expected = try_all_orders(acts, count, 0, 0);
        expect_context("seed %llu", (unsigned long long)seed);
        expect_linear(acts, count, expected);
        linear += expected;
    }
    printf("store_linear: %llu small histories, %u linearizable\n", (unsigned long long)seeds,
           linear);
    EXPECT(seeds < TRIES || (linear > TRIES / 20 && linear < TRIES / 20 * 19), "of both kinds");
}
END_TEST

/* ---- Histories in one thread ---------------------------------------------------------------- */

START_TEST(nested_transactions_in_memory_are_linearizable)
{
    StoreBeds beds;
    store_beds_start(&beds);
    for (int faults = 0; faults < 2; faults++) {
        HistoryCounts counts = {0};
        uint64_t first = choice_first_seed();
        uint64_t seeds = choice_seed_count(HISTORIES);
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            HistoryPlan plan = {&beds.all[STORE_BED_MEMORY], seed, OPS_EACH, HISTORY_NO_BUG,
                                faults != 0};
            expect_context("seed %llu, faults %d", (unsigned long long)seed, faults);
            EXPECT(history_run(&plan, &counts), "the history is not linearizable");
        }
        history_print(faults ? "memory, with faults" : "memory", first, &counts);
    }
    store_beds_end(&beds);
}
END_TEST

/* A test of the test: the checker finds what broken clients do. */
START_TEST(planted_bugs_in_memory_are_not_linearizable)
{
    static const struct {
        HistoryBug bug;
        const char *name;
    } bugs[] = {{HISTORY_SPLIT_ADD, "a read and its write in two transactions"},
                {HISTORY_NO_GUARD, "no guard"},
                {HISTORY_EARLY_ACK, "acknowledged before it is durable"},
                {HISTORY_CLAIM_BY_SCAN, "a claim in two transactions"},
                {HISTORY_BLIND_RETRY, "an unknown outcome run again"}};
    StoreBeds beds;
    store_beds_start(&beds);
    for (size_t i = 0; i < sizeof bugs / sizeof bugs[0]; i++) {
        HistoryCounts counts = {0};
        uint64_t seed = 1;
        expect_context("%s", bugs[i].name);
        for (;; seed++) {
            HistoryPlan plan = {&beds.all[STORE_BED_MEMORY], seed, OPS_EACH, bugs[i].bug,
                                bugs[i].bug == HISTORY_BLIND_RETRY};
            if (!history_run(&plan, &counts)) {
                break;
            }
            EXPECT(seed < PLANTED_SEEDS, "not found in %d histories", PLANTED_SEEDS);
        }
        printf("store_linear: memory: planted: %s: rejected at seed %llu\n", bugs[i].name,
               (unsigned long long)seed);
    }
    store_beds_end(&beds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_linear");
    TCase *test_case = tcase_create("linear");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_history_without_overlap_is_linearizable_in_its_own_order_only);
    tcase_add_test(test_case, calls_that_overlap_may_have_happened_in_either_order);
    tcase_add_test(test_case, a_lost_update_is_not_linearizable);
    tcase_add_test(test_case,
                   an_unknown_outcome_may_happen_later_or_never_but_not_before_and_not_twice);
    tcase_add_test(test_case, the_checker_agrees_with_trying_all_orders);
    tcase_add_test(test_case, nested_transactions_in_memory_are_linearizable);
    tcase_add_test(test_case, planted_bugs_in_memory_are_not_linearizable);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
