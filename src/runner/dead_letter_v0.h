/* dead_letter_v0.h - messages that were given up, kept until someone decides.
 *
 * A dead letter has the key that the message had in its inbox. Numbers are never given out twice, so
 * the slot is free; should it not be, nothing is overwritten. */
#ifndef SAPLING_RUNNER_DEAD_LETTER_V0_H
#define SAPLING_RUNNER_DEAD_LETTER_V0_H

#include "sapling/runner_v0.h"

/* Moves the inbox row there, with its lease (if any) and retry count gone. */
int dead_letter_move_row(Txn *txn, uint64_t worker, uint64_t seq, uint32_t attempts, int why);

/* Keeps a frame that is in no inbox, under a new number of the worker's. */
int dead_letter_put(Txn *txn, uint64_t worker, const void *frame, uint32_t frame_len, int why);

#endif
