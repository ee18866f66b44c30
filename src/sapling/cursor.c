/* cursor.c - a place in a table that survives changes to it.
 *
 * CURSOR_ON has a valid path to a row. Before the table changes through anything else, the cursor
 * copies the row's key and becomes CURSOR_SAVED: the path is gone, and the next use seeks the key.
 * If the row is no longer there, the place is the gap where it was.
 *
 * In a read transaction nothing changes, and a cursor stays CURSOR_ON. */
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "sapling/tree.h"

typedef enum CursorState {
    CURSOR_UNPLACED,
    CURSOR_ON,
    CURSOR_SAVED,
    CURSOR_BEFORE, /* the first row */
    CURSOR_AFTER   /* the last row */
} CursorState;

struct SapCursor {
    SapEnv *env;
    SapTxnCtx *txn; /* NULL once it has ended */
    SapCursor *next;
    SapCursor *prev;
    uint32_t dbi;
    CursorState state;
    uint8_t *key; /* CURSOR_SAVED */
    uint32_t key_len;
    uint32_t key_capacity;
    Path path; /* CURSOR_ON */
};

/* Whether the cursor sees what the writer changes, and so counts in Table.cursors_on while ON. */
static bool follows_writer(const SapCursor *cur)
{
    return cur->txn != NULL && cur->txn->kind != TXN_READER;
}

static void set_state(SapCursor *cur, CursorState state)
{
    if ((cur->state == CURSOR_ON) != (state == CURSOR_ON) && follows_writer(cur)) {
        Table *table = &cur->env->tables[cur->dbi];
        table->cursors_on = state == CURSOR_ON ? table->cursors_on + 1 : table->cursors_on - 1;
    }
    cur->state = state;
}

/* ---- Life ----------------------------------------------------------------------------------- */

static void link_to(SapCursor *cur, SapTxnCtx *txn)
{
    cur->txn = txn;
    cur->env = txn->env;
    cur->state = CURSOR_UNPLACED;
    cur->prev = NULL;
    cur->next = txn->cursors;
    if (txn->cursors != NULL) {
        txn->cursors->prev = cur;
    }
    txn->cursors = cur;
}

static void unlink_from(SapCursor *cur)
{
    if (cur->txn == NULL) {
        return;
    }
    set_state(cur, CURSOR_UNPLACED);
    if (cur->next != NULL) {
        cur->next->prev = cur->prev;
    }
    if (cur->prev != NULL) {
        cur->prev->next = cur->next;
    } else {
        cur->txn->cursors = cur->next;
    }
    cur->txn = NULL;
}

SapCursor *sap_cursor_open_dbi(SapTxnCtx *txn, uint32_t dbi)
{
    if (txn_check(txn) != SAP_OK || table_get(txn->env, dbi) == NULL) {
        return NULL;
    }
    SapCursor *cur = (SapCursor *)mem_alloc(MEM_CURSOR, sizeof *cur);
    if (cur == NULL) {
        return NULL;
    }
    cur->dbi = dbi;
    cur->key = NULL;
    cur->key_capacity = 0;
    link_to(cur, txn);
    return cur;
}

SapCursor *sap_cursor_open(SapTxnCtx *txn)
{
    return sap_cursor_open_dbi(txn, 0);
}

void sap_cursor_close(SapCursor *cur)
{
    if (cur == NULL) {
        return;
    }
    unlink_from(cur);
    mem_free(MEM_CURSOR, cur->key, cur->key_capacity);
    mem_free(MEM_CURSOR, cur, sizeof *cur);
}

int sap_cursor_renew(SapCursor *cur, SapTxnCtx *txn)
{
    if (cur == NULL) {
        return SAP_ERROR;
    }
    int rc = txn_check(txn);
    if (rc != SAP_OK) {
        return rc;
    }
    if (txn->env != cur->env) {
        return SAP_ERROR;
    }
    unlink_from(cur);
    link_to(cur, txn);
    return SAP_OK;
}

void cursors_end(SapTxnCtx *txn)
{
    while (txn->cursors != NULL) {
        unlink_from(txn->cursors);
    }
}

/* ---- Places --------------------------------------------------------------------------------- */

static int check(const SapCursor *cur)
{
    return sap_unlikely(cur == NULL) ? SAP_ERROR : txn_check(cur->txn);
}

static int root_of(SapCursor *cur, uint32_t *root_out)
{
    TreeState tree;
    int rc = table_state(cur->txn, cur->dbi, &tree);
    if (rc == SAP_OK) {
        *root_out = tree.root;
    }
    return rc;
}

static KeyOrder order_of(const SapCursor *cur)
{
    return cur->env->tables[cur->dbi].order;
}

/* Copies the key under the cursor; the path stays. */
static int remember_key(SapCursor *cur)
{
    LeafRow row = path_row(&cur->path);
    if (row.key_len > cur->key_capacity) {
        uint32_t capacity = row.key_len < 32 ? 32 : row.key_len;
        uint8_t *key = (uint8_t *)mem_resize(MEM_CURSOR, cur->key, cur->key_capacity, capacity);
        if (key == NULL) {
            return SAP_NOMEM;
        }
        cur->key = key;
        cur->key_capacity = capacity;
    }
    if (row.key_len > 0) {
        memcpy(cur->key, row.key, row.key_len);
    }
    cur->key_len = row.key_len;
    return SAP_OK;
}

int cursors_detach(SapTxnCtx *txn, uint32_t dbi, const SapCursor *except)
{
    uint32_t own = except != NULL && except->state == CURSOR_ON ? 1 : 0;
    if (txn->env->tables[dbi].cursors_on == own) {
        return SAP_OK;
    }
    for (SapTxnCtx *level = txn; level != NULL; level = level->parent) {
        for (SapCursor *cur = level->cursors; cur != NULL; cur = cur->next) {
            if (cur->dbi != dbi || cur == except || cur->state != CURSOR_ON) {
                continue;
            }
            int rc = remember_key(cur);
            if (rc != SAP_OK) {
                return rc;
            }
            set_state(cur, CURSOR_SAVED);
        }
    }
    return SAP_OK;
}

/* Seeks the remembered key: the path is then at its row (true) or at the gap where it was. */
static bool seek_remembered(SapCursor *cur, uint32_t root)
{
    return tree_seek(cur->env, root, order_of(cur), key_bytes(cur->key), cur->key_len, &cur->path);
}

static int settle_saved(SapCursor *cur)
{
    if (cur->state != CURSOR_SAVED) {
        return SAP_NOTFOUND;
    }
    uint32_t root = 0;
    int rc = root_of(cur, &root);
    if (rc != SAP_OK) {
        return rc;
    }
    if (!seek_remembered(cur, root)) {
        return SAP_NOTFOUND;
    }
    set_state(cur, CURSOR_ON);
    return SAP_OK;
}

/* Makes the cursor CURSOR_ON if its row is there. SAP_NOTFOUND: it is on none. */
static inline int settle(SapCursor *cur)
{
    int rc = check(cur);
    return rc != SAP_OK || sap_likely(cur->state == CURSOR_ON) ? rc : settle_saved(cur);
}

static int land(SapCursor *cur, bool on_row, CursorState otherwise)
{
    set_state(cur, on_row ? CURSOR_ON : otherwise);
    return on_row ? SAP_OK : SAP_NOTFOUND;
}

/* ---- Moves ---------------------------------------------------------------------------------- */

int sap_cursor_first(SapCursor *cur)
{
    int rc = check(cur);
    uint32_t root = 0;
    if (rc == SAP_OK) {
        rc = root_of(cur, &root);
    }
    return rc != SAP_OK ? rc : land(cur, tree_first(cur->env, root, &cur->path), CURSOR_AFTER);
}

int sap_cursor_last(SapCursor *cur)
{
    int rc = check(cur);
    uint32_t root = 0;
    if (rc == SAP_OK) {
        rc = root_of(cur, &root);
    }
    return rc != SAP_OK ? rc : land(cur, tree_last(cur->env, root, &cur->path), CURSOR_BEFORE);
}

int sap_cursor_seek(SapCursor *cur, const void *key, uint32_t key_len)
{
    int rc = check(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    if (key == NULL && key_len > 0) {
        return SAP_ERROR;
    }
    uint32_t root = 0;
    rc = root_of(cur, &root);
    if (rc != SAP_OK) {
        return rc;
    }
    (void)tree_seek(cur->env, root, order_of(cur), key_bytes(key), key_len, &cur->path);
    return land(cur, tree_settle(cur->env, &cur->path), CURSOR_AFTER);
}

int sap_cursor_next(SapCursor *cur)
{
    int rc = check(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    if (sap_likely(cur->state == CURSOR_ON)) {
        return tree_next_in_leaf(&cur->path)
                   ? SAP_OK
                   : land(cur, tree_next(cur->env, &cur->path), CURSOR_AFTER);
    }
    if (cur->state == CURSOR_AFTER) {
        return SAP_NOTFOUND;
    }
    if (cur->state != CURSOR_SAVED) {
        return sap_cursor_first(cur);
    }
    uint32_t root = 0;
    rc = root_of(cur, &root);
    if (rc != SAP_OK) {
        return rc;
    }
    bool there = seek_remembered(cur, root);
    return land(cur, there ? tree_next(cur->env, &cur->path) : tree_settle(cur->env, &cur->path),
                CURSOR_AFTER);
}

int sap_cursor_prev(SapCursor *cur)
{
    int rc = check(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    if (cur->state == CURSOR_BEFORE) {
        return SAP_NOTFOUND;
    }
    if (cur->state == CURSOR_UNPLACED || cur->state == CURSOR_AFTER) {
        return sap_cursor_last(cur);
    }
    if (cur->state == CURSOR_SAVED) {
        uint32_t root = 0;
        rc = root_of(cur, &root);
        if (rc != SAP_OK) {
            return rc;
        }
        (void)seek_remembered(cur, root); /* at the row or behind the gap: one back either way */
    }
    return land(cur, tree_prev(cur->env, &cur->path), CURSOR_BEFORE);
}

int sap_cursor_seek_nth(SapCursor *cur, uint64_t n)
{
    int rc = check(cur);
    uint32_t root = 0;
    if (rc == SAP_OK) {
        rc = root_of(cur, &root);
    }
    return rc != SAP_OK ? rc
                        : land(cur, tree_seek_nth(cur->env, root, n, &cur->path), CURSOR_AFTER);
}

int sap_cursor_rank(SapCursor *cur, uint64_t *rank_out)
{
    if (rank_out == NULL) {
        return SAP_ERROR;
    }
    int rc = settle(cur);
    if (rc == SAP_OK) {
        *rank_out = tree_rank(&cur->path);
    }
    return rc;
}

/* ---- The row -------------------------------------------------------------------------------- */

int sap_cursor_get(SapCursor *cur, const void **key_out, uint32_t *key_len_out,
                   const void **val_out, uint32_t *val_len_out)
{
    int rc = settle(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    LeafRow row = path_row(&cur->path);
    if (key_out != NULL) {
        *key_out = row.key;
    }
    if (key_len_out != NULL) {
        *key_len_out = row.key_len;
    }
    const void *val = NULL;
    uint32_t val_len = 0;
    tree_value(cur->env, &row, &val, &val_len);
    if (val_out != NULL) {
        *val_out = val;
    }
    if (val_len_out != NULL) {
        *val_len_out = val_len;
    }
    return SAP_OK;
}

int sap_cursor_get_key(SapCursor *cur, const void **key_out, uint32_t *key_len_out)
{
    int rc = settle(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    LeafRow row = path_row(&cur->path);
    if (key_out != NULL) {
        *key_out = row.key;
    }
    if (key_len_out != NULL) {
        *key_len_out = row.key_len;
    }
    return SAP_OK;
}

/* ---- Changes -------------------------------------------------------------------------------- */

/* What a change through the cursor needs first: a row under it, its key remembered, the others out
 * of the way. */
static int begin_change(SapCursor *cur)
{
    int rc = check(cur);
    if (rc == SAP_OK) {
        rc = txn_check_write(cur->txn);
    }
    if (rc == SAP_OK) {
        rc = settle(cur);
    }
    if (rc == SAP_OK) {
        rc = remember_key(cur);
    }
    return rc == SAP_OK ? cursors_detach(cur->txn, cur->dbi, cur) : rc;
}

int sap_cursor_put(SapCursor *cur, const void *val, uint32_t val_len, unsigned flags)
{
    if (flags != 0 || (val == NULL && val_len > 0)) {
        return SAP_ERROR;
    }
    if (val_len > SAP_MAX_VAL_LEN) {
        return SAP_FULL;
    }
    int rc = begin_change(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    LeafRow row;
    uint8_t ref[CELL_REF];
    rc = tree_make_row(cur->txn, cur->dbi, key_bytes(cur->key), cur->key_len, val, val_len, &row,
                       ref);
    if (rc != SAP_OK) {
        return rc;
    }
    Table *table = &cur->env->tables[cur->dbi];
    TreeChange change;
    rc = tree_replace(cur->txn, cur->dbi, table, &cur->path, &row, &change);
    if (rc != SAP_OK) {
        tree_drop_value(cur->txn, &row);
    } else if (change.moved) {
        (void)seek_remembered(cur, table->tree.root);
    }
    return rc;
}

int sap_cursor_del(SapCursor *cur)
{
    int rc = begin_change(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    Table *table = &cur->env->tables[cur->dbi];
    TreeChange change;
    rc = tree_delete(cur->txn, cur->dbi, table, &cur->path, &change);
    if (rc != SAP_OK) {
        return rc;
    }
    if (change.moved) {
        (void)seek_remembered(cur, table->tree.root);
    }
    (void)land(cur, tree_settle(cur->env, &cur->path), CURSOR_AFTER);
    return SAP_OK;
}
