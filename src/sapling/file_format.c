/* file_format.c - see file_format.h. */
#include "sapling/file_format.h"

#include <string.h>

#include "common/hash.h"

static size_t checksum_offset(bool has_subsystems)
{
    return has_subsystems ? META_CHECKSUM_STATES : META_CHECKSUM;
}

void meta_encode(const Meta *meta, uint8_t bytes[META_SIZE])
{
    size_t checksum = checksum_offset(meta->has_subsystems);
    memset(bytes, 0, META_SIZE);
    store_u64le(bytes + META_MAGIC, FILE_MAGIC);
    store_u32le(bytes + META_VERSION, meta->has_subsystems ? FILE_VERSION_STATES : FILE_VERSION);
    store_u32le(bytes + META_ORDER_MARK, FILE_ORDER_MARK);
    store_u64le(bytes + META_DB_ID, meta->db_id);
    store_u32le(bytes + META_PAGE_SIZE, meta->page_size);
    store_u64le(bytes + META_NUMBER, meta->number);
    store_u64le(bytes + META_TXNID, meta->txnid);
    store_u32le(bytes + META_CATALOG, meta->catalog);
    store_u32le(bytes + META_HIGH, meta->high);
    store_u64le(bytes + META_CATALOG_ROWS, meta->catalog_rows);
    store_u32le(bytes + META_BITMAP, meta->bitmap);
    store_u32le(bytes + META_BITMAP_PAGES, meta->bitmap_pages);
    store_u64le(bytes + META_WAL_SEGMENT, meta->closed ? 0 : meta->wal.segment);
    store_u64le(bytes + META_WAL_SEQUENCE, meta->wal.sequence);
    store_u64le(bytes + META_WAL_CHAIN, meta->closed ? meta->wal.segment - 1 : meta->wal.chain);
    if (meta->has_subsystems) {
        store_u32le(bytes + META_STATES, meta->states);
        store_u32le(bytes + META_STATES_PAGES, meta->states_pages);
    }
    store_u64le(bytes + checksum, hash_bytes(bytes, checksum, 0));
}

static bool is_blank(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != 0) {
            return false;
        }
    }
    return true;
}

/* A number that counts up from 1, and for all the time there is. */
static bool is_counter(uint64_t number)
{
    return number > 0 && number <= INT64_MAX;
}

/* A run of the checkpoint's own, or none. */
static bool run_plausible(uint32_t pgno, uint32_t pages, uint32_t first)
{
    return (pgno == 0) == (pages == 0) &&
           (pgno == 0 || (pgno >= first && pages <= UINT32_MAX / 2 && pgno <= UINT32_MAX / 2));
}

/* Whether the numbers make sense together: a right checksum does not exclude a wrong writer. */
static bool meta_plausible(const Meta *meta)
{
    uint32_t first = file_first_page(meta->page_size);
    return is_counter(meta->number) && is_counter(meta->txnid) && is_counter(meta->wal.segment) &&
           is_counter(meta->wal.sequence) && meta->high >= first && meta->high <= CHILD_OWNS_RUNS &&
           meta->catalog < meta->high && (meta->catalog == 0 || meta->catalog >= first) &&
           run_plausible(meta->bitmap, meta->bitmap_pages, first) &&
           run_plausible(meta->states, meta->states_pages, first);
}

MetaState meta_decode(const uint8_t bytes[META_SIZE], Meta *meta_out, uint32_t *version_out)
{
    if (load_u64le(bytes + META_MAGIC) != FILE_MAGIC) {
        return load_u64be(bytes + META_MAGIC) == FILE_MAGIC ? META_OTHER_ORDER
               : is_blank(bytes, META_SIZE)                 ? META_BLANK
                                                            : META_FOREIGN;
    }
    if (load_u32le(bytes + META_ORDER_MARK) == UINT32_C(0x04030201)) {
        return META_OTHER_ORDER;
    }
    *version_out = load_u32le(bytes + META_VERSION);
    if (*version_out != FILE_VERSION && *version_out != FILE_VERSION_STATES) {
        return META_OTHER_VERSION;
    }
    bool has_subsystems = *version_out == FILE_VERSION_STATES;
    size_t checksum = checksum_offset(has_subsystems);
    Meta meta = {
        .has_subsystems = has_subsystems,
        .states = has_subsystems ? load_u32le(bytes + META_STATES) : 0,
        .states_pages = has_subsystems ? load_u32le(bytes + META_STATES_PAGES) : 0,
        .db_id = load_u64le(bytes + META_DB_ID),
        .page_size = load_u32le(bytes + META_PAGE_SIZE),
        .number = load_u64le(bytes + META_NUMBER),
        .txnid = load_u64le(bytes + META_TXNID),
        .catalog = load_u32le(bytes + META_CATALOG),
        .high = load_u32le(bytes + META_HIGH),
        .catalog_rows = load_u64le(bytes + META_CATALOG_ROWS),
        .bitmap = load_u32le(bytes + META_BITMAP),
        .bitmap_pages = load_u32le(bytes + META_BITMAP_PAGES),
        .wal = {.segment = load_u64le(bytes + META_WAL_SEGMENT),
                .sequence = load_u64le(bytes + META_WAL_SEQUENCE),
                .chain = load_u64le(bytes + META_WAL_CHAIN)},
    };
    if (meta.wal.segment == 0) {
        meta.closed = true;
        meta.wal.segment = meta.wal.chain + 1;
        meta.wal.chain = 0;
    }
    if (load_u64le(bytes + checksum) != hash_bytes(bytes, checksum, 0) ||
        !is_blank(bytes + checksum + 8, META_SIZE - checksum - 8) ||
        load_u32le(bytes + META_RESERVED) != 0 || !file_page_size_valid(meta.page_size) ||
        !meta_plausible(&meta)) {
        return META_DAMAGED;
    }
    *meta_out = meta;
    return META_VALID;
}

uint64_t page_checksum(const uint8_t *page, uint32_t page_size, uint64_t db_id)
{
    uint64_t bytes = page_size;
    if (page[PAGE_TYPE] == PAGE_OVERFLOW) {
        bytes = (uint64_t)PAGE_HEADER + load_u32le(page + PAGE_RUN_LEN);
    }
    uint64_t sum = hash_bytes(page + PAGE_BIRTH, (size_t)bytes - PAGE_BIRTH, db_id);
    return sum != 0 ? sum : 1;
}

uint64_t run_checksum(const uint8_t header[PAGE_HEADER], const void *val, uint64_t db_id)
{
    HashState state;
    hash_init(&state, db_id);
    hash_update(&state, header + PAGE_BIRTH, PAGE_HEADER - PAGE_BIRTH);
    hash_update(&state, val, load_u32le(header + PAGE_RUN_LEN));
    uint64_t sum = hash_final(&state);
    return sum != 0 ? sum : 1;
}
