/* refinements.c - which of two refinements accepts more.
 *
 * Known exactly where both compare one and the same integer with constants, and nothing else:
 * between two neighbouring constants such an expression does not change, so trying every constant,
 * its neighbours, and the ends of the type tries everything. */
#include "diff.h"

#include "schema/refine.h"

enum { MOST_POINTS = 64 };

typedef struct Line {
    const char *path; /* NULL: none yet */
    const Expr *at;
    CodecNumber points[MOST_POINTS];
    size_t count;
    bool lost; /* it is not of that form */
} Line;

static const char *path_of(const Member *field, const Expr *expr)
{
    const char *text = expr->kind == EXPR_LEN ? "len " : "";

    for (size_t i = 0; i < expr->name_count; i++) {
        bool self = i == 0 && field != NULL && strcmp(expr->name[0], "value") == 0;
        text = take_printf("%s.%s", text, self ? field->name : expr->name[i]);
    }
    return text;
}

static void add_point(Line *line, CodecNumber at)
{
    const Type *type = line->at->type;
    bool of_length = line->at->kind == EXPR_LEN;
    bool is_signed = !of_length && type_is_signed(type->kind);
    unsigned bits = of_length ? 32 : type_bits(type->kind);
    uint64_t most = UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));

    if (line->count == MOST_POINTS) {
        line->lost = true;
    } else if (at.negative ? is_signed && at.size <= most + 1 : at.size <= most) {
        line->points[line->count++] = at;
    }
}

static void add_around(Line *line, CodecNumber at)
{
    bool bad = false;
    CodecNumber below = codec_number_sub(at, codec_number_u(1), &bad);

    if (!bad) {
        add_point(line, below);
    }
    bad = false;
    CodecNumber above = codec_number_add(at, codec_number_u(1), &bad);
    if (!bad) {
        add_point(line, above);
    }
    add_point(line, at);
}

static bool constant(const Expr *expr, CodecNumber *out)
{
    bool minus = expr->kind == EXPR_MINUS;

    expr = minus ? expr->left : expr;
    if (expr->kind != EXPR_NUMBER) {
        return false;
    }
    *out = minus ? codec_number_minus(codec_number_u(expr->number)) : codec_number_u(expr->number);
    return true;
}

static bool number(const Expr *expr)
{
    return expr->kind == EXPR_LEN || (expr->kind == EXPR_PATH && type_is_integer(expr->type->kind));
}

/* Finds the integer, in the first pass, and then the constants that it is compared with. */
static void walk(Line *line, const Member *field, const Expr *expr, bool points)
{
    CodecNumber at = {0};

    if (expr->kind == EXPR_TRUTH) {
        return;
    }
    if (expr->kind == EXPR_NOT) {
        walk(line, field, expr->left, points);
        return;
    }
    if (expr->kind != EXPR_BINARY) {
        line->lost = true;
        return;
    }
    if (strcmp(expr->op, "&&") == 0 || strcmp(expr->op, "||") == 0) {
        walk(line, field, expr->left, points);
        walk(line, field, expr->right, points);
        return;
    }
    bool left = number(expr->left) && constant(expr->right, &at);
    bool right = number(expr->right) && constant(expr->left, &at);
    if (!left && !right) {
        line->lost = true;
        return;
    }
    const Expr *side = left ? expr->left : expr->right;
    const char *path = path_of(field, side);
    if (line->path == NULL) {
        line->path = path;
        line->at = side;
    }
    line->lost = line->lost || strcmp(path, line->path) != 0;
    if (points && !line->lost) {
        add_around(line, at);
    }
}

unsigned diff_refinements(const Member *field, const Refinement *old, const Refinement *new)
{
    Line line = {0};
    unsigned whom = 0;

    walk(&line, field, old->expr, true);
    walk(&line, field, new->expr, true);
    if (line.lost || line.at == NULL) {
        return FOR_OLD | FOR_NEW;
    }
    add_point(&line, codec_number_u(0));
    if (line.lost) {
        return FOR_OLD | FOR_NEW;
    }
    for (size_t i = 0; i < line.count; i++) {
        bool bad = false;
        bool was = refine_holds_at(old->expr, line.points[i], &bad);
        bool is = refine_holds_at(new->expr, line.points[i], &bad);
        whom |= was && !is ? FOR_NEW : 0;
        whom |= is && !was ? FOR_OLD : 0;
    }
    return whom;
}
