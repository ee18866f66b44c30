/* The decoder of the log: bytes as a group, and the same bytes with a checksum that fits, since no
 * fuzzer would guess one. What decodes encodes to the same bytes again. */
#include "common/bytes.h"
#include "sapling/wal_format.h"
#include "support/expect.h"

#include <string.h>

enum { LONGEST_INPUT = 8192 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct Again {
    uint8_t bytes[LONGEST_INPUT];
    size_t len;
    uint32_t records;
    uint64_t last_lsn;
} Again;

static int write_again(void *ctx, uint64_t lsn, Slice data)
{
    Again *again = ctx;

    EXPECT(again->records == 0 || lsn > again->last_lsn, "lsns do not ascend");
    EXPECT(WAL_RECORD_HEADER + data.len <= sizeof again->bytes - again->len, "more than there was");
    wal_record_encode(again->bytes + again->len, lsn, (uint32_t)data.len);
    again->len += WAL_RECORD_HEADER;
    if (data.len > 0) {
        memcpy(again->bytes + again->len, data.data, data.len);
    }
    again->len += data.len;
    again->records++;
    again->last_lsn = lsn;
    return SAP_OK;
}

static void decode(const uint8_t *bytes, size_t size)
{
    static Again again;
    WalGroup group;

    if (wal_group_decode(bytes, &group) != SAP_OK || group.payload_len > size - WAL_GROUP_HEADER ||
        wal_group_verify(&group, bytes) != SAP_OK) {
        return;
    }
    again.len = WAL_GROUP_HEADER;
    again.records = 0;
    if (wal_records_decode(&group, bytes, 0, write_again, &again) != SAP_OK) {
        return;
    }
    EXPECT(again.records == group.record_count, "another number of records");
    EXPECT(wal_group_encode(&group, again.bytes) == group.checksum, "another checksum");
    EXPECT(again.len == WAL_GROUP_HEADER + group.payload_len, "another length");
    EXPECT(memcmp(again.bytes, bytes, again.len) == 0, "other bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t copy[LONGEST_INPUT];
    WalGroup group;

    if (size < WAL_GROUP_HEADER || size > LONGEST_INPUT) {
        return -1;
    }
    decode(data, size);
    memcpy(copy, data, size);
    store_u64le(copy + WAL_GROUP_MAGIC, WAL_MAGIC);
    EXPECT(wal_group_decode(copy, &group) == SAP_OK, "a header with its magic does not decode");
    if (group.payload_len > size - WAL_GROUP_HEADER) {
        group.payload_len = (uint32_t)(size - WAL_GROUP_HEADER);
    }
    wal_group_encode(&group, copy);
    EXPECT(wal_group_decode(copy, &group) == SAP_OK, "what was encoded does not decode");
    EXPECT(wal_group_verify(&group, copy) == SAP_OK, "what was encoded does not verify");
    decode(copy, size);
    return 0;
}
