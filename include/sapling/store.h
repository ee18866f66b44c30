/* store.h - one small transactional, ordered key-value interface: in memory, in a file, on a server.
 *
 * The layers above the engine keep their rows through this and nothing else, so that one
 * implementation of their protocols runs wherever a store runs. Its promises are those that a
 * database server can keep too; a protocol that needs more is wrong.
 *
 *   sapling:PATH     a file of the engine; any number of threads
 *   memory:          in this process, for tests and the simulator: one thread; a transaction may
 *                    be begun while another is open, and they end in any order
 *   memory:NAME      the same, shared by all stores that are open under this name
 *   postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=NAME
 *                    a PostgreSQL server that several machines share; any number of threads. Its
 *                    tables are made once, by sap_store_init() or `sapling store init`
 *
 * ROWS
 *
 * A row is a key of up to SAP_STORE_MAX_KEY bytes in a numbered table, and a value of up to
 * SAP_STORE_MAX_VALUE bytes. Keys of a table are ordered as bytes. Tables 8 to 15 are the store's
 * own; programs use numbers from SAP_STORE_FIRST_TABLE on.
 *
 * TRANSACTIONS
 *
 *   read     sees one snapshot: of what is durable, or of the newest commits.
 *   guarded  names its guards first: keys, whether or not there are such rows, that no other
 *            guarded transaction holds at the same time (exclusive), or holds exclusively (shared).
 *            A transaction guards whatever it must not race with. Each read sees the newest commits
 *            at that moment, so two reads may see different states of rows that are not guarded.
 *   claim    as guarded, without guards; may move rows that no other transaction has locked
 *            (sap_store_claim).
 *
 * A transaction locks a row by writing or claiming it, or by guarding it exclusively while the row
 * exists, until it ends. Others that want to write the row wait, and get SAP_BUSY when they have
 * waited too long; claims skip it. Reads wait for nobody. Who waits how long: on sapling:PATH a
 * transaction that is not a reader waits in sap_store_begin() for the one before it, since a file has
 * one writer at a time, and gets SAP_BUSY only if its own thread has that one open; on memory: a
 * call that would wait returns SAP_BUSY at once; on postgres: the call waits for 2 s (lock_timeout_ms),
 * and sap_store_put() does not wait: the next call that asks the server, or the commit, does, and
 * returns the code. A transaction there that makes no call for 5 s is ended by the server.
 *
 * A call on a transaction may be refused and leave it usable: SAP_NOTFOUND and SAP_EXISTS where the
 * call says so, SAP_ERROR (misuse), SAP_READONLY (a write in a read transaction), SAP_FULL for a key,
 * value or number of guards above its limit. Every other code, and SAP_FULL where it is the disk that
 * is full, means that the transaction has failed:
 * every further call on it returns the same code, and committing it aborts it and returns that code.
 *
 * A transaction is used by one thread at a time. A call on a transaction that has ended, whose object
 * no other one uses yet, is SAP_ERROR.
 *
 * FORK
 *
 * A store belongs to the process that opened it. After fork() the child cannot use what it inherited:
 * there every call on the store and on its transactions returns SAP_ERROR, takes no lock and changes
 * nothing; sap_store_version(), sap_store_lease_ns() and sap_store_due_ns() return 0, and
 * sap_store_abort() does nothing. sap_store_close() returns SAP_OK there, whatever is open: it gives up
 * the child's descriptors, and what the parent has open goes on. The child may open stores of its own.
 *
 * ERRORS
 *
 * SAP_BUSY and SAP_CONFLICT: run it again; sap_store_run() does. SAP_FULL of a commit: no room on the
 * disk, nothing was committed. SAP_IO: the disk or the connection failed; for sapling:PATH that is
 * final, close the store and open it again; for postgres: the next transaction connects again. Whether a commit that failed with SAP_IO has happened is
 * then unknown if *outcome_unknown says so: read the row that decides, never guess. */
#ifndef SAPLING_STORE_H
#define SAPLING_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "sapling/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SAP_STORE_MAX_KEY     1024u
#define SAP_STORE_MAX_VALUE   (1u << 20)
#define SAP_STORE_MAX_GUARDS  64u
#define SAP_STORE_MAX_SCHEMA  64u /* bytes of the schema's name */
#define SAP_STORE_FIRST_TABLE 16u
#define SAP_STORE_LAST_TABLE  1023u

typedef struct SapStore SapStore;
typedef struct SapStoreTxn SapStoreTxn;

typedef enum SapStoreKind {
    SAP_STORE_READ_DURABLE = 0, /* what no crash can take back: for whatever answers a caller */
    SAP_STORE_READ_NEWEST = 1,  /* everything committed: for a reader whose own commit follows */
    SAP_STORE_GUARDED = 2,
    SAP_STORE_CLAIM = 3,
} SapStoreKind;

/* ---- Faults, for tests and the simulator ----------------------------------------------------- */

typedef enum SapStoreCall {
    SAP_STORE_CALL_BEGIN = 0,
    SAP_STORE_CALL_GUARD = 1,
    SAP_STORE_CALL_GET = 2,
    SAP_STORE_CALL_PUT = 3, /* put, put_if_absent and del */
    SAP_STORE_CALL_SCAN = 4,
    SAP_STORE_CALL_CLAIM = 5,
    SAP_STORE_CALL_COMMIT = 6, /* commit and commit_async */
    /* wait_durable, and commit after it has committed: every fault but NONE is SAP_IO there, since
     * the commit cannot be taken back. */
    SAP_STORE_CALL_WAIT_DURABLE = 7,
} SapStoreCall;

typedef enum SapStoreFault {
    SAP_STORE_FAULT_NONE = 0,
    SAP_STORE_FAULT_FAIL = 1,     /* SAP_IO; the call had no effect. A commit: a definite abort */
    SAP_STORE_FAULT_BUSY = 2,     /* SAP_BUSY, as when a lock is waited for in vain */
    SAP_STORE_FAULT_CONFLICT = 3, /* SAP_CONFLICT, as when a server chooses a victim */
    SAP_STORE_FAULT_LOST_BEFORE = 4, /* the connection is lost: SAP_IO. A commit: it did not happen,
                                        and the caller cannot know */
    SAP_STORE_FAULT_LOST_AFTER = 5,  /* the same, but the commit did happen */
    SAP_STORE_FAULT_CRASH =
        6, /* the caller is dead: this and every later call on this store returns
                                  SAP_IO without effect, and its open transactions are undone */
} SapStoreFault;

/* Called at the start of each call above, before it does anything. It may wait (a delay), and on
 * memory: it may begin, use and end transactions of other stores with the same name. */
typedef SapStoreFault (*SapStoreHook)(void *ctx, SapStoreCall call);

/* ---- Opening --------------------------------------------------------------------------------- */

/* Zero bytes are the defaults; `tables` is required. */
typedef struct SapStoreOptions {
    uint32_t size; /* sizeof the struct; see version.h */
    uint32_t table_count;
    /* Those that will be used; borrowed for the call. Others are SAP_ERROR, which on_message explains
     * once. A later open may name more, or fewer: those that it does not name keep their rows. */
    const uint32_t *tables;
    /* What the tables hold and its version, such as "orders@2": up to SAP_STORE_MAX_SCHEMA bytes of
     * UTF-8 without control characters; NULL: "". It is stored when the store is made, and compared at every later open. Borrowed
     * for the call. */
    const char *schema;
    SapStoreHook hook; /* NULL: none */
    void *hook_ctx;

    /* For tests and the simulator: wall time since 1970, and time since the machine started, which
     * goes on while it is suspended, in nanoseconds. Any thread may call them. NULL: the system's. */
    uint64_t (*wall_ns)(void *ctx);
    uint64_t (*boot_ns)(void *ctx);
    void *clock_ctx;

    /* Called with a text where a code alone does not say what happened and what to do; see
     * SapOpenOptions. NULL: none. */
    void (*on_message)(const char *text, void *ctx);
    void *message_ctx;

    /* How often the program calls sap_store_put_time(), in nanoseconds. 0: every 5 s. An open on a
     * server needs it; see sap_store_lease_ns(). */
    uint64_t renewal_ns;
} SapStoreOptions;

/* Opens the store, and makes it if there is none, or an empty file (on a server: see
 * sap_store_init()). The caller owns
 * *store_out: sap_store_close(). SAP_NOTFOUND: the server has no such store, or it lacks a table.
 * SAP_READONLY: the server is a standby, or set to read-only. SAP_BUSY: no connection is free.
 * SAP_ERROR: no tables, one twice or out of range, or other misuse. SAP_INVALID: the url names no
 * store of this library, or what it names is of another schema or format, a runner's file, or no
 * store; nothing was changed. SAP_CORRUPT: a row of the store's own is damaged. Other codes are those
 * of db_open_path(). sap_open_error() has the text. */
SAP_API int sap_store_open(const char *url, const SapStoreOptions *options, SapStore **store_out);

/* Makes the store, and the tables that it lacks, and closes it again. A server's tables are made by
 * nothing else, so that a wrong url does not look like an empty store; the user needs the right to
 * create a schema, which programs that open the store do not need. The codes are those of
 * sap_store_open(). Running it again changes nothing. */
SAP_API int sap_store_init(const char *url, const SapStoreOptions *options);

/* SAP_BUSY: a transaction is open, or a thread waits; nothing was closed. Any other code: closed, see
 * db_close(). NULL is accepted. In a child that inherited the store: see FORK. */
SAP_API int sap_store_close(SapStore *store);

/* ---- Transactions ---------------------------------------------------------------------------- */

/* The caller owns *txn_out, which ends with sap_store_commit(), sap_store_commit_async() or
 * sap_store_abort(). */
SAP_API int sap_store_begin(SapStore *store, SapStoreKind kind, SapStoreTxn **txn_out);

typedef struct SapStoreGuard {
    uint32_t table;
    const void *key;
    uint32_t key_len;
    bool exclusive;
} SapStoreGuard;

/* The first call on a guarded transaction, made at most once: takes all guards, in the order of their
 * keys. The order given does not matter; where the same key is named twice, the exclusive one counts.
 * Borrowed for the call. SAP_BUSY: another transaction holds one of them, and did not end in time.
 * SAP_FULL: more than SAP_STORE_MAX_GUARDS. SAP_ERROR: also for a count of 0. */
SAP_API int sap_store_guard(SapStoreTxn *txn, const SapStoreGuard *guards, uint32_t count);

/* The value is borrowed until the transaction ends. SAP_NOTFOUND: there is no such row. */
SAP_API int sap_store_get(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len,
                          const void **val_out, uint32_t *val_len_out);

/* SAP_FULL: the key or the value is above its limit, and the transaction goes on; or the disk is full,
 * and it has failed. */
SAP_API int sap_store_put(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len,
                          const void *val, uint32_t val_len);

/* SAP_EXISTS: the row exists, and nothing changed. */
SAP_API int sap_store_put_if_absent(SapStoreTxn *txn, uint32_t table, const void *key,
                                    uint32_t key_len, const void *val, uint32_t val_len);

/* SAP_NOTFOUND: there was no such row. */
SAP_API int sap_store_del(SapStoreTxn *txn, uint32_t table, const void *key, uint32_t key_len);

typedef struct SapStoreRow {
    const void *key;
    const void *val;
    uint32_t key_len;
    uint32_t val_len;
} SapStoreRow;

/* Keys from `from` on and below `to`; `to` NULL: to the end of the table. */
typedef struct SapStoreRange {
    uint32_t table;
    const void *from;
    uint32_t from_len;
    const void *to;
    uint32_t to_len;
} SapStoreRange;

/* The first `limit` rows of the range in ascending order, or with `backward` the last ones in
 * descending order. The rows and their array are borrowed until the transaction ends. SAP_OK with no
 * rows: the range is empty. SAP_ERROR: also for a limit of 0. */
SAP_API int sap_store_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward,
                           uint32_t limit, const SapStoreRow **rows_out, uint32_t *count_out);

/* Where a claimed row goes. */
typedef struct SapStoreTarget {
    uint32_t table;
    SapStoreRow row; /* borrowed until the callback is called again, or the claim returns */
} SapStoreTarget;

/* Writes the new place of `row` to *target; may put, get and delete other rows through `txn`.
 * Returns SAP_OK, or a code that makes the claim and the transaction fail with it. It must not end the
 * transaction. */
typedef int (*SapStoreMove)(void *ctx, SapStoreTxn *txn, const SapStoreRow *row,
                            SapStoreTarget *target);

/* In a claim transaction: moves the first rows of the range that no other transaction has locked, up
 * to `limit`, each to where `move` says, replacing a row that is there. Rows that `move` puts into the
 * range, by its target too, are for the next claim: a later row of this one that was put or deleted
 * meanwhile is skipped, and not counted. *count_out is how many were moved. SAP_ERROR: also for a limit of 0. A target that
 * a put would refuse makes the claim and the transaction fail with the code of that put. */
SAP_API int sap_store_claim(SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit,
                            SapStoreMove move, void *ctx, uint32_t *count_out);

/* Ends the transaction, whatever it returns. SAP_OK: what it wrote, and all that it read, is durable.
 * SAP_IO with *outcome_unknown set: it may have been committed. In every other case *outcome_unknown
 * is false, and a code other than SAP_OK means that nothing was committed. outcome_unknown may be
 * NULL. */
SAP_API int sap_store_commit(SapStoreTxn *txn, bool *outcome_unknown);

/* The same without the wait for the disk: *mark_out is for sap_store_wait_durable(). NULL: nobody will
 * wait for it. */
SAP_API int sap_store_commit_async(SapStoreTxn *txn, uint64_t *mark_out, bool *outcome_unknown);

/* Returns when the commit of that mark, and all it read, is durable. Mark 0 is before every commit:
 * SAP_OK at once. SAP_IO: it may never be: its outcome is unknown. SAP_ERROR: no commit of this store
 * has that mark. */
SAP_API int sap_store_wait_durable(SapStore *store, uint64_t mark);

/* Ends the transaction and undoes it. What it has read must not be acknowledged to anyone. NULL is
 * accepted, and so is one that has ended. */
SAP_API void sap_store_abort(SapStoreTxn *txn);

/* ---- Running again --------------------------------------------------------------------------- */

typedef int (*SapStoreBody)(SapStoreTxn *txn, void *ctx);

#define SAP_STORE_RUN_ATTEMPTS 16u

/* Begins a transaction, calls `body`, and commits if that returns SAP_OK, else aborts and returns its
 * code. If the store said SAP_BUSY or SAP_CONFLICT, in the body or in the commit, all of it runs
 * again, up to SAP_STORE_RUN_ATTEMPTS times in all, with pauses of random length that grow; the last
 * code is returned. The body does no I/O, and makes no ids or random values, so that each run is the
 * same request; it must not end its transaction. A SAP_BUSY or SAP_CONFLICT that the body returns and
 * the store has not said is not tried again, nor is an outcome that is unknown, nor, on sapling:PATH,
 * the SAP_BUSY of a begin: the calling thread has the writer open itself. */
SAP_API int sap_store_run(SapStore *store, SapStoreKind kind, SapStoreBody body, void *ctx,
                          bool *outcome_unknown);

/* ---- Wake-ups -------------------------------------------------------------------------------- */

/* What the transaction's first read saw, at least: for sap_store_wait() on the same store. Versions
 * count within one open and mean nothing in another. 0 for a transaction that has ended. */
SAP_API uint64_t sap_store_version(SapStoreTxn *txn);

/* The rows whose keys begin with these bytes. */
typedef struct SapStorePrefix {
    uint32_t table;
    const void *prefix;
    uint32_t prefix_len;
} SapStorePrefix;

/* Waits until a commit after `version_seen` has written or deleted a row of the prefix, for at most
 * timeout_ns. `kind` is that of the read that follows: a SAP_STORE_READ_DURABLE wait returns when such
 * a commit is durable, others as soon as it has happened. SAP_OK: look at the rows, which alone say
 * what changed; it may be returned without a change, and on a server it is, every 500 ms, since a wake-up
 * may be lost: who wants to give up keeps a time of its own. SAP_NOTFOUND: the time has passed. On memory:
 * nothing runs while one waits, so it returns at once. */
SAP_API int sap_store_wait(SapStore *store, SapStoreKind kind, const SapStorePrefix *prefix,
                           uint64_t version_seen, uint64_t timeout_ns);

/* ---- Time ------------------------------------------------------------------------------------ */

/* Two clocks of the store decide everything that depends on time. Neither goes back while the store is
 * open, and both stay below 2^63. Any thread may ask for them at any time.
 *
 * Lease time, in nanoseconds: leases, claims, retries, delays and ages are measured by it. While the
 * store is open it goes on at the pace of real time, also while the machine is suspended; setting the
 * wall clock does not move it. An open continues it from what sap_store_put_time() stored last (or from
 * the making of the store), plus the wall time that has passed since. The wall clock counts only there:
 * if it was set back between the two, lease time repeats what had passed since that put_time, and never
 * more; if it was set forward by an hour, lease time is an hour ahead.
 *
 * On a server it is the server's wall clock that counts, and only while nobody else has the store open:
 * if what is stored is older than one renewal, the open watches it for two renewals (10 s, unless
 * renewal_ns says otherwise). If somebody stores more, it continues from there. So a step of the
 * server's clock moves nobody's lease time while one process is alive, and those of two processes
 * differ by at most one renewal. */
SAP_API uint64_t sap_store_lease_ns(SapStore *store);

/* Due time, in nanoseconds since 1970: the greatest wall time that was seen, for what is due at a time
 * of day. It follows the wall clock forward at once; set back, it stands still until the wall clock has
 * caught up. A restart keeps it from falling below what sap_store_put_time() stored. */
SAP_API uint64_t sap_store_due_ns(SapStore *store);

/* In a guarded transaction: stores both times. Where another store of the same rows has stored a
 * greater one, that is kept, and this store goes on from there. Call it every few seconds, as part of
 * renewing a session. SAP_BUSY: another transaction is storing them. SAP_CORRUPT: the row is damaged.
 * To the hook it is a get and a put. */
SAP_API int sap_store_put_time(SapStoreTxn *txn);

/* ---- Numbers --------------------------------------------------------------------------------- */

typedef struct SapStoreStats {
    uint64_t begun[4];  /* transactions, by SapStoreKind */
    uint64_t committed; /* those of them that wrote */
    uint64_t aborted;   /* by the caller, or because they had failed */
    uint64_t busy;      /* SAP_BUSY that the store returned */
    uint64_t conflicts; /* SAP_CONFLICT that the store returned */
    uint64_t run_again; /* by sap_store_run() */
    uint64_t outcome_unknown;
    uint64_t faults; /* that the hook asked for */
    uint64_t rows_read;
    uint64_t rows_written; /* deleted ones included */
    uint64_t rows_claimed;
    uint64_t waits;    /* sap_store_wait() */
    uint64_t wakes;    /* of those: ended by a commit */
    uint64_t connects; /* connections to a server that were opened for transactions */
    uint64_t connections_lost;
    uint64_t reserved[6];
} SapStoreStats;

/* Since the store was opened. */
SAP_API int sap_store_stats(SapStore *store, SapStoreStats *stats_out);

#ifdef __cplusplus
}
#endif
#endif
