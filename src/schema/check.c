/* check.c - whether a schema means something: names, cycles, fields, tables, annotations. */
#include "schema/schema.h"

#include "common/assert.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

/* Beyond these no C compiler, or nobody who waits for it, would be glad of what is generated. */
enum { MOST_CASES = 65536, MOST_TYPES = 10000, MOST_PARTS = 1 << 17, MOST_UNNAMED = 256 };

static void resolve(const Schema *schema, Type *type)
{
    if (type == NULL) {
        return;
    }
    if (type->kind == TYPE_NAME) {
        type->target = find_type(schema, type->name);
        if (type->target == NULL) {
            mistake(type->at, "there is no type '%s'", type->name);
        }
        return;
    }
    for (size_t i = 0; i < type->member_count; i++) {
        resolve(schema, type->members[i].type);
    }
    if (type->kind == TYPE_ALIAS) {
        resolve(schema, type->target);
    }
}

/* A type that contains itself would have no end: lists and options do not help a flat struct. */
static void find_cycle(Type *type)
{
    if (type == NULL || type->visit == 2) {
        return;
    }
    if (type->kind == TYPE_NAME) {
        if (type->target != NULL && type->target->visit == 1) {
            mistake(type->at, "'%s' contains itself", type->name);
            type->target = NULL;
            return;
        }
        find_cycle(type->target);
        return;
    }
    type->visit = 1;
    for (size_t i = 0; i < type->member_count; i++) {
        find_cycle(type->members[i].type);
    }
    find_cycle(type->target);
    type->visit = 2;
}

static void check_names(const Schema *schema)
{
    for (size_t i = 0; i < schema->type_count; i++) {
        Type *type = schema->types[i];
        if (find_type(schema, type->name) != type) {
            mistake(type->at, "there is a type '%s' already", type->name);
        }
        if (type->kind != TYPE_ALIAS && type->member_count == 0) {
            mistake(type->at, "%s %s is empty", kind_text(type), type->name);
        }
        if (type->member_count > MOST_CASES) {
            mistake(type->at, "%s %s has more than %d members", kind_text(type), type->name,
                    MOST_CASES);
        }
        for (size_t a = 0; a < type->member_count; a++) {
            for (size_t b = 0; b < a; b++) {
                if (strcmp(type->members[a].name, type->members[b].name) == 0) {
                    mistake(type->members[a].at, "%s %s has '%s' twice", kind_text(type),
                            type->name, type->members[a].name);
                    break;
                }
            }
        }
    }
}

/* A list of what is u8 by another name is bytes too. */
static void find_bytes(Type *type)
{
    for (size_t i = 0; i < type->member_count; i++) {
        if (type->members[i].type != NULL) {
            find_bytes(type->members[i].type);
        }
    }
    if (type->kind == TYPE_ALIAS && type->target != NULL) {
        find_bytes(type->target);
    }
    const Type *of = type->kind == TYPE_LIST ? real_type(type->members[0].type) : NULL;
    if (of != NULL && of->kind == TYPE_U8) {
        type->kind = TYPE_BYTES;
        type->member_count = 0;
    }
}

/* How many values are in one of the type, of a list one element; with `declared`, also those in types
 * that have names. Stops to count above MOST_PARTS. */
static uint32_t count_parts(Type *type, bool declared)
{
    type = real_type(type);
    if (type == NULL) {
        return 0;
    }
    if (!declared && type_is_named(type)) {
        return 1;
    }
    if (type->parts[declared] == 0) {
        uint32_t sum = 1;
        for (size_t i = 0; i < type->member_count && sum <= MOST_PARTS; i++) {
            sum += count_parts(type->members[i].type, declared);
        }
        type->parts[declared] = sum <= MOST_PARTS ? sum : MOST_PARTS + 1;
    }
    return type->parts[declared];
}

/* Of types in each other only the innermost that is too large is told. */
static void check_size(Type *type)
{
    bool named = type_is_named(type);
    uint32_t most = named ? MOST_PARTS : MOST_UNNAMED;
    bool told = false;

    for (size_t i = 0; i < type->member_count; i++) {
        Type *of = type->members[i].type;
        if (of != NULL && of->kind < TYPE_RECORD) {
            check_size(of);
        }
        told = told || count_parts(of, named) > most;
    }
    if (count_parts(type, named) > most && !told) {
        mistake(type->at, "a value of this type has more than %" PRIu32 " parts%s", most,
                named ? "" : ": make records of it");
    }
}

static bool has_rest(Type *type)
{
    type = real_type(type);
    return type != NULL && type->kind == TYPE_RECORD && type->member_count > 0 &&
           type->members[type->member_count - 1].rest;
}

static void check_rest(Type *type)
{
    for (size_t i = 0; i < type->member_count; i++) {
        Member *member = &type->members[i];
        Type *of = real_type(member->type);
        if (of == NULL) {
            continue;
        }
        if (member->rest && (!type->frozen || i + 1 < type->member_count)) {
            mistake(member->at, "@rest is for the last field of a @frozen record");
        } else if (member->rest && of->kind != TYPE_BYTES && of->kind != TYPE_STRING) {
            mistake(member->at, "@rest is for a list<u8> or a string");
        }
        if (member->big_endian && (!type->frozen || !type_is_integer(of->kind))) {
            mistake(member->at, "@big-endian is for an integer in a @frozen record");
        }
    }
}

/* Bytes without a length can only stand at the end of all. */
static void check_parts(Type *type)
{
    for (size_t i = 0; i < type->member_count; i++) {
        Type *of = type->members[i].type;
        if (of == NULL) {
            continue;
        }
        if (has_rest(of)) {
            mistake(of->at, "'%s' ends with @rest and cannot be part of something else", of->name);
        }
        if (of->kind != TYPE_NAME) {
            check_parts(of);
        }
    }
}

static void check_key(Type *type, const char *table)
{
    Type *of = real_type(type);

    if (of == NULL) {
        return;
    }
    switch (of->kind) {
    case TYPE_RECORD:
    case TYPE_TUPLE:
        if (of->frozen) {
            mistake(type->at, "a frozen record has no order of its own, as part of key %s", table);
        }
        for (size_t i = 0; i < of->member_count; i++) {
            check_key(of->members[i].type, table);
        }
        break;
    case TYPE_F32:
    case TYPE_F64:
    case TYPE_LIST:
    case TYPE_OPTION:
    case TYPE_RESULT:
    case TYPE_VARIANT:
    case TYPE_FLAGS:
        mistake(type->at, "%s cannot be part of key %s: its bytes have no agreed order",
                type_text(type), table);
        break;
    default:
        break;
    }
}

static int by_dbi(const void *a, const void *b)
{
    const Table *x = a;
    const Table *y = b;

    return (x->dbi > y->dbi) - (x->dbi < y->dbi);
}

/* dbi<N>-<name>-key and -value; anything else is no row of a table. */
static void add_row(Schema *schema, Type *type)
{
    if (strncmp(type->name, "dbi", 3) != 0 || !isdigit((unsigned char)type->name[3])) {
        if (type->status != NULL || type->migration != NULL) {
            mistake(type->at, "@status and @migration are for the key of a table");
        }
        return;
    }
    char *end;
    unsigned long dbi = strtoul(type->name + 3, &end, 10);
    size_t len = strlen(end);
    bool key = len > 5 && strcmp(end + len - 4, "-key") == 0;
    bool value = len > 7 && strcmp(end + len - 6, "-value") == 0;
    if (dbi > MOST_DBI || (type->name[3] == '0' && end > type->name + 4)) {
        mistake(type->at, "the number of a table is 0 to %d, without zeros in front", MOST_DBI);
        return;
    }
    if (type->kind != TYPE_RECORD || *end != '-' || (!key && !value)) {
        mistake(type->at, "a name that begins with dbi and a number is dbi<N>-<name>-key or "
                          "dbi<N>-<name>-value, of a record");
        return;
    }
    const char *name = take_text(end + 1, len - 1 - (key ? 4 : 6));
    Table *table = NULL;
    for (size_t i = 0; i < schema->table_count; i++) {
        if (schema->tables[i].dbi == dbi) {
            table = &schema->tables[i];
        }
    }
    if (table == NULL) {
        schema->tables = take_more(schema->tables, schema->table_count, sizeof *schema->tables);
        table = &schema->tables[schema->table_count++];
        table->dbi = (uint32_t)dbi;
        table->name = name;
    } else if (strcmp(table->name, name) != 0) {
        mistake(type->at, "table %lu is called '%s' here and '%s' before", dbi, name, table->name);
    }
    *(key ? &table->key : &table->value) = type;
    if (value && (type->status != NULL || type->migration != NULL)) {
        mistake(type->at, "@status and @migration are for the key of a table");
    }
}

static void check_tables(Schema *schema)
{
    for (size_t i = 0; i < schema->type_count; i++) {
        add_row(schema, schema->types[i]);
    }
    if (schema->table_count == 0) {
        return;
    }
    qsort(schema->tables, schema->table_count, sizeof *schema->tables, by_dbi);
    for (size_t i = 0; i < schema->table_count; i++) {
        const Table *table = &schema->tables[i];
        const Type *any = table->key != NULL ? table->key : table->value;
        uint32_t wanted = schema->dbi_base + (uint32_t)i;
        if (table->dbi != wanted) {
            mistake(any->at,
                    "table %u has the number %u: numbers go on from @dbi-base without gaps", wanted,
                    table->dbi);
            return;
        }
        if (table->key == NULL || table->value == NULL) {
            mistake(any->at, "table %u has no record dbi%u-%s-%s", table->dbi, table->dbi,
                    table->name, table->key == NULL ? "key" : "value");
        } else if (!table->key->frozen) {
            for (size_t m = 0; m < table->key->member_count; m++) {
                check_key(table->key->members[m].type, table->key->name);
            }
        }
    }
}

static void check_refinements(const Schema *schema)
{
    for (size_t i = 0; i < schema->type_count; i++) {
        const Type *type = schema->types[i];
        for (Refinement *r = type->refinements; r != NULL; r = r->next) {
            refine_check(type, NULL, r);
        }
        for (size_t m = 0; m < type->member_count; m++) {
            for (Refinement *r = type->members[m].refinements; r != NULL; r = r->next) {
                refine_check(type, &type->members[m], r);
            }
        }
    }
}

static void check_schema(Schema *schema)
{
    if (schema->type_count > MOST_TYPES) {
        mistake(schema->types[MOST_TYPES]->at, "more than %d types in one file", MOST_TYPES);
        return;
    }
    check_names(schema);
    for (size_t i = 0; i < schema->type_count; i++) {
        resolve(schema, schema->types[i]);
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        find_cycle(schema->types[i]);
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        find_bytes(schema->types[i]);
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        Type *type = schema->types[i];
        if (type->kind != TYPE_ALIAS) {
            check_size(type);
        } else if (type->target != NULL && type->target->kind < TYPE_RECORD) {
            check_size(type->target);
        }
    }
    if (mistake_count() > 0) {
        return;
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        if (schema->types[i]->kind == TYPE_RECORD) {
            check_rest(schema->types[i]);
        }
        check_parts(schema->types[i]);
    }
    check_tables(schema);
    check_refinements(schema);
}

/* Tables of several files share one space of numbers, and types one space of C names. */
static void check_together(Schema *const *schemas, size_t count)
{
    for (size_t a = 0; a < count; a++) {
        for (size_t b = 0; b < a; b++) {
            const Schema *x = schemas[a];
            const Schema *y = schemas[b];
            Place top = {x->file, 1, 1};
            if (strcmp(x->package, y->package) == 0) {
                mistake(top, "package '%s' is also in %s", x->package, y->file);
            }
            if (x->table_count > 0 && y->table_count > 0 &&
                x->dbi_base < y->dbi_base + y->table_count &&
                y->dbi_base < x->dbi_base + x->table_count) {
                mistake(top, "tables %u to %zu overlap with those of %s", x->dbi_base,
                        x->dbi_base + x->table_count - 1, y->file);
            }
            for (size_t i = 0; i < x->table_count * y->table_count; i++) {
                const Table *table = &x->tables[i % x->table_count];
                if (strcmp(table->name, y->tables[i / x->table_count].name) == 0) {
                    mistake(table->key->at, "there is a table '%s' in %s already", table->name,
                            y->file);
                }
            }
        }
    }
}

/* Asserts of a type, and of each part that has no name of its own, what schema.h promises. */
static void type_assert_valid(const Schema *schema, Type *type)
{
    Type *real = real_type(type);

    SAP_ASSERT(real != NULL && real->kind != TYPE_NAME && real->kind != TYPE_ALIAS);
    if (type->kind == TYPE_NAME) {
        SAP_ASSERT(type->target == find_type(schema, type->name));
        return;
    }
    if (type->kind == TYPE_ALIAS) {
        type_assert_valid(schema, type->target);
        return;
    }
    SAP_ASSERT(!type_is_named(type) || (type->member_count > 0 && type->title != NULL));
    SAP_ASSERT(type->kind > TYPE_LAST_SIMPLE || type->member_count == 0);
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        bool last = i + 1 == type->member_count;

        SAP_ASSERT(!member->rest || (type->frozen && last));
        if (member->type != NULL) {
            type_assert_valid(schema, member->type);
        } else {
            SAP_ASSERT(type->kind == TYPE_VARIANT || type->kind == TYPE_RESULT ||
                       type->kind == TYPE_ENUM || type->kind == TYPE_FLAGS);
        }
    }
}

void schema_assert_valid(const Schema *schema)
{
    SAP_ASSERT(mistake_count() == 0);
    SAP_ASSERT(schema->package != NULL);
    for (size_t i = 0; i < schema->type_count; i++) {
        SAP_ASSERT(type_is_named(schema->types[i]));
        SAP_ASSERT(find_type(schema, schema->types[i]->name) == schema->types[i]);
        SAP_ASSERT(schema->types[i]->visit == 2); /* no cycle was found on its way */
        type_assert_valid(schema, schema->types[i]);
    }
    for (size_t i = 0; i < schema->table_count; i++) {
        const Table *table = &schema->tables[i];

        SAP_ASSERT(table->dbi == schema->dbi_base + i && table->dbi <= MOST_DBI);
        SAP_ASSERT(table->key != NULL && table->key->kind == TYPE_RECORD);
        SAP_ASSERT(table->value != NULL && table->value->kind == TYPE_RECORD);
    }
}

void check_schemas(Schema *const *schemas, size_t count)
{
    for (size_t i = 0; i < count && mistake_count() == 0; i++) {
        check_schema(schemas[i]);
    }
    if (mistake_count() == 0) {
        check_together(schemas, count);
    }
    for (size_t i = 0; i < count && mistake_count() == 0; i++) {
        schema_assert_valid(schemas[i]);
    }
}
