/* http_wait.h - callers that wait, for a reply or for the result of a world: one thread for all of them.
 *
 * The thread sleeps until the store has new rows of the kind that is waited for, then looks for all callers in one
 * transaction. So that many callers under load do not keep a processor busy with looking, it rests after
 * each look, for longer the more there are.
 *
 * A row that is committed after a caller was added ends the sleep. One that was committed shortly before, when
 * the thread had looked already, is found at the next look, which new callers bring about within 20 ms. Callers
 * whose row may have been there for long (look_first) look once themselves before they are added.
 *
 * Invariant: a call is in the list of new ones, or in that of the thread, or belongs to the thread that took it
 * out; whoever takes it out finishes it or gives it away. */
#ifndef SAPLING_NODE_HTTP_WAIT_H
#define SAPLING_NODE_HTTP_WAIT_H

#include "node/api_call.h"
#include "sapling/store.h"
#include "universe/rows.h"

/* Looks for what a call waits for. True: the call is no longer among those that wait, and the callee has answered,
 * finished or given it away. `txn` reads what is durable; `over`: its time has come, so it is answered in any
 * case. */
typedef bool (*WaitLook)(SapStoreTxn *txn, Call *call, bool over);

/* `prefix`, copied, is that of the rows that are waited for. The caller owns *waits_out: waits_stop(), then
 * waits_free(). */
int waits_start(SapUniverse *universe, const RowKey *prefix, WaitLook look, Waits **waits_out);

/* Answers all callers that wait with 503, and ends the thread; those that are added later are answered so at
 * once. NULL is accepted. */
void waits_stop(Waits *waits);
void waits_free(Waits *waits);

/* Ends a run of the call: it goes to where it waits (call_park()), or is finished. The call is no longer the
 * caller's. */
void call_end(Call *call);

#endif
