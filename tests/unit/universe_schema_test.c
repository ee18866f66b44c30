/* Payloads are what the schemas of their module say (src/json/json_schema.h): each keyword, and what is no
 * schema. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/choice.h"
#include "support/suite.h"
#include "json/canonical.h"
#include "json/json_schema.h"
#include "json/walk.h"

/* Buffers of the canonical texts of a case. */
static Buf schema_text;
static Buf value_text;

static void release_texts(void)
{
    buf_release(&schema_text);
    buf_release(&value_text);
}

static Slice canonical(Buf *room, const char *text)
{
    buf_clear(room);
    ck_assert_int_eq(json_canonical(text, strlen(text), room, NULL), SAP_OK);
    return (Slice){room->data, room->len};
}

typedef struct Case {
    const char *schema;
    const char *value;
    const char *why; /* NULL: it fits */
} Case;

static const Case cases[] = {
    {"true", "[1]", NULL},
    {"false", "1", "it may not be there"},
    {"{}", "{\"a\":null}", NULL},
    {"{\"type\":\"object\"}", "{}", NULL},
    {"{\"type\":\"object\"}", "[]", "it is not of type \"object\""},
    {"{\"type\":\"array\"}", "[]", NULL},
    {"{\"type\":\"string\"}", "\"\"", NULL},
    {"{\"type\":\"null\"}", "null", NULL},
    {"{\"type\":\"null\"}", "0", "it is not of type \"null\""},
    {"{\"type\":\"boolean\"}", "true", NULL},
    {"{\"type\":\"boolean\"}", "false", NULL},
    {"{\"type\":\"boolean\"}", "null", "it is not of type \"boolean\""},
    {"{\"type\":\"number\"}", "-1.5", NULL},
    {"{\"type\":\"number\"}", "7", NULL},
    {"{\"type\":\"number\"}", "\"7\"", "it is not of type \"number\""},
    {"{\"type\":\"integer\"}", "7", NULL},
    {"{\"type\":\"integer\"}", "7.0", NULL},
    {"{\"type\":\"integer\"}", "1e300", NULL},
    {"{\"type\":\"integer\"}", "18446744073709551615", NULL},
    {"{\"type\":\"integer\"}", "7.5", "it is not of type \"integer\""},
    {"{\"type\":\"integer\"}", "1e-9", "it is not of type \"integer\""},
    {"{\"type\":[\"string\",\"null\"]}", "null", NULL},
    {"{\"type\":[\"string\",\"null\"]}", "1", "it is of none of the types [\"string\",\"null\"]"},
    {"{\"const\":{\"b\":1,\"a\":[2]}}", "{\"a\":[2.0],\"b\":1}", NULL},
    {"{\"const\":1}", "2", "it is not 1"},
    {"{\"enum\":[\"red\",\"\\u0067reen\"]}", "\"green\"", NULL},
    {"{\"enum\":[\"red\",1]}", "\"blue\"", "it is none of [\"red\",1]"},
    {"{\"minimum\":3}", "3", NULL},
    {"{\"minimum\":3}", "\"\"", NULL},
    {"{\"minimum\":3}", "2.5", "it is below 3"},
    {"{\"minimum\":-3}", "-4", "it is below -3"},
    {"{\"minimum\":-3}", "-2", NULL},
    {"{\"minimum\":9007199254740993}", "9007199254740992", "it is below 9007199254740993"},
    {"{\"maximum\":18446744073709551614}", "18446744073709551615",
     "it is above 18446744073709551614"},
    {"{\"maximum\":10}", "10", NULL},
    {"{\"maximum\":10}", "9", NULL},
    {"{\"maximum\":10}", "1e2", "it is above 10"},
    {"{\"exclusiveMinimum\":0}", "0", "it is not above 0"},
    {"{\"exclusiveMinimum\":0}", "1e-9", NULL},
    {"{\"exclusiveMinimum\":0}", "null", NULL},
    {"{\"exclusiveMaximum\":1}", "1", "it is not below 1"},
    {"{\"exclusiveMaximum\":1}", "0.5", NULL},
    {"{\"exclusiveMaximum\":1}", "[]", NULL},
    {"{\"minLength\":2}", "\"\\u00fc\"", "it has fewer characters than 2"},
    {"{\"minLength\":2}", "\"\\n\\u0001\"", NULL},
    {"{\"maxLength\":2}", "\"\\ud83d\\ude00\\\"\"", NULL},
    {"{\"maxLength\":2}", "\"abc\"", "it has more characters than 2"},
    {"{\"maxLength\":0}", "\"\"", NULL},
    {"{\"maxLength\":2}", "[1,2,3]", NULL},
    {"{\"minItems\":1}", "[]", "it has fewer elements than 1"},
    {"{\"minItems\":1}", "[[]]", NULL},
    {"{\"maxItems\":1}", "[1,[2,3]]", "it has more elements than 1"},
    {"{\"items\":{\"type\":\"integer\"}}", "[1,2,\"x\"]", "/2: it is not of type \"integer\""},
    {"{\"items\":{\"type\":\"integer\"}}", "{\"a\":\"x\"}", NULL},
    {"{\"minProperties\":1}", "{}", "it has fewer members than 1"},
    {"{\"maxProperties\":1}", "{\"a\":{\"b\":1},\"c\":2}", "it has more members than 1"},
    {"{\"required\":[\"a\",\"b\"]}", "{\"b\":1,\"a\":2}", NULL},
    {"{\"required\":[\"a\",\"b\"]}", "{\"a\":2}", "it has no member \"b\""},
    {"{\"required\":[\"\\\"\"]}", "{\"\\u0022\":2}", NULL},
    {"{\"required\":[\"a\"]}", "[]", NULL},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"b\":1}", NULL},
    {"{\"properties\":{\"a\":{\"type\":\"string\"}}}", "{\"a\":1,\"b\":1}",
     "/a: it is not of type \"string\""},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1}", NULL},
    {"{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "{\"a\":1,\"b\":1}",
     "/b: it may not be there"},
    {"{\"additionalProperties\":{\"type\":\"number\"}}", "{\"a\":1,\"b\":\"\"}",
     "/b: it is not of type \"number\""},
    {"{\"properties\":{\"lines\":{\"items\":{\"properties\":{\"n\":{\"minimum\":1}}}}}}",
     "{\"lines\":[{\"n\":1},{\"n\":0}]}", "/lines/1/n: it is below 1"},
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "2", NULL},
    {"{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "3", "it is above 2"},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "6", NULL},
    {"{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":5}]}", "4", "it fits no schema of anyOf"},
    {"{\"oneOf\":[{\"minimum\":1},{\"maximum\":2}]}", "3", NULL},
    {"{\"oneOf\":[{\"minimum\":1},{\"maximum\":2}]}", "2",
     "it fits none or several schemas of oneOf"},
    {"{\"not\":{\"type\":\"string\"}}", "1", NULL},
    {"{\"not\":{\"type\":\"string\"}}", "\"\"", "it fits the schema of not"},
    {"{\"not\":{\"not\":{\"type\":\"null\"}},\"type\":\"null\"}", "null", NULL},
    {"{\"title\":\"t\",\"description\":\"d\",\"$comment\":\"c\",\"$schema\":\"s\",\"$id\":\"i\","
     "\"default\":1,\"examples\":[1],\"deprecated\":true}",
     "{}", NULL},
};

START_TEST(a_value_is_what_its_schema_says_or_the_first_thing_that_is_not_is_said)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const Case *one = &cases[i];
        char why[JSON_SCHEMA_WHY] = "untouched";
        Slice schema = canonical(&schema_text, one->schema);
        Slice value = canonical(&value_text, one->value);
        ck_assert_int_eq(json_schema_check(schema, why), SAP_OK);
        int rc = json_schema_validate(schema, value, why);
        ck_assert_msg(rc == (one->why == NULL ? SAP_OK : SAP_INVALID), "%s of %s: %d", one->value,
                      one->schema, rc);
        ck_assert_str_eq(why, one->why == NULL ? "untouched" : one->why);
    }
    release_texts();
}
END_TEST

static const Case no_schemas[] = {
    {"1", NULL, "it is not a schema: an object, true or false"},
    {"null", NULL, "it is not a schema: an object, true or false"},
    {"{\"pattern\":\"a\"}", NULL, "/pattern: it is not a keyword that is checked here"},
    {"{\"$ref\":\"#\"}", NULL, "/$ref: it is not a keyword that is checked here"},
    {"{\"Type\":\"string\"}", NULL, "/Type: it is not a keyword that is checked here"},
    {"{\"type\":\"int\"}", NULL, "/type: it is not a type, or an array of types"},
    {"{\"type\":[]}", NULL, "/type: it is not a type, or an array of types"},
    {"{\"type\":[\"string\",1]}", NULL, "/type: it is not a type, or an array of types"},
    {"{\"enum\":[]}", NULL, "/enum: it is not an array with an element"},
    {"{\"minimum\":\"1\"}", NULL, "/minimum: it is not a number"},
    {"{\"minItems\":-1}", NULL, "/minItems: it is not an integer from 0 on"},
    {"{\"maxLength\":1.5}", NULL, "/maxLength: it is not an integer from 0 on"},
    {"{\"required\":[1]}", NULL, "/required: it is not an array of strings"},
    {"{\"properties\":[]}", NULL, "/properties: it is not an object of schemas"},
    {"{\"properties\":{\"a\":{\"items\":7}}}", NULL,
     "/properties/a/items: it is not a schema: an object, true or false"},
    {"{\"anyOf\":[]}", NULL, "/anyOf: it is not an array of schemas"},
    {"{\"anyOf\":[true,{\"not\":0}]}", NULL,
     "/anyOf/1/not: it is not a schema: an object, true or false"},
    {"{\"additionalProperties\":\"no\"}", NULL,
     "/additionalProperties: it is not a schema: an object, true or false"},
};

START_TEST(what_is_no_schema_is_refused_and_says_where)
{
    for (size_t i = 0; i < sizeof no_schemas / sizeof no_schemas[0]; i++) {
        char why[JSON_SCHEMA_WHY] = "";
        Slice schema = canonical(&schema_text, no_schemas[i].schema);
        ck_assert_int_eq(json_schema_check(schema, why), SAP_INVALID);
        ck_assert_str_eq(why, no_schemas[i].why);
    }
    release_texts();
}
END_TEST

/* The text ends within its room, between two characters. */
START_TEST(what_is_said_of_a_long_path_is_cut)
{
    char why[JSON_SCHEMA_WHY];
    Buf value = {0};
    Slice schema = canonical(&schema_text, "{\"additionalProperties\":false}");
    ck_assert_int_eq(buf_append_str(&value, "{\""), SAP_OK);
    for (int i = 0; i < 200; i++) {
        ck_assert_int_eq(buf_append_str(&value, "\xc3\xbc"), SAP_OK);
    }
    ck_assert_int_eq(buf_append_str(&value, "\":1}"), SAP_OK);
    ck_assert_int_eq(json_schema_validate(schema, (Slice){value.data, value.len}, why),
                     SAP_INVALID);
    ck_assert_uint_eq(strlen(why), 255); /* a slash and 127 characters of two bytes */
    ck_assert_int_eq((uint8_t)why[254], 0xbc);
    buf_release(&value);
    release_texts();
}
END_TEST

/* ---- Parts of values ----------------------------------------------------------------------------- */

/* A value drawn at random, and how many members and elements it has in all. */
static uint32_t draw_value(Choice *choice, Buf *out, int depth)
{
    static const char *const simple[] = {"null",        "true",
                                         "-1.5",        "1e21",
                                         "\"\"",        "\"],}\\\"{\"",
                                         "\"\\u0001\"", "18446744073709551615",
                                         "{}",          "[]"};
    uint32_t kind = choice_below(choice, depth == 0 ? 1 : 3);
    uint32_t count = 0;
    if (kind == 0) {
        const char *text = simple[choice_below(choice, sizeof simple / sizeof *simple)];
        ck_assert_int_eq(buf_append_str(out, text), SAP_OK);
        return 0;
    }
    uint32_t parts = choice_below(choice, 5);
    ck_assert_int_eq(buf_append_str(out, kind == 1 ? "[" : "{"), SAP_OK);
    for (uint32_t i = 0; i < parts; i++) {
        char key[32];
        (void)snprintf(key, sizeof key, "%s\"\\\\k\\\"%u\":", i > 0 ? "," : "", (unsigned)i);
        ck_assert_int_eq(buf_append_str(out, kind == 2 ? key : i > 0 ? "," : ""), SAP_OK);
        count += 1 + draw_value(choice, out, depth - 1);
    }
    ck_assert_int_eq(buf_append_str(out, kind == 1 ? "]" : "}"), SAP_OK);
    return count;
}

/* Counts by the walk; each part lies where the last one ended. */
static uint32_t count_parts(Slice value)
{
    const uint8_t *bytes = (const uint8_t *)value.data;
    Slice key;
    Slice part;
    uint32_t count = 0;
    size_t at = 0;
    if (bytes[0] != '[' && bytes[0] != '{') {
        return 0;
    }
    while (bytes[0] == '{' ? json_next_member(value, &at, &key, &part)
                           : json_next_element(value, &at, &part)) {
        ck_assert_ptr_eq((const uint8_t *)part.data + part.len, bytes + at);
        Slice found;
        ck_assert(bytes[0] != '{' || json_find_member(value, key, &found));
        count += 1 + count_parts(part);
    }
    ck_assert_uint_eq(at == 0 ? value.len : at + 1, at == 0 ? 2 : value.len);
    return count;
}

START_TEST(the_parts_of_random_values_are_found)
{
    uint64_t seed = choice_first_seed();
    uint64_t parts = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        Choice choice;
        Buf text = {0};
        choice_from_seed(&choice, seed + i);
        uint32_t count = draw_value(&choice, &text, 5);
        Slice value = canonical(&value_text, (buf_append_u8(&text, 0), (const char *)text.data));
        ck_assert_uint_eq(count_parts(value), count);
        parts += count;
        buf_release(&text);
    }
    printf("universe_schema: 2000 values from seed %" PRIu64 ", %" PRIu64 " parts\n", seed, parts);
    ck_assert_uint_gt(parts, 2000);
    release_texts();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("universe_schema");
    TCase *test_case = tcase_create("schemas");
    tcase_add_test(test_case,
                   a_value_is_what_its_schema_says_or_the_first_thing_that_is_not_is_said);
    tcase_add_test(test_case, what_is_no_schema_is_refused_and_says_where);
    tcase_add_test(test_case, what_is_said_of_a_long_path_is_cut);
    tcase_add_test(test_case, the_parts_of_random_values_are_found);
    suite_add_tcase(suite, test_case);
    return suite_run(suite);
}
