/* outbox_v0.h - messages on their way out of a block, in the order in which blocks committed.
 *
 * A frame lies here from the commit that emitted it until it is in the inbox of a local worker or a
 * forwarder has taken it. Routing is one transaction: the frame is in exactly one of the two tables
 * at every commit. */
#ifndef SAPLING_RUNNER_OUTBOX_V0_H
#define SAPLING_RUNNER_OUTBOX_V0_H

#include "runner/bells.h"
#include "runner/mailbox_v0.h"
#include "sapling/runner_v0.h"
#include "sapling/sapling.h"

#include <stdbool.h>

/* Which workers are served by this process. fn NULL: all, but with only_self only that one. */
typedef struct LocalWorkers {
    int (*fn)(int64_t worker, void *ctx);
    void *ctx;
    bool only_self;
    int64_t self;
    BellNotes notes; /* those that were asked for and are local: they get messages */
} LocalWorkers;

/* The number of the newest frame; 0: there is none. */
int outbox_last(Txn *txn, uint64_t *seq_out);

/* What became of frames of the outbox. */
typedef struct OutboxRouted {
    uint32_t moved; /* to inboxes */
    uint32_t dead;  /* no message: dead letters of worker 0 */
} OutboxRouted;

/* As sap_runner_outbox_v0_route(); `log` (may be NULL) gets dead letters. */
int outbox_route(Txn *txn, uint32_t max, int (*is_local)(int64_t worker, void *ctx), void *ctx,
                 uint64_t *resume, MailboxLog *log, OutboxRouted *routed_out);

/* As sap_runner_outbox_v0_drain(), beginning after the frame of number *resume (0: with the
 * first), which is where the next call goes on; 0 again when all have been offered. So frames that
 * nobody takes now do not keep others from being offered. */
int outbox_drain_from(DB *db, uint64_t *resume, uint32_t max,
                      sap_runner_outbox_v0_forward_fn forward, void *ctx, uint32_t *sent_out);

/* Fits is_local of sap_runner_outbox_v0_route(); ctx is a LocalWorkers. */
int outbox_is_local(int64_t worker, void *ctx);

#endif
