/* Canonical JSON and deterministic CBOR: one form of each value, and nothing else gets through. */
#include <stdio.h>
#include <string.h>

#include "common/random.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/suite.h"
#include "json/canonical.h"
#include "json/cbor.h"

typedef struct Pair {
    const char *in;
    const char *out; /* NULL: refused */
} Pair;

static const Pair json_pairs[] = {
    {"null", "null"},
    {"{\"\":1}", "{\"\":1}"},
    {" { \"b\" : 1 , \"a\" : [ true , false ] } ", "{\"a\":[true,false],\"b\":1}"},
    {"\"\\u0041\\n\\u001f\\/\"", "\"A\\n\\u001f/\""},
    {"\"\\ud83d\\ude00\"", "\"\xf0\x9f\x98\x80\""},
    /* U+FFEE sorts before U+1F600 by code point, and after its surrogates. */
    {"{\"\xef\xbf\xae\":1,\"\xf0\x9f\x98\x80\":2}", "{\"\xf0\x9f\x98\x80\":2,\"\xef\xbf\xae\":1}"},
    {"1.0", "1"},
    {"-0", "0"},
    {"-0.0", "0"},
    {"1e3", "1000"},
    {"0.1", "0.1"},
    {"1e21", "1e+21"},
    {"1e-7", "1e-7"},
    {"123456789012345678", "123456789012345678"},
    {"18446744073709551615", "18446744073709551615"},
    {"18446744073709551616", "18446744073709552000"},
    {"9223372036854775808", "9223372036854775808"},
    {"9.223372036854775808e18", "9223372036854775808"},
    {"-9.223372036854775808e18", "-9223372036854775808"},
    {"1234567890123456768.0", "1234567890123456768"},
    {"333333333.33333329", "333333333.3333333"},
    {"5e-324", "5e-324"},
    {"1e400", NULL},
    {"", NULL},
    {"{\"a\":1,\"a\":2}", NULL},
    {"{\"a\":1,\"\\u0061\":2}", NULL},
    {"1 2", NULL},
    {"[1,]", NULL},
    {"{a:1}", NULL},
    {"01", NULL},
    {"+1", NULL},
    {"\"\\ud83d\"", NULL},
    {"\"\x01\"", NULL},
    {"\"\xff\"", NULL},
    {"nul", NULL},
    {"'a'", NULL},
};

START_TEST(a_json_value_has_one_text)
{
    for (size_t i = 0; i < sizeof json_pairs / sizeof json_pairs[0]; i++) {
        const Pair *pair = &json_pairs[i];
        Buf out = {0};
        Buf again = {0};
        CanonicalError error = {0, NULL};
        ck_assert_int_eq(buf_append_str(&out, "before "), SAP_OK);
        int rc = json_canonical(pair->in, strlen(pair->in), &out, &error);
        if (pair->out == NULL) {
            EXPECT(rc == SAP_INVALID, "%s was taken: %d", pair->in, rc);
            EXPECT(out.len == 7 && error.reason != NULL, "%s left something", pair->in);
        } else {
            EXPECT(rc == SAP_OK, "%s was refused: %d, %s", pair->in, rc, error.reason);
            EXPECT(out.len - 7 == strlen(pair->out) &&
                       memcmp(out.data + 7, pair->out, out.len - 7) == 0,
                   "%s became %.*s", pair->in, (int)(out.len - 7), (const char *)out.data + 7);
            ck_assert_int_eq(json_canonical(out.data + 7, out.len - 7, &again, NULL), SAP_OK);
            EXPECT(again.len == out.len - 7 && memcmp(again.data, out.data + 7, again.len) == 0,
                   "%s is not its own canonical text", pair->out);
        }
        buf_release(&out);
        buf_release(&again);
    }
}
END_TEST

START_TEST(depth_is_limited_in_both)
{
    char open[2 * CANONICAL_MAX_DEPTH + 8];
    for (size_t depth = CANONICAL_MAX_DEPTH; depth <= CANONICAL_MAX_DEPTH + 1; depth++) {
        Buf out = {0};
        int wanted = depth > CANONICAL_MAX_DEPTH ? SAP_FULL : SAP_OK;
        memset(open, '[', depth);
        memset(open + depth, ']', depth);
        ck_assert_int_eq(json_canonical(open, 2 * depth, &out, NULL), wanted);
        memset(open, 0x81, depth); /* an array of one */
        open[depth] = 0;
        ck_assert_int_eq(cbor_canonical(open, depth + 1, &out, NULL), wanted);
        buf_release(&out);
    }
}
END_TEST

static size_t unhex(const char *hex, uint8_t *out)
{
    size_t len = strlen(hex) / 2;
    for (size_t i = 0; i < len; i++) {
        unsigned byte = 0;
        ck_assert_int_eq(sscanf(hex + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return len;
}

static const Pair cbor_pairs[] = {
    {"00", "00"},
    {"1817", "17"}, /* 23 in two bytes */
    {"1b0000000000000001", "01"},
    {"3b0000000000000000", "20"},                 /* -1 */
    {"fb3ff0000000000000", "f93c00"},             /* 1.0 */
    {"fb3ff199999999999a", "fb3ff199999999999a"}, /* 1.1 */
    {"fa47c35000", "fa47c35000"},                 /* 100000.0 */
    {"fb7ff8000000000001", "f97e00"},             /* any NaN */
    {"fb7ff0000000000000", "f97c00"},             /* infinity */
    {"5f42010243030405ff", "450102030405"},
    {"7f61616162ff", "626162"},
    {"9f0102ff", "820102"},
    {"bf616201616102ff", "a2616102616201"},
    {"a2190100010002", "a20002190100"
                       "01"}, /* keys by their encoded bytes */
    {"c11a514b67b0", "c11a514b67b0"},
    {"f5", "f5"},
    {"", NULL},
    {"0000", NULL},       /* two items */
    {"a200010002", NULL}, /* a key twice */
    {"a2000118000"
     "2",
     NULL},         /* the same key in two lengths */
    {"61ff", NULL}, /* not UTF-8 */
    {"1c", NULL},
    {"ff", NULL},
    {"9f01", NULL},
    {"9bffffffffffffffff", NULL}, /* more items than bytes */
    {"5bffffffffffffffff", NULL},
    {"5f6161ff", NULL}, /* text in a string of bytes */
    {"f800", NULL},
    {"bf00ff", NULL}, /* a key without a value */
};

START_TEST(a_cbor_value_has_one_form)
{
    for (size_t i = 0; i < sizeof cbor_pairs / sizeof cbor_pairs[0]; i++) {
        const Pair *pair = &cbor_pairs[i];
        uint8_t in[64];
        uint8_t wanted[64];
        Buf out = {0};
        Buf again = {0};
        size_t len = unhex(pair->in, in);
        int rc = cbor_canonical(in, len, &out, NULL);
        if (pair->out == NULL) {
            EXPECT(rc == SAP_INVALID && out.len == 0, "%s was taken: %d", pair->in, rc);
        } else {
            size_t wanted_len = unhex(pair->out, wanted);
            EXPECT(rc == SAP_OK, "%s was refused: %d", pair->in, rc);
            EXPECT(out.len == wanted_len && memcmp(out.data, wanted, wanted_len) == 0,
                   "%s became another than %s", pair->in, pair->out);
            ck_assert_int_eq(cbor_canonical(out.data, out.len, &again, NULL), SAP_OK);
            EXPECT(again.len == out.len && memcmp(again.data, out.data, out.len) == 0,
                   "%s is not its own form", pair->out);
        }
        buf_release(&out);
        buf_release(&again);
    }
}
END_TEST

/* Random bytes, and good inputs with a byte changed: what is taken is its own canonical form then. */
START_TEST(whatever_is_taken_is_stable)
{
    Rng rng;
    uint64_t seed = choice_first_seed();
    uint64_t taken[2] = {0, 0};
    rng_seed(&rng, seed);
    for (int i = 0; i < 100000; i++) {
        uint8_t in[64];
        bool json = i % 2 == 0;
        const Pair *pair = json ? &json_pairs[rng_below(&rng, sizeof json_pairs / sizeof *pair)]
                                : &cbor_pairs[rng_below(&rng, sizeof cbor_pairs / sizeof *pair)];
        size_t len = json ? strlen(pair->in) : unhex(pair->in, in);
        if (json) {
            memcpy(in, pair->in, len);
        }
        for (uint64_t changes = rng_below(&rng, 4); len > 0 && changes > 0; changes--) {
            in[rng_below(&rng, len)] = (uint8_t)rng_next(&rng);
        }
        Buf out = {0};
        Buf again = {0};
        int rc = json ? json_canonical(in, len, &out, NULL) : cbor_canonical(in, len, &out, NULL);
        if (rc == SAP_OK) {
            taken[json]++;
            rc = json ? json_canonical(out.data, out.len, &again, NULL)
                      : cbor_canonical(out.data, out.len, &again, NULL);
            EXPECT(rc == SAP_OK && again.len == out.len &&
                       memcmp(again.data, out.data, out.len) == 0,
                   "seed %llu, case %d", (unsigned long long)seed, i);
        }
        buf_release(&out);
        buf_release(&again);
    }
    printf("universe_canonical: seed %llu, %llu texts and %llu CBOR items taken of 100000\n",
           (unsigned long long)seed, (unsigned long long)taken[1], (unsigned long long)taken[0]);
    EXPECT(taken[0] > 1000 && taken[1] > 1000, "too few");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_canonical");
    TCase *test_case = tcase_create("values");
    tcase_add_test(test_case, a_json_value_has_one_text);
    tcase_add_test(test_case, a_cbor_value_has_one_form);
    tcase_add_test(test_case, depth_is_limited_in_both);
    tcase_add_test(test_case, whatever_is_taken_is_stable);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
