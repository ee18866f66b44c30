/* wal_format.h - names and bytes of the log.
 *
 * A segment is a file PATH-wal.N, N in 16 hexadecimal digits. It holds groups, each from a 4 KiB
 * boundary on: a header, records, zeros up to the next boundary. Integers are little-endian.
 *
 * A group verifies alone: its checksum covers the header before it and all records. Where it
 * belongs it says itself: database, segment (a recycled file still holds groups of the segment it
 * was), sequence (1 more than the group before it) and chain (the checksum of the group before it).
 */
#ifndef SAPLING_SAPLING_WAL_FORMAT_H
#define SAPLING_SAPLING_WAL_FORMAT_H

#include "common/buf.h"

#include <stddef.h>
#include <stdint.h>

enum {
    WAL_GROUP_MAGIC = 0,
    WAL_GROUP_DB_ID = 8,
    WAL_GROUP_SEGMENT = 16,
    WAL_GROUP_SEQUENCE = 24,
    WAL_GROUP_PAYLOAD_LEN = 32,
    WAL_GROUP_RECORD_COUNT = 36,
    WAL_GROUP_FIRST_LSN = 40,
    WAL_GROUP_CHAIN = 48,
    WAL_GROUP_CHECKSUM = 56,
    WAL_GROUP_HEADER = 64,

    WAL_RECORD_LSN = 0,
    WAL_RECORD_LEN = 8,
    WAL_RECORD_HEADER = 12,

    WAL_BLOCK = 4096,
    WAL_SEGMENT_MIN = 4 * WAL_BLOCK,
};

/* A value of 1 GiB with all that a transaction may put beside it fits. */
#define WAL_RECORD_MAX (UINT64_C(3) << 30)
/* Of a group of several records; one that is longer has its group for itself. */
#define WAL_SEGMENT_MAX (UINT64_C(1) << 30)

_Static_assert(WAL_GROUP_CHECKSUM + sizeof(uint64_t) == WAL_GROUP_HEADER, "the checksum is last");
_Static_assert(WAL_RECORD_LEN + sizeof(uint32_t) == WAL_RECORD_HEADER, "the length is last");
_Static_assert(WAL_RECORD_HEADER + WAL_RECORD_MAX <= UINT32_MAX, "a payload's length has 32 bits");
_Static_assert(WAL_SEGMENT_MAX <= UINT32_MAX, "a payload's length has 32 bits");
_Static_assert(WAL_BLOCK % WAL_GROUP_HEADER == 0, "a header never crosses a sector");

#define WAL_MAGIC UINT64_C(0x315047574c504153) /* "SAPLWGP1" */

typedef struct WalGroup {
    uint64_t db_id;
    uint64_t segment;
    uint64_t sequence;
    uint32_t payload_len;
    uint32_t record_count; /* at least 1 */
    uint64_t first_lsn;
    uint64_t chain;
    uint64_t checksum;
} WalGroup;

/* Bytes of a group with its padding, header included in `len`. */
static inline uint64_t wal_group_space(uint64_t len)
{
    return (len + (WAL_BLOCK - 1)) & ~(uint64_t)(WAL_BLOCK - 1);
}

/* Writes the header before the group->payload_len bytes of records that follow it in `bytes`.
 * group->checksum is not read. Returns the checksum. */
uint64_t wal_group_encode(const WalGroup *group, uint8_t *bytes);

/* Reads a header of WAL_GROUP_HEADER bytes, unverified. SAP_INVALID: no magic. */
int wal_group_decode(const uint8_t *bytes, WalGroup *group_out);

/* Whether `bytes`, header and payload_len more, are what the checksum was made of. */
int wal_group_verify(const WalGroup *group, const uint8_t *bytes);

/* Writes a record's header. Its bytes follow. */
void wal_record_encode(uint8_t *bytes, uint64_t lsn, uint32_t len);

/* Takes the next record. *data_out is borrowed as the reader's bytes are. SAP_INVALID: what is left
 * is no record; the outputs are as they were. */
int wal_record_decode(ByteReader *reader, uint64_t *lsn_out, Slice *data_out);

/* Takes all records of a verified group: `each` sees them in order, and what it returns other than
 * SAP_OK is returned at once. SAP_INVALID: bytes that are no records, another count or first lsn
 * than the header says, or lsns that do not ascend from above `after_lsn`. */
int wal_records_decode(const WalGroup *group, const uint8_t *bytes, uint64_t after_lsn,
                       int (*each)(void *ctx, uint64_t lsn, Slice data), void *ctx);

/* Replaces the contents of `out` by the segment's file name, NUL included. SAP_NOMEM. */
int wal_segment_name(Buf *out, const char *path, uint64_t segment);

/* The number in what follows "PATH-wal." in a file name. SAP_INVALID: no segment's name. */
int wal_segment_parse(const char *digits, uint64_t *segment_out);

#define WAL_SEGMENT_INFIX "-wal."

#endif
