/* scheduler_v0.h - when a worker has to be awake.
 *
 * The calls are in sapling/runner_v0.h: the first row of the timers says when the next is due, and a
 * sleep ends there or at its bound, whichever comes first. */
#ifndef SAPLING_RUNNER_SCHEDULER_V0_H
#define SAPLING_RUNNER_SCHEDULER_V0_H

#include "sapling/runner_v0.h"

#endif
