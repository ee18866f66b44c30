/* trace.h - what happened in a run, as one hash, and as text for whoever reads a failure.
 *
 * The hash covers everything that is noted: choices, calls of the store and their answers. Only
 * numbers and bytes of rows go into it, no addresses, so that the same seed gives the same hash in
 * every process and on every machine. The text is never hashed: a run with it and one without it are
 * the same run. */
#ifndef SAPLING_SIMULATOR_TRACE_H
#define SAPLING_SIMULATOR_TRACE_H

#include <stdint.h>

#include "common/buf.h"
#include "common/hash.h"

typedef struct Trace {
    HashState hash;
    void (*print)(void *ctx, const char *line); /* NULL: no text is made */
    void *ctx;
} Trace;

void trace_init(Trace *trace, uint64_t seed);

/* Adds to the hash: three numbers, or bytes with their length. */
void trace_numbers(Trace *trace, uint64_t a, uint64_t b, uint64_t c);
void trace_bytes(Trace *trace, Slice bytes);

uint64_t trace_hash(const Trace *trace);

/* One line of text, indented by `depth`, if anybody reads it. */
void trace_print(const Trace *trace, uint32_t depth, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes as text: what can be printed as it is, the rest as \xNN; cut at some 40 characters. Returns
 * `text`. */
enum { TRACE_TEXT = 48 };
const char *trace_text_of(Slice bytes, char text[TRACE_TEXT]);

#endif
