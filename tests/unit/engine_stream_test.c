/* Checkpoint streams: the same content is the same bytes, and what comes back is what was written
 * or nothing at all. */
#include "common/bytes.h"
#include "common/hash.h"
#include "support/backing.h"
#include "support/driver.h"
#include "support/expect.h"
#include "support/mirror.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 600, PAGE = 512, BIG = 9000, ROWS = 400 };
enum { REVERSE = 2, DUP = 3, DUP_REVERSE = 4, DUP_EMPTY = 900, DATA = 10, META = 1023, EMPTY = 50 };
enum { T_PLAIN, T_REVERSE, T_DUP, T_DUP_REVERSE, T_DUP_EMPTY, T_DATA, T_META, TABLES };

static uint8_t filler[BIG];

/* The same tables in every DB of this file. */
static void open_tables(Mirror *m, SapMemArena *arena, uint32_t page_size)
{
    mirror_open(m, arena, page_size, ORDER_BYTES);
    mirror_add(m, REVERSE, ORDER_REVERSE, 0);
    mirror_add(m, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add_dupsort(m, DUP_REVERSE, ORDER_LENGTH, ORDER_REVERSE);
    mirror_add(m, DUP_EMPTY, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add(m, DATA, ORDER_BYTES, 0);
    mirror_add(m, META, ORDER_BYTES, SAP_DBI_TTL_META);
    EXPECT_RC(sap_dbi_open(m->db, EMPTY, NULL, NULL, 0), SAP_OK);
}

/* Row i of a table; its value depends on i alone. */
static void put_row(Mirror *m, size_t t, uint32_t i, uint32_t big)
{
    char key[32];
    uint32_t val_len = i % 11 == 0 ? big : i % 29;
    uint32_t len = (uint32_t)snprintf(key, sizeof key, "%c%u", "aBcD"[i % 4], i);

    switch (t) {
    case T_DUP:
    case T_DUP_REVERSE:
        store_u32be(key + 2, i * 7919);
        mirror_put(m, t, key, 1, key + 2, i % 5);
        break;
    case T_DATA:
        EXPECT_RC(sap_txn_put_ttl_dbi(mirror_txn(m), DATA, META, key, len, filler, i % 29, i),
                  SAP_OK);
        model_put_ttl(mirror_table(m, T_DATA), mirror_table(m, T_META), key, len, filler, i % 29,
                      i);
        break;
    case T_DUP_EMPTY:
    case T_META:
        break;
    default:
        mirror_put(m, t, key, len, filler, val_len);
        break;
    }
}

/* The same content by another way: `history` chooses order, commits and detours. */
static void fill(Mirror *m, uint32_t rows, uint32_t history, uint32_t big)
{
    mirror_begin(m);
    for (uint32_t n = 0; n < rows; n++) {
        uint32_t i = history % 2 == 0 ? n : rows - 1 - n;
        for (size_t t = 0; t < TABLES; t++) {
            put_row(m, t, history % 3 == 1 ? (i * 7) % rows : i, big);
        }
        if (history % 5 == 3 && n % 60 == 59) {
            mirror_commit(m);
            mirror_begin(m);
        }
        if (history % 4 == 2 && n % 50 == 10) {
            mirror_begin(m);
            mirror_del_range(m, T_PLAIN, NULL, 0, NULL, 0);
            mirror_abort(m);
            mirror_put_text(m, T_PLAIN, "detour", "and back");
            mirror_put(m, T_DUP, "detour", 6, filler, 9);
            mirror_del(m, T_PLAIN, "detour", 6);
            mirror_del(m, T_DUP, "detour", 6);
        }
    }
    mirror_commit(m);
}

static void checkpoint(SapEnv *db, Stream *stream)
{
    stream_init(stream);
    EXPECT_RC(sap_db_checkpoint(db, stream_write, stream), SAP_OK);
    EXPECT(stream->len != 0, "an empty stream");
}

static void expect_same_bytes(const Stream *a, const Stream *b)
{
    EXPECT(a->len == b->len, "streams of %zu and %zu bytes", a->len, b->len);
    EXPECT(memcmp(a->bytes, b->bytes, a->len) == 0, "streams that differ");
}

/* The mirror must now hold what `from` says. */
static void adopt(Mirror *m, const Model *from)
{
    EXPECT(m->depth == 0, "a transaction is open");
    Model *copy = model_copy(from);
    model_free(m->committed);
    m->committed = copy;
    model_expect_committed(m->committed, m->db);
}

static void restore(Mirror *m, Stream *stream, const Model *content)
{
    stream_rewind(stream);
    EXPECT_RC(sap_db_restore(m->db, stream_read, stream), SAP_OK);
    adopt(m, content);
}

static void expect_refused(Mirror *m, Stream *stream, int expected)
{
    stream->at = 0;
    stream->calls = 0;
    EXPECT_RC(sap_db_restore(m->db, stream_read, stream), expected);
    model_expect_committed(m->committed, m->db);
}

/* ---- The same bytes ------------------------------------------------------------------------- */

START_TEST(the_same_content_is_the_same_bytes_whatever_its_history)
{
    Stream first = {0};

    for (uint32_t history = 0; history < 60; history += 7) {
        Mirror m;
        Stream stream;
        expect_context("history %u", history);
        open_tables(&m, NULL, PAGE);
        fill(&m, ROWS, history, BIG);
        checkpoint(m.db, &stream);
        if (first.len == 0) {
            first = stream;
        } else {
            expect_same_bytes(&first, &stream);
            stream_free(&stream);
        }
        mirror_close(&m);
    }
    stream_free(&first);
}
END_TEST

START_TEST(the_same_content_is_the_same_bytes_in_every_page_size_and_arena)
{
    Stream first = {0};

    for (uint32_t i = 0; i < driver_page_size_count; i++) {
        Mirror m;
        Backing backing;
        Stream stream;
        expect_context("page size %u", driver_page_sizes[i]);
        backing_open(&backing, (BackingKind)(i % BACKING_KIND_COUNT), driver_page_sizes[i],
                     UINT64_C(64) << 20);
        open_tables(&m, backing.arena, driver_page_sizes[i]);
        fill(&m, ROWS, i, 700);
        checkpoint(m.db, &stream);
        if (first.len == 0) {
            first = stream;
        } else {
            expect_same_bytes(&first, &stream);
            stream_free(&stream);
        }
        mirror_close(&m);
        backing_close(&backing);
    }
    stream_free(&first);
}
END_TEST

START_TEST(loading_and_putting_give_the_same_bytes)
{
    Mirror m;
    Mirror loaded;
    Stream a;
    Stream b;

    open_tables(&m, NULL, PAGE);
    fill(&m, ROWS, 0, 3000);
    open_tables(&loaded, NULL, 1024);
    fill(&loaded, ROWS, 1, 3000);
    mirror_begin(&loaded);
    for (size_t t = 0; t < T_DATA; t++) {
        mirror_del_range(&loaded, t, NULL, 0, NULL, 0);
        mirror_load(&loaded, t, &m.committed->tables[t]);
    }
    mirror_commit(&loaded);
    checkpoint(m.db, &a);
    checkpoint(loaded.db, &b);
    expect_same_bytes(&a, &b);
    stream_free(&a);
    stream_free(&b);
    mirror_close(&m);
    mirror_close(&loaded);
}
END_TEST

START_TEST(other_content_is_other_bytes)
{
    Mirror m;
    Stream before;
    Stream after;

    open_tables(&m, NULL, PAGE);
    fill(&m, 20, 0, BIG);
    checkpoint(m.db, &before);
    mirror_begin(&m);
    mirror_put_text(&m, T_PLAIN, "one", "more");
    mirror_commit(&m);
    checkpoint(m.db, &after);
    ck_assert(before.len != after.len || memcmp(before.bytes, after.bytes, after.len) != 0);
    stream_free(&after);
    mirror_begin(&m);
    mirror_del(&m, T_PLAIN, "one", 3);
    mirror_commit(&m);
    checkpoint(m.db, &after);
    expect_same_bytes(&before, &after);
    stream_free(&before);
    stream_free(&after);
    mirror_close(&m);
}
END_TEST

/* Key and value lengths are part of the content. */
START_TEST(rows_that_join_to_the_same_bytes_are_told_apart)
{
    static const char *const rows[][4] = {
        {"a", "bc", "d", ""}, {"ab", "c", "d", ""}, {"abc", "", "d", ""}, {"a", "bcd", "", ""}};
    Stream streams[4];

    for (size_t i = 0; i < 4; i++) {
        Mirror m;
        mirror_open(&m, NULL, PAGE, ORDER_BYTES);
        mirror_begin(&m);
        mirror_put_text(&m, 0, rows[i][0], rows[i][1]);
        mirror_put_text(&m, 0, rows[i][2], rows[i][3]);
        mirror_commit(&m);
        checkpoint(m.db, &streams[i]);
        for (size_t j = 0; j < i; j++) {
            ck_assert(streams[i].len != streams[j].len ||
                      memcmp(streams[i].bytes, streams[j].bytes, streams[i].len) != 0);
        }
        mirror_close(&m);
    }
    for (size_t i = 0; i < 4; i++) {
        stream_free(&streams[i]);
    }
}
END_TEST

/* ---- There and back ------------------------------------------------------------------------- */

START_TEST(what_is_restored_is_what_was_written)
{
    for (uint32_t i = 0; i < driver_page_size_count; i++) {
        Mirror m;
        Mirror other;
        Stream stream;
        Stream again;
        uint32_t to = driver_page_sizes[(i * 5 + 3) % driver_page_size_count];
        expect_context("from page size %u to %u", driver_page_sizes[i], to);
        open_tables(&m, NULL, driver_page_sizes[i]);
        fill(&m, ROWS, i, BIG);
        checkpoint(m.db, &stream);
        open_tables(&other, NULL, to);
        fill(&other, 30, i + 1, 600);
        restore(&other, &stream, m.committed);
        EXPECT(stream.at == stream.len, "%zu of %zu bytes were read", stream.at, stream.len);
        checkpoint(other.db, &again);
        expect_same_bytes(&stream, &again);
        /* What was restored can be changed like anything else. */
        mirror_begin(&other);
        put_row(&other, T_PLAIN, ROWS + 1, BIG);
        put_row(&other, T_DUP_REVERSE, ROWS + 1, BIG);
        mirror_del_range(&other, T_REVERSE, "c", 1, "a", 1);
        mirror_commit(&other);
        stream_free(&stream);
        stream_free(&again);
        mirror_close(&m);
        mirror_close(&other);
    }
}
END_TEST

START_TEST(an_empty_db_can_be_written_and_restored)
{
    Mirror m;
    Mirror full;
    Stream stream;
    Stream again;

    open_tables(&m, NULL, PAGE);
    checkpoint(m.db, &stream);
    open_tables(&full, NULL, PAGE);
    uint64_t pages = sap_db_num_pages(full.db);
    fill(&full, ROWS, 0, BIG);
    restore(&full, &stream, m.committed);
    ck_assert_uint_le(sap_db_num_pages(full.db), pages + 2);
    checkpoint(full.db, &again);
    expect_same_bytes(&stream, &again);
    stream_free(&stream);
    stream_free(&again);
    mirror_close(&m);
    mirror_close(&full);
}
END_TEST

START_TEST(a_restore_gives_the_pages_of_the_old_content_back)
{
    Mirror m;
    Stream stream;

    open_tables(&m, NULL, PAGE);
    fill(&m, ROWS, 0, BIG);
    checkpoint(m.db, &stream);
    Model *content = model_copy(m.committed);
    restore(&m, &stream, content);
    uint64_t pages = sap_db_num_pages(m.db);
    for (int i = 0; i < 5; i++) {
        restore(&m, &stream, content);
        ck_assert_uint_eq(sap_db_num_pages(m.db), pages);
    }
    model_free(content);
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

START_TEST(tables_in_byte_order_are_opened_by_a_restore)
{
    Mirror m;
    Stream stream;
    Stream again;
    SapTxnCtx *txn = NULL;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    SapEnv *db = sap_db_open(NULL, 1024, NULL, NULL);
    mirror_add(&m, 8, ORDER_BYTES, 0);
    size_t dup = mirror_add(&m, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add(&m, DUP_EMPTY, ORDER_BYTES, SAP_DBI_DUPSORT);
    mirror_add(&m, META, ORDER_BYTES, SAP_DBI_TTL_META);
    mirror_begin(&m);
    mirror_put_text(&m, 1, "k", "v");
    mirror_put_text(&m, dup, "k", "v");
    mirror_put_text(&m, dup, "k", "w");
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    ck_assert_int_eq(sap_db_restore(db, stream_read, &stream), SAP_OK);
    model_expect_committed(m.committed, db);
    checkpoint(db, &again);
    expect_same_bytes(&stream, &again);
    /* With their flags. */
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_put_flags_dbi(txn, DUP, "k", 1, "v", 1, SAP_NOOVERWRITE, NULL),
                     SAP_EXISTS);
    ck_assert_int_eq(sap_txn_put_dbi(txn, DUP_EMPTY, "k", 1, "v", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(txn, DUP_EMPTY, "k", 1, "w", 1), SAP_OK);
    ck_assert_int_eq(sap_txn_put_dbi(txn, META, "k", 1, "v", 1), SAP_ERROR);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_dbi_open(db, 8, NULL, NULL, 0), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(db, META, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    stream_free(&stream);
    stream_free(&again);
    mirror_close(&m);
}
END_TEST

START_TEST(tables_that_the_stream_does_not_have_are_emptied)
{
    Mirror m;
    Mirror other;
    Stream stream;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    mirror_put_text(&m, 0, "k", "v");
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    open_tables(&other, NULL, PAGE);
    Model *content = model_copy(other.committed);
    model_put(&content->tables[0], "k", 1, "v", 1);
    fill(&other, 100, 0, BIG);
    restore(&other, &stream, content);
    model_free(content);
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

START_TEST(a_restore_is_a_commit)
{
    Mirror m;
    Stream stream;
    SapStat before;
    SapStat after;

    open_tables(&m, NULL, PAGE);
    fill(&m, 10, 0, 0);
    checkpoint(m.db, &stream);
    ck_assert_int_eq(sap_db_stat(m.db, &before), SAP_OK);
    Model *content = model_copy(m.committed);
    fill(&m, 50, 0, 0);
    restore(&m, &stream, content);
    ck_assert_int_eq(sap_db_stat(m.db, &after), SAP_OK);
    ck_assert_uint_gt(after.txnid, before.txnid);
    ck_assert_uint_eq(after.num_entries, before.num_entries);
    ck_assert_uint_eq(after.has_write_txn, 0);
    model_free(content);
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

START_TEST(large_values_and_many_rows_come_back)
{
    enum { HUGE = 3 << 20, MANY = 30000 };
    Mirror m;
    Mirror other;
    Stream stream;
    uint8_t key[8];
    uint8_t *huge = malloc(HUGE);

    ck_assert_ptr_nonnull(huge);
    for (uint32_t i = 0; i < HUGE; i++) {
        huge[i] = (uint8_t)hash_u64(i);
    }
    mirror_open(&m, NULL, 4096, ORDER_BYTES);
    mirror_begin(&m);
    mirror_put(&m, 0, "huge", 4, huge, HUGE);
    for (uint32_t i = 0; i < MANY; i++) {
        store_u64be(key, i);
        mirror_put(&m, 0, key, 8, huge, i % 50);
    }
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    mirror_open(&other, NULL, 257, ORDER_BYTES);
    restore(&other, &stream, m.committed);
    stream_free(&stream);
    free(huge);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

/* ---- Snapshots ------------------------------------------------------------------------------ */

START_TEST(an_old_snapshot_can_be_written_while_a_writer_goes_on)
{
    Mirror m;
    Mirror other;
    Stream then;
    Stream now;
    Stream old;
    SapTxnCtx *reader = NULL;

    open_tables(&m, NULL, PAGE);
    fill(&m, ROWS, 0, BIG);
    checkpoint(m.db, &then);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    Model *content = model_copy(m.committed);
    mirror_begin(&m);
    mirror_del_range(&m, T_PLAIN, NULL, 0, NULL, 0);
    mirror_put_text(&m, T_DUP, "new", "pair");
    mirror_commit(&m);
    mirror_begin(&m);
    mirror_put_text(&m, T_PLAIN, "not", "committed");
    stream_init(&old);
    ck_assert_int_eq(sap_txn_checkpoint(reader, stream_write, &old), SAP_OK);
    expect_same_bytes(&then, &old);
    /* The newest commit is neither the old snapshot nor what the writer does. */
    checkpoint(m.db, &now);
    mirror_abort(&m);
    sap_txn_abort(reader);
    open_tables(&other, NULL, 1024);
    restore(&other, &now, m.committed);
    restore(&other, &old, content);
    model_free(content);
    stream_free(&then);
    stream_free(&now);
    stream_free(&old);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

START_TEST(a_reader_inside_a_writer_writes_what_it_sees)
{
    Mirror m;
    Mirror other;
    Stream stream;
    SapTxnCtx *reader = NULL;

    open_tables(&m, NULL, PAGE);
    fill(&m, 30, 0, BIG);
    mirror_begin(&m);
    mirror_put_text(&m, T_PLAIN, "not", "committed");
    ck_assert_int_eq(sap_txn_begin_rc(m.db, mirror_txn(&m), SAP_TXN_RDONLY, &reader), SAP_OK);
    stream_init(&stream);
    ck_assert_int_eq(sap_txn_checkpoint(reader, stream_write, &stream), SAP_OK);
    sap_txn_abort(reader);
    open_tables(&other, NULL, 1024);
    restore(&other, &stream, m.models[0]);
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

/* ---- Refused -------------------------------------------------------------------------------- */

static void small_stream(Stream *stream, Mirror *target)
{
    Mirror m;

    open_tables(&m, NULL, PAGE);
    fill(&m, 6, 0, 30);
    checkpoint(m.db, stream);
    mirror_close(&m);
    open_tables(target, NULL, PAGE);
    fill(target, 9, 1, BIG);
}

/* Damage may look like a table of another nature or like a row that is too long: the checksum says
 * what it is. */
static bool is_damage(int rc)
{
    return rc == SAP_CORRUPT || rc == SAP_INVALID;
}

START_TEST(a_stream_with_any_byte_changed_is_refused)
{
    static const uint8_t masks[] = {0x01, 0x10, 0x80, 0xff};
    Mirror m;
    Stream stream;
    uint64_t tried = 0;

    small_stream(&stream, &m);
    for (size_t i = 0; i < stream.len * 4; i++) {
        stream_rewind(&stream);
        stream.bytes[i / 4] ^= masks[i % 4];
        int rc = sap_db_restore(m.db, stream_read, &stream);
        EXPECT(is_damage(rc), "byte %zu of %zu changed by 0x%02x answered %d", i / 4, stream.len,
               masks[i % 4], rc);
        model_expect_committed(m.committed, m.db);
        stream.bytes[i / 4] ^= masks[i % 4];
        tried++;
    }
    printf("damaged streams: %llu of %zu bytes\n", (unsigned long long)tried, stream.len);
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

START_TEST(a_stream_cut_off_anywhere_is_refused)
{
    Mirror m;
    Stream stream;

    small_stream(&stream, &m);
    size_t whole = stream.len;
    for (size_t len = 0; len < whole; len++) {
        expect_context("cut at %zu of %zu", len, whole);
        stream_rewind(&stream);
        stream.len = len;
        EXPECT_RC(sap_db_restore(m.db, stream_read, &stream), SAP_CORRUPT);
        model_expect_committed(m.committed, m.db);
    }
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

START_TEST(two_bytes_swapped_are_refused)
{
    Mirror m;
    Stream stream;

    small_stream(&stream, &m);
    for (size_t i = 0; i + 1 < stream.len; i++) {
        uint8_t a = stream.bytes[i];
        uint8_t b = stream.bytes[i + 1];
        if (a == b) {
            continue;
        }
        stream_rewind(&stream);
        stream.bytes[i] = b;
        stream.bytes[i + 1] = a;
        int rc = sap_db_restore(m.db, stream_read, &stream);
        EXPECT(is_damage(rc), "bytes %zu and %zu swapped answered %d", i, i + 1, rc);
        model_expect_committed(m.committed, m.db);
        stream.bytes[i] = a;
        stream.bytes[i + 1] = b;
    }
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

START_TEST(what_is_not_a_stream_is_invalid)
{
    static const char *const texts[] = {"SQLite format 3", "no stream at all, but some text that "
                                                           "is long enough for any header there "
                                                           "might be at the beginning of one"};
    Mirror m;
    Stream stream;
    uint8_t bytes[512];

    open_tables(&m, NULL, PAGE);
    fill(&m, 9, 1, BIG);
    stream_init(&stream);
    stream.bytes = bytes;
    stream.len = sizeof bytes;
    for (uint32_t i = 0; i < 4; i++) {
        memset(bytes, i == 2 ? 0xff : 0, sizeof bytes);
        if (i < 2) {
            memcpy(bytes, texts[i], strlen(texts[i]));
        }
        expect_refused(&m, &stream, SAP_INVALID);
    }
    for (uint32_t seed = 1; seed < 200; seed++) {
        for (uint32_t i = 0; i < sizeof bytes; i += 8) {
            store_u64le(bytes + i, hash_u64(seed * 1000 + i));
        }
        expect_refused(&m, &stream, SAP_INVALID);
    }
    mirror_close(&m);
}
END_TEST

START_TEST(what_follows_the_stream_is_not_read)
{
    Mirror m;
    Mirror other;
    Stream stream;

    open_tables(&m, NULL, PAGE);
    fill(&m, 20, 0, BIG);
    checkpoint(m.db, &stream);
    size_t first = stream.len;
    Model *content = model_copy(m.committed);
    ck_assert_int_eq(stream_write("between", 7, &stream), SAP_OK);
    fill(&m, 40, 0, BIG);
    ck_assert_int_eq(sap_db_checkpoint(m.db, stream_write, &stream), SAP_OK);
    open_tables(&other, NULL, PAGE);
    restore(&other, &stream, content);
    ck_assert_uint_eq(stream.at, first);
    stream.at += 7;
    ck_assert_int_eq(sap_db_restore(other.db, stream_read, &stream), SAP_OK);
    adopt(&other, m.committed);
    ck_assert_uint_eq(stream.at, stream.len);
    model_free(content);
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

/* ---- The layout ----------------------------------------------------------------------------- */

/* One table as the documentation describes it, and its rows. */
typedef struct TableBytes {
    uint8_t follows;
    uint16_t number;
    uint16_t flags;
    uint8_t key_order;
    uint8_t value_order;
    uint16_t name_len;
    uint64_t row_count;
    const char *rows[6]; /* keys and values in turn, up to NULL */
} TableBytes;

static void add_bytes(Stream *stream, const void *bytes, size_t len)
{
    EXPECT_RC(stream_write(bytes, (uint32_t)len, stream), SAP_OK);
}

static void add_number(Stream *stream, uint64_t number, size_t len)
{
    uint8_t bytes[8];

    store_u64le(bytes, number);
    add_bytes(stream, bytes, len);
}

static void add_table(Stream *stream, const TableBytes *table)
{
    add_number(stream, table->follows, 1);
    add_number(stream, table->number, 2);
    add_number(stream, table->flags, 2);
    add_number(stream, table->key_order, 1);
    add_number(stream, table->value_order, 1);
    add_number(stream, table->name_len, 2);
    add_bytes(stream, filler, table->name_len);
    add_number(stream, table->row_count, 8);
    for (size_t i = 0; i < 6 && table->rows[i] != NULL; i += 2) {
        add_number(stream, strlen(table->rows[i]), 4);
        add_number(stream, strlen(table->rows[i + 1]), 4);
        add_bytes(stream, table->rows[i], strlen(table->rows[i]));
        add_bytes(stream, table->rows[i + 1], strlen(table->rows[i + 1]));
    }
}

static void build_stream(Stream *stream, const TableBytes *tables, size_t count)
{
    stream_init(stream);
    add_bytes(stream, "SAPSTRM1", 8);
    for (size_t i = 0; i < count; i++) {
        add_table(stream, &tables[i]);
    }
    add_number(stream, 0, 1);
    add_number(stream, hash_bytes(stream->bytes, stream->len, 0), 8);
}

START_TEST(a_stream_is_laid_out_as_documented)
{
    static const TableBytes tables[] = {
        {1, 0, 0, 0, 0, 0, 2, {"a", "1", "b", "", NULL, NULL}},
        {1, 2, 0, 1, 0, 0, 2, {"b", "2", "a", "1", NULL, NULL}},
        {1, 3, SAP_DBI_DUPSORT, 0, 0, 0, 3, {"k", "", "k", "v", "l", ""}},
        {1, 4, SAP_DBI_DUPSORT, 1, 1, 0, 2, {"k", "w", "k", "v", NULL, NULL}},
        {1, 900, SAP_DBI_DUPSORT, 0, 0, 0, 0, {NULL, NULL, NULL, NULL, NULL, NULL}},
        {1, 1023, SAP_DBI_TTL_META, 0, 0, 0, 0, {NULL, NULL, NULL, NULL, NULL, NULL}}};
    Mirror m;
    Mirror other;
    Stream built;
    Stream written;

    open_tables(&m, NULL, PAGE);
    mirror_begin(&m);
    mirror_put_text(&m, T_PLAIN, "a", "1");
    mirror_put_text(&m, T_PLAIN, "b", "");
    mirror_put_text(&m, T_REVERSE, "a", "1");
    mirror_put_text(&m, T_REVERSE, "b", "2");
    mirror_put_text(&m, T_DUP, "k", "v");
    mirror_put_text(&m, T_DUP, "l", "");
    mirror_put_text(&m, T_DUP, "k", "");
    mirror_put_text(&m, T_DUP_REVERSE, "k", "v");
    mirror_put_text(&m, T_DUP_REVERSE, "k", "w");
    mirror_commit(&m);
    checkpoint(m.db, &written);
    build_stream(&built, tables, 6);
    expect_same_bytes(&built, &written);
    open_tables(&other, NULL, PAGE);
    restore(&other, &built, m.committed);
    stream_free(&built);
    stream_free(&written);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

START_TEST(a_stream_that_breaks_the_layout_is_refused_despite_its_checksum)
{
    static const struct {
        const char *name;
        TableBytes tables[2];
    } broken[] = {
        {"another mark", {{2, 0, 0, 0, 0, 0, 1, {"k", "v"}}, {0}}},
        {"a number above the last", {{1, 1024, 0, 0, 0, 0, 1, {"k", "v"}}, {0}}},
        {"unknown flags", {{1, 8, 4, 0, 0, 0, 1, {"k", "v"}}, {0}}},
        {"flags that exclude each other", {{1, 8, 3, 0, 0, 0, 1, {"k", "v"}}, {0}}},
        {"an unknown order of keys", {{1, 8, 0, 2, 0, 0, 1, {"k", "v"}}, {0}}},
        {"an unknown order of values", {{1, 8, 1, 0, 2, 0, 1, {"k", "v"}}, {0}}},
        {"an order of values without pairs", {{1, 8, 0, 0, 1, 0, 1, {"k", "v"}}, {0}}},
        {"byte order that has a name", {{1, 8, 0, 0, 0, 5, 1, {"k", "v"}}, {0}}},
        {"no rows and no flags", {{1, 8, 0, 0, 0, 0, 0, {NULL}}, {0}}},
        {"fewer rows than it says", {{1, 8, 0, 0, 0, 0, 2, {"k", "v"}}, {0}}},
        {"more rows than it says", {{1, 8, 0, 0, 0, 0, 1, {"k", "v", "l", "v"}}, {0}}},
        {"rows that descend", {{1, 8, 0, 0, 0, 0, 2, {"l", "v", "k", "v"}}, {0}}},
        {"a row twice", {{1, 8, 0, 0, 0, 0, 2, {"k", "v", "k", "w"}}, {0}}},
        {"pairs that descend", {{1, 8, 1, 0, 0, 0, 2, {"k", "w", "k", "v"}}, {0}}},
        {"a pair twice", {{1, 8, 1, 0, 0, 0, 2, {"k", "v", "k", "v"}}, {0}}},
        {"a table twice", {{1, 8, 0, 0, 0, 0, 1, {"k", "v"}}, {1, 8, 0, 0, 0, 0, 1, {"l", "v"}}}},
        {"tables that descend",
         {{1, 9, 0, 0, 0, 0, 1, {"k", "v"}}, {1, 8, 0, 0, 0, 0, 1, {"k", "v"}}}},
    };
    Mirror m;

    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        Stream stream;
        expect_context("%s", broken[i].name);
        open_tables(&m, NULL, PAGE);
        fill(&m, 9, 1, BIG);
        build_stream(&stream, broken[i].tables, broken[i].tables[1].follows != 0 ? 2 : 1);
        int rc = sap_db_restore(m.db, stream_read, &stream);
        EXPECT(rc == SAP_CORRUPT || rc == SAP_ERROR, "answered %d", rc);
        model_expect_committed(m.committed, m.db);
        stream_free(&stream);
        mirror_close(&m);
    }
}
END_TEST

START_TEST(a_length_that_the_stream_does_not_keep_is_refused)
{
    Mirror m;
    Stream stream;
    TableBytes table = {1, 0, 0, 0, 0, 0, 1, {NULL}};

    open_tables(&m, NULL, PAGE);
    fill(&m, 9, 1, BIG);
    stream_init(&stream);
    add_bytes(&stream, "SAPSTRM1", 8);
    add_table(&stream, &table);
    add_number(&stream, 1, 4);
    add_number(&stream, SAP_MAX_VAL_LEN, 4);
    add_bytes(&stream, "k and not much of a value", 25);
    expect_refused(&m, &stream, SAP_CORRUPT);
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

/* ---- Callbacks that fail -------------------------------------------------------------------- */

START_TEST(a_writer_that_fails_ends_the_checkpoint_with_its_code)
{
    static const int codes[] = {SAP_IO, SAP_FULL, SAP_NOTFOUND, -1, 4711};
    Mirror m;
    uint64_t failed = 0;

    open_tables(&m, NULL, PAGE);
    fill(&m, 60, 0, BIG);
    for (uint64_t call = 1;; call++) {
        Stream stream;
        SapTxnCtx *reader = NULL;
        int code = codes[call % 5];
        stream_init(&stream);
        stream.fail_call = call;
        stream.fail_rc = code;
        EXPECT_RC(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
        int rc = call % 2 == 0 ? sap_txn_checkpoint(reader, stream_write, &stream)
                               : sap_db_checkpoint(m.db, stream_write, &stream);
        sap_txn_abort(reader);
        uint64_t calls = stream.calls;
        stream_free(&stream);
        if (calls < call) {
            EXPECT_RC(rc, SAP_OK);
            break;
        }
        EXPECT(rc == code, "call %llu failed with %d and the checkpoint with %d",
               (unsigned long long)call, code, rc);
        failed++;
    }
    /* Nothing is held open. */
    mirror_begin(&m);
    mirror_put_text(&m, T_PLAIN, "k", "v");
    mirror_commit(&m);
    printf("writers: %llu failed\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 0);
    mirror_close(&m);
}
END_TEST

START_TEST(a_reader_that_fails_ends_the_restore_with_its_code)
{
    static const int codes[] = {SAP_IO, SAP_BUSY, SAP_NOTFOUND, -1, 4711};
    Mirror m;
    Mirror other;
    Stream stream;
    uint64_t failed = 0;

    open_tables(&m, NULL, PAGE);
    fill(&m, 60, 0, BIG);
    checkpoint(m.db, &stream);
    open_tables(&other, NULL, PAGE);
    fill(&other, 10, 0, BIG);
    for (uint64_t call = 1;; call++) {
        int code = codes[call % 5];
        stream_rewind(&stream);
        stream.fail_call = call;
        stream.fail_rc = code;
        int rc = sap_db_restore(other.db, stream_read, &stream);
        if (stream.calls < call) {
            EXPECT_RC(rc, SAP_OK);
            break;
        }
        EXPECT(rc == code, "call %llu failed with %d and the restore with %d",
               (unsigned long long)call, code, rc);
        model_expect_committed(other.committed, other.db);
        failed++;
    }
    adopt(&other, m.committed);
    printf("readers: %llu failed\n", (unsigned long long)failed);
    ck_assert_uint_gt(failed, 0);
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

/* ---- Busy and misuse ------------------------------------------------------------------------ */

START_TEST(a_restore_is_busy_while_a_transaction_is_open)
{
    Mirror m;
    Stream stream;
    SapTxnCtx *reader = NULL;

    open_tables(&m, NULL, PAGE);
    fill(&m, 20, 0, BIG);
    checkpoint(m.db, &stream);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    stream_rewind(&stream);
    ck_assert_int_eq(sap_db_restore(m.db, stream_read, &stream), SAP_BUSY);
    ck_assert_uint_eq(stream.calls, 0);
    sap_txn_abort(reader);
    mirror_begin(&m);
    ck_assert_int_eq(sap_db_restore(m.db, stream_read, &stream), SAP_BUSY);
    mirror_put_text(&m, T_PLAIN, "k", "v");
    mirror_commit(&m);
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

START_TEST(misuse_is_refused)
{
    Mirror m;
    Stream stream;
    SapTxnCtx *reader = NULL;

    open_tables(&m, NULL, PAGE);
    fill(&m, 20, 0, BIG);
    stream_init(&stream);
    ck_assert_int_eq(sap_db_checkpoint(NULL, stream_write, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_db_checkpoint(m.db, NULL, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_txn_checkpoint(NULL, stream_write, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_db_restore(NULL, stream_read, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_db_restore(m.db, NULL, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_txn_begin_rc(m.db, NULL, SAP_TXN_RDONLY, &reader), SAP_OK);
    ck_assert_int_eq(sap_txn_checkpoint(reader, NULL, &stream), SAP_ERROR);
    SapTxnCtx *child = NULL;
    ck_assert_int_eq(sap_txn_begin_rc(m.db, reader, SAP_TXN_RDONLY, &child), SAP_OK);
    ck_assert_int_eq(sap_txn_checkpoint(reader, stream_write, &stream), SAP_BUSY);
    sap_txn_abort(reader);
    ck_assert_uint_eq(stream.calls, 0);
    mirror_close(&m);
}
END_TEST

START_TEST(rows_that_do_not_fit_the_page_size_are_full)
{
    Mirror wide;
    Mirror narrow;
    Stream stream;

    for (size_t t = 0; t < 2; t++) {
        mirror_open(&wide, NULL, 4096, ORDER_BYTES);
        mirror_add(&wide, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
        mirror_begin(&wide);
        mirror_put_text(&wide, 0, "a", "v");
        if (t == 0) {
            mirror_put(&wide, 0, filler, 1000, "v", 1);
        } else {
            mirror_put(&wide, 1, "k", 1, filler, 1000);
        }
        mirror_commit(&wide);
        checkpoint(wide.db, &stream);
        mirror_open(&narrow, NULL, PAGE, ORDER_BYTES);
        mirror_add(&narrow, DUP, ORDER_BYTES, SAP_DBI_DUPSORT);
        mirror_begin(&narrow);
        mirror_put_text(&narrow, 0, "kept", "v");
        mirror_commit(&narrow);
        expect_refused(&narrow, &stream, SAP_FULL);
        stream_free(&stream);
        mirror_close(&wide);
        mirror_close(&narrow);
    }
}
END_TEST

/* Restores a stream of one table with the given nature into a DB where it has another. */
static void expect_unfit(OrderKind order, unsigned flags, OrderKind into_order, unsigned into_flags,
                         bool open, int expected)
{
    Mirror m;
    Mirror other;
    Stream stream;
    Model *content;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    size_t t = mirror_add(&m, 8, order, flags);
    mirror_begin(&m);
    if ((flags & SAP_DBI_TTL_META) == 0) {
        mirror_put_text(&m, t, "k", "v");
    }
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    mirror_open(&other, NULL, PAGE, ORDER_BYTES);
    if (open) {
        mirror_add(&other, 8, into_order, into_flags);
    }
    mirror_begin(&other);
    mirror_put_text(&other, 0, "kept", "v");
    mirror_commit(&other);
    if (expected == SAP_OK) {
        content = model_copy(other.committed);
        model_del(&content->tables[0], "kept", 4);
        if (open) {
            model_put(&content->tables[1], "k", 1, "v", 1);
        }
        restore(&other, &stream, content);
        model_free(content);
    } else {
        expect_refused(&other, &stream, expected);
    }
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
}

START_TEST(a_table_must_be_of_the_same_nature)
{
    expect_unfit(ORDER_BYTES, 0, ORDER_BYTES, 0, true, SAP_OK);
    expect_unfit(ORDER_BYTES, 0, ORDER_BYTES, 0, false, SAP_OK);
    expect_unfit(ORDER_REVERSE, 0, ORDER_REVERSE, 0, true, SAP_OK);
    expect_unfit(ORDER_BYTES, 0, ORDER_BYTES, SAP_DBI_DUPSORT, true, SAP_ERROR);
    expect_unfit(ORDER_BYTES, SAP_DBI_DUPSORT, ORDER_BYTES, 0, true, SAP_ERROR);
    expect_unfit(ORDER_BYTES, SAP_DBI_TTL_META, ORDER_BYTES, 0, true, SAP_ERROR);
    expect_unfit(ORDER_BYTES, 0, ORDER_BYTES, SAP_DBI_TTL_META, true, SAP_ERROR);
    expect_unfit(ORDER_REVERSE, 0, ORDER_BYTES, 0, true, SAP_ERROR);
    expect_unfit(ORDER_BYTES, 0, ORDER_REVERSE, 0, true, SAP_ERROR);
    expect_unfit(ORDER_REVERSE, 0, ORDER_BYTES, 0, false, SAP_ERROR);
}
END_TEST

START_TEST(values_in_an_order_of_their_own_need_their_comparator)
{
    Mirror m;
    Stream stream;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    SapEnv *db = sap_db_open(NULL, PAGE, NULL, NULL);
    size_t t = mirror_add_dupsort(&m, 8, ORDER_BYTES, ORDER_REVERSE);
    mirror_begin(&m);
    mirror_put_text(&m, t, "k", "1");
    mirror_put_text(&m, t, "k", "2");
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    ck_assert_int_eq(sap_db_restore(db, stream_read, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(db, 8, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    stream_rewind(&stream);
    ck_assert_int_eq(sap_db_restore(db, stream_read, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_set_dupsort(db, 8, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE)),
                     SAP_OK);
    stream_rewind(&stream);
    ck_assert_int_eq(sap_db_restore(db, stream_read, &stream), SAP_OK);
    model_expect_committed(m.committed, db);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
    stream_free(&stream);
    mirror_close(&m);
}
END_TEST

/* A comparator of the same kind that orders otherwise: the rows do not ascend in it. */
START_TEST(rows_in_another_order_are_refused)
{
    Mirror m;
    Mirror other;
    Stream stream;

    mirror_open(&m, NULL, PAGE, ORDER_REVERSE);
    mirror_begin(&m);
    for (uint32_t i = 0; i < 100; i++) {
        uint8_t key[4];
        store_u32be(key, i);
        mirror_put(&m, 0, key, 4, "v", 1);
    }
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    mirror_open(&other, NULL, PAGE, ORDER_LENGTH);
    mirror_begin(&other);
    mirror_put_text(&other, 0, "kept", "v");
    mirror_commit(&other);
    int rc = sap_db_restore(other.db, stream_read, &stream);
    ck_assert(rc == SAP_CORRUPT || rc == SAP_ERROR || rc == SAP_INVALID);
    model_expect_committed(other.committed, other.db);
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
}
END_TEST

START_TEST(an_arena_without_room_for_the_content_keeps_the_old)
{
    Mirror m;
    Mirror other;
    Backing backing;
    Stream stream;

    mirror_open(&m, NULL, PAGE, ORDER_BYTES);
    mirror_begin(&m);
    mirror_put(&m, 0, "big", 3, filler, BIG);
    for (uint32_t i = 0; i < 3000; i++) {
        uint8_t key[4];
        store_u32be(key, i);
        mirror_put(&m, 0, key, 4, filler, 40);
    }
    mirror_commit(&m);
    checkpoint(m.db, &stream);
    backing_open(&backing, BACKING_LINEAR, PAGE, 64 * 1024);
    mirror_open(&other, backing.arena, PAGE, ORDER_BYTES);
    mirror_begin(&other);
    mirror_put_text(&other, 0, "kept", "v");
    mirror_commit(&other);
    uint64_t pages = sap_db_num_pages(other.db);
    expect_refused(&other, &stream, SAP_FULL);
    ck_assert_uint_eq(sap_db_num_pages(other.db), pages);
    stream_free(&stream);
    mirror_close(&m);
    mirror_close(&other);
    backing_close(&backing);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_stream");
    TCase *tcase = tcase_create("stream");

    for (uint32_t i = 0; i < BIG; i++) {
        filler[i] = (uint8_t)(i * 23 + i / 256);
    }
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, the_same_content_is_the_same_bytes_whatever_its_history);
    tcase_add_test(tcase, the_same_content_is_the_same_bytes_in_every_page_size_and_arena);
    tcase_add_test(tcase, loading_and_putting_give_the_same_bytes);
    tcase_add_test(tcase, other_content_is_other_bytes);
    tcase_add_test(tcase, rows_that_join_to_the_same_bytes_are_told_apart);
    tcase_add_test(tcase, what_is_restored_is_what_was_written);
    tcase_add_test(tcase, an_empty_db_can_be_written_and_restored);
    tcase_add_test(tcase, a_restore_gives_the_pages_of_the_old_content_back);
    tcase_add_test(tcase, tables_in_byte_order_are_opened_by_a_restore);
    tcase_add_test(tcase, tables_that_the_stream_does_not_have_are_emptied);
    tcase_add_test(tcase, a_restore_is_a_commit);
    tcase_add_test(tcase, large_values_and_many_rows_come_back);
    tcase_add_test(tcase, an_old_snapshot_can_be_written_while_a_writer_goes_on);
    tcase_add_test(tcase, a_reader_inside_a_writer_writes_what_it_sees);
    tcase_add_test(tcase, a_stream_with_any_byte_changed_is_refused);
    tcase_add_test(tcase, a_stream_cut_off_anywhere_is_refused);
    tcase_add_test(tcase, two_bytes_swapped_are_refused);
    tcase_add_test(tcase, what_is_not_a_stream_is_invalid);
    tcase_add_test(tcase, what_follows_the_stream_is_not_read);
    tcase_add_test(tcase, a_stream_is_laid_out_as_documented);
    tcase_add_test(tcase, a_stream_that_breaks_the_layout_is_refused_despite_its_checksum);
    tcase_add_test(tcase, a_length_that_the_stream_does_not_keep_is_refused);
    tcase_add_test(tcase, a_writer_that_fails_ends_the_checkpoint_with_its_code);
    tcase_add_test(tcase, a_reader_that_fails_ends_the_restore_with_its_code);
    tcase_add_test(tcase, a_restore_is_busy_while_a_transaction_is_open);
    tcase_add_test(tcase, misuse_is_refused);
    tcase_add_test(tcase, rows_that_do_not_fit_the_page_size_are_full);
    tcase_add_test(tcase, a_table_must_be_of_the_same_nature);
    tcase_add_test(tcase, values_in_an_order_of_their_own_need_their_comparator);
    tcase_add_test(tcase, rows_in_another_order_are_refused);
    tcase_add_test(tcase, an_arena_without_room_for_the_content_keeps_the_old);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
