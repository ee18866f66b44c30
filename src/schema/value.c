#include "schema/value.h"

#include "common/assert.h"
#include "schema/refine.h"

/* --- reading ---------------------------------------------------------------------------------- */

typedef struct Reading {
    CodecReader *r;
    bool key; /* bytes of a key: in order, without lengths */
} Reading;

static void read_value(const Reading *in, Type *type, const Member *member, Value *v);

/* Room for the parts; none, and the reader has failed, without memory. */
static void take_parts(const Reading *in, Value *v, size_t count)
{
    v->parts = codec_items_new((uint32_t)count, sizeof *v->parts);
    v->part_count = v->parts == NULL ? 0 : (uint32_t)count;
    if (v->parts == NULL) {
        codec_read_fail(in->r, SAP_NOMEM, "no room for %zu parts", count);
    }
}

static uint64_t read_number(const Reading *in, unsigned bits, bool big_endian)
{
    switch (bits) {
    case 8:
        return codec_read_u8(in->r);
    case 16:
        return big_endian ? codec_read_u16be(in->r) : codec_read_u16(in->r);
    case 32:
        return big_endian ? codec_read_u32be(in->r) : codec_read_u32(in->r);
    default:
        return big_endian ? codec_read_u64be(in->r) : codec_read_u64(in->r);
    }
}

static void read_integer(const Reading *in, const Type *type, const Member *member, Value *v)
{
    unsigned bits = type_bits(type->kind);
    bool big_endian = in->key || (member != NULL && member->big_endian);

    v->number = read_number(in, bits, big_endian);
    if (in->key && type_is_signed(type->kind) && in->r->rc == SAP_OK) {
        v->number ^= UINT64_C(1) << (bits - 1);
    }
}

/* With `top`, options at the end may be missing. */
static void read_fields(const Reading *in, const Type *type, Value *v, bool top)
{
    bool record = type->kind == TYPE_RECORD;
    size_t growth = top ? growth_start(type) : type->member_count;

    take_parts(in, v, type->member_count);
    if (type->magic != NULL) {
        codec_read_exactly(in->r, type->magic, strlen(type->magic));
    }
    for (size_t i = 0; i < v->part_count; i++) {
        const Member *member = &type->members[i];
        if (i >= growth && codec_at_end(in->r)) {
            return;
        }
        read_value(in, member->type, record ? member : NULL, &v->parts[i]);
        if (record && codec_read_failed(in->r, type->title, member->name)) {
            return;
        }
    }
}

static void read_list(const Reading *in, const Type *type, Value *v)
{
    Type *of = real_type(type->members[0].type);

    v->parts = codec_read_items(in->r, least_bytes(of), sizeof *v->parts, &v->part_count);
    for (uint32_t i = 0; i < v->part_count && in->r->rc == SAP_OK; i++) {
        read_value(in, of, NULL, &v->parts[i]);
    }
}

/* The number of a case, and what it holds. */
static void read_case(const Reading *in, const Type *type, Value *v)
{
    if (type->kind == TYPE_RESULT) {
        v->number = codec_read_bool(in->r);
    } else {
        v->number = read_number(in, tag_bytes(type) * 8, false);
    }
    Type *payload = v->number < type->member_count ? type->members[v->number].type : NULL;
    if (payload != NULL && in->r->rc == SAP_OK) {
        take_parts(in, v, 1);
        if (v->parts != NULL) {
            read_value(in, payload, NULL, v->parts);
        }
    }
}

static void read_flags(const Reading *in, const Type *type, Value *v)
{
    unsigned bytes = flag_bytes(type);

    if (bytes <= 8) {
        v->number = read_number(in, bytes * 8, false);
        return;
    }
    v->bytes.data = codec_items_new(bytes, 1);
    if (v->bytes.data == NULL) {
        codec_read_fail(in->r, SAP_NOMEM, "no room for %u bytes", bytes);
        return;
    }
    v->bytes.len = bytes;
    codec_read_raw(in->r, v->bytes.data, bytes);
}

static void read_value(const Reading *in, Type *type, const Member *member, Value *v)
{
    type = real_type(type);
    switch (type->kind) {
    case TYPE_BOOL:
        v->number = codec_read_bool(in->r);
        break;
    case TYPE_F32:
        v->single = codec_read_f32(in->r);
        v->real = (double)v->single;
        break;
    case TYPE_F64:
        v->real = codec_read_f64(in->r);
        break;
    case TYPE_CHAR:
        v->number = read_number(in, 32, in->key);
        break;
    case TYPE_STRING:
    case TYPE_BYTES:
        if (member != NULL && member->rest) {
            codec_read_rest(in->r, &v->bytes);
        } else if (in->key) {
            codec_read_key_bytes(in->r, &v->bytes);
        } else {
            codec_read_bytes(in->r, &v->bytes);
        }
        break;
    case TYPE_LIST:
        read_list(in, type, v);
        break;
    case TYPE_OPTION:
        v->number = codec_read_bool(in->r);
        if (v->number != 0) {
            take_parts(in, v, 1);
            if (v->parts != NULL) {
                read_value(in, type->members[0].type, NULL, v->parts);
            }
        }
        break;
    case TYPE_RESULT:
    case TYPE_VARIANT:
        read_case(in, type, v);
        break;
    case TYPE_ENUM:
        v->number = read_number(in, tag_bytes(type) * 8, in->key);
        break;
    case TYPE_FLAGS:
        read_flags(in, type, v);
        break;
    case TYPE_RECORD:
    case TYPE_TUPLE:
        read_fields(in, type, v, false);
        break;
    default:
        read_integer(in, type, member, v);
        break;
    }
}

int64_t value_signed(const Value *v, TypeKind kind)
{
    unsigned unused = 64 - type_bits(kind);

    /* The sign bit goes to the top and comes back with its copies. */
    return (int64_t)(v->number << unused) >> unused;
}

/* --- refinements ------------------------------------------------------------------------------ */

/* A record whose refinement is computed. */
typedef struct Scope {
    const Type *record;
    const Value *value;
    const Member *field; /* what `value` is; NULL above a record */
} Scope;

typedef struct Result {
    bool truth;
    CodecNumber integer;
    double real;
    uint64_t number; /* of a case */
} Result;

/* The value a path leads to; NULL: an option on the way, or at the end with `open`, is none. Of a
 * flag: all flags. */
static const Value *follow(const Scope *scope, const Expr *expr, bool open)
{
    const Type *type = scope->record;
    const Value *v = scope->value;

    for (size_t i = 0; i < expr->name_count && type->kind != TYPE_FLAGS; i++) {
        const Member *member = refine_member(type, scope->field, expr, i);
        v = &v->parts[member - type->members];
        type = real_type(member->type);
        if (type->kind == TYPE_OPTION && (open || i + 1 < expr->name_count)) {
            if (v->number == 0) {
                return NULL;
            }
            v = v->parts;
            type = real_type(type->members[0].type);
        }
    }
    return v;
}

/* Whether every option that the expression reads is there. */
static bool all_there(const Scope *scope, const Expr *expr)
{
    if (expr == NULL) {
        return true;
    }
    bool path = expr->kind == EXPR_PATH || expr->kind == EXPR_LEN || expr->kind == EXPR_HAS;
    return (!path || follow(scope, expr, expr->kind != EXPR_HAS) != NULL) &&
           all_there(scope, expr->left) && all_there(scope, expr->right);
}

static Result compute(const Scope *scope, const Expr *expr, bool *bad);

static Result compute_path(const Scope *scope, const Expr *expr)
{
    const Value *v = follow(scope, expr, expr->kind != EXPR_HAS);
    const Type *type = expr->type;
    Result result = {0};

    if (expr->kind == EXPR_HAS) {
        result.truth = v->number != 0;
    } else if (expr->kind == EXPR_LEN) {
        result.integer = codec_number_u(type->kind == TYPE_LIST ? v->part_count : v->bytes.len);
    } else if (expr->flag) {
        const Member *flag = find_member(type, expr->name[expr->name_count - 1]);
        uint32_t bit = (uint32_t)(flag - type->members);
        result.truth =
            flag_bytes(type) > 8 ? codec_bit(v->bytes.data, bit) : (v->number >> bit & 1) != 0;
    } else if (type->kind == TYPE_BOOL) {
        result.truth = v->number != 0;
    } else if (type->kind == TYPE_ENUM) {
        result.number = v->number;
    } else if (type->kind == TYPE_F32 || type->kind == TYPE_F64) {
        result.real = v->real;
    } else {
        result.integer = type_is_signed(type->kind) ? codec_number_s(value_signed(v, type->kind))
                                                    : codec_number_u(v->number);
    }
    return result;
}

/* By an operator of comparison; `order` is below, at or above 0. */
static bool compared(const char *op, int order)
{
    bool equal = op[1] == '=' && order == 0;

    switch (op[0]) {
    case '=':
        return order == 0;
    case '!':
        return order != 0;
    case '<':
        return order < 0 || equal;
    default:
        return order > 0 || equal;
    }
}

/* A NaN is neither below, at nor above anything: only != holds. */
static bool compared_reals(const char *op, double a, double b)
{
    if (a != a || b != b) {
        return op[0] == '!';
    }
    return compared(op, (a > b) - (a < b));
}

static CodecNumber integer_of(char op, CodecNumber a, CodecNumber b, bool *bad)
{
    switch (op) {
    case '+':
        return codec_number_add(a, b, bad);
    case '-':
        return codec_number_sub(a, b, bad);
    case '*':
        return codec_number_mul(a, b, bad);
    case '/':
        return codec_number_div(a, b, bad);
    default:
        return codec_number_mod(a, b, bad);
    }
}

static double real_of(char op, double a, double b, bool *bad)
{
    return op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : codec_real_div(a, b, bad);
}

static Result compute_binary(const Scope *scope, const Expr *expr, bool *bad)
{
    Result result = {0};
    Result a = compute(scope, expr->left, bad);

    if (strcmp(expr->op, "&&") == 0 || strcmp(expr->op, "||") == 0) {
        bool decided = a.truth == (expr->op[0] == '|');
        result.truth = decided ? a.truth : compute(scope, expr->right, bad).truth;
        return result;
    }
    Result b = compute(scope, expr->right, bad);
    bool compare = refine_type(expr) == OF_BOOL;
    switch (refine_type(expr->left)) {
    case OF_INTEGER:
        if (compare) {
            result.truth = compared(expr->op, codec_number_compare(a.integer, b.integer));
        } else {
            result.integer = integer_of(expr->op[0], a.integer, b.integer, bad);
        }
        break;
    case OF_REAL:
        if (compare) {
            result.truth = compared_reals(expr->op, a.real, b.real);
        } else {
            result.real = real_of(expr->op[0], a.real, b.real, bad);
        }
        break;
    case OF_CASE:
        result.truth = compared(expr->op, (a.number > b.number) - (a.number < b.number));
        break;
    default:
        result.truth = compared(expr->op, (int)a.truth - (int)b.truth);
        break;
    }
    return result;
}

static Result compute(const Scope *scope, const Expr *expr, bool *bad)
{
    Result result = {0};

    switch (expr->kind) {
    case EXPR_NUMBER:
        result.integer = codec_number_u(expr->number);
        break;
    case EXPR_REAL:
        result.real = expr->real;
        break;
    case EXPR_TRUTH:
        result.truth = expr->number != 0;
        break;
    case EXPR_CASE:
        result.number = expr->number;
        break;
    case EXPR_PATH:
    case EXPR_LEN:
    case EXPR_HAS:
        return compute_path(scope, expr);
    case EXPR_NOT:
        result.truth = !compute(scope, expr->left, bad).truth;
        break;
    case EXPR_MINUS:
        result = compute(scope, expr->left, bad);
        result.integer = codec_number_minus(result.integer);
        result.real = -result.real;
        break;
    case EXPR_BINARY:
        return compute_binary(scope, expr, bad);
    }
    return result;
}

static int check_refinements(const Scope *scope, const Refinement *refinement, CodecError *error)
{
    for (; refinement != NULL; refinement = refinement->next) {
        bool bad = false;
        if (all_there(scope, refinement->expr) &&
            (!compute(scope, refinement->expr, &bad).truth || bad)) {
            return codec_broken(error, scope->record->title,
                                scope->field == NULL ? "" : scope->field->name, refinement->text);
        }
    }
    return SAP_OK;
}

/* --- checking --------------------------------------------------------------------------------- */

static int check_value(Type *type, const Value *v, CodecError *error);

static int check_record(const Type *type, const Value *v, CodecError *error)
{
    SAP_ASSERT(v->parts != NULL && v->part_count == type->member_count);
    for (size_t i = 0; i < type->member_count; i++) {
        const Member *member = &type->members[i];
        int rc = check_value(member->type, &v->parts[i], error);
        if (rc != SAP_OK) {
            return codec_blame(error, type->title, member->name, rc);
        }
        rc = check_refinements(&(Scope){type, v, member}, member->refinements, error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return check_refinements(&(Scope){type, v, NULL}, type->refinements, error);
}

static int check_parts(const Type *type, const Value *v, CodecError *error)
{
    for (uint32_t i = 0; i < v->part_count; i++) {
        const Member *member = &type->members[type->kind == TYPE_TUPLE ? i : 0];
        int rc = check_value(member->type, &v->parts[i], error);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

static int check_case(const Type *type, const Value *v, CodecError *error)
{
    const char *place = type->kind == TYPE_RESULT ? "result" : type->title;

    if (v->part_count > 0) {
        const Member *member = &type->members[v->number];
        return codec_blame(error, place, member->name, check_value(member->type, v->parts, error));
    }
    return codec_blame(error, place, "",
                       codec_check_case((uint32_t)v->number, (uint32_t)type->member_count, error));
}

static int check_value(Type *type, const Value *v, CodecError *error)
{
    type = real_type(type);
    uint32_t count = (uint32_t)type->member_count;
    switch (type->kind) {
    case TYPE_STRING:
        return codec_check_string(&v->bytes, error);
    case TYPE_CHAR:
        return codec_check_char((uint32_t)v->number, error);
    case TYPE_RECORD:
        return check_record(type, v, error);
    case TYPE_LIST:
    case TYPE_OPTION:
    case TYPE_TUPLE:
        return check_parts(type, v, error);
    case TYPE_RESULT:
    case TYPE_VARIANT:
        return check_case(type, v, error);
    case TYPE_ENUM:
        return codec_blame(error, type->title, "",
                           codec_check_case((uint32_t)v->number, count, error));
    case TYPE_FLAGS:
        return codec_blame(error, type->title, "",
                           flag_bytes(type) > 8 ? codec_check_bits(v->bytes.data, count, error)
                                                : codec_check_flags(v->number, count, error));
    default:
        return SAP_OK;
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

void value_free(Value *v)
{
    for (uint32_t i = 0; i < v->part_count; i++) {
        value_free(&v->parts[i]);
    }
    codec_items_free(v->parts, v->part_count, sizeof *v->parts);
    codec_bytes_free(&v->bytes);
    *v = (Value){0};
}

static bool is_table_key(const Schema *schema, const Type *type)
{
    for (size_t i = 0; i < schema->table_count; i++) {
        if (schema->tables[i].key == type) {
            return !type->frozen;
        }
    }
    return false;
}

int value_decode(const Schema *schema, Type *type, const void *data, size_t len, Value *v_out,
                 CodecError *error)
{
    CodecReader r = codec_read_start(data, len, error);
    Reading in = {&r, is_table_key(schema, type)};
    bool version = !type->frozen && !in.key;
    bool grows = version && type->kind == TYPE_RECORD;
    Value v = {0};

    if (version) {
        codec_read_version(&r, (uint8_t)schema->major);
    }
    if (grows) {
        read_fields(&in, type, &v, true);
    } else {
        read_value(&in, type, NULL, &v);
        codec_read_all(&r);
    }
    (void)codec_read_failed(&r, type->title, "");
    if (r.rc == SAP_OK) {
        r.rc = check_value(type, &v, error);
    }
    if (r.rc != SAP_OK) {
        value_free(&v);
        return r.rc;
    }
    *v_out = v;
    return SAP_OK;
}
