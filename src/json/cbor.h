/* cbor.h - the one CBOR encoding of a value.
 *
 * The form is the core deterministic encoding of RFC 8949, section 4.2.1: the shortest heads, the
 * shortest float that keeps the value, definite lengths, map keys sorted by the bytes of their
 * encoding. Every NaN is f97e00. Tags and simple values are kept as they are, and so is what
 * distinguishes them: 1, 1.0 and a bignum 1 are three values, and -0.0 is not 0.0.
 *
 * The input is one well-formed item with lengths and numbers of any width, text in UTF-8, and no
 * key twice in a map (compared in the form above). Nothing is allocated by a length that the input
 * only claims.
 *
 * A deterministic encoding is its own deterministic encoding. */
#ifndef SAPLING_JSON_CBOR_H
#define SAPLING_JSON_CBOR_H

#include "json/canonical.h"

/* Appends the deterministic form of data[0..len), which is borrowed for the call and lies outside
 * of *out. On failure *out holds what it held, and *error, which may be NULL, says what is wrong.
 * SAP_INVALID: not such an item. SAP_FULL: nested deeper than CANONICAL_MAX_DEPTH. SAP_NOMEM. */
int cbor_canonical(const void *data, size_t len, Buf *out, CanonicalError *error);

#endif
