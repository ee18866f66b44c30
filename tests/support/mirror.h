/* mirror.h - a DB and its model, changed together.
 *
 * Each change is made on both, and the DB must answer what the model says. Tables are named by
 * their index in the model; index 0 is DBI 0. With a transaction open, changes go to the innermost
 * one. Aborts at the first difference. */
#ifndef SAPLING_TESTS_MIRROR_H
#define SAPLING_TESTS_MIRROR_H

#include "support/model.h"
#include "support/orders.h"

enum { MIRROR_LEVELS = 4 };

typedef struct Mirror {
    SapEnv *db;
    Model *committed;
    SapTxnCtx *txns[MIRROR_LEVELS]; /* a writer and its descendants */
    Model *models[MIRROR_LEVELS];   /* what each sees */
    uint32_t depth;
    bool borrows_arena;
} Mirror;

/* `arena` NULL: a heap of its own. Release with mirror_close(). */
void mirror_open(Mirror *m, SapMemArena *arena, uint32_t page_size, OrderKind order);
/* Aborts what is open, compares once more, closes, and after the last one expects that the memory
 * in use is what it was before the first was opened. */
void mirror_close(Mirror *m);
/* The same without a comparison, for a DB whose content is no longer the model's. */
void mirror_drop(Mirror *m);

/* Opens a table, flags as for dbi_open(); and one whose values are in an order of their own.
 * Returns its index. */
size_t mirror_add(Mirror *m, uint32_t dbi, OrderKind order, unsigned flags);
size_t mirror_add_dupsort(Mirror *m, uint32_t dbi, OrderKind order, OrderKind value_order);

/* A writer, or a child of the innermost one. */
void mirror_begin(Mirror *m);
/* Ends the innermost one. An outermost commit is compared and verified. */
void mirror_commit(Mirror *m);
void mirror_abort(Mirror *m);

SapTxnCtx *mirror_txn(Mirror *m);
ModelTable *mirror_table(Mirror *m, size_t table);

void mirror_put(Mirror *m, size_t table, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len);
void mirror_put_text(Mirror *m, size_t table, const char *key, const char *val);
void mirror_del(Mirror *m, size_t table, const void *key, uint32_t key_len);
/* NULL bounds are none. */
void mirror_del_range(Mirror *m, size_t table, const void *lo, uint32_t lo_len, const void *hi,
                      uint32_t hi_len);

/* Loads the rows of `source`, a table of a model of its own in the same order. */
void mirror_load(Mirror *m, size_t table, const ModelTable *source);

/* What the innermost transaction sees, and what is committed. */
void mirror_compare(Mirror *m);

/* txn_load_sorted() with the rows of `source`, as they are. */
int load_rows(SapTxnCtx *txn, uint32_t dbi, const ModelTable *source);

#endif
