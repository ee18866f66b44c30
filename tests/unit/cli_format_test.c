/* Rows as text, hex, CSV and dumps: what is written is read as the same bytes, and each mistake has
 * its line. */
#include "cli/format.h"
#include "cli/stream_text.h"
#include "common/random.h"
#include "sapling/sapling.h"
#include "support/choice.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

/* Input in memory, given in pieces of at most `piece` bytes. */
typedef struct Source {
    const char *bytes;
    size_t left;
    size_t piece;
} Source;

static long read_source(void *ctx, void *bytes, size_t len)
{
    Source *source = ctx;
    size_t n = source->left < len ? source->left : len;

    n = n < source->piece ? n : source->piece;
    memcpy(bytes, source->bytes, n);
    source->bytes += n;
    source->left -= n;
    return (long)n;
}

typedef struct Bed {
    Source source;
    RowReader reader;
} Bed;

static void start_bytes(Bed *bed, Format format, const CsvColumns *columns, const void *bytes,
                        size_t len, size_t piece)
{
    bed->source = (Source){bytes, len, piece};
    row_reader_start(&bed->reader, format, columns, read_source, &bed->source);
}

static void start(Bed *bed, Format format, const CsvColumns *columns, const char *text)
{
    start_bytes(bed, format, columns, text, strlen(text), 7);
}

static void expect_row(Bed *bed, uint64_t line, const char *key, const char *val)
{
    RowKind kind = row_next(&bed->reader);

    ck_assert_msg(kind == ROW_DATA, "kind %d at line %d: %s", (int)kind, (int)bed->reader.line,
                  bed->reader.why);
    ck_assert_uint_eq(bed->reader.line, line);
    ck_assert_msg(bed->reader.key.len == strlen(key) &&
                      memcmp(bed->reader.key.data, key, strlen(key)) == 0,
                  "key '%.*s' instead of '%s'", (int)bed->reader.key.len,
                  (const char *)bed->reader.key.data, key);
    ck_assert_msg(bed->reader.val.len == strlen(val) &&
                      (val[0] == '\0' || memcmp(bed->reader.val.data, val, strlen(val)) == 0),
                  "value '%.*s' instead of '%s'", (int)bed->reader.val.len,
                  (const char *)bed->reader.val.data, val);
}

static void expect_bad(Bed *bed, RowKind kind, uint64_t line, const char *part)
{
    RowKind got = row_next(&bed->reader);

    ck_assert_msg(got == kind, "kind %d instead of %d", (int)got, (int)kind);
    ck_assert_msg(bed->reader.line == line, "line %d instead of %d: %s", (int)bed->reader.line,
                  (int)line, bed->reader.why);
    ck_assert_msg(strstr(bed->reader.why, part) != NULL, "'%s' has no '%s'", bed->reader.why, part);
}

static void expect_end(Bed *bed)
{
    RowKind kind = row_next(&bed->reader);

    ck_assert_msg(kind == ROW_END, "kind %d: %s", (int)kind, bed->reader.why);
    row_reader_end(&bed->reader);
}

/* Bytes of many kinds: text, quotes, controls, UTF-8, anything. */
static void random_bytes(Rng *rng, Buf *out)
{
    static const char *const parts[] = {"a",       "\"",   ",",        "\n",
                                        "\r\n",    "\t",   "\\",       "\\x",
                                        " ",       "\0",   "\xc3\xbc", "\xf0\x9f\x8c\xb1",
                                        "z",       "\xff", "\xc2\x85", "table 0 plain 1",
                                        UTF8_MARK, "end"};

    buf_clear(out);
    for (uint64_t n = rng_below(rng, 12); n > 0; n--) {
        uint64_t pick = rng_below(rng, sizeof parts / sizeof parts[0] + 3);
        if (pick < sizeof parts / sizeof parts[0]) {
            size_t len = pick == 9 ? 1 : strlen(parts[pick]);
            ck_assert(buf_append(out, parts[pick], len) == SAP_OK);
        } else {
            ck_assert(buf_append_u8(out, (uint8_t)rng_below(rng, 256)) == SAP_OK);
        }
    }
}

static Slice slice_of(const Buf *buf)
{
    return (Slice){buf->data, buf->len};
}

static bool same(Slice a, const Buf *b)
{
    return a.len == b->len && (a.len == 0 || memcmp(a.data, b->data, a.len) == 0);
}

enum { ROWS = 40 };

/* Returns how many rows came back. */
static uint32_t round_trip(Format format, uint64_t seed)
{
    Rng rng;
    Buf keys[ROWS] = {0};
    Buf vals[ROWS] = {0};
    Buf lines = {0};
    Bed bed;
    uint32_t rows = 0;

    rng_seed(&rng, seed);
    if (format == FORMAT_DUMP) {
        ck_assert(buf_printf(&lines, "%s\ntable 7 dupsort %d\n", DUMP_HEADER, ROWS) == SAP_OK);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        random_bytes(&rng, &keys[i]);
        random_bytes(&rng, &vals[i]);
        size_t before = lines.len;
        ck_assert(format_row(&lines, format, slice_of(&keys[i]), slice_of(&vals[i]), false) ==
                  SAP_OK);
        ck_assert_msg(format == FORMAT_CSV ||
                          memchr(lines.data + before, '\n', lines.len - before) ==
                              lines.data + lines.len - 1,
                      "seed %d: a row is not one line", (int)seed);
    }
    ck_assert(format != FORMAT_DUMP || buf_append_str(&lines, "end\n") == SAP_OK);
    start_bytes(&bed, format, NULL, lines.data, lines.len, 1 + rng_below(&rng, 300));
    if (format == FORMAT_DUMP) {
        ck_assert(row_next(&bed.reader) == ROW_TABLE);
        ck_assert(bed.reader.dbi == 7 && bed.reader.flags == SAP_DBI_DUPSORT);
    }
    for (; rows < ROWS; rows++) {
        RowKind kind = row_next(&bed.reader);
        ck_assert_msg(kind == ROW_DATA, "seed %d row %u: %s", (int)seed, rows, bed.reader.why);
        ck_assert_msg(same(bed.reader.key, &keys[rows]) && same(bed.reader.val, &vals[rows]),
                      "seed %d row %u: other bytes", (int)seed, rows);
    }
    expect_end(&bed);
    for (uint32_t i = 0; i < ROWS; i++) {
        buf_release(&keys[i]);
        buf_release(&vals[i]);
    }
    buf_release(&lines);
    return rows;
}

START_TEST(random_rows_come_back_in_every_format)
{
    static const Format formats[] = {FORMAT_TEXT, FORMAT_HEX, FORMAT_CSV, FORMAT_DUMP};
    uint64_t first = choice_first_seed();
    uint64_t count = choice_seed_count(300);
    uint32_t rows = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
            rows += round_trip(formats[i], seed);
        }
    }
    printf("%u rows came back, seeds %llu to %llu\n", rows, (unsigned long long)first,
           (unsigned long long)(first + count - 1));
}
END_TEST

START_TEST(text_escapes_what_does_not_print)
{
    static const char bytes[] = "a\0\t\n\r\\\x7f\xc3\xbc\xff\xc2\x85 z";
    Buf out = {0};

    ck_assert(format_text(&out, (Slice){bytes, sizeof bytes - 1}) == SAP_OK);
    ck_assert(buf_append_u8(&out, 0) == SAP_OK);
    ck_assert_str_eq((char *)out.data, "a\\x00\\t\\n\\r\\\\\\x7f\xc3\xbc\\xff\\xc2\\x85 z");
    buf_release(&out);
}
END_TEST

START_TEST(mistakes_in_text_name_their_line_and_the_rest_is_read)
{
    Bed bed;

    start(&bed, FORMAT_TEXT, NULL,
          "a\t1\r\nno tab\nb\t2\tx\n\nc\\q\t3\nd\t\\x4\ne\t\\\nf\\x41\t\\\\\\t\n\t\ng\t");
    expect_row(&bed, 1, "a", "1");
    expect_bad(&bed, ROW_BAD, 2, "no tab");
    expect_bad(&bed, ROW_BAD, 3, "second tab");
    expect_bad(&bed, ROW_BAD, 5, "backslash");
    expect_bad(&bed, ROW_BAD, 6, "backslash");
    expect_bad(&bed, ROW_BAD, 7, "backslash");
    expect_row(&bed, 8, "fA", "\\\t");
    expect_row(&bed, 9, "", "");
    expect_row(&bed, 10, "g", "");
    expect_end(&bed);
}
END_TEST

START_TEST(mistakes_in_hex_name_their_line)
{
    Bed bed;

    start(&bed, FORMAT_HEX, NULL, "61\t62\n6\t62\n6g\t62\n61\n61 6A6b\n");
    expect_row(&bed, 1, "a", "b");
    expect_bad(&bed, ROW_BAD, 2, "odd");
    expect_bad(&bed, ROW_BAD, 3, "digit");
    expect_bad(&bed, ROW_BAD, 4, "no tab");
    expect_row(&bed, 5, "a", "jk");
    expect_end(&bed);
}
END_TEST

START_TEST(mistakes_in_csv_name_their_line_and_the_rest_is_read)
{
    Bed bed;

    start(&bed, FORMAT_CSV, NULL,
          "a,1\nb\"x,2\n\"c\"x,3\nd\n\ne,\"5\n5\"\nf,6,7\n\"g \"\"q\"\"\",\r\nh,\"8\ni,9\n");
    expect_row(&bed, 1, "a", "1");
    expect_bad(&bed, ROW_BAD, 2, "quote inside");
    expect_bad(&bed, ROW_BAD, 3, "behind the closing quote");
    expect_bad(&bed, ROW_BAD, 4, "1 columns, where line 1 has 2");
    expect_row(&bed, 6, "e", "5\n5");
    expect_bad(&bed, ROW_BAD, 8, "3 columns");
    expect_row(&bed, 9, "g \"q\"", "");
    expect_bad(&bed, ROW_BAD, 10, "not closed");
    expect_row(&bed, 11, "i", "9");
    expect_end(&bed);
}
END_TEST

START_TEST(csv_columns_by_name_and_number_make_key_and_value)
{
    static const char people[] =
        "\xef\xbb\xbfid,name,city\n7,\"Ann, A\",Rome\n8,Bob,\"Os\"\"lo\"\n";
    static const char broken[] = "a,b,c\n1:2,x,y\n3,4,5\n";
    Bed bed;

    start(&bed, FORMAT_CSV, &(CsvColumns){.header = true, .keys = {"id"}, .key_count = 1}, people);
    expect_row(&bed, 2, "7", "\"Ann, A\",Rome");
    expect_row(&bed, 3, "8", "Bob,\"Os\"\"lo\"");
    expect_end(&bed);
    start(&bed, FORMAT_CSV,
          &(CsvColumns){.header = true,
                        .keys = {"city", "1"},
                        .key_count = 2,
                        .join = "/",
                        .join_len = 1,
                        .value = "name"},
          people);
    expect_row(&bed, 2, "Rome/7", "Ann, A");
    expect_row(&bed, 3, "Os\"lo/8", "Bob");
    expect_end(&bed);
    start(&bed, FORMAT_CSV,
          &(CsvColumns){.keys = {"2", "3"}, .key_count = 2, .join = ":", .join_len = 1}, "a,b,c\n");
    expect_row(&bed, 1, "b:c", "a");
    expect_end(&bed);
    start(&bed, FORMAT_CSV,
          &(CsvColumns){
              .header = true, .keys = {"a", "b"}, .key_count = 2, .join = ":", .join_len = 1},
          broken);
    expect_bad(&bed, ROW_BAD, 2, "separator");
    expect_row(&bed, 3, "3:4", "5");
    expect_end(&bed);
    start(&bed, FORMAT_CSV, &(CsvColumns){.header = true, .keys = {"age"}, .key_count = 1}, people);
    expect_bad(&bed, ROW_FATAL, 1, "no column 'age'");
    row_reader_end(&bed.reader);
    start(&bed, FORMAT_CSV, &(CsvColumns){.keys = {"4"}, .key_count = 1}, people);
    expect_bad(&bed, ROW_FATAL, 1, "--header");
    row_reader_end(&bed.reader);
    start(&bed, FORMAT_CSV, &(CsvColumns){.delimiter = ';'}, "a,b;c\n\"d;\";e\n");
    expect_row(&bed, 1, "a,b", "c");
    expect_row(&bed, 2, "d;", "e");
    expect_end(&bed);
}
END_TEST

START_TEST(a_dump_that_is_not_whole_is_refused_where_it_breaks)
{
    static const struct {
        const char *text;
        RowKind kind;
        uint64_t line;
        const char *part;
    } cases[] = {
        {"sapling-dump 2\n", ROW_FATAL, 1, "not a dump"},
        {"sapling-dump 1\n a\t1\nend\n", ROW_BAD, 2, "before any table"},
        {"sapling-dump 1\ntable x plain 1\nend\n", ROW_BAD, 2, "not a line"},
        {"sapling-dump 1\ntable 1024 plain 1\nend\n", ROW_BAD, 2, "not a line"},
        {"sapling-dump 1\ntable 1 plain 1 x\nend\n", ROW_BAD, 2, "not a line"},
        {"sapling-dump 1\ntable 1 plain -1\nend\n", ROW_BAD, 2, "not a line"},
        {"sapling-dump 1\nfable 1 plain 1\nend\n", ROW_BAD, 2, "neither"},
        {"sapling-dump 1\ntable 3 ordered 1\nend\n", ROW_FATAL, 2, "'ordered'"},
        {"sapling-dump 1\n", ROW_FATAL, 2, "cut off"},
        {"sapling-dump 1\nend\nend\n", ROW_FATAL, 3, "follows"},
    };
    Bed bed;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        start(&bed, FORMAT_DUMP, NULL, cases[i].text);
        expect_bad(&bed, cases[i].kind, cases[i].line, cases[i].part);
        row_reader_end(&bed.reader);
    }
    start(&bed, FORMAT_DUMP, NULL,
          "sapling-dump 1\ntable 0 plain 1\n a\t1\n b\t2\ntable 1 plain 2\n c\t3\nend\n");
    ck_assert(row_next(&bed.reader) == ROW_TABLE);
    expect_row(&bed, 3, "a", "1");
    expect_bad(&bed, ROW_BAD, 4, "more rows");
    ck_assert(row_next(&bed.reader) == ROW_TABLE);
    expect_row(&bed, 6, "c", "3");
    expect_bad(&bed, ROW_FATAL, 7, "1 rows of table 1 are missing");
    row_reader_end(&bed.reader);
}
END_TEST

static int gather(const void *data, uint32_t len, void *ctx)
{
    return buf_append(ctx, data, len);
}

START_TEST(a_stream_in_pieces_of_any_size_gives_the_same_dump)
{
    static const char expected[] = "sapling-dump 1\ntable 0 plain 2\n a\\x00\t1\n b\t\n"
                                   "table 5 dupsort 2\n k\tv\n k\tw\ntable 9 dupsort 0\nend\n";
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);
    Buf stream = {0};

    ck_assert(sap_dbi_open(db, 5, NULL, NULL, SAP_DBI_DUPSORT) == SAP_OK);
    ck_assert(sap_dbi_open(db, 9, NULL, NULL, SAP_DBI_DUPSORT) == SAP_OK);
    SapTxnCtx *txn = sap_txn_begin(db, NULL, 0);
    ck_assert(sap_txn_put(txn, "a\0", 2, "1", 1) == SAP_OK);
    ck_assert(sap_txn_put(txn, "b", 1, "", 0) == SAP_OK);
    ck_assert(sap_txn_put_dbi(txn, 5, "k", 1, "w", 1) == SAP_OK);
    ck_assert(sap_txn_put_dbi(txn, 5, "k", 1, "v", 1) == SAP_OK);
    ck_assert(sap_txn_commit(txn) == SAP_OK);
    ck_assert(sap_db_checkpoint(db, gather, &stream) == SAP_OK);
    for (size_t piece = 1; piece <= stream.len; piece++) {
        StreamText text = {0};
        Buf out = {0};
        for (size_t at = 0; at < stream.len; at += piece) {
            size_t n = stream.len - at < piece ? stream.len - at : piece;
            ck_assert(!stream_text_complete(&text));
            ck_assert(stream_text_take(&text, stream.data + at, n, &out) == SAP_OK);
        }
        ck_assert(stream_text_complete(&text) && text.rows == 4 && text.tables == 3);
        ck_assert_msg(out.len == strlen(expected) && memcmp(out.data, expected, out.len) == 0,
                      "pieces of %zu: %.*s", piece, (int)out.len, (const char *)out.data);
        stream_text_release(&text);
        buf_release(&out);
    }
    buf_release(&stream);
    ck_assert(sap_db_close(db) == SAP_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cli/format");
    TCase *tcase = tcase_create("format");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, random_rows_come_back_in_every_format);
    tcase_add_test(tcase, text_escapes_what_does_not_print);
    tcase_add_test(tcase, mistakes_in_text_name_their_line_and_the_rest_is_read);
    tcase_add_test(tcase, mistakes_in_hex_name_their_line);
    tcase_add_test(tcase, mistakes_in_csv_name_their_line_and_the_rest_is_read);
    tcase_add_test(tcase, csv_columns_by_name_and_number_make_key_and_value);
    tcase_add_test(tcase, a_dump_that_is_not_whole_is_refused_where_it_breaks);
    tcase_add_test(tcase, a_stream_in_pieces_of_any_size_gives_the_same_dump);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
