/* hot.c - see hot.h. */
#include "universe/hot.h"

#include "common/assert.h"
#include "common/hash.h"
#include "common/mem.h"

enum { FIRST_BUCKETS = 64 };

int hot_init(HotTable *table)
{
    *table = (HotTable){.bucket_count = FIRST_BUCKETS};
    table->buckets = (HotBucket *)mem_zalloc(MEM_UNIVERSE, FIRST_BUCKETS * sizeof *table->buckets);
    return table->buckets == NULL ? SAP_NOMEM : SAP_OK;
}

void hot_release(HotTable *table)
{
    SAP_ASSERT(table->count == 0 && table->memory == 0);
    mem_free(MEM_UNIVERSE, table->buckets, table->bucket_count * sizeof *table->buckets);
    *table = (HotTable){0};
}

static HotWorld **bucket_of(const HotTable *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)].first;
}

HotWorld *hot_find(const HotTable *table, const UniverseName *name)
{
    uint64_t hash = hash_bytes(name->text, name->len, 0);
    HotWorld *world = *bucket_of(table, hash);
    while (world != NULL && !universe_name_equal(&world->lease.name, name)) {
        world = world->next_same;
    }
    return world;
}

/* Without memory for more buckets the lists only get longer. */
static void add_buckets(HotTable *table)
{
    HotTable larger = {.bucket_count = table->bucket_count * 2};
    larger.buckets =
        (HotBucket *)mem_zalloc(MEM_UNIVERSE, larger.bucket_count * sizeof *larger.buckets);
    if (larger.buckets == NULL) {
        return;
    }
    for (uint32_t i = 0; i < table->bucket_count; i++) {
        for (HotWorld *world = table->buckets[i].first, *next = NULL; world != NULL; world = next) {
            next = world->next_same;
            world->next_same = *bucket_of(&larger, world->hash);
            *bucket_of(&larger, world->hash) = world;
        }
    }
    mem_free(MEM_UNIVERSE, table->buckets, table->bucket_count * sizeof *table->buckets);
    table->buckets = larger.buckets;
    table->bucket_count = larger.bucket_count;
}

static void link_newest(HotTable *table, HotWorld *world)
{
    world->newer = NULL;
    world->older = table->newest;
    *(table->newest != NULL ? &table->newest->newer : &table->oldest) = world;
    table->newest = world;
}

static void unlink_world(HotTable *table, HotWorld *world)
{
    *(world->newer != NULL ? &world->newer->older : &table->newest) = world->older;
    *(world->older != NULL ? &world->older->newer : &table->oldest) = world->newer;
}

void hot_add(HotTable *table, HotWorld *world)
{
    SAP_ASSERT_SLOW(hot_find(table, &world->lease.name) == NULL);
    if (table->count >= table->bucket_count) {
        add_buckets(table);
    }
    world->hash = hash_bytes(world->lease.name.text, world->lease.name.len, 0);
    HotWorld **bucket = bucket_of(table, world->hash);
    world->next_same = *bucket;
    *bucket = world;
    link_newest(table, world);
    table->memory += world->memory;
    table->count++;
}

void hot_remove(HotTable *table, HotWorld *world)
{
    HotWorld **at = bucket_of(table, world->hash);
    while (*at != world) {
        SAP_ASSERT(*at != NULL);
        at = &(*at)->next_same;
    }
    *at = world->next_same;
    unlink_world(table, world);
    SAP_ASSERT(table->count > 0 && table->memory >= world->memory);
    table->memory -= world->memory;
    table->count--;
}

void hot_used(HotTable *table, HotWorld *world, size_t memory)
{
    unlink_world(table, world);
    link_newest(table, world);
    table->memory += memory - world->memory;
    world->memory = memory;
}

HotWorld *hot_oldest_idle(const HotTable *table, uint64_t due_ns)
{
    HotWorld *world = table->oldest;
    while (world != NULL &&
           (world->state_now != HOT_IDLE || (world->waits && world->retry_at_ns >= due_ns))) {
        world = world->newer;
    }
    return world;
}

HotWorld *hot_oldest_waiting(const HotTable *table)
{
    HotWorld *world = table->oldest;
    while (world != NULL &&
           (world->state_now != HOT_IDLE || !world->waits || world->failures > 0)) {
        world = world->newer;
    }
    return world;
}
