/* base.c - memory, mistakes and text. */
#include "schema/schema.h"

#include "common/assert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Block {
    struct Block *next;
    max_align_t data[];
} Block;

static Block *blocks;
static Mistake *mistakes;
static size_t mistakes_made;

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
    mistakes = NULL;
    mistakes_made = 0;
}

static const char *die_name = "schema";
static int die_status = 2;

void die_as(const char *program, int status)
{
    die_name = program;
    die_status = status;
}

void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "%s: ", die_name);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    release_all();
    exit(die_status);
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
    SAP_ASSERT(len >= 0); /* our own formats */
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

int place_order(Place a, Place b)
{
    int order = strcmp(a.file, b.file);

    if (order == 0) {
        order = (a.line > b.line) - (a.line < b.line);
    }
    return order != 0 ? order : (a.column > b.column) - (a.column < b.column);
}

static int by_place(const void *a, const void *b)
{
    const Mistake *x = a;
    const Mistake *y = b;
    int order = place_order(x->at, y->at);

    return order != 0 ? order : strcmp(x->text, y->text);
}

const Mistake *mistakes_sorted(void)
{
    if (mistakes_made > 0) {
        qsort(mistakes, mistakes_made, sizeof *mistakes, by_place);
    }
    return mistakes;
}

void report_mistakes(void)
{
    (void)mistakes_sorted();
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
