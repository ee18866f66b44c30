#include "common/ids.h"
#include "sapling/error.h"
#include "support/choice.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS       UINT64_C(1000000)
#define START_MS UINT64_C(1700000000123)

/* Gives the same byte forever, or fails. */
typedef struct FixedSource {
    uint8_t byte;
    int rc;
} FixedSource;

static int fill_fixed(void *ctx, void *out, size_t len)
{
    const FixedSource *fixed = ctx;

    memset(out, fixed->byte, len);
    return fixed->rc;
}

static void check_text(Id128 id, const char *text)
{
    char got[ID_TEXT_LEN + 1];

    id_format(id, got);
    ck_assert_str_eq(got, text);
}

START_TEST(an_id_has_the_layout_of_version_seven)
{
    ManualClock manual;
    FixedSource fixed = {0xff, SAP_OK};
    Random random = {fill_fixed, &fixed};
    IdGen gen;
    Id128 id;

    /* 1700000000123 is 18bcfe5687b in hexadecimal. */
    manual_clock_init(&manual, START_MS * MS);
    Clock clock = manual_clock(&manual);
    idgen_init(&gen, &clock, &random);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687b-7fff-bfff-ffffffffffff");

    fixed.byte = 0;
    manual_clock_advance_ms(&manual, 1);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687c-7000-8000-000000000000");
    /* The smallest step within a millisecond is one. */
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687c-7000-8000-000000000001");
}
END_TEST

START_TEST(a_tail_that_overflows_its_lower_part_carries_into_the_upper)
{
    ManualClock manual;
    FixedSource fixed = {0, SAP_OK};
    Random random = {fill_fixed, &fixed};
    IdGen gen;
    Id128 id;

    manual_clock_init(&manual, START_MS * MS);
    Clock clock = manual_clock(&manual);
    idgen_init(&gen, &clock, &random);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    gen.tail_high = 0x123;
    gen.tail_low = (UINT64_C(1) << 62) - 1;
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687b-7124-8000-000000000000");
}
END_TEST

START_TEST(a_full_tail_moves_the_time_one_ahead_of_the_clock)
{
    ManualClock manual;
    FixedSource fixed = {0xff, SAP_OK};
    Random random = {fill_fixed, &fixed};
    IdGen gen;
    Id128 id;

    manual_clock_init(&manual, START_MS * MS);
    Clock clock = manual_clock(&manual);
    idgen_init(&gen, &clock, &random);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687b-7fff-bfff-ffffffffffff");
    fixed.byte = 0;
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687c-7000-8000-000000000000");
    /* When the clock has caught up, that millisecond goes on where it was. */
    manual_clock_advance_ms(&manual, 1);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    check_text(id, "018bcfe5-687c-7000-8000-000000000001");
}
END_TEST

START_TEST(ids_increase_strictly_whatever_the_clock_does)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("ids: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        char last_text[ID_TEXT_LEN + 1], text[ID_TEXT_LEN + 1];
        ManualClock manual;
        Rng rng;
        IdGen gen;
        Id128 last, id;

        rng_seed(&rng, seed);
        manual_clock_init(&manual, START_MS * MS);
        Clock clock = manual_clock(&manual);
        Random random = rng_source(&rng);
        idgen_init(&gen, &clock, &random);
        ck_assert_int_eq(idgen_next(&gen, &last), SAP_OK);
        for (int i = 0; i < 2000; i++) {
            switch (rng_below(&rng, 8)) {
            case 0:
                manual_clock_advance_ms(&manual, rng_below(&rng, 5));
                break;
            case 1:
                manual_clock_set_wall_ns(&manual, (START_MS - rng_below(&rng, 1000)) * MS);
                break;
            case 2:
                manual_clock_set_wall_ns(&manual, 0);
                break;
            case 3:
                /* As if the tail had been drawn high. */
                gen.tail_high = 0xfff;
                break;
            default:
                break;
            }
            ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
            id_format(last, last_text);
            id_format(id, text);
            ck_assert_msg(id_compare(last, id) == -1 && id_compare(id, last) == 1 &&
                              strcmp(last_text, text) < 0,
                          "seed %" PRIu64 ", id %d: %s then %s", seed, i, last_text, text);
            ck_assert_msg(id.bytes[6] >> 4 == 7 && id.bytes[8] >> 6 == 2, "%s", text);
            last = id;
        }
    }
}
END_TEST

START_TEST(two_generators_at_the_same_instant_do_not_meet)
{
    IdGen a, b;
    Id128 x, y;

    idgen_init(&a, NULL, NULL);
    idgen_init(&b, NULL, NULL);
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(idgen_next(&a, &x), SAP_OK);
        ck_assert_int_eq(idgen_next(&b, &y), SAP_OK);
        ck_assert_int_ne(id_compare(x, y), 0);
    }
}
END_TEST

START_TEST(without_randomness_there_is_no_id_and_nothing_changes)
{
    ManualClock manual;
    FixedSource fixed = {0, SAP_OK};
    Random random = {fill_fixed, &fixed};
    IdGen gen;
    Id128 id, next;

    manual_clock_init(&manual, START_MS * MS);
    Clock clock = manual_clock(&manual);
    idgen_init(&gen, &clock, &random);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    for (int later = 0; later < 2; later++) {
        IdGen before = gen;
        next = id;
        fixed.rc = SAP_IO;
        ck_assert_int_eq(idgen_next(&gen, &next), SAP_IO);
        ck_assert_int_eq(id_compare(next, id), 0);
        ck_assert_mem_eq(&gen, &before, sizeof gen);
        manual_clock_advance_ms(&manual, 10);
    }
    fixed.rc = SAP_OK;
    ck_assert_int_eq(idgen_next(&gen, &next), SAP_OK);
    ck_assert_int_eq(id_compare(id, next), -1);
}
END_TEST

static int64_t before_1970(void *ctx)
{
    (void)ctx;
    return -5;
}

static int64_t after_time(void *ctx)
{
    (void)ctx;
    return INT64_C(1) << 48;
}

START_TEST(times_outside_the_48_bits_give_the_lowest_ids_or_none)
{
    Clock clock = {.wall_ms = before_1970};
    IdGen gen;
    Id128 id, last;

    idgen_init(&gen, &clock, NULL);
    ck_assert_int_eq(idgen_next(&gen, &last), SAP_OK);
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_OK);
    ck_assert_int_eq(id_compare(last, id), -1);
    ck_assert_uint_eq(id.bytes[0], 0);

    clock.wall_ms = after_time;
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_FULL);
    gen.last_ms = (UINT64_C(1) << 48) - 1;
    gen.tail_high = 0xfff;
    gen.tail_low = (UINT64_C(1) << 62) - 1;
    ck_assert_int_eq(idgen_next(&gen, &id), SAP_FULL);
}
END_TEST

START_TEST(every_id_comes_back_from_its_text)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(20);

    printf("id texts: %" PRIu64 " seeds from %" PRIu64 "\n", seeds, first);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        Rng rng;

        rng_seed(&rng, seed);
        for (int i = 0; i < 500; i++) {
            char text[ID_TEXT_LEN + 1];
            Id128 id, parsed;

            rng_bytes(&rng, id.bytes, sizeof id.bytes);
            id_format(id, text);
            ck_assert_uint_eq(strlen(text), ID_TEXT_LEN);
            ck_assert_int_eq(id_parse(text, ID_TEXT_LEN, &parsed), SAP_OK);
            ck_assert_int_eq(id_compare(id, parsed), 0);
        }
    }
}
END_TEST

START_TEST(a_text_with_any_character_changed_is_refused_or_another_id)
{
    static const char text[] = "018bcfe5-687b-7fff-bfff-ffffffffffff";
    Id128 original;
    size_t accepted = 0;

    ck_assert_int_eq(id_parse(text, ID_TEXT_LEN, &original), SAP_OK);
    for (size_t at = 0; at < ID_TEXT_LEN; at++) {
        for (int c = 0; c < 256; c++) {
            char changed[ID_TEXT_LEN + 1], again[ID_TEXT_LEN + 1];
            Id128 id = original;

            memcpy(changed, text, sizeof changed);
            changed[at] = (char)c;
            int rc = id_parse(changed, ID_TEXT_LEN, &id);
            if (rc == SAP_OK) {
                id_format(id, again);
                ck_assert_mem_eq(again, changed, ID_TEXT_LEN);
                accepted++;
            } else {
                ck_assert_int_eq(rc, SAP_INVALID);
                ck_assert_int_eq(id_compare(id, original), 0);
            }
        }
    }
    /* 32 digits of 16 values, 4 hyphens of one. */
    ck_assert_uint_eq(accepted, 32 * 16 + 4);
}
END_TEST

START_TEST(a_text_of_another_length_is_refused)
{
    static const char text[] = "018bcfe5-687b-7fff-bfff-ffffffffffff0";
    Id128 id;

    for (size_t len = 0; len < sizeof text; len++) {
        ck_assert_int_eq(id_parse(text, len, &id), len == ID_TEXT_LEN ? SAP_OK : SAP_INVALID);
    }
    ck_assert_int_eq(id_parse("{18bcfe5-687b-7fff-bfff-fffffffffff}", 36, &id), SAP_INVALID);
    ck_assert_int_eq(id_parse("018BCFE5-687B-7FFF-BFFF-FFFFFFFFFFFF", 36, &id), SAP_INVALID);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("common/ids");
    TCase *tcase = tcase_create("ids");

    tcase_add_test(tcase, an_id_has_the_layout_of_version_seven);
    tcase_add_test(tcase, a_tail_that_overflows_its_lower_part_carries_into_the_upper);
    tcase_add_test(tcase, a_full_tail_moves_the_time_one_ahead_of_the_clock);
    tcase_add_test(tcase, ids_increase_strictly_whatever_the_clock_does);
    tcase_add_test(tcase, two_generators_at_the_same_instant_do_not_meet);
    tcase_add_test(tcase, without_randomness_there_is_no_id_and_nothing_changes);
    tcase_add_test(tcase, times_outside_the_48_bits_give_the_lowest_ids_or_none);
    tcase_add_test(tcase, every_id_comes_back_from_its_text);
    tcase_add_test(tcase, a_text_with_any_character_changed_is_refused_or_another_id);
    tcase_add_test(tcase, a_text_of_another_length_is_refused);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
