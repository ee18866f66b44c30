/* branch.c - changing branches. See node.h.
 *
 * A separator is inserted in place when it shares the page's prefix and there is room in the gap;
 * in all other cases the page is taken apart into a list of items and built anew from it. */
#include "common/assert.h"
#include "sapling/node.h"

/* ---- Separators ---- */

static uint32_t sep_len(SepRef sep)
{
    return sep.front_len + sep.rest_len;
}

static uint8_t sep_byte(SepRef sep, uint32_t i)
{
    return i < sep.front_len ? sep.front[i] : sep.rest[i - sep.front_len];
}

static uint32_t sep_common(SepRef a, SepRef b)
{
    uint32_t most = sep_len(a) < sep_len(b) ? sep_len(a) : sep_len(b);
    uint32_t i = 0;
    if (a.front == b.front) {
        i = a.front_len < b.front_len ? a.front_len : b.front_len;
    }
    while (i < most && sep_byte(a, i) == sep_byte(b, i)) {
        i++;
    }
    return i;
}

int sep_compare(SepRef a, SepRef b)
{
    uint32_t common = sep_common(a, b);
    if (common == sep_len(a) || common == sep_len(b)) {
        return sep_len(a) < sep_len(b) ? -1 : sep_len(a) > sep_len(b) ? 1 : 0;
    }
    return sep_byte(a, common) < sep_byte(b, common) ? -1 : 1;
}

/* Copies the separator's bytes from `from` on. */
static void sep_copy(uint8_t *to, SepRef sep, uint32_t from)
{
    if (from < sep.front_len) {
        memcpy(to, sep.front + from, sep.front_len - from);
        to += sep.front_len - from;
        from = sep.front_len;
    }
    uint32_t skip = from - sep.front_len;
    if (sep.rest_len > skip) {
        memcpy(to, sep.rest + skip, sep.rest_len - skip);
    }
}

static uint32_t sep_cell_size(bool plain, uint32_t rest_len)
{
    return plain || rest_len > SEP_IN_HEAD ? 2 + rest_len : 0;
}

/* ---- Access ---- */

static void array_widths(const uint8_t *page, uint32_t widths[NODE_ARRAYS])
{
    widths[0] = branch_head_width(page);
    widths[1] = 4;
    widths[2] = 2;
    widths[3] = branch_count_width(page);
}

static uint32_t entry_size(uint32_t level, bool plain)
{
    return (plain ? 0u : 4u) + 4 + 2 + (level == 1 ? 2 : 8);
}

static uint32_t entry_width(const uint8_t *page)
{
    return entry_size(page_level(page), page_is_plain(page));
}

void branch_set_child(uint8_t *page, uint32_t i, uint32_t child_word)
{
    store_u32le(page + (branch_children(page) - page) + (size_t)4 * i, child_word);
}

void branch_set_rows(uint8_t *page, uint32_t i, uint64_t rows)
{
    uint8_t *counts = page + (branch_counts(page) - page);
    if (page_level(page) == 1) {
        SAP_ASSERT(rows <= UINT16_MAX);
        store_u16le(counts + (size_t)2 * i, (uint16_t)rows);
    } else {
        store_u64le(counts + (size_t)8 * i, rows);
    }
}

uint32_t branch_sep_copy(const uint8_t *page, uint32_t i, uint8_t *to)
{
    uint8_t in_head[SEP_IN_HEAD];
    SepRef sep = branch_sep(page, i, in_head);
    memcpy(to, sep.front, sep.front_len);
    memcpy(to + sep.front_len, sep.rest, sep.rest_len);
    return sep.front_len + sep.rest_len;
}

SepRef branch_sep(const uint8_t *page, uint32_t i, uint8_t in_head[SEP_IN_HEAD])
{
    SAP_ASSERT(i > 0);
    SepRef sep = {.front = page + PAGE_HEADER, .front_len = page_prefix(page)};
    uint32_t slot = load_u16le(branch_slots(page) + (size_t)2 * i);
    if (slot <= SEP_IN_HEAD) {
        store_u32be(in_head, load_u32le(branch_heads(page) + (size_t)4 * i));
        sep.rest = in_head;
        sep.rest_len = slot;
    } else {
        sep.rest = page + slot + 2;
        sep.rest_len = load_u16le(page + slot);
    }
    return sep;
}

static uint32_t old_cell_size(const uint8_t *page, uint32_t i)
{
    uint32_t slot = load_u16le(branch_slots(page) + (size_t)2 * i);
    return slot <= SEP_IN_HEAD ? 0 : 2u + load_u16le(page + slot);
}

/* Writes separator, child and count of entry i, whose place in the arrays is there. */
static void set_entry(uint8_t *page, uint32_t i, const BranchItem *item)
{
    bool plain = page_is_plain(page);
    uint32_t p = page_prefix(page);
    uint32_t slot = 0;
    uint32_t head = 0;
    if (i > 0) {
        uint32_t rest_len = sep_len(item->sep) - p;
        if (sep_cell_size(plain, rest_len) == 0) {
            uint8_t padded[SEP_IN_HEAD] = {0};
            sep_copy(padded, item->sep, p);
            head = load_u32be(padded);
            slot = rest_len;
        } else {
            slot = page_upper(page) - sep_cell_size(plain, rest_len);
            page_set(page, PAGE_UPPER, slot);
            store_u16le(page + slot, (uint16_t)rest_len);
            sep_copy(page + slot + 2, item->sep, p);
            head = load_head_be(page + slot + 2, rest_len);
        }
    }
    if (!plain) {
        store_u32le(page + (branch_heads(page) - page) + (size_t)4 * i, head);
    }
    store_u16le(page + (branch_slots(page) - page) + (size_t)2 * i, (uint16_t)slot);
    branch_set_child(page, i, item->child_word);
    branch_set_rows(page, i, item->rows);
}

/* ---- Lists of items ---- */

/* Appends the page's entries to items[at..] and returns the new count. Entry 0 has no separator. */
static uint32_t items_gather(BranchItem *items, uint32_t at, const uint8_t *page)
{
    uint32_t n = page_count(page);
    for (uint32_t i = 0; i < n; i++) {
        BranchItem *item = &items[at + i];
        item->sep = (SepRef){0};
        if (i > 0) {
            item->sep = branch_sep(page, i, item->in_head);
        }
        item->child_word = branch_child_word(page, i);
        item->rows = branch_rows(page, i);
    }
    return at + n;
}

/* As items_gather(), with one more entry before entry i. */
static uint32_t items_gather_with(BranchItem *items, const uint8_t *page, uint32_t i,
                                  const BranchItem *item)
{
    uint32_t n = items_gather(items, 0, page);
    for (uint32_t j = n; j > i; j--) {
        items[j] = items[j - 1];
        if (items[j].sep.rest == items[j - 1].in_head) {
            items[j].sep.rest = items[j].in_head;
        }
    }
    items[i] = *item;
    return n + 1;
}

static uint32_t size_with_prefix(uint32_t level, bool plain, const BranchItem *items, uint32_t n,
                                 uint32_t prefix)
{
    uint32_t size = align_up_u32(prefix, 4) + n * entry_size(level, plain);
    for (uint32_t i = 1; i < n; i++) {
        size += sep_cell_size(plain, sep_len(items[i].sep) - prefix);
    }
    return size;
}

/* The prefix to cut off separators 1 .. n-1, and the bytes they then take. All that they have in
 * common is not always best: it is padded to 4, and cutting separators that fit their heads saves
 * nothing. With these three candidates what is on a page never grows when it is built anew. */
static uint32_t items_prefix(uint32_t level, bool plain, const BranchItem *items, uint32_t n,
                             uint32_t *size_out)
{
    uint32_t best = 0;
    uint32_t best_size = size_with_prefix(level, plain, items, n, 0);
    if (!plain && n > 1) {
        uint32_t common = sep_common(items[1].sep, items[n - 1].sep);
        const uint32_t candidates[2] = {common & ~UINT32_C(3), common};
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t size = size_with_prefix(level, plain, items, n, candidates[i]);
            if (size <= best_size) {
                best = candidates[i];
                best_size = size;
            }
        }
    }
    *size_out = best_size;
    return best;
}

uint32_t branch_items_size(uint32_t level, bool plain, const BranchItem *items, uint32_t n)
{
    uint32_t size = 0;
    (void)items_prefix(level, plain, items, n, &size);
    return size;
}

uint32_t branch_item_bound(uint32_t level, bool plain, const BranchItem *item)
{
    return entry_size(level, plain) + sep_cell_size(plain, sep_len(item->sep));
}

static uint32_t items_size(const uint8_t *page, const BranchItem *items, uint32_t n)
{
    return branch_items_size(page_level(page), page_is_plain(page), items, n);
}

void branch_fill(uint8_t *page, uint32_t page_size, const BranchItem *items, uint32_t n)
{
    uint32_t size = 0;
    uint32_t prefix = items_prefix(page_level(page), page_is_plain(page), items, n, &size);
    SAP_ASSERT(n > 0 && size <= node_capacity(page_size));
    node_init(page, page_size, page_level(page), page_flags(page));
    page_set(page, PAGE_COUNT, n);
    page_set(page, PAGE_PREFIX, prefix);
    if (prefix > 0) {
        SepRef shared = items[1].sep;
        for (uint32_t i = 0; i < prefix; i++) {
            page[PAGE_HEADER + i] = sep_byte(shared, i);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        set_entry(page, i, &items[i]);
    }
    SAP_ASSERT((uint32_t)(branch_counts(page) - page) + branch_count_width(page) * n <=
               page_upper(page));
}

/* ---- Changes ---- */

void branch_init_root(NodeScratch *scratch, uint8_t *page, const BranchItem *left,
                      const BranchItem *right)
{
    const BranchItem items[2] = {*left, *right};
    branch_fill(page, scratch->page_size, items, 2);
}

bool branch_insert(NodeScratch *scratch, uint8_t *page, uint32_t i, const BranchItem *item)
{
    uint32_t n = page_count(page);
    uint32_t p = page_prefix(page);
    bool plain = page_is_plain(page);
    SAP_ASSERT(i > 0 && i <= n);
    SepRef prefix = {.front = page + PAGE_HEADER, .front_len = p};
    if (n > 1 && sep_common(prefix, item->sep) == p) {
        uint32_t end = (uint32_t)(branch_counts(page) - page) + branch_count_width(page) * n;
        uint32_t need = entry_width(page) + sep_cell_size(plain, sep_len(item->sep) - p);
        if (end + need <= page_upper(page)) {
            uint32_t widths[NODE_ARRAYS];
            array_widths(page, widths);
            node_arrays_open(page + (branch_heads(page) - page), widths, n, i);
            page_set(page, PAGE_COUNT, n + 1);
            set_entry(page, i, item);
            return true;
        }
    }
    node_copy(scratch->page, page, scratch->page_size);
    uint32_t total = items_gather_with(scratch->items, scratch->page, i, item);
    if (items_size(page, scratch->items, total) > node_capacity(scratch->page_size)) {
        return false;
    }
    branch_fill(page, scratch->page_size, scratch->items, total);
    return true;
}

void branch_remove(uint8_t *page, uint32_t i)
{
    uint32_t n = page_count(page);
    SAP_ASSERT(i < n);
    /* Without entry 0 the next one becomes minus infinity: its separator goes, its child stays. */
    uint32_t sep_gone = i > 0 ? i : 1;
    if (sep_gone < n) {
        page_set(page, PAGE_DEAD, page_dead(page) + old_cell_size(page, sep_gone));
    }
    uint32_t widths[NODE_ARRAYS];
    array_widths(page, widths);
    node_arrays_close(page + (branch_heads(page) - page), widths, n, i);
    page_set(page, PAGE_COUNT, n - 1);
    if (i == 0 && n > 1) {
        if (!page_is_plain(page)) {
            store_u32le(page + (branch_heads(page) - page), 0);
        }
        store_u16le(page + (branch_slots(page) - page), 0);
    }
}

static bool split_feasible(const uint8_t *page, uint32_t page_size, const BranchItem *items,
                           uint32_t n, uint32_t m)
{
    return items_size(page, items, m) <= node_capacity(page_size) &&
           items_size(page, items + m, n - m) <= node_capacity(page_size);
}

/* How many items stay left: near the middle by bytes, or else wherever both sides fit. That place
 * exists: a separator without the common prefix is the first or the last one and can stand alone,
 * and otherwise no separator takes more than half a page. */
static uint32_t split_point(const uint8_t *page, uint32_t page_size, const BranchItem *items,
                            uint32_t n)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += entry_width(page) + items[i].sep.rest_len;
    }
    uint64_t left = 0;
    uint32_t m = 0;
    while (m + 1 < n && left < total / 2) {
        left += entry_width(page) + items[m].sep.rest_len;
        m++;
    }
    if (split_feasible(page, page_size, items, n, m)) {
        return m;
    }
    m = 1;
    while (m < n && !split_feasible(page, page_size, items, n, m)) {
        m++;
    }
    SAP_ASSERT(m < n);
    return m;
}

SepRef branch_split(NodeScratch *scratch, uint8_t *left, uint8_t *right, uint32_t i,
                    const BranchItem *item, bool append)
{
    uint32_t page_size = scratch->page_size;
    node_copy(scratch->page, left, page_size);
    BranchItem *items = scratch->items;
    uint32_t n = items_gather_with(items, scratch->page, i, item);
    bool last_alone = append && split_feasible(left, page_size, items, n, n - 1);
    uint32_t m = last_alone ? n - 1 : split_point(left, page_size, items, n);
    uint8_t *up = scratch->sep[scratch->sep_turn++ % 2];
    SepRef middle = {.rest = up, .rest_len = sep_len(items[m].sep)};
    sep_copy(up, items[m].sep, 0);
    branch_fill(left, page_size, items, m);
    branch_fill(right, page_size, items + m, n - m);
    return middle;
}

bool branch_merge(NodeScratch *scratch, uint8_t *into, const uint8_t *left, const uint8_t *right,
                  SepRef sep)
{
    uint32_t page_size = scratch->page_size;
    node_copy(scratch->page, into, page_size);
    BranchItem *items = scratch->items;
    uint32_t left_count = items_gather(items, 0, left == into ? scratch->page : left);
    uint32_t n = items_gather(items, left_count, right == into ? scratch->page : right);
    items[left_count].sep = sep;
    if (items_size(into, items, n) > node_capacity(page_size)) {
        return false;
    }
    branch_fill(into, page_size, items, n);
    return true;
}
