/* value.h - bytes of a row, taken apart by a schema that was read at run time.
 *
 * Does what generated code does, without generating any: the same bytes are refused, with the same
 * text, and the same refinements are checked. */
#ifndef SAPLING_SCHEMA_VALUE_H
#define SAPLING_SCHEMA_VALUE_H

#include "common/codec.h"
#include "schema/schema.h"

/* What is used depends on the type. */
typedef struct Value {
    uint64_t
        number;   /* integers, bool, char; number of a case; bits of flags; an option: is there */
    double real;  /* of both widths */
    float single; /* f32, with the bits of a NaN */
    CodecBytes bytes;    /* string, list<u8>, flags beyond 64 */
    struct Value *parts; /* fields, elements; what an option, a case or a result holds */
    uint32_t part_count;
} Value;

/* Decodes a value of a named type of a schema without mistakes. Caller owns *v_out on SAP_OK, release
 * with value_free. SAP_INVALID: *error says what is wrong where. */
int value_decode(const Schema *schema, Type *type, const void *data, size_t len, Value *v_out,
                 CodecError *error);
void value_free(Value *v);

/* An integer of the type `kind`, whose bits are in v->number. */
int64_t value_signed(const Value *v, TypeKind kind);

#endif
