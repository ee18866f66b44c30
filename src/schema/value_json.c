#include "schema/value_json.h"

#include "json/codec_json.h"

static json_t *flags_json(const Type *type, const Value *v)
{
    json_t *json = json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < type->member_count && ok; i++) {
        bool set = flag_bytes(type) > 8 ? codec_bit(v->bytes.data, i) : (v->number >> i & 1) != 0;
        ok = !set || codec_json_append(json, json_string(type->members[i].name));
    }
    return codec_json_done(json, ok);
}

static json_t *case_json(const Type *type, const Value *v)
{
    const Member *member = &type->members[v->number];

    if (member->type != NULL) {
        return codec_json_one(member->name, value_json(member->type, v->parts));
    }
    return type->kind == TYPE_RESULT ? codec_json_one(member->name, json_null())
                                     : json_string(member->name);
}

static json_t *option_json(Type *of, const Value *v)
{
    if (v->number == 0) {
        return json_null();
    }
    json_t *json = value_json(of, v->parts);
    return json != NULL && real_type(of)->kind == TYPE_OPTION ? codec_json_one("some", json) : json;
}

static json_t *parts_json(const Type *type, const Value *v)
{
    json_t *json = type->kind == TYPE_RECORD ? json_object() : json_array();
    bool ok = json != NULL;

    for (uint32_t i = 0; i < v->part_count && ok; i++) {
        const Member *member = &type->members[type->kind == TYPE_LIST ? 0 : i];
        json_t *part = value_json(member->type, &v->parts[i]);
        ok = type->kind == TYPE_RECORD ? codec_json_add(json, member->name, part)
                                       : codec_json_append(json, part);
    }
    return codec_json_done(json, ok);
}

json_t *value_json(Type *type, const Value *v)
{
    type = real_type(type);
    switch (type->kind) {
    case TYPE_BOOL:
        return json_boolean(v->number != 0);
    case TYPE_F32:
        return codec_json_real32(v->single);
    case TYPE_F64:
        return codec_json_real(v->real);
    case TYPE_CHAR:
        return codec_json_char((uint32_t)v->number);
    case TYPE_STRING:
        return codec_json_string(&v->bytes);
    case TYPE_BYTES:
        return codec_json_bytes(&v->bytes);
    case TYPE_LIST:
    case TYPE_TUPLE:
    case TYPE_RECORD:
        return parts_json(type, v);
    case TYPE_OPTION:
        return option_json(type->members[0].type, v);
    case TYPE_RESULT:
    case TYPE_VARIANT:
        return case_json(type, v);
    case TYPE_ENUM:
        return json_string(type->members[v->number].name);
    case TYPE_FLAGS:
        return flags_json(type, v);
    default:
        return type_is_signed(type->kind) ? codec_json_signed(value_signed(v, type->kind))
                                          : codec_json_unsigned(v->number);
    }
}
