/* ids.h - 128-bit names in order of time.
 *
 * The layout is version 7 of RFC 9562, most significant byte first:
 *
 *   bits   0..47   wall time in ms since 1970
 *         48..51   0111, the version
 *         52..63   upper 12 bits of the tail
 *         64..65   10, the variant
 *         66..127  lower 62 bits of the tail
 *
 * Within one generator every id is above the one before, by id_compare, memcmp and text alike,
 * also within one millisecond and when the clock goes back: the time part never decreases; while
 * it stays the same, the 74-bit tail grows by a random step, and a tail that would overflow moves
 * the time part one ahead of the clock. In a new millisecond the tail is drawn afresh, which
 * keeps the ids of different generators apart. */
#ifndef SAPLING_COMMON_IDS_H
#define SAPLING_COMMON_IDS_H

#include "common/clock.h"
#include "common/random.h"

#include <stddef.h>
#include <stdint.h>

enum { ID_SIZE = 16, ID_TEXT_LEN = 36 };

typedef struct Id128 {
    uint8_t bytes[ID_SIZE];
} Id128;

/* One thread at a time. Needs no release. */
typedef struct IdGen {
    const Clock *clock;
    const Random *random;
    uint64_t last_ms;   /* 48 bits */
    uint64_t tail_high; /* 12 bits */
    uint64_t tail_low;  /* 62 bits */
} IdGen;

/* `clock` and `random` are borrowed as long as the generator is used; NULL is the system's. */
void idgen_init(IdGen *gen, const Clock *clock, const Random *random);

/* SAP_IO: no randomness. SAP_FULL: the 48 bits of time are used up (in the year 10889). On either
 * the generator is as it was. */
int idgen_next(IdGen *gen, Id128 *out);

/* Byte order: -1, 0 or 1. */
int id_compare(Id128 a, Id128 b);

/* The canonical text, lower-case with four hyphens, and a NUL. */
void id_format(Id128 id, char out[ID_TEXT_LEN + 1]);

/* Takes exactly what id_format gives, of any 128 bits, and nothing else: one id has one text.
 * SAP_INVALID: any other length, case or punctuation. */
int id_parse(const char *text, size_t len, Id128 *out);

#endif
