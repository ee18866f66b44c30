/* Databases damaged in every way that a test can think of: what db_recover makes of them has every row
 * that is not on the damaged pages, and none that was never committed. The source is never changed. */
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/env.h"
#include "sapling/wal_format.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/forge.h"
#include "support/model.h"
#include "support/rowset.h"
#include "support/stream.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 600,
    LONG_KEY = 300, /* of a table whose separators are whole keys: three levels */
    SMALL_KEY = 8,
    VALUE = 150,
    BIG = 9000,
    ROUNDS = 4, /* checkpoints that leave older pages behind */
    MAIN = 0,
    PAIRS = 1,
    DATA = 2,
    EXPIRY = 3,
    REVERSE = 4,
    PAIRS_BY_LENGTH = 5,
    EMPTY = 6,
    TABLES = 7,
    MAX_PAGES = 4096,
    COMMITS = 12,
    SEEDS = 60,
};

typedef enum Hurt { HURT_ZEROS, HURT_RANDOM, HURT_BIT, HURTS } Hurt;

static const char *const hurt_names[HURTS] = {"zeros", "random bytes", "one bit"};

static FileBed bed;
static FileBed out; /* where targets go */
static Rng rng;
static size_t live_before;
static char messages[16384];
static uint32_t message_count;

static void note_message(const char *text, void *ctx)
{
    size_t len = strlen(messages);

    (void)ctx;
    message_count++;
    snprintf(messages + len, sizeof messages - len, "%s\n", text);
}

static void setup(void)
{
    live_before = mem_live_total();
    file_bed_start(&bed);
    file_bed_start(&out);
    bed.options.max_size = out.options.max_size = UINT64_C(64) << 20;
    bed.options.checkpoint_bytes = 256 << 10; /* small segments */
    bed.options.checkpoint_period_ms = 3600 * 1000;
    rng_seed(&rng, 1);
}

static void teardown(void)
{
    file_bed_end(&bed);
    file_bed_end(&out);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void open_tables(SapEnv *db)
{
    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, DATA, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, EXPIRY, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    EXPECT_RC(sap_dbi_open_named(db, REVERSE, files_order_name(ORDER_REVERSE), 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, PAIRS_BY_LENGTH, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(
        sap_dbi_set_dupsort(db, PAIRS_BY_LENGTH, order_cmp(ORDER_LENGTH), order_ctx(ORDER_LENGTH)),
        SAP_OK);
    EXPECT_RC(sap_dbi_open(db, EMPTY, NULL, NULL, 0), SAP_OK);
}

static SapTxnCtx *begin(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    return txn;
}

/* The rows of round n: some new ones, some replaced, some gone. */
static void change_rows(SapEnv *db, uint32_t round)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = begin(db);
    uint8_t value[VALUE];
    char key[LONG_KEY];

    for (uint32_t i = 0; i < 90; i++) {
        uint32_t n = (i + round * 2) * 7; /* most rows of the round before get another value */
        memset(key, 'k', sizeof key);
        snprintf(key, sizeof key, "%07u", n);
        key[7] = 'x';
        memset(value, 'a' + (int)round, sizeof value);
        snprintf((char *)value, sizeof value, "%u of %u", n, round);
        EXPECT_RC(sap_txn_put(txn, key, SMALL_KEY, value, VALUE), SAP_OK);
        if (i % 9 == 0) {
            memset(big, 'A' + (int)(i / 9), BIG);
            snprintf((char *)big, sizeof big, "%u of %u", n, round);
            EXPECT_RC(sap_txn_put(txn, key, SMALL_KEY, big, BIG - i), SAP_OK);
        }
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, key, 5, value, 60), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS_BY_LENGTH, key, 5, value, 20 + i), SAP_OK);
        EXPECT_RC(sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, key, SMALL_KEY, value, 80, i + round),
                  SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, REVERSE, key, LONG_KEY, value, 90), SAP_OK);
        if (i % 5 == 0 && round > 0) {
            snprintf(key, sizeof key, "%07u", (i + round * 2) * 7 - 7);
            key[7] = 'x';
            (void)sap_txn_del(txn, key, SMALL_KEY);
            (void)sap_txn_del_dbi(txn, REVERSE, key, LONG_KEY);
            (void)sap_txn_del_dbi(txn, PAIRS, key, 5);
        }
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

/* A closed file with a history; *ever (may be NULL) has all rows that were ever committed. */
static void make_file(RowSet *ever)
{
    SapEnv *db = file_bed_open(&bed);

    open_tables(db);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        RowSet rows;
        change_rows(db, round);
        EXPECT_RC(sap_db_sync(db), SAP_OK);
        rowset_of_db(&rows, db);
        if (ever != NULL) {
            rowset_join(ever, &rows);
        }
        rowset_free(&rows);
    }
    file_bed_close(db);
    if (ever != NULL) {
        rowset_sort(ever);
    }
}

/* Commit n, each a group of its own: puts row n, changes one that stays, deletes one from before. */
static void make_commits(void *arg)
{
    SapEnv *db = file_bed_open(&bed);
    uint32_t value_len = *(const uint32_t *)arg;
    uint8_t *value = calloc(1, (size_t)value_len + 1);
    char key[20];

    EXPECT(value != NULL, "no memory");
    for (uint32_t n = 1; n <= COMMITS; n++) {
        SapTxnCtx *txn = begin(db);
        snprintf(key, sizeof key, "commit-%05u", n);
        memset(value, 'a' + (int)n, value_len);
        EXPECT_RC(sap_txn_put(txn, key, 12, value, value_len), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, DATA, "last", 4, key, 12), SAP_OK);
        snprintf(key, sizeof key, "commit-%05u", n - 3);
        EXPECT_RC(sap_txn_del(txn, key, 12), n > 3 ? SAP_OK : SAP_NOTFOUND);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    free(value);
}

/* A file that was not closed, with COMMITS groups in its log. */
static void make_unclosed(uint32_t value_len)
{
    make_file(NULL);
    files_in_child(make_commits, &value_len);
}

/* ---- Recovering ------------------------------------------------------------------------------ */

static SapRecoverOptions recover_options(void)
{
    return (SapRecoverOptions){.comparators = files_comparators(),
                               .comparator_count = ORDER_COUNT - 1,
                               .on_message = note_message};
}

static int try_recover(const char *target, SapRecoverReport *report)
{
    SapRecoverOptions options = recover_options();

    messages[0] = 0;
    message_count = 0;
    memset(report, 0x5a, sizeof *report);
    return sap_db_recover(bed.path, target, &options, report);
}

/* Recovers the source to out.path, looks that only looking says the same, that the source is as it
 * was, and that the target is sound; its rows, sorted. */
static SapRecoverReport recover_rows_of(RowSet *rows)
{
    SapRecoverReport report;
    SapRecoverReport looked;
    Image *before = image_take(bed.dir);

    crash_dir_empty(out.dir);
    EXPECT_RC(try_recover(NULL, &looked), SAP_OK);
    uint32_t said = message_count;
    EXPECT_RC(try_recover(out.path, &report), SAP_OK);
    EXPECT(memcmp(&report, &looked, sizeof report) == 0, "looking and doing differ:\n%s", messages);
    EXPECT(said == message_count, "looking said %u things, doing %u", said, message_count);
    image_expect_same(before, bed.dir);
    image_free(before);
    SapEnv *db = file_bed_open(&out);
    EXPECT(file_bed_messages(&out) == 0, "the target: %s", out.message);
    model_expect_verified(db);
    rowset_of_db(rows, db);
    EXPECT(rows->count == report.rows, "%zu rows, and the report has %" PRIu64, rows->count,
           report.rows);
    file_bed_close(db);
    return report;
}

/* Everything of `expected` is there, and nothing else. */
static void expect_rows(const RowSet *rows, const RowSet *expected)
{
    for (size_t i = 0; i < expected->count; i++) {
        EXPECT(rowset_has(rows, &expected->rows[i]), "a row of table %u is missing:\n%s",
               expected->rows[i].dbi, messages);
    }
    for (size_t i = 0; i < rows->count; i++) {
        EXPECT(rowset_has(expected, &rows->rows[i]),
               "a row of table %u is invented (\"%.*s\"):\n%s", rows->rows[i].dbi,
               (int)rows->rows[i].key_len, (const char *)rows->rows[i].key, messages);
    }
}

static void hurt_bytes(uint8_t *bytes, size_t len, Hurt hurt)
{
    switch (hurt) {
    case HURT_ZEROS:
        memset(bytes, 0, len);
        break;
    case HURT_RANDOM:
        rng_bytes(&rng, bytes, len);
        break;
    default:
        bytes[rng_below(&rng, len)] ^= (uint8_t)(1u << rng_below(&rng, 8));
        break;
    }
}

static void hurt_file(const char *path, uint64_t offset, size_t len, Hurt hurt)
{
    size_t size = 0;
    uint8_t *bytes = files_read(path, &size);

    EXPECT(offset + len <= size, "the file is shorter");
    hurt_bytes(bytes + offset, len, hurt);
    files_write_at(path, offset, bytes + offset, len);
    free(bytes);
}

/* ---- Sound files ----------------------------------------------------------------------------- */

static void stream_of(FileBed *where, Stream *stream)
{
    SapEnv *db = file_bed_open(where);

    stream_init(stream);
    EXPECT_RC(sap_db_checkpoint(db, stream_write, stream), SAP_OK);
    file_bed_close(db);
}

static void expect_same_stream(void)
{
    Stream before;
    Stream after;

    stream_of(&out, &after);
    stream_of(&bed, &before);
    ck_assert_uint_gt(before.len, 0);
    ck_assert_uint_eq(before.len, after.len);
    ck_assert_int_eq(memcmp(before.bytes, after.bytes, before.len), 0);
    stream_free(&before);
    stream_free(&after);
}

static void expect_nothing_lost(const SapRecoverReport *report)
{
    EXPECT(report->pages_damaged == 0 && report->rows_unplaced == 0 && report->commits_lost == 0 &&
               report->first_lost_lsn == 0 && report->last_lost_lsn == 0 &&
               report->tables_lost == 0 && report->rows_lost == 0 && report->doubtful == 0 &&
               report->subsystems_lost == 0,
           "something is lost of a sound file:\n%s", messages);
}

START_TEST(sound_file_is_rebuilt_with_the_same_content)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        RowSet rows;
        crash_dir_empty(bed.dir);
        bed.options.page_size = files_page_sizes[i];
        make_file(NULL);
        SapRecoverReport report = recover_rows_of(&rows);
        expect_nothing_lost(&report);
        ck_assert_uint_eq(report.tables, TABLES);
        ck_assert_uint_eq(message_count, 0);
        expect_same_stream();
        rowset_free(&rows);
    }
}
END_TEST

/* The copy that compaction leaves in place of the file: it has no log. */
static void make_copy(void)
{
    char copy[FILES_PATH_MAX + 8];

    make_file(NULL);
    snprintf(copy, sizeof copy, "%s-copy", bed.path);
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_db_compact(db, copy), SAP_OK);
    file_bed_close(db);
    size_t size = 0;
    uint8_t *bytes = files_read(copy, &size);
    crash_dir_empty(bed.dir);
    FILE *file = fopen(bed.path, "w");
    EXPECT(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "no copy");
    free(bytes);
}

START_TEST(copy_that_has_no_log_misses_none)
{
    RowSet rows;

    make_copy();
    SapRecoverReport report = recover_rows_of(&rows);
    expect_nothing_lost(&report);
    ck_assert_uint_eq(message_count, 0);
    expect_same_stream();
    rowset_free(&rows);
}
END_TEST

/* Its header was written anew since, and that is lost: the log tells. */
START_TEST(copy_whose_newest_header_is_lost_keeps_its_log)
{
    RowSet rows;
    size_t size = 0;

    make_copy();
    uint8_t *header = files_read(bed.path, &size);
    uint32_t value_len = 100;
    files_in_child(make_commits, &value_len);
    files_write_at(bed.path, 0, header, FILE_HEADER);
    free(header);
    SapRecoverReport report = recover_rows_of(&rows);
    EXPECT(report.commits_replayed > 0 && report.commits_lost == 0, "%s", messages);
    rowset_free(&rows);
}
END_TEST

START_TEST(log_of_a_file_that_was_not_closed_is_replayed)
{
    RowSet rows;

    make_unclosed(100);
    SapRecoverReport report = recover_rows_of(&rows);
    expect_nothing_lost(&report);
    ck_assert_uint_eq(report.commits_replayed, COMMITS);
    ck_assert_uint_eq(message_count, 0);
    expect_same_stream();
    rowset_free(&rows);
}
END_TEST

static void define_and_die(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    (void)arg;
    open_tables(db);
    change_rows(db, 0);
}

START_TEST(tables_that_only_the_log_knows_are_there)
{
    RowSet rows;

    files_in_child(define_and_die, NULL);
    SapRecoverReport report = recover_rows_of(&rows);
    expect_nothing_lost(&report);
    ck_assert_uint_eq(report.tables, TABLES);
    ck_assert_uint_gt(report.rows, 0);
    expect_same_stream();
    rowset_free(&rows);
}
END_TEST

START_TEST(empty_database_is_rebuilt_empty)
{
    RowSet rows;

    file_bed_close(file_bed_open(&bed));
    SapRecoverReport report = recover_rows_of(&rows);
    expect_nothing_lost(&report);
    ck_assert_uint_eq(rows.count, 0);
    ck_assert_uint_eq(report.tables, 1);
    expect_same_stream();
    rowset_free(&rows);
}
END_TEST

/* ---- One page -------------------------------------------------------------------------------- */

static bool row_is_on(const SetRow *row, uint32_t pgno)
{
    return row->leaf == pgno ||
           (row->run != 0 && pgno >= row->run && pgno - row->run < row->run_pages);
}

static void split_by_page(const RowSet *all, uint32_t pgno, RowSet *kept, uint64_t *on_page)
{
    memset(kept, 0, sizeof *kept);
    *on_page = 0;
    for (size_t i = 0; i < all->count; i++) {
        const SetRow *row = &all->rows[i];
        if (row_is_on(row, pgno)) {
            (*on_page)++;
        } else {
            rowset_add(kept, row->dbi, row->key, row->key_len, row->key + row->key_len,
                       row->val_len);
        }
    }
    rowset_sort(kept);
}

static bool page_is_used(Forge *forge, uint32_t pgno)
{
    const uint8_t *bits = forge_page(forge, forge->meta.bitmap) + PAGE_HEADER;

    return (bits[pgno / 8] >> (pgno % 8) & 1) != 0;
}

static bool page_is_bitmap(const Forge *forge, uint32_t pgno)
{
    return pgno >= forge->meta.bitmap && pgno - forge->meta.bitmap < forge->meta.bitmap_pages;
}

typedef struct PageCounts {
    uint64_t trials, used, with_loss, bitmap, catalog, unplaced;
} PageCounts;

/* Bytes of a page or run behind what its checksum covers: damage there is none. */
static bool is_covered(Forge *forge, const RowSet *all, uint32_t pgno)
{
    for (size_t i = 0; i < all->count; i++) {
        const SetRow *row = &all->rows[i];
        if (row->run != 0 && row->run + row->run_pages - 1 == pgno) {
            return false; /* its last page may be covered in part */
        }
    }
    return page_is_used(forge, pgno) || page_is_bitmap(forge, pgno);
}

static void damage_page(Forge *forge, const RowSet *all, uint32_t pgno, Hurt hurt,
                        PageCounts *counts)
{
    RowSet kept;
    RowSet rows;
    uint64_t on_page = 0;
    uint32_t page_size = forge->meta.page_size;
    uint64_t at = (uint64_t)pgno * page_size;
    bool catalog = pgno == forge->meta.catalog;
    /* One bit of a page whose bytes are not all covered is one that is. */
    size_t len = hurt == HURT_BIT && !is_covered(forge, all, pgno) ? PAGE_HEADER : page_size;

    expect_context("page %u, %s", pgno, hurt_names[hurt]);
    forge_write_data(forge, bed.path);
    hurt_file(bed.path, at, len, hurt);
    split_by_page(all, pgno, &kept, &on_page);
    SapRecoverReport report = recover_rows_of(&rows);
    expect_rows(&rows, &kept);
    bool matters = page_is_used(forge, pgno) || page_is_bitmap(forge, pgno);
    EXPECT((report.pages_damaged > 0) == matters, "%" PRIu64 " damaged pages:\n%s",
           report.pages_damaged, messages);
    EXPECT((message_count > 0) == matters, "%u messages:\n%s", message_count, messages);
    EXPECT(report.rows_lost == on_page, "%" PRIu64 " rows lost, not %" PRIu64 ":\n%s",
           report.rows_lost, on_page, messages);
    EXPECT(report.commits_lost == 0 && report.doubtful == 0, "the log was not touched");
    counts->trials++;
    counts->used += matters ? 1 : 0;
    counts->with_loss += on_page > 0 ? 1 : 0;
    counts->bitmap += page_is_bitmap(forge, pgno) ? 1 : 0;
    counts->catalog += catalog ? 1 : 0;
    counts->unplaced += report.rows_unplaced > 0 ? 1 : 0;
    rowset_free(&rows);
    rowset_free(&kept);
}

START_TEST(each_page_damaged_costs_the_rows_on_it_and_no_others)
{
    Forge forge;
    RowSet all;
    PageCounts counts = {0};

    make_file(NULL);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    for (uint32_t pgno = file_first_page(forge.meta.page_size); pgno < forge_pages(&forge);
         pgno++) {
        bool matters = page_is_used(&forge, pgno) || page_is_bitmap(&forge, pgno);
        for (Hurt hurt = matters ? HURT_ZEROS : HURT_BIT; hurt < HURTS; hurt++) {
            damage_page(&forge, &all, pgno, hurt, &counts);
        }
    }
    printf("%zu rows on %u pages: %" PRIu64 " trials, %" PRIu64 " with pages in use, %" PRIu64
           " with lost rows, %" PRIu64 " with rows found elsewhere, %" PRIu64
           " of the bitmap, %" PRIu64 " of the catalog\n",
           all.count, forge_pages(&forge), counts.trials, counts.used, counts.with_loss,
           counts.unplaced, counts.bitmap, counts.catalog);
    ck_assert(counts.used > 0 && counts.used < counts.trials && counts.with_loss > 0 &&
              counts.bitmap > 0 && counts.catalog > 0 && counts.unplaced > 0);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

START_TEST(messages_name_table_page_and_keys_of_a_loss)
{
    Forge forge;
    RowSet all;
    RowSet rows;
    char part[64];

    make_file(NULL);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    const SetRow *row = &all.rows[40];
    EXPECT(row->dbi == MAIN, "not the table that was meant");
    hurt_file(bed.path, (uint64_t)row->leaf * forge.meta.page_size, 100, HURT_ZEROS);
    SapRecoverReport report = recover_rows_of(&rows);
    snprintf(part, sizeof part, "table 0: page %u is not a page", row->leaf);
    EXPECT(strstr(messages, part) != NULL, "no \"%s\" in:\n%s", part, messages);
    snprintf(part, sizeof part, "%" PRIu64 " of %" PRIu64 " are lost", report.rows_lost,
             report.rows_lost);
    EXPECT(strstr(messages, part) != NULL, "no \"%s\" in:\n%s", part, messages);
    EXPECT(strstr(messages, "rows from \"00") != NULL, "no keys in:\n%s", messages);
    rowset_free(&rows);
    for (size_t i = 0; i < all.count; i++) {
        row = &all.rows[i];
        if (row->run != 0) {
            forge_write_data(&forge, bed.path);
            hurt_file(bed.path, (uint64_t)row->run * forge.meta.page_size, 5000, HURT_RANDOM);
            break;
        }
    }
    (void)recover_rows_of(&rows);
    snprintf(part, sizeof part, "table 0: the row \"%.*s\" is lost: its value, at page %u",
             (int)row->key_len, (const char *)row->key, row->run);
    EXPECT(strstr(messages, part) != NULL, "no \"%s\" in:\n%s", part, messages);
    rowset_free(&rows);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

/* ---- The catalog ----------------------------------------------------------------------------- */

enum { MANY_TABLES = 600 };

START_TEST(each_page_of_a_large_catalog_damaged_costs_no_row)
{
    Forge forge;
    RowSet all;
    uint32_t pages = 0;
    uint32_t lost = 0;

    SapEnv *db = file_bed_open(&bed);
    for (uint32_t dbi = 1; dbi < MANY_TABLES; dbi++) {
        const char *order = dbi % 5 == 0 ? files_order_name(ORDER_FOLDED) : NULL;
        EXPECT_RC(sap_dbi_open_named(db, dbi, order, dbi % 3 == 0 ? SAP_DBI_DUPSORT : 0), SAP_OK);
    }
    SapTxnCtx *txn = begin(db);
    for (uint32_t dbi = 0; dbi < MANY_TABLES; dbi += 2) {
        EXPECT_RC(sap_txn_put_dbi(txn, dbi, "key", 3, "value", 5), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, dbi, "more", 4, "values", 6), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    for (uint32_t pgno = file_first_page(forge.meta.page_size); pgno < forge_pages(&forge);
         pgno++) {
        const uint8_t *page = forge_page(&forge, pgno);
        RowSet rows;
        if (!page_is_used(&forge, pgno) || (page_flags(page) & PAGE_DBI_MASK) != ENV_CATALOG) {
            continue;
        }
        pages++;
        forge_write_data(&forge, bed.path);
        hurt_file(bed.path, (uint64_t)pgno * forge.meta.page_size, forge.meta.page_size,
                  pages % 2 == 0 ? HURT_ZEROS : HURT_RANDOM);
        SapRecoverReport report = recover_rows_of(&rows);
        expect_rows(&rows, &all);
        EXPECT(report.tables <= MANY_TABLES && report.tables_lost == 0, "tables are lost:\n%s",
               messages);
        lost += page_is_leaf(page) ? 1 : 0;
        EXPECT(page_is_leaf(page) == (report.tables < MANY_TABLES), "%" PRIu64 " tables",
               report.tables);
        rowset_free(&rows);
    }
    printf("%u pages of a catalog, %u with empty tables that nothing told of\n", pages, lost);
    ck_assert(pages > 3 && lost > 1 && lost < pages);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

START_TEST(table_without_its_comparator_is_left_out_and_named)
{
    SapRecoverOptions options = recover_options();
    SapRecoverReport report;
    RowSet rows;

    make_file(NULL);
    options.comparator_count = 0;
    messages[0] = 0;
    EXPECT_RC(sap_db_recover(bed.path, out.path, &options, &report), SAP_OK);
    ck_assert_uint_eq(report.tables_lost, 2);
    ck_assert_uint_eq(report.tables, TABLES - 2);
    EXPECT(strstr(messages, "table 4 is left out: it is ordered by the comparator \"reverse\"") !=
               NULL,
           "the messages:\n%s", messages);
    EXPECT(strstr(messages, "\"length\"") != NULL, "the messages:\n%s", messages);
    SapEnv *db = file_bed_open(&out);
    rowset_of_db(&rows, db);
    file_bed_close(db);
    for (size_t i = 0; i < rows.count; i++) {
        ck_assert(rows.rows[i].dbi != REVERSE && rows.rows[i].dbi != PAIRS_BY_LENGTH);
    }
    ck_assert_uint_eq(rows.count, report.rows);
    ck_assert_uint_gt(rows.count, 300);
    rowset_free(&rows);
}
END_TEST

/* ---- The header ------------------------------------------------------------------------------ */

START_TEST(any_copies_of_the_header_damaged_cost_no_row)
{
    Forge forge;
    RowSet all;
    unsigned trials = 0;
    unsigned without = 0;

    make_file(NULL);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    for (unsigned copies = 1; copies < 16; copies++) {
        for (Hurt hurt = HURT_ZEROS; hurt < HURTS; hurt++) {
            RowSet rows;
            expect_context("copies %x, %s", copies, hurt_names[hurt]);
            forge_write_data(&forge, bed.path);
            for (unsigned i = 0; i < 4; i++) {
                if ((copies >> i & 1) != 0) {
                    hurt_file(bed.path, (uint64_t)i * FILE_BLOCK, META_SIZE, hurt);
                }
            }
            SapRecoverReport report = recover_rows_of(&rows);
            expect_rows(&rows, &all);
            EXPECT(report.pages_damaged == (unsigned)__builtin_popcount(copies),
                   "%" PRIu64 " damaged:\n%s", report.pages_damaged, messages);
            EXPECT(report.rows_lost == 0 && report.doubtful == 0, "lost:\n%s", messages);
            EXPECT(message_count > 0, "nothing was said");
            ck_assert_uint_eq(report.tables, TABLES);
            without += strstr(messages, "the place of everything") != NULL ? 1 : 0;
            trials++;
            rowset_free(&rows);
        }
    }
    printf("%u trials, %u of them without the newest header\n", trials, without);
    ck_assert(without > 0 && without < trials);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

/* What checksums are made with was in the header, and nowhere else. */
START_TEST(without_header_and_log_pages_in_use_are_taken_by_their_look)
{
    Forge forge;
    RowSet all;
    RowSet rows;

    make_file(NULL);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    for (uint64_t number = 1; number < 64; number++) {
        char path[FILES_PATH_MAX + 40];
        snprintf(path, sizeof path, "%s-wal.%016" PRIx64, bed.path, number);
        (void)unlink(path);
    }
    hurt_file(bed.path, 0, FILE_HEADER, HURT_ZEROS);
    SapRecoverReport report = recover_rows_of(&rows);
    expect_rows(&rows, &all);
    ck_assert_uint_eq(report.tables, TABLES);
    EXPECT(strstr(messages, "its id is lost") != NULL, "the messages:\n%s", messages);
    rowset_free(&rows);
    /* Without the bitmap nothing tells them from pages that were never committed. */
    for (uint32_t pgno = file_first_page(forge.meta.page_size); pgno < forge_pages(&forge);
         pgno++) {
        if (page_flags(forge_page(&forge, pgno)) == ENV_CATALOG) {
            hurt_file(bed.path, (uint64_t)pgno * forge.meta.page_size, 64, HURT_ZEROS);
        }
    }
    (void)recover_rows_of(&rows);
    ck_assert_uint_eq(rows.count, 0);
    rowset_free(&rows);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

START_TEST(truncated_file_keeps_the_rows_of_the_pages_it_has)
{
    static bool damaged[MAX_PAGES];
    Forge forge;
    RowSet ever = {0};
    uint32_t trials = 0;
    size_t kept = 0;

    make_file(&ever);
    forge_read(&forge, bed.path);
    uint32_t pages = forge_pages(&forge);
    memset(damaged, 0, sizeof damaged);
    for (uint32_t cut = pages - 1; cut > file_first_page(forge.meta.page_size);
         cut -= cut < 20 ? 1 : 19) {
        RowSet rows;
        RowSet reachable;
        expect_context("cut to %u of %u pages", cut, pages);
        for (uint32_t pgno = cut; pgno < pages; pgno++) {
            damaged[pgno] = true;
        }
        EXPECT(truncate(bed.path, (off_t)cut * forge.meta.page_size - 1 + trials % 2) == 0,
               "cannot cut");
        damaged[cut - 1] = trials % 2 == 0;
        rowset_of_sound_pages(&reachable, &forge, damaged);
        (void)recover_rows_of(&rows);
        for (size_t i = 0; i < reachable.count; i++) {
            EXPECT(rowset_has(&rows, &reachable.rows[i]), "a row of table %u is missing:\n%s",
                   reachable.rows[i].dbi, messages);
        }
        for (size_t i = 0; i < rows.count; i++) {
            EXPECT(rowset_has(&ever, &rows.rows[i]), "a row was never committed");
        }
        kept += rows.count;
        trials++;
        rowset_free(&rows);
        rowset_free(&reachable);
    }
    printf("%u cuts, %zu rows kept\n", trials, kept);
    ck_assert(trials > 10 && kept > 0);
    rowset_free(&ever);
    forge_free(&forge);
}
END_TEST

START_TEST(without_any_header_the_log_is_replayed_too)
{
    RowSet with;
    RowSet without;

    make_unclosed(100);
    SapRecoverReport before = recover_rows_of(&with);
    hurt_file(bed.path, 0, FILE_HEADER, HURT_ZEROS);
    SapRecoverReport after = recover_rows_of(&without);
    expect_rows(&without, &with);
    ck_assert_uint_eq(before.commits_replayed, COMMITS);
    ck_assert_uint_eq(after.commits_replayed, COMMITS);
    rowset_free(&with);
    rowset_free(&without);
}
END_TEST

/* All bitmaps: an older one would be taken for the newest. */
static void lose_header_and_bitmaps(Forge *forge)
{
    for (unsigned i = 0; i < 4; i++) {
        hurt_file(bed.path, (uint64_t)i * FILE_BLOCK + META_CHECKSUM, 8, HURT_RANDOM);
    }
    for (uint32_t pgno = file_first_page(forge->meta.page_size); pgno < forge_pages(forge);
         pgno++) {
        const uint8_t *page = forge_page(forge, pgno);
        if (page[PAGE_TYPE] == PAGE_OVERFLOW && page_no(page) == pgno &&
            page_flags(page) == ENV_CATALOG) {
            hurt_file(bed.path, (uint64_t)pgno * forge->meta.page_size, PAGE_HEADER, HURT_ZEROS);
        }
    }
}

/* A free page that is a leaf from before the value it refers to: the value is another row's. */
START_TEST(value_that_came_to_the_place_of_another_is_not_taken)
{
    Forge forge;
    RowSet all;
    RowSet rows;
    uint32_t beside = 0;

    make_file(NULL);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    /* One whose value is no older than its leaf: no other leaf had it. */
    const SetRow *row = all.rows;
    while (row->run == 0 ||
           page_birth(forge_page(&forge, row->run)) != page_birth(forge_page(&forge, row->leaf))) {
        row++;
    }
    uint32_t pgno = file_first_page(forge.meta.page_size);
    while (page_is_used(&forge, pgno) || page_is_bitmap(&forge, pgno)) {
        pgno++;
    }
    uint8_t *page = forge_page(&forge, pgno);
    memcpy(page, forge_page(&forge, row->leaf), forge.meta.page_size);
    memset(forge_page(&forge, row->leaf), 0, forge.meta.page_size);
    store_u32le(page + PAGE_NO, pgno);
    store_u64le(page + PAGE_BIRTH, page_birth(forge_page(&forge, row->run)) - 1);
    forge_seal_page(&forge, pgno);
    forge_write_data(&forge, bed.path);
    lose_header_and_bitmaps(&forge);
    (void)recover_rows_of(&rows);
    ck_assert(!rowset_has(&rows, row));
    for (size_t i = 0; i < all.count; i++) {
        const SetRow *other = &all.rows[i];
        beside += other->leaf == row->leaf && other->run == 0 && rowset_has(&rows, other) ? 1 : 0;
    }
    ck_assert_uint_gt(beside, 0);
    rowset_free(&rows);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

START_TEST(header_and_bitmap_lost_bring_back_old_rows_at_most_and_say_so)
{
    Forge forge;
    RowSet ever = {0};
    RowSet all;
    RowSet rows;
    size_t old = 0;

    make_file(&ever);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    lose_header_and_bitmaps(&forge);
    SapRecoverReport report = recover_rows_of(&rows);
    ck_assert_uint_eq(report.doubtful, 1);
    for (size_t i = 0; i < all.count; i++) {
        EXPECT(rowset_has(&rows, &all.rows[i]), "a row of table %u is missing:\n%s",
               all.rows[i].dbi, messages);
    }
    for (size_t i = 0; i < rows.count; i++) {
        EXPECT(rowset_has(&ever, &rows.rows[i]), "a row of table %u was never committed",
               rows.rows[i].dbi);
        old += rowset_has(&all, &rows.rows[i]) ? 0 : 1;
    }
    printf("%zu rows, and %zu that had been deleted\n", all.count, old);
    rowset_free(&ever);
    rowset_free(&all);
    rowset_free(&rows);
    forge_free(&forge);
}
END_TEST

/* ---- The log --------------------------------------------------------------------------------- */

typedef struct GroupAt {
    char path[FILES_PATH_MAX + 40];
    uint64_t segment;
    uint64_t offset;
    uint32_t len;
} GroupAt;

/* The groups of the log, in order. */
static uint32_t find_groups(GroupAt *groups, uint32_t max)
{
    uint32_t count = 0;

    for (uint64_t number = 1; number < 64; number++) {
        char path[FILES_PATH_MAX + 40];
        size_t size = 0;
        snprintf(path, sizeof path, "%s-wal.%016" PRIx64, bed.path, number);
        if (access(path, F_OK) != 0) {
            continue;
        }
        uint8_t *bytes = files_read(path, &size);
        for (size_t at = 0; at + WAL_BLOCK <= size; at += WAL_BLOCK) {
            WalGroup group;
            if (wal_group_decode(bytes + at, &group) == SAP_OK && group.segment == number &&
                WAL_GROUP_HEADER + (uint64_t)group.payload_len <= size - at &&
                wal_group_verify(&group, bytes + at) == SAP_OK) {
                EXPECT(count < max, "too many groups");
                groups[count] = (GroupAt){
                    .segment = number, .offset = at, .len = WAL_GROUP_HEADER + group.payload_len};
                memcpy(groups[count++].path, path, sizeof path);
            }
        }
        free(bytes);
    }
    return count;
}

/* The content is that after commit n. */
static void expect_commit(const RowSet *rows, uint32_t n, uint32_t value_len)
{
    uint8_t *value = malloc((size_t)value_len + 1);
    char key[20];
    RowSet one = {0};

    EXPECT(value != NULL, "no memory");
    for (uint32_t i = 1; i <= COMMITS; i++) {
        snprintf(key, sizeof key, "commit-%05u", i);
        memset(value, 'a' + (int)i, value_len);
        rowset_add(&one, MAIN, key, 12, value, value_len);
        bool there = rowset_has(rows, &one.rows[0]);
        EXPECT(there == (i <= n && i + 3 > n), "commit %u of %u: row %u is %sthere:\n%s", n,
               COMMITS, i, there ? "" : "not ", messages);
        rowset_free(&one);
        rowset_add(&one, DATA, "last", 4, key, 12);
        EXPECT(rowset_has(rows, &one.rows[0]) == (i == n), "the last commit is another");
        rowset_free(&one);
    }
    free(value);
}

START_TEST(each_group_of_the_log_damaged_loses_it_and_those_behind_it)
{
    GroupAt groups[64];
    uint32_t trials = 0;

    make_unclosed(100);
    uint32_t count = find_groups(groups, 64);
    ck_assert_uint_eq(count, COMMITS);
    Image *image = image_take(bed.dir);
    for (uint32_t i = 0; i < count; i++) {
        for (Hurt hurt = HURT_ZEROS; hurt < HURTS; hurt++) {
            RowSet rows;
            bool last = i + 1 == count;
            expect_context("group %u, %s", i, hurt_names[hurt]);
            image_restore(image, bed.dir);
            hurt_file(groups[i].path, groups[i].offset, groups[i].len, hurt);
            SapRecoverReport report = recover_rows_of(&rows);
            expect_commit(&rows, i, 100);
            EXPECT(report.commits_replayed == i, "%" PRIu64 " replayed", report.commits_replayed);
            EXPECT(report.commits_lost == (last ? 0 : COMMITS - i), "%" PRIu64 " lost:\n%s",
                   report.commits_lost, messages);
            EXPECT(last || report.last_lost_lsn - report.first_lost_lsn + 1 == COMMITS - i,
                   "lost: %" PRIu64 " to %" PRIu64, report.first_lost_lsn, report.last_lost_lsn);
            EXPECT(report.pages_damaged == 0, "no page was touched");
            /* A last group of zeros is none. */
            EXPECT((message_count > 0) == !(last && strlen(messages) == 0), "nothing was said");
            trials++;
            rowset_free(&rows);
        }
    }
    printf("%u groups, %u trials\n", count, trials);
    image_free(image);
}
END_TEST

START_TEST(segments_missing_or_cut_lose_what_follows)
{
    GroupAt groups[64];
    uint32_t len = 20000;
    uint32_t missing = 0;
    uint32_t cut = 0;

    make_unclosed(len);
    uint32_t count = find_groups(groups, 64);
    ck_assert_uint_eq(count, COMMITS);
    ck_assert_uint_gt(groups[count - 1].segment, groups[0].segment + 1);
    Image *image = image_take(bed.dir);
    for (uint32_t i = 0; i < count; i++) {
        RowSet rows;
        bool last = groups[i].segment == groups[count - 1].segment;
        expect_context("segment of group %u", i);
        image_restore(image, bed.dir);
        if (groups[i].offset == 0) {
            ck_assert_int_eq(unlink(groups[i].path), 0);
            SapRecoverReport report = recover_rows_of(&rows);
            expect_commit(&rows, i, len);
            EXPECT(last || report.commits_lost >= 2, "%" PRIu64 " lost:\n%s", report.commits_lost,
                   messages);
            EXPECT(last || message_count > 0, "nothing was said");
            rowset_free(&rows);
            image_restore(image, bed.dir);
            missing++;
        }
        ck_assert_int_eq(truncate(groups[i].path, (off_t)(groups[i].offset + groups[i].len / 2)),
                         0);
        SapRecoverReport report = recover_rows_of(&rows);
        expect_commit(&rows, i, len);
        EXPECT(report.commits_lost >= 1 && message_count > 0, "nothing is lost:\n%s", messages);
        rowset_free(&rows);
        cut++;
    }
    printf("%u segments missing, %u cut\n", missing, cut);
    ck_assert(missing > 2 && cut > 5);
    image_free(image);
}
END_TEST

/* Where no group is left that tells of others, the loss is one of unknown size, and not none. */
START_TEST(log_that_is_gone_or_cut_at_a_group_is_a_loss)
{
    GroupAt groups[64];
    RowSet rows;

    make_unclosed(100);
    ck_assert_uint_eq(find_groups(groups, 64), COMMITS);
    Image *image = image_take(bed.dir);
    for (uint32_t i = 0; i < COMMITS; i++) {
        expect_context("cut before group %u", i);
        image_restore(image, bed.dir);
        ck_assert_int_eq(truncate(groups[i].path, (off_t)groups[i].offset), 0);
        SapRecoverReport report = recover_rows_of(&rows);
        expect_commit(&rows, i, 100);
        EXPECT(report.commits_lost >= 1 && report.first_lost_lsn != 0, "nothing is lost:\n%s",
               messages);
        EXPECT(strstr(messages, "cannot be known") != NULL, "%s", messages);
        rowset_free(&rows);
    }
    expect_context("no log");
    ck_assert_int_eq(unlink(groups[0].path), 0);
    SapRecoverReport report = recover_rows_of(&rows);
    expect_commit(&rows, 0, 100);
    EXPECT(report.commits_lost >= 1 && report.first_lost_lsn != 0, "nothing is lost:\n%s",
           messages);
    rowset_free(&rows);
    image_free(image);
}
END_TEST

START_TEST(log_and_pages_damaged_together_keep_what_the_log_has)
{
    Forge forge;
    RowSet all;
    RowSet rows;
    uint32_t trials = 0;

    make_unclosed(100);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    /* The log deletes and replaces rows of the damaged pages: that is no reason to stop. */
    for (uint32_t pgno = file_first_page(forge.meta.page_size); pgno < forge_pages(&forge);
         pgno += 3) {
        expect_context("page %u", pgno);
        forge_write_data(&forge, bed.path);
        hurt_file(bed.path, (uint64_t)pgno * forge.meta.page_size, forge.meta.page_size,
                  HURT_RANDOM);
        SapRecoverReport report = recover_rows_of(&rows);
        EXPECT(report.commits_replayed == COMMITS, "%" PRIu64 " replayed", report.commits_replayed);
        expect_commit(&rows, COMMITS, 100);
        trials++;
        rowset_free(&rows);
    }
    printf("%u trials\n", trials);
    ck_assert_uint_gt(trials, 20);
    rowset_free(&all);
    forge_free(&forge);
}
END_TEST

/* ---- Many damages ---------------------------------------------------------------------------- */

typedef struct Wreck {
    bool damaged[MAX_PAGES];
    uint32_t pages;
    bool header; /* no copy of the newest meta is left */
} Wreck;

static void wreck_data(Forge *forge, Wreck *wreck)
{
    uint32_t first = file_first_page(forge->meta.page_size);
    uint32_t pages = forge_pages(forge);
    uint32_t count = (uint32_t)rng_range(&rng, 1, 12);

    EXPECT(pages < MAX_PAGES, "too many pages");
    memset(wreck, 0, sizeof *wreck);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t pgno = (uint32_t)rng_range(&rng, first, pages - 1);
        uint32_t run = (uint32_t)rng_range(&rng, 1, 4);
        for (uint32_t k = pgno; k < pgno + run && k < pages; k++) {
            hurt_bytes(forge_page(forge, k), forge->meta.page_size, (Hurt)rng_below(&rng, HURTS));
            wreck->pages += wreck->damaged[k] ? 0 : 1;
            wreck->damaged[k] = true;
        }
    }
    uint32_t copies = rng_chance(&rng, 1, 3) ? (uint32_t)rng_below(&rng, 16) : 0;
    for (uint32_t i = 0; i < 4; i++) {
        if ((copies >> i & 1) != 0) {
            hurt_bytes(forge->data + (size_t)i * FILE_BLOCK, META_SIZE,
                       (Hurt)rng_below(&rng, HURTS));
        }
    }
    uint32_t newest = (uint32_t)(meta_offset(forge->meta.number, 0) / FILE_BLOCK);
    wreck->header = (copies >> newest & 3) == 3;
}

START_TEST(many_damages_at_once_invent_nothing_and_lose_no_more_than_they_must)
{
    Forge sound;
    Forge forge = {0};
    RowSet ever = {0};
    static Wreck wreck;
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SEEDS);
    uint64_t pages = 0;
    uint64_t saved = 0;
    uint64_t must = 0;
    uint64_t headless = 0;

    make_file(&ever);
    forge_read(&sound, bed.path);
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        RowSet rows;
        RowSet reachable;
        rng_seed(&rng, seed);
        expect_context("SAP_TEST_SEED=%" PRIu64, seed);
        forge_copy(&forge, &sound);
        wreck_data(&forge, &wreck);
        forge_write_data(&forge, bed.path);
        SapRecoverReport report = recover_rows_of(&rows);
        rowset_of_sound_pages(&reachable, &sound, wreck.damaged);
        for (size_t i = 0; !wreck.header && i < reachable.count; i++) {
            EXPECT(rowset_has(&rows, &reachable.rows[i]), "a row of table %u is missing:\n%s",
                   reachable.rows[i].dbi, messages);
        }
        for (size_t i = 0; i < rows.count; i++) {
            EXPECT(rowset_has(&ever, &rows.rows[i]), "a row of table %u was never committed:\n%s",
                   rows.rows[i].dbi, messages);
        }
        (void)report;
        pages += wreck.pages;
        saved += rows.count;
        must += wreck.header ? 0 : reachable.count;
        headless += wreck.header ? 1 : 0;
        rowset_free(&rows);
        rowset_free(&reachable);
    }
    printf("%" PRIu64 " pages damaged, %" PRIu64 " rows reachable, %" PRIu64 " saved, %" PRIu64
           " files without a header, seeds %" PRIu64 " to %" PRIu64 "\n",
           pages, must, saved, headless, first, first + seeds - 1);
    ck_assert(must > 0 && saved > must);
    rowset_free(&ever);
    forge_free(&sound);
    forge_free(&forge);
}
END_TEST

/* ---- Refusals -------------------------------------------------------------------------------- */

static bool target_is_absent(void)
{
    return files_size(out.dir, "db") == files_size(out.dir, "db-lock");
}

static void expect_refused(int rc, const char *part)
{
    SapRecoverReport report;
    SapRecoverReport untouched;
    Image *before = image_take(out.dir);
    Image *source = image_take(bed.dir);

    memset(&untouched, 0x5a, sizeof untouched);
    EXPECT_RC(try_recover(out.path, &report), rc);
    EXPECT(strstr(messages, part) != NULL, "no \"%s\" in:\n%s", part, messages);
    EXPECT(memcmp(&report, &untouched, sizeof report) == 0, "the report was written");
    image_expect_same(before, out.dir);
    image_expect_same(source, bed.dir);
    image_free(before);
    image_free(source);
}

START_TEST(refusals_leave_everything_as_it_was)
{
    SapRecoverReport report;
    SapRecoverOptions options = recover_options();
    SapComparator nameless = {.name = "", .cmp = order_cmp(ORDER_REVERSE)};
    uint8_t noise[20000];

    expect_refused(SAP_NOTFOUND, "no such database");
    rng_bytes(&rng, noise, sizeof noise);
    files_copy("/dev/null", bed.path);
    expect_refused(SAP_INVALID, "looks like a Sapling database");
    files_write_at(bed.path, 0, noise, sizeof noise);
    expect_refused(SAP_INVALID, "looks like a Sapling database");
    ck_assert_int_eq(unlink(bed.path), 0);
    make_file(NULL);
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(try_recover(out.path, &report), SAP_BUSY);
    EXPECT(strstr(messages, "close it first") != NULL, "the messages:\n%s", messages);
    file_bed_close(db);
    EXPECT_RC(try_recover(bed.path, &report), SAP_EXISTS);
    files_copy(bed.path, out.path);
    expect_refused(SAP_EXISTS, "exists already");
    ck_assert_int_eq(unlink(out.path), 0);
    char log[FILES_PATH_MAX + 30];
    snprintf(log, sizeof log, "%s-wal.0000000000000001", out.path);
    files_copy(bed.path, log);
    expect_refused(SAP_EXISTS, "exists already");
    ck_assert_int_eq(unlink(log), 0);
    ck_assert_int_eq(sap_db_recover(NULL, out.path, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_db_recover("", out.path, NULL, NULL), SAP_ERROR);
    ck_assert_int_eq(sap_db_recover(bed.path, "", NULL, NULL), SAP_ERROR);
    options.comparators = NULL;
    ck_assert_int_eq(sap_db_recover(bed.path, out.path, &options, NULL), SAP_ERROR);
    options.comparators = &nameless;
    options.comparator_count = 1;
    ck_assert_int_eq(sap_db_recover(bed.path, out.path, &options, NULL), SAP_ERROR);
    ck_assert(target_is_absent());
    ck_assert_int_eq(sap_db_recover(bed.path, out.path, NULL, NULL), SAP_OK);
    EXPECT_RC(try_recover(out.path, &report), SAP_EXISTS);
}
END_TEST

/* ---- Faults ---------------------------------------------------------------------------------- */

#if SAP_FAULTS

/* Damage of every kind, so that every way through the code is taken. */
static void make_wreck(void)
{
    GroupAt groups[64];
    Forge forge;
    RowSet all;

    make_unclosed(100);
    EXPECT(find_groups(groups, 64) == COMMITS, "another number of groups");
    hurt_file(groups[8].path, groups[8].offset, 100, HURT_ZEROS);
    forge_read(&forge, bed.path);
    rowset_of_pages(&all, &forge);
    for (size_t i = 0; i < all.count; i += all.count / 3) {
        hurt_file(bed.path, (uint64_t)all.rows[i].leaf * forge.meta.page_size, 50, HURT_RANDOM);
    }
    for (size_t i = 0; i < all.count; i++) {
        if (all.rows[i].run != 0) {
            hurt_file(bed.path, (uint64_t)all.rows[i].run * forge.meta.page_size, 50, HURT_RANDOM);
            break;
        }
    }
    hurt_file(bed.path, (uint64_t)forge.meta.catalog * forge.meta.page_size, 50, HURT_RANDOM);
    rowset_free(&all);
    forge_free(&forge);
}

static void fail_everything_once(const char *what, bool alloc, int err)
{
    Image *source = image_take(bed.dir);
    uint64_t n = 0;
    uint64_t survived = 0;
    size_t live = mem_live_total();
    bool fired = true;

    while (fired) {
        SapRecoverReport report;
        n++;
        expect_context("%s %" PRIu64, what, n);
        crash_dir_empty(out.dir);
        fault_reset();
        if (alloc) {
            fault_arm_alloc(n);
        } else {
            fault_arm_io(n, err);
        }
        int rc = try_recover(out.path, &report);
        fired = fault_fired() != 0;
        fault_reset();
        image_expect_same(source, bed.dir);
        if (rc == SAP_OK) {
            survived += fired ? 1 : 0;
            SapEnv *db = file_bed_open(&out);
            model_expect_verified(db);
            file_bed_close(db);
            continue;
        }
        EXPECT(fired, "failed by itself: %d", rc);
        EXPECT(alloc ? rc == SAP_NOMEM || rc == SAP_IO : rc == SAP_IO || rc == SAP_FULL,
               "answered %d", rc);
        EXPECT(alloc || message_count > 0, "nothing was said");
        EXPECT(rc != SAP_FULL || strstr(messages, strerror(ENOSPC)) != NULL, "%s", messages);
        EXPECT(target_is_absent(), "a target is there");
        EXPECT(mem_live_total() == live, "memory is left");
    }
    printf("%s: %" PRIu64 " failed once, %" PRIu64 " did not matter\n", what, n - 1, survived);
    EXPECT(n > 20, "too few");
    image_free(source);
}

static uint64_t progress_calls;
static uint64_t progress_stop;

static int count_progress(uint64_t done, void *ctx)
{
    (void)ctx;
    EXPECT(done >= progress_calls, "%" PRIu64 " done at call %" PRIu64, done, progress_calls);
    return ++progress_calls == progress_stop ? SAP_CONFLICT : SAP_OK;
}

START_TEST(recovery_that_is_told_to_stop_leaves_no_target)
{
    SapRecoverOptions options = recover_options();
    SapRecoverReport report;
    uint64_t stops = 0;

    make_unclosed(100);
    Image *before = image_take(bed.dir);
    options.on_progress = count_progress;
    for (progress_stop = 1;; progress_stop += 7) {
        progress_calls = 0;
        crash_dir_empty(out.dir);
        int rc = sap_db_recover(bed.path, out.path, &options, &report);
        if (progress_calls < progress_stop) {
            EXPECT_RC(rc, SAP_OK);
            break;
        }
        stops++;
        EXPECT_RC(rc, SAP_CONFLICT);
        EXPECT(target_is_absent(), "a target is left");
        image_expect_same(before, bed.dir);
    }
    printf("%" PRIu64 " recoveries stopped\n", stops);
    ck_assert_uint_gt(stops, 3);
    image_free(before);
}
END_TEST

START_TEST(every_failure_leaves_no_target_and_the_source_as_it_was)
{
    make_wreck();
    fail_everything_once("operations on files", false, EIO);
    fail_everything_once("operations on a full disk", false, ENOSPC);
    fail_everything_once("allocations", true, 0);
}
END_TEST

static void recover_and_crash(void *arg)
{
    SapRecoverReport report;

    fault_reset();
    fault_arm_crash(*(const uint64_t *)arg);
    EXPECT_RC(try_recover(out.path, &report), SAP_OK);
}

START_TEST(crash_at_any_step_leaves_no_target_or_a_whole_one)
{
    Stream whole;
    uint64_t steps = 0;
    uint64_t there = 0;
    RowSet rows;

    make_wreck();
    (void)recover_rows_of(&rows);
    rowset_free(&rows);
    stream_of(&out, &whole);
    crash_dir_empty(out.dir);
    for (bool crashed = true; crashed; steps++) {
        uint64_t nth = steps + 1;
        SapRecoverReport report;
        Stream stream;
        int status = files_run_child(recover_and_crash, &nth);
        crashed = status != 0;
        bool exists = access(out.path, F_OK) == 0;
        there += crashed && exists ? 1 : 0;
        if (!exists) { /* what is left of it is no hindrance */
            EXPECT_RC(try_recover(out.path, &report), SAP_OK);
        }
        stream_of(&out, &stream);
        EXPECT(stream.len == whole.len && memcmp(stream.bytes, whole.bytes, whole.len) == 0,
               "another content after a crash at step %" PRIu64, nth);
        stream_free(&stream);
        char unfinished[FILES_PATH_MAX + 20];
        snprintf(unfinished, sizeof unfinished, "db-recovering");
        EXPECT(files_size(out.dir, unfinished) == 0, "something is left");
        crash_dir_empty(out.dir);
    }
    printf("%" PRIu64 " steps, %" PRIu64 " with the target there\n", steps - 1, there);
    ck_assert(steps > 4 && there > 0);
    stream_free(&whole);
}
END_TEST

#endif

static Suite *recover_suite(void)
{
    Suite *suite = suite_create("engine_recover");
    TCase *tcase = tcase_create("recover");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, sound_file_is_rebuilt_with_the_same_content);
    tcase_add_test(tcase, log_of_a_file_that_was_not_closed_is_replayed);
    tcase_add_test(tcase, tables_that_only_the_log_knows_are_there);
    tcase_add_test(tcase, empty_database_is_rebuilt_empty);
    tcase_add_test(tcase, copy_that_has_no_log_misses_none);
    tcase_add_test(tcase, copy_whose_newest_header_is_lost_keeps_its_log);
    tcase_add_test(tcase, each_page_damaged_costs_the_rows_on_it_and_no_others);
    tcase_add_test(tcase, messages_name_table_page_and_keys_of_a_loss);
    tcase_add_test(tcase, each_page_of_a_large_catalog_damaged_costs_no_row);
    tcase_add_test(tcase, table_without_its_comparator_is_left_out_and_named);
    tcase_add_test(tcase, any_copies_of_the_header_damaged_cost_no_row);
    tcase_add_test(tcase, without_header_and_log_pages_in_use_are_taken_by_their_look);
    tcase_add_test(tcase, truncated_file_keeps_the_rows_of_the_pages_it_has);
    tcase_add_test(tcase, without_any_header_the_log_is_replayed_too);
    tcase_add_test(tcase, value_that_came_to_the_place_of_another_is_not_taken);
    tcase_add_test(tcase, header_and_bitmap_lost_bring_back_old_rows_at_most_and_say_so);
    tcase_add_test(tcase, each_group_of_the_log_damaged_loses_it_and_those_behind_it);
    tcase_add_test(tcase, segments_missing_or_cut_lose_what_follows);
    tcase_add_test(tcase, log_that_is_gone_or_cut_at_a_group_is_a_loss);
    tcase_add_test(tcase, log_and_pages_damaged_together_keep_what_the_log_has);
    tcase_add_test(tcase, many_damages_at_once_invent_nothing_and_lose_no_more_than_they_must);
    tcase_add_test(tcase, refusals_leave_everything_as_it_was);
#if SAP_FAULTS
    tcase_add_test(tcase, recovery_that_is_told_to_stop_leaves_no_target);
    tcase_add_test(tcase, every_failure_leaves_no_target_and_the_source_as_it_was);
    tcase_add_test(tcase, crash_at_any_step_leaves_no_target_or_a_whole_one);
#endif
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(recover_suite());
}
