/* wal.c - writing the log; see wal.h. Reading it back is wal_recover.c. */
#include "sapling/wal_impl.h"

#include "common/assert.h"
#include "common/clock.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/wal_format.h"

#include <errno.h>
#include <stdbool.h>

enum {
    SEGMENT_DEFAULT = 16 << 20,
    FILL_STEP = 512 << 10,
    PREPARED_MIN = 1 << 20, /* smaller segments are quickly made when they are needed */
    BUFFER_KEEP = 4 << 20,  /* larger ones go back once they are written */
    DIRECT_MOST = 2 * WAL_BLOCK,
};

_Static_assert(WAL_BLOCK % DISK_ALIGN == 0, "a group can be written directly");

/* ---- Waiting -------------------------------------------------------------------------------- */

/* Wakes all threads that wait, so that they check again. */
static void wake_all(Wal *wal)
{
    for (int i = 0; i < 2; i++) {
        wal->sleepers[i] = 0;
        atomic_store_relaxed(&wal->turn[i], atomic_load_relaxed(&wal->turn[i]) + 1);
        word_wake_all(&wal->turn[i]);
    }
}

void wal_fail(Wal *wal, uint64_t segment, int err)
{
    if (wal->failed == SAP_OK) {
        wal->failed_segment = segment;
        wal->failed_errno = err;
    }
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
    /* A thread that saw a leader and does not sleep yet must not fall asleep. */
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

/* Sleeps until the leader stops leading. The mutex is held, and given up. */
static void sleep_a_turn(Wal *wal, uint64_t lsn)
{
    unsigned group = (wal->open.sequence - (lsn <= wal->closed_lsn ? 1 : 0)) & 1;
    uint32_t seen = atomic_load_relaxed(&wal->turn[group]);

    wal->sleepers[group]++;
    mutex_unlock(&wal->mutex);
    word_wait(&wal->turn[group], seen);
}

void wal_take_files(Wal *wal)
{
    while (wal->filing) {
        cond_wait(&wal->filed, &wal->mutex);
    }
    wal->filing = true;
}

void wal_give_files(Wal *wal)
{
    wal->filing = false;
    cond_broadcast(&wal->filed);
}

/* ---- Segments ------------------------------------------------------------------------------- */

uint64_t wal_next_size(const Wal *wal)
{
    uint64_t bytes = atomic_load_relaxed(&wal->bytes);
    uint64_t demand = wal->demand > bytes ? wal->demand : bytes;
    uint64_t size = wal->options.first_bytes;

    while (size < demand && size < wal->options.segment_bytes) {
        size *= 2;
    }
    return size < wal->options.segment_bytes ? size : wal->options.segment_bytes;
}

/* Decides whether the next segment should be made in advance. The mutex is held. */
static void update_wants_ready(Wal *wal)
{
    const Segment *current = &wal->current;
    uint64_t size = wal_next_size(wal);
    bool large = size >= PREPARED_MIN || size == wal->options.segment_bytes;

    atomic_store_relaxed(&wal->wants_ready, wal->ready.size == 0 && large && current->size > 0 &&
                                                current->offset >= current->size / 2);
}

void wal_set_ready(Wal *wal, Segment segment)
{
    wal->ready = segment;
    update_wants_ready(wal);
}

bool wal_owns_name(const Wal *wal)
{
    return wal->options.owns_name == NULL || wal->options.owns_name(wal->options.hook_ctx);
}

static bool is_reachable(const Wal *wal)
{
    return wal->options.is_reachable == NULL || wal->options.is_reachable(wal->options.hook_ctx);
}

int wal_sync_names(Wal *wal)
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

/* Writes zeros from..to and syncs them, in steps: so the sync of a group never waits for the zeros of a
 * whole segment. */
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

/* A segment that was there when the log was opened may share its blocks with a copy: makes them its own,
 * so that no group finds no room. */
static int claim_segment(const Wal *wal, Segment *segment)
{
    if (segment->number > wal->last_found || disk_overwrites_in_place(segment->file.fd)) {
        return SAP_OK;
    }
    int rc = disk_claim(&segment->file, 0, segment->size);
    return rc == SAP_OK ? disk_sync(&segment->file) : rc;
}

/* A file of this name is left over from an attempt that failed. */
static int create_segment(Wal *wal, const char *name, Segment *segment)
{
    wal->names_dirty = true;
    int rc = disk_unlink(name);
    if (rc == SAP_OK || rc == SAP_NOTFOUND) {
        rc = disk_create_like(name, wal->path, &segment->file);
    }
    return rc == SAP_OK ? fill(&segment->file, 0, segment->size) : rc;
}

/* Makes segment `number` of at least `size` bytes, of a spare one where there is one. The caller is
 * filing, without the mutex. SAP_FULL, SAP_NOMEM: there is none, or one that holds nothing. */
static int make_segment(Wal *wal, uint64_t number, uint64_t size, Segment *segment_out)
{
    Segment segment = {.file = DISK_FILE_NONE, .number = number, .size = size};
    Buf name = {0};
    int rc = wal_owns_name(wal) ? wal_segment_name(&name, wal->path, number) : SAP_IO;

    if (rc != SAP_OK) {
        goto out;
    }
    const char *path = (const char *)name.data;
    rc = number <= wal->last_file ? open_spare(path, &segment) : SAP_NOTFOUND;
    rc = rc == SAP_OK ? claim_segment(wal, &segment) : rc;
    bool created = rc == SAP_NOTFOUND;
    if (created) {
        rc = create_segment(wal, path, &segment);
    }
    int err = errno; /* for the caller's message */
    if (rc == SAP_FULL || rc == SAP_NOMEM) {
        disk_close(&segment.file);
        /* A spare segment stays: the next attempt, or a checkpoint, may use it. */
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
        rc = wal_sync_names(wal);
    }
    if (rc == SAP_OK) {
        *segment_out = segment;
    } else {
        err = errno;
        disk_close(&segment.file);
        errno = err;
        rc = rc == SAP_NOMEM ? rc : SAP_IO;
    }
out:
    buf_release(&name);
    return rc;
}

/* Without the mutex. */
static bool has_failed(Wal *wal)
{
    mutex_lock(&wal->mutex);
    bool failed = wal->failed != SAP_OK;
    mutex_unlock(&wal->mutex);
    return failed;
}

int wal_file_result(int rc, int err)
{
    return rc == SAP_IO && (err == EACCES || err == EPERM) ? SAP_FULL : rc;
}

/* Makes the segment after the current one ready for `need` bytes. The caller is filing and holds the
 * mutex, which is given up meanwhile. The current segment stays the same, since the log switches only to
 * a ready one. If there is a ready one already, which is too small, no open group needs it. */
static int make_ready(Wal *wal, uint64_t need)
{
    Segment segment = wal->ready;
    uint64_t number = wal->current.number + 1;
    uint64_t size = wal_next_size(wal);

    SAP_ASSERT(wal->ready.size == 0 || wal->open.records == 0);
    need = wal_group_space(need);
    wal_set_ready(wal, (Segment){.file = DISK_FILE_NONE});
    mutex_unlock(&wal->mutex);
    disk_close(&segment.file);
    uint64_t least = need > wal->options.first_bytes ? need : wal->options.first_bytes;
    size = need > size ? need : size;
    errno = 0;
    int rc = make_segment(wal, number, size, &segment);
    if (rc == SAP_FULL && least < size && !has_failed(wal)) {
        rc = make_segment(wal, number, least, &segment);
    }
    int err = errno;
    rc = wal_file_result(rc, err);
    mutex_lock(&wal->mutex);
    if (rc == SAP_OK) {
        SAP_ASSERT(segment.number == wal->current.number + 1);
        wal_set_ready(wal, segment);
    } else if (rc == SAP_IO) {
        wal_fail(wal, number, err);
    }
    errno = err; /* for the caller's message */
    return rc;
}

static void next_segment(Wal *wal)
{
    SAP_ASSERT(wal->ready.size > 0 && wal->ready.number == wal->current.number + 1);
    disk_close(&wal->current.file);
    wal->current = wal->ready;
    wal_set_ready(wal, (Segment){.file = DISK_FILE_NONE});
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
 * the record comes or not. An empty one is not. */
static int reserve_memory(Wal *wal, size_t bytes)
{
    size_t fresh = WAL_GROUP_HEADER + (wal->open.records > 0 ? bytes : 0) + WAL_BLOCK;
    int rc = disk_room_reserve(&wal->open.bytes, bytes + WAL_BLOCK);

    if (rc == SAP_OK && wal->next.cap < fresh && wal->writing.cap < fresh) {
        rc = disk_room_reserve(&wal->next, fresh);
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
    update_wants_ready(wal);
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
    disk_room_release(&wal->writing);
}

/* Yields to the threads that waited for the last two groups, since they often commit again: otherwise
 * the first of them would lead a group of its own, and the others would wait for two syncs. Ends when all
 * have appended, when a yield brought no further one, or when a sync would have been done by now:
 * where transactions are long, waiting for them costs more than it saves. A lone committer is not
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
    int err = errno;
    fault_step("log group synced");
    if (rc == SAP_OK && !is_reachable(wal)) {
        rc = SAP_IO;
        err = 0;
    }
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
        wal_fail(wal, wal->current.number, err);
    }
    stop_leading(wal);
}

/* ---- The calls ------------------------------------------------------------------------------ */

/* Goes through the segment files. Those from `start` on hold nothing: keeps the ones that can be used
 * again and removes the others. Notes the earliest of the files before `start`. */
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
        if (number < start && !wal->options.lazy) {
            wal->first_file = number;
            continue;
        }
        rc = wal_segment_name(&name, wal->path, number);
        if (rc == SAP_OK && wal->options.recovered && number - start <= wal->options.spare_max) {
            rc = wal_is_reusable((const char *)name.data, number, start, wal->options.segment_bytes,
                                 &keep);
        }
        if (rc == SAP_OK && !keep) {
            rc = disk_unlink((const char *)name.data);
            wal->names_dirty = true;
        }
        if (keep && wal->last_file < number) {
            wal->last_file = number;
        }
    }
    wal->last_found = wal->last_file;
    buf_release(&name);
    buf_release(&numbers);
    return rc;
}

static int init_buffers(Wal *wal)
{
    size_t room = WAL_GROUP_HEADER + WAL_BLOCK;
    int rc = disk_room_reserve(&wal->open.bytes, room);

    if (rc == SAP_OK) {
        rc = disk_room_reserve(&wal->next, room);
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
    disk_room_release(&wal->open.bytes);
    disk_room_release(&wal->next);
    disk_room_release(&wal->writing);
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
    if (wal->options.first_bytes == 0) {
        wal->options.first_bytes = wal->options.segment_bytes;
    }
    SAP_ASSERT(wal->options.segment_bytes % WAL_BLOCK == 0 &&
               wal->options.segment_bytes <= WAL_SEGMENT_MAX);
    SAP_ASSERT(wal->options.first_bytes % WAL_BLOCK == 0 &&
               wal->options.first_bytes >= WAL_SEGMENT_MIN &&
               wal->options.first_bytes <= wal->options.segment_bytes);
    SAP_ASSERT(!wal->options.recovered || !wal->options.lazy);
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
    if (rc == SAP_OK && wal->options.lazy) {
        wal->current.number = start->segment - 1;
    } else if (rc == SAP_OK) {
        rc = make_segment(wal, start->segment, wal->options.first_bytes, &wal->current);
        if (rc == SAP_FULL) {
            wal->current = (Segment){.file = DISK_FILE_NONE, .number = start->segment - 1};
            rc = SAP_OK;
        }
    }
    if (rc != SAP_OK) {
        goto fail;
    }
    wal_set_ready(wal, (Segment){.file = DISK_FILE_NONE});
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

void wal_abandon(Wal *wal)
{
    if (wal == NULL) {
        return;
    }
    /* The parent may have been between the two steps by which the ready one becomes the current. */
    bool both = wal->ready.file.fd == wal->current.file.fd;
    disk_close(&wal->current.file);
    if (!both) {
        disk_close(&wal->ready.file);
    }
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

/* Finds a place for one more record of `bytes` after the open group. If the ready segment is too small
 * for both, the open group is written first. The mutex is held, and given up meanwhile. */
static int find_space(Wal *wal, size_t bytes)
{
    int rc = wal->failed;

    while (rc == SAP_OK && !has_space(wal, space_needed(wal, bytes))) {
        if (wal->ready.size > 0 && wal->open.records > 0) {
            rc = flush_locked(wal);
            continue;
        }
        wal_take_files(wal);
        rc = wal->failed;
        uint64_t need = space_needed(wal, bytes);
        if (rc == SAP_OK && !has_space(wal, need) &&
            (wal->ready.size == 0 || wal->open.records == 0)) {
            rc = make_ready(wal, need);
        }
        wal_give_files(wal);
    }
    return rc;
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
        disk_room_release(&wal->next); /* a smaller one is made below */
    }
    int rc = wal->failed;
    /* Only a single record makes a group larger than a segment. */
    if (rc == SAP_OK && space_needed(wal, bytes) > wal->options.segment_bytes) {
        rc = flush_locked(wal);
    }
    if (rc == SAP_OK) {
        rc = reserve_memory(wal, bytes);
    }
    if (rc == SAP_OK) {
        rc = find_space(wal, bytes);
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

void wal_skip(Wal *wal, uint64_t lsn, void (*publish)(void *ctx), void *ctx)
{
    mutex_lock(&wal->mutex);
    SAP_ASSERT(lsn > wal->appended_lsn && wal->open.records == 0);
    SAP_ASSERT(wal_synced(wal) == wal->appended_lsn && !wal->leading);
    wal->reserved = 0;
    wal->appended_lsn = wal->closed_lsn = lsn;
    publish(ctx);
    atomic_store_release(&wal->synced_lsn, lsn);
    mutex_unlock(&wal->mutex);
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

bool wal_failure(Wal *wal, uint64_t *segment_out, int *err_out)
{
    mutex_lock(&wal->mutex);
    bool known = wal->failed != SAP_OK && wal->failed_errno != 0;
    *segment_out = wal->failed_segment;
    *err_out = wal->failed_errno;
    mutex_unlock(&wal->mutex);
    return known;
}

uint64_t wal_synced(Wal *wal)
{
    return atomic_load_acquire(&wal->synced_lsn);
}

uint64_t wal_bytes(Wal *wal)
{
    return atomic_load_relaxed(&wal->bytes);
}

uint64_t wal_next_segment(Wal *wal)
{
    mutex_lock(&wal->mutex);
    uint64_t number = wal->current.number + 1;
    mutex_unlock(&wal->mutex);
    return number;
}

bool wal_wants_prepare(Wal *wal)
{
    return atomic_load_relaxed(&wal->wants_ready);
}

/* There is a ready segment. The mutex is held, and given up meanwhile. */
static int ensure_ready(Wal *wal)
{
    wal_take_files(wal);
    int rc = wal->failed;
    if (rc == SAP_OK && wal->ready.size == 0) {
        rc = make_ready(wal, 0);
    }
    wal_give_files(wal);
    return rc;
}

int wal_prepare(Wal *wal)
{
    mutex_lock(&wal->mutex);
    int rc = ensure_ready(wal);
    mutex_unlock(&wal->mutex);
    return rc;
}

int wal_rotate(Wal *wal, WalPoint *point_out)
{
    mutex_lock(&wal->mutex);
    wal->reserved = 0;
    int rc = flush_locked(wal);
    if (rc == SAP_OK && wal->ready.size == 0) {
        rc = ensure_ready(wal);
    }
    if (rc == SAP_OK) {
        next_segment(wal); /* also if the present one is unused: see wal.h */
        wal->rotated_segment = wal->current.number;
        wal->rotated_bytes = atomic_load_relaxed(&wal->bytes);
        wal->demand = wal->demand / 2 > wal->rotated_bytes ? wal->demand / 2 : wal->rotated_bytes;
        *point_out = (WalPoint){wal->current.number, wal->open.sequence, wal->chain};
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

int wal_finish(Wal *wal, WalPoint *point_out)
{
    mutex_lock(&wal->mutex);
    wal->reserved = 0;
    int rc = flush_locked(wal);
    if (rc == SAP_OK) {
        *point_out = (WalPoint){wal->current.number + 1, wal->open.sequence, wal->chain};
    }
    mutex_unlock(&wal->mutex);
    return rc;
}

bool wal_has_segment(Wal *wal)
{
    mutex_lock(&wal->mutex);
    bool has = wal->current.size > 0;
    mutex_unlock(&wal->mutex);
    return has;
}
