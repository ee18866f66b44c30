#include "support/forge.h"

#include "common/hash.h"
#include "sapling/wal_format.h"
#include "support/expect.h"

#include <stdlib.h>
#include <string.h>

static void log_name(const Forge *forge, const char *path, Buf *name)
{
    EXPECT_RC(wal_segment_name(name, path, forge->meta.wal.segment), SAP_OK);
}

static void find_meta(Forge *forge)
{
    forge->meta.number = 0;
    for (size_t at = 0; at < FILE_HEADER; at += FILE_BLOCK) {
        Meta meta;
        uint32_t version = 0;
        if (meta_decode(forge->data + at, &meta, &version) == META_VALID &&
            meta.number > forge->meta.number) {
            forge->meta = meta;
        }
    }
    EXPECT(forge->meta.number > 0, "the file has no meta");
}

void forge_read(Forge *forge, const char *path)
{
    Buf name = {0};

    memset(forge, 0, sizeof *forge);
    forge->data = files_read(path, &forge->data_size);
    EXPECT(forge->data_size >= FILE_HEADER, "the file is too short");
    find_meta(forge);
    forge->data_size = (size_t)forge->meta.high * forge->meta.page_size;
    if (forge->meta.closed) {
        forge->log = calloc(1, 1);
        EXPECT(forge->log != NULL, "no memory");
        return;
    }
    log_name(forge, path, &name);
    forge->log = files_read((const char *)name.data, &forge->log_size);
    buf_release(&name);
}

void forge_free(Forge *forge)
{
    free(forge->data);
    free(forge->log);
    memset(forge, 0, sizeof *forge);
}

void forge_copy(Forge *to, const Forge *from)
{
    if (to->data == NULL) {
        *to = *from;
        to->data = malloc(from->data_size);
        to->log = malloc(from->log_size);
        EXPECT(to->data != NULL && to->log != NULL, "no memory");
    }
    memcpy(to->data, from->data, from->data_size);
    memcpy(to->log, from->log, from->log_size);
}

void forge_write_data(const Forge *forge, const char *path)
{
    files_write_at(path, 0, forge->data, forge->data_size);
}

void forge_write_log(const Forge *forge, const char *path)
{
    Buf name = {0};

    log_name(forge, path, &name);
    files_write_at((const char *)name.data, 0, forge->log, forge->log_size);
    buf_release(&name);
}

uint32_t forge_pages(const Forge *forge)
{
    return (uint32_t)(forge->data_size / forge->meta.page_size);
}

uint8_t *forge_page(Forge *forge, uint32_t pgno)
{
    EXPECT(pgno < forge_pages(forge), "no such page");
    return forge->data + (size_t)pgno * forge->meta.page_size;
}

uint8_t *forge_meta(Forge *forge)
{
    return forge->data + meta_offset(forge->meta.number, 0);
}

void forge_seal_page(Forge *forge, uint32_t pgno)
{
    uint8_t *page = forge_page(forge, pgno);
    uint64_t room = (uint64_t)(forge_pages(forge) - pgno) * forge->meta.page_size;

    if (page[PAGE_TYPE] != PAGE_OVERFLOW ||
        PAGE_HEADER + (uint64_t)load_u32le(page + PAGE_RUN_LEN) <= room) {
        store_u64le(page + PAGE_CHECKSUM,
                    page_checksum(page, forge->meta.page_size, forge->meta.db_id));
    }
}

void forge_seal_meta(Forge *forge)
{
    uint8_t *meta = forge_meta(forge);

    size_t at = load_u32le(meta + META_VERSION) == FILE_VERSION_STATES ? META_CHECKSUM_STATES
                                                                       : META_CHECKSUM;
    store_u64le(meta + at, hash_bytes(meta, at, 0));
    memcpy(forge->data + meta_offset(forge->meta.number, 1), meta, META_SIZE);
}

void forge_seal_log(Forge *forge)
{
    uint64_t chain = forge->meta.wal.chain;
    size_t at = 0;

    while (at + WAL_GROUP_HEADER <= forge->log_size) {
        WalGroup group;
        if (wal_group_decode(forge->log + at, &group) != SAP_OK ||
            group.payload_len > forge->log_size - at - WAL_GROUP_HEADER) {
            return;
        }
        group.chain = chain;
        chain = wal_group_encode(&group, forge->log + at);
        at += wal_group_space(WAL_GROUP_HEADER + (uint64_t)group.payload_len);
    }
}
