/* attempt_v0.h - running a block until it commits. The calls themselves: sapling/runner_v0.h.
 *
 * A block runs on a snapshot, with no write transaction open, however long it takes. Then a short
 * write transaction checks that what it has read is still so, and makes its writes true.
 *
 * Invariants:
 *  1. The snapshot is over before the write transaction begins: a block never holds pages while it
 *     waits for the writer.
 *  2. Validation is left out exactly when nothing was committed in between: the transaction begins
 *     on the commit that the snapshot was of.
 *  3. Nothing is answered that a crash could take back (unless SAP_RUNNER_ATTEMPT_V0_NO_WAIT): a
 *     block that has written nothing waits for what it has read. */
#ifndef SAPLING_RUNNER_ATTEMPT_V0_H
#define SAPLING_RUNNER_ATTEMPT_V0_H

#include "sapling/runner_v0.h"

/* The policy's defaults. */
enum { ATTEMPT_BACKOFF_US = 250, ATTEMPT_BACKOFF_MAX_US = 10000 };

#endif
