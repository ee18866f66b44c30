/* arena_impl.h - the arena as the engine sees it: resolving numbers, and runs of pages.
 *
 * Page numbers are dealt with in granules of 2^shift pages; `table` maps a granule to the address
 * of its first page, and within a granule pages lie one stride apart. The table only grows, by
 * publishing a larger copy; the smaller ones are kept until the arena goes, so that a reader may
 * use the one it loaded. Resolving is thus one load, a shift and a multiplication.
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
#include "common/sync.h"
#include "sapling/arena.h"

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

struct SapMemArena {
    SAP_ATOMIC(ArenaTable *) table;
    uint32_t stride;
    uint32_t shift;
    uint32_t mask;
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

    uint8_t *region; /* contiguous backings; NULL for heap chunks and custom */
    uint64_t region_bytes;
    uint64_t file_bytes; /* mmap with a file: how far it has been grown */
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

/* `count` pages with consecutive numbers and addresses. Codes as sap_arena_alloc_page(). The last
 * pages of a bounded arena are handed out with `rescue` only: deleting rows takes pages for a while
 * before it gives more back, and must not be refused because rows filled the arena. */
int arena_alloc_run(SapMemArena *arena, uint32_t count, bool rescue, uint8_t **page_out,
                    uint32_t *pgno_out);

/* Gives a run (or a page, count 1) back; must have been handed out as such. */
void arena_free_run(SapMemArena *arena, uint32_t pgno, uint32_t count);

/* Under the arena's lock, for arena_nodes.c. */
int arena_alloc_locked(SapMemArena *arena, uint32_t count, bool rescue, uint8_t **page_out,
                       uint32_t *pgno_out);
void arena_free_locked(SapMemArena *arena, uint32_t pgno, uint32_t count);
bool arena_page_is_live(const SapMemArena *arena, uint32_t pgno);
/* The page number that covers an address, or 0. */
uint32_t arena_find_page(const SapMemArena *arena, const void *addr);
void *arena_node_resolve(const SapMemArena *arena, uint32_t no);

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
