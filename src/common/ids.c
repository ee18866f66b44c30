#include "common/ids.h"

#include "common/bytes.h"
#include "sapling/error.h"

#define TIME_MAX      ((UINT64_C(1) << 48) - 1)
#define TAIL_HIGH_MAX ((UINT64_C(1) << 12) - 1)
#define TAIL_LOW_MAX  ((UINT64_C(1) << 62) - 1)

#define VERSION_BITS (UINT64_C(7) << 12)
#define VARIANT_BITS (UINT64_C(2) << 62)

void idgen_init(IdGen *gen, const Clock *clock, const Random *random)
{
    /* Time 0 with a full tail: the first id is in a later millisecond than "the last one". */
    *gen = (IdGen){clock, random, 0, TAIL_HIGH_MAX, TAIL_LOW_MAX};
}

/* A tail that nobody can guess. */
static int draw_tail(IdGen *gen)
{
    uint8_t bytes[10];
    int rc = random_fill(gen->random, bytes, sizeof bytes);
    if (rc == SAP_OK) {
        gen->tail_high = load_u16be(bytes) & TAIL_HIGH_MAX;
        gen->tail_low = load_u64be(bytes + 2) & TAIL_LOW_MAX;
    }
    return rc;
}

/* The next tail in the same millisecond. Steps are random so that one id does not give away its
 * neighbours; 32 bits leave room for 2^42 of them. SAP_FULL: no larger tail. */
static int grow_tail(IdGen *gen)
{
    uint8_t bytes[4];
    int rc = random_fill(gen->random, bytes, sizeof bytes);
    if (rc != SAP_OK) {
        return rc;
    }
    gen->tail_low += (uint64_t)load_u32be(bytes) + 1;
    if (gen->tail_low > TAIL_LOW_MAX) {
        gen->tail_low &= TAIL_LOW_MAX;
        gen->tail_high++;
    }
    return gen->tail_high > TAIL_HIGH_MAX ? SAP_FULL : SAP_OK;
}

int idgen_next(IdGen *gen, Id128 *out)
{
    int64_t wall_ms = clock_wall_ms(gen->clock);
    uint64_t now_ms = wall_ms < 0 ? 0 : (uint64_t)wall_ms;
    IdGen next = *gen;
    int rc = SAP_FULL;

    if (now_ms <= gen->last_ms) {
        rc = grow_tail(&next);
        now_ms = gen->last_ms + 1;
    }
    if (rc == SAP_FULL) {
        if (now_ms > TIME_MAX) {
            return SAP_FULL;
        }
        next.last_ms = now_ms;
        rc = draw_tail(&next);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    *gen = next;
    store_u64be(out->bytes, next.last_ms << 16 | VERSION_BITS | next.tail_high);
    store_u64be(out->bytes + 8, VARIANT_BITS | next.tail_low);
    return SAP_OK;
}

int id_compare(Id128 a, Id128 b)
{
    return bytes_compare(a.bytes, ID_SIZE, b.bytes, ID_SIZE);
}

/* A hyphen goes before bytes 4, 6, 8 and 10. */
static int hyphen_before(size_t byte)
{
    return byte >= 4 && byte <= 10 && byte % 2 == 0;
}

void id_format(Id128 id, char out[ID_TEXT_LEN + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < ID_SIZE; i++) {
        if (hyphen_before(i)) {
            *out++ = '-';
        }
        *out++ = digits[id.bytes[i] >> 4];
        *out++ = digits[id.bytes[i] & 15];
    }
    *out = '\0';
}

/* -1: not a lower-case hexadecimal digit. */
static int digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int id_parse(const char *text, size_t len, Id128 *out)
{
    Id128 id;

    if (len != ID_TEXT_LEN) {
        return SAP_INVALID;
    }
    for (size_t i = 0; i < ID_SIZE; i++) {
        if (hyphen_before(i) && *text++ != '-') {
            return SAP_INVALID;
        }
        int high = digit_value(text[0]);
        int low = digit_value(text[1]);
        if (high < 0 || low < 0) {
            return SAP_INVALID;
        }
        id.bytes[i] = (uint8_t)(high * 16 + low);
        text += 2;
    }
    *out = id;
    return SAP_OK;
}
