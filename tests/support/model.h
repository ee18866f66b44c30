/* model.h - the engine as a sorted array: too simple to be wrong.
 *
 * A model is a few tables, each an array of rows in order. Rows are immutable and counted, so
 * that a copy of a model (a snapshot, a nested transaction) is a copy of its arrays. Memory comes
 * from the C heap and not from mem.h: the model neither meets armed faults nor shows up in the
 * live counts. */
#ifndef SAPLING_TESTS_MODEL_H
#define SAPLING_TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sapling/sapling.h"

typedef struct ModelRow {
    uint32_t refs;
    uint32_t key_len;
    uint32_t val_len;
    uint64_t birth;  /* kept when the value is replaced, new when the key is inserted again */
    uint8_t bytes[]; /* the key, then the value */
} ModelRow;

typedef struct ModelTable {
    uint32_t dbi;
    sap_keycmp_fn cmp; /* NULL: byte order */
    void *cmp_ctx;
    ModelRow **rows;
    size_t count;
    size_t cap;
} ModelTable;

enum { MODEL_MAX_TABLES = 8 };

typedef struct Model {
    ModelTable tables[MODEL_MAX_TABLES];
    size_t table_count;
} Model;

/* Caller owns, release with model_free(), which accepts NULL. */
Model *model_new(void);
Model *model_copy(const Model *model);
void model_free(Model *model);

/* Returns the index of the new table. */
size_t model_add_table(Model *model, uint32_t dbi, sap_keycmp_fn cmp, void *cmp_ctx);

ModelRow *model_row_ref(ModelRow *row);
void model_row_unref(ModelRow *row);
static inline const uint8_t *model_row_val(const ModelRow *row)
{
    return row->bytes + row->key_len;
}

/* The index of the first row whose key is not below the given one. */
size_t model_lower_bound(const ModelTable *table, const void *key, uint32_t key_len);

/* NULL: no such row. Borrowed until the table changes. */
ModelRow *model_find(const ModelTable *table, const void *key, uint32_t key_len);

void model_put(ModelTable *table, const void *key, uint32_t key_len, const void *val,
               uint32_t val_len);
/* False: there was no such row. */
bool model_del(ModelTable *table, const void *key, uint32_t key_len);

/* A NULL bound is none. */
uint64_t model_count_range(const ModelTable *table, const void *lo, uint32_t lo_len, const void *hi,
                           uint32_t hi_len);

bool model_same(const Model *a, const Model *b);

/* Reads every table of the model through `txn` in every way there is (walks both ways, gets,
 * ranks, positions, counts) and aborts with a text at the first difference. Returns how many rows
 * were compared. Nothing may be armed in fault.h. */
uint64_t model_expect_same(const Model *model, SapTxnCtx *txn);

/* The same through a read transaction of its own on what is committed, and db_verify(). */
uint64_t model_expect_committed(const Model *model, SapEnv *db);

/* db_verify() with its findings on standard error; aborts unless there are none. */
void model_expect_verified(SapEnv *db);

#endif
