/* wal_release.c - what becomes of segments that are no longer needed; see wal.h. */
#include "sapling/wal_impl.h"

#include "common/assert.h"
#include "sapling/wal_format.h"

#include <errno.h>

/* How many bytes free segments may take together. The mutex is held. */
static uint64_t spare_bytes_max(const Wal *wal)
{
    return wal->options.first_bytes == wal->options.segment_bytes ? UINT64_MAX
                                                                  : wal->demand + wal->demand / 2;
}

static bool is_spare_wanted(const Wal *wal, uint64_t bytes_max, uint64_t count, uint64_t size)
{
    return count <= wal->options.spare_max && count * size <= bytes_max;
}

/* The state of the log when a wal_release or wal_trim began. */
typedef struct Release {
    uint64_t current;   /* segment */
    uint64_t size_min;  /* a smaller one is not worth keeping */
    uint64_t bytes_max; /* of all free ones */
    Buf name;
    Buf to;
} Release;

static int release_segment(Wal *wal, uint64_t number, Release *release)
{
    Buf *name = &release->name;
    Buf *to = &release->to;
    uint64_t size = 0;
    int rc = wal_segment_size(wal->path, number, name, &size);

    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    if (size < release->size_min || size > wal->options.segment_bytes ||
        !is_spare_wanted(wal, release->bytes_max, wal->last_file - release->current + 1, size)) {
        wal->names_dirty = true;
        return disk_unlink((const char *)name->data);
    }
    rc = wal_segment_name(to, wal->path, wal->last_file + 1);
    if (rc == SAP_OK) {
        wal->names_dirty = true;
        rc = disk_rename((const char *)name->data, (const char *)to->data);
        wal->last_file += rc == SAP_OK ? 1 : 0;
    }
    /* The directory has no room for the new name, and is as it was. */
    return rc == SAP_FULL ? disk_unlink((const char *)name->data) : rc;
}

/* Removes free segments that are more than the log needs. The one after the current one may be in use
 * meanwhile, and stays. */
static int trim_spares(Wal *wal, Release *release)
{
    int rc = SAP_OK;

    while (rc == SAP_OK && wal->last_file > release->current + 1) {
        uint64_t size = 0;
        uint64_t count = wal->last_file - release->current;
        rc = wal_segment_size(wal->path, wal->last_file, &release->name, &size);
        if (rc == SAP_OK && is_spare_wanted(wal, release->bytes_max, count, size)) {
            break;
        }
        if (rc == SAP_OK) {
            wal->names_dirty = true;
            rc = disk_unlink((const char *)release->name.data);
        }
        rc = rc == SAP_NOTFOUND ? SAP_OK : rc;
        wal->last_file -= rc == SAP_OK ? 1 : 0;
    }
    return rc;
}

static Release begin_release(const Wal *wal)
{
    return (Release){.current = wal->current.number,
                     .size_min = wal_next_size(wal),
                     .bytes_max = spare_bytes_max(wal)};
}

static void end_release(Release *release)
{
    buf_release(&release->name);
    buf_release(&release->to);
}

void wal_trim(Wal *wal)
{
    mutex_lock(&wal->mutex);
    wal_take_files(wal);
    if (wal->failed == SAP_OK) {
        wal->demand /= 2;
        Release release = begin_release(wal);
        mutex_unlock(&wal->mutex);
        if (wal_owns_name(wal)) {
            (void)trim_spares(wal, &release); /* the next call removes what remains */
        }
        end_release(&release);
        mutex_lock(&wal->mutex);
    }
    wal_give_files(wal);
    mutex_unlock(&wal->mutex);
}

/* Removes all segment files, none of which is needed. True: there were some. */
static bool remove_files(const Wal *wal)
{
    Buf name = {0};
    bool any = false;

    for (uint64_t number = wal->first_file; number <= wal->last_file; number++) {
        any = (wal_segment_name(&name, wal->path, number) == SAP_OK &&
               disk_unlink((const char *)name.data) == SAP_OK) ||
              any;
    }
    buf_release(&name);
    return any;
}

int wal_remove(Wal *wal)
{
    SAP_ASSERT(!wal->leading && !wal->filing);
    if (wal->last_file >= wal->first_file && !wal_owns_name(wal)) {
        return SAP_IO;
    }
    disk_close(&wal->current.file);
    disk_close(&wal->ready.file);
    if (remove_files(wal)) {
        (void)disk_sync_dir(wal->path);
    }
    return SAP_OK;
}

int wal_restart(Wal *wal)
{
    mutex_lock(&wal->mutex);
    wal_take_files(wal);
    int rc = wal->failed;
    if (rc == SAP_OK) {
        Segment current = wal->current;
        Segment ready = wal->ready;
        SAP_ASSERT(wal->open.records == 0 && !wal->leading);
        wal->current = (Segment){.file = DISK_FILE_NONE, .number = current.number};
        atomic_store_relaxed(&wal->bytes, 0);
        wal->rotated_bytes = 0;
        wal->demand = 0;
        wal_set_ready(wal, (Segment){.file = DISK_FILE_NONE});
        mutex_unlock(&wal->mutex);
        disk_close(&current.file);
        disk_close(&ready.file);
        rc = wal->last_file < wal->first_file || wal_owns_name(wal) ? SAP_OK : SAP_IO;
        if (rc == SAP_OK) {
            wal->names_dirty = remove_files(wal) || wal->names_dirty;
            wal->first_file = current.number + 1;
            wal->last_file = current.number;
        }
        mutex_lock(&wal->mutex);
        if (rc != SAP_OK) {
            wal_fail(wal, current.number, 0);
        }
    }
    wal_give_files(wal);
    mutex_unlock(&wal->mutex);
    return rc;
}

int wal_release(Wal *wal, uint64_t first_needed)
{
    mutex_lock(&wal->mutex);
    wal_take_files(wal);
    int rc = wal->failed;
    SAP_ASSERT(first_needed <= wal->current.number);
    if (rc == SAP_OK) {
        Release release = begin_release(wal);
        mutex_unlock(&wal->mutex);
        errno = 0;
        rc = wal_owns_name(wal) ? SAP_OK : SAP_IO;
        while (rc == SAP_OK && wal->first_file < first_needed) {
            rc = release_segment(wal, wal->first_file, &release);
            wal->first_file += rc == SAP_OK ? 1 : 0;
        }
        rc = rc == SAP_OK ? trim_spares(wal, &release) : rc;
        rc = rc == SAP_OK ? wal_sync_names(wal) : rc;
        int err = errno;
        rc = wal_file_result(rc, err);
        end_release(&release);
        errno = err; /* for the caller's message */
        mutex_lock(&wal->mutex);
        if (rc == SAP_OK && first_needed == wal->rotated_segment) {
            atomic_store_relaxed(&wal->bytes,
                                 atomic_load_relaxed(&wal->bytes) - wal->rotated_bytes);
            wal->rotated_bytes = 0;
        } else if (rc != SAP_OK && rc != SAP_NOMEM && rc != SAP_FULL) {
            rc = SAP_IO;
            wal_fail(wal, wal->first_file, err);
        }
    }
    wal_give_files(wal);
    mutex_unlock(&wal->mutex);
    return rc;
}
