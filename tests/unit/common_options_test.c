/* Options structs of programs that are older or newer than the library. */
#include "common/options.h"
#include "support/suite.h"

#include <string.h>

/* The struct as three releases had it. */
typedef struct First {
    uint32_t size;
    uint32_t a;
} First;

typedef struct Options {
    uint32_t size;
    uint32_t a;
    uint64_t b;
} Options;

typedef struct Later {
    uint32_t size;
    uint32_t a;
    uint64_t b;
    uint64_t c;
} Later;

OPTIONS_LAYOUT(Options, a, b);

static int read_options(const void *given, Options *known)
{
    memset(known, 0xEE, sizeof *known);
    return OPTIONS_READ(Options, known, given);
}

START_TEST(without_options_all_fields_are_zero)
{
    Options known;

    ck_assert_int_eq(read_options(NULL, &known), SAP_OK);
    ck_assert_uint_eq(known.size, sizeof known);
    ck_assert_uint_eq(known.a, 0);
    ck_assert_uint_eq(known.b, 0);
}
END_TEST

START_TEST(fields_beyond_the_size_are_not_read)
{
    Options known;
    Options given = {.size = sizeof(First), .a = 1, .b = 2};

    ck_assert_int_eq(read_options(&given, &known), SAP_OK);
    ck_assert_uint_eq(known.a, 1);
    ck_assert_uint_eq(known.b, 0);
}
END_TEST

START_TEST(a_size_of_zero_is_the_first_release)
{
    Options known;
    Options given = {.size = 0, .a = 1, .b = 2};

    ck_assert_int_eq(read_options(&given, &known), SAP_OK);
    ck_assert_uint_eq(known.a, 1);
    ck_assert_uint_eq(known.b, 0);
}
END_TEST

START_TEST(fields_within_the_size_are_read)
{
    Options known;
    Options given = {.size = sizeof given, .a = 1, .b = 2};

    ck_assert_int_eq(read_options(&given, &known), SAP_OK);
    ck_assert_uint_eq(known.a, 1);
    ck_assert_uint_eq(known.b, 2);
}
END_TEST

START_TEST(a_newer_program_is_served_unless_it_asks_for_what_is_not_known)
{
    Options known;
    Later given = {.size = sizeof given, .a = 1, .b = 2};

    ck_assert_int_eq(read_options(&given, &known), SAP_OK);
    ck_assert_uint_eq(known.size, sizeof known);
    ck_assert_uint_eq(known.a, 1);
    ck_assert_uint_eq(known.b, 2);
    given.c = 1;
    ck_assert_int_eq(read_options(&given, &known), SAP_ERROR);
    given.c = UINT64_C(1) << 63; /* the last byte counts too */
    ck_assert_int_eq(read_options(&given, &known), SAP_ERROR);
}
END_TEST

START_TEST(a_size_that_no_release_had_is_an_error)
{
    Options known;
    Options given = {.a = 1};
    const uint32_t wrong[] = {1, 4, sizeof(First) - 1, 4097, UINT32_MAX};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        given.size = wrong[i];
        ck_assert_int_eq(read_options(&given, &known), SAP_ERROR);
    }
}
END_TEST

START_TEST(what_was_read_can_be_read_again)
{
    Options known;
    Options again;
    Options given = {.size = sizeof given, .a = 1, .b = 2};

    ck_assert_int_eq(read_options(&given, &known), SAP_OK);
    ck_assert_int_eq(read_options(&known, &again), SAP_OK);
    ck_assert_uint_eq(again.b, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/options");
    TCase *tcase = tcase_create("options");

    tcase_add_test(tcase, without_options_all_fields_are_zero);
    tcase_add_test(tcase, fields_beyond_the_size_are_not_read);
    tcase_add_test(tcase, a_size_of_zero_is_the_first_release);
    tcase_add_test(tcase, fields_within_the_size_are_read);
    tcase_add_test(tcase, a_newer_program_is_served_unless_it_asks_for_what_is_not_known);
    tcase_add_test(tcase, a_size_that_no_release_had_is_an_error);
    tcase_add_test(tcase, what_was_read_can_be_read_again);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
