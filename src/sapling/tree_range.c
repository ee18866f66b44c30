/* tree_range.c - removing a range of rows by unlinking what lies inside it.
 *
 * Two paths lead to the first row of the range and to the first row behind it. They share the upper
 * levels; below the fork, everything right of the one and left of the other goes, subtree by
 * subtree. Leaves inside the range are not read, unless a branch says that they own runs. */
#include "common/assert.h"
#include "sapling/tree.h"

/* Frees a subtree of which the branch says `child_word`. */
static void free_subtree(SapTxnCtx *txn, uint32_t child_word, uint32_t level)
{
    Pager *pager = &txn->env->pager;
    uint32_t pgno = child_word & ~CHILD_OWNS_RUNS;
    bool owns_runs = (child_word & CHILD_OWNS_RUNS) != 0;
    if (level > 0) {
        const uint8_t *page = pager_page(pager, pgno);
        for (uint32_t i = 0; i < page_count(page); i++) {
            free_subtree(txn, branch_child_word(page, i), level - 1);
        }
    } else if (owns_runs) {
        const uint8_t *page = pager_page(pager, pgno);
        for (uint32_t i = 0; i < page_count(page); i++) {
            LeafRow row = leaf_row(page, i);
            tree_drop_value(txn, &row);
        }
    }
    pager_free(pager, &txn->level, pgno);
}

void tree_free_rows(SapTxnCtx *txn, TreeState tree)
{
    if (tree.root != 0) {
        const uint8_t *root = pager_page(&txn->env->pager, tree.root);
        free_subtree(txn, tree.root | node_runs_flag(root), page_level(root));
    }
}

void tree_free_pages(SapTxnCtx *txn, uint32_t root)
{
    if (root == 0) {
        return;
    }
    const uint8_t *page = pager_page(&txn->env->pager, root);
    for (uint32_t i = 0; !page_is_leaf(page) && i < page_count(page); i++) {
        if (page_level(page) > 1) {
            tree_free_pages(txn, branch_child(page, i));
        } else {
            pager_free(&txn->env->pager, &txn->level, branch_child(page, i));
        }
    }
    pager_free(&txn->env->pager, &txn->level, root);
}

/* Removes children (or rows) from .. to-1 with all below them. */
static void remove_span(SapTxnCtx *txn, uint8_t *page, uint32_t from, uint32_t to)
{
    for (uint32_t i = to; i > from; i--) {
        if (page_is_leaf(page)) {
            LeafRow row = leaf_row(page, i - 1);
            tree_drop_value(txn, &row);
            leaf_remove(page, i - 1);
        } else {
            free_subtree(txn, branch_child_word(page, i - 1), page_level(page) - 1);
            branch_remove(page, i - 1);
        }
    }
}

/* Cuts everything from the path's place on (`left` side) or before it (`right` side) off the pages
 * below level `fork`; true if nothing of the child below the fork is left: then it is freed. */
static bool cut_side(SapTxnCtx *txn, Path *path, uint32_t fork, bool left)
{
    bool gone = false;
    for (uint32_t level = path->depth - 1; level > fork; level--) {
        PathStep *step = &path->at[level];
        uint32_t n = page_count(step->page);
        bool leaf = page_is_leaf(step->page);
        /* A child that went has been freed: its entry goes without it. */
        if (gone) {
            branch_remove(step->page, step->i);
            n--;
        }
        uint32_t keep = gone || leaf ? 0 : 1;
        if (left) {
            remove_span(txn, step->page, step->i + keep, n);
        } else {
            remove_span(txn, step->page, 0, step->i);
        }
        gone = page_count(step->page) == 0;
        if (gone) {
            pager_free(&txn->env->pager, &txn->level, page_no(step->page));
        } else if (!leaf && keep == 1) {
            uint32_t i = left ? step->i : 0;
            branch_set_rows(step->page, i, node_rows(path->at[level + 1].page));
        }
    }
    return gone;
}

/* What lies between the two places in the page where the paths part. */
static void cut_fork(SapTxnCtx *txn, Path *lo, Path *hi, uint32_t fork)
{
    uint8_t *page = lo->at[fork].page;
    uint32_t from = lo->at[fork].i;
    uint32_t to = hi->at[fork].i;
    if (page_is_leaf(page)) {
        remove_span(txn, page, from, to);
        return;
    }
    bool right_gone = cut_side(txn, hi, fork, false);
    bool left_gone = cut_side(txn, lo, fork, true);
    if (right_gone) {
        branch_remove(page, to);
    } else {
        branch_set_rows(page, to, node_rows(hi->at[fork + 1].page));
    }
    remove_span(txn, page, from + 1, to);
    if (left_gone) {
        branch_remove(page, from);
    } else {
        branch_set_rows(page, from, node_rows(lo->at[fork + 1].page));
    }
}

/* A path to the bound's place; NULL: before, or behind, all rows. */
static void find_bound(const SapEnv *env, const Table *table, const TreeBound *bound, bool high,
                       Path *path)
{
    if (bound != NULL) {
        (void)tree_seek(env, table->tree.root, table->order, bound->key, bound->len, path);
    } else if (high) {
        (void)tree_last(env, table->tree.root, path);
        path->at[path->depth - 1].i++;
    } else {
        (void)tree_first(env, table->tree.root, path);
    }
}

int tree_delete_range(SapTxnCtx *txn, uint32_t dbi, Table *table, const TreeBound *from,
                      const TreeBound *to, uint64_t *deleted_out)
{
    SapEnv *env = txn->env;
    Path lo;
    Path hi;
    *deleted_out = 0;
    if (table->tree.root == 0) {
        return SAP_OK;
    }
    find_bound(env, table, from, false, &lo);
    find_bound(env, table, to, true, &hi);
    uint64_t first = tree_rank(&lo);
    uint64_t behind = tree_rank(&hi);
    if (behind <= first) {
        return SAP_OK;
    }
    env->pager.rescue = true;
    int rc = tree_own_path(txn, dbi, table, &lo);
    if (rc == SAP_OK) {
        /* Sought again: what the two share is the level's own by now. */
        find_bound(env, table, to, true, &hi);
        rc = tree_own_path(txn, dbi, table, &hi);
    }
    env->pager.rescue = false;
    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t fork = 0;
    while (fork + 1 < lo.depth && lo.at[fork].i == hi.at[fork].i) {
        fork++;
    }
    cut_fork(txn, &lo, &hi, fork);
    uint64_t deleted = behind - first;
    for (uint32_t level = 0; level < fork; level++) {
        PathStep *step = &lo.at[level];
        branch_set_rows(step->page, step->i, branch_rows(step->page, step->i) - deleted);
    }
    table->tree.entries -= deleted;
    tree_rebalance(txn, table, &lo, fork);
    if (table->tree.root != 0) {
        /* What is left beside the cut may be small: the place is sought again, and mended. */
        Path seam;
        if (from != NULL) {
            (void)tree_seek(env, table->tree.root, table->order, from->key, from->len, &seam);
        } else {
            (void)tree_first(env, table->tree.root, &seam);
        }
        tree_rebalance_owned(txn, table, &seam);
        if (table->tree.root != 0 && to != NULL) {
            (void)tree_seek(env, table->tree.root, table->order, to->key, to->len, &seam);
            tree_rebalance_owned(txn, table, &seam);
        }
    }
    *deleted_out = deleted;
    return SAP_OK;
}
