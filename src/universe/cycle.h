/* cycle.h - one world in a worker's memory, and one cycle of it.
 *
 *   cycle_load     reads what waits for the world
 *   cycle_begin    opens the transaction of its private state and makes a job of what was read
 *   (the executor runs the job: the handler is called for each item)
 *   cycle_finish   makes the last rows of what the job has done
 *   (the worker writes the rows of several worlds in one fenced transaction)
 *   cycle_end      the outcome is known: the private state commits, or is as it was before
 *
 * Between cycle_begin and cycle_end the transaction of the private state is open. While the job runs,
 * everything below "the cycle under way" and the state belong to it. An item whose handler fails ends the
 * cycle before it; what waits after it waits until it is tried again. */
#ifndef SAPLING_UNIVERSE_CYCLE_H
#define SAPLING_UNIVERSE_CYCLE_H

#include "universe/effects.h"
#include "universe/executor.h"
#include "universe/handler.h"
#include "universe/universe_impl.h"

/* The budgets of SapWorkerOptions. */
typedef struct CycleLimits {
    uint32_t items;
    uint32_t steps;
    uint32_t effects;
    uint64_t wall_ns;
    uint32_t attempts;    /* of modules that do not say how many */
    uint32_t outstanding; /* intents, with which messages wait */
} CycleLimits;

enum { CYCLE_BYTES = 8 << 20, CYCLE_REASON = HANDLER_MESSAGE };

/* An item that a cycle has refused, for the log. */
typedef struct RejectedItem {
    uint64_t height; /* of its entry */
    char correlation[SAP_WORLD_MAX_ID + 1];
    char error[CYCLE_REASON + 1];
} RejectedItem;

typedef enum HotState {
    HOT_IDLE,
    HOT_LOADED,    /* chosen for this step; its job has not begun */
    HOT_RUNNING,   /* its job belongs to the executor */
    HOT_READY,     /* the job has ended; its rows wait for a batch */
    HOT_SUBMITTED, /* in the batch */
    HOT_ATTENTION, /* its meta row is to be changed, or it is to be paused */
} HotState;

typedef struct HotWorld {
    struct HotWorld *next_same; /* of those with the same hash (hot.c) */
    struct HotWorld *newer;     /* in the order of their last use */
    struct HotWorld *older;
    struct HotWorld *next; /* in the worker's list of its state */
    HotState state_now;
    uint64_t hash; /* of its name */
    Lease lease;
    WorldBirth birth;
    const SapWorldModule *module;
    struct ResolvedModule *resolved; /* the same, if the worker's host made it; see resolver.h */
    WorldState *state;               /* NULL: to be restored */
    HeadRow head;                    /* as committed */
    uint64_t used_ns;                /* boot time of its last cycle */
    size_t memory;                   /* bytes that it costs, as of the last cycle */
    bool is_stuck;                   /* its status is `stuck` */
    uint64_t noted;                  /* hash of the reason in its meta row; 0: it has none */
    bool damaged;                    /* a row of its inbox does not decode */
    bool careful; /* it has the universe's one place for worlds that may end the process */

    /* Of an item that may end the process: its attempt row counts this process too, until the cycle after
     * which it does not is committed. */
    bool begun;
    uint8_t begun_seq[UNIVERSE_SEQ];
    uint32_t begun_before; /* processes that have ended since they began it */

    /* An item that failed. */
    uint8_t failed_class;
    uint8_t failed_seq[UNIVERSE_SEQ];
    uint32_t failures;                      /* of that item so far; 0: there is none */
    char correlation[SAP_WORLD_MAX_ID + 1]; /* of the item that `reason` is about */
    uint64_t retry_at_ns;                   /* boot time */

    /* The cycle under way. */
    ExecutorJob job;
    SapUniverse *universe; /* borrowed */
    CycleLimits limits;
    uint64_t started_ns; /* boot time when the executor got the job */
    uint64_t began_ns;   /* boot time when the job was seen to have begun; 0: it was not */
    uint64_t checked_ns; /* boot time of the last look at its lease while it is stuck */
    SAP_ATOMIC(bool) cancelled;
    int code;        /* of the job */
    HeadRow after;   /* the head when it is committed */
    Buf items;       /* InboxItem */
    bool more;       /* in the inbox than was read */
    bool holds_back; /* so much is outstanding that messages wait, since this lease time */
    uint64_t held_back_ns;
    uint8_t priority; /* the first of its hints' */
    WriteSet writes;
    Buf asked;   /* IntentRows: put when the cycle ends, but those that it cancels itself */
    Buf cancels; /* IntentCancel: of intents of cycles before */
    const InboxItem *item; /* whose step is written; NULL: none */
    uint64_t steps;
    Buf rejected_items; /* RejectedItem */
    uint64_t rejected;
    uint64_t failed;                /* calls */
    bool done;                      /* the last step finishes the world */
    uint8_t done_seq[UNIVERSE_SEQ]; /* of the row by which it is emptied then */
    bool waits;                     /* the machine's fault; `reason` says what */
    bool pause;                     /* it cannot go on; `reason` says why */
    char reason[CYCLE_REASON + 1];
} HotWorld;

int cycle_world_make(const Lease *lease, HotWorld **world_out);
/* What it costs, its state included. */
size_t cycle_world_memory(const HotWorld *world);
/* Whatever is under way is aborted; its job does not run. NULL is accepted. */
void cycle_world_free(HotWorld *world);

/* A hint of this world that was read before cycle_load() goes with the cycle. */
int cycle_add_hint(HotWorld *world, const RowKey *hint, uint8_t priority);

/* Reads items in the order of their seqs, across the classes. */
int cycle_load(HotWorld *world, SapStore *store, SapStoreTxn *newest, const CycleLimits *limits);

/* What was read, and the hints, are forgotten: the cycle does not begin. */
void cycle_forget(HotWorld *world);

/* The intents of earlier cycles that this one cancels. */
IntentCancel *cycle_cancels(const HotWorld *world, uint32_t *count_out);

/* How many bytes were read. */
size_t cycle_loaded_bytes(const HotWorld *world);

/* The first item that was read. NULL: there is none. */
const InboxItem *cycle_first_item(const HotWorld *world);

/* Makes world->job. SAP_NOMEM: nothing has happened. */
int cycle_begin(HotWorld *world, SapUniverse *universe, const CycleLimits *limits);

/* Adds to world->writes the attempt row as it was before this process began the item; `over`: nobody
 * counts any more. */
int cycle_write_attempt(HotWorld *world, bool over);

/* After the job has ended. Whether it has made anything to write is seen in world->writes. Any code but
 * SAP_OK: the cycle is aborted. */
int cycle_finish(HotWorld *world);

/* `committed`: the rows of the cycle are in the store. Otherwise the state is as it was. SAP_NOMEM: they
 * are, but the private state could not follow: it is gone, and will be restored. */
int cycle_end(HotWorld *world, bool committed);

#endif
