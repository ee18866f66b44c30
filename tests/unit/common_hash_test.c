#include "common/hash.h"
#include "common/random.h"
#include "support/choice.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATTERN_SIZE = 2048 };

static void fill_pattern(uint8_t pattern[PATTERN_SIZE])
{
    for (size_t i = 0; i < PATTERN_SIZE; i++) {
        pattern[i] = (uint8_t)(i * 7 + 3);
    }
}

/* Lengths on both sides of every change of method in XXH3, as the reference library hashes the
 * first `len` bytes of the pattern. */
static const struct {
    size_t len;
    uint64_t seed;
    uint64_t hash;
} golden[] = {
    {0, UINT64_C(0x0000000000000000), UINT64_C(0x2d06800538d394c2)},
    {1, UINT64_C(0x0000000000000000), UINT64_C(0x13e608bc156defed)},
    {3, UINT64_C(0x0000000000000000), UINT64_C(0xa9088dda485b481c)},
    {4, UINT64_C(0x0000000000000000), UINT64_C(0x6d9253b16c8b1ed3)},
    {8, UINT64_C(0x0000000000000000), UINT64_C(0x60539db630471163)},
    {9, UINT64_C(0x0000000000000000), UINT64_C(0xfeff668361d723a8)},
    {16, UINT64_C(0x0000000000000000), UINT64_C(0xb8c859b0f030b585)},
    {17, UINT64_C(0x0000000000000000), UINT64_C(0x714a04408e79b80f)},
    {128, UINT64_C(0x0000000000000000), UINT64_C(0x67425a03650261bf)},
    {240, UINT64_C(0x0000000000000000), UINT64_C(0x64556dc6b462a6cf)},
    {241, UINT64_C(0x0000000000000000), UINT64_C(0x8beadd3a8874fe17)},
    {1024, UINT64_C(0x0000000000000000), UINT64_C(0x9b81661c641c72b1)},
    {2048, UINT64_C(0x0000000000000000), UINT64_C(0xabe604813ba62ed1)},
    {0, UINT64_C(0x000000000000002a), UINT64_C(0xb029411ff43d84d2)},
    {1, UINT64_C(0x000000000000002a), UINT64_C(0xd0c83c4bdeed078b)},
    {3, UINT64_C(0x000000000000002a), UINT64_C(0x3a6eb7a191052c81)},
    {4, UINT64_C(0x000000000000002a), UINT64_C(0x5d8ddb4735733bab)},
    {8, UINT64_C(0x000000000000002a), UINT64_C(0x53a895ca319fab31)},
    {9, UINT64_C(0x000000000000002a), UINT64_C(0x43f019f90f24f866)},
    {16, UINT64_C(0x000000000000002a), UINT64_C(0x6b1b54f65d114c69)},
    {17, UINT64_C(0x000000000000002a), UINT64_C(0x148ada809b3845dd)},
    {128, UINT64_C(0x000000000000002a), UINT64_C(0xeef663431a9bf01d)},
    {129, UINT64_C(0x000000000000002a), UINT64_C(0x4df9521149f6f8c5)},
    {240, UINT64_C(0x000000000000002a), UINT64_C(0x722964f8a7f16de3)},
    {241, UINT64_C(0x000000000000002a), UINT64_C(0x59fdc74e63a7aee7)},
    {1024, UINT64_C(0x000000000000002a), UINT64_C(0x6015bc0dcadbe10d)},
    {2048, UINT64_C(0x000000000000002a), UINT64_C(0xdd4c81a05a30cf87)},
    {0, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x602b0e2cd6662c8b)},
    {1, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x1b4c466098160569)},
    {3, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xa8bacd847619199e)},
    {4, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xe1c585329cf1878e)},
    {8, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbc53d62e02f670a4)},
    {9, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd4fb426f424e6e62)},
    {16, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x7775d23337d796b5)},
    {17, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x7d1872b1361c0fa6)},
    {128, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xe9e239440dac1b3c)},
    {129, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xb11455ab08c506d4)},
    {240, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0x6ea73b2be19b57c5)},
    {241, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xa0462d397650b282)},
    {1024, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xe955d0afe88a0f51)},
    {2048, UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xf4f759fb3540761c)},
};

enum { GOLDEN_COUNT = sizeof golden / sizeof golden[0] };

START_TEST(known_texts_have_their_published_hashes)
{
    ck_assert_uint_eq(hash_bytes("", 0, 0), UINT64_C(0x2d06800538d394c2));
    ck_assert_uint_eq(hash_bytes("a", 1, 0), UINT64_C(0xe6c632b61e964e1f));
    ck_assert_uint_eq(hash_bytes("abc", 3, 0), UINT64_C(0x78af5f94892f3950));
    ck_assert_uint_eq(hash_bytes(NULL, 0, 0), UINT64_C(0x2d06800538d394c2));
}
END_TEST

START_TEST(golden_lengths_and_seeds_have_their_golden_hashes)
{
    uint8_t pattern[PATTERN_SIZE];

    fill_pattern(pattern);
    for (size_t i = 0; i < GOLDEN_COUNT; i++) {
        ck_assert_msg(hash_bytes(pattern, golden[i].len, golden[i].seed) == golden[i].hash,
                      "length %zu, seed %" PRIu64, golden[i].len, golden[i].seed);
    }
    printf("hash: %d golden values\n", (int)GOLDEN_COUNT);
}
END_TEST

START_TEST(pieces_hash_as_the_whole_however_they_are_cut)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(50);
    uint8_t pattern[PATTERN_SIZE];

    printf("hash pieces: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    fill_pattern(pattern);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;
        rng_seed(&rng, seed);
        for (size_t i = 0; i < GOLDEN_COUNT; i++) {
            HashState state;
            size_t at = 0;

            hash_init(&state, golden[i].seed);
            while (at < golden[i].len) {
                size_t part = (size_t)rng_below(&rng, golden[i].len - at + 1);
                hash_update(&state, pattern + at, part);
                at += part;
            }
            ck_assert_msg(hash_final(&state) == golden[i].hash, "seed %" PRIu64 ", case %zu", seed,
                          i);
            if (golden[i].seed == 0) {
                uint8_t whole[HASH128_SIZE];
                uint8_t pieces[HASH128_SIZE];
                hash_bytes128(pattern, golden[i].len, whole);
                hash_final128(&state, pieces);
                ck_assert_mem_eq(whole, pieces, HASH128_SIZE);
            }
        }
    }
}
END_TEST

START_TEST(a_state_hashes_the_same_whatever_its_memory_held_before)
{
    uint8_t pattern[PATTERN_SIZE];
    uint64_t seed = UINT64_C(0xabababababababab);

    fill_pattern(pattern);
    /* The seed of an earlier use, wherever xxHash may keep it, with nothing else around it. */
    for (size_t at = 0; at + sizeof seed <= sizeof(HashState); at += sizeof seed) {
        HashState state;
        memset(&state, 0, sizeof state);
        memcpy(state.opaque + at, &seed, sizeof seed);
        hash_init(&state, seed);
        hash_update(&state, pattern, 1000);
        ck_assert_uint_eq(hash_final(&state), hash_bytes(pattern, 1000, seed));
    }
}
END_TEST

START_TEST(a_state_can_be_read_on_the_way_copied_and_used_again)
{
    uint8_t pattern[PATTERN_SIZE];
    HashState state, fork;

    fill_pattern(pattern);
    hash_init(&state, 42);
    ck_assert_uint_eq(hash_final(&state), hash_bytes(NULL, 0, 42));
    hash_update(&state, NULL, 0);
    hash_update(&state, pattern, 700);
    ck_assert_uint_eq(hash_final(&state), hash_bytes(pattern, 700, 42));
    fork = state;
    hash_update(&state, pattern + 700, 300);
    ck_assert_uint_eq(hash_final(&state), hash_bytes(pattern, 1000, 42));
    hash_update(&fork, pattern + 700, 100);
    ck_assert_uint_eq(hash_final(&fork), hash_bytes(pattern, 800, 42));

    hash_init(&state, 0);
    hash_update(&state, pattern, 700);
    ck_assert_uint_eq(hash_final(&state), hash_bytes(pattern, 700, 0));
}
END_TEST

START_TEST(integers_have_their_golden_mix)
{
    ck_assert_uint_eq(hash_u64(0), 0);
    ck_assert_uint_eq(hash_u64(1), UINT64_C(0x3c0aad46f555e0b9));
    ck_assert_uint_eq(hash_u64(UINT64_MAX), UINT64_C(0x9055d46b73492210));
}
END_TEST

START_TEST(one_bit_of_an_integer_changes_about_half_of_its_hash)
{
    /* Averages over many integers; a mixer that leaves a bit alone is far outside the bounds. */
    enum { SAMPLES = 2000 };

    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t changed = 0;
        for (uint64_t i = 1; i <= SAMPLES; i++) {
            changed +=
                (uint64_t)__builtin_popcountll(hash_u64(i) ^ hash_u64(i ^ UINT64_C(1) << bit));
        }
        ck_assert_uint_gt(changed, SAMPLES * 30);
        ck_assert_uint_lt(changed, SAMPLES * 34);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/hash");
    TCase *tcase = tcase_create("hash");

    tcase_add_test(tcase, known_texts_have_their_published_hashes);
    tcase_add_test(tcase, golden_lengths_and_seeds_have_their_golden_hashes);
    tcase_add_test(tcase, pieces_hash_as_the_whole_however_they_are_cut);
    tcase_add_test(tcase, a_state_hashes_the_same_whatever_its_memory_held_before);
    tcase_add_test(tcase, a_state_can_be_read_on_the_way_copied_and_used_again);
    tcase_add_test(tcase, integers_have_their_golden_mix);
    tcase_add_test(tcase, one_bit_of_an_integer_changes_about_half_of_its_hash);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
