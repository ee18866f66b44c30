/* wal.h - the log: records become durable in groups, many commits by one sync.
 *
 * Whoever holds the engine's writer lock reserves and appends; whoever committed waits, without that
 * lock. The first who finds no sync running writes and syncs everything appended so far (it leads
 * the group); those who come meanwhile fill the next group. Nobody sleeps to get company. Making the
 * next segment and recycling old ones hold up no group.
 *
 * Invariants:
 *  1. A group is written only after its predecessor is synced, and acknowledged only after its own
 *     sync. So on disk at most the last group is torn.
 *  2. A segment's bytes, size and name are on disk before its first group is written: a sync of a
 *     group moves data only, and a torn group never ends with its file.
 *  3. What is appended or reserved has its memory and its place in the current or the next segment.
 *     So nothing between wal_reserve and the write of the group can find no room.
 *  4. A failed write or sync is final: every call answers SAP_IO from then on and the log begins
 *     nothing more. Records not acknowledged may or may not be found by recovery.
 *  5. One leads at a time: writes to the current segment and moves on to the ready one. One files at
 *     a time: works on all other files, and makes a segment ready when there is none.
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
    uint32_t spare_max;     /* how many free segments are kept; the others are removed */
    bool recovered;         /* the start is WalRecovery.next of a wal_recover that said SAP_OK */
    /* Called inside the log's mutex, so they are short and make no call of the log; may be NULL.
     * on_closed: the open group is closed to be written. What was published until now is in it or
     * before it, what is published later is not. on_synced: that group is on disk, and nobody has
     * been told yet. They come in turns. After a failure neither comes any more. */
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

/* Of a file that was made whole and has no log yet. */
#define WAL_POINT_NONE ((WalPoint){.segment = 0, .sequence = 1})
/* Where the log of a new database starts. */
#define WAL_POINT_FIRST ((WalPoint){.segment = 1, .sequence = 1})

/* Starts writing at `start` (WAL_POINT_FIRST, or WalRecovery.next) in an unused segment of that
 * number. Files of that and higher numbers hold nothing: they are removed or, with
 * options->recovered, used again, so that opening writes no new ones each time. `after_lsn` is the last lsn there
 * was, 0 for none. `path` is copied. Caller owns, release with wal_close. SAP_FULL, SAP_IO,
 * SAP_NOMEM: files of the numbers named may remain; another wal_open removes them. */
int wal_open(Wal **wal_out, const char *path, uint64_t db_id, const WalPoint *start,
             uint64_t after_lsn, const WalOptions *options);

/* NULL is accepted. Writes nothing: what nobody waited for may be lost. No other call is under way.
 */
void wal_close(Wal *wal);

/* Room for one record of `len` bytes; replaces an earlier reservation that was not used. The writer
 * lock is held. SAP_FULL, SAP_NOMEM: there is none, nothing happened. SAP_IO: final. */
int wal_reserve(Wal *wal, size_t len);

/* Appends the record that was reserved (or a shorter one) and calls `publish`, which may be NULL,
 * as one step: no group is closed between the two. `lsn` is above all before it. `data` is borrowed
 * for the call. The writer lock is held since wal_reserve. `publish` runs inside the log's mutex, as
 * the hooks do. SAP_IO: the log has failed; nothing was appended, nothing published. */
int wal_append(Wal *wal, uint64_t lsn, const void *data, size_t len, void (*publish)(void *ctx),
               void *ctx);

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

/* Whether it is time for wal_prepare: the current segment is half full and the next not ready. May
 * be out of date at once. Cheap. */
bool wal_wants_prepare(Wal *wal);

/* Makes everything durable and starts a new segment, even if the present one is unused: so that two
 * points never share a segment, and releasing one tells that the other is old. *point_out then names
 * the place behind all records so far. The writer lock is held, and no reservation.
 * SAP_FULL, SAP_NOMEM: everything is durable but there is no new segment; go on as before. */
int wal_rotate(Wal *wal, WalPoint *point_out);

/* Segments before `first_needed`, which is not above the current one, become spare or are removed,
 * durably. Without the writer lock. SAP_NOMEM: not all of it is done; call it again. Any other
 * failure is final. */
int wal_release(Wal *wal, uint64_t first_needed);

/* ---- Recovery ------------------------------------------------------------------------------- */

typedef enum {
    WAL_END_CLEAN,     /* nothing behind the last group */
    WAL_END_TORN,      /* a last group that was not completely written: left out */
    WAL_END_DAMAGED,   /* SAP_CORRUPT: an invalid group, and valid ones behind it */
    WAL_END_MISSING,   /* SAP_CORRUPT: a segment is not there */
    WAL_END_FOREIGN,   /* SAP_CORRUPT: a group of another database */
    WAL_END_TRUNCATED, /* SAP_CORRUPT: a needed segment is not as long as it was */
    WAL_END_MALFORMED  /* SAP_CORRUPT: a group that verifies but is not made of records */
} WalEnd;

typedef struct WalRecovery {
    WalEnd end;
    uint64_t segment; /* where reading ended; the one that is missing or foreign */
    uint64_t offset;
    uint64_t groups; /* read */
    uint64_t records;
    uint64_t last_lsn; /* `after_lsn` where no record was read */
    WalPoint next;     /* for wal_open */
    /* Valid groups behind the end: what would be lost by going on from here. */
    uint64_t lost_groups;
    uint64_t lost_records;
    uint64_t lost_first_lsn;
    uint64_t lost_last_lsn;
    uint64_t lost_first_sequence; /* `next` has the one that should have come */
} WalRecovery;

/* What an end that is SAP_CORRUPT is, in words; a static string. */
const char *wal_end_text(WalEnd end);

/* Reads the log from `from` on; the first record is above after_lsn. The files are synced before
 * they are trusted: what is read here is there after the next power cut too. `on_record` sees each
 * record in order, its data borrowed for the call, and may be NULL; a result other than SAP_OK ends
 * recovery and is returned. *report is written in every case: up to where it came. SAP_CORRUPT as in
 * WalEnd; all records before that place were shown. */
int wal_recover(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
                int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx,
                WalRecovery *report);

/* The same without a write or a sync: for who builds nothing on the files themselves. */
int wal_read(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
             int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx, WalRecovery *report);

/* For a database whose header is lost. The id in the first group that verifies, of any segment;
 * SAP_NOTFOUND: there is none. */
int wal_guess_id(const char *path, uint64_t *db_id_out);
/* And the start of its first segment, since those before it have been released: a checkpoint always
 * begins a segment. If that holds no valid group, a point from which nothing can be read, and all
 * valid groups are behind the end. */
int wal_guess_start(const char *path, uint64_t db_id, WalPoint *from_out);

/* For wal_open and wal_recover: the numbers of all segments of `path`, ascending, as uint64_t in
 * *numbers (an empty Buf that the caller owns). */
int wal_segments(const char *path, Buf *numbers);

#endif
