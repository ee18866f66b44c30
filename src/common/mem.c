#include "common/mem.h"

#include "common/assert.h"
#include "common/bytes.h"
#include "common/fault.h"
#include "common/relaxed.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* One cache line each, so that threads of different owners do not fight over one. */
typedef struct Account {
    _Alignas(64) RelaxedU64 bytes;
    RelaxedU64 blocks;
} Account;

static Account accounts[MEM_OWNER_COUNT];

static void charge(MemOwner owner, size_t size)
{
    relaxed_add(&accounts[owner].bytes, size);
    relaxed_add(&accounts[owner].blocks, 1);
}

static void discharge(MemOwner owner, size_t size)
{
    uint64_t bytes = relaxed_sub(&accounts[owner].bytes, size);
    uint64_t blocks = relaxed_sub(&accounts[owner].blocks, 1);

    SAP_ASSERT(bytes >= size);
    SAP_ASSERT(blocks >= 1);
}

/* No object may be larger than a difference of pointers can say; asking the allocator for one
 * would be a bug in some of its debugging versions, while here it is only too much. */
static bool may_allocate(size_t size)
{
    return !fault_alloc() && size <= PTRDIFF_MAX;
}

/* The C library may answer 0 bytes with NULL, which here means no memory. */
static size_t at_least_one(size_t size)
{
    return size == 0 ? 1 : size;
}

void *mem_alloc(MemOwner owner, size_t size)
{
    if (!may_allocate(size)) {
        return NULL;
    }
    void *p = malloc(at_least_one(size));
    if (p != NULL) {
        charge(owner, size);
    }
    return p;
}

void *mem_zalloc(MemOwner owner, size_t size)
{
    if (!may_allocate(size)) {
        return NULL;
    }
    void *p = calloc(1, at_least_one(size));
    if (p != NULL) {
        charge(owner, size);
    }
    return p;
}

void *mem_copy(MemOwner owner, const void *from, size_t size)
{
    void *p = mem_alloc(owner, size);

    if (p != NULL && size > 0) {
        memcpy(p, from, size);
    }
    return p;
}

void *mem_alloc_aligned(MemOwner owner, size_t align, size_t size)
{
    SAP_ASSERT(is_pow2(align));
    if (!may_allocate(size) || align > PTRDIFF_MAX - size) {
        return NULL;
    }
    /* C11 allows only alignments the implementation knows, and only multiples of them as size. */
    if (align < sizeof(void *)) {
        align = sizeof(void *);
    }
    void *p = aligned_alloc(align, (size_t)align_up_u64(at_least_one(size), align));
    if (p != NULL) {
        charge(owner, size);
    }
    return p;
}

void *mem_resize(MemOwner owner, void *p, size_t old_size, size_t new_size)
{
    if (p == NULL) {
        SAP_ASSERT(old_size == 0);
        return mem_alloc(owner, new_size);
    }
    if (!may_allocate(new_size)) {
        return NULL;
    }
    void *moved = realloc(p, at_least_one(new_size));
    if (moved != NULL) {
        discharge(owner, old_size);
        charge(owner, new_size);
    }
    return moved;
}

void mem_free(MemOwner owner, void *p, size_t size)
{
    if (p != NULL) {
        discharge(owner, size);
        free(p);
    }
}

void mem_free_aligned(MemOwner owner, void *p, size_t size)
{
    /* C11's aligned_alloc pairs with free. A call of its own keeps the door open for systems
     * where it does not. */
    mem_free(owner, p, size);
}

size_t mem_live_bytes(MemOwner owner)
{
    return (size_t)relaxed_load(&accounts[owner].bytes);
}

size_t mem_live_blocks(MemOwner owner)
{
    return (size_t)relaxed_load(&accounts[owner].blocks);
}

size_t mem_live_total(void)
{
    size_t total = 0;
    for (int owner = 0; owner < MEM_OWNER_COUNT; owner++) {
        total += mem_live_bytes((MemOwner)owner);
    }
    return total;
}

const char *mem_owner_name(MemOwner owner)
{
    static const char *const names[MEM_OWNER_COUNT] = {
        [MEM_ARENA] = "arena",       [MEM_ENV] = "env",         [MEM_TXN] = "txn",
        [MEM_CURSOR] = "cursor",     [MEM_SCRATCH] = "scratch", [MEM_COMMON] = "common",
        [MEM_RUNNER] = "runner",     [MEM_STORE] = "store",     [MEM_SIMULATOR] = "simulator",
        [MEM_UNIVERSE] = "universe", [MEM_TEST] = "test",
    };
    return names[owner];
}
