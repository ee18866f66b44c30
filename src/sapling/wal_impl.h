/* wal_impl.h - the log's inside, for wal.c and wal_release.c. */
#ifndef SAPLING_SAPLING_WAL_IMPL_H
#define SAPLING_SAPLING_WAL_IMPL_H

#include "common/sync.h"
#include "sapling/disk.h"
#include "sapling/wal.h"

typedef struct Segment {
    DiskFile file;
    uint64_t number;
    uint64_t size;   /* 0: there is no file */
    uint64_t offset; /* where the next group goes */
} Segment;

/* The group being filled. Its bytes start with room for the header. */
typedef struct OpenGroup {
    Buf bytes; /* as all of groups, in memory of disk_room_reserve() */
    uint64_t sequence;
    uint64_t first_lsn;
    uint32_t records;
} OpenGroup;

struct Wal {
    char *path;
    size_t path_size;
    uint64_t db_id;
    WalOptions options;

    Mutex mutex; /* all below, except where said */
    bool leading;
    bool filing;
    Cond filed;                      /* nobody is filing any more */
    int failed;                      /* SAP_IO once it happened */
    uint64_t failed_segment;         /* where that was */
    int failed_errno;                /* 0: not the system's */
    SAP_ATOMIC(uint64_t) synced_lsn; /* read without the mutex */
    uint64_t closed_lsn;             /* last of the group being synced, or synced */
    uint64_t appended_lsn;

    /* Threads that wait, by parity of their group's sequence: a word that changes whenever a thread
     * stops leading, and an upper bound of how many sleep on it. */
    SAP_ATOMIC(uint32_t) turn[2];
    uint32_t sleepers[2];
    uint64_t sync_ns;    /* what writing and syncing the last group took */
    uint32_t company[2]; /* how many waited for the last two groups, leaders included */

    OpenGroup open;
    Buf next;    /* becomes the next open group's; empty while a group is written */
    Buf writing; /* while leading: the leader's */
    size_t reserved;

    Segment current; /* while leading: changed by the leader only, who reads it without the mutex */
    Segment ready;   /* the one behind current, opened */
    SAP_ATOMIC(bool) wants_ready; /* it is time to make one; read without the mutex */
    uint64_t chain;

    SAP_ATOMIC(uint64_t) bytes; /* what wal_bytes returns; read without the mutex */
    uint64_t rotated_segment;   /* the last point of wal_rotate, and the bytes before it */
    uint64_t rotated_bytes;
    uint64_t
        demand; /* bytes written between the last two points of wal_rotate, but at least half of
                        what this was before */

    /* Only for the thread that is filing. */
    uint64_t first_file; /* the earliest segment there may be */
    uint64_t last_found; /* last_file when the log was opened */
    uint64_t last_file;  /* what there is of current.number + 1 .. last_file is free and whole */
    bool names_dirty;    /* names were changed and the directory is not synced */
};

/* wal.c. The mutex is held where not said otherwise. */

/* The code of a failed attempt to make, rename or remove a segment. A system that does not permit it has
 * done nothing, and may permit it later: SAP_FULL, as for want of room. (Writes and syncs of an open file
 * are not refused in this way.) */
int wal_file_result(int rc, int err);
/* err: the system's answer for that segment; 0: it gave none. */
void wal_fail(Wal *wal, uint64_t segment, int err);
/* Between the two calls the caller is the only thread that manages segment files; others wait. */
void wal_take_files(Wal *wal);
void wal_give_files(Wal *wal);
/* The size of the next segment: as large as what is in the log, in powers of two. */
uint64_t wal_next_size(const Wal *wal);
void wal_set_ready(Wal *wal, Segment segment);
/* Without the mutex. */
bool wal_owns_name(const Wal *wal);
/* Makes all names durable. After a failed sync, a later one that succeeds proves nothing about names
 * changed before: SAP_IO. SAP_NOMEM: not tried. The caller is filing, without the mutex. */
int wal_sync_names(Wal *wal);

#endif
