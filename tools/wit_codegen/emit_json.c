/* emit_json.c - JSON writers and strict readers, in files of their own: they need jansson. */
#include "emit.h"

#include <inttypes.h>

static void emit_write_value(Buf *buf, const Type *type, const char *from)
{
    switch (type->kind) {
    case TYPE_BOOL:
        out(buf, "json_boolean(%s)", from);
        break;
    case TYPE_F32:
        out(buf, "codec_json_real32(%s)", from);
        break;
    case TYPE_F64:
        out(buf, "codec_json_real(%s)", from);
        break;
    case TYPE_CHAR:
        out(buf, "codec_json_char(%s)", from);
        break;
    case TYPE_STRING:
        out(buf, "codec_json_string(&%s)", from);
        break;
    case TYPE_BYTES:
        out(buf, "codec_json_bytes(&%s)", from);
        break;
    default:
        if (type_is_integer(type->kind)) {
            out(buf, "codec_json_%ssigned(%s)", type_is_signed(type->kind) ? "" : "un", from);
        } else {
            out(buf, "%s_write_json(&%s)", type->fn, from);
        }
        break;
    }
}

static void emit_names(Buf *buf, const Type *type)
{
    out(buf, "static const char *const %s_names[] = {\n", type->fn);
    for (size_t i = 0; i < type->member_count; i++) {
        out(buf, "    \"%s\",\n", type->members[i].name);
    }
    out(buf, "};\n\n");
}

static void emit_flag_bits(Buf *buf, const Type *type)
{
    unsigned bytes = flag_bytes(type);

    out(buf, "    uint8_t bits[%u];\n\n", bytes);
    for (unsigned i = 0; i < bytes; i++) {
        out(buf, "    bits[%u] = (uint8_t)(*v >> %u);\n", i, i * 8);
    }
}

static void emit_write_cases(Buf *buf, const Type *type, const char *tag)
{
    out(buf, "    switch (%s) {\n", tag);
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        out(buf, "    case %zu:\n        return ", i);
        if (member->type != NULL) {
            out(buf, "codec_json_one(\"%s\", ", member->name);
            emit_write_value(buf, member->type, take_printf("v->as.%s", snake(member->name)));
            out(buf, ");\n");
        } else if (type->kind == TYPE_RESULT) {
            out(buf, "codec_json_one(\"%s\", json_null());\n", member->name);
        } else {
            out(buf, "json_string(\"%s\");\n", member->name);
        }
    }
    out(buf, "    default:\n        return NULL;\n    }\n");
}

static void emit_writer(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;

    out(buf, "static json_t *%s_write_json(const %s *v)\n{\n", type->fn, type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf, "    return json_string(%s_names[*v]);\n", type->fn);
        break;
    case TYPE_FLAGS:
        if (flag_bytes(type) <= 8) {
            emit_flag_bits(buf, type);
        }
        out(buf, "    return codec_json_flags(%sbits, %s_names, %zu);\n",
            flag_bytes(type) > 8 ? "v->" : "", type->fn, type->member_count);
        break;
    case TYPE_OPTION:
        out(buf, "    return v->some ? ");
        if (part->kind == TYPE_OPTION) {
            out(buf, "codec_json_one(\"some\", ");
        }
        emit_write_value(buf, part, "v->value");
        out(buf, "%s : json_null();\n", part->kind == TYPE_OPTION ? ")" : "");
        break;
    case TYPE_VARIANT:
        emit_write_cases(buf, type, "v->tag");
        break;
    case TYPE_RESULT:
        emit_write_cases(buf, type, "(int)v->is_err");
        break;
    case TYPE_LIST:
        out(buf, "    json_t *json = json_array();\n    bool ok = json != NULL;\n\n"
                 "    for (uint32_t i = 0; i < v->count && ok; i++) {\n"
                 "        ok = codec_json_append(json, ");
        emit_write_value(buf, part, "v->items[i]");
        out(buf, ");\n    }\n    return codec_json_done(json, ok);\n");
        break;
    default:
        out(buf, "    json_t *json = json_%s();\n    bool ok = json != NULL;\n\n",
            type->kind == TYPE_RECORD ? "object" : "array");
        for (size_t i = 0; i < type->member_count; i++) {
            const Member *member = &type->members[i];
            if (type->kind == TYPE_RECORD) {
                out(buf, "    ok = ok && codec_json_add(json, \"%s\", ", member->name);
            } else {
                out(buf, "    ok = ok && codec_json_append(json, ");
            }
            emit_write_value(buf, member->type, take_printf("v->%s", snake(member->name)));
            out(buf, ");\n");
        }
        out(buf, "    return codec_json_done(json, ok);\n");
        break;
    }
    out(buf, "}\n\n");
}

/* An expression that reads `json` into `to` and answers a code. */
static void emit_read_value(Buf *buf, const Type *type, const char *json, const char *to)
{
    switch (type->kind) {
    case TYPE_BOOL:
        out(buf, "codec_json_read_bool(%s, &%s, error)", json, to);
        break;
    case TYPE_F32:
        out(buf, "codec_json_read_real32(%s, &%s, error)", json, to);
        break;
    case TYPE_F64:
        out(buf, "codec_json_read_real(%s, &%s, error)", json, to);
        break;
    case TYPE_CHAR:
        out(buf, "codec_json_read_char(%s, &%s, error)", json, to);
        break;
    case TYPE_STRING:
        out(buf, "codec_json_read_string(%s, &%s, error)", json, to);
        break;
    case TYPE_BYTES:
        out(buf, "codec_json_read_bytes(%s, &%s, error)", json, to);
        break;
    default:
        if (type_is_integer(type->kind)) {
            out(buf, "read_%c%u(%s, &%s, error)", type_is_signed(type->kind) ? 's' : 'u',
                type_bits(type->kind), json, to);
        } else {
            out(buf, "%s_read_json(%s, &%s, error)", type->fn, json, to);
        }
        break;
    }
}

static void emit_read_cases(Buf *buf, const Type *type)
{
    bool result = type->kind == TYPE_RESULT;

    out(buf,
        "    uint32_t number = 0;\n    const json_t *value;\n"
        "    int rc = codec_json_read_variant(json, %s_names, %zu, &number, &value, error);\n"
        "    if (rc != SAP_OK) {\n        return rc;\n    }\n",
        type->fn, type->member_count);
    out(buf, result ? "    v->is_err = number == 1;\n" : "    v->tag = (uint%u_t)number;\n",
        tag_bytes(type) * 8);
    out(buf, "    switch (number) {\n");
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        if (member->type != NULL) {
            out(buf, "    case %zu:\n        return value == NULL ? ", i);
            out(buf, "codec_refuse(error, \": '%s' needs a value\")\n            : ", member->name);
            emit_read_value(buf, member->type, "value",
                            take_printf("v->as.%s", snake(member->name)));
            out(buf, ";\n");
        }
    }
    out(buf, "    default:\n        return codec_json_read_nothing(value, %s, error);\n    }\n",
        result ? "true" : "false");
}

static void emit_read_fields(Buf *buf, const Type *type)
{
    if (type->kind == TYPE_RECORD) {
        out(buf, "    int rc = codec_json_read_fields(json, %s_names, %zu, error);\n", type->fn,
            type->member_count);
    } else {
        out(buf,
            "    uint32_t count = 0;\n"
            "    int rc = codec_json_read_array(json, &count, error);\n"
            "    if (rc == SAP_OK && count != %zu) {\n"
            "        rc = codec_refuse(error, \": should be an array of %zu\");\n    }\n",
            type->member_count, type->member_count);
    }
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        const char *to = take_printf("v->%s", snake(member->name));
        out(buf, "    if (rc == SAP_OK) {\n        rc = ");
        if (type->kind == TYPE_RECORD) {
            emit_read_value(buf, member->type,
                            take_printf("json_object_get(json, \"%s\")", member->name), to);
            out(buf, ";\n        (void)codec_blame(error, \"record %s\", \"%s\", rc);\n    }\n",
                type->name, member->name);
        } else {
            emit_read_value(buf, member->type, take_printf("json_array_get(json, %zu)", i), to);
            out(buf, ";\n    }\n");
        }
    }
    out(buf, "    return rc;\n");
}

static void emit_reader(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;

    out(buf, "static int %s_read_json(const json_t *json, %s *v, CodecError *error)\n{\n", type->fn,
        type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf,
            "    uint32_t number = 0;\n"
            "    int rc = codec_json_read_case(json, %s_names, %zu, &number, error);\n\n"
            "    *v = (%s)number;\n    return rc;\n",
            type->fn, type->member_count, type->c_name);
        break;
    case TYPE_FLAGS:
        if (flag_bytes(type) > 8) {
            out(buf, "    return codec_json_read_flags(json, %s_names, %zu, v->bits, error);\n",
                type->fn, type->member_count);
            break;
        }
        out(buf,
            "    uint8_t bits[8] = {0};\n"
            "    int rc = codec_json_read_flags(json, %s_names, %zu, bits, error);\n\n"
            "    *v = (%s)load_u64le(bits);\n    return rc;\n",
            type->fn, type->member_count, type->c_name);
        break;
    case TYPE_OPTION:
        out(buf, "    if (json == NULL || json_is_null(json)) {\n        return SAP_OK;\n    }\n");
        if (part->kind == TYPE_OPTION) {
            out(buf, "    static const char *const some[] = {\"some\"};\n"
                     "    int rc = codec_json_read_fields(json, some, 1, error);\n"
                     "    if (rc != SAP_OK) {\n        return rc;\n    }\n");
        }
        out(buf, "    v->some = true;\n    return ");
        emit_read_value(buf, part,
                        part->kind == TYPE_OPTION ? "json_object_get(json, \"some\")" : "json",
                        "v->value");
        out(buf, ";\n");
        break;
    case TYPE_VARIANT:
    case TYPE_RESULT:
        emit_read_cases(buf, type);
        break;
    case TYPE_LIST:
        out(buf, "    uint32_t count = 0;\n"
                 "    int rc = codec_json_read_array(json, &count, error);\n"
                 "    if (rc != SAP_OK || count == 0) {\n        return rc;\n    }\n"
                 "    v->items = codec_items_new(count, sizeof *v->items);\n"
                 "    if (v->items == NULL) {\n        return SAP_NOMEM;\n    }\n"
                 "    v->count = count;\n"
                 "    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {\n        rc = ");
        emit_read_value(buf, part, "json_array_get(json, i)", "v->items[i]");
        out(buf, ";\n    }\n    return rc;\n");
        break;
    default:
        emit_read_fields(buf, type);
        break;
    }
    out(buf, "}\n\n");
}

static void emit_prototypes(const Type *type, Buf *buf)
{
    out(buf,
        "int %s_to_json(const %s *v, json_t **json_out, CodecError *error);\n"
        "int %s_from_json(const json_t *json, %s *v_out, CodecError *error);\n\n",
        type->fn, type->c_name, type->fn, type->c_name);
}

void emit_json_header(const Schema *schema, Buf *buf)
{
    const char *name = snake(schema->package);

    emit_notice(schema, buf, take_printf("wit_%s_json.h", name), "its types as JSON.");
    out(buf,
        "#ifndef SAPLING_GENERATED_WIT_%s_JSON_H\n#define SAPLING_GENERATED_WIT_%s_JSON_H\n\n"
        "#include \"json/codec_json.h\"\n#include \"wit_%s.h\"\n\n"
        "/* to_json gives a new reference. SAP_INVALID: value or JSON break the layout or a\n"
        " * refinement, as *error says unless it is NULL. Out-parameters change on SAP_OK only. */\n",
        upper(schema->package), upper(schema->package), name);
    for (size_t i = 0; i < schema->order_count; i++) {
        if (type_is_named(schema->order[i])) {
            emit_prototypes(schema->order[i], buf);
        }
    }
    out(buf, "#endif\n");
}

static void emit_public(const Type *type, Buf *buf)
{
    out(buf,
        "int %s_to_json(const %s *v, json_t **json_out, CodecError *error)\n{\n"
        "    int rc = %s_validate(v, error);\n    if (rc != SAP_OK) {\n        return rc;\n    }\n"
        "    json_t *json = %s_write_json(v);\n    if (json == NULL) {\n        return SAP_NOMEM;\n    }\n"
        "    *json_out = json;\n    return SAP_OK;\n}\n\n",
        type->fn, type->c_name, type->fn, type->fn);
    out(buf,
        "int %s_from_json(const json_t *json, %s *v_out, CodecError *error)\n{\n    %s v;\n\n"
        "    memset(&v, 0, sizeof v);\n"
        "    if (error != NULL) {\n        error->text[0] = '\\0';\n    }\n"
        "    int rc = %s_read_json(json, &v, error);\n"
        "    (void)codec_blame(error, \"%s %s\", \"\", rc);\n"
        "    if (rc == SAP_OK) {\n        rc = %s_validate(&v, error);\n    }\n"
        "    if (rc != SAP_OK) {\n        %s_free(&v);\n        return rc;\n    }\n"
        "    *v_out = v;\n    return SAP_OK;\n}\n\n",
        type->fn, type->c_name, type->c_name, type->fn, kind_text(type), type->name, type->fn,
        type->fn);
}

/* Readers of the integer widths that the schema has. */
static void emit_integer_readers(const Schema *schema, Buf *buf)
{
    for (TypeKind kind = TYPE_U8; kind <= TYPE_S64; kind++) {
        bool used = false;
        for (size_t i = 0; i < schema->order_count; i++) {
            const Type *type = schema->order[i];
            for (size_t m = 0; m < type->member_count; m++) {
                used =
                    used || (type->members[m].type != NULL && type->members[m].type->kind == kind);
            }
        }
        unsigned bits = type_bits(kind);
        if (used && type_is_signed(kind)) {
            out(buf,
                "static int read_s%u(const json_t *json, int%u_t *out, CodecError *error)\n{\n"
                "    int64_t v = 0;\n"
                "    int rc = codec_json_read_signed(json, INT%u_MIN, INT%u_MAX, &v, error);\n\n"
                "    *out = (int%u_t)v;\n    return rc;\n}\n\n",
                bits, bits, bits, bits, bits);
        } else if (used) {
            out(buf,
                "static int read_u%u(const json_t *json, uint%u_t *out, CodecError *error)\n{\n"
                "    uint64_t v = 0;\n"
                "    int rc = codec_json_read_unsigned(json, UINT%u_MAX, &v, error);\n\n"
                "    *out = (uint%u_t)v;\n    return rc;\n}\n\n",
                bits, bits, bits, bits);
        }
    }
}

void emit_json_source(const Schema *schema, Buf *buf)
{
    const char *name = snake(schema->package);

    emit_notice(schema, buf, take_printf("wit_%s_json.c", name), "its types as JSON.");
    out(buf, "#include \"wit_%s_json.h\"\n\n#include \"common/bytes.h\"\n\n", name);
    emit_integer_readers(schema, buf);
    for (size_t i = 0; i < schema->order_count; i++) {
        const Type *type = schema->order[i];
        if (type_is_named(type) || type->kind == TYPE_RESULT) {
            emit_names(buf, type);
        }
        emit_writer(type, buf);
        emit_reader(type, buf);
        if (type_is_named(type)) {
            emit_public(type, buf);
        }
    }
}
