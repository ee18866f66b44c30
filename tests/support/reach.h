/* reach.h - what a power cut can make of the pages of a data file.
 *
 * Pages are stored through a mapping, so any page may have reached the disk at any time, in whole or
 * in part. Only what the newest valid meta leads to is known to be as it was synced. */
#ifndef SAPLING_TESTS_REACH_H
#define SAPLING_TESTS_REACH_H

#include "common/random.h"

#include <stdint.h>

/* Replaces every page of the data file that its newest valid meta does not reach by random bytes;
 * without a valid meta, everything behind the header. Now and then the file also ends later. No file
 * is no page. Returns how many pages were replaced. */
uint64_t reach_spoil(const char *path, Rng *rng);

#endif
