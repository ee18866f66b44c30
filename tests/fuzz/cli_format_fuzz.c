/* The readers of rows: whatever the input is, they end, name lines that ascend, and the rows they
 * find are written and read again as the same bytes. */
#include "cli/format.h"
#include "support/expect.h"

#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Source {
    const uint8_t *bytes;
    size_t left;
    size_t piece;
} Source;

static long read_source(void *ctx, void *bytes, size_t len)
{
    Source *source = ctx;
    size_t n = source->left < len ? source->left : len;

    n = n < source->piece ? n : source->piece;
    if (n > 0) {
        memcpy(bytes, source->bytes, n);
        source->bytes += n;
        source->left -= n;
    }
    return (long)n;
}

static void again(Format format, Slice key, Slice val)
{
    Buf line = {0};
    RowReader reader;
    Source source;

    EXPECT_RC(format_row(&line, format, key, val, false), SAP_OK);
    source = (Source){line.data, line.len, 64};
    row_reader_start(&reader, format, NULL, read_source, &source);
    RowKind kind = row_next(&reader);
    EXPECT(kind == ROW_DATA, "a row that was written is not read: %s", reader.why);
    EXPECT(reader.key.len == key.len && reader.val.len == val.len &&
               (key.len == 0 || memcmp(reader.key.data, key.data, key.len) == 0) &&
               (val.len == 0 || memcmp(reader.val.data, val.data, val.len) == 0),
           "other bytes");
    EXPECT(row_next(&reader) == ROW_END, "one row became more");
    row_reader_end(&reader);
    buf_release(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return -1;
    }
    Format format = (Format)(data[0] % 4);
    CsvColumns columns = {.header = (data[0] & 16) != 0,
                          .keys = {"1", "2"},
                          .key_count = (data[0] >> 5) % 3,
                          .join = ":",
                          .join_len = 1,
                          .value = (data[0] & 8) != 0 ? "2" : NULL};
    Source source = {data + 2, size - 2, (size_t)data[1] + 1};
    RowReader reader;
    uint64_t line = 0;
    RowKind kind;

    row_reader_start(&reader, format, format == FORMAT_CSV ? &columns : NULL, read_source, &source);
    while ((kind = row_next(&reader)) != ROW_END && kind != ROW_FATAL) {
        EXPECT(reader.line > line, "line %llu behind line %llu", (unsigned long long)reader.line,
               (unsigned long long)line);
        EXPECT(reader.next_line > reader.line, "nothing was used");
        line = reader.line;
        if (kind == ROW_DATA) {
            again(FORMAT_TEXT, reader.key, reader.val);
            again(FORMAT_CSV, reader.key, reader.val);
        }
    }
    row_reader_end(&reader);
    return 0;
}
