/* Subsystems in files: their states are as durable as rows. A commit's change of a state is in the
 * log, a checkpoint has the whole; copies and recoveries carry them. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/env.h"
#include "support/copies.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/forge.h"
#include "support/suite.h"
#include "support/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_S = 120, CHECKPOINTS = 12, MANY = 900 };

static FileBed bed;
static size_t live_before;

static void set_up(void)
{
    live_before = mem_live_total();
    tally_answers = (TallyAnswers){0};
    file_bed_start(&bed);
    bed.options.subsystems = tally_subsystem();
    bed.options.subsystem_count = 1;
}

static void tear_down(void)
{
    file_bed_end(&bed);
    (void)tally_release();
    ck_assert_uint_eq(mem_live_total(), live_before);
}

static SapTxnCtx *begin(SapEnv *db, SapTxnCtx *parent, unsigned flags)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, parent, flags, &txn), SAP_OK);
    return txn;
}

/* One transaction that changes the state alone. */
static int flip(SapEnv *db, uint32_t number, unsigned flags)
{
    SapTxnCtx *txn = begin(db, NULL, flags);

    EXPECT_RC(tally_flip(txn, number), SAP_OK);
    return sap_txn_commit(txn);
}

/* And one that changes rows too. */
static int flip_and_put(SapEnv *db, uint32_t number)
{
    SapTxnCtx *txn = begin(db, NULL, 0);

    EXPECT_RC(tally_flip(txn, number), SAP_OK);
    EXPECT_RC(sap_txn_put(txn, &number, sizeof number, "row", 3), SAP_OK);
    return sap_txn_commit(txn);
}

static uint64_t rows(SapEnv *db)
{
    SapStat stat;

    EXPECT_RC(sap_db_stat(db, &stat), SAP_OK);
    return stat.num_entries;
}

static void without_subsystems(void)
{
    bed.options.subsystems = NULL;
    bed.options.subsystem_count = 0;
}

static void with_subsystem(void)
{
    bed.options.subsystems = tally_subsystem();
    bed.options.subsystem_count = 1;
}

/* ---- Durable ------------------------------------------------------------------------------- */

START_TEST(a_state_is_there_after_closing)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        bed.options.page_size = files_page_sizes[i];
        SapEnv *db = file_bed_open(&bed);
        tally_expect(db, "");
        EXPECT_RC(flip(db, 7, 0), SAP_OK);
        EXPECT_RC(flip_and_put(db, 3), SAP_OK);
        EXPECT_RC(flip(db, 9, 0), SAP_OK);
        EXPECT_RC(flip(db, 7, 0), SAP_OK);
        file_bed_close(db);
        db = file_bed_open(&bed);
        tally_expect(db, "3 9");
        ck_assert_uint_eq(rows(db), 1);
        EXPECT_RC(flip(db, 3, 0), SAP_OK);
        EXPECT_RC(flip(db, 9, 0), SAP_OK);
        file_bed_close(db);
        db = file_bed_open(&bed);
        tally_expect(db, "");
        EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
        file_bed_close(db);
        copies_remove(bed.path);
    }
}
END_TEST

static void commit_and_die(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    (void)arg;
    EXPECT_RC(flip_and_put(db, 1), SAP_OK);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    EXPECT_RC(flip(db, 2, 0), SAP_OK);
    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    EXPECT_RC(flip_and_put(db, 4), SAP_OK);
}

START_TEST(a_state_is_there_after_the_process_died)
{
    files_in_child(commit_and_die, NULL);
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "2 4");
    ck_assert_uint_eq(rows(db), 2);
    file_bed_close(db);
}
END_TEST

static void commit_in_bulk_and_die(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    (void)arg;
    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    uint64_t before = tally_encoded;
    EXPECT_RC(flip(db, 2, SAP_TXN_BULK), SAP_OK);
    EXPECT(tally_encoded == before, "a bulk transaction was encoded");
    EXPECT_RC(flip(db, 3, 0), SAP_OK);
}

START_TEST(a_bulk_transaction_of_a_state_alone_is_durable)
{
    files_in_child(commit_in_bulk_and_die, NULL);
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "1 2 3");
    file_bed_close(db);
}
END_TEST

static void commit_without_a_log(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    (void)arg;
    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    EXPECT_RC(flip(db, 2, 0), SAP_OK);
    tally_expect(db, "1 2");
}

START_TEST(without_a_log_a_state_is_that_of_the_last_checkpoint)
{
    bed.options.sync_mode = SAP_SYNC_NONE;
    files_in_child(commit_without_a_log, NULL);
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "1");
    EXPECT_RC(flip(db, 3, 0), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&bed);
    tally_expect(db, "1 3");
    file_bed_close(db);
}
END_TEST

static void nest_and_die(void *arg)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *txn = begin(db, NULL, 0);

    (void)arg;
    EXPECT_RC(tally_flip(txn, 1), SAP_OK);
    SapTxnCtx *child = begin(db, txn, 0);
    EXPECT_RC(tally_flip(child, 2), SAP_OK);
    SapTxnCtx *grandchild = begin(db, child, 0);
    EXPECT_RC(tally_flip(grandchild, 3), SAP_OK);
    sap_txn_abort(grandchild);
    uint64_t before = tally_encoded;
    EXPECT_RC(sap_txn_commit(child), SAP_OK);
    EXPECT(tally_encoded == before, "a child was encoded");
    child = begin(db, txn, 0);
    EXPECT_RC(tally_flip(child, 4), SAP_OK);
    sap_txn_abort(child);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    EXPECT(tally_encoded == before + 1, "encoded %llu times",
           (unsigned long long)(tally_encoded - before));
    txn = begin(db, NULL, 0);
    EXPECT_RC(tally_flip(txn, 5), SAP_OK);
    sap_txn_abort(txn);
}

START_TEST(a_state_is_what_the_outermost_commit_made_of_its_children)
{
    files_in_child(nest_and_die, NULL);
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "1 2");
    file_bed_close(db);
}
END_TEST

START_TEST(a_reader_has_the_state_of_its_snapshot)
{
    SapEnv *db = file_bed_open(&bed);

    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    SapTxnCtx *reader = begin(db, NULL, SAP_TXN_RDONLY);
    EXPECT_RC(flip(db, 2, 0), SAP_OK);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    ck_assert_str_eq(tally_text(db, reader), "1");
    sap_txn_abort(reader);
    tally_expect(db, "1 2");
    file_bed_close(db);
    bed.options.flags = SAP_OPEN_RDONLY;
    db = file_bed_open(&bed);
    tally_expect(db, "1 2");
    file_bed_close(db);
}
END_TEST

/* The run of the states is used again and again, whatever its size. */
START_TEST(states_that_grow_and_shrink_do_not_grow_the_file)
{
    SapEnv *db = file_bed_open(&bed);
    uint64_t after_two = 0;

    for (int i = 0; i < CHECKPOINTS; i++) {
        SapTxnCtx *txn = begin(db, NULL, 0);
        for (uint32_t number = 0; number < MANY; number++) {
            EXPECT_RC(tally_flip(txn, number), SAP_OK);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT_RC(sap_db_sync(db), SAP_OK);
        after_two = i == 3 ? files_size(bed.dir, "db") : after_two;
    }
    ck_assert_uint_eq(files_size(bed.dir, "db"), after_two);
    EXPECT_RC(flip(db, 5, 0), SAP_OK);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&bed);
    tally_expect(db, "5");
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    file_bed_close(db);
}
END_TEST

/* ---- What a subsystem answers --------------------------------------------------------------- */

START_TEST(an_encode_that_fails_aborts_the_commit)
{
    SapEnv *db = file_bed_open(&bed);

    EXPECT_RC(flip_and_put(db, 1), SAP_OK);
    tally_answers.encode = SAP_CONFLICT;
    EXPECT_RC(flip_and_put(db, 2), SAP_CONFLICT);
    tally_answers.encode = SAP_IO; /* is the disk's alone: the handle goes on */
    EXPECT_RC(flip_and_put(db, 2), SAP_ERROR);
    tally_answers.encode = SAP_BUSY; /* of a commit: nothing was done */
    EXPECT_RC(flip_and_put(db, 2), SAP_ERROR);
    tally_answers = (TallyAnswers){.write = UINT32_MAX};
    EXPECT_RC(flip_and_put(db, 2), SAP_FULL);
    tally_answers = (TallyAnswers){0};
    tally_expect(db, "1");
    ck_assert_uint_eq(rows(db), 1);
    EXPECT_RC(flip_and_put(db, 3), SAP_OK);
    file_bed_close(db);
    db = file_bed_open(&bed);
    tally_expect(db, "1 3");
    ck_assert_uint_eq(rows(db), 2);
    file_bed_close(db);
}
END_TEST

START_TEST(a_state_that_did_not_change_is_not_logged)
{
    SapEnv *db = file_bed_open(&bed);
    SapStat before;
    SapStat after;

    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    uint64_t encoded = tally_encoded;
    EXPECT_RC(sap_db_stat(db, &before), SAP_OK);
    SapTxnCtx *txn = begin(db, NULL, 0);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    ck_assert_uint_eq(tally_encoded, encoded);
    txn = begin(db, NULL, 0);
    EXPECT_RC(tally_flip(txn, 2), SAP_OK);
    EXPECT_RC(tally_flip(txn, 2), SAP_OK); /* another pointer, the same numbers: no bytes */
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    ck_assert_uint_eq(tally_encoded, encoded + 1);
    EXPECT_RC(sap_db_stat(db, &after), SAP_OK);
    ck_assert_uint_eq(after.txnid, before.txnid);
    tally_expect(db, "1");
    file_bed_close(db);
}
END_TEST

START_TEST(a_save_that_fails_is_no_checkpoint_and_loses_nothing)
{
    static const TallyAnswers answers[] = {
        {.save = SAP_CONFLICT}, {.write = UINT32_MAX}, {.save = SAP_BUSY}};
    static const int codes[] = {SAP_CONFLICT, SAP_FULL, SAP_ERROR};
    static const char *const texts[] = {"1 2", "2 3", "1 2 3 4"};

    for (size_t i = 0; i < 3; i++) {
        SapEnv *db = file_bed_open(&bed);
        EXPECT_RC(flip_and_put(db, 1), SAP_OK);
        tally_answers.save = answers[i].save;
        tally_answers.write = answers[i].write;
        EXPECT_RC(sap_db_sync(db), codes[i]);
        tally_answers.write = 0;
        EXPECT_RC(flip(db, 2 + (uint32_t)i, 0), SAP_OK);
        tally_answers.write = answers[i].write;
        EXPECT_RC(sap_db_close(db), codes[i]);
        tally_answers = (TallyAnswers){0};
        db = file_bed_open(&bed);
        tally_expect(db, texts[i]);
        ck_assert_uint_eq(rows(db), 1);
        file_bed_close(db);
    }
}
END_TEST

static void make_log(void *arg)
{
    (void)arg;
    SapEnv *db = file_bed_open(&bed);
    EXPECT_RC(flip(db, 8, 0), SAP_OK);
}

static void expect_refused(int code, const char *message)
{
    SapEnv *db = NULL;
    Image *before = image_take(bed.dir);

    (void)file_bed_messages(&bed);
    EXPECT_RC(file_bed_try(&bed, &db), code);
    file_bed_expect_message(&bed, message);
    image_expect_same(before, bed.dir);
    image_free(before);
}

START_TEST(a_state_that_the_subsystem_refuses_is_corrupt)
{
    files_in_child(make_log, NULL);
    tally_answers.apply = SAP_INVALID;
    expect_refused(SAP_CORRUPT, "commit 2 of the log does not fit");
    tally_answers.apply = SAP_OK;
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "8");
    file_bed_close(db);
    tally_answers.apply = SAP_IO;
    expect_refused(SAP_CORRUPT, "subsystem 5 refuses");
    tally_answers.apply = SAP_NOMEM;
    expect_refused(SAP_NOMEM, "out of memory");
    tally_answers.apply = SAP_OK;
    db = file_bed_open(&bed);
    tally_expect(db, "8");
    file_bed_close(db);
}
END_TEST

/* A sum on the heap, which only its environment releases. */
typedef struct Sum {
    uint32_t sum;
} Sum;

static int sums_live;
static uint32_t largest_sum;

static int sum_write(void *ctx, void *state, sap_write_fn write, void *write_ctx)
{
    (void)ctx;
    return write(&((Sum *)state)->sum, sizeof(uint32_t), write_ctx);
}

static int sum_encode(void *ctx, void *base, void *state, sap_write_fn write, void *write_ctx)
{
    (void)base;
    return sum_write(ctx, state, write, write_ctx);
}

/* In place: nobody else has the state yet. */
static int sum_apply(void *ctx, const void *bytes, uint32_t len, void **state)
{
    (void)ctx;
    EXPECT(len == sizeof(uint32_t), "%u bytes", len);
    if (*state == NULL) {
        *state = calloc(1, sizeof(Sum));
        EXPECT(*state != NULL, "no memory");
        sums_live++;
    }
    memcpy(&((Sum *)*state)->sum, bytes, len);
    return ((Sum *)*state)->sum > largest_sum ? SAP_INVALID : SAP_OK;
}

static void sum_destroy(SapEnv *env, void *state)
{
    (void)env;
    sums_live -= state != NULL;
    free(state);
}

static const SapSubsystem sum_subsystem = {.id = 1,
                                           .callbacks = {.on_env_destroy = sum_destroy,
                                                         .encode = sum_encode,
                                                         .apply = sum_apply,
                                                         .save = sum_write}};

static void make_sums(void *arg)
{
    SapEnv *db = file_bed_open(&bed);

    for (uint32_t i = 1; i <= 3; i++) {
        Sum *sum = malloc(sizeof *sum); /* the process ends before anybody would free it */
        SapTxnCtx *txn = begin(db, NULL, 0);
        EXPECT(sum != NULL, "no memory");
        sum->sum = i;
        EXPECT_RC(sap_txn_set_subsystem_state(txn, 1, sum), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    (void)arg;
}

START_TEST(states_of_an_open_that_fails_are_released)
{
    bed.options.subsystems = &sum_subsystem;
    files_in_child(make_sums, NULL);
    for (largest_sum = 0; largest_sum < 3; largest_sum++) { /* refused at the next */
        expect_refused(SAP_CORRUPT, "of the log does not fit");
        ck_assert_int_eq(sums_live, 0);
    }
    SapEnv *db = file_bed_open(&bed);
    ck_assert_int_eq(sums_live, 1);
    file_bed_close(db);
    ck_assert_int_eq(sums_live, 0);
    largest_sum = 0;
    expect_refused(SAP_CORRUPT, "subsystem 1 refuses"); /* in the checkpoint now */
    ck_assert_int_eq(sums_live, 0);
    SapRecoverReport report;
    SapRecoverOptions options = {.subsystems = &sum_subsystem, .subsystem_count = 1};
    largest_sum = 3;
    EXPECT_RC(sap_db_recover(bed.path, NULL, &options, &report), SAP_OK); /* and of a dry run */
    ck_assert_int_eq(sums_live, 0);
    largest_sum = 1;
    EXPECT_RC(sap_db_recover(bed.path, NULL, &options, &report), SAP_OK);
    ck_assert_uint_eq(report.subsystems_lost, 1);
    ck_assert_int_eq(sums_live, 0);
}
END_TEST

/* ---- Opening -------------------------------------------------------------------------------- */

START_TEST(a_subsystem_that_the_options_lack_is_named)
{
    files_in_child(make_log, NULL); /* in the log */
    without_subsystems();
    expect_refused(SAP_ERROR, "state of subsystem 5, which the options");
    with_subsystem();
    file_bed_close(file_bed_open(&bed)); /* in the checkpoint */
    without_subsystems();
    expect_refused(SAP_ERROR, "state of subsystem 5, which the options");
    bed.options.flags = SAP_OPEN_RDONLY;
    expect_refused(SAP_ERROR, "state of subsystem 5, which the options");
    bed.options.flags = 0;
    with_subsystem();
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "8");
    file_bed_close(db);
}
END_TEST

START_TEST(subsystems_that_cannot_be_in_a_file_are_refused)
{
    SapSubsystem two[2] = {*tally_subsystem(), *tally_subsystem()};
    SapEnv *db = NULL;

    bed.options.subsystems = two;
    bed.options.subsystem_count = 2;
    expect_refused(SAP_ERROR, "has the id 5, which is another's");
    two[1].id = SAP_MAX_SUBSYSTEMS;
    expect_refused(SAP_ERROR, "has the id 8");
    two[1].id = 0;
    two[1].callbacks.encode = NULL;
    expect_refused(SAP_ERROR, "subsystem 0 cannot be in a file");
    two[1] = (SapSubsystem){.callbacks = two[0].callbacks};
    two[1].callbacks.save = NULL;
    expect_refused(SAP_ERROR, "subsystem 0 cannot be in a file");
    two[1] = (SapSubsystem){.callbacks = two[0].callbacks};
    two[1].callbacks.apply = NULL;
    expect_refused(SAP_ERROR, "subsystem 0 cannot be in a file");
    bed.options.subsystems = NULL;
    EXPECT_RC(file_bed_try(&bed, &db), SAP_ERROR);
    with_subsystem();
    db = file_bed_open(&bed);
    EXPECT_RC(sap_env_register_subsystem(db, 0, &two[0].callbacks), SAP_ERROR);
    EXPECT_RC(sap_env_set_subsystem_state(db, TALLY_ID, NULL), SAP_ERROR);
    file_bed_close(db);
}
END_TEST

static uint32_t version_of_newest_meta(void)
{
    Forge forge = {0};

    forge_read(&forge, bed.path);
    uint32_t version = load_u32le(forge_meta(&forge) + META_VERSION);
    forge_free(&forge);
    return version;
}

#if SAP_FAULTS
static uint32_t version_at_group;

static void note_version(const char *name, void *ctx)
{
    (void)ctx;
    if (strcmp(name, "log group written") == 0 && version_at_group == 0) {
        version_at_group = version_of_newest_meta();
    }
}
#endif

START_TEST(only_a_file_with_subsystems_has_version_2)
{
    without_subsystems();
    file_bed_close(file_bed_open(&bed));
    ck_assert_uint_eq(version_of_newest_meta(), 1);
    with_subsystem();
    SapEnv *db = file_bed_open(&bed);
    ck_assert_uint_eq(version_of_newest_meta(), 1); /* nothing was written yet */
#if SAP_FAULTS
    version_at_group = 0;
    fault_on_step(note_version, NULL);
#endif
    EXPECT_RC(flip(db, 1, 0), SAP_OK);
#if SAP_FAULTS
    fault_on_step(NULL, NULL);
    ck_assert_uint_eq(version_at_group, 2); /* before the log has a change */
#endif
    ck_assert_uint_eq(version_of_newest_meta(), 2);
    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    file_bed_close(db);
    without_subsystems();
    db = file_bed_open(&bed); /* no state is left */
    SapTxnCtx *txn = begin(db, NULL, 0);
    EXPECT_RC(sap_txn_put(txn, "a", 1, "b", 1), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    ck_assert_uint_eq(version_of_newest_meta(), 1);
}
END_TEST

/* Whatever a right checksum covers, opening answers and does not crash. */
START_TEST(states_that_make_no_sense_are_corrupt)
{
    static const struct {
        const char *name;
        bool in_meta;
        uint32_t at; /* in the meta, or in the value of the run */
        const char *bytes;
        uint32_t len;
    } cases[] = {
        {"far away", true, META_STATES, "\1\2\3\4", 4},
        {"in the header", true, META_STATES, "\1\0\0\0", 4},
        {"nowhere", true, META_STATES, "\0\0\0\0", 4},
        {"of no page", true, META_STATES_PAGES, "\0\0\0\0", 4},
        {"of many pages", true, META_STATES_PAGES, "\2\0\0\0", 4},
        {"of most pages", true, META_STATES_PAGES, "\377\377\377\377", 4},
        {"no such tag", false, 0, "\2", 1},
        {"no such subsystem", false, 1, "\x8", 1},
        {"no bytes", false, 2, "\0\0\0\0", 4},
        {"too many bytes", false, 2, "\xff\xff\0\0", 4},
        {"bytes behind the end", false, 4000, "\1", 1},
        {"a second of the same", false, 11, "\1\5\5\0\0\0\1\7\0\0\0", 11},
        {"a second of a lower number", false, 11, "\1\4\5\0\0\0\1\7\0\0\0", 11},
    };
    Forge sound = {0};
    Forge forge = {0};

    files_in_child(make_log, NULL);
    file_bed_close(file_bed_open(&bed));
    forge_read(&sound, bed.path);
    ck_assert_uint_ne(sound.meta.states, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expect_context("%s", cases[i].name);
        forge_copy(&forge, &sound);
        if (cases[i].in_meta) {
            memcpy(forge_meta(&forge) + cases[i].at, cases[i].bytes, cases[i].len);
            forge_seal_meta(&forge);
            memset(forge.data + meta_offset(forge.meta.number + 1, 0), 0, FILE_BLOCK);
            memset(forge.data + meta_offset(forge.meta.number + 1, 1), 0, FILE_BLOCK);
        } else {
            uint8_t *run = forge_page(&forge, forge.meta.states);
            memcpy(run + PAGE_HEADER + cases[i].at, cases[i].bytes, cases[i].len);
            forge_seal_page(&forge, forge.meta.states);
        }
        forge_write_data(&forge, bed.path);
        expect_refused(SAP_CORRUPT, "damaged");
    }
    forge_write_data(&sound, bed.path);
    SapEnv *db = file_bed_open(&bed);
    tally_expect(db, "8");
    file_bed_close(db);
    forge_free(&forge);
    forge_free(&sound);
    printf("%zu forged states refused\n", sizeof cases / sizeof *cases);
}
END_TEST

/* ---- Copies --------------------------------------------------------------------------------- */

static void expect_copy(const char *path, const char *numbers)
{
    SapEnv *copy = copies_open(&bed, path);

    tally_expect(copy, numbers);
    EXPECT_RC(sap_db_verify(copy, NULL, NULL), SAP_OK);
    EXPECT_RC(flip(copy, 99, 0), SAP_OK);
    file_bed_close(copy);
    copy = copies_open(&bed, path);
    EXPECT(strstr(tally_text(copy, NULL), "99") != NULL, "the copy does not go on");
    file_bed_close(copy);
    copies_remove(path);
}

static void copy_both_ways(SapEnv *db, const char *numbers)
{
    char path[FILES_PATH_MAX + 8];

    snprintf(path, sizeof path, "%s-copy", bed.path);
    EXPECT_RC(copies_backup(db, path), SAP_OK);
    expect_copy(path, numbers);
    EXPECT_RC(sap_db_compact(db, path), SAP_OK);
    expect_copy(path, numbers);
    tally_answers.save = SAP_CONFLICT;
    EXPECT_RC(copies_backup(db, path), SAP_CONFLICT);
    copies_remove(path);
    EXPECT_RC(sap_db_compact(db, path), SAP_CONFLICT);
    tally_answers.save = SAP_OK;
    copies_remove(path);
}

START_TEST(copies_carry_the_states)
{
    SapEnv *db = file_bed_open(&bed);

    EXPECT_RC(flip(db, 1, 0), SAP_OK);
    copy_both_ways(db, "1"); /* without rows there is no catalog */
    EXPECT_RC(flip_and_put(db, 2), SAP_OK);
    copy_both_ways(db, "1 2");
    SapTxnCtx *txn = begin(db, NULL, 0);
    for (uint32_t number = 0; number < MANY; number++) {
        EXPECT_RC(tally_flip(txn, number + 100), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    char *numbers = strdup(tally_text(db, NULL));
    ck_assert_ptr_nonnull(numbers);
    copy_both_ways(db, numbers);
    free(numbers);
    file_bed_close(db);
}
END_TEST

START_TEST(a_copy_of_memory_carries_the_states)
{
    SapEnv *db = sap_db_open(NULL, 4096, NULL, NULL);

    EXPECT_RC(sap_env_register_subsystem(db, TALLY_ID, &tally_subsystem()->callbacks), SAP_OK);
    EXPECT_RC(flip_and_put(db, 6), SAP_OK);
    copy_both_ways(db, "6");
    EXPECT_RC(sap_db_close(db), SAP_OK);
}
END_TEST

START_TEST(a_stream_has_tables_only_and_a_restore_leaves_states_alone)
{
    SapEnv *db = file_bed_open(&bed);
    Stream stream;

    EXPECT_RC(flip_and_put(db, 1), SAP_OK);
    copies_content(db, &stream);
    EXPECT_RC(flip_and_put(db, 2), SAP_OK);
    EXPECT_RC(sap_db_restore(db, stream_read, &stream), SAP_OK);
    ck_assert_uint_eq(rows(db), 1);
    tally_expect(db, "1 2");
    file_bed_close(db);
    db = file_bed_open(&bed);
    ck_assert_uint_eq(rows(db), 1);
    tally_expect(db, "1 2");
    file_bed_close(db);
    stream_free(&stream);
}
END_TEST

/* ---- Recovering ----------------------------------------------------------------------------- */

typedef struct Recovered {
    char target[FILES_PATH_MAX + 16];
    SapRecoverOptions options;
    SapRecoverReport report;
} Recovered;

static char said[4096]; /* by the last recovery, all of it */

static void note_said(const char *text, void *ctx)
{
    size_t len = strlen(said);

    snprintf(said + len, sizeof said - len, "%s\n", text);
    bed.options.on_message(text, ctx);
}

static void recover(Recovered *r)
{
    snprintf(r->target, sizeof r->target, "%s-target", bed.path);
    copies_remove(r->target);
    r->options.on_message = note_said;
    r->options.callback_ctx = bed.options.callback_ctx;
    (void)file_bed_messages(&bed);
    SapRecoverReport dry;
    EXPECT_RC(sap_db_recover(bed.path, NULL, &r->options, &dry), SAP_OK);
    said[0] = 0;
    EXPECT_RC(sap_db_recover(bed.path, r->target, &r->options, &r->report), SAP_OK);
    EXPECT(memcmp(&dry, &r->report, sizeof dry) == 0, "the dry run reported something else");
}

static void expect_recovered(const Recovered *r, const char *numbers)
{
    SapEnv *db = copies_open(&bed, r->target);

    tally_expect(db, numbers);
    EXPECT_RC(sap_db_verify(db, NULL, NULL), SAP_OK);
    file_bed_close(db);
}

START_TEST(recovery_brings_checkpoint_and_log_of_a_state)
{
    Recovered r = {.options = {.subsystems = tally_subsystem(), .subsystem_count = 1}};

    files_in_child(commit_and_die, NULL);
    recover(&r);
    ck_assert_uint_eq(r.report.subsystems_lost, 0);
    ck_assert_uint_eq(r.report.pages_damaged, 0);
    ck_assert_uint_eq(r.report.rows, 2);
    expect_recovered(&r, "2 4");
}
END_TEST

START_TEST(recovery_without_the_subsystem_tells_of_it)
{
    Recovered r = {0};

    files_in_child(commit_and_die, NULL);
    recover(&r);
    ck_assert_uint_eq(r.report.subsystems_lost, 1);
    file_bed_expect_message(&bed, "state of subsystem 5 is lost: the options do not have");
    ck_assert_uint_eq(r.report.rows, 2);
    expect_recovered(&r, "");
    r.options.subsystem_count = 1;
    EXPECT_RC(sap_db_recover(bed.path, NULL, &r.options, NULL), SAP_ERROR);
    SapSubsystem bad = *tally_subsystem();
    bad.callbacks.apply = NULL;
    r.options.subsystems = &bad;
    EXPECT_RC(sap_db_recover(bed.path, NULL, &r.options, NULL), SAP_ERROR);
}
END_TEST

START_TEST(recovery_tells_of_a_state_that_is_damaged_or_refused)
{
    Recovered r = {.options = {.subsystems = tally_subsystem(), .subsystem_count = 1}};
    Forge forge = {0};

    files_in_child(commit_and_die, NULL);
    tally_answers.apply = SAP_INVALID;
    recover(&r);
    tally_answers.apply = SAP_OK;
    ck_assert_uint_eq(r.report.subsystems_lost, 1);
    file_bed_expect_message(&bed, "refused a change");
    ck_assert_uint_eq(r.report.rows, 2);
    expect_recovered(&r, "");

    forge_read(&forge, bed.path);
    forge_page(&forge, forge.meta.states)[PAGE_HEADER + 3] ^= 1;
    forge_write_data(&forge, bed.path);
    recover(&r);
    ck_assert_uint_eq(r.report.subsystems_lost, 1);
    ck_assert_uint_eq(r.report.pages_damaged, 1);
    file_bed_expect_message(&bed, "states of all subsystems are lost");
    ck_assert_uint_eq(r.report.rows, 2);
    expect_recovered(&r, ""); /* changes of what is not known are none */
    forge_free(&forge);
}
END_TEST

static void damage_copies(const Forge *forge, bool all)
{
    static const uint8_t junk[8] = {0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a, 0x5a};

    for (uint32_t copy = 0; copy < 4; copy++) {
        uint64_t number = forge->meta.number + copy / 2;
        if (copy < 2 || all) {
            files_write_at(bed.path, meta_offset(number, copy % 2) + META_NUMBER, junk,
                           sizeof junk);
        }
    }
}

/* The run of the states is found as the bitmap is; what cannot be found is no state that was empty. */
START_TEST(recovery_without_a_header_finds_the_states_or_tells_of_them)
{
    Recovered with = {.options = {.subsystems = tally_subsystem(), .subsystem_count = 1}};
    Recovered without = {0};

    for (int all = 0; all < 2; all++) {
        Forge forge = {0};
        uint8_t junk = 0;
        expect_context("%s", all ? "all copies" : "those of the newest");
        crash_dir_empty(bed.dir);
        SapEnv *db = file_bed_open(&bed);
        for (uint32_t i = 1; i < 5; i++) {
            EXPECT_RC(flip_and_put(db, i), SAP_OK);
            /* The last is in the checkpoint of closing, and in no other. */
            EXPECT_RC(i < 4 ? sap_db_sync(db) : SAP_OK, SAP_OK);
        }
        file_bed_close(db);
        forge_read(&forge, bed.path);
        damage_copies(&forge, all != 0);
        recover(&with);
        EXPECT(with.report.subsystems_lost == 0, "states are lost");
        expect_recovered(&with, "1 2 3 4");
        recover(&without);
        EXPECT(without.report.subsystems_lost == 1, "nothing was said");
        EXPECT(strstr(said, "the options do not have that subsystem") != NULL, "%s", said);

        uint64_t at = (uint64_t)forge.meta.states * forge.meta.page_size + PAGE_HEADER;
        files_write_at(bed.path, at, &junk, 1);
        recover(&with);
        EXPECT(with.report.subsystems_lost == 1, "nothing was counted");
        EXPECT(strstr(said, "no intact header says where they are") != NULL, "%s", said);
        expect_recovered(&with, "");
        forge_free(&forge);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_subsystem");
    TCase *tcase = tcase_create("files");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, a_state_is_there_after_closing);
    tcase_add_test(tcase, a_state_is_there_after_the_process_died);
    tcase_add_test(tcase, a_bulk_transaction_of_a_state_alone_is_durable);
    tcase_add_test(tcase, without_a_log_a_state_is_that_of_the_last_checkpoint);
    tcase_add_test(tcase, a_state_is_what_the_outermost_commit_made_of_its_children);
    tcase_add_test(tcase, a_reader_has_the_state_of_its_snapshot);
    tcase_add_test(tcase, states_that_grow_and_shrink_do_not_grow_the_file);
    tcase_add_test(tcase, an_encode_that_fails_aborts_the_commit);
    tcase_add_test(tcase, a_state_that_did_not_change_is_not_logged);
    tcase_add_test(tcase, a_save_that_fails_is_no_checkpoint_and_loses_nothing);
    tcase_add_test(tcase, a_state_that_the_subsystem_refuses_is_corrupt);
    tcase_add_test(tcase, states_of_an_open_that_fails_are_released);
    tcase_add_test(tcase, a_subsystem_that_the_options_lack_is_named);
    tcase_add_test(tcase, subsystems_that_cannot_be_in_a_file_are_refused);
    tcase_add_test(tcase, only_a_file_with_subsystems_has_version_2);
    tcase_add_test(tcase, states_that_make_no_sense_are_corrupt);
    tcase_add_test(tcase, copies_carry_the_states);
    tcase_add_test(tcase, a_copy_of_memory_carries_the_states);
    tcase_add_test(tcase, a_stream_has_tables_only_and_a_restore_leaves_states_alone);
    tcase_add_test(tcase, recovery_brings_checkpoint_and_log_of_a_state);
    tcase_add_test(tcase, recovery_without_the_subsystem_tells_of_it);
    tcase_add_test(tcase, recovery_tells_of_a_state_that_is_damaged_or_refused);
    tcase_add_test(tcase, recovery_without_a_header_finds_the_states_or_tells_of_them);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
