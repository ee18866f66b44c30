/* node_search.c - see node_search.h. */
#include "sapling/node_search.h"

static int row_compare(const uint8_t *page, uint32_t i, KeyOrder order, const uint8_t *key,
                       uint32_t key_len)
{
    LeafRow row = leaf_row(page, i);
    return key_compare(order, key, key_len, row.key, row.key_len);
}

/* Lower bound among rows lo .. hi-1 by whole keys. */
static uint32_t leaf_search_rows(const uint8_t *page, uint32_t lo, uint32_t hi, KeyOrder order,
                                 const uint8_t *key, uint32_t key_len, bool *exact_out)
{
    *exact_out = false;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        int c = row_compare(page, mid, order, key, key_len);
        if (c == 0) {
            *exact_out = true;
            return mid;
        }
        if (c < 0) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo;
}

uint32_t leaf_search(const uint8_t *page, KeyOrder order, const uint8_t *key, uint32_t key_len,
                     bool *exact_out)
{
    uint32_t n = page_count(page);
    if (page_is_plain(page)) {
        return leaf_search_rows(page, 0, n, order, key, key_len, exact_out);
    }
    uint32_t p = page_prefix(page);
    if (p > 0) {
        int c = prefix_compare(key, key_len, leaf_row(page, 0).key, p);
        if (c != 0) {
            *exact_out = false;
            return c < 0 ? 0 : n;
        }
    }
    const uint8_t *heads = leaf_heads(page);
    uint32_t h = load_head_be(key + p, key_len - p);
    uint32_t lo = heads_below(heads, n, h);
    uint32_t hi = heads_tie_end(heads, lo, n, h);
    return leaf_search_rows(page, lo, hi, order, key, key_len, exact_out);
}

/* Whether separator i (>= 1), known to agree with the key in prefix and head, is <= the key. */
static bool sep_not_above(const uint8_t *page, uint32_t i, const uint8_t *rest, uint32_t rest_len)
{
    uint32_t slot = load_u16le(branch_slots(page) + (size_t)2 * i);
    if (slot <= SEP_IN_HEAD) {
        /* The padded bytes agree: the shorter of the two is a prefix of the longer. */
        return slot <= rest_len;
    }
    const uint8_t *cell = page + slot;
    return bytes_compare(cell + 2, load_u16le(cell), rest, rest_len) <= 0;
}

static uint32_t branch_search_plain(const uint8_t *page, KeyOrder order, const uint8_t *key,
                                    uint32_t key_len)
{
    const uint8_t *slots = branch_slots(page);
    uint32_t lo = 1; /* separators below lo are <= key, from hi on they are above */
    uint32_t hi = page_count(page);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        const uint8_t *cell = page + load_u16le(slots + (size_t)2 * mid);
        if (order.cmp(key, key_len, cell + 2, load_u16le(cell), order.ctx) < 0) {
            hi = mid;
        } else {
            lo = mid + 1;
        }
    }
    return lo - 1;
}

uint32_t branch_search(const uint8_t *page, KeyOrder order, const uint8_t *key, uint32_t key_len)
{
    if (page_is_plain(page)) {
        return branch_search_plain(page, order, key, key_len);
    }
    uint32_t n = page_count(page);
    uint32_t p = page_prefix(page);
    if (p > 0) {
        int c = prefix_compare(key, key_len, page + PAGE_HEADER, p);
        if (c != 0) {
            return c < 0 ? 0 : n - 1;
        }
    }
    const uint8_t *heads = branch_heads(page);
    uint32_t h = load_head_be(key + p, key_len - p);
    uint32_t lo = 1 + heads_below(heads + 4, n - 1, h);
    uint32_t hi = heads_tie_end(heads, lo, n, h);
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (sep_not_above(page, mid, key + p, key_len - p)) {
            lo = mid + 1;
        } else {
            hi = mid;
        }
    }
    return lo - 1;
}
