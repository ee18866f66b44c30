/* tree_write.c - changing the tree. See tree.h.
 *
 * Every change goes through the same stations: save the root for an undo, make the pages of the
 * path the level's own, get all memory that the change can need, then change; the last step
 * cannot fail. */
#include "common/assert.h"
#include "common/mem.h"
#include "sapling/tree.h"

/* ---- Memory in advance ---------------------------------------------------------------------- */

static int scratch_ensure(SapEnv *env)
{
    if (env->alias == NULL) {
        env->alias = (uint8_t *)mem_alloc(MEM_SCRATCH, (size_t)2 * env->page_size);
        if (env->alias == NULL) {
            return SAP_NOMEM;
        }
    }
    return env->scratch.page != NULL ? SAP_OK : node_scratch_init(&env->scratch, env->page_size);
}

/* A caller may well pass a key or value that it got from this tree. Before cells of the leaf are
 * moved, such arguments are moved out of it. */
static void unalias(SapEnv *env, const uint8_t *leaf, LeafRow *row)
{
    uintptr_t from = (uintptr_t)leaf;
    uintptr_t to = from + env->page_size;
    if ((uintptr_t)row->key >= from && (uintptr_t)row->key < to) {
        memcpy(env->alias, row->key, row->key_len);
        row->key = env->alias;
    }
    if ((uintptr_t)row->val >= from && (uintptr_t)row->val < to) {
        memcpy(env->alias + env->page_size, row->val, row->stored);
        row->val = env->alias + env->page_size;
    }
}

/* Makes every page of the path the level's own. */
static int touch_path(SapTxnCtx *txn, Table *table, Path *path)
{
    SapEnv *env = txn->env;
    for (uint32_t level = 0; level < path->depth; level++) {
        uint8_t *page = path->at[level].page;
        if (page_birth(page) >= txn->level.stamp) {
            continue;
        }
        uint8_t *copy = NULL;
        int rc = pager_alloc(&env->pager, &txn->level, 1, &copy);
        if (rc != SAP_OK) {
            return rc;
        }
        node_copy(copy, page, env->page_size);
        if (level == 0) {
            table->tree.root = page_no(copy);
        } else {
            PathStep *parent = &path->at[level - 1];
            uint32_t flag = branch_child_word(parent->page, parent->i) & CHILD_OWNS_RUNS;
            branch_set_child(parent->page, parent->i, page_no(copy) | flag);
        }
        path->at[level].page = copy;
        pager_free(&env->pager, &txn->level, page_no(page));
    }
    return SAP_OK;
}

int tree_own_path(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path)
{
    int rc = table_save(txn, dbi, table);
    return rc == SAP_OK ? touch_path(txn, table, path) : rc;
}

/* ---- Values --------------------------------------------------------------------------------- */

int tree_make_row(SapTxnCtx *txn, uint32_t dbi, const void *key, uint32_t key_len, const void *val,
                  uint32_t val_len, LeafRow *row_out, uint8_t ref[CELL_REF])
{
    SapEnv *env = txn->env;
    LeafRow row = {.key = (const uint8_t *)key, .key_len = key_len};
    if (node_val_inline(env->page_size, key_len, val_len)) {
        row.val = (const uint8_t *)val;
        row.stored = val_len;
        row.val_code = (uint16_t)val_len;
        *row_out = row;
        return SAP_OK;
    }
    uint64_t bytes = (uint64_t)PAGE_HEADER + val_len;
    uint32_t stride = env->arena->stride;
    uint32_t pages = (uint32_t)((bytes + stride - 1) / stride);
    uint8_t *run = NULL;
    int rc = pager_alloc(&env->pager, &txn->level, pages, &run);
    if (rc != SAP_OK) {
        return rc;
    }
    run[PAGE_TYPE] = PAGE_OVERFLOW;
    run[PAGE_LEVEL] = 0;
    page_set_flags(run, dbi);
    store_u32le(run + PAGE_RUN_LEN, val_len);
    store_u32le(run + PAGE_RUN_PAGES, pages);
    memcpy(run + PAGE_HEADER, val, val_len);
    store_u32le(ref, page_no(run));
    store_u32le(ref + 4, val_len);
    row.val = ref;
    row.stored = CELL_REF;
    row.val_code = CELL_VAL_ELSEWHERE;
    *row_out = row;
    return SAP_OK;
}

void tree_drop_value(SapTxnCtx *txn, const LeafRow *row)
{
    if (row->val_code == CELL_VAL_ELSEWHERE) {
        pager_free(&txn->env->pager, &txn->level, load_u32le(row->val));
    }
}

/* ---- Counts and flags on the way up --------------------------------------------------------- */

static void add_rows(Path *path, int64_t delta)
{
    for (uint32_t level = 0; level + 1 < path->depth; level++) {
        PathStep *step = &path->at[level];
        uint64_t rows = branch_rows(step->page, step->i);
        branch_set_rows(step->page, step->i, (uint64_t)((int64_t)rows + delta));
    }
}

static void flag_runs(Path *path, const LeafRow *row)
{
    if (row->val_code != CELL_VAL_ELSEWHERE) {
        return;
    }
    for (uint32_t level = 0; level + 1 < path->depth; level++) {
        PathStep *step = &path->at[level];
        branch_set_child(step->page, step->i,
                         branch_child_word(step->page, step->i) | CHILD_OWNS_RUNS);
    }
}

static bool path_is_rightmost(const Path *path, uint32_t levels)
{
    for (uint32_t level = 0; level < levels; level++) {
        if (path->at[level].i + 1 != page_count(path->at[level].page)) {
            return false;
        }
    }
    return true;
}

/* ---- Splitting ------------------------------------------------------------------------------ */

static uint8_t *take_node(SapTxnCtx *txn, uint32_t level, uint32_t flags)
{
    uint8_t *page = NULL;
    int rc = pager_alloc(&txn->env->pager, &txn->level, 1, &page);
    SAP_ASSERT(rc == SAP_OK); /* reserved */
    node_init(page, txn->env->page_size, level, flags);
    return page;
}

static void grow_root(SapTxnCtx *txn, Table *table, uint8_t *left, const BranchItem *right)
{
    uint8_t *root = take_node(txn, page_level(left) + 1, table->page_flags);
    BranchItem first = {.child_word = page_no(left) | node_runs_flag(left),
                        .rows = node_rows(left)};
    branch_init_root(&txn->env->scratch, root, &first, right);
    table->tree.root = page_no(root);
}

/* Hangs `right`, the upper part of the split path->at[level].page, beside it; splits upwards. */
static void add_sibling(SapTxnCtx *txn, Table *table, Path *path, uint32_t level, uint8_t *right,
                        SepRef sep)
{
    NodeScratch *scratch = &txn->env->scratch;
    for (;;) {
        uint8_t *left = path->at[level].page;
        BranchItem item = {.sep = sep,
                           .child_word = page_no(right) | node_runs_flag(right),
                           .rows = node_rows(right)};
        if (level == 0) {
            grow_root(txn, table, left, &item);
            return;
        }
        PathStep *parent = &path->at[level - 1];
        branch_set_rows(parent->page, parent->i, node_rows(left));
        branch_set_child(parent->page, parent->i, page_no(left) | node_runs_flag(left));
        if (branch_insert(scratch, parent->page, parent->i + 1, &item)) {
            return;
        }
        bool append = path_is_rightmost(path, level);
        right = take_node(txn, page_level(parent->page), table->page_flags);
        sep = branch_split(scratch, parent->page, right, parent->i + 1, &item, append);
        level--;
    }
}

/* Puts the row before the path's row into the leaf, by splitting it if need be. All memory is
 * there: see prepare_leaf(). */
static void place_in_leaf(SapTxnCtx *txn, Table *table, Path *path, LeafRow row, TreeChange *change)
{
    SapEnv *env = txn->env;
    PathStep *leaf = &path->at[path->depth - 1];
    bool compact = false;
    if (leaf_fits(leaf->page, leaf_row_size(leaf->page, &row), &compact)) {
        if (compact) {
            unalias(env, leaf->page, &row);
            leaf_compact(&env->scratch, leaf->page);
        }
        change->val = leaf_insert(leaf->page, leaf->i, &row);
        return;
    }
    unalias(env, leaf->page, &row);
    bool append = leaf->i == page_count(leaf->page) && path_is_rightmost(path, path->depth - 1);
    uint8_t *right = take_node(txn, 0, table->page_flags);
    change->val = leaf_split(&env->scratch, leaf->page, right, leaf->i, &row, append);
    change->moved = true;
    SepRef sep = {0};
    sep.rest_len = leaf_separator(leaf->page, right, &sep.rest);
    add_sibling(txn, table, path, path->depth - 1, right, sep);
    pager_unreserve(&env->pager);
}

/* Gets the memory for place_in_leaf() when `freed` bytes of the leaf are given up first. */
static int prepare_leaf(SapTxnCtx *txn, const Path *path, const LeafRow *row, uint32_t freed)
{
    SapEnv *env = txn->env;
    const uint8_t *leaf = path->at[path->depth - 1].page;
    bool compact = false;
    uint32_t size = leaf_row_size(leaf, row);
    if (freed == 0 && leaf_fits(leaf, size, &compact) && !compact) {
        return SAP_OK;
    }
    int rc = scratch_ensure(env);
    if (rc != SAP_OK) {
        return rc;
    }
    if (node_used(leaf, env->page_size) - freed + size <= node_capacity(env->page_size)) {
        return SAP_OK;
    }
    if (path->depth + 1 >= TREE_MAX_DEPTH) {
        return SAP_FULL;
    }
    return pager_reserve(&env->pager, path->depth + 1);
}

/* ---- Insert and replace --------------------------------------------------------------------- */

static int insert_first(SapTxnCtx *txn, Table *table, Path *path, const LeafRow *row,
                        TreeChange *change)
{
    uint8_t *page = NULL;
    int rc = pager_alloc(&txn->env->pager, &txn->level, 1, &page);
    if (rc != SAP_OK) {
        return rc;
    }
    node_init(page, txn->env->page_size, 0, table->page_flags);
    change->val = leaf_insert(page, 0, row);
    path->depth = 1;
    path->at[0] = (PathStep){page, 0};
    table->tree = (TreeState){.root = page_no(page), .entries = 1};
    return SAP_OK;
}

int tree_insert(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, const LeafRow *row,
                TreeChange *change)
{
    *change = (TreeChange){0};
    int rc = tree_own_path(txn, dbi, table, path);
    if (rc != SAP_OK) {
        return rc;
    }
    if (table->tree.root == 0) {
        return insert_first(txn, table, path, row, change);
    }
    rc = prepare_leaf(txn, path, row, 0);
    if (rc != SAP_OK) {
        return rc;
    }
    add_rows(path, 1);
    flag_runs(path, row);
    table->tree.entries++;
    place_in_leaf(txn, table, path, *row, change);
    return SAP_OK;
}

int tree_replace(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, const LeafRow *row,
                 TreeChange *change)
{
    *change = (TreeChange){0};
    int rc = tree_own_path(txn, dbi, table, path);
    if (rc != SAP_OK) {
        return rc;
    }
    PathStep *leaf = &path->at[path->depth - 1];
    LeafRow old = leaf_row(leaf->page, leaf->i);
    uint8_t old_ref[CELL_REF] = {0};
    if (old.val_code == CELL_VAL_ELSEWHERE) {
        memcpy(old_ref, old.val, CELL_REF);
        old.val = old_ref;
    }
    flag_runs(path, row); /* now, as a split leaves the path behind; too often does no harm */
    change->val = leaf_overwrite(leaf->page, leaf->i, row);
    if (change->val == NULL) {
        rc = prepare_leaf(txn, path, row, leaf_row_size(leaf->page, &old));
        if (rc != SAP_OK) {
            return rc;
        }
        LeafRow apart = *row;
        unalias(txn->env, leaf->page, &apart);
        leaf_remove(leaf->page, leaf->i);
        place_in_leaf(txn, table, path, apart, change);
    }
    tree_drop_value(txn, &old);
    return SAP_OK;
}

/* ---- Delete --------------------------------------------------------------------------------- */

static bool is_underfull(const SapEnv *env, const uint8_t *page)
{
    return node_used(page, env->page_size) < node_capacity(env->page_size) / 4 ||
           (!page_is_leaf(page) && page_count(page) == 1);
}

/* Makes `page` (one of the two, and the level's own) hold both neighbours, if they fit. */
static bool merge_pair(SapEnv *env, uint8_t *page, const uint8_t *left, const uint8_t *right,
                       const PathStep *parent, uint32_t right_index)
{
    if (page_is_leaf(page)) {
        if (node_used(left, env->page_size) + node_used(right, env->page_size) >
            node_capacity(env->page_size)) {
            return false;
        }
        leaf_merge(&env->scratch, page, left, right);
        return true;
    }
    uint8_t in_head[SEP_IN_HEAD];
    SepRef sep = branch_sep(parent->page, right_index, in_head);
    return branch_merge(&env->scratch, page, left, right, sep);
}

/* Merges the page at `level` with a neighbour under the same parent. */
static bool merge_with_sibling(SapTxnCtx *txn, Path *path, uint32_t level)
{
    SapEnv *env = txn->env;
    PathStep *parent = &path->at[level - 1];
    uint8_t *page = path->at[level].page;
    uint32_t i = parent->i;
    if (i + 1 < page_count(parent->page)) {
        const uint8_t *right = pager_page(&env->pager, branch_child(parent->page, i + 1));
        if (merge_pair(env, page, page, right, parent, i + 1)) {
            branch_set_rows(parent->page, i, node_rows(page));
            branch_set_child(parent->page, i, page_no(page) | node_runs_flag(page));
            branch_remove(parent->page, i + 1);
            pager_free(&env->pager, &txn->level, page_no(right));
            return true;
        }
    }
    if (i > 0) {
        const uint8_t *left = pager_page(&env->pager, branch_child(parent->page, i - 1));
        if (merge_pair(env, page, left, page, parent, i)) {
            branch_set_rows(parent->page, i - 1, node_rows(page));
            branch_set_child(parent->page, i - 1, page_no(page) | node_runs_flag(page));
            branch_remove(parent->page, i);
            pager_free(&env->pager, &txn->level, page_no(left));
            return true;
        }
    }
    return false;
}

/* Removes the empty page at `level` and every branch that empties with it; the level that is left,
 * or depth if nothing is. */
static uint32_t remove_empty(SapTxnCtx *txn, Table *table, Path *path, uint32_t level)
{
    for (;;) {
        pager_free(&txn->env->pager, &txn->level, page_no(path->at[level].page));
        if (level == 0) {
            table->tree.root = 0;
            return path->depth;
        }
        level--;
        branch_remove(path->at[level].page, path->at[level].i);
        if (page_count(path->at[level].page) > 0) {
            return level;
        }
    }
}

/* A root with one child is replaced by it. */
static bool collapse_root(SapTxnCtx *txn, Table *table)
{
    Pager *pager = &txn->env->pager;
    bool collapsed = false;
    uint8_t *root = pager_page(pager, table->tree.root);
    while (!page_is_leaf(root) && page_count(root) == 1) {
        table->tree.root = branch_child(root, 0);
        pager_free(pager, &txn->level, page_no(root));
        root = pager_page(pager, table->tree.root);
        collapsed = true;
    }
    return collapsed;
}

bool tree_rebalance(SapTxnCtx *txn, Table *table, Path *path, uint32_t level)
{
    SapEnv *env = txn->env;
    bool moved = false;
    if (page_count(path->at[level].page) == 0) {
        moved = true;
        level = remove_empty(txn, table, path, level);
        if (level == path->depth) {
            return true;
        }
    }
    /* Merging saves room and is not needed: without memory for it, pages stay as they are. */
    for (; level > 0 && level < TREE_MAX_DEPTH; level--) {
        if (!is_underfull(env, path->at[level].page) || scratch_ensure(env) != SAP_OK ||
            !merge_with_sibling(txn, path, level)) {
            break;
        }
        moved = true;
    }
    return collapse_root(txn, table) || moved;
}

void tree_rebalance_owned(SapTxnCtx *txn, Table *table, Path *path)
{
    SapEnv *env = txn->env;
    for (uint32_t level = path->depth; level-- > 1;) {
        const uint8_t *page = path->at[level].page;
        if (page_birth(page) >= txn->level.stamp && is_underfull(env, page) &&
            scratch_ensure(env) == SAP_OK) {
            (void)merge_with_sibling(txn, path, level);
        }
    }
    (void)collapse_root(txn, table);
}

int tree_delete(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, TreeChange *change)
{
    SapEnv *env = txn->env;
    *change = (TreeChange){0};
    env->pager.rescue = true; /* what this takes now, the commit gives back, and more */
    int rc = tree_own_path(txn, dbi, table, path);
    env->pager.rescue = false;
    if (rc != SAP_OK) {
        return rc;
    }
    PathStep *leaf = &path->at[path->depth - 1];
    LeafRow old = leaf_row(leaf->page, leaf->i);
    tree_drop_value(txn, &old);
    leaf_remove(leaf->page, leaf->i);
    add_rows(path, -1);
    table->tree.entries--;
    change->moved = tree_rebalance(txn, table, path, path->depth - 1);
    return SAP_OK;
}

/* ---- The end -------------------------------------------------------------------------------- */

void tree_destroy(SapEnv *env, uint32_t root)
{
    if (root == 0) {
        return;
    }
    uint8_t *page = arena_page(env->arena, root);
    if (!page_is_leaf(page)) {
        for (uint32_t i = 0; i < page_count(page); i++) {
            tree_destroy(env, branch_child(page, i));
        }
    } else if ((page_flags(page) & PAGE_OWNS_RUNS) != 0) {
        for (uint32_t i = 0; i < page_count(page); i++) {
            LeafRow row = leaf_row(page, i);
            if (row.val_code == CELL_VAL_ELSEWHERE) {
                uint32_t run = load_u32le(row.val);
                arena_free_run(env->arena, run,
                               load_u32le(arena_page(env->arena, run) + PAGE_RUN_PAGES));
            }
        }
    }
    arena_free_run(env->arena, root, 1);
}
