#include "common/codec.h"

#include "common/assert.h"
#include "common/mem.h"
#include "common/utf8.h"

#include <inttypes.h>
#include <stdio.h>

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
    uint8_t *copy = NULL;
    if (len > 0) {
        copy = mem_copy(MEM_COMMON, data, len);
        if (copy == NULL) {
            return SAP_NOMEM;
        }
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
int codec_blame_invalid(CodecError *error, const char *type, const char *field)
{
    if (error != NULL && error->text[0] == ':') {
        char reason[CODEC_ERROR_SIZE];
        memcpy(reason, error->text, sizeof reason);
        (void)snprintf(error->text, sizeof error->text, "%s%s%s%.*s", type,
                       field[0] == '\0' ? "" : ", field ", field, CODEC_ERROR_SIZE / 2, reason);
    }
    return SAP_INVALID;
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

int codec_refuse_case(uint32_t number, CodecError *error)
{
    return codec_refuse(error, ": there is no case number %" PRIu32, number);
}

int codec_refuse_flags(uint64_t bits, CodecError *error)
{
    return codec_refuse(error, ": unknown flags in 0x%" PRIx64, bits);
}

int codec_check_bits(const uint8_t *bits, uint32_t count, CodecError *error)
{
    uint32_t used = count % 8;

    return used == 0 || bits[count / 8] >> used == 0
               ? SAP_OK
               : codec_refuse(error, ": unknown flags in its last byte, 0x%02x", bits[count / 8]);
}

/* --- writing -------------------------------------------------------------------------------- */

uint8_t *codec_write_grow(CodecWriter *writer, size_t len)
{
    if (writer->rc == SAP_OK) {
        writer->rc = buf_reserve(writer->buf, len);
    }
    return writer->rc == SAP_OK ? codec_write_room(writer, len) : NULL;
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

static void need(CodecReader *reader, int rc, size_t size)
{
    if (rc != SAP_OK) {
        codec_read_fail(reader, rc, "%zu bytes are needed, %zu are left", size, reader->in.left);
    }
}

void codec_read_short(CodecReader *reader, size_t size)
{
    if (reader->rc == SAP_OK) {
        need(reader, SAP_INVALID, size);
    }
}

void codec_read_no_run(CodecReader *reader, const char *type, const CodecField *fields,
                       size_t count)
{
    size_t i = 0;

    while (i + 1 < count && codec_read_run(reader, fields[i].size) != NULL) {
        i++;
    }
    codec_read_short(reader, fields[i].size);
    (void)codec_read_failed(reader, type, fields[i].name);
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

double codec_real_div(double a, double b, bool *bad)
{
    if (b == 0) {
        *bad = true;
        return 0;
    }
    return a / b;
}
