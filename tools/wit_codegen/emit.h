/* emit.h - from a schema that was checked to C, manifest and pages.
 *
 *   layout_schema  order, names, sizes   layout.c
 *   check_clashes  names in C            clashes.c
 *   emit_*         C, manifest, pages    emit_*.c
 *
 * Output depends on the input alone. */
#ifndef SAPLING_TOOLS_EMIT_H
#define SAPLING_TOOLS_EMIT_H

#include "schema/refine.h"

void layout_schema(Schema *schema);

/* Reports what would have the same name in C as something else, of schemas that were laid out. */
void check_clashes(Schema *const *schemas, size_t count);

/* Reports tables whose @status is not what the C files under `directory` do. */
void check_status(Schema *schema, const char *directory);

/* The expression in C, over the record `v`, with `bad` as the place of what cannot be computed. */
void refine_emit(Buf *out, const Type *record, const Member *field, const Refinement *refinement);
/* The condition under which all options that the expression reads are present; "" for none. */
void refine_emit_present(Buf *out, const Type *record, const Member *field,
                         const Refinement *refinement);

/* One number of the record that decides a refinement alone, and values at its edges. */
typedef struct Edges {
    const char *path; /* in C, below `v->` */
    const Type *type; /* of the number; of what is measured if of_length */
    bool of_length;
    struct {
        bool negative;
        uint64_t size;
        bool holds;
    } at[64];
    size_t count;
} Edges;

/* False if the refinement depends on more than one number, or on none. */
bool refine_edges(const Type *record, const Member *field, const Refinement *refinement,
                  Edges *edges_out);

/* What decides a comparison that depends on several numbers, as in `a + b <= len(c)`: one number of
 * it that can be set to where both sides are equal, or one truth. */
typedef struct Lever {
    const char *path; /* in C, below `v->` */
    const Type *type; /* of the number, or of the flags; a bool otherwise */
    size_t flag;      /* which one, of flags */
    const char *op;   /* with the path at its left */
    const char *free; /* a condition in C under which the refinement holds anyway; "": none */
    const char *even; /* in C: the number, or truth, at which both sides are equal */
} Lever;

/* False if there is none, or options are read. */
bool refine_lever(const Type *record, const Member *field, const Refinement *refinement,
                  Lever *lever_out);

const char *snake(const char *name);    /* a-b -> a_b */
const char *upper(const char *name);    /* a-b -> A_B */
const char *camel(const char *name);    /* a-b -> AB, capitals first */
const char *c_string(const char *text); /* with its quotes */
/* As it may stand in a comment, which it does not end. */
const char *c_comment(const char *text);

void emit_header(const Schema *schema, Buf *buf);
void emit_source(const Schema *schema, Buf *buf);
void emit_key_functions(const Type *type, Buf *buf);
void emit_json_header(const Schema *schema, Buf *buf);
void emit_json_source(const Schema *schema, Buf *buf);
void emit_samples_header(const Schema *schema, Buf *buf);
void emit_samples_source(const Schema *schema, Buf *buf);
void emit_dbis_header(Schema *const *schemas, size_t count, Buf *buf);
void emit_dbis_source(Schema *const *schemas, size_t count, Buf *buf);
void emit_manifest(Schema *const *schemas, size_t count, Buf *buf);
void emit_page(Schema *const *schemas, size_t count, Buf *buf);

/* The type that stands for `type` in Schema.order; NULL if it needs no code. */
Type *placed_type(const Schema *schema, Type *type);

/* What is the same at the head of every generated file. */
void emit_notice(const Schema *schema, Buf *buf, const char *file, const char *about);

#endif
