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

static bool lies_in(const SapEnv *env, const uint8_t *at, const uint8_t *page)
{
    return (uintptr_t)at - (uintptr_t)page < env->page_size;
}

/* A caller may well pass a key or value that it got from this tree: bytes of the leaf where it is
 * read. They become the same bytes where it is written, so that overlaps show in the addresses. */
static LeafRow writable_alias(const SapEnv *env, const uint8_t *leaf, const LeafRow *row)
{
    const uint8_t *seen = leaf + env->arena->view;
    LeafRow same = *row;
    if (lies_in(env, row->key, seen)) {
        same.key = leaf + (row->key - seen);
    }
    if (lies_in(env, row->val, seen)) {
        same.val = leaf + (row->val - seen);
    }
    return same;
}

/* Before cells of the leaf are moved, arguments that lie in it are moved out. */
static void unalias(SapEnv *env, const uint8_t *leaf, LeafRow *row)
{
    if (lies_in(env, row->key, leaf)) {
        memcpy(env->alias, row->key, row->key_len);
        row->key = env->alias;
    }
    if (lies_in(env, row->val, leaf)) {
        memcpy(env->alias + env->page_size, row->val, row->stored);
        row->val = env->alias + env->page_size;
    }
}

/* Makes every page of the path the level's own, and writable. */
static int touch_path(SapTxnCtx *txn, Table *table, Path *path)
{
    SapEnv *env = txn->env;
    for (uint32_t level = 0; level < path->depth; level++) {
        uint8_t *page = path->at[level].page;
        if (page_birth(page) >= txn->level.stamp) {
            path->at[level].page = arena_writable(env->arena, page);
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
        pager_free(&env->pager, &txn->level, page_no(page), 1);
    }
    return SAP_OK;
}

/* Whether the branch above the leaf counts its rows: other counts cannot go wrong by overflowing. */
static bool leaf_is_counted(const Path *path)
{
    if (path->depth < 2) {
        return true;
    }
    const PathStep *parent = &path->at[path->depth - 2];
    return branch_rows(parent->page, parent->i) == page_count(path->at[path->depth - 1].page);
}

int tree_own_path(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path)
{
    if (sap_unlikely(!leaf_is_counted(path))) {
        return tree_refuse(txn->env, page_no(path->at[path->depth - 1].page),
                           "has another number of rows than the page above it says");
    }
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
    uint32_t pages = run_pages(env->arena->stride, val_len);
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
        pager_free(&txn->env->pager, &txn->level, row_run(row),
                   run_pages(txn->env->arena->stride, row_run_len(row)));
    }
}

/* ---- Counts and flags on the way up --------------------------------------------------------- */

static void add_rows(Path *path, int64_t delta)
{
    for (uint32_t level = 0; level + 1 < path->depth; level++) {
        PathStep *step = &path->at[level];
        uint64_t rows = branch_rows(step->page, step->i);
        branch_set_rows(step->page, step->i, rows + (uint64_t)delta);
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

static SepRef row_sep(const uint8_t *leaf, uint32_t i)
{
    LeafRow row = leaf_row(leaf, i);
    return (SepRef){.rest = row.key, .rest_len = row.key_len};
}

/* Before a split: whether each page of the path keeps to the separators above it, as those that the
 * split makes then do. Pages of a file are ordered in themselves, no more is known of them; and
 * pages with an order of their own do not rely on it. */
static bool path_is_ordered(const Path *path)
{
    SepRef lo = {0};
    SepRef hi = {0};
    bool has_lo = false;
    bool has_hi = false;
    uint8_t lo_head[SEP_IN_HEAD];
    uint8_t hi_head[SEP_IN_HEAD];
    for (uint32_t level = 0; level < path->depth; level++) {
        const uint8_t *page = path->at[level].page;
        uint32_t i = path->at[level].i;
        uint32_t n = page_count(page);
        uint8_t in_head[SEP_IN_HEAD];
        if (page_is_plain(page)) {
            return true;
        }
        if (page_is_leaf(page)) {
            return (!has_lo || sep_compare(lo, row_sep(page, 0)) <= 0) &&
                   (!has_hi || sep_compare(row_sep(page, n - 1), hi) < 0);
        }
        if (n > 1 && ((has_lo && sep_compare(lo, branch_sep(page, 1, in_head)) >= 0) ||
                      (has_hi && sep_compare(branch_sep(page, n - 1, in_head), hi) >= 0))) {
            return false;
        }
        if (i > 0) {
            lo = branch_sep(page, i, lo_head);
            has_lo = true;
        }
        if (i + 1 < n) {
            hi = branch_sep(page, i + 1, hi_head);
            has_hi = true;
        }
    }
    return true;
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
    if (env->file != NULL && !path_is_ordered(path)) {
        return tree_refuse(env, page_no(leaf), "has rows that belong elsewhere");
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
    place_in_leaf(txn, table, path, writable_alias(txn->env, path->at[path->depth - 1].page, row),
                  change);
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
    LeafRow now = writable_alias(txn->env, leaf->page, row);
    change->val = leaf_overwrite(leaf->page, leaf->i, &now);
    if (change->val == NULL) {
        rc = prepare_leaf(txn, path, row, leaf_row_size(leaf->page, &old));
        if (rc != SAP_OK) {
            return rc;
        }
        unalias(txn->env, leaf->page, &now);
        leaf_remove(leaf->page, leaf->i);
        place_in_leaf(txn, table, path, now, change);
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

/* Whether the two neighbours together are in order, of which nothing is known in a file. */
static bool pair_is_ordered(const SapEnv *env, const uint8_t *left, const uint8_t *right,
                            SepRef sep)
{
    if (env->file == NULL || page_is_plain(left)) {
        return true;
    }
    uint32_t n = page_count(left);
    if (page_is_leaf(left)) {
        return sep_compare(row_sep(left, n - 1), row_sep(right, 0)) < 0;
    }
    uint8_t in_head[SEP_IN_HEAD];
    return (n == 1 || sep_compare(branch_sep(left, n - 1, in_head), sep) < 0) &&
           (page_count(right) == 1 || sep_compare(sep, branch_sep(right, 1, in_head)) < 0);
}

/* Makes `page` (one of the two, and the level's own) hold both neighbours, if they fit. */
static bool merge_pair(SapEnv *env, uint8_t *page, const uint8_t *left, const uint8_t *right,
                       const PathStep *parent, uint32_t right_index)
{
    uint8_t in_head[SEP_IN_HEAD];
    SepRef sep = branch_sep(parent->page, right_index, in_head);
    if (!pair_is_ordered(env, left, right, sep)) {
        return false;
    }
    if (page_is_leaf(page)) {
        if (node_used(left, env->page_size) + node_used(right, env->page_size) >
            node_capacity(env->page_size)) {
            return false;
        }
        leaf_merge(&env->scratch, page, left, right);
        return true;
    }
    return branch_merge(&env->scratch, page, left, right, sep);
}

/* Merges the page at `level` with a neighbour under the same parent, if that can be read. */
static bool merge_with_sibling(SapTxnCtx *txn, Path *path, uint32_t level)
{
    SapEnv *env = txn->env;
    PathStep *parent = &path->at[level - 1];
    uint8_t *page = path->at[level].page;
    uint32_t i = parent->i;
    if (i + 1 < page_count(parent->page)) {
        uint8_t *right = NULL;
        if (tree_child(env, parent->page, i + 1, &right) == SAP_OK &&
            merge_pair(env, page, page, right, parent, i + 1)) {
            branch_set_rows(parent->page, i, node_rows(page));
            branch_set_child(parent->page, i, page_no(page) | node_runs_flag(page));
            branch_remove(parent->page, i + 1);
            pager_free(&env->pager, &txn->level, page_no(right), 1);
            return true;
        }
    }
    if (i > 0) {
        uint8_t *left = NULL;
        if (tree_child(env, parent->page, i - 1, &left) == SAP_OK &&
            merge_pair(env, page, left, page, parent, i)) {
            branch_set_rows(parent->page, i - 1, node_rows(page));
            branch_set_child(parent->page, i - 1, page_no(page) | node_runs_flag(page));
            branch_remove(parent->page, i);
            pager_free(&env->pager, &txn->level, page_no(left), 1);
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
        pager_free(&txn->env->pager, &txn->level, page_no(path->at[level].page), 1);
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

/* A root with one child is replaced by it, if that can be read. */
static bool collapse_root(SapTxnCtx *txn, Table *table)
{
    SapEnv *env = txn->env;
    bool collapsed = false;
    const uint8_t *root = pager_page(&env->pager, table->tree.root);
    while (!page_is_leaf(root) && page_count(root) == 1) {
        uint8_t *child = NULL;
        if (tree_child(env, root, 0, &child) != SAP_OK) {
            break;
        }
        table->tree.root = page_no(child);
        pager_free(&env->pager, &txn->level, page_no(root), 1);
        root = child;
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
    uint32_t owned = 0; /* the upper levels: a page is never owned without its parent */
    for (; owned < path->depth && page_birth(path->at[owned].page) >= txn->level.stamp; owned++) {
        path->at[owned].page = arena_writable(env->arena, path->at[owned].page);
    }
    for (uint32_t level = owned; level-- > 1;) {
        if (is_underfull(env, path->at[level].page) && scratch_ensure(env) == SAP_OK) {
            (void)merge_with_sibling(txn, path, level);
        }
    }
    (void)collapse_root(txn, table);
}

int tree_delete(SapTxnCtx *txn, uint32_t dbi, Table *table, Path *path, TreeChange *change)
{
    SapEnv *env = txn->env;
    *change = (TreeChange){0};
    /* What this takes now, the commit gives back, and more. */
    bool before = pager_use_rescue(&env->pager, true);
    int rc = tree_own_path(txn, dbi, table, path);
    pager_use_rescue(&env->pager, before);
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
                arena_free_run(env->arena, row_run(&row),
                               run_pages(env->arena->stride, row_run_len(&row)));
            }
        }
    }
    arena_free_run(env->arena, root, 1);
}
