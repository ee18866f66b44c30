/* universe_program.h - a program that runs worlds or sends to them, for tests that kill it.
 *
 * It is the test's own binary, started again with other arguments, so that it begins as any program does.
 * What it says goes through a pipe, one record at a time: that it is ready, each number that was
 * acknowledged (universe_ledger.h), and what its worker has counted. It ends by itself, in order, when its
 * orders end, and is killed when the test's process ends in any other way.
 *
 * It can stop itself as SIGSTOP does at a moment that no signal from outside would find: after handlers
 * have run, before or inside the transaction that would commit what they did. */
#ifndef SAPLING_TESTS_UNIVERSE_PROGRAM_H
#define SAPLING_TESTS_UNIVERSE_PROGRAM_H

#include "support/universe_ledger.h"

#include <sys/types.h>

/* Whether a program was started as the one below; main() then returns what universe_program_main() does. */
bool universe_program_is(int argc, char **argv);
int universe_program_main(int argc, char **argv);

/* The module of the worlds, in every process of the test. */
#define UNIVERSE_PROGRAM_MODULE "ledger"

typedef struct UniverseProgram {
    const char *url;
    const char *worker; /* its name; NULL: the program runs no worlds */
    bool sends; /* what follows the acknowledged numbers of the ledger; it makes the worlds */
    uint32_t pause_us; /* of a producer after each message, at most */
    uint64_t seed;     /* of the pauses */
    uint64_t ttl_ms;   /* of the worker's session; 0: the default */
    int net_fd;        /* the network namespace that it lives in; 0: that of the test */
} UniverseProgram;

/* What its worker has counted, in all its sessions. */
typedef struct UniverseProgramStats {
    uint64_t steps;
    uint64_t acquired;
    uint64_t fenced;
    uint64_t unknown;
    uint64_t sessions;
    uint64_t late; /* transactions before which it stopped, and with which it went on */
} UniverseProgramStats;

typedef struct UniverseProcess {
    pid_t pid; /* 0: there is none */
    int orders_fd;
    int told_fd;
    Ledger *ledger; /* borrowed until it has ended; acknowledgements go there */
    bool ready;
    bool ended;          /* nothing more will be told */
    uint64_t duplicates; /* messages that were enqueued before by another process */
    UniverseProgramStats stats;
} UniverseProcess;

/* `program` is borrowed for the call. */
void universe_process_start(UniverseProcess *process, const UniverseProgram *program,
                            Ledger *ledger);

/* Hears what the processes tell for so long, or until one of them ends. */
void universe_processes_hear(UniverseProcess *const *processes, uint32_t count, uint64_t ns);

/* kill -9, and hears the rest. It must not have ended by itself. */
void universe_process_kill(UniverseProcess *process);

/* Ends it in order. It must succeed. */
void universe_process_end(UniverseProcess *process);

/* Where it stops itself, the next time that it comes there after handlers have run. The test continues it
 * when others have taken its worlds over: a transaction that was stopped before it must then write nothing,
 * or the program aborts. */
typedef enum UniverseStop {
    UNIVERSE_STOP_BEFORE = 'b', /* before the transaction that would commit what they did */
    UNIVERSE_STOP_INSIDE = 'i', /* in it, before its commit */
} UniverseStop;
void universe_process_order_stop(UniverseProcess *process, UniverseStop stop);

/* Returns when the process is stopped, by its own doing or SIGSTOP. */
void universe_process_await_stop(const UniverseProcess *process);

/* CLOCK_MONOTONIC. */
uint64_t universe_test_now_ns(void);

#endif
