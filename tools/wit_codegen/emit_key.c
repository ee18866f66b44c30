/* emit_key.c - the codec of keys: bytes that sort as the values do.
 *
 * Unsigned integers are big-endian, signed ones too with their sign bit flipped; strings and bytes
 * are escaped and ended; an enum is its number. Check lets nothing else into a key. */
#include "emit.h"

#include <inttypes.h>

static void emit_part_write(Buf *buf, const Type *type, const char *from)
{
    out(buf, "    ");
    if (type->kind == TYPE_STRING || type->kind == TYPE_BYTES) {
        out(buf, "codec_write_key_bytes(w, &%s);\n", from);
    } else if (type->kind == TYPE_BOOL) {
        out(buf, "codec_write_u8(w, %s);\n", from);
    } else if (type->kind == TYPE_CHAR) {
        out(buf, "codec_write_u32be(w, %s);\n", from);
    } else if (type_is_signed(type->kind)) {
        unsigned bits = type_bits(type->kind);
        out(buf, "codec_write_u%u%s(w, (uint%u_t)((uint%u_t)%s ^ UINT%u_C(%" PRIu64 ")));\n", bits,
            bits == 8 ? "" : "be", bits, bits, from, bits, UINT64_C(1) << (bits - 1));
    } else if (type_is_integer(type->kind)) {
        unsigned bits = type_bits(type->kind);
        out(buf, "codec_write_u%u%s(w, %s);\n", bits, bits == 8 ? "" : "be", from);
    } else {
        out(buf, "%s_write_key(w, &%s);\n", type->fn, from);
    }
}

static void emit_part_read(Buf *buf, const Type *type, const char *to)
{
    out(buf, "    ");
    if (type->kind == TYPE_STRING || type->kind == TYPE_BYTES) {
        out(buf, "codec_read_key_bytes(r, &%s);\n", to);
    } else if (type->kind == TYPE_BOOL) {
        out(buf, "%s = codec_read_bool(r);\n", to);
    } else if (type->kind == TYPE_CHAR) {
        out(buf, "%s = codec_read_u32be(r);\n", to);
    } else if (type_is_signed(type->kind)) {
        unsigned bits = type_bits(type->kind);
        out(buf, "%s = (int%u_t)(codec_read_u%u%s(r) ^ UINT%u_C(%" PRIu64 "));\n", to, bits, bits,
            bits == 8 ? "" : "be", bits, UINT64_C(1) << (bits - 1));
    } else if (type_is_integer(type->kind)) {
        unsigned bits = type_bits(type->kind);
        out(buf, "%s = codec_read_u%u%s(r);\n", to, bits, bits == 8 ? "" : "be");
    } else {
        out(buf, "%s_read_key(r, &%s);\n", type->fn, to);
    }
}

void emit_key_functions(const Type *type, Buf *buf)
{
    const char *width = type->kind == TYPE_ENUM && tag_bytes(type) > 1 ? "16be" : "8";

    out(buf, "static void %s_write_key(CodecWriter *w, const %s *v)\n{\n", type->fn, type->c_name);
    if (type->kind == TYPE_ENUM) {
        out(buf, "    codec_write_u%s(w, *v);\n", width);
    } else {
        for (size_t i = 0; i < type->member_count; i++) {
            emit_part_write(buf, type->members[i].type,
                            take_printf("v->%s", snake(type->members[i].name)));
        }
    }
    out(buf, "}\n\nstatic void %s_read_key(CodecReader *r, %s *v)\n{\n", type->fn, type->c_name);
    if (type->kind == TYPE_ENUM) {
        out(buf, "    *v = codec_read_u%s(r);\n", width);
    } else {
        for (size_t i = 0; i < type->member_count; i++) {
            const Member *member = &type->members[i];
            emit_part_read(buf, member->type, take_printf("v->%s", snake(member->name)));
            if (type->kind == TYPE_RECORD) {
                out(buf,
                    "    if (codec_read_failed(r, \"record %s\", \"%s\")) {\n        return;\n    }\n",
                    type->name, member->name);
            }
        }
    }
    out(buf, "}\n\n");
}
