/* look_cache.c - see look_cache.h. */
#include "universe/look_cache.h"

#include <string.h>

#include "common/assert.h"

int look_cache_init(LookCache *cache)
{
    return mutex_init(&cache->lock) ? SAP_OK : SAP_NOMEM;
}

static void free_look(KeptLook *kept)
{
    state_close(kept->view.state);
    *kept = (KeptLook){.used = 0};
}

void look_cache_release(LookCache *cache)
{
    for (int i = 0; i < LOOKS_KEPT; i++) {
        if (cache->kept[i].world.len > 0) {
            free_look(&cache->kept[i]);
        }
    }
    mutex_destroy(&cache->lock);
}

/* The copy of the world leaves the cache. False: it has none. */
static bool take_kept(LookCache *cache, const UniverseName *world, JournalView *view_out)
{
    bool found = false;
    mutex_lock(&cache->lock);
    for (int i = 0; i < LOOKS_KEPT && !found; i++) {
        KeptLook *kept = &cache->kept[i];
        found = universe_name_equal(&kept->world, world);
        if (found) {
            *view_out = kept->view;
            *kept = (KeptLook){.used = 0};
        }
    }
    mutex_unlock(&cache->lock);
    return found;
}

/* Whether the copy is of this very world, and not of one of the same name that was deleted. */
static bool is_same_world(const WorldBirth *a, const WorldBirth *b)
{
    return a->height == b->height && memcmp(a->seed, b->seed, sizeof a->seed) == 0;
}

int look_take(LookCache *cache, SapStore *store, uint32_t universe, const UniverseName *world,
              JournalView *view_out)
{
    JournalView view;
    WorldBirth birth;
    HeadRow head;
    if (!take_kept(cache, world, &view)) {
        return journal_look_at(store, universe, world, UINT64_MAX, view_out);
    }
    int rc = journal_peek(store, universe, world, &birth, &head);
    if (rc == SAP_OK && is_same_world(&view.birth, &birth)) {
        rc = journal_forward(store, universe, world, &view, &head);
    } else if (rc == SAP_OK) {
        rc = SAP_CORRUPT; /* of no use */
    }
    if (rc == SAP_OK) {
        view.birth = birth; /* its pin may be another */
        *view_out = view;
        return SAP_OK;
    }
    state_close(view.state);
    return rc == SAP_CORRUPT ? journal_look_at(store, universe, world, UINT64_MAX, view_out) : rc;
}

static size_t kept_memory(const LookCache *cache)
{
    size_t sum = 0;
    for (int i = 0; i < LOOKS_KEPT; i++) {
        sum += cache->kept[i].memory;
    }
    return sum;
}

/* A free place, or that of the copy which was used longest ago, or of an older one of the same world. */
static KeptLook *find_place(LookCache *cache, const UniverseName *world)
{
    KeptLook *place = &cache->kept[0];
    for (int i = 0; i < LOOKS_KEPT; i++) {
        KeptLook *kept = &cache->kept[i];
        if (universe_name_equal(&kept->world, world)) {
            return kept;
        }
        place = kept->used < place->used ? kept : place;
    }
    return place;
}

void look_give(LookCache *cache, const UniverseName *world, const JournalView *view)
{
    size_t memory = state_memory(view->state);
    if (memory > LOOK_MOST) {
        state_close(view->state);
        return;
    }
    mutex_lock(&cache->lock);
    KeptLook *place = find_place(cache, world);
    if (place->world.len > 0) {
        free_look(place);
    }
    *place = (KeptLook){*world, ++cache->uses, memory, *view};
    while (kept_memory(cache) > LOOKS_MOST) {
        KeptLook *oldest = NULL;
        for (int i = 0; i < LOOKS_KEPT; i++) {
            KeptLook *kept = &cache->kept[i];
            bool older = kept->world.len > 0 && (oldest == NULL || kept->used < oldest->used);
            oldest = older ? kept : oldest;
        }
        SAP_ASSERT(oldest != NULL);
        free_look(oldest);
    }
    mutex_unlock(&cache->lock);
}
