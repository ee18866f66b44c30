/* state.h - the state of one world in memory: a private engine with nested transactions.
 *
 * The rows are the world's, in the order of their keys. A cycle opens a transaction of the engine, each
 * item a nested one; whatever is read or changed goes through the innermost. `sum` is the sum of
 * XXH3-128 over all rows, kept with every change: two states with the same rows have the same sum, and
 * whether a restored state is the one that was lost can be seen from 16 bytes. */
#ifndef SAPLING_UNIVERSE_STATE_H
#define SAPLING_UNIVERSE_STATE_H

#include <stdbool.h>

#include "common/buf.h"
#include "universe/rows.h"

typedef struct WorldState WorldState;

/* An empty state. The caller owns *state_out: state_close(). SAP_NOMEM. */
int state_open(WorldState **state_out);
/* Whatever is open is aborted. NULL is accepted. */
void state_close(WorldState *state);

/* Begins a transaction, inside the one that is open if there is one: two at most. */
int state_begin(WorldState *state);
/* Ends the innermost. SAP_NOMEM of a commit: it was aborted. */
int state_commit(WorldState *state);
void state_abort(WorldState *state);

/* In the innermost transaction. What is read is borrowed until the next change, or the end of the
 * transaction. SAP_NOTFOUND: there is no such row. SAP_FULL: the engine takes no such key. */
int state_get(WorldState *state, Slice key, Slice *val_out);
int state_put(WorldState *state, Slice key, Slice val);
int state_del(WorldState *state, Slice key);

typedef int (*StateRow)(void *ctx, Slice key, Slice val);
/* Calls `row` for the rows whose keys begin with `prefix`, until it returns another code than SAP_OK,
 * which is then the result. */
int state_scan(WorldState *state, Slice prefix, StateRow row, void *ctx);

/* How many rows have keys that begin with `prefix`, whose last byte is not the highest. */
int state_count(WorldState *state, Slice prefix, uint64_t *count_out);

/* Bytes of memory that it takes. */
size_t state_memory(const WorldState *state);

void state_sum(const WorldState *state, uint8_t sum_out[UNIVERSE_SUM]);

#endif
