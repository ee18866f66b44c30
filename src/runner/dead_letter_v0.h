/* dead_letter_v0.h - messages that were given up, kept until someone decides.
 *
 * A dead letter has the key that the message had in its inbox. Numbers are never given out twice,
 * so the slot is free; should it not be, nothing is overwritten.
 *
 * Each move is reported to the log sink and the replay hook of the runner or queue that made it. */
#ifndef SAPLING_RUNNER_DEAD_LETTER_V0_H
#define SAPLING_RUNNER_DEAD_LETTER_V0_H

#include "runner/mailbox_v0.h"
#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

/* Moves the inbox row there, with its lease (if any) and retry count gone. */
int dead_letter_move_row(Txn *txn, uint64_t worker, uint64_t seq, uint32_t attempts, int why);

/* Keeps bytes that are not a message, from outside the inboxes, under a new number of the worker's;
 * `log` (may be NULL) gets it by that number. The bytes are the caller's own, not a row. */
int dead_letter_put_garbage(Txn *txn, uint64_t worker, const void *bytes, uint32_t len,
                            MailboxLog *log);

#endif
