/* base.c - memory, mistakes, names and text. */
#include "wit.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Block {
    struct Block *next;
    max_align_t data[];
} Block;

static Block *blocks;

void *take(size_t size)
{
    Block *block = calloc(1, sizeof *block + size);

    if (block == NULL) {
        die("out of memory");
    }
    block->next = blocks;
    blocks = block;
    return block->data;
}

void release_all(void)
{
    while (blocks != NULL) {
        Block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("wit_codegen: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    release_all();
    exit(2);
}

char *take_text(const char *text, size_t len)
{
    char *copy = take(len + 1);

    memcpy(copy, text, len);
    return copy;
}

static char *format_text(const char *format, va_list args)
{
    va_list again;

    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    char *text = take((size_t)len + 1);
    vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

char *take_printf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    char *text = format_text(format, args);
    va_end(args);
    return text;
}

/* Grows by doubling: a power of two is full. */
void *take_more(void *items, size_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0) {
        return items;
    }
    void *more = take((count == 0 ? 1 : count * 2) * size);
    if (count > 0) {
        memcpy(more, items, count * size);
    }
    return more;
}

typedef struct Mistake {
    Place at;
    const char *text;
} Mistake;

static Mistake *mistakes;
static size_t mistakes_made;

void mistake(Place at, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mistakes = take_more(mistakes, mistakes_made, sizeof *mistakes);
    mistakes[mistakes_made++] = (Mistake){at, format_text(format, args)};
    va_end(args);
}

size_t mistake_count(void)
{
    return mistakes_made;
}

static int by_place(const void *a, const void *b)
{
    const Mistake *x = a;
    const Mistake *y = b;
    int order = strcmp(x->at.file, y->at.file);

    if (order == 0) {
        order = (x->at.line > y->at.line) - (x->at.line < y->at.line);
    }
    if (order == 0) {
        order = (x->at.column > y->at.column) - (x->at.column < y->at.column);
    }
    return order != 0 ? order : strcmp(x->text, y->text);
}

void report_mistakes(void)
{
    if (mistakes_made > 0) {
        qsort(mistakes, mistakes_made, sizeof *mistakes, by_place);
    }
    for (size_t i = 0; i < mistakes_made; i++) {
        const Mistake *m = &mistakes[i];
        fprintf(stderr, "%s:%u:%u: %s\n", m->at.file, m->at.line, m->at.column, m->text);
    }
}

void out(Buf *buf, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    const char *text = format_text(format, args);
    va_end(args);
    if (buf_append_str(buf, text) != SAP_OK) {
        die("out of memory");
    }
}

static const char *renamed(const char *name, int (*letter)(int))
{
    char *text = take_text(name, strlen(name));

    for (char *p = text; *p != '\0'; p++) {
        *p = *p == '-' ? '_' : (char)letter((unsigned char)*p);
    }
    return text;
}

const char *snake(const char *name)
{
    static const char *const taken[] = {
        "auto",  "bool",     "break",  "case",     "char",   "const",    "continue", "default",
        "do",    "double",   "else",   "enum",     "extern", "false",    "float",    "for",
        "goto",  "if",       "inline", "int",      "long",   "register", "restrict", "return",
        "short", "signed",   "sizeof", "static",   "struct", "switch",   "true",     "typedef",
        "union", "unsigned", "void",   "volatile", "while",
    };

    for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
        if (strcmp(name, taken[i]) == 0) {
            return take_printf("%s_", name);
        }
    }
    return renamed(name, tolower);
}

const char *upper(const char *name)
{
    return renamed(name, toupper);
}

const char *camel(const char *name)
{
    char *text = take_text(name, strlen(name));
    char *to = text;
    bool first = true;

    for (const char *p = name; *p != '\0'; p++) {
        if (*p == '-') {
            first = true;
            continue;
        }
        *to++ = first ? (char)toupper((unsigned char)*p) : *p;
        first = false;
    }
    *to = '\0';
    return text;
}

const char *c_string(const char *text)
{
    Buf buf = {0};

    out(&buf, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        out(&buf, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
    }
    out(&buf, "\"");
    const char *quoted = take_text((const char *)buf.data, buf.len);
    buf_release(&buf);
    return quoted;
}
