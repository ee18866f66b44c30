/* api_call.h - one request as a route sees it: who asks, what for, and the answer.
 *
 * Nothing here knows of connections, so that tests and fuzzers make calls of their own. A call has one answer:
 * the first that is set stays. A helper that returns false has set it. */
#ifndef SAPLING_NODE_API_CALL_H
#define SAPLING_NODE_API_CALL_H

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "node/http.h"
#include "node/tokens.h"
#include "sapling/universe.h"

enum {
    API_ARGS = 1,       /* names in the path of a route */
    API_QUERIES = 12,   /* parameters after the question mark */
    API_KEY_MOST = 200, /* bytes of an Idempotency-Key */
    API_BODY_MOST =
        24 << 20, /* bytes of a body: a payload of 16 MiB in base64, and room around it */
    API_PLAIN_BODY_MOST = 256 << 10, /* of a route that takes no payload */
    API_WAIT_MOST_MS = 60000,
    API_CALLER_ID = 48,
    API_TRACE_PARENT = 55, /* bytes of the header traceparent */
};

/* Every error that a route can answer: X(name, status, code). docs/reference/http-api.md lists them; a test
 * compares the two. */
#define API_ERRORS(X)                                \
    X(BAD_REQUEST, 400, "bad_request")               \
    X(UNKNOWN_FIELD, 400, "unknown_field")           \
    X(NEEDS_TOKEN, 401, "needs_token")               \
    X(NEEDS_SCOPE, 403, "needs_scope")               \
    X(BAD_HOST, 403, "bad_host")                     \
    X(BAD_ORIGIN, 403, "bad_origin")                 \
    X(MODULE_NOT_ALLOWED, 403, "module_not_allowed") \
    X(NOT_FOUND, 404, "not_found")                   \
    X(UNKNOWN_ROUTE, 404, "unknown_route")           \
    X(UNKNOWN_WORLD, 404, "unknown_world")           \
    X(UNKNOWN_MODULE, 404, "unknown_module")         \
    X(METHOD, 405, "method")                         \
    X(WORLD_EXISTS, 409, "world_exists")             \
    X(KEY_REUSED, 409, "key_reused")                 \
    X(WORLD_DONE, 409, "world_done")                 \
    X(CONFLICT, 409, "conflict")                     \
    X(NO_RESULT, 409, "no_result")                   \
    X(TOO_LARGE, 413, "too_large")                   \
    X(SEND_JSON, 415, "send_json")                   \
    X(HANDLER_FAILED, 422, "handler_failed")         \
    X(BUSY, 429, "busy")                             \
    X(STORE_FAILED, 500, "store_failed")             \
    X(STOPPING, 503, "stopping")                     \
    X(OUTCOME_UNKNOWN, 503, "outcome_unknown")       \
    X(DISK_FULL, 507, "disk_full")

typedef enum ApiError {
#define API_ERROR_ENUM(name, status, code) API_##name,
    API_ERRORS(API_ERROR_ENUM)
#undef API_ERROR_ENUM
        API_ERROR_COUNT
} ApiError;

uint32_t api_error_status(ApiError error);
const char *api_error_code(ApiError error);

/* What a caller may do; a route needs one of them. */
enum {
    SCOPE_OPEN = 0,
    SCOPE_READ = 1,
    SCOPE_SEND = 2,
    SCOPE_ADMIN = 4,
    SCOPE_ALL = SCOPE_READ | SCOPE_SEND | SCOPE_ADMIN,
};

/* Who asks. */
typedef struct Caller {
    bool known;  /* by the socket or by a token */
    bool socket; /* by the socket, whose users have all scopes */
    uint32_t scopes;
    char id[API_CALLER_ID]; /* "uid:1000" or "token:1f0c6a2e"; "" if it is not known */
} Caller;

typedef struct Waits Waits;
typedef struct Pool Pool;

/* What all routes work on. Borrowed by every call. */
typedef struct Api {
    HttpOptions options;
    SapUniverse *universe;
    Tokens *tokens;
    Waits *replies;
    Waits *results;
    Pool *pool;
    char address[80];
} Api;

typedef struct QueryValue {
    const char *name;
    const char *value;
} QueryValue;

/* A caller that waits (http_wait.h). */
typedef struct Wait {
    uint64_t start_ns;    /* boot time */
    uint64_t deadline_ns; /* boot time */
    uint64_t look_ns;     /* when it is looked for next, whatever changes; boot time */
    bool look_first;      /* what is waited for may have been there for long */
    bool handled;         /* the item is no longer in the inbox, and a later step may reply */
    bool duplicate;
    uint8_t seq[32];
} Wait;

typedef struct Route Route;
typedef struct Call Call;

struct Call {
    Api *api;
    const Route *route;
    Caller caller;
    char request_id[17];
    char arg[SAP_WORLD_MAX_NAME + 1]; /* the name in the path; "" if the route has none */
    Buf queries_text;                 /* decoded names and values, each followed by a NUL */
    QueryValue queries[API_QUERIES];
    uint32_t query_count;
    char key[API_KEY_MOST + 1];              /* the Idempotency-Key; "" if there is none */
    char trace_parent[API_TRACE_PARENT + 1]; /* "" if there is none */
    Buf body;                                /* as it came, then in canonical form */
    Slice payload;  /* the text of the member "body"; borrowed from `body`. NULL: there is none */
    json_t *fields; /* the members, "body" being null; NULL before call_read_body() */

    /* The answer. */
    uint32_t status; /* 0: none yet */
    ApiError error;  /* where it is an error */
    const char *content_type;
    Buf text;
    Buf raws; /* texts of payloads, in the order of their marks: see call_set_payload() */
    uint32_t raw_count;
    uint8_t raw_nonce[16];
    uint32_t retry_after_s; /* 0: no such header */
    const char *allow;      /* of 405 */
    bool close;             /* the connection ends with it */
    char allow_text[48];

    /* Of whoever runs it. */
    void (*run)(Call *call);    /* in a thread of the pool: answers it, or says where it waits */
    void (*finish)(Call *call); /* it is answered: called once, by whoever owns it */
    Waits *park_in;             /* it waits there, once `run` has returned; NULL: it is answered */
    uint64_t park_ms;
    Call *next; /* in a queue */
    Wait wait;
    char id[SAP_WORLD_MAX_ID + 1]; /* of the message that was sent */
    uint64_t start_ns;
};

/* Makes a call empty; `api` is borrowed. call_release() frees what it holds, and not the call itself. */
void call_init(Call *call, Api *api);
void call_release(Call *call);

/* ---- Answers --------------------------------------------------------------------------------- */

/* Takes ownership of `json`, also on failure; NULL is an answer that found no memory. */
void call_answer(Call *call, uint32_t status, json_t *json);
void call_answer_empty(Call *call, uint32_t status);
/* Takes the bytes of *text, which is empty afterwards. `content_type` is static. */
void call_answer_text(Call *call, uint32_t status, const char *content_type, Buf *text);

/* In place of an answer: the caller waits for so long. */
void call_park(Call *call, Waits *waits, uint64_t ms);

/* Always false, so that a helper can return it. */
bool call_fail(Call *call, ApiError error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes ownership of `detail`. */
bool call_fail_detail(Call *call, ApiError error, json_t *detail, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* What a code of the universe means where the route knows nothing better. `what` is what was not found. */
bool call_fail_code(Call *call, int rc, const char *what);
/* The same for a world: which of SAP_NOTFOUND's reasons it is is looked up. */
bool call_fail_world(Call *call, int rc, const char *world);

/* ---- Payloads -------------------------------------------------------------------------------- */

/* Sets `name`, and "encoding" beside it unless it is JSON: {"b64": ...} for bytes. False: no memory. */
bool call_set_payload(Call *call, json_t *object, const char *name, SapEncoding encoding,
                      const void *data, size_t len);
/* A key of a state: text, or {"b64": ...} where it is not UTF-8. */
json_t *call_key_json(const void *key, size_t len);
/* Text that may be cut inside a character. */
json_t *call_text_json(const char *text);
/* 2 * len lower-case digits. */
json_t *call_hex_json(const uint8_t *bytes, size_t len);
/* False: not 2 * len lower-case digits. */
bool call_hex_read(const char *text, uint8_t *out, size_t len);

/* ---- What was asked -------------------------------------------------------------------------- */

/* Reads what follows the question mark, "a=b&c=d", and refuses what the route does not take. */
bool call_read_query(Call *call, const char *text);
/* NULL: it was not given. */
const char *call_query(const Call *call, const char *name);
bool call_query_u64(Call *call, const char *name, uint64_t most, uint64_t otherwise, uint64_t *out);
/* A time such as 5s, 500ms or 1m, at most API_WAIT_MOST_MS. *given_out: it was given. */
bool call_query_wait(Call *call, bool *given_out, uint64_t *ms_out);

/* Parses the body, and refuses members that the route does not take. Without a body there are no members. */
bool call_read_body(Call *call);
/* *out: the text, or NULL where it is not given. */
bool call_field_text(Call *call, const char *name, size_t most, bool needed, const char **out);
bool call_field_u64(Call *call, const char *name, uint64_t most, uint64_t otherwise, uint64_t *out);
bool call_field_bool(Call *call, const char *name, bool *out);

/* The payload under "body" and "encoding". */
typedef struct Payload {
    SapEncoding encoding;
    const void *data; /* borrowed from the call, or from `bytes` */
    size_t len;
    Buf bytes; /* decoded; buf_release() */
} Payload;
bool call_field_payload(Call *call, Payload *out);

/* Percent-decodes text[0..len) of a path, or with `plus` of a query. False: it is malformed, too long for
 * `size`, holds a NUL or is not UTF-8. */
bool call_decode(const char *text, size_t len, bool plus, char *out, size_t size);

#endif
