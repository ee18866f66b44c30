/* timer_v0.h - messages that come at a time.
 *
 * Timers lie in the order in which they are due, so that the earliest is the first row, however many
 * are armed. A timer leaves the table in the transaction that puts its message into an inbox. */
#ifndef SAPLING_RUNNER_TIMER_V0_H
#define SAPLING_RUNNER_TIMER_V0_H

#include "runner/outbox_v0.h"

/* Takes up to `max` due timers: those for the worker of the options become claims, those for other
 * local workers messages in their inboxes, those for workers elsewhere go to the outbox. Counts of
 * the last two are in *moved_out. Looks at no more than max of them. */
int timer_claim_due(Txn *txn, const SapRunnerV0ClaimOptions *options, LocalWorkers *local,
                    SapRunnerV0Claim *claims, uint32_t max, uint32_t *count_out,
                    uint32_t *moved_out);

#endif
