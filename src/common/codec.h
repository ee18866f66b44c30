/* codec.h - what generated codecs share: writing, reading, refinement arithmetic, error text.
 *
 * A writer or reader remembers its first failure and then does nothing more: generated code asks
 * once, at the end. A reader never passes the end of its bytes and never trusts a length: before
 * memory for N elements is asked for, the bytes left could hold N elements.
 *
 * Values are little-endian; functions that end in `be` are for keys, where the order of the bytes
 * is that of the values. Memory of decoded values is charged to MEM_COMMON.
 *
 * What runs for every field of a good row is inline; what a failure needs is not. */
#ifndef SAPLING_COMMON_CODEC_H
#define SAPLING_COMMON_CODEC_H

#include "common/buf.h"
#include "common/bytes.h"

#include <stdbool.h>

enum { CODEC_ERROR_SIZE = 256 };

/* Why a call answered SAP_INVALID, for people; "" when it did not. */
typedef struct CodecError {
    char text[CODEC_ERROR_SIZE];
} CodecError;

/* A string or a list<u8>. data may be NULL when len is 0. */
typedef struct CodecBytes {
    uint8_t *data;
    uint32_t len;
} CodecBytes;

/* Replaces what `bytes` holds by a copy. On failure nothing has changed. SAP_FULL: above 32 bits. */
int codec_bytes_set(CodecBytes *bytes, const void *data, size_t len);
void codec_bytes_free(CodecBytes *bytes);
bool codec_bytes_equal(const CodecBytes *a, const CodecBytes *b);

/* Zeroed room for `count` elements, for codec_items_free; NULL: no memory, or none asked for. */
void *codec_items_new(uint32_t count, size_t size);
void codec_items_free(void *items, uint32_t count, size_t size);

/* Each sets the text, unless `error` is NULL or has one: what failed innermost is said. They
 * return SAP_INVALID, codec_blame `rc`. An empty `field` is none. */
int codec_refuse(CodecError *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
int codec_blame_invalid(CodecError *error, const char *type, const char *field);
int codec_broken(CodecError *error, const char *type, const char *field, const char *refinement);

static inline int codec_blame(CodecError *error, const char *type, const char *field, int rc)
{
    return rc == SAP_INVALID ? codec_blame_invalid(error, type, field) : rc;
}

int codec_check_string(const CodecBytes *bytes, CodecError *error);
int codec_check_char(uint32_t c, CodecError *error);
int codec_refuse_case(uint32_t number, CodecError *error);
int codec_refuse_flags(uint64_t bits, CodecError *error);
int codec_check_bits(const uint8_t *bits, uint32_t count, CodecError *error);

/* `number` is below `count`. */
static inline int codec_check_case(uint32_t number, uint32_t count, CodecError *error)
{
    return number < count ? SAP_OK : codec_refuse_case(number, error);
}

/* No bit of `bits` from number `count` on is set. */
static inline int codec_check_flags(uint64_t bits, uint32_t count, CodecError *error)
{
    return count >= 64 || bits >> count == 0 ? SAP_OK : codec_refuse_flags(bits, error);
}

static inline bool codec_bit(const uint8_t *bits, uint32_t number)
{
    return (bits[number / 8] >> number % 8 & 1) != 0;
}

typedef struct CodecWriter {
    Buf *buf;
    size_t start; /* where this value begins */
    int rc;
} CodecWriter;

/* The buffer is borrowed until codec_write_end, which answers for all writes; on failure the buffer
 * has its bytes of before. */
static inline CodecWriter codec_write_start(Buf *buf)
{
    return (CodecWriter){buf, buf->len, SAP_OK};
}

static inline int codec_write_end(CodecWriter *writer)
{
    if (writer->rc != SAP_OK) {
        buf_truncate(writer->buf, writer->start);
    }
    return writer->rc;
}

uint8_t *codec_write_grow(CodecWriter *writer, size_t len);

/* Room for the next `len` bytes, which the caller fills; NULL after a failure. */
static inline uint8_t *codec_write_room(CodecWriter *writer, size_t len)
{
    Buf *buf = writer->buf;

    if (writer->rc != SAP_OK || buf->cap - buf->len < len) {
        return codec_write_grow(writer, len);
    }
    buf->len += len;
    return buf->data + buf->len - len;
}

/* Bytes alone, and bytes behind their length. */
void codec_write_raw(CodecWriter *writer, const void *data, size_t len);
void codec_write_bytes(CodecWriter *writer, const CodecBytes *bytes);
/* 0x00 becomes 0x00 0xff and 0x00 0x00 ends it, so that a prefix sorts first. */
void codec_write_key_bytes(CodecWriter *writer, const CodecBytes *bytes);

static inline void codec_write_u8(CodecWriter *writer, uint8_t v)
{
    uint8_t *to = codec_write_room(writer, 1);

    if (to != NULL) {
        *to = v;
    }
}

static inline void codec_store_f32(void *to, float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    store_u32le(to, bits);
}

static inline void codec_store_f64(void *to, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    store_u64le(to, bits);
}

static inline void codec_write_u16(CodecWriter *writer, uint16_t v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        store_u16le(to, v);
    }
}

static inline void codec_write_u32(CodecWriter *writer, uint32_t v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        store_u32le(to, v);
    }
}

static inline void codec_write_u64(CodecWriter *writer, uint64_t v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        store_u64le(to, v);
    }
}

static inline void codec_write_u16be(CodecWriter *writer, uint16_t v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        store_u16be(to, v);
    }
}

static inline void codec_write_u32be(CodecWriter *writer, uint32_t v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        store_u32be(to, v);
    }
}

static inline void codec_write_u64be(CodecWriter *writer, uint64_t v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        store_u64be(to, v);
    }
}

static inline void codec_write_f32(CodecWriter *writer, float v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        codec_store_f32(to, v);
    }
}

static inline void codec_write_f64(CodecWriter *writer, double v)
{
    uint8_t *to = codec_write_room(writer, sizeof v);

    if (to != NULL) {
        codec_store_f64(to, v);
    }
}

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "floats are written as their bits");

typedef struct CodecReader {
    ByteReader in;
    size_t size;
    CodecError *error; /* may be NULL */
    int rc;
} CodecReader;

/* `data` and `error` are borrowed as long as the reader is used. */
static inline CodecReader codec_read_start(const void *data, size_t len, CodecError *error)
{
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return (CodecReader){{data, len}, len, error, SAP_OK};
}

/* The next `len` bytes; NULL, and nothing is taken, after a failure or when fewer are left. */
static inline const uint8_t *codec_read_run(CodecReader *reader, size_t len)
{
    const uint8_t *from = reader->in.p;

    if (reader->rc != SAP_OK || reader->in.left < len) {
        return NULL;
    }
    reader->in.p += len;
    reader->in.left -= len;
    return from;
}

/* A field of a run of fields that have a fixed size each. */
typedef struct CodecField {
    const char *name;
    size_t size;
} CodecField;

/* Says of a run that was not there which of its fields is the first that does not fit. */
void codec_read_no_run(CodecReader *reader, const char *type, const CodecField *fields,
                       size_t count);
void codec_read_short(CodecReader *reader, size_t size);

/* 0 or 1, anything else fails. */
bool codec_read_bool(CodecReader *reader);
void codec_read_raw(CodecReader *reader, void *out, size_t len);
void codec_read_bytes(CodecReader *reader, CodecBytes *out);
void codec_read_rest(CodecReader *reader, CodecBytes *out);
void codec_read_key_bytes(CodecReader *reader, CodecBytes *out);
/* Fails unless the bytes are these. */
void codec_read_exactly(CodecReader *reader, const char *bytes, size_t len);

/* Reads the length of a list and takes room for it; each element has at least min_size bytes. */
void *codec_read_items(CodecReader *reader, size_t min_size, size_t size, uint32_t *count_out);

/* A failure of the reader; the first one counts. */
void codec_read_fail(CodecReader *reader, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline float codec_load_f32(const void *from)
{
    uint32_t bits = load_u32le(from);
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

static inline double codec_load_f64(const void *from)
{
    uint64_t bits = load_u64le(from);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

/* The next `len` bytes; without so many, or after a failure, the reader has failed: NULL. */
static inline const uint8_t *codec_read_needed(CodecReader *reader, size_t len)
{
    const uint8_t *from = codec_read_run(reader, len);

    if (from == NULL) {
        codec_read_short(reader, len);
    }
    return from;
}

/* After the first failure each returns 0 and takes nothing. */
static inline uint8_t codec_read_u8(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint8_t));

    return from == NULL ? 0 : *from;
}

static inline uint16_t codec_read_u16(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint16_t));

    return from == NULL ? 0 : load_u16le(from);
}

static inline uint32_t codec_read_u32(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint32_t));

    return from == NULL ? 0 : load_u32le(from);
}

static inline uint64_t codec_read_u64(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint64_t));

    return from == NULL ? 0 : load_u64le(from);
}

static inline uint16_t codec_read_u16be(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint16_t));

    return from == NULL ? 0 : load_u16be(from);
}

static inline uint32_t codec_read_u32be(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint32_t));

    return from == NULL ? 0 : load_u32be(from);
}

static inline uint64_t codec_read_u64be(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(uint64_t));

    return from == NULL ? 0 : load_u64be(from);
}

static inline float codec_read_f32(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(float));

    return from == NULL ? 0 : codec_load_f32(from);
}

static inline double codec_read_f64(CodecReader *reader)
{
    const uint8_t *from = codec_read_needed(reader, sizeof(double));

    return from == NULL ? 0 : codec_load_f64(from);
}

static inline void codec_read_version(CodecReader *reader, uint8_t major)
{
    uint8_t found = codec_read_u8(reader);

    if (reader->rc == SAP_OK && found != major) {
        codec_read_fail(reader, SAP_INVALID, "version %u, this program reads version %u", found,
                        major);
    }
}

/* Fails unless all bytes have been read. */
static inline void codec_read_all(CodecReader *reader)
{
    if (reader->rc == SAP_OK && reader->in.left > 0) {
        codec_read_fail(reader, SAP_INVALID, "%zu bytes too many", reader->in.left);
    }
}

/* Whether the reader has failed; if so, and nobody said where, it was here. */
static inline bool codec_read_failed(CodecReader *reader, const char *type, const char *field)
{
    return codec_blame(reader->error, type, field, reader->rc) != SAP_OK;
}

static inline bool codec_at_end(const CodecReader *reader)
{
    return reader->in.left == 0;
}

/* An integer of up to 64 bits and a sign; zero is not negative. */
typedef struct CodecNumber {
    uint64_t size;
    bool negative;
} CodecNumber;

static inline CodecNumber codec_number_u(uint64_t v)
{
    return (CodecNumber){v, false};
}

static inline CodecNumber codec_number_s(int64_t v)
{
    return v < 0 ? (CodecNumber){0 - (uint64_t)v, true} : (CodecNumber){(uint64_t)v, false};
}

static inline CodecNumber codec_number_minus(CodecNumber a)
{
    return (CodecNumber){a.size, a.size != 0 && !a.negative};
}

/* Set *bad, and return 0, when the result does not fit or the divisor is 0. Division is towards
 * zero and the remainder has the sign of the dividend, as in C. */
CodecNumber codec_number_add(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_sub(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_mul(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_div(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_mod(CodecNumber a, CodecNumber b, bool *bad);
/* Sets *bad, and returns 0, when the divisor is 0. */
double codec_real_div(double a, double b, bool *bad);
/* As a call: compilers warn of a truth that is compared with itself. */
static inline bool codec_truths_equal(bool a, bool b)
{
    return a == b;
}

/* -1, 0 or 1. */
static inline int codec_number_compare(CodecNumber a, CodecNumber b)
{
    if (a.negative != b.negative) {
        return a.negative ? -1 : 1;
    }
    int order = (a.size > b.size) - (a.size < b.size);
    return a.negative ? -order : order;
}

#endif
