/* owner.h - who has a database file open.
 *
 * One writer, or any number of read-only opens. Between processes an open-file-description lock on
 * PATH-lock says so, and the file holds the writer's process id for people; the system gives the
 * lock back however the process ends. Whoever ends last removes the file; a lock counts only while the
 * name leads to the file that is locked. Within a process the data file itself (device and inode) is
 * remembered, so that a second name for it is noticed too. WASI has no locks: there, the latter is
 * all there is.
 *
 * A process that fork() made inherits descriptors, mappings and memory, and is another process all
 * the same: nothing that its parent opened is its own. Each process has a number, which changes at
 * a fork, and the list of what is open begins empty in the child. The lock is the parent's: the
 * child never gives it back, and the parent does so explicitly, since the child's copies of the
 * descriptors would keep it. */
#ifndef SAPLING_SAPLING_OWNER_H
#define SAPLING_SAPLING_OWNER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"

typedef struct Owner {
    struct Owner *next; /* in the list of this process */
    Buf lock_name;      /* of the lock file; empty: none */
    int lock_fd;        /* -1: none */
    int data_fd;        /* borrowed from owner_enter() on; -1: not entered */
    uint64_t device;
    uint64_t inode;
    bool read_only;
    bool listed;
    bool linked; /* the system said that the data file has a name when it was entered */
} Owner;

#define OWNER_NONE ((Owner){.lock_fd = -1, .data_fd = -1})

/* The number of this process, never 0. Whoever keeps it calls owner_watch_forks() first, without
 * which a fork goes unnoticed: SAP_NOMEM. */
extern uint32_t owner_process_number;
int owner_watch_forks(void);
static inline uint32_t owner_process(void)
{
    return owner_process_number;
}

/* Takes the lock file. Leaves *owner as it was unless SAP_OK. SAP_BUSY: *pid_out is the owner's
 * process id, 0 if it is not known. SAP_IO: errno tells. */
int owner_lock(Owner *owner, const char *path, bool read_only, int64_t *pid_out);
/* Enters the data file, which is open as `fd` and stays so until owner_release(). SAP_BUSY: it is
 * open already, under another name. */
int owner_enter(Owner *owner, int fd);
/* Whether `path` leads to the data file that was entered: it may have been removed since, or
 * replaced. */
bool owner_has_name(const Owner *owner, const char *path);
/* Whether the data file that was entered has a name at all, this one or another. True where the system
 * does not count names. Cheap: asks for no path. */
bool owner_is_linked(const Owner *owner);
/* Undoes both, as far as they were done, in the process that did them, and removes the lock file unless
 * others have it locked. */
void owner_release(Owner *owner);
/* In a process that inherited it: closes the descriptor, and the lock stays the parent's. */
void owner_abandon(Owner *owner);

#endif
