/* lease_v0.h - who may handle a message, or hold anything else, and until when.
 *
 * At every commit at most one unexpired lease exists per key. Expiry, not the owner's consent,
 * frees a lease: a slow owner can lose it inside its handler, so whatever is done under a lease
 * checks the token in the transaction that does it. Tokens are never given out twice. */
#ifndef SAPLING_RUNNER_LEASE_V0_H
#define SAPLING_RUNNER_LEASE_V0_H

#include "runner/rows.h"
#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

#include <stdbool.h>

/* now_ms + ttl_ms without overflow. */
int64_t lease_deadline(int64_t now_ms, int64_t ttl_ms);

/* Whoever opens a DB for claims calls this first. Claims do not wait for the disk, so a crash may
 * take back the mark of their tokens while their holders live on, in other processes: the mark
 * jumps ahead of all that were given out and lost. Returns when that is acknowledged. */
int lease_jump_tokens(DB *db);

/* SAP_CORRUPT: not a lease. */
int lease_decode(const void *val, uint32_t val_len, SapRunnerV0Lease *lease_out);

enum { LEASE_SIZE = 32 };
/* The row of a lease, whose owner is not 0. */
void lease_encode(const SapRunnerV0Lease *lease, uint8_t row_out[LEASE_SIZE]);

/* Puts a lease with a new token, one of `tokens` (may be NULL) while it has any; whoever calls has
 * made sure that nobody holds the key. */
int lease_put(Txn *txn, RowNumbers *tokens, const void *key, uint32_t key_len, uint64_t owner,
              int64_t deadline_ms, uint32_t attempts, SapRunnerV0Lease *lease_out);

/* SAP_CONFLICT: the key is not leased with this token. */
int lease_check(Txn *txn, const void *key, uint32_t key_len, uint64_t token,
                SapRunnerV0Lease *lease_out);

#endif
