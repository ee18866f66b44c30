/* format.h - rows as lines: text, hexadecimal digits, CSV, dumps.
 *
 * Text: KEY TAB VALUE. Printable UTF-8 stands for itself; \t \n \r \\ and \xHH are bytes. Writing
 * escapes every byte that is not part of a printable character, so that any row is one line, and
 * reading gives it back byte by byte.
 * Hex: KEY TAB VALUE in hexadecimal digits.
 * CSV: RFC 4180; a quoted field may hold line ends. Which columns are key and value is CsvColumns.
 * Dump: the first line is DUMP_HEADER; then for each table `table N KIND ROWS` (KIND: plain, dupsort
 * or expiry) and its rows, each a space and the row as text; the last line is `end`.
 *
 * In all of them a line may end with CR LF, and blank lines are skipped (a dump has none).
 *
 * A reader never gives up at a mistake: it names the line, and goes on behind it. */
#ifndef SAPLING_CLI_FORMAT_H
#define SAPLING_CLI_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"

#define DUMP_HEADER "sapling-dump 1"
/* What some programs put before CSV; a reader skips it. */
#define UTF8_MARK "\xef\xbb\xbf"

typedef enum Format { FORMAT_TEXT, FORMAT_HEX, FORMAT_CSV, FORMAT_DUMP } Format;

/* "text", "hex", "csv" or "dump"; FORMAT_TEXT for any other name. */
Format format_by_name(const char *name);

/* ---- Writing: each appends, and answers SAP_OK or SAP_NOMEM ------------------------------------ */

int format_text(Buf *out, Slice bytes);
int format_hex(Buf *out, Slice bytes);
/* For the eye alone: bytes that a terminal would act on, and those that are no UTF-8, as \xHH; all else
 * as it is, with `lines` also tabs and line ends. */
int format_shown(Buf *out, Slice bytes, bool lines);
/* A field, in quotes where it needs them. `alone`: it is the only one of its line. */
int format_csv(Buf *out, Slice field, char delimiter, bool alone);
/* One line; `val` with NULL data and length 0 is left out if keys_only. */
int format_row(Buf *out, Format format, Slice key, Slice val, bool keys_only);

/* ---- Reading ----------------------------------------------------------------------------------- */

/* Append what the text stands for. SAP_INVALID: *why_out (static) says what is wrong; nothing was
 * appended. */
int parse_text(Slice text, Buf *out, const char **why_out);
int parse_hex(Slice text, Buf *out, const char **why_out);

enum { CSV_KEYS_MOST = 8 };

typedef struct CsvColumns {
    bool header;      /* the first line has the names */
    char delimiter;   /* 0: a comma */
    const char *join; /* between the parts of a key of several columns */
    size_t join_len;
    /* A name of the header, or a number from 1. No key: column 1. */
    const char *keys[CSV_KEYS_MOST];
    uint32_t key_count;
    const char *value; /* NULL: the columns that are no key, as CSV; one alone: as it is */
} CsvColumns;

typedef enum RowKind {
    ROW_END,
    ROW_DATA,  /* key, val */
    ROW_TABLE, /* of a dump: what follows belongs to table `dbi` of `flags` */
    ROW_BAD,   /* `why`; the next call goes on behind it */
    ROW_FATAL, /* `why`; nothing can follow: a read error, no memory, no such column */
} RowKind;

/* Reads up to len bytes: how many, 0 at the end, below 0: errno tells. */
typedef long (*format_read_fn)(void *ctx, void *bytes, size_t len);

typedef struct RowReader {
    /* What row_next() found. Slices are valid until its next call. */
    Slice key;
    Slice val;
    uint32_t dbi;
    unsigned flags;
    char why[200];
    uint64_t line;      /* the first of what was found, from 1 */
    uint64_t next_line; /* the one behind it */
    uint64_t bytes;     /* read so far */
    /* The reader's own. */
    Format format;
    CsvColumns columns;
    format_read_fn read;
    void *read_ctx;
    Buf input; /* read and not yet used: from `at` on */
    size_t at;
    bool ended;
    bool started;
    Buf scratch;     /* decoded keys, values, fields */
    Buf fields;      /* of the CSV record: offsets where each ends, as u64 */
    Buf key_columns; /* indexes of the key columns, as u64, once they are known */
    uint64_t value_column;
    uint64_t column_count;
    uint64_t column_line; /* the line that set it */
    Buf joined;
    uint64_t rows_left; /* of a dump's table */
    bool in_table;
    bool complete;
} RowReader;

/* `columns` (NULL unless CSV) and what it points to are borrowed as long as the reader is used. */
void row_reader_start(RowReader *reader, Format format, const CsvColumns *columns,
                      format_read_fn read, void *ctx);
void row_reader_end(RowReader *reader);
RowKind row_next(RowReader *reader);

#endif
