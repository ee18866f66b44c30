/* The JSON forms that generated readers and writers share. */
#include "json/codec_json.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static void check_text(json_t *json, const char *expected)
{
    char *text = json_dumps(json, JSON_ENCODE_ANY | JSON_COMPACT);

    ck_assert_ptr_nonnull(text);
    ck_assert_str_eq(text, expected);
    free(text);
    json_decref(json);
}

static json_t *parsed(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

    ck_assert_ptr_nonnull(json);
    return json;
}

START_TEST(integers_are_numbers_up_to_where_all_readers_agree)
{
    check_text(codec_json_unsigned(9007199254740991), "9007199254740991");
    check_text(codec_json_unsigned(9007199254740992), "\"9007199254740992\"");
    check_text(codec_json_unsigned(UINT64_MAX), "\"18446744073709551615\"");
    check_text(codec_json_signed(-9007199254740991), "-9007199254740991");
    check_text(codec_json_signed(-9007199254740992), "\"-9007199254740992\"");
    check_text(codec_json_signed(INT64_MIN), "\"-9223372036854775808\"");
    check_text(codec_json_signed(INT64_MAX), "\"9223372036854775807\"");
}
END_TEST

START_TEST(integers_in_any_other_form_are_refused)
{
    static const char *const bad[] = {"\"1\"",
                                      "\"+9007199254740992\"",
                                      "\"09007199254740992\"",
                                      "\"9007199254740992 \"",
                                      "1.0",
                                      "\"18446744073709551616\"",
                                      "true",
                                      "null",
                                      "\"\"",
                                      "\"9007199254740992\\u0000\""};
    uint64_t u = 7;
    int64_t s = 7;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json_t *json = parsed(bad[i]);
        ck_assert_msg(codec_json_read_unsigned(json, UINT64_MAX, &u, NULL) == SAP_INVALID, "%s",
                      bad[i]);
        ck_assert_int_eq(codec_json_read_signed(json, INT64_MIN, INT64_MAX, &s, NULL), SAP_INVALID);
        json_decref(json);
    }
    json_t *json = parsed("-1");
    ck_assert_int_eq(codec_json_read_unsigned(json, UINT64_MAX, &u, NULL), SAP_INVALID);
    json_decref(json);
    json = parsed("\"9223372036854775808\"");
    ck_assert_int_eq(codec_json_read_signed(json, INT64_MIN, INT64_MAX, &s, NULL), SAP_INVALID);
    json_decref(json);
    json = parsed("\"-9223372036854775808\"");
    ck_assert_int_eq(codec_json_read_signed(json, INT64_MIN, INT64_MAX, &s, NULL), SAP_OK);
    ck_assert_int_eq(s, INT64_MIN);
    ck_assert_uint_eq(u, 7);
    json_decref(json);
}
END_TEST

START_TEST(reals_that_json_lacks_are_strings)
{
    uint64_t bits = 0xfff8000000000123;
    double nan;
    double v;
    float f;

    memcpy(&nan, &bits, sizeof nan);
    check_text(codec_json_real(1.5), "1.5");
    check_text(codec_json_real(-0.0), "-0.0");
    check_text(codec_json_real(INFINITY), "\"Infinity\"");
    check_text(codec_json_real(-INFINITY), "\"-Infinity\"");
    check_text(codec_json_real(nan), "\"nan:fff8000000000123\"");
    check_text(codec_json_real32((float)0.1), "0.10000000149011612");
    json_t *json = parsed("\"nan:fff8000000000123\"");
    ck_assert_int_eq(codec_json_read_real(json, &v, NULL), SAP_OK);
    ck_assert_mem_eq(&v, &nan, sizeof v);
    ck_assert_int_eq(codec_json_read_real32(json, &f, NULL), SAP_INVALID);
    json_decref(json);
    json = parsed("\"nan:0000000000000000\"");
    ck_assert_int_eq(codec_json_read_real(json, &v, NULL), SAP_INVALID);
    json_decref(json);
    json = parsed("0.1");
    ck_assert_int_eq(codec_json_read_real32(json, &f, NULL), SAP_INVALID);
    json_decref(json);
}
END_TEST

START_TEST(texts_that_go_on_and_integers_that_reals_lack_are_refused)
{
    static const char *const names[] = {"open", "paid"};
    static const char *const bad[] = {"\"Infinity\\u0000x\"", "\"-Infinity\\u0000\"",
                                      "9007199254740993",     "-9007199254740993",
                                      "9223372036854775807",  "\"nan:fff8000000000123\\u0000\""};
    static const char *const good[] = {"9007199254740992", "-9223372036854775808",
                                       "9007199254740994"};
    double v = 7;
    uint32_t number = 7;
    uint8_t bits[1] = {0};
    const json_t *value;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json_t *json = parsed(bad[i]);
        ck_assert_msg(codec_json_read_real(json, &v, NULL) == SAP_INVALID, "%s", bad[i]);
        json_decref(json);
    }
    ck_assert(v == 7);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        json_t *json = parsed(good[i]);
        ck_assert_int_eq(codec_json_read_real(json, &v, NULL), SAP_OK);
        ck_assert(v == strtod(good[i], NULL));
        json_decref(json);
    }
    json_t *json = parsed("\"paid\\u0000junk\"");
    ck_assert_int_eq(codec_json_read_case(json, names, 2, &number, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_json_read_variant(json, names, 2, &number, &value, NULL), SAP_INVALID);
    json_decref(json);
    json = parsed("[\"paid\\u0000\"]");
    ck_assert_int_eq(codec_json_read_flags(json, names, 2, bits, NULL), SAP_INVALID);
    json_decref(json);
    ck_assert_uint_eq(number, 7);
    ck_assert_uint_eq(bits[0], 0);
}
END_TEST

START_TEST(characters_and_bytes_have_one_form)
{
    static const struct {
        uint32_t c;
        const char *json;
    } chars[] = {{'a', "\"a\""},
                 {0xfc, "\"\xc3\xbc\""},
                 {0x20ac, "\"\xe2\x82\xac\""},
                 {0x1f331, "\"\xf0\x9f\x8c\xb1\""}};
    static const char *const bad[] = {"\"\"", "\"ab\"", "7", "null"};
    static const char *const bad_bytes[] = {"\"0\"", "\"0g\"", "\"0A\"", "7"};
    CodecBytes bytes = {0};
    uint32_t c;

    for (size_t i = 0; i < sizeof chars / sizeof chars[0]; i++) {
        check_text(codec_json_char(chars[i].c), chars[i].json);
        json_t *json = parsed(chars[i].json);
        ck_assert_int_eq(codec_json_read_char(json, &c, NULL), SAP_OK);
        ck_assert_uint_eq(c, chars[i].c);
        json_decref(json);
    }
    for (size_t i = 0; i < 4; i++) {
        json_t *json = parsed(bad[i]);
        ck_assert_int_eq(codec_json_read_char(json, &c, NULL), SAP_INVALID);
        json_decref(json);
        json = parsed(bad_bytes[i]);
        ck_assert_int_eq(codec_json_read_bytes(json, &bytes, NULL), SAP_INVALID);
        codec_bytes_free(&bytes);
        json_decref(json);
    }
    json_t *json = parsed("\"00ff7a\"");
    ck_assert_int_eq(codec_json_read_bytes(json, &bytes, NULL), SAP_OK);
    ck_assert_uint_eq(bytes.len, 3);
    ck_assert_mem_eq(bytes.data, "\0\xffz", 3);
    json_decref(json);
    check_text(codec_json_bytes(&bytes), "\"00ff7a\"");
    codec_bytes_free(&bytes);
}
END_TEST

START_TEST(a_string_may_hold_any_character_and_an_array_is_nothing_else)
{
    CodecBytes bytes = {0};
    uint32_t count = 0;
    json_t *json = parsed("\"a\\u0000\xc3\xbc\"");

    ck_assert_int_eq(codec_json_read_string(json, &bytes, NULL), SAP_OK);
    ck_assert_uint_eq(bytes.len, 4);
    ck_assert_mem_eq(bytes.data, "a\0\xc3\xbc", 4);
    ck_assert_int_eq(codec_json_read_array(json, &count, NULL), SAP_INVALID);
    json_decref(json);
    check_text(codec_json_string(&bytes), "\"a\\u0000\xc3\xbc\"");
    codec_bytes_free(&bytes);
    json = parsed("[1,2]");
    ck_assert_int_eq(codec_json_read_array(json, &count, NULL), SAP_OK);
    ck_assert_uint_eq(count, 2);
    ck_assert_int_eq(codec_json_read_string(json, &bytes, NULL), SAP_INVALID);
    json_decref(json);
}
END_TEST

START_TEST(names_are_known_and_there_once)
{
    static const char *const names[] = {"a", "b", "c"};
    static const char *const bad_flags[] = {"[\"a\",\"a\"]", "[\"d\"]", "[1]", "\"a\"", "{}"};
    static const char *const bad_variants[] = {"\"d\"", "{\"d\":1}", "{\"a\":1,\"b\":2}", "{}",
                                               "1"};
    static const uint8_t set = 5;
    const json_t *value;
    uint32_t number = 0;
    uint8_t bits = 0;

    check_text(codec_json_flags(&set, names, 3), "[\"a\",\"c\"]");
    json_t *json = parsed("[\"c\",\"a\"]");
    ck_assert_int_eq(codec_json_read_flags(json, names, 3, &bits, NULL), SAP_OK);
    ck_assert_uint_eq(bits, 5);
    json_decref(json);
    for (size_t i = 0; i < 5; i++) {
        json = parsed(bad_flags[i]);
        bits = 0;
        ck_assert_msg(codec_json_read_flags(json, names, 3, &bits, NULL) == SAP_INVALID, "%s",
                      bad_flags[i]);
        json_decref(json);
        json = parsed(bad_variants[i]);
        ck_assert_msg(codec_json_read_variant(json, names, 3, &number, &value, NULL) == SAP_INVALID,
                      "%s", bad_variants[i]);
        json_decref(json);
    }
    json = parsed("{\"b\":7}");
    ck_assert_int_eq(codec_json_read_variant(json, names, 3, &number, &value, NULL), SAP_OK);
    ck_assert_uint_eq(number, 1);
    ck_assert_int_eq(json_integer_value(value), 7);
    ck_assert_int_eq(codec_json_read_nothing(value, false, NULL), SAP_INVALID);
    ck_assert_int_eq(codec_json_read_nothing(NULL, false, NULL), SAP_OK);
    ck_assert_int_eq(codec_json_read_nothing(NULL, true, NULL), SAP_INVALID);
    json_decref(json);
    check_text(codec_json_one("x", json_null()), "{\"x\":null}");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit/json");
    TCase *tcase = tcase_create("json");

    tcase_add_test(tcase, integers_are_numbers_up_to_where_all_readers_agree);
    tcase_add_test(tcase, integers_in_any_other_form_are_refused);
    tcase_add_test(tcase, reals_that_json_lacks_are_strings);
    tcase_add_test(tcase, texts_that_go_on_and_integers_that_reals_lack_are_refused);
    tcase_add_test(tcase, characters_and_bytes_have_one_form);
    tcase_add_test(tcase, a_string_may_hold_any_character_and_an_array_is_nothing_else);
    tcase_add_test(tcase, names_are_known_and_there_once);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
