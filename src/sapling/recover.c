/* recover.c - a new database from what can be read of a damaged one: the call, the target, the log.
 *
 * The target is built under another name, TARGET-recovering, as a database like any other. When it is
 * closed and so on disk, its log is renamed, then its data file: TARGET is there when it is whole,
 * or not at all. What a crash left behind is removed by the next attempt. */
#include "sapling/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/fault.h"
#include "common/fd.h"
#include "common/mem.h"
#include "common/options.h"
#include "sapling/effects.h"
#include "sapling/wal_format.h"

enum { TARGET_CHECKPOINT_BYTES = 256 * 1024 }; /* small segments: its log stays empty */

#define UNFINISHED "-recovering"

/* ---- Telling -------------------------------------------------------------------------------- */

int recover_tell(Recover *r, int rc, const char *format, ...)
{
    r->told = true;
    if (r->options.on_message == NULL) {
        return rc;
    }
    char text[1024];
    int at = snprintf(text, sizeof text, "%s: ", r->shown);
    if (at > 0 && (size_t)at < sizeof text) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(text + at, sizeof text - (size_t)at, format, args);
        va_end(args);
    }
    r->options.on_message(text, r->options.callback_ctx);
    return rc;
}

int recover_progress(Recover *r, uint64_t more)
{
    r->done += more;
    return r->options.on_progress == NULL
               ? SAP_OK
               : r->options.on_progress(r->done, r->options.callback_ctx);
}

static int tell_errno(Recover *r, int rc, const char *what)
{
    int err = errno;
    return rc == SAP_NOMEM || rc == SAP_OK
               ? rc
               : recover_tell(r, rc, "%s: %s", what,
                              rc == SAP_IO || rc == SAP_FULL ? strerror(err) : sap_strerror(rc));
}

/* ---- The source ----------------------------------------------------------------------------- */

static int open_source(Recover *r, Owner *owner, const char *path)
{
    int64_t pid = 0;
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { /* opening a pipe would wait */
        return recover_tell(r, SAP_IO, "is %s, not a file",
                            S_ISDIR(st.st_mode) ? "a directory" : "something else");
    }
    int rc = disk_open_read(path, &r->source.file);
    if (rc == SAP_NOTFOUND) {
        return recover_tell(r, rc, "no such database");
    }
    if (rc == SAP_OK) {
        rc = owner_lock(owner, path, true, &pid);
    }
    if (rc == SAP_OK) {
        rc = owner_enter(owner, r->source.file.fd);
    }
    if (rc == SAP_BUSY) {
        return pid != 0 ? recover_tell(r, rc, "open, by process %" PRId64 ": close it first", pid)
                        : recover_tell(r, rc, "open: close it first");
    }
    rc = rc == SAP_OK ? salvage_begin(&r->source, path) : rc;
    if (rc == SAP_INVALID) {
        return recover_tell(r, rc, "nothing of it looks like a Sapling database of this version");
    }
    return tell_errno(r, rc, "cannot read it");
}

/* ---- The states of subsystems --------------------------------------------------------------- */

static int lose_state(Recover *r, uint32_t id, const char *why)
{
    uint32_t bit = 1u << id;
    if ((r->states_lost & bit) != 0) {
        return SAP_OK;
    }
    r->states_lost |= bit;
    r->report.subsystems_lost++;
    return recover_tell(r, SAP_OK, "the state of subsystem %u is lost: %s", id, why);
}

/* Changes go on top of what there was: where that is not known, they are lost too. */
static int recover_state(void *ctx, uint32_t id, Slice bytes)
{
    Recover *r = (Recover *)ctx;
    if (!r->states_known) {
        return lose_state(r, id, "what it was in the data file cannot be read");
    }
    if (!subsystem_known(r->env, id)) {
        return lose_state(r, id, "the options do not have that subsystem");
    }
    if ((r->states_lost & 1u << id) != 0) {
        return SAP_OK;
    }
    int rc = subsystem_apply(r->env, id, bytes, &r->txn->subsystem[id]);
    return rc == SAP_CORRUPT
               ? lose_state(r, id, "it refused a change; what it was before is in the target")
               : rc;
}

/* The bytes of the run, one state behind the other. SAP_CORRUPT: they are not. */
static int recover_saved(Recover *r, const Buf *run)
{
    ByteReader reader;
    uint32_t id = 0;
    Slice bytes = {0};
    int rc = page_flags(run->data) == ENV_STATES ? SAP_OK : SAP_CORRUPT;
    reader_init(&reader, run->data + PAGE_HEADER, run->len - PAGE_HEADER);
    while (rc == SAP_OK) {
        rc = saved_state_take(&reader, &id, &bytes);
        if (rc == SAP_OK) {
            rc = recover_state(r, id, bytes);
        }
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* Which subsystems had a state there, nobody knows: any may have. */
static void count_states_lost(Recover *r)
{
    r->states_known = false;
    for (uint32_t id = 0; id < SAP_MAX_SUBSYSTEMS; id++) {
        if (subsystem_known(r->env, id) && (r->states_lost & 1u << id) == 0) {
            r->states_lost |= 1u << id;
            r->report.subsystems_lost++;
        }
    }
    r->report.subsystems_lost += r->report.subsystems_lost == 0 ? 1 : 0;
}

/* Without a meta, a run that is not found may be one that never was; only a file that shows no trace
 * of any, and a caller who knows of no subsystem, make that sure enough. */
static int miss_states(Recover *r)
{
    if (r->source.has_meta || (!r->source.had_states && !subsystems_any(r->env))) {
        return SAP_OK;
    }
    count_states_lost(r);
    return recover_tell(r, SAP_OK,
                        "the states of subsystems, if there were any, are lost: no intact header "
                        "says where they are");
}

static int recover_states(Recover *r)
{
    Salvage *source = &r->source;
    r->states_known = source->has_meta || source->states != 0;
    if (source->states == 0) {
        return miss_states(r);
    }
    Buf run = {0};
    const char *damage = NULL;
    int rc = salvage_run(source, source->states, &run, &damage);
    if (rc == SAP_OK && damage == NULL) {
        rc = recover_saved(r, &run);
        damage = rc == SAP_CORRUPT ? "has something else" : NULL;
        rc = rc == SAP_CORRUPT ? SAP_OK : rc;
    }
    buf_release(&run);
    if (rc != SAP_OK || damage == NULL) {
        return rc;
    }
    count_states_lost(r);
    r->report.pages_damaged++;
    return recover_tell(r, SAP_OK, "the states of all subsystems are lost: page %u %s",
                        source->states, damage);
}

/* ---- The log -------------------------------------------------------------------------------- */

static int replay_define(void *ctx, uint32_t dbi, unsigned flags, Slice key_name, Slice val_name)
{
    Recover *r = (Recover *)ctx;
    int rc = recover_define(r, dbi, flags, key_name, val_name);
    return rc == SAP_ERROR ? recover_refuse(r, dbi) : rc;
}

static int replay_record(void *ctx, uint64_t lsn, Slice record)
{
    Recover *r = (Recover *)ctx;
    if (!r->source.has_meta && r->source.newest != UINT64_MAX && lsn <= r->source.newest) {
        return SAP_OK; /* the checkpoint has it */
    }
    r->last_seen_lsn = lsn;
    if (r->stopped) {
        r->behind_stop++;
        return SAP_OK;
    }
    const EffectCalls calls = {.define = replay_define, .subsystem = recover_state, .ctx = r};
    int rc = effects_is_barrier(record) ? SAP_CORRUPT
                                        : effects_apply_some(r->txn, record, &calls, &r->dropped);
    if (rc == SAP_CORRUPT) {
        r->stopped = true;
        r->stop_lsn = lsn;
        if (!effects_is_barrier(record)) {
            r->behind_stop++;
            return recover_tell(r, SAP_OK, "commit %" PRIu64 " of the log is not made of effects",
                                lsn);
        }
        return recover_tell(r, SAP_OK,
                            "commit %" PRIu64 " of the log is a bulk transaction that had not "
                            "reached the data file; it and the commits behind it are cut off",
                            lsn);
    }
    r->report.commits_replayed += rc == SAP_OK ? 1 : 0;
    return rc == SAP_OK ? recover_progress(r, 1) : rc;
}

static void note_lost_commits(Recover *r, uint64_t commits, uint64_t first, uint64_t last)
{
    SapRecoverReport *report = &r->report;
    if (commits > 0) {
        report->commits_lost += commits;
        report->first_lost_lsn = report->first_lost_lsn == 0 ? first : report->first_lost_lsn;
        report->last_lost_lsn = last > report->first_lost_lsn ? last : report->first_lost_lsn;
    }
}

/* The groups that should lie between the end of what was read and the first valid one behind it have
 * a commit each, at least. Where none is behind it and the log does not end as a crash ends it, how
 * many there were is not known: one stands for them. */
static void judge_log(Recover *r, const WalRecovery *log)
{
    uint64_t commits = log->lost_records;
    if (log->lost_groups > 0) {
        commits += log->lost_first_sequence - log->next.sequence;
    } else if (log->end > WAL_END_TORN) {
        commits = 1;
    }
    note_lost_commits(r, r->behind_stop, r->stop_lsn, r->last_seen_lsn);
    note_lost_commits(r, commits, log->last_lsn + 1, log->lost_last_lsn);
    if (log->end == WAL_END_TORN) {
        (void)recover_tell(
            r, SAP_OK,
            "the last group of the log, in segment %" PRIu64 " at byte %" PRIu64
            ", is not complete and was cut off. If that is not from a crash, commits "
            "behind %" PRIu64 " are lost",
            log->segment, log->offset, log->last_lsn);
    } else if (log->end != WAL_END_CLEAN && log->lost_groups == 0) {
        (void)recover_tell(
            r, SAP_OK,
            "the log in segment %" PRIu64 " at byte %" PRIu64 ": %s. %" PRIu64
            " commits before that were made again. All behind it are lost; how many there were "
            "cannot be known",
            log->segment, log->offset, wal_end_text(log->end), r->report.commits_replayed);
    } else if (log->end != WAL_END_CLEAN) {
        (void)recover_tell(
            r, SAP_OK,
            "the log in segment %" PRIu64 " at byte %" PRIu64 ": %s. %" PRIu64
            " commits before that were made again, at least %" PRIu64 " behind it are lost",
            log->segment, log->offset, wal_end_text(log->end), r->report.commits_replayed, commits);
    }
    if (r->dropped > 0) {
        (void)recover_tell(r, SAP_OK,
                           "%" PRIu64 " rows of the log are left out: their tables could not be "
                           "opened",
                           r->dropped);
    }
}

/* Whether something may be in a log: the header of a closed file says that it has none, but one that
 * was written since may have been lost. */
static int may_have_log(const Salvage *source, bool *may_out)
{
    WalRecovery log = {0};
    *may_out = true;
    if (!source->has_meta || !source->meta.closed) {
        return SAP_OK;
    }
    int rc = wal_check_closed(source->path, source->db_id, &source->meta.wal, &log);
    *may_out = rc == SAP_CORRUPT && log.end == WAL_END_DAMAGED;
    return rc == SAP_CORRUPT ? SAP_OK : rc;
}

/* A file without an intact header and without a segment was most likely closed. */
static int is_log_gone(const Salvage *source, bool *gone_out)
{
    Buf numbers = {0};
    int rc = source->has_meta ? SAP_OK : wal_segments(source->path, &numbers);
    *gone_out = !source->has_meta && numbers.len == 0;
    buf_release(&numbers);
    return rc;
}

static int replay_log(Recover *r)
{
    const Salvage *source = &r->source;
    WalPoint from = source->meta.wal;
    WalRecovery log = {0};
    bool guess = !source->has_meta || source->meta.closed;
    bool may_have = false;
    bool gone = false;
    int rc = may_have_log(source, &may_have);
    if (rc == SAP_OK && !may_have) {
        return SAP_OK;
    }
    if (rc == SAP_OK) {
        rc = is_log_gone(source, &gone);
    }
    if (rc == SAP_OK && gone) {
        (void)recover_tell(r, SAP_OK,
                           "there is no log. A file that was closed needs none; if this one was "
                           "not, commits are lost with its log");
        return SAP_OK;
    }
    if (rc == SAP_OK && guess) {
        rc = wal_guess_start(source->path, source->db_id, source->has_meta ? from.segment : 0,
                             &from);
    }
    if (rc == SAP_OK) {
        rc = wal_read(source->path, source->db_id, &from, source->has_meta ? source->newest : 0,
                      replay_record, r, &log);
    }
    if (rc != SAP_OK && rc != SAP_CORRUPT) {
        return tell_errno(r, rc, "cannot read its log");
    }
    judge_log(r, &log);
    return SAP_OK;
}

/* ---- The target ----------------------------------------------------------------------------- */

typedef struct Target {
    const char *path;
    char *unfinished; /* PATH-recovering */
    size_t unfinished_size;
    Owner owner;
    bool begun; /* there may be files of it */
} Target;

static int exists(const char *path, bool *exists_out)
{
    DiskFile file = DISK_FILE_NONE;
    int rc = disk_open_read(path, &file);
    disk_close(&file);
    *exists_out = rc == SAP_OK;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int has_log(const char *path, bool *has_out)
{
    Buf numbers = {0};
    int rc = wal_segments(path, &numbers);
    *has_out = numbers.len > 0;
    buf_release(&numbers);
    return rc;
}

static int unlink_if_there(const char *path)
{
    int rc = disk_unlink(path);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int unlink_beside(const char *path, const char *suffix)
{
    Buf name = {0};
    int rc = buf_printf(&name, "%s%s", path, suffix);
    if (rc == SAP_OK) {
        rc = buf_append_u8(&name, 0);
    }
    if (rc == SAP_OK) {
        rc = unlink_if_there((const char *)name.data);
    }
    buf_release(&name);
    return rc;
}

/* Renames the log of `from` to that of `to`, or with to NULL removes it. */
static int move_log(const char *from, const char *to)
{
    Buf numbers = {0};
    Buf name = {0};
    Buf new_name = {0};
    int rc = wal_segments(from, &numbers);
    for (size_t i = 0; rc == SAP_OK && i < numbers.len / sizeof(uint64_t); i++) {
        uint64_t number = 0;
        memcpy(&number, numbers.data + i * sizeof number, sizeof number);
        rc = wal_segment_name(&name, from, number);
        if (rc == SAP_OK && to != NULL) {
            rc = wal_segment_name(&new_name, to, number);
        }
        if (rc == SAP_OK) {
            rc = to != NULL ? disk_rename((const char *)name.data, (const char *)new_name.data)
                            : disk_unlink((const char *)name.data);
        }
    }
    buf_release(&numbers);
    buf_release(&name);
    buf_release(&new_name);
    return rc;
}

/* The data file goes last: as long as it is there, the log beside the target is known to be ours. */
static int remove_unfinished(const Target *target)
{
    int rc = move_log(target->path, NULL);
    if (rc == SAP_OK) {
        rc = move_log(target->unfinished, NULL);
    }
    if (rc == SAP_OK) {
        rc = unlink_beside(target->unfinished, "-new");
    }
    if (rc == SAP_OK) {
        rc = unlink_beside(target->unfinished, "-lock");
    }
    return rc == SAP_OK ? unlink_if_there(target->unfinished) : rc;
}

/* Locks the name and sees to it that nothing is there. */
static int claim_target(Recover *r, Target *target)
{
    bool there = false;
    bool log = false;
    bool unfinished = false;
    int64_t pid = 0;
    int rc = exists(target->path, &there);
    if (rc == SAP_OK && !there) {
        rc = owner_lock(&target->owner, target->path, false, &pid);
    }
    if (rc == SAP_BUSY) {
        return recover_tell(r, rc, "the target %s is being made, by process %" PRId64, target->path,
                            pid);
    }
    if (rc == SAP_OK && !there) {
        rc = exists(target->path, &there); /* again: until now another could have made it */
    }
    if (rc == SAP_OK) {
        rc = exists(target->unfinished, &unfinished);
    }
    if (rc == SAP_OK && !unfinished) {
        rc = has_log(target->path, &log);
    }
    if (rc == SAP_OK && (there || log)) {
        return recover_tell(r, SAP_EXISTS, "the target %s%s exists already", target->path,
                            there ? "" : WAL_SEGMENT_INFIX "*");
    }
    if (rc == SAP_OK) {
        target->begun = true;
        rc = remove_unfinished(target);
    }
    return tell_errno(r, rc, "cannot make the target");
}

static int open_target(Recover *r, Target *target)
{
    if (target->path == NULL) {
        r->env = sap_db_open(NULL, r->source.page_size, NULL, NULL);
        if (r->env == NULL) {
            return SAP_NOMEM;
        }
        subsystems_add(r->env, r->options.subsystems, r->options.subsystem_count);
        return SAP_OK;
    }
    int rc = claim_target(r, target);
    if (rc != SAP_OK) {
        return rc;
    }
    SapOpenOptions options = {.flags = SAP_OPEN_CREATE | SAP_OPEN_EXCLUSIVE,
                              .page_size = r->source.page_size,
                              .sync_mode = SAP_SYNC_NONE,
                              .checkpoint_bytes = TARGET_CHECKPOINT_BYTES,
                              .subsystems = r->options.subsystems,
                              .subsystem_count = r->options.subsystem_count,
                              .on_message = r->options.on_message,
                              .callback_ctx = r->options.callback_ctx};
    int opened = sap_db_open_path(target->unfinished, &options, &r->env);
    r->told = r->told || opened != SAP_OK; /* by the messages of the open */
    if (opened == SAP_OK) {
        fd_match(r->env->file->data.fd, r->shown);
    }
    return opened;
}

/* Everything is on disk; the name makes it the database. */
static int name_target(Recover *r, const Target *target)
{
    fault_step("target closed");
    int rc = unlink_beside(target->unfinished, "-lock");
    if (rc == SAP_OK) {
        rc = move_log(target->unfinished, target->path);
    }
    fault_step("target's log renamed");
    if (rc == SAP_OK) {
        rc = disk_sync_dir(target->path);
    }
    if (rc == SAP_OK) {
        rc = disk_rename(target->unfinished, target->path);
    }
    fault_step("target renamed");
    if (rc == SAP_OK && disk_sync_dir(target->path) != SAP_OK) {
        rc = SAP_IO;
        (void)unlink_if_there(target->path);
    }
    return tell_errno(r, rc, "cannot make the target");
}

/* ---- The call ------------------------------------------------------------------------------- */

static void count_target(Recover *r)
{
    for (uint32_t dbi = 0; dbi < r->env->table_count; dbi++) {
        const Table *table = table_get(r->env, dbi);
        r->report.tables += table != NULL ? 1 : 0;
        r->report.rows += table != NULL ? table->tree.entries : 0;
    }
}

/* Fills the target in one transaction. */
static int fill_target(Recover *r)
{
    int rc = recover_states(r);
    if (rc == SAP_OK) {
        rc = recover_rows(r);
    }
    return rc == SAP_OK ? replay_log(r) : rc;
}

/* The same, keeps it or not, and closes the target. errno is that of the first failure. */
static int fill_and_close(Recover *r, bool keep)
{
    int rc = exclusive_begin(r->env, TXN_UNHEARD, &r->txn);
    int err = errno;
    if (rc == SAP_OK) {
        rc = fill_target(r);
        if (rc == SAP_OK) {
            count_target(r);
            rc = keep ? exclusive_prepare(r->txn) : SAP_OK;
        }
        err = errno;
        uint64_t lsn = 0;
        keep = keep && rc == SAP_OK;
        int end = exclusive_end(r->txn, keep, &lsn);
        if (rc == SAP_OK) {
            rc = end;
            if (rc == SAP_OK && keep) {
                rc = dbfile_defined(r->env->file, lsn);
            }
            err = errno;
        }
    }
    if (rc != SAP_OK && r->env->file != NULL) {
        atomic_store_full(&r->env->file->failed, true); /* so that closing it writes nothing */
    }
    int closed = sap_db_close(r->env);
    if (rc == SAP_OK) {
        return closed;
    }
    errno = err;
    return rc;
}

/* What the disk of the target says, and not what a limit of rows would be. */
static int tell_target(Recover *r, const Target *target, int rc)
{
    int err = errno;
    return target->path != NULL &&
                   (rc == SAP_FULL ? disk_errno_full(err) : rc == SAP_IO && err != 0)
               ? recover_tell(r, rc, "cannot write the target %s: %s", target->path, strerror(err))
               : rc;
}

static int make_target(Recover *r, Target *target)
{
    int rc = open_target(r, target);
    if (rc == SAP_OK) {
        errno = 0;
        rc = tell_target(r, target, fill_and_close(r, target->path != NULL));
    }
    if (rc == SAP_OK && target->path != NULL) {
        rc = name_target(r, target);
    }
    if (rc != SAP_OK && target->begun) {
        (void)remove_unfinished(target);
    }
    return rc;
}

OPTIONS_LAYOUT(SapRecoverOptions, reserved, reserved);

static bool options_valid(const SapRecoverOptions *options)
{
    bool valid = options->reserved == 0 &&
                 (options->comparators != NULL || options->comparator_count == 0) &&
                 (options->subsystems != NULL || options->subsystem_count == 0);
    for (uint32_t i = 0; valid && i < options->subsystem_count; i++) {
        SapSubsystem known;
        valid = subsystem_read(options->subsystems, i, &known) == SAP_OK &&
                known.id < SAP_MAX_SUBSYSTEMS && subsystem_is_durable(&known.callbacks);
    }
    for (uint32_t i = 0; valid && i < options->comparator_count; i++) {
        const SapComparator *comparator = &options->comparators[i];
        valid = comparator->name != NULL && comparator->name[0] != 0 &&
                strlen(comparator->name) < DBFILE_NAME_SIZE && comparator->cmp != NULL;
    }
    return valid;
}

static int name_unfinished(Target *target)
{
    if (target->path == NULL) {
        return SAP_OK;
    }
    size_t len = strlen(target->path);
    target->unfinished_size = len + sizeof UNFINISHED;
    target->unfinished = (char *)mem_alloc(MEM_SCRATCH, target->unfinished_size);
    if (target->unfinished == NULL) {
        return SAP_NOMEM;
    }
    memcpy(target->unfinished, target->path, len);
    memcpy(target->unfinished + len, UNFINISHED, sizeof UNFINISHED);
    return SAP_OK;
}

int sap_db_recover(const char *path, const char *target_path, const SapRecoverOptions *options,
                   SapRecoverReport *report_out)
{
    SapRecoverOptions known;
    if (path == NULL || path[0] == 0 || (target_path != NULL && target_path[0] == 0) ||
        OPTIONS_READ(SapRecoverOptions, &known, options) != SAP_OK || !options_valid(&known)) {
        return SAP_ERROR;
    }
    Recover *r = (Recover *)mem_zalloc(MEM_SCRATCH, sizeof *r);
    if (r == NULL) {
        return SAP_NOMEM;
    }
    char resolved[PATH_MAX];
    Owner owner = OWNER_NONE;
    Target target = {.path = target_path, .owner = OWNER_NONE};
    r->shown = path;
    r->options = known;
    r->source.file = DISK_FILE_NONE;
    int rc = name_unfinished(&target);
    if (rc == SAP_OK) {
        rc = open_source(r, &owner, disk_real_path(path, resolved));
    }
    if (rc == SAP_OK) {
        rc = make_target(r, &target);
    }
    if (rc == SAP_OK && report_out != NULL) {
        *report_out = r->report;
    }
    if (rc != SAP_OK && !r->told) {
        (void)recover_tell(r, rc, "cannot be recovered: %s", sap_strerror(rc));
    }
    recover_rows_release(r);
    owner_release(&target.owner);
    owner_release(&owner);
    salvage_release(&r->source);
    mem_free(MEM_SCRATCH, target.unfinished, target.unfinished_size);
    mem_free(MEM_SCRATCH, r, sizeof *r);
    return rc;
}
