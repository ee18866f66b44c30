/* clashes.c - whether two things of the schemas would have one name in C, or one file.
 *
 * Names of a schema have '-' where those in C have '_', capitals or nothing, and the package in front:
 * so different ones can become the same. */
#include "emit.h"

#include <stdlib.h>

typedef struct Emitted {
    const char *name;
    Place at;
    const char *what;
} Emitted;

typedef struct Names {
    Emitted *items;
    size_t count;
} Names;

static void add(Names *names, const char *name, Place at, const char *what)
{
    names->items = take_more(names->items, names->count, sizeof *names->items);
    names->items[names->count++] = (Emitted){name, at, what};
}

static void add_type(Names *names, const Type *type)
{
    const char *what = type_is_named(type) ? type->title : type_text(type);

    /* Functions of two types meet only if the types do. */
    add(names, type->c_name, type->at, what);
    bool cases = type_is_named(type) && type->kind != TYPE_RECORD;
    for (size_t i = 0; i < type->member_count && cases; i++) {
        const Member *member = &type->members[i];
        add(names, take_printf("%s_%s", upper(type->fn), upper(member->name)), member->at,
            take_printf("'%s' of %s", member->name, what));
    }
}

static void add_schema(Names *names, const Schema *schema)
{
    static const char *const files[] = {"", "_json", "_samples"};
    static const char *const numbers[] = {"MAJOR", "MINOR", "DBI_BASE", "DBI_COUNT"};
    const char *what = take_printf("package %s", schema->package);

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        add(names, take_printf("wit_%s%s.h", snake(schema->package), files[i]), schema->at, what);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        add(names, take_printf("WIT_%s_%s", upper(schema->package), numbers[i]), schema->at, what);
    }
    for (size_t i = 0; i < schema->order_count; i++) {
        add_type(names, schema->order[i]);
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        const Type *type = schema->types[i];
        if (type->kind == TYPE_ALIAS) {
            add(names, take_printf("Wit%s%s", camel(schema->package), camel(type->name)), type->at,
                type->title);
        }
    }
    for (size_t i = 0; i < schema->table_count; i++) {
        const Table *table = &schema->tables[i];
        add(names, take_printf("WIT_DBI_%s", upper(table->name)), table->key->at,
            take_printf("table %s", table->name));
    }
}

static int by_name(const void *a, const void *b)
{
    const Emitted *x = a;
    const Emitted *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : place_order(x->at, y->at);
}

void check_clashes(Schema *const *schemas, size_t count)
{
    Place nowhere = {"", 0, 0};
    Names names = {0};

    add(&names, "wit_schema_dbis.h", nowhere, "the table of all tables");
    add(&names, "WitSchemaDbi", nowhere, "the table of all tables");
    for (size_t i = 0; i < count; i++) {
        add_schema(&names, schemas[i]);
    }
    qsort(names.items, names.count, sizeof *names.items, by_name);
    for (size_t i = 1; i < names.count; i++) {
        const Emitted *one = &names.items[i - 1];
        const Emitted *other = &names.items[i];
        if (strcmp(one->name, other->name) == 0) {
            mistake(other->at, "%s would be called %s in C, as %s is", other->what, other->name,
                    one->what);
        }
    }
}
