/* The engine against the model: every call by chance, every page size, order, arena and shape of
 * keys and values. SAP_TEST_SEED repeats one seed, SAP_TEST_SEEDS says how many to try. */
#include "support/driver.h"
#include "support/expect.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 1200 };

/* The parts of a configuration that must all be met come from the seed's digits, so that any run
 * of consecutive seeds covers them; the rest is chance. */
static void configure(DriverConfig *config, uint64_t seed, Choice *choice)
{
    static const uint32_t key_spaces[] = {8, 40, 200, 1500};

    memset(config, 0, sizeof *config);
    config->page_size = driver_page_sizes[seed % driver_page_size_count];
    config->backing = (BackingKind)(seed % BACKING_KIND_COUNT);
    config->order = (OrderKind)(seed / 3 % ORDER_COUNT);
    config->keys = (KeyShape)(seed % 7 == 0 ? KEYS_MIXED : choice_below(choice, KEY_SHAPE_COUNT));
    config->values = (ValueShape)choice_below(choice, VALUE_SHAPE_COUNT);
    config->key_space = key_spaces[choice_below(choice, 4)];
    config->value_budget = 4 << 20;
}

static void run_seeds(const char *name, uint64_t default_count, uint32_t operations,
                      uint32_t fault_one_in)
{
    DriverCounts counts;
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(default_count);

    memset(&counts, 0, sizeof counts);
    printf("%s: seeds %llu to %llu\n", name, (unsigned long long)first,
           (unsigned long long)(first + count - 1));
    fflush(stdout);
    for (uint64_t seed = first; seed < first + count; seed++) {
        Choice choice;
        DriverConfig config;
        choice_from_seed(&choice, seed);
        configure(&config, seed, &choice);
        config.operations = config.page_size > 8192 ? operations / 4 : operations;
        config.fault_one_in = fault_one_in;
        expect_context("%s, SAP_TEST_SEED=%llu: page size %u, %s arena, order %d, keys %d, "
                       "values %d, %u keys",
                       name, (unsigned long long)seed, config.page_size,
                       backing_name(config.backing), (int)config.order, (int)config.keys,
                       (int)config.values, config.key_space);
        driver_run(&config, &choice, &counts);
    }
    driver_print_counts(name, &counts);
    ck_assert(counts.operations != 0 && counts.changes != 0 && counts.cursor_moves != 0);
    ck_assert(counts.commits != 0 && counts.rows != 0);
    ck_assert(count < 20 || (counts.children != 0 && counts.snapshots != 0));
    ck_assert(fault_one_in == 0 || count < 20 || counts.faults != 0);
}

START_TEST(many_short_histories_agree_with_the_model)
{
    run_seeds("short histories", 3300, 400, 0);
}
END_TEST

START_TEST(long_histories_agree_with_the_model)
{
    run_seeds("long histories", 44, 6000, 0);
}
END_TEST

START_TEST(histories_with_failing_allocations_agree_with_the_model)
{
    run_seeds("failing allocations", 440, 400, 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_model");
    TCase *tcase = tcase_create("random");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, many_short_histories_agree_with_the_model);
    tcase_add_test(tcase, long_histories_agree_with_the_model);
    tcase_add_test(tcase, histories_with_failing_allocations_agree_with_the_model);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
