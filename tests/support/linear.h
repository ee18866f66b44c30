/* linear.h - whether a concurrent history is linearizable: whether its calls could have happened one
 * after the other, each at one moment between its start and its end, with the results they had.
 *
 * The search is that of Wing and Gong with Lowe's memory of what was tried: take any call that nothing
 * unfinished precedes, apply it to the model, go on; where the end of a call is reached that was not
 * taken, go back. A set of calls taken together with the state they led to is tried once. */
#ifndef SAPLING_TESTS_LINEAR_H
#define SAPLING_TESTS_LINEAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The end of a call whose outcome nobody knows: it took effect at some moment after its start, or
 * never does. */
#define LINEAR_NEVER UINT64_MAX

/* The first member of every operation. Moments are numbers of one clock: a call that ended at a lower
 * number than another one started precedes it. */
typedef struct LinearCall {
    uint64_t start;
    uint64_t end;
} LinearCall;

typedef struct LinearModel {
    size_t op_size;    /* of an operation, which begins with a LinearCall */
    size_t state_size; /* states are equal when their bytes are */
    /* Whether `op`, with the result it had, can follow in `before`; then *after is the state behind
     * it. The first state is all zero bytes. */
    bool (*apply)(const void *before, const void *op, void *after);
} LinearModel;

/* What the search needed. */
typedef struct LinearEffort {
    uint64_t applied; /* operations applied to the model */
    uint64_t states;  /* remembered */
} LinearEffort;

/* `ops` are borrowed for the call, in any order. Adds to *effort, which may be NULL. */
bool linear_check(const LinearModel *model, const void *ops, uint32_t count, LinearEffort *effort);

#endif
