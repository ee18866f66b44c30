/* names.c - names of a schema as names in C. */
#include "emit.h"

#include <ctype.h>

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
        bool trigraph = *p == '?' && p > text && p[-1] == '?';
        if (iscntrl((unsigned char)*p)) {
            out(&buf, "\\%03o", (unsigned)(unsigned char)*p);
        } else {
            out(&buf, *p == '"' || *p == '\\' || trigraph ? "\\%c" : "%c", *p);
        }
    }
    out(&buf, "\"");
    const char *quoted = take_text((const char *)buf.data, buf.len);
    buf_release(&buf);
    return quoted;
}

const char *c_comment(const char *text)
{
    Buf buf = {0};

    for (const char *p = text; *p != '\0'; p++) {
        bool mark = p > text && ((p[-1] == '*' && *p == '/') || (p[-1] == '/' && *p == '*'));
        out(&buf, mark ? " %c" : "%c", *p);
    }
    const char *inside = take_text(buf.len == 0 ? "" : (const char *)buf.data, buf.len);
    buf_release(&buf);
    return inside;
}
