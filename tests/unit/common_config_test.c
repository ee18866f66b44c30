/* What a production build makes of fault points and slow assertions. */
#undef SAP_FAULTS
#define SAP_FAULTS 0
#undef SAP_SLOW_ASSERTS
#define SAP_SLOW_ASSERTS 0

#include "common/assert.h"
#include "common/fault.h"

#include <check.h>
#include <stdlib.h>

START_TEST(slow_assertions_that_are_off_evaluate_nothing)
{
    int evaluated = 0;

    SAP_ASSERT_SLOW(++evaluated == 7);
    ck_assert_int_eq(evaluated, 0);
}
END_TEST

START_TEST(fault_points_that_are_off_never_fail)
{
    ck_assert(!fault_alloc());
    ck_assert_int_eq(fault_io(), 0);
    ck_assert(!fault_busy());
    fault_step("nowhere");
}
END_TEST

START_TEST(every_switch_is_defined_as_a_number)
{
    ck_assert_int_eq(SAP_FAULTS, 0);
    ck_assert_int_eq(SAP_SLOW_ASSERTS, 0);
    ck_assert(SAPLING_THREADED == 0 || SAPLING_THREADED == 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/config");
    TCase *tcase = tcase_create("config");

    tcase_add_test(tcase, slow_assertions_that_are_off_evaluate_nothing);
    tcase_add_test(tcase, fault_points_that_are_off_never_fail);
    tcase_add_test(tcase, every_switch_is_defined_as_a_number);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
