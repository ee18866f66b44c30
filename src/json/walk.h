/* walk.h - the parts of a canonical JSON text (canonical.h), in place and without memory.
 *
 * Equal values are equal bytes, and so are equal keys; a part borrows the text. Nothing is checked:
 * a text that is not canonical is our own bug. */
#ifndef SAPLING_JSON_WALK_H
#define SAPLING_JSON_WALK_H

#include <stdbool.h>

#include "common/buf.h"

/* The next member of an object, or element of an array, from *at on, which is 0 at first; false: there
 * is none. The key has no quotes, and its escapes as they are. */
bool json_next_member(Slice object, size_t *at, Slice *key_out, Slice *value_out);
bool json_next_element(Slice array, size_t *at, Slice *value_out);

/* The value of the member with that key, as it is between its quotes. */
bool json_find_member(Slice object, Slice key, Slice *value_out);

/* Of a string: how many code points it has. */
size_t json_count_points(Slice string);

bool json_same_text(Slice a, Slice b);

/* Of a number. Integers of 64 bits are compared exactly, everything else as doubles. */
bool json_is_whole(Slice number);
int json_compare_numbers(Slice a, Slice b);

#endif
