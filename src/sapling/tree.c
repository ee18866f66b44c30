/* tree.c - reading the tree: seeking, stepping, counting. See tree.h. */
#include "sapling/tree.h"

#include "common/assert.h"
#include "sapling/dbfile.h"
#include "sapling/node_search.h"

int tree_refuse(const SapEnv *env, uint32_t pgno, const char *what)
{
    return env->file != NULL
               ? dbfile_report(env->file, SAP_CORRUPT, "damaged: page %u %s", pgno, what)
               : SAP_CORRUPT;
}

int tree_get(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key, uint32_t key_len,
             LeafRow *row_out)
{
    if (root == 0) {
        return SAP_NOTFOUND;
    }
    uint8_t *page = NULL;
    int rc = arena_load(env->arena, root, &page);
    while (sap_likely(rc == SAP_OK) && !page_is_leaf(page)) {
        rc = tree_child(env, page, branch_search(page, order, key, key_len), &page);
    }
    if (sap_unlikely(rc != SAP_OK)) {
        return rc;
    }
    bool exact = false;
    uint32_t i = leaf_search(page, order, key, key_len, &exact);
    if (!exact) {
        return SAP_NOTFOUND;
    }
    *row_out = leaf_row(page, i);
    return SAP_OK;
}

int tree_run_value(const SapEnv *env, const LeafRow *row, const void **val_out, uint32_t *len_out)
{
    uint8_t *run = NULL;
    int rc = arena_load(env->arena, row_run(row), &run);
    if (rc != SAP_OK) {
        return rc;
    }
    if (run[PAGE_TYPE] != PAGE_OVERFLOW || load_u32le(run + PAGE_RUN_LEN) != row_run_len(row)) {
        return tree_refuse(env, row_run(row), "is not the value that a row has there");
    }
    *val_out = run + PAGE_HEADER;
    *len_out = row_run_len(row);
    return SAP_OK;
}

int tree_seek(const SapEnv *env, uint32_t root, KeyOrder order, const uint8_t *key,
              uint32_t key_len, Path *path)
{
    path->depth = 0;
    if (root == 0) {
        return SAP_NOTFOUND;
    }
    uint8_t *page = NULL;
    int rc = arena_load(env->arena, root, &page);
    while (sap_likely(rc == SAP_OK) && !page_is_leaf(page)) {
        uint32_t i = branch_search(page, order, key, key_len);
        SAP_ASSERT(path->depth + 1 < TREE_MAX_DEPTH);
        path->at[path->depth++] = (PathStep){page, i};
        rc = tree_child(env, page, i, &page);
    }
    if (sap_unlikely(rc != SAP_OK)) {
        return rc;
    }
    bool exact = false;
    uint32_t i = leaf_search(page, order, key, key_len, &exact);
    path->at[path->depth++] = (PathStep){page, i};
    return exact ? SAP_OK : SAP_NOTFOUND;
}

/* Goes down from `page` to its first or last row. Fills steps[0 .. *count_out-1], of which there
 * are enough for what is left of the greatest depth. */
static int descend_edge(const SapEnv *env, uint8_t *page, bool last, PathStep *steps, uint32_t room,
                        uint32_t *count_out)
{
    for (uint32_t count = 0;;) {
        uint32_t i = last ? page_count(page) - 1 : 0;
        SAP_ASSERT(count < room);
        steps[count++] = (PathStep){page, i};
        if (page_is_leaf(page)) {
            *count_out = count;
            return SAP_OK;
        }
        int rc = tree_child(env, page, i, &page);
        if (rc != SAP_OK) {
            return rc;
        }
    }
}

static int root_edge(const SapEnv *env, uint32_t root, bool last, Path *path)
{
    path->depth = 0;
    if (root == 0) {
        return SAP_NOTFOUND;
    }
    uint8_t *page = NULL;
    int rc = arena_load(env->arena, root, &page);
    return rc == SAP_OK ? descend_edge(env, page, last, path->at, TREE_MAX_DEPTH, &path->depth)
                        : rc;
}

int tree_first(const SapEnv *env, uint32_t root, Path *path)
{
    return root_edge(env, root, false, path);
}

int tree_last(const SapEnv *env, uint32_t root, Path *path)
{
    return root_edge(env, root, true, path);
}

/* In a file: whether the rows of `lower` are below those of `upper`, by one of each. A tree in which
 * a leaf has two places would otherwise be walked for ever. */
static bool leaves_ascend(const SapEnv *env, const uint8_t *lower, const uint8_t *upper)
{
    if (env->file == NULL) {
        return true;
    }
    uint32_t dbi = page_flags(lower) & PAGE_DBI_MASK;
    KeyOrder order = dbi == ENV_CATALOG ? env->catalog.order : env->tables[dbi].order;
    LeafRow below = leaf_row(lower, page_count(lower) - 1);
    LeafRow above = leaf_row(upper, 0);
    return key_compare(order, below.key, below.key_len, above.key, above.key_len) < 0;
}

/* From the leaf's edge to the neighbouring leaf. */
static int next_leaf(const SapEnv *env, Path *path, bool back)
{
    uint32_t level = path->depth - 1;
    for (; level > 0; level--) {
        const PathStep *step = &path->at[level - 1];
        if (back ? step->i > 0 : step->i + 1 < page_count(step->page)) {
            break;
        }
    }
    if (level == 0) {
        return SAP_NOTFOUND;
    }
    PathStep *step = &path->at[level - 1];
    uint32_t i = back ? step->i - 1 : step->i + 1;
    /* While this leaf is read, the one after it comes nearer. */
    uint32_t ahead = back ? i - 1 : i + 1;
    if (ahead < page_count(step->page) && level + 1 == path->depth) {
        tree_prefetch(arena_peek(env->arena, branch_child(step->page, ahead)));
    }
    PathStep below[TREE_MAX_DEPTH];
    uint32_t count = 0;
    uint8_t *child = NULL;
    int rc = tree_child(env, step->page, i, &child);
    if (rc == SAP_OK) {
        rc = descend_edge(env, child, back, below, TREE_MAX_DEPTH - level, &count);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    const uint8_t *leaf = below[count - 1].page;
    const uint8_t *here = path->at[path->depth - 1].page;
    const uint8_t *lower = back ? leaf : here;
    const uint8_t *upper = back ? here : leaf;
    if (!leaves_ascend(env, lower, upper)) {
        return tree_refuse(env, page_no(leaf), "has rows that belong elsewhere");
    }
    step->i = i;
    for (uint32_t k = 0; k < count; k++) {
        path->at[level + k] = below[k];
    }
    path->depth = level + count;
    uint32_t rows = page_count(leaf);
    for (uint32_t k = 0; k <= TREE_ROWS_AHEAD && k < rows; k++) {
        __builtin_prefetch(leaf + leaf_slot(leaf, back ? rows - 1 - k : k));
    }
    return SAP_OK;
}

int tree_settle(const SapEnv *env, Path *path)
{
    if (path->depth == 0) {
        return SAP_NOTFOUND;
    }
    return path_on_row(path) ? SAP_OK : next_leaf(env, path, false);
}

int tree_next(const SapEnv *env, Path *path)
{
    if (path->depth == 0) {
        return SAP_NOTFOUND;
    }
    return tree_next_in_leaf(path) ? SAP_OK : next_leaf(env, path, false);
}

int tree_prev(const SapEnv *env, Path *path)
{
    if (path->depth == 0) {
        return SAP_NOTFOUND;
    }
    PathStep *leaf = &path->at[path->depth - 1];
    if (leaf->i > 0) {
        leaf->i--;
        return SAP_OK;
    }
    return next_leaf(env, path, true);
}

int tree_seek_nth(const SapEnv *env, uint32_t root, uint64_t n, Path *path)
{
    path->depth = 0;
    if (root == 0) {
        return SAP_NOTFOUND;
    }
    uint8_t *page = NULL;
    int rc = arena_load(env->arena, root, &page);
    while (rc == SAP_OK && !page_is_leaf(page)) {
        uint32_t count = page_count(page);
        uint32_t i = 0;
        uint64_t rows = branch_rows(page, 0);
        while (n >= rows) {
            n -= rows;
            if (++i == count) {
                return SAP_NOTFOUND;
            }
            rows = branch_rows(page, i);
        }
        path->at[path->depth++] = (PathStep){page, i};
        rc = tree_child(env, page, i, &page);
    }
    if (rc == SAP_OK && n >= page_count(page)) {
        rc = SAP_NOTFOUND;
    }
    if (rc == SAP_OK) {
        path->at[path->depth++] = (PathStep){page, (uint32_t)n};
    }
    return rc;
}

void tree_read_path(const SapEnv *env, Path *path)
{
    for (uint32_t level = 0; level < path->depth; level++) {
        path->at[level].page = arena_readable(env->arena, path->at[level].page);
    }
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
