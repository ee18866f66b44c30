/* clock.h - time as an object.
 *
 * Whoever needs the time takes a Clock; NULL is the system's. Only clock.c asks the system, so a
 * test or the simulator that passes its own clock decides every instant the code sees.
 *
 * Wall time counts from 1970-01-01 UTC and may jump either way. Monotonic time never goes back
 * and has no meaning outside its clock: only differences of it do. */
#ifndef SAPLING_COMMON_CLOCK_H
#define SAPLING_COMMON_CLOCK_H

#include "common/relaxed.h"

#include <stdint.h>

typedef struct Clock {
    int64_t (*wall_ms)(void *ctx);
    uint64_t (*wall_ns)(void *ctx);
    uint64_t (*mono_ns)(void *ctx);
    void *ctx;
} Clock;

/* Static storage. A wall time before 1970 reads as 0 in wall_ns. */
const Clock *clock_system(void);

/* NULL is the system's clock. */
int64_t clock_wall_ms(const Clock *clock);
uint64_t clock_wall_ns(const Clock *clock);
uint64_t clock_mono_ns(const Clock *clock);

/* A clock that moves only when told to. Any thread may read it and move it. */
typedef struct ManualClock {
    RelaxedU64 wall_ns;
    RelaxedU64 mono_ns;
} ManualClock;

/* Where a manual clock's monotonic time starts: apart from its wall time, so that code that mixes
 * the two is caught, and not at 0, which some code takes for "never". */
#define MANUAL_CLOCK_MONO_START_NS UINT64_C(1000000000)

/* Wall time starts at start_ns. */
void manual_clock_init(ManualClock *manual, uint64_t start_ns);

/* Moves both times forward. */
void manual_clock_advance_ns(ManualClock *manual, uint64_t delta_ns);
void manual_clock_advance_ms(ManualClock *manual, uint64_t delta_ms);

/* Sets the wall time, back or forth, as an administrator would. */
void manual_clock_set_wall_ns(ManualClock *manual, uint64_t wall_ns);

/* A clock that reads `manual`, which is borrowed as long as the clock is used. */
Clock manual_clock(ManualClock *manual);

#endif
