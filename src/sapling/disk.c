/* disk.c - see disk.h. */
#include "sapling/disk.h"

#include "common/fault.h"
#include "common/fd.h"
#include "common/mem.h"
#include "sapling/error.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#endif

enum { FILE_MODE = 0666 /* less the umask */, ZEROS_LEN = 16 * 1024 };

#if SAP_FAULTS

SAP_ATOMIC(bool) disk_is_full;
#define DISK_IS_FULL atomic_load_relaxed(&disk_is_full)

static void (*trace_fn)(void *ctx, const DiskEvent *event);
static void *trace_ctx;
static uint64_t trace_last_file; /* only while a trace is set */

void disk_trace_set(void (*trace)(void *ctx, const DiskEvent *event), void *ctx)
{
    trace_fn = trace;
    trace_ctx = ctx;
}

#define TRACE(...)                                                \
    do {                                                          \
        if (trace_fn != NULL) {                                   \
            trace_fn(trace_ctx, &(const DiskEvent){__VA_ARGS__}); \
        }                                                         \
    } while (0)

#define TRACE_NEW_FILE() (trace_fn != NULL ? ++trace_last_file : 0)

#else

#define DISK_IS_FULL     false
#define TRACE(...)       ((void)0)
#define TRACE_NEW_FILE() 0

#endif

bool disk_errno_full(int err)
{
    return err == ENOSPC || err == EDQUOT || err == EFBIG;
}

static int result_of(int err)
{
    errno = err;
    if (disk_errno_full(err)) {
        return SAP_FULL;
    }
    switch (err) {
    case 0:
        return SAP_OK;
    case ENOENT:
        return SAP_NOTFOUND;
    case EEXIST:
        return SAP_EXISTS;
    case ENOMEM:
    case EMFILE:
    case ENFILE:
        return SAP_NOMEM;
    default:
        return SAP_IO;
    }
}

static int open_with(const char *path, int flags, DiskFile *file_out)
{
    int err = fault_io();

    if (err != 0) {
        return result_of(err);
    }
    int fd;
    do {
        fd = fd_open(path, flags, FILE_MODE);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return result_of(errno);
    }
    *file_out = (DiskFile){.fd = fd, .id = TRACE_NEW_FILE()};
    return SAP_OK;
}

#ifdef __linux__

/* On btrfs every block that is written goes to a new place, unless the file is marked while it is
 * empty. Marked, what was written once can be overwritten on a full disk. It then has no checksums of
 * btrfs, but those of its own. Elsewhere, and where it is refused, nothing is lost by that. */
static void overwrite_in_place(int fd)
{
    struct statfs fs;
    int flags = 0;

    if (fstatfs(fd, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC &&
        ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0) {
        flags |= FS_NOCOW_FL;
        (void)ioctl(fd, FS_IOC_SETFLAGS, &flags);
    }
}

bool disk_overwrites_in_place(int fd)
{
    struct statfs fs;

    return fstatfs(fd, &fs) == 0 && (fs.f_type == EXT4_SUPER_MAGIC || fs.f_type == TMPFS_MAGIC);
}

#else

static void overwrite_in_place(int fd)
{
    (void)fd;
}

bool disk_overwrites_in_place(int fd)
{
    (void)fd;
    return false;
}

#endif

int disk_create(const char *path, DiskFile *file_out)
{
    int rc =
        DISK_IS_FULL ? result_of(ENOSPC) : open_with(path, O_RDWR | O_CREAT | O_EXCL, file_out);

    if (rc == SAP_OK) {
        overwrite_in_place(file_out->fd);
        TRACE(.op = DISK_CREATE, .file = file_out->id, .path = path);
    }
    return rc;
}

int disk_create_like(const char *path, const char *model, DiskFile *file_out)
{
    int rc = disk_create(path, file_out);

    if (rc == SAP_OK) {
        fd_match(file_out->fd, model);
    }
    return rc;
}

static int open_existing(const char *path, int flags, DiskFile *file_out)
{
    int rc = open_with(path, flags, file_out);

    if (rc == SAP_OK) {
        TRACE(.op = DISK_OPEN, .file = file_out->id, .path = path);
    }
    return rc;
}

int disk_open(const char *path, DiskFile *file_out)
{
    return open_existing(path, O_RDWR, file_out);
}

int disk_open_read(const char *path, DiskFile *file_out)
{
    return open_existing(path, O_RDONLY, file_out);
}

void disk_close(DiskFile *file)
{
    int fd = file->fd;

    *file =
        DISK_FILE_NONE; /* first: a child made meanwhile must not close what has the number then */
    if (fd >= 0) {
        close(fd);
    }
}

static void set_direct(DiskFile *file, bool direct)
{
#ifdef O_DIRECT
    int flags = fcntl(file->fd, F_GETFL);

    if (flags >= 0 &&
        fcntl(file->fd, F_SETFL, direct ? flags | O_DIRECT : flags & ~O_DIRECT) == 0) {
        file->direct = direct;
    }
#endif
    file->never_direct = file->never_direct || file->direct != direct;
}

static int write_all(DiskFile *file, uint64_t offset, const void *data, size_t len)
{
    int err = fault_io();
    const uint8_t *at = data;
    size_t left = len;

    while (err == 0 && left > 0) {
        ssize_t done = pwrite(file->fd, at, left, (off_t)(offset + (len - left)));
        if (done > 0) {
            at += done;
            left -= (size_t)done;
        } else if (done == 0) {
            err = EIO;
        } else if (errno == EINVAL && file->direct) {
            file->never_direct = true;
            set_direct(file, false);
            err = file->direct ? EINVAL : 0;
        } else if (errno != EINTR) {
            err = errno;
        }
    }
    if (err != 0) {
        return result_of(err);
    }
    TRACE(.op = DISK_WRITE, .file = file->id, .offset = offset, .data = data, .len = len);
    return SAP_OK;
}

int disk_write(DiskFile *file, uint64_t offset, const void *data, size_t len)
{
    if (file->direct) {
        set_direct(file, false);
    }
    return write_all(file, offset, data, len);
}

int disk_write_direct(DiskFile *file, uint64_t offset, const void *data, size_t len)
{
    if (!file->direct && !file->never_direct) {
        set_direct(file, true);
    }
    return write_all(file, offset, data, len);
}

int disk_room_reserve(Buf *room, size_t extra)
{
    if (extra <= room->cap - room->len) {
        return SAP_OK;
    }
    size_t cap = 2 * room->cap;
    if (cap < room->len + extra) {
        cap = (room->len + extra + DISK_ALIGN - 1) / DISK_ALIGN * DISK_ALIGN;
    }
    uint8_t *data = (uint8_t *)mem_alloc_aligned(MEM_ENV, DISK_ALIGN, cap);
    if (data == NULL) {
        return SAP_NOMEM;
    }
    if (room->len > 0) {
        memcpy(data, room->data, room->len);
    }
    mem_free_aligned(MEM_ENV, room->data, room->cap);
    room->data = data;
    room->cap = cap;
    return SAP_OK;
}

void disk_room_release(Buf *room)
{
    mem_free_aligned(MEM_ENV, room->data, room->cap);
    *room = (Buf){0};
}

int disk_write_zeros(DiskFile *file, uint64_t from, uint64_t to)
{
    static const uint8_t zeros[ZEROS_LEN];
    int rc = SAP_OK;

    while (rc == SAP_OK && from < to) {
        size_t len = to - from < ZEROS_LEN ? (size_t)(to - from) : ZEROS_LEN;
        rc = disk_write(file, from, zeros, len);
        from += len;
    }
    return rc;
}

int disk_read(DiskFile *file, uint64_t offset, void *out, size_t len)
{
    int err = fault_io();
    uint8_t *at = out;
    size_t left = len;

    while (err == 0 && left > 0) {
        ssize_t done = pread(file->fd, at, left, (off_t)(offset + (len - left)));
        if (done > 0) {
            at += done;
            left -= (size_t)done;
        } else if (done == 0) {
            return SAP_CORRUPT;
        } else if (errno != EINTR) {
            err = errno;
        }
    }
    return result_of(err);
}

int disk_claim(DiskFile *file, uint64_t from, uint64_t to)
{
    uint8_t bytes[DISK_ALIGN];
    int rc = SAP_OK;

    while (rc == SAP_OK && from < to) {
        size_t len = to - from < sizeof bytes ? (size_t)(to - from) : sizeof bytes;
        rc = disk_read(file, from, bytes, len);
        rc = rc == SAP_OK ? disk_write(file, from, bytes, len) : rc;
        from += len;
    }
    return rc;
}

/* 0 or an errno. */
static int sync_fd(int fd, int (*call)(int fd))
{
    int err = fault_io();

    while (err == 0 && call(fd) != 0) {
        if (errno != EINTR) {
            err = errno == ENOMEM ? EIO : errno;
        }
    }
    return err;
}

/* The log is synced before it is read, and WASI lets those who only read call no fdatasync(). */
#ifdef __wasi__
#define sync_data fsync
#else
#define sync_data fdatasync
#endif

int disk_sync(DiskFile *file)
{
    int err = sync_fd(file->fd, sync_data);

    if (err != 0) {
        return result_of(err);
    }
    TRACE(.op = DISK_SYNC, .file = file->id);
    return SAP_OK;
}

#if SAP_FILE_MAPPED

static int wait_for_piece(DiskFile *file)
{
    const DiskPiece *sent = &file->sent;

    return sent->bytes == 0 ||
                   sync_file_range(file->fd, (off_t)sent->offset, (off_t)(sent->end - sent->offset),
                                   SYNC_FILE_RANGE_WAIT_BEFORE) == 0
               ? 0
               : errno;
}

int disk_write_back(DiskFile *file, uint64_t offset, uint64_t len)
{
    DiskPiece *sending = &file->sending;
    int err = fault_io();

    if (err == 0 &&
        sync_file_range(file->fd, (off_t)offset, (off_t)len, SYNC_FILE_RANGE_WRITE) != 0) {
        err = errno;
    }
    if (sending->bytes == 0 || offset < sending->offset) {
        sending->offset = offset;
    }
    if (sending->bytes == 0 || offset + len > sending->end) {
        sending->end = offset + len;
    }
    sending->bytes += len;
    if (err == 0 && sending->bytes >= DISK_PIECE_BYTES) {
        err = wait_for_piece(file);
        file->sent = *sending;
        *sending = (DiskPiece){0};
    }
    return err == ENOSYS ? SAP_OK : result_of(err);
}

#endif

int disk_size(DiskFile *file, uint64_t *size_out)
{
    struct stat st;
    int err = fault_io();

    if (err == 0 && fstat(file->fd, &st) != 0) {
        err = errno;
    }
    if (err != 0) {
        return result_of(err);
    }
    *size_out = (uint64_t)st.st_size;
    return SAP_OK;
}

const char *disk_real_path(const char *path, char *resolved)
{
#ifdef __wasi__
    (void)resolved;
    return path;
#else
    return realpath(path, resolved) != NULL ? resolved : path;
#endif
}

/* The directory of `path` as a text of its own; *size_out is what to free. NULL: no memory. */
static char *directory_of(const char *path, size_t *size_out)
{
    const char *slash = strrchr(path, '/');
    const char *from = slash == NULL ? "." : path;
    size_t len = slash == NULL || slash == path ? 1 : (size_t)(slash - path);
    char *directory = mem_alloc(MEM_SCRATCH, len + 1);

    if (directory != NULL) {
        memcpy(directory, from, len);
        directory[len] = '\0';
        *size_out = len + 1;
    }
    return directory;
}

/* A WASI host may have no way to sync a directory. Its names are then as durable as the host makes
 * them. */
static bool cannot_sync_dirs(int err)
{
#ifdef __wasi__
    return err == ENOTSUP || err == EBADF || err == EISDIR || err == EINVAL;
#else
    (void)err;
    return false;
#endif
}

int disk_sync_dir(const char *path)
{
    size_t size = 0;
    char *directory = directory_of(path, &size);

    if (directory == NULL) {
        return SAP_NOMEM;
    }
    int err = 0;
    int fd = fd_open(directory, O_RDONLY | O_DIRECTORY, 0);
    if (fd < 0) {
        err = errno;
    } else {
        err = sync_fd(fd, fsync);
        close(fd);
    }
    err = cannot_sync_dirs(err) ? 0 : err;
    if (err == 0) {
        TRACE(.op = DISK_SYNC_DIR, .path = directory);
    }
    mem_free(MEM_SCRATCH, directory, size);
    return result_of(err);
}

int disk_check_names(const char *path)
{
#ifdef __wasi__
    (void)path; /* it knows no permissions */
    return SAP_OK;
#else
    size_t size = 0;
    char *directory = directory_of(path, &size);

    if (directory == NULL) {
        return SAP_NOMEM;
    }
    int err = faccessat(AT_FDCWD, directory, W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
    mem_free(MEM_SCRATCH, directory, size);
    return err == EACCES || err == EROFS ? result_of(err) : SAP_OK;
#endif
}

int disk_rename(const char *from, const char *to)
{
    int err = fault_io();

    if (err == 0 && rename(from, to) != 0) {
        err = errno;
    }
    if (err == 0) {
        TRACE(.op = DISK_RENAME, .path = from, .to = to);
    }
    return result_of(err);
}

int disk_unlink(const char *path)
{
    int err = fault_io();

    if (err == 0 && unlink(path) != 0) {
        err = errno;
    }
    if (err == 0) {
        TRACE(.op = DISK_UNLINK, .path = path);
    }
    return result_of(err);
}

int disk_list(const char *prefix, int (*each)(void *ctx, const char *rest), void *ctx)
{
    const char *slash = strrchr(prefix, '/');
    const char *base = slash == NULL ? prefix : slash + 1;
    size_t base_len = strlen(base);
    size_t size = 0;
    char *directory = directory_of(prefix, &size);

    if (directory == NULL) {
        return SAP_NOMEM;
    }
    int err = fault_io();
    int rc = result_of(err);
    DIR *dir = NULL;
    if (rc != SAP_OK) {
        goto out;
    }
    dir = fd_open_dir(directory);
    if (dir == NULL) {
        rc = result_of(errno);
        goto out;
    }
    while (rc == SAP_OK) {
        errno = 0;
        const struct dirent *entry = readdir(dir);
        if (entry == NULL) {
            rc = result_of(errno);
            break;
        }
        if (strncmp(entry->d_name, base, base_len) == 0) {
            rc = each(ctx, entry->d_name + base_len);
        }
    }
    closedir(dir);
out:
    mem_free(MEM_SCRATCH, directory, size);
    return rc;
}
