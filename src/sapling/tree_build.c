/* tree_build.c - building a tree bottom-up from rows in order.
 *
 * Rows are collected until a leaf is full, then written to it in one go; the leaf joins the level
 * above, which does the same with children. Each level holds what does not fill a page yet. At the
 * end what is left becomes the last page of each level, up to the one page that is the root. */
#include "sapling/tree_build.h"

#include "common/assert.h"
#include "common/mem.h"

static size_t max_rows(uint32_t page_size)
{
    return page_size / (CELL_HEADER + 2) + 1;
}

static size_t max_children(uint32_t page_size)
{
    return page_size / 8 + 2;
}

/* Pages of a write level stay where they are. */
static int level_page_make(void *ctx, uint8_t **page_out)
{
    SapTxnCtx *txn = (SapTxnCtx *)ctx;
    return pager_alloc(&txn->env->pager, &txn->level, 1, page_out);
}

static int level_page_done(void *ctx)
{
    (void)ctx;
    return SAP_OK;
}

int tree_build_begin(TreeBuild *build, SapTxnCtx *txn, const Table *table)
{
    BuildPages pages = {.make = level_page_make, .done = level_page_done, .ctx = txn};
    int rc = tree_build_begin_pages(build, txn->env->page_size, table, &pages);
    build->passing = false;
    return rc;
}

int tree_build_begin_pages(TreeBuild *build, uint32_t page_size, const Table *table,
                           const BuildPages *pages)
{
    *build = (TreeBuild){.pages = *pages,
                         .passing = true,
                         .page_size = page_size,
                         .page_flags = table->page_flags,
                         .plain = table->order.cmp != NULL};
    build->row_capacity = max_rows(page_size);
    build->rows = (LeafRow *)mem_alloc(MEM_SCRATCH, build->row_capacity * sizeof *build->rows);
    build->kept = (uint8_t *)mem_alloc(MEM_SCRATCH, page_size);
    if (build->rows == NULL || build->kept == NULL) {
        tree_build_release(build);
        return SAP_NOMEM;
    }
    return SAP_OK;
}

void tree_build_release(TreeBuild *build)
{
    uint32_t page_size = build->page_size;
    mem_free(MEM_SCRATCH, build->rows, build->row_capacity * sizeof *build->rows);
    mem_free(MEM_SCRATCH, build->kept, page_size);
    for (uint32_t i = 0; i < build->level_count; i++) {
        mem_free(MEM_SCRATCH, build->levels[i].items, max_children(page_size) * sizeof(BranchItem));
    }
    build->level_count = 0;
}

static int node_make(TreeBuild *build, uint32_t level, uint8_t **page_out)
{
    int rc = build->pages.make(build->pages.ctx, page_out);
    if (rc == SAP_OK) {
        node_init(*page_out, build->page_size, level, build->page_flags);
    }
    return rc;
}

static int level_push(TreeBuild *build, uint32_t level, const BranchItem *item);

/* Writes the children collected on `level` to a page and pushes it one level up. */
static int level_flush(TreeBuild *build, uint32_t level)
{
    BuildLevel *at = &build->levels[level];
    uint8_t *page = NULL;
    int rc = node_make(build, level + 1, &page);
    if (rc != SAP_OK) {
        return rc;
    }
    branch_fill(page, build->page_size, at->items, at->count);
    BranchItem item = {.sep = at->items[0].sep,
                       .child_word = page_no(page) | node_runs_flag(page),
                       .rows = node_rows(page)};
    at->count = 0;
    rc = build->pages.done(build->pages.ctx);
    return rc == SAP_OK ? level_push(build, level + 1, &item) : rc;
}

static int level_open(TreeBuild *build, uint32_t level)
{
    if (level < build->level_count) {
        return SAP_OK;
    }
    if (level + 1 >= TREE_MAX_DEPTH) {
        return SAP_FULL;
    }
    BranchItem *items =
        (BranchItem *)mem_alloc(MEM_SCRATCH, max_children(build->page_size) * sizeof *items);
    if (items == NULL) {
        return SAP_NOMEM;
    }
    build->levels[build->level_count++] = (BuildLevel){.items = items};
    return SAP_OK;
}

/* Adds a node of `level` to those waiting for a parent. */
static int level_push(TreeBuild *build, uint32_t level, const BranchItem *item)
{
    int rc = level_open(build, level);
    if (rc != SAP_OK) {
        return rc;
    }
    BuildLevel *at = &build->levels[level];
    uint32_t capacity = node_capacity(build->page_size);
    at->items[at->count++] = *item;
    /* The bound, without any prefix cut off, is cheap to keep; beyond it the size must be asked for
     * each time, as a separator may shorten the prefix of all. */
    at->bound += branch_item_bound(level + 1, build->plain, item);
    if (at->bound <= capacity ||
        branch_items_size(level + 1, build->plain, at->items, at->count) <= capacity) {
        return SAP_OK;
    }
    at->count--;
    rc = level_flush(build, level);
    if (rc != SAP_OK) {
        return rc;
    }
    at->items[0] = *item;
    at->count = 1;
    at->bound = branch_item_bound(level + 1, build->plain, item);
    return SAP_OK;
}

/* Writes the rows collected to a leaf. */
static int leaf_flush(TreeBuild *build)
{
    uint8_t *page = NULL;
    int rc = node_make(build, 0, &page);
    if (rc != SAP_OK) {
        return rc;
    }
    leaf_fill(page, build->page_size, build->rows, build->row_count);
    BranchItem item = {.child_word = page_no(page) | node_runs_flag(page),
                       .rows = build->row_count};
    LeafRow first = build->passing ? build->rows[0] : leaf_row(page, 0);
    if (build->leaf_count > 0) {
        item.sep.rest = first.key;
        item.sep.rest_len = row_separator(build->plain, &build->last, &first);
    }
    uint32_t last = build->row_count - 1;
    build->last = build->passing ? build->rows[last] : leaf_row(page, last);
    build->leaf_count++;
    rc = build->pages.done(build->pages.ctx);
    if (rc == SAP_OK) {
        rc = level_push(build, 0, &item);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    build->kept_len = 0;
    build->row_count = 0;
    build->row_bytes = 0;
    return SAP_OK;
}

static const uint8_t *keep(TreeBuild *build, const uint8_t *bytes, uint32_t len)
{
    uint8_t *to = build->kept + build->kept_len;
    SAP_ASSERT(build->kept_len + len <= build->page_size);
    memcpy(to, bytes, len);
    build->kept_len += len;
    return to;
}

int tree_build_add(TreeBuild *build, const LeafRow *row, bool copy)
{
    uint32_t size = (build->plain ? 2u : 6u) + CELL_HEADER + row->key_len + row->stored;
    SAP_ASSERT(!copy || !build->passing);
    if (build->row_bytes + size > node_capacity(build->page_size)) {
        int rc = leaf_flush(build);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    SAP_ASSERT(build->row_count < build->row_capacity);
    LeafRow *to = &build->rows[build->row_count++];
    *to = *row;
    if (copy && row->key_len > 0) {
        to->key = keep(build, row->key, row->key_len);
    }
    if ((copy && row->stored > 0) || row->val_code == CELL_VAL_ELSEWHERE) {
        to->val = keep(build, row->val, row->stored);
    }
    build->row_bytes += size;
    build->total++;
    return SAP_OK;
}

int tree_build_finish(TreeBuild *build, TreeState *tree_out)
{
    *tree_out = (TreeState){.entries = build->total};
    int rc = build->row_count > 0 ? leaf_flush(build) : SAP_OK;
    for (uint32_t level = 0; rc == SAP_OK && level < build->level_count; level++) {
        const BuildLevel *at = &build->levels[level];
        bool top = level + 1 == build->level_count;
        if (top && at->count == 1) {
            tree_out->root = at->items[0].child_word & ~CHILD_OWNS_RUNS;
            break;
        }
        if (at->count > 0) {
            rc = level_flush(build, level);
        }
    }
    return rc;
}
