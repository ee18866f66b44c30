/* lexer.c - text to tokens.
 *
 * The token to look at is always there: lexer_next moves on to the one behind it. Only three
 * slashes make documentation; other comments are skipped. A minus between letters belongs to a
 * name, as in WIT, so a subtraction needs a space. */
#include "schema/schema.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

/* Terms become parentheses in C, of which clang takes 256 in each other. */
enum { MOST_NESTED = 64, MOST_TERMS = 128 };

void lexer_start(Lexer *lexer, Place at, const char *text, size_t len)
{
    *lexer = (Lexer){text, text + len, at, {0}, 0, 0, false};
    lexer_next(lexer);
}

bool lexer_is(const Lexer *lexer, const char *text)
{
    return (lexer->now.kind == TOKEN_MARK || lexer->now.kind == TOKEN_NAME) &&
           strcmp(lexer->now.text, text) == 0;
}

static void step(Lexer *lexer)
{
    if (*lexer->p == '\n') {
        lexer->at.line++;
        lexer->at.column = 0;
    }
    lexer->at.column++;
    lexer->p++;
}

static char peek(const Lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->p) > ahead ? lexer->p[ahead] : '\0';
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) != 0;
}

/* Ends at a token or a line of documentation. */
static void skip_blank(Lexer *lexer)
{
    while (lexer->p < lexer->end) {
        if (isspace((unsigned char)*lexer->p)) {
            step(lexer);
        } else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/' &&
                   (peek(lexer, 2) != '/' || peek(lexer, 3) == '/')) {
            while (lexer->p < lexer->end && *lexer->p != '\n') {
                step(lexer);
            }
        } else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') {
            Place at = lexer->at;
            while (lexer->p < lexer->end && !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/')) {
                step(lexer);
            }
            if (lexer->p == lexer->end) {
                mistake(at, "this comment does not end: '*/' is missing");
                return;
            }
            step(lexer);
            step(lexer);
        } else {
            return;
        }
    }
}

static void take_number(Lexer *lexer, Token *token)
{
    const char *start = lexer->p;
    bool hex = peek(lexer, 0) == '0' && peek(lexer, 1) == 'x';

    while (lexer->p < lexer->end &&
           (isalnum((unsigned char)*lexer->p) || *lexer->p == '_' ||
            (*lexer->p == '.' && !hex && isdigit((unsigned char)peek(lexer, 1))) ||
            ((*lexer->p == '-' || *lexer->p == '+') && !hex && lexer->p[-1] == 'e' &&
             isdigit((unsigned char)peek(lexer, 1))))) {
        step(lexer);
    }
    token->text = take_text(start, (size_t)(lexer->p - start));
    char *digits = take(strlen(token->text) + 1);
    for (const char *p = token->text, *end = p + strlen(p); p < end; p++) {
        if (*p != '_') {
            digits[strlen(digits)] = *p;
        }
    }
    const char *dot = strchr(digits, '.');
    if (dot != NULL && strchr(dot + 1, '.') != NULL) {
        token->kind = TOKEN_VERSION;
        return;
    }
    char *stop;
    token->kind = !hex && strpbrk(digits, ".e") != NULL ? TOKEN_REAL : TOKEN_NUMBER;
    errno = 0;
    if (token->kind == TOKEN_REAL) {
        token->real = strtod(digits, &stop);
    } else {
        token->number = strtoull(digits, &stop, hex ? 16 : 10);
    }
    if (*stop != '\0') {
        mistake(token->at, "'%s' is no number", token->text);
    } else if (errno == ERANGE) {
        mistake(token->at, "%s does not fit 64 bits", token->text);
    }
}

static void take_string(Lexer *lexer, Token *token)
{
    step(lexer);
    const char *start = lexer->p;
    while (lexer->p < lexer->end && *lexer->p != '"' && *lexer->p != '\n') {
        step(lexer);
    }
    token->kind = TOKEN_STRING;
    token->text = take_text(start, (size_t)(lexer->p - start));
    if (peek(lexer, 0) != '"') {
        mistake(token->at, "this string does not end on its line");
        return;
    }
    step(lexer);
}

void lexer_next(Lexer *lexer)
{
    static const char *const pairs[] = {"->", "==", "!=", "<=", ">=", "&&", "||"};

    skip_blank(lexer);
    Token token = {TOKEN_END, lexer->at, "the end of the file", 0, 0};
    const char *start = lexer->p;
    if (lexer->p == lexer->end) {
        lexer->now = token;
        return;
    }
    char c = *lexer->p;
    if (c == '/' && peek(lexer, 1) == '/') {
        while (lexer->p < lexer->end && *lexer->p != '\n') {
            step(lexer);
        }
        token.kind = TOKEN_DOC;
        token.text = take_text(start + 3, (size_t)(lexer->p - start) - 3);
    } else if (isalpha((unsigned char)c)) {
        step(lexer);
        while (lexer->p < lexer->end &&
               (is_name(*lexer->p) || (*lexer->p == '-' && is_name(peek(lexer, 1))))) {
            step(lexer);
        }
        token.kind = TOKEN_NAME;
        token.text = take_text(start, (size_t)(lexer->p - start));
    } else if (isdigit((unsigned char)c)) {
        take_number(lexer, &token);
    } else if (c == '"') {
        take_string(lexer, &token);
    } else {
        size_t len = 1;
        for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
            if (c == pairs[i][0] && peek(lexer, 1) == pairs[i][1]) {
                len = 2;
            }
        }
        token.kind = TOKEN_MARK;
        token.text = take_text(start, len);
        while (len-- > 0) {
            step(lexer);
        }
        if (strchr("{}()<>:;,.=+-*/%!&|@_", c) == NULL) {
            mistake(token.at,
                    isprint((unsigned char)c) ? "'%c' has no meaning here"
                                              : "byte 0x%02x has no meaning here",
                    (unsigned char)c);
            lexer_next(lexer);
            return;
        }
    }
    lexer->now = token;
}

bool lexer_too_deep(Lexer *lexer)
{
    if (lexer->depth < MOST_NESTED) {
        return false;
    }
    lexer->too_deep = true;
    mistake(lexer->now.at, "nested more than %d deep", MOST_NESTED);
    return true;
}

bool lexer_too_long(Lexer *lexer)
{
    if (lexer->terms++ < MOST_TERMS) {
        return false;
    }
    lexer->too_deep = true;
    mistake(lexer->now.at, "more than %d terms in one expression", MOST_TERMS);
    return true;
}
