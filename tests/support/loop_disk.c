#include "support/loop_disk.h"

#include "support/expect.h"

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum { COMMAND_MAX = 1024, PATH_SIZE = 128, FILLERS = 64 };

static const struct {
    const char *name;
    const char *make; /* mkfs with its options, and how large the image is */
    const char *size;
} kinds[LOOP_KINDS] = {
    [LOOP_EXT4] = {"ext4", "mkfs.ext4 -q -F -m 0", "40M"},
    [LOOP_XFS] = {"xfs", "mkfs.xfs -q -f -m reflink=1", "300M"},
    [LOOP_BTRFS] = {"btrfs", "mkfs.btrfs -q -f -M", "128M"},
};

const char *loop_disk_name(LoopKind kind)
{
    return kinds[kind].name;
}

static int shell_run(const char *format, va_list args)
{
    char command[COMMAND_MAX];

    vsnprintf(command, sizeof command, format, args);
    return system(command); // NOLINT: a test's own commands
}

static bool shell_succeeds(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int status = shell_run(format, args);
    va_end(args);
    return status == 0;
}

void loop_disk_run(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int status = shell_run(format, args);
    va_end(args);
    EXPECT(status == 0, "a command failed: %s", format);
}

/* Mounts of this process are its own from now on: the system undoes them when it ends, however that is,
 * and frees their loop devices. */
static bool keep_mounts_private(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool loop_disk_start(LoopDisk *disk, LoopKind kind)
{
    char place[] = "/tmp/sapling-loop-XXXXXX";

    *disk = (LoopDisk){.kind = kind};
    EXPECT(mkdtemp(place) != NULL, "cannot make a directory in /tmp");
    snprintf(disk->mount, sizeof disk->mount, "%s", place);
    snprintf(disk->image, sizeof disk->image, "%s.image", place);
    if (geteuid() != 0 || !keep_mounts_private() ||
        !shell_succeeds("truncate -s %s %s && %s %s >/dev/null 2>&1 && "
                        "mount -o loop %s %s 2>/dev/null",
                        kinds[kind].size, disk->image, kinds[kind].make, disk->image, disk->image,
                        disk->mount)) {
        fprintf(stderr,
                "NOTICE: a full disk of %s is NOT TESTED: that needs root, loop devices and %s\n",
                kinds[kind].name, kinds[kind].make);
        (void)rmdir(disk->mount);
        (void)unlink(disk->image);
        return false;
    }
    (void)unlink(disk->image); /* the mount keeps it */
    setenv("TMPDIR", disk->mount, 1);
    setenv("SAP_TEST_ON_DISK", "1", 1);
    return true;
}

void loop_disk_end(LoopDisk *disk)
{
    unsetenv("TMPDIR");
    unsetenv("SAP_TEST_ON_DISK");
    EXPECT(umount2(disk->mount, MNT_DETACH) == 0, "cannot unmount %s", disk->mount);
    (void)rmdir(disk->mount);
}

static void filler_path(const LoopDisk *disk, unsigned i, char *out)
{
    snprintf(out, PATH_SIZE, "%s/filler%u", disk->mount, i);
}

/* Whole pieces first, then what is written until nothing more goes in. */
static uint64_t fill_once(const char *path)
{
    static const char block[4096] = "full";
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    uint64_t at = 0;

    if (fd < 0) {
        return 0;
    }
    for (uint64_t piece = UINT64_C(64) << 20; piece >= sizeof block; piece /= 2) {
        while (posix_fallocate(fd, (off_t)at, (off_t)piece) == 0) {
            at += piece;
        }
    }
    while (pwrite(fd, block, sizeof block, (off_t)at) == (ssize_t)sizeof block) {
        at += sizeof block;
    }
    (void)fsync(fd);
    close(fd);
    return at;
}

void loop_disk_fill(const LoopDisk *disk)
{
    char path[PATH_SIZE];

    for (unsigned i = 0; i < FILLERS; i++) {
        filler_path(disk, i, path);
        uint64_t filled = fill_once(path);
        (void)shell_succeeds("sync -f %s", disk->mount);
        if (filled == 0) {
            return;
        }
    }
}

void loop_disk_unfill(const LoopDisk *disk)
{
    loop_disk_run("rm -f %s/filler* && sync -f %s", disk->mount, disk->mount);
}
