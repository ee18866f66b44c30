/* dbopen.c - opening a database file: its owner, its newest meta, its log.
 *
 * Nothing that the file's metas lead to is changed before the log has been replayed: pages that the
 * newest meta does not use may be overwritten at any time, the rest is as it was if opening fails. */
#include "sapling/dbfile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "common/assert.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/options.h"
#include "sapling/effects.h"
#include "sapling/file_kind.h"
#include "sapling/open_error.h"
#include "sapling/wal_format.h"

enum {
    DEFAULT_PAGE_SIZE = 4096,
    DEFAULT_SYNC_PERIOD_MS = 100,
    DEFAULT_CHECKPOINT_PERIOD_MS = 5 * 60 * 1000,
    DEFAULT_SLOW_READER_MS = 60 * 1000,
    SEGMENT_MOST = 16 << 20,
    SEGMENT_LEAST = 64 << 10,
    NAMES_MOST = 4,      /* that a message lists */
    SEGMENTS_BEYOND = 2, /* what a checkpoint's log may use more than it has bytes for */
    ALL_OPEN_FLAGS = SAP_OPEN_CREATE | SAP_OPEN_EXCLUSIVE | SAP_OPEN_RDONLY,
};

#define DEFAULT_CHECKPOINT_BYTES (UINT64_C(64) << 20)

/* ---- Options -------------------------------------------------------------------------------- */

OPTIONS_LAYOUT(SapOpenOptions, callback_ctx, durable_ctx);

static bool options_valid(const SapOpenOptions *options)
{
    unsigned flags = options->flags;
    if ((flags & ~(unsigned)ALL_OPEN_FLAGS) != 0 ||
        ((flags & SAP_OPEN_RDONLY) != 0 && (flags & ~SAP_OPEN_RDONLY) != 0) ||
        ((flags & SAP_OPEN_EXCLUSIVE) != 0 && (flags & SAP_OPEN_CREATE) == 0)) {
        return false;
    }
    return (options->page_size == 0 || file_page_size_valid(options->page_size)) &&
           (options->max_size == 0 || options->max_size >= 1 << 20) &&
           (unsigned)options->sync_mode <= SAP_SYNC_NONE &&
           (options->comparators != NULL || options->comparator_count == 0) &&
           (options->subsystems != NULL || options->subsystem_count == 0);
}

static int copy_orders(DbFile *file, const SapOpenOptions *options)
{
    uint32_t count = options->comparator_count;
    file->options.comparators = NULL;
    file->options.comparator = NULL;
    if (count == 0) {
        return SAP_OK;
    }
    file->orders = (NamedOrder *)mem_zalloc(MEM_ENV, count * sizeof *file->orders);
    if (file->orders == NULL) {
        return SAP_NOMEM;
    }
    file->order_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const SapComparator *from = &options->comparators[i];
        size_t len = from->name != NULL ? strlen(from->name) : 0;
        if (len == 0 || len >= sizeof file->orders[i].name || from->cmp == NULL ||
            dbfile_order_named(file, from->name, len) != NULL) {
            return dbfile_report(file, SAP_ERROR,
                                 "comparator %u of the options has no function, or no name of its "
                                 "own of 1 to %zu bytes",
                                 i, sizeof file->orders[i].name - 1);
        }
        memcpy(file->orders[i].name, from->name, len);
        file->orders[i].order = (KeyOrder){.cmp = from->cmp, .ctx = from->ctx};
    }
    return SAP_OK;
}

static void fill_defaults(SapOpenOptions *options)
{
    if (options->sync_period_ms == 0) {
        options->sync_period_ms = DEFAULT_SYNC_PERIOD_MS;
    }
    if (options->checkpoint_bytes == 0) {
        options->checkpoint_bytes = DEFAULT_CHECKPOINT_BYTES;
    }
    if (options->checkpoint_period_ms == 0) {
        options->checkpoint_period_ms = DEFAULT_CHECKPOINT_PERIOD_MS;
    }
    if (options->slow_reader_ms == 0) {
        options->slow_reader_ms = DEFAULT_SLOW_READER_MS;
    }
}

static bool locks_init(DbFile *file)
{
    if (!mutex_init(&file->checkpointing)) {
        return false;
    }
    if (!mutex_init(&file->lock)) {
        goto no_lock;
    }
    if (!cond_init(&file->changed)) {
        goto no_cond;
    }
    return true;
no_cond:
    mutex_destroy(&file->lock);
no_lock:
    mutex_destroy(&file->checkpointing);
    return false;
}

static char *copy_text(const char *text)
{
    return (char *)mem_copy(MEM_ENV, text, strlen(text) + 1);
}

/* The object with nothing open; release with dbfile_free(). */
static int dbfile_make(const char *path, const SapOpenOptions *options, DbFile **file_out)
{
    DbFile *file = (DbFile *)mem_zalloc(MEM_ENV, sizeof *file);
    if (file == NULL) {
        return SAP_NOMEM;
    }
    /* Log and lock lie beside the file itself, not beside a symbolic link to it. */
    char resolved[PATH_MAX];
    file->path = copy_text(disk_real_path(path, resolved));
    file->shown = copy_text(path);
    if (file->path == NULL || file->shown == NULL || !locks_init(file)) {
        dbfile_free_texts(file);
        mem_free(MEM_ENV, file, sizeof *file);
        return SAP_NOMEM;
    }
    file->owner = OWNER_NONE;
    file->data = DISK_FILE_NONE;
    file->options = *options;
    fill_defaults(&file->options);
    atomic_store_relaxed(&file->notified_lsn, UINT64_MAX); /* until dbfile_begin_notifying() */
    *file_out = file;
    return SAP_OK;
}

/* ---- The system's answers ------------------------------------------------------------------- */

int dbfile_report_errno(DbFile *file, int rc, const char *what)
{
    int err = errno;
    const char *advice = rc == SAP_FULL ? ": free some disk space and try again" : "";
    if (rc == SAP_NOMEM && err != EMFILE && err != ENFILE) {
        return dbfile_report(file, rc, "%s: out of memory", what);
    }
    if (rc == SAP_FULL && !disk_errno_full(err)) {
        return dbfile_report(file, rc, "%s: no room below max_size", what);
    }
    return dbfile_report(file, rc, "%s: %s%s", what, strerror(err), advice);
}

/* Whether there is a file with something in it; refuses what is no file. */
static int look_at_path(DbFile *file, bool *exists_out)
{
    struct stat st;
    int err = fault_io();
    if (err == 0 && stat(file->path, &st) != 0) {
        err = errno;
    }
    *exists_out = false;
    /* A regular file that is there now was made since: the look is repeated under the lock. */
    if (err == ENOENT && lstat(file->path, &st) == 0 && S_ISLNK(st.st_mode)) {
        return dbfile_report(file, SAP_NOTFOUND, "is a symbolic link to a file that is not there");
    }
    if (err == ENOENT) {
        return SAP_OK;
    }
    if (err != 0) {
        errno = err;
        return dbfile_report_errno(file, SAP_IO, "cannot look at it");
    }
    if (!S_ISREG(st.st_mode)) {
        return dbfile_report(file, SAP_IO, "%s, not a file",
                             S_ISDIR(st.st_mode) ? "is a directory" : "is something else");
    }
    *exists_out = st.st_size > 0;
    /* Nothing may be made beside what is not a database: a look before there is a lock. */
    int rc = *exists_out ? file_kind_check(file->path) : SAP_OK;
    if (rc == SAP_INVALID) {
        return dbfile_report(file, rc, "not a Sapling database");
    }
    return rc == SAP_OK || rc == SAP_NOTFOUND ? SAP_OK
                                              : dbfile_report_errno(file, rc, "cannot open it");
}

static int decide_what_to_do(DbFile *file, bool *create_out)
{
    unsigned flags = file->options.flags;
    bool exists = false;
    int rc = look_at_path(file, &exists);
    if (rc != SAP_OK) {
        return rc;
    }
    if (exists && (flags & SAP_OPEN_EXCLUSIVE) != 0) {
        return dbfile_report(file, SAP_EXISTS, "exists already, and was to be made");
    }
    if (!exists && (flags & SAP_OPEN_CREATE) == 0) {
        return dbfile_report(file, SAP_NOTFOUND,
                             "no such database; open with SAP_OPEN_CREATE to make it");
    }
    *create_out = !exists;
    return SAP_OK;
}

static int report_lock(DbFile *file, int rc)
{
    return dbfile_report(file, rc, "cannot open its lock file %s-lock: %s", file->path,
                         rc == SAP_NOMEM ? "out of memory" : strerror(errno));
}

static int take_ownership(DbFile *file)
{
    int64_t pid = 0;
    int rc =
        owner_lock(&file->owner, file->path, (file->options.flags & SAP_OPEN_RDONLY) != 0, &pid);
    if (rc == SAP_BUSY && pid != 0) {
        return dbfile_report(file, rc, "open already, by process %" PRId64, pid);
    }
    if (rc == SAP_BUSY) {
        return dbfile_report(file, rc, "open already, by a process that reads it");
    }
    if (rc == SAP_IO && errno == ENOENT) {
        return dbfile_report(file, SAP_NOTFOUND, "there is no such directory");
    }
    return rc == SAP_OK ? SAP_OK : report_lock(file, rc);
}

/* A log is made, renamed and removed beside the file. Where the system forbids that, nothing is begun:
 * a commit would fail, or leave what no one can remove. */
static int check_directory(DbFile *file)
{
    int rc = disk_check_names(file->path);
    return rc == SAP_OK
               ? SAP_OK
               : dbfile_report(file, rc,
                               "cannot make its log %s-wal.*: %s. Allow this user to write the "
                               "directory, or open the file to read it only",
                               file->path, rc == SAP_NOMEM ? "out of memory" : strerror(errno));
}

/* ---- Metas ---------------------------------------------------------------------------------- */

static int refuse_header(DbFile *file, MetaState best, uint32_t version)
{
    switch (best) {
    case META_OTHER_VERSION:
        return dbfile_report(
            file, SAP_INVALID,
            "has version %u of the file format; this library reads versions %u and "
            "%u",
            version, (unsigned)FILE_VERSION, (unsigned)FILE_VERSION_STATES);
    case META_OTHER_ORDER:
        return dbfile_report(file, SAP_INVALID,
                             "was written with another byte order than the format's");
    case META_DAMAGED:
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: none of the four copies of its header is intact");
    default:
        return dbfile_report(file, SAP_INVALID, "not a Sapling database");
    }
}

/* The newest meta that has an intact copy. */
static int read_metas(DbFile *file)
{
    uint8_t block[META_SIZE];
    MetaState best = META_FOREIGN;
    uint32_t version = 0;
    uint64_t size = 0;
    uint64_t closed[2] = {0}; /* numbers of closed metas, by their place */
    int rc = disk_size(&file->data, &size);
    for (uint64_t at = 0; at < FILE_HEADER && rc == SAP_OK && size >= at + META_SIZE;
         at += FILE_BLOCK) {
        Meta meta;
        rc = disk_read(&file->data, at, block, sizeof block);
        MetaState state = rc == SAP_OK ? meta_decode(block, &meta, &version) : META_FOREIGN;
        best = state > best ? state : best;
        if (state == META_VALID && meta.closed) {
            closed[meta.number % 2] = meta.number;
        }
        if (state == META_VALID && meta.number > file->meta.number) {
            file->meta = meta;
        }
    }
    if (rc != SAP_OK) {
        return dbfile_report_errno(file, rc == SAP_CORRUPT ? SAP_IO : rc, "cannot read it");
    }
    if (best != META_VALID) {
        return refuse_header(file, best, version);
    }
    uint32_t wanted = file->options.page_size;
    if (wanted != 0 && wanted != file->meta.page_size) {
        return dbfile_report(file, SAP_ERROR, "has pages of %u bytes, not of %u",
                             file->meta.page_size, wanted);
    }
    if (size < (uint64_t)file->meta.high * file->meta.page_size) {
        return dbfile_report(file, SAP_CORRUPT,
                             "truncated: %" PRIu64 " bytes, of at least %" PRIu64 " that it had",
                             size, (uint64_t)file->meta.high * file->meta.page_size);
    }
    file->db_id = file->meta.db_id;
    uint64_t before = file->meta.number - 1;
    file->meta_doubtful = file->meta.closed && before > 0 && closed[before % 2] == before;
    return SAP_OK;
}

/* ---- The log -------------------------------------------------------------------------------- */

int dbfile_find_log(const char *path, Buf *name_out, uint64_t *id_out)
{
    Buf numbers = {0};
    int rc = wal_segments(path, &numbers);
    for (size_t i = 0; rc == SAP_OK && i < numbers.len / sizeof(uint64_t); i++) {
        uint8_t header[WAL_GROUP_HEADER];
        WalGroup group;
        DiskFile segment = DISK_FILE_NONE;
        rc = wal_segment_name(name_out, path, ((const uint64_t *)numbers.data)[i]);
        if (rc == SAP_OK) {
            rc = disk_open_read((const char *)name_out->data, &segment);
        }
        if (rc == SAP_OK && disk_read(&segment, 0, header, sizeof header) == SAP_OK &&
            wal_group_decode(header, &group) == SAP_OK) {
            *id_out = group.db_id;
            rc = SAP_EXISTS;
        }
        disk_close(&segment);
    }
    buf_release(&numbers);
    return rc;
}

/* Adds the names of all segments, for a message; of many only the first and the last. */
static int list_segments(const DbFile *file, Buf *text)
{
    Buf numbers = {0};
    Buf name = {0};
    int rc = wal_segments(file->path, &numbers);
    size_t count = numbers.len / sizeof(uint64_t);
    for (size_t i = 0; rc == SAP_OK && i < count; i++) {
        if (count > NAMES_MOST && i > 0 && i + 1 < count) {
            continue;
        }
        rc = wal_segment_name(&name, file->path, ((const uint64_t *)numbers.data)[i]);
        const char *link = i == 0 ? "" : count > NAMES_MOST ? " to " : ", ";
        rc = rc == SAP_OK ? buf_printf(text, "%s%s", link, (const char *)name.data) : rc;
    }
    rc = rc == SAP_OK ? buf_append_u8(text, 0) : rc;
    buf_release(&name);
    buf_release(&numbers);
    return rc;
}

/* Reports that a log is there which is not to be used, and not to be thrown away. Only what is this
 * file's own is something to recover from. */
static int refuse_segments(DbFile *file, const char *what, bool own)
{
    Buf names = {0};
    int rc = list_segments(file, &names);
    if (rc == SAP_OK) {
        (void)dbfile_report(file, own ? SAP_CORRUPT : SAP_OK, "%s: %s", what,
                            (const char *)names.data);
        rc = SAP_CORRUPT;
    }
    buf_release(&names);
    return rc;
}

/* Reports `what` of a segment, which is named, with the system's words for errno. Returns rc. */
static int report_segment(DbFile *file, int rc, const char *what, uint64_t number)
{
    int err = errno;
    Buf name = {0};
    Buf text = {0};
    bool named = wal_segment_name(&name, file->path, number) == SAP_OK &&
                 buf_printf(&text, "%s %s", what, (const char *)name.data) == SAP_OK &&
                 buf_append_u8(&text, 0) == SAP_OK;
    errno = err;
    (void)dbfile_report_errno(file, rc, named ? (const char *)text.data : what);
    buf_release(&name);
    buf_release(&text);
    return rc;
}

/* The log of a database whose data file is gone is not to be thrown away. */
static int refuse_orphans(DbFile *file)
{
    Buf name = {0};
    uint64_t id = 0;
    int rc = dbfile_find_log(file->path, &name, &id);
    if (rc == SAP_EXISTS) {
        rc = refuse_segments(file,
                             "its data file is missing, but its log is there. Restore the data "
                             "file, or remove the log to begin with an empty database",
                             false);
    } else if (rc == SAP_IO || rc == SAP_FULL) {
        rc = dbfile_report_errno(file, rc, "cannot look for its log");
    }
    buf_release(&name);
    return rc;
}

/* What lies beside a closed file may be left from before it was closed, and hold nothing. Commits
 * since then follow another header, which is not there; they are not to be lost without a word. */
static int check_leftovers(DbFile *file, WalRecovery *log)
{
    int rc = wal_check_closed(file->path, file->db_id, &file->meta.wal, log);
    log->last_lsn = file->meta.txnid;
    if (rc == SAP_CORRUPT && log->end == WAL_END_FOREIGN) {
        return refuse_segments(file,
                               "it is complete without a log, but the log of another database is "
                               "there. Restore the data file that it belongs to, or remove it",
                               false);
    }
    if (rc == SAP_CORRUPT) {
        return refuse_segments(file,
                               "its log holds commits that are newer than its header. The newest "
                               "header is damaged, or an older copy of the file was put in its "
                               "place; to go on without those commits, remove the log",
                               true);
    }
    return rc == SAP_OK ? SAP_OK : dbfile_report_errno(file, rc, "cannot look for its log");
}

typedef struct Replay {
    DbFile *file;
    SapTxnCtx *txn;
    uint64_t last_lsn; /* 0: nothing yet */
    bool barrier;      /* a bulk commit that no checkpoint holds: the rest is cut off */
} Replay;

static int replay_define(void *ctx, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name)
{
    return definition_replay(((Replay *)ctx)->txn, dbi, flags, key_name, val_name);
}

static int replay_subsystem(void *ctx, uint32_t id, Slice bytes)
{
    Replay *replay = (Replay *)ctx;
    return dbfile_apply_state(replay->file, id, bytes, &replay->txn->subsystem[id]);
}

static int replay_record(void *ctx, uint64_t lsn, Slice record)
{
    Replay *replay = (Replay *)ctx;
    if (replay->barrier || effects_is_barrier(record)) {
        replay->barrier = true;
        return SAP_OK;
    }
    const EffectCalls calls = {
        .define = replay_define, .subsystem = replay_subsystem, .ctx = replay};
    int rc = effects_apply(replay->txn, record, &calls);
    if (rc == SAP_CORRUPT) {
        return dbfile_report(replay->file, rc,
                             "damaged: commit %" PRIu64 " of the log does not fit the data", lsn);
    }
    replay->last_lsn = rc == SAP_OK ? lsn : replay->last_lsn;
    return rc;
}

/* A file that was not closed and has no log at all was most likely moved or copied without it. */
static int refuse_missing_log(DbFile *file, const WalRecovery *log)
{
    return dbfile_report(file, SAP_CORRUPT,
                         "it was not closed, and its log is missing, from segment %" PRIu64
                         " on: how many commits are in that cannot be known. If the file was moved "
                         "or copied, its log OLDNAME-wal.* probably still lies beside its former "
                         "name: rename it to %s-wal.* and open the file again, before you try "
                         "anything else",
                         log->segment, file->path);
}

static int refuse_log(DbFile *file, const WalRecovery *log)
{
    if (log->end == WAL_END_MISSING && log->files == 0) {
        return refuse_missing_log(file, log);
    }
    if (log->lost_groups == 0) {
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: the log in segment %" PRIu64 " at byte %" PRIu64
                             ": %s. %" PRIu64
                             " commits before that are intact; how many were behind "
                             "it cannot be known",
                             log->segment, log->offset, wal_end_text(log->end), log->records);
    }
    return dbfile_report(file, SAP_CORRUPT,
                         "damaged: the log in segment %" PRIu64 " at byte %" PRIu64 ": %s. %" PRIu64
                         " commits before that are intact; %" PRIu64 " commits in %" PRIu64
                         " groups behind it would be lost by going on without "
                         "them",
                         log->segment, log->offset, wal_end_text(log->end), log->records,
                         log->lost_records, log->lost_groups);
}

/* Who only reads builds nothing on the log, and syncs nothing. */
static int scan_log(DbFile *file, int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx,
                    WalRecovery *log)
{
    bool read_only = (file->options.flags & SAP_OPEN_RDONLY) != 0;
    return (read_only ? wal_read : wal_recover)(file->path, file->db_id, &file->meta.wal,
                                                file->meta.txnid, on_record, ctx, log);
}

/* Reads the log without a look at what the records say: whether it is whole, and how much there is. */
static int read_log(DbFile *file, WalRecovery *log)
{
    log->segment = file->meta.wal.segment;
    if (file->meta.closed) {
        return check_leftovers(file, log);
    }
    int rc = scan_log(file, NULL, NULL, log);
    if (rc == SAP_CORRUPT) {
        return refuse_log(file, log);
    }
    if (rc == SAP_OK && log->last_lsn > INT64_MAX) {
        return dbfile_report(file, SAP_CORRUPT,
                             "damaged: the log has commit %" PRIu64 ", which cannot be",
                             log->last_lsn);
    }
    return rc == SAP_OK ? SAP_OK : report_segment(file, rc, "cannot read its log", log->segment);
}

/* A log that was found to be whole: only now is anything changed. */
static int replay_log(DbFile *file, WalRecovery *log, Replay *replay)
{
    int rc = replay_begin(file->env, &replay->txn);
    if (rc != SAP_OK) {
        return rc;
    }
    errno = 0;
    rc = scan_log(file, replay_record, replay, log);
    if (rc == SAP_FULL || rc == SAP_IO) {
        rc = dbfile_report_errno(file, rc, "cannot replay its log");
    }
    int end = replay_end(replay->txn, rc == SAP_OK ? replay->last_lsn : 0);
    return rc == SAP_OK ? end : rc;
}

static uint64_t segment_bytes(const DbFile *file)
{
    uint64_t quarter = file->options.checkpoint_bytes / 4;
    quarter = quarter < SEGMENT_LEAST ? SEGMENT_LEAST : quarter;
    quarter = quarter > SEGMENT_MOST ? SEGMENT_MOST : quarter;
    return quarter / FILE_BLOCK * FILE_BLOCK;
}

/* As many as the log of one checkpoint fills: then none is removed only to be made again. */
static uint32_t spare_segments(const DbFile *file)
{
    return (uint32_t)(file->options.checkpoint_bytes / segment_bytes(file)) + SEGMENTS_BEYOND;
}

static int open_log(DbFile *file, const WalPoint *start, uint64_t after_lsn)
{
    WalOptions options = {
        .segment_bytes = segment_bytes(file),
        /* Where commits do not wait for the disk, the open group may become as large as a segment:
         * a small one would make them wait. */
        .first_bytes = file->options.sync_mode == SAP_SYNC_COMMIT ? SEGMENT_LEAST : 0,
        .spare_max = spare_segments(file),
        .recovered = !file->meta.closed,
        .lazy = file->meta.closed,
        .owns_name = dbfile_owns_name,
        .is_reachable = dbfile_is_reachable,
        .on_closed = dbfile_on_closed,
        .on_synced = dbfile_on_synced,
        .hook_ctx = file,
    };
    int rc = wal_open(&file->wal, file->path, file->db_id, start, after_lsn, &options);
    return rc == SAP_OK ? SAP_OK : report_segment(file, rc, "cannot make its log", start->segment);
}

/* The log was replayed, as far as there was one: what it led to is the newest version, and durable. */
static void show_replayed(DbFile *file, const WalRecovery *log, const Replay *replay)
{
    if (log->end == WAL_END_TORN) {
        (void)dbfile_report(file, SAP_OK,
                            "the last group of the log was not completely written and was cut off; "
                            "no commit in it was acknowledged");
    }
    if (replay->barrier) {
        (void)dbfile_report(
            file, SAP_OK,
            "a bulk transaction had not reached the disk; it and the commits behind "
            "it, none acknowledged, were cut off");
    }
    Version newest;
    version_get(&file->env->newest, &newest);
    newest.catalog = file->env->catalog.tree.root;
    dbfile_start_at(file, &newest);
}

/* Replays what the log has after the newest meta, and starts a new log after that. */
static int recover(DbFile *file)
{
    WalRecovery log = {0};
    Replay replay = {.file = file};
    int rc = read_log(file, &log);
    /* A process that died, or whose sync failed, may have left a header that is not on disk, and that
     * another sync would not bring there. What it does without is used again from here on. A closed
     * one without a segment beside it is on disk: they are removed only then. But one that follows
     * another closed one had no segments (invariant 5). */
    if (rc == SAP_OK && (!file->meta.closed || log.files > 0 || file->meta_doubtful)) {
        rc = checkpoint_write_meta(file, &file->meta);
        rc = rc == SAP_OK ? SAP_OK : dbfile_report_errno(file, rc, "cannot write its header");
    }
    if (rc == SAP_OK && log.records > 0) {
        rc = replay_log(file, &log, &replay);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    bool cut = log.end == WAL_END_TORN || replay.barrier;
    show_replayed(file, &log, &replay);
    Version newest;
    version_get(&file->env->newest, &newest);
    /* What is cut off keeps its numbers to itself: nothing new may be taken for it. */
    uint64_t after = log.last_lsn > newest.txnid ? log.last_lsn : newest.txnid;
    file->env->stamp = after;
    if (file->meta.closed) {
        /* A chain of its own: the logs of two copies of the file are not taken for each other's. */
        rc = dbfile_new_id(file, &file->meta.wal.chain);
        log.next = file->meta.wal;
        file->sealed = true;
    }
    rc = rc == SAP_OK ? open_log(file, &log.next, after) : rc;
    /* A log with effects of subsystems follows only a header that says so. */
    bool other_version = subsystems_any(file->env) && !file->meta.has_subsystems;
    if (rc == SAP_OK && !file->sealed &&
        (log.records > 0 || cut || other_version || log.next.segment != file->meta.wal.segment ||
         !wal_has_segment(file->wal))) {
        errno = 0;
        rc = checkpoint_run(file, CHECKPOINT_FORCED, 0);
        rc = rc == SAP_FULL ? dbfile_report_errno(file, rc, "cannot write a checkpoint") : rc;
    }
    return rc;
}

/* Read-only: the log is replayed into memory that is never written. */
static int recover_in_memory(DbFile *file)
{
    WalRecovery log = {0};
    Replay replay = {.file = file};
    int rc = read_log(file, &log);
    if (rc != SAP_OK || log.records == 0) {
        return rc;
    }
    rc = arena_file_begin_copying(file->env->arena);
    if (rc == SAP_OK) {
        rc = replay_log(file, &log, &replay);
    }
    if (rc == SAP_OK) {
        rc = arena_file_end_copying(file->env->arena);
    }
    if (rc == SAP_OK) {
        show_replayed(file, &log, &replay);
    }
    return rc;
}

/* ---- Making a file -------------------------------------------------------------------------- */

/* A data file with nothing in it, under another name until it is complete. */
static int create_files(DbFile *file, const char *unfinished)
{
    uint32_t page_size = file->options.page_size != 0 ? file->options.page_size : DEFAULT_PAGE_SIZE;
    Meta meta = {.page_size = page_size,
                 .number = 1,
                 .txnid = ENV_FIRST_COMMIT,
                 .high = file_first_page(page_size),
                 .closed = true,
                 .wal = WAL_POINT_FIRST};
    int rc = dbfile_new_id(file, &meta.db_id);
    if (rc == SAP_OK) {
        rc = disk_unlink(unfinished);
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (rc == SAP_OK) {
        rc = disk_create(unfinished, &file->data);
    }
    if (rc == SAP_OK) {
        rc = disk_write_zeros(&file->data, 0, (uint64_t)meta.high * page_size);
    }
    if (rc == SAP_OK) {
        rc = checkpoint_write_meta(file, &meta);
    }
    return rc == SAP_OK
               ? SAP_OK
               : dbfile_report_errno(file, rc == SAP_NOTFOUND ? SAP_IO : rc, "cannot make it");
}

void dbfile_remove(const DbFile *file, const char *data)
{
    Buf numbers = {0};
    Buf name = {0};
    (void)disk_unlink(data);
    if (wal_segments(file->path, &numbers) == SAP_OK) {
        for (size_t i = 0; i < numbers.len / sizeof(uint64_t); i++) {
            if (wal_segment_name(&name, file->path, ((const uint64_t *)numbers.data)[i]) ==
                SAP_OK) {
                (void)disk_unlink((const char *)name.data);
            }
        }
    }
    buf_release(&name);
    buf_release(&numbers);
}

static int create(DbFile *file)
{
    Buf name = {0};
    int rc = refuse_orphans(file);
    if (rc != SAP_OK) {
        return rc;
    }
    rc = buf_printf(&name, "%s-new", file->path);
    if (rc == SAP_OK) {
        rc = buf_append_u8(&name, 0);
    }
    if (rc != SAP_OK) {
        buf_release(&name);
        return rc;
    }
    const char *data = (const char *)name.data;
    rc = create_files(file, data);
    disk_close(&file->data);
    if (rc == SAP_OK) {
        rc = disk_rename(data, file->path);
        if (rc == SAP_OK) {
            data = file->path;
            rc = disk_sync_dir(data);
        }
        rc = rc == SAP_OK ? SAP_OK : dbfile_report_errno(file, rc, "cannot make it");
    }
    if (rc != SAP_OK) {
        dbfile_remove(file, data);
    }
    buf_release(&name);
    return rc;
}

/* ---- The call ------------------------------------------------------------------------------- */

/* In a file without a commit, which is one made now, DBI 0 is in byte order so far. */
static int set_first_order(DbFile *file, const char *comparator)
{
    Version newest;
    version_get(&file->env->newest, &newest);
    if (comparator == NULL || newest.txnid != ENV_FIRST_COMMIT) {
        return SAP_OK;
    }
    const NamedOrder *named = dbfile_order_named(file, comparator, strlen(comparator));
    TableDef def = {.keys = named->order, .key_name = named->name};
    return definition_change(file->env, 0, &def, false);
}

static int open_files(DbFile *file, const char *comparator)
{
    bool read_only = (file->options.flags & SAP_OPEN_RDONLY) != 0;
    bool made = false;
    int rc = decide_what_to_do(file, &made);
    if (rc == SAP_OK) {
        rc = take_ownership(file);
    }
    if (rc == SAP_OK) {
        rc = decide_what_to_do(file, &made); /* again: until now another could have made it */
    }
    if (rc == SAP_OK && !read_only) {
        rc = check_directory(file);
    }
    if (rc == SAP_OK && made) {
        rc = create(file);
        file->made = rc == SAP_OK;
    }
    if (rc != SAP_OK) {
        return rc;
    }
    rc = read_only ? disk_open_read(file->path, &file->data) : disk_open(file->path, &file->data);
    if (rc != SAP_OK) {
        return dbfile_report_errno(file, rc == SAP_NOTFOUND ? SAP_IO : rc, "cannot open it");
    }
    rc = owner_enter(&file->owner, file->data.fd);
    if (rc != SAP_OK) {
        return dbfile_report(file, rc, "open already, under this name or another");
    }
    rc = read_metas(file);
    if (rc == SAP_OK) {
        rc = dbfile_make_env(file);
    }
    if (rc == SAP_OK) {
        rc = read_only ? recover_in_memory(file) : recover(file);
    }
    if (rc == SAP_OK && !read_only) {
        rc = dbfile_start(file);
    }
    if (rc == SAP_OK && !read_only) {
        rc = set_first_order(file, comparator);
    }
    return rc;
}

static int open_path(const char *path, const SapOpenOptions *options, SapEnv **db_out)
{
    DbFile *file = NULL;
    int rc = owner_watch_forks();
    if (rc == SAP_OK) {
        rc = dbfile_make(path, options, &file);
    }
    if (rc != SAP_OK) {
        open_error_set_code(path, rc);
        return rc;
    }
    rc = copy_orders(file, options);
    if (rc == SAP_OK) {
        rc = dbfile_check_subsystems(file, options);
    }
    if (rc == SAP_OK && options->comparator != NULL &&
        dbfile_order_named(file, options->comparator, strlen(options->comparator)) == NULL) {
        rc = dbfile_report(file, SAP_ERROR, "the options have no comparator \"%s\"",
                           options->comparator);
    }
    if (rc == SAP_OK) {
        rc = open_files(file, options->comparator);
    }
    file->options.subsystems = NULL; /* the environment has them */
    if (rc == SAP_OK) {
        open_error_clear();
        dbfile_begin_notifying(file);
        *db_out = file->env;
        return SAP_OK;
    }
    if (!atomic_load_relaxed(&file->told)) {
        (void)dbfile_report(file, rc, "cannot be opened: %s", sap_strerror(rc));
    }
    open_error_set_code(path, rc);
    atomic_store_full(&file->failed, true); /* so that closing it writes nothing */
    if (file->made) {
        dbfile_remove(file, file->path);
    }
    if (file->env != NULL) {
        (void)sap_env_destroy(file->env);
    } else {
        dbfile_free(file);
    }
    return rc;
}

int sap_db_open_path(const char *path, const SapOpenOptions *options, SapEnv **db_out)
{
    static const SapOpenOptions defaults = {.flags = SAP_OPEN_CREATE};
    SapOpenOptions known;
    if (path == NULL || path[0] == 0 || db_out == NULL ||
        OPTIONS_READ(SapOpenOptions, &known, options != NULL ? options : &defaults) != SAP_OK ||
        !options_valid(&known)) {
        open_error_set("the path is missing or empty, or the options do not fit together");
        return SAP_ERROR;
    }
    open_error_clear();
    bool listening = open_error_listen(true);
    int rc = open_path(path, &known, db_out);
    (void)open_error_listen(listening);
    return rc;
}
