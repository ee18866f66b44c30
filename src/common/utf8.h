/* utf8.h - text from outside, one code point at a time.
 *
 * Well-formed is what the Unicode standard says: no overlong forms, no surrogates, nothing above
 * U+10FFFF. Decoding never fails and always moves on: ill-formed bytes are taken as the standard
 * recommends, each longest start of a sequence that cannot be completed as one UTF8_BAD. */
#ifndef SAPLING_COMMON_UTF8_H
#define SAPLING_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Not a code point: stands for ill-formed bytes. Apart from U+FFFD, which is well-formed input. */
#define UTF8_BAD UINT32_MAX

/* Decodes the code point, or UTF8_BAD, that p[0..len) starts with; len > 0. Returns how many bytes
 * it takes: 1 to 4. */
size_t utf8_decode(const uint8_t *p, size_t len, uint32_t *code_out);

/* Writes the code point `code`, up to U+10FFFF and not a surrogate, and returns how many bytes it
 * takes: 1 to 4. */
size_t utf8_encode(uint32_t code, uint8_t out[4]);

/* Whether all of data[0..len) is well-formed. */
bool utf8_valid(const void *data, size_t len);

/* How many of the well-formed data[0..len) to keep, `most` at most, so that no code point is cut. */
size_t utf8_prefix(const void *data, size_t len, size_t most);

#endif
