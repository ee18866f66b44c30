/* journal.c - see journal.h. */
#include "universe/journal.h"

#include <string.h>

#include "common/assert.h"
#include "store/digest.h"

_Static_assert((int)UNIVERSE_DIGEST == (int)DIGEST_SIZE, "digests are SHA-256");

void journal_next(const HeadRow *head, Slice content, HeadRow *next_out)
{
    DigestState state;
    Digest digest;
    digest_init(&state);
    digest_update(&state, head->digest, sizeof head->digest);
    digest_update(&state, content.data, content.len);
    digest_final(&state, &digest);
    next_out->height = head->height + 1;
    memcpy(next_out->digest, digest.bytes, sizeof next_out->digest);
}

static bool same_head(const HeadRow *a, const HeadRow *b)
{
    return a->height == b->height && memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

/* Guards lease and head, checks the lease, and reads the head. */
static int start_holder(const WorldLease *lease, SapStoreTxn *store_txn, UniverseTxn *txn,
                        HeadRow *head)
{
    RowKey guards[2];
    world_lease_key(lease, &guards[0]);
    row_key_head(&guards[1], lease->session->universe, &lease->world);
    int rc = universe_txn_start(txn, store_txn, PARTY_HOLDER, guards, 2);
    rc = rc == SAP_OK ? world_lease_check(lease, txn) : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    rc = head_row_get(store_txn, &guards[1], head);
    if (rc == SAP_NOTFOUND) {
        *head = (HeadRow){0};
        rc = SAP_OK;
    }
    return rc;
}

typedef struct HeadRead {
    const WorldLease *lease;
    HeadRow head;
} HeadRead;

static int read_head_body(SapStoreTxn *store_txn, void *ctx)
{
    HeadRead *read = (HeadRead *)ctx;
    UniverseTxn txn;
    return start_holder(read->lease, store_txn, &txn, &read->head);
}

int journal_open(const WorldLease *lease, HeadRow *head_out)
{
    HeadRead read = {.lease = lease};
    int rc = sap_store_run(lease->session->store, SAP_STORE_GUARDED, read_head_body, &read, NULL);
    if (rc == SAP_OK) {
        *head_out = read.head;
    }
    return rc;
}

typedef struct Append {
    const WorldLease *lease;
    const HeadRow *head;
    const HeadRow *next;
    Slice content;
} Append;

static int append_body(SapStoreTxn *store_txn, void *ctx)
{
    const Append *append = (const Append *)ctx;
    const WorldLease *lease = append->lease;
    UniverseTxn txn;
    RowKey head_key;
    RowKey entry_key;
    HeadRow head;
    int rc = start_holder(lease, store_txn, &txn, &head);
    if (rc == SAP_OK && !same_head(&head, append->head)) {
        rc = SAP_FENCED; /* another one has held the lease meanwhile, in spite of the epoch */
    }
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_head(&head_key, lease->session->universe, &lease->world);
    row_key_journal(&entry_key, lease->session->universe, &lease->world, append->next->height, 0);
    rc = journal_row_put(&txn, &entry_key, lease->epoch, append->content);
    return rc == SAP_OK ? head_row_put(&txn, &head_key, append->next) : rc;
}

int journal_append(const WorldLease *lease, HeadRow *head, Slice content, bool *unknown_out)
{
    HeadRow next;
    Append append = {lease, head, &next, content};
    *unknown_out = false;
    if (!session_may_work(lease->session)) {
        return SAP_FENCED;
    }
    journal_next(head, content, &next);
    int rc =
        sap_store_run(lease->session->store, SAP_STORE_GUARDED, append_body, &append, unknown_out);
    if (rc == SAP_OK) {
        *head = next;
    }
    return rc;
}

int journal_resolve(const WorldLease *lease, HeadRow *head, Slice content, bool *happened_out)
{
    HeadRow next;
    HeadRow now;
    int rc = journal_open(lease, &now);
    if (rc != SAP_OK) {
        return rc;
    }
    journal_next(head, content, &next);
    if (!same_head(&now, &next) && !same_head(&now, head)) {
        return SAP_FENCED;
    }
    *happened_out = same_head(&now, &next);
    *head = now;
    return SAP_OK;
}
