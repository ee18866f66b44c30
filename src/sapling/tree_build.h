/* tree_build.h - a new tree from rows in ascending order, in time linear in their number.
 *
 * The pages become those of the write level, a savepoint whose abort frees them if the build fails;
 * the table keeps its tree until the caller puts the new root in its place. */
#ifndef SAPLING_SAPLING_TREE_BUILD_H
#define SAPLING_SAPLING_TREE_BUILD_H

#include "sapling/tree.h"

/* Nodes of one level that wait for a parent. */
typedef struct BuildLevel {
    BranchItem *items; /* separators point into leaves */
    uint32_t count;
    uint64_t bound; /* at least the bytes they take in a page */
} BuildLevel;

typedef struct TreeBuild {
    SapTxnCtx *txn;
    const Table *table;
    bool plain;
    LeafRow *rows; /* of the leaf being filled */
    uint8_t *kept; /* bytes of theirs that the caller does not keep */
    uint32_t kept_len;
    size_t row_capacity;
    uint32_t row_count;
    uint32_t row_bytes;
    const uint8_t *last_leaf;
    uint64_t total;
    uint32_t level_count;
    BuildLevel levels[TREE_MAX_DEPTH];
} TreeBuild;

/* SAP_NOMEM: nothing to release. */
int tree_build_begin(TreeBuild *build, SapTxnCtx *txn, const Table *table);
/* Adds a row above all before it. Its bytes are borrowed until the build is released, with `copy`
 * only for the call; a reference to a run always only for the call. */
int tree_build_add(TreeBuild *build, const LeafRow *row, bool copy);
int tree_build_finish(TreeBuild *build, TreeState *tree_out);
/* Frees the working memory; after tree_build_begin() in any case. */
void tree_build_release(TreeBuild *build);

#endif
