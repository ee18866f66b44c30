/* format_read.c - rows from lines: see format.h.
 *
 * Input is read in pieces and used from `at` on; a line, or a CSV record, is in one piece when it is
 * looked at. CSV finds the end of a record first, since line ends can stand in quotes. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/format.h"
#include "sapling/sapling.h"

enum { PIECE = 64 << 10 };
/* A line of hexadecimal digits has two for each byte of the largest row. */
#define LINE_MOST ((size_t)SAP_MAX_VAL_LEN * 2 + 4 * (size_t)SAP_MAX_KEY_LEN)
/* A quote that is never closed must not bring all of a large file into memory. */
#define RECORD_MOST ((size_t)256 << 20)

void row_reader_start(RowReader *reader, Format format, const CsvColumns *columns,
                      format_read_fn read, void *ctx)
{
    memset(reader, 0, sizeof *reader);
    reader->format = format;
    reader->read = read;
    reader->read_ctx = ctx;
    reader->next_line = 1;
    if (columns != NULL) {
        reader->columns = *columns;
    }
    if (reader->columns.delimiter == 0) {
        reader->columns.delimiter = ',';
    }
}

void row_reader_end(RowReader *reader)
{
    buf_release(&reader->input);
    buf_release(&reader->scratch);
    buf_release(&reader->fields);
    buf_release(&reader->key_columns);
    buf_release(&reader->joined);
}

__attribute__((format(printf, 3, 4))) static RowKind say(RowReader *reader, RowKind kind,
                                                         const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(reader->why, sizeof reader->why, format, args);
    va_end(args);
    return kind;
}

static RowKind no_memory(RowReader *reader)
{
    return say(reader, ROW_FATAL, "out of memory");
}

/* ---- Input ------------------------------------------------------------------------------------ */

static const char *input_at(const RowReader *reader)
{
    return reader->input.data == NULL ? "" : (const char *)reader->input.data + reader->at;
}

static size_t input_left(const RowReader *reader)
{
    return reader->input.len - reader->at;
}

/* Reads more behind what there is. ROW_DATA: it did, or the input has ended. */
static RowKind more(RowReader *reader)
{
    if (reader->at > 0) {
        size_t left = input_left(reader);
        if (left > 0) {
            memmove(reader->input.data, reader->input.data + reader->at, left);
        }
        buf_truncate(&reader->input, left);
        reader->at = 0;
    }
    if (buf_reserve(&reader->input, PIECE) != SAP_OK) {
        return no_memory(reader);
    }
    long got = reader->read(reader->read_ctx, reader->input.data + reader->input.len, PIECE);
    if (got < 0) {
        return say(reader, ROW_FATAL, "cannot be read: %s", strerror(errno));
    }
    reader->ended = got == 0;
    reader->input.len += (size_t)got;
    reader->bytes += (uint64_t)got;
    return ROW_DATA;
}

/* Takes a line, without its end. ROW_DATA, ROW_END, ROW_BAD, ROW_FATAL. */
static RowKind take_line(RowReader *reader, Slice *line_out)
{
    size_t seen = 0;

    for (;;) {
        const char *from = input_at(reader);
        size_t left = input_left(reader);
        const char *end = left > seen ? (const char *)memchr(from + seen, '\n', left - seen) : NULL;

        if (end != NULL || (reader->ended && left > 0)) {
            size_t len = end != NULL ? (size_t)(end - from) : left;
            reader->at += len + (end != NULL ? 1 : 0);
            reader->line = reader->next_line++;
            if (len > 0 && from[len - 1] == '\r') {
                len--;
            }
            *line_out = (Slice){from, len};
            return ROW_DATA;
        }
        if (reader->ended) {
            return ROW_END;
        }
        if (left > LINE_MOST) {
            return say(reader, ROW_FATAL, "line %" PRIu64 " is longer than any row can be",
                       reader->next_line);
        }
        seen = left;
        RowKind kind = more(reader);
        if (kind != ROW_DATA) {
            return kind;
        }
    }
}

/* ---- Text, hex --------------------------------------------------------------------------------- */

/* Decodes a cell; where it stands for itself it is not copied. */
static int decode_cell(RowReader *reader, Slice cell, Slice *out, const char **why_out)
{
    if (reader->format != FORMAT_HEX &&
        (cell.len == 0 || memchr(cell.data, '\\', cell.len) == NULL)) {
        *out = cell;
        return SAP_OK;
    }
    size_t start = reader->scratch.len;
    int rc = reader->format == FORMAT_HEX ? parse_hex(cell, &reader->scratch, why_out)
                                          : parse_text(cell, &reader->scratch, why_out);
    *out = (Slice){reader->scratch.data + start, reader->scratch.len - start};
    return rc;
}

static RowKind parse_line(RowReader *reader, Slice line)
{
    const char *p = (const char *)line.data;
    const char *tab = line.len > 0 ? (const char *)memchr(p, '\t', line.len) : NULL;
    const char *why = "";

    if (tab == NULL && reader->format == FORMAT_HEX && line.len > 0) {
        tab = (const char *)memchr(p, ' ', line.len);
    }
    if (tab == NULL) {
        return say(reader, ROW_BAD, "no tab between key and value");
    }
    Slice key = {p, (size_t)(tab - p)};
    Slice val = {tab + 1, line.len - key.len - 1};
    if (val.len > 0 && memchr(val.data, '\t', val.len) != NULL) {
        return say(reader, ROW_BAD, "a second tab: within a key or value it is \\t");
    }
    buf_clear(&reader->scratch);
    /* Room for both first: a slice of the scratch must not move. */
    int rc = buf_reserve(&reader->scratch, line.len);
    if (rc == SAP_OK) {
        rc = decode_cell(reader, key, &reader->key, &why);
    }
    if (rc == SAP_OK) {
        rc = decode_cell(reader, val, &reader->val, &why);
    }
    if (rc == SAP_INVALID) {
        return say(reader, ROW_BAD, "%s", why);
    }
    return rc == SAP_OK ? ROW_DATA : no_memory(reader);
}

static RowKind next_line_row(RowReader *reader)
{
    Slice line = {NULL, 0};
    RowKind kind;

    do {
        kind = take_line(reader, &line);
    } while (kind == ROW_DATA && line.len == 0);
    return kind == ROW_DATA ? parse_line(reader, line) : kind;
}

/* ---- Dumps ------------------------------------------------------------------------------------- */

static bool line_is(Slice line, const char *text)
{
    return line.len == strlen(text) && memcmp(line.data, text, line.len) == 0;
}

/* Takes the number, or the word, behind the space at *p. False: there is none. */
static bool take_number(const char **p, uint64_t *number_out)
{
    char *end = NULL;

    if ((*p)[0] != ' ' || (*p)[1] < '0' || (*p)[1] > '9') {
        return false;
    }
    errno = 0;
    *number_out = strtoull(*p + 1, &end, 10);
    *p = end;
    return errno == 0;
}

static bool take_word(const char **p, char *word, size_t size)
{
    size_t len = (*p)[0] == ' ' ? strspn(*p + 1, "abcdefghijklmnopqrstuvwxyz") : 0;

    if (len == 0 || len >= size) {
        return false;
    }
    memcpy(word, *p + 1, len);
    word[len] = '\0';
    *p += len + 1;
    return true;
}

static RowKind table_line(RowReader *reader, Slice line)
{
    static const char start[] = "table";
    char text[100];
    char kind[16];
    uint64_t dbi = 0;
    uint64_t rows = 0;
    const char *p = text + strlen(start);

    if (line.len < strlen(start) || line.len >= sizeof text ||
        memcmp(line.data, start, strlen(start)) != 0) {
        return say(reader, ROW_BAD, "neither `table N KIND ROWS` nor a row nor `end`");
    }
    memcpy(text, line.data, line.len);
    text[line.len] = '\0';
    if (!take_number(&p, &dbi) || !take_word(&p, kind, sizeof kind) || !take_number(&p, &rows) ||
        p != text + line.len || dbi > SAP_MAX_DBI) {
        return say(reader, ROW_BAD, "not a line `table N KIND ROWS`");
    }
    if (strcmp(kind, "plain") == 0) {
        reader->flags = 0;
    } else if (strcmp(kind, "dupsort") == 0) {
        reader->flags = SAP_DBI_DUPSORT;
    } else if (strcmp(kind, "expiry") == 0) {
        reader->flags = SAP_DBI_TTL_META;
    } else {
        return say(reader, ROW_FATAL,
                   "table %" PRIu64 " is of the kind '%s', which cannot be loaded", dbi, kind);
    }
    reader->dbi = (uint32_t)dbi;
    reader->rows_left = rows;
    reader->in_table = true;
    return ROW_TABLE;
}

static RowKind next_dump_row(RowReader *reader)
{
    Slice line = {NULL, 0};
    RowKind kind = take_line(reader, &line);

    if (kind == ROW_DATA && !reader->started) {
        reader->started = true;
        if (!line_is(line, DUMP_HEADER)) {
            return say(reader, ROW_FATAL, "not a dump: the first line is not `%s`", DUMP_HEADER);
        }
        kind = take_line(reader, &line);
    }
    if (kind == ROW_END && !reader->complete) {
        reader->line = reader->next_line;
        return say(reader, ROW_FATAL, "the dump is cut off: no `end`");
    }
    if (kind != ROW_DATA) {
        return kind;
    }
    if (reader->complete) {
        return say(reader, ROW_FATAL, "something follows the `end` of the dump");
    }
    if (line.len > 0 && ((const char *)line.data)[0] == ' ') {
        if (!reader->in_table || reader->rows_left == 0) {
            return say(reader, ROW_BAD,
                       reader->in_table ? "more rows than the table's line says"
                                        : "a row before any table");
        }
        reader->rows_left--;
        return parse_line(reader, (Slice){(const char *)line.data + 1, line.len - 1});
    }
    if (reader->in_table && reader->rows_left > 0) {
        uint64_t missing = reader->rows_left;
        reader->rows_left = 0;
        return say(reader, ROW_FATAL, "%" PRIu64 " rows of table %" PRIu32 " are missing here",
                   missing, reader->dbi);
    }
    if (line_is(line, "end")) {
        reader->complete = true;
        return next_dump_row(reader);
    }
    return table_line(reader, line);
}

/* ---- CSV ---------------------------------------------------------------------------------------- */

static size_t field_count(const RowReader *reader)
{
    return reader->fields.len / sizeof(uint64_t);
}

static uint64_t list_at(const Buf *list, size_t i)
{
    uint64_t number;
    memcpy(&number, list->data + i * sizeof number, sizeof number);
    return number;
}

static int list_add(Buf *list, uint64_t number)
{
    return buf_append(list, &number, sizeof number);
}

static Slice field(const RowReader *reader, size_t i)
{
    size_t start = i == 0 ? 0 : (size_t)list_at(&reader->fields, i - 1);
    size_t end = (size_t)list_at(&reader->fields, i);
    const char *data = reader->scratch.data == NULL ? "" : (const char *)reader->scratch.data;

    return (Slice){data + start, end - start};
}

/* Finds where the record at the start of the input ends: *len_out without its line end, *lines_out
 * lines. ROW_BAD: the input ended within quotes. */
static RowKind find_record(RowReader *reader, size_t *len_out, uint64_t *lines_out)
{
    size_t i = 0;
    bool quoted = false;
    bool starts = true; /* a field does */
    uint64_t lines = 1;

    for (;;) {
        const char *p = input_at(reader);
        size_t left = input_left(reader);

        for (; i < left; i++) {
            char c = p[i];
            if (c == '"') {
                /* The second of a doubled one opens again what the first has closed. */
                quoted = quoted ? false : starts || (i > 0 && p[i - 1] == '"');
            } else if (c == '\n') {
                if (!quoted) {
                    *len_out = i;
                    *lines_out = lines;
                    return ROW_DATA;
                }
                lines++;
            }
            starts = c == reader->columns.delimiter && !quoted;
        }
        if (reader->ended) {
            *len_out = left;
            *lines_out = lines;
            return left == 0 ? ROW_END : quoted ? ROW_BAD : ROW_DATA;
        }
        if (left > RECORD_MOST) {
            reader->line = reader->next_line;
            return say(reader, ROW_FATAL, "a record of more than %zu MiB: is a quote not closed?",
                       RECORD_MOST >> 20);
        }
        RowKind kind = more(reader);
        if (kind != ROW_DATA) {
            return kind;
        }
    }
}

/* One field from p on into the scratch; *why_out on a mistake, which ends the record. */
static int take_field(RowReader *reader, const char **p, const char *end, const char **why_out)
{
    const char *at = *p;
    char delimiter = reader->columns.delimiter;

    if (at == end || *at != '"') {
        const char *start = at;
        while (at < end && *at != delimiter && *at != '"') {
            at++;
        }
        if (at < end && *at == '"') {
            *why_out = "a quote inside a field that does not begin with one";
            return SAP_INVALID;
        }
        *p = at;
        return buf_append(&reader->scratch, start, (size_t)(at - start));
    }
    at++;
    for (;;) {
        const char *quote = (const char *)memchr(at, '"', (size_t)(end - at));
        if (quote == NULL) {
            *why_out = "a quote that is not closed";
            return SAP_INVALID;
        }
        bool doubled = quote + 1 < end && quote[1] == '"';
        int rc = buf_append(&reader->scratch, at, (size_t)(quote - at) + (doubled ? 1 : 0));
        at = quote + (doubled ? 2 : 1);
        if (rc != SAP_OK) {
            return rc;
        }
        if (!doubled) {
            break;
        }
    }
    if (at < end && *at != delimiter) {
        *why_out = "something behind the closing quote of a field";
        return SAP_INVALID;
    }
    *p = at;
    return SAP_OK;
}

static RowKind take_fields(RowReader *reader, const char *p, size_t len)
{
    const char *end = p + len;
    const char *why = "";

    buf_clear(&reader->scratch);
    buf_clear(&reader->fields);
    for (;;) {
        int rc = take_field(reader, &p, end, &why);
        if (rc == SAP_OK) {
            rc = list_add(&reader->fields, reader->scratch.len);
        }
        if (rc == SAP_INVALID) {
            return say(reader, ROW_BAD, "%s", why);
        }
        if (rc != SAP_OK) {
            return no_memory(reader);
        }
        if (p == end) {
            return ROW_DATA;
        }
        p++;
    }
}

/* A record that has a mistake ends at its first line end: what was taken for a quoted one may be
 * many good lines. */
static void drop_first_line(RowReader *reader, size_t len)
{
    const char *p = input_at(reader);
    const char *end = (const char *)memchr(p, '\n', len);

    reader->at += end != NULL ? (size_t)(end - p) + 1 : len;
    if (end == NULL && input_left(reader) > 0 && *input_at(reader) == '\n') {
        reader->at++;
    }
    reader->next_line = reader->line + 1;
}

static RowKind take_record(RowReader *reader)
{
    for (;;) {
        size_t len = 0;
        uint64_t lines = 0;
        RowKind kind = find_record(reader, &len, &lines);
        if (kind != ROW_DATA && kind != ROW_BAD) {
            return kind;
        }
        const char *p = input_at(reader);
        size_t end = len;
        if (reader->next_line == 1 && len >= 3 && memcmp(p, UTF8_MARK, 3) == 0) {
            p += 3;
            end -= 3;
        }
        if (end > 0 && p[end - 1] == '\r') {
            end--;
        }
        reader->line = reader->next_line;
        if (kind == ROW_DATA && end > 0) {
            kind = take_fields(reader, p, end);
        } else if (kind == ROW_BAD) {
            (void)say(reader, ROW_BAD, "a quote that is not closed");
        }
        if (kind == ROW_BAD) {
            drop_first_line(reader, len);
            return kind;
        }
        reader->next_line = reader->line + lines;
        reader->at += len + (len < input_left(reader) ? 1 : 0);
        if (kind != ROW_DATA || end > 0) {
            return kind;
        }
    }
}

/* The index of the column that a name or number means. */
static RowKind find_column(RowReader *reader, const char *name, uint64_t *index_out)
{
    char *end = NULL;

    for (size_t i = 0; reader->columns.header && i < field_count(reader); i++) {
        Slice title = field(reader, i);
        if (title.len == strlen(name) && memcmp(title.data, name, title.len) == 0) {
            *index_out = i;
            return ROW_DATA;
        }
    }
    unsigned long long number = strtoull(name, &end, 10);
    if (name[0] < '0' || name[0] > '9' || *end != '\0' || number == 0 ||
        number > field_count(reader)) {
        return say(reader, ROW_FATAL, "no column '%.80s' among the %zu%s", name,
                   field_count(reader), reader->columns.header ? "" : " (names need --header)");
    }
    *index_out = number - 1;
    return ROW_DATA;
}

/* The first record says how many columns there are, and by their names which is which. */
static RowKind learn_columns(RowReader *reader)
{
    const CsvColumns *columns = &reader->columns;
    RowKind kind = ROW_DATA;
    uint64_t index = 0;

    reader->column_count = field_count(reader);
    reader->column_line = reader->line;
    for (uint32_t i = 0; i < (columns->key_count == 0 ? 1 : columns->key_count); i++) {
        kind = columns->key_count == 0 ? ROW_DATA : find_column(reader, columns->keys[i], &index);
        if (kind != ROW_DATA) {
            return kind;
        }
        if (list_add(&reader->key_columns, index) != SAP_OK) {
            return no_memory(reader);
        }
    }
    return columns->value != NULL ? find_column(reader, columns->value, &reader->value_column)
                                  : ROW_DATA;
}

static bool is_key_column(const RowReader *reader, uint64_t index)
{
    for (size_t i = 0; i < reader->key_columns.len / sizeof(uint64_t); i++) {
        if (list_at(&reader->key_columns, i) == index) {
            return true;
        }
    }
    return false;
}

/* Puts the key's columns together. ROW_BAD: one has the separator in it, so that the key could not
 * be taken apart again. */
static RowKind join_key(RowReader *reader, size_t *len_out)
{
    const CsvColumns *columns = &reader->columns;
    size_t count = reader->key_columns.len / sizeof(uint64_t);

    for (size_t i = 0; i < count; i++) {
        Slice part = field(reader, (size_t)list_at(&reader->key_columns, i));
        if (count > 1 && part.len > 0 && columns->join_len > 0 &&
            memmem(part.data, part.len, columns->join, columns->join_len) != NULL) {
            return say(reader, ROW_BAD,
                       "column %" PRIu64 " of the key has the separator in it: choose another "
                       "with --join",
                       list_at(&reader->key_columns, i) + 1);
        }
        if ((i > 0 && buf_append(&reader->joined, columns->join, columns->join_len) != SAP_OK) ||
            buf_append(&reader->joined, part.data, part.len) != SAP_OK) {
            return no_memory(reader);
        }
    }
    *len_out = reader->joined.len;
    return ROW_DATA;
}

/* The columns that are no key, as CSV behind the key in `joined`; one alone as it is. */
static int join_value(RowReader *reader)
{
    uint64_t rest = 0;
    int rc = SAP_OK;
    bool first = true;

    for (uint64_t i = 0; i < reader->column_count; i++) {
        rest += is_key_column(reader, i) ? 0 : 1;
    }
    for (size_t i = 0; i < reader->column_count && rc == SAP_OK; i++) {
        if (is_key_column(reader, i)) {
            continue;
        }
        if (!first) {
            rc = buf_append_u8(&reader->joined, (uint8_t)reader->columns.delimiter);
        }
        first = false;
        Slice cell = field(reader, i);
        if (rc == SAP_OK) {
            rc = rest == 1 ? buf_append(&reader->joined, cell.data, cell.len)
                           : format_csv(&reader->joined, cell, reader->columns.delimiter, false);
        }
    }
    return rc;
}

static RowKind next_csv_row(RowReader *reader)
{
    RowKind kind = take_record(reader);
    size_t key_len = 0;

    if (kind == ROW_DATA && !reader->started) {
        kind = learn_columns(reader);
        reader->started = kind == ROW_DATA;
        if (kind == ROW_DATA && reader->columns.header) {
            kind = take_record(reader);
        }
    }
    if (kind != ROW_DATA) {
        return kind;
    }
    if (field_count(reader) != reader->column_count) {
        return say(reader, ROW_BAD, "%zu columns, where line %" PRIu64 " has %" PRIu64,
                   field_count(reader), reader->column_line, reader->column_count);
    }
    buf_clear(&reader->joined);
    kind = join_key(reader, &key_len);
    if (kind != ROW_DATA) {
        return kind;
    }
    if (reader->columns.value == NULL && join_value(reader) != SAP_OK) {
        return no_memory(reader);
    }
    reader->key = (Slice){reader->joined.data, key_len};
    reader->val = reader->columns.value != NULL
                      ? field(reader, (size_t)reader->value_column)
                      : (Slice){reader->joined.data == NULL ? NULL : reader->joined.data + key_len,
                                reader->joined.len - key_len};
    return ROW_DATA;
}

RowKind row_next(RowReader *reader)
{
    switch (reader->format) {
    case FORMAT_CSV:
        return next_csv_row(reader);
    case FORMAT_DUMP:
        return next_dump_row(reader);
    case FORMAT_TEXT:
    case FORMAT_HEX:
        break;
    }
    return next_line_row(reader);
}
