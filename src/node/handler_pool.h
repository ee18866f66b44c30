/* handler_pool.h - threads that run the handlers of a worker: an executor (universe/executor.h).
 *
 * A thread is made when a job has no idle one, up to a limit, and stays until the pool is freed. So a
 * handler that does not return costs its thread, and holds up no other. The pool tells the worker its
 * limit, and is never given more jobs than that at a time: a job does not wait for a thread, and its time
 * is that of its handlers. */
#ifndef SAPLING_NODE_HANDLER_POOL_H
#define SAPLING_NODE_HANDLER_POOL_H

#include <stdint.h>

#include "sapling/universe.h"
#include "universe/executor.h"

typedef struct HandlerPool HandlerPool;

enum { HANDLER_POOL_MOST = 1024 };

/* `most` is 1 to HANDLER_POOL_MOST threads. The universe is borrowed until the pool is freed: its workers are
 * woken when a job has ended. The caller owns *pool_out: handler_pool_free(). SAP_NOMEM: also, not even
 * one thread can be made. */
int handler_pool_new(SapUniverse *universe, uint32_t most, HandlerPool **pool_out);
/* For worker_set_executor(); of any number of workers, one after the other or together. */
Executor handler_pool_executor(HandlerPool *pool);
/* Jobs whose handlers run now. */
uint32_t handler_pool_running(HandlerPool *pool);
/* Waits for jobs that run; no worker uses it any more. NULL is accepted. */
void handler_pool_free(HandlerPool *pool);

#endif
