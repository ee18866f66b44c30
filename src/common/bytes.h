/* bytes.h - integers as bytes, bytes in order.
 *
 * The only place of the tree where integers are assembled from bytes or taken apart into them.
 * Pointers need no alignment. Every load and store compiles to one move, with a byte swap where
 * the order asked for is not the machine's; nothing here depends on the machine's own order.
 *
 * Key codecs keep order: memcmp of two encoded keys of equal length gives the numeric order of
 * the values. Big-endian does that for unsigned integers. For signed ones the sign bit is
 * flipped first, which moves the negative half below the positive one. */
#ifndef SAPLING_COMMON_BYTES_H
#define SAPLING_COMMON_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || \
    (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ && __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__)
#error "bytes.h needs a compiler that defines __BYTE_ORDER__, and a little- or big-endian machine"
#endif

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BYTES_HOST_LE 1
#else
#define BYTES_HOST_LE 0
#endif

/* Each converts between the machine's order and the named one; its own inverse. */
static inline uint16_t bytes_order_u16le(uint16_t v)
{
    return BYTES_HOST_LE ? v : __builtin_bswap16(v);
}

static inline uint32_t bytes_order_u32le(uint32_t v)
{
    return BYTES_HOST_LE ? v : __builtin_bswap32(v);
}

static inline uint64_t bytes_order_u64le(uint64_t v)
{
    return BYTES_HOST_LE ? v : __builtin_bswap64(v);
}

static inline uint16_t bytes_order_u16be(uint16_t v)
{
    return BYTES_HOST_LE ? __builtin_bswap16(v) : v;
}

static inline uint32_t bytes_order_u32be(uint32_t v)
{
    return BYTES_HOST_LE ? __builtin_bswap32(v) : v;
}

static inline uint64_t bytes_order_u64be(uint64_t v)
{
    return BYTES_HOST_LE ? __builtin_bswap64(v) : v;
}

static inline uint16_t load_u16le(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return bytes_order_u16le(v);
}

static inline uint32_t load_u32le(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return bytes_order_u32le(v);
}

static inline uint64_t load_u64le(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return bytes_order_u64le(v);
}

static inline uint16_t load_u16be(const void *p)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return bytes_order_u16be(v);
}

static inline uint32_t load_u32be(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return bytes_order_u32be(v);
}

static inline uint64_t load_u64be(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return bytes_order_u64be(v);
}

static inline void store_u16le(void *p, uint16_t v)
{
    v = bytes_order_u16le(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_u32le(void *p, uint32_t v)
{
    v = bytes_order_u32le(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_u64le(void *p, uint64_t v)
{
    v = bytes_order_u64le(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_u16be(void *p, uint16_t v)
{
    v = bytes_order_u16be(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_u32be(void *p, uint32_t v)
{
    v = bytes_order_u32be(v);
    memcpy(p, &v, sizeof v);
}

static inline void store_u64be(void *p, uint64_t v)
{
    v = bytes_order_u64be(v);
    memcpy(p, &v, sizeof v);
}

#define BYTES_SIGN_BIT_64 (UINT64_C(1) << 63)

static inline void store_i64be_key(void *p, int64_t v)
{
    store_u64be(p, (uint64_t)v ^ BYTES_SIGN_BIT_64);
}

static inline int64_t load_i64be_key(const void *p)
{
    return (int64_t)(load_u64be(p) ^ BYTES_SIGN_BIT_64);
}

/* The first four bytes of a key as a number: a different head decides the order of two keys, an
 * equal one decides nothing, because zero padding makes "a" and "a\0" equal. Reads no byte at or
 * beyond p + len. */
static inline uint32_t load_head_be(const uint8_t *p, size_t len)
{
    if (len >= 4) {
        return load_u32be(p);
    }
    uint32_t head = 0;
    for (size_t i = 0; i < len; i++) {
        head |= (uint32_t)p[i] << (24 - 8 * i);
    }
    return head;
}

/* How many leading bytes of `a` and `b` are equal, at most `max`. Both hold at least max bytes. */
static inline size_t bytes_common_prefix(const void *a, const void *b, size_t max)
{
    const uint8_t *pa = (const uint8_t *)a;
    const uint8_t *pb = (const uint8_t *)b;
    size_t i = 0;

    for (; max - i >= 8; i += 8) {
        /* Little-endian puts the first byte lowest, so the lowest set bit is in the first byte
         * that differs. */
        uint64_t diff = load_u64le(pa + i) ^ load_u64le(pb + i);
        if (diff != 0) {
            return i + (size_t)__builtin_ctzll(diff) / 8;
        }
    }
    while (i < max && pa[i] == pb[i]) {
        i++;
    }
    return i;
}

/* Lexicographic order of unsigned bytes, a proper prefix first: -1, 0 or 1. A pointer may be NULL
 * when its length is 0. */
static inline int bytes_compare(const void *a, size_t alen, const void *b, size_t blen)
{
    size_t common = alen < blen ? alen : blen;
    int order = common == 0 ? 0 : memcmp(a, b, common);

    if (order != 0) {
        return order < 0 ? -1 : 1;
    }
    return (alen > blen) - (alen < blen);
}

static inline bool is_pow2(uint64_t v)
{
    return v != 0 && (v & (v - 1)) == 0;
}

/* The smallest multiple of `pow2` not below `v`; wraps to 0 when there is none in the type. */
static inline uint32_t align_up_u32(uint32_t v, uint32_t pow2)
{
    return (v + (pow2 - 1)) & ~(pow2 - 1);
}

static inline uint64_t align_up_u64(uint64_t v, uint64_t pow2)
{
    return (v + (pow2 - 1)) & ~(pow2 - 1);
}

#endif
