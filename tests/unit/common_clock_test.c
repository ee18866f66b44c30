#include "common/clock.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#define MS       UINT64_C(1000000)
#define START_NS (UINT64_C(1700000000123) * MS + 456789)

START_TEST(the_system_clock_tells_the_time_of_day)
{
    time_t before = time(NULL);
    uint64_t ns = clock_wall_ns(clock_system());
    int64_t ms = clock_wall_ms(clock_system());
    time_t after = time(NULL);

    /* time() may read a clock that is a tick behind. */
    ck_assert_int_ge((int64_t)(ns / (1000 * MS)), before);
    ck_assert_int_le((int64_t)(ns / (1000 * MS)), after + 1);
    ck_assert_int_ge(ms, (int64_t)(ns / MS));
    ck_assert_int_lt(ms - (int64_t)(ns / MS), 10000);
}
END_TEST

START_TEST(the_system_clocks_monotonic_time_never_goes_back_and_moves)
{
    uint64_t start = clock_mono_ns(clock_system());
    uint64_t last = start;

    for (int i = 0; i < 100000; i++) {
        uint64_t now = clock_mono_ns(clock_system());
        if (now < last) {
            ck_abort_msg("back by %" PRIu64 " ns", last - now);
        }
        last = now;
    }
    ck_assert_uint_gt(last, start);
}
END_TEST

START_TEST(no_clock_means_the_systems)
{
    ck_assert_int_lt(llabs(clock_wall_ms(NULL) - clock_wall_ms(clock_system())), 10000);
    ck_assert_int_lt(llabs((long long)(clock_wall_ns(NULL) - clock_wall_ns(clock_system()))),
                     (long long)(10000 * MS));
    ck_assert_uint_le(clock_mono_ns(NULL), clock_mono_ns(clock_system()));
}
END_TEST

START_TEST(a_manual_clock_stands_still_until_it_is_moved)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);
    uint64_t mono = clock_mono_ns(&clock);

    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(clock_wall_ns(&clock), START_NS);
        ck_assert_int_eq(clock_wall_ms(&clock), INT64_C(1700000000123));
        ck_assert_uint_eq(clock_mono_ns(&clock), mono);
    }
    ck_assert_uint_eq(mono, MANUAL_CLOCK_MONO_START_NS);
}
END_TEST

START_TEST(advancing_moves_both_times_by_the_same)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);
    uint64_t mono = clock_mono_ns(&clock);

    manual_clock_advance_ns(&manual, 5);
    ck_assert_uint_eq(clock_wall_ns(&clock), START_NS + 5);
    ck_assert_uint_eq(clock_mono_ns(&clock), mono + 5);
    manual_clock_advance_ms(&manual, 1000);
    ck_assert_uint_eq(clock_wall_ns(&clock), START_NS + 5 + 1000 * MS);
    ck_assert_uint_eq(clock_mono_ns(&clock), mono + 5 + 1000 * MS);
    ck_assert_int_eq(clock_wall_ms(&clock), INT64_C(1700000001123));
}
END_TEST

START_TEST(setting_the_wall_back_leaves_monotonic_time_alone)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);
    uint64_t mono = clock_mono_ns(&clock);

    manual_clock_set_wall_ns(&manual, 7 * MS);
    ck_assert_uint_eq(clock_wall_ns(&clock), 7 * MS);
    ck_assert_int_eq(clock_wall_ms(&clock), 7);
    ck_assert_uint_eq(clock_mono_ns(&clock), mono);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/clock");
    TCase *tcase = tcase_create("clock");

    tcase_add_test(tcase, the_system_clock_tells_the_time_of_day);
    tcase_add_test(tcase, the_system_clocks_monotonic_time_never_goes_back_and_moves);
    tcase_add_test(tcase, no_clock_means_the_systems);
    tcase_add_test(tcase, a_manual_clock_stands_still_until_it_is_moved);
    tcase_add_test(tcase, advancing_moves_both_times_by_the_same);
    tcase_add_test(tcase, setting_the_wall_back_leaves_monotonic_time_alone);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
