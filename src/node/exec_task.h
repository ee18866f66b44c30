/* exec_task.h - effects of the kind "task": a world's own code, run outside of it.
 *
 * A world asks with {"task":NAME,"args":...}; the program of its module gets an event of the type
 * "task" and answers {"id","ok":VALUE} or {"id","error":{"message","code","retry"}}. It may write
 * {"id","beat":...} meanwhile. A task may take any time within the timeout of its attempt: it has
 * processes of its own, and a thread waits for each.
 *
 * Receipts of tasks that came to nothing have the code of the program, "task_failed" if it gave
 * none, or bad_answer, exited, no_heartbeat, not_started, bad_params, no_program; and a payload
 * {"message":...}. */
#ifndef SAPLING_NODE_EXEC_TASK_H
#define SAPLING_NODE_EXEC_TASK_H

#include "node/exec_module.h"

/* Fills in the adapter, which borrows the runner. The universe, that of the last call, is used to
 * find the modules of worlds, by other threads, so it is not one of memory:; when a call has been
 * cancelled, or polled until it was done, nobody uses the universe for it any more. */
void exec_task_adapter(ExecRunner *runner, SapUniverse *universe, SapEffectAdapter *adapter_out);

#endif
