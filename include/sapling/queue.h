/* queue.h - a durable queue in a file, and nothing else.
 *
 *     SapQueue *q;
 *     sap_queue_open("work.db", NULL, &q);
 *     sap_queue_push(q, "hello", 5, NULL, NULL);
 *
 *     SapQueueMessage *m;
 *     if (sap_queue_claim(q, 0, 1000, &m) == SAP_OK) {
 *         ... m->payload, m->payload_len ...
 *         sap_queue_ack(q, m);
 *     }
 *     sap_queue_close(q);
 *
 * A push returns when the message is on disk. A claim leases the oldest message that nobody holds;
 * ack removes it, on disk when it returns; fail lets it come again after a wait, and after too many
 * failures puts it among the dead letters. A claim that is neither acknowledged nor renewed in time
 * goes to the next who asks: each message is delivered at least once.
 *
 * After fork() a queue in a file is the parent's: in the child every call returns SAP_ERROR, and
 * sap_queue_close() only frees it (sapling.h, PROCESSES).
 *
 * Any number of threads may use one queue. Several queues may share a DB: names are kept in it.
 * The messages are those of sapling/runner_v0.h, in the inbox of the worker that the name stands
 * for. */
#ifndef SAPLING_QUEUE_H
#define SAPLING_QUEUE_H

#include <stdint.h>

#include "sapling/runner_v0.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct SapQueue SapQueue;

/* Zero bytes are the defaults. */
typedef struct SapQueueOptions {
    uint32_t size;              /* sizeof the struct; see version.h */
    const char *name;           /* NULL: "default"; 1 to 255 bytes */
    uint32_t lease_ms;          /* 0: 30000 */
    uint32_t retry_budget_max;  /* failures, then it is a dead letter; 0: 10 */
    const SapOpenOptions *file; /* of the DB; NULL: the defaults, created if missing */
    SapRunnerV0TimeHooks time;  /* for tests */
    /* The wait after a failure, doubled with each up to the longest, with jitter: as the fields of
     * SapRunnerV0Policy. SAP_ERROR: a first wait above the longest, or that below 0. */
    int64_t retry_backoff_ms;     /* 0: 100; below 0: none */
    int64_t retry_backoff_max_ms; /* 0: 60000 */
    /* Called by the thread whose call made the change, after the commit, with no lock held: they
     * may use the queue, but not close it. Claims and fail report each message that they make a
     * dead letter, whatever the reason: it failed or its lease expired too often, or its row is not
     * a message. `log` gets DEAD_LETTERED, REQUEUED (fail: it comes again), LEASE_TIMEOUT and
     * DUPLICATE; `replay` gets DEAD_LETTER and REQUEUE. What a claim reports need not be on disk
     * yet: after a crash it may happen and be reported again. */
    sap_runner_v0_log_sink log; /* NULL: none */
    void *log_ctx;
    sap_runner_v0_replay_hook replay; /* NULL: none */
    void *replay_ctx;
} SapQueueOptions;

/* Opens the queue in the DB in the file `path`. The caller owns *queue_out. The codes of
 * db_open_path(); SAP_CONFLICT: the file has another version of the runner's tables; SAP_EXISTS:
 * its tables 1 to 7 are not the runner's (sap_runner_v0_bootstrap_dbis()), it is a store's file
 * (store.h), or it has a row queue.name.<name> in table 0 that no queue has written; nothing was
 * changed. */
SAP_API int sap_queue_open(const char *path, const SapQueueOptions *options, SapQueue **queue_out);
/* The same in a DB that is open, which must outlive the queue. */
SAP_API int sap_queue_open_db(SapEnv *db, const SapQueueOptions *options, SapQueue **queue_out);
/* Claims that wait for a message return SAP_NOTFOUND; no other call may be under way. Messages that
 * are still claimed stay leased until their time is over; free them with sap_queue_release(), which
 * needs no queue. Accepts NULL. SAP_BUSY: a transaction is open; the queue is too. */
SAP_API int sap_queue_close(SapQueue *queue);
/* The DB, for everything else. */
SAP_API SapEnv *sap_queue_db(SapQueue *queue);
/* The worker whose inbox it is. */
SAP_API int64_t sap_queue_worker(SapQueue *queue);

/* Zero bytes are the defaults. */
typedef struct SapQueuePushOptions {
    uint32_t size;  /* sizeof the struct; see version.h */
    const void *id; /* NULL: one is made */
    uint32_t id_len;
    const void *trace_id; /* NULL: none */
    uint32_t trace_id_len;
    int dedupe;        /* 1: no message if this queue handled one of this id within a day */
    int high_priority; /* 1: before all that are not */
    int no_wait;       /* 1: return before it is on disk */
    int64_t delay_ms;  /* 0: at once */
    uint64_t *seqs;    /* of push_many: room for the number of each; NULL: they are not wanted */
} SapQueuePushOptions;

/* *seq_out (may be NULL) is its number; with a delay that of its timer, it gets one of its own when
 * it comes. SAP_FULL: too long, or no room on disk. SAP_IO: see db_open_path(). SAP_BUSY, here and
 * below: this thread has a write transaction open. */
SAP_API int sap_queue_push(SapQueue *queue, const void *payload, uint32_t len,
                           const SapQueuePushOptions *options, uint64_t *seq_out);
/* All in one commit, or none. An id in the options is for one message: SAP_ERROR with more. */
SAP_API int sap_queue_push_many(SapQueue *queue, const void *const *payloads, const uint32_t *lens,
                                uint32_t count, const SapQueuePushOptions *options);

/* A claimed message. */
typedef struct SapQueueMessage {
    const void *id;
    uint32_t id_len;
    const void *trace_id; /* NULL: none */
    uint32_t trace_id_len;
    const void *payload;
    uint32_t payload_len;
    uint64_t seq;
    uint32_t attempts;   /* this one included */
    int64_t sent_ms;     /* when it was pushed */
    int64_t deadline_ms; /* of the lease */
    int64_t due_ms; /* of peek: when it will come, `seq` is its timer's, with bit 63 unless it has
                          * high priority; 0: it is there */
    SapRunnerV0Claim claim;
} SapQueueMessage;

/* Waits up to timeout_ms (0: not at all; UINT32_MAX: for ever). lease_ms 0: that of the queue. The
 * caller owns *message_out: ack, fail or release. SAP_NOTFOUND: there was none in time. */
SAP_API int sap_queue_claim(SapQueue *queue, uint32_t lease_ms, uint32_t timeout_ms,
                            SapQueueMessage **message_out);
/* Up to `max` at once, and no more than 1024; waits until there is one. */
SAP_API int sap_queue_claim_many(SapQueue *queue, uint32_t lease_ms, uint32_t timeout_ms,
                                 SapQueueMessage **messages, uint32_t max, uint32_t *count_out);

/* Renews the lease: it lasts lease_ms from now (0: that of the queue). SAP_CONFLICT: it has passed
 * to another. */
SAP_API int sap_queue_touch(SapQueue *queue, SapQueueMessage *message, uint32_t lease_ms);
/* Done: the message is gone. Frees `message`, whatever it returns. SAP_CONFLICT: the lease has
 * passed to another, who will handle it again. */
SAP_API int sap_queue_ack(SapQueue *queue, SapQueueMessage *message);
/* In one commit. Frees all of them, whatever it returns. SAP_CONFLICT: some of the leases have
 * passed to others; the rest is done. SAP_ERROR: one of them is NULL; none is done. */
SAP_API int sap_queue_ack_many(SapQueue *queue, SapQueueMessage **messages, uint32_t count);
/* Not done: it comes to the tail again after a wait, or, when its retries are used up, is put among
 * the dead letters with `rc`. delay_ms 0: the wait that the queue's options say; above 0: that
 * long; below 0: at once. Its failed attempts stay counted while it waits. A claim whose lease
 * expired has failed too, and the message can be claimed again without a further wait. Frees
 * `message`, whatever it returns. */
SAP_API int sap_queue_fail(SapQueue *queue, SapQueueMessage *message, int rc, int64_t delay_ms);
/* Not tried: it waits in its place again as if it had not been claimed, and the attempt does not
 * count. Frees `message`, whatever it returns. */
SAP_API int sap_queue_put_back(SapQueue *queue, SapQueueMessage *message);
/* Frees `message` and leaves its lease to expire. Accepts NULL, also for the queue. */
SAP_API void sap_queue_release(SapQueue *queue, SapQueueMessage *message);

/* A claimed message once more, by what identifies its claim (m->seq and m->claim.token), perhaps in
 * another process than that which claimed it. The caller owns *message_out: touch, then ack, fail,
 * put back or release. SAP_CONFLICT: the lease has passed to another, or the message is gone. */
SAP_API int sap_queue_resume(SapQueue *queue, uint64_t seq, uint64_t token,
                             SapQueueMessage **message_out);

/* From any thread: claims that wait, or are about to, return SAP_NOTFOUND, and from now on none
 * waits. Accepts NULL. */
SAP_API void sap_queue_interrupt(SapQueue *queue);

typedef struct SapQueueStat {
    uint64_t ready; /* claimable now, those whose delay is over included */
    uint64_t leased;
    uint64_t delayed; /* will come at a time, those that wait for their next attempt included */
    uint64_t dead_letters;
    int64_t oldest_ms;    /* when the first that is ready was pushed; 0: none is */
    uint64_t retrying;    /* of the delayed: failed, and wait for their next attempt */
    uint64_t reserved[3]; /* 0; see version.h */
} SapQueueStat;
/* Takes time for each lease and each timer there is. */
SAP_API int sap_queue_stat(SapQueue *queue, SapQueueStat *stat_out);

/* Calls fn for each message from the first on, in order, leased ones included, then for those that
 * will come at a time (due_ms; one that has passed: it is claimable now), earliest first, until it
 * returns non-zero, which is then returned. Nothing is claimed; `attempts` of a message that is
 * not leased are those that failed. The message is borrowed for the call. */
SAP_API int sap_queue_peek(SapQueue *queue,
                           int (*fn)(const SapQueueMessage *message, int leased, void *ctx),
                           void *ctx);

/* Calls fn for each queue of the DB, in the order of names, until it returns non-zero, which is
 * then returned. A DB that never had one has none; rows that no queue has written are left
 * out. */
SAP_API int sap_queue_list(SapEnv *db, int (*fn)(const char *name, int64_t worker, void *ctx),
                           void *ctx);

#ifdef __cplusplus
}
#endif
#endif
