#include "support/copies.h"

#include "support/expect.h"
#include "support/model.h"

#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_file(const void *bytes, uint32_t len, void *ctx)
{
    return fwrite(bytes, 1, len, ctx) == len ? SAP_OK : SAP_IO;
}

int copies_backup(SapEnv *db, const char *path)
{
    FILE *file = fopen(path, "wb");

    EXPECT(file != NULL, "cannot make %s", path);
    int rc = sap_db_backup(db, write_file, file);
    EXPECT(fclose(file) == 0, "cannot write %s", path);
    return rc;
}

SapEnv *copies_open(FileBed *bed, const char *path)
{
    SapEnv *db = NULL;
    int rc = sap_db_open_path(path, &bed->options, &db);

    EXPECT(rc == SAP_OK, "open of %s answered %d: %s", path, rc, bed->message);
    return db;
}

void copies_content(SapEnv *db, Stream *content_out)
{
    stream_init(content_out);
    EXPECT_RC(sap_db_checkpoint(db, stream_write, content_out), SAP_OK);
}

static void expect_content(SapEnv *db, const Stream *content)
{
    Stream got;

    copies_content(db, &got);
    EXPECT(got.len == content->len && memcmp(got.bytes, content->bytes, got.len) == 0,
           "another content: %zu bytes instead of %zu", got.len, content->len);
    stream_free(&got);
}

void copies_expect_same(SapEnv *a, SapEnv *b)
{
    Stream content;

    copies_content(a, &content);
    expect_content(b, &content);
    stream_free(&content);
}

static size_t log_files(const char *path)
{
    char pattern[FILES_PATH_MAX + 8];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s-wal.*", path);
    int rc = glob(pattern, 0, NULL, &found);
    size_t count = rc == 0 ? found.gl_pathc : 0;
    if (rc == 0) {
        globfree(&found);
    }
    return count;
}

void copies_expect(FileBed *bed, const char *path, const Stream *content)
{
    SapOpenOptions options = bed->options;
    SapEnv *db = NULL;
    SapTxnCtx *txn = NULL;
    const void *val = NULL;
    uint32_t len = 0;

    EXPECT(log_files(path) == 0, "%s came with a log", path);
    options.flags = SAP_OPEN_RDONLY;
    int rc = sap_db_open_path(path, &options, &db);
    EXPECT(rc == SAP_OK, "read-only open of %s answered %d: %s", path, rc, bed->message);
    expect_content(db, content);
    model_expect_verified(db);
    file_bed_close(db);
    EXPECT(log_files(path) == 0, "reading %s made a log", path);
    db = copies_open(bed, path);
    expect_content(db, content);
    model_expect_verified(db);
    EXPECT_RC(sap_dbi_open(db, SAP_MAX_DBI, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_put_dbi(txn, SAP_MAX_DBI, "new", 3, "row", 3), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    file_bed_close(db);
    db = copies_open(bed, path);
    model_expect_verified(db);
    EXPECT_RC(sap_txn_begin_rc(db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_txn_get_dbi(txn, SAP_MAX_DBI, "new", 3, &val, &len), SAP_OK);
    EXPECT_RC(sap_txn_del_dbi(txn, SAP_MAX_DBI, "new", 3), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
    expect_content(db, content);
    file_bed_close(db);
}

bool copies_exist(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

void copies_remove(const char *path)
{
    char pattern[FILES_PATH_MAX + 8];
    glob_t found;

    (void)unlink(path);
    snprintf(pattern, sizeof pattern, "%s-*", path);
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            (void)unlink(found.gl_pathv[i]);
        }
        globfree(&found);
    }
}
