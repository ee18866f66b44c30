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
 * ack removes it, on disk when it returns; fail puts it back, and after too many failures among the
 * dead letters. A claim that is neither acknowledged nor renewed in time goes to the next who asks:
 * each message is delivered at least once.
 *
 * Any number of threads may use one queue. Several queues may share a DB: names are kept in it.
 * The messages are those of sapling/runner_v0.h, in the inbox of the worker that the name stands for. */
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
    const char *name;           /* NULL: "default"; 1 to 255 bytes */
    uint32_t lease_ms;          /* 0: 30000 */
    uint32_t retry_budget_max;  /* failures, then it is a dead letter; 0: 4 */
    const SapOpenOptions *file; /* of the DB; NULL: the defaults, created if missing */
    SapRunnerV0TimeHooks time;  /* for tests */
} SapQueueOptions;

/* Opens the queue in the DB in the file `path`. The caller owns *queue_out. The codes of
 * db_open_path(); SAP_CONFLICT: the file has another version of the runner's tables; SAP_EXISTS: it
 * has a row queue.name.<name> in table 0 that no queue has written. */
SAP_API int sap_queue_open(const char *path, const SapQueueOptions *options, SapQueue **queue_out);
/* The same in a DB that is open, which must outlive the queue. */
SAP_API int sap_queue_open_db(SapEnv *db, const SapQueueOptions *options, SapQueue **queue_out);
/* Claims that wait for a message answer SAP_NOTFOUND; no other call may be under way. Messages that
 * are still claimed stay leased until their time is over; free them with sap_queue_release(), which
 * needs no queue. Accepts NULL. SAP_BUSY: a transaction is open; the queue is too. */
SAP_API int sap_queue_close(SapQueue *queue);
/* The DB, for everything else. */
SAP_API SapEnv *sap_queue_db(SapQueue *queue);
/* The worker whose inbox it is. */
SAP_API int64_t sap_queue_worker(SapQueue *queue);

/* Zero bytes are the defaults. */
typedef struct SapQueuePushOptions {
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
/* Done: the message is gone. Frees `message`, whatever it answers. SAP_CONFLICT: the lease has passed
 * to another, who will handle it again. */
SAP_API int sap_queue_ack(SapQueue *queue, SapQueueMessage *message);
/* In one commit. SAP_CONFLICT: some of the leases have passed to others; the rest is done. */
SAP_API int sap_queue_ack_many(SapQueue *queue, SapQueueMessage **messages, uint32_t count);
/* Not done: it goes to the tail, or comes back after delay_ms, or, when its retries are used up,
 * among the dead letters with `rc`. Frees `message`, whatever it answers. */
SAP_API int sap_queue_fail(SapQueue *queue, SapQueueMessage *message, int rc, int64_t delay_ms);
/* Not tried: it waits in its place again as if it had not been claimed, and the attempt does not
 * count. Frees `message`, whatever it answers. */
SAP_API int sap_queue_put_back(SapQueue *queue, SapQueueMessage *message);
/* Frees `message` and leaves its lease to expire. Accepts NULL, also for the queue. */
SAP_API void sap_queue_release(SapQueue *queue, SapQueueMessage *message);

/* A claimed message once more, by what identifies its claim (m->seq and m->claim.token), perhaps in
 * another process than that which claimed it. The caller owns *message_out: touch, then ack, fail, put
 * back or release. SAP_CONFLICT: the lease has passed to another, or the message is gone. */
SAP_API int sap_queue_resume(SapQueue *queue, uint64_t seq, uint64_t token,
                             SapQueueMessage **message_out);

/* From any thread: claims that wait answer SAP_NOTFOUND, and from now on none waits. */
SAP_API void sap_queue_interrupt(SapQueue *queue);

typedef struct SapQueueStat {
    uint64_t ready; /* claimable now */
    uint64_t leased;
    uint64_t delayed; /* will come at a time */
    uint64_t dead_letters;
    int64_t oldest_ms; /* when the first that waits was pushed; 0: none waits */
} SapQueueStat;
/* Takes time for each lease and each timer there is. */
SAP_API int sap_queue_stat(SapQueue *queue, SapQueueStat *stat_out);

/* Calls fn for each message from the first on, in order, leased ones included, until it answers
 * non-zero, which is then the answer. Nothing is claimed; `attempts` of a message that is not leased
 * are those that failed. The message is borrowed for the call. */
SAP_API int sap_queue_peek(SapQueue *queue,
                           int (*fn)(const SapQueueMessage *message, int leased, void *ctx),
                           void *ctx);

/* Calls fn for each queue of the DB, in the order of names, until it answers non-zero, which is then
 * the answer. A DB that never had one has none; rows that no queue has written are left out. */
SAP_API int sap_queue_list(SapEnv *db, int (*fn)(const char *name, int64_t worker, void *ctx),
                           void *ctx);

#ifdef __cplusplus
}
#endif
#endif
