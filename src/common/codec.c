#include "common/codec.h"

#include "common/assert.h"
#include "common/mem.h"
#include "common/utf8.h"

#include <inttypes.h>
#include <stdio.h>

_Static_assert(sizeof(float) == 4 && sizeof(double) == 8, "floats are written as their bits");

void *codec_items_new(uint32_t count, size_t size)
{
    if (count == 0 || count > SIZE_MAX / size) {
        return NULL;
    }
    return mem_zalloc(MEM_COMMON, count * size);
}

void codec_items_free(void *items, uint32_t count, size_t size)
{
    mem_free(MEM_COMMON, items, count * size);
}

int codec_bytes_set(CodecBytes *bytes, const void *data, size_t len)
{
    if (len > UINT32_MAX) {
        return SAP_FULL;
    }
    uint8_t *copy = codec_items_new((uint32_t)len, 1);
    if (copy == NULL && len > 0) {
        return SAP_NOMEM;
    }
    if (len > 0) {
        memcpy(copy, data, len);
    }
    codec_bytes_free(bytes);
    *bytes = (CodecBytes){copy, (uint32_t)len};
    return SAP_OK;
}

void codec_bytes_free(CodecBytes *bytes)
{
    codec_items_free(bytes->data, bytes->len, 1);
    *bytes = (CodecBytes){NULL, 0};
}

bool codec_bytes_equal(const CodecBytes *a, const CodecBytes *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

/* --- errors --------------------------------------------------------------------------------- */

int codec_refuse(CodecError *error, const char *format, ...)
{
    if (error != NULL && error->text[0] == '\0') {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(error->text, sizeof error->text, format, args);
        va_end(args);
    }
    return SAP_INVALID;
}

/* The place goes before the reason. What already names its place is left alone: its first character
 * tells, since reasons begin with a colon until they are placed. */
int codec_blame(CodecError *error, const char *type, const char *field, int rc)
{
    if (rc == SAP_INVALID && error != NULL && error->text[0] == ':') {
        char reason[CODEC_ERROR_SIZE];
        memcpy(reason, error->text, sizeof reason);
        (void)snprintf(error->text, sizeof error->text, "%s%s%s%.*s", type,
                       field[0] == '\0' ? "" : ", field ", field, CODEC_ERROR_SIZE / 2, reason);
    }
    return rc;
}

int codec_broken(CodecError *error, const char *type, const char *field, const char *refinement)
{
    return codec_blame(error, type, field, codec_refuse(error, ": breaks %s", refinement));
}

int codec_check_string(const CodecBytes *bytes, CodecError *error)
{
    return utf8_valid(bytes->data, bytes->len) ? SAP_OK
                                               : codec_refuse(error, ": the string is not UTF-8");
}

int codec_check_char(uint32_t c, CodecError *error)
{
    bool surrogate = c >= 0xd800 && c < 0xe000;

    return c <= 0x10ffff && !surrogate ? SAP_OK
                                       : codec_refuse(error, ": 0x%" PRIx32 " is no character", c);
}

int codec_check_case(uint32_t number, uint32_t count, CodecError *error)
{
    return number < count ? SAP_OK
                          : codec_refuse(error, ": there is no case number %" PRIu32, number);
}

int codec_check_flags(uint64_t bits, uint32_t count, CodecError *error)
{
    return count >= 64 || bits >> count == 0
               ? SAP_OK
               : codec_refuse(error, ": unknown flags in 0x%" PRIx64, bits);
}

int codec_check_bits(const uint8_t *bits, uint32_t count, CodecError *error)
{
    uint32_t used = count % 8;

    return used == 0 || bits[count / 8] >> used == 0
               ? SAP_OK
               : codec_refuse(error, ": unknown flags in its last byte, 0x%02x", bits[count / 8]);
}

/* --- writing -------------------------------------------------------------------------------- */

CodecWriter codec_write_start(Buf *buf)
{
    return (CodecWriter){buf, buf->len, SAP_OK};
}

int codec_write_end(CodecWriter *writer)
{
    if (writer->rc != SAP_OK) {
        buf_truncate(writer->buf, writer->start);
    }
    return writer->rc;
}

#define WRITE_INTEGER(name, type, append)        \
    void name(CodecWriter *writer, type v)       \
    {                                            \
        if (writer->rc == SAP_OK) {              \
            writer->rc = append(writer->buf, v); \
        }                                        \
    }

WRITE_INTEGER(codec_write_u8, uint8_t, buf_append_u8)
WRITE_INTEGER(codec_write_u16, uint16_t, buf_append_u16le)
WRITE_INTEGER(codec_write_u32, uint32_t, buf_append_u32le)
WRITE_INTEGER(codec_write_u64, uint64_t, buf_append_u64le)
WRITE_INTEGER(codec_write_u16be, uint16_t, buf_append_u16be)
WRITE_INTEGER(codec_write_u32be, uint32_t, buf_append_u32be)
WRITE_INTEGER(codec_write_u64be, uint64_t, buf_append_u64be)

void codec_write_f32(CodecWriter *writer, float v)
{
    uint32_t bits;

    memcpy(&bits, &v, sizeof bits);
    codec_write_u32(writer, bits);
}

void codec_write_f64(CodecWriter *writer, double v)
{
    uint64_t bits;

    memcpy(&bits, &v, sizeof bits);
    codec_write_u64(writer, bits);
}

void codec_write_raw(CodecWriter *writer, const void *data, size_t len)
{
    if (writer->rc == SAP_OK) {
        writer->rc = buf_append(writer->buf, data, len);
    }
}

void codec_write_bytes(CodecWriter *writer, const CodecBytes *bytes)
{
    codec_write_u32(writer, bytes->len);
    codec_write_raw(writer, bytes->data, bytes->len);
}

void codec_write_key_bytes(CodecWriter *writer, const CodecBytes *bytes)
{
    uint32_t done = 0;

    while (done < bytes->len) {
        const uint8_t *zero = memchr(bytes->data + done, 0, bytes->len - done);
        uint32_t end = zero == NULL ? bytes->len : (uint32_t)(zero - bytes->data) + 1;
        codec_write_raw(writer, bytes->data + done, end - done);
        if (zero != NULL) {
            codec_write_u8(writer, 0xff);
        }
        done = end;
    }
    codec_write_u16(writer, 0);
}

/* --- reading -------------------------------------------------------------------------------- */

CodecReader codec_read_start(const void *data, size_t len, CodecError *error)
{
    CodecReader reader = {{0}, len, error, SAP_OK};

    reader_init(&reader.in, data, len);
    if (error != NULL) {
        error->text[0] = '\0';
    }
    return reader;
}

void codec_read_fail(CodecReader *reader, int rc, const char *format, ...)
{
    if (reader->rc != SAP_OK) {
        return;
    }
    reader->rc = rc;
    if (reader->error != NULL) {
        va_list args;
        char reason[CODEC_ERROR_SIZE / 2];
        va_start(args, format);
        (void)vsnprintf(reason, sizeof reason, format, args);
        va_end(args);
        (void)codec_refuse(reader->error, ": at byte %zu: %s", reader->size - reader->in.left,
                           reason);
    }
}

bool codec_read_failed(CodecReader *reader, const char *type, const char *field)
{
    (void)codec_blame(reader->error, type, field, reader->rc);
    return reader->rc != SAP_OK;
}

static void need(CodecReader *reader, int rc, size_t size)
{
    if (rc != SAP_OK) {
        codec_read_fail(reader, rc, "%zu bytes are needed, %zu are left", size, reader->in.left);
    }
}

#define READ_INTEGER(name, type, read)                     \
    type name(CodecReader *reader)                         \
    {                                                      \
        type v = 0;                                        \
        if (reader->rc == SAP_OK) {                        \
            need(reader, read(&reader->in, &v), sizeof v); \
        }                                                  \
        return v;                                          \
    }

READ_INTEGER(codec_read_u8, uint8_t, reader_u8)
READ_INTEGER(codec_read_u16, uint16_t, reader_u16le)
READ_INTEGER(codec_read_u32, uint32_t, reader_u32le)
READ_INTEGER(codec_read_u64, uint64_t, reader_u64le)
READ_INTEGER(codec_read_u16be, uint16_t, reader_u16be)
READ_INTEGER(codec_read_u32be, uint32_t, reader_u32be)
READ_INTEGER(codec_read_u64be, uint64_t, reader_u64be)

float codec_read_f32(CodecReader *reader)
{
    uint32_t bits = codec_read_u32(reader);
    float v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

double codec_read_f64(CodecReader *reader)
{
    uint64_t bits = codec_read_u64(reader);
    double v;

    memcpy(&v, &bits, sizeof v);
    return v;
}

bool codec_read_bool(CodecReader *reader)
{
    uint8_t byte = codec_read_u8(reader);

    if (byte > 1) {
        codec_read_fail(reader, SAP_INVALID, "0 or 1 is needed, not %u", byte);
    }
    return byte == 1;
}

void codec_read_raw(CodecReader *reader, void *out, size_t len)
{
    const uint8_t *bytes = NULL;

    if (reader->rc == SAP_OK) {
        need(reader, reader_bytes(&reader->in, len, &bytes), len);
    }
    if (reader->rc == SAP_OK) {
        memcpy(out, bytes, len);
    } else {
        memset(out, 0, len);
    }
}

static void take_bytes(CodecReader *reader, size_t len, CodecBytes *out)
{
    const uint8_t *bytes = NULL;

    *out = (CodecBytes){NULL, 0};
    if (reader->rc == SAP_OK) {
        need(reader, reader_bytes(&reader->in, len, &bytes), len);
    }
    if (reader->rc == SAP_OK) {
        int rc = codec_bytes_set(out, bytes, len);
        if (rc != SAP_OK) {
            codec_read_fail(reader, rc, "no room for %zu bytes", len);
        }
    }
}

void codec_read_bytes(CodecReader *reader, CodecBytes *out)
{
    uint32_t len = codec_read_u32(reader);

    take_bytes(reader, len, out);
}

void codec_read_rest(CodecReader *reader, CodecBytes *out)
{
    take_bytes(reader, reader->in.left, out);
}

void codec_read_key_bytes(CodecReader *reader, CodecBytes *out)
{
    const uint8_t *p = reader->in.p;
    size_t left = reader->in.left;
    size_t end = 0;
    size_t escapes = 0;

    *out = (CodecBytes){NULL, 0};
    if (reader->rc != SAP_OK) {
        return;
    }
    /* The end is 0x00 0x00; every other 0x00 has its 0xff. */
    for (;;) {
        const uint8_t *zero = end < left ? memchr(p + end, 0, left - end) : NULL;
        size_t at = zero == NULL ? left : (size_t)(zero - p);
        if (left - at < 2 || (p[at + 1] != 0xff && p[at + 1] != 0)) {
            codec_read_fail(reader, SAP_INVALID, "the bytes of a key do not end");
            return;
        }
        end = at;
        if (p[at + 1] == 0) {
            break;
        }
        escapes++;
        end += 2;
    }
    take_bytes(reader, end, out);
    if (reader->rc != SAP_OK) {
        return;
    }
    (void)codec_read_u16(reader);
    if (escapes > 0) {
        CodecBytes plain = {codec_items_new(out->len - (uint32_t)escapes, 1),
                            out->len - (uint32_t)escapes};
        if (plain.data == NULL) {
            codec_read_fail(reader, SAP_NOMEM, "no room for %" PRIu32 " bytes", plain.len);
            return;
        }
        uint32_t to = 0;
        for (uint32_t i = 0; i < out->len; i++) {
            plain.data[to++] = out->data[i];
            i += out->data[i] == 0;
        }
        SAP_ASSERT(to == plain.len);
        codec_bytes_free(out);
        *out = plain;
    }
}

void codec_read_exactly(CodecReader *reader, const char *bytes, size_t len)
{
    const uint8_t *found = NULL;

    if (reader->rc != SAP_OK) {
        return;
    }
    if (reader->in.left < len || memcmp(reader->in.p, bytes, len) != 0) {
        codec_read_fail(reader, SAP_INVALID, "it does not begin with %s", bytes);
        return;
    }
    (void)reader_bytes(&reader->in, len, &found);
}

void codec_read_version(CodecReader *reader, uint8_t major)
{
    uint8_t found = codec_read_u8(reader);

    if (reader->rc == SAP_OK && found != major) {
        codec_read_fail(reader, SAP_INVALID, "version %u, this program reads version %u", found,
                        major);
    }
}

void codec_read_all(CodecReader *reader)
{
    if (reader->rc == SAP_OK && reader->in.left > 0) {
        codec_read_fail(reader, SAP_INVALID, "%zu bytes too many", reader->in.left);
    }
}

void *codec_read_items(CodecReader *reader, size_t min_size, size_t size, uint32_t *count_out)
{
    uint32_t count = codec_read_u32(reader);

    *count_out = 0;
    if (reader->rc != SAP_OK || count == 0) {
        return NULL;
    }
    if (count > reader->in.left / min_size) {
        codec_read_fail(reader, SAP_INVALID, "%" PRIu32 " elements do not fit %zu bytes", count,
                        reader->in.left);
        return NULL;
    }
    void *items = codec_items_new(count, size);
    if (items == NULL) {
        codec_read_fail(reader, SAP_NOMEM, "no room for %" PRIu32 " elements", count);
        return NULL;
    }
    *count_out = count;
    return items;
}

/* --- numbers -------------------------------------------------------------------------------- */

CodecNumber codec_number_u(uint64_t v)
{
    return (CodecNumber){v, false};
}

CodecNumber codec_number_s(int64_t v)
{
    return v < 0 ? (CodecNumber){0 - (uint64_t)v, true} : (CodecNumber){(uint64_t)v, false};
}

CodecNumber codec_number_minus(CodecNumber a)
{
    return (CodecNumber){a.size, a.size != 0 && !a.negative};
}

CodecNumber codec_number_add(CodecNumber a, CodecNumber b, bool *bad)
{
    CodecNumber sum = {0, a.negative};

    if (a.negative == b.negative) {
        if (__builtin_add_overflow(a.size, b.size, &sum.size)) {
            *bad = true;
            return codec_number_u(0);
        }
        return sum;
    }
    if (a.size < b.size) {
        return (CodecNumber){b.size - a.size, b.negative};
    }
    return (CodecNumber){a.size - b.size, a.negative && a.size != b.size};
}

CodecNumber codec_number_sub(CodecNumber a, CodecNumber b, bool *bad)
{
    return codec_number_add(a, codec_number_minus(b), bad);
}

CodecNumber codec_number_mul(CodecNumber a, CodecNumber b, bool *bad)
{
    uint64_t size;

    if (__builtin_mul_overflow(a.size, b.size, &size)) {
        *bad = true;
        return codec_number_u(0);
    }
    return (CodecNumber){size, size != 0 && a.negative != b.negative};
}

CodecNumber codec_number_div(CodecNumber a, CodecNumber b, bool *bad)
{
    if (b.size == 0) {
        *bad = true;
        return codec_number_u(0);
    }
    uint64_t size = a.size / b.size;
    return (CodecNumber){size, size != 0 && a.negative != b.negative};
}

CodecNumber codec_number_mod(CodecNumber a, CodecNumber b, bool *bad)
{
    if (b.size == 0) {
        *bad = true;
        return codec_number_u(0);
    }
    uint64_t size = a.size % b.size;
    return (CodecNumber){size, size != 0 && a.negative};
}

int codec_number_compare(CodecNumber a, CodecNumber b)
{
    if (a.negative != b.negative) {
        return a.negative ? -1 : 1;
    }
    int order = (a.size > b.size) - (a.size < b.size);
    return a.negative ? -order : order;
}
