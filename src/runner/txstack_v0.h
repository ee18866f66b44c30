/* txstack_v0.h - nested blocks. The calls themselves: sapling/runner_v0.h.
 *
 * A nested block is one more transaction of the context's private DB, and marks of how far the
 * intents had come. Its commit merges both into the block around it, its abort takes both back; the
 * read set knows no blocks. Beginning one allocates nothing once the context has been that deep. */
#ifndef SAPLING_RUNNER_TXSTACK_V0_H
#define SAPLING_RUNNER_TXSTACK_V0_H

#include "sapling/runner_v0.h"

/* What the end of a nested block goes back to. */
typedef struct TxFrame {
    SapTxnCtx *writes;   /* of the block around it; NULL in a context that only reads */
    size_t intent_bytes; /* what was in `intents` when it began */
    size_t offset_bytes; /* and in `intent_offsets` */
} TxFrame;

#endif
