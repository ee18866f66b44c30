/* The conformance suite on every store: the same cases, and identical answers. */
#include "support/expect.h"
#include "support/store_suite.h"
#include "support/suite.h"

#include <stdio.h>

enum { TIMEOUT_S = 300 };

static uint32_t count_lines(const Tape *tape)
{
    uint32_t lines = 0;
    for (size_t i = 0; i < tape->len; i++) {
        lines += tape->text[i] == '\n';
    }
    return lines;
}

START_TEST(every_store_gives_the_same_answers)
{
    StoreBeds beds;
    store_beds_start(&beds);
    Tape first = {0};
    uint32_t first_cases = 0;
    for (int i = 0; i < beds.count; i++) {
        Tape tape = {0};
        uint32_t cases = store_suite_run(&beds.all[i], &tape);
        printf("store_conformance: %s: %u cases, %u answers\n", beds.all[i].name, cases,
               count_lines(&tape));
        if (i == 0) {
            first = tape;
            first_cases = cases;
            continue;
        }
        EXPECT(cases == first_cases, "not the same cases");
        tape_expect_same(&first, &tape);
        tape_release(&tape);
    }
    tape_release(&first);
    store_beds_end(&beds);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store_conformance");
    TCase *test_case = tcase_create("conformance");

    tcase_set_timeout(test_case, TIMEOUT_S);
    tcase_add_test(test_case, every_store_gives_the_same_answers);
    suite_add_tcase(suite, test_case);
    (void)pg_server_is_installed(); /* once for all tests */
    return suite_run(suite);
}
