/* wal.h - the log: records become durable in groups, many commits by one sync.
 *
 * The thread that holds the engine's writer lock reserves room and appends its record. It then releases
 * that lock and waits. The first thread that finds no sync running leads the group: it writes and syncs
 * everything appended so far. Threads that append meanwhile fill the next group. No thread sleeps in
 * order to make a group larger. Making the next segment and recycling old ones delays no group.
 *
 * Invariants:
 *  1. A group is written only after its predecessor is synced, and acknowledged only after its own
 *     sync. So on disk at most the last group is torn.
 *  2. A segment's bytes, size and name are on disk before its first group is written: a sync of a
 *     group moves data only, and a torn group never ends with its file.
 *  3. What is appended or reserved has its memory and its place in the current or the next segment.
 *     So nothing between wal_reserve and the write of the group can find no room.
 *  4. A failed write or sync is final: from then on every call returns SAP_IO, and the log writes
 *     nothing more. Recovery may or may not find records that were not acknowledged.
 *  5. Only one thread at a time leads: it writes to the current segment, and switches to the ready one.
 *     Only one thread at a time manages the other segment files, and makes a segment ready if there is
 *     none. (It is "filing".)
 *  6. The last block of a segment is never used: a file that ends with a group was cut there. */
#ifndef SAPLING_SAPLING_WAL_H
#define SAPLING_SAPLING_WAL_H

#include "common/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Wal Wal;

typedef struct WalOptions {
    uint64_t segment_bytes; /* a multiple of 4096, from 16384 to 1 GiB; 0: 16 MiB */
    /* The size of the first segments, in the same bounds. The next ones grow with what is written
     * between two points of wal_rotate, and shrink when that shrinks; so does the number of free
     * segments that are kept. 0: all have segment_bytes, and spare_max are kept. */
    uint64_t first_bytes;
    uint32_t spare_max; /* at most this many free segments are kept; the others are removed */
    bool recovered;     /* the start is WalRecovery.next of a wal_recover that returned SAP_OK */
    bool lazy; /* the first segment is made when the first record needs it, not by wal_open */
    /* Whether the database still has the name that the log's names are made of. Asked before a name
     * is made, changed or removed; false is final: SAP_IO. May be NULL. Called without the mutex. */
    bool (*owns_name)(void *ctx);
    /* Whether anybody can still open the database. Asked when a group is on disk, before its commits are
     * acknowledged; false is final: SAP_IO. May be NULL. Called without the mutex. */
    bool (*is_reachable)(void *ctx);
    /* Called inside the log's mutex, so they are short and make no call of the log; may be NULL.
     * on_closed: the open group is closed and will be written. Commits published until now are in it or
     * before it, later ones are not. on_synced: that group is on disk, and none of its commits has been
     * acknowledged yet. The two alternate. After a failure neither is called. */
    void (*on_closed)(void *ctx);
    void (*on_synced)(void *ctx);
    void *hook_ctx;
} WalOptions;

/* A place between two groups, where reading can start: what a checkpoint remembers. */
typedef struct WalPoint {
    uint64_t segment;  /* exists; earlier ones are not needed */
    uint64_t sequence; /* of the next group */
    uint64_t chain;    /* checksum of the group before it; any value before the first */
} WalPoint;

/* Where the log of a new database starts. */
#define WAL_POINT_FIRST ((WalPoint){.segment = 1, .sequence = 1})

/* Starts writing at `start` (WAL_POINT_FIRST, or WalRecovery.next) in an unused segment of that
 * number. Files of that and higher numbers hold nothing: they are removed or, with
 * options->recovered, used again, so that opening writes no new ones each time. With options->lazy
 * no segment is needed any more: all of them are removed. `after_lsn` is the last lsn there was, 0
 * for none. `path` is copied. Caller owns, release with wal_close. If the disk has no room, the first
 * segment is not made yet (wal_has_segment), as with options->lazy. SAP_IO, SAP_NOMEM: some segment
 * files may remain; the next wal_open removes them. */
int wal_open(Wal **wal_out, const char *path, uint64_t db_id, const WalPoint *start,
             uint64_t after_lsn, const WalOptions *options);

/* After SAP_IO of any call below: the segment that an operation failed on, and its errno. False: it is not
 * known. */
bool wal_failure(Wal *wal, uint64_t *segment_out, int *err_out);

/* NULL is accepted. Writes nothing: what nobody waited for may be lost. No other call is under way.
 */
void wal_close(Wal *wal);

/* In a process that inherited it by fork(): closes its descriptors of segments. Takes no lock, and leaves
 * the object; a segment that another thread of the parent was making stays open. */
void wal_abandon(Wal *wal);

/* Room for one record of `len` bytes; replaces an earlier reservation that was not used. The writer
 * lock is held. SAP_FULL, SAP_NOMEM: there is none, nothing happened. SAP_IO: final. */
int wal_reserve(Wal *wal, size_t len);

/* Appends the record that was reserved (or a shorter one) and calls `publish`, which may be NULL,
 * as one step: no group is closed between the two. `lsn` is above all before it. `data` is borrowed
 * for the call. The writer lock is held since wal_reserve. `publish` runs inside the log's mutex, as
 * the hooks do. SAP_IO: the log has failed; nothing was appended, nothing published. */
int wal_append(Wal *wal, uint64_t lsn, const void *data, size_t len, void (*publish)(void *ctx),
               void *ctx);

/* For a commit that the log has no room for: it becomes part of the database by `publish`, as above, but
 * is not in the log. Nothing may be appended before a checkpoint holds it, on disk. The writer lock is
 * held, and everything appended is on disk. */
void wal_skip(Wal *wal, uint64_t lsn, void (*publish)(void *ctx), void *ctx);

/* Calls `fn` inside the log's mutex, as the hooks are. */
void wal_with_lock(Wal *wal, void (*fn)(void *ctx), void *ctx);

/* Returns when the record of `lsn`, which was appended, is on disk. SAP_IO: final; its outcome is
 * unknown. */
int wal_wait(Wal *wal, uint64_t lsn);

/* Up to which lsn everything is on disk. */
uint64_t wal_synced(Wal *wal);

/* Bytes of the groups that this log wrote since the last point of wal_rotate up to which
 * wal_release was called: what a checkpoint would free. May be out of date at once. */
uint64_t wal_bytes(Wal *wal);

/* Makes the next segment ready, which wal_reserve and wal_rotate would otherwise do under the writer
 * lock when they need it; does nothing where it is. For a background thread, without the writer
 * lock. SAP_FULL, SAP_NOMEM: there is none, nothing happened. SAP_IO: final. */
int wal_prepare(Wal *wal);

/* The number of the segment after the current one, made or not. */
uint64_t wal_next_segment(Wal *wal);

/* Whether it is time for wal_prepare: the current segment is half full and the next not ready. May
 * be out of date at once. Cheap. */
bool wal_wants_prepare(Wal *wal);

/* Makes everything durable and starts a new segment, even if the present one is unused: so that two
 * points never share a segment, and releasing one shows that the other is old. *point_out is the place
 * after all records so far. The writer lock is held, and no reservation.
 * SAP_FULL, SAP_NOMEM: everything is durable but there is no new segment; the log goes on as before. */
int wal_rotate(Wal *wal, WalPoint *point_out);

/* Segments before `first_needed`, which is not above the current one, become spare or are removed,
 * durably. Without the writer lock. SAP_FULL, SAP_NOMEM: not all of it is done; call it again. Any
 * other failure is final. */
int wal_release(Wal *wal, uint64_t first_needed);

/* Called when nothing was written for a while: keeps fewer free segments. Without the writer lock. */
void wal_trim(Wal *wal);

/* Ends a log: makes everything durable. *point_out is the place after all records, in a segment that is
 * not made: where the next log can start. The writer lock is held, and no reservation. */
int wal_finish(Wal *wal, WalPoint *point_out);
/* After wal_finish, once a header on disk needs none of the segments: removes them, as far as that
 * succeeds. The log is then as if it had been opened lazily at the point of wal_finish. The writer lock
 * has been held since then. SAP_IO: final. */
int wal_restart(Wal *wal);
/* False: the log has no segment yet, because it was opened lazily or found no room for one. */
bool wal_has_segment(Wal *wal);
/* Removes all segments, as far as that succeeds. A segment that comes back after a power cut holds only
 * groups before the point of wal_finish. Only wal_close may follow. SAP_IO: nothing was removed, because
 * the names belong to another database now. */
int wal_remove(Wal *wal);

/* ---- Recovery ------------------------------------------------------------------------------- */

typedef enum {
    WAL_END_CLEAN,     /* nothing after the last group */
    WAL_END_TORN,      /* a last group that was not completely written: left out */
    WAL_END_DAMAGED,   /* SAP_CORRUPT: an invalid group, and valid ones after it */
    WAL_END_MISSING,   /* SAP_CORRUPT: a segment is missing */
    WAL_END_FOREIGN,   /* SAP_CORRUPT: a group of another database */
    WAL_END_TRUNCATED, /* SAP_CORRUPT: a needed segment is not as long as it was */
    WAL_END_MALFORMED  /* SAP_CORRUPT: a group that verifies but is not made of records */
} WalEnd;

typedef struct WalRecovery {
    WalEnd end;
    uint64_t files; /* segments there are, needed ones or, by wal_check_closed, all */
    uint64_t
        segment; /* where reading ended; the one that is missing or foreign, or cannot be opened */
    uint64_t offset;
    uint64_t groups; /* read */
    uint64_t records;
    uint64_t last_lsn; /* `after_lsn` where no record was read */
    WalPoint next;     /* for wal_open */
    /* Valid groups after the end: they would be lost if the log went on from here. */
    uint64_t lost_groups;
    uint64_t lost_records;
    uint64_t lost_first_lsn;
    uint64_t lost_last_lsn;
    uint64_t lost_first_sequence; /* `next` has the one that should have come */
} WalRecovery;

/* Describes an end that is SAP_CORRUPT; a static string. */
const char *wal_end_text(WalEnd end);

/* Reads the log from `from` on; the first record is above after_lsn. The files are synced before
 * they are trusted: what is read here is there after the next power cut too. `on_record` sees each
 * record in order, its data borrowed for the call, and may be NULL; a result other than SAP_OK ends
 * recovery and is returned. *report is written in every case: up to where it came. SAP_CORRUPT as in
 * WalEnd; all records before that place were shown. */
int wal_recover(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
                int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx,
                WalRecovery *report);

/* The same without a write or a sync: for callers that do not write to the files afterwards. */
int wal_read(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
             int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx, WalRecovery *report);

/* For a closed database, whose header does not need the log before `from`. SAP_OK: no segment has a
 * group from `from` on, so all segments can be removed. SAP_CORRUPT: a segment belongs to another
 * database (WAL_END_FOREIGN), or has groups from `from` on (WAL_END_DAMAGED); the report counts the
 * commits that removing them would lose. */
int wal_check_closed(const char *path, uint64_t db_id, const WalPoint *from, WalRecovery *report);

/* For a database whose header is lost. The id in the first group that verifies, of any segment;
 * SAP_NOTFOUND: there is none. */
int wal_guess_id(const char *path, uint64_t *db_id_out);
/* And the start of its first segment from number `first` on, since those before it have been
 * released: a checkpoint always begins a segment. If that holds no valid group, a point from which nothing can be read, and all
 * valid groups are behind the end. */
int wal_guess_start(const char *path, uint64_t db_id, uint64_t first, WalPoint *from_out);

/* For wal_open and wal_recover: the numbers of all segments of `path`, ascending, as uint64_t in
 * *numbers (an empty Buf that the caller owns). */
int wal_segments(const char *path, Buf *numbers);

/* Name and size of a segment. SAP_NOTFOUND: there is none. */
int wal_segment_size(const char *path, uint64_t number, Buf *name, uint64_t *size_out);

/* Whether a file that lies after the end of the log, as recovery found it, may be used as the segment of
 * its number. A group in it that claims this number must never be taken for one written from now on,
 * although both would follow the same group. There is no whole one, or recovery would have read it.
 * An incomplete one is the only group of its segment (invariant 1 of wal.h) and so in the first
 * block; if its header is not on disk it never will be. Groups of the segments that the file was
 * before have lower numbers. */
int wal_is_reusable(const char *name, uint64_t number, uint64_t start, uint64_t segment_bytes,
                    bool *reusable_out);

#endif
