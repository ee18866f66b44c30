#include "support/tx.h"

#include "support/expect.h"
#include "support/orders.h"

#include <stdio.h>
#include <string.h>

#include "wit_schema_dbis.h"

enum { SCAN_TEXT = 4096, MESSAGE_MAX = 512 };

void tx_bed_open(TxBed *bed, uint32_t page_size)
{
    *bed = (TxBed){.db = sap_db_open(NULL, page_size, NULL, NULL)};
    EXPECT(bed->db != NULL, "no DB");
    EXPECT_RC(sap_dbi_open(bed->db, 8, NULL, NULL, 0), SAP_OK);
    EXPECT_RC(sap_dbi_open(bed->db, TX_DUPSORT, NULL, NULL, SAP_DBI_DUPSORT), SAP_OK);
    EXPECT_RC(sap_dbi_open(bed->db, TX_TTL_META, NULL, NULL, SAP_DBI_TTL_META), SAP_OK);
    EXPECT_RC(
        sap_dbi_open(bed->db, TX_REVERSE, order_cmp(ORDER_REVERSE), order_ctx(ORDER_REVERSE), 0),
        SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_create(bed->db, &bed->ctx), SAP_OK);
}

void tx_open_runner_tables(SapEnv *db)
{
    for (uint32_t dbi = WIT_DBI_INBOX; dbi <= WIT_DBI_DEDUPE_TTL; dbi++) {
        EXPECT_RC(
            sap_dbi_open(db, dbi, NULL, NULL, dbi == WIT_DBI_DEDUPE_TTL ? SAP_DBI_TTL_META : 0),
            SAP_OK);
    }
}

static void end_block(TxBed *bed)
{
    sap_txn_abort(bed->snapshot);
    bed->snapshot = NULL;
}

void tx_bed_close(TxBed *bed)
{
    sap_runner_txctx_v0_dispose(bed->ctx);
    end_block(bed);
    EXPECT_RC(sap_db_close(bed->db), SAP_OK);
}

void tx_bed_begin(TxBed *bed, int read_only)
{
    end_block(bed);
    EXPECT_RC(sap_txn_begin_rc(bed->db, NULL, SAP_TXN_RDONLY, &bed->snapshot), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_reset(bed->ctx, bed->snapshot, read_only), SAP_OK);
}

void tx_bed_apply(TxBed *bed)
{
    SapTxnCtx *txn;

    EXPECT_RC(sap_txn_begin_rc(bed->db, NULL, 0, &txn), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_validate(bed->ctx, txn), SAP_OK);
    EXPECT_RC(sap_runner_txctx_v0_apply(bed->ctx, txn), SAP_OK);
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

static uint32_t text_len(const char *text)
{
    return (uint32_t)strlen(text);
}

void tx_db_set(SapEnv *db, uint32_t dbi, const char *key, const char *val)
{
    SapTxnCtx *txn;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_WAIT, &txn), SAP_OK);
    if (val != NULL) {
        EXPECT_RC(sap_txn_put_dbi(txn, dbi, key, text_len(key), val, text_len(val)), SAP_OK);
    } else {
        EXPECT_RC(sap_txn_del_dbi(txn, dbi, key, text_len(key)), SAP_OK);
    }
    EXPECT_RC(sap_txn_commit(txn), SAP_OK);
}

void tx_db_put(TxBed *bed, uint32_t dbi, const char *key, const char *val)
{
    tx_db_set(bed->db, dbi, key, val);
}

static void expect_value(int rc, const char *key, const void *val, uint32_t val_len,
                         const char *expected)
{
    if (expected == NULL) {
        EXPECT(rc == SAP_NOTFOUND, "\"%s\" answered %d instead of no row", key, rc);
        return;
    }
    EXPECT(rc == SAP_OK, "\"%s\" answered %d", key, rc);
    EXPECT(val_len == text_len(expected) && memcmp(val, expected, val_len) == 0,
           "\"%s\" is \"%.*s\" instead of \"%s\"", key, (int)val_len, (const char *)val, expected);
}

void tx_db_expect_row(SapEnv *db, uint32_t dbi, const char *key, const char *val)
{
    SapTxnCtx *txn;
    const void *got = NULL;
    uint32_t got_len = 0;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_OK);
    int rc = sap_txn_get_dbi(txn, dbi, key, text_len(key), &got, &got_len);
    expect_value(rc, key, got, got_len, val);
    sap_txn_abort(txn);
}

void tx_db_expect(TxBed *bed, uint32_t dbi, const char *key, const char *val)
{
    tx_db_expect_row(bed->db, dbi, key, val);
}

uint64_t tx_db_rows(SapEnv *db, uint32_t dbi)
{
    SapTxnCtx *txn;
    SapStat stat;

    EXPECT_RC(sap_txn_begin_rc(db, NULL, SAP_TXN_RDONLY | SAP_TXN_NEWEST, &txn), SAP_OK);
    EXPECT_RC(sap_dbi_stat(txn, dbi, &stat), SAP_OK);
    sap_txn_abort(txn);
    return stat.num_entries;
}

int tx_put(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *key, const char *val)
{
    return sap_runner_txctx_v0_put(ctx, dbi, key, text_len(key), val, text_len(val));
}

int tx_del(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *key)
{
    return sap_runner_txctx_v0_del(ctx, dbi, key, text_len(key));
}

void tx_expect_get(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *key, const char *val)
{
    const void *got = NULL;
    uint32_t got_len = 0;
    int rc = sap_runner_txctx_v0_get(ctx, dbi, key, text_len(key), &got, &got_len);

    expect_value(rc, key, got, got_len, val);
}

typedef struct ScanText {
    const char *last; /* NULL: to the end */
    char text[SCAN_TEXT];
    size_t len;
} ScanText;

static int append_row(const void *key, uint32_t key_len, const void *val, uint32_t val_len,
                      void *fn_ctx)
{
    ScanText *scan = (ScanText *)fn_ctx;
    int len = snprintf(scan->text + scan->len, sizeof scan->text - scan->len, "%.*s=%.*s ",
                       (int)key_len, (const char *)key, (int)val_len, (const char *)val);

    scan->len += (size_t)len;
    EXPECT(scan->len < sizeof scan->text, "too many rows");
    return scan->last != NULL && key_len == text_len(scan->last) &&
                   memcmp(key, scan->last, key_len) == 0
               ? 77
               : 0;
}

static void expect_scan(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *prefix, const char *last,
                        const char *rows)
{
    ScanText scan = {.last = last};
    int rc = sap_runner_txctx_v0_scan(ctx, dbi, prefix, text_len(prefix), append_row, &scan);

    EXPECT(rc == (last != NULL ? 77 : SAP_OK), "the scan answered %d", rc);
    EXPECT(strcmp(scan.text, rows) == 0, "rows are \"%s\" instead of \"%s\"", scan.text, rows);
}

void tx_expect_scan(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *prefix, const char *rows)
{
    expect_scan(ctx, dbi, prefix, NULL, rows);
}

void tx_expect_scan_to(SapRunnerTxCtxV0 *ctx, uint32_t dbi, const char *prefix, const char *last,
                       const char *rows)
{
    expect_scan(ctx, dbi, prefix, last, rows);
}

int tx_count_rows(const void *key, uint32_t key_len, const void *val, uint32_t val_len, void *count)
{
    (void)key;
    (void)key_len;
    (void)val;
    (void)val_len;
    ++*(uint32_t *)count;
    return 0;
}

uint32_t tx_intent(uint8_t *frame, uint32_t cap, const char *id, int64_t due_ms)
{
    uint8_t message[MESSAGE_MAX];
    uint32_t len = 0;
    SapRunnerV0Message msg = {.kind = SAP_RUNNER_V0_EVENT,
                              .to_worker = 7,
                              .message_id = id,
                              .message_id_len = text_len(id),
                              .payload = "payload",
                              .payload_len = 7};
    EXPECT_RC(sap_runner_wire_v0_encode_message(&msg, message, sizeof message, &len),
              SAP_RUNNER_WIRE_OK);
    SapRunnerV0Intent intent = {
        .kind = SAP_RUNNER_V0_OUTBOX_EMIT, .message = message, .message_len = len};
    if (due_ms >= 0) {
        intent.kind = SAP_RUNNER_V0_TIMER_ARM;
        intent.flags = SAP_RUNNER_V0_HAS_DUE;
        intent.due_ts = due_ms;
    }
    EXPECT_RC(sap_runner_wire_v0_encode_intent(&intent, frame, cap, &len), SAP_RUNNER_WIRE_OK);
    return len;
}
