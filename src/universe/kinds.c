/* kinds.c - see kinds.h. */
#include "universe/kinds.h"

#include "common/assert.h"

/* ---- Registering ----------------------------------------------------------------------------- */

typedef struct Registration {
    RowKey key;
    WitUniverseDbi45KindsValue val;
} Registration;

static int register_body(SapStoreTxn *store_txn, void *ctx)
{
    const Registration *made = (const Registration *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {made->key, true};
    Buf val = {0};
    int rc = universe_txn_start(&txn, store_txn, PARTY_SESSION, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? wit_universe_dbi45_kinds_value_encode(&made->val, &val, NULL) : rc;
    SAP_ASSERT(rc != SAP_INVALID);
    rc = rc == SAP_OK ? universe_put(&txn, &guard.key, (Slice){val.data, val.len}) : rc;
    buf_release(&val);
    return rc;
}

int kind_register(const Session *session, Slice kind, bool at_most_once,
                  const WitUniverseRetry *policy)
{
    Registration made = {
        .val = {lend_bytes(session->nonce, UNIVERSE_NONCE), at_most_once, *policy}};
    row_key_kind(&made.key, session->universe, kind, &session->worker);
    return sap_store_run(session->store, SAP_STORE_GUARDED, register_body, &made, NULL);
}

/* ---- Looking --------------------------------------------------------------------------------- */

/* A row that was read. */
typedef struct ServingNode {
    const Session *asking;
    RowKey key;
    UniverseName node;
    uint8_t nonce[UNIVERSE_NONCE];
} ServingNode;

static int read_node(const SapStoreRow *row, ServingNode *node_out)
{
    WitUniverseDbi45KindsKey key;
    WitUniverseDbi45KindsValue val;
    int rc = row_key_copy(&node_out->key, WIT_DBI_KINDS, row->key, row->key_len);
    rc = rc == SAP_OK ? row_decode_code(
                            wit_universe_dbi45_kinds_key_decode(row->key, row->key_len, &key, NULL))
                      : rc;
    if (rc != SAP_OK) {
        return rc;
    }
    universe_name_copy(&node_out->node, &key.node);
    wit_universe_dbi45_kinds_key_free(&key);
    rc = row_decode_code(wit_universe_dbi45_kinds_value_decode(row->val, row->val_len, &val, NULL));
    if (rc == SAP_OK) {
        memcpy(node_out->nonce, val.nonce.data, UNIVERSE_NONCE);
        wit_universe_dbi45_kinds_value_free(&val);
    }
    return rc;
}

/* *more_out: there are further nodes, and span->from is where. */
static int look_at_nodes(const Session *asking, SapStoreTxn *txn, RowSpan *span, bool *served_out,
                         bool *more_out)
{
    enum { NODES_AT_ONCE = 64 };
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    ServingNode node = {.asking = asking};
    int rc = sap_store_scan(txn, &span->range, false, NODES_AT_ONCE, &rows, &count);
    for (uint32_t i = 0; rc == SAP_OK && !*served_out && i < count; i++) {
        rc = read_node(&rows[i], &node);
        rc = rc == SAP_OK ? session_is_alive(asking, txn, &node.node, node.nonce, served_out) : rc;
        rc = rc == SAP_CORRUPT ? SAP_OK : rc; /* a damaged row says nothing */
    }
    *more_out = rc == SAP_OK && !*served_out && count == NODES_AT_ONCE;
    if (*more_out) {
        row_key_after(&span->from, &rows[count - 1]);
        span->range.from_len = span->from.len;
    }
    return rc;
}

int kind_is_served(const Session *asking, SapStoreTxn *txn, Slice kind, bool *served_out)
{
    RowSpan span;
    bool more = true;
    int rc = SAP_OK;
    row_span_nodes(&span, asking->universe, kind);
    *served_out = false;
    while (rc == SAP_OK && more) {
        rc = look_at_nodes(asking, txn, &span, served_out, &more);
    }
    return rc;
}

/* ---- Clearing up ----------------------------------------------------------------------------- */

/* A session that has only expired may be renewed yet. */
static int session_is_over(SapStoreTxn *txn, const ServingNode *node, bool *over_out)
{
    RowKey key;
    SessionRow row;
    row_key_session(&key, node->asking->universe, &node->node);
    int rc = session_row_get(txn, &key, &row);
    *over_out = rc == SAP_NOTFOUND ||
                (rc == SAP_OK && memcmp(row.nonce, node->nonce, sizeof row.nonce) != 0);
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}

static int clear_kind_body(SapStoreTxn *store_txn, void *ctx)
{
    const ServingNode *node = (const ServingNode *)ctx;
    UniverseTxn txn;
    UniverseGuard guard = {node->key, true};
    ServingNode now = {.asking = node->asking};
    Slice val = {0};
    bool over = false;
    int rc = universe_txn_start(&txn, store_txn, PARTY_REAPER, &guard, 1, NULL, 0);
    rc = rc == SAP_OK ? universe_get(store_txn, &guard.key, &val) : rc;
    if (rc != SAP_OK) {
        return rc == SAP_NOTFOUND ? SAP_OK : rc;
    }
    SapStoreRow row = {node->key.bytes, val.data, node->key.len, (uint32_t)val.len};
    rc = read_node(&row, &now);
    rc = rc == SAP_OK ? session_is_over(store_txn, &now, &over) : rc;
    return rc == SAP_OK && over ? universe_del(&txn, &guard.key) : rc;
}

/* The first row from `from` on whose session is over. SAP_NOTFOUND: there is none. */
static int find_over(const Session *asking, ServingNode *node_out)
{
    enum { ROWS_AT_ONCE = 256 };
    SapStoreTxn *txn = NULL;
    RowKey from = {.table = WIT_DBI_KINDS};
    RowSpan span;
    const SapStoreRow *rows = NULL;
    uint32_t count = 0;
    bool over = false;
    node_out->asking = asking;
    row_span_from(&span, &from, asking->universe);
    int rc = sap_store_begin(asking->store, SAP_STORE_READ_NEWEST, &txn);
    rc = rc == SAP_OK ? sap_store_scan(txn, &span.range, false, ROWS_AT_ONCE, &rows, &count) : rc;
    for (uint32_t i = 0; rc == SAP_OK && !over && i < count; i++) {
        rc = read_node(&rows[i], node_out);
        rc = rc == SAP_OK ? session_is_over(txn, node_out, &over) : rc;
        rc = rc == SAP_CORRUPT ? SAP_OK : rc; /* it stays */
    }
    sap_store_abort(txn);
    return rc == SAP_OK && !over ? SAP_NOTFOUND : rc;
}

int kinds_clear_dead(const Session *asking, uint32_t limit)
{
    ServingNode node;
    int rc = SAP_OK;
    for (uint32_t i = 0; rc == SAP_OK && i < limit; i++) {
        rc = find_over(asking, &node);
        rc = rc == SAP_OK
                 ? sap_store_run(asking->store, SAP_STORE_GUARDED, clear_kind_body, &node, NULL)
                 : rc;
    }
    return rc == SAP_NOTFOUND ? SAP_OK : rc;
}
