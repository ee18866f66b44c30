/* emit_c.c - structs, and the codec of values.
 *
 * Every type of Schema.order gets the same functions, one level deep: each calls those of its
 * parts. What has no name in the schema is static. A function that would do nothing is left out,
 * and so is every call of it. Functions are called as their type and what they do, and no such end is
 * the end of another (_to_json, but not _json): so those of two types do not meet. clashes.c sees to
 * the rest. */
#include "emit.h"

#include <inttypes.h>

void emit_notice(const Schema *schema, Buf *buf, const char *file, const char *about)
{
    out(buf, "/* %s - %s\n *\n * Generated from %s by tools/wit_codegen: change the schema. */\n",
        file, about, c_comment(schema->file));
}

/* --- the header ----------------------------------------------------------------------------- */

static void emit_cases(const Type *type, Buf *buf)
{
    out(buf, "enum {\n");
    for (size_t i = 0; i < type->member_count; i++) {
        out(buf, "    %s_%s = %zu,\n", upper(type->fn), upper(type->members[i].name), i);
    }
    out(buf, "};\n");
}

static void emit_payloads(const Type *type, Buf *buf)
{
    bool any = false;

    for (size_t i = 0; i < type->member_count; i++) {
        any = any || type->members[i].type != NULL;
    }
    if (!any) {
        return;
    }
    out(buf, "    union {\n");
    for (size_t i = 0; i < type->member_count; i++) {
        if (type->members[i].type != NULL) {
            out(buf, "        %s %s;\n", type->members[i].type->c_name,
                snake(type->members[i].name));
        }
    }
    out(buf, "    } as;\n");
}

static void emit_flags(const Type *type, Buf *buf)
{
    unsigned bytes = flag_bytes(type);

    if (bytes > 8) {
        out(buf, "/* Numbers of bits, for codec_bit(). */\n");
        emit_cases(type, buf);
        out(buf, "typedef struct %s {\n    uint8_t bits[%u];\n} %s;\n", type->c_name, bytes,
            type->c_name);
        return;
    }
    for (size_t i = 0; i < type->member_count; i++) {
        out(buf, "#define %s_%s (UINT64_C(1) << %zu)\n", upper(type->fn),
            upper(type->members[i].name), i);
    }
    out(buf, "typedef uint%u_t %s;\n", bytes * 8, type->c_name);
}

static void emit_struct(const Type *type, Buf *buf)
{
    if (type->doc != NULL && type->doc[0] != '\0') {
        out(buf, "/* %s */\n", c_comment(type->doc));
    }
    switch (type->kind) {
    case TYPE_ENUM:
        emit_cases(type, buf);
        out(buf, "typedef uint%u_t %s;\n\n", tag_bytes(type) * 8, type->c_name);
        return;
    case TYPE_FLAGS:
        emit_flags(type, buf);
        out(buf, "\n");
        return;
    case TYPE_VARIANT:
        emit_cases(type, buf);
        break;
    default:
        break;
    }
    out(buf, "typedef struct %s {\n", type->c_name);
    switch (type->kind) {
    case TYPE_LIST:
        out(buf, "    %s *items;\n    uint32_t count;\n", type->members[0].type->c_name);
        break;
    case TYPE_OPTION:
        out(buf, "    bool some;\n    %s value;\n", type->members[0].type->c_name);
        break;
    case TYPE_RESULT:
        out(buf, "    bool is_err;\n");
        emit_payloads(type, buf);
        break;
    case TYPE_VARIANT:
        out(buf, "    uint%u_t tag;\n", tag_bytes(type) * 8);
        emit_payloads(type, buf);
        break;
    default:
        for (size_t i = 0; i < type->member_count; i++) {
            const Member *member = &type->members[i];
            out(buf, "    %s %s;", member->type->c_name, snake(member->name));
            out(buf, member->doc[0] != '\0' ? " /* %s */\n" : "%s\n", c_comment(member->doc));
        }
        break;
    }
    out(buf, "} %s;\n\n", type->c_name);
}

static void emit_prototypes(const Type *type, Buf *buf)
{
    out(buf,
        "int %s_encode(const %s *v, Buf *buf, CodecError *error);\n"
        "int %s_decode(const void *data, size_t len, %s *v_out, CodecError *error);\n"
        "int %s_validate(const %s *v, CodecError *error);\n"
        "bool %s_equal(const %s *a, const %s *b);\n"
        "void %s_free(%s *v);\n\n",
        type->fn, type->c_name, type->fn, type->c_name, type->fn, type->c_name, type->fn,
        type->c_name, type->c_name, type->fn, type->c_name);
}

void emit_header(const Schema *schema, Buf *buf)
{
    const char *name = snake(schema->package);

    out(buf,
        "/* wit_%s.h - %s\n"
        " *\n"
        " * Generated from %s by tools/wit_codegen: change the schema.\n"
        " *\n"
        " * encode appends to `buf`; decode and validate say in *error, unless it is NULL, what is wrong\n"
        " * where. SAP_INVALID: the bytes or the value break the layout or a refinement. On failure buffer\n"
        " * and *v_out are as they were. Caller owns what decode gives, release with free, which leaves an\n"
        " * empty value. */\n"
        "#ifndef SAPLING_GENERATED_WIT_%s_H\n#define SAPLING_GENERATED_WIT_%s_H\n\n"
        "#include \"common/codec.h\"\n\n",
        name, c_comment(schema->doc), c_comment(schema->file), upper(schema->package),
        upper(schema->package));
    for (size_t i = 0; i < schema->order_count; i++) {
        emit_struct(schema->order[i], buf);
    }
    for (size_t i = 0; i < schema->type_count; i++) {
        Type *type = schema->types[i];
        Type *real = real_type(type);
        if (type->kind != TYPE_ALIAS) {
            continue;
        }
        const Type *placed =
            real->kind <= TYPE_LAST_SIMPLE && real->placed ? real : placed_type(schema, real);
        if (placed != NULL) {
            out(buf, "typedef %s Wit%s%s;\n", placed->c_name, camel(schema->package),
                camel(type->name));
        }
    }
    out(buf, "\n");
    for (size_t i = 0; i < schema->order_count; i++) {
        if (type_is_named(schema->order[i])) {
            emit_prototypes(schema->order[i], buf);
        }
    }
    out(buf, "#endif\n");
}

/* --- one value ------------------------------------------------------------------------------ */

static void emit_write(Buf *buf, const char *indent, const Type *type, const Member *member,
                       const char *from)
{
    const char *be = member != NULL && member->big_endian && type_bits(type->kind) > 8 ? "be" : "";

    out(buf, "%s", indent);
    if (member != NULL && member->rest) {
        out(buf, "codec_write_raw(w, %s.data, %s.len);\n", from, from);
    } else if (type->kind == TYPE_STRING || type->kind == TYPE_BYTES) {
        out(buf, "codec_write_bytes(w, &%s);\n", from);
    } else if (type->kind == TYPE_BOOL) {
        out(buf, "codec_write_u8(w, %s);\n", from);
    } else if (type->kind == TYPE_CHAR) {
        out(buf, "codec_write_u32(w, %s);\n", from);
    } else if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
        out(buf, "codec_write_f%d(w, %s);\n", type->kind == TYPE_F32 ? 32 : 64, from);
    } else if (type_is_signed(type->kind)) {
        unsigned bits = type_bits(type->kind);
        out(buf, "codec_write_u%u%s(w, (uint%u_t)%s);\n", bits, be, bits, from);
    } else if (type_is_integer(type->kind)) {
        out(buf, "codec_write_u%u%s(w, %s);\n", type_bits(type->kind), be, from);
    } else {
        out(buf, "%s_write(w, &%s);\n", type->fn, from);
    }
}

static void emit_read(Buf *buf, const char *indent, const Type *type, const Member *member,
                      const char *to)
{
    const char *be = member != NULL && member->big_endian && type_bits(type->kind) > 8 ? "be" : "";

    out(buf, "%s", indent);
    if (member != NULL && member->rest) {
        out(buf, "codec_read_rest(r, &%s);\n", to);
    } else if (type->kind == TYPE_STRING || type->kind == TYPE_BYTES) {
        out(buf, "codec_read_bytes(r, &%s);\n", to);
    } else if (type->kind == TYPE_BOOL) {
        out(buf, "%s = codec_read_bool(r);\n", to);
    } else if (type->kind == TYPE_CHAR) {
        out(buf, "%s = codec_read_u32(r);\n", to);
    } else if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
        out(buf, "%s = codec_read_f%d(r);\n", to, type->kind == TYPE_F32 ? 32 : 64);
    } else if (type_is_signed(type->kind)) {
        unsigned bits = type_bits(type->kind);
        out(buf, "%s = (int%u_t)codec_read_u%u%s(r);\n", to, bits, bits, be);
    } else if (type_is_integer(type->kind)) {
        out(buf, "%s = codec_read_u%u%s(r);\n", to, type_bits(type->kind), be);
    } else {
        out(buf, "%s_read(r, &%s);\n", type->fn, to);
    }
}

static void emit_check_call(Buf *buf, const Type *type, const char *of)
{
    if (type->kind == TYPE_STRING) {
        out(buf, "codec_check_string(&%s, error)", of);
    } else if (type->kind == TYPE_CHAR) {
        out(buf, "codec_check_char(%s, error)", of);
    } else {
        out(buf, "%s_check(&%s, error)", type->fn, of);
    }
}

static void emit_equal_call(Buf *buf, const Type *type, const char *path)
{
    if (type->kind == TYPE_STRING || type->kind == TYPE_BYTES) {
        out(buf, "codec_bytes_equal(&a->%s, &b->%s)", path, path);
    } else if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
        out(buf, "memcmp(&a->%s, &b->%s, sizeof a->%s) == 0", path, path, path);
    } else if (type->kind <= TYPE_LAST_SIMPLE) {
        out(buf, "a->%s == b->%s", path, path);
    } else {
        out(buf, "%s_equal(&a->%s, &b->%s)", type->fn, path, path);
    }
}

static void emit_free_call(Buf *buf, const char *indent, const Type *type, const char *of)
{
    bool bytes = type->kind == TYPE_STRING || type->kind == TYPE_BYTES;

    out(buf, "%s%s_free(&%s);\n", indent, bytes ? "codec_bytes" : type->fn, of);
}

/* --- runs ----------------------------------------------------------------------------------- */

/* Fields beside each other that have a fixed size are written and read as one run, with one check
 * of the room for all of them: that makes generated code as fast as what one would write by hand. */

/* Bytes of a value that is one number; 0: it is not, or not every number is a value of it. */
static unsigned number_bytes(const Type *type)
{
    switch (type->kind) {
    case TYPE_F32:
    case TYPE_CHAR:
        return 4;
    case TYPE_F64:
        return 8;
    case TYPE_ENUM:
        return tag_bytes(type);
    case TYPE_FLAGS:
        return flag_bytes(type) > 8 ? 0 : flag_bytes(type);
    default:
        return type_is_integer(type->kind) ? type_bits(type->kind) / 8 : 0;
    }
}

/* How many fields from number `first` on make a run; 0: none, or one alone, which needs no run. */
static size_t run_length(const Type *type, size_t first, unsigned *bytes_out)
{
    size_t i = first;

    *bytes_out = 0;
    while (type->kind == TYPE_RECORD && i < type->member_count &&
           number_bytes(type->members[i].type) > 0) {
        *bytes_out += number_bytes(type->members[i++].type);
    }
    return i - first > 1 ? i - first : 0;
}

static void emit_write_run(Buf *buf, const Member *members, size_t count, unsigned bytes)
{
    const char *run = take_printf("at_%s", snake(members[0].name));
    unsigned at = 0;

    out(buf, "    uint8_t *%s = codec_write_room(w, %u);\n    if (%s != NULL) {\n", run, bytes,
        run);
    for (size_t i = 0; i < count; i++) {
        const Type *type = members[i].type;
        unsigned size = number_bytes(type);
        const char *to = take_printf("%s + %u", run, at);
        const char *from = take_printf("v->%s", snake(members[i].name));
        if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
            out(buf, "        codec_store_f%u(%s, %s);\n", size * 8, to, from);
        } else if (size == 1) {
            out(buf, "        %s[%u] = (uint8_t)%s;\n", run, at, from);
        } else {
            out(buf, "        store_u%u%s(%s, (uint%u_t)%s);\n", size * 8,
                members[i].big_endian ? "be" : "le", to, size * 8, from);
        }
        at += size;
    }
    out(buf, "    }\n");
}

static void emit_read_run(Buf *buf, const Type *record, size_t first, size_t count, unsigned bytes)
{
    const Member *members = &record->members[first];
    const char *run = take_printf("at_%s", snake(members[0].name));
    unsigned at = 0;

    out(buf,
        "    const uint8_t *%s = codec_read_run(r, %u);\n    if (%s == NULL) {\n"
        "        static const CodecField fields[] = {",
        run, bytes, run);
    for (size_t i = 0; i < count; i++) {
        out(buf, "%s{\"%s\", %u}", i == 0 ? "" : ", ", members[i].name,
            number_bytes(members[i].type));
    }
    out(buf,
        "};\n        codec_read_no_run(r, \"record %s\", fields, %zu);\n        return;\n    }\n",
        record->name, count);
    for (size_t i = 0; i < count; i++) {
        const Type *type = members[i].type;
        unsigned size = number_bytes(type);
        out(buf, "    v->%s = ", snake(members[i].name));
        if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
            out(buf, "codec_load_f%u(%s + %u);\n", size * 8, run, at);
        } else if (size == 1) {
            out(buf, "(%s)%s[%u];\n", type->c_name, run, at);
        } else {
            out(buf, "(%s)load_u%u%s(%s + %u);\n", type->c_name, size * 8,
                members[i].big_endian ? "be" : "le", run, at);
        }
        at += size;
    }
}

/* --- functions of a type -------------------------------------------------------------------- */

/* `case` of each payload, or one default: `body` writes what is done there. */
typedef void PayloadFn(Buf *buf, const Type *type, const Member *member, const char *path);

static void emit_switch(const Type *type, Buf *buf, const char *on, PayloadFn *body)
{
    out(buf, "    switch (%s) {\n", on);
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        if (member->type == NULL) {
            continue;
        }
        Buf inner = {0};
        body(&inner, type, member, take_printf("as.%s", snake(member->name)));
        if (inner.len > 0) {
            out(buf, "    case %zu:\n%.*s", i, (int)inner.len, (const char *)inner.data);
        }
        buf_release(&inner);
    }
    out(buf, "    default:\n        break;\n    }\n");
}

static void write_payload(Buf *buf, const Type *type, const Member *member, const char *path)
{
    (void)type;
    emit_write(buf, "        ", member->type, NULL, take_printf("v->%s", path));
    out(buf, "        break;\n");
}

static void read_payload(Buf *buf, const Type *type, const Member *member, const char *path)
{
    (void)type;
    emit_read(buf, "        ", member->type, NULL, take_printf("v->%s", path));
    out(buf, "        break;\n");
}

static void check_payload(Buf *buf, const Type *type, const Member *member, const char *path)
{
    if (member->type->checked) {
        bool named = type_is_named(type);
        out(buf, "        return codec_blame(error, \"%s%s%s\", \"%s\", ",
            named ? kind_text(type) : "result", named ? " " : "", named ? type->name : "",
            member->name);
        emit_check_call(buf, member->type, take_printf("v->%s", path));
        out(buf, ");\n");
    }
}

static void equal_payload(Buf *buf, const Type *type, const Member *member, const char *path)
{
    (void)type;
    out(buf, "        return ");
    emit_equal_call(buf, member->type, path);
    out(buf, ";\n");
}

static void free_payload(Buf *buf, const Type *type, const Member *member, const char *path)
{
    (void)type;
    if (member->type->owns) {
        emit_free_call(buf, "        ", member->type, take_printf("v->%s", path));
        out(buf, "        break;\n");
    }
}

static void emit_write_function(const Type *type, Buf *buf)
{
    out(buf, "static void %s_write(CodecWriter *w, const %s *v)\n{\n", type->fn, type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf, "    codec_write_u%u(w, *v);\n", tag_bytes(type) * 8);
        break;
    case TYPE_FLAGS:
        if (flag_bytes(type) > 8) {
            out(buf, "    codec_write_raw(w, v->bits, sizeof v->bits);\n");
        } else {
            out(buf, "    codec_write_u%u(w, *v);\n", flag_bytes(type) * 8);
        }
        break;
    case TYPE_LIST:
        out(buf, "    codec_write_u32(w, v->count);\n");
        out(buf, "    for (uint32_t i = 0; i < v->count; i++) {\n");
        emit_write(buf, "        ", type->members[0].type, NULL, "v->items[i]");
        out(buf, "    }\n");
        break;
    case TYPE_OPTION:
        out(buf, "    codec_write_u8(w, v->some);\n    if (v->some) {\n");
        emit_write(buf, "        ", type->members[0].type, NULL, "v->value");
        out(buf, "    }\n");
        break;
    case TYPE_RESULT:
        out(buf, "    codec_write_u8(w, v->is_err);\n");
        emit_switch(type, buf, "(int)v->is_err", write_payload);
        break;
    case TYPE_VARIANT:
        out(buf, "    codec_write_u%u(w, v->tag);\n", tag_bytes(type) * 8);
        emit_switch(type, buf, "v->tag", write_payload);
        break;
    default:
        if (type->magic != NULL) {
            out(buf, "    codec_write_raw(w, %s, %zu);\n", c_string(type->magic),
                strlen(type->magic));
        }
        for (size_t i = 0; i < type->member_count; i++) {
            const Member *member = &type->members[i];
            unsigned bytes;
            size_t run = run_length(type, i, &bytes);
            if (run > 0) {
                emit_write_run(buf, member, run, bytes);
                i += run - 1;
                continue;
            }
            emit_write(buf, "    ", member->type, member,
                       take_printf("v->%s", snake(member->name)));
        }
        break;
    }
    out(buf, "}\n\n");
}

/* With `top`, options at the end may be missing. */
static void emit_read_fields(const Type *type, Buf *buf, bool top)
{
    size_t growth = top ? growth_start(type) : type->member_count;

    if (type->magic != NULL) {
        out(buf, "    codec_read_exactly(r, %s, %zu);\n", c_string(type->magic),
            strlen(type->magic));
    }
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        unsigned bytes;
        size_t run = run_length(type, i, &bytes);
        if (run > 0) {
            emit_read_run(buf, type, i, run, bytes);
            i += run - 1;
            continue;
        }
        if (i >= growth) {
            out(buf, "    if (codec_at_end(r)) {\n        return;\n    }\n");
        }
        emit_read(buf, "    ", member->type, member, take_printf("v->%s", snake(member->name)));
        if (type->kind == TYPE_RECORD) {
            out(buf,
                "    if (codec_read_failed(r, \"record %s\", \"%s\")) {\n        return;\n    }\n",
                type->name, member->name);
        }
    }
}

static bool grows(const Type *type)
{
    return type->kind == TYPE_RECORD && !type->frozen && growth_start(type) < type->member_count;
}

static void emit_read_function(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;

    if (grows(type)) {
        out(buf, "static void %s_read_top(CodecReader *r, %s *v)\n{\n", type->fn, type->c_name);
        emit_read_fields(type, buf, true);
        out(buf, "}\n\n");
        if (!type->nested) {
            return;
        }
    }
    out(buf, "static void %s_read(CodecReader *r, %s *v)\n{\n", type->fn, type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf, "    *v = codec_read_u%u(r);\n", tag_bytes(type) * 8);
        break;
    case TYPE_FLAGS:
        if (flag_bytes(type) > 8) {
            out(buf, "    codec_read_raw(r, v->bits, sizeof v->bits);\n");
        } else {
            out(buf, "    *v = codec_read_u%u(r);\n", flag_bytes(type) * 8);
        }
        break;
    case TYPE_LIST:
        out(buf, "    v->items = codec_read_items(r, %" PRIu64 ", sizeof *v->items, &v->count);\n",
            part->min_size);
        out(buf, "    for (uint32_t i = 0; i < v->count && r->rc == SAP_OK; i++) {\n");
        emit_read(buf, "        ", part, NULL, "v->items[i]");
        out(buf, "    }\n");
        break;
    case TYPE_OPTION:
        out(buf, "    v->some = codec_read_bool(r);\n    if (v->some) {\n");
        emit_read(buf, "        ", part, NULL, "v->value");
        out(buf, "    }\n");
        break;
    case TYPE_RESULT:
        out(buf, "    v->is_err = codec_read_bool(r);\n");
        emit_switch(type, buf, "(int)v->is_err", read_payload);
        break;
    case TYPE_VARIANT:
        out(buf, "    v->tag = codec_read_u%u(r);\n", tag_bytes(type) * 8);
        emit_switch(type, buf, "v->tag", read_payload);
        break;
    default:
        emit_read_fields(type, buf, false);
        break;
    }
    out(buf, "}\n\n");
}

static void emit_refinements(const Type *type, Buf *buf, const Member *member,
                             const Refinement *refinement)
{
    for (; refinement != NULL; refinement = refinement->next) {
        Buf present = {0};
        refine_emit_present(&present, type, member, refinement);
        if (present.len > 0) {
            out(buf, "    if (%.*s) {\n", (int)present.len, (const char *)present.data);
        } else {
            out(buf, "    {\n");
        }
        buf_release(&present);
        out(buf, "        bool bad = false;\n        bool holds = ");
        refine_emit(buf, type, member, refinement);
        out(buf,
            ";\n        if (bad || !holds) {\n"
            "            return codec_broken(error, \"record %s\", \"%s\", %s);\n        }\n    }\n",
            type->name, member == NULL ? "" : member->name, c_string(refinement->text));
    }
}

static void emit_check_function(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;
    bool declared = false;

    out(buf, "static int %s_check(const %s *v, CodecError *error)\n{\n", type->fn, type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf,
            "    return codec_blame(error, \"enum %s\", \"\", codec_check_case(*v, %zu, error));\n}\n\n",
            type->name, type->member_count);
        return;
    case TYPE_FLAGS:
        out(buf, "    return codec_blame(error, \"flags %s\", \"\", ", type->name);
        out(buf,
            flag_bytes(type) > 8 ? "codec_check_bits(v->bits, %zu, error));\n}\n\n"
                                 : "codec_check_flags(*v, %zu, error));\n}\n\n",
            type->member_count);
        return;
    case TYPE_LIST:
        out(buf, "    for (uint32_t i = 0; i < v->count; i++) {\n        int rc = ");
        emit_check_call(buf, part, "v->items[i]");
        out(buf, ";\n        if (rc != SAP_OK) {\n            return rc;\n        }\n    }\n");
        break;
    case TYPE_OPTION:
        out(buf, "    return v->some ? ");
        emit_check_call(buf, part, "v->value");
        out(buf, " : SAP_OK;\n}\n\n");
        return;
    case TYPE_RESULT:
        emit_switch(type, buf, "(int)v->is_err", check_payload);
        break;
    case TYPE_VARIANT:
        emit_switch(type, buf, "v->tag", check_payload);
        out(buf,
            "    return codec_blame(error, \"variant %s\", \"\", codec_check_case(v->tag, %zu, error));\n}\n\n",
            type->name, type->member_count);
        return;
    default:
        for (size_t i = 0; i < type->member_count; i++) {
            const Member *member = &type->members[i];
            if (member->type->checked) {
                out(buf, "%s = ", declared ? "    rc" : "    int rc");
                declared = true;
                emit_check_call(buf, member->type, take_printf("v->%s", snake(member->name)));
                out(buf, ";\n    if (rc != SAP_OK) {\n        return ");
                if (type->kind == TYPE_RECORD) {
                    out(buf, "codec_blame(error, \"record %s\", \"%s\", rc);\n    }\n", type->name,
                        member->name);
                } else {
                    out(buf, "rc;\n    }\n");
                }
            }
            emit_refinements(type, buf, member, member->refinements);
        }
        emit_refinements(type, buf, NULL, type->refinements);
        break;
    }
    out(buf, "    return SAP_OK;\n}\n\n");
}

static void emit_equal_function(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;

    out(buf, "%sbool %s_equal(const %s *a, const %s *b)\n{\n", type_is_named(type) ? "" : "static ",
        type->fn, type->c_name, type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf, "    return *a == *b;\n");
        break;
    case TYPE_FLAGS:
        out(buf, flag_bytes(type) > 8
                     ? "    return memcmp(a->bits, b->bits, sizeof a->bits) == 0;\n"
                     : "    return *a == *b;\n");
        break;
    case TYPE_LIST:
        out(buf, "    if (a->count != b->count) {\n        return false;\n    }\n"
                 "    for (uint32_t i = 0; i < a->count; i++) {\n        if (!(");
        emit_equal_call(buf, part, "items[i]");
        out(buf, ")) {\n            return false;\n        }\n    }\n    return true;\n");
        break;
    case TYPE_OPTION:
        out(buf, "    return a->some == b->some && (!a->some || ");
        emit_equal_call(buf, part, "value");
        out(buf, ");\n");
        break;
    case TYPE_RESULT:
    case TYPE_VARIANT: {
        const char *tag = type->kind == TYPE_RESULT ? "is_err" : "tag";
        out(buf, "    if (a->%s != b->%s) {\n        return false;\n    }\n", tag, tag);
        emit_switch(type, buf,
                    take_printf("%sa->%s", type->kind == TYPE_RESULT ? "(int)" : "", tag),
                    equal_payload);
        out(buf, "    return true;\n");
        break;
    }
    default:
        for (size_t i = 0; i < type->member_count; i++) {
            out(buf, i == 0 ? "    return " : " &&\n           ");
            emit_equal_call(buf, type->members[i].type, snake(type->members[i].name));
        }
        out(buf, ";\n");
        break;
    }
    out(buf, "}\n\n");
}

static void emit_free_function(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;

    if (!type->owns && !type_is_named(type)) {
        return;
    }
    out(buf, "%svoid %s_free(%s *v)\n{\n", type_is_named(type) ? "" : "static ", type->fn,
        type->c_name);
    switch (type->owns ? type->kind : TYPE_ENUM) {
    case TYPE_ENUM:
        break;
    case TYPE_LIST:
        if (part->owns) {
            out(buf, "    for (uint32_t i = 0; i < v->count; i++) {\n");
            emit_free_call(buf, "        ", part, "v->items[i]");
            out(buf, "    }\n");
        }
        out(buf, "    codec_items_free(v->items, v->count, sizeof *v->items);\n");
        break;
    case TYPE_OPTION:
        out(buf, "    if (v->some) {\n");
        emit_free_call(buf, "        ", part, "v->value");
        out(buf, "    }\n");
        break;
    case TYPE_RESULT:
        emit_switch(type, buf, "(int)v->is_err", free_payload);
        break;
    case TYPE_VARIANT:
        emit_switch(type, buf, "v->tag", free_payload);
        break;
    default:
        for (size_t i = 0; i < type->member_count; i++) {
            if (type->members[i].type->owns) {
                emit_free_call(buf, "    ", type->members[i].type,
                               take_printf("v->%s", snake(type->members[i].name)));
            }
        }
        break;
    }
    out(buf, "    memset(v, 0, sizeof *v);\n}\n\n");
}

/* Numbers alone are given one by one: compilers keep them in registers then, and do not write them
 * narrow only to read them wide. */
static void emit_give(const Type *type, Buf *buf)
{
    unsigned bytes;

    if (run_length(type, 0, &bytes) < type->member_count || type->kind != TYPE_RECORD) {
        out(buf, "    *v_out = v;\n");
        return;
    }
    for (size_t i = 0; i < type->member_count; i++) {
        const char *name = snake(type->members[i].name);
        out(buf, "    v_out->%s = v.%s;\n", name, name);
    }
}

static void emit_public_functions(const Schema *schema, const Type *type, Buf *buf)
{
    const char *key = type->table_key ? "_key" : "";
    bool version = !type->frozen && !type->table_key;

    out(buf, "int %s_validate(const %s *v, CodecError *error)\n{\n", type->fn, type->c_name);
    out(buf, "    if (error != NULL) {\n        error->text[0] = '\\0';\n    }\n");
    if (type->checked) {
        out(buf, "    return %s_check(v, error);\n}\n\n", type->fn);
    } else {
        out(buf, "    (void)v;\n    return SAP_OK;\n}\n\n");
    }
    out(buf,
        "int %s_encode(const %s *v, Buf *buf, CodecError *error)\n{\n"
        "    int rc = %s_validate(v, error);\n    if (rc != SAP_OK) {\n        return rc;\n    }\n"
        "    CodecWriter w = codec_write_start(buf);\n",
        type->fn, type->c_name, type->fn);
    if (version) {
        out(buf, "    codec_write_u8(&w, %u);\n", schema->major);
    }
    out(buf, "    %s_write%s(&w, v);\n    return codec_write_end(&w);\n}\n\n", type->fn, key);
    out(buf,
        "int %s_decode(const void *data, size_t len, %s *v_out, CodecError *error)\n{\n"
        "    CodecReader r = codec_read_start(data, len, error);\n    %s v;\n\n"
        "    memset(&v, 0, sizeof v);\n",
        type->fn, type->c_name, type->c_name);
    if (version) {
        out(buf, "    codec_read_version(&r, %u);\n", schema->major);
    }
    out(buf, "    %s_read%s%s(&r, &v);\n", type->fn, key, grows(type) && version ? "_top" : "");
    if (!version || type->kind != TYPE_RECORD) {
        out(buf, "    codec_read_all(&r);\n");
    }
    out(buf, "    (void)codec_read_failed(&r, \"%s %s\", \"\");\n", kind_text(type), type->name);
    if (type->checked) {
        out(buf, "    if (r.rc == SAP_OK) {\n        r.rc = %s_check(&v, error);\n    }\n",
            type->fn);
    }
    out(buf, "    if (r.rc != SAP_OK) {\n");
    if (type->owns) {
        out(buf, "        %s_free(&v);\n", type->fn);
    }
    out(buf, "        return r.rc;\n    }\n");
    emit_give(type, buf);
    out(buf, "    return SAP_OK;\n}\n\n");
}

void emit_source(const Schema *schema, Buf *buf)
{
    emit_notice(schema, buf, take_printf("wit_%s.c", snake(schema->package)),
                "codecs of the types in its header.");
    out(buf, "#include \"wit_%s.h\"\n\n", snake(schema->package));
    for (size_t i = 0; i < schema->order_count; i++) {
        const Type *type = schema->order[i];
        if (type->in_value) {
            emit_write_function(type, buf);
            emit_read_function(type, buf);
        }
        if (type->in_key) {
            emit_key_functions(type, buf);
        }
        if (type->checked) {
            emit_check_function(type, buf);
        }
        emit_equal_function(type, buf);
        emit_free_function(type, buf);
        if (type_is_named(type)) {
            emit_public_functions(schema, type, buf);
        }
    }
}
