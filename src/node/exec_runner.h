/* exec_runner.h - the inside of a runner, for handlers and tasks.
 *
 * Invariants of all the files exec_*:
 *
 * - A process has one call at a time. It is idle only if it has answered all it was asked and
 *   written nothing since (exec_process_is_quiet); otherwise its group is killed.
 * - A process leads a group. The group is killed before its leader is waited for, so that its
 *   number is no other's. The guard kills those that are left when this process dies. Only the
 *   keeper's thread starts processes.
 * - A program gets three pipes, a clean environment, limits and no privileges; nothing else of this
 *   process.
 * - An answer is applied when its line is complete and has the id of the event. What is wrong with
 *   it fails the whole call. A program that cannot be started is no failure of the item: its world
 *   waits, with the reason.
 * - A call ends by its deadline, or soon after nobody waits for it. A pool in which nothing is
 *   answered any more is not waited for, so that its worlds do not take the threads of others.
 * - A program's files are compared before each call. Processes of older code get no event.
 * - A task that was cancelled while it ran is its thread's alone, which uses no universe for it.
 *
 * Reading order: exec_protocol.h, exec_answer.h, exec_program.h, exec_process.h, exec_pool.h, this
 * file, exec_module.h, exec_task.h. */
#ifndef SAPLING_NODE_EXEC_RUNNER_H
#define SAPLING_NODE_EXEC_RUNNER_H

#include "common/sync.h"
#include "node/exec_module.h"
#include "node/exec_pool.h"
#include "node/exec_program.h"

typedef struct ExecModule ExecModule;
typedef struct ExecTasks ExecTasks;

struct ExecRunner {
    ExecRunnerOptions options; /* with all defaults */
    ExecMeters meters;
    ExecKeeper *keeper;
    Mutex lock; /* of the list of modules, and their uses */
    ExecModule *modules;
    ExecTasks *tasks;
    char **environment;
    Buf environment_text;
    ExecSpawn spawn; /* what all programs have in common */
    gid_t groups[64];
};

/* What the settings of a module say of how it is run, an object of JSON:
 * {"processes":4,"task_processes":4,"max_memory_mib":1024,"heartbeat":"30s"}, each of which may be
 * left out. */
typedef struct ExecSettings {
    uint64_t heartbeat_ns; /* then a silent task is ended; 0: never */
    uint64_t max_memory;
    uint32_t max_processes;
    uint32_t max_task_processes;
} ExecSettings;

/* A version of a module. It stays until the runner is closed, or until a newer one is there and
 * nobody uses it. */
struct ExecModule {
    ExecRunner *runner;
    char name[SAP_WORLD_MAX_NAME + 1];
    uint64_t version;
    SapModuleState state;
    uint64_t timeout_ns;
    ExecSettings settings;
    ExecProgram program;
    bool program_ok; /* the runner's text and the settings could be read; otherwise `why` */
    ExecError why;
    uint32_t uses;
    ExecPool *pool; /* for events */
    ExecPool *task_pool;
    Mutex lock; /* of the code */
    ExecStamp stamp;
    uint8_t code[32];
    bool has_code;
    uint64_t generation; /* of the code: 1 at first */
    ExecModule *next;
};

/* The module of a row, made if there is none. SAP_NOTFOUND: its runner is no program. SAP_NOMEM.
 * Used until exec_module_unuse(), which ignores what is no module of this runner. */
int exec_module_use(ExecRunner *runner, const SapModule *row, ExecModule **module_out);
void exec_module_unuse(ExecRunner *runner, const void *module_ctx);

/* The generation of the code that is there now; looks at the files. */
uint64_t exec_module_generation(ExecModule *module);

/* Changes what the text says; NULL and "" say nothing. SAP_INVALID: *error says what is wrong. */
int exec_settings_read(const char *text, ExecSettings *out, ExecError *error);

/* Why a program cannot be started: *error is made what a look at its file says, if it says
 * anything. */
void exec_module_explain_start(const ExecModule *module, ExecError *error);

/* "10 s", "500 ms". */
void exec_duration_text(uint64_t ns, char out[32]);

/* exec_task.c: SAP_NOMEM. */
int exec_tasks_open(ExecRunner *runner, ExecTasks **tasks_out);
/* Ends the tasks and their threads. */
void exec_tasks_stop(ExecTasks *tasks);
/* After that; NULL is accepted. */
void exec_tasks_close(ExecTasks *tasks);

#endif
