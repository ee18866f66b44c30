/* buf.h - growing bytes, and reading them back.
 *
 * Slice: bytes that someone else owns.
 * Buf: bytes that grow at the end. Invariant: len <= cap; data is NULL exactly when cap is 0.
 * ByteReader: a position in borrowed bytes that never passes their end.
 *
 * A Buf call that fails leaves data[0..len) as it was. SAP_NOMEM: no memory. SAP_FULL: the length
 * would not fit the address space. */
#ifndef SAPLING_COMMON_BUF_H
#define SAPLING_COMMON_BUF_H

#include "sapling/error.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct Slice {
    const void *data; /* may be NULL when len is 0 */
    size_t len;
} Slice;

/* The text without its NUL, borrowed as long as `str` lives. NULL gives the empty slice. */
static inline Slice slice_from_str(const char *str)
{
    return (Slice){str, str == NULL ? 0 : strlen(str)};
}

typedef struct Buf {
    uint8_t *data;
    size_t len;
    size_t cap; /* bytes allocated */
} Buf;

/* Makes an empty buffer of whatever was in *buf. Allocates nothing; all-zero bytes are the same. */
void buf_init(Buf *buf);

/* A buffer in room of the caller's, for what is known to fit: it is not released, and nothing is
 * appended beyond `cap`. */
static inline Buf buf_in(void *room, size_t cap)
{
    return (Buf){(uint8_t *)room, 0, cap};
}

/* Gives the memory back and leaves an empty buffer, usable again. */
void buf_release(Buf *buf);

/* Empties the buffer and keeps its memory for what comes next. */
void buf_clear(Buf *buf);

/* Drops what is behind the first `len` bytes; len is not above the present length. */
void buf_truncate(Buf *buf, size_t len);

/* After SAP_OK, `extra` more bytes can be appended without failing. */
int buf_reserve(Buf *buf, size_t extra);

/* `data` is borrowed for the call, lies outside the buffer, and may be NULL when len is 0. */
int buf_append(Buf *buf, const void *data, size_t len);

int buf_append_u8(Buf *buf, uint8_t v);
int buf_append_u16le(Buf *buf, uint16_t v);
int buf_append_u32le(Buf *buf, uint32_t v);
int buf_append_u64le(Buf *buf, uint64_t v);
int buf_append_u16be(Buf *buf, uint16_t v);
int buf_append_u32be(Buf *buf, uint32_t v);
int buf_append_u64be(Buf *buf, uint64_t v);

/* Appends the text without its NUL. */
int buf_append_str(Buf *buf, const char *str);

/* Appends formatted text without its NUL. SAP_INVALID: printf cannot convert an argument. */
int buf_printf(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the bytes over and leaves an empty buffer. Caller owns, release with
 * mem_free(MEM_COMMON, ptr, *cap_out). NULL, with both sizes 0, when nothing was ever reserved. */
uint8_t *buf_detach(Buf *buf, size_t *len_out, size_t *cap_out);

typedef struct ByteReader {
    const uint8_t *p;
    size_t left;
} ByteReader;

/* `data` is borrowed as long as the reader is used. */
void reader_init(ByteReader *reader, const void *data, size_t len);

/* Each takes its bytes, or returns SAP_INVALID and leaves reader and *out as they were when fewer
 * are left. */
int reader_u8(ByteReader *reader, uint8_t *out);
int reader_u16le(ByteReader *reader, uint16_t *out);
int reader_u32le(ByteReader *reader, uint32_t *out);
int reader_u64le(ByteReader *reader, uint64_t *out);
int reader_u16be(ByteReader *reader, uint16_t *out);
int reader_u32be(ByteReader *reader, uint32_t *out);
int reader_u64be(ByteReader *reader, uint64_t *out);

/* *out points into the reader's bytes and is borrowed as long as they are. */
int reader_bytes(ByteReader *reader, size_t len, const uint8_t **out);

#endif
