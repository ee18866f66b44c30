/* leaf.c - changing leaves. See node.h. */
#include "common/assert.h"
#include "sapling/node.h"

static uint32_t head_width(const uint8_t *page)
{
    return page_is_plain(page) ? 0 : 4;
}

static uint32_t cell_size(const LeafRow *row)
{
    return CELL_HEADER + row->key_len + row->stored;
}

uint32_t leaf_row_size(const uint8_t *page, const LeafRow *row)
{
    return head_width(page) + 2 + cell_size(row);
}

bool leaf_fits(const uint8_t *page, uint32_t row_size, bool *compact_out)
{
    uint32_t end = PAGE_HEADER + (head_width(page) + 2) * page_count(page);
    uint32_t gap = page_upper(page) - end;
    *compact_out = row_size > gap;
    return row_size <= gap + page_dead(page);
}

static void set_head(uint8_t *page, uint32_t i, const uint8_t *key, uint32_t key_len)
{
    uint32_t p = page_prefix(page);
    SAP_ASSERT(p <= key_len);
    store_u32le(page + PAGE_HEADER + (size_t)4 * i, load_head_be(key + p, key_len - p));
}

static void set_slot(uint8_t *page, uint32_t i, uint32_t offset)
{
    store_u16le(page + PAGE_HEADER + (size_t)head_width(page) * page_count(page) + (size_t)2 * i,
                (uint16_t)offset);
}

/* Writes the row below the other cells and returns its offset. */
static uint32_t place_cell(uint8_t *page, const LeafRow *row)
{
    uint32_t offset = page_upper(page) - cell_size(row);
    uint8_t *cell = page + offset;
    store_u16le(cell, (uint16_t)row->key_len);
    store_u16le(cell + 2, row->val_code);
    if (row->key_len > 0) {
        memcpy(cell + CELL_HEADER, row->key, row->key_len);
    }
    if (row->val != NULL && row->stored > 0) {
        memcpy(cell + CELL_HEADER + row->key_len, row->val, row->stored);
    }
    page_set(page, PAGE_UPPER, offset);
    if (row->val_code == CELL_VAL_ELSEWHERE) {
        page_set_flags(page, page_flags(page) | PAGE_OWNS_RUNS);
    }
    return offset;
}

/* Sets the prefix, and the heads of all rows from it. */
static void set_prefix(uint8_t *page, uint32_t prefix)
{
    page_set(page, PAGE_PREFIX, prefix);
    for (uint32_t i = 0; i < page_count(page); i++) {
        LeafRow row = leaf_row(page, i);
        set_head(page, i, row.key, row.key_len);
    }
}

/* A key that becomes the first or last row may not share the prefix; one in the middle does, as its
 * neighbours do. */
static void admit_key(uint8_t *page, uint32_t i, const LeafRow *row)
{
    uint32_t n = page_count(page);
    if (n == 0) {
        page_set(page, PAGE_PREFIX, row->key_len);
        return;
    }
    uint32_t p = page_prefix(page);
    if (p == 0 || (i > 0 && i < n)) {
        return;
    }
    uint32_t most = p < row->key_len ? p : row->key_len;
    uint32_t common = (uint32_t)bytes_common_prefix(row->key, leaf_row(page, 0).key, most);
    if (common < p) {
        set_prefix(page, common);
    }
}

uint8_t *leaf_insert(uint8_t *page, uint32_t i, const LeafRow *row)
{
    uint32_t n = page_count(page);
    uint32_t hw = head_width(page);
    bool compact = false;
    SAP_ASSERT(i <= n && leaf_fits(page, leaf_row_size(page, row), &compact) && !compact);
    if (hw > 0) {
        admit_key(page, i, row);
    }
    uint32_t offset = place_cell(page, row);
    const uint32_t widths[NODE_ARRAYS] = {hw, 2, 0, 0};
    node_arrays_open(page + PAGE_HEADER, widths, n, i);
    page_set(page, PAGE_COUNT, n + 1);
    if (hw > 0) {
        set_head(page, i, page + offset + CELL_HEADER, row->key_len);
    }
    set_slot(page, i, offset);
    return page + offset + CELL_HEADER + row->key_len;
}

void leaf_remove(uint8_t *page, uint32_t i)
{
    uint32_t n = page_count(page);
    SAP_ASSERT(i < n);
    LeafRow row = leaf_row(page, i);
    uint32_t offset = leaf_slot(page, i);
    if (offset == page_upper(page)) {
        page_set(page, PAGE_UPPER, offset + cell_size(&row));
    } else {
        page_set(page, PAGE_DEAD, page_dead(page) + cell_size(&row));
    }
    const uint32_t widths[NODE_ARRAYS] = {head_width(page), 2, 0, 0};
    node_arrays_close(page + PAGE_HEADER, widths, n, i);
    page_set(page, PAGE_COUNT, n - 1);
}

uint8_t *leaf_overwrite(uint8_t *page, uint32_t i, const LeafRow *row)
{
    LeafRow old = leaf_row(page, i);
    if (row->stored > old.stored) {
        return NULL;
    }
    uint8_t *cell = page + leaf_slot(page, i);
    uint8_t *val = cell + CELL_HEADER + old.key_len;
    store_u16le(cell + 2, row->val_code);
    if (row->val != NULL && row->stored > 0) {
        memmove(val, row->val, row->stored);
    }
    page_set(page, PAGE_DEAD, page_dead(page) + old.stored - row->stored);
    if (row->val_code == CELL_VAL_ELSEWHERE) {
        page_set_flags(page, page_flags(page) | PAGE_OWNS_RUNS);
    }
    return val;
}

/* ---- Rebuilding: begin with the final count, place each row, finish ---- */

static void build_begin(uint8_t *page, uint32_t page_size, uint32_t n)
{
    node_init(page, page_size, 0, page_flags(page) & ~(uint32_t)PAGE_OWNS_RUNS);
    page_set(page, PAGE_COUNT, n);
}

static uint8_t *build_row(uint8_t *page, uint32_t i, const LeafRow *row)
{
    uint32_t offset = place_cell(page, row);
    set_slot(page, i, offset);
    return page + offset + CELL_HEADER + row->key_len;
}

static void build_finish(uint8_t *page)
{
    uint32_t n = page_count(page);
    SAP_ASSERT(page_upper(page) >= PAGE_HEADER + (head_width(page) + 2) * n);
    if (page_is_plain(page) || n == 0) {
        return;
    }
    LeafRow first = leaf_row(page, 0);
    LeafRow last = leaf_row(page, n - 1);
    uint32_t most = first.key_len < last.key_len ? first.key_len : last.key_len;
    set_prefix(page, (uint32_t)bytes_common_prefix(first.key, last.key, most));
}

void leaf_compact(NodeScratch *scratch, uint8_t *page)
{
    node_copy(scratch->page, page, scratch->page_size);
    uint32_t n = page_count(page);
    build_begin(page, scratch->page_size, n);
    for (uint32_t i = 0; i < n; i++) {
        LeafRow row = leaf_row(scratch->page, i);
        build_row(page, i, &row);
    }
    build_finish(page);
}

void leaf_fill(uint8_t *page, uint32_t page_size, const LeafRow *rows, uint32_t n)
{
    build_begin(page, page_size, n);
    for (uint32_t i = 0; i < n; i++) {
        build_row(page, i, &rows[i]);
    }
    build_finish(page);
}

/* Row j of a leaf with one more row before old row i. */
static LeafRow row_with(const uint8_t *page, uint32_t i, const LeafRow *row, uint32_t j)
{
    return j == i ? *row : leaf_row(page, j < i ? j : j - 1);
}

/* How many of the n + 1 rows stay left, so that both sides fit and are as equal as can be. */
static uint32_t split_point(const uint8_t *page, uint32_t page_size, uint32_t i, const LeafRow *row)
{
    uint32_t n = page_count(page);
    uint32_t capacity = node_capacity(page_size);
    uint32_t total = node_used(page, page_size) + leaf_row_size(page, row);
    uint32_t left = 0;
    uint32_t best = 0;
    uint32_t best_larger = UINT32_MAX;
    for (uint32_t m = 1; m <= n; m++) {
        LeafRow last = row_with(page, i, row, m - 1);
        left += leaf_row_size(page, &last);
        uint32_t right = total - left;
        uint32_t larger = left > right ? left : right;
        if (larger <= capacity && larger < best_larger) {
            best = m;
            best_larger = larger;
        }
    }
    SAP_ASSERT(best > 0);
    return best;
}

uint8_t *leaf_split(NodeScratch *scratch, uint8_t *left, uint8_t *right, uint32_t i,
                    const LeafRow *row, bool append)
{
    uint32_t page_size = scratch->page_size;
    node_copy(scratch->page, left, page_size);
    uint32_t n = page_count(left) + 1;
    uint32_t m = append ? n - 1 : split_point(left, page_size, i, row);
    uint8_t *val = NULL;
    build_begin(left, page_size, m);
    build_begin(right, page_size, n - m);
    for (uint32_t j = 0; j < n; j++) {
        LeafRow from = row_with(scratch->page, i, row, j);
        uint8_t *at = j < m ? build_row(left, j, &from) : build_row(right, j - m, &from);
        if (j == i) {
            val = at;
        }
    }
    build_finish(left);
    build_finish(right);
    return val;
}

void leaf_merge(NodeScratch *scratch, uint8_t *into, const uint8_t *left, const uint8_t *right)
{
    node_copy(scratch->page, into, scratch->page_size);
    const uint8_t *sources[2] = {left == into ? scratch->page : left,
                                 right == into ? scratch->page : right};
    uint32_t left_count = page_count(left);
    uint32_t n = left_count + page_count(right);
    build_begin(into, scratch->page_size, n);
    for (uint32_t j = 0; j < n; j++) {
        LeafRow row =
            j < left_count ? leaf_row(sources[0], j) : leaf_row(sources[1], j - left_count);
        build_row(into, j, &row);
    }
    build_finish(into);
}

uint32_t row_separator(bool plain, const LeafRow *below, const LeafRow *above)
{
    if (plain) {
        return above->key_len;
    }
    uint32_t most = below->key_len < above->key_len ? below->key_len : above->key_len;
    return (uint32_t)bytes_common_prefix(below->key, above->key, most) + 1;
}

uint32_t leaf_separator(const uint8_t *left, const uint8_t *right, const uint8_t **sep_out)
{
    LeafRow below = leaf_row(left, page_count(left) - 1);
    LeafRow above = leaf_row(right, 0);
    *sep_out = above.key;
    return row_separator(page_is_plain(left), &below, &above);
}
