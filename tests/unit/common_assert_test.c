#include "common/assert.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(an_assertion_that_holds_evaluates_its_condition_once)
{
    int evaluated = 0;

    SAP_ASSERT(++evaluated == 1);
    ck_assert_int_eq(evaluated, 1);
}
END_TEST

START_TEST(an_assertion_that_does_not_hold_aborts)
{
    SAP_ASSERT(strlen("ab") == 3);
}
END_TEST

START_TEST(a_slow_assertion_that_does_not_hold_aborts)
{
    SAP_ASSERT_SLOW(strlen("ab") == 3);
}
END_TEST

/* What a failed assertion leaves on standard error, as a string. */
static void failure_text(const char *expr, char *text, size_t size)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        sap_assert_fail(expr, "dir/file.c", 12);
    }
    close(ends[1]);
    size_t len = 0;
    ssize_t got;
    while (len < size - 1 && (got = read(ends[0], text + len, size - 1 - len)) > 0) {
        len += (size_t)got;
    }
    text[len] = '\0';
    close(ends[0]);

    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(WTERMSIG(status), SIGABRT);
}

START_TEST(a_failed_assertion_names_its_place_and_condition_in_one_line)
{
    char text[2000];

    failure_text("x > 1", text, sizeof text);
    ck_assert_str_eq(text, "dir/file.c:12: assertion failed: x > 1\n");
}
END_TEST

START_TEST(a_condition_longer_than_the_line_is_cut_and_still_ends_the_line)
{
    char expr[1000];
    char text[2000];

    memset(expr, 'x', sizeof expr - 1);
    expr[sizeof expr - 1] = '\0';
    failure_text(expr, text, sizeof text);
    ck_assert_uint_gt(strlen(text), 400);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}
END_TEST

START_TEST(branch_hints_give_the_truth_of_their_condition)
{
    int value = 2;

    ck_assert_int_eq(sap_likely(value), 1);
    ck_assert_int_eq(sap_likely(value > 2), 0);
    ck_assert_int_eq(sap_unlikely(value), 1);
    ck_assert_int_eq(sap_unlikely(value > 2), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/assert");
    TCase *tcase = tcase_create("assert");

    tcase_add_test(tcase, an_assertion_that_holds_evaluates_its_condition_once);
    tcase_add_test_raise_signal(tcase, an_assertion_that_does_not_hold_aborts, SIGABRT);
    tcase_add_test_raise_signal(tcase, a_slow_assertion_that_does_not_hold_aborts, SIGABRT);
    tcase_add_test(tcase, a_failed_assertion_names_its_place_and_condition_in_one_line);
    tcase_add_test(tcase, a_condition_longer_than_the_line_is_cut_and_still_ends_the_line);
    tcase_add_test(tcase, branch_hints_give_the_truth_of_their_condition);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
