/* store_impl.h - what store.c, the implementations of a store and its own users share.
 *
 * store.c checks arguments, limits, the order of calls and the faults of the hook, once for all
 * stores; an implementation is called only with what passed. After a call of an implementation has
 * failed, store.c makes no further one on that transaction but `rollback`. */
#ifndef SAPLING_STORE_STORE_IMPL_H
#define SAPLING_STORE_STORE_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/relaxed.h"
#include "common/sync.h"
#include "sapling/owner.h"
#include "sapling/store.h"
#include "store/wake.h"
#include "wit_schema_dbis.h"

/* The store's own tables; their rows are in schemas/wit/store-schema.wit. */
enum {
    STORE_FIRST_OWN_TABLE = WIT_STORE_DBI_BASE,
    STORE_TABLE_META = WIT_DBI_STORE_META,
    STORE_TABLE_BLOBS = WIT_DBI_BLOBS,
    STORE_TABLE_BLOBREFS = WIT_DBI_BLOBREFS,
    STORE_OWN_TABLES = WIT_STORE_DBI_COUNT,
};

typedef struct StoreKey {
    uint32_t table;
    Slice bytes;
} StoreKey;

/* Tables first, then bytes: the order in which guards and rows are locked. */
int store_key_compare(StoreKey a, StoreKey b);

typedef enum {
    STORE_PUT_ANY,
    STORE_PUT_ABSENT, /* SAP_EXISTS when there is such a row */
} StorePutMode;

typedef struct StoreOps {
    size_t txn_size; /* of the implementation's transaction, which begins with a SapStoreTxn */
    /* Frees the store, with all but what store.c has put there. */
    int (*close)(SapStore *store);
    /* In a process that has inherited the store: gives up what keeps the parent's resources in use, and
     * takes no lock. NULL: where nothing is open, `close` does that. */
    void (*abandon)(SapStore *store);
    /* Once the marker of a store that was there already has been compared. A new store has its tables
     * when it is opened. NULL: it has them in any case. */
    int (*open_tables)(SapStore *store);
    /* `txn` has its store and kind, and is zero otherwise; sets its version. */
    int (*begin)(SapStoreTxn *txn);
    /* In key order, each key once. */
    int (*guard)(SapStoreTxn *txn, const SapStoreGuard *guards, uint32_t count);
    int (*get)(SapStoreTxn *txn, StoreKey key, Slice *val_out);
    int (*put)(SapStoreTxn *txn, StoreKey key, Slice val, StorePutMode mode);
    int (*del)(SapStoreTxn *txn, StoreKey key);
    int (*scan)(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
                const SapStoreRow **rows_out, uint32_t *count_out);
    /* As scan forward, of rows that no other transaction has locked; locks them. */
    int (*lock_rows)(SapStoreTxn *txn, const SapStoreRange *range, uint32_t limit,
                     const SapStoreRow **rows_out, uint32_t *count_out);
    /* Applies the writes. SAP_OK: *mark_out is for wait_durable. SAP_IO: *unknown_out says whether
     * the commit may have happened all the same. */
    int (*commit)(SapStoreTxn *txn, uint64_t *mark_out, bool *unknown_out);
    /* Undoes what was not committed, unlocks everything and frees what the implementation holds.
     * Called once or twice, also after commit. */
    void (*rollback)(SapStoreTxn *txn);
    int (*wait_durable)(SapStore *store, uint64_t mark);
    /* Whether those with much to write should wait, before commits begin to wait. NULL: never. */
    bool (*is_crowded)(SapStore *store);
    /* The wall time of the server that others share. NULL: there is none, the machine's counts. */
    int (*wall_ns)(SapStoreTxn *txn, uint64_t *wall_out);
    uint64_t poll_ns; /* a wait ends after this time, since a wake-up may be lost. 0: none is */
    bool blocks;      /* waits, and is used by several threads */
    /* SAP_BUSY of `begin` for a writer: the calling thread has the one writer open, so that running
     * again would meet it again. */
    bool busy_is_own;
} StoreOps;

/* Copies that live as long as a transaction. */
typedef struct StorePiece StorePiece;

/* SapStoreStats, field by field. */
typedef struct StoreCounts {
    RelaxedU64 begun[4];
    RelaxedU64 committed, aborted, busy, conflicts, run_again, outcome_unknown, faults;
    RelaxedU64 rows_read, rows_written, rows_claimed, waits, wakes;
    RelaxedU64 connects, connections_lost;
} StoreCounts;

/* What sap_store_lease_ns() and sap_store_due_ns() are computed from; see time.c. */
typedef struct StoreTime {
    Clock clock;
    uint64_t renewal_ns;    /* how often the times are stored */
    uint64_t boot_start_ns; /* boot time of the open */
    RelaxedU64 lead_ns;     /* lease time less the boot time since the open */
    RelaxedU64 lease_ns;    /* the greatest that was given out */
    RelaxedU64 due_ns;      /* the same */
} StoreTime;

struct SapStore {
    const StoreOps *ops;
    uint32_t process; /* the one that opened it (owner.h) */
    uint32_t *tables; /* sorted, without the store's own */
    uint32_t table_count;
    Wake *wake; /* the implementation's */
    SapStoreHook hook;
    void *hook_ctx;
    void (*on_message)(const char *text, void *ctx);
    void *message_ctx;
    SAP_ATOMIC(bool) crashed;
    RelaxedU64 unknown_tables; /* calls that named a table which the store was not opened with */
    StoreCounts counts;
    StoreTime time;
    Mutex lock;          /* of the fields below */
    uint32_t open;       /* transactions */
    uint32_t waiting;    /* threads that wait for rows or for the disk */
    SapStoreTxn *oldest; /* ended transactions that will be used again, in the order they ended */
    SapStoreTxn *latest;
    uint32_t ended;
};

/* A claim under way: which of its later rows its callbacks have put or deleted. */
typedef struct StoreClaim {
    struct StoreClaim *outer; /* whose callback has begun this one; NULL: none */
    StoreKey current;         /* the row that is being moved */
    StoreKey last;            /* the last row of the claim */
    bool deletes_current;     /* the claim's own delete of that row is not noted */
    Buf changed; /* StoreKey above `current` and up to `last` then; copies of the txn's */
} StoreClaim;

struct SapStoreTxn {
    SapStore *store;
    SapStoreKind kind;
    bool ended;
    bool begun_work; /* too late for guards */
    bool wrote;      /* something that a commit would apply */
    int failed;      /* what every further call returns; SAP_OK: it works */
    uint64_t version;
    StorePiece *pieces;
    Buf touched;             /* WakeKey: rows written */
    StoreClaim *claim;       /* the innermost; NULL: none */
    SapStoreTxn *next_ended; /* in the store's list */
};

/* Whether this process has only inherited the store by fork(): its connections, threads and locks are
 * the parent's, and a lock may be held for ever. No call does anything then. */
static inline bool store_is_foreign(const SapStore *store)
{
    return store->process != owner_process();
}

/* Whether public calls may use it. */
static inline bool store_is_usable(const SapStore *store)
{
    return store != NULL && !store_is_foreign(store);
}

/* Whether the table is one of those that the store was opened with. If not, says so the first time. */
bool store_has_table(SapStore *store, uint32_t table);

/* Frees the transactions that have ended. */
void store_free_ended(SapStore *store);

/* Room, or a copy, that lives until the transaction ends. NULL: no memory. */
void *store_txn_room(SapStoreTxn *txn, size_t size);
int store_txn_copy(SapStoreTxn *txn, Slice from, Slice *copy_out);

/* Makes a transaction that works fail with `rc`, which it returns. */
int store_fail(SapStoreTxn *txn, int rc);

/* As sap_store_begin(). *again_out: it was refused, and may not be when it is run again. */
int store_begin(SapStore *store, SapStoreKind kind, SapStoreTxn **txn_out, bool *again_out);

/* As the public calls, for the store's own tables too. Arguments are not checked. */
int store_guard(SapStoreTxn *txn, const SapStoreGuard *guards, uint32_t count);
int store_get(SapStoreTxn *txn, StoreKey key, Slice *val_out);
/* As store_get(), and no other transaction writes the row until this one ends. SAP_BUSY: another one
 * has it locked. */
int store_get_locked(SapStoreTxn *txn, StoreKey key, Slice *val_out);
int store_put(SapStoreTxn *txn, StoreKey key, Slice val, StorePutMode mode);
int store_del(SapStoreTxn *txn, StoreKey key);
int store_scan(SapStoreTxn *txn, const SapStoreRange *range, bool backward, uint32_t limit,
               const SapStoreRow **rows_out, uint32_t *count_out);

/* As sap_store_run(), without the wait for the disk: see sap_store_commit_async(). */
int store_run_async(SapStore *store, SapStoreKind kind, SapStoreBody body, void *ctx,
                    uint64_t *mark_out, bool *outcome_unknown);

/* For a thread that waits for rows, and for something of its own process that is no row:
 *
 *   pokes = store_pokes(store, sort);   then look at both; nothing there:
 *   store_wait_poked(..., sort, pokes, timeout);
 *
 * store_poke(store, sort) ends that wait, and a later one with the same `pokes`. */
typedef enum StorePoke {
    STORE_POKE_JOB = 0,  /* a handler has returned: for whoever runs worlds */
    STORE_POKE_CALL = 1, /* a call to the outside has ended: for whoever makes them */
} StorePoke;
uint64_t store_pokes(SapStore *store, StorePoke sort);
void store_poke(SapStore *store, StorePoke sort);
int store_wait_poked(SapStore *store, SapStoreKind kind, const SapStorePrefix *prefix,
                     uint64_t version_seen, StorePoke sort, uint64_t pokes_seen,
                     uint64_t timeout_ns);

/* The implementations. `name` and `path` are what follows the scheme, `url` is all of it. */
int memory_store_open(const char *name, SapStore **store_out);
int file_store_open(const char *path, const SapStoreOptions *options, SapStore **store_out);
int postgres_store_open(const char *url, const SapStoreOptions *options, SapStore **store_out);
/* Makes what postgres_store_open() expects to find. */
int postgres_store_init(const char *url, const SapStoreOptions *options);

#endif
