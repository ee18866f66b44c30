/* resolver.h - which handler a worker has for a module: one of the process's own, or one that its host made
 * of a row of the store.
 *
 * The host (SapWorkerOptions.resolve) is asked outside of transactions. A look at hints reads, in its
 * transaction, the newest version of each module that its worlds need (resolver_note); afterwards
 * resolver_settle() asks for those that are new, and worker_find_module() answers without the store:
 *
 *   a version above those of the process, and not native   the host's handler, or none
 *   else                                                   the process's own
 *
 * So no world is run by an older version once a newer one is registered, even if this worker cannot run it.
 * What the host made is used by the worlds in memory that run it, and is released when another version took
 * its place and none of them uses it. What a worker can run is in the row of its session. */
#ifndef SAPLING_UNIVERSE_RESOLVER_H
#define SAPLING_UNIVERSE_RESOLVER_H

#include "universe/cycle.h"
#include "universe/module_rows.h"
#include "universe/session.h"

enum { RESOLVER_PLACES = 64 };

/* A handler that the host made. */
typedef struct ResolvedModule {
    UniverseName name;
    SapWorldModule module; /* its name is the one above */
    uint32_t uses;         /* worlds in memory, and slots that name it */
} ResolvedModule;

/* What is known of a name, or of one version of it that some world is pinned to. */
typedef struct ModuleSlot {
    struct ModuleSlot *next;    /* with the same place */
    struct ModuleSlot *pending; /* the next one whose `row` the host is to be asked for */
    UniverseName name;
    uint64_t pin;     /* 0: the newest */
    uint64_t look;    /* the last one that has read its version */
    uint64_t version; /* in the store; 0: none */
    bool is_native;
    bool again;             /* the host could not say: it is asked again */
    SapModule *row;         /* the host was not asked yet; owned */
    ResolvedModule *module; /* NULL: the host does not run it */
} ModuleSlot;

typedef struct Resolver {
    SapModuleResolve resolve; /* NULL: there is none, and nothing is read */
    SapModuleRelease release;
    void *ctx;
    ModuleSlot *places[RESOLVER_PLACES];
    ModuleSlot *pending;
    uint64_t look;
    RowKey list_from;       /* where listing all modules goes on; len 0: it is not under way */
    uint64_t list_at_ns;    /* boot time of the next listing */
    uint64_t registrations; /* of the universe, as of the last listing */
    bool changed;           /* the row of the session does not say what the worker has */
} Resolver;

/* A look at hints begins: versions are to be read again. */
void resolver_begin(Resolver *resolver);
/* Reads which version of the module (pin 0: the newest) the store has, once a look. */
int resolver_note(Resolver *resolver, SapStoreTxn *txn, uint32_t universe, const UniverseName *name,
                  uint64_t pin);
/* Asks the host for what was noted; outside of transactions. */
int resolver_settle(Resolver *resolver);

/* NULL: this worker does not have it. pin 0: the newest version. */
const SapWorldModule *resolver_find(const Resolver *resolver, const UniverseName *name,
                                    uint64_t pin);

/* The world runs this module from now on; NULL: none. */
void resolver_use(Resolver *resolver, HotWorld *world, const SapWorldModule *module);

/* Part of a step: finds modules that no world has needed yet, and brings the session's row in line with
 * what the worker has. */
int resolver_step(Resolver *resolver, SapUniverse *universe, Session *session);

/* Releases everything; no world uses any of it. */
void resolver_close(Resolver *resolver);

#endif
