/* history.h - a long run of changes that depends on a seed alone.
 *
 * Step n of a history does the same to any DB that is in the state behind step n - 1, so the states
 * that a run may leave are known beforehand: those of the same steps in memory. Every call that
 * changes rows takes part; each committed step has a content that no other has. */
#ifndef SAPLING_TESTS_HISTORY_H
#define SAPLING_TESTS_HISTORY_H

#include "sapling/sapling.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct History {
    uint64_t seed;
    uint32_t max_value;      /* of the large values; some are this long */
    uint32_t changes;        /* at most, per step; 0: 8 */
    uint32_t bulk_one_in;    /* steps that are bulk transactions; 0: none */
    uint32_t open_one_in;    /* steps that open a table instead; 0: none */
    uint32_t restore_one_in; /* steps that restore a stream instead; 0: none */
    bool async;              /* commits do not wait */
    bool drain;              /* transactions may use the room kept for draining */
    bool tally;              /* the DB has the subsystem of tally.h, which changes too */
} History;

/* The tables of all histories. SAP_OK where they are open already. */
int history_open_tables(SapEnv *db);

/* Does step n, the first is 1. Whatever is not SAP_OK: the step was not made, or (SAP_IO) may not
 * have been. */
int history_step(const History *history, SapEnv *db, uint64_t n);

/* The content of a DB as a number, read through `txn`, or (NULL) what is committed. */
uint64_t history_digest(SapEnv *db, SapTxnCtx *txn);

/* The digests behind steps 0 (tables open, no rows) to `steps`, from a DB in memory; caller frees. */
uint64_t *history_truth(const History *history, uint64_t steps);

/* The step whose content the DB has, among first..last; aborts if there is none: a step is lost,
 * or there in part. */
uint64_t history_find(const uint64_t *truth, uint64_t first, uint64_t last, uint64_t digest);

#endif
