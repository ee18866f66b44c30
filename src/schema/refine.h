/* refine.h - the expression of a refinement, for those who compute it or write it as code. */
#ifndef SAPLING_SCHEMA_REFINE_H
#define SAPLING_SCHEMA_REFINE_H

#include "common/codec.h"
#include "schema/schema.h"

typedef enum { OF_ERROR, OF_BOOL, OF_INTEGER, OF_REAL, OF_CASE } ExprType;

typedef enum {
    EXPR_NUMBER,
    EXPR_REAL,
    EXPR_TRUTH,
    EXPR_PATH,
    EXPR_LEN,
    EXPR_HAS,
    EXPR_CASE, /* a path that turned out to be a case of the enum `type` */
    EXPR_NOT,
    EXPR_MINUS,
    EXPR_BINARY
} ExprKind;

struct Expr {
    ExprKind kind;
    Place at;
    const char *op;      /* of a binary one */
    const char *name[8]; /* of a path */
    size_t name_count;
    uint64_t number;
    double real;
    Expr *left;
    Expr *right;
    const Type *type; /* of a path, once it is checked; of its flags if it names one */
    bool flag;
};

/* What name i of a path, in a value of `type`, stands for; NULL: nothing. `value` is the field that the
 * refinement is above, whatever else is called so; above a record it is a member as any other. */
const Member *refine_member(const Type *type, const Member *field, const Expr *expr, size_t i);

/* Of an expression that was checked. */
ExprType refine_type(const Expr *expr);

/* Whether an expression that depends on one integer holds where that is `at`; *bad is set where it
 * cannot be computed. */
bool refine_holds_at(const Expr *expr, CodecNumber at, bool *bad);

#endif
