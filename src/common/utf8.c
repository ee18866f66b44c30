#include "common/utf8.h"

#include "common/assert.h"

/* What the first byte promises: how many bytes follow, and the range of the next one, which is
 * what keeps out overlong forms, surrogates and too large values. All later ones are 80..BF. */
typedef struct Lead {
    size_t more;
    uint8_t low;
    uint8_t high;
    uint32_t bits;
} Lead;

static bool read_lead(uint8_t byte, Lead *out)
{
    if (byte >= 0xc2 && byte <= 0xdf) {
        *out = (Lead){1, 0x80, 0xbf, byte & 0x1fu};
    } else if (byte >= 0xe0 && byte <= 0xef) {
        *out = (Lead){2, byte == 0xe0 ? 0xa0 : 0x80, byte == 0xed ? 0x9f : 0xbf, byte & 0x0fu};
    } else if (byte >= 0xf0 && byte <= 0xf4) {
        *out = (Lead){3, byte == 0xf0 ? 0x90 : 0x80, byte == 0xf4 ? 0x8f : 0xbf, byte & 0x07u};
    } else {
        return false;
    }
    return true;
}

size_t utf8_decode(const uint8_t *p, size_t len, uint32_t *code_out)
{
    Lead lead;

    SAP_ASSERT(len > 0);
    if (p[0] < 0x80) {
        *code_out = p[0];
        return 1;
    }
    *code_out = UTF8_BAD;
    if (!read_lead(p[0], &lead)) {
        return 1;
    }
    uint32_t code = lead.bits;
    for (size_t i = 1; i <= lead.more; i++) {
        uint8_t low = i == 1 ? lead.low : 0x80;
        uint8_t high = i == 1 ? lead.high : 0xbf;

        if (i == len || p[i] < low || p[i] > high) {
            return i;
        }
        code = code << 6 | (p[i] & 0x3fu);
    }
    *code_out = code;
    return lead.more + 1;
}

size_t utf8_encode(uint32_t code, uint8_t out[4])
{
    SAP_ASSERT(code <= 0x10ffff && (code < 0xd800 || code > 0xdfff));
    if (code < 0x80) {
        out[0] = (uint8_t)code;
        return 1;
    }
    /* The first byte has as many leading ones as there are bytes. */
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (uint8_t)((0xf00u >> len) | code);
    return len;
}

bool utf8_valid(const void *data, size_t len)
{
    const uint8_t *p = (const uint8_t *)data;

    for (size_t i = 0; i < len;) {
        uint32_t code;
        i += utf8_decode(p + i, len - i, &code);
        if (code == UTF8_BAD) {
            return false;
        }
    }
    return true;
}

size_t utf8_prefix(const void *data, size_t len, size_t most)
{
    const uint8_t *bytes = (const uint8_t *)data;
    if (len <= most) {
        return len;
    }
    /* Bytes in the middle of a code point are 10xxxxxx. */
    while (most > 0 && (bytes[most] & 0xC0) == 0x80) {
        most--;
    }
    return most;
}
