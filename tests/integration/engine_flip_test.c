/* Every byte of a small database changed in turn, by one bit or as a whole. Opening it, reading
 * everything and verifying it ends in one of three ways:
 *
 *   refused   SAP_CORRUPT or SAP_INVALID, and a message; rows that were read before are right
 *   harmless  everything is as before: unused bytes, one copy of two, free pages
 *   cut       the last group of the log is taken for one that a crash left incomplete: a message says
 *             so, and the content is that of the commit before
 *
 * and never in a wrong answer. Of those refused, some are recovered. SAP_TEST_SEED chooses where a
 * stride begins, in builds that cannot afford every byte. */
#include "common/config.h"
#include "sapling/env.h"
#include "sapling/wal_format.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/forge.h"
#include "support/rowset.h"
#include "support/suite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 1200,
    ROWS = 60,
    BIG = 5000,
    PAIRS = 1,
    REVERSE = 2,
    COMMITS = 6,
    DATA_STRIDE = SAP_SANITIZED ? 23 : 1,   /* bytes of the data file of a closed DB */
    OPEN_STRIDE = SAP_SANITIZED ? 211 : 53, /* of one with a log, which is opened to write */
    LOG_STRIDE = SAP_SANITIZED ? 7 : 1,
    ZERO_STRIDE = SAP_SANITIZED ? 8009 : 997,
    RECOVER_ONE_IN = SAP_SANITIZED ? 40 : 400,
    STATES = COMMITS + 1,
};

typedef enum Outcome { REFUSED, HARMLESS, CUT, OUTCOMES } Outcome;

static const char *const outcome_names[OUTCOMES] = {"refused", "harmless", "cut"};

static FileBed bed;
static FileBed out;
static RowSet states[STATES]; /* the content after each commit; the last is the newest */
static RowSet ever;
static uint32_t state_count;

typedef struct Tally {
    uint64_t trials;
    uint64_t of[OUTCOMES];
    uint64_t recovered;
} Tally;

static void setup(void)
{
    file_bed_start(&bed);
    file_bed_start(&out);
    bed.options.max_size = out.options.max_size = UINT64_C(4) << 20;
    bed.options.checkpoint_bytes = UINT64_C(256) << 10; /* small segments */
    bed.options.checkpoint_period_ms = 3600 * 1000;
    state_count = 0;
    memset(&ever, 0, sizeof ever);
}

static void teardown(void)
{
    for (uint32_t i = 0; i < state_count; i++) {
        rowset_free(&states[i]);
    }
    rowset_free(&ever);
    file_bed_end(&bed);
    file_bed_end(&out);
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void fill(SapEnv *db)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = NULL;
    char key[16];
    char value[64];

    memset(big, 'B', sizeof big);
    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open_named(db, REVERSE, files_order_name(ORDER_REVERSE), 0), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    memset(value, 'v', sizeof value);
    for (uint32_t i = 0; i < ROWS; i++) {
        snprintf(key, sizeof key, "key-%05u", i);
        snprintf(value, sizeof value, "value %u", i);
        EXPECT_RC(sap_txn_put(txn, key, 9, value, sizeof value), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, key, 8, value, 30), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, REVERSE, key, 9, value, 20), SAP_OK);
    }
    EXPECT_RC(sap_txn_put(txn, "large", 5, big, BIG), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    /* A second checkpoint leaves free pages behind, and a header that is not the newest. */
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, "key-00007", 9, "another", 7), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void note_state(SapEnv *db)
{
    EXPECT(state_count < STATES, "too many states");
    rowset_of_db(&states[state_count], db);
    rowset_join(&ever, &states[state_count++]);
}

static void commit(SapEnv *db, uint32_t n)
{
    SapTxnCtx *txn = NULL;
    char key[16];

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    snprintf(key, sizeof key, "key-%05u", n * 5);
    EXPECT_RC(sap_txn_put(txn, key, 9, &n, sizeof n), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, "commits", 7, &n, sizeof n), SAP_OK);
    snprintf(key, sizeof key, "key-%05u", n * 5 + 1);
    EXPECT_RC(sap_txn_del_dbi(txn, REVERSE, key, 9), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void commit_and_die(void *arg)
{
    (void)arg;
    SapEnv *db = file_bed_open(&bed);
    for (uint32_t n = 1; n <= COMMITS; n++) {
        commit(db, n);
    }
}

/* The states that the commits lead through, made in a copy. */
static void note_states(void)
{
    Image *image = image_take(bed.dir);
    SapEnv *db = file_bed_open(&bed);

    note_state(db);
    for (uint32_t n = 1; n <= COMMITS; n++) {
        commit(db, n);
        note_state(db);
    }
    file_bed_close(db);
    image_restore(image, bed.dir);
    image_free(image);
}

static void make_file(bool with_log)
{
    SapEnv *db = file_bed_open(&bed);

    fill(db);
    file_bed_close(db);
    if (with_log) {
        note_states();
        files_in_child(commit_and_die, NULL);
    } else {
        bed.options.flags = SAP_OPEN_RDONLY; /* writes nothing: the file need not be made again */
        db = file_bed_open(&bed);
        note_state(db);
        file_bed_close(db);
    }
    rowset_sort(&ever);
}

/* ---- One trial ------------------------------------------------------------------------------- */

typedef struct Reading {
    RowSet rows;
    bool whole;
} Reading;

/* All rows of a table, up to the end or to damage. */
static bool read_table(SapTxnCtx *txn, uint32_t dbi, RowSet *rows)
{
    SapCursor *cursor = sap_cursor_open_dbi(txn, dbi);
    int rc = cursor != NULL ? SAP_OK : SAP_NOTFOUND;

    while (rc == SAP_OK) {
        const void *key = NULL;
        const void *val = NULL;
        uint32_t key_len = 0;
        uint32_t val_len = 0;
        rc = sap_cursor_next(cursor);
        if (rc == SAP_OK) {
            rc = sap_cursor_get(cursor, &key, &key_len, &val, &val_len);
        }
        if (rc == SAP_OK) {
            rowset_add(rows, dbi, key, key_len, val, val_len);
        }
    }
    sap_cursor_close(cursor);
    EXPECT(rc == SAP_NOTFOUND || rc == SAP_CORRUPT, "reading answered %d", rc);
    return rc == SAP_NOTFOUND;
}

static void read_everything(SapEnv *db, Reading *reading)
{
    SapTxnCtx *txn = NULL;

    memset(reading, 0, sizeof *reading);
    reading->whole = true;
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (uint32_t dbi = 0; dbi <= REVERSE; dbi++) {
        reading->whole = read_table(txn, dbi, &reading->rows) && reading->whole;
    }
    sap_txn_abort(txn);
    rowset_sort(&reading->rows);
}

static bool same_rows(const RowSet *a, const RowSet *b)
{
    bool same = a->count == b->count;

    for (size_t i = 0; same && i < a->count; i++) {
        same = rowset_has(b, &a->rows[i]);
    }
    return same;
}

static bool all_in(const RowSet *rows, const RowSet *all)
{
    bool in = true;

    for (size_t i = 0; in && i < rows->count; i++) {
        in = rowset_has(all, &rows->rows[i]);
    }
    return in;
}

/* Opens the files as they are. */
static Outcome look(void)
{
    SapEnv *db = NULL;
    Reading reading;
    Outcome outcome = REFUSED;

    (void)file_bed_messages(&bed);
    int rc = file_bed_try(&bed, &db);
    if (rc != SAP_OK) {
        EXPECT(rc == SAP_CORRUPT || rc == SAP_INVALID, "open answered %d: %s", rc, bed.message);
        EXPECT(file_bed_messages(&bed) > 0, "nothing was said");
        return REFUSED;
    }
    uint32_t said = file_bed_messages(&bed);
    read_everything(db, &reading);
    int verified = sap_db_verify(db, NULL, NULL);
    const RowSet *newest = &states[state_count - 1];
    const RowSet *before = state_count > 1 ? &states[state_count - 2] : NULL;
    if (reading.whole && verified == SAP_OK) {
        bool cut = before != NULL && same_rows(&reading.rows, before);
        EXPECT(cut || same_rows(&reading.rows, newest), "a wrong answer: %zu rows",
               reading.rows.count);
        EXPECT(!cut || said > 0, "a commit is lost, and nothing was said");
        outcome = cut ? CUT : HARMLESS;
    } else {
        EXPECT(verified == SAP_CORRUPT, "reading failed, and verify answered %d", verified);
        EXPECT(file_bed_messages(&bed) > 0, "nothing was said");
        EXPECT(all_in(&reading.rows, newest), "a wrong answer before the damage was met");
    }
    rc = sap_db_close(db);
    EXPECT(rc == SAP_OK || rc == SAP_CORRUPT, "close answered %d", rc);
    rowset_free(&reading.rows);
    return outcome;
}

/* The target of a recovery: what must be in it, and nothing that was never committed. */
static void recover_one(const RowSet *must)
{
    SapRecoverOptions options = {.comparators = files_comparators(),
                                 .comparator_count = ORDER_COUNT - 1};
    SapRecoverReport report;
    RowSet rows;

    crash_dir_empty(out.dir);
    EXPECT_RC(sap_db_recover(bed.path, out.path, &options, &report), SAP_OK);
    SapEnv *db = file_bed_open(&out);
    rowset_of_db(&rows, db);
    EXPECT(report.rows == rows.count, "the report has another number of rows");
    EXPECT(all_in(must, &rows), "a row is missing that no damage touched");
    EXPECT(all_in(&rows, &ever), "a row was never committed");
    file_bed_close(db);
    rowset_free(&rows);
}

static uint8_t changed(uint8_t byte, bool bit, uint64_t at)
{
    return bit ? (uint8_t)(byte ^ (1u << (at * 5 % 8))) : (uint8_t)~byte;
}

static void print_tally(const char *what, const Tally *tally, uint64_t stride)
{
    printf("%s, one byte in %" PRIu64 ": %" PRIu64 " trials", what, stride, tally->trials);
    for (Outcome outcome = REFUSED; outcome < OUTCOMES; outcome++) {
        printf(", %" PRIu64 " %s", tally->of[outcome], outcome_names[outcome]);
    }
    printf("; %" PRIu64 " recovered\n", tally->recovered);
}

static uint64_t first_offset(uint64_t stride)
{
    Rng rng;
    uint64_t seed = choice_first_seed();

    rng_seed(&rng, seed);
    uint64_t first = rng_below(&rng, stride);
    printf("stride %" PRIu64 " from %" PRIu64 ", SAP_TEST_SEED=%" PRIu64 "\n", stride, first, seed);
    return first;
}

/* ---- The data file --------------------------------------------------------------------------- */

static void write_byte(int fd, uint64_t at, uint8_t byte)
{
    EXPECT(pwrite(fd, &byte, 1, (off_t)at) == 1, "cannot write");
}

START_TEST(every_byte_of_the_data_file_is_noticed_or_harmless)
{
    Forge forge;
    Tally tally = {0};
    static bool damaged[1024];

    make_file(false);
    forge_read(&forge, bed.path);
    ck_assert_uint_lt(forge_pages(&forge), 1024);
    int fd = open(bed.path, O_RDWR | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    for (uint64_t at = first_offset(DATA_STRIDE); at < forge.data_size; at += DATA_STRIDE) {
        /* A bit of each byte, and each third byte as a whole. */
        for (int bit = at % 3 == 0 ? 0 : 1; bit < 2; bit++) {
            expect_context("byte %" PRIu64 ", %s", at, bit ? "one bit" : "all bits");
            write_byte(fd, at, changed(forge.data[at], bit, at));
            Outcome outcome = look();
            EXPECT(outcome != CUT, "there is no log");
            tally.of[outcome]++;
            tally.trials++;
            if (outcome == REFUSED && tally.of[REFUSED] % RECOVER_ONE_IN == 1) {
                RowSet must;
                uint32_t pgno = (uint32_t)(at / forge.meta.page_size);
                damaged[pgno] = true;
                rowset_of_sound_pages(&must, &forge, damaged);
                damaged[pgno] = false;
                recover_one(&must);
                tally.recovered++;
                rowset_free(&must);
            }
            write_byte(fd, at, forge.data[at]);
        }
    }
    close(fd);
    printf("%zu bytes, %zu rows: ", forge.data_size, states[0].count);
    print_tally("the data file", &tally, DATA_STRIDE);
    ck_assert(tally.of[REFUSED] > 0 && tally.of[HARMLESS] > 0 && tally.recovered > 0);
    ck_assert_int_eq(look(), HARMLESS);
    forge_free(&forge);
}
END_TEST

/* ---- With a log ------------------------------------------------------------------------------ */

/* Each trial writes to the files, so that they are made again. */
static Outcome trial(const Image *image, const char *path, uint64_t at, uint8_t byte,
                     const RowSet *must, Tally *tally)
{
    image_restore(image, bed.dir);
    files_write_at(path, at, &byte, 1);
    Outcome outcome = look();
    tally->of[outcome]++;
    tally->trials++;
    if (outcome == REFUSED && must != NULL && tally->of[REFUSED] % (RECOVER_ONE_IN / 8) == 1) {
        image_restore(image, bed.dir);
        files_write_at(path, at, &byte, 1);
        recover_one(must);
        tally->recovered++;
    }
    return outcome;
}

static void log_path(const Forge *forge, char path[FILES_PATH_MAX + 40])
{
    snprintf(path, FILES_PATH_MAX + 40, "%s-wal.%016" PRIx64, bed.path, forge->meta.wal.segment);
}

START_TEST(every_byte_of_the_log_is_noticed_or_cut_or_harmless)
{
    Forge forge;
    Tally tally = {0};
    uint64_t groups = 0;
    uint64_t zeros = 0;
    uint64_t first = first_offset(LOG_STRIDE);
    char path[FILES_PATH_MAX + 40];

    make_file(true);
    forge_read(&forge, bed.path);
    log_path(&forge, path);
    Image *image = image_take(bed.dir);
    uint64_t end = 0; /* of the groups */
    for (uint64_t start = 0; start + WAL_BLOCK <= forge.log_size; start = end) {
        WalGroup group;
        if (wal_group_decode(forge.log + start, &group) != SAP_OK ||
            group.segment != forge.meta.wal.segment) {
            break;
        }
        uint64_t len = WAL_GROUP_HEADER + (uint64_t)group.payload_len;
        bool last = ++groups == COMMITS;
        end = start + wal_group_space(len);
        for (uint64_t at = start + first; at < start + len; at += LOG_STRIDE) {
            for (int bit = 0; bit < 2; bit++) {
                expect_context("group %" PRIu64 ", byte %" PRIu64 ", %s", groups, at - start,
                               bit ? "one bit" : "all bits");
                Outcome outcome = trial(image, path, at, changed(forge.log[at], bit, at),
                                        &states[groups - 1], &tally);
                /* A length beyond the segment's end is no crash's work: refused. */
                EXPECT(outcome == REFUSED || (last && outcome == CUT), "%s",
                       outcome_names[outcome]);
            }
        }
        for (uint64_t at = start + len; at < end; at += ZERO_STRIDE, zeros++) {
            Outcome outcome = trial(image, path, at, 0xff, NULL, &tally);
            EXPECT(outcome == HARMLESS, "the space behind a group: %s", outcome_names[outcome]);
        }
    }
    for (uint64_t at = end; at < forge.log_size; at += ZERO_STRIDE, zeros++) {
        Outcome outcome = trial(image, path, at, 0xff, NULL, &tally);
        EXPECT(outcome == HARMLESS, "the space behind all groups: %s", outcome_names[outcome]);
    }
    printf("%" PRIu64 " groups, %" PRIu64 " bytes of free space: ", groups, zeros);
    print_tally("the log", &tally, LOG_STRIDE);
    ck_assert_uint_eq(groups, COMMITS);
    ck_assert(tally.of[REFUSED] > 0 && tally.of[HARMLESS] > 0 && tally.of[CUT] > 0 &&
              tally.recovered > 0 && zeros > 10);
    image_free(image);
    forge_free(&forge);
}
END_TEST

START_TEST(bytes_of_the_data_file_below_a_log_are_noticed_or_harmless)
{
    Forge forge;
    Tally tally = {0};

    make_file(true);
    forge_read(&forge, bed.path);
    Image *image = image_take(bed.dir);
    for (uint64_t at = first_offset(OPEN_STRIDE); at < forge.data_size; at += OPEN_STRIDE) {
        expect_context("byte %" PRIu64, at);
        Outcome outcome =
            trial(image, bed.path, at, changed(forge.data[at], true, at), NULL, &tally);
        EXPECT(outcome != CUT, "the log is whole");
    }
    print_tally("the data file below a log", &tally, OPEN_STRIDE);
    ck_assert(tally.of[REFUSED] > 0 && tally.of[HARMLESS] > 0);
    image_free(image);
    forge_free(&forge);
}
END_TEST

static Suite *flip_suite(void)
{
    Suite *suite = suite_create("engine_flip");
    TCase *tcase = tcase_create("flip");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, every_byte_of_the_data_file_is_noticed_or_harmless);
    tcase_add_test(tcase, every_byte_of_the_log_is_noticed_or_cut_or_harmless);
    tcase_add_test(tcase, bytes_of_the_data_file_below_a_log_are_noticed_or_harmless);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(flip_suite());
}
