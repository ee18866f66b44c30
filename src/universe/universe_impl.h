/* universe_impl.h - what a universe and a worker are, for the files that implement universe.h. */
#ifndef SAPLING_UNIVERSE_UNIVERSE_IMPL_H
#define SAPLING_UNIVERSE_UNIVERSE_IMPL_H

#include "common/clock.h"
#include "common/random.h"
#include "common/sync.h"
#include "sapling/universe.h"
#include "universe/depth.h"
#include "universe/executor.h"
#include "universe/ingress.h"
#include "universe/lease.h"
#include "universe/look_cache.h"
#include "universe/meters.h"
#include "universe/producer.h"
#include "universe/schemas.h"

enum { OUTSTANDING_MOST = 10000 }; /* intents of a world, before messages wait */

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
    LookCache looks; /* of readers of states */
    SchemaCache schemas;
    void (*on_message)(const char *text, void *ctx); /* NULL: none */
    void *message_ctx;
    DepthGate depth;
    uint32_t max_inbox; /* messages that wait for a world */
    uint32_t
        max_outstanding; /* intents of a world, with which its messages wait; tests set it before
                                 they open a worker */
    Meters meters;
    /* Of the sessions of its workers, with a quarter of it as renewal and margin. 0: the defaults of
     * session.h. Tests set it before they open a worker, so that takeovers are not waited for so long. */
    uint64_t session_ttl_ns;
    SAP_ATOMIC(bool) careful;           /* a world runs that may end the process */
    SAP_ATOMIC(uint64_t) registrations; /* of modules, by this process */
    Mutex lock;                         /* of the fields below */
    uint32_t workers;                   /* open */
    uint32_t calls;                     /* public ones that are under way */
};

/* A session that asks and is nobody: for what a session is needed to read. */
void universe_asking(SapUniverse *universe, Session *session_out);

/* Around the body of each public call: the universe is not closed meanwhile. */
void universe_enter(SapUniverse *universe);
void universe_leave(SapUniverse *universe);

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
    const UniverseName *module; /* of a world that the item creates; NULL: it is there */
    bool declared;              /* the module may declare what it is to be */
    char why[JSON_SCHEMA_WHY];  /* what the module does not allow; "" */
} IngressItem;

/* Checks an item from outside and makes the request of it, with its seq; a payload above 64 KiB is put as
 * a blob first, unless the world, which the item does not create, is not there. *request_out borrows
 * *made_out and what `item` names. ingress_item_release() in any case. */
int ingress_item_make(SapUniverse *universe, const char *world, bool creates,
                      const SapIngress *item, IngressItem *made_out, IngressRequest *request_out);
void ingress_item_release(IngressItem *made);
/* SAP_BUSY: so many messages wait for the world that this one has to. Not one that was let in before. */
int universe_check_depth(SapUniverse *universe, const IngressRequest *request);

/* Frees the worker as if its process had died: nothing is given back. Its jobs are cancelled, and must
 * then end at the next poll. NULL is accepted. */
void worker_abandon(SapWorker *worker);

/* Where the worker's handlers run; before its first step. Borrowed by copy. */
void worker_set_executor(SapWorker *worker, const Executor *executor);

/* Called by an executor, from any thread, when a job has ended: ends the wait of its worker. */
void universe_poke(SapUniverse *universe);
/* The same, and the waits of timers and effects too. */
void universe_poke_all(SapUniverse *universe);

/* Changes the meta row of a world in place of whoever holds `lease`. SAP_FENCED: it is no longer the
 * holder's to change. */
typedef struct HeldChange {
    WitUniverseWorldStatus status; /* active or stuck: the lease stays. paused: it is taken away */
    const char *reason;
    /* Of a world that is paused because its handler failed; seq NULL otherwise. */
    uint8_t failed_class;
    const uint8_t *failed_seq;
    uint64_t failed_version;
} HeldChange;
int world_change_held(SapUniverse *universe, const Lease *lease, const HeldChange *held);

/* Says in the meta row of a world that nobody holds why it does not run. Does nothing if it is held, or
 * says so already. */
int world_note_free(SapUniverse *universe, const UniverseName *world, const char *reason);

/* Whether the world was paused because an older version of its module failed; resumes it if so. */
int world_resume_for(SapUniverse *universe, const UniverseName *world, const UniverseName *module,
                     uint64_t version, bool *resumed_out);

/* In the transaction of a world's last step, which guards lease and meta exclusively: nothing comes in any
 * more, the lease is free, and the reaper empties the world. */
int world_finish(UniverseTxn *txn, uint32_t universe, const UniverseName *world,
                 const uint8_t drain_seq[UNIVERSE_SEQ]);
/* A row that has expired says which world the reaper is to empty. */
int drain_put(UniverseTxn *txn, uint32_t universe, const RowKey *meta_key,
              const uint8_t seq[UNIVERSE_SEQ]);
/* Deletes tags and result of a deleted world, a part at a time. */
int world_drop_marks(SapUniverse *universe, const UniverseName *world, bool *done_out);

/* Reads a row of callers outside, and waits for it for so long. `read` makes the answer; SAP_NOTFOUND:
 * there is none yet. */
typedef int (*RowRead)(SapStoreTxn *txn, uint32_t universe, const RowKey *key,
                       SapReply **reply_out);
int universe_wait_row(SapUniverse *universe, const RowKey *key, uint64_t timeout_ns, RowRead read,
                      SapReply **reply_out);
/* The reply of that row of the table of replies: a RowRead. */
int reply_read(SapStoreTxn *txn, uint32_t universe, const RowKey *key, SapReply **reply_out);
/* Counts what became of a call that enqueued. */
void universe_count_enqueue(SapUniverse *universe, int rc, const IngressRequest *request,
                            uint64_t took_ns);
/* A reply with a copy of the payload. SAP_NOMEM. */
int reply_make(const SapReply *fields, SapReply **reply_out);

/* What sap_world_info() says, in a transaction. */
int world_info_read(SapStoreTxn *txn, uint32_t universe, const UniverseName *world,
                    SapWorldInfo *info);

/* The next part of emptying a deleted world. */
int world_drain_some(SapUniverse *universe, const UniverseName *world, uint32_t limit,
                     uint32_t *drained_out, bool *done_out);

#endif
