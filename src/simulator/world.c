/* world.c - see world.h. */
#include "simulator/world.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "common/mem.h"

#define START_NS  UINT64_C(1700000000000000000) /* wall time at the start of every run */
#define MS_NS     UINT64_C(1000000)
#define UPTIME_MS (24 * 3600 * 1000) /* of a node's machine at the start, at most */

/* Kinds of entries in the trace. */
enum { TRACE_STEP = 1, TRACE_RETURN, TRACE_START, TRACE_KILL, TRACE_ANSWER, TRACE_DROP };

static RelaxedU64 worlds_opened; /* makes the names of memories */

/* ---- Codes as text --------------------------------------------------------------------------- */

static const char *name_of_code(int rc)
{
    switch (rc) {
#define NAME_OF_CODE(name, number, text) \
    case number:                         \
        return #name;
        SAP_ERROR_TABLE(NAME_OF_CODE)
#undef NAME_OF_CODE
    default:
        return "another code";
    }
}

/* ---- What ends a run ------------------------------------------------------------------------- */

void world_fail(Simulator *simulator, int rc)
{
    if (rc != SAP_OK && simulator->failed == SAP_OK) {
        simulator->failed = rc;
    }
    simulator->over = simulator->over || rc != SAP_OK;
}

void simulator_violation(Simulator *simulator, const char *format, ...)
{
    SimulatorReport *report = &simulator->report;
    if (simulator->over) {
        return;
    }
    simulator->over = true;
    report->violated = true;
    report->violation_step = report->steps;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(report->violation, sizeof report->violation, format, args);
    va_end(args);
    trace_bytes(&simulator->trace, slice_from_str(report->violation));
    WORLD_PRINT(simulator, "VIOLATION: %s", report->violation);
}

bool simulator_alive(const Simulator *simulator)
{
    return !simulator->over && (simulator->top == NULL || !simulator->top->process->dead);
}

void simulator_settled(Simulator *simulator)
{
    simulator->settled = true;
}

bool simulator_is_quiet(const Simulator *simulator)
{
    return simulator->quiet;
}

/* ---- Calls of the store ---------------------------------------------------------------------- */

static void hash_event(Trace *trace, const MemoryEvent *event)
{
    trace_numbers(trace, TRACE_ANSWER, (uint64_t)event->call, (uint64_t)event->rc);
    trace_numbers(trace, event->key.table, event->wrote, event->row_count);
    trace_bytes(trace, event->key.bytes);
    trace_bytes(trace, event->val);
    for (uint32_t i = 0; i < event->row_count; i++) {
        trace_bytes(trace, (Slice){event->rows[i].key, event->rows[i].key_len});
        trace_bytes(trace, (Slice){event->rows[i].val, event->rows[i].val_len});
    }
}

static void print_event(const Simulator *simulator, const MemoryEvent *event)
{
    static const char *const names[] = {"begin", "guard", "get",    "put or delete",
                                        "scan",  "claim", "commit", "wait until durable"};
    char key[TRACE_TEXT];
    char val[TRACE_TEXT];
    if (simulator->trace.print == NULL) {
        return;
    }
    WORLD_PRINT(simulator, "%s %u/%s: %s, value %s, %u rows", names[event->call], event->key.table,
                trace_text_of(event->key.bytes, key), name_of_code(event->rc),
                trace_text_of(event->val, val), event->row_count);
}

static void note_event(void *ctx, const MemoryEvent *event)
{
    Simulator *simulator = ((const Process *)ctx)->start.simulator;
    if (simulator->over) {
        return;
    }
    hash_event(&simulator->trace, event);
    print_event(simulator, event);
    if (event->call == SAP_STORE_CALL_COMMIT && event->wrote) {
        simulator->report.commits++;
        simulator->report.commits_in_txn += memory_store_depth(simulator->observer) > 0;
        if (simulator->options.check_commits) {
            world_check(simulator, simulator->options.check);
        }
    }
}

bool world_in_txn(const Simulator *simulator)
{
    return simulator->top != NULL &&
           memory_store_depth(simulator->observer) > simulator->top->first_txn;
}

void world_check(Simulator *simulator,
                 void (*check)(void *ctx, Simulator *simulator, SapStoreTxn *newest))
{
    SapStoreTxn *newest = NULL;
    if (check == NULL || simulator->over) {
        return;
    }
    int rc = sap_store_begin(simulator->observer, SAP_STORE_READ_NEWEST, &newest);
    if (rc == SAP_OK) {
        simulator->report.checks++;
        check(simulator->options.ctx, simulator, newest);
        rc = newest->failed; /* a check that could not read has checked nothing */
        sap_store_abort(newest);
    }
    world_fail(simulator, rc);
}

/* ---- Processes ------------------------------------------------------------------------------- */

static Node *node_of(Process *process)
{
    return &process->start.simulator->nodes[process->start.node];
}

/* A dead process whose steps have all returned. */
static void release_process(Process *process)
{
    Simulator *simulator = process->start.simulator;
    SAP_ASSERT(process->dead && process->frames == 0);
    if (process->made && simulator->options.stop != NULL) {
        simulator->options.stop(simulator->options.ctx, process->roles.state);
    }
    if (sap_store_close(process->start.store) != SAP_OK) {
        simulator_violation(simulator, "node %u left a transaction open when it had died",
                            process->start.node);
    }
    mem_free(MEM_SIMULATOR, process, sizeof *process);
}

void world_kill(Simulator *simulator, Process *process)
{
    if (process == NULL || process->dead) {
        return;
    }
    trace_numbers(&simulator->trace, TRACE_KILL, process->start.node, 0);
    WORLD_PRINT(simulator, "node %u dies", process->start.node);
    process->dead = true;
    memory_store_crash(process->start.store);
    node_of(process)->process = NULL;
    if (process->frames == 0) {
        release_process(process);
    }
}

static void enter_frame(Simulator *simulator, Frame *frame, Process *process, const char *role)
{
    *frame = (Frame){.below = simulator->top,
                     .process = process,
                     .role = role,
                     .first_txn = memory_store_depth(simulator->observer),
                     .call_ns = simulator->now_ns};
    WORLD_PRINT(simulator, "node %u: %s", process->start.node, role);
    simulator->top = frame;
    simulator->frames++;
    process->frames++;
}

/* The step has returned `rc`. The process may be gone after this. */
static void leave_frame(Simulator *simulator, Frame *frame, int rc)
{
    Process *process = frame->process;
    SAP_ASSERT(simulator->top == frame && process->frames > 0);
    if (world_in_txn(simulator)) {
        simulator_violation(simulator, "node %u: %s returned with an open transaction",
                            process->start.node, frame->role);
        while (world_in_txn(simulator)) {
            uint32_t depth = memory_store_depth(simulator->observer);
            sap_store_abort(memory_store_txn(simulator->observer, depth - 1));
        }
    }
    simulator->top = frame->below;
    simulator->frames--;
    process->frames--;
    trace_numbers(&simulator->trace, TRACE_RETURN, process->start.node, (uint64_t)rc);
    if (process->dead && process->frames == 0) {
        release_process(process);
    } else if (rc == SAP_NOMEM) {
        world_fail(simulator, rc);
    } else if (rc != SAP_OK && !process->dead) {
        WORLD_PRINT(simulator, "node %u: %s gives up: %s", process->start.node, frame->role,
                    name_of_code(rc));
        world_kill(simulator, process);
    }
}

void world_step(Simulator *simulator, Process *process, uint32_t role)
{
    const SimulatorRole *stepped = &process->roles.roles[role];
    Frame frame;
    SAP_ASSERT(!process->dead && !process->stepping[role]);
    trace_numbers(&simulator->trace, TRACE_STEP, process->start.node, role);
    enter_frame(simulator, &frame, process, stepped->name);
    process->stepping[role] = true;
    int rc = stepped->step(stepped->role, clock_boot_ns(process->start.clock));
    process->stepping[role] = false;
    leave_frame(simulator, &frame, rc);
}

/* The store's times are those of the node's clocks; the observer's, without a process, of the first. */
static int open_store(const Simulator *simulator, Process *process, SapStore **store_out)
{
    const Clock *clock = process == NULL ? &simulator->nodes[0].clock : process->start.clock;
    SapStoreOptions options = {
        .size = sizeof options,
        .tables = simulator->options.tables,
        .table_count = simulator->options.table_count,
        .schema = simulator->options.schema,
        .hook = process == NULL ? NULL : simulator->hook,
        .hook_ctx = process,
        .wall_ns = clock->wall_ns,
        .boot_ns = clock->boot_ns,
        .clock_ctx = clock->ctx,
    };
    return sap_store_open(simulator->url, &options, store_out);
}

/* A process without roles. NULL: the run has failed. */
static Process *new_process(Simulator *simulator, uint32_t node)
{
    Process *process = (Process *)mem_zalloc(MEM_SIMULATOR, sizeof *process);
    if (process == NULL) {
        world_fail(simulator, SAP_NOMEM);
        return NULL;
    }
    process->start = (SimulatorProcess){.simulator = simulator,
                                        .node = node,
                                        .clock = &simulator->nodes[node].clock,
                                        .random = &simulator->random};
    int rc = open_store(simulator, process, &process->start.store);
    if (rc != SAP_OK) {
        mem_free(MEM_SIMULATOR, process, sizeof *process);
        world_fail(simulator, rc);
        return NULL;
    }
    memory_store_watch(process->start.store, note_event, process);
    return process;
}

void world_start(Simulator *simulator, uint32_t node)
{
    SimulatorRoles roles = {0};
    Frame frame;
    SAP_ASSERT(simulator->nodes[node].process == NULL);
    Process *process = new_process(simulator, node);
    if (process == NULL) {
        return;
    }
    trace_numbers(&simulator->trace, TRACE_START, node, 0);
    simulator->report.starts++;
    simulator->nodes[node].process = process;
    enter_frame(simulator, &frame, process, "start");
    int rc = simulator->options.start(simulator->options.ctx, &process->start, &roles);
    SAP_ASSERT(roles.count <= SIMULATOR_MAX_ROLES);
    if (rc == SAP_OK) {
        process->roles = roles;
        process->made = true;
    }
    leave_frame(simulator, &frame, rc);
}

/* ---- Machines and time ----------------------------------------------------------------------- */

void world_reboot(Simulator *simulator, uint32_t node)
{
    world_kill(simulator, simulator->nodes[node].process);
    manual_clock_reboot(&simulator->nodes[node].time, 0);
}

void world_cut_power(Simulator *simulator)
{
    for (uint32_t node = 0; node < simulator->options.node_count; node++) {
        world_reboot(simulator, node);
    }
    simulator->report.commits_lost += memory_store_not_durable(simulator->observer);
    memory_store_cut_power(simulator->observer);
}

static void drop_transaction(Simulator *simulator, Frame *frame)
{
    trace_numbers(&simulator->trace, TRACE_DROP, frame->first_txn, 0);
    WORLD_PRINT(simulator, "the server drops the transaction of node %u: %s",
                frame->process->start.node, frame->role);
    memory_txn_drop(memory_store_txn(simulator->observer, frame->first_txn));
    frame->dropped = true;
    simulator->report.dropped++;
}

void world_pass_time(Simulator *simulator, uint64_t ns)
{
    uint64_t patience_ns = simulator->options.patience_ms * MS_NS;
    simulator->now_ns += ns;
    simulator->report.passed_ns += ns;
    for (uint32_t node = 0; node < simulator->options.node_count; node++) {
        manual_clock_advance_ns(&simulator->nodes[node].time, ns);
    }
    uint32_t above = memory_store_depth(simulator->observer);
    for (Frame *frame = simulator->top; frame != NULL; frame = frame->below) {
        bool open = above > frame->first_txn && !frame->dropped && !frame->process->dead;
        if (open && simulator->now_ns - frame->call_ns > patience_ns) {
            drop_transaction(simulator, frame);
        }
        above = frame->first_txn;
    }
}

/* Every machine has its own wall time, and has been running for another while. */
static void set_clock(Simulator *simulator, Node *node)
{
    uint64_t skew_ms = rng_below(&simulator->rng, 2 * (uint64_t)simulator->options.skew_ms + 1);
    uint64_t uptime_ms = rng_below(&simulator->rng, UPTIME_MS);
    manual_clock_init(&node->time, START_NS);
    manual_clock_advance_ms(&node->time, uptime_ms);
    manual_clock_set_wall_ns(&node->time,
                             START_NS + (skew_ms - simulator->options.skew_ms) * MS_NS);
    node->clock = manual_clock(&node->time);
}

int world_open(Simulator *simulator, const SimulatorOptions *options, uint64_t seed)
{
    simulator->options = *options;
    simulator->report.seed = seed;
    trace_init(&simulator->trace, seed);
    simulator->trace.print = options->print;
    simulator->trace.ctx = options->print_ctx;
    rng_seed(&simulator->rng, seed);
    simulator->random = rng_source(&simulator->rng);
    for (uint32_t node = 0; node < options->node_count; node++) {
        set_clock(simulator, &simulator->nodes[node]);
    }
    (void)snprintf(simulator->url, sizeof simulator->url, "memory:simulator-%llu",
                   (unsigned long long)relaxed_add(&worlds_opened, 1));
    return open_store(simulator, NULL, &simulator->observer);
}

void world_close(Simulator *simulator)
{
    SAP_ASSERT(simulator->top == NULL);
    for (uint32_t node = 0; node < simulator->options.node_count; node++) {
        world_kill(simulator, simulator->nodes[node].process);
    }
    int rc = sap_store_close(simulator->observer);
    SAP_ASSERT(rc == SAP_OK);
}
