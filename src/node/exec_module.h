/* exec_module.h - modules whose runner is exec:COMMAND, run by processes in pools.
 *
 * A runner makes handlers of such modules for a worker, and for whoever asks queries. One event is
 * one line to a process that no other call has at that time, and its answer is applied to the world
 * when it is complete and right: a program that fails has changed nothing.
 *
 * What becomes of a call:
 *
 *   the program says fail             sap_world_fail() with its message, and its `retry`
 *   a wrong answer, a timeout, an end sap_world_fail(), to be tried again, with a text that says what to do
 *   it cannot be started, or all its  the world waits with the reason, which counts as no attempt
 *   processes are at work
 *   the state is too large for a line the world is paused: state_too_big
 *   nobody waits any more             SAP_FENCED; its process group is killed */
#ifndef SAPLING_NODE_EXEC_MODULE_H
#define SAPLING_NODE_EXEC_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/metrics.h"
#include "sapling/universe.h"

typedef struct ExecRunner ExecRunner;

/* Zero bytes are the defaults. All is borrowed until the runner is closed. */
typedef struct ExecRunnerOptions {
    const Log *log; /* lines of programs ("world.log") and what the runner does; NULL: silent */
    const Clock
        *clock; /* NULL: the system's; deadlines of processes go by the system's in any case */
    MetricsRegistry *metrics;    /* NULL: none */
    uint32_t max_processes;      /* of a module at once; 0: 4 */
    uint32_t max_task_processes; /* of a module's tasks at once; 0: 4 */
    uint64_t timeout_ns;         /* of a call whose module has none; 0: 10 s */
    uint64_t idle_ns;            /* then a process that has nothing to do is ended; 0: a minute */
    uint64_t max_memory;         /* address space of a program; 0: 1 GiB */
    const char
        *user; /* run programs as this user, where this process is root; NULL: as this process */
    const char *python_path; /* directory put on PYTHONPATH; NULL: none */
    void (*wake)(void *ctx); /* a task has ended: called from any thread, and must not wait for
                                 the thread that steps SAP_ROLE_EFFECTS; NULL: nobody is told */
    void *wake_ctx;
} ExecRunnerOptions;

/* SAP_INVALID: there is no such user, or this process may not be it. SAP_NOMEM. The caller owns
 * *runner_out. */
int exec_runner_open(const ExecRunnerOptions *options, ExecRunner **runner_out);
/* Ends all processes. Nobody uses what it has resolved any more. NULL is accepted. */
void exec_runner_close(ExecRunner *runner);

/* For SapWorkerOptions.resolve and .release, with the runner as ctx; also for the handler of a
 * query, from any thread. `native:NAME` is the registered SapWorldModule of that name.
 * SAP_NOTFOUND: another kind of runner, or no such module. */
int exec_runner_resolve(void *ctx, const SapModule *module, SapWorldHandler *handler_out,
                        void **module_ctx_out);
void exec_runner_release(void *ctx, void *module_ctx);

/* Whether the settings of a module can be used, checked before it is registered: an object of JSON
 * (exec_runner.h), or "". SAP_INVALID: message[] says what is wrong. */
int exec_check_settings(const char *settings, char *message, size_t message_size);

#endif
