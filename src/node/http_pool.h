/* http_pool.h - the threads that run calls.
 *
 * Three queues: calls that send messages, of which a thread takes several and puts them in one commit; queries,
 * whose handlers may take as long as they do, so that they hold up nobody but other queries; and all others. Each
 * is bounded: who comes when it is full is refused at once, and told to try again. */
#ifndef SAPLING_NODE_HTTP_POOL_H
#define SAPLING_NODE_HTTP_POOL_H

#include "node/api_call.h"

enum {
    POOL_THREADS = 5,
    POOL_ASKERS = 2,
    POOL_SENDERS = 2,
    POOL_CALLS_MOST = 2048, /* that wait for a thread, of each queue */
    POOL_SENDS_MOST = 16384,
};

/* The caller owns *pool_out: pool_stop(), then pool_free(). SAP_NOMEM. */
int pool_start(Pool **pool_out);

/* Takes no more calls, answers those that nobody has begun to run with 503, and ends the threads. NULL is
 * accepted. */
void pool_stop(Pool *pool);
void pool_free(Pool *pool);

typedef enum PoolQueue { POOL_CALLS, POOL_QUERIES, POOL_SENDS, POOL_QUEUES } PoolQueue;

/* Gives a call to the threads of a queue, which run call->run, and then call_end(). POOL_SENDS: the call is of a
 * route with ROUTE_SEND, and several are run at once. False: there are too many, or the pool has stopped: the call
 * is still the caller's, and has its answer. */
bool pool_give(Pool *pool, PoolQueue queue, Call *call);

#endif
