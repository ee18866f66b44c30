/* suite.h - runs a suite of the check library as a program. */
#ifndef SAPLING_TESTS_SUITE_H
#define SAPLING_TESTS_SUITE_H

#include <check.h>
#include <stdlib.h>

/* The exit status for main(). Frees the suite. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);

    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
