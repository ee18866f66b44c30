/* arena_nodes.c - nodes: small objects in pages of their own.
 *
 * A slab is a page that holds nodes of one size (a multiple of 16). Its first bytes:
 *
 *   0  u16  node size in units of 16
 *   2  u16  slots in use
 *   4  u32  next slab of this size with a free slot, 0: none
 *   8  u32  previous such slab, 0: first
 *   12 u32  unused
 *   16 one bit a slot, set: in use; padded to 16. Absent when there is one slot only.
 *
 * A node's number is the top bit and its offset from the start of page 0 in units of 16, so that
 * resolving needs no table of nodes. A slab with a free slot is on the list of its size; a slab
 * without any node in use is given back. */
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "sapling/arena_impl.h"

enum {
    SLAB_UNITS = 0,
    SLAB_USED = 2,
    SLAB_NEXT = 4,
    SLAB_PREV = 8,
    SLAB_BITS = 16,
};

typedef struct SlabShape {
    uint32_t slots;
    uint32_t first; /* offset of slot 0 */
} SlabShape;

static uint32_t units_per_page(const SapMemArena *arena)
{
    return arena->stride / ARENA_NODE_UNIT;
}

static SlabShape slab_shape(const SapMemArena *arena, uint32_t units)
{
    uint32_t size = units * ARENA_NODE_UNIT;
    uint32_t slots = (arena->stride - SLAB_BITS) / size;
    if (slots < 2) {
        return (SlabShape){.slots = 1, .first = SLAB_BITS};
    }
    uint32_t bits = align_up_u32((slots + 7) / 8, ARENA_NODE_UNIT);
    slots = (arena->stride - SLAB_BITS - bits) / size;
    if (slots < 2) {
        return (SlabShape){.slots = 1, .first = SLAB_BITS};
    }
    return (SlabShape){.slots = slots, .first = SLAB_BITS + bits};
}

static void list_remove(SapMemArena *arena, uint8_t *slab)
{
    uint32_t next = load_u32le(slab + SLAB_NEXT);
    uint32_t prev = load_u32le(slab + SLAB_PREV);
    if (next != 0) {
        store_u32le(arena_page(arena, next) + SLAB_PREV, prev);
    }
    if (prev != 0) {
        store_u32le(arena_page(arena, prev) + SLAB_NEXT, next);
    } else {
        arena->slabs[load_u16le(slab + SLAB_UNITS)] = next;
    }
}

static void list_push(SapMemArena *arena, uint8_t *slab, uint32_t pgno)
{
    uint32_t *head = &arena->slabs[load_u16le(slab + SLAB_UNITS)];
    store_u32le(slab + SLAB_NEXT, *head);
    store_u32le(slab + SLAB_PREV, 0);
    if (*head != 0) {
        store_u32le(arena_page(arena, *head) + SLAB_PREV, pgno);
    }
    *head = pgno;
}

static int slab_make(SapMemArena *arena, uint32_t units)
{
    uint8_t *slab = NULL;
    uint32_t pgno = 0;
    int rc = arena_alloc_locked(arena, 1, true, &slab, &pgno);
    if (rc != SAP_OK) {
        return rc;
    }
    if (((uint64_t)pgno + 1) * units_per_page(arena) > ARENA_NODE_BIT) {
        arena_free_locked(arena, pgno, 1);
        return SAP_FULL;
    }
    memset(slab, 0, slab_shape(arena, units).first);
    store_u16le(slab + SLAB_UNITS, (uint16_t)units);
    arena_set_bit(arena->node_bits, pgno);
    list_push(arena, slab, pgno);
    return SAP_OK;
}

static uint32_t slab_take_slot(uint8_t *slab, SlabShape shape)
{
    uint32_t used = load_u16le(slab + SLAB_USED);
    SAP_ASSERT(used < shape.slots);
    store_u16le(slab + SLAB_USED, (uint16_t)(used + 1));
    if (shape.slots == 1) {
        return 0;
    }
    uint8_t *bits = slab + SLAB_BITS;
    uint32_t byte = 0;
    while (bits[byte] == 0xff) {
        byte++;
    }
    uint32_t bit = (uint32_t)__builtin_ctz(~(uint32_t)bits[byte]);
    bits[byte] = (uint8_t)(bits[byte] | 1u << bit);
    SAP_ASSERT(byte * 8 + bit < shape.slots);
    return byte * 8 + bit;
}

static bool node_size_valid(const SapMemArena *arena, uint32_t size)
{
    return size > 0 && size <= arena->options.page_size - SLAB_BITS;
}

static uint32_t node_units(uint32_t size)
{
    return (size + ARENA_NODE_UNIT - 1) / ARENA_NODE_UNIT;
}

static int alloc_node_locked(SapMemArena *arena, uint32_t units, void **node_out, uint32_t *no_out)
{
    if (arena->slabs == NULL) {
        arena->slabs =
            (uint32_t *)mem_zalloc(MEM_ARENA, units_per_page(arena) * sizeof *arena->slabs);
        if (arena->slabs == NULL) {
            return SAP_NOMEM;
        }
    }
    if (arena->slabs[units] == 0) {
        int rc = slab_make(arena, units);
        if (rc != SAP_OK) {
            return rc;
        }
    }
    uint32_t pgno = arena->slabs[units];
    uint8_t *slab = arena_page(arena, pgno);
    SlabShape shape = slab_shape(arena, units);
    uint32_t slot = slab_take_slot(slab, shape);
    if (load_u16le(slab + SLAB_USED) == shape.slots) {
        list_remove(arena, slab);
    }
    uint32_t offset = shape.first + slot * units * ARENA_NODE_UNIT;
    *node_out = slab + offset;
    *no_out = ARENA_NODE_BIT | (pgno * units_per_page(arena) + offset / ARENA_NODE_UNIT);
    return SAP_OK;
}

int sap_arena_alloc_node(SapMemArena *arena, uint32_t size, void **node_out, uint32_t *no_out)
{
    if (arena == NULL || node_out == NULL || no_out == NULL || !node_size_valid(arena, size)) {
        return SAP_ERROR;
    }
    mutex_lock(&arena->lock);
    int rc = alloc_node_locked(arena, node_units(size), node_out, no_out);
    mutex_unlock(&arena->lock);
    return rc;
}

void *arena_node_resolve(const SapMemArena *arena, uint32_t no)
{
    uint32_t at = no & ~ARENA_NODE_BIT;
    uint32_t pgno = at / units_per_page(arena);
    if (pgno == 0 || pgno >= atomic_load_acquire(&arena->high)) {
        return NULL;
    }
    return arena_page(arena, pgno) + (size_t)(at % units_per_page(arena)) * ARENA_NODE_UNIT;
}

static int free_node_locked(SapMemArena *arena, uint32_t pgno, uint32_t offset, uint32_t units)
{
    if (!arena_page_is_live(arena, pgno) || !arena_bit(arena->node_bits, pgno)) {
        return SAP_ERROR;
    }
    uint8_t *slab = arena_page(arena, pgno);
    SlabShape shape = slab_shape(arena, units);
    uint32_t size = units * ARENA_NODE_UNIT;
    if (load_u16le(slab + SLAB_UNITS) != units || offset < shape.first ||
        (offset - shape.first) % size != 0 || (offset - shape.first) / size >= shape.slots) {
        return SAP_ERROR;
    }
    uint32_t slot = (offset - shape.first) / size;
    uint32_t used = load_u16le(slab + SLAB_USED);
    if (shape.slots > 1) {
        uint8_t *byte = slab + SLAB_BITS + slot / 8;
        if ((*byte >> (slot % 8) & 1) == 0) {
            return SAP_ERROR;
        }
        *byte = (uint8_t)(*byte & ~(1u << (slot % 8)));
    }
    SAP_ASSERT(used > 0);
    store_u16le(slab + SLAB_USED, (uint16_t)(used - 1));
    if (used == shape.slots) {
        list_push(arena, slab, pgno);
    }
    if (used == 1) {
        list_remove(arena, slab);
        arena_clear_bit(arena->node_bits, pgno);
        arena_free_locked(arena, pgno, 1);
    }
    return SAP_OK;
}

int sap_arena_free_node(SapMemArena *arena, uint32_t no, uint32_t size)
{
    if (arena == NULL || (no & ARENA_NODE_BIT) == 0 || !node_size_valid(arena, size)) {
        return SAP_ERROR;
    }
    uint32_t at = no & ~ARENA_NODE_BIT;
    mutex_lock(&arena->lock);
    int rc = free_node_locked(arena, at / units_per_page(arena),
                              at % units_per_page(arena) * ARENA_NODE_UNIT, node_units(size));
    mutex_unlock(&arena->lock);
    return rc;
}

int sap_arena_free_node_ptr(SapMemArena *arena, void *node, uint32_t size)
{
    if (arena == NULL || node == NULL || !node_size_valid(arena, size)) {
        return SAP_ERROR;
    }
    mutex_lock(&arena->lock);
    int rc = SAP_ERROR;
    uint32_t pgno = arena_find_page(arena, node);
    if (pgno != 0 && arena_page_is_live(arena, pgno)) {
        uint32_t offset = (uint32_t)((uintptr_t)node - (uintptr_t)arena_page(arena, pgno));
        rc = free_node_locked(arena, pgno, offset, node_units(size));
    }
    mutex_unlock(&arena->lock);
    return rc;
}
