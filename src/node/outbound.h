/* outbound.h - the effects http.request and webhook: worlds that call others by HTTP.
 *
 * One thread makes all calls, with libcurl's multi interface, and a few more resolve names. The
 * adapters hand calls to it and take results from it; they never wait. What may be called, and what
 * a world may ask for and learns of the answer, is in docs/reference/effect-http.md.
 *
 *   outbound_params    what a world asks                     outbound_guard    what may be called
 *   outbound_call      one attempt, through its redirects    outbound_lookup   names, beside the thread
 *   outbound_transfer  one exchange, by libcurl              outbound_secrets  values nobody may read
 *   outbound_answer    what came, as a receipt               outbound_url, outbound_address */
#ifndef SAPLING_NODE_OUTBOUND_H
#define SAPLING_NODE_OUTBOUND_H

#include "common/log.h"
#include "common/metrics.h"
#include "node/outbound_lookup.h"
#include "node/outbound_secrets.h"
#include "sapling/universe.h"

typedef struct Outbound Outbound;

/* The lists are copied; everything else is borrowed until outbound_close(). Zero bytes are the
 * defaults. */
typedef struct OutboundOptions {
    const Log *log;
    MetricsRegistry *metrics; /* names begin with sapling_outbound_; NULL: none are kept */
    const char *const *allow; /* HOST:PORT that may be called though they are not public */
    size_t allow_count;
    const char *const *own; /* HOST:PORT that the node itself listens on, never called */
    size_t own_count;
    void (*wake)(void *ctx); /* a call has ended: called by the thread that makes calls */
    void *wake_ctx;
    SecretSource secrets;  /* see secrets_file_source(); `get` NULL: there are none */
    const char *ca_file;   /* PEM of the authorities that are trusted; NULL: the system's */
    LookupFunction lookup; /* how names are resolved; NULL: by the system */
    void *lookup_ctx;
    uint64_t slow_ms; /* a server that sends less than 256 bytes in this time is cut off; 0: 20 s */
    const char *
        *bad_place_out; /* unless NULL: after SAP_INVALID, which of `allow` and `own` is wrong */
} OutboundOptions;

/* Starts the thread. SAP_INVALID: an entry of `allow` or `own` is not HOST:PORT. SAP_EXISTS: the
 * metrics are there already. SAP_NOMEM: also if there is no thread to be had. The caller owns
 * *outbound_out: outbound_close(). */
int outbound_open(const OutboundOptions *options, Outbound **outbound_out);

/* Fills *adapter_out, which borrows `outbound`, for sap_worker_serve_adapter(). */
void outbound_adapter(Outbound *outbound, bool webhook, SapEffectAdapter *adapter_out);

/* Ends all calls. The workers that it serves are closed before: no handle is used any more.
 * Returns within half a second. NULL is accepted. */
void outbound_close(Outbound *outbound);

#endif
