/* The log by its promises: what was acknowledged is there after any failure and any power cut, what
 * is there is whole and in order, and damage is told from a torn end. SAP_TEST_SEED and
 * SAP_TEST_SEEDS repeat and extend the random runs. */
#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "sapling/disk.h"
#include "sapling/wal.h"
#include "sapling/wal_format.h"
#include "support/choice.h"
#include "support/crash.h"
#include "support/expect.h"
#include "support/suite.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    TIMEOUT_S = 300,
    SEGMENT = 32 * 1024,
    MAX_RECORD = 200 * 1024,
    MAX_PATH = 300,
    MAX_TRUTHS = 4096,
    RANDOM_STATES = 9, /* for each prefix of a trace */
    MIN_STATES = 2000,
};

static const uint64_t db_id = UINT64_C(0x0123456789abcdef);

/* ---- A log and what it should hold ---------------------------------------------------------- */

typedef struct Bed {
    char dir[MAX_PATH / 3];
    char path[MAX_PATH / 2];
    Wal *wal;
    uint64_t seed;
    uint64_t last_lsn;
    uint64_t acked_lsn;
    WalPoint from; /* the last checkpoint */
    uint64_t from_lsn;
    uint8_t scratch[MAX_RECORD];
} Bed;

static const WalOptions small_segments = {.segment_bytes = SEGMENT, .spare_max = 2};

static void bed_start(Bed *bed, uint64_t seed)
{
    memset(bed, 0, sizeof *bed);
    crash_dir_make(bed->dir, sizeof bed->dir, true);
    snprintf(bed->path, sizeof bed->path, "%s/db", bed->dir);
    bed->seed = seed;
    bed->from = WAL_POINT_FIRST;
}

static void bed_open(Bed *bed)
{
    EXPECT_RC(wal_open(&bed->wal, bed->path, db_id, &bed->from, bed->last_lsn, &small_segments),
              SAP_OK);
}

/* Behind what was recovered. */
static void bed_reopen(Bed *bed, const WalRecovery *report)
{
    WalOptions options = small_segments;

    options.recovered = true;
    bed->last_lsn = report->last_lsn;
    EXPECT_RC(wal_open(&bed->wal, bed->path, db_id, &report->next, report->last_lsn, &options),
              SAP_OK);
}

static void bed_end(Bed *bed)
{
    wal_close(bed->wal);
    crash_dir_remove(bed->dir);
}

/* Mostly small, some of several blocks, few larger than a segment. */
static size_t record_len(uint64_t seed, uint64_t lsn)
{
    Rng rng;

    rng_seed(&rng, seed * 1000003 + lsn);
    switch (rng_below(&rng, 16)) {
    case 0:
        return 0;
    case 1:
    case 2:
        return (size_t)rng_below(&rng, 3 * WAL_BLOCK);
    case 3:
        return rng_chance(&rng, 1, 6) ? (size_t)rng_range(&rng, SEGMENT, 2 * SEGMENT) : 1;
    default:
        return (size_t)rng_below(&rng, 300);
    }
}

static Slice record_data(Bed *bed, uint64_t lsn)
{
    Rng rng;
    size_t len = record_len(bed->seed, lsn);

    rng_seed(&rng, bed->seed * 7919 + lsn);
    rng_bytes(&rng, bed->scratch, len);
    return (Slice){bed->scratch, len};
}

static int bed_append(Bed *bed)
{
    Slice data = record_data(bed, bed->last_lsn + 1);
    int rc = wal_reserve(bed->wal, data.len);

    return rc != SAP_OK ? rc
                        : wal_append(bed->wal, ++bed->last_lsn, data.data, data.len, NULL, NULL);
}

static int bed_wait(Bed *bed)
{
    int rc = wal_wait(bed->wal, bed->last_lsn);

    if (rc == SAP_OK) {
        bed->acked_lsn = bed->last_lsn;
    }
    return rc;
}

static int bed_commit(Bed *bed, unsigned records)
{
    int rc = SAP_OK;

    for (unsigned i = 0; rc == SAP_OK && i < records; i++) {
        rc = bed_append(bed);
    }
    return rc == SAP_OK ? bed_wait(bed) : rc;
}

static int bed_checkpoint(Bed *bed)
{
    WalPoint point;
    int rc = wal_rotate(bed->wal, &point);

    if (rc != SAP_OK) {
        return rc;
    }
    bed->acked_lsn = bed->last_lsn;
    bed->from = point;
    bed->from_lsn = bed->last_lsn;
    return wal_release(bed->wal, point.segment);
}

typedef struct Replay {
    Bed *bed;
    uint64_t last;
} Replay;

static int compare_record(void *ctx, uint64_t lsn, Slice data)
{
    Replay *replay = ctx;
    Slice expected = record_data(replay->bed, lsn);

    EXPECT(lsn == replay->last + 1, "record %" PRIu64 " follows %" PRIu64, lsn, replay->last);
    EXPECT(bytes_compare(data.data, data.len, expected.data, expected.len) == 0,
           "record %" PRIu64 " has other bytes", lsn);
    replay->last = lsn;
    return SAP_OK;
}

static int bed_recover(Bed *bed, const char *path, WalRecovery *report)
{
    Replay replay = {bed, bed->from_lsn};
    int rc = wal_recover(path, db_id, &bed->from, bed->from_lsn, compare_record, &replay, report);

    EXPECT(replay.last == report->last_lsn, "the report names another last record");
    return rc;
}

/* Everything acknowledged is there. */
static void expect_recovery(Bed *bed, WalRecovery *report)
{
    int rc = bed_recover(bed, bed->path, report);

    EXPECT(rc == SAP_OK, "recovery: %d, end %d at %" PRIx64 ":%" PRIu64, rc, (int)report->end,
           report->segment, report->offset);
    EXPECT(report->last_lsn >= bed->acked_lsn, "acknowledged %" PRIu64 ", found %" PRIu64,
           bed->acked_lsn, report->last_lsn);
}

static void segment_path(const Bed *bed, uint64_t segment, char *out)
{
    snprintf(out, MAX_PATH, "%s-wal.%016" PRIx64, bed->path, segment);
}

static bool has_segment(const Bed *bed, uint64_t segment)
{
    char path[MAX_PATH];

    segment_path(bed, segment, path);
    return access(path, F_OK) == 0;
}

static void overwrite(const Bed *bed, uint64_t segment, long offset, const void *data, size_t len)
{
    char path[MAX_PATH];

    segment_path(bed, segment, path);
    FILE *file = fopen(path, "r+b");
    EXPECT(file != NULL, "no segment %s", path);
    EXPECT(fseek(file, offset, SEEK_SET) == 0 && fwrite(data, 1, len, file) == len, "no write");
    EXPECT(fclose(file) == 0, "no write");
}

/* Groups of one block each, `per_segment` to a segment. */
static void write_blocks(Bed *bed, unsigned groups)
{
    for (unsigned i = 0; i < groups; i++) {
        uint8_t text[100];
        memset(text, (int)i, sizeof text);
        EXPECT_RC(wal_reserve(bed->wal, sizeof text), SAP_OK);
        EXPECT_RC(wal_append(bed->wal, ++bed->last_lsn, text, sizeof text, NULL, NULL), SAP_OK);
        EXPECT_RC(bed_wait(bed), SAP_OK);
    }
}

static int recover_blocks(const Bed *bed, WalRecovery *report)
{
    return wal_recover(bed->path, db_id, &bed->from, bed->from_lsn, NULL, NULL, report);
}

/* ---- Format --------------------------------------------------------------------------------- */

START_TEST(group_has_the_bytes_of_the_format)
{
    static const uint8_t golden[] = {
        0x53, 0x41, 0x50, 0x4c, 0x57, 0x47, 0x50, 0x31, /* "SAPLWGP1" */
        0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* database */
        0x02, 0,    0,    0,    0,    0,    0,    0,    /* segment */
        0x03, 0,    0,    0,    0,    0,    0,    0,    /* sequence */
        0x0f, 0,    0,    0,    0x01, 0,    0,    0,    /* payload, records */
        0x07, 0,    0,    0,    0,    0,    0,    0,    /* first lsn */
        0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* chain */
        0x37, 0x8d, 0x19, 0x73, 0xd3, 0xea, 0x99, 0x29, /* XXH3 */
        0x07, 0,    0,    0,    0,    0,    0,    0,    0x03, 0, 0, 0, 'a', 'b', 'c',
    };
    uint8_t bytes[sizeof golden];
    WalGroup group = {.db_id = db_id,
                      .segment = 2,
                      .sequence = 3,
                      .payload_len = 15,
                      .record_count = 1,
                      .first_lsn = 7,
                      .chain = UINT64_C(0x1122334455667788)};
    WalGroup decoded;

    wal_record_encode(bytes + WAL_GROUP_HEADER, 7, 3);
    memcpy(bytes + WAL_GROUP_HEADER + WAL_RECORD_HEADER, "abc", 3);
    group.checksum = wal_group_encode(&group, bytes);
    ck_assert_mem_eq(bytes, golden, sizeof golden);
    ck_assert_int_eq(wal_group_decode(golden, &decoded), SAP_OK);
    ck_assert_mem_eq(&decoded, &group, sizeof group);
    ck_assert_int_eq(wal_group_verify(&decoded, golden), SAP_OK);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        bool valid = wal_group_decode(bytes, &decoded) == SAP_OK &&
                     decoded.payload_len == group.payload_len &&
                     wal_group_verify(&decoded, bytes) == SAP_OK;
        EXPECT(!valid, "a changed byte %zu is not noticed", i);
        bytes[i] ^= 1;
    }
}
END_TEST

START_TEST(segment_names_are_read_back)
{
    uint64_t number = 0;

    ck_assert_int_eq(wal_segment_parse("00000000000001af", &number), SAP_OK);
    ck_assert_uint_eq(number, 0x1af);
    ck_assert_int_eq(wal_segment_parse("00000000000001aF", &number), SAP_INVALID);
    ck_assert_int_eq(wal_segment_parse("00000000000001a", &number), SAP_INVALID);
    ck_assert_int_eq(wal_segment_parse("00000000000001af0", &number), SAP_INVALID);
    ck_assert_int_eq(wal_segment_parse("", &number), SAP_INVALID);
}
END_TEST

/* ---- Writing and reading -------------------------------------------------------------------- */

START_TEST(every_record_is_read_back)
{
    uint64_t seeds = choice_seed_count(6);
    uint64_t records = 0;
    uint64_t groups = 0;

    for (uint64_t i = 0; i < seeds; i++) {
        uint64_t seed = choice_first_seed() + i;
        Bed bed;
        Rng rng;
        WalRecovery report;
        expect_context("seed %" PRIu64, seed);
        rng_seed(&rng, seed);
        bed_start(&bed, seed);
        bed_open(&bed);
        for (int commit = 0; commit < 150; commit++) {
            EXPECT_RC(bed_commit(&bed, (unsigned)rng_range(&rng, 1, 4)), SAP_OK);
            EXPECT(wal_synced(bed.wal) == bed.last_lsn, "not synced");
        }
        expect_recovery(&bed, &report);
        EXPECT(report.end == WAL_END_CLEAN && report.last_lsn == bed.last_lsn, "not all is there");
        records += report.records;
        groups += report.groups;
        bed_end(&bed);
    }
    printf("round trip: %" PRIu64 " records in %" PRIu64 " groups, seeds from %" PRIu64 "\n",
           records, groups, choice_first_seed());
    ck_assert_uint_gt(records, 0);
}
END_TEST

START_TEST(record_above_the_limit_is_refused_and_nothing_happened)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    ck_assert_int_eq(wal_reserve(bed.wal, (size_t)WAL_RECORD_MAX + 1), SAP_FULL);
    ck_assert_int_eq(bed_commit(&bed, 1), SAP_OK);
    expect_recovery(&bed, &report);
    bed_end(&bed);
}
END_TEST

START_TEST(record_larger_than_a_segment_has_one_of_its_own)
{
    enum { LARGE = 100 * SEGMENT + 77 };
    static uint8_t large[LARGE];
    Bed bed;
    WalRecovery report;
    char path[MAX_PATH];

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 2);
    memset(large, 'l', sizeof large);
    ck_assert_int_eq(wal_reserve(bed.wal, sizeof large), SAP_OK);
    ck_assert_int_eq(wal_append(bed.wal, ++bed.last_lsn, large, sizeof large, NULL, NULL), SAP_OK);
    ck_assert_int_eq(bed_wait(&bed), SAP_OK);
    write_blocks(&bed, 4);
    ck_assert(has_segment(&bed, 3));
    segment_path(&bed, 2, path);
    ck_assert_int_eq(truncate(path, LARGE / 2), 0);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_uint_eq(report.segment, 1);
    ck_assert_uint_eq(report.last_lsn, 2);
    bed_end(&bed);
}
END_TEST

START_TEST(checkpoint_removes_and_recycles_earlier_segments)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 3);
    bed_open(&bed);
    while (!has_segment(&bed, 6)) {
        EXPECT_RC(bed_commit(&bed, 3), SAP_OK);
    }
    ck_assert_int_eq(bed_checkpoint(&bed), SAP_OK);
    ck_assert(!has_segment(&bed, bed.from.segment - 1));
    ck_assert(has_segment(&bed, bed.from.segment));
    ck_assert(has_segment(&bed, bed.from.segment + 2));
    ck_assert(!has_segment(&bed, bed.from.segment + 3));
    expect_recovery(&bed, &report);
    ck_assert_uint_eq(report.groups, 0);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 40; i++) {
            EXPECT_RC(bed_commit(&bed, 2), SAP_OK);
        }
        expect_recovery(&bed, &report);
        ck_assert_uint_eq(report.last_lsn, bed.last_lsn);
        ck_assert_int_eq(bed_checkpoint(&bed), SAP_OK);
    }
    WalPoint again;
    ck_assert_int_eq(wal_rotate(bed.wal, &again), SAP_OK);
    ck_assert_uint_eq(again.segment, bed.from.segment + 1); /* also without a record between them */
    bed_end(&bed);
}
END_TEST

START_TEST(log_goes_on_behind_what_was_recovered)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 4);
    for (int round = 0; round < 6; round++) {
        if (round == 0) {
            bed_open(&bed);
        } else {
            expect_recovery(&bed, &report);
            bed_reopen(&bed, &report);
        }
        for (int i = 0; i < round * 7; i++) {
            EXPECT_RC(bed_commit(&bed, 2), SAP_OK);
        }
        wal_close(bed.wal);
    }
    expect_recovery(&bed, &report);
    ck_assert_uint_eq(report.last_lsn, bed.last_lsn);
    bed.wal = NULL;
    bed_end(&bed);
}
END_TEST

/* ---- Files that are used again -------------------------------------------------------------- */

static void count_bytes(void *ctx, const DiskEvent *event)
{
    *(uint64_t *)ctx += event->len;
}

START_TEST(opening_again_writes_nothing)
{
    Bed bed;
    WalRecovery report;
    uint64_t written = 0;

    bed_start(&bed, 5);
    bed_open(&bed);
    write_blocks(&bed, 3);
    ck_assert_int_eq(wal_prepare(bed.wal), SAP_OK);
    for (int round = 0; round < 10; round++) {
        ck_assert_int_eq(bed_checkpoint(&bed), SAP_OK);
        wal_close(bed.wal);
        expect_recovery(&bed, &report);
        ck_assert_int_eq(report.end, WAL_END_CLEAN);
        disk_trace_set(count_bytes, &written);
        bed_reopen(&bed, &report);
        disk_trace_set(NULL, NULL);
        if (round % 3 == 0) {
            write_blocks(&bed, 2);
        }
    }
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_uint_eq(report.last_lsn, bed.last_lsn);
    ck_assert_uint_eq(written, 0);
    bed_end(&bed);
}
END_TEST

static void read_block(const Bed *bed, uint64_t segment, uint8_t *block)
{
    char path[MAX_PATH];

    segment_path(bed, segment, path);
    FILE *file = fopen(path, "rb");
    EXPECT(file != NULL && fread(block, 1, WAL_BLOCK, file) == WAL_BLOCK, "no segment %s", path);
    fclose(file);
}

/* It was cut off. If it stayed, bytes that make it whole could bring it back, and what follows it
 * would be another history. */
START_TEST(torn_group_at_the_start_of_a_segment_does_not_stay)
{
    for (uint64_t skip = 0; skip < 2; skip++) {
        Bed bed;
        WalRecovery report;
        WalGroup group;
        uint8_t block[WAL_BLOCK];
        char from[MAX_PATH];
        char to[MAX_PATH];
        expect_context("%" PRIu64 " unused before it", skip);
        bed_start(&bed, 1);
        bed_open(&bed);
        while (!has_segment(&bed, 2)) {
            write_blocks(&bed, 1);
        }
        while (bed.last_lsn < SEGMENT / WAL_BLOCK) {
            write_blocks(&bed, 1);
        }
        wal_close(bed.wal);
        overwrite(&bed, 2, 100, "x", 1);
        EXPECT_RC(recover_blocks(&bed, &report), SAP_OK);
        EXPECT(report.end == WAL_END_TORN, "end %d", (int)report.end);
        EXPECT(report.next.segment == 2, "goes on at %" PRIu64, report.next.segment);
        if (skip > 0) {
            /* As if it had been too long for an unused second segment. */
            read_block(&bed, 2, block);
            store_u64le(block + WAL_GROUP_SEGMENT, 3);
            overwrite(&bed, 2, 0, block, sizeof block);
            segment_path(&bed, 2, from);
            segment_path(&bed, 3, to);
            EXPECT(rename(from, to) == 0, "no rename");
            memset(block, 0, sizeof block);
            FILE *empty = fopen(from, "wb");
            for (int i = 0; i < SEGMENT / WAL_BLOCK; i++) {
                EXPECT(fwrite(block, 1, sizeof block, empty) == sizeof block, "no write");
            }
            fclose(empty);
        }
        bed_reopen(&bed, &report);
        if (skip > 0) {
            EXPECT(!has_segment(&bed, 3), "the file stays");
        } else {
            read_block(&bed, 2, block);
            EXPECT(wal_group_decode(block, &group) != SAP_OK, "the group stays");
        }
        write_blocks(&bed, 12);
        EXPECT_RC(recover_blocks(&bed, &report), SAP_OK);
        EXPECT(report.last_lsn == bed.last_lsn, "read up to %" PRIu64, report.last_lsn);
        bed_end(&bed);
    }
}
END_TEST

/* Somebody decided to go on before the damage: what was behind it is no part of the log. */
START_TEST(groups_behind_damage_do_not_stay)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 30);
    wal_close(bed.wal);
    overwrite(&bed, 1, 2 * WAL_BLOCK, "x", 1);
    overwrite(&bed, 2, 0, "x", 1); /* the first block does not show that others follow */
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    bed.from = report.next;
    bed.from_lsn = bed.last_lsn = report.last_lsn;
    bed_open(&bed);
    write_blocks(&bed, 3);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_int_eq(report.end, WAL_END_CLEAN);
    ck_assert_uint_eq(report.last_lsn, bed.last_lsn);
    bed_end(&bed);
}
END_TEST

START_TEST(bytes_are_those_that_a_checkpoint_frees)
{
    Bed bed;
    WalPoint point;

    bed_start(&bed, 1);
    bed_open(&bed);
    ck_assert_uint_eq(wal_bytes(bed.wal), 0);
    write_blocks(&bed, 20);
    ck_assert_uint_eq(wal_bytes(bed.wal), 20 * WAL_BLOCK);
    ck_assert_int_eq(wal_rotate(bed.wal, &point), SAP_OK);
    write_blocks(&bed, 3);
    ck_assert_uint_eq(wal_bytes(bed.wal), 23 * WAL_BLOCK);
    ck_assert_int_eq(wal_release(bed.wal, point.segment), SAP_OK);
    ck_assert_uint_eq(wal_bytes(bed.wal), 3 * WAL_BLOCK);
    ck_assert_int_eq(wal_release(bed.wal, point.segment), SAP_OK);
    ck_assert_uint_eq(wal_bytes(bed.wal), 3 * WAL_BLOCK);
    bed_end(&bed);
}
END_TEST

/* Through another opening, and so through the cache. */
static void expect_filled(const char *path, uint64_t offset, size_t len, uint8_t with)
{
    uint8_t bytes[2 * DISK_ALIGN];
    DiskFile file;

    EXPECT_RC(disk_open_read(path, &file), SAP_OK);
    EXPECT_RC(disk_read(&file, offset, bytes, len), SAP_OK);
    disk_close(&file);
    for (size_t i = 0; i < len; i++) {
        EXPECT(bytes[i] == with, "byte %zu at %" PRIu64 " is %d", i, offset, bytes[i]);
    }
}

/* Whatever the file system makes of them. */
START_TEST(direct_writes_are_seen_by_all_and_any_write_can_be_done)
{
    uint8_t *bytes = mem_alloc_aligned(MEM_TEST, DISK_ALIGN, DISK_ALIGN);
    bool in_memory = _i != 0;
    bool direct;
    char dir[MAX_PATH / 3];
    char path[MAX_PATH / 2];
    DiskFile file;

    crash_dir_make(dir, sizeof dir, in_memory);
    snprintf(path, sizeof path, "%s/file", dir);
    EXPECT_RC(disk_create(path, &file), SAP_OK);
    EXPECT_RC(disk_write_zeros(&file, 0, SEGMENT), SAP_OK);
    expect_filled(path, DISK_ALIGN, DISK_ALIGN, 0);
    memset(bytes, 1, DISK_ALIGN);
    EXPECT_RC(disk_write_direct(&file, DISK_ALIGN, bytes, DISK_ALIGN), SAP_OK);
    direct = file.direct;
    EXPECT(direct == !file.never_direct, "neither direct nor refused");
    EXPECT_RC(disk_sync(&file), SAP_OK);
    expect_filled(path, 0, DISK_ALIGN, 0);
    expect_filled(path, DISK_ALIGN, DISK_ALIGN, 1);
    expect_filled(path, UINT64_C(2) * DISK_ALIGN, DISK_ALIGN, 0);
    EXPECT_RC(disk_write(&file, DISK_ALIGN + 1, bytes + 1, 5), SAP_OK);
    EXPECT(!file.direct, "it is still direct");
    EXPECT_RC(disk_write_direct(&file, DISK_ALIGN + 2, bytes + 1, 5), SAP_OK);
    memset(bytes, 2, DISK_ALIGN);
    EXPECT_RC(disk_write_direct(&file, UINT64_C(2) * DISK_ALIGN + 9, bytes + 1, 300), SAP_OK);
    EXPECT(!file.direct || !file.never_direct, "both direct and refused");
    EXPECT_RC(disk_sync(&file), SAP_OK);
    expect_filled(path, DISK_ALIGN, DISK_ALIGN, 1);
    expect_filled(path, UINT64_C(2) * DISK_ALIGN, 9, 0);
    expect_filled(path, UINT64_C(2) * DISK_ALIGN + 9, 300, 2);
    expect_filled(path, UINT64_C(2) * DISK_ALIGN + 309, 300, 0);
    printf("in %s: direct %s, after an unaligned write %s\n",
           in_memory ? "memory" : "a file system", direct ? "yes" : "no",
           file.direct ? "yes" : "no");
    disk_close(&file);
    crash_dir_remove(dir);
    mem_free_aligned(MEM_TEST, bytes, DISK_ALIGN);
}
END_TEST

START_TEST(prepared_segment_is_not_made_again)
{
    Bed bed;
    WalPoint point;
    uint64_t written = 0;

    bed_start(&bed, 1);
    bed_open(&bed);
    ck_assert(!wal_wants_prepare(bed.wal));
    write_blocks(&bed, SEGMENT / WAL_BLOCK / 2);
    ck_assert(wal_wants_prepare(bed.wal));
    ck_assert_int_eq(wal_prepare(bed.wal), SAP_OK);
    ck_assert(!wal_wants_prepare(bed.wal));
    ck_assert(has_segment(&bed, 2));
    disk_trace_set(count_bytes, &written);
    ck_assert_int_eq(wal_prepare(bed.wal), SAP_OK);
    write_blocks(&bed, SEGMENT / WAL_BLOCK);
    disk_trace_set(NULL, NULL);
    ck_assert_uint_eq(written, SEGMENT);
    ck_assert(wal_wants_prepare(bed.wal));
    ck_assert_int_eq(wal_prepare(bed.wal), SAP_OK);
    disk_trace_set(count_bytes, &written);
    ck_assert_int_eq(wal_rotate(bed.wal, &point), SAP_OK);
    disk_trace_set(NULL, NULL);
    ck_assert_uint_eq(point.segment, 3);
    ck_assert_uint_eq(written, SEGMENT);
    bed_end(&bed);
}
END_TEST

/* ---- Damage --------------------------------------------------------------------------------- */

START_TEST(invalid_last_group_is_cut_and_reported)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 5);
    overwrite(&bed, 1, 4 * WAL_BLOCK + 100, "x", 1);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_int_eq(report.end, WAL_END_TORN);
    ck_assert_uint_eq(report.segment, 1);
    ck_assert_uint_eq(report.offset, 4 * WAL_BLOCK);
    ck_assert_uint_eq(report.last_lsn, 4);
    ck_assert_uint_eq(report.lost_groups, 0);
    /* What goes on behind the cut is no sign of damage. */
    wal_close(bed.wal);
    bed_reopen(&bed, &report);
    write_blocks(&bed, 3);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_int_eq(report.end, WAL_END_CLEAN);
    ck_assert_uint_eq(report.last_lsn, 7);
    bed_end(&bed);
}
END_TEST

START_TEST(invalid_group_with_valid_ones_behind_it_is_corruption)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 14);
    ck_assert(has_segment(&bed, 2));
    overwrite(&bed, 1, 2 * WAL_BLOCK, "x", 1);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_DAMAGED);
    ck_assert_uint_eq(report.offset, 2 * WAL_BLOCK);
    ck_assert_uint_eq(report.last_lsn, 2);
    ck_assert_uint_eq(report.lost_groups, 11);
    ck_assert_uint_eq(report.lost_records, 11);
    ck_assert_uint_eq(report.lost_first_lsn, 4);
    bed_end(&bed);
}
END_TEST

START_TEST(missing_segment_is_told_from_damage)
{
    Bed bed;
    WalRecovery report;
    char path[MAX_PATH];

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 20);
    ck_assert(has_segment(&bed, 3));
    segment_path(&bed, 2, path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_MISSING);
    ck_assert_uint_eq(report.segment, 2);
    ck_assert_uint_gt(report.lost_groups, 0);
    segment_path(&bed, 1, path);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_MISSING);
    ck_assert_uint_eq(report.segment, 1);
    bed_end(&bed);
}
END_TEST

START_TEST(segment_of_another_database_is_refused)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 3);
    ck_assert_int_eq(wal_recover(bed.path, db_id + 1, &bed.from, 0, NULL, NULL, &report),
                     SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_FOREIGN);
    ck_assert_uint_eq(report.groups, 0);
    bed_end(&bed);
}
END_TEST

START_TEST(file_that_ends_within_a_group_is_refused)
{
    Bed bed;
    WalRecovery report;
    char path[MAX_PATH];
    static const uint8_t large[3 * WAL_BLOCK];

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 2);
    ck_assert_int_eq(wal_reserve(bed.wal, sizeof large), SAP_OK);
    ck_assert_int_eq(wal_append(bed.wal, ++bed.last_lsn, large, sizeof large, NULL, NULL), SAP_OK);
    ck_assert_int_eq(bed_wait(&bed), SAP_OK);
    segment_path(&bed, 1, path);
    ck_assert_int_eq(truncate(path, 4 * WAL_BLOCK), 0);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_TRUNCATED);
    ck_assert_uint_eq(report.offset, 2 * WAL_BLOCK);
    bed_end(&bed);
}
END_TEST

/* Five groups of a block each, and then only a part of their segment: within the groups or right
 * behind one, that is no end that a crash makes. */
START_TEST(segment_cut_anywhere_is_refused)
{
    enum { GROUPS = 5 };
    static const long cuts[] = {0,
                                1,
                                WAL_GROUP_HEADER,
                                WAL_BLOCK,
                                WAL_BLOCK + 1,
                                3L * WAL_BLOCK,
                                4L * WAL_BLOCK - 1,
                                4L * WAL_BLOCK,
                                4L * WAL_BLOCK + WAL_GROUP_HEADER,
                                5L * WAL_BLOCK - 1,
                                5L * WAL_BLOCK,
                                5L * WAL_BLOCK + 1,
                                6L * WAL_BLOCK - 1};

    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        Bed bed;
        WalRecovery report;
        char path[MAX_PATH];
        bed_start(&bed, 1);
        bed_open(&bed);
        write_blocks(&bed, GROUPS);
        ck_assert(!has_segment(&bed, 2));
        segment_path(&bed, 1, path);
        ck_assert_int_eq(truncate(path, cuts[i]), 0);
        expect_context("cut to %ld bytes", cuts[i]);
        EXPECT_RC(recover_blocks(&bed, &report), SAP_CORRUPT);
        EXPECT(report.end == WAL_END_TRUNCATED, "the end is %d", (int)report.end);
        EXPECT(report.last_lsn >= (uint64_t)cuts[i] / WAL_BLOCK || report.last_lsn == GROUPS,
               "only %" PRIu64 " were read", report.last_lsn);
        bed_end(&bed);
    }
}
END_TEST

/* The segment that a checkpoint names is whole, also if there is no group in it. */
START_TEST(unused_segment_cut_below_the_least_is_refused)
{
    Bed bed;
    WalRecovery report;
    char path[MAX_PATH];

    bed_start(&bed, 1);
    bed_open(&bed);
    segment_path(&bed, 1, path);
    ck_assert_int_eq(truncate(path, WAL_SEGMENT_MIN), 0);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_int_eq(truncate(path, WAL_SEGMENT_MIN - WAL_BLOCK), 0);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_TRUNCATED);
    bed_end(&bed);
}
END_TEST

START_TEST(last_block_of_a_segment_stays_free)
{
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, SEGMENT / WAL_BLOCK - 1);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_uint_eq(report.segment, 1);
    ck_assert_uint_eq(report.offset, SEGMENT - WAL_BLOCK);
    write_blocks(&bed, 1);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_uint_eq(report.segment, 2);
    ck_assert_uint_eq(report.offset, WAL_BLOCK);
    bed_end(&bed);
}
END_TEST

static void write_group(const Bed *bed, long offset, const WalGroup *group, const char *record)
{
    uint8_t block[WAL_BLOCK] = {0};

    wal_record_encode(block + WAL_GROUP_HEADER, group->first_lsn, (uint32_t)strlen(record));
    memcpy(block + WAL_GROUP_HEADER + WAL_RECORD_HEADER, record, strlen(record));
    wal_group_encode(group, block);
    overwrite(bed, group->segment, offset, block, sizeof block);
}

/* A file that was another segment before holds groups of that one. Nothing else tells them from
 * the next group here: database, sequence and chain fit. */
START_TEST(group_of_another_segment_is_not_the_next_one)
{
    for (int step = -1; step <= 1; step++) {
        Bed bed;
        WalRecovery report;
        uint8_t block[WAL_BLOCK] = {0};
        expect_context("segment %d from its own", step);
        bed_start(&bed, 1);
        bed_open(&bed);
        write_blocks(&bed, 2);
        EXPECT_RC(recover_blocks(&bed, &report), SAP_OK);
        WalGroup group = {.db_id = db_id,
                          .segment = (uint64_t)(1 + step),
                          .sequence = 3,
                          .payload_len = WAL_RECORD_HEADER + 5,
                          .record_count = 1,
                          .first_lsn = 3,
                          .chain = report.next.chain};
        wal_record_encode(block + WAL_GROUP_HEADER, 3, 5);
        wal_group_encode(&group, block);
        overwrite(&bed, 1, 2L * WAL_BLOCK, block, sizeof block);
        int rc = recover_blocks(&bed, &report);
        EXPECT(rc == (step > 0 ? SAP_CORRUPT : SAP_OK), "recovery answers %d", rc);
        EXPECT(report.last_lsn == (step == 0 ? 3 : 2), "read up to %" PRIu64, report.last_lsn);
        bed_end(&bed);
    }
}
END_TEST

/* The third group of a log whose second was another one. */
START_TEST(group_of_another_history_is_refused)
{
    Bed bed;
    WalRecovery report;
    WalGroup group = {.db_id = db_id,
                      .segment = 1,
                      .sequence = 3,
                      .payload_len = WAL_RECORD_HEADER + 5,
                      .record_count = 1,
                      .first_lsn = 3,
                      .chain = 12345};

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 2);
    write_group(&bed, 2 * WAL_BLOCK, &group, "other");
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
    ck_assert_int_eq(report.end, WAL_END_DAMAGED);
    ck_assert_uint_eq(report.last_lsn, 2);
    ck_assert_uint_eq(report.lost_groups, 1);
    bed_end(&bed);
}
END_TEST

START_TEST(valid_group_that_is_not_made_of_records_is_refused)
{
    static const struct {
        uint32_t payload_len;
        uint32_t records;
        uint64_t first_lsn;
    } bad[] = {
        {WAL_RECORD_HEADER + 4, 1, 3}, {WAL_RECORD_HEADER + 6, 1, 3}, {WAL_RECORD_HEADER + 5, 2, 3},
        {WAL_RECORD_HEADER + 5, 0, 3}, {WAL_RECORD_HEADER + 5, 1, 2},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Bed bed;
        WalRecovery report;
        bed_start(&bed, 1);
        bed_open(&bed);
        write_blocks(&bed, 2);
        ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
        WalGroup group = {.db_id = db_id,
                          .segment = 1,
                          .sequence = 3,
                          .payload_len = bad[i].payload_len,
                          .record_count = bad[i].records,
                          .first_lsn = bad[i].first_lsn,
                          .chain = report.next.chain};
        write_group(&bed, 2 * WAL_BLOCK, &group, "other");
        ck_assert_int_eq(recover_blocks(&bed, &report), SAP_CORRUPT);
        ck_assert_int_eq(report.end, WAL_END_MALFORMED);
        ck_assert_uint_eq(report.last_lsn, 2);
        bed_end(&bed);
    }
}
END_TEST

/* ---- Failures ------------------------------------------------------------------------------- */

/* A run of commits and checkpoints that stops at the first SAP_IO and goes on after SAP_FULL and
 * SAP_NOMEM. Returns the number of commits acknowledged. */
static uint64_t run_until_failure(Bed *bed, int commits, int *rc_out)
{
    uint64_t acked = 0;
    int rc = SAP_OK;

    for (int i = 0; i < commits && rc != SAP_IO; i++) {
        rc = i % 20 == 19   ? bed_checkpoint(bed)
             : i % 20 == 11 ? wal_prepare(bed->wal)
                            : bed_commit(bed, 1 + (unsigned)i % 3);
        EXPECT(rc == SAP_OK || rc == SAP_FULL || rc == SAP_NOMEM || rc == SAP_IO, "answer %d", rc);
        acked += rc == SAP_OK;
    }
    *rc_out = rc;
    return acked;
}

static void count_event(void *ctx, const DiskEvent *event)
{
    *(uint64_t *)ctx += event->op != DISK_OPEN;
}

/* Nothing is acknowledged and nothing is written. */
static void expect_refusal(Bed *bed)
{
    uint64_t events = 0;
    WalPoint point;

    disk_trace_set(count_event, &events);
    EXPECT_RC(wal_wait(bed->wal, bed->last_lsn + (wal_synced(bed->wal) == bed->last_lsn)), SAP_IO);
    EXPECT_RC(wal_reserve(bed->wal, 1), SAP_IO);
    EXPECT_RC(wal_rotate(bed->wal, &point), SAP_IO);
    EXPECT_RC(wal_release(bed->wal, 0), SAP_IO);
    EXPECT_RC(wal_prepare(bed->wal), SAP_IO);
    wal_close(bed->wal);
    bed->wal = NULL;
    disk_trace_set(NULL, NULL);
    EXPECT(events == 0, "%" PRIu64 " operations after a failure", events);
}

static void fail_each_io(int err)
{
    uint64_t refused = 0;
    uint64_t went_on = 0;
    bool fired = true;

    for (uint64_t nth = 1; fired; nth++) {
        Bed bed;
        WalRecovery report;
        int rc;
        expect_context("I/O %" PRIu64 " fails with %d", nth, err);
        bed_start(&bed, 11);
        fault_reset();
        fault_arm_io(nth, err);
        rc = wal_open(&bed.wal, bed.path, db_id, &bed.from, 0, &small_segments);
        if (rc != SAP_OK) {
            EXPECT(rc == SAP_IO || (rc == SAP_FULL && err == ENOSPC), "open answers %d", rc);
            bed_open(&bed);
        }
        (void)run_until_failure(&bed, 70, &rc);
        fired = fault_fired() > 0;
        fault_reset();
        if (rc == SAP_IO) {
            refused++;
            expect_refusal(&bed);
        } else {
            went_on += fired;
        }
        expect_recovery(&bed, &report);
        bed_end(&bed);
    }
    printf("errno %d at each I/O: %" PRIu64 " logs refused, %" PRIu64 " went on\n", err, refused,
           went_on);
    ck_assert_uint_gt(refused, 0);
}

START_TEST(failed_io_is_final_and_loses_nothing_acknowledged)
{
    fail_each_io(EIO);
}
END_TEST

START_TEST(full_disk_loses_nothing_acknowledged)
{
    fail_each_io(ENOSPC);
}
END_TEST

START_TEST(refused_permission_loses_nothing_acknowledged)
{
    fail_each_io(EACCES);
}
END_TEST

START_TEST(segment_that_cannot_be_made_is_no_failure_of_the_log)
{
    static const int errs[] = {ENOSPC, EDQUOT, EACCES, EPERM};
    Bed bed;
    WalRecovery report;

    bed_start(&bed, 1);
    bed_open(&bed);
    write_blocks(&bed, 3);
    fault_arm_io_from(1, errs[_i]);
    ck_assert_int_eq(wal_reserve(bed.wal, SEGMENT), SAP_FULL);
    ck_assert_int_eq(errno, errs[_i]);
    fault_reset();
    write_blocks(&bed, 30);
    ck_assert_int_eq(recover_blocks(&bed, &report), SAP_OK);
    ck_assert_uint_eq(report.last_lsn, bed.last_lsn);
    bed_end(&bed);
}
END_TEST

/* What a checkpoint does with the segments before it. */
typedef struct Recycling {
    uint64_t at; /* which question of the disk the first rename is */
    unsigned renamed;
    unsigned removed;
} Recycling;

static void note_recycling(void *ctx, const DiskEvent *event)
{
    Recycling *recycling = ctx;

    if (event->op == DISK_RENAME && recycling->renamed++ == 0) {
        recycling->at = fault_io_count();
    }
    recycling->removed += event->op == DISK_UNLINK;
}

/* A checkpoint of a log of five segments or more, whose n-th question of the disk fails; 0: none. */
static Recycling recycle(Bed *bed, uint64_t nth, int err, int *rc_out)
{
    Recycling recycling = {0};
    WalPoint point;

    bed_start(bed, 3);
    bed_open(bed);
    while (!has_segment(bed, 6)) {
        EXPECT_RC(bed_commit(bed, 3), SAP_OK);
    }
    EXPECT_RC(wal_rotate(bed->wal, &point), SAP_OK);
    bed->from = point;
    bed->from_lsn = bed->acked_lsn = bed->last_lsn;
    fault_reset();
    fault_arm_io(nth, err);
    disk_trace_set(note_recycling, &recycling);
    *rc_out = wal_release(bed->wal, point.segment);
    disk_trace_set(NULL, NULL);
    EXPECT(fault_fired() == (nth > 0 ? 1 : 0), "the fault did not fire");
    fault_reset();
    return recycling;
}

static void expect_goes_on(Bed *bed)
{
    WalRecovery report;

    for (int i = 0; i < 40; i++) {
        EXPECT_RC(bed_commit(bed, 2), SAP_OK);
    }
    expect_recovery(bed, &report);
    EXPECT(report.last_lsn == bed->last_lsn, "records are missing");
    EXPECT_RC(bed_checkpoint(bed), SAP_OK);
}

START_TEST(segment_whose_new_name_finds_no_room_is_removed_and_the_log_goes_on)
{
    Bed bed;
    int rc;
    Recycling usual = recycle(&bed, 0, EIO, &rc);

    ck_assert_int_eq(rc, SAP_OK);
    ck_assert_uint_gt(usual.renamed, 1);
    bed_end(&bed);

    Recycling full = recycle(&bed, usual.at, ENOSPC, &rc);
    ck_assert_int_eq(rc, SAP_OK);
    ck_assert(!has_segment(&bed, bed.from.segment - 1));
    ck_assert_uint_gt(full.removed, 0);
    /* One less is kept, or another one in its place. */
    ck_assert_uint_eq(full.renamed + full.removed, usual.renamed + usual.removed);
    expect_goes_on(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(segment_that_may_not_be_renamed_is_released_by_the_next_checkpoint)
{
    Bed bed;
    int rc;
    Recycling usual = recycle(&bed, 0, EIO, &rc);

    bed_end(&bed);
    (void)recycle(&bed, usual.at, EACCES, &rc);
    ck_assert_int_eq(rc, SAP_FULL);
    ck_assert(has_segment(&bed, bed.from.segment - 1));
    ck_assert_int_eq(wal_release(bed.wal, bed.from.segment), SAP_OK);
    ck_assert(!has_segment(&bed, bed.from.segment - 1));
    expect_goes_on(&bed);
    bed_end(&bed);
}
END_TEST

START_TEST(each_allocation_failed_once_changes_nothing)
{
    uint64_t nth = 1;
    size_t live = mem_live_total();

    for (bool fired = true; fired; nth++) {
        Bed bed;
        WalRecovery report;
        int rc;
        expect_context("allocation %" PRIu64 " fails", nth);
        bed_start(&bed, 12);
        fault_reset();
        fault_arm_alloc(nth);
        rc = wal_open(&bed.wal, bed.path, db_id, &bed.from, 0, &small_segments);
        if (rc != SAP_OK) {
            EXPECT_RC(rc, SAP_NOMEM);
            bed_open(&bed);
        }
        (void)run_until_failure(&bed, 45, &rc);
        EXPECT(rc != SAP_IO, "no memory is final");
        rc = bed_recover(&bed, bed.path, &report);
        fired = fault_fired() > 0;
        EXPECT(rc == SAP_OK || (fired && rc == SAP_NOMEM), "recovery answers %d", rc);
        fault_reset();
        expect_recovery(&bed, &report);
        bed_end(&bed);
        EXPECT(mem_live_total() == live, "memory is left");
    }
    printf("%" PRIu64 " allocations failed\n", nth - 2);
    ck_assert_uint_gt(nth, 2);
}
END_TEST

START_TEST(recovery_reports_each_io_error)
{
    Bed bed;
    WalRecovery report;
    uint64_t nth = 1;

    bed_start(&bed, 13);
    bed_open(&bed);
    for (int i = 0; i < 20; i++) {
        EXPECT_RC(bed_commit(&bed, 2), SAP_OK);
    }
    for (;; nth++) {
        fault_reset();
        fault_arm_io(nth, EIO);
        int rc = bed_recover(&bed, bed.path, &report);
        if (fault_fired() == 0) {
            EXPECT_RC(rc, SAP_OK);
            break;
        }
        EXPECT_RC(rc, SAP_IO);
    }
    fault_reset();
    ck_assert_uint_gt(nth, 20);
    bed_end(&bed);
}
END_TEST

/* ---- Power cuts ----------------------------------------------------------------------------- */

/* What holds from a mark on. */
typedef struct Truth {
    uint64_t acked_lsn;
    WalPoint from;
    uint64_t from_lsn;
    uint64_t released; /* there is no segment before it; 0: not known */
} Truth;

static Truth truths[MAX_TRUTHS];
static uint64_t truth_count;

static void note_truth(CrashTrace *trace, const Bed *bed, uint64_t released)
{
    EXPECT(truth_count < MAX_TRUTHS, "too many marks");
    truths[truth_count] = (Truth){bed->acked_lsn, bed->from, bed->from_lsn, released};
    crash_mark(trace, truth_count++);
}

static void run_traced(Bed *bed, CrashTrace *trace, Rng *rng)
{
    for (int i = 0; i < 60; i++) {
        EXPECT_RC(bed_commit(bed, (unsigned)rng_range(rng, 1, 4)), SAP_OK);
        note_truth(trace, bed, 0);
        if (i % 7 == 6) {
            EXPECT_RC(wal_prepare(bed->wal), SAP_OK);
        }
        if (i % 18 != 17) {
            continue;
        }
        WalPoint point;
        EXPECT_RC(wal_rotate(bed->wal, &point), SAP_OK);
        bed->from = point;
        bed->from_lsn = bed->last_lsn;
        note_truth(trace, bed, 0); /* as if a checkpoint's root were on disk now */
        EXPECT_RC(wal_release(bed->wal, point.segment), SAP_OK);
        note_truth(trace, bed, point.segment);
    }
}

typedef struct CrashCounts {
    uint64_t states;
    uint64_t torn;
    uint64_t beyond; /* states that hold more than was acknowledged */
    uint64_t continued;
} CrashCounts;

/* The log goes on from the state: new records follow and stay. */
static void continue_from(Bed *state, const WalRecovery *report)
{
    WalRecovery again;

    bed_reopen(state, report);
    for (int i = 0; i < 3; i++) {
        EXPECT_RC(bed_commit(state, 2), SAP_OK);
    }
    wal_close(state->wal);
    state->wal = NULL;
    expect_recovery(state, &again);
    EXPECT(again.last_lsn == state->last_lsn, "what followed the cut is not all there");
}

static void try_state(CrashTrace *trace, size_t length, CrashFate fate, Rng *rng, Bed *state,
                      CrashCounts *counts)
{
    const Truth *truth = &truths[crash_mark_at(trace, length)];
    WalRecovery report;

    crash_build(trace, length, fate, rng, state->dir);
    EXPECT(truth->released == 0 || !has_segment(state, truth->released - 1),
           "a released segment is there again");
    state->from = truth->from;
    state->from_lsn = truth->from_lsn;
    state->acked_lsn = truth->acked_lsn;
    expect_recovery(state, &report);
    counts->states++;
    counts->torn += report.end == WAL_END_TORN;
    counts->beyond += report.last_lsn > truth->acked_lsn;
    if (counts->states % 5 == 0) {
        continue_from(state, &report);
        counts->continued++;
    }
    crash_dir_empty(state->dir);
}

static void cut_everywhere(uint64_t seed, CrashCounts *counts)
{
    Bed bed;
    Bed state;
    Rng rng;

    rng_seed(&rng, seed);
    bed_start(&bed, seed);
    bed_start(&state, seed);
    truth_count = 0;
    CrashTrace *trace = crash_trace_start();
    bed_open(&bed);
    size_t first = crash_length(trace);
    note_truth(trace, &bed, 0);
    run_traced(&bed, trace, &rng);
    crash_trace_stop(trace);
    for (size_t length = first + 1; length <= crash_length(trace); length++) {
        for (int i = 0; i < 2 + RANDOM_STATES; i++) {
            CrashFate fate = i == 0 ? CRASH_DROP : i == 1 ? CRASH_KEEP : CRASH_RANDOM;
            expect_context("seed %" PRIu64 ", cut after %zu, state %d", seed, length, i);
            try_state(trace, length, fate, &rng, &state, counts);
        }
    }
    EXPECT(crash_writes(trace, crash_length(trace)) > 100, "hardly anything was written");
    crash_trace_free(trace);
    bed_end(&state);
    bed_end(&bed);
}

START_TEST(power_cut_loses_nothing_acknowledged_and_shows_nothing_torn)
{
    uint64_t seeds = choice_seed_count(2);
    CrashCounts counts = {0};

    for (uint64_t i = 0; i < seeds; i++) {
        cut_everywhere(choice_first_seed() + i, &counts);
    }
    printf("crash states: %" PRIu64 " (%" PRIu64 " with a torn end, %" PRIu64
           " beyond the last acknowledged, %" PRIu64 " written to again), seeds from %" PRIu64 "\n",
           counts.states, counts.torn, counts.beyond, counts.continued, choice_first_seed());
    ck_assert_uint_gt(counts.states, MIN_STATES);
    ck_assert_uint_gt(counts.torn, 0);
    ck_assert_uint_gt(counts.beyond, 0);
}
END_TEST

static Suite *wal_suite(void)
{
    Suite *suite = suite_create("engine_wal");
    TCase *tc = tcase_create("wal");

    tcase_set_timeout(tc, TIMEOUT_S);
    tcase_add_test(tc, group_has_the_bytes_of_the_format);
    tcase_add_test(tc, segment_names_are_read_back);
    tcase_add_test(tc, every_record_is_read_back);
    tcase_add_test(tc, record_above_the_limit_is_refused_and_nothing_happened);
    tcase_add_test(tc, record_larger_than_a_segment_has_one_of_its_own);
    tcase_add_test(tc, checkpoint_removes_and_recycles_earlier_segments);
    tcase_add_test(tc, log_goes_on_behind_what_was_recovered);
    tcase_add_test(tc, opening_again_writes_nothing);
    tcase_add_test(tc, torn_group_at_the_start_of_a_segment_does_not_stay);
    tcase_add_test(tc, groups_behind_damage_do_not_stay);
    tcase_add_test(tc, bytes_are_those_that_a_checkpoint_frees);
    tcase_add_loop_test(tc, direct_writes_are_seen_by_all_and_any_write_can_be_done, 0, 2);
    tcase_add_test(tc, prepared_segment_is_not_made_again);
    tcase_add_test(tc, invalid_last_group_is_cut_and_reported);
    tcase_add_test(tc, invalid_group_with_valid_ones_behind_it_is_corruption);
    tcase_add_test(tc, missing_segment_is_told_from_damage);
    tcase_add_test(tc, segment_of_another_database_is_refused);
    tcase_add_test(tc, file_that_ends_within_a_group_is_refused);
    tcase_add_test(tc, segment_cut_anywhere_is_refused);
    tcase_add_test(tc, unused_segment_cut_below_the_least_is_refused);
    tcase_add_test(tc, last_block_of_a_segment_stays_free);
    tcase_add_test(tc, group_of_another_segment_is_not_the_next_one);
    tcase_add_test(tc, group_of_another_history_is_refused);
    tcase_add_test(tc, valid_group_that_is_not_made_of_records_is_refused);
    tcase_add_test(tc, failed_io_is_final_and_loses_nothing_acknowledged);
    tcase_add_test(tc, full_disk_loses_nothing_acknowledged);
    tcase_add_test(tc, refused_permission_loses_nothing_acknowledged);
    tcase_add_loop_test(tc, segment_that_cannot_be_made_is_no_failure_of_the_log, 0, 4);
    tcase_add_test(tc, segment_whose_new_name_finds_no_room_is_removed_and_the_log_goes_on);
    tcase_add_test(tc, segment_that_may_not_be_renamed_is_released_by_the_next_checkpoint);
    tcase_add_test(tc, each_allocation_failed_once_changes_nothing);
    tcase_add_test(tc, recovery_reports_each_io_error);
    tcase_add_test(tc, power_cut_loses_nothing_acknowledged_and_shows_nothing_torn);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return suite_run(wal_suite());
}
