/* tree.h - the copy-on-write B+ tree over nodes and pages.
 *
 * A path is the way from the root to a row: at[0] is the root, at[depth-1] the leaf; each step's
 * index is that of the child followed, in the leaf that of the row (n: behind the last). It stays
 * valid until the tree changes. Its pages are where they can only be read; a changing call makes
 * those of its path writable, and whoever reads on by that path calls tree_read_path() first.
 *
 * Reading a page for the first time can find it damaged. Reading calls answer SAP_OK, SAP_NOTFOUND,
 * or an error, SAP_CORRUPT or SAP_NOMEM, which is to be passed on: the path is void then.
 *
 * Changing calls take a path to the place and the table whose writer state they change. They either
 * succeed or leave the tree with the same rows: pages may have been copied, nothing else. */
#ifndef SAPLING_SAPLING_TREE_H
#define SAPLING_SAPLING_TREE_H

#include "sapling/env.h"

enum {
    TREE_MAX_DEPTH = PAGE_MAX_LEVEL + 1,
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

/* SAP_CORRUPT, with a message where there is somebody to tell: the trees of a file do not fit
 * together at this page. */
int tree_refuse(const SapEnv *env, uint32_t pgno, const char *what);

/* Starts loading what a search in the page reads first. */
static inline void tree_prefetch(const uint8_t *page)
{
    __builtin_prefetch(page);
    __builtin_prefetch(page + 64);
    __builtin_prefetch(page + 128);
}

/* Child i of a branch for reading. What a file holds may be anything: that a child is one level
 * below its parent and of the same table is seen to here, so that no way down goes in circles. */
static inline int tree_child(const SapEnv *env, const uint8_t *branch, uint32_t i,
                             uint8_t **child_out)
{
    uint32_t pgno = branch_child(branch, i);
    uint8_t *child = arena_peek(env->arena, pgno);
    tree_prefetch(child);
    int rc = arena_ensure(env->arena, pgno);
    if (sap_likely(rc == SAP_OK) && sap_unlikely(!page_is_child(branch, child))) {
        rc = tree_refuse(env, pgno, "is no child of the page above it");
    }
    *child_out = child;
    return rc;
}

/* SAP_NOTFOUND: the key is not there. Fills *row_out on SAP_OK only. */
int tree_get(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key, uint32_t key_len,
             LeafRow *row_out);
/* Of a row whose value is elsewhere: an error if that cannot be read. */
int tree_run_value(const SapEnv *env, const LeafRow *row, const void **val_out, uint32_t *len_out);
/* The value of a row, wherever it is. */
static inline int tree_value(const SapEnv *env, const LeafRow *row, const void **val_out,
                             uint32_t *len_out)
{
    if (sap_unlikely(row->val_code == CELL_VAL_ELSEWHERE)) {
        return tree_run_value(env, row, val_out, len_out);
    }
    *val_out = row->val;
    *len_out = row->stored;
    return SAP_OK;
}

/* To the first row not below `key`, which may be behind the last one of its leaf. SAP_OK: it is
 * equal. SAP_NOTFOUND: it is not. */
int tree_seek(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key,
              uint32_t key_len, Path *path);
/* SAP_NOTFOUND: the tree is empty. */
int tree_first(const SapEnv *env, uint32_t root, Path *path);
int tree_last(const SapEnv *env, uint32_t root, Path *path);
/* SAP_NOTFOUND: no such row. On that and on errors the path stays. */
int tree_next(const SapEnv *env, Path *path);
int tree_prev(const SapEnv *env, Path *path);
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
/* From behind a leaf's last row to the next leaf's first; elsewhere stays. Codes as tree_next(). */
int tree_settle(const SapEnv *env, Path *path);

/* To the row with n rows before it; and how many rows are before the path's. */
int tree_seek_nth(const SapEnv *env, uint32_t root, uint64_t n, Path *path);
uint64_t tree_rank(const Path *path);

/* After a changing call that did not move the row: the path for reading again. */
void tree_read_path(const SapEnv *env, Path *path);

/* The steps in use only: a path is mostly room. */
static inline void path_copy(Path *to, const Path *from)
{
    to->depth = from->depth;
    for (uint32_t level = 0; level < from->depth; level++) {
        to->at[level] = from->at[level];
    }
}

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

/* Frees a tree with the values of its rows. SAP_CORRUPT, SAP_NOMEM: nothing was freed. */
int tree_free_rows(SapTxnCtx *txn, TreeState tree);
/* Frees its pages only, values staying where they are; every row has been read. */
void tree_free_pages(SapTxnCtx *txn, uint32_t root);

/* What the files that change trees share. */

/* Saves the root for an undo and makes every page of the path the level's own, and writable. */
int tree_own_path(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path);
/* Mends the tree from the path's page at `level` upwards after rows or children went: an empty page
 * is removed, a small one merged, a root with one child replaced by it. True: the path is void. */
bool tree_rebalance(SapTxnCtx *txn, Table *table, Path *path, uint32_t level);
/* The same for every page of the path that is the level's own; none of them is empty. */
void tree_rebalance_owned(SapTxnCtx *txn, Table *table, Path *path);

/* Gives all pages of a tree back to the arena; no transaction is open. */
void tree_destroy(SapEnv *env, uint32_t root);

#endif
