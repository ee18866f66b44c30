/* trace.c - see trace.h. */
#include "simulator/trace.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/bytes.h"

enum { LINE_MAX_BYTES = 256, INDENT = 2, INDENT_MAX = 32 };

void trace_init(Trace *trace, uint64_t seed)
{
    hash_init(&trace->hash, seed);
}

void trace_numbers(Trace *trace, uint64_t a, uint64_t b, uint64_t c)
{
    uint8_t bytes[24];
    store_u64le(bytes, a);
    store_u64le(bytes + 8, b);
    store_u64le(bytes + 16, c);
    hash_update(&trace->hash, bytes, sizeof bytes);
}

void trace_bytes(Trace *trace, Slice bytes)
{
    uint8_t len[8];
    store_u64le(len, bytes.len);
    hash_update(&trace->hash, len, sizeof len);
    hash_update(&trace->hash, bytes.data, bytes.len);
}

uint64_t trace_hash(const Trace *trace)
{
    return hash_final(&trace->hash);
}

void trace_print(const Trace *trace, uint32_t depth, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    if (trace->print == NULL) {
        return;
    }
    int indent = depth * INDENT < INDENT_MAX ? (int)(depth * INDENT) : INDENT_MAX;
    (void)snprintf(line, sizeof line, "%*s", indent, "");
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line + indent, sizeof line - (size_t)indent, format, args);
    va_end(args);
    trace->print(trace->ctx, line);
}

const char *trace_text_of(Slice bytes, char text[TRACE_TEXT])
{
    const uint8_t *from = (const uint8_t *)bytes.data;
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < bytes.len; i++) {
        bool plain = from[i] > ' ' && from[i] < 0x7f && from[i] != '\\';
        if (used + 8 > TRACE_TEXT) {
            (void)snprintf(text + used, TRACE_TEXT - used, "...");
            break;
        }
        used += (size_t)snprintf(text + used, TRACE_TEXT - used, plain ? "%c" : "\\x%02x", from[i]);
    }
    return text;
}
