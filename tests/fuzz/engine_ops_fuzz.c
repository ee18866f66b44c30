/* Operations on the engine, decoded from bytes and compared with the model.
 *
 * The first bytes choose the configuration, all others the operations of driver.c. */
#include "support/choice.h"
#include "support/driver.h"
#include "support/expect.h"

#include <string.h>

/* Pages up to 8 KiB and little data keep a run at a few milliseconds. */
enum { LONGEST_INPUT = 2048, MAX_OPERATIONS = 400, PAGE_SIZES = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t key_spaces[] = {8, 40, 200, 1500};
    Choice choice;
    DriverConfig config;
    DriverCounts counts;

    if (size > LONGEST_INPUT) {
        return -1;
    }
    memset(&config, 0, sizeof config);
    memset(&counts, 0, sizeof counts);
    choice_from_bytes(&choice, data, size);
    config.page_size = driver_page_sizes[choice_below(&choice, PAGE_SIZES)];
    config.backing = (BackingKind)choice_below(&choice, BACKING_KIND_COUNT);
    config.order = (OrderKind)choice_below(&choice, ORDER_COUNT);
    config.keys = (KeyShape)choice_below(&choice, KEY_SHAPE_COUNT);
    config.values = (ValueShape)choice_below(&choice, VALUE_SHAPE_COUNT);
    config.key_space = key_spaces[choice_below(&choice, 4)];
    config.fault_one_in = choice_below(&choice, 8);
    config.operations = MAX_OPERATIONS;
    config.value_budget = 128 * 1024;
    expect_context("page size %u, %s arena, order %d, keys %d, values %d", config.page_size,
                   backing_name(config.backing), (int)config.order, (int)config.keys,
                   (int)config.values);
    driver_run(&config, &choice, &counts);
    return 0;
}
