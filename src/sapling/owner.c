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
#include "common/sync.h"

#if SAPLING_THREADED
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
#define REGISTRY_LOCK()   mutex_lock(&registry_lock)
#define REGISTRY_UNLOCK() mutex_unlock(&registry_lock)
#else
#define REGISTRY_LOCK()   ((void)0)
#define REGISTRY_UNLOCK() ((void)0)
#endif

static Owner *registry;

/* The text is for people: the lock is what counts, and failures here are no one's concern. */
static void wipe(int fd)
{
    int rc = ftruncate(fd, 0);
    (void)rc;
}

static int open_lock_file(const char *path, bool read_only)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0 && read_only && (errno == EACCES || errno == EROFS)) {
        fd = open(path, O_RDONLY | O_CLOEXEC);
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
        fd = open_lock_file((const char *)name.data, read_only);
        /* Where no lock file can be made, nobody can be writing either. */
        bool sealed = fd < 0 && read_only && (errno == EROFS || errno == EACCES || errno == ENOENT);
        rc = fd >= 0 ? lock_fd(fd, read_only, pid_out) : sealed ? SAP_OK : SAP_IO;
    }
    err = errno;
    buf_release(&name);
    if (rc != SAP_OK) {
        if (fd >= 0) {
            close(fd);
        }
        errno = err;
        return rc;
    }
    if (fd >= 0 && !read_only) {
        write_pid(fd);
    }
    *owner = (Owner){.lock_fd = fd, .read_only = read_only};
    return SAP_OK;
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
    REGISTRY_LOCK();
    for (const Owner *other = registry; other != NULL; other = other->next) {
        if (other->device == (uint64_t)st.st_dev && other->inode == (uint64_t)st.st_ino &&
            !(other->read_only && owner->read_only)) {
            rc = SAP_BUSY;
        }
    }
    if (rc == SAP_OK) {
        owner->device = (uint64_t)st.st_dev;
        owner->inode = (uint64_t)st.st_ino;
        owner->listed = true;
        owner->next = registry;
        registry = owner;
    }
    REGISTRY_UNLOCK();
    return rc;
}

void owner_release(Owner *owner)
{
    if (owner->listed) {
        REGISTRY_LOCK();
        Owner **link = &registry;
        while (*link != owner) {
            link = &(*link)->next;
        }
        *link = owner->next;
        REGISTRY_UNLOCK();
    }
    if (owner->lock_fd >= 0) {
        if (!owner->read_only) {
            wipe(owner->lock_fd);
        }
        close(owner->lock_fd);
    }
    *owner = OWNER_NONE;
}
