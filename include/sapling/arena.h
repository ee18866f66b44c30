/* arena.h - where pages and nodes live.
 *
 * An arena hands out fixed-size pages and small nodes and gives each a 32-bit number, so that
 * structures refer to each other by number and work the same in heap memory, in a mapping, in
 * WebAssembly's linear memory and in storage of the caller's own. A page never moves while it is
 * allocated. Number 0 is never handed out. Page numbers have the top bit clear, node numbers have
 * it set, so that sap_arena_resolve() tells them apart.
 *
 * An arena may serve several environments and threads at once: allocation is serialised inside,
 * resolving takes no lock. */
#ifndef SAPLING_ARENA_H
#define SAPLING_ARENA_H

#include <stdint.h>

#include "sapling/error.h"
#include "sapling/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SapMemArena SapMemArena;

typedef enum SapArenaBacking {
    SAP_ARENA_BACKING_MALLOC = 0,  /* the C heap, in chunks that grow with use */
    SAP_ARENA_BACKING_MMAP = 1,    /* one reserved mapping, of a file or (fd < 0) anonymous */
    SAP_ARENA_BACKING_WASI_FD = 2, /* heap memory under a bound, which needs no mapping */
    SAP_ARENA_BACKING_LINEAR = 3,  /* one contiguous region with a hard upper bound */
    SAP_ARENA_BACKING_CUSTOM = 4   /* the caller's functions, one call per page or run of pages */
} SapArenaBacking;

#define SAP_MIN_PAGE_SIZE 256u
#define SAP_MAX_PAGE_SIZE 65535u

typedef struct SapArenaOptions {
    uint32_t size; /* sizeof the struct; see version.h */
    SapArenaBacking type;
    uint32_t page_size; /* 256..65535; pages lie at multiples of it rounded up to 16 */
    union {
        struct {
            int fd;            /* a file to map shared and grow, or -1; stays the caller's */
            uint64_t max_size; /* bytes of address space to reserve; 0: 1 TiB */
        } mmap;                /* WASI_FD too: fd is not used; 0 is 4 GiB, taken as needed */
        struct {
            uint64_t initial_bytes; /* made available at once */
            uint64_t max_bytes;     /* never exceeded; 0: 4 GiB */
        } linear;
        struct {
            /* Returns `size` bytes (the stride, or a multiple of it for a run), aligned to 16, or
             * NULL. Called with the arena's lock held: must not call back into the arena. */
            void *(*alloc_page)(void *ctx, uint32_t size);
            void (*free_page)(void *ctx, void *page, uint32_t size);
            void *ctx;
        } custom;
    } cfg;
} SapArenaOptions;

/* Makes an arena; the caller owns *out and releases it with sap_arena_destroy().
 * NULL options: the heap with 4096-byte pages.
 * SAP_ERROR: bad page size, unknown type, missing functions. SAP_NOMEM. SAP_IO: the file. */
SAP_API int sap_arena_init(SapMemArena **out, const SapArenaOptions *options);

/* Frees every page and node with the arena. Accepts NULL. No environment may still use it. */
SAP_API void sap_arena_destroy(SapMemArena *arena);

/* One page, contents undefined. SAP_NOMEM; SAP_FULL: at the maximum size. SAP_IO: the file could
 * not grow. */
SAP_API int sap_arena_alloc_page(SapMemArena *arena, void **page_out, uint32_t *pgno_out);
/* SAP_ERROR: not the number (or address) of an allocated page. */
SAP_API int sap_arena_free_page(SapMemArena *arena, uint32_t pgno);
SAP_API int sap_arena_free_page_ptr(SapMemArena *arena, void *page);

/* A node of `size` bytes (1 .. page size - 16), aligned to 16. Free it with the same size.
 * SAP_ERROR: bad size. SAP_NOMEM, SAP_FULL, SAP_IO as for pages. */
SAP_API int sap_arena_alloc_node(SapMemArena *arena, uint32_t size, void **node_out,
                                 uint32_t *no_out);
SAP_API int sap_arena_free_node(SapMemArena *arena, uint32_t no, uint32_t size);
SAP_API int sap_arena_free_node_ptr(SapMemArena *arena, void *node, uint32_t size);

/* How many pages are handed out, those that hold nodes included. */
SAP_API uint64_t sap_arena_active_pages(const SapMemArena *arena);

/* The address of a page or node number; NULL for 0 and for pages never handed out. */
SAP_API void *sap_arena_resolve(const SapMemArena *arena, uint32_t no);

/* Bytes between consecutive pages: the page size rounded up to 16. */
SAP_API uint32_t sap_arena_page_stride(const SapMemArena *arena);

#ifdef __cplusplus
}
#endif
#endif
