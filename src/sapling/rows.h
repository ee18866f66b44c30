/* rows.h - changes of rows for the calls that combine several: no checks of arguments, no guard of
 * protected tables; cursors and watches are taken care of. */
#ifndef SAPLING_SAPLING_ROWS_H
#define SAPLING_SAPLING_ROWS_H

#include "sapling/tree.h"

/* A key of the user's as a key of the table's tree; release with probe_release(). */
typedef struct Probe {
    const uint8_t *bytes;
    uint32_t len;
    PairKey pair;
} Probe;

/* `place` matters in DUPSORT tables only. SAP_NOMEM. */
int probe_make(Probe *probe, const Table *table, PairPlace place, const void *key, uint32_t key_len,
               const void *val, uint32_t val_len);
void probe_release(Probe *probe);

/* The transaction and table of a reading call; and of one that changes rows directly, which
 * protected tables refuse. */
int rows_open_read(SapTxnCtx *txn, uint32_t dbi, const Table **table_out, TreeState *tree_out);
int rows_open_write(SapTxnCtx *txn, uint32_t dbi, Table **table_out);
/* Whether the key (and for DUPSORT the value) keeps to the limits: SAP_OK or SAP_FULL. */
int rows_check_size(const SapTxnCtx *txn, const Table *table, uint32_t key_len, uint32_t val_len);

/* Where tree_seek() led, for the change of one row. */
typedef struct RowPlace {
    Path *path;
    bool exact;              /* on the row, not where it goes */
    const SapCursor *cursor; /* whose path it is, or NULL */
} RowPlace;

/* Puts or removes the row there; everything that can refuse it has been asked. The key is one of
 * the tree's. val NULL: the caller writes the value to change->val. */
int rows_put_at(SapTxnCtx *txn, uint32_t dbi, Table *table, RowPlace *at, const void *key,
                uint32_t key_len, const void *val, uint32_t val_len, TreeChange *change);
int rows_del_at(SapTxnCtx *txn, uint32_t dbi, Table *table, RowPlace *at, TreeChange *change);

/* In tables that are not DUPSORT. */
int rows_put(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key, uint32_t key_len,
             const void *val, uint32_t val_len);
int rows_del(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key, uint32_t key_len);
int rows_get(SapTxnCtx *txn, const Table *table, TreeState tree, const void *key, uint32_t key_len,
             const void **val_out, uint32_t *val_len_out);

/* ---- cursor.c ---- */

typedef struct CursorPosition {
    SapTxnCtx *txn;
    uint32_t dbi;
    const uint8_t *key;
    uint32_t key_len;
} CursorPosition;

/* Where the cursor stands; codes as sap_cursor_get(). */
int cursor_position(SapCursor *cur, CursorPosition *position_out);
/* The cursor's row was just removed by another call: it goes on to the next one. */
void cursor_after_removal(SapCursor *cur);

#endif
