/* tx.h - a DB with a context over it, and blocks in one line each, keys and values as texts. */
#ifndef SAPLING_TESTS_TX_H
#define SAPLING_TESTS_TX_H

#include "sapling/runner_v0.h"

#include <stddef.h>
#include <stdint.h>

/* Tables that are open beside DBI 0 and 8. */
enum { TX_DUPSORT = 10, TX_TTL_META = 11, TX_REVERSE = 12 };

typedef struct TxBed {
    SapEnv *db; /* in memory */
    SapRunnerTxCtxV0 *ctx;
    SapTxnCtx *snapshot; /* of the block under way, or NULL */
} TxBed;

void tx_bed_open(TxBed *bed, uint32_t page_size);
void tx_bed_close(TxBed *bed);
/* The runner's tables, DBI 1 to 7. */
void tx_open_runner_tables(SapEnv *db);
/* Begins a block on a new snapshot; one that is under way is forgotten. */
void tx_bed_begin(TxBed *bed, int read_only);
/* Validates, applies and commits the block, which must not conflict. */
void tx_bed_apply(TxBed *bed);

/* Committed rows. A NULL value is none. */
void tx_db_set(SapEnv *db, uint32_t dbi, const char *key, const char *val);
void tx_db_put(TxBed *bed, uint32_t dbi, const char *key, const char *val);
void tx_db_expect(TxBed *bed, uint32_t dbi, const char *key, const char *val);
void tx_db_expect_row(SapEnv *db, uint32_t dbi, const char *key, const char *val);
/* How many there are. */
uint64_t tx_db_rows(SapEnv *db, uint32_t dbi);

/* In the block. */
int tx_put(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *key, const char *val);
int tx_del(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *key);
void tx_expect_get(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *key, const char *val);
/* `rows` is "key=value " for each in order; the second stops at the key `last`. */
void tx_expect_scan(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *prefix, const char *rows);
void tx_expect_scan_to(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *prefix, const char *last,
                       const char *rows);

/* A callback of scans: counts in a uint32_t. */
int tx_count_rows(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                  void *count);

/* An intent frame with a message of this id to worker 7: an emit, or a timer from due_ms >= 0 on.
 * Returns its length. */
uint32_t tx_intent(uint8_t *frame, uint32_t cap, const char *id, int64_t due_ms);

#endif
