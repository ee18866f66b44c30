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

    /* Both clocks that are asked for here are mandatory: there is no failure to pass on. */
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

const Clock *clock_system(void)
{
    static const Clock clock = {system_wall_ms, system_wall_ns, system_mono_ns, NULL};
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

void manual_clock_init(ManualClock *manual, uint64_t start_ns)
{
    relaxed_store(&manual->wall_ns, start_ns);
    relaxed_store(&manual->mono_ns, MANUAL_CLOCK_MONO_START_NS);
}

void manual_clock_advance_ns(ManualClock *manual, uint64_t delta_ns)
{
    relaxed_add(&manual->wall_ns, delta_ns);
    relaxed_add(&manual->mono_ns, delta_ns);
}

void manual_clock_advance_ms(ManualClock *manual, uint64_t delta_ms)
{
    manual_clock_advance_ns(manual, delta_ms * NS_PER_MS);
}

void manual_clock_set_wall_ns(ManualClock *manual, uint64_t wall_ns)
{
    relaxed_store(&manual->wall_ns, wall_ns);
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

Clock manual_clock(ManualClock *manual)
{
    return (Clock){manual_wall_ms, manual_wall_ns, manual_mono_ns, manual};
}
