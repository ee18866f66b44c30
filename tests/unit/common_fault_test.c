#include "common/fault.h"

#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(unarmed_points_never_fire_and_are_counted)
{
    fault_reset();
    for (int i = 0; i < 5; i++) {
        ck_assert(!fault_alloc());
    }
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(fault_io(), 0);
    }
    for (int i = 0; i < 3; i++) {
        ck_assert(!fault_busy());
    }
    fault_step("one");
    fault_step("two");
    ck_assert_uint_eq(fault_alloc_count(), 5);
    ck_assert_uint_eq(fault_io_count(), 4);
    ck_assert_uint_eq(fault_busy_count(), 3);
    ck_assert_uint_eq(fault_step_count(), 2);
    ck_assert_uint_eq(fault_fired(), 0);
}
END_TEST

START_TEST(an_armed_allocation_fails_at_the_nth_call_from_now_and_only_there)
{
    fault_reset();
    (void)fault_alloc();
    (void)fault_alloc();
    fault_arm_alloc(3);
    ck_assert(!fault_alloc());
    ck_assert(!fault_alloc());
    ck_assert(fault_alloc());
    ck_assert(!fault_alloc());
    ck_assert_uint_eq(fault_fired(), 1);
    ck_assert_uint_eq(fault_alloc_count(), 6);
}
END_TEST

START_TEST(armed_from_the_nth_call_all_later_ones_fail_too)
{
    fault_reset();
    fault_arm_alloc_from(2);
    ck_assert(!fault_alloc());
    for (int i = 0; i < 10; i++) {
        ck_assert(fault_alloc());
    }
    ck_assert_uint_eq(fault_fired(), 10);
}
END_TEST

START_TEST(armed_io_answers_with_the_error_to_fake)
{
    fault_reset();
    fault_arm_io(2, ENOSPC);
    ck_assert_int_eq(fault_io(), 0);
    ck_assert_int_eq(fault_io(), ENOSPC);
    ck_assert_int_eq(fault_io(), 0);
    fault_arm_io_from(1, EIO);
    ck_assert_int_eq(fault_io(), EIO);
    ck_assert_int_eq(fault_io(), EIO);
    ck_assert_uint_eq(fault_fired(), 3);
}
END_TEST

START_TEST(armed_busy_fires_once)
{
    fault_reset();
    fault_arm_busy(1);
    ck_assert(fault_busy());
    ck_assert(!fault_busy());
}
END_TEST

START_TEST(arming_again_replaces_and_arming_with_zero_disarms)
{
    fault_reset();
    fault_arm_alloc_from(1);
    fault_arm_alloc(2);
    ck_assert(!fault_alloc());
    ck_assert(fault_alloc());
    ck_assert(!fault_alloc());
    fault_arm_alloc_from(1);
    fault_arm_alloc(0);
    ck_assert(!fault_alloc());
    ck_assert_uint_eq(fault_fired(), 1);
}
END_TEST

START_TEST(kinds_are_armed_apart)
{
    fault_reset();
    fault_arm_alloc(1);
    ck_assert_int_eq(fault_io(), 0);
    ck_assert(!fault_busy());
    fault_step("still alive");
    ck_assert(fault_alloc());
}
END_TEST

START_TEST(reset_disarms_and_forgets)
{
    fault_arm_alloc_from(1);
    fault_arm_io_from(1, EIO);
    fault_arm_busy(1);
    fault_arm_crash(1);
    ck_assert(fault_alloc());
    fault_reset();
    ck_assert_uint_eq(fault_alloc_count(), 0);
    ck_assert_uint_eq(fault_fired(), 0);
    ck_assert(!fault_alloc());
    ck_assert_int_eq(fault_io(), 0);
    ck_assert(!fault_busy());
    fault_step("still alive");
}
END_TEST

static void must_not_run(void)
{
    _exit(1);
}

START_TEST(an_armed_crash_ends_the_process_at_its_step_without_cleanup)
{
    for (uint64_t nth = 1; nth <= 4; nth++) {
        pid_t pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
            atexit(must_not_run);
            fault_reset();
            fault_arm_crash(nth);
            fault_step("one");
            fault_step("two");
            fault_step("three");
            _exit(fault_step_count() == 3 ? 7 : 8);
        }
        int status;
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), nth <= 3 ? FAULT_CRASH_STATUS : 7);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/fault");
    TCase *tcase = tcase_create("fault");

    tcase_add_test(tcase, unarmed_points_never_fire_and_are_counted);
    tcase_add_test(tcase, an_armed_allocation_fails_at_the_nth_call_from_now_and_only_there);
    tcase_add_test(tcase, armed_from_the_nth_call_all_later_ones_fail_too);
    tcase_add_test(tcase, armed_io_answers_with_the_error_to_fake);
    tcase_add_test(tcase, armed_busy_fires_once);
    tcase_add_test(tcase, arming_again_replaces_and_arming_with_zero_disarms);
    tcase_add_test(tcase, kinds_are_armed_apart);
    tcase_add_test(tcase, reset_disarms_and_forgets);
    tcase_add_test(tcase, an_armed_crash_ends_the_process_at_its_step_without_cleanup);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
