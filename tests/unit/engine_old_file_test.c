/* Files that earlier builds wrote open, with all their rows. */
#include "common/bytes.h"
#include "samples/old_database.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TIMEOUT_S = 60, CHUNK = 32, LARGE = 5000 };

static FileBed bed;

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a' + 10);
}

static void old_name(uint32_t file, char name[FILES_PATH_MAX + 40])
{
    snprintf(name, FILES_PATH_MAX + 40, "%s%s", bed.path, old_files[file].suffix);
}

/* Puts the files there, under the name of the bed. */
static void set_up(void)
{
    char name[FILES_PATH_MAX + 40];

    file_bed_start(&bed);
    for (uint32_t i = 0; i < sizeof old_files / sizeof old_files[0]; i++) {
        old_name(i, name);
        FILE *file = fopen(name, "wb");
        EXPECT(file != NULL && fclose(file) == 0, "no file %s", name);
        ck_assert_int_eq(truncate(name, old_files[i].size), 0);
    }
    for (size_t i = 0; i < sizeof old_bytes / sizeof old_bytes[0]; i++) {
        const OldBytes *old = &old_bytes[i];
        uint8_t bytes[CHUNK];

        for (size_t k = 0; k < CHUNK; k++) {
            bytes[k] = (uint8_t)(digit(old->hex[2 * k]) << 4 | digit(old->hex[2 * k + 1]));
        }
        old_name(old->file, name);
        for (uint32_t k = 0; k < old->times; k++) {
            files_write_at(name, (uint64_t)old->offset + (uint64_t)k * CHUNK, bytes, CHUNK);
        }
    }
}

static void tear_down(void)
{
    file_bed_end(&bed);
}

static void expect_row(SapTxnCtx *txn, const char *key, const void *expected, uint32_t expected_len)
{
    const void *val = NULL;
    uint32_t len = 0;

    EXPECT_RC(sap_txn_get(txn, key, (uint32_t)strlen(key), &val, &len), SAP_OK);
    EXPECT(bytes_compare(val, len, expected, expected_len) == 0, "%s has another value", key);
}

static void expect_rows(SapEnv *db)
{
    char large[LARGE];
    SapTxnCtx *txn = sap_txn_begin(db, NULL, SAP_TXN_RDONLY);
    SapStat stat;

    EXPECT(txn != NULL, "no transaction");
    memset(large, 'b', sizeof large);
    expect_row(txn, "in-checkpoint", "1", 1);
    expect_row(txn, "in-log", "2", 1);
    expect_row(txn, "replaced", "new", 3);
    expect_row(txn, "large", large, sizeof large);
    EXPECT_RC(sap_txn_stat(txn, &stat), SAP_OK);
    EXPECT(stat.num_entries == 4, "%llu rows", (unsigned long long)stat.num_entries);

    SapCursor *cursor = sap_cursor_open_dbi(txn, 3);
    const void *key = NULL;
    const void *val = NULL;
    uint32_t key_len = 0;
    uint32_t val_len = 0;
    EXPECT(cursor != NULL, "no cursor");
    for (const char *pair = "ab"; *pair != 0; pair++) {
        EXPECT_RC(*pair == 'a' ? sap_cursor_first(cursor) : sap_cursor_next(cursor), SAP_OK);
        EXPECT_RC(sap_cursor_get(cursor, &key, &key_len, &val, &val_len), SAP_OK);
        EXPECT(bytes_compare(key, key_len, "pair", 4) == 0 &&
                   bytes_compare(val, val_len, pair, 1) == 0,
               "another pair than %c", *pair);
    }
    EXPECT_RC(sap_cursor_next(cursor), SAP_NOTFOUND);
    sap_cursor_close(cursor);
    sap_txn_abort(txn);
    model_expect_verified(db);
}

START_TEST(file_and_log_of_an_earlier_build_have_all_rows)
{
    SapEnv *db = file_bed_open(&bed);

    expect_rows(db);
    file_bed_close(db);
    db = file_bed_open(&bed);
    expect_rows(db);
    file_bed_close(db);
    ck_assert_uint_eq(file_bed_messages(&bed), 0);
}
END_TEST

START_TEST(read_only_open_of_a_file_and_log_of_an_earlier_build_shows_all_rows)
{
    Image *before = image_take(bed.dir);

    bed.options.flags = SAP_OPEN_RDONLY;
    SapEnv *db = file_bed_open(&bed);
    expect_rows(db);
    file_bed_close(db);
    image_expect_same(before, bed.dir);
    image_free(before);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_old_file");
    TCase *tcase = tcase_create("old");

    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_test(tcase, file_and_log_of_an_earlier_build_have_all_rows);
    tcase_add_test(tcase, read_only_open_of_a_file_and_log_of_an_earlier_build_shows_all_rows);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
