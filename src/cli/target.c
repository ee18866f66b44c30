#include "cli/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/interrupt.h"
#include "common/bytes.h"
#include "common/fd.h"
#include "sapling/dbfile.h"
#include "sapling/file_format.h"
#include "sapling/wal.h"
#include "sapling/wal_format.h"

enum {
    PIECE = 64 << 10,
    METAS = 4,
    PID_LARGEST = 1 << 22, /* of any Linux */
    LEFT_OVER_S = 60,
    NAMES_MOST = 3, /* of a log's files in a message */
};

int target_failed(const Target *target, const char *doing, int error)
{
    const char *path = target->path != NULL ? target->path : "standard output";
    const char *hint = NULL;

    if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
        hint = "make room on the disk and try again";
    } else if (error == EACCES || error == EPERM || error == EROFS) {
        hint = "choose a place where you may write";
    } else if (error == ENOENT && target->path != NULL) {
        hint = "make its directory first";
    }
    return ui_fail(target->ui, EXIT_FAILED, hint, "cannot %s %s: %s", doing, path, strerror(error));
}

static int say_exists(const Target *target)
{
    return ui_fail(target->ui, EXIT_CONFLICT, "choose another name, or replace it with --force",
                   "%s exists", target->path);
}

/* The directory of the path, made absolute: a process that serves the file has another one. NULL:
 * errno tells. Caller frees. */
static char *directory_of(const char *path)
{
    char *copy = strdup(path);
    char *directory = copy == NULL ? NULL : realpath(dirname(copy), NULL);

    free(copy);
    return directory;
}

/* Whether the file is NAME.tmp-PID, or NAME.tmp-PID-... which the engine puts beside it, of a process
 * that does not live any more: there is none of that number, and nothing was written for a while, so
 * that it is not one of another container either. One of this process's own number is of an earlier
 * one. */
static bool is_left_over(int directory, const char *file, const char *name)
{
    struct stat st;
    size_t len = strlen(name);

    if (strncmp(file, name, len) != 0 || strncmp(file + len, ".tmp-", 5) != 0) {
        return false;
    }
    const char *digits = file + len + 5;
    size_t count = strspn(digits, "0123456789");
    if (count == 0 || count > 10 || (digits[count] != '\0' && digits[count] != '-')) {
        return false;
    }
    long pid = strtol(digits, NULL, 10);
    if (pid <= 0 || pid > PID_LARGEST) {
        return false;
    }
    if (pid == (long)getpid()) {
        return true;
    }
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
           fstatat(directory, file, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - st.st_mtime > LEFT_OVER_S;
}

static void remove_left_over(const char *directory, const char *name)
{
    DIR *list = fd_open_dir(directory);
    const struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        if (is_left_over(dirfd(list), entry->d_name, name)) {
            (void)unlinkat(dirfd(list), entry->d_name, 0);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
}

/* Whether that is what stands behind a database's name in that of a file of its log. */
static bool is_log_ending(const char *ending)
{
    size_t infix = sizeof WAL_SEGMENT_INFIX - 1;
    uint64_t number;

    return strncmp(ending, WAL_SEGMENT_INFIX, infix) == 0 &&
           wal_segment_parse(ending + infix, &number) == SAP_OK;
}

/* Whether it is a name that a database gives to a file of its log. */
static bool names_log(const char *path)
{
    const char *ending = strrchr(path, '-');

    return ending != NULL && is_log_ending(ending);
}

int target_start(Target *target, const Ui *ui, const char *path, const struct stat *source,
                 bool replace)
{
    struct stat st;

    *target = (Target){.ui = ui, .fd = -1, .replace = replace};
    if (path == NULL || strcmp(path, "-") == 0) {
        target->fd = STDOUT_FILENO;
        return EXIT_DONE;
    }
    target->path = path;
    if (stat(path, &st) == 0 && st.st_dev == source->st_dev && st.st_ino == source->st_ino) {
        return ui_fail(ui, EXIT_CONFLICT, "choose another name", "%s is the file that is read",
                       path);
    }
    if (names_log(path)) {
        return ui_fail(ui, EXIT_CONFLICT, "choose another name",
                       "%s is the name of a database's log", path);
    }
    if (lstat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) {
            return ui_fail(ui, EXIT_CONFLICT, "name a file in it", "%s is a directory", path);
        }
        if (!S_ISREG(st.st_mode)) {
            return ui_fail(ui, EXIT_CONFLICT, "name the file itself, or - for standard output",
                           "%s is not a regular file", path);
        }
        if (!replace) {
            return say_exists(target);
        }
    }
    char *directory = directory_of(path);
    if (directory == NULL) {
        return target_failed(target, "write", errno);
    }
    char *copy = strdup(path);
    int len = -1;
    if (copy != NULL) {
        const char *name = basename(copy);
        remove_left_over(directory, name);
        len = asprintf(&target->temp, "%s/%s.tmp-%ld", directory, name, (long)getpid());
    }
    free(copy);
    free(directory);
    if (len < 0) {
        target->temp = NULL;
        return ui_no_memory(ui);
    }
    interrupt_remove(target->temp);
    return EXIT_DONE;
}

int target_open(Target *target)
{
    if (target->path == NULL) {
        return EXIT_DONE;
    }
    target->fd = fd_open(target->temp, O_WRONLY | O_CREAT | O_EXCL, 0666);
    return target->fd < 0 ? target_failed(target, "write", errno) : EXIT_DONE;
}

int target_flush(Target *target)
{
    size_t done = 0;

    while (done < target->out.len && target->error == 0) {
        ssize_t put = write(target->fd, target->out.data + done, target->out.len - done);
        if (put >= 0) {
            done += (size_t)put;
        } else if (errno != EINTR) {
            target->error = errno;
        }
    }
    target->size += done;
    buf_clear(&target->out);
    return target->error == 0 ? SAP_OK : SAP_IO;
}

int target_write(Target *target, const void *bytes, size_t len)
{
    if (target->error == 0 && buf_append(&target->out, bytes, len) != SAP_OK) {
        target->error = ENOMEM;
    }
    return target->error == 0 && target->out.len < PIECE ? SAP_OK : target_flush(target);
}

void target_tell(const Target *target, const char *text, char *out, size_t size)
{
    const char *found = target->temp == NULL ? NULL : strstr(text, target->temp);

    if (found == NULL) {
        (void)snprintf(out, size, "%s", text);
    } else {
        (void)snprintf(out, size, "%.*s%s%s", (int)(found - text), text, target->path,
                       found + strlen(target->temp));
    }
}

static int sync_directory(const char *temp)
{
    char *directory = directory_of(temp);
    int fd = directory == NULL ? -1 : fd_open(directory, O_RDONLY | O_DIRECTORY, 0);
    int rc = fd < 0 ? -1 : fsync(fd);
    int error = errno;

    if (fd >= 0) {
        (void)close(fd);
    }
    free(directory);
    errno = error;
    return rc;
}

/* Renames; without `replace` only if no file of the name came meanwhile. */
static int give_name(const Target *target)
{
    if (target->replace) {
        return rename(target->temp, target->path);
    }
    int rc = renameat2(AT_FDCWD, target->temp, AT_FDCWD, target->path, RENAME_NOREPLACE);
    if (rc != 0 && (errno == EINVAL || errno == ENOSYS)) {
        rc = link(target->temp, target->path);
        if (rc == 0) {
            (void)unlink(target->temp);
        }
    }
    return rc;
}

static void release(Target *target)
{
    if (target->path != NULL && target->fd >= 0) {
        (void)close(target->fd);
    }
    target->fd = -1;
    interrupt_remove(NULL);
    buf_release(&target->out);
    free(target->temp);
    target->temp = NULL;
}

bool target_abandon(Target *target)
{
    bool told = target->error != 0;

    if (told && target->error != EPIPE) {
        (void)target_failed(target, "write", target->error);
    }
    if (target->temp != NULL) {
        target_remove_db(target->temp);
    }
    release(target);
    return told;
}

int target_commit(Target *target)
{
    if (target->error == 0) {
        (void)target_flush(target);
    }
    if (target->path == NULL) {
        int error = target->error;
        release(target);
        return error == 0       ? EXIT_DONE
               : error == EPIPE ? EXIT_READER_GONE
                                : target_failed(target, "write", error);
    }
    if (target->error == 0 && target->fd < 0) {
        struct stat st;
        target->fd = fd_open(target->temp, O_RDONLY, 0);
        if (target->fd < 0 || fstat(target->fd, &st) != 0) {
            target->error = errno;
        } else {
            target->size = (uint64_t)st.st_size;
        }
    }
    if (target->error == 0 && fsync(target->fd) != 0) {
        target->error = errno;
    }
    if (target->error != 0) {
        (void)target_abandon(target);
        return EXIT_FAILED;
    }
    if (target->replace) {
        fd_match(target->fd, target->path); /* who could use the file that is replaced still can */
    }
    if (give_name(target) != 0) {
        int error = errno;
        int code = error == EEXIST ? say_exists(target) : target_failed(target, "write", error);
        (void)target_abandon(target);
        return code;
    }
    /* What the engine left of the temporary name, if it was a database. */
    target_remove_db(target->temp);
    int code = sync_directory(target->temp) == 0 ? EXIT_DONE : target_failed(target, "sync", errno);
    release(target);
    return code;
}

/* ---- Databases --------------------------------------------------------------------------------- */

typedef enum Part { PART_LOG, PART_OTHER, PART_NONE } Part;

/* What a file of the directory is to the database `name`. */
static Part part_of(const char *file, const char *name)
{
    size_t len = strlen(name);

    if (strncmp(file, name, len) != 0) {
        return PART_NONE;
    }
    const char *rest = file + len;
    if (is_log_ending(rest)) {
        return PART_LOG;
    }
    return rest[0] == '\0' || rest[0] == '-' ? PART_OTHER : PART_NONE;
}

/* How many segments of a log there are; removes them, and with `others` the rest too. */
static uint32_t each_part(const char *path, bool remove, bool others)
{
    char *directory = directory_of(path);
    char *copy = strdup(path);
    DIR *list = directory == NULL || copy == NULL ? NULL : fd_open_dir(directory);
    const char *name = copy == NULL ? "" : basename(copy);
    const struct dirent *entry;
    uint32_t logs = 0;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        Part part = part_of(entry->d_name, name);
        logs += part == PART_LOG ? 1 : 0;
        if (remove && (part == PART_LOG || (others && part == PART_OTHER))) {
            (void)unlinkat(dirfd(list), entry->d_name, 0);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
    }
    free(copy);
    free(directory);
    return logs;
}

bool target_is_image(const uint8_t *start, size_t len)
{
    for (size_t i = 0; i < METAS; i++) {
        size_t at = i * FILE_BLOCK;
        if (at + sizeof(uint64_t) <= len && load_u64le(start + at) == FILE_MAGIC) {
            return true;
        }
    }
    return false;
}

bool target_is_db(const char *path)
{
    uint8_t start[FILE_HEADER];
    FILE *file = fd_open_stream(path);
    size_t len = file == NULL ? 0 : fread(start, 1, sizeof start, file);

    if (file != NULL) {
        (void)fclose(file);
    }
    return target_is_image(start, len);
}

bool target_has_log(const char *path)
{
    return each_part(path, false, false) > 0;
}

/* The id in an intact copy of the header. False: there is none. */
static bool read_id(const char *path, uint64_t *id_out)
{
    uint8_t start[FILE_HEADER];
    FILE *file = fd_open_stream(path);
    size_t len = file == NULL ? 0 : fread(start, 1, sizeof start, file);
    bool found = false;

    for (size_t at = 0; at + META_SIZE <= len && !found; at += FILE_BLOCK) {
        Meta meta;
        uint32_t version;
        found = meta_decode(start + at, &meta, &version) == META_VALID;
        *id_out = found ? meta.db_id : 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

bool target_has_foreign_log(const char *path)
{
    uint64_t own = 0;
    uint64_t logged = 0;
    Buf name = {0};
    bool foreign =
        read_id(path, &own) && dbfile_find_log(path, &name, &logged) == SAP_EXISTS && logged != own;

    buf_release(&name);
    return foreign;
}

const char *target_log_names(const char *path, char *text, size_t size)
{
    Buf numbers = {0};
    Buf name = {0};
    size_t len = 0;
    size_t count = wal_segments(path, &numbers) == SAP_OK ? numbers.len / sizeof(uint64_t) : 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && i < NAMES_MOST && len < size; i++) {
        if (wal_segment_name(&name, path, ((const uint64_t *)numbers.data)[i]) == SAP_OK) {
            len += (size_t)snprintf(text + len, size - len, "%s%s", i > 0 ? ", " : "",
                                    (const char *)name.data);
        }
    }
    if (count > NAMES_MOST && len < size) {
        (void)snprintf(text + len, size - len, " and %zu more", count - NAMES_MOST);
    }
    buf_release(&name);
    buf_release(&numbers);
    return text;
}

int target_remove_log(const Target *target)
{
    if (each_part(target->path, true, false) == 0) {
        return EXIT_DONE;
    }
    return sync_directory(target->path) == 0 ? EXIT_DONE : target_failed(target, "sync", errno);
}

void target_remove_db(const char *path)
{
    (void)each_part(path, true, true);
}
