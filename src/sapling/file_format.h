/* file_format.h - the bytes of a data file: its header, its metas, the checksums of its pages.
 *
 * The first FILE_HEADER bytes hold two metas, each in two copies, every copy in a block of its own:
 *
 *   0      meta 0     4096   meta 0 again
 *   8192   meta 1     12288  meta 1 again
 *
 * A checkpoint with number n writes meta n % 2, so that the one before it stays. The rest of the
 * file is pages (page.h); their numbers count from the start of the file. A meta, little-endian:
 *
 *   0   u64  magic
 *   8   u32  version of the format: 2 if the file has subsystems, otherwise 1
 *   12  u32  FILE_ORDER_MARK; reads otherwise on a machine of another byte order
 *   16  u64  database id, random; the log's groups carry it too
 *   24  u32  page size
 *   28  u32  zero
 *   32  u64  number of the checkpoint, from 1
 *   40  u64  id of the commit it holds
 *   48  u32  root page of the catalog; 0: no table has rows or a definition
 *   52  u32  pages of the file that the bitmap tells of: its numbers are below this
 *   56  u64  rows of the catalog
 *   64  u32  first page of the bitmap's run; 0: no page is in use
 *   68  u32  its pages
 *   72  u64  log: first segment needed; 0: closed, the file is complete without a log
 *   80  u64  log: sequence of the first group after the checkpoint
 *   88  u64  log: checksum of the group before that; of a closed file: number of the last segment
 *            there was, 0 if there was none
 *   96  u64  checksum of the bytes before it; of version 2 instead:
 *   96  u32  first page of the run of subsystems' states; 0: none has one
 *   100 u32  its pages
 *   104 u64  checksum of the bytes before it
 *
 * The bitmap is a run like that of a large value, of the table ENV_CATALOG: bit i (bit i % 8 of byte
 * i / 8) is set if the checkpoint's trees use page i. The bitmap's own pages are not set in it.
 *
 * The states are a run too, of the table ENV_STATES, whose value fills its pages: see subsystems.c in
 * env.h. Its pages are not set in the bitmap either.
 *
 * A page's checksum covers all of it behind the checksum, a run's the header and the value; 0 is
 * never one. It is seeded with the database id: a page of another database is not taken for ours. */
#ifndef SAPLING_SAPLING_FILE_FORMAT_H
#define SAPLING_SAPLING_FILE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "sapling/page.h"
#include "sapling/wal.h"

enum {
    FILE_BLOCK = 4096,
    FILE_HEADER = 4 * FILE_BLOCK,
    FILE_VERSION = 1,
    FILE_VERSION_STATES = 2,
    FILE_ORDER_MARK = 0x01020304,

    META_MAGIC = 0,
    META_VERSION = 8,
    META_ORDER_MARK = 12,
    META_DB_ID = 16,
    META_PAGE_SIZE = 24,
    META_RESERVED = 28,
    META_NUMBER = 32,
    META_TXNID = 40,
    META_CATALOG = 48,
    META_HIGH = 52,
    META_CATALOG_ROWS = 56,
    META_BITMAP = 64,
    META_BITMAP_PAGES = 68,
    META_WAL_SEGMENT = 72,
    META_WAL_SEQUENCE = 80,
    META_WAL_CHAIN = 88,
    META_CHECKSUM = 96,
    META_STATES = 96,
    META_STATES_PAGES = 100,
    META_CHECKSUM_STATES = 104,
    META_SIZE = 112, /* of either version, the first with zeros behind it */
};
_Static_assert(META_CHECKSUM_STATES + 8 == META_SIZE, "the checksum is last");
_Static_assert(META_SIZE <= 512, "a meta lies in one sector");

#define FILE_MAGIC UINT64_C(0x31304244504153) /* "SAPDB01" */

typedef struct Meta {
    bool has_subsystems; /* and so is of version 2 */
    uint64_t db_id;
    uint32_t page_size;
    uint64_t number;
    uint64_t txnid;
    uint32_t catalog;
    uint32_t high;
    uint64_t catalog_rows;
    uint32_t bitmap;
    uint32_t bitmap_pages;
    uint32_t states;
    uint32_t states_pages;
    bool closed;  /* complete without a log: an image, or closed in order */
    WalPoint wal; /* if closed, where the next log begins; its chain is not in the file then */
} Meta;

/* What a block of the header turned out to be, the later the better. */
typedef enum MetaState {
    META_FOREIGN, /* no meta */
    META_BLANK,   /* zeros: never written */
    META_DAMAGED,
    META_OTHER_ORDER,
    META_OTHER_VERSION,
    META_VALID
} MetaState;

static inline bool file_page_size_valid(uint32_t page_size)
{
    return page_size == 4096 || page_size == 8192 || page_size == 16384 || page_size == 32768;
}

/* The first page number behind the header. */
static inline uint32_t file_first_page(uint32_t page_size)
{
    return page_size >= FILE_HEADER ? 1 : FILE_HEADER / page_size;
}

/* Where copy 0 or 1 of the meta of checkpoint `number` lies. */
static inline uint64_t meta_offset(uint64_t number, uint32_t copy)
{
    return (number % 2 * 2 + copy) * FILE_BLOCK;
}

void meta_encode(const Meta *meta, uint8_t bytes[META_SIZE]);
/* *meta_out is written for META_VALID only; *version_out for META_OTHER_VERSION. */
MetaState meta_decode(const uint8_t bytes[META_SIZE], Meta *meta_out, uint32_t *version_out);

/* The checksum that the page, or the run that begins here, should have. The length of a run must
 * have been found to lie within the file. */
uint64_t page_checksum(const uint8_t *page, uint32_t page_size, uint64_t db_id);
/* The same of a run whose value is not behind its header. */
uint64_t run_checksum(const uint8_t header[PAGE_HEADER], const void *val, uint64_t db_id);

#endif
