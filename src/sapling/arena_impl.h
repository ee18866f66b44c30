/* arena_impl.h - the arena as the engine sees it: resolving numbers, and runs of pages.
 *
 * Page numbers are dealt with in granules of 2^shift pages; `table` maps a granule to the address
 * of its first page, and within a granule pages lie one stride apart. The table only grows, by
 * publishing a larger copy; the smaller ones are kept until the arena goes, so that a reader may
 * use the one it loaded. Resolving is thus one load, a shift and a multiplication. A contiguous region
 * is a single granule.
 *
 * Who holds a page:
 *   - a page number below `high` is either free (its bit in `free_bits`) or handed out;
 *   - every free page is on `stack` (bit in `stacked_bits`), at most once; an entry of the stack
 *     may be stale, that is handed out since as part of a run, and is passed over when popped;
 *   - the stack has room for every number below `high`, so that freeing never fails;
 *   - a page with its bit in `node_bits` is handed out and holds nodes. */
#ifndef SAPLING_SAPLING_ARENA_IMPL_H
#define SAPLING_SAPLING_ARENA_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/assert.h"
#include "common/config.h"
#include "common/sync.h"
#include "sapling/arena.h"
#include "sapling/disk.h"

/* The address space of a file with no size given. The thread sanitizer ends a process whose
 * mappings no longer fit into the 1.5 TiB that it leaves, before we could ask for less. */
#define ARENA_MAPPED_DEFAULT (UINT64_C(1) << (SAP_SANITIZED ? 36 : 40))

enum {
    ARENA_NODE_BIT_SHIFT = 31,
    ARENA_NODE_UNIT = 16, /* node addresses and sizes are multiples of it */
};

#define ARENA_NODE_BIT  (UINT32_C(1) << ARENA_NODE_BIT_SHIFT)
#define ARENA_MAX_PAGES ARENA_NODE_BIT

typedef struct ArenaChunk {
    uint8_t *base;
    uint32_t first; /* its first page number */
    uint32_t count; /* pages, a multiple of the granule */
} ArenaChunk;

typedef struct ArenaTable {
    struct ArenaTable *older;
    size_t count;
    uint8_t *granule[];
} ArenaTable;

/* Checks a page or run of a file that nobody has read since the file was opened. SAP_CORRUPT,
 * SAP_NOMEM. */
typedef int (*ArenaCheck)(void *ctx, uint32_t pgno);

struct SapMemArena {
    SAP_ATOMIC(ArenaTable *) table;
    uint32_t stride;
    uint32_t shift;
    uint32_t mask;
    /* Mapped files: one bit per page that was checked, or made, since the file was opened; room for
     * every number there is. NULL: there is nothing to check. */
    SAP_ATOMIC(uint64_t) * trusted;
    ptrdiff_t
        view; /* mapped files: from a page to the same page where it can only be read; else 0 */
    ArenaCheck check;
    void *check_ctx;
    bool copies; /* mapped files: a store changes a copy of the page, and not the file */
    bool moves;  /* of these: the file system writes every block to a new place */
    SapArenaOptions options;

    Mutex lock; /* everything below; not needed to resolve */
    uint64_t *free_bits;
    uint64_t *stacked_bits;
    uint64_t *node_bits;
    uint32_t *stack;
    uint32_t stack_count;
    uint32_t capacity; /* pages that the arrays above have room for */
    SAP_ATOMIC(uint32_t) high;
    uint32_t backed; /* page numbers below it have memory; custom: unused */
    uint64_t active;
    uint32_t run_hint;     /* where the next search for a run begins */
    uint32_t rescue_pages; /* bounded backings: kept for those who free more than they take */
    SAP_ATOMIC(bool) rescue_used; /* files: half of them were; a checkpoint gives them back */

    uint8_t *region;       /* contiguous backings; NULL for heap chunks and custom */
    uint64_t region_bytes; /* the bound; 0: there is none */
    uint64_t file_bytes;   /* with a file: how far it has been grown */
    uint32_t populated;    /* mmap with a file: up to which page the faults of writing were taken */
    ArenaChunk *chunks;
    size_t chunk_count;
    size_t chunk_capacity;

    uint32_t *slabs; /* per node size in units: a page with a free slot, or 0 */
};

/* The address of page `pgno`, which must have been handed out. */
static inline uint8_t *arena_page(const SapMemArena *arena, uint32_t pgno)
{
    const ArenaTable *table = atomic_load_acquire(&arena->table);
    return table->granule[pgno >> arena->shift] + (size_t)(pgno & arena->mask) * arena->stride;
}

static inline bool arena_is_trusted(const SapMemArena *arena, uint32_t pgno)
{
    return arena->trusted == NULL ||
           ((atomic_load_acquire(&arena->trusted[pgno >> 6]) >> (pgno & 63)) & 1) != 0;
}

/* The page was checked, or holds nothing yet that could be. */
static inline void arena_trust(const SapMemArena *arena, uint32_t pgno)
{
    if (arena->trusted != NULL) {
        atomic_or_release(&arena->trusted[pgno >> 6], UINT64_C(1) << (pgno & 63));
    }
}

/* Where the page is read; what is there may be damaged before arena_ensure() or arena_load(). */
static inline uint8_t *arena_peek(const SapMemArena *arena, uint32_t pgno)
{
    return arena_page(arena, pgno) + arena->view;
}

/* Whether the page (or run) may be read. SAP_CORRUPT: it is not what was written. */
static inline int arena_ensure(const SapMemArena *arena, uint32_t pgno)
{
    return sap_likely(arena_is_trusted(arena, pgno)) ? SAP_OK
                                                     : arena->check(arena->check_ctx, pgno);
}

/* The page (or run) `pgno` for reading; codes as arena_ensure(). */
static inline int arena_load(const SapMemArena *arena, uint32_t pgno, uint8_t **page_out)
{
    int rc = arena_ensure(arena, pgno);
    if (sap_likely(rc == SAP_OK)) {
        *page_out = arena_peek(arena, pgno);
    }
    return rc;
}

/* What a page from arena_load() is to one who may write to it. */
static inline uint8_t *arena_writable(const SapMemArena *arena, uint8_t *page)
{
    return page - arena->view;
}

/* The inverse: a page that may be writable, as arena_load() has it. */
static inline uint8_t *arena_readable(const SapMemArena *arena, uint8_t *page)
{
    bool writable = (uintptr_t)page - (uintptr_t)arena->region < arena->region_bytes;
    return writable ? page + arena->view : page;
}

/* `count` pages with consecutive numbers and addresses. Codes as sap_arena_alloc_page(). The last
 * pages of a bounded arena are handed out with `rescue` only: deleting rows takes pages for a while
 * before it gives more back, and must not be refused because rows filled the arena. */
int arena_alloc_run(SapMemArena *arena, uint32_t count, bool rescue, uint8_t **page_out,
                    uint32_t *pgno_out);

/* Whether there is room besides the pages kept for rescue, for as many as those again, without making a
 * file longer. */
bool arena_has_room(SapMemArena *arena);

/* Gives a run (or a page, count 1) back; must have been handed out as such. */
void arena_free_run(SapMemArena *arena, uint32_t pgno, uint32_t count);

/* ---- arena_file.c: an arena whose pages are those of a file, mapped or (SAP_FILE_MAPPED 0) read
 * into memory when the file is opened. */

typedef struct ArenaFileOptions {
    int fd; /* stays the caller's */
    bool read_only;
    uint32_t page_size;
    uint64_t max_size; /* 0: as much as can be had, up to ARENA_MAPPED_DEFAULT; in memory, 4 GiB */
    ArenaCheck check;
    void *check_ctx;
} ArenaFileOptions;

/* No page is known to it yet: arena_adopt() follows. SAP_NOMEM, SAP_IO (errno tells). */
int arena_open_file(SapMemArena **out, const ArenaFileOptions *options);
/* The addresses of pages below `end` can be had; what is in them, after arena_file_read(). */
int arena_adopt_memory(SapMemArena *arena, uint32_t end);
/* The pages below `end` whose bit is set are as in the file. Those of them that `trusted` does not
 * tell of are the caller's to check. Codes as disk_read(). */
int arena_file_read(SapMemArena *arena, DiskFile *file, const uint64_t *pages, uint32_t end);
/* The file is long enough for pages below `end`, so that writing them takes no more space. Codes as
 * disk_write(); SAP_FULL: nothing is lost. */
int arena_file_grow(SapMemArena *arena, DiskFile *file, uint32_t end);
/* Opened to be read: between the two calls pages can be changed and taken, in memory alone, and never
 * again. SAP_NOMEM. */
int arena_file_begin_copying(SapMemArena *arena);
int arena_file_end_copying(SapMemArena *arena);
/* Writes the pages first..end to the file; disk_sync() makes them durable. SAP_FULL, SAP_NOMEM: some
 * pages may have been written; the call can be repeated. SAP_IO: the contents of the file are
 * unknown. */
int arena_file_write(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end);
/* Whether a write to bytes that the file has may find no room: it has holes, shares blocks with a copy,
 * or its file system writes every block to a new place. */
bool arena_file_lacks_room(const SapMemArena *arena);
/* Makes sure that arena_file_write() of the pages first..end finds room, by writing them as they are now.
 * No checkpoint on disk leads to them. Codes as arena_file_write(). */
int arena_file_claim(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end);
/* The same for `bytes` of the file in all, where only free blocks can be: SAP_FULL, errno tells. Asked
 * before they are claimed. */
int arena_file_check_free(const SapMemArena *arena, uint64_t bytes);
/* The file has pages below `high`; those whose bit in `used` is set are handed out, the others from
 * `first` on are free. SAP_FULL: beyond max_size. */
int arena_adopt(SapMemArena *arena, uint32_t first, uint32_t high, const uint64_t *used);
#if SAP_FAULTS
/* For tests: files opened from now on are mapped as on file systems that share blocks. */
extern bool arena_file_never_shared;
#endif
/* What of the file the arena holds beside its region; of sap_arena_destroy(). */
void arena_file_close(SapMemArena *arena);
/* In a process that inherited it: gives up the mapping of a file. It must not be used any more. */
void arena_abandon(SapMemArena *arena);
/* Whether its pages are those of a file, which a process made by fork() would share. */
bool arena_is_shared(const SapMemArena *arena);

/* Zeros that take memory only where something is written to them; *base_out is NULL where such
 * memory cannot be had: use the heap. SAP_NOMEM. Release with arena_file_unreserve(). */
int arena_file_reserve(size_t bytes, void **base_out);
void arena_file_unreserve(void *base, size_t bytes);

/* Of arena.c, for it. */
int arena_reserve_numbers(SapMemArena *arena, uint32_t end);
void arena_push_number(SapMemArena *arena, uint32_t pgno);
int arena_set_region(SapMemArena *arena, uint8_t *base, uint64_t bytes);

/* Under the arena's lock, for arena_nodes.c. */
int arena_alloc_locked(SapMemArena *arena, uint32_t count, bool rescue, uint8_t **page_out,
                       uint32_t *pgno_out);
void arena_free_locked(SapMemArena *arena, uint32_t pgno, uint32_t count);
bool arena_page_is_live(const SapMemArena *arena, uint32_t pgno);
/* The page number that covers an address, or 0. */
uint32_t arena_find_page(const SapMemArena *arena, const void *addr);
void *arena_node_resolve(const SapMemArena *arena, uint32_t no);

/* Two transactions that copy a path in each of a queue's tables, and the runs of a checkpoint. */
enum { ARENA_RESCUE_MAX = 64 };

/* How many of the last pages of a bounded arena are kept for those who free more than they take. */
static inline uint32_t arena_rescue_pages(uint64_t bytes, uint32_t stride)
{
    uint64_t eighth = bytes / stride / 8;
    return eighth < ARENA_RESCUE_MAX ? (uint32_t)eighth : ARENA_RESCUE_MAX;
}

static inline bool arena_bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i >> 6] >> (i & 63)) & 1;
}

static inline void arena_set_bit(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] |= UINT64_C(1) << (i & 63);
}

static inline void arena_clear_bit(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}

#endif
