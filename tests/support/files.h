/* files.h - databases in files for tests: a directory of their own, what was said about them, and
 * what lies on disk. */
#ifndef SAPLING_TESTS_FILES_H
#define SAPLING_TESTS_FILES_H

#include "sapling/sapling.h"
#include "support/orders.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { FILES_DIR_MAX = 100, FILES_PATH_MAX = 160, FILES_MESSAGE_MAX = 2048 };

/* The page sizes that files can have. */
extern const uint32_t files_page_sizes[];
extern const uint32_t files_page_size_count;

typedef struct FileBed {
    char dir[FILES_DIR_MAX];
    char path[FILES_PATH_MAX];
    SapOpenOptions options;          /* for file_bed_open(); the test changes what it likes */
    size_t live_before;              /* bytes in use at the start */
    pthread_mutex_t lock;            /* what follows */
    char message[FILES_MESSAGE_MAX]; /* the last */
    uint32_t messages;
} FileBed;

/* A directory in memory where there is such a place. The options are SAP_OPEN_CREATE, all orders as
 * comparators, and messages noted in the bed. Release with file_bed_end(), which removes all. */
void file_bed_start(FileBed *bed);
void file_bed_end(FileBed *bed);
/* As the first, with small log segments, for tests that open their file often. */
void file_bed_start_small(FileBed *bed);
/* As file_bed_end(), and expects that the memory in use is what it was at the start. */
void file_bed_end_clean(FileBed *bed);

/* Opens by the bed's options; the second must succeed. */
int file_bed_try(FileBed *bed, SapEnv **db_out);
SapEnv *file_bed_open(FileBed *bed);
void file_bed_close(SapEnv *db);
/* Puts a row in a transaction of its own; returns the first code that is not SAP_OK. */
int file_bed_put(SapEnv *db, const char *key, const void *val, uint32_t val_len);

/* How many messages there were since the last call, or the start. */
uint32_t file_bed_messages(FileBed *bed);
/* At least one message since the last call, and the last of them has `part` in it. */
void file_bed_expect_message(FileBed *bed, const char *part);

/* All orders but that of bytes as comparators, ORDER_COUNT - 1 of them; and the name of an order
 * among them, NULL for bytes. */
const SapComparator *files_comparators(void);
const char *files_order_name(OrderKind kind);

/* All files of a directory, names and bytes; locks are left out, they hold nothing. Release with
 * image_free(). */
typedef struct Image Image;
Image *image_take(const char *dir);
void image_free(Image *image);
/* Aborts at the first difference: a name more or less, another size, another byte. */
void image_expect_same(const Image *image, const char *dir);
/* The same but for segments of logs, which an open database makes ahead of their use and removes in a
 * thread of its own. */
void image_expect_same_beside_log(const Image *image, const char *dir);
/* Makes the directory what it was. Parts that are zero become holes. */
void image_restore(const Image *image, const char *dir);

/* Bytes of all files whose name in `dir` begins with `prefix`. */
uint64_t files_size(const char *dir, const char *prefix);

/* Runs `fn` in a process of its own, which ends with _exit(0) behind it: nothing is closed. Returns
 * the status of waitpid(). */
int files_run_child(void (*fn)(void *arg), void *arg);
/* The same; the child must not fail. */
void files_in_child(void (*fn)(void *arg), void *arg);

/* Starts a process of its own that runs `fn` and then waits until it is killed: what `fn` opened stays
 * open. Returns when `fn` has ended. End it with files_kill(). */
pid_t files_start_child(void (*fn)(void *arg), void *arg);
void files_kill(pid_t pid);

/* The whole file; caller frees. Aborts if there is none. */
uint8_t *files_read(const char *path, size_t *size_out);
void files_write_at(const char *path, uint64_t offset, const void *bytes, size_t len);
void files_copy(const char *from, const char *to);

#endif
