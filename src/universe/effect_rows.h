/* effect_rows.h - rows of effects and timers: their keys, and the rows that say where an intent is.
 *
 * An effect that was asked for and has no receipt yet is in one of two queues, and its dedupe row names
 * that row:
 *
 *   pending/<kind>/<due>/<seq>   it waits for its time, or for an adapter
 *   inflight/<seq>               an adapter has claimed it; <seq> is the same
 *   dedupe/<intent hash>         status and key of the row above; of a complete effect, of its receipt
 *
 * Whoever moves an effect guards the row of its queue, then the dedupe row, and reads both again: only if
 * the dedupe row still names that row is it the effect's.
 *
 * An armed timer has a row in timers-due, whose key begins with the time when it fires; the timer's dedupe
 * row has the key of that row. */
#ifndef SAPLING_UNIVERSE_EFFECT_ROWS_H
#define SAPLING_UNIVERSE_EFFECT_ROWS_H

#include "universe/rows.h"

enum {
    EFFECT_TOKEN = 16,
    EFFECT_CODE_MAX = 64, /* bytes of the code of a receipt or an attempt */
};

/* ---- Keys ------------------------------------------------------------------------------------ */

/* `kind` has 1 to UNIVERSE_NAME_MAX bytes. */
void row_key_pending(RowKey *key, uint32_t universe, Slice kind, uint64_t due_ns,
                     const uint8_t seq[UNIVERSE_SEQ]);
void row_key_inflight(RowKey *key, uint32_t universe, const uint8_t seq[UNIVERSE_SEQ]);
/* `table` is that of effects or timers. */
void row_key_dedupe(RowKey *key, uint32_t table, uint32_t universe,
                    const uint8_t hash[UNIVERSE_DIGEST]);
void row_key_timer(RowKey *key, uint32_t universe, WitUniverseTimerClock clock, uint64_t at_ns,
                   const uint8_t hash[UNIVERSE_DIGEST]);
void row_key_kind(RowKey *key, uint32_t universe, Slice kind, const UniverseName *node);

/* A range, with the room of its ends. */
typedef struct RowSpan {
    RowKey from;
    RowKey to;
    SapStoreRange range; /* borrows both: a span is not copied */
} RowSpan;

/* Effects of a kind that are due, those of all kinds after `kind` (none: all), and timers that are due. */
void row_span_pending(RowSpan *span, uint32_t universe, Slice kind, uint64_t now_ns);
void row_span_kinds_after(RowSpan *span, uint32_t universe, Slice kind);
void row_span_timers(RowSpan *span, uint32_t universe, WitUniverseTimerClock clock,
                     uint64_t now_ns);
/* All nodes that serve a kind. */
void row_span_nodes(RowSpan *span, uint32_t universe, Slice kind);
/* All rows of a table whose keys are not below `from`. */
void row_span_from(RowSpan *span, const RowKey *from, uint32_t universe);

/* A key as it was read. SAP_CORRUPT: longer than any. */
int row_key_copy(RowKey *key, uint32_t table, const void *bytes, uint32_t len);
bool row_key_equal(const RowKey *a, const RowKey *b);

/* The seq in the key of a queue. */
int row_key_seq(const RowKey *key, uint8_t seq_out[UNIVERSE_SEQ]);

/* ---- Where an effect is ---------------------------------------------------------------------- */

typedef struct DispatchRow {
    WitUniverseDispatchStatus status;
    UniverseName world;
    RowKey at;
} DispatchRow;

/* SAP_NOTFOUND: the effect is over, or never was. */
int dispatch_row_get(SapStoreTxn *txn, const RowKey *key, DispatchRow *row_out);
int dispatch_row_encode(const DispatchRow *row, Buf *out);
int dispatch_row_put(UniverseTxn *txn, const RowKey *key, const DispatchRow *row);

/* The key of the timer's row in timers-due. SAP_NOTFOUND: it is not armed. */
int timer_dedupe_get(SapStoreTxn *txn, const RowKey *key, RowKey *due_out);

#endif
