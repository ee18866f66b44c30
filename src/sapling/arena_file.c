/* arena_file.c - an arena whose pages are those of a database file.
 *
 * A store through a mapping that finds no room on disk ends the process by a signal. So pages are
 * stored to the file only where it is sure that no store needs a new block; everywhere else they are
 * copies in memory, and checkpoints write them with a call that can say SAP_FULL.
 *
 * Mapped, shared (ext4 and tmpfs, which overwrite blocks in place and share none with other files):
 * all holes are filled when the file is opened, and growing it allocates its blocks. The file is
 * mapped twice, for the writer, and read-only for everyone who is given a pointer, so that a stray
 * write through one faults instead of damaging the file. Race detectors cannot see that the two are
 * the same memory: builds for them use one mapping.
 *
 * Mapped, private (every other file system, and where holes cannot be filled): XFS and btrfs share
 * the blocks of a file with its copies, made at any time, and btrfs writes every block to a new
 * place. One private mapping: the first store to a page makes a copy of it, arena_file_write() writes
 * the copy to the file and drops it. A stray write changes only a copy, but is not noticed.
 *
 * A file that is only read is mapped privately too. What its log has more than its pages is replayed
 * into copies, and into memory behind the end of the file, that are never written.
 *
 * Address space for the largest size is reserved once; the file grows under it (arena.c) and never
 * shrinks.
 *
 * In memory: all pages in use are read when the file is opened, into one chunk of the heap, and more
 * chunks follow. Changed ones are written at checkpoints, which make the file longer first: a full
 * disk is found out while nothing has been done yet that only a write could complete. */
#include "sapling/arena_impl.h"

#include <errno.h>
#include <sys/stat.h>

#include "common/bytes.h"
#include "common/fault.h"

#if SAP_FAULTS
bool arena_file_never_shared;
#define NEVER_SHARED arena_file_never_shared
#else
#define NEVER_SHARED false
#endif

#if SAP_FILE_MAPPED

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_SIZE_LEAST (UINT64_C(1) << 30) /* of the default, where address space is short */
/* For what the file system itself writes with a file whose blocks move. */
#define MOVES_BYTES_LEAST (UINT64_C(4) << 20)
#define TRUSTED_BYTES     ((size_t)(ARENA_MAX_PAGES / 8))

static void *map(int fd, uint64_t bytes, int prot, int flags)
{
    if (fault_alloc()) {
        errno = ENOMEM;
        return NULL;
    }
    void *base = mmap(NULL, bytes, prot, flags | MAP_NORESERVE, fd, 0);
    return base == MAP_FAILED ? NULL : base;
}

static void *map_zeros(uint64_t bytes)
{
    return map(-1, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
}

static bool fill_holes(int fd, uint64_t bytes)
{
    int rc;
    do {
        rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)bytes);
    } while (rc != 0 && errno == EINTR);
    return rc == 0;
}

/* Whether every store to the file, of that size, finds its block on disk. */
static bool stores_find_room(int fd, uint64_t bytes)
{
    if (NEVER_SHARED || !disk_overwrites_in_place(fd)) {
        return false;
    }
    /* Blocks that were allocated and not written yet count as a hole here, but cost little there. */
    off_t hole = lseek(fd, 0, SEEK_HOLE);
    return (hole >= 0 && (uint64_t)hole >= bytes) || fill_holes(fd, bytes);
}

/* Whether the file's blocks are never overwritten. On btrfs a file without the attribute C is so: one
 * that was copied to there, or made where the attribute is refused. */
static bool blocks_move(int fd)
{
    struct statfs fs;
    int flags = 0;
    return fstatfs(fd, &fs) == 0 && fs.f_type == BTRFS_SUPER_MAGIC &&
           (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0 || (flags & FS_NOCOW_FL) == 0);
}

static bool map_region(SapMemArena *arena, const ArenaFileOptions *options, uint64_t bytes)
{
    bool two = !SAP_SANITIZED && !arena->copies;
    int prot = options->read_only ? PROT_READ : PROT_READ | PROT_WRITE;
    int flags = arena->copies ? MAP_PRIVATE : MAP_SHARED;
    uint8_t *base = (uint8_t *)map(options->fd, bytes, prot, flags);
    if (base == NULL) {
        return false;
    }
    if (two) {
        uint8_t *view = (uint8_t *)map(options->fd, bytes, PROT_READ, MAP_SHARED);
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
    arena->copies = options->read_only || !stores_find_room(options->fd, arena->file_bytes);
    arena->moves = arena->copies && blocks_move(options->fd);
    arena->trusted = map_zeros(TRUSTED_BYTES);
    if (arena->trusted == NULL || !map_some(arena, options, arena->file_bytes)) {
        sap_arena_destroy(arena);
        return SAP_NOMEM;
    }
    arena->rescue_pages = arena_rescue_pages(arena->region_bytes, arena->stride);
    *out = arena;
    return SAP_OK;
}

int arena_file_begin_copying(SapMemArena *arena)
{
    uint64_t end = align_up_u64(arena->file_bytes, (uint64_t)sysconf(_SC_PAGESIZE));
    end = end > arena->region_bytes ? arena->region_bytes : end;
    uint64_t beyond = arena->region_bytes - end;
    SAP_ASSERT(arena->copies);
    if (fault_alloc() || mprotect(arena->region, end, PROT_READ | PROT_WRITE) != 0 ||
        (beyond > 0 &&
         mmap(arena->region + end, beyond, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)) {
        return SAP_NOMEM;
    }
    arena->file_bytes = arena->region_bytes;
    return SAP_OK;
}

int arena_file_end_copying(SapMemArena *arena)
{
    return mprotect(arena->region, arena->region_bytes, PROT_READ) == 0 ? SAP_OK : SAP_NOMEM;
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

/* The file has what the copies have, so that they are not needed; a page of the system may hold more
 * than the pages that were written. */
static void drop_copies(const SapMemArena *arena, uint64_t offset, uint64_t len)
{
    if (arena->stride % (uint64_t)sysconf(_SC_PAGESIZE) == 0) {
        (void)madvise(arena->region + offset, len, MADV_DONTNEED);
    }
}

int arena_file_write(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end)
{
    uint64_t offset = (uint64_t)first * arena->stride;
    uint64_t len = (uint64_t)(end - first) * arena->stride;
    if (arena->copies) {
        int rc = disk_write(file, offset, arena->region + offset, (size_t)len);
        if (rc != SAP_OK) {
            return rc;
        }
        drop_copies(arena, offset, len);
    }
    /* What fails here had been taken by the system already, room or not. */
    return disk_write_back(file, offset, len) == SAP_OK ? SAP_OK : SAP_IO;
}

bool arena_file_lacks_room(const SapMemArena *arena)
{
    return arena->copies;
}

int arena_file_claim(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end)
{
    uint64_t offset = (uint64_t)first * arena->stride;
    uint64_t len = (uint64_t)(end - first) * arena->stride;
    return arena->copies ? disk_write(file, offset, arena->region + offset, (size_t)len) : SAP_OK;
}

/* What is claimed goes to one place, and when the checkpoint writes it, to another. */
int arena_file_check_free(const SapMemArena *arena, uint64_t bytes)
{
    struct statfs fs;
    if (!arena->moves) {
        return SAP_OK;
    }
    if (fstatfs(arena->options.cfg.mmap.fd, &fs) != 0) {
        return SAP_IO;
    }
    if (fs.f_bavail * (uint64_t)fs.f_bsize < 2 * bytes + MOVES_BYTES_LEAST) {
        errno = ENOSPC;
        return SAP_FULL;
    }
    return SAP_OK;
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
    *base_out = map_zeros(bytes);
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

bool arena_file_lacks_room(const SapMemArena *arena)
{
    (void)arena;
    return true;
}

int arena_file_claim(SapMemArena *arena, DiskFile *file, uint32_t first, uint32_t end)
{
    int rc = arena_file_grow(arena, file, end);
    return rc == SAP_OK ? arena_file_write(arena, file, first, end) : rc;
}

int arena_file_check_free(const SapMemArena *arena, uint64_t bytes)
{
    (void)arena;
    (void)bytes;
    return SAP_OK;
}

int arena_file_begin_copying(SapMemArena *arena)
{
    (void)arena;
    return SAP_OK;
}

int arena_file_end_copying(SapMemArena *arena)
{
    (void)arena;
    return SAP_OK;
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
