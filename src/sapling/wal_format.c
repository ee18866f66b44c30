/* wal_format.c - see wal_format.h. */
#include "sapling/wal_format.h"

#include "common/bytes.h"
#include "common/hash.h"

#include <inttypes.h>
#include <stdbool.h>

static uint64_t checksum_of(const uint8_t *bytes, size_t payload_len)
{
    return hash_bytes(bytes + WAL_GROUP_HEADER, payload_len,
                      hash_bytes(bytes, WAL_GROUP_CHECKSUM, 0));
}

uint64_t wal_group_encode(const WalGroup *group, uint8_t *bytes)
{
    store_u64le(bytes + WAL_GROUP_MAGIC, WAL_MAGIC);
    store_u64le(bytes + WAL_GROUP_DB_ID, group->db_id);
    store_u64le(bytes + WAL_GROUP_SEGMENT, group->segment);
    store_u64le(bytes + WAL_GROUP_SEQUENCE, group->sequence);
    store_u32le(bytes + WAL_GROUP_PAYLOAD_LEN, group->payload_len);
    store_u32le(bytes + WAL_GROUP_RECORD_COUNT, group->record_count);
    store_u64le(bytes + WAL_GROUP_FIRST_LSN, group->first_lsn);
    store_u64le(bytes + WAL_GROUP_CHAIN, group->chain);
    uint64_t checksum = checksum_of(bytes, group->payload_len);
    store_u64le(bytes + WAL_GROUP_CHECKSUM, checksum);
    return checksum;
}

int wal_group_decode(const uint8_t *bytes, WalGroup *group_out)
{
    if (load_u64le(bytes + WAL_GROUP_MAGIC) != WAL_MAGIC) {
        return SAP_INVALID;
    }
    *group_out = (WalGroup){
        .db_id = load_u64le(bytes + WAL_GROUP_DB_ID),
        .segment = load_u64le(bytes + WAL_GROUP_SEGMENT),
        .sequence = load_u64le(bytes + WAL_GROUP_SEQUENCE),
        .payload_len = load_u32le(bytes + WAL_GROUP_PAYLOAD_LEN),
        .record_count = load_u32le(bytes + WAL_GROUP_RECORD_COUNT),
        .first_lsn = load_u64le(bytes + WAL_GROUP_FIRST_LSN),
        .chain = load_u64le(bytes + WAL_GROUP_CHAIN),
        .checksum = load_u64le(bytes + WAL_GROUP_CHECKSUM),
    };
    return SAP_OK;
}

int wal_group_verify(const WalGroup *group, const uint8_t *bytes)
{
    return checksum_of(bytes, group->payload_len) == group->checksum ? SAP_OK : SAP_INVALID;
}

void wal_record_encode(uint8_t *bytes, uint64_t lsn, uint32_t len)
{
    store_u64le(bytes + WAL_RECORD_LSN, lsn);
    store_u32le(bytes + WAL_RECORD_LEN, len);
}

int wal_record_decode(ByteReader *reader, uint64_t *lsn_out, Slice *data_out)
{
    ByteReader ahead = *reader;
    uint64_t lsn;
    uint32_t len;
    const uint8_t *data;

    if (reader_u64le(&ahead, &lsn) != SAP_OK || reader_u32le(&ahead, &len) != SAP_OK ||
        reader_bytes(&ahead, len, &data) != SAP_OK) {
        return SAP_INVALID;
    }
    *reader = ahead;
    *lsn_out = lsn;
    *data_out = (Slice){data, len};
    return SAP_OK;
}

int wal_records_decode(const WalGroup *group, const uint8_t *bytes, uint64_t after_lsn,
                       int (*each)(void *ctx, uint64_t lsn, Slice data), void *ctx)
{
    ByteReader reader;

    reader_init(&reader, bytes + WAL_GROUP_HEADER, group->payload_len);
    for (uint32_t i = 0; i < group->record_count; i++) {
        uint64_t lsn;
        Slice data;
        int rc = wal_record_decode(&reader, &lsn, &data);
        if (rc != SAP_OK) {
            return rc;
        }
        if (lsn <= after_lsn || (i == 0 && lsn != group->first_lsn)) {
            return SAP_INVALID;
        }
        after_lsn = lsn;
        rc = each(ctx, lsn, data);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    return reader.left == 0 && group->record_count > 0 ? SAP_OK : SAP_INVALID;
}

int wal_segment_name(Buf *out, const char *path, uint64_t segment)
{
    buf_clear(out);
    int rc = buf_printf(out, "%s" WAL_SEGMENT_INFIX "%016" PRIx64, path, segment);
    return rc != SAP_OK ? rc : buf_append_u8(out, 0);
}

int wal_segment_parse(const char *digits, uint64_t *segment_out)
{
    uint64_t segment = 0;

    for (int i = 0; i < 16; i++) {
        char c = digits[i];
        bool letter = c >= 'a' && c <= 'f';
        if (!letter && (c < '0' || c > '9')) {
            return SAP_INVALID;
        }
        segment = segment * 16 + (uint64_t)(letter ? c - 'a' + 10 : c - '0');
    }
    if (digits[16] != '\0') {
        return SAP_INVALID;
    }
    *segment_out = segment;
    return SAP_OK;
}
