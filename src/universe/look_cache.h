/* look_cache.h - copies of states that were made for readers, kept for the next one.
 *
 * A copy is made of the journal of its world. The next reader of that world needs only the entries since: the
 * chain of digests says whether they follow. A copy belongs to one reader at a time, or to the cache. */
#ifndef SAPLING_UNIVERSE_LOOK_CACHE_H
#define SAPLING_UNIVERSE_LOOK_CACHE_H

#include "common/sync.h"
#include "universe/journal.h"

enum { LOOKS_KEPT = 32 };

/* Bytes of one copy that is kept, and of all. */
#define LOOK_MOST  (UINT64_C(8) << 20)
#define LOOKS_MOST (UINT64_C(16) << 20)

typedef struct KeptLook {
    UniverseName world; /* empty: the place is free */
    uint64_t used;      /* the greatest was given back last */
    size_t memory;
    JournalView view;
} KeptLook;

typedef struct LookCache {
    Mutex lock;
    uint64_t uses;
    KeptLook kept[LOOKS_KEPT];
} LookCache;

int look_cache_init(LookCache *cache);
void look_cache_release(LookCache *cache);

/* The newest durable state: codes are those of journal_look_at(). The caller owns view_out->state, and gives it
 * back as it was. */
int look_take(LookCache *cache, SapStore *store, uint32_t universe, const UniverseName *world,
              JournalView *view_out);
/* Takes ownership of the state. */
void look_give(LookCache *cache, const UniverseName *world, const JournalView *view);

#endif
