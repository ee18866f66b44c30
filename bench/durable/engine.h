/* engine.h - what a storage engine must offer for its durable commits to be measured.
 *
 * An engine is one DurEngine: a table of functions over its own DurStore (an open store) and
 * DurSession (what one thread needs to commit). A store has up to DUR_MAX_TABLES tables that all
 * get the same rows. Calls answer 0 or a code of the engine's own, which error_text() names. */
#ifndef DURABLE_ENGINE_H
#define DURABLE_ENGINE_H

#include "data.h"

#include <stdint.h>

typedef struct DurStore DurStore;
typedef struct DurSession DurSession;

enum { DUR_MAX_TABLES = 5 };

typedef struct DurRow {
    uint8_t key[BENCH_KEY_LEN];
    uint8_t val[BENCH_VAL_LEN];
} DurRow;

typedef struct DurOpen {
    const char *dir; /* empty, or what the same engine left in it */
    uint32_t tables;
    uint64_t checkpoint_bytes; /* of log that start a checkpoint; 0: the engine's default */
} DurOpen;

typedef struct DurEngine {
    const char *name; /* as in --engines and the reports */
    const char *what; /* one line: how the engine is set up */
    /* Commits of one thread in which the work behind the commits comes around once, if every
     * `checkpoint_bytes` of log (not 0) start a checkpoint. */
    uint64_t (*cycle_commits)(uint64_t checkpoint_bytes);

    /* Makes the tables that are missing. Caller owns *store_out, release with close(). */
    int (*open)(const DurOpen *options, DurStore **store_out);
    /* Frees the store whatever it answers; all sessions are closed. */
    int (*close)(DurStore *store);
    /* Does all the work that would come later, and leaves the store as it is after a long time of
     * commits. NULL: closing the store and opening it again does the same. */
    int (*settle)(DurStore *store);

    /* Puts the rows into every table of a new store by the engine's fastest means; on return they
     * are in its files, though not necessarily on disk. */
    int (*fill)(DurStore *store, const DurRow *rows, uint64_t count);

    /* Both may be NULL: threads commit without a session. */
    int (*session_open)(DurStore *store, DurSession **session_out);
    void (*session_close)(DurSession *session);

    /* One transaction that puts the row into every table; 0 when it is durable. Threads call it at
     * the same time, each with its own session. */
    int (*commit)(DurStore *store, DurSession *session, const DurRow *row);

    /* Rows of a table, by looking at each. */
    int (*count)(DurStore *store, uint32_t table, uint64_t *rows_out);

    /* Of a call that this thread made. */
    const char *(*error_text)(int rc);
} DurEngine;

extern const DurEngine dur_sapling;
extern const DurEngine dur_lmdb;
extern const DurEngine dur_rocksdb;
extern const DurEngine dur_sqlite;
extern const DurEngine dur_bare;

#endif
