/* What a file keeps: everything that was committed, with its tables, flags and orders, after a close
 * and after the death of the process; and no more room than that needs. SAP_TEST_SEED and
 * SAP_TEST_SEEDS repeat and extend the random runs. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/mem.h"
#include "support/choice.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/history.h"
#include "support/model.h"
#include "support/stream.h"
#include "support/suite.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 600,
    MIB = 1 << 20,
    LIVE_ROWS = 1000,
    QUEUE_OPERATIONS = 200000,
    QUEUE_BATCH = 10,
    QUEUE_MAX_BYTES = 6 * MIB,
};

static FileBed bed;
static size_t live_before;

static void set_up(void)
{
    live_before = mem_live_total();
    file_bed_start(&bed);
}

static void tear_down(void)
{
    file_bed_end(&bed);
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static SapTxnCtx *begin(SapEnv *db, unsigned flags)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, flags, &txn);

    EXPECT(rc == SAP_OK, "begin answered %d", rc);
    return txn;
}

static void put_text(SapTxnCtx *txn, uint32_t dbi, const char *key, const char *val)
{
    EXPECT_RC(sap_txn_put_dbi(txn, dbi, key, (uint32_t)strlen(key), val, (uint32_t)strlen(val)),
              SAP_OK);
}

/* The keys of a table in its order, with spaces between. */
static void expect_keys(SapEnv *db, uint32_t dbi, const char *expected)
{
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY);
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    char keys[200] = "";
    size_t at = 0;

    EXPECT(cur != NULL, "table %u is not open", dbi);
    while (sap_cursor_next(cur) == SAP_OK) {
        const void *key = NULL;
        const void *val = NULL;
        uint32_t key_len = 0;
        uint32_t val_len = 0;
        EXPECT_RC(sap_cursor_get(cur, &key, &key_len, &val, &val_len), SAP_OK);
        at += (size_t)snprintf(keys + at, sizeof keys - at, "%s%.*s", at == 0 ? "" : " ",
                               (int)key_len, (const char *)key);
        if (dbi == 2) {
            at += (size_t)snprintf(keys + at, sizeof keys - at, "=%.*s", (int)val_len,
                                   (const char *)val);
        }
        EXPECT(at < sizeof keys, "too many keys");
    }
    sap_cursor_close(cur);
    sap_txn_abort(txn);
    EXPECT(strcmp(keys, expected) == 0, "table %u is \"%s\" instead of \"%s\"", dbi, keys,
           expected);
}

/* ---- Opening again -------------------------------------------------------------------------- */

START_TEST(what_was_committed_is_there_after_closing)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        uint32_t page_size = files_page_sizes[i];
        SapStat stat;
        expect_context("pages of %u", page_size);
        bed.options.page_size = page_size;
        bed.options.flags = SAP_OPEN_CREATE;
        SapEnv *db = file_bed_open(&bed);
        SapTxnCtx *txn = begin(db, 0);
        put_text(txn, 0, "kept", "value");
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        txn = begin(db, 0);
        put_text(txn, 0, "aborted", "value");
        sap_txn_abort(txn);
        EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
        EXPECT(stat.page_size == page_size, "pages of %u", stat.page_size);
        file_bed_close(db);
        uint64_t txnid = stat.txnid;
        bed.options.page_size = 0;
        bed.options.flags = 0;
        db = file_bed_open(&bed);
        EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
        EXPECT(stat.page_size == page_size, "pages of %u", stat.page_size);
        EXPECT(stat.txnid >= txnid, "commits are counted anew");
        EXPECT(sap_env_get_page_size(db) == page_size, "another page size");
        expect_keys(db, 0, "kept");
        model_expect_verified(db);
        file_bed_close(db);
        EXPECT(file_bed_messages(&bed) == 0, "a message: %s", bed.message);
        snprintf(bed.path, sizeof bed.path, "%s/db%u", bed.dir, i);
    }
}
END_TEST

START_TEST(no_options_create_a_file_of_pages_of_4096)
{
    SapEnv *db = NULL;

    for (unsigned round = 0; round < 3; round++) {
        ck_assert_int_eq(sap_db_open_path(bed.path, NULL, &db), SAP_OK);
        ck_assert_uint_eq(sap_env_get_page_size(db), 4096);
        expect_keys(db, 0, round == 0 ? "" : "a");
        SapTxnCtx *txn = begin(db, 0);
        put_text(txn, 0, "a", "b");
        ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
        ck_assert_int_eq(sap_db_close(db), SAP_OK);
    }
}
END_TEST

START_TEST(closing_with_a_transaction_open_is_refused)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, SAP_TXN_RDONLY);

    ck_assert_int_eq(sap_db_close(db), SAP_BUSY);
    sap_txn_abort(txn);
    txn = begin(db, 0);
    ck_assert_int_eq(sap_db_close(db), SAP_BUSY);
    put_text(txn, 0, "a", "b");
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    ck_assert_int_eq(sap_db_close(NULL), SAP_OK);
}
END_TEST

typedef struct Listed {
    unsigned count;
    uint64_t txnid;
} Listed;

static int list_reader(const SapReaderInfo *info, void *ctx)
{
    Listed *listed = ctx;

    listed->count++;
    listed->txnid = info->txnid;
    return SAP_OK;
}

START_TEST(readers_are_listed_with_their_snapshots)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, 0);
    Listed listed = {0, 0};

    put_text(txn, 0, "a", "b");
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_db_readers(db, list_reader, &listed), SAP_OK);
    ck_assert_uint_eq(listed.count, 0);
    SapTxnCtx *reader = begin(db, SAP_TXN_RDONLY);
    txn = begin(db, 0);
    put_text(txn, 0, "a", "c");
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_int_eq(sap_db_readers(db, list_reader, &listed), SAP_OK);
    ck_assert_uint_eq(listed.count, 1);
    ck_assert_uint_eq(listed.txnid, sap_txn_base_lsn(reader));
    sap_txn_abort(reader);
    file_bed_close(db);
}
END_TEST

/* ---- Tables --------------------------------------------------------------------------------- */

static int compare_foreign(const void *a, uint32_t a_len, const void *b, uint32_t b_len, void *ctx)
{
    (void)ctx;
    return bytes_compare(a, a_len, b, b_len);
}

static void fill_tables(SapEnv *db)
{
    SapTxnCtx *txn = begin(db, 0);

    put_text(txn, 0, "a", "1");
    put_text(txn, 0, "b", "2");
    put_text(txn, 1, "BB", "1");
    put_text(txn, 1, "aa", "2");
    put_text(txn, 2, "k", "xx");
    put_text(txn, 2, "k", "y");
    put_text(txn, 5, "ccc", "1");
    put_text(txn, 5, "d", "2");
    put_text(txn, 1023, "last", "1");
    EXPECT_RC(sap_txn_put_ttl_dbi(txn, 3, 4, "t", 1, "v", 1, 1000), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void expect_tables(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    expect_keys(db, 0, "b a");
    expect_keys(db, 1, "aa BB");
    expect_keys(db, 2, "k=y k=xx");
    expect_keys(db, 3, "t");
    expect_keys(db, 5, "d ccc");
    expect_keys(db, 1023, "last");
    txn = begin(db, 0);
    EXPECT_RC(sap_txn_put_dbi(txn, 4, "x", 1, "y", 1), SAP_ERROR);
    EXPECT_RC(sap_txn_get_ttl_dbi(txn, 3, 4, "t", 1, 999, NULL, NULL), SAP_OK);
    EXPECT_RC(sap_txn_get_ttl_dbi(txn, 3, 4, "t", 1, 1000, NULL, NULL), SAP_NOTFOUND);
    EXPECT_RC(sap_txn_put_flags_dbi(txn, 2, "k", 1, "y", 1, SAP_NOOVERWRITE, NULL), SAP_EXISTS);
    EXPECT_RC(sap_txn_put_dbi(txn, 7, "x", 1, "y", 1), SAP_ERROR);
    sap_txn_abort(txn);
    model_expect_verified(db);
}

static void open_tables(SapEnv *db)
{
    EXPECT_RC(sap_dbi_open_named(db, 1, "folded", 0), SAP_OK);
    EXPECT_RC(sap_dbi_open_named(db, 2, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_set_dupsort(db, 2, order_cmp(ORDER_LENGTH), order_ctx(ORDER_LENGTH)), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 3, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 4, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 5, order_cmp(ORDER_LENGTH), order_ctx(ORDER_LENGTH), 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, 1023, NULL, NULL, 0), SAP_OK);
}

START_TEST(tables_are_open_again_with_their_flags_and_orders)
{
    bed.options.comparator = "reverse";
    SapEnv *db = file_bed_open(&bed);
    open_tables(db);
    fill_tables(db);
    expect_tables(db);
    file_bed_close(db);
    bed.options.comparator = NULL; /* only for a file made now */
    for (unsigned round = 0; round < 2; round++) {
        db = file_bed_open(&bed);
        expect_tables(db);
        /* What is so already may be asked for, what is not so is an error. */
        open_tables(db);
        ck_assert_int_eq(sap_dbi_open(db, 1, NULL, NULL, 0), SAP_ERROR);
        ck_assert_int_eq(sap_dbi_open_named(db, 1, "folded", SAP_DBI_DUPSORT), SAP_ERROR);
        ck_assert_int_eq(sap_dbi_open_named(db, 1, "length", 0), SAP_ERROR);
        ck_assert_int_eq(sap_dbi_open_named(db, 4, NULL, 0), SAP_ERROR);
        ck_assert_int_eq(sap_dbi_set_dupsort(db, 2, NULL, NULL), SAP_ERROR);
        ck_assert_int_eq(sap_dbi_open(db, 0, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE), 0),
                         SAP_OK);
        ck_assert_int_eq(sap_dbi_open(db, 0, NULL, NULL, 0), SAP_ERROR);
        expect_tables(db);
        file_bed_close(db);
    }
}
END_TEST

static void expect_info(SapEnv *db, uint32_t dbi, unsigned flags, const char *keys,
                        const char *vals)
{
    SapDbiInfo info = {0};
    EXPECT_RC(sap_dbi_info(db, dbi, &info), SAP_OK);
    ck_assert_uint_eq(info.flags, flags);
    ck_assert_pstr_eq(info.comparator, keys);
    ck_assert_pstr_eq(info.val_comparator, vals);
}

START_TEST(tables_tell_what_they_were_opened_as)
{
    bed.options.comparator = "reverse";
    SapEnv *db = file_bed_open(&bed);
    SapDbiInfo info;
    EXPECT_RC(sap_dbi_info(db, 1, &info), SAP_NOTFOUND);
    open_tables(db);
    for (unsigned round = 0; round < 2; round++) {
        SapTxnCtx *txn = begin(db, 0);
        expect_info(db, 0, 0, "reverse", NULL);
        expect_info(db, 1, 0, "folded", NULL);
        expect_info(db, 2, SAP_DBI_DUPSORT, NULL, "length");
        expect_info(db, 4, SAP_DBI_TTL_META, NULL, NULL);
        expect_info(db, 5, 0, "length", NULL);
        EXPECT_RC(sap_dbi_info(db, 6, &info), SAP_NOTFOUND);
        EXPECT_RC(sap_dbi_info(db, SAP_MAX_DBI + 1, &info), SAP_NOTFOUND);
        EXPECT_RC(sap_dbi_info(db, 0, NULL), SAP_ERROR);
        EXPECT_RC(sap_dbi_info(NULL, 0, &info), SAP_ERROR);
        sap_txn_abort(txn);
        file_bed_close(db);
        db = file_bed_open(&bed);
    }
    file_bed_close(db);
}
END_TEST

static void open_tables_and_die(void *arg)
{
    (void)arg;
    open_tables(file_bed_open(&bed));
}

START_TEST(tables_are_durable_when_their_opening_returns)
{
    bed.options.comparator = "reverse";
    files_in_child(open_tables_and_die, NULL);
    SapEnv *db = file_bed_open(&bed);
    fill_tables(db);
    expect_tables(db);
    file_bed_close(db);
}
END_TEST

START_TEST(comparators_that_the_options_lack_are_refused)
{
    SapEnv *db = file_bed_open(&bed);

    ck_assert_int_eq(sap_dbi_open(db, 1, compare_foreign, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(db, 1, order_cmp(ORDER_LENGTH), NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open_named(db, 1, "foreign", 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open_named(db, 1, "", 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open_named(db, 1024, NULL, 0), SAP_ERROR);
    ck_assert_int_eq(sap_dbi_open(db, 2, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_set_dupsort(db, 2, compare_foreign, NULL), SAP_ERROR);
    SapTxnCtx *txn = begin(db, 0);
    ck_assert_int_eq(sap_txn_put_dbi(txn, 1, "a", 1, "b", 1), SAP_ERROR);
    put_text(txn, 2, "k", "b");
    put_text(txn, 2, "k", "aa");
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    expect_keys(db, 2, "k=aa k=b");
    file_bed_close(db);
    db = file_bed_open(&bed);
    expect_keys(db, 2, "k=aa k=b");
    file_bed_close(db);
}
END_TEST

START_TEST(memory_knows_no_comparator_by_name)
{
    SapEnv *db = sap_db_open(NULL, 0, NULL, NULL);

    ck_assert_int_eq(sap_dbi_open_named(db, 1, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_open(db, 1, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_open_named(db, 2, "length", 0), SAP_ERROR);
    ck_assert_int_eq(sap_db_close(db), SAP_OK);
}
END_TEST

START_TEST(every_table_number_is_kept)
{
    SapEnv *db = file_bed_open(&bed);
    char text[20];

    for (uint32_t dbi = 1; dbi <= SAP_MAX_DBI; dbi++) {
        EXPECT_RC(sap_dbi_open(db, dbi, NULL, NULL, dbi % 3 == 0 ? SAP_DBI_DUPSORT : 0), SAP_OK);
    }
    SapTxnCtx *txn = begin(db, 0);
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI; dbi++) {
        snprintf(text, sizeof text, "table %u", dbi);
        put_text(txn, dbi, text, "x");
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&bed);
    for (uint32_t dbi = 0; dbi <= SAP_MAX_DBI; dbi++) {
        snprintf(text, sizeof text, "table %u", dbi);
        if (dbi != 2) {
            expect_keys(db, dbi, text);
        }
        EXPECT_RC(sap_dbi_open(db, dbi, NULL, NULL, dbi != 0 && dbi % 3 == 0 ? SAP_DBI_DUPSORT : 0),
                  SAP_OK);
    }
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST

/* ---- Histories ------------------------------------------------------------------------------ */

typedef struct Run {
    History history;
    uint64_t first;
    uint64_t last;
} Run;

static void run_steps(SapEnv *db, const Run *run)
{
    EXPECT_RC(history_open_tables(db), SAP_OK);
    for (uint64_t n = run->first; n <= run->last; n++) {
        int rc = history_step(&run->history, db, n);
        EXPECT(rc == SAP_OK, "step %" PRIu64 " answered %d", n, rc);
    }
}

static void run_and_die(void *arg)
{
    run_steps(file_bed_open(&bed), arg);
}

/* Chooses options by the seed, so that any run of consecutive seeds meets all of them. */
static void choose_options(uint64_t seed)
{
    static const uint64_t thresholds[] = {16384, 100000, 1000000, 0};

    bed.options.page_size = files_page_sizes[seed % files_page_size_count];
    bed.options.checkpoint_bytes = thresholds[seed / 4 % 4];
    snprintf(bed.path, sizeof bed.path, "%s/history-%" PRIu64, bed.dir, seed);
}

static History history_of(uint64_t seed)
{
    History history = {.seed = seed,
                       .max_value = seed % 8 == 3 ? 4 * MIB : 40000,
                       .bulk_one_in = seed % 3 == 0 ? 12 : 0,
                       .open_one_in = 20,
                       .restore_one_in = 40};
    return history;
}

static void expect_history(uint64_t expected)
{
    bed.options.page_size = 0;
    SapEnv *db = file_bed_open(&bed);
    EXPECT(history_digest(db, NULL) == expected, "the file has another content");
    model_expect_verified(db);
    file_bed_close(db);
}

static void compare_histories(const char *name, uint64_t default_seeds, uint64_t steps, bool dying)
{
    uint64_t first = choice_first_seed();
    uint64_t seeds = choice_seed_count(default_seeds);

    for (uint64_t seed = first; seed < first + seeds; seed++) {
        History history = history_of(seed);
        uint64_t *truth = history_truth(&history, steps);
        expect_context("%s, SAP_TEST_SEED=%" PRIu64, name, seed);
        choose_options(seed);
        for (uint64_t done = 0; done < steps; done += steps / 4) {
            Run run = {history, done + 1, done + steps / 4};
            if (dying) {
                files_in_child(run_and_die, &run);
            } else {
                SapEnv *db = file_bed_open(&bed);
                run_steps(db, &run);
                file_bed_close(db);
            }
            expect_history(truth[run.last]);
        }
        free(truth);
    }
    printf("%s: %" PRIu64 " histories of %" PRIu64 " steps, seeds from %" PRIu64 "\n", name, seeds,
           steps, first);
    ck_assert_uint_gt(seeds, 0);
}

START_TEST(closed_files_have_the_content_of_memory)
{
    compare_histories("closed", 24, 80, false);
}
END_TEST

START_TEST(files_of_dead_processes_have_the_content_of_memory)
{
    compare_histories("died", 24, 80, true);
}
END_TEST

/* Without a sync the process's death may take the last commits, but none from the middle. */
static void run_unsynced_and_die(void *arg)
{
    Run *run = arg;

    bed.options.sync_mode = run->history.seed % 2 == 0 ? SAP_SYNC_PERIODIC : SAP_SYNC_NONE;
    SapEnv *db = file_bed_open(&bed);
    run_steps(db, run);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    for (uint64_t n = run->last + 1; n <= run->last * 2; n++) {
        EXPECT_RC(history_step(&run->history, db, n), SAP_OK);
    }
}

START_TEST(without_syncs_a_dead_process_leaves_whole_commits_in_order)
{
    enum { STEPS = 60 };
    uint64_t kept = 0;

    for (uint64_t seed = 1; seed <= 8; seed++) {
        History history = {.seed = seed, .max_value = 20000};
        uint64_t *truth = history_truth(&history, 2 * STEPS);
        Run run = {history, 1, STEPS};
        expect_context("seed %" PRIu64, seed);
        choose_options(seed);
        files_in_child(run_unsynced_and_die, &run);
        SapEnv *db = file_bed_open(&bed);
        kept += history_find(truth, STEPS, 2 * STEPS, history_digest(db, NULL)) - STEPS;
        model_expect_verified(db);
        file_bed_close(db);
        free(truth);
    }
    printf("%" PRIu64 " of %d commits were on disk without a sync\n", kept, 8 * STEPS);
}
END_TEST

START_TEST(aborted_and_nested_changes_leave_no_trace)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *child = NULL;
    SapTxnCtx *txn = begin(db, 0);

    put_text(txn, 0, "outer", "1");
    ck_assert_int_eq(sap_txn_begin_rc(db, txn, 0, &child), SAP_OK);
    put_text(child, 0, "dropped", "1");
    ck_assert_int_eq(sap_txn_del(child, "outer", 5), SAP_OK);
    sap_txn_abort(child);
    ck_assert_int_eq(sap_txn_begin_rc(db, txn, 0, &child), SAP_OK);
    put_text(child, 0, "inner", "1");
    ck_assert_int_eq(sap_txn_commit(child), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&bed);
    expect_keys(db, 0, "inner outer");
    file_bed_close(db);
}
END_TEST

/* A child's del_range that is undone must not be in the log either. */
static void abort_children_and_die(void *arg)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, 0);
    SapTxnCtx *child = NULL;

    (void)arg;
    put_text(txn, 0, "a", "1");
    put_text(txn, 0, "b", "1");
    EXPECT_RC(sap_txn_begin_rc(db, txn, 0, &child), SAP_OK);
    EXPECT_RC(sap_txn_del_range(child, 0, NULL, 0, NULL, 0, NULL), SAP_OK);
    put_text(child, 0, "c", "1");
    sap_txn_abort(child);
    EXPECT_RC(sap_txn_begin_rc(db, txn, 0, &child), SAP_OK);
    put_text(child, 0, "d", "1");
    EXPECT_RC(sap_txn_del(child, "a", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(child), SAP_OK);
    put_text(txn, 0, "e", "1");
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

START_TEST(log_holds_what_the_outermost_commit_made_of_its_children)
{
    files_in_child(abort_children_and_die, NULL);
    SapEnv *db = file_bed_open(&bed);
    expect_keys(db, 0, "b d e");
    file_bed_close(db);
}
END_TEST

static void restore_and_die(void *arg)
{
    Stream *stream = arg;
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, 0);

    put_text(txn, 0, "before", "x");
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT_RC(sap_db_restore(db, stream_read, stream), SAP_OK);
    EXPECT(sap_db_durable_lsn(db) >= 1, "nothing is durable");
}

START_TEST(restored_content_is_durable_when_the_call_returns)
{
    History history = {.seed = 5, .max_value = MIB};
    SapEnv *memory = sap_db_open(NULL, 4096, NULL, NULL);
    Stream stream;

    stream_init(&stream);
    run_steps(memory, &(Run){history, 1, 50});
    ck_assert_int_eq(sap_db_checkpoint(memory, stream_write, &stream), SAP_OK);
    uint64_t expected = history_digest(memory, NULL);
    ck_assert_int_eq(sap_db_close(memory), SAP_OK);
    files_in_child(restore_and_die, &stream);
    expect_history(expected);
    stream_free(&stream);
}
END_TEST

/* ---- Room ----------------------------------------------------------------------------------- */

static void expect_all_on_disk(uint64_t digest)
{
    FileBed copy;
    Image *image = image_take(bed.dir);

    file_bed_start(&copy);
    image_restore(image, copy.dir);
    copy.options.flags = SAP_OPEN_RDONLY;
    SapEnv *db = file_bed_open(&copy);
    EXPECT(history_digest(db, NULL) == digest, "the copy has another content");
    file_bed_close(db);
    file_bed_end(&copy);
    image_free(image);
}

START_TEST(restore_opens_tables_by_the_names_of_their_orders)
{
    char copy[FILES_PATH_MAX + 8];
    Stream stream;
    SapEnv *other = NULL;

    bed.options.comparator = "reverse";
    SapEnv *db = file_bed_open(&bed);
    open_tables(db);
    fill_tables(db);
    stream_init(&stream);
    ck_assert_int_eq(sap_db_checkpoint(db, stream_write, &stream), SAP_OK);
    file_bed_close(db);
    snprintf(copy, sizeof copy, "%s-copy", bed.path);
    ck_assert_int_eq(sap_db_open_path(copy, &bed.options, &other), SAP_OK);
    ck_assert_int_eq(sap_db_restore(other, stream_read, &stream), SAP_OK);
    expect_tables(other);
    ck_assert_int_eq(sap_db_close(other), SAP_OK);
    ck_assert_int_eq(sap_db_open_path(copy, &bed.options, &other), SAP_OK);
    expect_tables(other);
    ck_assert_int_eq(sap_db_close(other), SAP_OK);

    /* In a file of another order, and in one that does not know the names, nothing happens. */
    SapOpenOptions options = bed.options;
    snprintf(copy, sizeof copy, "%s-else", bed.path);
    options.comparator = "length";
    ck_assert_int_eq(sap_db_open_path(copy, &options, &other), SAP_OK);
    stream_rewind(&stream);
    ck_assert_int_eq(sap_db_restore(other, stream_read, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_db_close(other), SAP_OK);
    snprintf(copy, sizeof copy, "%s-bare", bed.path);
    options.comparator = NULL;
    options.comparator_count = 0;
    ck_assert_int_eq(sap_db_open_path(copy, &options, &other), SAP_OK);
    stream_rewind(&stream);
    ck_assert_int_eq(sap_db_restore(other, stream_read, &stream), SAP_ERROR);
    ck_assert_int_eq(sap_db_close(other), SAP_OK);
    stream_free(&stream);
}
END_TEST

/* A copy with a log that is not empty could not be opened for reading alone. */
START_TEST(sync_empties_the_log)
{
    History history = {.seed = 3, .max_value = 100000, .bulk_one_in = 10};
    static const SapSyncMode modes[] = {SAP_SYNC_COMMIT, SAP_SYNC_PERIODIC, SAP_SYNC_NONE};

    for (size_t i = 0; i < 3; i++) {
        expect_context("sync mode %zu", i);
        bed.options.sync_mode = modes[i];
        SapEnv *db = file_bed_open(&bed);
        run_steps(db, &(Run){history, 1 + i * 20, 20 + i * 20});
        EXPECT_RC(sap_db_sync(db), SAP_OK);
        expect_all_on_disk(history_digest(db, NULL));
        EXPECT_RC(sap_db_sync(db), SAP_OK);
        file_bed_close(db);
    }
}
END_TEST

static uint64_t data_file_size(void)
{
    struct stat st;

    EXPECT(stat(bed.path, &st) == 0, "no file");
    return (uint64_t)st.st_size;
}

START_TEST(queue_does_not_grow_its_file)
{
    uint64_t tail = 0;
    uint64_t largest = 0;
    uint8_t key[8];
    uint8_t val[100] = {0};

    bed.options.checkpoint_bytes = 64 * 1024;
    bed.options.sync_mode = SAP_SYNC_NONE;
    SapEnv *db = file_bed_open(&bed);
    while (tail < QUEUE_OPERATIONS / 2) {
        SapTxnCtx *txn = begin(db, 0);
        for (int i = 0; i < QUEUE_BATCH; i++, tail++) {
            store_u64be(key, tail);
            EXPECT_RC(sap_txn_put(txn, key, sizeof key, val, sizeof val), SAP_OK);
            if (tail >= LIVE_ROWS) {
                store_u64be(key, tail - LIVE_ROWS);
                EXPECT_RC(sap_txn_del(txn, key, sizeof key), SAP_OK);
            }
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        uint64_t size = data_file_size();
        largest = size > largest ? size : largest;
    }
    file_bed_close(db);
    uint64_t closed = data_file_size();
    printf("queue: %" PRIu64 " rows through %d, file of %" PRIu64 " bytes at most, %" PRIu64
           " closed\n",
           tail, LIVE_ROWS, largest, closed);
    ck_assert_uint_lt(largest, QUEUE_MAX_BYTES);
    db = file_bed_open(&bed);
    SapStat stat;
    ck_assert_int_eq(sap_db_stat(db, &stat), SAP_OK);
    ck_assert_uint_eq(stat.num_entries, LIVE_ROWS);
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST

/* What was free when the file was closed is used again after it is opened. */
START_TEST(file_does_not_grow_by_opening_and_closing)
{
    History history = {.seed = 9, .max_value = 30000};
    uint64_t early = 0;
    uint64_t late = 0;

    for (uint64_t round = 0; round < 60; round++) {
        SapEnv *db = file_bed_open(&bed);
        run_steps(db, &(Run){history, round * 5 + 1, round * 5 + 5});
        file_bed_close(db);
        uint64_t size = data_file_size();
        if (round < 20) {
            early = size > early ? size : early;
        } else {
            late = size > late ? size : late;
        }
    }
    printf("60 openings: %" PRIu64 " bytes at most in the first 20, %" PRIu64 " later\n", early,
           late);
    ck_assert_uint_le(late, 3 * early);
}
END_TEST

/* ---- Stray writes --------------------------------------------------------------------------- */

#if SAP_FILE_MAPPED && !SAP_SANITIZED
static void write_through(void *arg)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, *(unsigned *)arg & 1 ? 0 : SAP_TXN_RDONLY);
    const void *val = NULL;
    uint32_t len = 0;

    if (*(unsigned *)arg & 2) {
        SapCursor *cur = sap_cursor_open(txn);
        EXPECT_RC(sap_cursor_first(cur), SAP_OK);
        EXPECT_RC(sap_cursor_get(cur, NULL, NULL, &val, &len), SAP_OK);
    } else {
        EXPECT_RC(sap_txn_get(txn, "large", 5, &val, &len), SAP_OK);
    }
    uintptr_t address = (uintptr_t)val;
    *(volatile uint8_t *)address = '!';
}

START_TEST(stray_write_through_a_value_faults)
{
    static uint8_t large[10000];
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, 0);

    put_text(txn, 0, "a", "small");
    ck_assert_int_eq(sap_txn_put(txn, "large", 5, large, sizeof large), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    for (unsigned how = 0; how < 4; how++) {
        int status = files_run_child(write_through, &how);
        ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    }
    db = file_bed_open(&bed);
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("engine_file");
    TCase *tcase = tcase_create("file");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_was_committed_is_there_after_closing);
    tcase_add_test(tcase, no_options_create_a_file_of_pages_of_4096);
    tcase_add_test(tcase, closing_with_a_transaction_open_is_refused);
    tcase_add_test(tcase, readers_are_listed_with_their_snapshots);
    tcase_add_test(tcase, tables_are_open_again_with_their_flags_and_orders);
    tcase_add_test(tcase, tables_tell_what_they_were_opened_as);
    tcase_add_test(tcase, tables_are_durable_when_their_opening_returns);
    tcase_add_test(tcase, comparators_that_the_options_lack_are_refused);
    tcase_add_test(tcase, memory_knows_no_comparator_by_name);
    tcase_add_test(tcase, every_table_number_is_kept);
    tcase_add_test(tcase, closed_files_have_the_content_of_memory);
    tcase_add_test(tcase, files_of_dead_processes_have_the_content_of_memory);
    tcase_add_test(tcase, without_syncs_a_dead_process_leaves_whole_commits_in_order);
    tcase_add_test(tcase, aborted_and_nested_changes_leave_no_trace);
    tcase_add_test(tcase, log_holds_what_the_outermost_commit_made_of_its_children);
    tcase_add_test(tcase, restored_content_is_durable_when_the_call_returns);
    tcase_add_test(tcase, restore_opens_tables_by_the_names_of_their_orders);
    tcase_add_test(tcase, sync_empties_the_log);
    tcase_add_test(tcase, queue_does_not_grow_its_file);
    tcase_add_test(tcase, file_does_not_grow_by_opening_and_closing);
#if SAP_FILE_MAPPED && !SAP_SANITIZED
    tcase_add_test(tcase, stray_write_through_a_value_faults);
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
