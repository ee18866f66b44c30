#include "common/fault.h"

#if SAP_FAULTS

#include "common/assert.h"
#include "common/relaxed.h"
#include "common/sync.h"

#include <unistd.h>

/* A kind fires at the questions first..last, numbered from 1 since the last reset. last 0 is
 * disarmed, which is the one comparison that an unarmed question pays beyond its count. */
typedef struct FaultKind {
    RelaxedU64 seen;
    RelaxedU64 first;
    RelaxedU64 last;
    RelaxedU64 err;
} FaultKind;

static FaultKind alloc_faults;
static FaultKind io_faults;
static FaultKind busy_faults;
static FaultKind step_faults;
static RelaxedU64 fired;
typedef void (*StepFunction)(const char *name, void *ctx);
static SAP_ATOMIC(StepFunction) on_step;
static SAP_ATOMIC(void *) on_step_ctx;

static void reset_kind(FaultKind *kind)
{
    relaxed_store(&kind->last, 0);
    relaxed_store(&kind->first, 0);
    relaxed_store(&kind->err, 0);
    relaxed_store(&kind->seen, 0);
}

static void arm(FaultKind *kind, uint64_t nth, bool and_later)
{
    uint64_t first = relaxed_load(&kind->seen) + nth;

    relaxed_store(&kind->first, first);
    relaxed_store(&kind->last, nth == 0 ? 0 : and_later ? UINT64_MAX : first);
}

static void arm_io(uint64_t nth, int err, bool and_later)
{
    SAP_ASSERT(err > 0);
    relaxed_store(&io_faults.err, (uint64_t)err);
    arm(&io_faults, nth, and_later);
}

static bool ask(FaultKind *kind)
{
    uint64_t number = relaxed_add(&kind->seen, 1) + 1;

    if (sap_likely(number > relaxed_load(&kind->last)) || number < relaxed_load(&kind->first)) {
        return false;
    }
    relaxed_add(&fired, 1);
    return true;
}

void fault_reset(void)
{
    reset_kind(&alloc_faults);
    reset_kind(&io_faults);
    reset_kind(&busy_faults);
    reset_kind(&step_faults);
    relaxed_store(&fired, 0);
}

void fault_arm_alloc(uint64_t nth)
{
    arm(&alloc_faults, nth, false);
}

void fault_arm_alloc_from(uint64_t nth)
{
    arm(&alloc_faults, nth, true);
}

void fault_arm_io(uint64_t nth, int err)
{
    arm_io(nth, err, false);
}

void fault_arm_io_from(uint64_t nth, int err)
{
    arm_io(nth, err, true);
}

void fault_arm_busy(uint64_t nth)
{
    arm(&busy_faults, nth, false);
}

void fault_arm_crash(uint64_t nth_step)
{
    arm(&step_faults, nth_step, false);
}

bool fault_alloc(void)
{
    return ask(&alloc_faults);
}

int fault_io(void)
{
    return ask(&io_faults) ? (int)relaxed_load(&io_faults.err) : 0;
}

bool fault_busy(void)
{
    return ask(&busy_faults);
}

void fault_on_step(void (*fn)(const char *name, void *ctx), void *ctx)
{
    if (fn != NULL) { /* a thread that is still in the function before has its context */
        atomic_store_release(&on_step_ctx, ctx);
    }
    atomic_store_release(&on_step, fn);
}

void fault_step(const char *name)
{
    StepFunction fn = atomic_load_acquire(&on_step);
    if (fn != NULL) {
        fn(name, atomic_load_acquire(&on_step_ctx));
    }
    if (ask(&step_faults)) {
        _exit(FAULT_CRASH_STATUS);
    }
}

uint64_t fault_alloc_count(void)
{
    return relaxed_load(&alloc_faults.seen);
}

uint64_t fault_io_count(void)
{
    return relaxed_load(&io_faults.seen);
}

uint64_t fault_busy_count(void)
{
    return relaxed_load(&busy_faults.seen);
}

uint64_t fault_step_count(void)
{
    return relaxed_load(&step_faults.seen);
}

uint64_t fault_fired(void)
{
    return relaxed_load(&fired);
}

#endif
