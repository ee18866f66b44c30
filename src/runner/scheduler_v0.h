/* scheduler_v0.h - when a worker has to be awake.
 *
 * The calls are in sapling/runner_v0.h: the first row of the timers says when the next is due, and
 * a sleep ends there or at its bound, whichever comes first. Waits that double are defined here,
 * too. */
#ifndef SAPLING_RUNNER_SCHEDULER_V0_H
#define SAPLING_RUNNER_SCHEDULER_V0_H

#include "sapling/runner_v0.h"

/* How long to wait before retry `n`, from 0 on: `first` doubled n times, at most `longest`; of that
 * a part between the half and all of it, as `dice` says. In whatever unit the two are. */
uint64_t scheduler_backoff(uint64_t first, uint64_t longest, uint32_t n, uint32_t dice);

#endif
