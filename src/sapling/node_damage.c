/* node_damage.c - whether the bytes of a page are a node, before anything is done with them.
 *
 * A checksum tells that a page is as it was written, not who wrote it. What the rest of the engine
 * takes for granted in a page is looked at here, once, in time that grows with the page. */
#include "sapling/arena.h"
#include "sapling/node.h"
#include "sapling/node_search.h"

/* The cells of a page that were looked at so far. */
typedef struct Cells {
    const uint8_t *page;
    uint32_t page_size;
    uint32_t bytes;
    uint64_t taken[(SAP_MAX_PAGE_SIZE + 64) / 64]; /* one bit a byte; as much as the page needs */
} Cells;

static void cells_init(Cells *cells, const uint8_t *page, uint32_t page_size)
{
    cells->page = page;
    cells->page_size = page_size;
    cells->bytes = 0;
    memset(cells->taken, 0, ((size_t)page_size + 63) / 64 * sizeof cells->taken[0]);
}

/* Whether `size` bytes at `offset` lie where cells do. */
static bool cells_hold(const Cells *cells, uint32_t offset, uint32_t size)
{
    return offset >= page_upper(cells->page) && offset <= cells->page_size &&
           size <= cells->page_size - offset;
}

/* Two cells that share bytes would be overwritten by one another. False: a byte is another's. */
static bool cells_take(Cells *cells, uint32_t offset, uint32_t size)
{
    uint64_t other = 0;
    uint32_t end = offset + size;
    for (uint32_t at = offset; at < end;) {
        uint32_t next = (at | 63) + 1 < end ? (at | 63) + 1 : end;
        uint64_t bits = (UINT64_MAX >> (64 - (next - at))) << (at & 63);
        other |= cells->taken[at / 64] & bits;
        cells->taken[at / 64] |= bits;
        at = next;
    }
    cells->bytes += size;
    return other == 0;
}

static const char *cells_damage(const Cells *cells)
{
    return cells->bytes + page_dead(cells->page) == cells->page_size - page_upper(cells->page)
               ? NULL
               : "cells and dead bytes do not add up";
}

/* Of row i, whose cell is sound: its head, and that it is above the row before. */
static const char *leaf_order_damage(const uint8_t *page, uint32_t i, const LeafRow *row,
                                     const LeafRow *before)
{
    uint32_t p = page_prefix(page);
    if (row->key_len < p || memcmp(row->key, before->key, p) != 0) {
        return "a row lacks the prefix";
    }
    uint32_t head = heads_at(leaf_heads(page), i);
    if (head != load_head_be(row->key + p, row->key_len - p)) {
        return "a head is not that of its key";
    }
    if (i == 0) {
        return NULL;
    }
    uint32_t head_before = heads_at(leaf_heads(page), i - 1);
    bool above = head > head_before ||
                 (head == head_before &&
                  bytes_compare(before->key, before->key_len, row->key, row->key_len) < 0);
    return above ? NULL : "a row is not above the one before";
}

static const char *leaf_damage(const uint8_t *page, uint32_t page_size)
{
    Cells cells;
    cells_init(&cells, page, page_size);
    bool plain = page_is_plain(page);
    LeafRow before = {0};
    for (uint32_t i = 0; i < page_count(page); i++) {
        uint32_t slot = leaf_slot(page, i);
        if (!cells_hold(&cells, slot, CELL_HEADER)) {
            return "a cell lies outside the cells";
        }
        LeafRow row = leaf_row(page, i);
        uint32_t size = CELL_HEADER + row.key_len + row.stored;
        if (!cells_hold(&cells, slot, size)) {
            return "a cell lies outside the cells";
        }
        if (!cells_take(&cells, slot, size)) {
            return "two cells overlap";
        }
        if (row.key_len > node_max_key(page_size)) {
            return "a key is too long";
        }
        if (row.val_code == CELL_VAL_ELSEWHERE && (page_flags(page) & PAGE_OWNS_RUNS) == 0) {
            return "owns a run without saying so";
        }
        if (!plain) {
            const char *damage = leaf_order_damage(page, i, &row, i > 0 ? &before : &row);
            if (damage != NULL) {
                return damage;
            }
        }
        before = row;
    }
    return cells_damage(&cells);
}

/* Of separator i >= 1, whose cell, if it has one, is sound. */
static const char *branch_order_damage(const uint8_t *page, uint32_t i)
{
    uint8_t in_head[SEP_IN_HEAD];
    uint8_t in_head_before[SEP_IN_HEAD];
    SepRef sep = branch_sep(page, i, in_head);
    uint32_t head = heads_at(branch_heads(page), i);
    if (head != load_head_be(sep.rest, sep.rest_len)) {
        return "a head is not that of its separator";
    }
    if (i == 1) {
        return NULL;
    }
    uint32_t head_before = heads_at(branch_heads(page), i - 1);
    bool above =
        head > head_before ||
        (head == head_before && sep_compare(branch_sep(page, i - 1, in_head_before), sep) < 0);
    return above ? NULL : "a separator is not above the one before";
}

static const char *branch_damage(const uint8_t *page, uint32_t page_size)
{
    Cells cells;
    cells_init(&cells, page, page_size);
    bool plain = page_is_plain(page);
    for (uint32_t i = 1; i < page_count(page); i++) {
        uint32_t slot = load_u16le(branch_slots(page) + (size_t)2 * i);
        uint32_t len = slot;
        if (plain || slot > SEP_IN_HEAD) {
            if (!cells_hold(&cells, slot, 2)) {
                return "a separator lies outside the cells";
            }
            len = load_u16le(page + slot);
            if (!cells_hold(&cells, slot, 2 + len)) {
                return "a separator lies outside the cells";
            }
            if (!cells_take(&cells, slot, 2 + len)) {
                return "two cells overlap";
            }
        }
        if (page_prefix(page) + len > node_max_key(page_size)) {
            return "a separator is too long";
        }
        const char *damage = plain ? NULL : branch_order_damage(page, i);
        if (damage != NULL) {
            return damage;
        }
    }
    return cells_damage(&cells);
}

const char *node_damage(const uint8_t *page, uint32_t page_size)
{
    uint32_t level = page_level(page);
    if (page[PAGE_TYPE] != (level == 0 ? PAGE_LEAF : PAGE_BRANCH) || level > PAGE_MAX_LEVEL) {
        return "type and level do not agree";
    }
    if (page_count(page) == 0 || (page_is_plain(page) && page_prefix(page) != 0) ||
        page_upper(page) > page_size || node_arrays_end(page) > page_upper(page)) {
        return "count, prefix and bounds do not fit the page";
    }
    return level == 0 ? leaf_damage(page, page_size) : branch_damage(page, page_size);
}
