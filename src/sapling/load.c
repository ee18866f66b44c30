/* load.c - many rows in order at once.
 *
 * Into an empty table, and where the new rows are not few beside those there, the tree is built
 * anew from both in order, bottom-up; few rows are put one by one. Either way in a savepoint: all
 * rows or none. */
#include "common/assert.h"
#include "common/mem.h"
#include "sapling/effects.h"
#include "sapling/rows.h"
#include "sapling/tree_build.h"

enum { FEW_SHARE = 16 }; /* up to one new row to so many old ones they are put one by one */

typedef struct LoadInput {
    const void *const *keys;
    const uint32_t *key_lens;
    const void *const *vals;
    const uint32_t *val_lens;
    uint32_t count;
} LoadInput;

/* Whether input row i - 1 is below row i. */
static bool ascends(const Table *table, const LoadInput *in, uint32_t i)
{
    int c = key_compare(table->key_order, in->keys[i - 1], in->key_lens[i - 1], in->keys[i],
                        in->key_lens[i]);
    if (c == 0 && table->pairs != NULL) {
        c = key_compare(table->pairs->values, in->vals[i - 1], in->val_lens[i - 1], in->vals[i],
                        in->val_lens[i]);
    }
    return c < 0;
}

static int check_input(const SapTxnCtx *txn, const Table *table, const LoadInput *in)
{
    if (in->count > 0 &&
        (in->keys == NULL || in->key_lens == NULL || in->vals == NULL || in->val_lens == NULL)) {
        return SAP_ERROR;
    }
    for (uint32_t i = 0; i < in->count; i++) {
        if ((in->keys[i] == NULL && in->key_lens[i] > 0) ||
            (in->vals[i] == NULL && in->val_lens[i] > 0)) {
            return SAP_ERROR;
        }
        int rc = rows_check_size(txn, table, in->key_lens[i], in->val_lens[i]);
        if (rc != SAP_OK) {
            return rc;
        }
        if (i > 0 && !ascends(table, in, i)) {
            return SAP_ERROR;
        }
    }
    return SAP_OK;
}

/* ---- One by one ----------------------------------------------------------------------------- */

static int put_each(SapTxnCtx *txn, uint32_t dbi, const LoadInput *in)
{
    for (uint32_t i = 0; i < in->count; i++) {
        int rc =
            sap_txn_put_dbi(txn, dbi, in->keys[i], in->key_lens[i], in->vals[i], in->val_lens[i]);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

/* ---- Building anew -------------------------------------------------------------------------- */

typedef struct Merge {
    SapTxnCtx *txn;
    uint32_t dbi;
    Table *table;
    TreeBuild build;
    Path old;   /* the next row of the present tree */
    int old_rc; /* SAP_OK: `old` is on a row; SAP_NOTFOUND: none is left */
} Merge;

static int add_old(Merge *merge)
{
    LeafRow row = path_row(&merge->old);
    int rc = tree_build_add(&merge->build, &row, false); /* old pages stay until the commit */
    merge->old_rc = tree_next(merge->txn->env, &merge->old);
    return rc;
}

/* Adds the old rows below the new one, and passes over (with its value) an equal one. */
static int add_old_below(Merge *merge, const uint8_t *key, uint32_t key_len, bool *equal_out)
{
    *equal_out = false;
    while (merge->old_rc == SAP_OK) {
        LeafRow row = path_row(&merge->old);
        int c = key_compare(merge->table->order, row.key, row.key_len, key, key_len);
        if (c > 0) {
            return SAP_OK;
        }
        if (c == 0) {
            *equal_out = true;
            return SAP_OK;
        }
        int rc = add_old(merge);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return merge->old_rc == SAP_NOTFOUND ? SAP_OK : merge->old_rc;
}

static int add_new_unique(Merge *merge, const LoadInput *in, uint32_t i)
{
    bool equal = false;
    int rc = add_old_below(merge, key_bytes(in->keys[i]), in->key_lens[i], &equal);
    if (rc != SAP_OK) {
        return rc;
    }
    const void *key = in->keys[i];
    uint32_t key_len = in->key_lens[i];
    if (equal) {
        LeafRow old = path_row(&merge->old);
        key = old.key;
        key_len = old.key_len;
        tree_drop_value(merge->txn, &old);
        merge->old_rc = tree_next(merge->txn->env, &merge->old);
    }
    LeafRow row;
    uint8_t ref[CELL_REF];
    rc = tree_make_row(merge->txn, merge->dbi, key_bytes(key), key_len, in->vals[i],
                       in->val_lens[i], &row, ref);
    return rc == SAP_OK ? tree_build_add(&merge->build, &row, false) : rc;
}

static int add_new_pair(Merge *merge, const LoadInput *in, uint32_t i)
{
    Probe pair;
    int rc = probe_make(&pair, merge->table, PAIR_EXACT, in->keys[i], in->key_lens[i], in->vals[i],
                        in->val_lens[i]);
    if (rc != SAP_OK) {
        return rc;
    }
    bool equal = false;
    rc = add_old_below(merge, pair.bytes, pair.len, &equal);
    if (rc == SAP_OK && !equal) {
        LeafRow row = {.key = pair.bytes, .key_len = pair.len};
        rc = tree_build_add(&merge->build, &row, true);
    }
    probe_release(&pair);
    return rc;
}

static int merge_rows(Merge *merge, const LoadInput *in)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; i < in->count && rc == SAP_OK; i++) {
        rc =
            merge->table->pairs != NULL ? add_new_pair(merge, in, i) : add_new_unique(merge, in, i);
    }
    while (merge->old_rc == SAP_OK && rc == SAP_OK) {
        rc = add_old(merge);
    }
    return rc == SAP_OK && merge->old_rc != SAP_NOTFOUND ? merge->old_rc : rc;
}

static int build_anew(SapTxnCtx *txn, uint32_t dbi, Table *table, const LoadInput *in)
{
    Merge merge = {.txn = txn, .dbi = dbi, .table = table};
    int rc = table_save(txn, dbi, table);
    if (rc == SAP_OK) {
        rc = tree_build_begin(&merge.build, txn, table);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    merge.old_rc = tree_first(txn->env, table->tree.root, &merge.old);
    TreeState built = {0};
    rc = merge_rows(&merge, in);
    if (rc == SAP_OK) {
        rc = tree_build_finish(&merge.build, &built);
    }
    tree_build_release(&merge.build);
    if (rc == SAP_OK) {
        tree_free_pages(txn, table->tree.root);
        table->tree = built;
    }
    return rc;
}

/* ---- The call ------------------------------------------------------------------------------- */

static int note_all(SapTxnCtx *txn, uint32_t dbi, const Table *table, const LoadInput *in)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; table->watches > 0 && i < in->count && rc == SAP_OK; i++) {
        rc = watch_note(txn, dbi, table, key_bytes(in->keys[i]), in->key_lens[i]);
    }
    return rc;
}

static int log_all(SapTxnCtx *txn, uint32_t dbi, const Table *table, const LoadInput *in)
{
    int rc = SAP_OK;
    for (uint32_t i = 0; txn->env->log_effects && i < in->count && rc == SAP_OK; i++) {
        Probe key;
        rc = probe_make(&key, table, PAIR_EXACT, in->keys[i], in->key_lens[i], in->vals[i],
                        in->val_lens[i]);
        if (rc == SAP_OK) {
            rc = effects_put(txn, dbi, key.bytes, key.len, in->vals[i],
                             table->pairs != NULL ? 0 : in->val_lens[i]);
            probe_release(&key);
        }
    }
    return rc;
}

int sap_txn_load_sorted(SapTxnCtx *txn, uint32_t dbi, const void *const *keys,
                        const uint32_t *key_lens, const void *const *vals, const uint32_t *val_lens,
                        uint32_t count)
{
    LoadInput in = {
        .keys = keys, .key_lens = key_lens, .vals = vals, .val_lens = val_lens, .count = count};
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc == SAP_OK) {
        rc = check_input(txn, table, &in);
    }
    if (rc != SAP_OK || count == 0) {
        return rc;
    }
    SapTxnCtx *level = NULL;
    rc = savepoint_begin(txn, &level);
    if (rc != SAP_OK) {
        return rc;
    }
    if (table->tree.entries / FEW_SHARE >= count) {
        rc = put_each(level, dbi, &in);
    } else {
        rc = cursors_detach(level, dbi, NULL);
        if (rc == SAP_OK) {
            rc = note_all(level, dbi, table, &in);
        }
        if (rc == SAP_OK) {
            rc = log_all(level, dbi, table, &in);
        }
        if (rc == SAP_OK) {
            rc = build_anew(level, dbi, table, &in);
        }
    }
    savepoint_end(level, rc == SAP_OK);
    return rc;
}
