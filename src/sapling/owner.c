/* owner.c - see owner.h. */
#include "sapling/owner.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/fault.h"
#include "common/fd.h"
#include "common/fork.h"
#include "common/sync.h"
#include "sapling/disk.h"

static Mutex registry_lock = MUTEX_STATIC;
static Owner *registry;

uint32_t owner_process_number = 1;

/* ---- Forks ---------------------------------------------------------------------------------- */

static void forget_parents_files(void)
{
    registry = NULL; /* the objects are the parent's */
    owner_process_number++;
}

int owner_watch_forks(void)
{
    static ForkGuard guard = {.lock = &registry_lock, .in_child = forget_parents_files};
    return fork_guard(&guard);
}

/* ---- The lock ------------------------------------------------------------------------------- */

/* The text is for people: the lock is what counts, and failures here are no one's concern. */
static void wipe(int fd)
{
    int rc = ftruncate(fd, 0);
    (void)rc;
}

/* The lock file of the data file `path`, with its owner and permissions: whoever may open the one may
 * open the other. */
static int open_lock_file(const char *name, const char *path, bool read_only)
{
    int fd = fd_open(name, O_RDWR | O_CREAT, 0666);
    if (fd >= 0) {
        fd_match(fd, path);
    }
    if (fd < 0 && read_only && (errno == EACCES || errno == EROFS)) {
        fd = fd_open(name, O_RDONLY, 0);
    }
    return fd;
}

#ifdef __wasi__

/* There are no locks, and nobody to tell of. */
static int lock_fd(int fd, bool read_only, int64_t *pid_out)
{
    (void)fd;
    (void)read_only;
    (void)pid_out;
    return SAP_OK;
}

static void write_pid(int fd)
{
    (void)fd;
}

static void unlock_fd(int fd)
{
    (void)fd;
}

#else

static int64_t read_pid(int fd)
{
    char text[32] = {0};
    ssize_t len = pread(fd, text, sizeof text - 1, 0);
    return len > 0 ? strtoll(text, NULL, 10) : 0;
}

static void write_pid(int fd)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%lld\n", (long long)getpid());
    wipe(fd);
    ssize_t written = pwrite(fd, text, (size_t)len, 0);
    (void)written;
}

/* Also for the copies of the descriptor that processes made by fork() still have. */
static void unlock_fd(int fd)
{
    struct flock unlock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};
    int rc = fcntl(fd, F_OFD_SETLK, &unlock);
    (void)rc;
}

static int lock_fd(int fd, bool read_only, int64_t *pid_out)
{
    struct flock lock = {.l_type = read_only ? F_RDLCK : F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    if (fcntl(fd, F_OFD_SETLK, &lock) == 0) {
        return SAP_OK;
    }
    if (errno != EAGAIN && errno != EACCES) {
        return SAP_IO;
    }
    *pid_out = read_pid(fd); /* 0 from a file that holds something else */
    return SAP_BUSY;
}

#endif

/* Whether `name` is that of the open file `fd`: others may have removed it, and made it again. */
static bool name_leads_to(const char *name, int fd)
{
    struct stat by_name;
    struct stat by_fd;
    return stat(name, &by_name) == 0 && fstat(fd, &by_fd) == 0 && by_name.st_dev == by_fd.st_dev &&
           by_name.st_ino == by_fd.st_ino;
}

/* Whether a database can be opened without a lock file, which could not be made or opened: its data
 * file is locked too. Who only reads needs none where no writer can make one. On a full disk nobody
 * can; only those who make a database need it then, who will not succeed. */
static bool can_do_without(const char *path, bool read_only, int err)
{
    return (read_only && (err == EROFS || err == EACCES || err == ENOENT)) ||
           (disk_errno_full(err) && access(path, F_OK) == 0);
}

/* Opens and locks the lock file. Between the two steps the previous owner may remove the file: then the
 * lock would be on a file without a name, which no other process opens, so the call starts again. */
static int lock_named_file(const char *path, const char *name, bool read_only, int *fd_out,
                           int64_t *pid_out)
{
    for (;;) {
        int fd = open_lock_file(name, path, read_only);
        if (fd < 0) {
            int err = errno;
            int rc = can_do_without(path, read_only, err) ? SAP_OK : SAP_IO;
            *fd_out = -1;
            errno = err;
            return rc;
        }
        fault_step("lock file opened");
        int rc = lock_fd(fd, read_only, pid_out);
        if (rc == SAP_OK && name_leads_to(name, fd)) {
            *fd_out = fd;
            return SAP_OK;
        }
        int err = errno;
        close(fd);
        errno = err;
        if (rc != SAP_OK) {
            return rc;
        }
    }
}

int owner_lock(Owner *owner, const char *path, bool read_only, int64_t *pid_out)
{
    Buf name = {0};
    *pid_out = 0;
    int rc = buf_printf(&name, "%s-lock", path);
    if (rc == SAP_OK) {
        rc = buf_append_u8(&name, 0);
    }
    int err = rc == SAP_OK ? fault_io() : 0;
    if (err != 0) {
        errno = err;
        rc = SAP_IO;
    }
    int fd = -1;
    if (rc == SAP_OK) {
        rc = lock_named_file(path, (const char *)name.data, read_only, &fd, pid_out);
    }
    err = errno;
    if (rc != SAP_OK) {
        buf_release(&name);
        errno = err;
        return rc;
    }
    if (fd >= 0 && !read_only) {
        write_pid(fd);
    }
    *owner = (Owner){.lock_name = name, .lock_fd = fd, .data_fd = -1, .read_only = read_only};
    return SAP_OK;
}

/* The last one to have it open removes the lock file, while nobody else has a lock on it: whoever
 * opened it before that finds that its name leads elsewhere. */
static void remove_lock_file(const Owner *owner)
{
    const char *name = (const char *)owner->lock_name.data;
    int64_t nobody = 0;
    if (lock_fd(owner->lock_fd, false, &nobody) != SAP_OK) {
        return;
    }
    wipe(owner->lock_fd);
    if (name_leads_to(name, owner->lock_fd)) {
        (void)unlink(name);
    }
}

int owner_enter(Owner *owner, int fd)
{
    struct stat st;
    int64_t nobody = 0;
    if (fstat(fd, &st) != 0) {
        return SAP_IO;
    }
    /* Another process may have got here by a hard link. */
    int rc = lock_fd(fd, owner->read_only, &nobody);
    if (rc != SAP_OK) {
        return rc;
    }
    owner->data_fd = fd;
    mutex_lock(&registry_lock);
    for (const Owner *other = registry; other != NULL; other = other->next) {
        if (other->device == (uint64_t)st.st_dev && other->inode == (uint64_t)st.st_ino &&
            !(other->read_only && owner->read_only)) {
            rc = SAP_BUSY;
        }
    }
    if (rc == SAP_OK) {
        owner->device = (uint64_t)st.st_dev;
        owner->inode = (uint64_t)st.st_ino;
        owner->linked = st.st_nlink > 0;
        owner->listed = true;
        owner->next = registry;
        registry = owner;
    }
    mutex_unlock(&registry_lock);
    return rc;
}

bool owner_has_name(const Owner *owner, const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && owner->device == (uint64_t)st.st_dev &&
           owner->inode == (uint64_t)st.st_ino;
}

bool owner_is_linked(const Owner *owner)
{
    struct stat st;
    return !owner->linked || fstat(owner->data_fd, &st) != 0 || st.st_nlink > 0;
}

void owner_release(Owner *owner)
{
    if (owner->listed) {
        mutex_lock(&registry_lock);
        Owner **link = &registry;
        while (*link != owner) {
            link = &(*link)->next;
        }
        *link = owner->next;
        mutex_unlock(&registry_lock);
    }
    if (owner->data_fd >= 0) {
        unlock_fd(owner->data_fd);
    }
    if (owner->lock_fd >= 0) {
        remove_lock_file(owner);
        unlock_fd(owner->lock_fd);
        close(owner->lock_fd);
    }
    buf_release(&owner->lock_name);
    *owner = OWNER_NONE;
}

void owner_abandon(Owner *owner)
{
    if (owner->lock_fd >= 0) {
        close(owner->lock_fd);
        owner->lock_fd = -1;
    }
    buf_release(&owner->lock_name);
}
