/* data_dir.c - see data_dir.h. */
#include "node/data_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/assert.h"
#include "common/fd.h"
#include "common/random.h"
#include "sapling/error.h"
#include "sapling/version.h"

#define FORMAT_WORDS "sapling data "

enum {
    SMALL_FILE = 4096,
    NAME_RANDOM = 3,
    HOST_PART = 64,
    ENDING_LOOKS = 150, /* at the lock of a process that has been killed: 3 s in all */
    ENDING_LOOK_NS = 20000000,
};

struct DataDir {
    char path[DATA_PATH_MAX];
    int lock; /* descriptor; -1: not locked */
    DataLeft left;
    char worker[DATA_NAME_MAX + 1];
};

/* ---- Small files ----------------------------------------------------------------------------- */

static int code_of_errno(int err)
{
    return err == ENOSPC || err == EDQUOT                  ? SAP_FULL
           : err == EACCES || err == EROFS || err == EPERM ? SAP_READONLY
           : err == ENOMEM                                 ? SAP_NOMEM
                                                           : SAP_IO;
}

static int fail_errno(NodeError *error, const char *what, const char *path)
{
    int err = errno;
    const char *hint = err == ENOSPC || err == EDQUOT
                           ? "make room on this disk, or use another: --data DIR"
                       : err == EACCES || err == EROFS || err == EPERM
                           ? "use a directory that this user may write: --data DIR"
                       : err == ENOENT ? "make the directory that it is to lie in first"
                                       : "";
    return node_error_set(error, code_of_errno(err), hint, "%s %s: %s", what, path, strerror(err));
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t written = write(fd, text, len);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        text += written;
        len -= (size_t)written;
    }
    return true;
}

int data_file_write(const char *path, const char *text, size_t len)
{
    char made[DATA_PATH_MAX + 8];
    (void)snprintf(made, sizeof made, "%s.new", path);
    int fd = fd_open(made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0600);
    if (fd < 0) {
        return -1;
    }
    bool ok = fchmod(fd, 0600) == 0 && write_all(fd, text, len) && fsync(fd) == 0;
    int err = errno;
    ok = close(fd) == 0 && ok;
    if (ok && rename(made, path) == 0) {
        return 0;
    }
    err = ok ? errno : err;
    (void)unlink(made);
    errno = err;
    return -1;
}

void data_dir_file(const DataDir *dir, const char *name, char path[DATA_PATH_MAX])
{
    int len = snprintf(path, DATA_PATH_MAX, "%s/%s", dir->path, name);
    SAP_ASSERT(len > 0 && len < DATA_PATH_MAX); /* find_directory() has refused longer ones */
}

static int write_in(const DataDir *dir, const char *name, const char *text, NodeError *error)
{
    char path[DATA_PATH_MAX];
    data_dir_file(dir, name, path);
    return data_file_write(path, text, strlen(text)) == 0 ? SAP_OK
                                                          : fail_errno(error, "cannot write", path);
}

/* A file of the directory as a text without its line end. SAP_NOTFOUND: there is none. */
static int read_in(const DataDir *dir, const char *name, char text[SMALL_FILE], NodeError *error)
{
    char path[DATA_PATH_MAX];
    data_dir_file(dir, name, path);
    int fd = fd_open(path, O_RDONLY, 0);
    if (fd < 0) {
        return errno == ENOENT ? SAP_NOTFOUND : fail_errno(error, "cannot read", path);
    }
    ssize_t len = read(fd, text, SMALL_FILE - 1);
    int err = errno;
    (void)close(fd);
    if (len < 0) {
        errno = err;
        return fail_errno(error, "cannot read", path);
    }
    text[len] = '\0';
    while (len > 0 && text[len - 1] == '\n') {
        text[--len] = '\0';
    }
    return SAP_OK;
}

/* Spells the bytes at the beginning of a text as digits. */
static void spell_hex(char *text, size_t bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = bytes; i-- > 0;) {
        uint8_t byte = (uint8_t)text[i];
        text[2 * i] = digits[byte >> 4];
        text[2 * i + 1] = digits[byte & 15];
    }
    text[2 * bytes] = '\0';
}

/* ---- The directory --------------------------------------------------------------------------- */

static int refuse_path(NodeError *error, int rc, const char *path, const char *what)
{
    return node_error_set(error, rc, "name another directory: --data DIR", "%s %s", path, what);
}

/* Makes it if it is missing. */
static int find_directory(DataDir *dir, const char *path, NodeError *error)
{
    char real[DATA_PATH_MAX + 1]; /* PATH_MAX, as realpath() wants it */
    struct stat info;
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        return fail_errno(error, "cannot make", path);
    }
    if (realpath(path, real) == NULL || stat(real, &info) != 0) {
        return fail_errno(error, "cannot use", path);
    }
    if (!S_ISDIR(info.st_mode)) {
        return refuse_path(error, SAP_CORRUPT, path, "is not a directory");
    }
    if (strlen(real) > sizeof dir->path - DATA_NAME_MAX) {
        return refuse_path(error, SAP_INVALID, path, "is too long a path");
    }
    memcpy(dir->path, real, strlen(real) + 1);
    return SAP_OK;
}

/* What lies here is for the node alone; a directory of another user stays as it is. */
static int close_to_others(const DataDir *dir, NodeError *error)
{
    struct stat info;
    if (stat(dir->path, &info) != 0) {
        return fail_errno(error, "cannot use", dir->path);
    }
    bool opens = (info.st_mode & 077) != 0 && info.st_uid == geteuid();
    return opens && chmod(dir->path, 0700) != 0
               ? fail_errno(error, "cannot set the mode 0700 of", dir->path)
               : SAP_OK;
}

/* Names that a data directory may have before its format is written: a start that was interrupted. */
static bool is_early_name(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "lock") == 0 ||
           strcmp(name, "lost+found") == 0 || strcmp(name, "format.new") == 0 ||
           strcmp(name, "node.log") == 0;
}

static int check_empty(const DataDir *dir, NodeError *error)
{
    const struct dirent *entry = NULL;
    DIR *list = fd_open_dir(dir->path);
    if (list == NULL) {
        return fail_errno(error, "cannot read", dir->path);
    }
    do {
        entry = readdir(list);
    } while (entry != NULL && is_early_name(entry->d_name));
    int rc = entry == NULL ? SAP_OK
                           : node_error_set(error, SAP_CORRUPT,
                                            "name an empty directory, or a new one: --data DIR",
                                            "%s is not a data directory, and has files in it (%s)",
                                            dir->path, entry->d_name);
    (void)closedir(list);
    return rc;
}

/* Before anything in it is touched: it is a data directory, or may become one. */
static int check_ours(const DataDir *dir, NodeError *error)
{
    char path[DATA_PATH_MAX];
    struct stat info;
    data_dir_file(dir, "format", path);
    return stat(path, &info) == 0 ? SAP_OK : check_empty(dir, error);
}

static int check_format(DataDir *dir, NodeError *error)
{
    char text[SMALL_FILE];
    char *end = NULL;
    int rc = read_in(dir, "format", text, error);
    if (rc == SAP_NOTFOUND) {
        dir->left.made = true;
        (void)snprintf(text, sizeof text, FORMAT_WORDS "%d\n", DATA_FORMAT);
        return write_in(dir, "format", text, error);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    unsigned long format = strncmp(text, FORMAT_WORDS, strlen(FORMAT_WORDS)) == 0
                               ? strtoul(text + strlen(FORMAT_WORDS), &end, 10)
                               : 0;
    if (format == 0 || *end != '\0') {
        return refuse_path(error, SAP_CORRUPT, dir->path,
                           "is not a data directory: its file `format` is not of Sapling");
    }
    return format <= DATA_FORMAT
               ? SAP_OK
               : node_error_set(error, SAP_CONFLICT,
                                "use the sapling that wrote it, or a newer one",
                                "%s has format %lu, and sapling %s knows none above %d", dir->path,
                                format, SAPLING_VERSION, DATA_FORMAT);
}

/* ---- The lock -------------------------------------------------------------------------------- */

/* Who has the lock: by the system, or by what the file says; 0: nobody can say. */
static long long read_holder(int fd)
{
    struct flock found = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[32] = "";
    if (fcntl(fd, F_GETLK, &found) == 0 && found.l_type != F_UNLCK && found.l_pid > 0) {
        return found.l_pid;
    }
    return pread(fd, text, sizeof text - 1, 0) > 0 ? strtoll(text, NULL, 10) : 0;
}

/* Whether the process has been killed: what it had open is closed in a moment. */
static bool is_ending(long long pid)
{
    char path[64];
    char text[512] = "";
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", pid);
    FILE *file = fd_open_stream(path);
    size_t len = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    const char *state = strrchr(text, ')');
    if (file != NULL) {
        (void)fclose(file);
    }
    return len == 0 || state == NULL || state[1] == '\0' || strchr("ZX", state[2]) != NULL;
}

static int take_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    const struct timespec pause = {.tv_nsec = ENDING_LOOK_NS};
    int rc = fcntl(fd, F_SETLK, &lock);
    for (int i = 0; i < ENDING_LOOKS && rc != 0 && (errno == EACCES || errno == EAGAIN); i++) {
        if (!is_ending(read_holder(fd))) {
            errno = EAGAIN;
            return -1;
        }
        (void)nanosleep(&pause, NULL);
        rc = fcntl(fd, F_SETLK, &lock);
    }
    return rc;
}

static int fail_locked(int fd, const char *path, NodeError *error)
{
    long long pid = read_holder(fd);
    char hint[128] = "stop it first, or use another directory: --data DIR";
    if (pid > 0) {
        (void)snprintf(hint, sizeof hint,
                       "stop it first (kill %lld), or use another directory: --data DIR", pid);
        return node_error_set(error, SAP_BUSY, hint, "%s is in use by a node (pid %lld)", path,
                              pid);
    }
    return node_error_set(error, SAP_BUSY, hint, "%s is in use by a node", path);
}

/* The kernel's lock counts: it goes with the process, however that ends. */
static int lock_directory(DataDir *dir, NodeError *error)
{
    char path[DATA_PATH_MAX];
    char text[32];
    data_dir_file(dir, "lock", path);
    int fd = fd_open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0) {
        return fail_errno(error, "cannot open", path);
    }
    if (take_lock(fd) != 0) {
        int rc = errno == EACCES || errno == EAGAIN ? fail_locked(fd, dir->path, error)
                                                    : fail_errno(error, "cannot lock", path);
        (void)close(fd);
        return rc;
    }
    int len = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    if (ftruncate(fd, 0) != 0 || pwrite(fd, text, (size_t)len, 0) != len) {
        int rc = fail_errno(error, "cannot write", path);
        (void)close(fd);
        return rc;
    }
    dir->lock = fd;
    return SAP_OK;
}

/* ---- What is made at the first start --------------------------------------------------------- */

/* Two nodes of a store must not have the same name: the host's and some random digits. */
static int name_worker(DataDir *dir, NodeError *error)
{
    char text[SMALL_FILE];
    char digits[2 * NAME_RANDOM + 1];
    char host[HOST_PART + 1] = "node";
    int rc = read_in(dir, "worker", text, error);
    if (rc == SAP_OK && text[0] != '\0' && strlen(text) <= DATA_NAME_MAX) {
        memcpy(dir->worker, text, strlen(text) + 1);
        return SAP_OK;
    }
    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    if (random_fill(NULL, digits, NAME_RANDOM) != SAP_OK) {
        return node_error_set(error, SAP_IO, "", "the system gives no random bytes");
    }
    spell_hex(digits, NAME_RANDOM);
    if (gethostname(host, HOST_PART) != 0 || host[0] == '\0') {
        (void)snprintf(host, sizeof host, "node");
    }
    (void)snprintf(dir->worker, sizeof dir->worker, "%s-%s", host, digits);
    (void)snprintf(text, sizeof text, "%s\n", dir->worker);
    return write_in(dir, "worker", text, error);
}

/* What is left of the node before. A file that cannot be read as JSON was left by a kill too. */
static int read_left(DataDir *dir, NodeError *error)
{
    char text[SMALL_FILE];
    int rc = read_in(dir, "node.json", text, error);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    dir->left.unclean = true;
    json_t *object = json_loads(text, 0, NULL);
    dir->left.pid = json_integer_value(json_object_get(object, "pid"));
    json_int_t started_ms = json_integer_value(json_object_get(object, "started_ms"));
    dir->left.started_ms = started_ms > 0 ? (uint64_t)started_ms : 0;
    json_decref(object);
    return SAP_OK;
}

int data_dir_open(const char *path, DataDir **dir_out, NodeError *error)
{
    DataDir *dir = (DataDir *)calloc(1, sizeof *dir);
    if (dir == NULL) {
        return node_error_set(error, SAP_NOMEM, "", "out of memory");
    }
    dir->lock = -1;
    int rc = find_directory(dir, path, error);
    rc = rc == SAP_OK ? check_ours(dir, error) : rc;
    rc = rc == SAP_OK ? close_to_others(dir, error) : rc;
    rc = rc == SAP_OK ? lock_directory(dir, error) : rc;
    rc = rc == SAP_OK ? check_format(dir, error) : rc;
    rc = rc == SAP_OK ? read_left(dir, error) : rc;
    rc = rc == SAP_OK ? name_worker(dir, error) : rc;
    if (rc != SAP_OK) {
        data_dir_close(dir, false);
        return rc;
    }
    *dir_out = dir;
    return SAP_OK;
}

void data_dir_close(DataDir *dir, bool clean)
{
    char path[DATA_PATH_MAX];
    if (dir == NULL) {
        return;
    }
    if (clean) {
        data_dir_file(dir, "node.pid", path);
        (void)unlink(path);
        data_dir_file(dir, "node.json", path);
        (void)unlink(path);
    }
    if (dir->lock >= 0) {
        (void)close(dir->lock);
    }
    free(dir);
}

/* ---- What others ask ------------------------------------------------------------------------- */

const char *data_dir_path(const DataDir *dir)
{
    return dir->path;
}

const char *data_dir_worker(const DataDir *dir)
{
    return dir->worker;
}

DataLeft data_dir_left(const DataDir *dir)
{
    return dir->left;
}

int data_dir_note_running(DataDir *dir, const char *address, uint64_t started_ms, NodeError *error)
{
    char text[32];
    char path[DATA_PATH_MAX];
    SAP_ASSERT(dir->lock >= 0);
    (void)snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    int rc = write_in(dir, "node.pid", text, error);
    data_dir_file(dir, "node.sock", path);
    json_t *object = json_pack("{s:I, s:I, s:s?, s:s}", "pid", (json_int_t)getpid(), "started_ms",
                               (json_int_t)started_ms, "address", address, "socket", path);
    char *json = object != NULL ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (json == NULL) {
        return rc == SAP_OK ? node_error_set(error, SAP_NOMEM, "", "out of memory") : rc;
    }
    rc = rc == SAP_OK ? write_in(dir, "node.json", json, error) : rc;
    free(json);
    return rc;
}
