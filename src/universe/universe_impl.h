/* universe_impl.h - what a universe and a worker are, for the files that implement universe.h. */
#ifndef SAPLING_UNIVERSE_UNIVERSE_IMPL_H
#define SAPLING_UNIVERSE_UNIVERSE_IMPL_H

#include "common/clock.h"
#include "common/random.h"
#include "common/sync.h"
#include "sapling/universe.h"
#include "universe/ingress.h"
#include "universe/lease.h"
#include "universe/producer.h"

/* What reply_to begins with where a caller outside waits; the id of the item follows. */
#define UNIVERSE_REPLY_OUTSIDE "outside:"

struct SapUniverse {
    SapStore *store;
    bool owns_store;
    const Clock *clock;
    const Random *random;
    uint32_t number;
    Producer producer; /* of what callers outside send */
    Combiner combiner;
    Mutex lock;       /* of the field below */
    uint32_t workers; /* open */
};

/* A universe on a store that the caller keeps open: for the simulator and tests. Store, clock and random
 * source (NULL: the system's) are borrowed until it is closed. */
int universe_open_on(SapStore *store, const Clock *clock, const Random *random, uint32_t number,
                     SapUniverse **universe_out);

/* What a request borrows: the canonical payload, and the texts of the caller's. */
typedef struct IngressItem {
    Buf payload;
    Digest hash;
    Digest blob;
    Buf reply_to;
} IngressItem;

/* Checks an item from outside and makes the request of it, with its seq; a payload above 64 KiB is put as
 * a blob first. *request_out borrows *made_out and what `item` names. ingress_item_release() in any
 * case. */
int ingress_item_make(SapUniverse *universe, const char *world, const SapIngress *item,
                      IngressItem *made_out, IngressRequest *request_out);
void ingress_item_release(IngressItem *made);

/* The module of that name. NULL: this process has none. */
const SapWorldModule *universe_module_find(const UniverseName *name);

/* Frees the worker as if its process had died: nothing is given back. NULL is accepted. */
void worker_abandon(SapWorker *worker);

/* Clears up after workers that have died: see lease_clear_dead(). */
int worker_clear_dead(SapWorker *worker);

/* Pauses, in place of whoever holds `lease`, a world that cannot go on. SAP_FENCED: it is no longer the
 * holder's to pause. */
int world_pause_held(SapUniverse *universe, const Lease *lease, const char *reason);

#endif
