/* units.h - times and sizes as people write them. */
#ifndef SAPLING_NODE_UNITS_H
#define SAPLING_NODE_UNITS_H

#include <stdbool.h>
#include <stdint.h>

/* A number with ms, s, m, h or d after it; without one seconds. False: it is none, or above UINT64_MAX ms. */
bool units_read_time(const char *text, uint64_t *ms_out);

/* A number of bytes, or with K, M or G after it of as many KiB, MiB or GiB. */
bool units_read_size(const char *text, uint64_t *bytes_out);

#endif
