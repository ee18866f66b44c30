/* Generated code, by a schema with every construct (tests/schemas/constructs.wit). */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "wit_constructs.h"
#include "wit_constructs_json.h"
#include "wit_constructs_samples.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEDS = 300 };

static CodecBytes text(const char *from)
{
    CodecBytes bytes = {0};

    ck_assert_int_eq(codec_bytes_set(&bytes, from, strlen(from)), SAP_OK);
    return bytes;
}

START_TEST(random_values_of_every_construct_come_back)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SEEDS);
    unsigned valid = 0;
    unsigned invalid = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        for (size_t i = 0; i < wit_constructs_sample_count; i++) {
            Choice choice;
            expect_context("seed %" PRIu64 ", type %s", seed, wit_constructs_samples[i].name);
            choice_from_seed(&choice, seed);
            if (sample_round_trip(&wit_constructs_samples[i], &choice)) {
                valid++;
            } else {
                invalid++;
            }
        }
    }
    printf("%u valid and %u invalid values of %zu types, seeds from %" PRIu64 "\n", valid, invalid,
           wit_constructs_sample_count, first);
    ck_assert_uint_gt(valid, invalid);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

START_TEST(at_its_edges_a_refinement_holds_where_the_generator_says)
{
    size_t tried = 0;

    for (size_t i = 0; i < wit_constructs_sample_count; i++) {
        Choice choice;
        choice_from_seed(&choice, 1);
        expect_context("type %s", wit_constructs_samples[i].name);
        tried += sample_edges(&wit_constructs_samples[i], &choice);
    }
    printf("%zu edges\n", tried);
    ck_assert_uint_ge(tried, 15);
}
END_TEST

START_TEST(scalars_have_these_bytes)
{
    static const uint8_t expected[] = {
        2,                                              /* major version */
        1,                                              /* truth */
        0x11,                                           /* a */
        0x22, 0x11,                                     /* b */
        0x44, 0x33, 0x22, 0x11,                         /* c */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* d */
        0xff,                                           /* e = -1 */
        0xfe, 0xff,                                     /* f = -2 */
        0xfd, 0xff, 0xff, 0xff,                         /* g = -3 */
        0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, /* h = -4 */
        0x00, 0x00, 0x80, 0x3f,                         /* 1.0f */
        0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, /* 2.0 */
        0x31, 0xf3, 0x01, 0x00,                         /* U+1F331 */
        0x02, 0x00, 0x00, 0x00, 'h',  'i',              /* text */
        0x00, 0x00, 0x00, 0x00,                         /* bytes: none */
        0x05, 0x00,                                     /* size */
    };
    WitConstructsScalars v = {.truth = true,
                              .a = 0x11,
                              .b = 0x1122,
                              .c = 0x11223344,
                              .d = 0x1122334455667788,
                              .e = -1,
                              .f = -2,
                              .g = -3,
                              .h = -4,
                              .single = 1.0f,
                              .double_ = 2.0,
                              .letter = 0x1f331,
                              .text = text("hi"),
                              .size = 5};
    Buf buf = {0};

    ck_assert_int_eq(wit_constructs_scalars_encode(&v, &buf, NULL), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof expected);
    ck_assert_mem_eq(buf.data, expected, sizeof expected);
    buf_release(&buf);
    wit_constructs_scalars_free(&v);
    ck_assert_ptr_null(v.text.data);
}
END_TEST

START_TEST(variants_and_enums_have_these_bytes)
{
    static const uint8_t circle[] = {2, 1, 7, 0, 0, 0};
    static const uint8_t both[] = {2, 4, 1, 2};
    static const uint8_t shade[] = {2, 0x2b, 0x01};
    Buf buf = {0};
    WitConstructsShape v = {.tag = WIT_CONSTRUCTS_SHAPE_CIRCLE, .as.circle = 7};
    WitConstructsShade last = WIT_CONSTRUCTS_SHADE_S299;

    ck_assert_int_eq(wit_constructs_shape_encode(&v, &buf, NULL), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof circle);
    ck_assert_mem_eq(buf.data, circle, sizeof circle);
    buf_clear(&buf);
    v = (WitConstructsShape){.tag = WIT_CONSTRUCTS_SHAPE_BOTH,
                             .as.both = {.is_err = true, .as.err = WIT_CONSTRUCTS_COLOUR_BLUE}};
    ck_assert_int_eq(wit_constructs_shape_encode(&v, &buf, NULL), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof both);
    ck_assert_mem_eq(buf.data, both, sizeof both);
    buf_clear(&buf);
    ck_assert_int_eq(wit_constructs_shade_encode(&last, &buf, NULL), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof shade);
    ck_assert_mem_eq(buf.data, shade, sizeof shade);
    buf_release(&buf);
}
END_TEST

START_TEST(flags_have_the_smallest_width)
{
    static const struct {
        size_t got;
        size_t width;
    } widths[] = {
        {sizeof(WitConstructsFew), 1},       {sizeof(WitConstructsEight), 1},
        {sizeof(WitConstructsNine), 2},      {sizeof(WitConstructsThirtyTwo), 4},
        {sizeof(WitConstructsSixtyFour), 8}, {sizeof(WitConstructsHundred), 13},
    };
    WitConstructsFew few = 8;
    CodecError error;
    Buf buf = {0};

    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        ck_assert_uint_eq(widths[i].got, widths[i].width);
    }
    ck_assert_int_eq(wit_constructs_few_encode(&few, &buf, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, "flags few: unknown flags in 0x8");
}
END_TEST

START_TEST(an_older_reader_ignores_what_a_record_grew)
{
    Buf buf = {0};
    WitConstructsGrown grown = {
        .id = 7, .inner = {1, {true, 2}}, .note = {true, text("note")}, .weight = {true, 9}};
    WitConstructsYoung young;

    ck_assert_int_eq(wit_constructs_grown_encode(&grown, &buf, NULL), SAP_OK);
    ck_assert_int_eq(wit_constructs_young_decode(buf.data, buf.len, &young, NULL), SAP_OK);
    ck_assert_uint_eq(young.id, 7);
    ck_assert_uint_eq(young.inner.a, 1);
    ck_assert(young.inner.b.some && young.inner.b.value == 2);
    wit_constructs_grown_free(&grown);
    buf_release(&buf);
}
END_TEST

START_TEST(a_newer_reader_reads_missing_options_as_none)
{
    Buf buf = {0};
    WitConstructsYoung young = {7, {1, {false, 0}}};
    WitConstructsGrown grown;
    CodecError error;

    ck_assert_int_eq(wit_constructs_young_encode(&young, &buf, NULL), SAP_OK);
    ck_assert_int_eq(wit_constructs_grown_decode(buf.data, buf.len, &grown, NULL), SAP_OK);
    ck_assert_uint_eq(grown.id, 7);
    ck_assert(!grown.note.some && !grown.weight.some);
    /* Only top-level records grow: without its last option the part is cut short. */
    ck_assert_int_eq(wit_constructs_grown_decode(buf.data, buf.len - 1, &grown, &error),
                     SAP_INVALID);
    ck_assert_str_eq(error.text,
                     "record grown-part, field b: at byte 6: 1 bytes are needed, 0 are left");
    /* Half an option is none of both. */
    ck_assert_int_eq(buf_append_u8(&buf, 1), SAP_OK);
    ck_assert_int_eq(wit_constructs_grown_decode(buf.data, buf.len, &grown, &error), SAP_INVALID);
    /* Another major version is another layout. */
    buf.data[0] = 3;
    ck_assert_int_eq(wit_constructs_young_decode(buf.data, buf.len, &young, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, "record young, field id: at byte 1: version 3, this program reads "
                                 "version 2");
    buf_release(&buf);
}
END_TEST

static WitConstructsRefined good(void)
{
    return (WitConstructsRefined){.low = 1,
                                  .high = 2,
                                  .percent = 50,
                                  .name = text("n"),
                                  .colour = WIT_CONSTRUCTS_COLOUR_BLUE,
                                  .ratio = 0.5};
}

static void refused(WitConstructsRefined *v, const char *message)
{
    CodecError error;
    Buf buf = {0};
    json_t *json = NULL;

    ck_assert_int_eq(wit_constructs_refined_validate(v, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, message);
    ck_assert_int_eq(wit_constructs_refined_encode(v, &buf, &error), SAP_INVALID);
    ck_assert_int_eq(wit_constructs_refined_to_json(v, &json, &error), SAP_INVALID);
    ck_assert_ptr_null(json);
    ck_assert_uint_eq(buf.len, 0);
    wit_constructs_refined_free(v);
    *v = good();
}

START_TEST(a_broken_refinement_is_named_with_record_and_field)
{
    WitConstructsRefined v = good();

    ck_assert_int_eq(wit_constructs_refined_validate(&v, NULL), SAP_OK);
    v.low = 3;
    refused(&v, "record refined: breaks low <= high");
    v.high = 1001;
    refused(&v, "record refined: breaks high - low < 1000 || wide");
    v.high = 1001;
    v.wide = true;
    ck_assert_int_eq(wit_constructs_refined_validate(&v, NULL), SAP_OK);
    v.low = INT32_MIN;
    v.high = INT32_MAX;
    ck_assert_int_eq(wit_constructs_refined_validate(&v, NULL), SAP_OK);
    v.percent = 101;
    refused(&v, "record refined, field percent: breaks value >= 1 && value <= 100");
    v.cold = -5;
    refused(&v, "record refined, field cold: breaks value > -5");
    v.colour = WIT_CONSTRUCTS_COLOUR_RED;
    refused(&v, "record refined, field colour: breaks value != red");
    v.maybe.some = true;
    v.maybe.value = 9;
    refused(&v, "record refined, field maybe: breaks value >= 10");
    v.ratio = 1.5;
    refused(&v, "record refined, field ratio: breaks ratio >= 0.0 && ratio <= 1.0");
    v.few = WIT_CONSTRUCTS_FEW_B;
    refused(&v, "record refined, field few: breaks !value.b || value.a");
    /* The square does not fit 64 bits: nothing wraps around. */
    v.product = UINT64_C(1) << 32;
    refused(&v, "record refined, field product: "
                "breaks product * product <= 18446744073709551615");
    v.spare = 4;
    refused(&v, "record refined, field spare: breaks has(maybe) || spare % 3 == 0");
    v.name.data[0] = 0xff;
    refused(&v, "record refined, field name: the string is not UTF-8");
    v.colour = 3;
    refused(&v, "enum colour: there is no case number 3");
    wit_constructs_refined_free(&v);
}
END_TEST

START_TEST(decoding_checks_refinements)
{
    WitConstructsRefined v = good();
    WitConstructsRefined again;
    CodecError error;
    Buf buf = {0};

    ck_assert_int_eq(wit_constructs_refined_encode(&v, &buf, NULL), SAP_OK);
    ck_assert_int_eq(wit_constructs_refined_decode(buf.data, buf.len, &again, NULL), SAP_OK);
    ck_assert(wit_constructs_refined_equal(&v, &again));
    wit_constructs_refined_free(&again);
    memset(&again, 0xee, sizeof again);
    WitConstructsRefined untouched = again;
    store_u32le(buf.data + 1, 100);
    ck_assert_int_eq(wit_constructs_refined_decode(buf.data, buf.len, &again, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, "record refined: breaks low <= high");
    ck_assert_mem_eq(&again, &untouched, sizeof again);
    buf_release(&buf);
    wit_constructs_refined_free(&v);
    ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), 0);
}
END_TEST

START_TEST(a_frozen_record_has_exactly_its_bytes)
{
    static const uint8_t expected[] = {'F', 'R', 'Z', '0', 0x34, 0x12, 1, 2, 3, 4, 1,
                                       2,   3,   4,   5,   6,    7,    8, 1, 9, 9};
    uint8_t tail[] = {9, 9};
    WitConstructsColdBytes v = {
        0x1234, 0x01020304, 0x0102030405060708, WIT_CONSTRUCTS_COLOUR_GREEN, {tail, 2}};
    WitConstructsColdBytes again;
    CodecError error;
    Buf buf = {0};

    ck_assert_int_eq(wit_constructs_cold_bytes_encode(&v, &buf, NULL), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof expected);
    ck_assert_mem_eq(buf.data, expected, sizeof expected);
    ck_assert_int_eq(wit_constructs_cold_bytes_decode(buf.data, buf.len, &again, NULL), SAP_OK);
    ck_assert(wit_constructs_cold_bytes_equal(&v, &again));
    wit_constructs_cold_bytes_free(&again);
    buf.data[3] = '1';
    ck_assert_int_eq(wit_constructs_cold_bytes_decode(buf.data, buf.len, &again, &error),
                     SAP_INVALID);
    ck_assert_str_eq(error.text,
                     "record cold-bytes, field a: at byte 0: it does not begin with FRZ0");
    static const uint8_t count[] = {1, 0, 0, 0, 0};
    WitConstructsDbi6RawValue row;
    ck_assert_int_eq(wit_constructs_dbi6_raw_value_decode(count, 4, &row, NULL), SAP_OK);
    ck_assert_int_eq(wit_constructs_dbi6_raw_value_decode(count, 5, &row, &error), SAP_INVALID);
    ck_assert_str_eq(error.text, "record dbi6-raw-value: at byte 4: 1 bytes too many");
    buf_release(&buf);
}
END_TEST

static int compare_bytes(const CodecBytes *a, const CodecBytes *b)
{
    return bytes_compare(a->data, a->len, b->data, b->len);
}

#define COMPARE(a, b)              \
    if ((a) != (b)) {              \
        return (a) < (b) ? -1 : 1; \
    }
#define COMPARE_BYTES(a, b)         \
    if (compare_bytes(a, b) != 0) { \
        return compare_bytes(a, b); \
    }

static int compare_numbers(const WitConstructsDbi3NumbersKey *a,
                           const WitConstructsDbi3NumbersKey *b)
{
    COMPARE(a->a, b->a)
    COMPARE(a->b, b->b)
    COMPARE(a->c, b->c)
    COMPARE(a->d, b->d)
    COMPARE(a->e, b->e)
    COMPARE(a->f, b->f)
    COMPARE(a->g, b->g)
    COMPARE(a->h, b->h)
    return 0;
}

static int compare_texts(const WitConstructsDbi4TextsKey *a, const WitConstructsDbi4TextsKey *b)
{
    COMPARE_BYTES(&a->name, &b->name)
    COMPARE_BYTES(&a->bytes, &b->bytes)
    COMPARE(a->letter, b->letter)
    COMPARE(a->truth, b->truth)
    COMPARE_BYTES(&a->end, &b->end)
    return 0;
}

static int compare_nested(const WitConstructsDbi5NestedKey *a, const WitConstructsDbi5NestedKey *b)
{
    COMPARE(a->colour, b->colour)
    COMPARE(a->shade, b->shade)
    COMPARE(a->at.f0, b->at.f0)
    COMPARE_BYTES(&a->at.f1, &b->at.f1)
    COMPARE(a->point.x, b->point.x)
    COMPARE(a->point.y, b->point.y)
    return 0;
}

static const SampleType *sample(const char *name)
{
    for (size_t i = 0; i < wit_constructs_sample_count; i++) {
        if (strcmp(wit_constructs_samples[i].name, name) == 0) {
            return &wit_constructs_samples[i];
        }
    }
    ck_abort_msg("no type %s", name);
}

/* Pairs that agree up to field `same`, so that every field decides sometimes. */
#define KEYS_SORT(name, Type, fn, compare, copy)                                           \
    do {                                                                                   \
        const SampleType *type = sample(name);                                             \
        for (uint64_t seed = 1; seed <= 4000; seed++) {                                    \
            Choice one;                                                                    \
            Choice two;                                                                    \
            Type a = {0};                                                                  \
            Type b = {0};                                                                  \
            Buf x = {0};                                                                   \
            Buf y = {0};                                                                   \
            choice_from_seed(&one, seed);                                                  \
            choice_from_seed(&two, seed + 100000);                                         \
            type->random(&one, &a);                                                        \
            type->random(&two, &b);                                                        \
            copy;                                                                          \
            ck_assert_int_eq(fn##_encode(&a, &x, NULL), SAP_OK);                           \
            ck_assert_int_eq(fn##_encode(&b, &y, NULL), SAP_OK);                           \
            int order = compare(&a, &b);                                                   \
            ck_assert_msg(bytes_compare(x.data, x.len, y.data, y.len) == order, "seed %d", \
                          (int)seed);                                                      \
            pairs++;                                                                       \
            differ[order + 1]++;                                                           \
            fn##_free(&a);                                                                 \
            fn##_free(&b);                                                                 \
            buf_release(&x);                                                               \
            buf_release(&y);                                                               \
        }                                                                                  \
    } while (0)

START_TEST(keys_sort_as_their_bytes)
{
    unsigned pairs = 0;
    unsigned differ[3] = {0};

    KEYS_SORT("dbi3-numbers-key", WitConstructsDbi3NumbersKey, wit_constructs_dbi3_numbers_key,
              compare_numbers, {
                  unsigned same = seed % 9;
                  b.a = same > 0 ? a.a : b.a;
                  b.b = same > 1 ? a.b : b.b;
                  b.c = same > 2 ? a.c : b.c;
                  b.d = same > 3 ? a.d : b.d;
                  b.e = same > 4 ? a.e : b.e;
                  b.f = same > 5 ? a.f : b.f;
                  b.g = same > 6 ? a.g : b.g;
                  b.h = same > 7 ? a.h : b.h;
              });
    KEYS_SORT("dbi4-texts-key", WitConstructsDbi4TextsKey, wit_constructs_dbi4_texts_key,
              compare_texts, {
                  unsigned same = seed % 5;
                  if (same > 0) {
                      codec_bytes_set(&b.name, a.name.data, a.name.len);
                  }
                  if (same > 1) {
                      codec_bytes_set(&b.bytes, a.bytes.data, a.bytes.len);
                  }
                  b.letter = same > 2 ? a.letter : b.letter;
                  b.truth = same > 3 ? a.truth : b.truth;
              });
    KEYS_SORT("dbi5-nested-key", WitConstructsDbi5NestedKey, wit_constructs_dbi5_nested_key,
              compare_nested, {
                  unsigned same = seed % 5;
                  b.colour = same > 0 ? a.colour : b.colour;
                  b.shade = same > 1 ? a.shade : b.shade;
                  b.at.f0 = same > 2 ? a.at.f0 : b.at.f0;
                  if (same > 3) {
                      codec_bytes_set(&b.at.f1, a.at.f1.data, a.at.f1.len);
                  }
              });
    printf("%u pairs: %u below, %u equal, %u above\n", pairs, differ[0], differ[1], differ[2]);
    ck_assert_uint_gt(differ[0], 1000);
    ck_assert_uint_gt(differ[1], 10);
    ck_assert_uint_gt(differ[2], 1000);
}
END_TEST

START_TEST(a_key_has_these_bytes)
{
    static const uint8_t expected[] = {'a', 0, 0xff, 'b',  0, 0,   0, 0,
                                       0,   1, 0xf3, 0x31, 1, 'z', 0, 0};
    uint8_t name[] = {'a', 0, 'b'};
    uint8_t end[] = {'z'};
    WitConstructsDbi4TextsKey v = {{name, 3}, {NULL, 0}, 0x1f331, true, {end, 1}};
    Buf buf = {0};

    ck_assert_int_eq(wit_constructs_dbi4_texts_key_encode(&v, &buf, NULL), SAP_OK);
    ck_assert_uint_eq(buf.len, sizeof expected);
    ck_assert_mem_eq(buf.data, expected, sizeof expected);
    buf_release(&buf);
}
END_TEST

START_TEST(json_is_read_strictly)
{
    static const struct {
        const char *json;
        const char *message;
    } bad[] = {
        {"[]", "record point: should be an object"},
        {"{\"x\": 1}", "record point, field y: is missing"},
        {"{\"x\": 1, \"y\": 2, \"z\": 3}", "record point: a field in it is unknown"},
        {"{\"x\": 1, \"y\": \"2\"}", "record point, field y: should be an integer"},
        {"{\"x\": 1, \"y\": 2.0}", "record point, field y: should be an integer"},
        {"{\"x\": 1, \"y\": 2147483648}",
         "record point, field y: should be an integer from -2147483648 to 2147483647"},
        {"{\"x\": 1, \"y\": null}", "record point, field y: should be an integer"},
    };
    WitConstructsPoint v;
    CodecError error;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        json_t *json = json_loads(bad[i].json, 0, NULL);
        ck_assert_ptr_nonnull(json);
        ck_assert_int_eq(wit_constructs_point_from_json(json, &v, &error), SAP_INVALID);
        ck_assert_str_eq(error.text, bad[i].message);
        json_decref(json);
    }
    static const char *const shapes[] = {"\"circle\"",
                                         "{\"nothing\": null}",
                                         "{\"circle\": 1, \"named\": \"x\"}",
                                         "{}",
                                         "7",
                                         "\"square\"",
                                         "{\"square\": 1}",
                                         "{\"circle\": -1}",
                                         "{\"both\": \"ok\"}",
                                         "{\"both\": {\"err\": \"pink\"}}"};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        WitConstructsShape shape;
        json_t *json = json_loads(shapes[i], JSON_DECODE_ANY, NULL);
        ck_assert_ptr_nonnull(json);
        ck_assert_msg(wit_constructs_shape_from_json(json, &shape, &error) == SAP_INVALID, "%s",
                      shapes[i]);
        ck_assert_msg(strncmp(error.text, "variant shape", 13) == 0 ||
                          strncmp(error.text, "enum colour", 11) == 0,
                      "%s: %s", shapes[i], error.text);
        json_decref(json);
    }
}
END_TEST

START_TEST(decoding_without_memory_leaves_nothing_behind)
{
    const SampleType *type = sample("compounds");
    unsigned fired = 0;

    for (uint64_t seed = 1; seed <= 20; seed++) {
        Choice choice;
        WitConstructsCompounds v = {0};
        WitConstructsCompounds again;
        Buf buf = {0};
        choice_from_seed(&choice, seed);
        type->random(&choice, &v);
        ck_assert_int_eq(wit_constructs_compounds_encode(&v, &buf, NULL), SAP_OK);
        size_t live = mem_live_blocks(MEM_COMMON);
        for (uint64_t nth = 1;; nth++) {
            fault_reset();
            fault_arm_alloc(nth);
            int rc = wit_constructs_compounds_decode(buf.data, buf.len, &again, NULL);
            bool failed = fault_fired() > 0;
            fault_reset();
            ck_assert_int_eq(rc, failed ? SAP_NOMEM : SAP_OK);
            if (!failed) {
                wit_constructs_compounds_free(&again);
                break;
            }
            fired++;
            ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), live);
        }
        ck_assert_uint_eq(mem_live_blocks(MEM_COMMON), live);
        wit_constructs_compounds_free(&v);
        buf_release(&buf);
    }
    printf("%u failures\n", fired);
    ck_assert_uint_gt(fired, 50);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("wit/constructs");
    TCase *tcase = tcase_create("constructs");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, random_values_of_every_construct_come_back);
    tcase_add_test(tcase, at_its_edges_a_refinement_holds_where_the_generator_says);
    tcase_add_test(tcase, scalars_have_these_bytes);
    tcase_add_test(tcase, variants_and_enums_have_these_bytes);
    tcase_add_test(tcase, flags_have_the_smallest_width);
    tcase_add_test(tcase, an_older_reader_ignores_what_a_record_grew);
    tcase_add_test(tcase, a_newer_reader_reads_missing_options_as_none);
    tcase_add_test(tcase, a_broken_refinement_is_named_with_record_and_field);
    tcase_add_test(tcase, decoding_checks_refinements);
    tcase_add_test(tcase, a_frozen_record_has_exactly_its_bytes);
    tcase_add_test(tcase, keys_sort_as_their_bytes);
    tcase_add_test(tcase, a_key_has_these_bytes);
    tcase_add_test(tcase, json_is_read_strictly);
    tcase_add_test(tcase, decoding_without_memory_leaves_nothing_behind);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
