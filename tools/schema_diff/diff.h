/* diff.h - what of an old schema breaks when a new one takes its place.
 *
 * Three are asked about. An old reader is a program of the old schema that gets bytes of a new one; a
 * new reader is the other way round; stored rows are those in files that the new program opens. Rules
 * are those of "Bytes of values" and "Bytes of keys" of the schema language: bytes decide, so a field
 * that was renamed breaks only readers of JSON, and everything that can be read without its author's
 * help is compatible. So is an option that was appended, although an old reader of JSON, which is
 * strict, refuses an object that has it. */
#ifndef SAPLING_TOOLS_DIFF_H
#define SAPLING_TOOLS_DIFF_H

#include "schema/schema.h"

enum { FOR_OLD = 1, FOR_NEW = 2, FOR_ROWS = 4, FOR_ALL = 7 };

typedef struct Break {
    Place at;          /* in the new file, or in the old one for what is gone */
    const char *kind;  /* for programs: words with '-' */
    const char *what;  /* "record x", "table x", "package x" */
    const char *field; /* or case, or flag; NULL: it is about all of it */
    const char *part;  /* what `field` is called: "field", "case", "flag" */
    const char *text;
    unsigned whom;
} Break;

typedef struct Diff {
    Break *breaks; /* in the order of their places */
    size_t count;
} Diff;

/* Of schemas without mistakes. Lives until release_all. */
Diff diff_schemas(Schema *const *old, size_t old_count, Schema *const *new, size_t new_count);

/* How a refinement that was replaced by another changed: FOR_OLD if there are values that only the
 * new one accepts, FOR_NEW if there are some that only the old one does. Both where that is not
 * known, neither where they mean the same. */
unsigned diff_refinements(const Member *field, const Refinement *old, const Refinement *new);

#endif
