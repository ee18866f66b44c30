/* worker_impl.h - what a worker is, for the files that implement it.
 *
 * A world in memory is in exactly one place, by its state:
 *
 *   HOT_IDLE       nowhere but in the table
 *   HOT_LOADED     `chosen`, while a step looks at hints
 *   HOT_RUNNING    `running`: its job is the executor's
 *   HOT_READY      `ready`: what it has done waits for a batch
 *   HOT_SUBMITTED  `batch`
 *   HOT_ATTENTION  `attention`: something is to be said in its meta row
 *
 * A world that was lost while its job runs has left the table and is in `lost` until the job ends. */
#ifndef SAPLING_UNIVERSE_WORKER_IMPL_H
#define SAPLING_UNIVERSE_WORKER_IMPL_H

#include "store/blob.h"
#include "universe/adapter.h"
#include "universe/effect_reaper.h"
#include "universe/hot.h"
#include "universe/meters.h"
#include "universe/resolver.h"
#include "universe/timers.h"

enum {
    BATCH_WORLDS = 24, /* two guards each, of SAP_STORE_MAX_GUARDS */
    HINTS_AT_ONCE = 128,
    SKIPPED = 1024, /* worlds that are left alone for a while */
};

/* The worlds of a transaction: BATCH_IDLE (there is none), BATCH_RUN (to be submitted) or BATCH_UNKNOWN
 * (submitted, and nobody knows whether it was committed: the heads decide). */
typedef enum BatchState { BATCH_IDLE, BATCH_RUN, BATCH_UNKNOWN } BatchState;

/* First in, first out. */
typedef struct HotList {
    HotWorld *first;
    HotWorld *last;
    uint32_t count;
} HotList;

void hot_list_add(HotList *list, HotWorld *world);
void hot_list_remove(HotList *list, HotWorld *world);

/* A world that this worker does not look at again before a time: another's, or one without a module. */
typedef struct SkippedWorld {
    uint64_t hash;
    uint64_t until_ns; /* boot time */
} SkippedWorld;

/* A role that one worker of the universe has at a time, such as the reaper: this worker's lease of it, and
 * when the worker next tries to take it. */
typedef struct RoleHolder {
    Lease lease; /* epoch 0: not held */
    uint64_t try_at_ns;
} RoleHolder;

/* A worker that is assigned worlds and is not there. */
typedef struct AbsentWorker {
    UniverseName name;
    uint64_t since_ns; /* boot time when it was missed first; 0: nobody */
} AbsentWorker;

enum { ABSENT_WORKERS = 64 };

typedef struct Orchestrator {
    RoleHolder role;
    uint64_t next_ns;
    AbsentWorker absent[ABSENT_WORKERS];
    RowKey resume_from; /* where looking for worlds to resume goes on; len 0: at the first */
} Orchestrator;

typedef struct Reaper {
    RoleHolder role;
    uint64_t next_ns;
    BlobCollector collector;
    uint64_t collect_at_ns; /* boot time of the next look at the blobs */
    EffectReaper effects;
    uint64_t damage_told_ns; /* boot time from which on damaged rows are logged again */
} Reaper;

/* What the roles of timers and effects have. */
typedef struct Serving {
    TimerWorker timers;
    Buf kinds;        /* ServedKind* */
    Adapter *adapter; /* NULL: the role was not stepped yet */
    FabricServer fabric;
    uint64_t damage_told_ns; /* as of the reaper, of timers */
} Serving;

/* The world whose handlers the thread of SAP_ROLE_WORLDS runs itself, for the thread that renews. */
typedef struct InlineRun {
    Mutex lock;
    HotWorld *world; /* NULL: none runs */
    bool marked;     /* its meta row has been made to say that it is stuck */
} InlineRun;

struct SapWorker {
    SapUniverse *universe;
    Session session;
    CycleLimits limits;
    Executor executor;
    InlineRun inline_run;
    uint32_t max_worlds;
    uint32_t max_batch;
    uint64_t max_memory;
    uint64_t max_idle_ns;
    uint64_t max_handler_ns;

    HotTable hot;
    HotList chosen;
    HotList running;
    HotList ready;
    HotList attention;
    HotList lost;
    RowKey hint_from; /* where the next look at the hints begins; len 0: at the first */
    uint32_t
        lower_from; /* the priority with which the next look at lower ones begins, if above the first */
    uint64_t hints_version;        /* of the last look that began at the first */
    uint64_t hints_damage_told_ns; /* boot time from which on damaged hints are logged again */
    uint64_t retry_at_ns; /* boot time: a world that waits is tried again, at the earliest */
    SAP_ATOMIC(bool) stepping;
    uint64_t pokes; /* of the store, before the last step looked at its jobs */
    SkippedWorld skipped[SKIPPED];
    BatchState batch_state;
    HotWorld *batch[BATCH_WORLDS];
    uint32_t batch_count;
    uint64_t taken_mark;   /* of the last lease that was acquired; 0: it is known to be durable */
    uint64_t mark;         /* of the last commit; 0: it is known to be durable */
    uint64_t steps_unsure; /* of commits that are not known to be durable */
    SapWorkerStats stats;

    Resolver resolver;
    Orchestrator orchestrator;
    Reaper reaper;
    Serving serving;
};

static inline Meters *meters_of(const SapWorker *worker)
{
    return &worker->universe->meters;
}

/* ---- hints.c: which worlds have something to do ---------------------------------------------- */

/* Reads hints and makes worlds ready to run, `limit` at most: they are in `chosen`, loaded. */
int worker_choose(SapWorker *worker, uint32_t limit);

/* ---- batch.c: what has been done becomes true ------------------------------------------------ */

/* Moves worlds whose handlers have ended from `ready` into the batch. */
void batch_fill(SapWorker *worker);
/* Submits it until it is committed, given up, or of unknown outcome. */
int batch_submit(SapWorker *worker);
/* After an unknown outcome: each world's head says what happened. */
int batch_resolve(SapWorker *worker);
/* Ends it: every world of it has committed, or none. */
void batch_end(SapWorker *worker, bool committed);
/* The last commit is durable after this. */
int batch_settle(SapWorker *worker);

/* ---- worker.c -------------------------------------------------------------------------------- */

/* Forgets a world, whatever it is doing. Its lease is not given back. */
void worker_drop(SapWorker *worker, HotWorld *world);
/* The same for one that others have taken. */
void worker_fence(SapWorker *worker, HotWorld *world);
/* Whether the code of a transaction says that the world is others' by now, or that its rows are damaged:
 * then it is forgotten, and the others go on. */
bool worker_lost(SapWorker *worker, HotWorld *world, int rc);
/* Logs a row that does not decode. world NULL: nobody knows whose it is. */
void worker_note_damage(const SapWorker *worker, const char *what, const UniverseName *world);
/* The same of rows that a role meets again and again: once an hour. */
void worker_note_damage_hourly(const SapWorker *worker, const char *what, uint64_t *again_at_ns);
/* A world that was chosen does not run after all. */
void worker_unchoose(SapWorker *worker, HotWorld *world);
/* A cycle has ended, with or without a commit: its world is idle, or wants attention. */
void worker_cycle_ended(SapWorker *worker, HotWorld *world, bool committed);
/* The world to be given back first. NULL: none does nothing. */
HotWorld *worker_oldest_idle(const SapWorker *worker);
/* Gives a world back that does nothing. SAP_OK also if it was lost. */
int worker_give_back(SapWorker *worker, HotWorld *world);
/* Pauses a world that cannot go on. */
int worker_pause(SapWorker *worker, HotWorld *world, const char *reason);

/* The time that the world's module has for a call, or the worker's. */
uint64_t worker_longest_run(const SapWorker *worker, const HotWorld *world);
/* A handler that runs for too long keeps its world, and whoever looks at the world sees why. */
int worker_mark_stuck(SapWorker *worker, HotWorld *world);
/* SAP_OK: its lease stands. Who pauses, deletes or resumes a stuck world ends what runs. */
int worker_check_stuck(SapWorker *worker, const HotWorld *world);

/* ---- inline.c: handlers in the thread that steps the worker ----------------------------------- */

/* Makes it the worker's executor. SAP_NOMEM. */
int inline_init(SapWorker *worker);
void inline_release(SapWorker *worker);
/* By the thread that renews, while the other may be in a handler: marks its world as stuck, or tells the
 * handler that nobody waits for it any more. */
void inline_check(SapWorker *worker);

/* ---- role.c, orchestrator.c, reaper.c -------------------------------------------------------- */

/* Whether this worker has the role now; takes it when nobody has it. */
int role_hold(SapWorker *worker, RoleHolder *holder, const char *role, bool *held_out);
/* In a transaction that guards the lease's row, shared: SAP_FENCED unless the role is still held. */
void role_guard(const RoleHolder *holder, UniverseGuard *guard_out);
int role_check(RoleHolder *holder, SapStoreTxn *txn);
int orchestrator_step(SapWorker *worker, bool *busy_out);
int reaper_step(SapWorker *worker, bool *busy_out);

/* ---- serve.c: timers and effects ------------------------------------------------------------- */

void serving_init(SapWorker *worker);
/* What was performed has its receipt, as far as that can be: before the session ends. */
void serving_settle(SapWorker *worker);
void serving_release(SapWorker *worker);
int timers_step(SapWorker *worker, bool *busy_out);
int effects_step(SapWorker *worker, bool *busy_out);

#endif
