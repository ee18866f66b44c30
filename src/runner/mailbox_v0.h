/* mailbox_v0.h - a worker's messages, and claims on them.
 *
 * Rows of the inbox are keyed by worker and number, so that one worker's messages lie together in
 * the order in which they are handled. A message is claimed when the table of leases has its key.
 *
 *   - Every key of a lease on a message is that of an inbox row: whatever removes the row removes
 *     the lease in the same transaction.
 *   - Hence the first message that nobody holds is where the two tables stop agreeing, which counts
 *     of rows find without visiting those before it.
 *   - What ends a claim (acknowledge, put back, give up) checks its token: a late worker changes
 *     nothing.
 *   - Failed attempts are counted for each message (dedupe_v0.h). The count survives requeue and
 *     takeover. An attempt whose lease expired has failed. */
#ifndef SAPLING_RUNNER_MAILBOX_V0_H
#define SAPLING_RUNNER_MAILBOX_V0_H

#include "runner/rows.h"
#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

#include <stdbool.h>

/* Defaults of SapRunnerV0Policy, and of options that leave them out. */
enum {
    MAILBOX_LEASE_TTL_MS = 1000,
    MAILBOX_RETRY_BUDGET = 10,
    MAILBOX_BACKOFF_MS = 100,
    MAILBOX_BACKOFF_MAX_MS = 60000,
    MAILBOX_REQUEUE_SLOTS = 4,
};
#define MAILBOX_DEDUPE_TTL_MS (UINT64_C(24) * 60 * 60 * 1000)

/* The bounds of a worker's rows in inbox and leases. */
typedef struct MailboxRange {
    uint8_t lo[16];
    uint8_t hi[16];
} MailboxRange;
MailboxRange mailbox_range(int64_t worker_id);

/* How many messages are waiting, and how many of them are leased. */
int mailbox_counts(Txn *txn, int64_t worker_id, uint64_t *count_out, uint64_t *leased_out);

/* Looks for an expired lease of the worker, through all of them if need be. */
int mailbox_any_expired(Txn *txn, int64_t worker_id, int64_t now_ms, bool *expired_out);

/* As sap_runner_mailbox_v0_send(), with a number of those given (may be NULL) while there are
 * any. */
int mailbox_send_numbered(Txn *txn, RowNumbers *numbers, const void *frame, uint32_t frame_len,
                          uint64_t *seq_out);

/* Puts a frame that is known to be a message for `worker`, and not to have failed before, into its
 * inbox and leases it. The frame is copied into the claim. */
int mailbox_put_claimed(Txn *txn, const SapRunnerV0ClaimOptions *options, const void *frame,
                        uint32_t frame_len, SapRunnerV0Claim *claim_out);

/* Returns when no crash can take back what the claims are about, so that whoever holds them may act
 * on the outside. base_lsn is what the claiming transaction was based on. The messages are what
 * matters: a crash that takes back how others left them (put back, expired) only has them handled
 * again. */
int mailbox_wait_durable(DB *db, const SapRunnerV0Claim *claims, uint32_t count, uint64_t base_lsn);

/* What a claiming transaction found on its way and ended; reported after its commit (reports.h). */
typedef struct MailboxMet {
    SapRunnerV0LogKind kind;
    SapRunnerV0Claim claim; /* as far as it is known; its frame is a copy */
    int rc;
    uint32_t detail;
} MailboxMet;

/* Everything that the transaction found: each dead letter is reported. All zero: empty. */
typedef struct MailboxLog {
    MailboxMet *met;
    size_t count;
    size_t room;
} MailboxLog;
void mailbox_log_release(MailboxLog *log);
/* Keeps a copy of what was found; key, token and frame of `claim` matter. log NULL: nobody wants
 * reports. On SAP_NOMEM the caller aborts the transaction, so that nothing ends without a
 * report. */
int mailbox_note(MailboxLog *log, SapRunnerV0LogKind kind, const SapRunnerV0Claim *claim, int why,
                 uint32_t detail);

/* As sap_runner_mailbox_v0_claim(); `log` (may be NULL) gets what it found. */
int mailbox_claim(Txn *txn, const SapRunnerV0ClaimOptions *options, SapRunnerV0Claim *claims,
                  uint32_t max, uint32_t *count_out, SapRunnerV0ClaimReport *report_out,
                  MailboxLog *log);

/* The two waits of a policy from what was given, 0 being the default. False: they contradict each
 * other. *first_out is below 0 for none. */
bool mailbox_backoff_complete(int64_t first_ms, int64_t longest_ms, int64_t *first_out,
                              int64_t *longest_out);

/* How long a message waits after `failed` attempts; 0: not at all. `dice` is any number, for the
 * jitter. */
int64_t mailbox_backoff_ms(int64_t first_ms, int64_t longest_ms, uint32_t failed, uint32_t dice);

/* The attempt failed: the message comes again at the tail after wait_ms, or at once if that is 0.
 * SAP_CONFLICT, SAP_EXISTS: as sap_runner_mailbox_v0_requeue(). */
int mailbox_retry(Txn *txn, const SapRunnerV0Claim *claim, uint32_t max_slots, int64_t now_ms,
                  int64_t wait_ms);

/* Removes row, lease and retry count of a claim. SAP_CONFLICT: see ack. */
int mailbox_remove(Txn *txn, const SapRunnerV0Claim *claim);

/* The claim's message has been handled before: gone, and noted. */
int mailbox_drop_duplicate(Txn *txn, const SapRunnerV0Claim *claim, int64_t now_ms);

#endif
