/* intent_sink_v0.h - what a block wanted done becomes rows, in the commit of the block.
 *
 * An emit is a row of the outbox, a timer a row of the timers: both are there exactly when the
 * block's writes are. */
#ifndef SAPLING_RUNNER_INTENT_SINK_V0_H
#define SAPLING_RUNNER_INTENT_SINK_V0_H

#include "sapling/runner_v0.h"

#endif
