/* Opening files: what is refused, by which code, with a text that says why, and with every byte on
 * disk as it was. */
#include "common/bytes.h"
#include "common/config.h"
#include "common/hash.h"
#include "common/mem.h"
#include "sapling/file_format.h"
#include "sapling/wal_format.h"
#include "support/expect.h"
#include "support/files.h"
#include "support/model.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TIMEOUT_S = 300, NOBODY = 65534, MANY = 400, BIG = 1 << 20, DRAIN_STEPS = 100 };

static FileBed bed;

static void set_up(void)
{
    file_bed_start_small(&bed);
}

static void tear_down(void)
{
    file_bed_end_clean(&bed);
}

/* ---- Contents ------------------------------------------------------------------------------- */

static void put(SapEnv *db, const char *key, const void *val, uint32_t val_len)
{
    EXPECT_RC(file_bed_put(db, key, val, val_len), SAP_OK);
}

static void expect_value(SapEnv *db, const char *key, const char *val)
{
    SapTxnCtx *txn = NULL;
    const void *found = NULL;
    uint32_t len = 0;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    int rc = sap_txn_get(txn, key, (uint32_t)strlen(key), &found, &len);
    EXPECT(rc == (val == NULL ? SAP_NOTFOUND : SAP_OK), "%s: %d", key, rc);
    EXPECT(val == NULL || (len == strlen(val) && memcmp(found, val, len) == 0),
           "%s has another value", key);
    sap_txn_abort(txn);
}

/* A closed file with some pages. */
static void make_file(void)
{
    SapEnv *db = file_bed_open(&bed);
    uint8_t filler[2000];
    char key[20];

    memset(filler, 'f', sizeof filler);
    EXPECT_RC(sap_dbi_open_named(db, 3, "length", 0), SAP_OK);
    put(db, "greeting", "hello", 5);
    for (unsigned i = 0; i < MANY; i += 40) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        for (unsigned j = i; j < i + 40; j++) {
            uint32_t len = (uint32_t)snprintf(key, sizeof key, "filler-%05u", j);
            EXPECT_RC(sap_txn_put(txn, key, len, filler, sizeof filler), SAP_OK);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    file_bed_close(db);
    EXPECT(file_bed_messages(&bed) == 0, "there was a message: %s", bed.message);
}

typedef struct Unclosed {
    FileBed *bed;
    unsigned commits;
    uint32_t value_len;
} Unclosed;

static void write_unclosed(void *arg)
{
    const Unclosed *what = arg;
    SapEnv *db = file_bed_open(what->bed);
    uint8_t *value = calloc(1, (size_t)what->value_len + 8);
    char key[20];

    EXPECT(value != NULL, "no memory");
    for (unsigned i = 0; i < what->commits; i++) {
        snprintf(key, sizeof key, "commit-%05u", i);
        memset(value, 'a' + (int)(i % 26), what->value_len);
        put(db, key, value, what->value_len);
    }
    free(value);
}

/* A file whose last commits are in the log, each a group of its own. */
static void make_unclosed(FileBed *where, unsigned commits, uint32_t value_len)
{
    files_in_child(write_unclosed, &(Unclosed){where, commits, value_len});
}

/* The names of the log's segments, in order; returns how many hold groups. */
static unsigned segments_in_use(const FileBed *where, char paths[][FILES_PATH_MAX + 40],
                                unsigned max)
{
    unsigned count = 0;

    for (uint64_t number = 0; number < 64 && count < max; number++) {
        char *path = paths[count];
        WalGroup group;
        snprintf(path, FILES_PATH_MAX + 40, "%s-wal.%016" PRIx64, where->path, number);
        if (access(path, F_OK) == 0) {
            size_t size = 0;
            uint8_t *bytes = files_read(path, &size);
            count += size >= WAL_BLOCK && wal_group_decode(bytes, &group) == SAP_OK &&
                     group.segment == number;
            free(bytes);
        }
    }
    return count;
}

/* Opening by the bed's options answers `rc`, says something with `part` in it (NULL: need not), and
 * changes nothing. */
static void expect_refused(int rc, const char *part)
{
    SapEnv *db = NULL;
    Image *before = image_take(bed.dir);
    size_t live = mem_live_total();

    (void)file_bed_messages(&bed);
    int got = file_bed_try(&bed, &db);
    EXPECT(got == rc, "open answered %d instead of %d: %s", got, rc, bed.message);
    EXPECT(db == NULL, "a refused open has a result");
    if (part != NULL) {
        file_bed_expect_message(&bed, part);
        EXPECT(strstr(bed.message, bed.path) != NULL, "the message does not name the file: %s",
               bed.message);
        /* Where there is something to recover from. */
        bool advice = rc == SAP_CORRUPT && access(bed.path, F_OK) == 0;
        EXPECT((strstr(bed.message, "sapling db recover") != NULL) == advice, "the advice: %s",
               bed.message);
    }
    EXPECT(mem_live_total() == live, "memory is left");
    image_expect_same(before, bed.dir);
    image_free(before);
}

/* What was refused opens with these options again. */
static void expect_opens(void)
{
    SapEnv *db = file_bed_open(&bed);

    expect_value(db, "greeting", "hello");
    model_expect_verified(db);
    file_bed_close(db);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

START_TEST(misuse_is_refused_and_makes_no_file)
{
    static const SapComparator unnamed = {"", NULL, NULL};
    static const char long_name[] =
        "0123456789012345678901234567890123456789012345678901234567890123";
    SapEnv *db = NULL;
    SapOpenOptions good = bed.options;

    ck_assert_int_eq(sap_db_open_path(NULL, &bed.options, &db), SAP_ERROR);
    ck_assert_int_eq(sap_db_open_path("", &bed.options, &db), SAP_ERROR);
    ck_assert_int_eq(sap_db_open_path(bed.path, &bed.options, NULL), SAP_ERROR);
    static const uint32_t sizes[] = {1, 256, 1000, 2048, 4097, 12288, 65535, 65536, 1u << 31};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bed.options.page_size = sizes[i];
        expect_refused(SAP_ERROR, NULL);
    }
    bed.options = good;
    bed.options.flags |= 1u << 20;
    expect_refused(SAP_ERROR, NULL);
    bed.options = good;
    bed.options.sync_mode = (SapSyncMode)17;
    expect_refused(SAP_ERROR, NULL);
    bed.options = good;
    bed.options.comparators = &unnamed;
    bed.options.comparator_count = 1;
    expect_refused(SAP_ERROR, NULL);
    ck_assert_uint_eq(sizeof long_name - 1, 64);
    SapComparator too_long = {long_name, order_cmp(ORDER_FOLDED), order_ctx(ORDER_FOLDED)};
    bed.options.comparators = &too_long;
    expect_refused(SAP_ERROR, NULL);
    SapComparator nameless = {NULL, order_cmp(ORDER_FOLDED), order_ctx(ORDER_FOLDED)};
    bed.options.comparators = &nameless;
    expect_refused(SAP_ERROR, NULL);
    SapComparator without_function = {"x", NULL, NULL};
    bed.options.comparators = &without_function;
    expect_refused(SAP_ERROR, NULL);
    bed.options.comparators = NULL;
    expect_refused(SAP_ERROR, NULL);
    bed.options = good;
    bed.options.comparator = "unknown";
    expect_refused(SAP_ERROR, "unknown");
    ck_assert_uint_eq(files_size(bed.dir, "db"), 0);
}
END_TEST

START_TEST(longest_comparator_name_is_taken)
{
    static const char name[] = "012345678901234567890123456789012345678901234567890123456789012";
    SapComparator longest = {name, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE)};

    ck_assert_uint_eq(sizeof name - 1, 63);
    bed.options.comparators = &longest;
    bed.options.comparator_count = 1;
    bed.options.comparator = name;
    SapEnv *db = file_bed_open(&bed);
    put(db, "greeting", "hello", 5);
    file_bed_close(db);
    expect_opens();
}
END_TEST

START_TEST(page_size_that_is_not_the_files_is_refused)
{
    for (uint32_t i = 0; i < files_page_size_count; i++) {
        bed.options.page_size = files_page_sizes[i];
        SapEnv *db = file_bed_open(&bed);
        put(db, "greeting", "hello", 5);
        file_bed_close(db);
        for (uint32_t j = 0; j < files_page_size_count; j++) {
            bed.options.page_size = files_page_sizes[j];
            if (i != j) {
                expect_refused(SAP_ERROR, "page");
            }
        }
        bed.options.page_size = 0;
        expect_opens();
        snprintf(bed.path, sizeof bed.path, "%s/db%u", bed.dir, i);
    }
}
END_TEST

START_TEST(missing_file_is_made_only_if_asked_for)
{
    bed.options.flags = 0;
    expect_refused(SAP_NOTFOUND, "");
    bed.options.flags = SAP_OPEN_RDONLY;
    expect_refused(SAP_NOTFOUND, "");
    ck_assert_uint_eq(files_size(bed.dir, "db"), 0);
    bed.options.flags = SAP_OPEN_CREATE | SAP_OPEN_EXCLUSIVE;
    make_file();
    expect_refused(SAP_EXISTS, "");
    bed.options.flags = 0;
    expect_opens();
}
END_TEST

/* ---- Paths ---------------------------------------------------------------------------------- */

/* The file is not made in place of the link, nor at the other end of it. */
START_TEST(link_to_a_file_that_is_not_there_is_refused)
{
    char target[FILES_PATH_MAX];
    SapEnv *db = NULL;
    ssize_t len = 0;

    ck_assert_int_eq(symlink("elsewhere", bed.path), 0);
    for (int create = 0; create < 2; create++) {
        bed.options.flags = create ? SAP_OPEN_CREATE : 0;
        ck_assert_int_eq(file_bed_try(&bed, &db), SAP_NOTFOUND);
        file_bed_expect_message(&bed, "symbolic link to a file that is not there");
        len = readlink(bed.path, target, sizeof target);
        ck_assert_int_eq(len, (int)strlen("elsewhere"));
    }
    ck_assert_uint_eq(files_size(bed.dir, "elsewhere"), 0);
    ck_assert_uint_eq(files_size(bed.dir, "db-wal"), 0);
    ck_assert_int_eq(unlink(bed.path), 0);
}
END_TEST

START_TEST(path_in_no_directory_is_refused)
{
    snprintf(bed.path, sizeof bed.path, "%s/missing/db", bed.dir);
    expect_refused(SAP_NOTFOUND, "directory");
    bed.options.flags = 0;
    expect_refused(SAP_NOTFOUND, "");
}
END_TEST

START_TEST(log_without_its_data_file_is_not_thrown_away)
{
    make_unclosed(&bed, 3, 10);
    char kept[FILES_PATH_MAX + 8];
    snprintf(kept, sizeof kept, "%s/elsewhere", bed.dir);
    ck_assert_int_eq(rename(bed.path, kept), 0);
    expect_refused(SAP_CORRUPT, "its log is there");
    ck_assert_int_eq(rename(kept, bed.path), 0);
    SapEnv *db = file_bed_open(&bed);
    expect_value(db, "commit-00002", "cccccccccc");
    file_bed_close(db);
}
END_TEST

START_TEST(directory_as_path_is_refused)
{
    SapEnv *db = NULL;

    ck_assert_int_eq(mkdir(bed.path, 0755), 0);
    int rc = file_bed_try(&bed, &db);
    ck_assert(rc == SAP_IO || rc == SAP_INVALID);
    ck_assert_ptr_null(db);
    file_bed_expect_message(&bed, bed.path);
    ck_assert_int_eq(rmdir(bed.path), 0);
}
END_TEST

static void open_as_nobody(void *arg)
{
    (void)arg;
    EXPECT(geteuid() != 0 || seteuid(NOBODY) == 0, "cannot become another user");
    expect_refused(SAP_IO, "");
}

START_TEST(unwritable_directory_is_refused)
{
    ck_assert_int_eq(chmod(bed.dir, 0555), 0);
    files_in_child(open_as_nobody, NULL);
    ck_assert_int_eq(chmod(bed.dir, 0755), 0);
}
END_TEST

START_TEST(unwritable_file_is_refused)
{
    make_file();
    ck_assert_int_eq(chmod(bed.path, 0444), 0);
    ck_assert_int_eq(chmod(bed.dir, 0777), 0);
    files_in_child(open_as_nobody, NULL);
    ck_assert_int_eq(chmod(bed.path, 0644), 0);
    expect_opens();
}
END_TEST

/* ---- Files that are none -------------------------------------------------------------------- */

static void make_text_file(size_t size)
{
    FILE *file = fopen(bed.path, "wb");

    EXPECT(file != NULL, "no file");
    for (size_t i = 0; i < size; i++) {
        fputc("some text or other\n"[i % 19], file);
    }
    EXPECT(fclose(file) == 0, "no file");
}

START_TEST(file_of_another_kind_is_refused)
{
    static const size_t sizes[] = {1, 100, 4096, 16384, 100000};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        expect_context("%zu bytes of text", sizes[i]);
        make_text_file(sizes[i]);
        expect_refused(SAP_INVALID, "");
        bed.options.flags = SAP_OPEN_RDONLY;
        expect_refused(SAP_INVALID, "");
        bed.options.flags = SAP_OPEN_CREATE;
    }
}
END_TEST

/* Changes a field in all copies of the metas; `seal`: with a right checksum. */
static void edit_metas(uint32_t at, const void *field, size_t len, bool seal)
{
    size_t size = 0;
    uint8_t *bytes = files_read(bed.path, &size);

    for (size_t block = 0; block < FILE_HEADER; block += FILE_BLOCK) {
        uint8_t *meta = bytes + block;
        if (load_u64le(meta + META_MAGIC) == FILE_MAGIC) {
            memcpy(meta + at, field, len);
            if (seal) {
                store_u64le(meta + META_CHECKSUM, hash_bytes(meta, META_CHECKSUM, 0));
            }
            files_write_at(bed.path, block, meta, META_SIZE);
        }
    }
    free(bytes);
}

START_TEST(header_that_does_not_fit_is_refused)
{
    static const struct {
        const char *what;
        uint32_t at;
        const char *bytes;
        size_t len;
        int sealed_rc; /* SAP_OK: whatever it answers, nothing worse happens */
        int unsealed_rc;
    } edits[] = {
        {"magic", META_MAGIC, "NOTASAP", 8, SAP_INVALID, SAP_INVALID},
        {"version 3", META_VERSION, "\3\0\0\0", 4, SAP_INVALID, SAP_INVALID},
        {"byte order", META_ORDER_MARK, "\1\2\3\4", 4, SAP_INVALID, SAP_INVALID},
        {"page size 0", META_PAGE_SIZE, "\0\0\0\0", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"page size 4097", META_PAGE_SIZE, "\1\20\0\0", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"page size 8192", META_PAGE_SIZE, "\0\40\0\0", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"reserved", META_RESERVED, "\1", 1, SAP_CORRUPT, SAP_CORRUPT},
        {"number 0", META_NUMBER, "\0\0\0\0\0\0\0\0", 8, SAP_CORRUPT, SAP_CORRUPT},
        {"commit 0", META_TXNID, "\0\0\0\0\0\0\0\0", 8, SAP_CORRUPT, SAP_CORRUPT},
        {"no catalog", META_CATALOG, "\0\0\0\0", 4, SAP_OK, SAP_CORRUPT},
        {"catalog far away", META_CATALOG, "\1\2\3\4", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"catalog is the bitmap", META_CATALOG, NULL, 4, SAP_CORRUPT, SAP_CORRUPT},
        {"pages", META_HIGH, "\1\2\3\4", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"rows", META_CATALOG_ROWS, "\1\2\3\4", 4, SAP_OK, SAP_CORRUPT},
        {"no bitmap", META_BITMAP, "\0\0\0\0", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"bitmap far away", META_BITMAP, "\1\2\3\4", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"bitmap in the header", META_BITMAP, "\1\0\0\0", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"bitmap of many pages", META_BITMAP_PAGES, "\1\2\3\4", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"bitmap of most pages", META_BITMAP_PAGES, "\377\377\377\377", 4, SAP_CORRUPT,
         SAP_CORRUPT},
        {"last segment", META_WAL_CHAIN, "\377\377\377\377\377\377\377\177", 8, SAP_CORRUPT,
         SAP_CORRUPT},
        {"segment far away", META_WAL_SEGMENT, "\1\2\3\4", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"database", META_DB_ID, "\1\2\3\4", 4, SAP_CORRUPT, SAP_CORRUPT},
        {"checksum", META_CHECKSUM, "\1\2\3\4", 4, SAP_OK, SAP_CORRUPT},
    };

    make_file();
    Image *whole = image_take(bed.dir);
    size_t size = 0;
    uint8_t *bytes = files_read(bed.path, &size);
    const uint8_t *newest = bytes;
    if (load_u64le(bytes + 2 * FILE_BLOCK + META_NUMBER) > load_u64le(bytes + META_NUMBER)) {
        newest += 2 * FILE_BLOCK;
    }
    for (size_t i = 0; i < 2 * (sizeof edits / sizeof *edits); i++) {
        bool seal = i % 2 == 0;
        int rc = seal ? edits[i / 2].sealed_rc : edits[i / 2].unsealed_rc;
        const void *field =
            edits[i / 2].bytes != NULL ? edits[i / 2].bytes : (const void *)(newest + META_BITMAP);
        expect_context("%s, %s", edits[i / 2].what, seal ? "sealed" : "as it is");
        image_restore(whole, bed.dir);
        edit_metas(edits[i / 2].at, field, edits[i / 2].len, seal);
        if (rc != SAP_OK) {
            expect_refused(rc, "");
        } else {
            SapEnv *db = NULL;
            if (file_bed_try(&bed, &db) == SAP_OK) {
                (void)sap_db_verify(db, NULL, NULL);
                (void)sap_db_close(db);
            }
        }
    }
    image_restore(whole, bed.dir);
    expect_opens();
    free(bytes);
    image_free(whole);
}
END_TEST

static void count_up(void *bytes, uint32_t len, void *ctx)
{
    (void)ctx;
    for (uint32_t i = 0; i < len; i++) {
        ((uint8_t *)bytes)[i] = (uint8_t)(i + 1);
    }
}

/* Offsets and values as the format's page in the reference has them. */
START_TEST(header_has_the_bytes_of_the_format)
{
    static const char golden[] = "SAPDB01\0"          /* magic */
                                 "\1\0\0\0\4\3\2\1"   /* version, byte order */
                                 "\1\2\3\4\5\6\7\10"; /* database */
    uint64_t numbers[2] = {0, 0};
    size_t size = 0;

    bed.options.random = count_up;
    bed.options.page_size = 8192;
    SapEnv *db = file_bed_open(&bed);
    put(db, "greeting", "hello", 5);
    SapStat stat;
    ck_assert_int_eq(sap_db_stat(db, &stat), SAP_OK);
    file_bed_close(db);
    uint8_t *bytes = files_read(bed.path, &size);
    for (unsigned block = 0; block < 4; block++) {
        const uint8_t *meta = bytes + (size_t)block * 4096;
        ck_assert_mem_eq(meta, golden, 24);
        ck_assert_uint_eq(load_u32le(meta + 24), 8192);
        ck_assert_uint_eq(load_u32le(meta + 28), 0);
        ck_assert_uint_eq(load_u64le(meta + 32) % 2, block / 2);
        ck_assert_uint_eq(load_u64le(meta + 96), hash_bytes(meta, 96, 0));
        ck_assert_mem_eq(meta, bytes + block / 2 * 8192, 104);
        for (unsigned i = 104; i < 4096; i++) {
            EXPECT(meta[i] == 0, "byte %u behind a meta", i);
        }
        numbers[block / 2] = load_u64le(meta + 32);
    }
    const uint8_t *newest = bytes + (numbers[1] > numbers[0] ? 8192 : 0);
    ck_assert_uint_eq(load_u64le(newest + 40), stat.txnid);
    uint32_t catalog = load_u32le(newest + 48);
    ck_assert_uint_ge(catalog, 2);
    ck_assert_uint_lt(catalog, load_u32le(newest + 52));
    ck_assert_uint_le(load_u32le(newest + 52) * UINT64_C(8192), size);
    ck_assert_uint_eq(load_u64le(newest + 56), 1);
    const uint8_t *bitmap = bytes + (size_t)load_u32le(newest + 64) * 8192;
    ck_assert_uint_eq(load_u32le(newest + 68), 1);
    ck_assert_uint_eq(bitmap[20], 3);
    ck_assert_uint_ne(bitmap[32 + catalog / 8] & 1 << catalog % 8, 0);
    const uint8_t *page = bytes + (size_t)catalog * 8192;
    ck_assert_uint_eq(load_u32le(page + 16), catalog);
    ck_assert_uint_eq(load_u64le(page), hash_bytes(page + 8, 8184, load_u64le(bytes + 16)));
    free(bytes);
}
END_TEST

START_TEST(one_intact_copy_of_the_newest_header_is_enough)
{
    make_file();
    Image *whole = image_take(bed.dir);
    for (unsigned copy = 0; copy < 2; copy++) {
        uint8_t junk[512];
        memset(junk, 0x5a, sizeof junk);
        image_restore(whole, bed.dir);
        for (unsigned meta = 0; meta < 2; meta++) {
            files_write_at(bed.path, meta_offset(meta, copy), junk, sizeof junk);
        }
        expect_opens();
    }
    image_free(whole);
}
END_TEST

/* The older one needs a log that is gone, and its pages may have been used again. */
static void damage_newest_header(void)
{
    uint8_t junk[512];
    uint64_t numbers[2];
    size_t size = 0;

    uint8_t *bytes = files_read(bed.path, &size);
    for (unsigned meta = 0; meta < 2; meta++) {
        numbers[meta] = load_u64le(bytes + meta_offset(meta, 0) + META_NUMBER);
    }
    free(bytes);
    memset(junk, 0x5a, sizeof junk);
    for (unsigned copy = 0; copy < 2; copy++) {
        files_write_at(bed.path, meta_offset(numbers[1] > numbers[0], copy), junk, sizeof junk);
    }
}

START_TEST(file_without_its_newest_header_is_refused)
{
    make_file();
    damage_newest_header();
    expect_refused(SAP_CORRUPT, "");
}
END_TEST

/* Its checkpoints have no log between them, by which the older one would be known to be old. */
START_TEST(unlogged_file_without_its_newest_header_is_refused)
{
    bed.options.sync_mode = SAP_SYNC_NONE;
    SapEnv *db = file_bed_open(&bed);
    for (uint32_t i = 0; i < 3; i++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        EXPECT_RC(sap_txn_put(txn, "key", 3, &i, sizeof i), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
        EXPECT_RC(sap_db_sync(db), SAP_OK);
    }
    file_bed_close(db);
    damage_newest_header();
    expect_refused(SAP_CORRUPT, "");
}
END_TEST

START_TEST(truncated_data_file_is_refused)
{
    make_file();
    Image *whole = image_take(bed.dir);
    struct stat st;
    ck_assert_int_eq(stat(bed.path, &st), 0);
    uint64_t size = (uint64_t)st.st_size;
    uint64_t cuts[] = {1, 100, 4096, 8192, 12288, 16384, 20480, size / 2};
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        SapEnv *db = NULL;
        expect_context("cut to %" PRIu64 " bytes", cuts[i]);
        image_restore(whole, bed.dir);
        EXPECT(truncate(bed.path, (off_t)cuts[i]) == 0, "cannot truncate");
        Image *before = image_take(bed.dir);
        int rc = file_bed_try(&bed, &db);
        EXPECT(rc == SAP_CORRUPT || (cuts[i] < 16384 && rc == SAP_INVALID), "open answered %d", rc);
        file_bed_expect_message(&bed, bed.path);
        image_expect_same(before, bed.dir);
        image_free(before);
    }
    image_restore(whole, bed.dir);
    expect_opens();
    image_free(whole);
}
END_TEST

/* ---- Logs ----------------------------------------------------------------------------------- */

static char segments[64][FILES_PATH_MAX + 40];

START_TEST(truncated_log_is_refused)
{
    make_unclosed(&bed, 6, 5000);
    ck_assert_uint_eq(segments_in_use(&bed, segments, 64), 1);
    ck_assert_int_eq(truncate(segments[0], 3 * WAL_BLOCK), 0);
    expect_refused(SAP_CORRUPT, "cut short");
    ck_assert_int_eq(truncate(segments[0], 0), 0);
    expect_refused(SAP_CORRUPT, "how many were behind it cannot be known");
    bed.options.flags = SAP_OPEN_RDONLY;
    expect_refused(SAP_CORRUPT, "");
}
END_TEST

START_TEST(missing_segment_of_the_log_is_refused)
{
    bed.options.checkpoint_bytes = 0;
    make_unclosed(&bed, 50, BIG);
    unsigned count = segments_in_use(&bed, segments, 64);
    printf("a log of %u segments\n", count);
    ck_assert_uint_ge(count, 3);
    ck_assert_int_eq(unlink(segments[1]), 0);
    expect_refused(SAP_CORRUPT, "missing");
    ck_assert_int_eq(unlink(segments[0]), 0);
    expect_refused(SAP_CORRUPT, "missing");
}
END_TEST

START_TEST(file_moved_without_its_log_is_refused_with_what_to_move)
{
    char first[FILES_PATH_MAX];
    char hint[2 * FILES_PATH_MAX];

    make_unclosed(&bed, 6, 100);
    ck_assert_uint_eq(segments_in_use(&bed, segments, 64), 1);
    memcpy(first, bed.path, sizeof first);
    snprintf(bed.path, sizeof bed.path, "%s/moved", bed.dir);
    ck_assert_int_eq(rename(first, bed.path), 0);
    snprintf(hint, sizeof hint,
             "OLDNAME-wal.* probably still lies beside its former name: rename it to "
             "%s-wal.* and open the file again, before you try anything else",
             bed.path);
    expect_refused(SAP_CORRUPT, hint);
    expect_refused(SAP_CORRUPT, "`sapling db recover`");
    snprintf(hint, sizeof hint, "%s%s", bed.path, segments[0] + strlen(first));
    ck_assert_int_eq(rename(segments[0], hint), 0);
    file_bed_close(file_bed_open(&bed));
}
END_TEST

START_TEST(log_of_another_database_is_refused)
{
    FileBed other;
    static char others[8][FILES_PATH_MAX + 40];

    file_bed_start(&other);
    make_unclosed(&bed, 5, 100);
    make_unclosed(&other, 7, 100);
    ck_assert_uint_eq(segments_in_use(&bed, segments, 64), 1);
    ck_assert_uint_eq(segments_in_use(&other, others, 8), 1);
    files_copy(others[0], segments[0]);
    expect_refused(SAP_CORRUPT, "another database");
    file_bed_end(&other);
}
END_TEST

/* Where the groups of the first segment begin. */
static unsigned groups_in(const char *path, uint64_t offsets[], unsigned max)
{
    size_t size = 0;
    uint8_t *bytes = files_read(path, &size);
    unsigned count = 0;
    WalGroup group;

    for (size_t at = 0; at + WAL_BLOCK <= size && count < max; at += WAL_BLOCK) {
        if (wal_group_decode(bytes + at, &group) == SAP_OK &&
            at + WAL_GROUP_HEADER + group.payload_len <= size &&
            wal_group_verify(&group, bytes + at) == SAP_OK) {
            offsets[count++] = at;
        }
    }
    free(bytes);
    return count;
}

START_TEST(torn_end_of_the_log_is_cut_and_reported)
{
    uint64_t offsets[64];

    make_unclosed(&bed, 8, 100);
    ck_assert_uint_eq(segments_in_use(&bed, segments, 64), 1);
    unsigned count = groups_in(segments[0], offsets, 64);
    ck_assert_uint_ge(count, 8);
    files_write_at(segments[0], offsets[count - 1] + 70, "torn", 4);
    SapEnv *db = file_bed_open(&bed);
    file_bed_expect_message(&bed, bed.path);
    SapTxnCtx *txn = NULL;
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_get(txn, "commit-00006", 12, NULL, NULL), SAP_OK);
    ck_assert_int_eq(sap_txn_get(txn, "commit-00007", 12, NULL, NULL), SAP_NOTFOUND);
    sap_txn_abort(txn);
    model_expect_verified(db);
    put(db, "after", "x", 1);
    file_bed_close(db);
    db = file_bed_open(&bed);
    ck_assert_uint_eq(file_bed_messages(&bed), 0);
    expect_value(db, "after", "x");
    file_bed_close(db);
}
END_TEST

START_TEST(damage_within_the_log_is_refused)
{
    uint64_t offsets[64];

    make_unclosed(&bed, 8, 100);
    ck_assert_uint_eq(segments_in_use(&bed, segments, 64), 1);
    unsigned count = groups_in(segments[0], offsets, 64);
    ck_assert_uint_ge(count, 8);
    files_write_at(segments[0], offsets[count - 4] + 70, "hurt", 4);
    expect_refused(SAP_CORRUPT, "3 commits in 3 groups behind it would be lost");
}
END_TEST

/* ---- Damaged pages -------------------------------------------------------------------------- */

/* A file with a row "marked" whose page is damaged; which that is. */
static size_t make_damaged(void)
{
    uint8_t marked[900];
    size_t size = 0;

    memset(marked, 0xc7, sizeof marked);
    make_file();
    SapEnv *db = file_bed_open(&bed);
    put(db, "marked", marked, sizeof marked);
    file_bed_close(db);
    uint8_t *bytes = files_read(bed.path, &size);
    unsigned hits = 0;
    size_t last = 0;
    for (size_t at = 0; at + sizeof marked <= size; at++) {
        if (bytes[at] == 0xc7 && memcmp(bytes + at, marked, sizeof marked) == 0) {
            files_write_at(bed.path, at + 450, "!", 1);
            last = at;
            hits++;
        }
    }
    free(bytes);
    ck_assert_uint_eq(hits, 1);
    return last / 4096;
}

#if SAP_FILE_MAPPED

static void count_finding(const char *text, void *ctx)
{
    EXPECT(strlen(text) > 0, "an empty finding");
    ++*(unsigned *)ctx;
}

START_TEST(damaged_page_is_noticed_when_it_is_read)
{
    SapTxnCtx *txn = NULL;
    unsigned findings = 0;

    size_t page = make_damaged();
    SapEnv *db = file_bed_open(&bed);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_get(txn, "marked", 6, NULL, NULL), SAP_CORRUPT);
    char named[64];
    snprintf(named, sizeof named, "page %zu (its table is, or was, 0)", page);
    file_bed_expect_message(&bed, named);
    ck_assert_ptr_nonnull(strstr(bed.message, "sapling db recover"));
    ck_assert_int_eq(sap_txn_get(txn, "filler-00001", 12, NULL, NULL), SAP_OK);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_put(txn, "marked", 6, "x", 1), SAP_CORRUPT);
    sap_txn_abort(txn);
    ck_assert_int_eq(sap_db_verify(db, count_finding, &findings), SAP_CORRUPT);
    ck_assert_uint_ge(findings, 1);
    file_bed_close(db);
}
END_TEST

#else

/* All pages are read then. */
START_TEST(damaged_page_is_noticed_when_the_file_is_opened)
{
    (void)make_damaged();
    expect_refused(SAP_CORRUPT, "page");
    bed.options.flags = SAP_OPEN_RDONLY;
    expect_refused(SAP_CORRUPT, "table");
}
END_TEST

#endif

/* ---- Comparators ---------------------------------------------------------------------------- */

START_TEST(file_whose_comparator_is_missing_is_refused)
{
    make_file(); /* table 3 needs "length" */
    SapOpenOptions good = bed.options;
    bed.options.comparators = NULL;
    bed.options.comparator_count = 0;
    expect_refused(SAP_ERROR, "length");
    bed.options.comparators = good.comparators; /* those before it */
    bed.options.comparator_count = good.comparator_count - 1;
    expect_refused(SAP_ERROR, "length");
    bed.options = good;
    expect_opens();
}
END_TEST

START_TEST(missing_comparators_of_the_first_table_and_of_values_are_noticed)
{
    SapOpenOptions good = bed.options;

    bed.options.comparator = "reverse";
    SapEnv *db = file_bed_open(&bed);
    ck_assert_int_eq(sap_dbi_open(db, 9, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    ck_assert_int_eq(sap_dbi_set_dupsort(db, 9, order_cmp(ORDER_FOLDED), order_ctx(ORDER_FOLDED)),
                     SAP_OK);
    put(db, "greeting", "hello", 5);
    file_bed_close(db);
    bed.options.comparator = NULL;
    bed.options.comparator_count = 1;
    expect_refused(SAP_ERROR, "folded");
    bed.options.comparators = good.comparators + 1;
    expect_refused(SAP_ERROR, "reverse");
    bed.options = good;
    expect_opens();
}
END_TEST

/* ---- One owner ------------------------------------------------------------------------------ */

static void expect_busy(const char *path)
{
    SapOpenOptions options = bed.options;

    for (unsigned i = 0; i < 2; i++) {
        SapEnv *db = NULL;
        options.flags = i == 0 ? SAP_OPEN_CREATE : SAP_OPEN_RDONLY;
        (void)file_bed_messages(&bed);
        int rc = sap_db_open_path(path, &options, &db);
        EXPECT(rc == SAP_BUSY, "open of %s answered %d", path, rc);
        file_bed_expect_message(&bed, path);
    }
}

START_TEST(file_is_open_once)
{
    char alias[3][FILES_PATH_MAX + 20];

    make_file();
    snprintf(alias[0], sizeof alias[0], "%s/symbolic", bed.dir);
    snprintf(alias[1], sizeof alias[1], "%s/hard", bed.dir);
    snprintf(alias[2], sizeof alias[2], "%s/./db", bed.dir);
    ck_assert_int_eq(symlink(bed.path, alias[0]), 0);
    ck_assert_int_eq(link(bed.path, alias[1]), 0);
    SapEnv *db = file_bed_open(&bed);
    Image *before = image_take(bed.dir);
    expect_busy(bed.path);
    for (unsigned i = 0; i < 3; i++) {
        expect_busy(alias[i]);
    }
    image_expect_same(before, bed.dir);
    image_free(before);
    put(db, "still", "open", 4);
    file_bed_close(db);
    db = file_bed_open(&bed);
    expect_value(db, "still", "open");
    file_bed_close(db);
}
END_TEST

typedef struct Holder {
    int ready[2];
    int done[2];
    unsigned flags;
} Holder;

static void hold_open(Holder *holder)
{
    char byte = 0;

    bed.options.flags = holder->flags;
    SapEnv *db = file_bed_open(&bed);
    EXPECT(write(holder->ready[1], "r", 1) == 1, "no pipe");
    EXPECT(read(holder->done[0], &byte, 1) >= 0, "no pipe");
    file_bed_close(db);
}

/* Another process that has the file open until holder_end(). */
static pid_t holder_start(Holder *holder, unsigned flags)
{
    char byte = 0;

    holder->flags = flags;
    EXPECT(pipe(holder->ready) == 0 && pipe(holder->done) == 0, "no pipe");
    fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        hold_open(holder);
        _exit(0);
    }
    EXPECT(read(holder->ready[0], &byte, 1) == 1, "the other process failed");
    return pid;
}

static void holder_end(Holder *holder, pid_t pid)
{
    int status = 0;

    EXPECT(write(holder->done[1], "d", 1) == 1, "no pipe");
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0, "the other process failed");
    for (unsigned i = 0; i < 2; i++) {
        close(holder->ready[i]);
        close(holder->done[i]);
    }
}

START_TEST(file_that_another_process_has_open_is_refused_and_the_message_names_it)
{
    Holder holder;
    char alias[2][FILES_PATH_MAX + 20];
    char number[32];

    make_file();
    snprintf(alias[0], sizeof alias[0], "%s/symbolic", bed.dir);
    snprintf(alias[1], sizeof alias[1], "%s/hard", bed.dir);
    ck_assert_int_eq(symlink(bed.path, alias[0]), 0);
    ck_assert_int_eq(link(bed.path, alias[1]), 0);
    pid_t pid = holder_start(&holder, 0);
    expect_busy(bed.path);
    snprintf(number, sizeof number, "%ld", (long)pid);
    ck_assert_ptr_nonnull(strstr(bed.message, number));
    expect_busy(alias[0]);
    expect_busy(alias[1]);
    holder_end(&holder, pid);
    expect_opens();
}
END_TEST

/* A program started meanwhile that outlives the DB does not keep it locked. */
START_TEST(started_program_does_not_hold_the_lock)
{
    int started[2];
    int quit[2];
    char byte = 0;

    ck_assert(pipe2(started, O_CLOEXEC) == 0 && pipe2(quit, O_CLOEXEC) == 0);
    SapEnv *db = file_bed_open(&bed);
    put(db, "greeting", "hello", 5);
    fflush(NULL);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        if (dup2(quit[0], STDIN_FILENO) >= 0) {
            execlp("cat", "cat", (char *)NULL);
        }
        _exit(1);
    }
    close(started[1]);
    ck_assert_int_eq(read(started[0], &byte, 1), 0); /* its end was closed by the start */
    file_bed_close(db);
    expect_opens();
    ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
    close(quit[1]);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    close(quit[0]);
    close(started[0]);
}
END_TEST

START_TEST(file_of_a_process_that_died_opens)
{
    make_unclosed(&bed, 3, 10);
    SapEnv *db = file_bed_open(&bed);
    expect_value(db, "commit-00002", "cccccccccc");
    file_bed_close(db);
}
END_TEST

/* ---- Read-only ------------------------------------------------------------------------------ */

START_TEST(readers_of_a_closed_file_share_it_and_change_nothing)
{
    SapEnv *dbs[2];
    SapTxnCtx *txn = NULL;
    uint64_t lsn = 0;
    Holder holder;

    make_file();
    Image *before = image_take(bed.dir);
    bed.options.flags = SAP_OPEN_RDONLY;
    pid_t pid = holder_start(&holder, SAP_OPEN_RDONLY);
    dbs[0] = file_bed_open(&bed);
    dbs[1] = file_bed_open(&bed);
    for (unsigned i = 0; i < 2; i++) {
        SapEnv *db = dbs[i];
        expect_value(db, "greeting", "hello");
        ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_READONLY);
        ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_READONLY);
        ck_assert_int_eq(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_OK);
        ck_assert_int_eq(sap_txn_put(txn, "x", 1, "y", 1), SAP_READONLY);
        lsn = sap_txn_base_lsn(txn);
        sap_txn_abort(txn);
        ck_assert_int_eq(sap_db_wait_durable(db, lsn), SAP_OK);
        ck_assert_int_eq(sap_dbi_open(db, 3, order_cmp(ORDER_LENGTH), order_ctx(ORDER_LENGTH), 0),
                         SAP_OK);
        ck_assert_int_eq(sap_dbi_open(db, 77, NULL, NULL, 0), SAP_READONLY);
        ck_assert_int_eq(sap_dbi_open_named(db, 77, NULL, 0), SAP_READONLY);
        model_expect_verified(db);
    }
    bed.options.flags = 0;
    expect_refused(SAP_BUSY, "");
    file_bed_close(dbs[0]);
    expect_refused(SAP_BUSY, "");
    file_bed_close(dbs[1]);
    expect_refused(SAP_BUSY, ""); /* the other process */
    holder_end(&holder, pid);
    image_expect_same(before, bed.dir);
    image_free(before);
    expect_opens();
}
END_TEST

/* A file that a process left open, many more rows in its log than in its pages. */
START_TEST(read_only_open_of_a_file_with_a_log_shows_it_and_writes_nothing)
{
    SapTxnCtx *txn = NULL;

    make_file();
    make_unclosed(&bed, 50, BIG);
    Image *before = image_take(bed.dir);
    bed.options.flags = SAP_OPEN_RDONLY;
    SapEnv *dbs[2] = {file_bed_open(&bed), file_bed_open(&bed)};
    for (unsigned i = 0; i < 2; i++) {
        const void *val = NULL;
        uint32_t len = 0;
        expect_value(dbs[i], "greeting", "hello");
        EXPECT_RC(sap_txn_begin_rc(dbs[i], NULL, SAP_TXN_RDONLY, &txn), SAP_OK);
        EXPECT_RC(sap_txn_get(txn, "commit-00049", 12, &val, &len), SAP_OK);
        ck_assert_uint_eq(len, BIG);
        sap_txn_abort(txn);
        EXPECT_RC(sap_txn_begin_rc(dbs[i], NULL, 0, &txn), SAP_READONLY);
        model_expect_verified(dbs[i]);
    }
    bed.options.flags = 0;
    expect_refused(SAP_BUSY, "");
    file_bed_close(dbs[0]);
    file_bed_close(dbs[1]);
    image_expect_same(before, bed.dir);
    image_free(before);
    expect_opens();
}
END_TEST

/* ---- Room ----------------------------------------------------------------------------------- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;

    EXPECT(getrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    limit.rlim_cur = bytes;
    EXPECT(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
    EXPECT(signal(SIGXFSZ, SIG_IGN) != SIG_ERR, "no signal");
}

static void create_on_a_full_disk(void *arg)
{
    static const rlim_t limits[] = {0, 1000, 4096, 16384, 100000, 1 << 20};
    unsigned refused = 0;

    (void)arg;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        SapEnv *db = NULL;
        expect_context("files of %llu bytes", (unsigned long long)limits[i]);
        limit_files(limits[i]);
        int rc = file_bed_try(&bed, &db);
        limit_files(RLIM_INFINITY);
        EXPECT(rc == SAP_FULL || rc == SAP_OK, "open answered %d", rc);
        if (rc == SAP_OK) {
            file_bed_close(db);
            break;
        }
        refused++;
        file_bed_expect_message(&bed, strerror(EFBIG));
        EXPECT(files_size(bed.dir, "db-wal") == 0, "a log is left");
        EXPECT(access(bed.path, F_OK) != 0, "a file is left");
    }
    printf("%u creations on a full disk\n", refused);
    EXPECT(refused > 0, "there was always room");
}

START_TEST(full_disk_makes_no_file)
{
    files_in_child(create_on_a_full_disk, NULL);
    make_file();
    expect_opens();
}
END_TEST

/* The data file cannot grow, segments of the log are below the limit. A mapped file grows before its
 * pages are used; pages in memory wait for a checkpoint, and meanwhile the log has them. */
static void commit_on_a_full_disk(void *arg)
{
    unsigned full = 0;
    SapEnv *db = file_bed_open(&bed);
    uint8_t *value = calloc(1, BIG);

    (void)arg;
    EXPECT(value != NULL, "no memory");
    limit_files(20 << 20);
    for (unsigned i = 0; i < 60 && full == 0; i++) {
        char key[20];
        snprintf(key, sizeof key, "large-%05u", i);
        int rc = file_bed_put(db, key, value, BIG);
        EXPECT(rc == SAP_OK || rc == SAP_FULL, "a commit answered %d", rc);
        full += rc == SAP_FULL;
    }
    if (SAP_FILE_MAPPED) {
        EXPECT(full == 1, "the disk was never full");
    } else {
        EXPECT(full == 0, "a commit needed the data file");
        EXPECT_RC(sap_db_sync(db), SAP_FULL);
    }
    expect_value(db, "greeting", "hello");
    model_expect_verified(db);
    limit_files(RLIM_INFINITY);
    put(db, "room", "again", 5);
    file_bed_close(db);
    free(value);
}

START_TEST(full_disk_ends_the_transaction_and_nothing_else)
{
    make_file();
    files_in_child(commit_on_a_full_disk, NULL);
    SapEnv *db = file_bed_open(&bed);
    expect_value(db, "room", "again");
    model_expect_verified(db);
    file_bed_close(db);
}
END_TEST

#if SAP_FILE_MAPPED
static int change_number(SapTxnCtx *txn, uint32_t number, bool put)
{
    uint8_t val[500] = {0};
    uint32_t key = number * 2654435761u; /* in no order */

    return put ? sap_txn_put(txn, &key, sizeof key, val, sizeof val)
               : sap_txn_del(txn, &key, sizeof key);
}

/* Puts rows from number *rows on until none fits. */
static void put_until_full(SapTxnCtx *txn, uint32_t *rows)
{
    int rc = SAP_OK;

    for (; rc == SAP_OK; *rows += rc == SAP_OK) {
        rc = change_number(txn, *rows, true);
    }
    EXPECT_RC(rc, SAP_FULL);
}

/* From now on the file cannot grow by more than BIG. The transaction has put as many rows as fit. */
static SapTxnCtx *fill_in_one_transaction(SapEnv *db, uint32_t *rows)
{
    SapTxnCtx *txn = NULL;

    put(db, "first", "x", 1);
    limit_files((rlim_t)(files_size(bed.dir, "db") - files_size(bed.dir, "db-") + BIG));
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    put_until_full(txn, rows);
    return txn;
}

/* Deletes some of the rows of a full file, in the same transaction. That takes copies of pages, and no
 * checkpoint can give back any meanwhile. */
static void delete_on_a_full_disk(void *arg)
{
    SapEnv *db = file_bed_open(&bed);
    SapTxnCtx *child = NULL;
    uint32_t rows = 0;

    (void)arg;
    SapTxnCtx *txn = fill_in_one_transaction(db, &rows);
    EXPECT_RC(sap_txn_begin_rc(db, txn, 0, &child), SAP_OK);
    for (uint32_t i = 0; i < 10; i++) {
        EXPECT_RC(change_number(child, i * (rows / 10), false), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(child), SAP_OK);
    limit_files(RLIM_INFINITY);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    model_expect_verified(db);
    file_bed_close(db);
}

START_TEST(rows_can_be_deleted_when_the_data_file_cannot_grow)
{
    bed.options.checkpoint_bytes = 0;
    make_file();
    files_in_child(delete_on_a_full_disk, NULL);
    expect_opens();
}
END_TEST

/* In a full file, transactions that drain go on for as long as they like, and leave no room to others. */
static void drain_a_full_file(void *arg)
{
    SapEnv *db = file_bed_open(&bed);
    uint32_t rows = 0;

    (void)arg;
    SapTxnCtx *txn = fill_in_one_transaction(db, &rows);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    for (uint32_t i = 0; i < DRAIN_STEPS; i++) {
        EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT | SAP_TXN_DRAIN, &txn), SAP_OK);
        for (uint32_t k = 0; k < 4; k++) {
            EXPECT_RC(change_number(txn, (i * 4 + k) * 7 % rows, true), SAP_OK);
        }
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    put_until_full(txn, &rows);
    sap_txn_abort(txn);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    EXPECT_RC(change_number(txn, 1, false), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    model_expect_verified(db);
    file_bed_close(db);
}

START_TEST(what_drains_goes_on_when_the_data_file_cannot_grow)
{
    make_file();
    files_in_child(drain_a_full_file, NULL);
    expect_opens();
}
END_TEST
#endif

/* Rows in the file as long as it has room for them; how many. */
static unsigned fill_with_rows(SapEnv *db)
{
    uint8_t value[1500];
    char key[20];
    int rc = SAP_OK;
    unsigned rows = 0;

    memset(value, 'v', sizeof value);
    while (rc == SAP_OK) {
        snprintf(key, sizeof key, "row-%06u", rows);
        rc = file_bed_put(db, key, value, sizeof value);
        rows += rc == SAP_OK;
        EXPECT(rows < 2000, "the file grows beyond its maximum");
    }
    EXPECT_RC(rc, SAP_FULL);
    return rows;
}

/* A checkpoint has all pages of the full file when the rows are deleted. */
START_TEST(room_that_deletes_make_in_a_full_file_is_there_for_the_next_transaction)
{
    char key[20];

    bed.options.max_size = 2 << 20;
    SapEnv *db = file_bed_open(&bed);
    unsigned rows = fill_with_rows(db);
    EXPECT_RC(sap_db_sync(db), SAP_OK);
    for (unsigned i = 0; i < rows; i++) {
        SapTxnCtx *txn = NULL;
        EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
        uint32_t len = (uint32_t)snprintf(key, sizeof key, "row-%06u", i);
        EXPECT_RC(sap_txn_del(txn, key, len), SAP_OK);
        EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    }
    put(db, "room", "again", 5);
    ck_assert_uint_ge(fill_with_rows(db), 64);
    file_bed_close(db);
}
END_TEST

START_TEST(data_file_keeps_to_its_maximum_size)
{
    bed.options.max_size = 2 << 20;
    SapEnv *db = file_bed_open(&bed);
    unsigned rows = fill_with_rows(db);
    printf("%u rows in 2 MiB\n", rows);
    ck_assert_uint_gt(rows, 300);
    SapTxnCtx *txn = NULL;
    uint64_t deleted = 0;
    struct stat st;
    file_bed_close(db);
    ck_assert_int_eq(stat(bed.path, &st), 0);
    ck_assert_int_le(st.st_size, 2 << 20);
    bed.options.max_size = 1 << 20;
    expect_refused(SAP_FULL, "");
    bed.options.max_size = 2 << 20;
    db = file_bed_open(&bed);
    ck_assert_int_eq(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    ck_assert_int_eq(sap_txn_del_range(txn, 0, "row-000010", 10, NULL, 0, &deleted), SAP_OK);
    ck_assert_int_eq(sap_txn_commit(txn), SAP_OK);
    ck_assert_uint_eq(deleted, rows - 10);
    put(db, "room", "again", 5);
    file_bed_close(db);
    bed.options.max_size = 0;
    db = file_bed_open(&bed);
    expect_value(db, "room", "again");
    file_bed_close(db);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine_file_open");
    TCase *tcase = tcase_create("open");

    tcase_set_timeout(tcase, TIMEOUT_S);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, misuse_is_refused_and_makes_no_file);
    tcase_add_test(tcase, longest_comparator_name_is_taken);
    tcase_add_test(tcase, page_size_that_is_not_the_files_is_refused);
    tcase_add_test(tcase, missing_file_is_made_only_if_asked_for);
    tcase_add_test(tcase, link_to_a_file_that_is_not_there_is_refused);
    tcase_add_test(tcase, path_in_no_directory_is_refused);
    tcase_add_test(tcase, log_without_its_data_file_is_not_thrown_away);
    tcase_add_test(tcase, directory_as_path_is_refused);
    tcase_add_test(tcase, unwritable_directory_is_refused);
    tcase_add_test(tcase, unwritable_file_is_refused);
    tcase_add_test(tcase, file_of_another_kind_is_refused);
    tcase_add_test(tcase, header_that_does_not_fit_is_refused);
    tcase_add_test(tcase, header_has_the_bytes_of_the_format);
    tcase_add_test(tcase, one_intact_copy_of_the_newest_header_is_enough);
    tcase_add_test(tcase, file_without_its_newest_header_is_refused);
    tcase_add_test(tcase, unlogged_file_without_its_newest_header_is_refused);
    tcase_add_test(tcase, truncated_data_file_is_refused);
    tcase_add_test(tcase, truncated_log_is_refused);
    tcase_add_test(tcase, missing_segment_of_the_log_is_refused);
    tcase_add_test(tcase, file_moved_without_its_log_is_refused_with_what_to_move);
    tcase_add_test(tcase, log_of_another_database_is_refused);
    tcase_add_test(tcase, torn_end_of_the_log_is_cut_and_reported);
    tcase_add_test(tcase, damage_within_the_log_is_refused);
#if SAP_FILE_MAPPED
    tcase_add_test(tcase, damaged_page_is_noticed_when_it_is_read);
#else
    tcase_add_test(tcase, damaged_page_is_noticed_when_the_file_is_opened);
#endif
    tcase_add_test(tcase, file_whose_comparator_is_missing_is_refused);
    tcase_add_test(tcase, missing_comparators_of_the_first_table_and_of_values_are_noticed);
    tcase_add_test(tcase, file_is_open_once);
    tcase_add_test(tcase, file_that_another_process_has_open_is_refused_and_the_message_names_it);
    tcase_add_test(tcase, started_program_does_not_hold_the_lock);
    tcase_add_test(tcase, file_of_a_process_that_died_opens);
    tcase_add_test(tcase, readers_of_a_closed_file_share_it_and_change_nothing);
    tcase_add_test(tcase, read_only_open_of_a_file_with_a_log_shows_it_and_writes_nothing);
    tcase_add_test(tcase, full_disk_makes_no_file);
    tcase_add_test(tcase, full_disk_ends_the_transaction_and_nothing_else);
#if SAP_FILE_MAPPED
    tcase_add_test(tcase, rows_can_be_deleted_when_the_data_file_cannot_grow);
    tcase_add_test(tcase, what_drains_goes_on_when_the_data_file_cannot_grow);
#endif
    tcase_add_test(tcase, data_file_keeps_to_its_maximum_size);
    tcase_add_test(tcase, room_that_deletes_make_in_a_full_file_is_there_for_the_next_transaction);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
