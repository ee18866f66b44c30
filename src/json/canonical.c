/* A reader of our own, not jansson: jansson refuses integers above INT64_MAX or reads them as
 * doubles, refuses \u0000 in keys, nests 2048 levels deep, and takes memory that no fault point
 * guards. It would also build a tree that has to be walked again; this reader writes the canonical
 * text as it goes and only moves members afterwards. A fuzz target compares the two. */
#include "json/canonical.h"

#include "common/assert.h"
#include "common/utf8.h"
#include "json/members.h"
#include "json/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct JsonReader {
    const uint8_t *text;
    size_t len;
    size_t at; /* <= len */
    int depth; /* arrays and objects that are open */
    Buf *out;
    Buf keys;    /* of the objects that are open, escapes resolved, as UTF-8 */
    Buf scratch; /* digits of a number */
    Members members;
    CanonicalError *error;
} JsonReader;

int canonical_refuse(CanonicalError *error, int rc, size_t at, const char *reason)
{
    if (error != NULL) {
        *error = (CanonicalError){at, reason};
    }
    return rc;
}

static int refuse_json(JsonReader *r, size_t at, const char *reason)
{
    return canonical_refuse(r->error, SAP_INVALID, at, reason);
}

static void skip_white_space(JsonReader *r)
{
    while (r->at < r->len && (r->text[r->at] == ' ' || r->text[r->at] == '\t' ||
                              r->text[r->at] == '\n' || r->text[r->at] == '\r')) {
        r->at++;
    }
}

/* The next byte, or 0 at the end. A byte 0 of the input is nowhere allowed and so is the same. */
static uint8_t peek_byte(const JsonReader *r)
{
    return r->at < r->len ? r->text[r->at] : 0;
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* --- strings --------------------------------------------------------------------------------- */

static int hex_value(uint8_t c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The four digits after \u. */
static bool read_code_unit(JsonReader *r, uint32_t *out)
{
    uint32_t unit = 0;

    for (int i = 0; i < 4; i++) {
        int digit = hex_value(peek_byte(r));
        if (digit < 0) {
            return false;
        }
        unit = unit * 16 + (uint32_t)digit;
        r->at++;
    }
    *out = unit;
    return true;
}

/* After \u: four digits, or those of a pair with the \u between them. */
static int read_unicode_escape(JsonReader *r, uint32_t *out)
{
    size_t at = r->at - 2;
    uint32_t unit;
    uint32_t low = 0;

    if (!read_code_unit(r, &unit)) {
        return refuse_json(r, at, "\\u without four hexadecimal digits");
    }
    if (unit >= 0xd800 && unit <= 0xdfff) {
        bool pair = unit <= 0xdbff && r->len - r->at >= 2 && r->text[r->at] == '\\' &&
                    r->text[r->at + 1] == 'u';
        if (pair) {
            r->at += 2;
            pair = read_code_unit(r, &low) && low >= 0xdc00 && low <= 0xdfff;
        }
        if (!pair) {
            return refuse_json(r, at, "half of a surrogate pair");
        }
        unit = 0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00);
    }
    *out = unit;
    return SAP_OK;
}

/* After the backslash. */
static int read_escape(JsonReader *r, uint32_t *out)
{
    size_t at = r->at - 1;
    uint8_t c = peek_byte(r);

    r->at += r->at < r->len;
    switch (c) {
    case '"':
    case '\\':
    case '/':
        *out = c;
        return SAP_OK;
    case 'b':
        *out = '\b';
        return SAP_OK;
    case 'f':
        *out = '\f';
        return SAP_OK;
    case 'n':
        *out = '\n';
        return SAP_OK;
    case 'r':
        *out = '\r';
        return SAP_OK;
    case 't':
        *out = '\t';
        return SAP_OK;
    case 'u':
        return read_unicode_escape(r, out);
    default:
        return refuse_json(r, at, "unknown escape");
    }
}

/* Appends a code point as the canonical form has it in a string. */
static int write_code_point(Buf *out, uint32_t code)
{
    static const char named[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                 ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

    if (code < sizeof named && named[code] != 0) {
        uint8_t escape[2] = {'\\', (uint8_t)named[code]};
        return buf_append(out, escape, sizeof escape);
    }
    if (code < 0x20) {
        return buf_printf(out, "\\u%04x", (unsigned)code);
    }
    uint8_t bytes[4];
    size_t len = utf8_encode(code, bytes);
    return buf_append(out, bytes, len);
}

/* At the opening quote. What the string means is appended to `plain` too, unless that is NULL. */
static int read_string(JsonReader *r, Buf *plain)
{
    size_t begin = r->at++;
    int rc = buf_append_u8(r->out, '"');

    while (rc == SAP_OK) {
        uint8_t bytes[4];
        uint32_t code;

        if (r->at == r->len) {
            return refuse_json(r, begin, "a string without an end");
        }
        size_t used = utf8_decode(r->text + r->at, r->len - r->at, &code);
        if (code == UTF8_BAD) {
            return refuse_json(r, r->at, "not UTF-8");
        }
        if (code < 0x20) {
            return refuse_json(r, r->at, "a control character that is not escaped");
        }
        r->at += used;
        if (code == '"') {
            return buf_append_u8(r->out, '"');
        }
        if (code == '\\') {
            rc = read_escape(r, &code);
        }
        if (rc == SAP_OK) {
            rc = write_code_point(r->out, code);
        }
        if (rc == SAP_OK && plain != NULL) {
            used = utf8_encode(code, bytes);
            rc = buf_append(plain, bytes, used);
        }
    }
    return rc;
}

/* --- numbers --------------------------------------------------------------------------------- */

static bool skip_digits(JsonReader *r)
{
    size_t begin = r->at;

    while (is_digit(peek_byte(r))) {
        r->at++;
    }
    return r->at > begin;
}

/* Moves behind a number of the grammar of JSON; *integer_out if it has no fraction and exponent. */
static bool skip_number(JsonReader *r, bool *integer_out)
{
    r->at += peek_byte(r) == '-';
    if (peek_byte(r) == '0') {
        r->at++;
    } else if (!skip_digits(r)) {
        return false;
    }
    *integer_out = true;
    if (peek_byte(r) == '.') {
        *integer_out = false;
        r->at++;
        if (!skip_digits(r)) {
            return false;
        }
    }
    if (peek_byte(r) == 'e' || peek_byte(r) == 'E') {
        *integer_out = false;
        r->at++;
        r->at += peek_byte(r) == '+' || peek_byte(r) == '-';
        return skip_digits(r);
    }
    return true;
}

/* Whether the digits of an integer, which may begin with a minus, are in the range of int64_t or of
 * uint64_t. */
static bool fits_64_bits(const uint8_t *text, size_t len)
{
    bool negative = text[0] == '-';
    uint64_t v = 0;

    for (size_t i = negative; i < len; i++) {
        if (__builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v)) {
            return false;
        }
    }
    return !negative || v <= UINT64_C(1) << 63;
}

static int read_number(JsonReader *r)
{
    size_t begin = r->at;
    const uint8_t *text = r->text + begin;
    bool integer;
    double v;

    if (!skip_number(r, &integer)) {
        return refuse_json(r, begin, "not a number");
    }
    size_t len = r->at - begin;
    bool minus_zero = len == 2 && text[0] == '-' && text[1] == '0';
    if (integer && !minus_zero && fits_64_bits(text, len)) {
        return buf_append(r->out, text, len);
    }
    int rc = number_read(text, len, &r->scratch, &v);
    if (rc != SAP_OK) {
        return rc;
    }
    if (isinf(v)) {
        return refuse_json(r, begin, "a number too large for a double");
    }
    return number_append(r->out, v);
}

/* --- values ---------------------------------------------------------------------------------- */

static int read_value(JsonReader *r);

static int read_word(JsonReader *r, const char *word)
{
    size_t len = strlen(word);

    if (r->len - r->at < len || memcmp(r->text + r->at, word, len) != 0) {
        return refuse_json(r, r->at, "not a value");
    }
    r->at += len;
    return buf_append(r->out, word, len);
}

/* Counts an array or object that begins here. */
static int open_container(JsonReader *r, uint8_t bracket)
{
    if (r->depth == CANONICAL_MAX_DEPTH) {
        return canonical_refuse(r->error, SAP_FULL, r->at, "nested too deep");
    }
    r->depth++;
    r->at++;
    skip_white_space(r);
    return buf_append_u8(r->out, bracket);
}

/* Between two elements, or at the end of the container, which is then closed. */
static int pass_comma(JsonReader *r, uint8_t closing, const char *reason, bool *more_out)
{
    skip_white_space(r);
    uint8_t c = peek_byte(r);
    if (c != ',' && c != closing) {
        return refuse_json(r, r->at, reason);
    }
    r->at++;
    if (c == ',') {
        skip_white_space(r);
    }
    *more_out = c == ',';
    return SAP_OK;
}

static int read_array(JsonReader *r)
{
    int rc = open_container(r, '[');
    bool more = peek_byte(r) != ']';

    if (rc == SAP_OK && !more) {
        r->at++;
    }
    while (rc == SAP_OK && more) {
        rc = read_value(r);
        if (rc == SAP_OK) {
            rc = pass_comma(r, ']', "neither , nor ] after an element", &more);
        }
        if (rc == SAP_OK && more) {
            rc = buf_append_u8(r->out, ',');
        }
    }
    r->depth--;
    return rc == SAP_OK ? buf_append_u8(r->out, ']') : rc;
}

/* UTF-16 code units of two keys in UTF-8. Their order is that of the bytes but for one thing: what
 * UTF-16 writes as surrogates, from D800 on, begins with a byte from F0 on and comes before
 * U+E000 to U+FFFF, which begin with EE or EF. */
static int compare_utf16(const void *a, const void *b)
{
    const Member *x = (const Member *)a;
    const Member *y = (const Member *)b;
    size_t common = x->key_len < y->key_len ? x->key_len : y->key_len;

    for (size_t i = 0; i < common; i++) {
        uint8_t p = x->key[i];
        uint8_t q = y->key[i];
        if (p != q) {
            bool p_last = p == 0xee || p == 0xef;
            bool q_last = q == 0xee || q == 0xef;
            return p_last != q_last && p >= 0xee && q >= 0xee ? (p_last ? 1 : -1) : p < q ? -1 : 1;
        }
    }
    return (x->key_len > y->key_len) - (x->key_len < y->key_len);
}

/* Writes `"key":value,`: the comma belongs to the member, so that sorting needs no separators. */
static int read_member(JsonReader *r)
{
    Member member = {.source_at = r->at, .key_at = r->keys.len, .at = r->out->len};

    if (peek_byte(r) != '"') {
        return refuse_json(r, r->at, "a member without a key");
    }
    int rc = read_string(r, &r->keys);
    if (rc != SAP_OK) {
        return rc;
    }
    member.key_len = r->keys.len - member.key_at;
    skip_white_space(r);
    if (peek_byte(r) != ':') {
        return refuse_json(r, r->at, "no : after a key");
    }
    r->at++;
    skip_white_space(r);
    rc = buf_append_u8(r->out, ':');
    rc = rc == SAP_OK ? read_value(r) : rc;
    rc = rc == SAP_OK ? buf_append_u8(r->out, ',') : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    member.len = r->out->len - member.at;
    return members_add(&r->members, &member);
}

static int read_object(JsonReader *r)
{
    size_t first = members_count(&r->members);
    size_t keys_len = r->keys.len;
    size_t twice;
    int rc = open_container(r, '{');
    bool empty = peek_byte(r) == '}';
    bool more = !empty;

    if (rc == SAP_OK && empty) {
        r->at++;
    }
    while (rc == SAP_OK && more) {
        rc = read_member(r);
        if (rc == SAP_OK) {
            rc = pass_comma(r, '}', "neither , nor } after a member", &more);
        }
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = members_sort(&r->members, first, &r->keys, r->out, compare_utf16, &twice);
    if (rc == SAP_INVALID) {
        return refuse_json(r, twice, "a key that occurs twice");
    }
    if (rc != SAP_OK) {
        return rc;
    }
    r->depth--;
    buf_truncate(&r->keys, keys_len);
    if (!empty) {
        buf_truncate(r->out, r->out->len - 1);
    }
    return buf_append_u8(r->out, '}');
}

static int read_value(JsonReader *r)
{
    switch (peek_byte(r)) {
    case '{':
        return read_object(r);
    case '[':
        return read_array(r);
    case '"':
        return read_string(r, NULL);
    case 't':
        return read_word(r, "true");
    case 'f':
        return read_word(r, "false");
    case 'n':
        return read_word(r, "null");
    default:
        break;
    }
    if (r->at == r->len) {
        return refuse_json(r, r->at, "a value is missing");
    }
    return peek_byte(r) == '-' || is_digit(peek_byte(r)) ? read_number(r)
                                                         : refuse_json(r, r->at, "not a value");
}

int json_canonical(const void *text, size_t len, Buf *out, CanonicalError *error)
{
    JsonReader r = {.text = (const uint8_t *)text, .len = len, .out = out, .error = error};
    size_t before = out->len;

    skip_white_space(&r);
    int rc = read_value(&r);
    if (rc == SAP_OK) {
        skip_white_space(&r);
        if (r.at < len) {
            rc = refuse_json(&r, r.at, "more after the value");
        }
    }
    if (rc == SAP_NOMEM) {
        (void)canonical_refuse(error, rc, r.at, "out of memory");
    }
    if (rc != SAP_OK) {
        buf_truncate(out, before);
    }
    SAP_ASSERT(rc != SAP_OK || (r.depth == 0 && members_count(&r.members) == 0 && r.keys.len == 0));
    buf_release(&r.keys);
    buf_release(&r.scratch);
    members_release(&r.members);
    return rc;
}
