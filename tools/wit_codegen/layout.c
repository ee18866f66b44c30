/* layout.c - what the emitters need to know of each type: C names, order, sizes, memory.
 *
 * Types without a name of their own (lists, options, tuples, results) are shared: two that are
 * written alike become one C type. */
#include "emit.h"

static const char *const simple[] = {
    [TYPE_BOOL] = "bool",         [TYPE_U8] = "uint8_t",       [TYPE_U16] = "uint16_t",
    [TYPE_U32] = "uint32_t",      [TYPE_U64] = "uint64_t",     [TYPE_S8] = "int8_t",
    [TYPE_S16] = "int16_t",       [TYPE_S32] = "int32_t",      [TYPE_S64] = "int64_t",
    [TYPE_F32] = "float",         [TYPE_F64] = "double",       [TYPE_CHAR] = "uint32_t",
    [TYPE_STRING] = "CodecBytes", [TYPE_BYTES] = "CodecBytes",
};

/* The name of a type that has none, of its parts: words and '-' only. */
static const char *made_name(const Type *type)
{
    if (type == NULL) {
        return "none";
    }
    if (type->kind <= TYPE_LAST_SIMPLE) {
        return type->kind == TYPE_BYTES ? "bytes" : type_text(type);
    }
    if (type->kind == TYPE_NAME || type->kind == TYPE_ALIAS) {
        return made_name(type->target);
    }
    if (type->kind >= TYPE_RECORD) {
        return type->name;
    }
    const char *text = type->kind == TYPE_LIST     ? "list"
                       : type->kind == TYPE_OPTION ? "option"
                       : type->kind == TYPE_RESULT ? "result"
                                                   : take_printf("tuple%zu", type->member_count);
    for (size_t i = 0; i < type->member_count; i++) {
        text = take_printf("%s-%s", text, made_name(type->members[i].type));
    }
    return text;
}

static bool same(Type *a, Type *b)
{
    a = real_type(a);
    b = real_type(b);
    if (a == b) {
        return true;
    }
    if (a == NULL || b == NULL || a->kind != b->kind || a->member_count != b->member_count ||
        a->kind >= TYPE_RECORD) {
        return false;
    }
    for (size_t i = 0; i < a->member_count; i++) {
        if (!same(a->members[i].type, b->members[i].type)) {
            return false;
        }
    }
    return true;
}

static bool name_taken(const Schema *schema, const char *name)
{
    if (find_type(schema, name) != NULL) {
        return true;
    }
    for (size_t i = 0; i < schema->order_count; i++) {
        if (strcmp(schema->order[i]->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void measure(Type *type)
{
    type->min_size = least_bytes(type);
    type->owns = type->kind == TYPE_LIST;
    type->checked = type->refinements != NULL || type->kind == TYPE_ENUM ||
                    type->kind == TYPE_VARIANT ||
                    (type->kind == TYPE_FLAGS && type->member_count < 8u * flag_bytes(type));
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        const Type *of = member->type;
        type->owns = type->owns || (of != NULL && of->owns);
        type->checked = type->checked || member->refinements != NULL || (of != NULL && of->checked);
    }
}

/* Puts the parts of a type, then the type, in order; returns the one that stands for it. */
static Type *place(Schema *schema, Type *type)
{
    type = real_type(type);
    if (type == NULL || type->placed) {
        return type;
    }
    if (type->kind <= TYPE_LAST_SIMPLE) {
        type->placed = true;
        type->c_name = simple[type->kind];
        type->min_size = least_bytes(type);
        type->owns = type->kind == TYPE_STRING || type->kind == TYPE_BYTES;
        type->checked = type->kind == TYPE_STRING || type->kind == TYPE_CHAR;
        return type;
    }
    for (size_t i = 0; i < schema->order_count; i++) {
        if (same(schema->order[i], type)) {
            return schema->order[i];
        }
    }
    if (type->kind < TYPE_RECORD) {
        const char *name = made_name(type);
        const char *full = name;
        for (unsigned n = 2; name_taken(schema, full); n++) {
            full = take_printf("%s-%u", name, n);
        }
        type->name = full;
    }
    for (size_t i = 0; i < type->member_count; i++) {
        type->members[i].written =
            type->members[i].type == NULL ? "" : type_text(type->members[i].type);
        type->members[i].type = place(schema, type->members[i].type);
    }
    type->placed = true;
    type->c_name = take_printf("Wit%s%s", camel(schema->package), camel(type->name));
    type->fn = take_printf("wit_%s_%s", snake(schema->package), snake(type->name));
    measure(type);
    schema->order = take_more(schema->order, schema->order_count, sizeof(Type *));
    schema->order[schema->order_count++] = type;
    return type;
}

Type *placed_type(const Schema *schema, Type *type)
{
    for (size_t i = 0; i < schema->order_count; i++) {
        if (same(schema->order[i], type)) {
            return schema->order[i];
        }
    }
    return NULL;
}

static void mark_key(Type *type)
{
    type->in_key = true;
    for (size_t i = 0; i < type->member_count; i++) {
        if (type->members[i].type != NULL) {
            mark_key(type->members[i].type);
        }
    }
}

static void mark_value(Type *type)
{
    type->in_value = true;
    for (size_t i = 0; i < type->member_count; i++) {
        if (type->members[i].type != NULL) {
            type->members[i].type->nested = true;
            mark_value(type->members[i].type);
        }
    }
}

void layout_schema(Schema *schema)
{
    for (size_t i = 0; i < schema->type_count; i++) {
        if (schema->types[i]->kind != TYPE_ALIAS) {
            (void)place(schema, schema->types[i]);
        }
    }
    for (size_t i = 0; i < schema->table_count; i++) {
        Type *key = schema->tables[i].key;
        key->table_key = !key->frozen;
        if (key->table_key) {
            mark_key(key);
        }
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        Type *type = schema->types[i];
        if (type->kind != TYPE_ALIAS && !type->table_key) {
            mark_value(type);
        }
    }
}
