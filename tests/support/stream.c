#include "support/stream.h"

#include "sapling/error.h"
#include "support/expect.h"

#include <stdlib.h>
#include <string.h>

void stream_init(Stream *stream)
{
    memset(stream, 0, sizeof *stream);
    stream->fail_rc = SAP_CORRUPT;
}

void stream_free(Stream *stream)
{
    free(stream->bytes);
    stream->bytes = NULL;
}

void stream_rewind(Stream *stream)
{
    stream->at = 0;
    stream->calls = 0;
    stream->fail_call = 0;
    stream->fail_rc = SAP_CORRUPT;
}

int stream_write(const void *buf, uint32_t len, void *ctx)
{
    Stream *stream = ctx;

    if (++stream->calls == stream->fail_call) {
        return stream->fail_rc;
    }
    EXPECT(stream->calls < stream->fail_call || stream->fail_call == 0,
           "the writer was called again after it failed");
    if (stream->cap - stream->len < len) {
        stream->cap = (stream->cap + len) * 2;
        stream->bytes = realloc(stream->bytes, stream->cap);
        EXPECT(stream->bytes != NULL, "no memory for a stream");
    }
    if (len != 0) {
        memcpy(stream->bytes + stream->len, buf, len);
    }
    stream->len += len;
    return SAP_OK;
}

int stream_read(void *buf, uint32_t len, void *ctx)
{
    Stream *stream = ctx;

    if (++stream->calls == stream->fail_call || stream->len - stream->at < len) {
        return stream->fail_rc;
    }
    EXPECT(stream->calls < stream->fail_call || stream->fail_call == 0,
           "the reader was called again after it failed");
    if (len != 0) {
        memcpy(buf, stream->bytes + stream->at, len);
    }
    stream->at += len;
    return SAP_OK;
}
