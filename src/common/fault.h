/* fault.h - places where a test can make the world fail.
 *
 * Code asks a fault point right before it depends on something that can fail: memory, the disk, a
 * lock, or going on living. A test arms a fault at the n-th question from now and looks at what
 * the caller makes of it; looping n = 1, 2, ... until fault_fired() stays 0 covers them all.
 *
 * The questions are counted per kind across all threads, so exactly one question is the n-th. Arm
 * and reset while no other thread is at a fault point. With SAP_FAULTS 0 the questions are
 * constants that vanish, and the rest of the interface does not exist. */
#ifndef SAPLING_COMMON_FAULT_H
#define SAPLING_COMMON_FAULT_H

#include "common/config.h"

#include <stdbool.h>
#include <stdint.h>

#if SAP_FAULTS

/* Exit status of a process that fault_step ended, unlike any that a test would choose. */
enum { FAULT_CRASH_STATUS = 86 };

/* Disarms everything and sets all counts to 0. */
void fault_reset(void);

/* Arms one kind, replacing what was armed for it before. `nth` is 1 for the very next question; 0
 * disarms. The _from forms fail the n-th and all later ones. `err` is the errno to fake, not 0. */
void fault_arm_alloc(uint64_t nth);
void fault_arm_alloc_from(uint64_t nth);
void fault_arm_io(uint64_t nth, int err);
void fault_arm_io_from(uint64_t nth, int err);
void fault_arm_busy(uint64_t nth);

/* At the n-th step from now the process ends at once with FAULT_CRASH_STATUS: no handlers, no
 * flushing, as if it had been killed. */
void fault_arm_crash(uint64_t nth_step);

/* Calls fn at every step, in the thread that has come to it and with the locks that it holds there.
 * NULL: nobody, and threads may be at a step then; fn is set while none is. fault_reset() leaves it. */
void fault_on_step(void (*fn)(const char *name, void *ctx), void *ctx);

/* The questions. True, or an errno, means: act as if it had failed. */
bool fault_alloc(void);
int fault_io(void);
bool fault_busy(void);

/* A point between two durable effects where a crash matters. `name` is for whoever reads the
 * call or breaks on it in a debugger. */
void fault_step(const char *name);

/* Questions seen since the last reset, fired or not. */
uint64_t fault_alloc_count(void);
uint64_t fault_io_count(void);
uint64_t fault_busy_count(void);
uint64_t fault_step_count(void);

/* Faults fired since the last reset, all kinds together. */
uint64_t fault_fired(void);

#else

static inline bool fault_alloc(void)
{
    return false;
}

static inline int fault_io(void)
{
    return 0;
}

static inline bool fault_busy(void)
{
    return false;
}

static inline void fault_step(const char *name)
{
    (void)name;
}

#endif

#endif
