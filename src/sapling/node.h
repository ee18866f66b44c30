/* node.h - changing leaf and branch pages: insert, remove, split, merge.
 *
 * These calls change the bytes of pages that the caller owns and know nothing of trees or
 * transactions; none of them can fail. The layout is in page.h. Rules that hold after each call:
 *   - rows (separators) are strictly ascending;
 *   - no cell begins below upper, and the bytes from it to the page's end are the live cells
 *     plus `dead`;
 *   - every key of a leaf (separator of a branch, before cutting) begins with the page's prefix. */
#ifndef SAPLING_SAPLING_NODE_H
#define SAPLING_SAPLING_NODE_H

#include "sapling/page.h"

/* A separator in up to two pieces: the prefix of the page it is in, and the rest. */
typedef struct SepRef {
    const uint8_t *front;
    uint32_t front_len;
    const uint8_t *rest;
    uint32_t rest_len;
} SepRef;

typedef struct BranchItem {
    SepRef sep;
    uint8_t in_head[SEP_IN_HEAD]; /* what sep.rest points to if the separator was in its head */
    uint32_t child_word;
    uint64_t rows;
} BranchItem;

/* Working memory for calls that rebuild pages, made for one page size by node_scratch_init(). */
typedef struct NodeScratch {
    uint32_t page_size;
    uint8_t *page;     /* a copy of the page being rebuilt */
    BranchItem *items; /* room for the children of two pages and one more */
    uint8_t *sep[2];   /* separators on their way up, used in turn */
    uint32_t sep_turn;
} NodeScratch;

/* SAP_NOMEM: nothing allocated. */
int node_scratch_init(NodeScratch *scratch, uint32_t page_size);
void node_scratch_release(NodeScratch *scratch);

/* Longest key for the page size: two rows with a value elsewhere fit a leaf, and a branch holds
 * three children. */
uint32_t node_max_key(uint32_t page_size);
/* Whether a value of val_len lies in the leaf beside its key: two such rows must fit. */
bool node_val_inline(uint32_t page_size, uint32_t key_len, uint32_t val_len);

/* Bytes for cells and arrays in a page, and how many of them are in use. */
uint32_t node_capacity(uint32_t page_size);
uint32_t node_used(const uint8_t *page, uint32_t page_size);

/* An empty node; birth and number are the pager's and stay. */
void node_init(uint8_t *page, uint32_t page_size, uint32_t level, uint32_t dbi_flags);
/* Copies a node but for checksum, birth and number, and leaves out the gap in the middle. */
void node_copy(uint8_t *to, const uint8_t *from, uint32_t page_size);

/* What is wrong with the bytes of a page that is to be a node, or NULL: everything that reading and
 * changing nodes relies on, the rules above included. Rows and separators that have an order of
 * their own (PAGE_PLAIN) are not compared. The page's place in a tree is the caller's business. */
const char *node_damage(const uint8_t *page, uint32_t page_size);

/* Whether the subtree below the page owns overflow runs, as a flag for the parent's child word. */
uint32_t node_runs_flag(const uint8_t *page);
/* Rows in the subtree. */
uint64_t node_rows(const uint8_t *page);

/* ---- Leaf ---- */

/* Bytes a row takes, its share of the arrays included. */
uint32_t leaf_row_size(const uint8_t *page, const LeafRow *row);
/* Whether a row of this size fits; *compact_out: if leaf_compact() has gone first. */
bool leaf_fits(const uint8_t *page, uint32_t row_size, bool *compact_out);
void leaf_compact(NodeScratch *scratch, uint8_t *page);

/* Inserts before row i; there must be room. Returns where the value is stored; row->val NULL leaves
 * those bytes to the caller. */
uint8_t *leaf_insert(uint8_t *page, uint32_t i, const LeafRow *row);
void leaf_remove(uint8_t *page, uint32_t i);
/* Overwrites the stored value in place if it is no longer than the old one, else returns NULL. */
uint8_t *leaf_overwrite(uint8_t *page, uint32_t i, const LeafRow *row);
/* Inserts before row i by moving the upper part of `left` to the empty node `right`; `append`:
 * only the new row goes there. */
uint8_t *leaf_split(NodeScratch *scratch, uint8_t *left, uint8_t *right, uint32_t i,
                    const LeafRow *row, bool append);
/* Makes `into` (which is left or right) the two together; they must fit. */
void leaf_merge(NodeScratch *scratch, uint8_t *into, const uint8_t *left, const uint8_t *right);
/* Writes the page anew from rows that point to other memory; they must fit. */
void leaf_fill(uint8_t *page, uint32_t page_size, const LeafRow *rows, uint32_t n);
/* The shortest separator between two neighbouring rows: that many bytes of the key above; and the
 * same of two leaves. */
uint32_t row_separator(bool plain, const LeafRow *below, const LeafRow *above);
uint32_t leaf_separator(const uint8_t *left, const uint8_t *right, const uint8_t **sep_out);

/* ---- Branch ---- */

void branch_set_child(uint8_t *page, uint32_t i, uint32_t child_word);
void branch_set_rows(uint8_t *page, uint32_t i, uint64_t rows);
SepRef branch_sep(const uint8_t *page, uint32_t i, uint8_t in_head[SEP_IN_HEAD]);
/* Puts it together at `to`, which has room for the longest key; returns its length. */
uint32_t branch_sep_copy(const uint8_t *page, uint32_t i, uint8_t *to);
/* In byte order: below 0, 0 or above 0. */
int sep_compare(SepRef a, SepRef b);

/* What so many items take in a page of that level, and what one adds to it at most. Item 0's
 * separator does not count. */
uint32_t branch_items_size(uint32_t level, bool plain, const BranchItem *items, uint32_t n);
uint32_t branch_item_bound(uint32_t level, bool plain, const BranchItem *item);
/* Writes the page anew from items that point to other memory; they must fit. */
void branch_fill(uint8_t *page, uint32_t page_size, const BranchItem *items, uint32_t n);

/* Makes an empty branch hold these two children. */
void branch_init_root(NodeScratch *scratch, uint8_t *page, const BranchItem *left,
                      const BranchItem *right);
/* Inserts as child i (>= 1). False: no room, nothing changed. */
bool branch_insert(NodeScratch *scratch, uint8_t *page, uint32_t i, const BranchItem *item);
/* Inserts as child i by moving the upper part to the empty node `right`; returns the separator
 * between the two, valid until the split after next. */
SepRef branch_split(NodeScratch *scratch, uint8_t *left, uint8_t *right, uint32_t i,
                    const BranchItem *item, bool append);
void branch_remove(uint8_t *page, uint32_t i);
/* Makes `into` (left or right) the two together, `sep` being the parent's separator of right.
 * False: they do not fit, nothing changed. */
bool branch_merge(NodeScratch *scratch, uint8_t *into, const uint8_t *left, const uint8_t *right,
                  SepRef sep);

/* ---- Shared by the files of nodes ---- */

/* Where the arrays end and the gap begins. */
uint32_t node_arrays_end(const uint8_t *page);
/* The parallel arrays of a node: `widths[k]` bytes per entry each, one after the other. */
enum { NODE_ARRAYS = 4 };
void node_arrays_open(uint8_t *base, const uint32_t widths[NODE_ARRAYS], uint32_t n, uint32_t i);
void node_arrays_close(uint8_t *base, const uint32_t widths[NODE_ARRAYS], uint32_t n, uint32_t i);

#endif
