/* stream.h - a checkpoint stream in memory, whose two ends can be made to fail. */
#ifndef SAPLING_TESTS_STREAM_H
#define SAPLING_TESTS_STREAM_H

#include <stddef.h>
#include <stdint.h>

typedef struct Stream {
    uint8_t *bytes;
    size_t len;
    size_t cap;
    size_t at;          /* of the next read */
    uint64_t calls;     /* of either end so far */
    uint64_t fail_call; /* the call that fails; 0: none */
    int fail_rc;        /* what it answers then, and what reading past the end answers */
} Stream;

/* Empty, reading past the end is SAP_CORRUPT. Release with stream_free(). */
void stream_init(Stream *stream);
void stream_free(Stream *stream);

/* To be read from the start; the counts begin anew and nothing fails. */
void stream_rewind(Stream *stream);

/* A sap_write_fn and a sap_read_fn; ctx is the stream. */
int stream_write(const void *buf, uint32_t len, void *ctx);
int stream_read(void *buf, uint32_t len, void *ctx);

#endif
