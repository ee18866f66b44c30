/* number.h - doubles as ECMAScript prints them, and decimal digits as doubles.
 *
 * Nothing here depends on the locale: strtod() gets digits and an exponent without a decimal point,
 * and of what snprintf() prints only digits and exponent are used. */
#ifndef SAPLING_JSON_NUMBER_H
#define SAPLING_JSON_NUMBER_H

#include "common/buf.h"

/* A sign, 17 digits, "0." and 5 zeros, or an exponent; and 21 digits of an integer. */
enum { NUMBER_TEXT_SIZE = 32 };

/* Appends the shortest digits that read back as `v`, and of these the nearest to it, laid out as
 * ECMAScript's Number::toString does; 0 for -0. `v` is finite. SAP_NOMEM, SAP_FULL. */
int number_append(Buf *out, double v);

/* Reads a number of the grammar of JSON, text[0..len), rounded to the nearest double; infinite if
 * it is too large. `scratch` is for the digits. SAP_NOMEM, SAP_FULL: *out is as it was. */
int number_read(const uint8_t *text, size_t len, Buf *scratch, double *out);

#endif
