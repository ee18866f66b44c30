#include "common/utf8.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* The bytes of a code point, by the definition; returns how many. */
static size_t encode(uint32_t code, uint8_t out[4])
{
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (uint8_t)(0xc0 + code / 64);
        out[1] = (uint8_t)(0x80 + code % 64);
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (uint8_t)(0xe0 + code / 4096);
        out[1] = (uint8_t)(0x80 + code / 64 % 64);
        out[2] = (uint8_t)(0x80 + code % 64);
        return 3;
    }
    out[0] = (uint8_t)(0xf0 + code / 262144);
    out[1] = (uint8_t)(0x80 + code / 4096 % 64);
    out[2] = (uint8_t)(0x80 + code / 64 % 64);
    out[3] = (uint8_t)(0x80 + code % 64);
    return 4;
}

START_TEST(every_code_point_but_the_surrogates_is_decoded)
{
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        uint8_t bytes[4];
        uint32_t got = 0;
        size_t len = encode(code, bytes);
        size_t used = utf8_decode(bytes, len, &got);

        if (code >= 0xd800 && code <= 0xdfff) {
            ck_assert(got == UTF8_BAD && used == 1 && !utf8_valid(bytes, len));
        } else if (got != code || used != len || !utf8_valid(bytes, len)) {
            ck_abort_msg("U+%04x", code);
        }
    }
}
END_TEST

START_TEST(values_above_the_last_code_point_are_ill_formed)
{
    uint8_t bytes[4];
    uint32_t code;

    for (uint32_t value = 0x110000; value < 0x200000; value += 4093) {
        size_t len = encode(value, bytes);
        ck_assert_uint_eq(utf8_decode(bytes, len, &code), 1);
        ck_assert_uint_eq(code, UTF8_BAD);
    }
}
END_TEST

START_TEST(each_longest_start_of_a_broken_sequence_is_one_replacement)
{
    static const struct {
        const char *bytes;
        size_t used[6];
    } cases[] = {
        {"\x80", {1}},
        {"\xc0\xaf", {1, 1}},        /* overlong */
        {"\xe0\x80\xaf", {1, 1, 1}}, /* overlong */
        {"\xf0\x80\x80\xaf", {1, 1, 1, 1}},
        {"\xed\xa0\x80", {1, 1, 1}}, /* surrogate */
        {"\xf4\x91\x92\x93", {1, 1, 1, 1}},
        {"\xff\xfe", {1, 1}},
        {"\xc3", {1}}, /* cut */
        {"\xe2\x82", {2}},
        {"\xf0\x9f\x98", {3}},
        {"\xe2\x82\xe2\x82", {2, 2}},
        {"\xf1\x80\x80\xe1\x80\xc2", {3, 2, 1}},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = strlen(cases[i].bytes);
        size_t at = 0;
        /* Of exactly its size, so that the address sanitizer sees a read beyond it. */
        uint8_t *exact = malloc(len);

        memcpy(exact, cases[i].bytes, len);
        ck_assert(!utf8_valid(exact, len));
        for (size_t step = 0; at < len; step++) {
            uint32_t code;
            size_t used = utf8_decode(exact + at, len - at, &code);
            ck_assert_msg(used == cases[i].used[step] && code == UTF8_BAD, "case %zu", i);
            at += used;
        }
        ck_assert_uint_eq(at, len);
        free(exact);
    }
}
END_TEST

START_TEST(a_text_is_valid_only_if_all_of_it_is)
{
    ck_assert(utf8_valid(NULL, 0));
    ck_assert(utf8_valid("gr\xc3\xbc\xc3\x9f dich \xf0\x9f\x8c\xb1", 16));
    ck_assert(!utf8_valid("gr\xc3\xbc\xc3", 5));
    ck_assert(utf8_valid("a\0b", 3));
    /* The replacement character itself is text like any other. */
    ck_assert(utf8_valid("\xef\xbf\xbd", 3));
}
END_TEST

START_TEST(a_prefix_cuts_no_code_point)
{
    static const char text[] = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x8c\xb1z"; /* 1, 2, 3, 4, 1 bytes */
    static const size_t kept[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
    for (size_t most = 0; most < sizeof kept / sizeof *kept; most++) {
        ck_assert_uint_eq(utf8_prefix(text, sizeof text - 1, most), kept[most]);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/utf8");
    TCase *tcase = tcase_create("utf8");

    tcase_add_test(tcase, every_code_point_but_the_surrogates_is_decoded);
    tcase_add_test(tcase, values_above_the_last_code_point_are_ill_formed);
    tcase_add_test(tcase, each_longest_start_of_a_broken_sequence_is_one_replacement);
    tcase_add_test(tcase, a_text_is_valid_only_if_all_of_it_is);
    tcase_add_test(tcase, a_prefix_cuts_no_code_point);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
