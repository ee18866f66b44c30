/* ingress.h - putting items into inboxes: several requests in one transaction.
 *
 * A request is made before the transaction (its seq, its hash, its blob), so that running it again is
 * the same request. In the transaction the world's meta is guarded shared: an item never comes into a
 * world that is deleted at the same time. The `idem` row is put first and alone decides whether an item
 * with an id is a duplicate; then item, hint and expiry. */
#ifndef SAPLING_UNIVERSE_INGRESS_H
#define SAPLING_UNIVERSE_INGRESS_H

#include "common/sync.h"
#include "universe/producer.h"
#include "universe/rows.h"

enum {
    INGRESS_BATCH = 24, /* requests in a transaction: a guard each, and another for a blob */
    INGRESS_HOURS = 24, /* that an id is remembered, and a reply kept */
};

#define INGRESS_KEPT_NS (UINT64_C(3600000000000) * INGRESS_HOURS)

typedef struct IngressRequest {
    UniverseName world;
    WitUniverseInboxItem item; /* borrows what it names */
    uint8_t item_class;        /* WIT_UNIVERSE_ITEM_CLASS_* */
    uint8_t seq[UNIVERSE_SEQ];
    uint8_t expiry_seq[UNIVERSE_SEQ]; /* of the idem row's expiry */
    uint64_t expires_ns;
    const uint8_t
        *id_hash; /* of all that the id stands for, DIGEST_SIZE bytes; NULL: the payload's */

    /* What became of it: rc is SAP_OK, or why it was refused. */
    int rc;
    bool duplicate;
    bool unknown;
    uint8_t first_seq[UNIVERSE_SEQ]; /* of the duplicate's original */

    struct IngressRequest *next; /* of the combiner's queue */
    bool done;
} IngressRequest;

/* Adds item, hint and, with an id, idem and expiry rows to the transaction, which guards the world's meta
 * and the blob of the item. For transactions of others that create something and send to it at once. */
int ingress_put_rows(UniverseTxn *txn, uint32_t universe, IngressRequest *request);

/* Whether an item with the id of this one was enqueued before. */
int ingress_is_known(SapStore *store, uint32_t universe, const IngressRequest *request,
                     bool *known_out);

/* Runs up to INGRESS_BATCH requests in one transaction, and each whose outcome is then unknown and that
 * has an id alone, again. Every request has its rc afterwards. */
void ingress_run(SapStore *store, uint32_t universe, IngressRequest *const *requests,
                 uint32_t count);

/* Collects the requests of several threads: whoever finds nobody at work runs those of all. */
typedef struct Combiner {
    Mutex lock;
    Cond done;
    IngressRequest *first;
    IngressRequest *last;
    bool running;
} Combiner;

int combiner_init(Combiner *combiner);
void combiner_release(Combiner *combiner);

/* Returns when the request has its rc. */
void combiner_run(Combiner *combiner, SapStore *store, uint32_t universe, IngressRequest *request);

#endif
