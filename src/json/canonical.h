/* canonical.h - the one JSON text of a value, so that equal values have equal bytes and hashes.
 *
 * The form is RFC 8785 (JCS): no white space, members sorted by the UTF-16 code units of their
 * keys, the fewest escapes, numbers as ECMAScript prints them. There is one departure, because
 * 64-bit ids must survive and a double keeps 53 bits: an integer that is written without fraction
 * and exponent and fits int64_t or uint64_t keeps its digits. All other numbers are doubles: larger
 * integers too, and 1.0 is 1. A number that is too large for a double is refused; one that is too
 * small is 0, and -0 is 0.
 *
 * The input is strict JSON in UTF-8: one value, nothing but white space around it, no member
 * twice (compared after escapes are resolved), no half of a surrogate pair, no byte order mark.
 *
 * A canonical text is its own canonical text. */
#ifndef SAPLING_JSON_CANONICAL_H
#define SAPLING_JSON_CANONICAL_H

#include "common/buf.h"

/* Arrays and objects (in CBOR also tags) that may be inside each other. */
enum { CANONICAL_MAX_DEPTH = 64 };

typedef struct CanonicalError {
    size_t at;          /* bytes of the input before what is wrong */
    const char *reason; /* static text */
} CanonicalError;

/* Appends the canonical text of text[0..len), which is borrowed for the call and lies outside of
 * *out. Needs at most some ten times `len` of memory; the depth of the calls is bounded.
 * On failure *out holds what it held, and *error, which may be NULL, says what is wrong.
 * SAP_INVALID: not strict JSON. SAP_FULL: nested deeper than CANONICAL_MAX_DEPTH. SAP_NOMEM. */
int json_canonical(const void *text, size_t len, Buf *out, CanonicalError *error);

/* Writes *error, if there is one, and returns `rc`. */
int canonical_refuse(CanonicalError *error, int rc, size_t at, const char *reason);

#endif
