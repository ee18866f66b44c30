/* fd.c - see fd.h. */
#include "common/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/assert.h"

/* Closes what could not be used and keeps the reason. */
static void close_keeping_errno(int fd)
{
    int err = errno;
    close(fd);
    errno = err;
}

int fd_raise(int fd)
{
#ifdef __wasi__
    return fd; /* a WASI host always opens the standard descriptors, and has no call for this */
#else
    if (fd < 0 || fd >= FD_FIRST) {
        return fd;
    }
    int raised = fcntl(fd, F_DUPFD_CLOEXEC, FD_FIRST);
    close_keeping_errno(fd);
    return raised;
#endif
}

int fd_open(const char *path, int flags, unsigned mode)
{
    return fd_raise(open(path, flags | O_CLOEXEC, (mode_t)mode));
}

#ifndef __wasi__

bool fd_pipe(int ends[2])
{
    int made[2];
    if (pipe2(made, O_CLOEXEC) != 0) {
        return false;
    }
    ends[0] = fd_raise(made[0]);
    if (ends[0] < 0) {
        close_keeping_errno(made[1]);
        return false;
    }
    ends[1] = fd_raise(made[1]);
    if (ends[1] < 0) {
        close_keeping_errno(ends[0]);
        return false;
    }
    return true;
}

#endif

DIR *fd_open_dir(const char *path)
{
    int fd = fd_open(path, O_RDONLY | O_DIRECTORY, 0);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (fd >= 0 && dir == NULL) {
        close_keeping_errno(fd);
    }
    return dir;
}

FILE *fd_open_stream(const char *path)
{
    int fd = fd_open(path, O_RDONLY, 0);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "rb");
    if (fd >= 0 && stream == NULL) {
        close_keeping_errno(fd);
    }
    return stream;
}

#ifdef __wasi__

void fd_match(int fd, const char *model)
{
    (void)fd; /* there are neither owners nor permissions */
    (void)model;
}

#else

void fd_match(int fd, const char *model)
{
    enum { PERMISSIONS = 0777 };
    struct stat want;
    struct stat has;
    if (stat(model, &want) != 0 || fstat(fd, &has) != 0) {
        return;
    }
    if (has.st_uid != want.st_uid || has.st_gid != want.st_gid) {
        /* Only root may give files away; a group one is in will do for the others. */
        int rc = fchown(fd, want.st_uid, want.st_gid);
        rc = rc == 0 ? 0 : fchown(fd, (uid_t)-1, want.st_gid);
        (void)rc;
    }
    if (((has.st_mode ^ want.st_mode) & PERMISSIONS) != 0) {
        int rc = fchmod(fd, want.st_mode & PERMISSIONS);
        (void)rc;
    }
}

#endif

bool fd_fill_standard(void)
{
    for (int fd = 0; fd < FD_FIRST; fd++) {
        if (fcntl(fd, F_GETFD) < 0) {
            /* The other way round: input that cannot be read, output that cannot be written. */
            int made = open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
            if (made < 0) {
                return false;
            }
            SAP_ASSERT(made == fd); /* the system takes the lowest that is free */
        }
    }
    return true;
}
