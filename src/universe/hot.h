/* hot.h - the worlds that a worker has in memory: found by name, and in the order of their last use. */
#ifndef SAPLING_UNIVERSE_HOT_H
#define SAPLING_UNIVERSE_HOT_H

#include "universe/cycle.h"

/* Worlds with the same low bits of their hashes. */
typedef struct HotBucket {
    HotWorld *first;
} HotBucket;

typedef struct HotTable {
    HotBucket *buckets;
    uint32_t bucket_count; /* a power of two */
    uint32_t count;
    HotWorld *newest;
    HotWorld *oldest;
    size_t memory; /* of the states, as of their last cycles */
} HotTable;

/* SAP_NOMEM. The caller owns *table: hot_release(), when it has no worlds. */
int hot_init(HotTable *table);
void hot_release(HotTable *table);

/* NULL: it is not there. */
HotWorld *hot_find(const HotTable *table, const UniverseName *name);

/* The world becomes the newest; its name is not there yet. */
void hot_add(HotTable *table, HotWorld *world);
/* The world stays the caller's. */
void hot_remove(HotTable *table, HotWorld *world);

/* The world was used just now, and takes this many bytes. */
void hot_used(HotTable *table, HotWorld *world, size_t memory);

/* The one that was not used for the longest time, of those that do nothing and do not wait for another
 * attempt, whose time and count would be lost. One whose attempt was due before `due_ns`, of boot time,
 * does not wait: whoever stopped the world has taken its hints away. NULL: there is none. */
HotWorld *hot_oldest_idle(const HotTable *table, uint64_t due_ns);

/* The same of those that wait for something that the machine lacks, of which nothing is counted. */
HotWorld *hot_oldest_waiting(const HotTable *table);

#endif
