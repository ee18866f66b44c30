/* How far long calls are: rows done of rows in all, ascending up to the end, and an answer that ends
 * the call leaves nothing of it. */
#include "common/config.h"
#include "common/mem.h"
#include "support/copies.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/forge.h"
#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 5000, BIG_ROWS = 3, BIG = 30000, ALL = ROWS + BIG_ROWS + 2, STOP = SAP_CONFLICT };

static FileBed bed;
static char target[FILES_PATH_MAX + 8];
static size_t live_before;

static void set_up(void)
{
    live_before = mem_live_total();
    file_bed_start(&bed);
    snprintf(target, sizeof target, "%s-copy", bed.path);
}

static void tear_down(void)
{
    file_bed_end(&bed);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static void fill(SapEnv *db)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_dbi_open(db, 3, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = 0; i < ROWS + BIG_ROWS; i++) {
        char key[16];
        int len = snprintf(key, sizeof key, "%08u", i);
        EXPECT_RC(sap_txn_put(txn, key, (uint32_t)len, big, i < ROWS ? 50 : BIG), SAP_OK);
    }
    EXPECT_RC(sap_txn_put_dbi(txn, 3, "k", 1, "a", 1), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(txn, 3, "k", 1, "b", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

typedef struct Heard {
    uint64_t calls;
    uint64_t last;
    uint64_t total;
    uint64_t stop_at; /* call; 0: none */
    uint64_t findings;
} Heard;

static int hear(uint64_t done, uint64_t total, void *ctx)
{
    Heard *heard = ctx;

    EXPECT(done >= heard->last, "%" PRIu64 " rows behind %" PRIu64, done, heard->last);
    EXPECT(done <= total, "%" PRIu64 " rows of %" PRIu64, done, total);
    EXPECT(heard->calls == 0 || total == heard->total, "the total changed");
    heard->calls++;
    heard->last = done;
    heard->total = total;
    return heard->calls == heard->stop_at ? STOP : SAP_OK;
}

static void count_finding(const char *text, void *ctx)
{
    (void)text;
    ((Heard *)ctx)->findings++;
}

static int verify(SapEnv *db, Heard *heard)
{
    return sap_db_verify_progress(db, count_finding, hear, heard);
}

static int compact(SapEnv *db, Heard *heard)
{
    return sap_db_compact_progress(db, target, hear, heard);
}

/* Ended at each call in turn. */
static void end_everywhere(SapEnv *db, int (*call)(SapEnv *db, Heard *heard), uint64_t calls)
{
    for (uint64_t n = 1; n <= calls; n++) {
        Heard heard = {.stop_at = n};
        expect_context("ended at call %" PRIu64 " of %" PRIu64, n, calls);
        EXPECT_RC(call(db, &heard), STOP);
        EXPECT(heard.calls == n, "%" PRIu64 " calls", heard.calls);
        EXPECT(heard.findings == 0, "ending it is no finding");
        EXPECT(!copies_exist(target), "a part of a copy is left");
    }
    printf("ended %" PRIu64 " times\n", calls);
}

static void expect_heard(const Heard *heard, uint64_t rows, uint64_t least_calls)
{
    EXPECT(heard->last == rows && heard->total == rows, "%" PRIu64 " of %" PRIu64 " rows",
           heard->last, heard->total);
    EXPECT(heard->calls >= least_calls, "%" PRIu64 " calls", heard->calls);
}

START_TEST(verify_and_compact_tell_how_far_they_are)
{
    for (int in_memory = 0; in_memory < 2; in_memory++) {
        SapEnv *db = in_memory == 1 ? sap_db_open(NULL, 4096, NULL, NULL) : file_bed_open(&bed);
        Heard empty = {0};
        Heard verified = {0};
        Heard compacted = {0};
        EXPECT_RC(verify(db, &empty), SAP_OK);
        expect_heard(&empty, 0, 1);
        fill(db);
        EXPECT_RC(verify(db, &verified), SAP_OK);
        expect_heard(&verified, ALL, 50);
        EXPECT_RC(compact(db, &compacted), SAP_OK);
        expect_heard(&compacted, ALL, 20);
        SapEnv *copy = copies_open(&bed, target);
        copies_expect_same(db, copy);
        file_bed_close(copy);
        copies_remove(target);
        EXPECT_RC(sap_db_close(db), SAP_OK);
    }
}
END_TEST

START_TEST(an_answer_ends_verify_and_compact_and_nothing_is_left)
{
    SapEnv *db = file_bed_open(&bed);
    Heard verified = {0};
    Heard compacted = {0};

    fill(db);
    EXPECT_RC(verify(db, &verified), SAP_OK);
    EXPECT_RC(compact(db, &compacted), SAP_OK);
    copies_remove(target);
    end_everywhere(db, verify, verified.calls);
    end_everywhere(db, compact, compacted.calls);
    EXPECT_RC(compact(db, &(Heard){0}), SAP_OK);
    file_bed_close(db);
}
END_TEST

#if SAP_FILE_MAPPED /* otherwise damage is met when the file is opened */

START_TEST(verify_of_a_damaged_file_ends_with_all_rows_done)
{
    Forge forge = {0};
    Heard heard = {0};
    uint32_t hurt = 0;

    SapEnv *db = file_bed_open(&bed);
    fill(db);
    file_bed_close(db);
    forge_read(&forge, bed.path);
    for (uint32_t pgno = file_first_page(4096); pgno < forge_pages(&forge); pgno++) {
        uint8_t *page = forge_page(&forge, pgno);
        bool leaf = page[PAGE_TYPE] == PAGE_LEAF && (page_flags(page) & PAGE_DBI_MASK) == 0;
        if (leaf && hurt < 5) {
            page[PAGE_HEADER + 40] ^= 1;
            hurt++;
        }
    }
    forge_write_data(&forge, bed.path);
    forge_free(&forge);
    db = file_bed_open(&bed);
    EXPECT_RC(verify(db, &heard), SAP_CORRUPT);
    expect_heard(&heard, ALL, 40);
    ck_assert_uint_ge(heard.findings, hurt);
    Heard ended = {.stop_at = heard.calls};
    EXPECT_RC(verify(db, &ended), STOP); /* whatever was found before */
    ck_assert_uint_gt(ended.findings, 0);
    file_bed_close(db);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("engine_progress");
    TCase *tcase = tcase_create("progress");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, verify_and_compact_tell_how_far_they_are);
    tcase_add_test(tcase, an_answer_ends_verify_and_compact_and_nothing_is_left);
#if SAP_FILE_MAPPED
    tcase_add_test(tcase, verify_of_a_damaged_file_ends_with_all_rows_done);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
