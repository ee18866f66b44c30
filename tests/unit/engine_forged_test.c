/* Pages whose checksums are right and whose content is not: what reads them answers SAP_CORRUPT, says
 * so in a message, and changes nothing. */
#include "sapling/env.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/forge.h"
#include "support/stream.h"
#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_S = 120,
    ROWS = 300,
    KEY = 400, /* long enough for three levels */
    PAIR_KEY = 150,
    BIG = 6000,
    PAIRS = 1,
    SMALL = 2,
};

static FileBed bed;
static Forge forge;

static void setup(void)
{
    file_bed_start(&bed);
    bed.options.max_size = UINT64_C(64) << 20;
}

static void teardown(void)
{
    forge_free(&forge);
    file_bed_end(&bed);
}

static void key_of(uint32_t i, char key[KEY + 1])
{
    memset(key, 'k', KEY);
    snprintf(key + KEY - 8, 9, "%08u", i);
    key[0] = (char)('a' + i / 12); /* so that separators are long, and share nothing */
}

static void make_file(void)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = NULL;
    SapEnv *db = file_bed_open(&bed);

    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, SMALL, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = 0; i < ROWS; i++) {
        char key[KEY + 1];
        key_of(i, key);
        EXPECT_RC(sap_txn_put(txn, key, KEY, big, i % 20 == 0 ? BIG : 10), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, key, PAIR_KEY, key + KEY - 50, 50), SAP_OK);
    }
    EXPECT_RC(sap_txn_put_dbi(txn, SMALL, "one", 3, "row", 3), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    forge_read(&forge, bed.path);
}

/* ---- Places --------------------------------------------------------------------------------- */

/* The row of the catalog, which is one leaf, that leads to the table's root. */
static uint8_t *root_row(uint32_t dbi)
{
    uint8_t *catalog = forge_page(&forge, forge.meta.catalog);

    EXPECT(page_is_leaf(catalog), "the catalog is no leaf");
    for (uint32_t i = 0; i < page_count(catalog); i++) {
        LeafRow row = leaf_row(catalog, i);
        if (row.key_len == CATALOG_KEY && load_u16be(row.key) == dbi) {
            return catalog + (row.val - catalog);
        }
    }
    EXPECT(false, "table %u has no root", dbi);
    return NULL;
}

/* On the way to the first row: the page of that level, or the one `index` places beside it. */
static uint8_t *page_at(uint32_t dbi, uint32_t level, uint32_t index)
{
    uint8_t *page = forge_page(&forge, load_u32le(root_row(dbi)));

    EXPECT(page_level(page) >= level, "table %u is not high enough", dbi);
    while (page_level(page) > level) {
        page = forge_page(&forge, branch_child(page, page_level(page) == level + 1 ? index : 0));
    }
    return page;
}

static uint8_t *leaf(void)
{
    return page_at(0, 0, 0);
}

static uint8_t *branch(void)
{
    return page_at(0, 1, 0);
}

static uint8_t *slot(uint8_t *page, uint32_t i)
{
    return page_is_leaf(page) ? page + PAGE_HEADER + (size_t)4 * page_count(page) + (size_t)2 * i
                              : page + (branch_slots(page) - page) + (size_t)2 * i;
}

static uint8_t *cell(uint8_t *page, uint32_t i)
{
    return page + load_u16le(slot(page, i));
}

static uint32_t first_run(void)
{
    LeafRow row = leaf_row(leaf(), 0);

    EXPECT(row.val_code == CELL_VAL_ELSEWHERE, "the first value is not in a run");
    return row_run(&row);
}

static uint32_t free_page(void)
{
    const uint8_t *bits = forge_page(&forge, forge.meta.bitmap) + PAGE_HEADER;
    uint32_t pgno = file_first_page(forge.meta.page_size);

    while (pgno < forge.meta.high && (bits[pgno / 8] >> (pgno % 8) & 1) != 0) {
        pgno++;
    }
    EXPECT(pgno < forge.meta.high, "no page is free");
    return pgno;
}

static void swap_rows(uint8_t *page, uint32_t head_at)
{
    uint8_t head[4];
    uint8_t place[2];

    memcpy(head, page + head_at + 4, 4);
    memmove(page + head_at + 4, page + head_at + 8, 4);
    memcpy(page + head_at + 8, head, 4);
    memcpy(place, slot(page, 1), 2);
    memmove(slot(page, 1), slot(page, 2), 2);
    memcpy(slot(page, 2), place, 2);
}

/* ---- What is wrong -------------------------------------------------------------------------- */

/* Each returns the page it changed. */

static uint8_t *leaf_of_another_level(void)
{
    uint8_t *page = leaf();
    page[PAGE_LEVEL] = 1;
    return page;
}

static uint8_t *leaf_is_branch(void)
{
    uint8_t *page = leaf();
    page[PAGE_TYPE] = PAGE_BRANCH;
    return page;
}

static uint8_t *leaf_without_rows(void)
{
    uint8_t *page = leaf();
    page_set(page, PAGE_COUNT, 0);
    return page;
}

static uint8_t *leaf_with_many_rows(void)
{
    uint8_t *page = leaf();
    page_set(page, PAGE_COUNT, 60000);
    return page;
}

static uint8_t *cells_begin_in_the_arrays(void)
{
    uint8_t *page = leaf();
    page_set(page, PAGE_UPPER, PAGE_HEADER);
    return page;
}

static uint8_t *cells_begin_behind_the_page(void)
{
    uint8_t *page = leaf();
    page_set(page, PAGE_UPPER, 60000);
    return page;
}

static uint8_t *cell_in_the_header(void)
{
    uint8_t *page = leaf();
    store_u16le(slot(page, 1), 4);
    return page;
}

static uint8_t *cell_at_the_end(void)
{
    uint8_t *page = leaf();
    store_u16le(slot(page, 1), (uint16_t)(forge.meta.page_size - 2));
    return page;
}

static uint8_t *key_beyond_the_page(void)
{
    uint8_t *page = leaf();
    store_u16le(cell(page, 1), 0xfff0);
    return page;
}

static uint8_t *value_beyond_the_page(void)
{
    uint8_t *page = leaf();
    store_u16le(cell(page, 1) + 2, 0xfff0);
    return page;
}

static uint8_t *cells_that_overlap(void)
{
    uint8_t *page = leaf();
    memcpy(slot(page, 2), slot(page, 1), 2);
    return page;
}

static uint8_t *dead_bytes_that_are_not(void)
{
    uint8_t *page = leaf();
    page_set(page, PAGE_DEAD, page_dead(page) + 1);
    return page;
}

static uint8_t *prefix_longer_than_keys(void)
{
    uint8_t *page = leaf();
    page_set(page, PAGE_PREFIX, KEY + 1);
    return page;
}

static uint8_t *head_of_no_key(void)
{
    uint8_t *page = leaf();
    page[PAGE_HEADER + 4] ^= 1;
    return page;
}

static uint8_t *rows_out_of_order(void)
{
    uint8_t *page = leaf();
    swap_rows(page, PAGE_HEADER);
    return page;
}

static uint8_t *run_not_mentioned(void)
{
    uint8_t *page = leaf();
    page_set_flags(page, page_flags(page) & ~(uint32_t)PAGE_OWNS_RUNS);
    return page;
}

static uint8_t *run_beyond_the_file(void)
{
    uint8_t *page = leaf();
    LeafRow row = leaf_row(page, 0);
    store_u32le(page + (row.val - page), forge.meta.high);
    return page;
}

static uint8_t *run_that_is_too_long(void)
{
    uint8_t *page = leaf();
    LeafRow row = leaf_row(page, 0);
    store_u32le(page + (row.val - page) + 4, UINT32_MAX);
    return page;
}

static uint8_t *run_that_is_a_leaf(void)
{
    uint8_t *page = leaf();
    LeafRow row = leaf_row(page, 0);
    store_u32le(page + (row.val - page), page_no(page));
    store_u32le(page + (row.val - page) + 4, 100);
    return page;
}

static uint8_t *run_of_another_length(void)
{
    uint8_t *run = forge_page(&forge, first_run());
    store_u32le(run + PAGE_RUN_LEN, BIG - 1);
    return run;
}

static uint8_t *run_with_a_level(void)
{
    uint8_t *run = forge_page(&forge, first_run());
    run[PAGE_LEVEL] = 1;
    return run;
}

static uint8_t *page_from_the_future(void)
{
    uint8_t *page = leaf();
    store_u64le(page + PAGE_BIRTH, forge.meta.txnid + 1);
    return page;
}

static uint8_t *leaf_of_another_table(void)
{
    uint8_t *page = leaf();
    page_set_flags(page, page_flags(page) + SMALL);
    return page;
}

static uint8_t *leaf_of_no_table(void)
{
    uint8_t *page = leaf();
    page_set_flags(page, page_flags(page) + 77);
    return page;
}

static uint8_t *leaf_of_another_kind(void)
{
    uint8_t *page = leaf();
    page_set_flags(page, page_flags(page) | PAGE_PLAIN);
    return page;
}

static uint8_t *separator_outside_the_cells(void)
{
    uint8_t *page = branch();
    store_u16le(slot(page, 1), 8);
    return page;
}

static uint8_t *separators_out_of_order(void)
{
    uint8_t *page = branch();
    swap_rows(page, (uint32_t)(branch_heads(page) - page));
    return page;
}

static uint8_t *child_zero(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 0, 0);
    return page;
}

static uint8_t *child_beyond_the_file(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 0, forge.meta.high);
    return page;
}

static uint8_t *child_that_is_free(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 0, free_page());
    return page;
}

static uint8_t *child_that_is_itself(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 0, page_no(page));
    return page;
}

static uint8_t *child_that_is_a_run(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 0, first_run());
    return page;
}

static uint8_t *child_of_another_table(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 0, load_u32le(root_row(SMALL)));
    return page;
}

static uint8_t *child_used_twice(void)
{
    uint8_t *page = branch();
    branch_set_child(page, 1, branch_child_word(page, 0));
    return page;
}

static uint8_t *count_of_a_leaf(void)
{
    uint8_t *page = branch();
    branch_set_rows(page, 0, UINT16_MAX);
    return page;
}

static uint8_t *root_of_another_table(void)
{
    memcpy(root_row(0), root_row(SMALL), 4);
    return forge_page(&forge, forge.meta.catalog);
}

static uint8_t *root_that_is_a_run(void)
{
    store_u32le(root_row(0), first_run());
    return forge_page(&forge, forge.meta.catalog);
}

static uint8_t *pair_that_is_none(void)
{
    uint8_t *page = page_at(PAIRS, 0, 0);
    LeafRow row = leaf_row(page, 1);
    store_u16le(page + (row.key - page), KEY + 1);
    return page;
}

typedef struct Wrong {
    const char *name;
    uint8_t *(*make)(void);
    uint32_t dbi;
    const char *message;
} Wrong;

#define WRONG(make, message)    \
    {                           \
#make, make, 0, message \
    }

static const Wrong wrongs[] = {
    WRONG(leaf_of_another_level, "type and level"),
    WRONG(leaf_is_branch, "type and level"),
    WRONG(leaf_without_rows, "count"),
    WRONG(leaf_with_many_rows, "count"),
    WRONG(cells_begin_in_the_arrays, "bounds"),
    WRONG(cells_begin_behind_the_page, "bounds"),
    WRONG(cell_in_the_header, "outside the cells"),
    WRONG(cell_at_the_end, "outside the cells"),
    WRONG(key_beyond_the_page, "outside the cells"),
    WRONG(value_beyond_the_page, "outside the cells"),
    WRONG(cells_that_overlap, "overlap"),
    WRONG(dead_bytes_that_are_not, "add up"),
    WRONG(prefix_longer_than_keys, "prefix"),
    WRONG(head_of_no_key, "head"),
    WRONG(rows_out_of_order, "not above"),
    WRONG(run_not_mentioned, "run"),
    WRONG(run_beyond_the_file, "refers to"),
    WRONG(run_that_is_too_long, "refers to"),
    WRONG(run_that_is_a_leaf, "is not the value"),
    WRONG(run_of_another_length, "is not the value"),
    WRONG(run_with_a_level, "level"),
    WRONG(page_from_the_future, "future"),
    WRONG(leaf_of_another_table, "no child"),
    WRONG(leaf_of_no_table, "kind"),
    WRONG(leaf_of_another_kind, ""), /* heads are taken for slots then */
    WRONG(separator_outside_the_cells, "outside the cells"),
    WRONG(separators_out_of_order, "not above"),
    WRONG(child_zero, "refers to"),
    WRONG(child_beyond_the_file, "refers to"),
    WRONG(child_that_is_free, "refers to"),
    WRONG(child_that_is_itself, "no child"),
    WRONG(child_that_is_a_run, "no child"),
    WRONG(child_of_another_table, "no child"),
    WRONG(child_used_twice, "elsewhere"),
    WRONG(count_of_a_leaf, "number of rows"),
    WRONG(root_of_another_table, "root"),
    WRONG(root_that_is_a_run, "root"),
    {"pair_that_is_none", pair_that_is_none, PAIRS, "pairs"},
};

/* ---- Calls ---------------------------------------------------------------------------------- */

static int call_walk(SapTxnCtx *txn, uint32_t dbi)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    const void *val = NULL;
    uint32_t len = 0;
    uint32_t rows = 0;

    EXPECT(cur != NULL, "no cursor");
    int rc = sap_cursor_first(cur);
    while (rc == SAP_OK) {
        EXPECT(++rows <= ROWS, "the walk does not end");
        rc = sap_cursor_get(cur, NULL, NULL, &val, &len);
        rc = rc == SAP_OK ? sap_cursor_next(cur) : rc;
    }
    sap_cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int call_walk_back(SapTxnCtx *txn, uint32_t dbi)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    uint32_t rows = 0;

    EXPECT(cur != NULL, "no cursor");
    int rc = sap_cursor_last(cur);
    while (rc == SAP_OK) {
        EXPECT(++rows <= ROWS, "the walk does not end");
        rc = sap_cursor_prev(cur);
    }
    sap_cursor_close(cur);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int call_get(SapTxnCtx *txn, uint32_t dbi)
{
    char key[KEY + 1];

    key_of(1, key);
    int rc = sap_txn_get_dbi(txn, dbi, key, dbi == PAIRS ? PAIR_KEY : KEY, NULL, NULL);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int call_put(SapTxnCtx *txn, uint32_t dbi)
{
    char key[KEY + 1];

    key_of(1, key);
    return sap_txn_put_dbi(txn, dbi, key, dbi == PAIRS ? PAIR_KEY : KEY, "new", 3);
}

static int call_del(SapTxnCtx *txn, uint32_t dbi)
{
    char key[KEY + 1];

    key_of(0, key);
    int rc = sap_txn_del_dbi(txn, dbi, key, dbi == PAIRS ? PAIR_KEY : KEY);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int call_del_all(SapTxnCtx *txn, uint32_t dbi)
{
    return sap_txn_del_range(txn, dbi, NULL, 0, NULL, 0, NULL);
}

static int call_load(SapTxnCtx *txn, uint32_t dbi)
{
    static char names[ROWS][8];
    const void *keys[ROWS];
    uint32_t lens[ROWS];

    for (uint32_t i = 0; i < ROWS; i++) {
        snprintf(names[i], sizeof names[i], "l%05u", i % 100000);
        keys[i] = names[i];
        lens[i] = 6;
    }
    return sap_txn_load_sorted(txn, dbi, keys, lens, keys, lens, ROWS);
}

static int (*const calls[])(SapTxnCtx *txn, uint32_t dbi) = {
    call_walk, call_walk_back, call_get, call_put, call_del, call_del_all, call_load,
};

/* How many of the calls are refused. The transactions of those are committed. */
static uint32_t run_calls(SapEnv *db, uint32_t dbi)
{
    uint32_t refused = 0;

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        int rc = calls[i](txn, dbi);
        EXPECT(rc == SAP_OK || rc == SAP_CORRUPT, "call %zu answered %d", i, rc);
        if (rc == SAP_CORRUPT) {
            refused++;
            EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        } else {
            sap_txn_abort(txn);
        }
    }
    return refused;
}

/* A backup meets what is wrong with the file. So does a compaction, unless making the pages anew sets
 * it right. */
static void expect_no_wrong_copy(SapEnv *db)
{
    char path[FILES_PATH_MAX + 8];
    Stream image;
    SapEnv *copy = NULL;

    snprintf(path, sizeof path, "%s-copy", bed.path);
    stream_init(&image);
    EXPECT_RC(sap_db_backup(db, stream_write, &image), SAP_CORRUPT);
    stream_free(&image);
    int rc = sap_db_compact(db, path);
    EXPECT(rc == SAP_OK || rc == SAP_CORRUPT, "compact answered %d", rc);
    if (rc == SAP_OK) {
        EXPECT_RC(sap_db_open_path(path, &bed.options, &copy), SAP_OK);
        EXPECT_RC(sap_db_verify(copy, NULL, NULL), SAP_OK);
        file_bed_close(copy);
    }
}

static void read_stream(SapEnv *db, Stream *stream)
{
    stream_init(stream);
    EXPECT_RC(sap_db_checkpoint(db, stream_write, stream), SAP_OK);
}

/* Whatever is wrong, what is made of the rest is right. */
static void recover_to_a_sound_file(void)
{
    FileBed out;
    SapRecoverReport report;

    file_bed_start(&out);
    EXPECT_RC(sap_db_recover(bed.path, out.path, NULL, &report), SAP_OK);
    EXPECT(report.rows > ROWS, "%u rows", (unsigned)report.rows);
    SapEnv *db = file_bed_open(&out);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    file_bed_close(db);
    file_bed_end(&out);
}

START_TEST(wrong_page_with_a_right_checksum_is_refused_and_nothing_changes)
{
    const Wrong *wrong = &wrongs[_i];
    Forge sound = {0};
    Stream before;
    Stream after;
    SapEnv *db = NULL;

    expect_context("%s", wrong->name);
    make_file();
    db = file_bed_open(&bed);
    read_stream(db, &before);
    file_bed_close(db);
    forge_copy(&sound, &forge);
    uint32_t pgno = page_no(wrong->make());
    forge_seal_page(&forge, pgno);
    forge_write_data(&forge, bed.path);
    (void)file_bed_messages(&bed);
    int rc = file_bed_try(&bed, &db);
    EXPECT(rc == SAP_OK || (rc == SAP_CORRUPT && !SAP_FILE_MAPPED), "open answered %d", rc);
    if (rc == SAP_OK) {
        EXPECT(run_calls(db, wrong->dbi) > 0, "nothing was refused");
        file_bed_expect_message(&bed, wrong->message);
        EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_CORRUPT);
        expect_no_wrong_copy(db);
        file_bed_close(db);
    }
    recover_to_a_sound_file();
    memcpy(forge_page(&forge, pgno), forge_page(&sound, pgno), forge.meta.page_size);
    files_write_at(bed.path, (uint64_t)pgno * forge.meta.page_size, forge_page(&forge, pgno),
                   forge.meta.page_size);
    db = file_bed_open(&bed);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    read_stream(db, &after);
    EXPECT(before.len == after.len && memcmp(before.bytes, after.bytes, after.len) == 0,
           "other rows than before");
    file_bed_close(db);
    stream_free(&before);
    stream_free(&after);
    forge_free(&sound);
}
END_TEST

/* The one that is no page of a wrong tree, but a tree of two right pages: its rows can be read, and
 * it shows when both places give it up. */
START_TEST(page_in_two_places_cannot_be_committed)
{
    SapTxnCtx *txn = NULL;

    make_file();
    uint8_t *upper = page_at(0, 2, 0);
    branch_set_child(upper, page_count(upper) - 1, branch_child_word(upper, 0));
    forge_seal_page(&forge, page_no(upper));
    forge_write_data(&forge, bed.path);
    SapEnv *db = NULL;
    int rc = file_bed_try(&bed, &db);
    EXPECT_RC(rc, SAP_OK);
    expect_no_wrong_copy(db);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_del_range(txn, 0, NULL, 0, NULL, 0, NULL), SAP_OK);
    (void)file_bed_messages(&bed);
    EXPECT_RC(sap_txn_commit(txn), SAP_CORRUPT);
    file_bed_expect_message(&bed, "two places");
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(txn, SMALL, "two", 3, "rows", 4), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_CORRUPT);
    file_bed_close(db);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_forged");
    TCase *tcase = tcase_create("forged");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, wrong_page_with_a_right_checksum_is_refused_and_nothing_changes, 0,
                        (int)(sizeof wrongs / sizeof wrongs[0]));
    tcase_add_test(tcase, page_in_two_places_cannot_be_committed);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
