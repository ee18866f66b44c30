/* attempt_handler_v0.h - one atomic block for one message.
 *
 * What the block wrote, what it sent and armed, the row that remembers the message's id, and the
 * end of the message's claim are one commit. So the block's effects are there exactly when the
 * message is gone, and a worker that has lost its lease changes nothing. */
#ifndef SAPLING_RUNNER_ATTEMPT_HANDLER_V0_H
#define SAPLING_RUNNER_ATTEMPT_HANDLER_V0_H

#include "runner/runner_v0.h"

/* Why a block that wanted to commit was not allowed to. A block may return any code, so no code can
 * say it. */
typedef struct AttemptRefused {
    bool lost;      /* the lease has passed to another */
    bool duplicate; /* a message of this id was handled before */
    bool differs;   /* that one had another payload */
} AttemptRefused;

/* Runs the block for `msg`; claim NULL: there is no claim to end. Returns the block's code, unless
 * *refused_out has a reason: then nothing was done. A read-only block leaves the claim to the
 * caller. */
int attempt_handler_run(SapRunnerV0 *runner, const SapRunnerV0Handler *handler,
                        const SapRunnerV0Message *msg, const SapRunnerV0Claim *claim,
                        AttemptRefused *refused_out);

#endif
