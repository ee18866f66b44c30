/* outbound_answer.h - what a server answered, bounded while it comes in, and as the body of a
 * receipt.
 *
 *   {"status":200,"headers":{"content-type":"application/json"},"body":{"ok":true}}
 *
 * `body` where the content type says JSON and it is JSON, otherwise `text` where it is UTF-8,
 * otherwise `b64`; none of them where there is no body. Names of headers are in lower case;
 * those that come more than once are joined by a comma, cookies are left out. */
#ifndef SAPLING_NODE_OUTBOUND_ANSWER_H
#define SAPLING_NODE_OUTBOUND_ANSWER_H

#include "common/buf.h"

#include <stdbool.h>
#include <stdint.h>

enum { ANSWER_HEADERS_MAX = 64 << 10, ANSWER_HEADER_COUNT_MAX = 256 };

/* All-zero bytes are an empty answer. */
typedef struct Answer {
    Buf headers; /* "name: value\n", as they came, of the last answer of a chain */
    uint32_t header_count;
    Buf body;
} Answer;

void answer_release(Answer *answer);
void answer_clear(Answer *answer);

/* Takes one line of the head with its line end. A status line begins a new head. SAP_FULL: above
 * the limits. SAP_NOMEM. */
int answer_add_header(Answer *answer, const char *line, size_t len);

/* Appends the body of a receipt in JSON to *out. `message`: of an error; NULL. `status`: 0 where
 * there is no answer, of which headers and body are then left out. `bare`: without headers.
 * SAP_NOMEM. */
int answer_write(const Answer *answer, long status, bool bare, const char *message, Buf *out);

#endif
