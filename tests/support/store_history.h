/* store_history.h - clients of one store whose calls make a history for linear_check().
 *
 * A client does operations on a few rows, each a whole transaction that is run again when it was
 * refused, and notes when it started, when it was acknowledged, and what it returned. The rows: two
 * registers, which every writer guards; two unique rows, which are put if absent, and deleted, without
 * guards; and a queue, whose rows are claimed. */
#ifndef SAPLING_TESTS_STORE_HISTORY_H
#define SAPLING_TESTS_STORE_HISTORY_H

#include "common/random.h"
#include "sapling/store.h"
#include "support/linear.h"
#include "support/store_suite.h"

#include <pthread.h>

enum {
    HISTORY_REGISTERS = 2,
    HISTORY_UNIQUES = 2,
    HISTORY_ITEMS = 64,
    HISTORY_CLIENTS = 4,
    HISTORY_MAX = 1024,   /* operations */
    HISTORY_UNKNOWNS = 5, /* outcomes: each doubles the search */
};

typedef enum HistoryKind {
    HISTORY_ADD,          /* one more in one register: its old value */
    HISTORY_ADD_ALL,      /* the same in all registers */
    HISTORY_SET,          /* a register */
    HISTORY_READ_GUARDED, /* all registers, under shared guards */
    HISTORY_READ_DURABLE, /* everything */
    HISTORY_READ_NEWEST,
    HISTORY_PUT_UNIQUE, /* whether it was absent */
    HISTORY_DEL_UNIQUE, /* whether it was there */
    HISTORY_PUSH,       /* an item of the queue that was never there */
    HISTORY_CLAIM,      /* which items */
    HISTORY_KIND_COUNT,
} HistoryKind;

/* What clients can do wrong on purpose. */
typedef enum HistoryBug {
    HISTORY_NO_BUG,
    HISTORY_SPLIT_ADD,     /* reads in one transaction and writes in the next */
    HISTORY_NO_GUARD,      /* adds without a guard */
    HISTORY_EARLY_ACK,     /* acknowledges what is not durable */
    HISTORY_CLAIM_BY_SCAN, /* finds rows in one transaction and moves them in the next */
    HISTORY_BLIND_RETRY,   /* runs again what has an unknown outcome, and reports the last run */
} HistoryBug;

typedef struct HistoryState {
    uint32_t registers[HISTORY_REGISTERS]; /* 0: no row */
    uint32_t uniques[HISTORY_UNIQUES];     /* 0: no row */
    uint64_t queued;                       /* a bit for each item */
} HistoryState;

typedef struct HistoryOp {
    LinearCall call;
    HistoryKind kind;
    uint32_t row;      /* register, unique or item */
    uint32_t val;      /* put */
    uint32_t limit;    /* of a claim */
    bool found;        /* the row was there */
    bool skips;        /* the claim may have passed over rows that others had locked */
    HistoryState seen; /* what was read or claimed */
} HistoryOp;

extern const LinearModel history_model;

typedef struct History History;

typedef struct HistoryClient {
    History *history;
    SapStore *store;
    Rng rng;
    uint32_t ops_left;
    bool is_active; /* in an operation */
} HistoryClient;

struct History {
    HistoryClient clients[HISTORY_CLIENTS];
    HistoryBug bug;
    bool one_thread; /* the hook steps other clients */
    bool
        skips_locked; /* claims pass over what others have locked: more than one may write at once */
    bool has_faults;  /* the hook refuses, fails and loses connections */
    _Atomic uint64_t moment;
    _Atomic uint32_t next_item;
    _Atomic uint32_t next_val;
    _Atomic uint32_t unknowns;
    pthread_mutex_t lock; /* of what follows */
    HistoryOp ops[HISTORY_MAX];
    uint32_t op_count;
    uint32_t kinds[HISTORY_KIND_COUNT];
    uint32_t refused; /* operations without an effect, left out */
};

/* All clients make `ops_each` operations on the bed, decided by the seed: nested in one thread, or in
 * a thread each. Returns whether their history is linearizable. */
typedef struct HistoryPlan {
    const StoreBed *bed;
    uint64_t seed;
    uint32_t ops_each;
    HistoryBug bug;
    bool has_faults;
} HistoryPlan;

/* Counts of all runs. */
typedef struct HistoryCounts {
    uint64_t histories;
    uint64_t ops;
    uint64_t kinds[HISTORY_KIND_COUNT];
    uint64_t unknown;
    uint64_t refused;
    uint64_t faults;
    LinearEffort effort;
} HistoryCounts;

bool history_run(const HistoryPlan *plan, HistoryCounts *counts);

void history_print(const char *name, uint64_t first_seed, const HistoryCounts *counts);

#endif
