/* leak_probe.c - a program with a leak on purpose, to show that a leak checker is really on.
 *
 *   leak_probe clean    frees what it takes
 *   leak_probe leak     loses one block
 *   leak_probe forked   loses one block inside a Check test, which runs in a child process */
#include <check.h>
#include <stdlib.h>
#include <string.h>

static void *volatile block;

/* In a function of its own, so that no register of the caller keeps the last pointer. */
static __attribute__((noinline)) void take(void)
{
    block = malloc(12345);
    memset(block, 1, 12345);
}

static __attribute__((noinline)) void lose(void)
{
    block = NULL;
}

START_TEST(test_that_leaks)
{
    take();
    lose();
}
END_TEST

static int run_forked(void)
{
    Suite *suite = suite_create("leak_probe");
    TCase *tcase = tcase_create("leak");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, test_that_leaks);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    if (strcmp(mode, "forked") == 0)
        return run_forked();
    take();
    if (strcmp(mode, "leak") == 0)
        lose();
    free(block);
    return 0;
}
