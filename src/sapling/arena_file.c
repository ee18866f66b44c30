/* arena_file.c - an arena whose pages are those of a database file.
 *
 * Mapped: the file is mapped twice, for the writer, and read-only for everyone who is given a
 * pointer, so that a stray write through one faults instead of damaging the file. Race detectors
 * cannot see that the two are the same memory: builds for them use one mapping. Address space for
 * the largest size is reserved once; the file grows under it (arena.c) and never shrinks.
 *
 * In memory: all pages in use are read when the file is opened, into one chunk of the heap, and more
 * chunks follow. Changed ones are written at checkpoints, which make the file longer first: a full
 * disk is found out while nothing has been done yet that only a write could complete. */
#include "sapling/arena_impl.h"

#include <errno.h>
#include <sys/stat.h>

#include "common/fault.h"

#if SAP_FILE_MAPPED

#include <sys/mman.h>

#define MAX_SIZE_LEAST (UINT64_C(1) << 30) /* of the default, where address space is short */
#define TRUSTED_BYTES  ((size_t)(ARENA_MAX_PAGES / 8))

static void *map(int fd, uint64_t bytes, int prot)
{
    int flags = fd >= 0 ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    if (fault_alloc()) {
        errno = ENOMEM;
        return NULL;
    }
    void *base = mmap(NULL, bytes, prot, flags | MAP_NORESERVE, fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

static bool map_region(SapMemArena *arena, const ArenaFileOptions *options, uint64_t bytes)
{
    bool two = !SAP_SANITIZED && !options->read_only;
    int prot = options->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    uint8_t *base = (uint8_t *)map(options->fd, bytes, prot);
    if (base == NULL) {
        return false;
    }
    if (two) {
        uint8_t *view = (uint8_t *)map(options->fd, bytes, PROT_READ);
        if (view == NULL) {
            (void)munmap(base, bytes);
            return false;
        }
        arena->view = view - base;
    }
    if (arena_set_region(arena, base, bytes) != SAP_OK) {
        (void)munmap(base + arena->view, bytes);
        if (two) {
            (void)munmap(base, bytes);
        }
        arena->view = 0;
        return false;
    }
    return true;
}

/* With no size asked for, less than the default is better than nothing. */
static bool map_some(SapMemArena *arena, const ArenaFileOptions *options, uint64_t file_bytes)
{
    if (options->max_size != 0) {
        return map_region(arena, options,
                          options->max_size / options->page_size * options->page_size);
    }
    for (uint64_t bytes = ARENA_MAPPED_DEFAULT; bytes >= MAX_SIZE_LEAST && bytes > file_bytes;
         bytes /= 2) {
        if (map_region(arena, options, bytes)) {
            return true;
        }
    }
    return false;
}

int arena_open_file(SapMemArena **out, const ArenaFileOptions *options)
{
    struct stat st;
    if (fstat(options->fd, &st) != 0) {
        return SAP_IO;
    }
    SapArenaOptions plain = {.type = SAP_ARENA_BACKING_MALLOC, .page_size = options->page_size};
    SapMemArena *arena = NULL;
    int rc = sap_arena_init(&arena, &plain);
    if (rc != SAP_OK) {
        return rc;
    }
    arena->options.type = SAP_ARENA_BACKING_MMAP;
    arena->options.cfg.mmap.fd = options->fd;
    arena->options.cfg.mmap.max_size = options->max_size;
    arena->file_bytes = (uint64_t)st.st_size;
    arena->check = options->check;
    arena->check_ctx = options->check_ctx;
    arena->trusted = map(-1, TRUSTED_BYTES, PROT_READ | PROT_WRITE);
    if (arena->trusted == NULL || !map_some(arena, options, arena->file_bytes)) {
        sap_arena_destroy(arena);
        return SAP_NOMEM;
    }
    arena->rescue_pages = arena_rescue_pages(arena->region_bytes, arena->stride);
    *out = arena;
    return SAP_OK;
}

int arena_file_read(SapMemArena *arena, DiskFile *file, const uint64_t *pages, uint32_t end)
{
    (void)arena;
    (void)file;
    (void)pages;
    (void)end;
    return SAP_OK;
}

int arena_file_grow(SapMemArena *arena, DiskFile *file, uint32_t end)
{
    (void)arena;
    (void)file;
    (void)end;
    return SAP_OK;
}

int arena_file_write(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end)
{
    uint64_t stride = arena->stride;
    return disk_write_back(file, first * stride, (end - first) * stride);
}

void arena_file_close(SapMemArena *arena)
{
    if (arena->trusted != NULL) {
        (void)munmap((void *)(uintptr_t)arena->trusted, TRUSTED_BYTES);
    }
    if (arena->view != 0) {
        (void)munmap(arena->region + arena->view, arena->region_bytes);
    }
}

int arena_file_reserve(size_t bytes, void **base_out)
{
    *base_out = map(-1, bytes, PROT_READ | PROT_WRITE);
    return *base_out != NULL ? SAP_OK : SAP_NOMEM;
}

void arena_file_unreserve(void *base, size_t bytes)
{
    if (base != NULL) {
        (void)munmap(base, bytes);
    }
}

#else

int arena_open_file(SapMemArena **out, const ArenaFileOptions *options)
{
    struct stat st;
    if (fstat(options->fd, &st) != 0) {
        return SAP_IO;
    }
    SapArenaOptions held = {.type = SAP_ARENA_BACKING_WASI_FD, .page_size = options->page_size};
    held.cfg.mmap.fd = options->fd;
    held.cfg.mmap.max_size = options->max_size;
    int rc = sap_arena_init(out, &held);
    if (rc == SAP_OK) {
        (*out)->file_bytes = (uint64_t)st.st_size;
    }
    return rc;
}

int arena_file_read(SapMemArena *arena, DiskFile *file, const uint64_t *pages, uint32_t end)
{
    uint64_t stride = arena->stride;
    int rc = SAP_OK;
    for (uint32_t first = 0; first < end && rc == SAP_OK; first++) {
        uint32_t pgno = first;
        while (pgno < end && arena_bit(pages, pgno)) {
            pgno++;
        }
        if (pgno > first) {
            rc = disk_read(file, first * stride, arena_page(arena, first),
                           (size_t)(pgno - first) * arena->stride);
            first = pgno;
        }
    }
    return rc;
}

int arena_file_grow(SapMemArena *arena, DiskFile *file, uint32_t end)
{
    uint64_t bytes = (uint64_t)end * arena->stride;
    if (bytes <= arena->file_bytes) {
        return SAP_OK;
    }
    int rc = disk_write_zeros(file, arena->file_bytes, bytes);
    if (rc == SAP_OK) {
        arena->file_bytes = bytes;
    }
    return rc;
}

int arena_file_write(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end)
{
    uint64_t stride = arena->stride;
    int rc = SAP_OK;
    while (first < end && rc == SAP_OK) {
        const uint8_t *from = arena_page(arena, first);
        uint32_t pages = 1;
        while (first + pages < end && arena_page(arena, first + pages) == from + pages * stride) {
            pages++; /* up to where another chunk begins */
        }
        rc = disk_write(file, first * stride, from, (size_t)pages * arena->stride);
        first += pages;
    }
    return rc;
}

void arena_file_close(SapMemArena *arena)
{
    (void)arena;
}

int arena_file_reserve(size_t bytes, void **base_out)
{
    (void)bytes;
    *base_out = NULL;
    return SAP_OK;
}

void arena_file_unreserve(void *base, size_t bytes)
{
    (void)base;
    (void)bytes;
}

#endif

int arena_adopt(SapMemArena *arena, uint32_t first, uint32_t high, const uint64_t *used)
{
    if ((uint64_t)high * arena->stride > arena->region_bytes) {
        return SAP_FULL;
    }
    int rc = arena_reserve_numbers(arena, high);
    if (rc == SAP_OK) {
        rc = arena_adopt_memory(arena, high);
    }
    if (rc != SAP_OK) {
        return rc;
    }
    atomic_store_release(&arena->high, high);
    arena->active = first - 1; /* the header's pages are nobody's to take */
    for (uint32_t pgno = high; pgno-- > first;) {
        if (arena_bit(used, pgno)) {
            arena->active++;
        } else {
            arena_push_number(arena, pgno);
        }
    }
    return SAP_OK;
}
