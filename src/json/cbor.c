/* A reader of our own, not libcbor: libcbor 0.8 refuses simple values below 20 and above 31 and
 * tags 6 to 20, which have to be kept, and its tree allocates by claimed lengths. What is left of
 * it, the streaming decoder, reads heads; that is next_head() below. UTF-8, depth, order of keys
 * and duplicates would be ours to check in any case. */
#include "json/cbor.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/utf8.h"
#include "json/members.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { MAJOR_UNSIGNED, MAJOR_NEGATIVE, MAJOR_BYTES, MAJOR_TEXT, MAJOR_ARRAY, MAJOR_MAP, MAJOR_TAG };
enum { MAJOR_OTHER = 7, INDEFINITE = 31, BREAK = 0xff, LONGEST_HEAD = 9 };

/* The additional information of floats and of simple values in a byte of their own. */
enum { INFO_SIMPLE = 24, INFO_HALF = 25, INFO_SINGLE = 26, INFO_DOUBLE = 27 };

typedef struct Head {
    size_t at;     /* in the input */
    uint8_t major; /* 0 to 7 */
    uint8_t info;  /* 0 to 27, or INDEFINITE */
    uint64_t value;
} Head;

typedef struct CborReader {
    const uint8_t *data;
    size_t len;
    size_t at; /* <= len */
    int depth; /* arrays, maps and tags that are open */
    Buf *out;
    Members members;
    CanonicalError *error;
} CborReader;

static int refuse_cbor(CborReader *r, size_t at, const char *reason)
{
    return canonical_refuse(r->error, SAP_INVALID, at, reason);
}

/* --- heads ----------------------------------------------------------------------------------- */

static int next_head(CborReader *r, Head *out)
{
    ByteReader in;
    uint8_t first = 0;
    uint8_t u8 = 0;
    uint16_t u16 = 0;
    uint32_t u32 = 0;
    uint64_t u64 = 0;

    reader_init(&in, r->data + r->at, r->len - r->at);
    int rc = reader_u8(&in, &first);
    uint8_t info = first & 31;
    switch (info) {
    case 24:
        rc = rc == SAP_OK ? reader_u8(&in, &u8) : rc;
        break;
    case 25:
        rc = rc == SAP_OK ? reader_u16be(&in, &u16) : rc;
        break;
    case 26:
        rc = rc == SAP_OK ? reader_u32be(&in, &u32) : rc;
        break;
    case 27:
        rc = rc == SAP_OK ? reader_u64be(&in, &u64) : rc;
        break;
    case 28:
    case 29:
    case 30:
        return refuse_cbor(r, r->at, "reserved additional information");
    default:
        u8 = info;
        break;
    }
    if (rc != SAP_OK) {
        return refuse_cbor(r, r->at, "the input ends within an item");
    }
    /* One of them is not 0 at most. */
    *out = (Head){r->at, (uint8_t)(first >> 5), info, u8 + u16 + u32 + u64};
    r->at = r->len - in.left;
    return SAP_OK;
}

/* Whether a break is next; if so it is taken. */
static bool take_break(CborReader *r)
{
    bool found = r->at < r->len && r->data[r->at] == BREAK;

    r->at += found;
    return found;
}

/* The shortest head; returns its length. */
static size_t encode_head(uint8_t major, uint64_t value, uint8_t out[LONGEST_HEAD])
{
    uint8_t first = (uint8_t)(major << 5);

    if (value < 24) {
        out[0] = (uint8_t)(first + value);
        return 1;
    }
    if (value <= UINT8_MAX) {
        out[0] = (uint8_t)(first + 24);
        out[1] = (uint8_t)value;
        return 2;
    }
    if (value <= UINT16_MAX) {
        out[0] = (uint8_t)(first + 25);
        store_u16be(out + 1, (uint16_t)value);
        return 3;
    }
    if (value <= UINT32_MAX) {
        out[0] = (uint8_t)(first + 26);
        store_u32be(out + 1, (uint32_t)value);
        return 5;
    }
    out[0] = (uint8_t)(first + 27);
    store_u64be(out + 1, value);
    return 9;
}

static int write_head(Buf *out, uint8_t major, uint64_t value)
{
    uint8_t head[LONGEST_HEAD];
    size_t len = encode_head(major, value, head);

    return buf_append(out, head, len);
}

/* Writes the head of an item of indefinite length, whose contents from `at` on are there already. */
static int insert_head(Buf *out, size_t at, uint8_t major, uint64_t value)
{
    uint8_t head[LONGEST_HEAD];
    size_t len = encode_head(major, value, head);
    int rc = buf_append(out, head, len);

    if (rc == SAP_OK) {
        memmove(out->data + at + len, out->data + at, out->len - len - at);
        memcpy(out->data + at, head, len);
    }
    return rc;
}

/* --- floats and simple values ---------------------------------------------------------------- */

static float float_of_bits(uint32_t bits)
{
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static uint32_t bits_of_float(float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    return bits;
}

/* A half has 5 bits of exponent, biased by 15, and 10 of fraction; a single 8, biased by 127, and
 * 23. Both have subnormals, where the exponent is 0, and infinities and NaNs, where it is all ones. */
static double half_value(uint16_t half)
{
    uint32_t sign = half & 0x8000u;
    uint32_t exponent = (half >> 10) & 31u;
    uint32_t fraction = half & 0x3ffu;

    if (exponent == 0) {
        double size = fraction * 0x1p-24;
        return sign != 0 ? -size : size;
    }
    exponent = exponent == 31 ? 255 : exponent + (127 - 15);
    return (double)float_of_bits(sign << 16 | exponent << 23 | fraction << 13);
}

/* Whether the single is also a half. It is not a NaN. */
static bool half_of_single(float v, uint16_t *out)
{
    uint32_t bits = bits_of_float(v);
    uint32_t sign = bits >> 31;
    int exponent = (int)(bits >> 23 & 255u) - 127;
    uint32_t significand = (bits & 0x7fffffu) | 0x800000u;
    uint32_t half;

    if (v == 0) {
        half = 0;
    } else if (isinf(v)) {
        half = 0x7c00;
    } else if (exponent >= -14 && exponent <= 15 && (significand & 0x1fffu) == 0) {
        half = (uint32_t)(exponent + 15) * 0x400u + ((significand >> 13) & 0x3ffu);
    } else if (exponent >= -24 && exponent < -14 &&
               (significand & ((UINT32_C(1) << (-1 - exponent)) - 1)) == 0) {
        half = significand >> (-1 - exponent);
    } else {
        return false;
    }
    *out = (uint16_t)(sign * 0x8000u + half);
    return true;
}

static int write_float(Buf *out, double v)
{
    uint8_t bytes[LONGEST_HEAD];
    uint16_t half = 0x7e00;
    uint64_t bits;
    /* A conversion beyond the largest single would have no value. */
    bool single = !isnan(v) && (isinf(v) || fabs(v) <= (double)FLT_MAX) && (double)(float)v == v;

    if (isnan(v) || (single && half_of_single((float)v, &half))) {
        bytes[0] = MAJOR_OTHER * 32 + INFO_HALF;
        store_u16be(bytes + 1, half);
        return buf_append(out, bytes, 3);
    }
    if (single) {
        bytes[0] = MAJOR_OTHER * 32 + INFO_SINGLE;
        store_u32be(bytes + 1, bits_of_float((float)v));
        return buf_append(out, bytes, 5);
    }
    bytes[0] = MAJOR_OTHER * 32 + INFO_DOUBLE;
    memcpy(&bits, &v, sizeof bits);
    store_u64be(bytes + 1, bits);
    return buf_append(out, bytes, 9);
}

static int write_other(CborReader *r, const Head *head)
{
    double v;

    switch (head->info) {
    case INFO_HALF:
        return write_float(r->out, half_value((uint16_t)head->value));
    case INFO_SINGLE:
        return write_float(r->out, (double)float_of_bits((uint32_t)head->value));
    case INFO_DOUBLE:
        memcpy(&v, &head->value, sizeof v);
        return write_float(r->out, v);
    case INDEFINITE:
        return refuse_cbor(r, head->at, "a break outside of an indefinite length");
    case INFO_SIMPLE:
        if (head->value < 32) {
            return refuse_cbor(r, head->at, "a simple value below 32 in two bytes");
        }
        break;
    default:
        break;
    }
    return write_head(r->out, MAJOR_OTHER, head->value);
}

/* --- strings --------------------------------------------------------------------------------- */

/* Appends the contents of a string of definite length. */
static int copy_contents(CborReader *r, const Head *head)
{
    if (head->value > r->len - r->at) {
        return refuse_cbor(r, head->at, "a length beyond the end of the input");
    }
    size_t len = (size_t)head->value;
    if (head->major == MAJOR_TEXT && !utf8_valid(r->data + r->at, len)) {
        return refuse_cbor(r, head->at, "text that is not UTF-8");
    }
    int rc = buf_append(r->out, r->data + r->at, len);
    r->at += len;
    return rc;
}

static int read_string_item(CborReader *r, const Head *head)
{
    size_t begin = r->out->len;
    Head chunk = {0};
    int rc;

    if (head->info != INDEFINITE) {
        rc = write_head(r->out, head->major, head->value);
        return rc == SAP_OK ? copy_contents(r, head) : rc;
    }
    while (!take_break(r)) {
        rc = next_head(r, &chunk);
        if (rc != SAP_OK) {
            return rc;
        }
        if (chunk.major != head->major || chunk.info == INDEFINITE) {
            return refuse_cbor(r, chunk.at, "a chunk that is not a string of the same kind");
        }
        rc = copy_contents(r, &chunk);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return insert_head(r->out, begin, head->major, r->out->len - begin);
}

/* --- items ----------------------------------------------------------------------------------- */

static int read_item(CborReader *r);

static int compare_encoded(const void *a, const void *b)
{
    const Member *x = (const Member *)a;
    const Member *y = (const Member *)b;

    return bytes_compare(x->key, x->key_len, y->key, y->key_len);
}

static int read_pair(CborReader *r)
{
    Member member = {.source_at = r->at, .key_at = r->out->len, .at = r->out->len};
    int rc = read_item(r);

    if (rc != SAP_OK) {
        return rc;
    }
    member.key_len = r->out->len - member.at;
    rc = read_item(r);
    if (rc != SAP_OK) {
        return rc;
    }
    member.len = r->out->len - member.at;
    return members_add(&r->members, &member);
}

/* An array or a map. */
static int read_container(CborReader *r, const Head *head)
{
    bool map = head->major == MAJOR_MAP;
    bool definite = head->info != INDEFINITE;
    size_t first = members_count(&r->members);
    size_t begin = r->out->len;
    size_t twice;
    uint64_t count = 0;
    int rc = SAP_OK;

    if (definite) {
        /* An item has a byte at least. */
        if (head->value > (r->len - r->at) / (map ? 2 : 1)) {
            return refuse_cbor(r, head->at, "a length beyond the end of the input");
        }
        rc = write_head(r->out, head->major, head->value);
    }
    while (rc == SAP_OK && (definite ? count < head->value : !take_break(r))) {
        rc = map ? read_pair(r) : read_item(r);
        count++;
    }
    if (rc == SAP_OK && map) {
        rc = members_sort(&r->members, first, r->out, r->out, compare_encoded, &twice);
        if (rc == SAP_INVALID) {
            return refuse_cbor(r, twice, "a key that occurs twice");
        }
    }
    return rc == SAP_OK && !definite ? insert_head(r->out, begin, head->major, count) : rc;
}

static int read_tagged(CborReader *r, const Head *head)
{
    int rc = write_head(r->out, MAJOR_TAG, head->value);

    return rc == SAP_OK ? read_item(r) : rc;
}

static int read_item(CborReader *r)
{
    Head head = {0};
    int rc = next_head(r, &head);

    if (rc != SAP_OK) {
        return rc;
    }
    bool number = head.major == MAJOR_UNSIGNED || head.major == MAJOR_NEGATIVE;
    if ((number || head.major == MAJOR_TAG) && head.info == INDEFINITE) {
        return refuse_cbor(r, head.at, "an indefinite length where there is none");
    }
    if (number) {
        return write_head(r->out, head.major, head.value);
    }
    if (head.major == MAJOR_BYTES || head.major == MAJOR_TEXT) {
        return read_string_item(r, &head);
    }
    if (head.major == MAJOR_OTHER) {
        return write_other(r, &head);
    }
    if (r->depth == CANONICAL_MAX_DEPTH) {
        return canonical_refuse(r->error, SAP_FULL, head.at, "nested too deep");
    }
    r->depth++;
    rc = head.major == MAJOR_TAG ? read_tagged(r, &head) : read_container(r, &head);
    r->depth--;
    return rc;
}

int cbor_canonical(const void *data, size_t len, Buf *out, CanonicalError *error)
{
    CborReader r = {.data = (const uint8_t *)data, .len = len, .out = out, .error = error};
    size_t before = out->len;
    int rc = read_item(&r);

    if (rc == SAP_OK && r.at < len) {
        rc = refuse_cbor(&r, r.at, "more after the item");
    }
    if (rc == SAP_NOMEM) {
        (void)canonical_refuse(error, rc, r.at, "out of memory");
    }
    if (rc != SAP_OK) {
        buf_truncate(out, before);
    }
    SAP_ASSERT(rc != SAP_OK || (r.depth == 0 && members_count(&r.members) == 0));
    members_release(&r.members);
    return rc;
}
