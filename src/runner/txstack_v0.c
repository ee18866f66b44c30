/* txstack_v0.c - see txstack_v0.h. */
#include "runner/txstack_v0.h"

#include "common/assert.h"
#include "runner/txctx_v0.h"

uint32_t sap_runner_txstack_v0_depth(const SapRunnerTxCtxV0 *ctx)
{
    return ctx == NULL ? 0 : (uint32_t)(ctx->frames.len / sizeof(TxFrame));
}

int sap_runner_txstack_v0_push(SapRunnerTxCtxV0 *ctx)
{
    int rc = txctx_check_open(ctx);
    if (rc != SAP_OK) {
        return rc;
    }
    TxFrame frame = {.writes = ctx->writes,
                     .intent_bytes = ctx->intents.len,
                     .offset_bytes = ctx->intent_offsets.len};
    rc = buf_reserve(&ctx->frames, sizeof frame);
    if (rc == SAP_OK && ctx->writes != NULL) {
        rc = sap_txn_begin_rc(ctx->store, frame.writes, 0, &ctx->writes);
    }
    return rc == SAP_OK ? buf_append(&ctx->frames, &frame, sizeof frame) : rc;
}

/* Whether there is a nested block that may end now. */
static int check_nested(const SapRunnerTxCtxV0 *ctx)
{
    int rc = txctx_check_open(ctx);
    return rc == SAP_OK && ctx->frames.len == 0 ? SAP_ERROR : rc;
}

static TxFrame pop(SapRunnerTxCtxV0 *ctx)
{
    TxFrame frame;
    size_t below = ctx->frames.len - sizeof frame;

    memcpy(&frame, ctx->frames.data + below, sizeof frame);
    buf_truncate(&ctx->frames, below);
    ctx->writes = frame.writes;
    return frame;
}

int sap_runner_txstack_v0_commit(SapRunnerTxCtxV0 *ctx)
{
    int rc = check_nested(ctx);
    if (rc != SAP_OK) {
        return rc;
    }
    if (ctx->writes != NULL) {
        /* The private DB has neither a disk nor others that could object. */
        rc = sap_txn_commit(ctx->writes);
        SAP_ASSERT(rc == SAP_OK);
    }
    (void)pop(ctx);
    return SAP_OK;
}

int sap_runner_txstack_v0_abort(SapRunnerTxCtxV0 *ctx)
{
    int rc = check_nested(ctx);
    if (rc != SAP_OK) {
        return rc;
    }
    sap_txn_abort(ctx->writes);
    TxFrame frame = pop(ctx);
    buf_truncate(&ctx->intents, frame.intent_bytes);
    buf_truncate(&ctx->intent_offsets, frame.offset_bytes);
    return SAP_OK;
}
