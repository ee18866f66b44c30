/* node.c - what leaves and branches have in common. */
#include "sapling/node.h"

#include "common/assert.h"
#include "common/mem.h"

enum {
    LEAF_ROW_FIXED = 4 + 2 + CELL_HEADER, /* head, slot and cell header */
    BRANCH_CHILD_FIXED = 4 + 4 + 2 + 8,   /* head, child, slot, count */
    BRANCH_SEP_FIXED = 2,
    PREFIX_PADDING = 3,
};

uint32_t node_capacity(uint32_t page_size)
{
    return page_size - PAGE_HEADER;
}

uint32_t node_max_key(uint32_t page_size)
{
    uint32_t capacity = node_capacity(page_size);
    uint32_t leaf = capacity / 2 - LEAF_ROW_FIXED - CELL_REF;
    uint32_t branch =
        (capacity - 3 * BRANCH_CHILD_FIXED - 2 * BRANCH_SEP_FIXED - PREFIX_PADDING) / 2;
    return leaf < branch ? leaf : branch;
}

bool node_val_inline(uint32_t page_size, uint32_t key_len, uint32_t val_len)
{
    uint32_t room = node_capacity(page_size) / 2 - LEAF_ROW_FIXED;
    return val_len <= room && key_len <= room - val_len;
}

/* Children of two pages and one more, at the least size of an entry. */
static size_t scratch_items(uint32_t page_size)
{
    return (size_t)page_size / (BRANCH_CHILD_FIXED - 4 - 6) * 2 + 2;
}

int node_scratch_init(NodeScratch *scratch, uint32_t page_size)
{
    NodeScratch made = {.page_size = page_size};
    made.page = (uint8_t *)mem_alloc(MEM_SCRATCH, page_size);
    made.items =
        (BranchItem *)mem_alloc(MEM_SCRATCH, scratch_items(page_size) * sizeof *made.items);
    made.sep[0] = (uint8_t *)mem_alloc(MEM_SCRATCH, page_size);
    made.sep[1] = (uint8_t *)mem_alloc(MEM_SCRATCH, page_size);
    if (made.page == NULL || made.items == NULL || made.sep[0] == NULL || made.sep[1] == NULL) {
        node_scratch_release(&made);
        return SAP_NOMEM;
    }
    *scratch = made;
    return SAP_OK;
}

void node_scratch_release(NodeScratch *scratch)
{
    uint32_t page_size = scratch->page_size;
    mem_free(MEM_SCRATCH, scratch->page, page_size);
    mem_free(MEM_SCRATCH, scratch->items, scratch_items(page_size) * sizeof *scratch->items);
    mem_free(MEM_SCRATCH, scratch->sep[0], page_size);
    mem_free(MEM_SCRATCH, scratch->sep[1], page_size);
    *scratch = (NodeScratch){0};
}

uint32_t node_arrays_end(const uint8_t *page)
{
    uint32_t n = page_count(page);
    if (page_is_leaf(page)) {
        return PAGE_HEADER + (page_is_plain(page) ? 2 : 6) * n;
    }
    return (uint32_t)(branch_counts(page) - page) + branch_count_width(page) * n;
}

uint32_t node_used(const uint8_t *page, uint32_t page_size)
{
    return node_arrays_end(page) - PAGE_HEADER + (page_size - page_upper(page)) - page_dead(page);
}

void node_init(uint8_t *page, uint32_t page_size, uint32_t level, uint32_t dbi_flags)
{
    store_u64le(page + PAGE_CHECKSUM, 0);
    page[PAGE_TYPE] = level == 0 ? PAGE_LEAF : PAGE_BRANCH;
    page[PAGE_LEVEL] = (uint8_t)level;
    page_set_flags(page, dbi_flags);
    page_set(page, PAGE_COUNT, 0);
    page_set(page, PAGE_PREFIX, 0);
    page_set(page, PAGE_UPPER, page_size);
    page_set(page, PAGE_DEAD, 0);
}

void node_copy(uint8_t *to, const uint8_t *from, uint32_t page_size)
{
    uint32_t upper = page_upper(from);
    uint32_t end = node_arrays_end(from);
    SAP_ASSERT(end <= upper && upper <= page_size);
    memcpy(to + PAGE_TYPE, from + PAGE_TYPE, end - PAGE_TYPE);
    memcpy(to + upper, from + upper, page_size - upper);
}

uint32_t node_runs_flag(const uint8_t *page)
{
    if (page_is_leaf(page)) {
        return (page_flags(page) & PAGE_OWNS_RUNS) != 0 ? CHILD_OWNS_RUNS : 0;
    }
    uint32_t flag = 0;
    for (uint32_t i = 0; i < page_count(page); i++) {
        flag |= branch_child_word(page, i) & CHILD_OWNS_RUNS;
    }
    return flag;
}

uint64_t node_rows(const uint8_t *page)
{
    if (page_is_leaf(page)) {
        return page_count(page);
    }
    uint64_t rows = 0;
    for (uint32_t i = 0; i < page_count(page); i++) {
        rows += branch_rows(page, i);
    }
    return rows;
}

void node_arrays_open(uint8_t *base, const uint32_t widths[NODE_ARRAYS], uint32_t n, uint32_t i)
{
    uint32_t before = widths[0] + widths[1] + widths[2] + widths[3];
    for (uint32_t k = NODE_ARRAYS; k-- > 0;) {
        uint32_t w = widths[k];
        before -= w;
        if (w == 0) {
            continue;
        }
        const uint8_t *from = base + (size_t)before * n;
        uint8_t *to = base + (size_t)before * (n + 1);
        memmove(to + (size_t)w * (i + 1), from + (size_t)w * i, (size_t)w * (n - i));
        if (to != from) {
            memmove(to, from, (size_t)w * i);
        }
    }
}

void node_arrays_close(uint8_t *base, const uint32_t widths[NODE_ARRAYS], uint32_t n, uint32_t i)
{
    uint32_t before = 0;
    for (uint32_t k = 0; k < NODE_ARRAYS; k++) {
        uint32_t w = widths[k];
        const uint8_t *from = base + (size_t)before * n;
        uint8_t *to = base + (size_t)before * (n - 1);
        if (to != from) {
            memmove(to, from, (size_t)w * i);
        }
        memmove(to + (size_t)w * i, from + (size_t)w * (i + 1), (size_t)w * (n - 1 - i));
        before += w;
    }
}
