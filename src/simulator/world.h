/* world.h - the simulated machines: nodes, their processes and clocks, and the steps under way.
 *
 * Nothing here chooses anything; simulator.c does.
 *
 * Invariants:
 * - A node is down, or has one process that is alive. A dead process is kept until the last of its
 *   steps has returned, then it is stopped and its store is closed.
 * - The steps under way are a stack, as are the open transactions: each step has at most one, which
 *   was begun after those of the steps below it.
 * - A transaction whose step has made no call for longer than the patience of a server is dropped as
 *   soon as that time has passed, also while steps above it go on. */
#ifndef SAPLING_SIMULATOR_WORLD_H
#define SAPLING_SIMULATOR_WORLD_H

#include "simulator/simulator.h"
#include "simulator/trace.h"
#include "store/memory.h"

typedef struct Process {
    SimulatorProcess start; /* what it was given */
    SimulatorRoles roles;
    uint32_t frames; /* its steps under way */
    bool made;       /* by the user's start() */
    bool dead;
    bool stepping[SIMULATOR_MAX_ROLES];
} Process;

typedef struct Node {
    ManualClock time;
    Clock clock;
    Process *process;          /* NULL: down */
    uint64_t cut_off_until_ns; /* by a partition */
} Node;

/* A step, or a start, under way. */
typedef struct Frame {
    struct Frame *below;
    Process *process;
    const char *role;
    uint32_t first_txn; /* how many transactions were open when it began */
    uint64_t call_ns;   /* when it made its last call */
    bool dropped;       /* its transaction */
} Frame;

struct Simulator {
    SimulatorOptions options;
    SimulatorReport report;
    Trace trace;
    Rng rng;
    Random random; /* the same generator, for roles */
    char url[48];
    SapStore *observer; /* without a hook */
    SapStoreHook hook;  /* of all other stores */
    uint64_t now_ns;    /* the time that passes for everybody */
    Node nodes[SIMULATOR_MAX_NODES];
    Frame *top;
    uint32_t frames; /* on the stack */
    bool quiet;      /* no faults, nothing nested */
    bool settled;    /* nothing is left to do */
    bool over;       /* every process is as good as dead */
    int failed;      /* why the run tells nothing */
};

/* `options` were checked. world_close() is called if it returns SAP_OK. */
int world_open(Simulator *simulator, const SimulatorOptions *options, uint64_t seed);
void world_close(Simulator *simulator);

/* The run cannot go on; the first code counts. SAP_OK: no. */
void world_fail(Simulator *simulator, int rc);

/* Starts the process of a node that is down. */
void world_start(Simulator *simulator, uint32_t node);

/* Steps a role of a living process once, which is not being stepped. */
void world_step(Simulator *simulator, Process *process, uint32_t role);

/* The process dies; NULL, and one that is dead, are accepted. */
void world_kill(Simulator *simulator, Process *process);

/* The node's machine starts again, or all of them with the loss of what was not durable. */
void world_reboot(Simulator *simulator, uint32_t node);
void world_cut_power(Simulator *simulator);

/* Time passes for everybody. */
void world_pass_time(Simulator *simulator, uint64_t ns);

/* Whether the step has a transaction open; the step is the top one. */
bool world_in_txn(const Simulator *simulator);

/* One of the two checks, if there is such. */
void world_check(Simulator *simulator,
                 void (*check)(void *ctx, Simulator *simulator, SapStoreTxn *newest));

/* A line for whoever reads the trace: where it happened, then the text. */
#define WORLD_PRINT(simulator, ...) \
    trace_print(&(simulator)->trace, (simulator)->frames, __VA_ARGS__)

#endif
