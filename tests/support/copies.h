/* copies.h - copies of databases for tests: made, opened, and compared with their source. */
#ifndef SAPLING_TESTS_COPIES_H
#define SAPLING_TESTS_COPIES_H

#include "support/files.h"
#include "support/stream.h"

/* Backs the DB up into a new file, or over an old one; whatever is not SAP_OK leaves a part. */
int copies_backup(SapEnv *db, const char *path);

/* Opens the copy by the bed's options; must succeed. */
SapEnv *copies_open(FileBed *bed, const char *path);

/* What a DB holds, as a stream; release with stream_free(). */
void copies_content(SapEnv *db, Stream *content_out);
/* Aborts at a difference. */
void copies_expect_same(SapEnv *a, SapEnv *b);

/* The file opens, read-only and then for writing, needs no log for it, verifies, and has that
 * content; it takes a commit and has it when it is opened once more. */
void copies_expect(FileBed *bed, const char *path, const Stream *content);

/* Whether there is such a file. */
bool copies_exist(const char *path);
/* Removes the file, its log and its lock, as far as they are there. */
void copies_remove(const char *path);

#endif
