/* model.h - the engine as a sorted array: too simple to be wrong.
 *
 * A model is a few tables, each an array of rows in order; in a DUPSORT table the rows are pairs.
 * Rows are immutable and counted, so that a copy of a model (a snapshot, a nested transaction) is a
 * copy of its arrays. Memory comes from the C heap and not from mem.h: the model neither meets
 * armed faults nor shows up in the live counts. */
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
    bool dupsort;       /* many values per key */
    sap_keycmp_fn vcmp; /* with dupsort; NULL: byte order */
    void *vcmp_ctx;
    bool ttl_meta; /* expiry times; the DB may hold index rows beyond the model's, see below */
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

/* The index of the first row whose key is not below, or is above, the given one. */
size_t model_lower_bound(const ModelTable *table, const void *key, uint32_t key_len);
size_t model_upper_bound(const ModelTable *table, const void *key, uint32_t key_len);

/* The index of the first row that is not below the given one: by key and value with DUPSORT, else
 * by key. */
size_t model_row_bound(const ModelTable *table, const ModelRow *row);
/* The row there that is the given one (with DUPSORT in key and value, else in key), or NULL. */
ModelRow *model_find_row(const ModelTable *table, const ModelRow *row);

/* The first row of the key; NULL: there is none. Borrowed until the table changes. */
ModelRow *model_find(const ModelTable *table, const void *key, uint32_t key_len);
/* The row with this key and, with DUPSORT, this value. */
ModelRow *model_find_pair(const ModelTable *table, const void *key, uint32_t key_len,
                          const void *val, uint32_t val_len);

/* False: a DUPSORT table had the pair already. */
bool model_put(ModelTable *table, const void *key, uint32_t key_len, const void *val,
               uint32_t val_len);
/* Removes all rows of the key. False: there was none. */
bool model_del(ModelTable *table, const void *key, uint32_t key_len);
void model_del_at(ModelTable *table, size_t at);
/* A NULL bound is none. Returns how many rows there were. */
uint64_t model_del_range(ModelTable *table, const void *lo, uint32_t lo_len, const void *hi,
                         uint32_t hi_len);

/* A NULL bound is none. */
uint64_t model_count_range(const ModelTable *table, const void *lo, uint32_t lo_len, const void *hi,
                           uint32_t hi_len);

bool model_same(const Model *a, const Model *b);

/* The same on tables of the layout that holds expiry times: [0x00 key] -> expiry, big-endian, and
 * [0x01 expiry key] -> nothing. */
void model_put_ttl(ModelTable *data, ModelTable *meta, const void *key, uint32_t key_len,
                   const void *val, uint32_t val_len, uint64_t expires_at_ms);
/* False: the key has no expiry time. */
bool model_expiry(const ModelTable *meta, const void *key, uint32_t key_len,
                  uint64_t *expires_at_ms_out);
/* Removes the row and what is said about it. */
void model_del_ttl(ModelTable *data, ModelTable *meta, const void *key, uint32_t key_len);
/* The key whose expiry comes first, if that is not above now_ms; borrowed until a change. */
bool model_first_expired(const ModelTable *meta, uint64_t now_ms, const uint8_t **key_out,
                         uint32_t *key_len_out, uint64_t *expires_at_ms_out);

/* Reads every table of the model through `txn` in every way there is (walks both ways, gets,
 * ranks, positions, counts) and aborts with a text at the first difference. Returns how many rows
 * were compared. Nothing may be armed in fault.h. A table of expiry times may hold index rows that
 * the model does not have: those of earlier expiry times. */
uint64_t model_expect_same(const Model *model, SapTxnCtx *txn);

/* The same through a read transaction of its own on what is committed, and db_verify(). */
uint64_t model_expect_committed(const Model *model, SapEnv *db);

/* db_verify() with its findings on standard error; aborts unless there are none. */
void model_expect_verified(SapEnv *db);

#endif
