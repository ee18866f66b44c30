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

START_TEST(the_system_clocks_boot_time_never_goes_back_and_is_not_behind_monotonic_time)
{
    uint64_t last = clock_boot_ns(clock_system());

    for (int i = 0; i < 100000; i++) {
        uint64_t now = clock_boot_ns(clock_system());
        if (now < last) {
            ck_abort_msg("back by %" PRIu64 " ns", last - now);
        }
        last = now;
    }
    /* Read in this order: time passes between the two, and suspensions only add to boot time. */
    uint64_t mono = clock_mono_ns(clock_system());
    ck_assert_uint_ge(clock_boot_ns(clock_system()), mono);
}
END_TEST

#ifdef CLOCK_BOOTTIME
START_TEST(the_system_clocks_boot_time_is_the_kernels)
{
    struct timespec t;

    ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &t), 0);
    uint64_t before = (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
    uint64_t boot = clock_boot_ns(clock_system());
    ck_assert_int_eq(clock_gettime(CLOCK_BOOTTIME, &t), 0);
    uint64_t after = (uint64_t)t.tv_sec * 1000 * MS + (uint64_t)t.tv_nsec;
    ck_assert_uint_ge(boot, before);
    ck_assert_uint_le(boot, after);
}
END_TEST
#endif

START_TEST(no_clock_means_the_systems)
{
    ck_assert_int_lt(llabs(clock_wall_ms(NULL) - clock_wall_ms(clock_system())), 10000);
    ck_assert_int_lt(llabs((long long)(clock_wall_ns(NULL) - clock_wall_ns(clock_system()))),
                     (long long)(10000 * MS));
    ck_assert_uint_le(clock_mono_ns(NULL), clock_mono_ns(clock_system()));
    ck_assert_uint_le(clock_boot_ns(NULL), clock_boot_ns(clock_system()));
}
END_TEST

/* The three times of a manual clock, by name in the order in which they are compared. */
#define ASSERT_TIMES(clock, wall, mono, boot)                \
    do {                                                     \
        ck_assert_uint_eq(clock_wall_ns(clock), wall);       \
        ck_assert_int_eq(clock_wall_ms(clock), (wall) / MS); \
        ck_assert_uint_eq(clock_mono_ns(clock), mono);       \
        ck_assert_uint_eq(clock_boot_ns(clock), boot);       \
    } while (0)

#define MONO_NS MANUAL_CLOCK_MONO_START_NS
#define BOOT_NS MANUAL_CLOCK_BOOT_START_NS

START_TEST(a_manual_clock_stands_still_until_it_is_moved)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);

    for (int i = 0; i < 3; i++) {
        ASSERT_TIMES(&clock, START_NS, MONO_NS, BOOT_NS);
    }
}
END_TEST

START_TEST(advancing_moves_all_times_by_the_same)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);

    manual_clock_advance_ns(&manual, 5);
    ASSERT_TIMES(&clock, START_NS + 5, MONO_NS + 5, BOOT_NS + 5);
    manual_clock_advance_ms(&manual, 1000);
    ASSERT_TIMES(&clock, START_NS + 5 + 1000 * MS, MONO_NS + 5 + 1000 * MS,
                 BOOT_NS + 5 + 1000 * MS);
}
END_TEST

START_TEST(setting_the_wall_back_leaves_the_other_times_alone)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);

    manual_clock_set_wall_ns(&manual, 7 * MS);
    ASSERT_TIMES(&clock, 7 * MS, MONO_NS, BOOT_NS);
}
END_TEST

START_TEST(steps_of_the_wall_both_ways_leave_the_other_times_alone)
{
    const int64_t hour_ms = INT64_C(60) * 60 * 1000;
    const uint64_t hour_ns = (uint64_t)hour_ms * MS;
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);

    manual_clock_step_wall_ms(&manual, hour_ms);
    ASSERT_TIMES(&clock, START_NS + hour_ns, MONO_NS, BOOT_NS);
    manual_clock_step_wall_ms(&manual, -2 * hour_ms);
    ASSERT_TIMES(&clock, START_NS - hour_ns, MONO_NS, BOOT_NS);
    manual_clock_step_wall_ms(&manual, 0);
    ASSERT_TIMES(&clock, START_NS - hour_ns, MONO_NS, BOOT_NS);
}
END_TEST

START_TEST(monotonic_time_alone_stands_still_while_a_manual_clock_is_suspended)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);

    manual_clock_advance_ms(&manual, 10);
    manual_clock_suspend_ns(&manual, 3000 * MS);
    ASSERT_TIMES(&clock, START_NS + 3010 * MS, MONO_NS + 10 * MS, BOOT_NS + 3010 * MS);
    manual_clock_advance_ms(&manual, 1);
    ASSERT_TIMES(&clock, START_NS + 3011 * MS, MONO_NS + 11 * MS, BOOT_NS + 3011 * MS);
}
END_TEST

START_TEST(a_reboot_starts_boot_and_monotonic_time_again_and_wall_time_goes_on)
{
    ManualClock manual;
    manual_clock_init(&manual, START_NS);
    Clock clock = manual_clock(&manual);

    manual_clock_advance_ms(&manual, 86400000);
    manual_clock_suspend_ns(&manual, 5 * MS);
    uint64_t wall = clock_wall_ns(&clock);
    manual_clock_reboot(&manual, 30000 * MS);
    ASSERT_TIMES(&clock, wall + 30000 * MS, MONO_NS, BOOT_NS);
    manual_clock_advance_ms(&manual, 1);
    ASSERT_TIMES(&clock, wall + 30001 * MS, MONO_NS + MS, BOOT_NS + MS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/clock");
    TCase *tcase = tcase_create("clock");

    tcase_add_test(tcase, the_system_clock_tells_the_time_of_day);
    tcase_add_test(tcase, the_system_clocks_monotonic_time_never_goes_back_and_moves);
    tcase_add_test(tcase,
                   the_system_clocks_boot_time_never_goes_back_and_is_not_behind_monotonic_time);
#ifdef CLOCK_BOOTTIME
    tcase_add_test(tcase, the_system_clocks_boot_time_is_the_kernels);
#endif
    tcase_add_test(tcase, no_clock_means_the_systems);
    tcase_add_test(tcase, a_manual_clock_stands_still_until_it_is_moved);
    tcase_add_test(tcase, advancing_moves_all_times_by_the_same);
    tcase_add_test(tcase, setting_the_wall_back_leaves_the_other_times_alone);
    tcase_add_test(tcase, steps_of_the_wall_both_ways_leave_the_other_times_alone);
    tcase_add_test(tcase, monotonic_time_alone_stands_still_while_a_manual_clock_is_suspended);
    tcase_add_test(tcase, a_reboot_starts_boot_and_monotonic_time_again_and_wall_time_goes_on);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
