/* node_search.h - finding a key within a page; the hot path of every read.
 *
 * In byte order a search first counts the heads below the key's own. Only rows whose head equals it
 * are looked at: one, unless keys agree in four bytes after the prefix. */
#ifndef SAPLING_SAPLING_NODE_SEARCH_H
#define SAPLING_SAPLING_NODE_SEARCH_H

#include "sapling/page.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* How many of the n sorted heads are below h. */
static inline uint32_t heads_below(const uint8_t *heads, uint32_t n, uint32_t h)
{
    uint32_t base = 0;
#if defined(__SSE2__)
    while (n > 32) {
        uint32_t half = n / 2;
        base += load_u32le(heads + (size_t)4 * (base + half - 1)) < h ? half : 0;
        n -= half;
    }
    /* Signed comparison of both sides moved by 2^31. The last load may reach up to 12 bytes beyond
     * the heads: slots and cells are there. */
    const __m128i bias = _mm_set1_epi32(INT32_MIN);
    const __m128i key = _mm_xor_si128(_mm_set1_epi32((int32_t)h), bias);
    const uint8_t *at = heads + (size_t)4 * base;
    for (uint32_t i = 0; i < n; i += 4) {
        __m128i four = _mm_loadu_si128((const __m128i *)(const void *)(at + (size_t)4 * i));
        __m128i below = _mm_cmpgt_epi32(key, _mm_xor_si128(four, bias));
        uint32_t mask = (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(below));
        uint32_t lanes = n - i;
        if (lanes < 4) {
            mask &= (UINT32_C(1) << lanes) - 1;
        }
        if (mask != 15) {
            return base + i + (uint32_t)__builtin_ctz(~mask);
        }
    }
    return base + n;
#else
    while (n > 0) {
        uint32_t half = (n + 1) / 2;
        base += load_u32le(heads + (size_t)4 * (base + half - 1)) < h ? half : 0;
        n -= half;
    }
    return base;
#endif
}

static inline uint32_t heads_at(const uint8_t *heads, uint32_t i)
{
    return load_u32le(heads + (size_t)4 * i);
}

/* The end of the run of heads equal to h that begins at lo, the first head not below h. */
static inline uint32_t heads_tie_end(const uint8_t *heads, uint32_t lo, uint32_t n, uint32_t h)
{
    if (lo >= n || heads_at(heads, lo) != h) {
        return lo;
    }
    if (lo + 1 >= n || heads_at(heads, lo + 1) != h) {
        return lo + 1;
    }
    return h == UINT32_MAX ? n : lo + heads_below(heads + (size_t)4 * lo, n - lo, h + 1);
}

/* Whether `key` sorts below (-1), within (0) or above (1) the keys that begin with the prefix. */
static inline int prefix_compare(const uint8_t *key, uint32_t key_len, const uint8_t *prefix,
                                 uint32_t prefix_len)
{
    uint32_t common = key_len < prefix_len ? key_len : prefix_len;
    int order = memcmp(key, prefix, common);
    if (order != 0) {
        return order < 0 ? -1 : 1;
    }
    return key_len < prefix_len ? -1 : 0;
}

/* The first row whose key is not below `key` (n if none); *exact_out: whether it is equal. */
uint32_t leaf_search(const uint8_t *page, KeyOrder order, const uint8_t *key, uint32_t key_len,
                     bool *exact_out);

/* The child to follow for `key`. */
uint32_t branch_search(const uint8_t *page, KeyOrder order, const uint8_t *key, uint32_t key_len);

#endif
