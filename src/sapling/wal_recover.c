/* wal_recover.c - reading the log back; see wal.h.
 *
 * The groups form one chain: group k + 1 is right behind group k, or at the start of a later
 * segment with only unused ones between. Reading follows it as far as it goes. What is found there
 * is the end of the log if no valid group lies behind it: by invariant 1 of wal.h a power cut leaves
 * at most one group incomplete, the last. Otherwise something was damaged that had been durable.
 * Since the length of an incomplete group is unknown, every block behind the end is looked at. */
#include "sapling/wal.h"

#include "common/bytes.h"
#include "sapling/disk.h"
#include "sapling/wal_format.h"

#include <stdbool.h>
#include <stdlib.h>

enum { WINDOW_LEN = 256 * 1024 };

typedef struct Log {
    const char *path;
    uint64_t db_id;
    Buf numbers; /* uint64_t each, ascending, none before the first needed */
    Buf name;
    Buf bytes;  /* the group read last */
    Buf window; /* bytes of the open segment from window_at on */
    uint64_t window_at;

    DiskFile file; /* of segment `number`, where open */
    uint64_t number;
    uint64_t size;

    int (*on_record)(void *ctx, uint64_t lsn, Slice data);
    void *ctx;
    WalRecovery *report;
} Log;

/* What lies at a block boundary. */
typedef enum {
    FOUND_NOTHING, /* no header */
    FOUND_HEADER,  /* a header, and bytes that do not match it */
    FOUND_CUT,     /* a header whose group would end behind the file */
    FOUND_GROUP    /* a group that verifies */
} Found;

/* ---- Segments ------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x;
    uint64_t y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

static int add_number(void *ctx, const char *digits)
{
    uint64_t number;

    if (wal_segment_parse(digits, &number) != SAP_OK) {
        return SAP_OK;
    }
    return buf_append(ctx, &number, sizeof number);
}

int wal_segments(const char *path, Buf *numbers)
{
    Buf prefix = {0};
    int rc = buf_append_str(&prefix, path);

    if (rc == SAP_OK) {
        rc = buf_append(&prefix, WAL_SEGMENT_INFIX, sizeof WAL_SEGMENT_INFIX);
    }
    if (rc == SAP_OK) {
        rc = disk_list((const char *)prefix.data, add_number, numbers);
    }
    buf_release(&prefix);
    if (rc == SAP_OK && numbers->len > 0) {
        qsort(numbers->data, numbers->len / sizeof(uint64_t), sizeof(uint64_t), compare_numbers);
    }
    return rc;
}

static size_t segment_count(const Log *log)
{
    return log->numbers.len / sizeof(uint64_t);
}

static uint64_t segment_at(const Log *log, size_t i)
{
    uint64_t number;

    memcpy(&number, log->numbers.data + i * sizeof number, sizeof number);
    return number;
}

static int open_segment(Log *log, size_t i)
{
    uint64_t number = segment_at(log, i);

    if (log->file.fd >= 0 && log->number == number) {
        return SAP_OK;
    }
    disk_close(&log->file);
    buf_clear(&log->window);
    int rc = wal_segment_name(&log->name, log->path, number);
    if (rc == SAP_OK) {
        rc = disk_open_read((const char *)log->name.data, &log->file);
    }
    if (rc == SAP_OK) {
        log->number = number;
        rc = disk_size(&log->file, &log->size);
    } else {
        log->report->segment = number; /* for the message */
    }
    return rc;
}

/* Lists the segments from `first` on and, with `sync`, makes them durable as they are. */
static int gather_segments(Log *log, uint64_t first, bool sync)
{
    int rc = wal_segments(log->path, &log->numbers);
    size_t skip = 0;

    while (rc == SAP_OK && skip < segment_count(log) && segment_at(log, skip) < first) {
        skip++;
    }
    if (skip > 0) {
        size_t left = log->numbers.len - skip * sizeof(uint64_t);
        memmove(log->numbers.data, log->numbers.data + skip * sizeof(uint64_t), left);
        buf_truncate(&log->numbers, left);
    }
    for (size_t i = 0; sync && rc == SAP_OK && i < segment_count(log); i++) {
        rc = open_segment(log, i);
        if (rc == SAP_OK) {
            rc = disk_sync(&log->file);
        }
    }
    return sync && rc == SAP_OK ? disk_sync_dir(log->path) : rc;
}

/* ---- Groups --------------------------------------------------------------------------------- */

/* The header at a block of segment i, unverified. Blocks are mostly looked at one after the other,
 * and mostly hold none: they are read many at a time. */
static int look_at_header(Log *log, size_t i, uint64_t offset, Found *found_out,
                          WalGroup *group_out)
{
    *found_out = FOUND_NOTHING;
    int rc = open_segment(log, i);
    if (rc != SAP_OK || log->size < WAL_GROUP_HEADER || offset > log->size - WAL_GROUP_HEADER) {
        return rc;
    }
    if (offset < log->window_at || offset - log->window_at + WAL_GROUP_HEADER > log->window.len) {
        uint64_t left = log->size - offset;
        size_t len = left < WINDOW_LEN ? (size_t)left : WINDOW_LEN;
        buf_clear(&log->window);
        rc = buf_reserve(&log->window, len);
        if (rc == SAP_OK) {
            rc = disk_read(&log->file, offset, log->window.data, len);
        }
        if (rc != SAP_OK) {
            return rc;
        }
        log->window.len = len;
        log->window_at = offset;
    }
    if (wal_group_decode(log->window.data + (offset - log->window_at), group_out) == SAP_OK) {
        uint64_t len = WAL_GROUP_HEADER + (uint64_t)group_out->payload_len;
        *found_out = len > log->size - offset ? FOUND_CUT : FOUND_HEADER;
    }
    return SAP_OK;
}

/* Reads the group of a header that was found, to log->bytes, and looks whether they match. */
static int look_at_group(Log *log, uint64_t offset, const WalGroup *group, Found *found)
{
    size_t len = WAL_GROUP_HEADER + (size_t)group->payload_len;

    buf_clear(&log->bytes);
    int rc = buf_reserve(&log->bytes, len);
    if (rc == SAP_OK) {
        rc = disk_read(&log->file, offset, log->bytes.data, len);
    }
    if (rc == SAP_OK && wal_group_verify(group, log->bytes.data) == SAP_OK) {
        *found = FOUND_GROUP;
    }
    return rc;
}

/* Both. *group_out is written unless nothing is found. */
static int look(Log *log, size_t i, uint64_t offset, Found *found_out, WalGroup *group_out)
{
    int rc = look_at_header(log, i, offset, found_out, group_out);

    return rc == SAP_OK && *found_out == FOUND_HEADER
               ? look_at_group(log, offset, group_out, found_out)
               : rc;
}

/* Whether a header of segment i says that its group is the next of the chain. */
static bool is_next(const Log *log, size_t i, const WalGroup *group)
{
    const WalPoint *next = &log->report->next;

    return group->db_id == log->db_id && group->segment == segment_at(log, i) &&
           group->sequence == next->sequence && group->chain == next->chain;
}

static int show_record(void *ctx, uint64_t lsn, Slice data)
{
    Log *log = ctx;

    log->report->records++;
    log->report->last_lsn = lsn;
    return log->on_record == NULL ? SAP_OK : log->on_record(log->ctx, lsn, data);
}

/* Checks the records before any is shown. */
static int show_nothing(void *ctx, uint64_t lsn, Slice data)
{
    (void)ctx;
    (void)lsn;
    (void)data;
    return SAP_OK;
}

static int read_group(Log *log, const WalGroup *group)
{
    WalRecovery *report = log->report;
    uint64_t after = report->last_lsn;

    if (wal_records_decode(group, log->bytes.data, after, show_nothing, NULL) != SAP_OK) {
        report->end = WAL_END_MALFORMED;
        return SAP_CORRUPT;
    }
    int rc = wal_records_decode(group, log->bytes.data, after, show_record, log);
    if (rc == SAP_OK) {
        report->groups++;
        report->next.segment = group->segment + 1;
        report->next.sequence++;
        report->next.chain = group->checksum;
    }
    return rc;
}

/* Reads from the start of segment *i, and moves *i and report->offset to where the chain ends. */
static int read_chain(Log *log, size_t *i)
{
    WalRecovery *report = log->report;
    size_t at = *i;
    uint64_t offset = 0;

    for (;;) {
        Found found;
        WalGroup group;
        int rc = look(log, at, offset, &found, &group);
        if (rc != SAP_OK) {
            return rc;
        }
        if (found == FOUND_GROUP && is_next(log, at, &group)) {
            *i = at;
            report->segment = segment_at(log, at);
            report->offset = offset;
            rc = read_group(log, &group);
            if (rc != SAP_OK) {
                return rc;
            }
            offset += wal_group_space(WAL_GROUP_HEADER + (uint64_t)group.payload_len);
            report->offset = offset;
            continue;
        }
        if (at + 1 == segment_count(log) || segment_at(log, at + 1) != segment_at(log, at) + 1) {
            return SAP_OK;
        }
        at++;
        offset = 0;
    }
}

/* ---- The end -------------------------------------------------------------------------------- */

static int note_lost_record(void *ctx, uint64_t lsn, Slice data)
{
    (void)data;
    ((WalRecovery *)ctx)->lost_last_lsn = lsn;
    return SAP_OK;
}

/* Counts valid groups from report->offset of segment `i` on. *first_out: the segment of the first.
 * Groups of an earlier segment are what a recycled file held before. */
static int count_lost(Log *log, size_t i, size_t *first_out)
{
    WalRecovery *report = log->report;

    for (size_t at = i; at < segment_count(log); at++) {
        uint64_t offset = at == i ? report->offset : 0;
        int rc = open_segment(log, at);
        while (rc == SAP_OK && offset < log->size) {
            Found found;
            WalGroup group;
            uint64_t here = offset;
            rc = look_at_header(log, at, here, &found, &group);
            offset += WAL_BLOCK;
            if (rc != SAP_OK || found != FOUND_HEADER || group.db_id != log->db_id ||
                group.segment < segment_at(log, at) || group.sequence < report->next.sequence) {
                continue;
            }
            rc = look_at_group(log, here, &group, &found);
            if (rc != SAP_OK || found != FOUND_GROUP) {
                continue;
            }
            if (report->lost_groups++ == 0) {
                report->lost_first_lsn = group.first_lsn;
                report->lost_first_sequence = group.sequence;
                *first_out = at;
            }
            report->lost_records += group.record_count;
            (void)wal_records_decode(&group, log->bytes.data, 0, note_lost_record, report);
            offset += wal_group_space(WAL_GROUP_HEADER + (uint64_t)group.payload_len) - WAL_BLOCK;
        }
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return SAP_OK;
}

/* Whether the header at a block that was looked at last is that of the next group, or was before one
 * of its fields was damaged: then most of the five that are known in advance are right. Of an older
 * group in a recycled segment two are. */
static bool resembles_next(const Log *log, size_t i, uint64_t offset)
{
    uint8_t bytes[WAL_GROUP_HEADER];
    WalGroup group;

    if (offset < log->window_at || offset - log->window_at + WAL_GROUP_HEADER > log->window.len) {
        return false;
    }
    memcpy(bytes, log->window.data + (offset - log->window_at), sizeof bytes);
    int right = wal_group_decode(bytes, &group) == SAP_OK ? 1 : 0;
    store_u64le(bytes + WAL_GROUP_MAGIC, WAL_MAGIC);
    (void)wal_group_decode(bytes, &group);
    right += group.db_id == log->db_id ? 1 : 0;
    right += group.segment == segment_at(log, i) ? 1 : 0;
    right += group.sequence == log->report->next.sequence ? 1 : 0;
    right += group.chain == log->report->next.chain ? 1 : 0;
    return right >= 3;
}

/* What the block says at which the chain ends. */
static int judge_block(Log *log, size_t i, uint64_t offset)
{
    WalRecovery *report = log->report;
    Found found;
    WalGroup group;
    int rc = look(log, i, offset, &found, &group);

    if (rc != SAP_OK) {
        return rc;
    }
    if (found == FOUND_GROUP && group.db_id != log->db_id) {
        report->end = WAL_END_FOREIGN;
        report->segment = segment_at(log, i);
        report->offset = offset;
    } else if (found == FOUND_CUT && is_next(log, i, &group)) {
        report->end = WAL_END_TRUNCATED;
    } else if (found != FOUND_GROUP && resembles_next(log, i, offset)) {
        report->end = WAL_END_TORN;
    }
    return SAP_OK;
}

/* Whether the segment in which the chain ends lacks a part. It was whole before it was used or named
 * by a checkpoint, and its last block is free (invariants 2 and 6 of wal.h). One without a group may
 * be about to grow: then its length says only that it is not below the least there is. */
static int judge_size(Log *log, size_t i)
{
    WalRecovery *report = log->report;
    int rc = open_segment(log, i);

    if (rc == SAP_OK && (log->size < WAL_SEGMENT_MIN || log->size <= report->offset ||
                         (report->offset > 0 && log->size % WAL_BLOCK != 0))) {
        report->end = WAL_END_TRUNCATED;
    }
    return rc;
}

static int judge_end(Log *log, size_t i)
{
    WalRecovery *report = log->report;
    size_t first_lost = i;
    int rc = count_lost(log, i, &first_lost);

    if (rc == SAP_OK) {
        rc = judge_size(log, i);
    }
    if (rc == SAP_OK && report->end == WAL_END_CLEAN) {
        rc = judge_block(log, i, report->offset);
    }
    if (rc == SAP_OK && report->end == WAL_END_CLEAN && i + 1 < segment_count(log)) {
        rc = judge_block(log, i + 1, 0);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    if (report->lost_groups > 0 && report->end <= WAL_END_TORN) {
        report->end = WAL_END_DAMAGED;
        for (size_t at = i; at < first_lost; at++) {
            if (segment_at(log, at + 1) != segment_at(log, at) + 1) {
                report->end = WAL_END_MISSING;
                report->segment = segment_at(log, at) + 1;
                report->offset = 0;
                break;
            }
        }
    }
    return report->end <= WAL_END_TORN ? SAP_OK : SAP_CORRUPT;
}

/* A log without a group goes on in the segment it would have begun with, unless there is something
 * in it that claims to be of it. */
static int stay_in_segment(Log *log, const WalPoint *from)
{
    Found found;
    WalGroup group;
    int rc = look_at_header(log, 0, 0, &found, &group);

    if (rc == SAP_OK && log->size >= WAL_SEGMENT_MIN && log->size % WAL_BLOCK == 0 &&
        (found == FOUND_NOTHING || group.segment < from->segment)) {
        log->report->next = *from;
    }
    return rc;
}

static void log_release(Log *log)
{
    disk_close(&log->file);
    buf_release(&log->numbers);
    buf_release(&log->name);
    buf_release(&log->bytes);
    buf_release(&log->window);
}

static int read_all(Log *log, const WalPoint *from, uint64_t after_lsn, bool sync)
{
    WalRecovery *report = log->report;
    size_t last = 0;

    *report = (WalRecovery){
        .segment = from->segment,
        .last_lsn = after_lsn,
        .next = {from->segment + 1, from->sequence, from->chain},
    };
    int rc = gather_segments(log, from->segment, sync);
    if (rc != SAP_OK) {
        return rc;
    }
    report->files = segment_count(log);
    if (segment_count(log) == 0 || segment_at(log, 0) != from->segment) {
        size_t first_lost = 0;
        report->end = WAL_END_MISSING;
        rc = count_lost(log, 0, &first_lost);
        return rc == SAP_OK ? SAP_CORRUPT : rc;
    }
    rc = read_chain(log, &last);
    if (rc == SAP_OK) {
        rc = judge_end(log, last);
    }
    if (rc == SAP_OK && report->groups == 0 && report->end == WAL_END_CLEAN) {
        rc = stay_in_segment(log, from);
    }
    return rc;
}

/* `sync`: it is on disk before it is trusted. */
static int read_log(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
                    int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx,
                    WalRecovery *report, bool sync)
{
    Log log = {.path = path,
               .db_id = db_id,
               .file = DISK_FILE_NONE,
               .on_record = on_record,
               .ctx = ctx,
               .report = report};
    int rc = read_all(&log, from, after_lsn, sync);

    log_release(&log);
    return rc;
}

int wal_recover(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
                int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx,
                WalRecovery *report)
{
    return read_log(path, db_id, from, after_lsn, on_record, ctx, report, true);
}

int wal_read(const char *path, uint64_t db_id, const WalPoint *from, uint64_t after_lsn,
             int (*on_record)(void *ctx, uint64_t lsn, Slice data), void *ctx, WalRecovery *report)
{
    return read_log(path, db_id, from, after_lsn, on_record, ctx, report, false);
}

/* Looks at all segments: one that begins with a group of another database is none of this one's. */
static int find_foreign(Log *log)
{
    WalRecovery *report = log->report;
    int rc = SAP_OK;

    for (size_t i = 0; rc == SAP_OK && i < segment_count(log); i++) {
        Found found;
        WalGroup group;
        rc = look_at_header(log, i, 0, &found, &group);
        if (rc == SAP_OK && found != FOUND_NOTHING && group.db_id != log->db_id) {
            report->end = WAL_END_FOREIGN;
            report->segment = segment_at(log, i);
            rc = SAP_CORRUPT;
        }
    }
    return rc;
}

int wal_check_closed(const char *path, uint64_t db_id, const WalPoint *from, WalRecovery *report)
{
    Log log = {.path = path, .db_id = db_id, .file = DISK_FILE_NONE, .report = report};
    size_t first = 0;

    *report = (WalRecovery){.next = *from};
    int rc = gather_segments(&log, 0, false);
    if (rc == SAP_OK) {
        report->files = segment_count(&log);
        rc = find_foreign(&log);
    }
    while (first < segment_count(&log) && segment_at(&log, first) < from->segment) {
        first++;
    }
    if (rc == SAP_OK) {
        rc = count_lost(&log, first, &first);
    }
    if (rc == SAP_OK && report->lost_groups > 0) {
        report->end = WAL_END_DAMAGED;
        report->segment = segment_at(&log, first);
        rc = SAP_CORRUPT;
    }
    log_release(&log);
    return rc;
}

const char *wal_end_text(WalEnd end)
{
    static const char *const texts[] = {
        [WAL_END_DAMAGED] = "an invalid group, and valid ones behind it",
        [WAL_END_MISSING] = "a segment is missing",
        [WAL_END_FOREIGN] = "a group of another database",
        [WAL_END_TRUNCATED] = "a segment is cut short",
        [WAL_END_MALFORMED] = "a group that is not made of records",
    };
    return texts[end];
}

int wal_segment_size(const char *path, uint64_t number, Buf *name, uint64_t *size_out)
{
    DiskFile file;
    int rc = wal_segment_name(name, path, number);

    if (rc == SAP_OK) {
        rc = disk_open((const char *)name->data, &file);
    }
    if (rc == SAP_OK) {
        rc = disk_size(&file, size_out);
        disk_close(&file);
    }
    return rc;
}

int wal_is_reusable(const char *name, uint64_t number, uint64_t start, uint64_t segment_bytes,
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
    if (rc == SAP_OK && (size == segment_bytes ||
                         (number == start && size >= WAL_SEGMENT_MIN && size % WAL_BLOCK == 0))) {
        rc = disk_read(&file, 0, header, sizeof header);
        *reusable_out = wal_group_decode(header, &group) != SAP_OK || group.segment < start;
    }
    disk_close(&file);
    return rc;
}

/* ---- Without a header ----------------------------------------------------------------------- */

int wal_guess_id(const char *path, uint64_t *db_id_out)
{
    Log log = {.path = path, .file = DISK_FILE_NONE};
    int rc = gather_segments(&log, 0, false);
    bool known = false;

    for (size_t i = 0; rc == SAP_OK && !known && i < segment_count(&log); i++) {
        rc = open_segment(&log, i);
        for (uint64_t at = 0; rc == SAP_OK && !known && at < log.size; at += WAL_BLOCK) {
            Found found;
            WalGroup group;
            rc = look(&log, i, at, &found, &group);
            if (rc == SAP_OK && found == FOUND_GROUP) {
                *db_id_out = group.db_id;
                known = true;
            }
        }
    }
    log_release(&log);
    return rc == SAP_OK && !known ? SAP_NOTFOUND : rc;
}

int wal_guess_start(const char *path, uint64_t db_id, uint64_t first, WalPoint *from_out)
{
    Log log = {.path = path, .db_id = db_id, .file = DISK_FILE_NONE};
    WalPoint from = WAL_POINT_FIRST;
    int rc = gather_segments(&log, first, false);

    if (rc == SAP_OK && segment_count(&log) > 0) {
        Found found;
        WalGroup group;
        from.segment = segment_at(&log, 0);
        rc = look(&log, 0, 0, &found, &group);
        if (rc == SAP_OK && found == FOUND_GROUP && group.db_id == db_id &&
            group.segment == from.segment) {
            from.sequence = group.sequence;
            from.chain = group.chain;
        }
    }
    log_release(&log);
    if (rc == SAP_OK) {
        *from_out = from;
    }
    return rc;
}
