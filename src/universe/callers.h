/* callers.h - callers outside, many at a time: several sends in one commit, and many looks for replies in one
 * read. For a server, whose callers wait on connections and not in threads. */
#ifndef SAPLING_UNIVERSE_CALLERS_H
#define SAPLING_UNIVERSE_CALLERS_H

#include "universe/universe_impl.h"

enum { CALLER_SENDS = INGRESS_BATCH };

/* One sap_enqueue_ingress(). */
typedef struct CallerSend {
    const char *world;
    SapIngress item;
    /* The id stands for name, correlation id and priority too: the same id with another of these is
     * SAP_EXISTS, as with another payload. */
    bool whole_id;
    int rc;                  /* of sap_enqueue_ingress() */
    SapIngressResult result; /* as there */
} CallerSend;

/* Makes 1 to CALLER_SENDS of them, in one commit if nothing is in the way. Each has its rc afterwards. */
void callers_send(SapUniverse *universe, CallerSend *sends, uint32_t count);

/* A caller that waits for the reply to an item. */
typedef struct CallerWait {
    RowKey reply;
    RowKey item;
} CallerWait;

/* `seq` is what the item was enqueued as. SAP_INVALID: the world's name is none. */
int caller_wait_init(SapUniverse *universe, const char *world, const char *id,
                     const uint8_t seq[UNIVERSE_SEQ], CallerWait *wait_out);

/* In a transaction that reads what is durable. SAP_OK: the caller owns *reply_out. SAP_NOTFOUND: there is no reply
 * yet; *handled_out says whether the item has left the inbox, so that only a later step can still reply. */
int caller_wait_read(SapStoreTxn *txn, SapUniverse *universe, const CallerWait *wait,
                     SapReply **reply_out, bool *handled_out);

/* What a server waits for: the beginning of the keys of all replies, or results, of the universe. */
void callers_replies(SapUniverse *universe, RowKey *prefix_out);
void callers_results(SapUniverse *universe, RowKey *prefix_out);

#endif
