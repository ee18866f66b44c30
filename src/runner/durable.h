/* durable.h - waiting for the disk as the DB's sync mode means it.
 *
 * A commit is acknowledged when every reader may see it: with a sync at each commit when it is on
 * disk, in the other modes at once. */
#ifndef SAPLING_RUNNER_DURABLE_H
#define SAPLING_RUNNER_DURABLE_H

#include "sapling/sapling.h"

/* Returns when the commit `lsn` (0: none) would be acknowledged. The codes of db_wait_durable(). */
int durable_wait(DB *db, uint64_t lsn);

#endif
