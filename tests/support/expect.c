#include "support/expect.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static _Thread_local char context[200];

void expect_context(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
}

void expect_fail(const char *file, int line, const char *format, ...)
{
    va_list args;

    fflush(stdout);
    fprintf(stderr, "%s:%d: ", file, line);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\n    while: %s\n", context[0] != 0 ? context : "(no context)");
    fflush(stderr);
    abort();
}
