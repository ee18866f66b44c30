/* dbfile.h - the file of an environment: what is on disk, and how commits get there.
 *
 * A commit's way: its record is appended to the open group of the log and its version published, in
 * one step against the closing of the group. When the group is closed, the newest version is the one
 * it makes durable (`syncing`); when it is on disk, that becomes `synced`, and `durable` unless a bulk
 * commit whose pages are not in a checkpoint yet lies before it.
 *
 *   newest -> syncing -> synced -> durable        versions, each older than the one before it
 *   newest -> making -> checkpoint                the same for what the data file holds
 *
 * With SAP_SYNC_NONE nothing is logged: a checkpoint's version is the synced one.
 *
 * Each of these is a pin (pager.h). A pin is copied to its next place before its present place takes
 * another, and whoever looks for pins looks in this order, readers last: so it is never missed on its
 * way.
 *
 * Invariants:
 *   1. Pages that a checkpoint on disk uses are pinned until the log no longer has what the one
 *      before it needs: whatever meta is found after a crash, its pages are as they were synced.
 *   2. A meta is written only after the pages it leads to are synced, and the log up to its commit.
 *   3. Log segments are removed only after the meta that does without them is synced. The last one
 *      that a clean close writes does without all of them: it is closed.
 *   4. A closed meta is followed by an open one that names the first segment of the log, on disk
 *      before the first group and before the next checkpoint: a log that is lost is noticed.
 *   5. Where no log segment can be made, a checkpoint ends the log as a clean close does: its meta is
 *      closed, it holds the writer lock to its end, and then all segments are removed. It needs pages
 *      of the file only, which are kept for it. Commits that drain and find no room in the log are
 *      published without a record and durable by such a checkpoint; until it is on disk nothing is
 *      logged. The log begins again with the first commit that finds room for a segment.
 *   6. A commit that only a checkpoint makes durable is published when that is sure to find room: its
 *      pages and the header are claimed before. A lack of room is then a definite abort.
 *   7. A failed write or sync is final: `failed` is set, and nothing is written any more. A header that
 *      is to be replaced is written as it is first, where the file may have no room for it: a lack of
 *      room is found while nothing has changed, and is not final.
 *
 * Locks, in the order they are taken: metadata, checkpointing, writer lock, the log's. */
#ifndef SAPLING_SAPLING_DBFILE_H
#define SAPLING_SAPLING_DBFILE_H

#include "sapling/disk.h"
#include "sapling/env.h"
#include "sapling/file_format.h"
#include "sapling/owner.h"
#include "sapling/wal.h"

enum { DBFILE_NAME_SIZE = 64 }; /* of a comparator, with its NUL */

/* A comparator of the options, its name copied. */
typedef struct NamedOrder {
    char name[DBFILE_NAME_SIZE];
    KeyOrder order;
} NamedOrder;

/* The checkpoint that was found when the file was opened, against which pages are checked when they
 * are first read; does not change. */
typedef struct Found {
    uint64_t txnid;
    uint32_t high;
    uint64_t *used;                  /* bits of the pages that its trees use; NULL: not known yet */
    size_t words;                    /* of `used` */
    uint32_t roots[SAP_MAX_DBI + 1]; /* of the tables; 0: none */
} Found;

/* Pages that no checkpoint needs any more, kept for the next: in a full file there may be no
 * others. */
typedef struct SpareRun {
    uint32_t pgno;
    uint32_t pages; /* 0: none */
    bool promised;  /* to a commit: the next checkpoint takes this run and no other */
} SpareRun;

typedef struct DbFile {
    SapEnv *env;
    char *path;  /* of the file itself */
    char *shown; /* as the caller named it, for messages */
    Owner owner;
    DiskFile data;
    Wal *wal; /* NULL: read-only, or not open yet */
    SapOpenOptions options;
    NamedOrder *orders;
    uint32_t order_count;
    uint64_t db_id;
    void *info_region; /* memory for the pager's side array */
    size_t info_bytes;
    Found found;

    SAP_ATOMIC(bool) failed;
    SAP_ATOMIC(bool) told; /* there was a message */
    bool made;             /* this open made the data file */
    bool discard; /* closing removes it if nothing was committed to it; see env_discard() */
    SAP_ATOMIC(uint32_t) held;

    /* Under the log's lock. */
    Version syncing;
    Version synced;
    Version captured;       /* by the checkpoint being made */
    uint64_t barrier;       /* oldest bulk commit that no checkpoint on disk holds; 0: none */
    uint64_t barrier_after; /* the same of those since the last capture */

    VersionCell durable; /* put into under the log's lock */
    SAP_ATOMIC(uint64_t) pin_syncing;
    SAP_ATOMIC(uint64_t) pin_synced;
    SAP_ATOMIC(uint64_t) pin_durable;
    SAP_ATOMIC(uint64_t) pin_making;
    SAP_ATOMIC(uint64_t) pin_checkpoint;

    /* For options.on_durable. Only the thread that set `notifying` calls it and changes the mark of the
     * last call. A thread that moves the durable mark meanwhile leaves the call to that thread, which
     * looks at the mark again after it has cleared `notifying`. */
    SAP_ATOMIC(bool) notifying;
    SAP_ATOMIC(uint64_t) notified_lsn;

    Mutex checkpointing; /* one checkpoint at a time; what follows is its holder's */
    Meta meta;           /* the newest on disk */
    bool meta_doubtful;  /* while opening: that is not known, although it is closed */
    Meta before;         /* the one before it while `meta` waits for the log to be released */
    bool unreleased;

    /* Under the writer lock. */
    bool sealed;    /* `meta` is closed, and the log has no segment that is needed */
    bool no_room;   /* it was reported that there is no room for a commit now */
    bool skips_log; /* the commit being made drains, and the log has no room for it */
    bool
        unlogged; /* such a commit is in no checkpoint on disk yet: nothing may be logged after it */

    SAP_ATOMIC(WatchHub *)
    hub; /* once something waits to be delivered by who learns of durability */

    /* Under `lock`: the checkpoint being made, and the background thread. */
    Mutex lock;
    Cond changed;
    SpareRun spare_bitmap; /* for the next bitmap: that of the checkpoint before */
    SpareRun spare_states; /* the same for the subsystems' states */
    bool writing;          /* a checkpoint writes what it captured, without the writer lock */
    bool giving_up; /* and has found no room: it waits for the writer lock to undo its capture */
    bool running;
    bool stop;
    SAP_ATOMIC(bool) nudged;        /* there may be something to do that it has not looked at */
    SAP_ATOMIC(bool) unsynced;      /* commits that nobody waits for */
    SAP_ATOMIC(bool) short_of_room; /* a transaction found no page: a checkpoint may free some */
    SAP_ATOMIC(bool) starved;       /* the same, until there is room again */
    int checkpoint_rc;              /* of the last one it made */
    uint64_t checkpoint_ns;         /* when that was */
#if SAPLING_THREADED
    pthread_t thread;
#endif
} DbFile;

/* ---- dbfile.c: commits ---- */

/* Whether write transactions and readers of the newest version may begin: SAP_IO, SAP_READONLY. */
int dbfile_check(DbFile *file, bool write);
/* Whether commits go to the log, other than bulk ones. */
bool dbfile_is_logged(const DbFile *file);
/* Whether the log is half as long as where commits begin to wait for a checkpoint. Whoever writes much
 * and is in no hurry waits before its next commit, so that the others need not. */
bool dbfile_is_crowded(DbFile *file);
/* Pins that the file holds, for the pager. */
void dbfile_scan(DbFile *file, Pager *pager);
VersionCell *dbfile_durable(DbFile *file);
uint64_t dbfile_durable_txnid(DbFile *file);

/* Whether the transaction's pages may be committed: SAP_CORRUPT. */
int dbfile_check_level(DbFile *file, const SapTxnCtx *txn);
/* Under the writer lock, before the commit: checks that, makes its record (env->record, empty if the transaction
 * changed nothing) and reserves room for it. */
int dbfile_reserve(DbFile *file, SapTxnCtx *txn);
/* Appends it; `publish` is called in the same step. SAP_IO: neither was done. */
int dbfile_append(DbFile *file, uint64_t lsn, void (*publish)(void *ctx), SapTxnCtx *txn);
/* A transaction found no free page. */
void dbfile_short_of_room(DbFile *file);
/* Before a write transaction begins in a file where one found no page since there was room: pages that
 * commits have freed, and that are kept only because the last checkpoint has them, become free by a
 * checkpoint. The caller does not hold the writer lock. */
void dbfile_make_room(DbFile *file);
/* A commit whose transaction has ended still works here: closing returns SAP_BUSY meanwhile. With NULL
 * (a DB in memory) these do nothing. */
void dbfile_hold(DbFile *file);
bool dbfile_is_held(DbFile *file);
/* After the lock was given up: waits as the mode asks, delivers the watchers' batch (0: none), calls
 * on_durable and ends the hold. */
int dbfile_committed(DbFile *file, uint64_t lsn, bool wait, WatchHub *hub, uint64_t batch);
/* The same for changes that are durable in every mode. */
int dbfile_defined(DbFile *file, uint64_t lsn);
/* Until `lsn`, of a commit there is, is durable. */
int dbfile_wait(DbFile *file, uint64_t lsn);
int dbfile_sync(DbFile *file);

/* Calls options.on_durable if the durable mark has moved since its last call. The caller holds no lock.
 * Every path that may move the mark ends with this: waiting for the log, a checkpoint, and the end of a
 * transaction, also of one whose commit failed. */
void dbfile_notify_durable(DbFile *file);
/* From here on it is called; what is durable already is not reported. */
void dbfile_begin_notifying(DbFile *file);
/* The end of a commit that failed, instead of dbfile_committed(). The room that it asked the log for may
 * have been made by writing what others committed: calls on_durable, and ends the hold. */
void dbfile_not_committed(DbFile *file);

/* ctx is the DbFile. What the log calls under its lock when a group is closed, or on disk; and what the checkpoint does
 * under that lock when it captures, and when its meta is on disk. */
void dbfile_on_closed(void *ctx);
void dbfile_on_synced(void *ctx);
void dbfile_on_capture(void *ctx);
void dbfile_on_uncapture(void *ctx); /* and when nothing comes of that */
void dbfile_on_checkpoint(void *ctx);

/* A random id that is not the file's own; `file` may be NULL, or have none yet. SAP_IO. */
int dbfile_new_id(const DbFile *file, uint64_t *id_out);

/* Monotonic time by the options' clock, or the system's; in memory (NULL) always that. */
uint64_t dbfile_now_ns(const DbFile *file);

/* Calls on_message, if it is set; with SAP_CORRUPT the text also says what to do. Returns rc. */
int dbfile_report(DbFile *file, int rc, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets `failed`, and reports it the first time, with the system's words for errno, unless that is 0.
 * Returns SAP_IO. */
int dbfile_fail(DbFile *file, const char *what);
/* ctx is the DbFile. Whether the path still leads to the data file that is open; otherwise the
 * database fails, and what has its names now is left alone. False too once it has failed. */
bool dbfile_owns_name(void *ctx);
/* ctx is the DbFile. Whether the data file has a name: what is committed to one without could never be
 * read. Otherwise the database fails. */
bool dbfile_is_reachable(void *ctx);

/* The order of that name, and the name of an order; NULL where there is none, as in memory (NULL). */
const NamedOrder *dbfile_order_named(const DbFile *file, const char *name, size_t len);
const NamedOrder *dbfile_order_of(const DbFile *file, KeyOrder order);

/* ---- dbfile.c: life; opening is in dbopen.c ---- */

int dbfile_start(DbFile *file); /* the background thread */
/* Before closing is tried: nothing is left to be delivered, unless the disk failed. */
void dbfile_settle(DbFile *file);
/* The metadata and the writer lock are held, no transaction is open: a last checkpoint, and the
 * files are closed. Then, when the environment's pages are gone, the rest. */
int dbfile_close(DbFile *file);
void dbfile_free(DbFile *file);
/* In a process that inherited it by fork(): closes its descriptors of data file, log and lock and gives
 * up the mapping. Takes no lock, waits for nobody and writes nothing. The objects stay: another thread of
 * the parent may have been changing them when they were copied. */
void dbfile_abandon(DbFile *file);
void dbfile_free_texts(DbFile *file);
void dbfile_free_info(DbFile *file); /* dbenv.c: of dbfile_free() */

/* ---- dbenv.c ---- */

/* The environment as file->meta describes it, without what the log has. Reports why not. */
int dbfile_make_env(DbFile *file);
/* `version` is the newest one, and on disk. */
void dbfile_start_at(DbFile *file, const Version *version);

/* ---- dbopen.c: what those who make files share ---- */

/* Reports `what`, with the system's words for errno. SAP_FULL that is not the system's comes from
 * max_size: what may meet that sets errno to 0 before. Returns rc. */
int dbfile_report_errno(DbFile *file, int rc, const char *what);

/* Removes the data file, which has the name `data` now, and all segments of its log, as far as that
 * goes: of a database that could not be made, or that nothing was committed to. */
void dbfile_remove(const DbFile *file, const char *data);

/* SAP_EXISTS: beside `path` lies a segment of a log that something was written to; *name_out (an
 * empty Buf that the caller owns) is its name, *id_out the database it belongs to. */
int dbfile_find_log(const char *path, Buf *name_out, uint64_t *id_out);

/* ---- subsystems.c ---- */

/* SAP_ERROR, and it is reported: one of them cannot be in a file. */
int dbfile_check_subsystems(DbFile *file, const SapOpenOptions *options);
/* What the file says of a subsystem, on top of *state. SAP_ERROR: the options do not have it;
 * SAP_CORRUPT: it refused; both are told. */
int dbfile_apply_state(DbFile *file, uint32_t id, Slice bytes, void **state);
/* The same for saved states. What was made of them is the environment's, also on failure. */
int dbfile_load_states(DbFile *file, Slice saved);

/* ---- checkpoint.c ---- */

enum {
    CHECKPOINT_LOCKED = 1, /* the caller holds the writer lock */
    CHECKPOINT_FORCED = 2, /* also if nothing was committed since the last one */
    CHECKPOINT_CLOSED = 4, /* the last one: the file is complete without a log */
};

/* Moves what is committed into the data file and empties the log. `until`: does nothing if this commit is
 * already durable. 0: always runs. SAP_BUSY: this thread has a write transaction open. SAP_FULL,
 * SAP_NOMEM: not possible now, nothing is lost. SAP_IO: final. */
int checkpoint_run(DbFile *file, unsigned flags, uint64_t until);
/* Makes sure that a checkpoint finds room for what is committed and for the transaction. The writer lock
 * is held, and the transaction goes on in any case. SAP_FULL (errno tells), SAP_NOMEM: not now. SAP_IO:
 * final. */
int checkpoint_claim(DbFile *file, SapTxnCtx *txn);
/* Replaces a closed meta by an open one, before the first group is written. The writer lock is held.
 * SAP_FULL, SAP_NOMEM: not now, nothing is lost. SAP_IO: final. */
int checkpoint_unseal(DbFile *file);
/* A page that nobody has read since the file was opened; for the arena. Behind a right checksum may
 * be a wrong writer: SAP_CORRUPT if it is not a page that this place of the file could have. */
int checkpoint_check_page(void *ctx, uint32_t pgno);
/* The same for all that begin at a bit that is set, in two steps: without and with knowledge of the
 * tables. */
int checkpoint_check_pages(DbFile *file, const uint64_t *pages);
int checkpoint_check_tables(DbFile *file, const uint64_t *pages);
/* Whether the trees of the checkpoint that was found use all these pages. */
bool checkpoint_has_pages(const DbFile *file, uint32_t pgno, uint32_t pages);
/* The checksum in the page, 0 if it never went to disk; and whether it is right for this page. */
uint64_t page_stamp(const uint8_t *page);
bool page_is_intact(const DbFile *file, const uint8_t *page, uint32_t pgno);
/* The keys of a DUPSORT table are pairs wherever they are. */
bool page_holds_pairs(const uint8_t *page);
int checkpoint_write_meta(DbFile *file, const Meta *meta);

#endif
