/* ingress.c - see ingress.h. */
#include "universe/ingress.h"

#include <string.h>

#include "common/assert.h"
#include "store/blob.h"
#include "store/store_impl.h"

/* ---- One request in a transaction ------------------------------------------------------------ */

/* A second item with the id is the same one only if this is the same. */
static CodecBytes id_hash(const IngressRequest *request)
{
    return request->id_hash == NULL ? request->item.hash
                                    : lend_bytes(request->id_hash, DIGEST_SIZE);
}

/* SAP_NOTFOUND unless an earlier item has the id, or an earlier try of this one. Another payload under it
 * is a mistake of the caller's. */
static int find_original(SapStoreTxn *txn, const RowKey *key, IngressRequest *request)
{
    Slice val = {0};
    WitUniverseDbi25IdemValue idem;
    int rc = universe_get(txn, key, &val);
    rc = rc == SAP_OK
             ? row_decode_code(wit_universe_dbi25_idem_value_decode(val.data, val.len, &idem, NULL))
             : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    bool same = memcmp(idem.hash.data, id_hash(request).data, DIGEST_SIZE) == 0;
    memcpy(request->first_seq, idem.seq.data, UNIVERSE_SEQ);
    wit_universe_dbi25_idem_value_free(&idem);
    request->rc = same ? SAP_OK : SAP_EXISTS;
    request->duplicate = same && memcmp(request->first_seq, request->seq, UNIVERSE_SEQ) != 0;
    return SAP_OK;
}

static void idem_key(RowKey *key, uint32_t universe, const IngressRequest *request)
{
    row_key_id(key, WIT_DBI_IDEM, universe, &request->world,
               (Slice){request->item.id.data, request->item.id.len});
}

/* *enqueue_out: the item is to be put. */
static int put_idem(UniverseTxn *txn, uint32_t universe, IngressRequest *request, bool *enqueue_out)
{
    RowKey key;
    Buf val = {0};
    WitUniverseDbi25IdemValue fields = {lend_bytes(request->seq, UNIVERSE_SEQ), id_hash(request),
                                        request->expires_ns};
    *enqueue_out = true;
    if (request->item.id.len == 0) {
        return SAP_OK;
    }
    idem_key(&key, universe, request);
    int rc = wit_universe_dbi25_idem_value_encode(&fields, &val, NULL);
    rc = rc == SAP_OK ? universe_put_if_absent(txn, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    if (rc == SAP_EXISTS) {
        *enqueue_out = false;
        rc = find_original(txn->txn, &key, request);
        return rc == SAP_NOTFOUND ? SAP_CONFLICT : rc; /* it went between the two reads */
    }
    return rc == SAP_OK
               ? expiry_row_put(txn, universe, request->expires_ns, request->expiry_seq, &key)
               : rc;
}

static int put_item(UniverseTxn *txn, uint32_t universe, const IngressRequest *request)
{
    RowKey key;
    Buf val = {0};
    WitUniverseDbi24WorldInboxValue fields = {request->item};
    row_key_inbox(&key, universe, &request->world, request->item_class, request->seq);
    int rc = wit_universe_dbi24_world_inbox_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? universe_put_if_absent(txn, &key, (Slice){val.data, val.len}) : rc;
    SAP_ASSERT(rc != SAP_EXISTS); /* no seq is made twice */
    if (rc == SAP_OK && request->item.blob.len > 0) {
        Digest blob;
        memcpy(blob.bytes, request->item.blob.data, DIGEST_SIZE);
        rc = blob_ref_put(txn->txn, &blob, (Slice){request->seq, UNIVERSE_SEQ});
        rc = rc == SAP_NOTFOUND ? SAP_BUSY : rc; /* it was collected: a day has passed */
    }
    buf_release(&val);
    return rc;
}

int ingress_put_rows(UniverseTxn *txn, uint32_t universe, IngressRequest *request)
{
    RowKey hint;
    bool enqueue = false;
    request->rc = SAP_OK;
    request->duplicate = false;
    memcpy(request->first_seq, request->seq, UNIVERSE_SEQ);
    int rc = put_idem(txn, universe, request, &enqueue);
    if (rc != SAP_OK || !enqueue) {
        return rc;
    }
    rc = put_item(txn, universe, request);
    row_key_ready(&hint, universe, request->item.priority, request->seq, &request->world);
    return rc == SAP_OK ? universe_put(txn, &hint, (Slice){"", 0}) : rc;
}

int ingress_is_known(SapStore *store, uint32_t universe, const IngressRequest *request,
                     bool *known_out)
{
    SapStoreTxn *txn = NULL;
    RowKey key;
    Slice val = {0};
    idem_key(&key, universe, request);
    int rc = sap_store_begin(store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? universe_get(txn, &key, &val) : rc;
    sap_store_abort(txn);
    *known_out = rc == SAP_OK;
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

/* ---- Several in one transaction -------------------------------------------------------------- */

typedef struct IngressBatch {
    uint32_t universe;
    IngressRequest *const *requests;
    uint32_t count;
} IngressBatch;

/* The world takes nothing. An item that it took before it ended stays taken: the try whose outcome
 * nobody knows may have been the one. Its commit cannot still be on its way, since whoever ended the
 * world had the meta row to itself. */
static int refuse(SapStoreTxn *txn, uint32_t universe, IngressRequest *request)
{
    RowKey key;
    int rc = SAP_NOTFOUND;
    if (request->item.id.len > 0) {
        idem_key(&key, universe, request);
        rc = find_original(txn, &key, request);
    }
    if (rc == SAP_NOTFOUND) {
        request->rc = SAP_NOTFOUND;
        rc = SAP_OK;
    }
    return rc;
}

static int ingress_body(SapStoreTxn *store_txn, void *ctx)
{
    const IngressBatch *batch = (const IngressBatch *)ctx;
    UniverseTxn txn;
    UniverseGuard guards[INGRESS_BATCH];
    Digest blobs[INGRESS_BATCH];
    uint32_t blob_count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        const IngressRequest *request = batch->requests[i];
        row_key_world(&guards[i].key, WIT_DBI_WORLD_META, batch->universe, &request->world);
        guards[i].exclusive = false;
        if (request->item.blob.len > 0) {
            memcpy(blobs[blob_count++].bytes, request->item.blob.data, DIGEST_SIZE);
        }
    }
    int rc = universe_txn_start(&txn, store_txn, PARTY_PRODUCER, guards, batch->count, blobs,
                                blob_count);
    for (uint32_t i = 0; rc == SAP_OK && i < batch->count; i++) {
        IngressRequest *request = batch->requests[i];
        bool takes = false;
        rc = world_takes(store_txn, &guards[i].key, &takes);
        if (rc == SAP_OK) {
            rc = takes ? ingress_put_rows(&txn, batch->universe, request)
                       : refuse(store_txn, batch->universe, request);
        }
    }
    return rc;
}

static int run_batch(SapStore *store, uint32_t universe, IngressRequest *const *requests,
                     uint32_t count, bool *unknown_out)
{
    IngressBatch batch = {universe, requests, count};
    return sap_store_run(store, SAP_STORE_GUARDED, ingress_body, &batch, unknown_out);
}

/* Its outcome is unknown: with an id, the idem row decides in another run. */
static void run_again(SapStore *store, uint32_t universe, IngressRequest *request)
{
    enum { TRIES = 4 };
    int rc = SAP_IO;
    for (int i = 0; i < TRIES && request->item.id.len > 0 && rc == SAP_IO; i++) {
        bool this_unknown = false;
        rc = run_batch(store, universe, &request, 1, &this_unknown);
    }
    if (rc != SAP_OK) {
        request->rc = SAP_IO;
        request->unknown = true;
    }
}

/* Whether the code may be due to another request of the batch. */
static bool may_be_of_one(int rc)
{
    return rc == SAP_CORRUPT || rc == SAP_BUSY || rc == SAP_CONFLICT;
}

void ingress_run(SapStore *store, uint32_t universe, IngressRequest *const *requests,
                 uint32_t count)
{
    bool unknown = false;
    SAP_ASSERT(count > 0 && count <= INGRESS_BATCH);
    int rc = run_batch(store, universe, requests, count, &unknown);
    for (uint32_t i = 0; i < count && rc != SAP_OK; i++) {
        if (unknown) {
            run_again(store, universe, requests[i]);
        } else if (count > 1 && may_be_of_one(rc)) {
            ingress_run(store, universe, &requests[i], 1);
        } else {
            requests[i]->rc = rc;
        }
    }
}

/* ---- Several threads ------------------------------------------------------------------------- */

int combiner_init(Combiner *combiner)
{
    memset(combiner, 0, sizeof *combiner);
    if (!mutex_init(&combiner->lock)) {
        return SAP_NOMEM;
    }
    if (!cond_init(&combiner->done)) {
        mutex_destroy(&combiner->lock);
        return SAP_NOMEM;
    }
    return SAP_OK;
}

void combiner_release(Combiner *combiner)
{
    SAP_ASSERT(combiner->first == NULL && !combiner->running);
    cond_destroy(&combiner->done);
    mutex_destroy(&combiner->lock);
}

/* Up to a batch of what is queued. */
static uint32_t take_batch(Combiner *combiner, IngressRequest *batch[INGRESS_BATCH])
{
    uint32_t count = 0;
    while (combiner->first != NULL && count < INGRESS_BATCH) {
        batch[count++] = combiner->first;
        combiner->first = combiner->first->next;
    }
    if (combiner->first == NULL) {
        combiner->last = NULL;
    }
    return count;
}

/* Runs what is queued until its own request is done; the lock is held at its start and end. */
static void lead(Combiner *combiner, SapStore *store, uint32_t universe,
                 const IngressRequest *request)
{
    combiner->running = true;
    while (!request->done) {
        IngressRequest *batch[INGRESS_BATCH];
        uint32_t count = take_batch(combiner, batch);
        mutex_unlock(&combiner->lock);
        ingress_run(store, universe, batch, count);
        mutex_lock(&combiner->lock);
        for (uint32_t i = 0; i < count; i++) {
            batch[i]->done = true;
        }
        cond_broadcast(&combiner->done);
    }
    combiner->running = false;
}

void combiner_run(Combiner *combiner, SapStore *store, uint32_t universe, IngressRequest *request)
{
    if (!store->ops->blocks) {
        ingress_run(store, universe, &request, 1); /* one thread: nobody to share with */
        return;
    }
    request->done = false;
    request->next = NULL;
    mutex_lock(&combiner->lock);
    if (combiner->last == NULL) {
        combiner->first = request;
    } else {
        combiner->last->next = request;
    }
    combiner->last = request;
    while (!request->done) {
        if (combiner->running) {
            cond_wait(&combiner->done, &combiner->lock);
        } else {
            lead(combiner, store, universe, request);
        }
    }
    /* Those whose request is still queued must not wait for somebody who has gone. */
    cond_broadcast(&combiner->done);
    mutex_unlock(&combiner->lock);
}
