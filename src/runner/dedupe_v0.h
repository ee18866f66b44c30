/* dedupe_v0.h - the rows of table 5: which ids an inbox has handled, and how often a message
 * failed.
 *
 * A seen row is written in the commit that acknowledges a message flagged for it, and expires. An
 * id travels through many inboxes: each remembers it separately.
 *
 * A retry row counts the failed attempts of one message. Its key is that of the message's row in
 * the inbox or the timers, since ids may repeat.
 *
 *   - Whatever moves a message from one row to another moves its count in the same transaction, and
 *     whatever removes the message removes its count.
 *   - A retry row without its message counts for nobody: no row gets a key that another had. */
#ifndef SAPLING_RUNNER_DEDUPE_V0_H
#define SAPLING_RUNNER_DEDUPE_V0_H

#include "runner/rows.h"
#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

/* Failed attempts of the message in row `row` of table `dbi`, inbox or timers; 0 when there is no
 * retry row. */
int dedupe_retries(Txn *txn, uint32_t dbi, const RowKey *row, uint32_t *count_out);
/* Count 0 removes the retry row, if there is one. */
int dedupe_set_retries(Txn *txn, uint32_t dbi, const RowKey *row, uint32_t count);

/* Notes when a message came whose id was handled before. */
int dedupe_note_again(Txn *txn, uint64_t worker, const void *id, uint32_t id_len, int64_t now_ms);

#endif
