/* intent_sink_v0.c - see intent_sink_v0.h. */
#include "runner/intent_sink_v0.h"

#include "runner/wire_v0.h"

int sap_runner_intent_sink_v0_store(SapTxnCtx *txn, SapRunnerTxCtxV0 *ctx)
{
    uint32_t count = sap_runner_txctx_v0_intent_count(ctx);
    int rc = SAP_OK;

    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        SapRunnerV0Intent intent;
        const void *frame;
        uint32_t frame_len;

        rc = sap_runner_txctx_v0_intent(ctx, i, &frame, &frame_len);
        if (rc == SAP_OK) {
            rc = wire_rc(sap_runner_wire_v0_decode_intent(frame, frame_len, &intent));
        }
        if (rc == SAP_OK) {
            rc = intent.kind == SAP_RUNNER_V0_TIMER_ARM
                     ? sap_runner_timer_v0_append(txn, intent.due_ts, intent.message,
                                                  intent.message_len, NULL)
                     : sap_runner_outbox_v0_append(txn, intent.message, intent.message_len, NULL);
        }
    }
    return rc;
}
