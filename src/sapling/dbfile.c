/* dbfile.c - how commits get to disk, and the background thread. See dbfile.h. */
#include "sapling/dbfile.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/random.h"
#include "sapling/effects.h"
#include "sapling/open_error.h"
#include "sapling/wal_format.h"

#if SAPLING_THREADED
#include <signal.h>
#endif

enum {
    LOG_FACTOR = 4,   /* commits wait when the log is so many times what starts a checkpoint */
    DIRTY_FACTOR = 4, /* pages not in a checkpoint, in the same measure, start one too */
    CHECKPOINT_RETRY_MS = 200,
    ASYNC_DELAY_MS = 5, /* a commit that nobody waits for is on disk after about so long */
    FOREIGN_CLOCK_POLL_MS = 20,
};

#define NS_PER_MS UINT64_C(1000000)

/* ---- Telling -------------------------------------------------------------------------------- */

int dbfile_report(DbFile *file, int rc, const char *format, ...)
{
    atomic_store_relaxed(&file->told, true);
    if (file->options.on_message == NULL && !open_error_is_listening()) {
        return rc;
    }
    static const char advice[] = ". `sapling db recover` makes a new file of what can be read";
    char text[1024];
    size_t room = sizeof text - (rc == SAP_CORRUPT ? sizeof advice : 0);
    int at = snprintf(text, room, "%s: ", file->shown);
    if (at > 0 && (size_t)at < room) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(text + at, room - (size_t)at, format, args);
        va_end(args);
    }
    if (rc == SAP_CORRUPT) {
        memcpy(text + strlen(text), advice, sizeof advice);
    }
    if (open_error_is_listening()) {
        open_error_set(text);
    }
    if (file->options.on_message != NULL) {
        file->options.on_message(text, file->options.callback_ctx);
    }
    return rc;
}

/* Whether this is the first failure, which is to be reported. */
static bool set_failed(DbFile *file)
{
    bool expected = false;
    if (!atomic_cas_full(&file->failed, &expected, true)) {
        return false;
    }
    /* Nothing will make room in the log any more. */
    mutex_lock(&file->lock);
    cond_broadcast(&file->changed);
    mutex_unlock(&file->lock);
    return true;
}

/* " (NAME: WORDS)" for a segment of the log and an errno; nothing if there is no memory for it. */
static void explain_segment(const DbFile *file, uint64_t segment, int err, Buf *text)
{
    Buf name = {0};
    if (wal_segment_name(&name, file->path, segment) == SAP_OK &&
        buf_printf(text, " (%s: %s)", (const char *)name.data, strerror(err)) == SAP_OK) {
        (void)buf_append_u8(text, 0);
    }
    buf_release(&name);
}

static const char *text_of(const Buf *text)
{
    return text->len > 0 ? (const char *)text->data : "";
}

int dbfile_fail(DbFile *file, const char *what)
{
    int cause = errno;
    if (set_failed(file)) {
        Buf why = {0};
        uint64_t segment = 0;
        int err = 0;
        if (file->wal != NULL && wal_failure(file->wal, &segment, &err)) {
            explain_segment(file, segment, err, &why);
        } else if (cause != 0 && buf_printf(&why, " (%s)", strerror(cause)) == SAP_OK) {
            (void)buf_append_u8(&why, 0);
        }
        (void)dbfile_report(
            file, SAP_IO,
            "%s failed%s. Commits that were not acknowledged may be lost; reading goes "
            "on, writing does not: close the database, see to the disk, open it again",
            what, text_of(&why));
        buf_release(&why);
    }
    return SAP_IO;
}

int dbfile_new_id(const DbFile *file, uint64_t *id_out)
{
    uint64_t id = 0;
    int rc = SAP_OK;
    if (file != NULL && file->options.random != NULL) {
        file->options.random(&id, sizeof id, file->options.source_ctx);
    } else {
        rc = random_fill(NULL, &id, sizeof id);
    }
    /* The caller's source may be one for tests that always says the same. */
    *id_out = file != NULL && id == file->db_id ? id + 1 : id;
    return rc;
}

bool dbfile_owns_name(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    if (atomic_load_acquire(&file->failed)) {
        return false; /* no name is made or removed any more */
    }
    bool owns = owner_has_name(&file->owner, file->path);
    if (!owns && set_failed(file)) {
        (void)dbfile_report(file, SAP_IO,
                            "was removed, renamed or replaced while it was open. What has this "
                            "name now is left alone; nothing more is written: close it");
    }
    return owns;
}

bool dbfile_is_reachable(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    bool reachable = owner_is_linked(&file->owner);
    if (!reachable && set_failed(file)) {
        (void)dbfile_report(
            file, SAP_IO,
            "was removed while it was open. Nobody could read what is committed to it "
            "now, so commits fail: close it, and restore the file from a backup");
    }
    return reachable;
}

uint64_t dbfile_now_ns(const DbFile *file)
{
    return file != NULL && file->options.clock_ns != NULL
               ? file->options.clock_ns(file->options.source_ctx)
               : clock_mono_ns(NULL);
}

const NamedOrder *dbfile_order_named(const DbFile *file, const char *name, size_t len)
{
    for (uint32_t i = 0; file != NULL && i < file->order_count; i++) {
        if (strlen(file->orders[i].name) == len && memcmp(file->orders[i].name, name, len) == 0) {
            return &file->orders[i];
        }
    }
    return NULL;
}

const NamedOrder *dbfile_order_of(const DbFile *file, KeyOrder order)
{
    for (uint32_t i = 0; i < file->order_count; i++) {
        if (file->orders[i].order.cmp == order.cmp && file->orders[i].order.ctx == order.ctx) {
            return &file->orders[i];
        }
    }
    return NULL;
}

/* ---- Versions on their way ------------------------------------------------------------------ */

int dbfile_check(DbFile *file, bool write)
{
    if (file->wal == NULL) {
        return write ? SAP_READONLY : SAP_OK;
    }
    return atomic_load_acquire(&file->failed) ? SAP_IO : SAP_OK;
}

bool dbfile_is_logged(const DbFile *file)
{
    return file->options.sync_mode != SAP_SYNC_NONE;
}

VersionCell *dbfile_durable(DbFile *file)
{
    return &file->durable;
}

void dbfile_scan(DbFile *file, Pager *pager)
{
    pager_pins_mark(pager, atomic_load_full(&file->pin_syncing));
    pager_pins_mark(pager, atomic_load_full(&file->pin_synced));
    pager_pins_mark(pager, atomic_load_full(&file->pin_durable));
    pager_pins_mark(pager, atomic_load_full(&file->pin_making));
    pager_pins_mark(pager, atomic_load_full(&file->pin_checkpoint));
}

/* The synced version becomes the durable one, if nothing is in the way. Readers may pin the old one
 * until the cell has moved, hence its pin goes last. */
static void advance_durable(DbFile *file)
{
    if (file->barrier == 0 || file->synced.txnid < file->barrier) {
        version_put(&file->durable, &file->synced);
        fault_step("durable version moving");
        atomic_store_full(&file->pin_durable, file->synced.txnid);
    }
}

void dbfile_on_closed(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    version_get(&file->env->newest, &file->syncing);
    atomic_store_full(&file->pin_syncing, file->syncing.txnid);
}

void dbfile_on_synced(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    file->synced = file->syncing;
    atomic_store_full(&file->pin_synced, file->synced.txnid);
    advance_durable(file);
}

void dbfile_on_capture(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    version_get(&file->env->newest, &file->captured);
    file->barrier_after = 0;
}

void dbfile_on_uncapture(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    file->barrier_after = file->barrier; /* which is older than all since the capture */
}

void dbfile_on_checkpoint(void *ctx)
{
    DbFile *file = (DbFile *)ctx;
    file->barrier = file->barrier_after;
    if (file->synced.txnid < file->captured.txnid) { /* not in the log */
        file->synced = file->captured;
        atomic_store_full(&file->pin_synced, file->synced.txnid);
        atomic_store_full(&file->pin_syncing, file->synced.txnid);
    }
    advance_durable(file);
}

/* ---- Commits -------------------------------------------------------------------------------- */

static uint64_t newest_txnid(DbFile *file)
{
    Version newest;
    version_get(&file->env->newest, &newest);
    return newest.txnid;
}

/* Makes the background thread look whether there is something to do. */
static void nudge(DbFile *file)
{
    bool expected = false;
    if (!atomic_load_full(&file->nudged) && atomic_cas_full(&file->nudged, &expected, true)) {
        mutex_lock(&file->lock);
        cond_broadcast(&file->changed);
        mutex_unlock(&file->lock);
    }
}

void dbfile_short_of_room(DbFile *file)
{
    if (file->wal != NULL) {
        atomic_store_full(&file->short_of_room, true);
        atomic_store_full(&file->starved, true);
        nudge(file);
    }
}

/* The checkpoint that a refused transaction asks for may be made before the rows are deleted that make
 * room: it then has their pages, and keeps them. */
void dbfile_make_room(DbFile *file)
{
    if (sap_likely(!atomic_load_relaxed(&file->starved))) {
        return;
    }
    bool over = arena_has_room(file->env->arena);
    if (!over && newest_txnid(file) != atomic_load_full(&file->pin_checkpoint) &&
        !writer_lock_is_held(&file->env->lock)) {
        over = checkpoint_run(file, 0, 0) != SAP_OK; /* the next refusal asks for another try */
    }
    if (over) {
        atomic_store_full(&file->starved, false);
    }
}

void dbfile_hold(DbFile *file)
{
    if (file != NULL) {
        atomic_add_full(&file->held, 1);
    }
}

static void end_hold(DbFile *file)
{
    atomic_add_full(&file->held, UINT32_MAX);
}

bool dbfile_is_held(DbFile *file)
{
    return file != NULL && atomic_load_full(&file->held) != 0;
}

uint64_t dbfile_durable_txnid(DbFile *file)
{
    Version durable;
    version_get(&file->durable, &durable);
    return durable.txnid;
}

static int wait_for_log(DbFile *file, uint64_t lsn)
{
    errno = 0;
    return wal_wait(file->wal, lsn) == SAP_OK ? SAP_OK : dbfile_fail(file, "writing the log");
}

int dbfile_check_level(DbFile *file, const SapTxnCtx *txn)
{
    return !txn->level.damaged
               ? SAP_OK
               : dbfile_report(file, SAP_CORRUPT,
                               "damaged: the transaction met a page that is used in two places");
}

/* Whether it is to be reported that commits fail for a reason that passes, which is done once
 * and to who opens a queue in the file. err 0: the
 * record is too long, or there is no memory. */
static bool is_new_lack_of_room(DbFile *file, int rc, int err)
{
    bool before = file->no_room;
    file->no_room = rc != SAP_OK && (before || (rc != SAP_IO && err != 0));
    return file->no_room && (!before || open_error_is_listening());
}

static void report_log_room(DbFile *file, int rc, int err)
{
    if (is_new_lack_of_room(file, rc, err)) {
        Buf why = {0};
        explain_segment(file, wal_next_segment(file->wal), err, &why);
        (void)dbfile_report(file, rc,
                            "a commit was taken back, because the log cannot grow%s. Nothing is "
                            "lost; commits go on when that is over",
                            text_of(&why));
        buf_release(&why);
    }
}

/* Room in the log for env->record. SAP_FULL: also while a commit that is not in it is not in a
 * checkpoint either: a record after it would build on a state that recovery does not find. */
static int reserve_record(DbFile *file)
{
    errno = file->unlogged ? ENOSPC : 0;
    int rc = file->unlogged ? SAP_FULL : wal_reserve(file->wal, file->env->record.len);
    if (rc == SAP_OK && file->sealed) {
        rc = checkpoint_unseal(file);
    }
    return rc;
}

static void report_page_room(DbFile *file, int rc, int err)
{
    if (is_new_lack_of_room(file, rc, err)) {
        (void)dbfile_report(
            file, rc,
            "a commit was taken back, because there is no room for the pages that it changes "
            "(%s)%s. Nothing is lost: free some disk space and try again",
            strerror(err),
            arena_file_lacks_room(file->env->arena)
                ? ". The file cannot be overwritten in place: it has holes, is a copy, or was copied"
                : "");
    }
}

/* Whether the transaction may do without the log where that has no room. */
static bool drains(const SapTxnCtx *txn)
{
    return (txn->flags & SAP_TXN_DRAIN) != 0 ||
           (txn->env->log_effects && effects_only_delete(txn->env->record));
}

/* The commit will be durable by a checkpoint. It cannot be taken back then: others build on it. So what
 * the checkpoint needs is made sure of before. */
static int reserve_checkpoint(DbFile *file, SapTxnCtx *txn)
{
    int rc = checkpoint_claim(file, txn);
    report_page_room(file, rc, rc == SAP_OK ? 0 : errno);
    file->skips_log = file->skips_log && rc == SAP_OK;
    return rc;
}

int dbfile_reserve(DbFile *file, SapTxnCtx *txn)
{
    static const uint8_t barrier[] = {EFFECT_BARRIER};
    SapEnv *env = txn->env;
    int rc = dbfile_check_level(file, txn);
    env->record = (Slice){0};
    if (rc != SAP_OK) {
        return rc;
    }
    if (env->log_effects) {
        rc = effects_finish(txn, &env->record);
    } else if (txn->level.taken != 0 || txn->level.freed != 0 || subsystems_changed(txn)) {
        /* What is before a barrier must not wait for its checkpoint. */
        rc = dbfile_is_logged(file) ? wait_for_log(file, txn->base) : dbfile_check(file, true);
        env->record = (Slice){barrier, sizeof barrier};
    }
    if (rc != SAP_OK || env->record.len == 0 || !dbfile_is_logged(file)) {
        return rc;
    }
    rc = reserve_record(file);
    file->skips_log = rc == SAP_FULL && drains(txn);
    if (file->skips_log) {
        rc = wait_for_log(file, txn->base); /* what is before it must not wait for its checkpoint */
    }
    if (rc == SAP_OK && (file->skips_log || !env->log_effects)) {
        return reserve_checkpoint(file, txn);
    }
    report_log_room(file, rc, errno);
    return rc == SAP_IO ? dbfile_fail(file, "writing the log") : rc;
}

typedef struct Publish {
    DbFile *file;
    uint64_t lsn;
    void (*publish)(void *ctx);
    void *ctx;
} Publish;

static void publish_bulk(void *ctx)
{
    Publish *bulk = (Publish *)ctx;
    DbFile *file = bulk->file;
    file->barrier = file->barrier == 0 ? bulk->lsn : file->barrier;
    file->barrier_after = file->barrier_after == 0 ? bulk->lsn : file->barrier_after;
    bulk->publish(bulk->ctx);
}

int dbfile_append(DbFile *file, uint64_t lsn, void (*publish)(void *ctx), SapTxnCtx *txn)
{
    SapEnv *env = txn->env;
    if (!dbfile_is_logged(file)) {
        wal_with_lock(file->wal, publish, txn);
        return SAP_OK;
    }
    Publish bulk = {.file = file, .lsn = lsn, .publish = publish, .ctx = txn};
    if (file->skips_log) {
        file->unlogged = true;
        wal_skip(file->wal, lsn, publish_bulk, &bulk); /* durable by a checkpoint, as bulk is */
        return SAP_OK;
    }
    errno = 0;
    int rc =
        env->log_effects
            ? wal_append(file->wal, lsn, env->record.data, env->record.len, publish, txn)
            : wal_append(file->wal, lsn, env->record.data, env->record.len, publish_bulk, &bulk);
    return rc == SAP_OK ? SAP_OK : dbfile_fail(file, "writing the log");
}

static bool wants_checkpoint(DbFile *file)
{
    uint64_t dirty = atomic_load_relaxed(&file->env->pager.dirty_count) * file->env->page_size;
    return wal_bytes(file->wal) >= file->options.checkpoint_bytes ||
           dirty / DIRTY_FACTOR >= file->options.checkpoint_bytes ||
           atomic_load_relaxed(&file->short_of_room);
}

bool dbfile_is_crowded(DbFile *file)
{
    return wal_bytes(file->wal) >= file->options.checkpoint_bytes * LOG_FACTOR / 2;
}

#if SAPLING_THREADED

/* Waits while the log is much longer than what starts a checkpoint, so that it does not grow without
 * bound. Does not wait if no checkpoint can be made now, for want of room. */
static void wait_for_room(DbFile *file)
{
    uint64_t most = file->options.checkpoint_bytes * LOG_FACTOR;
    if (wal_bytes(file->wal) < most || pthread_equal(pthread_self(), file->thread)) {
        return;
    }
    mutex_lock(&file->lock);
    while (file->running && !file->stop && file->checkpoint_rc == SAP_OK &&
           !atomic_load_acquire(&file->failed) && wal_bytes(file->wal) >= most) {
        cond_wait(&file->changed, &file->lock);
    }
    mutex_unlock(&file->lock);
}

/* Leaves a commit that nobody waits for to the background thread, which syncs it in time. The thread is
 * not woken if an earlier commit has done so. */
static void leave_unsynced(DbFile *file)
{
    bool expected = false;
    if (!atomic_load_full(&file->unsynced) && atomic_cas_full(&file->unsynced, &expected, true)) {
        nudge(file);
    }
}

/* What the background thread does in time. */
static void look_after(DbFile *file)
{
    if (wants_checkpoint(file) || wal_wants_prepare(file->wal)) {
        nudge(file);
    }
    wait_for_room(file);
}

#else

/* It is on disk with the next that is waited for, or when the file is closed. */
static void leave_unsynced(DbFile *file)
{
    atomic_store_full(&file->unsynced, true);
}

/* Without threads, whoever committed does it. */
static void look_after(DbFile *file)
{
    if (wants_checkpoint(file)) {
        atomic_store_full(&file->short_of_room, false);
        (void)checkpoint_run(file, 0, 0);
    }
}

#endif

static void deliver_durable(DbFile *file, bool wait)
{
    WatchHub *hub = atomic_load_acquire(&file->hub);
    if (hub != NULL) {
        watch_deliver_until(hub, dbfile_durable_txnid(file), wait);
    }
}

void dbfile_begin_notifying(DbFile *file)
{
    atomic_store_full(&file->notified_lsn, atomic_load_full(&file->pin_durable));
}

/* A thread moves the pin, with full order, before it tries to set `notifying`. So if that fails, the thread
 * that has set it sees the new mark after it has cleared it. */
void dbfile_notify_durable(DbFile *file)
{
    if (sap_likely(file->options.on_durable == NULL)) {
        return;
    }
    while (atomic_load_full(&file->pin_durable) > atomic_load_full(&file->notified_lsn)) {
        bool expected = false;
        if (!atomic_cas_full(&file->notifying, &expected, true)) {
            return;
        }
        uint64_t lsn = atomic_load_full(&file->pin_durable);
        if (lsn > atomic_load_full(&file->notified_lsn)) {
            atomic_store_full(&file->notified_lsn, lsn);
            file->options.on_durable(file->options.durable_ctx, lsn);
        }
        atomic_store_full(&file->notifying, false);
    }
}

void dbfile_not_committed(DbFile *file)
{
    if (file != NULL) {
        dbfile_notify_durable(file);
        end_hold(file);
    }
}

static int wait_until_durable(DbFile *file, uint64_t lsn)
{
    if (dbfile_durable_txnid(file) >= lsn) {
        return SAP_OK;
    }
    int rc = dbfile_is_logged(file) ? wait_for_log(file, lsn) : SAP_OK;
    dbfile_notify_durable(file);
    while (rc == SAP_OK && dbfile_durable_txnid(file) < lsn) {
        rc = checkpoint_run(file, 0, lsn); /* a bulk commit is in the way */
    }
    return rc;
}

/* A commit that used up half of the pages kept for draining makes a checkpoint, so that the pages which it
 * freed can be used by the next one. */
static void restore_rescue(DbFile *file)
{
    SAP_ATOMIC(bool) *used = &file->env->arena->rescue_used;
    if (sap_unlikely(atomic_load_relaxed(used))) {
        atomic_store_relaxed(used, false);
        (void)checkpoint_run(file, 0, 0); /* a failure that is final is the next commit's */
    }
}

int dbfile_committed(DbFile *file, uint64_t lsn, bool wait, WatchHub *hub, uint64_t batch)
{
    int rc = SAP_OK;
    if (file->options.sync_mode != SAP_SYNC_COMMIT) {
        if (file->options.sync_mode == SAP_SYNC_PERIODIC) {
            leave_unsynced(file);
        }
        watch_deliver(hub, batch);
    } else if (wait) {
        rc = wait_until_durable(file, lsn);
        if (rc == SAP_OK) {
            watch_deliver(hub, batch);
        } else if (rc != SAP_IO) {
            /* Others build on it already: it can neither be taken back nor acknowledged. */
            rc = dbfile_fail(file, "the checkpoint that a bulk commit needs");
        }
        if (rc != SAP_OK && batch != 0) {
            atomic_store_release(&file->hub, hub); /* nobody will be told: for dbfile_settle() */
        }
    } else {
        if (batch != 0) {
            atomic_store_release(&file->hub, hub);
        }
        leave_unsynced(file);
    }
    if (rc == SAP_OK) {
        look_after(file);
        restore_rescue(file);
    }
    /* Also here: room for the record may have been made by writing what others committed. */
    dbfile_notify_durable(file);
    end_hold(file);
    return rc;
}

int dbfile_defined(DbFile *file, uint64_t lsn)
{
    int rc = dbfile_wait(file, lsn);
    if (rc != SAP_OK && rc != SAP_IO) {
        rc = dbfile_fail(file, "the checkpoint that a definition or a restore needs");
    }
    end_hold(file);
    return rc;
}

int dbfile_wait(DbFile *file, uint64_t lsn)
{
    if (file->wal == NULL) {
        return SAP_OK;
    }
    int rc = wait_until_durable(file, lsn);
    if (rc == SAP_OK) {
        deliver_durable(file, true);
    }
    return rc;
}

int dbfile_sync(DbFile *file)
{
    if (file->wal == NULL) {
        return SAP_OK;
    }
    int rc = dbfile_check(file, true);
    if (rc == SAP_OK && dbfile_is_logged(file)) {
        rc = wait_for_log(file, newest_txnid(file));
        dbfile_notify_durable(file);
    }
    if (rc == SAP_OK) {
        rc = checkpoint_run(file, 0, 0);
        deliver_durable(file, true);
    }
    return rc;
}

/* ---- The background thread ------------------------------------------------------------------ */

#if SAPLING_THREADED

/* Of readers that began before `seen`, no more is said. */
static void look_for_slow_readers(DbFile *file, uint64_t *seen)
{
    if (file->options.on_slow_reader == NULL) {
        return;
    }
    uint64_t now = dbfile_now_ns(file);
    uint64_t age = file->options.slow_reader_ms * NS_PER_MS;
    uint64_t bound = now > age ? now - age : 0;
    for (SapTxnCtx *txn = atomic_load_full(&file->env->readers); txn != NULL; txn = txn->next) {
        uint64_t since = atomic_load_relaxed(&txn->since_ns);
        uint64_t pin = atomic_load_full(&txn->pin);
        if (pin != 0 && since > *seen && since <= bound) {
            SapReaderInfo info = {.txnid = pin, .age_ns = now - since};
            file->options.on_slow_reader(&info, file->options.callback_ctx);
        }
    }
    *seen = bound > *seen ? bound : *seen;
}

static void background_checkpoint(DbFile *file)
{
    atomic_store_full(&file->short_of_room, false);
    errno = 0;
    int rc = checkpoint_run(file, 0, 0);
    int err = errno;
    if (rc != SAP_OK && rc != file->checkpoint_rc && rc != SAP_IO) {
        (void)dbfile_report(file, rc, "no checkpoint can be made now (%s); the log grows meanwhile",
                            err != 0 ? strerror(err) : sap_strerror(rc));
    }
    mutex_lock(&file->lock);
    file->checkpoint_rc = rc;
    file->checkpoint_ns = dbfile_now_ns(file);
    cond_broadcast(&file->changed);
    mutex_unlock(&file->lock);
}

static void background_sync(DbFile *file, uint64_t newest)
{
    if (!dbfile_is_logged(file)) {
        return;
    }
    int rc = wait_for_log(file, newest);
    dbfile_notify_durable(file);
    if (rc == SAP_OK && dbfile_durable_txnid(file) < newest) {
        (void)checkpoint_run(file, 0, newest); /* a bulk commit is in the way */
    }
}

/* Commits that nobody waits for, and since when. */
typedef struct Unsynced {
    uint64_t since_ns; /* 0: none is known of */
    uint64_t newest;   /* the newest commit then */
} Unsynced;

/* Sees to it that they are on disk after the delay. Others' syncs may have done it: then those that came
 * since have a delay of their own, and a busy log is not synced once more. */
static void look_after_unsynced(DbFile *file, Unsynced *unsynced, uint64_t delay_ns)
{
    uint64_t now = dbfile_now_ns(file);
    if (!atomic_load_full(&file->unsynced)) {
        unsynced->since_ns = 0;
        return;
    }
    if (unsynced->since_ns == 0) {
        *unsynced = (Unsynced){.since_ns = now, .newest = newest_txnid(file)};
    }
    if (now - unsynced->since_ns < delay_ns) {
        return;
    }
    /* First this: what is committed from here on says so itself. */
    atomic_store_full(&file->unsynced, false);
    uint64_t newest = newest_txnid(file);
    /* In periodic mode the delay is a promise, also to those that came since. */
    bool by_others = file->options.sync_mode == SAP_SYNC_COMMIT &&
                     dbfile_durable_txnid(file) >= unsynced->newest;
    unsynced->since_ns = 0;
    if (by_others && dbfile_durable_txnid(file) < newest) {
        *unsynced = (Unsynced){.since_ns = now, .newest = newest};
        atomic_store_full(&file->unsynced, true);
    } else if (!by_others) {
        background_sync(file, newest);
    }
    /* Whoever is in a callback may be waiting for what this thread does. */
    deliver_durable(file, false);
}

/* How long there will be nothing to do unless somebody says otherwise. */
static uint64_t sleep_ns(const DbFile *file, uint64_t sync_delay_ns, bool unsynced)
{
    uint64_t ns = file->options.checkpoint_period_ms * NS_PER_MS;
    if (file->options.on_slow_reader != NULL) {
        uint64_t half = file->options.slow_reader_ms * NS_PER_MS / 2 + NS_PER_MS;
        ns = half < ns ? half : ns;
    }
    if (unsynced && sync_delay_ns < ns) {
        ns = sync_delay_ns;
    }
    uint64_t poll = FOREIGN_CLOCK_POLL_MS * NS_PER_MS;
    return file->options.clock_ns != NULL && poll < ns ? poll : ns;
}

static void *background(void *arg)
{
    DbFile *file = (DbFile *)arg;
    uint64_t sync_delay_ns =
        (file->options.sync_mode == SAP_SYNC_PERIODIC ? file->options.sync_period_ms
                                                      : (uint32_t)ASYNC_DELAY_MS) *
        NS_PER_MS;
    uint64_t seen = 0;
    Unsynced unsynced = {0};
    mutex_lock(&file->lock);
    while (!file->stop) {
        atomic_store_full(&file->nudged, false);
        mutex_unlock(&file->lock);
        if (!atomic_load_acquire(&file->failed)) {
            uint64_t now = dbfile_now_ns(file);
            look_after_unsynced(file, &unsynced, sync_delay_ns);
            if (wal_wants_prepare(file->wal)) {
                (void)wal_prepare(file->wal); /* who needs it tries again, and says so */
            }
            /* One that could not be made is tried again, but not at every commit. */
            bool again = file->checkpoint_rc == SAP_OK ||
                         now - file->checkpoint_ns >= CHECKPOINT_RETRY_MS * NS_PER_MS;
            if ((wants_checkpoint(file) && again) ||
                (newest_txnid(file) != atomic_load_full(&file->pin_checkpoint) &&
                 now - file->checkpoint_ns >= file->options.checkpoint_period_ms * NS_PER_MS)) {
                background_checkpoint(file);
            } else if (now - file->checkpoint_ns >=
                       file->options.checkpoint_period_ms * NS_PER_MS) {
                wal_trim(file->wal);
                file->checkpoint_ns = now;
            }
        }
        look_for_slow_readers(file, &seen);
        mutex_lock(&file->lock);
        if (!file->stop && !atomic_load_full(&file->nudged)) {
            cond_wait_ns(&file->changed, &file->lock,
                         sleep_ns(file, sync_delay_ns, unsynced.since_ns != 0));
        }
    }
    mutex_unlock(&file->lock);
    return NULL;
}

int dbfile_start(DbFile *file)
{
    file->checkpoint_ns = dbfile_now_ns(file);
    /* The program's signals are for its own threads. */
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !fault_alloc() && pthread_create(&file->thread, NULL, background, file) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    file->running = started;
    return started ? SAP_OK : SAP_NOMEM;
}

static void stop_background(DbFile *file)
{
    if (file->running) {
        mutex_lock(&file->lock);
        file->stop = true;
        cond_broadcast(&file->changed);
        mutex_unlock(&file->lock);
        pthread_join(file->thread, NULL);
        file->running = false;
    }
}

#else

int dbfile_start(DbFile *file)
{
    file->checkpoint_ns = dbfile_now_ns(file);
    return SAP_OK;
}

static void stop_background(DbFile *file)
{
    file->stop = true;
}

#endif

/* ---- The end -------------------------------------------------------------------------------- */

void dbfile_settle(DbFile *file)
{
    WatchHub *hub = atomic_load_acquire(&file->hub);
    if (file->wal == NULL || hub == NULL) {
        return;
    }
    /* While a transaction is open, closing will be refused: nothing is to be done for it. */
    if (!writer_lock_take(&file->env->lock, false)) {
        return;
    }
    writer_lock_release(&file->env->lock);
    if (dbfile_wait(file, newest_txnid(file)) == SAP_IO) {
        watch_drop(hub);
    }
}

/* Removes a file that this open made and that nobody committed anything to. Nobody else can have it
 * open: its lock is held since it was made. */
static bool remove_unused(DbFile *file)
{
    if (!file->discard || !file->made || newest_txnid(file) != ENV_FIRST_COMMIT ||
        !owner_has_name(&file->owner, file->path)) {
        return false;
    }
    dbfile_remove(file, file->path);
    return true;
}

int dbfile_close(DbFile *file)
{
    SapEnv *env = file->env;
    if (file->wal == NULL) {
        return SAP_OK;
    }
    /* The thread may be waiting for the writer lock, to make a checkpoint. */
    writer_lock_release(&env->lock);
    stop_background(file);
    bool taken = writer_lock_take(&env->lock, true);
    SAP_ASSERT(taken);
    int rc = dbfile_check(file, true);
    if (rc == SAP_OK && dbfile_is_logged(file)) {
        rc = wait_for_log(file, newest_txnid(file));
    }
    if (rc == SAP_OK && !remove_unused(file)) {
        rc = checkpoint_run(file, CHECKPOINT_LOCKED | CHECKPOINT_CLOSED, 0);
        rc = rc == SAP_OK ? wal_remove(file->wal) : rc;
    }
    wal_close(file->wal);
    file->wal = NULL;
    return rc;
}

void dbfile_abandon(DbFile *file)
{
    SAP_ASSERT(env_is_foreign(file->env));
    if (file->data.fd >= 0) { /* else it was done already */
        disk_close(&file->data);
        wal_abandon(file->wal);
        owner_abandon(&file->owner);
        arena_abandon(file->env->arena);
    }
}

void dbfile_free_texts(DbFile *file)
{
    mem_free(MEM_ENV, file->path, file->path != NULL ? strlen(file->path) + 1 : 0);
    mem_free(MEM_ENV, file->shown, file->shown != NULL ? strlen(file->shown) + 1 : 0);
}

void dbfile_free(DbFile *file)
{
    stop_background(file);
    wal_close(file->wal);
    owner_release(&file->owner);
    disk_close(&file->data);
    dbfile_free_info(file);
    mem_free(MEM_ENV, file->found.used, file->found.words * sizeof *file->found.used);
    cond_destroy(&file->changed);
    mutex_destroy(&file->lock);
    mutex_destroy(&file->checkpointing);
    mem_free(MEM_ENV, file->orders, file->order_count * sizeof *file->orders);
    dbfile_free_texts(file);
    mem_free(MEM_ENV, file, sizeof *file);
}
