#include "common/clock.h"

#include "common/assert.h"

#include <stddef.h>
#include <time.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

static struct timespec read_system(clockid_t id)
{
    struct timespec now;
    int rc = clock_gettime(id, &now);

    /* Both clocks that are read here are mandatory: there is no failure to pass on. */
    SAP_ASSERT(rc == 0);
    return now;
}

static uint64_t ns_of(struct timespec t)
{
    return t.tv_sec < 0 ? 0 : (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static int64_t system_wall_ms(void *ctx)
{
    (void)ctx;
    /* tv_nsec counts forward from tv_sec in every era, so this rounds down before 1970 too. */
    struct timespec now = read_system(CLOCK_REALTIME);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / (long)NS_PER_MS;
}

static uint64_t system_wall_ns(void *ctx)
{
    (void)ctx;
    return ns_of(read_system(CLOCK_REALTIME));
}

static uint64_t system_mono_ns(void *ctx)
{
    (void)ctx;
    return ns_of(read_system(CLOCK_MONOTONIC));
}

static uint64_t system_boot_ns(void *ctx)
{
#ifdef CLOCK_BOOTTIME
    struct timespec now;
    /* A kernel that lacks this clock lacks it at every call: the two times never mix. */
    if (clock_gettime(CLOCK_BOOTTIME, &now) == 0) {
        return ns_of(now);
    }
#endif
    return system_mono_ns(ctx);
}

const Clock *clock_system(void)
{
    static const Clock clock = {.wall_ms = system_wall_ms,
                                .wall_ns = system_wall_ns,
                                .mono_ns = system_mono_ns,
                                .boot_ns = system_boot_ns};
    return &clock;
}

static const Clock *or_system(const Clock *clock)
{
    return clock == NULL ? clock_system() : clock;
}

int64_t clock_wall_ms(const Clock *clock)
{
    const Clock *c = or_system(clock);
    return c->wall_ms(c->ctx);
}

uint64_t clock_wall_ns(const Clock *clock)
{
    const Clock *c = or_system(clock);
    return c->wall_ns(c->ctx);
}

uint64_t clock_mono_ns(const Clock *clock)
{
    const Clock *c = or_system(clock);
    return c->mono_ns(c->ctx);
}

uint64_t clock_boot_ns(const Clock *clock)
{
    const Clock *c = or_system(clock);
    return c->boot_ns(c->ctx);
}

static void start_machine(ManualClock *manual)
{
    relaxed_store(&manual->mono_ns, MANUAL_CLOCK_MONO_START_NS);
    relaxed_store(&manual->boot_ns, MANUAL_CLOCK_BOOT_START_NS);
}

void manual_clock_init(ManualClock *manual, uint64_t start_ns)
{
    relaxed_store(&manual->wall_ns, start_ns);
    start_machine(manual);
}

void manual_clock_advance_ns(ManualClock *manual, uint64_t delta_ns)
{
    relaxed_add(&manual->wall_ns, delta_ns);
    relaxed_add(&manual->mono_ns, delta_ns);
    relaxed_add(&manual->boot_ns, delta_ns);
}

void manual_clock_advance_ms(ManualClock *manual, uint64_t delta_ms)
{
    manual_clock_advance_ns(manual, delta_ms * NS_PER_MS);
}

void manual_clock_set_wall_ns(ManualClock *manual, uint64_t wall_ns)
{
    relaxed_store(&manual->wall_ns, wall_ns);
}

void manual_clock_step_wall_ms(ManualClock *manual, int64_t delta_ms)
{
    /* Arithmetic modulo 2^64 subtracts where the step is negative. */
    uint64_t delta_ns = (uint64_t)delta_ms * NS_PER_MS;
    uint64_t before_ns = relaxed_add(&manual->wall_ns, delta_ns);

    SAP_ASSERT((before_ns + delta_ns >= before_ns) == (delta_ms >= 0));
}

void manual_clock_suspend_ns(ManualClock *manual, uint64_t delta_ns)
{
    relaxed_add(&manual->wall_ns, delta_ns);
    relaxed_add(&manual->boot_ns, delta_ns);
}

void manual_clock_reboot(ManualClock *manual, uint64_t off_ns)
{
    relaxed_add(&manual->wall_ns, off_ns);
    start_machine(manual);
}

static uint64_t manual_wall_ns(void *ctx)
{
    const ManualClock *manual = ctx;
    return relaxed_load(&manual->wall_ns);
}

static int64_t manual_wall_ms(void *ctx)
{
    return (int64_t)(manual_wall_ns(ctx) / NS_PER_MS);
}

static uint64_t manual_mono_ns(void *ctx)
{
    const ManualClock *manual = ctx;
    return relaxed_load(&manual->mono_ns);
}

static uint64_t manual_boot_ns(void *ctx)
{
    const ManualClock *manual = ctx;
    return relaxed_load(&manual->boot_ns);
}

Clock manual_clock(ManualClock *manual)
{
    return (Clock){.wall_ms = manual_wall_ms,
                   .wall_ns = manual_wall_ns,
                   .mono_ns = manual_mono_ns,
                   .boot_ns = manual_boot_ns,
                   .ctx = manual};
}
