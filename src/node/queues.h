/* queues.h - the queues of an open database, by their names, and what access.h offers on them.
 *
 * A queue is opened when it is first asked for and stays open as long as the database: whoever waits
 * for a message is woken by whoever pushes one, in this process or through its socket.
 *
 * From any thread, and with reasons, as local.h. */
#ifndef SAPLING_NODE_QUEUES_H
#define SAPLING_NODE_QUEUES_H

#include "node/local.h"

typedef struct Queues Queues;

/* Caller owns *queues_out. `db` is borrowed until queues_free. */
int queues_new(DB *db, Queues **queues_out);
/* Whoever waits for a message waits no longer, and nobody will. */
void queues_interrupt(Queues *queues);
/* Accepts NULL. Nobody may be inside. */
void queues_free(Queues *queues);

int local_queues(Queues *queues, int (*fn)(const char *name, void *ctx), void *ctx);
int local_queue_stat(Queues *queues, const char *name, SapQueueStat *stat_out, Reason *reason);
int local_inboxes(Queues *queues, AccessInboxFn fn, void *ctx);
int local_queue_push(Queues *queues, const char *name, const AccessPush *push,
                     const Slice *payloads, uint32_t count, uint64_t *seqs, Reason *reason);
int local_queue_claim(Queues *queues, const char *name, const AccessClaim *claim,
                      int (*fn)(const AccessMessage *message, void *ctx), void *ctx,
                      Reason *reason);
int local_queue_end(Queues *queues, const char *name, const AccessEnd *end,
                    const AccessLease *leases, uint32_t count, uint64_t *dead_out, Reason *reason);
int local_queue_peek(Queues *queues, const char *name, uint64_t limit,
                     int (*fn)(const AccessMessage *message, void *ctx), void *ctx, Reason *reason);
int local_letters(Queues *queues, const char *name,
                  int (*fn)(const AccessLetter *letter, void *ctx), void *ctx);
int local_letters_end(Queues *queues, AccessLetterOp op, AccessLetterEnd *letters, uint32_t count);

#endif
