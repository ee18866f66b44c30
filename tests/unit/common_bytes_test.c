#include "common/bytes.h"
#include "common/random.h"
#include "support/choice.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Nine places, so that every alignment of an eight-byte value occurs. */
enum { PLACES = 9 };

START_TEST(little_endian_values_have_their_lowest_byte_first_at_every_alignment)
{
    static const uint8_t bytes[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    uint8_t room[PLACES + 8];

    for (size_t at = 0; at < PLACES; at++) {
        store_u16le(room + at, 0x7788);
        ck_assert_mem_eq(room + at, bytes, 2);
        ck_assert_uint_eq(load_u16le(room + at), 0x7788);
        store_u32le(room + at, UINT32_C(0x55667788));
        ck_assert_mem_eq(room + at, bytes, 4);
        ck_assert_uint_eq(load_u32le(room + at), UINT32_C(0x55667788));
        store_u64le(room + at, UINT64_C(0x1122334455667788));
        ck_assert_mem_eq(room + at, bytes, 8);
        ck_assert_uint_eq(load_u64le(room + at), UINT64_C(0x1122334455667788));
    }
}
END_TEST

START_TEST(big_endian_values_have_their_highest_byte_first_at_every_alignment)
{
    static const uint8_t bytes[8] = {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88};
    uint8_t room[PLACES + 8];

    for (size_t at = 0; at < PLACES; at++) {
        store_u16be(room + at, 0x1122);
        ck_assert_mem_eq(room + at, bytes, 2);
        ck_assert_uint_eq(load_u16be(room + at), 0x1122);
        store_u32be(room + at, UINT32_C(0x11223344));
        ck_assert_mem_eq(room + at, bytes, 4);
        ck_assert_uint_eq(load_u32be(room + at), UINT32_C(0x11223344));
        store_u64be(room + at, UINT64_C(0x1122334455667788));
        ck_assert_mem_eq(room + at, bytes, 8);
        ck_assert_uint_eq(load_u64be(room + at), UINT64_C(0x1122334455667788));
    }
}
END_TEST

START_TEST(stores_touch_only_their_own_bytes)
{
    uint8_t room[10];

    memset(room, 0xee, sizeof room);
    store_u64be(room + 1, 0);
    ck_assert_uint_eq(room[0], 0xee);
    ck_assert_uint_eq(room[9], 0xee);
    store_u32le(room + 3, UINT32_MAX);
    store_u16le(room + 4, 0);
    ck_assert_uint_eq(room[2], 0);
    ck_assert_uint_eq(room[3], 0xff);
    ck_assert_uint_eq(room[6], 0xff);
    ck_assert_uint_eq(room[7], 0);
}
END_TEST

START_TEST(signed_keys_have_their_golden_bytes)
{
    static const struct {
        int64_t value;
        uint8_t bytes[8];
    } cases[] = {
        {INT64_MIN, {0}},
        {-1, {0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {0, {0x80}},
        {1, {0x80, 0, 0, 0, 0, 0, 0, 1}},
        {INT64_MAX, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t key[8];
        store_i64be_key(key, cases[i].value);
        ck_assert_mem_eq(key, cases[i].bytes, 8);
        ck_assert_int_eq(load_i64be_key(key), cases[i].value);
    }
}
END_TEST

START_TEST(signed_keys_sort_as_their_numbers_do)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("signed keys: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;
        rng_seed(&rng, seed);
        for (int i = 0; i < 1000; i++) {
            /* Shifted, so that small numbers of both signs are common. */
            int64_t a = (int64_t)rng_next(&rng) >> rng_below(&rng, 64);
            int64_t b = (int64_t)rng_next(&rng) >> rng_below(&rng, 64);
            uint8_t ka[8], kb[8];

            store_i64be_key(ka, a);
            store_i64be_key(kb, b);
            ck_assert_msg(bytes_compare(ka, 8, kb, 8) == (a > b) - (a < b),
                          "seed %" PRIu64 ": %" PRId64 " against %" PRId64, seed, a, b);
            ck_assert_int_eq(load_i64be_key(ka), a);
        }
    }
}
END_TEST

START_TEST(head_is_the_first_four_bytes_padded_with_zeros)
{
    static const uint8_t key[5] = {0xa1, 0xb2, 0xc3, 0xd4, 0xe5};
    static const uint32_t heads[6] = {0,          0xa1000000, 0xa1b20000,
                                      0xa1b2c300, 0xa1b2c3d4, 0xa1b2c3d4};

    for (size_t len = 0; len <= sizeof key; len++) {
        /* A block of exactly that size lets the address sanitizer see a read beyond it. */
        uint8_t *exact = malloc(len + (len == 0));
        memcpy(exact, key, len);
        ck_assert_uint_eq(load_head_be(exact, len), heads[len]);
        free(exact);
    }
    ck_assert_uint_eq(load_head_be(NULL, 0), 0);
}
END_TEST

START_TEST(common_prefix_ends_at_the_first_difference_wherever_it_is)
{
    enum { MAX = 40 };

    for (size_t max = 0; max <= MAX; max++) {
        uint8_t *a = calloc(1, max + 1);
        uint8_t *b = calloc(1, max + 1);

        ck_assert_uint_eq(bytes_common_prefix(a, b, max), max);
        for (size_t at = 0; at < max; at++) {
            for (int bit = 0; bit < 8; bit++) {
                b[at] = (uint8_t)(1 << bit);
                /* Whatever follows the first difference must not matter. */
                b[max - 1] |= 0x55;
                ck_assert_uint_eq(bytes_common_prefix(a, b, max), at);
                b[max - 1] = 0;
                b[at] = 0;
            }
        }
        b[max] = 1;
        ck_assert_uint_eq(bytes_common_prefix(a, b, max), max);
        free(a);
        free(b);
    }
}
END_TEST

/* Byte by byte, as the definition says it. */
static int naive_compare(const uint8_t *a, size_t alen, const uint8_t *b, size_t blen)
{
    for (size_t i = 0; i < alen || i < blen; i++) {
        if (i == alen || i == blen) {
            return i == alen ? -1 : 1;
        }
        if (a[i] != b[i]) {
            return a[i] < b[i] ? -1 : 1;
        }
    }
    return 0;
}

START_TEST(comparison_agrees_with_its_definition)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("comparison: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;
        rng_seed(&rng, seed);
        for (int i = 0; i < 2000; i++) {
            static const uint8_t alphabet[3] = {0x00, 0x7f, 0x80};
            uint8_t a[6], b[6];
            size_t alen = (size_t)rng_below(&rng, 7);
            size_t blen = (size_t)rng_below(&rng, 7);

            for (size_t j = 0; j < 6; j++) {
                a[j] = alphabet[rng_below(&rng, 3)];
                b[j] = rng_chance(&rng, 3, 4) ? a[j] : alphabet[rng_below(&rng, 3)];
            }
            ck_assert_msg(bytes_compare(a, alen, b, blen) == naive_compare(a, alen, b, blen),
                          "seed %" PRIu64 ", pair %d", seed, i);
        }
    }
}
END_TEST

START_TEST(comparison_puts_a_prefix_first_and_accepts_null_for_nothing)
{
    ck_assert_int_eq(bytes_compare("ab", 2, "abc", 3), -1);
    ck_assert_int_eq(bytes_compare("abc", 3, "ab", 2), 1);
    ck_assert_int_eq(bytes_compare("abc", 3, "abc", 3), 0);
    ck_assert_int_eq(bytes_compare("\x80", 1, "\x7f", 1), 1);
    ck_assert_int_eq(bytes_compare(NULL, 0, NULL, 0), 0);
    ck_assert_int_eq(bytes_compare(NULL, 0, "a", 1), -1);
    ck_assert_int_eq(bytes_compare("a", 1, NULL, 0), 1);
}
END_TEST

START_TEST(aligning_up_gives_the_next_multiple_and_wraps_at_the_end)
{
    ck_assert_uint_eq(align_up_u32(0, 8), 0);
    ck_assert_uint_eq(align_up_u32(1, 8), 8);
    ck_assert_uint_eq(align_up_u32(8, 8), 8);
    ck_assert_uint_eq(align_up_u32(9, 1), 9);
    ck_assert_uint_eq(align_up_u32(UINT32_MAX, 16), 0);
    ck_assert_uint_eq(align_up_u64(4097, 4096), 8192);
    ck_assert_uint_eq(align_up_u64(UINT64_C(0x100000001), 2), UINT64_C(0x100000002));
    ck_assert_uint_eq(align_up_u64(UINT64_MAX, 4096), 0);
}
END_TEST

START_TEST(powers_of_two_have_exactly_one_bit)
{
    ck_assert(!is_pow2(0));
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t v = UINT64_C(1) << bit;
        ck_assert(is_pow2(v));
        ck_assert(!is_pow2(v | UINT64_C(1) << ((bit + 1) % 64)));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/bytes");
    TCase *tcase = tcase_create("bytes");

    tcase_add_test(tcase, little_endian_values_have_their_lowest_byte_first_at_every_alignment);
    tcase_add_test(tcase, big_endian_values_have_their_highest_byte_first_at_every_alignment);
    tcase_add_test(tcase, stores_touch_only_their_own_bytes);
    tcase_add_test(tcase, signed_keys_have_their_golden_bytes);
    tcase_add_test(tcase, signed_keys_sort_as_their_numbers_do);
    tcase_add_test(tcase, head_is_the_first_four_bytes_padded_with_zeros);
    tcase_add_test(tcase, common_prefix_ends_at_the_first_difference_wherever_it_is);
    tcase_add_test(tcase, comparison_agrees_with_its_definition);
    tcase_add_test(tcase, comparison_puts_a_prefix_first_and_accepts_null_for_nothing);
    tcase_add_test(tcase, aligning_up_gives_the_next_multiple_and_wraps_at_the_end);
    tcase_add_test(tcase, powers_of_two_have_exactly_one_bit);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
