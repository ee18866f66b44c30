/* tree_range.c - removing a range of rows by unlinking what lies inside it.
 *
 * Two paths lead to the first row of the range and to the first row behind it. They share the upper
 * levels; below the fork, everything right of the one and left of the other goes, subtree by
 * subtree. Leaves inside the range are not read, unless a branch says that they own runs.
 *
 * What is read to be freed is read once before the first change, where a damaged page may still be
 * the answer. */
#include "common/assert.h"
#include "sapling/tree.h"

/* Whether pages may not be what they should be. */
static bool pages_are_strange(const SapEnv *env)
{
    return env->file != NULL || env->arena->trusted != NULL;
}

/* Reads what free_subtree() will of the children from .. to-1. *left is the number of pages there
 * can be: more are those of a tree that uses some in many places. */
static int load_children(const SapEnv *env, const uint8_t *page, uint32_t from, uint32_t to,
                         uint32_t *left)
{
    int rc = SAP_OK;
    for (uint32_t i = from; rc == SAP_OK && i < to; i++) {
        uint8_t *child = NULL;
        if ((*left)-- == 0) {
            return tree_refuse(env, page_no(page), "leads to more pages than there are");
        }
        if (page_level(page) == 1 && (branch_child_word(page, i) & CHILD_OWNS_RUNS) == 0) {
            continue;
        }
        rc = tree_child(env, page, i, &child);
        if (rc == SAP_OK && !page_is_leaf(child)) {
            rc = load_children(env, child, 0, page_count(child), left);
        }
    }
    return rc;
}

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
    pager_free(pager, &txn->level, pgno, 1);
}

int tree_free_rows(SapTxnCtx *txn, TreeState tree)
{
    if (tree.root == 0) {
        return SAP_OK;
    }
    const SapEnv *env = txn->env;
    uint8_t *root = NULL;
    int rc = arena_load(env->arena, tree.root, &root);
    if (rc != SAP_OK) {
        return rc;
    }
    uint32_t word = tree.root | node_runs_flag(root);
    if (pages_are_strange(env) && !page_is_leaf(root)) {
        uint32_t left = atomic_load_acquire(&env->arena->high);
        rc = load_children(env, root, 0, page_count(root), &left);
    }
    if (rc == SAP_OK) {
        free_subtree(txn, word, page_level(root));
    }
    return rc;
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
            pager_free(&txn->env->pager, &txn->level, branch_child(page, i), 1);
        }
    }
    pager_free(&txn->env->pager, &txn->level, root, 1);
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
            pager_free(&txn->env->pager, &txn->level, page_no(step->page), 1);
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

/* The level where the two paths part. */
static uint32_t fork_of(const Path *lo, const Path *hi)
{
    uint32_t fork = 0;
    while (fork + 1 < lo->depth && lo->at[fork].i == hi->at[fork].i) {
        fork++;
    }
    return fork;
}

/* Reads what cut_fork() will. */
static int load_cut(const SapEnv *env, const Path *lo, const Path *hi)
{
    uint32_t left = atomic_load_acquire(&env->arena->high);
    uint32_t fork = fork_of(lo, hi);
    int rc = SAP_OK;
    for (uint32_t level = fork; rc == SAP_OK && level + 1 < lo->depth; level++) {
        const PathStep *from = &lo->at[level];
        const PathStep *to = &hi->at[level];
        if (level == fork) {
            rc = load_children(env, from->page, from->i + 1, to->i, &left);
            continue;
        }
        rc = load_children(env, from->page, from->i + 1, page_count(from->page), &left);
        if (rc == SAP_OK) {
            rc = load_children(env, to->page, 0, to->i, &left);
        }
    }
    return rc;
}

/* A path to the bound's place; NULL: before, or behind, all rows. The tree is not empty. */
static int find_bound(const SapEnv *env, const Table *table, const TreeBound *bound, bool high,
                      Path *path)
{
    if (bound != NULL) {
        int rc = tree_seek(env, table->tree.root, table->order, bound->key, bound->len, path);
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (!high) {
        return tree_first(env, table->tree.root, path);
    }
    int rc = tree_last(env, table->tree.root, path);
    if (rc == SAP_OK) {
        path->at[path->depth - 1].i++;
    }
    return rc;
}

/* What is left beside the cut may be small: the place is sought again, and mended if it can be
 * read. */
static void mend_seam(SapTxnCtx *txn, Table *table, const TreeBound *bound)
{
    Path seam;
    if (table->tree.root != 0 && find_bound(txn->env, table, bound, false, &seam) == SAP_OK) {
        tree_rebalance_owned(txn, table, &seam);
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
    int rc = find_bound(env, table, from, false, &lo);
    if (rc == SAP_OK) {
        rc = find_bound(env, table, to, true, &hi);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    uint64_t first = tree_rank(&lo);
    uint64_t behind = tree_rank(&hi);
    if (behind <= first) {
        return SAP_OK;
    }
    uint32_t fork = fork_of(&lo, &hi);
    if (lo.at[fork].i >= hi.at[fork].i) {
        return tree_refuse(env, page_no(lo.at[fork].page), "does not count the rows below it");
    }
    if (pages_are_strange(env)) {
        rc = load_cut(env, &lo, &hi);
    }
    bool before = pager_use_rescue(&env->pager, true);
    if (rc == SAP_OK) {
        rc = tree_own_path(txn, dbi, table, &lo);
    }
    if (rc == SAP_OK) {
        /* Sought again: what the two share is the level's own by now. */
        rc = find_bound(env, table, to, true, &hi);
    }
    if (rc == SAP_OK) {
        rc = tree_own_path(txn, dbi, table, &hi);
    }
    pager_use_rescue(&env->pager, before);
    if (rc != SAP_OK) {
        return rc;
    }
    cut_fork(txn, &lo, &hi, fork);
    uint64_t deleted = behind - first;
    for (uint32_t level = 0; level < fork; level++) {
        PathStep *step = &lo.at[level];
        branch_set_rows(step->page, step->i, branch_rows(step->page, step->i) - deleted);
    }
    table->tree.entries -= deleted;
    tree_rebalance(txn, table, &lo, fork);
    mend_seam(txn, table, from);
    if (to != NULL) {
        mend_seam(txn, table, to);
    }
    *deleted_out = deleted;
    return SAP_OK;
}
