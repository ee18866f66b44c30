#include "common/buf.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/mem.h"

#include <stdio.h>

enum { FIRST_CAP = 64 };

/* The largest object that C can address. */
static const size_t MAX_CAP = PTRDIFF_MAX;

void buf_init(Buf *buf)
{
    *buf = (Buf){NULL, 0, 0};
}

void buf_release(Buf *buf)
{
    mem_free(MEM_COMMON, buf->data, buf->cap);
    buf_init(buf);
}

void buf_clear(Buf *buf)
{
    buf->len = 0;
}

void buf_truncate(Buf *buf, size_t len)
{
    SAP_ASSERT(len <= buf->len);
    buf->len = len;
}

int buf_reserve(Buf *buf, size_t extra)
{
    SAP_ASSERT(buf->len <= buf->cap);
    if (extra <= buf->cap - buf->len) {
        return SAP_OK;
    }
    if (extra > MAX_CAP - buf->len) {
        return SAP_FULL;
    }
    size_t needed = buf->len + extra;
    size_t cap = buf->cap < FIRST_CAP ? FIRST_CAP : buf->cap;
    while (cap < needed) {
        cap = cap > MAX_CAP / 2 ? MAX_CAP : cap * 2;
    }
    uint8_t *data = mem_resize(MEM_COMMON, buf->data, buf->cap, cap);
    if (data == NULL) {
        return SAP_NOMEM;
    }
    buf->data = data;
    buf->cap = cap;
    return SAP_OK;
}

int buf_append(Buf *buf, const void *data, size_t len)
{
    if (len == 0) {
        return SAP_OK;
    }
    int rc = buf_reserve(buf, len);
    if (rc != SAP_OK) {
        return rc;
    }
    memcpy(buf->data + buf->len, data, len);
    buf->len += len;
    return SAP_OK;
}

int buf_append_u8(Buf *buf, uint8_t v)
{
    return buf_append(buf, &v, sizeof v);
}

int buf_append_u16le(Buf *buf, uint16_t v)
{
    uint8_t bytes[sizeof v];
    store_u16le(bytes, v);
    return buf_append(buf, bytes, sizeof bytes);
}

int buf_append_u32le(Buf *buf, uint32_t v)
{
    uint8_t bytes[sizeof v];
    store_u32le(bytes, v);
    return buf_append(buf, bytes, sizeof bytes);
}

int buf_append_u64le(Buf *buf, uint64_t v)
{
    uint8_t bytes[sizeof v];
    store_u64le(bytes, v);
    return buf_append(buf, bytes, sizeof bytes);
}

int buf_append_u16be(Buf *buf, uint16_t v)
{
    uint8_t bytes[sizeof v];
    store_u16be(bytes, v);
    return buf_append(buf, bytes, sizeof bytes);
}

int buf_append_u32be(Buf *buf, uint32_t v)
{
    uint8_t bytes[sizeof v];
    store_u32be(bytes, v);
    return buf_append(buf, bytes, sizeof bytes);
}

int buf_append_u64be(Buf *buf, uint64_t v)
{
    uint8_t bytes[sizeof v];
    store_u64be(bytes, v);
    return buf_append(buf, bytes, sizeof bytes);
}

int buf_append_str(Buf *buf, const char *str)
{
    return buf_append(buf, str, strlen(str));
}

int buf_printf(Buf *buf, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int text_len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (text_len < 0) {
        return SAP_INVALID;
    }

    /* vsnprintf ends its text with a NUL, which is reserved for but not kept. */
    size_t room = (size_t)text_len + 1;
    int rc = buf_reserve(buf, room);
    if (rc != SAP_OK) {
        return rc;
    }
    va_start(args, format);
    int written_len = vsnprintf((char *)buf->data + buf->len, room, format, args);
    va_end(args);
    SAP_ASSERT(written_len == text_len);
    buf->len += (size_t)text_len;
    return SAP_OK;
}

uint8_t *buf_detach(Buf *buf, size_t *len_out, size_t *cap_out)
{
    uint8_t *data = buf->data;

    *len_out = buf->len;
    *cap_out = buf->cap;
    buf_init(buf);
    return data;
}

void reader_init(ByteReader *reader, const void *data, size_t len)
{
    reader->p = (const uint8_t *)data;
    reader->left = len;
}

int reader_bytes(ByteReader *reader, size_t len, const uint8_t **out)
{
    if (len > reader->left) {
        return SAP_INVALID;
    }
    *out = reader->p;
    if (len > 0) {
        reader->p += len;
        reader->left -= len;
    }
    return SAP_OK;
}

int reader_u8(ByteReader *reader, uint8_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = *p;
    }
    return rc;
}

int reader_u16le(ByteReader *reader, uint16_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = load_u16le(p);
    }
    return rc;
}

int reader_u32le(ByteReader *reader, uint32_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = load_u32le(p);
    }
    return rc;
}

int reader_u64le(ByteReader *reader, uint64_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = load_u64le(p);
    }
    return rc;
}

int reader_u16be(ByteReader *reader, uint16_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = load_u16be(p);
    }
    return rc;
}

int reader_u32be(ByteReader *reader, uint32_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = load_u32be(p);
    }
    return rc;
}

int reader_u64be(ByteReader *reader, uint64_t *out)
{
    const uint8_t *p;
    int rc = reader_bytes(reader, sizeof *out, &p);
    if (rc == SAP_OK) {
        *out = load_u64be(p);
    }
    return rc;
}
