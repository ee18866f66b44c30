/* tree_build.h - a new tree from rows in ascending order, in time linear in their number.
 *
 * The pages become those of a write level, a savepoint whose abort frees them if the build fails;
 * the table keeps its tree until the caller puts the new root in its place. Or they go elsewhere,
 * one by one as they are filled (BuildPages), children before their parents. */
#ifndef SAPLING_SAPLING_TREE_BUILD_H
#define SAPLING_SAPLING_TREE_BUILD_H

#include "sapling/tree.h"

/* Pages that are handed on when they are filled. */
typedef struct BuildPages {
    /* One to fill, whose header has its number and birth. */
    int (*make)(void *ctx, uint8_t **page_out);
    /* That one is filled, and not used any more. */
    int (*done)(void *ctx);
    void *ctx;
} BuildPages;

/* Nodes of one level that wait for a parent. */
typedef struct BuildLevel {
    BranchItem *items; /* separators point into leaves, or to the rows' keys */
    uint32_t count;
    uint64_t bound; /* at least the bytes they take in a page */
} BuildLevel;

typedef struct TreeBuild {
    BuildPages pages;
    bool passing; /* pages do not stay: what is remembered of them lies in the rows */
    uint32_t page_size;
    uint32_t page_flags;
    bool plain;
    LeafRow *rows; /* of the leaf being filled */
    uint8_t *kept; /* bytes of theirs that the caller does not keep */
    uint32_t kept_len;
    size_t row_capacity;
    uint32_t row_count;
    uint32_t row_bytes;
    LeafRow last; /* of the leaf before; not looked at before the second leaf */
    uint64_t leaf_count;
    uint64_t total;
    uint32_t level_count;
    BuildLevel levels[TREE_MAX_DEPTH];
} TreeBuild;

/* SAP_NOMEM: nothing to release. */
int tree_build_begin(TreeBuild *build, SapTxnCtx *txn, const Table *table);
/* The same with pages that are handed on. */
int tree_build_begin_pages(TreeBuild *build, uint32_t page_size, const Table *table,
                           const BuildPages *pages);
/* Adds a row above all before it. Its bytes are borrowed until the build is released, with `copy`
 * (not where pages are handed on) only for the call; a reference to a run always only for the
 * call. */
int tree_build_add(TreeBuild *build, const LeafRow *row, bool copy);
int tree_build_finish(TreeBuild *build, TreeState *tree_out);
/* Frees the working memory; after tree_build_begin() in any case. */
void tree_build_release(TreeBuild *build);

#endif
