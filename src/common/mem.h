/* mem.h - memory with an owner's name on it.
 *
 * Every block is charged to one owner and is given back to the same owner with the size it was
 * asked for (the new size after mem_resize). So at rest each owner's live counts say who leaks:
 * closing everything brings them back to what they were. Giving back more than an owner holds is
 * a bug and asserts.
 *
 * All calls may come from any thread. Every allocating call asks fault_alloc() first. Memory from
 * mem_alloc_aligned goes back through mem_free_aligned, all other through mem_free. */
#ifndef SAPLING_COMMON_MEM_H
#define SAPLING_COMMON_MEM_H

#include <stddef.h>

typedef enum {
    MEM_ARENA,
    MEM_ENV,
    MEM_TXN,
    MEM_CURSOR,
    MEM_SCRATCH,
    MEM_COMMON,
    MEM_RUNNER,
    MEM_STORE,
    MEM_SIMULATOR,
    MEM_UNIVERSE,
    MEM_TEST,
    MEM_OWNER_COUNT
} MemOwner;

/* Each returns NULL when there is no memory. A size of 0 gives a block of its own, charged as one
 * block of 0 bytes. Caller owns, release with mem_free and the same owner and size. */
void *mem_alloc(MemOwner owner, size_t size);
void *mem_zalloc(MemOwner owner, size_t size);
void *mem_copy(MemOwner owner, const void *from, size_t size);

/* `align` is a power of two. Caller owns, release with mem_free_aligned. */
void *mem_alloc_aligned(MemOwner owner, size_t align, size_t size);

/* Moves `p` (of `old_size` bytes; NULL and 0 for none) to a block of `new_size` bytes that starts
 * with the old contents. Takes ownership of `p` unless it returns NULL: then `p` is as it was. */
void *mem_resize(MemOwner owner, void *p, size_t old_size, size_t new_size);

/* NULL is accepted and charges nothing. */
void mem_free(MemOwner owner, void *p, size_t size);
void mem_free_aligned(MemOwner owner, void *p, size_t size);

/* What `owner` holds now. Exact when no other thread is allocating. */
size_t mem_live_bytes(MemOwner owner);
size_t mem_live_blocks(MemOwner owner);

/* Live bytes of all owners. */
size_t mem_live_total(void);

/* A static string, for reports. */
const char *mem_owner_name(MemOwner owner);

#endif
