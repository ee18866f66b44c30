/* driver.h - operations by choice on an engine and on a model of it, compared all along.
 *
 * One run makes an arena and a DB with eight tables (plain ones, tables of pairs, one whose rows
 * expire), performs operations on a write transaction with nested children, on a few read
 * transactions that stay open across commits, and on cursors of all of them, with watches and
 * checkpoint streams in between, and ends with everything closed and all memory given back. It
 * aborts at the first answer that the model does not give. */
#ifndef SAPLING_TESTS_DRIVER_H
#define SAPLING_TESTS_DRIVER_H

#include "support/backing.h"
#include "support/choice.h"
#include "support/orders.h"

typedef enum KeyShape {
    KEYS_SHORT,      /* 0 to 6 random bytes */
    KEYS_PREFIXED,   /* a few bytes behind long common prefixes */
    KEYS_SEQUENTIAL, /* 8 bytes big-endian */
    KEYS_DECIMAL,    /* numbers as text, with letters for the folded order */
    KEYS_EXTREME,    /* bytes 0x00 and 0xff */
    KEYS_CHAINED,    /* each the prefix of the next: "a", "a\0", "a\0\0" */
    KEYS_LONGEST,    /* the longest possible and a little below */
    KEYS_MIXED,
    KEY_SHAPE_COUNT
} KeyShape;

typedef enum ValueShape {
    VALUES_EMPTY,
    VALUES_SMALL,    /* below 24 bytes */
    VALUES_LIMIT,    /* around the longest that lies in a leaf */
    VALUES_OVERFLOW, /* one to four pages */
    VALUES_MIXED,    /* all of these and up to 100 KiB */
    VALUE_SHAPE_COUNT
} ValueShape;

/* Sees the outermost write transactions of a run, with a second DB that has the same tables. */
typedef struct DriverObserver {
    void (*opened)(SapEnv *db, void *ctx);
    void (*committing)(SapTxnCtx *txn, void *ctx);
    void (*committed)(SapEnv *db, SapEnv *replica, void *ctx); /* after a commit that succeeded */
    void *ctx;
} DriverObserver;

typedef struct DriverConfig {
    uint32_t page_size;
    BackingKind backing;
    OrderKind order; /* of DBI 0; the other tables take those that follow */
    KeyShape keys;
    ValueShape values;
    uint32_t key_space;             /* how many different keys a table can get */
    uint32_t operations;            /* fewer if the choices are used up */
    uint32_t fault_one_in;          /* how often an allocation fails; 0: never */
    uint64_t value_budget;          /* bytes; when they are used up values are small */
    const DriverObserver *observer; /* NULL: none */
    /* Of a new file for the DB, which is closed and opened now and then; NULL: in an arena. */
    const char *path;
    SapSyncMode sync_mode; /* of the file */
    uint64_t checkpoint_bytes;
} DriverConfig;

typedef struct DriverCounts {
    uint64_t operations;
    uint64_t changes; /* puts and deletes that took effect */
    uint64_t cursor_moves;
    uint64_t commits; /* outermost */
    uint64_t aborts;
    uint64_t children;
    uint64_t snapshots; /* old read transactions compared in full */
    uint64_t rows;      /* compared */
    uint64_t faults;    /* allocations made to fail */
    uint64_t pairs;     /* put and deleted one by one */
    uint64_t ranges;    /* deleted */
    uint64_t loads;
    uint64_t merges;
    uint64_t expiries; /* rows removed because they had expired */
    uint64_t events;   /* told to watches */
    uint64_t streams;  /* written and restored */
    uint64_t openings; /* of the file, after the first */
} DriverCounts;

extern const uint32_t driver_page_sizes[];
extern const uint32_t driver_page_size_count;

/* Adds to *counts. */
void driver_run(const DriverConfig *config, Choice *choice, DriverCounts *counts);

void driver_print_counts(const char *name, const DriverCounts *counts);

#endif
