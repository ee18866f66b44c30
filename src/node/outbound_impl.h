/* outbound_impl.h - calls as the adapters use them, and the tests. */
#ifndef SAPLING_NODE_OUTBOUND_IMPL_H
#define SAPLING_NODE_OUTBOUND_IMPL_H

#include "node/outbound.h"
#include "node/outbound_call.h"

/* Hands a call to the thread. What `asked` borrows is not used after it has returned. On SAP_OK
 * *call_out is a handle until outbound_take() has returned true, or outbound_drop() has
 * returned. SAP_NOMEM. */
int outbound_ask(Outbound *outbound, bool webhook, const SapEffectCall *asked,
                 OutboundCall **call_out);

/* True: the call has ended, the handle is gone, and the caller owns result_out->payload. */
bool outbound_take(Outbound *outbound, OutboundCall *call, CallResult *result_out);

/* Nobody wants the result any more. */
void outbound_drop(Outbound *outbound, OutboundCall *call);

#endif
