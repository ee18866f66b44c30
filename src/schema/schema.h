/* schema.h - a schema in memory, and the steps from text to one that can be used.
 *
 *   read_schema    text -> Schema        lexer.c, parser.c
 *   check_schemas  names, types, tables  check.c, refine.c
 *
 * Everything lives until release_all: those who read schemas do so once, so nothing is freed on the
 * way and `take` never returns NULL. A mistake of the schema is remembered with its place and
 * reading goes on; a schema may be used only if there are no mistakes. For one thread.
 *
 * Of a schema that was checked without mistakes (schema_assert_valid):
 *  1. Every TYPE_NAME and TYPE_ALIAS leads to a type, through other names perhaps, and no type
 *     contains itself: real_type() is not NULL.
 *  2. Types have names that differ; a record, variant, enum or flags has at least one member.
 *  3. A member has a type, unless it is a case, a flag or a side of a result.
 *  4. A list of what is u8 is TYPE_BYTES. Simple types have no members.
 *  5. Bytes without a length (@rest) are the last field of a frozen record.
 *  6. Tables are in the order of their numbers, which go on from dbi_base without gaps; each has a
 *     key and a value, which are records.
 *  7. The expression of every refinement has a type, which is a truth (refine_check). */
#ifndef SAPLING_SCHEMA_SCHEMA_H
#define SAPLING_SCHEMA_SCHEMA_H

#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Place {
    const char *file;
    uint32_t line;
    uint32_t column; /* in bytes, from 1 */
} Place;

/* Below, at or above 0, by file, line and column. */
int place_order(Place a, Place b);

/* Zeroed memory that is given back by release_all. */
void *take(size_t size);
char *take_text(const char *text, size_t len);
char *take_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The array `items` of `count` elements with room for one more, which is zeroed. */
void *take_more(void *items, size_t count, size_t size);
void release_all(void);

/* Says why on standard error and ends the program, by the name and status of die_as. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die_as(const char *program, int status);

typedef struct Mistake {
    Place at;
    const char *text;
} Mistake;

void mistake(Place at, const char *format, ...) __attribute__((format(printf, 2, 3)));
size_t mistake_count(void);
/* In the order of their places; borrowed until the next mistake. NULL: none. */
const Mistake *mistakes_sorted(void);
/* Prints them on standard error. */
void report_mistakes(void);

/* Appends text; ends the program without memory. */
void out(Buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

typedef enum {
    TOKEN_END,
    TOKEN_NAME,
    TOKEN_NUMBER, /* of digits, hexadecimal too */
    TOKEN_REAL,
    TOKEN_VERSION, /* 1.2.3 */
    TOKEN_STRING,
    TOKEN_MARK, /* punctuation: one or two characters */
    TOKEN_DOC   /* one line of documentation, without its slashes */
} TokenKind;

typedef struct Token {
    TokenKind kind;
    Place at;
    const char *text; /* a string without its quotes */
    uint64_t number;
    double real;
} Token;

typedef struct Lexer {
    const char *p;
    const char *end;
    Place at;
    Token now;      /* the token to look at */
    unsigned depth; /* of what is nested: types in types, parentheses */
    unsigned terms; /* of an expression, so far */
    bool too_deep;  /* what is missing behind that is no mistake of its own */
} Lexer;

void lexer_start(Lexer *lexer, Place at, const char *text, size_t len);
void lexer_next(Lexer *lexer);
bool lexer_is(const Lexer *lexer, const char *text);
/* Whether one more level of nesting is too much, which is a mistake then. */
bool lexer_too_deep(Lexer *lexer);
/* The same of one more term. */
bool lexer_too_long(Lexer *lexer);

typedef enum {
    TYPE_BOOL,
    TYPE_U8,
    TYPE_U16,
    TYPE_U32,
    TYPE_U64,
    TYPE_S8,
    TYPE_S16,
    TYPE_S32,
    TYPE_S64,
    TYPE_F32,
    TYPE_F64,
    TYPE_CHAR,
    TYPE_STRING,
    TYPE_BYTES, /* list<u8> */
    TYPE_LAST_SIMPLE = TYPE_BYTES,
    TYPE_LIST,
    TYPE_OPTION,
    TYPE_TUPLE,
    TYPE_RESULT,
    TYPE_RECORD,
    TYPE_VARIANT,
    TYPE_ENUM,
    TYPE_FLAGS,
    TYPE_ALIAS,
    TYPE_NAME /* a use of a name; `target` once it is resolved */
} TypeKind;

typedef struct Expr Expr;

typedef struct Refinement {
    Place at;
    const char *text;
    Expr *expr;
    struct Refinement *next;
} Refinement;

typedef struct Type Type;

/* A field, a case, an element: `type` is NULL for a case without payload. */
typedef struct Member {
    const char *name;
    Place at;
    Type *type;
    const char *written; /* the type as the schema has it, once it is laid out */
    const char *doc;
    Refinement *refinements;
    bool rest;       /* takes all bytes that are left, without a length */
    bool big_endian; /* in a frozen record */
} Member;

struct Type {
    TypeKind kind;
    const char *name;  /* as declared; of what has no name: made of its parts */
    const char *title; /* "record x", of what is declared and no alias */
    Place at;
    const char *doc;
    Member *members;
    size_t member_count;
    Type *target; /* of TYPE_ALIAS and TYPE_NAME */

    bool frozen;
    const char *magic; /* NULL: none */
    Refinement *refinements;

    const char *status; /* of the key record of a table */
    const char *migration;

    uint32_t parts[2]; /* how many it has, once they were counted; 1: through declared types too */
    int visit;         /* while looking for cycles: 1 on the way, 2 done */
    bool placed;       /* is in Schema.order */
    bool in_key;       /* needs the codec of keys */
    bool table_key;    /* is the key of a table: its bytes are those of a key */
    bool in_value;     /* needs the codec of values */
    bool nested;       /* is part of another value */
    bool owns;         /* holds memory */
    bool checked;      /* not every value of the C type is a value of this type */
    uint64_t min_size; /* least_bytes(), once it was asked for */
    const char *c_name;
    const char *fn; /* what its functions begin with */
};

enum { MOST_DBI = 1023 }; /* the number of the last table that a file can have */

typedef struct Table {
    uint32_t dbi;
    const char *name;
    Type *key;
    Type *value;
} Table;

typedef struct Schema {
    const char *file;
    Place at;            /* of the package's name */
    const char *package; /* the part after the colon */
    const char *doc;
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
    uint32_t dbi_base;
    const char *owner;
    Type **types; /* as declared */
    size_t type_count;
    Type **order; /* every type that needs code, parts first */
    size_t order_count;
    Table *tables;
    size_t table_count;
} Schema;

/* Mistakes are remembered. Ends the program if the file cannot be read. */
Schema *read_schema(const char *file);
/* The same of a text, which must live as long as the schema. */
Schema *parse_schema(const char *file, const char *text, size_t len);
/* Checks each, and what several share: numbers and names of tables, names of packages. Nothing is
 * checked if reading found mistakes. */
void check_schemas(Schema *const *schemas, size_t count);

/* Asserts the invariants above. For what check_schemas() accepted. */
void schema_assert_valid(const Schema *schema);

/* All of a file; NULL: errno says why not. */
const char *read_text(const char *file, size_t *len_out);

/* --- types (types.c) ------------------------------------------------------------------------- */

/* The type behind names and aliases. NULL if one of them is unknown. */
Type *real_type(Type *type);
Type *find_type(const Schema *schema, const char *name);
const Member *find_member(const Type *type, const char *name);
bool type_is_integer(TypeKind kind);
bool type_is_signed(TypeKind kind);
unsigned type_bits(TypeKind kind); /* of an integer */
/* Whether it is one of the types that the schema gives a name. */
bool type_is_named(const Type *type);
/* Bytes of the number of an enum's or variant's case; of flags, all their bytes. */
unsigned tag_bytes(const Type *type);
unsigned flag_bytes(const Type *type);
/* How few bytes a value of it has. */
uint64_t least_bytes(Type *type);
/* The first field from which on all are options, in a record that may grow. */
size_t growth_start(const Type *record);
const char *type_text(const Type *type); /* as in the schema */
const char *kind_text(const Type *type); /* "record" and so on */

/* --- refinements (refine.c) ------------------------------------------------------------------ */

/* Parses, and later checks, the expression of a refinement. `field` is NULL above a record. */
Expr *refine_parse(Lexer *lexer);
void refine_check(const Type *record, const Member *field, Refinement *refinement);

#endif
