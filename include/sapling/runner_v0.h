/* runner_v0.h - durable messages, atomic blocks, timers, retries and dead letters on one DB.
 *
 * CONCEPTS
 *
 * A message is a frame of bytes (LMSG) addressed to a worker, a number >= 0. It waits in the
 * worker's inbox, a table of the DB, until a handler has dealt with it. To deal with it a worker
 * claims it: it takes a lease, which others respect until its deadline. Success acknowledges the
 * message: it is gone. After a failure the message waits a while, as a timer, and then comes to the
 * tail of the inbox again, until its retry budget is used up; then it is kept among the dead
 * letters, from where it can be replayed. While it waits, its worker goes on with others.
 *
 * Two kinds of handlers:
 *
 *   An atomic block reads and writes rows, sends messages and arms timers through a host
 *   (SapRunnerHostV0) and does nothing else. All of it and the acknowledgement are one commit, so
 *   that a message changes state exactly once, whatever crashes. On a conflict it is run again.
 *
 *   A plain callback may do anything. It is called at least once for each message: after a crash,
 *   or when it takes longer than its lease, once more.
 *
 * Messages to one worker are handled first in, first out, high priority before the rest; one that
 * failed goes to the tail when its wait is over. Several threads may serve one inbox, then only
 * claims are in order. A message flagged DEDUPE that waits for its next attempt while another of
 * its id is handled is a duplicate when it comes back, and skipped.
 *
 * LAYERS OF THE INTERFACE
 *
 * Most programs need SapRunnerV0Worker and sap_runner_v0_send() (or only sapling/queue.h). Beneath
 * are the modules, each a few functions within a transaction of the caller's: mailbox, lease,
 * outbox, timer, dedupe, dead letters.
 *
 * CODES
 *
 * Each call lists what its codes mean there, and names which of these it returns besides. Calls
 * without a code change nothing when an argument is NULL or a runner is stopped.
 *
 *   Codes of the transaction, of calls that take one of the caller's:
 *     SAP_ERROR     an argument is NULL or makes no sense, or the transaction has ended
 *     SAP_READONLY  a change through a reader
 *     SAP_BUSY      the transaction has an open child
 *     SAP_NOMEM, SAP_FULL (no room, or all numbers are used up), SAP_IO, SAP_CORRUPT (a row that
 *     does not decode): the transaction may have part of the change, abort it.
 *   After the first three nothing has changed; nor after a code that a call lists itself, unless it
 *   says otherwise.
 *
 *   Codes of the DB, of calls that have transactions of their own:
 *     SAP_ERROR     an argument is NULL or makes no sense, or the DB is another process's (fork())
 *     SAP_BUSY      this thread has a write transaction open
 *     SAP_READONLY  the DB is open for reading
 *     SAP_NOMEM, SAP_FULL, SAP_IO, SAP_CORRUPT: the transaction under way was aborted, those before
 *     it count. After SAP_IO of a commit it is not known whether that is on disk; see
 *     sap_txn_commit().
 *
 * Out-parameters are written on SAP_OK only, unless a call says otherwise.
 *
 * Times are milliseconds since 1970. Objects are used by one thread at a time unless a call says
 * otherwise; different workers on one DB may run in different threads. Zeroed options are the
 * defaults. Everything works without threads, except start, join and groups.
 *
 * A runner does one thing at a time. While it polls, ticks or runs a step, and from start to join
 * of a worker's thread, poll_inbox, run_step, worker_tick, worker_start and both shutdowns return
 * SAP_BUSY and change nothing, whoever calls them: its handler, a hook, a sink, is_local, the
 * forwarder, another thread. (Another thread may shut a started worker down: that joins it first.
 * worker_start of one that was started is SAP_ERROR.)
 * Other runners, also of the same inbox, are not concerned. */
#ifndef SAPLING_RUNNER_V0_H
#define SAPLING_RUNNER_V0_H

#include <stddef.h>
#include <stdint.h>

/* Brings no short names: a program may have a db_close() of its own. */
#define SAP_DECLARATIONS_ONLY
#include "sapling/sapling.h"
#undef SAP_DECLARATIONS_ONLY

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Frames --------------------------------------------------------------------------------- */

/* Codes of the wire calls; elsewhere they become SAP_INVALID. */
enum {
    SAP_RUNNER_WIRE_OK = 0,
    SAP_RUNNER_WIRE_EINVAL = -1,   /* arguments, or a message that no frame can hold */
    SAP_RUNNER_WIRE_E2BIG = -2,    /* the buffer is too small; the length out is what it takes */
    SAP_RUNNER_WIRE_EFORMAT = -3,  /* bytes that break the layout */
    SAP_RUNNER_WIRE_EVERSION = -4, /* a frame of another version */
    SAP_RUNNER_WIRE_ETRUNC = -5    /* fewer bytes than the frame has */
};

/* Kinds. */
enum { SAP_RUNNER_V0_COMMAND = 0, SAP_RUNNER_V0_EVENT = 1, SAP_RUNNER_V0_TIMER = 2 };

/* Flags. HAS_FROM and HAS_TRACE say which fields there are. */
#define SAP_RUNNER_V0_DURABLE       0x01u /* sending waits until it is on disk */
#define SAP_RUNNER_V0_HIGH_PRIORITY 0x02u /* before all that are not */
#define SAP_RUNNER_V0_DEDUPE        0x04u /* a worker handles at most one of this id */
#define SAP_RUNNER_V0_REQUIRES_ACK  0x08u /* for the receiver: the sender awaits an answer */
#define SAP_RUNNER_V0_HAS_FROM      0x10u
#define SAP_RUNNER_V0_HAS_TRACE     0x20u

#define SAP_RUNNER_V0_MAX_FRAME (1u << 30)

/* A message. Its bytes are borrowed from whoever made it: decoded ones from the frame. */
typedef struct SapRunnerV0Message {
    uint8_t kind;
    uint8_t flags;
    int64_t to_worker;       /* >= 0 */
    int64_t route_worker;    /* who routed it */
    int64_t route_timestamp; /* when */
    int64_t from_worker;     /* 0 without HAS_FROM */
    const void *message_id;
    uint32_t message_id_len; /* > 0 */
    const void *trace_id;    /* NULL without HAS_TRACE */
    uint32_t trace_id_len;
    const void *payload;
    uint32_t payload_len;
} SapRunnerV0Message;

/* The bytes a frame of it takes; 0 if no frame can hold it: an unknown kind or flag, a worker below
 * 0, no id, a field without its flag, bytes that are NULL, or more than SAP_RUNNER_V0_MAX_FRAME. */
SAP_API uint32_t sap_runner_wire_v0_message_size(const SapRunnerV0Message *msg);
/* Writes the frame to buf[0..cap); *len_out is its length, or with E2BIG the length it would have
 * (buf may be NULL with cap 0). EINVAL: no frame can hold it, or an argument is NULL. With both the
 * buffer is as it was. */
SAP_API int sap_runner_wire_v0_encode_message(const SapRunnerV0Message *msg, void *buf,
                                              uint32_t cap, uint32_t *len_out);
/* Reads a frame of exactly len bytes. *msg_out borrows from it. ETRUNC, EVERSION, EFORMAT: see
 * above. EINVAL: an argument is NULL. */
SAP_API int sap_runner_wire_v0_decode_message(const void *frame, uint32_t len,
                                              SapRunnerV0Message *msg_out);

/* Kinds of intents. */
enum { SAP_RUNNER_V0_OUTBOX_EMIT = 0, SAP_RUNNER_V0_TIMER_ARM = 1 };
#define SAP_RUNNER_V0_HAS_DUE 0x01u /* a timer arm has it, an emit has not */

/* What a block wants done when it commits: send a message, now or at a time. */
typedef struct SapRunnerV0Intent {
    uint8_t kind;
    uint8_t flags;
    int64_t due_ts;
    const void *message; /* one LMSG frame */
    uint32_t message_len;
} SapRunnerV0Intent;

/* The same for intents. EINVAL, or a size of 0, also: a timer arm without HAS_DUE, or an emit with
 * it, or no message. The message is not looked at. */
SAP_API uint32_t sap_runner_wire_v0_intent_size(const SapRunnerV0Intent *intent);
SAP_API int sap_runner_wire_v0_encode_intent(const SapRunnerV0Intent *intent, void *buf,
                                             uint32_t cap, uint32_t *len_out);
/* Also checks the message within: EVERSION if it is of another version, EFORMAT if anything else is
 * wrong with it. */
SAP_API int sap_runner_wire_v0_decode_intent(const void *frame, uint32_t len,
                                             SapRunnerV0Intent *intent_out);

/* ---- Policy, clock, random, reports --------------------------------------------------------- */

/* A field that is 0 has its default, which the comments begin with: name only those that are to be
 * others. 0 always means the default. SAP_ERROR where a policy is given: a lease or a longest wait
 * below 0, or a first wait (backoff) above the longest; where only one of the two is given the
 * other follows it. */
typedef struct SapRunnerV0Policy {
    int64_t lease_ttl_ms;            /* 1000 */
    uint32_t requeue_max_attempts;   /* 4: tail slots tried when a message is put back */
    uint32_t retry_budget_max;       /* 10: failed attempts, then it is a dead letter */
    uint32_t attempt_max_retries;    /* 3: of a block, on a conflict, within one attempt */
    uint32_t attempt_backoff_us;     /* 250: before the first of them, then doubled, with jitter */
    uint32_t attempt_backoff_max_us; /* 10000 */
    uint64_t dedupe_ttl_ms;          /* 24 hours: how long ids of handled messages are remembered */
    uint32_t sweep_period_ms;        /* 1000: how often a worker removes ids that have expired */
    uint32_t sweep_max;              /* 1000: how many at once */
    /* How long a message whose attempt failed waits for the next one: between half of this and all
     * of it, doubled with each failure. An attempt that ended because its lease expired waits no
     * longer: the lease's time has passed. */
    int64_t retry_backoff_ms;     /* 100; below 0: it goes to the tail at once */
    int64_t retry_backoff_max_ms; /* 60000 */
    uint64_t reserved[6];         /* 0; see version.h */
} SapRunnerV0Policy;

SAP_API void sap_runner_v0_policy_default(SapRunnerV0Policy *policy_out);

/* Where time and sleep come from; NULL members are the system's. */
typedef struct SapRunnerV0TimeHooks {
    int64_t (*now_ms)(void *ctx);
    void (*sleep_ms)(uint32_t ms, void *ctx);
    void *ctx;
} SapRunnerV0TimeHooks;

/* Fills out[0..len); NULL where one can be given: the system's. */
typedef void (*sap_runner_v0_random_fn)(void *out, uint32_t len, void *ctx);

/* Counted since init or the last reset; depth and age are of now and stay at a reset. */
typedef struct SapRunnerV0Metrics {
    uint64_t step_attempts;
    uint64_t step_successes;
    uint64_t retryable_conflicts;    /* steps that ended with SAP_CONFLICT */
    uint64_t retryable_busy;         /* with SAP_BUSY */
    uint64_t non_retryable_failures; /* with any other code */
    uint64_t requeues;               /* failed attempts after which the message comes again */
    uint64_t dead_letter_moves;
    uint64_t step_latency_samples;
    uint64_t step_latency_total_ms;
    uint64_t step_latency_max_ms;
    uint64_t attempt_retries; /* blocks run again after a conflict */
    /* Of claims, acknowledgements and blocks, except blocks that only read. The latency includes
     * the waits for the writer lock and for the disk, which is added when it is over, and no
     * handlers that ran in between. */
    uint64_t commits;
    uint64_t commit_latency_total_us;
    uint64_t commit_latency_max_us;
    uint64_t lease_timeouts; /* leases of others found expired */
    uint64_t lease_losses;   /* own leases lost before the acknowledgement */
    uint64_t duplicates_skipped;
    uint64_t timers_dispatched;
    uint64_t timers_moved; /* to inboxes of other workers, or of this one to be tried again */
    uint64_t outbox_routed;
    uint64_t ttl_sweeps;
    uint64_t ttl_rows_swept;
    /* Messages in the inbox, those being handled included: looked at when a poll or tick begins and
     * ends, less those that were ended in between; and how long the first had been waiting at that
     * look. */
    uint64_t queue_depth;
    uint64_t queue_age_ms;
    uint64_t reserved[8]; /* 0; see version.h */
} SapRunnerV0Metrics;

/* Called after every change but a reset, with a copy; by the thread that made the change, with no
 * transaction of the runner's open. Must not block. */
typedef void (*sap_runner_v0_metrics_sink)(const SapRunnerV0Metrics *metrics, void *ctx);

typedef enum SapRunnerV0LogKind {
    SAP_RUNNER_V0_LOG_RETRYABLE_FAILURE = 0,
    SAP_RUNNER_V0_LOG_NON_RETRYABLE_FAILURE = 1,
    SAP_RUNNER_V0_LOG_REQUEUED = 2,
    SAP_RUNNER_V0_LOG_DEAD_LETTERED = 3, /* each message, and each row that is none */
    SAP_RUNNER_V0_LOG_WORKER_ERROR = 4,
    SAP_RUNNER_V0_LOG_LEASE_TIMEOUT = 5, /* someone else's, taken over */
    SAP_RUNNER_V0_LOG_LEASE_LOST = 6,    /* one's own */
    SAP_RUNNER_V0_LOG_DUPLICATE = 7,     /* skipped; detail 1: its payload differs */
    SAP_RUNNER_V0_LOG_GUEST = 8          /* host log: detail is the level, text the text */
} SapRunnerV0LogKind;

typedef struct SapRunnerV0LogEvent {
    SapRunnerV0LogKind kind;
    int64_t worker_id;          /* whose message it is, or whose dead letter */
    uint64_t seq;               /* of the inbox or timer key, or of the dead letter; 0: none */
    int rc;                     /* why */
    uint32_t detail;            /* the retry count, where a failure is disposed of */
    uint64_t attempt_id;        /* the lease's token; 0: none */
    uint64_t commit_latency_us; /* of the last commit for this message, the disk not yet; 0: none */
    const void *message_id;     /* NULL: none; borrowed for the call, as is all below */
    uint32_t message_id_len;
    const void *trace_id;
    uint32_t trace_id_len;
    const char *text; /* NULL: none */
} SapRunnerV0LogEvent;

typedef void (*sap_runner_v0_log_sink)(const SapRunnerV0LogEvent *event, void *ctx);

typedef enum SapRunnerV0ReplayKind {
    SAP_RUNNER_V0_REPLAY_INBOX_ATTEMPT = 0,
    SAP_RUNNER_V0_REPLAY_INBOX_RESULT = 1,
    SAP_RUNNER_V0_REPLAY_TIMER_ATTEMPT = 2,
    SAP_RUNNER_V0_REPLAY_TIMER_RESULT = 3,
    SAP_RUNNER_V0_REPLAY_REQUEUE = 4,
    SAP_RUNNER_V0_REPLAY_DEAD_LETTER = 5
} SapRunnerV0ReplayKind;

/* `frame` is the runner's and good for the call only: copy what is needed later. Rows of timers and
 * outbox that are no message have worker and seq of the dead letter that they became. */
typedef struct SapRunnerV0ReplayEvent {
    SapRunnerV0ReplayKind kind;
    int64_t worker_id;
    uint64_t seq; /* of the inbox key; of the timer key for timer events */
    int rc;       /* of the step; SAP_OK for attempts */
    const void *frame;
    uint32_t frame_len;
} SapRunnerV0ReplayEvent;

typedef void (*sap_runner_v0_replay_hook)(const SapRunnerV0ReplayEvent *event, void *ctx);

/* The event as a record of a log, which is such records one behind the other: magic "RPL0", u8
 * kind, s64 worker, u64 seq, s32 rc, s64 time, u32 length and bytes of the frame, little-endian.
 * `sapling queue replay-log` shows one. Writes buf[0..*len_out). SAP_FULL: it takes *len_out bytes
 * (buf may be NULL with cap 0). SAP_INVALID: no such kind, or a frame above the largest. SAP_ERROR:
 * an argument is NULL. */
SAP_API int sap_runner_v0_replay_encode(const SapRunnerV0ReplayEvent *event, int64_t time_ms,
                                        void *buf, uint32_t cap, uint32_t *len_out);
/* The first record of the bytes, which has *len_out of them; the event borrows its frame from
 * there. SAP_NOTFOUND: fewer bytes than the record has. SAP_INVALID: not a record. SAP_ERROR: an
 * argument is NULL. SAP_NOMEM. */
SAP_API int sap_runner_v0_replay_decode(const void *bytes, uint64_t len,
                                        SapRunnerV0ReplayEvent *event_out, int64_t *time_ms_out,
                                        uint32_t *len_out);

/* ---- Tables --------------------------------------------------------------------------------- */

#define SAP_RUNNER_V0_SCHEMA_KEY "runner.schema.version"

/* Opens the runner's tables, DBI 0 to 7, as the schema declares them. SAP_EXISTS: one of DBI 1 to 7
 * has rows, and no key in DBI 0 begins with "runner.", as the marker below and the high-water marks
 * do: the rows are somebody else's; or the file is a store's (store.h). SAP_ERROR: a table is there with other flags. Both change
 * nothing. Rows in DBI 0 alone are the application's state, which the runner leaves alone.
 * SAP_BUSY: a transaction is open and a table is not there yet. Codes of the DB; after them some of
 * the tables may be open: call it again. */
SAP_API int sap_runner_v0_bootstrap_dbis(SapEnv *db);

/* Compares the marker in DBI 0. SAP_CONFLICT: it is of another version, or the row is not a marker.
 * SAP_NOTFOUND: it is missing, and `bootstrap` is 0; otherwise it is written, durably. Codes of the
 * DB. */
SAP_API int sap_runner_v0_ensure_schema_version(SapEnv *db, uint16_t major, uint16_t minor,
                                                int bootstrap);

/* ---- Mailbox: messages of a worker, and claims on them -------------------------------------- */

/* Puts a frame into the inbox of the worker it is addressed to. *seq_out (may be NULL) is the
 * second part of its key. SAP_INVALID: not a message frame. SAP_EXISTS: the slots at the tail have
 * rows that the runner did not write; their numbers are used up. Codes of the transaction. */
SAP_API int sap_runner_mailbox_v0_send(SapTxnCtx *txn, const void *frame, uint32_t frame_len,
                                       uint64_t *seq_out);

/* A message that is leased. The caller owns frames of claims: sap_runner_v0_claim_release(). */
typedef struct SapRunnerV0Claim {
    uint64_t worker;
    uint64_t seq;
    uint64_t owner;
    uint64_t token; /* never given out twice */
    int64_t deadline_ms;
    uint32_t attempts;  /* this one included */
    uint64_t timer_seq; /* of the timer it was; 0: it is none */
    void *frame;
    uint32_t frame_len;
    uint64_t reserved[2]; /* 0; see version.h */
} SapRunnerV0Claim;

typedef struct SapRunnerV0ClaimOptions {
    uint32_t size;             /* sizeof the struct; see version.h */
    uint32_t retry_budget_max; /* 0: 10 */
    int64_t worker_id;
    uint64_t owner; /* not 0 */
    int64_t now_ms;
    int64_t lease_ttl_ms;   /* 0: 1000 */
    int64_t quiet_until_ms; /* no lease expires before, as an earlier report said: until then
                                * leases are not looked through; 0: not known */
    int retried_alone;      /* 1: a message that has failed before is claimed without others, so
                                * that they do not fail with it if it ends its process */
    uint32_t reserved;      /* 0 */
} SapRunnerV0ClaimOptions;

/* What a claim met on its way; counts are added to. */
typedef struct SapRunnerV0ClaimReport {
    uint64_t duplicates;    /* skipped and gone */
    uint64_t expired;       /* leases of others whose time was over */
    uint64_t dead;          /* moved to the dead letters: not a frame, or expired once too often */
    int64_t next_expiry_ms; /* the earliest deadline of all leases of the worker; INT64_MAX: none */
    uint64_t reserved[4];   /* 0; see version.h */
} SapRunnerV0ClaimReport;

/* Leases up to `max` messages that nobody holds, in order, to claims[0..*count_out); none is SAP_OK
 * with 0. report_out may be NULL. SAP_ERROR: also a worker below 0 or an owner of 0. Codes of the
 * transaction; after any code but SAP_OK there are no frames to release. */
SAP_API int sap_runner_mailbox_v0_claim(SapTxnCtx *txn, const SapRunnerV0ClaimOptions *options,
                                        SapRunnerV0Claim *claims, uint32_t max, uint32_t *count_out,
                                        SapRunnerV0ClaimReport *report_out);
SAP_API void sap_runner_v0_claim_release(SapRunnerV0Claim *claim);

/* The next four return SAP_CONFLICT when the claim's lease has passed to another, a claim of
 * anybody has found it expired, or the message is gone. SAP_INVALID: the claim's frame is not a
 * message; abort. Codes of the transaction. */

/* The message is done: row, lease and retry count go. */
SAP_API int sap_runner_mailbox_v0_ack(SapTxnCtx *txn, const SapRunnerV0Claim *claim, int64_t now_ms,
                                      uint64_t dedupe_ttl_ms);
/* The lease lasts until now_ms + lease_ttl_ms; claim->deadline_ms follows. SAP_ERROR: also a time
 * of 0 or below. */
SAP_API int sap_runner_mailbox_v0_touch(SapTxnCtx *txn, SapRunnerV0Claim *claim, int64_t now_ms,
                                        int64_t lease_ttl_ms);
/* The message goes to the tail, unleased, with one failed attempt more; *seq_out (may be NULL) is
 * its new number. SAP_EXISTS: max_slots slots at the tail were taken; their numbers are used up. */
SAP_API int sap_runner_mailbox_v0_requeue(SapTxnCtx *txn, const SapRunnerV0Claim *claim,
                                          uint32_t max_slots, uint64_t *seq_out);
/* As requeue, but it comes back only at due_ms. */
SAP_API int sap_runner_mailbox_v0_requeue_at(SapTxnCtx *txn, const SapRunnerV0Claim *claim,
                                             int64_t due_ms);

/* How many messages the inbox has, how many of them are leased, and when the first was routed (0:
 * there is none). Out-parameters may be NULL. Codes of the transaction; SAP_ERROR: also a worker
 * below
 * 0. */
SAP_API int sap_runner_mailbox_v0_stat(SapTxnCtx *txn, int64_t worker_id, uint64_t *count_out,
                                       uint64_t *leased_out, int64_t *oldest_ms_out);

/* ---- Leases on anything --------------------------------------------------------------------- */

/* Rows of the table of leases. Keys that begin with a byte below 0x80 belong to messages: choose
 * others (those of names in blocks begin with 0xFF). At every commit at most one unexpired lease
 * exists per key. Expiry, not the owner's consent, frees a lease: a slow owner can lose it, so what
 * it does under the lease must check it again in the transaction that does it. */
typedef struct SapRunnerV0Lease {
    uint64_t owner;
    int64_t deadline_ms; /* free from this instant on */
    uint32_t attempts;   /* >= 1, this one included */
    uint64_t token;      /* never given out twice */
} SapRunnerV0Lease;

/* SAP_BUSY: held and unexpired. SAP_ERROR: also an owner of 0, or a time of 0 or below. Codes of
 * the transaction, here and below. */
SAP_API int sap_runner_lease_v0_acquire(SapTxnCtx *txn, const void *key, uint32_t key_len,
                                        uint64_t owner, int64_t now_ms, int64_t ttl_ms,
                                        SapRunnerV0Lease *lease_out);
/* SAP_NOTFOUND: there is none. It may have expired. */
SAP_API int sap_runner_lease_v0_get(SapTxnCtx *txn, const void *key, uint32_t key_len,
                                    SapRunnerV0Lease *lease_out);
/* By token. SAP_CONFLICT: it is not held with this token. lease_out may be NULL. SAP_ERROR: also a
 * time of 0 or below. */
SAP_API int sap_runner_lease_v0_renew(SapTxnCtx *txn, const void *key, uint32_t key_len,
                                      uint64_t token, int64_t now_ms, int64_t ttl_ms,
                                      SapRunnerV0Lease *lease_out);
/* SAP_CONFLICT: it is not held with this token. */
SAP_API int sap_runner_lease_v0_release(SapTxnCtx *txn, const void *key, uint32_t key_len,
                                        uint64_t token);

/* ---- Outbox --------------------------------------------------------------------------------- */

/* Appends a message frame, whoever it is addressed to. *seq_out (may be NULL) is its number.
 * SAP_INVALID: not a message frame. Codes of the transaction. */
SAP_API int sap_runner_outbox_v0_append(SapTxnCtx *txn, const void *frame, uint32_t frame_len,
                                        uint64_t *seq_out);

/* Takes a frame (borrowed for the call). SAP_OK: it is delivered and may go. SAP_BUSY: not now.
 * Other codes end the drain. It is called outside of transactions. */
typedef int (*sap_runner_outbox_v0_forward_fn)(const void *frame, uint32_t frame_len, uint64_t seq,
                                               void *ctx);
/* Offers up to `max` frames from the oldest on, and removes what was taken: at least once each.
 * *sent_out (may be NULL) counts those, also after a failure. Frames for which it is SAP_BUSY stay.
 * Returns the code that ended it; codes of the DB. A frame that was delivered and could not be
 * removed is offered again. */
SAP_API int sap_runner_outbox_v0_drain(SapEnv *db, uint32_t max,
                                       sap_runner_outbox_v0_forward_fn forward, void *ctx,
                                       uint32_t *sent_out);
/* Moves up to `max` frames addressed to workers for which `is_local` returns non-zero into their
 * inboxes. Looks at no more than 4 * max rows, beginning behind *resume (0 to begin), which is
 * where the next call goes on; 0 again at the end. Rows that are not messages become dead letters
 * of worker 0, and count. Codes of the transaction, and SAP_EXISTS as for send: abort. resume and
 * routed_out may be NULL. */
SAP_API int sap_runner_outbox_v0_route(SapTxnCtx *txn, uint32_t max,
                                       int (*is_local)(int64_t worker, void *ctx), void *ctx,
                                       uint64_t *resume, uint32_t *routed_out);

/* ---- Timers --------------------------------------------------------------------------------- */

/* Arms: the frame becomes a message at due_ms. *seq_out (may be NULL) is the second part of its
 * key. SAP_INVALID: not a message frame. Codes of the transaction, here and for cancel. */
SAP_API int sap_runner_timer_v0_append(SapTxnCtx *txn, int64_t due_ms, const void *frame,
                                       uint32_t frame_len, uint64_t *seq_out);
/* Removes an armed timer, with the failed attempts of a message that waited so. SAP_NOTFOUND: it
 * has fired, or never was. */
SAP_API int sap_runner_timer_v0_cancel(SapTxnCtx *txn, int64_t due_ms, uint64_t seq);
/* Hands each of up to `max` due timers, earliest first, to `fire` outside of transactions, and
 * removes it if that returns SAP_OK and nobody else did. SAP_BUSY: it stays. Other codes end the
 * drain and are returned; codes of the DB. *fired_out (may be NULL) counts those removed, also
 * after a failure. */
typedef int (*sap_runner_timer_v0_fire_fn)(int64_t due_ms, uint64_t seq, const void *frame,
                                           uint32_t frame_len, void *ctx);
SAP_API int sap_runner_timer_v0_drain_due(SapEnv *db, int64_t now_ms, uint32_t max,
                                          sap_runner_timer_v0_fire_fn fire, void *ctx,
                                          uint32_t *fired_out);
/* Moves up to `max` due timers to the inboxes of the workers they are addressed to. Rows that are
 * not messages become dead letters of worker 0, and count. moved_out may be NULL. Codes of the
 * transaction, and SAP_EXISTS as for send: abort. */
SAP_API int sap_runner_timer_v0_move_due(SapTxnCtx *txn, int64_t now_ms, uint32_t max,
                                         uint32_t *moved_out);

/* When the earliest timer is due. SAP_NOTFOUND: none is armed. Codes of the transaction. */
SAP_API int sap_runner_scheduler_v0_next_due(SapTxnCtx *txn, int64_t *due_ms_out);
/* How long to sleep: until `due_ms`, but no longer than max_ms. */
SAP_API uint32_t sap_runner_scheduler_v0_sleep_budget(int64_t now_ms, int64_t due_ms,
                                                      uint32_t max_ms);

/* ---- Dedupe --------------------------------------------------------------------------------- */

/* Ids are remembered for each inbox by itself: what worker 1 has handled is news to worker 2.
 * SAP_ERROR: also a worker_id below 0, or no id. Codes of the transaction.
 *
 * Whether the worker has handled a message of this id whose row has not expired: 1 or 0 in
 * *seen_out; *differs_out (may be NULL): 1 if that one had another payload. */
SAP_API int sap_runner_dedupe_v0_seen(SapTxnCtx *txn, int64_t worker_id, const void *id,
                                      uint32_t id_len, const void *payload, uint32_t payload_len,
                                      int64_t now_ms, int *seen_out, int *differs_out);
/* Remembers that the worker has handled it, for ttl_ms. */
SAP_API int sap_runner_dedupe_v0_accept(SapTxnCtx *txn, int64_t worker_id, const void *id,
                                        uint32_t id_len, const void *payload, uint32_t payload_len,
                                        int64_t now_ms, uint64_t ttl_ms);
/* Removes up to `max` that have expired; *removed_out says how many. Codes of the transaction. */
SAP_API int sap_runner_dedupe_v0_sweep(SapTxnCtx *txn, int64_t now_ms, uint32_t max,
                                       uint64_t *removed_out);

/* ---- Dead letters --------------------------------------------------------------------------- */

/* A message that was given up. The frame is borrowed as a row of the transaction is. */
typedef struct SapRunnerV0DeadLetter {
    uint64_t worker;
    uint64_t seq;
    int32_t rc; /* of the last attempt; SAP_INVALID: it was not a frame */
    uint32_t attempts;
    const void *frame;
    uint32_t frame_len;
    uint64_t reserved[2]; /* 0; see version.h */
} SapRunnerV0DeadLetter;

/* Moves a claimed message there, under the key it had in the inbox; if a row is there, which is
 * none of the runner's, under a new number. SAP_CONFLICT as for an acknowledgement. Codes of the
 * transaction, here and for the calls below that take one. */
SAP_API int sap_runner_dead_letter_v0_move(SapTxnCtx *txn, const SapRunnerV0Claim *claim, int rc);
/* SAP_NOTFOUND: there is none of that key. SAP_CORRUPT: the row does not decode. */
SAP_API int sap_runner_dead_letter_v0_get(SapTxnCtx *txn, uint64_t worker, uint64_t seq,
                                          SapRunnerV0DeadLetter *letter_out);
/* Calls fn for each from (worker, seq) on, until it returns non-zero, which is then returned. */
SAP_API int sap_runner_dead_letter_v0_list(SapTxnCtx *txn, uint64_t worker, uint64_t seq,
                                           int (*fn)(const SapRunnerV0DeadLetter *letter,
                                                     void *ctx),
                                           void *ctx);
/* Hands up to `max` to `take`, outside of transactions, and removes those for which it returns
 * SAP_OK: at least once each. SAP_BUSY: it stays. Other codes end the drain and are returned; codes
 * of the DB. *drained_out (may be NULL) counts those removed, also after a failure. */
SAP_API int sap_runner_dead_letter_v0_drain(SapEnv *db, uint32_t max,
                                            int (*take)(const SapRunnerV0DeadLetter *letter,
                                                        void *ctx),
                                            void *ctx, uint32_t *drained_out);
/* Puts one back at the tail of its worker's inbox with a full retry budget. *seq_out may be NULL.
 * SAP_NOTFOUND: there is none of that key. SAP_INVALID: it is not a frame, or is for another
 * worker, so that no inbox can have it. */
SAP_API int sap_runner_dead_letter_v0_replay(SapTxnCtx *txn, uint64_t worker, uint64_t seq,
                                             uint64_t *seq_out);
/* Removes one. SAP_NOTFOUND: there is none of that key. */
SAP_API int sap_runner_dead_letter_v0_drop(SapTxnCtx *txn, uint64_t worker, uint64_t seq);

/* ---- Atomic blocks -------------------------------------------------------------------------- */

/* What one block has read and wants to write: a context over a snapshot. Reads see the block's own
 * writes first. Nothing reaches the DB before the outermost commit. */
typedef struct SapRunnerTxCtxV0 SapRunnerTxCtxV0;

/* `db` is borrowed until dispose. The caller owns *ctx_out. SAP_ERROR: an argument is NULL.
 * SAP_NOMEM. */
SAP_API int sap_runner_txctx_v0_create(SapEnv *db, SapRunnerTxCtxV0 **ctx_out);
/* Accepts NULL. */
SAP_API void sap_runner_txctx_v0_dispose(SapRunnerTxCtxV0 *ctx);
/* Forgets everything and reads from `snapshot` from now on (borrowed until the next reset or
 * dispose; NULL: from nothing, every read is SAP_ERROR). read_only: writes are SAP_READONLY.
 * SAP_ERROR: no context, or a snapshot of another DB. SAP_BUSY: called within a scan or an attempt.
 * SAP_NOMEM: everything is forgotten, and the context can only be reset or disposed of. */
SAP_API int sap_runner_txctx_v0_reset(SapRunnerTxCtxV0 *ctx, SapTxnCtx *snapshot, int read_only);

/* The value is good until the next call that changes the context, or reset. DUPSORT: as txn_get().
 * SAP_NOTFOUND: there is no such row, which is remembered as read too. SAP_ERROR: nothing to read
 * from, or no such table. SAP_NOMEM: what was read could not be remembered; the block cannot
 * commit. Codes of sap_txn_get(). */
SAP_API int sap_runner_txctx_v0_get(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key,
                                    uint32_t key_len, const void **val_out, uint32_t *val_len_out);
/* SAP_ERROR: no such table, or one with DBI_DUPSORT or DBI_TTL_META, or the block has ended.
 * SAP_FULL: larger than any row; what is only too large for this DB is found by apply. A value has
 * at most 1 GiB -
 * 1. SAP_READONLY: the block only reads. SAP_BUSY: called within a scan. SAP_NOMEM. Nothing has
 *    changed
 * after any of them; the same holds for del. */
SAP_API int sap_runner_txctx_v0_put(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key,
                                    uint32_t key_len, const void *val, uint32_t val_len);
/* SAP_OK whether or not there is such a row. */
SAP_API int sap_runner_txctx_v0_del(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *key,
                                    uint32_t key_len);
/* Calls fn for each row with the prefix, in order, the block's own writes included, until it
 * returns non-zero, which is then returned. fn may read, scan and push intents; writes and nested
 * blocks are SAP_BUSY meanwhile. SAP_ERROR: nothing to read from, no such table, or one with a
 * comparator. SAP_NOMEM: what was read could not be remembered; the block cannot commit. Codes of
 * the cursor. */
SAP_API int sap_runner_txctx_v0_scan(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const void *prefix,
                                     uint32_t prefix_len,
                                     int (*fn)(const void *key, uint32_t key_len, const void *val,
                                               uint32_t val_len, void *fn_ctx),
                                     void *fn_ctx);
/* Buffers an intent frame (copied). SAP_INVALID: not one. SAP_READONLY: the block only reads.
 * SAP_ERROR: no context, or the block has ended. SAP_NOMEM, SAP_FULL (there are 2^32 - 1). Nothing
 * has changed then. */
SAP_API int sap_runner_txctx_v0_push_intent(SapRunnerTxCtxV0 *ctx, const void *frame,
                                            uint32_t frame_len);
SAP_API uint32_t sap_runner_txctx_v0_read_count(const SapRunnerTxCtxV0 *ctx);
SAP_API uint32_t sap_runner_txctx_v0_write_count(const SapRunnerTxCtxV0 *ctx);
SAP_API uint32_t sap_runner_txctx_v0_intent_count(const SapRunnerTxCtxV0 *ctx);
/* The i-th intent; borrowed until the next change. SAP_NOTFOUND: there is none. SAP_ERROR: an
 * argument is NULL. */
SAP_API int sap_runner_txctx_v0_intent(const SapRunnerTxCtxV0 *ctx, uint32_t i,
                                       const void **frame_out, uint32_t *frame_len_out);
/* Whether everything read is in `txn` as it was read. SAP_CONFLICT: it is not. SAP_BUSY: a nested
 * block is open. SAP_ERROR: an argument is NULL, or `txn` is of another DB. SAP_NOMEM: also if a
 * read of the block could not be remembered. Codes of the transaction. */
SAP_API int sap_runner_txctx_v0_validate(SapRunnerTxCtxV0 *ctx, SapTxnCtx *txn);
/* Puts the writes into `txn`. SAP_BUSY: a nested block is open. SAP_ERROR: an argument is NULL, or
 * `txn` is of another DB. SAP_FULL: also a row that is too large for this DB. Codes of the
 * transaction; some of the writes may be in it then: abort. */
SAP_API int sap_runner_txctx_v0_apply(SapRunnerTxCtxV0 *ctx, SapTxnCtx *txn);

/* Nested blocks. A child's commit merges its writes and intents into the block around it, its abort
 * drops them; what it has read stays read. All three return SAP_ERROR where there is no block, or
 * it has ended, and SAP_BUSY within a scan. SAP_NOMEM (push only): there is no nested block. */
SAP_API int sap_runner_txstack_v0_push(SapRunnerTxCtxV0 *ctx);
/* SAP_ERROR: there is no nested block; the outermost one is committed by the attempt. */
SAP_API int sap_runner_txstack_v0_commit(SapRunnerTxCtxV0 *ctx);
SAP_API int sap_runner_txstack_v0_abort(SapRunnerTxCtxV0 *ctx);
SAP_API uint32_t sap_runner_txstack_v0_depth(const SapRunnerTxCtxV0 *ctx); /* 0: none is open */

/* ---- Attempts: running a block until it commits --------------------------------------------- */

typedef int (*sap_runner_v0_block_fn)(SapRunnerTxCtxV0 *ctx, void *fn_ctx);
/* Called in the write transaction after the block's writes; what it changes is part of the same
 * commit. Its code ends the attempt as that of the block would. */
typedef int (*sap_runner_v0_finish_fn)(SapTxnCtx *txn, SapRunnerTxCtxV0 *ctx, void *fn_ctx);

#define SAP_RUNNER_ATTEMPT_V0_READ_ONLY 1u /* a snapshot alone: never waits for a writer */
#define SAP_RUNNER_ATTEMPT_V0_NO_WAIT   2u /* does not wait until the commit is on disk */

typedef struct SapRunnerAttemptV0 {
    uint32_t size; /* sizeof the struct; see version.h */
    SapEnv *db;
    SapRunnerTxCtxV0 *ctx; /* NULL: one for this call */
    unsigned flags;
    uint32_t max_retries;                /* after the first run; 0: none */
    uint32_t backoff_us, backoff_max_us; /* 0: the policy's defaults */
    sap_runner_v0_random_fn random;      /* for the jitter */
    void *random_ctx;
    void (*sleep_us)(uint32_t us, void *ctx);
    void *sleep_ctx;
    sap_runner_v0_block_fn block;
    void *block_ctx;
    sap_runner_v0_finish_fn finish; /* may be NULL: intents go to outbox and timers */
    void *finish_ctx;
    void (*gate)(int enter, void *ctx); /* around the write transaction; NULL: none */
    void *gate_ctx;
} SapRunnerAttemptV0;

typedef struct SapRunnerAttemptV0Stats {
    uint32_t attempts;
    uint32_t retries;
    uint32_t conflicts;
    uint32_t busy;
    uint64_t
        lsn; /* NO_WAIT: of the commit, or of what was read, for sap_db_wait_durable(); else 0 */
    /* The waits for gate, writer lock and, unless NO_WAIT, disk included; 0: no commit. */
    uint64_t commit_latency_us;
    uint64_t reserved[4]; /* 0; see version.h */
} SapRunnerAttemptV0Stats;

/* Runs the block on the newest state; then, in a short write transaction, checks what it read and
 * applies its writes and intents. On SAP_BUSY or SAP_CONFLICT, from the block or the check, it is
 * run again, max_retries times. Any other code of the block or of finish aborts it and is returned.
 * stats_out may be NULL and is written in any case.
 *   SAP_BUSY, SAP_CONFLICT: so did the last run end; nothing has changed.
 *   SAP_ERROR: no block, unknown flags, a context of another DB or in use; or the block left a
 *   nested
 *     block open. Nothing has changed.
 *   SAP_IO: of the commit, see sap_txn_commit(). Other codes of the DB: nothing has changed. */
SAP_API int sap_runner_attempt_v0_run(const SapRunnerAttemptV0 *attempt,
                                      SapRunnerAttemptV0Stats *stats_out);

/* Stores each intent of the block: emits in the outbox, timers among the timers. Codes of the
 * transaction; some may be stored then: abort. */
SAP_API int sap_runner_intent_sink_v0_store(SapTxnCtx *txn, SapRunnerTxCtxV0 *ctx);

/* ---- Host: all that a block can reach ------------------------------------------------------- */

typedef struct SapRunnerHostV0 SapRunnerHostV0;

/* Rows of the application: DBI 0, keys that begin with "runner." or "queue." excepted, and tables
 * from 8 on. The rest can be read, not written (SAP_READONLY). The codes of the calls of the same
 * name of sap_runner_txctx_v0. A handler that passes them on ends as they say: SAP_BUSY and
 * SAP_CONFLICT run the block again. */
SAP_API int sap_runner_host_v0_get(SapRunnerHostV0 *host, uint32_t dbi, const void *key,
                                   uint32_t key_len, const void **val_out, uint32_t *val_len_out);
SAP_API int sap_runner_host_v0_put(SapRunnerHostV0 *host, uint32_t dbi, const void *key,
                                   uint32_t key_len, const void *val, uint32_t val_len);
SAP_API int sap_runner_host_v0_del(SapRunnerHostV0 *host, uint32_t dbi, const void *key,
                                   uint32_t key_len);
SAP_API int sap_runner_host_v0_scan(SapRunnerHostV0 *host, uint32_t dbi, const void *prefix,
                                    uint32_t prefix_len,
                                    int (*fn)(const void *key, uint32_t key_len, const void *val,
                                              uint32_t val_len, void *ctx),
                                    void *ctx);
/* A message to a worker when the block commits, or at due_ms. Kind, flags, to_worker, payload, and
 * if given id and trace are the caller's; route and from are filled in, a missing id is made of the
 * handled message's id and a number, a missing trace is that of the handled message. SAP_INVALID:
 * no frame can hold it. SAP_READONLY: the block only reads. SAP_ERROR: an argument is NULL.
 * SAP_NOMEM, SAP_FULL. Nothing is sent then. */
SAP_API int sap_runner_host_v0_emit(SapRunnerHostV0 *host, const SapRunnerV0Message *msg);
SAP_API int sap_runner_host_v0_arm(SapRunnerHostV0 *host, int64_t due_ms,
                                   const SapRunnerV0Message *msg);
#define SAP_RUNNER_HOST_V0_NAME_MAX 64u
/* A lease on a name (1 to NAME_MAX bytes), held by this worker from the commit of the block on, for
 * ttl_ms. SAP_BUSY: another has it. Acquiring one's own renews it. SAP_ERROR: no name, one that is
 * too long, or a time of 0 or below. SAP_CORRUPT: the row does not decode. Codes of get and put. */
SAP_API int sap_runner_host_v0_lease_acquire(SapRunnerHostV0 *host, const void *name,
                                             uint32_t name_len, int64_t ttl_ms);
/* SAP_NOTFOUND: this worker does not hold it. Other codes as for acquire. */
SAP_API int sap_runner_host_v0_lease_release(SapRunnerHostV0 *host, const void *name,
                                             uint32_t name_len);
/* To the log sink, at once, and again if the block is run again. */
SAP_API void sap_runner_host_v0_log(SapRunnerHostV0 *host, uint32_t level, const char *text);
/* The same for the whole block. */
SAP_API int64_t sap_runner_host_v0_now_ms(SapRunnerHostV0 *host);
/* SAP_ERROR: an argument is NULL. SAP_IO: the system has no random numbers. */
SAP_API int sap_runner_host_v0_random(SapRunnerHostV0 *host, void *out, uint32_t len);
SAP_API int64_t sap_runner_host_v0_worker_id(SapRunnerHostV0 *host);
/* Nested blocks, as sap_runner_txstack_v0_*(), with their codes. */
SAP_API int sap_runner_host_v0_begin(SapRunnerHostV0 *host);
SAP_API int sap_runner_host_v0_commit(SapRunnerHostV0 *host);
SAP_API int sap_runner_host_v0_abort(SapRunnerHostV0 *host);

/* ---- Handlers ------------------------------------------------------------------------------- */

struct SapRunnerV0;

/* A plain callback. SAP_OK: done. SAP_BUSY, SAP_CONFLICT: try again later, see retry_backoff_ms.
 * Anything else too, and the code is reported to whoever drives the worker. */
typedef int (*sap_runner_v0_message_handler)(struct SapRunnerV0 *runner,
                                             const SapRunnerV0Message *msg, void *ctx);
/* An atomic block. May be run several times for one message; only one run counts. */
typedef int (*sap_runner_v0_atomic_handler)(SapRunnerHostV0 *host, const SapRunnerV0Message *msg,
                                            void *ctx);

/* Exactly one of the two. */
typedef struct SapRunnerV0Handler {
    sap_runner_v0_message_handler plain;
    sap_runner_v0_atomic_handler atomic;
    int read_only; /* of an atomic block: it only reads, and never waits for a writer */
    void *ctx;
    void *reserved[4]; /* NULL; see version.h */
} SapRunnerV0Handler;

/* ---- The runner ----------------------------------------------------------------------------- */

typedef enum SapRunnerV0State {
    SAP_RUNNER_V0_STOPPED = 0,
    SAP_RUNNER_V0_RUNNING = 1
} SapRunnerV0State;

typedef struct SapRunnerV0Config {
    uint32_t size;     /* sizeof the struct; see version.h */
    SapEnv *db;        /* borrowed until shutdown */
    int64_t worker_id; /* >= 0 */
    uint16_t schema_major;
    uint16_t schema_minor; /* both 0: those of this library */
    int bootstrap_schema_if_missing;
    const SapRunnerV0Policy *policy; /* NULL: the default; copied */
    SapRunnerV0TimeHooks time;
    sap_runner_v0_random_fn random;
    void *random_ctx;
} SapRunnerV0Config;

/* Its members are the runner's own. */
typedef struct SapRunnerV0 {
    SapRunnerV0State state;
    int64_t worker_id;
    SapEnv *db;
    struct SapRunnerV0Core *core;
} SapRunnerV0;

/* Opens the tables, checks the schema marker, and is running. On failure it stays stopped and there
 * is nothing to shut down; the codes are those of sap_runner_v0_bootstrap_dbis() and
 * sap_runner_v0_ensure_schema_version(). SAP_ERROR: also a worker below 0, or a policy that
 * contradicts itself. */
SAP_API int sap_runner_v0_init(SapRunnerV0 *runner, const SapRunnerV0Config *config);
/* Waits until everything acknowledged is on disk. Accepts NULL and a stopped one. SAP_BUSY: it is
 * in use, see above; nothing was freed. Codes of sap_db_wait_durable(): it is stopped and freed,
 * but what it acknowledged last may not be on disk. */
SAP_API int sap_runner_v0_shutdown(SapRunnerV0 *runner);

/* Replaces the whole policy: fields that are 0 go back to their defaults. SAP_ERROR: it contradicts
 * itself (see there), or the runner is stopped; the policy is what it was. */
SAP_API int sap_runner_v0_set_policy(SapRunnerV0 *runner, const SapRunnerV0Policy *policy);
SAP_API void sap_runner_v0_set_metrics_sink(SapRunnerV0 *runner, sap_runner_v0_metrics_sink sink,
                                            void *ctx);
SAP_API void sap_runner_v0_set_log_sink(SapRunnerV0 *runner, sap_runner_v0_log_sink sink,
                                        void *ctx);
SAP_API void sap_runner_v0_set_replay_hook(SapRunnerV0 *runner, sap_runner_v0_replay_hook hook,
                                           void *ctx);
/* May be called from any thread. */
SAP_API void sap_runner_v0_metrics_snapshot(SapRunnerV0 *runner, SapRunnerV0Metrics *metrics_out);
SAP_API void sap_runner_v0_metrics_reset(SapRunnerV0 *runner);
SAP_API uint64_t sap_runner_v0_steps_completed(SapRunnerV0 *runner);

/* Sends: encodes, puts into the inbox of msg->to_worker, commits; with SAP_RUNNER_V0_DURABLE
 * returns when it is on disk. A route_timestamp of 0 is now. Any thread may send through any DB.
 * seq_out may be NULL. SAP_INVALID: no frame can hold it. SAP_EXISTS: as for
 * sap_runner_mailbox_v0_send(). Codes of the DB; nothing was sent, except that it is not known
 * after SAP_IO. */
SAP_API int sap_runner_v0_send(SapEnv *db, const SapRunnerV0Message *msg, uint64_t *seq_out);
/* Many in one commit, all or none; durable if one of them is. *first_seq_out (may be NULL) is the
 * number of the first. The codes of send; SAP_ERROR: also a count of 0. */
SAP_API int sap_runner_v0_send_many(SapEnv *db, const SapRunnerV0Message *msgs, uint32_t count,
                                    uint64_t *first_seq_out);

/* Decodes one frame and runs the handler for it, without inbox or lease; an atomic block commits.
 * SAP_INVALID: not a frame. SAP_ERROR: it is for another worker, the runner is stopped, or the
 * handler is not exactly one of the two. SAP_BUSY: the runner is in use. The handler has not run
 * then. Otherwise the handler's code; of an atomic block that of its attempt; or of the wait for
 * the disk. */
SAP_API int sap_runner_v0_run_step(SapRunnerV0 *runner, const void *frame, uint32_t frame_len,
                                   const SapRunnerV0Handler *handler);
/* Claims up to `max` messages and handles each, 1024 at a time; it ends with a batch that has
 * fewer. *handled_out (may be NULL) counts those claimed, whatever became of them, and is set in
 * any case. What was acknowledged is on disk when it returns. Messages that wait for their next
 * attempt are among those claimed when they are due; other timers are left to ticks and to
 * sap_runner_timer_v0_*().
 *   SAP_BUSY: nothing was claimed: there was no message, the runner is in use, or this thread has a
 *     write transaction open.
 *   A code of a handler that is neither SAP_BUSY nor SAP_CONFLICT is returned after all messages
 *   were
 *     handled; the first counts.
 *   Another code, with *handled_out above 0, is an error met after some were claimed; those not
 *     acknowledged come again when their leases expire. SAP_ERROR then: a handler left a write
 *     transaction open. */
SAP_API int sap_runner_v0_poll_inbox(SapRunnerV0 *runner, const SapRunnerV0Handler *handler,
                                     uint32_t max, uint32_t *handled_out);

/* ---- Workers -------------------------------------------------------------------------------- */

/* Serialises access to the DB among workers that share it, handlers never included. The engine does
 * not need it; it bounds how many threads compete for the writer lock to one. */
typedef struct SapRunnerV0DbGate {
    void *mutex;
} SapRunnerV0DbGate;
/* SAP_ERROR: NULL. SAP_NOMEM: there is nothing to shut down. */
SAP_API int sap_runner_v0_db_gate_init(SapRunnerV0DbGate *gate);
SAP_API void sap_runner_v0_db_gate_shutdown(SapRunnerV0DbGate *gate);

typedef struct SapRunnerV0WorkerConfig {
    uint32_t size; /* sizeof the struct; see version.h */
    SapRunnerV0Handler handler;
    uint32_t max_batch;         /* messages a tick claims at once; 0: 1; never more than 1024 */
    uint32_t max_idle_sleep_ms; /* 0: 1000 */
    /* Which workers are local: their frames go from outbox and timers to their inboxes. NULL: all,
     * or with `forward` only this one. */
    int (*is_local)(int64_t worker, void *ctx);
    void *is_local_ctx;
    /* Gets frames of the outbox that are for workers elsewhere; NULL: they stay. */
    sap_runner_outbox_v0_forward_fn forward;
    void *forward_ctx;
    SapRunnerV0Config runner; /* last; its own size is not read */
} SapRunnerV0WorkerConfig;

/* Its members are the worker's own; runner is for the set_ calls above. */
typedef struct SapRunnerV0Worker {
    SapRunnerV0 runner;
    struct SapRunnerV0WorkerCore *core;
} SapRunnerV0Worker;

/* As sap_runner_v0_init(), with its codes. SAP_ERROR: also a handler that is not exactly one of the
 * two. */
SAP_API int sap_runner_v0_worker_init(SapRunnerV0Worker *worker,
                                      const SapRunnerV0WorkerConfig *config);
/* Stops and joins if started. Accepts NULL and one whose init failed. SAP_BUSY: as for join, or it
 * is called from within a tick or the worker's thread; nothing was freed. Other codes: as for join
 * and for the runner's shutdown; it is freed. */
SAP_API int sap_runner_v0_worker_shutdown(SapRunnerV0Worker *worker);

/* Handles up to max_batch messages and due timers, routes the outbox, removes expired ids; what was
 * acknowledged is on disk when it returns. *handled_out (may be NULL) counts messages and timers.
 * SAP_BUSY: there was nothing to do, a passing conflict, or the runner is in use. A handler's other
 * code: see sap_runner_v0_poll_inbox(). SAP_ERROR: the worker is shut down, or a handler left a
 * write transaction open. The forwarder's code, if nothing else was done. Other codes of the DB:
 * messages that were claimed and not acknowledged come again when their leases expire. */
SAP_API int sap_runner_v0_worker_tick(SapRunnerV0Worker *worker, uint32_t *handled_out);

/* Before start, or from the handler. The codes of sap_runner_v0_set_policy(). */
SAP_API int sap_runner_v0_worker_set_policy(SapRunnerV0Worker *worker,
                                            const SapRunnerV0Policy *policy);
SAP_API void sap_runner_v0_worker_set_idle_policy(SapRunnerV0Worker *worker,
                                                  uint32_t max_idle_sleep_ms);
SAP_API void sap_runner_v0_worker_set_time_hooks(SapRunnerV0Worker *worker,
                                                 const SapRunnerV0TimeHooks *hooks);
SAP_API void sap_runner_v0_worker_set_db_gate(SapRunnerV0Worker *worker, SapRunnerV0DbGate *gate);
/* How long the worker may sleep: until the next timer or lease is due, and no longer than its idle
 * policy; 0 when there is work. SAP_ERROR: an argument is NULL, or the worker is shut down. Codes
 * of a reader. */
SAP_API int sap_runner_v0_worker_compute_idle_sleep_ms(SapRunnerV0Worker *worker, uint32_t *ms_out);

/* Runs ticks in a thread of its own, which sleeps while there is nothing to do and is woken by
 * commits to its inbox. SAP_ERROR: running already, shut down, or built without threads. SAP_BUSY:
 * called from within a tick. SAP_NOMEM: no memory, or the system has no thread for it; it is not
 * running. */
SAP_API int sap_runner_v0_worker_start(SapRunnerV0Worker *worker);
/* From any thread, also from the handler: the loop ends after its tick. */
SAP_API void sap_runner_v0_worker_request_stop(SapRunnerV0Worker *worker);
/* Waits for the thread. Everything acknowledged is on disk then. SAP_BUSY: the thread has ended,
 * but a write transaction has been open for seconds, of this thread perhaps: end it and join again.
 * SAP_ERROR: not started, or called by the worker's own thread. Codes of sap_db_wait_durable(): the
 * thread has ended and been joined, but what it acknowledged last may not be on disk. */
SAP_API int sap_runner_v0_worker_join(SapRunnerV0Worker *worker);

/* The handler renews the lease of the message it is at, and those of its batch, if it takes longer
 * than seven eighths of the policy's. SAP_CONFLICT: the lease is lost. SAP_ERROR: not within a
 * plain handler. SAP_BUSY: called by a sink that a touch called, or this thread has a write
 * transaction open. Other codes of the DB: the leases may not have been renewed. */
SAP_API int sap_runner_v0_touch(SapRunnerV0 *runner);

/* Several workers of one configuration, each in a thread. */
typedef struct SapRunnerV0Group SapRunnerV0Group;
typedef struct SapRunnerV0GroupConfig {
    uint32_t size;         /* sizeof the struct; see version.h */
    uint32_t worker_count; /* 0: 1 */
    int shared_inbox;      /* 1: all serve the inbox of worker.runner.worker_id; 0: the n-th serves
                            * that number + n */
    SapRunnerV0WorkerConfig worker; /* last; the sizes within are not read */
} SapRunnerV0GroupConfig;
/* The caller owns *group_out, stop with sap_runner_v0_group_stop(). The codes of worker_init and
 * worker_start; SAP_ERROR: also numbers of workers beyond the largest. None runs then. */
SAP_API int sap_runner_v0_group_start(const SapRunnerV0GroupConfig *config,
                                      SapRunnerV0Group **group_out);
/* The n-th worker, for its reports; NULL: there is none. */
SAP_API SapRunnerV0Worker *sap_runner_v0_group_worker(SapRunnerV0Group *group, uint32_t n);
/* Stops, joins and frees. Accepts NULL. The first code that is not SAP_OK. SAP_BUSY: as for the
 * join of a worker; stop the group again. Called by a worker of the group it is SAP_BUSY too, and
 * none stops. */
SAP_API int sap_runner_v0_group_stop(SapRunnerV0Group *group);

/* ---- Ownership transfer --------------------------------------------------------------------- */

/* A large buffer moves from one worker to another of this process without a copy: its giver sends
 * the ticket in a message. A ticket can be taken once. */
typedef uint64_t SapTransferTicket;

/* Takes ownership of buf on SAP_OK only; free_fn (not NULL) frees it if nobody takes it until the
 * DB's last runner is shut down, or sap_transfer_reclaim(). SAP_ERROR: an argument is NULL, or the
 * DB is another process's. SAP_NOMEM. SAP_IO: the system has no random numbers. */
SAP_API int sap_transfer_give(SapEnv *db, void *buf, size_t len,
                              void (*free_fn)(void *buf, size_t len),
                              SapTransferTicket *ticket_out);
/* The caller owns the buffer from now on. SAP_NOTFOUND: taken already, reclaimed, or given in
 * another process. SAP_ERROR: an argument is NULL. */
SAP_API int sap_transfer_take(SapTransferTicket ticket, void **buf_out, size_t *len_out);
/* Frees what was given with this DB and not taken; *count_out (may be NULL) says how many. */
SAP_API void sap_transfer_reclaim(SapEnv *db, uint32_t *count_out);

#ifdef __cplusplus
}
#endif
#endif
