/* emit_samples.c - values for tests and fuzzing: random ones, and those at the edges of
 * refinements, with what the generator itself computed about each. */
#include "emit.h"

#include <inttypes.h>

static void emit_random(Buf *buf, const char *indent, const Type *type, const char *to)
{
    out(buf, "%s", indent);
    switch (type->kind) {
    case TYPE_BOOL:
        out(buf, "%s = choice_one_in(choice, 2);\n", to);
        break;
    case TYPE_F32:
        out(buf, "%s = sample_real32(choice);\n", to);
        break;
    case TYPE_F64:
        out(buf, "%s = sample_real(choice);\n", to);
        break;
    case TYPE_CHAR:
        out(buf, "%s = sample_char(choice);\n", to);
        break;
    case TYPE_STRING:
        out(buf, "sample_string(choice, &%s);\n", to);
        break;
    case TYPE_BYTES:
        out(buf, "sample_bytes(choice, &%s);\n", to);
        break;
    default:
        if (type_is_integer(type->kind)) {
            out(buf, "%s = (%s)sample_number(choice);\n", to, type->c_name);
        } else {
            out(buf, "%s_random(choice, &%s);\n", type->fn, to);
        }
        break;
    }
}

static const char *number_text(bool negative, uint64_t size)
{
    if (!negative) {
        return take_printf("UINT64_C(%" PRIu64 ")", size);
    }
    return size == UINT64_C(1) << 63 ? "INT64_MIN" : take_printf("-INT64_C(%" PRIu64 ")", size);
}

static void emit_set(Buf *buf, const char *indent, const Edges *edges, size_t i)
{
    if (edges->of_length) {
        out(buf, "%ssample_length(&v->%s, %" PRIu64 ");\n", indent, edges->path, edges->at[i].size);
    } else {
        out(buf, "%sv->%s = (%s)%s;\n", indent, edges->path, edges->type->c_name,
            number_text(edges->at[i].negative, edges->at[i].size));
    }
}

/* Most random values of a field with a refinement hold, or nothing else would ever be tried. */
static void emit_favour(Buf *buf, const Type *type, const Member *member)
{
    const Type *of = member->type;

    for (const Refinement *r = member->refinements; r != NULL; r = r->next) {
        Edges edges;
        size_t good = 0;
        if (!refine_edges(type, member, r, &edges) || of->kind == TYPE_OPTION) {
            continue;
        }
        out(buf, "    switch (choice_below(choice, 16)) {\n");
        for (size_t i = 0; i < edges.count && good < 15; i++) {
            if (edges.at[i].holds) {
                out(buf, "    case %zu:\n", good++);
                emit_set(buf, "        ", &edges, i);
                out(buf, "        break;\n");
            }
        }
        if (good > 0) {
            for (size_t i = 0; i < edges.count; i++) {
                if (edges.at[i].holds) {
                    out(buf, "    default:\n");
                    emit_set(buf, "        ", &edges, i);
                    out(buf, "        break;\n");
                    break;
                }
            }
            out(buf, "    case 15:\n        break;\n");
        } else {
            out(buf, "    default:\n        break;\n");
        }
        out(buf, "    }\n");
    }
}

/* Sets a truth to what makes both sides equal, or to the opposite. */
static void emit_set_truth(Buf *buf, const char *indent, const Lever *lever, bool equal)
{
    const char *truth = take_printf("%s(%s)", equal ? "" : "!", lever->even);

    if (lever->type->kind == TYPE_FLAGS) {
        const char *bit = take_printf("(UINT64_C(1) << %zu)", lever->flag);
        out(buf, "%sv->%s = (%s)(%s ? v->%s | %s : v->%s & ~%s);\n", indent, lever->path,
            lever->type->c_name, truth, lever->path, bit, lever->path, bit);
    } else {
        out(buf, "%sv->%s = %s;\n", indent, lever->path, truth);
    }
}

/* Sets a number to `by` above where both sides are equal, if it can be that. */
static void emit_set_number(Buf *buf, const char *indent, const Lever *lever, int by)
{
    out(buf, "%sCodecNumber at = codec_number_%s(%s, codec_number_u(%d), &bad);\n", indent,
        by < 0 ? "sub" : "add", lever->even, by < 0 ? -by : by);
    out(buf, "%sif (!bad && sample_fits(at, %u, %s)) {\n", indent, type_bits(lever->type->kind),
        type_is_signed(lever->type->kind) ? "true" : "false");
    out(buf, "%s    v->%s = (%s)(at.negative ? 0 - at.size : at.size);\n%s", indent, lever->path,
        lever->type->c_name, indent);
}

static bool of_truth(const Lever *lever)
{
    return lever->type->kind == TYPE_FLAGS || lever->type->kind == TYPE_BOOL;
}

/* Whether `by OP 0`. */
static bool holds_beside(const char *op, int by)
{
    switch (op[0]) {
    case '=':
        return by == 0;
    case '!':
        return by != 0;
    case '<':
        return by < 0 || (by == 0 && op[1] == '=');
    default:
        return by > 0 || (by == 0 && op[1] == '=');
    }
}

/* Random numbers seldom fit each other: the one that decides is set so that they do. */
static void emit_repairs(Buf *buf, const Type *type, const Member *member,
                         const Refinement *refinement)
{
    for (const Refinement *r = refinement; r != NULL; r = r->next) {
        Edges edges;
        Lever lever;
        if (refine_edges(type, member, r, &edges) || !refine_lever(type, member, r, &lever)) {
            continue;
        }
        out(buf, "    {\n        bool bad = false;\n        if (!(");
        refine_emit(buf, type, member, r);
        out(buf, ") && !bad) {\n");
        if (of_truth(&lever)) {
            emit_set_truth(buf, "            ", &lever, holds_beside(lever.op, 0));
        } else {
            int by = holds_beside(lever.op, 0) ? 0 : holds_beside(lever.op, -1) ? -1 : 1;
            emit_set_number(buf, "            ", &lever, by);
            out(buf, "}\n");
        }
        out(buf, "        }\n    }\n");
    }
}

static void emit_random_function(const Type *type, Buf *buf)
{
    const Type *part = type->member_count > 0 ? type->members[0].type : NULL;

    out(buf, "static void %s_random(Choice *choice, %s *v)\n{\n", type->fn, type->c_name);
    switch (type->kind) {
    case TYPE_ENUM:
        out(buf, "    *v = (%s)choice_below(choice, %zu);\n", type->c_name, type->member_count);
        break;
    case TYPE_FLAGS:
        if (flag_bytes(type) > 8) {
            out(buf,
                "    for (uint32_t i = 0; i < %zu; i++) {\n"
                "        v->bits[i / 8] |= (uint8_t)(choice_below(choice, 2) << i %% 8);\n    }\n",
                type->member_count);
        } else {
            out(buf, "    *v = (%s)(sample_number(choice) & (UINT64_MAX >> %zu));\n", type->c_name,
                64 - type->member_count);
        }
        break;
    case TYPE_LIST:
        out(buf, "    v->items = sample_items(choice, sizeof *v->items, &v->count);\n"
                 "    for (uint32_t i = 0; i < v->count; i++) {\n");
        emit_random(buf, "        ", part, "v->items[i]");
        out(buf, "    }\n");
        break;
    case TYPE_OPTION:
        out(buf, "    v->some = choice_one_in(choice, 2);\n    if (v->some) {\n");
        emit_random(buf, "        ", part, "v->value");
        out(buf, "    }\n");
        break;
    case TYPE_RESULT:
    case TYPE_VARIANT:
        if (type->kind == TYPE_RESULT) {
            out(buf, "    v->is_err = choice_one_in(choice, 2);\n    switch ((int)v->is_err) {\n");
        } else {
            out(buf, "    v->tag = (uint%u_t)choice_below(choice, %zu);\n    switch (v->tag) {\n",
                tag_bytes(type) * 8, type->member_count);
        }
        for (size_t i = 0; i < type->member_count; i++) {
            if (type->members[i].type != NULL) {
                out(buf, "    case %zu:\n", i);
                emit_random(buf, "        ", type->members[i].type,
                            take_printf("v->as.%s", snake(type->members[i].name)));
                out(buf, "        break;\n");
            }
        }
        out(buf, "    default:\n        break;\n    }\n");
        break;
    default:
        for (size_t i = 0; i < type->member_count; i++) {
            emit_random(buf, "    ", type->members[i].type,
                        take_printf("v->%s", snake(type->members[i].name)));
            emit_favour(buf, type, &type->members[i]);
        }
        for (size_t i = 0; type->kind == TYPE_RECORD && i < type->member_count; i++) {
            emit_repairs(buf, type, &type->members[i], type->members[i].refinements);
        }
        emit_repairs(buf, type, NULL, type->refinements);
        break;
    }
    out(buf, "}\n\n");
}

/* On, and beside, where both sides of a comparison are equal; where it cannot be set so, or holds
 * anyway, the valid value from before stays and is reported as one. */
static void emit_lever_edges(Buf *buf, const Refinement *r, const Lever *lever, size_t *count)
{
    for (int by = -1; by <= 1; by++) {
        bool truth = of_truth(lever);
        if (truth && by < 0) {
            continue;
        }
        out(buf, "    case %zu: {\n        *refinement = %s;\n", (*count)++, c_string(r->text));
        if (!truth || lever->free[0] != '\0') {
            out(buf, "        bool bad = false;\n");
        }
        if (lever->free[0] != '\0') {
            out(buf, "        if ((%s) || bad) {\n            return true;\n        }\n",
                lever->free);
        }
        if (truth) {
            emit_set_truth(buf, "        ", lever, by == 0);
            out(buf, "        return %s;\n    }\n", holds_beside(lever->op, by) ? "true" : "false");
        } else {
            emit_set_number(buf, "        ", lever, by);
            out(buf, "    return %s;\n        }\n        return true;\n    }\n",
                holds_beside(lever->op, by) ? "true" : "false");
        }
    }
}

static void emit_edges_of(const Type *type, const Member *member, const Refinement *refinement,
                          Buf *buf, size_t *count)
{
    for (const Refinement *r = refinement; r != NULL; r = r->next) {
        Edges edges;
        Lever lever;
        if (!refine_edges(type, member, r, &edges)) {
            if (refine_lever(type, member, r, &lever)) {
                emit_lever_edges(buf, r, &lever, count);
            }
            continue;
        }
        for (size_t i = 0; i < edges.count; i++) {
            out(buf, "    case %zu:\n        *refinement = %s;\n", (*count)++, c_string(r->text));
            if (member != NULL && member->type->kind == TYPE_OPTION) {
                out(buf, "        v->%s.some = true;\n", snake(member->name));
            }
            emit_set(buf, "        ", &edges, i);
            out(buf, "        return %s;\n", edges.at[i].holds ? "true" : "false");
        }
    }
}

static size_t emit_edge_function(const Type *type, Buf *buf)
{
    Buf cases = {0};
    size_t count = 0;

    emit_edges_of(type, NULL, type->refinements, &cases, &count);
    for (size_t i = 0; type->kind == TYPE_RECORD && i < type->member_count; i++) {
        emit_edges_of(type, &type->members[i], type->members[i].refinements, &cases, &count);
    }
    if (count > 0) {
        out(buf,
            "static bool %s_edge(void *any, size_t i, const char **refinement)\n{\n    %s *v = any;\n\n"
            "    switch (i) {\n%.*s    default:\n        return true;\n    }\n}\n\n",
            type->fn, type->c_name, (int)cases.len, (const char *)cases.data);
    }
    buf_release(&cases);
    return count;
}

void emit_samples_header(const Schema *schema, Buf *buf)
{
    const char *name = snake(schema->package);

    emit_notice(schema, buf, take_printf("wit_%s_samples.h", name), "its types, for tests.");
    out(buf,
        "#ifndef SAPLING_GENERATED_WIT_%s_SAMPLES_H\n#define SAPLING_GENERATED_WIT_%s_SAMPLES_H\n\n"
        "#include \"samples/samples.h\"\n\n"
        "extern const SampleType wit_%s_samples[];\nextern const size_t wit_%s_sample_count;\n\n"
        "#endif\n",
        upper(schema->package), upper(schema->package), name, name);
}

void emit_samples_source(const Schema *schema, Buf *buf)
{
    const char *name = snake(schema->package);
    Buf table = {0};

    emit_notice(schema, buf, take_printf("wit_%s_samples.c", name), "its types, for tests.");
    out(buf, "#include \"wit_%s_samples.h\"\n\n#include \"wit_%s_json.h\"\n\n", name, name);
    for (size_t i = 0; i < schema->order_count; i++) {
        const Type *type = schema->order[i];
        emit_random_function(type, buf);
        if (!type_is_named(type)) {
            continue;
        }
        size_t edges = emit_edge_function(type, buf);
        bool grows = type->kind == TYPE_RECORD && !type->frozen && !type->table_key;
        out(buf, "SAMPLE_TYPE(%s, %s)\n\n", type->fn, type->c_name);
        out(&table, "    SAMPLE_ENTRY(\"%s\", %s, %s, %s, ", type->name, type->fn, type->c_name,
            grows ? "true" : "false");
        out(&table, edges > 0 ? "%s_edge, %zu),\n" : "NULL, 0),\n", type->fn, edges);
    }
    out(buf, "const SampleType wit_%s_samples[] = {\n%.*s};\n\n", name, (int)table.len,
        (const char *)table.data);
    out(buf,
        "const size_t wit_%s_sample_count =\n    sizeof wit_%s_samples / sizeof wit_%s_samples[0];\n",
        name, name, name);
    buf_release(&table);
}
