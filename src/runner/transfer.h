/* transfer.h - who may still take a buffer that is on its way. The calls themselves:
 * sapling/runner_v0.h.
 *
 * Every runner is a user of its DB from init to shutdown. When the last one of a DB leaves, what
 * was given with that DB and not taken is freed: nobody is left to take it. */
#ifndef SAPLING_RUNNER_TRANSFER_H
#define SAPLING_RUNNER_TRANSFER_H

#include "sapling/runner_v0.h"

/* Part of whoever uses it; does not move between join and leave. */
typedef struct TransferUser {
    struct TransferUser *next;
    SapEnv *db;
} TransferUser;

/* SAP_NOMEM: it has not joined. */
int transfer_join(TransferUser *user, SapEnv *db);
void transfer_leave(TransferUser *user);

#endif
