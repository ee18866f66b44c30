/* access.c - see access.h. */
#include "node/access_impl.h"

#include "common/clock.h"
#include "common/mem.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

enum { DEFAULT_PATIENCE_MS = 2000, DEFAULT_SILENCE_MS = 30000, PAUSE_MS = 2 };

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

static int open_own(Access *access)
{
    bool reads = (access->options.flags & ACCESS_READ) != 0;
    SapOpenOptions options = {
        .flags = reads                                          ? SAP_OPEN_RDONLY
                 : (access->options.flags & ACCESS_CREATE) != 0 ? SAP_OPEN_CREATE
                                                                : 0,
        .page_size = access->options.page_size,
        .on_message = on_message,
        .callback_ctx = access,
    };
    int rc = db_open_path(access->path, &options, &access->db);

    if (rc == SAP_READONLY && reads) { /* what is in the log has to be replayed first */
        forget(access);
        options.flags = 0;
        rc = db_open_path(access->path, &options, &access->db);
    }
    return rc == SAP_OK ? queues_new(access->db, &access->queues) : rc;
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

static int open_once(Access *access)
{
    int rc = open_own(access);

    if ((rc == SAP_OK || rc == SAP_BUSY) && find_real(access) != SAP_OK) {
        return SAP_NOMEM;
    }
    if (rc == SAP_BUSY) {
        rc = remote_connect(&access->remote, &access->reason);
    } else if (rc == SAP_OK && (access->options.flags & ACCESS_SERVE) != 0) {
        rc = server_start(access->db, access->queues, access->real, &access->server);
        if (rc == SAP_IO || rc == SAP_FULL) {
            /* Not to be served is no reason not to be used. */
            Reason why;
            (void)reason_set(&why, rc, "%s.sock: %s: others cannot use the file meanwhile",
                             access->path,
                             rc == SAP_IO ? strerror(errno) : "the name is too long for a socket");
            on_message(why.text, access);
            rc = SAP_OK;
        }
    }
    return rc;
}

/* An owner that does not serve is often one that will be done soon. */
static int open_patiently(Access *access)
{
    static const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000};
    uint32_t patience_ms =
        access->options.patience_ms != 0 ? access->options.patience_ms : DEFAULT_PATIENCE_MS;
    uint64_t until_ns = clock_mono_ns(NULL) + patience_ms * UINT64_C(1000000);
    int rc;

    while ((rc = open_once(access)) == SAP_BUSY && clock_mono_ns(NULL) < until_ns) {
        (void)nanosleep(&pause, NULL);
        forget(access);
    }
    return rc;
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

int access_close(Access *access)
{
    if (access == NULL) {
        return SAP_OK;
    }
    server_stop(access->server);
    queues_free(access->queues);
    int rc = access->db == NULL ? SAP_OK : db_close(access->db);
    remote_release(&access->remote);
    mutex_destroy(&access->mutex);
    free(access->path);
    free(access->real);
    mem_free(MEM_COMMON, access, sizeof *access);
    return rc;
}

DB *access_db(const Access *access)
{
    return access->db;
}

bool access_is_remote(const Access *access)
{
    return access->db == NULL;
}

const char *access_real_path(const Access *access)
{
    return access->real;
}

/* ---- Asking the owner ----------------------------------------------------------------------- */

/* Calls `ask` for as long as the file is another's: REMOTE_GONE where it is this process's now. An
 * owner that said goodbye may be followed by another one, or by nobody. */
static int ask_owner(Access *access, WireKind kind, int (*fn)(Slice data, void *ctx), void *ctx,
                     uint64_t *result_out)
{
    int rc;

    while ((rc = remote_ask(&access->remote, kind, fn, ctx, result_out, &access->reason)) ==
           REMOTE_GONE) {
        Buf request = access->remote.request;
        buf_init(&access->remote.request);
        rc = open_patiently(access);
        buf_release(&access->remote.request);
        access->remote.request = request;
        if (rc != SAP_OK) {
            return rc;
        }
        if (access->db != NULL) {
            return REMOTE_GONE;
        }
    }
    return rc;
}

Buf *access_begin(Access *access)
{
    forget(access);
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
