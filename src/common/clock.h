/* clock.h - time as an object.
 *
 * Whoever needs the time takes a Clock; NULL is the system's. Only clock.c asks the system, so a
 * test or the simulator that passes its own clock decides every instant the code sees.
 *
 * Wall time counts from 1970-01-01 UTC and may jump either way. Monotonic time and boot time never go
 * back while the machine runs, and only their differences have a meaning. Monotonic time stands
 * still while the machine is suspended; boot time goes on. Both start again near 0 at a reboot, so
 * neither may be stored and compared after one. */
#ifndef SAPLING_COMMON_CLOCK_H
#define SAPLING_COMMON_CLOCK_H

#include "common/relaxed.h"

#include <stdint.h>

typedef struct Clock {
    int64_t (*wall_ms)(void *ctx);
    uint64_t (*wall_ns)(void *ctx);
    uint64_t (*mono_ns)(void *ctx);
    uint64_t (*boot_ns)(void *ctx);
    void *ctx;
} Clock;

/* Static storage. A wall time before 1970 reads as 0 in wall_ns. Where the system has no boot time,
 * boot_ns is monotonic time. */
const Clock *clock_system(void);

/* NULL is the system's clock. */
int64_t clock_wall_ms(const Clock *clock);
uint64_t clock_wall_ns(const Clock *clock);
uint64_t clock_mono_ns(const Clock *clock);
uint64_t clock_boot_ns(const Clock *clock);

/* A clock that moves only when a test moves it. Any thread may read it and move it. */
typedef struct ManualClock {
    RelaxedU64 wall_ns;
    RelaxedU64 mono_ns;
    RelaxedU64 boot_ns;
} ManualClock;

/* Where a manual clock's monotonic and boot time start. They differ from each other and from wall
 * time, so that code that mixes two of them is caught, and are not 0, which some code takes for
 * "never". */
#define MANUAL_CLOCK_MONO_START_NS UINT64_C(1000000000)
#define MANUAL_CLOCK_BOOT_START_NS UINT64_C(2000000000)

/* Wall time starts at start_ns. */
void manual_clock_init(ManualClock *manual, uint64_t start_ns);

/* Moves all times forward. */
void manual_clock_advance_ns(ManualClock *manual, uint64_t delta_ns);
void manual_clock_advance_ms(ManualClock *manual, uint64_t delta_ms);

/* Sets the wall time, back or forth, as an administrator would. */
void manual_clock_set_wall_ns(ManualClock *manual, uint64_t wall_ns);
/* Moves the wall time alone, by so much and not before 1970. */
void manual_clock_step_wall_ms(ManualClock *manual, int64_t delta_ms);

/* The machine is suspended for so long: wall time and boot time go on, monotonic time does not. */
void manual_clock_suspend_ns(ManualClock *manual, uint64_t delta_ns);

/* The machine is off for off_ns and starts again: wall time goes on, monotonic time and boot time
 * are where manual_clock_init() sets them. No code may use the clock across this that did not start
 * with the machine. */
void manual_clock_reboot(ManualClock *manual, uint64_t off_ns);

/* A clock that reads `manual`, which is borrowed as long as the clock is used. */
Clock manual_clock(ManualClock *manual);

#endif
