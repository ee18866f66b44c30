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
#include "sapling/rows.h"

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

static Table *table_of(const SapCursor *cur)
{
    return &cur->env->tables[cur->dbi];
}

static KeyOrder order_of(const SapCursor *cur)
{
    return table_of(cur)->order;
}

/* The row under the cursor as the user knows it; a value that is elsewhere is left out. */
static inline PairView user_row(const SapCursor *cur, const LeafRow *row)
{
    if (sap_unlikely(table_of(cur)->pairs != NULL)) {
        return pair_view(row->key, row->key_len);
    }
    return (PairView){
        .key = row->key, .key_len = row->key_len, .val = row->val, .val_len = row->stored};
}

static inline PairView user_key(const SapCursor *cur)
{
    LeafRow row = path_row(&cur->path);
    return user_row(cur, &row);
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

/* Seeks the remembered key: the path is then at its row (SAP_OK) or at the gap where it was
 * (SAP_NOTFOUND). The cursor is not CURSOR_ON, or its row has just changed. */
static int seek_remembered(SapCursor *cur, uint32_t root)
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
    rc = seek_remembered(cur, root);
    if (rc == SAP_OK) {
        set_state(cur, CURSOR_ON);
    }
    return rc;
}

/* Makes the cursor CURSOR_ON if its row is there. SAP_NOTFOUND: it is on none. */
static inline int settle(SapCursor *cur)
{
    int rc = check(cur);
    return rc != SAP_OK || sap_likely(cur->state == CURSOR_ON) ? rc : settle_saved(cur);
}

/* Ends a move by cur->path that answered `rc`; after an error the cursor is where it was. */
static int land(SapCursor *cur, int rc, CursorState otherwise)
{
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        set_state(cur, rc == SAP_OK ? CURSOR_ON : otherwise);
    }
    return rc;
}

/* The same by another path, which becomes the cursor's. */
static int land_by(SapCursor *cur, int rc, const Path *path, CursorState otherwise)
{
    if (rc == SAP_OK) {
        path_copy(&cur->path, path);
    }
    return land(cur, rc, otherwise);
}

/* ---- Moves ---------------------------------------------------------------------------------- */

int sap_cursor_first(SapCursor *cur)
{
    int rc = check(cur);
    uint32_t root = 0;
    if (rc == SAP_OK) {
        rc = root_of(cur, &root);
    }
    Path path;
    return rc != SAP_OK ? rc : land_by(cur, tree_first(cur->env, root, &path), &path, CURSOR_AFTER);
}

int sap_cursor_last(SapCursor *cur)
{
    int rc = check(cur);
    uint32_t root = 0;
    if (rc == SAP_OK) {
        rc = root_of(cur, &root);
    }
    Path path;
    return rc != SAP_OK ? rc : land_by(cur, tree_last(cur->env, root, &path), &path, CURSOR_BEFORE);
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
    Probe probe;
    rc = probe_make(&probe, table_of(cur), PAIR_BEFORE, key, key_len, NULL, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    Path path;
    rc = tree_seek(cur->env, root, order_of(cur), probe.bytes, probe.len, &path);
    probe_release(&probe);
    if (rc == SAP_NOTFOUND) {
        rc = tree_settle(cur->env, &path);
    }
    return land_by(cur, rc, &path, CURSOR_AFTER);
}

int sap_cursor_in_prefix(SapCursor *cur, const void *prefix, uint32_t len)
{
    if ((prefix == NULL && len > 0) || settle(cur) != SAP_OK) {
        return 0;
    }
    PairView row = user_key(cur);
    return row.key_len >= len && (len == 0 || memcmp(row.key, prefix, len) == 0) ? 1 : 0;
}

int sap_cursor_seek_prefix(SapCursor *cur, const void *prefix, uint32_t len)
{
    int rc = check(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    if (table_of(cur)->key_order.cmp != NULL) {
        return SAP_ERROR;
    }
    rc = sap_cursor_seek(cur, prefix, len);
    if (rc == SAP_OK && sap_cursor_in_prefix(cur, prefix, len) == 0) {
        rc = land(cur, SAP_NOTFOUND, CURSOR_AFTER);
    }
    return rc;
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
    rc = seek_remembered(cur, root);
    if (rc == SAP_OK) {
        rc = tree_next(cur->env, &cur->path);
    } else if (rc == SAP_NOTFOUND) {
        rc = tree_settle(cur->env, &cur->path);
    }
    return land(cur, rc, CURSOR_AFTER);
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
        if (rc == SAP_OK) {
            rc = seek_remembered(cur, root);
        }
        if (rc != SAP_OK && rc != SAP_NOTFOUND) { /* at the row or behind the gap: one back */
            return rc;
        }
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
    Path path;
    return rc != SAP_OK
               ? rc
               : land_by(cur, tree_seek_nth(cur->env, root, n, &path), &path, CURSOR_AFTER);
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
    LeafRow stored = path_row(&cur->path);
    PairView row = user_row(cur, &stored);
    const void *val = row.val;
    if (sap_unlikely(stored.val_code == CELL_VAL_ELSEWHERE)) {
        rc = tree_value(cur->env, &stored, &val, &row.val_len);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    if (key_out != NULL) {
        *key_out = row.key;
    }
    if (key_len_out != NULL) {
        *key_len_out = row.key_len;
    }
    if (val_out != NULL) {
        *val_out = val;
    }
    if (val_len_out != NULL) {
        *val_len_out = row.val_len;
    }
    return SAP_OK;
}

int sap_cursor_get_key(SapCursor *cur, const void **key_out, uint32_t *key_len_out)
{
    int rc = settle(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    PairView row = user_key(cur);
    if (key_out != NULL) {
        *key_out = row.key;
    }
    if (key_len_out != NULL) {
        *key_len_out = row.key_len;
    }
    return SAP_OK;
}

/* ---- Values of one key ---------------------------------------------------------------------- */

static bool same_key(const SapCursor *cur, LeafRow a, LeafRow b)
{
    PairView x = pair_view(a.key, a.key_len);
    PairView y = pair_view(b.key, b.key_len);
    return key_compare(table_of(cur)->key_order, x.key, x.key_len, y.key, y.key_len) == 0;
}

static int settle_dup(SapCursor *cur)
{
    int rc = check(cur);
    if (rc == SAP_OK && table_of(cur)->pairs == NULL) {
        rc = SAP_ERROR;
    }
    return rc == SAP_OK ? settle(cur) : rc;
}

static int step_dup(SapCursor *cur, bool back)
{
    int rc = settle_dup(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    PathStep *leaf = &cur->path.at[cur->path.depth - 1];
    LeafRow here = path_row(&cur->path);
    if (back ? leaf->i > 0 : leaf->i + 1 < page_count(leaf->page)) {
        uint32_t i = back ? leaf->i - 1 : leaf->i + 1;
        if (!same_key(cur, here, leaf_row(leaf->page, i))) {
            return SAP_NOTFOUND;
        }
        leaf->i = i;
        return SAP_OK;
    }
    Path path; /* the cursor stays if the next leaf begins with another key */
    path_copy(&path, &cur->path);
    rc = back ? tree_prev(cur->env, &path) : tree_next(cur->env, &path);
    if (rc == SAP_OK && !same_key(cur, here, path_row(&path))) {
        rc = SAP_NOTFOUND;
    }
    if (rc == SAP_OK) {
        path_copy(&cur->path, &path);
    }
    return rc;
}

int sap_cursor_next_dup(SapCursor *cur)
{
    return step_dup(cur, false);
}

int sap_cursor_prev_dup(SapCursor *cur)
{
    return step_dup(cur, true);
}

/* The place before or behind all values of the cursor's key. */
static int seek_edge(SapCursor *cur, PairPlace place, Path *path)
{
    PairView row = user_key(cur);
    Probe probe;
    uint32_t root = 0;
    int rc = root_of(cur, &root);
    if (rc == SAP_OK) {
        rc = probe_make(&probe, table_of(cur), place, row.key, row.key_len, NULL, 0);
    }
    if (rc == SAP_OK) {
        rc = tree_seek(cur->env, root, order_of(cur), probe.bytes, probe.len, path);
        probe_release(&probe);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    return rc;
}

int sap_cursor_first_dup(SapCursor *cur)
{
    int rc = settle_dup(cur);
    Path path;
    if (rc == SAP_OK) {
        rc = seek_edge(cur, PAIR_BEFORE, &path);
    }
    if (rc == SAP_OK) {
        rc = tree_settle(cur->env, &path);
        rc = rc == SAP_NOTFOUND ? SAP_CORRUPT : rc; /* only where rows are out of order */
    }
    if (rc == SAP_OK) {
        path_copy(&cur->path, &path);
    }
    return rc;
}

int sap_cursor_last_dup(SapCursor *cur)
{
    int rc = settle_dup(cur);
    Path path;
    if (rc == SAP_OK) {
        rc = seek_edge(cur, PAIR_AFTER, &path);
    }
    if (rc == SAP_OK) {
        rc = tree_prev(cur->env, &path);
        rc = rc == SAP_NOTFOUND ? SAP_CORRUPT : rc;
    }
    if (rc == SAP_OK) {
        path_copy(&cur->path, &path);
    }
    return rc;
}

int sap_cursor_count_dup(SapCursor *cur, uint64_t *count_out)
{
    if (count_out == NULL) {
        return SAP_ERROR;
    }
    int rc = settle_dup(cur);
    Path from;
    Path to;
    if (rc == SAP_OK) {
        rc = seek_edge(cur, PAIR_BEFORE, &from);
    }
    if (rc == SAP_OK) {
        rc = seek_edge(cur, PAIR_AFTER, &to);
    }
    if (rc == SAP_OK) {
        *count_out = tree_rank(&to) - tree_rank(&from);
    }
    return rc;
}

/* ---- Changes -------------------------------------------------------------------------------- */

/* What a change through the cursor needs first: a row under it, and its key remembered. */
static int begin_change(SapCursor *cur)
{
    int rc = check(cur);
    if (rc == SAP_OK) {
        rc = txn_check_write(cur->txn);
    }
    if (rc == SAP_OK && (table_of(cur)->flags & SAP_DBI_TTL_META) != 0) {
        rc = SAP_ERROR;
    }
    if (rc == SAP_OK) {
        rc = settle(cur);
    }
    return rc == SAP_OK ? remember_key(cur) : rc;
}

/* The remembered row is gone: the cursor goes on to the next one. If that cannot be read, the next
 * use of the cursor says so. */
static void go_on(SapCursor *cur, bool sought)
{
    int rc = sought ? SAP_NOTFOUND : seek_remembered(cur, table_of(cur)->tree.root);
    if (rc == SAP_NOTFOUND) {
        rc = tree_settle(cur->env, &cur->path);
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        set_state(cur, CURSOR_SAVED);
    }
    (void)land(cur, rc, CURSOR_AFTER);
}

int sap_cursor_put(SapCursor *cur, const void *val, uint32_t val_len, unsigned flags)
{
    int rc = check(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    if (flags != 0 || (val == NULL && val_len > 0) || table_of(cur)->pairs != NULL) {
        return SAP_ERROR;
    }
    if (val_len > SAP_MAX_VAL_LEN) {
        return SAP_FULL;
    }
    rc = begin_change(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    RowPlace at = {.path = &cur->path, .exact = true, .cursor = cur};
    TreeChange change;
    rc = rows_put_at(cur->txn, cur->dbi, table_of(cur), &at, cur->key, cur->key_len, val, val_len,
                     &change);
    tree_read_path(cur->env, &cur->path);
    if (rc == SAP_OK && change.moved && seek_remembered(cur, table_of(cur)->tree.root) != SAP_OK) {
        set_state(cur, CURSOR_SAVED);
    }
    return rc;
}

int sap_cursor_del(SapCursor *cur)
{
    int rc = begin_change(cur);
    if (rc != SAP_OK) {
        return rc;
    }
    RowPlace at = {.path = &cur->path, .exact = true, .cursor = cur};
    TreeChange change;
    rc = rows_del_at(cur->txn, cur->dbi, table_of(cur), &at, &change);
    tree_read_path(cur->env, &cur->path);
    if (rc == SAP_OK) {
        go_on(cur, !change.moved);
    }
    return rc;
}

/* ---- For ttl.c ------------------------------------------------------------------------------ */

int cursor_position(SapCursor *cur, CursorPosition *position_out)
{
    int rc = settle(cur);
    if (rc == SAP_OK) {
        PairView row = user_key(cur);
        *position_out = (CursorPosition){
            .txn = cur->txn, .dbi = cur->dbi, .key = row.key, .key_len = row.key_len};
    }
    return rc;
}

void cursor_after_removal(SapCursor *cur)
{
    if (cur->state == CURSOR_SAVED) { /* else nothing was removed: a row that no search finds */
        go_on(cur, false);
    }
}
