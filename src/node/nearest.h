/* nearest.h - of the names that exist the one that a mistyped name may have meant. */
#ifndef SAPLING_NODE_NEAREST_H
#define SAPLING_NODE_NEAREST_H

#include <stddef.h>

typedef struct Nearest {
    const char *wanted; /* borrowed, as the names that are tried */
    size_t wanted_len;
    const char *name; /* the nearest so far; NULL: none is near */
    size_t distance;
} Nearest;

void nearest_start(Nearest *nearest, const char *wanted, size_t len);
void nearest_try(Nearest *nearest, const char *name);

#endif
