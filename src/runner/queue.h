/* queue.h - a durable queue as the inbox of a worker: what the files behind sapling/queue.h share.
 *
 *   queue.c        names, open and close, push, the ends of a claim
 *   queue_claim.c  claims, and waiting for something to claim
 *   queue_look.c   what there is, without claiming it
 *
 * Invariants:
 *  1. A name stands for one worker for ever: its row is written once, with a number that no other
 *     name has. The numbers begin above those that programs give their own workers.
 *  2. No message is handed out whose push a crash could still take back: a consumer acts on the
 *     outside. The claim itself may be lost: then the message is claimed again.
 *  3. Whoever waits looks again when something is put into the inbox, when a lease or a timer that
 *     it knows of is due, and after QUEUE_IDLE_MAX_MS in any case. A ring wakes one sleeper; one
 *     that leaves while something is due passes the ring on.
 *  4. Every message that a call of the queue makes a dead letter is reported after the commit, with
 *     no lock held.
 *  5. No lock of the queue is held while the DB is used, and no write transaction is begun to find
 *     out that there is nothing to do. */
#ifndef SAPLING_RUNNER_QUEUE_H
#define SAPLING_RUNNER_QUEUE_H

#include "common/relaxed.h"
#include "common/sync.h"
#include "runner/reports.h"
#include "sapling/env.h"
#include "sapling/queue.h"
#include "sapling/sapling.h"

#include <stdbool.h>

enum { QUEUE_IDLE_MAX_MS = 1000 };

#define QUEUE_WORKERS (INT64_C(1) << 32) /* workers above are queues */

struct SapQueue {
    SapEnv *db;
    bool owns_db;
    int64_t worker;
    uint64_t owner; /* of leases: this queue object, and no other */
    uint64_t id_prefix;
    RelaxedU64 id_next;
    uint32_t lease_ms;
    uint32_t retry_budget_max;
    int64_t retry_backoff_ms; /* below 0: none */
    int64_t retry_backoff_max_ms;
    SapRunnerV0TimeHooks time;
    Reports reports;

    Mutex lock; /* what follows */
    Cond rung;  /* also: `inside` has become 0 */
    uint64_t rings;
    uint32_t inside;  /* calls of claim */
    bool closing;     /* or interrupted: nobody is to wait */
    bool watch_begun; /* there may be watches to remove */
    bool watching;    /* all of them are there */
    /* No lease of the worker expires before, as far as this queue knows. It is raised only within a
     * write transaction that has looked at all leases, before its commit, so that no deadline of a
     * later commit is overwritten. Leases of other handles it learns of within
     * QUEUE_IDLE_MAX_MS, and before it says that there is nothing to claim. */
    int64_t quiet_until_ms;
};

/* Returns whether calls may use it: this process must have opened it. */
static inline bool queue_usable(const SapQueue *queue)
{
    return queue != NULL && !env_is_foreign(queue->db);
}

int64_t queue_now_ms(const SapQueue *queue);

/* at_ms + by_ms, or the end of time. */
int64_t queue_later(int64_t at_ms, int64_t by_ms);

/* Ends a transaction by the code of what was done in it; `wait`: until it is acknowledged. */
int queue_end(Txn *txn, int rc, bool wait);

/* As sap_queue_stat(), for any worker and time. */
int queue_stat_of(Txn *txn, int64_t worker, int64_t at_ms, SapQueueStat *stat_out);
/* Calls fn for each worker that has a message in its inbox, a timer or a dead letter, in ascending
 * order, until it returns another code than SAP_OK, which is then returned. */
int queue_workers(Txn *txn, int (*fn)(uint64_t worker, void *ctx), void *ctx);

/* As sap_queue_claim_many() and sap_queue_fail(), with another budget than the queue's; 0: that. */
int queue_claim_many(SapQueue *queue, uint32_t lease_ms, uint32_t timeout_ms, uint32_t budget,
                     SapQueueMessage **messages, uint32_t max, uint32_t *count_out);
int queue_fail(SapQueue *queue, SapQueueMessage *message, int rc, int64_t delay_ms,
               uint32_t budget);

/* A lease of this queue's ends then. */
void queue_lease_until(SapQueue *queue, int64_t at_ms, int64_t deadline_ms);

/* Wakes all who wait, and returns when the last claim has left. Nobody may come any more. */
void queue_wake_and_wait(SapQueue *queue);
/* SAP_BUSY: a write transaction has been open for seconds; the watches are there still. */
int queue_stop_watching(SapQueue *queue);

#endif
