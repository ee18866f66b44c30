#include "common/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void sap_assert_fail(const char *expr, const char *file, int line)
{
    /* Not through stderr's FILE: its lock may be held by the very thread that failed. */
    char text[512];
    int len = snprintf(text, sizeof text, "%s:%d: assertion failed: %s\n", file, line, expr);

    if (len >= (int)sizeof text) {
        len = (int)sizeof text - 1;
        text[len - 1] = '\n';
    }
    if (len > 0 && write(STDERR_FILENO, text, (size_t)len) < 0) {
        /* Nobody is left to tell. */
    }
    abort();
}
