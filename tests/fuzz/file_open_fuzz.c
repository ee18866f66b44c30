/* Files that are wrong, with right checksums if the input says so: whatever is in them, opening
 * and every call behind it ends, and with a code; and what is recovered from them is sound.
 *
 * An input is a file among some that are made once, how to seal it, changes of its bytes, and calls.
 */
#include "sapling/node.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/forge.h"
#include "support/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LONGEST_INPUT = 512,
    MAX_EDITS = 16,
    MAX_EDIT_BYTES = 8,
    MAX_CALLS = 12,
    MAX_PAGES = 256,
    MAX_STEPS = 2000,
    ROWS = 40,
    MANY_TABLES = 100,
    BIG = 9000,
    LONG_KEY = 900,
    PAGE_BYTES = 4096,
};

/* Tables of the first two files. */
enum { PLAIN_KEYS, PAIRS, REVERSED, DATA, EXPIRY, LONG_KEYS, TABLES };

typedef enum SampleKind { CLOSED, WITH_LOG, MANY, SAMPLES } SampleKind;

typedef struct Sample {
    Image *image;
    Forge forge;
    Forge edited;
    uint32_t starts[MAX_PAGES]; /* pages that are nodes or begin runs, after a 0 for the header */
    uint32_t start_count;
} Sample;

static FileBed bed;
static Sample samples[SAMPLES];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- Good files ----------------------------------------------------------------------------- */

static uint32_t key_of(uint32_t i, char key[LONG_KEY], bool is_long)
{
    uint32_t len = is_long ? LONG_KEY - i % 7 : 6;

    memset(key, 'k', LONG_KEY);
    snprintf(key + (is_long ? LONG_KEY / 2 : 0), 8, "%06u", i * 10 % 1000000);
    key[is_long ? LONG_KEY / 2 + 6 : 6] = '-';
    return len;
}

static void fill(SapEnv *db, uint32_t from, uint32_t to)
{
    static uint8_t big[BIG];
    SapTxnCtx *txn = NULL;

    memset(big, 'b', sizeof big);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = from; i < to; i++) {
        char key[LONG_KEY];
        char reversed[LONG_KEY];
        uint32_t len = key_of(i, key, true);
        memcpy(reversed, key, len);
        reversed[0] = (char)i;
        EXPECT_RC(sap_txn_put_dbi(txn, LONG_KEYS, key, len, key, i % 30), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, REVERSED, reversed, len, key, 3), SAP_OK);
        len = key_of(i, key, false);
        EXPECT_RC(sap_txn_put(txn, key, len, big, i % 16 == 0 ? BIG : i % 5 * 40), SAP_OK);
        EXPECT_RC(sap_txn_put_dbi(txn, PAIRS, key, 5, big, 20 + i % 10 * 40), SAP_OK);
        EXPECT_RC(sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, key, len, "v", 1, i), SAP_OK);
        EXPECT_RC(tally_flip(txn, i), SAP_OK);
    }
    EXPECT_RC(sap_txn_del_range(txn, PLAIN_KEYS, "000100", 6, "000150", 6, NULL), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void make_tables(SapEnv *db)
{
    EXPECT_RC(sap_dbi_open(db, PAIRS, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open_named(db, REVERSED, "reverse", 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, DATA, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, EXPIRY, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    EXPECT_RC(sap_dbi_open(db, LONG_KEYS, NULL, NULL, 0), SAP_OK);
}

static void make_many(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    for (uint32_t dbi = 1; dbi < MANY_TABLES; dbi++) {
        EXPECT_RC(sap_dbi_open(db, dbi, NULL, NULL, dbi % 3 == 0 ? SAP_DBI_DUPSORT : 0), SAP_OK);
    }
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t dbi = 0; dbi < MANY_TABLES; dbi += 4) {
        EXPECT_RC(sap_txn_put_dbi(txn, dbi, "key", 3, "value", 5), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static void find_starts(Sample *sample)
{
    Forge *forge = &sample->forge;

    EXPECT(forge_pages(forge) <= MAX_PAGES, "%u pages", forge_pages(forge));
    sample->start_count = 1;
    for (uint32_t pgno = file_first_page(PAGE_BYTES); pgno < forge_pages(forge); pgno++) {
        uint64_t sum = load_u64le(forge_page(forge, pgno));
        forge_seal_page(forge, pgno);
        if (sum != 0 && sum == load_u64le(forge_page(forge, pgno))) {
            sample->starts[sample->start_count++] = pgno;
        }
        store_u64le(forge_page(forge, pgno), sum);
    }
    EXPECT(sample->start_count > 8, "hardly any pages");
}

static void make_sample(SampleKind kind)
{
    crash_dir_empty(bed.dir);
    SapEnv *db = file_bed_open(&bed);
    if (kind == MANY) {
        make_many(db);
    } else {
        make_tables(db);
        fill(db, 0, ROWS);
    }
    if (kind == WITH_LOG) {
        EXPECT_RC(sap_db_sync(db), SAP_OK);
        fill(db, ROWS, ROWS + 6);
        samples[kind].image = image_take(bed.dir);
    }
    file_bed_close(db);
    if (kind != WITH_LOG) {
        samples[kind].image = image_take(bed.dir);
    }
    image_restore(samples[kind].image, bed.dir);
    forge_read(&samples[kind].forge, bed.path);
    find_starts(&samples[kind]);
}

static void remove_bed(void)
{
    for (uint32_t i = 0; i < SAMPLES; i++) {
        image_free(samples[i].image);
        forge_free(&samples[i].forge);
        forge_free(&samples[i].edited);
    }
    file_bed_end(&bed);
}

static void make_samples(void)
{
    if (bed.dir[0] != 0) {
        return;
    }
    file_bed_start(&bed);
    bed.options.page_size = PAGE_BYTES;
    bed.options.max_size = UINT64_C(64) << 20;
    bed.options.checkpoint_bytes = 64 << 10;
    bed.options.subsystems = tally_subsystem();
    bed.options.subsystem_count = 1;
    for (uint32_t i = 0; i < SAMPLES; i++) {
        make_sample((SampleKind)i);
    }
    bed.options.flags = 0;
    EXPECT(atexit(remove_bed) == 0, "no room for the end");
}

/* ---- Changes -------------------------------------------------------------------------------- */

static void edit_bytes(Choice *choice, uint8_t *bytes, uint32_t size)
{
    /* What tells most is in front. */
    uint32_t at = choice_below(choice, choice_below(choice, 2) == 0 && size > 64 ? 64 : size);
    uint32_t len = 1 + choice_below(choice, MAX_EDIT_BYTES);

    for (uint32_t i = 0; i < len && at + i < size; i++) {
        bytes[at + i] = (uint8_t)choice_below(choice, 256);
    }
}

/* Another page's bytes in this one's place. */
static void edit_copy(Choice *choice, Forge *forge, uint32_t pgno)
{
    uint32_t from = choice_below(choice, forge_pages(forge));

    memmove(forge_page(forge, pgno), forge_page(forge, from), forge->meta.page_size);
    store_u32le(forge_page(forge, pgno) + PAGE_NO, pgno);
}

/* A branch that leads elsewhere, or counts otherwise. */
static void edit_branch(Choice *choice, Forge *forge, uint8_t *page)
{
    uint32_t i = choice_below(choice, page_count(page));
    uint32_t flag = choice_below(choice, 2) == 0 ? 0 : CHILD_OWNS_RUNS;

    switch (choice_below(choice, 3)) {
    case 0:
        branch_set_child(page, i, choice_below(choice, forge_pages(forge)) | flag);
        break;
    case 1:
        branch_set_child(page, i,
                         branch_child(page, choice_below(choice, page_count(page))) | flag);
        break;
    default:
        branch_set_rows(page, i,
                        choice_below(choice, 3) == 0 ? UINT16_MAX : choice_below(choice, 9));
        break;
    }
}

/* A leaf with another key, whose head is right; or another value elsewhere. */
static void edit_leaf(Choice *choice, Forge *forge, uint8_t *page)
{
    uint32_t i = choice_below(choice, page_count(page));
    LeafRow row = leaf_row(page, i);
    uint8_t *key = page + (row.key - page);

    if (row.val_code == CELL_VAL_ELSEWHERE && choice_below(choice, 2) == 0) {
        store_u32le(key + row.key_len, choice_below(choice, forge_pages(forge)));
        store_u32le(key + row.key_len + 4, choice_below(choice, 2 * BIG));
    } else if (row.key_len > 0) {
        key[choice_below(choice, row.key_len)] = (uint8_t)choice_below(choice, 256);
        uint32_t p = page_prefix(page);
        if (!page_is_plain(page)) {
            store_u32le(page + PAGE_HEADER + (size_t)4 * i,
                        load_head_be(row.key + p, row.key_len - p));
        }
    }
}

/* What leaves a page one, but perhaps none that fits its place. */
static void edit_node(Choice *choice, Forge *forge, uint8_t *page)
{
    if (page[PAGE_TYPE] == PAGE_OVERFLOW || node_damage(page, forge->meta.page_size) != NULL) {
        return;
    }
    if (page_is_leaf(page)) {
        edit_leaf(choice, forge, page);
    } else {
        edit_branch(choice, forge, page);
    }
}

static void edit_page(Choice *choice, Forge *forge, uint32_t pgno)
{
    uint8_t *page = forge_page(forge, pgno);

    switch (choice_below(choice, 4)) {
    case 0:
        edit_bytes(choice, page, forge->meta.page_size);
        break;
    case 1:
        edit_copy(choice, forge, pgno);
        break;
    default:
        edit_node(choice, forge, page);
        break;
    }
}

static void edit(Choice *choice, Sample *sample, bool log, bool seal)
{
    Forge *forge = &sample->edited;
    uint32_t edits = choice_below(choice, MAX_EDITS);

    for (uint32_t i = 0; i < edits; i++) {
        uint32_t pgno = sample->starts[choice_below(choice, sample->start_count)];
        if (log) {
            edit_bytes(choice, forge->log, (uint32_t)forge->log_size);
        } else if (pgno == 0) {
            edit_bytes(choice, forge_meta(forge), META_CHECKSUM_STATES);
        } else {
            edit_page(choice, forge, pgno);
        }
        if (seal && !log && pgno != 0) {
            forge_seal_page(forge, pgno);
        }
    }
    if (seal && log) {
        forge_seal_log(forge);
    } else if (seal) {
        forge_seal_meta(forge);
    }
}

/* ---- Calls ---------------------------------------------------------------------------------- */

/* Every byte that a call points to can be read. */
static void touch(const void *bytes, uint32_t len)
{
    static uint8_t copy[BIG];

    for (uint32_t at = 0; at < len; at += BIG) {
        memcpy(copy, (const uint8_t *)bytes + at, len - at < BIG ? len - at : BIG);
    }
}

static void touch_row(SapCursor *cur)
{
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t val_len = 0;

    if (sap_cursor_get_key(cur, &key, &key_len) == SAP_OK) {
        touch(key, key_len);
    }
    if (sap_cursor_get(cur, &key, &key_len, &val, &val_len) == SAP_OK) {
        touch(val, val_len);
    }
}

static void walk(SapTxnCtx *txn, uint32_t dbi, int (*start)(SapCursor *), int (*step)(SapCursor *))
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);

    if (cur == NULL) {
        return; /* no such table */
    }
    int rc = start(cur);
    for (uint32_t i = 0; i < MAX_STEPS && rc == SAP_OK; i++) {
        touch_row(cur);
        rc = step(cur);
    }
    EXPECT(rc == SAP_OK || rc == SAP_NOTFOUND || rc == SAP_CORRUPT, "a step answered %d", rc);
    sap_cursor_close(cur);
}

static void use_cursor(SapTxnCtx *txn, uint32_t dbi, const char *key, uint32_t len)
{
    SapCursor *cur = sap_cursor_open_dbi(txn, dbi);
    uint64_t n = 0;

    if (cur == NULL) {
        return;
    }
    (void)sap_cursor_seek(cur, key, len);
    touch_row(cur);
    (void)sap_cursor_rank(cur, &n);
    (void)sap_cursor_next_dup(cur);
    (void)sap_cursor_first_dup(cur);
    (void)sap_cursor_last_dup(cur);
    (void)sap_cursor_count_dup(cur, &n);
    (void)sap_cursor_seek_nth(cur, n % 100);
    touch_row(cur);
    (void)sap_cursor_put(cur, "other", 5, 0);
    touch_row(cur);
    (void)sap_cursor_del(cur);
    (void)sap_cursor_prev(cur);
    touch_row(cur);
    (void)sap_cursor_del(cur);
    touch_row(cur);
    sap_cursor_close(cur);
}

static void load_some(SapTxnCtx *txn, uint32_t dbi)
{
    static const char *const keys[] = {"000005", "000200", "000210", "kkkk"};
    const void *const rows[] = {keys[0], keys[1], keys[2], keys[3]};
    const uint32_t lens[] = {6, 6, 6, 4};

    (void)sap_txn_load_sorted(txn, dbi, rows, lens, rows, lens, 4);
}

static void read_all(SapEnv *db)
{
    SapTxnCtx *txn = NULL;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    for (uint32_t dbi = 0; dbi < TABLES; dbi++) {
        const void *val = NULL;
        uint32_t len = 0;
        uint64_t n = 0;
        SapStat stat;
        walk(txn, dbi, sap_cursor_first, sap_cursor_next);
        walk(txn, dbi, sap_cursor_last, sap_cursor_prev);
        if (sap_txn_get_dbi(txn, dbi, "000160", 6, &val, &len) == SAP_OK) {
            touch(val, len);
        }
        (void)sap_txn_count_range(txn, dbi, "000200", 6, "000400", 6, &n);
        (void)sap_dbi_stat(txn, dbi, &stat);
        use_cursor(txn, dbi, "000200", 6);
    }
    sap_txn_abort(txn);
}

/* A key of the sample, or one beside it. */
static uint32_t choose_key(Choice *choice, uint32_t dbi, char key[LONG_KEY])
{
    uint32_t i = choice_below(choice, ROWS + 8);
    uint32_t len = key_of(i, key, dbi == LONG_KEYS || dbi == REVERSED);

    if (dbi == REVERSED) {
        key[0] = (char)i;
    }
    key[len - 1] = (char)(key[len - 1] + (choice_below(choice, 3) == 2 ? 1 : 0));
    return len;
}

static void change(Choice *choice, SapTxnCtx *txn)
{
    static uint8_t val[BIG];
    char key[LONG_KEY];
    char to[LONG_KEY];
    uint32_t dbi = choice_below(choice, TABLES);
    uint32_t len = choose_key(choice, dbi, key);
    uint32_t to_len = 0;

    switch (choice_below(choice, 10)) {
    case 0:
    case 1:
        (void)sap_txn_put_dbi(txn, dbi, key, len, val, choice_below(choice, 1500));
        break;
    case 2:
        (void)sap_txn_put_dbi(txn, dbi, key, len, val, BIG);
        break;
    case 3:
        (void)sap_txn_del_dbi(txn, dbi, key, len);
        break;
    case 4:
        to_len = choose_key(choice, dbi, to);
        (void)sap_txn_del_range(txn, dbi, key, len, to, to_len, NULL);
        break;
    case 5:
        (void)sap_txn_del_range(txn, dbi, NULL, 0, NULL, 0, NULL);
        break;
    case 6:
        use_cursor(txn, dbi, key, len);
        break;
    case 7:
        load_some(txn, dbi);
        break;
    case 8:
        (void)sap_txn_sweep_ttl_dbi(txn, DATA, EXPIRY, choice_below(choice, ROWS), NULL);
        break;
    default:
        (void)sap_txn_put_ttl_dbi(txn, DATA, EXPIRY, key, len, val, 10, 5);
        EXPECT_RC(tally_flip(txn, choice_below(choice, 100)), SAP_OK);
        break;
    }
}

static void write_some(Choice *choice, SapEnv *db)
{
    SapTxnCtx *txn = NULL;
    SapTxnCtx *child = NULL;
    uint32_t calls = choice_below(choice, MAX_CALLS);

    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    for (uint32_t i = 0; i < calls; i++) {
        change(choice, txn);
        if (choice_below(choice, 4) == 3) {
            EXPECT_RC(sap_txn_begin_rc(db, txn, 0, &child), SAP_OK);
            change(choice, child);
            if (choice_below(choice, 2) == 0) {
                sap_txn_abort(child);
            } else {
                EXPECT_RC(sap_txn_commit(child), SAP_OK);
            }
        }
    }
    if (choice_below(choice, 2) == 0) {
        sap_txn_abort(txn);
    } else {
        int rc = sap_txn_commit(txn);
        EXPECT(rc == SAP_OK || rc == SAP_CORRUPT || rc == SAP_FULL, "commit answered %d", rc);
    }
}

static void ignore(const char *text, void *ctx)
{
    (void)ctx;
    touch(text, (uint32_t)strlen(text));
}

static int swallow(const void *bytes, uint32_t len, void *ctx)
{
    (void)ctx;
    touch(bytes, len);
    return SAP_OK;
}

/* A file that is sound can be copied; one that is not is found out, or not concerned. */
static void copy(Choice *choice, SapEnv *db, bool sound)
{
    char path[FILES_PATH_MAX + 8];
    int rc = SAP_OK;

    if (choice_below(choice, 4) == 3) {
        snprintf(path, sizeof path, "%s/copy", bed.dir);
        rc = sap_db_compact(db, path);
        (void)unlink(path);
    } else {
        rc = sap_db_backup(db, swallow, NULL);
    }
    EXPECT(rc == SAP_OK || (rc == SAP_CORRUPT && !sound), "a copy answered %d", rc);
}

/* What can be read of it makes a sound file. */
static void recover(void)
{
    SapRecoverOptions options = {.comparators = bed.options.comparators,
                                 .comparator_count = bed.options.comparator_count,
                                 .subsystems = bed.options.subsystems,
                                 .subsystem_count = bed.options.subsystem_count,
                                 .on_message = ignore};
    SapOpenOptions plain = bed.options;
    SapRecoverReport report;
    SapEnv *db = NULL;
    char target[FILES_PATH_MAX + 8];

    snprintf(target, sizeof target, "%s-saved", bed.path);
    int rc = sap_db_recover(bed.path, target, &options, &report);
    EXPECT(rc == SAP_OK || rc == SAP_INVALID, "recover answered %d", rc);
    if (rc == SAP_OK) {
        plain.page_size = 0;
        EXPECT_RC(sap_db_open_path(target, &plain, &db), SAP_OK);
        EXPECT_RC(sap_db_verify(db, ignore, NULL), SAP_OK);
        EXPECT_RC(sap_db_close(db), SAP_OK);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const SapSyncMode modes[] = {SAP_SYNC_NONE, SAP_SYNC_COMMIT};
    Choice choice;
    SapEnv *db = NULL;

    if (size > LONGEST_INPUT) {
        return -1;
    }
    make_samples();
    choice_from_bytes(&choice, data, size);
    Sample *sample = &samples[choice_below(&choice, SAMPLES)];
    bool seal = choice_below(&choice, 8) != 7;
    bool log = choice_below(&choice, 8) == 7 && sample->forge.log_size > 0; /* not closed */
    bed.options.sync_mode = modes[choice_below(&choice, 2)];
    forge_copy(&sample->edited, &sample->forge);
    edit(&choice, sample, log, seal);
    image_restore(sample->image, bed.dir);
    if (log) {
        forge_write_log(&sample->edited, bed.path);
    } else {
        forge_write_data(&sample->edited, bed.path);
    }
    if (choice_below(&choice, 4) == 3) {
        recover();
    }
    (void)file_bed_messages(&bed);
    int rc = file_bed_try(&bed, &db);
    if (rc != SAP_OK) {
        EXPECT(rc == SAP_CORRUPT || rc == SAP_INVALID || rc == SAP_ERROR || rc == SAP_FULL,
               "open answered %d", rc);
        EXPECT(file_bed_messages(&bed) > 0, "refused without a message");
        (void)tally_release();
        return 0;
    }
    rc = sap_db_verify(db, ignore, NULL);
    bool sound = rc == SAP_OK;
    EXPECT(sound || rc == SAP_CORRUPT, "verify answered %d", rc);
    read_all(db);
    copy(&choice, db, sound);
    write_some(&choice, db);
    if (sound) { /* what is sound stays so */
        EXPECT_RC(sap_db_verify(db, ignore, NULL), SAP_OK);
    }
    (void)sap_db_close(db);
    (void)tally_release();
    return 0;
}
