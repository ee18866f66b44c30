#include "support/files.h"

#include "common/mem.h"
#include "support/crash.h"
#include "support/expect.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { IMAGE_FILES = 256, NAME_SIZE = 256, BLOCK = 4096 };

const uint32_t files_page_sizes[] = {4096, 8192, 16384, 32768};
const uint32_t files_page_size_count = sizeof files_page_sizes / sizeof files_page_sizes[0];

/* ---- Beds ----------------------------------------------------------------------------------- */

static const char *const order_names[ORDER_COUNT] = {NULL, "reverse", "folded", "length"};

const char *files_order_name(OrderKind kind)
{
    return order_names[kind];
}

static void note_message(const char *text, void *ctx)
{
    FileBed *bed = ctx;

    pthread_mutex_lock(&bed->lock);
    snprintf(bed->message, sizeof bed->message, "%s", text);
    bed->messages++;
    pthread_mutex_unlock(&bed->lock);
}

const SapComparator *files_comparators(void)
{
    static SapComparator all[ORDER_COUNT - 1];

    for (size_t i = 1; i < ORDER_COUNT; i++) {
        OrderKind kind = (OrderKind)i;
        all[i - 1] = (SapComparator){order_names[i], order_cmp(kind), order_ctx(kind)};
    }
    return all;
}

void file_bed_start(FileBed *bed)
{
    memset(bed, 0, sizeof *bed);
    bed->live_before = mem_live_total();
    crash_dir_make(bed->dir, sizeof bed->dir, true);
    snprintf(bed->path, sizeof bed->path, "%s/db", bed->dir);
    EXPECT(pthread_mutex_init(&bed->lock, NULL) == 0, "no mutex");
    bed->options.flags = SAP_OPEN_CREATE;
    bed->options.comparators = files_comparators();
    bed->options.comparator_count = ORDER_COUNT - 1;
    bed->options.on_message = note_message;
    bed->options.callback_ctx = bed;
}

void file_bed_end(FileBed *bed)
{
    crash_dir_remove(bed->dir);
    pthread_mutex_destroy(&bed->lock);
}

void file_bed_start_small(FileBed *bed)
{
    file_bed_start(bed);
    bed->options.checkpoint_bytes = 4 << 20; /* segments follow it */
}

void file_bed_end_clean(FileBed *bed)
{
    size_t live_before = bed->live_before;

    file_bed_end(bed);
    EXPECT(mem_live_total() == live_before, "%zu bytes in use instead of %zu", mem_live_total(),
           live_before);
}

int file_bed_try(FileBed *bed, SapEnv **db_out)
{
    return sap_db_open_path(bed->path, &bed->options, db_out);
}

SapEnv *file_bed_open(FileBed *bed)
{
    SapEnv *db = NULL;
    int rc = file_bed_try(bed, &db);

    EXPECT(rc == SAP_OK && db != NULL, "open of %s answered %d: %s", bed->path, rc, bed->message);
    return db;
}

void file_bed_close(SapEnv *db)
{
    EXPECT_RC(sap_db_close(db), SAP_OK);
}

int file_bed_put(SapEnv *db, const char *key, const void *val, uint32_t val_len)
{
    SapTxnCtx *txn = NULL;
    int rc = sap_txn_begin_rc(db, NULL, 0, &txn);

    if (rc == SAP_OK) {
        rc = sap_txn_put(txn, key, (uint32_t)strlen(key), val, val_len);
        if (rc == SAP_OK) {
            rc = sap_txn_commit(txn);
        } else {
            sap_txn_abort(txn);
        }
    }
    return rc;
}

uint32_t file_bed_messages(FileBed *bed)
{
    pthread_mutex_lock(&bed->lock);
    uint32_t messages = bed->messages;
    bed->messages = 0;
    pthread_mutex_unlock(&bed->lock);
    return messages;
}

void file_bed_expect_message(FileBed *bed, const char *part)
{
    EXPECT(file_bed_messages(bed) != 0, "there was no message");
    EXPECT(strstr(bed->message, part) != NULL, "the message does not say \"%s\": %s", part,
           bed->message);
}

/* ---- Files ---------------------------------------------------------------------------------- */

uint8_t *files_read(const char *path, size_t *size_out)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    EXPECT(fd >= 0 && fstat(fd, &st) == 0, "cannot read %s", path);
    uint8_t *bytes = malloc((size_t)st.st_size + 1);
    EXPECT(bytes != NULL, "no memory");
    size_t got = 0;
    while (got < (size_t)st.st_size) {
        ssize_t part = pread(fd, bytes + got, (size_t)st.st_size - got, (off_t)got);
        EXPECT(part > 0, "cannot read %s", path);
        got += (size_t)part;
    }
    close(fd);
    *size_out = got;
    return bytes;
}

void files_write_at(const char *path, uint64_t offset, const void *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    EXPECT(fd >= 0 && pwrite(fd, bytes, len, (off_t)offset) == (ssize_t)len, "cannot write %s",
           path);
    close(fd);
}

static bool is_zero(const uint8_t *bytes, size_t len)
{
    return len == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, len - 1) == 0);
}

static void write_sparse(const char *path, const uint8_t *bytes, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    EXPECT(fd >= 0 && ftruncate(fd, (off_t)size) == 0, "cannot write %s", path);
    for (size_t at = 0; at < size; at += BLOCK) {
        size_t len = size - at < BLOCK ? size - at : BLOCK;
        EXPECT(is_zero(bytes + at, len) || pwrite(fd, bytes + at, len, (off_t)at) == (ssize_t)len,
               "cannot write %s", path);
    }
    close(fd);
}

void files_copy(const char *from, const char *to)
{
    size_t size = 0;
    uint8_t *bytes = files_read(from, &size);

    write_sparse(to, bytes, size);
    free(bytes);
}

/* ---- Images --------------------------------------------------------------------------------- */

typedef struct ImageFile {
    char name[NAME_SIZE];
    uint8_t *bytes;
    size_t size;
} ImageFile;

struct Image {
    ImageFile files[IMAGE_FILES];
    size_t count;
};

static bool is_lock(const char *name)
{
    size_t len = strlen(name);

    return len >= 5 && strcmp(name + len - 5, "-lock") == 0;
}

static void path_in(char out[FILES_PATH_MAX + NAME_SIZE], const char *dir, const char *name)
{
    snprintf(out, FILES_PATH_MAX + NAME_SIZE, "%s/%s", dir, name);
}

/* Calls `each` for every regular file. */
static void for_each_file(const char *dir, void (*each)(void *ctx, const char *name), void *ctx)
{
    DIR *stream = opendir(dir);

    EXPECT(stream != NULL, "cannot list %s", dir);
    for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
        struct stat st;
        if (fstatat(dirfd(stream), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode)) {
            each(ctx, entry->d_name);
        }
    }
    closedir(stream);
}

typedef struct Taking {
    Image *image;
    const char *dir;
} Taking;

static void take_file(void *ctx, const char *name)
{
    Taking *taking = ctx;
    Image *image = taking->image;
    char path[FILES_PATH_MAX + NAME_SIZE];

    if (is_lock(name)) {
        return;
    }
    EXPECT(image->count < IMAGE_FILES, "too many files");
    ImageFile *file = &image->files[image->count++];
    snprintf(file->name, sizeof file->name, "%s", name);
    path_in(path, taking->dir, name);
    file->bytes = files_read(path, &file->size);
}

Image *image_take(const char *dir)
{
    Image *image = calloc(1, sizeof *image);

    EXPECT(image != NULL, "no memory");
    for_each_file(dir, take_file, &(Taking){image, dir});
    return image;
}

void image_free(Image *image)
{
    for (size_t i = 0; i < image->count; i++) {
        free(image->files[i].bytes);
    }
    free(image);
}

static const ImageFile *image_find(const Image *image, const char *name)
{
    for (size_t i = 0; i < image->count; i++) {
        if (strcmp(image->files[i].name, name) == 0) {
            return &image->files[i];
        }
    }
    return NULL;
}

static bool is_log(const ImageFile *file)
{
    return strstr(file->name, "-wal.") != NULL;
}

static void expect_same(const Image *image, const char *dir, bool log_too)
{
    Image *now = image_take(dir);

    for (size_t i = 0; i < now->count; i++) {
        EXPECT((!log_too && is_log(&now->files[i])) ||
                   image_find(image, now->files[i].name) != NULL,
               "%s was not there before", now->files[i].name);
    }
    for (size_t i = 0; i < image->count; i++) {
        const ImageFile *before = &image->files[i];
        const ImageFile *after = image_find(now, before->name);
        if (!log_too && is_log(before)) {
            continue;
        }
        EXPECT(after != NULL, "%s is gone", before->name);
        EXPECT(after->size == before->size, "%s has %zu bytes instead of %zu", before->name,
               after->size, before->size);
        EXPECT(memcmp(after->bytes, before->bytes, after->size) == 0, "%s has changed",
               before->name);
    }
    image_free(now);
}

void image_expect_same(const Image *image, const char *dir)
{
    expect_same(image, dir, true);
}

void image_expect_same_beside_log(const Image *image, const char *dir)
{
    expect_same(image, dir, false);
}

void image_restore(const Image *image, const char *dir)
{
    char path[FILES_PATH_MAX + NAME_SIZE];

    crash_dir_empty(dir);
    for (size_t i = 0; i < image->count; i++) {
        path_in(path, dir, image->files[i].name);
        write_sparse(path, image->files[i].bytes, image->files[i].size);
    }
}

typedef struct Sizing {
    const char *dir;
    const char *prefix;
    uint64_t total;
} Sizing;

static void add_size(void *ctx, const char *name)
{
    Sizing *sizing = ctx;
    char path[FILES_PATH_MAX + NAME_SIZE];
    struct stat st;

    path_in(path, sizing->dir, name);
    if (strncmp(name, sizing->prefix, strlen(sizing->prefix)) == 0 && stat(path, &st) == 0) {
        sizing->total += (uint64_t)st.st_size;
    }
}

uint64_t files_size(const char *dir, const char *prefix)
{
    Sizing sizing = {dir, prefix, 0};

    for_each_file(dir, add_size, &sizing);
    return sizing.total;
}

/* ---- Processes ------------------------------------------------------------------------------ */

int files_run_child(void (*fn)(void *arg), void *arg)
{
    int status = 0;

    fflush(NULL);
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        fn(arg);
        fflush(NULL);
        _exit(0);
    }
    EXPECT(waitpid(pid, &status, 0) == pid, "the process is gone");
    return status;
}

void files_in_child(void (*fn)(void *arg), void *arg)
{
    int status = files_run_child(fn, arg);

    EXPECT(status == 0, "the child failed with status %d", status);
}

pid_t files_start_child(void (*fn)(void *arg), void *arg)
{
    int ready[2];
    char byte;

    EXPECT(pipe(ready) == 0, "no pipe");
    pid_t pid = fork();
    EXPECT(pid >= 0, "no process");
    if (pid == 0) {
        fn(arg);
        EXPECT(write(ready[1], "r", 1) == 1, "no pipe");
        for (;;) {
            pause();
        }
    }
    EXPECT(read(ready[0], &byte, 1) == 1, "the child has ended");
    (void)close(ready[0]);
    (void)close(ready[1]);
    return pid;
}

void files_kill(pid_t pid)
{
    EXPECT(kill(pid, SIGKILL) == 0, "process %d cannot be killed", (int)pid);
    EXPECT(waitpid(pid, NULL, 0) == pid, "process %d cannot be waited for", (int)pid);
}
