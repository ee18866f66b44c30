/* The engine in a file against the model: every call by chance, with checkpoints all the time and the
 * file closed and opened in between. SAP_TEST_SEED repeats one seed, SAP_TEST_SEEDS says how many to
 * try. */
#include "support/driver.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_S = 1200 };

/* What must all be met comes from the seed's digits, the rest is chance. */
static void configure(DriverConfig *config, uint64_t seed, Choice *choice)
{
    static const uint32_t key_spaces[] = {8, 40, 200, 1500};
    static const uint64_t thresholds[] = {16 * 1024, 100 * 1024, 0};

    memset(config, 0, sizeof *config);
    config->page_size = files_page_sizes[seed % files_page_size_count];
    config->order = (OrderKind)(seed / 3 % ORDER_COUNT);
    config->sync_mode = (SapSyncMode)(seed / 5 % 3);
    config->checkpoint_bytes = thresholds[seed / 7 % 3];
    config->keys = (KeyShape)choice_below(choice, KEY_SHAPE_COUNT);
    config->values = (ValueShape)choice_below(choice, VALUE_SHAPE_COUNT);
    config->key_space = key_spaces[choice_below(choice, 4)];
    config->value_budget = 4 << 20;
}

static void run_seeds(const char *name, uint64_t default_count, uint32_t operations,
                      uint32_t fault_one_in)
{
    DriverCounts counts;
    FileBed bed;
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(default_count);

    memset(&counts, 0, sizeof counts);
    printf("%s: seeds %" PRIu64 " to %" PRIu64 "\n", name, first, first + count - 1);
    fflush(stdout);
    for (uint64_t seed = first; seed < first + count; seed++) {
        Choice choice;
        DriverConfig config;
        file_bed_start(&bed);
        choice_from_seed(&choice, seed);
        configure(&config, seed, &choice);
        config.path = bed.path;
        config.operations = config.page_size > 8192 ? operations / 2 : operations;
        config.fault_one_in = fault_one_in;
        expect_context("%s, SAP_TEST_SEED=%" PRIu64 ": page size %u, order %d, mode %d, "
                       "checkpoints each %" PRIu64 " bytes, keys %d, values %d, %u keys",
                       name, seed, config.page_size, (int)config.order, (int)config.sync_mode,
                       config.checkpoint_bytes, (int)config.keys, (int)config.values,
                       config.key_space);
        driver_run(&config, &choice, &counts);
        file_bed_end(&bed);
    }
    driver_print_counts(name, &counts);
    ck_assert(counts.operations != 0 && counts.changes != 0 && counts.commits != 0);
    ck_assert(count < 20 || counts.openings != 0);
    ck_assert(fault_one_in == 0 || count < 20 || counts.faults != 0);
}

START_TEST(histories_in_files_agree_with_the_model)
{
    run_seeds("files", 240, 600, 0);
}
END_TEST

START_TEST(histories_in_files_with_failing_allocations_agree_with_the_model)
{
    run_seeds("files, failing allocations", 60, 400, 6);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_file_model");
    TCase *tcase = tcase_create("random");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, histories_in_files_agree_with_the_model);
    tcase_add_test(tcase, histories_in_files_with_failing_allocations_agree_with_the_model);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
