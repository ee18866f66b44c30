/* tree.h - the copy-on-write B+ tree over nodes and pages.
 *
 * A path is the way from the root to a row: at[0] is the root, at[depth-1] the leaf; each step's
 * index is that of the child followed, in the leaf that of the row (n: behind the last). It stays
 * valid until the tree changes.
 *
 * Changing calls take a path to the place and the table whose writer state they change. They either
 * succeed or leave the tree with the same rows: pages may have been copied, nothing else. */
#ifndef SAPLING_SAPLING_TREE_H
#define SAPLING_SAPLING_TREE_H

#include "sapling/env.h"

enum {
    TREE_MAX_DEPTH = 40,
    /* Rows lie in a leaf in no order the hardware could foresee: a walk asks for them ahead. */
    TREE_ROWS_AHEAD = 4,
};

_Static_assert(TREE_MAX_DEPTH + 1 <= PAGER_RESERVE_MAX, "a split may need a page on each level");

typedef struct PathStep {
    uint8_t *page;
    uint32_t i;
} PathStep;

typedef struct Path {
    uint32_t depth; /* 0: the tree is empty */
    PathStep at[TREE_MAX_DEPTH];
} Path;

/* ---- Reading: tree.c ---- */

/* Fills *row_out and answers true if the key is there. */
bool tree_get(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key,
              uint32_t key_len, LeafRow *row_out);
/* The value of a row, wherever it is. */
static inline void tree_value(const SapEnv *env, const LeafRow *row, const void **val_out,
                              uint32_t *len_out)
{
    if (sap_likely(row->val_code != CELL_VAL_ELSEWHERE)) {
        *val_out = row->val;
        *len_out = row->stored;
    } else {
        *val_out = arena_page(env->arena, load_u32le(row->val)) + PAGE_HEADER;
        *len_out = load_u32le(row->val + 4);
    }
}

/* To the first row not below `key`, which may be behind the last one of its leaf; whether it is
 * equal. */
bool tree_seek(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key,
               uint32_t key_len, Path *path);
/* These answer false when there is no such row; the path is then no place. */
bool tree_first(const SapEnv *env, uint32_t root, Path *path);
bool tree_last(const SapEnv *env, uint32_t root, Path *path);
bool tree_next(const SapEnv *env, Path *path);
bool tree_prev(const SapEnv *env, Path *path);
/* tree_next() within a leaf; false: at its end, nothing changed. */
static inline bool tree_next_in_leaf(Path *path)
{
    PathStep *leaf = &path->at[path->depth - 1];
    uint32_t n = page_count(leaf->page);
    if (leaf->i + 1 < n) {
        leaf->i++;
        if (leaf->i + TREE_ROWS_AHEAD < n) {
            __builtin_prefetch(leaf->page + leaf_slot(leaf->page, leaf->i + TREE_ROWS_AHEAD));
        }
        return true;
    }
    return false;
}
/* From behind a leaf's last row to the next leaf's first; elsewhere stays. */
bool tree_settle(const SapEnv *env, Path *path);

/* To the row with n rows before it; and how many rows are before the path's. */
bool tree_seek_nth(const SapEnv *env, uint32_t root, uint64_t n, Path *path);
uint64_t tree_rank(const Path *path);

static inline LeafRow path_row(const Path *path)
{
    const PathStep *leaf = &path->at[path->depth - 1];
    return leaf_row(leaf->page, leaf->i);
}

static inline bool path_on_row(const Path *path)
{
    return path->depth > 0 &&
           path->at[path->depth - 1].i < page_count(path->at[path->depth - 1].page);
}

/* ---- Writing: tree_write.c ---- */

/* Where the row's value is now, and whether the path must be sought again. */
typedef struct TreeChange {
    uint8_t *val;
    bool moved;
} TreeChange;

/* Makes `row` for a key and value; a value that does not lie in a leaf goes to a run of pages, and
 * ref (of the caller, to live as long as the row) refers to it. */
int tree_make_row(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                  uint32_t val_len, LeafRow *row_out, uint8_t ref[CELL_REF]);
/* Frees the run that a made or stored row refers to, if any. */
void tree_drop_value(SapTxnCtx *txn, const LeafRow *row);

/* Inserts where tree_seek() found no equal key. */
int tree_insert(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, const LeafRow *row,
                TreeChange *change);
/* Replaces the value of the path's row, whose key `row` has; frees the old one's run. */
int tree_replace(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, const LeafRow *row,
                 TreeChange *change);
/* Removes the path's row. */
int tree_delete(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, TreeChange *change);

typedef struct TreeBound {
    const uint8_t *key;
    uint32_t len;
} TreeBound;

/* Removes the rows from `from` (NULL: the first) up to but not including `to` (NULL: the end):
 * tree_range.c. The bounds must not lie in the tree. */
int tree_delete_range(SapTxnCtx *txn, uint32_t dbi, Table *table, const TreeBound *from,
                      const TreeBound *to, uint64_t *deleted_out);

/* Frees a tree with the values of its rows; and its pages only, values staying where they are. */
void tree_free_rows(SapTxnCtx *txn, TreeState tree);
void tree_free_pages(SapTxnCtx *txn, uint32_t root);

/* What the files that change trees share. */

/* Saves the root for an undo and makes every page of the path the level's own. */
int tree_own_path(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path);
/* Mends the tree from the path's page at `level` upwards after rows or children went: an empty page
 * is removed, a small one merged, a root with one child replaced by it. True: the path is void. */
bool tree_rebalance(SapTxnCtx *txn, Table *table, Path *path, uint32_t level);
/* The same for every page of the path that is the level's own; none of them is empty. */
void tree_rebalance_owned(SapTxnCtx *txn, Table *table, Path *path);

/* Gives all pages of a tree back to the arena; no transaction is open. */
void tree_destroy(SapEnv *env, uint32_t root);

#endif
