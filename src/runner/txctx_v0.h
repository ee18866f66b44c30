/* txctx_v0.h - what one atomic block has read, wants to write and wants sent. The calls themselves:
 * sapling/runner_v0.h.
 *
 * The write set is a table of a private DB in memory: a row is the table's number and the key, its
 * value one byte (put or deleted) and the bytes. The block is one write transaction of that DB,
 * nested blocks are nested ones of it, so that closed nesting is the engine's.
 *
 * The read set is a list of what was seen in the snapshot: of a get the key and the hash of the
 * value (or that there was none), of a scan the range it covered and the hash of all rows in it.
 * The snapshot does not change, so that a key or range is in the list once, however often it is
 * read; an index of hashes finds it.
 *
 * Invariants:
 *  1. `writes` is the innermost open transaction of `store`, and there is one for each frame and
 *     one beneath them all; a context that only reads has none.
 *  2. The read set never shrinks before a reset: what an aborted child has seen may have steered
 *     the block around it.
 *  3. Whatever of the snapshot was shown to the block is in the read set, or `unrecorded` is the
 *     code that validation returns.
 *  4. While a scan is under way, `writes` does not change.
 *  5. Once sealed, a context has no snapshot, and nothing adds to it. */
#ifndef SAPLING_RUNNER_TXCTX_V0_H
#define SAPLING_RUNNER_TXCTX_V0_H

#include "common/buf.h"
#include "runner/txstack_v0.h"
#include "sapling/runner_v0.h"

#include <stdbool.h>

/* A cursor that waits for its next use, so that scans need not allocate. */
typedef struct TxCursorSlot {
    SapCursor *cur; /* NULL: none */
    uint32_t dbi;
} TxCursorSlot;

enum { TXCTX_CURSOR_SLOTS = 8, TXCTX_TABLE_WORDS = (SAP_MAX_DBI + 1) / 64 };

struct SapRunnerTxCtxV0 {
    SapEnv *db;
    SapEnv *store;
    SapTxnCtx *snapshot;  /* NULL: nothing can be read */
    SapTxnCtx *outermost; /* of the store; NULL in a context that only reads */
    SapTxnCtx *writes;
    bool read_only;
    bool sealed;
    bool running;   /* an attempt uses it */
    uint32_t scans; /* under way */
    int unrecorded; /* SAP_OK, or why something shown is not in `reads` */
    Buf reads;      /* entries, each followed by its key and bound */
    uint32_t read_count;
    Buf read_index; /* a power of two of size_t, at most half of them not 0: entry's offset + 1 */
    Buf intents;    /* frames, end to end */
    Buf intent_offsets;                       /* of each in `intents`, a size_t */
    Buf frames;                               /* TxFrame, outermost first */
    Buf row;                                  /* a row of the write set, or a message, on its way */
    uint64_t writable[TXCTX_TABLE_WORDS];     /* tables known to take writes */
    TxCursorSlot own;                         /* of the store */
    TxCursorSlot cursors[TXCTX_CURSOR_SLOTS]; /* of the db */
    uint32_t oldest_slot;                     /* of those, the next to be given up */
};

/* As reset, whoever uses it. */
int txctx_start(SapRunnerTxCtxV0 *ctx, SapTxnCtx *snapshot, int read_only);

/* The block is over: only counts, intents, validation and apply are left. */
void txctx_seal(SapRunnerTxCtxV0 *ctx);

/* Pushes the intent with the frame of the message in it. SAP_INVALID: no frame can hold them. */
int txctx_push_message(SapRunnerTxCtxV0 *ctx, SapRunnerV0Intent intent,
                       const SapRunnerV0Message *msg);

/* Checks that something may be added now: SAP_OK, SAP_ERROR (sealed), SAP_BUSY (a scan is under
 * way). */
int txctx_check_open(const SapRunnerTxCtxV0 *ctx);

#endif
