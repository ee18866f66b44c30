/* walk.c - see walk.h. */
#include "json/walk.h"

#include <string.h>

#include "common/assert.h"
#include "json/number.h"

static const uint8_t *bytes_of(Slice text)
{
    return (const uint8_t *)text.data;
}

/* Where the string that begins at `at` ends. */
static size_t string_end(Slice text, size_t at)
{
    const uint8_t *bytes = bytes_of(text);
    SAP_ASSERT(bytes[at] == '"');
    for (at++; at < text.len && bytes[at] != '"'; at++) {
        at += bytes[at] == '\\';
    }
    SAP_ASSERT(at < text.len);
    return at + 1;
}

/* Where the value that begins at `at` ends. */
static size_t value_end(Slice text, size_t at)
{
    const uint8_t *bytes = bytes_of(text);
    size_t open = 0;
    for (; at < text.len; at++) {
        if (bytes[at] == '"') {
            at = string_end(text, at) - 1;
        } else if (bytes[at] == '{' || bytes[at] == '[') {
            open++;
            continue;
        } else if (bytes[at] == '}' || bytes[at] == ']') {
            SAP_ASSERT(open > 0);
            open--;
        }
        /* Of what is open nothing ends here; a word or a number goes on until something else begins. */
        bool ends = at + 1 == text.len || bytes[at + 1] == ',' || bytes[at + 1] == '}' ||
                    bytes[at + 1] == ']';
        if (open == 0 && ends) {
            return at + 1;
        }
    }
    SAP_ASSERT(false);
    return at;
}

/* Moves *at to where the next part of a container begins. */
static bool begin_part(Slice container, size_t *at, uint8_t closing)
{
    const uint8_t *bytes = bytes_of(container);
    SAP_ASSERT(container.len >= 2);
    if (*at == 0 && bytes[1] == closing) {
        return false;
    }
    SAP_ASSERT(*at == 0 || bytes[*at] == ',' || bytes[*at] == closing);
    if (*at > 0 && bytes[*at] == closing) {
        return false;
    }
    (*at)++;
    return true;
}

bool json_next_element(Slice array, size_t *at, Slice *value_out)
{
    if (!begin_part(array, at, ']')) {
        return false;
    }
    size_t end = value_end(array, *at);
    *value_out = (Slice){bytes_of(array) + *at, end - *at};
    *at = end;
    return true;
}

bool json_next_member(Slice object, size_t *at, Slice *key_out, Slice *value_out)
{
    if (!begin_part(object, at, '}')) {
        return false;
    }
    size_t key_end = string_end(object, *at);
    *key_out = (Slice){bytes_of(object) + *at + 1, key_end - *at - 2};
    SAP_ASSERT(bytes_of(object)[key_end] == ':');
    size_t end = value_end(object, key_end + 1);
    *value_out = (Slice){bytes_of(object) + key_end + 1, end - key_end - 1};
    *at = end;
    return true;
}

bool json_same_text(Slice a, Slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

bool json_find_member(Slice object, Slice key, Slice *value_out)
{
    Slice found;
    Slice value;
    for (size_t at = 0; json_next_member(object, &at, &found, &value);) {
        if (json_same_text(found, key)) {
            *value_out = value;
            return true;
        }
    }
    return false;
}

size_t json_count_points(Slice string)
{
    const uint8_t *bytes = bytes_of(string);
    size_t length = 0;
    for (size_t at = 1; at + 1 < string.len; at++) {
        if (bytes[at] == '\\') { /* \u is four digits, everything else one character */
            at += bytes[at + 1] == 'u' ? 5 : 1;
        }
        length += (bytes[at] & 0xC0) != 0x80;
    }
    return length;
}

/* ECMAScript writes a double below 1e21 that is an integer without an exponent, and one of 1e21 and more,
 * all of which are integers, with one that has a plus. */
bool json_is_whole(Slice number)
{
    bool exponent = memchr(number.data, 'e', number.len) != NULL;
    return exponent ? memchr(number.data, '+', number.len) != NULL
                    : memchr(number.data, '.', number.len) == NULL;
}

static double as_double(Slice number)
{
    uint8_t room[2 * NUMBER_TEXT_SIZE];
    Buf scratch = buf_in(room, sizeof room);
    double value = 0;
    int rc = number_read(bytes_of(number), number.len, &scratch, &value);
    SAP_ASSERT(rc == SAP_OK); /* a canonical number is short */
    return value;
}

static bool has_digits_only(Slice number)
{
    const uint8_t *bytes = bytes_of(number);
    for (size_t i = bytes[0] == '-'; i < number.len; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') {
            return false;
        }
    }
    return true;
}

/* Two integers without a sign. */
static int compare_digits(Slice a, Slice b)
{
    int order = a.len == b.len ? memcmp(a.data, b.data, a.len) : a.len < b.len ? -1 : 1;
    return (order > 0) - (order < 0);
}

int json_compare_numbers(Slice a, Slice b)
{
    bool a_below = bytes_of(a)[0] == '-';
    bool b_below = bytes_of(b)[0] == '-';
    if (has_digits_only(a) && has_digits_only(b)) {
        if (a_below != b_below) {
            return a_below ? -1 : 1;
        }
        return a_below ? compare_digits(b, a) : compare_digits(a, b);
    }
    double x = as_double(a);
    double y = as_double(b);
    return (x > y) - (x < y);
}
