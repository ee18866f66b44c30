/* ttl.c - rows that expire.
 *
 * The table with the expiry times has two rows for each row of the data table that expires:
 *   0x00 key                 ->  u64 expiry, big-endian
 *   0x01 u64 expiry, key     ->  empty: the index, oldest first
 * A row of the index whose expiry differs from the first one's is stale and means nothing. Every
 * change of several rows happens in a savepoint: all of it or nothing. */
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/rows.h"

enum {
    TTL_LOOKUP = 0x00,
    TTL_INDEX = 0x01,
    TTL_EXPIRY = 8,
    TTL_LOOKUP_KEY = 1, /* bytes before the key */
    TTL_INDEX_KEY = 1 + TTL_EXPIRY,
};

/* The two tables of a call. */
typedef struct TtlTables {
    uint32_t data_dbi;
    uint32_t ttl_dbi;
    Table *data;
    Table *ttl;
} TtlTables;

/* A key of the TTL table. */
typedef struct TtlKey {
    uint32_t len;
    uint32_t allocated; /* 0: in place */
    uint8_t *bytes;
    uint8_t in_place[PAIR_INLINE];
} TtlKey;

static int ttl_key_make(TtlKey *out, uint8_t kind, uint64_t expiry, const void *key,
                        uint32_t key_len)
{
    uint32_t before = kind == TTL_INDEX ? TTL_INDEX_KEY : TTL_LOOKUP_KEY;
    out->len = before + key_len;
    out->allocated = 0;
    out->bytes = out->in_place;
    if (out->len > PAIR_INLINE) {
        out->bytes = (uint8_t *)mem_alloc(MEM_TXN, out->len);
        if (out->bytes == NULL) {
            return SAP_NOMEM;
        }
        out->allocated = out->len;
    }
    out->bytes[0] = kind;
    if (kind == TTL_INDEX) {
        store_u64be(out->bytes + 1, expiry);
    }
    if (key_len > 0) {
        memcpy(out->bytes + before, key, key_len);
    }
    return SAP_OK;
}

static void ttl_key_release(TtlKey *key)
{
    if (key->allocated > 0) {
        mem_free(MEM_TXN, key->bytes, key->allocated);
    }
}

/* ---- Checks --------------------------------------------------------------------------------- */

static int open_tables(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi, TtlTables *out)
{
    Table *data = table_get(txn->env, data_dbi);
    Table *ttl = table_get(txn->env, ttl_dbi);
    if (data == NULL || ttl == NULL || data == ttl || data->pairs != NULL || ttl->pairs != NULL ||
        ttl->key_order.cmp != NULL || (data->flags & SAP_DBI_TTL_META) != 0) {
        return SAP_ERROR;
    }
    *out = (TtlTables){.data_dbi = data_dbi, .ttl_dbi = ttl_dbi, .data = data, .ttl = ttl};
    return SAP_OK;
}

/* ---- Single rows ---------------------------------------------------------------------------- */

/* A comparator of the data table may call different keys equal; the expiry goes by the key that the
 * row has. Points *key at it if there is a row. */
static int use_row_key(SapTxnCtx *txn, const TtlTables *tables, const void **key, uint32_t *key_len)
{
    TreeState tree;
    LeafRow row;
    int rc = table_state(txn, tables->data_dbi, &tree);
    if (rc == SAP_OK) {
        rc = tree_get(txn->env, tree.root, tables->data->order, key_bytes(*key), *key_len, &row);
    }
    if (rc == SAP_OK) {
        *key = row.key;
        *key_len = row.key_len;
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* The expiry of a key as the transaction sees it. SAP_NOTFOUND: it has none. */
static int get_expiry(SapTxnCtx *txn, const TtlTables *tables, const void *key, uint32_t key_len,
                      uint64_t *expiry_out)
{
    if (key_len > node_max_key(txn->env->page_size)) {
        return SAP_NOTFOUND; /* no row has one as long */
    }
    TreeState tree;
    int rc = table_state(txn, tables->ttl_dbi, &tree);
    TtlKey lookup;
    if (rc == SAP_OK) {
        rc = ttl_key_make(&lookup, TTL_LOOKUP, 0, key, key_len);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    const void *val = NULL;
    uint32_t val_len = 0;
    rc = rows_get(txn, tables->ttl, tree, lookup.bytes, lookup.len, &val, &val_len);
    ttl_key_release(&lookup);
    if (rc == SAP_OK && val_len != TTL_EXPIRY) {
        rc = SAP_CORRUPT;
    }
    if (rc == SAP_OK) {
        *expiry_out = load_u64be(val);
    }
    return rc;
}

/* Removes a row of the TTL table if it is there. */
static int drop_ttl_row(SapTxnCtx *txn, const TtlTables *tables, uint8_t kind, uint64_t expiry,
                        const void *key, uint32_t key_len)
{
    TtlKey row;
    int rc = ttl_key_make(&row, kind, expiry, key, key_len);
    if (rc == SAP_OK) {
        rc = rows_del(txn, tables->ttl_dbi, tables->ttl, row.bytes, row.len);
        ttl_key_release(&row);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int put_ttl_row(SapTxnCtx *txn, const TtlTables *tables, uint8_t kind, uint64_t expiry,
                       const void *key, uint32_t key_len)
{
    TtlKey row;
    uint8_t val[TTL_EXPIRY];
    store_u64be(val, expiry);
    int rc = ttl_key_make(&row, kind, expiry, key, key_len);
    if (rc == SAP_OK) {
        rc = rows_put(txn, tables->ttl_dbi, tables->ttl, row.bytes, row.len, val,
                      kind == TTL_LOOKUP ? TTL_EXPIRY : 0);
        ttl_key_release(&row);
    }
    return rc;
}

static int put_all(SapTxnCtx *txn, const TtlTables *tables, const void *key, uint32_t key_len,
                   const void *val, uint32_t val_len, uint64_t expiry)
{
    uint64_t old = 0;
    int rc = use_row_key(txn, tables, &key, &key_len);
    if (rc == SAP_OK) {
        rc = get_expiry(txn, tables, key, key_len, &old);
    }
    if (rc == SAP_OK && old != expiry) {
        rc = drop_ttl_row(txn, tables, TTL_INDEX, old, key, key_len);
    } else if (rc == SAP_NOTFOUND) {
        rc = SAP_OK;
    }
    if (rc == SAP_OK) {
        rc = put_ttl_row(txn, tables, TTL_INDEX, expiry, key, key_len);
    }
    if (rc == SAP_OK) {
        rc = put_ttl_row(txn, tables, TTL_LOOKUP, expiry, key, key_len);
    }
    return rc == SAP_OK ? rows_put(txn, tables->data_dbi, tables->data, key, key_len, val, val_len)
                        : rc;
}

/* The row and what is known of its expiry. The key may lie in the row itself, which goes last. */
static int drop_all(SapTxnCtx *txn, const TtlTables *tables, const void *key, uint32_t key_len,
                    uint64_t expiry)
{
    int rc = drop_ttl_row(txn, tables, TTL_INDEX, expiry, key, key_len);
    if (rc == SAP_OK) {
        rc = drop_ttl_row(txn, tables, TTL_LOOKUP, 0, key, key_len);
    }
    if (rc == SAP_OK) {
        rc = rows_del(txn, tables->data_dbi, tables->data, key, key_len);
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int drop_in_savepoint(SapTxnCtx *txn, const TtlTables *tables, const void *key,
                             uint32_t key_len, uint64_t expiry)
{
    SapTxnCtx *level = NULL;
    int rc = savepoint_begin(txn, &level);
    if (rc == SAP_OK) {
        rc = drop_all(level, tables, key, key_len, expiry);
        savepoint_end(level, rc == SAP_OK);
    }
    return rc;
}

int sap_txn_put_ttl_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi, const void *key,
                        uint32_t key_len, const void *val, uint32_t val_len, uint64_t expires_at_ms)
{
    int rc = txn_check_write(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    TtlTables tables;
    rc = open_tables(txn, data_dbi, ttl_dbi, &tables);
    if (rc != SAP_OK || (key == NULL && key_len > 0) || (val == NULL && val_len > 0)) {
        return SAP_ERROR;
    }
    if (key_len > SAP_MAX_KEY_LEN - TTL_INDEX_KEY ||
        rows_check_size(txn, tables.ttl, key_len + TTL_INDEX_KEY, TTL_EXPIRY) != SAP_OK ||
        rows_check_size(txn, tables.data, key_len, val_len) != SAP_OK) {
        return SAP_FULL;
    }
    SapTxnCtx *level = NULL;
    rc = savepoint_begin(txn, &level);
    if (rc == SAP_OK) {
        rc = put_all(level, &tables, key, key_len, val, val_len, expires_at_ms);
        savepoint_end(level, rc == SAP_OK);
    }
    return rc;
}

int sap_txn_get_ttl_flags_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi, const void *key,
                              uint32_t key_len, uint64_t now_ms, const void **val_out,
                              uint32_t *val_len_out, unsigned flags)
{
    int rc = txn_check(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    TtlTables tables;
    rc = open_tables(txn, data_dbi, ttl_dbi, &tables);
    if (rc != SAP_OK || (key == NULL && key_len > 0) || (flags & ~SAP_TTL_LAZY_DELETE) != 0) {
        return SAP_ERROR;
    }
    uint64_t expiry = 0;
    rc = use_row_key(txn, &tables, &key, &key_len);
    if (rc == SAP_OK) {
        rc = get_expiry(txn, &tables, key, key_len, &expiry);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (expiry <= now_ms) {
        if ((flags & SAP_TTL_LAZY_DELETE) != 0 && txn->kind == TXN_WRITER) {
            rc = drop_in_savepoint(txn, &tables, key, key_len, expiry);
        }
        return rc == SAP_OK ? SAP_NOTFOUND : rc;
    }
    return sap_txn_get_dbi(txn, data_dbi, key, key_len, val_out, val_len_out);
}

int sap_txn_get_ttl_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi, const void *key,
                        uint32_t key_len, uint64_t now_ms, const void **val_out,
                        uint32_t *val_len_out)
{
    return sap_txn_get_ttl_flags_dbi(txn, data_dbi, ttl_dbi, key, key_len, now_ms, val_out,
                                     val_len_out, 0);
}

int sap_cursor_get_ttl_dbi(SapCursor *cur, uint32_t ttl_dbi, uint64_t now_ms, const void **val_out,
                           uint32_t *val_len_out, unsigned flags)
{
    if ((flags & ~SAP_TTL_LAZY_DELETE) != 0) {
        return SAP_ERROR;
    }
    CursorPosition at;
    int rc = cursor_position(cur, &at);
    if (rc != SAP_OK) {
        return rc;
    }
    TtlTables tables;
    rc = open_tables(at.txn, at.dbi, ttl_dbi, &tables);
    uint64_t expiry = 0;
    if (rc == SAP_OK) {
        rc = get_expiry(at.txn, &tables, at.key, at.key_len, &expiry);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (expiry > now_ms) {
        return sap_cursor_get(cur, NULL, NULL, val_out, val_len_out);
    }
    if ((flags & SAP_TTL_LAZY_DELETE) != 0 && at.txn->kind == TXN_WRITER) {
        rc = drop_in_savepoint(at.txn, &tables, at.key, at.key_len, expiry);
        if (rc != SAP_OK) {
            return rc;
        }
        cursor_after_removal(cur);
    }
    return SAP_NOTFOUND;
}

/* ---- Sweeping ------------------------------------------------------------------------------- */

typedef struct Sweep {
    uint64_t now_ms;
    uint64_t most;
    uint64_t deleted;
    uint64_t last_expiry;
    bool done; /* no expired row is left */
} Sweep;

/* Finds the oldest expired row and copies its key to `key`, which has room; stale rows of the index
 * on the way are dropped. Sets sweep->done if there is none. */
static int sweep_find(SapTxnCtx *txn, const TtlTables *tables, Sweep *sweep, uint8_t *key,
                      uint32_t *key_len_out, uint64_t *expiry_out)
{
    static const uint8_t index_start[1] = {TTL_INDEX};
    for (;;) {
        Path path;
        int rc =
            tree_seek(txn->env, tables->ttl->tree.root, tables->ttl->order, index_start, 1, &path);
        if (rc == SAP_NOTFOUND) {
            rc = tree_settle(txn->env, &path);
        }
        if (rc != SAP_OK) {
            sweep->done = rc == SAP_NOTFOUND;
            return sweep->done ? SAP_OK : rc;
        }
        LeafRow row = path_row(&path);
        if (row.key_len < TTL_INDEX_KEY || row.key[0] != TTL_INDEX) {
            return SAP_CORRUPT;
        }
        uint64_t expiry = load_u64be(row.key + 1);
        if (expiry > sweep->now_ms) {
            sweep->done = true;
            return SAP_OK;
        }
        uint32_t key_len = row.key_len - TTL_INDEX_KEY;
        memcpy(key, row.key + TTL_INDEX_KEY, key_len);
        uint64_t current = 0;
        uint64_t rows = tables->ttl->tree.entries;
        rc = get_expiry(txn, tables, key, key_len, &current);
        if (rc == SAP_OK && current == expiry) {
            LeafRow data;
            rc = tree_get(txn->env, tables->data->tree.root, tables->data->order, key, key_len,
                          &data);
            if (rc == SAP_OK) {
                *key_len_out = key_len;
                *expiry_out = expiry;
                return SAP_OK;
            }
            if (rc == SAP_NOTFOUND) { /* the row went some other way */
                rc = drop_all(txn, tables, key, key_len, expiry);
            }
        } else if (rc == SAP_OK || rc == SAP_NOTFOUND) {
            rc = drop_ttl_row(txn, tables, TTL_INDEX, expiry, key, key_len);
        }
        if (rc == SAP_OK && tables->ttl->tree.entries == rows) {
            rc = SAP_CORRUPT; /* a row that only a walk finds: it would be found for ever */
        }
        if (rc != SAP_OK) {
            return rc;
        }
    }
}

static int sweep_rows(SapTxnCtx *txn, const TtlTables *tables, Sweep *sweep)
{
    uint32_t room = txn->env->page_size;
    uint8_t *key = (uint8_t *)mem_alloc(MEM_TXN, room);
    if (key == NULL) {
        return SAP_NOMEM;
    }
    int rc = SAP_OK;
    for (;;) {
        uint32_t key_len = 0;
        uint64_t expiry = 0;
        rc = sweep_find(txn, tables, sweep, key, &key_len, &expiry);
        if (rc != SAP_OK || sweep->done || sweep->deleted == sweep->most) {
            break;
        }
        rc = drop_all(txn, tables, key, key_len, expiry);
        if (rc != SAP_OK) {
            break;
        }
        sweep->deleted++;
        sweep->last_expiry = expiry;
    }
    mem_free(MEM_TXN, key, room);
    return rc;
}

static int sweep_tables(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi, Sweep *sweep)
{
    int rc = txn_check_write(txn);
    TtlTables tables;
    if (rc == SAP_OK) {
        rc = open_tables(txn, data_dbi, ttl_dbi, &tables);
    }
    SapTxnCtx *level = NULL;
    if (rc == SAP_OK) {
        rc = savepoint_begin(txn, &level);
    }
    if (rc == SAP_OK) {
        rc = sweep_rows(level, &tables, sweep);
        savepoint_end(level, rc == SAP_OK);
    }
    return rc;
}

int sap_txn_sweep_ttl_dbi_limit(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                uint64_t now_ms, uint64_t max_to_delete, uint64_t *deleted_out)
{
    Sweep sweep = {.now_ms = now_ms, .most = max_to_delete};
    int rc = sweep_tables(txn, data_dbi, ttl_dbi, &sweep);
    if (rc == SAP_OK && deleted_out != NULL) {
        *deleted_out = sweep.deleted;
    }
    return rc;
}

int sap_txn_sweep_ttl_dbi(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi, uint64_t now_ms,
                          uint64_t *deleted_out)
{
    return sap_txn_sweep_ttl_dbi_limit(txn, data_dbi, ttl_dbi, now_ms, UINT64_MAX, deleted_out);
}

void sap_sweep_checkpoint_clear(SapSweepCheckpoint *checkpoint)
{
    if (checkpoint != NULL) {
        *checkpoint = (SapSweepCheckpoint){0};
    }
}

/* What was swept is gone, so that the oldest row left is where the sweep goes on; a row that came
 * since with an older expiry is found the same way. */
int sap_txn_sweep_ttl_dbi_checkpoint(SapTxnCtx *txn, uint32_t data_dbi, uint32_t ttl_dbi,
                                     uint64_t now_ms, uint64_t max_to_delete,
                                     SapSweepCheckpoint *checkpoint, uint64_t *deleted_out)
{
    if (checkpoint == NULL) {
        return SAP_ERROR;
    }
    Sweep sweep = {.now_ms = now_ms, .most = max_to_delete};
    int rc = sweep_tables(txn, data_dbi, ttl_dbi, &sweep);
    if (rc != SAP_OK) {
        return rc;
    }
    checkpoint->deleted += sweep.deleted;
    checkpoint->last_expiry = sweep.deleted > 0 ? sweep.last_expiry : checkpoint->last_expiry;
    checkpoint->done = sweep.done ? 1 : 0;
    if (deleted_out != NULL) {
        *deleted_out = sweep.deleted;
    }
    return SAP_OK;
}
