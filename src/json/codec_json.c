#include "json/codec_json.h"

#include "common/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Integers up to here are the same in every JSON reader. */
#define EXACT_MOST ((UINT64_C(1) << 53) - 1)

static int wanted(const json_t *json, const char *what, CodecError *error)
{
    return json == NULL ? codec_refuse(error, ": is missing")
                        : codec_refuse(error, ": should be %s", what);
}

json_t *codec_json_unsigned(uint64_t v)
{
    return v <= EXACT_MOST ? json_integer((json_int_t)v) : json_sprintf("%" PRIu64, v);
}

json_t *codec_json_signed(int64_t v)
{
    if (v >= 0) {
        return codec_json_unsigned((uint64_t)v);
    }
    return v < -(int64_t)EXACT_MOST ? json_sprintf("%" PRId64, v) : json_integer(v);
}

json_t *codec_json_real(double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    if (isnan(v)) {
        return json_sprintf("nan:%016" PRIx64, bits);
    }
    if (isinf(v)) {
        return json_string(v < 0 ? "-Infinity" : "Infinity");
    }
    return json_real(v);
}

json_t *codec_json_real32(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    return isnan(v) ? json_sprintf("nan:%08" PRIx32, bits) : codec_json_real((double)v);
}

json_t *codec_json_char(uint32_t v)
{
    uint8_t text[4];

    if (codec_check_char(v, NULL) != SAP_OK) {
        return NULL;
    }
    size_t len = utf8_encode(v, text);
    return json_stringn((const char *)text, len);
}

json_t *codec_json_string(const CodecBytes *v)
{
    return json_stringn(v->len == 0 ? "" : (const char *)v->data, v->len);
}

json_t *codec_json_bytes(const CodecBytes *v)
{
    static const char digits[] = "0123456789abcdef";
    Buf buf = {0};
    int rc = SAP_OK;

    for (uint32_t i = 0; i < v->len && rc == SAP_OK; i++) {
        char pair[2] = {digits[v->data[i] / 16], digits[v->data[i] % 16]};
        rc = buf_append(&buf, pair, sizeof pair);
    }
    json_t *json =
        rc == SAP_OK ? json_stringn(buf.len == 0 ? "" : (const char *)buf.data, buf.len) : NULL;
    buf_release(&buf);
    return json;
}

json_t *codec_json_flags(const uint8_t *bits, const char *const *names, uint32_t count)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < count && ok; i++) {
        ok = !codec_bit(bits, i) || codec_json_append(json, json_string(names[i]));
    }
    return codec_json_done(json, ok);
}

bool codec_json_add(json_t *object, const char *name, json_t *value)
{
    return value != NULL && json_object_set_new_nocheck(object, name, value) == 0;
}

bool codec_json_append(json_t *array, json_t *value)
{
    return value != NULL && json_array_append_new(array, value) == 0;
}

json_t *codec_json_done(json_t *json, bool ok)
{
    if (!ok) {
        json_decref(json);
        return NULL;
    }
    return json;
}

json_t *codec_json_one(const char *name, json_t *value)
{
    json_t *json = json_object();

    if (json == NULL) {
        json_decref(value);
        return NULL;
    }
    return codec_json_done(json, codec_json_add(json, name, value));
}

int codec_json_read_bool(const json_t *json, bool *out, CodecError *error)
{
    if (!json_is_boolean(json)) {
        return wanted(json, "true or false", error);
    }
    *out = json_is_true(json);
    return SAP_OK;
}

/* NULL if it is no string, or one that goes on behind a zero. */
static const char *plain_text(const json_t *json)
{
    const char *text = json_string_value(json);

    return text != NULL && strlen(text) == json_string_length(json) ? text : NULL;
}

/* The digits of a number beyond EXACT_MOST; true if they are nothing else. */
static bool digits_of(const json_t *json, uint64_t *out, bool *negative_out)
{
    const char *text = plain_text(json);

    if (text == NULL) {
        return false;
    }
    *negative_out = text[0] == '-';
    text += *negative_out;
    uint64_t v = 0;
    if (text[0] < '1' || text[0] > '9') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*text - '0'), &v)) {
            return false;
        }
    }
    *out = v;
    return v > EXACT_MOST;
}

int codec_json_read_unsigned(const json_t *json, uint64_t most, uint64_t *out, CodecError *error)
{
    uint64_t v = 0;
    bool negative = false;

    if (json_is_integer(json)) {
        json_int_t integer = json_integer_value(json);
        negative = integer < 0;
        v = (uint64_t)integer;
    } else if (!digits_of(json, &v, &negative)) {
        return wanted(json, "an integer", error);
    }
    if (negative || v > most) {
        return codec_refuse(error, ": should be an integer from 0 to %" PRIu64, most);
    }
    *out = v;
    return SAP_OK;
}

int codec_json_read_signed(const json_t *json, int64_t least, int64_t most, int64_t *out,
                           CodecError *error)
{
    int64_t v = 0;
    uint64_t size;
    bool negative;

    if (json_is_integer(json)) {
        v = json_integer_value(json);
    } else if (digits_of(json, &size, &negative) && size <= (uint64_t)INT64_MAX + negative) {
        v = negative ? (int64_t)(0 - size) : (int64_t)size;
    } else {
        return wanted(json, "an integer", error);
    }
    if (v < least || v > most) {
        return codec_refuse(error, ": should be an integer from %" PRId64 " to %" PRId64, least,
                            most);
    }
    *out = v;
    return SAP_OK;
}

/* The bits behind "nan:", `digits` hexadecimal digits. */
static bool nan_bits(const json_t *json, size_t digits, uint64_t *out)
{
    const char *text = json_string_value(json);

    if (text == NULL || json_string_length(json) != 4 + digits || strncmp(text, "nan:", 4) != 0 ||
        strspn(text + 4, "0123456789abcdef") != digits) {
        return false;
    }
    *out = strtoull(text + 4, NULL, 16);
    return true;
}

/* Whether a real has all digits of the integer. 2^63 itself is no int64_t. */
static bool real_is_exact(json_int_t v)
{
    double real = (double)v;

    return real < 0x1p63 && (json_int_t)real == v;
}

int codec_json_read_real(const json_t *json, double *out, CodecError *error)
{
    const char *text = plain_text(json);
    uint64_t bits;

    if (json_is_integer(json) && !real_is_exact(json_integer_value(json))) {
        return codec_refuse(error, ": should be a number that 64 bits hold exactly");
    }
    if (json_is_number(json)) {
        *out = json_number_value(json);
        return SAP_OK;
    }
    if (nan_bits(json, 16, &bits)) {
        double v;
        memcpy(&v, &bits, sizeof v);
        if (isnan(v)) {
            *out = v;
            return SAP_OK;
        }
    } else if (text != NULL && strcmp(text, "Infinity") == 0) {
        *out = INFINITY;
        return SAP_OK;
    } else if (text != NULL && strcmp(text, "-Infinity") == 0) {
        *out = -INFINITY;
        return SAP_OK;
    }
    return wanted(json, "a number", error);
}

int codec_json_read_real32(const json_t *json, float *out, CodecError *error)
{
    uint64_t bits;
    double v = 0;

    if (nan_bits(json, 8, &bits)) {
        uint32_t low = (uint32_t)bits;
        float f;
        memcpy(&f, &low, sizeof f);
        if (isnan(f)) {
            *out = f;
            return SAP_OK;
        }
    }
    int rc = codec_json_read_real(json, &v, error);
    if (rc != SAP_OK) {
        return rc;
    }
    if (isnan(v) || (double)(float)v != v) {
        return codec_refuse(error, ": should be a number of 32 bits");
    }
    *out = (float)v;
    return SAP_OK;
}

int codec_json_read_char(const json_t *json, uint32_t *out, CodecError *error)
{
    const uint8_t *text = (const uint8_t *)json_string_value(json);
    size_t len = json_string_length(json);
    uint32_t code;

    if (text == NULL || len == 0 || utf8_decode(text, len, &code) != len || code == UTF8_BAD) {
        return wanted(json, "a string of one character", error);
    }
    *out = code;
    return SAP_OK;
}

int codec_json_read_string(const json_t *json, CodecBytes *out, CodecError *error)
{
    if (!json_is_string(json)) {
        return wanted(json, "a string", error);
    }
    return codec_bytes_set(out, json_string_value(json), json_string_length(json));
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int codec_json_read_bytes(const json_t *json, CodecBytes *out, CodecError *error)
{
    const char *text = json_string_value(json);
    size_t len = json_string_length(json);

    if (text == NULL || len % 2 != 0) {
        return wanted(json, "a string of pairs of hexadecimal digits", error);
    }
    int rc = codec_bytes_set(out, text, len / 2);
    for (size_t i = 0; i < len / 2 && rc == SAP_OK; i++) {
        int high = digit(text[2 * i]);
        int low = digit(text[2 * i + 1]);
        if (high < 0 || low < 0) {
            return wanted(json, "a string of pairs of hexadecimal digits", error);
        }
        out->data[i] = (uint8_t)(high * 16 + low);
    }
    return rc;
}

static bool find_name(const char *name, const char *const *names, uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = i;
            return true;
        }
    }
    return false;
}

int codec_json_read_case(const json_t *json, const char *const *names, uint32_t count,
                         uint32_t *out, CodecError *error)
{
    const char *text = plain_text(json);

    if (text == NULL) {
        return wanted(json, "a name", error);
    }
    return find_name(text, names, count, out) ? SAP_OK
                                              : codec_refuse(error, ": '%.60s' is unknown", text);
}

int codec_json_read_flags(const json_t *json, const char *const *names, uint32_t count,
                          uint8_t *bits, CodecError *error)
{
    if (!json_is_array(json)) {
        return wanted(json, "an array of names", error);
    }
    for (size_t i = 0; i < json_array_size(json); i++) {
        uint32_t number = 0;
        int rc = codec_json_read_case(json_array_get(json, i), names, count, &number, error);
        if (rc != SAP_OK) {
            return rc;
        }
        if (codec_bit(bits, number)) {
            return codec_refuse(error, ": '%.60s' is there twice", names[number]);
        }
        bits[number / 8] |= (uint8_t)(1u << number % 8);
    }
    return SAP_OK;
}

int codec_json_read_variant(const json_t *json, const char *const *names, uint32_t count,
                            uint32_t *out, const json_t **value_out, CodecError *error)
{
    *value_out = NULL;
    if (json_is_string(json)) {
        return codec_json_read_case(json, names, count, out, error);
    }
    if (!json_is_object(json) || json_object_size(json) != 1) {
        return wanted(json, "a name or an object of one field", error);
    }
    for (uint32_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(json, names[i]);
        if (value != NULL) {
            *out = i;
            *value_out = value;
            return SAP_OK;
        }
    }
    return codec_refuse(error, ": its one field is unknown");
}

int codec_json_read_fields(const json_t *json, const char *const *names, uint32_t count,
                           CodecError *error)
{
    uint32_t known = 0;

    if (!json_is_object(json)) {
        return wanted(json, "an object", error);
    }
    for (uint32_t i = 0; i < count; i++) {
        known += json_object_get(json, names[i]) != NULL;
    }
    return known == json_object_size(json) ? SAP_OK
                                           : codec_refuse(error, ": a field in it is unknown");
}

int codec_json_read_array(const json_t *json, uint32_t *count_out, CodecError *error)
{
    if (!json_is_array(json) || json_array_size(json) > UINT32_MAX) {
        return wanted(json, "an array", error);
    }
    *count_out = (uint32_t)json_array_size(json);
    return SAP_OK;
}

int codec_json_read_nothing(const json_t *value, bool null_wanted, CodecError *error)
{
    if (null_wanted ? value != NULL && json_is_null(value) : value == NULL) {
        return SAP_OK;
    }
    return codec_refuse(error,
                        null_wanted ? ": should have the value null" : ": has no value of its own");
}
