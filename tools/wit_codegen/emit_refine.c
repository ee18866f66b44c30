/* emit_refine.c - refinements as C, and values at their edges. */
#include "emit.h"

#include <inttypes.h>

/* The path in C below `v->`; options are opened. With `present`, adds the conditions for that. */
static const char *c_path(const Type *record, const Member *field, const Expr *expr, bool open_last,
                          Buf *present)
{
    const Type *type = record;
    const char *path = "";

    for (size_t i = 0; i < expr->name_count; i++) {
        if (type->kind == TYPE_FLAGS) {
            break;
        }
        const Member *member = refine_member(type, field, expr, i);
        path = take_printf("%s%s%s", path, i == 0 ? "" : ".", snake(member->name));
        type = real_type(member->type);
        if (type->kind == TYPE_OPTION && (open_last || i + 1 < expr->name_count)) {
            if (present != NULL) {
                out(present, "%sv->%s.some", present->len == 0 ? "" : " && ", path);
            }
            path = take_printf("%s.value", path);
            type = real_type(type->members[0].type);
        }
    }
    return path;
}

static void each_present(Buf *present, const Type *record, const Member *field, const Expr *expr)
{
    if (expr == NULL) {
        return;
    }
    if (expr->kind == EXPR_PATH || expr->kind == EXPR_LEN || expr->kind == EXPR_HAS) {
        (void)c_path(record, field, expr, expr->kind != EXPR_HAS, present);
    }
    each_present(present, record, field, expr->left);
    each_present(present, record, field, expr->right);
}

void refine_emit_present(Buf *buf, const Type *record, const Member *field,
                         const Refinement *refinement)
{
    each_present(buf, record, field, refinement->expr);
}

static void emit_expr(Buf *buf, const Type *record, const Member *field, const Expr *expr);

static void emit_path(Buf *buf, const Type *record, const Member *field, const Expr *expr)
{
    const char *path = c_path(record, field, expr, expr->kind != EXPR_HAS, NULL);
    const Type *type = expr->type;

    if (expr->kind == EXPR_HAS) {
        out(buf, "v->%s.some", path);
    } else if (expr->kind == EXPR_LEN) {
        out(buf, "codec_number_u(v->%s.%s)", path, type->kind == TYPE_LIST ? "count" : "len");
    } else if (expr->flag) {
        size_t bit = (size_t)(find_member(type, expr->name[expr->name_count - 1]) - type->members);
        if (flag_bytes(type) > 8) {
            out(buf, "codec_bit(v->%s.bits, %zu)", path, bit);
        } else {
            out(buf, "(((uint64_t)v->%s >> %zu & 1) != 0)", path, bit);
        }
    } else if (type->kind == TYPE_BOOL || type->kind == TYPE_F32 || type->kind == TYPE_F64) {
        out(buf, type->kind == TYPE_F32 ? "(double)v->%s" : "v->%s", path);
    } else {
        out(buf, "codec_number_%c(v->%s)", type_is_signed(type->kind) ? 's' : 'u', path);
    }
}

static void emit_binary(Buf *buf, const Type *record, const Member *field, const Expr *expr)
{
    static const struct {
        const char *op;
        const char *name;
    } names[] = {{"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"}, {"%", "mod"}};
    ExprType type = refine_type(expr->left);
    const char *name = "compare";

    if (type == OF_REAL && strcmp(expr->op, "/") == 0) {
        out(buf, "codec_real_div(");
        emit_expr(buf, record, field, expr->left);
        out(buf, ", ");
        emit_expr(buf, record, field, expr->right);
        out(buf, ", &bad)");
        return;
    }
    if (type == OF_BOOL && (expr->op[0] == '=' || expr->op[0] == '!')) {
        out(buf, "%scodec_truths_equal(", expr->op[0] == '!' ? "!" : "");
        emit_expr(buf, record, field, expr->left);
        out(buf, ", ");
        emit_expr(buf, record, field, expr->right);
        out(buf, ")");
        return;
    }
    /* Cases are compared as numbers: compilers warn of one that is never below 0. */
    if (type != OF_INTEGER && type != OF_CASE) {
        out(buf, "(");
        emit_expr(buf, record, field, expr->left);
        out(buf, " %s ", expr->op);
        emit_expr(buf, record, field, expr->right);
        out(buf, ")");
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(expr->op, names[i].op) == 0) {
            name = names[i].name;
        }
    }
    bool compare = name[0] == 'c';
    out(buf, "%scodec_number_%s(", compare ? "(" : "", name);
    emit_expr(buf, record, field, expr->left);
    out(buf, ", ");
    emit_expr(buf, record, field, expr->right);
    if (compare) {
        out(buf, ") %s 0)", expr->op);
    } else {
        out(buf, ", &bad)");
    }
}

/* With a point, or an exponent, or C would take it for an integer. */
static void emit_real(Buf *buf, double real)
{
    const char *text = take_printf("%.17g", real);

    out(buf, "%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
}

static void emit_expr(Buf *buf, const Type *record, const Member *field, const Expr *expr)
{
    switch (expr->kind) {
    case EXPR_NUMBER:
    case EXPR_CASE:
        out(buf, "codec_number_u(UINT64_C(%" PRIu64 "))", expr->number);
        return;
    case EXPR_REAL:
        emit_real(buf, expr->real);
        return;
    case EXPR_TRUTH:
        out(buf, expr->number != 0 ? "true" : "false");
        return;
    case EXPR_PATH:
    case EXPR_LEN:
    case EXPR_HAS:
        emit_path(buf, record, field, expr);
        return;
    case EXPR_NOT:
    case EXPR_MINUS:
        out(buf, expr->kind == EXPR_NOT                  ? "!("
                 : refine_type(expr->left) == OF_INTEGER ? "codec_number_minus("
                                                         : "-(");
        emit_expr(buf, record, field, expr->left);
        out(buf, ")");
        return;
    case EXPR_BINARY:
        emit_binary(buf, record, field, expr);
        return;
    }
}

void refine_emit(Buf *buf, const Type *record, const Member *field, const Refinement *refinement)
{
    emit_expr(buf, record, field, refinement->expr);
}

/* --- edges ---------------------------------------------------------------------------------- */

/* What decides the expression, while it is looked for. */
typedef struct Sole {
    const Type *record;
    const Member *field;
    const Expr *expr; /* NULL: none yet */
    const char *path;
    bool several;
    CodecNumber seen[16];
    size_t seen_count;
} Sole;

static void look(Sole *sole, const Expr *expr)
{
    if (expr == NULL) {
        return;
    }
    if (expr->kind == EXPR_NUMBER && sole->seen_count < 16) {
        sole->seen[sole->seen_count++] = codec_number_u(expr->number);
    }
    if (expr->kind == EXPR_MINUS && expr->left->kind == EXPR_NUMBER && sole->seen_count < 16) {
        sole->seen[sole->seen_count++] = codec_number_minus(codec_number_u(expr->left->number));
    }
    if (expr->kind == EXPR_HAS || expr->kind == EXPR_CASE || expr->kind == EXPR_REAL) {
        sole->several = true;
    }
    if (expr->kind == EXPR_PATH || expr->kind == EXPR_LEN) {
        const char *path = c_path(sole->record, sole->field, expr, true, NULL);
        bool number = expr->kind == EXPR_LEN || type_is_integer(expr->type->kind);
        bool again =
            sole->expr != NULL && sole->expr->kind == expr->kind && strcmp(sole->path, path) == 0;
        sole->several = sole->several || !number || (sole->expr != NULL && !again) || expr->flag;
        sole->expr = expr;
        sole->path = path;
    }
    look(sole, expr->left);
    look(sole, expr->right);
}

static void add_edge(Edges *edges, const Expr *expr, CodecNumber at)
{
    const Type *type = edges->type;
    bool is_signed = !edges->of_length && type_is_signed(type->kind);
    unsigned bits = edges->of_length ? 16 : type_bits(type->kind);
    uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - 1
                              : (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1);
    bool bad = false;

    if (at.negative ? !is_signed || at.size > most + 1 : at.size > most) {
        return;
    }
    for (size_t i = 0; i < edges->count; i++) {
        if (edges->at[i].negative == at.negative && edges->at[i].size == at.size) {
            return;
        }
    }
    if (edges->count == sizeof edges->at / sizeof edges->at[0]) {
        return;
    }
    bool holds = refine_holds_at(expr, at, &bad);
    edges->at[edges->count].negative = at.negative;
    edges->at[edges->count].size = at.size;
    edges->at[edges->count].holds = holds && !bad;
    edges->count++;
}

bool refine_edges(const Type *record, const Member *field, const Refinement *refinement,
                  Edges *edges_out)
{
    Sole sole = {record, field, NULL, NULL, false, {{0}}, 0};

    look(&sole, refinement->expr);
    if (sole.several || sole.expr == NULL) {
        return false;
    }
    bool of_length = sole.expr->kind == EXPR_LEN;
    if (of_length && sole.expr->type->kind == TYPE_LIST) {
        return false;
    }
    *edges_out = (Edges){sole.path, sole.expr->type, of_length, {{0}}, 0};
    CodecNumber one = codec_number_u(1);
    for (size_t i = 0; i < sole.seen_count; i++) {
        bool bad = false;
        add_edge(edges_out, refinement->expr, sole.seen[i]);
        CodecNumber below = codec_number_sub(sole.seen[i], one, &bad);
        if (!bad) {
            add_edge(edges_out, refinement->expr, below);
        }
        bad = false;
        CodecNumber above = codec_number_add(sole.seen[i], one, &bad);
        if (!bad) {
            add_edge(edges_out, refinement->expr, above);
        }
    }
    return true;
}

/* --- levers --------------------------------------------------------------------------------- */

static const char *expr_text(const Type *record, const Member *field, const Expr *expr)
{
    Buf buf = {0};

    emit_expr(&buf, record, field, expr);
    const char *text = take_text((const char *)buf.data, buf.len);
    buf_release(&buf);
    return text;
}

static bool reads(const Sole *in, const Expr *expr, const char *path)
{
    if (expr == NULL) {
        return false;
    }
    bool own = (expr->kind == EXPR_PATH || expr->kind == EXPR_LEN) &&
               strcmp(c_path(in->record, in->field, expr, true, NULL), path) == 0;
    return own || reads(in, expr->left, path) || reads(in, expr->right, path);
}

/* The number of a sum that can be set, its last; and in *even the other side without the rest. */
static const Expr *settable(const Sole *in, const Expr *sum, const char **even)
{
    bool plus = sum->kind == EXPR_BINARY && strcmp(sum->op, "+") == 0;

    if (sum->kind == EXPR_PATH && type_is_integer(sum->type->kind)) {
        return sum;
    }
    for (int side = 1; plus && side >= 0; side--) {
        const Expr *part = side == 1 ? sum->right : sum->left;
        const Expr *rest = side == 1 ? sum->left : sum->right;
        const char *without = *even;
        const Expr *found = settable(in, part, &without);
        if (found != NULL) {
            *even = take_printf("codec_number_sub(%s, %s, &bad)", without,
                                expr_text(in->record, in->field, rest));
            return reads(in, rest, c_path(in->record, in->field, found, true, NULL)) ? NULL : found;
        }
    }
    return NULL;
}

static const char *mirrored(const char *op)
{
    return op[0] == '<'   ? (op[1] == '=' ? ">=" : ">")
           : op[0] == '>' ? (op[1] == '=' ? "<=" : "<")
                          : op;
}

static bool lever_of(const Sole *in, const Expr *expr, Lever *lever)
{
    if (expr->kind != EXPR_BINARY || strcmp(expr->op, "&&") == 0) {
        return false;
    }
    if (strcmp(expr->op, "||") == 0) {
        const char *free = lever->free;
        for (int side = 1; side >= 0; side--) {
            const Expr *part = side == 1 ? expr->right : expr->left;
            const char *other =
                expr_text(in->record, in->field, side == 1 ? expr->left : expr->right);
            lever->free = free[0] == '\0' ? other : take_printf("%s || %s", free, other);
            if (lever_of(in, part, lever)) {
                return true;
            }
        }
        return false;
    }
    for (int side = 0; side < 2; side++) {
        const Expr *left = side == 0 ? expr->left : expr->right;
        const Expr *right = side == 0 ? expr->right : expr->left;
        lever->op = side == 0 ? expr->op : mirrored(expr->op);
        lever->even = expr_text(in->record, in->field, right);
        if (refine_type(left) == OF_BOOL && left->kind == EXPR_PATH) {
            lever->path = c_path(in->record, in->field, left, true, NULL);
            lever->type = left->type;
            lever->flag = left->flag
                              ? (size_t)(find_member(left->type, left->name[left->name_count - 1]) -
                                         left->type->members)
                              : 0;
            return !left->flag || flag_bytes(left->type) <= 8;
        }
        const Expr *found =
            refine_type(left) == OF_INTEGER ? settable(in, left, &lever->even) : NULL;
        if (found != NULL) {
            lever->path = c_path(in->record, in->field, found, true, NULL);
            lever->type = found->type;
            return !reads(in, right, lever->path);
        }
    }
    return false;
}

bool refine_lever(const Type *record, const Member *field, const Refinement *refinement,
                  Lever *lever_out)
{
    Sole in = {.record = record, .field = field};
    Buf present = {0};

    refine_emit_present(&present, record, field, refinement);
    bool options = present.len > 0;
    buf_release(&present);
    *lever_out = (Lever){.free = ""};
    return !options && lever_of(&in, refinement->expr, lever_out);
}
