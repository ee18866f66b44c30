/* parser.c - tokens to a schema, as it is written: names are not looked up here.
 *
 *   file       package NAME ':' NAME ['@' MAJOR '.' MINOR '.' PATCH] ';' interface*
 *   interface  'interface' NAME '{' declaration* '}'
 *
 * Documentation above the package, a declaration or a field may hold annotations, one a line. After
 * a mistake reading goes on behind the declaration that it is in. */
#include "schema/schema.h"

#include "common/fd.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Note {
    Place at;
    const char *name;
    const char *text; /* between the parentheses; NULL: there are none */
    Place text_at;
    bool used;
} Note;

/* What stands above an item. */
typedef struct Doc {
    const char *text;
    Note notes[16];
    size_t note_count;
} Doc;

typedef struct Parser {
    Lexer lexer;
    Schema *schema;
    bool lost; /* since the last mistake nothing was recognised */
    bool open; /* inside the braces of a declaration */
} Parser;

static const char *shown(const Token *token)
{
    return token->kind == TOKEN_END ? token->text : take_printf("'%s'", token->text);
}

static void lost_at(Parser *parser, const char *wanted)
{
    if (!parser->lost) {
        mistake(parser->lexer.now.at, "expected %s, not %s", wanted, shown(&parser->lexer.now));
    }
    parser->lost = true;
}

static bool accept(Parser *parser, const char *text)
{
    if (parser->lost || !lexer_is(&parser->lexer, text)) {
        return false;
    }
    lexer_next(&parser->lexer);
    return true;
}

static void expect(Parser *parser, const char *text)
{
    if (!accept(parser, text)) {
        lost_at(parser, take_printf("'%s'", text));
    }
}

static bool kebab(const char *name)
{
    for (const char *p = name; *p != '\0'; p++) {
        if (!islower((unsigned char)*p) && !isdigit((unsigned char)*p) && *p != '-') {
            return false;
        }
    }
    return true;
}

static const char *expect_name(Parser *parser, const char *what, Place *at_out)
{
    Token token = parser->lexer.now;

    *at_out = token.at;
    if (parser->lost || token.kind != TOKEN_NAME) {
        lost_at(parser, take_printf("the name of %s", what));
        return "";
    }
    if (!kebab(token.text)) {
        mistake(token.at, "'%s': names are of small letters, digits and '-'", token.text);
    }
    lexer_next(&parser->lexer);
    return token.text;
}

static void parse_note(const Token *token, const char *line, Doc *doc)
{
    Place at = token->at;
    at.column += 3 + (uint32_t)(line - token->text);
    if (doc->note_count == sizeof doc->notes / sizeof doc->notes[0]) {
        mistake(at, "too many annotations in one place");
        return;
    }
    Note *note = &doc->notes[doc->note_count++];
    size_t len = 1;
    while (isalpha((unsigned char)line[len]) || line[len] == '-') {
        len++;
    }
    *note = (Note){at, take_text(line + 1, len - 1), NULL, at, false};
    const char *open = line + len;
    size_t left = strlen(open);
    while (left > 0 && isspace((unsigned char)open[left - 1])) {
        left--;
    }
    if (left == 0) {
        return;
    }
    if (open[0] != '(' || open[left - 1] != ')') {
        mistake(at, "@%s is followed by neither the end of the line nor '(' up to ')' at its end",
                note->name);
        note->used = true;
        return;
    }
    note->text = take_text(open + 1, left - 2);
    note->text_at.column += (uint32_t)len + 1;
}

static Doc parse_doc(Parser *parser)
{
    Doc doc = {0};
    Buf text = {0};

    while (parser->lexer.now.kind == TOKEN_DOC) {
        Token token = parser->lexer.now;
        const char *line = token.text;
        while (isspace((unsigned char)*line)) {
            line++;
        }
        if (*line == '@') {
            parse_note(&token, line, &doc);
        } else {
            out(&text, "%s%s", text.len == 0 ? "" : " ", line);
        }
        lexer_next(&parser->lexer);
    }
    doc.text = take_text(text.len == 0 ? "" : (const char *)text.data, text.len);
    buf_release(&text);
    return doc;
}

static Note *find_note(Doc *doc, const char *name)
{
    for (size_t i = 0; i < doc->note_count; i++) {
        if (!doc->notes[i].used && strcmp(doc->notes[i].name, name) == 0) {
            doc->notes[i].used = true;
            return &doc->notes[i];
        }
    }
    return NULL;
}

/* An annotation that stands alone. */
static bool flag_note(Doc *doc, const char *name)
{
    Note *note = find_note(doc, name);

    if (note != NULL && note->text != NULL) {
        mistake(note->at, "@%s takes nothing in parentheses", name);
    }
    return note != NULL;
}

static const char *text_note(Doc *doc, const char *name, Place *at_out)
{
    Note *note = find_note(doc, name);

    if (note == NULL) {
        return NULL;
    }
    *at_out = note->at;
    if (note->text == NULL || note->text[0] == '\0') {
        mistake(note->at, "@%s needs something in parentheses", name);
        return NULL;
    }
    return note->text;
}

static void refuse_notes(const Doc *doc, const char *where)
{
    for (size_t i = 0; i < doc->note_count; i++) {
        if (!doc->notes[i].used) {
            mistake(doc->notes[i].at, "@%s has no meaning above %s", doc->notes[i].name, where);
        }
    }
}

static Refinement *parse_refinements(Doc *doc)
{
    Refinement *first = NULL;
    Refinement **end = &first;

    for (Note *note = find_note(doc, "refine"); note != NULL; note = find_note(doc, "refine")) {
        if (note->text == NULL) {
            mistake(note->at, "@refine needs an expression in parentheses");
            continue;
        }
        Refinement *refinement = take(sizeof *refinement);
        Lexer lexer;
        lexer_start(&lexer, note->text_at, note->text, strlen(note->text));
        refinement->at = note->text_at;
        refinement->text = note->text;
        refinement->expr = refine_parse(&lexer);
        *end = refinement;
        end = &refinement->next;
    }
    return first;
}

static Type *new_type(TypeKind kind, Place at)
{
    Type *type = take(sizeof *type);

    type->kind = kind;
    type->at = at;
    return type;
}

static Member *add_member(Type *type, const char *name, Place at, Type *of)
{
    type->members = take_more(type->members, type->member_count, sizeof *type->members);
    Member *member = &type->members[type->member_count++];
    member->name = name;
    member->at = at;
    member->type = of;
    member->doc = "";
    return member;
}

static const struct {
    const char *name;
    TypeKind kind;
} builtin[] = {
    {"bool", TYPE_BOOL},     {"u8", TYPE_U8},     {"u16", TYPE_U16},       {"u32", TYPE_U32},
    {"u64", TYPE_U64},       {"s8", TYPE_S8},     {"s16", TYPE_S16},       {"s32", TYPE_S32},
    {"s64", TYPE_S64},       {"f32", TYPE_F32},   {"f64", TYPE_F64},       {"char", TYPE_CHAR},
    {"string", TYPE_STRING}, {"list", TYPE_LIST}, {"option", TYPE_OPTION}, {"tuple", TYPE_TUPLE},
    {"result", TYPE_RESULT},
};

/* TYPE_NAME if the language has no type of that name. */
static TypeKind builtin_kind(const char *name)
{
    for (size_t i = 0; i < sizeof builtin / sizeof builtin[0]; i++) {
        if (strcmp(name, builtin[i].name) == 0) {
            return builtin[i].kind;
        }
    }
    return TYPE_NAME;
}

static Type *parse_type(Parser *parser);

static Type *parse_result(Parser *parser, Place at)
{
    Type *type = new_type(TYPE_RESULT, at);
    Type *ok = NULL;
    Type *err = NULL;

    if (accept(parser, "<")) {
        ok = accept(parser, "_") ? NULL : parse_type(parser);
        if (accept(parser, ",")) {
            err = parse_type(parser);
        }
        expect(parser, ">");
    }
    add_member(type, "ok", at, ok);
    add_member(type, "err", at, err);
    return type;
}

static Type *parse_type_inside(Parser *parser);

static Type *parse_type(Parser *parser)
{
    if (lexer_too_deep(&parser->lexer)) {
        parser->lost = true;
        return new_type(TYPE_BOOL, parser->lexer.now.at);
    }
    parser->lexer.depth++;
    Type *type = parse_type_inside(parser);
    parser->lexer.depth--;
    return type;
}

static Type *parse_type_inside(Parser *parser)
{
    Place at;
    const char *name = expect_name(parser, "a type", &at);
    TypeKind kind = builtin_kind(name);

    if (kind <= TYPE_LAST_SIMPLE) {
        return new_type(kind, at);
    }
    if (kind == TYPE_LIST || kind == TYPE_OPTION) {
        expect(parser, "<");
        Type *of = parse_type(parser);
        expect(parser, ">");
        Type *type = new_type(kind, at);
        if (type->kind == TYPE_LIST && of->kind == TYPE_U8) {
            return new_type(TYPE_BYTES, at);
        }
        add_member(type, "value", at, of);
        return type;
    }
    if (kind == TYPE_TUPLE) {
        Type *type = new_type(TYPE_TUPLE, at);
        expect(parser, "<");
        do {
            Type *of = parse_type(parser);
            add_member(type, take_printf("f%zu", type->member_count), of->at, of);
        } while (accept(parser, ","));
        expect(parser, ">");
        return type;
    }
    if (kind == TYPE_RESULT) {
        return parse_result(parser, at);
    }
    static const char *const others[] = {"resource", "own", "borrow", "stream", "future", "map"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (strcmp(name, others[i]) == 0) {
            mistake(at, "'%s' is not in the subset of WIT that describes rows", name);
            parser->lost = true;
        }
    }
    Type *type = new_type(TYPE_NAME, at);
    type->name = name;
    return type;
}

static void parse_members(Parser *parser, Type *type)
{
    static const char *const what[] = {
        [TYPE_RECORD] = "a field",
        [TYPE_VARIANT] = "a case",
        [TYPE_ENUM] = "a case",
        [TYPE_FLAGS] = "a flag",
    };
    expect(parser, "{");
    parser->open = !parser->lost;
    while (!parser->lost) {
        Doc doc = parse_doc(parser);
        if (accept(parser, "}")) {
            refuse_notes(&doc, "nothing");
            break;
        }
        Place at;
        const char *name = expect_name(parser, what[type->kind], &at);
        Type *of = NULL;
        if (type->kind == TYPE_RECORD) {
            expect(parser, ":");
            of = parser->lost ? NULL : parse_type(parser);
        } else if (type->kind == TYPE_VARIANT && accept(parser, "(")) {
            of = parse_type(parser);
            expect(parser, ")");
        }
        if (parser->lost) {
            break;
        }
        Member *member = add_member(type, name, at, of);
        member->doc = doc.text;
        if (type->kind == TYPE_RECORD) {
            member->refinements = parse_refinements(&doc);
            member->rest = flag_note(&doc, "rest");
            member->big_endian = flag_note(&doc, "big-endian");
        }
        refuse_notes(&doc, what[type->kind]);
        if (!accept(parser, ",")) {
            expect(parser, "}");
            break;
        }
    }
}

static void record_notes(Type *type, Doc *doc)
{
    Place at;

    type->frozen = flag_note(doc, "frozen");
    type->magic = text_note(doc, "magic", &at);
    if (type->magic != NULL) {
        size_t len = strlen(type->magic);
        if (len < 3 || type->magic[0] != '"' || type->magic[len - 1] != '"') {
            mistake(at, "@magic needs a string, as in @magic(\"LSE0\")");
        } else {
            type->magic = take_text(type->magic + 1, len - 2);
        }
        if (!type->frozen) {
            mistake(at, "@magic has a meaning only beside @frozen");
        }
    }
    type->refinements = parse_refinements(doc);
    type->status = text_note(doc, "status", &at);
    if (type->status != NULL && strcmp(type->status, "planned") != 0 &&
        strcmp(type->status, "active") != 0) {
        mistake(at, "a table is @status(planned) or @status(active), not '%s'", type->status);
    }
    type->migration = text_note(doc, "migration", &at);
}

static void parse_declaration(Parser *parser)
{
    static const struct {
        const char *name;
        const char *what;
        TypeKind kind;
    } kinds[] = {{"record", "a record", TYPE_RECORD},
                 {"variant", "a variant", TYPE_VARIANT},
                 {"enum", "an enum", TYPE_ENUM},
                 {"flags", "flags", TYPE_FLAGS},
                 {"type", "an alias", TYPE_ALIAS}};
    Doc doc = parse_doc(parser);
    size_t i = 0;

    while (i < 5 && !lexer_is(&parser->lexer, kinds[i].name)) {
        i++;
    }
    if (i == 5) {
        refuse_notes(&doc, "nothing");
        lost_at(parser, "record, variant, enum, flags or type");
        return;
    }
    lexer_next(&parser->lexer);
    Place at;
    const char *name = expect_name(parser, kinds[i].what, &at);
    if (builtin_kind(name) != TYPE_NAME) {
        mistake(at, "'%s' is a type of the language: declare another name", name);
    }
    Type *type = new_type(kinds[i].kind, at);
    type->name = name;
    type->title = take_printf("%s %s", kinds[i].name, name);
    type->doc = doc.text;
    if (type->kind == TYPE_ALIAS) {
        expect(parser, "=");
        type->target = parser->lost ? NULL : parse_type(parser);
        expect(parser, ";");
    } else {
        parse_members(parser, type);
    }
    parser->open = parser->open && parser->lost;
    if (type->kind == TYPE_RECORD) {
        record_notes(type, &doc);
    }
    refuse_notes(&doc, kinds[i].what);
    if (name[0] == '\0') {
        return;
    }
    Schema *schema = parser->schema;
    schema->types = take_more(schema->types, schema->type_count, sizeof(Type *));
    schema->types[schema->type_count++] = type;
}

/* To behind the end of the declaration that is not understood: its '}', or its ';' if it opened
 * nothing. The '}' of the interface stays. */
static void find_way(Parser *parser)
{
    unsigned depth = parser->open ? 1 : 0;

    while (parser->lexer.now.kind != TOKEN_END) {
        bool close = lexer_is(&parser->lexer, "}");
        if (close && depth == 0) {
            break;
        }
        bool end = (close && depth == 1) || (lexer_is(&parser->lexer, ";") && depth == 0);
        depth += lexer_is(&parser->lexer, "{") ? 1 : 0;
        depth -= close ? 1 : 0;
        lexer_next(&parser->lexer);
        if (end) {
            break;
        }
    }
    parser->lost = false;
    parser->open = false;
}

static void find_interface(Parser *parser)
{
    while (parser->lexer.now.kind != TOKEN_END && !lexer_is(&parser->lexer, "interface")) {
        lexer_next(&parser->lexer);
    }
    parser->lost = false;
}

static void parse_version(Parser *parser, Schema *schema)
{
    uint32_t *parts[] = {&schema->major, &schema->minor, &schema->patch};
    const Token token = parser->lexer.now;
    const char *p = token.text;

    if (token.kind != TOKEN_VERSION) {
        lost_at(parser, "a version as in @1.0.0");
        return;
    }
    for (size_t i = 0; i < 3; i++) {
        char *stop;
        unsigned long part = strtoul(p, &stop, 10);
        if (part > UINT8_MAX || *stop != (i < 2 ? '.' : '\0')) {
            mistake(token.at, "a version has three numbers up to 255, as in @1.0.0");
            break;
        }
        *parts[i] = (uint32_t)part;
        p = stop + 1;
    }
    lexer_next(&parser->lexer);
}

static void parse_package(Parser *parser)
{
    Schema *schema = parser->schema;
    Doc doc = parse_doc(parser);
    Place at;

    schema->doc = doc.text;
    expect(parser, "package");
    (void)expect_name(parser, "a package", &at);
    expect(parser, ":");
    schema->package = expect_name(parser, "a package", &schema->at);
    if (accept(parser, "@")) {
        parse_version(parser, schema);
    }
    expect(parser, ";");
    const char *base = text_note(&doc, "dbi-base", &at);
    if (base != NULL) {
        char *stop;
        unsigned long n = strtoul(base, &stop, 10);
        if (*stop != '\0' || !isdigit((unsigned char)base[0]) || n > MOST_DBI) {
            mistake(at, "@dbi-base needs a number up to %d, not '%s'", MOST_DBI, base);
        }
        schema->dbi_base = (uint32_t)n;
    }
    const char *owner = text_note(&doc, "owner", &at);
    schema->owner = owner != NULL ? owner : schema->package;
    refuse_notes(&doc, "the package");
}

const char *read_text(const char *file, size_t *len_out)
{
    FILE *in = fd_open_stream(file);
    Buf buf = {0};
    char piece[4096];
    size_t n;

    if (in == NULL) {
        return NULL;
    }
    while ((n = fread(piece, 1, sizeof piece, in)) > 0) {
        if (buf_append(&buf, piece, n) != SAP_OK) {
            die("out of memory");
        }
    }
    bool failed = ferror(in) != 0;
    int error = errno;
    fclose(in);
    const char *text = NULL;
    if (failed) {
        errno = error;
    } else {
        text = take_text(buf.len == 0 ? "" : (const char *)buf.data, buf.len);
        *len_out = buf.len;
    }
    buf_release(&buf);
    return text;
}

Schema *read_schema(const char *file)
{
    size_t len;
    const char *text = read_text(file, &len);

    if (text == NULL) {
        die("cannot read %s: %s", file, strerror(errno));
    }
    return parse_schema(file, text, len);
}

Schema *parse_schema(const char *file, const char *text, size_t len)
{
    Parser parser = {0};

    parser.schema = take(sizeof *parser.schema);
    parser.schema->file = file;
    lexer_start(&parser.lexer, (Place){file, 1, 1}, text, len);
    parse_package(&parser);
    if (parser.lost) {
        find_interface(&parser);
    }
    while (parser.lexer.now.kind != TOKEN_END) {
        Doc doc = parse_doc(&parser);
        Place at;
        refuse_notes(&doc, "an interface");
        expect(&parser, "interface");
        (void)expect_name(&parser, "an interface", &at);
        expect(&parser, "{");
        if (parser.lost) {
            lexer_next(&parser.lexer);
            find_interface(&parser);
            continue;
        }
        while (!accept(&parser, "}")) {
            if (parser.lexer.now.kind == TOKEN_END) {
                lost_at(&parser, "'}'");
                return parser.schema;
            }
            parse_declaration(&parser);
            if (parser.lost) {
                find_way(&parser);
            }
        }
    }
    return parser.schema;
}
