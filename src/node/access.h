/* access.h - a database file, whoever owns it.
 *
 * A file has one owner at a time. Where this process can be it, the calls below go to the engine.
 * Where another process is, and serves PATH.sock (see server.h), they go there, and do the same. A
 * caller cannot tell the difference, but for access_is_remote().
 *
 * Not for threads: one at a time may use an Access. Each call is one transaction. Codes are those of
 * sapling/error.h; access_message() explains the last one that was not SAP_OK, SAP_NOTFOUND or
 * SAP_EXISTS. SAP_IO from a remote one also means that the owner went away, and SAP_BUSY that it does
 * not answer: whether a write was done is not known then. When the owner went away, what does no harm
 * twice is asked again, of the next owner or as the owner: claims, the ends of claims, and reading of
 * which nothing was handed on yet. */
#ifndef SAPLING_NODE_ACCESS_H
#define SAPLING_NODE_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "sapling/queue.h"
#include "sapling/sapling.h"

typedef struct Access Access;

enum {
    ACCESS_CREATE = 1, /* makes the file if there is none */
    ACCESS_READ = 2,   /* nothing will be written. Shares a closed, clean file with other readers */
    ACCESS_SERVE = 4,  /* while it is open, as its owner, others may use it through PATH.sock */
    /* Both: owns and serves the file, so that others write it meanwhile. Where this process may not
     * write the file or its directory, or no socket can be made, as ACCESS_READ alone. */
};

typedef struct AccessOptions {
    unsigned flags;
    uint32_t page_size; /* of a file made now; 0: the default */
    /* How long an owner that does not serve is waited for; 0: 2 s. One that opened the file after an
     * owner that served it died is waited for as long as one that gives no sign of life: it reads the
     * log first. */
    uint32_t patience_ms;
    /* Each message of the engine, from any thread; also those of an open that succeeds. */
    void (*on_message)(const char *text, void *ctx);
    /* How long an owner that serves is waited for when it gives no sign of life, for instance because
     * it is stopped; 0: 30 s. One that is at work is waited for as long as that takes. */
    uint32_t silence_ms;
    /* A wait for the owner that is getting long: within a call, by the thread that made it. */
    void (*on_wait)(const char *text, void *ctx);
    void *callback_ctx;
} AccessOptions;

/* *access_out is set whatever the answer is, unless SAP_NOMEM: it has the message. Caller owns it,
 * release with access_close. SAP_BUSY: another process owns the file and does not serve it, or does
 * not answer; the message names it. Others as sap_db_open_path(). */
int access_open(const char *path, const AccessOptions *options, Access **access_out);
/* Accepts NULL. What sap_db_close() answers; SAP_OK where it is remote. */
int access_close(Access *access);
/* The same after a failure: a file that this access made, and that neither it nor anybody who joined
 * through the socket committed anything to, is removed with all that lies beside it. */
int access_discard(Access *access);
/* Others who use the file through this process are sent to the next owner, as at the end of
 * access_close(). For a process that ends at once: from any thread, while a call may be in progress in
 * another, and nothing may follow. Does nothing where it does not serve. */
void access_end_serving(Access *access);
bool access_is_remote(const Access *access);
/* Whether the owner died during the last call, which was then asked of the next owner. */
bool access_was_repeated(const Access *access);
/* The path that it was opened with or, where that is a link, of the file it leads to: log, lock and
 * socket lie beside that one. Borrowed until access_close. */
const char *access_real_path(const Access *access);
/* The database itself, for its owner: borrowed until access_close. NULL where it is remote. */
DB *access_db(const Access *access);
/* Never NULL; valid until the next call. */
const char *access_message(const Access *access);

typedef struct AccessTable {
    uint32_t dbi;
    unsigned flags; /* SAP_DBI_* */
    uint64_t rows;
    uint32_t depth;
} AccessTable;

typedef struct AccessStat {
    uint32_t page_size;
    uint64_t txnid;
    uint64_t pages;     /* in use, all snapshots together */
    uint64_t readers;   /* open read transactions, this one not included */
    uint64_t data_size; /* bytes of the data file */
    uint64_t log_size;  /* bytes of its log files */
} AccessStat;

int access_stat(Access *access, AccessStat *stat_out);
/* Calls fn for each table, in ascending order, until it answers other than 0, which is the answer. */
int access_tables(Access *access, int (*fn)(const AccessTable *table, void *ctx), void *ctx);
/* Makes the table if there is none; SAP_ERROR: there is one with other flags. */
int access_open_table(Access *access, uint32_t dbi, unsigned flags);

/* Appends the value to `val`; DUPSORT: the first. SAP_NOTFOUND. SAP_ERROR: no such table. */
int access_get(Access *access, uint32_t dbi, Slice key, Buf *val);

typedef enum AccessOp {
    ACCESS_PUT,      /* DUPSORT: a pair that is there already is no error */
    ACCESS_PUT_NEW,  /* SAP_EXISTS if the key is there, DUPSORT: the pair */
    ACCESS_DEL,      /* DUPSORT: all values of the key. SAP_NOTFOUND */
    ACCESS_DEL_PAIR, /* of a DUPSORT table, otherwise SAP_ERROR. SAP_NOTFOUND */
} AccessOp;

typedef struct AccessChange {
    AccessOp op;
    uint32_t dbi;
    Slice key;
    Slice val;
} AccessChange;

/* All of them in order in one durable commit, or none. *failed_out (may be NULL): the index of the
 * one that failed; `count` if that was the commit. SAP_ERROR: no such table, or one that cannot hold such a row, which may
 * be too long. SAP_FULL: no room on the disk. */
int access_write(Access *access, const AccessChange *changes, uint32_t count, uint32_t *failed_out);

/* Rows with from <= key < to, in order; a slice with NULL data is no bound. */
typedef struct AccessRange {
    uint32_t dbi;
    Slice from;
    Slice to;
    bool backwards;
    bool keys_only; /* values are not fetched: val is empty in each row */
    uint64_t limit; /* 0: none */
} AccessRange;

typedef struct AccessRow {
    Slice key; /* both borrowed for the call */
    Slice val;
} AccessRow;

/* Of one snapshot. Until fn answers other than 0, which is the answer. */
int access_scan(Access *access, const AccessRange *range,
                int (*fn)(const AccessRow *row, void *ctx), void *ctx);
int access_count(Access *access, const AccessRange *range, uint64_t *count_out);
/* Removes the rows of the range (from, to and dbi count). */
int access_del_range(Access *access, const AccessRange *range, uint64_t *deleted_out);

/* sap_db_verify(), sap_db_backup(), sap_db_compact(), the canonical stream of sap_db_checkpoint(). A
 * write function answers 0 or the code to stop with. */
/* `progress` (may be NULL) as sap_progress_fn; an owner that is another process tells it some times a
 * second. */
int access_verify(Access *access, void (*report)(const char *text, void *ctx),
                  sap_progress_fn progress, void *ctx);
int access_backup(Access *access, int (*write)(const void *data, uint32_t len, void *ctx),
                  void *ctx);
int access_compact(Access *access, const char *target, sap_progress_fn progress, void *ctx);
int access_stream(Access *access, int (*write)(const void *data, uint32_t len, void *ctx),
                  void *ctx);

/* ---- Queues: what sapling/queue.h offers, by the names of queues -------------------------------- */

/* Calls fn for each queue of the file, in the order of their names. */
int access_queues(Access *access, int (*fn)(const char *name, void *ctx), void *ctx);
/* SAP_NOTFOUND: no such queue. */
int access_queue_stat(Access *access, const char *queue, SapQueueStat *stat_out);

/* Calls fn for each worker that is no queue and has messages, timers or dead letters, in ascending
 * order, until it answers other than 0, which is the answer. */
typedef int (*AccessInboxFn)(uint64_t worker, const SapQueueStat *stat, void *ctx);
int access_inboxes(Access *access, AccessInboxFn fn, void *ctx);

typedef struct AccessPush {
    Slice id;    /* NULL data: one is made. Of one payload only */
    Slice trace; /* NULL data: none */
    bool dedupe;
    bool high_priority;
    int64_t delay_ms;
} AccessPush;

/* All in one durable commit, or none; makes the queue if there is none. Room in `seqs` for the number
 * of each. */
int access_queue_push(Access *access, const char *queue, const AccessPush *push,
                      const Slice *payloads, uint32_t count, uint64_t *seqs);

typedef struct AccessMessage {
    uint64_t seq;
    uint64_t token; /* of the claim; 0: only looked at */
    uint32_t attempts;
    int64_t sent_ms;
    int64_t deadline_ms; /* of the lease */
    int64_t due_ms;      /* when it will come; 0: it is there */
    bool leased;
    Slice id;
    Slice trace; /* NULL data: none */
    Slice payload;
} AccessMessage;

enum { ACCESS_WAIT_MAX_MS = 1000, ACCESS_CLAIM_MAX = 1024 };

typedef struct AccessClaim {
    uint32_t lease_ms; /* 0: that of the queue */
    uint32_t wait_ms;  /* ACCESS_WAIT_MAX_MS at most: ask again to wait longer */
    uint32_t max;      /* 1 to ACCESS_CLAIM_MAX */
    uint32_t
        attempts; /* as often a message is tried, leases that expired included; 0: the queue's */
} AccessClaim;

/* Claims, and calls fn for each message (borrowed for the call) once all are claimed. If that answers
 * other than 0 they are put back, as far as they are in this process, and that is the answer. Makes the queue if there
 * is none. SAP_NOTFOUND: there is no message, perhaps before the time is over. */
int access_queue_claim(Access *access, const char *queue, const AccessClaim *claim,
                       int (*fn)(const AccessMessage *message, void *ctx), void *ctx);

typedef enum AccessEndOp {
    ACCESS_ACK,      /* done: gone */
    ACCESS_FAIL,     /* comes again: after ms, or with 0 the queue's wait, or with -1 at once; after
                      * the last of its attempts among the dead letters with rc */
    ACCESS_PUT_BACK, /* back in its place, as if it had not been claimed */
    ACCESS_TOUCH,    /* goes on for ms */
} AccessEndOp;

typedef struct AccessEnd {
    AccessEndOp op;
    int rc;
    int64_t ms;
    uint32_t attempts; /* of ACCESS_FAIL: as often a message is tried; 0: the queue's */
} AccessEnd;

/* What a claim is known by, whoever made it. */
typedef struct AccessLease {
    uint64_t seq;
    uint64_t token;
} AccessLease;

/* What becomes of claims; on disk when it returns, unless they are renewed or put back. *dead_out
 * (may be NULL): how many are dead letters now. SAP_CONFLICT: at least one lease has passed to another,
 * or was lost with an owner that died (access_was_repeated); the rest is done. Where an owner died and
 * may have done it, a message that is not in the queue any more counts as acknowledged, and a claim that
 * is not held any more as failed or put back. */
int access_queue_end(Access *access, const char *queue, const AccessEnd *end,
                     const AccessLease *leases, uint32_t count, uint64_t *dead_out);

/* The first `limit` messages (0: all), leased ones included, in order, until fn answers other than 0,
 * which is the answer. SAP_NOTFOUND: no such queue. */
int access_queue_peek(Access *access, const char *queue, uint64_t limit,
                      int (*fn)(const AccessMessage *message, void *ctx), void *ctx);

/* Messages that were given up, of queues and of other workers. */
typedef struct AccessLetter {
    Slice queue; /* empty: of a worker that is no queue */
    uint64_t worker;
    uint64_t seq;
    int32_t rc;
    uint32_t attempts;
    Slice frame; /* perhaps not one */
} AccessLetter;

/* Those of one queue, or with NULL of all. */
int access_letters(Access *access, const char *queue,
                   int (*fn)(const AccessLetter *letter, void *ctx), void *ctx);

typedef enum AccessLetterOp { ACCESS_LETTER_REPLAY, ACCESS_LETTER_DROP } AccessLetterOp;

typedef struct AccessLetterEnd {
    uint64_t worker;
    uint64_t seq;
    int rc;           /* out: SAP_OK; SAP_NOTFOUND: it is not there; SAP_INVALID: not a message */
    uint64_t new_seq; /* out, replayed: its number in the queue */
} AccessLetterEnd;

/* Replays or drops in one durable commit. */
int access_letters_end(Access *access, AccessLetterOp op, AccessLetterEnd *letters, uint32_t count);

#endif
