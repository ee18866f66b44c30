/* dedupe_v0.h - what is remembered of a message by its inbox and id: that it was handled, and how
 * often it failed.
 *
 * A seen row is written in the commit that acknowledges a message flagged for it, and expires. A
 * retry row counts failed attempts; it goes with the message it counts, whichever way that goes. Ids
 * may repeat: messages of one id in one inbox share their count. An id travels through many inboxes,
 * where each has a life of its own. */
#ifndef SAPLING_RUNNER_DEDUPE_V0_H
#define SAPLING_RUNNER_DEDUPE_V0_H

#include "sapling/runner_v0.h"

/* Failed attempts of the id in the inbox of `worker`; 0 when there is no row. */
int dedupe_retries(Txn *txn, uint64_t worker, const void *id, uint32_t id_len, uint32_t *count_out);
/* Count 0 removes the row, if there is one. */
int dedupe_set_retries(Txn *txn, uint64_t worker, const void *id, uint32_t id_len, uint32_t count);

/* What is done with a message that was handled before: notes when it came, and whether its payload
 * differs. */
int dedupe_note_again(Txn *txn, uint64_t worker, const void *id, uint32_t id_len, int64_t now_ms);

#endif
