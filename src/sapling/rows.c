/* rows.c - the public calls on single rows and ranges: checks, then the tree. */
#include "sapling/rows.h"

#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/effects.h"

/* ---- Keys ----------------------------------------------------------------------------------- */

int probe_make(Probe *probe, const Table *table, PairPlace place, const void *key, uint32_t key_len,
               const void *val, uint32_t val_len)
{
    if (table->pairs == NULL) {
        probe->pair.allocated = 0;
        probe->bytes = key_bytes(key);
        probe->len = key_len;
        return SAP_OK;
    }
    if (key_len > SAP_MAX_KEY_LEN / 2) {
        key_len = SAP_MAX_KEY_LEN / 2; /* no row has one as long: the place is the same */
    }
    int rc = pair_make(&probe->pair, place, key, key_len, val, val_len);
    probe->bytes = probe->pair.bytes;
    probe->len = probe->pair.len;
    return rc;
}

void probe_release(Probe *probe)
{
    pair_release(&probe->pair);
}

/* Moves the bytes out of the tree, where a caller may have got them from. */
static int probe_own(Probe *probe, const Table *table)
{
    if (table->pairs != NULL) {
        return SAP_OK; /* put together in memory of its own */
    }
    PairKey *copy = &probe->pair;
    copy->bytes = copy->in_place;
    if (probe->len > PAIR_INLINE) {
        copy->bytes = (uint8_t *)mem_alloc(MEM_TXN, probe->len);
        if (copy->bytes == NULL) {
            return SAP_NOMEM;
        }
        copy->allocated = probe->len;
    }
    memcpy(copy->bytes, probe->bytes, probe->len);
    probe->bytes = copy->bytes;
    return SAP_OK;
}

static bool arg_valid(const void *bytes, uint32_t len)
{
    return bytes != NULL || len == 0;
}

/* ---- Opening -------------------------------------------------------------------------------- */

int rows_open_read(SapTxnCtx *txn, uint32_t dbi, const Table **table_out, TreeState *tree_out)
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

int rows_open_write(SapTxnCtx *txn, uint32_t dbi, Table **table_out)
{
    int rc = txn_check_write(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    Table *table = table_get(txn->env, dbi);
    if (table == NULL || (table->flags & SAP_DBI_TTL_META) != 0) {
        return SAP_ERROR;
    }
    *table_out = table;
    return SAP_OK;
}

int rows_check_size(const SapTxnCtx *txn, const Table *table, uint32_t key_len, uint32_t val_len)
{
    uint64_t most = node_max_key(txn->env->page_size);
    if (table->pairs != NULL) {
        return (uint64_t)PAIR_HEADER + key_len + val_len > most ? SAP_FULL : SAP_OK;
    }
    return key_len > most || val_len > SAP_MAX_VAL_LEN ? SAP_FULL : SAP_OK;
}

/* ---- Reading -------------------------------------------------------------------------------- */

/* The first value of the key in a DUPSORT table. */
static int get_first_pair(SapTxnCtx *txn, const Table *table, TreeState tree, const void *key,
                          uint32_t key_len, const void **val_out, uint32_t *val_len_out)
{
    Probe from;
    int rc = probe_make(&from, table, PAIR_BEFORE, key, key_len, NULL, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    Path path;
    rc = tree_seek(txn->env, tree.root, table->order, from.bytes, from.len, &path);
    probe_release(&from);
    if (rc == SAP_NOTFOUND) {
        rc = tree_settle(txn->env, &path);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    LeafRow row = path_row(&path);
    PairView pair = pair_view(row.key, row.key_len);
    if (key_compare(table->key_order, key, key_len, pair.key, pair.key_len) != 0) {
        return SAP_NOTFOUND;
    }
    *val_out = pair.val;
    *val_len_out = pair.val_len;
    return SAP_OK;
}

int rows_get(SapTxnCtx *txn, const Table *table, TreeState tree, const void *key, uint32_t key_len,
             const void **val_out, uint32_t *val_len_out)
{
    LeafRow row;
    int rc = tree_get(txn->env, tree.root, table->order, key_bytes(key), key_len, &row);
    return rc == SAP_OK ? tree_value(txn->env, &row, val_out, val_len_out) : rc;
}

int sap_txn_get_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                    const void **val_out, uint32_t *val_len_out)
{
    const Table *table = NULL;
    TreeState tree;
    int rc = rows_open_read(txn, dbi, &table, &tree);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!arg_valid(key, key_len)) {
        return SAP_ERROR;
    }
    const void *val = NULL;
    uint32_t val_len = 0;
    rc = sap_likely(table->pairs == NULL)
             ? rows_get(txn, table, tree, key, key_len, &val, &val_len)
             : get_first_pair(txn, table, tree, key, key_len, &val, &val_len);
    if (rc != SAP_OK) {
        return rc;
    }
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
static int rank_of(SapTxnCtx *txn, const Table *table, TreeState tree, const void *key,
                   uint32_t key_len, uint64_t *rank_out)
{
    Probe probe;
    int rc = probe_make(&probe, table, PAIR_BEFORE, key, key_len, NULL, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    Path path;
    rc = tree_seek(txn->env, tree.root, table->order, probe.bytes, probe.len, &path);
    probe_release(&probe);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    *rank_out = tree_rank(&path);
    return SAP_OK;
}

int sap_txn_count_range(SapTxnCtx *txn, uint32_t dbi, const void *lo, uint32_t lo_len,
                        const void *hi, uint32_t hi_len, uint64_t *count_out)
{
    const Table *table = NULL;
    TreeState tree;
    int rc = rows_open_read(txn, dbi, &table, &tree);
    if (rc != SAP_OK) {
        return rc;
    }
    if (count_out == NULL || !arg_valid(lo, lo_len) || !arg_valid(hi, hi_len)) {
        return SAP_ERROR;
    }
    uint64_t from = 0;
    uint64_t to = tree.entries;
    if (lo != NULL) {
        rc = rank_of(txn, table, tree, lo, lo_len, &from);
    }
    if (rc == SAP_OK && hi != NULL) {
        rc = rank_of(txn, table, tree, hi, hi_len, &to);
    }
    if (rc == SAP_OK) {
        *count_out = to > from ? to - from : 0;
    }
    return rc;
}

/* ---- Writing -------------------------------------------------------------------------------- */

static int put_row(SapTxnCtx *txn, uint32_t dbi, Table *table, RowPlace *at, const void *key,
                   uint32_t key_len, const void *val, uint32_t val_len, TreeChange *change)
{
    LeafRow row;
    uint8_t ref[CELL_REF];
    int rc = tree_make_row(txn, dbi, key_bytes(key), key_len, val, val_len, &row, ref);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = at->exact ? tree_replace(txn, dbi, table, at->path, &row, change)
                   : tree_insert(txn, dbi, table, at->path, &row, change);
    if (rc != SAP_OK) {
        tree_drop_value(txn, &row);
    }
    return rc;
}

int rows_put_at(SapTxnCtx *txn, uint32_t dbi, Table *table, RowPlace *at, const void *key,
                uint32_t key_len, const void *val, uint32_t val_len, TreeChange *change)
{
    ChangeMark mark = change_mark(txn->env);
    int rc = cursors_detach(txn, dbi, at->cursor);
    if (rc == SAP_OK) {
        rc = watch_note(txn, dbi, table, key_bytes(key), key_len);
    }
    if (rc == SAP_OK) {
        bool reserve = val == NULL && val_len > 0;
        rc = reserve ? effects_reserve(txn, dbi, key_bytes(key), key_len, val_len)
                     : effects_put(txn, dbi, key_bytes(key), key_len, val, val_len);
    }
    if (rc == SAP_OK) {
        rc = put_row(txn, dbi, table, at, key, key_len, val, val_len, change);
    }
    if (rc != SAP_OK) {
        change_rewind(txn->env, mark);
    }
    return rc;
}

static int put_unique(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key, uint32_t key_len,
                      const void *val, uint32_t val_len, unsigned flags, void **reserved_out)
{
    Path path;
    int rc = tree_seek(txn->env, table->tree.root, table->order, key_bytes(key), key_len, &path);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    RowPlace at = {.path = &path, .exact = rc == SAP_OK};
    if (at.exact && (flags & SAP_NOOVERWRITE) != 0) {
        return SAP_EXISTS;
    }
    if (at.exact) { /* a comparator may call different keys equal: the row keeps its own */
        LeafRow row = path_row(&path);
        key = row.key;
        key_len = row.key_len;
    }
    bool reserve = (flags & SAP_RESERVE) != 0;
    if (reserve && !node_val_inline(txn->env->page_size, key_len, val_len)) {
        return SAP_ERROR;
    }
    TreeChange change;
    rc = rows_put_at(txn, dbi, table, &at, key, key_len, reserve ? NULL : val, val_len, &change);
    if (rc == SAP_OK && reserve) {
        *reserved_out = change.val;
    }
    return rc;
}

static int put_pair(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key, uint32_t key_len,
                    const void *val, uint32_t val_len, unsigned flags)
{
    if ((flags & SAP_NOOVERWRITE) != 0) {
        const void *first = NULL;
        uint32_t first_len = 0;
        int rc = get_first_pair(txn, table, table->tree, key, key_len, &first, &first_len);
        if (rc != SAP_NOTFOUND) {
            return rc == SAP_OK ? SAP_EXISTS : rc;
        }
    }
    Probe pair;
    int rc = probe_make(&pair, table, PAIR_EXACT, key, key_len, val, val_len);
    if (rc != SAP_OK) {
        return rc;
    }
    Path path;
    rc = tree_seek(txn->env, table->tree.root, table->order, pair.bytes, pair.len, &path);
    /* A pair that is there is all there is to it: nothing is copied, recorded or reported. */
    if (rc == SAP_NOTFOUND) {
        RowPlace at = {.path = &path};
        TreeChange change;
        rc = rows_put_at(txn, dbi, table, &at, pair.bytes, pair.len, NULL, 0, &change);
    }
    probe_release(&pair);
    return rc;
}

int sap_txn_put_flags_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                          const void *val, uint32_t val_len, unsigned flags, void **reserved_out)
{
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc != SAP_OK) {
        return rc;
    }
    bool reserve = (flags & SAP_RESERVE) != 0;
    if (!arg_valid(key, key_len) || (flags & ~(SAP_NOOVERWRITE | SAP_RESERVE)) != 0 ||
        reserve != (reserved_out != NULL) || (!reserve && !arg_valid(val, val_len)) ||
        (reserve && table->pairs != NULL)) {
        return SAP_ERROR;
    }
    rc = rows_check_size(txn, table, key_len, val_len);
    if (rc != SAP_OK) {
        return rc;
    }
    return table->pairs != NULL
               ? put_pair(txn, dbi, table, key, key_len, val, val_len, flags)
               : put_unique(txn, dbi, table, key, key_len, val, val_len, flags, reserved_out);
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

int rows_put(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key, uint32_t key_len,
             const void *val, uint32_t val_len)
{
    return put_unique(txn, dbi, table, key, key_len, val, val_len, 0, NULL);
}

/* ---- Deleting ------------------------------------------------------------------------------- */

int rows_del_at(SapTxnCtx *txn, uint32_t dbi, Table *table, RowPlace *at, TreeChange *change)
{
    ChangeMark mark = change_mark(txn->env);
    LeafRow row = path_row(at->path);
    int rc = cursors_detach(txn, dbi, at->cursor);
    if (rc == SAP_OK) {
        rc = watch_note(txn, dbi, table, row.key, row.key_len);
    }
    if (rc == SAP_OK) {
        rc = effects_del(txn, dbi, row.key, row.key_len);
    }
    if (rc == SAP_OK) {
        rc = tree_delete(txn, dbi, table, at->path, change);
    }
    if (rc != SAP_OK) {
        change_rewind(txn->env, mark);
    }
    return rc;
}

/* Removes the row whose tree key is given. */
static int delete_exact(SapTxnCtx *txn, uint32_t dbi, Table *table, const uint8_t *key,
                        uint32_t key_len)
{
    Path path;
    int rc = tree_seek(txn->env, table->tree.root, table->order, key, key_len, &path);
    if (rc != SAP_OK) {
        return rc;
    }
    RowPlace at = {.path = &path, .exact = true};
    TreeChange change;
    return rows_del_at(txn, dbi, table, &at, &change);
}

int rows_del(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key, uint32_t key_len)
{
    return delete_exact(txn, dbi, table, key_bytes(key), key_len);
}

/* Notes every key between the bounds, for the watchers of a table whose rows go in one step. */
static int note_range(SapTxnCtx *txn, uint32_t dbi, const Table *table, const TreeBound *from,
                      const TreeBound *to)
{
    if (table->watches == 0) {
        return SAP_OK;
    }
    SapEnv *env = txn->env;
    Path path;
    int rc = from != NULL
                 ? tree_seek(env, table->tree.root, table->order, from->key, from->len, &path)
                 : tree_first(env, table->tree.root, &path);
    if (rc == SAP_NOTFOUND) {
        rc = tree_settle(env, &path);
    }
    while (rc == SAP_OK) {
        LeafRow row = path_row(&path);
        if (to != NULL && key_compare(table->order, row.key, row.key_len, to->key, to->len) >= 0) {
            return SAP_OK;
        }
        rc = watch_note(txn, dbi, table, row.key, row.key_len);
        if (rc == SAP_OK) {
            rc = tree_next(env, &path);
        }
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int delete_range(SapTxnCtx *txn, uint32_t dbi, Table *table, const Probe *lo,
                        const Probe *hi, uint64_t *deleted_out)
{
    TreeBound from = {.key = lo != NULL ? lo->bytes : NULL, .len = lo != NULL ? lo->len : 0};
    TreeBound to = {.key = hi != NULL ? hi->bytes : NULL, .len = hi != NULL ? hi->len : 0};
    const TreeBound *first = lo != NULL ? &from : NULL;
    const TreeBound *end = hi != NULL ? &to : NULL;
    ChangeMark mark = change_mark(txn->env);
    int rc = cursors_detach(txn, dbi, NULL);
    if (rc == SAP_OK) {
        rc = note_range(txn, dbi, table, first, end);
    }
    if (rc == SAP_OK) {
        rc = effects_del_range(txn, dbi, first, end);
    }
    if (rc == SAP_OK) {
        rc = tree_delete_range(txn, dbi, table, first, end, deleted_out);
    }
    if (rc != SAP_OK || *deleted_out == 0) {
        change_rewind(txn->env, mark);
    }
    return rc;
}

int sap_txn_del_range(SapTxnCtx *txn, uint32_t dbi, const void *lo, uint32_t lo_len, const void *hi,
                      uint32_t hi_len, uint64_t *deleted_out)
{
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!arg_valid(lo, lo_len) || !arg_valid(hi, hi_len)) {
        return SAP_ERROR;
    }
    Probe from;
    Probe to;
    rc = probe_make(&from, table, PAIR_BEFORE, lo, lo_len, NULL, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = probe_make(&to, table, PAIR_BEFORE, hi, hi_len, NULL, 0);
    if (rc == SAP_OK) {
        rc = probe_own(&from, table);
    }
    if (rc == SAP_OK) {
        rc = probe_own(&to, table);
    }
    if (rc == SAP_OK) {
        uint64_t deleted = 0;
        rc = delete_range(txn, dbi, table, lo != NULL ? &from : NULL, hi != NULL ? &to : NULL,
                          &deleted);
        if (rc == SAP_OK && deleted_out != NULL) {
            *deleted_out = deleted;
        }
    }
    probe_release(&to);
    probe_release(&from);
    return rc;
}

/* All values of the key. */
static int delete_pairs(SapTxnCtx *txn, uint32_t dbi, Table *table, const void *key,
                        uint32_t key_len)
{
    Probe from;
    Probe to;
    int rc = probe_make(&from, table, PAIR_BEFORE, key, key_len, NULL, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = probe_make(&to, table, PAIR_AFTER, key, key_len, NULL, 0);
    if (rc == SAP_OK) {
        uint64_t deleted = 0;
        rc = delete_range(txn, dbi, table, &from, &to, &deleted);
        if (rc == SAP_OK && deleted == 0) {
            rc = SAP_NOTFOUND;
        }
        probe_release(&to);
    }
    probe_release(&from);
    return rc;
}

int sap_txn_del_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len)
{
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!arg_valid(key, key_len)) {
        return SAP_ERROR;
    }
    return table->pairs != NULL ? delete_pairs(txn, dbi, table, key, key_len)
                                : delete_exact(txn, dbi, table, key_bytes(key), key_len);
}

int sap_txn_del(SapTxnCtx *txn, const void *key, uint32_t key_len)
{
    return sap_txn_del_dbi(txn, 0, key, key_len);
}

int sap_txn_del_dup_dbi(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                        const void *val, uint32_t val_len)
{
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc != SAP_OK) {
        return rc;
    }
    if (table->pairs == NULL || !arg_valid(key, key_len) || !arg_valid(val, val_len)) {
        return SAP_ERROR;
    }
    if (rows_check_size(txn, table, key_len, val_len) != SAP_OK) {
        return SAP_NOTFOUND;
    }
    Probe pair;
    rc = probe_make(&pair, table, PAIR_EXACT, key, key_len, val, val_len);
    if (rc == SAP_OK) {
        rc = delete_exact(txn, dbi, table, pair.bytes, pair.len);
        probe_release(&pair);
    }
    return rc;
}

/* ---- Reading and writing in one call -------------------------------------------------------- */

int sap_txn_put_if(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                   uint32_t val_len, const void *expected_val, uint32_t expected_len)
{
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc != SAP_OK) {
        return rc;
    }
    if (table->pairs != NULL || !arg_valid(key, key_len) || !arg_valid(val, val_len) ||
        !arg_valid(expected_val, expected_len)) {
        return SAP_ERROR;
    }
    rc = rows_check_size(txn, table, key_len, val_len);
    const void *now = NULL;
    uint32_t now_len = 0;
    if (rc == SAP_OK) {
        rc = rows_get(txn, table, table->tree, key, key_len, &now, &now_len);
    }
    if (rc == SAP_OK && bytes_compare(now, now_len, expected_val, expected_len) != 0) {
        rc = SAP_CONFLICT;
    }
    return rc == SAP_OK ? rows_put(txn, dbi, table, key, key_len, val, val_len) : rc;
}

enum { MERGE_FIRST_ROOM = 1024 };

int sap_txn_merge(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len,
                  const void *operand, uint32_t op_len, sap_merge_fn merge, void *ctx)
{
    Table *table = NULL;
    int rc = rows_open_write(txn, dbi, &table);
    if (rc != SAP_OK) {
        return rc;
    }
    if (table->pairs != NULL || merge == NULL || !arg_valid(key, key_len) ||
        !arg_valid(operand, op_len)) {
        return SAP_ERROR;
    }
    rc = rows_check_size(txn, table, key_len, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    const void *old = key_bytes(NULL);
    uint32_t old_len = 0;
    rc = rows_get(txn, table, table->tree, key, key_len, &old, &old_len);
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    uint32_t room = MERGE_FIRST_ROOM;
    for (int attempt = 0; attempt < 2; attempt++) {
        void *made = mem_alloc(MEM_TXN, room);
        if (made == NULL) {
            return SAP_NOMEM;
        }
        uint32_t made_len = room;
        merge(old, old_len, operand, op_len, made, &made_len, ctx);
        if (made_len <= room) {
            rc = rows_put(txn, dbi, table, key, key_len, made, made_len);
            mem_free(MEM_TXN, made, room);
            return rc;
        }
        mem_free(MEM_TXN, made, room);
        if (made_len > SAP_MAX_VAL_LEN) {
            return SAP_FULL;
        }
        room = made_len;
    }
    return SAP_FULL;
}
