/* simulator.h - runs the roles of several processes in one thread, as badly as a seed can make it.
 *
 * A *role* is a function step(role, now) that does a bounded piece of work and blocks in nothing but
 * the store. A *node* is a process with some roles, a store of its own on a memory that all nodes
 * share, and a clock of its own. The user says how to start a node from nothing but the store, and
 * what must always hold; the simulator chooses what happens.
 *
 * Every store call is a scheduling point. There the simulator may step other roles to their end,
 * while the caller's transaction is open (nested: last in, first out), and let a fault happen. Every
 * choice comes from one generator that the seed starts, and the roles get their randomness from the
 * same one, so a seed is a run: it can be run again exactly, which its trace hash shows.
 *
 * What a role must keep to, besides touching nothing but its store, its clock and its Random:
 * - one transaction at a time, which has ended when the step returns;
 * - after SAP_IO it may go on in its next step, as with a server whose connection was lost, or return
 *   the code: then its node stops and is started again, as with a file. When the node has died, all
 *   its calls return SAP_IO, and what it still does must have no effect: see simulator_alive(). */
#ifndef SAPLING_SIMULATOR_SIMULATOR_H
#define SAPLING_SIMULATOR_SIMULATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/random.h"
#include "sapling/store.h"

typedef struct Simulator Simulator;

enum {
    SIMULATOR_MAX_NODES = 16,
    SIMULATOR_MAX_ROLES = 16, /* of one node */
    SIMULATOR_MAX_NESTING = 8,
    SIMULATOR_MILLION = 1000000,
    SIMULATOR_TEXT = 256,
};

/* What may happen at a store call, or between two steps. */
typedef enum SimulatorChance {
    SIMULATOR_NEST,   /* another role is stepped inside the call */
    SIMULATOR_CRASH,  /* the calling process dies, and is started again later */
    SIMULATOR_REBOOT, /* a node's machine starts again: it dies, and its boot time starts again */
    SIMULATOR_POWER_CUT,   /* all nodes at once, and what was not durable is lost */
    SIMULATOR_STALL,       /* the caller stands still: time passes, the others go on */
    SIMULATOR_PARTITION,   /* a node does not reach the store for a while: SAP_IO */
    SIMULATOR_BUSY,        /* SAP_BUSY */
    SIMULATOR_CONFLICT,    /* SAP_CONFLICT */
    SIMULATOR_FAIL,        /* SAP_IO without effect; the outcome of a commit is known */
    SIMULATOR_LOST_BEFORE, /* a commit with an unknown outcome that did not happen */
    SIMULATOR_LOST_AFTER,  /* a commit with an unknown outcome that did */
    SIMULATOR_CLOCK_STEP,  /* a node's wall clock is set, up to an hour either way */
    SIMULATOR_FLUSH,       /* some of what was not durable becomes so */
    SIMULATOR_CHANCES
} SimulatorChance;

/* A static string. */
const char *simulator_chance_name(SimulatorChance chance);

typedef struct SimulatorRole {
    const char *name; /* for the trace; static */
    /* now_ns is boot time of the node's clock. SAP_NOMEM ends the run; any other code than SAP_OK
     * stops the node, which is started again later. */
    int (*step)(void *role, uint64_t now_ns);
    void *role;
} SimulatorRole;

/* What a process has when it starts. All is borrowed until the process is stopped. */
typedef struct SimulatorProcess {
    Simulator *simulator;
    uint32_t node;
    SapStore *store;
    const Clock *clock;
    const Random *random;
} SimulatorProcess;

/* Its roles, and what they share. */
typedef struct SimulatorRoles {
    void *state; /* for stop() */
    uint32_t count;
    SimulatorRole roles[SIMULATOR_MAX_ROLES];
} SimulatorRoles;

/* Set all with simulator_options_init(), then change what should differ. */
typedef struct SimulatorOptions {
    void *ctx; /* for the functions below */
    const uint32_t *tables;
    uint32_t table_count;
    const char *schema; /* may be NULL */
    uint32_t node_count;

    /* Makes the roles of a node. It may use the store, and is interleaved and hit by faults as a step
     * is. SAP_NOMEM ends the run; any other code than SAP_OK: nothing was made, the node is started
     * again later. */
    int (*start)(void *ctx, const SimulatorProcess *process, SimulatorRoles *roles_out);
    /* The process is gone: frees what start() has made. None of its steps is under way. */
    void (*stop)(void *ctx, void *state);

    /* Looks whether everything is as it must be, after every step that was not nested, and says
     * simulator_violation() if not. `newest` is a read transaction without faults, and ended by the
     * simulator. NULL: nothing is checked. */
    void (*check)(void *ctx, Simulator *simulator, SapStoreTxn *newest);
    bool check_commits; /* and after every commit, also inside other transactions */
    /* The same once, when all is quiet again: whether everything that should happen has happened. */
    void (*check_end)(void *ctx, Simulator *simulator, SapStoreTxn *newest);

    /* Called now and then while all settles: says simulator_settled() when nothing is left to do. NULL: all
     * of the settle_steps are made. */
    void (*look_settled)(void *ctx, Simulator *simulator, SapStoreTxn *newest);

    uint32_t steps;        /* not nested, with faults */
    uint32_t settle_steps; /* after them, without faults and with all nodes up, at most */
    uint32_t nesting;      /* steps inside one another, SIMULATOR_MAX_NESTING at most; 0: none */
    uint32_t pass_ms;      /* passes between two steps on average */
    uint32_t skew_ms;      /* of the nodes' wall clocks at the start, at most, either way */
    uint32_t patience_ms;  /* after which a server drops a transaction that makes no call */
    /* At each store call. Power cuts are ten times as likely while they would take a commit. In all,
     * with that, a million at most; nested steps alone half a million. */
    uint32_t per_million[SIMULATOR_CHANCES];

    /* Gets the run as text, line by line. NULL: none. */
    void (*print)(void *ctx, const char *line);
    void *print_ctx;
} SimulatorOptions;

void simulator_options_init(SimulatorOptions *options);

typedef struct SimulatorReport {
    uint64_t seed;
    uint64_t trace_hash;
    uint64_t steps;  /* not nested ones */
    uint64_t calls;  /* of the store, by roles */
    uint64_t starts; /* of nodes */
    uint64_t checks;
    uint64_t commits;        /* that wrote, by roles */
    uint64_t nested_in_txn;  /* nested steps while their caller's transaction was open */
    uint64_t commits_in_txn; /* commits that wrote in such a step */
    uint64_t happened[SIMULATOR_CHANCES];
    uint64_t dropped;      /* transactions, after the server's patience */
    uint64_t commits_lost; /* by power cuts */
    uint64_t passed_ns;    /* simulated time */
    bool violated;
    uint64_t violation_step; /* in which of the steps */
    char violation[SIMULATOR_TEXT];
} SimulatorReport;

/* One run. *report_out is written unless the options are misused. SAP_INVALID: something was violated:
 * see the report. SAP_ERROR: misuse of the options. SAP_NOMEM: no memory; the run tells nothing. */
int simulator_run(const SimulatorOptions *options, uint64_t seed, SimulatorReport *report_out);

/* Something is not as it must be: the run ends, and its report has the text. The first one counts.
 * For check(), and for roles and whatever else is called in a run. */
void simulator_violation(Simulator *simulator, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The store without faults that checks may read from, in transactions of their own. */
SapStore *simulator_store(const Simulator *simulator);

/* Whether the process that runs now is alive. Whatever a role does to the world outside the store
 * (an acknowledgement, a call) asks first: the dead do nothing. */
bool simulator_alive(const Simulator *simulator);

/* For look_settled(): there is nothing left to do, the run may end. */
void simulator_settled(Simulator *simulator);

/* Whether the faults are over and all settles: roles that make work for others may stop then. */
bool simulator_is_quiet(const Simulator *simulator);

#endif
