/* outbound_lookup.h - names of hosts resolved beside the thread that makes calls.
 *
 * getaddrinfo() blocks, for as long as a name server is silent, and cannot be ended. So a few
 * threads do it, and a lookup that nobody wants any more is left to its thread, which frees it when
 * it has an answer. Such a thread may outlive lookups_close(); it touches nothing then but what it
 * owns.
 *
 * An answer is for one call and is not kept: the addresses that were judged are the ones that
 * are called. */
#ifndef SAPLING_NODE_OUTBOUND_LOOKUP_H
#define SAPLING_NODE_OUTBOUND_LOOKUP_H

#include "node/outbound_address.h"

#include <stddef.h>

enum { LOOKUP_ADDRESSES_MAX = 16 };

typedef enum LookupOutcome {
    LOOKUP_FOUND,
    LOOKUP_UNKNOWN, /* there is no such name, or it has no address */
    LOOKUP_FAILED,  /* it may be known another time */
} LookupOutcome;

typedef struct LookupAnswer {
    LookupOutcome outcome;
    size_t count;
    Address addresses
        [LOOKUP_ADDRESSES_MAX]; /* in the order in which they should be tried; ports are 0 */
} LookupAnswer;

/* Resolves a name, in any thread and as long as it takes. */
typedef void (*LookupFunction)(void *ctx, const char *host, LookupAnswer *out);

typedef struct Lookups Lookups;
typedef struct Lookup Lookup;

typedef struct LookupsOptions {
    LookupFunction function; /* NULL: getaddrinfo() */
    void *function_ctx;
    void (*done)(void *ctx); /* a lookup has its answer; not called after lookups_close() */
    void *done_ctx;
} LookupsOptions;

/* Starts no thread yet. SAP_NOMEM. */
int lookups_open(const LookupsOptions *options, Lookups **lookups_out);
/* Every lookup was released. NULL is accepted. */
void lookups_close(Lookups *lookups);

/* SAP_NOMEM: also if there is no thread and none can be started. */
int lookup_start(Lookups *lookups, const char *host, Lookup **lookup_out);
/* False: it has no answer yet. */
bool lookup_poll(Lookup *lookup, LookupAnswer *out);
/* Whether or not it has an answer. NULL is accepted. */
void lookup_release(Lookup *lookup);

#endif
