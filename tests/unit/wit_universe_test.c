/* The rows of the universe. All bytes here are written by hand: they are what other versions rely on. */
#include "common/mem.h"
#include "samples/golden.h"
#include "support/suite.h"
#include "wit_universe.h"
#include "wit_universe_samples.h"

#include <inttypes.h>
#include <stdio.h>

enum { TIMEOUT_S = 120 };

#define NONCE_BYTES 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16

static uint8_t nonce[] = {NONCE_BYTES};
static uint8_t world[] = "w1";
static uint8_t worker[] = "me";

START_TEST(a_lease_has_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'w', '1', 0, 0};
    static const uint8_t held_bytes[] = {
        1,                                   /* version */
        2,  0, 0, 0, 'm',         'e',       /* holder */
        16, 0, 0, 0, NONCE_BYTES,            /* nonce */
        9,  0, 0, 0, 0,           0,   0, 0, /* epoch */
        1,                                   /* unclean */
    };
    static const uint8_t free_bytes[] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0};
    WitUniverseDbi16LeaseKey key = {7, {world, 2}};
    WitUniverseDbi16LeaseValue held = {{worker, 2}, {nonce, 16}, 9, true};
    WitUniverseDbi16LeaseValue free_lease = {{NULL, 0}, {NULL, 0}, 9, false};

    GOLDEN(wit_universe_dbi16_lease_key, WitUniverseDbi16LeaseKey, key, key_bytes);
    GOLDEN(wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue, held, held_bytes);
    GOLDEN(wit_universe_dbi16_lease_value, WitUniverseDbi16LeaseValue, free_lease, free_bytes);
    held.nonce.len = 0;
    EXPECT_RC(wit_universe_dbi16_lease_value_validate(&held, NULL), SAP_INVALID);
}
END_TEST

START_TEST(sessions_and_what_they_hold_have_these_bytes)
{
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'm', 'e', 0, 0};
    static const uint8_t value_bytes[] = {
        1, 16, 0, 0, 0, NONCE_BYTES, 8, 7, 6,   5,   4, 3, 2, 1,             /* expires */
        1, 0,  0, 0, 2, 0,           0, 0, 'w', '1', 3, 0, 0, 0, 0, 0, 0, 0, /* modules */
    };
    static const uint8_t held_bytes[] = {0, 0, 0, 7, NONCE_BYTES, 0, 0, 'w', '1', 0, 0};
    WitUniverseDbi17SessionsKey key = {7, {worker, 2}};
    WitUniverseModuleRef module = {{world, 2}, 3};
    WitUniverseDbi17SessionsValue value = {{nonce, 16}, 0x0102030405060708, {&module, 1}};
    WitUniverseDbi18HeldKey held = {7, {nonce, 16}, {world, 2}};

    GOLDEN(wit_universe_dbi17_sessions_key, WitUniverseDbi17SessionsKey, key, key_bytes);
    GOLDEN(wit_universe_dbi17_sessions_value, WitUniverseDbi17SessionsValue, value, value_bytes);
    GOLDEN(wit_universe_dbi18_held_key, WitUniverseDbi18HeldKey, held, held_bytes);
}
END_TEST

START_TEST(entries_of_a_journal_sort_by_height_and_have_these_bytes)
{
    static uint8_t content[] = "hi";
    static const uint8_t key_bytes[] = {0, 0, 0, 7, 'w', '1', 0, 0, 0, 0,
                                        0, 0, 0, 0, 1,   2,   0, 0, 0, 3};
    static const uint8_t value_bytes[] = {1, 5, 0, 0, 0, 0, 0, 0,   0,  4,
                                          0, 0, 0, 2, 0, 0, 0, 'h', 'i'};
    WitUniverseDbi20JournalKey key = {7, {world, 2}, 0x102, 3};
    WitUniverseDbi20JournalValue value = {5, 4, {content, 2}};

    GOLDEN(wit_universe_dbi20_journal_key, WitUniverseDbi20JournalKey, key, key_bytes);
    GOLDEN(wit_universe_dbi20_journal_value, WitUniverseDbi20JournalValue, value, value_bytes);
}
END_TEST

START_TEST(random_rows_of_the_universe_come_back_and_edges_are_as_computed)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(50);
    unsigned valid = 0;
    size_t edges = 0;

    for (size_t i = 0; i < wit_universe_sample_count; i++) {
        const SampleType *type = &wit_universe_samples[i];
        Choice choice;
        for (uint64_t seed = first; seed < first + seeds; seed++) {
            expect_context("seed %" PRIu64 ", type %s", seed, type->name);
            choice_from_seed(&choice, seed);
            valid += sample_round_trip(type, &choice);
        }
        choice_from_seed(&choice, first);
        edges += sample_edges(type, &choice);
    }
    printf("%u valid values of %zu types, %zu edges, seeds from %" PRIu64 "\n", valid,
           wit_universe_sample_count, edges, first);
    ck_assert_uint_gt(valid, 0);
    ck_assert_uint_gt(edges, 3);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit_universe");
    TCase *test_case = tcase_create("rows");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, a_lease_has_these_bytes);
    tcase_add_test(test_case, sessions_and_what_they_hold_have_these_bytes);
    tcase_add_test(test_case, entries_of_a_journal_sort_by_height_and_have_these_bytes);
    tcase_add_test(test_case, random_rows_of_the_universe_come_back_and_edges_are_as_computed);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
