/* timer_v0.h - messages that come at a time.
 *
 * Timers lie in the order in which they are due, so that the earliest is the first row, however
 * many are armed. A timer leaves the table in the transaction that puts its message into an inbox.
 *
 * A message that waits for its next attempt is a timer that has failed attempts counted. When it is
 * due it goes to the tail of its inbox, its count with it, where claims treat it as any message
 * that failed. */
#ifndef SAPLING_RUNNER_TIMER_V0_H
#define SAPLING_RUNNER_TIMER_V0_H

#include "runner/mailbox_v0.h"
#include "runner/outbox_v0.h"
#include "runner/rows.h"

/* What became of due timers. */
typedef struct TimersTaken {
    uint32_t claimed;
    uint32_t moved; /* to an inbox or the outbox */
    uint32_t dead;  /* no message: dead letters of the worker */
} TimersTaken;

/* Takes up to `max` due timers. A message that failed before goes to its inbox. Of the others,
 * those for the worker of the options become claims (claims NULL: none does), those for local
 * workers go to their inboxes, and those for workers elsewhere to the outbox. `log` (may be NULL)
 * gets dead letters. */
int timer_claim_due(Txn *txn, const SapRunnerV0ClaimOptions *options, LocalWorkers *local,
                    SapRunnerV0Claim *claims, uint32_t max, MailboxLog *log,
                    TimersTaken *taken_out);

/* Looks from `from` on (all zero: from the first) for a due timer that is a message of the worker
 * and waits for its next attempt. Looks at a bounded number: *from is where the next call goes on;
 * on the one found, if one was. */
int timer_find_retry(Txn *txn, int64_t worker_id, int64_t now_ms, RowKey *from, bool *found_out);
/* Moves up to `max` of them to the tail of the inbox. */
int timer_move_retries(Txn *txn, int64_t worker_id, int64_t now_ms, uint32_t max, RowKey *from,
                       uint32_t *moved_out);

#endif
