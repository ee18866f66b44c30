/* rows.h - keys of the runner's tables, and the numbers that are given out for them.
 *
 * A number is never given out twice: the last one of each table is kept in app_state, under
 * runner.seq.<table>, and moves in the transaction that uses the number. (The last key present
 * would not do: a drained table would begin again and meet its old dead letters.) */
#ifndef SAPLING_RUNNER_ROWS_H
#define SAPLING_RUNNER_ROWS_H

#include "sapling/sapling.h"

#include <stdbool.h>
#include <stdint.h>

#include "common/buf.h"
#include "wit_schema_dbis.h"

enum { ROW_KEY_SIZE = 16 };

typedef struct RowKey {
    uint8_t bytes[ROW_KEY_SIZE];
} RowKey;

/* The key of a message in inbox, leases and dead letters. Normal messages have this bit of their
 * number set, so that those of high priority sort before them. */
#define ROW_NORMAL_BIT (UINT64_C(1) << 63)
RowKey row_message_key(uint64_t worker, uint64_t seq);
RowKey row_timer_key(int64_t due_ms, uint64_t seq);

/* SAP_CORRUPT: not such a key. */
int row_message_key_read(const void *key, uint32_t len, uint64_t *worker_out, uint64_t *seq_out);
int row_timer_key_read(const void *key, uint32_t len, int64_t *due_ms_out, uint64_t *seq_out);

/* The key of the row that has the last number of the table named; returns its length. */
enum { ROW_MARK_KEY_MAX = 64, ROW_MARK_SIZE = 8 };
uint32_t row_mark_key(const char *table, char key[ROW_MARK_KEY_MAX]);

/* The number after the one in that row (val NULL: there is none), and the row after `count` of them
 * were given out. SAP_FULL: all 63 bits are used up. SAP_CORRUPT: not such a row. */
int row_mark_next(const void *val, uint32_t val_len, uint32_t count,
                  uint8_t mark_out[ROW_MARK_SIZE], uint64_t *number_out);

/* Numbers that a transaction has taken at once, to give out one by one in it. All zero: none. */
typedef struct RowNumbers {
    uint64_t next;
    uint32_t left;
} RowNumbers;
int row_take_numbers(Txn *txn, const char *table, uint32_t count, RowNumbers *numbers_out);

/* The next number, from 1 on, of the table named: one of `numbers` (may be NULL) while it has any.
 * SAP_FULL: all 63 bits are used up. */
int row_take_number(Txn *txn, const char *table, RowNumbers *numbers, uint64_t *number_out);

/* Whether the file is a store's (sapling/store.h): table 8 has a store's marker. Its rows are changed
 * through the store alone, which fences them; a queue, or a row of another program, in one of its
 * tables would make it unusable. */
int row_find_store(Txn *txn, bool *found_out);
bool row_is_store_marker(uint32_t dbi, Slice key, Slice val);

/* Opens a cursor. SAP_NOMEM, or what is wrong with the transaction or the table. */
int row_cursor_open(Txn *txn, uint32_t dbi, Cursor **cur_out);

/* A row that should decode and did not is damage, whatever the codec calls it. */
static inline int row_decoded(int rc)
{
    return rc == SAP_INVALID ? SAP_CORRUPT : rc;
}

#endif
