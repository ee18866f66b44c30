#include "cli/format.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"

Format format_by_name(const char *name)
{
    return strcmp(name, "hex") == 0    ? FORMAT_HEX
           : strcmp(name, "csv") == 0  ? FORMAT_CSV
           : strcmp(name, "dump") == 0 ? FORMAT_DUMP
                                       : FORMAT_TEXT;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static int hex_bytes(Buf *out, const char *before, const uint8_t *bytes, size_t len)
{
    static const char digits[] = "0123456789abcdef";
    size_t before_len = strlen(before);
    int rc = buf_reserve(out, len * (2 + before_len));

    for (size_t i = 0; i < len && rc == SAP_OK; i++) {
        char text[2] = {digits[bytes[i] / 16], digits[bytes[i] % 16]};
        rc = buf_append(out, before, before_len);
        if (rc == SAP_OK) {
            rc = buf_append(out, text, sizeof text);
        }
    }
    return rc;
}

int format_hex(Buf *out, Slice bytes)
{
    return hex_bytes(out, "", (const uint8_t *)bytes.data, bytes.len);
}

static const char *short_escape(uint8_t byte)
{
    switch (byte) {
    case '\t':
        return "\\t";
    case '\n':
        return "\\n";
    case '\r':
        return "\\r";
    case '\\':
        return "\\\\";
    default:
        return NULL;
    }
}

/* How many bytes at p print as they are; 0: the first does not. */
static size_t printable(const uint8_t *p, size_t len)
{
    uint32_t code = 0;

    if (p[0] >= 0x20 && p[0] < 0x7f && p[0] != '\\') {
        return 1;
    }
    if (p[0] < 0x80) {
        return 0;
    }
    size_t used = utf8_decode(p, len, &code);
    return code == UTF8_BAD || code < 0xa0 ? 0 : used;
}

int format_text(Buf *out, Slice bytes)
{
    const uint8_t *p = (const uint8_t *)bytes.data;
    size_t i = 0;
    int rc = buf_reserve(out, bytes.len);

    while (i < bytes.len && rc == SAP_OK) {
        size_t start = i;
        for (size_t used = 1; i < bytes.len && used > 0; i += used) {
            used = printable(p + i, bytes.len - i);
        }
        rc = buf_append(out, p + start, i - start);
        if (i < bytes.len && rc == SAP_OK) {
            const char *escape = short_escape(p[i]);
            rc = escape != NULL ? buf_append_str(out, escape) : hex_bytes(out, "\\x", p + i, 1);
            i++;
        }
    }
    return rc;
}

int format_shown(Buf *out, Slice bytes, bool lines)
{
    const uint8_t *p = (const uint8_t *)bytes.data;
    int rc = buf_reserve(out, bytes.len);

    for (size_t i = 0; i < bytes.len && rc == SAP_OK;) {
        bool plain = p[i] == '\\' || (lines && (p[i] == '\n' || p[i] == '\t'));
        size_t used = plain ? 1 : printable(p + i, bytes.len - i);
        rc = used > 0 ? buf_append(out, p + i, used) : hex_bytes(out, "\\x", p + i, 1);
        i += used > 0 ? used : 1;
    }
    return rc;
}

int format_csv(Buf *out, Slice field, char delimiter, bool alone)
{
    const char *p = (const char *)field.data;
    /* Bytes that a reader would take for the mark at the start of a file are a mark no more. */
    bool quotes = field.len == 0 ? alone : field.len >= 3 && memcmp(p, UTF8_MARK, 3) == 0;

    for (size_t i = 0; i < field.len && !quotes; i++) {
        quotes = p[i] == '"' || p[i] == delimiter || p[i] == '\n' || p[i] == '\r';
    }
    if (!quotes) {
        return buf_append(out, p, field.len);
    }
    int rc = buf_append_u8(out, '"');
    for (size_t i = 0; i < field.len && rc == SAP_OK; i++) {
        rc = p[i] == '"' ? buf_append_str(out, "\"\"") : buf_append(out, p + i, 1);
    }
    return rc == SAP_OK ? buf_append_u8(out, '"') : rc;
}

static int format_cell(Buf *out, Format format, Slice bytes, bool alone)
{
    switch (format) {
    case FORMAT_HEX:
        return format_hex(out, bytes);
    case FORMAT_CSV:
        return format_csv(out, bytes, ',', alone);
    case FORMAT_TEXT:
    case FORMAT_DUMP:
        break;
    }
    return format_text(out, bytes);
}

int format_row(Buf *out, Format format, Slice key, Slice val, bool keys_only)
{
    int rc = format == FORMAT_DUMP ? buf_append_u8(out, ' ') : SAP_OK;

    if (rc == SAP_OK) {
        rc = format_cell(out, format, key, keys_only);
    }
    if (rc == SAP_OK && !keys_only) {
        rc = buf_append_u8(out, format == FORMAT_CSV ? ',' : '\t');
        if (rc == SAP_OK) {
            rc = format_cell(out, format, val, false);
        }
    }
    return rc == SAP_OK ? buf_append_u8(out, '\n') : rc;
}

/* ---- Reading cells ---------------------------------------------------------------------------- */

static int digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte of two digits; -1: they are none. */
static int byte_of(const char *p, const char *end)
{
    int high = end - p >= 2 ? digit_of(p[0]) : -1;
    int low = end - p >= 2 ? digit_of(p[1]) : -1;

    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

/* The byte that the escape at p (a backslash) stands for, and how long it is; -1: it is none. */
static int escape_of(const char *p, const char *end, size_t *len_out)
{
    *len_out = 2;
    if (end - p < 2) {
        return -1;
    }
    switch (p[1]) {
    case 't':
        return '\t';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case '\\':
        return '\\';
    case 'x':
        *len_out = 4;
        return byte_of(p + 2, end);
    default:
        return -1;
    }
}

int parse_text(Slice text, Buf *out, const char **why_out)
{
    const char *p = text.len == 0 ? "" : (const char *)text.data;
    const char *end = p + text.len;
    size_t before = out->len;
    int rc = buf_reserve(out, text.len);

    while (p < end && rc == SAP_OK) {
        const char *slash = (const char *)memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((slash != NULL ? slash : end) - p);
        rc = buf_append(out, p, plain);
        p += plain;
        if (slash != NULL && rc == SAP_OK) {
            size_t len = 0;
            int byte = escape_of(p, end, &len);
            if (byte < 0) {
                buf_truncate(out, before);
                *why_out = "a backslash that begins none of \\t \\n \\r \\\\ \\xHH";
                return SAP_INVALID;
            }
            rc = buf_append_u8(out, (uint8_t)byte);
            p += len;
        }
    }
    return rc;
}

int parse_hex(Slice text, Buf *out, const char **why_out)
{
    const char *p = (const char *)text.data;
    size_t before = out->len;
    int rc = buf_reserve(out, text.len / 2);

    if (text.len % 2 != 0) {
        *why_out = "an odd number of hexadecimal digits";
        return SAP_INVALID;
    }
    for (size_t i = 0; i < text.len && rc == SAP_OK; i += 2) {
        int byte = byte_of(p + i, p + text.len);
        if (byte < 0) {
            buf_truncate(out, before);
            *why_out = "not a hexadecimal digit";
            return SAP_INVALID;
        }
        rc = buf_append_u8(out, (uint8_t)byte);
    }
    return rc;
}
