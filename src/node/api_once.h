/* api_once.h - requests that may be repeated: the answer is kept under the caller's Idempotency-Key for a day. */
#ifndef SAPLING_NODE_API_ONCE_H
#define SAPLING_NODE_API_ONCE_H

#include "node/api_call.h"

/* Runs the route of the call, or gives the answer that it gave before. Only answers that say that it was done are
 * kept; one that is too long is not, so that such a request is made again. Two requests at the same time with
 * one key are both made: the routes with ROUTE_ONCE bear that. */
void api_run_once(Call *call);

/* The scope of a caller's Idempotency-Key for calls of this kind; see sap_once_put(). */
void api_once_scope(const Call *call, const char *kind, char out[SAP_WORLD_MAX_NAME + 1]);

#endif
