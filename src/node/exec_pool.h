/* exec_pool.h - processes of programs: started, kept, used again, ended.
 *
 * A pool has the processes of one program for one purpose, up to a number. A process is idle, or
 * one caller has taken it. The keeper is a thread that all pools of a runner share: it starts
 * processes, watches the idle ones, and waits for those that end.
 *
 *   (started by the keeper) -> taken <-> idle -> ending -> (waited for by the keeper)
 *                                \-----------------^
 *
 * Invariants: `count` of a pool is the number of its processes that start, are taken or idle. An
 * idle process has been given all it was asked, runs the newest code that anybody has asked for,
 * and has written nothing since. */
#ifndef SAPLING_NODE_EXEC_POOL_H
#define SAPLING_NODE_EXEC_POOL_H

#include "node/exec_meters.h"
#include "node/exec_process.h"

typedef struct ExecKeeper ExecKeeper;
typedef struct ExecPool ExecPool;

/* Starts the thread and the guard. Processes are ended that were idle for idle_ns. `meters` is
 * borrowed. SAP_NOMEM. */
int exec_keeper_open(const Log *log, ExecMeters *meters, uint64_t idle_ns, ExecKeeper **keeper_out);
/* All pools are closed. Idle processes were asked to end, and have half a second for that. */
void exec_keeper_close(ExecKeeper *keeper);
const ExecGuard *exec_keeper_guard(const ExecKeeper *keeper);

/* `spawn` and `module`, the name for the log, are borrowed until the pool is closed. */
int exec_pool_open(ExecKeeper *keeper, const ExecSpawn *spawn, const char *module,
                   uint32_t max_processes, ExecPool **pool_out);
/* Nobody has a process of it. NULL is accepted. */
void exec_pool_close(ExecPool *pool);

/* Takes a process that runs this generation of the code; ends idle ones of older ones. SAP_BUSY:
 * all are at work, and none has come back for a while. SAP_FENCED: nobody waits any more, or the
 * deadline has passed. Others are those of exec_process_start(). *error says what happened, unless
 * SAP_FENCED. */
int exec_pool_take(ExecPool *pool, uint64_t generation, const ExecWait *wait,
                   ExecProcess **process_out, ExecError *error);
/* Gives it back. Not `usable`: its group is killed. It may be ended all the same. */
void exec_pool_give(ExecPool *pool, ExecProcess *process, bool usable);

#endif
