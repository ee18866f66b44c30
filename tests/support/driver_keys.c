#include "support/driver_internal.h"

#include "common/bytes.h"
#include "common/hash.h"

#include <stdio.h>
#include <string.h>

/* Keys are kept to this many bytes per table in total. */
enum { KEY_BUDGET = 512 * 1024 };

static uint32_t key_short(uint8_t *out, uint32_t index)
{
    uint8_t bytes[8];

    store_u64le(bytes, hash_u64(index));
    uint32_t len = bytes[7] % 7;
    memcpy(out, bytes, len);
    return len;
}

static uint32_t key_prefixed(uint8_t *out, uint32_t index, uint32_t max)
{
    uint32_t prefix = index % 3 == 0 ? max - 4 : index % 3 == 1 ? max / 2 : max / 3;

    memset(out, index % 2 == 0 ? 'p' : 'P', prefix);
    store_u32be(out + prefix, index / 2);
    return prefix + 4;
}

static uint32_t key_decimal(uint8_t *out, uint32_t index)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%c%u", "aAbBzZ"[index % 6], index);

    memcpy(out, text + index % 2, (size_t)len - index % 2);
    return (uint32_t)len - index % 2;
}

static uint32_t key_extreme(uint8_t *out, uint32_t index)
{
    static const uint8_t digits[3] = {0x00, 0xff, 0x01};
    uint32_t len = 0;

    for (uint32_t rest = index; rest != 0; rest = (rest - 1) / 3) {
        out[len++] = digits[(rest - 1) % 3];
    }
    return len;
}

static uint32_t key_chained(uint8_t *out, uint32_t index, uint32_t max)
{
    uint32_t longest = max < 40 ? max : 40;
    uint32_t len = index % longest;

    out[0] = (uint8_t)('a' + index / longest % 26);
    memset(out + 1, 0, len);
    return len + 1;
}

static uint32_t key_longest(uint8_t *out, uint32_t index, uint32_t max)
{
    uint32_t len = max - index % 3;

    memset(out, (int)(index % 5 == 0 ? index : 'x'), len);
    store_u32be(out + (index % 2 == 0 ? 0 : len - 4), index);
    return len;
}

/* The key of `index` is always the same, so that keys meet again. */
uint32_t driver_make_key(Driver *d, size_t table, uint8_t *out)
{
    KeyShape shape = d->config->keys;
    uint32_t max = d->tables[table].max_key;
    uint32_t space = d->config->key_space;

    if ((shape == KEYS_PREFIXED || shape == KEYS_LONGEST) && space > KEY_BUDGET / max) {
        space = KEY_BUDGET / max + 1;
    }
    uint32_t index = below(d, space);
    if (shape == KEYS_MIXED) {
        shape = (KeyShape)(index % KEYS_MIXED);
        if (max > 2048 && (shape == KEYS_PREFIXED || shape == KEYS_LONGEST)) {
            index %= KEY_BUDGET / max + 1;
        }
    }
    switch (shape) {
    case KEYS_PREFIXED:
        return key_prefixed(out, index, max);
    case KEYS_SEQUENTIAL:
        store_u64be(out, index);
        return 8;
    case KEYS_DECIMAL:
        return key_decimal(out, index);
    case KEYS_EXTREME:
        return key_extreme(out, index);
    case KEYS_CHAINED:
        return key_chained(out, index, max);
    case KEYS_LONGEST:
        return key_longest(out, index, max);
    default:
        return key_short(out, index);
    }
}

void driver_choose_key(Driver *d, size_t table)
{
    d->key_len = driver_make_key(d, table, d->key);
}

static uint32_t value_len_near_limit(Driver *d)
{
    uint32_t len = d->leaf_value + 4;
    uint32_t less = below(d, 8) + (one_in(d, 2) ? d->key_len : 0);

    return len > less ? len - less : 0;
}

static uint32_t choose_value_len(Driver *d)
{
    ValueShape shape = d->config->values;

    if (shape == VALUES_MIXED) {
        uint32_t pick = below(d, 16);
        if (pick == 15) {
            return below(d, LONGEST_VALUE);
        }
        shape = pick < 8    ? VALUES_SMALL
                : pick < 10 ? VALUES_EMPTY
                : pick < 13 ? VALUES_LIMIT
                            : VALUES_OVERFLOW;
    }
    switch (shape) {
    case VALUES_EMPTY:
        return 0;
    case VALUES_LIMIT:
        return value_len_near_limit(d);
    case VALUES_OVERFLOW:
        return d->config->page_size + below(d, 3 * d->config->page_size);
    default:
        return below(d, 24);
    }
}

/* Eight bytes say which value it is; the rest lets a byte in the wrong place be seen. */
static void fill_value(uint8_t *out, uint32_t len, uint64_t stamp)
{
    for (uint32_t i = 0; i < len; i += 8) {
        uint8_t word[8];
        store_u64le(word, hash_u64(stamp + i));
        memcpy(out + i, word, len - i < 8 ? len - i : 8);
    }
}

/* Few different ones, so that pairs meet again; some as long as there is room. */
static uint32_t choose_pair_value(Driver *d, size_t table)
{
    uint32_t room = d->tables[table].max_pair - d->key_len;
    uint32_t index = below(d, 24);
    uint8_t bytes[8];

    if (index >= 22) {
        uint32_t len = index == 22 ? room : below(d, room + 1);
        memset(d->val, 'v', len);
        return len;
    }
    store_u64le(bytes, hash_u64(index));
    uint32_t len = index % 6 < room ? index % 6 : room;
    memcpy(d->val, bytes, len);
    return len;
}

void driver_choose_value(Driver *d, size_t table)
{
    if (has_pairs(table)) {
        d->val_len = choose_pair_value(d, table);
        return;
    }
    uint32_t len = choose_value_len(d);
    if (len > 1024 && len > d->value_budget) {
        len %= 16;
    }
    d->val_len = len;
    d->value_budget -= len < d->value_budget ? len : d->value_budget;
    fill_value(d->val, len, d->counts->operations * 1000003 + d->counts->changes);
}
