#include "common/fault.h"
#include "common/random.h"
#include "sapling/error.h"
#include "support/choice.h"

#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

START_TEST(the_system_fills_all_that_was_asked_for)
{
    uint8_t a[64] = {0}, b[64] = {0};

    ck_assert_int_eq(random_fill(random_system(), a, sizeof a), SAP_OK);
    ck_assert_int_eq(random_fill(NULL, b, sizeof b), SAP_OK);
    ck_assert_mem_ne(a, b, sizeof a);
    ck_assert_int_eq(random_fill(NULL, NULL, 0), SAP_OK);
}
END_TEST

START_TEST(more_than_the_system_gives_at_once_is_filled_to_the_end)
{
    /* Linux answers at most 32 MiB per call. */
    size_t len = (size_t)33 * 1024 * 1024;
    uint8_t *bytes = calloc(1, len);

    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(random_fill(NULL, bytes, len), SAP_OK);
    for (size_t at = 0; at + 4096 <= len; at += 4096) {
        uint8_t any = 0;
        for (size_t i = 0; i < 32; i++) {
            any |= bytes[at + i];
        }
        ck_assert_uint_ne(any, 0);
    }
    free(bytes);
}
END_TEST

START_TEST(interrupted_reads_are_tried_again)
{
    uint8_t bytes[32];

    fault_reset();
    fault_arm_io(1, EINTR);
    ck_assert_int_eq(random_fill(NULL, bytes, sizeof bytes), SAP_OK);
    ck_assert_uint_eq(fault_fired(), 1);
    fault_reset();
}
END_TEST

START_TEST(a_system_without_randomness_is_an_io_error)
{
    uint8_t bytes[32];

    fault_reset();
    fault_arm_io(1, ENOSYS);
    ck_assert_int_eq(random_fill(NULL, bytes, sizeof bytes), SAP_IO);
    fault_reset();
}
END_TEST

START_TEST(a_seed_gives_its_golden_numbers)
{
    Rng rng;

    rng_seed(&rng, 0);
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0x99ec5f36cb75f2b4));
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0xbf6e1f784956452a));
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0x1a5f849d4933e6e0));
    rng_seed(&rng, 42);
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0x15780b2e0c2ec716));
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0x6104d9866d113a7e));
    ck_assert_uint_eq(rng_next(&rng), UINT64_C(0xae17533239e499a1));
}
END_TEST

START_TEST(bytes_are_the_numbers_lowest_byte_first_and_a_source_gives_the_same)
{
    static const uint8_t expected[11] = {0xb4, 0xf2, 0x75, 0xcb, 0x36, 0x5f,
                                         0xec, 0x99, 0x2a, 0x45, 0x56};
    uint8_t bytes[12];
    Rng rng;

    memset(bytes, 0xee, sizeof bytes);
    rng_seed(&rng, 0);
    rng_bytes(&rng, bytes, 11);
    ck_assert_mem_eq(bytes, expected, 11);
    ck_assert_uint_eq(bytes[11], 0xee);

    memset(bytes, 0, sizeof bytes);
    rng_seed(&rng, 0);
    Random source = rng_source(&rng);
    ck_assert_int_eq(random_fill(&source, bytes, 11), SAP_OK);
    ck_assert_mem_eq(bytes, expected, 11);
}
END_TEST

START_TEST(numbers_below_n_are_below_n_and_all_of_them_occur_equally)
{
    enum { DRAWS = 100000, SIDES = 10 };
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(5);

    printf("random: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        unsigned seen[SIDES] = {0};
        Rng rng;

        rng_seed(&rng, seed);
        for (int i = 0; i < DRAWS; i++) {
            uint64_t v = rng_below(&rng, SIDES);
            if (v >= SIDES) {
                ck_abort_msg("seed %" PRIu64 ": %" PRIu64, seed, v);
            }
            seen[v]++;
        }
        for (int side = 0; side < SIDES; side++) {
            /* More than ten standard deviations on each side. */
            ck_assert_msg(seen[side] > 9000 && seen[side] < 11000, "seed %" PRIu64 ": %u", seed,
                          seen[side]);
        }
        ck_assert_uint_eq(rng_below(&rng, 1), 0);
    }
}
END_TEST

START_TEST(large_limits_are_fair_too)
{
    /* With n = 3 * 2^62, a plain remainder would give the lowest third half of all draws. */
    uint64_t n = UINT64_C(3) << 62;
    unsigned low = 0;
    Rng rng;

    rng_seed(&rng, 7);
    for (int i = 0; i < 30000; i++) {
        uint64_t v = rng_below(&rng, n);
        ck_assert_uint_lt(v, n);
        low += v < n / 3;
    }
    ck_assert_uint_gt(low, 9000);
    ck_assert_uint_lt(low, 11000);
}
END_TEST

START_TEST(ranges_include_both_ends)
{
    bool low = false, high = false;
    Rng rng;

    rng_seed(&rng, 1);
    for (int i = 0; i < 1000; i++) {
        uint64_t v = rng_range(&rng, 10, 13);
        ck_assert(v >= 10 && v <= 13);
        low = low || v == 10;
        high = high || v == 13;
    }
    ck_assert(low && high);
    ck_assert_uint_eq(rng_range(&rng, 5, 5), 5);
    ck_assert_uint_eq(rng_range(&rng, UINT64_MAX, UINT64_MAX), UINT64_MAX);

    Rng same = rng;
    ck_assert_uint_eq(rng_range(&rng, 0, UINT64_MAX), rng_next(&same));
}
END_TEST

START_TEST(chances_are_kept)
{
    unsigned hits = 0;
    Rng rng;

    rng_seed(&rng, 3);
    for (int i = 0; i < 40000; i++) {
        ck_assert(!rng_chance(&rng, 0, 4));
        ck_assert(rng_chance(&rng, 4, 4));
        hits += rng_chance(&rng, 1, 4);
    }
    ck_assert_uint_gt(hits, 9000);
    ck_assert_uint_lt(hits, 11000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/random");
    TCase *tcase = tcase_create("random");

    tcase_add_test(tcase, the_system_fills_all_that_was_asked_for);
    tcase_add_test(tcase, more_than_the_system_gives_at_once_is_filled_to_the_end);
    tcase_add_test(tcase, interrupted_reads_are_tried_again);
    tcase_add_test(tcase, a_system_without_randomness_is_an_io_error);
    tcase_add_test(tcase, a_seed_gives_its_golden_numbers);
    tcase_add_test(tcase, bytes_are_the_numbers_lowest_byte_first_and_a_source_gives_the_same);
    tcase_add_test(tcase, numbers_below_n_are_below_n_and_all_of_them_occur_equally);
    tcase_add_test(tcase, large_limits_are_fair_too);
    tcase_add_test(tcase, ranges_include_both_ends);
    tcase_add_test(tcase, chances_are_kept);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
