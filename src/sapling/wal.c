/* wal.c - writing the log; see wal.h. Reading it back is wal_recover.c. */
#include "sapling/wal.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/sync.h"
#include "sapling/disk.h"
#include "sapling/wal_format.h"

#include <errno.h>
#include <stdbool.h>

enum {
    SEGMENT_DEFAULT = 16 << 20,
    FILL_STEP = 512 << 10,
    BUFFER_KEEP = 4 << 20, /* larger ones go back once they are written */
    DIRECT_MOST = 2 * WAL_BLOCK,
};

_Static_assert(WAL_BLOCK % DISK_ALIGN == 0, "a group can be written directly");

typedef struct Segment {
    DiskFile file;
    uint64_t number;
    uint64_t size;   /* 0: none */
    uint64_t offset; /* where the next group goes */
} Segment;

/* The group being filled. Its bytes start with room for the header. */
typedef struct OpenGroup {
    Buf bytes; /* as all of groups, in memory of room_reserve() */
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
    SAP_ATOMIC(uint64_t) synced_lsn; /* read without the mutex */
    uint64_t closed_lsn;             /* last of the group being synced, or synced */
    uint64_t appended_lsn;

    /* Those who wait, by parity of their group's sequence: a word that changes whenever somebody
     * stops leading, and how many sleep on it, or more. */
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
    SAP_ATOMIC(bool) wants_ready; /* there is none, and it is time; read without the mutex */
    uint64_t chain;

    SAP_ATOMIC(uint64_t) bytes; /* what wal_bytes answers; read without the mutex */
    uint64_t rotated_segment;   /* the last point of wal_rotate, and the bytes before it */
    uint64_t rotated_bytes;

    /* While filing: of whoever is. */
    uint64_t first_file; /* the earliest segment there may be */
    uint64_t last_file;  /* what there is of current.number + 1 .. last_file is free and whole */
    bool names_dirty;    /* names were changed and the directory is not synced */
};

/* ---- Waiting -------------------------------------------------------------------------------- */

/* Everybody who waits looks again. */
static void wake_all(Wal *wal)
{
    for (int i = 0; i < 2; i++) {
        wal->sleepers[i] = 0;
        atomic_store_relaxed(&wal->turn[i], atomic_load_relaxed(&wal->turn[i]) + 1);
        word_wake_all(&wal->turn[i]);
    }
}

static void fail(Wal *wal)
{
    wal->failed = SAP_IO;
    wake_all(wal);
}

/* Wakes everyone of the group that was written, who need not take the mutex again, and somebody to
 * lead the open one. The mutex is held, and given up. */
static void stop_leading(Wal *wal)
{
    unsigned open = wal->open.sequence & 1;
    bool wake_leader = wal->sleepers[open] > 0;
    bool wake_group = wal->sleepers[!open] > 0;

    wal->leading = false;
    wal->sleepers[!open] = 0;
    /* Who saw a leader and does not sleep yet must not fall asleep. */
    for (int i = 0; i < 2; i++) {
        atomic_store_relaxed(&wal->turn[i], atomic_load_relaxed(&wal->turn[i]) + 1);
    }
    mutex_unlock(&wal->mutex);
    if (wake_leader) {
        word_wake_one(&wal->turn[open]);
    }
    if (wake_group) {
        word_wake_all(&wal->turn[!open]);
    }
}

/* Until somebody stops leading. The mutex is held, and given up. */
static void sleep_a_turn(Wal *wal, uint64_t lsn)
{
    unsigned group = (wal->open.sequence - (lsn <= wal->closed_lsn ? 1 : 0)) & 1;
    uint32_t seen = atomic_load_relaxed(&wal->turn[group]);

    wal->sleepers[group]++;
    mutex_unlock(&wal->mutex);
    word_wait(&wal->turn[group], seen);
}

static void take_files(Wal *wal)
{
    while (wal->filing) {
        cond_wait(&wal->filed, &wal->mutex);
    }
    wal->filing = true;
}

static void give_files(Wal *wal)
{
    wal->filing = false;
    cond_broadcast(&wal->filed);
}

/* ---- Segments ------------------------------------------------------------------------------- */

static void update_wish(Wal *wal)
{
    atomic_store_relaxed(&wal->wants_ready,
                         wal->ready.size == 0 && wal->current.offset >= wal->current.size / 2);
}

static void set_ready(Wal *wal, Segment segment)
{
    wal->ready = segment;
    update_wish(wal);
}

/* All names are on disk. A failed sync proves nothing about names changed before it, whatever a
 * later one says: SAP_IO. SAP_NOMEM: not tried. */
static int sync_names(Wal *wal)
{
    if (!wal->names_dirty) {
        return SAP_OK;
    }
    int rc = disk_sync_dir(wal->path);
    if (rc == SAP_OK) {
        wal->names_dirty = false;
    }
    return rc == SAP_OK || rc == SAP_NOMEM ? rc : SAP_IO;
}

/* Zeros from..to, on disk: step by step, so that the sync of a group never queues behind a whole
 * segment. */
static int fill(DiskFile *file, uint64_t from, uint64_t to)
{
    int rc = SAP_OK;

    while (rc == SAP_OK && from < to) {
        uint64_t end = to - from < FILL_STEP ? to : from + FILL_STEP;
        rc = disk_write_zeros(file, from, end);
        if (rc == SAP_OK) {
            rc = disk_sync(file);
        }
        from = end;
    }
    return rc;
}

/* A file of at least segment->size bytes, all of them on disk. SAP_NOTFOUND: there is none. */
static int open_spare(const char *name, Segment *segment)
{
    uint64_t size = 0;
    int rc = disk_open(name, &segment->file);

    if (rc == SAP_OK) {
        rc = disk_size(&segment->file, &size);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (size >= segment->size) {
        segment->size = size;
        return SAP_OK;
    }
    return fill(&segment->file, size, segment->size);
}

/* A file that is there is what is left of one that could not be made. */
static int create_segment(Wal *wal, const char *name, Segment *segment)
{
    wal->names_dirty = true;
    int rc = disk_unlink(name);
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        rc = disk_create(name, &segment->file);
    }
    return rc == SAP_OK ? fill(&segment->file, 0, segment->size) : rc;
}

/* Makes segment `number` of at least `size` bytes, of a spare one where there is one. The caller is
 * filing, without the mutex. SAP_FULL, SAP_NOMEM: there is none, or one that holds nothing. */
static int make_segment(Wal *wal, uint64_t number, uint64_t size, Segment *segment_out)
{
    Segment segment = {.file = DISK_FILE_NONE, .number = number, .size = size};
    Buf name = {0};
    int rc = wal_segment_name(&name, wal->path, number);

    if (rc != SAP_OK) {
        goto out;
    }
    const char *path = (const char *)name.data;
    rc = number <= wal->last_file ? open_spare(path, &segment) : SAP_NOTFOUND;
    bool created = rc == SAP_NOTFOUND;
    if (created) {
        rc = create_segment(wal, path, &segment);
    }
    int err = errno; /* the system's answer is the caller's to tell */
    if (rc == SAP_FULL || rc == SAP_NOMEM) {
        disk_close(&segment.file);
        /* One that was there stays: the next try finds it, and a checkpoint may ask for it. */
        if (created) {
            (void)disk_unlink(path);
            wal->last_file = wal->last_file >= number ? number - 1 : wal->last_file;
        }
        errno = err;
        goto out;
    }
    if (rc == SAP_OK) {
        if (wal->last_file < number) {
            wal->last_file = number;
        }
        rc = sync_names(wal);
    }
    if (rc == SAP_OK) {
        *segment_out = segment;
    } else {
        disk_close(&segment.file);
        rc = rc == SAP_NOMEM ? rc : SAP_IO;
    }
out:
    buf_release(&name);
    return rc;
}

/* Makes the segment behind the current one ready for `need` bytes. The caller is filing and holds
 * the mutex, which is given up meanwhile. The current segment stays the same: to leave it takes a
 * ready one. Where there is a ready one, which is too small, no group is open that needs it. */
static int make_ready(Wal *wal, uint64_t need)
{
    Segment segment = wal->ready;
    uint64_t number = wal->current.number + 1;

    SAP_ASSERT(wal->ready.size == 0 || wal->open.records == 0);
    need = wal_group_space(need);
    set_ready(wal, (Segment){.file = DISK_FILE_NONE});
    mutex_unlock(&wal->mutex);
    disk_close(&segment.file);
    int rc = make_segment(wal, number,
                          need > wal->options.segment_bytes ? need : wal->options.segment_bytes,
                          &segment);
    mutex_lock(&wal->mutex);
    if (rc == SAP_OK) {
        SAP_ASSERT(segment.number == wal->current.number + 1);
        set_ready(wal, segment);
    } else if (rc == SAP_IO) {
        fail(wal);
    }
    return rc;
}

static void next_segment(Wal *wal)
{
    SAP_ASSERT(wal->ready.size > 0 && wal->ready.number == wal->current.number + 1);
    disk_close(&wal->current.file);
    wal->current = wal->ready;
    set_ready(wal, (Segment){.file = DISK_FILE_NONE});
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* Room for `extra` more bytes, in memory that a direct write can take. */
static int room_reserve(Buf *room, size_t extra)
{
    if (extra <= room->cap - room->len) {
        return SAP_OK;
    }
    size_t cap = 2 * room->cap;
    cap = cap < room->len + extra ? (size_t)wal_group_space(room->len + extra) : cap;
    uint8_t *data = (uint8_t *)mem_alloc_aligned(MEM_ENV, DISK_ALIGN, cap);
    if (data == NULL) {
        return SAP_NOMEM;
    }
    if (room->len > 0) {
        memcpy(data, room->data, room->len);
    }
    mem_free_aligned(MEM_ENV, room->data, room->cap);
    room->data = data;
    room->cap = cap;
    return SAP_OK;
}

static void room_release(Buf *room)
{
    mem_free_aligned(MEM_ENV, room->data, room->cap);
    *room = (Buf){0};
}

/* `buf` has room for it. */
static void begin_group(Buf *buf)
{
    static const uint8_t header[WAL_GROUP_HEADER];

    buf_clear(buf);
    int rc = buf_append(buf, header, sizeof header);
    SAP_ASSERT(rc == SAP_OK);
}

/* Room for one more record of `bytes` and for the padding, whether the open group is closed before
 * the record comes or not. An empty one is not. */
static int reserve_memory(Wal *wal, size_t bytes)
{
    size_t fresh = WAL_GROUP_HEADER + (wal->open.records > 0 ? bytes : 0) + WAL_BLOCK;
    int rc = room_reserve(&wal->open.bytes, bytes + WAL_BLOCK);

    if (rc == SAP_OK && wal->next.cap < fresh && wal->writing.cap < fresh) {
        rc = room_reserve(&wal->next, fresh);
    }
    return rc;
}

/* Cutting a group in two costs at most two blocks more, and the last one of a segment stays free. */
static uint64_t space_needed(const Wal *wal, size_t bytes)
{
    return wal_group_space(wal->open.bytes.len + bytes) + UINT64_C(3) * WAL_BLOCK;
}

static bool has_space(const Wal *wal, uint64_t need)
{
    return wal->current.size - wal->current.offset >= need || wal->ready.size >= need;
}

/* Closes the open group and says where it goes. */
static WalGroup close_group(Wal *wal, uint64_t *offset_out)
{
    uint64_t space = wal_group_space(wal->open.bytes.len);

    if (wal->current.size - wal->current.offset <= space) {
        next_segment(wal);
    }
    SAP_ASSERT(wal->current.size - wal->current.offset > space);
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
    update_wish(wal);
    atomic_store_relaxed(&wal->bytes, atomic_load_relaxed(&wal->bytes) + space);
    wal->closed_lsn = wal->appended_lsn;
    wal->writing = wal->open.bytes;
    wal->open = (OpenGroup){.bytes = wal->next, .sequence = group.sequence + 1};
    buf_init(&wal->next);
    begin_group(&wal->open.bytes);
    if (wal->options.on_closed != NULL) {
        wal->options.on_closed(wal->options.hook_ctx);
    }
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
    room_release(&wal->writing);
}

/* Lets those run who waited for the last two groups and can run now, since they often commit again:
 * otherwise the first of them to come back would lead a group of its own, and the others wait for
 * two syncs. Ends when all are here, a turn brought nobody, or a sync would have been done by now:
 * where transactions are long, waiting for them costs more than it saves. Who was alone is not
 * delayed. The mutex is held, and given up meanwhile. */
static void gather(Wal *wal)
{
    unsigned open = wal->open.sequence & 1;
    uint32_t here = wal->sleepers[open] + 1;

    uint64_t until_ns = clock_mono_ns(NULL) + wal->sync_ns;
    while (here + 1 < wal->company[0] + wal->company[1] && clock_mono_ns(NULL) < until_ns) {
        mutex_unlock(&wal->mutex);
        thread_yield();
        mutex_lock(&wal->mutex);
        uint32_t before = here;
        here = wal->sleepers[open] + 1;
        if (here <= before) {
            break;
        }
    }
    wal->company[1] = wal->company[0];
    wal->company[0] = here;
}

/* A short group is sooner on disk when it is written past the cache. Larger ones come of many threads,
 * and measured slower that way. */
static int write_group(DiskFile *file, uint64_t offset, const uint8_t *bytes, size_t space)
{
    return space <= DIRECT_MOST ? disk_write_direct(file, offset, bytes, space)
                                : disk_write(file, offset, bytes, space);
}

/* Writes and syncs the open group. The mutex is held, and given up. */
static void lead(Wal *wal)
{
    uint64_t offset = 0;

    wal->leading = true;
    gather(wal);
    if (wal->failed != SAP_OK) {
        stop_leading(wal);
        return;
    }
    WalGroup group = close_group(wal, &offset);
    Buf *bytes = &wal->writing;
    size_t space = (size_t)wal_group_space(bytes->len);
    mutex_unlock(&wal->mutex);
    memset(bytes->data + bytes->len, 0, space - bytes->len);
    uint64_t checksum = wal_group_encode(&group, bytes->data);
    uint64_t begin_ns = clock_mono_ns(NULL);
    int rc = write_group(&wal->current.file, offset, bytes->data, space);
    fault_step("log group written");
    if (rc == SAP_OK) {
        rc = disk_sync(&wal->current.file);
    }
    fault_step("log group synced");
    uint64_t sync_ns = clock_mono_ns(NULL) - begin_ns;
    mutex_lock(&wal->mutex);
    wal->sync_ns = sync_ns;
    recycle_buffer(wal);
    if (rc == SAP_OK) {
        wal->chain = checksum;
        if (wal->options.on_synced != NULL) {
            wal->options.on_synced(wal->options.hook_ctx);
        }
        atomic_store_release(&wal->synced_lsn, wal->closed_lsn);
    } else {
        fail(wal);
    }
    stop_leading(wal);
}

/* ---- The calls ------------------------------------------------------------------------------ */

/* Whether a file that recovery found to be behind the end of the log may be the segment of its
 * number. A group in it that claims this number must never be taken for one written from now on,
 * although both would follow the same group. There is no whole one, or recovery would have read it.
 * An incomplete one is the only group of its segment (invariant 1 of wal.h) and so in the first
 * block; if its header is not on disk it never will be. Groups of the segments that the file was
 * before have lower numbers. */
static int is_reusable(Wal *wal, const char *name, uint64_t number, uint64_t start,
                       bool *reusable_out)
{
    uint8_t header[WAL_GROUP_HEADER];
    WalGroup group;
    DiskFile file;
    uint64_t size = 0;
    int rc = disk_open(name, &file);

    if (rc != SAP_OK) {
        return rc;
    }
    rc = disk_size(&file, &size);
    *reusable_out = false;
    /* The first one is never removed, which a checkpoint on disk may ask for, whatever its size. */
    if (rc == SAP_OK && (size == wal->options.segment_bytes ||
                         (number == start && size >= WAL_SEGMENT_MIN && size % WAL_BLOCK == 0))) {
        rc = disk_read(&file, 0, header, sizeof header);
        *reusable_out = wal_group_decode(header, &group) != SAP_OK || group.segment < start;
    }
    disk_close(&file);
    return rc;
}

/* Of the files from `start` on, which hold nothing, keeps what can be used again and removes the
 * others. The earliest of the files before it is noted. */
static int sort_files(Wal *wal, uint64_t start)
{
    Buf numbers = {0};
    Buf name = {0};
    int rc = wal_segments(wal->path, &numbers);
    size_t count = numbers.len / sizeof(uint64_t);

    wal->first_file = start;
    wal->last_file = start - 1;
    for (size_t i = count; rc == SAP_OK && i-- > 0;) {
        bool keep = false;
        uint64_t number;
        memcpy(&number, numbers.data + i * sizeof number, sizeof number);
        if (number < start) {
            wal->first_file = number;
            continue;
        }
        rc = wal_segment_name(&name, wal->path, number);
        if (rc == SAP_OK && wal->options.recovered && number - start <= wal->options.spare_max) {
            rc = is_reusable(wal, (const char *)name.data, number, start, &keep);
        }
        if (rc == SAP_OK && !keep) {
            rc = disk_unlink((const char *)name.data);
            wal->names_dirty = true;
        }
        if (keep && wal->last_file < number) {
            wal->last_file = number;
        }
    }
    buf_release(&name);
    buf_release(&numbers);
    return rc;
}

static int init_buffers(Wal *wal)
{
    size_t room = WAL_GROUP_HEADER + WAL_BLOCK;
    int rc = room_reserve(&wal->open.bytes, room);

    if (rc == SAP_OK) {
        rc = room_reserve(&wal->next, room);
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
    if (!cond_init(&wal->filed)) {
        mutex_destroy(&wal->mutex);
        return false;
    }
    return true;
}

static void free_wal(Wal *wal)
{
    disk_close(&wal->current.file);
    disk_close(&wal->ready.file);
    room_release(&wal->open.bytes);
    room_release(&wal->next);
    room_release(&wal->writing);
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
               wal->options.segment_bytes >= WAL_SEGMENT_MIN &&
               wal->options.segment_bytes <= WAL_SEGMENT_MAX);
    SAP_ASSERT(start->segment > 0 && start->sequence > 0);
    wal->db_id = db_id;
    wal->chain = start->chain;
    wal->open.sequence = start->sequence;
    wal->rotated_segment = start->segment;
    wal->current.file = DISK_FILE_NONE;
    wal->ready.file = DISK_FILE_NONE;
    wal->appended_lsn = wal->closed_lsn = after_lsn;
    atomic_store_relaxed(&wal->synced_lsn, after_lsn);
    wal->path_size = strlen(path) + 1;
    wal->path = mem_copy(MEM_ENV, path, wal->path_size);
    if (wal->path == NULL) {
        goto fail;
    }
    rc = init_buffers(wal);
    if (rc == SAP_OK) {
        rc = sort_files(wal, start->segment);
    }
    if (rc == SAP_OK) {
        rc = make_segment(wal, start->segment, wal->options.segment_bytes, &wal->current);
    }
    if (rc != SAP_OK) {
        goto fail;
    }
    set_ready(wal, (Segment){.file = DISK_FILE_NONE});
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
    SAP_ASSERT(!wal->leading && !wal->filing);
    cond_destroy(&wal->filed);
    mutex_destroy(&wal->mutex);
    free_wal(wal);
}

/* Waits until everything is on disk. The mutex is held, and given up meanwhile. The writer lock is
 * held too, so that nothing is appended in between and nobody leads afterwards. */
static int flush_locked(Wal *wal)
{
    uint64_t lsn = wal->appended_lsn;

    mutex_unlock(&wal->mutex);
    int rc = wal_wait(wal, lsn);
    mutex_lock(&wal->mutex);
    SAP_ASSERT(rc != SAP_OK || (wal->open.records == 0 && !wal->leading));
    return rc == SAP_OK ? wal->failed : rc;
}

int wal_reserve(Wal *wal, size_t len)
{
    if (len > WAL_RECORD_MAX) {
        return SAP_FULL;
    }
    size_t bytes = WAL_RECORD_HEADER + len;

    mutex_lock(&wal->mutex);
    wal->reserved = 0;
    if (!wal->leading && wal->open.records == 0 && wal->next.cap > BUFFER_KEEP) {
        room_release(&wal->next); /* a smaller one is made below */
    }
    int rc = wal->failed;
    /* Only a single record makes a group larger than a segment. */
    if (rc == SAP_OK && space_needed(wal, bytes) > wal->options.segment_bytes) {
        rc = flush_locked(wal);
    }
    if (rc == SAP_OK) {
        rc = reserve_memory(wal, bytes);
    }
    uint64_t need = space_needed(wal, bytes);
    if (rc == SAP_OK && !has_space(wal, need)) {
        take_files(wal);
        rc = wal->failed;
        if (rc == SAP_OK && !has_space(wal, need)) {
            rc = make_ready(wal, need);
        }
        give_files(wal);
    }
    if (rc == SAP_OK) {
        wal->reserved = bytes;
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

int wal_append(Wal *wal, uint64_t lsn, const void *data, size_t len, void (*publish)(void *ctx),
               void *ctx)
{
    uint8_t header[WAL_RECORD_HEADER];

    wal_record_encode(header, lsn, (uint32_t)len);
    mutex_lock(&wal->mutex);
    SAP_ASSERT(wal->reserved >= sizeof header + len);
    SAP_ASSERT(lsn > wal->appended_lsn);
    wal->reserved = 0;
    int rc = wal->failed;
    if (rc == SAP_OK) {
        Buf *bytes = &wal->open.bytes;
        SAP_ASSERT(bytes->cap - bytes->len >= sizeof header + len + WAL_BLOCK - 1);
        rc = buf_append(bytes, header, sizeof header);
        rc = rc == SAP_OK ? buf_append(bytes, data, len) : rc;
        SAP_ASSERT(rc == SAP_OK);
        if (wal->open.records++ == 0) {
            wal->open.first_lsn = lsn;
        }
        wal->appended_lsn = lsn;
        if (publish != NULL) {
            publish(ctx);
        }
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

void wal_with_lock(Wal *wal, void (*fn)(void *ctx), void *ctx)
{
    mutex_lock(&wal->mutex);
    fn(ctx);
    mutex_unlock(&wal->mutex);
}

int wal_wait(Wal *wal, uint64_t lsn)
{
    while (wal_synced(wal) < lsn) {
        mutex_lock(&wal->mutex);
        SAP_ASSERT(lsn <= wal->appended_lsn || wal->failed != SAP_OK);
        if (wal_synced(wal) >= lsn || wal->failed != SAP_OK) {
            int rc = wal_synced(wal) >= lsn ? SAP_OK : wal->failed;
            mutex_unlock(&wal->mutex);
            return rc;
        }
        if (wal->leading) {
            sleep_a_turn(wal, lsn);
        } else {
            lead(wal);
        }
    }
    return SAP_OK;
}

uint64_t wal_synced(Wal *wal)
{
    return atomic_load_acquire(&wal->synced_lsn);
}

uint64_t wal_bytes(Wal *wal)
{
    return atomic_load_relaxed(&wal->bytes);
}

bool wal_wants_prepare(Wal *wal)
{
    return atomic_load_relaxed(&wal->wants_ready);
}

int wal_prepare(Wal *wal)
{
    mutex_lock(&wal->mutex);
    take_files(wal);
    int rc = wal->failed;
    if (rc == SAP_OK && wal->ready.size == 0) {
        rc = make_ready(wal, 0);
    }
    give_files(wal);
    mutex_unlock(&wal->mutex);
    return rc;
}

int wal_rotate(Wal *wal, WalPoint *point_out)
{
    mutex_lock(&wal->mutex);
    wal->reserved = 0;
    int rc = flush_locked(wal);
    if (rc == SAP_OK && wal->ready.size == 0) {
        take_files(wal);
        rc = wal->failed;
        if (rc == SAP_OK && wal->ready.size == 0) {
            rc = make_ready(wal, 0);
        }
        give_files(wal);
    }
    if (rc == SAP_OK) {
        next_segment(wal); /* also one that holds nothing: what begins before it ends with it */
        wal->rotated_segment = wal->current.number;
        wal->rotated_bytes = atomic_load_relaxed(&wal->bytes);
        *point_out = (WalPoint){wal->current.number, wal->open.sequence, wal->chain};
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

static int release_segment(Wal *wal, uint64_t number, uint64_t current, Buf *name, Buf *to)
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
    if (size != wal->options.segment_bytes || wal->last_file - current >= wal->options.spare_max) {
        wal->names_dirty = true;
        return disk_unlink((const char *)name->data);
    }
    rc = wal_segment_name(to, wal->path, wal->last_file + 1);
    if (rc == SAP_OK) {
        wal->names_dirty = true;
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
    uint64_t current = wal->current.number;
    SAP_ASSERT(first_needed <= current);
    if (rc == SAP_OK) {
        mutex_unlock(&wal->mutex);
        while (rc == SAP_OK && wal->first_file < first_needed) {
            rc = release_segment(wal, wal->first_file, current, &name, &to);
            wal->first_file += rc == SAP_OK ? 1 : 0;
        }
        rc = rc == SAP_OK ? sync_names(wal) : rc;
        mutex_lock(&wal->mutex);
        if (rc == SAP_OK && first_needed == wal->rotated_segment) {
            atomic_store_relaxed(&wal->bytes,
                                 atomic_load_relaxed(&wal->bytes) - wal->rotated_bytes);
            wal->rotated_bytes = 0;
        } else if (rc != SAP_OK && rc != SAP_NOMEM) {
            rc = SAP_IO;
            fail(wal);
        }
    }
    give_files(wal);
    mutex_unlock(&wal->mutex);
    buf_release(&name);
    buf_release(&to);
    return rc;
}
