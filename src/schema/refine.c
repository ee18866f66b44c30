/* refine.c - the expressions of refinements: read, typed, computed.
 *
 * Integers are computed as sign and 64-bit size, so that signed and unsigned fields mix; what
 * leaves that range, or divides by zero, makes the refinement fail. Reals are compared and computed
 * with reals only. An expression that reads an optional field holds when the field is none; has(x)
 * asks. `value` above a field is that field. */
#include "schema/refine.h"

#include "common/assert.h"

static Expr *new_expr(ExprKind kind, Place at)
{
    Expr *expr = take(sizeof *expr);

    expr->kind = kind;
    expr->at = at;
    return expr;
}

static Expr *parse_level(Lexer *lexer, size_t level);

static void want(Lexer *lexer, const char *text)
{
    if (lexer_is(lexer, text)) {
        lexer_next(lexer);
    } else if (!lexer->too_deep) {
        mistake(lexer->now.at, "expected '%s' in the expression", text);
    }
}

static Expr *parse_path(Lexer *lexer, ExprKind kind)
{
    Expr *expr = new_expr(kind, lexer->now.at);

    for (;;) {
        if (lexer->now.kind != TOKEN_NAME) {
            mistake(lexer->now.at, "expected the name of a field");
            return expr;
        }
        if (expr->name_count == sizeof expr->name / sizeof expr->name[0]) {
            mistake(lexer->now.at, "this path is too long");
            return expr;
        }
        expr->name[expr->name_count++] = lexer->now.text;
        lexer_next(lexer);
        if (!lexer_is(lexer, ".")) {
            return expr;
        }
        lexer_next(lexer);
    }
}

static Expr *parse_primary(Lexer *lexer)
{
    Token token = lexer->now;
    Expr *expr;

    if (token.kind == TOKEN_NUMBER || token.kind == TOKEN_REAL) {
        expr = new_expr(token.kind == TOKEN_REAL ? EXPR_REAL : EXPR_NUMBER, token.at);
        expr->number = token.number;
        expr->real = token.real;
        lexer_next(lexer);
        return expr;
    }
    if (lexer_is(lexer, "true") || lexer_is(lexer, "false")) {
        expr = new_expr(EXPR_TRUTH, token.at);
        expr->number = token.text[0] == 't';
        lexer_next(lexer);
        return expr;
    }
    if (lexer_is(lexer, "len") || lexer_is(lexer, "has")) {
        lexer_next(lexer);
        want(lexer, "(");
        expr = parse_path(lexer, token.text[0] == 'l' ? EXPR_LEN : EXPR_HAS);
        want(lexer, ")");
        return expr;
    }
    if (lexer_is(lexer, "(")) {
        lexer_next(lexer);
        expr = parse_level(lexer, 0);
        want(lexer, ")");
        return expr;
    }
    if (token.kind == TOKEN_NAME) {
        return parse_path(lexer, EXPR_PATH);
    }
    mistake(token.at, "expected a value in the expression");
    return new_expr(EXPR_TRUTH, token.at);
}

static Expr *parse_unary(Lexer *lexer);

/* Every way back to a level passes here. */
static Expr *parse_nested(Lexer *lexer, Expr *(*parse)(Lexer *lexer))
{
    if (lexer_too_deep(lexer) || lexer_too_long(lexer)) {
        while (lexer->now.kind != TOKEN_END) {
            lexer_next(lexer);
        }
        return new_expr(EXPR_TRUTH, lexer->now.at);
    }
    lexer->depth++;
    Expr *expr = parse(lexer);
    lexer->depth--;
    return expr;
}

static Expr *parse_unary(Lexer *lexer)
{
    bool minus = lexer_is(lexer, "-");

    if (!minus && !lexer_is(lexer, "!")) {
        return parse_nested(lexer, parse_primary);
    }
    Expr *expr = new_expr(minus ? EXPR_MINUS : EXPR_NOT, lexer->now.at);
    lexer_next(lexer);
    expr->left = parse_nested(lexer, parse_unary);
    return expr;
}

/* Weakest first. */
static const char *const levels[][7] = {
    {"||"}, {"&&"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/", "%"}};

enum { LEVEL_COMPARE = 2, LEVEL_COUNT = 5 };

static Expr *parse_level(Lexer *lexer, size_t level)
{
    if (level == LEVEL_COUNT) {
        return parse_unary(lexer);
    }
    Expr *left = parse_level(lexer, level + 1);
    for (;;) {
        const char *op = NULL;
        for (size_t i = 0; levels[level][i] != NULL; i++) {
            if (lexer_is(lexer, levels[level][i])) {
                op = levels[level][i];
            }
        }
        if (op == NULL) {
            return left;
        }
        Expr *expr = new_expr(EXPR_BINARY, lexer->now.at);
        expr->op = op;
        lexer_next(lexer);
        expr->left = left;
        expr->right = parse_level(lexer, level + 1);
        left = expr;
        if (level == LEVEL_COMPARE) {
            return left;
        }
    }
}

Expr *refine_parse(Lexer *lexer)
{
    Expr *expr = parse_level(lexer, 0);

    if (lexer->now.kind != TOKEN_END) {
        mistake(lexer->now.at, "'%s' does not continue the expression", lexer->now.text);
    }
    return expr;
}

static bool one_of(const char *op, size_t level)
{
    for (size_t i = 0; levels[level][i] != NULL; i++) {
        if (strcmp(op, levels[level][i]) == 0) {
            return true;
        }
    }
    return false;
}

const Member *refine_member(const Type *type, const Member *field, const Expr *expr, size_t i)
{
    bool self = i == 0 && field != NULL && strcmp(expr->name[0], "value") == 0;

    return self ? field : find_member(type, expr->name[i]);
}

/* The type that a path leads to, options opened except at its end; NULL when a name is unknown. */
static const Type *walk(const Type *record, const Member *field, Expr *expr, bool open_last)
{
    const Type *type = record;

    expr->flag = false;
    for (size_t i = 0; i < expr->name_count; i++) {
        const Member *member = refine_member(type, field, expr, i);
        if (member == NULL || (type->kind != TYPE_RECORD && type->kind != TYPE_FLAGS)) {
            return NULL;
        }
        if (type->kind == TYPE_FLAGS) {
            expr->flag = true;
            return i + 1 == expr->name_count ? type : NULL;
        }
        type = real_type(member->type);
        if (type != NULL && type->kind == TYPE_OPTION && (open_last || i + 1 < expr->name_count)) {
            type = real_type(type->members[0].type);
        }
        if (type == NULL) {
            return NULL;
        }
    }
    return type;
}

static const char *path_text(const Expr *expr)
{
    const char *text = expr->name[0];

    for (size_t i = 1; i < expr->name_count; i++) {
        text = take_printf("%s.%s", text, expr->name[i]);
    }
    return text;
}

static ExprType check_expr(const Type *record, const Member *field, Expr *expr);

static ExprType check_path(const Type *record, const Member *field, Expr *expr)
{
    const Type *type = walk(record, field, expr, expr->kind != EXPR_HAS);

    if (type == NULL) {
        mistake(expr->at, "record %s has no field '%s'", record->name, path_text(expr));
        return OF_ERROR;
    }
    expr->type = type;
    if (expr->kind == EXPR_HAS) {
        if (type->kind != TYPE_OPTION) {
            mistake(expr->at, "has() asks whether an option is there; '%s' is none",
                    path_text(expr));
        }
        return OF_BOOL;
    }
    if (expr->kind == EXPR_LEN) {
        if (type->kind != TYPE_STRING && type->kind != TYPE_BYTES && type->kind != TYPE_LIST) {
            mistake(expr->at, "len() is of a list or a string, not of '%s'", path_text(expr));
        }
        return OF_INTEGER;
    }
    if (expr->flag || type->kind == TYPE_BOOL) {
        return OF_BOOL;
    }
    if (type_is_integer(type->kind) || type->kind == TYPE_CHAR) {
        return OF_INTEGER;
    }
    if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
        return OF_REAL;
    }
    if (type->kind == TYPE_ENUM) {
        return OF_CASE;
    }
    mistake(expr->at, "'%s' is neither a number nor a truth nor an enum", path_text(expr));
    return OF_ERROR;
}

/* A name beside an enum is one of its cases. */
static bool take_as_case(const Type *record, const Member *field, Expr *expr, Expr *beside)
{
    if (expr->kind != EXPR_PATH || expr->name_count != 1 || beside->kind != EXPR_PATH ||
        walk(record, field, expr, true) != NULL) {
        return false;
    }
    const Type *type = walk(record, field, beside, true);
    if (type == NULL || type->kind != TYPE_ENUM || beside->flag) {
        return false;
    }
    const Member *member = find_member(type, expr->name[0]);
    if (member == NULL) {
        mistake(expr->at, "enum %s has no case '%s'", type->name, expr->name[0]);
    } else {
        expr->number = (uint64_t)(member - type->members);
    }
    expr->kind = EXPR_CASE;
    expr->type = type;
    return true;
}

static ExprType check_binary(const Type *record, const Member *field, Expr *expr)
{
    static const char *const called[] = {"", "a truth", "an integer", "a real number",
                                         "a case of an enum"};
    if (!take_as_case(record, field, expr->right, expr->left)) {
        (void)take_as_case(record, field, expr->left, expr->right);
    }
    ExprType left = check_expr(record, field, expr->left);
    ExprType right = check_expr(record, field, expr->right);
    bool compare = one_of(expr->op, LEVEL_COMPARE);
    bool logic = strcmp(expr->op, "&&") == 0 || strcmp(expr->op, "||") == 0;
    ExprType result = compare || logic ? OF_BOOL : left;

    if (left == OF_ERROR || right == OF_ERROR) {
        return OF_ERROR;
    }
    if (left != right || (left == OF_CASE && expr->left->type != expr->right->type)) {
        mistake(expr->at, "'%s' between %s and %s", expr->op, called[left], called[right]);
        return OF_ERROR;
    }
    bool equality = strcmp(expr->op, "==") == 0 || strcmp(expr->op, "!=") == 0;
    bool number = left == OF_INTEGER || (left == OF_REAL && strcmp(expr->op, "%") != 0);
    if (logic ? left != OF_BOOL
              : !(number || (compare && equality) || (compare && left == OF_CASE))) {
        mistake(expr->at, "'%s' has no meaning for %s", expr->op, called[left]);
        return OF_ERROR;
    }
    return result;
}

static ExprType check_expr(const Type *record, const Member *field, Expr *expr)
{
    switch (expr->kind) {
    case EXPR_NUMBER:
        return OF_INTEGER;
    case EXPR_REAL:
        return OF_REAL;
    case EXPR_TRUTH:
        return OF_BOOL;
    case EXPR_CASE:
        return OF_CASE;
    case EXPR_PATH:
    case EXPR_LEN:
    case EXPR_HAS:
        return check_path(record, field, expr);
    case EXPR_NOT:
    case EXPR_MINUS: {
        ExprType type = check_expr(record, field, expr->left);
        bool fits =
            expr->kind == EXPR_NOT ? type == OF_BOOL : type == OF_INTEGER || type == OF_REAL;
        if (type != OF_ERROR && !fits) {
            mistake(expr->at, expr->kind == EXPR_NOT ? "'!' needs a truth behind it"
                                                     : "'-' needs a number behind it");
            return OF_ERROR;
        }
        return type;
    }
    case EXPR_BINARY:
        break;
    }
    return check_binary(record, field, expr);
}

void refine_check(const Type *record, const Member *field, Refinement *refinement)
{
    SAP_ASSERT(record != NULL);
    ExprType type = check_expr(record, field, refinement->expr);

    if (type != OF_ERROR && type != OF_BOOL) {
        mistake(refinement->at, "a refinement is something that holds or not, not a value: %s",
                refinement->text);
    }
}

ExprType refine_type(const Expr *expr)
{
    /* Checked: a path leads to a type. */
    SAP_ASSERT((expr->kind != EXPR_PATH && expr->kind != EXPR_CASE) || expr->type != NULL);
    switch (expr->kind) {
    case EXPR_REAL:
        return OF_REAL;
    case EXPR_TRUTH:
    case EXPR_HAS:
    case EXPR_NOT:
        return OF_BOOL;
    case EXPR_CASE:
        return OF_CASE;
    case EXPR_NUMBER:
    case EXPR_LEN:
        return OF_INTEGER;
    case EXPR_PATH:
        if (expr->flag || expr->type->kind == TYPE_BOOL) {
            return OF_BOOL;
        }
        if (expr->type->kind == TYPE_ENUM) {
            return OF_CASE;
        }
        return expr->type->kind == TYPE_F32 || expr->type->kind == TYPE_F64 ? OF_REAL : OF_INTEGER;
    case EXPR_MINUS:
        return refine_type(expr->left);
    case EXPR_BINARY:
        break;
    }
    bool computes = one_of(expr->op, 3) || one_of(expr->op, 4);
    return computes ? refine_type(expr->left) : OF_BOOL;
}

/* --- one number -------------------------------------------------------------------------- */

static CodecNumber value_of(const Expr *expr, CodecNumber at, bool *bad);

bool refine_holds_at(const Expr *expr, CodecNumber at, bool *bad)
{
    if (expr->kind == EXPR_TRUTH) {
        return expr->number != 0;
    }
    if (expr->kind == EXPR_NOT) {
        return !refine_holds_at(expr->left, at, bad);
    }
    if (strcmp(expr->op, "&&") == 0) {
        return refine_holds_at(expr->left, at, bad) && refine_holds_at(expr->right, at, bad);
    }
    if (strcmp(expr->op, "||") == 0) {
        return refine_holds_at(expr->left, at, bad) || refine_holds_at(expr->right, at, bad);
    }
    if (refine_type(expr->left) == OF_BOOL) {
        bool same = refine_holds_at(expr->left, at, bad) == refine_holds_at(expr->right, at, bad);
        return same == (expr->op[0] == '=');
    }
    int order = codec_number_compare(value_of(expr->left, at, bad), value_of(expr->right, at, bad));
    switch (expr->op[0]) {
    case '=':
        return order == 0;
    case '!':
        return order != 0;
    case '<':
        return order < 0 || (order == 0 && expr->op[1] == '=');
    default:
        return order > 0 || (order == 0 && expr->op[1] == '=');
    }
}

static CodecNumber value_of(const Expr *expr, CodecNumber at, bool *bad)
{
    if (expr->kind == EXPR_NUMBER) {
        return codec_number_u(expr->number);
    }
    if (expr->kind == EXPR_MINUS) {
        return codec_number_minus(value_of(expr->left, at, bad));
    }
    if (expr->kind != EXPR_BINARY) {
        return at;
    }
    CodecNumber left = value_of(expr->left, at, bad);
    CodecNumber right = value_of(expr->right, at, bad);
    switch (expr->op[0]) {
    case '+':
        return codec_number_add(left, right, bad);
    case '-':
        return codec_number_sub(left, right, bad);
    case '*':
        return codec_number_mul(left, right, bad);
    case '/':
        return codec_number_div(left, right, bad);
    default:
        return codec_number_mod(left, right, bad);
    }
}
