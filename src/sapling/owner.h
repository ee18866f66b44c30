/* owner.h - who has a database file open.
 *
 * One writer, or any number of read-only opens. Between processes an open-file-description lock on
 * PATH-lock says so, and the file holds the writer's process id for people; the system gives the
 * lock back however the process ends. Within a process the data file itself (device and inode) is
 * remembered, so that a second name for it is noticed too. WASI has no locks: there, the latter is
 * all there is. */
#ifndef SAPLING_SAPLING_OWNER_H
#define SAPLING_SAPLING_OWNER_H

#include <stdbool.h>
#include <stdint.h>

typedef struct Owner {
    struct Owner *next; /* in the list of this process */
    int lock_fd;        /* -1: none */
    uint64_t device;
    uint64_t inode;
    bool read_only;
    bool listed;
} Owner;

#define OWNER_NONE ((Owner){.lock_fd = -1})

/* Takes the lock file. Leaves *owner as it was unless SAP_OK. SAP_BUSY: *pid_out is the owner's
 * process id, 0 if it is not known. SAP_IO: errno tells. */
int owner_lock(Owner *owner, const char *path, bool read_only, int64_t *pid_out);
/* Enters the data file, which is open as `fd` and stays so until owner_release(). SAP_BUSY: it is
 * open already, under another name. */
int owner_enter(Owner *owner, int fd);
/* Undoes both, as far as they were done. */
void owner_release(Owner *owner);

#endif
