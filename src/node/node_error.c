/* node_error.c - see node_error.h. */
#include "node/node_error.h"

#include <stdarg.h>
#include <stdio.h>

int node_error_set(NodeError *error, int rc, const char *hint, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    (void)snprintf(error->hint, sizeof error->hint, "%s", hint);
    return rc;
}
