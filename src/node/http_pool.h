/* http_pool.h - the threads that run calls.
 *
 * Two queues: calls that send messages, of which a thread takes several and puts them in one commit, and all
 * others. Both are bounded: who comes when one is full is refused at once, and told to try again. */
#ifndef SAPLING_NODE_HTTP_POOL_H
#define SAPLING_NODE_HTTP_POOL_H

#include "node/api_call.h"

enum {
    POOL_THREADS = 6,
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

/* Gives a call to the threads, which run call->run, and then call_end(). False: there are
 * too many, or the pool has stopped: the call is still the caller's, and has its answer. */
bool pool_give(Pool *pool, Call *call);

/* The same for a call of a route with ROUTE_SEND, of which several are run at once. */
bool pool_give_send(Pool *pool, Call *call);

#endif
