/* simulator.c - what happens next: every choice of a run is made here, from its generator.
 *
 * A run:
 *
 *   simulator_run
 *     run_steps              one step after the other, with faults between them
 *       step_somebody        chooses a role, or a node that is down
 *         world_step         calls the role's step
 *           on_call          the hook: at every store call of the step
 *             step_somebody  nested, up to options.nesting deep
 *             strike_call    a fault of this call, or of the world around it
 *       world_check
 *
 * The generator is asked the same questions whether or not anybody reads the trace. */
#include "simulator/simulator.h"

#include <string.h>

#include "common/assert.h"
#include "common/mem.h"
#include "simulator/world.h"

#define MS_NS   UINT64_C(1000000)
#define HOUR_MS INT64_C(3600000)

enum { TRACE_CALL = 101, TRACE_CHANCE, TRACE_END };
enum {
    STALL_ROUNDS = 8,    /* steps of others in one stall, at most */
    STALL_LONGEST = 10,  /* times the server's patience */
    CUT_OFF_LONGEST = 2, /* the same, for partitions */
    CUT_FACTOR = 10,     /* power cuts are so much likelier while they would take something */
    LONG_PASS = 20,      /* once in so many steps a longer time passes */
};

static const char *const chance_names[SIMULATOR_CHANCES] = {
    "nested step", "crash",   "reboot",      "power cut",  "stall",      "partition", "busy",
    "conflict",    "failure", "lost before", "lost after", "clock step", "flush",
};

const char *simulator_chance_name(SimulatorChance chance)
{
    return chance_names[chance];
}

void simulator_options_init(SimulatorOptions *options)
{
    static const SimulatorOptions defaults = {
        .node_count = 3,
        .steps = 200,
        .settle_steps = 200,
        .nesting = 4,
        .pass_ms = 20,
        .skew_ms = 1000,
        .patience_ms = 5000,
        .per_million =
            {
                [SIMULATOR_NEST] = 100000,
                [SIMULATOR_CRASH] = 4000,
                [SIMULATOR_REBOOT] = 1000,
                [SIMULATOR_POWER_CUT] = 1500,
                [SIMULATOR_STALL] = 4000,
                [SIMULATOR_PARTITION] = 1000,
                [SIMULATOR_BUSY] = 5000,
                [SIMULATOR_CONFLICT] = 5000,
                [SIMULATOR_FAIL] = 3000,
                [SIMULATOR_LOST_BEFORE] = 15000,
                [SIMULATOR_LOST_AFTER] = 15000,
                [SIMULATOR_CLOCK_STEP] = 2000,
                [SIMULATOR_FLUSH] = 3000,
            },
    };
    *options = defaults;
}

/* ---- Choices --------------------------------------------------------------------------------- */

static void note_chance(Simulator *simulator, SimulatorChance chance, uint64_t detail)
{
    simulator->report.happened[chance]++;
    trace_numbers(&simulator->trace, TRACE_CHANCE, (uint64_t)chance, detail);
    WORLD_PRINT(simulator, "%s %llu", chance_names[chance], (unsigned long long)detail);
}

static uint32_t choose_node(Simulator *simulator)
{
    return (uint32_t)rng_below(&simulator->rng, simulator->options.node_count);
}

/* A power cut that takes a commit is what those that take nothing are made for: it is rare that one
 * finds the short time in which something can be lost. */
static uint64_t rate_of(const Simulator *simulator, unsigned chance)
{
    bool takes = chance == SIMULATOR_POWER_CUT && memory_store_not_durable(simulator->observer) > 0;
    return (uint64_t)simulator->options.per_million[chance] * (takes ? CUT_FACTOR : 1);
}

/* One of the faults, by their rates. SIMULATOR_CHANCES: none. */
static SimulatorChance choose_fault(Simulator *simulator)
{
    uint64_t drawn = rng_below(&simulator->rng, SIMULATOR_MILLION);
    for (unsigned chance = SIMULATOR_NEST + 1; chance < SIMULATOR_CHANCES; chance++) {
        uint64_t rate = rate_of(simulator, chance);
        if (drawn < rate) {
            return (SimulatorChance)chance;
        }
        drawn -= rate;
    }
    return SIMULATOR_CHANCES;
}

/* What can run now: a role, or a node that is down. */
typedef struct Runnable {
    uint32_t node;
    uint32_t role; /* SIMULATOR_MAX_ROLES: the node is down */
} Runnable;

static uint32_t list_runnable(const Simulator *simulator, Runnable *list)
{
    uint32_t count = 0;
    for (uint32_t node = 0; node < simulator->options.node_count; node++) {
        const Process *process = simulator->nodes[node].process;
        if (process == NULL) {
            list[count++] = (Runnable){node, SIMULATOR_MAX_ROLES};
            continue;
        }
        for (uint32_t role = 0; role < process->roles.count; role++) {
            if (!process->stepping[role]) {
                list[count++] = (Runnable){node, role};
            }
        }
    }
    return count;
}

/* False: nobody can be stepped, or not here. */
static bool step_somebody(Simulator *simulator)
{
    Runnable list[SIMULATOR_MAX_NODES * SIMULATOR_MAX_ROLES];
    uint32_t count = list_runnable(simulator, list);
    if (count == 0 || simulator->over || simulator->frames > simulator->options.nesting) {
        return false;
    }
    Runnable chosen = list[rng_below(&simulator->rng, count)];
    if (simulator->top != NULL) {
        note_chance(simulator, SIMULATOR_NEST, simulator->frames);
        simulator->report.nested_in_txn += world_in_txn(simulator);
    }
    if (chosen.role == SIMULATOR_MAX_ROLES) {
        world_start(simulator, chosen.node);
    } else {
        world_step(simulator, simulator->nodes[chosen.node].process, chosen.role);
    }
    return true;
}

/* ---- Faults ---------------------------------------------------------------------------------- */

static void step_clock(Simulator *simulator)
{
    uint32_t node = choose_node(simulator);
    int64_t most_ms = rng_chance(&simulator->rng, 1, 2) ? HOUR_MS : 1000;
    int64_t by_ms = (int64_t)rng_below(&simulator->rng, 2 * (uint64_t)most_ms + 1) - most_ms;
    note_chance(simulator, SIMULATOR_CLOCK_STEP, node);
    manual_clock_step_wall_ms(&simulator->nodes[node].time, by_ms);
}

static void cut_off_node(Simulator *simulator)
{
    uint32_t node = choose_node(simulator);
    uint64_t most_ms = (uint64_t)simulator->options.patience_ms;
    most_ms = rng_chance(&simulator->rng, 1, 2) ? CUT_OFF_LONGEST * most_ms : most_ms / 10;
    note_chance(simulator, SIMULATOR_PARTITION, node);
    simulator->nodes[node].cut_off_until_ns =
        simulator->now_ns + rng_below(&simulator->rng, most_ms + 1) * MS_NS;
}

/* The first few of the commits that are not durable become so. */
static void flush_some(Simulator *simulator)
{
    uint64_t waiting = memory_store_not_durable(simulator->observer);
    if (waiting > 0) {
        memory_store_flush(simulator->observer, rng_below(&simulator->rng, waiting + 1));
    }
}

static void cut_power(Simulator *simulator)
{
    note_chance(simulator, SIMULATOR_POWER_CUT, memory_store_not_durable(simulator->observer));
    if (rng_chance(&simulator->rng, 1, 2)) {
        flush_some(simulator); /* the disk has more than anybody was told */
    }
    world_cut_power(simulator);
}

/* What happens to the world, whoever runs. */
static void strike_world(Simulator *simulator, SimulatorChance chance)
{
    uint32_t node = 0;
    switch (chance) {
    case SIMULATOR_REBOOT:
        node = choose_node(simulator);
        note_chance(simulator, chance, node);
        world_reboot(simulator, node);
        break;
    case SIMULATOR_POWER_CUT:
        cut_power(simulator);
        break;
    case SIMULATOR_PARTITION:
        cut_off_node(simulator);
        break;
    case SIMULATOR_CLOCK_STEP:
        step_clock(simulator);
        break;
    case SIMULATOR_FLUSH:
        if (memory_store_not_durable(simulator->observer) > 0) {
            note_chance(simulator, chance, memory_store_not_durable(simulator->observer));
            flush_some(simulator);
        }
        break;
    default:
        break;
    }
}

/* The caller stands still while the others go on. */
static void stall_caller(Simulator *simulator, const Process *caller)
{
    uint64_t patience_ms = simulator->options.patience_ms;
    bool is_long = rng_chance(&simulator->rng, 1, 2);
    uint64_t ms = is_long ? rng_range(&simulator->rng, patience_ms, STALL_LONGEST * patience_ms)
                          : rng_range(&simulator->rng, 0, patience_ms);
    uint64_t rounds = rng_range(&simulator->rng, 1, STALL_ROUNDS);
    note_chance(simulator, SIMULATOR_STALL, ms);
    for (uint64_t i = 0; i < rounds && !caller->dead && !simulator->over; i++) {
        world_pass_time(simulator, ms * MS_NS / rounds);
        (void)step_somebody(simulator);
    }
}

static bool commit_has_writes(const Simulator *simulator, SapStoreCall call)
{
    return call == SAP_STORE_CALL_COMMIT &&
           memory_store_txn(simulator->observer, simulator->top->first_txn)->wrote;
}

/* What the chosen fault does to this call. */
static SapStoreFault strike_call(Simulator *simulator, Process *caller, SapStoreCall call,
                                 SimulatorChance chance)
{
    SapStoreFault fault = SAP_STORE_FAULT_NONE;
    switch (chance) {
    case SIMULATOR_CRASH:
        note_chance(simulator, chance, call);
        world_kill(simulator, caller);
        return SAP_STORE_FAULT_CRASH;
    case SIMULATOR_STALL:
        stall_caller(simulator, caller);
        return SAP_STORE_FAULT_NONE;
    case SIMULATOR_BUSY:
        fault = call == SAP_STORE_CALL_WAIT_DURABLE ? fault : SAP_STORE_FAULT_BUSY;
        break;
    case SIMULATOR_CONFLICT:
        fault = call == SAP_STORE_CALL_WAIT_DURABLE ? fault : SAP_STORE_FAULT_CONFLICT;
        break;
    case SIMULATOR_FAIL:
        fault = SAP_STORE_FAULT_FAIL;
        break;
    case SIMULATOR_LOST_BEFORE:
        fault = commit_has_writes(simulator, call) ? SAP_STORE_FAULT_LOST_BEFORE : fault;
        break;
    case SIMULATOR_LOST_AFTER:
        fault = commit_has_writes(simulator, call) ? SAP_STORE_FAULT_LOST_AFTER : fault;
        break;
    default:
        strike_world(simulator, chance);
        return SAP_STORE_FAULT_NONE;
    }
    if (fault != SAP_STORE_FAULT_NONE) {
        note_chance(simulator, chance, call);
    }
    return fault;
}

static bool is_cut_off(const Simulator *simulator, const Process *process)
{
    return simulator->now_ns < simulator->nodes[process->start.node].cut_off_until_ns;
}

/* All that may happen at a call of a living process. */
static SapStoreFault choose_at_call(Simulator *simulator, Process *caller, SapStoreCall call)
{
    uint32_t nest = simulator->options.per_million[SIMULATOR_NEST];
    if (simulator->quiet) {
        return SAP_STORE_FAULT_NONE;
    }
    while (!caller->dead && rng_chance(&simulator->rng, nest, SIMULATOR_MILLION) &&
           step_somebody(simulator)) {
    }
    if (caller->dead || simulator->over) {
        return SAP_STORE_FAULT_CRASH;
    }
    SapStoreFault fault = strike_call(simulator, caller, call, choose_fault(simulator));
    bool lost = fault == SAP_STORE_FAULT_NONE && is_cut_off(simulator, caller);
    return lost ? SAP_STORE_FAULT_LOST_BEFORE : fault;
}

/* The hook of every process's store. */
static SapStoreFault on_call(void *ctx, SapStoreCall call)
{
    Process *caller = (Process *)ctx;
    Simulator *simulator = caller->start.simulator;
    Frame *frame = simulator->top;
    if (simulator->over) {
        return SAP_STORE_FAULT_CRASH;
    }
    SAP_ASSERT(frame != NULL && frame->process == caller); /* a role uses its own store only */
    if (call == SAP_STORE_CALL_BEGIN && world_in_txn(simulator)) {
        simulator_violation(simulator, "node %u: %s began a second transaction", caller->start.node,
                            frame->role);
        return SAP_STORE_FAULT_CRASH;
    }
    simulator->report.calls++;
    trace_numbers(&simulator->trace, TRACE_CALL, (uint64_t)call, caller->start.node);
    frame->call_ns = simulator->now_ns;
    frame->dropped = frame->dropped && call != SAP_STORE_CALL_BEGIN;
    SapStoreFault fault = choose_at_call(simulator, caller, call);
    return caller->dead || simulator->over ? SAP_STORE_FAULT_CRASH : fault;
}

/* ---- A run ----------------------------------------------------------------------------------- */

/* Between two steps, when no call is under way. */
static void choose_between(Simulator *simulator)
{
    bool is_long = rng_below(&simulator->rng, LONG_PASS) == 0;
    uint64_t most_ms = 2 * (uint64_t)simulator->options.pass_ms * (is_long ? LONG_PASS : 1);
    world_pass_time(simulator, rng_below(&simulator->rng, most_ms * MS_NS + 1));
    if (simulator->quiet) {
        return;
    }
    SimulatorChance chance = choose_fault(simulator);
    if (chance == SIMULATOR_CRASH) {
        uint32_t node = choose_node(simulator);
        note_chance(simulator, chance, node);
        world_kill(simulator, simulator->nodes[node].process);
    } else {
        strike_world(simulator, chance);
    }
}

static void run_steps(Simulator *simulator, uint32_t steps)
{
    for (uint32_t i = 0; i < steps && !simulator->over; i++) {
        choose_between(simulator);
        (void)step_somebody(simulator);
        world_check(simulator, simulator->options.check);
        simulator->report.steps++;
    }
}

/* The faults are over: everybody is up and reaches the store. */
static void calm_down(Simulator *simulator)
{
    simulator->quiet = true;
    WORLD_PRINT(simulator, "no more faults");
    for (uint32_t node = 0; node < simulator->options.node_count; node++) {
        simulator->nodes[node].cut_off_until_ns = 0;
        if (simulator->nodes[node].process == NULL && !simulator->over) {
            world_start(simulator, node);
        }
    }
}

static bool options_are_valid(const SimulatorOptions *options)
{
    uint64_t sum = 0;
    for (unsigned chance = SIMULATOR_NEST + 1; chance < SIMULATOR_CHANCES; chance++) {
        sum += (uint64_t)options->per_million[chance] *
               (chance == SIMULATOR_POWER_CUT ? CUT_FACTOR : 1);
    }
    return options->start != NULL && options->node_count > 0 &&
           options->node_count <= SIMULATOR_MAX_NODES &&
           options->nesting <= SIMULATOR_MAX_NESTING && options->patience_ms > 0 &&
           sum <= SIMULATOR_MILLION &&
           options->per_million[SIMULATOR_NEST] <= SIMULATOR_MILLION / 2;
}

static void settle(Simulator *simulator)
{
    enum { STEPS_AT_ONCE = 50 };
    uint32_t left = simulator->options.settle_steps;
    while (left > 0 && !simulator->settled && !simulator->over) {
        uint32_t steps = left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE;
        run_steps(simulator, steps);
        left -= steps;
        world_check(simulator, simulator->options.look_settled);
    }
}

static void run_all(Simulator *simulator)
{
    run_steps(simulator, simulator->options.steps);
    if (simulator->options.settle_steps > 0 && !simulator->over) {
        calm_down(simulator);
        settle(simulator);
        world_check(simulator, simulator->options.check_end);
    }
}

int simulator_run(const SimulatorOptions *options, uint64_t seed, SimulatorReport *report_out)
{
    if (options == NULL || report_out == NULL || !options_are_valid(options)) {
        return SAP_ERROR;
    }
    Simulator *simulator =
        (Simulator *)mem_alloc_aligned(MEM_SIMULATOR, HASH_STATE_ALIGN, sizeof *simulator);
    if (simulator == NULL) {
        return SAP_NOMEM;
    }
    memset(simulator, 0, sizeof *simulator);
    simulator->hook = on_call;
    int rc = world_open(simulator, options, seed);
    if (rc == SAP_OK) {
        run_all(simulator);
        trace_numbers(&simulator->trace, TRACE_END, simulator->report.calls,
                      simulator->report.violated);
        simulator->report.trace_hash = trace_hash(&simulator->trace);
        simulator->over = true;
        world_close(simulator);
        *report_out = simulator->report;
        rc = simulator->failed != SAP_OK  ? simulator->failed
             : simulator->report.violated ? SAP_INVALID
                                          : SAP_OK;
    }
    mem_free_aligned(MEM_SIMULATOR, simulator, sizeof *simulator);
    return rc;
}

SapStore *simulator_store(const Simulator *simulator)
{
    return simulator->observer;
}
