/* ends.c - how a world finishes by itself, who waits for that, and asking it to.
 *
 * The last step writes the world's result with its entry; the same transaction says in meta that the world is
 * done, and frees its lease. So whoever sends to it meanwhile either comes before the last step, and becomes a
 * dead letter when the world is emptied, or is refused. */
#include <stdio.h>
#include <string.h>

#include "common/assert.h"
#include "universe/handler.h"
#include "universe/payload.h"
#include "universe/universe_impl.h"

/* ---- The handler's call ---------------------------------------------------------------------- */

int sap_world_done(SapWorld *world, bool failed, SapEncoding encoding, const void *result,
                   size_t len)
{
    Buf params = {0};
    if (world == NULL) {
        return SAP_ERROR;
    }
    if (handler_is_cancelled(world)) {
        return SAP_FENCED;
    }
    if (world->done) {
        return SAP_EXISTS;
    }
    if (len > SAP_WORLD_MAX_ENTRY) {
        return SAP_FULL;
    }
    int rc = payload_append_or_null(encoding, result, len, &params);
    /* It is a row of the store. */
    rc = rc == SAP_OK && params.len > SAP_STORE_MAX_VALUE / 2 ? SAP_FULL : rc;
    IntentView intent = {
        .type = INTENT_DONE,
        .kind = slice_from_str("done"),
        .ref = slice_from_str(failed ? "failed" : ""),
        .encoding = encoding,
        .params = {params.data, params.len},
        .of_failure = failed,
    };
    rc = rc == SAP_OK ? handler_add_intent(world, &intent) : rc;
    world->done = rc == SAP_OK;
    buf_release(&params);
    return rc;
}

int done_write(WriteSet *writes, uint32_t universe, const UniverseName *world, uint64_t height,
               const IntentView *intent)
{
    WitUniverseDbi49ResultsValue fields = {
        intent->of_failure ? WIT_UNIVERSE_RECEIPT_STATUS_ERROR : WIT_UNIVERSE_RECEIPT_STATUS_OK,
        (WitUniverseEncoding)intent->encoding, lend_bytes(intent->params.data, intent->params.len),
        height};
    RowKey key;
    Buf val = {0};
    row_key_world(&key, WIT_DBI_RESULTS, universe, world);
    int rc = wit_universe_dbi49_results_value_encode(&fields, &val, NULL);
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? writes_add(writes, ROW_PUT, &key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

/* ---- With its last step ---------------------------------------------------------------------- */

int world_finish(UniverseTxn *txn, uint32_t universe, const UniverseName *world,
                 const uint8_t drain_seq[UNIVERSE_SEQ])
{
    WitUniverseDbi21WorldMetaValue old;
    RowKey key;
    row_key_world(&key, WIT_DBI_WORLD_META, universe, world);
    int rc = meta_row_get(txn->txn, &key, &old);
    if (rc != SAP_OK) {
        return rc;
    }
    /* Whoever stops a world raises the epoch, which was compared. */
    SAP_ASSERT(world_status_runs(old.status));
    WitUniverseDbi21WorldMetaValue meta = old; /* borrows what it does not replace */
    meta.status = WIT_UNIVERSE_WORLD_STATUS_DONE;
    meta.reason = lend_bytes("", 0);
    meta.drained = false;
    rc = meta_row_put(txn, &key, &meta);
    rc = rc == SAP_OK ? lease_revoke(txn, universe, world) : rc;
    rc = rc == SAP_OK ? drain_put(txn, universe, &key, drain_seq) : rc;
    wit_universe_dbi21_world_meta_value_free(&old);
    return rc;
}

/* ---- Who waits for it ------------------------------------------------------------------------ */

/* Why there is no result: SAP_NOTFOUND, there may be one later. */
static int why_no_result(SapStoreTxn *txn, const RowKey *result_key)
{
    RowKey key = *result_key;
    WitUniverseDbi21WorldMetaValue meta;
    key.table = WIT_DBI_WORLD_META; /* keyed alike */
    int rc = meta_row_get(txn, &key, &meta);
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_CONFLICT : rc;
    }
    rc = meta.status == WIT_UNIVERSE_WORLD_STATUS_DELETED ? SAP_CONFLICT : SAP_NOTFOUND;
    wit_universe_dbi21_world_meta_value_free(&meta);
    return rc;
}

static int read_result(SapStoreTxn *txn, uint32_t universe, const RowKey *key, SapReply **reply_out)
{
    Slice val = {0};
    WitUniverseDbi49ResultsValue row;
    (void)universe;
    int rc = universe_get(txn, key, &val);
    if (rc == SAP_NOTFOUND) {
        return why_no_result(txn, key);
    }
    rc = rc == SAP_OK ? row_decode_code(
                            wit_universe_dbi49_results_value_decode(val.data, val.len, &row, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    SapReply fields = {.encoding = (SapEncoding)row.encoding,
                       .failed = row.status != WIT_UNIVERSE_RECEIPT_STATUS_OK,
                       .height = row.height,
                       .payload = (const char *)row.payload.data,
                       .payload_len = row.payload.len};
    rc = reply_make(&fields, reply_out);
    wit_universe_dbi49_results_value_free(&row);
    return rc;
}

int sap_world_result_wait(SapUniverse *universe, const char *world, uint64_t timeout_ns,
                          SapReply **result_out)
{
    UniverseName name;
    RowKey key;
    if (universe == NULL || result_out == NULL) {
        return SAP_ERROR;
    }
    int rc = universe_name_set(&name, world);
    if (rc != SAP_OK) {
        return rc;
    }
    row_key_world(&key, WIT_DBI_RESULTS, universe->number, &name);
    universe_enter(universe);
    rc = universe_wait_row(universe, &key, timeout_ns, read_result, result_out);
    universe_leave(universe);
    return rc;
}

/* ---- Asking it to finish --------------------------------------------------------------------- */

/* A text as JSON. */
static int append_json_text(Buf *out, const char *text)
{
    int rc = buf_append_u8(out, '"');
    for (const char *at = text; rc == SAP_OK && *at != 0; at++) {
        char escaped[8];
        uint8_t byte = (uint8_t)*at;
        if (byte < 0x20 || byte == '"' || byte == '\\') {
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            rc = buf_append_str(out, escaped);
        } else {
            rc = buf_append_u8(out, byte);
        }
    }
    return rc == SAP_OK ? buf_append_u8(out, '"') : rc;
}

int sap_world_cancel_request(SapUniverse *universe, const char *world, const char *id,
                             const char *reason)
{
    enum { REASON_MAX = 1024 };
    SapIngress item = {.size = sizeof item, .name = "cancel", .id = id};
    IngressItem made = {0};
    IngressRequest request = {.rc = SAP_OK};
    Buf payload = {0};
    if (universe == NULL) {
        return SAP_ERROR;
    }
    if (!payload_text_valid(reason, REASON_MAX)) {
        return SAP_INVALID;
    }
    int rc = append_json_text(&payload, reason == NULL ? "" : reason);
    item.payload = payload.data;
    item.payload_len = payload.len;
    universe_enter(universe);
    rc = rc == SAP_OK ? ingress_item_make(universe, world, false, &item, &made, &request) : rc;
    if (rc == SAP_OK) {
        request.item.kind = WIT_UNIVERSE_ITEM_KIND_CANCEL;
        request.item_class = WIT_UNIVERSE_ITEM_CLASS_CONTROL;
        combiner_run(&universe->combiner, universe->store, universe->number, &request);
        rc = request.rc;
    }
    ingress_item_release(&made);
    universe_leave(universe);
    buf_release(&payload);
    return rc;
}
