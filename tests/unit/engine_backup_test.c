/* Copies of a database: backups and compacted files have the content of their source, need no log,
 * live a life of their own, and are there as a whole or not at all. */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/random.h"
#include "sapling/file_format.h"
#include "sapling/node.h"
#include "sapling/wal.h"
#include "support/choice.h"
#include "support/copies.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/forge.h"
#include "support/history.h"
#include "support/model.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 300,
    SEEDS = 12,
    STEPS = 40,
    MANY_ROWS = 30000,
    BIG = 100 * 1000,
};

typedef int (*CopyFn)(SapEnv *db, const char *path);

static const struct {
    const char *name;
    CopyFn make;
} ways[] = {{"backup", copies_backup}, {"compact", sap_db_compact}};
enum { WAYS = sizeof ways / sizeof ways[0] };

static FileBed bed;
static char copy_path[FILES_PATH_MAX + 8];
static char unfinished_path[FILES_PATH_MAX + 16];

static void setup(void)
{
    file_bed_start(&bed);
    bed.options.checkpoint_bytes = 1 << 20; /* small log segments */
    snprintf(copy_path, sizeof copy_path, "%s/copy", bed.dir);
    snprintf(unfinished_path, sizeof unfinished_path, "%s-new", copy_path);
}

static void teardown(void)
{
    file_bed_end(&bed);
}

static SapTxnCtx *begin(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    return txn;
}

static void put(SapTxnCtx *txn, uint32_t dbi, const char *key, const void *val, uint32_t len)
{
    EXPECT_RC(sap_txn_put_dbi(txn, dbi, key, (uint32_t)strlen(key), val, len), SAP_OK);
}

/* Makes a copy in each way and holds it against the source. */
static void expect_copies(SapEnv *db)
{
    Stream content;

    copies_content(db, &content);
    for (size_t way = 0; way < WAYS; way++) {
        copies_remove(copy_path);
        int rc = ways[way].make(db, copy_path);
        EXPECT(rc == SAP_OK, "%s answered %d: %s", ways[way].name, rc, bed.message);
        EXPECT(!copies_exist(unfinished_path), "%s left something behind", ways[way].name);
        copies_expect(&bed, copy_path, &content);
    }
    copies_remove(copy_path);
    stream_free(&content);
}

/* ---- Content -------------------------------------------------------------------------------- */

START_TEST(copies_of_random_histories_have_their_content)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(SEEDS);
    uint64_t copies = 0;

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        History history = {.seed = seed,
                           .max_value = 40000,
                           .bulk_one_in = 10,
                           .open_one_in = 12,
                           .restore_one_in = 20};
        uint64_t *truth = history_truth(&history, STEPS + 10);
        bed.options.page_size = files_page_sizes[seed % files_page_size_count];
        expect_context("SAP_TEST_SEED=%" PRIu64 ", pages of %u", seed, bed.options.page_size);
        SapEnv *db = file_bed_open(&bed);
        EXPECT_RC(history_open_tables(db), SAP_OK);
        for (uint64_t n = 1; n <= STEPS; n++) {
            EXPECT_RC(history_step(&history, db, n), SAP_OK);
            if (n % 13 == 0 || n == STEPS) {
                expect_copies(db);
                copies += WAYS;
            }
        }
        /* The copy goes on as the source would. */
        for (size_t way = 0; way < WAYS; way++) {
            EXPECT_RC(ways[way].make(db, copy_path), SAP_OK);
            SapEnv *copy = copies_open(&bed, copy_path);
            for (uint64_t n = STEPS + 1; n <= STEPS + 10; n++) {
                EXPECT_RC(history_step(&history, copy, n), SAP_OK);
                EXPECT(history_digest(copy, NULL) == truth[n], "step %" PRIu64 " is another", n);
            }
            model_expect_verified(copy);
            file_bed_close(copy);
            copies_remove(copy_path);
        }
        EXPECT(history_digest(db, NULL) == truth[STEPS], "the source changed");
        file_bed_close(db);
        copies_remove(bed.path);
        free(truth);
    }
    printf("%" PRIu64 " copies, seeds %" PRIu64 " to %" PRIu64 "\n", copies, first,
           first + seeds - 1);
    ck_assert_uint_gt(copies, 0);
}
END_TEST

START_TEST(copies_of_next_to_nothing_are_complete)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        bed.options.page_size = files_page_sizes[i];
        SapEnv *db = file_bed_open(&bed);
        expect_copies(db);
        EXPECT_RC(sap_dbi_open(db, 5, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
        expect_copies(db);
        SapTxnCtx *txn = begin(db);
        put(txn, 0, "", "", 0);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        expect_copies(db);
        file_bed_close(db);
        copies_remove(bed.path);
    }
}
END_TEST

START_TEST(copies_have_every_table)
{
    SapEnv *db = file_bed_open(&bed);

    for (uint32_t dbi = 1; dbi < SAP_MAX_DBI; dbi++) {
        unsigned flags = dbi % 3 == 0 ? SAP_DBI_DUPSORT : 0;
        EXPECT_RC(sap_dbi_open_named(db, dbi, dbi % 5 == 0 ? "folded" : NULL, flags), SAP_OK);
    }
    SapTxnCtx *txn = begin(db);
    for (uint32_t dbi = 0; dbi < SAP_MAX_DBI; dbi++) {
        for (uint32_t row = 0; row < dbi % 7; row++) {
            char key[32];
            snprintf(key, sizeof key, "%u of %u", row, dbi);
            put(txn, dbi, key, key, (uint32_t)strlen(key));
        }
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    expect_copies(db);
    file_bed_close(db);
}
END_TEST

/* Long keys make branches of few children, and so many levels. */
static uint32_t long_key(uint32_t i, uint32_t len, uint8_t *key)
{
    memset(key, (int)('a' + i % 7), len);
    store_u32be(key + len - 4, i * UINT32_C(2654435761));
    return len;
}

START_TEST(copies_of_deep_trees_have_every_row)
{
    enum { DEEP_ROWS = 2500, KEY_LEN = 1200 };
    uint8_t key[KEY_LEN];
    static uint8_t val[9000];
    SapStat stat;

    bed.options.comparator = "reverse";
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open(db, 1, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 2, NULL, NULL, 0), SAP_OK);
    for (uint32_t round = 0; round < 3; round++) {
        SapTxnCtx *txn = begin(db);
        for (uint32_t i = 0; i < DEEP_ROWS; i++) {
            uint32_t len = long_key(i, KEY_LEN - i % 5 * 100, key);
            memset(val, (int)(i % 251), sizeof val);
            if (i % 3 == round) {
                EXPECT_RC(sap_txn_put(txn, key, len, val, i % 11 == 0 ? sizeof val - i : 10),
                          SAP_OK);
                EXPECT_RC(sap_txn_put_dbi(txn, 1, "k", 1, key, len), SAP_OK);
                EXPECT_RC(sap_txn_put_dbi(txn, 2, key, len, val, i % 17 == 0 ? 5000 : 10), SAP_OK);
            } else if (i % 5 == round) {
                int rc = sap_txn_del_dbi(txn, 2, key, len);
                EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND, "del answered %d", rc);
            }
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
    printf("%u levels\n", stat.tree_depth);
    ck_assert_uint_ge(stat.tree_depth, 5);
    bed.options.comparator = NULL;
    expect_copies(db);
    file_bed_close(db);
}
END_TEST

START_TEST(copies_keep_orders_flags_and_large_values)
{
    static uint8_t big[BIG];

    memset(big, 'b', sizeof big);
    bed.options.comparator = "reverse";
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(sap_dbi_open_named(db, 1, "folded", 0), SAP_OK);
    EXPECT_RC(sap_dbi_open_named(db, 2, "length", SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 3, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_set_dupsort(db, 3, order_cmp(ORDER_LENGTH), order_ctx(ORDER_LENGTH)), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 4, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 5, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    SapTxnCtx *txn = begin(db);
    for (uint32_t i = 0; i < 3000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%s%u", i % 2 == 0 ? "A" : "a", i * 7919 % 3000);
        put(txn, 0, key, big, i % 100 == 0 ? BIG - i : 20);
        put(txn, 1, key, big, i % 500 == 0 ? BIG - i : 30);
        put(txn, 2, i % 3 == 0 ? "x" : "longer", key, (uint32_t)strlen(key));
        put(txn, 3, i % 3 == 0 ? "x" : "longer", key, (uint32_t)strlen(key));
        EXPECT_RC(sap_txn_put_ttl_dbi(txn, 4, 5, key, (uint32_t)strlen(key), big, i % 50, i),
                  SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    bed.options.comparator = NULL;
    expect_copies(db);
    for (size_t way = 0; way < WAYS; way++) {
        SapOpenOptions none = {.on_message = bed.options.on_message, .callback_ctx = &bed};
        SapEnv *copy = NULL;
        SapDbiInfo info = {0};
        EXPECT_RC(ways[way].make(db, copy_path), SAP_OK);
        EXPECT_RC(sap_db_open_path(copy_path, &none, &copy), SAP_ERROR);
        file_bed_expect_message(&bed, "comparator");
        copy = copies_open(&bed, copy_path);
        EXPECT_RC(sap_dbi_info(copy, 0, &info), SAP_OK);
        ck_assert_str_eq(info.comparator, "reverse");
        EXPECT_RC(sap_dbi_info(copy, 3, &info), SAP_OK);
        ck_assert_str_eq(info.val_comparator, "length");
        EXPECT_RC(sap_dbi_info(copy, 5, &info), SAP_OK);
        ck_assert_uint_eq(info.flags, SAP_DBI_TTL_META);
        file_bed_close(copy);
        copies_remove(copy_path);
    }
    file_bed_close(db);
}
END_TEST

/* ---- Size ----------------------------------------------------------------------------------- */

/* Nothing behind the bitmap, which is behind all pages. */
static void expect_dense_file(const Forge *forge)
{
    size_t size = 0;

    free(files_read(copy_path, &size));
    ck_assert_uint_eq(size, (uint64_t)forge->meta.high * forge->meta.page_size);
    ck_assert_uint_eq(forge->meta.bitmap + forge->meta.bitmap_pages, forge->meta.high);
}

/* A table of short rows of which a third is gone again. */
static void fill_and_thin(SapEnv *db)
{
    SapTxnCtx *txn = begin(db);
    Rng rng;
    char key[16];

    rng_seed(&rng, 1);
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        snprintf(key, sizeof key, "key%08u", i);
        put(txn, 0, key, "twenty bytes of value", 20);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    txn = begin(db);
    for (uint32_t i = 0; i < MANY_ROWS; i++) {
        snprintf(key, sizeof key, "key%08u", i);
        if (!rng_chance(&rng, 2, 3)) {
            EXPECT_RC(sap_txn_del(txn, key, (uint32_t)strlen(key)), SAP_OK);
        }
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

START_TEST(compacted_leaves_are_full_and_no_page_is_free)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        bed.options.page_size = files_page_sizes[i];
        SapEnv *db = file_bed_open(&bed);
        fill_and_thin(db);
        EXPECT_RC(sap_db_compact(db, copy_path), SAP_OK);
        SapEnv *copy = copies_open(&bed, copy_path);
        copies_expect_same(db, copy);
        file_bed_close(copy);
        copies_remove(copy_path);
        EXPECT_RC(sap_db_compact(db, copy_path), SAP_OK);
        Forge forge;
        forge_read(&forge, copy_path);
        uint32_t page_size = forge.meta.page_size;
        uint64_t leaves = 0;
        uint64_t used = 0;
        expect_dense_file(&forge);
        for (uint32_t pgno = file_first_page(page_size); pgno < forge.meta.bitmap; pgno++) {
            const uint8_t *page = forge_page(&forge, pgno);
            if (page[PAGE_TYPE] == PAGE_LEAF && (page_flags(page) & PAGE_DBI_MASK) == 0) {
                leaves++;
                used += node_used(page, page_size);
            }
        }
        uint64_t fill = used * 100 / (leaves * node_capacity(page_size));
        printf("pages of %u: %" PRIu64 " leaves, %" PRIu64 " %% full\n", page_size, leaves, fill);
        ck_assert_uint_gt(leaves, 10);
        ck_assert_uint_ge(fill, 90);
        forge_free(&forge);
        copies_remove(copy_path);
        file_bed_close(db);
        copies_remove(bed.path);
    }
}
END_TEST

START_TEST(backup_has_the_pages_of_its_source_and_no_free_ones)
{
    SapEnv *db = file_bed_open(&bed);
    Forge forge;

    fill_and_thin(db);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    uint64_t pages = sap_db_num_pages(db);
    EXPECT_RC(copies_backup(db, copy_path), SAP_OK);
    file_bed_close(db);
    forge_read(&forge, copy_path);
    uint64_t in_use = forge.meta.bitmap - file_first_page(forge.meta.page_size);
    printf("%" PRIu64 " pages in the backup, %" PRIu64 " held by the source\n", in_use, pages);
    ck_assert_uint_le(in_use, pages);
    expect_dense_file(&forge);
    forge_free(&forge);
}
END_TEST

/* ---- Ids and logs --------------------------------------------------------------------------- */

/* Sets to zero what depends on the id; returns it. */
static uint64_t take_out_id(Stream *image)
{
    uint8_t *meta = image->bytes + meta_offset(1, 0);
    uint64_t id = load_u64le(meta + META_DB_ID);
    uint32_t page_size = load_u32le(meta + META_PAGE_SIZE);

    for (uint32_t copy = 0; copy < 2; copy++) {
        meta = image->bytes + meta_offset(1, copy);
        memset(meta + META_DB_ID, 0, 8);
        memset(meta + META_CHECKSUM, 0, 8);
    }
    for (size_t at = (size_t)file_first_page(page_size) * page_size; at < image->len;) {
        uint8_t *page = image->bytes + at;
        uint32_t pages = page[PAGE_TYPE] == PAGE_OVERFLOW ? load_u32le(page + PAGE_RUN_PAGES) : 1;
        memset(page + PAGE_CHECKSUM, 0, 8);
        at += (size_t)pages * page_size;
    }
    return id;
}

static SapEnv *open_with_history(uint64_t seed)
{
    History history = {.seed = seed, .max_value = 40000};
    SapEnv *db = file_bed_open(&bed);

    EXPECT_RC(history_open_tables(db), SAP_OK);
    for (uint64_t n = 1; n <= STEPS; n++) {
        EXPECT_RC(history_step(&history, db, n), SAP_OK);
    }
    return db;
}

START_TEST(backups_of_one_snapshot_differ_in_their_ids_only)
{
    Stream images[2];
    uint64_t ids[2];
    SapEnv *db = open_with_history(3);
    uint64_t calls = 0;

    for (uint32_t i = 0; i < 2; i++) {
        stream_init(&images[i]);
        EXPECT_RC(sap_db_backup(db, stream_write, &images[i]), SAP_OK);
        calls = images[i].calls;
        ids[i] = take_out_id(&images[i]);
        EXPECT_RC(sap_db_sync(db), SAP_OK); /* changes nothing that is copied */
    }
    ck_assert_uint_gt(calls, 1);
    ck_assert_uint_ge(images[0].len / calls, 1024);
    ck_assert_uint_ne(ids[0], ids[1]);
    ck_assert_uint_eq(images[0].len, images[1].len);
    ck_assert_mem_eq(images[0].bytes, images[1].bytes, images[0].len);
    stream_free(&images[0]);
    stream_free(&images[1]);
    file_bed_close(db);
}
END_TEST

static void say_seven(void *bytes, uint32_t len, void *ctx)
{
    (void)ctx;
    memset(bytes, 7, len);
}

START_TEST(id_is_another_even_if_the_source_of_random_bytes_repeats_itself)
{
    Stream images[2];

    bed.options.random = say_seven;
    SapEnv *db = open_with_history(4);
    for (uint32_t i = 0; i < 2; i++) {
        stream_init(&images[i]);
        EXPECT_RC(sap_db_backup(db, stream_write, &images[i]), SAP_OK);
    }
    ck_assert_uint_eq(images[0].len, images[1].len);
    ck_assert_mem_eq(images[0].bytes, images[1].bytes, images[0].len);
    ck_assert_uint_eq(take_out_id(&images[0]), UINT64_C(0x0707070707070708));
    stream_free(&images[0]);
    stream_free(&images[1]);
    file_bed_close(db);
}
END_TEST

static void commit_and_die(void *arg)
{
    const char *path = arg;
    SapEnv *db = copies_open(&bed, path);
    SapTxnCtx *txn = begin(db);

    put(txn, 0, "left", "in the log", 10);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

/* Renames all files of a log. */
static void move_log(const char *from, const char *to)
{
    char old_name[FILES_PATH_MAX + 40];
    char new_name[FILES_PATH_MAX + 40];
    uint32_t moved = 0;

    for (unsigned n = 1; n < 64; n++) {
        snprintf(old_name, sizeof old_name, "%s-wal.%016x", from, n);
        snprintf(new_name, sizeof new_name, "%s-wal.%016x", to, n);
        moved += rename(old_name, new_name) == 0;
    }
    EXPECT(moved > 0, "there was no log");
}

START_TEST(log_of_another_is_not_taken_for_the_copys)
{
    static const unsigned flags[] = {0, SAP_OPEN_RDONLY};
    SapEnv *db = open_with_history(5);

    for (size_t way = 0; way < WAYS; way++) {
        copies_remove(copy_path);
        EXPECT_RC(ways[way].make(db, copy_path), SAP_OK);
        Stream content;
        copies_content(db, &content);
        file_bed_close(db);
        files_in_child(commit_and_die, bed.path);
        move_log(bed.path, copy_path);
        for (size_t i = 0; i < 2; i++) {
            SapOpenOptions options = bed.options;
            SapEnv *copy = NULL;
            options.flags = flags[i];
            EXPECT_RC(sap_db_open_path(copy_path, &options, &copy), SAP_CORRUPT);
            file_bed_expect_message(
                &bed, "complete without a log, but the log of another database is there");
        }
        move_log(copy_path, bed.path);
        db = file_bed_open(&bed);
        SapTxnCtx *txn = begin(db);
        EXPECT_RC(sap_txn_del(txn, "left", 4), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        copies_expect(&bed, copy_path, &content);
        /* Nor the other way round. */
        file_bed_close(db);
        files_in_child(commit_and_die, copy_path);
        move_log(copy_path, bed.path);
        SapEnv *none = NULL;
        EXPECT_RC(file_bed_try(&bed, &none), SAP_CORRUPT);
        copies_remove(bed.path);
        (void)unlink(copy_path);
        EXPECT_RC(unlink(copy_path) == 0 || errno == ENOENT ? SAP_OK : SAP_IO, SAP_OK);
        stream_free(&content);
        db = open_with_history(6);
    }
    file_bed_close(db);
}
END_TEST

START_TEST(copy_whose_newest_header_is_damaged_does_not_go_back)
{
    SapEnv *db = open_with_history(7);
    uint8_t zeros[2 * FILE_BLOCK] = {0};

    for (size_t way = 0; way < WAYS; way++) {
        copies_remove(copy_path);
        EXPECT_RC(ways[way].make(db, copy_path), SAP_OK);
        /* The first opening writes header 2, the commit is in the log. */
        files_in_child(commit_and_die, copy_path);
        files_write_at(copy_path, meta_offset(2, 0), zeros, sizeof zeros);
        SapEnv *copy = NULL;
        EXPECT_RC(sap_db_open_path(copy_path, &bed.options, &copy), SAP_CORRUPT);
        file_bed_expect_message(&bed, "newest header is damaged");
    }
    file_bed_close(db);
}
END_TEST

static void open_and_die_at(void *arg)
{
#if SAP_FAULTS
    fault_reset();
    fault_arm_crash(*(const uint64_t *)arg);
#endif
    (void)copies_open(&bed, copy_path);
}

START_TEST(first_opening_of_a_copy_can_be_cut_short)
{
    SapEnv *db = open_with_history(8);
    Stream content;
    uint64_t cuts = 0;

    copies_content(db, &content);
    for (uint64_t step = 1; step < 100; step++) {
        copies_remove(copy_path);
        EXPECT_RC(copies_backup(db, copy_path), SAP_OK);
        cuts += files_run_child(open_and_die_at, &step) != 0;
        SapEnv *copy = copies_open(&bed, copy_path);
        copies_expect_same(db, copy);
        model_expect_verified(copy);
        file_bed_close(copy);
        if (cuts < step) {
            break;
        }
    }
    printf("%" PRIu64 " openings cut short\n", cuts);
    ck_assert(cuts > 0 || !SAP_FAULTS);
    stream_free(&content);
    file_bed_close(db);
}
END_TEST

/* ---- From where ----------------------------------------------------------------------------- */

START_TEST(files_opened_for_reading_can_be_copied)
{
    file_bed_close(open_with_history(9));
    bed.options.flags = SAP_OPEN_RDONLY;
    SapEnv *db = file_bed_open(&bed);
    bed.options.flags = SAP_OPEN_CREATE;
    expect_copies(db);
    file_bed_close(db);
}
END_TEST

static void fill_memory(SapEnv *db)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_dbi_open(db, 1, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 9, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    txn = begin(db);
    for (uint32_t i = 0; i < 2000; i++) {
        char key[16];
        snprintf(key, sizeof key, "%u", i);
        put(txn, 0, key, big, i % 100 == 0 ? BIG - i : 30);
        put(txn, 1, "k", key, (uint32_t)strlen(key));
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

START_TEST(memory_can_be_copied_if_a_file_could_hold_it)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        SapEnv *db = sap_db_open(NULL, files_page_sizes[i], NULL, NULL);
        bed.options.page_size = files_page_sizes[i];
        expect_copies(db);
        fill_memory(db);
        expect_copies(db);
        file_bed_close(db);
    }
    /* Pages smaller than the arena's. */
    SapArenaOptions wide = {.type = SAP_ARENA_BACKING_MALLOC, .page_size = 16384};
    SapMemArena *arena = NULL;
    EXPECT_RC(sap_arena_init(&arena, &wide), SAP_OK);
    SapEnv *db = sap_db_open(arena, 4096, NULL, NULL);
    bed.options.page_size = 4096;
    fill_memory(db);
    expect_copies(db);
    file_bed_close(db);
    sap_arena_destroy(arena);
}
END_TEST

START_TEST(memory_that_no_file_could_hold_is_refused)
{
    static const uint32_t sizes[] = {256, 512, 2048, 4097, 12288, 65535};

    for (size_t way = 0; way < WAYS; way++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            SapEnv *db = sap_db_open(NULL, sizes[i], NULL, NULL);
            ck_assert_ptr_nonnull(db);
            EXPECT_RC(ways[way].make(db, copy_path), SAP_ERROR);
            file_bed_close(db);
        }
        SapEnv *db = sap_db_open(NULL, 4096, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE));
        EXPECT_RC(ways[way].make(db, copy_path), SAP_ERROR);
        file_bed_close(db);
        db = sap_db_open(NULL, 4096, NULL, NULL);
        EXPECT_RC(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_OK);
        EXPECT_RC(sap_dbi_set_dupsort(db, 1, order_cmp(ORDER_LENGTH), order_ctx(ORDER_LENGTH)),
                  SAP_OK);
        EXPECT_RC(ways[way].make(db, copy_path), SAP_ERROR);
        file_bed_close(db);
        copies_remove(copy_path);
    }
}
END_TEST

START_TEST(copy_made_within_a_write_transaction_has_the_commit_before_it)
{
    SapEnv *db = open_with_history(10);
    Stream content;

    copies_content(db, &content);
    for (size_t way = 0; way < WAYS; way++) {
        SapTxnCtx *txn = begin(db);
        put(txn, 0, "not yet", "committed", 9);
        EXPECT_RC(sap_txn_del_range(txn, 1, NULL, 0, NULL, 0, NULL), SAP_OK);
        EXPECT_RC(ways[way].make(db, copy_path), SAP_OK);
        put(txn, 0, "goes on", "after it", 8);
        sap_txn_abort(txn);
        copies_expect(&bed, copy_path, &content);
        copies_remove(copy_path);
    }
    stream_free(&content);
    file_bed_close(db);
}
END_TEST

/* Whether a commit is durable can change at any time; what was never hidden proves nothing. */
START_TEST(copies_have_durable_commits_only)
{
    enum { TRIES = 400 };
    unsigned hidden[WAYS] = {0};
    SapEnv *db = file_bed_open(&bed);

    for (size_t way = 0; way < WAYS; way++) {
        for (uint32_t i = 0; i < TRIES; i++) {
            SapTxnCtx *txn = begin(db);
            uint64_t lsn = 0;
            Forge forge;
            put(txn, 0, "value", &i, sizeof i);
            EXPECT_RC(sap_txn_commit_async(txn, &lsn), SAP_OK);
            EXPECT_RC(ways[way].make(db, copy_path), SAP_OK);
            bool durable = sap_db_durable_lsn(db) >= lsn;
            forge_read(&forge, copy_path);
            EXPECT(durable || forge.meta.txnid < lsn, "copied before it was durable");
            hidden[way] += forge.meta.txnid < lsn;
            forge_free(&forge);
            EXPECT_RC(unlink(copy_path), 0);
        }
        printf("%s: %u of %d commits were not durable yet\n", ways[way].name, hidden[way], TRIES);
        ck_assert_uint_gt(hidden[way], 0);
    }
    file_bed_close(db);
}
END_TEST

START_TEST(misuse_is_refused)
{
    SapEnv *db = file_bed_open(&bed);
    Stream out;

    stream_init(&out);
    EXPECT_RC(sap_db_backup(NULL, stream_write, &out), SAP_ERROR);
    EXPECT_RC(sap_db_backup(db, NULL, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_compact(NULL, copy_path), SAP_ERROR);
    EXPECT_RC(sap_db_compact(db, NULL), SAP_ERROR);
    EXPECT_RC(sap_db_compact(db, ""), SAP_ERROR);
    file_bed_close(db);
    SapEnv *bare = sap_env_create(NULL, 4096);
    EXPECT_RC(sap_db_backup(bare, stream_write, &out), SAP_ERROR);
    EXPECT_RC(sap_db_compact(bare, copy_path), SAP_ERROR);
    EXPECT_RC(sap_env_destroy(bare), SAP_OK);
    ck_assert_uint_eq(out.calls, 0);
    ck_assert(!copies_exist(copy_path));
    stream_free(&out);
}
END_TEST

/* ---- To where ------------------------------------------------------------------------------- */

static void expect_refused(SapEnv *db, const char *path, int code)
{
    Image *before = image_take(bed.dir);

    EXPECT_RC(sap_db_compact(db, path), code);
    EXPECT(file_bed_messages(&bed) != 0, "nothing was said");
    image_expect_same_beside_log(before, bed.dir);
    image_free(before);
    copies_expect_same(db, db);
    model_expect_verified(db);
}

START_TEST(target_of_a_compaction_must_be_new)
{
    char name[FILES_PATH_MAX + 40];
    SapEnv *db = open_with_history(11);
    EXPECT_RC(sap_db_sync(db), SAP_OK);

    expect_refused(db, bed.path, SAP_EXISTS);
    EXPECT_RC(copies_backup(db, copy_path), SAP_OK);
    expect_refused(db, copy_path, SAP_EXISTS);
    copies_remove(copy_path);
    EXPECT_RC(symlink(bed.path, copy_path), 0);
    expect_refused(db, copy_path, SAP_EXISTS);
    EXPECT_RC(unlink(copy_path), 0);
    EXPECT_RC(symlink("nowhere", copy_path), 0);
    EXPECT_RC(sap_db_compact(db, copy_path), SAP_EXISTS);
    EXPECT_RC(unlink(copy_path), 0);
    EXPECT_RC(link(bed.path, copy_path), 0);
    expect_refused(db, copy_path, SAP_EXISTS);
    EXPECT_RC(unlink(copy_path), 0);
    /* The name until then is a second one of the source. */
    EXPECT_RC(link(bed.path, unfinished_path), 0);
    expect_refused(db, copy_path, SAP_ERROR);
    EXPECT_RC(unlink(unfinished_path), 0);
    snprintf(name, sizeof name, "%s/no/such", bed.dir);
    expect_refused(db, name, SAP_NOTFOUND);
    expect_refused(db, bed.dir, SAP_EXISTS);
    file_bed_close(db);
}
END_TEST

START_TEST(database_whose_name_is_the_targets_first_one_is_not_touched)
{
    snprintf(bed.path, sizeof bed.path, "%s/copy-new", bed.dir);
    SapEnv *db = open_with_history(12);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    expect_refused(db, copy_path, SAP_ERROR);
    file_bed_close(db);
    db = file_bed_open(&bed);
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST

static void hold_target(void *arg)
{
    SapEnv *db = arg;
    SapEnv *target = copies_open(&bed, copy_path);
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(target, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "in the log", 10, "x", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    /* Its data file is gone, but it is open: it has the lock. */
    EXPECT_RC(unlink(copy_path), 0);
    expect_refused(db, copy_path, SAP_EXISTS); /* its log */
    char aside[FILES_PATH_MAX + 8];
    snprintf(aside, sizeof aside, "%s/aside", bed.dir);
    move_log(copy_path, aside);
    expect_refused(db, copy_path, SAP_BUSY);
}

START_TEST(target_that_is_open_is_busy)
{
    SapEnv *db = open_with_history(13);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    SapEnv *target = copies_open(&bed, copy_path);
    SapTxnCtx *txn = begin(target);
    put(txn, 0, "in", "the log", 7);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    file_bed_close(target);
    files_in_child(commit_and_die, copy_path);
    hold_target(db);
    file_bed_close(db);
}
END_TEST

START_TEST(leftovers_of_an_interrupted_compaction_are_replaced)
{
    SapEnv *db = open_with_history(14);
    Stream content;

    copies_content(db, &content);
    FILE *file = fopen(unfinished_path, "wb");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 200000; i++) {
        fputs("junk ", file);
    }
    fclose(file);
    EXPECT_RC(sap_db_compact(db, copy_path), SAP_OK);
    ck_assert(!copies_exist(unfinished_path));
    copies_expect(&bed, copy_path, &content);
    stream_free(&content);
    file_bed_close(db);
}
END_TEST

/* ---- Failures ------------------------------------------------------------------------------- */

START_TEST(refusal_of_the_write_function_is_the_answer)
{
    SapEnv *db = open_with_history(15);
    Stream whole;
    uint64_t n = 1;

    stream_init(&whole);
    EXPECT_RC(sap_db_backup(db, stream_write, &whole), SAP_OK);
    for (; n <= whole.calls + 1; n++) {
        Stream out;
        size_t live = mem_live_total();
        stream_init(&out);
        out.fail_call = n;
        out.fail_rc = n % 2 == 0 ? SAP_FULL : 4711;
        EXPECT_RC(sap_db_backup(db, stream_write, &out), n > whole.calls ? SAP_OK : out.fail_rc);
        EXPECT(out.calls == (n > whole.calls ? whole.calls : n), "it went on");
        EXPECT(mem_live_total() == live, "memory is left");
        stream_free(&out);
    }
    printf("%" PRIu64 " calls refused\n", n - 2);
    ck_assert_uint_gt(n, 3);
    expect_copies(db);
    stream_free(&whole);
    file_bed_close(db);
}
END_TEST

#if SAP_FAULTS

/* Fails n = 1, 2, ... of a kind until none fires. Returns how many did. */
static uint64_t fail_each(SapEnv *db, size_t way, void (*arm)(uint64_t nth), int code, int other,
                          bool all_from)
{
    Stream content;
    uint64_t n = 1;

    copies_content(db, &content);
    for (;; n++) {
        size_t live = mem_live_total();
        copies_remove(copy_path);
        (void)file_bed_messages(&bed);
        fault_reset();
        arm(n);
        int rc = ways[way].make(db, copy_path);
        uint64_t fired = fault_fired();
        fault_reset();
        EXPECT(mem_live_total() == live, "%s, fault %" PRIu64 ": memory is left", ways[way].name,
               n);
        if (fired == 0) {
            EXPECT_RC(rc, SAP_OK);
            break;
        }
        EXPECT(rc == code || rc == other || (rc == SAP_OK && all_from),
               "%s, fault %" PRIu64 " answered %d", ways[way].name, n, rc);
        uint32_t messages = file_bed_messages(&bed);
        EXPECT(code == SAP_NOMEM || rc == SAP_OK || messages == 1,
               "fault %" PRIu64 " was told %u times: %s", n, messages, bed.message);
        bool stays = way == 0 || rc == SAP_OK || (all_from && copies_exist(copy_path));
        EXPECT(stays == copies_exist(copy_path), "fault %" PRIu64 " left a target", n);
        if (way == 1 && copies_exist(copy_path)) {
            copies_expect(&bed, copy_path,
                          &content); /* nothing could be removed, but it is whole */
        }
        SapTxnCtx *txn = begin(db);
        put(txn, 0, "still", "usable", 6);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        txn = begin(db);
        EXPECT_RC(sap_txn_del(txn, "still", 5), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    copies_expect(&bed, copy_path, &content);
    copies_remove(copy_path);
    stream_free(&content);
    return n - 1;
}

static void arm_eio(uint64_t nth)
{
    fault_arm_io(nth, EIO);
}

static void arm_enospc(uint64_t nth)
{
    fault_arm_io(nth, ENOSPC);
}

static void arm_eio_from(uint64_t nth)
{
    fault_arm_io_from(nth, EIO);
}

static void arm_enospc_from(uint64_t nth)
{
    fault_arm_io_from(nth, ENOSPC);
}

START_TEST(copy_that_runs_out_of_memory_leaves_nothing)
{
    bed.options.sync_mode = SAP_SYNC_NONE; /* nobody works in the background */
    SapEnv *db = open_with_history(16);

    for (size_t way = 0; way < WAYS; way++) {
        uint64_t failed = fail_each(db, way, fault_arm_alloc, SAP_NOMEM, SAP_NOMEM, false);
        failed += fail_each(db, way, fault_arm_alloc_from, SAP_NOMEM, SAP_NOMEM, true);
        printf("%s: %" PRIu64 " allocations failed\n", ways[way].name, failed);
        ck_assert_uint_gt(failed, 5);
    }
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST

START_TEST(compaction_on_a_failing_disk_leaves_no_target_and_the_source_as_it_was)
{
    bed.options.sync_mode = SAP_SYNC_NONE; /* else the background may meet the failure first */
    SapEnv *db = open_with_history(17);
    EXPECT_RC(sap_db_sync(db), SAP_OK);

    uint64_t failed = fail_each(db, 1, arm_eio, SAP_IO, SAP_IO, false);
    failed += fail_each(db, 1, arm_enospc, SAP_FULL, SAP_IO, false);
    failed += fail_each(db, 1, arm_eio_from, SAP_IO, SAP_IO, true);
    failed += fail_each(db, 1, arm_enospc_from, SAP_FULL, SAP_IO, true);
    printf("%" PRIu64 " operations failed\n", failed);
    ck_assert_uint_gt(failed, 20);
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST

static void compact_and_die_at(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    fault_reset();
    fault_arm_crash(*(const uint64_t *)arg);
    EXPECT_RC(sap_db_compact(db, copy_path), SAP_OK);
}

START_TEST(compaction_cut_short_leaves_no_part_of_the_target)
{
    SapEnv *db = open_with_history(18);
    Stream content;
    uint64_t step = 1;
    uint64_t complete = 0;

    copies_content(db, &content);
    file_bed_close(db);
    for (;; step++) {
        copies_remove(copy_path);
        int status = files_run_child(compact_and_die_at, &step);
        if (copies_exist(copy_path)) {
            copies_expect(&bed, copy_path, &content);
            complete++;
        }
        db = file_bed_open(&bed);
        model_expect_verified(db);
        file_bed_close(db);
        if (status == 0) {
            break;
        }
    }
    printf("%" PRIu64 " deaths, %" PRIu64 " times the target was complete\n", step - 1, complete);
    ck_assert_uint_ge(step - 1, 3);
    ck_assert_uint_ge(complete, 2);
    stream_free(&content);
}
END_TEST

#endif

START_TEST(damaged_page_ends_the_copy)
{
    uint64_t refused = 0;
    uint64_t unharmed = 0;
    Forge good;
    Forge bad = {0};

    file_bed_close(open_with_history(19));
    forge_read(&good, bed.path);
    for (uint32_t pgno = file_first_page(good.meta.page_size); pgno < forge_pages(&good); pgno++) {
        SapEnv *db = NULL;
        forge_copy(&bad, &good);
        forge_page(&bad, pgno)[40] ^= 0x10;
        forge_write_data(&bad, bed.path);
        if (file_bed_try(&bed, &db) != SAP_OK) {
            continue; /* bitmap or catalog */
        }
        int verified = sap_db_verify(db, NULL, NULL);
        for (size_t way = 0; way < WAYS; way++) {
            /* Free pages, and those within runs behind the value, are nobody's. */
            file_bed_close(db);
            db = file_bed_open(&bed);
            int rc = ways[way].make(db, copy_path);
            EXPECT(rc == verified, "page %u: %s answered %d, verify %d", pgno, ways[way].name, rc,
                   verified);
            EXPECT(way == 0 || copies_exist(copy_path) == (rc == SAP_OK), "page %u", pgno);
            refused += rc == SAP_CORRUPT;
            unharmed += rc == SAP_OK;
            copies_remove(copy_path);
        }
        file_bed_close(db);
    }
    forge_write_data(&good, bed.path);
    printf("%" PRIu64 " copies refused, %" PRIu64 " not concerned\n", refused, unharmed);
    ck_assert(refused > 0 || !SAP_FILE_MAPPED); /* held in memory: opening refuses it */
    forge_free(&good);
    forge_free(&bad);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_backup");
    TCase *tcase = tcase_create("backup");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, copies_of_random_histories_have_their_content);
    tcase_add_test(tcase, copies_of_next_to_nothing_are_complete);
    tcase_add_test(tcase, copies_have_every_table);
    tcase_add_test(tcase, copies_of_deep_trees_have_every_row);
    tcase_add_test(tcase, copies_keep_orders_flags_and_large_values);
    tcase_add_test(tcase, compacted_leaves_are_full_and_no_page_is_free);
    tcase_add_test(tcase, backup_has_the_pages_of_its_source_and_no_free_ones);
    tcase_add_test(tcase, backups_of_one_snapshot_differ_in_their_ids_only);
    tcase_add_test(tcase, id_is_another_even_if_the_source_of_random_bytes_repeats_itself);
    tcase_add_test(tcase, log_of_another_is_not_taken_for_the_copys);
    tcase_add_test(tcase, copy_whose_newest_header_is_damaged_does_not_go_back);
    tcase_add_test(tcase, first_opening_of_a_copy_can_be_cut_short);
    tcase_add_test(tcase, files_opened_for_reading_can_be_copied);
    tcase_add_test(tcase, memory_can_be_copied_if_a_file_could_hold_it);
    tcase_add_test(tcase, memory_that_no_file_could_hold_is_refused);
    tcase_add_test(tcase, copy_made_within_a_write_transaction_has_the_commit_before_it);
    tcase_add_test(tcase, copies_have_durable_commits_only);
    tcase_add_test(tcase, misuse_is_refused);
    tcase_add_test(tcase, target_of_a_compaction_must_be_new);
    tcase_add_test(tcase, database_whose_name_is_the_targets_first_one_is_not_touched);
    tcase_add_test(tcase, target_that_is_open_is_busy);
    tcase_add_test(tcase, leftovers_of_an_interrupted_compaction_are_replaced);
    tcase_add_test(tcase, refusal_of_the_write_function_is_the_answer);
#if SAP_FAULTS
    tcase_add_test(tcase, copy_that_runs_out_of_memory_leaves_nothing);
    tcase_add_test(tcase, compaction_on_a_failing_disk_leaves_no_target_and_the_source_as_it_was);
    tcase_add_test(tcase, compaction_cut_short_leaves_no_part_of_the_target);
#endif
    tcase_add_test(tcase, damaged_page_ends_the_copy);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
