/* page.h - the bytes of a page: header, leaf, branch, overflow run.
 *
 * All integers little-endian. Every page begins with:
 *
 *   0  u64  checksum; written when the page goes to disk, never copied from page to page
 *   8  u64  birth: the stamp of the transaction level that made this page
 *   16 u32  its own page number
 *   20 u8   type: leaf 1, branch 2, overflow run 3
 *   21 u8   level: 0 for leaves, the children's plus 1 for branches
 *   22 u16  table in bits 0-10 (1024: the catalog), then the flags PAGE_PLAIN, PAGE_OWNS_RUNS
 *   24 u16  n: rows of a leaf, children of a branch
 *   26 u16  p: length of the prefix that all keys here share (not the longest, but valid)
 *   28 u16  upper: where the cells begin
 *   30 u16  dead: bytes between upper and the page's end that no cell uses
 *
 * Leaf, from 32: u32 head[n], u16 slot[n]; cells between upper and the end of the page.
 *   head[i] is the four key bytes after the prefix, big-endian as a number, zero-padded.
 *   slot[i] is the offset of cell i: u16 key length, u16 value length, key, value. A value length
 *   of 0xffff means that the value is elsewhere: u32 page number and u32 length of a run follow
 *   the key. Keys are whole, so that a key is one pointer into the page; the prefix only moves the
 *   heads on to bytes that tell keys apart.
 *
 * Branch, from 32: p prefix bytes padded to 4, u32 head[n], u32 child[n], u16 slot[n], count[n].
 *   Child i holds the keys k with separator[i] <= k < separator[i + 1]; separator 0 is minus
 *   infinity and not stored. The prefix is that of separators 1 .. n-1, and is cut off from them.
 *   slot[i] <= 4: the rest of the separator is the first slot[i] bytes of its head; otherwise it
 *   is the offset of a cell: u16 length, bytes (head included).
 *   child[i] has its top bit set if the subtree owns overflow runs (it may be set without cause).
 *   count[i] is the number of rows below child i: u16 where the children are leaves, else u64.
 *   Lookups do not touch it.
 *
 * Overflow run, from 24: u32 value length, u32 pages in the run; from 32: the value.
 *
 * With PAGE_PLAIN (tables with a comparator of their own) there are no heads and no prefix, and
 * separators are whole keys in cells.
 *
 * A branch has at least one child, a leaf at least one row; an empty table has no page. */
#ifndef SAPLING_SAPLING_PAGE_H
#define SAPLING_SAPLING_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/bytes.h"
#include "sapling/order.h"

enum {
    PAGE_CHECKSUM = 0,
    PAGE_BIRTH = 8,
    PAGE_NO = 16,
    PAGE_TYPE = 20,
    PAGE_LEVEL = 21,
    PAGE_DBI = 22,
    PAGE_COUNT = 24,
    PAGE_PREFIX = 26,
    PAGE_UPPER = 28,
    PAGE_DEAD = 30,
    PAGE_HEADER = 32,

    PAGE_RUN_LEN = 24,
    PAGE_RUN_PAGES = 28,
};

_Static_assert(PAGE_DEAD + 2 == PAGE_HEADER, "the header has no gap at its end");
_Static_assert(PAGE_RUN_PAGES + 4 == PAGE_HEADER, "a run's value follows its header");

enum { PAGE_LEAF = 1, PAGE_BRANCH = 2, PAGE_OVERFLOW = 3 };

enum { PAGE_MAX_LEVEL = 39 }; /* no tree grows higher */

enum {
    PAGE_DBI_MASK = 0x07ff,
    PAGE_OWNS_RUNS = 0x4000, /* leaf: some value is in an overflow run */
    PAGE_PLAIN = 0x8000,
};

enum {
    CELL_HEADER = 4, /* of a leaf cell */
    CELL_REF = 8,    /* run number and value length, in place of the value */
    SEP_IN_HEAD = 4, /* separators up to this length need no cell */
};

#define CELL_VAL_ELSEWHERE UINT16_C(0xffff)
#define CHILD_OWNS_RUNS    (UINT32_C(1) << 31)

/* Pages of `stride` bytes in the run of a value. */
static inline uint32_t run_pages(uint32_t stride, uint32_t val_len)
{
    return (uint32_t)(((uint64_t)PAGE_HEADER + val_len + stride - 1) / stride);
}

static inline uint64_t page_birth(const uint8_t *page)
{
    return load_u64le(page + PAGE_BIRTH);
}

static inline uint32_t page_no(const uint8_t *page)
{
    return load_u32le(page + PAGE_NO);
}

static inline uint32_t page_level(const uint8_t *page)
{
    return page[PAGE_LEVEL];
}

static inline bool page_is_leaf(const uint8_t *page)
{
    return page[PAGE_LEVEL] == 0;
}

static inline uint32_t page_flags(const uint8_t *page)
{
    return load_u16le(page + PAGE_DBI);
}

static inline bool page_is_plain(const uint8_t *page)
{
    return (page_flags(page) & PAGE_PLAIN) != 0;
}

static inline void page_set_flags(uint8_t *page, uint32_t flags)
{
    store_u16le(page + PAGE_DBI, (uint16_t)flags);
}

static inline uint32_t page_count(const uint8_t *page)
{
    return load_u16le(page + PAGE_COUNT);
}

static inline uint32_t page_prefix(const uint8_t *page)
{
    return load_u16le(page + PAGE_PREFIX);
}

static inline uint32_t page_upper(const uint8_t *page)
{
    return load_u16le(page + PAGE_UPPER);
}

static inline uint32_t page_dead(const uint8_t *page)
{
    return load_u16le(page + PAGE_DEAD);
}

/* Whether `child` can be a child of the branch: type, level, table and flags, which are one word. */
static inline bool page_is_child(const uint8_t *branch, const uint8_t *child)
{
    _Static_assert(PAGE_LEVEL == PAGE_TYPE + 1 && PAGE_DBI == PAGE_TYPE + 2, "one word");
    _Static_assert(PAGE_BRANCH - PAGE_LEAF == 1, "as the type changes below level 1");
    uint32_t word = load_u32le(branch + PAGE_TYPE);
    uint32_t expected = word - 0x100 - ((word & 0xff00) == 0x100 ? 1 : 0);
    return (load_u32le(child + PAGE_TYPE) & ~((uint32_t)PAGE_OWNS_RUNS << 16)) == expected;
}

static inline void page_set(uint8_t *page, uint32_t field, uint32_t value)
{
    store_u16le(page + field, (uint16_t)value);
}

/* ---- Leaf ----------------------------------------------------------------------------------- */

typedef struct LeafRow {
    const uint8_t *key;
    uint32_t key_len;
    const uint8_t *val; /* as stored: the value, or the reference to its run */
    uint32_t stored;    /* bytes at val */
    uint16_t val_code;  /* the cell's value length field */
} LeafRow;

static inline const uint8_t *leaf_heads(const uint8_t *page)
{
    return page + PAGE_HEADER;
}

static inline uint32_t leaf_slot(const uint8_t *page, uint32_t i)
{
    uint32_t heads = page_is_plain(page) ? 0 : 4 * page_count(page);
    return load_u16le(page + PAGE_HEADER + heads + 2 * i);
}

static inline LeafRow leaf_row(const uint8_t *page, uint32_t i)
{
    const uint8_t *cell = page + leaf_slot(page, i);
    LeafRow row;
    row.key_len = load_u16le(cell);
    row.val_code = load_u16le(cell + 2);
    row.key = cell + CELL_HEADER;
    row.val = row.key + row.key_len;
    row.stored = row.val_code == CELL_VAL_ELSEWHERE ? CELL_REF : row.val_code;
    return row;
}

/* Of a row whose value is elsewhere: the run's page number and the value's length. */
static inline uint32_t row_run(const LeafRow *row)
{
    return load_u32le(row->val);
}

static inline uint32_t row_run_len(const LeafRow *row)
{
    return load_u32le(row->val + 4);
}

/* ---- Branch --------------------------------------------------------------------------------- */

static inline uint32_t branch_head_width(const uint8_t *page)
{
    return page_is_plain(page) ? 0 : 4;
}

static inline uint32_t branch_count_width(const uint8_t *page)
{
    return page_level(page) == 1 ? 2 : 8;
}

static inline const uint8_t *branch_heads(const uint8_t *page)
{
    return page + PAGE_HEADER + align_up_u32(page_prefix(page), 4);
}

static inline const uint8_t *branch_children(const uint8_t *page)
{
    return branch_heads(page) + (size_t)branch_head_width(page) * page_count(page);
}

static inline const uint8_t *branch_slots(const uint8_t *page)
{
    return branch_children(page) + (size_t)4 * page_count(page);
}

static inline const uint8_t *branch_counts(const uint8_t *page)
{
    return branch_slots(page) + (size_t)2 * page_count(page);
}

static inline uint32_t branch_child_word(const uint8_t *page, uint32_t i)
{
    return load_u32le(branch_children(page) + (size_t)4 * i);
}

static inline uint32_t branch_child(const uint8_t *page, uint32_t i)
{
    return branch_child_word(page, i) & ~CHILD_OWNS_RUNS;
}

static inline uint64_t branch_rows(const uint8_t *page, uint32_t i)
{
    const uint8_t *counts = branch_counts(page);
    return page_level(page) == 1 ? load_u16le(counts + (size_t)2 * i)
                                 : load_u64le(counts + (size_t)8 * i);
}

#endif
