/* rows.c - the public calls on single rows and ranges: checks, then the tree. */
#include "common/assert.h"
#include "sapling/tree.h"

/* ---- Reading -------------------------------------------------------------------------------- */

/* The table and its root for a reading call. */
static int open_for_read(SapTxnCtx *txn, uint32_t dbi, const Table **table_out, TreeState *tree_out)
{
    int rc = txn_check(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    const Table *table = table_get(txn->env, dbi);
    if (table == NULL) {
        return SAP_ERROR;
    }
    *table_out = table;
    return table_state(txn, dbi, tree_out);
}

int sap_txn_get_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                    const void **val_out, uint32_t *val_len_out)
{
    const Table *table = NULL;
    TreeState tree;
    int rc = open_for_read(txn, dbi, &table, &tree);
    if (rc != SAP_OK) {
        return rc;
    }
    if (key == NULL && key_len > 0) {
        return SAP_ERROR;
    }
    LeafRow row;
    if (!tree_get(txn->env, tree.root, table->order, key_bytes(key), key_len, &row)) {
        return SAP_NOTFOUND;
    }
    const void *val = NULL;
    uint32_t val_len = 0;
    tree_value(txn->env, &row, &val, &val_len);
    if (val_out != NULL) {
        *val_out = val;
    }
    if (val_len_out != NULL) {
        *val_len_out = val_len;
    }
    return SAP_OK;
}

int sap_txn_get(SapTxnCtx *txn, const void *key, uint32_t key_len, const void **val_out,
                uint32_t *val_len_out)
{
    return sap_txn_get_dbi(txn, 0, key, key_len, val_out, val_len_out);
}

/* How many rows are below `key`. */
static uint64_t rank_of(SapTxnCtx *txn, const Table *table, TreeState tree, const void *key,
                        uint32_t key_len)
{
    Path path;
    (void)tree_seek(txn->env, tree.root, table->order, key_bytes(key), key_len, &path);
    return tree_rank(&path);
}

int sap_txn_count_range(SapTxnCtx *txn, uint32_t dbi, const void *lo, uint32_t lo_len,
                        const void *hi, uint32_t hi_len, uint64_t *count_out)
{
    const Table *table = NULL;
    TreeState tree;
    int rc = open_for_read(txn, dbi, &table, &tree);
    if (rc != SAP_OK) {
        return rc;
    }
    if (count_out == NULL || (lo == NULL && lo_len > 0) || (hi == NULL && hi_len > 0)) {
        return SAP_ERROR;
    }
    uint64_t from = lo == NULL ? 0 : rank_of(txn, table, tree, lo, lo_len);
    uint64_t to = hi == NULL ? tree.entries : rank_of(txn, table, tree, hi, hi_len);
    *count_out = to > from ? to - from : 0;
    return SAP_OK;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static int check_put(const SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                     uint32_t val_len, unsigned flags, void *const *reserved_out)
{
    bool reserve = (flags & SAP_RESERVE) != 0;
    if ((key == NULL && key_len > 0) || (flags & ~(SAP_NOOVERWRITE | SAP_RESERVE)) != 0 ||
        reserve != (reserved_out != NULL) || (!reserve && val == NULL && val_len > 0)) {
        return SAP_ERROR;
    }
    return key_len > node_max_key(txn->env->page_size) || val_len > SAP_MAX_VAL_LEN ? SAP_FULL
                                                                                    : SAP_OK;
}

static int put_row(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, bool exact,
                   const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                   TreeChange *change)
{
    LeafRow row;
    uint8_t ref[CELL_REF];
    int rc = tree_make_row(txn, dbi, key_bytes(key), key_len, val, val_len, &row, ref);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = exact ? tree_replace(txn, dbi, table, path, &row, change)
               : tree_insert(txn, dbi, table, path, &row, change);
    if (rc != SAP_OK) {
        tree_drop_value(txn, &row);
    }
    return rc;
}

int sap_txn_put_flags_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                          const void *val, uint32_t val_len, unsigned flags, void **reserved_out)
{
    int rc = txn_check_write(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Table *table = table_get(txn->env, dbi);
    if (table == NULL) {
        return SAP_ERROR;
    }
    rc = check_put(txn, key, key_len, val, val_len, flags, reserved_out);
    if (rc != SAP_OK) {
        return rc;
    }
    Path path;
    bool exact =
        tree_seek(txn->env, table->tree.root, table->order, key_bytes(key), key_len, &path);
    if (exact && (flags & SAP_NOOVERWRITE) != 0) {
        return SAP_EXISTS;
    }
    if (exact) { /* a comparator may call different keys equal: the row keeps its own */
        LeafRow row = path_row(&path);
        key = row.key;
        key_len = row.key_len;
    }
    bool reserve = (flags & SAP_RESERVE) != 0;
    if (reserve && !node_val_inline(txn->env->page_size, key_len, val_len)) {
        return SAP_ERROR;
    }
    rc = cursors_detach(txn, dbi, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    TreeChange change;
    rc = put_row(txn, dbi, table, &path, exact, key, key_len, reserve ? NULL : val, val_len,
                 &change);
    if (rc == SAP_OK && reserve) {
        *reserved_out = change.val;
    }
    return rc;
}

int sap_txn_put_flags(SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                      uint32_t val_len, unsigned flags, void **reserved_out)
{
    return sap_txn_put_flags_dbi(txn, 0, key, key_len, val, val_len, flags, reserved_out);
}

int sap_txn_put_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                    const void *val, uint32_t val_len)
{
    return sap_txn_put_flags_dbi(txn, dbi, key, key_len, val, val_len, 0, NULL);
}

int sap_txn_put(SapTxnCtx *txn, const void *key, uint32_t key_len, const void *val,
                uint32_t val_len)
{
    return sap_txn_put_flags_dbi(txn, 0, key, key_len, val, val_len, 0, NULL);
}

int sap_txn_del_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len)
{
    int rc = txn_check_write(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Table *table = table_get(txn->env, dbi);
    if (table == NULL || (key == NULL && key_len > 0)) {
        return SAP_ERROR;
    }
    Path path;
    if (!tree_seek(txn->env, table->tree.root, table->order, key_bytes(key), key_len, &path)) {
        return SAP_NOTFOUND;
    }
    rc = cursors_detach(txn, dbi, NULL);
    if (rc != SAP_OK) {
        return rc;
    }
    TreeChange change;
    return tree_delete(txn, dbi, table, &path, &change);
}

int sap_txn_del(SapTxnCtx *txn, const void *key, uint32_t key_len)
{
    return sap_txn_del_dbi(txn, 0, key, key_len);
}
