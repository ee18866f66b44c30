/* outbound_params.h - what a world asks of http.request and webhook, read strictly.
 *
 * Everything that can be wrong with the request itself is found here, before a name is resolved:
 * a final error whose message begins with the field. docs/reference/effect-http.md describes the
 * fields. */
#ifndef SAPLING_NODE_OUTBOUND_PARAMS_H
#define SAPLING_NODE_OUTBOUND_PARAMS_H

#include "common/buf.h"
#include "sapling/universe.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    PARAMS_URL_MAX = 8192,
    PARAMS_HEADERS_MAX = 64,
    PARAMS_REASON_MAX = 512,
    PARAMS_BODY_DEFAULT = 1 << 20, /* bytes of an answer */
    PARAMS_BODY_MOST = 16 << 20,
    PARAMS_WEBHOOK_KEPT = 1024,
};

/* A header of the request: a value, or the name of a secret. */
typedef struct RequestHeader {
    const char *name;
    const char *value; /* NULL: it is a secret */
    const char *secret;
} RequestHeader;

/* Texts are borrowed from `root`. Release with request_release(). */
typedef struct Request {
    json_t *root;
    const char *url;
    const char *method; /* upper case */
    RequestHeader *headers;
    size_t header_count;
    const char *content_type; /* that the body needs, unless a header says another; NULL: no body */
    Buf body;
    bool has_body;
    bool webhook;
    bool follow;
    const char *signing_secret; /* of a webhook; NULL: unsigned */
    uint64_t timeout_ms;        /* 0: as long as the attempt may take */
    uint64_t max_bytes;         /* of the answer's body */
} Request;

/* Fills *out, which may be in any state before. SAP_INVALID: `reason` names the field and says
 * what is wrong. SAP_NOMEM. After both there is nothing to release. */
int request_read(bool webhook, SapEncoding encoding, const void *params, size_t len, Request *out,
                 char reason[PARAMS_REASON_MAX]);

/* All-zero bytes are accepted. */
void request_release(Request *request);

/* Whether the text may stand as a header's value. */
bool request_value_valid(const char *value, size_t len);

#endif
