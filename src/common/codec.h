/* codec.h - what generated codecs share: writing, reading, refinement arithmetic, error text.
 *
 * A writer or reader remembers its first failure and then does nothing more: generated code asks
 * once, at the end. A reader never passes the end of its bytes and never trusts a length: before
 * memory for N elements is asked for, the bytes left could hold N elements.
 *
 * Values are little-endian; functions that end in `be` are for keys, where the order of the bytes
 * is that of the values. Memory of decoded values is charged to MEM_COMMON. */
#ifndef SAPLING_COMMON_CODEC_H
#define SAPLING_COMMON_CODEC_H

#include "common/buf.h"

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
int codec_blame(CodecError *error, const char *type, const char *field, int rc);
int codec_broken(CodecError *error, const char *type, const char *field, const char *refinement);

int codec_check_string(const CodecBytes *bytes, CodecError *error);
int codec_check_char(uint32_t c, CodecError *error);
/* `number` is below `count`. */
int codec_check_case(uint32_t number, uint32_t count, CodecError *error);
/* No bit of `bits` from number `count` on is set. */
int codec_check_flags(uint64_t bits, uint32_t count, CodecError *error);
int codec_check_bits(const uint8_t *bits, uint32_t count, CodecError *error);

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
CodecWriter codec_write_start(Buf *buf);
int codec_write_end(CodecWriter *writer);

void codec_write_u8(CodecWriter *writer, uint8_t v);
void codec_write_u16(CodecWriter *writer, uint16_t v);
void codec_write_u32(CodecWriter *writer, uint32_t v);
void codec_write_u64(CodecWriter *writer, uint64_t v);
void codec_write_u16be(CodecWriter *writer, uint16_t v);
void codec_write_u32be(CodecWriter *writer, uint32_t v);
void codec_write_u64be(CodecWriter *writer, uint64_t v);
void codec_write_f32(CodecWriter *writer, float v);
void codec_write_f64(CodecWriter *writer, double v);
/* Bytes alone, and bytes behind their length. */
void codec_write_raw(CodecWriter *writer, const void *data, size_t len);
void codec_write_bytes(CodecWriter *writer, const CodecBytes *bytes);
/* 0x00 becomes 0x00 0xff and 0x00 0x00 ends it, so that a prefix sorts first. */
void codec_write_key_bytes(CodecWriter *writer, const CodecBytes *bytes);

typedef struct CodecReader {
    ByteReader in;
    size_t size;
    CodecError *error; /* may be NULL */
    int rc;
} CodecReader;

/* `data` and `error` are borrowed as long as the reader is used. */
CodecReader codec_read_start(const void *data, size_t len, CodecError *error);

/* After the first failure each returns 0 and takes nothing. */
uint8_t codec_read_u8(CodecReader *reader);
uint16_t codec_read_u16(CodecReader *reader);
uint32_t codec_read_u32(CodecReader *reader);
uint64_t codec_read_u64(CodecReader *reader);
uint16_t codec_read_u16be(CodecReader *reader);
uint32_t codec_read_u32be(CodecReader *reader);
uint64_t codec_read_u64be(CodecReader *reader);
float codec_read_f32(CodecReader *reader);
double codec_read_f64(CodecReader *reader);
/* 0 or 1, anything else fails. */
bool codec_read_bool(CodecReader *reader);
void codec_read_raw(CodecReader *reader, void *out, size_t len);
void codec_read_bytes(CodecReader *reader, CodecBytes *out);
void codec_read_rest(CodecReader *reader, CodecBytes *out);
void codec_read_key_bytes(CodecReader *reader, CodecBytes *out);
/* Fails unless the bytes are these. */
void codec_read_exactly(CodecReader *reader, const char *bytes, size_t len);
void codec_read_version(CodecReader *reader, uint8_t major);
/* Fails unless all bytes have been read. */
void codec_read_all(CodecReader *reader);

/* Reads the length of a list and takes room for it; each element has at least min_size bytes. */
void *codec_read_items(CodecReader *reader, size_t min_size, size_t size, uint32_t *count_out);

/* A failure of the reader; the first one counts. */
void codec_read_fail(CodecReader *reader, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether the reader has failed; if so, and nobody said where, it was here. */
bool codec_read_failed(CodecReader *reader, const char *type, const char *field);

static inline bool codec_at_end(const CodecReader *reader)
{
    return reader->in.left == 0;
}

/* An integer of up to 64 bits and a sign; zero is not negative. */
typedef struct CodecNumber {
    uint64_t size;
    bool negative;
} CodecNumber;

CodecNumber codec_number_u(uint64_t v);
CodecNumber codec_number_s(int64_t v);
CodecNumber codec_number_minus(CodecNumber a);
/* Set *bad, and return 0, when the result does not fit or the divisor is 0. Division is towards
 * zero and the remainder has the sign of the dividend, as in C. */
CodecNumber codec_number_add(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_sub(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_mul(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_div(CodecNumber a, CodecNumber b, bool *bad);
CodecNumber codec_number_mod(CodecNumber a, CodecNumber b, bool *bad);
/* -1, 0 or 1. */
int codec_number_compare(CodecNumber a, CodecNumber b);

#endif
