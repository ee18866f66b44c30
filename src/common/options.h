/* options.h - structs that programs fill in, and that may have grown since a program was compiled.
 *
 * The rule is in sapling/version.h. A public call that takes such a struct reads it once, into one of
 * its own, and looks at nothing else: there all fields are, and those that the program does not know
 * of are zero. A struct with reserved members instead is checked with options_all_zero(). */
#ifndef SAP_COMMON_OPTIONS_H
#define SAP_COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sapling/error.h"

/* Where a member ends; `member` may be one of a struct within (worker.runner.random_ctx). */
#define OPTIONS_END(type, member) (offsetof(type, member) + sizeof(((type *)0)->member))

/* Says of an options struct which member the first release ended with, and which is the last one
 * today. The end must have no padding: a field that is put there later would be read from bytes that
 * an older program never set. (A library for 32 bits is linked statically, so that its structs
 * cannot differ.) */
#define OPTIONS_LAYOUT(type, last_of_first_release, last)                          \
    enum { type##_FIRST_SIZE = (int)OPTIONS_END(type, last_of_first_release) };    \
    _Static_assert(offsetof(type, size) == 0, "the size comes first");             \
    _Static_assert(OPTIONS_END(type, last) == sizeof(type) || sizeof(void *) != 8, \
                   "name the last member, and fill the padding at the end with one")

/* Reads *given (NULL: all zero) into *known, both of this type. SAP_ERROR: see sapling/version.h. */
#define OPTIONS_READ(type, known, given) options_read(known, sizeof(type), type##_FIRST_SIZE, given)

/* For OPTIONS_READ. known->size is known_size then, so that what was read can be passed on. */
int options_read(void *known, size_t known_size, size_t first_size, const void *given);

bool options_all_zero(const void *bytes, size_t len);

#endif
