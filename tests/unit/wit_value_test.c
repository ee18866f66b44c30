/* Rows by a schema that is read at run time, beside generated code of the same schema: both accept
 * the same bytes, give the same JSON, and refuse the others with the same words. */
#include "common/fault.h"
#include "common/mem.h"
#include "schema/value_json.h"
#include "support/suite.h"
#include "wit_constructs.h"
#include "wit_constructs_samples.h"
#include "wit_runtime_samples.h"
#include "wit_store_samples.h"

#include <inttypes.h>
#include <stdio.h>

enum { SEEDS = 80, CHANGES = 12, SIDES = 3 };

typedef struct Side {
    Schema *schema;
    const SampleType *samples;
    size_t count;
} Side;

typedef struct Counts {
    unsigned accepted;
    unsigned refused;
    unsigned broken; /* of those, for a refinement */
} Counts;

static Side sides[SIDES];

static void read_sides(void)
{
    sides[0] = (Side){read_schema("tests/schemas/constructs.wit"), wit_constructs_samples,
                      wit_constructs_sample_count};
    sides[1] = (Side){read_schema("schemas/wit/runtime-schema.wit"), wit_runtime_samples,
                      wit_runtime_sample_count};
    sides[2] = (Side){read_schema("schemas/wit/store-schema.wit"), wit_store_samples,
                      wit_store_sample_count};
    for (size_t i = 0; i < SIDES; i++) {
        check_schemas(&sides[i].schema, 1);
    }
    ck_assert_uint_eq(mistake_count(), 0);
}

static void *room(const SampleType *type)
{
    void *v = calloc(1, type->size);

    ck_assert_ptr_nonnull(v);
    return v;
}

static void compare(const Side *side, const SampleType *sample, const uint8_t *data, size_t len,
                    Counts *counts)
{
    Type *type = find_type(side->schema, sample->name);
    void *v = room(sample);
    Value value;
    CodecError ours;
    CodecError theirs;
    /* A copy of its own size, so that reading beyond it is seen. */
    uint8_t *copy = malloc(len + 1);

    ck_assert_ptr_nonnull(copy);
    ck_assert_ptr_nonnull(type);
    if (len > 0) {
        memcpy(copy, data, len);
    }
    int rc = sample->decode(copy, len, v, &theirs);
    int again = value_decode(side->schema, type, copy, len, &value, &ours);
    EXPECT(rc == again, "%s: %d, generated code %d (%s)", sample->name, again, rc, theirs.text);
    EXPECT(strcmp(ours.text, theirs.text) == 0, "%s: '%s', generated code '%s'", sample->name,
           ours.text, theirs.text);
    if (rc == SAP_OK) {
        json_t *wanted = NULL;
        json_t *found = value_json(type, &value);
        EXPECT_RC(sample->to_json(v, &wanted, &theirs), SAP_OK);
        char *wanted_text = json_dumps(wanted, JSON_ENCODE_ANY);
        char *found_text = json_dumps(found, JSON_ENCODE_ANY);
        EXPECT(wanted_text != NULL && found_text != NULL, "%s: no JSON", sample->name);
        EXPECT(strcmp(wanted_text, found_text) == 0, "%s: %s, generated code %s", sample->name,
               found_text, wanted_text);
        free(wanted_text);
        free(found_text);
        json_decref(wanted);
        json_decref(found);
        value_free(&value);
        sample->free(v);
        counts->accepted++;
    } else {
        counts->refused++;
        counts->broken += strstr(ours.text, "breaks ") != NULL ? 1 : 0;
    }
    free(copy);
    free(v);
}

/* A random value's bytes, every start of them, and some with a byte changed or added. */
static void compare_around(const Side *side, const SampleType *sample, Choice *choice,
                           Counts *counts)
{
    void *v = room(sample);
    Buf buf = {0};
    CodecError error;

    sample->random(choice, v);
    if (sample->encode(v, &buf, &error) == SAP_OK) {
        for (size_t len = 0; len <= buf.len; len++) {
            compare(side, sample, buf.data, len, counts);
        }
        for (int i = 0; i < CHANGES && buf.len > 0; i++) {
            uint8_t *byte = &buf.data[choice_below(choice, (uint32_t)buf.len)];
            uint8_t before = *byte;
            *byte = choice_one_in(choice, 2) ? (uint8_t)choice_below(choice, 4)
                                             : (uint8_t)choice_below(choice, 256);
            compare(side, sample, buf.data, buf.len, counts);
            *byte = before;
        }
        EXPECT_RC(buf_append_u8(&buf, (uint8_t)choice_below(choice, 3)), SAP_OK);
        compare(side, sample, buf.data, buf.len, counts);
    }
    sample->free(v);
    free(v);
    buf_release(&buf);
}

START_TEST(bytes_mean_what_they_mean_to_generated_code)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SEEDS);
    Counts counts = {0};

    read_sides();
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        for (size_t s = 0; s < SIDES; s++) {
            for (size_t i = 0; i < sides[s].count; i++) {
                Choice choice;
                expect_context("seed %" PRIu64, seed);
                choice_from_seed(&choice, seed);
                compare_around(&sides[s], &sides[s].samples[i], &choice, &counts);
            }
        }
    }
    printf("%u accepted, %u refused, %u of them by refinements, seeds from %" PRIu64 "\n",
           counts.accepted, counts.refused, counts.broken, first);
    ck_assert_uint_gt(counts.accepted, seeds * 40);
    ck_assert_uint_gt(counts.refused, seeds * 40);
    ck_assert_uint_gt(counts.broken, seeds / 4);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
    release_all();
}
END_TEST

static const SampleType *sample_named(const char *name)
{
    for (size_t i = 0; i < sides[0].count; i++) {
        if (strcmp(sides[0].samples[i].name, name) == 0) {
            return &sides[0].samples[i];
        }
    }
    ck_abort_msg("no sample %s", name);
    return NULL;
}

START_TEST(reals_are_computed_as_reals_in_both)
{
    static const struct {
        WitConstructsMeasured v;
        const char *message; /* NULL: it holds */
    } rows[] = {
        {{0.5, 1, -0.5F}, NULL},
        {{0.75, 1, 0}, "record measured, field half: breaks value <= 1.0 / 2.0"},
        {{0, 0, 0}, "record measured, field inverse: breaks 1.0 / value < 1e300 || value > 3.0"},
        {{0, -0.0, 0}, "record measured, field inverse: breaks 1.0 / value < 1e300 || value > 3.0"},
        {{0, 1, -0.75F}, "record measured, field single: breaks -value * 2.0 <= 1.0 - 0.0 / 7.0"},
    };
    Counts counts = {0};

    read_sides();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[21] = {2};
        WitConstructsMeasured again;
        CodecError error;
        codec_store_f64(bytes + 1, rows[i].v.half);
        codec_store_f64(bytes + 9, rows[i].v.inverse);
        codec_store_f32(bytes + 17, rows[i].v.single);
        compare(&sides[0], sample_named("measured"), bytes, sizeof bytes, &counts);
        int rc = wit_constructs_measured_decode(bytes, sizeof bytes, &again, &error);
        ck_assert_int_eq(rc, rows[i].message == NULL ? SAP_OK : SAP_INVALID);
        ck_assert_str_eq(error.text, rows[i].message == NULL ? "" : rows[i].message);
    }
    ck_assert_uint_eq(counts.accepted, 1);
    release_all();
}
END_TEST

START_TEST(value_is_the_field_that_its_refinement_is_above)
{
    static const struct {
        uint8_t value;
        uint8_t other;
        const char *message;
    } rows[] = {
        {1, 100, ""},
        {199, 255, ""},
        {200, 100, "record valued, field value: breaks value < 200"},
        {150, 99, "record valued, field other: breaks value >= 100"},
        {9, 100, "record valued: breaks value != 9"},
    };
    Counts counts = {0};

    read_sides();
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t bytes[] = {2, rows[i].value, rows[i].other};
        WitConstructsValued v;
        CodecError error;
        compare(&sides[0], sample_named("valued"), bytes, sizeof bytes, &counts);
        (void)wit_constructs_valued_decode(bytes, sizeof bytes, &v, &error);
        ck_assert_str_eq(error.text, rows[i].message);
    }
    ck_assert_uint_eq(counts.accepted, 2);
    release_all();
}
END_TEST

START_TEST(a_value_without_memory_leaves_nothing_behind)
{
    unsigned failures = 0;

    read_sides();
    for (size_t i = 0; i < sides[0].count; i++) {
        const SampleType *sample = &sides[0].samples[i];
        Type *type = find_type(sides[0].schema, sample->name);
        void *v = room(sample);
        Buf buf = {0};
        Choice choice;
        CodecError error;
        choice_from_seed(&choice, 7);
        sample->random(&choice, v);
        if (sample->encode(v, &buf, &error) == SAP_OK) {
            size_t before = mem_live_blocks(MEM_COMMON);
            for (uint64_t nth = 1;; nth++) {
                Value value;
                fault_reset();
                fault_arm_alloc(nth);
                int rc = value_decode(sides[0].schema, type, buf.data, buf.len, &value, &error);
                bool failed = fault_fired() > 0;
                fault_reset();
                ck_assert_int_eq(rc, failed ? SAP_NOMEM : SAP_OK);
                if (!failed) {
                    value_free(&value);
                    break;
                }
                failures++;
                ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), before);
            }
            ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), before);
        }
        sample->free(v);
        free(v);
        buf_release(&buf);
    }
    printf("%u failed allocations\n", failures);
    ck_assert_uint_gt(failures, 50);
    release_all();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit/value");
    TCase *tcase = tcase_create("value");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, bytes_mean_what_they_mean_to_generated_code);
    tcase_add_test(tcase, reals_are_computed_as_reals_in_both);
    tcase_add_test(tcase, value_is_the_field_that_its_refinement_is_above);
    tcase_add_test(tcase, a_value_without_memory_leaves_nothing_behind);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
