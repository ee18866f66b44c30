/* access.c - see access.h. */
#include "node/access_impl.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/mem.h"
#include "sapling/env.h"
#include "sapling/owner.h"
#include "sapling/wal_format.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum {
    DEFAULT_PATIENCE_MS = 2000,
    DEFAULT_SILENCE_MS = 30000,
    PAUSE_MS = 2,
    LOG_ENDING = sizeof WAL_SEGMENT_INFIX - 1 + 16, /* and the number of the segment */
};

/* The invariants of an Access that was opened (access_impl.h), whenever a call begins. */
static void access_assert_valid(const Access *access)
{
    SAP_ASSERT(access->path != NULL && access->real != NULL && access->remote.path == access->real);
    SAP_ASSERT((access->db == NULL) == (access->queues == NULL));
    SAP_ASSERT(access->server == NULL || access->db != NULL); /* only an owner serves */
    SAP_ASSERT(access->db == NULL || access->remote.fd < 0);  /* and it asks nobody */
    SAP_ASSERT((access->remote.fd >= 0) == access->remote.greeted);
}

/* ---- Messages ------------------------------------------------------------------------------- */

static void on_message(const char *text, void *ctx)
{
    Access *access = (Access *)ctx;

    mutex_lock(&access->mutex);
    (void)reason_set(&access->said, SAP_OK, "%s", text);
    mutex_unlock(&access->mutex);
    if (access->options.on_message != NULL) {
        access->options.on_message(text, access->options.callback_ctx);
    }
}

/* At the beginning of each call. */
static void forget(Access *access)
{
    access->reason.text[0] = '\0';
    mutex_lock(&access->mutex);
    access->said.text[0] = '\0';
    mutex_unlock(&access->mutex);
}

int access_remember(Access *access, int rc)
{
    access->last = rc;
    return rc;
}

const char *access_message(const Access *access)
{
    /* The text may change at any time: a copy is answered. */
    union {
        const Access *in;
        Access *out;
    } own = {.in = access};

    if (access->reason.text[0] != '\0') {
        return access->reason.text;
    }
    mutex_lock(&own.out->mutex);
    memcpy(own.out->shown, access->said.text, sizeof access->said.text);
    mutex_unlock(&own.out->mutex);
    return access->shown[0] != '\0' ? access->shown : sap_strerror(access->last);
}

/* ---- Opening -------------------------------------------------------------------------------- */

/* Opens the database in this process, with these flags of the engine. */
static int open_own(Access *access, unsigned flags)
{
    SapOpenOptions options = {
        .flags = flags,
        .page_size = access->options.page_size,
        .on_message = on_message,
        .callback_ctx = access,
    };

    SAP_ASSERT(access->db == NULL && access->queues == NULL && access->server == NULL);
    int rc = db_open_path(access->path, &options, &access->db);
    return rc == SAP_OK ? queues_new(access->db, &access->queues) : rc;
}

/* Undoes open_own() and serve_others(). `close_db` decides what becomes of the database. */
static int close_own(Access *access, int (*close_db)(SapEnv *db))
{
    server_stop(access->server);
    queues_free(access->queues);
    int rc = access->db == NULL ? SAP_OK : close_db(access->db);
    access->server = NULL;
    access->queues = NULL;
    access->db = NULL;
    return rc;
}

/* Once the file has been made or found. SAP_NOMEM. */
static int find_real(Access *access)
{
    struct stat st;
    bool link = lstat(access->path, &st) == 0 && S_ISLNK(st.st_mode);
    char *real = link ? realpath(access->path, NULL) : NULL;

    real = real != NULL ? real : strdup(access->path);
    if (real == NULL) {
        return SAP_NOMEM;
    }
    free(access->real);
    access->real = real;
    access->remote.path = real;
    return SAP_OK;
}

/* The owner begins to serve. SAP_IO and SAP_FULL: no socket can be made, which `why` explains. */
static int serve_others(Access *access, Reason *why)
{
    int rc = server_start(access->db, access->queues, access->real, &access->server);

    if (rc == SAP_IO || rc == SAP_FULL) {
        return reason_set(why, rc, "%s.sock: %s: others cannot use the file meanwhile",
                          access->path,
                          rc == SAP_IO ? strerror(errno) : "the name is too long for a socket");
    }
    return rc;
}

/* Whether the names of the log fit, which are the longest beside the file. Found out now, and not when
 * something is written first. */
static int check_name(Access *access)
{
    const char *slash = strrchr(access->path, '/');
    size_t len = strlen(slash == NULL ? access->path : slash + 1);

    if (len + LOG_ENDING <= NAME_MAX) {
        return SAP_OK;
    }
    return reason_set(
        &access->reason, SAP_ERROR,
        "the name has %zu bytes: a database that is written has at most %d, since its "
        "log lies beside it under longer names",
        len, NAME_MAX - LOG_ENDING);
}

/* Opens the file as its owner, and serves it if that is asked for. A reader that cannot serve gets the
 * code of server_start(). Others use the file without being served, and say so. */
static int open_as_owner(Access *access)
{
    bool serves = (access->options.flags & ACCESS_SERVE) != 0;
    bool reads = (access->options.flags & ACCESS_READ) != 0;
    unsigned create = (access->options.flags & ACCESS_CREATE) != 0 ? SAP_OPEN_CREATE : 0;
    Reason why = {0};
    int rc = check_name(access);

    rc = rc == SAP_OK ? open_own(access, create) : rc;
    rc = rc == SAP_OK ? find_real(access) : rc;
    if (rc != SAP_OK || !serves) {
        return rc;
    }
    server_clean_up(access->real);
    rc = serve_others(access, &why);
    if (why.text[0] != '\0' && !reads) {
        on_message(why.text, access);
        rc = SAP_OK; /* a file that cannot be served can still be used */
    }
    return rc;
}

/* A reader that serves is an owner where it may write the file and make a socket beside it.
 * Elsewhere it opens the file read-only, and shares it with other readers. What the second open
 * says is what counts. */
static int open_to_read(Access *access)
{
    if ((access->options.flags & ACCESS_SERVE) != 0) {
        int rc = open_as_owner(access);
        if (rc == SAP_OK || rc == SAP_BUSY || rc == SAP_NOTFOUND) {
            return rc;
        }
        (void)close_own(access, sap_db_close);
        forget(access);
    }
    int rc = open_own(access, SAP_OPEN_RDONLY);
    return rc == SAP_OK ? find_real(access) : rc;
}

/* One try. SAP_BUSY: another process owns the file, and cannot be asked now; *recovers_out: it opened
 * the file after its last owner died, and has not come as far as serving it. */
static int open_once(Access *access, bool *recovers_out)
{
    bool reads = (access->options.flags & ACCESS_READ) != 0;
    int rc = reads ? open_to_read(access) : open_as_owner(access);

    *recovers_out = false;
    if (rc == SAP_BUSY) {
        rc = find_real(access);
        return rc == SAP_OK ? remote_connect(&access->remote, recovers_out, &access->reason) : rc;
    }
    if (rc == SAP_OK) {
        access_assert_valid(access);
        if (access->server == NULL) {
            server_clean_up(access->real); /* only a dead owner's can be there */
        }
    }
    return rc;
}

/* Says which process is waited for, unless it has just closed the file. */
static void note_recovery(const Access *access)
{
    Owner owner = OWNER_NONE;
    int64_t pid = 0;
    Reason text;

    if (access->options.on_wait == NULL) {
        return;
    }
    if (owner_lock(&owner, access->real, true, &pid) != SAP_BUSY) {
        owner_release(&owner);
        return;
    }
    (void)reason_set(&text, SAP_OK, "waiting for process %lld, which opens %s after its owner died",
                     (long long)pid, access->path);
    access->options.on_wait(text.text, access->options.callback_ctx);
}

/* An owner that does not serve is often one that will be done soon. One that recovers the file will
 * serve it, and is waited for as long as one that gives no sign of life; from then on, it has the time
 * of the others to make its socket. */
static int open_patiently(Access *access)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    uint32_t patience_ms =
        access->options.patience_ms != 0 ? access->options.patience_ms : DEFAULT_PATIENCE_MS;
    uint32_t silence_ms =
        access->remote.patience_ms > patience_ms ? access->remote.patience_ms : patience_ms;
    uint64_t start_ns = clock_mono_ns(NULL);
    uint64_t recovered_ms = 0; /* until when it was seen to recover */
    bool noted = false;

    for (;;) {
        bool recovers = false;
        int rc = open_once(access, &recovers);
        uint64_t gone_ms = (clock_mono_ns(NULL) - start_ns) / 1000000;
        recovered_ms = recovers ? gone_ms : recovered_ms;
        bool enough =
            recovers ? gone_ms >= silence_ms : gone_ms - recovered_ms >= (uint64_t)patience_ms;
        if (rc != SAP_BUSY || enough) {
            return rc;
        }
        if (recovers && gone_ms >= patience_ms && !noted) {
            note_recovery(access);
            noted = true;
        }
        (void)nanosleep(&pause, NULL);
        forget(access);
    }
}

int access_open(const char *path, const AccessOptions *options, Access **access_out)
{
    Access *access = (Access *)mem_zalloc(MEM_COMMON, sizeof *access);

    if (access == NULL) {
        return SAP_NOMEM;
    }
    access->options = *options;
    access->path = strdup(path);
    if (access->path == NULL || !mutex_init(&access->mutex)) {
        free(access->path);
        mem_free(MEM_COMMON, access, sizeof *access);
        return SAP_NOMEM;
    }
    access->remote =
        (Remote){.fd = -1,
                 .path = access->path,
                 .patience_ms = options->silence_ms != 0 ? options->silence_ms : DEFAULT_SILENCE_MS,
                 .note = options->on_wait,
                 .note_ctx = options->callback_ctx};
    *access_out = access;
    return access_remember(access, open_patiently(access));
}

static int release_access(Access *access, int (*close_db)(SapEnv *db))
{
    if (access == NULL) {
        return SAP_OK;
    }
    int rc = close_own(access, close_db);
    remote_release(&access->remote);
    mutex_destroy(&access->mutex);
    free(access->path);
    free(access->real);
    mem_free(MEM_COMMON, access, sizeof *access);
    return rc;
}

int access_close(Access *access)
{
    return release_access(access, sap_db_close);
}

int access_discard(Access *access)
{
    return release_access(access, env_discard);
}

void access_end_serving(Access *access)
{
    server_stop(access->server);
}

DB *access_db(const Access *access)
{
    return access->db;
}

bool access_is_remote(const Access *access)
{
    return access->db == NULL;
}

bool access_was_repeated(const Access *access)
{
    return access->repeated;
}

const char *access_real_path(const Access *access)
{
    return access->real;
}

/* ---- Asking the owner ----------------------------------------------------------------------- */

/* Whether a request may be asked again when the owner died after it was asked, and may have performed
 * it. Reading does no harm twice, unless rows were handed on already, which are of another snapshot.
 * A claim hands on its messages only when the answer is complete: one that was performed and not
 * answered is a lease that expires. What became of a claim is known by its token, so that it is found
 * to be done (access_queue_end). All others change something again. */
static bool may_repeat(const Access *access, WireKind kind)
{
    switch (kind) {
    case WIRE_QUEUE_CLAIM:
    case WIRE_QUEUE_END:
    case WIRE_OPEN_TABLE: /* one that is there already is no error */
        return true;
    case WIRE_WRITE:
    case WIRE_DEL_RANGE:
    case WIRE_COMPACT: /* part of the target may be there */
    case WIRE_QUEUE_PUSH:
    case WIRE_LETTERS_END:
        return false;
    default:
        return !access->remote.received;
    }
}

/* What a lost connection means: REMOTE_GONE to ask the next owner, otherwise SAP_IO. `dead_pid` is the
 * owner that was lost before in this call, 0: none. A process that is lost twice lives, and
 * refuses. */
static int after_loss(Access *access, WireKind kind, uint64_t dead_pid)
{
    if (!may_repeat(access, kind) || access->remote.owner_pid == dead_pid) {
        return SAP_IO;
    }
    forget(access);
    access->repeated = true;
    return REMOTE_GONE;
}

/* Asks for as long as the file is another's: REMOTE_GONE where it is this process's now. An owner that
 * said goodbye, or died, may be followed by another one, or by nobody. */
static int ask_owner(Access *access, WireKind kind, int (*fn)(Slice data, void *ctx), void *ctx,
                     uint64_t *result_out)
{
    uint64_t dead_pid = 0;

    for (;;) {
        int rc = remote_ask(&access->remote, kind, fn, ctx, result_out, &access->reason);
        if (rc == REMOTE_LOST) {
            rc = after_loss(access, kind, dead_pid);
            dead_pid = access->remote.owner_pid;
        }
        if (rc != REMOTE_GONE) {
            return rc;
        }
        Buf request = access->remote.request;
        buf_init(&access->remote.request);
        rc = open_patiently(access);
        buf_release(&access->remote.request);
        access->remote.request = request;
        if (rc != SAP_OK) {
            return rc;
        }
        access_assert_valid(access);
        if (access->db != NULL) {
            return REMOTE_GONE;
        }
    }
}

Buf *access_begin(Access *access)
{
    access_assert_valid(access);
    forget(access);
    access->repeated = false;
    buf_clear(&access->remote.request);
    return &access->remote.request;
}

int access_ask(Access *access, int rc, WireKind kind, int (*fn)(Slice data, void *ctx), void *ctx,
               uint64_t *result_out)
{
    if (rc != SAP_OK) {
        return rc;
    }
    return access->db != NULL ? REMOTE_GONE : ask_owner(access, kind, fn, ctx, result_out);
}

/* ---- The calls ------------------------------------------------------------------------------ */

static int take_stat(Slice data, void *ctx)
{
    ByteReader in;

    reader_init(&in, data.data, data.len);
    return wire_get_stat(&in, (AccessStat *)ctx);
}

int access_stat(Access *access, AccessStat *stat_out)
{
    (void)access_begin(access);
    int rc = access_ask(access, SAP_OK, WIRE_STAT, take_stat, stat_out, NULL);

    return access_remember(
        access,
        rc == REMOTE_GONE ? local_stat(access->db, access->real, stat_out, &access->reason) : rc);
}

typedef struct TableSink {
    int (*fn)(const AccessTable *table, void *ctx);
    void *ctx;
} TableSink;

static int take_table(Slice data, void *ctx)
{
    const TableSink *sink = (const TableSink *)ctx;
    ByteReader in;
    AccessTable table;

    reader_init(&in, data.data, data.len);
    int rc = wire_get_table(&in, &table);
    return rc == SAP_OK ? sink->fn(&table, sink->ctx) : rc;
}

int access_tables(Access *access, int (*fn)(const AccessTable *table, void *ctx), void *ctx)
{
    TableSink sink = {fn, ctx};

    (void)access_begin(access);
    int rc = access_ask(access, SAP_OK, WIRE_TABLES, take_table, &sink, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? local_tables(access->db, fn, ctx, &access->reason) : rc);
}

int access_open_table(Access *access, uint32_t dbi, unsigned flags)
{
    Buf *request = access_begin(access);
    int rc = buf_append_u32le(request, dbi);

    rc = rc == SAP_OK ? buf_append_u32le(request, flags) : rc;
    rc = access_ask(access, rc, WIRE_OPEN_TABLE, NULL, NULL, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? local_open_table(access->db, dbi, flags, &access->reason) : rc);
}

static int take_value(Slice data, void *ctx)
{
    return buf_append((Buf *)ctx, data.data, data.len);
}

int access_get(Access *access, uint32_t dbi, Slice key, Buf *val)
{
    Buf *request = access_begin(access);
    int rc = buf_append_u32le(request, dbi);

    rc = rc == SAP_OK ? wire_put_slice(request, key) : rc;
    rc = access_ask(access, rc, WIRE_GET, take_value, val, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? local_get(access->db, dbi, key, val, &access->reason) : rc);
}

static int put_changes(Buf *request, const AccessChange *changes, uint32_t count)
{
    int rc = buf_append_u32le(request, count);

    for (uint32_t i = 0; i < count && rc == SAP_OK; i++) {
        rc = wire_put_change(request, &changes[i]);
    }
    return rc;
}

int access_write(Access *access, const AccessChange *changes, uint32_t count, uint32_t *failed_out)
{
    Buf *request = access_begin(access);
    uint64_t failed = 0;
    int rc = access->db == NULL ? put_changes(request, changes, count) : SAP_OK;

    rc = access_ask(access, rc, WIRE_WRITE, NULL, NULL, &failed);
    if (rc == REMOTE_GONE) {
        return access_remember(
            access, local_write(access->db, changes, count, failed_out, &access->reason));
    }
    if (failed_out != NULL) {
        *failed_out = (uint32_t)failed;
    }
    return access_remember(access, rc);
}

typedef struct RowSink {
    int (*fn)(const AccessRow *row, void *ctx);
    void *ctx;
} RowSink;

static int take_rows(Slice data, void *ctx)
{
    const RowSink *sink = (const RowSink *)ctx;
    ByteReader in;
    int rc = SAP_OK;

    reader_init(&in, data.data, data.len);
    while (rc == SAP_OK && in.left > 0) {
        AccessRow row;
        rc = wire_get_slice(&in, &row.key);
        rc = rc == SAP_OK ? wire_get_slice(&in, &row.val) : rc;
        rc = rc == SAP_OK ? sink->fn(&row, sink->ctx) : rc;
    }
    return rc;
}

int access_scan(Access *access, const AccessRange *range,
                int (*fn)(const AccessRow *row, void *ctx), void *ctx)
{
    RowSink sink = {fn, ctx};
    int rc = wire_put_range(access_begin(access), range);

    rc = access_ask(access, rc, WIRE_SCAN, take_rows, &sink, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? local_scan(access->db, range, fn, ctx, &access->reason) : rc);
}

int access_count(Access *access, const AccessRange *range, uint64_t *count_out)
{
    int rc = wire_put_range(access_begin(access), range);

    rc = access_ask(access, rc, WIRE_COUNT, NULL, NULL, count_out);
    return access_remember(access, rc == REMOTE_GONE
                                       ? local_count(access->db, range, count_out, &access->reason)
                                       : rc);
}

int access_del_range(Access *access, const AccessRange *range, uint64_t *deleted_out)
{
    int rc = wire_put_range(access_begin(access), range);

    rc = access_ask(access, rc, WIRE_DEL_RANGE, NULL, NULL, deleted_out);
    return access_remember(
        access,
        rc == REMOTE_GONE ? local_del_range(access->db, range, deleted_out, &access->reason) : rc);
}

typedef struct TextSink {
    void (*fn)(const char *text, void *ctx);
    void *ctx;
} TextSink;

static int take_text(Slice data, void *ctx)
{
    const TextSink *sink = (const TextSink *)ctx;
    Buf text = {0};
    int rc = buf_append(&text, data.data, data.len);

    rc = rc == SAP_OK ? buf_append_u8(&text, 0) : rc;
    if (rc == SAP_OK) {
        sink->fn((const char *)text.data, sink->ctx);
    }
    buf_release(&text);
    return rc;
}

/* Hears how far the owner is with the next request. */
static void hear(Access *access, sap_progress_fn progress, void *ctx)
{
    access->remote.progress = progress;
    access->remote.progress_ctx = ctx;
}

int access_verify(Access *access, void (*report)(const char *text, void *ctx),
                  sap_progress_fn progress, void *ctx)
{
    TextSink sink = {report, ctx};

    (void)access_begin(access);
    hear(access, progress, ctx);
    int rc = access_ask(access, SAP_OK, WIRE_VERIFY, take_text, &sink, NULL);
    hear(access, NULL, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? db_verify_progress(access->db, report, progress, ctx) : rc);
}

typedef struct ByteSink {
    int (*write)(const void *data, uint32_t len, void *ctx);
    void *ctx;
} ByteSink;

static int take_bytes(Slice data, void *ctx)
{
    const ByteSink *sink = (const ByteSink *)ctx;

    return sink->write(data.data, (uint32_t)data.len, sink->ctx);
}

int access_backup(Access *access, int (*write)(const void *data, uint32_t len, void *ctx),
                  void *ctx)
{
    ByteSink sink = {write, ctx};

    (void)access_begin(access);
    int rc = access_ask(access, SAP_OK, WIRE_BACKUP, take_bytes, &sink, NULL);
    return access_remember(access, rc == REMOTE_GONE ? db_backup(access->db, write, ctx) : rc);
}

int access_stream(Access *access, int (*write)(const void *data, uint32_t len, void *ctx),
                  void *ctx)
{
    ByteSink sink = {write, ctx};

    (void)access_begin(access);
    int rc = access_ask(access, SAP_OK, WIRE_STREAM, take_bytes, &sink, NULL);
    return access_remember(access, rc == REMOTE_GONE ? db_checkpoint(access->db, write, ctx) : rc);
}

/* The owner has a working directory of its own. */
static int put_absolute(Buf *request, const char *path)
{
    Buf whole = {0};
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);
    int rc = here == NULL ? SAP_OK : buf_printf(&whole, "%s/", here);

    free(here);
    rc = rc == SAP_OK ? buf_append_str(&whole, path) : rc;
    rc = rc == SAP_OK ? wire_put_slice(request, (Slice){whole.data, whole.len}) : rc;
    buf_release(&whole);
    return rc;
}

int access_compact(Access *access, const char *target, sap_progress_fn progress, void *ctx)
{
    int rc = put_absolute(access_begin(access), target);

    hear(access, progress, ctx);
    rc = access_ask(access, rc, WIRE_COMPACT, NULL, NULL, NULL);
    hear(access, NULL, NULL);
    return access_remember(
        access, rc == REMOTE_GONE ? db_compact_progress(access->db, target, progress, ctx) : rc);
}
