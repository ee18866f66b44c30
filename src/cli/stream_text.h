/* stream_text.h - the canonical stream (docs/reference/streams.md) as the lines of a dump.
 *
 * The stream is of one snapshot, whoever owns the file; so is the dump. It comes in pieces; what is
 * not yet complete waits for the next one. */
#ifndef SAPLING_CLI_STREAM_TEXT_H
#define SAPLING_CLI_STREAM_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

typedef struct StreamText {
    Buf waiting;
    uint64_t rows_left; /* of the table */
    uint64_t rows;
    uint32_t tables;
    bool started;
    bool ended;
} StreamText;

/* Takes a piece and appends lines to `out`. SAP_NOMEM. SAP_INVALID: not such a stream, or of another
 * version. */
int stream_text_take(StreamText *text, const void *data, size_t len, Buf *out);
/* Whether all of it has come. */
bool stream_text_complete(const StreamText *text);
void stream_text_release(StreamText *text);

#endif
