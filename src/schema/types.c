/* types.c - what can be asked of one type. */
#include "schema/schema.h"

#include "common/assert.h"

static const char *const simple[] = {
    [TYPE_BOOL] = "bool",     [TYPE_U8] = "u8",          [TYPE_U16] = "u16", [TYPE_U32] = "u32",
    [TYPE_U64] = "u64",       [TYPE_S8] = "s8",          [TYPE_S16] = "s16", [TYPE_S32] = "s32",
    [TYPE_S64] = "s64",       [TYPE_F32] = "f32",        [TYPE_F64] = "f64", [TYPE_CHAR] = "char",
    [TYPE_STRING] = "string", [TYPE_BYTES] = "list<u8>",
};

Type *find_type(const Schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->type_count; i++) {
        if (strcmp(schema->types[i]->name, name) == 0) {
            return schema->types[i];
        }
    }
    return NULL;
}

Type *real_type(Type *type)
{
    while (type != NULL && (type->kind == TYPE_NAME || type->kind == TYPE_ALIAS)) {
        type = type->target;
    }
    return type;
}

bool type_is_integer(TypeKind kind)
{
    return kind >= TYPE_U8 && kind <= TYPE_S64;
}

bool type_is_signed(TypeKind kind)
{
    return kind >= TYPE_S8 && kind <= TYPE_S64;
}

unsigned type_bits(TypeKind kind)
{
    SAP_ASSERT(type_is_integer(kind));
    return 8u << (unsigned)(type_is_signed(kind) ? kind - TYPE_S8 : kind - TYPE_U8);
}

unsigned tag_bytes(const Type *type)
{
    SAP_ASSERT(type->member_count > 0);
    return type->member_count > 256 ? 2 : 1;
}

unsigned flag_bytes(const Type *type)
{
    unsigned bytes = (unsigned)(type->member_count + 7) / 8;

    return bytes <= 2 ? bytes : bytes <= 4 ? 4 : bytes <= 8 ? 8 : bytes;
}

static uint64_t count_bytes(const Type *type)
{
    uint64_t sum = type->magic != NULL ? strlen(type->magic) : 0;
    uint64_t least = UINT64_MAX;

    for (size_t i = 0; i < type->member_count; i++) {
        uint64_t size = type->members[i].rest ? 0 : least_bytes(type->members[i].type);
        sum += size;
        least = size < least ? size : least;
    }
    switch (type->kind) {
    case TYPE_BOOL:
        return 1;
    case TYPE_F32:
    case TYPE_CHAR:
    case TYPE_STRING:
    case TYPE_BYTES:
    case TYPE_LIST:
        return 4;
    case TYPE_F64:
        return 8;
    case TYPE_OPTION:
        return 1;
    case TYPE_RESULT:
        return 1 + least;
    case TYPE_VARIANT:
        return tag_bytes(type) + least;
    case TYPE_ENUM:
        return tag_bytes(type);
    case TYPE_FLAGS:
        return flag_bytes(type);
    default:
        return type_is_integer(type->kind) ? type_bits(type->kind) / 8 : sum;
    }
}

uint64_t least_bytes(Type *type)
{
    type = real_type(type);
    if (type == NULL) {
        return 0;
    }
    if (type->min_size == 0) {
        type->min_size = count_bytes(type);
    }
    return type->min_size;
}

size_t growth_start(const Type *record)
{
    SAP_ASSERT(record->kind == TYPE_RECORD);
    size_t start = record->member_count;

    while (start > 0 && real_type(record->members[start - 1].type)->kind == TYPE_OPTION) {
        start--;
    }
    return start;
}

const Member *find_member(const Type *type, const char *name)
{
    for (size_t i = 0; i < type->member_count; i++) {
        if (strcmp(type->members[i].name, name) == 0) {
            return &type->members[i];
        }
    }
    return NULL;
}

bool type_is_named(const Type *type)
{
    return type->kind >= TYPE_RECORD;
}

const char *kind_text(const Type *type)
{
    return type->kind == TYPE_RECORD    ? "record"
           : type->kind == TYPE_VARIANT ? "variant"
           : type->kind == TYPE_ENUM    ? "enum"
                                        : "flags";
}

const char *type_text(const Type *type)
{
    if (type == NULL) {
        return "_";
    }
    if (type->kind <= TYPE_LAST_SIMPLE) {
        return simple[type->kind];
    }
    if (type->kind >= TYPE_RECORD) {
        return type->name;
    }
    const char *text = type->kind == TYPE_LIST     ? "list"
                       : type->kind == TYPE_OPTION ? "option"
                       : type->kind == TYPE_RESULT ? "result"
                                                   : "tuple";
    for (size_t i = 0; i < type->member_count; i++) {
        text = take_printf("%s%s%s", text, i == 0 ? "<" : ", ", type_text(type->members[i].type));
    }
    return take_printf("%s>", text);
}
