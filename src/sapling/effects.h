/* effects.h - what a write transaction changed, as the log says it.
 *
 * A record is the effects of one transaction in the order of its changes, one behind the other.
 * Integers are little-endian. An effect:
 *
 *   0   u8   kind: put 1, delete 2, delete range 3, define 4, subsystem 5; 0 alone: a barrier
 *   1   u16  table, or id of the subsystem
 *   3   u32  flags of the table; define only
 *       u32  length of the first part
 *       u32  length of the second part; not in a delete, nor of a subsystem
 *       the first part, the second part
 *
 *              first part            second part
 *   put        key                   value
 *   delete     key
 *   range      its first key         the first key behind it
 *   define     name of the           name of the
 *              order of keys         order of values
 *   subsystem  what encode() wrote
 *
 * A length of 0xffffffff says that there is no such part: no bound, or byte order. Keys are those of
 * the tree, in a DUPSORT table pairs; bounds may be places (pairs.h).
 *
 * A barrier stands for a bulk transaction, whose changes are in the data file only: EFFECT_BARRIER is
 * the only byte of its record.
 *
 * Effects are recorded while env->log_effects is set, each before its change; a change that fails
 * and a level that is aborted cut them back (ChangeMark in env.h). */
#ifndef SAPLING_SAPLING_EFFECTS_H
#define SAPLING_SAPLING_EFFECTS_H

#include "common/buf.h"
#include "sapling/tree.h"

enum { EFFECT_BARRIER = 0 };

static inline bool effects_is_barrier(Slice record)
{
    return record.len == 1 && *(const uint8_t *)record.data == EFFECT_BARRIER;
}

/* Recording. SAP_NOMEM, SAP_FULL: nothing may be changed. */

int effects_put(SapTxnCtx *txn, uint32_t dbi, const uint8_t *key, uint32_t key_len, const void *val,
                uint32_t val_len);
/* A put whose value the user writes: it is read at the outermost commit. */
int effects_reserve(SapTxnCtx *txn, uint32_t dbi, const uint8_t *key, uint32_t key_len,
                    uint32_t val_len);
int effects_del(SapTxnCtx *txn, uint32_t dbi, const uint8_t *key, uint32_t key_len);
/* NULL: no bound. */
int effects_del_range(SapTxnCtx *txn, uint32_t dbi, const TreeBound *from, const TreeBound *to);
/* Names of comparators; NULL: bytes. */
int effects_define(SapTxnCtx *txn, uint32_t dbi, unsigned flags, const char *key_order,
                   const char *val_order);

/* The bytes of a subsystem, at least one; at the outermost commit. */
int effects_subsystem(SapTxnCtx *txn, uint32_t id, Slice bytes);

/* Before the outermost commit, once: completes the record, which is borrowed until the transaction
 * ends. A reserved row that was removed or replaced since keeps zeros as its value, as a later
 * effect says what became of it. SAP_FULL: more than a record of the log holds. SAP_CORRUPT,
 * SAP_NOMEM: a reserved row cannot be read. */
int effects_finish(SapTxnCtx *txn, Slice *record_out);

/* Whether such a record does nothing but delete rows. */
bool effects_only_delete(Slice record);

/* What a record asks for beside rows; everything is borrowed for the call. */
typedef struct EffectCalls {
    /* Opens a table. A name whose .data is NULL: byte order. */
    int (*define)(void *ctx, uint32_t dbi, unsigned flags, Slice key_order, Slice val_order);
    /* Changes the state of a subsystem, which need not be one that there is. */
    int (*subsystem)(void *ctx, uint32_t id, Slice bytes);
    void *ctx;
} EffectCalls;

/* Makes the changes of a record again. SAP_CORRUPT: it does not decode, names a table that is not
 * open, or deletes a row that is not there. On any error what was done so far is to be aborted. */
int effects_apply(SapTxnCtx *txn, Slice bytes, const EffectCalls *calls);

/* The same on top of rows of which some were lost: what cannot be made is left out, and *dropped
 * grows by the puts among that. SAP_CORRUPT: the record does not decode; nothing was done. */
int effects_apply_some(SapTxnCtx *txn, Slice bytes, const EffectCalls *calls, uint64_t *dropped);

#endif
