/* wal.c - writing the log; see wal.h. Reading it back is wal_recover.c. */
#include "sapling/wal.h"

#ifndef __wasi__

#include "common/assert.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/sync.h"
#include "sapling/disk.h"
#include "sapling/wal_format.h"

#include <stdbool.h>

enum {
    SEGMENT_MIN = 4 * WAL_BLOCK,
    SEGMENT_DEFAULT = 16 << 20,
    BUFFER_KEEP = 4 << 20, /* larger ones go back once they are written */
};

typedef struct Segment {
    DiskFile file;
    uint64_t number;
    uint64_t size;   /* 0: none */
    uint64_t offset; /* where the next group goes */
} Segment;

/* The group being filled. Its buffer starts with room for the header. */
typedef struct OpenGroup {
    Buf bytes;
    uint64_t sequence;
    uint64_t first_lsn;
    uint32_t records;
} OpenGroup;

struct Wal {
    char *path;
    size_t path_size;
    uint64_t db_id;
    WalOptions options;

    Mutex mutex;  /* all below, except where said */
    Cond done[2]; /* by parity of the group waited for */
    bool busy;
    uint32_t file_waiters; /* they go before the next leader, who could be followed for ever */
    int failed;            /* SAP_IO once it happened */
    SAP_ATOMIC(uint64_t) synced_lsn; /* read without the mutex */
    uint64_t closed_lsn;             /* last of the group being synced, or synced */
    uint64_t appended_lsn;

    OpenGroup open;
    Buf next;    /* becomes the next open group's; empty while a group is written */
    Buf writing; /* while busy: the leader's */
    size_t reserved;

    /* While busy: of whoever is, except that wal_reserve reads them under the mutex. */
    Segment current;
    Segment ready; /* the one behind current, opened */
    uint64_t chain;
    uint64_t first_file; /* the earliest segment there may be */
    uint64_t last_file;  /* current.number + 1 .. last_file are free and durable */
};

/* ---- Who works on the files ----------------------------------------------------------------- */

static void wake_one(Cond *cond)
{
#if SAPLING_THREADED
    pthread_cond_signal(cond);
#else
    (void)cond;
#endif
}

/* Of the group that is or was last written, everyone; of the open one, somebody to lead it. */
static void give_files(Wal *wal)
{
    wal->busy = false;
    cond_broadcast(&wal->done[(wal->open.sequence - 1) & 1]);
    if (wal->failed != SAP_OK) {
        cond_broadcast(&wal->done[wal->open.sequence & 1]);
    } else {
        wake_one(&wal->done[wal->open.sequence & 1]);
    }
}

/* The open group cannot be closed while somebody waits here, so the condition stays the right one.
 */
static void take_files(Wal *wal)
{
    wal->file_waiters++;
    while (wal->busy) {
        cond_wait(&wal->done[(wal->open.sequence - 1) & 1], &wal->mutex);
    }
    wal->file_waiters--;
    wal->busy = true;
}

/* ---- Segments ------------------------------------------------------------------------------- */

static int make_segment(const char *name, uint64_t size, DiskFile *file)
{
    int rc = disk_unlink(name);

    if (rc != SAP_OK && rc != SAP_NOTFOUND) {
        return rc;
    }
    rc = disk_create(name, file);
    if (rc == SAP_OK) {
        rc = disk_write_zeros(file, 0, size);
    }
    if (rc == SAP_OK) {
        rc = disk_sync(file);
    }
    return rc == SAP_OK ? disk_sync_dir(name) : rc;
}

/* A spare segment that is at least `size` long afterwards. */
static int open_spare(const char *name, uint64_t size, DiskFile *file, uint64_t *size_out)
{
    int rc = disk_open(name, file);

    if (rc == SAP_OK) {
        rc = disk_size(file, size_out);
    }
    if (rc != SAP_OK || *size_out >= size) {
        return rc;
    }
    rc = disk_write_zeros(file, *size_out, size);
    *size_out = size;
    return rc == SAP_OK ? disk_sync(file) : rc;
}

/* Makes `ready` a segment of at least `need` bytes. The caller is busy, without the mutex. After a
 * failure there is no ready segment and its file, if any, holds nothing. */
static int make_ready(Wal *wal, uint64_t need)
{
    Segment segment = {.file = DISK_FILE_NONE, .number = wal->current.number + 1};
    Buf name = {0};

    need = wal_group_space(need);
    segment.size = need > wal->options.segment_bytes ? need : wal->options.segment_bytes;
    disk_close(&wal->ready.file);
    wal->ready.size = 0;
    int rc = wal_segment_name(&name, wal->path, segment.number);
    if (rc != SAP_OK) {
        goto out;
    }
    if (segment.number <= wal->last_file) {
        rc = open_spare((const char *)name.data, segment.size, &segment.file, &segment.size);
    } else {
        rc = make_segment((const char *)name.data, segment.size, &segment.file);
    }
    if (rc != SAP_OK) {
        disk_close(&segment.file);
        if (rc != SAP_IO) {
            (void)disk_unlink((const char *)name.data);
        }
        wal->last_file = wal->current.number;
        rc = rc == SAP_FULL || rc == SAP_NOMEM ? rc : SAP_IO;
        goto out;
    }
    if (wal->last_file < segment.number) {
        wal->last_file = segment.number;
    }
    wal->ready = segment;
out:
    buf_release(&name);
    return rc;
}

/* The same for one who holds the mutex and is not busy. */
static int make_ready_locked(Wal *wal, uint64_t need)
{
    take_files(wal);
    int rc = wal->failed;
    if (rc == SAP_OK) {
        mutex_unlock(&wal->mutex);
        rc = make_ready(wal, need);
        mutex_lock(&wal->mutex);
        if (rc == SAP_IO) {
            wal->failed = SAP_IO;
        }
    }
    give_files(wal);
    return rc;
}

static void next_segment(Wal *wal)
{
    SAP_ASSERT(wal->ready.size > 0 && wal->ready.number == wal->current.number + 1);
    disk_close(&wal->current.file);
    wal->current = wal->ready;
    wal->ready = (Segment){.file = DISK_FILE_NONE};
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* `buf` has room for it. */
static void begin_group(Buf *buf)
{
    static const uint8_t header[WAL_GROUP_HEADER];

    buf_clear(buf);
    int rc = buf_append(buf, header, sizeof header);
    SAP_ASSERT(rc == SAP_OK);
}

/* Room for one more record of `bytes` and for the padding, whether the open group is closed before
 * the record comes or not. */
static int reserve_memory(Wal *wal, size_t bytes)
{
    size_t fresh = WAL_GROUP_HEADER + bytes + WAL_BLOCK;
    int rc = buf_reserve(&wal->open.bytes, bytes + WAL_BLOCK);

    if (rc == SAP_OK && wal->next.cap < fresh && wal->writing.cap < fresh) {
        rc = buf_reserve(&wal->next, fresh);
    }
    return rc;
}

/* Cutting a group in two costs at most two blocks more. */
static uint64_t space_needed(const Wal *wal, size_t bytes)
{
    return wal_group_space(wal->open.bytes.len + bytes) + UINT64_C(2) * WAL_BLOCK;
}

static bool has_space(const Wal *wal, uint64_t need)
{
    return wal->current.size - wal->current.offset >= need || wal->ready.size >= need;
}

/* Closes the open group and says where it goes. */
static WalGroup close_group(Wal *wal, uint64_t *offset_out)
{
    uint64_t space = wal_group_space(wal->open.bytes.len);

    if (wal->current.size - wal->current.offset < space) {
        next_segment(wal);
    }
    SAP_ASSERT(wal->current.size - wal->current.offset >= space);
    SAP_ASSERT(wal->open.records > 0 && wal->open.bytes.cap >= space);
    WalGroup group = {
        .db_id = wal->db_id,
        .segment = wal->current.number,
        .sequence = wal->open.sequence,
        .payload_len = (uint32_t)(wal->open.bytes.len - WAL_GROUP_HEADER),
        .record_count = wal->open.records,
        .first_lsn = wal->open.first_lsn,
        .chain = wal->chain,
    };
    *offset_out = wal->current.offset;
    wal->current.offset += space;
    wal->closed_lsn = wal->appended_lsn;
    wal->writing = wal->open.bytes;
    wal->open = (OpenGroup){.bytes = wal->next, .sequence = group.sequence + 1};
    buf_init(&wal->next);
    begin_group(&wal->open.bytes);
    return group;
}

/* The buffer that was written becomes the next one, unless a larger one was made meanwhile. */
static void recycle_buffer(Wal *wal)
{
    if (wal->next.cap < wal->writing.cap) {
        Buf larger = wal->writing;
        wal->writing = wal->next;
        wal->next = larger;
    }
    buf_release(&wal->writing);
}

/* Writes and syncs the open group. The mutex is held, and given up meanwhile. */
static void lead(Wal *wal)
{
    uint64_t offset = 0;
    WalGroup group = close_group(wal, &offset);
    Buf *bytes = &wal->writing;
    size_t space = (size_t)wal_group_space(bytes->len);

    wal->busy = true;
    mutex_unlock(&wal->mutex);
    memset(bytes->data + bytes->len, 0, space - bytes->len);
    uint64_t checksum = wal_group_encode(&group, bytes->data);
    int rc = disk_write(&wal->current.file, offset, bytes->data, space);
    fault_step("log group written");
    if (rc == SAP_OK) {
        rc = disk_sync(&wal->current.file);
    }
    fault_step("log group synced");
    mutex_lock(&wal->mutex);
    recycle_buffer(wal);
    if (rc == SAP_OK) {
        wal->chain = checksum;
        atomic_store_release(&wal->synced_lsn, wal->closed_lsn);
    } else {
        wal->failed = SAP_IO;
    }
    give_files(wal);
}

static int wait_locked(Wal *wal, uint64_t lsn)
{
    SAP_ASSERT(lsn <= wal->appended_lsn || wal->failed != SAP_OK);
    while (atomic_load_relaxed(&wal->synced_lsn) < lsn) {
        if (wal->failed != SAP_OK) {
            return wal->failed;
        }
        if (!wal->busy && wal->file_waiters == 0) {
            lead(wal);
        } else {
            uint64_t group = wal->open.sequence - (lsn <= wal->closed_lsn ? 1 : 0);
            cond_wait(&wal->done[group & 1], &wal->mutex);
        }
    }
    return SAP_OK;
}

/* ---- The calls ------------------------------------------------------------------------------ */

/* Files that a recovery found to hold nothing are removed; the earliest of the others is noted. */
static int clear_segments(Wal *wal, uint64_t start)
{
    Buf numbers = {0};
    Buf name = {0};
    int rc = wal_segments(wal->path, &numbers);
    size_t count = numbers.len / sizeof(uint64_t);

    wal->first_file = start;
    for (size_t i = count; rc == SAP_OK && i-- > 0;) {
        uint64_t number;
        memcpy(&number, numbers.data + i * sizeof number, sizeof number);
        if (number < start) {
            wal->first_file = number;
            continue;
        }
        rc = wal_segment_name(&name, wal->path, number);
        if (rc == SAP_OK) {
            rc = disk_unlink((const char *)name.data);
        }
    }
    buf_release(&name);
    buf_release(&numbers);
    return rc;
}

static int init_buffers(Wal *wal)
{
    size_t room = WAL_GROUP_HEADER + WAL_BLOCK;
    int rc = buf_reserve(&wal->open.bytes, room);

    if (rc == SAP_OK) {
        rc = buf_reserve(&wal->next, room);
    }
    if (rc == SAP_OK) {
        begin_group(&wal->open.bytes);
    }
    return rc;
}

static bool init_sync(Wal *wal)
{
    if (!mutex_init(&wal->mutex)) {
        return false;
    }
    if (!cond_init(&wal->done[0])) {
        goto no_first;
    }
    if (!cond_init(&wal->done[1])) {
        goto no_second;
    }
    return true;
no_second:
    cond_destroy(&wal->done[0]);
no_first:
    mutex_destroy(&wal->mutex);
    return false;
}

static void free_wal(Wal *wal)
{
    disk_close(&wal->current.file);
    disk_close(&wal->ready.file);
    buf_release(&wal->open.bytes);
    buf_release(&wal->next);
    buf_release(&wal->writing);
    mem_free(MEM_ENV, wal->path, wal->path_size);
    mem_free(MEM_ENV, wal, sizeof *wal);
}

int wal_open(Wal **wal_out, const char *path, uint64_t db_id, const WalPoint *start,
             uint64_t after_lsn, const WalOptions *options)
{
    Wal *wal = mem_zalloc(MEM_ENV, sizeof *wal);
    int rc = SAP_NOMEM;

    if (wal == NULL) {
        return SAP_NOMEM;
    }
    wal->options = *options;
    if (wal->options.segment_bytes == 0) {
        wal->options.segment_bytes = SEGMENT_DEFAULT;
    }
    SAP_ASSERT(wal->options.segment_bytes % WAL_BLOCK == 0 &&
               wal->options.segment_bytes >= SEGMENT_MIN);
    SAP_ASSERT(start->segment > 0 && start->sequence > 0);
    wal->db_id = db_id;
    wal->chain = start->chain;
    wal->open.sequence = start->sequence;
    wal->current = (Segment){.file = DISK_FILE_NONE, .number = start->segment - 1};
    wal->ready.file = DISK_FILE_NONE;
    wal->last_file = wal->current.number;
    wal->appended_lsn = wal->closed_lsn = after_lsn;
    atomic_store_relaxed(&wal->synced_lsn, after_lsn);
    wal->path_size = strlen(path) + 1;
    wal->path = mem_alloc(MEM_ENV, wal->path_size);
    if (wal->path == NULL) {
        goto fail;
    }
    memcpy(wal->path, path, wal->path_size);
    rc = init_buffers(wal);
    if (rc == SAP_OK) {
        rc = clear_segments(wal, start->segment);
    }
    if (rc == SAP_OK) {
        rc = make_ready(wal, wal->options.segment_bytes);
    }
    if (rc != SAP_OK) {
        goto fail;
    }
    next_segment(wal);
    if (!init_sync(wal)) {
        rc = SAP_NOMEM;
        goto fail;
    }
    *wal_out = wal;
    return SAP_OK;
fail:
    free_wal(wal);
    return rc;
}

void wal_close(Wal *wal)
{
    if (wal == NULL) {
        return;
    }
    SAP_ASSERT(!wal->busy && wal->file_waiters == 0);
    cond_destroy(&wal->done[1]);
    cond_destroy(&wal->done[0]);
    mutex_destroy(&wal->mutex);
    free_wal(wal);
}

int wal_reserve(Wal *wal, size_t len)
{
    if (len > WAL_RECORD_MAX) {
        return SAP_FULL;
    }
    size_t bytes = WAL_RECORD_HEADER + len;

    mutex_lock(&wal->mutex);
    wal->reserved = 0;
    if (!wal->busy && wal->open.records == 0 && wal->next.cap > BUFFER_KEEP) {
        buf_release(&wal->next); /* a smaller one is made below */
    }
    int rc = wal->failed;
    /* Only a single record makes a group larger than a segment. */
    if (rc == SAP_OK && wal->open.records > 0 &&
        space_needed(wal, bytes) > wal->options.segment_bytes) {
        rc = wait_locked(wal, wal->appended_lsn);
    }
    if (rc == SAP_OK) {
        rc = reserve_memory(wal, bytes);
    }
    uint64_t need = space_needed(wal, bytes);
    if (rc == SAP_OK && !has_space(wal, need)) {
        rc = make_ready_locked(wal, need);
    }
    if (rc == SAP_OK) {
        wal->reserved = bytes;
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

void wal_append(Wal *wal, uint64_t lsn, const void *data, size_t len)
{
    uint8_t header[WAL_RECORD_HEADER];

    wal_record_encode(header, lsn, (uint32_t)len);
    mutex_lock(&wal->mutex);
    SAP_ASSERT(wal->reserved >= sizeof header + len);
    SAP_ASSERT(lsn > wal->appended_lsn);
    wal->reserved = 0;
    wal->appended_lsn = lsn;
    if (wal->failed == SAP_OK) {
        Buf *bytes = &wal->open.bytes;
        SAP_ASSERT(bytes->cap - bytes->len >= sizeof header + len + WAL_BLOCK - 1);
        int rc = buf_append(bytes, header, sizeof header);
        rc = rc == SAP_OK ? buf_append(bytes, data, len) : rc;
        SAP_ASSERT(rc == SAP_OK);
        if (wal->open.records++ == 0) {
            wal->open.first_lsn = lsn;
        }
    }
    mutex_unlock(&wal->mutex);
}

int wal_wait(Wal *wal, uint64_t lsn)
{
    if (wal_synced(wal) >= lsn) {
        return SAP_OK;
    }
    mutex_lock(&wal->mutex);
    int rc = wait_locked(wal, lsn);
    mutex_unlock(&wal->mutex);
    return rc;
}

uint64_t wal_synced(Wal *wal)
{
    return atomic_load_acquire(&wal->synced_lsn);
}

int wal_rotate(Wal *wal, WalPoint *point_out)
{
    mutex_lock(&wal->mutex);
    wal->reserved = 0;
    int rc = wal->failed != SAP_OK ? wal->failed : wait_locked(wal, wal->appended_lsn);
    if (rc == SAP_OK && wal->current.offset > 0 && wal->ready.size == 0) {
        rc = make_ready_locked(wal, wal->options.segment_bytes);
    }
    if (rc == SAP_OK) {
        take_files(wal);
        rc = wal->failed;
        if (rc == SAP_OK) {
            if (wal->current.offset > 0) {
                next_segment(wal);
            }
            *point_out = (WalPoint){wal->current.number, wal->open.sequence, wal->chain};
        }
        give_files(wal);
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

static int release_segment(Wal *wal, uint64_t number, Buf *name, Buf *to)
{
    DiskFile file;
    uint64_t size = 0;
    int rc = wal_segment_name(name, wal->path, number);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = disk_open((const char *)name->data, &file);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    rc = disk_size(&file, &size);
    disk_close(&file);
    if (rc != SAP_OK) {
        return rc;
    }
    if (size != wal->options.segment_bytes ||
        wal->last_file - wal->current.number >= wal->options.spare_max) {
        return disk_unlink((const char *)name->data);
    }
    rc = wal_segment_name(to, wal->path, wal->last_file + 1);
    if (rc == SAP_OK) {
        rc = disk_rename((const char *)name->data, (const char *)to->data);
    }
    if (rc == SAP_OK) {
        wal->last_file++;
    }
    return rc;
}

int wal_release(Wal *wal, uint64_t first_needed)
{
    Buf name = {0};
    Buf to = {0};

    mutex_lock(&wal->mutex);
    take_files(wal);
    int rc = wal->failed;
    SAP_ASSERT(first_needed <= wal->current.number);
    if (rc == SAP_OK && wal->first_file < first_needed) {
        mutex_unlock(&wal->mutex);
        for (uint64_t n = wal->first_file; rc == SAP_OK && n < first_needed; n++) {
            rc = release_segment(wal, n, &name, &to);
        }
        if (rc == SAP_OK) {
            rc = disk_sync_dir(wal->path);
        }
        mutex_lock(&wal->mutex);
        if (rc == SAP_OK) {
            wal->first_file = first_needed;
        } else {
            rc = wal->failed = SAP_IO;
        }
    }
    give_files(wal);
    mutex_unlock(&wal->mutex);
    buf_release(&name);
    buf_release(&to);
    return rc;
}

#endif
