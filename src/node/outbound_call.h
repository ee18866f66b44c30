/* outbound_call.h - one attempt of an effect, from its params to what its receipt says.
 *
 *   CALL_NEW -> CALL_RESOLVING -> CALL_TALKING -> CALL_ENDED
 *                    ^                 |
 *                    +---- redirect ---+
 *
 * A host that is an address is not resolved. Every hop, the first and those of redirects, passes
 * the same checks in the same order: the URL, its secrets, its addresses. A call may end at any
 * of them. It is made by whoever wants it (call_new()), and then belongs to the thread that
 * makes calls until it is CALL_ENDED. */
#ifndef SAPLING_NODE_OUTBOUND_CALL_H
#define SAPLING_NODE_OUTBOUND_CALL_H

#include "node/outbound_lookup.h"
#include "node/outbound_params.h"
#include "node/outbound_secrets.h"
#include "node/outbound_transfer.h"

enum { CALL_KEY_MAX = 128, CALL_REDIRECTS_MAX = 5, CALL_CODE_MAX = 32 };

typedef enum CallStage { CALL_NEW, CALL_RESOLVING, CALL_TALKING, CALL_ENDED } CallStage;

typedef enum CallVerdict {
    CALL_OK,
    CALL_ERROR, /* for good */
    CALL_RETRY, /* it may go well another time */
} CallVerdict;

typedef struct CallResult {
    CallVerdict verdict;
    char code[CALL_CODE_MAX]; /* "" with CALL_OK */
    long status;              /* of HTTP; 0: there was no answer */
    uint64_t pause_ms;        /* that the server asks for before the next attempt; 0: none */
    Buf payload;              /* JSON; empty: null */
} CallResult;

/* What all calls share; borrowed as long as there are calls. */
typedef struct CallContext {
    const Guard *guard;
    SecretSource secrets; /* `get` NULL: there are none */
    Lookups *lookups;
    CURLM *multi;
    const char *ca_file;
    uint64_t slow_ms;
} CallContext;

typedef struct OutboundCall {
    struct OutboundCall *next; /* `next`, `previous`, `cancelled` and `published` are the owner's */
    struct OutboundCall *previous;
    bool cancelled;
    bool published;
    CallStage stage;
    char world[SAP_WORLD_MAX_NAME + 1];
    char ref[SAP_WORLD_MAX_NAME + 1];
    char key[CALL_KEY_MAX + 1];
    uint32_t attempt;
    uint64_t begun_ns; /* monotonic */
    uint64_t deadline_ns;
    Request request;
    Url url;
    const char *method;
    bool send_body;
    bool strayed; /* a redirect has led to another origin: it gets no authorization and no secret */
    uint32_t redirects;
    Buf secrets[PARAMS_HEADERS_MAX +
                1]; /* values of the headers; the last is that of the signature */
    Lookup *lookup;
    Address addresses[LOOKUP_ADDRESSES_MAX];
    size_t address_count;
    struct curl_slist *headers;
    Transfer transfer;
    CallResult result;
} OutboundCall;

/* Copies what it needs of `asked`. Params that are wrong make a call that is CALL_ENDED.
 * SAP_NOMEM. The caller owns *call_out: call_free(). */
int call_new(bool webhook, const SapEffectCall *asked, OutboundCall **call_out);
/* In any stage. NULL is accepted. */
void call_free(OutboundCall *call);

/* CALL_NEW: begins it. */
void call_begin(OutboundCall *call, const CallContext *context);
/* CALL_RESOLVING: goes on if there is an answer, or ends it if it has waited for too long. */
void call_step(OutboundCall *call, const CallContext *context);
/* CALL_TALKING: its transfer has ended with `code`. */
void call_continue(OutboundCall *call, const CallContext *context, CURLcode code);

#endif
