/* once.c - see once.h. */
#include "universe/once.h"

#include <string.h>

#include "common/assert.h"
#include "common/options.h"
#include "universe/payload.h"

OPTIONS_LAYOUT(SapOnce, request_len, request_len);

int once_row_make(SapUniverse *universe, const SapOnce *once, OnceRow *row_out)
{
    SapOnce all = {.size = sizeof all};
    UniverseName scope;
    if (once == NULL || OPTIONS_READ(SapOnce, &all, once) != SAP_OK ||
        (all.request == NULL && all.request_len > 0)) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&scope, all.scope);
    if (rc != SAP_OK || all.key == NULL || all.key[0] == 0 ||
        !payload_text_valid(all.key, SAP_WORLD_MAX_ID)) {
        return SAP_INVALID;
    }
    *row_out = (OnceRow){.expires_ns = sap_store_lease_ns(universe->store) + INGRESS_KEPT_NS};
    row_key_once(&row_out->key, universe->number, &scope, slice_from_str(all.key));
    payload_hash(SAP_ENCODING_RAW, (Slice){all.request, all.request_len}, &row_out->request);
    producer_next(&universe->producer, universe->store, row_out->expiry_seq);
    return SAP_OK;
}

int once_row_get(SapStoreTxn *txn, const OnceRow *row, SapReply **answer_out)
{
    Slice val = {0};
    WitUniverseDbi47IdempotencyValue old;
    int rc = universe_get(txn, &row->key, &val);
    rc = rc == SAP_OK ? row_decode_code(wit_universe_dbi47_idempotency_value_decode(
                            val.data, val.len, &old, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    SapReply fields = {.encoding = SAP_ENCODING_RAW,
                       .payload = (const char *)old.answer.data,
                       .payload_len = old.answer.len};
    bool same = memcmp(old.request.data, row->request.bytes, sizeof row->request.bytes) == 0;
    rc = !same ? SAP_EXISTS : answer_out == NULL ? SAP_OK : reply_make(&fields, answer_out);
    wit_universe_dbi47_idempotency_value_free(&old);
    return rc;
}

int once_row_put(UniverseTxn *txn, uint32_t universe, const OnceRow *row)
{
    WitUniverseDbi47IdempotencyValue fields = {
        lend_bytes(row->request.bytes, sizeof row->request.bytes),
        lend_bytes(row->answer.data, row->answer.len), row->expires_ns};
    WitUniverseDbi41ExpiryValue expiry = {row->key.table, lend_bytes(row->key.bytes, row->key.len)};
    RowKey expiry_key;
    Buf val = {0};
    int rc = wit_universe_dbi47_idempotency_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? universe_put_if_absent(txn, &row->key, (Slice){val.data, val.len}) : rc;
    SAP_ASSERT(rc != SAP_EXISTS); /* its key is guarded, and was looked up */
    row_key_expiry(&expiry_key, universe, row->expires_ns, row->expiry_seq);
    buf_clear(&val);
    rc = rc == SAP_OK ? wit_universe_dbi41_expiry_value_encode(&expiry, &val, NULL) : rc;
    rc = rc == SAP_OK ? universe_put(txn, &expiry_key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

/* ---- By themselves --------------------------------------------------------------------------- */

int sap_once_get(SapUniverse *universe, const SapOnce *once, SapReply **answer_out)
{
    OnceRow row;
    SapStoreTxn *txn = NULL;
    if (universe == NULL || answer_out == NULL) {
        return SAP_ERROR;
    }
    universe_enter(universe);
    int rc = once_row_make(universe, once, &row);
    rc = rc == SAP_OK ? sap_store_begin(universe->store, SAP_STORE_READ_DURABLE, &txn) : rc;
    rc = rc == SAP_OK ? once_row_get(txn, &row, answer_out) : rc;
    sap_store_abort(txn);
    universe_leave(universe);
    return rc;
}

typedef struct OncePut {
    uint32_t universe;
    const OnceRow *row;
    SapReply *first; /* the answer of an earlier call */
} OncePut;

static int put_body(SapStoreTxn *store_txn, void *ctx)
{
    OncePut *put = (OncePut *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {put->row->key, true};
    sap_reply_free(put->first); /* of a run before */
    put->first = NULL;
    int rc = universe_txn_start(&txn, store_txn, PARTY_OPERATOR, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? once_row_get(store_txn, put->row, &put->first) : rc;
    return rc == SAP_NOTFOUND ? once_row_put(&txn, put->universe, put->row) : rc;
}

int sap_once_put(SapUniverse *universe, const SapOnce *once, const void *answer, size_t len,
                 SapReply **first_out)
{
    enum { TRIES = 4 };
    OnceRow row;
    bool unknown = true;
    if (universe == NULL || (answer == NULL && len > 0)) {
        return SAP_ERROR;
    }
    if (len > SAP_WORLD_MAX_VALUE) {
        return SAP_FULL;
    }
    universe_enter(universe);
    OncePut put = {universe->number, &row, NULL};
    int rc = once_row_make(universe, once, &row);
    row.answer = (Slice){answer, len};
    for (int i = 0; i < TRIES && (i == 0 ? rc == SAP_OK : rc == SAP_IO && unknown); i++) {
        rc = sap_store_run(universe->store, SAP_STORE_GUARDED, put_body, &put, &unknown);
    }
    universe_leave(universe);
    if (rc == SAP_OK && first_out != NULL) {
        *first_out = put.first;
    } else {
        sap_reply_free(put.first);
    }
    return rc;
}
