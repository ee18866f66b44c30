/* json_schema.c - see json_schema.h. */
#include "json/json_schema.h"

#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/utf8.h"
#include "json/walk.h"

/* A way into a value, from its innermost part outwards. */
typedef struct Step {
    const struct Step *up;
    Slice key; /* of a member; without data: an element */
    size_t index;
} Step;

typedef struct Check {
    char why[JSON_SCHEMA_WHY];
    bool said;    /* the first thing that is wrong has been written to `why` */
    int tolerant; /* above 0: what is found now is not what is wrong in the end */
} Check;

/* ---- What is wrong --------------------------------------------------------------------------- */

static void append_text(char why[JSON_SCHEMA_WHY], Slice text)
{
    size_t len = strlen(why);
    size_t kept = utf8_prefix(text.data, text.len, JSON_SCHEMA_WHY - 1 - len);
    if (kept > 0) {
        memcpy(why + len, text.data, kept);
    }
    why[len + kept] = 0;
}

static void append_path(char why[JSON_SCHEMA_WHY], const Step *at)
{
    char number[24];
    if (at == NULL) {
        return;
    }
    append_path(why, at->up);
    append_text(why, slice_from_str("/"));
    (void)snprintf(number, sizeof number, "%zu", at->index);
    append_text(why, at->key.data != NULL ? at->key : slice_from_str(number));
}

/* Says what is wrong with the part at `at`, unless something was said; returns false. */
static bool refuse_part(Check *check, const Step *at, const char *what, Slice detail)
{
    if (check->said || check->tolerant > 0) {
        return false;
    }
    check->said = true;
    check->why[0] = 0;
    append_path(check->why, at);
    append_text(check->why, slice_from_str(at == NULL ? "it " : ": it "));
    append_text(check->why, slice_from_str(what));
    append_text(check->why, detail);
    return false;
}

static int end_check(const Check *check, bool good, char why[JSON_SCHEMA_WHY])
{
    SAP_ASSERT(good != check->said);
    if (!good) {
        memcpy(why, check->why, sizeof check->why);
    }
    return good ? SAP_OK : SAP_INVALID;
}

/* ---- Keywords -------------------------------------------------------------------------------- */

/* What a keyword's own value is. */
typedef enum Shape {
    SHAPE_ANY,
    SHAPE_TYPES, /* the name of a type, or an array of them */
    SHAPE_COUNT, /* an integer from 0 on */
    SHAPE_NUMBER,
    SHAPE_NAMES,  /* an array of strings */
    SHAPE_VALUES, /* an array with an element */
    SHAPE_SCHEMA,
    SHAPE_SCHEMAS,     /* an object of schemas */
    SHAPE_SCHEMA_LIST, /* an array with a schema */
} Shape;

/* A keyword in a schema, and the value that it is about. */
typedef struct Rule {
    Slice schema;
    Slice says;
    Slice value;
    const Step *at;
} Rule;

static bool validate_value(Check *check, Slice schema, Slice value, const Step *at);

static uint8_t first_byte(Slice value)
{
    SAP_ASSERT(value.len > 0);
    return ((const uint8_t *)value.data)[0];
}

static bool is_number(Slice value)
{
    return first_byte(value) == '-' || (first_byte(value) >= '0' && first_byte(value) <= '9');
}

static bool has_text(Slice value, const char *text)
{
    return json_same_text(value, slice_from_str(text));
}

static const char *const type_names[] = {"\"array\"",  "\"boolean\"", "\"integer\"", "\"null\"",
                                         "\"number\"", "\"object\"",  "\"string\""};

static bool has_type(Slice value, Slice type)
{
    switch (first_byte(value)) {
    case '{':
        return has_text(type, "\"object\"");
    case '[':
        return has_text(type, "\"array\"");
    case '"':
        return has_text(type, "\"string\"");
    case 'n':
        return has_text(type, "\"null\"");
    case 't':
    case 'f':
        return has_text(type, "\"boolean\"");
    default:
        return has_text(type, "\"number\"") ||
               (has_text(type, "\"integer\"") && json_is_whole(value));
    }
}

static bool holds_type(Check *check, const Rule *rule)
{
    Slice type;
    if (first_byte(rule->says) == '"') {
        return has_type(rule->value, rule->says) ||
               refuse_part(check, rule->at, "is not of type ", rule->says);
    }
    for (size_t at = 0; json_next_element(rule->says, &at, &type);) {
        if (has_type(rule->value, type)) {
            return true;
        }
    }
    return refuse_part(check, rule->at, "is of none of the types ", rule->says);
}

static bool holds_const(Check *check, const Rule *rule)
{
    return json_same_text(rule->value, rule->says) ||
           refuse_part(check, rule->at, "is not ", rule->says);
}

static bool holds_enum(Check *check, const Rule *rule)
{
    Slice one;
    for (size_t at = 0; json_next_element(rule->says, &at, &one);) {
        if (json_same_text(rule->value, one)) {
            return true;
        }
    }
    return refuse_part(check, rule->at, "is none of ", rule->says);
}

/* -1: below, 0: equal, 1: above what the keyword says; `otherwise` if it is no number. */
static int compare_value(const Rule *rule, int otherwise)
{
    return is_number(rule->value) ? json_compare_numbers(rule->value, rule->says) : otherwise;
}

static bool holds_minimum(Check *check, const Rule *rule)
{
    return compare_value(rule, 0) >= 0 || refuse_part(check, rule->at, "is below ", rule->says);
}

static bool holds_maximum(Check *check, const Rule *rule)
{
    return compare_value(rule, 0) <= 0 || refuse_part(check, rule->at, "is above ", rule->says);
}

static bool holds_above(Check *check, const Rule *rule)
{
    return compare_value(rule, 1) > 0 || refuse_part(check, rule->at, "is not above ", rule->says);
}

static bool holds_below(Check *check, const Rule *rule)
{
    return compare_value(rule, -1) < 0 || refuse_part(check, rule->at, "is not below ", rule->says);
}

/* Characters of a string, elements of an array, members of an object. */
static size_t count_parts(Slice value)
{
    Slice key;
    Slice part;
    size_t count = 0;
    size_t at = 0;
    if (first_byte(value) == '"') {
        return json_count_points(value);
    }
    while (first_byte(value) == '{' ? json_next_member(value, &at, &key, &part)
                                    : json_next_element(value, &at, &part)) {
        count++;
    }
    return count;
}

static bool is_above_count(const Rule *rule, uint8_t kind, bool above)
{
    char number[24];
    if (first_byte(rule->value) != kind) {
        return false;
    }
    (void)snprintf(number, sizeof number, "%zu", count_parts(rule->value));
    int order = json_compare_numbers(slice_from_str(number), rule->says);
    return above ? order > 0 : order < 0;
}

#define HOLDS_COUNT(name, kind, above, what)                     \
    static bool name(Check *check, const Rule *rule)             \
    {                                                            \
        return !is_above_count(rule, (kind), (above)) ||         \
               refuse_part(check, rule->at, (what), rule->says); \
    }

HOLDS_COUNT(holds_min_length, '"', false, "has fewer characters than ")
HOLDS_COUNT(holds_max_length, '"', true, "has more characters than ")
HOLDS_COUNT(holds_min_items, '[', false, "has fewer elements than ")
HOLDS_COUNT(holds_max_items, '[', true, "has more elements than ")
HOLDS_COUNT(holds_min_properties, '{', false, "has fewer members than ")
HOLDS_COUNT(holds_max_properties, '{', true, "has more members than ")

static bool holds_items(Check *check, const Rule *rule)
{
    Slice element;
    Step step = {.up = rule->at};
    if (first_byte(rule->value) != '[') {
        return true;
    }
    for (size_t at = 0; json_next_element(rule->value, &at, &element); step.index++) {
        if (!validate_value(check, rule->says, element, &step)) {
            return false;
        }
    }
    return true;
}

static bool holds_properties(Check *check, const Rule *rule)
{
    Slice key;
    Slice member;
    Slice schema;
    if (first_byte(rule->value) != '{') {
        return true;
    }
    for (size_t at = 0; json_next_member(rule->value, &at, &key, &member);) {
        Step step = {.up = rule->at, .key = key};
        if (json_find_member(rule->says, key, &schema) &&
            !validate_value(check, schema, member, &step)) {
            return false;
        }
    }
    return true;
}

/* Of members that `properties` beside it does not name. */
static bool holds_additional(Check *check, const Rule *rule)
{
    Slice named = slice_from_str("{}");
    Slice key;
    Slice member;
    Slice schema;
    if (first_byte(rule->value) != '{') {
        return true;
    }
    (void)json_find_member(rule->schema, slice_from_str("properties"), &named);
    for (size_t at = 0; json_next_member(rule->value, &at, &key, &member);) {
        Step step = {.up = rule->at, .key = key};
        if (!json_find_member(named, key, &schema) &&
            !validate_value(check, rule->says, member, &step)) {
            return false;
        }
    }
    return true;
}

static bool holds_required(Check *check, const Rule *rule)
{
    Slice name;
    Slice member;
    if (first_byte(rule->value) != '{') {
        return true;
    }
    for (size_t at = 0; json_next_element(rule->says, &at, &name);) {
        Slice key = {(const uint8_t *)name.data + 1, name.len - 2};
        if (!json_find_member(rule->value, key, &member)) {
            return refuse_part(check, rule->at, "has no member ", name);
        }
    }
    return true;
}

static bool holds_all(Check *check, const Rule *rule)
{
    Slice schema;
    for (size_t at = 0; json_next_element(rule->says, &at, &schema);) {
        if (!validate_value(check, schema, rule->value, rule->at)) {
            return false;
        }
    }
    return true;
}

static size_t count_fits(Check *check, const Rule *rule)
{
    Slice schema;
    size_t count = 0;
    check->tolerant++;
    for (size_t at = 0; json_next_element(rule->says, &at, &schema);) {
        count += validate_value(check, schema, rule->value, rule->at);
    }
    check->tolerant--;
    return count;
}

static bool holds_any(Check *check, const Rule *rule)
{
    return count_fits(check, rule) > 0 ||
           refuse_part(check, rule->at, "fits no schema of anyOf", (Slice){"", 0});
}

static bool holds_one(Check *check, const Rule *rule)
{
    return count_fits(check, rule) == 1 ||
           refuse_part(check, rule->at, "fits none or several schemas of oneOf", (Slice){"", 0});
}

static bool holds_not(Check *check, const Rule *rule)
{
    check->tolerant++;
    bool fits = validate_value(check, rule->says, rule->value, rule->at);
    check->tolerant--;
    return !fits || refuse_part(check, rule->at, "fits the schema of not", (Slice){"", 0});
}

typedef struct Keyword {
    const char *name;
    Shape shape;
    bool (*holds)(Check *check, const Rule *rule); /* NULL: it only describes */
} Keyword;

static const Keyword keywords[] = {
    {"type", SHAPE_TYPES, holds_type},
    {"enum", SHAPE_VALUES, holds_enum},
    {"const", SHAPE_ANY, holds_const},
    {"minimum", SHAPE_NUMBER, holds_minimum},
    {"maximum", SHAPE_NUMBER, holds_maximum},
    {"exclusiveMinimum", SHAPE_NUMBER, holds_above},
    {"exclusiveMaximum", SHAPE_NUMBER, holds_below},
    {"minLength", SHAPE_COUNT, holds_min_length},
    {"maxLength", SHAPE_COUNT, holds_max_length},
    {"minItems", SHAPE_COUNT, holds_min_items},
    {"maxItems", SHAPE_COUNT, holds_max_items},
    {"items", SHAPE_SCHEMA, holds_items},
    {"minProperties", SHAPE_COUNT, holds_min_properties},
    {"maxProperties", SHAPE_COUNT, holds_max_properties},
    {"properties", SHAPE_SCHEMAS, holds_properties},
    {"additionalProperties", SHAPE_SCHEMA, holds_additional},
    {"required", SHAPE_NAMES, holds_required},
    {"allOf", SHAPE_SCHEMA_LIST, holds_all},
    {"anyOf", SHAPE_SCHEMA_LIST, holds_any},
    {"oneOf", SHAPE_SCHEMA_LIST, holds_one},
    {"not", SHAPE_SCHEMA, holds_not},
    {"title", SHAPE_ANY, NULL},
    {"description", SHAPE_ANY, NULL},
    {"$comment", SHAPE_ANY, NULL},
    {"$schema", SHAPE_ANY, NULL},
    {"$id", SHAPE_ANY, NULL},
    {"default", SHAPE_ANY, NULL},
    {"examples", SHAPE_ANY, NULL},
    {"deprecated", SHAPE_ANY, NULL},
};

static const Keyword *find_keyword(Slice name)
{
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (has_text(name, keywords[i].name)) {
            return &keywords[i];
        }
    }
    return NULL;
}

/* ---- Validating ------------------------------------------------------------------------------ */

/* The depth of the calls is bounded by that of canonical texts. */
static bool validate_value(Check *check, Slice schema, Slice value, const Step *at)
{
    Slice name;
    Slice says;
    if (first_byte(schema) != '{') {
        return has_text(schema, "true") ||
               refuse_part(check, at, "may not be there", (Slice){"", 0});
    }
    for (size_t next = 0; json_next_member(schema, &next, &name, &says);) {
        const Keyword *keyword = find_keyword(name);
        Rule rule = {schema, says, value, at};
        SAP_ASSERT(keyword != NULL);
        if (keyword->holds != NULL && !keyword->holds(check, &rule)) {
            return false;
        }
    }
    return true;
}

int json_schema_validate(Slice schema, Slice value, char why[JSON_SCHEMA_WHY])
{
    Check check = {.said = false};
    return end_check(&check, validate_value(&check, schema, value, NULL), why);
}

/* ---- Checking a schema ----------------------------------------------------------------------- */

static bool check_schema(Check *check, Slice schema, const Step *at);

static bool is_type_name(Slice value)
{
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++) {
        if (has_text(value, type_names[i])) {
            return true;
        }
    }
    return false;
}

static bool is_string(Slice value)
{
    return first_byte(value) == '"';
}

/* Whether it is an array of so many elements or more, each of which is as it should be. */
static bool is_list(Slice value, size_t least, bool (*fits)(Slice element))
{
    Slice element;
    size_t count = 0;
    if (first_byte(value) != '[') {
        return false;
    }
    for (size_t at = 0; json_next_element(value, &at, &element); count++) {
        if (fits != NULL && !fits(element)) {
            return false;
        }
    }
    return count >= least;
}

static bool check_schemas(Check *check, Slice schemas, const Step *at)
{
    Slice key;
    Slice schema;
    if (first_byte(schemas) != '{') {
        return refuse_part(check, at, "is not an object of schemas", (Slice){"", 0});
    }
    for (size_t next = 0; json_next_member(schemas, &next, &key, &schema);) {
        Step step = {.up = at, .key = key};
        if (!check_schema(check, schema, &step)) {
            return false;
        }
    }
    return true;
}

static bool check_schema_list(Check *check, Slice schemas, const Step *at)
{
    Slice schema;
    Step step = {.up = at};
    if (!is_list(schemas, 1, NULL)) {
        return refuse_part(check, at, "is not an array of schemas", (Slice){"", 0});
    }
    for (size_t next = 0; json_next_element(schemas, &next, &schema); step.index++) {
        if (!check_schema(check, schema, &step)) {
            return false;
        }
    }
    return true;
}

static bool check_shape(Check *check, Shape shape, Slice says, const Step *at)
{
    Slice none = {"", 0};
    switch (shape) {
    case SHAPE_ANY:
        return true;
    case SHAPE_TYPES:
        return is_type_name(says) || is_list(says, 1, is_type_name) ||
               refuse_part(check, at, "is not a type, or an array of types", none);
    case SHAPE_COUNT:
        return (is_number(says) && first_byte(says) != '-' && json_is_whole(says)) ||
               refuse_part(check, at, "is not an integer from 0 on", none);
    case SHAPE_NUMBER:
        return is_number(says) || refuse_part(check, at, "is not a number", none);
    case SHAPE_NAMES:
        return is_list(says, 0, is_string) ||
               refuse_part(check, at, "is not an array of strings", none);
    case SHAPE_VALUES:
        return is_list(says, 1, NULL) ||
               refuse_part(check, at, "is not an array with an element", none);
    case SHAPE_SCHEMA:
        return check_schema(check, says, at);
    case SHAPE_SCHEMAS:
        return check_schemas(check, says, at);
    case SHAPE_SCHEMA_LIST:
        return check_schema_list(check, says, at);
    }
    return false;
}

static bool check_schema(Check *check, Slice schema, const Step *at)
{
    Slice name;
    Slice says;
    if (has_text(schema, "true") || has_text(schema, "false")) {
        return true;
    }
    if (first_byte(schema) != '{') {
        return refuse_part(check, at, "is not a schema: an object, true or false", (Slice){"", 0});
    }
    for (size_t next = 0; json_next_member(schema, &next, &name, &says);) {
        const Keyword *keyword = find_keyword(name);
        Step step = {.up = at, .key = name};
        if (keyword == NULL) {
            return refuse_part(check, &step, "is not a keyword that is checked here",
                               (Slice){"", 0});
        }
        if (!check_shape(check, keyword->shape, says, &step)) {
            return false;
        }
    }
    return true;
}

int json_schema_check(Slice schema, char why[JSON_SCHEMA_WHY])
{
    Check check = {.said = false};
    return end_check(&check, check_schema(&check, schema, NULL), why);
}
