/* tree.c - reading the tree: seeking, stepping, counting. See tree.h. */
#include "sapling/tree.h"

#include "common/assert.h"
#include "sapling/node_search.h"

static inline uint8_t *page_at(const SapEnv *env, uint32_t pgno)
{
    return arena_page(env->arena, pgno);
}

/* Starts loading what a search in the page reads first. */
static inline void prefetch_node(const uint8_t *page)
{
    __builtin_prefetch(page);
    __builtin_prefetch(page + 64);
    __builtin_prefetch(page + 128);
}

bool tree_get(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key,
              uint32_t key_len, LeafRow *row_out)
{
    if (root == 0) {
        return false;
    }
    const uint8_t *page = page_at(env, root);
    while (!page_is_leaf(page)) {
        page = page_at(env, branch_child(page, branch_search(page, order, key, key_len)));
        prefetch_node(page);
    }
    bool exact = false;
    uint32_t i = leaf_search(page, order, key, key_len, &exact);
    if (!exact) {
        return false;
    }
    *row_out = leaf_row(page, i);
    return true;
}

bool tree_seek(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key,
               uint32_t key_len, Path *path)
{
    path->depth = 0;
    if (root == 0) {
        return false;
    }
    uint8_t *page = page_at(env, root);
    while (!page_is_leaf(page)) {
        uint32_t i = branch_search(page, order, key, key_len);
        SAP_ASSERT(path->depth + 1 < TREE_MAX_DEPTH);
        path->at[path->depth++] = (PathStep){page, i};
        page = page_at(env, branch_child(page, i));
        prefetch_node(page);
    }
    bool exact = false;
    uint32_t i = leaf_search(page, order, key, key_len, &exact);
    path->at[path->depth++] = (PathStep){page, i};
    return exact;
}

/* Goes down from child `pgno` to its first or last row, adding to the path. */
static void descend_edge(const SapEnv *env, uint32_t pgno, bool last, Path *path)
{
    for (;;) {
        uint8_t *page = page_at(env, pgno);
        uint32_t i = last ? page_count(page) - 1 : 0;
        SAP_ASSERT(path->depth < TREE_MAX_DEPTH);
        path->at[path->depth++] = (PathStep){page, i};
        if (page_is_leaf(page)) {
            return;
        }
        pgno = branch_child(page, i);
    }
}

bool tree_first(const SapEnv *env, uint32_t root, Path *path)
{
    path->depth = 0;
    if (root != 0) {
        descend_edge(env, root, false, path);
    }
    return root != 0;
}

bool tree_last(const SapEnv *env, uint32_t root, Path *path)
{
    path->depth = 0;
    if (root != 0) {
        descend_edge(env, root, true, path);
    }
    return root != 0;
}

/* From the leaf's edge to the neighbouring leaf. */
static bool next_leaf(const SapEnv *env, Path *path, bool back)
{
    uint32_t level = path->depth - 1;
    while (level > 0) {
        PathStep *step = &path->at[level - 1];
        uint32_t n = page_count(step->page);
        if (back ? step->i > 0 : step->i + 1 < n) {
            step->i = back ? step->i - 1 : step->i + 1;
            /* While this leaf is read, the one after it comes nearer. */
            uint32_t ahead = back ? step->i - 1 : step->i + 1;
            if (ahead < n && level + 1 == path->depth) {
                prefetch_node(page_at(env, branch_child(step->page, ahead)));
            }
            path->depth = level;
            descend_edge(env, branch_child(step->page, step->i), back, path);
            const uint8_t *leaf = path->at[path->depth - 1].page;
            uint32_t rows = page_count(leaf);
            for (uint32_t k = 0; k <= TREE_ROWS_AHEAD && k < rows; k++) {
                __builtin_prefetch(leaf + leaf_slot(leaf, back ? rows - 1 - k : k));
            }
            return true;
        }
        level--;
    }
    return false;
}

bool tree_settle(const SapEnv *env, Path *path)
{
    if (path->depth == 0) {
        return false;
    }
    return path_on_row(path) || next_leaf(env, path, false);
}

bool tree_next(const SapEnv *env, Path *path)
{
    if (path->depth == 0) {
        return false;
    }
    return tree_next_in_leaf(path) || next_leaf(env, path, false);
}

bool tree_prev(const SapEnv *env, Path *path)
{
    if (path->depth == 0) {
        return false;
    }
    PathStep *leaf = &path->at[path->depth - 1];
    if (leaf->i > 0) {
        leaf->i--;
        return true;
    }
    return next_leaf(env, path, true);
}

bool tree_seek_nth(const SapEnv *env, uint32_t root, uint64_t n, Path *path)
{
    path->depth = 0;
    if (root == 0) {
        return false;
    }
    uint8_t *page = page_at(env, root);
    while (!page_is_leaf(page)) {
        uint32_t count = page_count(page);
        uint32_t i = 0;
        uint64_t rows = branch_rows(page, 0);
        while (n >= rows) {
            n -= rows;
            if (++i == count) {
                return false;
            }
            rows = branch_rows(page, i);
        }
        path->at[path->depth++] = (PathStep){page, i};
        page = page_at(env, branch_child(page, i));
    }
    if (n >= page_count(page)) {
        return false;
    }
    path->at[path->depth++] = (PathStep){page, (uint32_t)n};
    return true;
}

uint64_t tree_rank(const Path *path)
{
    uint64_t rank = 0;
    for (uint32_t level = 0; level + 1 < path->depth; level++) {
        const PathStep *step = &path->at[level];
        for (uint32_t i = 0; i < step->i; i++) {
            rank += branch_rows(step->page, i);
        }
    }
    return path->depth == 0 ? 0 : rank + path->at[path->depth - 1].i;
}
