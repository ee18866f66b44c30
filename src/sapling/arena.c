/* arena.c - pages: which are free, and where their memory comes from. See arena_impl.h. */
#include <errno.h>
#include <string.h>

#ifndef __wasi__
#define ARENA_HAS_MMAP 1
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#else
#define ARENA_HAS_MMAP 0
#endif

#include "common/bytes.h"
#include "common/fault.h"
#include "common/mem.h"
#include "common/options.h"
#include "sapling/arena_impl.h"

enum {
    GRANULE_BYTES = 32 * 1024,         /* the heap's smallest chunk */
    CHUNK_MAX_BYTES = 2 * 1024 * 1024, /* and its usual one: a huge page */
    FILE_STEP_MIN = 256 * 1024,        /* a mapped file grows by an eighth within these */
    FILE_STEP_MAX = 256 * 1024 * 1024,
    RUN_WINDOW_PAGES = 4096, /* free pages looked through for a run */
    POPULATE_MAX_PAGES = 256,
};

#define DEFAULT_MEMORY_BYTES (UINT64_C(1) << 32)

/* ---- The table of granules ------------------------------------------------------------------ */

static size_t table_bytes(size_t count)
{
    return sizeof(ArenaTable) + count * sizeof(uint8_t *);
}

/* Makes room for granules below `count`. */
static int table_reserve(SapMemArena *arena, size_t count)
{
    ArenaTable *old = atomic_load_relaxed(&arena->table);
    size_t old_count = old != NULL ? old->count : 0;
    if (count <= old_count) {
        return SAP_OK;
    }
    size_t new_count = old_count < 8 ? 8 : old_count * 2;
    if (new_count < count) {
        new_count = count;
    }
    ArenaTable *grown = (ArenaTable *)mem_zalloc(MEM_ARENA, table_bytes(new_count));
    if (grown == NULL) {
        return SAP_NOMEM;
    }
    grown->older = old;
    grown->count = new_count;
    if (old != NULL) {
        memcpy(grown->granule, old->granule, old_count * sizeof(uint8_t *));
    }
    atomic_store_release(&arena->table, grown);
    return SAP_OK;
}

static void tables_free(SapMemArena *arena)
{
    ArenaTable *table = atomic_load_relaxed(&arena->table);
    while (table != NULL) {
        ArenaTable *older = table->older;
        mem_free(MEM_ARENA, table, table_bytes(table->count));
        table = older;
    }
}

static void table_fill(SapMemArena *arena, uint32_t first, uint32_t count, uint8_t *base)
{
    ArenaTable *table = atomic_load_relaxed(&arena->table);
    uint32_t granule_pages = arena->mask + 1;
    for (uint32_t i = 0; i < count; i += granule_pages) {
        table->granule[(first + i) >> arena->shift] = base + (size_t)i * arena->stride;
    }
}

/* ---- Backings ------------------------------------------------------------------------------- */

static bool backing_is_custom(const SapMemArena *arena)
{
    return arena->options.type == SAP_ARENA_BACKING_CUSTOM;
}

/* Whether the mapped file reaches to `bytes`, growing it if need be. */
static int file_reserve(SapMemArena *arena, uint64_t bytes)
{
#if ARENA_HAS_MMAP
    if (arena->options.cfg.mmap.fd < 0 || bytes <= arena->file_bytes) {
        return SAP_OK;
    }
    uint64_t step = arena->file_bytes / 8;
    step = step < FILE_STEP_MIN ? FILE_STEP_MIN : step > FILE_STEP_MAX ? FILE_STEP_MAX : step;
    step -= step % FILE_STEP_MIN; /* the file ends with a page */
    uint64_t target = bytes > arena->file_bytes + step ? bytes : arena->file_bytes + step;
    target = target > arena->region_bytes ? arena->region_bytes : target;
    int err = fault_io();
    if (err == 0) {
        /* Blocks are allocated now, so that a full disk is an error here, not a signal later. */
        do {
            err = posix_fallocate(arena->options.cfg.mmap.fd, (off_t)arena->file_bytes,
                                  (off_t)(target - arena->file_bytes));
        } while (err == EINTR);
    }
    if (err == EOPNOTSUPP || err == EINVAL) {
        err = ftruncate(arena->options.cfg.mmap.fd, (off_t)target) == 0 ? 0 : errno;
    }
    if (err != 0) {
        errno = err; /* posix_fallocate() does not say it there */
        return err == ENOSPC || err == EFBIG || err == EDQUOT ? SAP_FULL : SAP_IO;
    }
    arena->file_bytes = target;
    return SAP_OK;
#else
    (void)arena;
    (void)bytes;
    return SAP_OK;
#endif
}

/* A region is one granule: its pages are found without a look at the table's further entries. */
int arena_set_region(SapMemArena *arena, uint8_t *base, uint64_t bytes)
{
    arena->shift = ARENA_NODE_BIT_SHIFT;
    arena->mask = ARENA_MAX_PAGES - 1;
    int rc = table_reserve(arena, 1);
    if (rc == SAP_OK) {
        arena->region = base;
        arena->region_bytes = bytes;
        atomic_load_relaxed(&arena->table)->granule[0] = base;
    }
    return rc;
}

/* Writing to a fresh page of a file for the first time costs a fault and the file system's
 * attention, many at once much less for each. An eighth of what there is is taken ahead. */
static void populate(SapMemArena *arena, uint32_t end)
{
#if ARENA_HAS_MMAP && defined(MADV_POPULATE_WRITE)
    if (arena->options.type != SAP_ARENA_BACKING_MMAP || arena->options.cfg.mmap.fd < 0 ||
        end <= arena->populated) {
        return;
    }
    uint32_t ahead = end / 8 < POPULATE_MAX_PAGES ? end / 8 : POPULATE_MAX_PAGES;
    ahead = arena->backed - end < ahead ? arena->backed - end : ahead;
    (void)madvise(arena->region + (size_t)end * arena->stride, (size_t)ahead * arena->stride,
                  MADV_POPULATE_WRITE);
    arena->populated = end + ahead;
#else
    (void)arena;
    (void)end;
#endif
}

/* Page numbers are below it. */
static uint64_t page_limit(const SapMemArena *arena)
{
    uint64_t bound = arena->region_bytes / arena->stride;
    return bound == 0 || bound > ARENA_MAX_PAGES ? ARENA_MAX_PAGES : bound;
}

static int back_region(SapMemArena *arena, uint32_t end)
{
    uint64_t limit = page_limit(arena);
    uint64_t unit = arena->stride < GRANULE_BYTES ? GRANULE_BYTES / arena->stride : 1;
    uint64_t rounded = (end + unit - 1) / unit * unit;
    rounded = rounded > limit ? limit : rounded;
    if (arena->options.type == SAP_ARENA_BACKING_MMAP) {
        int rc = file_reserve(arena, rounded * arena->stride);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    arena->backed = (uint32_t)rounded;
    return SAP_OK;
}

/* Adds a heap chunk for at least `count` pages, which the limit allows. Chunks double up to the size
 * of a huge page. */
static int back_chunk(SapMemArena *arena, uint32_t count)
{
    uint32_t granule_pages = arena->mask + 1;
    uint64_t want = (uint64_t)arena->backed * arena->stride;
    want = want < GRANULE_BYTES ? GRANULE_BYTES : want > CHUNK_MAX_BYTES ? CHUNK_MAX_BYTES : want;
    uint64_t pages = want / arena->stride;
    pages = align_up_u64(pages > count ? pages : count, granule_pages);
    uint64_t left = page_limit(arena) - arena->backed;
    pages = pages > left ? left : pages;
    SAP_ASSERT(pages >= count);
    if (arena->chunk_count == arena->chunk_capacity) {
        size_t capacity = arena->chunk_capacity == 0 ? 4 : arena->chunk_capacity * 2;
        ArenaChunk *chunks = (ArenaChunk *)mem_resize(MEM_ARENA, arena->chunks,
                                                      arena->chunk_capacity * sizeof *chunks,
                                                      capacity * sizeof *chunks);
        if (chunks == NULL) {
            return SAP_NOMEM;
        }
        arena->chunks = chunks;
        arena->chunk_capacity = capacity;
    }
    int rc = table_reserve(arena, (arena->backed + (size_t)pages + arena->mask) >> arena->shift);
    if (rc != SAP_OK) {
        return rc;
    }
    size_t bytes = (size_t)pages * arena->stride;
    size_t align = bytes >= CHUNK_MAX_BYTES ? CHUNK_MAX_BYTES : 64;
    uint8_t *base =
        (uint8_t *)mem_alloc_aligned(MEM_ARENA, align, (size_t)align_up_u64(bytes, align));
    if (base == NULL) {
        return SAP_NOMEM;
    }
    if (arena->options.type == SAP_ARENA_BACKING_WASI_FD) {
        memset(base, 0, bytes); /* a file gets whole pages, and not what the heap has in them */
    }
#if ARENA_HAS_MMAP && defined(MADV_HUGEPAGE)
    if (align == CHUNK_MAX_BYTES) {
        (void)madvise(base, bytes, MADV_HUGEPAGE); /* a hint: random access is bound by the TLB */
    }
#endif
    arena->chunks[arena->chunk_count++] =
        (ArenaChunk){.base = base, .first = arena->backed, .count = (uint32_t)pages};
    table_fill(arena, arena->backed, (uint32_t)pages, base);
    arena->backed += (uint32_t)pages;
    return SAP_OK;
}

static void chunk_free(const SapMemArena *arena, const ArenaChunk *chunk)
{
    size_t bytes = (size_t)chunk->count * arena->stride;
    size_t align = bytes >= CHUNK_MAX_BYTES ? CHUNK_MAX_BYTES : 64;
    mem_free_aligned(MEM_ARENA, chunk->base, (size_t)align_up_u64(bytes, align));
}

int arena_adopt_memory(SapMemArena *arena, uint32_t end)
{
    if (end <= arena->backed) {
        return SAP_OK;
    }
    if (arena->region == NULL) {
        /* One chunk: the file's runs may lie anywhere in it. */
        SAP_ASSERT(arena->chunk_count == 0);
        return back_chunk(arena, end);
    }
    arena->backed = end;
    arena->populated = end;
    return SAP_OK;
}

static int back_custom(SapMemArena *arena, uint32_t first, uint32_t count)
{
    uint64_t bytes = (uint64_t)count * arena->stride;
    if (bytes > UINT32_MAX) {
        return SAP_FULL;
    }
    uint8_t *base = (uint8_t *)arena->options.cfg.custom.alloc_page(arena->options.cfg.custom.ctx,
                                                                    (uint32_t)bytes);
    if (base == NULL) {
        return SAP_NOMEM;
    }
    table_fill(arena, first, count, base);
    return SAP_OK;
}

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Makes room in the bookkeeping for page numbers below `end`. */
int arena_reserve_numbers(SapMemArena *arena, uint32_t end)
{
    if (end <= arena->capacity) {
        return SAP_OK;
    }
    uint64_t capacity = arena->capacity == 0 ? 64 : (uint64_t)arena->capacity * 2;
    while (capacity < end) {
        capacity *= 2;
    }
    size_t old_bits = arena->capacity / 64 * sizeof(uint64_t);
    size_t new_bits = (size_t)capacity / 64 * sizeof(uint64_t);
    uint64_t **bitmaps[] = {&arena->free_bits, &arena->stacked_bits, &arena->node_bits};
    uint64_t *grown[3] = {NULL, NULL, NULL};
    uint32_t *stack = (uint32_t *)mem_alloc(MEM_ARENA, (size_t)capacity * sizeof *stack);
    bool ok = stack != NULL;
    for (size_t i = 0; i < 3 && ok; i++) {
        grown[i] = (uint64_t *)mem_zalloc(MEM_ARENA, new_bits);
        ok = grown[i] != NULL;
    }
    if (!ok) {
        mem_free(MEM_ARENA, stack, (size_t)capacity * sizeof *stack);
        for (size_t i = 0; i < 3; i++) {
            mem_free(MEM_ARENA, grown[i], new_bits);
        }
        return SAP_NOMEM;
    }
    for (size_t i = 0; i < 3; i++) {
        if (old_bits > 0) {
            memcpy(grown[i], *bitmaps[i], old_bits);
        }
        mem_free(MEM_ARENA, *bitmaps[i], old_bits);
        *bitmaps[i] = grown[i];
    }
    if (arena->stack_count > 0) {
        memcpy(stack, arena->stack, arena->stack_count * sizeof *stack);
    }
    mem_free(MEM_ARENA, arena->stack, arena->capacity * sizeof *stack);
    arena->stack = stack;
    arena->capacity = (uint32_t)capacity;
    return SAP_OK;
}

void arena_push_number(SapMemArena *arena, uint32_t pgno)
{
    SAP_ASSERT(!arena_bit(arena->free_bits, pgno));
    arena_set_bit(arena->free_bits, pgno);
    if (!arena_bit(arena->stacked_bits, pgno)) {
        arena_set_bit(arena->stacked_bits, pgno);
        SAP_ASSERT(arena->stack_count < arena->capacity);
        arena->stack[arena->stack_count++] = pgno;
    }
}

static uint32_t number_pop(SapMemArena *arena)
{
    while (arena->stack_count > 0) {
        uint32_t pgno = arena->stack[--arena->stack_count];
        arena_clear_bit(arena->stacked_bits, pgno);
        if (arena_bit(arena->free_bits, pgno)) {
            arena_clear_bit(arena->free_bits, pgno);
            return pgno;
        }
    }
    return 0;
}

static bool starts_chunk(const SapMemArena *arena, uint32_t pgno)
{
    if (arena->chunk_count == 0 || (pgno & arena->mask) != 0) {
        return false;
    }
    if (pgno >= arena->backed) {
        return true;
    }
    const ArenaTable *table = atomic_load_relaxed(&arena->table);
    uint32_t granule = pgno >> arena->shift;
    return granule > 0 && table->granule[granule] != table->granule[granule - 1] +
                                                         ((size_t)arena->mask + 1) * arena->stride;
}

/* Looks for `count` free pages in a row from page `from` on, below `end`. */
static uint32_t number_find_between(SapMemArena *arena, uint32_t count, uint32_t from, uint32_t end)
{
    uint32_t length = 0;
    for (uint32_t pgno = from; pgno < end; pgno++) {
        if ((pgno & 63) == 0 && arena->free_bits[pgno >> 6] == 0) {
            length = 0;
            pgno += 63;
            continue;
        }
        if (!arena_bit(arena->free_bits, pgno)) {
            length = 0;
            continue;
        }
        length = starts_chunk(arena, pgno) ? 1 : length + 1;
        if (length == count) {
            for (uint32_t i = 0; i < count; i++) {
                arena_clear_bit(arena->free_bits, pgno - i);
            }
            return pgno - count + 1;
        }
    }
    return 0;
}

/* A run from the free pages. Each call looks at one window of them, the next call at the next, so
 * that its time does not grow with the arena; `thorough` looks at all. */
static uint32_t number_find_run(SapMemArena *arena, uint32_t count, bool thorough)
{
    uint32_t high = atomic_load_relaxed(&arena->high);
    if (high - 1 - arena->active < count) {
        return 0;
    }
    if (thorough) {
        return number_find_between(arena, count, 1, high);
    }
    uint32_t from = arena->run_hint > 0 && arena->run_hint < high ? arena->run_hint : 1;
    uint64_t window = (uint64_t)from + RUN_WINDOW_PAGES + count;
    uint32_t end = window < high ? (uint32_t)window : high;
    uint32_t pgno = number_find_between(arena, count, from, end);
    /* A run may begin at the end of a window, hence the next one begins before that. */
    arena->run_hint = pgno != 0 ? pgno : end == high ? 1 : end - count;
    return pgno;
}

/* Where a run of `count` that reaches beyond `high` begins: with the free pages just below it, but
 * not across the border of two chunks. */
static uint32_t run_start(const SapMemArena *arena, uint32_t high, uint32_t count)
{
    uint32_t first = high;
    while (count > 1 && first > 1 && high - first < count - 1 &&
           arena_bit(arena->free_bits, first - 1) && !starts_chunk(arena, first)) {
        first--;
    }
    bool straddles = arena->chunk_count > 0 && (uint64_t)first + count > arena->backed;
    return straddles ? arena->backed : first;
}

/* New numbers from the top, with memory behind them. */
static int number_extend(SapMemArena *arena, uint32_t count, uint32_t *pgno_out)
{
    uint32_t high = atomic_load_relaxed(&arena->high);
    uint32_t first = run_start(arena, high, count);
    if ((uint64_t)first + count > page_limit(arena)) {
        return SAP_FULL;
    }
    int rc = arena_reserve_numbers(arena, first + count);
    if (rc == SAP_OK && backing_is_custom(arena)) {
        rc = table_reserve(arena, (size_t)first + count);
    }
    if (rc == SAP_OK && !backing_is_custom(arena) && first + count > arena->backed) {
        /* The very first chunk has no page 0 to hand out, hence one page more. */
        rc = arena->region != NULL ? back_region(arena, first + count)
                                   : back_chunk(arena, arena->backed == 0 ? first + count : count);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    for (uint32_t pgno = first; pgno < high; pgno++) {
        arena_clear_bit(arena->free_bits, pgno);
    }
    for (uint32_t pgno = high; pgno < first; pgno++) {
        arena_push_number(arena, pgno);
    }
    atomic_store_release(&arena->high, first + count);
    if (arena->region != NULL) {
        populate(arena, first + count);
    }
    *pgno_out = first;
    return SAP_OK;
}

/* How many pages can still be handed out; endless where there is no bound. */
static uint64_t arena_pages_left(const SapMemArena *arena)
{
    return arena->region_bytes == 0 ? UINT64_MAX : page_limit(arena) - 1 - arena->active;
}

/* Whether the pages are those of a file, which is made longer as they are needed. */
static bool backing_grows_file(const SapMemArena *arena)
{
    return arena->options.type == SAP_ARENA_BACKING_MMAP && arena->options.cfg.mmap.fd >= 0;
}

/* Whether a file has room on disk for that many pages more and those kept for rescue; where it has not,
 * it is made longer. So a disk that is full then does not keep rows from being deleted. */
static int file_keep_rescue(SapMemArena *arena, uint32_t count)
{
    uint64_t needed = (arena->active + 1 + count + arena->rescue_pages) * arena->stride;
    return backing_grows_file(arena) && needed > arena->file_bytes ? file_reserve(arena, needed)
                                                                   : SAP_OK;
}

/* How many pages more the file has room on disk for. */
static uint64_t file_pages_left(const SapMemArena *arena)
{
    uint64_t pages = arena->file_bytes / arena->stride;
    return pages > arena->active + 1 ? pages - arena->active - 1 : 0;
}

int arena_alloc_locked(SapMemArena *arena, uint32_t count, bool rescue, uint8_t **page_out,
                       uint32_t *pgno_out)
{
    if (!rescue && arena_pages_left(arena) < (uint64_t)count + arena->rescue_pages) {
        return SAP_FULL;
    }
    int kept = file_keep_rescue(arena, count);
    if (kept != SAP_OK && !rescue) {
        return kept;
    }
    if (kept != SAP_OK && file_pages_left(arena) < count + arena->rescue_pages / 2) {
        atomic_store_relaxed(&arena->rescue_used, true);
    }
    uint32_t pgno = count == 1 ? number_pop(arena) : number_find_run(arena, count, false);
    if (pgno == 0) {
        int rc = number_extend(arena, count, &pgno);
        if (rc != SAP_OK && count > 1) {
            pgno = number_find_run(arena, count, true);
            rc = pgno != 0 ? SAP_OK : rc;
        }
        if (rc != SAP_OK) {
            return rc;
        }
    }
    if (backing_is_custom(arena)) {
        int rc = back_custom(arena, pgno, count);
        if (rc != SAP_OK) {
            for (uint32_t i = count; i > 0; i--) {
                arena_push_number(arena, pgno + i - 1);
            }
            return rc;
        }
    }
    arena->active += count;
    arena_trust(arena, pgno);
    *page_out = arena_page(arena, pgno);
    *pgno_out = pgno;
    return SAP_OK;
}

bool arena_page_is_live(const SapMemArena *arena, uint32_t pgno)
{
    return pgno > 0 && pgno < atomic_load_relaxed(&arena->high) &&
           !arena_bit(arena->free_bits, pgno);
}

void arena_free_locked(SapMemArena *arena, uint32_t pgno, uint32_t count)
{
    SAP_ASSERT(arena_page_is_live(arena, pgno) && arena_page_is_live(arena, pgno + count - 1));
    if (backing_is_custom(arena)) {
        arena->options.cfg.custom.free_page(arena->options.cfg.custom.ctx, arena_page(arena, pgno),
                                            count * arena->stride);
    }
#if SAP_SLOW_ASSERTS
    if (!backing_is_custom(arena)) { /* who still reads it shall notice */
        memset(arena_page(arena, pgno), 0xdb, (size_t)count * arena->stride);
    }
#endif
    for (uint32_t i = count; i > 0; i--) {
        arena_push_number(arena, pgno + i - 1);
    }
    arena->active -= count;
}

uint32_t arena_find_page(const SapMemArena *arena, const void *addr)
{
    uintptr_t at = (uintptr_t)addr;
    if (arena->region != NULL) {
        uintptr_t base = (uintptr_t)arena->region;
        return at >= base && at - base < arena->region_bytes
                   ? (uint32_t)((at - base) / arena->stride)
                   : 0;
    }
    for (size_t i = 0; i < arena->chunk_count; i++) {
        uintptr_t base = (uintptr_t)arena->chunks[i].base;
        if (at >= base && at - base < (uint64_t)arena->chunks[i].count * arena->stride) {
            return arena->chunks[i].first + (uint32_t)((at - base) / arena->stride);
        }
    }
    if (backing_is_custom(arena)) {
        uint32_t high = atomic_load_relaxed(&arena->high);
        for (uint32_t pgno = 1; pgno < high; pgno++) {
            if (!arena_page_is_live(arena, pgno)) {
                continue;
            }
            uintptr_t base = (uintptr_t)arena_page(arena, pgno);
            if (at >= base && at - base < arena->stride) {
                return pgno;
            }
        }
    }
    return 0;
}

/* ---- Life ----------------------------------------------------------------------------------- */

/* Sets the bound, and makes the region where there are mappings to make it of. */
static int region_open(SapMemArena *arena)
{
    const SapArenaOptions *options = &arena->options;
    bool linear = options->type == SAP_ARENA_BACKING_LINEAR;
    bool mapping = options->type == SAP_ARENA_BACKING_MMAP;
    uint64_t bytes = linear ? options->cfg.linear.max_bytes : options->cfg.mmap.max_size;
    if (bytes == 0) {
        bytes = mapping ? ARENA_MAPPED_DEFAULT : DEFAULT_MEMORY_BYTES;
    }
    if (bytes < (uint64_t)2 * arena->stride ||
        (linear && options->cfg.linear.initial_bytes > bytes)) {
        return SAP_ERROR;
    }
    arena->region_bytes = bytes;
    arena->rescue_pages = arena_rescue_pages(bytes, arena->stride);
    if (options->type == SAP_ARENA_BACKING_WASI_FD) {
        return SAP_OK;
    }
#if ARENA_HAS_MMAP
    int fd = linear ? -1 : options->cfg.mmap.fd;
    struct stat st;
    if (fd >= 0 && (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))) {
        return SAP_IO;
    }
    int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (fault_alloc()) {
        return SAP_NOMEM;
    }
    void *base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_NORESERVE, fd, 0);
    if (base == MAP_FAILED) {
        return errno == ENOMEM ? SAP_NOMEM : SAP_IO;
    }
    int rc = arena_set_region(arena, (uint8_t *)base, bytes);
    if (rc != SAP_OK) {
        (void)munmap(base, bytes);
        return rc;
    }
    arena->file_bytes = fd >= 0 ? (uint64_t)st.st_size : 0;
#ifdef MADV_POPULATE_WRITE
    if (linear && options->cfg.linear.initial_bytes > 0) {
        (void)madvise(base, options->cfg.linear.initial_bytes, MADV_POPULATE_WRITE);
    }
#endif
    return SAP_OK;
#else
    /* Without mappings a linear arena is heap chunks under the same bound. */
    return mapping ? SAP_ERROR : SAP_OK;
#endif
}

OPTIONS_LAYOUT(SapArenaOptions, cfg.custom.ctx, cfg);

static bool options_valid(const SapArenaOptions *options)
{
    if (options->page_size < SAP_MIN_PAGE_SIZE || options->page_size > SAP_MAX_PAGE_SIZE) {
        return false;
    }
    switch (options->type) {
    case SAP_ARENA_BACKING_MALLOC:
    case SAP_ARENA_BACKING_MMAP:
    case SAP_ARENA_BACKING_WASI_FD:
    case SAP_ARENA_BACKING_LINEAR:
        return true;
    case SAP_ARENA_BACKING_CUSTOM:
        return options->cfg.custom.alloc_page != NULL && options->cfg.custom.free_page != NULL;
    }
    return false;
}

int sap_arena_init(SapMemArena **out, const SapArenaOptions *options)
{
    static const SapArenaOptions defaults = {.type = SAP_ARENA_BACKING_MALLOC, .page_size = 4096};
    SapArenaOptions known;
    if (out == NULL ||
        OPTIONS_READ(SapArenaOptions, &known, options != NULL ? options : &defaults) != SAP_OK ||
        !options_valid(&known)) {
        return SAP_ERROR;
    }
    options = &known;
    SapMemArena *arena = (SapMemArena *)mem_zalloc(MEM_ARENA, sizeof *arena);
    if (arena == NULL) {
        return SAP_NOMEM;
    }
    arena->options = *options;
    arena->stride = align_up_u32(options->page_size, ARENA_NODE_UNIT);
    if (options->type != SAP_ARENA_BACKING_CUSTOM) {
        while ((GRANULE_BYTES / arena->stride) >> (arena->shift + 1) > 0) {
            arena->shift++;
        }
    }
    arena->mask = (UINT32_C(1) << arena->shift) - 1;
    atomic_store_relaxed(&arena->high, 1);
    int rc = SAP_OK;
    if (options->type != SAP_ARENA_BACKING_MALLOC && options->type != SAP_ARENA_BACKING_CUSTOM) {
        rc = region_open(arena);
    }
    if (rc == SAP_OK && !mutex_init(&arena->lock)) {
        rc = SAP_NOMEM;
    }
    if (rc != SAP_OK) {
#if ARENA_HAS_MMAP
        if (arena->region != NULL) {
            (void)munmap(arena->region, arena->region_bytes);
        }
#endif
        tables_free(arena);
        mem_free(MEM_ARENA, arena, sizeof *arena);
        return rc;
    }
    *out = arena;
    return SAP_OK;
}

/* Runs of a custom arena are released page by page only if they were made so; a run that is still
 * handed out when the arena goes was the environment's, and environments go first. */
static void free_custom_pages(SapMemArena *arena)
{
    for (uint32_t pgno = 1; pgno < atomic_load_relaxed(&arena->high); pgno++) {
        if (arena_page_is_live(arena, pgno)) {
            arena->options.cfg.custom.free_page(arena->options.cfg.custom.ctx,
                                                arena_page(arena, pgno), arena->stride);
        }
    }
}

void sap_arena_destroy(SapMemArena *arena)
{
    if (arena == NULL) {
        return;
    }
    if (backing_is_custom(arena)) {
        free_custom_pages(arena);
    }
    for (size_t i = 0; i < arena->chunk_count; i++) {
        chunk_free(arena, &arena->chunks[i]);
    }
    mem_free(MEM_ARENA, arena->chunks, arena->chunk_capacity * sizeof *arena->chunks);
    arena_file_close(arena);
#if ARENA_HAS_MMAP
    if (arena->region != NULL) {
        (void)munmap(arena->region, arena->region_bytes);
    }
#endif
    size_t bits = arena->capacity / 64 * sizeof(uint64_t);
    mem_free(MEM_ARENA, arena->free_bits, bits);
    mem_free(MEM_ARENA, arena->stacked_bits, bits);
    mem_free(MEM_ARENA, arena->node_bits, bits);
    mem_free(MEM_ARENA, arena->stack, arena->capacity * sizeof *arena->stack);
    mem_free(MEM_ARENA, arena->slabs, arena->stride / ARENA_NODE_UNIT * sizeof *arena->slabs);
    tables_free(arena);
    mutex_destroy(&arena->lock);
    mem_free(MEM_ARENA, arena, sizeof *arena);
}

void arena_abandon(SapMemArena *arena)
{
#if ARENA_HAS_MMAP
    if (arena->region != NULL) {
        arena_file_close(arena);
        (void)munmap(arena->region, arena->region_bytes);
    }
#else
    (void)arena;
#endif
}

bool arena_is_shared(const SapMemArena *arena)
{
    return backing_grows_file(arena);
}

/* ---- Public and engine entry points ---------------------------------------------------------- */

int arena_alloc_run(SapMemArena *arena, uint32_t count, bool rescue, uint8_t **page_out,
                    uint32_t *pgno_out)
{
    mutex_lock(&arena->lock);
    int rc = arena_alloc_locked(arena, count, rescue, page_out, pgno_out);
    mutex_unlock(&arena->lock);
    return rc;
}

bool arena_has_room(SapMemArena *arena)
{
    mutex_lock(&arena->lock);
    uint64_t in_arena = arena_pages_left(arena);
    uint64_t in_file = backing_grows_file(arena) ? file_pages_left(arena) : UINT64_MAX;
    mutex_unlock(&arena->lock);
    return (in_arena < in_file ? in_arena : in_file) >= (uint64_t)2 * arena->rescue_pages;
}

void arena_free_run(SapMemArena *arena, uint32_t pgno, uint32_t count)
{
    mutex_lock(&arena->lock);
    arena_free_locked(arena, pgno, count);
    mutex_unlock(&arena->lock);
}

int sap_arena_alloc_page(SapMemArena *arena, void **page_out, uint32_t *pgno_out)
{
    if (arena == NULL || page_out == NULL || pgno_out == NULL) {
        return SAP_ERROR;
    }
    uint8_t *page = NULL;
    int rc = arena_alloc_run(arena, 1, true, &page, pgno_out);
    if (rc == SAP_OK) {
        *page_out = page;
    }
    return rc;
}

static int free_page_locked(SapMemArena *arena, uint32_t pgno)
{
    if (!arena_page_is_live(arena, pgno) || arena_bit(arena->node_bits, pgno)) {
        return SAP_ERROR;
    }
    arena_free_locked(arena, pgno, 1);
    return SAP_OK;
}

int sap_arena_free_page(SapMemArena *arena, uint32_t pgno)
{
    if (arena == NULL) {
        return SAP_ERROR;
    }
    mutex_lock(&arena->lock);
    int rc = free_page_locked(arena, pgno);
    mutex_unlock(&arena->lock);
    return rc;
}

int sap_arena_free_page_ptr(SapMemArena *arena, void *page)
{
    if (arena == NULL || page == NULL) {
        return SAP_ERROR;
    }
    mutex_lock(&arena->lock);
    uint32_t pgno = arena_find_page(arena, page);
    int rc = SAP_ERROR;
    if (pgno != 0 && arena_page_is_live(arena, pgno) && arena_page(arena, pgno) == page) {
        rc = free_page_locked(arena, pgno);
    }
    mutex_unlock(&arena->lock);
    return rc;
}

uint64_t sap_arena_active_pages(const SapMemArena *arena)
{
    if (arena == NULL) {
        return 0;
    }
    SapMemArena *locked = (SapMemArena *)(uintptr_t)arena;
    mutex_lock(&locked->lock);
    uint64_t active = arena->active;
    mutex_unlock(&locked->lock);
    return active;
}

void *sap_arena_resolve(const SapMemArena *arena, uint32_t no)
{
    if (arena == NULL || no == 0) {
        return NULL;
    }
    if ((no & ARENA_NODE_BIT) != 0) {
        return arena_node_resolve(arena, no);
    }
    if (no >= atomic_load_acquire(&arena->high)) {
        return NULL;
    }
    /* A custom arena may have a number without memory: of a page that could not be had. */
    const ArenaTable *table = atomic_load_acquire(&arena->table);
    return table->granule[no >> arena->shift] == NULL ? NULL : arena_page(arena, no);
}

uint32_t sap_arena_page_stride(const SapMemArena *arena)
{
    return arena == NULL ? 0 : arena->stride;
}
